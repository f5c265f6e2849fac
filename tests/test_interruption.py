"""Ctrl-C, and disks that fail, in the middle of something."""

import os
import shutil
import signal
import subprocess
import sys
import warnings
from threading import Event, Thread, current_thread, main_thread

import numpy as np
import pytest
from sklearn.datasets import load_iris

import simplexboost as sb
from simplexboost._util.runtime import run_in_threads
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.classifiers.base_classifier import transaction
from simplexboost.persist import atomic_write

X, y = load_iris(return_X_y=True)


# ---- Ctrl-C in compiled code ----------------------------------------------------------------------------------------

LONG_CALL = """
import os, signal, threading
import numpy as np
import simplexboost as sb
from simplexboost.explain.shapley import leaves_of, paths_of

X = np.random.default_rng(0).normal(size=(2000, 10)).astype(np.float32)
y = (np.abs(X[:, 0] + X[:, 1]) * 3).astype(int) % 5
clf = sb.SimplexBoostClassifier(n_estimators=300, max_leaf_nodes=255, random_state=0, n_jobs=2).fit(X, y)
before, expected = dict(vars(clf)), clf.predict(X)

def predict(X, out):
    clf.model_._packed(10, clf._engine()).predict(X, out, 2)

def explain(X, out):
    paths_of(clf.model_, X).kernel.values(X, *leaves_of(clf.model_, np.eye(5)), None, out, 2)

call, rows, width = {call}
many, out = np.tile(X, (rows // 2000, 1)), np.zeros((rows, *width), np.float32 if call is predict else np.float64)
call(X[:2], out[:2].copy())  # what is made at first use is made now
timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
try:
    call(many, out)  # ten seconds of work in one call
except KeyboardInterrupt:
    blank = (out.reshape(rows, -1) == 0).all(axis=1)
    print("interrupted half way" if 0 < blank.sum() < rows else f"{blank.sum()} rows of {rows} are left")
assert vars(clf) == before and (clf.predict(X) == expected).all()
"""


@pytest.mark.parametrize("call", ["predict, 1_500_000, (5,)", "explain, 20_000, (10, 5)"])
def test_ctrl_c_ends_one_long_call_of_compiled_code(call):
    script = LONG_CALL.replace("{call}", call)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=200)
    assert done.stdout == "interrupted half way\n", done.stdout + done.stderr


@pytest.mark.parametrize("n_states", [1, 20])  # which are computed in two ways
def test_ctrl_c_ends_a_potential(n_states):
    """A potential of 20 000 steps takes minutes, without any task that ends before."""
    script = f"""
import os, signal, threading
from simplexboost.theory import potential

threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    potential(20_000, [0.31, 0.24, 0.23, 0.22], s=[[i, 0, 0, 0] for i in range({n_states})])
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted\n", done.stdout + done.stderr


def test_other_signals_are_handled_in_the_middle_of_a_call():
    """A handler that returns lets the computation go on, and changes nothing."""
    calls = []
    handler = signal.signal(signal.SIGALRM, lambda *of: calls.append(of))
    try:
        trees = sb.SimplexBoostClassifier(n_estimators=50, random_state=0, n_jobs=2).fit(X, y)
        many = np.tile(X, (4000, 1))
        expected = trees.decision_function(many)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        assert (trees.decision_function(many) == expected).all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def test_ctrl_c_is_heard_while_the_libraries_of_matrix_products_are_searched():
    """The system calls threadpoolctl back in the first fit; Python ignores exceptions in such a call."""
    script = """
import ctypes, signal
import simplexboost as sb
from simplexboost._util import runtime

class Interrupted(runtime.ThreadpoolController):
    def __init__(self):
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        super().__init__()

runtime.ThreadpoolController = Interrupted
try:
    sb.GDMCBoostClassifier().fit([[0.0], [1.0]], [0, 1])
except KeyboardInterrupt:
    print("heard")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("heard\n", "")


def test_workers_of_the_pool_receive_no_signals():
    """A signal that a worker received would not wake the thread that waits for it."""
    script = """
import os, signal, time
import numpy as np
import simplexboost as sb

def blocked(task, number):
    status = dict(line.split(":\\t", 1) for line in open(f"/proc/self/task/{task}/status") if ":\\t" in line)
    return bool(int(status["SigBlk"], 16) >> number - 1 & 1)

X = np.random.default_rng(0).normal(size=(9000, 20))
before = set(os.listdir("/proc/self/task"))
sb.SimplexBoostClassifier(n_estimators=2, n_jobs=3).fit(X, X[:, 0] > 0)
workers = set(os.listdir("/proc/self/task")) - before
assert len(workers) == 2, workers
for task in workers:
    while blocked(task, signal.SIGSEGV):  # as all are until a new thread has been given a core
        time.sleep(0.01)
    assert blocked(task, signal.SIGINT) and blocked(task, signal.SIGTERM)
assert not blocked(os.getpid(), signal.SIGINT)
"""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("there is no /proc here")
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    subprocess.run([sys.executable, "-c", script], check=True, timeout=100, env=environment)


