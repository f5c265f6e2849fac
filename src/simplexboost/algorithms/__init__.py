"""The named boosters: each is a choice of four parts.

`TABLE` has a row for every one of them, ``python -m simplexboost list`` prints it.
"""

from ..martiboost import MartiBoostClassifier
from .adaboost import AdaBoostM1Classifier, AdaBoostMMClassifier, OneVsAllBoostClassifier, SAMMEClassifier
from .ecc import AdaBoostECCClassifier
from .logitboost import LogitBoostClassifier
from .mcboost import CDMCBoostClassifier, GDMCBoostClassifier
from .os_boost import OSBoostClassifier
from .table import row, table_text

# In the order of the table: by age and kin.
BOOSTERS = (
    OneVsAllBoostClassifier,
    AdaBoostM1Classifier,
    SAMMEClassifier,
    AdaBoostMMClassifier,
    OSBoostClassifier,
    AdaBoostECCClassifier,
    LogitBoostClassifier,
    MartiBoostClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
)
TABLE: dict[str, dict[str, str]] = {booster.__name__: row(booster()) for booster in BOOSTERS}

__all__ = [
    "BOOSTERS",
    "TABLE",
    "AdaBoostECCClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostMMClassifier",
    "CDMCBoostClassifier",
    "GDMCBoostClassifier",
    "LogitBoostClassifier",
    "MartiBoostClassifier",
    "OSBoostClassifier",
    "OneVsAllBoostClassifier",
    "SAMMEClassifier",
    "table_text",
]
