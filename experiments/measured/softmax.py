"""The grids of Geist's paper."""

from __future__ import annotations

import numpy as np

from simplexboost.datasets import MadelonParameters

from .. import geist, geist_synthetic, theory_geist
from ..cells import Results
from ..comparison import _papers
from ..grids import Grid, Numbers, grid
from ..registry import Plan
from .reading import computed, numbers


def moment(name: str, t: int) -> str:
    """The column of a set after so many rounds."""
    return f"{name}, T = {t}"


def geist_table(table: str, noise: float, plan: Plan, found: Results) -> Grid:
    """Table 2 or 3."""
    rows: dict[str, dict[str, Numbers]] = {}
    printed: dict[str, dict[str, float | None]] = {}
    for method in geist.METHODS:
        for name in geist.SETS:
            for t in geist.MOMENTS:
                own = geist.errors_at(plan, found, method, name, noise, t)
                done = found.finished(geist.table_cells(plan, method, name, noise))
                drawn = bool(noise or geist.SETS[name].get("shuffle"))
                test_rows = int(done[0]["rows"][1]) if done else None
                n = Numbers(own.values, max(own.wanted, 1), test_rows, drawn=drawn)
                rows.setdefault(method, {})[moment(name, t)] = n
                value = _papers()[f"{table}-T{t}"][method].get(name)
                printed.setdefault(method, {})[moment(name, t)] = value
    return Grid(rows, True, printed)


@grid("geist-table2")
def _(plan: Plan, found: Results) -> Grid:
    return geist_table("geist-table2", 0.0, plan, found)


@grid("geist-table3")
def _(plan: Plan, found: Results) -> Grid:
    return geist_table("geist-table3", 0.2, plan, found)


def shuffled(noise: float, plan: Plan, found: Results) -> Grid:
    """Training and test errors of the 25 runs on shuffled data."""
    rows: dict[str, dict[str, Numbers]] = {}
    for method in geist.METHODS:
        for name in geist.SETS:
            cells = geist.shuffled_cells(plan, method, name, noise)
            reach = max(c.arguments["rounds"] for c in cells)
            for t in geist.MOMENTS:
                for part in ("train", "test"):
                    own = numbers(found, cells, rounds=t, part=part) if t <= reach else Numbers((), len(cells))
                    rows.setdefault(f"{method}, {part}", {})[moment(name, t)] = own
    return Grid(rows, error=True)


@grid("geist-figure5")
def _(plan: Plan, found: Results) -> Grid:
    return shuffled(0.0, plan, found)


@grid("geist-figure6")
def _(plan: Plan, found: Results) -> Grid:
    return shuffled(0.2, plan, found)


@grid("geist-noisy")
def _(plan: Plan, found: Results) -> Grid:
    """Test errors with noise of Table 3 and, in means over shuffles, of Figure 6: columns ``Table 3, dna, T = 10``."""
    table, curves = geist_table("geist-table3", 0.2, plan, found), shuffled(0.2, plan, found)
    cells = {
        m: {f"Table 3, {c}": n for c, n in table.cells[m].items()}
        | {f"Figure 6, {c}": n for c, n in curves.cells[f"{m}, test"].items()}
        for m in geist.METHODS
    }
    printed = {m: {f"Table 3, {c}": v for c, v in row.items()} for m, row in table.printed.items()}
    return Grid(cells, True, printed)


@grid("geist-growth")
def _(plan: Plan, found: Results) -> Grid:
    """By how many points errors grow from Table 2 to Table 3, and how many times as large they become."""
    clean, noisy = (geist_table(f"geist-table{i}", noise, plan, found) for i, noise in ((2, 0.0), (3, 0.2)))
    cells: dict[str, dict[str, Numbers]] = {}
    printed: dict[str, dict[str, float | None]] = {}
    for m, row in noisy.cells.items():
        for column, n in row.items():
            before = clean.cells[m][column]
            values = tuple(v - before.mean for v in n.values) if before.known else ()
            cells.setdefault(m, {})[column] = Numbers(values, n.wanted)
            times = tuple(v / before.mean for v in n.values) if before.known and before.mean > 0 else ()
            cells.setdefault(f"{m}, times as large", {})[column] = Numbers(times, n.wanted)
            a, b = clean.printed[m][column], noisy.printed[m][column]
            printed.setdefault(m, {})[column] = None if a is None or b is None else b - a
            printed.setdefault(f"{m}, times as large", {})[column] = None if not a or b is None else b / a
    return Grid(cells, True, printed)


