"""Defines `Dataset`, the class of all data sets, and loads data sets by name: own files, scikit-learn or OpenML.

`load` looks for ``<name>.npz`` first, so that with a folder of files (``SIMPLEXBOOST_DATA``) no network is needed.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.model_selection import train_test_split

from .._util.arrays import AnyArray, Labels, Mask

ENVIRONMENT = "SIMPLEXBOOST_DATA"  # names a folder of <name>.npz files
KEYS = ("X_train", "y_train", "X_test", "y_test", "feature_names", "categorical", "class_names")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set, divided into a training and a test part.

    Attributes
    ----------
    name : str
        The name of the data set.
    X_train, X_test : array of shape (n, p)
        The feature values: numbers, NaN where a value is missing, integer category codes in categorical columns.
    y_train, y_test : int array of shape (n,)
        The class indices of the rows, 0 .. K−1, which index ``class_names``.
    feature_names : array of shape (p,)
        The names of the features.
    categorical : bool array of shape (p,)
        Which columns are categorical.
    class_names : array of shape (K,)
        The names of the classes.

    Examples
    --------
    >>> from simplexboost import datasets
    >>> wine = datasets.load("wine")
    >>> wine.X_train.shape, wine.class_names.tolist()
    ((133, 13), ['class_0', 'class_1', 'class_2'])
    """

    name: str
    X_train: AnyArray
    y_train: Labels
    X_test: AnyArray
    y_test: Labels
    feature_names: AnyArray
    categorical: Mask
    class_names: AnyArray

    def __repr__(self) -> str:
        rows = f"{len(self.X_train)} + {len(self.X_test)} rows"
        return f"Dataset({self.name!r}: {rows}, {self.X_train.shape[1]} features, {len(self.class_names)} classes)"


def make_dataset(name: str, arrays: dict[str, AnyArray], source: str) -> Dataset:
    """Make a `Dataset` from arrays; raise an error that names ``source`` unless shapes and labels agree."""
    X_train, y_train, X_test, y_test = (arrays[key] for key in KEYS[:4])
    p, K = len(arrays["feature_names"]), len(arrays["class_names"])
    labels = np.concatenate([y_train.ravel(), y_test.ravel()])
    problems = {
        f"X_train and X_test must have {p} columns, one per feature name": X_train.shape[1:] != (p,)
        or X_test.shape[1:] != (p,),
        "y_train and y_test must have a label per row": y_train.shape != X_train.shape[:1]
        or y_test.shape != X_test.shape[:1],
        "X_train and X_test must hold numbers": X_train.dtype.kind not in "biuf" or X_test.dtype.kind not in "biuf",
        f"categorical must hold {p} booleans": arrays["categorical"].shape != (p,)
        or arrays["categorical"].dtype != bool,
        f"labels must be codes 0 .. {K - 1}": labels.dtype.kind not in "iu"
        or (labels.size > 0 and not 0 <= labels.min() <= labels.max() < K),
    }
    wrong = [message for message, found in problems.items() if found]
    if wrong:
        raise ValueError(f"{source} does not hold a data set: {'; '.join(wrong)}.")
    codes = {key: arrays[key].astype(np.intp) for key in ("y_train", "y_test")}
    texts = {key: arrays[key].astype(str) for key in ("feature_names", "class_names")}
    return Dataset(name, **arrays | codes | texts)


def split(name: str, X: Any, y: Any, features: Any, categorical: Any, classes: Any, n_train: int = 0) -> Dataset:
    """Make a `Dataset` with the first ``n_train`` rows for training; if this is 0, split at random, stratified.

    Rows keep their order. A class with only one row has this row in the training part.
    """
    rows = np.arange(len(y))
    if n_train:
        train, test = rows[:n_train], rows[n_train:]
    else:
        alone = np.bincount(y)[y] < 2
        train, test = train_test_split(rows[~alone], test_size=0.25, stratify=y[~alone], random_state=0)
        train, test = np.sort(np.concatenate([train, rows[alone]])), np.sort(test)
    values = (X[train], y[train], X[test], y[test], np.array(features), np.array(categorical), np.array(classes))
    return make_dataset(name, dict(zip(KEYS, values, strict=True)), name)


