"""The HTML page of a report: one file with the style sheet, the scripts, the chart library and the numbers as JSON.

Labels, names and values are text of the user, and may hold anything. They enter the page in two places: the title,
where they are escaped, and the JSON, in which no `<` is left, so that nothing can end the script element early. The
scripts only ever set ``textContent``. A content security policy forbids the page to load or send anything.
"""

from __future__ import annotations

import html
import json
import math
from dataclasses import is_dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from ...persist.atomic_write import as_path, check_replaceable, write_bytes
from .card import card
from .labelled_rows import Cells, Evaluated, as_text, evaluate, seem_fitted
from .sections import calibration, class_map, classes, confusions, deciding, doubts, headline, importance, learning

PERCENT = "\u00a0%"  # no line ends between a number and its sign
ENOUGH = 5  # rows that a class needs to be called the hardest one
SURE = 0.99  # a row is counted whose label the model contradicts with this probability
CLOSE = 0.01  # a difference of accuracy and mean probability that is called none


def sentences(rows: Evaluated, contents: dict[str, Any]) -> list[dict[str, str]]:
    """Return sentences about the model, each with the section of the page that shows more."""
    found = [
        ("classes", of_accuracy(rows)),
        ("classes", of_hardest(rows)),
        ("confusion", of_worst_pair(rows)),
        ("calibration", of_calibration(contents["calibration"])),
        ("importance", of_importance(rows, contents["importance"])),
        ("doubts", of_doubts(rows)),
    ]
    return [{"section": section, "text": text} for section, text in found if text]


def of_accuracy(rows: Evaluated) -> str:
    """Return how often the model is right, beside the simplest guess."""
    support = rows.confusion.support
    most = int(support.argmax())
    alone = (support == support[most]).sum() == 1
    which = "the most frequent class" if alone else "one of the most frequent classes"
    return (
        f"The model is right for {percent(rows.confusion.accuracy)} of {plural(rows.n, 'row')}. Always answering "
        f"“{as_text(rows.labels[most])}”, {which}, would be right for {percent(support[most] / rows.n)}."
    )


def of_hardest(rows: Evaluated) -> str:
    """Return which class is found least."""
    support, correct = rows.confusion.support, np.diag(rows.confusion.counts)
    recall = np.where(support >= ENOUGH, correct / np.maximum(support, 1), np.nan)
    if not np.isfinite(recall).any() or np.nanmin(recall) == 1:
        return ""
    k = int(np.nanargmin(recall))
    perfect = int((recall == 1).sum())
    rest = f" {plural(perfect, 'class', 'classes')} {'is' if perfect == 1 else 'are'} found without an error."
    found = f"{correct[k]} of its {plural(int(support[k]), 'row')} are recognised."
    return f"The hardest class is “{as_text(rows.labels[k])}”: {found}{rest if perfect else ''}"


def of_worst_pair(rows: Evaluated) -> str:
    """Return the most frequent error."""
    if not rows.confusion.errors.any():
        return "There is no error among these rows."
    pair = rows.confusion.worst_pairs(1)[0]
    true, said = as_text(rows.labels[pair.true]), as_text(rows.labels[pair.predicted])
    return (
        f"The most frequent error: “{true}” is taken for “{said}” {plural(pair.n_rows, 'time')}, "
        f"in {percent(pair.rate)} of its rows."
    )


def of_calibration(calibration: dict[str, Any] | None) -> str:
    """Return whether the probabilities are too sure."""
    if calibration is None:
        return "The classifier has no probabilities, only scores."
    sure, right = calibration["confidence"], calibration["accuracy"]
    how = "too sure" if sure > right else "not sure enough"
    if abs(sure - right) < CLOSE:
        how = "about as sure as it should be"
    return f"The model is {how}: its mean probability is {percent(sure)}, and {percent(right)} of the rows are right."


def of_importance(rows: Evaluated, importance: dict[str, Any] | None) -> str:
    """Return the features that matter most."""
    if importance is None or not importance["overall"]:
        return ""
    first = [f"“{as_text(rows.features[j])}” ({percent(share)})" for j, share in importance["overall"][:3]]
    named = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
    return f"The splits of the trees gain most by {named}."


def of_doubts(rows: Evaluated) -> str:
    """Return how many labels the model contradicts firmly."""
    wrong = np.flatnonzero(rows.predicted != rows.c)
    firm = 0 if rows.P is None else int((rows.P[wrong, rows.predicted[wrong]] >= SURE).sum())
    if not firm:
        return ""
    sure = f"at least 99{PERCENT} sure"
    look = "look at it" if firm == 1 else "look at them"
    return f"For {plural(firm, 'row')} the model is {sure} of another class than the label: {look}."


def percent(share: float) -> str:
    """Return a share as a percentage with a digit after the point; 100 % and 0 % only where they are exact."""
    if share in (0, 1):
        return f"{100 * share:.0f}{PERCENT}"
    return f"{min(max(100 * share, 0.1), 99.9):.1f}{PERCENT}"


