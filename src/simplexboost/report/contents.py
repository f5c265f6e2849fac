"""All numbers of a report, as JSON has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..inspection import confusion_table
from .calibration import calibration
from .card import card
from .cells import Cells
from .classes import class_map, classes
from .confusions import confusions
from .deciding import deciding
from .doubts import doubts
from .evaluated import Evaluated
from .features import importance
from .headline import headline
from .learning import learning
from .origin import seem_fitted
from .words import sentences

DIGITS = 5  # significant digits of numbers in the file


@dataclass(frozen=True, eq=False)
class Wishes:
    """What the caller says about a report.

    Attributes
    ----------
    title : the heading; None takes the name of the classifier
    data : what the table is called, or None
    folds : how `doubts` finds its rows
    size : the bytes of the model's file, or None
    first_row : the number of the first row; None if the rows have names
    """

    title: str | None = None
    data: str | None = None
    folds: Any = None
    size: int | None = None
    first_row: int | None = 0


def contents(rows: Evaluated, wishes: Wishes) -> dict[str, Any]:
    """The numbers of every section; None for those that the classifier has nothing to say about."""
    found = confusion_table(rows.c, rows.predicted, range(rows.K))
    out: dict[str, Any] = {
        "title": wishes.title or type(rows.clf).__name__,
        "labels": rows.labels,
        "features": len(rows.features),
        "rows": rows.n,
        "firstRow": wishes.first_row,
        "fitted": seem_fitted(rows),
        "headline": headline(rows),
        "learning": learning(rows),
        "classes": classes(rows, found),
        "confusion": confusions(rows, found),
        "map": class_map(rows, found),
        "importance": importance(rows),
        "calibration": calibration(rows),
        "doubts": doubts(rows, wishes.folds),
        "card": card(rows, wishes.data, wishes.size),
    }
    out["deciding"] = deciding(rows, out["confusion"]["pairs"], Cells(rows.X))
    out["sentences"] = sentences(rows, found, out)
    out["featureNames"] = {str(j): rows.features[j] for j in sorted(features_shown(out))}
    return rounded(out)


def features_shown(contents: dict[str, Any]) -> set[int]:
    """The features that the page names; of a million columns few are."""
    importance = contents["importance"] or {"overall": [], "classes": None}
    of_classes = importance["classes"] or []
    shown = {j for entries in [importance["overall"], *of_classes] for j, _ in entries}
    shown |= {j for entry in contents["deciding"] for j in entry["features"]}
    reasons = [reason for pair in contents["confusion"]["pairs"] for some in pair.get("reasons", []) for reason in some]
    return shown | {j for j, _, _ in reasons}


def rounded(value: Any) -> Any:
    """The same with numbers of a few digits, and None for those that JSON does not have."""
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
