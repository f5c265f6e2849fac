"""Tests of whether a space of weak classifiers, or a weak learner, meets a weak-learning condition, with proofs.

A weak learner may have too many classifiers to list. `search` therefore trains the learner on the cost matrix that is
worst for the classifiers found so far, adds the new classifier, and repeats. The largest edge of these classifiers is a
lower bound on the learner's edge. The cost of a new classifier gives an upper bound: if the cheapest classifier costs
as much as the baseline with edge γ, no larger edge is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import Array, Labels
from .._util.docstrings import described
from .._util.params import check_number
from ..model.code import Gradient
from ..parts.codewords import Canonical
from ..parts.learners import Learner, Request, as_learner
from ..tables.training_set import TrainingSet
from .conditions import CONDITIONS, Condition, as_condition
from .spaces import MIN_EDGE, Solution, Space, as_space, classes_in_place, solve_condition, true_first


@described
def violation(
    costs: Any, H: Any, y: Any = None, condition: Any = "mr", edge: float = 0.0, *, X: Any = None, classes: Any = None
) -> Array:
    """Return by how much each weak classifier's cost on a cost matrix exceeds the allowed cost, (classifiers,).

    If all values are positive, the cost matrix proves that the weak-learning condition fails with this edge.

    Parameters
    ----------
    costs : array of shape (n, K)
        The cost matrix: the cost of predicting each class for each example.

    Examples
    --------
    >>> violation([[-1, 1, 0], [1, -1, 0]], [[0, 1], [0, 1]], [0, 1], "uniform", 0.1, classes=3)
    array([0.2, 0.2])
    """
    space = as_space(H, y, X, classes)
    C = true_first(np.asarray(costs, dtype=np.float64), space.c)
    return np.take_along_axis(C, space.ranks, axis=1).sum(axis=0) - as_condition(condition).allowed(C, edge).sum()


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The weak-learning conditions that a space of weak classifiers meets, with largest edges; ``print`` shows a table.

    Attributes
    ----------
    space : Space
        The space of weak classifiers.
    solutions : dict of Solution
        A dict with condition names as keys; each value has the largest edge and its proofs.

    Examples
    --------
    >>> diagnosis = diagnose([[0, 1], [0, 1]], [0, 1], classes=3, show=False)
    >>> round(diagnosis.solutions["samme"].edge, 6), diagnosis.met("mr")
    (0.25, False)
    """

    space: Space
    solutions: dict[str, Solution]

    @property
    def margin(self) -> float:
        """The largest margin of any weighted vote of the weak classifiers."""
        return self.solutions["mr"].edge

    @property
    def boostable(self) -> bool:
        """Whether some weighted vote of the weak classifiers is right on every example."""
        return self.met("mr")

    def met(self, name: str) -> bool:
        """Return whether the weak-learning condition `name` holds with a positive edge."""
        return self.solutions[name].holds

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
            boosters = CONDITIONS[name].enough_for if self.met(name) else "-"
            lines.append(f"{name:11} {'yes' if self.met(name) else 'no':5}   {edge:>12}   {boosters}")
        return "\n".join(lines)


@described
def diagnose(H: Any, y: Any = None, *, X: Any = None, classes: Any = None, show: bool = True) -> Diagnosis:
    """Print which weak-learning conditions a space of weak classifiers meets, and for which boosters they suffice.

    Parameters
    ----------
    show : bool, default=True
        Whether to print the table. Printing the returned object shows the table too.

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
    solutions = {name: solve_condition(space, condition=name) for name in CONDITIONS if name != "minimal"}
    solutions["minimal"] = solutions["mr"]  # the same programme
    diagnosis = Diagnosis(space, solutions)
    if show:
        print(diagnosis)
    return diagnosis


@dataclass(frozen=True, eq=False)
class Search:
    """The result of `search`: bounds on the edge with which a weak learner meets a weak-learning condition.

    Attributes
    ----------
    condition : Condition
        The weak-learning condition.
    space : Space
        The weak classifiers that were found.
    solution : Solution
        The largest edge of this space, with its proofs.
    ceiling : float
        An upper bound on the edge, if the learner always finds its cheapest classifier, as stumps do. Deeper trees are
        grown greedily: for them the bound holds only for the trees that the learner finds, not for the best trees.
    costs : array of shape (n, K)
        The cost matrix that proves the ceiling.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = search("class-tree", X, y, "mr", n_rounds=20)
    >>> found.met, found.solution.edge <= found.ceiling
    (True, True)
    """

    condition: Condition
    space: Space
    solution: Solution
    ceiling: float
    costs: Array

    @property
    def edge(self) -> float:
        """The largest edge of the classifiers found, a lower bound on the learner's edge."""
        return self.solution.edge

    @property
    def met(self) -> bool | None:
        """Whether the condition holds with a positive edge; None if the search stopped before this was known."""
        return True if self.edge > MIN_EDGE else False if self.ceiling <= MIN_EDGE else None

    def __repr__(self) -> str:
        met = {True: "met", False: "fails", None: "undecided"}[self.met]
        found = f"{self.space.H.shape[1]} classifiers"
        return f"<Search: {self.condition.name} {met}, edge in [{self.edge:.4f}, {self.ceiling:.4f}], {found}>"


