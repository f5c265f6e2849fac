"""The structures that kernels and Python share; the order of the fields is that of ``source/tree.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

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
