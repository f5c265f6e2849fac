"""The file: a zip of a JSON header and raw arrays with checksums. It is written completely or not at all.

``header.json`` holds the format version, the type, shape and SHA-256 of every array, and what the caller adds; every
array is a file of raw little-endian numbers. The same contents always give the same bytes. Reading runs no code from
the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._typing import AnyArray
from .checks import ModelFileError
from .whole import PathError, Target, as_path, whole_file, write_bytes

FORMAT = "simplexboost"
VERSION = 2  # docs/files.md says what each version holds; tests/files has files of all of them
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal models are equal files


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


def read(path: Target) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Read from a path, or from a file that is open."""
    if not hasattr(path, "read"):
        return read_zip(as_path(path))
    data = path.read()
    if not isinstance(data, bytes | bytearray):
        raise PathError(f"path={path!r} gives text; a model is loaded from a binary file, as open(..., 'rb') gives.")
    return read_archive(io.BytesIO(data), name_of(path))


def name_of(path: Any) -> str:
    """What messages call the file."""
    return str(getattr(path, "name", "the file") if hasattr(path, "read") else path)


def write_zip(path: Path, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Write the file at a path, complete or not at all."""
    with whole_file(path) as stream:
        write_archive(stream, header, arrays)


def write_archive(stream: IO[bytes], header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The zip itself: the header, then the arrays in its order."""
    with zipfile.ZipFile(stream, "w") as archive:
        add: Callable[[str, bytes], None] = lambda name, data: archive.writestr(  # noqa: E731
            zipfile.ZipInfo(name, LONG_AGO), data, zipfile.ZIP_DEFLATED
        )
        add("header.json", json.dumps(header, indent=1, allow_nan=False).encode())
        for name, values in arrays.items():
            add(name, raw(values))


def read_zip(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header and the arrays of a file, after checking them."""
    if path.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a directory; pass the file that save wrote.")
    if not path.exists():
        raise FileNotFoundError(f"path={str(path)!r} does not exist; pass the file that save wrote.")
    with open(path, "rb") as stream:
        return read_archive(stream, str(path))


def read_archive(stream: IO[bytes], path: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header and the arrays; ``path`` is what messages call the file."""
    try:
        with zipfile.ZipFile(stream) as archive:
            header = json.loads(archive.read("header.json"))
            check_header(path, header)
            contents = {name: archive.read(name) for name in header["arrays"]}
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{path} is not a simplexboost model file, or it is damaged ({error}).") from error
    return header, {name: restore(path, name, contents[name], about) for name, about in header["arrays"].items()}


def check_header(path: str, header: Any) -> None:
    """Raise unless this is the header of a model file, of a version that this package reads."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a simplexboost model file.")
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        newer = type(version) is int and version > VERSION
        advice = (
            f" It was written by {header.get('written_by', 'a newer version')}: update the package." if newer else ""
        )
        raise ModelFileError(
            f"{path} has format version {version!r}; this simplexboost reads versions 1 to {VERSION}.{advice}"
        )


def restore(path: str, name: str, data: bytes, about: dict[str, Any]) -> AnyArray:
    """An array from its bytes; raise unless their checksum is right."""
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise ModelFileError(f"{path} is damaged: the checksum of {name!r} does not match.")
    return np.frombuffer(data, dtype=np.dtype(about["dtype"])).reshape(about["shape"]).copy()
