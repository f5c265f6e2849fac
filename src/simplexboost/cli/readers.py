"""Reads tables in blocks of rows: CSV, TSV, ARFF, LIBSVM, NPZ, Parquet and Feather, also compressed.

All columns of text files are read as text, which `kinds` then converts. pyarrow's own guess would read the code 06000
as the number 6000, and a column of numbers with a single "unknown" as text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .._util.arrays import AnyArray
from .errors import ArgumentError, InputError, list_some, one_line

FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
    ".npz": "npz",
}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".xz": "xz"}
PYTHON = {"gzip": "gzip", "bz2": "bz2", "xz": "lzma"}  # pyarrow reads no xz, and takes a cut file for a complete one
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SEEKABLE = ("parquet", "feather", "npz")  # their readers jump about in the file
WORDS = "NA N/A n/a na NaN nan NAN -nan NULL null None none ? <NA> #N/A"
MISSING = ("", *WORDS.split())  # what stands for a missing value
HEAD = 1 << 20  # bytes in which the header is looked for
BLOCK = 1 << 20  # bytes; pyarrow reads up to 32 blocks ahead
TOGETHER = 4  # blocks that are handled as one
ROWS = 1 << 16  # rows of a block, where the format leaves that open
END = object()


@dataclass(frozen=True)
class TableOptions:
    """The user's options for reading a table; None leaves the choice to the reader."""

    target: str | None = None  # the column of labels, by name or position; None is the last one in a fit
    weight: str | None = None  # the column of sample weights, by name or position
    categorical: tuple[str, ...] = ()  # names of columns
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    format: str | None = None  # one of the values of `FORMATS`
    zero_based: bool = False  # whether the features of a LIBSVM file are numbered from 0
    delimiter: str | None = None  # one character
    header: bool = True  # whether the first line has names; without it columns are named c1, c2, …
    encoding: str = "utf-8"
    decimal: str | None = None  # before the fraction of a number, "." or ","; None is "," if the delimiter is ";"
    missing: tuple[str, ...] = MISSING  # the words for a missing value


@dataclass(frozen=True)
class Source:
    """A table to read: its path, or "-" for standard input, its format, its compression or None, and its options."""

    path: str
    format: str
    compression: str | None
    options: TableOptions

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        return "standard input" if self.path == "-" else self.path


@dataclass
class OpenTable:
    """A table that is open for reading: an iterator over blocks of rows, and the names and kinds of the columns."""

    names: list[str]
    blocks: Iterator[pa.RecordBatch]
    kinds: dict[str, str] = field(default_factory=dict)  # "number" or "text" for columns of declared kind (ARFF, NPZ)
    decimal: str = "."  # before the fraction of a number, "." or ","


