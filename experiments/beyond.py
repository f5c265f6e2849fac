"""Beyond the papers: `SimplexBoostClassifier` as one more row of their tables, and its losses under label noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import geist, jmlr, mukherjee, nips2011
from .cells import Cell, Results
from .comparison import Comparison, Method, Samples, entry, published
from .curves import Line, panels
from .data import SHAPES
from .fits import at, fit_cell
from .registry import Block, Plan, Table, Text, experiment
from .statistics import capital, signs

FLAGSHIP = Method("SimplexBoost", "flagship", rounds=400, random=True)


def with_flagship(table: Comparison) -> Comparison:
    """The table's sets, our booster alone."""
    return Comparison(
        table.table, table.sets, (FLAGSHIP,), table.classes, 400, table.error, table.split_seeds, quick=0.25
    )


def one_more_row(
    plan: Plan, found: Results, tables: Sequence[Comparison], error: bool = False
) -> tuple[Table, list[str]]:
    """Per set: the tables' best booster in our runs, the paper's best number, SimplexBoost; and where it wins."""
    rows, wins = [], []
    for name in tables[0].sets:
        mine = with_flagship(tables[0]).samples(plan, found, FLAGSHIP, name)
        rivals = {m.label: t.samples(plan, found, m, name) for t in tables for m in t.methods}
        known = {label: s for label, s in rivals.items() if s.values and not np.isnan(s.mean)}
        papers = [p for t in tables for m in t.methods if (p := t.published(m, name)) is not None]
        choose = min if error else max
        label = choose(known, key=lambda k: known[k].mean) if known else None
        gap = paired(mine, known[label]) if known else np.nan
        ahead = bool(gap <= 0 if error else gap >= 0)
        if ahead:
            wins.append(name)
        best = f"{entry(known[label], None)} ({label})" if label else "…"
        rows.append([name, entry(mine, None, ahead), best, f"{choose(papers):.1f}" if papers else ""])
    header = ["set", "SimplexBoost, defaults", "best of the table's boosters, our runs", "best in the paper"]
    return Table(header, rows), wins


def paired(first: Samples, second: Samples) -> float:
    """The mean difference over the splits that both have run; of a single run with the mean of several."""
    n = min(len(first.values), len(second.values))
    if n < 2:
        return first.mean - second.mean
    return float(np.mean(np.subtract(first.values[:n], second.values[:n])))


@experiment("beyond-mcboost", "MCBoost's sets with SimplexBoost", urgency=3)
def mcboost(plan: Plan) -> list[Cell]:
    """SimplexBoostClassifier with its defaults (400 rounds, trees of a size that suits the data, stronger learners than
    stumps or trees of depth 2) on the sets and splits of JMLR Tables 7 to 9, which include those of NIPS Tables 1 and
    2.
    """
    return with_flagship(jmlr.TABLE9).cells(plan)


@mcboost.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text("Accuracies in percent.")
    table, wins = one_more_row(plan, found, (jmlr.TABLE9, jmlr.TABLE7, jmlr.TABLE8))
    yield table
    yield Text(f"At least as accurate as every booster of Tables 7 to 9 on {len(wins)} sets ({', '.join(wins)}).")
    nips, wins = one_more_row(plan, found, (nips2011.TABLE2, nips2011.TABLE1))
    yield Text(
        "The same beside the boosters of NIPS Tables 1 and 2, which have 50 trees of depth 2 or 20 stumps a class."
    )
    yield nips


def mukherjee_cells(plan: Plan, name: str) -> list[Cell]:
    """SimplexBoost on the splits of a set of Mukherjee and Schapire's."""
    return [mukherjee.cell(plan, "flagship", name, None, seed) for seed in mukherjee.seeds(plan, name)]


@experiment("beyond-mukherjee", "Mukherjee and Schapire's sets with SimplexBoost", urgency=4)
def thirteen(plan: Plan) -> list[Cell]:
    """SimplexBoostClassifier, 500 rounds, otherwise its defaults, on the sets and splits of Figure 8."""
    return [c for name in mukherjee.SETS for c in mukherjee_cells(plan, name)]


