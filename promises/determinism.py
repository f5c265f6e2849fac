"""The same data give the same model: whatever the threads, the processes, the form and the order of the data."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import simplexboost as sb
from simplexboost import decide
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.distributed.fitting import fit_group
from simplexboost.tables.partitions import Partition as Part
from tests.group_threads import run_group
from tests.twin.shards import sharded_engine

from .promise import promise
from .tables import (
    CASES,
    FLAGSHIPS,
    PARTS,
    ROUNDS,
    Rows,
    any_case,
    digest,
    file_of,
    flagship_case,
    large_rows,
    plain_rows,
    random_booster,
    random_rows,
    relabelled,
)

CLOSE = 1e-6  # probabilities that differ in rounding errors only; the flagship computes in single precision


@promise("Saved bytes are equal for any number of threads, of ours and of BLAS.", fast=len(CASES), soak=500)
def same_bytes_for_any_threads(case: int) -> None:
    """One fit with different numbers of threads."""
    rng, clf, rows = any_case(case)
    expected = digest(rows.fit(clone(clf)))
    for n_jobs in (2, 3, 8):
        with threadpool_limits(int(rng.integers(1, 5)), user_api="blas"):
            found = digest(rows.fit(clone(clf).set_params(n_jobs=n_jobs)).set_params(n_jobs=clf.n_jobs))
        assert found == expected, f"{clf!r} with n_jobs={n_jobs}"


@promise("Saved bytes are equal however the rows are cut into shards.", fast=14, soak=300)
def same_bytes_for_any_shards(case: int) -> None:
    """One fit on a table that is cut at random places."""
    rng, names = np.random.default_rng(case), list(ROUNDS)
    clf = random_booster(rng, names[case % len(names)])
    rows = large_rows(rng) if case % 50 == names.index("SimplexBoostClassifier") else random_rows(rng)
    expected = digest(rows.fit(clone(clf)))
    cuts = tuple(np.sort(rng.integers(0, len(rows.y) + 1, int(rng.integers(1, 6)))).tolist())
    cut = type(clf)(**clf.get_params(deep=False))
    cut.__dict__["_engine"] = lambda n_rows=None: sharded_engine(cuts=cuts)
    rows.fit(cut)
    del cut.__dict__["_engine"]
    assert digest(cut) == expected, f"{clf!r} with cuts at {cuts}"


@promise("Saved bytes are equal again, in forked processes, and in new ones.", fast=2, soak=60)
def same_bytes_in_other_processes(case: int) -> None:
    """One fit, repeated here, in a forked child after the parent has fitted, and in a new process."""
    _, clf, rows = any_case(case)
    expected = digest(rows.fit(clone(clf)))
    assert digest(rows.fit(clone(clf))) == expected, f"{clf!r}, repeated"
    if hasattr(os, "fork"):
        assert in_a_fork(lambda: digest(rows.fit(clone(clf)))) == expected, f"{clf!r}, in a fork"
    code = (
        "from promises.tables import any_case, digest\n"
        f"rng, clf, rows = any_case({case})\nprint('digest', digest(rows.fit(clf)))"
    )
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.split()[-1:] == [expected], f"{clf!r}, in a new process: {done.stdout}{done.stderr[-2000:]}"


def in_a_fork(compute: Any) -> str:
    """What a function returns in a forked child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, compute().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


@promise("Saved bytes are equal for any order in memory, stride and equal type of the data.", fast=len(CASES), soak=400)
def same_bytes_for_any_form(case: int) -> None:
    """One fit on the same numbers in different arrays."""
    _, clf, rows = any_case(case, exact=True)
    X, y, weight = rows.X, rows.y, rows.weight
    wide, tall = np.full((2 * len(X), 3 * X.shape[1]), 7.0), np.zeros((3 * len(y), *y.shape[1:]), dtype=y.dtype)
    wide[::2, 1::3], tall[::3] = X, y
    frozen = X.copy()
    frozen.flags.writeable = False
    forms = {
        "Fortran order": (np.asfortranarray(X), y),
        "strides": (wide[::2, 1::3], tall[::3]),
        "backwards": (X[:, ::-1].copy()[:, ::-1], y[::-1].copy()[::-1]),
        "read-only": (frozen, y),
        "single precision": (X.astype(np.float32), y),
        "big-endian": (X.astype(">f8"), y),
        "lists": (X.tolist(), y.tolist()),
        "sparse": (csr_array(X), y),
    }
    if not np.isnan(X).any():
        forms["integers"] = (X.astype(np.int32), y)
    expected = digest(clone(clf).fit(X, y, sample_weight=weight))
    for name, (table, labels) in forms.items():
        if name == "sparse" and getattr(clf, "learner", None) == "linear":
            continue  # which needs a dense table
        found = digest(clone(clf).fit(table, labels, sample_weight=weight))
        assert found == expected, f"{clf!r} on the form: {name}"


