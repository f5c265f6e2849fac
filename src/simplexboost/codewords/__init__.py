"""Codewords: one row of ``Y (K, d)`` per class turns a predictor ``F (n, d)`` into class scores ``U = ½ F Yᵀ (n, K)``.

The residual ``P (n, K)`` becomes the gradient in F by ``G = ½ P Y (n, d)``. The identity gives one coordinate per
class, the regular simplex gives the largest margins, a max-min code gives few coordinates for many classes, and ±1 or
ternary matrices are for output-code reductions. Each set exists twice: as a function that returns the matrix, and as a
part (:class:`Codewords`) that an estimator takes by name or by instance, see :data:`CODEWORDS`.
"""

from .binary import bch, hadamard, max_hamming
from .checks import check_codewords, check_ternary
from .matrices import (
    EXHAUSTIVE_MAX_K,
    all_pairs,
    canonical,
    exhaustive,
    max_min,
    one_vs_all,
    random_dense,
    random_sparse,
    samme,
    simplex,
)
from .measures import bits_corrected, capacity_bound, margin_capacity, min_distance, min_hamming
from .parts import (
    BCH,
    CODEWORDS,
    AllPairs,
    Auto,
    Canonical,
    Codewords,
    Custom,
    Exhaustive,
    Hadamard,
    MaxHamming,
    MaxMin,
    OneVsAllCode,
    RandomDense,
    RandomSparse,
    SAMMECode,
    Simplex,
    as_codewords,
)

__all__ = [
    "BCH",
    "CODEWORDS",
    "EXHAUSTIVE_MAX_K",
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
    "check_codewords",
    "check_ternary",
    "exhaustive",
    "hadamard",
    "margin_capacity",
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
