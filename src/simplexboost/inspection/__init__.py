"""What a classifier does on labelled rows, as numbers: the pictures of `plotting` and the report page draw these.

The functions take labels and predictions, so that they also serve classifiers of other packages; only those about
rounds need a fitted booster of this one. ``confusion`` counts which class is taken for which, and orders many classes
so that similar ones are neighbours. ``classes`` has precision and recall of every class with intervals, ``reliability``
compares probabilities with frequencies, ``risks`` counts the errors that remain where only sure rows are answered,
``rounds`` has predictors and margins after some of the rounds, ``curves`` the risks and metrics that a fit has
recorded, ``maps`` places the classes in a plane, and ``hierarchical`` tells how near predictions come in a tree.
"""

from .classes import ClassTable, class_table, wilson
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
from .curves import Curve, LearningCurves, learning_curves
from .hierarchical import HierarchicalScores, hierarchical_scores
from .maps import ClassMap, class_means, classical_mds, map_of_confusion, map_of_scores
from .reliability import Reliability, class_calibration_errors, reliability_table
from .risks import RiskCurve, risk_curve
from .rounds import margins_over_rounds, predictors_over_rounds, spread_rounds

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
