"""Codewords for many classes: ``python -m benchmarks.codes`` tries codes that are learned beside those that are not.

Contestants are canonical codewords, max-min codes (random unit vectors from 300 classes on, which are as far apart as a
search of minutes would find), codes learned from class means (the standardised means of all features over the rows of a
class, turned to their principal axes, cut to d coordinates and made unit length), and codes learned from confusions
(the same of the mean scores that a first model of a few rounds with canonical codewords gives the rows of a class, each
row being held out in turn). Every fit has as many rounds with a learning rate of 0.1, which is where codes differ most;
the figures are accuracy and log-loss after a part of them and at the end. Two tables are made on the spot: in "blobs" a
class is one cluster, so that its mean says where it is; in "split" it is three clusters in different places.

The page ends with what `benchmarks.codes_why` found about codes of few dimensions, from its file of cells.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict

from simplexboost import SimplexBoostClassifier, datasets, keep_rounds
from simplexboost._util.arrays import AnyArray
from simplexboost.parts.codewords import MaxMin

from .repeats import table

PAGE = Path(__file__).with_name("CODES.md")
Problem = tuple[AnyArray, AnyArray, AnyArray, AnyArray]  # X and classes to train on, and to test


# ---- tables ---------------------------------------------------------------------------------------------------------


def made(K: int, clusters: int, per_class: int = 20, p: int = 30) -> Problem:
    """K classes of some clusters each, in p dimensions."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K, clusters, p))
    y = rng.integers(0, K, per_class * K + 4000)
    X = centres[y, rng.integers(0, clusters, len(y))] + 0.25 * rng.standard_normal((len(y), p))
    return X[:-4000], y[:-4000], X[-4000:], y[-4000:]


def real(name: str) -> Problem:
    """A set of the folder of data sets."""
    data = datasets.load(name)
    return data.X_train, data.y_train, data.X_test, data.y_test


TABLES: dict[str, Callable[[], Problem]] = {
    "letter": lambda: real("letter"),
    "plants_margin": lambda: real("plants_margin"),
    "plants_shape": lambda: real("plants_shape"),
    "aloi27": lambda: real("aloi27"),
    "blobs, 500 classes": lambda: made(500, 1),
    "split, 500 classes": lambda: made(500, 3, 30),
    "blobs, 2000 classes": lambda: made(2000, 1),
}


# ---- codes ----------------------------------------------------------------------------------------------------------


def far_apart(problem: Problem, d: int) -> AnyArray:
    """A max-min code."""
    K = int(problem[1].max()) + 1
    if K < 300:
        return MaxMin(d).matrix(K)
    return unit(np.random.default_rng(0).standard_normal((K, d)))


def from_means(problem: Problem, d: int) -> AnyArray:
    """A code from the means of the features of every class."""
    X, y = problem[:2]
    return principal(class_means(X, y), d)


def from_confusions(problem: Problem, d: int) -> AnyArray:
    """A code from the mean scores that a first model gives the rows of every class, held out in turn."""
    X, y = problem[:2]
    first = SimplexBoostClassifier(n_estimators=10, codewords="canonical", n_jobs=1, random_state=0)
    U = cross_val_predict(first, X, y, cv=2, method="decision_function")
    return principal(class_means(np.tanh(U - U.mean(axis=1, keepdims=True)), y), d)


def class_means(values: AnyArray, y: AnyArray) -> AnyArray:
    """The mean of the rows of every class, (K, columns), each column standardised."""
    K = int(y.max()) + 1
    sums = np.stack([np.bincount(y, column, K) for column in np.asarray(values, dtype=np.float64).T], axis=1)
    M = sums / np.bincount(y, minlength=K)[:, None]
    return (M - M.mean(axis=0)) / np.maximum(M.std(axis=0), 1e-12)


def principal(M: AnyArray, d: int) -> AnyArray:
    """The first d principal coordinates of rows, each row made unit length; fewer if there are no more."""
    U, s, _ = np.linalg.svd(M, full_matrices=False)
    d = min(d, int((s > 1e-9 * s[0]).sum()))
    return unit(U[:, :d] * s[:d])


def unit(Y: AnyArray) -> AnyArray:
    """Rows of length one."""
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


CODES: dict[str, Callable[[Problem, int], AnyArray]] = {
    "max-min": far_apart,
    "means": from_means,
    "confusions": from_confusions,
}


# ---- the trial ------------------------------------------------------------------------------------------------------


def trial(problem: Problem, codewords: Any, rounds: int) -> dict[str, Any]:
    """Accuracy and log-loss after a third of the rounds and at the end, dimensions, and CPU seconds of the fit."""
    X, y, X_test, y_test = problem
    begin = time.process_time()
    clf = SimplexBoostClassifier(n_estimators=rounds, codewords=codewords, n_jobs=1, random_state=0).fit(X, y)
    found: dict[str, Any] = {"seconds": time.process_time() - begin, "d": int(clf.model_.Y.shape[1])}
    for name, n_rounds in (("early", rounds // 3), ("end", rounds)):
        P = keep_rounds(clf, n_rounds).predict_proba(X_test)
        own = P[np.arange(len(y_test)), y_test].clip(1e-12)
        found[name] = [float((P.argmax(axis=1) == y_test).mean()), float(-np.log(own).mean())]
    return found


def cells_of(name: str, options: argparse.Namespace, have: dict[str, Any], save: Callable[[], None]) -> None:
    """All trials on a table that are not there yet."""
    problem, rounds = TABLES[name](), options.rounds
    names = {f"{code}, {d}": (CODES[code], d) for code in CODES for d in options.dimensions}
    for label, (make, d) in ({"canonical": (None, 0)} | names).items():
        if label not in have and label.partition(",")[0] in options.codes:
            have[label] = trial(problem, "canonical" if make is None else make(problem, d), rounds)
            save()
            print(name, label, json.dumps(have[label]), flush=True)


def page(cells: dict[str, dict[str, Any]], rounds: int) -> str:
    """All figures as a page."""
    lines = [
        "# Codes for many classes\n\n"
        f"Generated by `python -m benchmarks.codes`, which says what is compared; {rounds} rounds, one fit each. "
        f"Accuracy / log-loss after {rounds // 3} rounds and after all; CPU seconds of the fit, not of the code.",
    ]
    for name, found in cells.items():
        rows = [
            [label, str(cell["d"]), *(f"{cell[at][0]:.3f} / {cell[at][1]:.3f}" for at in ("early", "end")),
             f"{cell['seconds']:.1f}"]
            for label, cell in found.items()
        ]  # fmt: skip
        lines += ["", f"## {name}", "", *table(["code", "d", "early", "end", "s"], rows)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all trials, or those that a file does not have yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--codes", nargs="+", choices=["canonical", *CODES], default=["canonical", *CODES])
    parser.add_argument("--json", type=Path, default=Path("build/codes.json"))
    parser.add_argument("--why", type=Path, default=Path("build/codes_why.json"), help="cells of benchmarks.codes_why")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--page-only", action="store_true", help="compute nothing")
    options = parser.parse_args()
    cells: dict[str, dict[str, Any]] = json.loads(options.json.read_text()) if options.json.exists() else {}
    options.json.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        options.json.write_text(json.dumps(cells))

    for name in () if options.page_only else options.tables:
        cells_of(name, options, cells.setdefault(name, {}), save)
    from .codes_why import sections

    why = json.loads(options.why.read_text()) if options.why.exists() else {}
    options.page.write_text(page(cells, options.rounds) + "\n".join([*sections(why), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
