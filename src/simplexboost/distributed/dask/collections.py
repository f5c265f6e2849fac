"""Divides Dask collections into partitions that Dask computes on the workers, and predicts for collections lazily."""

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
from .workers import Item

# ---- the client -----------------------------------------------------------------------------------------------------


def find_client(client: Any = None) -> Client:
    """Return the given Dask client, or the current one; raise unless it is running and synchronous."""
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
    """Return whether a value is a Dask collection or a list of delayed partitions, not a table in memory."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(part, Delayed | Future) for part in value)
    return isinstance(value, da.Array | dd.DataFrame | dd.Series)


def list_partitions(value: Any, name: str, local: str = "the local class") -> list[Any]:
    """Return the partitions of a Dask collection as delayed objects, each with some rows and all columns.

    Parameters
    ----------
    name : the name of the argument, for messages
    local : the name of the class for tables in memory, for messages
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
        return list(join_columns(value).to_delayed().ravel())
    return list(value.to_delayed())


def check_aligned(X: Any, other: Any, name: str, other_name: str) -> None:
    """Raise ValueError if the partitions of two collections are known to have different rows."""
    if isinstance(X, da.Array) and isinstance(other, da.Array):
        known = not any(size != size for size in (*X.chunks[0], *other.chunks[0]))
        if known and X.chunks[0] != other.chunks[0]:
            raise ValueError(
                f"{other_name} has chunks of other rows than {name}: {show_first(other.chunks[0])} rows, not "
                f"{show_first(X.chunks[0])}. Use {other_name}.rechunk({{0: {name}.chunks[0]}})."
            )
    both_frames = isinstance(X, dd.DataFrame) and isinstance(other, dd.DataFrame | dd.Series)
    if both_frames and X.known_divisions and other.known_divisions and X.divisions != other.divisions:
        raise ValueError(
            f"{other_name} has other divisions than {name}: {show_first(other.divisions)}, not "
            f"{show_first(X.divisions)}. Use {other_name}.repartition(divisions={name}.divisions)."
        )


def show_first(values: Sequence[Any]) -> str:
    return f"({', '.join(str(value) for value in values[:4])}{', …' if len(values) > 4 else ''})"


def as_items(columns: dict[str, Any], table: int, suffix: str, run: str, local: str) -> list[Item]:
    """Return the partitions of a table, each with the labels, weights and other arguments of its rows.

    Parameters
    ----------
    columns : X and the other arguments with an entry per row, or None
    table : 0 for the training table, 1 for the first evaluated one, …
    suffix : the end of argument names in messages, such as "_val"
    run : the name of the fit, part of Dask keys
    """
    named = {name: value for name, value in columns.items() if value is not None}
    X, lists = named["X"], {name: list_partitions(value, name + suffix, local) for name, value in named.items()}
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
    """Return a partition with its table index; raise ValueError if y or another argument has another row count."""
    n = count_rows(columns["X"])
    for other, values in columns.items():
        if count_rows(values) != n:
            raise ValueError(f"{name} has {n} rows, but that of {other} has {count_rows(values)}.")
    return table, Partition(index, **columns)


def count_rows(table: Any) -> int:
    """Return the number of rows of an array, data frame or list."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def count_part_rows(held: tuple[int, Partition]) -> int:
    """Return the number of rows of a partition, as `make_part` returns it."""
    return count_rows(held[1].X)


def as_tables(held: list[tuple[int, Partition]], n_tables: int) -> list[list[Partition]]:
    """Return a member's partitions as one list per table; empty `held`, so that partitions can be freed once read."""
    tables: list[list[Partition]] = [[] for _ in range(n_tables)]
    for table, part in sorted(held, key=lambda entry: entry[1].index):
        tables[table].append(part)
    held.clear()
    return tables


def as_model(local: Any) -> Any:
    """Return a fitted classifier as one Dask delayed object, shared by all partitions.

    It predicts in one thread unless the user set `n_jobs`, because Dask works on several partitions at a time.
    """
    model = copy.copy(local)
    model.n_jobs, model.callbacks = model.n_jobs or 1, None
    return dask.delayed(model, name=f"simplexboost-model-{secrets.token_hex(4)}", traverse=False)


def predict_lazily(local: Any, function: Callable[..., Any], X: Any, init_score: Any, arguments: dict[str, Any]) -> Any:
    """Return the predictions of a fitted classifier for a Dask collection, as a collection of the same kind as X.

    Parameters
    ----------
    local : the fitted classifier
    function : a prediction method of its class, or a function of `simplexboost.decide`
    X : Dask DataFrame, Dask Array or list of delayed partitions
    init_score : initial scores, a collection like X, or None
    arguments : the other arguments of the function, equal for all partitions

    Returns
    -------
    A Dask Series or DataFrame with the index of X, a Dask Array, or a list of delayed arrays
    """
    empty, columns = empty_like(local, function.__name__, arguments)
    options = {"model": as_model(local), "function": function, "arguments": arguments, "empty": empty}
    if init_score is not None:
        check_aligned(X, init_score, "X", "init_score")
    if isinstance(X, da.Array):
        return predict_array(X, init_score, options)
    if isinstance(X, dd.DataFrame):
        return predict_frame(X, init_score, options, columns, local.classes_)
    scores = [None] * len(X) if init_score is None else list_partitions(init_score, "init_score")
    if len(scores) != len(X):
        raise ValueError(f"X has {len(X)} partitions, but init_score has {len(scores)}.")
    return [dask.delayed(predict_part, pure=False)(x, start, **options) for x, start in zip(X, scores, strict=True)]


