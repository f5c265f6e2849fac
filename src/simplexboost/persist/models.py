"""Converts fitted models to arrays and back; loading checks the arrays, so that predictions never read outside of them.

Additive models and branching programs both consist of terms: a tree or a line, with a step length. The terms are stored
as concatenated arrays. Boosters also store their history and all other attributes that predictions need.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray
from ..engine import MAX_CATEGORIES, NODE, SET_BYTES, Tree, no_sets, node_bytes
from ..model.additive import AdditiveModel, Term
from ..model.code import FEW, identity, is_view
from ..model.hypotheses import Hypothesis, LinearHypothesis, TreeHypothesis
from ..model.program import Program
from ..parts.losses import Loss
from ..tables.columns import WORDS, as_categories
from ..tables.features import Categories
from ..tables.problem import ClassTargets, LabelSets, OneClass
from .archive import damaged, require
from .saving import from_json, to_json
from .values import array_from_json, array_to_json, encode

# The types and the number of axes of every array. Terms with sparse values have two more arrays.
TERMS = {
    "step": ("<f8", 1),
    "coordinate": ("<i4", 1),
    "kind": ("|u1", 1),
    "value_shape": ("<i8", 2),
    "values": ("<f8 <f4", 1),
    "n_nodes": ("<i8", 1),
    "nodes": ("|u1", 1),
    "gain": ("<f8", 1),
    "count": ("<i8", 1),
    "n_sets": ("<i8", 1),
    "category_sets": ("|u1", 2),
    "linear_feature": ("<i8", 1),
    "linear_centre": ("<f8", 1),
}
SPARSE = {"columns": ("<u2 <u4", 1), "row_sizes": ("<u4", 1)}
MOST_TRIED = 64  # with costs, the probabilities of K classes solve K equations, which would be slow for more


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def read_array(arrays: dict[str, AnyArray], name: str, dtypes: str = "<f8", n_axes: int = 1) -> AnyArray:
    """Return an array of a model file; raise if the array is missing, or has another type or number of axes."""
    require(name in arrays, f"array {name!r} is missing")
    values = arrays[name]
    fits = values.dtype in map(np.dtype, dtypes.split()) and values.ndim == n_axes
    require(fits, f"array {name!r} has type {values.dtype} and shape {values.shape}")
    return values


def check_layout(arrays: dict[str, AnyArray], layout: dict[str, tuple[str, int]]) -> None:
    """Raise unless all arrays of the layout exist, with the types and the numbers of axes that the layout gives."""
    for name, about in layout.items():
        read_array(arrays, name, *about)


def check_finite(arrays: dict[str, AnyArray], *names: str) -> None:
    for name in names:
        require(np.isfinite(arrays[name]).all(), f"infinity or NaN in {name!r}")


# ---- terms ----------------------------------------------------------------------------------------------------------


def terms_to_arrays(terms: list[Term], dtype: Any) -> dict[str, AnyArray]:
    """Return arrays by name that hold all terms, concatenated; leaf values and slopes get the type ``dtype``."""
    hypotheses = [term.hypothesis for term in terms]
    trees = [h.tree for h in hypotheses if isinstance(h, TreeHypothesis)]
    lines = [h for h in hypotheses if isinstance(h, LinearHypothesis)]
    nodes = np.zeros(sum(len(tree.nodes) for tree in trees), dtype=NODE)
    for name in NODE.names or ():  # field by field: the bytes between the fields stay zero
        nodes[name] = concatenate([tree.nodes[name] for tree in trees], NODE[name])
    return {
        "step": np.array([term.step for term in terms], dtype=np.float64),
        "coordinate": np.array([-1 if t.coordinate is None else t.coordinate for t in terms], dtype=np.int32),
        "kind": np.array([isinstance(h, LinearHypothesis) for h in hypotheses], dtype=np.uint8),
        **values_to_arrays(hypotheses, dtype),
        "n_nodes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "nodes": node_bytes(nodes).ravel(),
        "gain": concatenate([tree.gain for tree in trees], np.float64),
        "count": concatenate([tree.count for tree in trees], np.int64),
        "n_sets": np.array([len(tree.category_sets) for tree in trees], dtype=np.int64),
        "category_sets": np.concatenate([no_sets(), *(tree.category_sets for tree in trees)]),
        "linear_feature": np.array([h.feature for h in lines], dtype=np.int64),
        "linear_centre": np.array([h.centre for h in lines], dtype=np.float64),
    }


def terms_from_arrays(arrays: dict[str, AnyArray], d: int, n_features: Any) -> list[Term]:
    """Return the terms that `terms_to_arrays` stored; raise unless they suit d and the number of features."""
    check_term_arrays(arrays, d)
    is_line, n_nodes = arrays["kind"].astype(bool), arrays["n_nodes"]
    nodes = cut(arrays["nodes"].view(NODE), n_nodes)
    gain, count = cut(arrays["gain"], n_nodes), cut(arrays["count"], n_nodes)
    sets = cut(arrays["category_sets"], arrays["n_sets"])
    trees = [check_tree(Tree(*parts)) for parts in zip(nodes, gain, count, sets, strict=True)]
    lines = list(zip(arrays["linear_feature"].tolist(), arrays["linear_centre"].tolist(), strict=True))
    n_trees, terms = np.cumsum(~is_line), []
    for i, values in enumerate(values_from_arrays(arrays)):
        hypothesis: Hypothesis
        t = n_trees[i]  # trees among the first i + 1 terms
        hypothesis = LinearHypothesis(*lines[i - t], *values) if is_line[i] else TreeHypothesis(trees[t - 1], values)
        coordinate = int(arrays["coordinate"][i])
        terms.append(Term(hypothesis, float(arrays["step"][i]), None if coordinate < 0 else coordinate))
    check_terms(terms, d, n_features)
    return terms


def values_to_arrays(hypotheses: list[Hypothesis], dtype: Any) -> dict[str, AnyArray]:
    """Return the values of all terms as arrays: leaf values (L, d) of trees, slope and intercept (2, d) of lines.

    If leaf values are sparse, two more arrays hold the column index of every value and the number of values per row.
    """
    values: list[Any] = []
    for h in hypotheses:
        if not isinstance(h, TreeHypothesis | LinearHypothesis):
            raise TypeError(
                f"a model with {type(h).__name__} terms cannot be saved: files hold trees and, in sums, lines; "
                "anything else, like a scikit-learn estimator, would need pickle. Use a learner of the package."
            )
        values.append(h.values if isinstance(h, TreeHypothesis) else np.stack([h.slope, h.intercept]))
    shapes = np.array([v.shape for v in values], dtype=np.int64).reshape(-1, 2)
    if not any(issparse(v) for v in values):
        return {"value_shape": shapes, "values": concatenate([v.ravel() for v in values], dtype)}
    rows, few = [csr_array(v) for v in values], np.uint16 if shapes[:, 1].max() <= 2**16 else np.uint32
    return {
        "value_shape": shapes,
        "values": concatenate([v.data for v in rows], dtype),
        "columns": concatenate([v.indices.astype(few) for v in rows], few),
        "row_sizes": concatenate([np.diff(v.indptr).astype(np.uint32) for v in rows], np.uint32),
    }


def values_from_arrays(arrays: dict[str, AnyArray]) -> list[Any]:
    """Return the values that `values_to_arrays` stored, a matrix per term; raise if a sparse one is invalid."""
    shapes, flat = arrays["value_shape"], arrays["values"]
    if "columns" not in arrays:
        return [v.reshape(shape) for v, shape in zip(cut(flat, shapes.prod(axis=1)), shapes, strict=True)]
    sizes = cut(arrays["row_sizes"].astype(np.int64), shapes[:, 0])
    totals = np.array([size.sum() for size in sizes], dtype=np.int64)
    columns = cut(arrays["columns"].astype(np.int32), totals)
    counted: Any = np.int32 if totals.max(initial=0) < 2**31 else np.int64  # the learners' choice of type
    starts = [np.concatenate([[0], np.cumsum(size)]).astype(counted) for size in sizes]
    parts = zip(cut(flat, totals), columns, starts, shapes, strict=True)
    found = [csr_array((v, at, start), shape=tuple(shape)) for v, at, start, shape in parts]
    try:
        for rows in found:
            rows.check_format(full_check=True)
    except ValueError as error:
        raise damaged("sparse values outside their shape") from error
    return found


def check_term_arrays(arrays: dict[str, AnyArray], d: int) -> None:
    """Raise unless the arrays of terms have matching lengths, and terms add to existing columns of F (n, d)."""
    check_layout(arrays, TERMS | (SPARSE if "columns" in arrays or "row_sizes" in arrays else {}))
    check_finite(arrays, "values", "step", "linear_centre", "gain")
    kind, shapes, coordinate = arrays["kind"], arrays["value_shape"], arrays["coordinate"]
    n_linear, n = int((kind == 1).sum()), len(kind)
    lengths = {"step": n, "coordinate": n, "value_shape": n, "linear_feature": n_linear, "linear_centre": n_linear}
    lengths |= {"n_nodes": n - n_linear, "n_sets": n - n_linear}
    fits = (kind <= 1).all() and all(len(arrays[name]) == length for name, length in lengths.items())
    fits = fits and shapes.shape[1] == 2 and (shapes >= 0).all() and (shapes <= 2**31).all()
    fits = fits and not len(arrays["nodes"]) % NODE.itemsize and (arrays["count"] >= 0).all()
    require(fits, "the sizes of arrays do not fit together")
    inside = ((coordinate >= -1) & (coordinate < d)).all()
    require(inside, f"a term has a coordinate outside of the {d} coordinates of the model")
    require("columns" not in arrays or (coordinate < 0).all(), "sparse values of a single coordinate")


def check_tree(tree: Tree) -> Tree:
    """Return the tree unchanged; raise unless every path from its root ends in a leaf, and every split is valid."""
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"].astype(np.int64)
    children = np.sort(np.concatenate([left[inner], left[inner] + 1]))
    forward = (left[inner] > np.flatnonzero(inner)).all() and np.array_equal(children, np.arange(1, len(left)))
    ends = np.array_equal(np.sort(left[~inner]), np.arange(tree.n_leaves))
    require(len(left) and forward and ends, "the nodes of a tree do not lead to its leaves")
    category, sets = tree.nodes["category"], tree.category_sets
    known = ((category >= -1) & (category < len(sets))).all() and sets.shape[1:] == (SET_BYTES,)
    require(known, "a tree splits by categories without their sets")
    require(not np.isnan(tree.nodes["threshold"]).any(), "a threshold of a tree is NaN")
    require((tree.nodes["missing_left"] <= 1).all(), "a tree sends missing values neither left nor right")
    return tree


def check_terms(terms: list[Term], d: int, n_features: Any) -> None:
    """Raise unless terms suit d and the features, and no feature is split both by thresholds and by categories."""
    for term in terms:
        h, width = term.hypothesis, d if term.coordinate is None else 1
        if isinstance(h, TreeHypothesis):
            fits = h.values.shape == (h.tree.n_leaves, width) and h.tree.nodes["feature"].max() < n_features
        elif isinstance(h, LinearHypothesis):
            fits = h.slope.shape == (width,) and 0 <= h.feature < n_features
        require(fits, "a term does not fit the coordinates or features")
    nodes = concatenate(
        [term.hypothesis.tree.nodes for term in terms if isinstance(term.hypothesis, TreeHypothesis)], NODE
    )
    inner, by_category = nodes["feature"] >= 0, nodes["category"] >= 0
    both = np.intersect1d(nodes["feature"][inner & by_category], nodes["feature"][inner & ~by_category])
    require(not len(both), "a feature is split by thresholds and by categories")


def check_ends(ends: AnyArray, n_terms: int) -> None:
    """Raise unless ``ends``, the numbers of terms up to each round or layer, ascend to ``n_terms``."""
    fits = (np.diff(ends, prepend=0) >= 0).all() and (ends[-1] if len(ends) else 0) == n_terms
    require(fits, "the rounds do not fit the terms")


def cut(values: AnyArray, sizes: AnyArray) -> list[AnyArray]:
    """Return consecutive parts of an array with these sizes; raise unless the sizes add up to its length."""
    fits = ((sizes >= 0) & (sizes <= len(values))).all() and sizes.sum() == len(values)
    require(fits, "the sizes of arrays do not fit together")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def concatenate(parts: list[AnyArray], dtype: Any) -> AnyArray:
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


# ---- sums of terms --------------------------------------------------------------------------------------------------


def model_to_arrays(model: AdditiveModel) -> dict[str, AnyArray]:
    """Return a dict of arrays: codewords, numbers of terms up to each round, terms, and a temperature unless 1."""
    ends = np.array(model.round_ends, dtype=np.int64)
    code = {"canonical": np.array([len(model.Y)])} if is_view(model.Y) else {"Y": model.Y}
    arrays = {**code, "round_ends": ends, **terms_to_arrays(model.terms, model.dtype)}
    if np.ndim(model.temperature) or model.temperature != 1.0:
        arrays["temperature"] = np.atleast_1d(np.asarray(model.temperature, dtype=np.float64))
    return arrays


def model_from_arrays(arrays: dict[str, AnyArray], n_classes: int, n_features: Any) -> AdditiveModel:
    """Return the model that `model_to_arrays` stored; ``n_classes`` also counts classes without training examples."""
    ends = read_array(arrays, "round_ends", "<i8")
    if "canonical" in arrays:  # the file has only the number of codewords, which have the precision of the values
        K, dtype = read_array(arrays, "canonical", "<i8").tolist(), read_array(arrays, "values", "<f8 <f4").dtype
        most = len(arrays["merged"]) if "merged" in arrays else n_classes  # merged classes have several codewords
        require(len(K) == 1 and FEW < K[0] <= most, "invalid number of codewords")
        arrays = arrays | {"Y": identity(K[0], dtype)}
    check_codewords(arrays, n_classes)
    d = arrays["Y"].shape[1]
    terms = terms_from_arrays(arrays, d, n_features)
    check_ends(ends, len(terms))
    model = AdditiveModel(arrays["Y"], terms, ends.tolist(), temperature_from_arrays(arrays, d))
    check_range(model, arrays)
    return model


def check_codewords(arrays: dict[str, AnyArray], n_classes: int) -> None:
    """Raise unless exactly the classes that the array ``present`` marks have codewords."""
    Y, present = read_array(arrays, "Y", "<f8 <f4", 2), read_array(arrays, "present", "|u1")
    if not is_view(Y):
        check_finite(arrays, "Y")
    fits = present.shape == (n_classes,) and (present <= 1).all() and present.any() and Y.shape[1]
    # merged classes may have several codewords, all others have exactly one
    owner = read_array(arrays, "merged", "<i8") if "merged" in arrays else np.arange(len(Y))
    fits = fits and len(owner) == len(Y) and np.array_equal(np.unique(owner), np.arange(present.sum()))
    require(fits, "the codewords do not fit the classes")


def check_range(model: AdditiveModel, arrays: dict[str, AnyArray]) -> None:
    """Raise unless the largest values of all terms have a finite sum in the model's type, so no score overflows."""
    steps, values = np.abs(arrays["step"]) * np.max(model.temperature), arrays["values"]
    h: Any
    most = float(np.finfo(model.dtype).max) / 8
    with np.errstate(over="ignore", invalid="ignore"):
        spread = 1.0 if model.code.canonical else max(1.0, float(np.abs(model.Y).sum(axis=1, dtype=np.float64).max()))
        # A bound from the largest of all values is enough for ordinary models, and takes no loop over the terms.
        rough = spread * float(steps.sum()) * max(1.0, float(np.abs(values).max(initial=0.0)))
        if rough <= most:
            return
        largest = []
        for h in (term.hypothesis for term in model.terms):
            values = np.stack([h.slope, h.intercept]) if isinstance(h, LinearHypothesis) else h.values
            largest.append(float(abs(values).max()))
        require(spread * float(steps @ largest) <= most and steps.max() <= most, "sums of values overflow")