@grid("geist-synthetic")
def _(plan: Plan, found: Results) -> Grid:
    """On which of the problems one booster is better: 100 where it is, else 0, so that means are percentages (rows
    ``SAMME below sm-boost, train``); and by how many points (rows ``sm-boost less SAMME, test``).
    """
    wanted = len(geist_synthetic.madelon_cells(plan))
    rows: dict[str, dict[str, Numbers]] = {}
    for part in ("train", "test"):
        errors = geist_synthetic.madelon_errors(plan, found, part)
        for rival in ("AdaBoost.MH", "SAMME"):
            for i, t in enumerate(geist.MOMENTS):
                theirs, ours = errors[rival][:, i], errors["sm-boost"][:, i]
                own = {
                    f"{rival} below sm-boost, {part}": 100.0 * (theirs < ours),
                    f"{rival} equal to sm-boost, {part}": 100.0 * (theirs == ours),
                    f"sm-boost below {rival}, {part}": 100.0 * (ours < theirs),
                    f"sm-boost less {rival}, {part}": ours - theirs,
                }
                for row, values in own.items():
                    rows.setdefault(row, {})[f"T = {t}"] = Numbers(tuple(values.tolist()), wanted)
    return Grid(rows)


HALF = 0.125  # of the label noise: the middle of its range
LITTLE, MUCH = "little noise", "much noise"


@grid("geist-synthetic-noise")
def _(plan: Plan, found: Results) -> Grid:
    """The rival's test error less sm-boost's after 1000 rounds, on the problems with little and with much noise; of
    all, and of those with so many classes.
    """
    cells = geist_synthetic.madelon_cells(plan)
    drawn = [MadelonParameters.draw(c.arguments["seed"]) for c in cells]
    levels, classes = np.array([p.label_noise for p in drawn]), np.array([p.n_classes for p in drawn])
    errors = geist_synthetic.madelon_errors(plan, found, "test")
    rows: dict[str, dict[str, Numbers]] = {}
    for rival in ("AdaBoost.MH", "SAMME"):
        lead = errors[rival][:, -1] - errors["sm-boost"][:, -1]
        for K in (None, *range(2, 6)):
            name = f"lead over {rival}" + ("" if K is None else f", {K} classes")
            for column, much in ((LITTLE, False), (MUCH, True)):
                chosen = ((errors["noise"] >= HALF) == much) & (K is None or errors["K"] == K)
                wanted = int((((levels >= HALF) == much) & (K is None or classes == K)).sum())
                rows.setdefault(name, {})[column] = Numbers(tuple(lead[chosen].tolist()), wanted)
    return Grid(rows)


@grid("geist-certainty")
def _(plan: Plan, found: Results) -> Grid:
    """Shares of training examples in percent: rows ``sure, dna`` over the rounds, and ``right`` and ``stuck`` at the
    end over the sets.
    """
    stops = theory_geist.certain_stops(plan)
    rows: dict[str, dict[str, Numbers]] = {}
    for name in theory_geist.CERTAIN_SETS:
        cells = theory_geist.certainty_cells(plan, name)
        shares = [r["shares"] for r in found.finished(cells)]
        for t in stops:
            rows.setdefault(f"sure, {name}", {})[f"T = {t}"] = Numbers(
                tuple(own[str(t)]["sure"] for own in shares), len(cells)
            )
        for row in ("right", "stuck"):
            values = tuple(own[str(stops[-1])][row] for own in shares)
            rows.setdefault(row, {})[name] = Numbers(values, len(cells))
    return Grid(rows)


@grid("geist-table1")
def _(plan: Plan, found: Results) -> Grid:
    """How far our counts of the sets are from Table 1's."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name, printed in geist.TABLE1.items():
        result = found.get(geist.size_cell(name))
        for i, row in enumerate(geist.QUANTITIES):
            off = None if result is None else abs(result["sizes"][i] - printed[i])
            rows.setdefault(row, {})[name] = computed(off)
    return Grid(rows, error=True)


@grid("geist-figure7")
def _(plan: Plan, found: Results) -> Grid:
    """Clean test errors over draws at every level of noise."""
    rows: dict[str, dict[str, Numbers]] = {}
    for method in geist.SHOWN:
        for noise in geist.noises(plan):
            cells = geist.noise_cells(plan, method, noise)
            results = found.finished(cells)
            values = tuple(100 * e for r in results for e in r["test"])
            wanted = sum(len(c.arguments["seeds"]) for c in cells)
            rows.setdefault(method, {})[f"{100 * noise:.0f} %"] = Numbers(values, wanted)
    return Grid(rows, error=True)
