"""Explanations of boosters: Shapley values, partial dependence, feature importances, trees as tables, similar rows."""

from .dependence import TreeRecursion, partial_dependence
from .neighbours import DoubtfulLabels, Neighbours, doubtful_labels, nearest_examples
from .shapley import (
    PairExplanation,
    expected_value,
    explain_pair,
    shap_explanation,
    shap_interaction_values,
    shap_values,
    to_shap,
)
from .tree_tables import importances, tree_text, trees_to_frame

__all__ = [
    "DoubtfulLabels",
    "Neighbours",
    "PairExplanation",
    "TreeRecursion",
    "doubtful_labels",
    "expected_value",
    "explain_pair",
    "importances",
    "nearest_examples",
    "partial_dependence",
    "shap_explanation",
    "shap_interaction_values",
    "shap_values",
    "to_shap",
    "tree_text",
    "trees_to_frame",
]
