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
from .statistics import capital, signs

SETS = ("satimage", "pendigits", "optdigits", "segment", "vehicle", "vowel", "car", "splice", "letter")
ROUNDS = 100
TIE = 0.05  # points: means that are nearer are the same
Rows = dict[str, Sequence[Samples]]  # set → errors, one a column


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


def table(rows: Rows, header: Sequence[str]) -> Table:
    """Errors, the lowest of a row in bold."""
    out = []
    for label, own in rows.items():
        best = min((s.mean for s in own if s.values), default=None)
        out.append([label, *(entry(s, None, s.mean == best) for s in own)])
    return Table(["", *header], out)


def versus(rows: Rows, header: Sequence[str], first: str, second: str) -> str:
    """On how many sets one column has the lower mean error than another, and how likely that is by chance; columns
    are called by `WORDS`.
    """
    i, j = header.index(first), header.index(second)
    gaps = np.array([own[j].mean - own[i].mean for own in rows.values() if own[i].values and own[j].values])
    if not len(gaps):
        return f"{WORDS[first]} against {WORDS[second]} is not known yet"
    return f"{WORDS[first]} has a lower error than {WORDS[second]} {signs(np.where(np.abs(gaps) < TIE, 0.0, gaps))}"


WORDS = {
    "simplex": "the simplex",
    "canonical basis": "the canonical basis",
    "random ±1": "a random ±1 code of 10 log₂ K columns",
    "random ±1, K − 1 columns": "a random ±1 code of K − 1 columns",
    "exact": "the exact step",
    "exact × 0.3": "three tenths of it",
    "exact × 0.1": "a tenth of it",
    "MM's edge step": "its edge step",
    "MM's exact step": "the exact step of AdaBoost.MM",
}


# ---- codewords ------------------------------------------------------------------------------------------------------

CODES: dict[str, tuple[str, dict[str, Any]]] = {
    "simplex": ("gd", {"codewords": "simplex"}),
    "canonical basis": ("gd", {"codewords": "canonical"}),
    "SAMME's": ("gd", {"codewords": "samme"}),
    "random ±1": ("gd", {"codewords": "random-dense"}),
    "random ±1, K − 1 columns": ("random_code", {"method": "gd"}),
}
CD_CODES: dict[str, tuple[str, dict[str, Any]]] = {
    "simplex": ("cd", {"codewords": "simplex"}),
    "canonical basis": ("cd", {"codewords": "canonical"}),
    "random ±1, K − 1 columns": ("random_code", {"method": "cd"}),
}


def code_cells(plan: Plan, code: tuple[str, dict[str, Any]], name: str) -> list[Cell]:
    """Runs with one kind of codewords; random ones have K − 1 columns unless they come as they are."""
    booster, options = code
    return cells_of(plan, booster, options | ({"dim": SHAPES[name][3] - 1} if booster == "random_code" else {}), name)


@experiment("beyond-codewords", "Do codewords matter?", urgency=3)
def codes(plan: Plan) -> list[Cell]:
    """GD-MCBoost with trees of depth 2 and vector leaves, 100 rounds of the exponential loss, with the simplex, the
    canonical basis, SAMME's codewords, and random ±1 codewords with 10 log₂ K columns (as output codes usually have)
    and with K − 1, as many as the simplex has; CD-MCBoost with stumps, the best coordinate in each of 100 rounds, with
    three of them; five random splits.
    """
    every = [*CODES.values(), *CD_CODES.values()]
    return [c for name in SETS for code in every for c in code_cells(plan, code, name)]


def code_rows(plan: Plan, found: Results, kinds: dict[str, tuple[str, dict[str, Any]]]) -> Rows:
    """Set → errors with every kind of codewords."""
    return {name: [errors(found, code_cells(plan, code, name)) for code in kinds.values()] for name in SETS}


