"""Dask collections: their partitions as objects that Dask computes on the workers, and lazy predictions for them."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from distributed import Client, Future, get_client

from ..._util.arrays import AnyArray
from ...decide.costs import Costs
from ...decide.probabilities import nodes_of
from ...decide.sets import with_missing
from ...tables.partitions import Partition
from ..partition_columns import Tables
from .workers import Item

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
    table : 0 for the training table, 1 for the first evaluated one, …
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


def make_part(table: int, index: int, name: str, columns: dict[str, Any]) -> tuple[int, Partition]:
    """A partition of a table; an error if what belongs to its rows has another length."""
    n = n_rows(columns["X"])
    for other, values in columns.items():
        if n_rows(values) != n:
            raise ValueError(f"{name} has {n} rows, but that of {other} has {n_rows(values)}.")
    return table, Partition(index, **columns)


def n_rows(table: Any) -> int:
    """The number of rows of anything that is a partition."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def rows_of(held: tuple[int, Partition]) -> int:
    """The rows of what `make_part` makes."""
    return n_rows(held[1].X)


def as_tables(held: list[tuple[int, Partition]], n_evals: int) -> Tables:
    """What a member holds, table by table; the list is emptied, so that a partition that was read can be freed."""
    held.sort(key=lambda entry: (entry[0], entry[1].index))
    tables = Tables([], [[] for _ in range(n_evals)])
    for table, part in held:
        (tables.evals[table - 1] if table else tables.train).append(part)
    held.clear()
    return tables


def as_model(local: Any) -> Any:
    """A fitted classifier that is embedded into a graph once, for all partitions.

    It predicts in one thread, unless the user says otherwise: Dask has several partitions at work already.
    """
    model = copy.copy(local)
    model.n_jobs, model.callbacks = model.n_jobs or 1, None
    return dask.delayed(model, name=f"simplexboost-model-{secrets.token_hex(4)}", traverse=False)


def lazily(local: Any, function: Callable[..., Any], X: Any, init_score: Any, arguments: dict[str, Any]) -> Any:
    """A prediction of a fitted classifier for a Dask collection, as one of the same kind.

    Parameters
    ----------
    local : the classifier
    function : its method that predicts, or a function of `simplexboost.decide`
    X : Dask DataFrame, Dask Array or list of delayed partitions
    init_score : like X, or None
    arguments : the other arguments of the function, the same for all partitions

    Returns
    -------
    A Dask Series or DataFrame with the index of X, a Dask Array, or a list of delayed arrays
    """
    empty, columns = empty_like(local, function.__name__, arguments)
    options = {"model": as_model(local), "function": function, "arguments": arguments, "empty": empty}
    if init_score is not None:
        check_aligned(X, init_score, "X", "init_score")
    if isinstance(X, da.Array):
        return of_array(X, init_score, options)
    if isinstance(X, dd.DataFrame):
        return of_frame(X, init_score, options, columns, local.classes_)
    scores = [None] * len(X) if init_score is None else partitions(init_score, "init_score")
    if len(scores) != len(X):
        raise ValueError(f"X has {len(X)} partitions, but init_score has {len(scores)}.")
    return [dask.delayed(of_part, pure=False)(x, start, **options) for x, start in zip(X, scores, strict=True)]


def of_array(X: Any, init_score: Any, options: dict[str, Any]) -> Any:
    """The prediction for a Dask Array, in chunks of the same rows."""
    empty, more = options["empty"], []
    if init_score is not None:
        if not isinstance(init_score, da.Array):
            raise TypeError(f"init_score must be a Dask Array, like X, not a {type(init_score).__name__}.")
        more = [one_chunk(init_score), "il"[: init_score.ndim]]
    return da.blockwise(
        of_part,
        "ik"[: empty.ndim],
        one_chunk(X),
        "ij",
        *more,
        new_axes={"k": empty.shape[1]} if empty.ndim == 2 else None,
        concatenate=True,
        dtype=empty.dtype,
        meta=empty,
        name=f"simplexboost-{options['function'].__name__.replace('_', '-')}-{secrets.token_hex(8)}",
        **options,
    )


def one_chunk(array: Any) -> Any:
    """An array whose rows are not divided."""
    return array.rechunk({1: -1}) if array.ndim == 2 and array.numblocks[1] > 1 else array


