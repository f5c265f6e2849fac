"""Connects the engine's tree types with the arrays of `growing`, and computes how much GPU memory a fit needs."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..binned import BinnedData, SparseCodes
from ..cpu.trees import limb_values
from ..interface import ORDERS, SCORES, FitSize, Growth, OneHot
from ..tree import NODE, Grown, Tree, complete_tree
from .binning import DeviceCodes
from .device import DeviceMemoryError
from .growing import (
    BLOCK,
    FEATURE_BEST,
    MOST_WORKS,
    GrownArrays,
    Limits,
    PendingTree,
    Sizes,
    Table,
    TreeGrower,
    most_leaves,
)
from .stepping import WARPS, Launcher

MOST = 2**31 - 1  # the kernels count in 32 bits
MOST_THREADS = 2048  # of a multiprocessor

# The growers of tables that are in use, with their memory on the device.
_growers: WeakKeyDictionary[Any, WeakKeyDictionary[BinnedData, TreeGrower]] = WeakKeyDictionary()


class PendingGrown(Grown):
    """A tree that is being grown on the device; what is asked of it waits until it is finished.

    Attributes
    ----------
    pending : what works on the rows on the device, before the tree is finished
    leaf_of_row : (n,) int32, on the device
    """

    data: BinnedData
    pending: PendingTree
    n_rows: int

    def __init__(self, data: BinnedData, pending: PendingTree, n_rows: int) -> None:
        self.__dict__.update(data=data, pending=pending, n_rows=n_rows, leaf_of_row=pending.leaf_of_row)

    @cached
    def _found(self) -> GrownArrays:
        return self.pending.wait()

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self._found.limbs)

    @cached
    def tree(self) -> Tree:
        """The tree."""
        found = self._found
        return complete_tree(Tree(found.nodes.view(NODE)[:, 0], found.gain, found.count, found.sets), self.data)

    @cached
    def leaf_sums(self) -> Array:
        """(L, d)"""
        return limb_values(self._found.limbs, self._found.largest, self.n_rows)


def grower_of(device: Any, data: BinnedData) -> TreeGrower:
    """The grower of a table, whose codes are copied to the device at the first tree."""
    growers = _growers.setdefault(device, WeakKeyDictionary())
    if data not in growers:
        if isinstance(data.codes, DeviceCodes):
            codes = data.codes.there
        else:
            words = np.ascontiguousarray(data.codes).view(np.uint64)[:, :, 0]
            codes = device.upload_large(np.ascontiguousarray(words))
        growers[data] = TreeGrower(Table(device, codes, data.n_bins, data.has_missing, data.categorical))
    return growers[data]


def kept_limits(grower: TreeGrower, score: str, growth: Growth, n_rows: int) -> Limits:
    """`limits_of`, made once: from round to round, only the seed changes."""
    key = (score, growth.max_depth, growth.max_leaf_nodes, growth.min_samples_leaf, growth.order, growth.noise,
           growth.l2_regularization, growth.bits, growth.min_category_count, growth.category_smoothing,
           growth.interactions, n_rows)  # fmt: skip
    if key not in grower.limits:
        grower.limits[key] = limits_of(score, growth, n_rows, grower.table.p)
    return grower.limits[key]


def limits_of(score: str, growth: Growth, n_rows: int, p: int) -> Limits:
    """The limits as the kernel takes them."""
    groups, most, symmetric = None, 0, growth.order == "symmetric"
    if isinstance(growth.interactions, int):
        most = min(growth.interactions, MOST)
    else:
        groups = np.zeros((len(growth.interactions), -(-p // 32)), dtype=np.uint32)
        for i, group in enumerate(growth.interactions):
            for f in group:
                groups[i, f // 32] |= np.uint32(1 << (f % 32))
    return Limits(
        SCORES[score],
        growth.bits,
        growth.levels if symmetric else min(growth.max_depth, MOST),
        0 if symmetric else min(growth.max_leaf_nodes, MOST),
        min(growth.min_samples_leaf, MOST),
        ORDERS[growth.order],
        growth.l2_regularization,
        growth.noise,
        min(growth.category_count(n_rows), MOST),
        growth.category_smoothing,
        most,
        groups,
    )


def too_many_levels(growth: Growth) -> bool:
    """Whether a symmetric tree has levels of more nodes than the device expands together."""
    return growth.order == "symmetric" and 2 ** (growth.levels - 1) > MOST_WORKS


def can_grow(
    data: BinnedData, m: int, d: int, growth: Growth, rows: AnyArray | None, features: AnyArray | None
) -> bool:
    """Whether the device grows such trees: neither those of sparse or of empty tables, nor very deep symmetric ones."""
    if too_many_levels(growth) or isinstance(data.codes, SparseCodes) or growth.bits not in (32, 64):
        return False
    n_rows = data.n if rows is None else len(rows)
    return min(n_rows, m, d, data.p if features is None else len(features)) > 0


def splits_bytes(p: int, any_categories: bool = False) -> int:
    """The memory for the best splits of p features in all nodes that are expanded together."""
    return 2 * MOST_WORKS * p * (FEATURE_BEST + (32 if any_categories else 0))


def scratch_bytes(device: Any, sizes: Sizes) -> int:
    """The memory in which all warps that may be there at the same time put categories in order."""
    blocks = min(MOST_THREADS // BLOCK, max(1, device.most_shared // sizes.shared))  # of a processor
    return 8 * sizes.scratch * device.n_processors * blocks * WARPS


def tree_bytes(data: BinnedData, sizes: Sizes, m: int, d: int, limits: Limits, n_rows: int) -> int:
    """The memory on the device for growing a tree on m statistics, and its sums of d columns over the leaves."""
    lane, leaves = limits.bits // 8, most_leaves(limits, n_rows)
    histograms = sizes.slots * sizes.slot * lane + splits_bytes(data.p, bool(data.categorical.any()))
    cells = sizes.cells * (112 + 8 * (m + 1) + 4 * sizes.words + 40)
    rows = data.n * (lane * m + 4) + 12 * n_rows
    return histograms + cells + rows + leaves * (16 * d + 112)


def has_room(device: Any, data: BinnedData, m: int, d: int, limits: Limits, n_rows: int) -> bool:
    """Whether there is memory on the device for such trees; asked once, since the driver takes long to answer.

    With very many statistics, the memory that the threads of a block share is too small.
    """
    grower = grower_of(device, data)
    key = (m, d, n_rows, limits.kind)
    if key not in grower.room_for:
        sizes = Sizes.of(grower.table, m, limits, n_rows)
        enough = tree_bytes(data, sizes, m, d, limits, n_rows) + scratch_bytes(device, sizes) <= device.room()
        grower.room_for[key] = enough and sizes.shared <= device.most_shared
    return grower.room_for[key]


def begin_tree(
    device: Any,
    data: BinnedData,
    statistics: Array | OneHot,
    limits: Limits,
    seed: int,
    leaf_statistics: AnyArray | None,
    rows: AnyArray | None,
    features: AnyArray | None,
) -> PendingTree:
    """Begin to grow a tree; arrays may be in the host's memory or on the device."""

    def there(values: Any, dtype: Any) -> Any:
        if values is None or device.owns(values):
            return values
        return device.upload(np.ascontiguousarray(values, dtype=dtype))

    values, classes = statistics, None
    if isinstance(statistics, OneHot):
        values, classes = statistics.weight, there(statistics.classes, np.int32)
    return grower_of(device, data).grow(
        there(values, np.float64),
        classes,
        statistics.shape[1],
        limits,
        seed,
        there(leaf_statistics, np.float64),
        there(rows, np.int32),
        features,
    )


