"""Small things quickly: ``python -m benchmarks.start`` times the import, and 100 rounds on iris in one thread."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

from sklearn.datasets import load_iris

from simplexboost import SimplexBoostClassifier

MODULES = ("sklearn", "sklearn.ensemble", "simplexboost")


def import_seconds(module: str) -> float:
    """The time to import a module in a fresh interpreter."""
    code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def iris_seconds(repeats: int, rounds: int = 100) -> list[float]:
    """The times of some fits on iris, the first one cold."""
    X, y = load_iris(return_X_y=True)
    seconds = []
    for _ in range(repeats):
        model = SimplexBoostClassifier(n_estimators=rounds, n_jobs=1, random_state=0)
        begin = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - begin)
    print(f"iris, {model.n_iter_} of {rounds} rounds, 1 thread: ", end="")
    return seconds


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args(argv).repeats
    seconds: dict[str, list[float]] = {module: [] for module in MODULES}
    for _ in range(repeats + 1):
        for module, times in seconds.items():
            times.append(import_seconds(module))
    typical = {module: median(times[1:]) for module, times in seconds.items()}  # the first fills the file cache
    for module, value in typical.items():
        more = f", {value - typical['sklearn']:+.3f} s over sklearn" if module != "sklearn" else ""
        print(f"import {module}: {value:.3f} s{more}", flush=True)
    first, *others = iris_seconds(repeats + 1)
    print(f"{median(others):.3f} s (the first time {first:.3f} s)")


if __name__ == "__main__":
    main()
