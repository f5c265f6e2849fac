"""Any table file as blocks of columns: text files by `texts`, typed ones here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from .background import in_background
from .errors import InputError, some
from .sources import Source, opened
from .texts import Declared, TextOptions, Texts, check_names, open_text

ROWS = 1 << 16  # rows of a block, where the format leaves that open


@contextmanager
def blocks_of(source: Source, options: TextOptions, part: str = "train") -> Iterator[Texts]:
    """The columns of a table file and its blocks; ``part`` says which part of an NPZ file with two parts is meant."""
    with opened(source) as stream:
        if source.format in ("csv", "tsv", "arff"):
            table = open_text(source, stream, options)
            yield replace(table, blocks=in_background(table.blocks)) if source.path == "-" else table
        elif source.format == "npz":
            yield npz_blocks(source, stream, part)
        else:
            yield typed_blocks(source, stream)


def typed_blocks(source: Source, stream: BinaryIO) -> Texts:
    """Parquet and Feather."""
    import pyarrow.ipc
    import pyarrow.parquet

    try:
        if source.format == "parquet":
            file = pyarrow.parquet.ParquetFile(stream)
            schema, batches = file.schema_arrow, file.iter_batches(ROWS)
        else:
            reader = pa.ipc.open_file(stream)
            schema, batches = reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
    except (pa.ArrowException, OSError) as error:
        name = "a Parquet" if source.format == "parquet" else "a Feather"
        raise InputError(f"{source.name} is not {name} file, or it is damaged: {first_words(error)}.") from error
    check_names(schema.names, source)
    return Texts(Declared(list(schema.names)), slices(batches))


def slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in blocks that are not too large."""
    for batch in batches:
        for begin in range(0, batch.num_rows, ROWS):
            yield batch.slice(begin, ROWS)


def npz_blocks(source: Source, stream: BinaryIO, part: str) -> Texts:
    """An NPZ file with X (n, p) and perhaps y (n,), or X_train, y_train, X_test, y_test; also names and categories.

    ``feature_names`` (p,) names the columns, else they are c1, c2, …; ``categorical`` (p,) marks categories;
    ``class_names`` (K,) names the numbers in y. The labels are the last column, "y".
    """
    try:
        with np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name_of(name, part) in KEYS}
            names = file.files
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InputError(f"{source.name} is not an NPZ file that can be read: {first_words(error)}.") from error
    chosen = {name_of(name, part): values for name, values in arrays.items()}
    if chosen.get("X") is None or chosen["X"].ndim != 2:
        raise InputError(f"{source.name} has no table X of rows and columns; it holds {some(names)}.")
    X, y = chosen["X"], chosen.get("y")
    if y is not None and y.shape != (len(X),):
        raise InputError(f"{source.name}: y has shape {y.shape}, but X has {len(X)} rows.")
    if y is not None and "class_names" in chosen and y.dtype.kind in "iu":
        y = chosen["class_names"][y]
    columns = [str(name) for name in chosen.get("feature_names", [f"c{i}" for i in range(1, X.shape[1] + 1)])]
    check_names([*columns, "y"], source)
    marked = np.asarray(chosen.get("categorical", np.zeros(len(columns), dtype=bool)))
    kinds = {name: "text" for name, is_one in zip(columns, marked, strict=True) if is_one}
    return Texts(Declared(columns + ["y"] * (y is not None), kinds), npz_rows(X, y, columns))


KEYS = ("X", "y", "feature_names", "categorical", "class_names")


def name_of(name: str, part: str) -> str:
    """X_train and y_train are X and y, if the training part is meant."""
    return name.removesuffix(f"_{part}")


def npz_rows(X: Any, y: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows in blocks."""
    for begin in range(0, len(X), ROWS):
        rows = slice(begin, begin + ROWS)
        columns = {name: pa.array(np.ascontiguousarray(X[rows, j])) for j, name in enumerate(names)}
        if y is not None:
            columns["y"] = pa.array(y[rows])
        yield pa.RecordBatch.from_pydict(columns)


def first_words(error: Exception) -> str:
    """An error of a library in a few words."""
    return " ".join(str(error).split())[:200].rstrip(".")
