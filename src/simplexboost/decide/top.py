"""The most probable labels of every row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.docstrings import described
from .._util.params import check_number
from .rows import blocks, check_one_class, over_rows


@over_rows
@described
def top_k(clf: Any, X: Any, k: int, *, init_score: Any = None) -> tuple[AnyArray, Array]:
    """Return the k most probable labels of every row and their probabilities, the most probable first.

    Ties go to the class that comes first in ``classes_``. Rows are predicted in blocks, so that there is never an array
    of rows × classes.

    Parameters
    ----------
    k : int
        How many labels, from 1 to the number of classes.

    Returns
    -------
    labels : array of shape (n, k)
        The labels, the most probable first.
    probabilities : array of shape (n, k)
        Their probabilities.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
    >>> clf = clf.fit(iris.data, iris.target_names[iris.target])
    >>> labels, P = top_k(clf, iris.data[[77]], 2)
    >>> labels.tolist(), bool(P[0, 0] > P[0, 1])
    ([['versicolor', 'virginica']], True)
    """
    X = clf._check_X(X)
    check_one_class(clf, "top_k takes models of one class per row")
    check_number("k", k, int, 1, len(clf.classes_))
    best, P = np.empty((X.shape[0], k), dtype=np.intp), np.empty((X.shape[0], k))
    for rows, of_rows in blocks(clf, X, init_score):
        best[rows], P[rows] = find_highest(of_rows, k)
    return clf.classes_.take(best), P


def find_highest(P: Array, k: int) -> tuple[AnyArray, Array]:
    """Return the columns of the k largest values of every row and these values, (n, k) each, the largest first."""
    if k < P.shape[1]:  # few candidates to sort: those not below the k-th largest value, in the order of their columns
        cut = np.partition(P, P.shape[1] - k, axis=1)[:, P.shape[1] - k]
        ahead = P > cut[:, None]
        room = k - ahead.sum(axis=1)
        tied = P == cut[:, None]
        chosen = np.nonzero(ahead | (tied & (np.cumsum(tied, axis=1) <= room[:, None])))[1].reshape(len(P), k)
    else:
        chosen = np.repeat(np.arange(k)[None], len(P), axis=0)
    values = np.take_along_axis(P, chosen, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(values, order, axis=1)
