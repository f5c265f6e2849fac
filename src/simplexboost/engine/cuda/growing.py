"""Grows trees on the GPU: allocates memory, launches the kernels of ``source/tree.cu`` and reads their results.

The structures that Python passes to kernels have their fields in the order of ``source/tree.cu``. This module knows
arrays only; `trees` translates between them and the engine's types.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..._util.compat import cached
from ..interface import ORDERS

BLOCK = 256  # threads of a block
MOST_WORKS = 512  # nodes that are expanded together
CELL_BYTES, WORK_BYTES, FEATURE_BEST, STATE_BYTES, NODE_BYTES = 112, 28, 16, 32, 24
RESULT = np.dtype([(name, np.int32) for name in ("n_nodes", "n_leaves", "n_sets", "error")])

POINTERS = [
    "codes",
    "n_bins",
    "has_missing",
    "categorical",
    "features",
    "tiles",
    "tile_mask",
    "values",
    "classes",
    "rows",
    "leaf_values",
    "groups",
    "state",
    "maxima",
    "magnitudes",
    "scale",
    "inverse",
    "unit",
    "quantized",
    "list0",
    "list1",
    "cells",
    "used",
    "totals",
    "works",
    "cursors",
    "done",
    "cut",
    "built",
    "first_cut",
    "first_built",
    "bests",
    "sets",
    "histograms",
    "scratch",
    "planning",
    "queue",
    "first_task",
    "result",
    "nodes",
    "gains",
    "counts",
    "out_sets",
    "leaf_begin",
    "limbs",
    "order",
    "leaf_of_row",
]
PROBLEM = np.dtype(
    [(name, np.uint64) for name in POINTERS]
    + [("n", np.int64), ("slot_size", np.int64), ("seed", np.uint64)]
    + [(name, np.float64) for name in ("l2", "noise", "smoothing")]
    + [
        (name, np.int32)
        for name in [
            "p",
            "m",
            "d",
            "n_rows",
            "n_features",
            "n_used_tiles",
            "spare",
            "max_depth",
            "max_leaves",
            "min_samples",
            "order_of_growth",
            "min_category_count",
            "cell_capacity",
            "slot_capacity",
            "scratch_size",
            "pass_features",
            "pass_lanes",
            "n_groups",
            "most_features",
            "words",
        ]
    ],
    align=True,
)


def planning_bytes(cells: int, slots: int) -> int:
    """The memory of the planner: see ``Planner`` in ``source/plan.cuh``."""
    fresh = 2 * MOST_WORKS
    return 8 * (cells + fresh) + 4 * (2 * cells + cells // 2 + 1 + fresh + 2 * MOST_WORKS + 4 + slots)


def records(pointers: str, rest: list[tuple[str, str]]) -> np.dtype[Any]:
    """The type of a structure that begins with pointers."""
    return np.dtype([(name, np.uint64) for name in pointers.split()] + rest, align=True)


class Arguments:
    """The one argument of a kernel, a structure that is passed by value; kept from launch to launch.

    A launch takes an array of pointers to the arguments. Setting up both anew took 60 us per launch; so a field is
    written when it changes only.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.record = np.zeros((), dtype=dtype)
        self._pointers = np.array([self.record.ctypes.data], dtype=np.uint64)
        self.address = int(self._pointers.ctypes.data)
        self._values: dict[str, Any] = {}

    def set(self, **fields: Any) -> None:
        """Write these fields."""
        known = self._values
        for name, value in fields.items():
            if name not in known or known[name] != value:
                self.record[name] = known[name] = value


# Bytes of shared memory for histograms or plans of a block: with the header, all that a block may have on GPUs of
# compute capability 7.5. Newer ones then have room for three blocks on a processor.
ROOM = 59 * 1024
SYMMETRIC = ORDERS["symmetric"]
N_LEAVES_AT = (RESULT.names or ()).index("n_leaves") * 4  # its place in the result, in bytes
HEADER = 64 + 8 * (MOST_WORKS + 4)  # bytes of shared memory before that


