"""Whether a weak learner meets a condition, where the classifiers it could return are too many to list.

The learner is asked about the cost matrix that is worst for the classifiers found so far; its answer joins them, and
so on. The classifiers found bound the largest edge from below. The costs of the answers bound it from above, since no
space whose cheapest classifier on a cost matrix C costs C • B_γ has an edge larger than γ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array, Labels
from ..codewords import canonical
from ..data.validation import TrainingSet
from ..learners import PlainPull, Request, as_learner
from .conditions import Condition, as_condition
from .programmes import MIN_EDGE, Solution, solve
from .spaces import Space, classes_in_place, codes, true_first


@dataclass(frozen=True, eq=False)
class Search:
    """What a search has found out about a weak learner and a condition.

    Attributes
    ----------
    condition : Condition
        The condition asked about.
    space : Space
        The classifiers found.
    solution : Solution
        The largest edge of the space, with its certificates.
    ceiling : float
        An upper bound on the edge, if the learner always finds its cheapest classifier. Stumps do; deeper trees are
        grown greedily, and then it bounds what the learner does, not what the best trees could do.
    costs : array of shape (n, K)
        The cost matrix behind the ceiling.

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
        """The largest edge found."""
        return self.solution.edge

    @property
    def met(self) -> bool | None:
        """Whether the condition holds with a positive edge; None where the search ended before it was known."""
        return True if self.edge > MIN_EDGE else False if self.ceiling <= MIN_EDGE else None

    def __repr__(self) -> str:
        met = {True: "met", False: "fails", None: "undecided"}[self.met]
        found = f"{self.space.H.shape[1]} classifiers"
        return f"<Search: {self.condition.name} {met}, edge in [{self.edge:.4f}, {self.ceiling:.4f}], {found}>"


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
    """Whether a weak learner meets a condition on a training set.

    Parameters
    ----------
    learner : str, Learner or scikit-learn classifier
        A learner that names classes: one that takes costs into account ("class-tree", "greedy-tree"), or only the
        weight of the own class.
    X : array of shape (n, p)
        The features.
    y : array of shape (n,)
        The labels.
    condition : str, array of shape (K,) or Condition, default="mr"
        The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
        true class first, or a `Condition`.
    n_rounds : int, default=100
        The largest number of classifiers to ask for.
    decide : bool, default=True
        Whether to stop as soon as it is known if the edge is positive; otherwise the search looks for the largest edge.
    random_state : int, default=0
        The seed of learners that draw at random.

    Returns
    -------
    Search
        What was found out.

    Examples
    --------
    A stump names two classes. With ten classes it errs on more than half of the examples, so AdaBoost.M1 cannot use it;
    yet stumps can be boosted.

    >>> from sklearn.datasets import load_digits
    >>> from simplexboost.learners import ClassTree
    >>> X, y = load_digits(return_X_y=True)
    >>> stump = ClassTree(max_depth=1)
    >>> search(stump, X[:200], y[:200], "m1")
    <Search: m1 fails, edge in [-1.0000, -0.5800], 1 classifiers>
    >>> search(stump, X[:200], y[:200], "mr").met
    True
    """
    check_number("n_rounds", n_rounds, int, 1)
    rule = as_condition(condition)
    classes = np.unique(np.asarray(y))
    c = codes("y", np.asarray(y), classes)
    data = TrainingSet(np.ascontiguousarray(X, dtype=np.float64), c, np.ones(len(c)), len(classes))
    oracle = Oracle(as_learner(learner), data, random_state)
    hedge = Hedge(rule, data)
    H, ceiling, best_costs = np.empty((data.n, 0), dtype=np.intp), np.inf, np.empty(0)
    costs = hedge.costs()
    while True:
        h = oracle.cheapest(costs)
        H = np.column_stack([H, h])
        space = Space(H, c, data.K)
        hedge.watch(space.ranks[:, -1])
        reached = edge_on(costs, h, rule, space)
        if reached < ceiling:
            ceiling, best_costs = reached, costs
        asked = H.shape[1]
        failed = decide and ceiling <= MIN_EDGE
        if asked % LP_EVERY and asked < n_rounds and not failed:
            costs = hedge.costs()
            continue
        solution = solve(space, rule)
        found = Search(rule, space, solution, max(ceiling, solution.edge), best_costs)
        if found.ceiling - found.edge < 1e-6 or (decide and found.met is not None) or asked >= n_rounds:
            return found
        costs = solution.costs


# Linear programmes cost more than trees, and their certificates jump about; so most cost matrices come from `Hedge`.
LP_EVERY = 5


class Hedge:
    """Cost matrices that weigh (example, generator) by e^{η · excess} of the votes over the baseline of edge 0."""

    def __init__(self, condition: Condition, data: TrainingSet) -> None:
        self.generators, self.c = condition.generators(data.K), data.c  # (g, K)
        baseline = np.broadcast_to(condition.baseline(data.K, 0.0), (data.n, data.K))
        self.allowed = baseline @ self.generators.T  # (n, g)
        self.excess, self.rounds = np.zeros_like(self.allowed), 0

    def watch(self, ranks: Labels) -> None:
        """Take note of a new classifier; ranks (n,) are its labels with the true class first."""
        self.excess += self.generators[:, ranks].T - self.allowed
        self.rounds += 1

    def costs(self) -> Array:
        """The next cost matrix, (n, K), the largest entry of size 1."""
        eta = np.sqrt(np.log(self.excess.size) / max(self.rounds, 1))
        weight = np.exp(eta * (self.excess - self.excess.max()))  # (n, g)
        C = weight @ self.generators
        return classes_in_place(C / np.abs(C).max(), self.c)


def edge_on(costs: Array, h: Labels, condition: Condition, space: Space) -> float:
    """The edge with which a classifier just meets the condition on a cost matrix: C • 1_h = C • B_γ."""
    C = true_first(costs, space.c)
    zero, one = condition.allowed(C, 0.0).sum(), condition.allowed(C, 1.0).sum()
    paid = costs[np.arange(len(h)), h].sum()
    return float((paid - zero) / (one - zero)) if one < zero else np.inf


@dataclass(eq=False)
class Oracle:
    """A weak learner that answers cost matrices."""

    learner: Any
    data: TrainingSet
    seed: int

    def __post_init__(self) -> None:
        self.learner.check()

    def cheapest(self, costs: Array) -> Labels:
        """The labels (n,) of a classifier that is cheap on the costs (n, K)."""
        own = costs.mean(axis=1) - costs[np.arange(self.data.n), self.data.c]  # (n,) what being right is worth
        pull = PlainPull(np.ascontiguousarray(-costs), self.data.c, np.maximum(own, 0.0))
        request = Request(self.data, pull, canonical(self.data.K), seed=self.seed)
        answer = self.learner.fit(request)
        if answer.classes is None:
            raise TypeError(f"learner={self.learner!r} does not name classes; use 'class-tree' or a classifier.")
        return np.asarray(answer.classes, dtype=np.intp)
