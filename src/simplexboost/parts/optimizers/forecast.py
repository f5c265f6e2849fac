"""Estimates memory and time of boosting with `SketchedNewton`, before anything is computed (docs/memory.md)."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import issparse

from ... import _kernels
from ...engine import FitSize, Growth
from ...engine.binned import SAMPLE_ROWS
from ...engine.candidates import places
from ...model.code import FEW
from ...tables.training_set import TrainingSet
from ..learners.tree_learners import TreeLearner
from ..losses.scores import UserLoss
from .run import Run

BASE = 2e6  # bytes that do not depend on the data: threads, samples of columns, what the allocator holds back
ROW = 20  # bytes of a row whatever is boosted: its label and weight as given and in order, and its place; measured
THREAD_ROW = 6.3  # bytes of a row for every thread: what the allocator keeps in heaps of the threads; measured
LINE = 64  # bytes of a cache line: columns that share one are sorted together
NODE = 80  # bytes of a leaf and of the node above it, in the model
MANY_LEAVES = 255  # so many leaves are assumed where nothing limits them
MANY_CLASSES = 33  # from so many on, small leaf values are dropped; SPARSE_PART of them are kept
SPARSE_PART = 0.2
FEW_PROBABILITIES = 2**21  # so many (n, K) are kept from the sketch for the leaves; more are computed again
LEAF_ENTRIES = 1000  # the most that a leaf is expected to have if rows have candidates


def expected_bytes(
    data: TrainingSet, learner: TreeLearner, d: int, s: int, candidates: int | None, n_rounds: int
) -> float:
    """Estimate the peak memory of boosting in bytes, without X, for d code dimensions and s sketch directions."""
    n, K, compute = data.n_here, data.K, data.engine.compute
    leaves, sparse = leaves_on(data, learner.growth_for(data)), issparse(data.table)
    weighted = 0 if data.uniform else 20  # the weights in both precisions, and times the tilt of the loss
    row = ROW + THREAD_ROW * min(compute.n_threads, data.p) + 4 + 8 * (s + 1) + weighted
    table = 9.0 * data.table.nnz if sparse else 8.0 * -(-data.p // 8) * n  # codes; if sparse, by columns and by rows
    code = 0 if d == K > FEW or candidates is not None else 12 * K * d  # many canonical codewords are a view
    if candidates is not None:
        rows = n * (row + 8 * places(min(candidates, K - 1)) + 20)
        entries = min(float(n), LEAF_ENTRIES * float(leaves), float(leaves) * K)
        model = n_rounds * (leaves * NODE + 8 * entries) + 24.0 * entries
        growing = rows + tree_bytes(data, learner, s + 1) + 30.0 * K * (4 * compute.n_threads + 1)  # tables of threads
    else:
        model = code + n_rounds * leaves * (NODE + (4 * d if K < MANY_CLASSES or d < K else 8 * SPARSE_PART * d))
        kept = n * (-(-K // 16) * 16)  # probabilities, in rows of whole vectors; of a matrix y, mistakes are kept
        kept = 4 * kept if d == K and (kept <= FEW_PROBABILITIES or data.problem.is_matrix) else 0
        if not data.engine.device.is_host and d == K and not sparse:  # F and the trees are there
            rows = growing = n * float(ROW + weighted)
        else:
            rows = n * (row + 4 * d * (1 if d == K else 2)) + kept
            growing = rows + tree_bytes(data, learner, s + 1)
    binning = code + binning_bytes(data) + (rows if sparse else n * ROW)
    return BASE + max(growing + table + model, binning)


def binning_bytes(data: TrainingSet) -> float:
    """Estimate the bytes of binning: for a sparse table, its values by columns and the bin codes.

    For a dense table, every thread sorts a sample of some columns: the columns that share a cache line, if there are
    enough. A table that is already binned, as on a cluster, takes nothing.
    """
    if issparse(data.table):
        return 18.0 * data.table.nnz
    if not isinstance(data.table, np.ndarray):
        return 0.0
    size, threads = data.table.dtype.itemsize, min(data.engine.compute.n_threads, data.p)
    columns = min(LINE // size, -(-data.p // threads))
    return threads * min(data.n_here, SAMPLE_ROWS) * ((columns + 1) * size + 12.0)


def tree_bytes(data: TrainingSet, learner: TreeLearner, m: int) -> float:
    """Estimate the bytes of growing a tree on m statistics per row: row indices, integer statistics, histograms.

    If p > 8, the integer statistics are copied in the order of the rows, to memory whose size is a power of two. For a
    sparse table, histograms have only bins that are not empty, and most trees see less than half of the features.
    """
    growth = learner.growth_for(data)
    bin_bytes = _kernels.lane_count(m) * growth.bits / 8
    if issparse(data.table):
        bins = 0.5 * min((data.max_bins + 1) * data.p, data.p + data.table.nnz)
    else:
        bins = leaves_on(data, growth) * (data.max_bins + 1) * data.p
    waiting = min(growth.histogram_memory, bins * bin_bytes)
    copied = 2.0 ** math.ceil(math.log2(data.n_here * bin_bytes + 1)) if data.p > 8 else 0.0
    return data.n_here * (12 + bin_bytes) + copied + waiting


def leaves_on(data: TrainingSet, growth: Growth) -> int:
    """Return the largest possible number of leaves per tree: at most one per row, unless trees are symmetric."""
    if growth.order == "symmetric":
        return 2**growth.levels
    by_depth = 2 ** min(growth.max_depth, 20) if growth.max_depth else 0
    limits = [limit for limit in (by_depth, growth.max_leaf_nodes) if limit]
    return min(data.n, *(limits or [MANY_LEAVES]))


def fit_size(run: Run, s: int) -> FitSize:
    """Return the `FitSize` of a run with s sketch directions, from which an engine estimates its memory."""
    data, kept = run.data, run.code.canonical and not isinstance(run.loss, UserLoss)
    growth = run.learner.growth_for(data)
    p = 0 if issparse(data.table) else data.p
    return FitSize(data.n, p, len(run.Y) if kept else 0, s, data.max_bins, not data.uniform, growth)


def seconds_per_round(run: Run) -> float:
    """Estimate the seconds per round to about a factor of two, from times on a 2.8 GHz core and on an H200 GPU."""
    n, p, (K, d) = run.data.n, run.data.p, run.Y.shape
    if not run.data.engine.device.is_host and d == K and not issparse(run.data.table):
        return 1.3e-3 + n * (2.5e-11 * p + 6e-12 * K)
    leaves = run.learner.growth_for(run.data).max_leaf_nodes or 255
    levels = np.log2(leaves + 1)
    cells, bins = n * p, run.data.max_bins * p
    if issparse(run.data.table):  # only what is stored is read, and gives a column bins
        cells, bins = 4 * run.data.table.nnz, min(bins, p + run.data.table.nnz)
    histograms = 1.5e-9 * cells * (1 + levels / 4)  # subtraction saves half of each level, and rows become fewer
    scans = 2e-9 * leaves * float(bins)
    products = 0.0 if d == K else 4.0 * n * K * d / 4e10
    soft_max = (4e-9 if d == K else 2e-9) * n * K  # canonical: once for the sketch, once for the leaves
    return (histograms + scans + products + soft_max) / max(1, min(run.data.engine.compute.n_threads, 8)) + 2e-4
