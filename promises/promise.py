"""A promise, and the list of all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import promises

Try = Callable[[int], None]


@dataclass(frozen=True)
class Promise:
    """What is promised, and how it is tried.

    Attributes
    ----------
    words : the promise, a sentence
    attempt : tries one case, made from its number, and raises where the promise is broken
    fast, soak : how many cases `make test` and `make soak` try
    each : so many tries are made by one case, for the count in the table
    seconds : after so long a case counts as a hang; much, since the machine may be busy with something else
    alone : a case needs the machine for itself, for instance because it measures memory
    needs : markers of tests/conftest.py that say what a machine must have
    """

    words: str
    attempt: Try
    fast: int
    soak: int
    each: int = 1
    seconds: float = 300.0
    alone: bool = False
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the function: what the command line and the table call it."""
        return self.attempt.__name__

    @property
    def subject(self) -> str:
        """Of the module it stands in."""
        return self.attempt.__module__.removeprefix("promises.").split(".")[0]


_PROMISES: dict[str, Promise] = {}


def promise(
    words: str,
    *,
    fast: int,
    soak: int,
    each: int = 1,
    seconds: float = 300.0,
    alone: bool = False,
    needs: tuple[str, ...] = (),
) -> Callable[[Try], Try]:
    """Enter a function in the list of promises; the parameters are those of `Promise`."""

    def enter(attempt: Try) -> Try:
        entry = Promise(words, attempt, fast, soak, each, seconds, alone, needs)
        known = _PROMISES.setdefault(entry.name, entry)
        if known.attempt.__module__ != attempt.__module__:
            raise ValueError(f"two promises are called {entry.name}: in {known.subject} and in {entry.subject}")
        return attempt

    return enter


def all_promises() -> dict[str, Promise]:
    """Every promise by its name, those of a module together."""
    for module in pkgutil.walk_packages(promises.__path__, "promises."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return dict(sorted(_PROMISES.items(), key=lambda item: item[1].subject))
