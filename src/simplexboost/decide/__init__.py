"""Decisions from probabilities P (n, K): prediction sets, abstention, decisions by cost, and other class priors.

The functions take probabilities, so that they also serve classifiers of other packages; the methods of our boosters
(``predict_set``, ``predict_or_abstain``, ``predict(X, costs=…, prior=…)``, ``expected_costs``, ``estimate_prior``) call
them.
"""

from .costs import cost_scorer, cost_weights, mean_cost
from .sets import SetScores

__all__ = ["SetScores", "cost_scorer", "cost_weights", "mean_cost"]
