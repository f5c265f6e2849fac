"""Parameters, parts and labels as JSON, and back; Python classes are stored by name, never as pickles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .. import codewords, learners, losses, optimizers, steps
from .._parts import Part
from .._typing import AnyArray
from ..data.categories import Categories
from .checks import ModelFileError


def part_types() -> dict[str, type[Part]]:
    """All parts that a file may contain, by name."""
    from ..games import boosting as games  # not at the top: start-up time

    modules = (codewords, learners, losses, optimizers, steps, games)
    found = (cls for module in modules for cls in vars(module).values())
    return {cls.__name__: cls for cls in found if isinstance(cls, type) and issubclass(cls, Part)}


def parameters_to_json(estimator: Any) -> dict[str, Any]:
    """The constructor parameters; callbacks are left out, and a random state that is not a number becomes None."""
    parameters = estimator.get_params(deep=False)
    parameters.pop("callbacks", None)
    if not isinstance(parameters.get("random_state"), int | np.integer | None):
        parameters["random_state"] = None
    return {name: to_json(value, name) for name, value in parameters.items()}


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The reverse of `parameters_to_json`."""
    return {name: from_json(value) for name, value in parameters.items()}


def to_json(value: Any, name: str) -> Any:
    """A parameter as JSON: numbers and strings as they are; parts, arrays and dicts as tagged objects."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return to_json(value.item(), name)
    if isinstance(value, Part) and part_types().get(type(value).__name__) is type(value):
        parameters = {k: to_json(v, f"{name}__{k}") for k, v in value.get_params(deep=False).items()}
        return {"part": type(value).__name__, "parameters": parameters}
    if isinstance(value, BaseEstimator) and is_public(type(value)):
        return {"estimator": type(value).__name__, "parameters": parameters_to_json(value)}
    if isinstance(value, np.ndarray):
        return {"array": labels_to_json(value)}
    if isinstance(value, list | tuple):
        return {"list": [to_json(v, name) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[to_json(k, name), to_json(v, name)] for k, v in value.items()]}
    raise TypeError(f"{name}={value!r} cannot be saved; only numbers, strings, arrays and the package's parts can.")


def from_json(value: Any) -> Any:
    """The reverse of `to_json`."""
    if not isinstance(value, dict):
        return value
    if "part" in value:
        return part_types()[value["part"]](**{k: from_json(v) for k, v in value["parameters"].items()})
    if "estimator" in value:
        return estimator_class(value["estimator"])(**parameters_from_json(value["parameters"]))
    if "array" in value:
        return labels_from_json(value["array"])
    if "list" in value:
        return [from_json(v) for v in value["list"]]
    return {from_json(k): from_json(v) for k, v in value["dict"]}


def categories_to_json(categories: Categories) -> list[Any]:
    """The categories of every column, None for numeric ones."""
    return [None if values is None else labels_to_json(values) for values in categories.columns]


def threshold_to_json(threshold: AnyArray | None) -> list[float] | None:
    """The threshold of a classifier that was fitted to examples with several labels."""
    return None if threshold is None else threshold.tolist()


def labels_to_json(labels: AnyArray) -> dict[str, Any]:
    """An array of numbers or strings as a list and its type."""
    if labels.dtype == object:
        kinds = {type(v) for v in labels.ravel().tolist()}
        if not kinds <= {str, int, float, bool}:
            raise TypeError(f"labels of types {sorted(k.__name__ for k in kinds)} cannot be saved; use str or numbers.")
    return {"dtype": labels.dtype.str if labels.dtype != object else "object", "values": labels.tolist()}


def labels_from_json(value: dict[str, Any]) -> AnyArray:
    """The reverse of `labels_to_json`."""
    return np.array(value["values"], dtype=np.dtype(value["dtype"]))


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
