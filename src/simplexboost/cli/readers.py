"""Reading of tables as blocks of columns: CSV, TSV, ARFF, LIBSVM, NPZ, Parquet and Feather, also compressed.

pyarrow guesses the type of a column in a text file from the first block, and fails if a later block has another type.
So columns of text files stay text here, and `kinds` looks at all values.

Blocks are read in another thread. Python hears signals in its main thread, between two steps of its own; if that thread
were inside pyarrow, waiting for standard input, Ctrl-C would wait too, perhaps for ever.
"""

from __future__ import annotations

import codecs
import csv
import io
import queue
import re
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .._util.arrays import AnyArray
from .errors import ArgumentError, InputError, some

AHEAD = 2  # items that are made before they are asked for
PATIENCE = 0.1  # seconds between two looks whether anybody still wants more
END = object()


def in_background(items: Iterator[Any]) -> Iterator[Any]:
    """The same items; an exception of the iterator is raised here."""
    made: queue.Queue[Any] = queue.Queue(AHEAD)
    unwanted = threading.Event()
    threading.Thread(target=make, args=(items, made, unwanted), daemon=True).start()
    try:
        while (item := made.get()) is not END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        unwanted.set()


def make(items: Iterator[Any], made: queue.Queue[Any], unwanted: threading.Event) -> None:
    """Put all items into the queue, then the end or the exception."""
    try:
        for item in items:
            if not put(item, made, unwanted):
                return
        put(END, made, unwanted)
    except BaseException as error:
        put(error, made, unwanted)


def put(item: Any, made: queue.Queue[Any], unwanted: threading.Event) -> bool:
    """Put an item into the queue as soon as there is room; False if it is no longer wanted."""
    while not unwanted.is_set():
        try:
            made.put(item, timeout=PATIENCE)
        except queue.Full:
            continue
        return True
    return False


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
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SEEKABLE = ("parquet", "feather", "npz")  # their readers jump about in the file


@dataclass(frozen=True)
class Source:
    """Where a table comes from: a path or "-", its format, and how it is compressed (None: not at all)."""

    path: str
    format: str
    compression: str | None
    shown: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.shown or ("standard input" if self.path == "-" else self.path)


def find_source(path: str, given: str | None = None) -> Source:
    """The source at a path; standard input is CSV unless another format is given."""
    if path == "-":
        return Source(path, given or "csv", None)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = COMPRESSED.get(suffixes.pop()) if suffixes and suffixes[-1] in COMPRESSED else None
    kind = given or FORMATS.get(suffixes[-1] if suffixes else "")
    check_readable(path)
    if kind is None and suffixes[-1:] and suffixes[-1] in SPREADSHEETS:
        raise InputError(f"{path} is a spreadsheet, which is not read; save its sheet as CSV and pass that.")
    if kind is None:
        raise InputError(
            f"{path}: the extension does not tell the format; it must be one of {', '.join(FORMATS)} (compressed: "
            f"{', '.join(COMPRESSED)}), or pass --format."
        )
    return Source(path, kind, compression)


def check_readable(path: str) -> None:
    """Raise unless the path is a file with something in it; what is wrong is said before any work begins."""
    where = Path(path)
    if not where.exists():
        raise InputError(f"{path}: there is no such file.")
    if where.is_dir():
        raise InputError(f"{path} is a folder; pass a file.")
    with open(path, "rb"):  # raises if it may not be read
        pass
    if where.is_file() and where.stat().st_size == 0:
        raise InputError(f"{path} is empty.")


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source, decompressed; a file on disk where its format needs to jump about."""
    plain = sys.stdin.buffer if source.path == "-" else open(source.path, "rb")  # noqa: SIM115
    try:
        stream = decompressed(plain, source)
        if source.format in SEEKABLE and (stream is not plain or source.path == "-"):
            with tempfile.TemporaryFile() as copy:
                pour(stream, copy, source)
                yield cast(BinaryIO, copy)
        else:
            yield stream
    finally:
        if source.path != "-":
            plain.close()


def decompressed(plain: BinaryIO, source: Source) -> BinaryIO:
    """The stream without its compression."""
    if source.compression is None:
        return plain
    if source.compression == "xz":
        import lzma

        return cast(BinaryIO, lzma.open(plain))
    if source.compression in ("gzip", "bz2"):
        import bz2
        import gzip

        # pyarrow's own streams take a cut file for a complete one
        return cast(BinaryIO, (gzip if source.compression == "gzip" else bz2).open(plain))
    if not pa.Codec.is_available(source.compression):
        raise InputError(f"{source.name}: this pyarrow cannot read {source.compression}; decompress the file first.")
    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(plain, "r"), source.compression))


def pour(stream: BinaryIO, target: Any, source: Source) -> None:
    """Copy a stream to a file."""
    try:
        while block := stream.read(1 << 20):
            target.write(block)
    except (OSError, EOFError) as error:
        raise InputError(f"{source.name} cannot be decompressed: {error}.") from error
    target.seek(0)


@contextmanager
def on_disk(source: Source) -> Iterator[Source]:
    """The source itself, or a copy of standard input on disk: it may have to be read twice."""
    if source.path != "-":
        yield source
        return
    with tempfile.NamedTemporaryFile() as copy:
        pour(sys.stdin.buffer, copy, source)
        check_readable_copy(copy.name)
        yield replace(source, path=copy.name, shown="standard input")


def check_readable_copy(path: str) -> None:
    """Raise if nothing came through standard input."""
    if Path(path).stat().st_size == 0:
        raise InputError("standard input is empty.")


def check_options(source: Source, **given: Any) -> None:
    """Raise if an option was given that the format has no use for."""
    useless = [name for name, value in given.items() if value is not None and source.format not in ("csv", "tsv")]
    if useless:
        raise ArgumentError(f"--{useless[0].replace('_', '-')} is for CSV and TSV; {source.name} is {source.format}.")


def start_of(stream: BinaryIO, size: int = 1 << 20) -> tuple[bytes, BinaryIO]:
    """The first bytes of a stream, and a stream that still has them."""
    head = b""
    while len(head) < size and (block := stream.read(size - len(head))):
        head += block
    return head, cast(BinaryIO, io.BufferedReader(Rejoined(head, stream), 1 << 20))


class Rejoined(io.RawIOBase):
    """Some bytes that were read already, followed by the rest of the stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        if self._head:
            part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            part = self._rest.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


