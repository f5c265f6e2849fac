"""The ledger of claims: what the papers say, the rule by which each statement is judged, and the verdict.

``claims/*.toml`` holds the statements, one file a paper. A statement is of one kind, and kinds are never added up:

- paper: a quantitative or comparative statement of an experimental section
- theorem: a theorem, lemma or printed formula with a side that can be computed
- check: a statement of ours that our own programs are asked

Our explanations of the papers' figures are no statements of a paper; they stand in the experiments that look for them.

Rules are written into the ledger before the numbers are looked at; `rules` computes them from `measured`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from . import measured, papers  # noqa: F401  register the grids and the experiments
from .cells import Results
from .grids import SOURCES, Grid, View, means, moved, printed, read
from .registry import EXPERIMENTS, PAPERS, Plan
from .rules import GRADES, RULES, Outcome, Sight, bound

KINDS = {
    "paper": "the papers' claims",
    "theorem": "theorems and formulas",
    "check": "our checks",
}
UNTESTABLE, WAITING, FAILS = "cannot be tested", "not yet run", "fails"
VERDICTS = ("exact", "within noise", "qualitative", FAILS, UNTESTABLE, WAITING)
FOLDER = Path(__file__).with_name("claims")
DRAWS = 200  # of the numbers moved by their noise, for the confidence


@dataclass(frozen=True)
class Entry:
    """A statement.

    Attributes
    ----------
    id : unique; begins with the paper's key
    paper : key of `registry.PAPERS`
    kind : key of `KINDS`
    place : section, table, figure, equation
    says : the sense of the words
    rule : how it is judged, in words
    experiments : names of the experiments that the numbers come from
    numbers : the grid in `measured`
    judge, given : the rule's function in `rules`, and its arguments
    also : other places that say the same
    untestable : why it cannot be judged, instead of a judge
    note : what the reader should know beside the verdict, such as an erratum
    """

    id: str
    paper: str
    kind: str
    place: str
    says: str
    rule: str = ""
    experiments: tuple[str, ...] = ()
    numbers: str = ""
    judge: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    untestable: str = ""
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the numbers say of a statement.

    Attributes
    ----------
    grade : one of `VERDICTS`
    evidence : our numbers in words
    confidence : "high" where the verdict stays the same in at least 95 % of draws of the numbers within their noise,
        "medium" in at least 75 %, else "low"; numbers that are computed, not drawn, give "high", a single draw gives
        "low"; "" where there is no verdict
    runs : cells that are there and that are wanted
    """

    grade: str
    evidence: str = ""
    confidence: str = ""
    runs: tuple[int, int] = (0, 0)


# ---- loading --------------------------------------------------------------------------------------------------------


