"""Defines Newton boosting on a sketch of the gradient: one vector tree per round, whatever the number of classes.

Splits are searched along s random directions in the space of codewords, so that histograms hold s + 1 numbers per bin;
the leaf values use the whole gradient. A round costs n·p·(s + 1) for the histograms, n·K for the softmax (n·K·d for
codewords of few dimensions), and little for the leaves. The softmax is computed in blocks that fit in the cache, and no
n × K gradient is stored.

For a user-defined loss, which the engine does not know, `LossRows` computes the same in NumPy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import entr

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import Part, check_choice, check_number, is_auto
from ...engine import (
    BlockProblem,
    CpuCompute,
    CpuRowLoss,
    Engine,
    Grown,
    HostLoss,
    LateValues,
    LeafRule,
    RoundDraw,
    RoundMaker,
    RowLoss,
    RowProblem,
    single_leaf,
)
from ...model.code import Code, Gradient
from ...model.hypotheses import LeafOutputs, PendingTree, TreeHypothesis, largest, sparse_values
from ...tables.training_set import TrainingSet
from ..learners.base import Learner
from ..learners.newton_trees import NewtonTree, newton_steps
from ..learners.tree_learners import TreeLearner
from ..losses.base import Loss
from ..losses.multilabel import BlockLogistic
from ..losses.objective import Objective
from ..losses.scores import UserLoss, UserLossError, along_columns
from .base import Optimizer
from .forecast import MANY_CLASSES, expected_bytes, fit_size, seconds_per_round
from .run import Run, Update


class Sketch(Part):
    """The base class of sketches: directions in the space of codewords, which are chosen anew in every round.

    A subclass defines `size`, the number s of directions, and `directions`, coordinates of the codewords along them.

    Examples
    --------
    A sketch whose only direction is a random coordinate of F:

    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> class OneCoordinate(Sketch):
    ...     size = 1
    ...     def directions(self, Y, rng):
    ...         return Y[:, [rng.integers(Y.shape[1])]].astype(np.float32)
    >>> X, y = load_iris(return_X_y=True)
    >>> optimizer = SketchedNewton(sketch=OneCoordinate())
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, optimizer=optimizer, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number s of directions."""

    @abstractmethod
    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """Return the coordinates of the codewords Y (K, d) along the s directions, (K, s) float32."""

    def along(self, code: Code, rng: np.random.Generator, free: bool = False) -> AnyArray:
        """Return `directions` for a code; ``free``: a constant added to all of a row's scores changes its loss."""
        return self.directions(code.Y, rng)

    def check(self) -> None:
        """Raise if a parameter is invalid; the optimizer calls this before boosting."""


@dataclass(eq=False, repr=False)
class GaussianSketch(Sketch):
    """A sketch with random directions, whose coordinates are independent Gaussian numbers.

    Parameters
    ----------
    n_directions : int, default=1
        The number of directions. More directions find better splits and make histograms larger.

    Examples
    --------
    >>> GaussianSketch(2).directions(np.eye(5), np.random.default_rng(0)).shape
    (5, 2)
    """

    n_directions: int = 1

    @property
    def size(self) -> int:
        return self.n_directions

    def check(self) -> None:
        check_number("sketch", self.n_directions, int, 1, 64)

    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """Return Z = Y R / √s with Gaussian R (d, s), centred over the classes only to reduce rounding errors."""
        return self.along(Code(Y), rng)

    def along(self, code: Code, rng: np.random.Generator, free: bool = False) -> AnyArray:
        Z = rng.standard_normal((code.Y.shape[1], self.n_directions))
        if not code.canonical:  # else the product would take 0.2 ms for 438 classes
            Z = code.Y @ Z
        if not free:  # if all labels become more probable together, that is a direction too
            Z -= Z.mean(axis=0)
        return np.ascontiguousarray(Z / np.sqrt(self.n_directions), dtype=np.float32)


def as_sketch(value: Any) -> Sketch:
    """Return ``value`` if it is a `Sketch`, otherwise a `GaussianSketch` with ``value`` directions.

    >>> as_sketch(3)
    GaussianSketch(n_directions=3)
    """
    return value if isinstance(value, Sketch) else GaussianSketch(value)


