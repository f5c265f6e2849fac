"""Parameters and parts as JSON, and back; Python classes are stored by name, never as pickles."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .. import codewords, learners, losses, optimizers, steps
from .._parts import Part
from .._typing import AnyArray
from ..data.categories import Categories
from .checks import ModelFileError
from .values import array_to_json, decode, encode, unknown

GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}


def part_types() -> dict[str, type[Part]]:
    """All parts that a file may contain, by name."""
    from ..games import boosting as games  # not at the top: start-up time

    modules = (codewords, learners, losses, optimizers, steps, games)
    found = (cls for module in modules for cls in vars(module).values())
    return {cls.__name__: cls for cls in found if isinstance(cls, type) and issubclass(cls, Part)}


def parameters_to_json(estimator: Any) -> dict[str, Any]:
    """The constructor parameters; callbacks, which are code, are left out."""
    parameters = estimator.get_params(deep=False)
    parameters.pop("callbacks", None)
    if parameters.get("random_state") is np.random:  # scikit-learn's other name for None: the numbers of all NumPy
        parameters["random_state"] = None
    return {name: to_json(value, name) for name, value in parameters.items()}


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
    if isinstance(value, BaseEstimator) and is_public(type(value)):
        return {"estimator": type(value).__name__, "parameters": parameters_to_json(value)}
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
    generator = np.random.RandomState(GENERATORS[state["bit_generator"]]())
    generator.set_state(state)
    return generator


def categories_to_json(categories: Categories) -> list[Any]:
    """The categories of every column, None for numeric ones."""
    return [None if values is None else array_to_json(values) for values in categories.columns]


def threshold_to_json(threshold: AnyArray | None) -> list[Any] | None:
    """The threshold of a classifier that was fitted to examples with several labels."""
    return None if threshold is None else [encode(value) for value in threshold.tolist()]


def estimator_class(name: str) -> type:
    """A public estimator of the package by its name."""
    import simplexboost

    found = getattr(simplexboost, name, None) if name in simplexboost.__all__ else None
    if not isinstance(found, type):
        raise ModelFileError(f"the file holds a {name!r}, which this version of simplexboost does not have.")
    return found


def is_public(kind: type) -> bool:
    """Whether a class is one of the package's classifiers."""
    import simplexboost

    return kind.__name__ in simplexboost.__all__ and getattr(simplexboost, kind.__name__) is kind
