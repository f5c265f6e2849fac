"""What more threads bring: ``python -m benchmarks.scaling`` prints milliseconds a round for several numbers of threads.

A problem is the name of a data set (``letter``) or a size, rows x features x classes (``1000000x50x10``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from joblib import cpu_count

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray
from simplexboost.boosting import Callback

from .synthetic import make


class Stamps(Callback):
    """The time at the end of every round."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def after_round(self, run: Any) -> None:
        """Look at the clock."""
        self.seconds.append(time.perf_counter())


def problem(name: str) -> tuple[AnyArray, AnyArray]:
    """X (n, p) and labels (n,)."""
    if name[0].isdigit():
        n, p, K = map(int, name.split("x"))
        return make(n, p, K)
    data = datasets.load(name)
    return data.X_train, data.y_train


def milliseconds(X: AnyArray, y: AnyArray, rounds: int, threads: int) -> float:
    """The median time of a round, without the first ones."""
    stamps = Stamps()
    clf = SimplexBoostClassifier(n_estimators=rounds, n_jobs=threads, random_state=0, callbacks=[stamps])
    clf.fit(X, y)
    return 1e3 * median(np.diff(stamps.seconds)[rounds // 4 :])


def powers_of_two(most: int) -> list[int]:
    """1, 2, 4, .. and `most` itself."""
    return sorted({most, *(2**i for i in range(most.bit_length()) if 2**i < most)})


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--problems", default="20000x16x26,50000x50x10,50000x50x100")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", default=",".join(map(str, powers_of_two(cpu_count()))))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    threads = [int(t) for t in options.threads.split(",")]
    print("| ms a round | " + " | ".join(f"{t} threads" for t in threads) + " | gain |")
    print("|---" * (len(threads) + 2) + "|")
    for name in options.problems.split(","):
        X, y = problem(name)
        times: dict[int, list[float]] = {t: [] for t in threads}
        for repeat in range(options.repeats):  # to and fro, so that a machine that slows down slows all of them
            for t in sorted(threads, reverse=bool(repeat % 2)):
                times[t].append(milliseconds(X, y, options.rounds, t))
        best = [min(times[t]) for t in threads]
        print(f"| {name} | " + " | ".join(f"{ms:.2f}" for ms in best) + f" | {best[0] / best[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
