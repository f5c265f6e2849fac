"""Random tables X: shapes, types, containers and values, ordinary and not."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

Table = Any
Maker = Callable[[np.random.Generator, int, int], Table]

NUMBERS = ("float64", "float32", "float16", "longdouble", "int8", "uint8", "int32", "int64", "uint64", "bool")
SPARSE = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
LARGE = (1e10, 1e38, 1e39, 1e150, 1e155, 1e300, 1.7e308)
SMALL = (1e-10, 1e-38, 1e-45, 1e-150, 1e-300, 5e-324)


def plain(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Ordinary numbers (n, p), sometimes rounded, so that there are ties."""
    X = rng.normal(size=(n, p))
    return X if rng.random() < 0.6 else X.round(int(rng.integers(0, 2)))


# ---- tables that must be accepted -----------------------------------------------------------------------------------


def some_missing(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Numbers, some of them missing, or all of a column, or all of a row, or all."""
    X = plain(rng, n, p)
    X[rng.random((n, p)) < rng.choice([0.1, 0.5, 0.95])] = np.nan
    if p and rng.random() < 0.5:
        X[:, rng.integers(p)] = np.nan
    if n and rng.random() < 0.5:
        X[rng.integers(n)] = np.nan
    if rng.random() < 0.1:
        X[:] = np.nan
    return X


def constant(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Equal rows."""
    return np.repeat(plain(rng, 1, p), n, axis=0)


def far_scales(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Columns of very large and of very small numbers, or both in one."""
    X = plain(rng, n, p)
    scales = rng.choice(LARGE + SMALL + (1.0,), size=(n, p) if rng.random() < 0.3 else p)
    with np.errstate(over="ignore"):
        X = X / np.abs(X).max(initial=1.0) * scales
    return X


def typed(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Numbers of another type."""
    return (50 * rng.random((n, p))).astype(rng.choice(NUMBERS))


def huge_integers(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Whole numbers that double precision does not tell apart."""
    if rng.random() < 0.5:
        return rng.integers(2**63 - 9, 2**63 - 1, size=(n, p))
    return rng.integers(2**64 - 9, 2**64 - 1, size=(n, p), dtype=np.uint64)


def other_layout(rng: np.random.Generator, n: int, p: int) -> Table:
    """The same numbers in another layout: Fortran order, strides, other byte order, read-only, a subclass, lists."""
    X = plain(rng, n, p)
    return pick(
        rng,
        [
            lambda: np.asfortranarray(X),
            lambda: np.repeat(X, 2, axis=0)[::2],
            lambda: X[::-1, ::-1],
            lambda: X.astype(X.dtype.newbyteorder()),
            lambda: read_only(X),
            lambda: np.ma.masked_array(X),
            lambda: np.broadcast_to(X[:1], X.shape),
            lambda: X.tolist(),
            lambda: [tuple(row) for row in X],
            lambda: tuple(map(list, X.tolist())),
            lambda: list(X),
        ],
    )


def sparse_numbers(rng: np.random.Generator, n: int, p: int) -> Table:
    """A sparse matrix or array of any format, with stored zeros, or with indices of 64 bits."""
    X = np.where(rng.random((n, p)) < 0.5, plain(rng, n, p), 0.0)
    S = (sparse.csr_matrix if rng.random() < 0.5 else sparse.csr_array)(X)
    if len(S.data) and rng.random() < 0.5:
        S.data[0] = rng.choice([0.0, np.nan])
    if rng.random() < 0.3:
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S.asformat(str(rng.choice(SPARSE)))


def frame(rng: np.random.Generator, n: int, p: int) -> pd.DataFrame:
    """A data frame of numbers, categories, text, dates and flags."""
    columns: dict[Any, Any] = {f"x{j}": column(rng, n) for j in range(p)}
    table = pd.DataFrame(columns, index=rng.permutation(n))
    if rng.random() < 0.1:
        table.columns = range(p)
    return table


def column(rng: np.random.Generator, n: int) -> Any:
    """A column of a data frame that has one meaning."""
    letters = rng.choice(list("abcdef"), size=n)
    return pick(
        rng,
        [
            lambda: rng.normal(size=n),
            lambda: rng.normal(size=n).astype("float32"),
            lambda: rng.integers(5, size=n),
            lambda: rng.random(n) < 0.5,
            lambda: letters,
            lambda: pd.Categorical(letters, categories=list("abcdefgh")),
            lambda: pd.Categorical(rng.integers(3, size=n), ordered=True),
            lambda: np.where(rng.random(n) < 0.2, np.array(None), letters),
            lambda: pd.array(rng.integers(5, size=n), dtype="Int64"),
            lambda: pd.array(rng.random(n) < 0.5, dtype="boolean"),
            lambda: np.full(n, None),
            lambda: np.full(n, np.nan),
            lambda: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(900, size=n), unit="D"),
            lambda: pd.to_timedelta(rng.integers(900, size=n), unit="h"),
            lambda: pd.Categorical(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(3, size=n), unit="D")),
        ],
    )


def other_frame(rng: np.random.Generator, n: int, p: int) -> Table:
    """A frame of polars or pyarrow."""
    table = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(p)})
    table["letters"] = rng.choice(list("abc"), size=n)
    if rng.random() < 0.5:
        import polars

        return polars.from_pandas(table)
    import pyarrow

    return pyarrow.Table.from_pandas(table, preserve_index=False)


# ---- tables that may be refused -------------------------------------------------------------------------------------


def wrong_places(rng: np.random.Generator, n: int, p: int) -> Table:
    """A sparse table with a number in a place that the table does not have, or whose rows begin elsewhere."""
    S = sparse.csr_array(rng.normal(size=(n, p))).asformat(str(rng.choice(["csr", "csc", "coo"])))
    if S.format == "coo":
        places = S.col if rng.random() < 0.5 else S.row
        places[rng.integers(len(places))] = rng.choice(PLACES)
    elif rng.random() < 0.5:
        S.indices[rng.integers(len(S.indices))] = rng.choice(PLACES)
    else:
        S.indptr[rng.integers(len(S.indptr))] = rng.choice(PLACES)
    return S


PLACES = (-1, -5, 70, 4000, 2**31 - 1, -(2**31))


def odd_dates(rng: np.random.Generator, n: int, p: int) -> Table:
    """A table of dates or durations at the ends of what their types can hold, some of them missing."""
    kind, unit = str(rng.choice(["M8", "m8"])), str(rng.choice(["ns", "us", "ms", "s", "m", "h", "D", "M", "Y"]))
    far = rng.choice([0, 1, -1, 2**40, -(2**40), 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, -(2**63)], size=(n, p))
    dates = far.astype(np.int64).astype(f"{kind}[{unit}]")
    if unit not in ("s", "ms", "us", "ns") or rng.random() < 0.4:  # pandas knows these units
        return dates
    return pd.DataFrame({f"x{j}": dates[:, j] for j in range(p)})


def infinite(rng: np.random.Generator, n: int, p: int) -> Table:
    """Numbers, some of them infinite."""
    X = plain(rng, n, p)
    if X.size:
        X[rng.integers(n), rng.integers(p)] = rng.choice([np.inf, -np.inf])
    return X if rng.random() < 0.7 else sparse.csr_matrix(X)


def wrong_shape(rng: np.random.Generator, n: int, p: int) -> Table:
    """No rows, no columns, one dimension or three, or a number."""
    shape = [(0, p), (n, 0), (0, 0), (n,), (n, p, 2), (), (n, p, 0), (1, p), (n + 1, p), (2, 1)][rng.integers(10)]
    return rng.normal(size=shape)


def mixed_objects(rng: np.random.Generator, n: int, p: int) -> Table:
    """An array of objects of several types."""
    things = [1, 2.5, "a", "3", b"x", None, np.nan, True, 1j, [1], {"a": 1}, object(), float("inf"), pd.NA, pd.NaT,
              10**30, Decimal("1.5"), datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), "", "nan",
                  np.datetime64("NaT"),
              datetime.time(1, 2), (1, 2), np.float32(1), pd.Timestamp("2020-01-01", tz="UTC"), -0.0,
                  2**63]  # fmt: skip
    chosen = [things[i] for i in rng.choice(len(things), size=int(rng.integers(1, 4)), replace=False)]
    X = np.empty((n, p), dtype=object)
    for place in np.ndindex(n, p):
        X[place] = chosen[rng.integers(len(chosen))]
    return X if rng.random() < 0.4 else pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])


def strange_type(rng: np.random.Generator, n: int, p: int) -> Table:
    """An array of complex numbers, text, bytes, times or records."""
    return pick(
        rng,
        [
            lambda: rng.normal(size=(n, p)) + 1j,
            lambda: rng.choice(["a", "b"], size=(n, p)),
            lambda: rng.choice(["1", "2.5"], size=(n, p)),
            lambda: rng.choice([b"a", b"b"], size=(n, p)),
            lambda: rng.integers(9, size=(n, p)).astype("M8[s]"),
            lambda: rng.integers(9, size=(n, p)).astype("m8[D]"),
            lambda: np.zeros((n, p), dtype=[("a", float), ("b", int)]),
            lambda: np.zeros((n, p), dtype="V8"),
            lambda: rng.normal(size=(n, p)).astype(object),
            lambda: sparse.csr_matrix(rng.normal(size=(n, p)) + 1j),
            lambda: np.full((n, p), ""),
        ],
    )


def no_table(rng: np.random.Generator, n: int, p: int) -> Table:
    """Something else."""
    return pick(
        rng,
        [
            lambda: None,
            lambda: "text",
            lambda: 3.5,
            lambda: {},
            lambda: {"a": [1, 2]},
            lambda: set(),
            lambda: object(),
            lambda: [],
            lambda: [[]],
            lambda: [[1], [1, 2]],
            lambda: ["a", "b"],
            lambda: iter([[1.0]]),
            lambda: np.ones,
            lambda: pd.Series(np.ones(n)),
            lambda: pd.DataFrame(),
            lambda: pd.DataFrame(index=range(n)),
            lambda: b"bytes",
            lambda: range(n),
        ],
    )


def odd_frame(rng: np.random.Generator, n: int, p: int) -> Table:
    """A data frame with odd names or columns."""
    table = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    return pick(
        rng,
        [
            lambda: table.set_axis(["a"] * p, axis=1),
            lambda: table.set_axis([None, *range(1, p)][:p], axis=1),
            lambda: table.set_axis(["a", *range(1, p)][:p], axis=1),
            lambda: table.set_axis(pd.MultiIndex.from_product([["a"], range(p)]), axis=1),
            lambda: table.assign(x0=[[1, 2]] * n),
            lambda: table.assign(x0=1j),
            lambda: table.assign(x0=np.inf),
            lambda: table.assign(x0=pd.arrays.SparseArray(np.zeros(n))),
            lambda: table.assign(x0=pd.Timestamp("2020-01-01", tz="UTC")),
            lambda: table.assign(x0=pd.Period("2020-01")),
            lambda: table.assign(x0=pd.Interval(0, 1)),
            lambda: table.assign(x0=[*["1"] * (n - 1), "a"][:n]),
            lambda: table.assign(x0=[f"c{i}" for i in range(n)]),
            lambda: table.assign(x0=pd.NaT),
            lambda: table.assign(x0=pd.Categorical([None] * n)),
            lambda: table.iloc[:0],
            lambda: table.assign(x0=b"x"),
            lambda: table.assign(x0=[datetime.date(2020, 1, 1)] * n),
            lambda: table.assign(x0=[datetime.date(2020, 1, 1), "a"] * (n // 2) + ["a"] * (n % 2)),
            lambda: table.assign(x0=pd.Categorical([datetime.date(2020, 1, 1 + i % 9) for i in range(n)])),
            lambda: table.assign(x0=pd.Categorical([(i % 3, 1) for i in range(n)])),
            lambda: table.assign(x0=pd.Categorical([["a", 1, 2.5][i % 3] for i in range(n)])),
        ],
    )


GOOD: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (plain, some_missing, constant, far_scales, typed, huge_integers, other_layout, sparse_numbers, frame)
} | {"other_frame": other_frame}
ODD: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (
        infinite,
        wrong_shape,
        mixed_objects,
        strange_type,
        no_table,
        odd_frame,
        wrong_places,
        odd_dates,
    )
}


def pick(rng: np.random.Generator, makers: list[Callable[[], Any]]) -> Any:
    """What one of them makes."""
    return makers[rng.integers(len(makers))]()


def read_only(X: np.ndarray) -> np.ndarray:
    """The same array, which nobody may write to."""
    X.flags.writeable = False
    return X
