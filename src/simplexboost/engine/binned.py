"""Stores tables, dense or sparse, as uint8 bin codes.

The bin code of a value x is the number of bin edges below x: code b means ``edges[b-1] < x <= edges[b]``. If a feature
has at most ``max_bins`` distinct values, each value has its own bin, and edges lie midway between neighbouring values:
a split on codes is then exactly a split on values. Otherwise edges are quantiles. A missing value (NaN) has the code
after the last bin. The values of a categorical feature are category codes, which are also its bin codes.

Sparse tables are SciPy matrices or arrays in canonical CSR format: column indices ascend in every row, no entry is
stored twice, no zero is stored. Entries that are not stored are zero; missing values are stored as NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from .._util.arrays import AnyArray, Array
from .._util.compat import cached


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The bin codes of a sparse table, column by column; only codes that differ from the code of zero are stored."""

    n: int  # the number of rows
    zero: AnyArray  # (p,) uint8, the code of zero in each column
    first: AnyArray  # (p + 1,) int64, where the entries of each column begin
    rows: AnyArray  # (n_entries,) uint32, ascending in each column
    codes: AnyArray  # (n_entries,) uint8

    def column(self, f: int) -> AnyArray:
        out = np.full(self.n, self.zero[f], dtype=np.uint8)
        entries = slice(self.first[f], self.first[f + 1])
        out[self.rows[entries]] = self.codes[entries]
        return out

    def subset(self, rows: AnyArray | slice) -> SparseCodes:
        return self._with_rows(self._by_rows()[rows])

    def gather_rows(self, gather: Callable[[AnyArray], AnyArray]) -> SparseCodes:
        """Pass the rows to `gather` as an object array (n,); return the codes of the rows that `gather` returns."""
        table = self._by_rows()
        pairs = ((table.indices[begin:end], table.data[begin:end]) for begin, end in pairwise(table.indptr.tolist()))
        rows = gather(np.fromiter(pairs, dtype=object, count=self.n)).tolist()
        ends = np.cumsum([0, *(len(codes) for _, codes in rows)])
        columns = np.concatenate([table.indices[:0], *(some for some, _ in rows)])
        codes = np.concatenate([table.data[:0], *(some for _, some in rows)])
        return self._with_rows(csr_array((codes, columns, ends), (len(rows), len(self.zero))))

    def _by_rows(self) -> Any:
        """Return the codes as a SciPy CSR array (n, p); entries that have the code of zero are not stored."""
        return csc_array((self.codes, self.rows.view(np.int32), self.first), (self.n, len(self.zero))).tocsr()

    def _with_rows(self, table: Any) -> SparseCodes:
        """Convert a CSR array of bin codes, as `_by_rows` returns it, to `SparseCodes`."""
        part = table.tocsc()
        part.sort_indices()
        first, of = part.indptr.astype(np.int64, copy=False), part.indices.astype(np.uint32, copy=False)
        return SparseCodes(part.shape[0], self.zero, first, of, part.data)


def column_of(X: Any, f: int) -> AnyArray:
    """Return the values (n,) of column f of a dense or sparse table X (n, p)."""
    return X[:, [f]].toarray()[:, 0] if issparse(X) else X[:, f]


TILE = 8  # features in a block of codes: one 64-bit word per row
MAX_BINS = 255  # the 256th code is left for missing values
MAX_CATEGORIES = 254
# Quantiles are taken from at most this many rows. More would hardly be better (the bins of a million rows then differ
# by less than a tenth from equal counts) and would take most of the time: binning 1000000 × 20 values takes 73 ms, of
# which 40 ms are for the codes, and with all rows 230 ms.
SAMPLE_ROWS = 200_000


