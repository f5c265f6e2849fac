"""Optimal strategies of the booster, games played with them, and the random walks behind potentials.

With t rounds to go and votes s_i on example i, the costs of the optimal strategy OS are C[i, l] = φ_{t−1}(s_i + e_l),
(28) and (41), where the potential is that of a fixed baseline or of the minimal condition; for other cones they are the
row that solves (22). If C • 1_h is at most what the condition allows, the average of φ_{t−1}(s_i + e_{h(i)}) is at most
that of φ_t(s_i). So after T rounds the loss is at most φ_T(0).

A step of a random walk is a vote for a label drawn from a baseline: from b if the baseline is fixed. Under the minimal
condition the adversary chooses the worst edge-over-random baseline in every state, (1−γ)/a on the a−1 rivals whose
votes would raise the potential most and the rest on the true class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_number
from .conditions import (
    CONDITIONS,
    Condition,
    as_condition,
    check_baseline,
    described,
    uniform_baseline,
    worst_baseline_cost,
)
from .potentials import (
    ExponentialLoss,
    GameLoss,
    MinimalTable,
    after_each_vote,
    as_loss,
    as_states,
    best_eta,
    check_game,
    degree_is_always_K,
    exponential_logs,
    fixed_values,
    game_potential,
    minimal_potential,
    solve_row,
)
from .spaces import Space, classes_in_place, true_first

# ---- games ----------------------------------------------------------------------------------------------------------


class Game(ABC):
    """A boosting game of T rounds: potentials and costs of states (m, K), the true class first. See `make_game`.

    Examples
    --------
    >>> game = make_game("uniform", K=6, T=200, edge=0.1)
    >>> isinstance(game, Game), round(game.bound, 4)
    (True, 0.0515)
    """

    K: int
    T: int
    loss: GameLoss

    @abstractmethod
    def potential(self, t: int, S: AnyArray) -> Array:
        """Return φ_t of states with t rounds to go, (m,)."""

    @abstractmethod
    def allowed(self, C: Array) -> Array:
        """Return the largest cost of a weak learner that the condition allows on each row of costs (m, K), (m,)."""

    def costs(self, t: int, S: AnyArray) -> Array:
        """Return the costs (28), (41) of votes with t rounds to go, the potentials after each vote, (m, K)."""
        return self.potential(t - 1, after_each_vote(S)).reshape(S.shape)

    @property
    def bound(self) -> float:
        """φ_T(0): the loss after T rounds is at most this if the weak learner always meets its condition."""
        return float(self.potential(self.T, np.zeros((1, self.K), dtype=np.int64))[0])

    def scaled_costs(self, t: int, S: AnyArray) -> tuple[Array, float]:
        """Return costs divided by e^{log_scale}, up to a constant in every row, and log_scale; finite for any state."""
        return self.costs(t, S), 0.0

    def cost_matrix(self, t: int, votes: AnyArray, c: Labels) -> Array:
        """Return the costs (n, K) of naming each class, for votes (n, K) so far and true classes c (n,)."""
        return classes_in_place(self.costs(t, true_first(votes, c)), c)


@described
@dataclass(frozen=True, eq=False)
class FixedGame(Game):
    """The game of a fixed edge-over-random baseline.

    Parameters
    ----------
    loss : GameLoss
        The loss of the final state, such as `ZeroOne` or `ExponentialLoss`.

    Examples
    --------
    >>> from simplexboost.theory import ZeroOne, uniform_baseline
    >>> round(FixedGame(uniform_baseline(6, 0.1), 200, ZeroOne()).bound, 4)
    0.0515
    """

    b: Array
    T: int
    loss: GameLoss
    n_threads: int = 1

    @property
    def K(self) -> int:  # type: ignore[override]
        """The number of classes."""
        return len(self.b)

    def potential(self, t: int, S: AnyArray) -> Array:
        return fixed_values(t, self.b, S, self.loss, self.n_threads)

    def scaled_costs(self, t: int, S: AnyArray) -> tuple[Array, float]:
        if not isinstance(self.loss, ExponentialLoss):
            return super().scaled_costs(t, S)
        # With the uniform baseline these are the costs (36), times a power of κ.
        logs = exponential_logs(t - 1, self.b, S, self.loss.eta)  # (m, K-1): the terms of φ_{t−1}(s)
        log_scale = float(logs.max())
        terms = np.exp(logs - log_scale)
        own = np.expm1(-self.loss.eta) * terms.sum(axis=1, keepdims=True)
        return np.hstack([own, np.expm1(self.loss.eta) * terms]), log_scale  # φ_{t−1}(s + e_l) − φ_{t−1}(s)

    def allowed(self, C: Array) -> Array:
        return C @ self.b


@described
@dataclass(frozen=True, eq=False)
class MinimalGame(Game):
    """The game of the minimal condition; the costs of all states it can reach are kept.

    Parameters
    ----------
    loss : GameLoss
        The loss of the final state, such as `ZeroOne` or `ExponentialLoss`.

    Examples
    --------
    >>> from simplexboost.theory import ZeroOne
    >>> round(MinimalGame(3, 10, ZeroOne(), 0.2).bound, 4)
    0.4544
    """

    K: int
    T: int
    loss: GameLoss
    edge: float

    def potential(self, t: int, S: AnyArray) -> Array:
        return minimal_table(self.K, self.edge, self.T, self.loss).potential(t, S)

    def allowed(self, C: Array) -> Array:
        return worst_baseline_cost(C, self.edge)[0]


@described
@dataclass(frozen=True, eq=False)
class ConeGame(Game):
    """The game of any condition (C, B), solved by linear programmes; for few rounds and classes.

    Parameters
    ----------
    condition : Condition
        The condition that the weak learner is assumed to meet.
    loss : GameLoss
        The loss of the final state, such as `ZeroOne` or `ExponentialLoss`.

    Examples
    --------
    >>> from simplexboost.theory import SAMME, ZeroOne
    >>> round(ConeGame(SAMME(), 3, 3, ZeroOne(), 0.1).bound, 4)
    0.648
    """

    condition: Condition
    K: int
    T: int
    loss: GameLoss
    edge: float

    def potential(self, t: int, S: AnyArray) -> Array:
        return np.asarray(game_potential(t, self.K, self.condition, self.edge, S, self.loss))

    def costs(self, t: int, S: AnyArray) -> Array:
        # By (22), the rows that attain the minimum in (21).
        b = self.condition.baseline(self.K, self.edge)
        return np.stack([solve_row(row, self.condition, b)[1] for row in super().costs(t, S)])

    def allowed(self, C: Array) -> Array:
        return self.condition.allowed(C, self.edge)


minimal_table = lru_cache(maxsize=2)(MinimalTable)  # the tables of the last two games


@described
def make_game(
    condition: Any,
    K: int,
    T: int,
    edge: float | None = None,
    loss: Any = "zero-one",
    eta: Any = None,
    n_threads: int = 1,
) -> Game:
    """Return the game of T rounds under a weak-learning condition.

    Parameters
    ----------
    condition : {"uniform", "minimal"}, array of shape (K,), another condition's name, or a Condition
        The condition that the weak learner is assumed to meet: its name, a baseline with the true class first, or a
        `Condition`.
    edge : float or None, default=None
        γ, the assumed edge over guessing; None takes that of the baseline, where the condition is one.

    Returns
    -------
    Game
        The game, whose ``bound`` is the loss that the best strategy guarantees.

    Examples
    --------
    >>> game = make_game("uniform", K=6, T=200, edge=0.1)
    >>> round(game.bound, 4)
    0.0515
    >>> game.cost_matrix(200, np.zeros((1, 6), dtype=int), np.array([2])).round(4)
    array([[0.0553, 0.0553, 0.0401, 0.0553, 0.0553, 0.0553]])
    """
    check_number("K", K, int, 2)
    check_number("T", T, int, 1)
    if not isinstance(condition, str | Condition):
        try:
            b = check_baseline(condition)
        except ValueError as error:
            raise ValueError(
                f"condition={condition!r} must be one of {', '.join(map(repr, CONDITIONS))}, a Condition, or a "
                f"baseline b: {error}"
            ) from None
        found = float(b[0] - b[1:].max())
        if len(b) != K:
            raise ValueError(f"condition has {len(b)} entries; with {K} classes a baseline has {K}.")
        if edge is not None and abs(edge - found) > 1e-9:
            raise ValueError(f"edge={edge} does not belong to the baseline, whose edge is {found:.6g}; leave it None.")
        return FixedGame(b, T, as_loss(loss, eta, found, lambda: best_eta(T, b)), n_threads)
    check_number("edge", edge, float, 0.0, 1.0)
    assert edge is not None
    rule = as_condition(condition)
    if rule.name == "uniform":
        b = uniform_baseline(K, edge)
        return FixedGame(b, T, as_loss(loss, eta, edge, lambda: best_eta(T, b)), n_threads)
    game_loss = as_loss(loss, eta, edge)
    if rule.name == "minimal":
        small = degree_is_always_K(np.zeros((1, K), dtype=np.int64), T, game_loss)
        return (
            FixedGame(uniform_baseline(K, edge), T, game_loss, n_threads)
            if small
            else MinimalGame(K, T, game_loss, float(edge))
        )
    return ConeGame(rule, K, T, game_loss, float(edge))


# ---- cost matrices without a game -----------------------------------------------------------------------------------


@described
def exponential_costs(F: Array, c: Labels, eta: float) -> Array:
    """Return the costs (36) of the exponential loss at weighted votes, each vote of weight η.

    Returns
    -------
    array of shape (n, K)
        The cost of every class for every example.

    Examples
    --------
    >>> exponential_costs(np.zeros((1, 3)), np.array([1]), np.log(2))
    array([[ 1., -1.,  1.]])
    """
    E = np.exp(F - F[np.arange(len(c)), c][:, None])
    C = np.expm1(eta) * E
    C[np.arange(len(c)), c] = np.expm1(-eta) * (E.sum(axis=1) - 1)
    return C


@described
def mm_costs(F: Array, c: Labels) -> Array:
    """Return the costs (56) of AdaBoost.MM at weighted votes, the limit of (36)/η for small η.

    Returns
    -------
    array of shape (n, K)
        The cost of every class for every example.

    Examples
    --------
    >>> mm_costs(np.zeros((1, 3)), np.array([1]))
    array([[ 1., -2.,  1.]])
    """
    C = np.exp(F - F[np.arange(len(c)), c][:, None])
    C[np.arange(len(c)), c] = 1 - C.sum(axis=1)
    return C


# ---- playing a game -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Play:
    """The course of a game.

    Attributes
    ----------
    votes : array of shape (n, K)
        The votes at the end.
    potential : array of shape (T + 1,)
        The average potential before the first and after every round; the last is the average loss.
    excess : array of shape (T,)
        By how much the learner's average cost exceeded the allowed one; it is positive where the condition failed.

    Examples
    --------
    >>> from simplexboost.theory import example, make_game
    >>> played = play(make_game("minimal", K=3, T=20, edge=1 / 6), example("windows"))
    >>> played.votes.shape, played.potential.shape, played.kept
    ((12, 3), (21,), True)
    """

    votes: AnyArray
    potential: Array
    excess: Array

    @property
    def kept(self) -> bool:
        """Whether the weak learner met its condition in every round."""
        return bool((self.excess <= 1e-8 * self.potential[:-1]).all())


def play(game: Game, learner: Space | Callable[[Array], Labels], c: Labels | None = None) -> Play:
    """Play the optimal strategy against a weak learner.

    Parameters
    ----------
    game : Game
        The game; `make_game` makes one.
    learner : Space or callable
        A `Space`, which answers with its cheapest classifier, or a function of the cost matrix (n, K) that returns
        labels (n,).
    c : array of shape (n,) or None, default=None
        The true labels; None takes those of the space.

    Returns
    -------
    Play
        The votes, potentials and costs of the game.

    Examples
    --------
    The windows of Theorem 5 have margin 1/6, which a strategy for the minimal condition turns into a correct vote.

    >>> from simplexboost.theory import example, make_game
    >>> played = play(make_game("minimal", K=3, T=60, edge=1 / 6), example("windows"))
    >>> round(played.potential[0], 4), played.potential[-1], played.kept
    (np.float64(0.1568), np.float64(0.0), True)
    """
    if isinstance(learner, Space):
        space = learner
        c = space.c
        learner = lambda C: space.H[:, np.take_along_axis(C, space.H, axis=1).sum(axis=0).argmin()]  # noqa: E731
    if c is None:
        raise TypeError("c is missing; a learner that is a function needs the true labels (n,).")
    rows, votes = np.arange(len(c)), np.zeros((len(c), game.K), dtype=np.int64)
    potential, excess = [game.bound], []
    for to_go in range(game.T, 0, -1):
        C = game.costs(to_go, true_first(votes, c))
        h = learner(classes_in_place(C, c))
        excess.append(float((classes_in_place(C, c)[rows, h] - game.allowed(C)).mean()))
        votes[rows, h] += 1
        potential.append(float(game.potential(to_go - 1, true_first(votes, c)).mean()))
    return Play(votes, np.array(potential), np.array(excess))


# ---- random walks ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Walks:
    """Random walks with the losses of their final states.

    Attributes
    ----------
    positions : int array of shape (n_walks, t + 1, K)
        The state of each walk after every step, the true class first.
    losses : array of shape (n_walks,)
        The loss of each final state.

    Examples
    --------
    >>> walks = simulate_walks(10, [0.5, 0.25, 0.25], n_walks=4, random_state=0)
    >>> walks.positions.shape, walks.losses
    ((4, 11, 3), array([1., 0., 1., 0.]))
    """

    positions: AnyArray
    losses: Array

    @property
    def mean(self) -> float:
        """The mean loss, an estimate of the potential."""
        return float(self.losses.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return float(self.losses.std(ddof=1) / np.sqrt(len(self.losses)))


@described
def simulate_walks(
    t: int,
    b: Any,
    s: Any = None,
    loss: Any = "zero-one",
    eta: Any = None,
    *,
    n_walks: int = 1000,
    random_state: Any = None,
) -> Walks:
    """Draw random walks of t steps from the distribution b.

    Returns
    -------
    Walks
        The walks with their losses.

    Examples
    --------
    >>> from simplexboost.theory import fixed_potential, uniform_baseline
    >>> b = uniform_baseline(4, 0.2)
    >>> walks = simulate_walks(20, b, n_walks=10_000, random_state=0)
    >>> abs(walks.mean - fixed_potential(20, b)) < 4 * walks.standard_error
    True
    """
    b = check_baseline(b)
    check_number("t", t, int, 0)
    check_number("n_walks", n_walks, int, 1)
    start = one_state(s, len(b))
    game_loss = as_loss(loss, eta, b[0] - b[1:].max(), lambda: best_eta(max(int(t), 1), b))
    rng = np.random.default_rng(random_state)
    steps = np.eye(len(b), dtype=np.int64)[rng.choice(len(b), size=(n_walks, t), p=b)]  # (n_walks, t, K)
    positions = start + np.concatenate([np.zeros((n_walks, 1, len(b)), dtype=np.int64), steps.cumsum(axis=1)], axis=1)
    return Walks(positions, game_loss(positions[:, -1]))


@described
def simulate_minimal_walks(
    t: int,
    K: int,
    edge: float,
    s: Any = None,
    loss: Any = "zero-one",
    eta: float | None = None,
    *,
    n_walks: int = 1000,
    random_state: Any = None,
) -> Walks:
    """Draw random walks of t steps, each from the worst edge-over-random distribution of its state.

    Returns
    -------
    Walks
        The walks with their losses.

    Examples
    --------
    >>> from simplexboost.theory import minimal_potential
    >>> walks = simulate_minimal_walks(8, 3, 0.1, n_walks=10_000, random_state=0)
    >>> abs(walks.mean - minimal_potential(8, 3, 0.1)) < 4 * walks.standard_error
    True
    """
    _, _, game_loss = check_game(t, K, edge, s, loss, eta)
    check_number("n_walks", n_walks, int, 1)
    rng = np.random.default_rng(random_state)
    S = np.tile(one_state(s, K), (n_walks, 1))
    positions = [S]
    for to_go in range(int(t), 0, -1):
        S = S + np.eye(K, dtype=np.int64)[worst_steps(S, to_go, edge, game_loss, rng)]
        positions.append(S)
    return Walks(np.stack(positions, axis=1), game_loss(S))


def worst_steps(S: AnyArray, to_go: int, edge: float, loss: Any, rng: np.random.Generator) -> AnyArray:
    """Draw a label for every state from its worst baseline, (m,)."""
    m, K = S.shape
    after = (S[:, None, :] + np.eye(K, dtype=np.int64)).reshape(-1, K)
    phi = minimal_potential(to_go - 1, K, edge, after, loss).reshape(m, K)
    degree = worst_baseline_cost(phi, edge)[1]  # (m,)
    ranking = np.column_stack([np.zeros(m, dtype=np.int64), 1 + np.argsort(-phi[:, 1:], axis=1, kind="stable")])
    place = (rng.random(m) * degree).astype(np.int64)  # uniform among the true class and the degree − 1 worst rivals
    place[rng.random(m) < edge] = 0
    return ranking[np.arange(m), place]


def one_state(s: Any, K: int) -> AnyArray:
    """Return the state (K,) that walks begin at."""
    S, _ = as_states(s, K)
    if len(S) != 1:
        raise ValueError(f"s has {len(S)} states; a walk begins at one.")
    return S[0]
