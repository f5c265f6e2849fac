"""Writes messages to users: errors that name the estimator, warnings, progress of long steps, sizes in bytes.

An estimator with ``verbose`` enters the context `show_progress`. A long step, such as the search for codewords,
iterates through `track_progress` and does not need the estimator. Outside `show_progress` nothing is printed. The print
function is kept in a context variable, so that fits in several threads do not print each other's progress.
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
    """Add the estimator's name ``who`` to errors raised inside this context: other libraries may not do that.

    NumPy's overflow warnings are silenced: scikit-learn's trees turn X into single precision and then refuse infinity.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{who} refuses X, y, sample_weight or its own parameters: {error}") from error


@contextmanager
def show_progress(verbose: Any) -> Iterator[None]:
    """Print the progress of long steps that run inside this context, if ``verbose`` is true."""
    token = _print.set((lambda line: print(line, flush=True)) if verbose else None)
    try:
        yield
    finally:
        _print.reset(token)


def track_progress(parts: Sequence[T], what: str, seconds: float) -> Iterator[T]:
    """Yield the parts of a long step; print a line before the first part, and then about one line per second.

    Nothing is printed outside `show_progress`, or if ``seconds``, a rough forecast of the duration, is less than one.
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
    """Return a number of bytes as text with a unit, such as "4.5 kB".

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
    """Issue a warning that is located at the first caller outside this library, scikit-learn and joblib."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OUR_CALLERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
