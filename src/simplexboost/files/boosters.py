"""What boosters add to a model file: the model, its history, and whatever else prediction needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..data.categories import Categories
from ..data.columns import WORDS
from ..data.values import as_categories
from .checks import check_layout, damaged
from .models import model_from_arrays, model_to_arrays, program_from_arrays, program_to_arrays
from .parameters import categories_to_json, from_json, threshold_to_json, to_json
from .values import array_from_json


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The model, its history, and whatever else prediction needs."""
    arrays = model_to_arrays(estimator.model_) | history_to_arrays(estimator.history_)
    arrays["present"] = estimator.present_.astype(np.uint8)
    threshold = threshold_to_json(getattr(estimator, "threshold_", None))
    header = {"loss": to_json(estimator.loss_, "loss"), "threshold": threshold, **pack_features(estimator)}
    more, curves = pack_followed(estimator)
    state = to_json(estimator.rng_state_, "rng_state_")
    return {**header, "stop_reason": estimator.stop_reason_, "rng_state": state, **more}, arrays | curves


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_booster`."""
    model = model_from_arrays(arrays, len(estimator.classes_), header["n_features_in"])
    estimator.model_ = model
    estimator.loss_ = from_json(header["loss"])
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_ = header["stop_reason"]
    estimator.rng_state_ = rng_state_from_json(header.get("rng_state"))
    estimator.history_ = history_from_arrays(arrays)
    estimator.present_ = arrays["present"].astype(bool)
    if getattr(estimator, "multilabel", False):
        estimator.threshold_ = (
            None if header["threshold"] is None else np.array(from_json({"list": header["threshold"]}))
        )
    unpack_followed(estimator, header.get("followed"), arrays)
    unpack_features(estimator, header)


def pack_features(estimator: Any) -> dict[str, Any]:
    """What the estimator knows of its columns: their kinds and categories."""
    categories = None if estimator.categories_ is None else categories_to_json(estimator.categories_)
    return {"categories": categories, "feature_kinds": estimator.feature_kinds_}


def unpack_features(estimator: Any, header: dict[str, Any]) -> None:
    """The reverse of `pack_features`; earlier files know no kinds, those of programs no categories either."""
    columns, kinds, p = header.get("categories"), header.get("feature_kinds"), header["n_features_in"]
    if any(some is not None and len(some) != p for some in (columns, kinds)) or not set(kinds or ()) <= set(WORDS):
        raise damaged("categories or kinds that do not fit its features")
    estimator.feature_kinds_ = kinds
    estimator.categories_ = None
    if columns is not None:
        estimator.categories_ = Categories([c and as_categories(array_from_json(c)) for c in columns])


def rng_state_from_json(value: Any) -> dict[str, Any] | None:
    """The state of the random numbers with which boosting goes on; None for files that have none."""
    if value is None:
        return None
    try:
        state: dict[str, Any] = from_json(value)
        np.random.PCG64().state = state  # type: ignore[assignment]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise damaged("a state of random numbers that is none") from error
    return state


def pack_followed(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """What was followed on evaluated rows, if anything was. Names of metrics may be any text: they go to the header."""
    if not hasattr(estimator, "evals_result_"):
        return {}, {}
    results = estimator.evals_result_
    followed = {
        "names": [list(result) for result in results],
        "best_iteration": int(estimator.best_iteration_),
        "best_score": None if np.isnan(estimator.best_score_) else float(estimator.best_score_),
    }
    arrays = {f"evals.{i}.{j}": v for i, result in enumerate(results) for j, v in enumerate(result.values())}
    return {"followed": followed}, arrays | {"validation_score": estimator.validation_score_}


def unpack_followed(estimator: Any, followed: Any, arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_followed`."""
    if followed is None:
        return
    names, best, score = followed["names"], followed["best_iteration"], followed["best_score"]
    curves = [f"evals.{i}.{j}" for i, some in enumerate(names) for j in range(len(some))]
    check_layout(arrays, dict.fromkeys([*curves, "validation_score"], ("<f8", 1)))
    lengths = {len(arrays[name]) for name in [*curves, "validation_score"]}
    texts = all(isinstance(name, str) for some in names for name in some)
    if not texts or type(best) is not int or len(lengths) > 1 or not 0 <= best <= max(lengths):
        raise damaged("evaluations that do not fit together")
    estimator.evals_result_ = [
        {name: arrays[f"evals.{i}.{j}"] for j, name in enumerate(some)} for i, some in enumerate(names)
    ]
    estimator.best_iteration_, estimator.best_score_ = best, np.nan if score is None else float(score)
    estimator.validation_score_ = arrays["validation_score"]


def pack_program(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A branching program and its history."""
    return pack_features(estimator), program_to_arrays(estimator.program_) | history_to_arrays(estimator.history_)


def unpack_program(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_program`."""
    if len(estimator.classes_) != 2:
        raise damaged(f"a branching program for {len(estimator.classes_)} classes")
    estimator.program_ = program_from_arrays(arrays, header["n_features_in"])
    estimator.n_iter_ = estimator.program_.n_layers
    estimator.history_ = history_from_arrays(arrays)
    unpack_features(estimator, header)


def history_to_arrays(history: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The history without the times, which differ from run to run, so that equal models give equal files."""
    return {f"history.{name}": values for name, values in history.items() if name != "seconds"}


def history_from_arrays(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The reverse of `history_to_arrays`."""
    return {name.removeprefix("history."): v for name, v in arrays.items() if name.startswith("history.")}