MISSING = [
    "",
    "NA",
    "N/A",
    "n/a",
    "na",
    "NaN",
    "nan",
    "NAN",
    "-nan",
    "NULL",
    "null",
    "None",
    "none",
    "?",
    "<NA>",
    "#N/A",
]
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " ", "\\t": "\t"}
BLOCK = 1 << 20  # bytes; pyarrow reads up to 32 blocks ahead
TOGETHER = 4  # blocks that are handled as one


@dataclass(frozen=True)
class TextOptions:
    """How a text file is to be read; None is found out.

    Attributes
    ----------
    delimiter : one character
    header : whether the first line has names; without it columns are named c1, c2, …
    encoding : as Python names it
    decimal : what stands before the fraction of a number, "." or ","; None is a comma where semicolons are delimiters
    missing : the words that stand for a missing value
    """

    delimiter: str | None = None
    header: bool = True
    encoding: str = "utf-8"
    decimal: str | None = None
    missing: tuple[str, ...] = tuple(MISSING)


@dataclass
class Declared:
    """What the beginning of a file says about its columns.

    Attributes
    ----------
    names : of the columns
    kinds : "number" or "text" for the columns whose kind is declared (ARFF)
    decimal : what stands before the fraction of a number, "." or ","
    """

    names: list[str]
    kinds: dict[str, str] = field(default_factory=dict)
    decimal: str = "."


@dataclass
class Texts:
    """An open text file: its columns, and an iterator over its blocks."""

    declared: Declared
    blocks: Iterator[pa.RecordBatch]


def open_text(source: Source, stream: BinaryIO, options: TextOptions) -> Texts:
    """The columns and blocks of a text file."""
    with told(source):
        head, stream = start_of(stream)
        if source.format == "arff":
            return open_arff(source, stream, options)
        check_is_text(source, head, options.encoding)
        header = find_header(source, head, options)
        decimal = options.decimal or ("," if header.delimiter == ";" else ".")
        declared = Declared(column_names(header.cells, options, source), decimal=decimal)
        parse = pyarrow.csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True)
        skip = header.lines if options.header else header.lines - 1
        return Texts(declared, text_blocks(source, stream, declared.names, parse, options, skip))


def text_blocks(
    source: Source, stream: BinaryIO, names: list[str], parse: Any, options: TextOptions, skip: int
) -> Iterator[pa.RecordBatch]:
    """The rows after the header, block by block; all columns are text, missing values are null."""
    read = pyarrow.csv.ReadOptions(
        block_size=BLOCK, column_names=names, skip_rows=skip, encoding=options.encoding, use_threads=False
    )
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=list(options.missing),
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        check_utf8=True,
    )
    with told(source):
        try:
            reader = pyarrow.csv.open_csv(stream, read, parse, convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return
            raise
        while some_blocks := list(islice(reader, TOGETHER)):
            yield from pa.Table.from_batches(some_blocks).combine_chunks().to_batches()


class told:  # noqa: N801 (used like a function)
    """A context that turns what readers raise into a sentence about the file."""

    def __init__(self, source: Source) -> None:
        self.name = source.name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, InputError | GeneratorExit):
            return
        words = " ".join(str(error).split())
        if "UTF8" in words or isinstance(error, UnicodeError):
            raise InputError(
                f"{self.name} is not UTF-8 text; pass its encoding, for instance --encoding latin-1 or utf-16."
            ) from error
        if isinstance(error, pa.ArrowInvalid):
            words = words.removeprefix("CSV parse error: ")
            raise InputError(f"{self.name} cannot be read: {words[:300]}") from error
        if isinstance(error, EOFError) or type(error).__name__ in ("BadGzipFile", "LZMAError", "error"):
            raise InputError(f"{self.name} cannot be decompressed: {words}") from error
        if isinstance(error, LookupError) and "encoding" in words:
            raise InputError(f"--encoding: {words}.") from error
        if isinstance(error, OSError) and error.errno is None:  # of a decompressor
            raise InputError(f"{self.name} cannot be read: {words[:300]}") from error


