"""Generates small problems from papers on boosting, whose best solution is known; some have label noise.

There are three Gaussians (MCBoost); two counter-examples, one on which one-vs-all fails, one on which SAMME's loss goes
to zero but nothing is learned; and, with label noise, the problems of Long and Servedio and of Geist (Madelon-like).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.datasets

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_number
from .sources import Dataset, split


def check_sizes(n_train: int, n_test: int) -> None:
    check_number("n_train", n_train, int, 1)
    check_number("n_test", n_test, int, 1)


def split_rows(name: str, X: Array, y: Labels, K: int, n_train: int) -> Dataset:
    """Return a data set whose first ``n_train`` rows are for training; features are named x1, x2, …, classes 0, 1, …"""
    p = X.shape[1]
    names = [f"x{j + 1}" for j in range(p)]
    return split(name, X, y, names, np.zeros(p, dtype=bool), [str(k) for k in range(K)], n_train)


# The synthetic example of both MCBoost papers (Saberian and Vasconcelos). They do not state the priors; here all are
# equal.
MEANS = np.array([[1.0, 2.0], [-1.0, 0.0], [2.0, -1.0]])
COVARIANCES = np.array([[[1.0, 0.5], [0.5, 2.0]], [[1.0, 0.3], [0.3, 1.0]], [[0.4, 0.1], [0.1, 0.8]]])
BAYES_ERROR = 0.11445  # with equal priors, by integration


@described
def make_three_gaussians(n_train: int = 1000, n_test: int = 1000, random_state: Any = None) -> Dataset:
    """Draw three Gaussian classes in the plane, for which the best possible error is 0.11445.

    Labels are drawn independently with probability one third each, so that class counts vary from draw to draw.

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
    return split_rows("three_gaussians", X, y, 3, n_train)


def three_gaussians_bayes(X: Any) -> Labels:
    """Return the class of highest density (Bayes' rule) for rows as drawn by `make_three_gaussians`, (n,).

    Parameters
    ----------
    X : array of shape (n, 2)
        The rows.

    Examples
    --------
    >>> three_gaussians_bayes(MEANS)
    array([0, 1, 2])
    """
    centred = np.asarray(X, dtype=np.float64)[:, None, :] - MEANS  # (n, 3, 2)
    distance: Array = np.einsum("nki,kij,nkj->nk", centred, np.linalg.inv(COVARIANCES), centred)
    return np.asarray((-0.5 * distance - 0.5 * np.linalg.slogdet(COVARIANCES)[1]).argmax(axis=1))


@described
def make_ova_suboptimal(
    n_train: int = 1000, n_test: int = 1000, spread: float = 0.0, random_state: Any = None
) -> Dataset:
    """Draw three classes along a line; linear one-vs-rest classifiers never predict the middle class.

    The clusters are at (−1, 1), (0, 1), (1, 1) and have 40, 20 and 40 % of the rows. So linear one-vs-rest classifiers
    have an error of 20 %; linear classifiers that are trained jointly make no error. The example is from Rousu's
    lecture on multiclass classification.

    Parameters
    ----------
    spread : float, default=0.0
        The standard deviation of the clusters; with 0 they are points.

    Examples
    --------
    >>> np.bincount(make_ova_suboptimal(100, 50, random_state=0).y_train)
    array([40, 20, 40])
    """
    check_sizes(n_train, n_test)
    check_number("spread", spread, float, 0.0)
    rng = np.random.default_rng(random_state)
    ends = np.cumsum([0.4, 0.2, 0.4])  # class counts are as near to the frequencies as whole numbers can be
    parts = [np.searchsorted(np.round(ends * n), np.arange(n), side="right") for n in (n_train, n_test)]
    y = np.concatenate([rng.permutation(part.astype(np.intp)) for part in parts])
    X = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])[y] + spread * rng.standard_normal((len(y), 2))
    return split_rows("ova_suboptimal", X, y, 3, n_train)


