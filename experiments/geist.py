"""Geist: sm-boost beside AdaBoost.MH, SAMME and MartiBoost, with and without noise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from simplexboost.datasets import make_long_servedio

from . import data
from .boosters import make
from .cells import Cell, Results, task
from .comparison import NEAR, NOT_COMPARABLE, Samples, best_of, distances, entry, published
from .curves import STYLES, Line, panels
from .data import SHAPES
from .fits import STOPS, at, curve, fit_cell, limited
from .ranks import rank_blocks
from .registry import Block, Figure, Plan, Table, Text, experiment

LEAVES = 12
SETS: dict[str, dict[str, Any]] = {
    "dna": {"name": "dna"},
    "letter": {"name": "letter", "sizes": [15000, 5000]},
    "mnist": {"name": "mnist"},
    "pendigits": {"name": "pendigits"},
    "satimage": {"name": "satimage"},
    "segment": {"name": "segment"},
    "splice": {"name": "splice2", "sizes": [1000, 2175], "shuffle": True},
    "vowel": {"name": "vowel"},
}
CLASSES = dict(zip(SETS, (3, 26, 10, 10, 6, 7, 2, 11), strict=True))
MOMENTS = (10, 100, 1000)
METHODS = ("AdaBoost.MH", "SAMME", "sm-boost")


def booster(method: str, K: int, leaves: int = LEAVES) -> tuple[str, dict[str, Any]]:
    """The paper's three boosters: one tree of 12 leaves per class, for SAMME one of 12 (K − 1)."""
    match method:
        case "AdaBoost.MH":
            return "mh", {"mode": "gini", "leaves": leaves, "depth": None}
        case "SAMME":
            return "samme", {"criterion": "gini", "leaves": leaves * (K - 1), "depth": None}
        case _:
            return "smboost", {"leaves": leaves, "depth": None}


# ---- Table 1 --------------------------------------------------------------------------------------------------------

QUANTITIES = ("training rows", "test rows", "features", "classes")
TABLE1 = {  # as printed
    "dna": (2000, 1186, 180, 3),
    "letter": (15000, 5000, 16, 26),
    "mnist": (60000, 10000, 784, 10),
    "pendigits": (7494, 3498, 16, 10),
    "satimage": (4435, 2000, 36, 6),
    "segment": (210, 2100, 19, 10),
    "splice": (1000, 2175, 60, 2),
    "vowel": (528, 462, 10, 11),
}


@task
def sizes_of(problem: dict[str, Any]) -> dict[str, Any]:
    """Rows, features and classes of a set as it is used here."""
    d = data.problem(**problem)
    present = len(np.unique(np.concatenate([d.y_train, d.y_test])))
    return {"sizes": [len(d.y_train), len(d.y_test), d.X_train.shape[1], present]}


def size_cell(name: str) -> Cell:
    """Of one set."""
    return Cell("sizes_of", {"problem": SETS[name]}, 2.0)


@experiment("geist-table1", "Sizes of the sets", urgency=4)
def table1(plan: Plan) -> list[Cell]:
    """The sets as Tables 2 and 3 use them, counted."""
    return [size_cell(name) for name in SETS]


@table1.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name, printed in TABLE1.items():
        result = found.get(size_cell(name))
        ours = result["sizes"] if result else [None] * len(printed)
        rows.append(
            [
                name,
                *("…" if o is None else str(o) if o == p else f"{o} ({p})" for o, p in zip(ours, printed, strict=True)),
            ]
        )
    yield Text("Ours, and in brackets the paper's where it is another number.")
    yield Table(["set", *QUANTITIES], rows)


# ---- Tables 2 and 3 -------------------------------------------------------------------------------------------------


LONG = 1000  # rounds; of mnist, where a run of these takes half an hour, one, and some of 100
SHORT = 100


def rounds_of(plan: Plan, name: str) -> int:
    """The rounds of the runs that are repeated: 1000, on mnist 100."""
    return plan.pick(SHORT if name == "mnist" else LONG, 40 if name in ("letter", "mnist") else 100)


