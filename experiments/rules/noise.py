"""Rules on label noise and on how errors of several boosters go with the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..grids import View
from .leads import behind
from .words import Need, Outcome, Sight, listed, needed, over, rule, scores, tally


@rule("qualitative")
def gap_shrinks(
    sight: Sight, last: str, rivals: Sequence[str], sets: Sequence[str], begin: str, end: str, need: Need
) -> Outcome:
    """The lead of the best rival over ``last`` is smaller at the end than at the beginning, on so many sets."""

    def lead(view: View, name: str, moment: str) -> float | None:
        found = scores(view, [last, *rivals], f"{name}, {moment}")
        return None if found is None else max(found[1:]) - found[0]

    def answer(view: View, name: str) -> bool | None:
        first, second = lead(view, name, begin), lead(view, name, end)
        return None if first is None or second is None else bool(second < first)

    out = over(sight, answer, list(sets), need)
    known = [x for name in sets if (x := lead(sight.view, name, end)) is not None]
    mean = float(np.mean(known)) if known else np.nan
    holds = out.holds and (bool(mean > 0) if known else None)
    return Outcome(holds, f"smaller on {out.evidence}; mean lead of the best rival at the end {mean:+.2f} points")


@rule("qualitative")
def below_noise(sight: Sight, row: str, leave_out: Sequence[str] = ()) -> Outcome:
    """At every level of noise the error is below the level."""
    answers = {
        column: None if (v := sight.view[row, column]) is None else bool(v < float(column.split()[0]))
        for column in sight.view.columns([row])
        if not column.startswith("0 ") and column not in leave_out
    }
    shown = [f"{v:.1f} at {c}" for c in answers if (v := sight.view[row, c]) is not None]
    return Outcome(tally(answers, "all").holds, ", ".join(shown))


@rule("qualitative")
def parity_beyond(sight: Sight, first: str, second: str, level: float, within: float) -> Outcome:
    """Up to the level ``first`` is at most ``second``; beyond it they are within so many points."""
    answers: dict[str, bool | None] = {}
    notes = []
    for column in sight.view.columns([first]):
        a, b = sight.view[first, column], sight.view[second, column]
        noise = float(column.split()[0])
        if a is None or b is None:
            answers[column] = None
            continue
        answers[column] = bool(a <= b + 0.5 if noise <= level else abs(a - b) <= within)
        notes.append(f"{column}: {a:.1f} and {b:.1f}")
    return Outcome(tally(answers, "all").holds, f"{first} and {second}: " + ", ".join(notes))


@rule("qualitative")
def degrades(sight: Sight, row: str, first: str, second: str, by: float) -> Outcome:
    """The value of the second column is at least so many points above that of the first, beyond noise."""
    a, b = (sight.grid.cells.get(row, {}).get(c) for c in (first, second))
    if a is None or b is None or not a.known or not b.known:
        return Outcome(None, "not measured")
    noise = 2 * np.hypot(a.standard_error, b.standard_error)
    return Outcome(bool(b.mean - a.mean >= max(by, noise)), f"{a.mean:.2f} % at {first}, {b.mean:.2f} % at {second}")


@rule("qualitative")
def faster(sight: Sight, firsts: Sequence[str], last: str, moments: Sequence[str], sets: Sequence[str]) -> Outcome:
    """After each of several moments all of ``firsts`` are below ``last``, on every set; ties do not count."""
    columns = [f"{name}, {moment}" for name in sets for moment in moments]
    out = behind(sight, last, firsts, "all", columns=columns, every=True)
    ties = [c for c in columns if (v := sight.view[last, c]) is not None and v in [sight.view[f, c] for f in firsts]]
    return Outcome(out.holds, out.evidence + (f"; equal on {listed(ties)}" if ties else ""))


@rule("qualitative")
def mostly_below(sight: Sight, first: str, second: str, part: str, value: float) -> Outcome:
    """``first`` has the lower error on at least so many percent of the problems, all moments taken together, as rules
    on tables take them; ties are shown.
    """
    rows = [f"{first} below {second}, {part}", f"{first} equal to {second}, {part}"]
    known, notes = [], []
    for column in sight.view.columns(rows[:1]):
        lower, equal = (sight.view[row, column] for row in rows)
        if lower is None or equal is None:
            return Outcome(None, "not all is measured")
        known.append(lower)
        notes.append(f"{column}: lower on {lower:.1f} %, equal on {equal:.1f} %")
    if not known:
        return Outcome(None, "nothing measured")
    return Outcome(bool(np.mean(known) >= value), f"lower on {np.mean(known):.1f} % in all; {'; '.join(notes)}")


def strictly_lowest(view: View, first: str, rivals: Sequence[str], column: str) -> bool | None:
    """Whether one row is better than all others in a column; ties do not count."""
    found = scores(view, [first, *rivals], column)
    return None if found is None else bool(found[0] > max(found[1:]) + 1e-9)


@rule("qualitative")
def lowest_in_each(
    sight: Sight, first: str, rivals: Sequence[str], need: Need, parts: Sequence[str], own: str
) -> Outcome:
    """In each of several parts of the columns (those whose names begin so) ``first`` is better than all rivals on so
    many. Where the paper's own numbers, those of the part ``own``, fall short of the word, their count is asked for in
    all parts.
    """
    asked, note = None, ""
    columns = {part: [c for c in sight.view.columns([first]) if c.startswith(part)] for part in parts}
    if sight.printed is not None:
        theirs = sum(strictly_lowest(sight.printed, first, rivals, c) is True for c in columns[own])
        word = needed(need, len(columns[own]))
        asked = min(theirs, word)
        note = f"; the paper's own numbers of {own}: {theirs} of {len(columns[own])}"
        note += f", short of its word, so that {theirs} are asked for" if theirs < word else ""
    outcomes = {
        part: tally(
            {c.removeprefix(f"{part}, "): strictly_lowest(sight.view, first, rivals, c) for c in every},
            need if asked is None else asked,
        )
        for part, every in columns.items()
    }
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    text = "; ".join(f"{part}: {o.evidence}" for part, o in outcomes.items())
    return Outcome(verdict, text + note)


@rule("qualitative")
def grows_least(sight: Sight, first: str, rivals: Sequence[str], moments: Sequence[str], need: Need) -> Outcome:
    """After each of several moments the value of ``first`` is the lowest on so many sets."""
    outcomes = {}
    for moment in moments:
        columns = [c for c in sight.view.columns([first]) if c.endswith(f", {moment}")]
        outcomes[moment] = over(sight, lambda view, c: strictly_lowest(view, first, rivals, c), columns, need)
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    return Outcome(verdict, "; ".join(f"{moment}: {o.evidence}" for moment, o in outcomes.items()))


@rule("within noise")
def joint_learners(
    sight: Sight, row: str, joint: Sequence[str], alone: str, value: float, within: float, most: float = 0.0
) -> Outcome:
    """Learners that train the classes together err on at most ``most`` percent, one that does not on so many."""
    answers: dict[str, bool | None] = {c: None if (v := sight.view[row, c]) is None else v <= most for c in joint}
    own = sight.view[row, alone]
    answers[alone] = None if own is None else bool(abs(own - value) <= within)
    shown = ", ".join(f"{c} {v:.1f} %" for c in answers if (v := sight.view[row, c]) is not None)
    return Outcome(tally(answers, "all").holds, shown or "nothing measured")


@rule("qualitative")
def below_in_row(sight: Sight, row: str, lower: str, upper: str) -> Outcome:
    """One value of a row is below another."""
    a, b = sight.view[row, lower], sight.view[row, upper]
    if a is None or b is None:
        return Outcome(None, "nothing measured")
    return Outcome(bool(a < b), f"{lower} {a:.1f} %, {upper} {b:.1f} %")
