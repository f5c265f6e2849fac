"""Explanations of fitted boosters: Shapley values, trees to look at, importances, similar and doubtful examples."""

from .doubtful import DoubtfulLabels
from .mixin import Explains, PairExplanation
from .neighbours import Neighbours

__all__ = ["DoubtfulLabels", "Explains", "Neighbours", "PairExplanation"]
