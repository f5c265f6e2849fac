"""Predicts and explains with forests on the GPU.

For path-dependent Shapley values, trees are flat arrays of paths: see ``kernels/explain/paths.hpp`` and
``source/shapley.cu``. A leaf takes part in the values of the features that are split on its path. All steps of the path
that split the same feature ask one question together; a pair of a leaf and such a feature is called a link. All trees
are taken apart at once, level by level from the leaves up: 200 trees of 255 leaves take 0.1 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array, issparse

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..binned import CodedRows
from ..cpu.forest import CpuForest, starts
from ..tree import Tree, node_bytes
from .device import BLOCK, BLOCKS_PER_PROCESSOR, WARPS, records
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
    """A packed forest; see `interface.PackedForest`. Few trees, sparse tables and codes are left to the processor."""

    device: Any = field(kw_only=True)

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        if not self._is_ours(X):
            return super().predict(X, F, n_threads)
        for rows, wait in self._blocks(X, F.itemsize * F.shape[1]):
            there = self._there(F[rows])
            self._launch(self._there(X[rows]), there)
            if not self.device.owns(F):
                wait(self.device.download_into(there, F[rows]))
            elif there.base is not F:
                F[rows] = there
        return None

    def finish(self, what: str, X: AnyArray, K: int, out: AnyArray) -> bool:
        if not self._is_ours(X):
            return False
        device, dtype = self.device, self.forest.dtype
        for rows, wait in self._blocks(X, (np.dtype(dtype).itemsize + 8) * K):
            F = device.empty((len(X[rows]), K), dtype)
            device.clear(F)
            self._launch(self._there(X[rows]), F)
            found = out[rows] if device.owns(out) else device.empty(out[rows].shape, out.dtype)
            fields = {"F": F, "P" if what == "probabilities" else "best": found, "n": len(F), "K": K}
            macros = {"VALUE": "float", "REAL": ctype(F.dtype)}
            device.launch("forest", what, macros, self._n_blocks(len(F)), SCORES, fields)
            if not device.owns(out):
                wait(device.download_into(found, out[rows]))
        return True

    def _is_ours(self, X: AnyArray) -> bool:
        """Whether these rows are predicted on the device."""
        few = len(self.forest.trees) <= FEW_TREES and not self.device.owns(X)
        if few or isinstance(X, CodedRows) or issparse(X):
            return False
        if X.shape[1] != self.forest.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; the forest was packed for {self.forest.n_features}.")
        return True

    def _blocks(self, X: AnyArray, each: int) -> Iterator[tuple[slice, Callable[[Callable[[], None]], None]]]:
        """Rows that are predicted together, of `each` bytes beside those of X; and where to leave a copy's `wait`.

        While a block is copied to the host, the next ones come to the device, so copies are waited for two blocks
        later.
        """
        step = max(1, PART // (X.itemsize * X.shape[1] + each))
        copies: deque[Callable[[], None]] = deque()
        for begin in range(0, len(X), step):
            yield slice(begin, begin + step), copies.append
            while len(copies) > 2:
                copies.popleft()()
        for wait in copies:
            wait()

    def _there(self, array: Any) -> Any:
        if self.device.owns(array):
            return array if array.flags.c_contiguous else array.copy()
        return self.device.upload_large(np.ascontiguousarray(array))

    def _launch(self, X: Any, F: Any) -> None:
        arrays, mark = self.arrays
        self.device.after(mark)
        sizes = {"n": len(X), "p": X.shape[1], "d": F.shape[1], "n_trees": len(self.forest.trees)}
        macros, shared = {"VALUE": ctype(X.dtype), "REAL": ctype(F.dtype)}, 4 * WARPS * CHUNK_OF_TREES
        fields = {"X": X, "F": F} | arrays | sizes
        self.device.launch("forest", "predict", macros, self._n_blocks(len(X)), FOREST, fields, shared)

    def _n_blocks(self, n: int) -> int:
        """The blocks of a launch in which every warp has rows."""
        return max(1, min(-(-n // WARPS), BLOCKS_PER_PROCESSOR * self.device.n_processors))

    @cached
    def arrays(self) -> tuple[dict[str, Any], Any]:
        """The forest on the device, and the mark of its copies: other streams may use it, too."""
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


def ctype(dtype: Any) -> str:
    """The name of a type in C."""
    return "float" if dtype == np.float32 else "double"


class FlatPaths(NamedTuple):
    """The arrays of ``source/shapley.cu`` by their names there, and what the largest tree and path need."""

    arrays: dict[str, AnyArray]
    most_links: int  # of a tree
    most_splits: int  # of a tree
    longest: int  # the links of the longest path
    points: int  # for which `rules` has room: a power of two, so that few kernels are compiled
    n_leaves: int  # of all trees


def flat_paths(trees: list[Tree], n_features: int, dtype: Any) -> FlatPaths:
    """The paths of trees with splits, their numbers in this precision."""
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
    """For every step from a root to one of the nodes `at` the number of its leaf and the node that it leads to.

    What is nearer to the root comes first.
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
    """The part of its parent's rows that every node has; a node without rows shares them evenly."""
    share, left = np.ones(len(count)), child[inner]
    total = (count[left] + count[left + 1]).astype(np.float64)
    for side in (0, 1):
        share[left + side] = np.where(total > 0, count[left + side] / np.maximum(total, 1e-300), 0.5)
    return share


