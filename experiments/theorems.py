"""Theorems, lemmas and printed formulas on many small instances: how far the worst instance is beyond the statement.

A check returns numbers that should be zero or negative. Where a statement of a paper is wrong as printed (see
docs/errata.md) there are two checks: the printed statement, whose number is positive, and the corrected one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .cells import Cell, Results, task
from .registry import EXPERIMENTS, Block, Plan, Table, Text, experiment

Check = Callable[[], dict[str, float]]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Registers the check ``paper-what``."""

    def register(function: Check) -> Check:
        if name in CHECKS:
            raise ValueError(f"there are two checks named {name!r}.")
        CHECKS[name] = function
        return function

    return register


@task
def theorem(name: str) -> dict[str, Any]:
    """The numbers of a check."""
    return {"numbers": {name: {key: float(value) for key, value in CHECKS[name]().items()}}}


def cells_of(paper: str) -> list[Cell]:
    """A cell for each check of a paper."""
    return [Cell("theorem", {"name": name}, 1.0) for name in CHECKS if name.partition("-")[0] == paper]


def register(paper: str, title: str) -> None:
    """The experiment ``paper-theorems``."""
    name = f"{paper}-theorems"
    own = experiment(name, title, urgency=4)(lambda plan: cells_of(paper))
    own.protocol = (
        "Each statement is computed on random or on the smallest instances, without data sets. The number is how far "
        "the worst instance is beyond the statement; zero, a negative number or one of the size of rounding errors "
        "means that no counter-example was found, which is no proof."
    )

    @own.reported
    def _(plan: Plan, found: Results) -> Iterator[Block]:
        yield Text("Worst instances; the verdicts are in the ledger.")
        yield Table(["check", "numbers"], [line(c, found) for c in EXPERIMENTS[name].cells(plan)])


def line(cell: Cell, found: Results) -> list[str]:
    """A check and its numbers."""
    name, result = cell.arguments["name"], found.get(cell)
    values = (result or {}).get("numbers", {}).get(name, {})
    return [name.partition("-")[2], ", ".join(f"{key} {value:.3g}" for key, value in values.items()) or "…"]


register("jmlr", "Theorems and formulas of MCBoost, on small instances")
register("mukherjee", "Theorems and formulas of the theory of multiclass boosting, on small instances")
register("geist", "Propositions and formulas of soft-max boosting, on small instances")
register("lecture", "Formulas of the lecture, on small instances")
