"""Defines the kinds of y: one class per row, a set of labels per row, or one class of each of several targets.

Validation creates one of these objects. The training set and the fitted model store it, and all code that depends on
the kind of y uses its methods or attributes.

If y is a matrix, a row is described by K zeros and ones. The ones are the labels of the row, or its classes; for
several targets, the columns are the classes of all targets, one target after another. Each distinct row has an index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.compat import cached
from .labels import check_init_score, indicator, label_numbers, target_columns


class Problem(ABC):
    """The base class of the kinds of y: per row one class, a set of labels, or one class of each target."""

    classes: Any  # (K,) the labels, sorted or as the columns of y are; of several class targets a list of those of each
    present: Any  # (K,) which classes have training examples
    several: ClassVar[str | None] = None  # what a row may have several of, "labels" or "targets"
    yes_or_no: bool = False  # whether every column of scores answers a question of its own with yes or no
    widths: Any = None  # the numbers of classes of several targets

    @property
    def table(self) -> Array | None:
        """The distinct rows of zeros and ones of a matrix y, in the order of their indices; None for other y."""
        return None

    @property
    def class_lists(self) -> Sequence[AnyArray]:
        """The classes of every target: a list with an array per target."""
        return [self.classes]

    @property
    def n_classes(self) -> Any:
        """The number of classes K; with several targets, a list with the number of classes of each target."""
        return len(self.classes)

    @property
    def is_matrix(self) -> bool:
        """Whether y has several columns: a row has a set of labels, or a class of each target."""
        return self.several is not None

    def for_model(self) -> Problem:
        """Return the object for a fitted model to store, without the label combinations of the training rows."""
        return self

    def check_one_class(self, message: str) -> None:
        """Raise ValueError if y is a matrix; "{several}" in the message is replaced by "labels" or "targets"."""
        if self.is_matrix:
            raise ValueError(message.replace("{several}", str(self.several)))

    def check_one_softmax(self, message: str) -> None:
        """Raise TypeError unless one softmax covers all classes; "{several}" is replaced as in `check_one_class`."""
        if self.widths is not None or self.yes_or_no:
            raise TypeError(message.replace("{several}", str(self.several)))

    def read_start(self, init_score: Any, n: int, what: str = "init_score") -> Array:
        """Return a user's ``init_score`` as initial logits 2U (n, K) of the present classes."""
        raise ValueError("init_score takes one label per example, not a matrix y.")

    @abstractmethod
    def read_evaluated(self, y: Any, n: int) -> tuple[AnyArray, Labels, Labels]:
        """Check the y of n evaluation rows; return y, its class indices for metrics, and its training targets (n,).

        If y is a matrix, both are indices of distinct rows. A training target is −1 if the loss is undefined for the
        row.
        """

    def check_some_target(self, some: bool, labels: list[Any]) -> None:  # noqa: B027
        """Raise ValueError if ``some`` is false: no evaluation row has a trained class. Messages show ``labels``."""

    def labels_of(self, c: Labels) -> tuple[AnyArray, Labels]:
        """Return the labels that metrics use for rows with training targets c (n,), and the indices of these labels."""
        return c, c

    def strata(self, c: Labels) -> Labels:
        """Return the stratum (n,) of each row with training targets c (n,), for stratified random splits."""
        return np.zeros_like(c)  # all rows of a matrix y may be different

    @abstractmethod
    def shares(self, weights: Array, extra: float) -> Array:
        """Return class frequencies (K,) from the weight of each training target, smoothed by ``extra`` pseudo-rows."""

    @abstractmethod
    def by_question(self, shares: Array) -> list[Array]:
        """Split class shares (K,) into a probability distribution for each softmax or yes-or-no label of the model."""

    def class_prior(self, weights: Array) -> Array | None:
        """Return all class frequencies (K,) from the weights of the classes with training rows; None for a matrix y."""
        return None

    def by_target(self, columns: Array) -> Any:
        """Split the columns of an array (n, K) into one array per target; return it unchanged without targets."""
        return columns

    def by_column(self, values: Any) -> Any:
        """Return each target's value repeated for the classes of the target, (K,); return a single value unchanged."""
        return values


@dataclass(frozen=True, eq=False)
class OneClass(Problem):
    """The kind of y of ordinary multiclass classification: one of K classes per row."""

    classes: AnyArray  # (K,) the labels, sorted
    present: Mask  # (K,) which classes have training examples; targets number only these

    def read_start(self, init_score: Any, n: int, what: str = "init_score") -> Array:
        return check_init_score(init_score, n, len(self.classes), what)[:, self.present]

    def read_evaluated(self, y: Any, n: int) -> tuple[AnyArray, Labels, Labels]:
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y_val")
        if len(y) != n:
            raise ValueError(f"y_val must hold a label per row of X; it has {len(y)} labels for {n} rows.")
        c = label_numbers(y, self.classes)
        c = np.where(c < 0, len(self.classes), c)  # metrics count rows of other labels as errors, the risk does not
        return y, c, np.append(np.where(self.present, np.cumsum(self.present) - 1, -1), -1)[c]

    def check_some_target(self, some: bool, labels: list[Any]) -> None:
        if not some:  # labels and classes are probably of different kinds
            raise ValueError(
                f"y_val has no label that is trained on (in a row of positive weight): it has labels such as "
                f"{labels}, and the model learns {self.classes[self.present][:5].tolist()}."
            )

    def labels_of(self, c: Labels) -> tuple[AnyArray, Labels]:
        numbers = np.flatnonzero(self.present)[c]
        return self.classes.take(numbers), numbers

    def strata(self, c: Labels) -> Labels:
        return c

    def shares(self, weights: Array, extra: float) -> Array:
        return (weights + extra) / (weights + extra).sum()

    def by_question(self, shares: Array) -> list[Array]:
        return [shares]

    def class_prior(self, weights: Array) -> Array | None:
        prior = np.zeros(len(self.present))
        prior[self.present] = weights / weights.sum()
        return prior


