"""Weak-learning conditions (Mukherjee and Schapire, 2013): every cost matrix C of a cone has an h with C • 1_h ≤ C • B.

A condition is a cone of cost matrices, given by the generators of its rows, and a baseline B_γ that grows harder with
the edge γ; the true class comes first in every row. For a finite space the minimax theorem makes it a linear programme:

    the condition holds with edge γ  ⇔  some λ in the simplex has ⟨g, H_λ(i) − B_γ(i)⟩ ≤ 0 for all i and generators g,

with λ the certificate when it holds, and the dual solution, a cost matrix, when it fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._parts import check_choice, check_number
from .._typing import AnyArray, Array, Labels
from .spaces import Space, as_space, classes_in_place, true_first

# An edge below this is rounding error of the linear programme.
MIN_EDGE = 1e-8


class Condition(ABC):
    """A weak-learning condition (C, B).

    A new one writes ``generators`` and ``baseline``; rows have the true class first, the baseline is affine in γ.

    Examples
    --------
    >>> M1().generators(3)
    array([[-1.,  1.,  1.]])
    >>> M1().baseline(3, 0.5)
    array([0.5, 0. , 0. ])
    """

    name: ClassVar[str]
    admits: ClassVar[str] = ""  # the boosters it is enough for

    @abstractmethod
    def generators(self, K: int) -> Array:
        """The rays of the cone of cost rows, (g, K)."""

    @abstractmethod
    def baseline(self, K: int, edge: float) -> Array:
        """The baseline's row, (K,), or rows, (n, K); affine in the edge."""

    def allowed(self, C: Array, edge: float) -> Array:
        """What each row of costs C (n, K), true class first, may cost: ⟨C_i, B_i⟩, (n,)."""
        return (C * self.baseline(C.shape[1], edge)).sum(axis=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SAMME(Condition):
    """Less error than random guessing under any weights of examples; too weak for boosting."""

    name = "samme"
    admits = "SAMME (but it is not sufficient)"

    def generators(self, K: int) -> Array:
        """Every wrong label costs the same."""
        return np.array([[0.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
        """The γ-biased uniform distribution."""
        return uniform_baseline(K, edge)


class M1(Condition):
    """Error at most 1/2 − γ/2 under any weights of examples; too strong."""

    name = "m1"
    admits = "AdaBoost.M1"

    def generators(self, K: int) -> Array:
        """−1 for the true label, 1 for any other."""
        return np.array([[-1.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
        """γ on the true label."""
        return np.array([edge] + [0.0] * (K - 1))


class MH(Condition):
    """Error at most 1/2 − γ/2 on all questions "is it class l?"; the same as M1 for classifiers that name one class."""

    name = "mh"
    admits = "AdaBoost.MH"

    def generators(self, K: int) -> Array:
        """Costs ≥ 0 for wrong labels, ≤ 0 for the true one, apart."""
        return np.vstack([-np.eye(K)[0], np.eye(K)[1:]])

    def baseline(self, K: int, edge: float) -> Array:
        """½ ± γ/2."""
        return np.array([0.5 + edge / 2] + [0.5 - edge / 2] * (K - 1))


class MR(Condition):
    """An edge over every rival class, under any weights of (example, rival) pairs: boostable with margin γ."""

    name = "mr"
    admits = "AdaBoost.MR, AdaBoost.M2, AdaBoost.MM"

    def generators(self, K: int) -> Array:
        """A rival costs 1, the true label −1."""
        rivals = np.eye(K)[1:]
        rivals[:, 0] = -1.0
        return rivals

    def baseline(self, K: int, edge: float) -> Array:
        """±γ/2 (the paper's section 4.2 has ±γ, its section 3 this)."""
        return np.array([edge / 2] + [-edge / 2] * (K - 1))


@dataclass(frozen=True, eq=False)
class EdgeOverRandom(Condition):
    """Any edge-over-random baseline: cheaper than guessing by b, which has γ more on the true label than on any other.

    Parameters
    ----------
    b : array of shape (K,) or (n, K)
        Distributions with the true class first. They are taken apart as (1−γ) q + γ e₁, so that `largest_edge` can ask
        for the largest γ with the same q.
    """

    b: Any

    name: ClassVar[str] = "edge-over-random"
    admits: ClassVar[str] = "OSBoost with this baseline"

    def __post_init__(self) -> None:
        self.parts  # noqa: B018 (checks b)

    @cached_property
    def parts(self) -> tuple[Array, float]:
        """q and γ."""
        b = check_baseline(self.b, 2)
        edges = b[..., 0] - b[..., 1:].max(axis=-1)
        edge = float(edges.min())
        if np.ptp(edges) > 1e-9:
            raise ValueError(
                f"b has rows with edges from {edge:.4g} to {edges.max():.4g}; all must have the same edge."
            )
        if edge >= 1:
            return np.broadcast_to(np.eye(b.shape[-1])[0], b.shape), 1.0
        q = b / (1 - edge)
        q[..., 0] -= edge / (1 - edge)
        return q, edge

    def generators(self, K: int) -> Array:
        """Wrong labels cost at least what the true one costs; constants, which change nothing, are left out."""
        return np.eye(K)[1:]

    def baseline(self, K: int, edge: float) -> Array:
        """(1−γ) q + γ e₁."""
        q, _ = self.parts
        if q.shape[-1] != K:
            raise ValueError(f"b has {q.shape[-1]} entries; with {K} classes it must have {K}.")
        return (1 - edge) * q + edge * np.eye(K)[0]

    def __repr__(self) -> str:
        return f"EdgeOverRandom(b={np.asarray(self.b).tolist()})"


class Uniform(Condition):
    """Cheaper than guessing by the γ-biased uniform distribution; sufficient, not necessary."""

    name = "uniform"
    admits = "OSBoost(condition='uniform')"

    def generators(self, K: int) -> Array:
        """Wrong labels cost at least what the true one costs."""
        return np.eye(K)[1:]

    def baseline(self, K: int, edge: float) -> Array:
        """The γ-biased uniform distribution."""
        return uniform_baseline(K, edge)


class Minimal(MR):
    """(13): cheaper than the dearest of all edge-over-random baselines; necessary and sufficient, like MR.

    It is no pair (C, B), since the baseline may change with C. A space has it with the same edges as MR: votes of
    margin γ are a baseline themselves, and on a cost matrix of MR's cone no such baseline costs more than MR allows.
    """

    name = "minimal"
    admits = "AdaBoost.MM, OSBoost(condition='minimal')"

    def allowed(self, C: Array, edge: float) -> Array:
        """max_B ⟨C_i, B_i⟩ = γ c₁ + (1−γ) max_a mean(c₁ and the a−1 largest other costs), (n,)."""
        return worst_baseline_cost(C, edge)[0]


def worst_baseline_cost(C: Array, edge: float) -> tuple[Array, Labels]:
    """The dearest edge-over-random baseline for each row of costs (m, K), true class first: its cost and its degree.

    The degree is the number of labels among which it guesses, 2 .. K; ties go to the larger one.
    """
    rivals = -np.sort(-C[:, 1:], axis=1)  # (m, K-1), dearest first
    means = (C[:, :1] + np.cumsum(rivals, axis=1)) / np.arange(2, C.shape[1] + 1)  # (m, K-1)
    best = means.shape[1] - 1 - means[:, ::-1].argmax(axis=1)
    return edge * C[:, 0] + (1 - edge) * means[np.arange(len(C)), best], best + 2


def uniform_baseline(K: int, edge: float) -> Array:
    """The γ-biased uniform distribution (K,): (1−γ)/K everywhere and γ more on the true class, which comes first.

    >>> uniform_baseline(4, 0.2)
    array([0.4, 0.2, 0.2, 0.2])
    """
    b = np.full(K, (1 - edge) / K)
    b[0] += edge
    return b


def check_baseline(b: Any, max_ndim: int = 1) -> Array:
    """``b`` as edge-over-random distribution(s), the true class first; raise where it is none."""
    b = np.array(b, dtype=np.float64)
    if not 1 <= b.ndim <= max_ndim or b.shape[-1] < 2:
        raise ValueError(f"b has shape {b.shape}; it must be a distribution over K >= 2 classes, the true class first.")
    if not (np.isfinite(b).all() and (b >= 0).all() and np.allclose(b.sum(axis=-1), 1, atol=1e-9)):
        raise ValueError(f"b={b.tolist()} must be a distribution: entries not negative, with sum 1.")
    if (b[..., 0] - b[..., 1:].max(axis=-1)).min() < -1e-12:
        raise ValueError(
            f"b={b.tolist()} has no edge over random: its first entry, the true class, must be the largest."
        )
    return b


CONDITIONS: dict[str, type[Condition]] = {
    "samme": SAMME,
    "m1": M1,
    "mh": MH,
    "mr": MR,
    "uniform": Uniform,
    "minimal": Minimal,
}


def as_condition(value: Any) -> Condition:
    """A condition from its name, from itself, or from an edge-over-random baseline b.

    Examples
    --------
    >>> as_condition("mr"), as_condition([0.5, 0.25, 0.25])
    (MR(), EdgeOverRandom(b=[0.5, 0.25, 0.25]))
    """
    if isinstance(value, Condition):
        return value
    if isinstance(value, str):
        check_choice("condition", value, CONDITIONS)
        return CONDITIONS[value]()
    return EdgeOverRandom(value)


# ---- the linear programme -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solution:
    """The largest edge of a condition on a space, and what proves it.

    Attributes
    ----------
    edge : the largest γ; −inf where the condition holds with none
    weights : (m,) λ ≥ 0 with sum 1, whose votes meet the condition with that edge; None where edge is −inf
    costs : (n, K) a cost matrix of the cone on which no classifier beats the baseline of any larger edge
    """

    edge: float
    weights: Array | None
    costs: Array


def solve(space: Space, condition: Condition) -> Solution:
    """The largest edge, with both certificates: max γ such that ⟨g, H_λ(i)⟩ ≤ ⟨g, B_γ(i)⟩ for all i and g."""
    at_zero, slope = right_sides(space, condition)  # (n, g) each
    solved = maximise(space, condition.generators(space.K), at_zero, slope)
    if solved is None:  # a wrong label that the baseline never says is said by all
        value, costs = game_value(space, condition, 0.0)
        assert value > 0
        return Solution(-np.inf, None, costs)
    z, weights, duals = solved
    return Solution(z, weights, as_costs(duals, space, condition))


def game_value(space: Space, condition: Condition, edge: float) -> tuple[float, Array]:
    """max over C of the cone of min_h C • (1_h − B_γ), with the C that attains it; its rays have coefficients of sum 1.

    The condition holds with this edge where the value is not positive.
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


FEW_ROWS = 5000  # so many constraints are handed to the solver at once; of more, those that turn out to matter
ROWS_A_TIME = 1000
TOLERANCE = 1e-9


def maximise(
    space: Space, generators: Array, right: Array, slope: Array, limit: float | None = 1.0
) -> tuple[float, Array, Array] | None:
    """max z such that some λ in the simplex has ⟨g, H_λ(i)⟩ + z · slope ≤ right for all (i, g); None if there is no λ.

    Constraints are added as they are violated: a few thousand of n·g matter. Returns z, λ (m,) and duals (n, g) ≥ 0.
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


# ---- questions ------------------------------------------------------------------------------------------------------


def largest_edge(H: Any, y: Any = None, condition: Any = "mr", *, X: Any = None, classes: Any = None) -> float:
    """The largest γ with which a space of weak classifiers meets a condition.

    Parameters
    ----------
    H, y, X, classes : the space, see `as_space`
    condition : {"samme", "m1", "mh", "mr", "uniform", "minimal"}, a baseline b, or a `Condition`

    Returns
    -------
    float
        Not positive where the condition fails, −inf where no edge will do.

    Examples
    --------
    SAMME's condition holds for two constant classifiers; MR's, and with it boosting, has no chance.

    >>> H, y = [[0, 1], [0, 1]], [0, 1]
    >>> round(largest_edge(H, y, "samme", classes=3), 9), round(largest_edge(H, y, "mr", classes=3), 9) + 0.0
    (0.25, 0.0)
    """
    return solve(as_space(H, y, X, classes), as_condition(condition)).edge


def best_margin(H: Any, y: Any = None, *, X: Any = None, classes: Any = None) -> float:
    """The largest margin min_i (votes for the true class − votes for its strongest rival) of any weighted vote.

    It is the largest edge of MR and of the minimal condition.

    Examples
    --------
    >>> round(best_margin([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [0, 1, 1]), 9)  # three classifiers, each wrong once
    0.333333333
    """
    return largest_edge(H, y, "mr", X=X, classes=classes)


def is_boostable(H: Any, y: Any = None, *, X: Any = None, classes: Any = None) -> bool:
    """Whether some weighted vote of the weak classifiers is right on every example, without ties.

    Examples
    --------
    >>> is_boostable([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [0, 1, 1])
    True
    """
    return best_margin(H, y, X=X, classes=classes) > MIN_EDGE


def separating_weights(
    H: Any, y: Any = None, condition: Any = "mr", edge: float | None = None, *, X: Any = None, classes: Any = None
) -> Array | None:
    """The proof that a condition holds: weights λ (m,) whose votes beat the baseline on every example and generator.

    Parameters
    ----------
    H, y, X, classes : the space, see `as_space`
    condition : as in `largest_edge`
    edge : float or None
        None is the largest edge, whatever its sign.

    Returns
    -------
    (m,) weights, not negative, of sum 1; None where the condition fails with this edge

    Examples
    --------
    >>> separating_weights([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [0, 1, 1]).round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    check_edge(edge)
    solution = solve(as_space(H, y, X, classes), as_condition(condition))
    return solution.weights if edge is None or edge <= solution.edge + TOLERANCE else None


def violating_cost_matrix(
    H: Any, y: Any = None, condition: Any = "mr", edge: float | None = None, *, X: Any = None, classes: Any = None
) -> Array | None:
    """The proof that a condition fails: a cost matrix on which every classifier costs more than the baseline.

    Parameters
    ----------
    H, y, X, classes : the space, see `as_space`
    condition : as in `largest_edge`
    edge : float or None
        None is any edge larger than the largest one.

    Returns
    -------
    (n, K) costs, a column per class, the largest of size 1; None where the condition holds with this edge

    Examples
    --------
    >>> violating_cost_matrix([[0, 1], [0, 1]], [0, 1], "mr", edge=0.1, classes=3)
    array([[-1.,  1.,  0.],
           [ 1., -1.,  0.]])
    """
    check_edge(edge)
    solution = solve(as_space(H, y, X, classes), as_condition(condition))
    return solution.costs if edge is None or edge > solution.edge + TOLERANCE else None


def violation(costs: Any, H: Any, y: Any = None, condition: Any = "mr", edge: float = 0.0, **space: Any) -> Array:
    """By how much each classifier exceeds what the condition allows on a cost matrix (n, K): C • 1_h − C • B, (m,).

    All positive: the cost matrix proves that the condition fails.

    Examples
    --------
    >>> violation([[-1, 1, 0], [1, -1, 0]], [[0, 1], [0, 1]], [0, 1], "uniform", 0.1, classes=3)
    array([0.2, 0.2])
    """
    where = as_space(H, y, **space)
    C = true_first(np.asarray(costs, dtype=np.float64), where.c)
    return np.take_along_axis(C, where.ranks, axis=1).sum(axis=0) - as_condition(condition).allowed(C, edge).sum()


def check_edge(edge: float | None) -> None:
    """Raise unless the edge is None or in [0, 1]."""
    check_number("edge", edge, float, 0.0, 1.0, none=True)


# ---- diagnosis ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Which conditions a space meets, and with which edges.

    Attributes
    ----------
    space : Space
    solutions : dict of name → Solution: edge, weights and costs
    """

    space: Space
    solutions: dict[str, Solution]

    @property
    def margin(self) -> float:
        """The largest margin of any weighted vote."""
        return self.solutions["mr"].edge

    @property
    def boostable(self) -> bool:
        """Whether some weighted vote is right everywhere."""
        return self.margin > MIN_EDGE

    def met(self, name: str) -> bool:
        """Whether a condition holds with a positive edge."""
        return self.solutions[name].edge > MIN_EDGE

    def __repr__(self) -> str:
        return f"<Diagnosis: {'boostable' if self.boostable else 'not boostable'}, best margin {self.margin:.4f}>"

    def __str__(self) -> str:
        n, m = self.space.H.shape
        lines = [
            f"{n} examples, {m} weak classifiers, {self.space.K} classes: "
            + (f"boostable, best margin {self.margin:.4f}" if self.boostable else "not boostable"),
            "",
            "condition   holds   largest edge   enough for",
        ]
        for name, solution in self.solutions.items():
            edge = f"{solution.edge + 0.0:.4f}" if abs(solution.edge) > MIN_EDGE else "0.0000"
            admits = CONDITIONS[name].admits if self.met(name) else "-"
            lines.append(f"{name:11} {'yes' if self.met(name) else 'no':5}   {edge:>12}   {admits}")
        return "\n".join(lines)


def diagnose(H: Any, y: Any = None, *, X: Any = None, classes: Any = None, show: bool = True) -> Diagnosis:
    """Print which weak-learning conditions a space of weak classifiers meets, and which boosters that is enough for.

    Parameters
    ----------
    H, y, X, classes : the space, see `as_space`
    show : bool, default=True
        Whether to print the table; it is the text of what is returned.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> diagnosis = diagnose([[0, 1], [0, 1]], [0, 1], classes=3)
    2 examples, 2 weak classifiers, 3 classes: not boostable
    <BLANKLINE>
    condition   holds   largest edge   enough for
    samme       yes           0.2500   SAMME (but it is not sufficient)
    m1          no            0.0000   -
    mh          no            0.0000   -
    mr          no            0.0000   -
    uniform     no           -0.5000   -
    minimal     no            0.0000   -
    """
    space = as_space(H, y, X, classes)
    solutions = {name: solve(space, kind()) for name, kind in CONDITIONS.items() if name != "minimal"}
    solutions["minimal"] = solutions["mr"]  # the same programme
    diagnosis = Diagnosis(space, solutions)
    if show:
        print(diagnosis)
    return diagnosis
