"""Where MCBoost's figures and ours part, and why: three Gaussians, Tables 7, 8 and 9 again, with other choices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .cells import Cell, Results
from .comparison import Comparison, Method, Samples, entry
from .fits import at, fit_cell, limited
from .gaussians import CURVE, SETTINGS, gap_cells
from .jmlr import (
    CD,
    CD_LINEAR,
    CLASSES,
    ECC,
    GD,
    GD_CODEWORD,
    LOGIT,
    MM,
    OVA,
    SAMME,
    SETS,
    TABLE7,
    TABLE8,
    TABLE9,
    wins_in_splits,
)
from .registry import Block, Claim, Plan, Table, Text, experiment

# ---- three Gaussians ------------------------------------------------------------------------------------------------


@experiment("jmlr-gaussians", "Three Gaussians again: from CD-MCBoost to the Bayes rule", urgency=3, explains=True)
def gaussians(plan: Plan) -> list[Cell]:
    """The best coordinate in every round; test error minus that of the Bayes rule on the same 20 000 test rows, over
    the rounds, for the paper's 1000 training rows, for shorter steps, and for more rows. Ten draws of the small data,
    three of the large.
    """
    return [cell for setting in SETTINGS.values() for cell in gap_cells(plan, **setting)]


@gaussians.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    gaps, complete = {}, True
    for label, setting in SETTINGS.items():
        cells = gap_cells(plan, **setting)
        done = [r["gaps"] for r in found.finished(cells)]
        complete &= len(done) == len(cells)
        gaps[label] = 100 * np.array(done).reshape(-1, len(CURVE))
    yield Table(
        ["points above the Bayes rule", *(f"T = {t}" for t in CURVE)],
        [
            [label, *(f"{v.mean():+.2f} ± {v.std(ddof=1):.2f}" if len(v) > 1 else "…" for v in own.T)]
            for label, own in gaps.items()
        ],
    )
    at_100 = {label: own[:, CURVE.index(100)].mean() if len(own) else np.nan for label, own in gaps.items()}
    paper, short, _, large = at_100.values()
    yield Claim(
        "Stumps can come within a point of the Bayes rule in 100 rounds: with shorter steps or with more rows.",
        bool(short <= 1 and large <= 1) if complete else None,
        f"{short:+.2f} points with steps × 0.3, {large:+.2f} with 50 000 rows, against {paper:+.2f} with 1000 rows and "
        f"full steps; with 50 000 rows and {CURVE[-1]} rounds {gaps[label][:, -1].mean() if done else np.nan:+.2f}",
    )
    yield Text(
        "So it is not the stumps and not the rounds: from 1000 rows full steps learn the noise, and error rises again "
        "after about 100 rounds. The paper shows one draw with 1000 test rows, where the distance from the Bayes rule "
        "is uncertain by almost a point (see `nips-figure2`, `jmlr-figure4`: the deviation over 20 such draws), and "
        "its error of 11.30 % is below most of ours."
    )


# ---- Table 7 --------------------------------------------------------------------------------------------------------

STUMPS = (200, 500, 1000, 2000, 5000)
COUNTED = ("landsat", "letter", "pendigit", "optdigit", "isolet")  # large sets that both papers' tables agree on


def after(plan: Plan, found: Results, method: Method, name: str, stumps: int) -> Samples:
    """Accuracies of Table 7's runs when a booster had so many stumps, one a round."""
    cells = TABLE7.cells_of(plan, method, name)
    done = found.finished(cells)
    return Samples(tuple(100 - 100 * at(r, stumps) for r in done), len(cells))


@experiment("jmlr-stumps", "Table 7 again, over the number of stumps", urgency=3, explains=True)
def stumps(plan: Plan) -> list[Cell]:
    """The runs of Table 7, where every booster has 200 stumps per class, looked at earlier: the paper does not say how
    many stumps AdaBoost.ECC had.
    """
    return TABLE7.cells(plan)


