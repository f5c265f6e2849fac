"""Time and memory of a round for 10 to 100 000 classes: ``python -m benchmarks.many`` writes ``benchmarks/MANY.md``.

Every cell, a method on a table, is computed in a process of its own that ends after a limit of processor time, and its
result is kept in a file beside the page's, so that a run that is stopped goes on where it was. Times are processor time
of one thread: unlike the time on the clock, it is hardly changed by what else runs on the machine.

``--small`` prints a quick table in place of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost._typing import AnyArray
from simplexboost.callbacks import Callback

from . import machine

PAGE = Path(__file__).with_name("MANY.md")
CELLS = Path("results") / "many.json"
CANDIDATES, EXACT = "candidates", "all scores"
PEERS = ("XGBoost", "LightGBM", "CatBoost", "HGB")
N_TEST = 2000


@dataclass(frozen=True)
class Cell:
    """A method on a table: a data set by name, or a made one of n rows, p columns and K classes."""

    method: str
    table: str
    n: int = 0
    p: int = 0
    K: int = 0
    rounds: int = 10

    @property
    def key(self) -> str:
        """Its name among the results."""
        return json.dumps(asdict(self), sort_keys=True)


# ---- tables ---------------------------------------------------------------------------------------------------------


def made(n: int, p: int, K: int) -> tuple[AnyArray, ...]:
    """Classes around random centres: rows to train on, as many of every class, and rows to test."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(K, p)).astype(np.float32)
    y, y_test = np.arange(n) % K, rng.integers(0, K, N_TEST)
    X, X_test = (centres[c] + np.float32(0.7) * rng.normal(size=(len(c), p)).astype(np.float32) for c in (y, y_test))
    return X, y, X_test, y_test


def table(cell: Cell) -> tuple[AnyArray, ...]:
    """X, y, X_test, y_test."""
    if cell.table == "made":
        return made(cell.n, cell.p, cell.K)
    data = datasets.load(cell.table)
    return data.X_train, data.y_train, data.X_test, data.y_test


# ---- methods --------------------------------------------------------------------------------------------------------


class Stamps(Callback):
    """The processor time at the end of every round."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def after_round(self, run: Any) -> None:
        """Look at the clock."""
        self.seconds.append(time.process_time())


def classifier(method: str, rounds: int, stamps: Stamps) -> Any:
    """An unfitted classifier of so many rounds, on one thread."""
    if method == "XGBoost":
        import xgboost

        return xgboost.XGBClassifier(n_estimators=rounds, n_jobs=1, tree_method="hist")
    if method == "LightGBM":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=rounds, n_jobs=1, verbosity=-1)
    if method == "CatBoost":
        import catboost

        return catboost.CatBoostClassifier(
            n_estimators=rounds, thread_count=1, verbose=False, allow_writing_files=False, loss_function="MultiClass"
        )
    if method == "HGB":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False)
    name, _, number = method.partition("=")
    candidates = None if name == EXACT else int(number) if number else 32
    return SimplexBoostClassifier(
        n_estimators=rounds, n_jobs=1, random_state=0, candidates=candidates, callbacks=[stamps]
    )


def measured(cell: Cell) -> dict[str, float]:
    """Fit and predict: seconds of a round, the memory of the process at its peak and accuracy."""
    X, y, X_test, y_test = table(cell)
    stamps, begin = Stamps(), time.process_time()
    clf = classifier(cell.method, cell.rounds, stamps).fit(X, y)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # before predictions
    rounds = np.diff(stamps.seconds)
    round_seconds = float(np.median(rounds)) if len(rounds) > 3 else seconds / cell.rounds
    accuracy = float(np.mean(np.asarray(clf.predict(X_test)).ravel() == y_test))
    return {"fit": seconds, "round": round_seconds, "megabytes": peak, "accuracy": accuracy}


# ---- cells in processes ---------------------------------------------------------------------------------------------


def in_process(cell: Cell, limit: int) -> dict[str, float] | None:
    """The result of a cell; None if it needs more processor time or memory than it may have."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.many", "--cell", cell.key]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limited, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def computed(cells: Sequence[Cell], limit: int, path: Path | None) -> dict[str, Any]:
    """The results of all cells, those of the file first; once a method fails at a size, larger ones are left out."""
    results: dict[str, Any] = json.loads(path.read_text()) if path is not None and path.exists() else {}
    dead: set[tuple[str, int]] = set()
    for cell in cells:
        if cell.key not in results:
            results[cell.key] = None if (cell.method, cell.rounds) in dead else in_process(cell, limit)
            print(cell, results[cell.key], flush=True)
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(results, indent=1))
        if results[cell.key] is None and cell.table == "made":
            dead.add((cell.method, cell.rounds))
    return results


# ---- the page -------------------------------------------------------------------------------------------------------

