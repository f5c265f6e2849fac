"""Predicts and explains with forests on the GPU.

For path-dependent Shapley values, trees are stored as arrays of paths from the root to a leaf: see
``kernels/explain/paths.hpp`` and ``source/shapley.cu``. A leaf contributes to the values of the features that are split
on its path. All splits of the path on the same feature are tested together; a pair of a leaf and such a feature is
named a link. The paths of all trees are built at once, level by level from the leaves up: 200 trees of 255 leaves take
0.1 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..binned import CodedRows
from ..cpu.forest import CpuForest, starts
from ..tree import Tree, node_bytes
from .device import BLOCK, WARPS, ctype, records
from .rows import power_of_two

FOREST = records(
    "X nodes first_node sets first_set values first_value coordinate F",
    [("n", "i8"), *((x, "i4") for x in ("p", "d", "n_trees", "pad"))],
)
SCORES = records("F P best", [("n", "i8"), ("K", "i4"), ("pad", "i4")])
CHUNK_OF_TREES = 256  # as in source/forest.cu
FEW_TREES = 8  # up to here the rows would take longer to be copied than the processor takes to predict them
PART = 2**27  # bytes of rows and of what is made of them, of one block


@dataclass(frozen=True, eq=False)
class CudaForest(CpuForest):
    """A packed forest in GPU memory; predictions by few trees, or for sparse tables or bin codes, use the CPU."""

    device: Any = field(kw_only=True)

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        if not self._is_ours(X):
            return super().predict(X, F, n_threads)
        device = self.device
        for rows, copies in self._blocks(X, F.itemsize * F.shape[1]):
            on_device = device.upload(F[rows])
            self._add_trees(device.upload(X[rows]), on_device)
            if not device.owns(F):
                copies.append(device.download_into(on_device, F[rows]))
            elif on_device.base is not F:
                F[rows] = on_device
        return None

    def finish(self, what: str, X: AnyArray, K: int, out: AnyArray) -> bool:
        """Write probabilities or predicted columns for X (n, p) to `out`; return False if the CPU must compute them.

        If `what` is "probabilities", `out` (n, K) gets the softmax of F, the sums of the trees' values. If `what` is
        "winners", `out` (n,) int32 gets the index of the largest entry in each row of F, the first of equal ones.
        """
        if not self._is_ours(X):
            return False
        device, dtype = self.device, self.forest.dtype
        for rows, copies in self._blocks(X, (np.dtype(dtype).itemsize + 8) * K):
            F = device.empty((len(X[rows]), K), dtype)
            device.clear(F)
            self._add_trees(device.upload(X[rows]), F)
            found = out[rows] if device.owns(out) else device.empty(out[rows].shape, out.dtype)
            fields = {"F": F, "P" if what == "probabilities" else "best": found, "n": len(F), "K": K}
            macros = {"VALUE": "float", "REAL": ctype(F.dtype)}
            device.launch("forest", what, macros, device.count_blocks(len(F), WARPS), SCORES, fields)
            if not device.owns(out):
                copies.append(device.download_into(found, out[rows]))
        return True

    def _is_ours(self, X: AnyArray) -> bool:
        """Return whether the GPU predicts for X; raise if X has another number of columns than the forest."""
        few = len(self.forest.trees) <= FEW_TREES and not self.device.owns(X)
        if few or isinstance(X, CodedRows) or issparse(X):
            return False
        if X.shape[1] != self.forest.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the forest was packed for {self.forest.n_features}.")
        return True

    def _blocks(self, X: AnyArray, each: int) -> Iterator[tuple[slice, deque[Callable[[], None]]]]:
        """Yield slices of the rows of X to predict together; a row needs `each` bytes besides those of X.

        With each slice comes a queue of functions that wait for copies to host memory. A function is called two slices
        later, so that the GPU computes the next slices while a result is copied.
        """
        step = max(1, PART // (X.itemsize * X.shape[1] + each))
        copies: deque[Callable[[], None]] = deque()
        for begin in range(0, len(X), step):
            yield slice(begin, begin + step), copies
            while len(copies) > 2:
                copies.popleft()()
        for wait in copies:
            wait()

    def _add_trees(self, X: Any, F: Any) -> None:
        arrays, mark = self.arrays
        self.device.after(mark)
        sizes = {"n": len(X), "p": X.shape[1], "d": F.shape[1], "n_trees": len(self.forest.trees)}
        macros, shared = {"VALUE": ctype(X.dtype), "REAL": ctype(F.dtype)}, 4 * WARPS * CHUNK_OF_TREES
        n_blocks, fields = self.device.count_blocks(len(X), WARPS), {"X": X, "F": F} | arrays | sizes
        self.device.launch("forest", "predict", macros, n_blocks, FOREST, fields, shared)

    @cached
    def arrays(self) -> tuple[dict[str, Any], Any]:
        """The forest in GPU memory, and an event (`CudaDevice.mark`) that other streams wait for before reading."""
        forest, dtype = self.forest, np.dtype(self.forest.dtype)
        tables = [
            np.asarray(v.toarray() if issparse(v) else v).astype(dtype) * dtype.type(step)
            for v, step in zip(forest.values, forest.step, strict=True)
        ]
        no_set = np.zeros((1, 32), dtype=np.uint8)  # an array on the device must not be empty
        arrays = {
            "nodes": np.concatenate([node_bytes(tree.nodes) for tree in forest.trees]),
            "first_node": starts([len(tree.nodes) for tree in forest.trees]),
            "sets": np.concatenate([*(tree.category_sets for tree in forest.trees), no_set]),
            "first_set": starts([len(tree.category_sets) for tree in forest.trees]),
            "values": np.concatenate([table.ravel() for table in tables]),
            "first_value": starts([table.size for table in tables]),
            "coordinate": np.ascontiguousarray(forest.coordinate, dtype=np.int32),
        }
        return {name: self.device.upload(array) for name, array in arrays.items()}, self.device.mark()


class FlatPaths(NamedTuple):
    """All root-to-leaf paths of some trees, flattened into arrays for the Shapley values on the GPU.

    The dict ``arrays`` has the names in ``source/shapley.cu``; the others are largest sizes, and the leaf count.
    """

    arrays: dict[str, AnyArray]
    most_links: int  # of a tree
    most_splits: int  # of a tree
    longest: int  # the links of the longest path
    points: int  # for which `rules` has room: a power of two, so that few kernels are compiled
    n_leaves: int  # of all trees


def flat_paths(trees: list[Tree], n_features: int, dtype: Any) -> FlatPaths:
    """Return all root-to-leaf paths of trees, at least one with a split; real-valued arrays have type `dtype`."""
    nodes, count = np.concatenate([tree.nodes for tree in trees]), np.concatenate([tree.count for tree in trees])
    tree_of = np.repeat(np.arange(len(trees)), [len(tree.nodes) for tree in trees])
    inner = np.flatnonzero(nodes["feature"] >= 0)
    child = nodes["left"] + starts([len(tree.nodes) for tree in trees])[tree_of]
    n_splits = np.bincount(tree_of[inner], minlength=len(trees))
    first_leaf = starts(n_splits + 1)
    parent = np.full(len(nodes), -1)
    parent[child[inner]] = parent[child[inner] + 1] = inner
    at = np.flatnonzero(nodes["feature"] < 0)
    leaf, passed = climb(parent, at, (first_leaf[tree_of] + nodes["left"])[at])

    # The steps of all paths, by leaf and feature, from the root down.
    feature = nodes["feature"][parent[passed]]
    order = np.argsort(leaf * n_features + feature, kind="stable")
    leaf, passed, feature = leaf[order], passed[order], feature[order]
    number = np.zeros(len(nodes), dtype=np.int64)
    number[inner] = np.arange(len(inner)) - starts(n_splits)[tree_of[inner]]
    steps = 2 * number[parent[passed]] + (passed != child[parent[passed]])
    first_step = beginnings(leaf * n_features + feature)
    leaf, feature = leaf[first_step], feature[first_step]  # of the links
    z = np.multiply.reduceat(shares(count, inner, child)[passed], first_step)

    n_leaves = int(first_leaf[-1])
    length = np.bincount(leaf, minlength=n_leaves)
    n_points = (length + 1) // 2
    points = 1 << (int(n_points.max()) - 1).bit_length()
    rules = gauss_rules(points)
    tree_of_leaf = np.repeat(np.arange(len(trees)), n_splits + 1)
    by_length = np.lexsort((length, tree_of_leaf))

    # The weights of a tree stand feature by feature.
    key = tree_of_leaf[leaf] * n_features + feature
    slots = np.argsort(key, kind="stable")
    place = np.empty(len(slots), dtype=np.int64)
    place[slots] = np.arange(len(slots))
    n_links = np.bincount(tree_of_leaf[leaf], minlength=len(trees))
    first_slot = starts(n_links)
    used_slot = beginnings(key[slots])
    arrays = {
        "nodes": np.concatenate([node_bytes(tree.nodes) for tree in trees]),
        "sets": np.concatenate([*(tree.category_sets for tree in trees), np.zeros((1, 32), dtype=np.uint8)]),
        "first_set": starts([len(tree.category_sets) for tree in trees]),
        "first_split": starts(n_splits).astype(np.int32),
        "split": inner.astype(np.int32),
        "first_leaf": first_leaf.astype(np.int32),
        "leaf_link": starts(length)[by_length].astype(np.int32),
        "leaf_length": length[by_length].astype(np.int32),
        "leaf_ratio": starts(length * n_points)[by_length],
        "z": z.astype(dtype),
        "slot": (place - first_slot[tree_of_leaf[leaf]]).astype(np.int32),
        "first_step": np.append(first_step, len(steps)).astype(np.int32),
        "steps": steps.astype(np.int32),
        "ratio": ratios(z, n_points[leaf], rules).astype(dtype),
        "first_used": starts(np.bincount(key[slots][used_slot] // n_features, minlength=len(trees))).astype(np.int32),
        "used": feature[slots][used_slot].astype(np.int32),
        "used_slot": np.append(used_slot, len(slots)).astype(np.int32),
        "slot_leaf": leaf[slots].astype(np.int32),
        "rules": rules.astype(dtype),
    }
    return FlatPaths(arrays, int(n_links.max()), int(n_splits.max()), int(length.max()), points, n_leaves)


def climb(parent: AnyArray, at: AnyArray, leaf: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return every edge on the paths from roots to leaves, as two arrays: the leaf index, and the node below the edge.

    The leaves are the nodes `at`, with the indices `leaf`. Edges nearer to the root come first.
    """
    leaves: list[AnyArray] = []
    passed: list[AnyArray] = []
    while True:
        below = parent[at] >= 0
        at, leaf = at[below], leaf[below]
        if not len(at):
            return np.concatenate(leaves[::-1]), np.concatenate(passed[::-1])
        leaves.append(leaf)
        passed.append(at)
        at = parent[at]


