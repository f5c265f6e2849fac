"""Engines do the heavy computations of boosting behind one protocol. ``cpu`` is compiled, ``reference`` is in NumPy."""

from .binned import MAX_BINS, MAX_CATEGORIES, BinnedData, auto_bins
from .cpu import CpuEngine
from .interface import (
    ORDERS,
    SCORES,
    Dense,
    Engine,
    ForestArrays,
    Growth,
    LeafRule,
    OneHot,
    PackedForest,
    RowLoss,
    RowProblem,
    row_sizes,
    symmetric_levels,
)
from .reference import ReferenceEngine
from .sparse import SparseCodes, column_of
from .tree import NODE, SET_BYTES, Grown, Tree, no_sets, node_bytes, single_leaf

CPU: Engine = CpuEngine()  # one thread; the default where no engine is passed


def engine_of(array: object) -> Engine:
    """The engine whose memory holds an array, for functions that get only arrays, like losses."""
    return CPU


__all__ = [
    "CPU",
    "MAX_BINS",
    "MAX_CATEGORIES",
    "NODE",
    "ORDERS",
    "SCORES",
    "SET_BYTES",
    "BinnedData",
    "CpuEngine",
    "Dense",
    "Engine",
    "ForestArrays",
    "Grown",
    "Growth",
    "LeafRule",
    "OneHot",
    "PackedForest",
    "ReferenceEngine",
    "RowLoss",
    "RowProblem",
    "SparseCodes",
    "Tree",
    "auto_bins",
    "column_of",
    "engine_of",
    "no_sets",
    "node_bytes",
    "row_sizes",
    "single_leaf",
    "symmetric_levels",
]
