"""Defines an engine by three protocols, `Compute`, `Rows` and `Device`, and the types of their arguments and results.

`TrainingSet` holds an `Engine`; weak learners, losses, the model and `SimplexBoostClassifier` call it for all heavy
computations. `engine.cpu` runs compiled code, `engine.cuda` runs on a GPU, and `distributed.group_engine` adds up sums
from several machines; ``tests/twin`` is a reference in plain NumPy. A protocol's own method bodies are right for
engines that have all rows in this process and compute in host memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from .binned import BinnedData
from .tree import Grown, Tree

# A node score turns the sum of a node's statistics into a number; children that score high make a good split.
SCORES = {
    "newton": 0,  # ‖ΣG‖² / (Σh + l2); columns G and, last, the curvature h
    "norm": 1,  # ‖ΣG‖
    "max": 2,  # max_k ΣV_k
    "sign": 3,  # Σ_k |ΣV_k|
    "entropy": 4,  # Σ_k w_k log w_k − w log w
    "gini": 5,  # Σ_k w_k² / Σ_k w_k
}


# The order in which a tree grows; its numbers are those of kernels/trees/grown.hpp.
ORDERS = {
    "level": 0,  # the oldest node is split next
    "best": 1,  # the node whose split gains most
    "symmetric": 2,  # all nodes of a level, by one split: that of the largest sum of scores
}
MOST_LEVELS = 15  # of a symmetric tree: 32768 leaves, 65535 nodes, as many as a packed forest can number
USUAL_LEVELS = 6  # of a symmetric tree without limits


# ---- arguments ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OneHot:
    """Statistics (n, m) with one non-zero value per row: ``weight[i]`` in column ``classes[i]`` of row i."""

    classes: AnyArray  # (n,)
    weight: Array  # (n,)
    m: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.classes), self.m


def symmetric_levels(max_depth: int | None, max_leaf_nodes: int | None) -> int:
    """Return the number of levels of a symmetric tree: the most that both limits allow, 6 without limits (None, 0)."""
    by_leaves = int(max_leaf_nodes).bit_length() - 1 if max_leaf_nodes else 0
    levels = min((int(limit) for limit in (max_depth, by_leaves) if limit), default=USUAL_LEVELS)
    if levels > MOST_LEVELS:
        raise ValueError(
            f"max_depth={max_depth!r} and max_leaf_nodes={max_leaf_nodes!r} allow a symmetric tree of {levels} levels; "
            f"give a max_depth of at most {MOST_LEVELS}."
        )
    return levels


@dataclass(frozen=True)
class Growth:
    """The options of growing a tree: its limits (0 means no limit), its order, and the precision of its histograms."""

    max_depth: int = 0
    max_leaf_nodes: int = 0
    min_samples_leaf: int = 1
    order: str = "level"  # one of ORDERS
    l2_regularization: float = 0.0
    bits: int = 64  # of each integer in a histogram; 32 is faster
    # Of the noise, and of the random rounding to 32 bits, up or down; 0 rounds to nearest. Not compared.
    seed: int = field(default=0, compare=False)
    noise: float = 0.0  # added to a feature's gain, in standard deviations of the features' gains at a node or level
    histogram_memory: int = 2**29  # bytes for the histograms of waiting nodes; others are built again
    min_category_count: int = 0  # categories with fewer rows in a node go right; 0: see `category_count`
    category_smoothing: float = 10.0  # how many average rows of the node are added to each category to order them
    # Which features may be split on one path from the root: a number is the most different ones, 0 for no limit; groups
    # (ascending feature numbers) allow those that lie together in one of them. Every feature must be in a group.
    interactions: int | tuple[tuple[int, ...], ...] = 0

    @property
    def levels(self) -> int:
        return symmetric_levels(self.max_depth, self.max_leaf_nodes)

    def category_count(self, n_rows: int) -> int:
        """Return the fewest rows of a usable category: `min_category_count`, or if 0, n_rows / 100 clipped to [1, 10].

        scikit-learn's HistGradientBoosting always requires ten rows; small tables would then have no usable categories.
        """
        return self.min_category_count or max(1, min(10, n_rows // 100))


@dataclass(frozen=True, eq=False)
class RowProblem:
    """A loss with one label per row, computed from the logits 2U = F Yᵀ, and its data; see `Compute.row_loss`.

    With p = softmax(2U) and p_c the probability of the true class, the gradient of a row is that of the logistic loss
    times p_c^a (1 − p_c)^b.

    Attributes
    ----------
    c : (n,) true class indices in 0..K−1
    K : the number of classes
    Y : (K, d) float32 codewords, or None for canonical ones, where d = K
    weight : (n,) float32 sample weights of mean one, or None if all are one
    log_cost : (K, K) float32 or None; entry (c, k) is added to the logit of class k in rows of true class c
    exponents : (a, b), the exponents above
    value : a function that returns the losses, given an array of probabilities p_c
    candidates : whether F is `Candidates`; codewords are then canonical, and `log_cost` is None
    """

    c: Labels
    K: int
    Y: AnyArray | None
    weight: AnyArray | None
    log_cost: AnyArray | None
    exponents: tuple[int, int]
    value: Callable[[Array], Array]
    candidates: bool = False


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """A log-loss with several labels or class targets per row, and its data; see `Compute.row_loss`.

    Codewords are canonical, so F (n, K) holds the logits. The probability of a label is σ(F), σ the logistic function.
    The class probabilities of a target are the softmax over a block of columns.

    Attributes
    ----------
    own : (S, K) uint8, the S distinct rows of true labels: 1 in the columns that are true, else 0
    c : (n,) for every training row, the index of its row in ``own``
    widths : the number of columns of every block; None if every column is a label
    weight : (n,) float32 sample weights of mean one, or None if all are one
    """

    own: AnyArray
    c: Labels
    widths: tuple[int, ...] | None
    weight: AnyArray | None

    @property
    def n_blocks(self) -> int:
        return self.own.shape[1] if self.widths is None else len(self.widths)


@dataclass(frozen=True)
class LeafRule:
    """The options of the Newton steps that give the leaf values.

    Attributes
    ----------
    l2_regularization : added to every second derivative
    max_step : the largest change of a class score by one leaf
    thin : if positive, the median of a leaf's values is subtracted, and values below `thin` times the largest absolute
        value become zero
    """

    l2_regularization: float = 0.0
    max_step: float = np.inf
    thin: float = 0.0

    def drop_small(self, values: AnyArray) -> AnyArray:
        """Return the values (K,) of a leaf minus their median, small ones set to zero; unchanged if `thin` is 0."""
        if self.thin == 0.0:
            return values
        values = values - np.sort(values)[len(values) // 2]
        return np.where(np.abs(values) < np.float32(self.thin) * np.abs(values).max(), np.float32(0), values)


@dataclass(frozen=True, eq=False)
class RoundDraw:
    """The random choices of one boosting round of `SimplexBoostClassifier`.

    Attributes
    ----------
    Z : (K, s) float32, the coordinates of the codewords along the s directions of the gradient sketch
    seed : the random seed of the tree
    rows, features : indices of the rows and features that the tree is grown on, ascending; None for all
    """

    Z: AnyArray
    seed: int
    rows: AnyArray | None
    features: AnyArray | None


@dataclass(frozen=True, eq=False)
class RoundBlock:
    """The results of m boosting rounds that an engine made in one call; the arrays of the m trees are concatenated.

    Attributes
    ----------
    alpha, step : the step length α of all rounds, and α times the learning rate, the factor of the leaf values
    reach : an upper bound on the absolute entries of F after these rounds
    nodes, gain, count, category_sets : see `Tree`
    values : (leaves of all trees, d) float32, the leaf values
    first_node, first_set : (m + 1,) the index of each tree's first node and first category set; the last entry is the
        end
    risk : (m,) the mean weighted loss before each round
    edge : (m,) the edge of each tree, as a weak learner; at most 1
    seconds : (m,) the time from the start of the call to the end of each round
    """

    alpha: float
    step: float
    reach: float
    nodes: AnyArray
    gain: Array
    count: AnyArray
    category_sets: AnyArray
    values: AnyArray
    first_node: AnyArray
    first_set: AnyArray
    risk: Array
    edge: Array
    seconds: Array

    def __len__(self) -> int:
        return len(self.risk)

    def trees(self) -> Iterator[tuple[Tree, AnyArray]]:
        """Yield every tree with its leaf values (L, d)."""
        bounds, sets = self.first_node.tolist(), self.first_set.tolist()
        for t, (begin, end) in enumerate(pairwise(bounds)):
            nodes, of_tree = slice(begin, end), slice(sets[t], sets[t + 1])
            tree = Tree(self.nodes[nodes], self.gain[nodes], self.count[nodes], self.category_sets[of_tree])
            yield tree, self.values[(begin + t) // 2 : (end + t + 1) // 2]


@dataclass(frozen=True)
class FitSize:
    """The size of a fit of `SimplexBoostClassifier`, from which an engine forecasts its use of memory.

    n rows of p features with at most `max_bins` bins (p is 0 for sparse tables, which stay in host memory); K columns
    of F that the engine stores, or 0; s directions of the gradient sketch; `weighted` if rows have sample weights.
    """

    n: int
    p: int
    K: int
    s: int
    max_bins: int
    weighted: bool
    growth: Growth


@dataclass(frozen=True, eq=False)
class ForestArrays:
    """The trees of a fitted model with their leaf values: the argument of `Compute.pack`.

    Attributes
    ----------
    trees : the trees
    values : the leaf values of each tree, (L, d) or (L, 1), dense or sparse, in single or double precision
    coordinate : (T,) int32, the index of the column of F that each tree adds to; −1 for all columns
    step : (T,) the factor of each tree's leaf values
    n_features, dtype : the number of columns of X; the dtype of F
    """

    trees: list[Tree]
    values: list[Any]
    coordinate: AnyArray
    step: Array
    n_features: int
    dtype: Any


# ---- results --------------------------------------------------------------------------------------------------------


class PackedForest(Protocol):
    """The trees of a model in a form that is fast to predict with."""

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        """Add the trees' values for the rows of X (n, p) to F (n, d) in place, one tree after another."""