def find_source(path: str, options: TableOptions) -> Source:
    """Return the `Source` for a path; without --format, the extension gives the format, and standard input is CSV."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = COMPRESSED.get(suffixes.pop()) if suffixes and suffixes[-1] in COMPRESSED else None
    suffix = suffixes[-1] if suffixes else ""
    kind = options.format or ("csv" if path == "-" else FORMATS.get(suffix))
    if path != "-":
        check_readable(path)
    if kind is None and suffix in SPREADSHEETS:
        raise InputError(f"{path} is a spreadsheet, which is not read; save its sheet as CSV and pass that.")
    if kind is None:
        raise InputError(
            f"{path}: the extension does not tell the format; it must be one of {', '.join(FORMATS)} (compressed: "
            f"{', '.join(COMPRESSED)}), or pass --format."
        )
    if options.delimiter is not None and kind not in ("csv", "tsv"):
        raise ArgumentError(f"--delimiter is for CSV and TSV; {'standard input' if path == '-' else path} is {kind}.")
    return Source(path, kind, compression, options)


def check_readable(path: str) -> None:
    """Raise unless a path exists, can be read, is no folder, and is not an empty file."""
    where = Path(path)
    if not where.exists():
        raise InputError(f"{path}: there is no such file.")
    if where.is_dir():
        raise InputError(f"{path} is a folder; pass a file.")
    open(path, "rb").close()  # raises if it may not be read
    if where.is_file() and where.stat().st_size == 0:
        raise InputError(f"{path} is empty.")


@contextmanager
def open_stream(source: Source) -> Iterator[BinaryIO]:
    """Open a source as a stream of decompressed bytes; a temporary file holds them if the format needs to seek."""
    with ExitStack() as stack:
        stream = plain = sys.stdin.buffer if source.path == "-" else stack.enter_context(open(source.path, "rb"))
        if source.compression in PYTHON:
            stream = import_module(PYTHON[source.compression]).open(plain)
        elif source.compression is not None:
            stream = pa.CompressedInputStream(pa.PythonFile(plain, "r"), source.compression)
        if source.format in SEEKABLE and (stream is not plain or source.path == "-"):
            copy = stack.enter_context(tempfile.TemporaryFile())
            with errors_in_words(source):
                shutil.copyfileobj(stream, copy, HEAD)
            copy.seek(0)
            stream = cast(BinaryIO, copy)
        yield stream


@contextmanager
def open_table(source: Source, part: str = "train") -> Iterator[OpenTable]:
    """Open a table of any format but LIBSVM; ``part`` selects "train" or "test" in an NPZ file that has both."""
    with open_stream(source) as stream:
        if source.format in ("csv", "tsv", "arff"):
            with errors_in_words(source):
                table = (open_arff if source.format == "arff" else open_csv)(source, stream)
            table.blocks = iterate_in_background(table.blocks) if source.path == "-" else table.blocks
        elif source.format == "npz":
            table = open_npz(source, stream, part)
        else:
            table = open_typed(source, stream)
        if len(set(table.names)) < len(table.names):
            twice = sorted({name for name in table.names if table.names.count(name) > 1})
            raise InputError(f"{source.name} has several columns of the same name: {list_some(twice)}; rename them.")
        yield table


def iterate_in_background(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items that another thread computes.

    Python handles signals in its main thread. If pyarrow waited for standard input in that thread, Ctrl-C would have no
    effect.
    """
    pool = ThreadPoolExecutor(1)
    try:
        while (item := pool.submit(next, items, END).result()) is not END:
            yield item
    finally:
        pool.shutdown(wait=False)


