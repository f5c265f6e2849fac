"""How near our numbers are to the papers', over every accuracy and error published: none is left out without a reason.

A published number is compared with where one more run of ours would lie (`statistics.run_interval`, 95 %): over random
splits a prediction interval, on a given split the noise of as many test rows and of the seeds. The variant of ours that
stands for a row is fixed by what the paper's text says (`measured.READINGS`), the same for all its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from . import papers  # noqa: F401  registers the experiments
from .cells import Results
from .comparison import _papers
from .grids import SOURCES, Grid, Numbers
from .measured import READINGS, moment
from .registry import PAPERS, Block, Plan, Table, Text
from .statistics import Interval

GIVEN = {  # numbers of the text: table → row → the row and column of the grid of the three Gaussians
    "nips-sec5.1": {
        "Bayes rule training error": ("Bayes, train", "error"),
        "Bayes rule test error": ("Bayes, test", "error"),
    },
    "jmlr-sec9.2": {"CD-MCBoost test error": ("CD, best", "t = 100")},
}
LEFT_OUT = {  # tables of papers.json that are not compared, and why
    "jmlr-sec9.1": "the same draw and the same figures as in Section 5.1 of the conference version, counted there",
}
NO_RESULTS = (
    "tables of sizes of data sets (the journal's Table 6, Figure 7 of Mukherjee and Schapire, Geist's Table 1), which "
    "are no results; the lecture's 20 %, 0 % and 80 %, which belong to a picture and are judged with its claims"
)
NEAR = 2.0  # points


@dataclass(frozen=True)
class Published:
    """A number of a paper in percent; None where the paper prints a dash for a booster that could not begin."""

    table: str
    row: str
    column: str
    value: float | None

    @property
    def paper(self) -> str:
        """The key in `registry.PAPERS`."""
        return self.table.partition("-")[0]


@dataclass(frozen=True)
class Compared:
    """A published number beside ours.

    Attributes
    ----------
    published : the number
    ours : our row, empty where the number is left out
    numbers : our values
    left_out : why it is not compared, or ""
    """

    published: Published
    ours: str
    numbers: Numbers
    left_out: str = ""

    @property
    def waits(self) -> bool:
        """Whether our runs are missing."""
        return not self.left_out and not self.numbers.known

    @property
    def interval(self) -> Interval:
        """Where one more run of ours would lie."""
        return self.numbers.run

    @property
    def inside(self) -> bool:
        """Whether the number is there; a dash agrees with a booster of ours that could not begin."""
        mean = self.numbers.mean
        if self.published.value is None or np.isnan(mean):
            return self.published.value is None and bool(np.isnan(mean))
        return self.published.value in self.interval

    @property
    def distance(self) -> float:
        """Ours less the paper's in points; NaN with a dash or a booster that could not begin."""
        return float("nan") if self.published.value is None else self.numbers.mean - self.published.value


def published_numbers() -> list[Published]:
    """Everything in papers.json."""
    return [
        Published(table, row, column, value)
        for table, rows in _papers().items()
        for row, columns in rows.items()
        for column, value in columns.items()
    ]


def place_of(number: Published) -> tuple[str, str, str]:
    """The grid, row and column that stand for a published number."""
    if number.table in GIVEN:
        return ("three-gaussians", *GIVEN[number.table][number.row])
    if number.table.startswith("geist-"):
        table, _, rounds = number.table.rpartition("-T")
        return table, number.row, moment(number.column, int(rounds))
    grid = {"mukherjee-fig8": "mukherjee-figure8"}.get(number.table, number.table)
    return grid, READINGS[number.table][number.row][0], number.column


def agreement(plan: Plan, found: Results) -> list[Compared]:
    """All published numbers beside ours."""
    grids: dict[str, Grid] = {}
    out = []
    for number in published_numbers():
        if number.table in LEFT_OUT:
            out.append(Compared(number, "", Numbers(), LEFT_OUT[number.table]))
            continue
        name, row, column = place_of(number)
        if name not in grids:
            grids[name] = SOURCES[name](plan, found)
        out.append(Compared(number, row, grids[name].cells[row][column]))
    return out


# ---- reporting ------------------------------------------------------------------------------------------------------


