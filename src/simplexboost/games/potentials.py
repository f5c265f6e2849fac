"""Potentials: the loss that is still to be feared with t rounds to go, φ_0 = L and φ_t(s) from all φ_{t−1}(s + e_l).

A state s (K,) counts the votes that each class has got on an example, the true class first. With a fixed
edge-over-random baseline b a potential is the expected loss of a random walk, φ_t(s) = Σ_l b_l φ_{t−1}(s + e_l). It has
a closed form for the exponential loss, and is computed by a compiled dynamic programme for the zero-one loss, and by
the recursion for any other proper loss. For any cone there is the linear programme (21). The potentials of the minimal
condition are in ``minimal``. φ_T(0) bounds the training loss after T rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _kernels
from .._parts import check_number
from .._typing import AnyArray, Array
from .conditions import Condition, as_condition, check_baseline
from .losses import LARGEST_ETA, ExponentialLoss, GameLoss, ZeroOne, as_loss
from .states import Layers, as_states, unique_rows

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

    >>> from simplexboost.games import uniform_baseline
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

    >>> from simplexboost.games import uniform_baseline
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
