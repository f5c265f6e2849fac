"""What came out, in short: a paragraph for every paper and one for all, with numbers computed from the cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import beyond, contest, geist, jmlr, mukherjee, mukherjee_explained, nips2011
from .cells import Results
from .comparison import NEAR, Comparison, Method, Samples, published
from .guesses import Shift
from .registry import Plan
from .statistics import ranks

Short = Callable[[Plan, Results], str]


def ahead(first: dict[str, Samples], *others: dict[str, Samples], error: bool = False) -> str:
    """``n of m sets``: where the first is at least as good as the best of the others, of those that all have run."""
    known = [name for name, s in first.items() if s.values and all(o[name].values for o in others)]
    sign = -1.0 if error else 1.0
    good = 0
    for name in known:
        rivals = [sign * o[name].mean for o in others if not np.isnan(o[name].mean)]
        good += not np.isnan(first[name].mean) and all(sign * first[name].mean >= r - 1e-9 for r in rivals)
    return f"{good} of {len(known)} sets" if known else "no set yet (runs are missing)"


def mean_gap(first: dict[str, Samples], second: dict[str, Samples]) -> str:
    """The mean difference over the sets that both have run, in points."""
    gaps = [first[name].mean - second[name].mean for name in first if first[name].values and second[name].values]
    gaps = [gap for gap in gaps if not np.isnan(gap)]
    return f"{np.mean(gaps):+.1f} points" if gaps else "not known yet"


class Columns:
    """The boosters of a table on all its sets, by method."""

    def __init__(self, table: Comparison, plan: Plan, found: Results) -> None:
        self.own = {m.label: {name: table.samples(plan, found, m, name) for name in table.sets} for m in table.methods}

    def __getitem__(self, method: Method) -> dict[str, Samples]:
        return self.own[method.label]

    def ahead(self, first: Method, *others: Method) -> str:
        """On how many sets a booster is at least as good as all of some others."""
        return ahead(self[first], *(self[m] for m in others))

    def apart(self, first: Method, second: Method) -> str:
        """The mean distance of two boosters over the sets that both have run, in points."""
        pairs = [(s, self[second][name]) for name, s in self[first].items()]
        known = [abs(a.mean - b.mean) for a, b in pairs if a.values and b.values]
        return f"{np.mean(known):.1f} points" if known else "not known yet"

    def gap(self, first: Method, second: Method) -> str:
        """The mean difference of two boosters."""
        return mean_gap(self[first], self[second])


def nips(plan: Plan, found: Results) -> str:
    """NIPS 2011."""
    t = nips2011
    one, two = Columns(t.TABLE1, plan, found), Columns(t.TABLE2, plan, found)
    rivals = (t.M1, t.SAMME, t.COST)
    fair = (t.MH_SINGLE, t.MH_HAMMING_ALL, t.MH)
    mh = "; ".join(f"{m.label.removeprefix('MH, ')}: {one.ahead(m, t.CD_CYCLIC)}" for m in fair)
    return (
        "Trees of depth 2: GD-MCBoost is at least as accurate as M1, SAMME and AdaBoost-Cost with the edge step on "
        f"{two.ahead(t.GD_CODEWORD, *rivals)} with codeword leaves and on {two.ahead(t.GD, *rivals)} with vector "
        "leaves (the paper: all six). With codeword leaves it is AdaBoost-Cost with the exact step "
        f"({two.apart(t.GD_CODEWORD, t.COST_EXACT)} apart on average), so that the printed lead is that of a step. "
        f"Stumps: CD-MCBoost in turn is at least as accurate as one-vs-all on {one.ahead(t.CD_CYCLIC, t.OVA)} (the "
        "paper: five). AdaBoost.MH, printed as the worst by far, answers one class everywhere if it is built as "
        "Section 4 describes it, whatever the data (the proof is below, with Table 1). With equally many learners of a "
        f"kind that can work it is at least as accurate as CD-MCBoost in turn: {mh}."
    )


def journal(plan: Plan, found: Results) -> str:
    """The journal version."""
    t = jmlr
    seven, eight, nine = (Columns(table, plan, found) for table in (t.TABLE7, t.TABLE8, t.TABLE9))
    return (
        "Trees of depth 2 (Table 9): GD-MCBoost with vector leaves is at least as accurate as M1, SAMME and MM with "
        f"the edge step on {nine.ahead(t.GD, t.M1, t.SAMME, t.MM)} (the paper: ten), {nine.gap(t.GD, t.MM)} from MM on "
        "average; with MM's exact step among the rivals on "
        f"{nine.ahead(t.GD, t.M1, t.SAMME, t.MM, t.MM_EXACT)}. With codeword leaves it is MM with the exact step "
        f"({nine.apart(t.GD_CODEWORD, t.MM_EXACT)} apart): MM is no sub-optimal special case but the same booster with "
        "another step. Stumps (Table 7), equally many for all: CD-MCBoost with the best coordinate, the journal's, is "
        f"at least as accurate as one-vs-all on {seven.ahead(t.CD, t.OVA)} (the paper: ten) and as AdaBoost.ECC on "
        f"{seven.ahead(t.CD, t.ECC)} (the paper: nine); in turn, the conference's, on "
        f"{seven.ahead(t.CD_CYCLIC, t.OVA)} and {seven.ahead(t.CD_CYCLIC, t.ECC)}. Regressors (Table 8): CD-MCBoost "
        f"minus LogitBoost is {eight.gap(t.CD_LINEAR, t.LOGIT)} with the best coordinate and "
        f"{eight.gap(t.CD_LINEAR_CYCLIC, t.LOGIT)} in turn."
    )


def theory(plan: Plan, found: Results) -> str:
    """Mukherjee and Schapire."""
    from .ledger import FAILS, VERDICTS, load, verdicts  # reads all claims, and so all experiments

    many = [n for n in mukherjee.SETS if n not in mukherjee.TWO_CLASSES]
    five = {
        m: {n: mukherjee.samples(found, mukherjee.figure11_cells(plan, n)[m]) for n in many}
        for m in mukherjee.FIGURE10_METHODS
    }
    large = {
        m: {n: mukherjee.samples(found, mukherjee.figure8_cells(plan, n)[m]) for n in mukherjee.SETS}
        for m in mukherjee.FIGURE8_METHODS
    }
    own = [e for e in load() if e.paper == "mukherjee" and e.kind == "paper" and e.place.startswith("Section 10")]
    grades = [v.grade for _, v in verdicts(plan, found, own)]
    held, failed = sum(g in VERDICTS[:3] for g in grades), grades.count(FAILS)
    off = {
        n: large["MM"][n].mean - paper
        for n in mukherjee.SETS
        if large["MM"][n].values and (paper := published("mukherjee-fig8", "AdaBoost.MM", n)) is not None
    }
    far = [n for n in off if abs(off[n]) > 10 and n not in mukherjee_explained.ORDERED]
    also = f" MM is far off on {', '.join(f'{n} ({off[n]:+.1f})' for n in far)} too." if far else ""
    return (
        "With trees of five leaves, too weak for what M1 and MH ask, AdaBoost.MM has the lowest error on "
        f"{ahead(five['MM'], five['M1'], five['MH'], error=True)} of more than two classes (ties count; with two "
        f"classes MM and MH are the same). Of the claims of Section 10 that are judged {held} of {held + failed} hold. "
        f"With large trees (Figure 8) MM minus M1 is {mean_gap(large['MM'], large['M1'])} of error on average. MM errs "
        f"at most as often as MH with stumps on {ahead(large['MM'], large['MH'], error=True)}. Single printed errors "
        f"are often far from ours, most on car, nursery and connect4.{also} `mukherjee-order` puts two guesses to the "
        "test. The first is that the rows of these three sets were split in the order of their files: "
        f"{moved(mukherjee_explained.order_shifts(plan, found))}. The second is that MM ended with its first tree: "
        f"{moved(mukherjee_explained.tree_shifts(plan, found))}. The potentials and degrees of the games are computed "
        "exactly."
    )


def moved(shifts: Sequence[Shift]) -> str:
    """How many numbers a guess brings near those of a paper, and how many that were near it leaves there."""
    known = [s for s in shifts if s.before.values and s.after.values]
    near = [s for s in known if abs(s.before.mean - s.paper) <= NEAR]
    far = [s for s in known if abs(s.before.mean - s.paper) > NEAR]
    now, still = (sum(abs(s.after.mean - s.paper) <= NEAR for s in some) for some in (far, near))
    return f"{now} of {len(far)} far numbers come within two points, {still} of {len(near)} near ones stay there"


def soft(plan: Plan, found: Results) -> str:
    """Geist."""

    def errors(noise: float) -> dict[str, dict[str, Samples]]:
        return {
            m: {n: geist.errors_at(plan, found, m, n, noise, geist.rounds_of(plan, n)) for n in geist.SETS}
            for m in geist.METHODS
        }

    clean, noisy = errors(0.0), errors(0.2)
    sm, rivals = "sm-boost", ("AdaBoost.MH", "SAMME")
    test = geist.madelon_errors(plan, found, "test")
    shares = {m: 100 * geist.share(test[sm][:, -1] < test[m][:, -1]) for m in rivals}
    words = " and ".join(f"{v:.0f} % than {m}" for m, v in shares.items() if not np.isnan(v)) or "not known yet"
    perfect = {m: geist.perfect_draws(geist.draws(plan, found, m, 0.0)) for m in geist.SHOWN}
    return (
        "The main finding is that sm-boost is behind on clean labels and ahead on corrupted ones. After the last round "
        "it has the lowest error of the three with a fifth of the labels corrupted on "
        f"{ahead(noisy[sm], *(noisy[m] for m in rivals), error=True)}, and without noise on "
        f"{ahead(clean[sm], *(clean[m] for m in rivals), error=True)} (the paper: six and one of eight). Synthetic "
        f"problems, said to go in sm-boost's favour for many rounds: its test error is lower on {words} "
        f"({len(test[sm])} problems). Long and Servedio's problem without noise, where all boosters are said to be "
        f"perfect: draws with an error below {geist.PERFECT} % are "
        f"{', '.join(f'{n} ({m})' for m, n in perfect.items())}. Open: SAMME on segment and vowel, which ends with one "
        "perfect tree here (`geist-samme`)."
    )


def lecture(plan: Plan, found: Results) -> str:
    """Rousu's slides."""
    return (
        "The slides' three examples are computed again: where one-versus-all must fail, where votes of pairs tie, and "
        "how an output code is decoded; the code on the slide has a minimum distance that corrects no error."
    )


