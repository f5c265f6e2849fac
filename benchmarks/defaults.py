"""Defaults chosen inside training parts: ``python -m benchmarks.defaults`` prints what every value of a default costs.

Nothing here sees a test part. The training part of every table (some of its rows, where there are many) is cut into
three folds, and each is predicted by a model of the other two. The subjects are

- ``candidates``: how many rivals a row keeps the scores of, after 60 rounds,
- ``smoothness``: how much shorter fast waves are in the codewords of ordered classes, with rounds chosen by early
  stopping inside the two folds,
- ``shares``: how many rows with the shares of training `estimate_prior` adds to n rows of K classes, in models of 60
  rounds. The rows held out are drawn with random shares of the classes, with shares half way between these and those of
  training, and with those of training, all rows that there are and a hundred of them, three times each, and are
  predicted with the shares that are estimated from them,
- ``labels``: the penalty and the learning rate of several labels; of all numbers of rounds up to 80 divided by the
  learning rate, at four stages, the best counts.

The figure is the log-loss of the rows held out, in per cent above the lowest on that table. Its mean over the tables
decides; the last line tells on how many tables a value is better than the default, and in the mean of how many standard
errors (over tables) they differ. ``--json`` keeps the cells, so that a run goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import islice, product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, StratifiedKFold

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray
from simplexboost.boosting.decisions import median_class
from simplexboost.decide.probabilities import adapt_proba, fit_prior
from simplexboost.parts.codewords import Ordered, Ordinal
from simplexboost.parts.optimizers import SketchedNewton

from . import costs, labels, ordinal
from .repeats import table

MOST = 6_000  # rows of a training part
Rows = tuple[AnyArray, AnyArray, Any]  # X, y, and which columns are categories
Figures = dict[str, float]


# ---- tables ---------------------------------------------------------------------------------------------------------


def training_part(name: str) -> Rows:
    """Some rows of the training part of a set of the folder."""
    data = datasets.load(name)
    chosen = np.sort(np.random.default_rng(0).permutation(len(data.y_train))[:MOST])
    return data.X_train[chosen], np.unique(data.y_train[chosen], return_inverse=True)[1], np.asarray(data.categorical)


def blobs(K: int, per_class: int, noise: float) -> Rows:
    """Gaussian classes in 20 dimensions."""
    rng = np.random.default_rng(1)
    y = np.arange(K * per_class) % K
    X = rng.normal(size=(K, 20))[y] + noise * rng.normal(size=(len(y), 20))
    return X, y, None


def half(rows: tuple[AnyArray, AnyArray]) -> Rows:
    """The first half, which `benchmarks.labels` trains on."""
    X, Z = rows
    return X[: len(X) // 2], Z[: len(X) // 2], None


def digit_labels() -> Rows:
    """scikit-learn's digits: odd, prime, above four, with a closed loop."""
    X, y = load_digits(return_X_y=True)
    Z = np.column_stack([y % 2, np.isin(y, (2, 3, 5, 7)), y > 4, labels.LOOPS[y] > 0]).astype(int)
    return X[:1200], Z[:1200], None


