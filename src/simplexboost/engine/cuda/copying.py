"""Large arrays between the memory of the host and the device.

A plain copy from or to ordinary memory is the work of one thread, which moves 2 to 10 GB/s and most slowly where pages
of the host are touched for the first time; the connection to the device moves 50. So pieces are copied side by side by
several threads, each through page-locked memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local
from typing import Any

import numpy as np

from ..._typing import AnyArray

PIECE = 2**22  # bytes
MOST_THREADS = 16


class Copier:
    """Copies on the device and the stream that are current when it is asked."""

    def __init__(self, xp: Any) -> None:
        self._xp, self._own = xp, local()
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="simplexboost-copy")

    def up(self, there: Any, values: AnyArray) -> None:
        """Copy values of the host to an array of the device, and wait for it."""
        raw = values.reshape(-1).view(np.uint8)
        wait_for(self._each_piece(raw, int(there.data.ptr), self._send))

    def down(self, there: Any, out: AnyArray) -> Callable[[], None]:
        """Copy an array of the device to one of the host; the function that is returned waits for it."""
        pieces = self._each_piece(out.reshape(-1).view(np.uint8), int(there.data.ptr), self._fetch)

        def wait(kept: Any = there) -> None:  # the array must be there until it is copied
            wait_for(pieces)

        return wait

    def _each_piece(self, raw: AnyArray, address: int, copy: Callable[..., None]) -> list[Future[None]]:
        device, stream = self._xp.cuda.Device().id, self._xp.cuda.get_current_stream()
        asked = self._xp.cuda.Event(disable_timing=True)  # what was launched before must be done before the copy
        asked.record(stream)
        starts, parts = range(0, raw.size, PIECE), (device, stream, asked)
        return [self._threads.submit(copy, raw[i : i + PIECE], address + i, *parts) for i in starts]

    def _send(self, raw: AnyArray, address: int, device: int, stream: Any, asked: Any) -> None:
        with self._xp.cuda.Device(device):
            piece = self._piece()[: raw.size]
            piece[:] = raw
            self._move(address, piece.ctypes.data, raw.size, self._xp.cuda.runtime.memcpyHostToDevice, stream, asked)

    def _fetch(self, raw: AnyArray, address: int, device: int, stream: Any, asked: Any) -> None:
        with self._xp.cuda.Device(device):
            piece = self._piece()[: raw.size]
            self._move(piece.ctypes.data, address, raw.size, self._xp.cuda.runtime.memcpyDeviceToHost, stream, asked)
            raw[:] = piece

    def _piece(self) -> AnyArray:
        """The page-locked memory of this thread."""
        if not hasattr(self._own, "piece"):
            self._own.piece = np.frombuffer(self._xp.cuda.alloc_pinned_memory(PIECE), dtype=np.uint8, count=PIECE)
        return self._own.piece

    def _move(self, to: int, source: int, size: int, kind: int, stream: Any, asked: Any) -> None:
        stream.wait_event(asked)  # CuPy's default stream per thread is another one here than where it was asked
        event = self._xp.cuda.Event(block=True, disable_timing=True)  # threads that wait leave the core
        self._xp.cuda.runtime.memcpyAsync(to, source, size, kind, stream.ptr)
        event.record(stream)
        event.synchronize()


def wait_for(pieces: list[Future[None]]) -> None:
    """Wait for copies; an error of one of them is raised here."""
    for piece in pieces:
        piece.result()
