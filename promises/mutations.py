"""Changes to model files: bytes, the archive, the header and the arrays; with right checksums, unless they are lies.

`mutant` makes one file from a number. It takes one of the files in tests/files, of any version of the format, changes
it in one to three places, and writes it again. Most changes leave a file that a careless reader would trust: the sizes
and the checksums are those of the changed contents.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent.parent / "tests" / "files"
Rng = np.random.Generator

NUMBERS = [0, 1, -1, 2, 3, 5, 7, 16, 255, 256, 2**15, 2**16, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**63, -(2**63)]
REALS = [0.5, -0.5, 1e-300, 1e30, -1e30, 1e300, -1e300, 1e308, float("nan"), float("inf"), float("-inf")]
TEXTS = ["", "a", "nan", "linear", "rbf", "precomputed", "object", "<f8", "<U1000000000", "<M8[D]", "O", "V8", "é" * 50]
OBJECTS: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    [0, 1],
    {"list": [1, 2]},
    {"float": "nan"},
    {"float": "inf"},
    {"int": "9" * 400},
    {"decimal": "1e999999"},
    {"bytes": "zz"},
    {"datetime": "2024-02-30"},
    {"timestamp": "2024-02-29", "unit": "s", "zone": "dateutil//dev/zero"},
    {"timestamp": "2024-02-29", "unit": "fortnight"},
    {"timedelta": 10**40},
    {"range": [0, 10**15, 1]},
    {"array": {"dtype": "<f8", "values": [1.0, 2.0]}},
    {"array": {"dtype": "<U100000000", "values": ["a", "b"]}},
    {"array": {"dtype": "<f8", "values": [], "shape": [0, 10**12]}},
    {"array": {"dtype": "object", "values": [{"list": [1]}, None, 2]}},
    {"scalar": {"dtype": "<f8", "values": []}},
    {"scalar": {"dtype": "<i8", "values": [{"int": "9223372036854775807"}]}},
    {"part": "Logistic", "parameters": {}},
    {"part": "Logistic", "parameters": {"cost_matrix": {"list": [1, 2]}}},
    {"part": "VectorTree", "parameters": {"max_depth": -1}},
    {"estimator": "SimplexBoostClassifier", "parameters": {}},
    {"random_state": {"dict": [["bit_generator", "MT19937"], ["state", {"dict": [["pos", 10**9]]}]]}},
]
DTYPES = [
    "<f8",
    "<f4",
    "<i8",
    "<i4",
    "<u4",
    "<u2",
    "|u1",
    "|i1",
    "<f2",
    "|b1",
    ">f8",
    "<c16",
    "|O",
    "<U4",
    "<M8[s]",
    "V4",
]


@dataclass
class Parts:
    """A model file taken to pieces: its header, the bytes of its members, and lies about them."""

    header: dict[str, Any]
    data: dict[str, bytes]  # of the arrays
    lies: dict[str, dict[str, Any]] = field(default_factory=dict)  # what the header says instead of the truth
    before: bytes | None = None  # the header as text, if it is to be written as it is
    changes: list[Callable[[Rng, bytes], bytes]] = field(default_factory=list)  # of the whole file, at the end

    def array(self, name: str) -> np.ndarray:
        """An array, as the header describes it."""
        about = self.header["arrays"][name]
        return np.frombuffer(self.data[name], about["dtype"]).reshape(about["shape"]).copy()

    def put(self, name: str, values: np.ndarray) -> None:
        """Another array in the place of the old one, described truly."""
        self.data[name] = values.tobytes()
        self.header["arrays"][name] = {"dtype": values.dtype.str, "shape": list(values.shape)}

    def written(self, rng: Rng) -> bytes:
        """The file."""
        abouts = self.header.get("arrays")
        if isinstance(abouts, dict):
            for name, about in abouts.items():
                if isinstance(about, dict):
                    about["sha256"] = hashlib.sha256(self.data.get(name, b"")).hexdigest()
                    about.update(self.lies.get(name, {}))
        text = json.dumps(self.header).encode() if self.before is None else self.before
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            how = zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED
            for name, data in {"header.json": text, **self.data}.items():
                archive.writestr(zipfile.ZipInfo(name), data, how)
        out = stream.getvalue()
        for change in self.changes:
            out = change(rng, out)
        return out


@cache
def sources() -> list[tuple[str, dict[str, Any], dict[str, bytes]]]:
    """The files that are changed: name, header, and bytes of the arrays."""
    return [(path.stem, *pieces(path.read_bytes())) for path in sorted(FOLDER.glob("*.sb"))]


def pieces(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of a sound file, and the bytes of its arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("header.json"))
        return header, {name: archive.read(name) for name in header["arrays"]}


def mutant(seed: int) -> tuple[str, bytes]:
    """What was done, in words, and the file."""
    rng = np.random.default_rng(seed)
    name, header, data = sources()[rng.integers(len(sources()))]
    parts = Parts(deepcopy(header), dict(data))
    told = [name]
    for _ in range(1 + int(rng.integers(3)) * int(rng.integers(2))):
        change = pick(rng, CHANGES)
        told.append(change.__name__)
        try:
            change(rng, parts)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError):
            told[-1] += " (not possible)"  # an earlier change has taken what this one needs
    return " ".join(told), parts.written(rng)


def pick(rng: Rng, values: Any) -> Any:
    """One of them."""
    return list(values)[int(rng.integers(len(values)))]


# ---- arrays ---------------------------------------------------------------------------------------------------------


def any_array(rng: Rng, parts: Parts) -> str:
    """The name of an array; those of small models matter as much as the large ones."""
    return str(pick(rng, parts.header["arrays"]))


def change_entries(rng: Rng, parts: Parts) -> None:
    """A few numbers of an array become others: extreme ones, neighbours, or those of other entries."""
    name = any_array(rng, parts)
    values = parts.array(name)
    flat = values.reshape(-1)
    for _ in range(1 + int(rng.integers(3))):
        at = int(rng.integers(len(flat)))
        flat[at] = other_number(rng, flat, at)
    parts.put(name, values)


def other_number(rng: Rng, flat: np.ndarray, at: int) -> Any:
    """A number in the place of one of an array."""
    kind = rng.integers(4)
    with np.errstate(all="ignore"):
        if kind == 0:
            return flat[int(rng.integers(len(flat)))]
        if kind == 1:
            return (flat[at : at + 1] + flat.dtype.type(1 if rng.random() < 0.5 else -1))[0]
        wanted = pick(rng, NUMBERS + REALS if flat.dtype.kind == "f" else NUMBERS)
        return np.array([wanted]).astype(flat.dtype)[0]


def change_node(rng: Rng, parts: Parts) -> None:
    """A field of a node of a tree becomes another number."""
    where, code = pick(rng, [(0, "<d"), (8, "<i"), (12, "<i"), (16, "<B"), (17, "<B"), (20, "<i")])
    nodes = bytearray(parts.data["nodes"])
    at = 24 * int(rng.integers(len(nodes) // 24)) + where
    old = struct.unpack_from(code, nodes, at)[0]
    if code == "<d":
        value: Any = float(pick(rng, REALS))
    elif rng.random() < 0.5:
        value = old + int(rng.integers(-2, 3))
    else:
        value = pick(rng, NUMBERS)
    size = struct.calcsize(code)
    packed = struct.pack("<d", value) if code == "<d" else int(value % 2 ** (8 * size)).to_bytes(size, "little")
    nodes[at : at + size] = packed
    parts.data["nodes"] = bytes(nodes)


def change_bits(rng: Rng, parts: Parts) -> None:
    """Some bits of an array are flipped."""
    name = any_array(rng, parts)
    data = bytearray(parts.data[name])
    for _ in range(1 + int(rng.integers(8))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    parts.data[name] = bytes(data)


def scale_array(rng: Rng, parts: Parts) -> None:
    """All numbers of an array are multiplied by one, or become one."""
    name = any_array(rng, parts)
    values = parts.array(name)
    factor = pick(rng, [0, -1, 2, 1e30, 1e300, np.nan]) if values.dtype.kind == "f" else pick(rng, [0, -1, 2])
    with np.errstate(all="ignore"):
        parts.put(name, (values * values.dtype.type(factor)).astype(values.dtype))


def cut_array(rng: Rng, parts: Parts) -> None:
    """An array loses or doubles some of its rows."""
    name = any_array(rng, parts)
    values = parts.array(name)
    size = int(rng.integers(len(values) + 1))
    parts.put(name, pick(rng, [values[:size], values[size:], np.concatenate([values, values[:size]]), values[:0]]))


def reorder_array(rng: Rng, parts: Parts) -> None:
    """The rows of an array change places."""
    name = any_array(rng, parts)
    parts.put(name, parts.array(name)[:: -1 if rng.random() < 0.5 else 1][rng.permutation(len(parts.array(name)))])


def reshape_array(rng: Rng, parts: Parts) -> None:
    """The same numbers in another shape."""
    name = any_array(rng, parts)
    values = parts.array(name)
    parts.put(name, values.reshape(pick(rng, [(-1,), (1, -1), (-1, 1), (-1, 2), (2, -1), (*values.shape, 1)])))


def retype_array(rng: Rng, parts: Parts) -> None:
    """The numbers of an array in another type, or its bytes read as another type."""
    name = any_array(rng, parts)
    values, dtype = parts.array(name), np.dtype(pick(rng, DTYPES[:10]))
    with np.errstate(all="ignore"):
        parts.put(name, values.astype(dtype) if rng.random() < 0.5 else np.frombuffer(values.tobytes(), dtype))


def drop_array(rng: Rng, parts: Parts) -> None:
    """An array is left out."""
    name = any_array(rng, parts)
    del parts.header["arrays"][name], parts.data[name]


def swap_arrays(rng: Rng, parts: Parts) -> None:
    """Two arrays change names."""
    one, other = any_array(rng, parts), any_array(rng, parts)
    first, second = parts.array(one), parts.array(other)
    parts.put(one, second)
    parts.put(other, first)


def foreign_array(rng: Rng, parts: Parts) -> None:
    """An array of another model, with the same name or as one more."""
    _, header, data = pick(rng, sources())
    shared = sorted(set(header["arrays"]) & set(parts.header["arrays"])) or sorted(header["arrays"])
    name = str(pick(rng, shared if rng.random() < 0.7 else sorted(header["arrays"])))
    parts.data[name] = data[name]
    parts.header["arrays"][name] = dict(header["arrays"][name])


# ---- what the header says of arrays ---------------------------------------------------------------------------------


def lie_shape(rng: Rng, parts: Parts) -> None:
    """The header gives an array another shape than its bytes have."""
    shape: Any = pick(
        rng, [[10**12], [2**31, 2**31], [-1], [-8, -8], [], [0], [1.5], ["3"], None, [2**62, 4], {}, [[2]]]
    )
    parts.lies[any_array(rng, parts)] = {"shape": shape}


def lie_dtype(rng: Rng, parts: Parts) -> None:
    """The header gives an array another type than it has."""
    dtype: Any = pick(rng, [*DTYPES, None, 3, ["f8"], "f8,f8", "<U1000000000", "V1000000000"])
    parts.lies[any_array(rng, parts)] = {"dtype": dtype}


def lie_checksum(rng: Rng, parts: Parts) -> None:
    """The header gives an array another checksum."""
    parts.lies[any_array(rng, parts)] = {"sha256": pick(rng, ["", "0" * 64, None, 7])}


def lie_member(rng: Rng, parts: Parts) -> None:
    """The header names an array that is not there, or one under an odd name."""
    parts.header["arrays"][pick(rng, ["more", "header.json", "../x", "", "/etc/passwd"])] = {
        "dtype": "<f8",
        "shape": [2],
    }


def inflate(rng: Rng, parts: Parts) -> None:
    """An array that is all zeros and much larger than the file."""
    size = int(rng.integers(1, 9)) * 2**20
    name = "more" if rng.random() < 0.3 else any_array(rng, parts)
    parts.data[name] = bytes(size)
    parts.header["arrays"].setdefault(name, {"dtype": "<f8", "shape": [1]})
    if rng.random() < 0.5:
        parts.header["arrays"][name] = {"dtype": "<f8", "shape": [size // 8]}


# ---- the header -----------------------------------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand in a JSON value, as paths of keys; long lists count by their first entries."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value[:4]):
            found += places(inner, (*path, i))
    return found


def any_place(rng: Rng, parts: Parts) -> tuple[Any, Any]:
    """Something that holds a value, and the value's key. Keys at the top are as frequent as all others."""
    if rng.random() < 0.4:
        return parts.header, pick(rng, parts.header)
    rest = {key: value for key, value in parts.header.items() if key != "arrays"}
    *path, last = pick(rng, [place for place in places(rest) if place])
    holder: Any = parts.header
    for key in path:
        holder = holder[key]
    return holder, last


