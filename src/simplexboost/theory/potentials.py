"""Potentials of boosting games: the largest expected loss that a weak learner can still force with t rounds to go.

A state s (K,) counts the votes for each class on an example, the true class first; s + e_k has one more vote for class
k. The potential φ_0 is the loss L(s), and φ_t follows from φ_{t−1}. The loss is proper if it falls with votes for the
true class and rises with votes for any other class. φ_T(0) bounds the training loss after T rounds.

With a fixed baseline distribution b the potential is the expected loss of a random walk, φ_t(s) = Σ_k b_k
φ_{t−1}(s+e_k). It is computed in closed form for the exponential loss, by a compiled dynamic programme for the zero-one
loss, by recursion over the states for any other loss. For any cone of cost matrices there is the linear programme (21).
Under the minimal condition with edge γ, the walk takes the worst baseline in every state,

    φ_t(s) = max_{2≤a≤K} [ γ φ_{t−1}(s+e_1) + (1−γ) mean(φ_{t−1}(s+e_1), a−1 largest φ_{t−1}(s+e_k)) ],

where the degree a is the number of classes among which the baseline guesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any, NoReturn

import numpy as np

from .. import _kernels
from .._util.arrays import AnyArray, Array, Labels
from .._util.compat import cached
from .._util.docstrings import described
from .._util.params import check_choice, check_number
from .conditions import Condition, check_baseline, uniform_baseline, worst_baseline_cost


@dataclass(frozen=True)
class ZeroOne:
    """The zero-one loss of votes: 1 unless the true class has more votes than any other class, so that ties are errors.

    Examples
    --------
    >>> ZeroOne()(np.array([[2, 1, 0], [1, 1, 0]]))
    array([0., 1.])
    """

    symmetric = True  # symmetric in the wrong classes, and only leads over the true class matter

    def __call__(self, S: AnyArray) -> Array:
        S = np.asarray(S)
        return (S[..., 0] <= S[..., 1:].max(axis=-1)).astype(np.float64)

    def discrepancy(self, K: int, T: int) -> float:
        """Return the largest difference between the losses of two states of votes after T rounds."""
        return 1.0


@dataclass(frozen=True)
class ExponentialLoss:
    """The exponential loss Σ_{k>1} e^{η(s_k − s_1)} of votes s (K,), the true class first; at least the zero-one loss.

    Parameters
    ----------
    eta : float
        η, the weight of a vote.

    Examples
    --------
    >>> ExponentialLoss(np.log(2))(np.array([[2, 1, 0]]))
    array([0.75])
    """

    eta: float
    symmetric = True

    def __call__(self, S: AnyArray) -> Array:
        S = np.asarray(S)
        return np.exp(self.eta * (S[..., 1:] - S[..., :1])).sum(axis=-1)

    def discrepancy(self, K: int, T: int) -> float:
        """Return the largest difference between the losses of two states of votes after T rounds."""
        # In one state a wrong class has all votes, in the other the true class.
        return float((K - 2) + np.exp(self.eta * T) - (K - 1) * np.exp(-self.eta * T))


@dataclass(frozen=True, eq=False)
class UserLoss:
    """A loss given by the user: a function of votes (states, K), true class first, that returns losses (states,)."""

    function: Callable[[AnyArray], Any]
    symmetric = False  # it may be, but that is not known

    def __call__(self, S: AnyArray) -> Array:
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


def as_loss(loss: Any, eta: Any, edge: float, T: int = 1, b: Array | None = None) -> GameLoss:
    """Return the loss for "zero-one", "exponential" or a user's function; eta="best" needs the baseline ``b`` (K,)."""
    if isinstance(loss, ZeroOne | ExponentialLoss | UserLoss):
        return loss
    named = loss if isinstance(loss, str) else None
    if named == "exponential":
        if isinstance(eta, str):
            check_choice("eta", eta, ("best",))
            if b is None:
                raise ValueError(
                    "eta='best' needs a fixed baseline (condition='uniform', or a distribution); pass a number."
                )
            if (value := best_eta(max(T, 1), b)) <= 0:
                raise ValueError("eta='best' is 0 with this baseline, which has no edge; pass a positive eta.")
            return ExponentialLoss(value)
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


