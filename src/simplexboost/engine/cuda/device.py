"""Wraps the GPU: memory, copies from and to host memory, compiling and launching kernels.

A plain copy from or to ordinary host memory runs in one thread at 2 to 10 GB/s, slowest for memory pages that are used
for the first time; the connection to the GPU can transfer 50 GB/s. So several threads copy pieces at the same time,
each thread through its own page-locked memory. CuPy is imported when the first `CudaDevice` is made.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Lock, local
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ..._util.arrays import AnyArray
from ..._util.compat import install_command

BLOCK = 256  # threads of a block
WARPS = BLOCK // 32
BLOCKS_PER_PROCESSOR = 8
PIECE = 2**22  # bytes
FEW_KEYS = 2**17  # the processor sorts fewer in milliseconds
FEW_SCORES = 2**15  # evaluated in every round: up to here a tree comes to the device later than the processor adds it
MOST_THREADS = 16


class Copier:
    """A pool of threads that copies large arrays, on the current device and stream of the calling thread."""

    def __init__(self, xp: Any) -> None:
        self._xp, self._own = xp, local()
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="simplexboost-copy")

    def up(self, there: Any, values: AnyArray) -> None:
        """Copy values from host memory to the GPU array `there`, and wait until the copy is done."""
        raw = values.reshape(-1).view(np.uint8)
        wait_for(self._each_piece(raw, int(there.data.ptr), self._send))

    def down(self, there: Any, out: AnyArray) -> Callable[[], None]:
        """Copy the GPU array `there` to the NumPy array `out`; return a function that waits until the copy is done."""
        pieces = self._each_piece(out.reshape(-1).view(np.uint8), int(there.data.ptr), self._fetch)

        def wait(kept: Any = there) -> None:  # the array must be there until it is copied
            wait_for(pieces)

        return wait

    def _each_piece(self, raw: AnyArray, address: int, copy: Callable[..., None]) -> list[Future[None]]:
        device, stream = self._xp.cuda.Device().id, self._xp.cuda.get_current_stream()
        launched = self._xp.cuda.Event(disable_timing=True)  # what was launched before must be done before the copy
        launched.record(stream)
        starts, parts = range(0, raw.size, PIECE), (device, stream, launched)
        return [self._threads.submit(copy, raw[i : i + PIECE], address + i, *parts) for i in starts]

    def _send(self, raw: AnyArray, address: int, device: int, stream: Any, launched: Any) -> None:
        with self._xp.cuda.Device(device):
            piece = self._piece()[: raw.size]
            piece[:] = raw
            self._move(address, piece.ctypes.data, raw.size, self._xp.cuda.runtime.memcpyHostToDevice, stream, launched)

    def _fetch(self, raw: AnyArray, address: int, device: int, stream: Any, launched: Any) -> None:
        with self._xp.cuda.Device(device):
            piece = self._piece()[: raw.size]
            self._move(piece.ctypes.data, address, raw.size, self._xp.cuda.runtime.memcpyDeviceToHost, stream, launched)
            raw[:] = piece

    def _piece(self) -> AnyArray:
        if not hasattr(self._own, "piece"):
            self._own.piece = np.frombuffer(self._xp.cuda.alloc_pinned_memory(PIECE), dtype=np.uint8, count=PIECE)
        return self._own.piece

    def _move(self, to: int, source: int, size: int, kind: int, stream: Any, launched: Any) -> None:
        stream.wait_event(launched)  # CuPy's default stream of this thread is not that of the caller
        event = self._xp.cuda.Event(block=True, disable_timing=True)  # threads that wait leave the core
        self._xp.cuda.runtime.memcpyAsync(to, source, size, kind, stream.ptr)
        event.record(stream)
        event.synchronize()


def wait_for(pieces: list[Future[None]]) -> None:
    for piece in pieces:
        piece.result()


SOURCE = Path(__file__).parent / "source"
MUCH = 2**28  # bytes in reserve
ON_CUDA = 2  # the number of CUDA among DLPack's devices
OLDEST_DRIVER = 12000  # CUDA 12.0
OLDEST_GPU = 70  # arguments that are constants of the grid, and threads of a warp that go their own ways
SHARED_BY_DEFAULT = 48 * 1024  # bytes that a kernel may share without being allowed to
OPTIONS = ("--std=c++17", "--fmad=false")  # without fused multiply-add, so that trees are those of the other engines


class DeviceError(RuntimeError):
    """The error raised if the GPU cannot be used; the message says why."""


class DeviceMemoryError(DeviceError, MemoryError):
    """The error raised if the GPU has too little memory for a fit."""


def cupy() -> Any:
    """Return the package CuPy; raise `DeviceError` unless it can use a GPU from this process."""
    package, process = found_cupy()
    if os.getpid() != process:
        raise DeviceError(
            "device='cuda' does not work in a process that was forked from one that used the GPU, since CUDA does not "
            "survive a fork; start processes by the method 'spawn'."
        )
    return package


@cache
def found_cupy() -> tuple[Any, int]:
    """Return the package CuPy, and the id of the process in which it found a GPU; raise `DeviceError` without one."""
    try:
        import cupy as package
    except ImportError as error:
        raise DeviceError(
            f"device='cuda' needs the package CuPy, which is not installed: {install_command('cupy')}."
        ) from error
    try:
        count = package.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise DeviceError(f"device='cuda' needs an NVIDIA GPU with its driver; CUDA says: {error}.") from error
    if count == 0:
        raise DeviceError("device='cuda' needs an NVIDIA GPU, and this machine has none.")
    driver = package.cuda.runtime.driverGetVersion()
    if driver < OLDEST_DRIVER:
        raise DeviceError(
            f"device='cuda' needs a driver for CUDA {OLDEST_DRIVER // 1000}.{OLDEST_DRIVER % 1000 // 10} or newer; "
            f"this one is for {driver // 1000}.{driver % 1000 // 10}."
        )
    capability = int(package.cuda.Device().compute_capability)
    if capability < OLDEST_GPU:
        raise DeviceError(
            f"device='cuda' needs a GPU of compute capability {OLDEST_GPU // 10}.{OLDEST_GPU % 10} or newer; "
            f"this one has {capability // 10}.{capability % 10}."
        )
    return package, os.getpid()


def check_gpu() -> None:
    """Raise `DeviceError` unless there is a GPU that can be used; the message says what is missing."""
    cupy()


def has_gpu() -> bool:
    """Return whether there is a GPU that can be used."""
    try:
        cupy()
    except DeviceError:
        return False
    return True


def records(pointers: str, rest: list[tuple[str, str]]) -> np.dtype[Any]:
    """Return the dtype of a kernel's argument structure: a pointer per name in `pointers`, then the fields `rest`."""
    return np.dtype([(name, np.uint64) for name in pointers.split()] + rest, align=True)


