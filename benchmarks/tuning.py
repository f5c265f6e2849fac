"""Why the defaults are what they are: ``python -m benchmarks.tuning --sets letter,pendigits,… --data-home DIR``.

Every variant of `SimplexBoostClassifier` differs from the defaults in one respect. It is fitted on four fifths of the
training rows and measured on the fifth held out; the test parts are never touched. The last two columns are means over
the sets: of the accuracy, and the geometric one of the log-loss.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from simplexboost import SimplexBoostClassifier, datasets

VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "leaves 16": {"max_leaves": 16},
    "leaves 31": {"max_leaves": 31},
    "leaves 63": {"max_leaves": 63},
    "depth 8": {"max_depth": 8},
    "depth 10": {"max_depth": 10},
    "1 row a leaf": {"min_samples_leaf": 1},
    "20 rows a leaf": {"min_samples_leaf": 20},
    "l2 0.3": {"l2_regularization": 0.3},
    "l2 3": {"l2_regularization": 3.0},
    "all columns": {"colsample": 1.0},
    "0.6 of columns": {"colsample": 0.6},
    "0.7 of rows": {"subsample": 0.7},
    "rate 0.2": {"learning_rate": 0.2},
    "rate 0.05 and 800 rounds": {"learning_rate": 0.05, "n_estimators": 800},
    "2 directions": {"sketch": 2},
    "simplex code": {"code": "simplex"},
    "max-min code": {"code": "max-min"},
}


def held_out_split(name: str, data_home: str | None) -> tuple[Any, ...]:
    """Four fifths and one fifth of a set's training rows, in single precision."""
    data = datasets.load(name, data_home)
    X, y = data.X_train.astype(np.float32), data.y_train
    return tuple(
        train_test_split(X, y, test_size=0.2, random_state=1, stratify=y if np.bincount(y).min() > 1 else None)
    )


def measure(parts: tuple[Any, ...], n_jobs: int, **options: Any) -> tuple[float, float]:
    """Held-out accuracy and log-loss."""
    X, X_held, y, y_held = parts
    clf = SimplexBoostClassifier(random_state=0, n_jobs=n_jobs, **options).fit(X, y)
    P = clf.predict_proba(X_held)
    return float(np.mean(clf.classes_[P.argmax(axis=1)] == y_held)), float(log_loss(y_held, P, labels=clf.classes_))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print, a line per variant."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning", description=__doc__)
    parser.add_argument("--sets", default="digits,wine")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="some of the names, separated by commas")
    parser.add_argument("--data-home")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(argv)
    names, variants = options.sets.split(","), options.variants.split(",")
    if unknown := [variant for variant in variants if variant not in VARIANTS]:
        parser.error(f"--variants: {unknown} unknown; choose from {', '.join(VARIANTS)}")
    splits = {name: held_out_split(name, options.data_home) for name in names}
    print(f"{'':28s}" + "".join(f"{name[:15]:>16s}" for name in names) + f"{'mean':>16s}")
    for variant in variants:
        results = np.array([measure(splits[name], options.threads, **VARIANTS[variant]) for name in names])
        rows = np.vstack([results, [results[:, 0].mean(), np.exp(np.log(results[:, 1]).mean())]])
        print(f"{variant:28s}" + "".join(f"{accuracy:9.4f}/{loss:6.4f}" for accuracy, loss in rows), flush=True)


if __name__ == "__main__":
    main()
