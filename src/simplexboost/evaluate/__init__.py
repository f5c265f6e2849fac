"""Evaluation of classifiers on labelled rows, as numbers, which `evaluate.plots` and `evaluate.report` draw."""

from importlib import import_module
from typing import Any

from .class_table import ClassTable, class_table, wilson
from .confusion import (
    Block,
    ConfusedPair,
    Confusion,
    confusion_table,
    similarity,
    similarity_order,
    soft_confusion,
    worst_block,
    worst_pairs,
)
from .curves import Curve, LearningCurves, learning_curves, margins_over_rounds, predictors_over_rounds, spread_rounds
from .hierarchical import HierarchicalScores, hierarchical_scores
from .maps import ClassMap, class_means, classical_mds, map_of_confusion, map_of_scores
from .reliability import Reliability, RiskCurve, class_calibration_errors, reliability_table, risk_curve

__all__ = [
    "Block",
    "ClassMap",
    "ClassTable",
    "ConfusedPair",
    "Confusion",
    "Curve",
    "HierarchicalScores",
    "LearningCurves",
    "Reliability",
    "RiskCurve",
    "class_calibration_errors",
    "class_means",
    "class_table",
    "classical_mds",
    "confusion_table",
    "hierarchical_scores",
    "learning_curves",
    "map_of_confusion",
    "map_of_scores",
    "margins_over_rounds",
    "predictors_over_rounds",
    "reliability_table",
    "risk_curve",
    "similarity",
    "similarity_order",
    "soft_confusion",
    "spread_rounds",
    "wilson",
    "worst_block",
    "worst_pairs",
]


def __getattr__(name: str) -> Any:
    """A module that is imported on first use."""
    if name in ("plots", "report"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
