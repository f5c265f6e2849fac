"""How the time of a round grows with the number of classes, and whether very many classes fit in memory.

``python -m benchmarks.growth``: 100 000 rows, 50 features, 10 to 1000 classes; memory at 10 000 classes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .synthetic import measure_apart


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", default="10,100,1000")
    parser.add_argument("--memory-classes", type=int, default=10_000, help="0 for none")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(argv)
    size = {"n": options.rows, "p": options.features, "threads": options.threads}
    print(f"{options.rows} rows, {options.features} features, {options.threads} threads", flush=True)

    first = 0.0
    for K in map(int, options.classes.split(",")):
        result = measure_apart(K=K, rounds=options.rounds, **size)
        seconds = result["seconds_per_round"]
        first = first or seconds
        print(line(K, result) + f", {seconds / first:.2f} times the first", flush=True)
    if options.memory_classes:
        print(line(options.memory_classes, measure_apart(K=options.memory_classes, rounds=3, **size)))


def line(K: int, result: dict[str, float]) -> str:
    """One measurement in words."""
    memory = f"{result['memory_mb']:.0f} MB ({result['memory_before_fit_mb']:.0f} before the fit)"
    return f"K = {K:6d}: {1000 * result['seconds_per_round']:8.1f} ms a round, {memory}"


if __name__ == "__main__":
    main()
