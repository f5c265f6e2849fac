"""Questions that the papers leave open: do codewords matter, which step, how many dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .cells import Cell, Results
from .comparison import Samples, entry
from .curves import Line, panels
from .data import SHAPES
from .fits import at, fit_cell, limited
from .registry import Block, Plan, Table, Text, experiment

SETS = ("satimage", "pendigits", "optdigits", "segment", "vehicle", "vowel", "car", "splice", "letter")
ROUNDS = 100


def given(plan: Plan, name: str, seed: int, noise: float = 0.0) -> dict[str, Any]:
    """A random split of the stored sizes; a part of the training labels permuted."""
    problem = {"name": name, "sizes": list(SHAPES[name][:2]), "shuffle": True, "one_hot": True, "seed": seed}
    return limited(plan, **problem) | ({"noise": noise} if noise else {})


def cells_of(plan: Plan, booster: str, options: dict[str, Any], name: str, noise: float = 0.0) -> list[Cell]:
    """The runs behind one number."""
    rounds = plan.pick(ROUNDS, 10)
    return [fit_cell(booster, options, rounds, given(plan, name, seed, noise), seed) for seed in plan.repeats]


def errors(found: Results, cells: list[Cell]) -> Samples:
    """Test errors in percent after the last round."""
    return Samples(tuple(100 * at(r, 10**9) for r in found.finished(cells)), len(cells))


def table(rows: dict[str, Sequence[Samples]], header: Sequence[str]) -> Table:
    """Errors, the lowest of a row in bold."""
    out = []
    for label, own in rows.items():
        best = min((s.mean for s in own if s.values), default=None)
        out.append([label, *(entry(s, None, s.mean == best) for s in own)])
    return Table(["", *header], out)


def won(rows: dict[str, Sequence[Samples]], header: Sequence[str]) -> str:
    """How often each column is the lowest, ties shared, over the rows that are known."""
    known = [[s.mean for s in own] for own in rows.values() if all(s.values for s in own)]
    counts = np.zeros(len(header))
    for values in known:
        lowest = np.isclose(values, min(values))
        counts += lowest / lowest.sum()
    words = ", ".join(f"{label} {n:g}" for label, n in zip(header, np.round(counts, 1), strict=True))
    return f"lowest mean error on {words} of {len(known)} rows"


# ---- codewords ------------------------------------------------------------------------------------------------------

CODES = {
    "simplex": {"codewords": "simplex"},
    "canonical basis": {"codewords": "canonical"},
    "SAMME's": {"codewords": "samme"},
    "random ±1": {"codewords": "random-dense"},
}


@experiment("beyond-codewords", "Do codewords matter?", urgency=3)
def codes(plan: Plan) -> list[Cell]:
    """GD-MCBoost with trees of depth 2 and vector leaves, 100 rounds of the exponential loss, with the simplex, the
    canonical basis, SAMME's codewords and random ±1 codewords; five random splits.
    """
    return [c for name in SETS for code in CODES.values() for c in cells_of(plan, "gd", code, name)]


@codes.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = {name: [errors(found, cells_of(plan, "gd", code, name)) for code in CODES.values()] for name in SETS}
    yield Text("Test errors in percent, mean ± deviation over splits:")
    yield table(rows, list(CODES))
    yield Text(
        f"By columns: {won(rows, list(CODES))}. What theory says: the simplex, the canonical basis and SAMME's "
        "codewords are one simplex up to a scale and a shift, so that their differences have the same directions; the "
        "journal's capacity tells them from random codes, which are worse placed, not from each other."
    )


# ---- steps ----------------------------------------------------------------------------------------------------------

STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("gd", {}),
    "exact × 0.3": ("gd", {"learning_rate": 0.3}),
    "exact × 0.1": ("gd", {"learning_rate": 0.1}),
    "MM's edge step": ("mm", {"step": "edge"}),
    "MM's exact step": ("mm", {"step": "exact"}),
}


@experiment("beyond-steps", "Which step?", urgency=3)
def steps(plan: Plan) -> list[Cell]:
    """GD-MCBoost with trees of depth 2 and vector leaves, 100 rounds, its exact step and parts of it; AdaBoost.MM with
    both of its steps; with and without 20 % of permuted labels; five random splits.
    """
    return [
        c
        for name in SETS
        for noise in (0.0, 0.2)
        for booster, options in STEPS.values()
        for c in cells_of(plan, booster, options, name, noise)
    ]


@steps.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    for noise, words in ((0.0, "without noise"), (0.2, "with a fifth of the labels permuted")):
        rows = {
            name: [errors(found, cells_of(plan, booster, options, name, noise)) for booster, options in STEPS.values()]
            for name in SETS
        }
        yield Text(f"Test errors in percent {words}, mean ± deviation over splits:")
        yield table(rows, list(STEPS))
        yield Text(f"{words.capitalize()}: {won(rows, list(STEPS))}.")
    yield Text(
        "What theory says: the exact step lowers the risk most in its round, and nothing about the test error; a part "
        "of it needs more rounds for the same risk."
    )


# ---- dimensions -----------------------------------------------------------------------------------------------------

DIMENSIONS = {"vowel": (2, 3, 4, 5, 7, 10), "soybean": (2, 3, 5, 8, 12, 18), "letter": (2, 4, 8, 13, 18, 25)}


def dimension_cells(plan: Plan, name: str, d: int) -> list[Cell]:
    """Runs with a code of d dimensions."""
    seeds = plan.repeats[: 2 if name == "letter" else None]
    options = {"method": "gd", "dim": d}
    return [fit_cell("maxmin", options, plan.pick(200, 20), given(plan, name, seed), seed) for seed in seeds]


@experiment("beyond-dimensions", "How many dimensions, with many classes?", urgency=3)
def dimensions(plan: Plan) -> list[Cell]:
    """As the journal's Figure 6, on sets with 11, 19 and 26 classes, where few dimensions would save most: GD-MCBoost,
    trees of depth 2, 200 rounds, max-min codewords; five random splits (two of letter).
    """
    return [c for name, ds in DIMENSIONS.items() for d in ds for c in dimension_cells(plan, name, d)]


@dimensions.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    results = {name: {d: errors(found, dimension_cells(plan, name, d)) for d in ds} for name, ds in DIMENSIONS.items()}

    def lines(own: dict[int, Samples]) -> list[Line]:
        known = {d: s for d, s in own.items() if s.values}
        n = min((len(s.values) for s in known.values()), default=0)
        y = np.array([s.values[:n] for s in known.values()]).T
        return [Line("GD-MCBoost", list(known), y, {"color": "#d1495b", "marker": "o", "ms": 3})] if n else []

    made = {f"{name}, {SHAPES[name][3]} classes": (lambda own=own: lines(own)) for name, own in results.items()}
    caption = "Test error against the dimension of the code."
    yield panels("beyond-dimensions", caption, made, "dimension", columns=3, log=False)
    for name, own in results.items():
        last = own[max(own)]
        enough = [d for d, s in own.items() if s.values and last.values and s.mean <= last.mean + 1.0]
        words = f"within a point of d = K − 1 from d = {enough[0]} on" if enough else "not known yet"
        shown = ", ".join(f"d = {d}: {entry(s, None)}" for d, s in own.items())
        yield Text(f"{name} ({SHAPES[name][3]} classes): {shown}; {words}.")