class LossRows(HostLoss):
    """A user-defined loss as the engine's `RowLoss`, computed in NumPy; codewords are canonical, so that F = 2U."""

    def __init__(self, loss: Any, c: Labels, weight: Array, code: Code, engine: Engine) -> None:
        self.loss, self.c, self.weight, self.code, self.compute = loss, c, weight, code, engine.compute

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        U = self.code.scores(F)
        weight, Z = self.weight[:, None], Z.astype(np.float64)
        self.values = self.loss.value(U, self.c)
        self.G = 0.5 * weight * self.loss.residual(U, self.c)  # (n, K)
        H = self.loss.second(U, self.c)
        self.H = 0.25 * weight * np.maximum(H if H.ndim == 2 else np.einsum("nkk->nk", H), 0.0)  # (n, K)
        bend = along_columns(np.maximum(H, 0.0) if H.ndim == 2 else H, Z).sum(axis=1, keepdims=True)
        return np.hstack([self.G @ Z, 0.25 * weight * np.maximum(bend, 0.0)])

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> AnyArray:
        used = np.arange(len(F)) if rows is None else rows
        member = csr_array((np.ones(len(used)), (grown.leaf_of_row[used], used)), shape=(grown.n_leaves, len(F)))
        slope, curvature = member @ self.G, member @ self.H + rule.l2_regularization
        steps = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        steps = np.clip(steps, -rule.max_step, rule.max_step).astype(np.float32)
        return np.array([rule.drop_small(step) for step in steps])

    def risk(self) -> float:
        total = self.compute.rows.total
        return total(self.weight * self.values) / total(self.weight)


THIN = 0.1  # from MANY_CLASSES on, leaf values below this part of the leaf's largest are dropped

MOST_CANDIDATES = 2**16
INITS = ("zero", "prior")

# The furthest that a leaf may move the score of a class if the codewords are not canonical, after the learning rate.
# Longer steps are caused by an almost singular Hessian; with the default learning rate, ordinary steps reach 3 for 1200
# classes and 1 for ten.
FURTHEST = 10.0


