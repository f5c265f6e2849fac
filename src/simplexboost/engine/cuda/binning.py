"""Hashes and bins tables on the GPU: tables in GPU memory, and large tables in host memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray
from ..._util.compat import cached
from ..binned import TILE, Edges, infinity_at
from .device import BLOCK, ctype, records

FEW_VALUES = 2**20  # the processor hashes and bins tables with fewer values, which takes milliseconds
PART = 2**27  # bytes of rows of the host that are copied at a time
VALUES = records("X found", [("size", "i8")])
HASHES = records("X factors out", [("n", "i8"), ("p", "i4"), ("pad", "i4")])
BINS = records("X edges first codes missing", [("n", "i8"), ("all", "i8"), ("p", "i4"), ("pad", "i4")])


class DeviceArray:
    """An array in GPU memory that can be read like a NumPy array; the first reading copies the values to host memory.

    The GPU array ``on_device`` may have several values packed in each of its elements.
    """

    def __init__(self, on_device: Any, device: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.on_device, self.device, self.shape, self.dtype = on_device, device, shape, dtype

    @cached
    def host(self) -> AnyArray:
        return self.device.download(self.on_device).view(self.dtype).reshape(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.host, dtype=dtype, copy=copy)

    def __getitem__(self, key: Any) -> Any:
        return self.host[key]


class DeviceTable(DeviceArray):
    """A table X (n, p) of single or double precision in GPU memory."""

    def download_rows(self, rows: AnyArray | None) -> AnyArray:
        """Return a copy in host memory of the rows with these indices; None means all rows."""
        return self.device.download(self.on_device if rows is None else self.on_device[self.device.upload(rows)])

    @staticmethod
    def of(X: Any, device: Any) -> DeviceTable:
        """Return the GPU array X (n, p) as a `DeviceTable`; raise unless its values are finite numbers or NaN."""
        if X.ndim != 2 or not X.size:
            raise ValueError(f"X must have rows and columns, at least one of each; its shape is {X.shape}.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold real numbers; its type is {X.dtype}.")
        X = device.upload(X if X.dtype in (np.float64, np.float32) else X.astype(np.float64))
        found = device.upload(np.array([X.size], dtype=np.uint64))
        launch(device, "find_infinity", VALUES, X.size, {"X": X, "found": found}, size=X.size)
        first = int(device.download(found)[0])
        if first < X.size:
            row, column = divmod(first, X.shape[1])
            raise infinity_at(device.download(X[row])[column], f"column {column}", row)
        return DeviceTable(X, device, X.shape, X.dtype)


class DeviceCodes(DeviceArray):
    """The bin codes (n_blocks, n, 8) uint8 of a `BinnedData` in GPU memory, as words (n_blocks, n) uint64."""

    def __init__(self, on_device: Any, device: Any) -> None:
        super().__init__(on_device, device, (*on_device.shape, TILE), np.dtype(np.uint8))

    def subset(self, rows: AnyArray | slice) -> DeviceCodes:
        chosen = self.on_device[:, rows if isinstance(rows, slice) else self.device.upload(rows)]
        return DeviceCodes(self.device.upload(chosen), self.device)


def goes_to_device(X: Any) -> bool:
    """Return whether X is in GPU memory, or large enough to be hashed and binned on the GPU."""
    return isinstance(X, DeviceTable) or (isinstance(X, np.ndarray) and X.size >= FEW_VALUES)


def upload_pieces(X: Any, device: Any) -> Iterator[tuple[int, Any]]:
    """Yield X as blocks of rows in GPU memory: the index of a block's first row, then the block."""
    if isinstance(X, DeviceTable):
        yield 0, X.on_device
        return
    step = max(1, PART // (X.itemsize * max(1, X.shape[1])))
    for begin in range(0, len(X), step):
        yield begin, device.upload(X[begin : begin + step])


def code_rows(X: Any, edges: Edges, device: Any) -> tuple[Any, AnyArray]:
    """Return bin codes and a mask of the features with missing values, as `CpuCompute.codes` does, but on the GPU."""
    n, p = X.shape
    codes, missing = device.empty((-(-p // TILE), n), np.uint64), device.empty(p, np.int32)
    device.clear(missing)
    first = device.upload(edges.first, np.int32)
    values = device.upload(np.append(edges.values, 0.0))  # an array on the device must not be empty
    for begin, rows in upload_pieces(X, device):
        place = device.pointer(codes) + 8 * begin
        arrays = {"X": rows, "edges": values, "first": first, "codes": place, "missing": missing}
        launch(device, "find_codes", BINS, len(rows), arrays, n=len(rows), all=n, p=p)
    return DeviceCodes(codes, device), device.download(missing).astype(np.uint8)


def hash_rows(X: Any, factors: AnyArray, device: Any) -> AnyArray:
    """Return the row hashes that `tables.order.hashes_of` returns, computed on the GPU."""
    n, p = X.shape
    out = device.empty(n, np.uint64)
    factors = device.upload(np.append(factors, np.uint64(0)))  # an array on the device must not be empty
    for begin, rows in upload_pieces(X, device):
        arrays = {"X": rows, "factors": factors, "out": device.pointer(out) + 8 * begin}
        launch(device, "hash_rows", HASHES, len(rows), arrays, n=len(rows), p=p)
    return device.download(out)


def launch(device: Any, name: str, dtype: Any, count: int, arrays: dict[str, Any], **sizes: int) -> None:
    """Launch a kernel of ``source/bins.cu`` with enough threads for `count` rows or values."""
    macros = {"VALUE": ctype(arrays["X"].dtype)}
    device.launch("bins", name, macros, device.count_blocks(count, BLOCK), dtype, arrays | sizes)