def shares(count: AnyArray, inner: AnyArray, child: AnyArray) -> AnyArray:
    """Return each node's share of the training rows of its parent; one half if the parent has none."""
    share, left = np.ones(len(count)), child[inner]
    total = (count[left] + count[left + 1]).astype(np.float64)
    for side in (0, 1):
        share[left + side] = np.where(total > 0, count[left + side] / np.maximum(total, 1e-300), 0.5)
    return share


def beginnings(key: AnyArray) -> AnyArray:
    """Return the indices at which runs of equal values in `key` begin."""
    return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))


def gauss_rules(most: int) -> AnyArray:
    """Return the Gauss–Legendre quadrature rules with 1 to `most` points on [0, 1], (most + 1, 4, most).

    Entry Q is the rule with Q points t; its four rows hold t, 1 − t, the weight of t, and 1 / (1 − t).
    """
    rules = np.zeros((most + 1, 4, most))
    for Q in range(1, most + 1):
        x, weight = np.polynomial.legendre.leggauss(Q)
        t = 0.5 * (1.0 + x)
        rules[Q, :, :Q] = t, 1.0 - t, 0.5 * weight, 1.0 / (1.0 - t)
    return rules


def ratios(z: AnyArray, n_points: AnyArray, rules: AnyArray) -> AnyArray:
    """Return (1 − z) / (t + (1 − t) z) at all quadrature points t of each link; z (links,) are shares of rows."""
    link = np.repeat(np.arange(len(z)), n_points)
    point = np.arange(len(link)) - starts(n_points)[link]
    t, rest = rules[n_points[link], 0, point], rules[n_points[link], 1, point]
    return (1.0 - z[link]) / (t + rest * z[link])


