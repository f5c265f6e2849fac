"""What to know first, in a few sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import Confusion
from .cells import as_text
from .evaluated import Evaluated

PERCENT = "\u00a0%"  # no line ends between a number and its sign
ENOUGH = 5  # rows that a class needs to be called the hardest one
SURE = 0.99  # a row is counted whose label the model contradicts with this probability
CLOSE = 0.01  # a difference of accuracy and mean probability that is called none


def sentences(rows: Evaluated, found: Confusion, contents: dict[str, Any]) -> list[dict[str, str]]:
    """Sentences about the model, each with the section of the page that shows more."""
    told = [
        ("classes", of_accuracy(rows, contents["headline"][0])),
        ("classes", of_hardest(rows, contents["classes"])),
        ("confusion", of_worst_pair(rows, contents["confusion"], found)),
        ("calibration", of_calibration(contents["calibration"])),
        ("importance", of_importance(rows, contents["importance"])),
        ("doubts", of_doubts(rows)),
    ]
    return [{"section": section, "text": text} for section, text in told if text]


def of_accuracy(rows: Evaluated, accuracy: dict[str, Any]) -> str:
    """How often it is right, beside the simplest guess."""
    support = np.bincount(rows.c, minlength=rows.K)
    most = int(support.argmax())
    alone = (support == support[most]).sum() == 1
    which = "the most frequent class" if alone else "one of the most frequent classes"
    return (
        f"The model is right for {percent(accuracy['value'])} of {plural(rows.n, 'row')}. Always answering "
        f"“{as_text(rows.labels[most])}”, {which}, would be right for {percent(support[most] / rows.n)}."
    )


def of_hardest(rows: Evaluated, classes: dict[str, Any]) -> str:
    """The class that is found least."""
    support = np.array(classes["support"])
    recall = np.where(support >= ENOUGH, np.array(classes["recall"], dtype=np.float64), np.nan)
    if not np.isfinite(recall).any() or np.nanmin(recall) == 1:
        return ""
    k = int(np.nanargmin(recall))
    perfect = int((recall == 1).sum())
    rest = f" {plural(perfect, 'class', 'classes')} {'is' if perfect == 1 else 'are'} found without an error."
    found = f"{classes['correct'][k]} of its {plural(int(support[k]), 'row')} are recognised."
    return f"The hardest class is “{as_text(rows.labels[k])}”: {found}{rest if perfect else ''}"


def of_worst_pair(rows: Evaluated, confusion: dict[str, Any], found: Confusion) -> str:
    """The most frequent error."""
    if not confusion["cells"]:
        return "There is no error among these rows."
    c, k, times = confusion["cells"][0]
    true, said = as_text(rows.labels[c]), as_text(rows.labels[k])
    return (
        f"The most frequent error: “{true}” is taken for “{said}” {plural(times, 'time')}, "
        f"in {percent(times / found.support[c])} of its rows."
    )


def of_calibration(calibration: dict[str, Any] | None) -> str:
    """Whether the probabilities are too sure."""
    if calibration is None:
        return "The classifier has no probabilities, only scores."
    sure, right = calibration["confidence"], calibration["accuracy"]
    how = "too sure" if sure > right else "not sure enough"
    if abs(sure - right) < CLOSE:
        how = "about as sure as it should be"
    return f"The model is {how}: its mean probability is {percent(sure)}, and {percent(right)} of the rows are right."


def of_importance(rows: Evaluated, importance: dict[str, Any] | None) -> str:
    """The features that matter most."""
    if importance is None or not importance["overall"]:
        return ""
    first = [f"“{as_text(rows.features[j])}” ({percent(share)})" for j, share in importance["overall"][:3]]
    named = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
    return f"The splits of the trees gain most by {named}."


def of_doubts(rows: Evaluated) -> str:
    """How many labels the model contradicts firmly."""
    if rows.P is None:
        return ""
    wrong = np.flatnonzero(~rows.right)
    firm = int((rows.P[wrong, rows.predicted[wrong]] >= SURE).sum())
    if not firm:
        return ""
    sure = f"at least 99{PERCENT} sure"
    look = "look at it" if firm == 1 else "look at them"
    return f"For {plural(firm, 'row')} the model is {sure} of another class than the label: {look}."


def percent(share: float) -> str:
    """A share as a percentage, with a digit after the point; never 100 % or 0 % where that is not the whole truth."""
    if share in (0, 1):
        return f"{100 * share:.0f}{PERCENT}"
    return f"{min(max(100 * share, 0.1), 99.9):.1f}{PERCENT}"


def plural(n: int, word: str, several: str | None = None) -> str:
    """A number with its noun."""
    return f"{n:,} {word if n == 1 else several or word + 's'}"
