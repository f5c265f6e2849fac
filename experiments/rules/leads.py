"""Rules on which booster is ahead of which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..grids import View
from ..statistics import ranks
from .words import EQUAL, Answer, Need, Outcome, Sight, better, listed, over, rule, scores, tally, together

TIE = 0.05  # points: tables print one decimal, so that what is nearer than this is equal in print


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

    def answer(view: View, column: str) -> Answer:
        found = scores(view, [last, *rivals], column)
        if found is None:
            return None
        return better(min(found[1:]) if every else max(found[1:]), found[0])

    return over(sight, answer, columns or sight.view.columns([last]), need)


@rule("qualitative")
def all_ahead(sight: Sight, firsts: Sequence[str], rival: str, need: Need) -> Outcome:
    """Each of ``firsts`` is better than the rival on so many columns."""
    return behind(sight, rival, firsts, need, every=True)


@rule("qualitative")
def every_reading_behind(sight: Sight, rows: Sequence[str], rival: str, need: Need) -> Outcome:
    """Every one of several readings of a booster is behind the rival on so many columns."""
    return together({row: behind(sight, row, [rival], need) for row in rows if row in sight.grid.cells})


@dataclass(frozen=True)
class Record:
    """On which columns one row is better than the best of some others, equal to it up to ``TIE``, or worse."""

    wins: tuple[str, ...]
    ties: tuple[str, ...]
    losses: tuple[str, ...]
    unknown: int = 0

    def __str__(self) -> str:
        wins, ties, losses = (len(columns) for columns in (self.wins, self.ties, self.losses))
        text = f"{wins} win{'s' * (wins != 1)}, {ties} tie{'s' * (ties != 1)}, {losses} loss{'es' * (losses != 1)}"
        text += f" (ties: {listed(self.ties)})" if self.ties else ""
        text += f" (losses: {listed(self.losses)})" if self.losses else ""
        return text + (f", {self.unknown} not measured" if self.unknown else "")


def record(view: View, first: str, rivals: Sequence[str], columns: Sequence[str]) -> Record:
    """The wins, ties and losses of ``first`` against the best of its rivals, column by column."""
    kinds: dict[str, list[str]] = {"win": [], "tie": [], "loss": []}
    unknown = 0
    for column in columns:
        found = scores(view, [first, *rivals], column)
        if found is None:
            unknown += 1
            continue
        best = max(found[1:])
        equal = found[0] == best or bool(abs(found[0] - best) <= TIE + 1e-9)
        kinds["tie" if equal else "win" if found[0] > best else "loss"].append(column)
    return Record(tuple(kinds["win"]), tuple(kinds["tie"]), tuple(kinds["loss"]), unknown)


@rule("qualitative")
def wins_and_ties(
    sight: Sight, first: str, rivals: Sequence[str], wins: int, ties: int = 0, beside: str | None = None
) -> Outcome:
    """``first`` beats the best rival on at least so many columns, and beats or equals it on ``wins + ties``."""
    columns = sight.view.columns([first])
    own = record(sight.view, first, rivals, columns)
    good = len(own.wins) + len(own.ties)
    holds: bool | None = len(own.wins) >= wins and good >= wins + ties
    if not holds and len(own.wins) + own.unknown >= wins and good + own.unknown >= wins + ties and own.unknown:
        holds = None
    text = f"{first}: {own}; asked for: {wins} wins" + (f", {wins + ties} wins or ties" if ties else "")
    if sight.printed is not None:
        text += f"; the paper's own numbers: {record(sight.printed, first, rivals, columns)}"
    if beside is not None:
        text += f". Beside it, {beside}: {record(sight.view, beside, rivals, columns)}"
    return Outcome(holds, text)


@rule("qualitative")
def identical_on(sight: Sight, first: str, rivals: Sequence[str], wins: int, ties: int) -> Outcome:
    """`wins_and_ties`, and at least so many ties."""
    out = wins_and_ties(sight, first, rivals, wins, ties)
    own = record(sight.view, first, rivals, sight.view.columns([first]))
    if len(own.ties) < ties:
        return Outcome(None if len(own.ties) + own.unknown >= ties else False, f"{out.evidence}; {ties} ties")
    return Outcome(out.holds, f"{out.evidence}; {ties} ties")


@rule("qualitative")
def close_second(sight: Sight, first: str, rivals: Sequence[str], within: float) -> Outcome:
    """Where ``first`` is not the best it is at most so many points behind; empty if it is the best everywhere."""
    columns = sight.view.columns([first])
    own = record(sight.view, first, rivals, columns)
    if own.unknown:
        return Outcome(None, "not all is measured")
    behind_by = {c: max(float(sight.view.score(r, c) or 0.0) for r in rivals) for c in own.losses}
    behind_by = {c: best - float(sight.view.score(first, c) or 0.0) for c, best in behind_by.items()}
    if not behind_by:
        text = f"{first} wins or ties on all {len(columns)} sets, so that there is none to be second on"
        return Outcome(None, text, empty=True)
    text = ", ".join(f"{c} {gap:.1f}" for c, gap in behind_by.items())
    return Outcome(max(behind_by.values()) <= within, f"points behind where it is not the best: {text}")


@rule("qualitative")
def wins_in_order(sight: Sight, rows: Sequence[str], at_least: int) -> Outcome:
    """The earlier a row, the more columns it is best on, and the first on so many.

    A tie of all rows counts for none of them, one of some for each of these.
    """
    counts = best_counts(sight.view, rows)
    if counts is None:
        return Outcome(None, "not all is measured")
    text = "sets on which it is best: " + ", ".join(f"{row} {n}" for row, n in zip(rows, counts, strict=True))
    if sight.printed is not None and (own := best_counts(sight.printed, rows)) is not None:
        text += f"; the paper's own table, counted alike: {', '.join(map(str, own))}"
        every, none = (", ".join(map(str, best_counts(sight.printed, rows, ties) or [])) for ties in ("all", "none"))
        text += f" ({every} if every tie counts, {none} if none does)"
    return Outcome(counts[0] >= at_least and all(a > b for a, b in pairwise(counts)), text)


def best_counts(view: View, rows: Sequence[str], ties: str = "some") -> list[int] | None:
    """On how many columns each row is best; ties of ``some`` but not all rows count, or ``all`` ties, or ``none``."""
    found = [scores(view, rows, c) for c in view.columns(rows)]
    if not found or None in found:
        return None
    table = np.array(found)
    best = table >= table.max(axis=1, keepdims=True) - TIE - 1e-9  # (sets, rows)
    most = {"all": len(rows), "some": len(rows) - 1, "none": 1}[ties]
    return [int(n) for n in best[best.sum(axis=1) <= most].sum(axis=0)]


@rule("qualitative")
def each_behind(sight: Sight, pairs: Sequence[Sequence[str]], need: Need) -> Outcome:
    """In each pair the first row is worse than the second, by more than a tie, on so many columns."""
    outcomes = {}
    for last, rival in pairs:
        own = record(sight.view, last, [rival], sight.view.columns([last]))
        answers: dict[str, Answer] = dict.fromkeys(own.losses, True) | dict.fromkeys(own.wins, False)
        answers |= dict.fromkeys(own.ties, EQUAL)
        answers |= {f"unknown {i}": None for i in range(own.unknown)}
        outcomes[last] = tally(answers, need)
    return together(outcomes, " is behind on ")


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
