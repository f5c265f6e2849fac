"""Reads and writes the zip archive of a model file, with its JSON header and its arrays.

``header.json`` holds the format version, the type, shape and SHA-256 checksum of every array, and further entries.
Every array is a member of raw little-endian bytes. Equal contents always give equal bytes.

Sizes are checked before any member is decompressed, so that a small file that declares a huge model is refused at once.
All members together may have `SPARE` bytes plus `DENSITY` bytes per byte of the file; the header may have
`HEADER_SPARE` plus `HEADER_DENSITY` per byte. A model that compresses better is written uncompressed.
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
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np

from .._util.arrays import AnyArray
from .atomic_write import Target, as_path, whole_file, write_bytes

FORMAT = "simplexboost"
VERSION = 2  # docs/files.md describes it; tests/files has examples
HEADER = "header.json"

SPARE, DENSITY = 1 << 24, 128
HEADER_SPARE, HEADER_DENSITY = 1 << 20, 32
PIECE = 1 << 20  # bytes that are inflated at a time
TYPES = re.compile(r"<[fiu][248]|\|[iub]1")  # numbers of up to eight bytes
MOST_AXES = 8
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal models are equal files


class ModelFileError(ValueError):
    """The error that `simplexboost.load` raises for every bad file, a subclass of ``ValueError``.

    The file is not a model file, is damaged, was made to do harm, or has another version of the format. The message
    says which of these.

    Examples
    --------
    >>> import io, simplexboost
    >>> try:
    ...     simplexboost.load(io.BytesIO(b"no model"))
    ... except simplexboost.ModelFileError as error:
    ...     print(str(error).partition(" (")[0])
    The model file is damaged: the file is not a zip archive, so it is not a simplexboost model file
    """


def damaged(what: str) -> ModelFileError:
    """Return the error for a damaged model file; ``what`` describes the damage in a few words."""
    return ModelFileError(f"The model file is damaged: {what}.")


def require(fits: Any, what: str) -> None:
    """Raise a `ModelFileError` that the file is damaged, unless ``fits`` is true; ``what`` describes the damage."""
    if not fits:
        raise damaged(what)


# ---- reading --------------------------------------------------------------------------------------------------------


@contextmanager
def open_model_file(path: Target) -> Iterator[IO[bytes]]:
    """Open a model file, given its path or a binary file object; raise if the path is not a regular file."""
    if hasattr(path, "read"):
        data = "" if isinstance(path, io.TextIOBase) else path.read()
        if not isinstance(data, bytes | bytearray):
            raise TypeError(f"path={path!r} gives text; pass a binary file, as open(..., 'rb') gives.")
        yield io.BytesIO(data)
        return
    place = as_path(path)
    if not place.exists():
        raise FileNotFoundError(f"path={str(place)!r} does not exist; pass the file that save wrote.")
    mode = place.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"path={str(place)!r} is a directory; pass the file that save wrote.")
    if not stat.S_ISREG(mode):  # opening a pipe would block until another process writes to it
        raise OSError(f"path={str(place)!r} is a pipe, device or socket; a model is loaded from a regular file.")
    with open(place, "rb") as stream:
        yield stream


def read_archive(stream: IO[bytes], path: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the checked header and arrays of an open model file; ``path`` names the file in error messages."""
    file_size = stream.seek(0, io.SEEK_END)
    try:
        archive = zipfile.ZipFile(stream)
    except zipfile.BadZipFile as error:
        raise damaged(f"{path} is not a zip archive, so it is not a simplexboost model file ({error})") from error
    with archive:
        names = archive.namelist()
        if HEADER not in names:
            raise ModelFileError(f"{path} is not a simplexboost model file: it has no {HEADER}.")
        # programs would not agree which of two members counts
        require(len(set(names)) == len(names), f"it holds {max(names, key=names.count)!r:.50} more than once")
        size = archive.getinfo(HEADER).file_size
        check_size(size, HEADER_SPARE + HEADER_DENSITY * file_size)
        header = json.loads(inflated(archive, HEADER, size).tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ModelFileError(f"{path} is not a simplexboost model file.")
        version = header.get("version")
        if type(version) is not int or version != VERSION:
            message = f"{path} has format version {version!r:.50}; this simplexboost reads version {VERSION}."
            if type(version) is int and version > VERSION:
                writer = header.get("written_by", "a newer version")
                message += f" It was written by {writer!s:.50}: update the package."
            raise ModelFileError(message)
        most = SPARE + DENSITY * file_size
        check_size(size_of_values(header), most)
        return header, read_arrays(archive, header["arrays"], most)


def read_arrays(archive: zipfile.ZipFile, abouts: Any, most: int) -> dict[str, AnyArray]:
    """Return a dict of all arrays; before decompression, raise if they would take more than ``most`` bytes."""
    sizes = {}
    for name, about in abouts.items():
        dtype, shape = about["dtype"], about["shape"]
        known = isinstance(dtype, str) and TYPES.fullmatch(dtype) is not None
        fits = isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(n) is int and n >= 0 for n in shape)
        require(known and fits, f"array {name!r} is of type {dtype!r:.50} and shape {shape!r:.50}")
        sizes[name] = math.prod(shape) * np.dtype(dtype).itemsize
        found, size = archive.getinfo(name).file_size, sizes[name]
        require(found == size, f"array {name!r} has {found} bytes, but its shape and type take {size}")
    check_size(sum(sizes.values()), most)
    arrays = {}
    for name, size in sizes.items():
        data = inflated(archive, name, size)
        matches = hashlib.sha256(data.data).hexdigest() == abouts[name]["sha256"]
        require(matches, f"the checksum of {name!r} does not match")
        arrays[name] = data.view(np.dtype(abouts[name]["dtype"])).reshape(abouts[name]["shape"])
    return arrays


