"""Saves classifiers to model files and loads them; a file holds names of Python classes, and never a pickle.

Every classifier stores the name of its Python class, its parameters and its labels. Its method ``_pack`` returns more
header entries, as JSON, and arrays. Its method ``_unpack(header, arrays)`` sets attributes from them, and raises the
error of `damaged` if they do not fit together. Subclasses of `BaseClassifier` and `Part` register themselves by name.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._util import __version__
from .._util.arrays import AnyArray
from .._util.params import PARTS, Part
from .._util.runtime import thread_count
from .archive import ModelFileError, damaged, open_model_file, read_archive, require, write_file
from .atomic_write import Target
from .values import array_from_json, array_to_json, decode, encode, refuse_tag

WRITTEN_BY = f"simplexboost {__version__}"
MOST_FEATURES = 2**31
GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}


def save(estimator: Any, path: Target) -> None:
    """Write a fitted classifier to a model file, which appears complete or not at all."""
    header, arrays = pack(estimator)
    write_file(path, {"written_by": WRITTEN_BY, **header}, arrays)


def load(path: Target) -> Any:
    """Load a fitted classifier from a model file.

    Parameters
    ----------
    path : str, path or binary file
        The file that ``save`` wrote.

    Returns
    -------
    The fitted classifier, with exactly the predictions of the saved classifier.

    Raises
    ------
    ModelFileError : a ``ValueError``, if the file is not a model, is damaged, or has another version of the format
    OSError : if the file cannot be read

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
    with open_model_file(path) as stream:
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


