"""Saves and loads classifiers of every kind.

All store their class, parameters and labels; each adds its own with ``_pack`` and reads it back with ``_unpack``.
"""

from __future__ import annotations

import errno
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray
from .._util.runtime import thread_count
from .archive import FORMAT, VERSION, describe, name_of, opened, read_archive, write
from .atomic_write import Target
from .checks import ModelFileError, check_are_sorted, check_classes, check_features, damaged
from .parameters import (
    estimator_class,
    parameters_from_json,
    parameters_to_json,
    public_class,
    stored_parameters,
    to_json,
    written_by,
)
from .values import array_from_json, array_to_json


def save(estimator: Any, path: Target) -> None:
    """Write a fitted classifier to a file; the file appears complete or not at all."""
    header, arrays = pack(estimator)
    about = {name: describe(values) for name, values in arrays.items()}
    write(path, {"format": FORMAT, "version": VERSION, "written_by": written_by(), **header, "arrays": about}, arrays)


def check_savable(estimator: Any) -> None:
    """Raise a TypeError that names every parameter that no file can hold; see `Saves.check_savable`."""
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


class Saves:
    """Gives an estimator the method ``save``; the estimator defines what it adds to a file and how to read it back."""

    def save(self, path: Target) -> None:
        """Write the fitted classifier to a file that `simplexboost.load` reads; never a pickle.

        Parameters
        ----------
        path : str, path or binary file
            Where to write. A file appears complete or not at all, and replaces an older one of that name only then. An
            open file gets the same bytes where it stands.

        Raises
        ------
        NotFittedError : before ``fit``
        TypeError : if something cannot be stored without pickle, as `check_savable` tells before the fit
        OSError : if the file cannot be written
        """
        save(self, path)

    def check_savable(self) -> None:
        """Raise a TypeError that says which parameters cannot be saved; call it before a long fit.

        Functions, other libraries' estimators and parts of your own are code, which model files do not hold. Callbacks
        are left out of files, and do not matter here. `Checkpoint` calls this when the fit begins. Of a fitted
        classifier, what it has learned is checked too.

        Examples
        --------
        >>> import simplexboost
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> simplexboost.GDMCBoostClassifier(learner="stump").check_savable()
        >>> simplexboost.GDMCBoostClassifier(learner=DecisionTreeClassifier()).check_savable()
        Traceback (most recent call last):
            ...
        TypeError: learner=DecisionTreeClassifier() cannot be saved; only numbers, text, dates, arrays, collections ...
        """
        check_savable(self)

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """What the estimator adds to the header, as JSON, and its arrays."""

    @abstractmethod
    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """The reverse of `_pack`; raises `damaged` if what it reads does not fit together."""


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
    with opened(path) as stream:
        try:
            return unpack(*read_archive(stream, name_of(path)))
        except ModelFileError:
            raise
        except MemoryError as error:
            raise ModelFileError(f"{name_of(path)} needs more memory than there is.") from error
        except Exception as error:  # on damaged bytes zipfile, zlib, json, NumPy and constructors raise many types
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise  # the disk, not its contents; a place before the file's beginning is EINVAL
            raise ModelFileError(f"{name_of(path)} is damaged ({type(error).__name__}: {error}).") from error


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """What every classifier stores, and what this one adds: boosters their model, others the result of ``_pack``."""
    check_is_fitted(estimator)
    kind = public_class(type(estimator))
    more, arrays = estimator._pack()
    header = {
        "class": kind.__name__,
        "parameters": parameters_to_json(estimator),
        "classes": classes_to_json(estimator.classes_),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
        **more,
    }
    return header, arrays


def classes_to_json(classes: Any) -> Any:
    """The labels (K,), or for several class targets those of each."""
    return {"targets": [array_to_json(of) for of in classes]} if isinstance(classes, list) else array_to_json(classes)


def classes_from_json(value: Any) -> Any:
    """The reverse of `classes_to_json`."""
    if not isinstance(value, dict) or "targets" not in value:
        return check_classes(array_from_json(value))
    targets = value["targets"]
    if not isinstance(targets, list) or len(targets) < 2:
        raise damaged("several targets that are none")
    return [check_classes(array_from_json(of)) for of in targets]


def unpack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """The reverse of `pack`."""
    kind, parameters = estimator_class(header["class"]), parameters_from_json(header["parameters"])
    unknown = sorted(set(parameters) - set(kind._get_param_names()))
    if unknown:
        raise ModelFileError(
            f"the file holds parameters that {kind.__name__} does not take here: {', '.join(unknown)}. It was written "
            f"by {header.get('written_by', 'an early version')}, and this is {written_by()}; if this is not the older "
            "one, the file is damaged."
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
