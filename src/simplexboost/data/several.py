"""y as a matrix: an indicator matrix of labels, or a class of each of several targets → numbered sets of columns.

Both become rows of zeros and ones (n, K): the labels of a row, or its class of every target among the classes of all
targets, one target after the other. `LabelSets` numbers the different rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import AnyArray, Mask
from .inputs import check_no_label_is_missing
from .labels import check_are_classes, kind_of_target, label_numbers, of_one_kind


def is_matrix(y: Any) -> bool:
    """Whether y has several columns."""
    return np.ndim(y) == 2 and y.shape[1] > 1


def is_indicator(y: Any) -> bool:
    """Whether a matrix holds zeros and ones only, as scikit-learn's ``type_of_target`` says "multilabel-indicator".

    That also calls matrices of two other numbers so, which are class targets here.

    Examples
    --------
    >>> is_indicator(np.array([[0, 1], [1, 1]])), is_indicator(np.array([[1, 2], [2, 2]]))
    (True, False)
    """
    if not issparse(y) and np.asarray(y).dtype.kind not in "biuf":
        return False
    if kind_of_target(y) != "multilabel-indicator":
        return False
    return bool(np.isin(y.data if issparse(y) else y, (0, 1)).all())


def target_columns(y: Any) -> list[AnyArray]:
    """The columns of a matrix of class targets, each with labels that can be compared, (n,) each."""
    table = np.asarray(y.toarray() if issparse(y) else y)
    return [target_column(table[:, t], t) for t in range(table.shape[1])]


def target_column(labels: AnyArray, t: int) -> AnyArray:
    """The labels (n,) of target t, which must be classes, none of them missing."""
    try:
        check_no_label_is_missing(labels)
        column = of_one_kind(labels)
        check_are_classes(column)
    except ValueError as error:
        raise ValueError(f"column {t} of y is refused: {error}") from error
    return column


def indicator(columns: Sequence[AnyArray], classes: Sequence[AnyArray]) -> tuple[Mask, Mask]:
    """Rows of zeros and ones (n, K), the class of every target; and which rows have known classes only (n,).

    Examples
    --------
    >>> columns, classes = [np.array(["a", "b", "?"]), np.array([5, 5, 7])], [np.array(["a", "b"]), np.array([5, 7])]
    >>> Z, known = indicator(columns, classes)
    >>> Z.astype(int), known
    (array([[1, 0, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 1]]), array([ True,  True, False]))
    """
    numbers = [label_numbers(column, labels) for column, labels in zip(columns, classes, strict=True)]
    blocks = [c[:, None] == np.arange(len(labels)) for c, labels in zip(numbers, classes, strict=True)]
    return np.hstack(blocks), np.all([block.any(axis=1) for block in blocks], axis=0)


def check_some_classes(classes: Sequence[AnyArray], left_out: bool) -> None:
    """Raise if every target has one class only; ``left_out`` says whether there were rows of zero weight."""
    if max(map(len, classes)) < 2:
        found = ", ".join(repr(labels.tolist()[0]) for labels in classes[:5])
        without = ", after leaving out rows of zero sample_weight" if left_out else ""
        raise ValueError(
            f"y has examples of one class only in every column ({found}{without}); at least one target needs two "
            "classes."
        )


def check_target_weights(class_weight: Any, T: int) -> None:
    """Raise if class weights of several targets are one dict."""
    if isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight={class_weight!r} is one dict; for {T} targets pass a list of {T} dicts, 'balanced' or None."
        )
