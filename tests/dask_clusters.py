"""Clusters on this machine, and tables in partitions for them."""

import threading
import time
from contextlib import contextmanager

import dask
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster


@contextmanager
def some_workers(n, processes):
    """A cluster of n workers and its client, which is not the current one."""
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, processes=processes, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


def members():
    """The names of the threads of members in this process."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("simplexboost ")]


def all_free(client):
    """Whether members end on all workers; it takes a moment until the workers hear that the actor is not needed."""
    for _ in range(500):
        running = [name for names in client.run(members).values() for name in names]
        if not any(name.endswith(address) for name in running for address in client.nthreads()):
            return True
        time.sleep(0.01)
    return False


def mixed_table(n=500, seed=0):
    """A table with numbers, holes, text and categories, labels of four classes, and weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "holes": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "colour": rng.choice(["red", "green", "blue", None], n),
            "code": pd.Categorical(rng.choice([3, 1, 7, 9], n)),
            "few": rng.integers(0, 3, n).astype(float),
        }
    )
    score = X["size"] + X["colour"].eq("red") * 1.5 + X["code"].astype(float).fillna(0) / 4 + rng.normal(0, 0.4, n)
    y = pd.Series(np.array(["a", "b", "c", "d"])[np.digitize(score, [-0.3, 0.9, 2.0])])
    y[: n // 8] = "a"  # so that early partitions lack classes
    return X, y, pd.Series(rng.uniform(0.2, 3.0, n))


def cut(n, n_parts, seed=0):
    """Uneven partitions of n rows; the second is empty, if there are that many."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, n + 1, n_parts - 1))
    if n_parts > 2:
        cuts[1] = cuts[0]
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def pieces(table, slices):
    """The rows of a table in delayed partitions."""
    return [dask.delayed(rows_of, pure=False)(table, rows) for rows in slices]


def rows_of(table, rows):
    """Some rows."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def saved(clf, folder):
    """The bytes of the file of a classifier."""
    clf.save(folder / "model.sb")
    return (folder / "model.sb").read_bytes()
