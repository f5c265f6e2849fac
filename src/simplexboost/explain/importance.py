"""Importance of features: overall (p,), or for some classes (p, D)."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from ..boosting.hypotheses import TreeHypothesis
from ..boosting.model import AdditiveModel
from .trees import node_outputs

KINDS = ("gain", "cover", "splits", "shap")


def split_counts(model: AdditiveModel, p: int, *, rows: bool) -> Array:
    """How many splits there are on each feature, or how many training rows passed them, (p,)."""
    out = np.zeros(p)
    for tree in model.trees:
        inner = tree.nodes["feature"] >= 0
        np.add.at(out, tree.nodes["feature"][inner], tree.count[inner] if rows else 1.0)
    return out


def class_gains(model: AdditiveModel, p: int, M: Array) -> Array:
    """The part of each feature in what splits explain of F M, (p, D).

    A split explains the sum, over its training rows, of the squared difference between what the tree adds to F M in the
    child and in the node. Columns sum to one.
    """
    out = np.zeros((p, M.shape[1]))
    for term in model.scaled_terms:
        if isinstance(term.hypothesis, TreeHypothesis):
            tree, mean = term.hypothesis.tree, node_outputs(term, M, model.dtype)
            inner = np.flatnonzero(tree.nodes["feature"] >= 0)
            left = tree.nodes["left"][inner]
            explained = sum(tree.count[child][:, None] * (mean[child] - mean[inner]) ** 2 for child in (left, left + 1))
            np.add.at(out, tree.nodes["feature"][inner], explained)
    total = out.sum(axis=0)
    return np.divide(out, total, out=out, where=total > 0)
