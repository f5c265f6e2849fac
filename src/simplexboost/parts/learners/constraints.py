"""Reads the constraints on trees: which features may interact, and in which features class scores are monotone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray
from ...tables.training_set import TrainingSet


def interactions(cst: Any, data: TrainingSet) -> int | tuple[tuple[int, ...], ...]:
    """Convert ``interaction_cst`` for the engine: 0 (None), 1 (no interactions), 2 (pairwise), or sets of indices."""
    if cst is None:
        return 0
    if isinstance(cst, str):
        if cst not in ("pairwise", "no_interactions"):
            raise ValueError(
                f"interaction_cst={cst!r} is unknown; choose 'pairwise', 'no_interactions', None, or pass a list of "
                "sets of features."
            )
        return 2 if cst == "pairwise" else 1
    try:
        if any(isinstance(group, str) for group in cst):
            raise TypeError
        given = [list(group) for group in cst]
    except TypeError:
        raise ValueError(
            f"Interaction constraints must be a sequence of tuples or lists, got: interaction_cst={cst!r}; pass for "
            "example [{0, 1}, {2}], with positions or names of features."
        ) from None
    groups = [sorted(set(positions(group, "interaction_cst", data))) for group in given]
    rest = sorted(set(range(data.p)).difference(*groups))
    return tuple(tuple(group) for group in [*groups, rest] if group)


def positions(features: Iterable[Any], parameter: str, data: TrainingSet) -> list[int]:
    """Return the indices of features given by name or index; raise, naming the parameter, if X lacks one of them."""
    features = list(features)
    names = [feature for feature in features if isinstance(feature, str)]
    if names and data.names is None:
        raise ValueError(
            f"{parameter} names the features {shorten(names)}, but X has no column names; pass positions instead."
        )
    known = {} if data.names is None else {name: j for j, name in enumerate(data.names.tolist())}
    unknown = sorted(name for name in names if name not in known)
    if unknown:
        raise ValueError(
            f"{parameter} names the features {shorten(unknown)}, which X does not have; X has {shorten(list(known))}."
        )
    for j in features:
        if not isinstance(j, str) and (isinstance(j, bool) or not isinstance(j, Integral) or not 0 <= int(j) < data.p):
            raise ValueError(f"{parameter} names the feature {j!r}; positions are 0 .. {data.p - 1}.")
    return [known[feature] if isinstance(feature, str) else int(feature) for feature in features]


def shorten(names: list[Any], most: int = 5) -> list[str]:
    """Return at most ``most`` names as text for an error message, followed by an ellipsis if there are more."""
    return [*map(str, names[:most]), *(["..."] if len(names) > most else [])]


def monotone_signs(cst: Any, data: TrainingSet) -> AnyArray | None:
    """Return the direction, −1, 0 or 1, in which each class score may follow each feature, (K, p); None if all are 0.

    ``cst`` is None, an array (K, p), or a dict from class index to that class's constraints: either a list of p
    directions or a dict from feature to direction. With two classes it may be such a list or dict, for class 1.
    """
    if cst is None or (isinstance(cst, Mapping) and not cst):
        return None
    if not isinstance(cst, Mapping) and not np.ndim(cst):
        raise ValueError(f"monotonic_cst={cst!r} must be a list, a dict or None.")
    K, p = data.K, data.p
    if isinstance(cst, Mapping) and is_by_class(cst):
        signs = np.zeros((K, p), dtype=np.int8)
        for k, of_class in cst.items():
            if isinstance(k, bool) or not isinstance(k, Integral) or not 0 <= int(k) < K:
                raise ValueError(f"monotonic_cst names the class {k!r}; the classes are 0 .. {K - 1}.")
            signs[int(k)] = feature_signs(of_class, data)
        if K == 2 and len(cst) == 1:  # the class that is not named gets the opposite signs
            (k,) = map(int, cst)
            signs[1 - k] = -signs[k]
    elif not isinstance(cst, Mapping) and np.shape(cst) == (K, p) and K != 1:
        signs = np.stack([feature_signs(row, data) for row in np.asarray(cst)])
    elif K > 2:
        raise ValueError(
            "monotonic constraints are not supported for multiclass classification unless they say which class they "
            f"are for; with {K} classes pass monotonic_cst={{label: list or dict of features, ...}}, not {cst!r}."
        )
    else:
        one = feature_signs(cst, data)
        signs = np.stack([-one, one])[-K:]
    categorical = np.zeros(p, dtype=bool) if data.categorical is None else data.categorical
    if signs[:, categorical].any():
        which = np.flatnonzero(categorical & signs.any(axis=0)).tolist()
        raise ValueError(
            f"Categorical features cannot have monotonic constraints, because categories have no order: "
            f"monotonic_cst constrains the categorical features {which}."
        )
    return signs if signs.any() else None


def is_by_class(cst: Mapping[Any, Any]) -> bool:
    """Tell whether a dict of constraints has class indices as keys, rather than features."""
    return any(isinstance(value, Mapping) or np.ndim(value) > 0 for value in cst.values())


def feature_signs(cst: Any, data: TrainingSet) -> AnyArray:
    """Return the signs −1, 0 or 1 of all features, (p,), from a list of p signs or a dict by feature name or index."""
    if isinstance(cst, Mapping):
        signs = np.zeros(data.p, dtype=np.int8)
        for (feature, sign), j in zip(cst.items(), positions(cst, "monotonic_cst", data), strict=True):
            if isinstance(sign, str) or sign not in (-1, 0, 1):
                raise ValueError(f"monotonic_cst[{feature!r}] must be either -1, 0 or 1. Got {sign!r}.")
            signs[j] = sign
        return signs
    values = np.asarray(cst)
    unexpected = np.setdiff1d(values, [-1, 0, 1]) if values.dtype.kind in "biuf" else values.ravel()
    if len(unexpected):
        raise ValueError(
            f"monotonic_cst must be an array-like of -1, 0 or 1. Observed values: {unexpected[:5].tolist()}."
        )
    if values.shape != (data.p,):
        raise ValueError(
            f"monotonic_cst has shape {values.shape} but the input data X has {data.p} features; pass one number for "
            "each."
        )
    return values.astype(np.int8)