def load(name: str, data_home: str | Path | None = None) -> Dataset:
    """Load a data set by name.

    Four places are searched in this order: ``<name>.npz`` in ``data_home``, ``<name>.npz`` in the folder that the
    environment variable ``SIMPLEXBOOST_DATA`` names, scikit-learn's embedded data sets, and OpenML. OpenML needs a
    network the first time; scikit-learn then keeps a copy.

    Parameters
    ----------
    name : str
        One of the names that `available` returns.
    data_home : str, Path or None, default=None
        A folder with files that `read_npz` can read.

    Examples
    --------
    >>> load("wine")
    Dataset('wine': 133 + 45 rows, 13 features, 3 classes)
    """
    for folder in _folders(data_home):
        if (path := folder / f"{name}.npz").is_file():
            return read_npz(path)
    if name in EMBEDDED:
        bunch = EMBEDDED[name]()
        no_categories = np.zeros(bunch.data.shape[1], dtype=bool)
        return split(name, bunch.data, bunch.target, bunch.feature_names, no_categories, bunch.target_names)
    if name in OPENML:
        return fetch_set(name)
    raise ValueError(f"name={name!r} is unknown; choose one of {', '.join(map(repr, available(data_home)))}.")


def available(data_home: str | Path | None = None) -> list[str]:
    """Return the names of all data sets that `load` can find, sorted; those on OpenML may need a network.

    Parameters
    ----------
    data_home : str, Path or None, default=None
        A folder with files that `read_npz` can read; the folder in ``SIMPLEXBOOST_DATA`` is always searched, too.

    Examples
    --------
    >>> "digits" in available() and "letter" in available()
    True
    """
    files = [path.stem for folder in _folders(data_home) for path in folder.glob("*.npz")]
    return sorted({*files, *EMBEDDED, *OPENML})


def _folders(data_home: str | Path | None) -> list[Path]:
    """Return the folders with data files, in the order of search; raise if ``data_home`` does not exist."""
    if data_home is not None and not Path(data_home).is_dir():
        raise FileNotFoundError(f"data_home={str(data_home)!r} is no folder; pass a folder of .npz files, or None.")
    places = [data_home, os.environ.get(ENVIRONMENT)]
    return [Path(place) for place in places if place and Path(place).is_dir()]


def read_npz(path: str | Path) -> Dataset:
    """Read a data set from ``<name>.npz``; raise if there are pickled objects or if the arrays do not fit together.

    Parameters
    ----------
    path : str or Path
        A file with the arrays X_train, y_train, X_test, y_test, feature_names, categorical and class_names.

    Examples
    --------
    >>> import tempfile
    >>> wine = load("wine")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", **{key: getattr(wine, key) for key in KEYS})
    ...     read_npz(f"{folder}/mine.npz")
    Dataset('mine': 133 + 45 rows, 13 features, 3 classes)
    """
    path = Path(path)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {key: file[key] for key in KEYS}
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is no data set file, or it is damaged ({error}); it needs {', '.join(KEYS)}."
        ) from error
    return make_dataset(path.stem, arrays, str(path))


EMBEDDED = {name: getattr(sklearn.datasets, f"load_{name}") for name in ("breast_cancer", "digits", "iris", "wine")}


@dataclass(frozen=True)
class OpenMLSet:
    """A data set on OpenML, with the sizes and counts that a downloaded copy must have.

    The class counts of the training part show whether the rows are in the official order.

    Attributes
    ----------
    data_id : int
        The identifier of the data set on OpenML.
    shape : tuple of two ints
        The number of rows and of columns of the file.
    n_classes : int
        The number of classes.
    n_train : int, default=0
        The number of rows at the beginning of the file that are the official training part. It is 0 if there is no
        official split, or if OpenML has the rows in another order (letter) or not all of them (satimage lacks 5 of
        6435).
    train_counts, counts : tuple of ints, default=()
        The class counts of the training part and of the whole file, in ascending order.
    columns, rows : int, default=0
        How many of the last columns and how many of the first rows are kept; 0 keeps all. The dropped columns have
        names of speakers or row numbers.

    Examples
    --------
    >>> OPENML["letter"].n_classes
    26
    """

    data_id: int
    shape: tuple[int, int]
    n_classes: int
    n_train: int = 0
    train_counts: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    columns: int = 0
    rows: int = 0


