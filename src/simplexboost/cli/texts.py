"""Text files, CSV, TSV and ARFF, as blocks of a table in which every column is text.

pyarrow guesses the type of a column from the first block, and fails if a later block has another type. So nothing is
guessed here: `kinds` looks at all values.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv

from .errors import InputError, some
from .sources import Source, start_of

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
        return Texts(declared, blocks_of(source, stream, declared.names, parse, options, skip))


def blocks_of(
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
    return Texts(declared, blocks_of(source, stream, declared.names, parse, options, 0))


def skip_comments(row: Any) -> str:
    """Comments in ARFF begin with a percent sign."""
    return "skip" if (row.text or "").lstrip().startswith("%") else "error"
