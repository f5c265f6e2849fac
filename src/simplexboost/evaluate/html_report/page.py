"""The HTML page of a report: one file with the style sheet, the scripts, the chart library and the data as JSON.

Class labels, names and values come from the user, and may be any text. They enter the page in two places: in the title,
where they are escaped, and in the JSON, which contains no `<`, so that no text can end the script element early. The
scripts set only ``textContent``. A content security policy forbids the page to load or send anything.
"""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import is_dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from ..._util.docstrings import described
from ...persist.atomic_write import as_path, check_replaceable, write_bytes
from . import sections
from .labelled_rows import Cells, Evaluated, evaluate, seems_fitted, write_value

PERCENT = "\u00a0%"  # no line ends between a number and its sign
ENOUGH = 5  # rows that a class needs to be named as the hardest one
SURE = 0.99  # the probability of another class with which a label counts as contradicted
CLOSE = 0.01  # a difference of accuracy and mean probability that counts as none
DIGITS = 5  # significant digits of numbers in the file
SCRIPTS = (
    *("tools", "tables", "charts"),  # what the sections use
    *("overview", "learning", "classes", "matrix", "pair", "confusion"),
    *("map", "importance", "calibration", "doubts", "card"),
    "page",  # which starts them
)
LIBRARY = "library/echarts.min.js"


def write_sentences(rows: Evaluated, contents: dict[str, Any]) -> list[dict[str, str]]:
    """Return summary sentences about the model, each with the name of the page section that has the details."""
    found = [
        ("classes", describe_accuracy(rows)),
        ("classes", describe_hardest_class(rows)),
        ("confusion", describe_worst_pair(rows)),
        ("calibration", describe_calibration(contents["calibration"])),
        ("importance", describe_importance(rows, contents["importance"])),
        ("doubts", describe_doubts(rows)),
    ]
    return [{"section": section, "text": text} for section, text in found if text]


def describe_accuracy(rows: Evaluated) -> str:
    support = rows.confusion.support
    most = int(support.argmax())
    alone = (support == support[most]).sum() == 1
    which = "the most frequent class" if alone else "one of the most frequent classes"
    return (
        f"The model is right for {percent(rows.confusion.accuracy)} of {count_noun(rows.n, 'row')}. Always answering "
        f"“{write_value(rows.labels[most])}”, {which}, would be right for {percent(support[most] / rows.n)}."
    )


def describe_hardest_class(rows: Evaluated) -> str:
    support, correct = rows.confusion.support, np.diag(rows.confusion.counts)
    recall = np.where(support >= ENOUGH, correct / np.maximum(support, 1), np.nan)
    if not np.isfinite(recall).any() or np.nanmin(recall) == 1:
        return ""
    k = int(np.nanargmin(recall))
    perfect = int((recall == 1).sum())
    rest = f" {count_noun(perfect, 'class', 'classes')} {'is' if perfect == 1 else 'are'} found without an error."
    found = f"{correct[k]} of its {count_noun(int(support[k]), 'row')} are recognised."
    return f"The hardest class is “{write_value(rows.labels[k])}”: {found}{rest if perfect else ''}"


def describe_worst_pair(rows: Evaluated) -> str:
    if not rows.confusion.errors.any():
        return "There is no error among these rows."
    pair = rows.confusion.worst_pairs(1)[0]
    true, said = write_value(rows.labels[pair.true]), write_value(rows.labels[pair.predicted])
    return (
        f"The most frequent error: “{true}” is taken for “{said}” {count_noun(pair.n_rows, 'time')}, "
        f"in {percent(pair.rate)} of its rows."
    )


def describe_calibration(calibration: dict[str, Any] | None) -> str:
    if calibration is None:
        return "The classifier has no probabilities, only scores."
    sure, right = calibration["confidence"], calibration["accuracy"]
    how = "too sure" if sure > right else "not sure enough"
    if abs(sure - right) < CLOSE:
        how = "about as sure as it should be"
    return f"The model is {how}: its mean probability is {percent(sure)}, and {percent(right)} of the rows are right."


def describe_importance(rows: Evaluated, importance: dict[str, Any] | None) -> str:
    if importance is None or not importance["overall"]:
        return ""
    first = [f"“{write_value(rows.features[j])}” ({percent(share)})" for j, share in importance["overall"][:3]]
    named = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
    return f"The splits of the trees gain most by {named}."


def describe_doubts(rows: Evaluated) -> str:
    wrong = np.flatnonzero(rows.predicted != rows.c)
    firm = 0 if rows.P is None else int((rows.P[wrong, rows.predicted[wrong]] >= SURE).sum())
    if not firm:
        return ""
    sure = f"at least 99{PERCENT} sure"
    look = "look at it" if firm == 1 else "look at them"
    return f"For {count_noun(firm, 'row')} the model is {sure} of another class than the label: {look}."


