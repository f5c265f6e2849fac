"""Potentials of boosting games: the loss that is to be feared with t rounds to go, φ_0 = L and φ_t from φ_{t−1}.

A state s (K,) counts the votes that each class has got on an example, the true class first. The loss L(s) is proper if
it falls with the votes for the true class and rises with those for any other. With a fixed edge-over-random baseline b
a potential is the expected loss of a random walk, φ_t(s) = Σ_l b_l φ_{t−1}(s + e_l): in closed form for the exponential
loss, by a compiled dynamic programme for the zero-one loss, by recursion over the states for any other. For any cone
there is the linear programme (21); `minimal` has the potentials of the minimal condition. φ_T(0) bounds the training
loss after T rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from .. import _kernels
from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_choice, check_number
from .conditions import Condition, as_condition, check_baseline


@dataclass(frozen=True)
class ZeroOne:
    """The zero-one loss: 1 where the true class is not strictly ahead, so that ties are errors.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroOne()(np.array([[2, 1, 0], [1, 1, 0]]))
    array([0., 1.])
    """

    symmetric = True  # symmetric in the rivals, and only leads over the true class matter

    def __call__(self, S: AnyArray) -> Array:
        """The loss of every state (..., K), the true class first."""
        S = np.asarray(S)
        return (S[..., 0] <= S[..., 1:].max(axis=-1)).astype(np.float64)

    def discrepancy(self, K: int, T: int) -> float:
        """The largest difference between two states within T rounds."""
        return 1.0


@dataclass(frozen=True)
class ExponentialLoss:
    """Σ_{l>1} e^{η(s_l − s_1)}, which is at least the zero-one loss.

    Parameters
    ----------
    eta : float
        η, the weight of a vote.

    Examples
    --------
    >>> import numpy as np
    >>> ExponentialLoss(np.log(2))(np.array([[2, 1, 0]]))
    array([0.75])
    """

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
    symmetric = False  # it may be, but that is not known

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


LARGEST_ETA = 100.0
GameLoss = ZeroOne | ExponentialLoss | UserLoss


def as_loss(loss: Any, eta: Any, edge: float, best: Callable[[], float] | None = None) -> GameLoss:
    """A loss from "zero-one", "exponential" or a function of states.

    For "exponential" ``eta`` is a number, None for ln(1+γ), or "best" for what the function ``best`` returns, which is
    there where the baseline is fixed.
    """
    if isinstance(loss, ZeroOne | ExponentialLoss | UserLoss):
        return loss
    named = loss if isinstance(loss, str) else None
    if named == "exponential":
        if isinstance(eta, str):
            return ExponentialLoss(best_weight(eta, best))
        check_number("eta", eta, float, 0.0, LARGEST_ETA, none=True, open_low=True)
        if eta is None and edge <= 0:
            raise ValueError("eta=None is ln(1 + edge), which is 0 with this edge; pass a positive eta.")
        return ExponentialLoss(float(np.log1p(edge)) if eta is None else float(eta))
    if eta is not None:
        raise ValueError(f"eta={eta!r} belongs to loss='exponential'; with another loss it must be None.")
    if named == "zero-one":
        return ZeroOne()
    if callable(loss) and not isinstance(loss, type):
        return UserLoss(loss)
    raise ValueError(f"loss={loss!r} is unknown; choose 'zero-one', 'exponential', or pass a function of states.")


def best_weight(eta: str, best: Callable[[], float] | None) -> float:
    """The number that eta="best" stands for."""
    check_choice("eta", eta, ("best",))
    if best is None:
        raise ValueError("eta='best' needs a fixed baseline (condition='uniform', or a distribution); pass a number.")
    if (value := best()) <= 0:
        raise ValueError("eta='best' is 0 with this baseline, which has no edge; pass a positive eta.")
    return value


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


MAX_STATES = 5_000_000  # of a recursion; half a gigabyte with 6 classes

# Rows of whole numbers are compared by one 64-bit product each; collisions are detected.
MIXERS = np.random.default_rng(20130217).integers(1, 2**63, size=4096, dtype=np.uint64) | np.uint64(1)


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


def after_each_vote(S: AnyArray) -> AnyArray:
    """The K states after one more vote, (m K, K)."""
    return (S[:, None, :] + np.eye(S.shape[1], dtype=np.int64)).reshape(-1, S.shape[1])


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
    """The states within t steps of some states, layer by layer; values are computed from the last layer to the first.

    Where the loss is symmetric in the rivals and depends on leads only, states that agree in that are one state.
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
            states, back = unique_rows(self.canonical(after_each_vote(self.states[-1])))
            self.states.append(states)
            self.children.append(back.reshape(-1, K))
            check_proper(loss, states)
            total += len(states)
            if total > MAX_STATES:
                most = sum(comb(j + K - 1, K - 1) for j in range(t + 1)) * len(first)
                raise ValueError(too_many(K, t, f"more than {MAX_STATES:,} and up to {most:,}"))

    def canonical(self, S: AnyArray) -> AnyArray:
        """The state that represents all equivalent ones."""
        if self.relative:
            S = S - S[:, :1]
        if self.symmetric:
            S = np.column_stack([S[:, :1], -np.sort(-S[:, 1:], axis=1)])
        return S

    def fold(self, combine: Callable[[Array], Array]) -> list[Array]:
        """φ_{t−j} of the states of layer j, j = 0 .. t; layer 0 are the states that were asked for.

        ``combine`` gets φ after each of the K steps, (m, K), and gives φ before, (m,).
        """
        values = [self.loss(self.states[-1])]
        for children in reversed(self.children):
            values.append(combine(values[-1][children]))
        values.reverse()
        values[0] = values[0][self.back]
        return values


