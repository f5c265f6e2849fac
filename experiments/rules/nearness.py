"""Rules on how near two boosters are to each other, and ours to the papers' numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..grids import View
from ..statistics import wilcoxon
from .words import Need, Outcome, Sight, over, rule, scores, tally


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
        moved = sight.view[place["row"], place["column"]]  # by noise, where the confidence is asked for
        ours = None if n is None or not n.known or moved is None else place["value"] - (moved - n.mean) in n.run
        answers[key] = ours
        notes.append(f"{key}: {'…' if n is None or not n.known else n.run} (paper {place['value']:g})")
    return Outcome(tally(answers, "all").holds, "; ".join(notes))