def inflated(archive: zipfile.ZipFile, name: str, size: int) -> AnyArray:
    """Return the decompressed bytes of an archive member, uint8 (size,); raise unless the member has that size."""
    info = archive.getinfo(name)
    readable = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not info.flag_bits & 1
    require(readable, f"{name!r} is encrypted, or compressed in another way than 'deflate'")
    out, at = np.empty(size, dtype=np.uint8), 0
    with archive.open(info) as member:
        while piece := member.read(PIECE):
            if at + len(piece) > size:
                break
            out[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            at += len(piece)
    require(not piece and at == size, f"{name!r} does not have the {size} bytes that it declares")
    return out


def check_size(size: int, most: int) -> None:
    require(size <= most, f"it declares contents of {size} bytes, and a file of its size may hold {most}")


def size_of_values(header: Any) -> int:
    """Return the memory in bytes of the arrays whose values are stored inside the JSON header."""
    total, waiting = 0, [header]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("dtype"), str) and isinstance(value.get("values"), list):
                with suppress(TypeError, ValueError, SyntaxError):  # an invalid type is refused later
                    total += np.dtype(value["dtype"]).itemsize * len(value["values"])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return total


# ---- writing --------------------------------------------------------------------------------------------------------


def write_file(path: Target, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Write a model file to a path, where the file appears complete or not at all, or to an open binary file."""
    raw = {name: np.ascontiguousarray(v, dtype=v.dtype.newbyteorder("<")) for name, v in arrays.items()}
    abouts = {
        name: {"dtype": v.dtype.str, "shape": list(arrays[name].shape), "sha256": hashlib.sha256(v.data).hexdigest()}
        for name, v in raw.items()
    }
    text = json.dumps({"format": FORMAT, "version": VERSION, **header, "arrays": abouts}, indent=1, allow_nan=False)
    if hasattr(path, "write"):
        memory = io.BytesIO()
        write_archive(memory, text.encode(), raw)
        write_bytes(path, memory.getvalue())
    else:
        with whole_file(as_path(path)) as stream:
            write_archive(stream, text.encode(), raw)


def write_archive(stream: IO[bytes], text: bytes, arrays: dict[str, AnyArray]) -> None:
    """Write the header text and the arrays; do not compress them if `read_archive` would refuse the compressed file."""
    total = len(text) + sum(values.nbytes for values in arrays.values())
    for how in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        stream.seek(0)
        stream.truncate()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(zipfile.ZipInfo(HEADER, LONG_AGO), text, how)
            for name, values in arrays.items():
                archive.writestr(zipfile.ZipInfo(name, LONG_AGO), values.tobytes(), how)
        size = stream.tell()
        if len(text) <= HEADER_SPARE + HEADER_DENSITY * size and total <= SPARE + DENSITY * size:
            break
