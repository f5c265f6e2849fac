"""Finite spaces of weak classifiers, given by the labels that they predict on a training set, and linear programmes.

By the minimax theorem a linear programme decides whether a space meets a weak-learning condition with edge γ:

    the condition holds  ⇔  some weights λ of the classifiers have ⟨g, H_λ(i) − B_γ(i)⟩ ≤ 0 for all i and g.

H_λ(i) (K,) is the weighted vote on example i, B_γ(i) the baseline, g a generator of the cost cone. The weights λ prove
that the condition holds; the dual solution, a cost matrix, proves that it fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_choice, check_number
from ..tables.labels import known_label_numbers, merge_labels
from .conditions import Condition, as_condition


@dataclass(frozen=True, eq=False)
class Space:
    """A finite space of weak classifiers, given by their predictions on a training set.

    Attributes
    ----------
    H : array of shape (n, m)
        The class index, 0 .. K−1, that each of m weak classifiers predicts on each of n examples.
    c : array of shape (n,)
        The true class indices.
    K : int
        The number of classes.

    Examples
    --------
    >>> Space(np.array([[0, 1], [0, 1]]), np.array([0, 1]), 3)
    Space(2 examples, 2 weak classifiers, 3 classes)
    """

    H: Labels
    c: Labels
    K: int

    def __post_init__(self) -> None:
        n = len(self.c)
        if self.H.ndim != 2 or self.H.shape[0] != n or self.H.shape[1] < 1 or n < 1:
            raise ValueError(
                f"H has shape {self.H.shape} and y {self.c.shape}; H must have a row per example and a column per weak "
                "classifier, at least one of each."
            )
        if self.K < 2:
            raise ValueError(f"K={self.K} classes; a weak-learning condition needs at least 2.")
        for name, labels in (("H", self.H), ("y", self.c)):
            outside = labels[(labels < 0) | (labels >= self.K)]
            if outside.size:
                raise ValueError(
                    f"{name} holds label {outside[0]}; with {self.K} classes labels are 0 .. {self.K - 1}."
                )

    def __repr__(self) -> str:
        n, m = self.H.shape
        return f"Space({n} examples, {m} weak classifiers, {self.K} classes)"

    @property
    def ranks(self) -> Labels:
        """The predictions (n, m), renumbered in every row: 0 is the true class, 1 .. K−1 are the other classes."""
        c = self.c[:, None]
        return np.where(self.H == c, 0, self.H + (self.H < c))


def true_first(A: AnyArray, c: Labels) -> AnyArray:
    """Reorder the columns in every row of A (n, K): the true class first, then the other classes in ascending order."""
    return np.take_along_axis(A, class_order(c, A.shape[1]), axis=1)


def classes_in_place(A: AnyArray, c: Labels) -> AnyArray:
    """Reverse `true_first`: move the columns in every row of A (n, K) back to the order of the class indices."""
    out = np.empty_like(A)
    np.put_along_axis(out, class_order(c, A.shape[1]), A, axis=1)
    return out


def class_order(c: Labels, K: int) -> Labels:
    """Return class indices (n, K): in every row the true class, then the other classes in ascending order."""
    others = np.arange(K - 1)
    return np.column_stack([c, others + (others >= c[:, None])])


@described
def as_space(H: Any, y: Any = None, X: Any = None, classes: Any = None) -> Space:
    """Return a `Space` from a matrix of predicted labels, a list of fitted classifiers, or a fitted booster.

    Examples
    --------
    >>> as_space([["a", "b"], ["a", "b"]], ["a", "b"])
    Space(2 examples, 2 weak classifiers, 2 classes)
    """
    if isinstance(H, Space):
        return H
    if y is None:
        raise TypeError("y is missing; pass the true labels, (n,).")
    y = np.asarray(y)
    predicted = np.asarray(predict_labels(H, X))
    if isinstance(classes, int | np.integer):
        check_number("classes", classes, int, 2)
        for name, labels in (("H", predicted), ("y", y)):
            if labels.dtype.kind not in "iu":
                raise TypeError(f"{name} holds {labels.dtype} values; with classes={classes} labels must be integers.")
        return Space(predicted.astype(np.intp), y.astype(np.intp), int(classes))
    known = merge_labels({"H": predicted, "y": y}) if classes is None else np.unique(classes)
    numbers = known_label_numbers(predicted.ravel(), known, "H").reshape(predicted.shape)
    return Space(numbers, known_label_numbers(y, known, "y"), len(known))


def predict_labels(H: Any, X: Any) -> AnyArray:
    """Return the labels (n, m) that m classifiers or a booster's weak classifiers predict; return a matrix as is."""
    listed = isinstance(H, list | tuple) and len(H) > 0 and all(hasattr(h, "predict") for h in H)
    if not listed and not hasattr(H, "model_"):
        return np.asarray(H)
    if X is None:
        raise TypeError("X is missing; classifiers need it to predict, pass X (n, p), or H as a matrix of labels.")
    if listed:
        return np.column_stack([h.predict(X) for h in H])
    X, model = H._check_X(X), H.model_
    if any(term.coordinate is not None for term in model.terms):
        raise TypeError(
            f"{type(H).__name__} boosts one coordinate at a time; its weak learners name no class. Use a booster whose "
            "learners are classifiers, such as OSBoostClassifier."
        )
    votes = [(term.hypothesis.outputs(X) @ model.Y.T).argmax(axis=1) for term in model.terms]
    return np.asarray(H.classes_[H._present][np.column_stack(votes)])


