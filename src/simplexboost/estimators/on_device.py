"""Rows that are on a GPU already: they are predicted there, and the predictions stay there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.names import check_names, check_number
from ..engine import CudaEngine, DeviceTable, Engine


def brought(array: Any, engine: Engine) -> Any:
    """An array that may be on the engine's device, in the memory of the host."""
    there = engine.take(array)
    return array if there is None else engine.host(there)


def check_rows(estimator: Any, X: Any, engine: CudaEngine) -> Any:
    """X (n, p) of the device in the form that kernels take, with the checks of `data.inputs.check_X`."""
    check_names(estimator, None)
    table = DeviceTable.of(X, engine.device)
    check_number(estimator, table.shape[1])
    return table.there


def probabilities_there(estimator: Any, X: Any, n_rounds: int | None, engine: CudaEngine) -> Any:
    """Probabilities (n, K) of rows on the device, on the device; None if they are not computed there."""
    P = engine.device.empty((len(X), len(estimator.classes_)), np.float64)
    there = estimator._is_softmax and estimator._columns_are_classes
    return P if there and estimator._rounds(n_rounds).probabilities(X, P, engine) else None


def labels_there(estimator: Any, X: Any, n_rounds: int | None, engine: CudaEngine) -> Any:
    """The best labels (n,) of rows on the device, on the device if they are numbers; None if not computed there."""
    best = engine.device.empty(len(X), np.int32)
    highest = estimator._answers == "one" and estimator._decision().by_score
    if not highest or estimator._merged is not None or not estimator._rounds(n_rounds).winners(X, best, engine):
        return None
    labels = estimator.classes_[estimator.present_]
    return engine.device.upload(labels)[best] if labels.dtype.kind in "biuf" else labels[engine.host(best)]
