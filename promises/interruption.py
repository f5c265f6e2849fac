"""Interruption: Ctrl-C, a killed process, a full disk. What was there stays whole, and what was begun can go on."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd

import simplexboost as sb
from promises.processes import answers, in_child, outcome, table
from promises.promise import promise
from promises.tables import LABELS, suited
from simplexboost import decide
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.persist import atomic_write

# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


def large(case: int, n: int, p: int = 10, K: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """A table that takes a while."""
    rng = np.random.default_rng(case)
    X = rng.normal(size=(n, p))
    return X, (np.abs(X[:, 0] + X[:, 1]) * 3).astype(int) % K


def many_classes(case: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of so many classes that a row has candidates."""
    X, _ = large(case, n)
    return X, np.random.default_rng(case).permutation(np.arange(n) % 200)


def long_fit(clf: Any, n: int, make: Callable[..., Any] = large) -> Callable[[int], tuple[Any, Callable[[], Any]]]:
    """A fitted classifier, and a fit of it that takes much longer than anybody waits."""

    def made(case: int) -> tuple[Any, Callable[[], Any]]:
        X, y = make(case, n)
        y = suited(clf, y)
        first = X[:500], y[:500]
        short = type(clf)(**clf.get_params(deep=False))
        name = next(n for n in ("n_estimators", "n_layers", "max_iter") if n in short.get_params(deep=False))
        short.set_params(**{name: 2 if name != "max_iter" else 50}).fit(*first)
        short.set_params(**{name: clf.get_params()[name]})
        return short, lambda: short.fit(X, y)

    return made


