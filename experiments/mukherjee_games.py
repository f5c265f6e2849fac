"""Mukherjee and Schapire: potentials and degree maps of games (Figures 2 to 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simplexboost import theory
from simplexboost.theory.game_plots import plot_bounds, plot_degrees, plot_potential

from .cells import Cell, Results, task
from .registry import Block, Figure, Plan, Text, experiment


@task
def potentials(rounds: list[int], classes: list[int], edge: float, minimal: bool = True) -> dict[str, Any]:
    """φ_T(0), zero-one loss: uniform baseline; and the best fixed baseline and the minimal condition."""
    pairs = [(T, K) for T in rounds for K in classes]
    out = {"fixed": [float(theory.potential(T, "uniform", K, edge)) for T, K in pairs]}
    if minimal:
        out["best"] = [float(theory.best_fixed_potential(T, K, edge)[0]) for T, K in pairs]
        out["minimal"] = [float(theory.potential(T, "minimal", K, edge)) for T, K in pairs]
    return out


@task
def error_bounds(rounds: list[int], classes: list[int], edges: list[float]) -> dict[str, Any]:
    """Bounds on the error after T rounds with the uniform baseline, for all (T, k, γ): φ_T(0) with the zero-one loss,
    and the closed forms (k − 1) e^{−Tγ²/2} and √(k − 1) e^{−Tγ²/2} of the exponential loss.
    """
    out: dict[str, Any] = {"games": [[T, K, edge] for K in classes for edge in edges for T in rounds]}
    out["zero-one"] = [float(theory.potential(T, "uniform", K, e)) for T, K, e in out["games"]]
    out["exponential"] = [(K - 1) * float(np.exp(-T * e**2 / 2)) for T, K, e in out["games"]]
    out["root"] = [float(np.sqrt(K - 1) * np.exp(-T * e**2 / 2)) for T, K, e in out["games"]]
    return out


@task
def degrees(T: int, edge: float, eta: float | None = None) -> dict[str, Any]:
    """How many pixels of [−T, T]² have degree 3, 2, or both (0), and how rough the potential is; three classes."""
    loss = "zero-one" if eta is None else "exponential"
    found, phi = theory.degree_map(T, edge, loss, eta), theory.potential_map(T, edge, loss, eta)
    counts = {str(d): int((found == d).sum()) for d in (3, 2, 0)}
    return {"counts": counts, "roughness": roughness(phi)}


def roughness(phi: Any) -> float:
    """The mean distance of a potential from the mean of its four neighbours."""
    around = (phi[:-2, 1:-1] + phi[2:, 1:-1] + phi[1:-1, :-2] + phi[1:-1, 2:]) / 4
    return float(np.abs(phi[1:-1, 1:-1] - around).mean())


@task
def surface(T: int, radius: int) -> dict[str, Any]:
    """How rough the potential is on [−radius, radius]²; three classes, no edge, zero-one loss."""
    return {"roughness": roughness(theory.potential_map(T, 0.0, radius=radius))}


@task
def degree_shapes(T: int, edge: float, eta: float | None = None) -> dict[str, Any]:
    """The shape of a degree map; pixels of both degrees count as either.

    A row of the map is part of a band if its pixels of degree 3 have no pixel of degree 2 among them and none on the
    diagonal u = v. Of the pixels of degree 2 at least two steps from the diagonal: how many have a larger (smaller)
    coordinate of the more frequent parity.
    """
    found = theory.degree_map(T, edge, "zero-one" if eta is None else "exponential", eta)
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
        plot_bounds(OVER_T.arguments["rounds"], 6, ax=left)
        plot_bounds(10, range(2, 101), 0.1, ax=right)

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
        for (T, edge), ax in zip(PANELS, figure.subplots(1, 3), strict=True):
            plot_degrees(T, edge, ax=ax)

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
        for T, ax in zip((3, 20), figure.subplots(1, 2, subplot_kw={"projection": "3d"}), strict=True):
            plot_potential(T, ax=ax)

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
        left, right = figure.subplots(1, 2)
        plot_bounds(range(1, 16), 6, 0.0, ("minimal", "best"), ax=left)
        plot_bounds(10, range(2, 16), 0.0, ("minimal", "best"), ax=right)

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
        for eta, ax in zip(ETAS, figure.subplots(1, 3), strict=True):
            plot_degrees(20, 0.1, "exponential", eta, ax=ax)

    yield Figure("mukherjee-figure6", "Degrees of the optimal walk; three classes, exponential loss.", draw, (11, 4.4))
    counts = degree_counts(found, MAPS[1])
    threes = [c["3"] / sum(c.values()) for c in counts if c]
    yield Text(f"Pixels of degree 3 for η = 0.08, 0.1, 0.3: {', '.join(f'{100 * t:.1f} %' for t in threes)}.")
    bands = [f"{r['band rows']} of {r['rows']}" for r in found.finished(SHAPES[1])]
    yield Text(f"Rows of the maps in which the pixels of degree 3 are one run about the diagonal: {', '.join(bands)}.")
