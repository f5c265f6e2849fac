"""What an engine is asked: statistics, a node score, limits; what it answers: a `Grown` tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .._typing import AnyArray, Array
from ..binning import BinnedData
from .tree import Grown

# A node score turns the sum of a node's statistics into a number; children that score high make a good split.
SCORES = {
    "newton": 0,  # ‖ΣG‖² / (Σh + l2); columns G and, last, the curvature h
    "norm": 1,  # ‖ΣG‖
    "max": 2,  # max_k ΣV_k
    "sign": 3,  # Σ_k |ΣV_k|
    "entropy": 4,  # Σ_k w_k log w_k − w log w
    "gini": 5,  # Σ_k w_k² / Σ_k w_k
}


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
    max_leaves: int = 0
    min_samples_leaf: int = 1
    best_first: bool = False
    l2: float = 0.0
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


class Grow(Protocol):
    """Grow one tree.

    Splits maximise the score of the children's sums of `statistics`; `leaf_statistics` (n, d) are summed exactly over
    the leaves. `rows` and `features` (ascending) restrict what the tree is grown on.
    """

    def __call__(
        self,
        data: BinnedData,
        statistics: Dense | OneHot,
        score: str,
        growth: Growth,
        leaf_statistics: Array,
        rows: AnyArray | None = None,
        features: AnyArray | None = None,
        n_threads: int = 1,
    ) -> Grown:
        """Grow one tree."""
