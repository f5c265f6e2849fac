"""A device that runs the CUDA kernels on the processor: see ``emulate.hpp``."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from simplexboost.engine.cuda.device import BLOCK, CudaDevice

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src" / "simplexboost" / "engine" / "cuda" / "source"

ONE_AT_A_TIME = Lock()  # the fibers of a launch are variables of the library


@cache
def library(module: str, options: tuple[tuple[str, object], ...]) -> ctypes.CDLL:
    """The kernels of a module, compiled for the processor."""
    texts = b"".join(p.read_bytes() for p in (HERE / "emulate.hpp", HERE / "entries.hpp", *sorted(SOURCE.iterdir())))
    key = hashlib.sha256(texts + repr(options).encode()).hexdigest()[:16]
    out = Path(tempfile.gettempdir()) / f"simplexboost-emulated-{module}-{key}.so"
    if not out.exists():
        includes = ["emulate.hpp", "common.cuh", f"{module}.cu", "entries.hpp"]
        main = f"#define ENTRIES_OF_{module}\n" + "".join(f'#include "{name}"\n' for name in includes)
        defines = [f"-D{name}={value}" for name, value in options]
        flags = ["-std=c++17", "-O1", "-g", "-shared", "-fPIC", "-ffp-contract=off", "-w", f"-I{HERE}", f"-I{SOURCE}"]
        half = out.with_suffix(f".{id(main)}")
        subprocess.run(["g++", *flags, *defines, "-x", "c++", "-", "-o", str(half)], input=main.encode(), check=True)
        half.rename(out)
    return ctypes.CDLL(str(out))


class EmulatedKernel:
    """One kernel."""

    def __init__(self, entry, shared: int, n_blocks: int) -> None:
        self.entry, self.shared, self.most = entry, shared, n_blocks

    def n_blocks(self) -> int:
        """How many blocks run at the same time."""
        return self.most

    def __call__(self, grid, arguments) -> None:
        """Run it, and nothing else meanwhile; the structure is passed by address."""
        grid = grid[0] if isinstance(grid, tuple) else grid
        passed = ctypes.c_void_p(arguments.record.ctypes.data)
        with ONE_AT_A_TIME:
            self.entry(ctypes.c_int(grid), ctypes.c_int(BLOCK), ctypes.c_int(self.shared), passed)


class Fetched:
    """A copy."""

    def __init__(self, array) -> None:
        self.array = array

    def wait(self):
        """The bytes."""
        return self.array


class EmulatedArray(np.ndarray):
    """An array of the emulated device, which NumPy's functions refuse like one of CuPy; its own methods work."""

    def __array_function__(self, function, types, args, kwargs):
        raise TypeError(f"np.{function.__name__} was given an array of the device; see `Device.to_host`.")


class ForeignArray:
    """An array of another library on the emulated device: only `EmulatedDevice.adopt` reads it."""

    def __init__(self, array) -> None:
        self.there = np.array(array, order="C").view(EmulatedArray)

    def __array__(self, *parts, **more):
        raise TypeError("an array of the device was read as one of the host")


class EmulatedDevice(CudaDevice):
    """What `engine.cuda.device.CudaDevice` does, in the memory of the host."""

    n_processors, most_shared = 1, 227 * 1024

    def __init__(self, n_blocks: int = 3, memory: int = 2**30) -> None:
        super().__init__(None)
        self.most, self.memory = n_blocks, memory

    def owns(self, array):
        """Whether an array is on the device."""
        return isinstance(array, EmulatedArray)

    def adopt(self, array):
        """The array, if it is on the device."""
        return array.there if isinstance(array, ForeignArray) else array if self.owns(array) else None

    def in_kind(self, array, given):
        """The array as one of the library that the other one is from."""
        return ForeignArray(array) if isinstance(given, ForeignArray) and self.owns(array) else array

    def room(self):
        """The bytes that are free."""
        return self.memory

    def give_back_reserve(self):
        """There is none."""

    def empty(self, shape, dtype):
        """An array full of rubbish."""
        out = np.empty(shape, dtype=dtype)
        out.reshape(-1).view(np.uint8).fill(0xCD)
        return out.view(EmulatedArray)

    def upload(self, array, dtype=None):
        """A copy, unless it is on the device already."""
        if self.owns(array):
            return array if array.flags.c_contiguous else array.copy(order="C")
        return np.array(array, dtype=dtype, order="C").view(EmulatedArray)

    def download_into(self, array, out):
        """Copy to an array of the host."""
        out[:] = np.asarray(array).view(np.ndarray)
        return lambda: None

    def download(self, array, size=None):
        """A copy."""
        return np.array(array[:size])

    def send(self, array, values):
        """Copy to the beginning of an array."""
        array.reshape(-1)[: values.size] = values.reshape(-1)

    def fetch(self, array, size):
        """A copy of the first bytes."""
        return Fetched(np.array(array.reshape(-1).view(np.uint8)[:size]))

    def mark(self):
        """Nothing is under way."""

    def after(self, mark):
        """Everything is done already."""

    def clear(self, array, size=None):
        """Zeros."""
        array.reshape(-1).view(np.uint8)[:size] = 0

    def pointer(self, array):
        """Its address; 0 for None."""
        if array is None:
            return 0
        assert array.flags.c_contiguous
        return array.ctypes.data

    def kernel(self, module, name, options, shared=0, cooperative=False):
        """A kernel of a module, compiled with these macros."""
        entry = getattr(library(module, tuple(options.items())), f"emulate_{name}")
        entry.restype = None
        return EmulatedKernel(entry, shared, self.most)
