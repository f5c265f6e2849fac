"""Fits on Dask clusters: the bytes of a fit on one machine, for any workers and partitions, and whoever dies."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from dask_clusters import all_free, cut, mixed_table, pieces, saved, some_workers
from sklearn.datasets import load_digits

import simplexboost as sb
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.distributed.dask import DaskBoostingClassifier, DaskSimplexBoostClassifier

BOOSTERS = {
    "flagship": (DaskSimplexBoostClassifier, {"n_estimators": 6, "subsample": 0.7}),
    "newton": (DaskBoostingClassifier, {"loss": "logistic", "learner": "newton-tree", "optimizer": "newton"}),
    "stumps": (DaskBoostingClassifier, {"loss": "exponential", "learner": "stump", "optimizer": "coordinate"}),
}


@pytest.fixture(scope="module")
def cluster_and_client():
    """Four processes."""
    with some_workers(4, processes=True) as both:
        yield both


@pytest.fixture
def client(cluster_and_client):
    """A client of four processes."""
    client = cluster_and_client[1]
    client.wait_for_workers(4, timeout=60)
    return client


@pytest.fixture(scope="module")
def threads():
    """A client of two workers that are threads of this process."""
    with some_workers(2, processes=False) as (_, client):
        yield client


def make(name, **more):
    """One of the boosters, on Dask and local."""
    cls, params = BOOSTERS[name]
    clf = cls(**{"n_estimators": 5, "random_state": 0, **params, **more})
    return clf, clf.local_class(**clf.get_params(deep=False))


def check(client, clf, local, folder, n_parts=7, seed=0, **more):
    """The model is, byte for byte, that of the whole table."""
    X, y, w = mixed_table()
    local.fit(X, y, w)
    slices = cut(len(y), n_parts, seed)
    clf.fit(*(pieces(table, slices) for table in (X, y, w)), client=client, **more)
    assert saved(clf, folder) == saved(local, folder)
    return clf


# ---- workers and partitions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("n_parts", [1, 7, 64])
def test_four_processes(client, tmp_path, name, n_parts):
    """Partitions do not matter: uneven ones, empty ones and those without some class."""
    check(client, *make(name), tmp_path, n_parts)


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_workers_do_not_matter(tmp_path, n_workers):
    """The same with fewer workers."""
    with some_workers(n_workers, processes=False) as (_, client):
        for name in BOOSTERS:
            check(client, *make(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_processes_do_not_matter(tmp_path, n_workers):
    """The same with workers that are processes."""
    with some_workers(n_workers, processes=True) as (_, client):
        for name in BOOSTERS:
            for n_parts in (1, 7, 64):
                check(client, *make(name), tmp_path, n_parts)


def test_two_fits_side_by_side(client, tmp_path):
    """Fits at the same time do not disturb each other."""
    folders = [tmp_path / name for name in BOOSTERS]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda name, folder: check(client, *make(name), folder), BOOSTERS, folders))


# ---- kinds of collections -------------------------------------------------------------------------------------------


def test_frames(threads, tmp_path):
    """Dask DataFrames and Series, with divisions and without."""
    X, y, w = mixed_table()
    clf, local = make("flagship")
    local.fit(X, y, w)
    dX, dy, dw = (dd.from_pandas(table, npartitions=5) for table in (X, y, w))
    assert saved(clf.fit(dX, dy, dw, client=threads), tmp_path) == saved(local, tmp_path)
    dX, dy, dw = (table.clear_divisions() for table in (dX, dy, dw))
    assert saved(clf.fit(dX, dy, sample_weight=dw, client=threads), tmp_path) == saved(local, tmp_path)


def test_arrays(threads, tmp_path):
    """Dask Arrays, also with several chunks of columns."""
    X, y = (table[:300] for table in load_digits(return_X_y=True))
    clf, local = make("flagship")
    local.fit(X, y)
    clf.fit(da.from_array(X, chunks=(100, 20)), da.from_array(y, chunks=100), client=threads)
    assert saved(clf, tmp_path) == saved(local, tmp_path)


def test_everything_that_goes_with_the_rows(threads, tmp_path):
    """Weights, scores to start from, groups and sets to evaluate, with metrics and early stopping."""
    rng = np.random.default_rng(0)
    X, y = (table[:300] for table in load_digits(return_X_y=True))
    w, start, groups = rng.uniform(1, 2, 300), rng.normal(size=(300, 10)), rng.integers(0, 30, 300)
    params = {"n_estimators": 12, "learning_rate": 0.5, "early_stopping": 2}
    clf, local = make("flagship", **params)
    entry = {"X_val": X[:90], "y_val": y[:90], "sample_weight_val": w[:90], "init_score_val": start[:90]}
    more = {"init_score": start, "groups": groups}
    local.fit(X, y, w, **more, **{name: (table, table) for name, table in entry.items()}, eval_metric="error")

    def lazy(table):
        return da.from_array(table, chunks=(60, -1)[: table.ndim])

    clf.fit(
        *(lazy(table) for table in (X, y, w)),
        **{name: lazy(table) for name, table in more.items()},
        **{name: (lazy(table), lazy(table)) for name, table in entry.items()},
        eval_metric="error",
        client=threads,
    )
    assert saved(clf, tmp_path) == saved(local, tmp_path)
    assert clf.best_iteration_ == local.best_iteration_


def test_the_own_choice(threads, tmp_path):
    """What is left open is chosen on the cluster as on one machine."""
    X, y = (table[:150] for table in load_digits(return_X_y=True))
    params = {"n_estimators": "auto", "growth": "best", "gain_noise": 0.0, "max_leaf_nodes": 4, "learning_rate": 1.0}
    clf, local = make("flagship", **params)
    local.fit(X, y)
    clf.fit(da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50), client=threads)
    assert saved(clf, tmp_path) == saved(local, tmp_path)
    assert clf.choice_.n_estimators == local.choice_.n_estimators


# ---- workers die ----------------------------------------------------------------------------------------------------


class KillsIn(Callback):
    """Kills a worker before some round, as it is or in the middle of the round."""

    def __init__(self, client, at, later=None):
        self.client, self.at, self.later, self.threads = client, at, later, []

    def before_round(self, run):
        """Kill, if it is time."""
        if run.round == self.at:
            address = sorted(self.client.nthreads())[self.at % len(self.client.nthreads())]
            pid = self.client.run(os.getpid, workers=[address])[address]
            if self.later is None:
                return os.kill(pid, signal.SIGKILL)
            self.threads.append(threading.Timer(self.later, os.kill, (pid, signal.SIGKILL)))
            self.threads[-1].start()


def test_a_worker_that_is_killed(client, tmp_path):
    """The fit goes on elsewhere, and ends with the same model."""
    clf, local = make("flagship", callbacks=[KillsIn(client, 2)])
    local.callbacks = None
    check(client, clf, local, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(10))
def test_ten_workers_that_are_killed(client, tmp_path, n):
    """At ten moments of ten fits, between messages and in the middle of them."""
    name = list(BOOSTERS)[n % 3]
    killer = KillsIn(client, n % 5, None if n % 2 else 0.005 * n)
    clf, local = make(name, callbacks=[killer])
    local.callbacks = None
    check(client, clf, local, tmp_path)
    for thread in killer.threads:
        thread.join()


class Interrupts(Callback):
    """Raises in some round what the user's Ctrl-C raises."""

    def before_round(self, run):
        """Interrupt."""
        if run.round == 2:
            raise KeyboardInterrupt


def test_a_fit_that_is_interrupted(threads, tmp_path):
    """The workers are free, the classifier is as it was, and the model so far is where a checkpoint was given."""
    X, y = (da.from_array(table[:300], chunks=(60, -1)[: table.ndim]) for table in load_digits(return_X_y=True))
    clf = make("flagship", callbacks=[Checkpoint(tmp_path / "so_far.sb", every=1), Interrupts()])[0]
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y, client=threads)
    assert not hasattr(clf, "classes_")
    assert sb.load(tmp_path / "so_far.sb").n_iter_ == 2
    assert all_free(threads)
