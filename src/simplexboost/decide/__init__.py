"""Decisions from probabilities: prediction sets, abstention, costs, class priors, hierarchy levels, top-k labels.

The functions take a fitted booster, a pipeline that ends in one, or a Dask classifier. None of them changes it.
"""

from .costs import cost_scorer, cost_weights, expected_costs, mean_cost, predict
from .probabilities import estimate_prior, predict_level, predict_proba, predict_proba_level, top_k
from .sets import calibrate_sets, predict_or_abstain, predict_sets, set_thresholds

__all__ = [
    "calibrate_sets",
    "cost_scorer",
    "cost_weights",
    "estimate_prior",
    "expected_costs",
    "mean_cost",
    "predict",
    "predict_level",
    "predict_or_abstain",
    "predict_proba",
    "predict_proba_level",
    "predict_sets",
    "set_thresholds",
    "top_k",
]
