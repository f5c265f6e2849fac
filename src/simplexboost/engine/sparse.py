"""Sparse tables: their codes, and reading columns of a table that may be sparse.

A sparse table is a matrix or array of SciPy in CSR format, in canonical form: indices ascend in every row, no entry is
stored twice, no zero is stored. What is not stored is zero, a value like any other; missing values are stored as NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from .._typing import AnyArray


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The codes of a sparse table: those that differ from the code of zero, column by column.

    Attributes
    ----------
    n : the number of rows
    zero : (p,) uint8, the code of zero in each column
    first : (p + 1,) int64, where the entries of each column begin
    rows : (n_entries,) uint32, ascending in each column
    codes : (n_entries,) uint8
    """

    n: int
    zero: AnyArray
    first: AnyArray
    rows: AnyArray
    codes: AnyArray

    def column(self, f: int) -> AnyArray:
        """The codes of one feature, (n,)."""
        out = np.full(self.n, self.zero[f], dtype=np.uint8)
        entries = slice(self.first[f], self.first[f + 1])
        out[self.rows[entries]] = self.codes[entries]
        return out

    def subset(self, rows: AnyArray | slice) -> SparseCodes:
        """The codes of some of the rows."""
        return self._with_rows(self._by_rows()[rows])

    def gathered(self, gather: Callable[[AnyArray], AnyArray]) -> SparseCodes:
        """The same columns with other rows: what a function of arrays (n,) makes of the rows, which are objects."""
        table = self._by_rows()
        pairs = ((table.indices[begin:end], table.data[begin:end]) for begin, end in pairwise(table.indptr.tolist()))
        rows = gather(np.fromiter(pairs, dtype=object, count=self.n)).tolist()
        ends = np.cumsum([0, *(len(codes) for _, codes in rows)])
        columns = np.concatenate([table.indices[:0], *(some for some, _ in rows)])
        codes = np.concatenate([table.data[:0], *(some for _, some in rows)])
        return self._with_rows(csr_array((codes, columns, ends), (len(rows), len(self.zero))))

    def _by_rows(self) -> Any:
        """The codes as a table of SciPy, in which codes of zero are not stored."""
        return csc_array((self.codes, self.rows.view(np.int32), self.first), (self.n, len(self.zero))).tocsr()

    def _with_rows(self, table: Any) -> SparseCodes:
        """The codes of other rows in such a table."""
        part = table.tocsc()
        part.sort_indices()
        first, of = part.indptr.astype(np.int64, copy=False), part.indices.astype(np.uint32, copy=False)
        return SparseCodes(part.shape[0], self.zero, first, of, part.data)


def column_of(X: Any, f: int) -> AnyArray:
    """The values of one column of a table, sparse or not, (n,)."""
    return X[:, [f]].toarray()[:, 0] if issparse(X) else X[:, f]
