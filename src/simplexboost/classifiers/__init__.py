"""Classifiers with the interface of scikit-learn, built around the boosting loop of `simplexboost.boosting`."""

from .adaboost import (
    AdaBoostECCClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    OneVsAllBoostClassifier,
    SAMMEClassifier,
)
from .booster import BoostingClassifier
from .classes import add_classes, drop_classes, keep_rounds, merge_classes
from .gradient import CDMCBoostClassifier, GDMCBoostClassifier, LogitBoostClassifier, SoftmaxBoostClassifier
from .simplex import SimplexBoostClassifier

__all__ = [
    "AdaBoostECCClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostMMClassifier",
    "BoostingClassifier",
    "CDMCBoostClassifier",
    "GDMCBoostClassifier",
    "LogitBoostClassifier",
    "OneVsAllBoostClassifier",
    "SAMMEClassifier",
    "SimplexBoostClassifier",
    "SoftmaxBoostClassifier",
    "add_classes",
    "drop_classes",
    "keep_rounds",
    "merge_classes",
]
