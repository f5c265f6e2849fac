"""Saves and loads classifiers of every kind.

All store their class, parameters and labels. Each adds its own with ``_pack``, which returns what it adds to the header
as JSON, and its arrays; it reads both back with ``_unpack(header, arrays)``, which raises `damaged` if they do not fit
together.
"""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray
from .._util.runtime import thread_count
from .archive import FORMAT, VERSION, describe, opened, read_archive, write
from .atomic_write import Target
from .checks import ModelFileError, check_are_sorted, check_classes, check_features, damaged
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


def save(estimator: Any, path: Target) -> None:
    """Write a fitted classifier to a file; the file appears complete or not at all."""
    header, arrays = pack(estimator)
    about = {name: describe(values) for name, values in arrays.items()}
    write(path, {"format": FORMAT, "version": VERSION, "written_by": WRITTEN_BY, **header, "arrays": about}, arrays)


def check_savable(estimator: Any) -> None:
    """Raise a TypeError that names every parameter that no file can hold, or what no file can hold of a fitted one."""
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
    """Raise unless a file can hold these labels, so that nobody trains for hours what cannot be saved."""
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
                raise  # the disk, not its contents; a place before the file's beginning is EINVAL
            raise damaged(f"{type(error).__name__}: {str(error).rstrip('.')}") from error


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a fitted classifier."""
    check_is_fitted(estimator)
    kind, classes = public_class(type(estimator)), estimator.classes_
    more, arrays = estimator._pack()
    several = isinstance(classes, list)  # the labels of several class targets
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
    """Return the fitted classifier that `pack` took apart."""
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
    names = header["feature_names_in"]
    estimator.classes_ = classes_from_json(header["classes"])
    estimator.n_features_in_ = check_features(header["n_features_in"], names)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._unpack(header, arrays)
    if estimator._problem.several is None:
        check_are_sorted(estimator.classes_)
    return estimator


def classes_from_json(value: Any) -> Any:
    """Return the labels (K,), or for several class targets a list of the labels of each."""
    if not isinstance(value, dict) or "targets" not in value:
        return check_classes(array_from_json(value))
    targets = value["targets"]
    if not isinstance(targets, list) or len(targets) < 2:
        raise damaged("invalid class targets")
    return [check_classes(array_from_json(of)) for of in targets]