def check_proper(loss: GameLoss, S: AnyArray) -> None:
    """Raise ValueError if from a state in S a vote for the true class raises the loss, or any other vote lowers it."""
    if not isinstance(loss, UserLoss):
        return
    before = loss(S)
    for label in range(S.shape[1]):
        step = loss(S + np.eye(S.shape[1], dtype=S.dtype)[label]) - before
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
    """Return the votes `s` as an integer array (states, K), and whether `s` is a single state; None means no votes."""
    if s is None:
        return np.zeros((1, K), dtype=np.int64), True
    S = np.asarray(s)
    if S.ndim not in (1, 2) or S.shape[-1] != K:
        raise ValueError(f"s has shape {S.shape}; with {K} classes states have shape ({K},) or (m, {K}).")
    if S.dtype.kind not in "iuf" or not (np.isfinite(S).all() and (S == np.round(S)).all()):
        raise ValueError("s must hold whole numbers: the votes for each class, the true class first.")
    return np.atleast_2d(S).astype(np.int64), S.ndim == 1


def after_each_vote(S: AnyArray) -> AnyArray:
    """Return the states after one more vote for each class, (m K, K), for the m states of votes S (m, K)."""
    return (S[:, None, :] + np.eye(S.shape[1], dtype=np.int64)).reshape(-1, S.shape[1])


def row_keys(S: AnyArray) -> AnyArray:
    return (S.astype(np.int64).view(np.uint64) * np.resize(MIXERS, S.shape[1])).sum(axis=1, dtype=np.uint64)


def unique_rows(S: AnyArray) -> tuple[AnyArray, Labels]:
    """Return the distinct rows of S, and for every row of S its index among the distinct rows."""
    S = np.ascontiguousarray(S, dtype=np.int64)
    _, first, back = np.unique(row_keys(S), return_index=True, return_inverse=True)
    if not (S[first][back] == S).all():
        distinct, back = np.unique(S, axis=0, return_inverse=True)
        return distinct, back.reshape(-1)
    return S[first], back


class Layers:
    """The states of votes that 0 .. t further votes can reach from the states S, a layer per number of further votes.

    Equivalent states are merged: states with equal leads over the true class if only leads matter, and states that
    differ in the order of the wrong classes if the loss is symmetric in these classes.
    """

    def __init__(self, S: AnyArray, t: int, loss: GameLoss, symmetric: bool) -> None:
        self.loss, self.relative, self.symmetric = loss, not isinstance(loss, UserLoss), symmetric
        K = S.shape[1]
        exact = count_states(K, t) if symmetric and not S.any() else None
        if exact is not None and exact > MAX_STATES:
            refuse_states(K, t, f"{exact:,}")
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
                refuse_states(K, t, f"more than {MAX_STATES:,} and up to {most:,}")

    def canonical(self, S: AnyArray) -> AnyArray:
        """Return for every state of S the state that represents all equivalent states."""
        if self.relative:
            S = S - S[:, :1]
        if self.symmetric:
            S = np.column_stack([S[:, :1], -np.sort(-S[:, 1:], axis=1)])
        return S

    def fold(self, combine: Callable[[Array], Array]) -> list[Array]:
        """Return the potentials of the states of every layer, from layer 0, with the states S, to layer t.

        ``combine`` computes the potentials (m,) of m states from the potentials (m, K) after each possible vote.
        """
        values = [self.loss(self.states[-1])]
        for children in reversed(self.children):
            values.append(combine(values[-1][children]))
        values.reverse()
        values[0] = values[0][self.back]
        return values


@described
def count_states(K: int, t: int) -> int:
    """Return the number of states of votes after 0 .. t rounds, not counting different orders of the wrong classes.

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


def refuse_states(K: int, t: int, states: str) -> NoReturn:
    raise ValueError(
        f"the recursion for K={K} classes and {t} rounds needs {states} states, at most {MAX_STATES:,} are kept. Use "
        "fewer rounds, a fixed baseline (condition='uniform'), or the exponential loss with a small eta (Lemma 19)."
    )


def fixed_values(t: int, b: Array, S: AnyArray, loss: GameLoss, n_threads: int = 1) -> Array:
    """Return the potentials (m,) of m states of votes S (m, K), t rounds to go, for a baseline distribution b."""
    if isinstance(loss, ExponentialLoss):
        with np.errstate(over="ignore"):  # a potential beyond all numbers is infinite
            return np.exp(exponential_logs(t, b, S, loss.eta)).sum(axis=1)
    if isinstance(loss, ZeroOne):
        return zero_one_values(t, b, S, n_threads)
    return Layers(S, t, loss, symmetric=False).fold(lambda phi: phi @ b)[0]


def exponential_logs(t: int, b: Array, S: AnyArray, eta: float) -> Array:
    """Return the logarithms (m, K−1) of the K−1 terms of m states' potentials under the exponential loss."""
    a = 1 - (b[0] + b[1:]) + np.exp(eta) * b[1:] + np.exp(-eta) * b[0]  # (K-1,)
    return t * np.log(a) + eta * (S[:, 1:] - S[:, :1])


