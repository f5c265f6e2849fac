"""Provides codes: rules that give K classes a coding matrix ``Y (K, d)``, which has a codeword per row.

The class scores are ``U = ½ F Yᵀ (n, K)``. An estimator takes a code (:class:`Codewords`) by name or by instance, see
:data:`CODEWORDS`; the code's ``matrix(K)`` returns the coding matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._util.params import resolve
from .base import Canonical, Codewords, Custom, SAMMECode, Simplex, check_codewords
from .binary import BCH, AllPairs, Exhaustive, Hadamard, MaxHamming, OneVsAllCode, RandomDense, RandomSparse
from .hierarchy import Hierarchy, Ordered, Ordinal
from .measures import bits_corrected, capacity_bound, margin_capacity, min_distance, min_hamming
from .packing import Auto, MaxMin

__all__ = [
    "BCH",
    "CODEWORDS",
    "AllPairs",
    "Auto",
    "Canonical",
    "Codewords",
    "Custom",
    "Exhaustive",
    "Hadamard",
    "Hierarchy",
    "MaxHamming",
    "MaxMin",
    "OneVsAllCode",
    "Ordered",
    "Ordinal",
    "RandomDense",
    "RandomSparse",
    "SAMMECode",
    "Simplex",
    "as_codewords",
    "bits_corrected",
    "capacity_bound",
    "margin_capacity",
    "min_distance",
    "min_hamming",
]

CODEWORDS = Codewords.table


def as_codewords(value: Any) -> Codewords:
    """Return the `Codewords` object for ``value``, which is a name, a `Codewords` object, or a coding matrix.

    Parameters
    ----------
    value : str, Codewords or array of shape (K, d)
        A key of ``CODEWORDS``, a `Codewords` object, which is returned unchanged, or a coding matrix (a row per class).

    Examples
    --------
    >>> as_codewords("simplex")
    Simplex()
    >>> as_codewords([[1.0], [-1.0]])
    Custom(Y=array([[ 1.],
           [-1.]]))
    """
    if isinstance(value, list | tuple) or (hasattr(value, "__array__") and np.ndim(value)):
        return Custom(check_codewords(value))
    return resolve(value, CODEWORDS, Codewords, "codewords")
