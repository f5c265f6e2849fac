"""The hot loops beside their floors, in one thread: ``make bench``.

Histogram: nanoseconds per (row × feature) of growing a stump, which is one histogram of the root and little else.
Score products: GFLOP/s of the logistic loss's pass over the rows. Predict: rows per second of probabilities.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from simplexboost import SimplexBoostClassifier
from simplexboost._util.arrays import AnyArray
from simplexboost._util.runtime import one_blas_thread
from simplexboost.engine import CPU, Growth, RowProblem, cpu_engine
from simplexboost.parts.losses import Logistic

from .problems import make

HISTOGRAM_FLOOR = 1.2  # ns, the raw loop for 4 statistics in 32-bit lanes on a 2.8 GHz core with AVX-512


def best_seconds(work: Callable[[], object], at_least: float) -> float:
    """The shortest of several runs: what else the machine does only makes them longer."""
    work()
    seconds: list[float] = []
    begin = time.perf_counter()
    while len(seconds) < 3 or time.perf_counter() - begin < at_least:
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def histogram(at_least: float, n: int = 100_000, p: int = 48) -> None:
    """Stumps on dense statistics, both lane widths."""
    rng = np.random.default_rng(0)
    data = CPU.compute.bin(rng.standard_normal((n, p), dtype=np.float32))
    print(f"histogram, {n} rows, {p} features, 255 bins; floor about {HISTOGRAM_FLOOR} ns")
    for bits in (32, 64):
        for m in (2, 3, 5):
            values = rng.standard_normal((n, m))
            values[:, -1] = np.abs(values[:, -1])  # the curvature
            statistics, growth = values, Growth(max_leaf_nodes=2, l2_regularization=1.0, bits=bits)
            stump = partial(CPU.compute.grow, data, statistics, "newton", growth, values[:, :1])
            ns = 1e9 * best_seconds(stump, at_least) / (n * p)
            print(f"  {bits}-bit lanes, {m} statistics: {ns:5.2f} ns per (row × feature)", flush=True)


def score_products(at_least: float, n: int = 20_000, s: int = 2) -> None:
    """The logistic pass beside the same two matrix products by BLAS, and those with the exponentials."""
    print(f"score products, {n} rows, {s} sketch directions; floor: BLAS, and BLAS with NumPy's exponentials")
    rng = np.random.default_rng(0)
    for K, d in ((26, 16), (438, 64), (1000, 64)):
        F, Y, Z = (rng.standard_normal(shape, dtype=np.float32) for shape in ((n, d), (K, d), (K, s)))
        plain, full = product_floor(F, Y, at_least)
        seconds = best_seconds(logistic_pass(F, Y, Z, rng.integers(K, size=n)), at_least)
        ours = 2e-9 * n * K * (d + d + s + 1) / seconds
        rates = f"ours {ours:6.1f}, BLAS {plain:6.1f}, with exponentials {full:6.1f} GFLOP/s"
        print(f"  K = {K:4d}, d = {d:2d}: {rates}", flush=True)


def logistic_pass(F: AnyArray, Y: AnyArray, Z: AnyArray, c: AnyArray) -> Callable[[], object]:
    """One pass of the loss over the rows."""
    problem = RowProblem(c, len(Y), Y, None, None, (0, 0), Logistic().value_of)
    return partial(CPU.compute.row_loss(problem).pull, F, Z)


def product_floor(F: np.ndarray, Y: np.ndarray, at_least: float) -> tuple[float, float]:
    """GFLOP/s of F Yᵀ and P Y in blocks that stay in the cache, without and with the exponentials of the scores."""
    block, YT = 48, np.ascontiguousarray(Y.T)
    blocks = [F[i : i + block] for i in range(0, len(F) - block + 1, block)]
    U, G = np.empty((block, len(Y)), dtype=np.float32), np.empty((block, Y.shape[1]), dtype=np.float32)

    def products(exponentials: bool) -> None:
        for rows in blocks:
            np.matmul(rows, YT, out=U)
            if exponentials:
                np.exp(U, out=U)
            np.matmul(U, Y, out=G)

    work = 4e-9 * len(blocks) * block * Y.size
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        plain, full = (best_seconds(partial(products, exponentials), at_least) for exponentials in (False, True))
    return work / plain, work / full


def predict(at_least: float, n: int = 20_000, p: int = 16, K: int = 26, rounds: int = 100) -> None:
    """Probabilities by a model of one tree a round; the floor is the sum of as many leaf vectors, in cache."""
    X, y = make(n, p, K)
    model = SimplexBoostClassifier(n_estimators=rounds, n_jobs=1, random_state=0).fit(X[: n // 2], y[: n // 2])
    seconds = best_seconds(lambda: model.predict_proba(X), at_least)
    floor = n * rounds * add_seconds(K, at_least)
    each = 1e9 * seconds / (n * rounds)
    print(f"predict, {K} classes, {rounds} trees: {n / seconds:.0f} rows/s, {each:.1f} ns per (row × tree); ", end="")
    print(f"floor {n / floor:.0f} rows/s: {K}-vectors added")


def add_seconds(d: int, at_least: float, rows: int = 256) -> float:
    """Seconds to add one float32 vector of length d, in cache."""
    F, h = np.zeros((rows, d), dtype=np.float32), np.ones((rows, d), dtype=np.float32)
    return best_seconds(lambda: np.add(F, h, out=F), at_least) / rows


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="at least so long for each figure")
    at_least = parser.parse_args(argv).seconds
    print(f"instruction set: {cpu_engine().compute.instruction_set}")
    histogram(at_least)
    score_products(at_least)
    predict(at_least)


if __name__ == "__main__":
    main()
