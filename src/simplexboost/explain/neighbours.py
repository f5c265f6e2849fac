"""Training rows that are similar to given rows, since they fall into the same leaves, and labels that may be wrong.

A label is doubtful if a model that was fitted without the row gives another class a higher score.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._util.arrays import AnyArray, Array
from .._util.docstrings import described
from .._util.params import check_number
from ..classifiers.prediction import check_booster
from ..tables.inputs import check_several_labels, plain_labels
from ..tables.labels import label_numbers

BLOCK = 2**22  # similarities that are held in memory at a time: 32 MB


class Neighbours(NamedTuple):
    """The k most similar examples of each row.

    Attributes
    ----------
    rows : int array of shape (n, k)
        The row indices of the examples, the most similar example first; equally similar examples in ascending order.
    similarity : array of shape (n, k)
        The fraction of the trees in which the example shares a leaf with the row.

    Examples
    --------
    >>> near = Neighbours(np.array([[0, 27]]), np.array([[1.0, 0.75]]))
    >>> near.rows[near.similarity > 0.9].tolist()
    [0]
    """

    rows: AnyArray
    similarity: Array


@described
def nearest_examples(clf: Any, X: Any, examples: Any, k: int = 5) -> Neighbours:
    """Find for every row of X the k examples that share a leaf with the row in most trees.

    Parameters
    ----------
    examples : rows like X
        The rows to search, for example the training rows.
    k : int, default=5
        The number of examples that are returned for every row.

    Examples
    --------
    >>> bool((y[sb.explain.nearest_examples(clf, X[[60]], X).rows] == y[60]).all())
    True
    """
    trees = check_booster(clf).trees
    if not trees:
        raise ValueError("nearest_examples needs trees, and the model has none.")
    width = np.array([tree.n_leaves for tree in trees])

    def indicator(leaves: AnyArray) -> Any:  # (n, T) as a sparse matrix of zeros and ones, (n, leaves)
        n, T = leaves.shape
        columns = (leaves + np.cumsum(width) - width).ravel()
        return csr_array((np.ones(n * T), columns, np.arange(0, n * T + 1, T)), shape=(n, int(width.sum())))

    ours, theirs = indicator(clf.apply(X)), indicator(clf.apply(examples)).T.tocsr()
    n, N = ours.shape[0], theirs.shape[1]
    check_number("k", k, int, 1, N)
    index, similarity = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    step = max(1, BLOCK // N)
    for begin in range(0, n, step):
        rows = slice(begin, min(n, begin + step))
        shared = (ours[rows] @ theirs).toarray()  # (rows, N)
        order = np.argsort(-shared, axis=1, kind="stable")[:, :k]
        index[rows], similarity[rows] = order, np.take_along_axis(shared, order, axis=1) / len(trees)
    return Neighbours(index, similarity)


class DoubtfulLabels(NamedTuple):
    """Labelled examples, sorted by how doubtful their labels are, the most doubtful example first.

    Attributes
    ----------
    rows : int array of shape (n,)
        The row indices of the examples.
    margin : array of shape (n,)
        The score of the given label minus the highest score of another class, by a model fitted without the example.
    given : array of shape (n,)
        The given label of each example.
    suggested : array of shape (n,)
        The class with the highest score, by a model fitted without the example.

    Examples
    --------
    >>> found = DoubtfulLabels(np.array([7, 2]), np.array([-1.5, 0.5]), np.array([0, 1]), np.array([2, 1]))
    >>> found.rows[found.margin < 0].tolist()  # rows to look at
    [7]
    """

    rows: AnyArray
    margin: Array
    given: AnyArray
    suggested: AnyArray


@described
def doubtful_labels(clf: Any, X: Any, y: Any, *, cv: Any = 5, sample_weight: Any = None) -> DoubtfulLabels:
    """Sort the examples of a training set by how doubtful their labels are.

    The classifier is cloned and fitted once for every fold. The margin of an example is the score of its label minus
    the highest score of another class, by the model that was fitted without the fold of the example. A negative margin
    far from zero means that the label is probably wrong.

    Parameters
    ----------
    clf : classifier
        A classifier of this package, fitted or not.
    cv : int, splitter or iterable of (train, test), default=5
        The folds: the number of folds, a splitter of scikit-learn, or pairs of arrays of row indices.

    Examples
    --------
    >>> y[0] = 2  # a wrong label
    >>> doubtful = sb.explain.doubtful_labels(clf, X, y)
    >>> doubtful.rows[0], doubtful.given[0], doubtful.suggested[0]
    (np.int64(0), np.int64(2), np.int64(0))
    """
    from sklearn.model_selection import check_cv

    check_several_labels(y)
    y = np.asarray(plain_labels(y))
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; doubtful_labels takes one label per row, not a matrix y.")
    for name, given in {"X": X, "sample_weight": sample_weight}.items():
        if given is not None and _num_samples(given) != len(y):
            raise ValueError(f"{name} has {_num_samples(given)} rows and y has {len(y)}; they must be equally long.")
    margin, suggested = np.full(len(y), np.nan), np.empty_like(y)
    for train, held in check_cv(cv, y, classifier=True).split(X, y):
        weight = {} if sample_weight is None else {"sample_weight": _safe_indexing(sample_weight, train)}
        fitted = clone(clf).fit(_safe_indexing(X, train), y[train], **weight)
        U, label = fitted.class_scores(_safe_indexing(X, held)), label_numbers(y[held], fitted.classes_)
        rows, others = np.arange(len(label)), U.copy()
        others[rows, label] = -np.inf
        lead = np.where(label >= 0, U[rows, label] - others.max(axis=1), -np.inf)  # −inf for labels that are unknown
        margin[held], suggested[held] = lead, fitted.classes_[fitted._best(U)]
    order = np.argsort(margin, kind="stable")  # NaN, for rows that no fold held out, come last
    order = order[~np.isnan(margin[order])]
    return DoubtfulLabels(order, margin[order], y[order], suggested[order])
