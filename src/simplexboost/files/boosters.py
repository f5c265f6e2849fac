"""What boosters add to a model file: the model, its history, and whatever else prediction needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..data.categories import Categories
from .checks import damaged
from .models import model_from_arrays, model_to_arrays, program_from_arrays, program_to_arrays
from .parameters import categories_to_json, from_json, labels_from_json, threshold_to_json, to_json


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The model, its history, and whatever else prediction needs."""
    arrays = model_to_arrays(estimator.model_) | history_to_arrays(estimator.history_)
    arrays["present"] = estimator.present_.astype(np.uint8)
    categories = None if estimator.categories_ is None else categories_to_json(estimator.categories_)
    threshold = threshold_to_json(getattr(estimator, "threshold_", None))
    header = {"loss": to_json(estimator.loss_, "loss"), "categories": categories, "threshold": threshold}
    return {**header, "stop_reason": estimator.stop_reason_}, arrays


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_booster`."""
    model = model_from_arrays(arrays, len(estimator.classes_), header["n_features_in"])
    estimator.model_ = model
    estimator.loss_ = from_json(header["loss"])
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_ = header["stop_reason"]
    estimator.history_ = history_from_arrays(arrays)
    estimator.present_ = arrays["present"].astype(bool)
    if getattr(estimator, "multilabel", False):
        estimator.threshold_ = None if header["threshold"] is None else np.array(header["threshold"])
    columns = header["categories"]
    estimator.categories_ = None if columns is None else Categories([c and labels_from_json(c) for c in columns])


def pack_program(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A branching program and its history."""
    return {}, program_to_arrays(estimator.program_) | history_to_arrays(estimator.history_)


def unpack_program(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_program`."""
    if len(estimator.classes_) != 2:
        raise damaged(f"a branching program for {len(estimator.classes_)} classes")
    estimator.program_ = program_from_arrays(arrays, header["n_features_in"])
    estimator.n_iter_ = estimator.program_.n_layers
    estimator.history_ = history_from_arrays(arrays)


def history_to_arrays(history: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The history without the times, which differ from run to run, so that equal models give equal files."""
    return {f"history.{name}": values for name, values in history.items() if name != "seconds"}


def history_from_arrays(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The reverse of `history_to_arrays`."""
    return {name.removeprefix("history."): v for name, v in arrays.items() if name.startswith("history.")}
