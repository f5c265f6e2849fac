"""The rules by which claims are judged. They see one value per row and column, and answer yes, no, or not yet.

Words have fixed strengths (`needed`): "all" and "consistently" mean every set, "almost always" all but a tenth (at
least one may be missing), "most", "usually" and "generally" more than half, "often" at least a third. Where the paper's
own table falls short of its word, the count of that table is asked for instead, and the evidence says so.

A number counts as measured when half of its repeats are there (`grids.Numbers.known`). What has not been measured
counts neither way: a rule answers only if no outcome of what is missing could change it.

Where a statement says which of two numbers is lower, equal ones are neither (`EQUAL`): such sets are left out, and
listed. What is said of cases that our numbers do not have, such as sets on which a booster is second, cannot be tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..grids import Grid, View

Need = int | str


@dataclass(frozen=True)
class Outcome:
    """Whether the claim holds (None: that cannot be said), and by which numbers.

    Attributes
    ----------
    holds : None where too little is measured, or the claim is about cases that there are not
    evidence : the numbers in words
    empty : the claim is about cases that there are not, so that it cannot be tested
    """

    holds: bool | None
    evidence: str
    empty: bool = False

    def __post_init__(self) -> None:
        if self.holds is not None:  # NumPy's False is not the False that verdicts are compared with
            object.__setattr__(self, "holds", bool(self.holds))


@dataclass(frozen=True)
class Sight:
    """What a rule sees: our means, the grid they come from, and the paper's numbers if it prints them."""

    view: View
    grid: Grid
    printed: View | None = None


EQUAL = "equal"
Answer = bool | str | None  # yes, no, `EQUAL`, or not measured
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


def tally(answers: Mapping[str, Answer], need: Need, own: Mapping[str, Answer] | None = None) -> Outcome:
    """Holds where enough of the answers are yes; ``own`` are the answers that the paper's own numbers give.

    Columns that answer `EQUAL` are left out.
    """
    if not answers:
        return Outcome(None, "nothing measured")
    equal = [name for name, a in answers.items() if a == EQUAL]
    answers = {name: a for name, a in answers.items() if a != EQUAL}
    if not answers:
        return Outcome(None, f"equal on all {len(equal)}", empty=True)
    asked = min(needed(need, len(answers)), len(answers))
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
    text += f"; equal on {listed(equal)}, left out" if equal else ""
    text += f"; {unknown} not measured" if unknown else ""
    return Outcome(holds, text + note)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def over(sight: Sight, answer: Callable[[View, str], Answer], columns: Sequence[str], need: Need) -> Outcome:
    """The answers over columns, and those of the paper's own numbers where they tell."""
    own: dict[str, Answer] | None = None
    if sight.printed is not None:
        own = {c: answer(sight.printed, c) for c in columns}
        own = None if None in own.values() else own
    return tally({c: answer(sight.view, c) for c in columns}, need, own)


def scores(view: View, rows: Iterable[str], column: str) -> list[float] | None:
    """Higher is better; None where one is not known."""
    found = [view.score(row, column) for row in rows]
    return None if any(s is None for s in found) else [float(s) for s in found if s is not None]


def better(one: float, other: float) -> Answer:
    """Whether the first of two scores is better, `EQUAL` where they are the same."""
    return EQUAL if one == other or abs(one - other) <= 1e-9 else bool(one > other)


def together(outcomes: Mapping[str, Outcome], between: str = ": ") -> Outcome:
    """All of several outcomes: what cannot be tested is left out."""
    holds = [o.holds for o in outcomes.values() if not o.empty]
    verdict = False if False in holds else None if None in holds or not holds else True
    empty = bool(outcomes) and not holds
    return Outcome(verdict, "; ".join(f"{name}{between}{o.evidence}" for name, o in outcomes.items()), empty)


def along(view: View, row: str, columns: Sequence[str] | None = None) -> list[float] | None:
    """The values of a row in the order of its columns."""
    values = [view[row, c] for c in columns or view.columns([row])]
    return None if not values or None in values else [float(v) for v in values if v is not None]


def each_row(rows: Sequence[str], answer: Callable[[str], bool | None], need: Need = "all") -> Outcome:
    """The same question to several rows."""
    return tally({row: answer(row) for row in rows}, need)


def bound(name: str, given: dict[str, Any]) -> Callable[[Sight], Outcome]:
    """A rule with its arguments."""
    return partial(RULES[name], **given)
