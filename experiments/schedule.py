"""In which order cells are computed: first what the verdicts on the papers' statements wait for, then everything.

A verdict needs at least half of the repeats of every number in its grid (`grids.Numbers.known`). The grids that settle
most statements a minute come first, so that a run that is stopped early leaves as few statements open as it can. Cells
of several minutes wait for the short ones of all grids: many statements are settled before all of their numbers are
there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from .cells import Cell, Listening, Results
from .grids import SOURCES
from .ledger import WAITING, verdicts
from .registry import Experiment, Plan, in_order

LONG = 200.0  # seconds


def by_verdicts(
    experiments: Iterable[Experiment], plan: Plan, found: Results, seconds: Callable[[Cell], float]
) -> list[Cell]:
    """All cells of some experiments; ``seconds`` tells how long a cell takes."""
    everything = in_order(experiments, plan, seconds)
    wanted = {cell.key for cell in everything}
    needed = [cell for cells in decisive(plan, found, seconds) for cell in cells if cell.key in wanted]
    needed.sort(key=lambda cell: seconds(cell) > LONG)  # which keeps the order of the others
    first = {cell.key: cell for cell in needed}
    return [*first.values(), *(cell for cell in everything if cell.key not in first)]


def decisive(plan: Plan, found: Results, seconds: Callable[[Cell], float]) -> list[list[Cell]]:
    """For every grid that a statement waits for the missing cells of its first half, the short ones first.

    The grid that takes the fewest seconds for each of its statements comes first.
    """
    waiting: dict[str, int] = {}
    for entry, verdict in verdicts(plan, found):
        if verdict.grade == WAITING:
            waiting[entry.numbers] = waiting.get(entry.numbers, 0) + 1
    ranked = []
    for name, statements in waiting.items():
        missing = [cell for cell in first_half(asked_for(name, plan, found)) if found.get(cell) is None]
        missing.sort(key=seconds)
        ranked.append((sum(map(seconds, missing)) / statements, missing))
    return [missing for _, missing in sorted(ranked, key=lambda entry: entry[0])]


def asked_for(grid: str, plan: Plan, found: Results) -> list[Cell]:
    """The cells that a grid is read from."""
    listening = Listening(found)
    SOURCES[grid](plan, listening)
    return list(listening.asked.values())


def first_half(cells: Iterable[Cell]) -> list[Cell]:
    """Of cells that are the same but for their seeds at least half, those of the first turns."""
    repeats: dict[str, list[Cell]] = {}
    for cell in cells:
        repeats.setdefault(json.dumps([cell.task, without_seed(cell.arguments)], sort_keys=True), []).append(cell)
    return [
        cell
        for same in repeats.values()
        for cell in sorted(same, key=lambda cell: cell.turn)[: math.ceil(len(same) / 2)]
    ]


def without_seed(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without what tells repeats apart."""
    kept = {key: value for key, value in arguments.items() if key not in ("seed", "seeds")}
    return {key: without_seed(value) if isinstance(value, dict) else value for key, value in kept.items()}