def plural(n: int, word: str, several: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{n:,} {word if n == 1 else several or word + 's'}"


DIGITS = 5  # significant digits of numbers in the file


def contents(
    rows: Evaluated,
    *,
    title: str | None = None,
    data: str | None = None,
    folds: Any = None,
    first_row: int | None = 0,
) -> dict[str, Any]:
    """Return the numbers of every section; None for those that the classifier has nothing to say about.

    ``first_row`` is the number of the first row, None if the rows have names; the other options are those of `report`.
    """
    out: dict[str, Any] = {
        "title": title or type(rows.clf).__name__,
        "labels": rows.labels,
        "features": len(rows.features),
        "rows": rows.n,
        "firstRow": first_row,
        "fitted": seem_fitted(rows),
        "headline": headline(rows),
        "learning": learning(rows),
        "classes": classes(rows),
        "confusion": confusions(rows),
        "map": class_map(rows),
        "importance": importance(rows),
        "calibration": calibration(rows),
        "doubts": doubts(rows, folds),
        "card": card(rows, data),
    }
    out["deciding"] = deciding(rows, out["confusion"]["pairs"], Cells(rows.X))
    out["sentences"] = sentences(rows, out)
    out["featureNames"] = {str(j): rows.features[j] for j in sorted(features_shown(out))}
    return rounded(out)


def features_shown(contents: dict[str, Any]) -> set[int]:
    """Return the features that the page names; of a million columns few are."""
    importance = contents["importance"] or {"overall": [], "classes": None}
    of_classes = importance["classes"] or []
    shown = {j for entries in [importance["overall"], *of_classes] for j, _ in entries}
    shown |= {j for entry in contents["deciding"] for j in entry["features"]}
    reasons = [reason for pair in contents["confusion"]["pairs"] for some in pair.get("reasons", []) for reason in some]
    return shown | {j for j, _, _ in reasons}


def rounded(value: Any) -> Any:
    """Return numbers in the form of JSON, with a few digits, and None for those that JSON does not have."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


SCRIPTS = (
    *("tools", "tables", "charts"),  # what the sections use
    *("overview", "learning", "classes", "matrix", "pair", "confusion"),
    *("map", "importance", "calibration", "doubts", "card"),
    "page",  # which starts them
)
LIBRARY = "library/echarts.min.js"


def render(contents: dict[str, Any]) -> str:
    """Return the page of some contents, as text."""
    parts = {
        "title": html.escape(contents["title"]).encode("utf-8", "replace").decode("utf-8"),
        "style": asset("page.css"),
        "theme": asset("scripts/theme.js"),
        "data": as_script(contents),
        "library": asset(LIBRARY),
        "scripts": "\n".join(asset(f"scripts/{name}.js") for name in SCRIPTS),
    }
    before, *rest = asset("page.html").split("{{")
    out = [before]
    for piece in rest:  # one pass: what is put in is not searched for places again
        name, after = piece.split("}}", 1)
        out += [parts[name], after]
    return "".join(out)


def asset(name: str) -> str:
    """Return a file that comes with the package."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def as_script(contents: dict[str, Any]) -> str:
    """Return JSON that may stand in a script element: `<` is written as an escape, which JSON allows in strings."""
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair, which no file can hold, becomes "?"


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
    """Write a page about the model and how it does on labelled rows: one HTML file, which needs no network.

    It has headline scores with intervals, learning curves, a table of the classes, a confusion explorer with
    examples and the features that decide between two classes, a map of the classes, importances, calibration, rows
    that are probably mislabelled, and a model card. See docs/report.md.

    Parameters
    ----------
    clf : fitted classifier
        A classifier of this package for one label per row.
    X : array, data frame or sparse matrix of shape (n, p), with the columns of the fit
        Best rows that were not used in the fit; on those that were, all scores are too good, and the page says so.
    y : array of shape (n,)
        The labels of the rows, all of them among ``classes_``.
    path : str, path or binary file
        Where to write. A file appears complete or not at all.
    title : str or None
        The heading of the page; None takes the name of the classifier.
    data : str or None
        What the table is called in the model card.
    rows : array of shape (n,) or None
        What the rows are called on the page, for instance an id; None numbers them from 0.
    folds : int, splitter, iterable of (train, test) or None
        How rows that are probably mislabelled are found. None takes the margins of this model: right for rows that
        it was not fitted on. Otherwise `doubtful_labels` is called with ``cv=folds``, which fits the classifier
        anew to these rows, once per fold: right for the rows of the fit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier, report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     report(clf, X[1::2], y[1::2], page, title="Three irises")
    ...     "Three irises" in page.read_text(encoding="utf-8")
    True
    """
    first_row = 0 if rows is None else None
    write_report(clf, X, y, path, rows, title=title, data=data, folds=folds, first_row=first_row)


def write_report(clf: Any, X: Any, y: Any, path: Any, rows: Any = None, **options: Any) -> None:
    """Write the report of a classifier; see `report`, and `contents` for the options."""
    if not hasattr(path, "write"):
        check_replaceable(as_path(path))  # raises, before any work begins, if no file can be written there
    write_bytes(path, render(contents(evaluate(clf, X, y, rows), **options)).encode())
