"""A path → its format, by its extension, and an open stream of its bytes, decompressed."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from .errors import ArgumentError, InputError

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
