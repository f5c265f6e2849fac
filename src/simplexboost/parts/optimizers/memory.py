"""Estimates how much memory boosting takes beside the data, before anything is computed, as docs/memory.md explains."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import issparse

from ... import _kernels
from ...engine import Growth
from ...engine.binned import SAMPLE_ROWS
from ...tables.training_set import TrainingSet
from ..learners.tree_learners import TreeLearner

BASE = 2e6  # bytes that do not depend on the data: threads, samples of columns, what the allocator holds back
ROW = 20  # bytes of a row whatever is boosted: its label and weight as given and in order, and its place; measured
THREAD_ROW = 6.3  # bytes of a row for every thread: what the allocator keeps in heaps of the threads; measured
LINE = 64  # bytes of a cache line: columns that share one are sorted together
NODE = 80  # bytes of a leaf and of the node above it, in the model
MANY_LEAVES = 255  # so many leaves are assumed where nothing limits them


def table_bytes(data: TrainingSet) -> float:
    """The codes: a byte for every value; of a sparse table those that are stored, by columns and by rows."""
    return 9.0 * data.table.nnz if issparse(data.table) else 8.0 * -(-data.p // 8) * data.n_here


def row_bytes(data: TrainingSet) -> float:
    """What a row takes whatever is boosted; threads that have no column to work on take nothing."""
    return ROW + THREAD_ROW * min(data.engine.compute.n_threads, data.p)


def binning_bytes(data: TrainingSet) -> float:
    """Computing the codes, before trees are grown: of a sparse table, its values by columns and the codes.

    Of a dense table, every thread sorts a sample of some columns, those of a cache line if there are enough of them.
    Rows that came as codes, as those of a cluster do, take nothing.
    """
    if issparse(data.table):
        return 18.0 * data.table.nnz
    if not isinstance(data.table, np.ndarray):
        return 0.0
    size, threads = data.table.dtype.itemsize, min(data.engine.compute.n_threads, data.p)
    columns = min(LINE // size, -(-data.p // threads))
    return threads * min(data.n_here, SAMPLE_ROWS) * ((columns + 1) * size + 12.0)


def tree_bytes(data: TrainingSet, learner: TreeLearner, m: int) -> float:
    """Growing a tree on m statistics: rows by nodes, their integers, and the histograms of nodes that wait.

    With more than one block of features, integers are copied in the order of the rows, in memory whose size is a power
    of two. Of a sparse table, histograms have only bins that are not empty, and most trees see less than half of the
    features.
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


def model_bytes(data: TrainingSet, learner: TreeLearner, value_bytes: float, n_rounds: int) -> float:
    """The trees of so many rounds, with so many bytes of values in every leaf."""
    return n_rounds * leaves_on(data, learner.growth_for(data)) * (NODE + value_bytes)


def leaves_on(data: TrainingSet, growth: Growth) -> int:
    """The largest number of leaves on these rows: every leaf has one, unless trees are symmetric."""
    return n_leaves(growth) if growth.order == "symmetric" else min(n_leaves(growth), data.n)


def n_leaves(growth: Growth) -> int:
    """The largest number of leaves, as far as limits say."""
    if growth.order == "symmetric":
        return 2**growth.levels
    by_depth = [2 ** min(growth.max_depth, 20)] if growth.max_depth else []
    by_number = [growth.max_leaf_nodes] if growth.max_leaf_nodes else []
    return min(by_depth + by_number, default=MANY_LEAVES)
