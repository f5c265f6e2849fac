"""Writes messages to users: errors of their own estimators, warnings, progress of long steps, file sizes.

An estimator with ``verbose`` opens `telling`; a long step, such as the search for codewords, iterates through `told`
and need not know the estimator. Outside `telling` nothing is printed. The listener is a context variable, so that fits
in several threads do not print each other's progress.
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


@contextmanager
def blamed(who: str) -> Iterator[None]:
    """A context in which an error says whose it is: estimators of other libraries do not always name the culprit.

    Numbers that overflow are no warning in it: trees of scikit-learn turn X into single precision, and refuse what is
    infinite then.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{who} refuses X, y, sample_weight or its own parameters: {error}") from error


T = TypeVar("T")
Say = Callable[[str], None]

EVERY = 1.0  # seconds between two lines; shorter steps say nothing
_listener: ContextVar[Say | None] = ContextVar("listener", default=None)


def printed(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


@contextmanager
def telling(verbose: Any) -> Iterator[None]:
    """Long steps inside print what they do, if ``verbose`` is true."""
    token = _listener.set(printed if verbose else None)
    try:
        yield
    finally:
        _listener.reset(token)


def told(parts: Sequence[T], what: str, seconds: float) -> Iterator[T]:
    """The parts of a long step, one after the other, with a line before the first and about one a second after it.

    Parameters
    ----------
    parts : what the step goes through
    what : the step, in words
    seconds : what all of it will take, roughly; nothing is said of steps of less than a second

    Examples
    --------
    >>> with telling(True):
    ...     done = list(told([1, 2, 3], "counting", seconds=90.0))
    counting: about 90 s
    """
    say = _listener.get()
    if say is None or seconds < EVERY:
        yield from parts
        return
    say(f"{what}: about {seconds:.0f} s")
    begin = last = time.perf_counter()
    for number, part in enumerate(parts, start=1):
        yield part
        now = time.perf_counter()
        if now - last >= EVERY:
            spent, last = now - begin, now
            to_go = spent / number * (len(parts) - number)
            say(f"{what}: {number}/{len(parts)}  {spent:.0f} s, {to_go:.0f} s to go")


def in_bytes(size: int) -> str:
    """A number of bytes in words.

    Examples
    --------
    >>> in_bytes(312), in_bytes(4_500), in_bytes(28_460_000)
    ('312 bytes', '4.5 kB', '28.5 MB')
    """
    for unit, bound in (("MB", 10**6), ("kB", 10**3)):
        if size >= bound:
            return f"{size / bound:.1f} {unit}"
    return f"{size} bytes"


# scikit-learn calls our methods too: it wraps `fit`, and its searches and cross-validation fit many models.
PASSED_OVER = {__name__.partition(".")[0], "sklearn", "joblib"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as of the line of the first caller that belongs to none of these packages."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
