"""Saving and loading classifiers: what all of them store, and what each of them adds (`_pack`, `_unpack`)."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray
from .checks import ModelFileError, damaged
from .container import FORMAT, VERSION, describe, read_zip, write_zip
from .parameters import estimator_class, is_public, parameters_from_json, parameters_to_json
from .values import array_from_json, array_to_json


def save(estimator: Any, path: str | Path) -> None:
    """Write a fitted classifier to a file; the file appears complete or not at all."""
    header, arrays = pack(estimator)
    about = {name: describe(values) for name, values in arrays.items()}
    write_zip(Path(path), {"format": FORMAT, "version": VERSION, **header, "arrays": about}, arrays)


class Saves:
    """Gives an estimator the method ``save``; the estimator defines what it adds to a file and how to read it back."""

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file that `simplexboost.load` reads; never a pickle."""
        save(self, path)

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """What the estimator adds to the header, as JSON, and its arrays."""

    @abstractmethod
    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """The reverse of `_pack`; raises `damaged` if what it reads does not fit together."""


def load(path: str | Path) -> Any:
    """Read a classifier back.

    Parameters
    ----------
    path : the file that ``save`` wrote

    Returns
    -------
    The fitted classifier: it predicts exactly as the one that was saved.

    Raises
    ------
    ValueError : if the file is not a model, is damaged, or has another version of the format
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
    try:
        return unpack(*read_zip(Path(path)))
    except (OSError, MemoryError, ModelFileError):
        raise
    except Exception as error:  # on damaged bytes zipfile, zlib, json, NumPy and constructors raise many types
        raise ModelFileError(f"{path} is damaged ({type(error).__name__}: {error}).") from error


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """What every classifier stores, and what this one adds: boosters their model, others the result of ``_pack``."""
    check_is_fitted(estimator)
    if not is_public(type(estimator)):
        raise TypeError(
            f"a {type(estimator).__name__} cannot be saved without pickle; only classifiers of simplexboost can."
        )
    more, arrays = estimator._pack()
    header = {
        "class": type(estimator).__name__,
        "parameters": parameters_to_json(estimator),
        "classes": array_to_json(estimator.classes_),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": [str(name) for name in getattr(estimator, "feature_names_in_", [])],
        **more,
    }
    return header, arrays


def unpack(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """The reverse of `pack`."""
    kind, parameters = estimator_class(header["class"]), parameters_from_json(header["parameters"])
    if not set(parameters) <= set(kind().get_params(deep=False)):
        raise damaged(f"parameters that {kind.__name__} does not take")
    estimator = kind(**parameters)
    estimator.classes_ = array_from_json(header["classes"])
    estimator.n_features_in_ = header["n_features_in"]
    names = header["feature_names_in"]
    if names:
        if not all(isinstance(name, str) for name in names) or len(names) != estimator.n_features_in_:
            raise damaged("names that do not fit its features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._unpack(header, arrays)
    return estimator
