"""Codewords: one row of ``Y (K, d)`` per class turns a predictor ``F (n, d)`` into class scores ``U = ½ F Yᵀ (n, K)``.

The residual ``P (n, K)`` becomes the gradient in F by ``G = ½ P Y (n, d)``. The identity gives one coordinate per
class, the regular simplex gives the largest margins, a max-min code gives few coordinates for many classes, and ±1 or
ternary matrices are for output-code reductions. Each set exists twice: as a function that returns the matrix, and as a
part (:class:`Codewords`) that an estimator takes by name or by instance, see :data:`CODEWORDS`.

``base`` says what a set of codewords is. ``real`` and ``compact`` have the codes of real numbers, the second those of
few dimensions, with ``packing`` as their solver; ``capacity`` searches those of largest margin capacity. ``ternary``,
``drawn``, ``algebraic`` and ``search`` have the codes of −1, 0 and +1. ``measures`` says how good a code is, ``checks``
whether it is one, and ``code`` multiplies with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import resolve
from .algebraic import BCH, Hadamard, bch, hadamard
from .base import Codewords, Custom
from .capacity import max_capacity
from .checks import check_codewords
from .compact import Auto, MaxMin, max_min
from .drawn import RandomDense, RandomSparse, random_dense, random_sparse
from .measures import bits_corrected, capacity_bound, margin_capacity, min_distance, min_hamming
from .real import Canonical, SAMMECode, Simplex, canonical, samme, simplex
from .search import MaxHamming, max_hamming
from .ternary import AllPairs, Exhaustive, OneVsAllCode, all_pairs, exhaustive, one_vs_all

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
    "MaxHamming",
    "MaxMin",
    "OneVsAllCode",
    "RandomDense",
    "RandomSparse",
    "SAMMECode",
    "Simplex",
    "all_pairs",
    "as_codewords",
    "bch",
    "bits_corrected",
    "canonical",
    "capacity_bound",
    "exhaustive",
    "hadamard",
    "margin_capacity",
    "max_capacity",
    "max_hamming",
    "max_min",
    "min_distance",
    "min_hamming",
    "one_vs_all",
    "random_dense",
    "random_sparse",
    "samme",
    "simplex",
]

CODEWORDS: dict[str, type[Codewords]] = {
    "auto": Auto,
    "canonical": Canonical,
    "simplex": Simplex,
    "samme": SAMMECode,
    "one-vs-all": OneVsAllCode,
    "all-pairs": AllPairs,
    "exhaustive": Exhaustive,
    "random-dense": RandomDense,
    "random-sparse": RandomSparse,
    "hadamard": Hadamard,
    "bch": BCH,
    "max-hamming": MaxHamming,
    "max-min": MaxMin,
}


def as_codewords(value: Any) -> Codewords:
    """The codeword set that ``value`` stands for: a name, a `Codewords`, or a matrix.

    Parameters
    ----------
    value : str, Codewords or array of shape (K, d)
        A key of ``CODEWORDS``, a set, which is returned as it is, or your own codewords, a row for every class.

    Returns
    -------
    Codewords
        The codeword set.

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
