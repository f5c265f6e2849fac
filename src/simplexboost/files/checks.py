"""Refusing damaged models: whatever a file holds, prediction stays inside its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..boosting.hypotheses import LinearHypothesis, TreeHypothesis
from ..boosting.model import AdditiveModel
from ..engine import NODE, SET_BYTES, Tree

LAYOUT = {
    "Y": ("<f8 <f4", 2),
    "round_ends": ("<i8", 1),
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
    "present": ("|u1", 1),
}
SPARSE_LAYOUT = {"columns": ("<u2 <u4", 1), "row_sizes": ("<u4", 1)}


def damaged(what: str) -> ValueError:
    """The error for a file that holds something impossible, although its checksums are right."""
    return ValueError(f"the file holds {what}; it is damaged.")


def check_arrays(arrays: dict[str, AnyArray], n_classes: int) -> None:
    """Raise where the arrays of a model are not what `model_to_arrays` writes, or do not fit each other."""
    check_layout(arrays, LAYOUT | (SPARSE_LAYOUT if "columns" in arrays or "row_sizes" in arrays else {}))
    for name in ("Y", "values", "step", "linear_centre"):
        if not np.isfinite(arrays[name]).all():
            raise damaged(f"infinities or NaN in {name!r}")
    (K, d), present = arrays["Y"].shape, arrays["present"]
    if present.shape != (n_classes,) or (present > 1).any() or present.sum() != K:
        raise damaged("codewords that do not fit its classes")
    kind, ends = arrays["kind"], arrays["round_ends"]
    n_linear, n = int((kind == 1).sum()), len(kind)
    lengths = {"step": n, "coordinate": n, "value_shape": n, "linear_feature": n_linear, "linear_centre": n_linear}
    lengths |= {"n_nodes": n - n_linear, "n_sets": n - n_linear}
    if (kind > 1).any() or any(len(arrays[name]) != length for name, length in lengths.items()):
        raise damaged("arrays whose sizes do not fit together")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != n:
        raise damaged("rounds that do not fit its terms")
    if (arrays["coordinate"] < -1).any() or (arrays["coordinate"] >= d).any():
        raise damaged("coordinates that its codewords do not have")
    if "columns" in arrays and (arrays["coordinate"] >= 0).any():
        raise damaged("sparse values that belong to one coordinate only")


def check_layout(arrays: dict[str, AnyArray], layout: dict[str, tuple[str, int]]) -> None:
    """Raise where an array is missing, or has another type or number of axes than the layout says."""
    for name, (dtypes, n_axes) in layout.items():
        if name not in arrays:
            raise damaged(f"a model without the array {name!r}")
        if arrays[name].dtype not in map(np.dtype, dtypes.split()) or arrays[name].ndim != n_axes:
            raise damaged(f"an array {name!r} of type {arrays[name].dtype} and shape {arrays[name].shape}")
    shapes = arrays["value_shape"]
    if shapes.shape[1] != 2 or (shapes < 0).any() or (shapes > 2**31).any() or len(arrays["nodes"]) % NODE.itemsize:
        raise damaged("arrays whose sizes do not fit together")


def check_terms(model: AdditiveModel, n_features: Any) -> None:
    """Raise where a term does not fit the codewords or the features."""
    if type(n_features) is not int or n_features < 1:
        raise damaged(f"a number of features that is none, {n_features!r}")
    d = model.Y.shape[1]
    for term in model.terms:
        h, width = term.hypothesis, d if term.coordinate is None else 1
        if isinstance(h, TreeHypothesis):
            fits = h.values.shape == (h.tree.n_leaves, width) and h.tree.nodes["feature"].max() < n_features
        elif isinstance(h, LinearHypothesis):
            fits = h.slope.shape == (width,) and 0 <= h.feature < n_features
        if not fits:
            raise damaged("a term that does not fit its codewords or features")
    check_kinds_of_splits(model)


def check_kinds_of_splits(model: AdditiveModel) -> None:
    """Raise where the trees split a feature by thresholds and by categories."""
    nodes = np.concatenate([np.empty(0, NODE), *(tree.nodes for tree in model.trees)])
    inner, by_category = nodes["feature"] >= 0, nodes["category"] >= 0
    if len(np.intersect1d(nodes["feature"][inner & by_category], nodes["feature"][inner & ~by_category])):
        raise damaged("a feature that is split by thresholds and by categories")


def checked(tree: Tree) -> Tree:
    """The tree, if every path leads forward to a leaf that has a value, and every split has its threshold or set."""
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"].astype(np.int64)
    children = np.concatenate([left[inner], left[inner] + 1])
    forward = (left[inner] > np.flatnonzero(inner)).all() and same_numbers(children, np.arange(1, len(left)))
    if not len(left) or not forward or not same_numbers(left[~inner], np.arange(tree.n_leaves)):
        raise damaged("a tree whose nodes do not lead to its leaves")
    category, sets = tree.nodes["category"], tree.category_sets
    if (category < -1).any() or (category >= len(sets)).any() or sets.shape[1:] != (SET_BYTES,):
        raise damaged("a tree with splits of categories but without their sets")
    if np.isnan(tree.nodes["threshold"]).any():
        raise damaged("a tree with thresholds that are NaN")
    return tree


def same_numbers(some: AnyArray, others: AnyArray) -> bool:
    """Whether both hold the same numbers, in any order."""
    return np.array_equal(np.sort(some), np.sort(others))
