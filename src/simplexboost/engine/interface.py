"""What an engine is: the protocol `Engine`, what it is asked, and what it answers.

An engine is a value: `TrainingSet` carries one, and learners, losses, the model and the flagship ask it for everything
that is heavy. `cpu` is compiled, `reference` its twin in plain NumPy, `sharded` adds up the parts of several shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import AnyArray, Array, Labels
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


# ---- what is asked --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dense:
    """m statistics a row."""

    values: Array  # (n, m)

    @property
    def m(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False)
class OneHot:
    """Sparse statistics: row i has ``weight[i]`` in column ``classes[i]`` of m, and zeros elsewhere."""

    classes: AnyArray  # (n,)
    weight: Array  # (n,)
    m: int


@dataclass(frozen=True)
class Growth:
    """How a tree is grown: its limits (0 is none), its order, and the engine's precision."""

    max_depth: int = 0
    max_leaf_nodes: int = 0
    min_samples_leaf: int = 1
    best_first: bool = False
    l2_regularization: float = 0.0
    bits: int = 64  # of a histogram lane; 32 for speed
    seed: int = 0  # of the rounding to 32 bits, up or down at random; 0 rounds to nearest
    histogram_memory: int = 2**29  # bytes kept for nodes that wait to be split; beyond, they are counted again
    min_category_count: int = 0  # rows of a node below which a category goes right with the rest; 0: see below
    category_smoothing: float = 10.0  # average rows of the node added to every category before they are ordered

    def category_count(self, n_rows: int) -> int:
        """`min_category_count`; by default one row in a hundred, at least 1 and at most 10.

        Ten rows are what others ask for, too; small tables would have no categories left.
        """
        return self.min_category_count or max(1, min(10, n_rows // 100))


@dataclass(frozen=True, eq=False)
class RowProblem:
    """A loss that is decided row by row from logits 2U = F Yᵀ, and the rows: what `Engine.row_loss` works on.

    With p = softmax(2U) and p_c the probability of the true class, the gradient of a row is the logistic one times
    p_c^a (1 − p_c)^b.

    Attributes
    ----------
    c : (n,) true classes in 0..K−1
    K : the number of classes
    Y : (K, d) float32 codewords, or None for canonical ones, where d = K
    weight : (n,) float32 weights of mean one, or None where all are one
    log_cost : (K, K) float32, joins the logits of true class c (row) and rival k (column), or None
    exponents : (a, b)
    value : the loss as a function of p_c, elementwise
    """

    c: Labels
    K: int
    Y: AnyArray | None
    weight: AnyArray | None
    log_cost: AnyArray | None
    exponents: tuple[int, int]
    value: Callable[[Array], Array]


@dataclass(frozen=True)
class LeafRule:
    """How Newton's steps in the leaves are made.

    Attributes
    ----------
    l2_regularization : added to every curvature
    max_step : the furthest that a leaf moves the score of a class
    thin : values of a leaf, less their median, below this part of its largest become zero; 0 keeps all
    """

    l2_regularization: float = 0.0
    max_step: float = np.inf
    thin: float = 0.0


@dataclass(frozen=True, eq=False)
class ForestArrays:
    """Trees one after another in flat arrays.

    Attributes
    ----------
    trees : the trees
    values : per tree its leaf values (L, d) or (L, 1), arrays or sparse arrays, single or double precision
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


# ---- what answers ---------------------------------------------------------------------------------------------------


class PackedForest(Protocol):
    """Trees ready for prediction."""

    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None:
        """F (n, d) += the trees' values at X (n, p), tree after tree, in place."""


class RowLoss(Protocol):
    """A `RowProblem` at work: a pass over the rows for the sketch, another for the leaves."""

    def pull(self, F: AnyArray, Z: AnyArray) -> Array:
        """The sketched gradient and, last, the curvature along the sketch at F (n, d), (n, s + 1).

        Z (K, s) are the codewords along the sketch's directions. The array is used again by the next call.
        """

    def leaves(
        self, F: AnyArray, leaf_of_row: AnyArray, rows: AnyArray | None, n_leaves: int, rule: LeafRule
    ) -> AnyArray:
        """Newton's steps in the leaves, (L, d) float32, at the F of the last pull; from `rows` (ascending) alone."""

    def risk(self) -> float:
        """The mean weighted loss at the F of the last pull."""


class Engine(Protocol):
    """What every engine can do."""

    @property
    def n_threads(self) -> int:
        """How many threads it works on."""

    def bin(self, X: AnyArray, max_bins: int = 255, categorical: AnyArray | None = None) -> BinnedData:
        """X (n, p), float32 or float64 with NaN for missing values, as codes.

        Columns in the mask ``categorical`` (p,) hold categories 0, 1, … below 254, in no order.
        """

    def grow(
        self,
        data: BinnedData,
        statistics: Dense | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array | None = None,
        rows: AnyArray | None = None,
        features: AnyArray | None = None,
    ) -> Grown:
        """Grow one tree.

        Splits maximise the score of the children's sums of `statistics`; `leaf_statistics` (n, d), or where they are
        None the statistics themselves, are summed over the leaves, the same whatever the order of the rows or the
        shards they are cut into. `rows` and `features` (ascending) restrict what the tree is grown on.
        """

    def apply(self, tree: Tree, X: AnyArray) -> AnyArray:
        """The leaf of every row of X (n, p), (n,) int32."""

    def pack(self, forest: ForestArrays) -> PackedForest:
        """Trees packed for prediction."""

    def add_leaves(self, F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray) -> None:
        """F[i] += step · values[leaf of i] for every row i, in place; F (n, d), values (L, d)."""

    def row_loss(self, problem: RowProblem) -> RowLoss:
        """The flagship's loss on these rows."""

    def softmax(self, F: AnyArray, Y: AnyArray | None, out: Array) -> None:
        """The soft-max of 2U = F Yᵀ, written to out (n, K); Y is None for canonical codewords."""

    def total(self, values: Array) -> float:
        """Σ values, the same whatever the order of the rows or the shards they are cut into."""

    # What losses of score differences ask: the race of the rivals, exp(rate (U_k − U_c)).

    def race(self, U: Array, c: Labels, rate: float, out: Array | None = None) -> tuple[Array, Array, Array]:
        """``E`` (n, K) = exp(rate (U_k − highest rival)), 0 at the true class; its row sums Z (n,), leads (n,)."""

    def race_along(self, U: Array, c: Labels, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]:
        """The race at U + αW: row sums, leads, and the mean and variance of W among the rivals, (n,) each."""

    def pull_rows(self, E: Array, c: Labels, w: Array, Z: Array) -> None:
        """E (n, K) of a race becomes the residual, in place: −w E / Z, and w at the true class."""

    def vote_sums(self, P: Array, c: Labels, classes: Labels) -> tuple[float, float, float, int]:
        """What votes for `classes` (n,) gain and lose of a residual P (n, K), the total, and the wrong answers."""

    def vote_rows(self, P: Array, c: Labels, classes: Labels, up: float, down: float, own: Array) -> None:
        """The residual P (n, K) and its part of the true class (n,) after votes for `classes`, in place."""