class RowLoss(Protocol):
    """An evaluator of a `RowProblem`: in each round, `pull` computes the sketched gradient, `leaves` the leaf values.

    The pull of a row is its negative gradient: the direction in which the row would move F.
    """

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """Return the sketched negative gradient at F and, as last column, the curvature along the sketch, (n, s + 1).

        F is (n, d); Z (K, s) holds the codewords' coordinates along s directions. The next call overwrites the result.
        """

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> Any:
        """Return the Newton steps in the leaves of a tree, (L, d), computed from `rows` at the F of the last `pull`.

        The result is a float32 array, a sparse array, or `LateValues` if a device may still be growing the tree.
        """

    def to_device(self, F: AnyArray) -> AnyArray:
        """Return F in the memory where this evaluator reads it fastest: F itself, or a copy on a device."""

    def risk(self) -> float:
        """Return the mean weighted loss over all rows, at the F of the last `pull`."""

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        """Return Σ‖g‖ over `rows`, g the sketched gradient of a row; `statistics` is the result of the last `pull`."""


class BlockLoss(RowLoss, Protocol):
    """An evaluator of a `BlockProblem`: the log-loss of several labels or class targets per row."""

    def losses(self, F: AnyArray, rows: AnyArray, temperature: float) -> Array:
        """Return the loss (r, B) in each of B blocks for the r given rows, at the logits temperature · F (n, K)."""


