"""Terms as concatenated arrays, and back; sums and branching programs both consist of terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import AnyArray
from ..boosting.hypotheses import Hypothesis, LinearHypothesis, TreeHypothesis
from ..boosting.model import Term
from ..engine import NODE, Tree, no_sets, node_bytes
from .checks import check_term_arrays, check_terms, checked, damaged


def terms_to_arrays(terms: list[Term], dtype: Any) -> dict[str, AnyArray]:
    """The terms as arrays: the kind of each (0 tree, 1 linear), its sizes, and everything else concatenated.

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
    """The reverse of `terms_to_arrays`, with checks: terms of a model with d coordinates and n_features features."""
    check_term_arrays(arrays, d)
    n_nodes = arrays["n_nodes"]
    nodes = cut(arrays["nodes"].view(NODE), n_nodes)
    gain, count = cut(arrays["gain"], n_nodes), cut(arrays["count"], n_nodes)
    sets = cut(arrays["category_sets"], arrays["n_sets"])
    trees = [checked(Tree(*parts)) for parts in zip(nodes, gain, count, sets, strict=True)]
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
    """The values of all terms; if they are sparse, also their columns and the number of values in each row."""
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
    """The reverse of `values_to_arrays`."""
    shapes, flat = arrays["value_shape"], arrays["values"]
    if "columns" not in arrays:
        return [v.reshape(shape) for v, shape in zip(cut(flat, shapes.prod(axis=1)), shapes, strict=True)]
    sizes = cut(arrays["row_sizes"].astype(np.int64), shapes[:, 0])
    totals = np.array([size.sum() for size in sizes], dtype=np.int64)
    columns = cut(arrays["columns"].astype(np.int32), totals)
    counted: Any = np.int32 if totals.max(initial=0) < 2**31 else np.int64  # as the learners count
    starts = [np.concatenate([[0], np.cumsum(size)]).astype(counted) for size in sizes]
    parts = zip(cut(flat, totals), columns, starts, shapes, strict=True)
    return [checked_rows(csr_array((v, at, start), shape=tuple(shape))) for v, at, start, shape in parts]


def checked_rows(values: csr_array) -> csr_array:
    """The sparse values; raise unless all of them lie inside their shape."""
    try:
        values.check_format(full_check=True)
    except ValueError as error:
        raise damaged("sparse values outside their shape") from error
    return values


def cut(values: AnyArray, sizes: AnyArray) -> list[AnyArray]:
    """The array cut into consecutive parts of these sizes; no sizes give no parts, where `np.split` would give one."""
    if (sizes < 0).any() or (sizes > len(values)).any() or sizes.sum() != len(values):
        raise damaged("arrays whose sizes do not fit together")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def values_of(h: Hypothesis) -> Any:
    """The numbers of a hypothesis: leaf values (L, d), or slope and intercept (2, d)."""
    if isinstance(h, TreeHypothesis):
        return h.values
    if isinstance(h, LinearHypothesis):
        return np.stack([h.slope, h.intercept])
    raise TypeError(
        f"a model with {type(h).__name__} terms cannot be saved: files hold trees and, in sums, lines; anything else, "
        "like a scikit-learn estimator, would need pickle. Use one of the package's own learners."
    )


def without_gaps(nodes: AnyArray) -> AnyArray:
    """The bytes of nodes with zeros between their fields, where copies of a tree may have anything."""
    out = np.zeros(len(nodes) // NODE.itemsize, dtype=NODE)
    for name in NODE.names or ():
        out[name] = nodes.view(NODE)[name]
    return node_bytes(out).ravel()


def joined(parts: list[AnyArray], dtype: Any) -> AnyArray:
    """The arrays concatenated; an empty array if there are none."""
    return np.concatenate([np.empty(0, dtype=dtype), *parts])
