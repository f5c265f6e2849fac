"""Optimizers: how the weak learner is asked in a round, and what becomes of its answer, F ← F + α h.

`GradientDescent` asks for one vector-valued h; `CoordinateDescent` for a scalar h in the best or the next coordinate;
`AllCoordinates` for a scalar h in each; `Newton` for a vector-valued h and gives the learner the curvature as well,
`NewtonCoordinates` for a scalar h in each; `NewColumn` for a scalar h along a direction that is new in every round.
`SignedDescent` and `SampledPairs` are those of AdaBoost.MH with single-class learners and of sm-boost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._parts import Part, check_choice, check_number, resolve
from ._typing import AnyArray, Array, Labels
from .hypotheses import Hypothesis, LeafOutputs, spread
from .losses import MM, Exponential, Logistic

if TYPE_CHECKING:
    from .boosting import Gradient, Run
    from .learners import Answer
    from .steps import Ray
    from .validation import TrainingSet

# A direction whose edge is below this part of the largest possible edge leads nowhere but into rounding errors.
MIN_EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class Update:
    """One summand of a round: F += α h, in all coordinates or in one.

    Attributes
    ----------
    outputs : (n, d) or (n, 1)
    edge : as the step measures it, otherwise Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖); at most 1
    error : the learner's weighted error where the step asks for it
    drop : α → the factor by which a bound on the training error changes with a step α, or None where theory has none
    share : the part of the risk that this update is about; the rest does not change
    classes : (n,) the class named for every row, where the outputs are codewords of classes; else None
    """

    hypothesis: Hypothesis
    outputs: Array | LeafOutputs
    alpha: float
    edge: float
    perfect: bool
    coordinate: int | None = None
    error: float | None = None
    drop: Callable[[float], float] | None = None
    share: float = 1.0
    classes: Labels | None = None


class Optimizer(Part):
    """How a round is made."""

    dtype: ClassVar[type] = np.float64  # of F and of the codewords

    @abstractmethod
    def propose(self, run: Run) -> list[Update]:
        """The updates of the next round; none where the learner found no direction that decreases the risk."""

    def check(self, run: Run) -> None:
        """Raise where the parts do not go together; called once before boosting."""

    def resume(self, run: Run) -> None:
        """Find out what the rounds before have settled; called once where a run continues a model."""


@dataclass(eq=False, repr=False)
class GradientDescent(Optimizer):
    """Functional gradient descent (GD-MCBoost): one h with values in R^d follows the whole gradient."""

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, run.gradient())


@dataclass(eq=False, repr=False)
class SignedDescent(GradientDescent):
    """Gradient descent where a learner that names class k answers +1 for k, −1 for every other class (AdaBoost.MH)."""

    def propose(self, run: Run) -> list[Update]:
        """One update of signs."""
        return step_along(run, run.gradient(), answers=2.0 * np.eye(len(run.Y)) - 1.0)

    def check(self, run: Run) -> None:
        """Raise unless the codewords are canonical."""
        if not run.model.code.canonical:
            raise ValueError("optimizer=SignedDescent() needs codewords='canonical': a score per class.")


@dataclass(eq=False, repr=False)
class SampledPairs(Optimizer):
    """Follows the gradient on pairs (example, class) drawn by the probability of the class (sm-boost).

    Where the drawn pairs show no edge others are drawn, ten times at most.

    Parameters
    ----------
    n_pairs : int, "n" or "all", default="n"
        M; ``"n"`` draws as many as there are different examples, ``"all"`` takes every pair with its probability.
    separate : bool, default=True
        A scalar learner for every coordinate, rather than one for all.
    """

    n_pairs: int | str = "n"
    separate: bool = True

    max_draws: ClassVar[int] = 10

    def check(self, run: Run) -> None:
        """Raise where the number of pairs has no meaning."""
        if isinstance(self.n_pairs, str):
            check_choice("n_pairs", self.n_pairs, ("n", "all"))
        else:
            check_number("n_pairs", self.n_pairs, int, 1)

    def propose(self, run: Run) -> list[Update]:
        """One step along all coordinates."""
        ask = step_together if self.separate else step_along
        if self.n_pairs == "all":
            return ask(run, run.gradient())
        for _ in range(self.max_draws):
            if updates := ask(run, self.sample(run)):
                return updates
        run.refusal = f"no edge: not in {self.max_draws} samples of pairs in a row"
        return []

    def sample(self, run: Run) -> Gradient:
        """The gradient with every pair weighed by how often it was drawn, over how often it is on average."""
        if run.workspace is None:
            run.workspace = different_examples(run.data)
        rows, weight = run.workspace  # (m,) the first of each, and what all its like weigh
        P, g = run.loss.residual(run.U, run.data.c)[rows], run.loss.probabilities(run.U[rows])  # (m, K)
        n_pairs = len(rows) if self.n_pairs == "n" else int(self.n_pairs)
        ends = np.cumsum(weight[:, None] * g)
        drawn = np.searchsorted(ends, run.rng.random(n_pairs) * ends[-1], side="right")
        counts = np.bincount(drawn, minlength=P.size).reshape(P.shape)
        P = np.divide(P, g, out=np.zeros_like(P), where=counts > 0)  # first, so that equal pairs stay equal
        sampled = np.zeros_like(run.U)
        sampled[rows] = P * (counts * (weight.sum() / n_pairs))
        return run.gradient_of(sampled)


@dataclass(eq=False, repr=False)
class CoordinateDescent(Optimizer):
    """Coordinate descent (CD-MCBoost): one scalar h in one coordinate of F.

    Parameters
    ----------
    schedule : {"best", "cyclic"}, default="best"
        ``"best"`` fits every coordinate and keeps the one with the lowest risk after its step (the journal version);
        ``"cyclic"`` takes coordinate t mod d in round t (the conference version), d times cheaper a round.
    """

    schedule: str = "best"

    def check(self, run: Run) -> None:
        """Raise where the schedule is unknown."""
        check_choice("schedule", self.schedule, ("best", "cyclic"))

    def propose(self, run: Run) -> list[Update]:
        """One update of one coordinate."""
        gradient, d = run.gradient(), run.Y.shape[1]
        if self.schedule == "cyclic":
            # A coordinate without an edge is passed over; the round ends when none has one.
            for j in (run.round + np.arange(d)) % d:
                if update := step_along(run, gradient, int(j)):
                    return update
            return []
        candidates = [update for j in range(d) for update in step_along(run, gradient, j)]
        return [min(candidates, key=run.log_risk_after)] if candidates else []  # ties: the lower coordinate


@dataclass(eq=False, repr=False)
class AllCoordinates(Optimizer):
    """Every round fits a scalar h in each coordinate.

    Parameters
    ----------
    shared_step : bool, default=True
        One step for all coordinates, along the vector they form; otherwise a step for each, exact where the loss
        decouples over coordinates (one-vs-all).
    """

    shared_step: bool = True

    def propose(self, run: Run) -> list[Update]:
        """An update of every coordinate that has an edge."""
        gradient = run.gradient()
        if not self.shared_step:
            return self._separate(run, gradient)
        return step_together(run, gradient)

    @staticmethod
    def _separate(run: Run, gradient: Gradient) -> list[Update]:
        """A step for each; where the loss decouples, K boosters side by side that end one by one."""
        sizes = np.abs(gradient.G).sum(axis=0)  # (d,)
        decouples, updates = run.decouples, []
        if len(run.finished) == run.Y.shape[1]:
            run.refusal = "perfect learner: every class has met one and has ended"
        for j in range(run.Y.shape[1]):
            if j in run.finished:
                continue
            if not decouples:
                updates += step_along(run, gradient, j)
                continue
            update = step_along(run, gradient, j, ray_of=run.binary_ray)
            if update and update[0].perfect:
                run.finished.add(j)
            all_done = len(run.finished) == run.Y.shape[1]
            updates += [replace(u, share=sizes[j] / sizes.sum(), perfect=all_done) for u in update]
        return updates

    def resume(self, run: Run) -> None:
        """Boosters whose last learner is perfect have ended."""
        if not self.shared_step and run.decouples:
            last = {term.coordinate: term.hypothesis for term in run.model.terms}
            run.finished = {k for k, h in last.items() if k is not None and run.is_perfect(h, k)}


@dataclass(eq=False, repr=False)
class Newton(Optimizer):
    """Gradient descent with curvature: the learner sees G and the trace of the Hessian in F, h_i = tr ∇²L_i.

    The trace bounds every eigenvalue, so a leaf ΣG / (Σh + l2) of a `NewtonTree` never overshoots.
    """

    def check(self, run: Run) -> None:
        """Raise unless the loss is convex and has second derivatives."""
        if not run.loss.convex:
            raise ValueError(f"optimizer='newton' needs a convex loss; loss={run.loss!r} is not. Use 'gradient'.")
        run.curvature()

    def propose(self, run: Run) -> list[Update]:
        """One vector-valued update."""
        return step_along(run, run.gradient(scaled=False), curvature=run.curvature())


@dataclass(eq=False, repr=False)
class NewtonCoordinates(Optimizer):
    """LogitBoost: a scalar regressor in each coordinate, fitted to the Newton step of its class by least squares.

    Class k has weights p(1−p) and responses (1[c=k] − p) / p(1−p), clipped. The step is (K−1)/K of the regressors;
    centred codewords centre the scores.

    Parameters
    ----------
    clip : float, default=4.0
        Largest absolute response.
    """

    clip: float = 4.0

    def check(self, run: Run) -> None:
        """Raise unless the loss is logistic and every coordinate is a class."""
        check_number("clip", self.clip, float, 0.0, open_low=True)
        if not isinstance(run.loss, Logistic) or run.loss.cost is not None or not run.model.code.symmetric:
            raise ValueError(
                "optimizer='newton-coordinates' needs loss='logistic' without costs and canonical codewords, not "
                f"loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        """An update of every coordinate that has an edge."""
        weight = run.data.weight[:, None]
        R = run.gradient(scaled=False).G / weight  # (n, K), 1[c=k] − p
        h = np.maximum(np.abs(R) * (1 - np.abs(R)), 1e-12)  # p(1−p)
        G, h = weight * h * np.clip(R / h, -self.clip, self.clip), weight * h
        K = len(run.Y)
        answers = [run.ask(run.binary_request(G[:, k], h[:, k])) for k in range(K)]
        edges = [normalised_edge(G[:, [k]], answer.outputs) for k, answer in enumerate(answers)]
        alpha = (K - 1) / K * run.stride(np.column_stack([answer.outputs for answer in answers])).alpha
        found = [(k, a, edge) for k, (a, edge) in enumerate(zip(answers, edges, strict=True)) if edge > MIN_EDGE]
        return [Update(a.hypothesis, a.outputs, alpha, edge, False, k) for k, a, edge in found]


@dataclass(eq=False, repr=False)
class NewColumn(Optimizer):
    """AdaBoost.ECC: every round colours the classes with two colours μ ∈ {−1, +1}^K and asks which it is.

    The binary learner g answers for the new column of the code; in class scores it adds α g(x) μ.

    Parameters
    ----------
    colouring : {"random", "max-cut"}, default="random"
        ``"random"`` gives half of the classes each colour; ``"max-cut"`` flips single classes, from there on, as long
        as that separates more of the weight of the pairs (example, rival class).
    """

    colouring: str = "random"

    code: ClassVar[str] = "binary, a new column each round"

    def check(self, run: Run) -> None:
        """Raise unless scores are the predictor itself and the loss is a sum over pairs."""
        check_choice("colouring", self.colouring, ("random", "max-cut"))
        if not isinstance(run.loss, Exponential | MM) or not run.model.code.canonical:
            raise ValueError(
                "optimizer='new-column' needs loss='mm' or 'exponential' and canonical codewords, "
                f"not loss={run.loss!r} and codewords of shape {run.Y.shape}."
            )

    def propose(self, run: Run) -> list[Update]:
        """One update along a colouring; a colouring without an edge is drawn again."""
        gradient = run.gradient()
        for _ in range(MAX_COLOURINGS):
            if update := self._along(run, gradient, self.colours(run, gradient)):
                return update
        return []

    @staticmethod
    def _along(run: Run, gradient: Gradient, mu: Array) -> list[Update]:
        """The update along the colours mu (K,)."""
        E, own = -gradient.P, mu[run.data.c]  # (n, K), (n,)
        E[np.arange(len(E)), run.data.c] = 0.0
        # Rivals of the other colour weigh, summed without cancelling.
        request = run.binary_request(np.where(own > 0, E @ (mu < 0), -(E @ (mu > 0))))
        answer = run.ask(request)
        outputs, h = answer.outputs * mu, spread(answer.hypothesis, mu)  # (n, K)
        stride = run.step.length(run.ray(lambda: run.direction(outputs, None), gradient))
        edge = normalised_edge(request.G, answer.outputs)
        if edge <= MIN_EDGE or stride.alpha <= 0:
            return []
        error = float(request.weight @ (answer.outputs[:, 0] * request.G[:, 0] <= 0) / request.weight.sum())
        return [Update(h, outputs, stride.alpha, stride.edge or edge, stride.perfect, None, error, stride.drop)]

    def colours(self, run: Run, gradient: Gradient) -> Array:
        """μ (K,), both colours in use."""
        K = len(run.Y)
        mu = run.rng.permutation(np.where(np.arange(K) < K // 2, 1.0, -1.0))
        if self.colouring == "random":
            return mu
        pairs = np.stack([-gradient.P[run.data.c == k].sum(axis=0) for k in range(K)])  # (K, K), examples of k, rivals
        np.fill_diagonal(pairs, 0.0)
        return max_cut(pairs + pairs.T, mu)


MAX_COLOURINGS = 20  # without an edge, before the learner is given up


def max_cut(weights: Array, mu: Array) -> Array:
    """Colours (K,) that no flip of a single class improves, from mu on; weights (K, K) of pairs, symmetric."""
    mu = mu.copy()
    for _ in range(100 * len(mu)):
        gain = mu * (weights @ mu)  # (K,) what flipping each class adds to the cut
        lonely = [(mu == colour).sum() == 1 for colour in mu]
        best = int(np.argmax(np.where(lonely, -np.inf, gain)))
        if lonely[best] or gain[best] <= 1e-12 * weights.sum():
            break
        mu[best] *= -1
    return mu


def step_along(
    run: Run,
    gradient: Gradient,
    coordinate: int | None = None,
    curvature: Array | None = None,
    ray_of: Callable[[Answer, Any, Gradient], Ray] | None = None,
    answers: Array | None = None,
) -> list[Update]:
    """Ask the learner, choose the step: one update, or none where there is no edge.

    A learner that names class k answers with row k of ``answers`` (K, d), its codeword unless told otherwise.
    """
    request = run.request(gradient, coordinate, curvature)
    request = request if answers is None else replace(request, Y=answers)
    answer = run.ask(request)
    edge = None if run.step.measures_edge else normalised_edge(request.G, answer.outputs)
    if edge is not None and edge <= MIN_EDGE:
        return []
    stride = run.step.length((ray_of or run.ray_of)(answer, coordinate, gradient))
    edge = stride.edge if edge is None else edge
    if stride.alpha <= 0 or edge is None or edge <= MIN_EDGE:
        run.refusal = stride.stop
        return []
    outputs = answer.compact if coordinate is None else answer.outputs
    classes = answer.classes if coordinate is None else None
    told = (stride.error, stride.drop, 1.0, classes)
    return [Update(answer.hypothesis, outputs, stride.alpha, edge, stride.perfect, coordinate, *told)]


def different_examples(data: TrainingSet) -> tuple[AnyArray, Array]:
    """The first row of every example that occurs, in an order of their own, and the weight of all equal rows.

    Draws by this list are the same for weights and for repetitions, and in whatever order the rows come.
    """
    labels = data.c[:, None] if data.costs is None else data.costs
    content = np.ascontiguousarray(np.column_stack([data.X, labels]), dtype=np.float64)
    keys = content.view(np.dtype((np.void, content.strides[0]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, np.bincount(inverse, data.weight).astype(np.float64, copy=False)


def step_together(run: Run, gradient: Gradient) -> list[Update]:
    """Ask for a scalar h in every coordinate, choose one step for the vector they form."""
    d = run.Y.shape[1]
    answers = [run.ask(run.request(gradient, j)) for j in range(d)]
    outputs = np.column_stack([answer.outputs for answer in answers])  # (n, d)
    stride = run.step.length(run.ray(lambda: run.direction(outputs, None), gradient))
    edge = normalised_edge(gradient.G, outputs) if stride.edge is None else stride.edge
    if edge <= MIN_EDGE or stride.alpha <= 0:
        run.refusal = stride.stop
        return []
    return [
        Update(
            answer.hypothesis, answer.outputs, stride.alpha, edge, stride.perfect, j, stride.error, stride.drop, 1 / d
        )
        for j, answer in enumerate(answers)
    ]


def normalised_edge(G: Array, outputs: Array) -> float:
    """Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖): 1 for a unit h that points along G everywhere, 0 for no edge at all."""
    lengths = (np.sqrt(np.einsum("nd,nd->n", A, A)) for A in (G, outputs))  # (n,) each
    most = next(lengths).sum() * next(lengths).max()
    return float(np.vdot(G, outputs) / most) if most > 0 else 0.0


OPTIMIZERS: dict[str, type[Optimizer]] = {
    "gradient": GradientDescent,
    "coordinate": CoordinateDescent,
    "all-coordinates": AllCoordinates,
    "newton": Newton,
    "newton-coordinates": NewtonCoordinates,
    "new-column": NewColumn,
    "signed": SignedDescent,
    "sampled-pairs": SampledPairs,
}


def as_optimizer(value: Any) -> Optimizer:
    """An optimizer from its name, or from itself.

    Examples
    --------
    >>> as_optimizer("coordinate")
    CoordinateDescent()
    """
    return resolve(value, OPTIMIZERS, Optimizer, "optimizer")
