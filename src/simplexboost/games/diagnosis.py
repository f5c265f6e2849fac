"""Questions about a space of weak classifiers: can it be boosted, which conditions does it meet, and what proves it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array
from .conditions import CONDITIONS, as_condition
from .programmes import MIN_EDGE, TOLERANCE, Solution, solve
from .spaces import Space, as_space, true_first


def largest_edge(H: Any, y: Any = None, condition: Any = "mr", *, X: Any = None, classes: Any = None) -> float:
    """The largest γ with which a space of weak classifiers meets a condition.

    Parameters
    ----------
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    condition : str, array of shape (K,) or Condition, default="mr"
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    float
        The edge. It is not positive where the condition fails, and −inf where it fails for every edge.

    Examples
    --------
    SAMME's condition holds for two constant classifiers. MR's does not, so that boosting is impossible.

    >>> H, y = [[0, 1], [0, 1]], [0, 1]
    >>> round(largest_edge(H, y, "samme", classes=3), 9), round(largest_edge(H, y, "mr", classes=3), 9) + 0.0
    (0.25, 0.0)
    """
    return solve(as_space(H, y, X, classes), as_condition(condition)).edge


def best_margin(H: Any, y: Any = None, *, X: Any = None, classes: Any = None) -> float:
    """The largest margin min_i (votes for the true class − votes for its strongest rival) of any weighted vote.

    It is the largest edge of MR and of the minimal condition.

    Parameters
    ----------
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    float
        The margin; it is positive if and only if the space is boostable.

    Examples
    --------
    >>> round(best_margin([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [0, 1, 1]), 9)  # three classifiers, each wrong once
    0.333333333
    """
    return largest_edge(H, y, "mr", X=X, classes=classes)


def is_boostable(H: Any, y: Any = None, *, X: Any = None, classes: Any = None) -> bool:
    """Whether some weighted vote of the weak classifiers is right on every example, without ties.

    Parameters
    ----------
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    bool
        Whether there is such a vote.

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
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    condition : str, array of shape (K,) or Condition, default="mr"
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
    edge : float or None, default=None
        The edge with which the condition shall hold; None is the largest edge, whatever its sign.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    array of shape (m,), or None
        Weights, not negative, of sum 1; None where the condition fails with this edge.

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
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    condition : str, array of shape (K,) or Condition, default="mr"
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
    edge : float or None, default=None
        The edge with which the condition shall fail; None is any edge larger than the largest one.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    array of shape (n, K), or None
        Costs, a column for every class, the largest of size 1; None where the condition holds with this edge.

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
    """By how much each classifier exceeds what the condition allows on a cost matrix: C • 1_h − C • B.

    Where all of them are positive, the cost matrix proves that the condition fails.

    Parameters
    ----------
    costs : array of shape (n, K)
        The cost matrix C, a column for every class.
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    condition : str, array of shape (K,) or Condition, default="mr"
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
    edge : float, default=0.0
        γ, the edge over guessing that the condition asks for.
    **space : keywords
        ``X``, the features from which classifiers predict, and ``classes``, all classes.

    Returns
    -------
    array of shape (m,)
        The excess of every classifier.

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


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Which conditions a space meets, and with which edges; ``print`` shows the table.

    Attributes
    ----------
    space : Space
        The weak classifiers.
    solutions : dict of Solution
        By the name of a condition: the largest edge, weights and costs.

    Examples
    --------
    >>> diagnosis = diagnose([[0, 1], [0, 1]], [0, 1], classes=3, show=False)
    >>> round(diagnosis.solutions["samme"].edge, 6)
    0.25
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
    """Print which weak-learning conditions a space of weak classifiers meets, and for which boosters that is enough.

    Parameters
    ----------
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.
    show : bool, default=True
        Whether to print the table, which is also the text of the returned object.

    Returns
    -------
    Diagnosis
        The table, with the largest edges and their proofs.

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