def change_value(rng: Rng, parts: Parts) -> None:
    """A value of the header becomes another."""
    holder, key = any_place(rng, parts)
    kind = rng.integers(5)
    if kind == 0:
        holder[key] = pick(rng, NUMBERS)
    elif kind == 1:
        holder[key] = pick(rng, REALS)
    elif kind == 2:
        holder[key] = pick(rng, TEXTS)
    elif kind == 3:
        holder[key] = deepcopy(pick(rng, OBJECTS))
    else:
        there, other = any_place(rng, parts)
        holder[key] = deepcopy(there[other])


def nudge_value(rng: Rng, parts: Parts) -> None:
    """A value of the header becomes a similar one: another number, a longer list, a repeated text."""
    holder, key = any_place(rng, parts)
    value = holder[key]
    if isinstance(value, bool) or value is None:
        holder[key] = pick(rng, [None, True, False])
    elif isinstance(value, int | float):
        holder[key] = pick(rng, [value + 1, value - 1, -value, 2 * value, value / 3, value * 10**9, 0])
    elif isinstance(value, str):
        holder[key] = pick(rng, [value + value, value[:-1], value.upper(), value + " "])
    elif isinstance(value, list):
        holder[key] = pick(rng, [value[:-1], value + value[:1], value[::-1], value * 2, [*value, None]])
    else:
        holder[key] = dict(list(value.items())[:-1])


