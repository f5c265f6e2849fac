"""Counts calls of the package's functions during a fit, parts that are built for it, and modules that an import loads.

Calls are counted by `sys.setprofile` in one thread. Comprehensions count as part of the function they stand in, lambdas
and the ``__init__`` of dataclasses as functions.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost.parts.codewords import Codewords
from simplexboost.parts.learners import Learner
from simplexboost.parts.losses import Loss
from simplexboost.parts.optimizers import Optimizer
from simplexboost.parts.steps import Step

ROOT = sb.__name__
PARTS = (Loss, Codewords, Learner, Optimizer, Step)
INNER = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
FEW, MORE = 3, 23  # rounds of two fits whose calls are compared


def profiled(action: Callable[[], Any], seen: Callable[[FrameType], None]) -> None:
    """Do something, and show every call of a function of the package that it makes in this thread."""

    def watch(frame: FrameType, event: str, _: Any) -> None:
        ours = event == "call" and str(frame.f_globals.get("__name__")).split(".")[0] == ROOT
        if ours and frame.f_code.co_name not in INNER:
            seen(frame)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(before)


def count_calls(action: Callable[[], Any]) -> Counter[str]:
    """How often each function of the package is called."""
    found: Counter[str] = Counter()
    profiled(action, lambda frame: found.update([f"{frame.f_globals['__name__']}.{frame.f_code.co_name}"]))
    return found


def count_parts(action: Callable[[], Any]) -> int:
    """How many losses, codewords, learners, optimizers and steps are made."""
    made = []

    def seen(frame: FrameType) -> None:
        if frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), PARTS):
            made.append(type(frame.f_locals["self"]))

    profiled(action, seen)
    return len(made)


def small_fit(kind: Any, n_rounds: int) -> Callable[[], Any]:
    """A fit to 240 rows of five numbers and four classes, which no booster learns in a few rounds."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4
    X = rng.normal(size=(240, 5))
    X[:, 0] += y
    clf = kind(n_estimators=n_rounds, random_state=0, n_jobs=1)
    return lambda: clf.fit(X, y)


def calls_per_round(kind: Any) -> dict[str, float]:
    """The calls of every function in a further round, the most frequent ones first."""
    small_fit(kind, FEW)()  # what is done once per process
    few, more = (count_calls(small_fit(kind, n_rounds)) for n_rounds in (FEW, MORE))
    more.subtract(few)
    return {name: n / (MORE - FEW) for name, n in more.most_common() if n}


def parts_per_fit(kind: Any) -> tuple[int, int]:
    """In a fit of `FEW` rounds: the calls of functions called ``parts``, and the parts that are built."""
    named = sum(n for name, n in count_calls(small_fit(kind, FEW)).items() if name.endswith(".parts"))
    return named, count_parts(small_fit(kind, FEW))


def loaded_modules() -> list[str]:
    """The names of the modules that a fresh process has after the import of the package."""
    code = f"import sys, {ROOT}; print(*sys.modules, sep='\\n')"
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout.split()