@dataclass(frozen=True)
class Limits:
    """The limits of a tree, as the kernel takes them; 0 means no limit.

    `groups` (n_groups, words) uint32 are sets of features that may be split together, and `most_features` the number of
    different ones on a path; both are empty without constraints.
    """

    score: int
    bits: int
    max_depth: int
    max_leaves: int
    min_samples: int
    order: int
    l2: float
    noise: float
    min_category_count: int
    smoothing: float
    most_features: int = 0
    groups: Any = None

    @cached
    def kind(self) -> Any:
        """All of them in a form that can be compared."""
        groups = None if self.groups is None else self.groups.tobytes()
        return (*(getattr(self, field.name) for field in fields(self) if field.name != "groups"), groups)


@dataclass(eq=False)
class Table:
    """Codes on the device, with the columns' bins.

    Attributes
    ----------
    codes : (n_tiles, n) uint64, on the device
    n_bins, has_missing, categorical : (p,) int32, uint8 and uint8, in the host's memory
    """

    device: Any
    codes: Any
    n_bins: Any
    has_missing: Any
    categorical: Any
    columns: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        names = ("n_bins", "has_missing", "categorical")
        self.columns = {name: self.device.upload(np.ascontiguousarray(getattr(self, name))) for name in names}

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

    @property
    def p(self) -> int:
        """The number of features."""
        return len(self.n_bins)

    @property
    def bin_stride(self) -> int:
        """The room for the bins of a feature: a multiple of 32."""
        return int(-(-int((self.n_bins + self.has_missing).max()) // 32) * 32)


@dataclass(frozen=True, eq=False)
class GrownArrays:
    """What the kernel returns: arrays of the host, and those of the rows, which stay on the device.

    Attributes
    ----------
    nodes : (N, 24) uint8, without thresholds
    gain, count, sets : (N,), (N,) and (n_sets, 32)
    limbs : (L, 2, d) uint64, sums over the leaves as integers
    largest : (d,), or one for all classes: the largest absolute values of what is summed
    leaf_of_row : (n,) int32 on the device, of the rows in use
    order, leaf_begin : (n_rows,) and (L + 1,) int32 on the device: the rows, leaf by leaf
    """

    nodes: Any
    gain: Any
    count: Any
    sets: Any
    limbs: Any
    largest: Any
    leaf_of_row: Any
    order: Any
    leaf_begin: Any


def most_leaves(limits: Limits, n_rows: int) -> int:
    """A bound on the number of leaves of a tree; those of a symmetric one may have no rows."""
    if limits.order == SYMMETRIC:
        return 2**limits.max_depth
    bound = max(1, n_rows // max(1, limits.min_samples))
    if limits.max_leaves:
        bound = min(bound, limits.max_leaves)
    if limits.max_depth and limits.max_depth < 31:
        bound = min(bound, 2**limits.max_depth)
    return bound


@dataclass(frozen=True)
class Sizes:
    """How much room a tree needs on the device."""

    cells: int
    slots: int
    slot: int
    pass_features: int
    pass_lanes: int
    shared: int
    scratch: int
    words: int
    planning: int

    @staticmethod
    def of(table: Table, m: int, limits: Limits, n_rows: int) -> Sizes:
        """Those of a tree on m statistics."""
        return Sizes.for_bins(table.bin_stride, table.p, bool(table.categorical.any()), m, limits, n_rows)

    @staticmethod
    def for_bins(bin_stride: int, p: int, any_categories: bool, m: int, limits: Limits, n_rows: int) -> Sizes:
        """Those of a tree on m statistics of p features with room for so many bins each."""
        leaves, lanes, width = most_leaves(limits, n_rows), m + 1, limits.bits // 8
        limited = limits.order == ORDERS["best"] and limits.max_leaves > 0
        cells = 8 * leaves + 64 if limited else 2 * leaves + 1
        slots = 2 * leaves + 2 if limited else leaves + 2
        features, part = 8, lanes
        while features * part * bin_stride * width > ROOM and (features, part) != (1, 1):
            features, part = (features // 2, part) if features > 1 else (1, -(-part // 2))
        desk = (BLOCK // 32) * (16 * bin_stride + 16 * lanes + 256)
        planning = planning_bytes(cells, slots)
        room = max(features * part * bin_stride * width, desk, planning if planning <= ROOM else 0, 8 * BLOCK)
        return Sizes(
            cells=cells,
            slots=slots,
            slot=p * lanes * bin_stride,
            pass_features=features,
            pass_lanes=part,
            shared=HEADER + room,
            scratch=256 * (m + 2) + 2 * m if any_categories else 0,
            words=-(-p // 32) if limits.most_features or limits.groups is not None else 0,
            planning=planning if planning > ROOM else 0,
        )


@dataclass(eq=False)
class Layout:
    """A kernel with its arguments for trees of one kind; only some fields change from tree to tree."""

    kernel: Any
    n_blocks: int
    arguments: Arguments  # of dtype PROBLEM
    results: dict[str, int]
    block: Any  # the state and the results, on the device
    groups: Any  # those of the limits, on the device, or None
    most_leaves: int


@dataclass(frozen=True, eq=False)
class PendingTree:
    """A tree that is being grown: what works on the rows on the device can be launched before it is finished.

    `n_leaves`, `nodes` and `sets` are addresses on the device, of the number of its leaves, of its nodes and of its
    category sets; `most_leaves` is a bound on the number of leaves; `rows` are those it is grown on, or None for all;
    the other arrays are those of `GrownArrays`.
    """

    host: Any
    places: dict[str, int]
    width: int
    d: int
    own_leaves: bool
    leaf_of_row: Any
    order: Any
    leaf_begin: Any
    rows: Any
    n_leaves: int
    most_leaves: int
    nodes: int
    sets: int

    def wait(self) -> GrownArrays:
        """The tree, when it is finished."""
        places, host, d = self.places, self.host.wait(), self.d
        found = host[places["result"] : places["result"] + RESULT.itemsize].view(RESULT)[0]
        if found["error"]:
            raise RuntimeError("the tree needs more memory on the device than was set aside for it")
        n_nodes, n_leaves, n_sets = int(found["n_nodes"]), int(found["n_leaves"]), int(found["n_sets"])

        def part(name: str, count: int, dtype: Any) -> Any:
            begin = places[name]
            return host[begin : begin + count * np.dtype(dtype).itemsize].view(dtype).copy()

        maxima = part("maxima", self.width + (d if self.own_leaves else 0), np.float64)
        return GrownArrays(
            nodes=part("nodes", n_nodes * NODE_BYTES, np.uint8).reshape(n_nodes, NODE_BYTES),
            gain=part("gains", n_nodes, np.float64),
            count=part("counts", n_nodes, np.int64),
            sets=part("out_sets", n_sets * 32, np.uint8).reshape(n_sets, 32),
            limbs=part("limbs", n_leaves * 2 * d, np.uint64).reshape(n_leaves, 2, d),
            largest=maxima[self.width :] if self.own_leaves else maxima,
            leaf_of_row=self.leaf_of_row,
            order=self.order,
            leaf_begin=self.leaf_begin,
        )


class TreeGrower:
    """Grows trees on one table; keeps its memory from tree to tree.

    blocks_per_processor limits the blocks of a multiprocessor; with 0, as many as fit.
    """

    def __init__(self, table: Table, blocks_per_processor: int = 0) -> None:
        self.table, self.device, self.blocks_per_processor = table, table.device, blocks_per_processor
        self._kept: dict[str, Any] = {}
        self.room_for: dict[Any, bool] = {}  # kinds of trees for which there is memory, or not
        self.limits: dict[Any, Limits] = {}
        self._layouts: dict[Any, Layout] = {}

    def room(self, name: str, size: int, dtype: Any) -> Any:
        """An array on the device that is used again for the next tree if it is large enough."""
        kept = self._kept.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            self._layouts.clear()  # their pointers are no longer valid
            kept = self._kept[name] = self.device.empty(max(1, size), dtype)
        return kept

    def grow(
        self,
        values: Any,
        classes: Any,
        m: int,
        limits: Limits,
        seed: int = 0,
        leaf_values: Any = None,
        rows: Any = None,
        features: Any = None,
    ) -> PendingTree:
        """Begin to grow a tree; arrays are on the device, except for `features` (ascending).

        values (n, m) float64, or (n,) weights of `classes` (n,) int32; leaf_values (n, d) or None; rows (n_rows,) int32
        ascending or None.
        """
        table, device = self.table, self.device
        n_rows = table.n if rows is None else int(rows.shape[0])
        d = m if leaf_values is None else int(leaf_values.shape[1])
        features = np.arange(table.p, dtype=np.int32) if features is None else np.asarray(features, dtype=np.int32)
        layout = self.layout(m, d, classes is not None, leaf_values is not None, limits, n_rows)
        tiles, masks = used_tiles(features)
        lists = self.room("lists", 3 * table.p, np.int32)
        device.send(lists, np.concatenate([features, tiles, masks]))
        at = pointer(device, lists)
        leaf_of_row = device.empty(table.n, np.int32)
        layout.arguments.set(
            seed=seed,
            features=at,
            tiles=at + 4 * len(features),
            tile_mask=at + 4 * (len(features) + len(tiles)),
            n_features=len(features),
            n_used_tiles=len(tiles),
            values=pointer(device, values),
            classes=pointer(device, classes),
            rows=pointer(device, rows),
            leaf_values=pointer(device, leaf_values),
            leaf_of_row=pointer(device, leaf_of_row),
        )
        device.clear(layout.block, layout.results["nodes"])
        layout.kernel(layout.n_blocks, BLOCK, layout.arguments)
        return PendingTree(
            host=device.fetch(layout.block, layout.results["size"]),
            places=layout.results,
            width=m if classes is None else 1,
            d=d,
            own_leaves=leaf_values is not None,
            leaf_of_row=leaf_of_row,
            order=self._kept["order"],
            leaf_begin=self._kept["leaf_begin"],
            rows=rows,
            n_leaves=pointer(device, layout.block) + layout.results["result"] + N_LEAVES_AT,
            most_leaves=layout.most_leaves,
            nodes=pointer(device, layout.block) + layout.results["nodes"],
            sets=pointer(device, layout.block) + layout.results["out_sets"],
        )

    def layout(self, m: int, d: int, one_hot: bool, own_leaves: bool, limits: Limits, n_rows: int) -> Layout:
        """The layout for these trees; made anew when the limits or the memory change."""
        key = (m, d, one_hot, own_leaves, n_rows, limits.kind)
        if key not in self._layouts:
            made = self.make_layout(m, d, one_hot, limits, n_rows)
            self._layouts[key] = made
        return self._layouts[key]

    def make_layout(self, m: int, d: int, one_hot: bool, limits: Limits, n_rows: int) -> Layout:
        """Memory and arguments."""
        table, device, room = self.table, self.device, self.room
        sizes, width = Sizes.of(table, m, limits, n_rows), 1 if one_hot else m
        lane = np.dtype(np.int32 if limits.bits == 32 else np.int64)
        options = {
            "LANE": "int" if limits.bits == 32 else "i64",
            "SCORE": limits.score,
            "COLUMNS": 2 if m == 2 and not one_hot else 0,
            "BINS": table.bin_stride,
        } | ({"SYMMETRIC": 1} if limits.order == SYMMETRIC else {})
        kernel = device.kernel("tree", "grow_tree", options, sizes.shared, cooperative=True)
        n_blocks = kernel.n_blocks(BLOCK, self.blocks_per_processor)
        capacity, works, p, i4, i8, f8 = sizes.cells, MOST_WORKS, table.p, np.int32, np.int64, np.float64
        results = result_layout(most_leaves(limits, n_rows), width, d, bool(sizes.scratch))
        block = room("block", results["size"], np.uint8)
        start = pointer(device, block)
        categories = bool(sizes.scratch)
        groups = None if limits.groups is None else device.upload(limits.groups)
        arrays = {
            "groups": groups,
            "scale": room("scale", width, f8),
            "inverse": room("inverse", m, f8),
            "unit": room("unit", width, f8),
            "quantized": room("quantized", table.n * width, lane),
            "list0": room("list0", n_rows, i4),
            "list1": room("list1", n_rows, i4),
            "cells": room("cells", capacity * CELL_BYTES, np.uint8),
            "used": room("used", capacity * sizes.words, np.uint32) if sizes.words else None,
            "totals": room("totals", capacity * (m + 1), i8),
            "works": room("works", works * WORK_BYTES, np.uint8),
            "cursors": room("cursors", 2 * works, i4),
            "done": room("done", 2 * works, i4),
            "cut": room("cut", works, i4),
            "built": room("built", works, i4),
            "first_cut": room("first_cut", works + 1, i4),
            "first_built": room("first_built", works + 1, i4),
            "bests": room("bests", 2 * works * p * FEATURE_BEST, np.uint8),
            "sets": room("sets", 2 * works * p * 32, np.uint8) if categories else None,
            "histograms": room("histograms", sizes.slots * sizes.slot, lane),
            "scratch": room("scratch", n_blocks * BLOCK // 32 * sizes.scratch, f8) if categories else None,
            "planning": room("planning", sizes.planning // 8 + 1, f8) if sizes.planning else None,
            "queue": room("queue", 3 * capacity, i4),
            "first_task": room("first_task", capacity + 1, i4),
            "leaf_begin": room("leaf_begin", capacity + 1, i4),
            "order": room("order", n_rows, i4),
        }
        fields: dict[str, Any] = dict.fromkeys(PROBLEM.names or (), 0)
        fields |= {
            name: pointer(device, array) for name, array in ({"codes": table.codes} | table.columns | arrays).items()
        }
        fields |= {name: start + place for name, place in results.items() if name != "size"}
        fields |= {
            "n": table.n,
            "slot_size": sizes.slot,
            "l2": limits.l2,
            "noise": limits.noise,
            "smoothing": limits.smoothing,
            "p": p,
            "m": m,
            "d": d,
            "n_rows": n_rows,
            "max_depth": limits.max_depth,
            "max_leaves": limits.max_leaves,
            "min_samples": max(1, limits.min_samples),
            "order_of_growth": limits.order,
            "min_category_count": limits.min_category_count,
            "cell_capacity": capacity,
            "slot_capacity": sizes.slots,
            "scratch_size": sizes.scratch,
            "pass_features": sizes.pass_features,
            "pass_lanes": sizes.pass_lanes,
            "n_groups": 0 if limits.groups is None else len(limits.groups),
            "most_features": limits.most_features,
            "words": sizes.words,
        }
        arguments = Arguments(PROBLEM)
        arguments.set(**fields)
        return Layout(kernel, n_blocks, arguments, results, block, groups, most_leaves(limits, n_rows))


def used_tiles(features: Any) -> tuple[Any, Any]:
    """The tiles that have a feature in use, and which of their eight features are: two (t,) int32."""
    masks = np.bincount(features >> 3, weights=1 << (features & 7)).astype(np.int32)
    tiles = np.flatnonzero(masks).astype(np.int32)
    return tiles, masks[tiles]


def result_layout(leaves: int, width: int, d: int, categories: bool) -> dict[str, int]:
    """Where state and results lie in one block of memory; what comes before the nodes is zero at the start."""
    nodes = 2 * leaves - 1
    sizes = {
        "state": STATE_BYTES,
        "maxima": 8 * (width + d),
        "magnitudes": 8 * width,
        "result": RESULT.itemsize,
        "limbs": 16 * d * leaves,
        "nodes": NODE_BYTES * nodes,
        "gains": 8 * nodes,
        "counts": 8 * nodes,
        "out_sets": 32 * leaves if categories else 0,
    }
    places, at = {}, 0
    for name, size in sizes.items():
        places[name] = at
        at += -(-size // 16) * 16
    return places | {"size": at}


def pointer(device: Any, array: Any) -> int:
    """The address of an array on the device; 0 for none."""
    return 0 if array is None else int(device.pointer(array))
