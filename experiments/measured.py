"""From the finished cells of the experiments to grids: which of our variants stands for which row of a paper.

Where a paper's text says how a booster works, that variant stands for its row (``READINGS``). Where it is silent one
variant is chosen for all tables of the paper, and the others are shown beside it, never counted instead of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import geist, jmlr, lecture, mukherjee, mukherjee_games, nips2011, theory, theory_geist
from .cells import Cell, Results
from .comparison import Comparison, Method, _papers
from .data import test_rows
from .fits import at
from .gaussians import gaussian_cells
from .grids import SOURCES, Grid, Numbers, grid
from .registry import EXPERIMENTS, Plan

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


# ---- MCBoost --------------------------------------------------------------------------------------------------------

TURN, BEST = "CD in turn", "CD, best coordinate"


@grid("nips-table1")
def _(plan: Plan, found: Results) -> Grid:
    methods = {
        "OVA": nips2011.OVA,
        "MH on [x, k]": nips2011.MH_INDEX,
        "MH, Hamming stumps": nips2011.MH_HAMMING_ALL,
        "MH, single-label stumps": nips2011.MH_SINGLE,
        "MH, K stumps a round": nips2011.MH,
        TURN: nips2011.CD_CYCLIC,
        BEST: nips2011.CD_BEST,
    }
    return compared(nips2011.TABLE1, methods, plan, found)


def trees(module: Any, edge: Method, exact: Method) -> dict[str, Method]:
    """The boosters with trees of depth 2 of either paper."""
    return {
        "M1": module.M1,
        "SAMME": module.SAMME,
        "MM, edge step": edge,
        "MM, exact step": exact,
        "GD, codeword leaves": module.GD_CODEWORD,
        "GD, vector leaves": module.GD,
    }


@grid("nips-table2")
def _(plan: Plan, found: Results) -> Grid:
    return compared(nips2011.TABLE2, trees(nips2011, nips2011.COST, nips2011.COST_EXACT), plan, found)


@grid("jmlr-table7")
def _(plan: Plan, found: Results) -> Grid:
    methods = {"OVA": jmlr.OVA, "ECC": jmlr.ECC, BEST: jmlr.CD, TURN: jmlr.CD_CYCLIC}
    return compared(jmlr.TABLE7, methods, plan, found)


@grid("jmlr-table8")
def _(plan: Plan, found: Results) -> Grid:
    methods = {"LogitBoost": jmlr.LOGIT, BEST: jmlr.CD_LINEAR, TURN: jmlr.CD_LINEAR_CYCLIC}
    return compared(jmlr.TABLE8, methods, plan, found)


@grid("jmlr-table9")
def _(plan: Plan, found: Results) -> Grid:
    return compared(jmlr.TABLE9, trees(jmlr, jmlr.MM, jmlr.MM_EXACT), plan, found)


@grid("jmlr-outside")
def _(plan: Plan, found: Results) -> Grid:
    """Boosters of Tables 7 and 9 whose loss is no γ–φ loss, beside the best one of the same table whose loss is one."""
    seven, nine = (SOURCES[name](plan, found) for name in ("jmlr-table7", "jmlr-table9"))
    rows: dict[str, dict[str, Numbers]] = {}
    for title, own, outside, inside in (
        ("stumps", seven, ("OVA",), ("ECC", BEST)),
        ("trees", nine, ("M1", "SAMME"), ("MM, edge step", "GD, codeword leaves")),
    ):
        rows |= {row: own.cells[row] for row in outside}
        best = f"best γ–φ booster, {title}"
        for name in own.cells[inside[0]]:
            known = [own.cells[row][name] for row in inside]
            full = all(n.known for n in known)
            rows.setdefault(best, {})[name] = max(known, key=lambda n: n.mean) if full else Numbers((), known[0].wanted)
    return Grid(rows)


@grid("jmlr-m1-trees")
def _(plan: Plan, found: Results) -> Grid:
    """The weighted error, in percent, of AdaBoost.M1's first tree on the sets of Table 9 where it made no round."""
    errors: dict[str, Numbers] = {}
    for name in jmlr.SETS:
        done = [r for r in found.finished(jmlr.TABLE9.cells_of(plan, jmlr.M1, name)) if r["n_iter"] == 0]
        if done:
            stated = [re.search(r"weighted error ([0-9.]+)", r["stop"] or "") for r in done]
            errors[name] = Numbers(tuple(100 * float(m.group(1)) for m in stated if m), len(done), sure=True)
    return Grid({"error of the first tree": errors}, error=True)