@lru_cache
def load(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """All statements, checked."""
    entries = [
        Entry(**{"paper": path.stem} | given | {key: tuple(given.get(key, ())) for key in ("experiments", "also")})
        for path in sorted(folder.glob("*.toml"))
        for given in tomllib.loads(path.read_text())["claim"]
    ]
    for entry in entries:
        check(entry)
    twice = [i for i, n in Counter(e.id for e in entries).items() if n > 1]
    twice += [i for i, n in Counter(" ".join(e.says.lower().split()) for e in entries).items() if n > 1]
    if twice:
        raise ValueError(f"statements stand twice in the ledger: {', '.join(twice)}.")
    return tuple(sorted(entries, key=lambda e: list(PAPERS).index(e.paper)))


def check(entry: Entry) -> None:
    """Raise where a statement is not complete, or names what is not there."""
    wrong = []
    if entry.paper not in PAPERS or not entry.id.startswith(f"{entry.paper}-"):
        wrong.append(f"paper {entry.paper!r} is unknown or its id does not begin with it")
    if entry.kind not in KINDS:
        wrong.append(f"kind {entry.kind!r} is none of {', '.join(KINDS)}")
    if not (entry.place and entry.says):
        wrong.append("it needs a place and the sense of the words")
    if bool(entry.untestable) == bool(entry.judge):
        wrong.append("it needs either a judge or the reason why it cannot be tested")
    if entry.judge and not (entry.rule and entry.judge in RULES and entry.numbers in SOURCES and entry.experiments):
        wrong.append(f"judge {entry.judge!r}, numbers {entry.numbers!r}, its rule or its experiments are missing")
    wrong += [f"experiment {name!r} is unknown" for name in entry.experiments if name not in EXPERIMENTS]
    if wrong:
        raise ValueError(f"claim {entry.id!r}: {'; '.join(wrong)}.")


# ---- judging --------------------------------------------------------------------------------------------------------


def judge(entry: Entry, plan: Plan, found: Results) -> Verdict:
    """The verdict on a statement."""
    if entry.untestable:
        return Verdict(UNTESTABLE, entry.untestable)
    return judged(entry, read(entry.numbers, plan, found))


def judged(entry: Entry, given: Grid) -> Verdict:
    """The verdict from a grid."""
    view = means(given)
    outcome = seen(entry, given, view)
    if outcome.empty:
        return Verdict(UNTESTABLE, outcome.evidence, runs=given.runs)
    if outcome.holds is None:
        return Verdict(WAITING, outcome.evidence, runs=given.runs)
    grade = GRADES[entry.judge] if outcome.holds else FAILS
    return Verdict(grade, outcome.evidence, confidence(entry, given, outcome.holds), given.runs)


def seen(entry: Entry, given: Grid, view: View) -> Outcome:
    """What the rule says of some values."""
    return bound(entry.judge, entry.given)(Sight(view, given, printed(given)))


def confidence(entry: Entry, given: Grid, holds: bool) -> str:
    """How often the verdict stays the same when all numbers are moved by their noise."""
    known = [n for row in given.cells.values() for n in row.values() if n.known]
    if all(n.standard_error == 0 for n in known):
        return "high" if all(n.sure for n in known) else "low"  # computed, or a single draw
    rng = np.random.default_rng(0)
    same = np.mean([seen(entry, given, view).holds is holds for view in moved(given, DRAWS, rng)])
    return "high" if same >= 0.95 else "medium" if same >= 0.75 else "low"


def verdicts(plan: Plan, found: Results, entries: Sequence[Entry] | None = None) -> list[tuple[Entry, Verdict]]:
    """All statements with their verdicts; every grid is read once."""
    entries = load() if entries is None else entries
    grids = {name: read(name, plan, found) for name in {e.numbers for e in entries if e.judge}}
    return [(e, judged(e, grids[e.numbers]) if e.judge else judge(e, plan, found)) for e in entries]


def of_experiment(name: str, judged_all: Sequence[tuple[Entry, Verdict]]) -> list[tuple[Entry, Verdict]]:
    """The statements that are judged from an experiment, under the first experiment they name."""
    return [(e, v) for e, v in judged_all if e.experiments and e.experiments[0] == name]


def counts(judged_all: Sequence[tuple[Entry, Verdict]], kind: str, paper: str | None = None) -> Counter[str]:
    """How many statements of one kind (and paper) have which verdict."""
    return Counter(v.grade for e, v in judged_all if e.kind == kind and paper in (None, e.paper))


# ---- reporting ------------------------------------------------------------------------------------------------------


def in_words(found: Counter[str]) -> str:
    """Counts as a sentence: ``7 of 9 hold (5 qualitative, 2 within noise); 1 fails; …``."""
    held = [(v, found[v]) for v in VERDICTS[:3] if found[v]]
    judged_count = sum(n for _, n in held) + found[FAILS]
    parts = [f"{sum(n for _, n in held)} of {judged_count} hold"]
    parts[0] += f" ({', '.join(f'{n} {v}' for v, n in held)})" if held else ""
    parts += [f"{found[v]} {v}" for v in (UNTESTABLE, WAITING) if found[v]]
    return "; ".join(parts)


def row_of(entry: Entry, verdict: Verdict) -> list[str]:
    """A line of the table."""
    place = entry.place + (f" (also {', '.join(entry.also)})" if entry.also else "")
    says = entry.says + (f" *{entry.note}*" if entry.note else "")
    have, want = verdict.runs
    runs = f" [{have} of {want} runs]" if have < want else ""
    grade = f"**{verdict.grade}**" if verdict.grade == FAILS else verdict.grade
    return [place, says, entry.rule or "–", verdict.evidence + runs, grade, verdict.confidence or "–"]


LEGEND = """Each statement of a paper is judged by a rule made from the paper's words, in their own strength:
“consistently” and “all” mean every set, “almost always” all but a tenth, “most”, “usually” and “generally” more than
half, “often” a third. Where the paper's own table has fewer than its word says, as many as the table has are asked for,
and the evidence says so. Where a statement says which of two numbers is lower, sets on which they are equal are left
out. What is said of cases that our numbers do not have cannot be tested. *Exact*: the number or identity itself;
*within noise*: the printed number lies where one more run of ours would; *qualitative*: the order or shape; *fails*:
not so. A number counts as measured when half of its runs are there. Confidence is high where the verdict stays the same
in 95 % of draws of our numbers within their noise, medium in 75 %, else low; numbers that are computed, not drawn, give
high, a single draw low. Those who wrote the rules knew an audit of an earlier version of this page, some thresholds are
that version's, and referees' readings of the papers changed rules after the first verdicts: of {n} statements that are
judged {changed} say so, and why, in the note beside them. Numbers such as E-07 are those of the errata
(docs/errata.md)."""


def legend() -> str:
    """How verdicts are to be read."""
    judged_ones = [e for e in load() if e.judge]
    changed = sum(bool(re.search(r"earlier|rule first", e.note)) for e in judged_ones)
    return LEGEND.format(n=len(judged_ones), changed=changed)


HEADER = ["place", "what it says", "rule", "our numbers", "verdict", "confidence"]