def temperature_from_arrays(arrays: dict[str, AnyArray], d: int = 1) -> Any:
    """Return the temperature of a model: 1 if the file has none, an array (d,) if each column of F has its own."""
    if "temperature" not in arrays:
        return 1.0
    value = read_array(arrays, "temperature")
    fits = len(value) in (1, d) and ((value > 0.0) & (value < np.inf)).all()
    require(fits, "a temperature is not a positive number")
    return float(value[0]) if len(value) == 1 else value


# ---- boosters -------------------------------------------------------------------------------------------------------

HELD_OUT, FRESH = "rows held out by the choice", "fresh rows"  # where scores for sets of classes come from
SOURCES = (HELD_OUT, FRESH)


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return header entries and arrays of a fitted booster: its model, its history and all that predictions need."""
    arrays = model_to_arrays(estimator.model_) | history_to_arrays(estimator.history_)
    arrays["present"] = estimator._present.astype(np.uint8)
    if estimator.thresholds_ is not None:
        arrays["thresholds"] = estimator.thresholds_
    if estimator._merged is not None:
        arrays["merged"] = estimator._merged.astype(np.int64)
    threshold = getattr(estimator, "threshold_", None)
    evaluations, curves = pack_evaluations(estimator)
    header = {
        "loss": to_json(estimator.loss_, "loss"),
        "threshold": None if threshold is None else [encode(value) for value in threshold.tolist()],
        **pack_features(estimator),
        "stop_reason": estimator.stop_reason_,
        "seed": estimator._seed,
        "rng_state": to_json(estimator._rng_state, "rng_state"),
    }
    prior = {} if estimator.class_prior_ is None else {"prior": estimator.class_prior_}
    return header | evaluations, arrays | curves | prior | set_scores_to_arrays(estimator.set_scores_)


def unpack_booster(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Set the attributes of a booster from the entries of `pack_booster`; raise unless they are valid."""
    classes = estimator.classes_
    n_columns = len(classes) if isinstance(classes, np.ndarray) else sum(map(len, classes))
    model = model_from_arrays(arrays, n_columns, header["n_features_in"])
    estimator.model_ = model
    estimator._present = arrays["present"].astype(bool)
    estimator._merged = arrays["merged"].astype(np.intp) if "merged" in arrays else None
    estimator.plan_ = estimator.choice_ = estimator.class_order_ = estimator.hierarchy_ = None
    loss = from_json(header["loss"])
    require(isinstance(loss, Loss), "invalid loss")
    if len(model.Y) > 1:
        loss.check(len(model.Y))
    estimator.loss_ = loss
    estimator.n_iter_ = model.n_rounds
    estimator.stop_reason_, estimator._seed = header["stop_reason"], header["seed"]
    reason, seed = estimator.stop_reason_, estimator._seed
    require(isinstance(reason, str | None), f"invalid `stop_reason_`, {reason!r:.50}, which should be text")
    require(type(seed) is int and 0 <= seed < 2**31, f"invalid seed, {seed!r:.50}")
    estimator._rng_state = rng_state_from_json(header["rng_state"])
    estimator.history_ = history_from_arrays(arrays, model.n_rounds)
    unpack_problem(estimator, header["threshold"], arrays)
    check_probabilities(estimator)
    unpack_evaluations(estimator, header.get("followed"), arrays)
    unpack_features(estimator, header)
    check_categories(estimator, model.trees)
    estimator.set_scores_ = set_scores_from_arrays(arrays, n_columns)
    estimator.class_prior_ = None
    if not estimator._problem.is_matrix:
        prior = estimator.class_prior_ = read_array(arrays, "prior")
        fits = np.array_equal(prior > 0, estimator._present) and abs(prior.sum() - 1) < 1e-6
        require(fits, "the class shares do not fit the classes")


