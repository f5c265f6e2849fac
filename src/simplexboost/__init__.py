"""Multiclass boosting: one vector-valued tree per round, and every multiclass booster of the literature.

Every public name of the package stands on this page.
"""

from typing import Any

from . import algorithms, callbacks, codewords, learners, losses, optimizers, steps
from .algorithms import (
    AdaBoostECCClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
    LogitBoostClassifier,
    OneVsAllBoostClassifier,
    OSBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
)
from .estimators import BoostingClassifier
from .export import load
from .flagship import SimplexBoostClassifier
from .martiboost import MartiBoostClassifier
from .reductions import OutputCodeClassifier
from .svm import MulticlassSVC

__version__ = "0.1.0.dev0"

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
    "MartiBoostClassifier",
    "MulticlassSVC",
    "OSBoostClassifier",
    "OneVsAllBoostClassifier",
    "OutputCodeClassifier",
    "SAMMEClassifier",
    "SimplexBoostClassifier",
    "SoftmaxBoostClassifier",
    "algorithms",
    "callbacks",
    "codewords",
    "datasets",
    "games",
    "learners",
    "load",
    "losses",
    "optimizers",
    "plotting",
    "steps",
]


# Imported on first use: they need scikit-learn's own data sets, matplotlib or linear programmes, which would double the
# start-up time.
LAZY = ("datasets", "games", "plotting")


def __getattr__(name: str) -> Any:
    """A module that is imported on first use."""
    if name in LAZY:
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
