"""Examples whose labels are probably wrong: those that models fitted without them place far from their label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._typing import AnyArray, Array
from ..data.inputs import check_several_labels, plain_labels
from ..data.labels import label_numbers


class DoubtfulLabels(NamedTuple):
    """Examples by how doubtful their labels are, the most doubtful one first, (n,) each.

    Attributes
    ----------
    rows : int array of shape (n,)
        Their positions in the table.
    margin : array of shape (n,)
        The score of the label minus the best other score, by a model that was fitted without the example.
    given : array of shape (n,)
        The label.
    suggested : array of shape (n,)
        The class with the highest score.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[0] = 2  # a wrong label
    >>> doubtful = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).doubtful_labels(X, y)
    >>> doubtful.rows[0], doubtful.given[0], doubtful.suggested[0]
    (np.int64(0), np.int64(2), np.int64(0))
    """

    rows: AnyArray
    margin: Array
    given: AnyArray
    suggested: AnyArray


def doubtful_labels(estimator: Any, X: Any, y: Any, cv: Any, fit_params: dict[str, Any]) -> DoubtfulLabels:
    """All examples of a training set, ordered by out-of-fold margin; see `Explains.doubtful_labels`."""
    from sklearn.model_selection import check_cv

    check_several_labels(y)
    y = np.asarray(plain_labels(y))
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; doubtful_labels takes one label per row, not a matrix y.")
    for name, given in {"X": X, **fit_params}.items():
        if given is not None and _num_samples(given) != len(y):
            raise ValueError(f"{name} has {_num_samples(given)} rows and y has {len(y)}; they must be equally long.")
    margin, suggested = np.full(len(y), np.nan), np.empty_like(y)
    for train, held in check_cv(cv, y, classifier=True).split(X, y):
        params = {name: _safe_indexing(value, train) for name, value in fit_params.items() if value is not None}
        clf = clone(estimator).fit(_safe_indexing(X, train), y[train], **params)
        margin[held], suggested[held] = held_out_margins(clf, _safe_indexing(X, held), y[held])
    order = np.argsort(margin, kind="stable")  # NaN, for rows that no fold held out, come last
    order = order[~np.isnan(margin[order])]
    return DoubtfulLabels(order, margin[order], y[order], suggested[order])


def held_out_margins(clf: Any, X: Any, y: AnyArray) -> tuple[Array, AnyArray]:
    """The margins of rows under a fitted classifier, and its best classes; −inf where it does not know the label."""
    U = clf.class_scores(X)
    place = label_numbers(y, clf.classes_)
    known = place >= 0
    rows = np.arange(len(y))
    own, others = U[rows, place], U.copy()
    others[rows, place] = -np.inf
    margin = np.where(known, own - others.max(axis=1), -np.inf)
    return margin, clf.classes_[clf._best(U)]