def further(plan: Plan, found: Results) -> str:
    """Beyond the papers."""
    known, scores = contest.complete_scores(contest.errors_of_all(plan, found, same_time=False))
    words = "no two sets have been run by all boosters yet"
    if len(known) > 1:
        listed = sorted(zip(ranks(scores), contest.CONTESTANTS, strict=True))[:5]
        words = f"over {len(known)} sets the best mean ranks are {', '.join(f'{c} {r:.1f}' for r, c in listed)}"
    lower = {loss: beyond.below_logistic(plan, found, loss) for loss in beyond.LOSSES[1:]}
    losses = ", ".join(f"{loss} has the lower error on {won} of {n} sets" for loss, (won, n) in lower.items())
    return (
        f"With the same number of trees of the same size for all {len(contest.CONTESTANTS)} boosters, {words}. Which "
        f"loss under label noise: at 20 %, beside the logistic loss, {losses}. Codewords, steps and dimensions have "
        "their sections below."
    )


SHORT: dict[str, Short] = {
    "nips": nips,
    "jmlr": journal,
    "mukherjee": theory,
    "geist": soft,
    "lecture": lecture,
    "beyond": further,
}


def opening(plan: Plan, found: Results, counts: Sequence[tuple[str, str]]) -> str:
    """The top of the page: what was done, what came out, what it teaches."""
    lines = "\n".join(f"- {title}: {words}." for title, words in counts)
    nine, seven = Columns(jmlr.TABLE9, plan, found), Columns(jmlr.TABLE7, plan, found)
    noisy, clean = (beyond.below_logistic(plan, found, "softmax-cost", level) for level in (0.2, 0.0))
    savage = beyond.below_logistic(plan, found, "savage")
    return (
        "Five documents on multiclass boosting were read statement by statement, what they measured was measured "
        "again, and every statement was judged by a rule that stands beside it. Of the claims of their "
        f"experimental sections:\n\n{lines}\n\n"
        "What a student may take home:\n\n"
        "1. *A booster must ask of its weak learner what that can give.* M1 wants every tree to be right on half of "
        "the weight, MH wants an answer for every class; MM asks for a little less cost than guessing. That is why it "
        "goes on with trees of five leaves (Mukherjee and Schapire, Figure 11).\n"
        "2. *Much of what is printed as a difference of algorithms is one of steps.* GD-MCBoost with codewords in its "
        "leaves and AdaBoost.MM with the exact step are the same booster; the exact step gains "
        f"{nine.gap(jmlr.MM_EXACT, jmlr.MM)} of accuracy over the edge step on average, vectors in the leaves another "
        f"{nine.gap(jmlr.GD, jmlr.GD_CODEWORD)} (Table 9's sets).\n"
        "3. *Count learners before comparing.* With equally many stumps AdaBoost.ECC is at least as accurate as "
        f"CD-MCBoost in turn on {seven.ahead(jmlr.ECC, jmlr.CD_CYCLIC)}; the paper prints six of twelve, and does not "
        "say how many stumps each had.\n"
        "4. *Which loss pays depends on the noise.* "
        f"With a fifth of the labels permuted the soft-max cost has a lower error than the logistic loss on {noisy[0]} "
        f"of {noisy[1]} sets, without noise on {clean[0]} of {clean[1]}; Savage, which is not convex either, on "
        f"{savage[0]} of {savage[1]} with noise (`beyond-noise`).\n"
        "5. *Read the description of the rival.* AdaBoost.MH with stumps on pairs of example and class gives one "
        "answer everywhere, whatever is learned (`nips-table1`)."
    )