def ctype(dtype: Any) -> str:
    """Return the C type of a float dtype: "float" or "double"."""
    return "float" if dtype == np.float32 else "double"


class Arguments:
    """The argument of a kernel: one structure, passed by value and reused from launch to launch.

    A launch takes an array of pointers to arguments. Building array and structure for every launch took 60 µs; now a
    field is written only when it changes.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.record = np.zeros((), dtype=dtype)
        self._pointers = np.array([self.record.ctypes.data], dtype=np.uint64)
        self.address = int(self._pointers.ctypes.data)
        self._values: dict[str, Any] = {}

    def set(self, **fields: Any) -> None:
        """Write the fields whose values have changed into the structure."""
        known = self._values
        for name, value in fields.items():
            if name not in known or known[name] != value:
                self.record[name] = known[name] = value


def allow_shared(function: Any, shared: int) -> None:
    """Raise a kernel's limit of dynamic shared memory to at least ``shared`` bytes; never lower the limit.

    CuPy loads a source only once for the same options, so trees of different sizes share one kernel function. With a
    lower limit, larger trees could no longer be grown.
    """
    if shared > max(SHARED_BY_DEFAULT, function.max_dynamic_shared_size_bytes):
        function.max_dynamic_shared_size_bytes = shared


class CudaKernel:
    """A compiled CUDA kernel that is launched with a fixed amount of dynamic shared memory."""

    def __init__(self, function: Any, shared: int, cooperative: bool) -> None:
        self.function, self.shared, self.cooperative = function, shared, cooperative
        allow_shared(function, shared)
        self.pointer = function.kernel.ptr
        from cupy_backends.cuda.api import driver

        self._launch = driver.launchCooperativeKernel if cooperative else driver.launchKernel
        self._stream = cupy().cuda.get_current_stream

    def n_blocks(self) -> int:
        """Return how many thread blocks of this kernel the GPU runs at the same time."""
        from cupy_backends.cuda.api import driver

        each = int(driver.occupancyMaxActiveBlocksPerMultiprocessor(self.pointer, BLOCK, self.shared))
        return each * int(cupy().cuda.Device().attributes["MultiProcessorCount"])

    def __call__(self, grid: int | tuple[int, int], arguments: Arguments) -> None:
        """Launch the kernel on the current stream.

        The driver is used without CuPy's launch function, which inspects the structure's type every time and took
        longer than the launch.
        """
        x, y = grid if isinstance(grid, tuple) else (grid, 1)
        extra = () if self.cooperative else (0,)
        self._launch(self.pointer, x, y, 1, BLOCK, 1, 1, self.shared, self._stream().ptr, arguments.address, *extra)


class Piece:
    """A block of page-locked host memory, with an event that tells when a copy from or to the block is done."""

    def __init__(self, size: int) -> None:
        self.bytes = np.frombuffer(cupy().cuda.alloc_pinned_memory(size), dtype=np.uint8, count=size)
        self.address = int(self.bytes.ctypes.data)
        self.event = cupy().cuda.Event(disable_timing=True)


class Staging:
    """A pool of page-locked host memory for background copies; its pieces are reused after their copies.

    Several threads may use one pool at the same time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._free: dict[int, list[Piece]] = {}
        self._sent: deque[Piece] = deque()

    def take(self, size: int) -> Piece:
        """Return a free piece of at least `size` bytes."""
        room = 1 << max(12, (size - 1).bit_length())
        with self._lock:
            while self._sent and self._sent[0].event.done:
                piece = self._sent.popleft()
                self._free[piece.bytes.size].append(piece)
            free = self._free.setdefault(room, [])
            return free.pop() if free else Piece(room)

    def give_back(self, piece: Piece) -> None:
        """Return a piece to the pool, which reuses the piece when its copy is done."""
        self._sent.append(piece)


