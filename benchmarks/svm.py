"""The multiclass SVM beside scikit-learn's: ``python -m benchmarks.svm``, SIMPLEXBOOST_DATA names the data folder.

Linear: objective and time of `MulticlassSVC` beside ``LinearSVC(multi_class="crammer_singer")``, the same problem, in
turn; ours stops at a duality gap of 1e-4, theirs by its own rule. Kernel: time and accuracy beside the one-versus-one
``SVC``, another problem with the same kernel and C. Both use one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from simplexboost import MulticlassSVC, datasets

LINEAR = "pendigits,letter,satimage,dna,optdigits"
KERNEL = "pendigits"


def scaled(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test part with standardised features; labels 0 .. K − 1."""
    data = datasets.load(name)
    scaler = StandardScaler().fit(np.asarray(data.X_train, dtype=float))
    labels, y = np.unique(data.y_train, return_inverse=True)
    X, X_test = (scaler.transform(np.asarray(A, dtype=float)) for A in (data.X_train, data.X_test))
    return X, y, X_test, np.searchsorted(labels, data.y_test)


def race(contestants: Sequence[Callable[[], Any]], repeats: int) -> list[tuple[float, Any]]:
    """The median time of each, and what it returned last; they take turns."""
    seconds: list[list[float]] = [[] for _ in contestants]
    fitted: list[Any] = [None] * len(contestants)
    for _ in range(repeats):
        for which, work in enumerate(contestants):
            begin = time.perf_counter()
            fitted[which] = work()
            seconds[which].append(time.perf_counter() - begin)
    return list(zip(map(median, seconds), fitted, strict=True))


def objective(clf: Any, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """½ Σ‖w‖² + C Σ hinge, biases among the weights."""
    F = X @ clf.coef_.T + clf.intercept_
    rows = np.arange(len(y))
    own = F[rows, y].copy()
    F += 1.0
    F[rows, y] -= 1.0
    return float(0.5 * ((clf.coef_**2).sum() + (clf.intercept_**2).sum()) + C * (F.max(axis=1) - own).sum())


def linear(names: str, C: float, repeats: int) -> None:
    """Ours beside LIBLINEAR's."""
    print(f"linear, C = {C:g}: MulticlassSVC(tol=1e-4) beside LinearSVC(multi_class='crammer_singer', tol=1e-4)")
    for name in names.split(","):
        X, y, *_ = scaled(name)
        theirs = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-4, random_state=0)
        ours = MulticlassSVC(C=C, tol=1e-4, random_state=0)
        (t, a), (s, b) = race([lambda: theirs.fit(X, y), lambda: ours.fit(X, y)], repeats)  # noqa: B023
        ratio = objective(b, X, y, C) / objective(a, X, y, C)
        print(
            f"  {name:10s} {X.shape[0]:6d} x {X.shape[1]:3d}: {s:6.2f} s beside {t:6.2f} s, {t / s:5.1f} times as "
            f"fast; objective {ratio - 1:+.1e} relative, gap {b.duality_gap_ / b.objective_:.1e}",
            flush=True,
        )


def kernel(names: str, repeats: int) -> None:
    """Ours beside LIBSVM's."""
    print("rbf, gamma='scale': MulticlassSVC(kernel='rbf') beside the one-versus-one SVC()")
    for name in names.split(","):
        X, y, X_test, y_test = scaled(name)
        for C in (1.0, 10.0):
            theirs, ours = SVC(C=C), MulticlassSVC(kernel="rbf", C=C)
            (t, a), (s, b) = race([lambda: theirs.fit(X, y), lambda: ours.fit(X, y)], repeats)  # noqa: B023
            print(
                f"  {name:10s} C = {C:4g}: {s:.2f} s beside {t:.2f} s, {s / t:.2f} times the time; accuracy "
                f"{b.score(X_test, y_test):.4f} beside {a.score(X_test, y_test):.4f}; support vectors "
                f"{len(b.support_)} beside {len(a.support_)}",
                flush=True,
            )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.svm", description=__doc__)
    parser.add_argument("--linear", default=LINEAR, help="data sets, comma separated")
    parser.add_argument("--kernel", default=KERNEL, help="data sets, comma separated")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)  # LIBLINEAR's; our gaps are printed
    for C in (1.0, 0.01):
        linear(options.linear, C, options.repeats)
    kernel(options.kernel, options.repeats)


if __name__ == "__main__":
    main()
