"""One BLAS thread, so that results do not depend on how many there are.

A threaded matrix product may add in another order than a serial one, and spinning BLAS threads fight the engine's own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through the loaded libraries: a few milliseconds, once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS runs on one thread."""
    return _controller().limit(limits=1, user_api="blas")
