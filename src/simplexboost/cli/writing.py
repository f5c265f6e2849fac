"""Writes tables to files that appear complete or not at all."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from ..persist.atomic_write import whole_file
from .errors import ArgumentError, InputError
from .kinds import NUMBER
from .readers import COMPRESSED, FORMATS

PIECE = 1 << 16  # bytes written at a time: a pipe that nobody reads is noticed soon
WRITTEN = ("csv", "tsv", "parquet", "feather")
FORMULA = r"^\s*[=+\-@\t\r＝＋－＠]"  # how text begins that spreadsheets compute


def output_format(path: str) -> tuple[str, str | None]:
    """Return format and compression (or None) of an output file, from its extension; standard output is CSV."""
    if path == "-":
        return "csv", None
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = COMPRESSED[suffixes.pop()] if suffixes and suffixes[-1] in COMPRESSED else None
    found = FORMATS.get(suffixes[-1] if suffixes else "")
    if found not in WRITTEN:
        known = ", ".join(suffix for suffix, name in FORMATS.items() if name in WRITTEN)
        raise ArgumentError(
            f"-o {path}: the extension must be one of {known}, perhaps with {', '.join(COMPRESSED)} after it."
        )
    return found, compression


def check_writable(path: str, inputs: dict[str, str | None], beside: Sequence[str] = ()) -> None:
    """Raise if a file cannot be written, or would replace a file that the command reads; to be used before any work.

    ``inputs`` maps names for messages to paths of input files, or None; ``beside`` are the extensions of further files
    that are written beside the output.
    """
    if path == "-":
        return
    where = Path(path)
    folder = where.resolve().parent
    if where.is_dir():
        raise InputError(f"-o {path} is a folder; pass a file name.")
    if not folder.is_dir():
        raise InputError(f"-o {path}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"-o {path}: the folder {folder} may not be written to.")
    for what, read in inputs.items():
        for other in (where, *map(where.with_suffix, beside)):
            if read in (None, "-") or not (other.is_file() and Path(read).is_file() and other.samefile(read)):
                continue
            if other is where:
                raise ArgumentError(f"-o {path} is {what} itself, which would be lost; pass another name.")
            story = f"also writes {other}, which is {what} itself and would be lost"
            raise ArgumentError(f"-o {path} {story}; pass another name.")


@contextmanager
def open_output(path: str) -> Iterator[IO[bytes]]:
    """Open an output: a file that appears complete or not at all, a pipe or device, or "-" for standard output."""
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif Path(path).exists() and not Path(path).is_file():
        with open(path, "wb") as stream:
            yield stream
    else:
        with whole_file(Path(path)) as stream:
            yield stream


class CSVWriter:
    """A writer of CSV files that quotes text only if necessary, whereas pyarrow alone quotes all text."""

    def __init__(self, stream: IO[bytes], delimiter: str, names: list[str]) -> None:
        self.stream, self.delimiter = stream, delimiter
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(names)
        stream.write(header.getvalue().encode())

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table; if some text needs quotes, all text of this table is quoted."""
        for quotes in ("none", "needed"):
            options = pyarrow.csv.WriteOptions(include_header=False, delimiter=self.delimiter, quoting_style=quotes)
            lines = io.BytesIO()
            try:
                pyarrow.csv.write_csv(table, lines, options)
                break
            except pa.ArrowInvalid:
                if quotes == "needed":
                    raise
        block = lines.getvalue()
        for begin in range(0, len(block), PIECE):
            self.stream.write(block[begin : begin + PIECE])

    def close(self) -> None:
        """Do nothing, since `write_table` has written all rows."""


def escape_table(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before column names and text that a spreadsheet would run as formulas."""
    names = escape_formulas(pa.chunked_array([pa.array(table.column_names, pa.string())])).to_pylist()
    return pa.table([escape_formulas(values) for values in table.columns], names=names)


def escape_formulas(values: Any) -> Any:
    """Return a column with an apostrophe before text that spreadsheets would run as formulas, not before numbers."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    computed = pc.and_not(pc.match_substring_regex(values, FORMULA), pc.match_substring_regex(values, NUMBER))
    return pc.if_else(computed, pc.binary_join_element_wise(pa.scalar("'", values.type), values, ""), values)


@contextmanager
def table_writer(path: str, escaping: bool = False) -> Iterator[Callable[[pa.Table], None]]:
    """Open an output; the context provides a function that writes rows. ``escaping`` escapes spreadsheet formulas."""
    kind, compression = output_format(path)
    sink: Any = None
    with open_output(path) as plain, compress_stream(plain, compression) as stream:

        def write(table: pa.Table) -> None:
            nonlocal sink
            table = escape_table(table) if escaping else table
            if sink is None and kind == "parquet":
                sink = pyarrow.parquet.ParquetWriter(stream, table.schema)
            elif sink is None and kind == "feather":
                sink = pyarrow.ipc.new_file(stream, table.schema)
            elif sink is None:
                sink = CSVWriter(stream, "\t" if kind == "tsv" else ",", table.column_names)
            sink.write_table(table)

        try:
            yield write
        except BaseException:
            with suppress(Exception):  # the file is given up; its writer must not try to finish it later
                sink.close()
            raise
        if sink is not None:
            sink.close()


@contextmanager
def compress_stream(plain: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    """Open a stream that writes compressed bytes to the stream ``plain``; without compression, yield ``plain``."""
    if compression is None:
        yield plain
    elif compression == "xz":
        import lzma

        with lzma.open(plain, "wb") as stream:
            yield cast(IO[bytes], stream)
    else:
        with pa.CompressedOutputStream(pa.PythonFile(plain, "w"), compression) as stream:
            yield stream