def example(name: str, **settings: Any) -> Space:
    """Return a space of weak classifiers that is a counter-example of Mukherjee and Schapire (2013), with edge γ.

    - "samme", Figure 1: two examples of classes 0 and 1 out of three, and the two constant classifiers. For any sample
      weights one of them is better than random guessing among three classes, so SAMME's condition holds (γ ≤ 1/4). Yet
      no vote tells the examples apart.
    - "windows", Theorem 5: n classifiers, each right on a window of ⌊n(1/2 + γ/K)⌋ examples. Outside its window a
      classifier predicts one wrong class. The vote of all classifiers is right, so the space is boostable. But all
      wrong votes on an example go to one class, more than under the uniform baseline, so "uniform" fails.
    - "subsets", section 4.2.2: for every subset of ``size`` examples, K−1 classifiers that are right on this subset
      only. With size = ((1−γ)/K + γ) n a random classifier is the γ-biased uniform baseline itself, so "uniform" holds
      with edge γ. But each classifier is right on fewer than half of the examples, so the conditions of AdaBoost.M1 and
      MH fail.

    Parameters
    ----------
    name : {"samme", "windows", "subsets"}
        The counter-example.
    **settings : int or float
        ``K=3``, ``edge=0.3`` (γ) and ``n=12`` examples of "windows"; ``K=4``, ``n=6`` and ``size=2`` of "subsets".

    Examples
    --------
    >>> example("samme").H
    array([[0, 1],
           [0, 1]])
    >>> example("windows", n=10), example("subsets")
    (Space(10 examples, 10 weak classifiers, 3 classes), Space(6 examples, 45 weak classifiers, 4 classes))
    """
    check_choice("name", name, EXAMPLES)
    return EXAMPLES[name](**settings)


def make_windows(K: int = 3, edge: float = 0.3, n: int = 12) -> Space:
    check_number("K", K, int, 3)
    check_number("edge", edge, float, 0.0, 1.0, open_low=True)
    width = int(np.floor(n * (0.5 + edge / K) + 1e-9))
    if not n / 2 < width < n:
        raise ValueError(f"n={n} leaves no window between n/2 and n; it must exceed K/edge = {K / edge:.1f}.")
    c = np.arange(n) % K
    inside = (np.arange(n)[:, None] - np.arange(n)) % n < width  # (n, n): window j begins at example j
    return Space(np.where(inside, c[:, None], (c[:, None] + 1) % K), c, K)


def make_subsets(K: int = 4, n: int = 6, size: int = 2) -> Space:
    check_number("K", K, int, 3)
    check_number("size", size, int, 1, n)
    c = np.arange(n) % K
    columns = []
    for subset in combinations(range(n), size):
        right = np.isin(np.arange(n), subset)
        columns += [np.where(right, c, (c + shift) % K) for shift in range(1, K)]
    return Space(np.column_stack(columns), c, K)


EXAMPLES = {
    "samme": lambda: Space(np.array([[0, 1], [0, 1]]), np.array([0, 1]), 3),
    "windows": make_windows,
    "subsets": make_subsets,
}


MIN_EDGE = 1e-8  # smaller edges are rounding errors of the linear programme
TOLERANCE = 1e-9  # violations of constraints that are not counted
FEW_ROWS = 5000  # up to this many constraints go to the solver at once; beyond, they are added as they are violated
ROWS_A_TIME = 1000


@dataclass(frozen=True, eq=False)
class Solution:
    """The largest edge with which a space of weak classifiers meets a weak-learning condition, with its proofs.

    Attributes
    ----------
    edge : float
        The largest edge. It is not positive if the condition fails, and −inf if the condition fails for every edge.
    weights : array of shape (m,), or None
        Weights of the m weak classifiers, with sum 1. On every example their vote is as good as the baseline with this
        edge, which proves that the condition holds. None if the edge is −inf.
    costs : array of shape (n, K)
        A cost matrix of the condition's cone, scaled to a largest absolute entry of 1. On this matrix all classifiers
        cost more than the baseline with any larger edge, which proves that the condition fails with a larger edge.

    Examples
    --------
    >>> from simplexboost.theory import example
    >>> solution = solve_condition(example("windows"), condition="mr")
    >>> round(solution.edge, 6), solution.holds, round(float(solution.weights.sum()), 6)
    (0.166667, True, 1.0)
    """

    edge: float
    weights: Array | None
    costs: Array

    @property
    def holds(self) -> bool:
        """Whether the condition holds with a positive edge."""
        return self.edge > MIN_EDGE