def set_scores_to_arrays(scores: dict[str, Any] | None) -> dict[str, AnyArray]:
    """Return the calibration scores of prediction sets as arrays by name; without scores, return an empty dict."""
    if scores is None:
        return {}
    about = np.array([SOURCES.index(scores["source"]), scores["n_rounds"]])
    arrays = {"sets.score": scores["score"], "sets.class": scores["c"].astype(np.int32), "sets.about": about}
    return arrays if scores["weight"] is None else {**arrays, "sets.weight": scores["weight"]}


def set_scores_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> dict[str, Any] | None:
    """Return the calibration scores of prediction sets; None if the file has none. Raise if they are invalid."""
    if "sets.score" not in arrays:
        return None
    score, c = read_array(arrays, "sets.score"), read_array(arrays, "sets.class", "<i4")
    about = read_array(arrays, "sets.about", "<i8").tolist()
    weight = read_array(arrays, "sets.weight") if "sets.weight" in arrays else None
    known = len(about) == 2 and 0 <= about[0] < len(SOURCES) and about[1] >= 0 and len(score) > 0
    fits = known and len(c) == len(score) and ((c >= 0) & (c < n_classes)).all()
    fits = fits and (score >= 0).all() and (np.diff(score) >= 0).all() and bool(np.isfinite(score).all())
    if weight is not None:
        fits = fits and len(weight) == len(score) and bool((np.isfinite(weight) & (weight > 0)).all())
    require(fits, "invalid scores for sets of classes")
    source, n_rounds = SOURCES[about[0]], about[1]
    return {"score": score, "c": c.astype(np.intp), "weight": weight, "source": source, "n_rounds": n_rounds}