@described
def best_eta(T: int, b: Any) -> float:
    """Return the weight η of a vote with which the exponential loss has the smallest bound after T rounds.

    The bound is Σ_k a_k^T over the wrong classes k, where a_k = 1 − (b_1+b_k) + e^η b_k + e^{−η} b_1 for the baseline
    b. Each term alone is least at η = ½ ln(b_1/b_k). For the uniform baseline with edge γ, η is ½ ln(1 + Kγ/(1−γ)) for
    any T, and the bound is (K−1)(1 − (√b_1 − √b_2)²)^T. The result is at most 100, and 0 if no wrong class is less
    probable than the true one.

    Examples
    --------
    With six classes, an edge of 0.1 and 200 rounds the bound is 0.39; with ln(1 + γ) it is 1.06.

    >>> from simplexboost.theory import potential, uniform_baseline
    >>> b = uniform_baseline(6, 0.1)
    >>> round(best_eta(200, b), 4)
    0.2554
    >>> [round(potential(200, b, loss="exponential", eta=eta), 2) for eta in ("best", None)]
    [0.39, 1.06]
    """
    b = check_baseline(b)
    check_number("T", T, int, 1)
    with np.errstate(divide="ignore"):
        alone = np.minimum(0.5 * np.log(b[0] / b[1:]), LARGEST_ETA)  # (K-1,) the best for every wrong class
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


@described
def kappa(edge: float, eta: float, K: int) -> float:
    """Return the factor by which a round lowers the exponential loss under the uniform baseline with this edge.

    With eta = ln(1 + edge) the factor is at most exp(−edge²/2); it is smallest with `best_eta`.

    Parameters
    ----------
    eta : float
        The weight of a vote.

    Examples
    --------
    >>> round(kappa(0.1, np.log(1.1), 6), 6), round(np.exp(-0.1**2 / 2), 6)
    (0.992273, np.float64(0.995012))
    """
    return float(1 + (1 - edge) / K * (np.exp(eta) + np.exp(-eta) - 2) - (1 - np.exp(-eta)) * edge)


def zero_one_values(t: int, b: Array, S: AnyArray, n_threads: int) -> Array:
    """Return the potentials (m,) of m states S under the zero-one loss, computed once for states with equal leads."""
    leads = S[:, 1:] - S[:, :1]
    leads = np.clip(leads, -t - 1, t)  # beyond these leads the result is certain
    columns = np.argsort(b[1:], kind="stable")  # classes of equal probability are interchangeable
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


def solve_row(phi: Array, condition: Condition, b: Array) -> tuple[float, Array]:
    """Return the potential of a state and the optimal costs (K,), given the potentials phi (K,) after each vote."""
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


def minimal_values(t: int, S: AnyArray, edge: float, loss: GameLoss) -> Array:
    """Return the potentials (m,) of m states S (m, K) with t rounds to go under the minimal condition."""
    if degree_is_always_K(S, t, loss):
        return fixed_values(t, uniform_baseline(S.shape[1], edge), S, loss)
    return Layers(S, t, loss, symmetric=loss.symmetric).fold(lambda phi: worst_baseline_cost(phi, edge)[0])[0]


def degree_is_always_K(S: AnyArray, t: int, loss: GameLoss) -> bool:
    """Return whether the uniform baseline is the worst one in all states that at most t votes reach from the states S.

    This is so for an exponential loss of weight η with (K−1)(1 − e^{−η}) e^{2ηD} < 1, where D bounds the vote
    differences to the true class, by the proof of Lemma 19; the lemma's η ≤ ¼ min(1/(K−1), 1/T) is a special case.
    """
    if not isinstance(loss, ExponentialLoss):
        return False
    D = int(np.abs(S[:, 1:] - S[:, :1]).max()) + t
    return bool((S.shape[1] - 1) * -np.expm1(-loss.eta) * np.exp(min(2 * loss.eta * D, 700.0)) < 1)


