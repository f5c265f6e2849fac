"""Evaluation of classifiers on labelled rows: tables of numbers, pictures of them, and a page (`evaluate.report`).

A picture of a **model** is a function whose name begins with ``plot_``. It draws on ``ax``, or on a new figure where
that is None, and returns the axes. The few pictures of several panels take and return a list, ``axes``. A picture of
**predictions**, which may come from any classifier, is a class whose name ends in ``Display``, as in scikit-learn:
``from_estimator`` predicts and draws, ``from_predictions`` draws predictions, and ``plot`` draws the same numbers once
more. The axes are its attribute ``ax_``.

Nothing is shown or saved: that is ``matplotlib.pyplot.show()`` or ``ax.figure.savefig("picture.png")``. Make figures of
your own with ``layout="constrained"``, since legends stand beside the axes. Pictures need matplotlib (``pip install
matplotlib``), numbers do not.
"""

from typing import TYPE_CHECKING, Any

from .class_map import ClassMap, classical_mds, map_of_confusion, map_of_scores, plot_class_map
from .class_table import ClassScoresDisplay, ClassTable, class_table, wilson
from .codes import CodeReport, code_report
from .codeword_plots import animate_predictor, plot_codewords, plot_loss_contours, plot_predictor, plot_predictor_panels
from .confusion import (
    Block,
    ConfusedPair,
    Confusion,
    ConfusionDisplay,
    class_means,
    confusion_table,
    similarity,
    similarity_order,
    soft_confusion,
)
from .curves import (
    Curve,
    LearningCurves,
    learning_curves,
    margins,
    margins_over_rounds,
    plot_candidates,
    plot_learning_curves,
    plot_margins,
    plot_race,
    predictors_over_rounds,
    spread_rounds,
)
from .explanation_plots import plot_importance, plot_shap_panels, plot_shap_summary, plot_tree
from .hierarchical import HierarchicalScores, hierarchical_scores
from .regions import DecisionRegionsDisplay
from .reliability import (
    Reliability,
    ReliabilityDisplay,
    RiskCurve,
    RiskCurveDisplay,
    class_calibration_errors,
    reliability_table,
    risk_curve,
)

if TYPE_CHECKING:
    from .html_report.page import report

__all__ = [
    "Block",
    "ClassMap",
    "ClassScoresDisplay",
    "ClassTable",
    "CodeReport",
    "ConfusedPair",
    "Confusion",
    "ConfusionDisplay",
    "Curve",
    "DecisionRegionsDisplay",
    "HierarchicalScores",
    "LearningCurves",
    "Reliability",
    "ReliabilityDisplay",
    "RiskCurve",
    "RiskCurveDisplay",
    "animate_predictor",
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
    "plot_candidates",
    "plot_class_map",
    "plot_codewords",
    "plot_importance",
    "plot_learning_curves",
    "plot_loss_contours",
    "plot_margins",
    "plot_predictor",
    "plot_predictor_panels",
    "plot_race",
    "plot_shap_panels",
    "plot_shap_summary",
    "plot_tree",
    "predictors_over_rounds",
    "reliability_table",
    "report",
    "risk_curve",
    "similarity",
    "similarity_order",
    "soft_confusion",
    "spread_rounds",
    "wilson",
]


def __getattr__(name: str) -> Any:
    """Import the report when it is used."""
    if name == "report":
        from .html_report.page import report

        return report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