def unpack_problem(estimator: Any, threshold: Any, arrays: dict[str, AnyArray]) -> None:
    """Set the kind of target, such as one class or several labels, and the label thresholds; raise unless both fit."""
    K = len(estimator._present)
    if estimator._fits_threshold:  # one for the scores of all labels, (K + 1,)
        values = None if threshold is None else from_json({"list": threshold})
        # not too large, so that differences from scores are finite
        fits = values is None or (len(values) == K + 1 and all(is_number(v) and abs(v) < 1e100 for v in values))
        require(fits, "invalid `threshold_`")
        estimator.threshold_ = None if values is None else np.array(values, dtype=np.float64)
    estimator.thresholds_ = None
    if estimator._multitarget:  # one for the probabilities of each label, (K,)
        estimator.thresholds_ = values = read_array(arrays, "thresholds") if "thresholds" in arrays else None
        fits = values is None or (len(values) == K and bool(((values > 0.0) & (values < 1.0)).all()))
        require(fits, "invalid `thresholds_`")
    own, one = (getattr(estimator, name, None) is not None for name in ("thresholds_", "threshold_"))
    targets = not isinstance(estimator.classes_, np.ndarray)
    if targets:
        estimator._problem = ClassTargets(estimator.classes_)
    elif own or one:
        estimator._problem = LabelSets(estimator.classes_, own)
    else:
        estimator._problem = OneClass(estimator.classes_, estimator._present)
    if own or targets:
        fits = estimator._multitarget and estimator.loss_.likelihood and not (own and targets)
        require(fits and estimator._present.all(), "several labels or targets in a classifier of one class")


