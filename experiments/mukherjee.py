"""Mukherjee and Schapire: games (Figures 2 to 6), AdaBoost.MM beside M1 and MH (Figures 8 to 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from simplexboost import SAMMEClassifier, games, plotting
from simplexboost.learners import InfoTree

from . import data
from .boosters import limits
from .cells import Cell, Results, task
from .comparison import LEGEND, NOT_COMPARABLE, Samples, best_of, distances, entry, published
from .curves import STYLES, Line, panels
from .fits import STOPS, at, curve, fit_cell, limited
from .guesses import Shift, explanation
from .ranks import rank_blocks
from .registry import Block, Figure, Plan, Table, Text, experiment

# Figure 7 of the paper: prespecified splits where it marks them with an asterisk, random ones of its sizes elsewhere.
# Abalone's prespecified split, the first 3133 rows of the UCI file, cannot be had from rows in another order, so that
# it is random too; forest's 9747 test rows are drawn from the whole set.
RANDOM = {"shuffle": True}
SETS: dict[str, dict[str, Any]] = {
    "abalone": {"name": "abalone", "sizes": [3133, 1044], "one_hot": True} | RANDOM,
    "car": {"name": "car", "sizes": [1383, 345], "one_hot": True} | RANDOM,
    "chess": {"name": "krvskp", "sizes": [2397, 799], "one_hot": True} | RANDOM,
    "connect4": {"name": "connect4", "sizes": [54046, 13511], "one_hot": True} | RANDOM,
    "forest": {"name": "covtype15k"},
    "letter": {"name": "letter", "sizes": [16000, 4000]} | RANDOM,
    "magic04": {"name": "magic04", "sizes": [15216, 3804]} | RANDOM,
    "nursery": {"name": "nursery", "sizes": [10369, 2591], "one_hot": True} | RANDOM,
    "pendigits": {"name": "pendigits"},
    "poker": {"name": "poker", "one_hot": True, "hands": 5000},
    "satimage": {"name": "satimage"},
    "segmentation": {"name": "segment"},
    "vowel": {"name": "vowel"},
}
TWO_CLASSES = ("chess", "magic04")  # where the conditions of all boosters are the same
MOST_LEAVES = 4000  # the paper's largest size
# Leaves of an information-gain tree grown to the end on the first training part (at least two rows a leaf): C4.5's own
# sizes are legible only in the paper's Figure 9, which we do not have. mukherjee-sizes counts them again.
SIZES = {
    "abalone": 1178,
    "car": 76,
    "chess": 39,
    "connect4": 4000,
    "forest": 1778,
    "letter": 1542,
    "magic04": 1418,
    "nursery": 198,
    "pendigits": 186,
    "poker": 4000,
    "satimage": 301,
    "segmentation": 17,
    "vowel": 71,
}
GRID = (10, 20, 50, 100, 200, 500, 1000, 2000, 4000)
ROUNDS = 500


def seeds(plan: Plan, name: str) -> range:
    """One run on a prespecified split, where nothing is random; several random splits elsewhere."""
    return plan.repeats if SETS[name].get("shuffle") else range(1)


def given(plan: Plan, name: str, seed: int) -> dict[str, Any]:
    """The set, and its split where that is random."""
    return limited(plan, **SETS[name]) | ({"seed": seed} if SETS[name].get("shuffle") else {})


def cell(plan: Plan, booster: str, name: str, leaves: int | None, seed: int = 0, **options: Any) -> Cell:
    """A booster with trees of a given size on a split of a set."""
    rounds = plan.pick(ROUNDS, 50)
    if plan.quick and leaves:
        leaves = min(leaves, 200)
    return fit_cell(booster, options | ({"leaves": leaves} if leaves else {}), rounds, given(plan, name, seed))


def mh_stumps(plan: Plan, name: str, seed: int = 0) -> Cell:
    """MH as in BoosTexter."""
    like = cell(plan, "mh", name, None, seed, mode="hamming")
    return Cell("boostexter", {k: like.arguments[k] for k in ("problem", "rounds")}, 3 * like.cost)


def m1(plan: Plan, name: str, leaves: int, seed: int = 0) -> Cell:
    """M1 with trees grown by information gain."""
    return cell(plan, "m1", name, leaves, seed, criterion="info", depth=None)


def mm(plan: Plan, name: str, leaves: int, seed: int = 0) -> Cell:
    """MM with the edge step and trees grown on the cost."""
    return cell(plan, "mm", name, leaves, seed, step="edge", depth=None)


def mh_single(plan: Plan, name: str, leaves: int, seed: int = 0) -> Cell:
    """MH with trees that name one class."""
    return cell(plan, "mh", name, leaves, seed, mode="single", depth=None)


def samples(found: Results, cells: list[Cell]) -> Samples:
    """Final test errors in percent over the splits; 100 where a booster could not begin."""
    done = found.finished(cells)
    return Samples(tuple(100 * at(r, 10**9) if r["rounds"] else 100.0 for r in done), len(cells))


def means(found: Results, cells: dict[str, list[Cell]]) -> dict[str, float]:
    """Mean errors of boosters, NaN where nothing is known."""
    return {label: samples(found, own).mean for label, own in cells.items()}


def shown(error: Samples, bold: bool = False) -> str:
    """An error in a table; a booster that could not begin errs on all rows here."""
    return "—" if error.values and min(error.values) == 100.0 else entry(error, None, bold)


# ---- games ----------------------------------------------------------------------------------------------------------


@task
def potentials(rounds: list[int], classes: list[int], edge: float, minimal: bool = True) -> dict[str, Any]:
    """φ_T(0), zero-one loss: uniform baseline; and the best fixed baseline and the minimal condition."""
    pairs = [(T, K) for T in rounds for K in classes]
    out = {"fixed": [float(games.fixed_potential(T, games.uniform_baseline(K, edge))) for T, K in pairs]}
    if minimal:
        out["best"] = [float(games.best_fixed_potential(T, K, edge)[0]) for T, K in pairs]
        out["minimal"] = [float(games.minimal_potential(T, K, edge)) for T, K in pairs]
    return out


@task
def error_bounds(rounds: list[int], classes: list[int], edges: list[float]) -> dict[str, Any]:
    """Bounds on the error after T rounds with the uniform baseline, for all (T, k, γ): φ_T(0) with the zero-one loss,
    and the closed forms (k − 1) e^{−Tγ²/2} and √(k − 1) e^{−Tγ²/2} of the exponential loss.
    """
    out: dict[str, Any] = {"games": [[T, K, edge] for K in classes for edge in edges for T in rounds]}
    out["zero-one"] = [float(games.fixed_potential(T, games.uniform_baseline(K, e))) for T, K, e in out["games"]]
    out["exponential"] = [(K - 1) * float(np.exp(-T * e**2 / 2)) for T, K, e in out["games"]]
    out["root"] = [float(np.sqrt(K - 1) * np.exp(-T * e**2 / 2)) for T, K, e in out["games"]]
    return out


@task
def degrees(T: int, edge: float, eta: float | None = None) -> dict[str, Any]:
    """How many pixels of [−T, T]² have degree 3, 2, or both (0), and how rough the potential is; three classes."""
    loss = "zero-one" if eta is None else "exponential"
    found, phi = games.degree_map(T, edge, loss, eta), games.potential_map(T, edge, loss, eta)
    counts = {str(d): int((found == d).sum()) for d in (3, 2, 0)}
    return {"counts": counts, "roughness": roughness(phi)}


def roughness(phi: Any) -> float:
    """The mean distance of a potential from the mean of its four neighbours."""
    around = (phi[:-2, 1:-1] + phi[2:, 1:-1] + phi[1:-1, :-2] + phi[1:-1, 2:]) / 4
    return float(np.abs(phi[1:-1, 1:-1] - around).mean())


@task
def surface(T: int, radius: int) -> dict[str, Any]:
    """How rough the potential is on [−radius, radius]²; three classes, no edge, zero-one loss."""
    return {"roughness": roughness(games.potential_map(T, 0.0, radius=radius))}


@task
def degree_shapes(T: int, edge: float, eta: float | None = None) -> dict[str, Any]:
    """The shape of a degree map; pixels of both degrees count as either.

    A row of the map is part of a band if its pixels of degree 3 have no pixel of degree 2 among them and none on the
    diagonal u = v. Of the pixels of degree 2 at least two steps from the diagonal: how many have a larger (smaller)
    coordinate of the more frequent parity.
    """
    found = games.degree_map(T, edge, "zero-one" if eta is None else "exponential", eta)
    threes = [np.flatnonzero(row == 3) for row in found]
    band = [
        len(v) == 0 or bool((row[v[0] : v[-1] + 1] != 2).all() and row[i] != 2)
        for i, (row, v) in enumerate(zip(found, threes, strict=True))
    ]
    u, v = np.nonzero(found == 2)
    u, v = u[np.abs(u - v) >= 2] - T, v[np.abs(u - v) >= 2] - T
    most = [int(max((x % 2 == 0).sum(), (x % 2 == 1).sum())) for x in (np.maximum(u, v), np.minimum(u, v))]
    return {
        "rows": len(found),
        "band rows": int(sum(band)),
        "rows with both degrees": sum(bool((row == 2).any() and (row == 3).any()) for row in found),
        "degree 2 off the diagonal": len(u),
        "of one parity": most,
    }


OVER_T = Cell("potentials", {"rounds": list(range(1, 16)), "classes": [6], "edge": 0.0}, 1.0)
OVER_K = Cell("potentials", {"rounds": [10], "classes": list(range(2, 101)), "edge": 0.1, "minimal": False}, 1.0)
OVER_K_NO_EDGE = Cell("potentials", {"rounds": [10], "classes": list(range(2, 16)), "edge": 0.0}, 1.0)
PANELS = ((3, 0.0), (20, 0.0), (20, 0.4))
ETAS = (0.08, 0.1, 0.3)
BOUNDS = Cell(
    "error_bounds",
    {"rounds": [1, 5, 10, 20, 50, 100], "classes": [2, 3, 6, 10, 26], "edges": [0.0, 0.05, 0.1, 0.2, 0.3]},
    1.0,
)
WINDOW = 3  # pixels on either side of the origin: all states that three rounds reach
SURFACES = [Cell("surface", {"T": T, "radius": WINDOW}, 0.5) for T in (3, 20)]


def degree_cells(panels: Sequence[tuple[int, float]], etas: Sequence[float | None]) -> list[Cell]:
    """Cells of degree maps."""
    return [
        Cell("degrees", {"T": T, "edge": edge, "eta": eta}, 0.5) for (T, edge), eta in zip(panels, etas, strict=True)
    ]


MAPS = degree_cells(PANELS, (None,) * 3), degree_cells(((20, 0.1),) * 3, ETAS)  # Figures 3 and 6
SHAPES = [[Cell("degree_shapes", c.arguments, c.cost) for c in cells] for cells in MAPS]


@experiment("mukherjee-figure2", "Potentials of the edge-biased uniform baseline", urgency=4)
def figure2(plan: Plan) -> list[Cell]:
    """Zero-one loss; (a) six classes, no edge, up to 15 rounds; (b) edge 0.1, ten rounds, 2 to 100 classes. Beside it
    the bound for 150 games, and the closed forms of the exponential loss.
    """
    return [OVER_T, OVER_K, BOUNDS]


@figure2.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    over_T, over_K = found.get(OVER_T), found.get(OVER_K)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        plotting.games.figure_2a(rounds=max(OVER_T.arguments["rounds"]), ax=left)
        plotting.games.figure_2b(ax=right)

    yield Figure("mukherjee-figure2", "Potential at 0, the bound on the error.", draw, (9.5, 3.6))
    if over_T is not None:
        bounds = over_T["fixed"]
        first = ", ".join(f"{v:.4f}" for v in bounds[:4])
        yield Text(f"Six classes, no edge: between {min(bounds):.4f} and {max(bounds):.4f}; first values {first}.")
    if over_K is not None:
        over = over_K["fixed"]
        peak = OVER_K.arguments["classes"][int(np.argmax(over))]
        yield Text(f"Edge 0.1: it rises to {max(over):.4f} at {peak} classes and falls to {over[-1]:.4f} at 100.")
    if (compared := found.get(BOUNDS)) is not None:
        ratio = np.divide(compared["zero-one"], np.minimum(compared["exponential"], compared["root"]))
        trivial = sum(min(a, b) >= 1 for a, b in zip(compared["exponential"], compared["root"], strict=True))
        yield Text(
            f"Of {len(ratio)} games (k = 2 to 26, γ = 0 to 0.3, T = 1 to 100) both closed forms are 1 or more, and so "
            f"trivial, in {trivial}. The zero-one bound is {np.median(ratio):.2f} of the better one in the median, "
            f"{ratio.min():.2g} to {ratio.max():.2g}."
        )


def degree_counts(found: Results, cells: list[Cell]) -> list[dict[str, int] | None]:
    """Pixels of each degree, where they are known."""
    return [r["counts"] if (r := found.get(c)) is not None else None for c in cells]


@experiment("mukherjee-figure3", "Degree maps of the minimal condition, zero-one loss", urgency=4)
def figure3(plan: Plan) -> list[Cell]:
    """Three classes. The paper does not say T; chosen: T = 3 and 20 without an edge, T = 20 with edge 0.4."""
    return [*MAPS[0], *SHAPES[0]]


@figure3.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def draw(figure: Any) -> None:
        plotting.games.figure_3(PANELS, axes=figure.subplots(1, 3))

    yield Figure("mukherjee-figure3", "Degrees of the optimal walk; three classes, zero-one loss.", draw, (11, 4.4))
    counts = degree_counts(found, MAPS[0])
    shown = ", ".join(f"{c['3']}/{c['2']}/{c['0']}" for c in counts if c)
    yield Text(f"Pixels of degree 3, of degree 2, of both: {shown}.")
    parities = [f"{max(r['of one parity'])} of {r['degree 2 off the diagonal']}" for r in found.finished(SHAPES[0])]
    yield Text(
        "Of the pixels of degree 2 at least two steps from the line u = v so many share the parity of their larger or "
        f"of their smaller coordinate: {', '.join(parities)}."
    )


@experiment("mukherjee-figure4", "Potentials of the minimal condition", urgency=4)
def figure4(plan: Plan) -> list[Cell]:
    """Three classes, no edge, T = 3 and 20. Rough: how far a state's potential is from the mean of its neighbours, on
    the pixels from −3 to 3 for both, which are those that three rounds reach; and on all pixels from −T to T.
    """
    return [*MAPS[0][:2], *SURFACES]


@figure4.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def draw(figure: Any) -> None:
        plotting.games.figure_4(axes=figure.subplots(1, 2, subplot_kw={"projection": "3d"}))

    yield Figure("mukherjee-figure4", "Optimal potentials; three classes, no edge.", draw, (9.5, 4.6))
    same, own = (
        " and ".join(f"{r['roughness']:.4f}" for r in found.finished(cells)) for cells in (SURFACES, MAPS[0][:2])
    )
    yield Text(
        f"Mean distance of a potential from the mean of its neighbours for T = 3 and 20: {same} on the pixels from −3 "
        f"to 3, {own} on those from −T to T."
    )


@experiment("mukherjee-figure5", "Minimal condition against the best fixed baseline", urgency=4)
def figure5(plan: Plan) -> list[Cell]:
    """No edge; six classes over rounds, and ten rounds over classes. The best fixed baseline is the best of the k − 1
    that are uniform on the true class and some of the others; that no other is better is known from trials alone
    (`mukherjee-theorems`).
    """
    return [OVER_T, OVER_K_NO_EDGE]


@figure5.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def draw(figure: Any) -> None:
        plotting.games.figure_5(axes=figure.subplots(1, 2))

    yield Figure("mukherjee-figure5", "Error bounds without an edge.", draw, (9.5, 3.6))
    results = [found.get(c) for c in figure5.cells(plan)]
    gaps = [np.subtract(r["minimal"], r["best"]) for r in results if r is not None]
    most = ", ".join(f"{gap.max():.4f}" for gap in gaps)
    yield Text(f"The minimal condition's potential is larger by up to (over rounds, over classes): {most}.")


@experiment("mukherjee-figure6", "Degree maps of the minimal condition, exponential loss", urgency=4)
def figure6(plan: Plan) -> list[Cell]:
    """Three classes, T = 20, edge 0.1, η = 0.08, 0.1, 0.3."""
    return [*MAPS[1], *SHAPES[1]]


@figure6.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def draw(figure: Any) -> None:
        plotting.games.figure_6(ETAS, axes=figure.subplots(1, 3))

    yield Figure("mukherjee-figure6", "Degrees of the optimal walk; three classes, exponential loss.", draw, (11, 4.4))
    counts = degree_counts(found, MAPS[1])
    threes = [c["3"] / sum(c.values()) for c in counts if c]
    yield Text(f"Pixels of degree 3 for η = 0.08, 0.1, 0.3: {', '.join(f'{100 * t:.1f} %' for t in threes)}.")
    bands = [f"{r['band rows']} of {r['rows']}" for r in found.finished(SHAPES[1])]
    yield Text(f"Rows of the maps in which the pixels of degree 3 are one run about the diagonal: {', '.join(bands)}.")


# ---- Figure 8 and 9 -------------------------------------------------------------------------------------------------

FIGURE8_METHODS = ("MH", "M1", "MM")
END = 100_000  # leaves: a tree grown to the end


@task
def tree_size(problem: dict[str, Any], min_rows: int = 2) -> dict[str, Any]:
    """Leaves of an information-gain tree grown to the end, with so many rows a leaf (C4.5's default)."""
    d = data.problem(**problem)
    tree = InfoTree(**limits(leaves=END), min_samples_leaf=min_rows)
    clf = SAMMEClassifier(tree, n_estimators=1).fit(d.X_train, d.y_train)
    return {"leaves": clf.model_.terms[0].hypothesis.tree.n_leaves}


@experiment("mukherjee-sizes", "How large a tree grown to the end is", urgency=4)
def tree_sizes(plan: Plan) -> list[Cell]:
    """The largest size of the trees of Figures 8 to 10 is that of an information-gain tree grown to the end on the
    training part, where the paper has C4.5's; at most 4000.
    """
    return [Cell("tree_size", {"problem": given(plan, name, 0), "min_rows": 2}, 0.5) for name in SETS]


@tree_sizes.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    sizes_found = {n: r["leaves"] for n, c in zip(SETS, tree_sizes.cells(plan), strict=True) if (r := found.get(c))}
    rows = [[name, str(leaves), str(min(leaves, MOST_LEAVES))] for name, leaves in sizes_found.items()]
    yield Table(["set", "leaves", "at most 4000, as used in Figures 8 to 10"], rows)


def figure8_cells(plan: Plan, name: str) -> dict[str, list[Cell]]:
    """MH, M1, MM on one set."""
    return {
        "MH": [mh_stumps(plan, name, s) for s in seeds(plan, name)],
        "M1": [m1(plan, name, SIZES[name], s) for s in seeds(plan, name)],
        "MM": [mm(plan, name, SIZES[name], s) for s in seeds(plan, name)],
    }


@experiment("mukherjee-figure8", "MH with stumps, M1 and MM with large trees", urgency=3)
def figure8(plan: Plan) -> list[Cell]:
    """Stated: 500 rounds; MH is BoosTexter with real-valued stumps, M1 uses C4.5, MM uses Greedy trees on the cost, no
    larger than C4.5's, with step (61). C4.5 is not at hand: M1's trees are grown by information gain, best first, and
    both are limited to the leaves of an information-gain tree grown to the end (at most 4000; `mukherjee-sizes`).
    Categories are 0/1 columns, so that a split asks for one value. Splits: the prespecified ones (one run, since
    nothing is random), else five random ones of the paper's sizes, abalone among them, whose prespecified rows cannot
    be told apart; forest's test rows are drawn from the whole set, the paper's are the first 10 000 of the official
    test part; of poker's 10 000 test rows 5000 are official, the others are hands drawn by the same law.
    """
    return [c for name in SETS for cells in figure8_cells(plan, name).values() for c in cells]


@figure8.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows, gaps = [], {}
    for name in SETS:
        values = {m: samples(found, cells) for m, cells in figure8_cells(plan, name).items()}
        best = best_of([s.mean for s in values.values()], error=True)
        entries = []
        for m, s in values.items():
            paper = published("mukherjee-fig8", f"AdaBoost.{m}", name) or np.nan
            gaps[f"{m} on {name}"] = s.mean - paper
            entries.append(shown(s, s.mean == best) + (f" ({paper:.1f}, {s.mean - paper:+.1f})" if s.values else ""))
        rows.append([name, str(SIZES[name]), *entries])
    yield Text("Test errors in percent. " + LEGEND)
    yield Table(["set", "leaves", "MH, stumps", "M1, information-gain trees", "MM, cost trees"], rows)
    known = {what: gap for what, gap in gaps.items() if np.isfinite(gap)}
    far = [f"{what} ({gap:+.1f})" for what, gap in known.items() if abs(gap) > 2]
    yield NOT_COMPARABLE if plan.quick else distances(len(known), far, ("mukherjee-order",), len(gaps))
    errors = {n: [samples(found, cells) for cells in figure8_cells(plan, n).values()] for n in SETS}
    yield from rank_blocks("mukherjee-figure8-ranks", errors, FIGURE8_METHODS, error=True)


@experiment("mukherjee-figure9", "Convergence of M1 and MM with large trees", urgency=5)
def figure9(plan: Plan) -> list[Cell]:
    """The runs of Figure 8."""
    return [c for name in SETS for m in ("M1", "MM") for c in figure8_cells(plan, name)[m]]


def lines_over_rounds(found: Results, cells: dict[str, list[Cell]], rounds: int) -> list[Line]:
    """Curves of one panel; a booster that could not begin has none."""
    stops = [t for t in STOPS if t <= rounds]
    begun = {label: [c for c in own if (r := found.get(c)) and r["rounds"]] for label, own in cells.items()}
    return [Line(m, stops, 100 * curve(found, own, stops), STYLES[m]) for m, own in begun.items() if own]


@figure9.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rounds = plan.pick(ROUNDS, 50)
    lines = {}
    for name in SETS:
        cells = {m: figure8_cells(plan, name)[m] for m in ("M1", "MM")}
        lines[f"{name} ({SIZES[name]} leaves)"] = partial(lines_over_rounds, found, cells, rounds)
    yield panels("mukherjee-figure9", "Test error against rounds, large trees (mean ± deviation).", lines, "rounds")


# ---- where the paper's figures come from ---------------------------------------------------------------------------

ORDERED = ("car", "nursery", "connect4")  # UCI's files list the cases in the order of their features
ONE_TREE = ("segmentation", "vowel", "pendigits")  # where the paper's MM is far behind ours
MATCHING = ("letter", "satimage", "chess")  # where it is near: a guess that is right leaves them there


def ordered_cells(plan: Plan, name: str) -> dict[str, list[Cell]]:
    """Figure 8's boosters, trained on the beginning of the sorted rows and tested on their end; one run."""
    return {m: [in_order(cells[0])] for m, cells in figure8_cells(plan, name).items()}


def in_order(cell: Cell) -> Cell:
    """The cell with rows in the order of their features instead of a random split."""
    problem = {k: v for k, v in cell.arguments["problem"].items() if k not in ("shuffle", "seed")}
    return Cell(cell.task, cell.arguments | {"problem": problem | {"in_order": True}}, cell.cost)


def tree_cells(plan: Plan, name: str) -> list[Cell]:
    """One tree grown to the end, by information gain and on the cost."""
    one = given(plan, name, 0)
    return [
        fit_cell("samme", {"criterion": "info", "leaves": END, "depth": None}, 1, one),
        fit_cell("mm", {"step": "edge", "leaves": END, "depth": None}, 1, one),
    ]


@experiment("mukherjee-order", "Figure 8 again: rows in their order, and single trees", urgency=4, explains=True)
def order(plan: Plan) -> list[Cell]:
    """The paper's errors on car, nursery and connect4 are far higher than ours; M1's on car is even above that of
    naming the largest class. Its splits are "random 4 : 1"; here the first four fifths are for training and the rest
    for test, with the rows sorted by the codes of their features, which is the order of the UCI files of these three
    sets, where all cases are listed. On segmentation, vowel and pendigits its MM is far behind its M1 and our MM;
    beside it are the errors of a single tree grown to the end, after which boosting has nothing left to do. The same
    is tried on letter, satimage and chess, where its MM is near ours, so that the guess may be contradicted.
    """
    ordered = [c for name in ORDERED for cells in ordered_cells(plan, name).values() for c in cells]
    return ordered + [c for name in ONE_TREE + MATCHING for c in tree_cells(plan, name)]


def order_shifts(plan: Plan, found: Results) -> list[Shift]:
    """Figure 8's numbers on the three sets with rows in their order."""
    return [
        Shift(
            f"{m} on {name}",
            published("mukherjee-fig8", f"AdaBoost.{m}", name) or np.nan,
            samples(found, cells),
            samples(found, ordered_cells(plan, name)[m]),
        )
        for name in ORDERED
        for m, cells in figure8_cells(plan, name).items()
    ]


def tree_shifts(plan: Plan, found: Results) -> list[Shift]:
    """MM's numbers of Figure 8, and those of its first tree, which is grown on the cost."""
    return [
        Shift(
            f"MM on {name}",
            published("mukherjee-fig8", "AdaBoost.MM", name) or np.nan,
            samples(found, figure8_cells(plan, name)["MM"]),
            samples(found, tree_cells(plan, name)[1:]),
        )
        for name in ONE_TREE + MATCHING
    ]


@order.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    shifts = order_shifts(plan, found)
    rows = [[s.label, entry(s.before, None), entry(s.after, None), f"{s.paper:.1f}"] for s in shifts]
    yield Text("Test errors in percent.")
    yield Table(["booster, set", "random split", "rows in order", "paper"], rows)
    yield explanation("the splits of car, nursery and connect4 followed the order of the files", shifts)
    shifts, rows = tree_shifts(plan, found), []
    for name, s in zip(ONE_TREE + MATCHING, shifts, strict=True):
        info = samples(found, tree_cells(plan, name)[:1])
        rows.append([name, *(entry(e, None) for e in (s.before, info, s.after)), f"{s.paper:.1f}"])
    yield Table(["set", "MM, 500 rounds", "one tree, information gain", "one tree, cost", "paper's MM"], rows)
    yield explanation("MM ended with its first tree, the one grown on the cost", shifts)
    yield Text(
        "Open too: MM on poker, where the paper is far better; and MH on forest, whose test rows are others here."
    )


# ---- Figure 10 ------------------------------------------------------------------------------------------------------


def sizes(plan: Plan, name: str) -> list[int]:
    """The sizes tried on a set: all of the paper's, up to that of Figure 8; segmentation has 20 leaves too."""
    return [size for size in plan.pick(GRID, (10, 50, 200)) if size <= max(SIZES[name], 20)]


def figure10_cells(plan: Plan, name: str) -> dict[str, dict[int, list[Cell]]]:
    """M1, MH, MM over the sizes."""
    makers = {"M1": m1, "MH": mh_single, "MM": mm}
    return {
        label: {size: [made(plan, name, size, s) for s in seeds(plan, name)] for size in sizes(plan, name)}
        for label, made in makers.items()
    }


@experiment("mukherjee-figure10", "Error against the size of the trees", urgency=4)
def figure10(plan: Plan) -> list[Cell]:
    """Stated: 500 rounds; tree sizes 10, 20, 50, 100, 200, 500, 1000, 2000, 4000 up to C4.5's; MH and MM with Greedy
    trees that name one class, M1 with information gain. Chosen: largest sizes and splits as for Figure 8, but
    20 leaves on segmentation too, whose trees of Figure 8 have 17.
    """
    every = (by_size.values() for name in SETS for by_size in figure10_cells(plan, name).values())
    return [c for lists in every for cells in lists for c in cells]


@figure10.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def lines_of(name: str) -> list[Line]:
        out = []
        for m, by_size in figure10_cells(plan, name).items():
            errors = {size: samples(found, cells) for size, cells in by_size.items()}
            known = {size: s for size, s in errors.items() if s.values and s.mean < 100.0}
            n = min((len(s.values) for s in known.values()), default=0)
            y = np.array([s.values[:n] for s in known.values()]).T
            if n:
                out.append(Line(m, list(known), y, STYLES[m] | {"marker": "o", "ms": 3}))
        return out

    lines = {name: partial(lines_of, name) for name in SETS}
    caption = (
        "Test error after the last round against the largest size of a tree (mean ± deviation over splits; "
        "no mark where a booster could not begin)."
    )
    yield panels("mukherjee-figure10", caption, lines, "leaves", ticks=GRID)
    rows = []
    for name in SETS:
        smallest = {
            m: samples(found, by_size[sizes(plan, name)[0]]) for m, by_size in figure10_cells(plan, name).items()
        }
        best = best_of([s.mean for s in smallest.values()], error=True)
        rows.append([name, *(shown(s, s.mean == best) for s in smallest.values())])
    yield Text("Test errors in percent with trees of ten leaves:")
    yield Table(["set", *FIGURE10_METHODS], rows)


FIGURE10_METHODS = ("M1", "MH", "MM")

# ---- Figure 11 ------------------------------------------------------------------------------------------------------


def figure11_cells(plan: Plan, name: str) -> dict[str, list[Cell]]:
    """M1, MH, MM with five leaves."""
    makers = {"M1": m1, "MH": mh_single, "MM": mm}
    return {label: [made(plan, name, 5, s) for s in seeds(plan, name)] for label, made in makers.items()}


@experiment("mukherjee-figure11", "Convergence with trees of five leaves", urgency=1)
def figure11(plan: Plan) -> list[Cell]:
    """Stated: trees of at most five leaves, otherwise as Figure 10."""
    return [c for name in SETS for cells in figure11_cells(plan, name).values() for c in cells]


@figure11.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rounds = plan.pick(ROUNDS, 50)
    lines = {name: partial(lines_over_rounds, found, figure11_cells(plan, name), rounds) for name in SETS}
    caption = (
        "Test error against rounds, trees of five leaves (mean ± deviation). A booster without a curve could not "
        "begin; with two classes (chess, magic04) MH and MM are the same."
    )
    yield panels("mukherjee-figure11", caption, lines, "rounds")
    rows = []
    for name in SETS:
        cells = figure11_cells(plan, name)
        final = {m: samples(found, own) for m, own in cells.items()}
        best = best_of([s.mean for s in final.values()], error=True)
        made = {m: [r["n_iter"] for r in found.finished(own)] for m, own in cells.items()}
        rows.append([name, *(f"{shown(s, s.mean == best)} ({between(made[m])})" for m, s in final.items())])
    yield Text("Test errors in percent after the last round and, in brackets, the rounds that the booster made.")
    yield Table(["set", *FIGURE10_METHODS], rows)
    errors = {n: [samples(found, cells) for cells in figure11_cells(plan, n).values()] for n in SETS}
    yield from rank_blocks("mukherjee-figure11-ranks", errors, FIGURE10_METHODS, error=True)


def between(counts: Sequence[int]) -> str:
    """The smallest and the largest of some numbers."""
    if not counts:
        return "…"
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
