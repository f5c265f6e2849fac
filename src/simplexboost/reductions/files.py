"""Columns in model files: the header and the arrays of every classifier, side by side."""

from __future__ import annotations

from typing import Any

from .._typing import AnyArray
from ..files import pack, unpack
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


def unpack_columns(headers: list[dict[str, Any]], arrays: dict[str, AnyArray]) -> list[Column]:
    """The reverse of `pack_columns`."""
    columns = []
    for j, header in enumerate(headers):
        if "side" in header:
            columns.append(Column(j, ConstantColumn(int(header["side"]))))
        else:
            own = {name: arrays[f"{j}.{name}"] for name in header["arrays"]}
            rows = own.pop("kernel_rows", None)
            columns.append(Column(j, unpack(header["estimator"], own), rows))
    return columns
