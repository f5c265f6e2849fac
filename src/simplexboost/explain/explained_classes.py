"""The classes that are explained, and the leaf values of a model for them: F M (n, D), where F (n, d) is the predictor.

For the logits of some classes M holds their codewords as columns, for the log-odds of two classes their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..engine.cpu.forest import starts
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.labels import class_numbers


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some classes of a model.

    Attributes
    ----------
    numbers : (D,) their positions in ``classes_``
    single : whether the user named one class and not a list
    present : (D,) which of them had training examples
    rows : the rows of the codewords Y that belong to those
    """

    numbers: Labels
    single: bool
    present: Mask
    rows: Labels


def choose_classes(classes: Any, known: AnyArray, present: Mask) -> Chosen:
    """The classes with these labels, all of them if None; ``known`` (K,) are those of the model."""
    numbers = np.arange(len(known)) if classes is None else class_numbers(classes, known)
    single = classes is not None and np.ndim(classes) == 0
    here = present[numbers]
    return Chosen(numbers, single, here, (np.cumsum(present) - 1)[numbers[here]])


def check_not_merged(estimator: Any) -> None:
    """Raise if classes of the estimator were merged: then the score of a class is no sum over trees."""
    if getattr(estimator, "merged_", None) is not None:
        raise ValueError(
            "the score of a merged class is no sum over trees, so that trees do not explain it; explain the model as "
            "it was before merge_classes."
        )


class LeafTable(NamedTuple):
    """The values of all leaves, tree after tree, as the kernel takes them: in the precision of predictions.

    Attributes
    ----------
    values : (leaves * D,) or, if most are zero, those that are not
    columns : their columns, or None
    start : (leaves + 1,) where the values of a leaf begin, or None
    """

    values: Array
    columns: AnyArray | None
    start: AnyArray | None


def tree_terms(model: AdditiveModel) -> list[Term]:
    """The terms of a model that are trees, their steps multiplied by the temperature."""
    return [term for term in model.scaled_terms if isinstance(term.hypothesis, TreeHypothesis)]


def scaled_values(term: Term, dtype: Any) -> Any:
    """What a tree adds to F in its leaves, (L, d) or (L, 1), with the rounding of predictions."""
    values = term.hypothesis.values  # type: ignore[attr-defined]
    values = csr_array(values) if issparse(values) else values.reshape(-1, values.shape[-1])
    return values.astype(dtype) * np.dtype(dtype).type(term.step)


def leaf_table(model: AdditiveModel, M: Array) -> LeafTable:
    """The leaves of a model's trees times M (d, D)."""
    terms, chosen = tree_terms(model), chosen_rows(M)
    if chosen is None:
        outputs = [leaf_outputs(t, M, model.dtype).ravel() for t in terms]
        return LeafTable(np.concatenate(outputs).astype(model.dtype), None, None)
    values = [scaled_values(t, model.dtype) for t in terms]
    if not any(issparse(v) or t.coordinate is not None for v, t in zip(values, terms, strict=True)):
        return LeafTable(np.concatenate([v[:, chosen].ravel() for v in values]), None, None)
    parts = [some_columns(v, t.coordinate, chosen, len(M)) for v, t in zip(values, terms, strict=True)]
    return LeafTable(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]).astype(np.int32),
        starts(np.concatenate([np.diff(part.indptr) for part in parts])),
    )


def leaf_outputs(term: Term, M: Array, dtype: Any) -> Array:
    """What a tree adds to F M in its leaves, (L, D)."""
    values = scaled_values(term, dtype).astype(np.float64)
    return np.asarray(values @ (M if term.coordinate is None else M[[term.coordinate]]))


def chosen_rows(M: Array) -> AnyArray | None:
    """The coordinates of F that the columns of M (d, D) pick out; None if they do more than that."""
    rows = np.abs(M).argmax(axis=0)
    picks = (M != 0).sum(axis=0) == 1
    return rows if picks.all() and (M[rows, np.arange(M.shape[1])] == 1).all() else None


def some_columns(values: Any, coordinate: int | None, chosen: AnyArray, d: int) -> Any:
    """Columns of the values of a tree, (L, len(chosen)) sparse."""
    values = csr_array(values)
    if coordinate is not None:  # one column, which belongs at this place
        data, indices = values.data, np.full(values.nnz, coordinate)
        values = csr_array((data, indices, values.indptr), shape=(values.shape[0], d))
    return csr_array(values[:, chosen])
