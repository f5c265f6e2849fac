"""Explanations of fitted boosters: Shapley values, partial dependence, importances, trees as tables, similar rows."""

from .methods import Explains, PairExplanation
from .neighbours import DoubtfulLabels, Neighbours

__all__ = ["DoubtfulLabels", "Explains", "Neighbours", "PairExplanation"]
