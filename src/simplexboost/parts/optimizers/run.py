"""Keeps the state of a boosting run, F ← F + α h, and applies the updates of a round to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.compat import cached
from ...engine import Candidates, RoundBlock, RoundDraw, RoundMaker
from ...model.additive import AdditiveModel, Term, add_terms
from ...model.code import Code, Gradient
from ...model.hypotheses import ClassifierHypothesis, Hypothesis, LeafOutputs, largest
from ...tables.training_set import TrainingSet
from ..learners.base import Learner
from ..learners.tree_learners import NamesClasses
from ..losses.base import Loss
from ..losses.gamma_phi import MergedRivals
from ..steps import Ray, Step

if TYPE_CHECKING:
    from .base import Optimizer


# A call of the engine that makes many rounds takes about so long: meanwhile nobody hears Ctrl-C.
BLOCK_SECONDS = 0.05
FIRST_BLOCK = 4  # the rounds of the first call, before the time of a round is known


class DivergenceError(ValueError):
    """The next round would make the predictor so large that scores and probabilities are no longer finite."""


@dataclass(frozen=True, eq=False)
class Update:
    """One summand of a round: F += α h, in all coordinates or in one.

    Attributes
    ----------
    outputs : (n, d) or (n, 1)
    edge : as the step defines it, otherwise Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖); at most 1
    error : the learner's weighted error, if the step computes it; else None
    drop : α → the factor by which a step α changes a bound on the training error, or None where theory has no bound
    share : the part of the risk that this update can change
    classes : (n,) the class named for every row, if the outputs are codewords of classes; else None
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


