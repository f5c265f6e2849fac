"""Potentials: what a game of T rounds can still cost, φ_0 = L and φ_t(s) from φ_{t−1}(s + e_l), one step per label.

A state s (K,) counts the votes that each class has got on an example, the true class first. With a fixed
edge-over-random baseline b a potential is the expected loss of a random walk, φ_t(s) = Σ_l b_l φ_{t−1}(s + e_l): in
closed form for the exponential loss, by the compiled dynamic programme for the zero-one loss, by the recursion for any
other proper loss. Under the minimal condition the walk takes the worst of all baselines in every state,

    φ_t(s) = max_{2≤a≤K} [ γ φ_{t−1}(s+e_1) + (1−γ) mean(φ_{t−1}(s+e_1), a−1 largest φ_{t−1}(s+e_l)) ],

and a is called its degree. For any cone there is the linear programme (21). φ_T(0) bounds the training loss after T
rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from .. import _kernels
from .._parts import check_number
from .._typing import AnyArray, Array, Labels
from .conditions import Condition, as_condition, check_baseline, uniform_baseline, worst_baseline_cost

MAX_STATES = 5_000_000  # of a recursion; half a gigabyte with 6 classes

# ---- losses of a state ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ZeroOne:
    """1 where the true class is not strictly ahead: ties are errors."""

    symmetric = True  # in the rivals; and only leads over the true class matter

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state (..., K), the true class first."""
        S = np.asarray(S)
        return (S[..., 0] <= S[..., 1:].max(axis=-1)).astype(np.float64)

    def discrepancy(self, K: int, T: int) -> float:
        """The largest difference between two states within T rounds."""
        return 1.0


