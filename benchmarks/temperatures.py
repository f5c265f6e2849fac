"""Whether a chosen temperature is better than none: ``python -m benchmarks.temperatures -o temperatures.json``.

Each of 16 sets, which were listed before anything was measured, is cut once at random: up to 2000 rows are learned, up
to 2000 others judge. There is a fit for every learning rate of 0.1 and 0.3, for "auto", 100 and 400 rounds, without a
temperature (``calibration=False``) and with a chosen one. Figures are those of the rows that judge: log-loss, expected
calibration error, and the mean size of the sets of coverage 0.9. SIMPLEXBOOST_DATA names the folder of the sets.

The rule of judgement, written down before the first run: a temperature is *worse than none* on a set if the log-loss
is higher by more than one per cent. It may be so on one set in ten at most, for the rounds that are given and for those
that are chosen, and in each of the six settings on 2 of the 16 sets at most. Of ways that keep to this, the one with
the lowest geometric mean of log-loss over all cells wins, unless a simpler or quicker one is within half a per cent.

``--label`` names the version of the code that is measured, so that versions can stand side by side; a run goes on where
it was. ``--print`` only prints the tables.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, decide

from .calibration import reliability
from .repeats import table
from .sets import mixed

SETS = (
    "adult", "allhypo", "analcatdata_dmft", "ann_thyroid", "banana", "calendarDOW", "churn", "collins",
    "led24", "movement_libras", "ring", "saheart", "texture", "titanic", "twonorm", "wine_quality_white",
)  # fmt: skip
RATES, ROUNDS, ROWS = (0.1, 0.3), ("auto", 100, 400), 2000
WORSE = 1.01  # times the log-loss without a temperature
COVERAGE = 0.9


def measure(name: str, rate: float, rounds: Any) -> dict[str, Any]:
    """Figures without a temperature and with a chosen one."""
    X, y, X_test, y_test = mixed(name, ROWS, ROWS, 0)
    out: dict[str, Any] = {}
    for calibration in (False, True):
        begin = time.process_time()
        clf = SimplexBoostClassifier(
            n_estimators=rounds, learning_rate=rate, calibration=calibration, n_jobs=1, random_state=0
        ).fit(X, y)
        seconds, P, c = time.process_time() - begin, clf.predict_proba(X_test), np.searchsorted(clf.classes_, y_test)
        loss = -np.log(P[np.arange(len(c)), c].clip(1e-12)).mean()
        found = {"log-loss": float(loss), "ECE": reliability(P, c).error, "seconds": seconds}
        if clf.set_scores_ is not None:
            S = decide.predict_sets(clf, X_test, COVERAGE)
            found |= {"size": float(S.sum(axis=1).mean()), "coverage": float(S[np.arange(len(c)), c].mean())}
        out["with" if calibration else "without"] = found | {
            "temperature": float(clf.model_.temperature), "rounds": clf.n_iter_
        }  # fmt: skip
    return out


def record(cells: dict[str, dict[str, Any]]) -> list[str]:
    """A line for every version of the code and setting."""
    rows = []
    for label in dict.fromkeys(key.split(" | ")[0] for key in cells):
        for rate, rounds in product(RATES, ROUNDS):
            keys = [f"{label} | {rate} | {rounds} | {name}" for name in SETS]
            found = [cells[key] for key in keys if key in cells]
            if found:
                rows.append([label, f"{rate}", f"{rounds}", *line(found)])
    head = ["version", "rate", "rounds", "log-loss with / without", "worse", "ECE without", "with", "coverage", "size",
            "seconds without", "with"]  # fmt: skip
    return table(head, rows)


def line(found: list[dict[str, Any]]) -> list[str]:
    """The ratio of log-losses, on how many sets a temperature is worse, and means of the other figures."""

    def mean(way: str, figure: str) -> float:
        return float(np.mean([cell[way][figure] for cell in found]))

    ratio = np.array([cell["with"]["log-loss"] / cell["without"]["log-loss"] for cell in found])
    size = np.exp(np.mean([np.log(cell["with"]["size"]) for cell in found]))
    return [
        f"{np.exp(np.log(ratio).mean()):.3f}",
        f"{int((ratio > WORSE).sum())} of {len(found)}",
        f"{mean('without', 'ECE'):.3f}",
        f"{mean('with', 'ECE'):.3f}",
        f"{mean('with', 'coverage'):.3f}",
        f"{size:.2f}",
        f"{mean('without', 'seconds'):.2f}",
        f"{mean('with', 'seconds'):.2f}",
    ]


def main() -> None:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.temperatures", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/temperatures.json"))
    parser.add_argument("--label", default="as it is")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    cells: dict[str, dict[str, Any]] = json.loads(options.output.read_text()) if options.output.exists() else {}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for name, rate, rounds in product(() if options.print else SETS, RATES, ROUNDS):
        key = f"{options.label} | {rate} | {rounds} | {name}"
        if key not in cells:
            cells[key] = measure(name, rate, rounds)
            options.output.write_text(json.dumps(cells))
    print("\n".join(record(cells)))


if __name__ == "__main__":
    main()
