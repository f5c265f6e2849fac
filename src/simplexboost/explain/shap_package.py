"""The way to the package ``shap``: trees in the form that its `TreeExplainer` takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..boosting.hypotheses import TreeHypothesis
from ..boosting.model import AdditiveModel, Term
from ..engine import Tree
from .shapley import check_explainable
from .trees import node_outputs


def tree_dictionaries(model: AdditiveModel, M: Array) -> dict[str, Any]:
    """The trees of a model with the values F M (n, D), as ``shap.TreeExplainer`` takes them."""
    check_explainable(model)
    if len(model.trees) < len(model.terms):
        raise ValueError("to_shap takes a model of trees alone; this one holds lines.")
    if any((tree.nodes["category"] >= 0).any() for tree in model.trees):
        raise ValueError(
            "to_shap cannot pass on splits of categories, which shap takes from no arrays; use shap_explanation."
        )
    if any((tree.count <= 0).any() for tree in model.trees):
        raise ValueError("to_shap cannot pass on nodes without training rows, which shap divides by; use shap_values.")
    return {
        "trees": [tree_dictionary(term, M, model.dtype) for term in model.scaled_terms],
        "base_offset": np.zeros(M.shape[1]),
        "tree_output": "raw_value",
        "objective": "binary_crossentropy",  # what shap does not know, it need not use
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def tree_dictionary(term: Term, M: Array, dtype: Any) -> dict[str, AnyArray]:
    """One tree: ``x <= threshold`` goes left, a missing value to ``children_default``; −1 at leaves."""
    assert isinstance(term.hypothesis, TreeHypothesis)
    tree: Tree = term.hypothesis.tree
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"]
    return {
        "children_left": np.where(inner, left, -1),
        "children_right": np.where(inner, left + 1, -1),
        "children_default": np.where(inner, np.where(tree.nodes["missing_left"], left, left + 1), -1),
        "features": np.where(inner, tree.nodes["feature"], -1),
        "thresholds": np.where(inner, tree.nodes["threshold"], -1.0),
        "values": node_outputs(term, M, dtype),
        "node_sample_weight": tree.count.astype(np.float64),
    }
