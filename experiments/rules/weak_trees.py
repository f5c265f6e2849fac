"""Rules on boosters whose trees are too weak for them."""

from __future__ import annotations

from collections.abc import Sequence

from ..grids import View
from .words import Need, Outcome, Sight, rule, tally


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
