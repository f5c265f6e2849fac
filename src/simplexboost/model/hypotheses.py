"""Defines the hypotheses h(X) (n, d) that weak learners return; they never change after they are made."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray, Array
from .._util.compat import cached
from .._util.messages import name_in_errors
from ..engine import CPU, Engine, Grown, LateValues, Tree, column_of


class Hypothesis(Protocol):
    """A weak hypothesis: a function h from rows X (n, p) to outputs (n, d)."""

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """Compute h(X), (n, d), for the rows of X (n, p)."""


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """A tree with a vector in each leaf: leaf values (L, d) in single or double precision, sparse if most are zero."""

    tree: Tree
    values: Any

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        outputs = self.values[engine.compute.apply(self.tree, X)]
        return outputs.toarray() if issparse(outputs) else outputs


class PendingTree(TreeHypothesis):
    """A `TreeHypothesis` that a GPU is still computing.

    It exists only during a fit: `AdditiveModel.materialise` replaces it by the finished `TreeHypothesis`.
    """

    def __init__(self, grown: Grown, values: LateValues, sparse: bool) -> None:
        self.__dict__["_parts"] = grown, values, sparse

    @cached
    def made(self) -> TreeHypothesis:
        """The finished tree; the first access waits for the GPU."""
        grown, values, sparse = self.__dict__.pop("_parts")
        if not sparse:
            return TreeHypothesis(grown.tree, np.asarray(values))
        return TreeHypothesis(grown.tree, values.sparse if values.sparse is not None else sparse_values(values))

    def maker(self) -> Callable[[], None]:
        """Return a function that finishes the tree if it still exists; the function keeps only a weak reference."""
        known = weakref.ref(self)

        def make() -> None:
            pending = known()
            if pending is not None:
                pending.made  # noqa: B018

        return make

    tree = property(lambda self: self.made.tree)
    values = property(lambda self: self.made.values)

    def __reduce__(self) -> Any:
        return TreeHypothesis, (self.tree, self.values)


def sparse_values(values: AnyArray) -> Any:
    """Return leaf values (L, d) as a sparse array; this takes a fifth of the time of ``csr_array(values)``."""
    filled = values != 0
    at, ends = np.flatnonzero(filled), np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(filled.sum(axis=1, dtype=np.int32), out=ends[1:])
    columns = (at % values.shape[1]).astype(np.int32)
    return csr_array((values.reshape(-1)[at], columns, ends), shape=values.shape)


@dataclass(frozen=True, eq=False)
class LeafOutputs:
    """A tree's outputs on the training rows in compact form: the leaf values (L, d) and the leaf index of every row."""

    values: Any
    leaf_of_row: AnyArray
    engine: Engine = CPU

    def dense(self) -> Array:
        """Return the outputs of all training rows as an array (n, d)."""
        return np.asarray(self.values)[self.engine.device.to_host(self.leaf_of_row)]


MOST = float(np.finfo(np.float64).max)
FARTHEST = 1e100  # a line goes no further, so that sums of lines are finite for any x


@dataclass(frozen=True, eq=False)
class LinearHypothesis:
    """A line in one feature f: h(x) = slope · (x_f − centre) + intercept; a missing value counts as the centre."""

    feature: int
    centre: float
    slope: Array  # (d,)
    intercept: Array  # (d,)

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        x = column_of(X, self.feature).astype(np.float64)
        with np.errstate(over="ignore"):
            x = np.clip(np.where(np.isnan(x), 0.0, x - self.centre), -MOST, MOST)
            return np.clip(x[:, None] * self.slope + self.intercept, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class ClassifierHypothesis:
    """A fitted scikit-learn classifier of class indices 0 .. K−1; for predicted class k the output is Y[k] (d,)."""

    estimator: Any
    Y: Array  # (K, d)

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            return self.Y[self.estimator.predict(X)]


@dataclass(frozen=True, eq=False)
class RegressorHypothesis:
    """A fitted scikit-learn regressor with d outputs, as a weak hypothesis."""

    estimator: Any
    d: int

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            outputs = np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(X.shape[0], self.d)
        return np.clip(outputs, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class SpreadHypothesis:
    """A scalar hypothesis h times a fixed vector: its outputs are h(x) · direction (d,)."""

    scalar: Any
    direction: Array

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        return self.scalar.outputs(X, engine) * self.direction


def spread(h: Hypothesis, direction: Array) -> Hypothesis:
    """Return the hypothesis h(x) · direction (d,) for a scalar hypothesis h; trees and lines keep their type."""
    if isinstance(h, TreeHypothesis):
        return TreeHypothesis(h.tree, h.values * direction)
    if isinstance(h, LinearHypothesis):
        return LinearHypothesis(h.feature, h.centre, h.slope * direction, h.intercept * direction)
    if isinstance(h, ClassifierHypothesis):
        return ClassifierHypothesis(h.estimator, h.Y * direction)
    return SpreadHypothesis(h, direction)


def direction(h: Any) -> Array:
    """Return the vector (d,), up to a factor, by which `spread` multiplied a scalar hypothesis."""
    if isinstance(h, TreeHypothesis | ClassifierHypothesis):
        table = h.values if isinstance(h, TreeHypothesis) else h.Y
    elif isinstance(h, LinearHypothesis):
        table = np.stack([h.slope, h.intercept])
    else:
        table = h.direction[None]
    return table[np.abs(table).sum(axis=1).argmax()]


def largest(h: Any, outputs: Array | LeafOutputs) -> float:
    """Return an upper bound on |h(x)| over some rows, given the ``outputs`` of h on them; NaN if an output is NaN.

    If h has a table of leaf values (L, d) or codewords (K, d), the bound is the table's largest absolute value.
    """
    table: Any = outputs.values if isinstance(outputs, LeafOutputs) else outputs
    if isinstance(h, TreeHypothesis | ClassifierHypothesis) and not isinstance(h, PendingTree):
        table = h.values if isinstance(h, TreeHypothesis) else h.Y
    if isinstance(table, LateValues):
        return table.bound
    table = table.data if issparse(table) else table
    return float(np.abs(table).max(initial=0.0))
