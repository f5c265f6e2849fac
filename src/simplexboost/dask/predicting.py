"""Predictions for Dask collections, which stay on the cluster and are computed when they are asked for."""

from __future__ import annotations

import copy
import secrets
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from .._typing import AnyArray
from ..cluster.parts import Part
from ..deciding.abstaining import with_missing
from ..deciding.costs import Costs
from .collections import as_items, check_aligned, n_rows, partitions


def as_model(local: Any) -> Any:
    """A fitted classifier that is embedded into a graph once, for all partitions.

    It predicts in one thread, unless the user says otherwise: Dask has several partitions at work already.
    """
    model = copy.copy(local)
    model.n_jobs, model.callbacks = model.n_jobs or 1, None
    return dask.delayed(model, name=f"simplexboost-model-{secrets.token_hex(4)}", traverse=False)


def lazily(local: Any, method: str, X: Any, init_score: Any, arguments: dict[str, Any]) -> Any:
    """A prediction of a fitted classifier for a Dask collection, as one of the same kind.

    Parameters
    ----------
    local : the classifier
    method : its method that predicts
    X : Dask DataFrame, Dask Array or list of delayed partitions
    init_score : like X, or None
    arguments : the other arguments of the method, the same for all partitions

    Returns
    -------
    A Dask Series or DataFrame with the index of X, a Dask Array, or a list of delayed arrays
    """
    empty = empty_like(local, method, arguments)
    options = {"model": as_model(local), "method": method, "arguments": arguments, "empty": empty}
    if init_score is not None:
        check_aligned(X, init_score, "X", "init_score")
    if isinstance(X, da.Array):
        return of_array(X, init_score, options)
    if isinstance(X, dd.DataFrame):
        return of_frame(X, init_score, options, local.classes_)
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
        name=f"simplexboost-{options['method'].replace('_', '-')}-{secrets.token_hex(8)}",
        **options,
    )


def one_chunk(array: Any) -> Any:
    """An array whose rows are not divided."""
    return array.rechunk({1: -1}) if array.ndim == 2 and array.numblocks[1] > 1 else array


def of_frame(X: Any, init_score: Any, options: dict[str, Any], classes: AnyArray) -> Any:
    """The prediction for a Dask DataFrame: a Series, or a DataFrame with a column per class, with the index of X."""
    if init_score is not None and not isinstance(init_score, dd.DataFrame | dd.Series):
        raise TypeError(f"init_score must be a Dask DataFrame or Series, like X, not a {type(init_score).__name__}.")
    more = [] if init_score is None else [init_score]
    form = {"columns": None, "dtype": options["empty"].dtype}
    costs = options["arguments"].get("costs")
    if options["empty"].ndim == 2:
        form["columns"] = classes if costs is None else names_of(Costs.of(costs, classes))
    elif options["method"] == "predict" and costs is None:
        form["dtype"] = pd.Series(classes).dtype  # that of all classes, whichever are in a partition
    meta = with_index(options["empty"], X._meta.index[:0], **form)
    return X.map_partitions(of_frame_part, *more, form=form, meta=meta, align_dataframes=False, **options)


def names_of(costs: Costs) -> Any:
    """The names of decisions, or their numbers."""
    return range(costs.C.shape[1]) if costs.decisions is None else costs.decisions


def of_frame_part(X: Any, init_score: Any = None, *, form: dict[str, Any], **options: Any) -> Any:
    """The prediction for one partition, with its index."""
    return with_index(of_part(X, init_score, **options), X.index, **form)


def with_index(values: AnyArray, index: Any, columns: Any, dtype: Any) -> Any:
    """Predictions as pandas objects."""
    if columns is None:
        return pd.Series(values, index=index, dtype=dtype)
    return pd.DataFrame(values, index=index, columns=columns)


def of_part(
    X: Any, init_score: Any = None, *, model: Any, method: str, arguments: dict[str, Any], empty: AnyArray
) -> AnyArray:
    """The prediction for one partition, which may have no rows."""
    if n_rows(X) == 0:
        return empty
    start = init_score.to_numpy() if hasattr(init_score, "to_numpy") else init_score
    return np.asarray(getattr(model, method)(X, **arguments, init_score=start))


def empty_like(local: Any, method: str, arguments: dict[str, Any]) -> AnyArray:
    """What a method predicts for no rows."""
    if method == "predict_or_abstain":
        none = np.empty(0, dtype=np.intp)
        return with_missing(local.classes_, none, none.astype(bool), arguments["missing"])
    if arguments.get("costs") is not None:
        costs = Costs.of(arguments["costs"], local.classes_)
        none = np.empty(0, dtype=np.intp)
        return costs.labels(none) if method == "predict" else np.empty((0, costs.C.shape[1]))
    if method == "predict_set":
        return np.empty((0, len(local.classes_)), dtype=bool)
    if method == "predict":
        return local.classes_[:0]
    K = len(local.classes_)
    return np.empty(0) if method == "decision_function" and K == 2 else np.empty((0, K))


# ---- accuracy -------------------------------------------------------------------------------------------------------


def accuracy(local: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """The part of the rows that are predicted right, as a Dask Array without dimensions."""
    columns, model = {"X": X, "y": y, "sample_weight": sample_weight}, as_model(local)
    items = as_items(columns, 0, "", secrets.token_hex(4), type(local).__name__)
    pieces = [dask.delayed(right_rows, pure=False)(item.made_by, model) for item in items]
    return da.from_delayed(dask.delayed(ratio, pure=False)(pieces), shape=(), dtype=np.float64)


def right_rows(held: tuple[int, Part], model: Any) -> tuple[float, float]:
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
