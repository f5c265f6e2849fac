"""On one GPU, beside its processor and other libraries: ``python -m benchmarks.gpu`` prints a table for every problem.

A problem is the name of a data set (``letter``) or a size, rows x features x classes (``1000000x50x100``). The columns
are the milliseconds of a round (the median, without the first ones), the accuracy on test rows after all rounds, the
seconds from the beginning of the fit until then, and how many seconds ours took on the GPU to be as accurate for the
first time. Libraries that are not installed are left out. Fits of a kind are preceded by a short one, in which kernels
are compiled and memory is touched.
"""

from __future__ import annotations

import argparse
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any, ClassVar

import numpy as np

from simplexboost import SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray

WARM, WARM_ROWS = 3, 50_000  # the rounds and rows of the fit before the one that counts


@dataclass
class Problem:
    """Rows for training and for testing; classes are 0 .. K − 1."""

    X: AnyArray
    y: AnyArray
    X_test: AnyArray
    y_test: AnyArray


class Contestant(ABC):
    """A library on a device; `fit` keeps the seconds at which every round ended."""

    package: ClassVar[str]

    def __init__(self, device: str = "cuda") -> None:
        self.device = device
        self.seconds: list[float] = []

    def begin(self) -> None:
        """Set the clock to zero."""
        self._begin, self.seconds = time.perf_counter(), []

    def tick(self) -> bool:
        """Look at the clock after a round; the answer says that boosting is not to stop."""
        self.seconds.append(time.perf_counter() - self._begin)
        return False

    @abstractmethod
    def fit(self, X: AnyArray, y: AnyArray, rounds: int) -> None:
        """So many rounds with the library's defaults."""

    @abstractmethod
    def labels(self, X: AnyArray) -> Iterator[AnyArray]:
        """The predicted classes after every round, or after the last one only."""


class Ours(Contestant):
    """`SimplexBoostClassifier`."""

    package = "simplexboost"

    def fit(self, X: AnyArray, y: AnyArray, rounds: int) -> None:
        """The history has the seconds."""
        self.model = SimplexBoostClassifier(n_estimators=rounds, device=self.device, random_state=0).fit(X, y)
        self.seconds = [float(s) for s in self.model.history_["seconds"]]

    def labels(self, X: AnyArray) -> Iterator[AnyArray]:
        """After every round."""
        return self.model.staged_predict(X)


class XGBoost(Contestant):
    """A tree for every class and round."""

    package = "xgboost"

    def fit(self, X: AnyArray, y: AnyArray, rounds: int) -> None:
        """A callback looks at the clock."""
        import xgboost

        tick = self.tick

        class Ticking(xgboost.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                return tick()

        params = {"n_estimators": rounds, "device": self.device, "tree_method": "hist", "random_state": 0}
        self.model = xgboost.XGBClassifier(callbacks=[Ticking()], **params)
        self.begin()
        self.model.fit(X, y)

    def labels(self, X: AnyArray) -> Iterator[AnyArray]:
        """After the last round."""
        yield np.asarray(self.model.predict_proba(X)).argmax(axis=1)


class PyBoost(Contestant):
    """A tree of vectors a round, whose splits use one random projection of the gradient."""

    package = "py_boost"

    def fit(self, X: AnyArray, y: AnyArray, rounds: int) -> None:
        """A callback looks at the clock; the learning rate is the other libraries' 0.1, twice the default."""
        from py_boost import Callback, SketchBoost

        tick = self.tick

        class Ticking(Callback):
            def after_iteration(self, build_info: Any) -> bool:
                return tick()

        params = {"ntrees": rounds, "lr": 0.1, "sketch_method": "proj", "sketch_outputs": 1, "verbose": 10**9}
        self.model = SketchBoost("crossentropy", callbacks=[Ticking()], **params)
        self.begin()
        self.model.fit(X, y)

    def labels(self, X: AnyArray) -> Iterator[AnyArray]:
        """After the last round."""
        yield np.asarray(self.model.predict(X)).argmax(axis=1)


CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "simplexboost": Ours,
    "simplexboost, processor": lambda: Ours("cpu"),
    "py-boost": PyBoost,
    "xgboost": XGBoost,
}


