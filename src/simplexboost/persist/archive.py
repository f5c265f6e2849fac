"""Reads and writes the zip of a model file, with its JSON header and raw arrays.

``header.json`` holds the format version, the type, shape and SHA-256 of every array, and what the caller adds; every
array is a file of raw little-endian numbers. The same contents always give the same bytes.

Sizes are checked before anything is inflated: a file may hold `SPARE` bytes and `DENSITY` bytes for each of its own,
its header `HEADER_SPARE` and `HEADER_DENSITY`. So a small file that claims to hold a large model is refused at once.
What compresses better than that is given ballast when it is written (`ballast_for`), so that every file that was saved
can be loaded.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.arrays import AnyArray
from .atomic_write import PathError, Target, as_path, whole_file, write_bytes
from .checks import ModelFileError

__all__ = ["FORMAT", "VERSION", "describe", "read_zip", "write", "write_zip"]

FORMAT = "simplexboost"
VERSION = 2  # docs/files.md says what each version holds; tests/files has files of all of them
HEADER = "header.json"

SPARE, DENSITY = 1 << 24, 128
HEADER_SPARE, HEADER_DENSITY = 1 << 20, 32
PIECE = 1 << 20  # bytes that are inflated at a time
TYPES = re.compile(r"<[fiu][248]|\|[iub]1")  # numbers of up to eight bytes
MOST_AXES = 8


def ballast_for(file_size: int, header_size: int, total_size: int) -> int:
    """The bytes that a file of this size needs beyond its own to be allowed to hold so much."""
    for_header = math.ceil((header_size - HEADER_SPARE) / HEADER_DENSITY)
    for_all = math.ceil((total_size - SPARE) / DENSITY)
    return max(for_header - file_size, for_all - file_size, 0)


# ---- the file -------------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: Target) -> Iterator[IO[bytes]]:
    """The bytes of a file, from a path or from a file that is open; raises what ``open`` raises."""
    if hasattr(path, "read"):
        data = "" if isinstance(path, io.TextIOBase) else path.read()  # bytes of a model cannot be read as text
        if not isinstance(data, bytes | bytearray):
            raise PathError(
                f"path={path!r} gives text; a model is loaded from a binary file, as open(..., 'rb') gives."
            )
        yield io.BytesIO(data)
    else:
        check_place(as_path(path))
        with open(path, "rb") as stream:
            yield stream


def check_place(path: Path) -> None:
    """Raise unless there is a file: to open a pipe would take until somebody writes to it."""
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r} does not exist; pass the file that save wrote.")
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"path={str(path)!r} is a directory; pass the file that save wrote.")
    if not stat.S_ISREG(mode):
        raise OSError(f"path={str(path)!r} is a pipe, device or socket; a model is loaded from a regular file.")


def name_of(path: Any) -> str:
    """What messages call the file."""
    return str(getattr(path, "name", "the file") if hasattr(path, "read") else path)


# ---- the archive ----------------------------------------------------------------------------------------------------


def read_archive(stream: IO[bytes], path: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header and the arrays of a file that is open; ``path`` is what messages call it."""
    file_size = stream.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(stream) as archive:
            check_names(archive, path)
            header = read_header(archive, file_size, path)
            arrays = read_arrays(archive, header["arrays"], file_size, path)
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{path} is not a simplexboost model file, or it is damaged ({error}).") from error
    return header, arrays


def check_names(archive: zipfile.ZipFile, path: str) -> None:
    """Raise if two members have the same name: programs would not agree which of them counts."""
    names = archive.namelist()
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ModelFileError(f"{path} is damaged: it holds {twice!r:.50} more than once.")


def read_header(archive: zipfile.ZipFile, file_size: int, path: str) -> dict[str, Any]:
    """The header, after checking that it is one, and what its own arrays of values will take."""
    size = archive.getinfo(HEADER).file_size
    check_size(size, HEADER_SPARE + HEADER_DENSITY * file_size, path)
    header: dict[str, Any] = json.loads(inflated(archive, HEADER, size, path).tobytes())
    check_header(path, header)
    check_size(size_of_values(header), SPARE + DENSITY * file_size, path)
    return header