PATHS = records(
    "X nodes sets first_set first_split split first_leaf leaf_link leaf_length leaf_ratio z slot first_step steps "
    "ratio first_used used used_slot slot_leaf rules values weights answers out",
    [("n", "i8"), *((x, "i4") for x in ("p", "D", "n_trees", "most_links", "most_splits", "pad"))],
)
SUMS = records("phi total", [("n", "i8"), ("p", "i4"), ("D", "i4")])
ROWS = 32  # of a block, as in source/shapley.cu
LONGEST = 64  # links of a path: a thread keeps the answers to their questions as bits of one word
FEW_ROWS = 1000  # fewer are left to the processor: 16 cores explain 1000 rows in the time in which the device does
EXPLAINING_BLOCKS = 3  # as many as are there at the same time: see source/shapley.cu
EXPLAINED_PART = 2**30  # bytes of the values that are computed before they are copied


class DevicePaths:
    """The root-to-leaf paths of a forest in GPU memory, with the leaf values of the last explanation."""

    def __init__(self, device: Any, flat: FlatPaths, dtype: Any) -> None:
        self.device, self.flat, self.dtype = device, flat, np.dtype(dtype)
        self.arrays = {name: device.upload(array) for name, array in flat.arrays.items()}
        self._mark = device.mark()  # of these copies: other streams may use them, too
        self._kept: tuple[Any, Any, Any] | None = None  # the leaves, their values, and the mark of that copy

    @staticmethod
    def of(device: Any, paths: Any) -> DevicePaths | None:
        """Return `paths` in GPU memory, cached; None if no tree has a split or a path splits more than 64 features."""
        if paths not in device.kept:
            flat = None
            if any(tree.n_leaves > 1 for tree in paths.trees):
                flat = flat_paths(paths.trees, paths.n_features, paths.dtype)
            device.kept[paths] = DevicePaths(device, flat, paths.dtype) if flat and flat.longest <= LONGEST else None
        return device.kept[paths]

    def values(self, leaves: Any, D: int) -> Any:
        """Return the values of all leaves for D outputs, (leaves, D), in GPU memory; `leaves` is a `LeafTable`."""
        kept = self._kept
        if kept is None or kept[0] is not leaves:  # another thread may explain others meanwhile
            table = leaves.values
            if leaves.columns is not None:
                table = csr_array((table, leaves.columns, leaves.start), shape=(self.flat.n_leaves, D)).toarray()
            kept = self._kept = (leaves, self.device.upload(table, self.dtype), self.device.mark())
        self.device.after(self._mark)
        self.device.after(kept[2])
        return kept[1]

    def explain(self, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        """Write Shapley values for D outputs to `out` (n, p, D), corrected for rounding to sum to `total` if given."""
        device, flat, (n, p, D), real = self.device, self.flat, out.shape, ctype(self.dtype)
        values, n_blocks = self.values(leaves, D), min(-(-n // ROWS), EXPLAINING_BLOCKS * device.n_processors)
        fields = self.arrays | {
            "values": values,
            "weights": device.empty((n_blocks, flat.most_links, ROWS), self.dtype),
            "answers": device.empty((n_blocks, flat.most_splits), np.uint32),
        }
        sizes = {"p": p, "D": D, "n_trees": len(flat.arrays["first_set"]) - 1}
        sizes |= {"most_links": flat.most_links, "most_splits": flat.most_splits}
        columns = {"COLUMNS": power_of_two(D, ROWS), "PER": 2 if D > ROWS else 1, "POINTS": flat.points}
        step = max(ROWS, min(EXPLAINED_PART, device.room() // 4) // (8 * p * D) // ROWS * ROWS)
        copies: list[Callable[[], None]] = []
        for begin in range(0, n, step):
            rows = slice(begin, begin + step)
            part = device.upload(X[rows], None if X.dtype == np.float32 else np.float64)
            n_rows, macros = len(part), {"VALUE": ctype(part.dtype), "REAL": real} | columns
            phi = device.empty((n_rows, p, D), np.float64)
            device.clear(phi)
            some = fields | sizes | {"X": part, "out": phi, "n": n_rows}
            device.launch("shapley", "explain", macros, min(-(-n_rows // ROWS), n_blocks), PATHS, some)
            if total is not None:
                macros = {"VALUE": "float", "REAL": real, "COLUMNS": 32, "PER": 1, "POINTS": 1}
                sums = {"phi": phi, "total": device.upload(total[rows]), "n": n_rows, "p": p, "D": D}
                device.launch("shapley", "share_rounding", macros, device.count_blocks(n_rows * D, BLOCK), SUMS, sums)
            for wait in copies:  # for the rows before
                wait()
            copies = [device.download_into(phi, out[rows])]
        for wait in copies:
            wait()


def explain(device: Any, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> bool:
    """Write Shapley values to `out` and return True, or return False if the CPU must compute them.

    See `interface.Compute.explain`. The GPU is used only if leaf values, path weights and the Shapley values of 32
    rows take at most half of its free memory.
    """
    found = DevicePaths.of(device, paths) if len(X) >= FEW_ROWS and out.size else None
    if found is None:
        return False
    n, p, D = out.shape
    weights = min(-(-n // ROWS), EXPLAINING_BLOCKS * device.n_processors) * ROWS * found.flat.most_links
    if found.dtype.itemsize * (found.flat.n_leaves * D + weights) + 8 * p * D * ROWS > device.room() // 2:
        return False
    found.explain(X, leaves, total, out)
    return True