@promise("Saved bytes are equal while other fits run in other threads.", fast=2, soak=40)
def same_bytes_while_others_fit(case: int) -> None:
    """Fits of all boosters, alone and then eight at a time."""
    rng = np.random.default_rng(case)
    n, begin = len(CASES), int(rng.integers(len(CASES)))
    fits = [any_case(n * case + (begin + i) % n)[1:] for i in range(n)]

    def fitted(fit: Any) -> str:
        clf, rows = fit
        return digest(rows.fit(clone(clf)))

    expected = [fitted(fit) for fit in fits]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fitted, fits))
    wrong = [clf for (clf, _), a, b in zip(fits, expected, found, strict=True) if a != b]
    assert not wrong, f"{wrong!r} differ among other fits"


@promise("Saved bytes do not depend on the order of the rows.", fast=len(CASES), soak=800)
def same_bytes_for_any_order_of_rows(case: int) -> None:
    """One fit on the same rows in two orders; in some cases features have few values, which occur with every class."""
    rng, clf, rows = any_case(case)
    if rng.random() < 0.3:
        rows = replace(rows, X=np.sign(rows.X[:, :2]))
    places = rng.permutation(len(rows.y))
    assert digest(rows.take(places).fit(clone(clf))) == digest(rows.fit(clone(clf))), f"{clf!r}"


@promise("Saved bytes do not change if all weights are multiplied by a power of two.", fast=14, soak=300)
def same_bytes_for_scaled_weights(case: int) -> None:
    """One fit with the same ratios of weights: equal bytes for powers of two, nearly equal probabilities for others."""
    rng, names = np.random.default_rng(case), list(ROUNDS)
    clf, rows = random_booster(rng, names[case % len(names)]), random_rows(rng)
    weight = rng.uniform(0.2, 3.0, len(rows.y))
    expected = digest(clone(clf).fit(rows.X, rows.y, sample_weight=weight))
    for power in (-900, int(rng.integers(-900, 900)), 900):
        found = digest(clone(clf).fit(rows.X, rows.y, sample_weight=np.ldexp(weight, power)))
        assert found == expected, f"{clf!r} with weights times 2**{power}"
    equal = digest(clone(clf).fit(rows.X, rows.y, sample_weight=np.full(len(rows.y), float(weight[0]))))
    assert equal == digest(clone(clf).fit(rows.X, rows.y)), f"{clf!r} with equal weights"


@promise("Other names for the classes only permute the outputs, up to rounding errors.", fast=13, soak=300)
def relabelling_permutes_the_outputs(case: int) -> None:
    """One fit with two sets of labels.

    Weights are random, so that no two choices are equally good: of those the first class would be taken. Codewords that
    are not all alike belong to the classes by their numbers, so that boosters that have them are left out.
    """
    rng = np.random.default_rng(case)
    names = [name for name in ROUNDS if name != "CDMCBoostClassifier"]
    clf = random_booster(rng, names[case % len(names)], plain=True)
    if clf.get_params().get("codewords") in ("max-min", "simplex"):
        clf.set_params(**(PARTS[2] if isinstance(clf, sb.BoostingClassifier) else {"codewords": "canonical"}))
    rows = plain_rows(rng)
    rows = replace(rows, weight=rng.uniform(0.5, 2.0, len(rows.y)))
    other, named = relabelled(rows, rng)
    a, b = (r.fit(clone(clf)).predict_proba(rows.X) for r in (rows, other))
    assert np.abs(a - b[:, named]).max() < CLOSE, f"{clf!r} differs by {np.abs(a - b[:, named]).max():.2g}"


@promise("Rows that occur several times count like whole-number weights, up to rounding errors.", fast=12, soak=300)
def repetitions_are_weights(case: int) -> None:
    """One fit with whole weights, and on rows repeated so many times.

    A row weighs a random number, so that no two splits are equally good: rounding errors would choose between them.
    Boosters with regularised Newton steps are left out: what they add to the curvature is measured in rows.
    """
    rng = np.random.default_rng(case)
    names = [name for name in ROUNDS if name not in ("SimplexBoostClassifier", "LogitBoostClassifier")]
    clf, rows = random_booster(rng, names[case % len(names)], plain=True), plain_rows(rng)
    if "newton" in str(clf.get_params().get("optimizer")):
        clf.set_params(**PARTS[0])
    one, times = rng.uniform(0.5, 2.0, len(rows.y)), rng.integers(0, 4, len(rows.y))
    times[np.unique(rows.y, return_index=True)[1]] += 1  # every class keeps a row
    weighted = clone(clf).fit(rows.X, rows.y, sample_weight=one * times)
    repeated = replace(rows, weight=one).take(np.repeat(np.arange(len(rows.y)), times)).fit(clone(clf))
    differ = np.abs(weighted.predict_proba(rows.X) - repeated.predict_proba(rows.X)).max()
    assert differ < CLOSE, f"{clf!r} differs by {differ:.2g}"