# ---- the header -----------------------------------------------------------------------------------------------------


def check_is_text(source: Source, head: bytes, encoding: str) -> None:
    """Raise for binary files: text of one byte per character, and UTF-8, has no zero bytes."""
    if b"\0" in head and "16" not in encoding and "32" not in encoding:
        hint = " (UTF-16 text: --encoding utf-16)" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
        raise InputError(f"{source.name} is not a text file{hint}.")


@dataclass(frozen=True)
class Header:
    """The first row of a text file: its cells, the delimiter between them, and how many lines end with it."""

    cells: list[str]
    delimiter: str
    lines: int


def find_header(source: Source, head: bytes, options: TextOptions) -> Header:
    """The first row that is not empty. Bytes that are not UTF-8 come through, as surrogates: rows may follow."""
    strict = "surrogateescape" if options.encoding == "utf-8" else "strict"
    text = head.decode(options.encoding, errors=strict).lstrip("\ufeff")
    line = next((line for line in text.splitlines() if line.strip()), "")
    if not line:
        raise InputError(f"{source.name} has no header line.")
    delimiter = options.delimiter or ("\t" if source.format == "tsv" else likely_delimiter(line))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    cells = next((row for row in rows if any(cell.strip() for cell in row)), None)
    if cells is None:
        raise InputError(f"{source.name} has no header line: its first line names no column.")
    return Header(cells, delimiter, rows.line_num)


def likely_delimiter(line: str) -> str:
    """The delimiter that is most frequent in the header, outside quotes; a comma if there is none."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max([",", "\t", ";", "|"], key=bare.count)


def column_names(cells: list[str], options: TextOptions, source: Source) -> list[str]:
    """The names of the columns; those without a name are called after their position."""
    if not options.header:
        return [f"c{i}" for i in range(1, len(cells) + 1)]
    names = [" ".join(name.split()) or f"c{i}" for i, name in enumerate(cells, 1)]
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        raise InputError(f"{source.name} is not UTF-8 text; pass its encoding, for instance --encoding latin-1.")
    check_names(names, source)
    return names


def check_names(names: list[str], source: Source) -> None:
    """Raise if two columns have the same name."""
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"{source.name} has several columns of the same name: {some(twice)}; rename them.")


# ---- ARFF -----------------------------------------------------------------------------------------------------------

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.*)""", re.IGNORECASE)


def open_arff(source: Source, stream: BinaryIO, options: TextOptions) -> Texts:
    """An ARFF file is a CSV after a header that declares names and kinds."""
    declared = Declared([])
    for raw in iter(stream.readline, b""):
        line = raw.decode(options.encoding, errors="replace").strip()
        if line.lower().startswith("@data"):
            break
        if found := ATTRIBUTE.match(line):
            name = re.sub(r"\\(.)", r"\1", found[1].strip("'\""))
            declared.names.append(name)
            kind = found[2].split()[0].lower()
            if kind.startswith("{"):
                declared.kinds[name] = "text"
            elif kind in ("numeric", "real", "integer"):
                declared.kinds[name] = "number"
    else:
        raise InputError(f"{source.name} has no line @data, so it is not an ARFF file.")
    check_names(declared.names, source)
    head, stream = start_of(stream)
    if re.search(rb"^\s*\{", head, re.MULTILINE):
        raise InputError(f"{source.name} is a sparse ARFF file, which is not supported; LIBSVM files are.")
    quote = "'" if b"'" in head and b'"' not in head else '"'
    comments = skip_comments if re.search(rb"^\s*%", head, re.MULTILINE) else None
    parse = pyarrow.csv.ParseOptions(
        quote_char=quote, escape_char="\\", newlines_in_values=True, invalid_row_handler=comments
    )
    return Texts(declared, text_blocks(source, stream, declared.names, parse, options, 0))


def skip_comments(row: Any) -> str:
    """Comments in ARFF begin with a percent sign."""
    return "skip" if (row.text or "").lstrip().startswith("%") else "error"


# ---- any file as blocks of columns ----------------------------------------------------------------------------------

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


# ---- LIBSVM ---------------------------------------------------------------------------------------------------------

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
