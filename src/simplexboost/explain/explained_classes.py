"""Classes to explain, and the contributions of trees to F @ M (n, D), where F (n, d) is the predictor.

M is a matrix (d, D) for D outputs: for logits its columns are the codewords of D classes, and for the log-odds of two
classes its one column is the difference of their codewords.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..classifiers.prediction import check_booster
from ..engine import Tree
from ..engine.cpu.forest import starts
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.labels import class_numbers


def check_not_merged(clf: Any) -> None:
    """Raise if classes of the model were merged, because the score of a merged class is not a sum over trees."""
    if getattr(clf, "_merged", None) is not None:
        raise ValueError(
            "the score of a merged class is no sum over trees, so that trees do not explain it; explain the model as "
            "it was before merge_classes."
        )


def all_labels(clf: Any) -> AnyArray:
    """Return the labels of all classes, (K,); with several targets, the indices 0 .. K − 1 of all targets' classes."""
    return clf.classes_ if clf._problem.widths is None else np.arange(len(clf._present))


@dataclass(frozen=True, eq=False)
class ExplainedClasses:
    """The D classes of a fitted booster that are explained."""

    clf: Any
    numbers: Labels  # (D,) their positions in `classes_`
    single: bool  # whether the user named one class and not a list
    present: Mask  # (D,) which of them had training examples

    @classmethod
    def of(cls, clf: Any, classes: Any) -> ExplainedClasses:
        """Return the explained classes, given their labels; None means all classes."""
        check_booster(clf)
        known = all_labels(clf)
        numbers = np.arange(len(known)) if classes is None else class_numbers(classes, known)
        return cls(clf, numbers, classes is not None and np.ndim(classes) == 0, clf._present[numbers])

    @property
    def columns(self) -> Array:
        """The codewords (d, D) of the explained classes, as columns; classes without training examples are left out."""
        check_not_merged(self.clf)
        rows = (np.cumsum(self.clf._present) - 1)[self.numbers[self.present]]
        return self.clf.model_.Y[rows].T.astype(np.float64)

    def logits(self, X: AnyArray) -> Array:
        """Return the logits 2U (n, D) of the explained classes that had training examples, for validated rows X."""
        return 2.0 * self.clf._scores_of_rows(X)[:, self.numbers[self.present]]

    def fill(self, values: Array, absent: float) -> Array:
        """Return values, with ``absent`` at classes without training examples; for one class, drop the last axis."""
        if not self.present.all():
            out = np.full((*values.shape[:-1], len(self.numbers)), absent)
            out[..., self.present] = values
            values = out
        return values[..., 0] if self.single else values

    def check_present(self) -> None:
        """Raise if an explained class had no training examples."""
        absent = all_labels(self.clf)[self.numbers[~self.present]]
        if len(absent):
            raise ValueError(f"class {absent.tolist()[0]!r} had no training examples, so there is nothing to explain.")


# ---- contributions of trees to F M -----------------------------------------------------------------------------------


class LeafTable(NamedTuple):
    """The leaf values of all trees, tree after tree, dense or sparse, as the compiled Shapley code takes them."""

    values: Array  # (leaves * D,) or, if most are zero, those that are not
    columns: AnyArray | None  # their columns
    start: AnyArray | None  # (leaves + 1,) where the values of a leaf begin


def tree_terms(model: AdditiveModel) -> list[Term]:
    """Return the terms of a model that are trees, with step lengths multiplied by the temperature."""
    return [term for term in model.scaled_terms if isinstance(term.hypothesis, TreeHypothesis)]


def scaled_values(term: Term, dtype: Any) -> Any:
    """Return what a tree's leaves add to F, (L, d), or (L, 1) if to one coordinate only, rounded as in predictions."""
    values = term.hypothesis.values
    values = csr_array(values) if issparse(values) else values.reshape(-1, values.shape[-1])
    return values.astype(dtype) * np.dtype(dtype).type(term.step)


def leaf_outputs(term: Term, M: Array, dtype: Any) -> Array:
    """Return the values (L, D) that the leaves of a tree add to F @ M, where F is the predictor and M is (d, D)."""
    values = scaled_values(term, dtype).astype(np.float64)
    return np.asarray(values @ (M if term.coordinate is None else M[[term.coordinate]]))


def node_outputs(term: Term, M: Array, dtype: Any) -> Array:
    """Return what a tree adds to F @ M for M (d, D), averaged over the training rows of each of its N nodes, (N, D)."""
    tree: Tree = term.hypothesis.tree
    is_leaf = tree.nodes["feature"] < 0
    out = np.zeros((len(tree.nodes), M.shape[1]))
    out[is_leaf] = leaf_outputs(term, M, dtype)[tree.nodes["left"][is_leaf]]
    for node in tree.children_first():
        left = int(tree.nodes["left"][node])
        rows = tree.count[left : left + 2].astype(np.float64)
        part = rows / rows.sum() if rows.sum() > 0 else np.array([0.5, 0.5])
        out[node] = part @ out[left : left + 2]
    return out


def leaf_table(model: AdditiveModel, M: Array) -> LeafTable:
    """Return the leaf values of all trees of a model, multiplied by the matrix M (d, D)."""
    terms, chosen = tree_terms(model), selected_coordinates(M)
    if chosen is None:
        outputs = [leaf_outputs(t, M, model.dtype).ravel() for t in terms]
        return LeafTable(np.concatenate(outputs).astype(model.dtype), None, None)
    values = [scaled_values(t, model.dtype) for t in terms]
    if not any(issparse(v) or t.coordinate is not None for v, t in zip(values, terms, strict=True)):
        return LeafTable(np.concatenate([v[:, chosen].ravel() for v in values]), None, None)
    parts = []
    for term, part in zip(terms, map(csr_array, values), strict=True):
        if term.coordinate is not None:  # one column, which belongs at this place
            columns = np.full(part.nnz, term.coordinate)
            part = csr_array((part.data, columns, part.indptr), shape=(part.shape[0], len(M)))
        parts.append(csr_array(part[:, chosen]))
    return LeafTable(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]).astype(np.int32),
        starts(np.concatenate([np.diff(part.indptr) for part in parts])),
    )


def selected_coordinates(M: Array) -> AnyArray | None:
    """Return the indices (D,) of columns of F if F @ M only selects columns, unchanged; else None. M is (d, D)."""
    rows = np.abs(M).argmax(axis=0)
    picks = (M != 0).sum(axis=0) == 1
    return rows if picks.all() and (M[rows, np.arange(M.shape[1])] == 1).all() else None
