"""Columns in model files: the header and the arrays of every classifier, side by side."""

from __future__ import annotations

from typing import Any

from .._typing import AnyArray
from ..files import damaged, pack, unpack
from .columns import Column, ConstantColumn


def pack_columns(columns: list[Column]) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """A header for every column, and all arrays with the column's number before their names."""
    headers: list[dict[str, Any]] = []
    arrays: dict[str, AnyArray] = {}
    for column in columns:
        if isinstance(column.estimator, ConstantColumn):
            headers.append({"side": column.estimator.side})
            continue
        header, own = pack(column.estimator)
        if column.kernel_rows is not None:
            own |= {"kernel_rows": column.kernel_rows}
        headers.append({"estimator": header, "arrays": list(own)})
        arrays |= {f"{column.number}.{name}": values for name, values in own.items()}
    return headers, arrays


def unpack_columns(headers: list[dict[str, Any]], arrays: dict[str, AnyArray], n_features: int) -> list[Column]:
    """The reverse of `pack_columns`; raise unless each classifier tells two classes apart by the same features."""
    columns = []
    for j, header in enumerate(headers):
        if "side" in header:
            columns.append(Column(j, ConstantColumn(checked_side(header["side"]))))
        else:
            own = {name: arrays[f"{j}.{name}"] for name in header["arrays"]}
            rows = own.pop("kernel_rows", None)
            columns.append(checked(Column(j, unpack(header["estimator"], own), rows), n_features))
    return columns


def checked_side(side: Any) -> int:
    """+1 or −1."""
    if type(side) is not int or side not in (-1, 1):
        raise damaged(f"a column of side {side!r:.50}")
    return side


def checked(column: Column, n_features: int) -> Column:
    """The column, if its classifier fits the others."""
    rows, seen = column.kernel_rows, n_features
    if rows is not None:
        if rows.ndim != 1 or rows.dtype.kind != "i" or (rows < 0).any() or (rows >= n_features).any():
            raise damaged("rows of a kernel that it does not have")
        seen = len(rows)
    if column.estimator._answers != "one":
        raise damaged("a column whose classifier is none for two classes")
    if column.estimator.n_features_in_ != seen or column.estimator.classes_.tolist() != [0, 1]:
        raise damaged("a column whose classifier does not fit the others")
    return column
