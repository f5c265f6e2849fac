"""Where MCBoost's figures and ours part, and why: three Gaussians, Tables 7, 8 and 9 again, with other choices."""

from __future__ import annotations

from collections.abc import Iterator

from .cells import Cell, Results
from .comparison import Comparison, Method, Samples, entry
from .data import test_rows
from .fits import at, fit_cell, limited
from .gaussians import CURVE, SETTINGS, gap_cells
from .grids import Numbers
from .guesses import Shift, explanation
from .jmlr import (
    CD,
    CD_CYCLIC,
    CD_LINEAR,
    CD_LINEAR_CYCLIC,
    CLASSES,
    ECC,
    GD,
    GD_CODEWORD,
    LOGIT,
    MM,
    OVA,
    SAMME,
    SETS,
    SPLITS,
    TABLE7,
    TABLE8,
    TABLE9,
    wins_in_splits,
)
from .nips2011 import accuracies
from .registry import Block, Plan, Table, Text, experiment

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
    gaps = {}
    for label, setting in SETTINGS.items():
        cells = gap_cells(plan, **setting)
        done = [r["gaps"] for r in found.finished(cells)]
        gaps[label] = [Samples(tuple(100 * gap[i] for gap in done), len(cells)) for i in range(len(CURVE))]
    yield Table(
        ["points above the Bayes rule", *(f"T = {t}" for t in CURVE)],
        [[label, *(signed(s) for s in own)] for label, own in gaps.items()],
    )
    within = [label for label, own in gaps.items() if own[CURVE.index(100)].mean <= 1.0]
    yield Text(f"Within a point of the Bayes rule after 100 rounds on average: {'; '.join(within) or 'none'}.")


def signed(gap: Samples) -> str:
    """A difference in points."""
    if not gap.values:
        return "…"
    half = f" ± {gap.half:.2f}" if len(gap.values) > 1 else ""
    return f"{gap.mean:+.2f}{half}" + ("" if gap.complete else f" [{len(gap.values)} of {gap.wanted}]")


# ---- Table 7 --------------------------------------------------------------------------------------------------------

STUMPS = (200, 500, 1000, 2000, 5000)


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
    rows, shifts = [], []
    for name in SETS:
        for method in (ECC, CD_CYCLIC):
            values = [after(plan, found, method, name, n) for n in STUMPS if n <= 200 * CLASSES[name]]
            shown = [f"{v.mean:.1f}" if v.values else "…" for v in values] + [""] * (len(STUMPS) - len(values))
            final, paper = TABLE7.samples(plan, found, method, name), TABLE7.published(method, name)
            rows.append([f"{name}, {method.label}", *shown, entry(final, None), f"{paper:.1f}"])
            if method is ECC:
                shifts.append(Shift(f"ECC on {name}", paper, final, after(plan, found, ECC, name, 1000)))
    yield Table(["accuracy, %", *(f"{n} stumps" for n in STUMPS), "200 per class", "paper"], rows)
    yield explanation("AdaBoost.ECC had 1000 stumps in all, on every set, and not 200 per class", shifts)
    cd = {name: TABLE7.samples(plan, found, CD_CYCLIC, name) for name in SETS}
    ecc = {name: after(plan, found, ECC, name, 1000) for name in SETS}
    known = [name for name in SETS if cd[name].values and ecc[name].values]
    good = [name for name in known if cd[name].mean >= ecc[name].mean - 0.05]
    counts = wins_in_splits(cd, {name: [s] for name, s in ecc.items()}, 0.05)
    single = f"; in single splits of the small sets {counts.min()} to {counts.max()}" if len(counts) else ""
    yield Text(
        f"With 1000 stumps for ECC and 200 per class for CD-MCBoost in turn, the latter is at least as accurate on "
        f"{len(good)} of {len(known)} sets ({', '.join(good)}) on average{single}."
    )


FEW_BINS, MORE_BINS = (2, 3), (5, 10)
CLOSELY = ("segmentation", "shuttle")  # with more numbers of cells
THRESHOLD_METHODS = (OVA, ECC, CD_CYCLIC)


def threshold_sets() -> list[str]:
    """The sets with an official split."""
    return [name for name in SETS if not SETS[name].get("shuffle")]


def bins_of(name: str) -> tuple[int, ...]:
    """The numbers of cells that are tried."""
    return FEW_BINS + MORE_BINS if name in CLOSELY else FEW_BINS


def threshold_cells(plan: Plan, method: Method, name: str, bins: int) -> list[Cell]:
    """A booster of Table 7 on features of few values, one run."""
    given = {name: SETS[name] | {"even_bins": bins}}
    return Comparison("jmlr-table7", given, (method,), CLASSES, 200, quick=0.05).cells_of(plan, method, name)[:1]


