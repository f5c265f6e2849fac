"""Codewords: one row of ``Y (K, d)`` per class turns a predictor ``F (n, d)`` into class scores ``U = ½ F Yᵀ (n, K)``.

Every booster scores classes through such a matrix and sends its residual back by ``G = ½ residual · Y (n, d)``: the
identity gives one coordinate per class, the regular simplex the largest margins, a max-min code few coordinates for
many classes, a ±1 or ternary matrix the output-code reductions. Each set is here twice: as a function that returns the
matrix, and as a part (:class:`Codewords`) that an estimator takes by name or by instance, see :data:`CODEWORDS`.
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
