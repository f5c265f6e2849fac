"""A fit on a cluster: the members of a group on the workers, and the leader here."""

from __future__ import annotations

import copy
import secrets
from dataclasses import dataclass
from typing import Any

from distributed import Client

from ..cluster.fitting import fit_group
from ..group import Group, Leader, Traffic
from .collections import as_items, as_tables, rows_of
from .transport import DaskTransport
from .work import Item, Work


@dataclass(frozen=True, eq=False)
class Fit:
    """What members run: the fit of an estimator, on the partitions that they hold."""

    estimator: Any
    n_evals: int
    eval_metric: Any = None

    def __call__(self, group: Group, partitions: list[Any], n_threads: int) -> None:
        """Fit a copy. Workers in the same process get the same object, so everybody needs one of its own."""
        estimator = copy.deepcopy(self.estimator)
        if estimator.n_jobs is None:
            estimator.n_jobs = n_threads  # several workers may share a machine
        self.run(group, estimator, partitions)

    def run(self, group: Group, estimator: Any, partitions: list[Any]) -> None:
        """Fit the estimator itself."""
        fit_group(group, estimator, as_tables(partitions, self.n_evals), self.eval_metric)


def fit_on_cluster(
    client: Client, estimator: Any, train: dict[str, Any], evals: list[Any], eval_metric: Any
) -> Traffic:
    """Fit a local estimator to tables on a cluster; it ends up as if it had been fitted to them here.

    Returns what has travelled.

    Parameters
    ----------
    train : X, y and what else belongs to the rows, as Dask collections
    evals : the same for every table that is to be evaluated
    """
    run, local = secrets.token_hex(4), type(estimator).__name__
    items: list[Item] = as_items(train, 0, "", run, local)
    for number, entry in enumerate(evals):
        items += as_items(entry, number + 1, f" in eval_set[{number}]", run, local)
    sent = copy.copy(estimator)
    sent.callbacks = None  # they are called here alone, and need not be something that can be sent
    fit = Fit(sent, len(evals), eval_metric)
    with DaskTransport(client, Work(items, fit, rows_of), run) as transport:
        leader = Leader(transport)
        fit.run(leader, estimator, [])
    return leader.traffic


def eval_entries(eval_set: Any, eval_metric: Any, early_stopping: bool) -> list[dict[str, Any]]:
    """The entries of an ``eval_set`` by the names of their parts."""
    entries = [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else eval_set
    fits = isinstance(entries, list) and all(isinstance(e, tuple | list) and len(e) in (2, 3, 4) for e in entries)
    if not fits:
        raise ValueError(
            "eval_set must be a tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score) of Dask "
            "collections, or a list of such tuples."
        )
    if eval_metric is not None and not entries and not early_stopping:
        raise ValueError("eval_metric has no rows to be evaluated on; pass an eval_set, or set early_stopping=True.")
    return [dict(zip(("X", "y", "sample_weight", "init_score"), entry, strict=False)) for entry in entries]
