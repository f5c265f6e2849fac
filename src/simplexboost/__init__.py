"""Multiclass boosting: one vector-valued tree per round, and every multiclass booster of the literature.

All public names of the package can be imported from here.
"""

from types import ModuleType as _Module
from typing import TYPE_CHECKING, Any

from . import boosting, parts
from ._util import __version__ as __version__
from .classifiers import (
    AdaBoostECCClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    BoostingClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
    LogitBoostClassifier,
    OneVsAllBoostClassifier,
    SAMMEClassifier,
    SimplexBoostClassifier,
    SoftmaxBoostClassifier,
    add_classes,
    drop_classes,
    keep_rounds,
    merge_classes,
)
from .parts.codewords import Hierarchy, Ordinal
from .persist import ModelFileError, load
from .persist import register_later as _register_later

if TYPE_CHECKING:
    from .evaluate import report
    from .reductions import OutputCodeClassifier
    from .theory import MartiBoostClassifier, MulticlassSVC, OSBoostClassifier

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
    "Ordinal",
    "OutputCodeClassifier",
    "SAMMEClassifier",
    "SimplexBoostClassifier",
    "SoftmaxBoostClassifier",
    "add_classes",
    "boosting",
    "datasets",
    "decide",
    "drop_classes",
    "evaluate",
    "explain",
    "export",
    "keep_rounds",
    "load",
    "merge_classes",
    "parts",
    "report",
    "theory",
]


# These modules are imported on first use. They import scikit-learn's data sets, matplotlib and SciPy's linear
# programming, with which ``import simplexboost`` would take twice as long.
_MODULES = ("cli", "datasets", "decide", "evaluate", "explain", "export", "theory")
_NAMES = {
    "MartiBoostClassifier": "theory.martiboost",
    "MulticlassSVC": "theory.svm",
    "OSBoostClassifier": "theory.os_boost",
    "OutputCodeClassifier": "reductions",
    "report": "evaluate",
}
_register_later({name: f"{__name__}.{module}" for name, module in _NAMES.items()})
_register_later({"PotentialLoss": f"{__name__}.theory.os_boost"})


def __getattr__(name: str) -> Any:
    """Import a module, class or function on first use."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all public names, also those not imported yet, without the names that this module imports for itself."""
    special = {name for name in globals() if name.startswith("__")}
    modules = {name for name, value in globals().items() if isinstance(value, _Module) and not name.startswith("_")}
    return sorted({*__all__, *modules, *special})
