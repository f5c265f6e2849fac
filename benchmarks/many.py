"""Time, memory and accuracy for 10 to 100 000 classes: ``python -m benchmarks.many`` writes ``benchmarks/MANY.md``.

Every cell, a method on a table, is computed in a process of its own that ends after a limit of time and of memory. Its
result is kept at once in a file of cells (``--cells``), so that a run that is stopped goes on where it was, and so that
a race can be run in parts: ``--parts``, ``--classes``, ``--methods`` and ``--sets`` leave out cells, ``--threads`` is
the number of threads, ``--budget`` starts no further cell after so many seconds, ``--merge`` takes the cells of other
files as well, which may come from other machines, and ``--page-only`` computes nothing. Libraries that are not
installed are left out.

The parts are "large" (ours, 200 000 rows), "beside" (few rows, other libraries beside), "exact" (candidates beside the
exact soft-max of ten thousand classes) and "real" (sets of a folder that SIMPLEXBOOST_DATA names). With one thread,
seconds are processor time, which is hardly changed by what else runs on the machine; with more they are time on the
clock, and need a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray
from simplexboost.boosting import Callback

from . import machine

PAGE = Path(__file__).with_name("MANY.md")
CELLS = Path("build") / "many.json"
CANDIDATES, EXACT = "candidates", "all scores"
VECTOR = "XGBoost, vector leaves"
PEERS = {"XGBoost": "xgboost", VECTOR: "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost", "HGB": "sklearn"}
N_TEST, MANY_TESTS = 2000, 5000  # rows; the latter where accuracies are compared
FEW = 5  # rounds: with fewer of them, and of other libraries, a round is a part of the fit
TICK = 0.02  # seconds: rounds that are shorter than this are too short for the clock of the processor, one by one
MOST_SCORES = 10**8  # of test rows for classes: beyond it there is no log-loss


@dataclass(frozen=True)
class Cell:
    """A method on a table: a data set by name, or a made one of n rows, p columns and K classes."""

    part: str
    method: str
    table: str
    rounds: int
    n: int = 0
    p: int = 0
    K: int = 0
    threads: int = 1

    @property
    def key(self) -> str:
        """Its name among the results."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def line(self) -> tuple[Any, ...]:
        """What it has in common with cells of other numbers of classes."""
        return self.part, self.method, self.threads, self.table if self.K == 0 else ""


# ---- which cells there are ------------------------------------------------------------------------------------------

LARGE = [(K, 200_000) for K in (10, 100, 1_000, 10_000, 100_000)]
BESIDE = [(10, 10_000), (100, 10_000), (1_000, 10_000), (10_000, 20_000), (100_000, 200_000)]
EXACTLY = [(1_000, 20_000), (2_000, 20_000), (10_000, 40_000)]
SMALL = [(10, 2_000), (100, 2_000), (500, 2_000)]
REAL = ("letter", "plants_margin", "plants_shape", "omniglot242", "aloi27", "ujiindoorloc")


def made_cells(part: str, sizes: Sequence[tuple[int, int]], p: int, methods: Sequence[str], rounds: int) -> list[Cell]:
    """Methods on made tables, small ones first."""
    return [Cell(part, method, "made", rounds, n, p, K) for K, n in sizes for method in methods]


PARTS: dict[str, list[Cell]] = {
    "large": made_cells("large", LARGE, 50, (CANDIDATES, EXACT), 6),
    "beside": made_cells("beside", BESIDE, 50, (CANDIDATES, EXACT, *PEERS), 3),
    "exact": made_cells("exact", EXACTLY, 50, (CANDIDATES, EXACT), 30),
    "real": [Cell("real", method, name, 60) for name in REAL for method in (CANDIDATES, EXACT, *PEERS)],
}


# ---- tables ---------------------------------------------------------------------------------------------------------