def question(method: str, n: int, *more: Any) -> Callable[[int], tuple[Any, Callable[[], Any]]]:
    """A fitted classifier, and a question about so many rows that it takes many seconds."""

    def make(case: int) -> tuple[Any, Callable[[], Any]]:
        X, y = large(case, 2000)
        X = X.astype(np.float32)
        clf = sb.SimplexBoostClassifier(n_estimators=200, max_leaf_nodes=255, random_state=case).fit(X, y)
        many = np.tile(X, (n // 2000, 1))

        def ask() -> None:
            functions: dict[str, Any] = {"shap_values": sb.explain.shap_values, "top_k": decide.top_k}
            answer = functions[method](clf, many, *more) if method in functions else getattr(clf, method)(many, *more)
            if method.startswith("staged"):
                list(answer)

        return clf, ask

    return make


def long_lesson(case: int) -> tuple[Any, Callable[[], Any]]:
    """A fitted classifier, and many rounds in which it learns a class."""
    X, y = large(case, 60_000)
    clf = sb.SimplexBoostClassifier(n_estimators=5, n_jobs=2, random_state=case).fit(X[y < 4][:2000], y[y < 4][:2000])
    return clf, lambda: sb.add_classes(clf, X, y, n_rounds=100_000)


def long_sets(method: str) -> Callable[[int], tuple[Any, Callable[[], Any]]]:
    """A classifier with calibrated sets, and a question about so many rows that it takes many seconds."""

    def make(case: int) -> tuple[Any, Callable[[], Any]]:
        X, y = large(case, 2000)
        clf = sb.SimplexBoostClassifier(n_estimators=200, max_leaf_nodes=255, random_state=case).fit(X, y)
        clf = decide.calibrate_sets(clf, X, y)
        many = np.tile(X, (500, 1))
        more = (np.tile(y, 500),) if method == "calibrate_sets" else ()
        return clf, lambda: getattr(decide, method)(clf, many, *more)

    return make


def big_frame(case: int) -> tuple[Any, Callable[[], Any]]:
    """A classifier of a frame with text, dates and categories, and a question about many such rows."""
    rng = np.random.default_rng(case)
    n = 300_000
    frame = pd.DataFrame(
        {
            "text": rng.choice(["red", "green", "blue", "violet"], n),
            "kind": pd.Categorical(rng.choice(list("abcdef"), n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
            "x": rng.normal(size=n),
        }
    )
    y = (frame["x"] > 0).to_numpy().astype(int) + (frame["text"] == "red").to_numpy()
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=case).fit(frame[:2000], y[:2000])
    return clf, lambda: [clf.predict(frame) for _ in range(1000)]


AUTO = "auto"
LONG: dict[str, Callable[[int], tuple[Any, Callable[[], Any]]]] = {
    "predict": question("predict", 1_000_000),
    "fit of the flagship": long_fit(sb.SimplexBoostClassifier(n_estimators=100_000, n_jobs=2), 60_000),
    "fit with a choice": long_fit(sb.SimplexBoostClassifier(n_estimators=AUTO, n_jobs=2, learning_rate=0.01), 20_000),
    "fit of matrix products": long_fit(sb.GDMCBoostClassifier(n_estimators=100_000), 30_000),
    "fit of a machine": long_fit(sb.MulticlassSVC(kernel="rbf", max_iter=10**6, tol=0.0), 3_000),
    "predict_proba": question("predict_proba", 1_000_000),
    "shap_values": question("shap_values", 20_000),
    "staged_predict": question("staged_predict_proba", 200_000),
    "top_k": question("top_k", 1_000_000, 2),
    "a frame": big_frame,
    "fit of labels": long_fit(sb.SimplexBoostClassifier(n_estimators=100_000, n_jobs=2, classes=LABELS), 60_000),
    "fit with candidates": long_fit(
        sb.SimplexBoostClassifier(n_estimators=5_000, n_jobs=2, optimizer=SketchedNewton(candidates=16)),
        30_000,
        many_classes,
    ),
    "add_classes": long_lesson,
    "calibrate_sets": long_sets("calibrate_sets"),
    "predict_sets": long_sets("predict_sets"),
    "estimate_prior": long_sets("estimate_prior"),
}


@promise(
    "Ctrl-C ends a fit or a prediction within a second of work, and leaves the estimator as it was.",
    fast=4,
    soak=96,
)
def ctrl_c(case: int) -> None:
    """The second is one of this process's own time on the processors, so that other programs do not count."""
    name = list(LONG)[case % len(LONG)]
    clf, work = LONG[name](case)
    before = dict(vars(clf))
    delay = np.random.default_rng(case).uniform(0.05, 0.6)
    sent = []

    def send() -> None:
        time.sleep(delay)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=send).start()
    try:
        work()
    except KeyboardInterrupt:
        took = time.process_time() - sent[0]
    else:
        raise AssertionError(f"{name} went on after Ctrl-C")
    threads = 2  # which all go on for the time that the main thread needs to hear of it
    assert took < 1.0 * threads, f"{name} went on for {took:.1f} s of processor time"
    after = vars(clf)
    assert before.keys() == after.keys(), f"{name}: other attributes: {before.keys() ^ after.keys()}"
    changed = [key for key in before if before[key] is not after[key]]
    assert not changed, f"{name} left other attributes: {changed}"
    X = large(case, 100)[0]
    if name != "a frame":
        assert len(clf.predict(X)) == 100


# ---- a killed process -----------------------------------------------------------------------------------------------

ROUNDS = 12


def killed_booster(case: int, path: str) -> Any:
    """The classifier of a case; some draw samples of the rows, some have several labels per row, some candidates."""
    kind: Any = sb.GDMCBoostClassifier if case % 3 == 2 else sb.SimplexBoostClassifier
    kinds: dict[int, dict[str, Any]] = {3: {"classes": LABELS}, 4: {"optimizer": SketchedNewton(candidates=2)}}
    more = kinds.get(case % 5, {}) if case % 3 != 2 else {}
    return kind(
        n_estimators=ROUNDS,
        subsample=0.7 if case % 2 else 1.0,
        random_state=case,
        callbacks=[Checkpoint(path, every=1)],
        **more,
    )


def resume(case: int, path: str, X: np.ndarray, y: np.ndarray) -> Any:
    """What somebody does whose fit was killed: go on from the checkpoint, if there is one."""
    if not os.path.exists(path):
        return killed_booster(case, path).fit(X, y)
    clf = sb.load(path)
    return clf.set_params(warm_start=True, n_estimators=ROUNDS, callbacks=[Checkpoint(path, every=1)]).fit(X, y)


@promise(
    "A fit with checkpoints that is killed at any moment goes on to the same model, and leaves nothing but its file.",
    fast=3,
    soak=50,
)
def sigkill(case: int) -> None:
    """Every fourth case works as on systems where files cannot be without a name."""
    rng = np.random.default_rng(case)
    X, y = table(case, 400)
    y = suited(killed_booster(case, ""), y)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.sb")
        begin = time.perf_counter()
        uninterrupted = answers(killed_booster(case, path).fit(X, y), X)
        length = time.perf_counter() - begin
        os.unlink(path)

        def fit() -> bool:
            if case % 4 == 3:
                atomic_write.nameless_file = lambda folder, mode: None
            killed_booster(case, path).fit(X, y)
            return True

        for _ in range(2):
            child = in_child(fit)
            time.sleep(rng.uniform(0, length))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        resumed = resume(case, path, X, y)
        assert resumed.n_iter_ == ROUNDS
        assert answers(resumed, X) == uninterrupted, "the resumed fit gave another model"
        assert os.listdir(folder) == ["model.sb"], f"left behind: {os.listdir(folder)}"


@promise(
    "However many processes save to one place, and whichever of them are killed, a whole file is there.",
    fast=1,
    soak=20,
    each=6,
)
def saves_to_one_place(case: int) -> None:
    """Six processes save without a pause, three are killed; the file is read all the while."""
    rng = np.random.default_rng(case)
    X, y = table(case, 200)
    models = [sb.GDMCBoostClassifier(n_estimators=rounds, random_state=case).fit(X, y) for rounds in (1, 3, 6)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.sb")
        models[0].save(path)

        def save(model: Any, number: int) -> bool:
            if (case + number) % 2:
                atomic_write.nameless_file = lambda folder, mode: None
            for _ in range(15):
                model.save(path)
            return True

        children = [in_child(partial(save, models[i % 3], i)) for i in range(6)]
        for child in children[:3]:
            time.sleep(rng.uniform(0, 0.1))
            assert sb.load(path).n_iter_ in (1, 3, 6)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        failures = [outcome(child) for child in children[3:]]
        assert not any(failures), f"savers: {failures}"
        models[1].save(path)
        assert os.listdir(folder) == ["model.sb"], f"left behind: {os.listdir(folder)}"
        assert answers(sb.load(path), X) == answers(models[1], X)


# ---- a disk that takes no more --------------------------------------------------------------------------------------


class At(Callback):
    """Does something before a round."""

    def __init__(self, round: int, act: Callable[[], None]) -> None:
        self.round, self.act = round, act

    def before_round(self, run: Any) -> None:
        """Act in the round."""
        if run.round == self.round:
            self.act()


@promise(
    "A full disk, a folder that vanishes or a disk that fails costs a warning and the checkpoint, not the fit.",
    fast=4,
    soak=60,
)
def a_disk_that_fails(case: int) -> None:
    """In a child, whose limits and functions may be spoilt."""
    X, y = table(case, 300)
    alone = answers(sb.GDMCBoostClassifier(n_estimators=6, random_state=case).fit(X, y), X)
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder, "inner")
        inner.mkdir()
        path = inner / "model.sb"

        def fail(*arguments: Any, **more: Any) -> Any:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def spoil() -> None:
            if case % 4 == 0:  # every file may have so many bytes
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (100 * (case % 13), resource.RLIM_INFINITY))
            elif case % 4 == 1:
                shutil.rmtree(inner)
            else:
                setattr(atomic_write.os, "fsync" if case % 4 == 2 else "replace", fail)

        def fit() -> bool:
            callbacks = [Checkpoint(path, every=1), At(3, spoil)]
            clf = sb.GDMCBoostClassifier(n_estimators=6, random_state=case, callbacks=callbacks)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                clf.fit(X, y)
            messages = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
            assert len(messages) == 3 and "checkpoint of round 4" in messages[0], messages
            return answers(clf, X) == alone

        failure = outcome(in_child(fit))
        assert not failure, f"the fit {failure}"
        if case % 4 != 1:
            assert sb.load(path).n_iter_ == 3, "the last checkpoint is not that of round 3"
            assert os.listdir(inner) == ["model.sb"], f"left behind: {os.listdir(inner)}"
