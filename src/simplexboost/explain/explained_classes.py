"""The classes that are explained, and the leaf values of a model for them: F M (n, D), where F (n, d) is the predictor.

For the logits of some classes M holds their codewords as columns, for the log-odds of two classes their difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import SHARED, described
from ..engine.cpu.forest import starts
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.labels import class_numbers

F = TypeVar("F", bound=Callable[..., Any])
EXPLAINED = """\
classes : label, list of labels or None, default=None
    The classes to explain; None means all. For a list the last axis has its order, for one label there is no such axis.
background : rows like X, or None, default=None
    None takes the shares of the training rows that the trees have stored ("path-dependent" values). Otherwise an
    unknown feature is taken from these rows ("interventional" values); some hundred rows will do. The base of the
    values is then the mean logit of these rows, and not `expected_value`.
"""


def documented(function: F) -> F:
    """Complete the docstring of a public function of this folder; a decorator."""
    return described(function, SHARED + EXPLAINED)


def check_booster(clf: Any) -> AdditiveModel:
    """Return the model of a fitted booster; raise if the classifier is none or is not fitted."""
    if not isinstance(getattr(clf, "model_", None), AdditiveModel):
        check_is_fitted(clf)
        raise TypeError(f"{type(clf).__name__} has no rounds; pass a fitted booster, such as SimplexBoostClassifier.")
    return clf.model_


def all_labels(clf: Any) -> AnyArray:
    """Return the classes that can be explained, (K,): with several targets their numbers, one target after another."""
    return np.arange(len(clf.present_)) if clf._problem.several == "targets" else clf.classes_


@dataclass(frozen=True, eq=False)
class ExplainedClasses:
    """Some classes of a fitted booster, whose scores are explained.

    Attributes
    ----------
    clf : the booster
    numbers : (D,) the positions of the classes in ``classes_``
    single : whether the user named one class and not a list
    present : (D,) which of the classes had training examples
    """

    clf: Any
    numbers: Labels
    single: bool
    present: Mask

    @classmethod
    def of(cls, clf: Any, classes: Any) -> ExplainedClasses:
        """The classes with these labels; all classes if None."""
        check_booster(clf)
        known = all_labels(clf)
        numbers = np.arange(len(known)) if classes is None else class_numbers(classes, known)
        return cls(clf, numbers, classes is not None and np.ndim(classes) == 0, clf.present_[numbers])

    @property
    def columns(self) -> Array:
        """The codewords of the classes that had training examples, as columns, (d, D)."""
        check_not_merged(self.clf)
        rows = (np.cumsum(self.clf.present_) - 1)[self.numbers[self.present]]
        return self.clf.model_.Y[rows].T.astype(np.float64)

    def logits(self, X: AnyArray) -> Array:
        """The logits 2U of the classes that had training examples, (n, D), for rows that are checked."""
        return 2.0 * self.clf._checked_scores(X)[:, self.numbers[self.present]]

    def fill(self, values: Array, absent: float) -> Array:
        """Add classes without training examples to the last axis of values; drop that axis if one class was named."""
        if not self.present.all():
            out = np.full((*values.shape[:-1], len(self.numbers)), absent)
            out[..., self.present] = values
            values = out
        return values[..., 0] if self.single else values

    def check_present(self) -> None:
        """Raise if one of the classes had no training examples."""
        absent = all_labels(self.clf)[self.numbers[~self.present]]
        if len(absent):
            raise ValueError(f"class {absent.tolist()[0]!r} had no training examples, so there is nothing to explain.")


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
