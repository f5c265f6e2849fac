"""What the user is told while a command runs: all of it goes to standard error, so that standard output stays data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Talk:
    """Says things on standard error, unless quiet; a warning that was given once is not repeated."""

    quiet: bool = False
    _said: set[str] = field(default_factory=set)

    @property
    def on_terminal(self) -> bool:
        """Whether somebody watches: then there are bars and colours."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, line: str) -> None:
        """Print a line."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def warn(self, line: str, about: str | None = None) -> None:
        """Print a warning, once for the same subject."""
        if (about or line) not in self._said:
            self._said.add(about or line)
            self.say(f"warning: {line}")

    @contextmanager
    def counting(self, what: str, total: int | None = None) -> Iterator[Any]:
        """A context that gives a function to call with the number of steps done: a bar, some lines, or nothing."""
        from .progress import Bar, Lines, Silent

        counter = Silent() if self.quiet else Bar(what, total) if self.on_terminal else Lines(what, total, self)
        with counter as advance:
            yield advance
