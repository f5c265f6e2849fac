"""Binning: values → uint8 codes; code = number of the feature's edges below the value, ``edges[b-1] < x <= edges[b]``.

Up to ``max_bins`` distinct values every value has a bin of its own and edges lie midway between neighbours, so a
split on codes is exactly a split on values; beyond that, edges are quantiles. A missing value (NaN) has the code
after the last bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import _kernels
from ._typing import AnyArray, Array

MAX_BINS = 255  # the 256th code is left for missing values
# More rows than this do not make better quantiles (bins of a million rows then differ by less than a tenth from equal
# counts), and would take most of the time: 230 ms instead of 73 ms for 1000000 × 20 values, of which codes take 40 ms.
SAMPLE_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class BinnedData:
    """Training data as codes, in the engine's layout.

    Attributes
    ----------
    codes : (n_blocks, n, 8) uint8, features in blocks of 8; feature f is ``codes[f // 8, :, f % 8]``
    n_bins : (p,) int32, bins of finite values; a missing value has code ``n_bins[f]``
    has_missing : (p,) uint8
    edges : list of p ascending arrays, ``n_bins[f] - 1`` edges each
    """

    codes: AnyArray
    n_bins: AnyArray
    has_missing: AnyArray
    edges: list[Array]

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

    @property
    def p(self) -> int:
        """The number of features."""
        return len(self.edges)

    def column(self, f: int) -> AnyArray:
        """The codes of one feature, (n,)."""
        return self.codes[f // _kernels.TILE, :, f % _kernels.TILE]


def bin_data(X: AnyArray, max_bins: int = MAX_BINS, n_threads: int = 1, random_state: int = 0) -> BinnedData:
    """Bin X (n, p), float32 or float64 with NaN for missing values.

    Examples
    --------
    >>> binned = bin_data(np.array([[1.0], [2.0], [np.nan], [4.0]]))
    >>> binned.edges[0].tolist(), binned.column(0).tolist()
    ([1.5, 3.0], [0, 1, 3, 2])
    """
    X = np.ascontiguousarray(X)
    values, first = _kernels.find_edges(X, _sample(len(X), random_state), max_bins, n_threads)
    codes, has_missing = _codes(X, values, first, n_threads)
    edges = [values[begin:end] for begin, end in pairwise(first)]
    return BinnedData(codes, np.diff(first).astype(np.int32) + 1, has_missing, edges)


def map_to_codes(X: AnyArray, edges: list[Array], n_threads: int = 1) -> AnyArray:
    """The codes of X in the engine's layout, (n_blocks, n, 8)."""
    first = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    return _codes(np.ascontiguousarray(X), np.concatenate([*edges, []]), first, n_threads)[0]


def _sample(n: int, random_state: int) -> AnyArray | None:
    """The rows that edges are taken from, ascending; None means all of them."""
    if n <= SAMPLE_ROWS:
        return None
    return np.sort(np.random.default_rng(random_state).choice(n, SAMPLE_ROWS, replace=False))


def _codes(X: AnyArray, edges: Array, first_edge: AnyArray, n_threads: int) -> tuple[AnyArray, AnyArray]:
    """Codes (n_blocks, n, 8), and which features have missing values; `edges` holds one feature's after another's."""
    n, p = X.shape
    codes = np.zeros((-(-p // _kernels.TILE), n, _kernels.TILE), dtype=np.uint8)
    has_missing = np.zeros(p, dtype=np.uint8)
    _kernels.bin_values(X, edges, first_edge, codes, has_missing, n_threads)
    return codes, has_missing
