"""Evaluation of classifiers on labelled rows: scores, plots of them, and an HTML report (`evaluate.report`).

A function whose name begins with ``plot_`` draws a plot of a **model**. It draws on ``ax``, or on a new figure if
``ax`` is None, and returns the axes, or a list of axes if the plot has several panels. **Predictions** of any
classifier are summarised by a class such as `Confusion`: ``from_estimator`` predicts the rows first,
``from_predictions`` takes finished predictions, the attributes hold the scores, and the method ``plot`` draws them.

No function shows or saves a figure: call ``matplotlib.pyplot.show()`` or ``ax.figure.savefig("plot.png")``. Make your
own figures with ``layout="constrained"``, since legends stand beside the axes. Plots need matplotlib (``pip install
matplotlib``), scores do not.
"""

from .confusion import (
    Block,
    ClassMap,
    ConfusedPair,
    Confusion,
    class_means,
    classical_mds,
    map_of_confusion,
    map_of_scores,
    plot_class_map,
    similarity_order,
)
from .curves import (
    Curve,
    LearningCurves,
    learning_curves,
    margins,
    plot_candidates,
    plot_learning_curves,
    plot_margins,
    plot_race,
    predictors_over_rounds,
)
from .explanation_plots import plot_importance, plot_shap, plot_tree
from .html_report.page import report
from .plane_plots import DecisionRegions, animate_predictor, plot_codewords, plot_loss_contours, plot_predictor
from .score_tables import ClassTable, CodeReport, HierarchicalScores, Reliability, RiskCurve, wilson

__all__ = [
    "Block",
    "ClassMap",
    "ClassTable",
    "CodeReport",
    "ConfusedPair",
    "Confusion",
    "Curve",
    "DecisionRegions",
    "HierarchicalScores",
    "LearningCurves",
    "Reliability",
    "RiskCurve",
    "animate_predictor",
    "class_means",
    "classical_mds",
    "learning_curves",
    "map_of_confusion",
    "map_of_scores",
    "margins",
    "plot_candidates",
    "plot_class_map",
    "plot_codewords",
    "plot_importance",
    "plot_learning_curves",
    "plot_loss_contours",
    "plot_margins",
    "plot_predictor",
    "plot_race",
    "plot_shap",
    "plot_tree",
    "predictors_over_rounds",
    "report",
    "similarity_order",
    "wilson",
]
