"""Provides the engines, which do the heavy computations of boosting on the CPU or on NVIDIA GPUs."""

from .binned import (
    MAX_BINS,
    MAX_CATEGORIES,
    BinnedData,
    CodedRows,
    SparseCodes,
    auto_bins,
    column_of,
    infinity_at,
    sampled_rows,
)
from .candidates import Candidates
from .cpu import CpuEngine
from .cuda import CudaEngine
from .cuda.binning import DeviceTable
from .cuda.device import DeviceError, check_gpu, has_gpu
from .interface import (
    ORDERS,
    SCORES,
    BlockLoss,
    BlockProblem,
    Dense,
    Engine,
    FitSize,
    ForestArrays,
    Growth,
    HostRows,
    LeafRule,
    OneHot,
    PackedForest,
    RowLoss,
    RowProblem,
    row_sizes,
    symmetric_levels,
)
from .tree import NODE, SET_BYTES, Grown, LateValues, Tree, no_sets, node_bytes, single_leaf

DEVICES = ("cpu", "cuda")  # where estimators compute

CPU: Engine = CpuEngine()  # one thread; the default where no engine is passed


__all__ = [
    "CPU",
    "DEVICES",
    "MAX_BINS",
    "MAX_CATEGORIES",
    "NODE",
    "ORDERS",
    "SCORES",
    "SET_BYTES",
    "BinnedData",
    "BlockLoss",
    "BlockProblem",
    "Candidates",
    "CodedRows",
    "CpuEngine",
    "CudaEngine",
    "Dense",
    "DeviceError",
    "DeviceTable",
    "Engine",
    "FitSize",
    "ForestArrays",
    "Grown",
    "Growth",
    "HostRows",
    "LateValues",
    "LeafRule",
    "OneHot",
    "PackedForest",
    "RowLoss",
    "RowProblem",
    "SparseCodes",
    "Tree",
    "auto_bins",
    "check_gpu",
    "column_of",
    "has_gpu",
    "infinity_at",
    "no_sets",
    "node_bytes",
    "row_sizes",
    "sampled_rows",
    "single_leaf",
    "symmetric_levels",
]
