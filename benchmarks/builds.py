"""Two builds of the package side by side: ``python -m benchmarks.builds OLD_PYTHON NEW_PYTHON`` prints their times.

Each is the Python of an environment that has the package. Both run the same fits in turns, each in a process of its
own, so that a busy machine disturbs both alike. The table has medians, minima and their ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

# What one process runs: a table, the parameters that both builds know, and how often; it prints seconds.
PROGRAM = """
import json, sys, time
import numpy as np
import simplexboost as sb
name, repeats = sys.argv[1], int(sys.argv[2])
booster, rounds, n, p, K, choose = json.loads(sys.argv[3])
if name.startswith("digits"):
    from sklearn.datasets import load_digits
    X, y = load_digits(return_X_y=True)
else:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n), np.linspace(-1, 1, K - 1))
keywords = {"random_state": 0, "n_jobs": 1}
if not choose:
    keywords["n_estimators"] = rounds
def fit():
    start = time.perf_counter()
    getattr(sb, booster)(**keywords).fit(X, y)
    return time.perf_counter() - start
fit()
print(json.dumps(min(fit() for _ in range(repeats))))
"""
# name: booster, rounds, rows, columns, classes, whether the default chooses the rounds by itself
FITS = {
    "500 x 10, 3 classes, 200 rounds": ("SimplexBoostClassifier", 200, 500, 10, 3, False),
    "2000 x 30, 3 classes, 200 rounds": ("SimplexBoostClassifier", 200, 2000, 30, 3, False),
    "digits, 200 rounds": ("SimplexBoostClassifier", 200, 0, 0, 0, False),
    "20000 x 20, 10 classes, 50 rounds": ("SimplexBoostClassifier", 50, 20000, 20, 10, False),
    "100000 x 20, 5 classes, 20 rounds": ("SimplexBoostClassifier", 20, 100000, 20, 5, False),
    "500 x 10, 3 classes, default": ("SimplexBoostClassifier", 0, 500, 10, 3, True),
    "2000 x 30, 3 classes, AdaBoost.MM, 100 rounds": ("AdaBoostMMClassifier", 100, 2000, 30, 3, False),
    "digits, GD-MCBoost, 50 rounds": ("GDMCBoostClassifier", 50, 0, 0, 0, False),
}


def seconds(python: str, name: str, repeats: int) -> float:
    """Return the fastest of several fits in one process."""
    command = [python, "-c", PROGRAM, name, str(repeats), json.dumps(FITS[name])]
    return float(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print("| fit | old, median (min) s | new, median (min) s | ratio of medians (of minima) |\n|---|---|---|---|")
    for name in FITS:
        times: dict[str, list[float]] = {"old": [], "new": []}
        for _ in range(asked.turns):
            for build in times:
                times[build].append(seconds(getattr(asked, build), name, asked.repeats))
        old, new = ((statistics.median(found), min(found)) for found in times.values())
        shown = " | ".join(f"{median:.3f} ({least:.3f})" for median, least in (old, new))
        print(f"| {name} | {shown} | {new[0] / old[0]:.3f} ({new[1] / old[1]:.3f}) |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