SIZES = [(10, 200_000), (100, 200_000), (1_000, 200_000), (10_000, 200_000), (100_000, 200_000)]
PEER_SIZES = [(10, 10_000), (100, 10_000), (1_000, 10_000), (10_000, 20_000)]
SMALL = [(10, 2_000), (100, 2_000), (500, 2_000)]
REAL = {"letter": 60, "omniglot242": 60, "aloi27": 60, "ujiindoorloc": 60}
REAL_METHODS = (EXACT, f"{CANDIDATES}=32")


def made_cells(
    sizes: Sequence[tuple[int, int]], p: int, methods: Sequence[str] = (CANDIDATES, EXACT), rounds: int = 6
) -> list[Cell]:
    """Methods on made tables, small ones first."""
    return [Cell(method, "made", n, p, K, rounds) for K, n in sizes for method in methods]


def peer_cells() -> list[Cell]:
    """All libraries on smaller tables, for three rounds."""
    return made_cells(PEER_SIZES, 50, (CANDIDATES, EXACT, *PEERS), 3)


def real_cells() -> list[Cell]:
    """Accuracy with candidates beside that with all scores."""
    return [Cell(method, name, rounds=rounds) for name, rounds in REAL.items() for method in REAL_METHODS]


def made_table(cells: Sequence[Cell], results: dict[str, Any]) -> list[str]:
    """Markdown: a line for every number of classes and method that lived."""
    lines = ["| classes | rows | method | seconds a round | memory MB | test accuracy |", "|--:|--:|---|--:|--:|--:|"]
    for cell in (cell for cell in cells if cell.key in results):
        found = results[cell.key]
        head = f"| {cell.K:,} | {cell.n:,} | {cell.method} |".replace(",", " ")
        if found is None:
            lines.append(f"{head} – | – | – |")
        else:
            numbers = f" {found['round']:.3f} | {found['megabytes']:.0f} | {found['accuracy']:.3f} |"
            lines.append(head + numbers)
    return lines


def real_table(results: dict[str, Any]) -> list[str]:
    """Markdown: a line for every data set."""
    lines = ["| set | rounds | " + " | ".join(REAL_METHODS) + " |", "|---|--:|" + "--:|" * len(REAL_METHODS)]
    for name, rounds in REAL.items():
        if not all(Cell(method, name, rounds=rounds).key in results for method in REAL_METHODS):
            continue
        found = [results.get(Cell(method, name, rounds=rounds).key) for method in REAL_METHODS]
        numbers = " | ".join("–" if one is None else f"{one['accuracy']:.4f}, {one['round']:.3f} s" for one in found)
        lines.append(f"| {name} | {rounds} | {numbers} |")
    return lines


TEXT = """# Thousands of classes

`python -m benchmarks.many` computes these tables, which [Thousands of classes](../docs/many-classes.md) explains.
Times are processor time of one thread, so that what else runs on a machine changes them little: by a quarter, as far as
was seen. Memory is the largest resident size of the process until the end of the fit, the table included. A dash: the
fit took more than {limit} s of processor time, or more memory than there was, here or with fewer classes.
What is not listed was not computed.

## Rows with candidates beside rows with all scores

Gaussian classes around random centres in 50 dimensions, as many rows of each; 6 rounds. A round is the median over
them. The accuracy after six rounds tells that both learn, and no more.

{ours}

## Beside other libraries

The same on fewer rows; 3 rounds of every library with its defaults, of which a third of the fit is called a round.

{peers}

## Accuracy on real sets

Test accuracy after so many rounds and seconds a round, with the scores of all classes and with 32 candidates.

{real}

Measured on {processor}, {cores} cores, {memory_gb} GB, which other work shared; {versions}.
"""


def page(results: dict[str, Any], limit: int) -> str:
    """The whole page."""
    about: dict[str, Any] = machine.describe()
    about["versions"] = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return TEXT.format(
        limit=limit,
        ours="\n".join(made_table(made_cells(SIZES, 50), results)),
        peers="\n".join(made_table(peer_cells(), results)),
        real="\n".join(real_table(results)),
        **about,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Compute what is missing and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a quick table, printed")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for a cell")
    parser.add_argument("--cells", type=Path, default=CELLS, help="the file of results")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.cell is not None:
        print(json.dumps(measured(Cell(**json.loads(options.cell)))))
        return
    if options.small:
        cells = made_cells(SMALL, 10, (CANDIDATES, EXACT, *PEERS), 3)
        print("\n".join(made_table(cells, computed(cells, options.limit, None))))
        return
    cells = [*made_cells(SIZES, 50), *real_cells(), *peer_cells()]
    results = computed(cells, options.limit, options.cells)
    options.page.write_text(page(results, options.limit))


if __name__ == "__main__":
    main()
