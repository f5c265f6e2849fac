"""From probabilities P (n, K) to answers: sets of classes with a promised coverage, and no answer where it is unsure.

The functions take probabilities, so that they also serve classifiers of other packages; the methods of our boosters
(``predict_set``, ``predict_or_abstain``) call them.
"""

from .sets import SetScores

__all__ = ["SetScores"]