@contextmanager
def errors_in_words(source: Source) -> Iterator[None]:
    """Turn errors of file readers within this context into an `InputError` with a sentence about the file."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        words = one_line(error)
        if "UTF8" in words or isinstance(error, UnicodeError):
            raise InputError(
                f"{source.name} is not UTF-8 text; pass its encoding, for instance --encoding latin-1 or utf-16."
            ) from error
        if isinstance(error, EOFError) or type(error).__name__ in ("BadGzipFile", "LZMAError", "error"):
            raise InputError(f"{source.name} cannot be decompressed: {words}") from error
        if isinstance(error, LookupError) and "encoding" in words:
            raise InputError(f"--encoding: {words}.") from error
        if isinstance(error, pa.ArrowInvalid) or (isinstance(error, OSError) and error.errno is None):
            words = words.removeprefix("CSV parse error: ")[:300]
            raise InputError(f"{source.name} cannot be read: {words}") from error
        raise


# ---- text -----------------------------------------------------------------------------------------------------------


class RejoinedStream(io.RawIOBase):
    """A stream of bytes that were already read from another stream, followed by the rest of that stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def read_head(source: Source, stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Return the first bytes of a stream, and a stream that contains everything, including the first bytes."""
    head = stream.read(HEAD)
    if not head:
        raise InputError(f"{source.name} is empty.")
    return head, cast(BinaryIO, io.BufferedReader(RejoinedStream(head, stream), HEAD))


def open_csv(source: Source, stream: BinaryIO) -> OpenTable:
    """Open a CSV or TSV file; the first row that is not empty has the column names if there is a header."""
    options = source.options
    head, stream = read_head(source, stream)
    if b"\0" in head and "16" not in options.encoding and "32" not in options.encoding:  # UTF-8 has no zero bytes
        hint = " (UTF-16 text: --encoding utf-16)" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
        raise InputError(f"{source.name} is not a text file{hint}.")
    # Bytes that are not UTF-8 become surrogates, since they may be in the rows, where another error reports them.
    errors = "surrogateescape" if options.encoding == "utf-8" else "strict"
    text = head.decode(options.encoding, errors).lstrip("\ufeff")
    line = next((line for line in text.splitlines() if line.strip()), "")
    if not line:
        raise InputError(f"{source.name} has no header line.")
    bare = re.sub(r'"[^"]*"', "", line)
    delimiter = options.delimiter or ("\t" if source.format == "tsv" else max([",", "\t", ";", "|"], key=bare.count))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    cells = next((row for row in rows if any(cell.strip() for cell in row)), None)
    if cells is None:
        raise InputError(f"{source.name} has no header line: its first line names no column.")
    names = [(" ".join(cell.split()) if options.header else "") or f"c{i}" for i, cell in enumerate(cells, 1)]
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        raise InputError(f"{source.name} is not UTF-8 text; pass its encoding, for instance --encoding latin-1.")
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    blocks = text_blocks(source, stream, names, parse, rows.line_num - (not options.header))
    return OpenTable(names, blocks, decimal=options.decimal or ("," if delimiter == ";" else "."))


def text_blocks(
    source: Source, stream: BinaryIO, names: list[str], parse: Any, skipped: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of the rows after the header; all columns are text, and missing values are null."""
    read = pyarrow.csv.ReadOptions(
        use_threads=False, block_size=BLOCK, column_names=names, skip_rows=skipped, encoding=source.options.encoding
    )
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=list(source.options.missing),
        strings_can_be_null=True,
    )
    with errors_in_words(source):
        try:
            reader = pyarrow.csv.open_csv(stream, read, parse, convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return
            raise
        while some_blocks := list(islice(reader, TOGETHER)):
            yield from pa.Table.from_batches(some_blocks).combine_chunks().to_batches()


ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.*)""", re.IGNORECASE)


def open_arff(source: Source, stream: BinaryIO) -> OpenTable:
    """Open an ARFF file: a header that declares column names and kinds, followed by rows as in a CSV file."""
    names, kinds = [], {}
    for raw in iter(stream.readline, b""):
        line = raw.decode(source.options.encoding, errors="replace").strip()
        if line.lower().startswith("@data"):
            break
        if found := ATTRIBUTE.match(line):
            names.append(re.sub(r"\\(.)", r"\1", found[1].strip("'\"")))
            kind = found[2].split()[0].lower()
            if kind.startswith("{") or kind in ("numeric", "real", "integer"):
                kinds[names[-1]] = "text" if kind.startswith("{") else "number"
    else:
        raise InputError(f"{source.name} has no line @data, so it is not an ARFF file.")
    head, stream = read_head(source, stream)
    if re.search(rb"^\s*\{", head, re.MULTILINE):
        raise InputError(f"{source.name} is a sparse ARFF file, which is not supported; LIBSVM files are.")

    quote = "'" if b"'" in head and b'"' not in head else '"'
    parse = pyarrow.csv.ParseOptions(quote_char=quote, escape_char="\\", newlines_in_values=True)
    if re.search(rb"^\s*%", head, re.MULTILINE):  # rows that are comments are skipped
        parse.invalid_row_handler = lambda row: "skip" if (row.text or "").lstrip().startswith("%") else "error"
    return OpenTable(names, text_blocks(source, stream, names, parse), kinds)


# ---- files with types -----------------------------------------------------------------------------------------------


def open_typed(source: Source, stream: BinaryIO) -> OpenTable:
    """Open a Parquet or Feather file."""
    import pyarrow.ipc
    import pyarrow.parquet

    batches: Iterator[pa.RecordBatch]
    try:
        if source.format == "parquet":
            file = pyarrow.parquet.ParquetFile(stream)
            names, batches = file.schema_arrow.names, file.iter_batches(ROWS)
        else:
            reader = pa.ipc.open_file(stream)
            names, batches = reader.schema.names, (reader.get_batch(i) for i in range(reader.num_record_batches))
    except (pa.ArrowException, OSError) as error:
        what = f"a {source.format.capitalize()} file, or it is damaged"
        raise InputError(f"{source.name} is not {what}: {first_words(error)}.") from error
    slices = (batch.slice(begin, ROWS) for batch in batches for begin in range(0, batch.num_rows, ROWS))
    return OpenTable(list(names), slices)


def open_npz(source: Source, stream: BinaryIO, part: str) -> OpenTable:
    """Open an NPZ file with the arrays X (n, p) and perhaps y (n,), or X_train, y_train, X_test and y_test.

    Optional arrays: ``feature_names`` (p,), else columns are c1, c2, …; ``categorical`` (p,), a mask of categorical
    columns; ``class_names`` (K,), the labels for class indices in y. The labels become the last column, "y".
    """
    try:
        with np.load(stream, allow_pickle=False) as file:
            names, wanted = file.files, ("X", "y", "feature_names", "categorical", "class_names")
            arrays = {key: file[name] for name in names if (key := name.removesuffix(f"_{part}")) in wanted}
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InputError(f"{source.name} is not an NPZ file that can be read: {first_words(error)}.") from error
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise InputError(f"{source.name} has no table X of rows and columns; it holds {list_some(names)}.")
    X, y = arrays["X"], arrays.get("y")
    if y is not None and y.shape != (len(X),):
        raise InputError(f"{source.name}: y has shape {y.shape}, but X has {len(X)} rows.")
    if y is not None and "class_names" in arrays and y.dtype.kind in "iu":
        y = arrays["class_names"][y]
    columns = [str(name) for name in arrays.get("feature_names", [f"c{i}" for i in range(1, X.shape[1] + 1)])]
    marked = arrays.get("categorical", np.zeros(len(columns), dtype=bool))
    kinds = {name: "text" for name, is_one in zip(columns, marked, strict=True) if is_one}

    names = columns + ["y"] * (y is not None)
    values = [np.ascontiguousarray(column) for column in [*X.T, *([] if y is None else [y])]]
    return OpenTable(names, iter(pa.table(values, names=names).to_batches(ROWS)), kinds)


def first_words(error: Exception) -> str:
    """Return the message of a library's error in one line, cut to 200 characters."""
    return one_line(error)[:200].rstrip(".")


