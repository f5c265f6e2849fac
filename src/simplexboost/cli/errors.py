"""Formats text for messages: errors as one sentence, a number with its noun, and lists of values."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable
from typing import Any

WRONG, USAGE, INTERRUPTED = 1, 2, 130  # exit codes: data or model; arguments (click's own); Ctrl-C, as shells have it


class InputError(Exception):
    """The error for wrong data, files and models; its message is shown to the user."""


class ArgumentError(InputError):
    """The error for wrong command-line arguments; its message is shown to the user."""


def one_line(error: BaseException) -> str:
    """Return the message of an error as one line."""
    return " ".join(str(error).split())


def explain(error: BaseException) -> str:
    """Return one sentence that explains an error to the user."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        what = error.strerror or os.strerror(error.errno)
        if error.errno == errno.ENOSPC:
            what = "the disk is full"
        return f"{error.filename}: {what}" if error.filename else what
    if isinstance(error, MemoryError):
        said = str(error) if " are free" in str(error) else "there is not enough memory for this."  # ours, or NumPy's
        return f"{said} Try fewer rows, columns (--drop) or rounds (--set n_estimators=100)."
    return one_line(error) or type(error).__name__


def did_you_mean(word: str, known: Iterable[Any]) -> str:
    """Return a hint at known words whose spelling is close to ``word``, or empty text if none is close."""
    by_lower = {str(name).lower(): str(name) for name in known}
    near = difflib.get_close_matches(word.lower(), by_lower, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(by_lower[name] for name in near)}?" if near else ""


def count(n: int, what: str) -> str:
    """Return a number and a noun as text, with the noun in the plural unless the number is 1."""
    return f"{n} {what}" if n == 1 else f"{n} {what}{'es' if what.endswith('s') else 's'}"


def list_some(values: Iterable[Any], most: int = 5) -> str:
    """Return the first ``most`` values as quoted text, followed by how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(repr(str(value)) for value in listed[:most]) + more
