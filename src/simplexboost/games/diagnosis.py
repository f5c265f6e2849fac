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
    H, y, X, classes : the space, see `as_space`
    condition : {"samme", "m1", "mh", "mr", "uniform", "minimal"}, a baseline b, or a `Condition`

    Returns
    -------
    float
        Not positive where the condition fails; −inf where it fails for every edge.

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

    Where all of them are positive, the cost matrix proves that the condition fails.

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
    """Print which weak-learning conditions a space of weak classifiers meets, and for which boosters that is enough.

    Parameters
    ----------
    H, y, X, classes : the space, see `as_space`
    show : bool, default=True
        Whether to print the table, which is also the text of the returned object.

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