@promise("Saved bytes are equal for any number of workers and partitions.", fast=4, soak=120)
def same_bytes_for_any_workers(case: int) -> None:
    """One fit by the members of a group, each of which sees the rows of its own partitions only."""
    rng = np.random.default_rng(case)
    clf, rows = random_booster(rng, ["SimplexBoostClassifier", "BoostingClassifier"][case % 2]), random_rows(rng)
    if clf.get_params().get("learner") == "linear":
        clf.set_params(**PARTS[0])  # lines are not fitted to partitions
    expected = digest(rows.fit(clone(clf)))
    n_members, n_parts = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    places = rng.permutation(len(rows.y))  # partitions hold the rows in another order
    parts = [
        Part(i, rows.X[at], rows.y[at], None if rows.weight is None else rows.weight[at])
        for i, at in enumerate(np.array_split(places, n_parts))
    ]

    def program(group: Any, partitions: list[Any]) -> Any:
        own = clone(clf)
        fit_group(group, own, [list(partitions)])
        return own

    held = [[part for part in parts if part.index % n_members == m] for m in range(n_members)]
    found = [digest(one) for one in run_group(program, held, [], None)]
    assert set(found) == {expected}, f"{clf!r} on {n_members} workers with {n_parts} partitions"


@promise(
    "A model that learns classes, loses one, merges two and calibrates its sets has the same bytes for any number of "
    "threads and any order of the rows.",
    fast=4,
    soak=200,
)
def same_bytes_for_changed_classes(case: int) -> None:
    """One model, changed with the same rows in other orders and on other threads; now and then a class has none."""
    rng = np.random.default_rng(case)
    rows, clf = random_rows(rng, int(rng.integers(4, 8))), random_booster(rng, "SimplexBoostClassifier")
    fitted = rows.take(rows.y < 3).fit(clf)
    given, n_rounds = (rows, 3) if case % 2 else (rows.take(rows.y != 1), 0)
    merges, drops = rng.random(2) < 0.7

    def changed(some: Rows, n_jobs: int | None) -> str:
        own = deepcopy(fitted).set_params(n_jobs=n_jobs)
        own = sb.add_classes(own, some.X, some.y, some.weight, n_rounds=n_rounds)
        if merges:
            own = sb.merge_classes(own, {0: [0, 3], 9: [1]})
        if drops:
            own = sb.drop_classes(own, 2)
        known = some.take(np.isin(some.y, own.classes_))
        own = decide.calibrate_sets(own, known.X, known.y, known.weight)
        return digest(own.set_params(n_jobs=clf.n_jobs))

    expected = changed(given, None)
    for n_jobs in (2, 3):
        assert changed(given.take(rng.permutation(len(given.y))), n_jobs) == expected, f"{clf!r} with n_jobs={n_jobs}"


class Killed(BaseException):
    """Ends a fit at once, as if the process were gone."""


class Kill(Callback):
    """Ends the fit after a round."""

    def __init__(self, after: int) -> None:
        self.after = after

    def after_round(self, run: Any) -> None:
        """End it."""
        if run.round >= self.after:
            raise Killed


@promise("A fit that is resumed from a checkpoint gives the bytes of one that was not interrupted.", fast=20, soak=400)
def same_bytes_after_a_resume(case: int) -> None:
    """One fit, ended after random rounds, twice, and continued from its checkpoint."""
    rng, names = np.random.default_rng(case), [*ROUNDS, *FLAGSHIPS]
    name, more = names[case % len(names)], {}
    clf, rows = flagship_case(rng, name) if name in FLAGSHIPS else (random_booster(rng, name), random_rows(rng))
    if name == "SimplexBoostClassifier" and rng.random() < 0.3:
        clf.set_params(n_estimators="auto", learning_rate=0.5, max_leaf_nodes=4)
    if (
        rng.random() < 0.2
        and name not in ("OSBoostClassifier", *FLAGSHIPS)
        and clf.get_params().get("codewords") != "max-min"
    ):
        more["init_score"] = rng.normal(size=(len(rows.y), len(np.unique(rows.y))))
    whole = rows.fit(clone(clf), **more)
    if whole.n_iter_ == 0:
        return  # nothing could be learnt, so that there is nothing to interrupt
    curve = whole.history_["risk"] if whole.validation_score_ is None else whole.validation_score_
    made = len(curve)  # early stopping keeps fewer than it made
    with TemporaryDirectory() as folder:
        path, rounds = Path(folder) / "model.sb", np.sort(rng.integers(1, made + 1, 2)).tolist()
        broken_off(rows, clone(clf), path, rounds[0], more)
        broken_off(rows, sb.load(path).set_params(warm_start=True), path, rounds[1], more)
        resumed = sb.load(path).set_params(warm_start=True, callbacks=None)
        rows.fit(resumed, **more).set_params(warm_start=False)
    assert file_of(resumed) == file_of(whole), f"{clf!r}, ended after rounds {rounds} of {made}"


def broken_off(rows: Any, clf: Any, path: Path, after: int, more: dict[str, Any]) -> None:
    """Begin a fit, or go on with one, and end it after a round, of which there is a checkpoint."""
    with suppress(Killed):
        rows.fit(clf.set_params(callbacks=[Checkpoint(path, every=1), Kill(after)]), **more)
    clf.set_params(warm_start=False, callbacks=None)
