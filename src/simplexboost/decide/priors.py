"""Probabilities under other class priors than in training: p'_k ∝ p_k · prior_k / training_k.

This holds under label shift: the distribution of a row within its class is that of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Mask
from .._util.runtime import one_blas_thread
from ..tables.labels import as_listed, listed_classes
from .rows import check_one_class, over_rows

CLOSE = 1e-8  # EM stops when no share changes by more than this
MOST_STEPS = 10_000


@over_rows
def predict_proba(clf: Any, X: Any, prior: Any = None, *, init_score: Any = None) -> Array:
    """Probabilities (n, K) if classes come in other shares than in training.

    Parameters
    ----------
    clf : classifier
        A fitted booster.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit. NaN and None mean missing.
    prior : array of shape (K,), dict or Series of shares by label, or None, default=None
        The shares of the classes among the rows to come; None takes those of training.
    init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
        Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

    Returns
    -------
    array of shape (n, K)
        The probabilities, a column for every class in the order of ``classes_``.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> predict_proba(clf, X[[77]], prior={0: 0.2, 1: 0.7, 2: 0.1}).round(1).tolist()
    [[0.1, 0.9, 0.1]]
    """
    return adjusted_proba(clf, X, prior, init_score)


@over_rows
def estimate_prior(clf: Any, X: Any, *, init_score: Any = None) -> Array:
    """The shares of the classes among unlabelled rows, (K,): nearly those under which the rows are most likely.

    The likelihood counts as if max(K, √n) more rows had been seen, with the shares of training. Take it for rows to
    come whose classes have other shares than in training but look the same, and pass it on:
    ``decide.predict_proba(clf, X, prior=decide.estimate_prior(clf, X))``.

    Parameters
    ----------
    clf : classifier
        A fitted booster.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit; some hundreds at least.
    init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
        Log-odds that the trees' scores are added to, in the same form that ``fit`` takes.

    Returns
    -------
    array of shape (K,)
        The shares, in the order of ``classes_``; they sum to one.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> estimate_prior(clf, X[1:50:2]).round(1).tolist()  # flowers of the first class only
    [0.9, 0.1, 0.1]
    """
    return estimated_prior(adjusted_proba(clf, X, None, init_score), clf.class_prior_)


def adjusted_proba(clf: Any, X: Any, prior: Any, init_score: Any) -> Array:
    """Probabilities (n, K) for other shares of the classes; for those of training if ``prior`` is None."""
    X = clf._check_X(X)
    check_one_class(clf, "costs and prior are those of classes of which one is right")
    shares = None if prior is None else check_prior(prior, clf.classes_, clf.present_)
    P: Array = clf._proba(X, clf._start(X, init_score))
    return P if shares is None else adapted(P, shares, clf.class_prior_)


def check_prior(prior: Any, classes: AnyArray, present: Mask) -> Array:
    """The shares of the classes as users write them, (K,), divided by their sum.

    Parameters
    ----------
    prior : array (K,) in the order of the classes, or dict or pandas Series by label
    classes : (K,) their labels
    present : (K,) which of them had training examples
    """
    if hasattr(prior, "index") and hasattr(prior, "items"):  # a Series, such as y.value_counts(normalize=True)
        prior = by_label(prior)
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


def by_label(series: Any) -> dict[Any, Any]:
    """The values of a pandas Series by what its index holds; raise if that holds something twice."""
    found = dict(series.items())
    if len(found) < len(series):
        raise ValueError(f"prior is a Series whose index {series.index.tolist()[:5]} holds a label twice.")
    return found


def adapted(P: Array, prior: Array, training: Array) -> Array:
    """Probabilities (n, K) for other shares of the classes (K,) than those of training (K,).

    Examples
    --------
    >>> adapted(np.array([[0.5, 0.5]]), np.array([0.9, 0.1]), np.array([0.5, 0.5]))
    array([[0.9, 0.1]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        L = np.log(P) + np.where(prior > 0, np.log(prior) - np.log(training), -np.inf)  # (n, K)
    L -= L.max(axis=1, keepdims=True)
    E: Array = np.exp(L)
    return E / E.sum(axis=1, keepdims=True)


def rows_added(n: int, K: int) -> float:
    """How many rows with the shares of training are added to n rows; `benchmarks.defaults` tries other numbers."""
    return max(K, n**0.5)


def estimated_prior(P: Array, training: Array, added: float | None = None) -> Array:
    """The shares of the classes (K,) among rows with these probabilities (n, K), given those of training (K,).

    By expectation and maximisation (Saerens, Latinne and Decaestecker, 2002): shares are the mean of the probabilities
    that they imply, again and again. That climbs to the shares under which the rows are most likely; there is only one
    such maximum, so that the start does not matter. Of few rows the most likely shares are extreme: classes that are
    hard to tell apart get all or nothing. So rows are added that have the shares of training: as many as there are
    classes, or the square root of the number of rows, if that is more, or ``added``. Of many rows they count for
    little.
    """
    known = training > 0
    share = training[known]
    R, prior = in_own_order(P[:, known]) / share, share.copy()  # (n, K): the likelihood of a row, up to a factor
    n, added = len(P), rows_added(len(P), len(share)) if added is None else added
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


def in_own_order(P: Array) -> Array:
    """The rows of P (n, K) in an order of their bytes, so that sums do not depend on the order in which they came."""
    P = np.ascontiguousarray(P)
    whole = P.view(np.dtype((np.void, P.shape[1] * P.itemsize)))[:, 0]  # (n,), a row as one value
    return P[np.argsort(whole, kind="stable")]
