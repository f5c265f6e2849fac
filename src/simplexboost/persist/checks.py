"""Checks the contents of a model file, so that predictions with a damaged one never read outside its arrays."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._util.arrays import AnyArray
from ..engine import NODE, SET_BYTES, Tree
from ..model.additive import AdditiveModel, Term
from ..model.code import is_view
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from ..model.program import Program

# The types and the number of axes of every array. Terms with sparse values have two more arrays.
CODEWORDS = {"Y": ("<f8 <f4", 2), "present": ("|u1", 1)}
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


class ModelFileError(ValueError):
    """The error that `simplexboost.load` raises for every bad file.

    The file is not a model, is damaged, was made to do harm, or was written by a newer version of the package; the
    message says which. It is a ``ValueError``.

    Examples
    --------
    >>> import io, simplexboost
    >>> try:
    ...     simplexboost.load(io.BytesIO(b"no model"))
    ... except simplexboost.ModelFileError as error:
    ...     print(error)
    the file is not a simplexboost model file, or it is damaged (File is not a zip file).
    """


def damaged(what: str) -> ModelFileError:
    """Return the error for a damaged model file; ``what`` says in a few words what is wrong."""
    return ModelFileError(f"The model file is damaged: {what}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


# ---- arrays ---------------------------------------------------------------------------------------------------------


def check_layout(arrays: dict[str, AnyArray], layout: dict[str, tuple[str, int]]) -> None:
    """Raise if an array is missing, or has another type or number of axes than the layout says."""
    for name, (dtypes, n_axes) in layout.items():
        if name not in arrays:
            raise damaged(f"array {name!r} is missing")
        if arrays[name].dtype not in map(np.dtype, dtypes.split()) or arrays[name].ndim != n_axes:
            raise damaged(f"array {name!r} has type {arrays[name].dtype} and shape {arrays[name].shape}")


def check_finite(arrays: dict[str, AnyArray], *names: str) -> None:
    """Raise if one of these arrays holds NaN or infinity."""
    for name in names:
        if not np.isfinite(arrays[name]).all():
            raise damaged(f"infinity or NaN in {name!r}")


def check_codewords(arrays: dict[str, AnyArray], n_classes: int) -> None:
    """Raise unless every class that is marked as present has a codeword."""
    check_layout(arrays, CODEWORDS)
    if not is_view(arrays["Y"]):
        check_finite(arrays, "Y")
    present = arrays["present"]
    fits = present.shape == (n_classes,) and (present <= 1).all() and present.any()
    if not fits or not arrays["Y"].shape[1]:
        raise damaged("the codewords do not fit the classes")
    owner = np.arange(len(arrays["Y"]))
    if "merged" in arrays:  # then a class may have several codewords, otherwise it has exactly one
        check_layout(arrays, {"merged": ("<i8", 1)})
        owner = arrays["merged"]
    if len(owner) != len(arrays["Y"]) or not np.array_equal(np.unique(owner), np.arange(present.sum())):
        raise damaged("the codewords do not fit the classes")


def check_term_arrays(arrays: dict[str, AnyArray], d: int) -> None:
    """Raise unless the arrays describe terms of d coordinates, and have sizes that fit together."""
    check_layout(arrays, TERMS | (SPARSE if "columns" in arrays or "row_sizes" in arrays else {}))
    check_finite(arrays, "values", "step", "linear_centre", "gain")
    kind, shapes = arrays["kind"], arrays["value_shape"]
    n_linear, n = int((kind == 1).sum()), len(kind)
    lengths = {"step": n, "coordinate": n, "value_shape": n, "linear_feature": n_linear, "linear_centre": n_linear}
    lengths |= {"n_nodes": n - n_linear, "n_sets": n - n_linear}
    fits = (kind <= 1).all() and all(len(arrays[name]) == length for name, length in lengths.items())
    fits = fits and shapes.shape[1] == 2 and (shapes >= 0).all() and (shapes <= 2**31).all()
    if not fits or len(arrays["nodes"]) % NODE.itemsize or (arrays["count"] < 0).any():
        raise damaged("the sizes of arrays do not fit together")
    if (arrays["coordinate"] < -1).any() or (arrays["coordinate"] >= d).any():
        raise damaged("terms of coordinates that the model does not have")
    if "columns" in arrays and (arrays["coordinate"] >= 0).any():
        raise damaged("sparse values of a single coordinate")


def check_ends(arrays: dict[str, AnyArray], name: str, n_terms: int) -> None:
    """Raise unless the ends of rounds or layers ascend, and the last one is the number of terms."""
    ends = arrays[name]
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != n_terms:
        raise damaged("the rounds do not fit the terms")


# ---- terms ----------------------------------------------------------------------------------------------------------


def check_terms(terms: list[Term], d: int, n_features: Any) -> None:
    """Raise unless all terms fit the d coordinates and the features, and agree on which features are categories."""
    for term in terms:
        h, width = term.hypothesis, d if term.coordinate is None else 1
        if isinstance(h, TreeHypothesis):
            fits = h.values.shape == (h.tree.n_leaves, width) and h.tree.nodes["feature"].max() < n_features
        elif isinstance(h, LinearHypothesis):
            fits = h.slope.shape == (width,) and 0 <= h.feature < n_features
        if not fits:
            raise damaged("a term does not fit the coordinates or features")
    trees = [term.hypothesis.tree for term in terms if isinstance(term.hypothesis, TreeHypothesis)]
    nodes = np.concatenate([np.empty(0, NODE), *(tree.nodes for tree in trees)])
    inner, by_category = nodes["feature"] >= 0, nodes["category"] >= 0
    if len(np.intersect1d(nodes["feature"][inner & by_category], nodes["feature"][inner & ~by_category])):
        raise damaged("a feature is split by thresholds and by categories")


def check_range(model: AdditiveModel, arrays: dict[str, AnyArray]) -> None:
    """Raise if scores could overflow: the largest values of all terms must have a finite sum in the model's type."""
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
        if not spread * float(steps @ largest) <= most or not steps.max() <= most:
            raise damaged("sums of values overflow")


