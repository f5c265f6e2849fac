"""Probabilities under other class priors, of the nodes at a level of a hierarchy, and of the most probable classes.

Under label shift only the shares of the classes change, not the rows within a class: then probabilities become
p'_k ∝ p_k · prior_k / training_k. The probability of a node is the sum over its classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Mask
from .._util.params import check_number
from .._util.runtime import one_blas_thread
from ..boosting.decisions import merge_sums
from ..parts.codewords.hierarchy import names_array
from ..tables.labels import as_listed, listed_classes
from .rows import accept_pipelines, check_one_class

CLOSE = 1e-8  # EM stops when no share changes by more than this
MOST_STEPS = 10_000


@accept_pipelines
def predict_proba(clf: Any, X: Any, prior: Any = None, *, init_score: Any = None) -> Array:
    """Return the probabilities (n, K) for rows in which the class shares are ``prior``, not those of training.

    Examples
    --------
    >>> predict_proba(clf, X[[77]], prior={0: 0.2, 1: 0.7, 2: 0.1}).round(1).tolist()
    [[0.1, 0.9, 0.1]]
    """
    return predict_adjusted(clf, X, prior, init_score)


@accept_pipelines
def estimate_prior(clf: Any, X: Any, *, init_score: Any = None) -> Array:
    """Return maximum-likelihood estimates (K,) of the class shares among unlabelled rows.

    At least some hundreds of rows are needed. Rows of a class must look as in training; only the shares may differ. The
    likelihood counts max(K, √n) additional rows that have the shares of training. Pass the result to another function:
    ``decide.predict_proba(clf, X, prior=decide.estimate_prior(clf, X))``.

    Examples
    --------
    >>> estimate_prior(clf, X[:50]).round(1).tolist()  # flowers of the first class only
    [0.9, 0.0, 0.0]
    """
    return fit_prior(predict_adjusted(clf, X, None, init_score), clf.class_prior_)


def predict_adjusted(clf: Any, X: Any, prior: Any, init_score: Any) -> Array:
    """Return probabilities (n, K) for the class shares ``prior`` (None: those of training); X is no Dask collection."""
    X = clf._check_X(X)
    check_one_class(clf, "costs and prior are those of classes of which one is right")
    shares = None if prior is None else check_prior(prior, clf.classes_, clf._present)
    P: Array = clf._proba(X, clf._start(X, init_score))
    return P if shares is None else adapt_proba(P, shares, clf.class_prior_)


def check_prior(prior: Any, classes: AnyArray, present: Mask) -> Array:
    """Return the class shares (K,), with sum 1; raise if they are invalid, or positive for an absent class.

    ``prior`` is an array (K,) in the order of the classes, or a dict or pandas Series by label.
    """
    if hasattr(prior, "index") and hasattr(prior, "items"):  # a Series, such as y.value_counts(normalize=True)
        series, prior = prior, dict(prior.items())
        if len(prior) < len(series):
            raise ValueError(f"prior is a Series whose index {series.index.tolist()[:5]} holds a label twice.")
    if isinstance(prior, Mapping):
        prior = {as_listed(label, classes): share for label, share in prior.items()}
        labels = listed_classes(classes)
        unknown = [label for label in prior if label not in labels]
        missing = [label for label in labels if label not in prior]
        if unknown or missing:
            raise ValueError(
                "prior must have a share for every class and for nothing else: it has none for "
                f"{missing[:5]}, and {unknown[:5]} are no classes."
            )
        prior = [prior[label] for label in labels]
    try:
        if isinstance(prior, str) or np.iscomplexobj(prior) or np.ma.is_masked(prior):
            raise TypeError(f"it is {prior!r:.50}")
        shares = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"prior must hold a share for every class, or be a dict of shares by label: {error}") from error
    if shares.shape != (len(classes),):
        raise ValueError(f"prior has shape {shares.shape}; pass ({len(classes)},), a share for every class.")
    if not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise ValueError(f"prior={prior!r:.100} must hold finite shares that are not negative, and not all zero.")
    if (shares[~present] > 0).any():
        absent = classes[~present & (shares > 0)][:5].tolist()
        raise ValueError(f"prior has a share for {absent}, of which there were no training examples; give them 0.")
    shares = shares / shares.max()  # of which sums are finite
    return shares / shares.sum()


def adapt_proba(P: Array, prior: Array, training: Array) -> Array:
    """Return probabilities (n, K), converted from the class shares ``training`` (K,) to the class shares ``prior``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        L = np.log(P) + np.where(prior > 0, np.log(prior) - np.log(training), -np.inf)  # (n, K)
    L -= L.max(axis=1, keepdims=True)
    E: Array = np.exp(L)
    return E / E.sum(axis=1, keepdims=True)