@grid("three-gaussians")
def _(plan: Plan, found: Results) -> Grid:
    """Errors in percent and mean margins over draws, of both schedules."""
    rows: dict[str, dict[str, Numbers]] = {}
    for schedule in ("best", "cyclic"):
        draws = gaussian_cells(plan, schedule)[1:]  # the first is for the picture
        done = found.finished(draws)
        n = len(draws)
        for i, t in enumerate((0, 10, 100)):
            rows.setdefault(f"CD, {schedule}", {})[f"t = {t}"] = Numbers(tuple(100 * r["test"][i] for r in done), n)
            margin = tuple(r["mean_margin"][i] for r in done)
            rows.setdefault(f"mean margin, {schedule}", {})[f"t = {t}"] = Numbers(margin, n)
        gaps = tuple(100 * (r["test"][-1] - r["bayes"]["test"]) for r in done)
        rows[f"gap, {schedule}"] = {"t = 100": Numbers(gaps, n)}
        if schedule == "best":
            for part in ("train", "test"):
                rows[f"Bayes, {part}"] = {"error": Numbers(tuple(100 * r["bayes"][part] for r in done), n)}
    return Grid(rows, error=True)


@grid("jmlr-figure6")
def _(plan: Plan, found: Results) -> Grid:
    """Accuracy against the dimension: rows ``gd landsat`` (codeword leaves), columns ``d = 2`` …"""
    rows = {
        f"{row} {name}": {
            f"d = {d}": numbers(found, jmlr.dimension_cells(plan, method, name, d), error=False)
            for d in range(2, K + 1)
        }
        for row, method in (("cd", "cd"), ("gd", "gd codewords"))
        for name, (_, K) in jmlr.DIMENSION_SETS.items()
    }
    return Grid(rows)


# ---- Mukherjee and Schapire -----------------------------------------------------------------------------------------

MUKHERJEE_STOPS = (10, 50, 100, 500)


@grid("mukherjee-figure8")
def _(plan: Plan, found: Results) -> Grid:
    """Errors after the last round, and on the way (rows ``MM after 50``)."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in mukherjee.SETS:
        cells = mukherjee.figure8_cells(plan, name)
        for method in ("MH", "M1", "MM"):
            own = cells[method]
            rows.setdefault(method, {})[name] = numbers(found, own)
            for t in MUKHERJEE_STOPS[:-1]:
                rows.setdefault(f"{method} after {t}", {})[name] = numbers(found, own, rounds=t)
    return Grid(rows, error=True, printed=printed_rows("mukherjee-fig8", mukherjee.SETS))


@grid("mukherjee-figure10")
def _(plan: Plan, found: Results) -> Grid:
    """Errors with trees of ten leaves, the smallest, and with the largest (rows ``MM, largest trees``)."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in mukherjee.SETS:
        for method, own in mukherjee.figure10_cells(plan, name).items():
            rows.setdefault(method, {})[name] = numbers(found, own[min(own)])
            rows.setdefault(f"{method}, largest trees", {})[name] = numbers(found, own[max(own)])
    return Grid(rows, error=True)


