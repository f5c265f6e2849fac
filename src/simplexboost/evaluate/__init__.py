"""Evaluation of classifiers on labelled rows: numbers, pictures (`evaluate.plots`), and a page (`evaluate.report`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .class_table import ClassTable, class_table, wilson
from .codes import CodeReport, code_report
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
from .curves import (
    Curve,
    LearningCurves,
    learning_curves,
    margins,
    margins_over_rounds,
    predictors_over_rounds,
    spread_rounds,
)
from .hierarchical import HierarchicalScores, hierarchical_scores
from .maps import ClassMap, class_means, classical_mds, map_of_confusion, map_of_scores
from .reliability import Reliability, RiskCurve, class_calibration_errors, reliability_table, risk_curve

if TYPE_CHECKING:
    from .html_report.page import report

__all__ = [
    "Block",
    "ClassMap",
    "ClassTable",
    "CodeReport",
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
    "code_report",
    "confusion_table",
    "hierarchical_scores",
    "learning_curves",
    "map_of_confusion",
    "map_of_scores",
    "margins",
    "margins_over_rounds",
    "predictors_over_rounds",
    "reliability_table",
    "report",
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
    """A module or function that is imported on first use."""
    if name == "plots":
        return import_module(".plots", __name__)
    if name == "report":
        return import_module(".html_report.page", __name__).report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