def check_header(path: str, header: Any) -> None:
    """Raise unless this is the header of a model file, of a version that this package reads."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a simplexboost model file.")
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        message = f"{path} has format version {version!r:.50}; this simplexboost reads versions 1 to {VERSION}."
        if type(version) is int and version > VERSION:
            message += f" It was written by {header.get('written_by', 'a newer version')!s:.50}: update the package."
        raise ModelFileError(message)


def read_arrays(archive: zipfile.ZipFile, abouts: Any, file_size: int, path: str) -> dict[str, AnyArray]:
    """All arrays. Their sizes are compared with their shapes and types, and added up, before any is inflated."""
    sizes = {name: declared_size(name, about, path) for name, about in abouts.items()}
    for name, size in sizes.items():
        found = archive.getinfo(name).file_size
        if found != size:
            raise ModelFileError(
                f"{path} is damaged: its array {name!r} has {found} bytes, but its shape and type take {size}."
            )
    check_size(sum(sizes.values()), SPARE + DENSITY * file_size, path)
    return {name: restored(inflated(archive, name, sizes[name], path), name, abouts[name], path) for name in sizes}


def declared_size(name: str, about: Any, path: str) -> int:
    """The bytes of an array of this type and shape; raise unless these are ones that arrays have."""
    dtype, shape = about["dtype"], about["shape"]
    known = isinstance(dtype, str) and TYPES.fullmatch(dtype) is not None
    fits = isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(n) is int and n >= 0 for n in shape)
    if not known or not fits:
        raise ModelFileError(f"{path} is damaged: its array {name!r} is of type {dtype!r:.50} and shape {shape!r:.50}.")
    return math.prod(shape) * np.dtype(dtype).itemsize


def inflated(archive: zipfile.ZipFile, name: str, size: int, path: str) -> AnyArray:
    """The bytes of a member, (size,) uint8; raise unless it has so many."""
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise ModelFileError(f"{path} is damaged: {name!r} is encrypted, or compressed in another way than 'deflate'.")
    out, at = np.empty(size, dtype=np.uint8), 0
    with archive.open(info) as member:
        while piece := member.read(PIECE):
            if at + len(piece) > size:
                break
            out[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            at += len(piece)
    if piece or at != size:
        raise ModelFileError(f"{path} is damaged: {name!r} does not have the {size} bytes that it should have.")
    return out


def restored(data: AnyArray, name: str, about: dict[str, Any], path: str) -> AnyArray:
    """An array from its bytes; raise unless their checksum is right."""
    if hashlib.sha256(data.data).hexdigest() != about["sha256"]:
        raise ModelFileError(f"{path} is damaged: the checksum of {name!r} does not match.")
    return data.view(np.dtype(about["dtype"])).reshape(about["shape"])


# ---- limits ---------------------------------------------------------------------------------------------------------


def check_size(size: int, most: int, path: str) -> None:
    """Raise if something is larger than it may be."""
    if size > most:
        raise ModelFileError(
            f"{path} claims to hold {size} bytes, and a file of its size may hold {most}; it is damaged, or was made "
            "to fill the memory."
        )


def size_of_values(header: Any) -> int:
    """The bytes that the arrays of values in a header will take: their types may be wider than any of their texts."""
    total, waiting = 0, [header]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("dtype"), str) and isinstance(value.get("values"), list):
                total += width_of(value["dtype"]) * count(value["values"])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return total


def width_of(dtype: str) -> int:
    """The bytes of an entry; 0 for what is no type, which is refused later."""
    try:
        return np.dtype(dtype).itemsize
    except (TypeError, ValueError, SyntaxError):
        return 0


def count(values: list[Any]) -> int:
    """The entries of a list, or of the lists in it, which version 1 has for rows."""
    return sum(len(row) if isinstance(row, list) else 1 for row in values)


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