@dataclass(eq=False, repr=False)
class SketchedNewton(Optimizer):
    """An optimizer with one vector tree per round: splits on a sketch of the gradient, Newton steps in the leaves.

    The learner must be a Newton tree ("sketch-tree"). The loss must depend only on the probability of the true class
    ("logistic", also with costs, "savage", "softmax-cost"), be a `UserLoss`, or be the sum of log-losses for several
    labels or class targets. Any step rule can be used; "fixed" is the natural choice.

    Parameters
    ----------
    sketch : int or Sketch, default=1
        The number of random directions along which splits are searched, or a `Sketch`, which chooses them.
    max_step : float or None, default=2.0
        The largest change of a class score in a leaf, before the learning rate; None for no limit. A class with almost
        no probability in a leaf has almost no curvature there, and Newton's step for its first example would be far too
        long. The parameter applies to canonical codewords only. With other codes it would merely slow down learning;
        their limit is always ten divided by the learning rate.
    candidates : int, "auto" or None, default="auto"
        For thousands of classes: in training, every row stores the scores of its true class and of this many classes
        with the highest scores; all other classes share one score. A round then takes time and memory for rows ×
        candidates instead of rows × classes; predictions always use all classes. None stores all scores. The number is
        rounded up to a multiple of 16. It needs canonical codewords, no costs, a fixed step, and all rows on one
        machine. "auto" means None, except in `SimplexBoostClassifier`: 32 if there are more than 1024 classes and more
        than 10⁸ pairs of rows and classes.
    init : {"zero", "prior", "auto"}, default="auto"
        Where boosting starts. "zero": all classes are equally probable. "prior": the first round is a tree of one leaf
        that gives all rows the class frequencies of the training rows, which suits rare classes and weak signals.
        "auto" means "zero", except in `SimplexBoostClassifier`, which chooses one of the two if it chooses the number
        of rounds.

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.SimplexBoostClassifier(n_estimators=10, optimizer=SketchedNewton(sketch=2)).parts().optimizer
    SketchedNewton(sketch=2)
    """

    sketch: Any = 1
    max_step: float | None = 2.0
    candidates: Any = "auto"
    init: str = "auto"

    dtype: ClassVar[type] = np.float32
    makes_blocks: ClassVar[bool] = True

    @property
    def n_candidates(self) -> int | None:
        return None if is_auto(self.candidates) else self.candidates

    def check_parameters(self) -> None:
        """Raise if a parameter is invalid in itself, whatever the data and the other parts are."""
        as_sketch(self.sketch).check()
        check_number("max_step", self.max_step, float, 0.0, none=True, open_low=True)
        check_number("candidates", self.candidates, int, 1, MOST_CANDIDATES, none=True, auto=True)
        check_choice("init", self.init, ("auto", *INITS))

    def check(self, run: Run) -> None:
        self.check_parameters()
        if self.n_candidates is not None:
            self.check_candidates(run)
        if self.init == "prior":
            self.check_prior(run)
        ours = isinstance(run.loss, UserLoss | BlockLogistic)
        if ours and not run.code.canonical:
            raise ValueError(
                f"loss={run.loss!r} needs codewords='canonical' here, not codewords of shape {run.Y.shape}."
            )
        costly = run.loss.exponents != (0, 0) and run.loss.cost_matrix is not None
        if not ours and (run.loss.exponents is None or costly):
            known = "'logistic' (also with costs), 'savage', 'softmax-cost' and UserLoss"
            raise ValueError(f"optimizer='sketched-newton' knows the losses {known}, not loss={run.loss!r}.")
        if not isinstance(run.learner, NewtonTree):
            raise ValueError(f"optimizer='sketched-newton' needs learner='sketch-tree', not learner={run.learner!r}.")
        run.seconds = seconds_per_round(run)
        run.memory_there = run.data.engine.compute.check_memory(fit_size(run, as_sketch(self.sketch).size))

    def check_candidates(self, run: Run) -> None:
        """Raise unless the run can store the scores of only some classes (`candidates`) in every row."""
        refused = {
            f"codewords of shape {run.Y.shape}": not run.code.canonical,
            f"loss={run.loss!r}": isinstance(run.loss, UserLoss),
            "a cost_matrix": run.loss.cost_matrix is not None,
            "init_score": run.data.init_score is not None,
            "monotonic_cst": getattr(run.learner, "monotonic_cst", None) is not None,
            f"step={run.step!r}": run.step.constant is None,
            "device='cuda'": not run.data.engine.device.is_host,
            "a cluster": run.data.engine.rows.is_spread,
        }
        remedy = "candidates=None, which keeps the scores of all classes"
        refuse(f"candidates={self.candidates}", refused, remedy)

    def check_prior(self, run: Run) -> None:
        """Raise unless the run can start at the class frequencies of the training rows."""
        d = run.Y.shape[1]
        refused = {
            f"candidates={self.candidates}": self.n_candidates is not None,
            f"codewords of {d} dimensions for {len(run.Y)} classes": d < len(run.Y) - 1,
            f"loss={run.loss!r}": not (run.loss.likelihood or isinstance(run.loss, BlockLogistic)),
            "init_score": run.data.init_score is not None,
        }
        refuse("init='prior'", refused, "init='zero'")

    def memory(self, data: TrainingSet, learner: Learner, d: int, n_rounds: int) -> float | None:
        as_sketch(self.sketch).check()  # this is asked first of all, before `check`
        if not isinstance(learner, TreeLearner):
            return None  # `check` will refuse it
        size, few = int(as_sketch(self.sketch).size), self.n_candidates if d == data.K else None
        return expected_bytes(data, learner, d, size, few, n_rounds)

    def objective(self, run: Run) -> RowObjective:
        if not run.data.engine.device.is_host:
            run.data.binned  # noqa: B018 (now: later the device has less room for rows on their way)
        few = self.n_candidates is not None
        return RowObjective(run.loss, run.data.c, run.data.weight, run.code, run.data.engine, few)

    def propose(self, run: Run) -> list[Update]:
        data, objective, step = run.data, run.objective, run.step.constant
        assert isinstance(objective, RowObjective)
        rows = objective.rows
        if self.init == "prior" and run.round == 0:
            return [prior_update(run)]
        _, rule, sparse, _ = self.fixed(run)
        drawn = self._draw(run)
        try:
            statistics = rows.pull(run.F, drawn.Z)  # (n, s + 1)
        except UserLossError as error:
            raise UserLossError(f"in round {run.round + 1}, {error}") from error
        grown = run.learner.grow(data, statistics, run.rows, run.features, drawn.seed)
        values = run.learner.constrain(rows.leaves(run.F, grown, run.rows, rule), grown, data)  # (L, d)
        late = values if isinstance(values, LateValues) else None  # on a device, which may add them unseen
        if late is not None and step is not None and run.may_move(run.learning_rate * step * late.bound):
            late.add_ahead(run.F, run.learning_rate * step, grown.leaf_of_row)
        outputs = LeafOutputs(values, grown.leaf_of_row, data.engine)
        hypothesis = tree_hypothesis(grown, values, sparse, data.engine)
        size = rows.gradient_size(statistics, run.rows)
        edge = sketched_edge(grown.leaf_sums, rule.l2_regularization, size)
        if len(grown.leaf_sums) == 1:  # which may move no row
            entries = np.abs(values.data if issparse(values) else np.asarray(values))
            edge = 0.0 if entries.max(initial=0.0) < 1e-6 else edge
        run.risk_before = rows.risk()  # now, since a device has then computed it while the tree was growing
        if not edge:
            if late is not None and late.added:  # a tree with splits has an edge, but for rounding
                run.F = run.objective.to_device(run.recomputed())
            return []
        if step is not None:
            return [Update(hypothesis, outputs, step, edge, False)]
        if not np.isfinite(reach := largest(hypothesis, outputs)):
            raise run.divergence(reach)
        stride = run.step.length(run.ray(lambda: run.code.forward(outputs.dense()), objective.lazy_gradient(run)))
        if stride.alpha <= 0:
            run.refusal = stride.stop
            return []
        return [Update(hypothesis, outputs, stride.alpha, edge, stride.perfect)]

    def make_rounds(self, run: Run, most: int, before: Callable[[], None]) -> int:
        if most < 2 or (self.init == "prior" and run.round == 0):
            return 0
        *_, sparse, maker = self.fixed(run)
        if maker is None:
            return 0

        def draw() -> RoundDraw:
            before()
            return self._draw(run)

        return run.make_block(maker, draw, most, sparse)

    def _draw(self, run: Run) -> RoundDraw:
        """Draw the sketch directions and the seed of a round; the run already has its sample of rows and features."""
        free = isinstance(run.loss, BlockLogistic)
        Z = self.fixed(run)[0].along(run.code, run.rng, free)  # (K, s)
        if run.code.canonical and not free and run.data.class_ranks is not None:
            Z = run.data.deal(Z)
        return RoundDraw(Z, int(run.rng.integers(2**63)), run.rows, run.features)

    def fixed(self, run: Run) -> tuple[Sketch, LeafRule, bool, RoundMaker | None]:
        """Return what all rounds share: sketch, `LeafRule`, whether most leaf values are 0, `RoundMaker` or None."""
        if run.workspace is None:
            run.workspace = self._fixed(run)
        return run.workspace

    def _fixed(self, run: Run) -> tuple[Sketch, LeafRule, bool, RoundMaker | None]:
        canonical, many = run.code.canonical, len(run.Y) >= MANY_CLASSES and not isinstance(run.loss, BlockLogistic)
        thin = THIN if many else 0.0
        longest = np.inf if self.max_step is None else float(self.max_step)
        longest = longest if canonical else FURTHEST / run.learning_rate
        rule = LeafRule(run.learner.growth_for(run.data).l2_regularization, longest, thin)
        return as_sketch(self.sketch), rule, bool(thin) and canonical, self._round_maker(run, rule)

    def _round_maker(self, run: Run, rule: LeafRule) -> RoundMaker | None:
        """Return a `RoundMaker`, which makes many rounds in one call, or None if Python must make every round.

        It is None for other engines than the compiled one, rows on several machines, losses of the user, of labels and
        of several targets, robust losses, `candidates`, several sketch directions, steps of no fixed length,
        `monotonic_cst`, and subclasses that make rounds or trees in another way.
        """
        objective, learner, engine = run.objective, run.learner, run.data.engine
        rows = objective.rows if isinstance(objective, RowObjective) else None
        compiled = type(engine.compute) is CpuCompute and not engine.rows.is_spread and engine.device.is_host
        usual = (
            type(self).propose is SketchedNewton.propose
            and type(learner).grow is TreeLearner.grow
            and type(learner).constrain is NewtonTree.constrain
            and (learner.score, learner.rounds_at_random, learner.monotonic_cst) == ("newton", True, None)
            and as_sketch(self.sketch).size == 1
            and run.step.constant is not None
        )
        if not (compiled and usual and type(rows) is CpuRowLoss and not rows.tilted):
            return None
        return RoundMaker(rows, run.data.binned, learner.growth_for(run.data), rule)


