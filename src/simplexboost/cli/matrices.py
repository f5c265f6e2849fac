"""LIBSVM files: sparse rows of numbers without names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._typing import AnyArray
from .blocks import first_words
from .errors import InputError
from .sources import Source, opened
from .texts import told

LINES = 1 << 15  # lines of a block
MOST_INDEX = np.iinfo(np.int32).max


class Lines:
    """Lines that are read one after another, and the number of the last one, counted from 1."""

    def __init__(self, lines: Iterable[bytes], number: int = 0) -> None:
        self.lines, self.number = lines, number

    def __iter__(self) -> Iterator[bytes]:
        for line in self.lines:
            self.number += 1
            yield line

    def read(self) -> bytes:
        """All of them: what scikit-learn takes for a file has this method, and it reads line by line."""
        return b"".join(self)


def read_libsvm(source: Source, zero_based: bool, n_features: int | None = None) -> tuple[Any, AnyArray]:
    """The whole file: a sparse matrix (n, p), and labels (n,)."""
    with told(source), opened(source) as stream:
        X, y = parse(source, Lines(stream), zero_based, n_features)
    if not X.shape[0]:
        raise InputError(f"{source.name} has no rows.")
    return X, y


def libsvm_blocks(source: Source, zero_based: bool, n_features: int) -> Iterator[tuple[Any, AnyArray]]:
    """The file in blocks of rows, for a model of so many features."""
    with told(source), opened(source) as stream:
        number = 0
        while lines := list(islice(stream, LINES)):
            yield parse(source, Lines(lines, number), zero_based, n_features)
            number += len(lines)


def parse(source: Source, lines: Lines, zero_based: bool, n_features: int | None) -> tuple[Any, AnyArray]:
    """The rows of some lines; whole labels are integers."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(lines, n_features=n_features, zero_based=zero_based)
    except OverflowError as error:
        raise InputError(
            f"{source.name}, line {lines.number}: a number of a feature, or of the line's query, is too large; the "
            f"largest possible is {MOST_INDEX}."
        ) from error
    except ValueError as error:
        hint = ""
        if "index 0" in str(error):
            hint = "; its features are numbered from 0, so pass --zero-based"
        elif n_features is not None and "features" in str(error):
            hint = f"; the model has {n_features} features"
        raise InputError(f"{source.name} is not a LIBSVM file that can be read: {first_words(error)}{hint}.") from error
    return X, y.astype(np.int64) if (y == np.rint(y)).all() else y
