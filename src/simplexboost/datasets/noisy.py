"""Generators of problems with label noise: Long and Servedio's, and Geist's Madelon-like family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.datasets

from .._parts import check_number
from .._typing import AnyArray, Labels
from .record import Dataset, check_sizes, made


def flip(y: Labels, n_train: int, choices: Labels) -> Labels:
    """The training labels replaced by the choices where those are not negative; test labels stay clean."""
    noisy = y.copy()
    noisy[:n_train] = np.where(choices >= 0, choices, y[:n_train])
    return noisy


# ---- Long and Servedio ----------------------------------------------------------------------------------------------


def make_long_servedio(
    n_train: int = 4000, n_test: int = 10_000, label_noise: float = 0.0, random_state: Any = None
) -> Dataset:
    """Two classes and 21 bits; a majority vote of the bits is always right, yet label noise misleads convex boosters.

    A quarter of the rows are large-margin examples (all bits equal the label), a quarter are pullers (the first 11
    equal it, the last 10 do not) and half are penalizers (5 of the first 11 and 6 of the last 10 equal it). The problem
    is that of Long & Servedio (2010), with the sizes of Geist (2015).

    Parameters
    ----------
    n_train : int, default=4000
        Training rows, whose labels are noisy.
    n_test : int, default=10000
        Test rows, whose labels are clean.
    label_noise : float, default=0.0
        The probability that a training label is flipped, at most 0.5.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    Dataset

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
    agrees = np.concatenate([long_servedio_bits(n_train, rng), long_servedio_bits(n_test, rng)])  # (n, 21) bool
    X = np.where(agrees, y[:, None], 1 - y[:, None]).astype(np.float64)
    flipped = np.where(rng.random(n_train) < label_noise, 1 - y[:n_train], -1)
    return made("long_servedio", X, flip(y, n_train, flipped), 2, n_train)


def long_servedio_bits(n: int, rng: np.random.Generator) -> AnyArray:
    """Which bits equal the label, (n, 21): a quarter large margins, a quarter pullers, half penalizers, shuffled."""
    quarter = n // 4
    agrees = np.ones((n, 21), dtype=bool)
    agrees[quarter : 2 * quarter, 11:] = False
    first, last = np.arange(11) < 5, np.arange(10) < 6
    for row in agrees[2 * quarter :]:
        row[:11], row[11:] = rng.permutation(first), rng.permutation(last)
    return rng.permutation(agrees)


# ---- Geist's Madelon-like family ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MadelonParameters:
    """The parameters of a problem of Geist's family; `draw` chooses them at random in the way of the paper.

    Attributes
    ----------
    n_informative : int
        The number of informative features.
    n_redundant : int
        The number of features that are linear combinations of the informative ones.
    n_repeated : int
        The number of features that repeat others.
    n_useless : int
        The number of features that are noise.
    n_classes : int
        The number of classes.
    n_clusters : int
        The number of Gaussian clusters of a class, each on a vertex of a hypercube.
    label_noise : float
        The fraction of the training labels that is drawn again at random.
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
        """Draw until the hypercube has a vertex for every cluster (many draws have 2 features and 25 clusters).

        Examples
        --------
        >>> MadelonParameters.draw(random_state=0).n_classes
        3
        """
        rng = np.random.default_rng(random_state)
        while True:
            informative, redundant, repeated, useless, classes, clusters = (
                int(rng.integers(low, high, endpoint=True))
                for low, high in ((2, 10), (0, 3), (0, 3), (0, 3), (2, 5), (2, 5))
            )
            label_noise, n_train = float(rng.uniform(0.0, 0.25)), int(rng.integers(300, 3000, endpoint=True))
            if classes * clusters <= 2**informative:
                return cls(informative, redundant, repeated, useless, classes, clusters, label_noise, n_train)


def make_madelon_like(
    parameters: MadelonParameters | None = None, n_test: int = 10_000, random_state: Any = None
) -> Dataset:
    """A problem of Geist's family (2015, sec. 5.3), after Guyon's Madelon data; only training labels are noisy.

    Clusters lie on vertices of a hypercube, and features are mixed, repeated, shifted and scaled at random
    (`sklearn.datasets.make_classification`). A fraction of the training labels is drawn again, uniformly.

    Parameters
    ----------
    parameters : MadelonParameters or None, default=None
        None draws them at random.
    n_test : int, default=10000
        Test rows.
    random_state : int, Generator or None, default=None
        Seed; also used to draw the parameters.

    Returns
    -------
    Dataset

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
    return made("madelon_like", X, flip(y, p.n_train, anew), p.n_classes, p.n_train)
