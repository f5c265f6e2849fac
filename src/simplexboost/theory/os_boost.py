"""`OSBoostClassifier`: boosting as the optimal strategy of a game against the weak learner.

The loss function of the booster is the potential of the game, and the optimizer is the optimal strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.compat import cached
from .._util.messages import warn_user
from .._util.params import check_choice
from ..boosting import Callback, History
from ..classifiers.booster import Booster
from ..classifiers.plan import Parts, make_parts
from ..engine import CPU, Engine
from ..model.code import Code
from ..parts.losses import Gradient, Loss, Objective
from ..parts.losses.base import saturated_exp
from ..parts.losses.links import Link
from ..parts.optimizers import Optimizer
from ..parts.optimizers.base import ask, gradient_of, normalised_edge
from ..parts.optimizers.run import Run, Update
from .potentials import ExponentialLoss
from .spaces import classes_in_place, true_first
from .strategies import FixedGame, Game, make_game


class ConditionWarning(UserWarning):
    """The warning that a weak learner does not meet the weak-learning condition that `OSBoostClassifier` assumes.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ConditionWarning)  # stop a fit at the first broken promise
    """


class PotentialLoss(Loss):
    """The loss of a boosting game on scores U; its residual says how much a vote for each class lowers the potential.

    With t rounds to go the residual is P[i, k] = φ_t(s_i) − φ_{t−1}(s_i + e_k), where φ is the `theory.potential`, s_i
    counts the votes on row i, and e_k is a vote for class k. The parameters are documented in `make_game`.
    """

    condition: Any = "uniform"
    edge: Any = None
    loss: Any = "zero-one"
    eta: Any = None
    T: int = 100

    convex = False

    def check(self, K: int) -> None:
        super().check(K)
        self.game(K)

    def game(self, K: int, n_threads: int = 1) -> Game:
        """Return the boosting game of K classes, whose potentials are computed on `n_threads` threads."""
        if isinstance(self.loss, str):
            check_choice("loss", self.loss, ("exponential", "zero-one"))
        if isinstance(self.condition, str):
            check_choice("condition", self.condition, ("uniform", "minimal"))
        return make_game(self.T, self.condition, K, self.edge, self.loss, self.eta, n_threads)

    def vote(self, game: Game) -> float:
        """Return how much one vote adds to the score of its class: η for the exponential loss, otherwise 1."""
        return game.loss.eta if isinstance(game.loss, ExponentialLoss) else 1.0

    def votes(self, game: Game, U: Array, c: Labels) -> AnyArray:
        """Return the number of votes for every class, (n, K), the true class first, computed from the scores U."""
        return true_first(np.rint(2 * U / self.vote(game)).astype(np.int64), c)

    def objective(self, c: Labels, weight: Array, code: Code, engine: Engine = CPU) -> PotentialObjective:
        return PotentialObjective(self, c, weight, code, engine)

    def value(self, U: Array, c: Labels) -> Array:
        game = self.game(U.shape[1])
        if not isinstance(game.loss, ExponentialLoss):
            return game.loss(self.votes(game, U, c))
        F = true_first(2 * U, c)
        return saturated_exp(F[:, 1:] - F[:, :1]).sum(axis=1)

    def residual(self, U: Array, c: Labels) -> Array:
        P, log_scale = self.scaled_residual(U, c)
        return P * saturated_exp(np.array(log_scale))

    def scaled_residual(
        self, U: Array, c: Labels, engine: Engine = CPU, out: Array | None = None
    ) -> tuple[Array, float]:
        game = self.game(U.shape[1])
        votes = self.votes(game, U, c)
        return potential_falls(game, self.T - int(votes[0].sum()), votes, c)  # every round gives every example one vote

    def link_formula(self, K: int) -> Link | None:
        return Link("softmax", 4.0) if self.loss == "exponential" else Link("shares")  # softmax(2F): AdaBoost.MM's link


def potential_falls(game: Game, to_go: int, votes: AnyArray, c: Labels) -> tuple[Array, float]:
    """Return by how much a vote for each class lowers the potential, (n, K), divided by e^a, and the exponent a."""
    C, log_scale = game.scaled_costs(max(to_go, 1), votes)
    return classes_in_place(game.allowed(C)[:, None] - C, c), log_scale


class PotentialObjective(Objective):
    """The training objective of a `PotentialLoss`: its potentials and gradients on a training set."""

    loss: PotentialLoss

    @cached
    def game(self) -> Game:
        """The boosting game of the classes in training, which needs at least two classes with training rows."""
        return self.loss.game(len(self.code.Y), self.engine.compute.n_threads)

    def gradient(self, F: AnyArray, U: Callable[[], Array], n_rounds: int, scaled: bool = True) -> Gradient:
        votes = self.loss.votes(self.game, U(), self.c)
        P, log_scale = potential_falls(self.game, self.loss.T - n_rounds, votes, self.c)
        P = P if scaled else P * saturated_exp(np.array(log_scale))
        return self.of_residual(P * self.weight[:, None] if self._weighted else P)

    def potential(self, U: Array, n_rounds: int) -> Array:
        """Return the potential of every training row after `n_rounds` rounds with scores U, (n,)."""
        return self.game.potential(self.loss.T - n_rounds, self.loss.votes(self.game, U, self.c))


class OptimalStrategy(Optimizer):
    """The optimizer of `OSBoostClassifier`: one vote per round, and one warning if a weak classifier costs too much."""

    def check(self, run: Run) -> None:
        if not isinstance(run.loss, PotentialLoss):
            raise TypeError(f"optimizer=OptimalStrategy() needs loss=PotentialLoss(...), not {run.loss!r}.")
        if run.learner.kind not in ("classification", "any"):
            raise TypeError(f"learner={run.learner!r} does not name classes; use 'class-tree' or a classifier.")

    def propose(self, run: Run) -> list[Update]:
        objective = run.objective
        assert isinstance(objective, PotentialObjective)  # `check` refuses other losses
        gradient = gradient_of(run)
        answer = ask(run, gradient)
        if answer.classes is None:
            raise TypeError(f"learner={run.learner!r} does not name classes; use 'class-tree' or a classifier.")
        gained = gradient.P[np.arange(run.data.n), answer.classes]  # (n,) the falls of the potential
        game, before = objective.game, run.workspace or Promise(True, False, objective.game.bound)
        # Potentials may differ by rounding; the costs of a fixed game with the exponential loss are their differences.
        level = 0.0 if isinstance(game, FixedGame) and isinstance(game.loss, ExponentialLoss) else before.potential
        total = run.data.engine.rows.total
        noise = 1e-9 * total(np.abs(gained)) + 1e-12 * level * total(run.data.weight)
        kept = bool(total(gained) >= -noise)
        if not kept and not before.warned:
            warn_user(
                f"in round {run.round + 1} the weak learner fails the condition that it was assumed to meet "
                f"(condition={run.loss.condition!r}, edge={run.loss.edge!r}): it costs more than the baseline, so the "
                "potential rises and the bound on the loss no longer holds. Assume a smaller edge, or use stronger "
                "learners.",
                ConditionWarning,
            )
        run.workspace = Promise(kept, before.warned or not kept, before.potential)
        edge = normalised_edge(run.data.engine, gradient.G, answer.outputs)
        return [Update(answer.hypothesis, answer.compact, objective.loss.vote(game), edge, perfect=False)]


@dataclass(frozen=True)
class Promise:
    """The state of a fit: whether the last round met the condition, whether a warning was given, the mean potential."""

    kept: bool
    warned: bool
    potential: float


@dataclass(eq=False)
class PotentialHistory(Callback):
    """The callback that records the average potential after every round, and whether the learner met the condition."""

    history: History

    def after_round(self, run: Run) -> None:
        assert isinstance(run.objective, PotentialObjective)
        weight = run.data.weight
        potential = float(weight @ run.objective.potential(run.U, run.round) / weight.sum())
        self.history.add("potential", potential)
        self.history.add("condition_met", run.workspace.kept)
        run.workspace = replace(run.workspace, potential=potential)


class OSBoostClassifier(Booster, kw_only=True):
    """OS boosting (Mukherjee & Schapire, 2013), the optimal booster if the edge and the number of rounds are known.

    The classifier assumes that on every cost matrix the weak learner beats a baseline by ``edge``. The potential is the
    largest loss that can still result under this assumption. In each round the cost of predicting a class is the change
    of the potential by a vote for this class (with the zero-one loss this is Boost-by-majority for many classes); all
    votes weigh the same. While the assumption holds, the average potential never rises, and the training loss after
    ``n_estimators`` rounds is at most ``bound_``. In the first round in which it fails, a `theory.ConditionWarning` is
    given. `theory.diagnose` estimates which edge can be assumed. `AdaBoostMMClassifier` needs no assumed edge.

    Probabilities are softmax(2F) with the exponential loss, and the shares of the votes with the zero-one loss.

    Parameters
    ----------
    condition : {"uniform", "minimal"} or array of shape (K,), default="uniform"
        The weak-learning condition: which distribution over the classes the learner must beat as a guess. "uniform":
        all wrong classes equally probable, the true class ``edge`` more. "minimal": the worst distribution that gives
        the true class at least ``edge`` more than any other class, the least that boosting needs; only for few classes
        or rounds, since there are about n_estimators^(K−1) states. An array: the distribution, true class first.
    loss : {"exponential", "zero-one"}, default="exponential"
        The loss that is bounded. "exponential": Σ_{k≠c} e^{F_k − F_c}, c the true class. "zero-one": the training error
        itself, which gives much better bounds for few rounds and takes longer.
    edge : float or None, default=None
        The assumed edge. None is 0.1, or the edge of the distribution where ``condition`` is an array.
    eta : float, "best" or None, default=None
        The weight of a vote with the exponential loss. None is ln(1 + edge); "best" is the weight with the smallest
        ``bound_``, see `theory.best_eta`, for "uniform" and arrays only.
    learner : str, Learner or scikit-learn classifier, default="class-tree"
        The weak learner, which predicts a class: "class-tree", "greedy-tree", …. A scikit-learn classifier gets one
        weight for every example and cannot use the costs of the individual wrong classes.
    n_estimators : int, default=100
        The number of rounds T, for which the potential is computed.

    Attributes
    ----------
    bound_ : float
        The training loss that is guaranteed after all rounds if the weak learner always meets its condition.
    history_ : dict of arrays
        Values of every round: ``"risk"``, ``"edge"``, ``"step"``, ``"coordinate"``, ``"seconds"``; ``"potential"``, the
        average potential after the round; ``"condition_met"``, whether the learner met the condition.

    Examples
    --------
    >>> clf = OSBoostClassifier(condition="minimal", loss="zero-one", edge=0.4, n_estimators=40).fit(X, y)
    >>> round(clf.bound_, 4), clf.score(X, y) > 0.95, bool(clf.history_["condition_met"].all())
    (0.0076, True, True)
    """

    paper: ClassVar[str] = "Mukherjee & Schapire 2013"
    _takes_init_score: ClassVar[bool] = False
    condition: Any = "uniform"
    loss: Any = "exponential"
    edge: Any = None
    eta: Any = None
    learner: Any = "class-tree"
    learning_rate: float = field(init=False, default=1.0)  # all votes weigh the same

    def parts(self) -> Parts:
        edge = 0.1 if self.edge is None and isinstance(self.condition, str) else self.edge
        loss = PotentialLoss(self.condition, edge, self.loss, self.eta, self.n_estimators)
        return make_parts(loss, "canonical", self.learner, OptimalStrategy(), "fixed")

    def _more_callbacks(self, history: History) -> list[Callback]:
        return [PotentialHistory(history)]

    @property
    def bound_(self) -> float:
        """The training loss that is guaranteed after all rounds if the weak learner meets its condition."""
        check_is_fitted(self)
        K = int(self._present.sum())
        return float(self.loss_.game(K).bound) if K > 1 else 0.0
