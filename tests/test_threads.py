"""Fits that overlap in threads, and children forked meanwhile."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore, Thread, local

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import simplexboost as sb
from simplexboost._util import runtime
from simplexboost._util.compat import cached
from simplexboost._util.runtime import one_blas_thread
from simplexboost.boosting import Callback

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def run_script(script):
    """Run it in a process of its own, and expect it to end well; a forked child that hangs is killed by an alarm."""
    alarm = "import os, signal\nos.register_at_fork(after_in_child=lambda: signal.alarm(30))\n"
    subprocess.run([sys.executable, "-W", "ignore", "-c", alarm + script], check=True, timeout=60)


# ---- one BLAS thread ------------------------------------------------------------------------------------------------


def blas_threads():
    """How many threads every BLAS has."""
    return {part["num_threads"] for part in ThreadpoolController().select(user_api="blas").info()}


@pytest.fixture
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        if blas_threads() != {3}:
            pytest.skip("this BLAS does not let itself be set to three threads")
        yield


class Inside(Thread):
    """A thread that enters the context and stays there until told to leave."""

    def __init__(self):
        super().__init__(daemon=True)
        self.entered, self.told = Event(), Event()
        self.start()
        assert self.entered.wait(30)

    def run(self):
        with one_blas_thread():
            self.entered.set()
            self.told.wait(30)

    def leave(self):
        self.told.set()
        self.join(30)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_the_limit_holds_until_the_last_one_leaves(order, three_threads):
    threads = [Inside() for _ in order]
    for leaving in order:
        assert blas_threads() == {1}
        threads[leaving].leave()
    assert blas_threads() == {3}


def test_nested_contexts(three_threads):
    with pytest.raises(KeyError), one_blas_thread(), one_blas_thread():
        raise KeyError
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {3}


class ThreadsOwn(local):
    """A BLAS whose number of threads is each thread's own."""

    internal_api, threading_layer, number = "openblas", "openmp", 3

    def get_num_threads(self):
        return self.number

    def set_num_threads(self, number):
        self.number = number


def test_every_thread_sets_a_limit_of_its_own_where_it_has_one(monkeypatch):
    library = ThreadsOwn()
    monkeypatch.setattr(runtime, "blas_libraries", lambda: [library])

    def numbers():
        with one_blas_thread():
            inside = library.number
        return inside, library.number

    with one_blas_thread(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(numbers).result() == (1, 3)
        assert numbers() == (1, 1)
    assert library.number == 3


class Wait(Callback):
    """Says that boosting has begun, then waits until it may go on."""

    def __init__(self, begun, go_on):
        self.begun, self.go_on = begun, go_on

    def start(self, run):
        self.begun.release()
        assert self.go_on.wait(60)


def test_overlapping_fits_give_the_same_model(three_threads):
    """The first one to begin is the first to end; the BLAS threads it found must not come back under the others."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), rng.integers(0, 7, 20_000)

    def fit(*callbacks):
        clf = sb.GDMCBoostClassifier(n_estimators=5, random_state=0, callbacks=callbacks).fit(X, y)
        return clf.decision_function(X[:500]).tobytes(), np.array([term.step for term in clf.model_.terms]).tobytes()

    alone = fit()
    begun, all_there, first_done = Semaphore(0), Event(), Event()
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(fit, Wait(begun, all_there))
        begun.acquire(timeout=60)
        others = [pool.submit(fit, Wait(begun, first_done)) for _ in range(7)]
        for _ in others:
            begun.acquire(timeout=60)
        all_there.set()
        models = [first.result()]
        first_done.set()
        models += [other.result() for other in others]
    assert models == 8 * [alone]
    assert blas_threads() == {3}


@forks
@pytest.mark.parametrize("forking_thread_is_inside", [False, True])
def test_a_forked_child_keeps_the_limit_of_its_own_thread_only(forking_thread_is_inside):
    run_script(
        f"""
import sys
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Thread
import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits
from simplexboost._util.runtime import one_blas_thread
from simplexboost._util.compat import cached

def blas_threads():
    return {{part["num_threads"] for part in ThreadpoolController().select(user_api="blas").info()}}

def inside():
    with one_blas_thread():
        entered.set()
        leave.wait()

threadpool_limits(3, user_api="blas")
found = blas_threads()
entered, leave = Event(), Event()
thread = Thread(target=inside)
thread.start()
entered.wait()
with one_blas_thread() if {forking_thread_is_inside} else nullcontext():
    child = os.fork()
    expected = {{1}} if child or {forking_thread_is_inside} else found
    good = blas_threads() == expected
if child == 0:
    good &= blas_threads() == found
    with one_blas_thread():
        good &= blas_threads() == {{1}}
    good &= blas_threads() == found
    np.ones((500, 500)) @ np.ones((500, 500))
    os._exit(not good)
leave.set()
thread.join()
good &= blas_threads() == found
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not good)
"""
    )


# ---- attributes computed when first asked for ------------------------------------------------------------------------


class Slow:
    """An attribute that takes as long to compute as it is told to."""

    def __init__(self, begun, go_on):
        self.begun, self.go_on = begun, go_on

    @cached
    def value(self):
        """What was computed."""
        self.begun.set()
        assert self.go_on.wait(30)
        return object()


def test_a_cached_attribute_is_computed_once():
    done = Event()
    done.set()
    slow = Slow(Event(), done)
    assert slow.value is slow.value and Slow.value.__doc__ == "What was computed."


def test_one_instance_does_not_wait_for_another():
    begun, go_on, done = Event(), Event(), Event()
    done.set()
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(lambda: Slow(begun, go_on).value)
        assert begun.wait(30)
        try:
            pool.submit(lambda: Slow(Event(), done).value).result(timeout=30)
            assert not slow.done()
        finally:
            go_on.set()


def test_threads_that_ask_one_instance_get_one_value():
    go_on = Event()
    slow = Slow(Event(), go_on)
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(lambda: slow.value) for _ in range(4)]
        assert slow.begun.wait(30)
        go_on.set()
    assert {answer.result() for answer in answers} == {slow.value}


def test_no_module_uses_the_cached_property_with_a_lock():
    folder = Path(sb.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if "import cached_property" in path.read_text()]
    assert users == []


@forks
def test_a_child_forked_while_a_thread_bins_can_bin():
    run_script(
        """