@thirteen.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name in mukherjee.SETS:
        mine = mukherjee.samples(found, mukherjee_cells(plan, name))
        rivals = {m: mukherjee.samples(found, cells) for m, cells in mukherjee.figure8_cells(plan, name).items()}
        known = {m: s for m, s in rivals.items() if s.values}
        best = min(known, key=lambda m: known[m].mean) if known else None
        papers = [published("mukherjee-fig8", f"AdaBoost.{m}", name) or np.nan for m in mukherjee.FIGURE8_METHODS]
        ahead = best is not None and mine.mean <= known[best].mean
        rows.append(
            [
                name,
                entry(mine, None, ahead),
                f"{entry(known[best], None)} ({best})" if best else "…",
                difference(mine, known[best], name) if best and mine.values else "…",
                f"{np.nanmin(papers):.1f}",
            ]
        )
    yield Text(
        "Test errors in percent, and the difference with its standard error: over splits where they are random, else "
        "over draws of the test rows. The best of three is chosen on the test rows, which favours it."
    )
    yield Table(["set", "SimplexBoost", "best of MH, M1, MM, our runs", "difference", "best in the paper"], rows)


def difference(mine: Samples, other: Samples, name: str) -> str:
    """Of two errors in points, with its standard error."""
    n = min(len(mine.values), len(other.values))
    gap = np.subtract(mine.values[:n], other.values[:n])
    if n > 1:
        return f"{gap.mean():+.1f} ± {gap.std(ddof=1) / np.sqrt(n):.1f}"
    rows = (mukherjee.SETS[name].get("sizes") or SHAPES[mukherjee.SETS[name]["name"]])[1]
    unsure = float(np.sqrt(sum(e * (100 - e) for e in (mine.mean, other.mean)) / rows))
    return f"{gap.mean():+.1f} ± {unsure:.1f}"


# ---- noise ----------------------------------------------------------------------------------------------------------

LOSS_COLOURS = {"logistic": "#1b6ca8", "savage": "#3a7d44", "softmax-cost": "#d1495b"}
LOSSES = tuple(LOSS_COLOURS)
LOSS_WORDS = {"savage": "Savage", "softmax-cost": "the soft-max cost"}
NOISES = (0.0, 0.1, 0.2, 0.3, 0.4)


def noise_cells(plan: Plan, loss: str, name: str, noise: float) -> list[Cell]:
    """SimplexBoost with a loss on corrupted labels."""
    given = geist.SETS[name] | ({"rows": plan.rows} if plan.rows else {}) | ({"noise": noise} if noise else {})
    random_data = bool(noise) or given.get("shuffle", False)
    seeds = plan.repeats if name != "mnist" else plan.repeats[:1]
    return [
        fit_cell("flagship", {"loss": loss}, plan.pick(400, 100), given | ({"seed": s} if random_data else {}), s)
        for s in seeds
    ]


def noises(plan: Plan, name: str) -> Sequence[float]:
    """The levels for a set; two of them on mnist, where a run takes minutes."""
    return (0.0, 0.2) if name == "mnist" else plan.pick(NOISES, (0.0, 0.2, 0.4))


@experiment("beyond-noise", "Losses under label noise with the flagship's trees", urgency=3)
def noise(plan: Plan) -> list[Cell]:
    """SimplexBoostClassifier, 400 rounds, with the logistic loss, Savage, and the soft-max cost (sm-boost's
    risk), on Geist's sets with 0 to 40 % of the training labels exchanged (mnist: 0 and 20 %, one run each).
    """
    return [
        c
        for name in geist.SETS
        for level in noises(plan, name)
        for loss in LOSS_COLOURS
        for c in noise_cells(plan, loss, name, level)
    ]


def noise_errors(plan: Plan, found: Results, loss: str, name: str, level: float) -> Samples:
    """Test errors in percent after the last round."""
    cells = noise_cells(plan, loss, name, level)
    done = found.finished(cells)
    return Samples(tuple(100 * at(r, 10**9) for r in done), len(cells))


