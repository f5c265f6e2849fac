"""Binning: values → uint8 codes; code = number of the feature's edges below the value, ``edges[b-1] < x <= edges[b]``.

Up to ``max_bins`` distinct values every value has a bin of its own and edges lie midway between neighbours, so a
split on codes is exactly a split on values; beyond that, edges are quantiles. A missing value (NaN) has the code
after the last bin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _kernels
from ._typing import AnyArray, Array

MAX_BINS = 255  # the 256th code is left for missing values
SAMPLE_ROWS = 200_000  # quantiles of more rows than this are taken from a random sample of this size


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
    n, p = X.shape
    sample = X if n <= SAMPLE_ROWS else X[np.random.default_rng(random_state).choice(n, SAMPLE_ROWS, replace=False)]
    edges = [find_edges(sample[:, f], max_bins) for f in range(p)]
    n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int32)
    codes = map_to_codes(X, edges, n_threads)
    has_missing = np.asarray(np.isnan(X).any(axis=0), dtype=np.uint8)
    return BinnedData(codes, n_bins, has_missing, edges)


def find_edges(values: AnyArray, max_bins: int) -> Array:
    """Ascending edges, at most ``max_bins - 1``, that separate the values of one feature."""
    values = values[~np.isnan(values)].astype(np.float64)
    distinct = np.unique(values)
    if len(distinct) > max_bins:
        ranks = np.linspace(0, 1, max_bins + 1)[1:-1]
        lower = np.unique(np.quantile(values, ranks, method="lower"))
        lower = lower[lower < distinct[-1]]
        upper = distinct[np.searchsorted(distinct, lower, side="right")]  # the next value in the data
    else:
        lower, upper = distinct[:-1], distinct[1:]
    middle = lower + (upper - lower) / 2
    return np.where(middle < upper, middle, lower)  # neighbours in floating point have no number between them


def map_to_codes(X: AnyArray, edges: list[Array], n_threads: int = 1) -> AnyArray:
    """The codes of X in the engine's layout, (n_blocks, n, 8)."""
    n, p = X.shape
    codes = np.zeros((-(-p // _kernels.TILE), n, _kernels.TILE), dtype=np.uint8)
    first = np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64)
    _kernels.bin_values(np.ascontiguousarray(X), np.concatenate([*edges, []]), first, codes, n_threads)
    return codes
