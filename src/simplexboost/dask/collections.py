"""Dask collections → partitions that Dask makes on the workers: one `Part` for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
from dask.delayed import Delayed
from distributed import Client, Future, get_client

from ..cluster.parts import Part, Tables
from .work import Item

OTHERS = ("y", "sample_weight", "init_score", "groups")  # what goes with X


# ---- the client -----------------------------------------------------------------------------------------------------


def the_client(client: Any = None) -> Client:
    """The client that is given, or the current one; an error if it cannot be used."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client. Connect to a cluster first, for example with client = "
                "dask.distributed.Client(), or pass one as fit(…, client=client)."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a dask.distributed.Client or None, not a {type(client).__name__}.")
    if client.status != "running":
        raise ValueError(f"the Dask client is {client.status}, not running; make a new one.")
    if client.asynchronous:
        raise ValueError(
            "the Dask client is asynchronous; fit waits for results, and needs Client(asynchronous=False)."
        )
    return client


# ---- partitions -----------------------------------------------------------------------------------------------------


def is_distributed(value: Any) -> bool:
    """Whether something is a Dask collection or a list of delayed partitions, rather than a table in memory."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(part, Delayed | Future) for part in value)
    return isinstance(value, da.Array | dd.DataFrame | dd.Series)


def partitions(value: Any, name: str, local: str = "the local class") -> list[Any]:
    """The partitions of a Dask collection as delayed objects, each of some rows and all columns.

    Parameters
    ----------
    name : of the argument, for messages
    local : the class to use for tables in memory, for messages
    """
    if not is_distributed(value):
        raise TypeError(
            f"{name} is a {type(value).__name__}; a Dask classifier takes Dask DataFrames, Dask Arrays and lists of "
            f"delayed partitions. For tables in memory use {local}, or make a Dask collection of it: "
            "dask.dataframe.from_pandas(table, npartitions=8), dask.array.from_array(array, chunks=(100_000, -1))."
        )
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, da.Array):
        if value.ndim not in (1, 2):
            raise ValueError(f"{name} is a Dask Array of {value.ndim} dimensions; it must have one or two.")
        rows = value.rechunk({1: -1}) if value.ndim == 2 and value.numblocks[1] > 1 else value
        return list(rows.to_delayed().ravel())
    return list(value.to_delayed())


def check_aligned(X: Any, other: Any, name: str, other_name: str) -> None:
    """Raise if it is known beforehand that the partitions of two collections have different rows."""
    if isinstance(X, da.Array) and isinstance(other, da.Array):
        known = not any(size != size for size in (*X.chunks[0], *other.chunks[0]))
        if known and X.chunks[0] != other.chunks[0]:
            raise ValueError(
                f"{other_name} has chunks of other rows than {name}: {shortened(other.chunks[0])} rows, not "
                f"{shortened(X.chunks[0])}. Use {other_name}.rechunk({{0: {name}.chunks[0]}})."
            )
    both_frames = isinstance(X, dd.DataFrame) and isinstance(other, dd.DataFrame | dd.Series)
    if both_frames and X.known_divisions and other.known_divisions and X.divisions != other.divisions:
        raise ValueError(
            f"{other_name} has other divisions than {name}: {shortened(other.divisions)}, not "
            f"{shortened(X.divisions)}. Use {other_name}.repartition(divisions={name}.divisions)."
        )


def shortened(values: Sequence[Any]) -> str:
    """The first few of some values."""
    return f"({', '.join(str(value) for value in values[:4])}{', …' if len(values) > 4 else ''})"


def as_items(columns: dict[str, Any], table: int, suffix: str, run: str, local: str) -> list[Item]:
    """The partitions of a table with what belongs to its rows.

    Parameters
    ----------
    columns : X, and those of `OTHERS` that are given
    table : 0 for the training table, 1 for the first entry of ``eval_set``, …
    suffix : of the names of arguments in messages
    run : name of the fit, for keys
    """
    named = {name: value for name, value in columns.items() if value is not None}
    X, lists = named["X"], {name: partitions(value, name + suffix, local) for name, value in named.items()}
    if not lists["X"]:
        raise ValueError(f"X{suffix} has no partitions.")
    for name, parts in lists.items():
        if len(parts) != len(lists["X"]):
            raise ValueError(
                f"X{suffix} has {len(lists['X'])} partitions, but {name}{suffix} has {len(parts)}; partitions of the "
                "same number must hold the same rows."
            )
        check_aligned(X, named[name], "X" + suffix, name + suffix)
    items = []
    for i in range(len(lists["X"])):
        name = f"partition {i} of X{suffix}"
        some = {other: parts[i] for other, parts in lists.items()}
        key = f"simplexboost-partition-{run}-{table}-{i}"
        items.append(Item(name, dask.delayed(make_part, pure=False)(table, i, name, some, dask_key_name=key)))
    return items


def make_part(table: int, index: int, name: str, columns: dict[str, Any]) -> tuple[int, Part]:
    """A partition of a table; an error if what belongs to its rows has another length."""
    n = n_rows(columns["X"])
    for other, values in columns.items():
        if n_rows(values) != n:
            raise ValueError(f"{name} has {n} rows, but that of {other} has {n_rows(values)}.")
    return table, Part(index, **columns)


def n_rows(table: Any) -> int:
    """The number of rows of anything that is a partition."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def rows_of(held: tuple[int, Part]) -> int:
    """The rows of what `make_part` makes."""
    return n_rows(held[1].X)


def as_tables(held: list[tuple[int, Part]], n_evals: int) -> Tables:
    """What a member holds, table by table; the list is emptied, so that a partition that was read can be freed."""
    held.sort(key=lambda entry: (entry[0], entry[1].index))
    tables = Tables([], [[] for _ in range(n_evals)])
    for table, part in held:
        (tables.evals[table - 1] if table else tables.train).append(part)
    held.clear()
    return tables
