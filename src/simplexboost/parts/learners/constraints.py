"""Reads the user's constraints on trees: which features may interact, and in which the class scores are monotone."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray
from ...tables.training_set import TrainingSet

# ---- interactions ---------------------------------------------------------------------------------------------------


def interactions(cst: Any, data: TrainingSet) -> int | tuple[tuple[int, ...], ...]:
    """`Growth.interactions` for a parameter ``interaction_cst``.

    Examples
    --------
    Features that no group names form a group of their own.

    >>> data = TrainingSet(np.zeros((2, 6)), np.array([0, 1]), np.ones(2), 2)
    >>> interactions([(1, 0), [5, 1]], data)
    ((0, 1), (1, 5), (2, 3, 4))
    >>> interactions("pairwise", data), interactions("no_interactions", data), interactions(None, data)
    (2, 1, 0)
    """
    if cst is None:
        return 0
    if isinstance(cst, str):
        if cst not in ("pairwise", "no_interactions"):
            raise ValueError(
                f"interaction_cst={cst!r} is unknown; choose 'pairwise', 'no_interactions', None, or pass a list of "
                "sets of features."
            )
        return 2 if cst == "pairwise" else 1
    groups = [sorted({feature_number(f, group, data) for f in group}) for group in as_groups(cst)]
    p = data.p
    rest = sorted(set(range(p)).difference(*groups))
    return tuple(tuple(group) for group in [*groups, rest] if group)


def as_groups(cst: Any) -> list[list[Any]]:
    """The groups as lists."""
    try:
        if any(isinstance(group, str) for group in cst):
            raise TypeError
        return [list(group) for group in cst]
    except TypeError:
        raise ValueError(
            f"Interaction constraints must be a sequence of tuples or lists, got: interaction_cst={cst!r}; pass for "
            "example [{0, 1}, {2}], with positions or names of features."
        ) from None


def feature_number(feature: Any, group: Any, data: TrainingSet) -> int:
    """The position of a feature that a group names."""
    p = data.p
    if isinstance(feature, str):
        return named_feature(feature, "interaction_cst", data)
    if isinstance(feature, bool) or not isinstance(feature, Integral) or not 0 <= int(feature) < p:
        raise ValueError(
            f"Interaction constraints must consist of integer indices in [0, n_features - 1] = [0, {p - 1}], "
            f"specifying the position of features, or of names, got invalid indices: interaction_cst holds {group!r}."
        )
    return int(feature)


def named_feature(name: str, parameter: str, data: TrainingSet) -> int:
    """The position of the feature of this name."""
    if data.names is None:
        raise ValueError(f"{parameter} names the feature {name!r}, but X has no column names; pass positions instead.")
    found = np.flatnonzero(data.names == name)
    if len(found) == 0:
        raise ValueError(f"{parameter} names the feature {name!r}, which X does not have; X has {few(data.names)}.")
    return int(found[0])


def few(names: AnyArray, most: int = 5) -> list[str]:
    """The first names, for a message."""
    return [*map(str, names[:most]), *(["..."] if len(names) > most else [])]


# ---- monotonicity ---------------------------------------------------------------------------------------------------


def monotone_signs(cst: Any, data: TrainingSet) -> AnyArray | None:
    """In which direction the score of every class follows every feature: −1, 0 or 1, (K, p); None without constraints.

    Parameters
    ----------
    cst : None; for two classes a list of p numbers or a dict by feature, meant for the score of class 1; or a dict by
        number of the class of such lists and dicts; or an array (K, p)

    Examples
    --------
    >>> data = TrainingSet(np.zeros((2, 3)), np.array([0, 1]), np.ones(2), 2)
    >>> monotone_signs([0, 1, -1], data)
    array([[ 0, -1,  1],
           [ 0,  1, -1]], dtype=int8)
    """
    if cst is None or (isinstance(cst, Mapping) and not cst):
        return None
    if not isinstance(cst, Mapping) and not np.ndim(cst):
        raise ValueError(f"monotonic_cst={cst!r} must be a list, a dict or None.")
    K, p = data.K, data.p
    if isinstance(cst, Mapping) and is_by_class(cst):
        signs = signs_by_class(cst, data)
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
    """Whether the entries of a dict are constraints of a class each, not of a feature each."""
    return any(isinstance(value, Mapping) or np.ndim(value) > 0 for value in cst.values())


def signs_by_class(cst: Mapping[Any, Any], data: TrainingSet) -> AnyArray:
    """The signs (K, p) from a dict by class; with two classes the other class gets the opposite, unless it is named."""
    signs = np.zeros((data.K, data.p), dtype=np.int8)
    for k, of_class in cst.items():
        if isinstance(k, bool) or not isinstance(k, Integral) or not 0 <= int(k) < data.K:
            raise ValueError(f"monotonic_cst names the class {k!r}; the classes are 0 .. {data.K - 1}.")
        signs[int(k)] = feature_signs(of_class, data)
    if data.K == 2 and len(cst) == 1:
        (k,) = map(int, cst)
        signs[1 - k] = -signs[k]
    return signs


def feature_signs(cst: Any, data: TrainingSet) -> AnyArray:
    """The signs (p,) from a list of them, or from a dict by name or position of the feature."""
    p = data.p
    if isinstance(cst, Mapping):
        return signs_by_feature(cst, data)
    values = np.asarray(cst)
    unexpected = np.setdiff1d(values, [-1, 0, 1]) if values.dtype.kind in "biuf" else values.ravel()
    if len(unexpected):
        raise ValueError(
            f"monotonic_cst must be an array-like of -1, 0 or 1. Observed values: {unexpected[:5].tolist()}."
        )
    if values.shape != (p,):
        raise ValueError(
            f"monotonic_cst has shape {values.shape} but the input data X has {p} features; pass one number for each."
        )
    return values.astype(np.int8)


def signs_by_feature(cst: Mapping[Any, Any], data: TrainingSet) -> AnyArray:
    """The signs (p,) from a dict."""
    signs = np.zeros(data.p, dtype=np.int8)
    texts = [key for key in cst if isinstance(key, str)]
    if texts and data.names is None:
        raise ValueError(
            "this classifier was not fitted on data with feature names. Pass monotonic_cst as an integer array "
            "instead, or as a dict by position."
        )
    unexpected = sorted(key for key in texts if key not in set(data.names.tolist())) if data.names is not None else []
    if unexpected:
        shown = few(np.array(unexpected, dtype=object))
        raise ValueError(f"monotonic_cst contains {len(unexpected)} unexpected feature names: {shown}.")
    for key, sign in cst.items():
        if isinstance(key, str):
            at = named_feature(key, "monotonic_cst", data)
        elif isinstance(key, bool) or not isinstance(key, Integral) or not 0 <= int(key) < len(signs):
            raise ValueError(f"monotonic_cst names the feature {key!r}; positions are 0 .. {len(signs) - 1}.")
        else:
            at = int(key)
        if isinstance(sign, str) or sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst[{key!r}] must be either -1, 0 or 1. Got {sign!r}.")
        signs[at] = sign
    return signs
