"""Decisions of least expected cost: probabilities P (n, K) and costs C (K, A) give expected costs P C (n, A).

C[k, a] is the cost of decision a, one of A decisions, if class k is true. Decisions need not be classes: one may be to
ask a person. A negative cost is a gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from ..engine import CPU
from ..parts.codewords import Hierarchy
from ..tables.inputs import as_label_array
from ..tables.labels import as_listed, known_label_numbers, label_numbers, listed_classes
from ..tables.validation import check_sample_weight, check_some_weight
from .probabilities import predict_adjusted
from .rows import accept_pipelines


@accept_pipelines
def predict(clf: Any, X: Any, *, costs: Any = None, prior: Any = None, init_score: Any = None) -> AnyArray:
    """Return the decision with the lowest expected cost for every row, (n,), or the best class under another prior.

    Without ``costs`` and ``prior``, this is the model's own `predict`.

    Examples
    --------
    >>> clf.predict(X[[77]]), predict(clf, X[[77]], costs=[[0, 1, 1], [1, 0, 1], [1, 9, 0]])
    (array([1]), array([2]))
    """
    if costs is None and prior is None:
        return clf.predict(X, init_score=init_score)
    P = predict_adjusted(clf, X, prior, init_score)
    if costs is not None:
        found = Costs.of(costs, clf.classes_, len(P))
        return found.labels(found.expect(P).argmin(axis=1))
    if getattr(clf.loss_, "cost_matrix", None) is not None:
        raise ValueError(
            "prior= decides by probabilities, which leave out the cost_matrix that this model was fitted with; pass "
            "costs=, too."
        )
    return clf._decision().of_probabilities(P)


@accept_pipelines
def expected_costs(clf: Any, X: Any, costs: Any, *, prior: Any = None, init_score: Any = None) -> Array:
    """Return the expected cost of each of A decisions for every row, (n, A): Σ_k p_k C_ka with probabilities p.

    Examples
    --------
    >>> costs = [[0, 1, 1, 0.2], [1, 0, 1, 0.2], [1, 1, 0, 0.2]]  # the last decision is to ask somebody
    >>> expected_costs(clf, X[[0, 77]], costs).argmin(axis=1).tolist()
    [0, 3]
    """
    P = predict_adjusted(clf, X, prior, init_score)
    return Costs.of(costs, clf.classes_, len(P)).expect(P)


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of decisions for each true class, and the labels of these decisions."""

    C: Array  # (K, A) the cost of every decision when a class is true; or (n, K, A) with costs of its own for every row
    decisions: AnyArray | None  # (A,) their labels; None if they have none

    @classmethod
    def of(cls, costs: Any, classes: AnyArray, n: int | None = None) -> Costs:
        """Return `Costs` from what a user has passed, for n rows and the classes (K,); raise if they are invalid."""
        if is_frame(costs):
            return cls._of_frame(costs, classes)
        if isinstance(costs, Hierarchy):
            return cls(costs.distances(classes), classes)
        C, K = as_numbers(costs), len(classes)
        fits = C.shape[0] == K if C.ndim == 2 else C.ndim == 3 and C.shape[:2] == (n, K)
        if not fits or not C.shape[-1]:
            raise ValueError(
                f"costs has shape {C.shape}; pass ({K}, decisions), a row for every true class in the order of "
                f"classes_, or a matrix for every row, ({'n' if n is None else n}, {K}, decisions). What a row costs "
                "whatever its class, v (n, decisions), is costs[None] + v[:, None, :]."
            )
        return cls(C, classes if C.shape[-1] == K else None)

    @classmethod
    def _of_frame(cls, costs: Any, classes: AnyArray) -> Costs:
        """Return `Costs` from a data frame, whose index has the true classes and whose columns are the decisions."""
        index, columns = ([as_listed(label, classes) for label in ax.tolist()] for ax in (costs.index, costs.columns))
        labels = listed_classes(classes)
        missing = [label for label in labels if index.count(label) != 1]
        if missing:
            raise ValueError(
                f"costs has the rows {index[:5]}; it must have one row for each of the classes, also for {missing[:5]}."
            )
        if not columns or len(set(columns)) < len(columns):
            came = f"the columns {columns[:5]}" if columns else "no columns"
            raise ValueError(f"costs has {came}; it must have one for every decision.")
        C = as_numbers(costs.to_numpy())[[index.index(label) for label in labels]]
        decisions = np.array(columns)
        return cls(C, decisions if decisions.shape == (C.shape[1],) else np.array([*columns, None], dtype=object)[:-1])

    def expect(self, P: Array) -> Array:
        """Return the expected cost of each of A decisions, (n, A), from class probabilities P (n, K).

        The result for a row does not depend on the number of rows, as it might with a matrix product by BLAS.
        """
        if self.C.ndim == 2:
            E: Array = CPU.compute.times(P, self.C)
            return E
        return np.einsum("nk,nka->na", P, self.C)

    def mean(self, c: Labels, chosen: Labels, sample_weight: Any) -> float:
        """Return the weighted mean cost of decision indices ``chosen`` (n,), given the true class indices c (n,)."""
        paid = self.C[c, chosen] if self.C.ndim == 2 else self.C[np.arange(len(c)), c, chosen]
        weight = check_sample_weight(sample_weight, paid)
        check_some_weight(bool(weight.any()))
        return float(np.average(paid, weights=weight))

    def labels(self, chosen: Labels) -> AnyArray:
        """Return the labels (n,) of the decision indices ``chosen`` (n,); raise if decisions have no labels."""
        if self.decisions is None:
            raise ValueError(
                f"costs has {self.C.shape[-1]} decisions for {self.C.shape[-2]} classes, and nothing says what they "
                "are called; pass a data frame whose columns name them, or take the columns of expected_costs."
            )
        return self.decisions.take(chosen)


