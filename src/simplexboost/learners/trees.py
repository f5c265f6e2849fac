"""Trees of the compiled engine, and the kinds whose leaves follow the gradient: `VectorTree`, `NewtonTree` and kin."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import engine
from .._parts import check_choice, check_number
from .._typing import Array
from ..boosting.hypotheses import LeafOutputs, TreeHypothesis
from ..data.validation import TrainingSet
from .base import Answer, Learner, Request

# Up to this many values exact histograms cost next to nothing; beyond, lanes of 32 bits are half the memory traffic.
SMALL = 300_000


@dataclass(eq=False, repr=False)
class TreeLearner(Learner):
    """Trees of the compiled engine.

    Parameters
    ----------
    max_depth : int or None, default=2
        Splits on the longest path from the root; None for no limit.
    max_leaves : int, str or None, default=None
        Leaves at most; None for no limit. A string like ``"12(K-1)"`` is a number that grows with the classes.
    min_samples_leaf : int, default=1
        Training rows of positive weight in every leaf.
    growth : {"level", "best"}, default="level"
        Split the oldest node first, or the one that gains most.
    """

    max_depth: int | None = 2
    max_leaves: int | str | None = None
    min_samples_leaf: int = 1
    growth: str = "level"

    score: ClassVar[str]

    def check(self) -> None:
        """Raise where a limit has no meaning."""
        check_number("max_depth", self.max_depth, int, 1, none=True)
        check_number("max_leaves", self.leaves(2), int, 2, none=True)
        check_number("min_samples_leaf", self.min_samples_leaf, int, 1)
        check_choice("growth", self.growth, ("level", "best"))

    def fit(self, request: Request) -> Answer:
        """Grow a tree and give its leaves values."""
        grown = self.grow(request, *self.statistics(request))
        values = self.leaf_values(grown.tree, grown.leaf_sums, request)  # (L, d)
        return Answer(TreeHypothesis(grown.tree, values), LeafOutputs(values, grown.leaf_of_row, request.data.engine))

    def grow(self, request: Request, statistics: engine.Dense | engine.OneHot, leaf_statistics: Array) -> engine.Grown:
        """A tree for these statistics."""
        return request.data.engine.grow(
            request.data.binned,
            statistics,
            self.score,
            self.options(request.data, request.seed),
            leaf_statistics,
            request.rows,
            request.features,
        )

    @abstractmethod
    def statistics(self, request: Request) -> tuple[engine.Dense | engine.OneHot, Array]:
        """What splits are found with, and what is summed over the leaves."""

    @abstractmethod
    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """Leaf sums (L, m) → leaf values (L, d)."""

    def leaves(self, K: int) -> Any:
        """`max_leaves` for K classes."""
        budget = re.fullmatch(r"(\d+)\(K-1\)", self.max_leaves) if isinstance(self.max_leaves, str) else None
        return self.max_leaves if budget is None else max(2, int(budget[1]) * (K - 1))

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return engine.Growth(
            max_depth=self.max_depth or 0,
            max_leaf_nodes=self.leaves(data.K) or 0,
            min_samples_leaf=self.min_samples_leaf,
            best_first=self.growth == "best",
            seed=seed,
        )


def nearest_sums(tree: engine.Tree, sums: Array) -> Array:
    """Leaf sums, where a leaf that sums to zero takes those of its nearest ancestor that does not."""
    if sums.any(axis=1).all():
        return sums
    all_sums = tree.node_sums(sums)  # (N, m)
    for node in reversed(tree.children_first()):
        for child in tree.nodes["left"][node] + np.arange(2):
            if not all_sums[child].any():
                all_sums[child] = all_sums[node]
    is_leaf = tree.nodes["feature"] < 0
    return all_sums[is_leaf][np.argsort(tree.nodes["left"][is_leaf])]


@dataclass(eq=False, repr=False)
class VectorTree(TreeLearner):
    """Leaves are unit vectors: the leaf ΣG / ‖ΣG‖, the node score ‖ΣG‖. With one coordinate, ±1.

    Examples
    --------
    >>> VectorTree(max_depth=3).get_params()["max_depth"]
    3
    """

    score: ClassVar[str] = "norm"

    def statistics(self, request: Request) -> tuple[engine.Dense, Array]:
        """The gradient."""
        return engine.Dense(request.G), request.G

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / ‖ΣG‖."""
        sums = nearest_sums(tree, sums)
        largest = np.abs(sums).max(axis=1, keepdims=True)
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)  # squares cannot overflow now
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)