def of_frame(X: Any, init_score: Any, options: dict[str, Any], columns: Any, classes: AnyArray) -> Any:
    """The prediction for a Dask DataFrame: a Series, or a DataFrame with these columns, with the index of X."""
    if init_score is not None and not isinstance(init_score, dd.DataFrame | dd.Series):
        raise TypeError(f"init_score must be a Dask DataFrame or Series, like X, not a {type(init_score).__name__}.")
    more = [] if init_score is None else [init_score]
    name, empty = options["function"].__name__, options["empty"]
    labels = name == "predict" and options["arguments"].get("costs") is None
    dtype = pd.Series(classes).dtype if labels else empty.dtype  # that of all classes, whichever are in a partition
    form = {"columns": columns if empty.ndim == 2 else None, "dtype": dtype}
    meta = with_index(empty, X._meta.index[:0], **form)
    return X.map_partitions(of_frame_part, *more, form=form, meta=meta, align_dataframes=False, **options)


def of_frame_part(X: Any, init_score: Any = None, *, form: dict[str, Any], **options: Any) -> Any:
    """The prediction for one partition, with its index."""
    return with_index(of_part(X, init_score, **options), X.index, **form)


def with_index(values: AnyArray, index: Any, columns: Any, dtype: Any) -> Any:
    """Predictions as pandas objects."""
    if columns is None:
        return pd.Series(values, index=index, dtype=dtype)
    return pd.DataFrame(values, index=index, columns=columns)


def of_part(
    X: Any,
    init_score: Any = None,
    *,
    model: Any,
    function: Callable[..., Any],
    arguments: dict[str, Any],
    empty: AnyArray,
) -> AnyArray:
    """The prediction for one partition, which may have no rows."""
    if n_rows(X) == 0:
        return empty
    start = init_score.to_numpy() if hasattr(init_score, "to_numpy") else init_score
    return np.asarray(function(model, X, **arguments, init_score=start))


def empty_like(local: Any, name: str, arguments: dict[str, Any]) -> tuple[AnyArray, Any]:
    """What a function of this name predicts for no rows, and what its columns are called."""
    classes, none = local.classes_, np.empty(0, dtype=np.intp)
    if "confidence" in arguments:
        return with_missing(classes, none, none.astype(bool), arguments["missing"]), None
    if arguments.get("costs") is not None:
        costs = Costs.of(arguments["costs"], classes)
        if name == "predict":
            return costs.labels(none), None
        n_decisions = costs.C.shape[1]
        return np.empty((0, n_decisions)), range(n_decisions) if costs.decisions is None else costs.decisions
    if "level" in arguments:
        nodes = nodes_of(local, arguments["level"])
        return (nodes[:0], None) if name == "predict_level" else (np.empty((0, len(nodes))), nodes)
    if name == "predict":
        return classes[:0], None
    one_column = name == "decision_function" and len(classes) == 2
    dtype = bool if name == "predict_sets" else np.float64
    return np.empty(0 if one_column else (0, len(classes)), dtype=dtype), classes


# ---- accuracy -------------------------------------------------------------------------------------------------------


def accuracy(local: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """The part of the rows that are predicted right, as a Dask Array without dimensions."""
    columns, model = {"X": X, "y": y, "sample_weight": sample_weight}, as_model(local)
    items = as_items(columns, 0, "", secrets.token_hex(4), type(local).__name__)
    pieces = [dask.delayed(right_rows, pure=False)(item.made_by, model) for item in items]
    return da.from_delayed(dask.delayed(ratio, pure=False)(pieces), shape=(), dtype=np.float64)


def right_rows(held: tuple[int, Partition], model: Any) -> tuple[float, float]:
    """The weight of the rows that are predicted right, and of all rows; numbers of rows if they have no weights."""
    part = held[1]
    if n_rows(part.X) == 0:
        return 0, 0
    right = np.asarray(model.predict(part.X)) == np.asarray(part.y).ravel()
    if part.sample_weight is None:
        return int(right.sum()), len(right)
    weight = np.asarray(part.sample_weight, dtype=np.float64).ravel()
    return float(weight[right].sum()), float(weight.sum())


def ratio(pieces: list[tuple[float, float]]) -> Any:
    """The sum of the first numbers over that of the second ones."""
    right, total = (sum(column) for column in zip(*pieces, strict=True))
    return np.float64(right / total) if total else np.float64("nan")