@dataclass(frozen=True)
class ExponentialLoss:
    """Σ_{l>1} e^{η(s_l − s_1)}, at least the zero-one loss; η is the weight of a vote."""

    eta: float
    symmetric = True

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state (..., K), the true class first."""
        S = np.asarray(S)
        return np.exp(self.eta * (S[..., 1:] - S[..., :1])).sum(axis=-1)

    def discrepancy(self, K: int, T: int) -> float:
        """The largest difference between two states within T rounds: one rival has all votes, or the true class has."""
        return float((K - 2) + np.exp(self.eta * T) - (K - 1) * np.exp(-self.eta * T))


@dataclass(frozen=True, eq=False)
class UserLoss:
    """A function of states (m, K), the true class first, that gives (m,) losses."""

    function: Callable[[AnyArray], Any]
    symmetric = False  # not known to be

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state."""
        S = np.asarray(S)
        values = np.asarray(self.function(S.reshape(-1, S.shape[-1])), dtype=np.float64)
        if values.shape != (S.size // S.shape[-1],) or not np.isfinite(values).all():
            raise ValueError(
                f"loss={self.function!r} gave shape {values.shape} for {S.size // S.shape[-1]} states; it must give a "
                "finite number for each."
            )
        return values.reshape(S.shape[:-1])


GameLoss = ZeroOne | ExponentialLoss | UserLoss


def as_loss(loss: Any, eta: float | None, edge: float) -> GameLoss:
    """A loss from "zero-one", "exponential" (``eta`` by default ln(1+γ)), or a function of states."""
    if isinstance(loss, ZeroOne | ExponentialLoss | UserLoss):
        return loss
    if loss == "exponential":
        check_number("eta", eta, float, 0.0, none=True, open_low=True)
        if eta is None and edge <= 0:
            raise ValueError("eta=None is ln(1 + edge), which is 0 with this edge; pass a positive eta.")
        return ExponentialLoss(float(np.log1p(edge)) if eta is None else float(eta))
    if eta is not None:
        raise ValueError(f"eta={eta!r} belongs to loss='exponential'; with another loss it must be None.")
    if loss == "zero-one":
        return ZeroOne()
    if callable(loss):
        return UserLoss(loss)
    raise ValueError(f"loss={loss!r} is unknown; choose 'zero-one', 'exponential', or pass a function of states.")


def check_proper(loss: GameLoss, S: AnyArray) -> None:
    """Raise unless the loss falls with votes for the true class and rises with votes for others, at these states."""
    if not isinstance(loss, UserLoss):
        return
    here = loss(S)
    for label in range(S.shape[1]):
        step = loss(S + np.eye(S.shape[1], dtype=S.dtype)[label]) - here
        wrong = np.flatnonzero(step > 1e-12 if label == 0 else step < -1e-12)
        if len(wrong):
            i = wrong[0]
            raise ValueError(
                f"loss={loss.function!r} is not proper: at state {S[i].tolist()} a vote for "
                f"{'the true class raises' if label == 0 else 'a wrong class lowers'} it by {abs(step[i]):.4g}. A "
                "proper loss falls with s[0], the votes for the true class, and rises with all others."
            )


# ---- fixed baselines ------------------------------------------------------------------------------------------------


def fixed_potential(
    t: int, b: Any, s: Any = None, loss: Any = "zero-one", eta: float | None = None, *, n_threads: int = 1
) -> Any:
    """φ_t(s) of a fixed edge-over-random baseline: the expected loss of a random walk with steps b.

    Parameters
    ----------
    t : int
        Rounds to go.
    b : array of shape (K,)
        The baseline, a distribution whose first entry, the true class, is the largest; see `uniform_baseline`.
    s : array of shape (K,) or (m, K), optional
        States: votes so far, the true class first. By default 0.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        A function takes states (m, K) and gives (m,) losses; it must be proper.
    eta : float, optional
        The weight of a vote in the exponential loss; by default ln(1 + γ) with γ the edge of b.
    n_threads : int, default=1

    Returns
    -------
    float, or array of shape (m,)

    Examples
    --------
    With an edge of 0.1 over guessing among 6 classes, 200 rounds make the training error at most 5.15 %.

    >>> round(fixed_potential(200, uniform_baseline(6, 0.1)), 4)
    0.0515
    >>> fixed_potential(2, [0.5, 0.25, 0.25], s=[[0, 0, 0], [2, 0, 0]]).round(4)
    array([0.75 , 0.125])
    """
    b = check_baseline(b)
    check_number("t", t, int, 0)
    game_loss = as_loss(loss, eta, b[0] - b[1:].max())
    S, single = as_states(s, len(b))
    values = fixed_values(int(t), b, S, game_loss, n_threads)
    return float(values[0]) if single else values


def fixed_values(t: int, b: Array, S: AnyArray, loss: GameLoss, n_threads: int = 1) -> Array:
    """`fixed_potential` of checked arguments, (m,)."""
    if isinstance(loss, ExponentialLoss):
        return np.exp(exponential_logs(t, b, S, loss.eta)).sum(axis=1)
    if isinstance(loss, ZeroOne):
        return zero_one_values(t, b, S, n_threads)
    return Layers(S, t, loss, symmetric=False).fold(lambda phi: phi @ b)[0]


def exponential_logs(t: int, b: Array, S: AnyArray, eta: float) -> Array:
    """log a_l^t e^{η(s_l − s_1)} of every rival, (m, K−1), with a_l = 1 − (b_1+b_l) + e^η b_l + e^{−η} b_1."""
    a = 1 - (b[0] + b[1:]) + np.exp(eta) * b[1:] + np.exp(-eta) * b[0]  # (K-1,)
    return t * np.log(a) + eta * (S[:, 1:] - S[:, :1])


def kappa(edge: float, eta: float, K: int) -> float:
    """The factor by which a round lowers the exponential loss under the γ-biased uniform baseline.

    With η = ln(1+γ) it is at most e^{−γ²/2}.

    Examples
    --------
    >>> round(kappa(0.1, np.log(1.1), 6), 6), round(np.exp(-0.1**2 / 2), 6)
    (0.992273, np.float64(0.995012))
    """
    return float(1 + (1 - edge) / K * (np.exp(eta) + np.exp(-eta) - 2) - (1 - np.exp(-eta)) * edge)


def zero_one_values(t: int, b: Array, S: AnyArray, n_threads: int) -> Array:
    """The dynamic programme, once for every state that differs in the leads of the rivals, (m,)."""
    leads = S[:, 1:] - S[:, :1]
    leads = np.clip(leads, -t - 1, t)  # beyond these the end is certain
    columns = np.argsort(b[1:], kind="stable")  # rivals of equal probability are interchangeable
    leads, rates = leads[:, columns], b[1:][columns]
    ends = np.append(np.flatnonzero(np.diff(rates)) + 1, len(rates))
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        leads[:, begin:end] = np.sort(leads[:, begin:end], axis=1)
    distinct, back = unique_rows(leads)
    order = np.lexsort(distinct.T[::-1])
    values = np.empty(len(distinct))
    values[order] = _kernels.zero_one_potential(
        t, np.concatenate([b[:1], rates]), distinct[order].astype(np.int32), n_threads
    )
    return values[back]


def as_states(s: Any, K: int) -> tuple[AnyArray, bool]:
    """States as an integer array (m, K), and whether there was just one."""
    if s is None:
        return np.zeros((1, K), dtype=np.int64), True
    S = np.asarray(s)
    if S.ndim not in (1, 2) or S.shape[-1] != K:
        raise ValueError(f"s has shape {S.shape}; with {K} classes states have shape ({K},) or (m, {K}).")
    if S.dtype.kind not in "iuf" or not (np.isfinite(S).all() and (S == np.round(S)).all()):
        raise ValueError("s must hold whole numbers: the votes for each class, the true class first.")
    return np.atleast_2d(S).astype(np.int64), S.ndim == 1


# ---- the recursion --------------------------------------------------------------------------------------------------

# Rows of whole numbers are compared by one 64-bit product each; a collision is found out, not trusted.
MIXERS = np.random.default_rng(20130217).integers(1, 2**63, size=4096, dtype=np.uint64) | np.uint64(1)


def row_keys(S: AnyArray) -> AnyArray:
    """A 64-bit number for every row of whole numbers."""
    return (S.astype(np.int64).view(np.uint64) * np.resize(MIXERS, S.shape[1])).sum(axis=1, dtype=np.uint64)


def unique_rows(S: AnyArray) -> tuple[AnyArray, Labels]:
    """The distinct rows, and for every row its number among them."""
    S = np.ascontiguousarray(S, dtype=np.int64)
    _, first, back = np.unique(row_keys(S), return_index=True, return_inverse=True)
    if not (S[first][back] == S).all():
        distinct, back = np.unique(S, axis=0, return_inverse=True)
        return distinct, back.reshape(-1)
    return S[first], back


class Layers:
    """The states within t steps of some states, step by step, and values folded back from the last layer to the first.

    Where the loss is symmetric in the rivals and sees only leads, states that differ in more than that are one state.
    """

    def __init__(self, S: AnyArray, t: int, loss: GameLoss, symmetric: bool) -> None:
        self.loss, self.relative, self.symmetric = loss, not isinstance(loss, UserLoss), symmetric
        K = S.shape[1]
        exact = count_states(K, t) if symmetric and not S.any() else None
        if exact is not None and exact > MAX_STATES:
            raise ValueError(too_many(K, t, f"{exact:,}"))
        first, self.back = unique_rows(self.canonical(S))
        self.states, self.children = [first], []
        total = len(first)
        check_proper(loss, first)
        for _ in range(t):
            steps = (self.states[-1][:, None, :] + np.eye(K, dtype=np.int64)).reshape(-1, K)
            states, back = unique_rows(self.canonical(steps))
            self.states.append(states)
            self.children.append(back.reshape(-1, K))
            check_proper(loss, states)
            total += len(states)
            if total > MAX_STATES:
                most = sum(comb(j + K - 1, K - 1) for j in range(t + 1)) * len(first)
                raise ValueError(too_many(K, t, f"more than {MAX_STATES:,} and up to {most:,}"))

    def canonical(self, S: AnyArray) -> AnyArray:
        """The one state that stands for all its likes."""
        if self.relative:
            S = S - S[:, :1]
        if self.symmetric:
            S = np.column_stack([S[:, :1], -np.sort(-S[:, 1:], axis=1)])
        return S

    def fold(self, combine: Callable[[Array], Array]) -> list[Array]:
        """φ_{t−j} of the states of layer j, j = 0 .. t; the first for the states that were asked for.

        ``combine`` gets φ after each of the K steps, (m, K), and gives φ before, (m,).
        """
        values = [self.loss(self.states[-1])]
        for children in reversed(self.children):
            values.append(combine(values[-1][children]))
        values.reverse()
        values[0] = values[0][self.back]
        return values


def count_states(K: int, t: int) -> int:
    """States within t rounds of 0 up to the order of the rivals: votes of the true class, and a partition of the rest.

    >>> count_states(3, 10), count_states(6, 100)
    (161, 18768596)
    """
    ways = [1] + [0] * t  # partitions of 0 .. t
    for part in range(1, min(K - 1, t) + 1):
        for i in range(part, t + 1):
            ways[i] += ways[i - part]
    return sum((t + 1 - i) * ways[i] for i in range(t + 1))  # layer j has the partitions of 0 .. j


def too_many(K: int, t: int, states: str) -> str:
    """The message where a recursion would need too much memory."""
    return (
        f"the recursion for K={K} classes and {t} rounds needs {states} states, at most {MAX_STATES:,} are kept. Use "
        "fewer rounds, a fixed baseline (condition='uniform'), or the exponential loss with a small eta (Lemma 19)."
    )


# ---- the minimal condition ------------------------------------------------------------------------------------------


def minimal_potential(
    t: int, K: int, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> Any:
    """φ_t(s) under the minimal condition: the walk takes the worst edge-over-random baseline in every state.

    Exact, by a recursion over O(t^{K−1}) states; with the exponential loss and a small η the worst baseline is always
    the uniform one (Lemma 19), and the closed form is used.

    Parameters
    ----------
    t : int
        Rounds to go.
    K : int
        Classes.
    edge : float
        γ in [0, 1].
    s : array of shape (K,) or (m, K), optional
        States: votes so far, the true class first. By default 0.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
    eta : float, optional
        The weight of a vote in the exponential loss; by default ln(1 + γ).

    Returns
    -------
    float, or array of shape (m,)

    Examples
    --------
    >>> round(minimal_potential(10, 6, 0.1), 4), round(fixed_potential(10, uniform_baseline(6, 0.1)), 4)
    (0.7749, 0.7076)
    """
    S, single, game_loss = check_minimal(t, K, edge, s, loss, eta)
    if degree_is_always_K(S, int(t), game_loss):
        values = fixed_values(int(t), uniform_baseline(K, edge), S, game_loss)
    else:
        layers = Layers(S, int(t), game_loss, symmetric=game_loss.symmetric)
        values = layers.fold(lambda phi: worst_baseline_cost(phi, edge)[0])[0]
    return float(values[0]) if single else values


def check_minimal(t: Any, K: Any, edge: Any, s: Any, loss: Any, eta: Any) -> tuple[AnyArray, bool, GameLoss]:
    """The states, whether there is one, and the loss."""
    check_number("t", t, int, 0)
    check_number("K", K, int, 2)
    check_number("edge", edge, float, 0.0, 1.0)
    return *as_states(s, int(K)), as_loss(loss, eta, edge)


def degree_is_always_K(S: AnyArray, t: int, loss: GameLoss) -> bool:
    """Whether the worst baseline is the uniform one in all states within t steps of S.

    With leads within ±D the numerator in the proof of Lemma 19 is negative for every degree below K where
    (K−1)(1 − e^{−η}) e^{2ηD} < 1; the lemma's η ≤ ¼ min(1/(K−1), 1/T) is a special case.
    """
    if not isinstance(loss, ExponentialLoss):
        return False
    D = int(np.abs(S[:, 1:] - S[:, :1]).max()) + t
    return bool((S.shape[1] - 1) * -np.expm1(-loss.eta) * np.exp(min(2 * loss.eta * D, 700.0)) < 1)


def degree_map(
    t: int, edge: float, loss: Any = "zero-one", eta: float | None = None, radius: int | None = None
) -> Labels:
    """Degrees of the optimal walk for three classes with t rounds to go, at pixels (u, v) = (s_2 − s_1, s_3 − s_1).

    Parameters
    ----------
    t, edge, loss, eta : as in `minimal_potential`
    radius : int, optional
        Pixels go from −radius to radius; by default t.

    Returns
    -------
    (2 radius + 1, 2 radius + 1) int, rows are u, columns v: 3 or 2, or 0 where both are optimal

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
    _, _, game_loss = check_minimal(t, 3, edge, None, loss, eta)
    axis = np.arange(-(radius or t), (radius or t) + 1)
    u, v = np.meshgrid(axis, axis, indexing="ij")
    S = np.stack([np.zeros_like(u), u, v], axis=-1).reshape(-1, 3)
    after = (S[:, None, :] + np.eye(3, dtype=np.int64)).reshape(-1, 3)
    phi = minimal_potential(t - 1, 3, edge, after, game_loss).reshape(-1, 3)  # (m, 3)
    rivals = phi[:, 1:]
    two = edge * phi[:, 0] + (1 - edge) * (phi[:, 0] + rivals.max(axis=1)) / 2
    three = edge * phi[:, 0] + (1 - edge) * phi.mean(axis=1)
    return two.reshape(u.shape), three.reshape(u.shape)


def best_fixed_potential(
    t: int, K: int, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> tuple[float, int]:
    """The largest φ_t among baselines that guess uniformly on some of the labels, and how many labels that takes.

    The paper takes the whole uniform distribution for the largest; with large edges, or many classes, it is not.

    Examples
    --------
    >>> value, support = best_fixed_potential(6, 3, 0.4)
    >>> round(value, 4), support, round(fixed_potential(6, uniform_baseline(3, 0.4)), 4)
    (0.2557, 2, 0.2483)
    """
    S, _, game_loss = check_minimal(t, K, edge, s, loss, eta)
    if len(S) > 1:
        raise ValueError(f"s has {len(S)} states; pass one.")
    supports = range(2, K + 1)
    bs = [np.append(uniform_baseline(a, edge), np.zeros(K - a)) for a in supports]
    values = [float(fixed_values(int(t), b, S, game_loss)[0]) for b in bs]
    best = int(np.argmax(values))
    return values[best], supports[best]


# ---- any cone -------------------------------------------------------------------------------------------------------


def game_potential(
    t: int, K: int, condition: Any, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> Any:
    """φ_t(s) of any condition (C, B) by (21): φ_t(s) = min_{c ∈ C₀} max_l { φ_{t−1}(s+e_l) − (c(l) − ⟨c, b⟩) }.

    A small linear programme per state: for few rounds and classes. For edge-over-random baselines `fixed_potential`,
    for MR `minimal_potential` give the same quickly.

    Parameters
    ----------
    t, K, edge, s, loss, eta : as in `minimal_potential`
    condition : a name, a baseline b, or a `Condition`

    Returns
    -------
    float, or array of shape (m,)

    Examples
    --------
    SAMME's condition is so weak that the bound on the error grows with the number of rounds.

    >>> [round(game_potential(t, 3, "samme", 0.1), 4) for t in (1, 3, 5)]
    [0.6, 0.648, 0.6826]
    """
    S, single, game_loss = check_minimal(t, K, edge, s, loss, eta)
    rule = as_condition(condition)
    b = rule.baseline(K, edge)
    if b.ndim != 1:
        raise ValueError("condition has a baseline row per example; pass the one of the example in question.")
    symmetric = game_loss.symmetric and bool((b[1:] == b[1]).all())
    layers = Layers(S, int(t), game_loss, symmetric=symmetric)
    values = layers.fold(lambda phi: np.array([solve_row(row, rule, b)[0] for row in phi]))[0]
    return float(values[0]) if single else values


def solve_row(phi: Array, condition: Condition, b: Array) -> tuple[float, Array]:
    """min_{c ∈ C₀} max_l { φ_l − (c(l) − ⟨c, b⟩) } for one state, and the cost row c (K,) that attains it."""
    from scipy.optimize import linprog  # not at the top: start-up time

    generators = condition.generators(len(phi))  # (g, K)
    relative = generators - (generators @ b)[:, None]  # g(l) − ⟨g, b⟩
    A = np.column_stack([-relative.T, -np.ones(len(phi))])  # φ_l − Σ w_g relative_g(l) ≤ z
    objective = np.append(np.zeros(len(generators)), 1.0)
    result = linprog(objective, A, -phi, bounds=[(0, None)] * len(generators) + [(None, None)], method="highs")
    if result.status == 3:
        raise ValueError(f"{condition!r} cannot be met by any classifier with this edge: no distribution satisfies it.")
    if result.status != 0:
        raise RuntimeError(f"the linear programme of a state could not be solved: {result.message}")
    return float(result.x[-1]), result.x[:-1] @ generators


# ---- all states of a minimal game -----------------------------------------------------------------------------------


class MinimalTable:
    """Every potential that a game of T rounds under the minimal condition can ask for."""

    def __init__(self, K: int, edge: float, T: int, loss: GameLoss) -> None:
        start = np.zeros((1, K), dtype=np.int64)
        self.T, self.layers = T, Layers(start, T, loss, symmetric=loss.symmetric)
        self.values = self.layers.fold(lambda phi: worst_baseline_cost(phi, edge)[0])
        self.layers.children = []  # no longer needed, and most of the memory

    @cached_property
    def keys(self) -> list[tuple[AnyArray, Labels]]:
        """Keys of the states of every layer, ascending, and where they belong."""
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
