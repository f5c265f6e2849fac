"""Whether a finite space of classifiers meets a condition: by the minimax theorem a linear programme,

    the condition holds with edge γ  ⇔  some λ in the simplex has ⟨g, H_λ(i) − B_γ(i)⟩ ≤ 0 for all i and generators g,

with λ the certificate when it holds, and the dual solution, a cost matrix, when it fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, Array, Labels
from .conditions import Condition
from .spaces import Space, classes_in_place

# An edge below this is rounding error of the linear programme.
MIN_EDGE = 1e-8
TOLERANCE = 1e-9
FEW_ROWS = 5000  # up to this many constraints go to the solver at once; beyond, they are added as they are violated
ROWS_A_TIME = 1000


@dataclass(frozen=True, eq=False)
class Solution:
    """The largest edge of a condition on a space, and what proves it.

    Attributes
    ----------
    edge : float
        The largest γ; −inf where the condition holds with none.
    weights : array of shape (m,), or None
        λ ≥ 0 with sum 1, whose votes meet the condition with that edge; None where the edge is −inf.
    costs : array of shape (n, K)
        A cost matrix of the cone on which no classifier beats the baseline of any larger edge.

    Examples
    --------
    >>> from simplexboost.games import diagnose, example
    >>> solution = diagnose(example("windows"), show=False).solutions["mr"]
    >>> round(solution.edge, 6), round(float(solution.weights.sum()), 6)
    (0.166667, 1.0)
    """

    edge: float
    weights: Array | None
    costs: Array


def solve(space: Space, condition: Condition) -> Solution:
    """The largest edge, with both certificates: max γ such that ⟨g, H_λ(i)⟩ ≤ ⟨g, B_γ(i)⟩ for all i and g."""
    at_zero, slope = right_sides(space, condition)  # (n, g) each
    solved = maximise(space, condition.generators(space.K), at_zero, slope)
    if solved is None:  # all classifiers say a wrong label that the baseline never says
        value, costs = game_value(space, condition, 0.0)
        assert value > 0
        return Solution(-np.inf, None, costs)
    z, weights, duals = solved
    return Solution(z, weights, as_costs(duals, space, condition))


def game_value(space: Space, condition: Condition, edge: float) -> tuple[float, Array]:
    """The maximum over C in the cone of min_h C • (1_h − B_γ), and the C that attains it; its coefficients sum to 1.

    The condition holds with this edge where the value is not positive.

    Parameters
    ----------
    space : Space
        The weak classifiers.
    condition : Condition
        The condition, whose cone and baseline are meant.
    edge : float
        γ, the edge of the baseline.

    Returns
    -------
    value : float
        The value of the game.
    costs : array of shape (n, K)
        The cost matrix that attains it.

    Examples
    --------
    >>> from simplexboost.games import MR, example
    >>> value, costs = game_value(example("windows"), MR(), edge=0.1)
    >>> bool(value <= 0), costs.shape
    (True, (12, 3))
    """
    generators = condition.generators(space.K)
    B = np.broadcast_to(condition.baseline(space.K, edge), (len(space.c), space.K))
    right = B @ generators.T  # (n, g)
    solved = maximise(space, generators, right, np.ones_like(right), limit=None)
    assert solved is not None
    return -solved[0], as_costs(solved[2], space, condition)


def right_sides(space: Space, condition: Condition) -> tuple[Array, Array]:
    """⟨g, B_γ(i)⟩ = at_zero − γ · slope for every example and generator, (n, g) each."""
    shape, generators = (len(space.c), space.K), condition.generators(space.K)
    zero, one = (np.broadcast_to(condition.baseline(space.K, edge), shape) @ generators.T for edge in (0.0, 1.0))
    return zero, zero - one


def as_costs(duals: Array, space: Space, condition: Condition) -> Array:
    """Coefficients of the generators (n, g) → a cost matrix (n, K), the largest entry of size 1."""
    C = duals @ condition.generators(space.K)
    largest = np.abs(C).max()
    return classes_in_place(C / largest if largest > 0 else C, space.c)


def maximise(
    space: Space, generators: Array, right: Array, slope: Array, limit: float | None = 1.0
) -> tuple[float, Array, Array] | None:
    """max z such that some λ in the simplex has ⟨g, H_λ(i)⟩ + z · slope ≤ right for all (i, g); None if there is no λ.

    Constraints are added as they are violated, since only a few thousand of the n·g matter. Returns z, λ (m,) and the
    dual variables (n, g) ≥ 0.
    """
    n, g = right.shape
    distinct = distinct_rows(space, right, slope)
    ranks = space.ranks[distinct].astype(np.int16)
    right, slope = right[distinct], slope[distinct]
    m = ranks.shape[1]
    uniform_votes = np.stack([(ranks == k).mean(axis=1) for k in range(space.K)], axis=1)  # (n, K)
    excess = uniform_votes @ generators.T - right
    rows = worst(excess, FEW_ROWS if excess.size <= FEW_ROWS else ROWS_A_TIME)
    while True:
        solved = linear_programme(ranks, generators, right, slope, rows, limit)
        if solved is None:
            return None
        z, weights, marginals = solved
        H_lambda = np.stack([(ranks == k) @ weights for k in range(space.K)], axis=1)  # (n, K)
        excess = H_lambda @ generators.T + z * slope - right
        excess.ravel()[rows] = -np.inf
        more = worst(excess, ROWS_A_TIME)
        more = more[excess.ravel()[more] > TOLERANCE]
        if not len(more):
            break
        rows = np.concatenate([rows, more])
    duals = np.zeros((n, g))
    duals.reshape(-1)[distinct[rows // g] * g + rows % g] = marginals
    return z, weights / weights.sum() if m else weights, duals


def distinct_rows(space: Space, right: Array, slope: Array) -> Labels:
    """The first example of each kind: same class, same predictions, same right sides."""
    same = np.column_stack([space.ranks.astype(np.float64), right, slope])
    return np.sort(np.unique(same, axis=0, return_index=True)[1])


def worst(excess: Array, count: int) -> Labels:
    """Flat positions of the largest entries, ascending."""
    flat = excess.ravel()
    if flat.size <= count:
        return np.arange(flat.size)
    return np.sort(np.argpartition(-flat, count)[:count])


def linear_programme(
    ranks: AnyArray, generators: Array, right: Array, slope: Array, rows: Labels, limit: float | None
) -> tuple[float, Array, Array] | None:
    """The programme of `maximise` on some of its constraints."""
    from scipy.optimize import linprog  # not at the top: start-up time
    from scipy.sparse import csr_matrix

    g, m = len(generators), ranks.shape[1]
    A = generators[rows % g][np.arange(len(rows))[:, None], ranks[rows // g]]  # (rows, m)
    A = csr_matrix(np.column_stack([A, slope.ravel()[rows]]))
    objective = np.zeros(m + 1)
    objective[-1] = -1.0
    total = csr_matrix(np.append(np.ones(m), 0.0)[None])
    bounds = [(0, None)] * m + [(None, limit)]
    result = linprog(objective, A, right.ravel()[rows], total, [1.0], bounds, method="highs")
    if result.status == 2:
        return None
    if result.status != 0:
        raise RuntimeError(f"the linear programme of {A.shape[0]} x {m} could not be solved: {result.message}")
    weights = np.maximum(result.x[:-1], 0.0)
    return float(result.x[-1]), weights, np.maximum(-result.ineqlin.marginals, 0.0)
