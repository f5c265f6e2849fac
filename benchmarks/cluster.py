"""A Dask cluster on this machine: ``python -m benchmarks.cluster`` fits on 1, 2, … workers and counts what travels.

Every partition of the table is made on the worker that holds it; workers are processes of one thread. It prints

* the time of a round on each number of workers, and how far that is from dividing the time of one,
* the peak memory of every process beside its share of the data, by the formula of docs/scaling.md,
* round trips and numbers per tree, as they were counted, beside that formula; and whether the models are equal,
* with ``--peers``, XGBoost and LightGBM on the same cluster and data: the time until they are as accurate.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import numpy as np
from dask.distributed import Client, LocalCluster

from simplexboost._util.arrays import AnyArray
from simplexboost.distributed.dask import DaskSimplexBoostClassifier

from . import machine
from .tables import table


@dataclass(frozen=True)
class Problem:
    """n rows of p features and K classes, each class two Gaussian clusters, in so many partitions."""

    n: int = 2_000_000
    p: int = 30
    K: int = 50
    n_parts: int = 16

    def part(self, i: int, n: int | None = None) -> tuple[AnyArray, AnyArray]:
        """Partition i: X (n_i, p) float32 and y (n_i,)."""
        n = self.n // self.n_parts if n is None else n
        centres = np.random.default_rng(0).normal(size=(2 * self.K, self.p)).astype(np.float32)
        rng = np.random.default_rng([1, i])
        z = rng.integers(2 * self.K, size=n)
        return 0.8 * centres[z] + rng.standard_normal((n, self.p), dtype=np.float32), z % self.K

    def delayed(self) -> tuple[list[Any], list[Any]]:
        """X and y as lists of delayed partitions."""
        parts = [dask.delayed(self.part)(i) for i in range(self.n_parts)]
        return [part[0] for part in parts], [part[1] for part in parts]

    def test(self) -> tuple[AnyArray, AnyArray]:
        """Other rows."""
        return self.part(self.n_parts, 50_000)

    def cluster(self, n_workers: int) -> LocalCluster:
        """A cluster of processes of one thread."""
        return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)


# ---- what docs/scaling.md says --------------------------------------------------------------------------------------


def expected_trips(n_rounds: int, n_expands: int) -> int:
    """Round trips of the rounds of a fit: ten each, one for every level of nodes that are expanded, two at the end."""
    return 10 * n_rounds + n_expands + 2


def expected_numbers(L: AnyArray, H: int, B: int, K: int, s: int) -> int:
    """Numbers that a member sends for trees of L leaves each and H histograms in all."""
    per_tree = 11 + 2 * (s + 1) + (1 + L) + 2 * L * (s + 1) + 2 * L * K
    return int(per_tree.sum()) + H * B * (s + 2) + 5


def worker_megabytes(n: float, p: int, K: int, s: int, L: int, bins: int) -> float:
    """What a worker needs for n rows of its own, beside the raw partitions while they are read."""
    return (n * (p + 4 * K + 8 * (s + 1) + 4 * (s + 2) + 36) + 4 * 4 * L * p * bins) / 2**20


ROUND = ("largest", "total", "grow", "magnitudes", "root", "expand", "limbs", "leaves")  # and "weights", less one


def counted(traffic: Any, what: str) -> int:
    """What the rounds of a fit have counted, in the counter of this name."""
    counter = getattr(traffic, what)
    of_weights = counter["weights"] - {"trips": 1}.get(what, 0)
    return sum(counter[question] for question in ROUND) + of_weights


# ---- ours -----------------------------------------------------------------------------------------------------------


def fit(problem: Problem, n_workers: int, n_rounds: int) -> tuple[Any, dict[str, Any]]:
    """The fitted classifier, and what was measured."""
    X, y = problem.delayed()
    clf = DaskSimplexBoostClassifier(n_estimators=n_rounds, learning_rate=0.1, random_state=0)
    with problem.cluster(n_workers) as cluster, Client(cluster) as client:
        idle = max(client.run(resident).values())
        begin = time.perf_counter()
        clf.fit(X, y, client=client)
        seconds = time.perf_counter() - begin
        peak = max(client.run(peak_resident).values())
    clock = clf.history_["seconds"]
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder) / "model.sb")
        digest = hashlib.sha256((Path(folder) / "model.sb").read_bytes()).hexdigest()[:16]
    accuracy = clf.to_local().score(*problem.test())
    return clf, {
        "workers": n_workers,
        "fit s": seconds,
        "s/round": (clock[-1] - clock[0]) / (n_rounds - 1),
        "worker MB": peak - idle,
        "accuracy": accuracy,
        "model": digest,
    }


def resident() -> float:
    """Megabytes of this process now."""
    return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_resident() -> float:
    """The most megabytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report_traffic(clf: Any, problem: Problem) -> str:
    """Counted trips and numbers beside the formula."""
    traffic, T, s = clf.traffic_, clf.n_iter_, 1
    L = np.array([tree.n_leaves for tree in clf.model_.trees])
    n_features = max(1, round((0.8 if problem.p <= 256 else 0.4) * problem.p))  # max_features="auto"
    B = n_features * 255  # continuous features fill all bins
    trips, numbers = counted(traffic, "trips"), counted(traffic, "numbers")
    numbers -= traffic.numbers["weights"] - int((1 + L).sum())  # those of the labels have the same name
    rows = [
        ["round trips", trips / T, expected_trips(T, traffic.trips["expand"]) / T],
        ["numbers up", numbers / T, expected_numbers(L, traffic.histograms, B, problem.K, s) / T],
        ["bytes up", sum(traffic.bytes_up.values()) / T, None],
        ["bytes down", sum(traffic.bytes_down.values()) / T, None],
        ["levels of nodes", traffic.trips["expand"] / T, None],
        ["histograms", traffic.histograms / T, None],
        ["leaves", float(L.mean()), None],
    ]
    return table(
        ["per tree", "counted", "formula"], [[r[0], *("" if x is None else f"{x:,.1f}" for x in r[1:])] for r in rows]
    )


