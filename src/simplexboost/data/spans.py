"""Between which numbers the values of the columns lie, and the rows block by block as numbers of double precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._typing import AnyArray, Array

NEARLY_CONSTANT = 1e-6  # a column that varies by less than this part of its values is as good as constant
EXTREME = 1e100  # sizes of values whose products with others might overflow
BLOCK = 1 << 17  # values that are converted at a time


def column_spans(X: Any) -> tuple[Array, Array]:
    """The middle of every column of X (n, p) and half the width of its values, (p,) each.

    The width is NaN where sums of products may be far off: where values are missing, extreme, or nearly all the same.
    """
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for _, block in float_blocks(X, None):
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    size = np.maximum(np.abs(low), np.abs(high))
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    tame = (size == 0) | ((half > NEARLY_CONSTANT * size) & (size < EXTREME) & (size > 1 / EXTREME))
    return middle, np.where(tame, half, np.nan)


def float_blocks(X: Any, rows: AnyArray | None) -> Iterator[tuple[AnyArray | slice, Array]]:
    """Some rows of X (n, p), or all, block by block: which they are, and their values, (b, p) float64."""
    n, size = X.shape[0] if rows is None else len(rows), max(1, BLOCK // max(1, X.shape[1]))
    for begin in range(0, n, size):
        part = slice(begin, begin + size) if rows is None else rows[begin : begin + size]
        yield part, (X[part].toarray() if issparse(X) else X[part]).astype(np.float64)