def check_savable(estimator: Any) -> None:
    """Raise a TypeError unless a model file can hold the estimator; the message names all unsuitable parameters."""
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
    """Raise unless a model file can hold these labels; fits check this first, so that their models can be saved."""
    try:
        array_to_json(classes)
    except TypeError as error:
        raise TypeError(f"y has labels that no model file can hold: {error}") from error


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of the model file of a fitted classifier."""
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
    """Return the fitted classifier that `pack` converted to a header and arrays; raise unless both are valid."""
    kind, parameters = estimator_class(header["class"]), parameters_from_json(header["parameters"])
    unknown = sorted(set(parameters) - set(kind._get_param_names()))
    if unknown:
        raise ModelFileError(
            f"The model file holds parameters that {kind.__name__} does not take here: {', '.join(unknown)}. It was "
            f"written by {header.get('written_by')}, and this is {WRITTEN_BY}; if this is not the older one, the file "
            "is damaged."
        )
    estimator = kind(**parameters)
    thread_count(estimator.n_jobs)  # raises if it is no number of threads
    names, p, classes = header["feature_names_in"], header["n_features_in"], header["classes"]
    require(type(p) is int and 1 <= p < MOST_FEATURES, f"invalid number of features, {p!r:.50}")
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(texts and len(names) in (0, p), "the names do not fit the features")
    estimator.n_features_in_ = p
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    several = isinstance(classes, dict) and "targets" in classes
    if several:
        targets = classes["targets"]
        require(isinstance(targets, list) and len(targets) > 1, "invalid class targets")
        estimator.classes_ = list(map(classes_from_json, targets))
    else:
        estimator.classes_ = classes_from_json(classes)
    estimator._unpack(header, arrays)
    if not estimator._problem.is_matrix:
        try:
            rising = all(a < b for a, b in pairwise(estimator.classes_.tolist()))
        except TypeError:  # labels that cannot be compared
            rising = False
        require(rising, "the classes are not sorted")
    return estimator


def classes_from_json(value: Any) -> AnyArray:
    """Return the labels (K,) from JSON; raise unless there is at least one, all are distinct, and none is NaN."""
    classes = array_from_json(value)
    labels = classes.ravel().tolist()
    different = len(set(labels)) == len(labels) > 0 and not any(label != label for label in labels)
    require(classes.ndim == 1 and different, "invalid class labels")
    return classes


# ---- the registry ---------------------------------------------------------------------------------------------------

CLASSIFIERS: dict[str, Any] = {}
LATER: dict[str, str] = {}  # the modules of classes that are imported on first use


def register_later(modules: Mapping[str, str]) -> None:
    """Register classifiers and parts that are imported on first use; ``modules`` maps class names to module names."""
    LATER.update(modules)


def find_class(known: Mapping[str, Any], name: Any) -> Any:
    if isinstance(name, str) and name not in known and name in LATER:
        import_module(LATER[name])
    return known.get(name) if isinstance(name, str) else None


def estimator_class(name: Any) -> Any:
    """Return the registered classifier class of this name; raise a `ModelFileError` if there is none."""
    found = find_class(CLASSIFIERS, name)
    if found is None:
        raise ModelFileError(f"The model file holds a {name!r:.50}, which this version of simplexboost does not have.")
    return found


def public_class(kind: type) -> Any:
    """Return the registered class under which ``kind`` is stored; raise if ``kind`` defines methods of its own.

    A subclass that defines only ``__init__`` just changes default parameters, and is stored as its registered base
    class. Any other subclass might predict differently after loading.
    """
    found = next((base for base in kind.__mro__ if CLASSIFIERS.get(base.__name__) is base), None)
    if found is None:
        raise TypeError(f"a {kind.__name__} cannot be saved without pickle; only classifiers of simplexboost can.")
    own = []
    for base in kind.__mro__[: kind.__mro__.index(found)]:
        given = {"__init__"} | ({"__repr__", "__eq__", "__hash__", "__replace__"} if is_dataclass(base) else set())
        code = (FunctionType, property, classmethod, staticmethod)
        own += [name for name, value in vars(base).items() if isinstance(value, code) and name not in given]
    if own:
        raise TypeError(
            f"a {kind.__name__} cannot be saved: it defines {', '.join(own)}, and model files hold no code. A subclass "
            f"that defines no method but __init__ is saved as the {found.__name__} that it is; for this one use pickle."
        )
    return found


# ---- parameters -----------------------------------------------------------------------------------------------------


def stored_parameters(estimator: Any) -> dict[str, Any]:
    """Return a dict of the parameters that a model file stores: all except callbacks, which are code."""
    names = [name for name in public_class(type(estimator))._get_param_names() if name != "callbacks"]
    parameters = {name: getattr(estimator, name) for name in names}
    if parameters.get("random_state") is np.random:  # another name of scikit-learn for None
        parameters["random_state"] = None
    return parameters


def parameters_to_json(estimator: Any) -> dict[str, Any]:
    return {name: to_json(value, name) for name, value in stored_parameters(estimator).items()}


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: from_json(value) for name, value in parameters.items()}


def to_json(value: Any, name: str) -> Any:
    """Return a parameter's value as JSON; ``name`` is the parameter's name in error messages."""
    return encode(value, partial(object_to_json, name=name))


def from_json(value: Any) -> Any:
    return decode(value, object_from_json)


def object_to_json(value: Any, name: str) -> Any:
    """Return a part (such as a loss), an estimator or a random state as JSON; raise a TypeError for other objects."""
    if isinstance(value, Part) and PARTS.get(type(value).__name__) is type(value):
        parameters = {k: to_json(v, f"{name}__{k}") for k, v in value.get_params(deep=False).items()}
        return {"part": type(value).__name__, "parameters": parameters}
    if isinstance(value, BaseEstimator) and any(CLASSIFIERS.get(kind.__name__) is kind for kind in type(value).__mro__):
        return {"estimator": public_class(type(value)).__name__, "parameters": parameters_to_json(value)}
    if isinstance(value, np.random.RandomState):
        return {"random_state": encode(value.get_state(legacy=False))}
    raise TypeError(
        f"{name}={value!r} cannot be saved; only numbers, text, dates, arrays, collections of these and the package's "
        "own parts can."
    )


def object_from_json(value: dict[str, Any]) -> Any:
    if "part" in value:
        kind = find_class(PARTS, value["part"])
        require(kind is not None, f"unknown part {value['part']!r:.50}")
        return kind(**parameters_from_json(value["parameters"]))
    if "estimator" in value:
        return estimator_class(value["estimator"])(**parameters_from_json(value["parameters"]))
    if "random_state" not in value:
        return refuse_tag(value)
    state = decode(value["random_state"])
    name = state["bit_generator"]
    place, numbers = (state["state"]["pos"], 624) if name == "MT19937" else (state.get("buffer_pos", 0), 4)
    fits = type(place) is int and 0 <= place <= numbers  # NumPy does not check it
    require(fits, f"invalid state of random numbers, at place {place!r:.50}")
    generator = np.random.RandomState(GENERATORS[name]())
    generator.set_state(state)
    return generator
