"""Rules on bounds and identities: theorems and formulas on the instances that were tried."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .words import Outcome, Sight, along, listed, rule, tally

OVERLAP = ("highest loss of a right", "lowest loss of a wrong")


def bounded(sight: Sight, rows: Sequence[str], low: float, high: float, columns: Sequence[str] | None) -> Outcome:
    """All values of some rows lie between two bounds."""
    answers: dict[str, bool | None] = {}
    values: list[float] = []
    for row in rows:
        for column in columns or sight.view.columns([row]) or ["…"]:
            value = sight.view[row, column]
            answers[f"{row}, {column}"] = None if value is None else bool(low <= value <= high)
            values += [] if value is None else [value]
    ends = list(dict.fromkeys(f"{value:.4g}" for value in (min(values), max(values)))) if values else []
    span = " to ".join(ends) or "nothing measured"
    outcome = tally(answers, "all")
    far = [name for name, a in answers.items() if a is False]
    return Outcome(outcome.holds, span + (f"; not {listed(far)}" if far else ""))


@rule("exact")
def identity(sight: Sight, rows: Sequence[str], within: float, columns: Sequence[str] | None = None) -> Outcome:
    """What should be zero (or not positive) is at most so large: a theorem on every instance that was tried."""
    return bounded(sight, rows, -np.inf, within, columns)


@rule("qualitative")
def at_most(sight: Sight, rows: Sequence[str], value: float, columns: Sequence[str] | None = None) -> Outcome:
    """All values are at most so large."""
    return bounded(sight, rows, -np.inf, value, columns)


@rule("qualitative")
def at_least(sight: Sight, rows: Sequence[str], value: float, columns: Sequence[str] | None = None) -> Outcome:
    """All values are at least so large."""
    return bounded(sight, rows, value, np.inf, columns)


@rule("exact")
def some_above(sight: Sight, row: str, value: float) -> Outcome:
    """At least one value of the row is above the bound."""
    values = along(sight.view, row)
    if values is None:
        return Outcome(None, "nothing measured")
    return Outcome(max(values) > value, f"largest {max(values):.4g}")


@rule("exact")
def not_negative(sight: Sight, row: str, within: float, above: float) -> Outcome:
    """No value of the row is negative beyond rounding, and at least one is above the bound."""
    values = along(sight.view, row)
    if values is None:
        return Outcome(None, "nothing measured")
    holds = min(values) >= -within and max(values) > above
    return Outcome(holds, f"{min(values):.4g} to {max(values):.4g} (at least one above {above:g} asked for)")


@rule("exact")
def sub_optimal(sight: Sight, least: str, largest: str, within: float, above: float) -> Outcome:
    """What is missed is never negative beyond rounding (row ``least``), and somewhere above the bound (``largest``)."""
    low, high = along(sight.view, least), along(sight.view, largest)
    if low is None or high is None:
        return Outcome(None, "nothing measured")
    columns = zip(sight.view.columns([least]), low, high, strict=True)
    text = "; ".join(f"{column}: {100 * a:.2g} to {100 * b:.2g} % missed in a round" for column, a, b in columns)
    return Outcome(min(low) >= -within and max(high) > above, text)


@rule("exact")
def equal(sight: Sight, row: str, column: str, value: float, within: float = 1e-9) -> Outcome:
    """A value is what the paper says."""
    found = sight.view[row, column]
    text = "nothing measured" if found is None else f"{found:g} (paper {value:g})"
    return Outcome(None if found is None else bool(abs(found - value) <= within), text)


@rule("qualitative")
def near_value(sight: Sight, row: str, column: str, value: float, within: float) -> Outcome:
    """A value is within so much of what the paper says."""
    return equal(sight, row, column, value, within)


@rule("qualitative")
def overlap(sight: Sight, column: str, beside: str, expected: bool) -> Outcome:
    """Losses of right and of wrong decisions overlap, or do not, as the paper expects; ``beside`` is another loss.

    The rows are those of `measured`'s grid "contours".
    """
    found = {name: {row: sight.view[row, name] for row in sight.view.values} for name in (column, beside)}
    known = {name: {row: v for row, v in own.items() if v is not None} for name, own in found.items()}
    if not found[column] or known != found:
        return Outcome(None, "nothing measured")
    highest, lowest = (known[column][f"{words} decision"] for words in OVERLAP)
    texts = [f"{name}: " + ", ".join(f"{row} {v:.3g}" for row, v in own.items()) for name, own in known.items()]
    return Outcome((lowest < highest - 1e-9) is expected, ". Beside it, ".join(texts))


@rule("qualitative")
def between(sight: Sight, row: str, column: str, low: float, high: float) -> Outcome:
    """A value lies between two bounds."""
    return bounded(sight, [row], low, high, [column])


@rule("exact")
def as_printed(sight: Sight, row: str, within: float) -> Outcome:
    """A printed statement has no counter-example; the row holds how far the worst instance is beyond it."""
    outcome = bounded(sight, [row], -np.inf, within, None)
    return Outcome(outcome.holds, f"worst instance beyond the printed statement: {outcome.evidence}")
