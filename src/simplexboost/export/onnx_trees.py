"""Trees in the form of ONNX's TreeEnsembleRegressor: one entry per node, and one per value of a leaf that is not zero.

A node of categories asks for a set, which this operator does not know. It becomes a chain: "is it the first category?
the second? …", all answers "yes" leading to the same child, as converters from LightGBM write it. onnxruntime turns a
chain into one look-up if the numbers are from 1 to 64 (1 to 32 in single precision), so categories are numbered from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from .shipped import Columns, ShippedTree, n_numbers, numbers_in

LESS_OR_EQUAL, EQUAL, LEAF = "BRANCH_LEQ", "BRANCH_EQ", "LEAF"


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of one tree; `yes` and `no` are where they lead, `missing` whether missing values take `yes`."""

    feature: AnyArray
    value: AnyArray
    mode: list[str]
    yes: AnyArray
    no: AnyArray
    missing: AnyArray


def nodes_of(tree: ShippedTree, columns: Columns) -> Nodes:
    """The nodes of a tree, those of chains after all others."""
    nodes = tree.tree.nodes
    is_leaf = nodes["feature"] < 0
    left = nodes["left"].astype(np.int64)
    plain = Nodes(
        np.where(is_leaf, 0, nodes["feature"]).astype(np.int64),
        np.where(is_leaf, 0.0, nodes["threshold"]),
        [LEAF if leaf else LESS_OR_EQUAL for leaf in is_leaf.tolist()],
        np.where(is_leaf, 0, left),
        np.where(is_leaf, 0, left + 1),
        np.where(is_leaf, 0, nodes["missing_left"]).astype(np.int64),
    )
    asking = np.flatnonzero(nodes["category"] >= 0)
    return with_chains(plain, tree, columns, asking.tolist()) if len(asking) else plain


def with_chains(nodes: Nodes, tree: ShippedTree, columns: Columns, asking: list[int]) -> Nodes:
    """The nodes, where each of those that ask for a set of categories begins a chain of questions."""
    feature, value, mode = nodes.feature.tolist(), nodes.value.tolist(), list(nodes.mode)
    yes, no, missing = nodes.yes.tolist(), nodes.no.tolist(), nodes.missing.tolist()
    for node in asking:
        left, right = sides(tree, node, columns)
        if not left or not right:  # all categories go to one side: the question is whether the value is missing
            value[node] = np.inf if left else -np.inf
            continue
        by_left = len(left) <= len(right)
        met, otherwise = (yes[node], no[node]) if by_left else (no[node], yes[node])
        more = range(len(mode), len(mode) + min(len(left), len(right)) - 1)
        missing[node] = int(bool(missing[node]) == by_left)
        mode[node], yes[node], value[node] = EQUAL, met, 1.0 + (left if by_left else right)[0]
        no[node] = more[0] if more else otherwise
        feature += [feature[node]] * len(more)
        value += [1.0 + number for number in (left if by_left else right)[1:]]
        mode += [EQUAL] * len(more)
        yes += [met] * len(more)
        no += [*more[1:], *([otherwise] if more else [])]
        missing += [missing[node]] * len(more)
    return Nodes(np.array(feature), np.array(value), mode, np.array(yes), np.array(no), np.array(missing))


def sides(tree: ShippedTree, node: int, columns: Columns) -> tuple[list[int], list[int]]:
    """The category numbers that a node sends left and right."""
    total = n_numbers(columns.categories[int(tree.tree.nodes["feature"][node])] or [])
    left = numbers_in(tree.tree.category_sets[tree.tree.nodes["category"][node]], total)
    return left, sorted(set(range(total)) - set(left))


def attributes(
    trees: list[ShippedTree], columns: Columns, place: AnyArray, n_targets: int, dtype: Any
) -> dict[str, Any]:
    """The attributes of a TreeEnsembleRegressor; ``place`` (p,) is where each column is in its input."""
    parts = [nodes_of(tree, columns) for tree in trees]
    sizes = [len(part.mode) for part in parts]
    value = np.concatenate([part.value for part in parts])
    return {
        "n_targets": n_targets,
        "nodes_treeids": np.repeat(np.arange(len(trees)), sizes),
        "nodes_nodeids": np.concatenate([np.arange(size) for size in sizes]),
        "nodes_featureids": place[np.concatenate([part.feature for part in parts])],
        "nodes_modes": [mode for part in parts for mode in part.mode],
        "nodes_truenodeids": np.concatenate([part.yes for part in parts]),
        "nodes_falsenodeids": np.concatenate([part.no for part in parts]),
        "nodes_missing_value_tracks_true": np.concatenate([part.missing for part in parts]),
        **numbers("nodes_values", rounded_down(value) if dtype == np.float32 else value),
        **leaf_entries(trees, dtype),
    }


def leaf_entries(trees: list[ShippedTree], dtype: Any) -> dict[str, Any]:
    """The values of all leaves that are not zero; a leaf without any has a zero, since every leaf needs an entry."""
    of_tree, of_node, target, weight = [], [], [], []
    for number, tree in enumerate(trees):
        nodes, values = tree.tree.nodes, tree.values
        node_of_leaf = np.empty(tree.tree.n_leaves, dtype=np.int64)
        node_of_leaf[nodes["left"][nodes["feature"] < 0]] = np.flatnonzero(nodes["feature"] < 0)
        counts = np.diff(values.indptr)
        empty = node_of_leaf[counts == 0]
        of_tree.append(np.full(len(values.data) + len(empty), number))
        of_node += [np.repeat(node_of_leaf, counts), empty]
        target += [values.indices, np.zeros(len(empty), dtype=np.int64)]
        weight += [values.data, np.zeros(len(empty))]
    return {
        "target_treeids": np.concatenate(of_tree),
        "target_nodeids": np.concatenate(of_node),
        "target_ids": np.concatenate(target).astype(np.int64),
        **numbers("target_weights", np.concatenate(weight).astype(dtype)),
    }


def numbers(name: str, values: AnyArray) -> dict[str, Any]:
    """Numbers as an attribute; those in double precision are a tensor."""
    return {name: values} if values.dtype == np.float32 else {f"{name}_as_tensor": values}


def rounded_down(thresholds: AnyArray) -> AnyArray:
    """The largest single-precision numbers that are not above the thresholds: x <= t is then the same for such x."""
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
    return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
