"""Converts fitted models to arrays and back, with checks.

Sums of hypotheses and branching programs both consist of terms, which are stored as concatenated arrays. Boosters add
their history and whatever else prediction needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray, Array
from ..engine import MAX_CATEGORIES, NODE, Tree, no_sets, node_bytes
from ..model.additive import AdditiveModel, Term
from ..model.code import FEW, identity, is_view
from ..model.hypotheses import Hypothesis, LinearHypothesis, TreeHypothesis
from ..model.program import Program
from ..parts.losses import Loss
from ..tables.columns import WORDS, as_categories
from ..tables.features import Categories
from ..tables.problem import ClassTargets, LabelSets, OneClass, Problem
from .checks import (
    ENDS,
    check_codewords,
    check_ends,
    check_layout,
    check_program,
    check_range,
    check_term_arrays,
    check_terms,
    check_tree,
    damaged,
    is_number,
)
from .parameters import from_json, to_json
from .values import array_from_json, array_to_json, encode


def terms_to_arrays(terms: list[Term], dtype: Any) -> dict[str, AnyArray]:
    """Return the terms as arrays: the kind of each (0 tree, 1 line), its sizes, and everything else concatenated.

    ``dtype`` is the precision of their values.
    """
    hypotheses = [term.hypothesis for term in terms]
    trees = [h.tree for h in hypotheses if isinstance(h, TreeHypothesis)]
    lines = [h for h in hypotheses if isinstance(h, LinearHypothesis)]
    return {
        "step": np.array([term.step for term in terms], dtype=np.float64),
        "coordinate": np.array([-1 if t.coordinate is None else t.coordinate for t in terms], dtype=np.int32),
        "kind": np.array([isinstance(h, LinearHypothesis) for h in hypotheses], dtype=np.uint8),
        **values_to_arrays([values_of(h) for h in hypotheses], dtype),
        "n_nodes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "nodes": without_gaps(joined([node_bytes(tree.nodes).ravel() for tree in trees], np.uint8)),
        "gain": joined([tree.gain for tree in trees], np.float64),
        "count": joined([tree.count for tree in trees], np.int64),
        "n_sets": np.array([len(tree.category_sets) for tree in trees], dtype=np.int64),
        "category_sets": np.concatenate([no_sets(), *(tree.category_sets for tree in trees)]),
        "linear_feature": np.array([h.feature for h in lines], dtype=np.int64),
        "linear_centre": np.array([h.centre for h in lines], dtype=np.float64),
    }


def terms_from_arrays(arrays: dict[str, AnyArray], d: int, n_features: Any) -> list[Term]:
    """Return the terms of a model with d coordinates and n_features features; raise unless they fit."""
    check_term_arrays(arrays, d)
    n_nodes = arrays["n_nodes"]
    nodes = cut(arrays["nodes"].view(NODE), n_nodes)
    gain, count = cut(arrays["gain"], n_nodes), cut(arrays["count"], n_nodes)
    sets = cut(arrays["category_sets"], arrays["n_sets"])
    trees = [check_tree(Tree(*parts)) for parts in zip(nodes, gain, count, sets, strict=True)]
    lines = list(zip(arrays["linear_feature"].tolist(), arrays["linear_centre"].tolist(), strict=True))
    is_line = arrays["kind"].astype(bool)
    number = np.where(is_line, np.cumsum(is_line), np.cumsum(~is_line)) - 1  # of every term among those of its kind
    values = values_from_arrays(arrays)
    terms = []
    for i, k in enumerate(number):
        hypothesis: Hypothesis
        hypothesis = LinearHypothesis(*lines[k], *values[i]) if is_line[i] else TreeHypothesis(trees[k], values[i])
        coordinate = int(arrays["coordinate"][i])
        terms.append(Term(hypothesis, float(arrays["step"][i]), None if coordinate < 0 else coordinate))
    check_terms(terms, d, n_features)
    return terms


def values_to_arrays(values: list[Any], dtype: Any) -> dict[str, AnyArray]:
    """Return the values of all terms; if they are sparse, also their columns and the number of values in each row."""
    shapes = np.array([v.shape for v in values], dtype=np.int64).reshape(-1, 2)
    if not any(issparse(v) for v in values):
        return {"value_shape": shapes, "values": joined([v.ravel() for v in values], dtype)}
    rows, few = [csr_array(v) for v in values], np.uint16 if shapes[:, 1].max() <= 2**16 else np.uint32
    return {
        "value_shape": shapes,
        "values": joined([v.data for v in rows], dtype),
        "columns": joined([v.indices.astype(few) for v in rows], few),
        "row_sizes": joined([np.diff(v.indptr).astype(np.uint32) for v in rows], np.uint32),
    }


def values_from_arrays(arrays: dict[str, AnyArray]) -> list[Any]:
    """Return the values of every term."""
    shapes, flat = arrays["value_shape"], arrays["values"]
    if "columns" not in arrays:
        return [v.reshape(shape) for v, shape in zip(cut(flat, shapes.prod(axis=1)), shapes, strict=True)]
    sizes = cut(arrays["row_sizes"].astype(np.int64), shapes[:, 0])
    totals = np.array([size.sum() for size in sizes], dtype=np.int64)
    columns = cut(arrays["columns"].astype(np.int32), totals)
    counted: Any = np.int32 if totals.max(initial=0) < 2**31 else np.int64  # as the learners count
    starts = [np.concatenate([[0], np.cumsum(size)]).astype(counted) for size in sizes]
    parts = zip(cut(flat, totals), columns, starts, shapes, strict=True)
    found = [csr_array((v, at, start), shape=tuple(shape)) for v, at, start, shape in parts]
    try:
        for rows in found:
            rows.check_format(full_check=True)
    except ValueError as error:
        raise damaged("sparse values outside their shape") from error
    return found


def cut(values: AnyArray, sizes: AnyArray) -> list[AnyArray]:
    """Return consecutive parts of an array; no sizes give no parts, where `np.split` would give one."""
    if (sizes < 0).any() or (sizes > len(values)).any() or sizes.sum() != len(values):
        raise damaged("the sizes of arrays do not fit together")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def values_of(h: Hypothesis) -> Any:
    """Return the numbers of a hypothesis: leaf values (L, d), or slope and intercept (2, d)."""
    if isinstance(h, TreeHypothesis):
        return h.values
    if isinstance(h, LinearHypothesis):
        return np.stack([h.slope, h.intercept])
    raise TypeError(
        f"a model with {type(h).__name__} terms cannot be saved: files hold trees and, in sums, lines; anything else, "
        "like a scikit-learn estimator, would need pickle. Use one of the package's own learners."
    )


def without_gaps(nodes: AnyArray) -> AnyArray:
    """Return the bytes of nodes with zeros between their fields, where copies of a tree may have anything."""
    out = np.zeros(len(nodes) // NODE.itemsize, dtype=NODE)
    for name in NODE.names or ():
        out[name] = nodes.view(NODE)[name]
    return node_bytes(out).ravel()


def joined(parts: list[AnyArray], dtype: Any) -> AnyArray:
    """Return the arrays concatenated; an empty array if there are none."""
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


def model_to_arrays(model: AdditiveModel) -> dict[str, AnyArray]:
    """Return the codewords, the rounds and the terms as arrays."""
    ends = np.array(model.round_ends, dtype=np.int64)
    code = {"canonical": np.array([len(model.Y)])} if is_view(model.Y) else {"Y": model.Y}
    arrays = {**code, "round_ends": ends, **terms_to_arrays(model.terms, model.dtype)}
    temperature = np.atleast_1d(np.asarray(model.temperature, dtype=np.float64))  # one, or that of every column of F
    plain = np.ndim(model.temperature) == 0 and model.temperature == 1.0
    return arrays if plain else {**arrays, "temperature": temperature}


def model_from_arrays(arrays: dict[str, AnyArray], n_classes: int, n_features: Any) -> AdditiveModel:
    """Return a model; the arrays must also include ``present``, which says which classes have codewords."""
    check_layout(arrays, {"round_ends": ENDS})
    if "canonical" in arrays:
        arrays = arrays | {"Y": canonical_from_arrays(arrays, n_classes)}
    check_codewords(arrays, n_classes)
    terms = terms_from_arrays(arrays, arrays["Y"].shape[1], n_features)
    check_ends(arrays["round_ends"], len(terms))
    model = AdditiveModel(
        arrays["Y"], terms, arrays["round_ends"].tolist(), temperature_from_arrays(arrays, arrays["Y"].shape[1])
    )
    check_range(model, arrays)
    return model


def canonical_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> AnyArray:
    """Return canonical codewords, of which a file has only their number; their precision is that of the values."""
    check_layout(arrays, {"canonical": ("<i8", 1), "values": ("<f8 <f4", 1)})
    K = arrays["canonical"].tolist()
    most = len(arrays["merged"]) if "merged" in arrays else n_classes  # merged classes have several codewords
    if len(K) != 1 or not FEW < K[0] <= most:
        raise damaged("invalid number of codewords")
    return identity(K[0], arrays["values"].dtype)


def temperature_from_arrays(arrays: dict[str, AnyArray], d: int = 1) -> Any:
    """Return the temperature of a model, 1 if there is none; (d,) if it differs between the columns of F."""
    if "temperature" not in arrays:
        return 1.0
    check_layout(arrays, {"temperature": ("<f8", 1)})
    value = arrays["temperature"]
    if len(value) not in (1, d) or not ((value > 0.0) & (value < np.inf)).all():
        raise damaged("a temperature is not a positive number")
    return float(value[0]) if len(value) == 1 else value


def program_to_arrays(program: Program) -> dict[str, AnyArray]:
    """Return the layers and the terms as arrays."""
    ends = np.array(program.layer_ends, dtype=np.int64)
    return {"layer_ends": ends, **terms_to_arrays(program.terms, np.float64)}


def program_from_arrays(arrays: dict[str, AnyArray], n_features: Any) -> Program:
    """Return a program; the coordinate of a term is its node, below the number of layers."""
    check_layout(arrays, {"layer_ends": ENDS})
    terms = terms_from_arrays(arrays, len(arrays["layer_ends"]), n_features)
    check_ends(arrays["layer_ends"], len(terms))
    program = Program(terms, arrays["layer_ends"].tolist())
    check_program(program)
    return program


MOST_TRIED = 64  # classes; with costs, probabilities are the solution of a system of as many equations


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the model, its history, and whatever else prediction needs."""
    arrays = model_to_arrays(estimator.model_) | history_to_arrays(estimator.history_)
    arrays["present"] = estimator.present_.astype(np.uint8)
    if getattr(estimator, "thresholds_", None) is not None:
        arrays["thresholds"] = estimator.thresholds_
    merged = getattr(estimator, "merged_", None)
    if merged is not None:
        arrays["merged"] = merged.astype(np.int64)
    threshold = getattr(estimator, "threshold_", None)
    header = {
        "loss": to_json(estimator.loss_, "loss"),
        "threshold": None if threshold is None else [encode(value) for value in threshold.tolist()],
        **pack_features(estimator),
    }
    more, curves = pack_followed(estimator)
    state = to_json(estimator.rng_state_, "rng_state_")
    random = {"seed": estimator.seed_, "rng_state": state}
    return {**header, "stop_reason": estimator.stop_reason_, **random, **more}, arrays | curves


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Set the attributes of a booster that `pack_booster` took apart."""
    classes = estimator.classes_
    n_columns = len(classes) if isinstance(classes, np.ndarray) else sum(map(len, classes))
    model = model_from_arrays(arrays, n_columns, header["n_features_in"])
    estimator.model_ = model
    estimator.present_ = arrays["present"].astype(bool)
    if "merged" in arrays:
        estimator.merged_ = arrays["merged"].astype(np.intp)
    loss = from_json(header["loss"])
    if not isinstance(loss, Loss):
        raise damaged("invalid loss")
    if len(model.Y) > 1:
        loss.check(len(model.Y))
    estimator.loss_ = loss
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_, estimator.seed_ = header["stop_reason"], header["seed"]
    if not isinstance(estimator.stop_reason_, str | None):
        raise damaged(f"invalid `stop_reason_`, {estimator.stop_reason_!r:.50}, which should be text")
    if type(estimator.seed_) is not int or not 0 <= estimator.seed_ < 2**31:
        raise damaged(f"invalid seed, {estimator.seed_!r:.50}")
    estimator.rng_state_ = rng_state_from_json(header["rng_state"])
    estimator.history_ = history_from_arrays(arrays, model.n_rounds)
    if getattr(estimator, "fits_threshold", False):
        estimator.threshold_ = threshold_from_json(header["threshold"], len(estimator.classes_))
    if getattr(estimator, "multitarget", False):
        estimator.thresholds_ = thresholds_from_arrays(arrays, n_columns)
    estimator._problem = problem_of(estimator)
    check_several(estimator)
    check_link(estimator)
    unpack_followed(estimator, header.get("followed"), arrays)
    unpack_features(estimator, header)
    check_categories(estimator, model.trees)


def threshold_from_json(value: Any, n_classes: int) -> Array | None:
    """Return the threshold of several labels, (K + 1,); None of a model for one label."""
    if value is None:
        return None
    threshold = from_json({"list": value})
    if len(threshold) != n_classes + 1 or not all(is_number(part) and abs(part) < 1e100 for part in threshold):
        raise damaged("invalid `threshold_`")  # scores less a larger one might not be finite
    return np.array(threshold, dtype=np.float64)


def thresholds_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> Array | None:
    """Return the probability above which each label is predicted, (K,); None if there are no such thresholds."""
    if "thresholds" not in arrays:
        return None
    check_layout(arrays, {"thresholds": ("<f8", 1)})
    values = arrays["thresholds"]
    if len(values) != n_classes or not ((values > 0.0) & (values < 1.0)).all():
        raise damaged("invalid `thresholds_`")
    return values


def problem_of(estimator: Any) -> Problem:
    """What y said of a row."""
    own, one = (getattr(estimator, name, None) is not None for name in ("thresholds_", "threshold_"))
    if not isinstance(estimator.classes_, np.ndarray):
        return ClassTargets(estimator.classes_)
    if own or one:
        return LabelSets(estimator.classes_, own)
    return OneClass(estimator.classes_, estimator.present_)


def check_several(estimator: Any) -> None:
    """Raise if a model of several labels or targets belongs to a classifier that has none."""
    own = getattr(estimator, "thresholds_", None) is not None
    targets = estimator._problem.several == "targets"
    if not own and not targets:
        return
    fits = getattr(estimator, "multitarget", False) and estimator.loss_.likelihood and not (own and targets)
    if not fits or not estimator.present_.all():
        raise damaged("several labels or targets in a classifier of one class")


def check_link(estimator: Any) -> None:
    """Raise unless scores become probabilities. Two rows are tried, unless many classes would make that slow."""
    K, several = len(estimator.present_), estimator._problem.several is not None
    if K > MOST_TRIED:
        return
    with np.errstate(all="ignore"):
        P = estimator._decision().probabilities(np.stack([np.zeros(K), np.linspace(-2.0, 2.0, K)]))
    if P.shape != (2, K) or not (P >= 0).all() or not (several or np.allclose(P.sum(axis=1), 1.0)):
        raise damaged("the loss gives no probabilities")


def check_categories(estimator: Any, trees: list[Tree]) -> None:
    """Raise if trees split a feature without categories by categories, or one with categories by thresholds."""
    known = estimator.categories_
    mask = np.zeros(estimator.n_features_in_, dtype=bool) if known is None else known.mask
    for tree in trees:
        inner = tree.nodes[tree.nodes["feature"] >= 0]
        if (mask[inner["feature"]] != (inner["category"] >= 0)).any():
            raise damaged("the splits do not fit the categories")


def pack_features(estimator: Any) -> dict[str, Any]:
    """Return the kinds and categories of the columns as JSON."""
    known = estimator.categories_
    columns = None if known is None else [None if values is None else array_to_json(values) for values in known.columns]
    return {"categories": columns, "feature_kinds": estimator.feature_kinds_}


def unpack_features(estimator: Any, header: dict[str, Any]) -> None:
    """Set the kinds and categories of the columns."""
    columns, kinds, p = header["categories"], header["feature_kinds"], header["n_features_in"]
    lists = all(some is None or isinstance(some, list) for some in (columns, kinds))
    if not lists or any(some is not None and len(some) != p for some in (columns, kinds)):
        raise damaged("categories or kinds do not fit the features")
    if not set(kinds or ()) <= set(WORDS):
        raise damaged("unknown kinds of features")
    estimator.feature_kinds_ = kinds
    estimator.categories_ = None
    if columns is not None:
        estimator.categories_ = Categories([None if c is None else categories_from_json(c) for c in columns])


def categories_from_json(value: Any) -> AnyArray:
    """Return the categories of a column; raise unless they differ, are not too many, and all numbers or all text."""
    values = as_categories(array_from_json(value))
    names = values.tolist()
    texts = sum(isinstance(name, str) for name in names)
    if values.ndim != 1 or len(names) > MAX_CATEGORIES or len(set(names)) < len(names) or texts not in (0, len(names)):
        raise damaged("invalid categories")
    if not texts and not all(map(is_number, names)):
        raise damaged("categories that are neither finite numbers nor text")
    return values


def rng_state_from_json(value: Any) -> dict[str, Any] | None:
    """Return the state of the random numbers with which boosting goes on; None if there is none."""
    if value is None:
        return None
    try:
        state: dict[str, Any] = from_json(value)
        np.random.PCG64().state = state  # type: ignore[assignment]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise damaged("invalid state of random numbers") from error
    return state


def pack_followed(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the metrics on evaluated rows, if any; their names may be any text, so they go to the header."""
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
    """Set the metrics on evaluated rows."""
    if followed is None:
        return
    names, best, score = followed["names"], followed["best_iteration"], followed["best_score"]
    curves = [f"evals.{i}.{j}" for i, some in enumerate(names) for j in range(len(some))]
    check_layout(arrays, dict.fromkeys([*curves, "validation_score"], ("<f8", 1)))
    lengths = {len(arrays[name]) for name in [*curves, "validation_score"]}
    texts = all(isinstance(name, str) for some in names for name in some)
    score_fits = score is None or (isinstance(score, int | float) and not isinstance(score, bool))
    if not texts or not score_fits or type(best) is not int or len(lengths) > 1 or not 0 <= best <= max(lengths):
        raise damaged("the evaluations do not fit together")
    estimator.evals_result_ = [
        {name: arrays[f"evals.{i}.{j}"] for j, name in enumerate(some)} for i, some in enumerate(names)
    ]
    estimator.best_iteration_, estimator.best_score_ = best, np.nan if score is None else float(score)
    estimator.validation_score_ = arrays["validation_score"]


def pack_program(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return a branching program and its history."""
    return pack_features(estimator), program_to_arrays(estimator.program_) | history_to_arrays(estimator.history_)


def unpack_program(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Set the attributes of a classifier with a branching program."""
    if len(estimator.classes_) != 2:
        raise damaged(f"branching program for {len(estimator.classes_)} classes")
    estimator.program_ = program_from_arrays(arrays, header["n_features_in"])
    estimator.n_iter_ = estimator.program_.n_layers
    estimator.history_ = history_from_arrays(arrays, estimator.n_iter_)
    unpack_features(estimator, header)
    check_categories(estimator, [term.hypothesis.tree for term in estimator.program_.terms])


def history_to_arrays(history: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the history without the times, which differ from run to run: equal models give equal files."""
    return {f"history.{name}": values for name, values in history.items() if name != "seconds"}


def history_from_arrays(arrays: dict[str, AnyArray], n_rounds: int) -> dict[str, AnyArray]:
    """Return the history; raise unless it has an entry for every round."""
    history = {name.removeprefix("history."): v for name, v in arrays.items() if name.startswith("history.")}
    if any(values.shape != (n_rounds,) for values in history.values()):
        raise damaged("the history does not fit the rounds")
    return history
