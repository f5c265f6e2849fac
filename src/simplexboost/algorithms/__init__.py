"""The named boosters: each is a choice of four parts."""

from .adaboost import AdaBoostM1Classifier, AdaBoostMMClassifier, OneVsAllBoostClassifier, SAMMEClassifier
from .mcboost import CDMCBoostClassifier, GDMCBoostClassifier

__all__ = [
    "AdaBoostM1Classifier",
    "AdaBoostMMClassifier",
    "CDMCBoostClassifier",
    "GDMCBoostClassifier",
    "OneVsAllBoostClassifier",
    "SAMMEClassifier",
]