@described
def search(
    learner: Any,
    X: Any,
    y: Any,
    condition: Any = "mr",
    *,
    n_rounds: int = 100,
    decide: bool = True,
    random_state: int = 0,
) -> Search:
    """Test whether a weak learner meets a weak-learning condition on a training set, and bound its largest edge.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier
        A learner that predicts classes. "class-tree" and "greedy-tree" use the cost of every class; other learners use
        only the weight of the true class.
    n_rounds : int, default=100
        The largest number of weak classifiers to train.
    decide : bool, default=True
        Whether to stop as soon as it is known whether the edge is positive; otherwise the search continues to the
        largest edge.
    random_state : int, default=0
        The seed of learners that draw at random.

    Examples
    --------
    A stump names two classes. With ten classes it errs on more than half of the examples, so AdaBoost.M1 cannot use it;
    yet stumps can be boosted.

    >>> from sklearn.datasets import load_digits
    >>> from simplexboost.parts.learners import ClassTree
    >>> X, y = load_digits(return_X_y=True)
    >>> stump = ClassTree(max_depth=1)
    >>> search(stump, X[:200], y[:200], "m1")
    <Search: m1 fails, edge in [-1.0000, -0.5800], 1 classifiers>
    >>> search(stump, X[:200], y[:200], "mr").met
    True
    """
    check_number("n_rounds", n_rounds, int, 1)
    rule = as_condition(condition)
    known, c = np.unique(np.asarray(y), return_inverse=True)
    data = TrainingSet(np.ascontiguousarray(X, dtype=np.float64), c, np.ones(len(c)), len(known))
    weak = as_learner(learner)
    weak.check()
    hedge = Hedge(rule, data)
    H, ceiling, best_costs = np.empty((data.n, 0), dtype=np.intp), np.inf, np.empty(0)
    costs = hedge.costs()
    while True:
        h = cheap_classifier(weak, data, costs, random_state)
        H = np.column_stack([H, h])
        space = Space(H, c, data.K)
        hedge.add(space.ranks[:, -1])
        reached = edge_on(costs, h, rule, space)
        if reached < ceiling:
            ceiling, best_costs = reached, costs
        n_found = H.shape[1]
        failed = decide and ceiling <= MIN_EDGE
        if n_found % LP_EVERY and n_found < n_rounds and not failed:
            costs = hedge.costs()
            continue
        solution = solve_condition(space, condition=rule)
        found = Search(rule, space, solution, max(ceiling, solution.edge), best_costs)
        if found.ceiling - found.edge < 1e-6 or (decide and found.met is not None) or n_found >= n_rounds:
            return found
        costs = solution.costs


# Linear programmes cost more than trees, and their certificates jump about; so most cost matrices come from `Hedge`.
LP_EVERY = 5


class Hedge:
    """The Hedge algorithm for cost matrices: cost rows on which the classifiers so far cost more get larger weights."""

    def __init__(self, condition: Condition, data: TrainingSet) -> None:
        self.generators, self.c = condition.generators(data.K), data.c  # (g, K)
        baseline = np.broadcast_to(condition.baseline(data.K, 0.0), (data.n, data.K))
        self.allowed = baseline @ self.generators.T  # (n, g)
        self.excess, self.rounds = np.zeros_like(self.allowed), 0

    def add(self, ranks: Labels) -> None:
        """Add the costs of a new classifier with predictions ``ranks`` (n,): class indices, 0 for the true class."""
        self.excess += self.generators[:, ranks].T - self.allowed
        self.rounds += 1

    def costs(self) -> Array:
        """Return the next cost matrix (n, K), a weighted sum of the cone's generators with largest absolute entry 1."""
        eta = np.sqrt(np.log(self.excess.size) / max(self.rounds, 1))
        weight = np.exp(eta * (self.excess - self.excess.max()))  # (n, g)
        C = weight @ self.generators
        return classes_in_place(C / np.abs(C).max(), self.c)


def edge_on(costs: Array, h: Labels, condition: Condition, space: Space) -> float:
    """Return the edge at which the baseline costs as much as a classifier's predictions h (n,) on costs (n, K)."""
    C = true_first(costs, space.c)
    zero, one = condition.allowed(C, 0.0).sum(), condition.allowed(C, 1.0).sum()
    paid = costs[np.arange(len(h)), h].sum()
    return float((paid - zero) / (one - zero)) if one < zero else np.inf


def cheap_classifier(learner: Learner, data: TrainingSet, costs: Array, seed: int) -> Labels:
    """Return the class indices (n,) that a weak learner predicts after training on a cost matrix (n, K)."""
    own = costs.mean(axis=1) - costs[np.arange(data.n), data.c]  # (n,) the gain of being right
    gradient = Gradient(data.c, np.maximum(own, 0.0), G=np.ascontiguousarray(-costs))
    answer = learner.fit(Request(data, gradient, Canonical().matrix(data.K), seed=seed))
    if answer.classes is None:
        raise TypeError(f"learner={learner!r} does not name classes; use 'class-tree' or a classifier.")
    return np.asarray(answer.classes, dtype=np.intp)