def check_probabilities(estimator: Any) -> None:
    """Raise unless the loss gives probabilities for two rows of test scores; skip this check for many classes."""
    K, several = len(estimator._present), estimator._problem.is_matrix
    if K > MOST_TRIED:
        return
    with np.errstate(all="ignore"):
        P = estimator._decision().probabilities(np.stack([np.zeros(K), np.linspace(-2.0, 2.0, K)]))
    fits = P.shape == (2, K) and (P >= 0).all() and (several or np.allclose(P.sum(axis=1), 1.0))
    require(fits, "the loss gives no probabilities")


def check_categories(estimator: Any, trees: list[Tree]) -> None:
    """Raise unless trees split categorical features by sets of categories, and all other features by thresholds."""
    known = estimator.categories_
    mask = np.zeros(estimator.n_features_in_, dtype=bool) if known is None else known.mask
    for tree in trees:
        inner = tree.nodes[tree.nodes["feature"] >= 0]
        require(np.array_equal(mask[inner["feature"]], inner["category"] >= 0), "the splits do not fit the categories")


def pack_features(estimator: Any) -> dict[str, Any]:
    """Return header entries with the kinds and the categories of the features."""
    known = estimator.categories_
    columns = None if known is None else [None if values is None else array_to_json(values) for values in known.columns]
    return {"categories": columns, "feature_kinds": estimator.feature_kinds_}