def counted(compared: Sequence[Compared]) -> Counter[str]:
    """How many are there, inside the interval, within two points, waiting, left out."""
    known = [c for c in compared if not c.left_out and not c.waits]
    return Counter(
        {
            "published": len(compared),
            "compared": len(known),
            "inside": sum(c.inside for c in known),
            "within two points": sum(
                abs(c.distance) <= NEAR or (c.published.value is None and c.inside) for c in known
            ),
            "waiting": sum(c.waits for c in compared),
            "left out": sum(bool(c.left_out) for c in compared),
        }
    )


def agreement_blocks(plan: Plan, found: Results) -> Iterator[Block]:
    """Counts by table over everything published, the misses, and what is left out."""
    compared = agreement(plan, found)
    yield Text(
        "Every accuracy and every error that the papers print in a table or in the text, beside an interval of ours. "
        "It says where one more run of ours would lie in 95 % of cases. Where splits or labels are drawn, the runs "
        "tell that. Where the split is given, the paper had the same test rows, and a run of ours without chance gives "
        "the same number again; the interval then allows for what another test part of the same size would change, and "
        "for the seeds. That is generous, so the distance of two points stands beside it. A dash of a paper, a booster "
        "that could not begin, agrees with one of ours that could not."
    )
    header = ["table", "published", "compared", "inside", "within two points", "waiting for runs", "left out"]
    tables = list(dict.fromkeys(c.published.table for c in compared))
    rows = [line(table, [c for c in compared if c.published.table == table]) for table in tables]
    totals = [
        line(f"all of {PAPERS[p].partition(',')[0]} ({p})", own) for p in PAPERS if (own := by_paper(compared, p))
    ]
    yield Table(header, [*rows, *totals, line("**everything**", compared)])
    out = {c.published.table: c.left_out for c in compared if c.left_out}
    yield Text("Left out: " + "; ".join([*(f"{table}: {why}" for table, why in out.items()), NO_RESULTS]) + ".")
    yield from readings()
    yield from misses(compared)


def by_paper(compared: Sequence[Compared], paper: str) -> list[Compared]:
    """The numbers of a paper."""
    return [c for c in compared if c.published.paper == paper]


def line(title: str, own: Sequence[Compared]) -> list[str]:
    """A line of counts."""
    n = counted(own)
    share = lambda key: f"{n[key]} ({100 * n[key] / n['compared']:.0f} %)" if n["compared"] else "–"  # noqa: E731
    return [title, str(n["published"]), str(n["compared"]), share("inside"), share("within two points"),
            str(n["waiting"]), str(n["left out"])]  # fmt: skip


def readings() -> Iterator[Block]:
    """Which of our variants stands for a row, where the paper leaves a choice."""
    rows = [
        [table, row, ours, why]
        for table, own in READINGS.items()
        for row, (ours, why) in own.items()
        if why
    ]  # fmt: skip
    yield Text(
        "Where a paper leaves room, these variants of ours stand for its rows; the others are shown, not counted:"
    )
    yield Table(["table", "the paper's row", "ours", "why"], rows)


def misses(compared: Sequence[Compared], most: int = 40) -> Iterator[Block]:
    """The numbers outside their interval, the furthest first."""
    far = [c for c in compared if not c.left_out and not c.waits and not c.inside]
    far.sort(key=lambda c: -abs(c.distance) if np.isfinite(c.distance) else -np.inf)
    if not far:
        return
    rest = f"; the {most} furthest" if len(far) > most else ""
    yield Text(f"{len(far)} numbers are outside{rest}:")
    yield Table(["table", "booster, set", "paper", "ours", "one more run", "difference"], [miss(c) for c in far[:most]])


def miss(c: Compared) -> list[str]:
    """A line of a miss."""
    p = c.published
    began = not np.isnan(c.numbers.mean)
    return [
        p.table,
        f"{p.row}, {p.column}",
        "–" if p.value is None else f"{p.value:g}",
        f"{c.numbers.mean:.1f}" if began else "could not begin",
        f"{c.interval.low:.1f} to {c.interval.high:.1f}" if began else "–",
        f"{c.distance:+.1f}" if np.isfinite(c.distance) else "–",
    ]