@stumps.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name in COUNTED:
        for method in (ECC, CD):
            values = [after(plan, found, method, name, n) for n in STUMPS if n <= 200 * CLASSES[name]]
            shown = [f"{v.mean:.1f}" if v.values else "…" for v in values] + [""] * (len(STUMPS) - len(values))
            final, paper = TABLE7.samples(plan, found, method, name), TABLE7.published(method, name)
            rows.append([f"{name}, {method.label}", *shown, entry(final, None), f"{paper:.1f}"])
    yield Table(["accuracy, %", *(f"{n} stumps" for n in STUMPS), "200 per class", "paper"], rows)
    gaps = {
        n: [abs(after(plan, found, ECC, name, n).mean - TABLE7.published(ECC, name)) for name in COUNTED]
        for n in (1000, 10**9)
    }
    *_, complete = TABLE7.wins(plan, found, CD, (ECC,))
    yield Claim(
        "The paper's AdaBoost.ECC had about 1000 stumps in all, on every set, and not 200 per class.",
        bool(np.mean(gaps[1000]) < np.mean(gaps[10**9]) / 2) if complete else None,
        f"with 1000 our figures are {np.mean(gaps[1000]):.1f} points from the paper's on average and at most "
        f"{max(gaps[1000]):.1f} on {', '.join(COUNTED)}; with 200 per class {np.mean(gaps[10**9]):.1f} and "
        f"{max(gaps[10**9]):.1f}",
    )
    cd = {name: TABLE7.samples(plan, found, CD, name) for name in SETS}
    ecc = {name: after(plan, found, ECC, name, 1000) for name in SETS}
    good = [name for name in SETS if cd[name].mean >= ecc[name].mean - 0.05]
    counts = wins_in_splits(cd, {name: [s] for name, s in ecc.items()}, 0.05) if complete else np.zeros(1, dtype=int)
    yield Claim(
        "With that, CD-MCBoost with 200 stumps per class at least equals AdaBoost.ECC on most sets.",
        len(good) > len(SETS) / 2 if complete else None,
        f"{len(good)} of {len(SETS)} ({', '.join(good)}) on average; in single splits of the small sets "
        f"{counts.min()} to {counts.max()}",
    )
    yield Text(
        "So the number of stumps explains the paper's large wins, on letter and isolet, and single splits some of the "
        "rest; not all of it. With equally many stumps random "
        "bipartitions are the better directions for a stump: in every round ECC has one of all the ways to part the "
        "classes in two, CD-MCBoost one of M − 1 fixed directions."
    )


THRESHOLD_SETS = ("segmentation", "shuttle")
BINS = (2, 3, 5, 10)


def threshold_cells(plan: Plan, method: Method, name: str, bins: int) -> list[Cell]:
    """A booster of Table 7 on features of few values, one run."""
    given = {name: SETS[name] | {"even_bins": bins}}
    return Comparison("jmlr-table7", given, (method,), CLASSES, 200, quick=0.05).cells_of(plan, method, name)[:1]


@experiment("jmlr-thresholds", "Table 7 again, with few thresholds", urgency=4, explains=True)
def thresholds(plan: Plan) -> list[Cell]:
    """Whether evenly spaced thresholds, which explain letter and shuttle in the conference version (`nips-thresholds`),
    explain segmentation and shuttle here: features rounded to 2 to 10 cells.
    """
    return [
        c for name in THRESHOLD_SETS for m in TABLE7.methods for b in BINS for c in threshold_cells(plan, m, name, b)
    ]


@thresholds.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows, values = [], {}
    for name in THRESHOLD_SETS:
        for m in TABLE7.methods:
            results = [found.get(threshold_cells(plan, m, name, b)[0]) for b in BINS]
            values[name, m.label] = [np.nan if r is None else 100 - 100 * at(r, 10**9) for r in results]
            full, paper = TABLE7.samples(plan, found, m, name), TABLE7.published(m, name)
            shown = [f"{v:.1f}" if np.isfinite(v) else "…" for v in values[name, m.label]]
            rows.append([f"{name}, {m.label}", *shown, f"{full.mean:.1f}" if full.values else "…", f"{paper:.1f}"])
    yield Table(["accuracy, %", *(f"{b} cells" for b in BINS), "all thresholds", "paper"], rows)
    complete = bool(np.isfinite(list(values.values())).all())
    most = found.get(threshold_cells(plan, CD, "shuttle", 2)[0])
    share = 100 * most["majority"] if most else np.nan
    between = [(values["segmentation", m.label], TABLE7.published(m, "segmentation")) for m in (ECC, CD)]
    yield Claim(
        "The paper's segmentation figures of ECC and CD-MCBoost are those of two or three cells.",
        all(two - 2 <= own <= three + 2 for (two, three, *_), own in between) if complete else None,
        "; ".join(f"{two:.1f} with two, {three:.1f} with three, paper {own:.1f}" for (two, three, *_), own in between)
        + f"; its one-vs-all, {TABLE7.published(OVA, 'segmentation'):.1f}, is not explained by any number of cells",
    )
    yield Claim(
        "The paper's shuttle figures are the share of the largest class: its boosters did not begin.",
        bool(abs(share - TABLE7.published(CD, "shuttle")) < 0.1) if complete else None,
        f"{share:.1f} % of the test rows; the paper has {TABLE7.published(CD, 'shuttle'):.1f} for all three boosters",
    )


# ---- Table 8 --------------------------------------------------------------------------------------------------------

CLIPS = (4.0, 16.0, 64.0)
CLIP_SETS = ("landsat", "letter", "pendigit", "optdigit", "shuttle")


def clip_cell(plan: Plan, name: str, clip: float) -> Cell:
    """LogitBoost with responses clipped elsewhere; at 4 the cell of Table 8."""
    if clip == CLIPS[0]:
        return TABLE8.cells_of(plan, LOGIT, name)[0]
    return fit_cell("logit", {"clip": clip}, plan.pick(200, 10), limited(plan, **SETS[name]), 0)


