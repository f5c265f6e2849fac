"""Threads and processes: whatever runs beside a fit or a prediction, it ends, with the result of running alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

import simplexboost as sb
from promises.promise import promise
from promises.tables import LABELS, suited
from simplexboost.parts.optimizers import SketchedNewton

PATIENCE = 120  # seconds after which a forked child that hangs is ended
FORKS = 25  # of one case


def table(case: int, n: int = 600, K: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A random table (n, 5) and labels (n,) that can be learned from it."""
    rng = np.random.default_rng(case)
    X = rng.normal(size=(n, 5)).round(2)
    return X, (np.abs(X[:, 0] + X[:, 1]) * 2).astype(int) % K


def boosters(case: int) -> list[Any]:
    """One booster of every kind: with the pool's threads, with matrix products, with a choice, a program, a machine, a
    code, with several labels, and with candidates.
    """
    return [
        sb.SimplexBoostClassifier(n_estimators=4, n_jobs=2, random_state=case),
        sb.GDMCBoostClassifier(n_estimators=4, random_state=case),
        sb.SimplexBoostClassifier(learning_rate=0.5, n_jobs=2, random_state=case),
        sb.MartiBoostClassifier(n_layers=3, random_state=case),
        sb.MulticlassSVC(kernel="rbf", random_state=case),
        sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=2), "all-pairs", random_state=case),
        sb.SimplexBoostClassifier(n_estimators=4, n_jobs=2, classes=LABELS, random_state=case),
        sb.SimplexBoostClassifier(n_estimators=4, n_jobs=2, optimizer=SketchedNewton(candidates=2), random_state=case),
    ]


def answers(clf: Any, X: np.ndarray) -> bytes:
    """What a fitted classifier says of rows, bit by bit."""
    scores = clf.decision_function(X)
    return scores.tobytes() + np.asarray(clf.predict(X)).tobytes()