def made(n: int, p: int, K: int, n_test: int = N_TEST) -> tuple[AnyArray, ...]:
    """Classes around random centres: rows to train on, as many of every class, and rows to test."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(K, p)).astype(np.float32)
    y, y_test = np.arange(n) % K, rng.integers(0, K, n_test)
    X, X_test = (centres[c] + np.float32(0.7) * rng.normal(size=(len(c), p)).astype(np.float32) for c in (y, y_test))
    return X, y, X_test, y_test


def table(cell: Cell) -> tuple[AnyArray, ...]:
    """X, y, X_test, y_test."""
    if cell.table == "made":
        return made(cell.n, cell.p, cell.K, MANY_TESTS if cell.part == "exact" else N_TEST)
    data = datasets.load(cell.table)
    return data.X_train, data.y_train, data.X_test, data.y_test


# ---- methods --------------------------------------------------------------------------------------------------------


class Stamps(Callback):
    """The time at the end of every round."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.seconds: list[float] = []

    def after_round(self, run: Any) -> None:
        """Look at the clock."""
        self.seconds.append(self.clock())


def peer(method: str, rounds: int, threads: int) -> Any:
    """An unfitted classifier of another library, with its defaults."""
    if method.startswith("XGBoost"):
        import xgboost

        more = {"multi_strategy": "multi_output_tree"} if method == VECTOR else {}
        return xgboost.XGBClassifier(n_estimators=rounds, n_jobs=threads, tree_method="hist", **more)
    if method == "LightGBM":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=rounds, n_jobs=threads, verbosity=-1)
    if method == "CatBoost":
        import catboost

        quiet = {"verbose": False, "allow_writing_files": False}
        return catboost.CatBoostClassifier(
            n_estimators=rounds, thread_count=threads, loss_function="MultiClass", **quiet
        )
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False)  # OMP_NUM_THREADS is its threads


def classifier(cell: Cell, stamps: Stamps) -> Any:
    """The unfitted classifier of a cell."""
    if cell.method in PEERS:
        return peer(cell.method, cell.rounds, cell.threads)
    candidates = None if cell.method == EXACT else 32
    return SimplexBoostClassifier(
        n_estimators=cell.rounds, n_jobs=cell.threads, random_state=0, candidates=candidates, callbacks=[stamps]
    )


def measured(cell: Cell) -> dict[str, Any]:
    """Fit and predict: seconds of a round, the memory of the process at its peak, accuracy and log-loss."""
    X, y, X_test, y_test = table(cell)
    clock = time.process_time if cell.threads == 1 else time.perf_counter
    stamps, begin = Stamps(clock), clock()
    clf = classifier(cell, stamps).fit(X, y)
    seconds = clock() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # before predictions
    found: dict[str, Any] = {"fit": seconds, "round": typical(stamps.seconds) or seconds / cell.rounds}
    found |= {"megabytes": peak, "machine": words_for_machine()}
    found["accuracy"] = float(np.mean(np.asarray(clf.predict(X_test)).ravel() == y_test))
    if len(y_test) * len(clf.classes_) <= MOST_SCORES:
        own = clf.predict_proba(X_test)[np.arange(len(y_test)), np.searchsorted(clf.classes_, y_test)]
        found["log-loss"] = float(-np.log(own.clip(1e-12)).mean())
    return found


def typical(ends: list[float]) -> float | None:
    """The median time of a round by the times at their ends, or the mean if they are short; None if they are few."""
    if len(ends) < FEW:
        return None
    median, mean = float(np.median(np.diff(ends))), (ends[-1] - ends[0]) / (len(ends) - 1)
    return median if median > TICK else mean


def words_for_machine() -> str:
    """The machine and the versions of all libraries."""
    about: dict[str, Any] = machine.describe()
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"{about['processor']}, {about['cores']} cores, {about['memory_gb']} GB; {versions}"


# ---- cells in processes ---------------------------------------------------------------------------------------------


