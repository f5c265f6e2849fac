"""Explanations of fitted boosters: Shapley values, trees to look at, importances, similar and doubtful examples."""

from .mixin import Explains, PairExplanation

__all__ = ["Explains", "PairExplanation"]
