"""Grows trees on the GPU, by the kernels in ``source/tree.cu``, and forecasts the GPU memory of a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..._util.messages import format_bytes
from ..binned import BinnedData, SparseCodes
from ..cpu.trees import limb_values
from ..interface import ORDERS, SCORES, FitSize, Growth, OneHot
from ..tree import NODE, Grown, Tree, complete_tree
from .binning import DeviceCodes
from .device import BLOCK, WARPS, Arguments, DeviceMemoryError, records

MOST = 2**31 - 1  # the kernels count in 32 bits
MOST_THREADS = 2048  # of a multiprocessor
MOST_WORKS = 512  # nodes that are expanded together
CELL_BYTES, WORK_BYTES, FEATURE_BEST, STATE_BYTES = 112, 28, 16, 32
RESULT = np.dtype([(name, np.int32) for name in ("n_nodes", "n_leaves", "n_sets", "error")])
N_LEAVES_AT = 4  # the place of the number of leaves in the result, in bytes
PROBLEM = records(
    "codes n_bins has_missing categorical features tiles tile_mask values classes rows leaf_values groups state maxima "
    "magnitudes scale inverse unit quantized list0 list1 cells used totals works cursors done cut built first_cut "
    "first_built bests sets histograms scratch planning queue first_task result nodes gains counts out_sets leaf_begin "
    "limbs order leaf_of_row",
    [
        *((name, "i8") for name in ("n", "slot_size")),
        ("seed", "u8"),
        *((name, "f8") for name in ("l2", "noise", "smoothing")),
        *((name, "i4") for name in ("p", "m", "d", "n_rows", "n_features", "n_used_tiles", "spare", "max_depth")),
        *((name, "i4") for name in ("max_leaves", "min_samples", "order_of_growth", "min_category_count")),
        *((name, "i4") for name in ("cell_capacity", "slot_capacity", "scratch_size", "pass_features", "pass_lanes")),
        *((name, "i4") for name in ("n_groups", "most_features", "words")),
    ],
)
# Bytes of shared memory for histograms or plans of a block: with the header, all that a block may have on GPUs of
# compute capability 7.5. Newer ones then have room for three blocks on a processor.
ROOM = 59 * 1024
HEADER = 64 + 8 * (MOST_WORKS + 4)  # bytes of shared memory before that


def most_leaves(growth: Growth, n_rows: int) -> int:
    """Return an upper bound on the number of leaves of a tree; in a symmetric tree, some may have no rows."""
    if growth.order == "symmetric":
        return 2**growth.levels
    bound = max(1, n_rows // max(1, growth.min_samples_leaf))
    if growth.max_leaf_nodes:
        bound = min(bound, growth.max_leaf_nodes)
    return min(bound, 2**growth.max_depth) if 0 < growth.max_depth < 31 else bound


def too_many_levels(growth: Growth) -> bool:
    """Return whether a symmetric tree has a level of more nodes than the GPU can split together."""
    return growth.order == "symmetric" and 2 ** (growth.levels - 1) > MOST_WORKS


def tree_sizes(bin_stride: int, p: int, any_categories: bool, m: int, growth: Growth, n_rows: int) -> dict[str, int]:
    """Return the array sizes for a tree on m statistics of p features with room for `bin_stride` bins each.

    The keys are the names in ``source/tree.cu``, "shared" for the bytes of shared memory of a block, and "plan" for the
    bytes of a growth plan that does not fit in shared memory (else 0).
    """
    leaves, lanes, width = most_leaves(growth, n_rows), m + 1, growth.bits // 8
    limited = growth.order == "best" and growth.max_leaf_nodes > 0
    cells = 8 * leaves + 64 if limited else 2 * leaves + 1
    slots = 2 * leaves + 2 if limited else leaves + 2
    features, part = 8, lanes
    while features * part * bin_stride * width > ROOM and (features, part) != (1, 1):
        features, part = (features // 2, part) if features > 1 else (1, -(-part // 2))
    desk = (BLOCK // 32) * (16 * bin_stride + 16 * lanes + 256)
    fresh = 2 * MOST_WORKS  # of the planner: see ``Planner`` in ``source/plan.cuh``
    plan = 8 * (cells + fresh) + 4 * (2 * cells + cells // 2 + 1 + fresh + 2 * MOST_WORKS + 4 + slots)
    return {
        "cell_capacity": cells,
        "slot_capacity": slots,
        "slot_size": p * lanes * bin_stride,
        "pass_features": features,
        "pass_lanes": part,
        "scratch_size": 256 * (m + 2) + 2 * m if any_categories else 0,
        "words": -(-p // 32) if growth.interactions != 0 else 0,
        "shared": HEADER + max(features * part * bin_stride * width, desk, plan if plan <= ROOM else 0, 8 * BLOCK),
        "plan": plan if plan > ROOM else 0,
    }


@dataclass(eq=False)
class Layout:
    """The kernel that grows trees, its arguments and its memory, for all trees of the same options and sizes."""

    kernel: Any
    n_blocks: int
    arguments: Arguments  # of dtype PROBLEM
    results: dict[str, int]
    block: Any  # the state and the results, on the device
    groups: Any  # of features that may be split together, on the device, or None


class PendingGrown(Grown):
    """A tree that the GPU may still be growing; reading `tree`, `leaf_sums` or `n_leaves` waits until it is grown."""

    rows: Any  # on the device: the rows it is grown on, None for all
    order: Any  # (n_rows,) int32, on the device: these rows leaf by leaf
    leaf_count: int  # these three are addresses on the device: of the number of leaves
    nodes: int
    sets: int
    most_leaves: int  # a bound on the number of leaves

    def __init__(self, data: BinnedData, wait: Callable[[], tuple[Tree, AnyArray, Array, int]], **places: Any) -> None:
        self.__dict__.update(places, _data=data, _wait=wait)

    @cached
    def _found(self) -> tuple[Tree, AnyArray, Array, int]:
        return self.__dict__.pop("_wait")()

    @property
    def n_leaves(self) -> int:
        return len(self._found[1])

    @cached
    def tree(self) -> Tree:
        return complete_tree(self._found[0], self.__dict__["_data"])

    @cached
    def leaf_sums(self) -> Array:
        return limb_values(*self._found[1:])


class TreeGrower:
    """A grower of trees on one binned table; it keeps its GPU memory from tree to tree."""

    def __init__(self, device: Any, data: BinnedData) -> None:
        self.device, self.n, self.p = device, data.n, data.p
        codes = data.codes
        if not isinstance(codes, DeviceCodes):
            codes = np.ascontiguousarray(codes).view(np.uint64)[:, :, 0]
        self.codes = codes.on_device if isinstance(codes, DeviceCodes) else device.upload(codes)  # (n_tiles, n)
        columns = (data.n_bins, data.has_missing, data.categorical)
        self.n_bins, self.has_missing, self.categorical = map(device.upload, columns)
        self.bin_stride = int(-(-int((data.n_bins + data.has_missing).max()) // 32) * 32)  # room for those of a feature
        self.any_categories = bool(data.categorical.any())
        self._kept: dict[str, Any] = {}
        self._room_for: dict[Any, bool] = {}  # kinds of trees for which there is memory, or not
        self._layouts: dict[Any, Layout] = {}

    @staticmethod
    def of(device: Any, data: BinnedData) -> TreeGrower:
        """Return the cached grower of a table; the first call copies the bin codes to the GPU."""
        if data not in device.kept:
            device.kept[data] = TreeGrower(device, data)
        return device.kept[data]

    def sizes(self, m: int, growth: Growth, n_rows: int) -> dict[str, int]:
        return tree_sizes(self.bin_stride, self.p, self.any_categories, m, growth, n_rows)

    def bytes_needed(self, m: int, d: int, growth: Growth, n_rows: int) -> int:
        """Return the bytes of GPU memory for growing a tree on m statistics, with d leaf sums per leaf."""
        sizes, lane = self.sizes(m, growth, n_rows), growth.bits // 8
        histograms = sizes["slot_capacity"] * sizes["slot_size"] * lane + splits_bytes(self.p, self.any_categories)
        cells = sizes["cell_capacity"] * (112 + 8 * (m + 1) + 4 * sizes["words"] + 40)
        rows = self.n * (lane * m + 4) + 12 * n_rows
        leaves = most_leaves(growth, n_rows) * (16 * d + 112)
        # All warps that may be there at the same time put categories in order.
        blocks = min(MOST_THREADS // BLOCK, self.device.most_shared // sizes["shared"])
        warps = WARPS * self.device.n_processors * blocks
        return histograms + cells + rows + leaves + 8 * sizes["scratch_size"] * warps

    def has_room(self, m: int, d: int, growth: Growth, n_rows: int) -> bool:
        """Return whether the GPU has memory for a tree of these sizes and options; cached, because the driver is slow.

        Shared memory must suffice for a thread block, too; with very many statistics, it does not.
        """
        key = (m, d, growth, n_rows)
        if key not in self._room_for:
            fits = self.sizes(m, growth, n_rows)["shared"] <= self.device.most_shared
            self._room_for[key] = fits and self.bytes_needed(m, d, growth, n_rows) <= self.device.room()
        return self._room_for[key]

    def room(self, name: str, size: int, dtype: Any) -> Any:
        """Return a GPU array of at least this size, reused from the last tree under the same name if large enough."""
        kept = self._kept.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            self._layouts.clear()  # their pointers are no longer valid
            kept = self._kept[name] = self.device.empty(size, dtype)
        return kept

    def grow(
        self,
        data: BinnedData,
        statistics: Array | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array | None,
        rows: AnyArray | None,
        features: AnyArray | None,
    ) -> PendingGrown:
        """Begin to grow a tree; see `interface.Compute.grow`. Arrays may be in host memory or in GPU memory."""
        device, values, classes, m = self.device, statistics, None, statistics.shape[1]

        def upload(array: Any, dtype: Any) -> Any:
            return None if array is None else device.upload(array, dtype)

        if isinstance(statistics, OneHot):
            values, classes = statistics.weight, upload(statistics.classes, np.int32)
        values, one_hot = upload(values, np.float64), classes is not None
        leaf_values, rows = upload(leaf_statistics, np.float64), upload(rows, np.int32)
        n_rows, d = self.n if rows is None else len(rows), m if leaf_values is None else int(leaf_values.shape[1])
        layout = self.layout(m, d, one_hot, leaf_values is not None, score, growth, n_rows)
        features = np.arange(self.p, dtype=np.int32) if features is None else np.asarray(features, dtype=np.int32)
        masks = np.bincount(features >> 3, weights=1 << (features & 7)).astype(np.int32)
        tiles = np.flatnonzero(masks).astype(np.int32)  # that have a feature in use
        lists = self.room("lists", 3 * self.p, np.int32)
        device.send(lists, np.concatenate([features, tiles, masks[tiles]]))
        at, leaf_of_row = device.pointer(lists), device.empty(self.n, np.int32)
        layout.arguments.set(
            seed=growth.seed,
            features=at,
            tiles=at + 4 * len(features),
            tile_mask=at + 4 * (len(features) + len(tiles)),
            n_features=len(features),
            n_used_tiles=len(tiles),
            values=device.pointer(values),
            classes=device.pointer(classes),
            rows=device.pointer(rows),
            leaf_values=device.pointer(leaf_values),
            leaf_of_row=device.pointer(leaf_of_row),
        )
        results, start = layout.results, device.pointer(layout.block)
        device.clear(layout.block, results["nodes"])
        layout.kernel(layout.n_blocks, layout.arguments)
        fetched, width = device.fetch(layout.block, results["size"]), 1 if one_hot else m
        own = slice(0, width) if leaf_values is None else slice(width, width + d)
        return PendingGrown(
            data,
            lambda: (*read_tree(fetched.wait(), results, d, own), n_rows),
            leaf_of_row=leaf_of_row,
            rows=rows,
            order=self._kept["order"],
            leaf_count=start + results["result"] + N_LEAVES_AT,
            most_leaves=most_leaves(growth, n_rows),
            nodes=start + results["nodes"],
            sets=start + results["out_sets"],
        )

    def layout(
        self, m: int, d: int, one_hot: bool, own_leaves: bool, score: str, growth: Growth, n_rows: int
    ) -> Layout:
        """Return the kernel, memory and arguments for trees of these options, cached until memory is reallocated."""
        key = (m, d, one_hot, own_leaves, score, growth, n_rows)
        if key in self._layouts:
            return self._layouts[key]
        device, symmetric, width = self.device, growth.order == "symmetric", 1 if one_hot else m
        sizes, groups = self.sizes(m, growth, n_rows), None
        options = {
            "LANE": "int" if growth.bits == 32 else "i64",
            "SCORE": SCORES[score],
            "COLUMNS": 2 if m == 2 and not one_hot else 0,
            "BINS": self.bin_stride,
        } | ({"SYMMETRIC": 1} if symmetric else {})
        kernel = device.kernel("tree", "grow_tree", options, sizes["shared"], cooperative=True)
        n_blocks = kernel.n_blocks()
        results = result_layout(most_leaves(growth, n_rows), width, d, self.any_categories)
        block = self.room("block", results["size"], np.uint8)
        arrays = self.arrays(sizes, m, width, growth.bits, n_rows, n_blocks)
        if not isinstance(growth.interactions, int):
            groups = arrays["groups"] = device.upload(group_masks(growth.interactions, self.p))
        start = device.pointer(block)
        arguments = Arguments(PROBLEM)
        arguments.set(**{name: device.pointer(array) for name, array in arrays.items()})
        arguments.set(**{name: start + place for name, place in results.items() if name != "size"})
        arguments.set(**{name: size for name, size in sizes.items() if name not in ("shared", "plan")})
        arguments.set(
            n=self.n,
            l2=growth.l2_regularization,
            noise=growth.noise,
            smoothing=growth.category_smoothing,
            p=self.p,
            m=m,
            d=d,
            n_rows=n_rows,
            max_depth=growth.levels if symmetric else min(growth.max_depth, MOST),
            max_leaves=0 if symmetric else min(growth.max_leaf_nodes, MOST),
            min_samples=max(1, min(growth.min_samples_leaf, MOST)),
            order_of_growth=ORDERS[growth.order],
            min_category_count=min(growth.category_count(n_rows), MOST),
            n_groups=0 if groups is None else len(groups),
            most_features=min(growth.interactions, MOST) if groups is None else 0,
        )
        self._layouts[key] = Layout(kernel, n_blocks, arguments, results, block, groups)
        return self._layouts[key]

    def arrays(self, sizes: dict[str, int], m: int, width: int, bits: int, n_rows: int, blocks: int) -> dict[str, Any]:
        """Return the dict of the kernel's arrays, with the names in ``source/tree.cu``; None if not needed."""
        capacity, works, bests = sizes["cell_capacity"], MOST_WORKS, 2 * MOST_WORKS * self.p
        lane, i4, i8, f8, u1 = np.dtype(f"i{bits // 8}"), np.int32, np.int64, np.float64, np.uint8
        each_row = dict.fromkeys(("list0", "list1", "order"), n_rows)
        each_work = dict.fromkeys(("cut", "built", "first_cut", "first_built"), works + 1)
        lengths: list[tuple[Any, dict[str, int]]] = [
            (lane, {"quantized": self.n * width, "histograms": sizes["slot_capacity"] * sizes["slot_size"]}),
            (f8, {"scale": width, "inverse": m, "unit": width, "planning": -(-sizes["plan"] // 8)}),
            (f8, {"scratch": blocks * WARPS * sizes["scratch_size"]}),
            (i8, {"totals": capacity * (m + 1)}),
            (i4, each_row | each_work | {"cursors": 2 * works, "done": 2 * works}),
            (i4, {"queue": 3 * capacity, "first_task": capacity + 1, "leaf_begin": capacity + 1}),
            (np.uint32, {"used": capacity * sizes["words"]}),
            (u1, {"cells": capacity * CELL_BYTES, "works": works * WORK_BYTES, "bests": bests * FEATURE_BEST}),
            (u1, {"sets": bests * 32 if self.any_categories else 0}),
        ]
        columns = ("codes", "n_bins", "has_missing", "categorical")
        return {name: getattr(self, name) for name in columns} | {
            name: self.room(name, n, dtype) if n else None for dtype, counts in lengths for name, n in counts.items()
        }


def group_masks(groups: tuple[tuple[int, ...], ...], p: int) -> AnyArray:
    """Return bit masks of groups of features, (n_groups, words) uint32; a path may split only features of one group."""
    masks = np.zeros((len(groups), -(-p // 32)), dtype=np.uint32)
    for mask, group in zip(masks, groups, strict=True):
        for f in group:
            mask[f // 32] |= np.uint32(1 << (f % 32))
    return masks


def read_tree(host: AnyArray, places: dict[str, int], d: int, own: slice) -> tuple[Tree, AnyArray, Array]:
    """Return the tree without thresholds, integer leaf sums, and the largest absolute value of each leaf statistic."""
    found = host[places["result"] : places["result"] + RESULT.itemsize].view(RESULT)[0]
    if found["error"]:
        raise RuntimeError("the tree needs more memory on the device than was set aside for it")
    n_nodes, n_leaves, n_sets = int(found["n_nodes"]), int(found["n_leaves"]), int(found["n_sets"])

    def part(name: str, count: int, dtype: Any) -> Any:
        begin = places[name]
        return host[begin : begin + count * np.dtype(dtype).itemsize].view(dtype).copy()

    nodes = part("nodes", n_nodes * NODE.itemsize, np.uint8).view(NODE)
    sets = part("out_sets", n_sets * 32, np.uint8).reshape(n_sets, 32)
    tree = Tree(nodes, part("gains", n_nodes, np.float64), part("counts", n_nodes, np.int64), sets)
    limbs = part("limbs", n_leaves * 2 * d, np.uint64).reshape(n_leaves, 2, d)
    return tree, limbs, part("maxima", own.stop, np.float64)[own]


def result_layout(leaves: int, width: int, d: int, categories: bool) -> dict[str, int]:
    """Return the byte offset of every result array in one memory block; zero arrays before ``nodes`` for every tree."""
    nodes = 2 * leaves - 1
    sizes = {
        "state": STATE_BYTES,
        "maxima": 8 * (width + d),
        "magnitudes": 8 * width,
        "result": RESULT.itemsize,
        "limbs": 16 * d * leaves,
        "nodes": NODE.itemsize * nodes,
        "gains": 8 * nodes,
        "counts": 8 * nodes,
        "out_sets": 32 * leaves if categories else 0,
    }
    places, at = {}, 0
    for name, size in sizes.items():
        places[name] = at
        at += -(-size // 16) * 16
    return places | {"size": at}


def splits_bytes(p: int, any_categories: bool = False) -> int:
    """Return the bytes for the best split of each of p features in all nodes that are split together."""
    return 2 * MOST_WORKS * p * (FEATURE_BEST + (32 if any_categories else 0))


def can_grow(
    data: BinnedData, m: int, d: int, growth: Growth, rows: AnyArray | None, features: AnyArray | None
) -> bool:
    """Return whether the GPU supports these arguments: no sparse or empty tables, and no very deep symmetric trees."""
    if too_many_levels(growth) or isinstance(data.codes, SparseCodes) or growth.bits not in (32, 64):
        return False
    n_rows = data.n if rows is None else len(rows)
    return min(n_rows, m, d, data.p if features is None else len(features)) > 0


def fit_bytes(size: FitSize) -> dict[str, int]:
    """Return the bytes of GPU memory for a fit of `SimplexBoostClassifier`, by purpose.

    With n rows, p features, K classes, s directions of the gradient sketch, at most L leaves, B bins (rounded up to a
    multiple of 32) and integers of w = 4 or 8 bytes: codes 8 n ⌈p/8⌉; predictor 4 n K; rows n (8 (s + 1) + w (s + 1) +
    24), and 20 n more with sample weights; histograms w p (s + 2) B (2 L + 2) for trees that grow best first, else w p
    (s + 2) B (L + 2), and 16384 p for splits; leaves 40 L K.
    """
    n, p, m = size.n, size.p, size.s + 1
    out = {"codes": 8 * n * -(-p // 8), "predictor": 4 * n * size.K}
    width = size.growth.bits // 8
    out["rows"] = n * (8 * m + width * m + 24 + (20 if size.weighted else 0))
    unlimited = size.growth.order != "symmetric" and not (size.growth.max_leaf_nodes or size.growth.max_depth)
    if p == 0 or too_many_levels(size.growth) or unlimited:  # these may be grown on the processor
        return out
    sizes = tree_sizes(-(-(size.max_bins + 1) // 32) * 32, p, False, m, size.growth, n)
    out["histograms"] = sizes["slot_capacity"] * sizes["slot_size"] * width + splits_bytes(p)
    out["leaves"] = 40 * most_leaves(size.growth, n) * max(1, size.K)
    return out


def check_room(size: FitSize, room: int) -> int:
    """Return the bytes of GPU memory that a fit needs; raise `DeviceMemoryError` if that is more than `room`."""
    parts = fit_bytes(size)
    need = sum(parts.values())
    if need <= room:
        return need
    listed = ", ".join(f"{name} {format_bytes(amount)}" for name, amount in parts.items())
    raise DeviceMemoryError(
        f"device='cuda' needs {format_bytes(need)} of memory on the GPU for this fit ({listed}), and "
        f"{format_bytes(room)} are free; fit on fewer rows, with smaller max_leaf_nodes or max_bins, "
        "or with device='cpu'."
    )