# ---- all or nothing -------------------------------------------------------------------------------------------------


class Interrupt(Callback):
    """Ctrl-C in some round."""

    def __init__(self, round):
        self.round = round

    def after_round(self, run):
        if run.round == self.round:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("kind", [sb.SimplexBoostClassifier, sb.GDMCBoostClassifier])
@pytest.mark.parametrize("columns", [4, 2])
def test_an_interrupted_fit_leaves_every_attribute(kind, columns):
    clf = kind(n_estimators=3, random_state=0).fit(X, y)
    clf.callbacks = [Interrupt(2)]
    before = dict(vars(clf))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[:, :columns], y)
    after = vars(clf)
    assert before.keys() == after.keys() and all(before[name] is after[name] for name in before)


def test_a_first_fit_that_is_interrupted_leaves_nothing():
    clf = sb.GDMCBoostClassifier(n_estimators=3, callbacks=[Interrupt(2)])
    before = dict(vars(clf))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert vars(clf) == before


def test_what_others_change_during_a_fit_stays_changed():
    clf = sb.GDMCBoostClassifier(n_estimators=3)
    with transaction(clf) as draft:
        clf.set_params(n_jobs=2)
        draft.model_, draft.verbose = "model", 1
    assert (clf.n_jobs, clf.verbose, clf.model_) == (2, 1, "model")


def test_a_fit_drops_what_only_an_earlier_one_had():
    clf = sb.GDMCBoostClassifier(n_estimators=3)
    clf.evals_result_ = "old"
    with transaction(clf) as draft:
        clf.threshold_ = "of another thread"
        del draft.evals_result_
    assert not hasattr(clf, "evals_result_") and not hasattr(clf, "threshold_")


# ---- work that several threads share --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_side_by_side(n_threads):
    seen = []
    run_in_threads(seen.append, range(20), n_threads, Event())
    assert sorted(seen) == list(range(20))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_of_one_ends_the_others(n_threads):
    cancelled, seen = Event(), []

    def fail(item):
        seen.append(item)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_in_threads(fail, range(100), n_threads, cancelled)
    assert cancelled.is_set() and len(seen) <= n_threads


def test_an_interrupt_does_not_wait_for_the_others():
    cancelled, begun, go_on = Event(), Event(), Event()

    def work(item):
        if current_thread() is main_thread():
            assert begun.wait(30)
            raise KeyboardInterrupt
        begun.set()
        go_on.wait(30)

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, range(2), 2, cancelled)
    assert cancelled.is_set() and not go_on.is_set()
    go_on.set()


def test_an_interrupt_while_threads_are_started_stops_them(monkeypatch):
    """Otherwise those that have begun would go on, and the program with them."""

    def start(self):
        raise KeyboardInterrupt

    cancelled = Event()
    monkeypatch.setattr(Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        run_in_threads(print, range(5), 3, cancelled)
    assert cancelled.is_set()


@pytest.mark.parametrize("most", [0, 2])
def test_a_system_that_starts_fewer_threads(most, monkeypatch):
    start, started, seen = Thread.start, [], []

    def start_some(thread):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", start_some)
    run_in_threads(seen.append, range(9), 5, Event())
    assert sorted(seen) == list(range(9)) and len(started) == most


# ---- checkpoints ----------------------------------------------------------------------------------------------------


class Before(Callback):
    """Does something before a round."""

    def __init__(self, round, act):
        self.round, self.act = round, act

    def before_round(self, run):
        if run.round == self.round:
            self.act()


def full(*arguments):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("what", ["full", "vanished", "memory"])
def test_a_checkpoint_that_fails_costs_a_warning_not_the_fit(what, tmp_path, monkeypatch):
    path = tmp_path / "inner" / "m.sb"
    path.parent.mkdir()

    def spoil():
        if what == "vanished":
            shutil.rmtree(path.parent)
        else:
            monkeypatch.setattr(atomic_write.os, "fsync", full if what == "full" else no_memory)

    alone = sb.GDMCBoostClassifier(n_estimators=4).fit(X, y).decision_function(X)
    clf = sb.GDMCBoostClassifier(n_estimators=4, callbacks=[Checkpoint(path, every=1), Before(2, spoil)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    assert (clf.decision_function(X) == alone).all()
    assert ["round 3" in str(w.message) for w in caught] == [True, False]
    assert all(w.category is RuntimeWarning and "could not be saved" in str(w.message) for w in caught)
    if what != "vanished":
        assert sb.load(path).n_iter_ == 2 and os.listdir(path.parent) == ["m.sb"]


def no_memory(*arguments):
    raise MemoryError


def test_a_checkpoint_that_is_no_file_is_refused_when_the_fit_begins(tmp_path):
    with pytest.raises(OSError, match=r"Checkpoint's path=.* is no regular file"):
        sb.GDMCBoostClassifier(n_estimators=4, callbacks=[Checkpoint(tmp_path)]).fit(X, y)