def auto_bins(n: int, p: int) -> int:
    """Return a good number of bins per feature for n rows of p features.

    It is 255, except for few rows with many features: most bins of a tree node would be empty, and scanning them would
    take most of a round (isolet, 4678 × 617: 149 ms with 255 bins, 20 ms with 32, same accuracy). With thousands of
    features, such as word counts, fewer bins also let the histograms stay in the cache.
    """
    return min(max(2**15 // p, min(n // 64, 2**20 // p), 32), MAX_BINS)


@dataclass(frozen=True, eq=False)
class Edges(Sequence[Array]):
    """The bin edges of all features in one array: sparse tables may have millions of columns without any edges."""

    values: Array  # the edges of one feature after those of another
    first: AnyArray  # (p + 1,) int64, where the edges of each feature begin

    @classmethod
    def of(cls, edges: Sequence[Array]) -> Edges:
        """Return an `Edges` object, given one array of bin edges per feature."""
        return cls(np.concatenate([*edges, []]), np.cumsum([0, *map(len, edges)], dtype=np.int64))

    @property
    def n_bins(self) -> AnyArray:
        """The number of bins of each feature, (p,) int32: its number of edges plus one."""
        return np.diff(self.first).astype(np.int32) + np.int32(1)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, f: Any) -> Any:
        f = range(len(self))[f]
        return self.values[self.first[f] : self.first[f + 1]]


@dataclass(frozen=True, eq=False)
class BinnedData:
    """A training table as bin codes, in the memory layout that all engines share."""

    # (n_blocks, n, 8) uint8, features in blocks of 8; feature f is ``codes[f // 8, :, f % 8]``; or `SparseCodes`
    codes: AnyArray | SparseCodes
    n_bins: AnyArray  # (p,) int32, bins of finite values; a missing value has code ``n_bins[f]``
    has_missing: AnyArray  # (p,) uint8
    # For each feature ``n_bins[f] - 1`` ascending edges; categorical ones have ½, 1½, …, only to compute their codes.
    edges: Edges
    categorical: AnyArray  # (p,) uint8, features whose codes are categories without an order

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "table"}  # the engine makes it again

    @property
    def n(self) -> int:
        return self.codes.n if isinstance(self.codes, SparseCodes) else int(self.codes.shape[1])

    @property
    def p(self) -> int:
        return len(self.edges)

    def subset(self, rows: AnyArray | slice) -> BinnedData:
        """Return the table with only the given rows, and with the same bin edges."""
        if not isinstance(self.codes, np.ndarray):  # of a sparse table, or on a device
            return replace(self, codes=self.codes.subset(rows))
        words = np.ascontiguousarray(self.codes).view(np.uint64)  # faster than byte by byte
        return replace(self, codes=np.ascontiguousarray(words[:, rows]).view(np.uint8))

    def gather_rows(self, gather: Callable[[AnyArray], AnyArray]) -> BinnedData:
        """Pass the bin codes of the rows to `gather`; return the table of the rows whose codes `gather` returns."""
        if isinstance(self.codes, SparseCodes):
            return replace(self, codes=self.codes.gather_rows(gather))
        return replace(self, codes=np.ascontiguousarray(np.moveaxis(gather(np.moveaxis(self.codes, 1, 0)), 0, 1)))

    def column(self, f: int) -> AnyArray:
        if isinstance(self.codes, SparseCodes):
            return self.codes.column(f)
        return self.codes[f // TILE, :, f % TILE]

    def find_varied(self, features: AnyArray | None) -> AnyArray | None:
        """Return the features that can be split on: for a sparse table, only features with more than one value.

        `features` are the feature indices to choose from, ascending; None means all. The result has at least one
        feature, because kernels take the sums over all rows from the bins of some feature.
        """
        if not isinstance(self.codes, SparseCodes):
            return features
        varied = (self.n_bins > 1) | (self.has_missing > 0)
        found = np.flatnonzero(varied).astype(np.int32) if features is None else features[varied[features]]
        if len(found):
            return found
        return np.zeros(1, dtype=np.int32) if features is None else features[:1]

    @cached
    def seen_categories(self) -> AnyArray:
        """The category codes in each feature, (p, 32) uint8: bit b % 8 of byte b // 8 tells if category b occurs."""
        out = np.zeros((self.p, 32), dtype=np.uint8)
        for f in np.flatnonzero(self.categorical).tolist():
            seen = np.isin(np.arange(256), self.column(f))
            seen[self.n_bins[f] :] = False  # a missing value is not a category
            out[f] = np.packbits(seen, bitorder="little")
        return out


@dataclass(frozen=True, eq=False)
class CodedRows:
    """A table X (n, p) of which only the bin codes are kept.

    The codes are enough to find the leaf of each row in trees whose thresholds are bin edges.
    """

    binned: BinnedData

    @property
    def shape(self) -> tuple[int, int]:
        return self.binned.n, self.binned.p

    def __getitem__(self, rows: AnyArray | slice) -> CodedRows:
        return CodedRows(self.binned.subset(rows))


def category_mask(categorical: AnyArray | None, p: int) -> AnyArray:
    if categorical is None:
        return np.zeros(p, dtype=np.uint8)
    return np.asarray(categorical, dtype=bool).astype(np.uint8)


def infinity_at(value: Any, where: str, row: int) -> ValueError:
    """Return the ValueError for an infinite value in X; `where` names the column, `row` is the row index."""
    return ValueError(
        f"X contains infinity: {value} in {where}, row {row}. Replace it by a finite number, or by NaN, which means "
        "missing."
    )


def category_edges(values: AnyArray, f: int) -> Array:
    """Return the bin edges ½, 1½, … of categorical column f; raise unless `values` are category codes or NaN."""
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


def sampled_rows(n: int) -> AnyArray | None:
    """Return the indices of the rows to compute bin edges from, ascending, the same for equal n; None for all rows."""
    if n <= SAMPLE_ROWS:
        return None
    return np.sort(np.random.default_rng(0).choice(n, SAMPLE_ROWS, replace=False))