@noise.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    def lines(name: str) -> list[Line]:
        out = []
        for loss, colour in LOSS_COLOURS.items():
            y = [noise_errors(plan, found, loss, name, level).values for level in noises(plan, name)]
            n = min(map(len, y))
            if n:
                x = [100 * level for level in noises(plan, name)]
                out.append(Line(loss, x, np.array([v[:n] for v in y]).T, {"color": colour, "marker": "o", "ms": 3}))
        return out

    made = {name: partial(lines, name) for name in geist.SETS}
    yield panels("beyond-noise", "Clean test error against training noise.", made, "label noise, %", log=False)
    rows: list[list[str]] = []
    for name in geist.SETS:
        for level in (0.0, 0.2):
            samples = {loss: noise_errors(plan, found, loss, name, level) for loss in LOSS_COLOURS}
            means = {loss: s.mean for loss, s in samples.items() if s.values}
            best = min(means, key=lambda k: means[k]) if means else None
            rows.append(
                [
                    name if not level else "",
                    f"{100 * level:.0f} %",
                    *(entry(s, None, k == best) for k, s in samples.items()),
                    smboost(plan, found, name, level),
                ]
            )
    yield Text("Test errors in percent; the last column is the best of Geist's three boosters after their last round.")
    yield Table(["set", "noise", *LOSS_COLOURS, "best of MH, SAMME, sm-boost"], rows)
    yield Text("On how many sets a loss has a lower mean error than the logistic one, at every level of noise:")
    yield Table(
        ["loss", *(f"{100 * level:.0f} %" for level in NOISES)],
        [
            [loss, *("{} of {}".format(*below_logistic(plan, found, loss, level)) for level in NOISES)]
            for loss in LOSSES[1:]
        ],
    )
    answers = [
        f"{words} {LOSS_WORDS[loss]} has a lower error than the logistic loss "
        f"{signs(gaps_to_logistic(plan, found, loss, level))}"
        for level, words in ((0.0, "without noise"), (0.2, "with 20 % noise"))
        for loss in LOSSES[1:]
        if gaps_to_logistic(plan, found, loss, level)
    ]
    yield Text(f"**Which loss under which noise?** {'. '.join(map(capital, answers)) or 'Not known yet'}.")
    yield Text(NOISE_THEORY)


NOISE_THEORY = (
    "*What theory says.* With p the probability that the model gives to a row's label, the logistic loss is −log p, "
    "the soft-max cost 1 − p, and Savage its square, (1 − p)². No convex loss stands every label noise (Long and "
    "Servedio, Geist's Figure 7); the other two are bounded. What a row that is far on the wrong side, p → 0, adds to "
    "the slope goes to a constant for the logistic loss, and to zero for the others, like p for the soft-max cost and "
    "like 2p for Savage. By this wrong labels should harm the logistic loss most and the soft-max cost least. On the "
    "other hand Savage pulls most at rows with p = 1/3, the soft-max cost at those with p = 1/2, so that Savage "
    "spends more on rows that are wrong already. Which of the two counts more, theory does not say; the counts above "
    "do."
)


def gaps_to_logistic(plan: Plan, found: Results, loss: str, level: float) -> list[float]:
    """The logistic loss's mean errors less those of another loss, on the sets that both have run."""
    pairs = [[noise_errors(plan, found, k, name, level) for k in ("logistic", loss)] for name in geist.SETS]
    return [round(a.mean - b.mean, 6) for a, b in pairs if a.values and b.values]


def below_logistic(plan: Plan, found: Results, loss: str, level: float = 0.2) -> tuple[int, int]:
    """On how many sets a loss has the lower mean error than the logistic one, and how many sets are known."""
    gaps = gaps_to_logistic(plan, found, loss, level)
    return sum(gap > 0 for gap in gaps), len(gaps)


def smboost(plan: Plan, found: Results, name: str, level: float) -> str:
    """The best of Geist's boosters in our runs."""
    samples = {m: geist.errors_at(plan, found, m, name, level, geist.last_moment(plan, name)) for m in geist.METHODS}
    known: dict[str, Any] = {m: s for m, s in samples.items() if s.values and not np.isnan(s.mean)}
    if not known:
        return "…"
    best = min(known, key=lambda m: known[m].mean)
    return f"{entry(known[best], None)} ({best})"
