"""Optimal strategies of the booster, boosting games played with them, and random walks that estimate potentials.

With t rounds to go and votes s_i on example i, the optimal strategy OS sets the costs C[i, k] = φ_{t−1}(s_i + e_k),
(28) and (41): the potential, for a fixed baseline or the minimal condition, after a vote for class k. For other
conditions, row i solves (22). If a weak classifier costs at most what the condition allows, the average potential does
not rise. So after T rounds the loss is at most φ_T(0).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_number
from .conditions import (
    CONDITIONS,
    Condition,
    as_condition,
    check_baseline,
    uniform_baseline,
    worst_baseline_cost,
)
from .potentials import (
    ExponentialLoss,
    GameLoss,
    Layers,
    MinimalTable,
    after_each_vote,
    as_loss,
    as_states,
    degree_is_always_K,
    exponential_logs,
    fixed_values,
    minimal_values,
    solve_row,
)
from .spaces import Space, classes_in_place, true_first


class Game(ABC):
    """A boosting game of T rounds, see `make_game`; a state counts the votes for each class, the true class first.

    Parameters
    ----------
    loss : ZeroOne, ExponentialLoss or another function of states
        The loss of the final state.

    Examples
    --------
    >>> game = make_game(200, "uniform", K=6, edge=0.1)
    >>> isinstance(game, Game), round(game.bound, 4)
    (True, 0.0515)
    """

    K: int
    T: int
    loss: GameLoss

    @abstractmethod
    def potential(self, t: int, S: AnyArray) -> Array:
        """Return the potentials (m,) of m states of votes S (m, K) with t rounds to go."""

    @abstractmethod
    def allowed(self, C: Array) -> Array:
        """Return the largest cost (m,) that the weak-learning condition allows on each of m cost rows C (m, K)."""

    def costs(self, t: int, S: AnyArray) -> Array:
        """Return the optimal costs (m, K) of m states: the potential after a vote for each class, (28) and (41)."""
        return self.potential(t - 1, after_each_vote(S)).reshape(S.shape)

    @property
    def bound(self) -> float:
        """The potential before the first round: an upper bound on the loss after T rounds that meet the condition."""
        return float(self.potential(self.T, np.zeros((1, self.K), dtype=np.int64))[0])

    def scaled_costs(self, t: int, S: AnyArray) -> tuple[Array, float]:
        """Return the optimal costs, up to a constant per row and divided by e^{log_scale}, and log_scale."""
        return self.costs(t, S), 0.0

    def cost_matrix(self, t: int, votes: AnyArray, c: Labels) -> Array:
        """Return the optimal cost matrix (n, K) in class order, from the votes (n, K) and true classes c (n,)."""
        return classes_in_place(self.costs(t, true_first(votes, c)), c)


@described
@dataclass(frozen=True, eq=False)
class FixedGame(Game):
    """The boosting game against a fixed baseline distribution, the true class first.

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
    """The boosting game under the minimal weak-learning condition; the potentials of all reachable states are kept.

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
    """The boosting game under any weak-learning condition, solved by linear programmes; for few rounds and classes.

    Parameters
    ----------
    condition : Condition
        The condition that the weak learner is assumed to meet.

    Examples
    --------
    >>> from simplexboost.theory import CONDITIONS, ZeroOne
    >>> round(ConeGame(CONDITIONS["samme"], 3, 3, ZeroOne(), 0.1).bound, 4)
    0.648
    """

    condition: Condition
    K: int
    T: int
    loss: GameLoss
    edge: float

    def potential(self, t: int, S: AnyArray) -> Array:
        b = self.condition.baseline(self.K, self.edge)
        if b.ndim != 1:
            raise ValueError("condition has a baseline row per example; pass the one of the example in question.")
        layers = Layers(S, t, self.loss, symmetric=self.loss.symmetric and bool((b[1:] == b[1]).all()))
        return layers.fold(lambda phi: np.array([solve_row(row, self.condition, b)[0] for row in phi]))[0]

    def costs(self, t: int, S: AnyArray) -> Array:
        # By (22), the rows that attain the minimum in (21).
        b = self.condition.baseline(self.K, self.edge)
        return np.stack([solve_row(row, self.condition, b)[1] for row in super().costs(t, S)])

    def allowed(self, C: Array) -> Array:
        return self.condition.allowed(C, self.edge)


minimal_table = lru_cache(maxsize=2)(MinimalTable)  # the tables of the last two games


@described
def make_game(
    T: int,
    condition: Any,
    K: int | None = None,
    edge: float | None = None,
    loss: Any = "zero-one",
    eta: Any = None,
    n_threads: int = 1,
) -> Game:
    """Return the boosting game of T rounds under a weak-learning condition; `Game.bound` is the loss it guarantees.

    Examples
    --------
    >>> game = make_game(200, "uniform", K=6, edge=0.1)
    >>> round(game.bound, 4)
    0.0515
    >>> game.cost_matrix(200, np.zeros((1, 6), dtype=int), np.array([2])).round(4)
    array([[0.0553, 0.0553, 0.0401, 0.0553, 0.0553, 0.0553]])
    """
    check_number("T", T, int, 1)
    game = resolve_game(T, condition, K, edge, loss, eta, n_threads)
    if isinstance(game, MinimalGame) and degree_is_always_K(np.zeros((1, game.K), dtype=np.int64), T, game.loss):
        return FixedGame(uniform_baseline(game.K, game.edge), T, game.loss, n_threads)
    return game


def resolve_game(T: int, condition: Any, K: Any, edge: Any, loss: Any, eta: Any, n_threads: int = 1) -> Game:
    """Check the parameters, and return a `FixedGame`, a `MinimalGame` or a `ConeGame`, as the condition requires."""
    if not isinstance(condition, str | Condition):
        try:
            b = check_baseline(condition)
        except ValueError as error:
            raise ValueError(
                f"condition={condition!r} must be one of {', '.join(map(repr, CONDITIONS))}, a Condition, or a "
                f"baseline b: {error}"
            ) from None
        found = float(b[0] - b[1:].max())
        if K is not None and len(b) != K:
            raise ValueError(f"condition has {len(b)} entries; with {K} classes a baseline has {K}.")
        if edge is not None and abs(edge - found) > 1e-9:
            raise ValueError(f"edge={edge} does not belong to the baseline, whose edge is {found:.6g}; leave it None.")
        return FixedGame(b, T, as_loss(loss, eta, found, T, b), n_threads)
    check_number("K", K, int, 2)
    check_number("edge", edge, float, 0.0, 1.0)
    rule = as_condition(condition)
    if rule.name == "uniform":
        b = uniform_baseline(K, edge)
        return FixedGame(b, T, as_loss(loss, eta, edge, T, b), n_threads)
    if rule.name == "minimal":
        return MinimalGame(K, T, as_loss(loss, eta, edge), float(edge))
    return ConeGame(rule, K, T, as_loss(loss, eta, edge), float(edge))


@described
def potential(
    t: int,
    condition: Any,
    K: int | None = None,
    edge: float | None = None,
    s: Any = None,
    loss: Any = "zero-one",
    eta: Any = None,
    *,
    n_threads: int = 1,
) -> Any:
    """Return the potential, the largest expected loss that a weak learner can still force with t rounds to go.

    For "uniform" and other fixed baselines it is the expected loss of a random walk, whose steps are votes drawn from
    the baseline. For "minimal" the walk takes the worst baseline in every state; this takes a recursion over O(t^{K−1})
    states, but with the exponential loss and a small eta the worst baseline is always the uniform one (Lemma 19). For
    any other condition, a small linear programme per state,

        φ_t(s) = min_c max_k { φ_{t−1}(s+e_k) − (c_k − ⟨c, b⟩) },                                            (21)

    is solved, which is feasible for few rounds and classes; c are costs in the condition's cone, b is the baseline,
    s+e_k has one more vote for class k. "mr" gives the same potential as "minimal", which is quicker.

    Examples
    --------
    With an edge of 0.1 over guessing among 6 classes, 200 rounds make the training error at most 5.15 %.

    >>> round(potential(200, "uniform", 6, 0.1), 4)
    0.0515
    >>> potential(2, [0.5, 0.25, 0.25], s=[[0, 0, 0], [2, 0, 0]]).round(4)
    array([0.75 , 0.125])

    The minimal condition demands less of the learner and guarantees less. SAMME's is so weak that the bound on the
    error grows with the number of rounds.

    >>> round(potential(10, "uniform", 6, 0.1), 4), round(potential(10, "minimal", 6, 0.1), 4)
    (0.7076, 0.7749)
    >>> [round(potential(t, "samme", 3, 0.1), 4) for t in (1, 3, 5)]
    [0.6, 0.648, 0.6826]
    """
    check_number("t", t, int, 0)
    game = resolve_game(int(t), condition, K, edge, loss, eta, n_threads)
    S, single = as_states(s, game.K)
    if isinstance(game, MinimalGame):  # the states need not be those that a game reaches
        values = minimal_values(int(t), S, game.edge, game.loss)
    else:
        values = game.potential(int(t), S)
    return float(values[0]) if single else values


@described
def exponential_costs(F: Array, c: Labels, eta: float) -> Array:
    """Return the cost matrix (n, K) of the exponential loss at weighted votes F, classes c; `eta` is a vote's weight.

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
    """Return the cost matrix (n, K) of AdaBoost.MM at weighted votes F (n, K) and true classes c (n,).

    It is the limit of `exponential_costs` divided by eta for small eta.

    Examples
    --------
    >>> mm_costs(np.zeros((1, 3)), np.array([1]))
    array([[ 1., -2.,  1.]])
    """
    C = np.exp(F - F[np.arange(len(c)), c][:, None])
    C[np.arange(len(c)), c] = 1 - C.sum(axis=1)
    return C