@described
def solve_condition(H: Any, y: Any = None, condition: Any = "mr", *, X: Any = None, classes: Any = None) -> Solution:
    """Find the largest edge with which a space of weak classifiers meets a condition, by a linear programme.

    Under "mr" and "minimal" the edge is the largest margin of a weighted vote: votes for the true class minus the most
    votes for a wrong class, on the worst example. It is positive if and only if some vote is always right.

    Examples
    --------
    SAMME's condition holds for two constant classifiers. MR's does not, so that boosting is impossible.

    >>> H, y = [[0, 1], [0, 1]], [0, 1]
    >>> for condition in ("samme", "mr"):
    ...     solution = solve_condition(H, y, condition, classes=3)
    ...     print(solution.holds, round(solution.edge, 9) + 0.0)
    True 0.25
    False 0.0
    """
    space, rule = as_space(H, y, X, classes), as_condition(condition)
    shape, generators = (len(space.c), space.K), rule.generators(space.K)
    # ⟨g, B_γ(i)⟩ = zero − γ · (zero − one) for every example and generator, (n, g)
    zero, one = (np.broadcast_to(rule.baseline(space.K, edge), shape) @ generators.T for edge in (0.0, 1.0))
    solved = maximise(space, generators, zero, zero - one)
    if solved is None:  # all classifiers predict a wrong label that the baseline never predicts
        value, costs = game_value(space, rule, 0.0)
        assert value > 0
        return Solution(-np.inf, None, costs)
    z, weights, duals = solved
    return Solution(z, weights, as_costs(duals, space, rule))


@described
def game_value(space: Space, condition: Any, edge: float) -> tuple[float, Array]:
    """Return the cost of the cheapest weak classifier minus the baseline's on the worst cost matrix, and this matrix.

    The cost matrix sums the cone's generators with coefficients of sum 1. The condition holds if the value is ≤ 0.

    Examples
    --------
    >>> from simplexboost.theory import example
    >>> value, costs = game_value(example("windows"), "mr", edge=0.1)
    >>> bool(value <= 0), costs.shape
    (True, (12, 3))
    """
    rule = as_condition(condition)
    generators = rule.generators(space.K)
    B = np.broadcast_to(rule.baseline(space.K, edge), (len(space.c), space.K))
    right = B @ generators.T  # (n, g)
    solved = maximise(space, generators, right, np.ones_like(right), limit=None)
    assert solved is not None
    return -solved[0], as_costs(solved[2], space, rule)


def as_costs(duals: Array, space: Space, condition: Condition) -> Array:
    """Return the scaled cost matrix (n, K) with coefficients `duals` (n, g) of the cone's g generators."""
    C = duals @ condition.generators(space.K)
    largest = np.abs(C).max()
    return classes_in_place(C / largest if largest > 0 else C, space.c)


def maximise(
    space: Space, generators: Array, right: Array, slope: Array, limit: float | None = 1.0
) -> tuple[float, Array, Array] | None:
    """Maximise z with weights λ of m classifiers such that ⟨g, H_λ(i)⟩ + z · slope ≤ right for all i and g.

    H_λ(i) (K,) is the weighted vote on example i, g one of the generators; `right` and `slope` have an entry per pair
    (i, g). Return z, λ (m,) and the dual variables (n, generators) ≥ 0, or None if no λ is possible. Constraints are
    added when violated, since few matter.
    """
    n, g = right.shape
    same = np.column_stack([space.ranks.astype(np.float64), right, slope])
    distinct = np.sort(np.unique(same, axis=0, return_index=True)[1])  # the first example of each kind
    ranks = space.ranks[distinct].astype(np.int16)
    right, slope = right[distinct], slope[distinct]
    m = ranks.shape[1]
    uniform_votes = np.stack([(ranks == k).mean(axis=1) for k in range(space.K)], axis=1)  # (n, K)
    excess = uniform_votes @ generators.T - right
    rows = largest_entries(excess, FEW_ROWS if excess.size <= FEW_ROWS else ROWS_A_TIME)
    while True:
        solved = linear_programme(ranks, generators, right, slope, rows, limit)
        if solved is None:
            return None
        z, weights, marginals = solved
        H_lambda = np.stack([(ranks == k) @ weights for k in range(space.K)], axis=1)  # (n, K)
        excess = H_lambda @ generators.T + z * slope - right
        excess.ravel()[rows] = -np.inf
        violated = largest_entries(excess, ROWS_A_TIME)
        violated = violated[excess.ravel()[violated] > TOLERANCE]
        if not len(violated):
            break
        rows = np.concatenate([rows, violated])
    duals = np.zeros((n, g))
    duals.reshape(-1)[distinct[rows // g] * g + rows % g] = marginals
    return z, weights / weights.sum() if m else weights, duals


def largest_entries(excess: Array, count: int) -> Labels:
    """Return the flat indices of the ``count`` largest entries of an array, ascending."""
    flat = excess.ravel()
    if flat.size <= count:
        return np.arange(flat.size)
    return np.sort(np.argpartition(-flat, count)[:count])


def linear_programme(
    ranks: AnyArray, generators: Array, right: Array, slope: Array, rows: Labels, limit: float | None
) -> tuple[float, Array, Array] | None:
    """Solve the linear programme of `maximise` with only the constraints whose flat indices are in ``rows``."""
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