def ordered_part(name: str) -> Rows:
    """The first four fifths of a table of `benchmarks.ordinal`, of its training part if it has one; 2000 rows."""
    if name in ("abalone", "nursery"):
        X, y, categorical = training_part(name)
    else:
        X, y, categorical = ordinal.TABLES[name]()
        X, y = X[: len(y) * 4 // 5], y[: len(y) * 4 // 5]
    return X[: ordinal.MOST], y[: ordinal.MOST], categorical


MANY = ("letter", "plants_margin", "plants_shape", "omniglot242", "aloi27", "ujiindoorloc")
TABLES: dict[str, dict[str, Callable[[], Rows]]] = {
    "candidates": {name: lambda name=name: training_part(name) for name in MANY}
    | {
        "made, 300 apart": lambda: blobs(300, 20, 0.4),
        "made, 300 overlapping": lambda: blobs(300, 20, 0.9),
        "made, 1000": lambda: blobs(1000, 12, 0.6),
        "made, 2000": lambda: blobs(2000, 8, 0.5),
    },
    "smoothness": {name: lambda name=name: ordered_part(name) for name in ordinal.TABLES},
    "shares": {name: lambda name=name: training_part(name) for name in costs.SETS.split(",")},
    "labels": {name: lambda name=name: half(labels.LABELS[name](100)) for name in labels.LABELS}
    | {"digits, 4 labels": digit_labels},
}


# ---- what is tried --------------------------------------------------------------------------------------------------

STAGES = (10.0, 20.0, 40.0, 80.0)  # rounds times the learning rate
VALUES: dict[str, dict[str, Any]] = {
    "candidates": {"16": 16, "32": 32, "64": 64, "128": 128, "all": None},
    "smoothness": {"0.5": 0.5, "1": 1.0, "1.5": 1.5, "2": 2.0, "3": 3.0},
    "shares": {
        "1": lambda n, K: 1.0,
        "√n": lambda n, K: n**0.5,
        "K": lambda n, K: K,
        "max(K, √n)": lambda n, K: max(K, n**0.5),
        "2 max(K, √n)": lambda n, K: 2 * max(K, n**0.5),
        "max(4K, √n)": lambda n, K: max(4 * K, n**0.5),
        "4 max(K, √n)": lambda n, K: 4 * max(K, n**0.5),
        "n, nearly none": lambda n, K: n,
    },
    "labels": {f"l2 {l2}, rate {rate}": (l2, rate) for rate in (0.05, 0.1, 0.2) for l2 in (0.2, 1.0, 5.0)},
}
DEFAULTS = {"candidates": "32", "smoothness": "1.5", "shares": "max(K, √n)", "labels": "l2 1.0, rate 0.1"}


def own_loss(P: AnyArray, y: AnyArray) -> float:
    """The log-loss."""
    return float(-np.log(P[np.arange(len(y)), y].clip(1e-6)).mean())


def with_candidates(value: int | None, X: AnyArray, y: AnyArray, X_held: AnyArray, y_held: AnyArray, _: Any) -> Figures:
    """60 rounds."""
    K = int(max(y.max(), y_held.max())) + 1
    clf = SimplexBoostClassifier(
        n_estimators=60, optimizer=SketchedNewton(candidates=value), classes=np.arange(K), n_jobs=1, random_state=0
    ).fit(X, y)
    P = clf.predict_proba(X_held)
    return {"log-loss": own_loss(P, y_held), "accuracy": float((P.argmax(axis=1) == y_held).mean())}


def with_smoothness(value: float, X: AnyArray, y: AnyArray, X_held: AnyArray, y_held: AnyArray, of: Any) -> Figures:
    """Rounds by early stopping, the median as the decision."""
    K = int(max(y.max(), y_held.max())) + 1
    clf = SimplexBoostClassifier(
        classes=Ordinal(np.arange(K)), codewords=Ordered(smoothness=value), early_stopping=True,
        categorical_features=of, n_jobs=1, random_state=0,
    ).fit(X, y)  # fmt: skip
    P = clf.predict_proba(X_held)
    errors = np.abs(median_class(P, np.arange(K)) - y_held)
    return {"log-loss": own_loss(P, y_held), "error": float(errors.mean()), "rounds": float(clf.n_iter_)}


DRAWS, FEW_ROWS, ENOUGH = 3, 100, 10  # rows of a class whose share may be any
SHIFTS = (0.0, 0.5, 1.0)  # how far shares are from those of training
fitted: dict[str, SimplexBoostClassifier] = {}  # the last model of `with_shares`, by its rows


def with_shares(
    value: Callable[[int, int], float], X: AnyArray, y: AnyArray, X_held: AnyArray, y_held: AnyArray, of: Any
) -> Figures:
    """Rows held out whose classes have random shares, predicted with the shares that are estimated from them."""
    key = joblib.hash((X, y))
    if key not in fitted:
        fitted.clear()
        clf = SimplexBoostClassifier(n_estimators=60, calibration=True, n_jobs=1, random_state=0)
        fitted[key] = clf.set_params(categorical_features=of).fit(X, y)
    clf = fitted[key]
    known = np.isin(y_held, clf.classes_)
    P, c = clf.predict_proba(X_held[known]), np.searchsorted(clf.classes_, y_held[known])
    K, losses = len(clf.classes_), []
    for shift, draw in product(SHIFTS, range(DRAWS)):
        rng = np.random.default_rng(draw)
        count = np.bincount(c, minlength=K)
        other = rng.dirichlet(np.ones(K)) * (count >= min(ENOUGH, count.max() / 2))
        true = shift * other / other.sum() + (1 - shift) * count / len(c)
        rows = rng.permutation(costs.of_shares(c, true, rng))
        for some in (rows, rows[:FEW_ROWS]):
            share = fit_prior(P[some], clf.class_prior_, value(len(some), K))
            losses.append(own_loss(adapt_proba(P[some], share, clf.class_prior_), c[some]))
    parts = zip(SHIFTS, np.split(np.array(losses), len(SHIFTS)), strict=True)
    return {"log-loss": float(np.mean(losses))} | {f"shift {shift}": float(part.mean()) for shift, part in parts}


def with_labels(
    value: tuple[float, float], X: AnyArray, y: AnyArray, X_held: AnyArray, held: AnyArray, _: Any
) -> Figures:
    """The best of four stages, as a choice of rounds would find it."""
    l2, rate = value
    clf = SimplexBoostClassifier(
        n_estimators=round(STAGES[-1] / rate), learning_rate=rate, l2_regularization=l2, n_jobs=1, random_state=0
    ).fit(X, y)
    found = {}
    for stage in STAGES:
        P = np.clip(clf.predict_proba(X_held, round(stage / rate)), 1e-6, 1 - 1e-6)
        found[f"at {stage:g}"] = float(-np.where(held, np.log(P), np.log1p(-P)).mean())
    return found | {"log-loss": min(found.values())}


TRIALS: dict[str, Callable[..., Figures]] = {
    "candidates": with_candidates,
    "smoothness": with_smoothness,
    "shares": with_shares,
    "labels": with_labels,
}


# ---- the record -----------------------------------------------------------------------------------------------------


def folds(subject: str, y: AnyArray) -> Iterable[tuple[AnyArray, AnyArray]]:
    """Three folds, of all classes where there is one class a row."""
    if subject == "labels":
        return KFold(3, shuffle=True, random_state=0).split(y)
    return StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def compute(subject: str, name: str, n_folds: int, cells: dict[str, Figures], save: Callable[[], None]) -> None:
    """All values on the first folds of a table that are not there yet."""
    X, y, categorical = TABLES[subject][name]()
    for fold, (train, held) in enumerate(islice(folds(subject, y), n_folds)):
        for label, value in VALUES[subject].items():
            key = f"{subject} | {name} | {label} | {fold}"
            if key in cells:
                continue
            begin = time.process_time()
            cells[key] = TRIALS[subject](value, X[train], y[train], X[held], y[held], categorical)
            cells[key]["seconds"] = time.process_time() - begin
            save()
            print(key, json.dumps(cells[key]), flush=True)


def record(subject: str, cells: dict[str, Figures]) -> list[str]:
    """The table of a subject, of the folds that all values have."""
    shares: dict[str, list[float]] = {label: [] for label in VALUES[subject]}
    rows, seconds = [], {label: 0.0 for label in VALUES[subject]}
    for name in TABLES[subject]:
        done = [i for i in range(3) if all(f"{subject} | {name} | {label} | {i}" in cells for label in shares)]
        if not done:
            continue
        own = {label: [cells[f"{subject} | {name} | {label} | {i}"] for i in done] for label in shares}
        losses = {label: float(np.mean([cell["log-loss"] for cell in found])) for label, found in own.items()}
        best = min(losses.values())
        for label, loss in losses.items():
            shares[label].append(100 * (loss / best - 1))
            seconds[label] += sum(cell["seconds"] for cell in own[label])
        extra = [name for name in ("accuracy", "error") if name in own[DEFAULTS[subject]][0]]
        more = {
            label: "".join(f" ({np.mean([c[e] for c in found]):.3f})" for e in extra) for label, found in own.items()
        }
        rows.append([f"{name}, {len(done)} folds, best {best:.3f}"] + [f"{shares[k][-1]:.1f}{more[k]}" for k in shares])
    if not rows:
        return []
    default = np.array(shares[DEFAULTS[subject]])
    rows.append(["**mean**", *(f"{np.mean(values):.2f}" for values in shares.values())])
    rows.append(["seconds of all fits", *(f"{value:.0f}" for value in seconds.values())])
    rows.append(["better than the default; standard errors", *(against(np.array(v), default) for v in shares.values())])
    return [f"## {subject}, default {DEFAULTS[subject]}", "", *table([subject, *shares], rows), ""]


def against(values: AnyArray, default: AnyArray) -> str:
    """On how many tables values are lower than those of the default, and their mean difference in standard errors."""
    gaps = values - default
    if not gaps.any():
        return "–"
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.inf
    return f"{int((gaps < 0).sum())} of {len(gaps)}; {gaps.mean() / max(error, 1e-12):+.1f}"


def main() -> None:
    """Compute what is missing, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--subjects", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--tables", nargs="+", help="names of tables; all by default")
    parser.add_argument("--folds", type=int, choices=(1, 2, 3), default=3, help="how many of the three are computed")
    parser.add_argument("--json", type=Path, default=Path("build/defaults.json"))
    parser.add_argument("--merge", nargs="+", type=Path, default=[], help="cells of other runs")
    parser.add_argument("--print-only", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's, of classes with fewer rows than folds
    cells: dict[str, Figures] = json.loads(options.json.read_text()) if options.json.exists() else {}
    for path in options.merge:
        cells = json.loads(path.read_text()) | cells
    options.json.parent.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        options.json.write_text(json.dumps(cells))

    save()
    for subject in options.subjects:
        for name in () if options.print_only else TABLES[subject]:
            if options.tables is None or name in options.tables:
                compute(subject, name, options.folds, cells, save)
        print("\n".join(record(subject, cells)))


if __name__ == "__main__":
    main()