# ---- peers ----------------------------------------------------------------------------------------------------------


def peer(name: str, client: Client, n_rounds: int) -> Any:
    """A peer's Dask classifier with its defaults, but for the number of rounds."""
    if name == "xgboost":
        from xgboost.dask import DaskXGBClassifier

        return DaskXGBClassifier(n_estimators=n_rounds, tree_method="hist")
    from lightgbm import DaskLGBMClassifier

    return DaskLGBMClassifier(n_estimators=n_rounds, client=client, verbose=-1)


def race_peer(name: str, problem: Problem, n_workers: int, goal: float, budget: float) -> dict[str, Any]:
    """Fits with twice as many rounds each time, until one is as accurate as ours or the next would take too long."""
    n_rounds, X_test, y_test = 1, *problem.test()
    while True:
        with problem.cluster(n_workers) as cluster, Client(cluster) as client:
            X, y = as_arrays(problem, client)
            clf = peer(name, client, n_rounds)
            if name == "xgboost":
                clf.client = client
            begin = time.perf_counter()
            clf.fit(X, y)
            seconds = time.perf_counter() - begin
            local = clf.to_local() if name == "lightgbm" else None
            labels = local.predict(X_test) if local is not None else clf.get_booster().inplace_predict(X_test).argmax(1)
            accuracy = float((labels == y_test).mean())
        print(f"{name}: {n_rounds} rounds, {seconds:.1f} s, accuracy {accuracy:.4f}", flush=True)
        if accuracy >= goal or 2 * seconds > budget:
            return {"": name, "rounds": n_rounds, "fit s": seconds, "accuracy": accuracy, "reached": accuracy >= goal}
        n_rounds *= 2


def as_arrays(problem: Problem, client: Client) -> tuple[Any, Any]:
    """The table as Dask Arrays, in the memory of the workers: the peers' times do not include making it."""
    import dask.array as da

    X, y = problem.delayed()
    size = problem.n // problem.n_parts
    arrays = (
        da.concatenate([da.from_delayed(part, (size, problem.p), np.float32) for part in X]),
        da.concatenate([da.from_delayed(part, (size,), np.int64) for part in y]),
    )
    X, y = client.persist(arrays)
    dask.distributed.wait([X, y])
    return X, y


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=1, help="fits on every number of workers; medians are printed")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds of the longest fit of a peer")
    options = parser.parse_args(arguments)
    problem = Problem(options.rows)
    print(machine.describe())
    found: dict[int, list[dict[str, Any]]] = {w: [] for w in options.workers}
    for _ in range(options.repeats):
        for w in options.workers:
            clf, measured = fit(problem, w, options.rounds)
            found[w].append(measured)
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in measured.items()}, flush=True)
    first = float(np.median([m["s/round"] for m in found[options.workers[0]]]))
    fit_first = float(np.median([m["fit s"] for m in found[options.workers[0]]]))
    rows = []
    for w, runs in found.items():
        round_s, fit_s, memory = (float(np.median([m[k] for m in runs])) for k in ("s/round", "fit s", "worker MB"))
        by_formula = worker_megabytes(problem.n / w, problem.p, problem.K, 1, 255, 256)
        rows.append(
            [w, f"{fit_s:.1f}", f"{fit_first / fit_s:.2f}", f"{round_s:.3f}", f"{first / round_s:.2f}", f"{memory:.0f}",
             f"{by_formula:.0f}", runs[0]["model"]]
        )  # fmt: skip
    head = ["workers", "fit s", "times as fast", "s/round", "times as fast", "worker MB", "formula MB", "model"]
    print(table(head, [[str(cell) for cell in row] for row in rows]))
    print(report_traffic(clf, problem))
    if options.peers:
        ours = found[options.workers[-1]][-1]
        lines = [["simplexboost", options.rounds, f"{ours['fit s']:.1f}", f"{ours['accuracy']:.4f}", ""]]
        for name in ("lightgbm", "xgboost"):
            got = race_peer(name, problem, options.workers[-1], ours["accuracy"], options.budget)
            lines.append(
                [
                    name,
                    got["rounds"],
                    f"{got['fit s']:.1f}",
                    f"{got['accuracy']:.4f}",
                    "" if got["reached"] else "ended",
                ]
            )
        print(table(["", "rounds", "fit s", "accuracy", ""], [[str(cell) for cell in line] for line in lines]))


if __name__ == "__main__":
    main()
