"""Defines the hypotheses h(X) (n, d) that weak learners return, which never change once they are made."""

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
    """A weak hypothesis."""

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        """Compute h(X), (n, d)."""


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """A tree with a vector in each leaf: values (L, d) in single or double precision, sparse if most are zero."""

    tree: Tree
    values: Any

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        outputs = self.values[engine.compute.apply(self.tree, X)]
        return outputs.toarray() if issparse(outputs) else outputs


class PendingTree(TreeHypothesis):
    """A `TreeHypothesis` that a device is still computing: the tree with its leaf values, sparse if most are zero.

    It is for the time of the fit only: `AdditiveModel.materialise` puts what was made in its place.
    """

    def __init__(self, grown: Grown, values: LateValues, sparse: bool) -> None:
        self.__dict__["_parts"] = grown, values, sparse

    @cached
    def made(self) -> TreeHypothesis:
        """The tree, once it is computed."""
        grown, values, sparse = self.__dict__.pop("_parts")
        if not sparse:
            return TreeHypothesis(grown.tree, np.asarray(values))
        return TreeHypothesis(grown.tree, values.sparse if values.sparse is not None else sparse_values(values))

    def maker(self) -> Callable[[], None]:
        """Return a function that makes the tree unless it is gone: postponed work keeps no interrupted fit alive."""
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
    """Return leaf values (L, d) as a sparse array; ``csr_array(values)`` takes five times as long."""
    filled = values != 0
    at, ends = np.flatnonzero(filled), np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(filled.sum(axis=1, dtype=np.int32), out=ends[1:])
    columns = (at % values.shape[1]).astype(np.int32)
    return csr_array((values.reshape(-1)[at], columns, ends), shape=values.shape)


@dataclass(frozen=True, eq=False)
class LeafOutputs:
    """A tree's outputs on the training rows in compact form: values (L, d), maybe `LateValues`, and leaves of rows."""

    values: Any
    leaf_of_row: AnyArray
    engine: Engine = CPU

    def dense(self) -> Array:
        """Return the outputs, (n, d)."""
        return np.asarray(self.values)[self.engine.device.to_host(self.leaf_of_row)]


MOST = float(np.finfo(np.float64).max)
FARTHEST = 1e100  # a line goes no further, so that sums of lines are finite for any x


@dataclass(frozen=True, eq=False)
class LinearHypothesis:
    """h(x) = slope · (x_f − centre) + intercept on one feature f; a missing value counts as the centre."""

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
    """Any fitted scikit-learn classifier on labels 0 .. K−1; its answer k becomes the codeword Y[k]."""

    estimator: Any
    Y: Array  # (K, d)

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            return self.Y[self.estimator.predict(X)]


@dataclass(frozen=True, eq=False)
class RegressorHypothesis:
    """Any fitted scikit-learn regressor with d outputs."""

    estimator: Any
    d: int

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        with name_in_errors(f"learner: {type(self.estimator).__name__}"):
            outputs = np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(X.shape[0], self.d)
        return np.clip(outputs, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class SpreadHypothesis:
    """A scalar hypothesis along a direction: h(x) · direction (d,)."""

    scalar: Any
    direction: Array

    def outputs(self, X: AnyArray, engine: Engine = CPU) -> Array:
        return self.scalar.outputs(X, engine) * self.direction


def spread(h: Hypothesis, direction: Array) -> Hypothesis:
    """Spread a scalar hypothesis along a direction (d,); if it has a table of values, only the table changes."""
    if isinstance(h, TreeHypothesis):
        return TreeHypothesis(h.tree, h.values * direction)
    if isinstance(h, LinearHypothesis):
        return LinearHypothesis(h.feature, h.centre, h.slope * direction, h.intercept * direction)
    if isinstance(h, ClassifierHypothesis):
        return ClassifierHypothesis(h.estimator, h.Y * direction)
    return SpreadHypothesis(h, direction)


def direction(h: Any) -> Array:
    """Return the direction (d,) that a hypothesis was spread along, up to a factor."""
    if isinstance(h, TreeHypothesis | ClassifierHypothesis):
        table = h.values if isinstance(h, TreeHypothesis) else h.Y
    elif isinstance(h, LinearHypothesis):
        table = np.stack([h.slope, h.intercept])
    else:
        table = h.direction[None]
    return table[np.abs(table).sum(axis=1).argmax()]


def largest(h: Any, outputs: Array | LeafOutputs) -> float:
    """Bound the absolute values of h on rows where it has these outputs; NaN if one of them is NaN.

    For a hypothesis with a table of leaf values (L, d) only the table is read, not the rows.
    """
    table: Any = outputs.values if isinstance(outputs, LeafOutputs) else outputs
    if isinstance(h, TreeHypothesis | ClassifierHypothesis) and not isinstance(h, PendingTree):
        table = h.values if isinstance(h, TreeHypothesis) else h.Y
    if isinstance(table, LateValues):
        return table.bound
    table = table.data if issparse(table) else table
    return float(np.abs(table).max(initial=0.0))
