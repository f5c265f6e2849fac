"""The named boosters: each is a choice of four parts."""

from .mcboost import CDMCBoostClassifier, GDMCBoostClassifier

__all__ = ["CDMCBoostClassifier", "GDMCBoostClassifier"]