@grid("mukherjee-figure11")
def _(plan: Plan, found: Results) -> Grid:
    """Errors with five leaves, those on the way (rows ``MM after 50``), and how many rounds were made."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in mukherjee.SETS:
        for method, own in mukherjee.figure11_cells(plan, name).items():
            rows.setdefault(method, {})[name] = numbers(found, own)
            for t in (1, *MUKHERJEE_STOPS[:-1]):
                rows.setdefault(f"{method} after {t}", {})[name] = numbers(found, own, rounds=t)
            made = tuple(float(r["n_iter"]) for r in found.finished(own))
            rows.setdefault(f"rounds of {method}", {})[name] = Numbers(made, len(own))
    return Grid(rows, error=True)


@grid("mukherjee-potentials")
def _(plan: Plan, found: Results) -> Grid:
    """φ_T(0) of Figures 2 and 5, one column a point."""
    sources = {
        "T, K = 6": mukherjee_games.OVER_T,
        "K, T = 10": mukherjee_games.OVER_K,
        "K, no edge": mukherjee_games.OVER_K_NO_EDGE,
    }
    rows: dict[str, dict[str, Numbers]] = {}
    for title, cell in sources.items():
        result = found.get(cell)
        along = cell.arguments["rounds"] if title.startswith("T") else cell.arguments["classes"]
        for key in ("fixed", "best", "minimal") if cell.arguments.get("minimal", True) else ("fixed",):
            values = [None] * len(along) if result is None else result[key]
            rows[f"{key} over {title}"] = {str(x): computed(v) for x, v in zip(along, values, strict=True)}
    return Grid(rows, error=True)


@grid("mukherjee-degrees")
def _(plan: Plan, found: Results) -> Grid:
    """Pixels of Figures 3 and 6 by degree, in percent."""
    rows: dict[str, dict[str, Numbers]] = {}
    for title, cells in zip(("zero-one", "exponential"), mukherjee_games.MAPS, strict=True):
        for i, cell in enumerate(cells):
            result = found.get(cell)
            for degree in ("3", "2"):
                share = None if result is None else 100 * result["counts"][degree] / sum(result["counts"].values())
                panel = f"η = {cell.arguments['eta']:g}" if title == "exponential" else f"map {i + 1}"
                rows.setdefault(f"degree {degree}, {title}", {})[panel] = computed(share)
    for i, cell in enumerate(mukherjee_games.SHAPES[0]):
        shape = found.get(cell)
        known = shape is not None and shape["degree 2 off the diagonal"]
        share = 100 * max(shape["of one parity"]) / shape["degree 2 off the diagonal"] if shape and known else None
        rows.setdefault("black pixels of one parity, percent", {})[f"map {i + 1}"] = computed(share)
    for cell in mukherjee_games.SHAPES[1]:
        shape = found.get(cell)
        share = None if shape is None else 100 * shape["band rows"] / shape["rows"]
        rows.setdefault("rows that are part of a band, percent", {})[f"η = {cell.arguments['eta']:g}"] = computed(share)
    return Grid(rows)


@grid("mukherjee-bounds")
def _(plan: Plan, found: Results) -> Grid:
    """Bounds on the error, one column a game."""
    result = found.get(mukherjee_games.BOUNDS) or {"games": []}
    names = [f"k = {K}, γ = {edge:g}, T = {T}" for T, K, edge in result["games"]]
    keys = {"zero-one": "zero-one", "(k − 1) e^{−Tγ²/2}": "exponential", "√(k − 1) e^{−Tγ²/2}": "root"}
    return Grid(
        {row: {c: computed(v) for c, v in zip(names, result[key], strict=True)} for row, key in keys.items() if names},
        error=True,
    )


@grid("mukherjee-training")
def _(plan: Plan, found: Results) -> Grid:
    """Training errors with five leaves at the end, and the means over the rounds up to 100 (rows ``MM, early``)."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in mukherjee.SETS:
        for row, cell in theory.training_cells(plan, name).items():
            rows.setdefault(row, {})[name] = numbers(found, [cell], part="train")
            result = found.get(cell)
            early = () if result is None else (theory.early_error(result),)
            rows.setdefault(f"{row}, early", {})[name] = Numbers(early)
    return Grid(rows, error=True)