@experiment("jmlr-clip", "Table 8 again, with LogitBoost's responses clipped elsewhere", urgency=4, explains=True)
def clips(plan: Plan) -> list[Cell]:
    """LogitBoost fits regressors to working responses, which its authors advise to clip at 2 to 4, as Table 8 has it
    (at 4). CD-MCBoost, which does without, is near the paper's figures on all large sets.
    """
    return [clip_cell(plan, name, clip) for name in CLIP_SETS for clip in CLIPS]


@clips.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows, gaps, complete = [], [], True
    for name in CLIP_SETS:
        results = [found.get(clip_cell(plan, name, clip)) for clip in CLIPS]
        complete &= None not in results
        values = [100 - 100 * at(r, 10**9) if r else np.nan for r in results]
        paper, cd = TABLE8.published(LOGIT, name), TABLE8.samples(plan, found, CD_LINEAR, name)
        gaps.append([abs(v - paper) for v in values])
        shown = [f"{v:.1f}" if np.isfinite(v) else "…" for v in values]
        rows.append([name, *shown, f"{paper:.1f}", entry(cd, None), f"{TABLE8.published(CD_LINEAR, name):.1f}"])
    header = ["paper's LogitBoost", "CD-MCBoost", "paper's CD-MCBoost"]
    yield Table(["accuracy, %", *(f"clipped at {clip:.0f}" for clip in CLIPS), *header], rows)
    near = [np.argmin(row) > 0 for row in gaps]
    yield Claim(
        "LogitBoost's responses were clipped later than at 4, or not at all, in the paper.",
        sum(near) > len(CLIP_SETS) / 2 if complete else None,
        f"a later clip is nearer to the paper's figure on {sum(near)} of {len(CLIP_SETS)} sets; mean distances "
        + ", ".join(f"{gap:.1f} at {clip:.0f}" for gap, clip in zip(np.mean(gaps, axis=0), CLIPS, strict=True)),
    )


# ---- Table 9 --------------------------------------------------------------------------------------------------------

ROUNDS = (200, 316, 500, 681, 1000)
ROUND_SETS = ("landsat", "letter", "pendigit", "poker", "optdigit")
ROUND_METHODS = (SAMME, MM, GD_CODEWORD, GD)


def round_cell(plan: Plan, method: Method, name: str) -> Cell:
    """A booster of Table 9 for many rounds."""
    return fit_cell(method.booster, method.options, plan.pick(1000, 60), limited(plan, **SETS[name]), 0)


@experiment("jmlr-rounds", "Table 9 again, with more rounds", urgency=4, explains=True)
def rounds(plan: Plan) -> list[Cell]:
    """Table 9 does not say the rounds. Which number would give its figures, for all boosters at once? The large sets
    without shuttle, where all is nearly perfect, and isolet, whose thousand rounds take too long.
    """
    return [round_cell(plan, method, name) for name in ROUND_SETS for method in ROUND_METHODS]


@rounds.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows, gaps, complete = [], {}, True
    for name in ROUND_SETS:
        for method in ROUND_METHODS:
            result, paper = found.get(round_cell(plan, method, name)), TABLE9.published(method, name)
            complete &= result is not None
            values = [100 - 100 * at(result, t) if result else np.nan for t in ROUNDS]
            gaps[name, method.label] = np.array(values) - paper
            rows.append([f"{name}, {method.label}", *(f"{v:.1f}" if result else "…" for v in values), f"{paper:.1f}"])
    yield Table(["accuracy, %", *(f"T = {t}" for t in ROUNDS), "paper"], rows)
    with_codewords = np.abs([gap for (_, label), gap in gaps.items() if label != GD.label]).mean(axis=0)
    with_vectors = np.abs([gap for (_, label), gap in gaps.items() if label != GD_CODEWORD.label]).mean(axis=0)
    best = int(np.argmin(with_codewords)) if complete else 0
    yield Claim(
        "With codeword leaves about 300 rounds are nearer to the paper's figures than 200; no number fits all of them.",
        bool(with_codewords[best] < with_codewords[0] and 0 < best < 3) if complete else None,
        f"mean distance with codeword leaves {', '.join(f'{v:.1f}' for v in with_codewords)} points for T = "
        f"{', '.join(map(str, ROUNDS))}; with vector leaves {', '.join(f'{v:.1f}' for v in with_vectors)}",
    )
    far = [f"{n}, {label}" for (n, label), gap in gaps.items() if label != GD.label and abs(gap[best]) > 2]
    yield Text(
        f"At T = {ROUNDS[best]} further than two points from the paper's: {', '.join(far) or 'none'}. The paper's "
        "poker figures come from 1000 test rows (standard error 1.6 points), ours from 5000."
    )
