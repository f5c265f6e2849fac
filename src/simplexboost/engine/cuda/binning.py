"""Tables that are on the device already: they are looked at and binned there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._cached import cached
from ..._typing import AnyArray, Array
from ..binned import TILE, BinnedData, category_mask, sampled_rows
from .layout import BLOCK, Arguments, records
from .stepping import BLOCKS_PER_PROCESSOR

VALUES = records("X found", [("size", "i8")])
HASHES = records("X factors out", [("n", "i8"), ("p", "i4"), ("pad", "i4")])
BINS = records("X edges first codes missing", [("n", "i8"), ("p", "i4"), ("pad", "i4")])


class OnHost:
    """What stands for an array of the host until somebody asks for its numbers, which are then copied."""

    shape: tuple[int, ...]
    dtype: Any

    @cached
    def host(self) -> AnyArray:
        """The array."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
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
        """X in the memory of the host."""
        return self.device.download(self.there)

    def hashes(self, factors: AnyArray) -> AnyArray:
        """Σ_j hash(X_ij) a_j of every row (n,) uint64, with factors a (p,) uint64; see `data.order.hashes_of`."""
        (n, p), device = self.shape, self.device
        out = device.empty(n, np.uint64)
        # An array on the device must not be empty.
        arrays = {"X": self.there, "factors": device.upload(np.append(factors, np.uint64(0))), "out": out}
        launch(device, "hash_rows", HASHES, n, arrays, n=n, p=p)
        return device.download(out)

    @staticmethod
    def of(X: Any, device: Any) -> DeviceTable:
        """Any array of numbers on the device as a table; raises for other shapes and for infinity."""
        if X.ndim != 2 or not len(X):
            raise ValueError(f"X must be an array of rows and columns with at least one row; its shape is {X.shape}.")
        X = X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
        X = X if X.flags.c_contiguous else X.copy(order="C")
        if has_infinity(X, device):
            raise ValueError("X contains infinity. Replace it by a finite number, or by NaN, which means missing.")
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
        """The codes in the memory of the host."""
        return self.device.download(self.there).view(np.uint8).reshape(self.shape)

    def subset(self, rows: AnyArray | slice) -> DeviceCodes:
        """Some of the rows."""
        there = self.there[:, rows if isinstance(rows, slice) else self.device.upload(rows)]
        return DeviceCodes(there if there.flags.c_contiguous else there.copy(order="C"), self.device)


def bin_there(
    table: DeviceTable, engine: Any, max_bins: int, categorical: AnyArray | None, rows: AnyArray | None
) -> BinnedData:
    """The bins of a table without categories; only the rows that the edges are computed from come to the host."""
    device, (n, p) = table.device, table.shape
    rows = sampled_rows(len(table)) if rows is None else rows
    sample = table.there if rows is None else table.there[device.upload(rows)]
    edges: list[Array] = engine.quantiles(np.ascontiguousarray(device.download(sample)), None, max_bins)
    codes, missing = device.empty((-(-p // TILE), n), np.uint64), device.empty(p, np.int32)
    device.clear(missing)
    first = device.upload(np.cumsum([0, *map(len, edges)], dtype=np.int32))
    values = device.upload(np.concatenate([*edges, [0.0]]))  # an array on the device must not be empty
    arrays = {"X": table.there, "edges": values, "first": first, "codes": codes, "missing": missing}
    launch(device, "find_codes", BINS, n, arrays, n=n, p=p)
    has_missing = device.download(missing).astype(np.uint8)
    n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int32)
    there: Any = DeviceCodes(codes, device)
    return BinnedData(there, n_bins, has_missing, edges, category_mask(categorical, p))


def has_infinity(X: Any, device: Any) -> bool:
    """Whether a C-contiguous array of the device has an infinite number."""
    found, size = device.empty(1, np.int32), int(X.size)
    device.clear(found)
    launch(device, "find_infinity", VALUES, size, {"X": X, "found": found}, size=size)
    return bool(device.download(found)[0])


def launch(device: Any, name: str, dtype: Any, count: int, arrays: dict[str, Any], **sizes: int) -> None:
    """Launch a kernel of ``source/bins.cu`` with a thread for each of some things, as far as there are so many."""
    kernel = device.kernel("bins", name, {"VALUE": "float" if arrays["X"].dtype == np.float32 else "double"})
    arguments = Arguments(dtype)
    arguments.set(**{name: device.pointer(array) for name, array in arrays.items()}, **sizes)
    kernel(max(1, min(-(-count // BLOCK), BLOCKS_PER_PROCESSOR * device.n_processors)), BLOCK, arguments)
