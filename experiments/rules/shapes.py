"""Rules on how numbers go along a row: with the rounds, the dimension, the number of classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .words import Need, Outcome, Sight, along, each_row, needed, rule, tally, together


@rule("qualitative")
def rising(sight: Sight, rows: Sequence[str], columns: Sequence[str] | None = None, strict: bool = True) -> Outcome:
    """The values rise from column to column."""

    def answer(row: str) -> bool | None:
        values = along(sight.view, row, columns)
        if values is None:
            return None
        return all(b > a if strict else b >= a for a, b in pairwise(values))

    shown = {row: along(sight.view, row, columns) for row in rows}
    text = "; ".join(f"{row}: " + ("…" if v is None else ", ".join(f"{x:.3g}" for x in v)) for row, v in shown.items())
    return Outcome(each_row(rows, answer).holds, text)


@rule("qualitative")
def rising_in_most(sight: Sight, rows: Sequence[str], columns: Sequence[str], kinds: Sequence[str]) -> Outcome:
    """The values rise from column to column in the mean over all problems and on most kinds of them (rows ``a, kind``).

    A mean over problems of several kinds may rise because one of them does.
    """

    def shown(row: str) -> str:
        values = along(sight.view, row, columns)
        return "…" if values is None else ", ".join(f"{v:.3g}" for v in values)

    outcomes = {}
    for row in rows:
        mean, own = rising(sight, [row], columns), {kind: f"{row}, {kind}" for kind in kinds}
        most = tally({kind: rising(sight, [name], columns).holds for kind, name in own.items()}, "most")
        holds = False if False in (mean.holds, most.holds) else None if None in (mean.holds, most.holds) else True
        each = "; ".join(f"{kind}: {shown(name)}" for kind, name in own.items())
        outcomes[row] = Outcome(holds, f"{shown(row)}, rising on {most.evidence} ({each})")
    return together(outcomes)


@rule("qualitative")
def rising_beside(sight: Sight, rows: Sequence[str], beside: Sequence[str], columns: Sequence[str]) -> Outcome:
    """The values of the rows rise from column to column; other rows are shown, and not judged."""
    own, other = rising(sight, rows, columns), rising(sight, beside, columns)
    return Outcome(own.holds, f"{own.evidence}. Beside it, {other.evidence}")


@rule("qualitative")
def rising_beyond_noise(sight: Sight, row: str, columns: Sequence[str] | None = None) -> Outcome:
    """The values rise from column to column, or fall by less than twice the standard error of the difference."""
    columns = columns or sight.view.columns([row])
    numbers = [sight.grid.cells.get(row, {}).get(c) for c in columns]
    if not numbers or any(n is None or not n.known for n in numbers):
        return Outcome(None, "not all is measured")
    known = [n for n in numbers if n is not None]
    falls = [a.mean - b.mean - 2 * np.hypot(a.standard_error, b.standard_error) for a, b in pairwise(known)]
    text = ", ".join(f"{c}: {n.mean:.1f}" for c, n in zip(columns, known, strict=True))
    return Outcome(max(falls) <= 0 and known[-1].mean > known[0].mean, text)


@rule("qualitative")
def falls_to(sight: Sight, row: str, columns: Sequence[str], below: float) -> Outcome:
    """The values fall from column to column, and the last one is below a bound."""
    values = along(sight.view, row, columns)
    if values is None:
        return Outcome(None, "not all is measured")
    text = ", ".join(f"{c}: {v:.3g}" for c, v in zip(columns, values, strict=True))
    return Outcome(all(b < a for a, b in pairwise(values)) and values[-1] < below, text)


@rule("qualitative")
def not_monotonic(sight: Sight, row: str) -> Outcome:
    """The values rise and fall."""
    values = along(sight.view, row)
    if values is None:
        return Outcome(None, "not all is measured")
    i = int(np.argmax(values))
    columns = sight.view.columns([row])
    text = f"{values[0]:.4f} at {columns[0]}, {values[i]:.4f} at {columns[i]}, {values[-1]:.4f} at {columns[-1]}"
    steps = np.diff(values)
    return Outcome(bool((steps > 0).any() and (steps < 0).any()), text)


def steps_up(sight: Sight, rows: Sequence[str], need: Need) -> Outcome:
    """So many of all single steps from column to column, the last one left out, are upwards."""
    curves = {row: along(sight.view, row) for row in rows}
    if None in curves.values():
        return Outcome(None, "not all is measured")
    answers: dict[str, bool | None] = {}
    for row, values in curves.items():
        for i, (a, b) in enumerate(pairwise((values or [])[:-1])):
            answers[f"{row} {i}"] = b > a
    up = sum(a is True for a in answers.values())
    return Outcome(up >= needed(need, len(answers)), f"{up} of {len(answers)} steps are upwards")


@rule("qualitative")
def steps_up_each(sight: Sight, groups: dict[str, Sequence[str]], need: Need) -> Outcome:
    """`steps_up` in each of several groups of curves by itself."""
    outcomes = {name: steps_up(sight, rows, need) for name, rows in groups.items()}
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    return Outcome(verdict, "; ".join(f"{name}: {o.evidence}" for name, o in outcomes.items()))


@rule("qualitative")
def flat_at_the_end(sight: Sight, rows: Sequence[str], within: float, need: Need) -> Outcome:
    """The last step before d = M − 1 changes accuracy by at most so many points."""

    def answer(row: str) -> bool | None:
        values = along(sight.view, row)
        return None if values is None else bool(values[-2] - values[-3] <= within)

    return each_row(rows, answer, need)


def saturation(values: Sequence[float], within: float) -> int:
    """The dimension from which on accuracy stays within so many points of d = M − 1; values are for d = 2 … M."""
    target = values[-2] - within
    return next(d for d in range(2, len(values) + 2) if all(v >= target - 1e-9 for v in values[d - 2 : -1]))


def saturates_between(sight: Sight, rows: Sequence[str], within: float, low: float, high: float, need: Need) -> Outcome:
    """The dimension from which on accuracy stays so near to d = M − 1 is such a share of the classes."""
    notes = []
    answers: dict[str, bool | None] = {}
    for row in rows:
        values = along(sight.view, row)
        if values is None:
            answers[row] = None
            continue
        part = saturation(values, within) / (len(values) + 1)
        answers[row] = bool(low <= part <= high)
        notes.append(f"{row} {100 * part:.0f} %")
    outcome = tally(answers, need)
    return Outcome(outcome.holds, f"{outcome.evidence}; dimension in percent of M: {', '.join(notes)}")


@rule("qualitative")
def saturates_early(
    sight: Sight, rows: Sequence[str], example: Sequence[str], within: float, low: float, high: float, need: Need
) -> Outcome:
    """So many rows saturate at a share of at most ``high``, and so many of the example rows at ``low`` to ``high``."""
    every = saturates_between(sight, rows, within, 0.0, high, need)
    some = saturates_between(sight, example, within, low, high, need)
    holds = [every.holds, some.holds]
    verdict = False if False in holds else None if None in holds else True
    counted = some.evidence.partition("; dimension")[0]
    text = f"at most {100 * high:.0f} % of M: {every.evidence}. The example, from {100 * low:.0f} % on: {counted}"
    return Outcome(verdict, text)
