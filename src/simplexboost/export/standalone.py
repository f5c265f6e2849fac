"""Predicts with a model file of simplexboost. This one file needs NumPy and nothing else.

    model = load("model.sb")
    model.predict(X), model.predict_proba(X), model.class_scores(X)

X is an array, a list of rows, a dict of columns or a data frame, with the columns of the training table. NaN and None
are missing values. Dates are Python or NumPy dates, days since 1970, or text such as "2024-05-31T12:00:00", which is
UTC unless it has a time zone. Durations are Python or NumPy durations, or numbers of days.

Written by ``simplexboost.export.python``; the format of model files is described in docs/files.md of simplexboost.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import sys
import zipfile
from typing import Any

import numpy as np

Array = Any
HELD = {"date": "dates", "duration": "durations", "time": "times of day", "category": "categories"}
UTC = datetime.timezone.utc  # noqa: UP017 (an older Python may run this)
DAY = 86_400_000_000.0  # microseconds
COARSE = {"W": 7 * DAY, "D": DAY, "h": DAY / 24, "m": 6e7, "s": 1e6, "ms": 1e3}  # microseconds
MOST_CATEGORIES = 254  # if a column has one category less, all others share the last number
ABSENT = 30.0  # a class without training examples scores this far below every other
TIED = 1e-6  # scores that differ by no more than this part of the largest one are tied: so much may be rounding
HUGE = 1e200  # scores are clipped to this
TINY = sys.float_info.min
BLOCK = 2**20  # the (row, tree) pairs that are looked at together
NODE = np.dtype(
    {
        "names": ["threshold", "feature", "left", "missing_left", "category"],
        "formats": ["<f8", "<i4", "<i4", "u1", "<i4"],
        "offsets": [0, 8, 12, 17, 20],
        "itemsize": 24,
    }
)


class ModelFileError(ValueError):
    """The error for a model file that cannot be used."""


def damaged(what: str) -> ModelFileError:
    return ModelFileError(f"The model file is damaged: {what}.")


def load(path: Any) -> Model:
    """Return the model in a model file, a path or an open binary file; raise a `ModelFileError` if the file is bad."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_sizes(archive)
            header = json.loads(archive.read("header.json"))
            if header.get("format") != "simplexboost" or header.get("version") != 2:
                raise ModelFileError("This is no model file of simplexboost, or one of a newer version of the format.")
            arrays = {name: array_in(archive, name, about) for name, about in header["arrays"].items()}
        return Model(header, arrays)
    except (OSError, ModelFileError):
        raise
    except Exception as error:  # on damaged bytes zipfile, zlib, json and NumPy raise many types
        raise damaged(f"{type(error).__name__}: {error}") from error


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise if an archive declares larger contents than its size allows; nothing is decompressed before this check."""
    sizes = {member.filename: member.file_size for member in archive.infolist()}
    if len(sizes) < len(archive.infolist()):
        raise damaged("it holds two members of the same name")
    assert archive.fp is not None
    size = archive.fp.seek(0, 2)
    if sizes["header.json"] > 2**20 + 32 * size or sum(sizes.values()) > 2**24 + 128 * size:
        raise damaged("it declares larger contents than a file of its size may hold")


def array_in(archive: zipfile.ZipFile, name: str, about: dict[str, Any]) -> Array:
    """Return an array of the archive, after checks of its size and checksum against its header entry ``about``."""
    size = np.dtype(about["dtype"]).itemsize * math.prod(about["shape"])
    if archive.getinfo(name).file_size != size:
        raise damaged(f"{name!r} has another size than its shape and type")
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise damaged(f"the checksum of {name!r} does not match")
    return np.frombuffer(data, about["dtype"]).reshape(about["shape"])


class Model:
    """A fitted booster: ``classes_`` are its labels, ``feature_names_in_`` the names of its columns or None."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, Array]) -> None:
        if not {"Y", "canonical"} & set(arrays) or "present" not in arrays:
            raise ModelFileError(f"a {header['class']} is no sum of trees, which is what this file predicts with.")
        if "targets" in header["classes"] or "thresholds" in arrays:
            raise ModelFileError("a model of several labels or targets is not for this file: use simplexboost.load.")
        self.classes_ = array_of(header["classes"])
        self.feature_names_in_ = header["feature_names_in"] or None
        self.n_features_in_ = header["n_features_in"]
        self.present = arrays["present"].astype(bool)
        self.Y = arrays.get("Y")  # None if there are many codewords, which are then canonical
        self.d = arrays["canonical"][0] if self.Y is None else self.Y.shape[1]
        self.dtype = arrays["values"].dtype if self.Y is None else self.Y.dtype
        self.merged: Array = arrays.get("merged")  # which class each codeword belongs to, or None
        threshold = header.get("threshold")
        self.threshold: Array = None if threshold is None else np.array([value_of(value) for value in threshold])
        order = header.get("class_order")
        self.order: Array = None if order is None else np.array(order)
        self.loss = header["loss"]["part"]
        self.parameters = {name: value_of(value) for name, value in header["loss"]["parameters"].items()}
        known = header.get("categories") or [None] * self.n_features_in_
        self.categories = [about and {v: float(k) for k, v in enumerate(array_of(about).tolist())} for about in known]
        self.kinds = header.get("feature_kinds") or ["number"] * self.n_features_in_
        self.terms = Terms(arrays, float(arrays["temperature"][0]) if "temperature" in arrays else 1.0)

    def predict(self, X: Any) -> Array:
        """Return the predicted labels (n,), or an indicator matrix (n, K) if rows may have several labels."""
        U = self.class_scores(X)
        if self.threshold is not None:
            return (self._above(U) > 0).astype(np.int64)
        if self.order is None:
            return self.classes_[self._best(U)]
        up_to = np.cumsum(self._probabilities(U)[:, self.order], axis=1)  # of ordered classes, the median
        return self.classes_[self.order[(2.0 * up_to >= (1.0 - TIED) * up_to[:, -1:]).argmax(axis=1)]]

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities (n, K)."""
        return self._probabilities(self.class_scores(X))

    def _best(self, U: Array) -> Array:
        """Return the index (n,) of the class of highest score; among tied scores, the first."""
        if self.merged is None and (self.Y is None or np.array_equal(self.Y, np.eye(*self.Y.shape))):
            return U.argmax(axis=1)
        U = U[:, self.present]
        tied = TIED * np.abs(U).max(axis=1, keepdims=True)
        return np.flatnonzero(self.present)[(U >= U.max(axis=1, keepdims=True) - tied).argmax(axis=1)]

    def _probabilities(self, U: Array) -> Array:
        """Return the class probabilities (n, K) for class scores U (n, K)."""
        if self.threshold is not None:
            return np.exp(-np.logaddexp(0.0, (-4.0 if self.loss == "OneVsAll" else -2.0) * self._above(U)))
        P = np.zeros(U.shape)
        P[:, self.present] = 1.0
        if self.present.sum() > 1:
            P[:, self.present] = np.maximum(link(self.loss, self.parameters, U[:, self.present]), TINY)
        return P

    def class_scores(self, X: Any) -> Array:
        """Return the class scores U = F Yᵀ / 2 (n, K) for codewords Y; several codewords of a class are combined."""
        X = self.numbers(X)
        F = np.zeros((len(X), self.d), dtype=self.dtype)
        size = max(1, BLOCK // max(1, len(self.terms.roots)))
        for begin in range(0, len(X), size):
            self.terms.add_to(F[begin : begin + size], X[begin : begin + size])
        U = (0.5 * F if self.Y is None else 0.5 * F @ self.Y.T).astype(np.float64)
        if self.merged is not None:  # the scores of classes that count as one: half the log of the sum of exp(2U)
            members = [U[:, self.merged == k] for k in range(int(self.merged.max()) + 1)]
            one = [u[:, 0] if u.shape[1] == 1 else 0.5 * np.logaddexp.reduce(2.0 * u, axis=1) for u in members]
            U = np.column_stack(one)
        scores = np.repeat(U.min(axis=1, keepdims=True) - ABSENT, len(self.present), axis=1)
        scores[:, self.present] = U
        return scores

    def numbers(self, X: Any) -> Array:
        """Return X as numbers (n, p), with category codes for categories and NaN for missing values."""
        columns = columns_of(X, self.feature_names_in_)
        if len(columns) != self.n_features_in_:
            raise ValueError(f"X has {len(columns)} columns; the model was fitted on {self.n_features_in_}.")
        found = np.empty((len(columns[0]), len(columns)))
        for j, (values, known, kind) in enumerate(zip(columns, self.categories, self.kinds, strict=True)):
            try:
                found[:, j] = as_numbers(values, known, kind)
            except ValueError as error:
                name = j if self.feature_names_in_ is None else repr(self.feature_names_in_[j])
                raise ValueError(f"column {name} held {HELD.get(kind, 'numbers')} in fit: {error}") from error
        return found

    def _above(self, U: Array) -> Array:
        """Return the scores U (n, K) minus the threshold of each row, a linear function of the row's scores."""
        return U - (U @ self.threshold[:-1] + self.threshold[-1])[:, None]