def unpack_features(estimator: Any, header: dict[str, Any]) -> None:
    """Set the kinds and the categories of the features from the header; raise unless they are valid."""
    columns, kinds, p = header["categories"], header["feature_kinds"], header["n_features_in"]
    fits = all(some is None or (isinstance(some, list) and len(some) == p) for some in (columns, kinds))
    require(fits, "categories or kinds do not fit the features")
    require(set(kinds or ()) <= set(WORDS), "unknown kinds of features")
    estimator.feature_kinds_ = kinds
    estimator.categories_ = None
    if columns is not None:
        estimator.categories_ = Categories([None if c is None else categories_from_json(c) for c in columns])


def categories_from_json(value: Any) -> AnyArray:
    """Return the categories of a feature; raise unless they are distinct, not too many, and all numbers or all text."""
    values = as_categories(array_from_json(value))
    names = values.tolist()
    texts = sum(isinstance(name, str) for name in names)
    differ = values.ndim == 1 and len(set(names)) == len(names) <= MAX_CATEGORIES
    require(differ and texts in (0, len(names)), "invalid categories")
    require(texts or all(map(is_number, names)), "categories that are neither finite numbers nor text")
    return values


def rng_state_from_json(value: Any) -> dict[str, Any]:
    """Return the state of the random number generator, which a warm start continues; raise if it is invalid."""
    try:
        state: dict[str, Any] = from_json(value)
        np.random.PCG64().state = state  # type: ignore[assignment]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise damaged("invalid state of random numbers") from error
    return state


