"""Defines Newton boosting on a sketch: one vector tree per round, whatever the number of classes.

Splits are searched along s random directions of the space of codewords, so histograms hold s + 1 numbers per bin; the
leaves then use the whole gradient. A round costs n·p·(s + 1) for the histograms, n·K for the soft-max (n·K·d for
codewords of few dimensions), and little for the leaves. The soft-max is computed in blocks that fit in the cache, and
no n × K gradient is stored.

For losses that the engine does not know, such as a user's own, `LossRows` computes the same in NumPy.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import Part, check_choice, check_number
from ...engine import BlockProblem, Engine, FitSize, Grown, HostLoss, LateValues, LeafRule, RowLoss, RowProblem
from ...engine.candidates import places
from ...model.code import FEW, Code, Gradient
from ...model.hypotheses import LeafOutputs, PendingTree, TreeHypothesis, largest, sparse_values
from ...tables.training_set import TrainingSet
from ..learners.base import Learner
from ..learners.newton_trees import NewtonTree, newton_steps
from ..learners.tree_learners import TreeLearner
from ..losses.base import Loss
from ..losses.multilabel import BlockLogistic
from ..losses.objective import Objective
from ..losses.scores import UserLoss, UserLossError, along_columns
from .base import Optimizer, ray_along
from .memory import BASE, NODE, ROW, binning_bytes, leaves_on, model_bytes, row_bytes, table_bytes, tree_bytes
from .prior import prior_update
from .run import Run, Update


class Sketch(Part):
    """Directions in the space of codewords, chosen anew in every round.

    A subclass writes `size`, the number s of directions, and `directions`, the codewords along them, (K, s).

    Examples
    --------
    A sketch that takes single coordinates:

    >>> from dataclasses import dataclass
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> @dataclass(eq=False, repr=False)
    ... class OneCoordinate(Sketch):
    ...     size = 1
    ...     def directions(self, Y, rng):
    ...         return Y[:, [rng.integers(Y.shape[1])]].astype(np.float32)
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, sketch=OneCoordinate(), random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of directions, s."""

    @abstractmethod
    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """The codewords along the directions, Z (K, s) float32; Y (K, d) are the codewords."""

    def along(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same for codewords of which more is known."""
        return self.directions(code.Y, rng)

    def free(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same for scores of which each matters by itself, not only compared with the others: those of labels."""
        return self.along(code, rng)

    def check(self) -> None:
        """Raise if a parameter is invalid; called once before boosting."""


@dataclass(eq=False, repr=False)
class GaussianSketch(Sketch):
    """Random directions with independent Gaussian coordinates.

    Parameters
    ----------
    n_directions : int, default=1
        The number of directions. More of them find better splits and make histograms wider.

    Examples
    --------
    >>> GaussianSketch(2).directions(np.eye(5), np.random.default_rng(0)).shape
    (5, 2)
    """

    n_directions: int = 1

    @property
    def size(self) -> int:
        """The number of directions."""
        return self.n_directions

    def check(self) -> None:
        """Raise if the number of directions is invalid."""
        check_number("sketch", self.n_directions, int, 1, 64)

    def directions(self, Y: AnyArray, rng: np.random.Generator) -> AnyArray:
        """Z = Y R / √s with R (d, s) Gaussian; it is centred over the classes, which only reduces rounding errors."""
        Z = Y @ rng.standard_normal((Y.shape[1], self.n_directions))
        Z -= Z.mean(axis=0)
        return np.ascontiguousarray(Z / np.sqrt(self.n_directions), dtype=np.float32)

    def along(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same; canonical codewords need no product, which takes 0.2 ms for 438 classes."""
        if not code.canonical:
            return self.directions(code.Y, rng)
        Z = rng.standard_normal((len(code.Y), self.n_directions))
        Z -= Z.mean(axis=0)
        return np.ascontiguousarray(Z / np.sqrt(self.n_directions), dtype=np.float32)

    def free(self, code: Code, rng: np.random.Generator) -> AnyArray:
        """The same without centring: if all labels become more probable together, that is a direction too."""
        Z = rng.standard_normal((len(code.Y), self.n_directions))
        return np.ascontiguousarray(Z / np.sqrt(self.n_directions), dtype=np.float32)


def as_sketch(value: Any) -> Sketch:
    """The sketch that ``value`` stands for: a number of random directions, or a `Sketch`, returned as it is.

    >>> as_sketch(3)
    GaussianSketch(n_directions=3)
    """
    return value if isinstance(value, Sketch) else GaussianSketch(value)


class LossRows(HostLoss):
    """A loss with `residual` and `second`, as `engine.interface.RowLoss`; codewords are canonical, so that F = 2U."""

    def __init__(self, loss: Any, c: Labels, weight: Array, code: Code, engine: Engine) -> None:
        self.loss, self.c, self.weight, self.code, self.compute = loss, c, weight, code, engine.compute

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and, last, the curvature along the sketch at F (n, d), (n, s + 1)."""
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
        """The mean weighted loss at the F of the last `pull`."""
        total = self.compute.rows.total
        return total(self.weight * self.values) / total(self.weight)


# From this many classes on, leaf values below this part of the leaf's largest are dropped.
MANY_CLASSES, THIN = 33, 0.1

# Up to so many of them, probabilities (n, K) are kept from the sketch for the leaves; beyond, they are computed again.
FEW_PROBABILITIES = 2**21
# The part of the leaf values that is kept if small ones are dropped, for the forecast of memory.
SPARSE_PART = 0.2

MOST_CANDIDATES = 2**16
INITS = ("zero", "prior")
# The most entries that a leaf is expected to have if rows have candidates, for the forecast of memory.
LEAF_ENTRIES = 1000

# The furthest that a leaf may move the score of a class if the codewords are not canonical, after the learning rate.
# Longer steps are caused by an almost singular Hessian; with the default learning rate, ordinary steps reach 3 for 1200
# classes and 1 for ten.
FURTHEST = 10.0


@dataclass(eq=False, repr=False)
class SketchedNewton(Optimizer):
    """One vector tree per round: splits on a sketch of the gradient, Newton steps in the leaves.

    The learner must be a Newton tree ("sketch-tree"), the loss a function of the probability of the true class
    ("logistic", also with costs, "savage", "softmax-cost"), or the sum of the log-losses of several labels or class
    targets. Any step can be used; "fixed" is the natural choice.

    Parameters
    ----------
    sketch : int or Sketch, default=1
        The directions along which splits are searched, or the number of random ones.
    max_step : float or None, default=2.0
        The furthest that a leaf may move the score of a class, before the learning rate; None for no limit. A class of
        almost no probability in a leaf has almost no curvature there, and Newton's step for its first example would be
        far too long. The limit applies to canonical codewords only: a code of few dimensions would merely learn more
        slowly, so its limit is ten divided by the learning rate.
    candidates : int or None, default=None
        How many classes beside its own every row keeps scores of, in place of all: those that score highest. None keeps
        all. It needs canonical codewords, no costs, a step of fixed length, and all rows on one machine.
    init : {"zero", "prior"}, default="zero"
        Where boosting starts. "zero": all classes are equally probable. "prior": the first round is a tree of one leaf
        that gives all rows the class shares of the training rows.

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.SimplexBoostClassifier(n_estimators=10, sketch=2).parts().optimizer
    SketchedNewton(sketch=2)
    """

    sketch: Any = 1
    max_step: float | None = 2.0
    candidates: int | None = None
    init: str = "zero"

    dtype: ClassVar[type] = np.float32

    def check(self, run: Run) -> None:
        """Raise unless the engine can evaluate the loss row by row and the learner can use a sketch."""
        as_sketch(self.sketch).check()
        check_number("max_step", self.max_step, float, 0.0, none=True, open_low=True)
        if self.candidates is not None:
            self.check_candidates(run)
        check_choice("init", self.init, INITS)
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
        """Raise unless the run can do with few classes for every row."""
        check_number("candidates", self.candidates, int, 1, MOST_CANDIDATES)
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
        for what, is_so in refused.items():
            if is_so:
                raise ValueError(
                    f"candidates={self.candidates} does not go with {what}; take candidates=None, which keeps the "
                    "scores of all classes."
                )

    def check_prior(self, run: Run) -> None:
        """Raise unless the run can start at the class shares."""
        d = run.Y.shape[1]
        refused = {
            f"candidates={self.candidates}": self.candidates is not None,
            f"codewords of {d} dimensions for {len(run.Y)} classes": d < len(run.Y) - 1,
            f"loss={run.loss!r}": not (run.loss.likelihood or isinstance(run.loss, BlockLogistic)),
            "init_score": run.data.init_score is not None,
        }
        for what, is_so in refused.items():
            if is_so:
                raise ValueError(f"init='prior' does not go with {what}; take init='zero'.")

    def memory(self, data: TrainingSet, learner: Learner, d: int, n_rounds: int) -> float | None:
        """F in single precision, the statistics of the sketch, and the gradient or, if there are few, probabilities."""
        as_sketch(self.sketch).check()  # this is asked first of all, before `check`
        if not isinstance(learner, TreeLearner):
            return None  # `check` will refuse it
        n, K, s = data.n_here, data.K, int(as_sketch(self.sketch).size)
        kept = n * (-(-K // 16) * 16)  # probabilities, in rows of whole vectors
        blockwise = data.problem.several is not None  # whose mistakes are kept for the leaves
        kept = 4 * kept if d == K and (kept <= FEW_PROBABILITIES or blockwise) else 0
        weighted = 0 if data.uniform else 20  # the weights in both precisions, and times the tilt of the loss
        values = 4 * d if K < MANY_CLASSES or d < K else 8 * SPARSE_PART * d
        if self.candidates is not None and d == K:
            return self.candidate_memory(data, learner, s, weighted, n_rounds)
        code = 0 if d == K > FEW else 12 * K * d  # many canonical codewords are a view
        model = code + model_bytes(data, learner, values, n_rounds)
        if not data.engine.device.is_host and d == K and not issparse(data.table):  # F and the trees are there
            rows: float = n * (ROW + weighted)
            growing = rows + table_bytes(data) + model
        else:
            rows = n * (row_bytes(data) + 4 + 4 * d * (1 if d == K else 2) + 8 * (s + 1) + weighted) + kept
            growing = rows + table_bytes(data) + tree_bytes(data, learner, s + 1) + model
        binning = code + binning_bytes(data) + (rows if issparse(data.table) else n * ROW)
        return BASE + max(growing, binning)

    def candidate_memory(self, data: TrainingSet, learner: TreeLearner, s: int, weighted: int, n_rounds: int) -> float:
        """The same where rows keep few scores: lists, and tables of K numbers for every thread."""
        C, n, K = places(min(int(self.candidates or 0), data.K - 1)), data.n_here, data.K
        rows = n * (row_bytes(data) + 4 + 8 * C + 20 + 8 * (s + 1) + weighted)
        tables = 30.0 * K * (4 * data.engine.compute.n_threads + 1)
        leaves = leaves_on(data, learner.growth_for(data))
        entries = min(float(n), LEAF_ENTRIES * float(leaves), float(leaves) * K)
        model = n_rounds * (leaves * NODE + 8 * entries) + 24.0 * entries
        growing = rows + table_bytes(data) + tree_bytes(data, learner, s + 1) + tables + model
        binning = binning_bytes(data) + (rows if issparse(data.table) else n * ROW)
        return BASE + max(growing, binning)

    def objective(self, run: Run) -> RowObjective:
        if not run.data.engine.device.is_host:
            run.data.binned  # noqa: B018 (now: later the device has less room for rows on their way)
        few = self.candidates is not None
        return RowObjective(run.loss, run.data.c, run.data.weight, run.code, run.data.engine, few)

    def propose(self, run: Run) -> list[Update]:
        """One tree."""
        data, objective, step = run.data, run.objective, run.step.constant
        assert isinstance(objective, RowObjective)
        rows = objective.rows
        if self.init == "prior" and not run.model.round_ends:
            return [prior_update(run)]
        sketch, rule, sparse = run.workspace = run.workspace or self.fixed(run)
        if isinstance(run.loss, BlockLogistic):
            Z = sketch.free(run.code, run.rng)  # (K, s)
        else:
            Z = sketch.along(run.code, run.rng)
            Z = data.dealt(Z) if run.code.canonical and data.class_ranks is not None else Z
        try:
            statistics = rows.pull(run.F, Z)  # (n, s + 1)
        except UserLossError as error:
            raise UserLossError(f"in round {run.round + 1}, {error}") from error
        seed = int(run.rng.integers(2**63))
        grown = run.learner.grow(data, statistics, run.rows, run.features, seed)
        values = run.learner.constrain(rows.leaves(run.F, grown, run.rows, rule), grown, data)  # (L, d)
        late = values if isinstance(values, LateValues) else None  # on a device, which may add them unseen
        if late is not None and step is not None and run.may_move(run.learning_rate * step * late.bound):
            late.add_ahead(run.F, run.learning_rate * step, grown.leaf_of_row)
        outputs = LeafOutputs(values, grown.leaf_of_row, data.engine)
        hypothesis = tree_hypothesis(grown, values, sparse, data.engine)
        size = rows.gradient_size(statistics, run.rows)
        moves = len(grown.leaf_sums) > 1 or not is_zero(values)
        edge = sketched_edge(grown.leaf_sums, rule.l2_regularization, size) if moves else 0.0
        run.risk_before = rows.risk()  # now, since a device has then computed it while the tree was growing
        if not edge:
            if late is not None and late.added:  # a tree with splits has an edge, but for rounding
                run.F = run.objective.to_device(run.recomputed())
            return []
        if step is not None:
            return [Update(hypothesis, outputs, step, edge, False)]
        if not np.isfinite(reach := largest(hypothesis, outputs)):
            raise run.divergence(reach)
        stride = run.step.length(ray_along(run, outputs.dense(), objective.lazy_gradient(run)))
        if stride.alpha <= 0:
            run.refusal = stride.stop
            return []
        return [Update(hypothesis, outputs, stride.alpha, edge, stride.perfect)]

    def fixed(self, run: Run) -> tuple[Sketch, LeafRule, bool]:
        """Return what is the same in every round: the sketch, how leaf values are computed, and if most are zero."""
        canonical, many = run.code.canonical, len(run.Y) >= MANY_CLASSES and not isinstance(run.loss, BlockLogistic)
        thin = THIN if many else 0.0
        longest = np.inf if self.max_step is None else float(self.max_step)
        longest = longest if canonical else FURTHEST / run.learning_rate
        rule = LeafRule(run.learner.growth_for(run.data).l2_regularization, longest, thin)
        return as_sketch(self.sketch), rule, bool(thin) and canonical


def is_zero(values: Any) -> bool:
    """Tell whether the leaf values (1, d) of a tree of one leaf move no row."""
    return bool(np.abs(values.data if issparse(values) else np.asarray(values)).max(initial=0.0) < 1e-6)


def sketched_edge(sums: Array, l2_regularization: float, size: float) -> float:
    """Σ⟨g, v⟩ / (Σ‖g‖ · max‖v‖) of the gradients g along the sketch and the Newton steps v of their leaves.

    From the sums of g and, last, of the curvature over the leaves, (L, s + 1), and from ``size``, which is Σ‖g‖.
    """
    v = newton_steps(sums, l2_regularization)  # (L, s)
    longest = np.abs(v).max() if v.shape[1] == 1 else np.linalg.norm(v, axis=1).max()
    most = size * float(longest)
    return float(np.vdot(sums[:, :-1], v)) / most if most > 0 else 0.0


def tree_hypothesis(grown: Grown, values: Any, sparse: bool, engine: Engine) -> TreeHypothesis:
    """A tree with its leaf values, sparse if most are zero; it may still be growing, and its values on their way."""
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
        """The whole gradient, computed only if it is used."""
        return Gradient(self.c, self.weight, lambda: self._residual(run.U, scaled=True)[0], self.code)

    def on_device(self, X: AnyArray, c: Labels, weight: Array, engine: Engine) -> tuple[Any, RowObjective] | None:
        """Other rows on the engine's device, and their objective."""
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
        """The mean weighted loss at F, by one more `pull`."""
        self.rows.pull(F, np.zeros((len(self.code.Y), 1), dtype=np.float32))
        return self.rows.risk()


def log_costs(cost_matrix: Any) -> AnyArray | None:
    """The logarithms of the costs of pairs, (K, K), which are added to the logits; very low for pairs without cost."""
    if cost_matrix is None:
        return None
    logs = np.log(np.maximum(np.asarray(cost_matrix, dtype=np.float64), 1e-30))
    np.fill_diagonal(logs, 0.0)
    return logs.astype(np.float32)


def fit_size(run: Run, s: int) -> FitSize:
    """The size of the fit, with s directions of the sketch."""
    data, kept = run.data, run.code.canonical and not isinstance(run.loss, UserLoss)
    growth = run.learner.growth_for(data)
    p = 0 if issparse(data.table) else data.p
    return FitSize(data.n, p, len(run.Y) if kept else 0, s, data.max_bins, not data.uniform, growth)


def seconds_per_round(run: Run) -> float:
    """Seconds per round, from costs measured on a 2.8 GHz core and on an H200; right within about a factor of two."""
    n, p, (K, d) = run.data.n, run.data.p, run.Y.shape
    if not run.data.engine.device.is_host and d == K and not issparse(run.data.table):
        return 1.3e-3 + n * (2.5e-11 * p + 6e-12 * K)
    leaves = run.learner.growth_for(run.data).max_leaf_nodes or 255
    levels = np.log2(leaves + 1)
    cells, bins = n * p, run.data.max_bins * p
    if issparse(run.data.table):  # only what is stored is read, and gives a column bins
        cells, bins = 4 * run.data.table.nnz, min(bins, p + run.data.table.nnz)
    histograms = 1.5e-9 * cells * (1 + levels / 4)  # subtraction saves half of each level, and rows become fewer
    scans = 2e-9 * leaves * float(bins)
    products = 0.0 if d == K else 4.0 * n * K * d / 4e10
    soft_max = (4e-9 if d == K else 2e-9) * n * K  # canonical: once for the sketch, once for the leaves
    return (histograms + scans + products + soft_max) / max(1, min(run.data.engine.compute.n_threads, 8)) + 2e-4