def fit_prior(P: Array, training: Array, added: float | None = None) -> Array:
    """Estimate the class shares (K,) among rows from their probabilities P (n, K) and the shares ``training`` (K,).

    The EM algorithm (Saerens, Latinne and Decaestecker, 2002) finds the shares under which the rows are most likely.
    With few rows these are extreme: classes that are hard to tell apart get all or nothing. So ``added`` rows with the
    shares of training are counted too: by default K or √n, whichever is larger; `benchmarks.defaults` tries other
    values.
    """
    known = training > 0
    share = training[known]
    P = np.ascontiguousarray(P[:, known])
    row_bytes = P.view(np.dtype((np.void, P.shape[1] * P.itemsize)))[:, 0]  # (n,)
    R = P[np.argsort(row_bytes, kind="stable")] / share  # (n, K) likelihoods; sums do not depend on the order of rows
    n, prior = len(P), share.copy()
    added = max(len(share), n**0.5) if added is None else added
    with one_blas_thread():
        for _ in range(MOST_STEPS):
            new = (prior * ((1.0 / (R @ prior)) @ R) + added * share) / (n + added)
            moved = float(np.abs(new - prior).max())
            prior = new / new.sum()
            if moved < CLOSE:
                break
    out = np.zeros(len(training))
    out[known] = prior
    return out


@accept_pipelines
def predict_level(clf: Any, X: Any, level: int, *, init_score: Any = None) -> AnyArray:
    """Return the name of the most probable node at a level of the hierarchy for every row, (n,).

    The model must have been fitted with a tree of classes. Ties go to the node that comes first in the tree.

    Examples
    --------
    >>> tree = sb.Hierarchy({"small": [0], "large": [1, 2]})
    >>> predict_level(clf.set_params(classes=tree).fit(X, y), X[[0, 60, 120]], 1).tolist()
    ['small', 'large', 'large']
    """
    P = predict_proba_level(clf, X, level, init_score=init_score)
    return nodes_of(clf, level).take(P.argmax(axis=1))


@accept_pipelines
def predict_proba_level(clf: Any, X: Any, level: int, *, init_score: Any = None) -> Array:
    """Return the probabilities of the nodes at a level of the hierarchy, (n, number of nodes): sums over their classes.

    The columns are in the order of ``hierarchy_.nodes(level, classes_)``.

    Examples
    --------
    >>> tree = sb.Hierarchy({"small": [0], "large": [1, 2]})
    >>> predict_proba_level(clf.set_params(classes=tree).fit(X, y), X[[0, 60]], 1).round(1).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    nodes_of(clf, level)
    P = np.asarray(clf.predict_proba(X, init_score=init_score))
    return merge_sums(P, clf.hierarchy_.members(level, clf.classes_).argmax(axis=1))


def nodes_of(clf: Any, level: Any) -> AnyArray:
    """Return the names of the nodes at a level; raise unless the model has a hierarchy with this level."""
    if getattr(clf, "hierarchy_", None) is None:
        raise ValueError("predict_level needs a tree of classes; fit the model with classes=Hierarchy(...).")
    return names_array(clf.hierarchy_.nodes(level, clf.classes_))


@accept_pipelines
def top_k(clf: Any, X: Any, k: int, *, init_score: Any = None) -> tuple[AnyArray, Array]:
    """Return the k most probable labels of every row, (n, k), and their probabilities (n, k), the largest first.

    Ties go to the class that comes first in ``classes_``. Rows are predicted in blocks, so that there is never an array
    of rows × classes.

    Parameters
    ----------
    k : int
        The number of labels per row, from 1 to the number of classes.

    Examples
    --------
    >>> labels, P = top_k(clf, X[[77]], 2)
    >>> labels.tolist(), bool(P[0, 0] > P[0, 1])
    ([[1, 2]], True)
    """
    X = clf._check_X(X)
    check_one_class(clf, "top_k takes models of one class per row")
    check_number("k", k, int, 1, len(clf.classes_))
    best, P = np.empty((X.shape[0], k), dtype=np.intp), np.empty((X.shape[0], k))
    for rows, of_rows in clf._proba_blocks(X, init_score):
        best[rows], P[rows] = find_highest(of_rows, k)
    return clf.classes_.take(best), P


def find_highest(P: Array, k: int) -> tuple[AnyArray, Array]:
    """Return the column indices of the k largest values in every row of P, and these values in descending order."""
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
