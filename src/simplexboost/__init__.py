"""Multiclass boosting: one vector-valued tree per round, and every multiclass booster of the literature.

All public names of the package can be imported from here.
"""

from types import ModuleType as _Module
from typing import TYPE_CHECKING, Any

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
from .codewords import Hierarchy
from .estimators.composed import BoostingClassifier
from .estimators.flagship import SimplexBoostClassifier
from .estimators.martiboost import MartiBoostClassifier
from .files import ModelFileError, load

if TYPE_CHECKING:
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
    "Hierarchy",
    "LogitBoostClassifier",
    "MartiBoostClassifier",
    "ModelFileError",
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
    "export",
    "games",
    "inspection",
    "learners",
    "load",
    "losses",
    "optimizers",
    "plotting",
    "steps",
]


# These modules are imported on first use. They import scikit-learn's data sets, matplotlib and SciPy's linear
# programming, with which ``import simplexboost`` would take twice as long.
_MODULES = ("datasets", "export", "games", "inspection", "plotting")
_CLASSES = {"MulticlassSVC": "svm", "OutputCodeClassifier": "reductions"}


def __getattr__(name: str) -> Any:
    """A module or class that is imported on first use."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _CLASSES:
        return getattr(import_module(f".{_CLASSES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, also those not imported yet; what this module itself imports from elsewhere is left out."""
    special = {name for name in globals() if name.startswith("__")}
    modules = {name for name, value in globals().items() if isinstance(value, _Module) and not name.startswith("_")}
    return sorted({*__all__, *modules, *special})