def clusters(n: int, p: int, K: int) -> tuple[AnyArray, AnyArray]:
    """X (n, p) and labels: K × 4 Gaussian clusters in 12 features, 12 noisy mixtures of these, and noise."""
    rng, parts = np.random.default_rng(1), 16
    centres = rng.standard_normal((K * 4, 12), dtype=np.float32) * np.float32(1.2)
    mix = rng.standard_normal((12, 12), dtype=np.float32) / np.float32(3.5)
    which = rng.integers(0, K * 4, n)
    X, edges = np.empty((n, p), dtype=np.float32), np.linspace(0, n, parts + 1).astype(int)

    def fill(i: int) -> None:
        rows = slice(edges[i], edges[i + 1])
        x = np.random.default_rng([2, i]).standard_normal((edges[i + 1] - edges[i], max(p, 24)), dtype=np.float32)
        x[:, :12] += centres[which[rows]]
        x[:, 12:24] = x[:, :12] @ mix + x[:, 12:24] * np.float32(0.5)
        X[rows] = x[:, :p]

    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(fill, range(parts)))
    return X, which // 4


def problem(name: str) -> Problem:
    """A data set, or rows of a size with a tenth of as many again for testing."""
    if name[0].isdigit():
        n, p, K = map(int, name.split("x"))
        X, y = clusters(n + n // 10, p, K)
        return Problem(X[:n], y[:n], X[n:], y[n:])
    data = datasets.load(name)
    names, y = np.unique(data.y_train, return_inverse=True)
    arrays = (np.ascontiguousarray(X, dtype=np.float32) for X in (data.X_train, data.X_test))
    return Problem(next(arrays), y, next(arrays), np.searchsorted(names, data.y_test))


@dataclass
class Measured:
    """What a fit of a contestant came to: seconds and test accuracies, of all rounds or of the last one."""

    name: str
    seconds: list[float]
    accuracies: list[float]

    @property
    def milliseconds(self) -> float:
        """Of a round, in the middle."""
        return 1e3 * median(np.diff(self.seconds)[len(self.seconds) // 4 :])

    def seconds_to(self, accuracy: float) -> float:
        """Until it was as accurate; NaN if it never was. For those whose accuracies of all rounds are known."""
        reached = [s for s, a in zip(self.seconds, self.accuracies, strict=True) if a >= accuracy]
        return reached[0] if reached else float("nan")


def measure(name: str, contestant: Contestant, data: Problem, rounds: int) -> Measured:
    """Fit twice, a few rounds on some of the rows and then all."""
    contestant.fit(data.X[:WARM_ROWS], data.y[:WARM_ROWS], WARM)
    contestant.fit(data.X, data.y, rounds)
    accuracies = [float(np.mean(labels == data.y_test)) for labels in contestant.labels(data.X_test)]
    return Measured(name, contestant.seconds, accuracies)


def table(rows: list[Measured]) -> str:
    """Markdown; the first one is compared with the others."""
    head = ("", "rounds", "ms a round", "test accuracy", "seconds", "ours, seconds to that accuracy")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        ours = rows[0].seconds_to(row.accuracies[-1])
        numbers = f"{row.milliseconds:.2f} | {row.accuracies[-1]:.4f} | {row.seconds[-1]:.2f} | {ours:.2f}"
        lines.append(f"| {row.name} | {len(row.seconds)} | {numbers} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--problems", default="letter,aloi27,1000000x50x10,1000000x50x100")
    parser.add_argument("--contestants", default=";".join(CONTESTANTS), help="separated by ';'")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args(argv)
    for name in options.problems.split(","):
        data, rows = problem(name), []
        for who in options.contestants.split(";"):
            contestant = CONTESTANTS[who]()
            if find_spec(contestant.package) is None:
                print(f"{who} is not installed", flush=True)
                continue
            rows.append(measure(who, contestant, data, options.rounds))
            print(f"{name} {who}: {rows[-1].milliseconds:.2f} ms a round", flush=True)
        print(f"\n{name}\n\n{table(rows)}\n", flush=True)


if __name__ == "__main__":
    main()
