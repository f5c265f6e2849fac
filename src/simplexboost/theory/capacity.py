"""Search for codewords of the largest margin capacity (Saberian and Vasconcelos, (65)), by repeated linear programmes.

The capacity is ``min_k max_{‖v_k‖=1} min_{l≠k} ½ <y_k - y_l, v_k>``, with the codeword y_k and a unit vector v_k of
every class k. A step moves all y_k and v_k together, so as to maximise the linearised capacity in a box; the box grows
or shrinks with the gain of the step. The search is local, so that the best of several starts is taken.
"""

from __future__ import annotations

import numpy as np

from .._util.arrays import Array
from .._util.docstrings import described
from ..parts.codewords.base import RandomState, Simplex, check_classes, check_dim
from ..parts.codewords.measures import margin_capacity
from ..parts.codewords.packing import MaxMin, retract

STARTS = 6  # random ones
STEPS = 80
MOST = 200  # the largest K * d: a start takes 0.2 s at K * d = 21, 5 s at 100


@described
def max_capacity(K: int, d: int, centered: bool = True, random_state: RandomState = 0) -> Array:
    """Return K unit codewords (K, d) in d < K−1 dimensions with the largest margin capacity that a local search finds.

    The simplex, the best of all codes, needs K−1 dimensions. With fewer dimensions, the code of largest capacity and
    the code of largest distances (`MaxMin`) can differ. The search starts from the max-min code and from random codes.

    Parameters
    ----------
    K : int
        The number of classes, at least 2.
    d : int
        Code dimension; 1 is enough only for K = 2. ``K * d`` is at most 200.
    centered : bool
        Whether the codewords must sum to zero, as in Saberian and Vasconcelos (55).

    Examples
    --------
    >>> from simplexboost.parts.codewords import margin_capacity
    >>> round(margin_capacity(max_capacity(5, 2)), 4), round(float(np.sin(np.pi / 5) ** 2), 4)  # the pentagon
    (0.3455, 0.3455)
    """
    K, d = check_classes(K), check_dim(d, "d")
    if d == 1 and K > 2:
        raise ValueError(f"d=1 holds two unit codewords, not K={K}; choose d >= 2.")
    if d + 1 >= K:
        return Simplex(d).matrix(K)
    if K * d > MOST:
        raise ValueError(f"K={K} codewords of d={d} dimensions are too many to search: accepted is K * d <= {MOST}.")
    rng = np.random.default_rng(random_state)
    starts = [MaxMin(d, centered=centered).matrix(K, rng), *rng.standard_normal((STARTS, K, d))]
    found = [climb(retract(Y[None], centered)[0], centered) for Y in starts]
    return max(found, key=margin_capacity)


def climb(Y: Array, centered: bool) -> Array:
    """Return codewords (K, d) that are a local optimum of the margin capacity near the codewords Y."""
    V = Y - (Y.sum(axis=0) - Y) / (len(Y) - 1)  # (K, d), away from the mean of the other codewords
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    radius, least = 0.1, smallest_gap(Y, V)
    for _ in range(STEPS):
        dY, dV, linearised = linear_step(Y, V, radius, centered)
        promised = linearised - least
        if promised < 1e-12 or radius < 1e-9:
            break
        moved = retract((Y + dY)[None], centered)[0]
        turned = V + dV
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        gain = smallest_gap(moved, turned) - least
        if gain > 0:
            Y, V, least = moved, turned, least + gain
        radius = min(2 * radius, 0.3) if gain > 0.5 * promised else 0.25 * radius
    return Y


def smallest_gap(Y: Array, V: Array) -> float:
    """Return the smallest ½ <y_k - y_l, v_k> over pairs of distinct classes k, l; y_k and v_k are rows of Y and V."""
    products = V @ Y.T  # (K, K): <v_k, y_l>
    gaps = np.diag(products)[:, None] - products
    np.fill_diagonal(gaps, np.inf)
    return 0.5 * float(gaps.min())


def linear_step(Y: Array, V: Array, radius: float, centered: bool) -> tuple[Array, Array, float]:
    """Return the changes (within ±radius) of Y and V with the largest linearised margin capacity, and this capacity."""
    from scipy.optimize import linprog  # not at the top: start-up time

    K, d = Y.shape
    first, second = np.nonzero(~np.eye(K, dtype=np.bool_))  # all pairs k, l
    pairs = np.arange(len(first))
    A = np.zeros((len(first), 2, K, d))  # derivatives in Y and in V
    A[pairs, 0, first] -= 0.5 * V[first]
    A[pairs, 0, second] += 0.5 * V[first]
    A[pairs, 1, first] -= 0.5 * (Y[first] - Y[second])
    slack = 0.5 * ((Y[first] - Y[second]) * V[first]).sum(axis=1)
    keep = np.zeros((2 * K, 2, K, d))  # <dy_k, y_k> = 0 and <dv_k, v_k> = 0
    keep[np.arange(K), 0, np.arange(K)] = Y
    keep[K + np.arange(K), 1, np.arange(K)] = V
    rows = [keep.reshape(2 * K, -1)]
    if centered:
        total = np.zeros((d, 2, K, d))
        total[np.arange(d), 0, :, np.arange(d)] = 1.0
        rows.append(total.reshape(d, -1))
    equal = np.vstack(rows)
    solution = linprog(
        np.append(np.zeros(2 * K * d), -1.0),
        A_ub=np.column_stack([A.reshape(len(first), -1), np.ones(len(first))]),
        b_ub=slack,
        A_eq=np.column_stack([equal, np.zeros(len(equal))]),
        b_eq=np.zeros(len(equal)),
        bounds=[(-radius, radius)] * (2 * K * d) + [(None, None)],
    )
    if solution.x is None:  # the box is below the tolerance of the solver
        return np.zeros_like(Y), np.zeros_like(V), -np.inf
    moves = solution.x[:-1].reshape(2, K, d)
    return moves[0], moves[1], float(solution.x[-1])
