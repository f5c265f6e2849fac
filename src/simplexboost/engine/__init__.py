"""Engines: what is heavy in boosting, behind one protocol. ``cpu`` is compiled, ``reference`` its NumPy twin."""

from .binned import MAX_BINS, MAX_CATEGORIES, BinnedData, auto_bins
from .cpu import CpuEngine
from .interface import (
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
)
from .reference import ReferenceEngine
from .tree import NODE, SET_BYTES, Grown, Tree, no_sets, node_bytes, single_leaf

CPU: Engine = CpuEngine()  # one thread; what is asked where nobody passes an engine


def engine_of(array: object) -> Engine:
    """The engine in whose memory an array lies, for functions that are given arrays alone, like losses."""
    return CPU


__all__ = [
    "CPU",
    "MAX_BINS",
    "MAX_CATEGORIES",
    "NODE",
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
    "Tree",
    "auto_bins",
    "engine_of",
    "no_sets",
    "node_bytes",
    "single_leaf",
]
