"""Rules on label noise and on how errors of several boosters go with the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..grids import View
from .leads import behind
from .words import Need, Outcome, Sight, over, rule, scores, tally


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
def below_noise(sight: Sight, row: str) -> Outcome:
    """At every level of noise the error is below the level."""
    answers = {
        column: None if (v := sight.view[row, column]) is None else bool(v < float(column.split()[0]))
        for column in sight.view.columns([row])
        if not column.startswith("0 ")
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