@experiment("jmlr-thresholds", "Table 7 again, with few thresholds", urgency=4, explains=True)
def thresholds(plan: Plan) -> list[Cell]:
    """Whether evenly spaced thresholds, which are tried on the conference version too (`nips-thresholds`), explain
    segmentation and shuttle here: features rounded to 2 to 10 cells; the other sets with an official split with 2 and
    3, since they must stay near the paper's.
    """
    return [
        c
        for name in threshold_sets()
        for m in THRESHOLD_METHODS
        for b in bins_of(name)
        for c in threshold_cells(plan, m, name, b)
    ]


@thresholds.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    shifts: dict[int, list[Shift]] = {b: [] for b in FEW_BINS}
    for name in threshold_sets():
        for m in THRESHOLD_METHODS:
            values = {b: accuracies(found, threshold_cells(plan, m, name, b)) for b in bins_of(name)}
            full, paper = TABLE7.samples(plan, found, m, name), TABLE7.published(m, name)
            shown = [entry(values[b], None) if b in values else "" for b in FEW_BINS + MORE_BINS]
            rows.append([f"{name}, {m.label}", *shown, entry(full, None), f"{paper:.1f}"])
            for b in FEW_BINS:
                shifts[b].append(Shift(f"{m.label} on {name}", paper, full, values[b]))
    yield Table(["accuracy, %", *(f"{b} cells" for b in FEW_BINS + MORE_BINS), "all thresholds", "paper"], rows)
    for b in FEW_BINS:
        yield explanation(f"the paper's stumps had {b} evenly spaced cells a feature, on all sets", shifts[b])
    most = found.get(threshold_cells(plan, CD_CYCLIC, "shuttle", 2)[0])
    share = f"{100 * most['majority']:.1f} %" if most else "…"
    yield Text(
        f"The share of shuttle's largest class among the test rows is {share}; the paper has "
        f"{TABLE7.published(CD, 'shuttle'):.1f} for all three boosters, as if they had not begun."
    )


GRIDS = (20, 50, 100)
MIXED = ("shuttle", "vehicle", "vertebral", "segmentation", "ecoli", "breast_tissue")  # features of several scales
GUESSED = 50  # cells


def grids_of(name: str) -> tuple[int, ...]:
    """The numbers of cells that are tried on a set."""
    return GRIDS if name in MIXED else (GUESSED,)


def grid_cells(plan: Plan, method: Method, name: str, bins: int) -> list[Cell]:
    """A booster of Table 7 whose thresholds are the same for all features; one run where the split is given."""
    given = {name: SETS[name] | {"even_bins": bins, "one_grid": True}}
    table = Comparison("jmlr-table7", given, (method,), CLASSES, 200, split_seeds=SPLITS, quick=0.05)
    cells = table.cells_of(plan, method, name)
    return cells if SETS[name].get("shuffle") else cells[:1]


@experiment("jmlr-grid", "Table 7 again, with one grid of thresholds for all features", urgency=4, explains=True)
def one_grid(plan: Plan) -> list[Cell]:
    """Table 7 is far from ours where features have several scales (shuttle, segmentation, breast_tissue, vehicle), and
    near where they have one. So perhaps all features had the same thresholds, evenly spaced between the smallest and
    the largest value of the whole table: 20, 50 or 100 cells. The number 50 was chosen after a look at 10 to 255 cells
    in one split of the sets of several scales, and at 30, 50 and 70 on landsat and pendigit too. What can contradict
    the guess is therefore little: isolet, and the other splits of the small sets. On letter, poker and optdigit, whose
    features have few values, 50 cells keep all thresholds, so that their numbers cannot change.
    """
    return [c for name in SETS for m in THRESHOLD_METHODS for b in grids_of(name) for c in grid_cells(plan, m, name, b)]


PAIRS = [(name, m) for name in SETS for m in THRESHOLD_METHODS]


def grid_shift(plan: Plan, found: Results, name: str, m: Method) -> Shift:
    """What one grid of thresholds does to a number of Table 7."""
    after = accuracies(found, grid_cells(plan, m, name, GUESSED))
    return Shift(f"{m.label} on {name}", TABLE7.published(m, name), TABLE7.samples(plan, found, m, name), after)


def grid_counts(plan: Plan, found: Results) -> tuple[int, int, int]:
    """How many of Table 7's numbers lie where one more run of ours would, with all thresholds and with one grid, of how
    many.
    """
    known = [(name, s) for name, m in PAIRS if (s := grid_shift(plan, found, name, m)).known]
    before, after = (sum(within_noise(n, own, s.paper) for n, s in known for own in [getattr(s, w)]) for w in BOTH)
    return before, after, len(known)


BOTH = ("before", "after")


