"""The model card of a report: the data, the parameters, what was chosen, the size of the model, and all versions."""

from __future__ import annotations

import io
import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy
import sklearn

from ..._util.messages import format_bytes
from ...decide.sets import sets_of, thresholds_of
from ...persist.saving import WRITTEN_BY
from .labelled_rows import Evaluated, rows_of_fit

LONGEST = 200  # characters of a parameter that are shown
COVERAGES = (0.9, 0.95, 0.99)  # of sets of classes

Entries = list[list[str]]


def card(rows: Evaluated, data: str | None) -> dict[str, Any]:
    """Return groups of (name, value), the candidates that were compared, and the size of the sample if there was one.

    ``data`` is what the table is called, or None.
    """
    groups = {
        "Model": model_entries(rows),
        "Data of this report": data_entries(rows, data),
        "Sets of classes": set_entries(rows),
        "Made with": [
            ["Report written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
            ["Package", WRITTEN_BY],
            ["Python", platform.python_version()],
            ["NumPy", np.__version__],
            ["SciPy", scipy.__version__],
            ["scikit-learn", sklearn.__version__],
            ["Machine", f"{platform.system()} {platform.machine()}"],
        ],
    }
    return {
        "groups": [{"title": title, "entries": entries} for title, entries in groups.items() if entries],
        "parameters": parameters(rows.clf),
        "candidates": candidates(rows.clf),
        "sample": 0 if (choice := getattr(rows.clf, "choice_", None)) is None else choice.n_sample,
    }


def model_entries(rows: Evaluated) -> Entries:
    """Return what the model is, and what it took."""
    clf, stream = rows.clf, io.BytesIO()
    entries = [["Algorithm", type(clf).__name__], ["Classes", f"{rows.K:,}"], ["Features", f"{len(rows.features):,}"]]
    if hasattr(clf, "n_iter_"):
        entries.append(["Rounds", f"{int(clf.n_iter_):,}"])
    trees = getattr(getattr(clf, "model_", None), "trees", None)
    if trees:
        leaves = np.mean([tree.n_leaves for tree in trees])
        entries.append(["Trees", f"{len(trees):,}, of {leaves:.0f} leaves on average"])
    fitted = rows_of_fit(clf)
    if fitted is not None:
        entries.append(["Rows of the fit", f"{fitted:,}"])
    seconds = np.append(0.0, getattr(clf, "history_", {}).get("seconds", ()))[-1]
    known = np.isfinite(seconds) and seconds > 0  # model files do not hold them
    entries.append(["Time of the fit", in_seconds(float(seconds)) if known else "not recorded in the model"])
    try:
        clf.save(stream)
        entries.append(["Size of the file", format_bytes(stream.tell())])
    except TypeError:  # it cannot be saved
        pass
    if getattr(clf, "stop_reason_", None):
        entries.append(["Stopped because", str(clf.stop_reason_)])
    return entries


def data_entries(rows: Evaluated, data: str | None) -> Entries:
    """Return what is known of the rows that the report is about."""
    few, many = int(rows.confusion.support.min()), int(rows.confusion.support.max())
    rate = rows.n / max(rows.seconds, 1e-9)
    return [
        *([] if data is None else [["Table", data]]),
        ["Rows", f"{rows.n:,}"],
        ["Rows of a class", f"{few:,}" if few == many else f"{few:,} to {many:,}"],
        ["Prediction", f"{in_seconds(rows.seconds)} in all, {rate:,.0f} rows a second"],
    ]


def set_entries(rows: Evaluated) -> Entries:
    """Return what sets of classes with a promised coverage hold on these rows; nothing if the model can make none."""
    scores = getattr(rows.clf, "set_scores_", None)
    if scores is None or rows.P is None:
        return []
    entries = []
    for coverage in COVERAGES:
        S = sets_of(rows.P, thresholds_of(scores, rows.K, coverage))
        hit, size = S[np.arange(rows.n), rows.c].mean(), S.sum(axis=1).mean()
        entries.append([f"Coverage {coverage:g}", f"{hit:.1%} of the rows, {size:.2f} classes on average"])
    return entries


def parameters(clf: Any) -> list[list[Any]]:
    """Return name, value and whether it differs from the default, of every parameter."""
    try:
        default = type(clf)().get_params(deep=False)
    except TypeError:  # an estimator that must be given something
        default = {}
    out = []
    for name, value in sorted(clf.get_params(deep=False).items()):
        text = " ".join(repr(value).split())
        changed = name in default and repr(default[name]) != repr(value)
        out.append([name, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…", changed])
    return out


def candidates(clf: Any) -> list[dict[str, Any]]:
    """Return what the classifier has chosen from, the best first; nothing if it had no choice."""
    choice = getattr(clf, "choice_", None)
    if choice is None:
        return []
    return [
        {
            "params": ", ".join(f"{name}={value!r}" for name, value in found["params"].items()) or "the only candidate",
            "risk": float(found["risk"]),
            "rounds": int(found["n_estimators"]),
            "temperature": float(found["temperature"]),
            "chosen": found["params"] == choice.params,
        }
        for found in sorted(choice.candidates, key=lambda found: found["risk"])
    ]


def in_seconds(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
