"""What the tests of the report run over: small models with some errors, and rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import simplexboost as sb
from simplexboost.evaluate.html_report.labelled_rows import evaluate
from simplexboost.evaluate.html_report.page import contents

EVIL = [
    "</script><script>alert(1)</script>",
    "<b>bold</b> & \"quoted\" 'too'",
    "naïve ☃ 漢字 \u2028 end",
    "{{title}} ${K} `tick` \\u003c",
    "a label that is so long that no table and no axis could ever show all of it in one line of any screen " * 2,
]


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted classifier, and rows with labels."""

    clf: Any
    X: Any
    y: Any


def noisy_blobs(K: int, each: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows around K centres in six dimensions, so near each other that some are confused; (n, 6) and numbers (n,)."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(K, 6)) * 1.6
    c = np.repeat(np.arange(K), each)
    return centres[c] + rng.normal(size=(len(c), 6)), c


@cache
def case(K: int, each: int = 20, n_estimators: int = 12) -> Case:
    """The flagship on K classes called class 0, class 1, …, with named columns, and as many new rows."""
    names = [f"size {j}" for j in range(6)]
    labels = np.array([f"class {k}" for k in range(K)])
    X, c = noisy_blobs(K, each)
    clf = sb.SimplexBoostClassifier(n_estimators=n_estimators, max_leaf_nodes=15, random_state=0)
    clf.fit(pd.DataFrame(X, columns=names), labels[c])
    new, c = noisy_blobs(K, each, seed=2)
    return Case(clf, pd.DataFrame(new, columns=names), labels[c])


@cache
def evil() -> Case:
    """Labels, names of columns and values that would break a page that does not escape them."""
    X, c = noisy_blobs(5, 30)
    frame = pd.DataFrame(X[:, :4], columns=["<i>first</i>", "</style>", "a'b\"c", "ß €"])
    frame["<kind>"] = np.array(["<u>one</u>", "</script>", "&amp;"])[np.arange(len(c)) % 3]
    y = np.array(EVIL)[c]
    return Case(sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(frame, y), frame, y)


def numbers_of(found: Case, **options: Any) -> dict[str, Any]:
    """The contents of a case's report."""
    return contents(evaluate(found.clf, found.X, found.y), **options)
