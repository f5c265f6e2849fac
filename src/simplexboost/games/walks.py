"""Random walks whose expected loss is a potential: every step is a vote for a label drawn from a baseline.

Under a fixed baseline all steps have the distribution b. Under the minimal condition the adversary chooses the worst
edge-over-random baseline in every state, (1−γ)/a on the a−1 rivals whose votes would hurt most and the rest on the true
class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import AnyArray, Array
from .conditions import check_baseline, worst_baseline_cost
from .losses import as_loss
from .minimal import minimal_potential
from .potentials import best_eta, check_game
from .states import as_states


@dataclass(frozen=True, eq=False)
class Walks:
    """Random walks, and the loss of each at its end.

    Attributes
    ----------
    positions : int array of shape (n_walks, t + 1, K)
        Where each walk was after every step, the true class first.
    losses : array of shape (n_walks,)
        The loss of each at its end.

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
        """The mean loss, which tends to the potential."""
        return float(self.losses.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return float(self.losses.std(ddof=1) / np.sqrt(len(self.losses)))


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
    """Walks of t steps with the distribution b.

    Parameters
    ----------
    t : int
        The number of steps.
    b : array of shape (K,)
        The distribution of a step, the true class first; see `uniform_baseline`.
    s : array of shape (K,) or None, default=None
        The state: votes so far, the true class first. None is the state before the first vote.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float, "best" or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ), "best" is `best_eta`.
    n_walks : int, default=1000
        The number of walks.
    random_state : int, Generator or None, default=None
        The seed of the walks.

    Returns
    -------
    Walks
        The walks with their losses.

    Examples
    --------
    >>> from simplexboost.games import fixed_potential, uniform_baseline
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
    """Walks of t steps, each from the worst edge-over-random distribution of its state.

    Parameters
    ----------
    t : int
        The number of steps.
    K : int
        The number of classes.
    edge : float
        γ in [0, 1], the edge over guessing.
    s : array of shape (K,) or None, default=None
        The state: votes so far, the true class first. None is the state before the first vote.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ).
    n_walks : int, default=1000
        The number of walks.
    random_state : int, Generator or None, default=None
        The seed of the walks.

    Returns
    -------
    Walks
        The walks with their losses.

    Examples
    --------
    >>> from simplexboost.games import minimal_potential
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
    """A label for every state, drawn from its worst baseline, (m,)."""
    m, K = S.shape
    after = (S[:, None, :] + np.eye(K, dtype=np.int64)).reshape(-1, K)
    phi = minimal_potential(to_go - 1, K, edge, after, loss).reshape(m, K)
    degree = worst_baseline_cost(phi, edge)[1]  # (m,)
    ranking = np.column_stack([np.zeros(m, dtype=np.int64), 1 + np.argsort(-phi[:, 1:], axis=1, kind="stable")])
    place = (rng.random(m) * degree).astype(np.int64)  # uniform among the true class and the degree − 1 worst rivals
    place[rng.random(m) < edge] = 0
    return ranking[np.arange(m), place]


def one_state(s: Any, K: int) -> AnyArray:
    """The one state (K,) that a walk begins at."""
    S, _ = as_states(s, K)
    if len(S) != 1:
        raise ValueError(f"s has {len(S)} states; a walk begins at one.")
    return S[0]
