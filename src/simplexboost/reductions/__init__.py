"""Reductions of a problem of K classes to l binary problems, by a coding matrix M (K, l) of −1, 0 and +1.

Column j of M is a binary problem: the classes with +1 against the classes with −1; classes with 0 are left out. The
scores f (n, l) of the l binary classifiers are decoded to the class whose row of M is nearest to them.
"""

from .coding import DECODINGS
from .output_codes import OutputCodeClassifier

__all__ = ["DECODINGS", "OutputCodeClassifier"]
