"""Promises about labels whose type is not that of the classes, at every place that takes labels."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import simplexboost as sb
from simplexboost import decide

from .generated.cases import OF_LABELS
from .generated.judging import NOTHING_IS_ODD, BrokenError, outcome
from .promise import promise
from .sizes import grid

CLASS_COUNTS = (2, 3, 5, 12, 14, 15, 16, 26, 50, 100, 200)  # NumPy compares few values and many in different ways
EPOCH = datetime.date(2020, 1, 1)
KINDS: dict[str, Callable[[int], Any]] = {
    "numbers": int,
    "negative numbers": lambda k: k - 7,
    "large numbers": lambda k: 2**60 + k,
    "whole floats": float,
    "numerals": str,
    "text": lambda k: f"class {k}",
    "dates": lambda k: np.datetime64(EPOCH + datetime.timedelta(days=k), "D"),
}
SAME, OTHER, EITHER = "must be taken", "must be refused", "may be refused"


def forms(kind: str, labels: list[Any]) -> dict[str, tuple[str, Callable[[], Any]]]:
    """The same labels in other types; whether they must be taken for the classes, or must be refused."""
    y = np.array(labels)
    always: dict[str, tuple[str, Callable[[], Any]]] = {
        "array": (SAME, lambda: y),
        "list": (SAME, y.tolist) if kind != "dates" else (EITHER, y.tolist),
        "series": (SAME if kind != "dates" else EITHER, lambda: pd.Series(y, index=np.arange(len(y))[::-1])),
    }
    if kind == "dates":
        iso = [str(label) for label in labels]
        return always | {
            "nanoseconds": (EITHER, lambda: y.astype("M8[ns]")),
            "days as numbers": (OTHER, lambda: y.astype(int)),
            "ISO text": (OTHER, lambda: np.array(iso)),
        }
    if y.dtype.kind == "U":
        return always | {
            "objects": (SAME, lambda: y.astype(object)),
            "pandas text": (SAME, lambda: pd.Series(y, dtype="string")),
            "Arrow text": (EITHER, lambda: pd.Series(y, dtype="string[pyarrow]")),
            "category": (SAME, lambda: pd.Series(pd.Categorical(y))),
            "with a blank": (OTHER, lambda: np.char.add(y, " ")),
            "numbers": (OTHER, lambda: np.arange(len(y)) % len(np.unique(y))),
            "bytes": (OTHER, lambda: y.astype("S")),
        }
    exact = kind != "large numbers"  # whether floats hold them
    whole = [int(label) for label in labels]
    return always | {
        "objects": (SAME, lambda: np.array(labels, dtype=object)),
        "floats": (SAME, lambda: y.astype(float)) if exact else (EITHER, lambda: np.array(whole)),
        "integers": (SAME, lambda: np.array(whole)),
        "nullable": (SAME, lambda: pd.Series(whole, dtype="Int64")),
        "Arrow integers": (SAME, lambda: pd.Series(whole, dtype="int64[pyarrow]")),
        "category": (SAME, lambda: pd.Series(pd.Categorical(y))),
        "decimals": (EITHER, lambda: [Decimal(k) for k in whole]),
        "text": (OTHER, lambda: np.array([str(label) for label in labels])),
        "text of objects": (OTHER, lambda: np.array([str(k) for k in whole], dtype=object)),
        "pandas text": (OTHER, lambda: pd.Series([str(k) for k in whole], dtype="string")),
        "bytes": (OTHER, lambda: np.array([str(k) for k in whole], dtype="S")),
        "halves": (OTHER, lambda: np.array(whole) + 0.5) if exact else (EITHER, lambda: np.array(whole)),
        "dates": (OTHER, lambda: np.datetime64(EPOCH, "D") + (np.array(whole) % 1000).astype("m8[D]")),
    }


# ---- what takes labels: each answers something that depends on them --------------------------------------------------


def flagship(**params: Any) -> Any:
    """A flagship of a few rounds."""
    return sb.SimplexBoostClassifier(
        **{"n_estimators": 2, "learning_rate": 0.3, "random_state": 0, "n_jobs": 1, **params}
    )


def by_report(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The accuracy on the page."""
    with TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        sb.report(clf, X, given, page)
        return re.findall(r'"accuracy":\s*([0-9.]+)', page.read_text(encoding="utf-8"))[:1]


