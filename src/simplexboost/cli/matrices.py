"""LIBSVM files: sparse rows of numbers without names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._typing import AnyArray
from .blocks import first_words
from .errors import InputError
from .sources import Source, opened
from .texts import told

LINES = 1 << 15  # lines of a block


def read_libsvm(source: Source, zero_based: bool, n_features: int | None = None) -> tuple[Any, AnyArray]:
    """The whole file: a sparse matrix (n, p), and labels (n,)."""
    with told(source), opened(source) as stream:
        X, y = parse(source, stream, zero_based, n_features)
    if not X.shape[0]:
        raise InputError(f"{source.name} has no rows.")
    return X, y


def libsvm_blocks(source: Source, zero_based: bool, n_features: int) -> Iterator[tuple[Any, AnyArray]]:
    """The file in blocks of rows, for a model of so many features."""
    with told(source), opened(source) as stream:
        while lines := list(islice(stream, LINES)):
            yield parse(source, io.BytesIO(b"".join(lines)), zero_based, n_features)


def parse(source: Source, stream: Any, zero_based: bool, n_features: int | None) -> tuple[Any, AnyArray]:
    """The rows of a stream; whole labels are integers."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(stream, n_features=n_features, zero_based=zero_based)
    except ValueError as error:
        hint = ""
        if "index 0" in str(error):
            hint = "; its features are numbered from 0, so pass --zero-based"
        elif n_features is not None and "features" in str(error):
            hint = f"; the model has {n_features} features"
        raise InputError(f"{source.name} is not a LIBSVM file that can be read: {first_words(error)}{hint}.") from error
    return X, y.astype(np.int64) if (y == np.rint(y)).all() else y
