"""Keeps the state of a boosting run and applies the updates of each round to it, F ← F + α h with step α."""

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
    """The error when the next round would make F so large that scores or probabilities are no longer finite."""


@dataclass(frozen=True, eq=False)
class Update:
    """An addition to the predictor in a round: F += α h with step α and outputs h, in all coordinates or in one.

    Attributes
    ----------
    outputs : (n, d), or (n, 1) in one coordinate: the hypothesis's outputs on the training rows
    edge : how much better than guessing the outputs are, at most 1; by default Σ⟨G, h⟩ / (Σ‖G‖ · max‖h‖)
    error : the learner's weighted error, if the step rule computes it; else None
    drop : a function of α: the factor by which a step α changes a bound on the training error; None without a bound
    share : the fraction of the risk that this update can change
    classes : (n,) the class predicted for every row, if the outputs are codewords of classes; else None
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
    """The state of a boosting run: the data, the parts of the booster, the rounds so far and the predictor.

    Attributes
    ----------
    model, code : the model of the rounds so far; the codewords as a linear map, computed by the engine of the data
    learner : the weak learner, as `Learner.resolve` returns it for these data
    objective : the risk of the loss on the training rows, as `Optimizer.objective` returns it
    F : (n, d) the predictor on the training rows: an array (maybe on a GPU) or `Candidates`, scores of few classes
    rows, features : indices of the rows and features that the next round's learner may use; None for all
    redraw : a function that draws another sample of rows and features
    updates : the updates of the last round; empty if the engine made this round together with other rounds
    block : the last rounds, if the engine made them in one call; else None
    stop_reason : why boosting stopped before the maximal number of rounds, or None
    diverged : whether boosting stopped because the next round would have made F too large
    refusal : why the optimizer proposes no update, if the reason is not simply that there is no edge
    seconds : the optimizer's estimate of the seconds per round, or None
    memory : the estimated bytes of host memory for boosting, without X, or None
    memory_there : the estimated bytes of memory on the engine's GPU; 0 without a GPU
    workspace : any data that the optimizer keeps from round to round
    risk_before : the risk before the last round, if the gradient computation also gave this risk; else None
    temperature : the factor on scores in predictions of the finished model, also used by evaluations; (d,) if the
        columns of F have distinct factors
    snapshot : a function, set by the estimator, that returns the estimator as fitted so far
    evaluations : for every evaluated set (the sets of ``X_val``, or the held-out rows) a dict with a list for "risk"
        and for every metric; the last entry is the value after the last round
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
        """Set the predictor to F (n, d), and create the objective anew."""
        self.objective = self.optimizer.objective(self)
        self.F = self.objective.to_device(F)
        self._U: Array | None = None
        self._risk: float | None = None

    def start(self, rows: AnyArray | slice = slice(None)) -> Any:
        """Return F before round one, restricted to some training rows: from ``init_score`` if given, else zeros."""
        init = self.data.init_score
        if init is not None and self.data.K > 1:
            return np.array(self.code.predictor(init[rows]))
        return self.zeros(self.data.c[rows])

    def zeros(self, c: Labels) -> Any:
        """Return F = 0 for rows with targets c (n,): an array (n, d), or `Candidates` with scores of few classes."""
        if self.optimizer.n_candidates is not None:
            return Candidates.zeros(c, len(self.Y), self.optimizer.n_candidates)
        return np.zeros((len(c), self.Y.shape[1]), dtype=self.Y.dtype)

    @property
    def U(self) -> Array:
        """The class scores ½ F Yᵀ, (n, K), computed on first use after an update, in reused memory where possible."""
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
        """Return the risk along a direction in scores, as a `Ray`; ``W()`` returns the direction (n, K)."""
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
        """The model of the rounds so far; rounds that the engine made in one call are added to it on first access."""
        for block, sparse in self._waiting:
            self._model.add_block(block, sparse)
        self._waiting.clear()
        return self._model

    @property
    def constant(self) -> Array | None:
        """What the first round adds to F in every row, (d,), if it is a tree of one leaf; else None."""
        known = self._waiting and self._model.round_ends
        return (self._model if known else self.model).constant

    def risk(self) -> float:
        """Return the weighted mean loss on the training rows, computed on first use after an update."""
        if self._risk is None:
            self._risk = self.objective.risk(self.F)
        return self._risk

    def resume(self, model: AdditiveModel) -> None:
        """Continue boosting from a fitted model; all results are bit for bit as in one uninterrupted fit."""
        model = model.at(1.0)
        begin = model.n_rounds - self.objective.rounds_to_replay(model.n_rounds)
        self.model = model.first(begin)
        self._place(self.recomputed())
        for first, end in pairwise([0, *model.round_ends][begin:]):
            self._replay(model.terms[first:end])
        self._reach = self._size()
        self.optimizer.resume(self)

    def recomputed(self) -> Any:
        """Return F (n, d), computed by adding the terms of the model one by one, with the same bits as in boosting."""
        data = self.data
        few = self.optimizer.n_candidates is not None
        F = self.zeros(data.as_given(data.c)) if few else np.array(data.as_given(self.start()))
        add_terms(self.model.terms, data.table, F, data.engine)
        return data.in_order(F)

    def may_move(self, by: float) -> bool:
        """Tell whether all entries of F surely stay within the limit if a round changes each by at most `by`."""
        return self._reach + by < self._limit

    def _replay(self, terms: list[Term]) -> None:
        """Add one round of a fitted model to F and to this run's model, and update the state of the objective."""
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
        """Whether in the last round every example gained on every rival class, so that more rounds do not help."""
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
        """Replace the predictor by F (n, d), from which boosting continues."""
        self._place(F if isinstance(F, Candidates) else np.array(F, dtype=self.Y.dtype))
        self._reach = self._size()

    def apply(self, updates: list[Update]) -> None:
        """Add learning_rate · α h to F for every update, with step α and outputs h, and add the round to the model.

        Raise DivergenceError if scores or probabilities would no longer be finite. A bound on the entries of F is
        summed over the rounds, at almost no cost; F itself is read only if the bound exceeds the limit. A step too
        large for the dtype of F is refused even where the outputs are zero, because infinity times zero is NaN.
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
        """Let the engine make up to `most` rounds in one call, from random draws made before; return how many it made.

        The engine ends early before a round that Python must make, or when `BLOCK_SECONDS` are over. The random
        generator is then reset to its state before that round. If `sparse`, the model stores leaf values as sparse
        arrays.
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
        """Return the largest absolute entry of F, over all machines."""
        if isinstance(self.F, Candidates):
            return self.F.reach()
        F = self.F
        reach = np.maximum(F.max(axis=1), -F.min(axis=1)) if F.size else np.zeros(len(F))  # (n,)
        return max(self.data.engine.rows.largest(reach), 0.0)

    def divergence(self, move: float) -> DivergenceError:
        """Return the error that says that the next round would change F by `move` and so make F too large."""
        return DivergenceError(
            f"boosting diverges: round {self.round + 1} would move the predictor by {move:.3g}. Choose a smaller "
            f"learning_rate (now {self.learning_rate:g}), or a larger l2_regularization where the learner has one."
        )
