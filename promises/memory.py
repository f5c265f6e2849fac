"""Promises about memory: no growth, a forecast that is right, and the refusal of what cannot be had."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

import simplexboost as sb
from simplexboost import decide
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.theory import MulticlassSVC

from .promise import promise
from .tables import LABELS, suited

MIB = 2**20
MOST_PER_FIT = 2048  # bytes that a fit may leave behind on average: less than any array of a fit, more than chance

GROWING: list[Any] = [
    sb.SimplexBoostClassifier(n_estimators=3),
    sb.SimplexBoostClassifier(n_estimators=3, codewords="simplex", early_stopping=True),
    sb.SimplexBoostClassifier(n_estimators=3, growth="symmetric", subsample=0.5),
    sb.SimplexBoostClassifier(n_estimators=3, classes=LABELS),
    sb.SimplexBoostClassifier(n_estimators=3, optimizer=SketchedNewton(candidates=2)),
    sb.SimplexBoostClassifier(n_estimators=3, classes=sb.Ordinal(), calibration=True),
    sb.SAMMEClassifier(n_estimators=3),
    sb.GDMCBoostClassifier(n_estimators=3),
    sb.AdaBoostMHClassifier(n_estimators=3),
    sb.AdaBoostMMClassifier(n_estimators=3),
    sb.LogitBoostClassifier(n_estimators=3),
    sb.SoftmaxBoostClassifier(n_estimators=3),
    sb.OneVsAllBoostClassifier(n_estimators=3),
    MulticlassSVC(),
]


def status(name: str) -> int:
    """A number of bytes that the system tells about this process: "VmRSS", "VmHWM"."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def some_rows(n: int, p: int, K: int, rng: np.random.Generator, dtype: str = "float64") -> tuple[Any, Any]:
    """A table (n, p) whose columns tell the K classes of its rows; made in blocks, so that it takes little else."""
    y = rng.permutation(np.arange(n) % K)
    X = np.empty((n, p), dtype=dtype)
    for begin in range(0, n, 4096):
        rows = slice(begin, begin + 4096)
        X[rows] = rng.normal(size=X[rows].shape) + 0.3 * (y[rows, None] % (7 + np.arange(p)))
    return X, y


@promise("A thousand fits leave no memory behind.", fast=1, soak=len(GROWING), each=1000, alone=True)
def fits_leave_nothing(case: int) -> None:
    """One case: a thousand fits of a booster, with predictions, on tables of 40 rows, after 200 more to warm up.

    The first flagship is also changed: it learns a class, two become one, and its sets are calibrated.
    """
    clf, rng = GROWING[case % len(GROWING)], np.random.default_rng(case)
    X, c = some_rows(40, 3, 4, rng)
    y = suited(clf, c)

    def fit_often(times: int) -> int:
        for _ in range(times):
            fitted = clone(clf).fit(X, y)
            fitted.predict(X)
            if case % len(GROWING) == 0:
                fitted = sb.merge_classes(
                    sb.add_classes(fitted, X, np.where(X[:, 0] > 0, y, 7), n_rounds=1), {0: [0, 1]}
                )
                decide.predict_sets(decide.calibrate_sets(fitted, X, np.where(y == 1, 0, y)), X)
        gc.collect()
        return status("VmRSS")

    before = fit_often(200)
    grown = fit_often(1000) - before
    assert grown < 1000 * MOST_PER_FIT, f"{clf!r}: 1000 fits left {grown / MIB:.1f} MiB behind"


@promise("The forecast of memory is within 10 % of the peak.", fast=1, soak=24, alone=True)
def peaks_are_forecast(case: int) -> None:
    """One case: the peak of a fit of the flagship in a process of its own, between 60 and 200 MB, on some threads."""
    rng = np.random.default_rng(case)
    K, p = int(rng.choice([3, 10, 40, 200])), int(rng.choice([4, 10, 30, 60]))
    n = int(rng.uniform(0.6, 1.4) * 60e6 / (4 * K + p + 100))
    dtype, n_jobs = str(rng.choice(["float32", "float64"])), int(rng.choice([1, 2, 4, 8]))
    asked = {"n": n, "p": p, "K": K, "dtype": dtype, "seed": case, "n_jobs": n_jobs}
    done = subprocess.run([sys.executable, "-c", PEAK, json.dumps(asked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    quotient = found["peak"] / found["forecast"]
    told = ", ".join(f"{name} {size / MIB:.0f} MiB" for name, size in found.items())
    assert 0.9 <= quotient <= 1.1, f"{asked}: {told}, quotient {quotient:.3f}"


# What a fit of two rounds takes, and what was forecast. An earlier small fit loads what is loaded once.
PEAK = """
import json, sys
import numpy as np
from promises.memory import some_rows, status
from simplexboost import SimplexBoostClassifier
from simplexboost.boosting import Callback

class Listen(Callback):
    def start(self, run):
        self.memory = run.memory

asked = json.loads(sys.argv[1])
rng, heard, n_jobs = np.random.default_rng(asked.pop("seed")), Listen(), asked.pop("n_jobs")
SimplexBoostClassifier(n_estimators=2).fit(*some_rows(300, 3, 3, rng))
X, y = some_rows(rng=rng, **asked)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak is counted from here on
before = status("VmRSS")
SimplexBoostClassifier(n_estimators=2, n_jobs=n_jobs, callbacks=[heard]).fit(X, y)
print(json.dumps({"peak": status("VmHWM") - before, "forecast": heard.memory}))
"""


@promise("A fit that cannot have the memory it needs is refused at once, with what it needs.", fast=2, soak=40)
def impossible_fits_are_refused(case: int) -> None:
    """One case: tens of thousands of classes where a gigabyte is free; nothing large may be made first."""
    rng = np.random.default_rng(case)
    K = int(rng.integers(20_000, 50_000))
    n = int(2.5 * K)
    boosters: list[Any] = [
        sb.SimplexBoostClassifier(codewords="canonical", optimizer=SketchedNewton(candidates=None)),
        sb.SimplexBoostClassifier(codewords="simplex", n_estimators=10),
        sb.SAMMEClassifier(),
        sb.GDMCBoostClassifier(),
        sb.BoostingClassifier(codewords="one-vs-all", optimizer="coordinate"),
    ]
    clf = boosters[case % len(boosters)]
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % K)
    before = status("VmRSS")
    with patch("simplexboost._util.runtime.free_memory", lambda: 10**9):
        try:
            clf.fit(X, y)
        except MemoryError as error:
            told = str(error)
        else:
            raise AssertionError(f"{clf!r} was fitted to {n} rows of {K} classes")
    assert f"{n} rows of {K} classes" in told and "1.0 GB are free" in told, told
    grown = status("VmHWM") - before
    assert grown < 200 * MIB, f"{clf!r}: {grown / MIB:.0f} MiB were taken before it was refused"