@described
def best_fixed_potential(
    t: int, K: int, edge: float, s: Any = None, loss: Any = "zero-one", eta: float | None = None
) -> tuple[float, int]:
    """Return the largest potential over baselines that guess uniformly among 2 .. K classes, and this number.

    The paper assumes that guessing among all classes is the worst; with large edges or many classes it is not.

    Examples
    --------
    >>> from simplexboost.theory import potential
    >>> value, support = best_fixed_potential(6, 3, 0.4)
    >>> round(value, 4), support, round(potential(6, "uniform", 3, 0.4), 4)
    (0.2557, 2, 0.2483)
    """
    check_number("t", t, int, 0)
    check_number("K", K, int, 2)
    check_number("edge", edge, float, 0.0, 1.0)
    S, game_loss = as_states(s, int(K))[0], as_loss(loss, eta, edge)
    if len(S) > 1:
        raise ValueError(f"s has {len(S)} states; pass one.")
    supports = range(2, K + 1)
    bs = [np.append(uniform_baseline(a, edge), np.zeros(K - a)) for a in supports]
    values = [float(fixed_values(int(t), b, S, game_loss)[0]) for b in bs]
    best = int(np.argmax(values))
    return values[best], supports[best]


@described
def degree_map(
    t: int, edge: float, loss: Any = "zero-one", eta: float | None = None, radius: int | None = None
) -> Labels:
    """Return a map for three classes: among how many the hardest baseline of the minimal condition guesses.

    Rows and columns are the votes for the two wrong classes minus those for the true class, from −r to r, where r is
    ``radius`` or t. An entry is 3 or 2, or 0 where both are equally hard.

    Examples
    --------
    >>> degrees = degree_map(3, 0.0)
    >>> {degree: int((degrees == degree).sum()) for degree in (3, 2, 0)}
    {3: 32, 2: 4, 0: 13}
    """
    two, three = degree_values(t, edge, loss, eta, radius)
    tie = np.abs(two - three) <= 1e-12 * np.maximum(1.0, np.abs(three))
    return np.where(tie, 0, np.where(three > two, 3, 2))


@described
def potential_map(
    t: int, edge: float, loss: Any = "zero-one", eta: float | None = None, radius: int | None = None
) -> Array:
    """Return the potentials for three classes under the minimal condition, for the votes in the map of `degree_map`.

    Examples
    --------
    >>> potential_map(3, 0.0).shape
    (7, 7)
    """
    return np.maximum(*degree_values(t, edge, loss, eta, radius))


def degree_values(t: Any, edge: Any, loss: Any, eta: Any, radius: Any) -> tuple[Array, Array]:
    """Return two maps of potentials (see `degree_map`): if the next guess is among two classes, and if among three."""
    check_number("t", t, int, 1)
    check_number("radius", radius, int, 1, none=True)
    check_number("edge", edge, float, 0.0, 1.0)
    axis = np.arange(-(radius or t), (radius or t) + 1)
    u, v = np.meshgrid(axis, axis, indexing="ij")
    S = np.stack([np.zeros_like(u), u, v], axis=-1).reshape(-1, 3)
    phi = minimal_values(t - 1, after_each_vote(S), edge, as_loss(loss, eta, edge)).reshape(-1, 3)  # (m, 3)
    two = edge * phi[:, 0] + (1 - edge) * (phi[:, 0] + phi[:, 1:].max(axis=1)) / 2
    three = edge * phi[:, 0] + (1 - edge) * phi.mean(axis=1)
    return two.reshape(u.shape), three.reshape(u.shape)


class MinimalTable:
    """A table of the potentials of all states in a boosting game of T rounds under the minimal condition."""

    def __init__(self, K: int, edge: float, T: int, loss: GameLoss) -> None:
        start = np.zeros((1, K), dtype=np.int64)
        self.T, self.layers = T, Layers(start, T, loss, symmetric=loss.symmetric)
        self.values = self.layers.fold(lambda phi: worst_baseline_cost(phi, edge)[0])
        self.layers.children = []  # they are no longer needed, and take most of the memory

    @cached
    def keys(self) -> list[tuple[AnyArray, Labels]]:
        """For every layer, the hash keys of its states in ascending order, and the indices of these states."""
        keys = [row_keys(states) for states in self.layers.states]
        return [(key[order], order) for key in keys for order in [np.argsort(key)]]

    def potential(self, t: int, S: AnyArray) -> Array:
        """Return the potentials (m,) of m states S (m, K) that the game can reach with t rounds to go."""
        layer = self.T - t
        S = np.ascontiguousarray(self.layers.canonical(S))
        keys, order = self.keys[layer]
        at = order[np.minimum(np.searchsorted(keys, row_keys(S)), len(keys) - 1)]
        if not (self.layers.states[layer][at] == S).all():
            raise ValueError(f"s holds a state that {layer} votes cannot lead to.")
        return self.values[layer][at]