def fitted(clf: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """The classifier, fitted; one for two classes gets two, one for several labels gets a matrix."""
    return clf.fit(X, y % 2 if isinstance(clf, sb.MartiBoostClassifier) else suited(clf, y))


def in_child(work: Callable[[], bool]) -> int:
    """Fork a child that says whether its work was right; its process number."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        try:
            good = work()
        except BaseException as error:
            os.write(2, f"in a forked child: {error!r}\n".encode())
            good = False
        finally:
            os._exit(0 if good else 1)
    return child


def outcome(child: int) -> str:
    """What became of a child: "" if its work was right."""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "" if status == 0 else "hung" if status == -signal.SIGALRM else f"ended with status {status}"


@promise(
    "A child forked at any moment while other threads fit and predict can itself fit and predict, and gets the same.",
    fast=1,
    soak=40,
    each=FORKS,
    seconds=400,
)
def forks_while_fitting(case: int) -> None:
    """Threads fit without a pause, and children are forked from yet another thread at random moments."""
    rng = np.random.default_rng(case)
    X, y = table(case, 300)
    known = fitted(boosters(case)[0], X, y)
    chosen = [boosters(case)[i] for i in (0, 1, int(rng.integers(2, len(boosters(case)))))]
    alone = [answers(fitted(clf, X, y), X) for clf in chosen]
    before, stop = answers(known, X), Event()

    def busy(number: int) -> None:
        while not stop.is_set():
            answers(fitted(boosters(case)[number], X, y), X)

    def work() -> bool:
        again = [answers(fitted(clf, X, y), X) for clf in chosen]
        return again == alone and answers(known, X) == before

    threads = [Thread(target=busy, args=(number,), daemon=True) for number in (0, 1, 2)]
    for thread in threads:
        thread.start()
    try:
        failures = []
        for _ in range(FORKS):
            time.sleep(rng.uniform(0, 0.02))
            failures.append(outcome(in_child(work)))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not any(failures), f"of {FORKS} children: {sorted(filter(None, failures))}"


@promise(
    "16 threads that fit their own estimators, or predict with shared ones, get what one thread gets.",
    fast=1,
    soak=40,
    each=16,
)
def sixteen_threads(case: int) -> None:
    """Half of the threads predict with two fitted estimators that they share; the others fit their own."""
    X, y = table(case)
    kinds = boosters(case)
    alone = [answers(fitted(clf, X, y), X) for clf in boosters(case)]
    shared = [fitted(boosters(case)[i], X, y) for i in (0, 1)]

    def own(number: int) -> bool:
        return answers(fitted(boosters(case)[number], X, y), X) == alone[number]

    def joint(number: int) -> bool:
        return all(answers(shared[number % 2], X) == alone[number % 2] for _ in range(3))

    with ThreadPoolExecutor(16) as pool:
        jobs = [pool.submit(own, i % len(kinds)) for i in range(8)] + [pool.submit(joint, i) for i in range(8)]
        wrong = [i for i, job in enumerate(jobs) if not job.result()]
    assert not wrong, f"threads {wrong} of 16 got something else than one thread alone"


@promise(
    "Inside joblib (processes, threads, threads inside processes) results are the same, on no more threads than cores.",
    fast=1,
    soak=12,
    each=12,
)
def joblib_of_any_kind(case: int) -> None:
    """−1 and None mean the share of a worker; so all workers together use no more threads than there are cores."""
    X, y = table(case)
    alone = answers(sb.SimplexBoostClassifier(n_estimators=4, random_state=case).fit(X, y), X)
    for backend, job in (("loky", one_job), ("threading", one_job), ("loky", nested_jobs)):
        results = Parallel(n_jobs=2, backend=backend)(
            delayed(job)(X, y, case, n_jobs) for n_jobs in (None, -1, 2, None)
        )
        assert all(bits == alone for result in results for bits, _ in result), f"{backend}: other bits"
        used = [threads for result in results[:2] for _, threads in result]
        share = max(1, (os.cpu_count() or 1) // 2)
        assert max(used) <= share, f"{backend}: {used} threads in a worker, whose share is {share}"
    get_reusable_executor().shutdown(wait=True)


def one_job(X: np.ndarray, y: np.ndarray, case: int, n_jobs: int | None) -> list[tuple[bytes, int]]:
    """The answers of a fit in a worker, and how many threads it used."""
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=case, n_jobs=n_jobs)
    return [(answers(clf.fit(X, y), X), clf._engine().compute.n_threads)]


def nested_jobs(X: np.ndarray, y: np.ndarray, case: int, n_jobs: int | None) -> list[tuple[bytes, int]]:
    """The same in two threads of a worker process."""
    inner = Parallel(n_jobs=2, backend="threading")(delayed(one_job)(X, y, case, n_jobs) for _ in range(2))
    return [result for results in inner for result in results]


@promise(
    "A server that loads a model, answers, and then forks its workers gets right answers from all of them.",
    fast=1,
    soak=20,
    each=8,
)
def a_server_that_forks(case: int) -> None:
    """As gunicorn does with preload: workers answer at the same time as their parent; one is killed and replaced."""
    rng = np.random.default_rng(case)
    X, y = table(case, 3000)
    with tempfile.TemporaryDirectory() as folder:
        sb.SimplexBoostClassifier(n_estimators=5, random_state=case).fit(X, y).save(f"{folder}/m.sb")
        clf = sb.load(f"{folder}/m.sb").set_params(n_jobs=2)
    right = answers(clf, X)

    def serve() -> bool:
        with ThreadPoolExecutor(3) as pool:
            return set(pool.map(lambda _: answers(clf, X), range(6))) == {right}

    children = [in_child(serve) for _ in range(3)]
    time.sleep(rng.uniform(0, 0.05))
    os.kill(children[0], signal.SIGKILL)
    children.append(in_child(serve))
    assert serve(), "the parent got other answers"
    failures = [outcome(child) for child in children]
    assert not any(failures[1:]), f"workers: {failures}"


REFUSED = """
import sys
import numpy as np
import simplexboost as sb
from promises.processes import answers, table

case = int(sys.argv[1])
X, y = table(case, 9000)
fits = [sb.SimplexBoostClassifier(n_estimators=3, random_state=0, n_jobs=n).fit(X, y) for n in (1, 6)]
fits += [sb.SimplexBoostClassifier(learning_rate=0.5, random_state=0, n_jobs=n).fit(X[:600], y[:600]) for n in (1, 6)]
bits = [answers(clf, X) for clf in fits]
assert bits[0] == bits[1] and bits[2] == bits[3], "other bits on fewer threads"
import os
print(len(os.listdir("/proc/self/task")))
"""

FEWER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
static int started = 0;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  if (started++ >= atoi(getenv("MOST_THREADS"))) return EAGAIN;
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, run, argument);
}
"""


@promise("Where the system starts no more threads, fewer do the work, and the result is the same.", fast=1, soak=8,
         needs=("cc",))  # fmt: skip
def fewer_threads(case: int) -> None:
    """A library of ours stands in for the system, and refuses every thread but the first few."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "fewer.c"), Path(folder, "fewer.so")
        source.write_text(FEWER)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        limits = {"LD_PRELOAD": str(library), "MOST_THREADS": str(case % 4), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", REFUSED, str(case)], env=os.environ | limits, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= case % 4 + 1, f"{done.stdout} threads"
