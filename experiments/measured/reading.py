"""From the finished cells of the experiments to grids: which of our variants stands for which row of a paper.

Where a paper's text says how a booster works, that variant stands for its row (``READINGS``). Where it is silent one
variant is chosen for all tables of the paper, and the others are shown beside it, never counted instead of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..cells import Cell, Results
from ..comparison import Comparison, Method, _papers
from ..data import test_rows
from ..fits import at
from ..grids import Grid, Numbers
from ..registry import Plan

END = 10**9  # rounds: the end of a fit

# The variant that stands for a row of a table of a paper, by our row of the grid, and why this one.
READINGS: dict[str, dict[str, tuple[str, str]]] = {
    "nips-table1": {
        "One-vs-All AdaBoost": ("OVA", ""),
        "AdaBoost.MH": ("MH on [x, k]", "Section 4: each example is augmented with a feature that is the class."),
        "CD-MCBoost": ("CD in turn", "Algorithm 1 of the conference version takes the coordinates in turn."),
    },
    "nips-table2": {
        "AdaBoost.M1": ("M1", ""),
        "SAMME": ("SAMME", ""),
        "AdaBoost-Cost": ("MM, edge step", "The paper is silent; (61) is the step of Mukherjee's experiments."),
        "GD-MCBoost": ("GD, codeword leaves", "Section 3.2: the output of a tree is translated into a codeword."),
    },
    "jmlr-table7": {
        "AdaBoost-OVA": ("OVA", ""),
        "AdaBoost.ECC": ("ECC", ""),
        "CD-MCBoost": ("CD, best coordinate", "Algorithm 1 of the journal version updates the best coordinate."),
    },
    "jmlr-table8": {
        "LogitBoost": ("LogitBoost", ""),
        "CD-MCBoost": ("CD, best coordinate", "Algorithm 1 of the journal version updates the best coordinate."),
    },
    "jmlr-table9": {
        "AdaBoost.M1": ("M1", ""),
        "SAMME": ("SAMME", ""),
        "AdaBoost.MM": ("MM, edge step", "The paper is silent; (61) is the step of Mukherjee's experiments."),
        "GD-MCBoost": ("GD, codeword leaves", "Not said of the journal's trees; the conference version has codewords."),
    },
    "mukherjee-fig8": {
        "AdaBoost.MH": ("MH", "BoosTexter's real-valued stumps."),
        "AdaBoost.M1": ("M1", "Information-gain trees for C4.5, which is not at hand."),
        "AdaBoost.MM": ("MM", "Greedy trees on the cost, step (61)."),
    },
}


def printed_rows(table: str, columns: Iterable[str]) -> dict[str, dict[str, float | None]]:
    """The paper's numbers under the names of our rows."""
    rows = _papers()[table]
    return {ours: {c: rows[row].get(c) for c in columns} for row, (ours, _) in READINGS[table].items()}


def numbers(found: Results, cells: list[Cell], error: bool = True, rounds: int = END, part: str = "test") -> Numbers:
    """Rates in percent after so many rounds of fits, and the rows of the test part."""
    done = [r for r in found.finished(cells) if part in r]
    values = tuple(100 * at(r, rounds, part) for r in done)
    problem: Mapping[str, Any] = cells[0].arguments.get("problem", {}) if cells else {}
    drawn = bool(problem.get("shuffle") or problem.get("noise"))
    rows = None if part != "test" or not done else int(done[0]["rows"][1]) if "rows" in done[0] else test_rows(problem)
    return Numbers(values if error else tuple(100 - v for v in values), len(cells), rows, drawn=drawn)


def computed(value: float | None) -> Numbers:
    """A number without noise, if it is there."""
    return Numbers(() if value is None else (float(value),), sure=True)


def compared(table: Comparison, methods: Mapping[str, Method], plan: Plan, found: Results) -> Grid:
    """The grid of a table of boosters × sets."""
    cells = {
        row: {name: numbers(found, table.cells_of(plan, method, name), table.error) for name in table.sets}
        for row, method in methods.items()
    }
    return Grid(cells, table.error, printed_rows(table.table, table.sets))
