"""Training examples that a model treats alike: rows that lie in the same leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._typing import AnyArray, Array
from ..engine import Engine, Tree

BLOCK = 2**22  # similarities that are kept at a time: 32 MB


class Neighbours(NamedTuple):
    """The most similar examples of some rows.

    Attributes
    ----------
    rows : int array of shape (n, k)
        Their positions, the most similar one first.
    similarity : array of shape (n, k)
        The fraction of the trees in which the two share a leaf.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> near = clf.nearest_examples(X[[0]], X, k=3)
    >>> near.rows.shape, float(near.similarity[0, 0])
    ((1, 3), 1.0)
    """

    rows: AnyArray
    similarity: Array


def leaf_indices(trees: list[Tree], X: Any, engine: Engine) -> AnyArray:
    """The leaf of every row of X in every tree, (n, T) int32."""
    out = np.empty((X.shape[0], len(trees)), dtype=np.int32)
    for t, tree in enumerate(trees):
        out[:, t] = engine.apply(tree, X)
    return out


def shared_leaves(trees: list[Tree], X: Any, examples: Any, k: int, engine: Engine) -> Neighbours:
    """The k of the examples (N, p) that share most leaves with the rows of X (n, p); ties go to the first."""
    width = np.array([tree.n_leaves for tree in trees])
    theirs = indicator(leaf_indices(trees, examples, engine), width).T.tocsr()  # (leaves, N)
    ours = indicator(leaf_indices(trees, X, engine), width)  # (n, leaves)
    n, N = ours.shape[0], theirs.shape[1]
    index, similarity = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    step = max(1, BLOCK // N)
    for begin in range(0, n, step):
        rows = slice(begin, min(n, begin + step))
        shared = (ours[rows] @ theirs).toarray()  # (rows, N)
        order = np.argsort(-shared, axis=1, kind="stable")[:, :k]
        index[rows], similarity[rows] = order, np.take_along_axis(shared, order, axis=1) / max(1, len(trees))
    return Neighbours(index, similarity)


def indicator(leaves: AnyArray, width: AnyArray) -> Any:
    """Leaves (n, T) as a sparse matrix of zeros and ones, (n, Σ width)."""
    n, T = leaves.shape
    columns = (leaves + np.cumsum(width) - width).ravel()
    return csr_array(
        (np.ones(n * T), columns, np.arange(0, n * T + 1, max(1, T))[: n + 1]), shape=(n, int(width.sum()))
    )