def beginnings(key: AnyArray) -> AnyArray:
    """Where runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))


def gauss_rules(most: int) -> AnyArray:
    """Gauss–Legendre rules on [0, 1], (most + 1, 4, most) by the number of points: t, 1 − t, weight, 1 / (1 − t)."""
    rules = np.zeros((most + 1, 4, most))
    for Q in range(1, most + 1):
        x, weight = np.polynomial.legendre.leggauss(Q)
        t = 0.5 * (1.0 + x)
        rules[Q, :, :Q] = t, 1.0 - t, 0.5 * weight, 1.0 / (1.0 - t)
    return rules


def ratios(z: AnyArray, n_points: AnyArray, rules: AnyArray) -> AnyArray:
    """(1 − z) / (t + (1 − t) z) of every link at the points t of its rule, one after another."""
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
    """The paths of a forest on the device, and the leaf values that were explained last."""

    def __init__(self, device: Any, flat: FlatPaths, dtype: Any) -> None:
        self.device, self.flat, self.dtype = device, flat, np.dtype(dtype)
        self.arrays = {name: device.upload(array) for name, array in flat.arrays.items()}
        self._mark = device.mark()  # of these copies: other streams may use them, too
        self._kept: tuple[Any, Any, Any] | None = None  # the leaves, their values, and the mark of that copy

    def values(self, leaves: Any, D: int) -> Any:
        """The values of all leaves, (leaves, D), on the device; see `explain.explained_classes.LeafTable`."""
        kept = self._kept
        if kept is None or kept[0] is not leaves:  # another thread may explain others meanwhile
            table = leaves.values
            if leaves.columns is not None:
                table = csr_array((table, leaves.columns, leaves.start), shape=(self.flat.n_leaves, D)).toarray()
            values = self.device.upload(np.ascontiguousarray(table, dtype=self.dtype))
            kept = self._kept = (leaves, values, self.device.mark())
        self.device.after(self._mark)
        self.device.after(kept[2])
        return kept[1]

    def explain(self, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        """Write the values to out (n, p, D); if totals (n, D) are given, make the values add up to them."""
        device, (n, p, D) = self.device, out.shape
        values, n_blocks = self.values(leaves, D), min(-(-n // ROWS), EXPLAINING_BLOCKS * device.n_processors)
        weights = device.empty((n_blocks, self.flat.most_links, ROWS), self.dtype)
        answers = device.empty((n_blocks, self.flat.most_splits), np.uint32)
        step = max(ROWS, min(EXPLAINED_PART, device.room() // 4) // (8 * p * D) // ROWS * ROWS)
        wait, single = None, X.dtype == np.float32
        for begin in range(0, n, step):
            rows = slice(begin, begin + step)
            there = device.upload_large(np.ascontiguousarray(X[rows], dtype=None if single else np.float64))
            phi = device.empty((len(X[rows]), p, D), np.float64)
            device.clear(phi)
            fields = self.arrays | {"X": there, "values": values, "weights": weights, "answers": answers, "out": phi}
            self._launch_paths(fields, phi.shape, n_blocks)
            if total is not None:
                self._launch_sums(phi, device.upload(np.ascontiguousarray(total[rows])))
            if wait is not None:
                wait()
            wait = device.download_into(phi, out[rows])
        if wait is not None:
            wait()

    def _launch_paths(self, fields: dict[str, Any], shape: tuple[int, int, int], n_blocks: int) -> None:
        n, p, D = shape
        macros = {
            "VALUE": ctype(fields["X"].dtype),
            "REAL": ctype(self.dtype),
            "COLUMNS": power_of_two(D, ROWS),
            "PER": 2 if D > ROWS else 1,
            "POINTS": self.flat.points,
        }
        flat = self.flat
        sizes = {"n": n, "p": p, "D": D, "n_trees": len(flat.arrays["first_set"]) - 1}
        sizes |= {"most_links": flat.most_links, "most_splits": flat.most_splits}
        self.device.launch("shapley", "explain", macros, min(-(-n // ROWS), n_blocks), PATHS, fields | sizes)

    def _launch_sums(self, phi: Any, total: Any) -> None:
        n, p, D = phi.shape
        macros = {"VALUE": "float", "REAL": ctype(self.dtype), "COLUMNS": 32, "PER": 1, "POINTS": 1}
        n_blocks = min(-(-n * D // BLOCK), 8 * self.device.n_processors)
        fields = {"phi": phi, "total": total, "n": n, "p": p, "D": D}
        self.device.launch("shapley", "share_rounding", macros, n_blocks, SUMS, fields)


_PATHS: WeakKeyDictionary[Any, WeakKeyDictionary[Any, DevicePaths | None]] = WeakKeyDictionary()  # by device


def device_paths(device: Any, paths: Any) -> DevicePaths | None:
    """The paths of a forest on the device, kept as long as `paths`; None if the processor must explain it."""
    known = _PATHS.setdefault(device, WeakKeyDictionary())
    if paths not in known:
        splits = any(tree.n_leaves > 1 for tree in paths.trees)
        flat = flat_paths(paths.trees, paths.n_features, paths.dtype) if splits else None
        known[paths] = DevicePaths(device, flat, paths.dtype) if flat and flat.longest <= LONGEST else None
    return known[paths]


def explain(device: Any, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> bool:
    """Write Shapley values to out, unless this is left to the processor; see `interface.Compute.explain`.

    Leaf values, the weights of all blocks and the values of some rows must take at most half of what is free.
    """
    there = device_paths(device, paths) if len(X) >= FEW_ROWS and out.size else None
    if there is None:
        return False
    n, p, D = out.shape
    weights = min(-(-n // ROWS), EXPLAINING_BLOCKS * device.n_processors) * ROWS * there.flat.most_links
    if there.dtype.itemsize * (there.flat.n_leaves * D + weights) + 8 * p * D * ROWS > device.room() // 2:
        return False
    there.explain(X, leaves, total, out)
    return True
