"""Turns class scores U (n, K) into labels, probabilities and the output of ``decision_function``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from ..parts.losses import Loss

TINY = float(np.finfo(np.float64).tiny)
ABSENT = 30.0  # a class without training examples scores this far below every other
TIED = 1e-6  # scores that differ by no more than this part of the largest one are tied: so much may be rounding


@dataclass(frozen=True, eq=False)
class OneLabel:
    """The decision rule for one label per row: the class with the highest score or, if ``order`` is given, the median.

    Of tied classes the first is predicted. The median class has the smallest expected absolute error. It is the lowest
    class such that it and all lower classes together have at least half of the probability.
    """

    loss: Loss
    classes: AnyArray  # (K,) the labels
    present: Any  # (K,) which of them had training examples
    # Whether tied scores are equal bit for bit, as those of canonical codewords are; other scores are products with
    # codewords, and which of several tied ones comes out ahead is a matter of rounding.
    exact: bool = field(default=False, kw_only=True)
    order: Labels | None = field(default=None, kw_only=True)  # (K,) the classes from the lowest to the highest

    @property
    def by_score(self) -> bool:
        """Whether the predicted labels follow from scores alone; otherwise probabilities are needed."""
        return self.order is None

    def labels(self, U: Array) -> AnyArray:
        """Return the predicted label of every row, (n,), from the class scores U (n, K)."""
        return self.classes.take(self.best(U))

    def best(self, U: Array) -> Labels:
        """Return the index of the predicted class of every row, (n,), from the class scores U (n, K)."""
        return self._chosen(U if self.order is None else self.probabilities(U))

    def of_probabilities(self, P: Array) -> AnyArray:
        """Return the predicted label of every row, (n,), from the probabilities P (n, K)."""
        return self.classes.take(self._chosen(P))

    def _chosen(self, values: Array) -> Labels:
        """Return each row's class index (n,): the class of largest value, or the median class if there is an order."""
        if self.order is not None:
            return median_class(values, self.order)
        if self.exact:
            return values.argmax(axis=1)
        return np.flatnonzero(self.present).take(first_of_best(values[:, self.present]))

    def decision(self, U: Array) -> Array:
        """Return the output of ``decision_function``: the scores (n, K), or for two classes their difference (n,)."""
        return as_decision(U)

    def probabilities(self, U: Array) -> Array:
        """Return probabilities (n, K) from the class scores U (n, K); 0 for classes without training rows."""
        present = self.present
        if present.all():
            return not_zero(self.loss.probabilities(U))
        known = not_zero(self.loss.probabilities(U[:, present])) if present.sum() > 1 else np.ones((len(U), 1))
        return of_present(known, present)


def first_of_best(U: Array) -> Labels:
    """Return the first index with the largest score in every row of U (n, K); scores equal up to rounding are tied.

    Exported models use the same rule, because their scores are rounded differently.

    >>> first_of_best(np.array([[0.1, 0.3, 0.3 + 1e-9], [0.1, 0.3, 0.3001]]))
    array([1, 2])
    """
    tied = TIED * np.abs(U).max(axis=1, keepdims=True)
    return (U >= U.max(axis=1, keepdims=True) - tied).argmax(axis=1)