def pack_evaluations(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the metrics on evaluation sets: a header entry with their names, and arrays of their values by round."""
    results = estimator.evals_result_
    if results is None:
        return {}, {}
    about = {
        "names": [list(result) for result in results],
        "best_iteration": int(estimator.best_iteration_),
        "best_score": None if np.isnan(estimator.best_score_) else float(estimator.best_score_),
    }
    arrays = {f"evals.{i}.{j}": v for i, result in enumerate(results) for j, v in enumerate(result.values())}
    return {"followed": about}, arrays | {"validation_score": estimator.validation_score_}


def unpack_evaluations(estimator: Any, about: Any, arrays: dict[str, AnyArray]) -> None:
    """Set the metrics on evaluation sets from the header entry ``about`` and the arrays; without an entry, set None."""
    estimator.evals_result_ = estimator.best_iteration_ = estimator.best_score_ = estimator.validation_score_ = None
    if about is None:
        return
    names, best, score = about["names"], about["best_iteration"], about["best_score"]
    curves = [f"evals.{i}.{j}" for i, some in enumerate(names) for j in range(len(some))]
    check_layout(arrays, dict.fromkeys([*curves, "validation_score"], ("<f8", 1)))
    lengths = {len(arrays[name]) for name in [*curves, "validation_score"]}
    texts = all(isinstance(name, str) for some in names for name in some)
    score_fits = score is None or (isinstance(score, int | float) and not isinstance(score, bool))
    fits = texts and score_fits and len(lengths) == 1 and type(best) is int and 0 <= best <= max(lengths)
    require(fits, "the evaluations do not fit together")
    estimator.evals_result_ = [
        {name: arrays[f"evals.{i}.{j}"] for j, name in enumerate(some)} for i, some in enumerate(names)
    ]
    estimator.best_iteration_, estimator.best_score_ = best, np.nan if score is None else float(score)
    estimator.validation_score_ = arrays["validation_score"]


# ---- branching programs ---------------------------------------------------------------------------------------------


def pack_program(estimator: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header entries and the arrays of a classifier with a branching program."""
    program = estimator.program_
    layer_ends = np.array(program.layer_ends, dtype=np.int64)
    arrays = {"layer_ends": layer_ends, **terms_to_arrays(program.terms, np.float64)}
    return pack_features(estimator), arrays | history_to_arrays(estimator.history_)


def unpack_program(estimator: Any, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Set the attributes of a classifier with a branching program from `pack_program`; raise unless they are valid."""
    require(len(estimator.classes_) == 2, f"branching program for {len(estimator.classes_)} classes")
    ends = read_array(arrays, "layer_ends", "<i8")
    terms = terms_from_arrays(arrays, len(ends), header["n_features_in"])
    check_ends(ends, len(terms))
    program = estimator.program_ = Program(terms, ends.tolist())
    fits = program.n_layers > 0  # layer l has trees of values P(right) − ½ at different nodes 0 .. l
    for layer, of_layer in enumerate(program.layers()):
        nodes = [term.coordinate for term in of_layer]
        fits = fits and len(set(nodes)) == len(nodes) and set(nodes) <= set(range(layer + 1))
    for term in terms:
        h = term.hypothesis
        fits = fits and isinstance(h, TreeHypothesis) and bool(np.abs(term.step * h.values).max() <= 0.5)
    require(fits, "invalid branching program")
    estimator.n_iter_ = estimator.program_.n_layers
    estimator.history_ = history_from_arrays(arrays, estimator.n_iter_)
    unpack_features(estimator, header)
    check_categories(estimator, [h.tree for term in terms if isinstance(h := term.hypothesis, TreeHypothesis)])


def history_to_arrays(history: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the arrays of the history without seconds per round, which would make files of equal models differ."""
    return {f"history.{name}": values for name, values in history.items() if name != "seconds"}


def history_from_arrays(arrays: dict[str, AnyArray], n_rounds: int) -> dict[str, AnyArray]:
    history = {name.removeprefix("history."): v for name, v in arrays.items() if name.startswith("history.")}
    fits = all(values.shape == (n_rounds,) for values in history.values())
    require(fits, "the history does not fit the rounds")
    return history
