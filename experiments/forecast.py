"""What is left to compute, and how long that takes, from the seconds of cells that are finished."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cells import Cell, Results
from .registry import Experiment, Plan

LEAST = 0.05  # of the guess


class Forecast:
    """Seconds of cells: guesses corrected by how long alike cells took.

    Parameters
    ----------
    cells : whatever may be finished
    found : their results
    """

    def __init__(self, cells: Sequence[Cell], found: Results) -> None:
        ratios: dict[tuple[str, ...], list[float]] = {}
        for cell in cells:
            seconds = found.seconds(cell)
            if seconds:
                for kind in kinds(cell):
                    ratios.setdefault(kind, []).append(seconds / cell.cost)
        # Rather too long than too short: a booster that soon ended says little of one that goes on. With these
        # quartiles half of the finished cells foretold the other half as 27 % longer than it was.
        self.ratios = {kind: max(LEAST, float(np.quantile(values, 0.75))) for kind, values in ratios.items()}

    def __call__(self, cell: Cell) -> float:
        """Seconds on one core."""
        return cell.cost * next((self.ratios[kind] for kind in kinds(cell) if kind in self.ratios), 1.0)


def kinds(cell: Cell) -> list[tuple[str, ...]]:
    """What a cell is alike to, the nearest first: the same booster on the same set, the same booster, the same task."""
    booster = str(cell.arguments.get("booster", cell.arguments.get("method", "")))
    problem = cell.arguments.get("problem", "")
    name = str(problem.get("name", "") if isinstance(problem, dict) else problem)
    return [(cell.task, booster, name), (cell.task, booster), (cell.task,)]


def status(experiments: Sequence[Experiment], plan: Plan, found: Results) -> str:
    """A line per experiment: cells finished, how many of everything's first runs, the forecast of the rest."""
    lines = [f"{'experiment':22} {'finished':>11} {'first runs':>11} {'core-minutes left':>18}  title"]
    every = [cell for e in experiments for cell in e.cells(plan)]
    seconds_of = Forecast(every, found)
    left: dict[str, Cell] = {}
    for e in experiments:
        own = list({cell.key: cell for cell in e.cells(plan)}.values())
        missing = [cell for cell in own if found.get(cell) is None]
        first = [cell for cell in own if cell.turn == 0]
        done_first = sum(found.get(cell) is not None for cell in first)
        minutes = sum(map(seconds_of, missing)) / 60
        counts = f"{f'{len(own) - len(missing)}/{len(own)}':>11} {f'{done_first}/{len(first)}':>11}"
        lines.append(f"{e.name:22} {counts} {minutes:18.1f}  {e.title}")
        left |= {cell.key: cell for cell in missing}
    unique = {cell.key: cell for cell in every}
    total = sum(map(seconds_of, left.values())) / 60
    first_total = sum(seconds_of(cell) for cell in left.values() if cell.turn == 0) / 60
    lines.append(
        f"all: {len(unique) - len(left)} of {len(unique)} cells; left: {total:.0f} core-minutes, "
        f"{first_total:.0f} of them for what has not been run once (cells that experiments share count once)"
    )
    return "\n".join(lines)