import os, sys
from pathlib import Path
from threading import Event, Thread
import numpy as np
from simplexboost.tables.training_set import TrainingSet
from simplexboost.engine import CPU, HOST, CpuCompute, Engine

begun, go_on = Event(), Event()

class SlowCompute(CpuCompute):
    def bin(self, *arguments):
        begun.set()
        go_on.wait()
        return super().bin(*arguments)

X = np.random.default_rng(0).normal(size=(100, 3))
data = [TrainingSet(X, np.zeros(100, dtype=int), np.ones(100), 2, engine=e) for e in (Engine(SlowCompute(), HOST), CPU)]
thread = Thread(target=lambda: data[0].binned)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    os._exit(data[1].binned.p != 3)
status = os.waitpid(child, 0)[1]
go_on.set()
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""
    )


# ---- callbacks that predict, and the end of a program ----------------------------------------------------------------


class Ask(Callback):
    """Predicts with the estimator in the middle of a fit of it."""

    def __init__(self, clf, X):
        self.clf, self.X, self.answers = clf, X, []

    def after_round(self, run):
        self.answers.append(self.clf.predict(self.X).tolist())


@pytest.mark.parametrize("kind", [sb.SimplexBoostClassifier, sb.GDMCBoostClassifier])
def test_the_old_model_answers_until_a_fit_has_ended(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    clf = kind(n_estimators=2, random_state=0).fit(X[:, :3], np.array(["a", "b", "c"])[rng.integers(0, 3, 200)])
    old = clf.predict(X[:5, :3]).tolist()
    ask = Ask(clf, X[:5, :3])
    clf.callbacks = [ask]
    clf.fit(X, rng.integers(0, 5, 200))
    assert ask.answers == [old, old]
    assert set(clf.predict(X[:5])) <= {0, 1, 2, 3, 4}


def test_a_program_may_end_while_a_daemon_thread_fits():
    """Python then gives the thread no lock any more, which must not abort the process."""
    script = """
import threading, time
import numpy as np
import simplexboost as sb

X = np.random.default_rng(0).normal(size=(20000, 20))
begun = threading.Event()

def fit():
    while True:
        begun.set()
        sb.SimplexBoostClassifier(n_estimators=20, n_jobs=2).fit(X, X[:, 0] > 0).predict(X)

for _ in range(3):
    threading.Thread(target=fit, daemon=True).start()
begun.wait()
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


# ---- threads that cannot be started ---------------------------------------------------------------------------------

NO_MORE_THREADS = """
import os, resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
if len(sys.argv) == 1:  # a thread's stack is as large as the limit at the start of a program: here too large to be had
    resource.setrlimit(resource.RLIMIT_STACK, (2**47, hard))
    os.execv(sys.executable, [sys.executable, "-W", "ignore", "-c", os.environ["SCRIPT"], "again"])

import threading
import numpy as np
import simplexboost as sb
try:
    threading.Thread(target=print).start()
    sys.exit(77)
except RuntimeError:
    pass
X = np.random.default_rng(0).normal(size=(9000, 20))
y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
fits = [sb.SimplexBoostClassifier(n_estimators=3, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 4)]
assert fits[0].decision_function(X).tobytes() == fits[1].decision_function(X).tobytes()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="stacks are limited in this way on Linux only")
def test_a_system_that_starts_no_more_threads():
    environment = dict(os.environ, SCRIPT=NO_MORE_THREADS, OPENBLAS_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore", "-c", NO_MORE_THREADS]
    done = subprocess.run(command, env=environment, timeout=60, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("this system starts threads with stacks of any size")
    assert done.returncode == 0, done.stderr
