"""Ranks over data sets: Friedman's test, a critical-difference diagram, wins and Wilcoxon's tests of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .comparison import Samples
from .registry import Block, Figure, Table, Text
from .statistics import chance, draw_critical_difference, friedman, nemenyi, pairs

FEWEST = 4  # sets; with fewer no test can tell anything
MOST_PAIRS = 15  # in a table


def scores_of(errors: Mapping[str, Sequence[Samples]], error: bool) -> tuple[list[str], Any]:
    """The sets that all boosters have run, and mean scores (sets, boosters), higher better; the worst where a booster
    could not begin.
    """
    known = [name for name, own in errors.items() if all(s.values for s in own)]
    means = np.array([[s.mean for s in errors[name]] for name in known], dtype=float)
    scores = -means if error else means
    return known, np.where(np.isnan(scores), -100.0, scores)


def rank_blocks(
    name: str, errors: Mapping[str, Sequence[Samples]], boosters: Sequence[str], error: bool
) -> Iterator[Block]:
    """What the ranks of boosters over sets say.

    Parameters
    ----------
    name : of the figure
    errors : set → errors or accuracies of the boosters
    boosters : their names
    error : the numbers are errors
    """
    known, scores = scores_of(errors, error)
    if len(known) < FEWEST:
        yield Text(f"Ranks over sets wait for runs: {len(known)} sets have been run by all boosters.")
        return
    test, critical = friedman(scores), nemenyi(len(boosters), len(known))

    def draw(figure: Any) -> None:
        draw_critical_difference(figure.subplots(), test.ranks, boosters, critical)

    missing = [set_ for set_ in errors if set_ not in known]
    if missing:
        yield Text(f"The ranks leave out {', '.join(missing)}, which not all boosters have run yet.")
    caption = (
        f"Mean ranks over {len(known)} sets (1 is best); bars join boosters that Nemenyi's test does not tell apart at "
        f"5 %. Friedman's test (Iman and Davenport): p = {test.p:.2g}."
    )
    yield Figure(name, caption, draw, (8.5, 1.6 + 0.18 * len(boosters)))
    compared = sorted(pairs(scores, boosters, tie=0.05), key=lambda pair: pair.p)
    rows = [
        [f"{p.first} : {p.second}", f"{p.wins} / {p.ties} / {p.losses}", chance(p.p), chance(p.adjusted)]
        for p in compared[:MOST_PAIRS]
    ]
    which = f"The {MOST_PAIRS} pairs of lowest p of {len(compared)}:" if len(compared) > MOST_PAIRS else "All pairs:"
    yield Text(
        f"{which} wins / ties (up to 0.05 points) / losses over sets, Wilcoxon's p, and adjusted by Holm's method."
    )
    yield Table(["pair", "wins / ties / losses", "p", "adjusted"], rows)