@dataclass(eq=False)
class Run:
    """The state of a boosting run.

    Attributes
    ----------
    model, code : the rounds so far; the codewords, multiplied by the engine of the data
    learner : as `Learner.resolve` returns it for these data
    objective : the risk of the loss on the training rows, as the optimizer asks for it
    F : (n, d) the predictor on the training rows, in the precision of the codewords, or `Candidates`; maybe on a device
    rows, features : what the next round's learner may use, None for everything
    redraw : draws another sample of rows and features
    updates : those of the last round; none if the engine made it together with others
    block : the last rounds, if the engine made them in one call; else None
    stop_reason : why boosting stopped before its last round, or None
    diverged : whether it stopped because the next round would have made F too large
    refusal : why the optimizer proposes nothing, if the reason is not simply that there is no edge
    seconds : what the optimizer expects a round to take, or None if it does not know
    memory : the bytes that boosting is expected to take beside X, or None
    memory_there : those on the engine's device; 0 if it has none
    workspace : whatever an optimizer keeps from round to round
    risk_before : the risk before the last round, if the gradient gave it for free while the risk after it would cost
        another pass over the rows
    temperature : the factor by which predictions of the finished model multiply scores, (d,) if it differs between the
        columns of F; evaluations use it
    snapshot : returns the estimator as fitted so far; set by the estimator
    evaluations : for every evaluated set, those of ``X_val`` in their order or the rows held out, a dict with a list
        for "risk" and for every metric; the last entry is that of the last round
    """

    data: TrainingSet
    loss: Loss
    Y: Array
    learner: Learner
    optimizer: Optimizer
    step: Step
    learning_rate: float = 1.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    n_rounds: int = 0
    updates: list[Update] = field(default_factory=list)
    block: RoundBlock | None = None
    rows: AnyArray | None = None
    features: AnyArray | None = None
    redraw: Callable[[Run], None] | None = None
    stop_reason: str | None = None
    diverged: bool = False
    refusal: str | None = None
    seconds: float | None = None
    memory: float | None = None
    memory_there: float = 0.0
    workspace: Any = None
    risk_before: float | None = None
    temperature: Any = 1.0
    snapshot: Callable[[], Any] | None = None
    evaluations: list[dict[str, list[float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model, self.code = AdditiveModel(self.Y), Code(self.Y, self.data.engine)
        self._model = self.model
        self._waiting: list[tuple[RoundBlock, bool]] = []  # blocks that the model does not have yet
        self.block_size = FIRST_BLOCK  # the rounds that the engine is next asked to make in one call
        self.learner = self.learner.resolve(self.data)
        if self.data.K > 1:  # else there is nothing to learn
            self.optimizer.check(self)
        # What no entry of F may exceed, so that products of predictor and codewords are finite too.
        self._limit = math.sqrt(np.finfo(self.Y.dtype).max)
        self._longest = float(np.finfo(self.Y.dtype).max)
        self._buffer: Array | None = None
        self._place(self.start())
        # A bound on the absolute entries of F. Zeros are not read: they take memory only when they are written.
        self._reach = 0.0 if self.data.init_score is None else self._size()

    def _place(self, F: Any) -> None:
        """Let the predictor be F (n, d), and make the objective anew."""
        self.objective = self.optimizer.objective(self)
        self.F = self.objective.to_device(F)
        self._U: Array | None = None
        self._risk: float | None = None

    def start(self, rows: AnyArray | slice = slice(None)) -> Any:
        """Return F (n, d) of some of the training rows before the first round: zeros, or what ``init_score`` says."""
        init = self.data.init_score
        if init is not None and self.data.K > 1:
            return np.array(self.code.predictor(init[rows]))
        return self.zeros(self.data.c[rows])

    def zeros(self, c: Labels) -> Any:
        """Return F = 0 (n, d) for rows of these targets: an array, or `Candidates`."""
        if self.optimizer.n_candidates is not None:
            return Candidates.zeros(c, len(self.Y), self.optimizer.n_candidates)
        return np.zeros((len(c), self.Y.shape[1]), dtype=self.Y.dtype)

    @property
    def U(self) -> Array:
        """The class scores ½ F Yᵀ, (n, K), computed on first use after an update; always the same array."""
        if self._U is None and self.F.dtype == np.float64:
            # The same memory in every round: to allocate it anew would take longer than to compute the scores.
            self._buffer = np.empty((self.data.n_here, len(self.Y))) if self._buffer is None else self._buffer
            self._U = self.code.forward(self.data.engine.device.to_host(self.F), self._buffer)
        elif self._U is None:
            F = self.F.dense() if isinstance(self.F, Candidates) else self.data.engine.device.to_host(self.F)
            self._U = self.code.scores(F)
        return self._U

    def ray(
        self,
        W: Callable[[], Array],
        gradient: Gradient | None = None,
        classes: Labels | None = None,
        merged: MergedRivals | None = None,
    ) -> Ray:
        """Return the risk along the direction W (n, K) in scores."""
        data = self.data
        return Ray(self.loss, lambda: self.U, data.c, data.weight, W, gradient, classes, merged, data.engine)

    @property
    def round(self) -> int:
        """The number of rounds so far."""
        if not self._waiting:
            return len(self.model.round_ends)
        return len(self._model.round_ends) + sum(len(block) for block, _ in self._waiting)

    @cached
    def model(self) -> AdditiveModel:
        """The rounds so far; trees that the engine made in one call become objects when somebody asks for them."""
        for block, sparse in self._waiting:
            self._model.add_block(block, sparse)
        self._waiting.clear()
        return self._model

    @property
    def constant(self) -> Array | None:
        """What the first round adds to F in every row; see `AdditiveModel.constant`. It makes few trees objects."""
        known = self._waiting and self._model.round_ends
        return (self._model if known else self.model).constant

    def risk(self) -> float:
        """Return the mean weighted loss on the training rows, computed on first use after an update."""
        if self._risk is None:
            self._risk = self.objective.risk(self.F)
        return self._risk

    def resume(self, model: AdditiveModel) -> None:
        """Continue a model: every number is then what it would be in one long fit, bit for bit."""
        model = model.at(1.0)
        begin = model.n_rounds - self.objective.rounds_to_replay(model.n_rounds)
        self.model = model.first(begin)
        self._place(self.recomputed())
        for first, end in pairwise([0, *model.round_ends][begin:]):
            self._replay(model.terms[first:end])
        self._reach = self._size()
        self.optimizer.resume(self)

    def recomputed(self) -> Any:
        """Return F (n, d) from the model, by adding its terms one by one, so that every bit is as in boosting."""
        data = self.data
        few = self.optimizer.n_candidates is not None
        F = self.zeros(data.as_given(data.c)) if few else np.array(data.as_given(self.start()))
        add_terms(self.model.terms, data.table, F, data.engine)
        return data.in_order(F)

    def may_move(self, by: float) -> bool:
        """Tell whether F surely stays small enough in a round that changes its entries by at most `by`."""
        return self._reach + by < self._limit

    def _replay(self, terms: list[Term]) -> None:
        """Add a round of a model, with all that it leaves to later rounds."""
        data = self.data
        self.objective.gradient(self.F, lambda: self.U, self.round)
        for term in terms:
            outputs = data.in_order(term.hypothesis.outputs(data.table, data.engine))
            term.add_to(self.F, outputs)
        self._U = self._risk = None
        self.model.add_round(terms)
        if len(terms) == 1 and terms[0].coordinate is None:
            h = terms[0].hypothesis
            if isinstance(self.learner, NamesClasses) or isinstance(h, ClassifierHypothesis):
                classes = (outputs @ self.Y.T).argmax(axis=1)
                if (self.Y[classes] == outputs).all():
                    self.objective.follow_votes(classes, terms[0].step, self.round)

    @property
    def is_perfect(self) -> bool:
        """Whether every example gains on every rival class along the last round, so that no more rounds help."""
        data, last = self.data, [0, *self.model.round_ends][-2:]
        terms = self.model.terms[slice(*last)] if len(last) == 2 else []
        if not terms or data.problem.is_matrix or data.costs is not None:
            return False
        h = np.zeros((data.n_here, self.Y.shape[1]))  # (n, d)
        add_terms([replace(term, step=1.0) for term in terms], data.table, h, data.engine)
        W = self.code.scores(data.in_order(h))  # (n, K)
        own = np.take_along_axis(W, data.c[:, None], axis=1)
        return data.engine.rows.every((W < own).sum(axis=1) == data.K - 1)

    def move_to(self, F: Any) -> None:
        """Continue from another predictor, (n, d)."""
        self._place(F if isinstance(F, Candidates) else np.array(F, dtype=self.Y.dtype))
        self._reach = self._size()

    def apply(self, updates: list[Update]) -> None:
        """Add learning_rate · α h to F for every update, and the round to the model.

        Raise if the round would make F so large that scores and probabilities are no longer finite. A bound on what
        every round adds is summed up, which costs next to nothing; F itself is read only when that sum says that it
        might be too large. A step that the type of F cannot hold is refused even where the outputs are zero: infinity
        times zero is no number.
        """
        terms, moves = [], 0.0
        for update in updates:
            term = Term(update.hypothesis, self.learning_rate * update.alpha, update.coordinate)
            if not abs(term.step) <= self._longest:
                raise self.divergence(abs(term.step))
            moves += abs(term.step) * largest(update.hypothesis, update.outputs)
            terms.append(term)
        self._reach += moves
        if not self._reach < self._limit:
            self._reach = self._size() + moves
            if not self._reach < self._limit:
                raise self.divergence(moves)
        for term, update in zip(terms, updates, strict=True):
            term.add_to(self.F, update.outputs)
        self.updates, self.block = updates, None
        self._U = self._risk = None
        self.model.add_round(terms)
        if len(updates) == 1 and updates[0].classes is not None:
            self.objective.follow_votes(updates[0].classes, terms[0].step, len(self.model.round_ends))

    def make_block(self, maker: RoundMaker, draw: Callable[[], RoundDraw], most: int, sparse: bool) -> int:
        """Let the engine make up to `most` rounds in one call, from draws made ahead; return how many it made.

        It ends early before a round that it leaves to Python, or when its time is over. The random numbers then go back
        to where they were before that round. Leaf values become sparse arrays in the model if most are zero.
        """
        before, alpha = self.rng.bit_generator.state, self.step.constant
        assert alpha is not None  # else there is no maker
        draws = [draw() for _ in range(min(most, self.block_size))]
        block = maker.make(self.F, draws, alpha, self.learning_rate, self._reach, self._limit, BLOCK_SECONDS)
        if len(block) < len(draws):
            self.rng.bit_generator.state = before
            for _ in range(len(block)):
                draw()
        if len(block) == 0:
            self.block_size = FIRST_BLOCK
            return 0
        pace = len(block) / max(float(block.seconds[-1]), 1e-6)
        self.block_size = max(1, min(4 * self.block_size, int(0.8 * BLOCK_SECONDS * pace)))
        self._model = self.__dict__.pop("model", None) or self._model
        self._waiting.append((block, sparse))
        self._reach, self.risk_before = block.reach, float(block.risk[-1])
        self.updates, self.block = [], block
        self._U = self._risk = None
        return len(block)

    def _size(self) -> float:
        """Return the largest absolute entry of F."""
        if isinstance(self.F, Candidates):
            return self.F.reach()
        F = self.F
        reach = np.maximum(F.max(axis=1), -F.min(axis=1)) if F.size else np.zeros(len(F))  # (n,)
        return max(self.data.engine.rows.largest(reach), 0.0)

    def divergence(self, move: float) -> DivergenceError:
        """Return the error to raise when the next round would make F too large."""
        return DivergenceError(
            f"boosting diverges: round {self.round + 1} would move the predictor by {move:.3g}. Choose a smaller "
            f"learning_rate (now {self.learning_rate:g}), or a larger l2_regularization where the learner has one."
        )