@dataclass(eq=False, repr=False)
class Stump(VectorTree):
    """One split. With one coordinate the two leaves answer ±1, the classical decision stump."""

    max_depth: int | None = 1


@dataclass(eq=False, repr=False)
class NewtonTree(TreeLearner):
    """Real-vector leaves ΣG / (Σh + l2): Newton steps, or least squares where no curvature is asked for.

    Parameters
    ----------
    l2 : float, default=1.0
        Added to every curvature sum.
    """

    l2: float = 1.0

    score: ClassVar[str] = "newton"
    kind: ClassVar[str] = "regression"

    def check(self) -> None:
        """Raise where a limit or l2 has no meaning."""
        super().check()
        check_number("l2", self.l2, float, 0.0)

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return replace(super().options(data, seed), l2_regularization=float(self.l2))

    def statistics(self, request: Request) -> tuple[engine.Dense, Array]:
        """The gradient and the curvature."""
        both = np.column_stack([request.G, request.h])  # (n, d + 1)
        return engine.Dense(both), both

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / (Σh + l2)."""
        h = sums[:, -1:] + self.l2
        return np.divide(sums[:, :-1], h, out=np.zeros_like(sums[:, :-1]), where=h > 0)


@dataclass(eq=False, repr=False)
class RegressionTree(NewtonTree):
    """Least squares: `NewtonTree` whose leaves are plain weighted means, without l2."""

    l2: float = 0.0


@dataclass(eq=False, repr=False)
class SketchTree(NewtonTree):
    """The tree of `SketchedNewton`: best-first, limits that suit the data, fast 32-bit lanes for many rows.

    Parameters
    ----------
    max_leaves : int, "auto" or None, default="auto"
        ``"auto"`` is one leaf for about 128 rows, at least 16 and at most 255.
    min_samples_leaf : int or "auto", default="auto"
        ``"auto"`` is 1 up to 1000 rows and 5 beyond.
    l2 : float or "auto", default="auto"
        ``"auto"`` is 10 / K, and 0.2 from 50 classes on.
    """

    max_depth: int | None = None
    max_leaves: int | str | None = "auto"
    min_samples_leaf: int | str = "auto"  # type: ignore[assignment]
    growth: str = "best"
    l2: float | str = "auto"  # type: ignore[assignment]

    def check(self) -> None:
        """Raise where a limit has no meaning."""
        NewtonTree.check(self.suited(1000, 10))

    def suited(self, n: int, K: int) -> NewtonTree:
        """The same tree with what suits n rows of K classes."""
        leaves = min(max(n // 128, 16), 255) if self.max_leaves == "auto" else self.max_leaves
        least = (1 if n <= 1000 else 5) if self.min_samples_leaf == "auto" else self.min_samples_leaf
        l2 = max(0.2, 10.0 / K) if self.l2 == "auto" else self.l2
        return NewtonTree(self.max_depth, leaves, least, self.growth, l2)

    def options(self, data: TrainingSet, seed: int) -> engine.Growth:
        """How the engine is to grow."""
        return replace(self.suited(data.n, data.K).options(data, seed), bits=64 if data.X.size < SMALL else 32)

    def leaf_values(self, tree: engine.Tree, sums: Array, request: Request) -> Array:
        """ΣG / (Σh + l2)."""
        return self.suited(request.data.n, request.data.K).leaf_values(tree, sums, request)