def refuse(parameter: str, refused: dict[str, bool], remedy: str) -> None:
    """Raise ValueError if a key of `refused` has the value true; the message advises `remedy` for the parameter."""
    for what, is_so in refused.items():
        if is_so:
            raise ValueError(f"{parameter} does not go with {what}; take {remedy}.")


def sketched_edge(sums: Array, l2_regularization: float, size: float) -> float:
    """Compute Σ⟨g, v⟩ / (Σ‖g‖ · max‖v‖) of the sketched gradients g of rows and the Newton steps v of their leaves.

    ``sums`` (L, s + 1) holds the sums over each leaf of g, in s directions, and of the curvature; ``size`` is Σ‖g‖.
    """
    v = newton_steps(sums, l2_regularization)  # (L, s)
    longest = np.abs(v).max() if v.shape[1] == 1 else np.linalg.norm(v, axis=1).max()
    most = size * float(longest)
    return float(np.cumsum(sums[:, :-1] * v)[-1]) / most if most > 0 else 0.0  # one product after another


def tree_hypothesis(grown: Grown, values: Any, sparse: bool, engine: Engine) -> TreeHypothesis:
    """Return a tree with its leaf values, stored as a sparse array if `sparse`; a GPU may still compute them."""
    if isinstance(values, LateValues):
        pending = PendingTree(grown, values, sparse)
        return pending if engine.device.postpone(pending.maker()) else pending.made
    return TreeHypothesis(grown.tree, sparse_values(values) if sparse and not issparse(values) else values)


