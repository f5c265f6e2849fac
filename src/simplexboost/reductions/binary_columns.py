"""The binary classifiers of an output code, one per column of the coding matrix: training, scores, and model files.

The classifier of a column is trained on the rows of the classes whose entry in that column is +1 or −1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .._util.arrays import AnyArray, Array, Labels
from .._util.messages import name_in_errors
from ..persist.archive import damaged
from ..persist.saving import pack, unpack
from .coding import answers_from_probabilities

RESPONSES = ("auto", "decision_function", "predict_proba", "predict")

# Losses whose best answer is a function of the probability; elsewhere decision_function comes first.
FROM_PROBABILITIES = ("logistic", "exponential", "squared", "euclidean")


@dataclass(frozen=True, eq=False)
class ConstantColumn:
    """The constant classifier of a column whose training rows are all positive (side +1) or all negative (side −1)."""

    side: int

    def predict(self, X: Any) -> Labels:
        return np.full(_num_samples(X), int(self.side > 0))


@dataclass(frozen=True, eq=False)
class Column:
    """The fitted classifier of a column of the coding matrix; for precomputed kernels also its training row indices."""

    number: int
    estimator: Any
    kernel_rows: Labels | None = None

    def ask(self, method: str, X: Any) -> Array:
        """Return what a method of the classifier gives for the classes with +1, (n,): a score, a probability or ±1."""
        if self.kernel_rows is not None:
            X = _safe_indexing(X, self.kernel_rows, axis=1)
        with name_in_errors(owner(self.estimator, self.number)):
            values = np.asarray(getattr(self.estimator, method)(X), dtype=np.float64)
        if method == "predict":
            return 2.0 * values - 1.0
        if method == "decision_function" and values.ndim == 1:
            return values
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(
                f"{method} of {type(self.estimator).__name__} gave shape {values.shape} for column {self.number}; a "
                "binary classifier gives (n, 2), or (n,) for decision_function."
            )
        return values[:, 1] - values[:, 0] if method == "decision_function" else values[:, 1]

    def answers(self, X: Any, response: str, decoding: str) -> Array:
        """Return the scores (n,) to be decoded, which are positive where the classifier prefers the classes with +1."""
        method = self.method(response, decoding)
        values = self.ask(method, X)
        return answers_from_probabilities(values, decoding) if method == "predict_proba" else values

    def probabilities(self, X: Any, response: str) -> Array:
        """Return the probability of the classes with +1, (n,): predict_proba, or the logistic function of the score."""
        method = self.method(response, "logistic")
        values = self.ask(method, X)
        if isinstance(self.estimator, ConstantColumn):
            return 0.5 * (values + 1.0)
        return values if method == "predict_proba" else expit(values)

    def method(self, response: str, decoding: str) -> str:
        """Return the name of the classifier's method that computes the scores, given ``response`` and ``decoding``."""
        order = ["decision_function", "predict_proba", "predict"]
        if isinstance(self.estimator, ConstantColumn):
            order = ["predict"]
        elif response != "auto":
            check_response(self.estimator, response)
            order = [response]
        elif decoding in FROM_PROBABILITIES:
            order = ["predict_proba", "decision_function", "predict"]
        for method in order:
            if hasattr(self.estimator, method):
                return method
        raise TypeError(f"estimator={self.estimator!r} has no method {', '.join(order[:-1])} or {order[-1]}.")


def check_response(estimator: Any, response: str) -> None:
    if response != "auto" and not hasattr(estimator, response):
        raise ValueError(f"response={response!r}, but {type(estimator).__name__} has no such method.")


def jobs_for(n_jobs: int | None, n_columns: int) -> int | None:
    return n_jobs if n_jobs is None else max(1, min(effective_n_jobs(n_jobs), n_columns))


def make_indexable(X: Any) -> Any:
    """Return X in a form from which rows can be selected: sparse matrices of other formats are converted to CSR."""
    return X.tocsr() if issparse(X) and X.format not in ("csr", "csc", "lil") else X


def owner(estimator: Any, number: int) -> str:
    return f"estimator: {type(estimator).__name__} of column {number}"


def fit_column(number: int, estimator: Any, X: Any, letters: Array, weight: Array | None, seed: int | None) -> Column:
    """Train a clone of the estimator for one column of the coding matrix, and return the fitted column.

    ``letters`` (n,) has the entry of each row's class in the column; rows with +1 or −1 are trained on, rows with 0 are
    not. All random states of the clone are set from the seed, unless it is None.
    """
    rows = np.flatnonzero(letters)
    sides = np.unique(letters[rows])
    if len(sides) < 2:
        return Column(number, ConstantColumn(int(sides[0])))
    with name_in_errors(owner(estimator, number)):
        estimator = clone(estimator)
        if seed is not None:
            rng = np.random.RandomState(seed)
            names = sorted(name for name in estimator.get_params() if ("__" + name).endswith("__random_state"))
            estimator.set_params(**{name: int(rng.randint(2**31 - 1)) for name in names})
    pairwise = get_tags(estimator).input_tags.pairwise
    everyone = len(rows) == len(letters)
    part = X if everyone else _safe_indexing(X, rows)
    if pairwise and not everyone:
        part = _safe_indexing(part, rows, axis=1)
    more = {} if weight is None else {"sample_weight": weight[rows]}
    with name_in_errors(owner(estimator, number)):
        estimator.fit(part, (letters[rows] > 0).astype(np.intp), **more)
    found = getattr(estimator, "classes_", [0, 1])
    if len(found) != 2:
        raise ValueError(
            f"{type(estimator).__name__} found classes {list(found)} in column {number}, a problem of two classes 0 "
            "and 1; it does not do as a binary classifier."
        )
    return Column(number, estimator, rows if pairwise else None)


def pack_columns(columns: list[Column]) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """Return a model-file header for every column, and the arrays of all columns, named ``column index.array name``."""
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
    """Rebuild columns from the result of `pack_columns`; raise unless each is binary and has ``n_features``."""
    columns = []
    for j, header in enumerate(headers):
        if "side" in header:
            side = header["side"]
            if type(side) is not int or side not in (-1, 1):
                raise damaged(f"invalid side {side!r:.50} of a column")
            columns.append(Column(j, ConstantColumn(side)))
            continue
        own = {name: arrays[f"{j}.{name}"] for name in header["arrays"]}
        rows, seen = own.pop("kernel_rows", None), n_features
        estimator = unpack(header["estimator"], own)
        if rows is not None:
            if rows.ndim != 1 or rows.dtype.kind != "i" or (rows < 0).any() or (rows >= n_features).any():
                raise damaged("rows of a kernel that the model does not have")
            seen = len(rows)
        if estimator._problem.is_matrix or estimator.n_features_in_ != seen or estimator.classes_.tolist() != [0, 1]:
            raise damaged(f"the classifier of column {j} does not tell two classes apart by the features of the model")
        columns.append(Column(j, estimator, rows))
    return columns
