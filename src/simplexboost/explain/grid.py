"""Points of partial dependence: columns and values as the user names them → positions and numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..data.columns import Column
from ..data.features import Features
from ..data.tables import Table, array_table, read_table


def column_places(features: Any, names: list[str]) -> AnyArray:
    """The positions of columns that are given by position or by name, one or several, (s,)."""
    given = [features] if isinstance(features, str) or np.ndim(features) == 0 else list(features)
    places = [column_place(feature, names) for feature in given]
    if not places or len(set(places)) < len(places):
        raise ValueError(f"features={features!r} must name at least one column, and none of them twice.")
    return np.array(places, dtype=np.intp)


def column_place(feature: Any, names: list[str]) -> int:
    """The position of one column."""
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    is_position = isinstance(feature, Integral) and not isinstance(feature, bool | np.bool_)
    if not is_position or not 0 <= feature < len(names):
        raise ValueError(f"features holds {feature!r}; pass names of columns or positions from 0 to {len(names) - 1}.")
    return int(feature)


def grid_points(grid: Any, places: AnyArray, features: Features, names: list[str]) -> Array:
    """The points of a grid, (m, s), as the numbers that trees ask for: categories and dates as in fit.

    The grid is a table with a column for each of these places; for one of them it may be a list or an array (m,).
    """
    table = grid_table(grid)
    if table is None or len(table.columns) != len(places):
        came = "no table" if table is None else f"{len(table.columns)} columns"
        raise ValueError(f"grid has {came}; pass a column for each of the {len(places)} features.")
    labels = [f"column {names[place]!r}" for place in places.tolist()]
    columns = [Column(label, column.values) for label, column in zip(labels, table.columns, strict=True)]
    named = Table(columns, table.n, table.names)
    return features.chosen(places.tolist()).numbers(named).astype(np.float64)


def grid_table(grid: Any) -> Table | None:
    """A grid as columns; None if it has neither one nor two dimensions."""
    table = None if isinstance(grid, list | tuple) else read_table(grid)
    if table is not None:
        return table
    # Lists become arrays of objects: an array of text would turn the numbers among them into text.
    values = np.array(grid, dtype=object) if isinstance(grid, list | tuple) else np.asarray(grid)
    values = values[:, None] if values.ndim == 1 else values
    return array_table(values) if values.ndim == 2 else None