class RowObjective(Objective):
    """The risk of a loss that the engine evaluates row by row, in single precision and without n × K arrays."""

    def __init__(
        self, loss: Loss, c: Labels, weight: Array, code: Code, engine: Engine, candidates: bool = False
    ) -> None:
        super().__init__(loss, c, weight, code, engine)
        self.rows: RowLoss
        weights = weight.astype(np.float32) if self._weighted else None
        if isinstance(loss, UserLoss):
            self.rows = LossRows(loss, c, weight, code, engine)
            return
        if isinstance(loss, BlockLogistic):
            self.rows = engine.compute.row_loss(
                BlockProblem(np.ascontiguousarray(loss.sets, dtype=np.uint8), c, loss.widths, weights)
            )
            return
        assert loss.exponents is not None  # `SketchedNewton.check` ensures this
        problem = RowProblem(
            c,
            len(code.Y),
            None if code.canonical else code.Y,
            weights,
            log_costs(loss.cost_matrix),
            loss.exponents,
            loss.value_of,
            candidates,
        )
        self.rows = engine.compute.row_loss(problem)

    def to_device(self, F: Any) -> Any:
        return self.rows.to_device(F)

    def lazy_gradient(self, run: Run) -> Gradient:
        """Return the whole gradient at the run's scores; its residual is computed only when it is used."""
        return Gradient(self.c, self.weight, lambda: self._residual(run.U, scaled=True)[0], self.code)

    def on_device(self, X: AnyArray, c: Labels, weight: Array, engine: Engine) -> tuple[Any, RowObjective] | None:
        K = len(self.code.Y)
        if (
            isinstance(self.loss, UserLoss | BlockLogistic) or not self.code.canonical or c.max(initial=0) >= K
        ):  # costs of its own for every row
            return None
        table = engine.device.to_device(X, K)
        if table is None:
            return None
        weight = np.where(c < 0, 0.0, weight)
        mean = float(weight.mean()) or 1.0
        return table, RowObjective(self.loss, np.maximum(c, 0), weight / mean, self.code, engine)

    def risk(self, F: AnyArray) -> float:
        self.rows.pull(F, np.zeros((len(self.code.Y), 1), dtype=np.float32))
        return self.rows.risk()


def log_costs(cost_matrix: Any) -> AnyArray | None:
    """Return the log of the cost matrix, (K, K), added to logits; a cost of 0 counts as 1e-30. None gives None."""
    if cost_matrix is None:
        return None
    logs = np.log(np.maximum(np.asarray(cost_matrix, dtype=np.float64), 1e-30))
    np.fill_diagonal(logs, 0.0)
    return logs.astype(np.float32)


# ---- the start ------------------------------------------------------------------------------------------------------

# So many rows are added to those of every class, because the only row of a class may be held out.
EXTRA = 0.5
# Shares of classes are even if their entropy is at least this part of the largest possible one.
EVEN = 0.98


def prior_update(run: Run) -> Update:
    """Return the update that moves F to the logits of the class frequencies among the rows of this round."""
    shares = class_shares(run.data, slice(None) if run.rows is None else run.rows)
    logits = np.log(shares) - (np.log1p(-shares) if run.data.problem.yes_or_no else np.log(shares).mean())
    values = run.code.predictor(logits[None])  # (1, d)
    outputs = LeafOutputs(values, np.zeros(run.data.n_here, dtype=np.int32), run.data.engine)
    return Update(
        TreeHypothesis(single_leaf(run.data.n), values), outputs, 1.0 / run.learning_rate, edge=0.0, perfect=False
    )


def class_shares(data: TrainingSet, rows: AnyArray | slice = slice(None)) -> Array:
    """Return the smoothed frequencies (K,) of classes, labels or each target's classes in some rows of this machine."""
    return data.problem.shares(data.target_weights(rows), EXTRA)


def has_even_classes(data: TrainingSet) -> bool:
    """Tell whether the classes are about equally frequent; with several labels or targets, in each of them."""
    questions = data.problem.by_question(class_shares(data))
    return all(entr(outcomes).sum() >= EVEN * np.log(len(outcomes)) for outcomes in questions)