def drop_value(rng: Rng, parts: Parts) -> None:
    """A value of the header is left out."""
    holder, key = any_place(rng, parts)
    del holder[key]


def foreign_value(rng: Rng, parts: Parts) -> None:
    """A value of the header of another model."""
    _, header, _ = pick(rng, sources())
    key = pick(rng, [key for key in header if key != "arrays"])
    parts.header[key] = deepcopy(header[key])


def change_class(rng: Rng, parts: Parts) -> None:
    """Another class reads the file, with its own parameters or those of this one."""
    _, header, _ = pick(rng, sources())
    parts.header["class"] = header["class"]
    if rng.random() < 0.5:
        parts.header["parameters"] = {} if rng.random() < 0.5 else deepcopy(header["parameters"])


def deepen(rng: Rng, parts: Parts) -> None:
    """A value within many lists."""
    depth = int(pick(rng, [10, 100, 500, 5000]))
    text = json.dumps(parts.header)
    wanted = '"parameters": '
    nested = '{"list": [' * depth + "1" + "]}" * depth
    parts.before = text.replace(wanted + "{", wanted + '{"verbose": ' + nested + ", ", 1).encode()


def change_text(rng: Rng, parts: Parts) -> None:
    """Some characters of the header's text become others, are repeated or left out."""
    text = bytearray(json.dumps(parts.header).encode())
    for _ in range(1 + int(rng.integers(3))):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 9))
        kind = rng.integers(3)
        if kind == 0:
            text[at] = pick(rng, b'0123456789-.,:"[]{}eE\\ntfaN')
        elif kind == 1:
            del text[at : at + size]
        else:
            text[at:at] = text[at : at + size]
    parts.before = bytes(text)


