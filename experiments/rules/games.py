"""Rules for Mukherjee and Schapire: named numbers within limits, curves that fall, leads with a margin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..grids import View
from .words import Need, Outcome, Sight, along, listed, needed, over, rule, scores, tally

# ---- named numbers --------------------------------------------------------------------------------------------------


@rule("exact")
def limits(
    sight: Sight, row: str, at_most: dict[str, float] | None = None, at_least: dict[str, float] | None = None
) -> Outcome:
    """The named numbers of a row keep their limits; the others are shown beside them.

    ``at_least`` is for premises, so that nothing holds because nothing was tried, and for strict inequalities.
    """
    most, least = at_most or {}, at_least or {}
    columns = list({c: None for c in [*sight.view.columns([row]), *most, *least]})
    answers: dict[str, bool | None] = {}
    words = []
    for name in columns:
        value = sight.view[row, name]
        asked = [f"at most {most[name]:g}"] if name in most else []
        asked += [f"at least {least[name]:g}"] if name in least else []
        if asked:
            low, high = least.get(name, -np.inf), most.get(name, np.inf)
            answers[name] = None if value is None or np.isnan(value) else bool(low <= value <= high)
        shown = "…" if value is None else f"{value:.4g}"
        words.append(f"{name}: {shown}" + (f" ({', '.join(asked)})" if asked else ""))
    return Outcome(tally(answers, "all").holds if answers else None, "; ".join(words))


@rule("qualitative")
def measured_limits(
    sight: Sight, row: str, at_most: dict[str, float] | None = None, at_least: dict[str, float] | None = None
) -> Outcome:
    """`limits` of numbers that are measured or fitted, not computed: a shape, no identity."""
    outcome = limits(sight, row, at_most, at_least)
    return Outcome(outcome.holds, f"{row}: {outcome.evidence}")


@rule("exact")
def never_above(sight: Sight, row: str, value: float) -> Outcome:
    """No number of a row is above a bound."""
    values = along(sight.view, row)
    if values is None:
        return Outcome(None, "nothing measured")
    return Outcome(max(values) <= value, f"{row}: {max(values):.4g} at most, in {len(values)} trials")


@rule("qualitative")
def falls(sight: Sight, row: str, columns: Sequence[str]) -> Outcome:
    """The values fall from column to column."""
    values = along(sight.view, row, columns)
    if values is None:
        return Outcome(None, "not all is measured")
    text = ", ".join(f"{v:.3g} ({c})" for c, v in zip(columns, values, strict=True))
    return Outcome(all(b < a for a, b in pairwise(values)), f"{row}: {text}")


@rule("qualitative")
def exceed(sight: Sight, pairs: Sequence[Sequence[str]], by: float, need: Need) -> Outcome:
    """In every pair of rows the first is never below the second, and above it by more than so much on so many."""
    holds, words = [], []
    for upper, lower in pairs:
        a, b = along(sight.view, upper), along(sight.view, lower)
        if a is None or b is None:
            return Outcome(None, "not all is measured")
        gap = np.subtract(a, b)
        one = tally({c: bool(g > by) for c, g in zip(sight.view.columns([upper]), gap, strict=True)}, need)
        holds.append(bool(one.holds and gap.min() > -1e-9))
        words.append(f"{upper}: {one.evidence}, differences {gap.min():.4f} to {gap.max():.4f}")
    return Outcome(all(holds), "; ".join(words))


@rule("qualitative")
def tighter(sight: Sight, row: str, rivals: Sequence[str], factor: float, need: Need) -> Outcome:
    """A bound is never larger than any of its rivals, and at most ``factor`` of the least on so many columns."""
    columns = sight.view.columns([row])
    answers: dict[str, bool | None] = {}
    ratios = []
    for column in columns:
        own, others = sight.view[row, column], [sight.view[r, column] for r in rivals]
        least = None if None in others else min(float(o) for o in others if o is not None)
        answers[column] = None if own is None or least is None else bool(own <= factor * least)
        ratios += [] if own is None or least is None else [own / least]
    outcome = tally(answers, need)
    if outcome.holds is None or not ratios:
        return Outcome(None, "not all is measured")
    count = sum(a is True for a in answers.values())
    text = f"ratios {min(ratios):.3g} to {max(ratios):.3g}; at most {factor:g} on {count} of {len(columns)} "
    text += f"({needed(need, len(columns))} asked for)"
    return Outcome(bool(outcome.holds and max(ratios) <= 1 + 1e-9), text)


# ---- boosters -------------------------------------------------------------------------------------------------------


def left(view: View, row: str, leave_out: Sequence[str]) -> list[str]:
    """The columns of a row but some."""
    return [c for c in view.columns([row]) if c not in leave_out]


@rule("qualitative")
def ahead_by_each(
    sight: Sight, firsts: Sequence[str], rival: str, by: float, need: Need, before: Sequence[int] = ()
) -> Outcome:
    """Each of ``firsts`` is at least ``by`` points better than the rival on so many columns, at the end and after some
    numbers of rounds (rows ``MM after 50``), for which the same count is asked for.
    """

    def answer(view: View, column: str, then: str = "") -> bool | None:
        found = scores(view, [f"{row}{then}" for row in (rival, *firsts)], column)
        return None if found is None else bool(min(found[1:]) >= found[0] + by - 1e-9)

    columns = sight.view.columns([rival])
    end = over(sight, answer, columns, need)
    if not before:
        return end
    asked = needed(need, len(columns))
    if sight.printed is not None and not isinstance(need, int):
        asked = min(asked, sum(answer(sight.printed, c) is True for c in columns))
    outcomes = {t: tally({c: answer(sight.view, c, f" after {t}") for c in columns}, asked) for t in before}
    holds = [end.holds, *(o.holds for o in outcomes.values())]
    verdict = False if False in holds else None if None in holds else True
    words = [f"at the end {end.evidence}", *(f"after {t} rounds {o.evidence}" for t, o in outcomes.items())]
    return Outcome(verdict, "; ".join(words))


@rule("qualitative")
def begun_and_better(sight: Sight, first: str, rival: str, need: Need) -> Outcome:
    """``first`` could begin and has a strictly better score than the rival; where neither began nobody is better."""
    columns = sight.view.columns([first])
    stuck, answers = [], dict[str, bool | None]()
    for column in columns:
        found = scores(sight.view, [first, rival], column)
        answers[column] = None if found is None else bool(np.isfinite(found[0]) and found[0] > found[1] + 1e-9)
        stuck += [column] if found is not None and not np.isfinite(max(found)) else []
    outcome = tally(answers, need)
    return Outcome(outcome.holds, outcome.evidence + (f"; neither could begin on {listed(stuck, 13)}" if stuck else ""))


@rule("qualitative")
def ends_within(
    sight: Sight,
    early: Sequence[str],
    within: int,
    through: str,
    rounds: int,
    need: Need,
    leave_out: Sequence[str] = (),
) -> Outcome:
    """The rows of ``early`` make at most so many rounds on so many sets, ``through`` makes all rounds on every one."""
    columns = left(sight.view, through, leave_out)

    def made(row: str, column: str, least: float, most: float) -> bool | None:
        value = sight.view[row, column]
        return None if value is None else bool(least <= value <= most)

    outcomes = {row: tally({c: made(row, c, 0, within) for c in columns}, need) for row in early}
    full = tally({c: made(through, c, rounds, np.inf) for c in columns}, "all")
    holds = [*(o.holds for o in outcomes.values()), full.holds]
    verdict = False if False in holds else None if None in holds else True
    text = "; ".join(f"{row}: at most {within} on {o.evidence}" for row, o in outcomes.items())
    return Outcome(verdict, f"{text}; {through}: all {rounds} on {full.evidence}")


@rule("qualitative")
def falls_each(
    sight: Sight, rows: Sequence[str], stops: Sequence[str], need: Need, leave_out: Sequence[str] = ()
) -> Outcome:
    """Each row falls strictly from every stop (suffixes of rows, such as `` after 50``) to the next, on so many
    columns; a booster that could not begin does not fall.
    """

    def answer(row: str, column: str) -> bool | None:
        values = [sight.view[f"{row}{stop}", column] for stop in stops]
        if None in values:
            return None
        known = [float(v) for v in values if v is not None]
        return all(b < a for a, b in pairwise(known)) if np.isfinite(known).all() else False

    outcomes = {row: tally({c: answer(row, c) for c in left(sight.view, row, leave_out)}, need) for row in rows}
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    return Outcome(verdict, "; ".join(f"{row}: {o.evidence}" for row, o in outcomes.items()))


@rule("qualitative")
def lead_shrinks(
    sight: Sight, first: str, rivals: Sequence[str], there: str, need: Need, leave_out: Sequence[str] = ()
) -> Outcome:
    """The lead of ``first`` over the best rival is larger than the same lead in the rows with the suffix ``there``."""
    answers: dict[str, bool | None] = {}
    gaps: dict[str, list[float]] = {"": [], there: []}
    for column in left(sight.view, first, leave_out):
        found = [scores(sight.view, [f"{row}{then}" for row in (first, *rivals)], column) for then in gaps]
        if None in found:
            answers[column] = None
            continue
        leads = [own[0] - max(own[1:]) for own in found if own is not None]
        answers[column] = bool(leads[0] > leads[1])
        if np.isfinite(leads).all():
            for then, lead in zip(gaps, leads, strict=True):
                gaps[then].append(lead)
    outcome = tally(answers, need)
    means = " and ".join(f"{np.mean(g):+.1f}" for g in gaps.values()) if gaps[""] else "…"
    return Outcome(outcome.holds, f"{outcome.evidence}; mean leads {means} points")


@rule("qualitative")
def behind_by_each(
    sight: Sight, rows: Sequence[str], best: str, by: float, need: Need, leave_out: Sequence[str] = ()
) -> Outcome:
    """Each row is at least so many points worse than ``best`` on so many columns; one that could not begin is."""
    outcomes = {}
    for row in rows:
        answers: dict[str, bool | None] = {}
        for column in left(sight.view, best, leave_out):
            found = scores(sight.view, [row, best], column)
            answers[column] = None if found is None else bool(found[0] <= found[1] - by)
        outcomes[row] = tally(answers, need)
    holds = [o.holds for o in outcomes.values()]
    verdict = False if False in holds else None if None in holds else True
    return Outcome(verdict, "; ".join(f"{row}: {o.evidence}" for row, o in outcomes.items()))