@dataclass(frozen=True, eq=False)
class Play:
    """The record of a boosting game: final votes; by round, the potential and the learner's cost above its bound.

    Attributes
    ----------
    votes : array of shape (n, K)
        The votes for each class on each example after the last round.
    potential : array of shape (T + 1,)
        The average potential before the first and after every round; the last is the average loss.
    excess : array of shape (T,)
        The weak learner's average cost minus the allowed cost, by round; positive where the condition failed.

    Examples
    --------
    >>> from simplexboost.theory import example, make_game
    >>> played = play(make_game(20, "minimal", K=3, edge=1 / 6), example("windows"))
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
    """Play a boosting game, the optimal strategy of the booster against a weak learner, and return its record.

    Parameters
    ----------
    game : Game
        The boosting game, from `make_game`.
    learner : Space or callable
        A `Space`, whose cheapest classifier is taken in every round, or a function from costs (n, K) to class indices.
    c : array of shape (n,) or None, default=None
        The true class indices; None takes those of the space.

    Examples
    --------
    The windows of Theorem 5 have margin 1/6, which a strategy for the minimal condition turns into a correct vote.

    >>> from simplexboost.theory import example, make_game
    >>> played = play(make_game(60, "minimal", K=3, edge=1 / 6), example("windows"))
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