def route_all(device: Any, data: BinnedData, pending: PendingTree) -> None:
    """Find the leaves of all rows of a tree that is being grown on some of them."""
    table = grower_of(device, data).table
    Launcher.of(device).route(table, pending.nodes, pending.sets, pending.leaf_of_row)


def fit_bytes(size: FitSize) -> dict[str, int]:
    """The bytes of a fit of the flagship on the device, by what they are for.

    With n rows, p features, K classes, s directions of the sketch, at most L leaves, B bins (rounded up to a multiple
    of 32) and integers of w = 4 or 8 bytes: codes 8 n ⌈p/8⌉; predictor 4 n K; rows n (8 (s + 1) + w (s + 1) + 24), and
    20 n more if they have weights; histograms w p (s + 2) B (2 L + 2), or of trees that do not grow best first
    w p (s + 2) B (L + 2), and 16384 p for splits; leaves 40 L K.
    """
    n, p, m = size.n, size.p, size.s + 1
    out = {"codes": 8 * n * -(-p // 8), "predictor": 4 * n * size.K}
    width = size.growth.bits // 8
    out["rows"] = n * (8 * m + width * m + 24 + (20 if size.weighted else 0))
    unlimited = size.growth.order != "symmetric" and not (size.growth.max_leaf_nodes or size.growth.max_depth)
    if p == 0 or too_many_levels(size.growth) or unlimited:  # these may be grown on the processor
        return out
    limits = limits_of("newton", size.growth, n, p)
    sizes = Sizes.for_bins(-(-(size.max_bins + 1) // 32) * 32, p, False, m, limits, n)
    out["histograms"] = sizes.slots * sizes.slot * width + splits_bytes(p)
    out["leaves"] = 40 * most_leaves(limits, n) * max(1, size.K)
    return out


def check_room(size: FitSize, room: int) -> int:
    """The bytes of a fit; raises `DeviceMemoryError` if there is less room on the device."""
    parts = fit_bytes(size)
    need = sum(parts.values())
    if need <= room:
        return need
    listed = ", ".join(f"{name} {text(amount)}" for name, amount in parts.items())
    raise DeviceMemoryError(
        f"device='cuda' needs {text(need)} of memory on the GPU for this fit ({listed}), and {text(room)} are free; "
        "fit on fewer rows, with smaller max_leaf_nodes or max_bins, or with device='cpu'."
    )


def text(amount: int) -> str:
    """A number of bytes in words."""
    return f"{amount / 2**30:.1f} GiB" if amount >= 2**30 else f"{amount / 2**20:.1f} MiB"
