"""Potentials under the minimal condition, where the walk takes the worst of all baselines in every state:

    φ_t(s) = max_{2≤a≤K} [ γ φ_{t−1}(s+e_1) + (1−γ) mean(φ_{t−1}(s+e_1), a−1 largest φ_{t−1}(s+e_l)) ],

and a is called its degree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.compat import cached
from .._util.params import check_number
from .conditions import uniform_baseline, worst_baseline_cost
from .potentials import ExponentialLoss, GameLoss, Layers, after_each_vote, check_game, fixed_values, row_keys


def minimal_potential(
    t: int, K: int, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> Any:
    """φ_t(s) under the minimal condition: the walk takes the worst edge-over-random baseline in every state.

    It is computed exactly by a recursion over O(t^{K−1}) states. With the exponential loss and a small η the worst
    baseline is always the uniform one (Lemma 19), and the closed form is used.

    Parameters
    ----------
    t : int
        The number of rounds to go.
    K : int
        The number of classes.
    edge : float
        γ in [0, 1], the edge over guessing.
    s : array of shape (K,) or (m, K), or None, default=None
        The states: votes so far, the true class first. None is the state before the first vote.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ).

    Returns
    -------
    float, or array of shape (m,)
        The potential, of one state or of each.

    Examples
    --------
    >>> from simplexboost.theory import fixed_potential
    >>> round(minimal_potential(10, 6, 0.1), 4), round(fixed_potential(10, uniform_baseline(6, 0.1)), 4)
    (0.7749, 0.7076)
    """
    S, single, game_loss = check_game(t, K, edge, s, loss, eta)
    if degree_is_always_K(S, int(t), game_loss):
        values = fixed_values(int(t), uniform_baseline(K, edge), S, game_loss)
    else:
        layers = Layers(S, int(t), game_loss, symmetric=game_loss.symmetric)
        values = layers.fold(lambda phi: worst_baseline_cost(phi, edge)[0])[0]
    return float(values[0]) if single else values


def degree_is_always_K(S: AnyArray, t: int, loss: GameLoss) -> bool:
    """Whether the worst baseline is the uniform one in all states within t steps of S.

    With leads within ±D the numerator in the proof of Lemma 19 is negative for every degree below K where
    (K−1)(1 − e^{−η}) e^{2ηD} < 1; the lemma's η ≤ ¼ min(1/(K−1), 1/T) is a special case.
    """
    if not isinstance(loss, ExponentialLoss):
        return False
    D = int(np.abs(S[:, 1:] - S[:, :1]).max()) + t
    return bool((S.shape[1] - 1) * -np.expm1(-loss.eta) * np.exp(min(2 * loss.eta * D, 700.0)) < 1)


def best_fixed_potential(
    t: int, K: int, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> tuple[float, int]:
    """The largest φ_t among baselines that guess uniformly on some of the labels, and how many labels that takes.

    The paper assumes that guessing uniformly on all labels is the worst; with large edges or many classes it is not.

    Parameters
    ----------
    t : int
        The number of rounds to go.
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

    Returns
    -------
    value : float
        The largest potential.
    support : int
        The number of labels on which the worst baseline guesses.

    Examples
    --------
    >>> from simplexboost.theory import fixed_potential
    >>> value, support = best_fixed_potential(6, 3, 0.4)
    >>> round(value, 4), support, round(fixed_potential(6, uniform_baseline(3, 0.4)), 4)
    (0.2557, 2, 0.2483)
    """
    S, _, game_loss = check_game(t, K, edge, s, loss, eta)
    if len(S) > 1:
        raise ValueError(f"s has {len(S)} states; pass one.")
    supports = range(2, K + 1)
    bs = [np.append(uniform_baseline(a, edge), np.zeros(K - a)) for a in supports]
    values = [float(fixed_values(int(t), b, S, game_loss)[0]) for b in bs]
    best = int(np.argmax(values))
    return values[best], supports[best]


# ---- maps for three classes -----------------------------------------------------------------------------------------


def degree_map(
    t: int, edge: float, loss: Any = "zero-one", eta: float | None = None, radius: int | None = None
) -> Labels:
    """Degrees of the optimal walk for three classes with t rounds to go, at pixels (u, v) = (s_2 − s_1, s_3 − s_1).

    Parameters
    ----------
    t : int
        The number of rounds to go.
    edge : float
        γ in [0, 1], the edge over guessing.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ).
    radius : int or None, default=None
        Pixels go from −radius to radius; None is t.

    Returns
    -------
    int array of shape (2 radius + 1, 2 radius + 1)
        Rows are u, columns v: 3 or 2, or 0 where both are optimal.

    Examples
    --------
    >>> degrees = degree_map(3, 0.0)
    >>> {degree: int((degrees == degree).sum()) for degree in (3, 2, 0)}
    {3: 32, 2: 4, 0: 13}
    """
    two, three = degree_values(t, edge, loss, eta, radius)
    tie = np.abs(two - three) <= 1e-12 * np.maximum(1.0, np.abs(three))
    return np.where(tie, 0, np.where(three > two, 3, 2))


def potential_map(
    t: int, edge: float, loss: Any = "zero-one", eta: float | None = None, radius: int | None = None
) -> Array:
    """Minimal potentials for three classes with t rounds to go, at the pixels of `degree_map`.

    Parameters
    ----------
    t : int
        The number of rounds to go.
    edge : float
        γ in [0, 1], the edge over guessing.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ).
    radius : int or None, default=None
        Pixels go from −radius to radius; None is t.

    Returns
    -------
    array of shape (2 radius + 1, 2 radius + 1)
        The potentials; rows are u = s_2 − s_1, columns v = s_3 − s_1.

    Examples
    --------
    >>> potential_map(3, 0.0).shape
    (7, 7)
    """
    return np.maximum(*degree_values(t, edge, loss, eta, radius))


def degree_values(t: Any, edge: Any, loss: Any, eta: Any, radius: Any) -> tuple[Array, Array]:
    """φ_t at every pixel if the first step has degree 2, and if it has degree 3."""
    check_number("t", t, int, 1)
    check_number("radius", radius, int, 1, none=True)
    _, _, game_loss = check_game(t, 3, edge, None, loss, eta)
    axis = np.arange(-(radius or t), (radius or t) + 1)
    u, v = np.meshgrid(axis, axis, indexing="ij")
    S = np.stack([np.zeros_like(u), u, v], axis=-1).reshape(-1, 3)
    phi = minimal_potential(t - 1, 3, edge, after_each_vote(S), game_loss).reshape(-1, 3)  # (m, 3)
    rivals = phi[:, 1:]
    two = edge * phi[:, 0] + (1 - edge) * (phi[:, 0] + rivals.max(axis=1)) / 2
    three = edge * phi[:, 0] + (1 - edge) * phi.mean(axis=1)
    return two.reshape(u.shape), three.reshape(u.shape)


# ---- all states of a game -------------------------------------------------------------------------------------------


class MinimalTable:
    """Every potential that a game of T rounds under the minimal condition can ask for."""

    def __init__(self, K: int, edge: float, T: int, loss: GameLoss) -> None:
        start = np.zeros((1, K), dtype=np.int64)
        self.T, self.layers = T, Layers(start, T, loss, symmetric=loss.symmetric)
        self.values = self.layers.fold(lambda phi: worst_baseline_cost(phi, edge)[0])
        self.layers.children = []  # they are no longer needed, and take most of the memory

    @cached
    def keys(self) -> list[tuple[AnyArray, Labels]]:
        """The keys of the states of every layer, in ascending order, and the positions of these states."""
        keys = [row_keys(states) for states in self.layers.states]
        return [(key[order], order) for key in keys for order in [np.argsort(key)]]

    def potential(self, t: int, S: AnyArray) -> Array:
        """φ_t of states (m, K) after T − t rounds, (m,)."""
        layer = self.T - t
        S = np.ascontiguousarray(self.layers.canonical(S))
        keys, order = self.keys[layer]
        at = order[np.minimum(np.searchsorted(keys, row_keys(S)), len(keys) - 1)]
        if not (self.layers.states[layer][at] == S).all():
            raise ValueError(f"s holds a state that {layer} votes cannot lead to.")
        return self.values[layer][at]
