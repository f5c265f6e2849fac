"""Grids of what is computed once: theorems, checks, the lecture."""

from __future__ import annotations

import numpy as np

from .. import jmlr, lecture, mukherjee, mukherjee_games, theory
from ..cells import Results
from ..grids import Grid, Numbers, grid
from ..registry import EXPERIMENTS, Plan
from .reading import computed, numbers


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