# ---- columns --------------------------------------------------------------------------------------------------------


def columns_of(X: Any, names: list[str] | None) -> list[Array]:
    """Return the columns of a table as arrays (n,); ``names`` selects columns of a dict or data frame."""
    if hasattr(X, "keys") or hasattr(X, "columns"):  # a dict or a frame
        wanted = list(X.keys() if hasattr(X, "keys") else X.columns) if names is None else names
        # categories of pandas as objects, since an array of whole numbers with holes would round them
        columns = [X[name] for name in wanted]
        return [np.asarray(v.astype(object) if hasattr(v, "cat") and hasattr(v, "astype") else v) for v in columns]
    table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)  # large whole numbers stay what they are
    if table.ndim != 2:
        raise ValueError(f"X has {table.ndim} dimensions; pass rows of columns.")
    return list(table.T)


def as_numbers(values: Array, known: dict[Any, float] | None, kind: str) -> Array:
    """Return a column as numbers (n,); ``known`` maps categories to their codes, and is None without categories."""
    if known is not None:
        other = len(known) if len(known) == MOST_CATEGORIES - 1 else np.nan
        kinds = (str, int)  # categories are kept as text or whole numbers, anything else as a float
        keys = [None if is_missing(v) else v if isinstance(v, kinds) else float(v) for v in values.tolist()]
        return np.array([np.nan if key is None else known.get(key, other) for key in keys])
    if values.dtype.kind in "Mm":
        return days(values)
    if values.dtype.kind in "OUT":
        return np.array([np.nan if is_missing(value) else as_number(value, kind) for value in values.tolist()])
    return values.astype(np.float64)


