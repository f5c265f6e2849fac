"""What a second thread brings: ``python -m benchmarks.scaling`` fits 50 000 rows with one thread and two, in turn."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median

from .synthetic import measure_apart


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", default="10,100")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    for K in map(int, options.classes.split(",")):
        size = {"n": options.rows, "p": options.features, "K": K, "rounds": options.rounds}
        seconds: dict[int, list[float]] = {1: [], options.threads: []}
        for repeat in range(options.repeats):
            for threads in sorted(seconds, reverse=bool(repeat % 2)):
                seconds[threads].append(measure_apart(threads=threads, **size)["fit_seconds"])
        one, several = median(seconds[1]), median(seconds[options.threads])
        fit = f"{options.rows} rows, {K} classes, {options.rounds} rounds"
        print(f"{fit}: {one:.2f} s with 1 thread, {several:.2f} s with {options.threads}: {one / several:.2f} times")


if __name__ == "__main__":
    main()
