"""The named boosters: each is a choice of four parts.

`TABLE` has a row for every one of them; ``python -m simplexboost list`` prints it.
"""

from typing import Any

from ..estimators.martiboost import MartiBoostClassifier
from .adaboost import AdaBoostM1Classifier, AdaBoostMMClassifier, OneVsAllBoostClassifier, SAMMEClassifier
from .ecc import AdaBoostECCClassifier
from .hamming import AdaBoostMHClassifier
from .logitboost import LogitBoostClassifier
from .mcboost import CDMCBoostClassifier, GDMCBoostClassifier
from .os_boost import OSBoostClassifier
from .ranking import AdaBoostM2Classifier
from .softmax import SoftmaxBoostClassifier
from .table import row, table_text

# In the order of the table: by age, related ones together.
BOOSTERS = (
    OneVsAllBoostClassifier,
    AdaBoostM1Classifier,
    SAMMEClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    OSBoostClassifier,
    AdaBoostECCClassifier,
    LogitBoostClassifier,
    MartiBoostClassifier,
    SoftmaxBoostClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
)

__all__ = [
    "BOOSTERS",
    "TABLE",
    "AdaBoostECCClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostMMClassifier",
    "CDMCBoostClassifier",
    "GDMCBoostClassifier",
    "LogitBoostClassifier",
    "MartiBoostClassifier",
    "OSBoostClassifier",
    "OneVsAllBoostClassifier",
    "SAMMEClassifier",
    "SoftmaxBoostClassifier",
    "table_text",
]


def __getattr__(name: str) -> Any:
    """`TABLE` is made on first use: it imports `simplexboost.games`, which would be a third of the start-up time."""
    if name != "TABLE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return {booster.__name__: row(booster()) for booster in BOOSTERS}