# ---- Geist ----------------------------------------------------------------------------------------------------------


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
    """By how many points errors grow from Table 2 to Table 3."""
    clean, noisy = (geist_table(f"geist-table{i}", noise, plan, found) for i, noise in ((2, 0.0), (3, 0.2)))
    cells: dict[str, dict[str, Numbers]] = {}
    printed: dict[str, dict[str, float | None]] = {}
    for m, row in noisy.cells.items():
        for column, n in row.items():
            before = clean.cells[m][column]
            values = tuple(v - before.mean for v in n.values) if before.known else ()
            cells.setdefault(m, {})[column] = Numbers(values, n.wanted)
            a, b = clean.printed[m][column], noisy.printed[m][column]
            printed.setdefault(m, {})[column] = None if a is None or b is None else b - a
    return Grid(cells, True, printed)


@grid("geist-synthetic")
def _(plan: Plan, found: Results) -> Grid:
    """On which of the problems one booster is better: 100 where it is, else 0, so that means are percentages (rows
    ``SAMME below sm-boost, train``); and by how many points (rows ``sm-boost less SAMME, test``).
    """
    wanted = len(geist.madelon_cells(plan))
    rows: dict[str, dict[str, Numbers]] = {}
    for part in ("train", "test"):
        errors = geist.madelon_errors(plan, found, part)
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
    """The rival's test error less sm-boost's after 1000 rounds, on the problems with little and with much noise."""
    cells = geist.madelon_cells(plan)
    levels = np.array([geist.MadelonParameters.draw(c.arguments["seed"]).label_noise for c in cells])
    errors = geist.madelon_errors(plan, found, "test")
    rows: dict[str, dict[str, Numbers]] = {}
    for rival in ("AdaBoost.MH", "SAMME"):
        lead = errors[rival][:, -1] - errors["sm-boost"][:, -1]
        for column, chosen in ((LITTLE, errors["noise"] < HALF), (MUCH, errors["noise"] >= HALF)):
            wanted = int((levels < HALF).sum() if column == LITTLE else (levels >= HALF).sum())
            rows.setdefault(f"lead over {rival}", {})[column] = Numbers(tuple(lead[chosen].tolist()), wanted)
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


# ---- what is computed once ------------------------------------------------------------------------------------------


def single(name: str) -> None:
    """Registers the grid of an experiment whose cells return ``{"numbers": {row: {column: value}}}``.

    Cells that differ in their seed give the same columns: the values are repeats. A single value is a computed one.
    """

    @grid(name)
    def _(plan: Plan, found: Results) -> Grid:
        rows: dict[str, dict[str, list[float]]] = {}
        for cell in EXPERIMENTS[name].cells(plan):
            for row, columns in (found.get(cell) or {}).get("numbers", {}).items():
                for column, value in columns.items():
                    rows.setdefault(row, {}).setdefault(column, []).append(float(value))
        cells = {
            r: {c: Numbers(tuple(v), len(v), None, len(v) == 1) for c, v in row.items()} for r, row in rows.items()
        }
        return Grid(cells, error=True)


for _name in (
    *(f"{paper}-theorems" for paper in ("jmlr", "mukherjee", "geist", "lecture")),
    *("nips-theorems", "nips-classes", "nips-index", "nips-alignment", "mukherjee-clamp", "mukherjee-consistency"),
    *("jmlr-capacity", "jmlr-converter", "jmlr-identity", "geist-rate"),
):
    single(_name)


@grid("mukherjee-rates")
def _(plan: Plan, found: Results) -> Grid:
    """Lemma 26: the slope of the excess risk, and how well the least risk is known, a column a problem."""
    rows: dict[str, dict[str, Numbers]] = {}
    names = {"slope": "slope of the excess risk", "least risk, from above less from below": "least risk unknown by"}
    cells = [c for c in EXPERIMENTS["mukherjee-consistency"].cells(plan) if c.task == "risk_rate"]
    for cell in cells:
        (own,) = ((found.get(cell) or {}).get("numbers", {}) or {"": {}}).values()
        for key, row in names.items():
            rows.setdefault(row, {})[f"problem {cell.arguments['seed'] + 1}"] = computed(own.get(key))
    return Grid(rows, error=True)


