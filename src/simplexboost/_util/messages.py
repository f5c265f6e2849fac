"""Writes messages to users: errors of their own estimators, warnings, progress of long steps, file sizes.

An estimator with ``verbose`` opens `show_progress`; a long step, such as the search for codewords, iterates through
`track_progress` and need not know the estimator. Outside `show_progress` nothing is printed. What prints the lines is
kept in a context variable, so that fits in several threads do not print each other's progress.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Print = Callable[[str], None]

SHORT = 1.0  # seconds between two lines; of shorter steps nothing is printed
_print: ContextVar[Print | None] = ContextVar("print", default=None)


@contextmanager
def name_in_errors(who: str) -> Iterator[None]:
    """Name the estimator in errors that are raised inside a context; those of other libraries may not name it.

    Warnings of overflow are silenced: trees of scikit-learn turn X into single precision and then refuse infinity.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{who} refuses X, y, sample_weight or its own parameters: {error}") from error


@contextmanager
def show_progress(verbose: Any) -> Iterator[None]:
    """Let long steps inside a context print their progress if ``verbose`` is true."""
    token = _print.set((lambda line: print(line, flush=True)) if verbose else None)
    try:
        yield
    finally:
        _print.reset(token)


def track_progress(parts: Sequence[T], what: str, seconds: float) -> Iterator[T]:
    """Iterate over the parts of a long step; print a line before the first part, and then about one per second.

    Nothing is printed if ``seconds``, a rough forecast of the duration, is less than one.
    """
    print_line = _print.get()
    if print_line is None or seconds < SHORT:
        yield from parts
        return
    print_line(f"{what}: about {seconds:.0f} s")
    begin = last = time.perf_counter()
    for number, part in enumerate(parts, start=1):
        yield part
        now = time.perf_counter()
        if now - last >= SHORT:
            spent, last = now - begin, now
            left = spent / number * (len(parts) - number)
            print_line(f"{what}: {number}/{len(parts)}  {spent:.0f} s, {left:.0f} s to go")


def format_bytes(size: float) -> str:
    """Write a number of bytes in words.

    Examples
    --------
    >>> format_bytes(312), format_bytes(4_500), format_bytes(28_460_000), format_bytes(7.1e9)
    ('312 bytes', '4.5 kB', '28.5 MB', '7.1 GB')
    """
    for unit, bound in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bound:
            return f"{size / bound:.1f} {unit}"
    return f"{size} bytes"


# scikit-learn calls our methods too: it wraps `fit`, and its searches and cross-validation fit many models.
OUR_CALLERS = {__name__.partition(".")[0], "sklearn", "joblib"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the line of the first caller outside these packages as the place of the warning."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OUR_CALLERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
