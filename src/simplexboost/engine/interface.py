"""Defines an engine by three protocols, `Compute`, `Rows` and `Device`, and the types of their arguments and results.

`TrainingSet` holds an `Engine`; learners, losses, the model and `SimplexBoostClassifier` call it for all heavy
computations. `engine.cpu` is compiled, `engine.cuda` uses a GPU, `distributed.group_engine` adds up the sums of several
machines, and ``tests/twin`` does the same as the compiled one in plain NumPy. The methods that the protocols implement
themselves are right where all rows are in this process and the memory is that of the host.
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
    """Statistics (n, m) with one non-zero number per row: ``weight[i]`` in column ``classes[i]`` of row i."""

    classes: AnyArray  # (n,)
    weight: Array  # (n,)
    m: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.classes), self.m


def symmetric_levels(max_depth: int | None, max_leaf_nodes: int | None) -> int:
    """Return how many levels a symmetric tree has: what both limits allow, or 6 without a limit (None or 0)."""
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
    """How a tree is grown: its limits (0 means no limit), its order, and the engine's precision."""

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
        """Return `min_category_count`, or if that is 0 a hundredth of the rows, at least 1 and at most 10.

        scikit-learn's HistGradientBoosting always requires ten; in small tables that would leave no categories.
        """
        return self.min_category_count or max(1, min(10, n_rows // 100))


@dataclass(frozen=True, eq=False)
class RowProblem:
    """A loss of one label per row that is computed from the logits 2U = F Yᵀ, with its rows; see `Compute.row_loss`.

    With p = softmax(2U) and p_c the probability of the true class, the gradient of a row is the logistic one times
    p_c^a (1 − p_c)^b.

    Attributes
    ----------
    c : (n,) true classes in 0..K−1
    K : the number of classes
    Y : (K, d) float32 codewords, or None for canonical ones, where d = K
    weight : (n,) float32 weights of mean one, or None if all are one
    log_cost : (K, K) float32, added to the logit of rival k (column) if the true class is c (row); or None
    exponents : (a, b)
    value : the loss as a function of p_c, elementwise
    candidates : whether F is `Candidates`, with canonical codewords and without costs
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
    """The log-loss of several labels or class targets per row, with its rows; see `Compute.row_loss`.

    Codewords are canonical, so F (n, K) holds the logits. The probability of a label is σ(F); the probabilities of the
    classes of a target are the softmax over a block of columns.

    Attributes
    ----------
    own : (S, K) uint8, rows of zeros and ones: the columns that are true of an example
    c : (n,) the row of ``own`` of every example
    widths : the number of columns of every block; None if every column is a label
    weight : (n,) float32 weights of mean one, or None if all are one
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
    """The options of Newton's steps in the leaves.

    Attributes
    ----------
    l2_regularization : added to every curvature
    max_step : the furthest that a leaf may move the score of a class
    thin : the median of a leaf's values is subtracted, and values below this part of the largest become zero; 0 keeps
        all values
    """

    l2_regularization: float = 0.0
    max_step: float = np.inf
    thin: float = 0.0

    def drop_small(self, values: AnyArray) -> AnyArray:
        """Subtract the median from leaf values (K,) and set small ones to zero, as `thin` says."""
        if self.thin == 0.0:
            return values
        values = values - np.sort(values)[len(values) // 2]
        return np.where(np.abs(values) < np.float32(self.thin) * np.abs(values).max(), np.float32(0), values)


@dataclass(frozen=True, eq=False)
class RoundDraw:
    """What was drawn at random for one round of the flagship.

    Attributes
    ----------
    Z : (K, s) float32, the codewords along the directions of the sketch
    seed : that of the tree
    rows, features : what the tree is grown on, ascending; None for all
    """

    Z: AnyArray
    seed: int
    rows: AnyArray | None
    features: AnyArray | None


@dataclass(frozen=True, eq=False)
class RoundBlock:
    """Rounds that an engine made in one call: m trees, the arrays of one after those of another, and what they did.

    Attributes
    ----------
    alpha, step : the α of all rounds, and that times the learning rate, by which values are multiplied
    reach : a bound on the entries of F after these rounds
    nodes, gain, count, category_sets : see `Tree`
    values : (leaves of all trees, d) float32
    first_node, first_set : (m + 1,) where each tree begins, and the last one ends
    risk : (m,) the mean weighted loss before each round
    edge : (m,) the edge of each tree
    seconds : (m,) when each round ended, after the call began
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
        """Every tree with its leaf values (L, d)."""
        bounds, sets = self.first_node.tolist(), self.first_set.tolist()
        for t, (begin, end) in enumerate(pairwise(bounds)):
            nodes, of_tree = slice(begin, end), slice(sets[t], sets[t + 1])
            tree = Tree(self.nodes[nodes], self.gain[nodes], self.count[nodes], self.category_sets[of_tree])
            yield tree, self.values[(begin + t) // 2 : (end + t + 1) // 2]


@dataclass(frozen=True)
class FitSize:
    """The size of a fit of `SimplexBoostClassifier`, from which an engine forecasts its memory.

    n rows of p features with at most `max_bins` bins (p is 0 for sparse tables, which stay on the host); K columns of F
    that the engine keeps (0 if it keeps none); s directions of the sketch; `weighted` if rows have weights.
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
    """The trees of a forest with their leaf values, as `Compute.pack` takes them.

    Attributes
    ----------
    trees : the trees
    values : for each tree its leaf values (L, d) or (L, 1), arrays or sparse arrays, single or double precision
    coordinate : (T,) int32, the column of F a tree adds to, −1 for all of them
    step : (T,) what a tree's values are multiplied by
    n_features, dtype : columns of X; the precision of F
    """

    trees: list[Tree]
    values: list[Any]
    coordinate: AnyArray
    step: Array
    n_features: int
    dtype: Any


# ---- results --------------------------------------------------------------------------------------------------------


class PackedForest(Protocol):
    """Trees ready for prediction."""

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        """Add the trees' values at X (n, p) to F (n, d) in place, tree after tree."""


class RowLoss(Protocol):
    """Evaluates a `RowProblem`, in two passes per round: `pull` for the sketch and `leaves` for the leaf values.

    The pull of the examples is the negative gradient, the direction in which they would move F; `pull` computes it.
    """

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """Return the sketched gradient and, in the last column, the curvature along the sketch at F; (n, s + 1).

        F is (n, d); Z (K, s) are the codewords along the sketch's directions. The next call overwrites the array.
        """

    def leaves(self, F: AnyArray, grown: Grown, rows: AnyArray | None, rule: LeafRule) -> Any:
        """Return Newton's steps in the leaves of a tree, (L, d), at the F of the last `pull`, from `rows` (ascending).

        They are an array of single precision, a sparse array, or `LateValues` if the tree may still be growing.
        """

    def to_device(self, F: AnyArray) -> AnyArray:
        """Return F in the memory where it is read fastest: the array itself, or a copy on a device."""

    def risk(self) -> float:
        """Return the mean weighted loss at the F of the last `pull`."""

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        """Return Σ‖g‖ over `rows` of the sketched gradients g in what the last `pull` returned."""


class BlockLoss(RowLoss, Protocol):
    """Evaluates a `BlockProblem`."""

    def losses(self, F: AnyArray, rows: AnyArray, temperature: float) -> Array:
        """Return the loss of every block of some of the rows, (r, B), at the logits temperature · F (n, K)."""


class HostLoss:
    """The base of every `RowLoss` that computes in the memory of the host; `compute.rows` adds up."""

    compute: Compute

    def to_device(self, F: AnyArray) -> AnyArray:
        return F

    def gradient_size(self, statistics: Array, rows: AnyArray | None) -> float:
        return self.compute.rows.total_size((statistics if rows is None else statistics[rows])[:, :-1])


# ---- the engine -----------------------------------------------------------------------------------------------------


class Compute(Protocol):
    """The heavy computations on the rows of this process.

    Attributes
    ----------
    n_threads : the number of threads
    rows : where the rows are
    """

    n_threads: int
    rows: Rows

    def bin(
        self, X: AnyArray, max_bins: int = 255, categorical: AnyArray | None = None, sample: AnyArray | None = None
    ) -> BinnedData:
        """Return X (n, p), float32 or float64 with NaN for missing values, as codes; X may be sparse.

        Columns in the mask ``categorical`` (p,) hold categories 0, 1, … below 254, in no order. Quantiles are computed
        from the rows ``sample`` (ascending); None takes `binned.sampled_rows`.
        """

    def hash_rows(self, X: AnyArray, factors: AnyArray) -> AnyArray | None:
        """Return Σ_j hash(X_ij) a_j of every row of X (n, p), (n,) uint64; factors a (p,).

        If this returns None, `tables.order.hashes_of` computes the same.
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
        """Grow one tree.

        Splits maximise the score of the children's sums of `statistics`. Then `leaf_statistics` (n, d), or `statistics`
        if they are None, are summed over the leaves; these sums depend neither on the order of the rows nor on how they
        are cut into shards. `rows` and `features` (ascending) restrict what the tree is grown on.
        """

    def apply(self, tree: Tree, X: AnyArray) -> AnyArray:
        """Return the leaf of every row of X (n, p), (n,) int32."""

    def pack(self, forest: ForestArrays) -> PackedForest:
        """Pack trees for prediction."""

    def explain(self, paths: Any, X: AnyArray, leaves: Any, total: Array | None, out: Array) -> None:
        """Write path-dependent Shapley values of the rows of X (n, p) to `out` (n, p, D).

        `paths` has the trees and their kernel (`explain.shapley.Paths`), `leaves` their values (an
        `explain.explained_classes.LeafTable`); if totals (n, D) are given, the values are made to add up to them.
        """

    def add_leaves(self, F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """Add step · values[leaf of i] to F[i] for every row i, in place; F (n, d), values (L, d).

        If F is `Candidates`, the values are a sparse array.
        """

    def row_loss(self, problem: RowProblem | BlockProblem) -> RowLoss:
        """Return the evaluator of a loss on its rows, for a `BlockProblem` a `BlockLoss`."""

    def softmax(self, F: AnyArray, Y: AnyArray | None, out: Array) -> None:
        """Write the softmax of 2U = F Yᵀ to `out` (n, K); Y is None for canonical codewords."""

    def times(self, A: AnyArray, M: AnyArray, factor: float = 1.0, out: AnyArray | None = None) -> AnyArray:
        """Return factor · A M, (n, K), for rows A (n, m) and a matrix M (m, K), in the precision of A.

        Each entry is a sum in the order of M's rows: a row's result does not depend on how many rows there are.
        """

    def check_memory(self, size: FitSize) -> float:
        """Return the bytes that a fit needs on a device, 0 without one; raise if the device has less."""
        return 0.0  # `parts.optimizers.forecast` forecasts the memory of the host


class Rows(Protocol):
    """Where the rows are, and what concerns all of them.

    Perhaps only some of all rows are in this process: those of one machine of a group. Rows are chosen by their numbers
    among all rows, and a decision that looks at all rows is made in one place and made known to all.

    Attributes
    ----------
    is_spread : whether other processes have some of the rows
    """

    is_spread: ClassVar[bool] = False

    def total(self, values: Array) -> Any:
        """Return the sum of values (n,), or the sums (m,) of the columns of values (n, m), over all rows.

        A sum depends neither on the order of the rows nor on how they are cut into shards.
        """

    def total_size(self, vectors: Array) -> float:
        """Return Σ‖v‖ over the rows of vectors (n, s), added in the same way."""
        return self.total(row_sizes(vectors))

    def largest(self, values: AnyArray) -> float:
        """Return the largest of the values of all rows; −inf without any."""
        return float(values.max()) if values.size else -np.inf

    def every(self, mask: AnyArray) -> bool:
        """Tell whether the mask is true for all rows."""
        return bool(np.all(mask))

    def count(self, n: int) -> int:
        """Return the number of all rows, given the number n of those in this process."""
        return n

    def find(self, rows: AnyArray) -> AnyArray:
        """Return which of some rows (ascending) are in this process, by their numbers in it."""
        return rows

    def subset(self, rows: AnyArray) -> Rows:
        """Return some of the rows (ascending) as all rows."""
        return self

    def reorder(self, compute: Callable[[], AnyArray]) -> tuple[AnyArray, Rows]:
        """Return the rows of this process (n,) in another order, and the `Rows` in that order.

        The function, called in one place, returns the new order of all rows: which is the first, the second, ….
        """
        return compute(), self

    def gather(self, values: AnyArray) -> AnyArray:
        """Return the values of all rows in the place where `decide` decides, given those of this process.

        In other places the result is empty.
        """
        return values

    def decide(self, compute: Callable[[], Any]) -> Any:
        """Return what a function returns, which is called in one place."""
        return compute()


class Device(Protocol):
    """The memory that an engine computes in, and arrays in it.

    Attributes
    ----------
    is_host : whether it is the memory of the host
    """

    is_host: ClassVar[bool] = True

    def to_host(self, values: Any) -> Any:
        """Return an array in the memory of the host: the array itself, unless it is on the device."""
        return values

    def to_device(self, X: AnyArray, d: int) -> Any:
        """Copy rows X (n, p) to the device, where trees are then added to their F (n, d) one after another.

        Returns None if they stay where they are.
        """
        return None

    def adopt(self, values: Any) -> Any:
        """Return an array that another library has on the device as one of the engine; None for everything else."""
        return None

    def argsort(self, keys: AnyArray) -> AnyArray:
        """Return the order (n,) in which keys (n,) uint64 of the host ascend."""
        return np.argsort(keys)

    def postpone(self, work: Callable[[], Any]) -> bool:
        """Postpone some work until the device is busy with the next tree; return False if there is no device.

        Nothing may depend on when the function is called, or whether it is.
        """
        return False


@dataclass(frozen=True)
class Engine:
    """The computations of a fit or a prediction, with the rows and the memory that they work on.

    Attributes
    ----------
    compute : the computations
    rows : where the rows are; those of `compute`
    device : the memory in which it computes
    """

    compute: Compute
    device: Device = field(repr=False)
    rows: Rows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.compute.rows)

    def with_rows(self, rows: Rows) -> Engine:
        """Return the engine for other rows."""
        return self if rows is self.rows else Engine(replace(self.compute, rows=rows), self.device)  # type: ignore


def row_sizes(vectors: Array) -> Array:
    """Return ‖v‖ of every row of vectors (n, s), (n,)."""
    return np.abs(vectors[:, 0]) if vectors.shape[1] == 1 else np.linalg.norm(vectors, axis=1)
