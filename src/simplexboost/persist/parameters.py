"""Converts parameters and parts to JSON and back; classes are stored by name, never as pickles.

Classifiers join the registry by the decorator `register`, parts by deriving from `Part`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from .._util import __version__
from .._util.params import PARTS, Part
from .checks import ModelFileError, damaged
from .values import decode, encode, unknown

WRITTEN_BY = f"simplexboost {__version__}"
GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}

# ---- the registry ---------------------------------------------------------------------------------------------------

CLASSIFIERS: dict[str, Any] = {}
LATER: dict[str, str] = {}  # the modules of classes that are imported on first use
C = TypeVar("C", bound=type)


def register(kind: C) -> C:
    """Register a classifier, so that it can be saved and found by its name; a decorator."""
    CLASSIFIERS[kind.__name__] = kind
    return kind


def register_later(modules: Mapping[str, str]) -> None:
    """Register classifiers and parts that are imported on first use, by the names of their modules."""
    LATER.update(modules)


def find_class(known: Mapping[str, Any], name: Any) -> Any:
    if isinstance(name, str) and name not in known and name in LATER:
        import_module(LATER[name])
    return known.get(name) if isinstance(name, str) else None


def estimator_class(name: Any) -> Any:
    """Return a registered classifier by its name."""
    found = find_class(CLASSIFIERS, name)
    if found is None:
        raise ModelFileError(f"The model file holds a {name!r:.50}, which this version of simplexboost does not have.")
    return found


def public_class(kind: type) -> Any:
    """Return the registered class under which an estimator is stored; raise if it has code of its own.

    A subclass without methods except ``__init__`` only gives parameters other values, and is stored as its base class.
    Any other subclass might predict differently after loading.
    """
    found = next((base for base in kind.__mro__ if CLASSIFIERS.get(base.__name__) is base), None)
    if found is None:
        raise TypeError(f"a {kind.__name__} cannot be saved without pickle; only classifiers of simplexboost can.")
    own = []
    for base in kind.__mro__[: kind.__mro__.index(found)]:
        given = {"__init__"}
        if is_dataclass(base):
            given |= {"__repr__", "__eq__", "__hash__", "__replace__"}
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
    """Return the parameters that a file holds: all but callbacks, which are code."""
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
    """Return a parameter as JSON; ``name`` is its name in messages."""
    return encode(value, partial(object_to_json, name=name))


def from_json(value: Any) -> Any:
    return decode(value, object_from_json)


def object_to_json(value: Any, name: str) -> Any:
    """Return a part, an estimator or a random state as JSON."""
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
        if kind is None:
            raise damaged(f"unknown part {value['part']!r:.50}")
        return kind(**parameters_from_json(value["parameters"]))
    if "estimator" in value:
        return estimator_class(value["estimator"])(**parameters_from_json(value["parameters"]))
    if "random_state" in value:
        return random_state_from_json(decode(value["random_state"]))
    return unknown(value)


def random_state_from_json(state: dict[str, Any]) -> np.random.RandomState:
    name = state["bit_generator"]
    place, numbers = (state["state"]["pos"], 624) if name == "MT19937" else (state.get("buffer_pos", 0), 4)
    if type(place) is not int or not 0 <= place <= numbers:  # NumPy does not check it
        raise damaged(f"invalid state of random numbers, at place {place!r:.50}")
    generator = np.random.RandomState(GENERATORS[name]())
    generator.set_state(state)
    return generator