class Fetched:
    """A copy to host memory that may still be running; its memory is reused later, even if `wait` is never called."""

    def __init__(self, staging: Staging, piece: Piece, size: int) -> None:
        self._staging, self._size = staging, size
        self._piece: Piece | None = piece

    def wait(self) -> Any:
        """Wait for the copy, and return its bytes; may be called only once."""
        piece, self._piece = self._piece, None
        assert piece is not None
        piece.event.synchronize()
        out = piece.bytes[: self._size].copy()
        self._staging.give_back(piece)
        return out

    def __del__(self) -> None:
        if self._piece is not None:
            self._staging.give_back(self._piece)


class CudaDevice:
    """The current GPU: its memory, copies to and from this memory, and kernel launches; see `interface.Device`."""

    is_host: ClassVar[bool] = False

    def __init__(self, package: Any) -> None:
        self.xp = package
        self._kernels: dict[Any, CudaKernel] = {}
        self._arguments: dict[tuple[str, str], Arguments] = {}
        self._lock = Lock()  # of these arguments, which all fits share
        self._staging = Staging()
        self._postponed = local()  # the work that each thread has postponed; only that thread may do it
        # What the device has for a table or a forest of the host, as long as that is used.
        self.kept: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def owns(self, array: Any) -> bool:
        """Return whether an array is in GPU memory."""
        return isinstance(array, self.xp.ndarray)

    def to_host(self, values: Any) -> Any:
        return self.download(values) if self.owns(values) else values

    def to_device(self, X: AnyArray, d: int) -> Any:
        """Return a copy in GPU memory of rows X of a dense table; None if they are few or too large for its memory."""
        if type(X) is not np.ndarray or len(X) * d < FEW_SCORES or X.nbytes + 4 * len(X) * d > self.room() // 4:
            return None
        return self.upload(X)

    def postpone(self, work: Callable[[], Any]) -> bool:
        self._postponed.__dict__.setdefault("work", []).append(work)
        return True

    def run_postponed(self) -> None:
        for work in self._postponed.__dict__.pop("work", ()):
            work()

    def adopt(self, array: Any) -> Any:
        if self.owns(array):
            return array
        if hasattr(array, "__cuda_array_interface__"):
            return self.xp.asarray(array)
        if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] == ON_CUDA:
            return self.xp.from_dlpack(array)
        return None

    def in_kind(self, array: Any, given: Any) -> Any:
        """Return a GPU array as a torch tensor if `given` is a torch tensor, otherwise unchanged."""
        if self.owns(array) and type(given).__module__.partition(".")[0] == "torch":
            return sys.modules["torch"].from_dlpack(array)
        return array

    def room(self) -> int:
        """Return the free bytes of GPU memory, with CuPy's unused reserve, within the limit of CuPy's memory pool."""
        pool = self.xp.get_default_memory_pool()
        free, limit = self.xp.cuda.Device().mem_info[0] + pool.free_bytes(), pool.get_limit()
        return int(min(free, limit - pool.used_bytes()) if limit else free)

    def give_back_reserve(self) -> None:
        """Free CuPy's unused memory reserve if it is large, for example after copies before a fit."""
        pool = self.xp.get_default_memory_pool()
        if pool.free_bytes() > MUCH:
            pool.free_all_blocks()

    @cached_property
    def n_processors(self) -> int:
        return int(self.xp.cuda.Device().attributes["MultiProcessorCount"])

    @cached_property
    def most_shared(self) -> int:
        return int(self.xp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    @property
    def most_blocks(self) -> int:
        """The most thread blocks to launch for kernels whose blocks process several pieces of work in turn."""
        return BLOCKS_PER_PROCESSOR * self.n_processors

    def count_blocks(self, n: int, each: int) -> int:
        """Return the number of thread blocks for n pieces of work, with at least `each` pieces per block."""
        return max(1, min(-(-n // each), self.most_blocks))

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self.xp.empty(shape, dtype=dtype)

    def upload(self, array: Any, dtype: Any = None) -> Any:
        """Return a C-contiguous copy of a NumPy array in GPU memory, with this dtype.

        An array in GPU memory is returned as it is, or as a C-contiguous copy. Several threads copy large arrays.
        """
        if self.owns(array):
            return array if array.flags.c_contiguous else array.copy(order="C")
        array = np.asarray(array, dtype=dtype, order="C")
        if array.nbytes < 2 * PIECE:
            return self.xp.asarray(array)
        out = self.empty(array.shape, array.dtype)
        self.copier.up(out, array)
        return out

    def download_into(self, array: Any, out: Any) -> Callable[[], None]:
        """Copy a GPU array to the NumPy array `out`; return a function that waits until the copy is done."""
        if not out.flags.c_contiguous:
            out[...] = self.download(array)
            return lambda: None
        if array.nbytes < 2 * PIECE:
            return partial(array.get, out=out)
        return self.copier.down(array, out)

    @cached_property
    def copier(self) -> Copier:
        return Copier(self.xp)

    def download(self, array: Any, size: int | None = None) -> Any:
        """Return a copy of a GPU array, or of its first `size` rows, in host memory."""
        return self.xp.asnumpy(array if size is None else array[:size])

    def argsort(self, keys: AnyArray) -> AnyArray:
        return np.argsort(keys) if keys.size < FEW_KEYS else self.download(self.upload(keys).argsort())

    def send(self, array: Any, values: Any) -> None:
        """Copy small `values` from host memory to the beginning of a GPU array, without waiting."""
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        piece = self._staging.take(raw.size)
        piece.bytes[: raw.size] = raw
        self._copy(array.data.ptr, piece.address, raw.size, self.xp.cuda.runtime.memcpyHostToDevice, piece.event)
        self._staging.give_back(piece)

    def fetch(self, array: Any, size: int) -> Fetched:
        """Begin to copy the first `size` bytes of a GPU array to host memory; return the pending copy."""
        piece = self._staging.take(size)
        self._copy(piece.address, array.data.ptr, size, self.xp.cuda.runtime.memcpyDeviceToHost, piece.event)
        return Fetched(self._staging, piece, size)

    def _copy(self, to: int, source: int, size: int, kind: int, event: Any) -> None:
        stream = self.xp.cuda.get_current_stream()
        self.xp.cuda.runtime.memcpyAsync(to, source, size, kind, stream.ptr)
        event.record(stream)

    def mark(self) -> Any:
        """Return a CUDA event for `after`: it occurs when the work queued so far on the current stream is done."""
        event = self.xp.cuda.Event(disable_timing=True)
        event.record(self.xp.cuda.get_current_stream())
        return event

    def after(self, mark: Any) -> None:
        """Make all later work on the current stream wait for an event of `mark`, perhaps of another stream."""
        self.xp.cuda.get_current_stream().wait_event(mark)

    def clear(self, array: Any, size: int | None = None) -> None:
        """Fill a GPU array, or its first `size` bytes, with zeros."""
        array.data.memset_async(0, array.nbytes if size is None else size)

    def pointer(self, array: Any) -> int:
        """Return the memory address of a GPU array; 0 for None."""
        return 0 if array is None else int(array.data.ptr)

    def kernel(
        self, module: str, name: str, options: dict[str, Any], shared: int = 0, cooperative: bool = False
    ) -> CudaKernel:
        """Return a kernel of ``source/<module>.cu``, compiled with macros `options`; CuPy caches the result on disk."""
        key = (module, name, tuple(options.items()), shared)
        if key not in self._kernels:
            code = source_text("common.cuh") + source_text(f"{module}.cu")
            macros = tuple(f"-D{macro}={value}" for macro, value in options.items())
            compiled = self.xp.RawModule(code=code, options=OPTIONS + macros, enable_cooperative_groups=cooperative)
            self._kernels[key] = CudaKernel(compiled.get_function(name), shared, cooperative)
        return self._kernels[key]

    def launch(
        self,
        module: str,
        name: str,
        macros: dict[str, Any],
        grid: int | tuple[int, int],
        dtype: np.dtype[Any],
        fields: dict[str, Any],
        shared: int = 0,
    ) -> None:
        """Launch a kernel of ``source/<module>.cu``; GPU arrays among `fields` are passed as pointers."""
        kernel = self.kernel(module, name, macros, shared)
        values = {field: x if isinstance(x, int | float) else self.pointer(x) for field, x in fields.items()}
        with self._lock:
            if (module, name) not in self._arguments:
                self._arguments[module, name] = Arguments(dtype)
            self._arguments[module, name].set(**values)
            kernel(grid, self._arguments[module, name])


def current_device() -> CudaDevice:
    """Return the `CudaDevice` of CuPy's current GPU; one object per GPU, because kernels belong to one GPU."""
    return device_of(int(cupy().cuda.Device().id))


@cache
def device_of(number: int) -> CudaDevice:
    """Return the `CudaDevice` of the GPU of index `number`, which must be the current GPU; cached."""
    return CudaDevice(cupy())


def source_text(name: str) -> str:
    """Return a CUDA source file with its includes inserted, so that CuPy's cache notices changes in included files."""
    lines = (SOURCE / name).read_text().splitlines(keepends=True)
    return "".join(source_text(line.split('"')[1]) if line.startswith('#include "') else line for line in lines)