def count_states(K: int, t: int) -> int:
    """The number of states within t rounds of 0, where the order of the rivals does not matter.

    Parameters
    ----------
    K : int
        The number of classes.
    t : int
        The number of rounds.

    Returns
    -------
    int
        The number of states.

    Examples
    --------
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


# ---- fixed baselines ------------------------------------------------------------------------------------------------


def fixed_potential(
    t: int, b: Any, s: Any = None, loss: Any = "zero-one", eta: Any = None, *, n_threads: int = 1
) -> Any:
    """φ_t(s) of a fixed edge-over-random baseline: the expected loss of a random walk with steps b.

    Parameters
    ----------
    t : int
        The number of rounds to go.
    b : array of shape (K,)
        The baseline, a distribution whose first entry, the true class, is the largest; see `uniform_baseline`.
    s : array of shape (K,) or (m, K), or None, default=None
        The states: votes so far, the true class first. None is the state before the first vote.
    loss : {"zero-one", "exponential"} or callable, default="zero-one"
        What is suffered at the end. A function takes states (m, K) and gives losses (m,); it must be proper.
    eta : float, "best" or None, default=None
        The weight of a vote in the exponential loss; None is ln(1 + γ), "best" is `best_eta`.
    n_threads : int, default=1
        The number of threads.

    Returns
    -------
    float, or array of shape (m,)
        The potential, of one state or of each.

    Examples
    --------
    With an edge of 0.1 over guessing among 6 classes, 200 rounds make the training error at most 5.15 %.

    >>> from simplexboost.theory import uniform_baseline
    >>> round(fixed_potential(200, uniform_baseline(6, 0.1)), 4)
    0.0515
    >>> fixed_potential(2, [0.5, 0.25, 0.25], s=[[0, 0, 0], [2, 0, 0]]).round(4)
    array([0.75 , 0.125])
    """
    b = check_baseline(b)
    check_number("t", t, int, 0)
    game_loss = as_loss(loss, eta, b[0] - b[1:].max(), lambda: best_eta(max(int(t), 1), b))
    S, single = as_states(s, len(b))
    values = fixed_values(int(t), b, S, game_loss, n_threads)
    return float(values[0]) if single else values


def fixed_values(t: int, b: Array, S: AnyArray, loss: GameLoss, n_threads: int = 1) -> Array:
    """`fixed_potential` of checked arguments, (m,)."""
    if isinstance(loss, ExponentialLoss):
        with np.errstate(over="ignore"):  # a potential beyond all numbers is infinite
            return np.exp(exponential_logs(t, b, S, loss.eta)).sum(axis=1)
    if isinstance(loss, ZeroOne):
        return zero_one_values(t, b, S, n_threads)
    return Layers(S, t, loss, symmetric=False).fold(lambda phi: phi @ b)[0]


def exponential_logs(t: int, b: Array, S: AnyArray, eta: float) -> Array:
    """log a_l^t e^{η(s_l − s_1)} of every rival, (m, K−1), with a_l = 1 − (b_1+b_l) + e^η b_l + e^{−η} b_1."""
    a = 1 - (b[0] + b[1:]) + np.exp(eta) * b[1:] + np.exp(-eta) * b[0]  # (K-1,)
    return t * np.log(a) + eta * (S[:, 1:] - S[:, :1])


def best_eta(T: int, b: Any) -> float:
    """The weight of a vote with which the exponential loss has the smallest bound after T rounds.

    It minimises φ_T(0) = Σ_l a_l^T, where a_l = 1 − (b_1+b_l) + e^η b_l + e^{−η} b_1 for every rival l. Each term alone
    is least at ½ ln(b_1/b_l). For the γ-biased uniform baseline this is ½ ln(1 + Kγ/(1−γ)) for any T, and the bound is
    (K−1)(1 − (√b_1 − √b_2)²)^T.

    Parameters
    ----------
    T : int
        The number of rounds.
    b : array of shape (K,)
        The baseline, a distribution whose first entry, the true class, is the largest; see `uniform_baseline`.

    Returns
    -------
    float
        η, at most 100; 0 where no rival is less probable than the true class.

    Examples
    --------
    With six classes, an edge of 0.1 and 200 rounds the bound is 0.39; with ln(1 + γ) it is 1.06.

    >>> from simplexboost.theory import uniform_baseline
    >>> b = uniform_baseline(6, 0.1)
    >>> round(best_eta(200, b), 4)
    0.2554
    >>> [round(fixed_potential(200, b, loss="exponential", eta=eta), 2) for eta in ("best", None)]
    [0.39, 1.06]
    """
    b = check_baseline(b)
    check_number("T", T, int, 1)
    with np.errstate(divide="ignore"):
        alone = np.minimum(0.5 * np.log(b[0] / b[1:]), LARGEST_ETA)  # (K-1,) the best for every rival
    low, high = float(alone.min()), float(alone.max())
    if low == high:
        return low
    from scipy.optimize import brentq  # not at the top: start-up time

    start = np.zeros((1, len(b)))

    def slope(eta: float) -> float:  # of the logarithm of the bound, which is convex in η; divided by T
        logs = exponential_logs(T, b, start, eta)[0]
        up, down = np.exp(eta) * b[1:], np.exp(-eta) * b[0]
        factors = 1 - (b[0] + b[1:]) + up + down
        return float(np.exp(logs - logs.max()) @ ((up - down) / factors))

    return float(brentq(slope, low, high, xtol=1e-12))


def kappa(edge: float, eta: float, K: int) -> float:
    """The factor by which a round lowers the exponential loss under the γ-biased uniform baseline.

    With η = ln(1+γ) it is at most e^{−γ²/2}; it is smallest with `best_eta`.

    Parameters
    ----------
    edge : float
        γ in [0, 1], the edge over guessing.
    eta : float
        η, the weight of a vote.
    K : int
        The number of classes.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> round(kappa(0.1, np.log(1.1), 6), 6), round(np.exp(-0.1**2 / 2), 6)
    (0.992273, np.float64(0.995012))
    """
    return float(1 + (1 - edge) / K * (np.exp(eta) + np.exp(-eta) - 2) - (1 - np.exp(-eta)) * edge)


def zero_one_values(t: int, b: Array, S: AnyArray, n_threads: int) -> Array:
    """The potentials (m,) by the dynamic programme, once for all states with the same leads of the rivals."""
    leads = S[:, 1:] - S[:, :1]
    leads = np.clip(leads, -t - 1, t)  # beyond these leads the result is certain
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


# ---- any cone -------------------------------------------------------------------------------------------------------


def game_potential(
    t: int, K: int, condition: Any, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> Any:
    """φ_t(s) of any condition (C, B) by (21): φ_t(s) = min_{c ∈ C₀} max_l { φ_{t−1}(s+e_l) − (c(l) − ⟨c, b⟩) }.

    It solves a small linear programme per state, so it is for few rounds and classes. For edge-over-random baselines
    `fixed_potential` gives the same quickly, and for MR `minimal_potential` does.

    Parameters
    ----------
    t : int
        The number of rounds to go.
    K : int
        The number of classes.
    condition : str, array of shape (K,) or Condition
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
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
    SAMME's condition is so weak that the bound on the error grows with the number of rounds.

    >>> [round(game_potential(t, 3, "samme", 0.1), 4) for t in (1, 3, 5)]
    [0.6, 0.648, 0.6826]
    """
    S, single, game_loss = check_game(t, K, edge, s, loss, eta)
    rule = as_condition(condition)
    b = rule.baseline(K, edge)
    if b.ndim != 1:
        raise ValueError("condition has a baseline row per example; pass the one of the example in question.")
    symmetric = game_loss.symmetric and bool((b[1:] == b[1]).all())
    layers = Layers(S, int(t), game_loss, symmetric=symmetric)
    values = layers.fold(lambda phi: np.array([solve_row(row, rule, b)[0] for row in phi]))[0]
    return float(values[0]) if single else values


def check_game(t: Any, K: Any, edge: Any, s: Any, loss: Any, eta: Any) -> tuple[AnyArray, bool, GameLoss]:
    """The states, whether there is one, and the loss."""
    check_number("t", t, int, 0)
    check_number("K", K, int, 2)
    check_number("edge", edge, float, 0.0, 1.0)
    return *as_states(s, int(K)), as_loss(loss, eta, edge)


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
