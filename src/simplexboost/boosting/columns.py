"""A fitted model for other classes: the columns of its leaf values come and go, its trees stay as they are.

With canonical codewords every class has a column of its own in the leaf values (L, K), and the scores of a class are a
sum over that column alone. So to take columns away or to insert others does not change a bit of the scores that remain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._typing import AnyArray, Labels
from ..codewords.identity import FEW, identity
from .hypotheses import TreeHypothesis, sparse_values
from .model import AdditiveModel, Term


def has_columns(model: AdditiveModel) -> bool:
    """Whether every class has a column of its own, in the leaves of trees and nowhere else."""
    trees = all(isinstance(t.hypothesis, TreeHypothesis) and t.coordinate is None for t in model.terms)
    return model.code.canonical and trees


def without_classes(model: AdditiveModel, kept: Labels) -> AdditiveModel:
    """The model of some of its classes, in this order, whose scores stay as they are, bit for bit.

    Where classes have no columns of their own, their codewords are taken away and the predictor stays as it is.
    """
    if not has_columns(model):
        return AdditiveModel(model.Y[kept], list(model.terms), list(model.round_ends), model.temperature)
    terms = [with_values(term, chosen_columns(values_of(term), kept)) for term in model.terms]
    return AdditiveModel(unit_vectors(len(kept), model.Y), terms, list(model.round_ends), model.temperature)


def chosen_columns(values: Any, kept: Labels) -> Any:
    """Some columns of leaf values (L, d), in this order."""
    chosen = values[:, kept]
    if issparse(chosen):
        chosen.sort_indices()
        return chosen
    return np.ascontiguousarray(chosen)


def with_classes(model: AdditiveModel, places: Labels, K: int) -> AdditiveModel:
    """The model with columns of zeros between its own, which go to these places (ascending) among K."""
    terms = [with_values(term, spread_columns(values_of(term), places, K)) for term in model.terms]
    return AdditiveModel(unit_vectors(K, model.Y), terms, list(model.round_ends), model.temperature)


def spread_columns(values: Any, places: Labels, K: int) -> Any:
    """Leaf values (L, d) whose columns go to these places among K; the others are zero.

    >>> spread_columns(np.array([[1.0, 2.0]]), np.array([0, 2]), 4)
    array([[1., 0., 2., 0.]])
    """
    if issparse(values):
        at = places[values.indices].astype(values.indices.dtype)
        return csr_array((values.data, at, values.indptr), shape=(values.shape[0], K))
    out = np.zeros((len(values), K), dtype=values.dtype)
    out[:, places] = values
    return out


def with_columns(term: Term, columns: AnyArray, places: Labels) -> Term:
    """The term with other values (L, m), or (m,) for all leaves, in some columns; they are divided by its step."""
    values = values_of(term)
    dense = values.toarray() if issparse(values) else values.copy()
    dense[:, places] = columns / term.step
    return with_values(term, sparse_values(dense) if issparse(values) else dense)


def with_values(term: Term, values: Any) -> Term:
    """The same tree and step with other leaf values."""
    return replace(term, hypothesis=TreeHypothesis(tree_of(term), values))


def values_of(term: Term) -> Any:
    """The leaf values of a term that is a tree, (L, d)."""
    return term.hypothesis.values  # type: ignore[attr-defined]


def tree_of(term: Term) -> Any:
    """The tree of a term that is one."""
    return term.hypothesis.tree  # type: ignore[attr-defined]


def unit_vectors(K: int, like: AnyArray) -> AnyArray:
    """Canonical codewords (K, K) in the precision of others; a view if they are many."""
    return np.eye(K, dtype=like.dtype) if K <= FEW else identity(K, like.dtype)