def days(values: Array) -> Array:
    """Return NumPy dates as days since 1970 and NumPy durations as days; years far from 1970 do not overflow."""
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M") and values.dtype.kind == "M":
        return days(values.astype("M8[D]"))
    if unit in COARSE:
        out = values.astype(np.int64) * (count * COARSE[unit]) / DAY
    else:
        out = values.astype(values.dtype.kind + "8[us]").astype(np.int64) / DAY
    return np.where(np.isnat(values), np.nan, out)


def as_number(value: Any, kind: str) -> float:
    """Return a number as a float, a date as days since 1970 (UTC if it has a time zone), a duration in days."""
    if kind == "date" and isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))  # which an older Python does not know
        except ValueError:
            raise ValueError(f"{value!r} is no date; text such as '2024-05-31T12:00:00' is.") from None
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return float((value - datetime.date(1970, 1, 1)).days)
    if isinstance(value, datetime.time):
        seconds = 3600 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6
        return seconds / 86_400
    return value / datetime.timedelta(days=1) if isinstance(value, datetime.timedelta) else float(value)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, pd.NA or NaT."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


# ---- values of the header -------------------------------------------------------------------------------------------


def value_of(value: Any) -> Any:
    """Return a value of the JSON header as Python or NumPy value; types that predictions do not need stay JSON."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return array_of(value["array"])
    if "list" in value or "tuple" in value:
        return [value_of(one) for one in value["list" if "list" in value else "tuple"]]
    if "scalar" in value:
        return array_of(value["scalar"])[0]
    kind = next((kind for kind in ("int", "float") if kind in value), None)
    return {"int": int, "float": float}[kind](value[kind]) if kind else value


def array_of(about: dict[str, Any]) -> Array:
    """Return the NumPy array that an entry of the JSON header describes."""
    values = [value_of(value) for value in about["values"]]
    if about["dtype"] == "object":
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out
    dtype = np.dtype(about["dtype"])
    out = np.array(values, dtype=np.int64).astype(dtype) if dtype.kind in "Mm" else np.array(values, dtype=dtype)
    return out.reshape(about.get("shape", out.shape))


# ---- terms ----------------------------------------------------------------------------------------------------------


class Terms:
    """The trees and lines of a model; the nodes of all trees are in one array, and all trees are traversed together."""

    def __init__(self, arrays: dict[str, Array], temperature: float) -> None:
        self.step = temperature * arrays["step"]
        self.coordinate, self.is_line = arrays["coordinate"].tolist(), arrays["kind"].astype(bool)
        self.shape, self.values = arrays["value_shape"], arrays["values"]
        self.centre, self.feature = arrays["linear_centre"], arrays["linear_feature"]
        nodes = arrays["nodes"].view(NODE)
        self.roots = starts(arrays["n_nodes"])[:-1]
        first_set = starts(arrays["n_sets"])[:-1]
        owner = np.repeat(np.arange(len(self.roots)), arrays["n_nodes"])
        self.is_leaf = nodes["feature"] < 0
        if (~self.is_leaf & (nodes["left"] <= np.arange(len(nodes)) - self.roots[owner])).any():
            raise damaged("a tree leads back")  # for ever
        self.threshold, self.missing_left = nodes["threshold"].copy(), nodes["missing_left"].astype(bool)
        self.of_feature = np.where(self.is_leaf, 0, nodes["feature"])
        self.left = np.where(self.is_leaf, nodes["left"], nodes["left"] + self.roots[owner])
        self.set = np.where(nodes["category"] < 0, -1, nodes["category"] + first_set[owner])
        self.sets = np.unpackbits(arrays["category_sets"], axis=1, bitorder="little").astype(bool)
        self.columns: Array = arrays.get("columns")
        if self.columns is None:
            self.begin = starts(self.shape.prod(axis=1))
        else:
            self.row_begin = starts(arrays["row_sizes"])
            self.begin = starts(self.shape[:, 0])

    def leaves(self, X: Array) -> Array:
        """Return the leaf index of every row in every tree, (n, number of trees)."""
        at = np.repeat(self.roots[None], len(X), axis=0)
        rows = np.arange(len(X))[:, None]
        while True:
            inside = ~self.is_leaf[at]
            if not inside.any():
                return self.left[at]
            x = X[rows, self.of_feature[at]]
            missing = np.isnan(x)
            goes_left = x <= self.threshold[at]
            if len(self.sets):
                asks = self.set[at] >= 0
                number = np.where(asks & ~missing, x, 0).astype(np.intp)
                goes_left = np.where(asks, self.sets[self.set[at], number], goes_left)
            goes_left = np.where(missing, self.missing_left[at], goes_left)
            at = np.where(inside, self.left[at] + ~goes_left, at)

    def add_to(self, F: Array, X: Array) -> None:
        """Add the values of all terms for the rows of X (n, p) to F (n, d), in the order of the terms."""
        leaves = self.leaves(X).T
        number = np.where(self.is_line, np.cumsum(self.is_line), np.cumsum(~self.is_line)) - 1  # of its kind
        for t, coordinate in enumerate(self.coordinate):
            out = F if coordinate < 0 else F[:, coordinate : coordinate + 1]
            if self.is_line[t]:
                (slope, intercept), k = self.table(t), number[t]
                x = X[:, self.feature[k]] - self.centre[k]
                out += self.step[t] * (np.where(np.isnan(x), 0.0, x)[:, None] * slope + intercept)
            elif self.columns is None:
                out += (self.table(t) * F.dtype.type(self.step[t]))[leaves[number[t]]]
            else:  # sparse values: leaves that many rows share are spread out once
                leaf, step = leaves[number[t]], out.dtype.type(self.step[t])
                for one in np.unique(leaf).tolist():
                    entry, rows = self.begin[t] + one, np.flatnonzero(leaf == one)
                    part = slice(self.row_begin[entry], self.row_begin[entry + 1])
                    out[rows[:, None], self.columns[part][None]] += self.values[part] * step

    def table(self, t: int) -> Array:
        """Return the values of term t: leaf values (L, d) of a tree, or slope and intercept (2, d) of a line."""
        return self.values[self.begin[t] : self.begin[t + 1]].reshape(self.shape[t])


def starts(sizes: Array) -> Array:
    """Return the offsets where consecutive parts of these sizes begin, and the end of the last part."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


