"""The file: a zip of a JSON header and raw arrays with checksums. It is written completely or not at all.

``header.json`` holds the format version, the type, shape and SHA-256 of every array, and what the caller adds; every
array is a file of raw little-endian numbers. The same contents always give the same bytes. `reading` reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._typing import AnyArray
from .reading import FORMAT, HEADER, VERSION, ballast_for, opened, read_archive
from .whole import Target, as_path, whole_file, write_bytes

__all__ = ["FORMAT", "VERSION", "describe", "read_zip", "write", "write_zip"]

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal models are equal files
BALLAST = "ballast"  # zeros, in a file that would otherwise hold more than its size allows


def raw(values: AnyArray) -> bytes:
    """The array's bytes, little-endian, row by row."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()


def describe(values: AnyArray) -> dict[str, Any]:
    """What the header says of an array."""
    dtype = values.dtype.newbyteorder("<").str
    return {"dtype": dtype, "shape": list(values.shape), "sha256": hashlib.sha256(raw(values)).hexdigest()}


def write(path: Target, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Write to a path, or to a file that is open."""
    if not hasattr(path, "write"):
        return write_zip(as_path(path), header, arrays)
    memory = io.BytesIO()  # all or nothing here too, as far as that is possible
    write_archive(memory, header, arrays)
    return write_bytes(path, memory.getvalue())


def write_zip(path: Path, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Write the file at a path, complete or not at all."""
    with whole_file(path) as stream:
        write_archive(stream, header, arrays)


def write_archive(stream: IO[bytes], header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The zip itself: the header, then the arrays in its order, and ballast if they compress very well."""
    text = json.dumps(header, indent=1, allow_nan=False).encode()
    with zipfile.ZipFile(stream, "w") as archive:

        def add(name: str, data: bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), data, how)

        add(HEADER, text)
        for name, values in arrays.items():
            add(name, raw(values))
        members = archive.infolist()
        packed, total = (sum(getattr(m, which) for m in members) for which in ("compress_size", "file_size"))
        ballast = ballast_for(packed, len(text), total)
        if ballast:
            add(BALLAST, bytes(ballast), zipfile.ZIP_STORED)


def read_zip(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header and the arrays of a file, after checking them."""
    with opened(path) as stream:
        return read_archive(stream, str(path))