def in_process(cell: Cell, limit: int, memory: float) -> dict[str, Any]:
    """The result of a cell; only the limits if it needs more time, or more memory in GB, than it may have."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit * cell.threads, limit * cell.threads))
        resource.setrlimit(resource.RLIMIT_AS, (int(memory * 2**30),) * 2)

    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(cell.threads))
    command = [sys.executable, "-m", "benchmarks.many", "--cell", cell.key]
    timeout = None if cell.threads == 1 else limit
    failed = {"limit": limit, "memory": memory}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, preexec_fn=limited, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return failed
    if done.returncode != 0:
        print(done.stderr[-300:], flush=True)
        return failed
    return json.loads(done.stdout.splitlines()[-1])


def is_known(found: dict[str, Any] | None, limit: int, memory: float) -> bool:
    """Whether there is a result, or a failure within limits at least as wide."""
    if found is None:
        return False
    return "fit" in found or (found["limit"] >= limit and found["memory"] >= memory)


def compute(cells: Iterable[Cell], results: dict[str, Any], options: argparse.Namespace) -> None:
    """Add the results of all cells that are missing; once a method fails, larger tables are left out."""
    dead: set[tuple[Any, ...]] = set()
    end = time.monotonic() + options.budget
    for cell in cells:
        if cell.line not in dead and not is_known(results.get(cell.key), options.limit, options.memory):
            if time.monotonic() > end:
                return
            results[cell.key] = in_process(cell, options.limit, options.memory)
            print(cell, results[cell.key], flush=True)
            if options.cells is not None:
                write(options.cells, results)
        if "fit" not in results.get(cell.key, {}):
            dead.add(cell.line)


def write(path: Path, results: dict[str, Any]) -> None:
    """Keep all results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1))


def read(paths: Iterable[Path]) -> dict[str, Any]:
    """The results of all files; of a cell that is in several, one that has been measured, and of those the first."""
    results: dict[str, Any] = {}
    for path in paths:
        for key, found in json.loads(path.read_text()).items():
            if "fit" not in results.get(key, {}):
                results[key] = found
    return results


# ---- the command ----------------------------------------------------------------------------------------------------


def wanted(options: argparse.Namespace) -> list[Cell]:
    """The cells that the options ask for, of libraries that are installed."""
    cells = [replace(cell, threads=options.threads) for part in options.parts for cell in PARTS[part]]
    return [
        cell
        for cell in cells
        if find_spec(PEERS.get(cell.method, "simplexboost")) is not None
        and cell.method in options.methods
        and (cell.K in options.classes if cell.K else cell.table in options.sets)
    ]


def parser() -> argparse.ArgumentParser:
    """All options."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    found.add_argument("--small", action="store_true", help="a quick table, printed in place of the page")
    found.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    numbers = sorted({cell.K for part in PARTS.values() for cell in part if cell.K})
    found.add_argument("--classes", nargs="+", type=int, choices=numbers, default=numbers, help="of made tables")
    methods = [CANDIDATES, EXACT, *PEERS]
    found.add_argument("--methods", nargs="+", choices=methods, default=methods)
    found.add_argument("--sets", nargs="+", choices=REAL, default=list(REAL), help='of the part "real"')
    found.add_argument("--threads", type=int, default=1)
    found.add_argument("--limit", type=int, default=60, help="seconds for a cell, of every thread")
    found.add_argument("--memory", type=float, default=12.0, help="GB of address space for a cell")
    found.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no cell is begun")
    found.add_argument("--cells", type=Path, default=CELLS, help="the file of results")
    found.add_argument("--merge", nargs="+", type=Path, default=[], help="other files of results")
    found.add_argument("--page", type=Path, default=PAGE)
    found.add_argument("--page-only", action="store_true", help="compute nothing")
    found.add_argument("--cell", help=argparse.SUPPRESS)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Compute what is missing and write the page."""
    from .many_page import made_table, page

    options = parser().parse_args(argv)
    if options.cell is not None:
        print(json.dumps(measured(Cell(**json.loads(options.cell)))))
        return
    if options.small:
        cells, results, options.cells = made_cells("beside", SMALL, 10, (CANDIDATES, EXACT, *PEERS), 3), {}, None
        compute(cells, results, options)
        print("\n".join(made_table(cells, results)))
        return
    results = read([*([options.cells] if options.cells.exists() else []), *options.merge])
    if not options.page_only:
        compute(wanted(options), results, options)
    write(options.cells, results)
    options.page.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