# ---- links ----------------------------------------------------------------------------------------------------------


def link(loss: str, parameters: dict[str, Any], U: Array) -> Array:
    """Return the probabilities (n, K) that a loss gives for scores U (n, K) of classes with training examples."""
    U = np.clip(U, -HUGE, HUGE)
    rates = {"Exponential": 1.0, "MM": 2.0, "Logistic": 2.0, "Savage": 2.0}
    if loss in rates and parameters.get("cost_matrix") is not None:
        return walk_link(loss, rates[loss], np.asarray(parameters["cost_matrix"], dtype=np.float64), U)
    if loss == "Savage":
        return savage_link(U)
    if loss == "OneVsAll":
        return softmax(-np.logaddexp(0.0, -4.0 * U))
    if loss == "OwnScoreExponential":
        alpha = parameters["alpha"]
        return softmax(U * (2.0 / U.shape[1] if isinstance(alpha, str) else 2.0 * alpha))
    if loss == "PotentialLoss" and parameters["loss"] == "zero-one":
        total = U.sum(axis=1, keepdims=True)
        return np.divide(U, total, out=np.full_like(U, 1 / U.shape[1]), where=total > 0)
    return softmax(U * (4.0 if loss in ("MM", "PotentialLoss") else 2.0))


def softmax(U: Array) -> Array:
    """Return the softmax of every row of U."""
    P = np.exp(U - U.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def savage_link(U: Array) -> Array:
    """Return the probabilities (n, K) of Savage's loss, 1 / (1 − p_k) over its row sum, where p is softmax(2U)."""
    rows, best = np.arange(len(U)), U.argmax(axis=1)
    top = U[rows, best]
    others = U.copy()
    others[rows, best] = -np.inf
    second = others.max(axis=1)
    rest = 2.0 * (second - top) + np.log(np.exp(2.0 * (others - second[:, None])).sum(axis=1))
    below = np.exp(rest)[:, None] - np.exp(2.0 * (others - top[:, None]))
    log_eta = -np.log1p(np.maximum(below, 0.0))
    log_eta[rows, best] = -rest
    return softmax(log_eta)


def walk_link(loss: str, rate: float, C: Array, U: Array) -> Array:
    """Return the probabilities (n, K) under costs C (K, K), by stationary distributions of a random walk on classes."""
    n, K = U.shape
    size = max(1, BLOCK // K**2)
    if n > size:
        return np.concatenate([walk_link(loss, rate, C, U[begin : begin + size]) for begin in range(0, n, size)])
    off = ~np.eye(K, dtype=bool)
    log_b = rate * (U - U.max(axis=1, keepdims=True))  # (n, K)
    with np.errstate(divide="ignore"):
        log_cost = np.log(np.where(off, C, 0.0))
    exponent = log_cost + rate * (U[:, None, :] - U[:, :, None])  # (n, truth, rival)
    top = exponent.max(axis=2)
    s = top + np.log(np.exp(exponent - top[:, :, None]).sum(axis=2))  # (n, K): of every class, if it were the truth
    log_weight = {
        "Logistic": lambda: -np.logaddexp(0.0, -s),
        "Savage": lambda: -2.0 * np.logaddexp(0.0, -s) - np.logaddexp(0.0, s),
    }.get(loss, lambda: s)()
    T = np.broadcast_to(np.maximum(C / C[off].max(), 1e-30), (n, K, K))
    return softmax(np.log(stationary(T, np.exp(log_b))) + 2.0 * log_b + s - log_weight)


def stationary(T: Array, b: Array) -> Array:
    """Return π / b (n, K) up to row factors; π[i] is stationary for rates T[i, l, k] b[i, k] from class l to k."""
    order = np.argsort(-b, axis=1)
    b = np.take_along_axis(b, order, axis=1)
    T = np.take_along_axis(np.take_along_axis(T, order[:, :, None], axis=1), order[:, None, :], axis=2)
    leaving = np.empty_like(b)
    for k in range(b.shape[1] - 1, 0, -1):
        leaving[:, k] = (T[:, k, :k] * b[:, :k]).sum(axis=1)
        T[:, :k, :k] += (T[:, :k, k] * (b[:, k] / leaving[:, k])[:, None])[:, :, None] * T[:, k, None, :k]
    y = np.ones_like(b)
    for k in range(1, b.shape[1]):
        y[:, k] = (b[:, :k] * y[:, :k] * T[:, :k, k]).sum(axis=1) / leaving[:, k]
    out = np.empty_like(y)
    np.put_along_axis(out, order, y, axis=1)
    return out