ABALONE = (1, 1, 1, 1, 1, 2, 2, 6, 9, 14, 15, 26, 32, 42, 57, 58, 67, 103, 115, 126, 203, 259, 267, 391, 487)
OPENML = {
    "abalone": OpenMLSet(183, (4177, 8), 28, counts=(*ABALONE, 568, 634, 689)),
    "breast_tissue": OpenMLSet(1465, (106, 9), 6, counts=(14, 15, 16, 18, 21, 22)),
    "car": OpenMLSet(40975, (1728, 6), 4, counts=(65, 69, 384, 1210)),
    "connect4": OpenMLSet(40668, (67557, 42), 3, counts=(6449, 16635, 44473)),
    "covtype15k": OpenMLSet(1596, (581012, 54), 7, 15120, (2160,) * 7, rows=25120),
    "dna": OpenMLSet(40670, (3186, 180), 3, 2000, (464, 485, 1051)),
    "ecoli": OpenMLSet(39, (336, 7), 8, counts=(2, 2, 5, 20, 35, 52, 77, 143)),
    "fashion_mnist": OpenMLSet(40996, (70000, 784), 10, 60000, (6000,) * 10),
    "isolet": OpenMLSet(300, (7797, 617), 26, 6238, (238, *(240,) * 25)),
    "krvskp": OpenMLSet(3, (3196, 36), 2, counts=(1527, 1669)),
    "letter": OpenMLSet(6, (20000, 16), 26),
    "magic04": OpenMLSet(1120, (19020, 10), 2, counts=(6688, 12332)),
    "mnist": OpenMLSet(554, (70000, 784), 10, 60000, (5421, 5842, 5851, 5918, 5923, 5949, 5958, 6131, 6265, 6742)),
    "nursery": OpenMLSet(26, (12960, 8), 5),
    "optdigits": OpenMLSet(28, (5620, 64), 10, 3823, (376, 376, 377, 380, 380, 382, 387, 387, 389, 389)),
    "pendigits": OpenMLSet(32, (10992, 16), 10, 7494, (719, 719, 719, 720, 720, 778, 779, 780, 780, 780)),
    "plants_margin": OpenMLSet(1491, (1600, 64), 100),
    "plants_shape": OpenMLSet(1492, (1600, 64), 100),
    "poker": OpenMLSet(1567, (1025009, 10), 10, rows=40010),
    "satimage": OpenMLSet(182, (6430, 36), 6),
    "segment": OpenMLSet(36, (2310, 19), 7, counts=(330,) * 7),
    "shuttle": OpenMLSet(40685, (58000, 9), 7, counts=(10, 13, 50, 171, 3267, 8903, 45586)),
    "splice": OpenMLSet(46, (3190, 60), 3, counts=(767, 768, 1655)),
    "vehicle": OpenMLSet(54, (846, 18), 4, counts=(199, 212, 217, 218)),
    "vertebral": OpenMLSet(1523, (310, 6), 3, counts=(60, 100, 150)),
    "vowel": OpenMLSet(307, (990, 12), 11, 528, (48,) * 11, columns=10),
}


def fetch_set(name: str) -> Dataset:
    known = OPENML[name]
    try:
        bunch = sklearn.datasets.fetch_openml(data_id=known.data_id, as_frame=False, parser="liac-arff")
    except OSError as error:  # URLError is one: no network, no such host, a refused connection
        raise OSError(
            f"{name!r} could not be fetched from OpenML ({error}). Without a network, put {name}.npz in a folder and "
            f"name it by data_home or {ENVIRONMENT}."
        ) from error
    X = np.asarray(bunch.data, dtype=np.float64)  # nominal columns arrive as codes
    class_names, y = np.unique(np.asarray(bunch.target).astype(str), return_inverse=True)
    found = (*X.shape, len(class_names))
    if found != (*known.shape, known.n_classes):
        raise ValueError(
            f"OpenML's data set {known.data_id} has (rows, features, classes) = {found}; {name!r} should have "
            f"{(*known.shape, known.n_classes)}."
        )
    if known.counts and tuple(sorted(np.bincount(y).tolist())) != known.counts:
        raise ValueError(f"OpenML's data set {known.data_id} has other class counts than {name!r}: {np.bincount(y)}.")
    if known.n_train and tuple(sorted(np.bincount(y[: known.n_train]).tolist())) != known.train_counts:
        raise ValueError(
            f"OpenML's rows of {name!r} are not in the official order: the training part has other counts."
        )
    categorical = np.array([feature in (bunch.categories or {}) for feature in bunch.feature_names])
    rows, columns = slice(known.rows or None), slice(-known.columns or None, None)
    return split(
        name, X[rows, columns], y[rows], bunch.feature_names[columns], categorical[columns], class_names, known.n_train
    )
