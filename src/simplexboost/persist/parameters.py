"""Converts parameters and parts to JSON and back; Python classes are stored by name, never as pickles."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._util.arrays import AnyArray
from .._util.params import Part
from ..parts import codewords, learners, losses, optimizers, steps
from ..tables.features import Categories
from .checks import ModelFileError
from .values import array_to_json, decode, encode, unknown

GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}


def part_types() -> dict[str, type[Part]]:
    """All parts that a file may contain, by name."""
    from ..theory import os_boost as games  # not at the top: start-up time

    modules = (codewords, learners, losses, optimizers, steps, games)
    found = (cls for module in modules for cls in vars(module).values())
    return {cls.__name__: cls for cls in found if isinstance(cls, type) and issubclass(cls, Part)}


def parameters_to_json(estimator: Any) -> dict[str, Any]:
    """The constructor parameters; callbacks, which are code, are left out."""
    return {name: to_json(value, name) for name, value in stored_parameters(estimator).items()}


def stored_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters that a file holds: those of the public class, of which the estimator may be a subclass."""
    names = [name for name in public_class(type(estimator))._get_param_names() if name != "callbacks"]
    parameters = {name: getattr(estimator, name) for name in names}
    if parameters.get("random_state") is np.random:  # scikit-learn's other name for None: the numbers of all NumPy
        parameters["random_state"] = None
    return parameters


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The reverse of `parameters_to_json`."""
    return {name: from_json(value) for name, value in parameters.items()}


def to_json(value: Any, name: str) -> Any:
    """A parameter as JSON: values as `encode` writes them; parts, estimators and random states as tagged objects."""
    return encode(value, partial(object_to_json, name=name))


def from_json(value: Any) -> Any:
    """The reverse of `to_json`."""
    return decode(value, object_from_json)


def object_to_json(value: Any, name: str) -> Any:
    """A part, an estimator or a random state as its name and its parameters or its state."""
    if isinstance(value, Part) and part_types().get(type(value).__name__) is type(value):
        parameters = {k: to_json(v, f"{name}__{k}") for k, v in value.get_params(deep=False).items()}
        return {"part": type(value).__name__, "parameters": parameters}
    if isinstance(value, BaseEstimator) and any(is_public(kind) for kind in type(value).__mro__):
        return {"estimator": public_class(type(value)).__name__, "parameters": parameters_to_json(value)}
    if isinstance(value, np.random.RandomState):
        return {"random_state": encode(value.get_state(legacy=False))}
    raise TypeError(
        f"{name}={value!r} cannot be saved; only numbers, text, dates, arrays, collections of these and the package's "
        "own parts can."
    )


def object_from_json(value: dict[str, Any]) -> Any:
    """The reverse of `object_to_json`."""
    if "part" in value:
        return part_types()[value["part"]](**{k: from_json(v) for k, v in value["parameters"].items()})
    if "estimator" in value:
        return estimator_class(value["estimator"])(**parameters_from_json(value["parameters"]))
    if "random_state" in value:
        return random_state_from_json(decode(value["random_state"]))
    return unknown(value)


def random_state_from_json(state: dict[str, Any]) -> np.random.RandomState:
    """A generator that goes on where the saved one was."""
    name = state["bit_generator"]
    check_position(name, state)
    generator = np.random.RandomState(GENERATORS[name]())
    generator.set_state(state)
    return generator


def check_position(name: str, state: dict[str, Any]) -> None:
    """Raise if a generator would go on outside its numbers: NumPy believes what it is told."""
    place, numbers = (state["state"]["pos"], 624) if name == "MT19937" else (state.get("buffer_pos", 0), 4)
    if type(place) is not int or not 0 <= place <= numbers:
        raise ModelFileError(f"the file holds a state of random numbers that is none, at place {place!r:.50}.")


def categories_to_json(categories: Categories) -> list[Any]:
    """The categories of every column, None for numeric ones."""
    return [None if values is None else array_to_json(values) for values in categories.columns]


def threshold_to_json(threshold: AnyArray | None) -> list[Any] | None:
    """The threshold of a classifier that was fitted to examples with several labels."""
    return None if threshold is None else [encode(value) for value in threshold.tolist()]


def estimator_class(name: str) -> Any:
    """A public estimator of the package by its name."""
    import simplexboost

    found = getattr(simplexboost, name, None) if isinstance(name, str) and name in simplexboost.__all__ else None
    if not isinstance(found, type) or not is_public(found):
        raise ModelFileError(f"the file holds a {name!r:.50}, which this version of simplexboost does not have.")
    return found


def public_class(kind: type) -> Any:
    """The class by whose name a file knows an estimator: its own, or the one it is a subclass of.

    Files hold no code. A subclass that has no methods of its own except ``__init__`` only gives parameters other
    values, and is stored as its base class; any other subclass might predict differently after loading, and is refused.
    """
    found = next((base for base in kind.__mro__ if is_public(base)), None)
    if found is None:
        raise TypeError(f"a {kind.__name__} cannot be saved without pickle; only classifiers of simplexboost can.")
    own = [name for base in kind.__mro__[: kind.__mro__.index(found)] for name in methods_of(base)]
    if own:
        raise TypeError(
            f"a {kind.__name__} cannot be saved: it defines {', '.join(own)}, and model files hold no code. A subclass "
            f"that defines no method but __init__ is saved as the {found.__name__} that it is; for this one use pickle."
        )
    return found


def methods_of(kind: type) -> list[str]:
    """The methods and properties that a class defines, without ``__init__`` and what `dataclass` adds."""
    code = (FunctionType, property, classmethod, staticmethod)
    made = {"__init__", "__repr__", "__eq__", "__hash__", "__replace__"} if is_dataclass(kind) else {"__init__"}
    return [name for name, value in vars(kind).items() if isinstance(value, code) and name not in made]


def is_public(kind: type) -> bool:
    """Whether a class is one of the package's classifiers."""
    import simplexboost

    known = kind.__name__ in simplexboost.__all__ and getattr(simplexboost, kind.__name__) is kind
    return known and issubclass(kind, BaseEstimator)


def written_by() -> str:
    """The package and its version, for messages about files that another version cannot read."""
    import simplexboost

    return f"simplexboost {simplexboost.__version__}"