@codes.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows: dict[str, Rows] = {}
    for title, kinds in (("GD-MCBoost", CODES), ("CD-MCBoost", CD_CODES)):
        own = rows[title] = code_rows(plan, found, kinds)
        yield Text(f"Test errors of {title} in percent, mean ± half of its 95 % interval over splits:")
        yield table(own, list(kinds))
    random = "random ±1, K − 1 columns"
    gd = [
        versus(rows["GD-MCBoost"], list(CODES), "simplex", other) for other in ("canonical basis", "random ±1", random)
    ]
    cd = [versus(rows["CD-MCBoost"], list(CD_CODES), "simplex", other) for other in ("canonical basis", random)]
    yield Text(f"**Do codewords matter?** With gradient descent, {'; '.join(gd)}.")
    yield Text(f"With coordinate descent, {'; '.join(cd)}.")
    yield Text(
        "*What theory says.* The simplex, the canonical basis and SAMME's codewords are one simplex up to a scale and "
        "a shift. The loss sees differences of scores alone, and the line search makes up for the scale; so gradient "
        "descent with vectors in the leaves must give the same with all three, whatever their margin capacity (which "
        "differs by the scale, E-17). Coordinate descent moves along the axes, which a turned code has elsewhere, so "
        "that it may differ (E-29). Codes of smaller margin capacity, such as random ones, bring some classes close "
        "to each other; theory bounds their margins, not their test errors."
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


def step_rows(plan: Plan, found: Results, noise: float) -> Rows:
    """Set → errors with every step."""
    return {
        name: [errors(found, cells_of(plan, booster, options, name, noise)) for booster, options in STEPS.values()]
        for name in SETS
    }


@steps.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    for noise, words in ((0.0, "without noise"), (0.2, "with a fifth of the labels permuted")):
        rows = step_rows(plan, found, noise)
        yield Text(f"Test errors in percent {words}, mean ± half of its 95 % interval over splits:")
        yield table(rows, list(STEPS))
        header = list(STEPS)
        compared = [
            versus(rows, header, "exact", "exact × 0.3"),
            versus(rows, header, "exact × 0.3", "exact × 0.1"),
            versus(rows, header, "MM's exact step", "MM's edge step"),
        ]
        yield Text(f"**Which step, {words}?** {capital('; '.join(compared))}.")
    yield Text(
        "*What theory says.* The exact step lowers the risk of its round most, and says nothing of the test error. "
        "Parts of it need more rounds for the same risk; on wrong labels to be late is an advantage, since a lower "
        "risk then means that more wrong labels are learned (a hundred rounds are an early stop for a tenth of a "
        "step). The columns of MM have codewords in their leaves, those of GD-MCBoost vectors: MM's two steps are to "
        "be compared with each other, and GD-MCBoost's three."
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
    results = {name: dimension_errors(plan, found, name) for name in DIMENSIONS}

    def lines(own: dict[int, Samples]) -> list[Line]:
        known = {d: s for d, s in own.items() if s.values}
        n = min((len(s.values) for s in known.values()), default=0)
        y = np.array([s.values[:n] for s in known.values()]).T
        return [Line("GD-MCBoost", list(known), y, {"color": "#d1495b", "marker": "o", "ms": 3})] if n else []

    made = {f"{name}, {SHAPES[name][3]} classes": (lambda own=own: lines(own)) for name, own in results.items()}
    caption = "Test error against the dimension of the code."
    yield panels("beyond-dimensions", caption, made, "dimension", columns=3, log=False, whole=True)
    yield Text(
        "**How many dimensions?** "
        + " ".join(f"{capital(dimensions_answer(name, own))}." for name, own in results.items())
    )
    yield Text(
        "*What theory says.* In d < K − 1 dimensions codewords are closer to each other, so that the margins they "
        "allow are smaller (`jmlr-capacity`), and posterior probabilities cannot be recovered, since the codewords "
        "are no longer affinely independent (E-22). Neither says how much accuracy is lost. What is seen here, that a "
        "few dimensions cost the more the more classes there are, has its reason in noise: a leaf that pulls its rows "
        "towards one class moves them past others that lie near it, and later trees must undo that (Classes with "
        "structure, in the documentation, measures it)."
    )


def dimension_errors(plan: Plan, found: Results, name: str) -> dict[int, Samples]:
    """Dimension → errors of one set."""
    return {d: errors(found, dimension_cells(plan, name, d)) for d in DIMENSIONS[name]}


def enough(own: dict[int, Samples]) -> int | None:
    """From which dimension on errors stay within a point of those of d = K − 1; None where that is not known."""
    last = own[max(own)]
    near = [bool(s.values and last.values and s.mean <= last.mean + 1.0) for s in own.values()]
    return next((d for i, d in enumerate(own) if all(near[i:])), None)


def enough_words(plan: Plan, found: Results) -> str:
    """The same for all sets in short."""
    first = {name: enough(dimension_errors(plan, found, name)) for name in DIMENSIONS}
    return ", ".join(f"{'…' if d is None else d} of {max(DIMENSIONS[name])} on {name}" for name, d in first.items())


def dimensions_answer(name: str, own: dict[int, Samples]) -> str:
    """The errors of one set, and from which dimension on they are near those of d = K − 1."""
    first = enough(own)
    words = "not known yet" if first is None else f"within a point of d = K − 1 from d = {first} on"
    shown = ", ".join(f"{entry(s, None)} at d = {d}" for d, s in own.items())
    return f"{name}, {SHAPES[name][3]} classes: {words} ({shown})"
