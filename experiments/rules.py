"""The rules by which claims are judged. They see one value per row and column, and answer yes, no, or not yet.

Words have fixed strengths (`needed`): "all" and "consistently" mean every set, "almost always" all but a tenth (at
least one may be missing), "most", "usually" and "generally" more than half, "often" at least a third. Where the paper's
own table falls short of its word, the count of that table is asked for instead, and the evidence says so.

What has not been measured counts neither way: a rule answers only if no outcome of the missing runs could change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .grids import Grid, View
from .statistics import ranks, wilcoxon

Need = int | str


@dataclass(frozen=True)
class Outcome:
    """Whether the claim holds (None: too little is measured), and by which numbers."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Sight:
    """What a rule sees: our means, the grid they come from, and the paper's numbers if it prints them."""

    view: View
    grid: Grid
    printed: View | None = None


Rule = Callable[..., Outcome]
RULES: dict[str, Rule] = {}
GRADES: dict[str, str] = {}


def rule(grade: str) -> Callable[[Rule], Rule]:
    """Registers a rule with the grade of a claim that it finds to hold."""

    def register(function: Rule) -> Rule:
        RULES[function.__name__], GRADES[function.__name__] = function, grade
        return function

    return register


def needed(need: Need, total: int) -> int:
    """How many of so many a word asks for.

    Examples
    --------
    >>> [needed(word, 12) for word in ("consistently", "almost always", "most", "often", 9)]
    [12, 11, 7, 4, 9]
    """
    match need:
        case int():
            return need
        case "all" | "consistently":
            return total
        case "almost always":
            return total - max(1, total // 10)
        case "most" | "usually" | "generally":
            return total // 2 + 1
        case "often":
            return -(-total // 3)
    raise ValueError(f"need={need!r} is unknown; choose a number or one of 'all', 'almost always', 'most', 'often'.")


def tally(answers: dict[str, bool | None], need: Need, own: dict[str, bool | None] | None = None) -> Outcome:
    """Holds where enough of the answers are yes; ``own`` are the answers that the paper's own numbers give."""
    asked = needed(need, len(answers))
    note = ""
    if own:
        count = sum(a is True for a in own.values())
        note = f"; the paper's own numbers: {count} of {len(own)}"
        if count < asked and not isinstance(need, int):
            note += f", short of its word, so that {count} are asked for"
            asked = count
    yes = [name for name, a in answers.items() if a is True]
    no = [name for name, a in answers.items() if a is False]
    unknown = len(answers) - len(yes) - len(no)
    holds = True if len(yes) >= asked else False if len(yes) + unknown < asked else None
    text = f"{len(yes)} of {len(answers)} ({asked} asked for)"
    text += f"; not {listed(no)}" if no else ""
    text += f"; {unknown} not measured" if unknown else ""
    return Outcome(holds, text + note)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def over(sight: Sight, answer: Callable[[View, str], bool | None], columns: Sequence[str], need: Need) -> Outcome:
    """The answers over columns, and those of the paper's own numbers where they tell."""
    own: dict[str, bool | None] | None = None
    if sight.printed is not None:
        own = {c: answer(sight.printed, c) for c in columns}
        own = None if None in own.values() else own
    return tally({c: answer(sight.view, c) for c in columns}, need, own)


def scores(view: View, rows: Iterable[str], column: str) -> list[float] | None:
    """Higher is better; None where one is not known."""
    found = [view.score(row, column) for row in rows]
    return None if any(s is None for s in found) else [float(s) for s in found if s is not None]


# ---- which booster is ahead -----------------------------------------------------------------------------------------


@rule("qualitative")
def ahead(
    sight: Sight,
    first: str,
    rivals: Sequence[str],
    need: Need,
    slack: float = 0.0,
    columns: Sequence[str] | None = None,
    beside: str | None = None,
) -> Outcome:
    """``first`` is at least as good as every rival, less ``slack``, on so many columns; ``beside`` is shown as well."""

    def answer(view: View, column: str, row: str = first) -> bool | None:
        found = scores(view, [row, *rivals], column)
        return None if found is None else bool(found[0] >= max(found[1:]) - slack - 1e-9)

    columns = columns or sight.view.columns([first])
    out = over(sight, answer, columns, need)
    if beside is None:
        return out
    other = tally({c: answer(sight.view, c, beside) for c in columns}, need)
    return Outcome(out.holds, f"{first}: {out.evidence}. Beside it, {beside}: {other.evidence}")


@rule("qualitative")
def behind(
    sight: Sight,
    last: str,
    rivals: Sequence[str],
    need: Need,
    columns: Sequence[str] | None = None,
    every: bool = False,
) -> Outcome:
    """Some rival (``every``: each of them) is better than ``last`` on so many columns."""

    def answer(view: View, column: str) -> bool | None:
        found = scores(view, [last, *rivals], column)
        if found is None:
            return None
        best = min(found[1:]) if every else max(found[1:])
        return bool(best > found[0] + 1e-9)

    return over(sight, answer, columns or sight.view.columns([last]), need)


@rule("qualitative")
def all_ahead(sight: Sight, firsts: Sequence[str], rival: str, need: Need) -> Outcome:
    """Each of ``firsts`` is better than the rival on so many columns."""
    return behind(sight, rival, firsts, need, every=True)


@rule("qualitative")
def every_reading_behind(sight: Sight, rows: Sequence[str], rival: str, need: Need) -> Outcome:
    """Every one of several readings of a booster is behind the rival on so many columns."""
    outcomes = {row: behind(sight, row, [rival], need) for row in rows if row in sight.grid.cells}
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds or not holds else True
    return Outcome(verdict, "; ".join(f"{row}: {o.evidence}" for row, o in outcomes.items()))


@rule("qualitative")
def most_wins(sight: Sight, rows: Sequence[str], at_least: int = 0) -> Outcome:
    """The rows have more wins (ties count for all that share them) the earlier they come; the first has so many."""
    counts = win_counts(sight.view, rows)
    if counts is None:
        return Outcome(None, "not all is measured")
    text = ", ".join(f"{row} {n}" for row, n in zip(rows, counts, strict=True))
    falling = all(a > b for a, b in pairwise(counts))
    return Outcome(counts[0] >= at_least and falling, f"sets on which it is best: {text}")


def win_counts(view: View, rows: Sequence[str]) -> list[int] | None:
    """On how many columns each row is the best."""
    found = [scores(view, rows, c) for c in view.columns(rows)]
    if not found or None in found:
        return None
    table = np.array(found)
    return [int(n) for n in (table >= table.max(axis=1, keepdims=True) - 1e-9).sum(axis=0)]


@rule("qualitative")
def rank_order(sight: Sight, rows: Sequence[str]) -> Outcome:
    """The mean ranks over columns rise from the first row to the last."""
    found = [scores(sight.view, rows, c) for c in sight.view.columns(rows)]
    if not found or None in found:
        return Outcome(None, "not all is measured")
    mean = ranks(np.array(found))
    text = ", ".join(f"{row} {r:.2f}" for row, r in zip(rows, mean, strict=True))
    return Outcome(all(a < b for a, b in pairwise(mean)), f"mean ranks: {text}")


@rule("qualitative")
def gains(sight: Sight, first: str, rivals: Sequence[str], printed: dict[str, float], share: float = 0.5) -> Outcome:
    """On the named columns ``first`` is ahead of the best rival by at least a share of what the paper prints."""
    answers: dict[str, bool | None] = {}
    notes = []
    for column, gain in printed.items():
        found = scores(sight.view, [first, *rivals], column)
        ours = None if found is None else found[0] - max(found[1:])
        answers[column] = None if ours is None else bool(ours >= share * gain)
        notes.append(f"{column} {'…' if ours is None else f'{ours:+.1f}'} (paper {gain:+.1f})")
    return Outcome(tally(answers, "all").holds, "points ahead: " + ", ".join(notes))


@rule("qualitative")
def ahead_by(
    sight: Sight, first: str, rivals: Sequence[str], need: Need, by: float, leave_out: Sequence[str] = ()
) -> Outcome:
    """``first`` is the best on so many columns, and on average at least ``by`` points ahead of the best rival."""
    columns = [c for c in sight.view.columns([first]) if c not in leave_out]
    won = ahead(sight, first, rivals, need, columns=columns)
    leads = []
    for column in columns:
        found = scores(sight.view, [first, *rivals], column)
        if found is not None and np.isfinite(found[0]) and np.isfinite(max(found[1:])):
            leads.append(found[0] - max(found[1:]))
    mean = float(np.mean(leads)) if leads else np.nan
    enough = won.holds if won.holds is not True else bool(mean >= by)
    return Outcome(enough, f"best on {won.evidence}; mean lead {mean:+.1f} points ({by:.0f} asked for)")


@rule("qualitative")
def not_begun(sight: Sight, row: str, columns: Sequence[str]) -> Outcome:
    """The booster could not begin on exactly these columns."""
    every = sight.view.columns([row])
    values = {c: sight.view[row, c] for c in every}
    if None in values.values():
        return Outcome(None, "not all is measured")
    stuck = [c for c, v in values.items() if v is not None and np.isnan(v)]
    return Outcome(set(stuck) == set(columns), f"could not begin on {len(stuck)} of {len(every)}: {listed(stuck, 12)}")


# ---- how near -------------------------------------------------------------------------------------------------------


@rule("qualitative")
def similar(sight: Sight, first: str, second: str, within: float, need: Need) -> Outcome:
    """The two are within so many points of each other on so many columns."""

    def answer(view: View, column: str) -> bool | None:
        found = scores(view, [first, second], column)
        return None if found is None else bool(abs(found[0] - found[1]) <= within + 1e-9)

    return over(sight, answer, sight.view.columns([first]), need)


@rule("qualitative")
def similar_on_the_way(
    sight: Sight, first: str, second: str, stops: Sequence[int], within: float, need: Need
) -> Outcome:
    """`similar` after each of several numbers of rounds (rows ``MM after 50``)."""
    outcomes = {t: similar(sight, f"{first} after {t}", f"{second} after {t}", within, need) for t in stops}
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    return Outcome(verdict, "; ".join(f"after {t} rounds {o.evidence}" for t, o in outcomes.items()))


@rule("qualitative")
def no_difference(sight: Sight, first: str, second: str, within: float) -> Outcome:
    """Wilcoxon's test finds no difference at 5 %, and the mean difference is within so many points."""
    found = [scores(sight.view, [first, second], c) for c in sight.view.columns([first])]
    if not found or None in found:
        return Outcome(None, "not all is measured")
    table = np.array(found)
    d = table[:, 0] - table[:, 1]
    plus, minus, p = wilcoxon(np.round(d, 6))
    text = f"mean difference {d.mean():+.2f} points, better on {(d > 0).sum()}, equal on {(d == 0).sum()}, worse on "
    text += f"{(d < 0).sum()}; Wilcoxon p = {p:.2f} (R₊ {plus:.0f}, R₋ {minus:.0f})"
    return Outcome(bool(p > 0.05 and abs(d.mean()) <= within), text)


@rule("within noise")
def near(sight: Sight, places: Sequence[dict[str, Any]]) -> Outcome:
    """Each printed number lies in the interval of one more run of ours (``row``, ``column``, ``value``)."""
    answers: dict[str, bool | None] = {}
    notes = []
    for place in places:
        n = sight.grid.cells.get(place["row"], {}).get(place["column"])
        key = f"{place['row']}, {place['column']}"
        answers[key] = None if n is None or not n.known else place["value"] in n.run
        notes.append(f"{key}: {'…' if n is None or not n.known else n.run} (paper {place['value']:g})")
    return Outcome(tally(answers, "all").holds, "; ".join(notes))


# ---- bounds, identities ---------------------------------------------------------------------------------------------


def bounded(sight: Sight, rows: Sequence[str], low: float, high: float, columns: Sequence[str] | None) -> Outcome:
    """All values of some rows lie between two bounds."""
    answers: dict[str, bool | None] = {}
    values: list[float] = []
    for row in rows:
        for column in columns or sight.view.columns([row]) or ["…"]:
            value = sight.view[row, column]
            answers[f"{row}, {column}"] = None if value is None else bool(low <= value <= high)
            values += [] if value is None else [value]
    span = f"{min(values):.4g} to {max(values):.4g}" if values else "nothing measured"
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
def equal(sight: Sight, row: str, column: str, value: float, within: float = 1e-9) -> Outcome:
    """A value is what the paper says."""
    found = sight.view[row, column]
    text = "nothing measured" if found is None else f"{found:g} (paper {value:g})"
    return Outcome(None if found is None else bool(abs(found - value) <= within), text)


@rule("within noise")
def near_value(sight: Sight, row: str, column: str, value: float, within: float) -> Outcome:
    """A value is within so much of what the paper says."""
    return equal(sight, row, column, value, within)


@rule("qualitative")
def between(sight: Sight, row: str, column: str, low: float, high: float) -> Outcome:
    """A value lies between two bounds."""
    return bounded(sight, [row], low, high, [column])


@rule("exact")
def as_printed(sight: Sight, row: str, within: float) -> Outcome:
    """A printed statement has no counter-example; the row holds how far the worst instance is beyond it."""
    outcome = bounded(sight, [row], -np.inf, within, None)
    return Outcome(outcome.holds, f"worst instance beyond the printed statement: {outcome.evidence}")


# ---- shapes ---------------------------------------------------------------------------------------------------------


def along(view: View, row: str, columns: Sequence[str] | None = None) -> list[float] | None:
    """The values of a row in the order of its columns."""
    values = [view[row, c] for c in columns or view.columns([row])]
    return None if not values or None in values else [float(v) for v in values if v is not None]


def each_row(rows: Sequence[str], answer: Callable[[str], bool | None], need: Need = "all") -> Outcome:
    """The same question to several rows."""
    return tally({row: answer(row) for row in rows}, need)


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


@rule("qualitative")
def exceeds(sight: Sight, upper: str, lower: str, by: float, need: Need) -> Outcome:
    """``upper`` is never below ``lower``, and above it by more than so much on so many columns."""
    a, b = along(sight.view, upper), along(sight.view, lower)
    if a is None or b is None:
        return Outcome(None, "not all is measured")
    gap = np.subtract(a, b)
    outcome = tally({c: bool(g > by) for c, g in zip(sight.view.columns([upper]), gap, strict=True)}, need)
    text = f"{outcome.evidence}; differences {gap.min():.4f} to {gap.max():.4f}"
    return Outcome(bool(outcome.holds and gap.min() > -1e-9), text)


@rule("qualitative")
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
def flat_at_the_end(sight: Sight, rows: Sequence[str], within: float, need: Need) -> Outcome:
    """The last step before d = M − 1 changes accuracy by at most so many points."""

    def answer(row: str) -> bool | None:
        values = along(sight.view, row)
        return None if values is None else bool(values[-2] - values[-3] <= within)

    return each_row(rows, answer, need)


@rule("qualitative")
def saturates(sight: Sight, rows: Sequence[str], within: float, share: float, need: Need) -> Outcome:
    """From a dimension of at most a share of the classes on, accuracy stays within so many points of d = M − 1."""
    notes = []
    answers: dict[str, bool | None] = {}
    for row in rows:
        values = along(sight.view, row)
        if values is None:
            answers[row] = None
            continue
        K, target = len(values) + 1, values[-2] - within  # columns are d = 2 … M
        first = next(d for d in range(2, K + 1) if all(v >= target - 1e-9 for v in values[d - 2 : -1]))
        answers[row] = bool(first / K <= share)
        notes.append(f"{row} {100 * first / K:.0f} %")
    outcome = tally(answers, need)
    return Outcome(outcome.holds, f"{outcome.evidence}; dimension in percent of M: {', '.join(notes)}")


# ---- Geist ----------------------------------------------------------------------------------------------------------


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


# ---- weak trees -----------------------------------------------------------------------------------------------------


@rule("qualitative")
def stops_early(
    sight: Sight, early: Sequence[str], through: str, rounds: int, need: Need, leave_out: Sequence[str] = ()
) -> Outcome:
    """The rows of ``early`` end before the last round on so many sets, ``through`` makes all rounds on every one."""
    columns = [c for c in sight.view.columns([through]) if c not in leave_out]

    def ended(row: str, column: str) -> bool | None:
        made = sight.view[row, column]
        return None if made is None else bool(made < rounds)

    outcomes = {row: tally({c: ended(row, c) for c in columns}, need) for row in early}
    full = tally({c: None if (e := ended(through, c)) is None else not e for c in columns}, "all")
    holds = [*(o.holds for o in outcomes.values()), full.holds]
    verdict = False if False in holds else None if None in holds else True
    text = "; ".join(f"{row}: ends early on {o.evidence}" for row, o in outcomes.items())
    return Outcome(verdict, f"{text}; {through}: all rounds on {full.evidence}")


@rule("qualitative")
def falls_on(sight: Sight, row: str, before: str, need: Need) -> Outcome:
    """The value after the last round is below that of an earlier moment, on so many columns."""

    def answer(view: View, column: str) -> bool | None:
        a, b = view[before, column], view[row, column]
        return None if a is None or b is None else bool(b < a)

    return tally({c: answer(sight.view, c) for c in sight.view.columns([row])}, need)


def bound(name: str, given: dict[str, Any]) -> Callable[[Sight], Outcome]:
    """A rule with its arguments."""
    return partial(RULES[name], **given)