def last_moment(plan: Plan, name: str) -> int:
    """The last round that some run of Tables 2 and 3 reaches: 1000 on every set of the full plan."""
    return plan.pick(LONG, rounds_of(plan, name))


def given(plan: Plan, name: str, noise: float, shuffle: bool = False) -> dict[str, Any]:
    """A set, its labels corrupted, its rows shuffled where told."""
    sizes = {} if "sizes" in SETS[name] or not shuffle else {"sizes": list(SHAPES[SETS[name]["name"]][:2])}
    extra = (sizes | {"shuffle": True} if shuffle else {}) | ({"noise": noise} if noise else {})
    return limited(plan, **SETS[name]) | extra


def table_cells(plan: Plan, method: str, name: str, noise: float, rounds: int | None = None) -> list[Cell]:
    """The cells behind one row: one where nothing is random; ``rounds`` are those of `rounds_of` unless told."""
    kind, options = booster(method, CLASSES[name])
    problem = given(plan, name, noise)
    random_data = bool(noise) or problem.get("shuffle", False)
    seeds = plan.repeats if random_data or method == "sm-boost" else range(1)
    if name == "mnist":
        seeds = seeds[: 1 if rounds == LONG else 2]
    T = rounds or rounds_of(plan, name)
    return [fit_cell(kind, options, T, problem | ({"seed": seed} if random_data else {}), seed) for seed in seeds]


def cells_up_to(plan: Plan, method: str, name: str, noise: float, t: int) -> list[Cell]:
    """The cells that tell an error after t rounds; none where no run of the plan is that long."""
    if t <= rounds_of(plan, name):
        return table_cells(plan, method, name, noise)
    return table_cells(plan, method, name, noise, LONG) if name == "mnist" and not plan.quick else []


def all_table_cells(plan: Plan, noise: float) -> list[Cell]:
    """All rows."""
    every = [c for name in SETS for method in METHODS for c in table_cells(plan, method, name, noise)]
    return every + [c for method in METHODS for c in cells_up_to(plan, method, "mnist", noise, LONG)]


def errors_at(plan: Plan, found: Results, method: str, name: str, noise: float, t: int) -> Samples:
    """Test errors in percent after t rounds."""
    cells = cells_up_to(plan, method, name, noise, t)
    done = found.finished(cells)
    return Samples(tuple(100 * at(r, t) for r in done), len(cells))


def geist_table(plan: Plan, found: Results, table: str, noise: float) -> Table:
    """A row per set and booster, a column per moment."""
    rows = []
    for name in SETS:
        columns = []
        for t in MOMENTS:
            samples = [errors_at(plan, found, m, name, noise, t) for m in METHODS]
            best = best_of([s.mean for s in samples], error=True)
            columns.append(
                [
                    entry(s, published(f"{table}-T{t}", m, name), s.mean == best) if s.wanted else "–"
                    for s, m in zip(samples, METHODS, strict=True)
                ]
            )
        rows += [[name if i == 0 else "", m, *(c[i] for c in columns)] for i, m in enumerate(METHODS)]
    return Table(["set", "booster", *(f"T = {t}" for t in MOMENTS)], rows)


def geist_far_off(plan: Plan, found: Results, table: str, noise: float, *explained: str) -> Text:
    """Which numbers are more than two points from the paper's."""
    if plan.quick:
        return NOT_COMPARABLE
    far, n, total = [], 0, 0
    for name in SETS:
        for method in METHODS:
            for t in MOMENTS:
                errors, paper = errors_at(plan, found, method, name, noise, t), published(f"{table}-T{t}", method, name)
                total += paper is not None
                if paper is not None and errors.values and not np.isnan(errors.mean):
                    n += 1
                    if abs(gap := errors.mean - paper) > NEAR:
                        far.append(f"{method} on {name} at T = {t} ({gap:+.1f})")
    return distances(n, far, explained, total)