@grid("mukherjee-greedy")
def _(plan: Plan, found: Results) -> Grid:
    """Errors of M1 with ten leaves, grown in two ways, on the first split."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in mukherjee.SETS:
        for row, cell in theory.greedy_cells(plan, name).items():
            rows.setdefault(row, {})[name] = numbers(found, [cell])
    return Grid(rows, error=True)


@grid("mukherjee-roughness")
def _(plan: Plan, found: Results) -> Grid:
    """How far a state's potential is from the mean of its neighbours on the same pixels, T = 3 and 20."""
    columns = {}
    for cell in mukherjee_games.SURFACES:
        result = found.get(cell)
        columns[f"T = {cell.arguments['T']}"] = computed(None if result is None else result["roughness"])
    return Grid({"roughness": columns}, error=True)


@grid("contours")
def _(plan: Plan, found: Results) -> Grid:
    """How the losses of right and of wrong decisions overlap on the grid of Figure 3 (see `jmlr.overlaps`)."""
    result = found.get(EXPERIMENTS["jmlr-figure3"].cells(plan)[0])
    titles = {
        "right above": "percent of the right decisions with a loss above the lowest wrong one",
        "wrong below": "percent of the wrong decisions with a loss below the highest right one",
        "highest right": "highest loss of a right decision",
        "lowest wrong": "lowest loss of a wrong decision",
    }
    rows: dict[str, dict[str, Numbers]] = {}
    for column, key in (("own score", "own"), ("γ–φ", "pairs")):
        own = {} if result is None else jmlr.overlaps(result, key)
        for name, title in titles.items():
            rows.setdefault(title, {})[column] = computed(own.get(name))
    return Grid(rows, error=True)


@grid("codes")
def _(plan: Plan, found: Results) -> Grid:
    """Squared distance and capacity of Figures 1 and 2, and what they should be."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in ("jmlr-figure1", "jmlr-figure2"):
        for cell in EXPERIMENTS[name].cells(plan):
            K, d = cell.arguments["K"], cell.arguments["d"]
            result = found.get(cell)
            best = 2 * K / (K - 1) if d >= K - 1 else jmlr.BEST_DISTANCE.get((d, K))
            off = None if result is None or best is None else abs(result["distance"] - best)
            rows.setdefault("distance from the best known", {})[f"M = {K}, d = {d}"] = computed(off)
    return Grid(rows, error=True)


@grid("lecture")
def _(plan: Plan, found: Results) -> Grid:
    """Training and test errors of the one-versus-all example, the triangle of one-versus-one, the decoded class."""
    rows: dict[str, dict[str, Numbers]] = {}
    for cell in EXPERIMENTS["lecture-ova"].cells(plan):
        result = found.get(cell)
        for row, key in (("error", "error"), ("test error", "test")):
            values = () if result is None else (100 * result[key],)
            rows.setdefault(row, {})[cell.arguments["method"]] = Numbers(values)
    triangle = found.get(EXPERIMENTS["lecture-ovo"].cells(plan)[0])
    rows["tied"] = {"picture": Numbers(() if triangle is None else (100 * triangle["tied"],))}
    code = found.get(EXPERIMENTS["lecture-ecoc"].cells(plan)[0])
    nearest = None if code is None else 1.0 + int(np.argmin(code["distances"]))
    rows["decoded"] = {"class": computed(nearest)}
    return Grid(rows, error=True)


@grid("lecture-scores")
def _(plan: Plan, found: Results) -> Grid:
    """Test errors of one-versus-all by answers and by scores."""
    rows: dict[str, dict[str, Numbers]] = {}
    for name in lecture.SCORE_SETS:
        result = found.get(lecture.score_cell(plan, name))
        for row, key in (("yes or no", "answers"), ("highest score", "scores")):
            rows.setdefault(row, {})[name] = Numbers(() if result is None else (100 * result[key],))
    return Grid(rows, error=True)
