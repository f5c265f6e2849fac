"""The parts of `OSBoostClassifier`: a game's potential as a loss, its optimal strategy as an optimizer, its record."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._parts import check_choice
from .._typing import AnyArray, Array, Labels
from ..callbacks import Callback, History
from ..losses import Loss
from ..losses.base import saturated_exp
from ..losses.links import softmax
from ..optimizers import Optimizer, Update, normalised_edge
from .losses import ExponentialLoss
from .spaces import classes_in_place, true_first
from .strategies import FixedGame, Game, make_game

if TYPE_CHECKING:
    from ..boosting import Run


class ConditionWarning(UserWarning):
    """The weak learner does not keep the promise that a game is built on."""


@dataclass(eq=False, repr=False)
class PotentialLoss(Loss):
    """The loss of a game at weighted votes F = 2U, and as its residual what each vote takes off the potential.

    With t rounds to go the residual is P[i, l] = φ_t(s_i) − φ_{t−1}(s_i + e_l). Rounds done are the number of votes.

    Parameters
    ----------
    condition, edge, loss, eta : as in `make_game`
    T : rounds of the whole game
    n_threads : for the potentials
    """

    condition: Any = "uniform"
    edge: Any = None
    loss: Any = "zero-one"
    eta: Any = None
    T: int = 100
    n_threads: int = 1

    convex = False

    def check(self, K: int) -> None:
        """Raise where the parameters make no game of K classes."""
        super().check(K)
        self.game(K)

    def game(self, K: int) -> Game:
        """The game of K classes."""
        if isinstance(self.loss, str):
            check_choice("loss", self.loss, ("exponential", "zero-one"))
        if isinstance(self.condition, str):
            check_choice("condition", self.condition, ("uniform", "minimal"))
        return make_game(self.condition, K, self.T, self.edge, self.loss, self.eta, self.n_threads)

    def vote(self, game: Game) -> float:
        """The weight of a vote: η for the exponential loss, otherwise 1."""
        return game.loss.eta if isinstance(game.loss, ExponentialLoss) else 1.0

    def states(self, U: Array, c: Labels) -> tuple[Game, int, AnyArray]:
        """The game, the rounds to go, and the states (n, K), true class first."""
        game = self.game(U.shape[1])
        votes = np.rint(2 * U / self.vote(game)).astype(np.int64)
        return game, max(self.T - int(votes[0].sum()), 0), true_first(votes, c)

    def value(self, U: Array, c: Labels) -> Array:
        """The loss of the votes."""
        game = self.game(U.shape[1])
        if not isinstance(game.loss, ExponentialLoss):
            return game.loss(self.states(U, c)[2])
        F = true_first(2 * U, c)
        return saturated_exp(F[:, 1:] - F[:, :1]).sum(axis=1)

    def residual(self, U: Array, c: Labels) -> Array:
        """What each vote takes off the potential."""
        P, log_scale = self.scaled_residual(U, c)
        return P * saturated_exp(np.array(log_scale))

    def scaled_residual(self, U: Array, c: Labels) -> tuple[Array, float]:
        """The residual in range."""
        game, to_go, S = self.states(U, c)
        C, log_scale = game.scaled_costs(max(to_go, 1), S)
        return classes_in_place(game.allowed(C)[:, None] - C, c), log_scale

    def potential(self, U: Array, c: Labels) -> Array:
        """φ of the rounds to go, (n,)."""
        game, to_go, S = self.states(U, c)
        return game.potential(to_go, S)

    def probabilities(self, U: Array) -> Array:
        """Exponential loss: softmax(2F), the link of AdaBoost.MM. Zero-one loss: the shares of the votes."""
        if self.loss == "exponential":
            return softmax(U, 4.0)
        total = U.sum(axis=1, keepdims=True)
        return np.divide(U, total, out=np.full_like(U, 1 / U.shape[1]), where=total > 0)


@dataclass(eq=False, repr=False)
class OptimalStrategy(Optimizer):
    """One vote a round, whatever it costs; a warning in the first round in which it costs more than was promised."""

    def check(self, run: Run) -> None:
        """Raise unless the learner names classes."""
        if run.learner.kind not in ("classification", "any"):
            raise TypeError(f"learner={run.learner!r} does not name classes; use 'class-tree' or a classifier.")

    def propose(self, run: Run) -> list[Update]:
        """The learner's answer to the costs."""
        gradient = run.gradient()
        answer = run.ask(run.request(gradient))
        if answer.classes is None:
            raise TypeError(f"learner={run.learner!r} does not name classes; use 'class-tree' or a classifier.")
        gained = gradient.P[np.arange(run.data.n), answer.classes]  # (n,) off the potential
        assert isinstance(run.loss, PotentialLoss)
        game = run.loss.game(len(run.Y))
        before = run.workspace or Promise(True, False, game.bound)
        # Potentials that differ by rounding only; the costs of a fixed game with the exponential loss are differences.
        level = 0.0 if isinstance(game, FixedGame) and isinstance(game.loss, ExponentialLoss) else before.potential
        noise = 1e-9 * np.abs(gained).sum() + 1e-12 * level * run.data.weight.sum()
        kept = bool(gained.sum() >= -noise)
        if not kept and not before.warned:
            warnings.warn(self.reproach(run), ConditionWarning, stacklevel=2)
        run.workspace = Promise(kept, before.warned or not kept, before.potential)
        alpha = run.loss.vote(game)
        edge = normalised_edge(gradient.G, answer.outputs)
        return [Update(answer.hypothesis, answer.compact, alpha, edge, perfect=False)]

    @staticmethod
    def reproach(run: Run) -> str:
        """What the warning says."""
        assert isinstance(run.loss, PotentialLoss)
        promised = f"condition={run.loss.condition!r}, edge={run.loss.edge!r}"
        return (
            f"in round {run.round + 1} the weak learner fails the condition it was promised to meet ({promised}): it "
            "costs more than the baseline, so the potential rises and the bound on the loss no longer holds. Promise a "
            "smaller edge, or use stronger learners."
        )


@dataclass(frozen=True)
class Promise:
    """Whether the learner met its condition in the last round, whether a warning has been given, and where that led."""

    kept: bool
    warned: bool
    potential: float


@dataclass(eq=False)
class PotentialHistory(Callback):
    """Adds to the history what a round did to the game: the average potential, and whether the condition was met."""

    history: History

    def after_round(self, run: Run) -> None:
        """Add a record."""
        assert isinstance(run.loss, PotentialLoss)
        weight = run.data.weight
        potential = float(weight @ run.loss.potential(run.U, run.data.c) / weight.sum())
        self.history.add("potential", potential)
        self.history.add("condition_met", run.workspace.kept)
        run.workspace = replace(run.workspace, potential=potential)
