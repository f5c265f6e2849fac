"""Why the defaults are what they are: ``python -m benchmarks.tuning --sets letter,pendigits,… --data-home DIR``.

Every variant of `SimplexBoostClassifier` differs from the defaults in one respect. It is cross-validated inside the
training parts, several fits side by side, one thread each; the test parts are never touched. Finished fits go to a JSON
file, so that a run can be continued, and the table shows differences from the defaults on the same folds.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from runner import Cell, File, Workers, run
from simplexboost import SimplexBoostClassifier, datasets
from simplexboost.parts.optimizers import SketchedNewton

BASE = "defaults"
VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "400 rounds, rate 0.1": {"n_estimators": 400, "learning_rate": 0.1},
    "symmetric only": {"growth": "symmetric"},
    "best-first only": {"growth": "best"},
    "no noise": {"gain_noise": 0.0},
    "twice the noise": {"gain_noise": 2.0},
    "16 leaves": {"max_leaf_nodes": 16},
    "256 leaves": {"max_leaf_nodes": 256},
    "no calibration": {"calibration": False},
    "1 row a leaf": {"min_samples_leaf": 1},
    "10 rows a leaf": {"min_samples_leaf": 10},
    "l2 0.05": {"l2_regularization": 0.05},
    "l2 1": {"l2_regularization": 1.0},
    "steps up to 1": {"optimizer": SketchedNewton(max_step=1.0)},
    "steps up to 4": {"optimizer": SketchedNewton(max_step=4.0)},
    "any step": {"optimizer": SketchedNewton(max_step=None)},
    "half of the columns": {"max_features": 0.5},
    "all columns": {"max_features": 1.0},
    "0.7 of the rows": {"subsample": 0.7},
    "rate 0.1": {"learning_rate": 0.1},
    "rate 0.03": {"learning_rate": 0.03},
    "2 directions": {"optimizer": SketchedNewton(sketch=2)},
    "simplex code": {"codewords": "simplex"},
    "max-min code": {"codewords": "max-min"},
}
STAGES = (25, 50, 100, 200, 300, 400, 600, 800)
AT_MOST = 20_000  # rows of a set


@dataclass(frozen=True)
class Trial(Cell):
    """A variant on a fold of a set."""

    dataset: str
    variant: str
    fold: int
    folds: int
    in_order: bool = False
    data_home: str | None = None

    @property
    def key(self) -> str:
        """The folds are the same for all trials of a file."""
        return f"{self.dataset}/{self.variant}/{self.fold}"


def measure(trial: Trial) -> dict[str, Any]:
    """Accuracy and log-loss on a fold held out, at several stages."""
    data = datasets.load(trial.dataset, trial.data_home)
    X, y = data.X_train[:AT_MOST].astype(np.float32), np.unique(data.y_train[:AT_MOST], return_inverse=True)[1]
    train, held = split(y, trial.folds, trial.in_order)[trial.fold]
    options = dict(VARIANTS[trial.variant])
    categorical = data.categorical if np.any(data.categorical) else None
    clf = SimplexBoostClassifier(
        random_state=trial.fold, n_jobs=1, categorical_features=categorical, classes=np.unique(y), **options
    )
    clf.fit(X[train], y[train])
    curve = []
    for stage, P in enumerate(clf.staged_predict_proba(X[held]), 1):
        if stage in STAGES or stage == clf.n_iter_:
            own = P[np.arange(len(held)), y[held]]
            curve.append([stage, float(np.mean(P.argmax(axis=1) == y[held])), float(-np.log(own.clip(1e-15)).mean())])
    return {"set": trial.dataset, "variant": trial.variant, "fold": trial.fold, "curve": curve}


def split(y: Any, folds: int, in_order: bool) -> list[Any]:
    """Folds at random; or of neighbouring rows, which are other writers where writers come one after the other."""
    splitter = KFold if in_order or np.bincount(y).min() < folds else StratifiedKFold
    order = {} if in_order else {"shuffle": True, "random_state": 7}
    return list(splitter(folds, **order).split(y, y))


def table(lines: Sequence[dict[str, Any]], base: str = BASE) -> str:
    """Differences from the base on the folds both have: points of accuracy, per cent of log-loss; better is +, −."""
    curves: dict[tuple[str, str], dict[int, list[list[float]]]] = defaultdict(dict)
    for line in lines:
        curves[line["variant"], line["set"]][line["fold"]] = line["curve"]
    sets, variants = ([*dict.fromkeys(line[key] for line in lines)] for key in ("set", "variant"))
    sets = [name for name in sets if (base, name) in curves]
    rows = [f"{'':25s}" + "".join(f"{name[:13]:>14s}" for name in sets) + f"{'mean':>14s}"]
    for variant in [base, *(v for v in variants if v != base)]:
        both = [_difference(curves[base, name], curves.get((variant, name), {})) for name in sets]
        if variant == base:
            shown = [f"{own[0]:9.4f}/{own[1]:.3f}"[-14:] for own, _ in both if own is not None] + [""]
        else:
            known = [change for _, change in both if change is not None]
            mean = np.mean(known, axis=0) if known else None
            shown = [" " * 14 if c is None else f"{c[0]:+8.2f}{c[1]:+6.1f}" for c in [*(c for _, c in both), mean]]
        rows.append(f"{variant:25s}" + "".join(shown))
    return "\n".join(row.rstrip() for row in rows)


def _difference(base: dict[int, Any], other: dict[int, Any]) -> tuple[Any, Any]:
    """The other's final accuracy and log-loss, and how they differ from the base's, on the folds of both."""
    folds = sorted(set(base) & set(other))
    if not folds:
        return None, None
    own, theirs = (np.mean([curves[fold][-1][1:] for fold in folds], axis=0) for curves in (other, base))
    return own, (100 * (own[0] - theirs[0]), 100 * np.log(own[1] / theirs[1]))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning", description=__doc__)
    parser.add_argument("--sets", default="digits,wine")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="some of the names, separated by commas")
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--in-order", action="store_true", help="folds of neighbouring rows, not random ones")
    parser.add_argument("--data-home")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path("tuning.json"), help="finished fits go there at once")
    options = parser.parse_args(argv)
    if unknown := [variant for variant in options.variants.split(",") if variant not in VARIANTS]:
        parser.error(f"--variants: {unknown} unknown; choose from {', '.join(VARIANTS)}")
    results = File(options.json, {"options": {"folds": options.folds, "in_order": options.in_order}}, resume=True)
    run(trials(options), results, measure, Workers(options.jobs))
    print(table([line for line in results.cells.values() if "error" not in line]))


def trials(options: argparse.Namespace) -> list[Trial]:
    """All that are asked for."""
    return [
        Trial(name, variant, fold, options.folds, options.in_order, options.data_home)
        for name in options.sets.split(",")
        for variant in options.variants.split(",")
        for fold in range(options.folds)
    ]


if __name__ == "__main__":
    main()
