"""The grids of both MCBoost papers."""

from __future__ import annotations

import re
from typing import Any

from .. import jmlr, nips2011
from ..cells import Results
from ..comparison import Method
from ..gaussians import gaussian_cells
from ..grids import SOURCES, Grid, Numbers, grid
from ..registry import Plan
from .reading import compared, numbers

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