def make_samme_counterexample(n_classes: int = 3, n_copies: int = 1) -> Dataset:
    """Make data on which SAMME's weak-learning condition always holds, but nothing can be learned: every error is ½.

    Figure 1 of Mukherjee & Schapire (2013) has two examples of different classes that no weak classifier can tell
    apart, and a third class. These data repeat it for every class: at x = k the classes k and k + 1 (modulo K) are
    equally frequent. For any sample weights, some weak classifier errs on at most half of the weight, which is less
    than the 1 − 1/K that SAMME allows. So SAMME's loss goes to zero while its error stays ½. The training and the test
    part are equal.

    Parameters
    ----------
    n_classes : int, default=3
        The number of classes K, at least 3.
    n_copies : int, default=1
        How often every example is repeated.

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
    return split_rows("samme_counterexample", X, np.tile(y, 2), n_classes, len(y))


def flip(y: Labels, n_train: int, choices: Labels) -> Labels:
    """Return labels y whose first ``n_train`` are replaced by ``choices`` (n_train,) where a choice is not negative."""
    noisy = y.copy()
    noisy[:n_train] = np.where(choices >= 0, choices, y[:n_train])
    return noisy


@described
def make_long_servedio(
    n_train: int = 4000, n_test: int = 10_000, label_noise: float = 0.0, random_state: Any = None
) -> Dataset:
    """Draw two classes of rows of 21 bits: a majority vote is always right, but label noise misleads convex boosters.

    In a quarter of the rows all bits equal the label (large margin). In a quarter, the pullers, the first 11 bits equal
    the label and the last 10 do not. In half, the penalizers, 5 of the first 11 and 6 of the last 10 bits equal the
    label. The problem is that of Long & Servedio (2010), with the sizes of Geist (2015).

    Parameters
    ----------
    label_noise : float, default=0.0
        The probability that a training label is flipped, at most 0.5.

    Examples
    --------
    >>> data = make_long_servedio(400, 1000, label_noise=0.2, random_state=0)
    >>> data
    Dataset('long_servedio': 400 + 1000 rows, 21 features, 2 classes)
    >>> bool(((data.X_test.sum(axis=1) > 10) == data.y_test).all())
    True
    """
    check_sizes(n_train, n_test)
    check_number("label_noise", label_noise, float, 0.0, 0.5)
    rng = np.random.default_rng(random_state)
    y = rng.integers(2, size=n_train + n_test)
    agrees = np.concatenate([draw_agreement(n_train, rng), draw_agreement(n_test, rng)])  # (n, 21) bool
    X = np.where(agrees, y[:, None], 1 - y[:, None]).astype(np.float64)
    flipped = np.where(rng.random(n_train) < label_noise, 1 - y[:n_train], -1)
    return split_rows("long_servedio", X, flip(y, n_train, flipped), 2, n_train)


def draw_agreement(n: int, rng: np.random.Generator) -> AnyArray:
    """Draw a mask (n, 21), true where a bit equals the label of its row, for the rows of `make_long_servedio`."""
    quarter = n // 4
    agrees = np.ones((n, 21), dtype=bool)
    agrees[quarter : 2 * quarter, 11:] = False
    first, last = np.arange(11) < 5, np.arange(10) < 6
    for row in agrees[2 * quarter :]:
        row[:11], row[11:] = rng.permutation(first), rng.permutation(last)
    return rng.permutation(agrees)


@dataclass(frozen=True)
class MadelonParameters:
    """The parameters of `make_madelon_like`; the class method `draw` chooses them at random as Geist (2015) does.

    Attributes
    ----------
    n_informative, n_redundant, n_repeated, n_useless : int
        The numbers of informative features, of linear combinations of these, of copied features, and of noise features.
    n_classes : int
        The number of classes.
    n_clusters : int
        The number of Gaussian clusters per class, each around a vertex of a hypercube.
    label_noise : float
        The fraction of the training labels that is replaced by random labels.
    n_train : int
        The number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> parameters = MadelonParameters.draw(np.random.default_rng(0))
    >>> parameters.n_classes >= 2, 0 <= parameters.label_noise <= 1
    (True, True)
    """

    n_informative: int
    n_redundant: int
    n_repeated: int
    n_useless: int
    n_classes: int
    n_clusters: int
    label_noise: float
    n_train: int

    @classmethod
    def draw(cls, random_state: Any = None) -> MadelonParameters:
        """Draw random parameters, again and again until the hypercube has a vertex for every cluster."""
        rng = np.random.default_rng(random_state)
        while True:
            informative, redundant, repeated, useless, classes, clusters = (
                int(rng.integers(low, high, endpoint=True))
                for low, high in ((2, 10), (0, 3), (0, 3), (0, 3), (2, 5), (2, 5))
            )
            label_noise, n_train = float(rng.uniform(0.0, 0.25)), int(rng.integers(300, 3000, endpoint=True))
            if classes * clusters <= 2**informative:
                return cls(informative, redundant, repeated, useless, classes, clusters, label_noise, n_train)


@described
def make_madelon_like(
    parameters: MadelonParameters | None = None, n_test: int = 10_000, random_state: Any = None
) -> Dataset:
    """Draw a problem of Geist's family (2015, sec. 5.3), similar to Guyon's Madelon data, with noisy training labels.

    Clusters lie on vertices of a hypercube, and features are mixed, copied, shifted and scaled at random
    (`sklearn.datasets.make_classification`). A fraction of the training labels is replaced by uniform random labels.

    Parameters
    ----------
    parameters : MadelonParameters or None, default=None
        The sizes and the label noise; None draws them at random.

    Examples
    --------
    >>> make_madelon_like(MadelonParameters(4, 1, 1, 1, 3, 2, 0.1, 300), n_test=500, random_state=0)
    Dataset('madelon_like': 300 + 500 rows, 7 features, 3 classes)
    """
    rng = np.random.default_rng(random_state)
    p = MadelonParameters.draw(rng) if parameters is None else parameters
    check_sizes(p.n_train, n_test)
    check_number("label_noise", p.label_noise, float, 0.0, 1.0)
    X, y = sklearn.datasets.make_classification(
        n_samples=p.n_train + n_test,
        n_features=p.n_informative + p.n_redundant + p.n_repeated + p.n_useless,
        n_informative=p.n_informative,
        n_redundant=p.n_redundant,
        n_repeated=p.n_repeated,
        n_classes=p.n_classes,
        n_clusters_per_class=p.n_clusters,
        flip_y=0.0,
        class_sep=1.0,
        shift=None,
        scale=None,
        random_state=int(rng.integers(2**32)),
    )
    anew = np.where(rng.random(p.n_train) < p.label_noise, rng.integers(p.n_classes, size=p.n_train), -1)
    return split_rows("madelon_like", X, flip(y, p.n_train, anew), p.n_classes, p.n_train)
