"""Tables of boosters × data sets, ours beside the paper's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .cells import Cell, Results
from .fits import at, fit_cell
from .registry import Block, Plan, Table, Text
from .statistics import mean_interval


@lru_cache
def _papers() -> dict[str, dict[str, dict[str, float | None]]]:
    content: dict[str, Any] = json.loads(Path(__file__).with_name("papers.json").read_text())
    return content


def published(table: str, row: str | None, column: str) -> float | None:
    """A number of a paper's table in percent; None where there is none."""
    return _papers()[table].get(row, {}).get(column) if row else None


@dataclass(frozen=True)
class Method:
    """A row (or column) of a table.

    Attributes
    ----------
    label : in our table
    booster, options : see `boosters`
    row : its name in the paper's table, None where it is ours alone
    rounds : rounds, or a function of the number of classes
    random : whether the seed changes the model
    """

    label: str
    booster: str
    options: dict[str, Any] = field(default_factory=dict)
    row: str | None = None
    rounds: int | Callable[[int], int] | None = None
    random: bool = False


@dataclass(frozen=True)
class Samples:
    """Values in percent over seeds or splits."""

    values: tuple[float, ...]
    wanted: int

    @property
    def complete(self) -> bool:
        """Whether all cells are there."""
        return len(self.values) == self.wanted > 0

    @property
    def mean(self) -> float:
        """NaN where there is nothing, or where the booster could not begin."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def half(self) -> float:
        """Half of the 95 % interval of the mean (Student's); 0 where there is one value."""
        if len(self.values) < 2:
            return 0.0
        interval = mean_interval(self.values)
        return interval.high - interval.mean


@dataclass(frozen=True)
class Comparison:
    """Boosters on data sets.

    Attributes
    ----------
    table : the paper's table in ``papers.json``
    sets : the paper's name of a set → arguments of `data.problem`
    methods : the boosters
    classes : the paper's name of a set → its number of classes
    rounds : for methods that do not say
    error : the table shows errors, not accuracies
    split_seeds : repetitions of sets that are split at random
    quick : the part of the rounds that a quick run makes
    """

    table: str
    sets: dict[str, dict[str, Any]]
    methods: tuple[Method, ...]
    classes: dict[str, int]
    rounds: int
    error: bool = False
    split_seeds: int | None = None
    quick: float = 0.2

    def cells_of(self, plan: Plan, method: Method, name: str) -> list[Cell]:
        """The cells behind one number: one where nothing is random."""
        given = self.sets[name]
        rounds = self.rounds if method.rounds is None else method.rounds
        T = rounds(self.classes[name]) if callable(rounds) else rounds
        T = plan.pick(T, max(5, round(self.quick * T)))
        is_random = method.random or given.get("shuffle") or given.get("noise")
        n = self.split_seeds if self.split_seeds and given.get("shuffle") else plan.seeds
        repeats = range(n if not plan.quick else min(n, 2)) if is_random else range(1)
        limit = {"rows": plan.rows} if plan.rows else {}
        return [
            fit_cell(
                method.booster,
                method.options,
                T,
                given | limit | ({"seed": seed} if given.get("shuffle") or given.get("noise") else {}),
                seed,
            )
            for seed in repeats
        ]

    def cells(self, plan: Plan) -> list[Cell]:
        """All cells."""
        return [cell for name in self.sets for method in self.methods for cell in self.cells_of(plan, method, name)]

    def samples(self, plan: Plan, found: Results, method: Method, name: str) -> Samples:
        """Errors or accuracies in percent."""
        cells = self.cells_of(plan, method, name)
        done = found.finished(cells)
        errors = [100 * at(result, 10**9) for result in done]
        return Samples(tuple(e if self.error else 100 - e for e in errors), len(cells))

    def published(self, method: Method, name: str) -> float | None:
        """The paper's number in percent."""
        return published(self.table, method.row, name)

    # ---- reports ----------------------------------------------------------------------------------------------------

    def blocks(
        self, plan: Plan, found: Results, sets: Iterable[str], methods: Iterable[Method], *explained: str
    ) -> Iterator[Block]:
        """How to read the table, the table itself, and how far it is from the paper's (see `far_off`)."""
        yield Text(LEGEND)
        yield self.as_table(plan, found)
        yield self.far_off(plan, found, sets, methods, *explained)

    def ranked(self, plan: Plan, found: Results, methods: Sequence[Method] | None = None) -> dict[str, list[Samples]]:
        """Set → numbers of some boosters, all unless told: what `ranks.rank_blocks` takes."""
        chosen = self.methods if methods is None else methods
        return {name: [self.samples(plan, found, m, name) for m in chosen] for name in self.sets}

    def as_table(self, plan: Plan, found: Results) -> Table:
        """A row per set; the best of ours in bold."""
        rows = []
        for name in self.sets:
            samples = [self.samples(plan, found, method, name) for method in self.methods]
            best = best_of([s.mean for s in samples], self.error)
            row = [
                entry(s, self.published(m, name), s.mean == best) for s, m in zip(samples, self.methods, strict=True)
            ]
            rows.append([name, *row])
        return Table(["set", *(method.label for method in self.methods)], rows)

    def far_off(
        self, plan: Plan, found: Results, sets: Iterable[str], methods: Iterable[Method], *explained: str
    ) -> Text:
        """Which numbers are more than two points from the paper's, and the experiments that look into it."""
        if plan.quick:
            return NOT_COMPARABLE
        sets, far, n, total = list(sets), [], 0, 0
        for method in methods:
            for name in sets:
                samples, paper = self.samples(plan, found, method, name), self.published(method, name)
                total += paper is not None
                if paper is None or not samples.values or np.isnan(samples.mean):
                    continue
                n += 1
                if abs(difference := samples.mean - paper) > NEAR:
                    far.append(f"{method.label} on {name} ({difference:+.1f})")
        return distances(n, far, explained, total)

    def wins(
        self, plan: Plan, found: Results, first: Method, others: Sequence[Method], slack: float = 0.0
    ) -> tuple[list[str], list[str], bool]:
        """Sets on which ``first`` is at least as good as all others, the other sets, whether all cells are there."""
        good, bad, complete = [], [], True
        for name in self.sets:
            mine = self.samples(plan, found, first, name)
            theirs = [self.samples(plan, found, method, name) for method in others]
            complete &= mine.complete and all(s.complete for s in theirs)
            rivals = [s.mean for s in theirs if not np.isnan(s.mean)]
            sign = -1 if self.error else 1
            if np.isnan(mine.mean):
                continue
            (good if all(sign * (mine.mean - r) >= -slack - 1e-9 for r in rivals) else bad).append(name)
        return good, bad, complete


NEAR = 2.0  # points: numbers within this distance of the paper's count as near


def distances(n: int, far: Sequence[str], explained: Sequence[str], total: int | None = None) -> Text:
    """How many of n numbers are near the paper's, which are not, where that is looked into, how many are missing."""
    many = f"{n - len(far)} of {n} numbers are within two points of the paper's"
    missing = f" ({total - n} more numbers of the paper have no run yet)" if total is not None and total > n else ""
    why = f" Looked into in {', '.join(f'`{name}`' for name in explained)}." if explained and far else ""
    return Text(many + missing + (f"; further off: {', '.join(far)}.{why}" if far else "."))


def tally(good: Sequence[str], bad: Sequence[str], total: int, otherwise: str = "not") -> str:
    """On how many of the sets something holds, and on which it does not."""
    return f"{len(good)} of {total}" + (f"; {otherwise} on {', '.join(bad)}" if bad else "")


def best_of(values: list[float], error: bool) -> float | None:
    """The best of some values, NaN left out."""
    known = [v for v in values if not np.isnan(v)]
    return (min(known) if error else max(known)) if known else None


def entry(samples: Samples, paper: float | None, bold: bool = False) -> str:
    """``ours ± half of its 95 % interval (paper's, difference)``."""
    if not samples.values:
        return "…"
    if np.isnan(samples.mean):
        return "—" + (f" ({paper:.1f})" if paper is not None else "")
    ours = f"**{samples.mean:.1f}**" if bold else f"{samples.mean:.1f}"
    ours += f" ± {samples.half:.1f}" if len(samples.values) > 1 else ""
    ours += "" if samples.complete else f" [{len(samples.values)} of {samples.wanted}]"
    return ours if paper is None else f"{ours} ({paper:.1f}, {samples.mean - paper:+.1f})"


NOT_COMPARABLE = Text("A quick run is not compared with the paper's numbers.")
LEGEND = (
    "Entries are *our mean ± half of its 95 % interval over seeds or splits (the paper's number, the difference)*; "
    "bold is our best in the row, — is a booster that could not begin, … what has not been run; [n of m] says that n "
    "of m runs are there."
)