# ---- the file -------------------------------------------------------------------------------------------------------


def change_bytes(rng: Rng, parts: Parts) -> None:
    """Some bytes of the file become others."""
    parts.changes.append(with_bytes)


def with_bytes(rng: Rng, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(1 + int(rng.integers(8))):
        out[int(rng.integers(len(out)))] = int(rng.integers(256))
    return bytes(out)


def change_directory(rng: Rng, parts: Parts) -> None:
    """Some bytes of the archive's directory, which says where members are and how large, become others."""
    parts.changes.append(with_directory)


def with_directory(rng: Rng, data: bytes) -> bytes:
    out, begin = bytearray(data), max(data.find(b"PK\x01\x02"), 0)
    for _ in range(1 + int(rng.integers(4))):
        at = int(rng.integers(begin, len(out)))
        out[at] = pick(rng, [0, 1, 255, int(rng.integers(256))])
    return bytes(out)


def cut_file(rng: Rng, parts: Parts) -> None:
    """The file ends early, or has something before or after it, or a piece twice."""
    parts.changes.append(with_pieces)


def with_pieces(rng: Rng, data: bytes) -> bytes:
    at, size = int(rng.integers(len(data))), int(rng.integers(1, 2000))
    kind = rng.integers(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[at + size :]
    if kind == 2:
        return data[:at] + data[at : at + size] + data[at:]
    return rng.bytes(size) + data


CHANGES = [
    *[change_entries] * 4,
    *[change_node] * 4,
    change_bits,
    scale_array,
    cut_array,
    reorder_array,
    reshape_array,
    retype_array,
    drop_array,
    swap_arrays,
    foreign_array,
    lie_shape,
    lie_dtype,
    lie_checksum,
    lie_member,
    inflate,
    *[change_value] * 4,
    *[nudge_value] * 4,
    drop_value,
    foreign_value,
    change_class,
    deepen,
    change_text,
    change_bytes,
    change_directory,
    cut_file,
]
