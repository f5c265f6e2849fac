"""Explanations of fitted boosters: Shapley values, trees to look at, importances, similar and doubtful examples."""

from .methods import Explains, PairExplanation
from .neighbours import DoubtfulLabels, Neighbours

__all__ = ["DoubtfulLabels", "Explains", "Neighbours", "PairExplanation"]
