"""What the tests of exports run over: fitted boosters that cover every link, kind of column and kind of term."""

from __future__ import annotations

import datetime as dt
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from cases import BOOSTERS, COST, LOSSES, blobs

import simplexboost as sb

LABELS = np.array(["ash", "birch", "cedar", "elm"])


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted classifier and rows to predict."""

    clf: Any
    X: Any


def numbers(n: int = 240, K: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A table of numbers with holes, and labels."""
    return blobs(n, 4, K, missing=0.1)


def mixed(n: int = 400, seed: int = 0, many: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame of numbers, text, numbers that are categories and truth values, with holes; and labels."""
    rng = np.random.default_rng(seed)
    towns = [f"town {i}" for i in range(300 if many else 9)]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": rng.choice(towns, n),
            "grade": pd.Categorical(rng.integers(0, 90, n)),
            "old": rng.random(n) < 0.5,
            "weight": rng.normal(size=n).astype(np.float32),
        }
    )
    score = frame["size"] + (frame["town"].str[5:].astype(int) % 3) + 0.02 * frame["grade"].astype(int)
    y = LABELS[np.clip(score.to_numpy() * 0.9, 0, 3).astype(int)]
    frame.loc[rng.random(n) < 0.1, "town"] = None
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "grade"] = np.nan
    return frame, y


def booster(name: str) -> Case:
    """A booster of the package on numbers with holes."""
    X, c = numbers()
    return Case(BOOSTERS[name](n_estimators=12).fit(X, LABELS[c]), X)


def with_loss(name: str) -> Case:
    """`BoostingClassifier` with one of the losses."""
    X, c = numbers()
    return Case(sb.BoostingClassifier(loss=LOSSES[name], n_estimators=20).fit(X, LABELS[c]), X)


def with_costs(name: str) -> Case:
    """A loss under a matrix of costs, whose probabilities solve a linear system."""
    X, c = numbers()
    loss = type(LOSSES[name])(cost_matrix=COST)
    return Case(sb.BoostingClassifier(loss=loss, n_estimators=20).fit(X, LABELS[c]), X)


def flagship(X: Any, y: Any, n_estimators: int = 20, **more: Any) -> Case:
    """The flagship on any table."""
    return Case(sb.SimplexBoostClassifier(n_estimators=n_estimators, random_state=0, **more).fit(X, y), X)


def many_classes() -> Case:
    """So many classes that leaves are sparse."""
    X, c = blobs(900, 6, 60)
    return flagship(X, c)


def low_dimensions() -> Case:
    """Codewords of fewer dimensions than classes."""
    X, c = blobs(600, 6, 20)
    return flagship(X, c, codewords=sb.parts.codewords.MaxMin(code_dim=4))


def ordered_classes() -> Case:
    """Ordered classes, of which the median is predicted; one has no training example."""
    X, c = numbers()
    order = ["elm", "yew", "ash", "cedar", "birch"]
    return flagship(X, LABELS[c], classes=sb.Ordinal(order), n_estimators=5)


def absent_class() -> Case:
    """Labels of which one has no training example."""
    X, c = numbers()
    return Case(sb.GDMCBoostClassifier(n_estimators=10, classes=[*LABELS, "yew", "fir"]).fit(X, LABELS[c]), X)


def one_class() -> Case:
    """A table with one class only."""
    X, _ = numbers()
    return Case(sb.GDMCBoostClassifier(n_estimators=10, classes=LABELS).fit(X, np.full(len(X), "elm")), X)


def several_labels(kind: Any) -> Case:
    """Examples with several labels."""
    X, c = numbers()
    Y = np.eye(4, dtype=int)[c] | np.eye(4, dtype=int)[(c + (X[:, 0] > 0)) % 4]
    return Case(kind(n_estimators=10).fit(X, Y), X)


def lines() -> Case:
    """Lines in place of trees."""
    X, c = numbers()
    return Case(sb.GDMCBoostClassifier(n_estimators=15, learner="linear").fit(X, c), X)


def coded_columns() -> Case:
    """An array with categories that are numbers."""
    frame, y = mixed()
    X = np.column_stack([frame["size"], frame["grade"].astype(float), frame["weight"]])
    return flagship(X, y, categorical_features=[1])


def changed_classes() -> Case:
    """A model that has learned a class, forgotten another and has a temperature."""
    X, c = numbers(K=4)
    clf = sb.SimplexBoostClassifier(n_estimators=15, calibration=0.7, random_state=0).fit(X[c > 0], LABELS[c[c > 0]])
    return Case(sb.drop_classes(sb.add_classes(clf, X, LABELS[c], n_rounds=5), "cedar"), X)


def merged_classes() -> Case:
    """A model of five classes, one of them absent, of which three count as one."""
    X, c = numbers()
    clf = sb.SimplexBoostClassifier(n_estimators=15, classes=[*LABELS, "yew"], random_state=0).fit(X, LABELS[c])
    return Case(sb.merge_classes(clf, {"tree": ["birch", "elm", "yew"], "zelkova": ["ash"]}), X)


def dated() -> tuple[Any, list[list[Any]], np.ndarray]:
    """A classifier of dates, durations and times of day; rows with dates as text; and their probabilities."""
    at = np.arange(200) % 50
    times = [dt.time(hour) for hour in (np.arange(200) % 24).tolist()]
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(at * 36, unit="h"),
            "wait": pd.to_timedelta(at % 7, unit="D"),
            "at": pd.Series(times, dtype=object),
        }
    )
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(frame, LABELS[at // 13])
    texts = [
        "2024-01-20",
        "2024-01-20T12:00:00",
        "2024-01-20 12:00",
        "2024-01-20T12:00:00.000Z",
        "2024-01-20T02:00:00+02:00",
        "2024-02-29T23:59:59.5-0800",
    ]
    days = pd.to_datetime(texts, format="ISO8601", utc=True).tz_localize(None)
    missing = pd.Series([None] * len(days), dtype=object)
    rows = pd.DataFrame({"day": days, "wait": pd.to_timedelta(missing), "at": missing})
    return clf, [[text, None, None] for text in texts], clf.predict_proba(rows)


CASES = {
    **{name: (booster, name) for name in BOOSTERS},
    **{f"loss {name}": (with_loss, name) for name in LOSSES if name != "user's pair"},
    "flagship": (lambda: flagship(*numbers()),),
    "savage flagship": (lambda: flagship(*numbers(), loss="savage"),),
    "symmetric trees": (lambda: flagship(*numbers(), growth="symmetric"),),
    "two classes": (lambda: flagship(*numbers(K=2)),),
    "temperature": (lambda: flagship(*numbers(), n_estimators="auto"),),
    "many classes": (many_classes,),
    "low dimensions": (low_dimensions,),
    "absent class": (absent_class,),
    "ordered classes": (ordered_classes,),
    "one class": (one_class,),
    "several labels, Hamming": (several_labels, sb.AdaBoostMHClassifier),
    "several labels, ranking": (several_labels, sb.AdaBoostM2Classifier),
    "lines": (lines,),
    "changed classes": (changed_classes,),
    "text and holes": (lambda: flagship(*mixed()),),
    "more text than numbers": (lambda: flagship(*mixed(2000, many=True)),),
    "categories of an array": (coded_columns,),
    "symmetric trees of text": (lambda: flagship(*mixed(), growth="symmetric"),),
    "votes": (lambda: Case(sb.OSBoostClassifier(loss="zero-one", n_estimators=8).fit(*numbers()), numbers()[0]),),
}
MERGED = {"merged classes": (merged_classes,)}  # which not every route can hold
COSTLY = ("exponential", "mm", "logistic", "savage")


@cache
def case(name: str) -> Case:
    """A case, fitted once."""
    make, *arguments = (CASES | MERGED)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 300 towns are more than there are numbers for
        return make(*arguments)
