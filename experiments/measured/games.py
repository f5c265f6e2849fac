"""The grids of Mukherjee and Schapire."""

from __future__ import annotations

from .. import mukherjee, mukherjee_games, theory
from ..cells import Results
from ..grids import Grid, Numbers, grid
from ..registry import Plan
from .reading import computed, numbers, printed_rows

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