def last_ranks(plan: Plan, found: Results, name: str, noise: float) -> Iterator[Block]:
    """Ranks after the last round of the table."""
    errors = {n: [errors_at(plan, found, m, n, noise, last_moment(plan, n)) for m in METHODS] for n in SETS}
    yield from rank_blocks(name, errors, METHODS, error=True)


OPEN = Text("Guesses at the reasons are judged in the experiments named; all under “Our explanations”.")


@experiment("geist-table2", "Test errors on real sets", urgency=2)
def table2(plan: Plan) -> list[Cell]:
    """Stated: the libsvm splits, trees of 12 leaves grown best first (12 (K − 1) for SAMME), T = 10, 100, 1000, as many
    samples as examples in sm-boost. Chosen: trees grown by the Gini index, as CART does; seeds for sm-boost; on mnist
    two runs up to T = 100 and one up to T = 1000; splice with two classes, split at random, since libsvm's split is not
    at hand; where training examples are repeated, as many samples as different examples (letter 14 154 of 15 000, dna
    1914 of 2000, splice about 980 of 1000; none elsewhere).
    """
    return all_table_cells(plan, 0.0)


@table2.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text(
        "Entries are *our test error in percent ± half of its 95 % interval over seeds (the paper's, the difference)*."
    )
    yield geist_table(plan, found, "geist-table2", 0.0)
    yield geist_far_off(plan, found, "geist-table2", 0.0, "geist-leaves", "geist-cart", "geist-samme", "geist-endless")
    yield OPEN
    yield from last_ranks(plan, found, "geist-table2-ranks", 0.0)


@experiment("geist-table3", "Test errors with 20 % corrupted labels", urgency=1)
def table3(plan: Plan) -> list[Cell]:
    """As Table 2, with the labels of a fifth of the training rows exchanged at random among them; a draw per seed."""
    return all_table_cells(plan, 0.2)


@table3.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text("Entries as in Table 2.")
    yield geist_table(plan, found, "geist-table3", 0.2)
    yield geist_far_off(
        plan, found, "geist-table3", 0.2, "geist-labels", "geist-leaves", "geist-cart", "geist-samme", "geist-endless"
    )
    yield OPEN
    yield from last_ranks(plan, found, "geist-table3-ranks", 0.2)


# ---- Figures 5 and 6 ------------------------------------------------------------------------------------------------

SHUFFLES = 25
FEW_SHUFFLES = 5  # of mnist, whose runs take minutes and hardly differ


def shuffled_cells(plan: Plan, method: str, name: str, noise: float) -> list[Cell]:
    """Runs on shuffled data with training and test errors."""
    kind, options = booster(method, CLASSES[name])
    problem = given(plan, name, noise, shuffle=True)
    rounds, n = rounds_of(plan, name), plan.pick(FEW_SHUFFLES if name == "mnist" else SHUFFLES, 2)
    return [fit_cell(kind, options, rounds, problem | {"seed": seed}, seed, train=True) for seed in range(n)]


def all_shuffled_cells(plan: Plan, noise: float) -> list[Cell]:
    """All curves."""
    return [c for name in SETS for method in METHODS for c in shuffled_cells(plan, method, name, noise)]


def curves_figure(plan: Plan, found: Results, noise: float, name: str) -> Figure:
    """Two panels per set: training and test errors."""

    def lines(dataset: str, part: str) -> list[Line]:
        stops = [t for t in STOPS if t <= rounds_of(plan, dataset)]
        cells = {m: shuffled_cells(plan, m, dataset, noise) for m in METHODS}
        return [Line(m, stops, 100 * curve(found, own, stops, part), STYLES[m]) for m, own in cells.items()]

    corrupted = "" if not noise else ", 20 % of the labels corrupted"
    caption = f"Training and test errors against rounds (mean ± deviation over shuffles){corrupted}."
    made = {f"{d}, {part}": partial(lines, d, part) for d in SETS for part in ("train", "test")}
    return panels(name, caption, made, "rounds", ticks=(1, 10, 100, 1000))