def check_tree(tree: Tree) -> Tree:
    """Return the tree; raise unless every path from its root ends in a leaf, and every split is valid."""
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"].astype(np.int64)
    children = np.concatenate([left[inner], left[inner] + 1])
    forward = (left[inner] > np.flatnonzero(inner)).all() and same_numbers(children, np.arange(1, len(left)))
    if not len(left) or not forward or not same_numbers(left[~inner], np.arange(tree.n_leaves)):
        raise damaged("the nodes of a tree do not lead to its leaves")
    category, sets = tree.nodes["category"], tree.category_sets
    if (category < -1).any() or (category >= len(sets)).any() or sets.shape[1:] != (SET_BYTES,):
        raise damaged("a tree splits by categories without their sets")
    if np.isnan(tree.nodes["threshold"]).any():
        raise damaged("a threshold of a tree is NaN")
    if (tree.nodes["missing_left"] > 1).any():
        raise damaged("a tree sends missing values neither left nor right")
    return tree


def same_numbers(some: AnyArray, others: AnyArray) -> bool:
    return np.array_equal(np.sort(some), np.sort(others))


# ---- programs -------------------------------------------------------------------------------------------------------


def check_program(program: Program) -> None:
    """Raise unless the terms of layer l are trees of values P(right) − ½ at different nodes 0 .. l."""
    fits = program.n_layers > 0
    for layer, terms in enumerate(program.layers()):
        nodes = [term.coordinate for term in terms]
        fits = fits and len(set(nodes)) == len(nodes) and set(nodes) <= set(range(layer + 1))
    for term in program.terms:
        h = term.hypothesis
        fits = fits and isinstance(h, TreeHypothesis) and bool(np.abs(term.step * h.values).max() <= 0.5)
    if not fits:
        raise damaged("invalid branching program")
