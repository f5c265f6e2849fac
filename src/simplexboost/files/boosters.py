"""What a booster adds to a model file: its model, its history, and what prediction needs beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..data.categories import Categories
from .checks import check_arrays, check_terms
from .models import model_from_arrays, model_to_arrays
from .parameters import categories_to_json, from_json, labels_from_json, threshold_to_json, to_json


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The model, its history, and what prediction needs beside them."""
    arrays = model_to_arrays(estimator.model_)
    arrays |= {f"history.{name}": values for name, values in estimator.history_.items() if name != "seconds"}
    arrays["present"] = estimator.present_.astype(np.uint8)
    categories = None if estimator.categories_ is None else categories_to_json(estimator.categories_)
    threshold = threshold_to_json(getattr(estimator, "threshold_", None))
    header = {"loss": to_json(estimator.loss_, "loss"), "categories": categories, "threshold": threshold}
    return {**header, "stop_reason": estimator.stop_reason_}, arrays


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_booster`."""
    check_arrays(arrays, len(estimator.classes_))
    model = model_from_arrays(arrays)
    check_terms(model, header["n_features_in"])
    estimator.model_ = model
    estimator.loss_ = from_json(header["loss"])
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_ = header["stop_reason"]
    estimator.history_ = {k.removeprefix("history."): v for k, v in arrays.items() if k.startswith("history.")}
    estimator.present_ = arrays["present"].astype(bool)
    if getattr(estimator, "multilabel", False):
        estimator.threshold_ = None if header["threshold"] is None else np.array(header["threshold"])
    columns = header["categories"]
    estimator.categories_ = None if columns is None else Categories([c and labels_from_json(c) for c in columns])
