"""Generators: small problems of the papers whose answer is known, each a `Dataset` with a training and a test part.

Three Gaussians (MCBoost), and two counter-examples: one on which one-vs-all errs, one on which SAMME drives its loss to
zero without learning anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array, Labels
from .record import Dataset, check_sizes, made

# ---- three Gaussians ------------------------------------------------------------------------------------------------

# The synthetic example of both MCBoost papers (Saberian and Vasconcelos). They do not state the priors; here all are
# equal.
MEANS = np.array([[1.0, 2.0], [-1.0, 0.0], [2.0, -1.0]])
COVARIANCES = np.array([[[1.0, 0.5], [0.5, 2.0]], [[1.0, 0.3], [0.3, 1.0]], [[0.4, 0.1], [0.1, 0.8]]])
BAYES_ERROR = 0.11445  # with equal priors, by integration


def make_three_gaussians(n_train: int = 1000, n_test: int = 1000, random_state: Any = None) -> Dataset:
    """Three classes in the plane, each Gaussian; the best possible error is 0.11445.

    Labels are drawn independently with probability one third each, so that class counts vary from draw to draw.

    Parameters
    ----------
    n_train : int, default=1000
        Training rows.
    n_test : int, default=1000
        Test rows.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> make_three_gaussians(300, 200, random_state=0)
    Dataset('three_gaussians': 300 + 200 rows, 2 features, 3 classes)
    """
    check_sizes(n_train, n_test)
    rng = np.random.default_rng(random_state)
    y = rng.integers(3, size=n_train + n_test)
    noise = rng.standard_normal((len(y), 2))
    X = MEANS[y] + np.einsum("nij,nj->ni", np.linalg.cholesky(COVARIANCES)[y], noise)
    return made("three_gaussians", X, y, 3, n_train)


def three_gaussians_bayes(X: Any) -> Labels:
    """The Bayes rule of `make_three_gaussians`: the class with the highest density.

    Parameters
    ----------
    X : array of shape (n, 2)
        The rows.

    Returns
    -------
    int array of shape (n,)
        The classes.

    Examples
    --------
    >>> three_gaussians_bayes(MEANS)
    array([0, 1, 2])
    """
    centred = np.asarray(X, dtype=np.float64)[:, None, :] - MEANS  # (n, 3, 2)
    distance: Array = np.einsum("nki,kij,nkj->nk", centred, np.linalg.inv(COVARIANCES), centred)
    return np.asarray((-0.5 * distance - 0.5 * np.linalg.slogdet(COVARIANCES)[1]).argmax(axis=1))


# ---- counter-examples -----------------------------------------------------------------------------------------------

OVA_CENTRES = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
OVA_FREQUENCIES = np.array([0.4, 0.2, 0.4])


def make_ova_suboptimal(
    n_train: int = 1000, n_test: int = 1000, spread: float = 0.0, random_state: Any = None
) -> Dataset:
    """Three classes in a row: linear scores separate them, yet no linear rule tells the middle one from the others.

    The clusters are at (−1, 1), (0, 1), (1, 1) and have 40, 20 and 40 % of the rows. Linear classifiers that are
    trained one against the rest never predict the middle class, which is an error of 20 %; trained together they make
    no error. The example is from Rousu's lecture on multiclass classification.

    Parameters
    ----------
    n_train : int, default=1000
        Training rows.
    n_test : int, default=1000
        Test rows.
    spread : float, default=0.0
        Standard deviation of the clusters; at 0 they are points.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> np.bincount(make_ova_suboptimal(100, 50, random_state=0).y_train)
    array([40, 20, 40])
    """
    check_sizes(n_train, n_test)
    check_number("spread", spread, float, 0.0)
    rng = np.random.default_rng(random_state)
    y = np.concatenate([rng.permutation(in_proportion(n, OVA_FREQUENCIES)) for n in (n_train, n_test)])
    X = OVA_CENTRES[y] + spread * rng.standard_normal((len(y), 2))
    return made("ova_suboptimal", X, y, 3, n_train)


def in_proportion(n: int, frequencies: Array) -> Labels:
    """n labels in ascending order, whose counts are as near to the frequencies as whole numbers can be."""
    ends = np.round(np.cumsum(frequencies) * n)
    return np.searchsorted(ends, np.arange(n), side="right").astype(np.intp)


def make_samme_counterexample(n_classes: int = 3, n_copies: int = 1) -> Dataset:
    """Data on which SAMME's weak-learning condition always holds, but nothing can be learned: every error is ½.

    Figure 1 of Mukherjee & Schapire (2013) has two examples of different classes that no weak classifier can tell
    apart, and a third class. Here that is repeated for every class, so that all of them have examples: at x = k the
    classes k and k + 1 (modulo K) are equally frequent. Whatever the weights, some learner errs on at most half of
    them, which is less than the 1 − 1/K that SAMME allows; SAMME's loss goes to zero while its error stays ½. The
    training part and the test part are the same.

    Parameters
    ----------
    n_classes : int, default=3
        K, at least 3.
    n_copies : int, default=1
        How often every example occurs.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = make_samme_counterexample()
    >>> data.X_train.ravel(), data.y_train
    (array([0., 0., 1., 1., 2., 2.]), array([0, 1, 1, 2, 2, 0]))
    """
    check_number("n_classes", n_classes, int, 3)
    check_number("n_copies", n_copies, int, 1)
    x = np.repeat(np.arange(n_classes), 2 * n_copies)
    y = (x + np.tile(np.repeat([0, 1], n_copies), n_classes)) % n_classes
    X = np.tile(x, 2)[:, None].astype(np.float64)
    return made("samme_counterexample", X, np.tile(y, 2), n_classes, len(y))
