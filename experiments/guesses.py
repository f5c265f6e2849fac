"""Guesses of ours at where a paper's numbers come from, put to the test on all numbers that they concern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .comparison import NEAR, Samples
from .registry import Guess

SUPPORTED, OPEN, NOT_SUPPORTED, WAITING = "supported", "open", "not supported", "not all runs are there"

RULE = """Where a number of ours is far from a paper's, a guess at the reason was put to the test. It is *supported*
only if every number it concerns that was more than two points from the paper's comes within two points, every number
that was within two points stays there, and there are numbers of both kinds, so that it could have been contradicted. It
is *not supported* if our numbers do not come nearer to the paper's on average. Otherwise the matter is *open*. These
are explanations of ours, no claims of the papers, and are not counted with them."""


@dataclass(frozen=True)
class Shift:
    """What a guess does to one number: what it was, what it is with the change, and the paper's."""

    label: str
    paper: float
    before: Samples
    after: Samples

    @property
    def known(self) -> bool:
        """Whether both have been run."""
        return bool(self.before.values and self.after.values)

    @property
    def distances(self) -> tuple[float, float]:
        """From the paper's number, in points, before and after."""
        return self.before.mean - self.paper, self.after.mean - self.paper

    def __str__(self) -> str:
        before, after = self.distances
        return f"{self.label} ({before:+.1f} → {after:+.1f})"


def outcome(shifts: Sequence[Shift]) -> tuple[list[Shift], list[Shift], list[Shift], list[Shift]]:
    """Of the numbers that are known those that were far from the paper's and those that were near, and which of the two
    are far with the change.
    """
    known = [s for s in shifts if s.known]
    far, near = [], []
    for s in known:
        (near if abs(s.distances[0]) <= NEAR else far).append(s)
    still, lost = ([s for s in some if abs(s.distances[1]) > NEAR] for some in (far, near))
    return far, near, still, lost


def explanation(cause: str, shifts: Sequence[Shift]) -> Guess:
    """The verdict on a guess, by `RULE`."""
    far, near, still, lost = outcome(shifts)
    known = [*far, *near]
    before, after = (float(np.mean([abs(s.distances[i]) for s in known])) if known else np.nan for i in (0, 1))
    if len(known) < len(shifts) or not known:
        verdict = OPEN if still or lost else WAITING
    elif not (still or lost) and far and near:
        verdict = SUPPORTED
    else:
        verdict = OPEN if after < before else NOT_SUPPORTED
    missing = len(shifts) - len(known)
    waiting = f"; {missing} wait{'s' * (missing == 1)} for runs" if missing else ""
    named = (("Still off", still), ("No longer near", lost))
    return Guess(
        f"Perhaps {cause}.",
        verdict,
        f"of {len(far)} numbers that were more than two points off {len(far) - len(still)} come within two points, of "
        f"{len(near)} that were within {len(near) - len(lost)} stay; mean distance {before:.1f} points before, "
        f"{after:.1f} after{waiting}",
        " ".join(f"{words}: {', '.join(map(str, own))}." for words, own in named if own),
    )