def percent(share: float) -> str:
    """Return a fraction as a percentage with one decimal; only exact 0 and 1 become 0 % and 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f}{PERCENT}"
    return f"{min(max(100 * share, 0.1), 99.9):.1f}{PERCENT}"


def count_noun(n: int, word: str, several: str | None = None) -> str:
    return f"{n:,} {word if n == 1 else several or word + 's'}"


def contents(
    rows: Evaluated, *, title: str | None = None, data: str | None = None, folds: Any = None, first_row: int | None = 0
) -> dict[str, Any]:
    """Return the data of every section of the report; None for a section for which the classifier has no data.

    ``first_row`` is the index of the first row, or None if the rows have names; `report` describes the other options.
    """
    out: dict[str, Any] = {
        "title": title or type(rows.clf).__name__,
        "labels": rows.labels,
        "features": len(rows.features),
        "rows": rows.n,
        "firstRow": first_row,
        "fitted": seems_fitted(rows),
        "headline": sections.headline(rows),
        "learning": sections.learning(rows),
        "classes": sections.classes(rows),
        "confusion": sections.confusions(rows),
        "map": sections.class_map(rows),
        "importance": sections.importance(rows),
        "calibration": sections.calibration(rows),
        "doubts": sections.doubts(rows, folds),
        "card": sections.card(rows, data),
    }
    out["deciding"] = sections.deciding(rows, out["confusion"]["pairs"], Cells(rows.X))
    out["sentences"] = write_sentences(rows, out)
    out["featureNames"] = {str(j): rows.features[j] for j in sorted(find_shown_features(out))}
    return round_numbers(out)


def find_shown_features(contents: dict[str, Any]) -> set[int]:
    """Return the indices of the features that occur on the page, often few; only their names are written."""
    importance = contents["importance"] or {"overall": [], "classes": None}
    of_classes = importance["classes"] or []
    shown = {j for entries in [importance["overall"], *of_classes] for j, _ in entries}
    shown |= {j for entry in contents["deciding"] for j in entry["features"]}
    reasons = [reason for pair in contents["confusion"]["pairs"] for some in pair.get("reasons", []) for reason in some]
    return shown | {j for j, _, _ in reasons}


def round_numbers(value: Any) -> Any:
    """Return a value as JSON types: floats get five significant digits, and NaN and infinities become None."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: round_numbers(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def render(contents: dict[str, Any]) -> str:
    parts = {
        "title": html.escape(contents["title"]).encode("utf-8", "replace").decode("utf-8"),
        "style": read_asset("page.css"),
        "theme": read_asset("scripts/theme.js"),
        "data": write_json(contents),
        "library": read_asset(LIBRARY),
        "scripts": "\n".join(read_asset(f"scripts/{name}.js") for name in SCRIPTS),
    }
    return re.sub(r"{{(\w+)}}", lambda place: parts[place[1]], read_asset("page.html"))


def read_asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def write_json(contents: dict[str, Any]) -> str:
    """Return data as JSON text that is safe in an HTML script element: each `<` becomes a Unicode escape."""
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair becomes "?"


@described
def report(
    clf: Any,
    X: Any,
    y: Any,
    path: Any,
    *,
    title: str | None = None,
    data: str | None = None,
    rows: Any = None,
    folds: Any = None,
) -> None:
    """Write a report about a model and its predictions for labelled rows: one HTML file, which needs no network.

    The page has headline scores with intervals, learning curves, a table of the classes, a confusion explorer (with
    example rows and the features that separate two classes), a map of the classes, feature importances, calibration,
    rows that are probably mislabelled, and a model card. See docs/report.md.

    Parameters
    ----------
    clf : fitted classifier
        A classifier of this package for one label per row.
    X : array, data frame or sparse matrix of shape (n, p), with the columns of the fit
        The labelled rows, if possible not the training rows: scores on training rows are too good; the page says so.
    path : str, path or binary file
        The file to write; it is written completely or not at all.
    title : str or None
        The heading of the page; None takes the class name of the classifier.
    data : str or None
        The name of the data set in the model card.
    rows : array of shape (n,) or None
        The names of the rows on the page, for example ids; None numbers the rows from 0.
    folds : int, splitter, iterable of (train, test) or None
        How to find rows that are probably mislabelled. None uses the margins of the model, which suits rows that were
        not used for training. Otherwise `doubtful_labels` is called with ``cv=folds`` and fits the classifier anew for
        every fold, which suits the training rows.

    Examples
    --------
    >>> import io
    >>> page = io.BytesIO()
    >>> sb.report(clf.fit(X[::2], y[::2]), X[1::2], y[1::2], page, title="Three irises")
    >>> b"Three irises" in page.getvalue()
    True
    """
    first_row = 0 if rows is None else None
    write_report(clf, X, y, path, rows, title=title, data=data, folds=folds, first_row=first_row)


def write_report(clf: Any, X: Any, y: Any, path: Any, rows: Any = None, **options: Any) -> None:
    """Write the report of a classifier; `report` describes the parameters, and `contents` the options."""
    if not hasattr(path, "write"):
        check_replaceable(as_path(path))  # raises, before any work begins, if no file can be written there
    write_bytes(path, render(contents(evaluate(clf, X, y, rows), **options)).encode())
