"""Boosting: the loop, F ← F + α h, and the record it works on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from ._cached import cached
from ._code import Code
from ._typing import AnyArray, Array, Labels
from .hypotheses import Hypothesis, largest
from .learners import Answer, Learner, Request
from .losses import MM, Exponential, Loss, OneVsAll, OwnScoreExponential
from .losses.base import CEILING
from .model import AdditiveModel, Term
from .optimizers import Optimizer, Update
from .steps import Ray, Step, Stride
from .validation import TrainingSet

if TYPE_CHECKING:
    from .callbacks import Callback


NO_EDGE = "no edge: the weak learner found no direction that decreases the risk"
PERFECT = "perfect learner: every example gains on every rival class along it, its best step is infinite"
# Residuals that are carried from round to round are computed afresh now and then, lest rounding errors add up.
REFRESH = 16
MAX_DRAWS = 20  # samples without an edge before a learner is given up


def boost(run: Run, optimizer: Optimizer, n_rounds: int, callbacks: Sequence[Callback] = ()) -> AdditiveModel:
    """Add rounds until there are ``n_rounds``, the learner finds nothing more, or a callback has had enough."""
    run.n_rounds = n_rounds
    for callback in callbacks:
        callback.start(run)
    while run.round < n_rounds and run.stop_reason is None:
        for callback in callbacks:
            callback.before_round(run)
        updates = propose(run, optimizer)  # the weak learner and the step
        if not updates:
            run.stop_reason = run.refusal or NO_EDGE
            break
        run.apply(updates)  # F += α h
        if any(update.perfect for update in updates):
            run.stop_reason = PERFECT
        for callback in callbacks:
            callback.after_round(run)
    for callback in callbacks:
        callback.finish(run)
    return run.model


def propose(run: Run, optimizer: Optimizer) -> list[Update]:
    """The updates of a round; an unlucky sample of rows is drawn again before the learner is given up."""
    run.refusal = run.risk_before = None
    updates, draws = optimizer.propose(run), 1
    while not updates and run.redraw is not None and draws < MAX_DRAWS:
        run.redraw(run)
        updates, draws = optimizer.propose(run), draws + 1
    return updates


def mean_loss(loss: Loss, model: AdditiveModel, F: AnyArray, c: Labels, weight: Array) -> float:
    """The weighted mean of the loss at F (n, d), in blocks of rows: no n × K scores at once."""
    block = max(1, 2**22 // len(model.Y))  # 32 MB of scores
    total = 0.0
    for i in range(0, len(F), block):
        rows = slice(i, i + block)
        total += float(weight[rows] @ loss.value(model.scores(F[rows]), c[rows]))
    return total / float(weight.sum())


class Gradient:
    """Where the risk falls.

    Attributes
    ----------
    P : (n, K) minus the gradient in the scores, sample weights included
    labels, own : (n,) the true class (of several labels, the one an example pulls towards most), and its entry of P
    G : (n, d) minus the gradient in F, ½ P Y
    """

    def __init__(self, P: Array | Callable[[], Array], code: Code, labels: Labels, own: Array) -> None:
        self._P, self._code, self.labels, self.own = P, code, labels, own

    @cached
    def P(self) -> Array:
        """Minus the gradient in the scores."""
        return self._P() if callable(self._P) else self._P

    @cached
    def G(self) -> Array:
        """Minus the gradient in F."""
        return self._code.back(self.P)


@dataclass(frozen=True, eq=False)
class Pulled:
    """The residual P (n, K) after so many rounds, up to the factor exp(log_scale); own (n,) is that of true classes."""

    round: int
    P: Array
    own: Array
    log_scale: float


def spread_out(own: Array, c: Labels, K: int) -> Array:
    """Numbers of the true classes (n,) as a matrix (n, K) with zeros elsewhere."""
    P = np.zeros((len(c), K))
    P[np.arange(len(c)), c] = own
    return P


@dataclass(eq=False)
class Run:
    """The state of a boosting run.

    Attributes
    ----------
    F : (n, d) the predictor on the training rows, in the precision of the codewords
    rows, features : what the next round's learner may use, None for everything; redraw : draws them again
    updates : those of the last round
    stop_reason : why boosting stopped before its last round, or None
    refusal : why the optimizer proposes nothing, where it knows better than that there is no edge
    finished : coordinates that have had a perfect learner and are left alone
    forecast : seconds a round and megabytes, as the optimizer expects them
    workspace : arrays an optimizer keeps from round to round
    risk_before : the risk before the last round, where the optimizer knows it and the risk after costs another pass
    own_risk : the optimizer's own way to the risk, where it has a faster one
    snapshot : gives the fitted estimator as of now; set by the estimator
    """

    data: TrainingSet
    loss: Loss
    Y: Array
    learner: Learner
    step: Step
    learning_rate: float = 1.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    n_rounds: int = 0
    updates: list[Update] = field(default_factory=list)
    rows: AnyArray | None = None
    features: AnyArray | None = None
    stop_reason: str | None = None
    refusal: str | None = None
    finished: set[int] = field(default_factory=set)
    redraw: Callable[[Run], None] | None = None
    forecast: tuple[float, float] | None = None
    workspace: Any = None
    risk_before: float | None = None
    own_risk: Callable[[Run], float] | None = None
    snapshot: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        self.model = AdditiveModel(self.Y)
        self.F: AnyArray = np.zeros((self.data.n, self.Y.shape[1]), dtype=self.Y.dtype)  # (n, d)
        self._U: Array | None = None
        self._pulled: Pulled | None = None
        self._buffers: dict[str, Array] = {}
        self._reach = 0.0  # no entry of F is larger

    @property
    def U(self) -> Array:
        """The class scores ½ F Yᵀ, (n, K), computed when first asked for after an update; the same array every time."""
        if self._U is None:
            same = self.F.dtype == np.float64
            self._U = self.model.code.forward(self.F, self.buffer("U")) if same else self.model.scores(self.F)
        return self._U

    def buffer(self, name: str) -> Array:
        """An array (n, K) that is used again in every round: fresh memory costs more than the sums in it."""
        if name not in self._buffers:
            self._buffers[name] = np.empty((self.data.n, len(self.Y)))
        return self._buffers[name]

    @property
    def round(self) -> int:
        """Rounds done."""
        return self.model.n_rounds

    def resume(self, model: AdditiveModel) -> None:
        """Continue a model."""
        self.model = model.first(model.n_rounds)
        self.move_to(model.predictor(self.data.X, self.data.n_threads))

    def move_to(self, F: AnyArray) -> None:
        """Continue from another predictor, (n, d)."""
        self.F, self._U, self._pulled = np.array(F, dtype=self.Y.dtype), None, None
        self._reach = float(np.abs(self.F).max(initial=0.0))

    def gradient(self, scaled: bool = True) -> Gradient:
        """G = −∂R/∂F = ½ w P Y; where scaled, up to a positive factor that keeps it in range."""
        c, weight, code = self.data.c, self.data.weight, self.model.code
        if isinstance(self.loss, OwnScoreExponential) and scaled:  # O(n): the rivals do not matter
            own, log_scale = self.loss.weights_of(code.own_scores(self.F, c), len(self.Y))
            own = own * weight
            self.note_risk(float(own.sum()) / self.loss.rate(len(self.Y)), log_scale)
            return Gradient(lambda: spread_out(own, c, len(self.Y)), code, c, own)
        if scaled and self._pulled is not None and self._pulled.round == self.round:
            assert isinstance(self.loss, Exponential | MM)
            self.note_risk(float(self._pulled.own.sum()) / self.loss.rate, self._pulled.log_scale)
            return Gradient(self._pulled.P, code, c, self._pulled.own)
        if scaled:
            P, log_scale = self.loss.scaled_residual_into(self.U, c, self.buffer("P"))  # (n, K)
        else:
            P, log_scale = self.loss.residual(self.U, c), 0.0
        if not self.data.uniform:
            P = np.multiply(P, weight[:, None], out=self.buffer("P"))
        self.note_risk(self.loss.total(P, c), log_scale)
        gradient = self.gradient_of(P)
        if scaled and isinstance(self.loss, Exponential | MM):
            self._pulled = Pulled(self.round, P, gradient.own, log_scale)
        return gradient

    def note_risk(self, total: float | None, log_scale: float) -> None:
        """Remember the risk before this round, from the total loss, where the gradient tells it."""
        if total is not None:
            self.risk_before = total * math.exp(min(log_scale, CEILING)) / float(self.data.weight.sum())

    def gradient_of(self, P: Array) -> Gradient:
        """The gradient, from minus that in the scores, (n, K)."""
        return Gradient(P, self.model.code, *self.loss.question(P, self.data.c))

    def curvature(self) -> Array:
        """The trace of the Hessian in F of every example, (n,)."""
        return self.data.weight * self.loss.curvature(self.U, self.data.c, self.Y).sum(axis=1)

    def request(self, gradient: Gradient, coordinate: int | None = None, curvature: Array | None = None) -> Request:
        """The question to the weak learner: all of G, or one coordinate as a binary problem."""
        if coordinate is not None:
            return self.binary_request(gradient.G[:, coordinate], curvature)
        # Where all codewords are equally far apart, G Yᵀ is a multiple of the residual, up to a constant in every row.
        single = isinstance(self.loss, OwnScoreExponential) and self.gap is not None
        gains = None if self.gap is None or single else gradient.P
        sample = (curvature, self.rows, self.features, self.seed())
        G: Any = lambda: gradient.G  # noqa: E731, class trees never ask for it
        return Request(self.data, G, self.Y, gradient.labels, gradient.own, *sample, single, gains)

    def binary_request(self, g: Array, curvature: Array | None = None) -> Request:
        """The question whether to go up or down: labels are the signs of g (n,), weights its sizes."""
        labels = (g < 0).astype(np.intp)  # rows of [[1], [−1]]
        Y = np.array([[1.0], [-1.0]])
        return Request(self.data, g[:, None], Y, labels, np.abs(g), curvature, self.rows, self.features, self.seed())

    def ask(self, request: Request) -> Answer:
        """The weak learner's answer, which must be finite."""
        answer = self.learner.fit(request)
        if not math.isfinite(size := largest(answer.hypothesis, answer.compact)):
            raise self.divergence(size)
        return answer

    def divergence(self, move: float) -> ValueError:
        """What to say where the next round would move F out of range."""
        return ValueError(
            f"boosting diverges: round {self.round + 1} would move the predictor by {move:.3g}. Choose a smaller "
            f"learning_rate (now {self.learning_rate:g}), or a larger l2_regularization (the learner's l2) where there "
            "is one."
        )

    def seed(self) -> int:
        """A number for a learner that draws at random."""
        return int(self.rng.integers(2**63))

    def direction(self, outputs: Array, coordinate: int | None) -> Array:
        """A learner's outputs as a direction in scores, W = ½ h Yᵀ (n, K)."""
        if coordinate is None:
            return self.model.code.forward(outputs)
        return 0.5 * outputs * self.Y[:, coordinate]

    @cached
    def gap(self) -> float | None:
        """What a right answer's codeword gains on every rival, in scores; None where that differs."""
        return self.model.code.gap

    def stride(self, outputs: Array, coordinate: int | None = None) -> Stride:
        """How far to go along outputs (n, d), or (n, 1) in one coordinate."""
        return self.step.length(self.ray(lambda: self.direction(outputs, coordinate)))

    def ray(self, W: Callable[[], Array], gradient: Gradient | None = None, classes: Labels | None = None) -> Ray:
        """The risk along W (n, K); what is known of it already spares the step some work."""
        P, own = (None, None) if gradient is None else (lambda: gradient.P, gradient.own)
        known: dict[str, Any] = {"P": P, "own": own, "classes": classes, "gap": self.gap, "K": len(self.Y)}
        return Ray(self.loss, lambda: self.U, self.data.c, self.data.weight, W, **known)

    def ray_of(self, answer: Answer, coordinate: int | None, gradient: Gradient) -> Ray:
        """The risk along a learner's answer."""
        classes = answer.classes if coordinate is None else None
        return self.ray(lambda: self.direction(answer.outputs, coordinate), gradient, classes)

    def binary_ray(self, answer: Answer, k: int, gradient: Gradient | None = None) -> Ray:
        """The risk of class k against the rest along an answer, for one-vs-all and canonical codewords."""
        assert isinstance(self.loss, OneVsAll)
        loss, U, c = self.loss.binary(self.U, self.data.c, k)
        return Ray(loss, U, c, self.data.weight, lambda: 0.5 * answer.outputs * np.array([1.0, -1.0]))

    @property
    def decouples(self) -> bool:
        """Whether the risk is a sum over coordinates, each class's against the rest."""
        return isinstance(self.loss, OneVsAll) and self.model.code.canonical

    def is_perfect(self, h: Hypothesis, k: int) -> bool:
        """Whether h alone tells class k from the rest, where the risk decouples."""
        answer = Answer(h, h.outputs(self.data.X, self.data.n_threads))
        return self.step.length(self.binary_ray(answer, k)).perfect

    def risk(self) -> float:
        """The mean weighted loss on the training rows."""
        if self.own_risk is not None:
            return self.own_risk(self)
        return mean_loss(self.loss, self.model, self.F, self.data.c, self.data.weight)

    def drop(self) -> float:
        """The factor by which a bound on the training error changes with the last round, by what its steps know."""
        left = 1.0
        for u in self.updates:
            assert u.drop is not None
            left -= u.share * (1.0 - u.drop(self.learning_rate * u.alpha))
        return left

    def log_risk_after(self, update: Update) -> float:
        """log of the risk once the update is applied; logarithms because exponential risks may not fit a float."""
        assert isinstance(update.outputs, np.ndarray)
        U = self.U + update.alpha * self.direction(update.outputs, update.coordinate)
        return float(logsumexp(self.loss.log_value(U, self.data.c), b=self.data.weight))

    def apply(self, updates: list[Update]) -> None:
        """F += learning_rate · α h for every update; the round joins the model."""
        terms = [Term(u.hypothesis, self.learning_rate * u.alpha, u.coordinate) for u in updates]
        self._guard(terms, updates)
        for term, update in zip(terms, updates, strict=True):
            term.add_to(self.F, update.outputs)
        self._U = None
        self._vote(updates)
        self.model.add_round(terms)
        self.updates = updates

    def _guard(self, terms: list[Term], updates: list[Update]) -> None:
        """Raise where a round would take F out of the range in which scores and probabilities are finite.

        What every round adds at most is summed up, which costs nothing beside the round; F itself is looked at only
        where that sum says that it might have grown too large.
        """
        moves = [abs(t.step) * largest(t.hypothesis, u.outputs) for t, u in zip(terms, updates, strict=True)]
        self._reach += sum(moves)
        limit = math.sqrt(np.finfo(self.F.dtype).max)  # so that products of predictor and codewords are finite too
        if self._reach < limit:
            return
        self._reach = float(np.abs(self.F).max()) + sum(moves)
        if not self._reach < limit:
            raise self.divergence(sum(moves))

    def _vote(self, updates: list[Update]) -> None:
        """Carry the residual along where the round was a vote for classes and the loss is a sum over rivals."""
        pulled, classes = self._pulled, updates[0].classes if len(updates) == 1 else None
        self._pulled = None
        if pulled is None or classes is None or self.gap is None or not isinstance(self.loss, Exponential | MM):
            return
        if pulled.round != self.round or (self.round + 1) % REFRESH == 0:
            return
        gain = self.learning_rate * updates[0].alpha * self.gap
        if self.loss.rate * gain < 20.0:  # beyond, votes would lose digits
            self.loss.vote(pulled.P, pulled.own, self.data.c, classes, gain)
            self._pulled = replace(pulled, round=self.round + 1)
