"""Reductions of a problem of K classes to binary ones, by a coding matrix M in {−1, 0, +1}^(K × l).

Column j is a binary problem: classes with +1 against classes with −1, those with 0 left out. The answers f (n, l) of
the columns' classifiers are decoded to the class whose row they resemble most.
"""

from .coding import DECODINGS
from .output_codes import OutputCodeClassifier

__all__ = ["DECODINGS", "OutputCodeClassifier"]
