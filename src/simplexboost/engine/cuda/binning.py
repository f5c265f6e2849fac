"""Hashes and bins tables on the GPU: those that are there already, and large ones of the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..._util.compat import cached
from ..binned import TILE, infinity_at
from .device import BLOCK, BLOCKS_PER_PROCESSOR, records

FEW_VALUES = 2**20  # tables with fewer values are hashed and binned by the processor, which takes milliseconds
PART = 2**27  # bytes of rows of the host that are looked at together
VALUES = records("X found", [("size", "i8")])
HASHES = records("X factors out", [("n", "i8"), ("p", "i4"), ("pad", "i4")])
BINS = records("X edges first codes missing", [("n", "i8"), ("all", "i8"), ("p", "i4"), ("pad", "i4")])


class OnHost:
    """What stands for an array of the host until somebody asks for its numbers, which are then copied."""

    shape: tuple[int, ...]
    dtype: Any

    @cached
    def host(self) -> AnyArray:
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.host, dtype=dtype, copy=copy)

    def __getitem__(self, key: Any) -> Any:
        return self.host[key]


class DeviceTable(OnHost):
    """X (n, p) float32 or float64 that is on the device.

    Attributes
    ----------
    there : (n, p), C-contiguous, on the device
    """

    def __init__(self, there: Any, device: Any) -> None:
        self.there, self.device, self.shape, self.dtype = there, device, there.shape, there.dtype

    @cached
    def host(self) -> AnyArray:
        return self.device.download(self.there)

    def some(self, rows: AnyArray | None) -> AnyArray:
        """Some of the rows, or all, in the memory of the host."""
        there = self.there if rows is None else self.there[self.device.upload(rows)]
        return np.ascontiguousarray(self.device.download(there))

    @staticmethod
    def of(X: Any, device: Any) -> DeviceTable:
        """Any array of numbers on the device as a table; raises for other shapes and types, and for infinity."""
        if X.ndim != 2 or not X.size:
            raise ValueError(f"X must have rows and columns, at least one of each; its shape is {X.shape}.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold real numbers; its type is {X.dtype}.")
        X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
        X = X if X.flags.c_contiguous else X.copy(order="C")
        place = first_infinity(X, device)
        if place is not None:
            row, column = place
            raise infinity_at(device.download(X[row])[column], f"column {column}", row)
        return DeviceTable(X, device)


class DeviceCodes(OnHost):
    """The codes (n_blocks, n, 8) uint8 of a `BinnedData` that is on the device.

    Attributes
    ----------
    there : (n_blocks, n) uint64, on the device
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, there: Any, device: Any) -> None:
        self.there, self.device, self.shape = there, device, (*there.shape, TILE)

    @cached
    def host(self) -> AnyArray:
        return self.device.download(self.there).view(np.uint8).reshape(self.shape)

    def subset(self, rows: AnyArray | slice) -> DeviceCodes:
        there = self.there[:, rows if isinstance(rows, slice) else self.device.upload(rows)]
        return DeviceCodes(there if there.flags.c_contiguous else there.copy(order="C"), self.device)


def goes_to_device(X: Any) -> bool:
    """Whether a table is on the device, or so large that it is looked at there."""
    return isinstance(X, DeviceTable) or (isinstance(X, np.ndarray) and X.size >= FEW_VALUES)


def pieces(X: Any, device: Any) -> Iterator[tuple[int, Any]]:
    """A table on the device: all of it if it is there; else some rows after the others, and where they begin."""
    if isinstance(X, DeviceTable):
        yield 0, X.there
        return
    step = max(1, PART // (X.itemsize * max(1, X.shape[1])))
    for begin in range(0, len(X), step):
        yield begin, device.upload_large(np.ascontiguousarray(X[begin : begin + step]))


def code_rows(X: Any, edges: Sequence[Array], device: Any) -> tuple[Any, AnyArray]:
    """`CpuCompute.codes` on the device."""
    n, p = X.shape
    codes, missing = device.empty((-(-p // TILE), n), np.uint64), device.empty(p, np.int32)
    device.clear(missing)
    first = device.upload(np.cumsum([0, *map(len, edges)], dtype=np.int32))
    values = device.upload(np.concatenate([*edges, [0.0]]))  # an array on the device must not be empty
    for begin, rows in pieces(X, device):
        place = device.pointer(codes) + 8 * begin
        arrays = {"X": rows, "edges": values, "first": first, "codes": place, "missing": missing}
        launch(device, "find_codes", BINS, len(rows), arrays, n=len(rows), all=n, p=p)
    return DeviceCodes(codes, device), device.download(missing).astype(np.uint8)


def hash_rows(X: Any, factors: AnyArray, device: Any) -> AnyArray:
    """`tables.order.hashes_of` on the device."""
    n, p = X.shape
    out = device.empty(n, np.uint64)
    there = device.upload(np.append(factors, np.uint64(0)))  # an array on the device must not be empty
    for begin, rows in pieces(X, device):
        arrays = {"X": rows, "factors": there, "out": device.pointer(out) + 8 * begin}
        launch(device, "hash_rows", HASHES, len(rows), arrays, n=len(rows), p=p)
    return device.download(out)


def first_infinity(X: Any, device: Any) -> tuple[int, int] | None:
    """The row and column of the first infinite number of a C-contiguous array of the device; None without any."""
    size = int(X.size)
    found = device.upload(np.array([size], dtype=np.uint64))
    launch(device, "find_infinity", VALUES, size, {"X": X, "found": found}, size=size)
    place = int(device.download(found)[0])
    return None if place == size else divmod(place, X.shape[1])


def launch(device: Any, name: str, dtype: Any, count: int, arrays: dict[str, Any], **sizes: int) -> None:
    """Launch a kernel of ``source/bins.cu`` with a thread for each of some things, as far as there are so many."""
    macros = {"VALUE": "float" if arrays["X"].dtype == np.float32 else "double"}
    grid = max(1, min(-(-count // BLOCK), BLOCKS_PER_PROCESSOR * device.n_processors))
    device.launch("bins", name, macros, grid, dtype, arrays | sizes)
