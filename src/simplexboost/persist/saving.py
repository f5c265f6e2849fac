"""Saves and loads classifiers of every kind.

All classifiers store their class, parameters and labels. The method ``_pack`` of each returns entries of its own for
the header, as JSON, and its arrays; ``_unpack(header, arrays)`` reads them back, and raises `damaged` if they do not
fit together.
"""

from __future__ import annotations

import errno
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray
from .._util.runtime import thread_count
from .archive import FORMAT, VERSION, describe, opened, read_archive, write_file
from .atomic_write import Target
from .checks import ModelFileError, damaged
from .parameters import (
    WRITTEN_BY,
    estimator_class,
    parameters_from_json,
    parameters_to_json,
    public_class,
    stored_parameters,
    to_json,
)
from .values import array_from_json, array_to_json

MOST_FEATURES = 2**31


def save(estimator: Any, path: Target) -> None:
    """Write a fitted classifier to a file; the file appears complete or not at all."""
    header, arrays = pack(estimator)
    about = {name: describe(values) for name, values in arrays.items()}
    write_file(
        path, {"format": FORMAT, "version": VERSION, "written_by": WRITTEN_BY, **header, "arrays": about}, arrays
    )


def check_savable(estimator: Any) -> None:
    """Raise a TypeError if a file cannot hold an estimator; it names all parameters that a file cannot hold."""
    problems = []
    for name, value in stored_parameters(estimator).items():
        try:
            to_json(value, name)
        except TypeError as error:
            problems.append(str(error))
    if problems:
        raise TypeError("\n".join(problems))
    if hasattr(estimator, "classes_"):
        pack(estimator)


def check_label_types(classes: AnyArray) -> None:
    """Raise unless a file can hold these labels; a fit calls this first, so that its model can be saved."""
    try:
        array_to_json(classes)
    except TypeError as error:
        raise TypeError(f"y has labels that no model file can hold: {error}") from error


def load(path: Target) -> Any:
    """Read a classifier back.

    Parameters
    ----------
    path : str, path or binary file
        The file that ``save`` wrote.

    Returns
    -------
    The fitted classifier: it predicts exactly as the one that was saved.

    Raises
    ------
    ModelFileError : a ``ValueError``, if the file is not a model, is damaged, or has another version of the format
    OSError : if it cannot be read

    Examples
    --------
    >>> import tempfile, simplexboost
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = simplexboost.GDMCBoostClassifier(n_estimators=3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/iris.sb")
    ...     again = simplexboost.load(f"{folder}/iris.sb")
    >>> bool((again.decision_function(X) == clf.decision_function(X)).all())
    True
    """
    name = str(getattr(path, "name", "the file") if hasattr(path, "read") else path)
    with opened(path) as stream:
        try:
            return unpack(*read_archive(stream, name))
        except ModelFileError:
            raise
        except MemoryError as error:
            raise ModelFileError(f"{name} needs more memory than there is.") from error
        except Exception as error:  # on damaged bytes zipfile, zlib, json, NumPy and constructors raise many types
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise  # the disk failed; EINVAL is a place before the beginning of the file
            raise damaged(f"{type(error).__name__}: {str(error).rstrip('.')}") from error


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a fitted classifier."""
    check_is_fitted(estimator)
    kind, classes = public_class(type(estimator)), estimator.classes_
    more, arrays = estimator._pack()
    several = isinstance(classes, list)  # several class targets
    header = {
        "class": kind.__name__,
        "parameters": parameters_to_json(estimator),
        "classes": {"targets": list(map(array_to_json, classes))} if several else array_to_json(classes),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
        **more,
    }
    return header, arrays


def unpack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """Return a fitted classifier from the header and the arrays of `pack`."""
    kind, parameters = estimator_class(header["class"]), parameters_from_json(header["parameters"])
    unknown = sorted(set(parameters) - set(kind._get_param_names()))
    if unknown:
        raise ModelFileError(
            f"The model file holds parameters that {kind.__name__} does not take here: {', '.join(unknown)}. It was "
            f"written by {header.get('written_by', 'an early version')}, and this is {WRITTEN_BY}; if this is not the "
            "older one, the file is damaged."
        )
    estimator = kind(**parameters)
    thread_count(estimator.n_jobs)  # raises if it is no number of threads
    names, p, classes = header["feature_names_in"], header["n_features_in"], header["classes"]
    if type(p) is not int or not 1 <= p < MOST_FEATURES:
        raise damaged(f"invalid number of features, {p!r:.50}")
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not texts or len(names) not in (0, p):
        raise damaged("the names do not fit the features")
    estimator.n_features_in_ = p
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    several = isinstance(classes, dict) and "targets" in classes
    if several and (not isinstance(classes["targets"], list) or len(classes["targets"]) < 2):
        raise damaged("invalid class targets")
    estimator.classes_ = list(map(classes_from_json, classes["targets"])) if several else classes_from_json(classes)
    estimator._unpack(header, arrays)
    if estimator._problem.several is None:
        check_are_sorted(estimator.classes_)
    return estimator


def classes_from_json(value: Any) -> AnyArray:
    """Return the labels (K,); raise unless there are some, all different, and none is NaN."""
    classes = array_from_json(value)
    labels = classes.ravel().tolist()
    if classes.ndim != 1 or not labels or len(set(labels)) < len(labels) or any(label != label for label in labels):
        raise damaged("invalid class labels")
    return classes


def check_are_sorted(classes: AnyArray) -> None:
    """Raise unless the classes (K,) of a model of one class per row are sorted."""
    try:
        rising = all(a < b for a, b in pairwise(classes.tolist()))
    except TypeError:  # labels that cannot be compared
        rising = False
    if not rising:
        raise damaged("the classes are not sorted")