@one_grid.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name, m in PAIRS:
        shift = grid_shift(plan, found, name, m)
        values = {b: accuracies(found, grid_cells(plan, m, name, b)) for b in grids_of(name)}
        shown = [entry(values[b], None) if b in values else "" for b in GRIDS]
        rows.append([f"{name}, {m.label}", *shown, entry(shift.before, None), f"{shift.paper:.1f}"])
    yield Table(["accuracy, %", *(f"{b} cells" for b in GRIDS), "all thresholds", "paper"], rows)
    shifts = [grid_shift(plan, found, name, m) for name, m in PAIRS]
    yield explanation(f"the paper's stumps had {GUESSED} evenly spaced cells, the same for all features", shifts)
    before, after, n = grid_counts(plan, found)
    yield Text(
        "Two points are little where a test part has 25 to 154 rows. In the interval of one more run of ours (95 %) "
        f"lie {before} of {n} of the paper's numbers with all thresholds, and {after} of them with {GUESSED} cells. "
        "CD-MCBoost takes its coordinates in turn here. AdaBoost.ECC on letter is not concerned, since its features "
        "have one scale; another open guess, 1000 stumps in all, brings it near (`jmlr-stumps`)."
    )


def within_noise(name: str, ours: Samples, paper: float) -> bool:
    """Whether a number of the paper lies where one more run of ours would."""
    given = SETS[name]
    return paper in Numbers(ours.values, ours.wanted, test_rows(given), drawn=bool(given.get("shuffle"))).run


# ---- Table 8 --------------------------------------------------------------------------------------------------------

CLIPS = (4.0, 16.0, 64.0)
CLIP_SETS = ("landsat", "letter", "pendigit", "poker", "optdigit", "shuttle", "segmentation")  # isolet takes hours


def clip_cell(plan: Plan, name: str, clip: float) -> Cell:
    """LogitBoost with responses clipped elsewhere; at 4 the cell of Table 8."""
    if clip == CLIPS[0]:
        return TABLE8.cells_of(plan, LOGIT, name)[0]
    return fit_cell("logit", {"clip": clip}, plan.pick(200, 10), limited(plan, **SETS[name]), 0)


@experiment("jmlr-clip", "Table 8 again, with LogitBoost's responses clipped elsewhere", urgency=4, explains=True)
def clips(plan: Plan) -> list[Cell]:
    """LogitBoost fits regressors to working responses, which its authors advise to clip at 2 to 4, as Table 8 has it
    (at 4). CD-MCBoost, which does without, stands beside it.
    """
    return [clip_cell(plan, name, clip) for name in CLIP_SETS for clip in CLIPS]


@clips.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    shifts: dict[float, list[Shift]] = {clip: [] for clip in CLIPS[1:]}
    for name in CLIP_SETS:
        values = {clip: accuracies(found, [clip_cell(plan, name, clip)]) for clip in CLIPS}
        paper, cd = TABLE8.published(LOGIT, name), TABLE8.samples(plan, found, CD_LINEAR_CYCLIC, name)
        shown = [entry(s, None) for s in values.values()]
        rows.append([name, *shown, f"{paper:.1f}", entry(cd, None), f"{TABLE8.published(CD_LINEAR, name):.1f}"])
        for clip in CLIPS[1:]:
            shifts[clip].append(Shift(f"LogitBoost on {name}", paper, values[CLIPS[0]], values[clip]))
    header = ["paper's LogitBoost", "CD-MCBoost, in turn", "paper's CD-MCBoost"]
    yield Table(["accuracy, %", *(f"clipped at {clip:.0f}" for clip in CLIPS), *header], rows)
    for clip in CLIPS[1:]:
        yield explanation(f"LogitBoost's responses were clipped at {clip:.0f}", shifts[clip])


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
    rows = []
    shifts: dict[int, list[Shift]] = {t: [] for t in ROUNDS[1:]}
    for name in ROUND_SETS:
        for method in ROUND_METHODS:
            result, paper = found.get(round_cell(plan, method, name)), TABLE9.published(method, name)
            values = {t: Samples((100 - 100 * at(result, t),) if result else (), 1) for t in ROUNDS}
            rows.append([f"{name}, {method.label}", *(entry(s, None) for s in values.values()), f"{paper:.1f}"])
            if method is not GD:
                for t in ROUNDS[1:]:
                    shifts[t].append(Shift(f"{method.label} on {name}", paper, values[ROUNDS[0]], values[t]))
    yield Table(["accuracy, %", *(f"T = {t}" for t in ROUNDS), "paper"], rows)
    for t in ROUNDS[1:]:
        yield explanation(f"all boosters of Table 9 made {t} rounds (GD-MCBoost with codeword leaves)", shifts[t])