def curves_table(plan: Plan, found: Results, noise: float) -> Table:
    """Errors after the last round."""
    rows = []
    for name in SETS:
        row = [name]
        for part in ("train", "test"):
            for m in METHODS:
                cells = shuffled_cells(plan, m, name, noise)
                last = 100 * curve(found, cells, [rounds_of(plan, name)], part)
                row.append(entry(Samples(tuple(last[:, 0]), len(cells)), None))
        rows.append(row)
    return Table(["set", *(f"{m}, {part}" for part in ("train", "test") for m in METHODS)], rows)


def curves_blocks(plan: Plan, found: Results, noise: float, name: str) -> Iterator[Block]:
    """The picture and the last errors."""
    yield curves_figure(plan, found, noise, name)
    yield Text(
        "Errors in percent after the last round (1000, on mnist 100), mean ± half of its 95 % interval over shuffles:"
    )
    yield curves_table(plan, found, noise)


@experiment("geist-figure5", "Error curves on real sets", urgency=5)
def figure5(plan: Plan) -> list[Cell]:
    """Stated: training and test errors over 25 runs on shuffled data, with the sizes of the given splits. Chosen:
    mnist up to 100 rounds, and 5 runs of it.
    """
    return all_shuffled_cells(plan, 0.0)


@figure5.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield from curves_blocks(plan, found, 0.0, "geist-figure5")


@experiment("geist-figure6", "Error curves with 20 % corrupted labels", urgency=5)
def figure6(plan: Plan) -> list[Cell]:
    """As Figure 5, with the labels of a fifth of the training rows exchanged at random among them. Training errors are
    those on the corrupted labels.
    """
    return all_shuffled_cells(plan, 0.2)


@figure6.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield from curves_blocks(plan, found, 0.2, "geist-figure6")


# ---- Figure 7 -------------------------------------------------------------------------------------------------------

NOISES = [round(0.05 * i, 2) for i in range(11)]
NOISE_METHODS = {
    "SAMME": ("samme", {"depth": 1}),
    "sm-boost, M = N": ("smboost", {"depth": 1, "pairs": 4000}),
    "MartiBoost": ("marti", {}),
    # for geist-steps
    "sm-boost": ("smboost", {"depth": 1}),  # as many pairs as there are different examples, about 2000
    "1000 pairs": ("smboost", {"depth": 1, "pairs": 1000}),
    "steps × 4": ("smboost", {"depth": 1, "rate": 4.0}),
    "both": ("smboost", {"depth": 1, "pairs": 1000, "rate": 4.0}),
}
RUNS = {  # what the page calls a booster → its name in `NOISE_METHODS`, which the kept cells have
    "sm-boost": "sm-boost, M = N",
    "2000 pairs": "sm-boost",
    "2000 pairs and steps × 4": "steps × 4",
    "1000 pairs and steps × 4": "both",
}
SHOWN = ("SAMME", "sm-boost", "MartiBoost")


@task
def long_servedio(method: str, noise: float, seeds: list[int], rounds: int, layers: int) -> dict[str, Any]:
    """Clean test errors of one booster with stumps on some noisy draws."""
    name, options = NOISE_METHODS[method]
    errors = []
    for seed in seeds:
        d = make_long_servedio(label_noise=noise, random_state=seed)
        clf = make(name, 2, layers if name == "marti" else rounds, seed, options).fit(d.X_train, d.y_train)
        answers = clf.predict_random(d.X_test, seed) if name == "marti" else clf.predict(d.X_test)
        errors.append(float((answers != d.y_test).mean()))
    return {"test": errors}


def noises(plan: Plan) -> list[float]:
    """The levels of noise."""
    return plan.pick(NOISES, [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])


DRAWS = 100


def noise_cells(plan: Plan, method: str, noise: float) -> list[Cell]:
    """Several draws a cell; the booster is named as on the page."""
    slow = method == "MartiBoost"
    n, size = plan.pick((DRAWS, 2 if slow else 10), (2, 2))
    rounds, layers = plan.pick((1000, 300), (1000, 60))
    groups = [list(range(i, i + size)) for i in range(0, n, size)]
    seconds = size * (layers**2 * 1.4e-4 if slow else rounds * 0.002)
    fixed = {"method": RUNS.get(method, method), "noise": noise, "rounds": rounds, "layers": layers}
    return [Cell("long_servedio", fixed | {"seeds": g}, seconds, turn) for turn, g in enumerate(groups)]


