"""Provides the engines: they do the heavy computations of boosting on the CPU or on NVIDIA GPUs."""

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
from .cpu import HOST, CpuCompute, CpuRowLoss, cpu_engine
from .cpu.rounds import RoundMaker
from .cuda import cuda_engine
from .cuda.binning import DeviceTable
from .cuda.device import DeviceError, check_gpu, has_gpu
from .interface import (
    ORDERS,
    SCORES,
    BlockProblem,
    Engine,
    FitSize,
    ForestArrays,
    Growth,
    HostLoss,
    LeafRule,
    OneHot,
    PackedForest,
    RoundBlock,
    RoundDraw,
    RowLoss,
    RowProblem,
    Rows,
    row_sizes,
    symmetric_levels,
)
from .tree import NODE, SET_BYTES, Grown, LateValues, Tree, no_sets, node_bytes, single_leaf

DEVICES = ("cpu", "cuda")  # where estimators compute

CPU = cpu_engine()  # one thread; the default where no engine is passed


def local_engine(engine: Engine) -> Engine:
    """Return `engine` itself, or a CPU engine if the rows of `engine` are spread over several machines."""
    return cpu_engine(engine.compute.n_threads) if engine.rows.is_spread else engine