# ---- LIBSVM ---------------------------------------------------------------------------------------------------------

LINES = 1 << 15  # lines of a block
MOST_INDEX = np.iinfo(np.int32).max


class Lines:
    """An iterator over lines, with the attribute ``number``: the line number, from 1, of the last line read."""

    def __init__(self, lines: Iterable[bytes], number: int = 0) -> None:
        self.lines, self.number = lines, number

    def __iter__(self) -> Iterator[bytes]:
        for line in self.lines:
            self.number += 1
            yield line

    def read(self) -> bytes:
        """Return all lines. scikit-learn takes an object with this method for a file, and then reads line by line."""
        return b"".join(self)


def read_libsvm(source: Source) -> tuple[Any, AnyArray]:
    """Read a whole LIBSVM file and return a sparse matrix X (n, p) and the labels (n,)."""
    with errors_in_words(source), open_stream(source) as stream:
        X, y = parse_libsvm(source, Lines(stream))
    if not X.shape[0]:
        raise InputError(f"{source.name} has no rows.")
    return X, y


def libsvm_blocks(source: Source, n_features: int) -> Iterator[tuple[Any, AnyArray]]:
    """Yield the rows of a LIBSVM file in blocks, each a sparse matrix X (n, p) and labels (n,)."""
    with errors_in_words(source), open_stream(source) as stream:
        number = 0
        while lines := list(islice(stream, LINES)):
            yield parse_libsvm(source, Lines(lines, number), n_features)
            number += len(lines)


def parse_libsvm(source: Source, lines: Lines, n_features: int | None = None) -> tuple[Any, AnyArray]:
    """Return a sparse matrix X (n, p) and labels (n,) from lines of a LIBSVM file; whole labels become integers."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(lines, n_features=n_features, zero_based=source.options.zero_based)
    except OverflowError as error:
        what = "a number of a feature, or of the line's query, is too large; the largest possible is"
        raise InputError(f"{source.name}, line {lines.number}: {what} {MOST_INDEX}.") from error
    except ValueError as error:
        hint = ""
        if "index 0" in str(error):
            hint = "; its features are numbered from 0, so pass --zero-based"
        elif n_features is not None and "features" in str(error):
            hint = f"; the model has {n_features} features"
        raise InputError(f"{source.name} is not a LIBSVM file that can be read: {first_words(error)}{hint}.") from error
    return X, y.astype(np.int64) if (y == np.rint(y)).all() else y
