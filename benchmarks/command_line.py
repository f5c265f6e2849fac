"""A large CSV through the command line: ``python -m benchmarks.command_line`` makes it, fits, predicts and measures.

The table has numbers, dates, categories, holes and words among numbers. Times and peak memory are those of the
processes; what they print goes through.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

BLOCK = 50_000  # rows made at a time
CITIES = np.array(["Berlin", "Lagos", "Lima", "Osaka", "Pune", "Quito", "Rabat", ""])


def make_table(path: Path, n: int, p: int, K: int) -> None:
    """Write n rows of p columns and a label of K classes."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(K, p - 3))
    with open(path, "w") as file:
        file.write(",".join([*(f"x{j}" for j in range(p - 3)), "city", "day", "count", "label"]) + "\n")
        for begin in range(0, n, BLOCK):
            rows = min(BLOCK, n - begin)
            c = rng.integers(K, size=rows)
            X = centers[c] + rng.normal(size=(rows, p - 3)) * 2
            cities, days = CITIES[(c + rng.integers(3, size=rows)) % len(CITIES)], rng.integers(1, 29, size=rows)
            counts = rng.poisson(c + 3.0).astype(str)
            counts[rng.random(rows) < 0.02] = "unknown"
            numbers = np.char.mod("%.9f", X)
            numbers[rng.random(X.shape) < 0.01] = ""
            file.writelines(
                f"{','.join(cells)},{city},2024-05-{day:02d},{count},class {k}\n"
                for cells, city, day, count, k in zip(numbers, cities, days, counts, c, strict=True)
            )


def measure(*arguments: str) -> tuple[float, float]:
    """Seconds and the largest memory (GB) of a command."""
    print("$ simplexboost", *arguments, flush=True)
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "simplexboost", *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the command failed with status {status}")
    return time.perf_counter() - begin, peak(usage)


def peak(usage: resource.struct_rusage) -> float:
    """The largest memory in GB; Linux counts in kilobytes, macOS in bytes."""
    return usage.ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


def main(argv: Sequence[str] | None = None) -> None:
    """Make the table, fit and predict."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command_line", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (str(Path(folder, name)) for name in ("table.csv", "model.sb", "out.csv"))
        make_table(Path(data), options.rows, options.columns, options.classes)
        print(f"{options.rows} rows, {options.columns} columns, {Path(data).stat().st_size / 1e6:.0f} MB", flush=True)
        fit = measure("fit", data, "--target", "label", "-o", model, "--set", f"n_estimators={options.rounds}")
        predict = measure("predict", model, data, "-o", out)
    for name, (seconds, memory) in {"fit": fit, "predict": predict}.items():
        print(f"{name}: {seconds:.1f} s, at most {memory:.2f} GB")


if __name__ == "__main__":
    main()
