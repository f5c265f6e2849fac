"""Rules on label noise and on how errors of several boosters go with the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..grids import View
from .leads import behind
from .words import EQUAL, Answer, Need, Outcome, Sight, better, needed, over, rule, scores, tally, together


@rule("qualitative")
def gap_shrinks(
    sight: Sight, last: str, rivals: Sequence[str], sets: Sequence[str], begin: str, end: str, need: Need
) -> Outcome:
    """The lead of the best rival over ``last`` is smaller at the end than at the beginning, on so many sets."""

    def lead(view: View, name: str, moment: str) -> float | None:
        found = scores(view, [last, *rivals], f"{name}, {moment}")
        return None if found is None else max(found[1:]) - found[0]

    def answer(view: View, name: str) -> Answer:
        first, second = lead(view, name, begin), lead(view, name, end)
        return None if first is None or second is None else better(first, second)

    out = over(sight, answer, list(sets), need)
    known = [x for name in sets if (x := lead(sight.view, name, end)) is not None]
    mean = float(np.mean(known)) if known else np.nan
    holds = out.holds and (bool(mean > 0) if known else None)
    return Outcome(
        None if out.empty else holds,
        f"smaller on {out.evidence}; mean lead of the best rival at the end {mean:+.2f} points",
    )


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
    """After each of several moments all of ``firsts`` are below ``last``, on every set."""
    columns = [f"{name}, {moment}" for name in sets for moment in moments]
    return behind(sight, last, firsts, "all", columns=columns, every=True)


@rule("qualitative")
def mostly_below(sight: Sight, first: str, second: str, part: str, value: float) -> Outcome:
    """``first`` has the lower error on at least so many percent of the problems on which the two are not equal, all
    moments taken together, as rules on tables take them.
    """
    rows = [f"{first} below {second}, {part}", f"{first} equal to {second}, {part}"]
    below, apart, notes = 0.0, 0.0, []
    for column in sight.view.columns(rows[:1]):
        lower, equal = (sight.view[row, column] for row in rows)
        if lower is None or equal is None:
            return Outcome(None, "not all is measured")
        below, apart = below + lower, apart + 100.0 - equal
        notes.append(f"{column}: lower on {lower:.1f} %, equal on {equal:.1f} %")
    if not notes:
        return Outcome(None, "nothing measured")
    if apart <= 0:
        return Outcome(None, "; ".join(notes), empty=True)
    share = 100 * below / apart
    return Outcome(share >= value, f"lower on {share:.1f} % of all that are not equal; {'; '.join(notes)}")


def lowest(view: View, first: str, rivals: Sequence[str], column: str) -> Answer:
    """Whether one row is better than all others in a column, `EQUAL` where it is as good as the best of them."""
    found = scores(view, [first, *rivals], column)
    return None if found is None else better(found[0], max(found[1:]))


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
        answers = [lowest(sight.printed, first, rivals, c) for c in columns[own]]
        theirs = answers.count(True)
        word = needed(need, len(answers) - answers.count(EQUAL))
        asked = min(theirs, word)
        note = f"; the paper's own numbers of {own}: {theirs} of {len(columns[own])}"
        note += f", short of its word, so that {theirs} are asked for" if theirs < word else ""
    outcomes = {
        part: tally(
            {c.removeprefix(f"{part}, "): lowest(sight.view, first, rivals, c) for c in every},
            need if asked is None else asked,
        )
        for part, every in columns.items()
    }
    out = together(outcomes)
    return Outcome(out.holds, out.evidence + note, out.empty)


@rule("qualitative")
def grows_least(
    sight: Sight, first: str, rivals: Sequence[str], moments: Sequence[str], need: Need, beside: str = ""
) -> Outcome:
    """After each of several moments the value of ``first`` is the lowest on so many sets.

    Other values of all boosters (rows ``first, beside``) are shown, and not judged.
    """

    def counted(rows: Sequence[str]) -> Outcome:
        outcomes = {}
        for moment in moments:
            columns = [c for c in sight.view.columns(rows[:1]) if c.endswith(f", {moment}")]
            outcomes[moment] = over(sight, lambda view, c: lowest(view, rows[0], rows[1:], c), columns, need)
        return together(outcomes)

    out = counted([first, *rivals])
    if not beside:
        return out
    other = counted([f"{row}, {beside}" for row in (first, *rivals)])
    return Outcome(out.holds, f"{out.evidence}. Beside it, {beside}: {other.evidence}", out.empty)


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