class MatrixProblem(Problem):
    """The base class for a matrix y; each distinct row of zeros and ones gets an index when it first occurs.

    The indices 0 .. K−1 belong to the rows with exactly one 1.
    """

    def for_model(self) -> Problem:
        return replace(self)  # type: ignore[type-var]  # a new object, which has found nothing

    @property
    def K(self) -> int:
        """The number of columns of zeros and ones."""
        return sum(map(len, self.class_lists))

    @property
    def present(self) -> Mask:
        return np.ones(self.K, dtype=bool)

    @cached
    def _numbers(self) -> dict[bytes, int]:
        return {row.tobytes(): k for k, row in enumerate(np.eye(self.K, dtype=bool))}

    def number(self, Z: AnyArray) -> Labels:
        """Return the index (n,) of each row of zeros and ones (n, K); a row that is new gets a new index."""
        rows, inverse = np.unique(np.asarray(Z, dtype=bool), axis=0, return_inverse=True)
        numbers = [self._numbers.setdefault(row.tobytes(), len(self._numbers)) for row in rows]
        return np.array(numbers, dtype=np.intp)[inverse.ravel()]

    @property
    def table(self) -> Array:
        return np.frombuffer(b"".join(self._numbers), dtype=bool).reshape(-1, self.K).astype(np.float64)

    def shares(self, weights: Array, extra: float) -> Array:
        return (weights @ self.table + extra) / (weights.sum() + extra * self.outcomes)

    @property
    @abstractmethod
    def outcomes(self) -> AnyArray:
        """The number of outcomes per column (K,): 2 for a label; for a class of a target, the number of its classes."""


@dataclass(frozen=True, eq=False)
class LabelSets(MatrixProblem):
    """The kind of y with a set of labels per row, given as an indicator matrix.

    Examples
    --------
    >>> sets = LabelSets(np.arange(3))
    >>> sets.number(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]))
    array([3, 1, 3])
    >>> sets.table
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 1.]])
    """

    classes: AnyArray  # (K,) the names of the columns of y
    yes_or_no: bool = False  # whether every label is a question of its own, without a common soft-max

    several: ClassVar[str | None] = "labels"

    def read_evaluated(self, y: Any, n: int) -> tuple[AnyArray, Labels, Labels]:
        y = y.toarray() if issparse(y) else np.asarray(y)
        if y.shape != (n, self.K) or not np.isin(y, (0, 1)).all():
            raise ValueError(f"y_val must be an indicator matrix of shape ({n}, {self.K}); it has {y.shape}.")
        c = self.number(y)
        return y, c, c

    @property
    def outcomes(self) -> AnyArray:
        return np.full(self.K, 2)

    def by_question(self, shares: Array) -> list[Array]:
        return list(np.column_stack([shares, 1 - shares])) if self.yes_or_no else [shares]


@dataclass(frozen=True, eq=False)
class ClassTargets(MatrixProblem):
    """The kind of y with several targets per row, and one class for each target.

    Examples
    --------
    >>> targets = ClassTargets([np.array(["a", "b"]), np.array([1, 2, 3])])
    >>> targets.by_column(np.array([0.5, 2.0]))
    array([0.5, 0.5, 2. , 2. , 2. ])
    """

    classes: list[AnyArray]

    several: ClassVar[str | None] = "targets"

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(map(len, self.classes))

    @property
    def class_lists(self) -> Sequence[AnyArray]:
        return self.classes

    @property
    def n_classes(self) -> Any:
        return list(self.widths)

    def read_evaluated(self, y: Any, n: int) -> tuple[AnyArray, Labels, Labels]:
        y, T = np.asarray(y), len(self.classes)
        if y.shape != (n, T):
            raise ValueError(f"y_val must have a class of each target, ({n}, {T}); it has the shape {y.shape}.")
        Z, known = indicator(target_columns(y), self.classes)
        if not known.any():
            raise ValueError("y_val has no row whose classes are all trained on.")
        c = np.where(known, self.number(Z), -1)
        return y, c, c

    @property
    def outcomes(self) -> AnyArray:
        return np.repeat(self.widths, self.widths)

    def by_question(self, shares: Array) -> list[Array]:
        return np.split(shares, np.cumsum(self.widths)[:-1])

    def by_target(self, columns: Array) -> Any:
        return np.split(columns, np.cumsum(self.widths)[:-1], axis=1)

    def by_column(self, values: Any) -> Any:
        return values if np.ndim(values) == 0 else np.repeat(values, self.widths)


# What a training set or a model has that was made from class numbers, without labels.
ONE_CLASS = OneClass(np.empty(0), np.empty(0, dtype=bool))
