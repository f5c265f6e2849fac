"""Binning: values → uint8 codes; code = number of the feature's edges below the value, ``edges[b-1] < x <= edges[b]``.

Up to ``max_bins`` distinct values every value has a bin of its own and edges lie midway between neighbours, so a
split on codes is exactly a split on values; beyond that, edges are quantiles. A missing value (NaN) has the code
after the last bin.

The values of a categorical feature are numbers of categories already, and its codes are these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import _kernels
from ._cached import cached
from ._typing import AnyArray, Array

MAX_BINS = 255  # the 256th code is left for missing values
MAX_CATEGORIES = 254
# More rows than this do not make better quantiles (bins of a million rows then differ by less than a tenth from equal
# counts), and would take most of the time: 230 ms instead of 73 ms for 1000000 × 20 values, of which codes take 40 ms.
SAMPLE_ROWS = 200_000


def auto_bins(n: int, p: int) -> int:
    """Bins per feature that suit n rows of p features.

    As many as there can be, except where few rows have many features: there most bins of a node are empty, and going
    through them is what a round costs (isolet, 4678 × 617: 149 ms with 255 bins, 20 ms with 32, the same accuracy).
    """
    return min(max(2**15 // p, n // 64, 32), MAX_BINS)


@dataclass(frozen=True, eq=False)
class BinnedData:
    """Training data as codes, in the engine's layout.

    Attributes
    ----------
    codes : (n_blocks, n, 8) uint8, features in blocks of 8; feature f is ``codes[f // 8, :, f % 8]``
    n_bins : (p,) int32, bins of finite values; a missing value has code ``n_bins[f]``
    has_missing : (p,) uint8
    edges : list of p ascending arrays, ``n_bins[f] - 1`` edges each; of a categorical feature ½, 1½, …, for codes alone
    categorical : (p,) uint8, features whose codes are categories without an order
    """

    codes: AnyArray
    n_bins: AnyArray
    has_missing: AnyArray
    edges: list[Array]
    categorical: AnyArray = None  # type: ignore[assignment]  # becomes zeros

    def __post_init__(self) -> None:
        if self.categorical is None:
            object.__setattr__(self, "categorical", np.zeros(len(self.edges), dtype=np.uint8))

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

    @cached
    def seen_categories(self) -> AnyArray:
        """The categories that occur in each feature, (p, 32) uint8: bit b % 8 of byte b // 8 is category b."""
        seen = np.zeros((self.p, 256), dtype=bool)
        for f in np.flatnonzero(self.categorical).tolist():
            seen[f, self.column(f)] = True
            seen[f, self.n_bins[f] :] = False  # missing values are no category
        return np.packbits(seen, axis=1, bitorder="little")


def bin_data(
    X: AnyArray,
    max_bins: int = MAX_BINS,
    n_threads: int = 1,
    random_state: int = 0,
    categorical: AnyArray | None = None,
) -> BinnedData:
    """Bin X (n, p), float32 or float64 with NaN for missing values.

    Columns in the mask ``categorical`` (p,) hold categories 0, 1, … below 254, in no order.

    Examples
    --------
    >>> binned = bin_data(np.array([[1.0], [2.0], [np.nan], [4.0]]))
    >>> binned.edges[0].tolist(), binned.column(0).tolist()
    ([1.5, 3.0], [0, 1, 3, 2])
    """
    X = np.ascontiguousarray(X)
    values, first = _kernels.find_edges(X, _sample(len(X), random_state), max_bins, n_threads)
    edges = [values[begin:end] for begin, end in pairwise(first)]
    is_category = np.zeros(len(edges), dtype=np.uint8)
    if categorical is not None:
        is_category[np.asarray(categorical, dtype=bool)] = 1
        edges = [category_edges(X[:, f], f) if is_category[f] else e for f, e in enumerate(edges)]
        values, first = _joined(edges)
    codes, has_missing = _codes(X, values, first, n_threads)
    return BinnedData(codes, np.diff(first).astype(np.int32) + 1, has_missing, edges, is_category)


def category_edges(values: AnyArray, f: int) -> Array:
    """Edges ½, 1½, … with which the code of a category is its number; ``f`` is the column, for messages."""
    values = values[~np.isnan(values)]
    if not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
        raise ValueError(f"column {f} is categorical; its values must be 0, 1, 2, … or missing.")
    largest = int(values.max(initial=0))
    if largest >= MAX_CATEGORIES:
        raise ValueError(
            f"column {f} is categorical and has category {largest}; at most {MAX_CATEGORIES} categories (0 to "
            f"{MAX_CATEGORIES - 1}) are possible."
        )
    return np.arange(largest, dtype=np.float64) + 0.5


def map_to_codes(X: AnyArray, edges: list[Array], n_threads: int = 1) -> AnyArray:
    """The codes of X in the engine's layout, (n_blocks, n, 8)."""
    return _codes(np.ascontiguousarray(X), *_joined(edges), n_threads)[0]


def _joined(edges: list[Array]) -> tuple[Array, AnyArray]:
    """Edges one feature's after another's, and where each feature's begin."""
    return np.concatenate([*edges, []]), np.cumsum([0, *map(len, edges)], dtype=np.int64)


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
