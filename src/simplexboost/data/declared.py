"""Which columns are categorical: by their type, or because the user says so in ``categorical_features``."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from .._typing import Mask
from .digests import Digests
from .names import close_names
from .tables import Table


def categorical_mask(table: Table | Digests, categorical_features: Any) -> Mask:
    """Which columns are categorical, (p,), from "from_dtype", a mask, positions, names or None.

    Examples
    --------
    >>> from .tables import array_table
    >>> categorical_mask(array_table(np.zeros((2, 4))), {3, 0}).tolist()
    [True, False, False, True]
    """
    p = len(table.columns)
    if categorical_features is None:
        return np.zeros(p, dtype=bool)
    if isinstance(categorical_features, str):
        return mask_by_type(table, categorical_features)
    wanted = list(categorical_features) if isinstance(categorical_features, Iterable) else None
    if wanted is None or any(not isinstance(w, str | Integral | np.bool_) for w in wanted):
        raise unknown_features(categorical_features, p)
    mask = np.zeros(p, dtype=bool)
    if any(isinstance(w, bool | np.bool_) for w in wanted):
        if len(wanted) != p or not all(isinstance(w, bool | np.bool_) for w in wanted):
            raise unknown_features(categorical_features, p)
        return np.array(wanted, dtype=bool)
    mask[positions(wanted, table, categorical_features)] = True
    return mask


def mask_by_type(table: Table | Digests, wanted: str) -> Mask:
    """The categorical and text columns of a frame, (p,)."""
    if wanted != "from_dtype":
        hint = f" (pass [{wanted!r}])" if wanted in (table.names or ()) else ""
        raise ValueError(
            f"categorical_features={wanted!r} is unknown{hint}; pass 'from_dtype', a mask, positions, names or None."
        )
    return np.array([table.typed and column.kind in ("text", "category") for column in table.columns], dtype=bool)


def positions(wanted: list[Any], table: Table | Digests, given: Any) -> list[int]:
    """The positions of columns that are given by name or by position."""
    p, names = len(table.columns), [name if isinstance(name, str) else None for name in table.names or ()]
    if all(isinstance(w, str) for w in wanted):
        unknown, known = [name for name in wanted if name not in names], [name for name in names if name is not None]
        if unknown:
            raise ValueError(
                f"categorical_features={given!r}: X has no {'columns' if len(unknown) > 1 else 'column'} "
                f"{', '.join(map(repr, sorted(unknown)[:5]))}"
                + (spelled(sorted(unknown), known) if known else "; it has no names, so pass positions.")
            )
        return [names.index(name) for name in wanted]
    if any(isinstance(w, str) for w in wanted):
        raise unknown_features(given, p)
    outside = sorted(int(w) for w in wanted if not 0 <= w < p)
    if outside:
        raise ValueError(
            f"categorical_features={given!r}: X has {p} columns, with positions 0 to {p - 1}; there is no position "
            f"{', '.join(map(str, outside[:5]))}."
        )
    return [int(w) for w in wanted]


def spelled(unknown: list[str], known: list[str]) -> str:
    """What was probably meant, for messages."""
    close = [match for name in unknown[:5] for match in close_names(name, known)[:1]]
    if close:
        return f"; did you mean {', '.join(map(repr, close))}?"
    return f"; its columns are {', '.join(map(repr, known[:10]))}{' …' if len(known) > 10 else ''}."


def unknown_features(given: Any, p: int) -> ValueError:
    """The error for what names no columns."""
    return ValueError(
        f"categorical_features={given!r} must be a mask of {p} booleans, positions below {p}, names of columns, "
        "'from_dtype' or None."
    )