class HostLoss:
    """The base of every `RowLoss` that computes in host memory; `compute.rows` sums over all rows."""

    compute: Compute

    def to_device(self, F: AnyArray) -> AnyArray:
        return F

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        return self.compute.rows.total_size((statistics if rows is None else statistics[rows])[:, :-1])


# ---- the engine -----------------------------------------------------------------------------------------------------


class Compute(Protocol):
    """The heavy computations on the rows that are in this process.

    Attributes
    ----------
    n_threads : the number of threads
    rows : the `Rows` object, which sums over the rows of all processes
    """

    n_threads: int
    rows: Rows

    def bin(
        self, X: AnyArray, max_bins: int = 255, categorical: AnyArray | None = None, sample: AnyArray | None = None
    ) -> BinnedData:
        """Return X (n, p), float32 or float64 with NaN for missing values, as bin codes; X may be sparse.

        The mask ``categorical`` (p,) marks columns of category codes 0, 1, … below 254, which have no order. Quantiles
        are computed from the rows with the indices ``sample`` (ascending); None means `binned.sampled_rows`.
        """

    def hash_rows(self, X: AnyArray, factors: AnyArray) -> AnyArray | None:
        """Return Σ_j hash(X_ij) a_j for every row i of X (n, p), (n,) uint64; `factors` (p,) are the a_j.

        If the result is None, the caller uses `tables.order.hashes_of`, which computes the same hashes.
        """
        return None

    def grow(
        self,
        data: BinnedData,
        statistics: Array | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array | None = None,
        rows: AnyArray | None = None,
        features: AnyArray | None = None,
    ) -> Grown:
        """Grow one decision tree.

        Splits maximise `score`, a function of the children's sums of `statistics`. Then `leaf_statistics` (n, d), or
        `statistics` if that is None, is summed over the rows of each leaf. These sums depend neither on the order of
        the rows nor on their division among machines. `rows` and `features` (ascending indices) restrict what the tree
        is grown on.
        """

    def apply(self, tree: Tree, X: AnyArray) -> AnyArray:
        """Return the index of the leaf that each row of X (n, p) falls into, (n,) int32."""

    def pack(self, forest: ForestArrays) -> PackedForest:
        """Return the trees of `forest` in a form that is fast to predict with."""

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        """Write path-dependent Shapley values of the rows of X (n, p) for D outputs to `out` (n, p, D).

        `paths` (`explain.shapley.Paths`) holds the trees and their kernel; `leaves`
        (`explain.explained_classes.LeafTable`) holds the leaf values. If `total` (n, D) is given, a row's Shapley
        values are corrected for rounding to sum to it.
        """

    def add_leaves(self, F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """Add step · values[leaf of i] to F[i] for every row i, in place; F (n, d), values (L, d).

        If F is `Candidates`, `values` is a sparse array.
        """

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        """Return an evaluator of the loss in `problem`: a `RowLoss`, and for a `BlockProblem` a `BlockLoss`."""

    def softmax(self, F: AnyArray, Y: AnyArray | None, out: Array) -> None:
        """Write the softmax of the logits 2U = F Yᵀ to `out` (n, K); Y (K, d) are codewords, None if canonical."""

    def times(self, A: AnyArray, M: AnyArray, factor: float = 1.0, out: AnyArray | None = None) -> AnyArray:
        """Return the matrix product factor · A M, (n, K), in the precision of A (n, m); M is (m, K).

        Each entry is summed in the order of M's rows: the result of a row does not depend on how many rows A has.
        """

    def check_memory(self, size: FitSize) -> float:
        """Return the bytes that a fit needs on a device, 0 without a device; raise if the device has less."""
        return 0.0  # `parts.optimizers.forecast` forecasts the memory of the host


class Rows(Protocol):
    """The rows of a table, all or some of them in this process; methods compute sums over the rows of all processes.

    With several machines, each process has the rows of one machine. Row indices count all rows. A decision that needs
    all rows is made by one process, which sends the result to all processes.

    Attributes
    ----------
    is_spread : whether other processes have some of the rows
    """

    is_spread: ClassVar[bool] = False

    def total(self, values: Array) -> Any:
        """Return the sum over all rows of `values` (n,), or of every column of `values` (n, m).

        A sum depends neither on the order of the rows nor on their division among machines.
        """

    def total_size(self, vectors: Array) -> float:
        """Return Σ‖v‖ over all rows, where v is a row of `vectors` (n, s); summed as in `total`."""
        return self.total(row_sizes(vectors))

    def largest(self, values: AnyArray) -> float:
        """Return the largest of `values` over all rows; −inf without rows."""
        return float(values.max()) if values.size else -np.inf

    def every(self, mask: AnyArray) -> bool:
        """Return whether `mask` is true for all rows."""
        return bool(np.all(mask))

    def count(self, n: int) -> int:
        """Return the number of rows of all processes, given the number n of rows in this process."""
        return n

    def find(self, rows: AnyArray) -> AnyArray:
        """Return the positions, among the rows of this process, of those in `rows` (ascending row indices)."""
        return rows

    def subset(self, rows: AnyArray) -> Rows:
        """Return a `Rows` object for only the given rows (ascending row indices)."""
        return self

    def reorder(self, compute: Callable[[], AnyArray]) -> tuple[AnyArray, Rows]:
        """Return the positions (n,) that put the rows of this process in a new order, and the `Rows` in that order.

        `compute` returns the new order of all rows, as row indices; only one process calls it.
        """
        return compute(), self

    def gather(self, values: AnyArray) -> AnyArray:
        """Return the values of all rows, in the process that makes decisions; `values` are of this process's rows.

        In every other process the result is empty.
        """
        return values

    def decide(self, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute` in every process; only one process calls the function."""
        return compute()


class Device(Protocol):
    """The memory that an engine computes in, and operations on arrays in this memory.

    Attributes
    ----------
    is_host : whether this memory is host memory
    """

    is_host: ClassVar[bool] = True

    def to_host(self, values: Any) -> Any:
        """Return an array in host memory: `values` itself, or a copy if `values` is on the device."""
        return values

    def to_device(self, X: AnyArray, d: int) -> Any:
        """Return a copy of X (n, p) on the device, for adding trees to scores F (n, d) of these rows in every round.

        Return None if the rows stay in host memory.
        """
        return None

    def adopt(self, values: Any) -> Any:
        """Return `values` as an array of the engine if they are on the device, such as a torch tensor; else None."""
        return None

    def argsort(self, keys: AnyArray) -> AnyArray:
        """Return the indices (n,) that sort `keys` (n,) uint64, an array in host memory, in ascending order."""
        return np.argsort(keys)

    def postpone(self, work: Callable[[], Any]) -> bool:
        """Register `work` to be called while the device is busy with the next tree; return False if there is no device.

        Results must not depend on when `work` is called, or on whether it is called at all.
        """
        return False


@dataclass(frozen=True)
class Engine:
    """The computations of a fit or a prediction, with the rows and the memory that they work on.

    Attributes
    ----------
    compute : the computations
    rows : the `Rows` that sums run over; the same object as ``compute.rows``
    device : the memory in which `compute` computes
    """

    compute: Compute
    device: Device = field(repr=False)
    rows: Rows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.compute.rows)

    def with_rows(self, rows: Rows) -> Engine:
        """Return an engine like this one that computes on `rows`."""
        return self if rows is self.rows else Engine(replace(self.compute, rows=rows), self.device)  # type: ignore


def row_sizes(vectors: Array) -> Array:
    """Return the Euclidean norm of every row of `vectors` (n, s), as an array (n,)."""
    return np.abs(vectors[:, 0]) if vectors.shape[1] == 1 else np.linalg.norm(vectors, axis=1)