def by_sets(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The sets of a copy that is calibrated."""
    return decide.predict_sets(decide.calibrate_sets(clf, X, given), X, coverage=0.8)


def by_X_val(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The metrics on evaluated rows while another model is fitted."""
    found = flagship().fit(X, y, X_val=X, y_val=given, eval_metric="error").evals_result_
    return np.concatenate([values for of_set in found for values in of_set.values()])


def by_classes(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The scores of a model whose classes are declared."""
    return flagship(classes=clf.classes_).fit(X, given).class_scores(X)


def by_warm_start(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The scores of a model that goes on."""
    return flagship(warm_start=True).fit(X, y).set_params(n_estimators=3).fit(X, given).class_scores(X)


def by_add_classes(clf: Any, X: Any, y: Any, given: Any) -> Any:
    """The scores of a model that learns the last class."""
    old = y != clf.classes_[-1]
    return sb.add_classes(flagship().fit(X[old], y[old]), X, given, n_rounds=1).class_scores(X)


ENTRIES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "score": lambda clf, X, y, given: clf.score(X, given),
    "margins": lambda clf, X, y, given: sb.evaluate.margins(clf, X, given),
    "calibrate_sets": by_sets,
    "report": by_report,
    "X_val": by_X_val,
    "classes": by_classes,
    "warm_start": by_warm_start,
    "add_classes": by_add_classes,
}
WORDS = OF_LABELS + "|_val|warm_start"


@promise(
    "Labels of another type than the classes (text for numbers, dates, nullable, …) give what the same labels of the "
    "type of the classes give, or are refused, at every place that takes labels and for any number of classes.",
    fast=12,
    soak=2000,
)
def labels_of_other_types_are_taken_right_or_refused(case: int) -> None:
    """One case: classes of one kind, and labels of every other form at one place that takes labels."""
    rng = np.random.default_rng(case)
    entry = list(ENTRIES)[case % len(ENTRIES)]
    kind = list(KINDS)[rng.integers(len(KINDS))]
    K = int(rng.choice(CLASS_COUNTS))
    if entry == "add_classes":
        K = max(K, 3)
    X, c = grid(rng, max(4 * K, 30), K)
    labels = [KINDS[kind](k) for k in c.tolist()]
    y = np.array(labels)
    maker = sb.GDMCBoostClassifier if entry in ("score", "margins", "calibrate_sets") and rng.random() < 0.3 else None
    clf = (maker(n_estimators=3) if maker else flagship()).fit(X, y)
    expected = ENTRIES[entry](clf, X, y, y)
    of_forms = forms(kind, labels)
    chosen = list(of_forms) if entry != "report" else list(rng.permutation(list(of_forms))[:3])
    for form in chosen:
        rule, make = of_forms[form]
        story = f"{entry} of {K} classes that are {kind}, labels as {form}"
        ask = partial(ENTRIES[entry], clf, X, y, make())
        try:
            answer, refusal = outcome(ask, NOTHING_IS_ODD if rule == SAME else WORDS)
        except BrokenError as error:
            raise BrokenError(f"{story}: {error}") from error
        if rule == OTHER and refusal is None and not (entry == "score" and answer == 0.0):
            raise BrokenError(f"{story}: these are none of the classes, and are not refused")
        if rule != OTHER and refusal is None and not np.array_equal(answer, expected):
            raise BrokenError(f"{story}: the answer is another than for labels of the type of the classes")