def predict_array(X: Any, init_score: Any, options: dict[str, Any]) -> Any:
    """Return the predictions for a Dask Array, as a Dask Array with the same chunks of rows."""
    empty, more = options["empty"], []
    if init_score is not None:
        if not isinstance(init_score, da.Array):
            raise TypeError(f"init_score must be a Dask Array, like X, not a {type(init_score).__name__}.")
        more = [join_columns(init_score), "il"[: init_score.ndim]]
    return da.blockwise(
        predict_part,
        "ik"[: empty.ndim],
        join_columns(X),
        "ij",
        *more,
        new_axes={"k": empty.shape[1]} if empty.ndim == 2 else None,
        concatenate=True,
        dtype=empty.dtype,
        meta=empty,
        name=f"simplexboost-{options['function'].__name__.replace('_', '-')}-{secrets.token_hex(8)}",
        **options,
    )


def join_columns(array: Any) -> Any:
    """Return the Dask Array with chunks that contain all columns."""
    return array.rechunk({1: -1}) if array.ndim == 2 and array.numblocks[1] > 1 else array


def predict_frame(X: Any, init_score: Any, options: dict[str, Any], columns: Any, classes: AnyArray) -> Any:
    """Return the predictions for a Dask DataFrame: a Series, or a DataFrame with these columns, with the index of X."""
    if init_score is not None and not isinstance(init_score, dd.DataFrame | dd.Series):
        raise TypeError(f"init_score must be a Dask DataFrame or Series, like X, not a {type(init_score).__name__}.")
    more = [] if init_score is None else [init_score]
    name, empty = options["function"].__name__, options["empty"]
    labels = name == "predict" and options["arguments"].get("costs") is None
    dtype = pd.Series(classes).dtype if labels else empty.dtype  # that of all classes, whichever are in a partition
    form = {"columns": columns if empty.ndim == 2 else None, "dtype": dtype}
    meta = with_index(empty, X._meta.index[:0], **form)
    return X.map_partitions(predict_frame_part, *more, form=form, meta=meta, align_dataframes=False, **options)


def predict_frame_part(X: Any, init_score: Any = None, *, form: dict[str, Any], **options: Any) -> Any:
    """Return the predictions for one partition, as a pandas object with the partition's index."""
    return with_index(predict_part(X, init_score, **options), X.index, **form)


def with_index(values: AnyArray, index: Any, columns: Any, dtype: Any) -> Any:
    if columns is None:
        return pd.Series(values, index=index, dtype=dtype)
    return pd.DataFrame(values, index=index, columns=columns)


def predict_part(
    X: Any,
    init_score: Any = None,
    *,
    model: Any,
    function: Callable[..., Any],
    arguments: dict[str, Any],
    empty: AnyArray,
) -> AnyArray:
    """Return the predictions for one partition, as an array; a partition may have no rows."""
    if count_rows(X) == 0:
        return empty
    start = init_score.to_numpy() if hasattr(init_score, "to_numpy") else init_score
    return np.asarray(function(model, X, **arguments, init_score=start))


def empty_like(local: Any, name: str, arguments: dict[str, Any]) -> tuple[AnyArray, Any]:
    """Return the predictions of the function `name` for zero rows, and the names of their columns, or None."""
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


def score_lazily(local: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return the accuracy on Dask collections, as a Dask Array without dimensions that is not computed yet."""
    columns, model = {"X": X, "y": y, "sample_weight": sample_weight}, as_model(local)
    items = as_items(columns, 0, "", secrets.token_hex(4), type(local).__name__)
    pieces = [dask.delayed(weigh_right, pure=False)(item.made_by, model) for item in items]
    return da.from_delayed(dask.delayed(divide_sums, pure=False)(pieces), shape=(), dtype=np.float64)


def weigh_right(held: tuple[int, Partition], model: Any) -> tuple[float, float]:
    """Return the total weight of the correctly predicted rows and of all rows; without weights, their row counts."""
    part = held[1]
    if count_rows(part.X) == 0:
        return 0, 0
    right = np.asarray(model.predict(part.X)) == np.asarray(part.y).ravel()
    if part.sample_weight is None:
        return int(right.sum()), len(right)
    weight = np.asarray(part.sample_weight, dtype=np.float64).ravel()
    return float(weight[right].sum()), float(weight.sum())


def divide_sums(pieces: list[tuple[float, float]]) -> Any:
    """Return the sum of the first entries divided by the sum of the second entries; NaN if that is zero."""
    right, total = (sum(column) for column in zip(*pieces, strict=True))
    return np.float64(right / total) if total else np.float64("nan")