def median_class(P: Array, order: Labels) -> Labels:
    """Return the index of the median class in every row of probabilities P (n, K), (n,); of two medians the lower.

    ``order`` has the class indices from lowest to highest. Sums equal to one half up to rounding count as one half.
    """
    up_to = np.cumsum(P[:, order], axis=1)  # (n, K)
    return order[(2.0 * up_to >= (1.0 - TIED) * up_to[:, -1:]).argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class SeveralLabels:
    """The decision rule for several labels per row: every label whose score exceeds ⟨w, U⟩ + b (w, b are fitted)."""

    loss: Loss
    threshold: Array  # (K + 1,), w and b

    by_score: ClassVar[bool] = True

    def labels(self, U: Array) -> AnyArray:
        return (self.decision(U) > 0).astype(np.int64)

    def of_probabilities(self, P: Array) -> AnyArray:
        return (P > 0.5).astype(np.int64)

    def decision(self, U: Array) -> Array:
        return U - (np.einsum("nk,k->n", U, self.threshold[:-1]) + self.threshold[-1])[:, None]

    def probabilities(self, U: Array) -> Array:
        return self.loss.probabilities(self.decision(U))


class LabelsOfTheirOwn(SeveralLabels):
    """The decision rule for several labels per row: `SeveralLabels` with a probability threshold per label."""

    def of_probabilities(self, P: Array) -> AnyArray:
        return (P > self.threshold).astype(np.int64)

    def decision(self, U: Array) -> Array:
        return U - 0.5 * np.log(self.threshold / (1.0 - self.threshold))

    def probabilities(self, U: Array) -> Array:
        return self.loss.probabilities(U)


@dataclass(frozen=True, eq=False)
class SeveralTargets:
    """The decision rule for several class targets: the best class of each target, whose scores are adjacent columns."""

    loss: Loss
    classes: list[AnyArray]

    by_score: ClassVar[bool] = True

    def cut(self, columns: Array) -> list[Array]:
        """Split an array (n, K), with a column for every class of every target, into one array per target."""
        return np.split(columns, np.cumsum([len(labels) for labels in self.classes])[:-1], axis=1)

    def labels(self, U: Array) -> AnyArray:
        best = [k.take(u.argmax(axis=1)) for k, u in zip(self.classes, self.cut(U), strict=True)]
        if len({labels.dtype.kind for labels in best}) == 1:
            return np.column_stack(best)
        table = np.empty((len(U), len(best)), dtype=object)
        for t, labels in enumerate(best):
            table[:, t] = labels.tolist()
        return table

    def of_probabilities(self, P: Array) -> AnyArray:
        return self.labels(P)

    def decision(self, U: Array) -> Any:
        return [as_decision(u) for u in self.cut(U)]

    def probabilities(self, U: Array) -> Array:
        return not_zero(self.loss.probabilities(U))


# How class scores (n, K) become predictions.
Decision = OneLabel | SeveralLabels | SeveralTargets


def all_classes(U: Array, present: Any) -> Array:
    """Return scores (n, K) from those of the classes in the mask ``present``; absent classes get much lower scores."""
    if present.all():
        return U
    scores = np.repeat(U.min(axis=1, keepdims=True) - ABSENT, len(present), axis=1)  # (n, K)
    scores[:, present] = U
    return scores


def merge_scores(U: Array, merged: Labels | None) -> Array:
    """Return the scores of merged classes from the scores U (n, K): ½ log Σ exp(2U) over the classes merged into one.

    ``merged`` (K,) has for each class the index of its merged class; None means that no classes are merged. The
    soft-max of the result has the sums of the probabilities. A class that is merged with no other keeps its scores bit
    for bit.

    >>> U = np.log([[0.5, 0.2, 0.3]]) / 2
    >>> np.exp(2 * merge_scores(U, np.array([0, 1, 0]))).round(6)
    array([[0.8, 0.2]])
    """
    if merged is None:
        return U
    out = np.empty((len(U), int(merged.max()) + 1))
    for k in range(out.shape[1]):
        of_class = U[:, merged == k]
        out[:, k] = of_class[:, 0] if of_class.shape[1] == 1 else 0.5 * np.logaddexp.reduce(2.0 * of_class, axis=1)
    return out


def merge_sums(P: Array, merged: Labels | None) -> Array:
    """Return probabilities of merged classes: the sums of P (n, K) over classes with the same index in ``merged`` (K,).

    >>> merge_sums(np.array([[0.5, 0.25, 0.25]]), np.array([0, 1, 0]))
    array([[0.75, 0.25]])
    """
    if merged is None:
        return P
    order = np.argsort(merged, kind="stable")
    begins = np.searchsorted(merged[order], np.arange(int(merged.max()) + 1))
    sums: Array = np.add.reduceat(P[:, order], begins, axis=1)
    return sums


def not_zero(P: Array) -> Array:
    """Replace probabilities of zero, in place, by the smallest positive number, so that they have a logarithm."""
    return np.maximum(P, TINY, out=P)


def of_present(P: Array, present: Any) -> Array:
    """Return probabilities (n, K) from those of the classes in the mask ``present``; absent classes get 0."""
    out = np.zeros((len(P), len(present)))
    out[:, present] = P
    return out


def as_decision(U: Array) -> Array:
    """Return scores (n, K) as ``decision_function`` does: for two classes their difference U₁ − U₀ (n,)."""
    return U[:, 1] - U[:, 0] if U.shape[1] == 2 else U
