"""Experiments by name: the cells each needs, and what it reports of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .cells import Cell, Results

PAPERS = {
    "nips": "Saberian and Vasconcelos, Multiclass Boosting: Theory and Algorithms, NIPS 2011",
    "jmlr": "Saberian and Vasconcelos, Multiclass Boosting: Margins, Codewords, Losses, and Algorithms, JMLR",
    "mukherjee": "Mukherjee and Schapire, A Theory of Multiclass Boosting, JMLR 2013",
    "geist": "Geist, Soft-max Boosting, 2015",
    "lecture": "Rousu, lecture on multiclass classification",
    "beyond": "Beyond the papers",
}


@dataclass(frozen=True)
class Plan:
    """How much to do.

    Attributes
    ----------
    quick : few rows, few rounds: minutes instead of hours, for a look
    seeds : repetitions of whatever is random and not given a number by the paper
    """

    quick: bool = False
    seeds: int = 5

    def pick(self, full: Any, quick: Any) -> Any:
        """One of two values."""
        return quick if self.quick else full

    @property
    def repeats(self) -> range:
        """The seeds."""
        return range(min(self.seeds, 2) if self.quick else self.seeds)

    @property
    def rows(self) -> int | None:
        """Training and test rows at most."""
        return 1200 if self.quick else None


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; cells are text."""

    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Figure:
    """A picture: ``draw`` gets an empty matplotlib figure of this size in inches."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (9.0, 3.2)


@dataclass(frozen=True)
class Guess:
    """A guess at where a paper's numbers come from, the verdict on it (see `guesses`), by which numbers, and which
    numbers speak against it.
    """

    text: str
    verdict: str
    evidence: str
    against: str = ""


Block = Text | Table | Figure | Guess
Report = Callable[[Plan, Results], Iterable[Block]]


@dataclass
class Experiment:
    """A table or figure.

    Attributes
    ----------
    name : ``paper-what``
    title : what it shows
    protocol : how it was run: what the paper states, and what we had to choose
    cells : the cells of a plan
    urgency : experiments with important claims come first; 0 is the most urgent
    explains : it is ours, to find out where a paper's figures come from
    report : blocks from finished cells
    """

    name: str
    title: str
    protocol: str
    cells: Callable[[Plan], list[Cell]]
    urgency: int
    explains: bool = False
    report: Report | None = None

    def reported(self, report: Report) -> Report:
        """Decorates the function that reports."""
        self.report = report
        return report

    @property
    def paper(self) -> str:
        """The key in `PAPERS`."""
        return self.name.partition("-")[0]

    @property
    def is_ours(self) -> bool:
        """Whether its claims are ours and no paper's."""
        return self.explains or self.paper == "beyond"


EXPERIMENTS: dict[str, Experiment] = {}


def experiment(
    name: str, title: str, urgency: int = 5, explains: bool = False
) -> Callable[[Callable[[Plan], list[Cell]]], Experiment]:
    """Decorates the function that lists an experiment's cells; its docstring is the protocol."""

    def register(cells: Callable[[Plan], list[Cell]]) -> Experiment:
        if name.partition("-")[0] not in PAPERS or name in EXPERIMENTS:
            raise ValueError(f"experiment {name!r} is there already, or belongs to no paper.")
        protocol = " ".join((cells.__doc__ or "").split())
        EXPERIMENTS[name] = Experiment(name, title, protocol, cells, urgency, explains)
        return EXPERIMENTS[name]

    return register


def chosen(names: list[str]) -> list[Experiment]:
    """Experiments by name, 'all', or the beginning of a name (``jmlr``), the most urgent first."""
    out: dict[str, Experiment] = {}
    for name in names:
        found = {key: e for key, e in EXPERIMENTS.items() if name in (key, "all") or key.startswith(f"{name}-")}
        if not found:
            raise SystemExit(f"{name!r} is unknown; choose 'all' or some of {', '.join(EXPERIMENTS)}.")
        out.update(found)
    return sorted(out.values(), key=lambda e: e.urgency)


PATIENCE = 10.0  # seconds: a cell that takes longer waits for a later turn


def in_order(
    experiments: Iterable[Experiment], plan: Plan, seconds: Callable[[Cell], float] | None = None
) -> list[Cell]:
    """All cells, breadth first: one run of everything, then the second of everything …, short ones first.

    A cell that takes twenty seconds comes with the second runs, one of forty with the third, and so on, so that long
    ones do not keep all others waiting. What is ours comes a turn after what is the papers'. ``seconds`` tells how long
    a cell takes; None for its cost.
    """
    last = {}  # what several experiments share comes when the first of them wants it
    for e in experiments:
        for cell in e.cells(plan):
            time = cell.cost if seconds is None else seconds(cell)
            rank = (place(cell, time) + e.is_ours, time)
            last[cell.key] = min(last.get(cell.key, (rank, cell)), (rank, cell), key=lambda entry: entry[0])
    return [cell for _, cell in sorted(last.values(), key=lambda entry: entry[0])]


def place(cell: Cell, seconds: float) -> int:
    """The turn in which a cell that takes so long is computed."""
    return cell.turn + max(0, math.ceil(math.log2(max(seconds, 1e-9) / PATIENCE)))


def owners(plan: Plan) -> dict[str, list[Cell]]:
    """The cells of every experiment."""
    return {name: e.cells(plan) for name, e in EXPERIMENTS.items()}