def draws_by_seed(plan: Plan, found: Results, method: str, noise: float) -> dict[int, float]:
    """Clean test errors in percent by the seed of the draw."""
    cells = noise_cells(plan, method, noise)
    done = [(c.arguments["seeds"], r["test"]) for c in cells if (r := found.get(c)) is not None]
    return {seed: 100 * e for seeds, errors in done for seed, e in zip(seeds, errors, strict=False)}


def draws(plan: Plan, found: Results, method: str, noise: float) -> Samples:
    """Clean test errors in percent, one a draw."""
    cells = noise_cells(plan, method, noise)
    errors = draws_by_seed(plan, found, method, noise).values()
    return Samples(tuple(errors), sum(len(c.arguments["seeds"]) for c in cells))


@experiment("geist-figure7", "Long and Servedio's problem under label noise", urgency=2)
def figure7(plan: Plan) -> list[Cell]:
    """Stated: 4000 noisy training and 10 000 clean test examples, noise 0 to 50 %, stumps, T = 1000, as many sampled
    pairs as training examples (M = N = 4000) in sm-boost, 300 layers in MartiBoost, 100 draws. Chosen for MartiBoost:
    training examples are divided among the nodes by the probabilities of their turns, rather than sent along one
    random path each; a test example follows one random path. Different from the paper: where a path ends in the middle
    of the last layer a fair coin decides, while Section 5.5.1 answers 0 there (“if its index is greater than L/2, then
    the final prediction is +1, else it is 0”); `geist-coin` compares the two.
    """
    return [c for noise in noises(plan) for m in SHOWN for c in noise_cells(plan, m, noise)]


PERFECT = 0.5  # percent: a draw with a smaller test error has learned the rule


@figure7.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    errors = {m: {noise: draws(plan, found, m, noise) for noise in noises(plan)} for m in SHOWN}

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for shift, (m, by_noise) in zip((-0.9, 0.0, 0.9), errors.items(), strict=True):
            known = {100 * noise: np.array(s.values) for noise, s in by_noise.items() if s.values}
            for x, values in known.items():
                left.plot(np.full(len(values), x + shift), values, ".", color=STYLES[m]["color"], ms=3, alpha=0.25)
            left.plot(list(known), [v.mean() for v in known.values()], label=m, lw=1.4, **STYLES[m])
            share_perfect = [100 * (v < PERFECT).mean() for v in known.values()]
            right.plot(list(known), share_perfect, marker="o", ms=3, label=m, **STYLES[m])
        left.plot([0, 50], [0, 50], color="0.7", lw=0.8)
        left.set(xlabel="label noise, %", ylabel="test error, %")
        right.set(xlabel="label noise, %", ylabel="perfect draws, % of all", ylim=(-3, 103))
        for axes in (left, right):
            axes.grid(alpha=0.3)
        left.legend()

    caption = (
        "Clean test error against training noise. Left: every draw a dot, lines the means, grey the noise. Right: the "
        f"share of perfect draws, those with an error below {PERFECT} %."
    )
    yield Figure("geist-figure7", caption, draw, (9.5, 3.8))
    header = [f"{100 * noise:.0f} % noise" for noise in noises(plan)]
    yield Text("Mean test error in percent ± half of its 95 % interval over the draws:")
    yield Table(["", *header], [[m, *(entry(s, None) for s in row.values())] for m, row in errors.items()])
    yield Text(f"Draws with a test error below {PERFECT} %, of those run:")
    yield Table(["", *header], [[m, *(perfect_draws(s) for s in row.values())] for m, row in errors.items()])


def perfect_draws(errors: Samples) -> str:
    """How many of how many."""
    return f"{sum(e < PERFECT for e in errors.values)} of {len(errors.values)}" if errors.values else "…"
