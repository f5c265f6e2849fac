"""The numbers behind claims: rows (boosters, quantities) × columns (sets, rounds, levels) of repeated measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .cells import Listening, Results
from .registry import Plan
from .statistics import Interval, run_interval


@dataclass(frozen=True)
class Numbers:
    """Repeated measurements of one number.

    Attributes
    ----------
    values : one a repeat, in percent where it is a rate; NaN where a booster could not begin
    wanted : how many repeats the plan has
    test_rows : rows of the test part of a run; None where there is none, or nothing is random
    sure : it is computed, not drawn, so that it has no noise
    drawn : every run has a split or labels of its own, so that several runs tell the noise of the test rows too
    """

    values: tuple[float, ...] = ()
    wanted: int = 1
    test_rows: int | None = None
    sure: bool = False
    drawn: bool = False

    @property
    def known(self) -> bool:
        """Whether at least half of the repeats are there, enough to judge by."""
        return bool(self.values) and 2 * len(self.values) >= self.wanted

    @property
    def complete(self) -> bool:
        """Whether all repeats are there."""
        return len(self.values) >= self.wanted > 0

    @property
    def mean(self) -> float:
        """NaN where the booster could not begin."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def standard_error(self) -> float:
        """Of the mean: over repeats, and of the test rows where these are the same in all repeats."""
        if self.sure:
            return 0.0
        repeats = float(np.var(self.values, ddof=1)) / len(self.values) if len(self.values) > 1 else 0.0
        rows = self.mean * (100 - self.mean) / self.same_rows if self.same_rows else 0.0
        return float(np.sqrt(repeats + max(rows, 0.0)))

    @property
    def same_rows(self) -> int | None:
        """The test rows where repeats do not tell their noise: the split is given, or there is one repeat."""
        return None if self.drawn and len(self.values) > 1 else self.test_rows

    @property
    def run(self) -> Interval:
        """Where one more run would lie, in percent (see `statistics.run_interval`)."""
        found = run_interval(self.values, self.same_rows)
        return Interval(found.mean, max(found.low, 0.0), min(found.high, 100.0))


@dataclass(frozen=True)
class Grid:
    """The numbers of an experiment.

    Attributes
    ----------
    cells : row → column → numbers
    error : lower is better
    printed : row → column → the paper's number, for the rows that stand for a row of the paper; None: it has none
    runs : cells that are there, and that the plan has
    """

    cells: dict[str, dict[str, Numbers]]
    error: bool = False
    printed: dict[str, dict[str, float | None]] = field(default_factory=dict)
    runs: tuple[int, int] = (0, 0)


Source = Callable[[Plan, Results], Grid]
SOURCES: dict[str, Source] = {}


def grid(name: str) -> Callable[[Source], Source]:
    """Registers the function that reads a grid from finished cells."""

    def register(source: Source) -> Source:
        if name in SOURCES:
            raise ValueError(f"there are two grids named {name!r}.")
        SOURCES[name] = source
        return source

    return register


def read(name: str, plan: Plan, found: Results) -> Grid:
    """A grid, with the number of its cells that are finished; a cell that several of its numbers share counts once."""
    listening = Listening(found)
    given = SOURCES[name](plan, listening)
    asked = listening.asked.values()
    return replace(given, runs=(sum(found.get(cell) is not None for cell in asked), len(asked)))


# ---- what rules look at ---------------------------------------------------------------------------------------------


class View:
    """One value per row and column: the means of a grid, or the paper's numbers, or means moved by their noise."""

    def __init__(self, values: dict[str, dict[str, float | None]], error: bool) -> None:
        self.values, self.error = values, error

    def __getitem__(self, key: tuple[str, str]) -> float | None:
        """The value, NaN where a booster could not begin, None where nothing is known."""
        row, column = key
        return self.values.get(row, {}).get(column)

    def columns(self, rows: Iterable[str]) -> list[str]:
        """All columns of some rows, in order."""
        return list({column: None for row in rows for column in self.values.get(row, {})})

    def score(self, row: str, column: str) -> float | None:
        """Higher is better; a booster that could not begin is worse than all others."""
        value = self[row, column]
        if value is None:
            return None
        return -np.inf if np.isnan(value) else -value if self.error else value


def means(given: Grid) -> View:
    """What was measured."""
    values = {r: {c: n.mean if n.known else None for c, n in row.items()} for r, row in given.cells.items()}
    return View(values, given.error)


def printed(given: Grid) -> View | None:
    """What the paper has in the same places; a dash of the paper is a booster that could not begin."""
    if not given.printed:
        return None
    values = {r: {c: np.nan if v is None else v for c, v in row.items()} for r, row in given.printed.items()}
    return View({r: dict(row) for r, row in values.items()}, given.error)


def moved(given: Grid, draws: int, rng: np.random.Generator) -> Iterator[View]:
    """Views of the means, each moved at random by its standard error."""
    known = [(r, c, n) for r, row in given.cells.items() for c, n in row.items() if n.known]
    mean, error = (np.array([getattr(n, key) for _, _, n in known]) for key in ("mean", "standard_error"))
    for _ in range(draws):
        values: dict[str, dict[str, float | None]] = {r: dict.fromkeys(row) for r, row in given.cells.items()}
        noisy: list[float] = (mean + error * rng.standard_normal(len(known))).tolist()
        for (r, c, _), value in zip(known, noisy, strict=True):
            values[r][c] = value
        yield View(values, given.error)