def is_frame(costs: Any) -> bool:
    """Return whether ``costs`` is a data frame, which has an index and columns."""
    return hasattr(costs, "columns") and hasattr(costs, "index")


def as_numbers(costs: Any) -> Array:
    """Return costs as an array of floats; raise unless all of them are finite numbers."""
    if np.ma.is_masked(costs):
        raise ValueError("costs has masked entries; what a decision costs must be known for every class.")
    try:
        if costs is None or np.iscomplexobj(costs):
            raise TypeError("they are None" if costs is None else "they are complex")
        C = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"costs must hold numbers: {error}") from error
    if not np.isfinite(C).all() or np.abs(C).max(initial=0.0) > 1e150:
        raise ValueError("costs holds numbers that are not finite, or beyond 1e150.")
    return C


@described
def mean_cost(y_true: Any, decisions: Any, costs: Any, classes: Any, sample_weight: Any = None) -> float:
    """Return the mean cost of decisions, from the true classes of the rows.

    Parameters
    ----------
    decisions : array of shape (n,)
        The labels of the decisions: classes, or columns of a data frame of costs.

    Examples
    --------
    >>> mean_cost(["ok", "fraud"], ["ok", "ok"], [[0, 100], [1, 0]], ["fraud", "ok"])
    50.0
    """
    known, y, decided = check_classes(classes), as_label_array(y_true, "y_true"), np.asarray(decisions)
    if decided.shape != y.shape:
        raise ValueError(f"y_true has shape {y.shape} and decisions {decided.shape}; both need one label per row.")
    found = Costs.of(costs, known, len(y))
    c = known_label_numbers(y, known, "y_true")
    chosen = known_label_numbers(
        decided, found.labels(np.arange(found.C.shape[-1])), "decisions", "the decisions of costs"
    )
    return found.mean(c, chosen, sample_weight)


def check_classes(classes: Any) -> AnyArray:
    """Return the class labels as an array (K,); raise unless they are distinct."""
    known = as_label_array(classes, "classes")
    if len(set(known.tolist())) < len(known):
        raise ValueError(f"classes={known.tolist()!r:.200} must hold different labels.")
    return known


@described
def cost_scorer(costs: Any) -> Callable[..., float]:
    """Return a scorer for cross-validation and searches: minus the mean cost of the cheapest decisions.

    scikit-learn calls it as ``scorer(estimator, X, y, sample_weight=None)``, with any classifier that has
    ``predict_proba``. If folds may lack a class, pass the costs as a data frame.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> costs = [[0, 1, 1], [1, 0, 5], [1, 5, 0]]
    >>> bool((cross_val_score(clf, X, y, scoring=cost_scorer(costs)) <= 0).all())
    True
    """
    return partial(score_cheapest, costs)


def score_cheapest(costs: Any, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return minus the mean cost of the decisions whose expected cost is lowest under a classifier's probabilities."""
    P, classes = np.asarray(estimator.predict_proba(X)), np.asarray(estimator.classes_)
    found = Costs.of(costs, classes)
    chosen = found.expect(P).argmin(axis=1)
    if is_frame(costs):  # rows of classes that the estimator has not seen cost something, too
        classes = np.array(costs.index.tolist())
        found = Costs.of(costs, classes)
    c = known_label_numbers(as_label_array(y, "y"), classes, "y")
    return -found.mean(c, chosen, sample_weight)


@described
def cost_weights(y: Any, costs: Any, classes: Any) -> Array:
    """Return sample weights (n,) for ``fit`` that give rows with costly mistakes more weight.

    A weight is proportional to the mean cost of the wrong decisions in a row minus the cost of the right one. With two
    classes these weights state the cost-sensitive problem exactly; with more classes they do not say which mistake is
    costly. The decisions must be the classes.

    Examples
    --------
    >>> cost_weights(["ok", "fraud", "ok"], [[0, 100], [1, 0]], ["fraud", "ok"])
    array([  1., 100.,   1.])
    """
    known, labels = check_classes(classes), as_label_array(y, "y")
    found, c = Costs.of(costs, known, len(labels)), known_label_numbers(labels, known, "y")
    K = len(known)
    decisions = known[:0] if found.decisions is None else found.decisions
    columns = label_numbers(known, decisions)  # (K,) the right decision for every class
    if found.C.shape[-1] != K or (columns < 0).any():
        raise ValueError("costs must have the classes as its decisions, in their order, to weigh rows by.")
    rows = np.arange(len(c))
    of_row = found.C[c] if found.C.ndim == 2 else found.C[rows, c]  # (n, K)
    right = of_row[rows, columns[c]]
    weight: Array = (of_row.sum(axis=1) - right) / max(1, K - 1) - right
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"costs makes the right decision of row {row} dearer than its wrong ones are on average.")
    return weight
