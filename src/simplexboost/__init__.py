"""Multiclass boosting: one vector-valued tree per round, and every multiclass booster of the literature.

Every public name of the package stands on this page.
"""

from . import callbacks, codewords, datasets, learners, losses, optimizers, steps
from .algorithms import CDMCBoostClassifier, GDMCBoostClassifier
from .estimators import BoostingClassifier
from .export import load
from .flagship import SimplexBoostClassifier

__version__ = "0.1.0.dev0"

__all__ = [
    "BoostingClassifier",
    "CDMCBoostClassifier",
    "GDMCBoostClassifier",
    "SimplexBoostClassifier",
    "callbacks",
    "codewords",
    "datasets",
    "learners",
    "load",
    "losses",
    "optimizers",
    "steps",
]
