"""Sets of classes with a promised coverage, on every set of the data folder and beside MAPIE.

``python -m benchmarks.sets -o benchmarks/sets.json`` measures (SIMPLEXBOOST_DATA names the folder), and ``python -m
benchmarks.sets --page benchmarks/sets.json`` writes the tables of SETS.md.

The training and test rows of a set are mixed and cut anew at random, because a promise of coverage is one for rows of
the same kind: some of the sets have other speakers or days in their test part. Two models are fitted. The first one has
all training rows, and makes its sets from the rows that its own choice of rounds holds out. The second one has four
fifths of them, with the rounds and trees of the first one; the last fifth calibrates our sets, and those of MAPIE (with
its scores "lac", "aps" and "raps") around the same fitted model. MAPIE is optional: ``pip install mapie``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from simplexboost import SimplexBoostClassifier, datasets, decide
from simplexboost.decide.sets import class_scores, threshold

LEVELS = (0.9, 0.95, 0.99)
MAPIE = ("lac", "aps", "raps")
RULES = ("ours", "one threshold", "random")


def in_folder() -> list[str]:
    """The sets of the data folder; none if there is no folder."""
    folder = os.environ.get(datasets.ENVIRONMENT)
    return sorted(path.stem for path in Path(folder).glob("*.npz")) if folder else []


def mixed(name: str, n_train: int, n_test: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of both parts of a set in random order, cut anew; classes of fewer than two training rows are left out."""
    data = datasets.load(name)
    X, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(n_train, 2 * len(y) // 3)
    train, test = order[:n_train], order[n_train : n_train + n_test]
    labels, count = np.unique(y[train], return_counts=True)
    train, test = (rows[np.isin(y[rows], labels[count > 1])] for rows in (train, test))
    return X[train], y[train], X[test], y[test]


def quality(S: np.ndarray, c: np.ndarray) -> dict[str, float]:
    """Coverage, mean size, the part of empty sets, and the lowest coverage of a class of at least 50 rows."""
    hit = S[np.arange(len(c)), c]
    by_class = [hit[c == k].mean() for k in np.unique(c) if (c == k).sum() >= 50]
    return {
        "coverage": float(hit.mean()),
        "size": float(S.sum(axis=1).mean()),
        "empty": float((~S.any(axis=1)).mean()),
        "worst": float(min(by_class, default=np.nan)),
    }


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest time of some calls, and what the last one returned."""
    seconds, out = [], None
    for _ in range(repeats):
        begin = time.perf_counter()
        out = work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), out


def measure(name: str, n_train: int, n_test: int, seed: int) -> dict[str, Any]:
    """Everything about one set."""
    X, y, X_test, y_test = mixed(name, n_train, n_test, seed)
    seconds, clf = timed(lambda: SimplexBoostClassifier(random_state=seed).fit(X, y), 1)
    c = np.searchsorted(clf.classes_, y_test)
    out: dict[str, Any] = {"set": name, "n": len(y), "n_test": len(c), "K": len(clf.classes_), "fit": seconds}
    out["accuracy"] = float((clf.predict(X_test) == y_test).mean())
    out["held out"] = {str(q): quality(decide.predict_sets(clf, X_test, q), c) for q in LEVELS}
    out["per class"] = {str(q): quality(decide.predict_sets(clf, X_test, q, per_class=True), c) for q in LEVELS}
    fixed = {"n_estimators": clf.n_iter_, "calibration": clf.choice_.temperature, **clf.choice_.params}
    cut = 4 * len(y) // 5
    part = clone(clf).set_params(**fixed).fit(X[:cut], y[:cut])
    known = np.isin(y, part.classes_)
    asked = np.isin(y_test, part.classes_)
    fresh = slice(cut, None)
    if not known[fresh].any():
        return out
    X_fresh, y_fresh = X[fresh][known[fresh]], y[fresh][known[fresh]]
    Xt, ct = X_test[asked], np.searchsorted(part.classes_, y_test[asked])
    out["n_fresh"] = len(y_fresh)
    seconds, calibrated = timed(lambda: decide.calibrate_sets(part, X_fresh, y_fresh))
    more, _ = timed(lambda: decide.predict_sets(calibrated, Xt, LEVELS[0]))
    out["fresh"] = {"seconds": seconds + more} | {
        str(q): quality(decide.predict_sets(calibrated, Xt, q), ct) for q in LEVELS
    }
    P, P_test = part.predict_proba(X_fresh), part.predict_proba(Xt)
    out["rules"] = rules(P, np.searchsorted(part.classes_, y_fresh), P_test, ct)
    out["mapie"] = {score: beside(part, score, X_fresh, y_fresh, Xt, ct) for score in MAPIE}
    return out


def beside(part: Any, score: str, X: Any, y: Any, X_test: Any, c: np.ndarray) -> dict[str, Any]:
    """MAPIE's sets around a fitted model; without those levels for which it says that the rows are too few."""
    from mapie.classification import SplitConformalClassifier

    def work(level: float) -> np.ndarray:
        mapie = SplitConformalClassifier(part, confidence_level=level, conformity_score=score, prefit=True)
        sets: np.ndarray = mapie.conformalize(X, y).predict_set(X_test)[1]
        return sets[:, :, 0]

    found: dict[str, Any] = {}
    for q in LEVELS:
        try:
            seconds, S = timed(lambda: work(q), 3 if q == LEVELS[0] else 1)  # noqa: B023
        except ValueError:
            continue
        found |= {str(q): quality(S, c)} | ({"seconds": seconds} if q == LEVELS[0] else {})
    return found


def rules(P: np.ndarray, c: np.ndarray, P_test: np.ndarray, c_test: np.ndarray) -> dict[str, Any]:
    """Other scores than ours, calibrated by the same rows: one threshold for all probabilities, and random ones.

    "one threshold" takes the classes whose probability is above it, and the most probable one in any case; "random" is
    the score of Romano, Sesia and Candès with a random part of the class's own probability.
    """
    rng = np.random.default_rng(0)

    def ours(P: np.ndarray) -> np.ndarray:
        return class_scores(P)

    def one_threshold(P: np.ndarray) -> np.ndarray:
        return np.where(P == P.max(axis=1, keepdims=True), 0.0, 1.0 - P)

    def random(P: np.ndarray) -> np.ndarray:
        return class_scores(P) + rng.random((len(P), 1)) * P

    found = {}
    for name, score in zip(RULES, (ours, one_threshold, random), strict=True):
        own, all_scores = np.sort(score(P)[np.arange(len(c)), c]), score(P_test)
        found[name] = {str(q): quality(all_scores <= threshold(own, None, q), c_test) for q in LEVELS}
    return found


# ---- the page -------------------------------------------------------------------------------------------------------


HEAD = """# Sets of classes with a promised coverage

What [sets](../docs/sets.md) hold on fresh rows: `python -m benchmarks.sets -o sets.json` measures (with
`SIMPLEXBOOST_DATA` naming the data folder), `python -m benchmarks.sets --page sets.json` writes this page.

## Every data set

The training and test rows of a set were mixed and cut anew at random, because a promise of coverage is one for rows
of the same kind. The model has its defaults, and its sets come from the rows that its choice of rounds holds out.
Every cell has the part of the fresh rows whose set has the true class, and the mean size of the sets. No set is
empty, so where the accuracy is above the coverage, sets have one class and cover more. The last column promises 0.9
for every class: the lowest coverage of a class of at least 50 fresh rows (which is the lowest of many random
numbers: with 50 rows of a class 0.8 is nothing unusual), and the mean size."""
BESIDE = """
## Beside MAPIE

The same rows. Four fifths of the training rows fit one model, with the rounds and trees that were chosen above; the
last fifth calibrates, in turn, our sets and those of MAPIE {version} around that model (with its scores "lac",
"aps" and "raps", the latter where it accepts so few rows). "ours, held out" needs no such fifth: its model has all
rows. The last two columns are other scores in our own code: one threshold for all probabilities ("lac", but with
the most probable class always in the set), and the adaptive score with a random part of the class's own
probability. Means over data sets, geometric ones of sizes; seconds are those of calibration and prediction
together, without fits, summed over data sets."""


def page(cells: list[dict[str, Any]]) -> Iterable[str]:
    """The page, line by line."""
    from importlib.metadata import version

    yield f"{HEAD}\n"
    yield from coverage_table(cells)
    yield f"{BESIDE.format(version=version('mapie'))}\n"
    yield from size_table(cells)


def coverage_table(cells: list[dict[str, Any]]) -> Iterable[str]:
    """Coverage of fresh rows and mean size, of every set."""
    yield "| set | classes | rows | fresh rows | accuracy | 0.9 | 0.95 | 0.99 | 0.9 of every class, worst class |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for cell in cells:
        found = [cell["held out"][str(q)] for q in LEVELS]
        worst = cell["per class"]["0.9"]
        columns = [f"{q['coverage']:.3f} / {q['size']:.2f}" for q in found]
        last = f"{worst['worst']:.3f} / {worst['size']:.2f}" if np.isfinite(worst["worst"]) else "–"
        yield f"| {cell['set']} | {cell['K']} | {cell['n']} | {cell['n_test']} | {cell['accuracy']:.3f} | {' | '.join(columns)} | {last} |"  # fmt: skip # noqa: E501


def size_table(cells: list[dict[str, Any]]) -> Iterable[str]:
    """Ours beside MAPIE's: means over sets of coverage, size and empty sets for every level, and the seconds of 0.9."""
    columns: list[Callable[[dict[str, Any]], dict[str, Any]]] = [lambda cell: cell["held out"]]
    columns += [lambda cell: cell["fresh"]]
    columns += [lambda cell, score=score: cell["mapie"][score] for score in MAPIE]  # type: ignore[misc]
    columns += [lambda cell, rule=rule: cell["rules"][rule] for rule in RULES[1:]]  # type: ignore[misc]
    names = ["ours, held out", "ours, fresh rows", *(f"MAPIE {score}" for score in MAPIE), *RULES[1:]]
    yield f"| coverage | sets | | {' | '.join(names)} |"
    yield f"|--:|--:|---|{'--:|' * len(names)}"
    for q in map(str, LEVELS):
        whole = [cell for cell in cells if "mapie" in cell and q in cell["mapie"]["aps"]]
        for what in ("coverage", "size", "empty"):
            values = [[of(cell)[q][what] for cell in whole if q in of(cell)] for of in columns]
            mean = geometric_mean if what == "size" else np.mean
            texts = [f"{mean(some):.3f}" if len(some) == len(whole) else "–" for some in values]
            yield f"| {q} | {len(whole)} | {what} | {' | '.join(texts)} |"
    whole = [cell for cell in cells if "mapie" in cell and all("seconds" in cell["mapie"][s] for s in MAPIE)]
    seconds = [sum(of(cell)["seconds"] for cell in whole) for of in columns[1:5]]
    yield f"| 0.9 | {len(whole)} | seconds | – | {' | '.join(f'{s:.2f}' for s in seconds)} | – | – |"


def geometric_mean(values: list[float]) -> float:
    """The mean that no single large value decides."""
    return float(np.exp(np.mean(np.log(values))))


def main() -> None:
    """Measure, or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="names, separated by commas; all sets of the folder if not given")
    parser.add_argument("--rows", type=int, default=2000, help="training rows, at most")
    parser.add_argument("--fresh", type=int, default=4000, help="rows to test on, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="a JSON file; what it has already is not measured again")
    parser.add_argument("--page", type=Path, help="write the tables of such a file")
    options = parser.parse_args()
    if options.page:
        print("\n".join(page(json.loads(options.page.read_text()))))
        return
    warnings.filterwarnings("ignore")  # of MAPIE: classes that the fresh rows lack
    cells = json.loads(options.output.read_text()) if options.output and options.output.exists() else []
    for name in options.sets.split(",") if options.sets else in_folder():
        if any(cell["set"] == name for cell in cells):
            continue
        cells.append(measure(name, options.rows, options.fresh, options.seed))
        print(json.dumps(cells[-1]), flush=True)
        if options.output:
            options.output.write_text(json.dumps(cells, indent=1))


if __name__ == "__main__":
    main()
