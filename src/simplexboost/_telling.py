"""Progress of long steps that know nothing of the estimator that waits for them, such as the search for codewords.

An estimator with ``verbose`` opens `telling`; a long step goes through its parts with `told`. Where nobody listens,
nothing is printed. The listener is a context variable, so that fits in several threads do not hear each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

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