@dataclass(frozen=True, eq=False)
class Walks:
    """Random walks whose steps are votes for a class, with the losses of their final states.

    Attributes
    ----------
    positions : int array of shape (n_walks, t + 1, K)
        The votes for each class in every walk after every step, the true class first.
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
        """The mean loss of the walks, an estimate of the potential."""
        return float(self.losses.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean loss."""
        return float(self.losses.std(ddof=1) / np.sqrt(len(self.losses)))


@described
def simulate_walks(
    t: int,
    condition: Any,
    K: int | None = None,
    edge: float | None = None,
    s: Any = None,
    loss: Any = "zero-one",
    eta: Any = None,
    *,
    n_walks: int = 1000,
    random_state: Any = None,
) -> Walks:
    """Draw random walks of t votes from a fixed baseline, or, under "minimal", from the worst baseline of every state.

    Parameters
    ----------
    n_walks : int, default=1000
        The number of walks.
    random_state : int, Generator or None, default=None
        The seed of all random numbers.

    Examples
    --------
    >>> for condition in ("uniform", "minimal"):
    ...     walks = simulate_walks(8, condition, 3, 0.1, n_walks=10_000, random_state=0)
    ...     print(abs(walks.mean - potential(8, condition, 3, 0.1)) < 4 * walks.standard_error)
    True
    True
    """
    check_number("t", t, int, 0)
    check_number("n_walks", n_walks, int, 1)
    game = resolve_game(int(t), condition, K, edge, loss, eta)
    start, single = as_states(s, game.K)
    if not single:
        raise ValueError(f"s has shape {np.shape(s)}; a walk begins at one state, of shape ({game.K},).")
    rng, steps = np.random.default_rng(random_state), np.eye(game.K, dtype=np.int64)
    positions = np.empty((n_walks, int(t) + 1, game.K), dtype=np.int64)
    positions[:, 0] = start
    if isinstance(game, FixedGame):
        positions[:, 1:] = start + steps[rng.choice(game.K, size=(n_walks, int(t)), p=game.b)].cumsum(axis=1)
    elif isinstance(game, MinimalGame):
        for i in range(int(t)):
            S = positions[:, i]
            positions[:, i + 1] = S + steps[worst_steps(S, int(t) - i, game.edge, game.loss, rng)]
    else:
        raise ValueError(f"condition={condition!r} has no walks; take a fixed baseline or 'minimal'.")
    return Walks(positions, game.loss(positions[:, -1]))


def worst_steps(S: AnyArray, to_go: int, edge: float, loss: Any, rng: np.random.Generator) -> AnyArray:
    """Draw a vote (m,) for each of m states S (m, K) from the state's worst baseline; 0 stands for the true class."""
    m, K = S.shape
    phi = minimal_values(to_go - 1, after_each_vote(S), edge, loss).reshape(m, K)
    degree = worst_baseline_cost(phi, edge)[1]  # (m,)
    ranking = np.column_stack([np.zeros(m, dtype=np.int64), 1 + np.argsort(-phi[:, 1:], axis=1, kind="stable")])
    place = (rng.random(m) * degree).astype(np.int64)  # uniform among the true class and the degree − 1 worst others
    place[rng.random(m) < edge] = 0
    return ranking[np.arange(m), place]
