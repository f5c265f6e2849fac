"""Rules on which booster is ahead of which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..grids import View
from ..statistics import ranks
from .words import Need, Outcome, Sight, listed, over, rule, scores, tally


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
