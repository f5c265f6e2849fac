"""What boosters add to a model file: the model, its history, and whatever else prediction needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..data.categories import Categories
from ..data.columns import WORDS
from ..data.values import as_categories
from ..engine import MAX_CATEGORIES, Tree
from ..losses import Loss
from .checks import check_layout, damaged, is_number
from .models import model_from_arrays, model_to_arrays, program_from_arrays, program_to_arrays
from .parameters import categories_to_json, from_json, threshold_to_json, to_json
from .values import array_from_json

MOST_TRIED = 64  # classes; with costs, probabilities are the solution of a system of as many equations


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The model, its history, and whatever else prediction needs."""
    arrays = model_to_arrays(estimator.model_) | history_to_arrays(estimator.history_)
    arrays["present"] = estimator.present_.astype(np.uint8)
    if getattr(estimator, "thresholds_", None) is not None:
        arrays["thresholds"] = estimator.thresholds_
    merged = getattr(estimator, "merged_", None)
    if merged is not None:
        arrays["merged"] = merged.astype(np.int64)
    threshold = threshold_to_json(getattr(estimator, "threshold_", None))
    header = {"loss": to_json(estimator.loss_, "loss"), "threshold": threshold, **pack_features(estimator)}
    more, curves = pack_followed(estimator)
    state = to_json(estimator.rng_state_, "rng_state_")
    random = {"seed": estimator.seed_, "rng_state": state}
    return {**header, "stop_reason": estimator.stop_reason_, **random, **more}, arrays | curves


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The reverse of `pack_booster`."""
    classes = estimator.classes_
    n_columns = sum(map(len, classes)) if isinstance(classes, list) else len(classes)
    model = model_from_arrays(arrays, n_columns, header["n_features_in"])
    estimator.model_ = model
    estimator.present_ = arrays["present"].astype(bool)
    if "merged" in arrays:
        estimator.merged_ = arrays["merged"].astype(np.intp)
    estimator.loss_ = loss_from_json(header["loss"], len(model.Y))
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_ = text_or_none(header["stop_reason"])
    estimator.seed_ = seed_from_json(header.get("seed"))
    estimator.rng_state_ = rng_state_from_json(header.get("rng_state"))
    estimator.history_ = history_from_arrays(arrays, model.n_rounds)
    if getattr(estimator, "fits_threshold", False):
        estimator.threshold_ = threshold_from_json(header["threshold"], len(estimator.classes_))
    if getattr(estimator, "multitarget", False):
        estimator.thresholds_ = thresholds_from_arrays(arrays, n_columns)
    check_several(estimator)
    check_link(estimator)
    unpack_followed(estimator, header.get("followed"), arrays)
    unpack_features(estimator, header)
    check_categories(estimator, model.trees)


def loss_from_json(value: Any, n_classes: int) -> Loss:
    """The loss; raise unless it is one for so many classes."""
    loss = from_json(value)
    if not isinstance(loss, Loss):
        raise damaged("a loss that is none")
    if n_classes > 1:
        loss.check(n_classes)
    return loss


def text_or_none(value: Any) -> str | None:
    """A text, or None."""
    if value is not None and not isinstance(value, str):
        raise damaged(f"{value!r:.50} where a text should be")
    return value


def threshold_from_json(value: Any, n_classes: int) -> Array | None:
    """The threshold of several labels, (K + 1,); None of a model for one label."""
    if value is None:
        return None
    threshold = from_json({"list": value})
    if len(threshold) != n_classes + 1 or not all(is_number(part) and abs(part) < 1e100 for part in threshold):
        raise damaged("a threshold that is none")  # scores less a larger one might not be finite
    return np.array(threshold, dtype=np.float64)


def thresholds_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> Array | None:
    """The probability above which each label is predicted, (K,); None of a model for other answers."""
    if "thresholds" not in arrays:
        return None
    check_layout(arrays, {"thresholds": ("<f8", 1)})
    values = arrays["thresholds"]
    if len(values) != n_classes or not ((values > 0.0) & (values < 1.0)).all():
        raise damaged("thresholds that are none")
    return values


def check_several(estimator: Any) -> None:
    """Raise if a model of several labels or targets is not of a kind that can be."""
    own = getattr(estimator, "thresholds_", None) is not None
    targets = isinstance(estimator.classes_, list)
    if not own and not targets:
        return
    fits = getattr(estimator, "multitarget", False) and estimator.loss_.likelihood and not (own and targets)
    if not fits or not estimator.present_.all():
        raise damaged("several labels or targets of a classifier that has none")


def check_link(estimator: Any) -> None:
    """Raise unless scores become probabilities. This tries two rows; not where many classes would make it slow."""
    K, several = len(estimator.present_), estimator._answers != "one"
    if K > MOST_TRIED:
        return
    with np.errstate(all="ignore"):
        P = estimator._decision().probabilities(np.stack([np.zeros(K), np.linspace(-2.0, 2.0, K)]))
    if P.shape != (2, K) or not (P >= 0).all() or not (several or np.allclose(P.sum(axis=1), 1.0)):
        raise damaged("a loss that gives no probabilities")


def check_categories(estimator: Any, trees: list[Tree]) -> None:
    """Raise if trees split by categories a feature that has none, or the reverse."""
    known = estimator.categories_
    mask = np.zeros(estimator.n_features_in_, dtype=bool) if known is None else known.mask
    for tree in trees:
        inner = tree.nodes[tree.nodes["feature"] >= 0]
        if (mask[inner["feature"]] != (inner["category"] >= 0)).any():
            raise damaged("splits that do not fit its categories")


def pack_features(estimator: Any) -> dict[str, Any]:
    """What the estimator knows of its columns: their kinds and categories."""
    categories = None if estimator.categories_ is None else categories_to_json(estimator.categories_)
    return {"categories": categories, "feature_kinds": estimator.feature_kinds_}


def unpack_features(estimator: Any, header: dict[str, Any]) -> None:
    """The reverse of `pack_features`; earlier files know no kinds, those of programs no categories either."""
    columns, kinds, p = header.get("categories"), header.get("feature_kinds"), header["n_features_in"]
    lists = all(some is None or isinstance(some, list) for some in (columns, kinds))
    if not lists or any(some is not None and len(some) != p for some in (columns, kinds)):
        raise damaged("categories or kinds that do not fit its features")
    if not set(kinds or ()) <= set(WORDS):
        raise damaged("kinds of features that are none")
    estimator.feature_kinds_ = kinds
    estimator.categories_ = None
    if columns is not None:
        estimator.categories_ = Categories([None if c is None else categories_from_json(c) for c in columns])


def categories_from_json(value: Any) -> AnyArray:
    """The categories of a column; raise unless they are different, not too many, and all numbers or all text."""
    values = as_categories(array_from_json(value))
    names = values.tolist()
    texts = sum(isinstance(name, str) for name in names)
    if values.ndim != 1 or len(names) > MAX_CATEGORIES or len(set(names)) < len(names) or texts not in (0, len(names)):
        raise damaged("categories that are none")
    if not texts and not all(map(is_number, names)):
        raise damaged("categories that are neither numbers nor text")
    return values


def seed_from_json(value: Any) -> int | None:
    """The seed of the fit; None for files that have none."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31):
        raise damaged("a seed that is none")
    return value


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
    score_fits = score is None or (isinstance(score, int | float) and not isinstance(score, bool))
    if not texts or not score_fits or type(best) is not int or len(lengths) > 1 or not 0 <= best <= max(lengths):
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
    estimator.history_ = history_from_arrays(arrays, estimator.n_iter_)
    unpack_features(estimator, header)
    check_categories(estimator, [term.hypothesis.tree for term in estimator.program_.terms])


def history_to_arrays(history: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The history without the times, which differ from run to run, so that equal models give equal files."""
    return {f"history.{name}": values for name, values in history.items() if name != "seconds"}


def history_from_arrays(arrays: dict[str, AnyArray], n_rounds: int) -> dict[str, AnyArray]:
    """The reverse of `history_to_arrays`; raise unless there is an entry for every round."""
    history = {name.removeprefix("history."): v for name, v in arrays.items() if name.startswith("history.")}
    if any(values.shape != (n_rounds,) for values in history.values()):
        raise damaged("a history that does not fit its rounds")
    return history
