"""A fitted machine: its scores, and what model files hold of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_is_fitted

from .._blas import one_blas_thread
from .._typing import AnyArray, Array, Labels
from ..data.inputs import check_X
from ..estimators.face import Face
from ..files import damaged, is_number, pack_features, unpack_features
from ..files.parameters import from_json, to_json
from .kernels import Kernel, check_kernel, squares

# What model files hold; sparse support vectors in three parts.
FACTS = ("objective_", "duality_gap_", "n_iter_", "gamma_")
ARRAYS = ("coef_", "intercept_", "support_", "dual_coef_", "support_vectors_")
CSR = ("data", "indices", "indptr")
LARGEST = 1e300  # of the numbers of a file: products with features are then finite, unless these are huge
BLOCK = 1 << 22  # kernel values computed at a time in prediction: 32 MB


class Machine(Face):
    """Predicts with weights or support vectors; a subclass finds them."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    fit_intercept: Any
    intercept_scaling: float

    coef_: Array
    intercept_: Array
    support_: Labels
    dual_coef_: Array
    support_vectors_: Any
    _kernel: Kernel  # unless linear

    def class_scores(self, X: Any) -> Array:
        """The scores ⟨w_l, x⟩ of every class, (n, K); margins of at least one are what the machine wants.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        array of shape (n, K)
            The scores, a column for every class in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_X(self, X, **self._options())
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            U = self._scores(X)
        if not np.isfinite(U).all():
            raise ValueError("X holds numbers so large that scores are not finite; scale the features.")
        return U

    def _scores(self, X: Any) -> Array:
        """The scores (n, K) of rows that are checked."""
        if self.kernel == "linear":
            return np.asarray(X @ self.coef_.T) + self.intercept_
        if self.kernel == "precomputed":
            return np.asarray(
                X[:, self.support_] @ self.dual_coef_ + self._kernel.constant * self.dual_coef_.sum(axis=0)
            )
        size = max(1, BLOCK // max(1, len(self.support_)))
        blocks = [X[i : i + size] for i in range(0, X.shape[0], size)]
        return np.concatenate([self._kernel(block, self.support_vectors_) @ self.dual_coef_ for block in blocks])

    def _options(self) -> dict[str, Any]:
        """What X may be."""
        sparse: Any = False if self.kernel == "precomputed" else "csr"
        return {"accept_sparse": sparse, "dtype": np.float64, "ensure_all_finite": True}

    def _constant(self) -> float:
        """What is appended to every example; 0 for nothing."""
        wanted = self.kernel == "linear" if self.fit_intercept == "auto" else self.fit_intercept
        return float(self.intercept_scaling) if wanted else 0.0

    # ---- saving -----------------------------------------------------------------------------------------------------

    def _pack(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The fitted attributes as JSON and as arrays."""
        if callable(self.kernel):
            raise TypeError(
                f"kernel={self.kernel!r} cannot be saved: a function is code, and model files hold none. Compute the "
                "matrix yourself and use kernel='precomputed'."
            )
        facts = {name: to_json(getattr(self, name), name) for name in FACTS if hasattr(self, name)}
        arrays = {name: getattr(self, name) for name in ARRAYS if hasattr(self, name)}
        vectors = arrays.get("support_vectors_")
        if issparse(vectors):
            del arrays["support_vectors_"]
            arrays |= {f"support_vectors_.{part}": getattr(vectors, part) for part in CSR}
        return facts | pack_features(self), arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """The reverse of `_pack`."""
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        facts = {name: from_json(header[name]) for name in FACTS if name in header}
        if not all(map(is_number, facts.values())):
            raise damaged("numbers that are none")
        self.__dict__.update(facts)
        self.__dict__.update({name: arrays[name] for name in ARRAYS if name in arrays})
        unpack_features(self, header)
        if self.categories_ is not None:
            raise damaged("categories, where a machine takes numbers only")
        refused = damaged("weights that do not fit its classes or features")
        try:
            if "support_vectors_.data" in arrays:
                parts = tuple(arrays[f"support_vectors_.{part}"] for part in CSR)
                if len(parts[2]) != len(self.support_) + 1 or any(part.dtype.kind != "i" for part in parts[1:]):
                    raise refused
                self.support_vectors_ = csr_matrix(parts, shape=(len(self.support_), self.n_features_in_))
                self.support_vectors_.check_format(full_check=True)
            fits = self._fits()
        except (AttributeError, KeyError, ValueError) as error:
            raise refused from error
        if not fits:
            raise refused
        if self.kernel != "linear":
            gamma = getattr(self, "gamma_", 1.0)
            self._kernel = Kernel(self.kernel, None, gamma, self.degree, self.coef0, self._constant() ** 2)
            self._check_scores()

    def _fits(self) -> bool:
        """Whether the arrays of a file fit together."""
        K, p = len(self.classes_), self.n_features_in_
        if self.kernel == "linear":
            return is_table(self.coef_, (K, p)) and is_table(self.intercept_, (K,))
        m = len(self.support_)
        rows = self.support_
        known = rows.ndim == 1 and rows.dtype.kind == "i" and bool((rows >= 0).all())
        if self.kernel == "precomputed":
            known = known and bool((rows < p).all())
        else:
            vectors = self.support_vectors_
            known = known and vectors.shape == (m, p) and is_table(vectors.data if issparse(vectors) else vectors)
        return known and is_table(self.dual_coef_, (m, K))

    def _check_scores(self) -> None:
        """Raise unless support vectors can be squared, and the scores of the first and of the longest are finite."""
        if self.kernel == "precomputed" or not len(self.support_):
            return
        sizes = squares(self.support_vectors_)
        some = self.support_vectors_[[0, int(np.argmax(sizes))]]
        with np.errstate(all="ignore"):
            scores = self._kernel(some, self.support_vectors_) @ self.dual_coef_
        if not (np.isfinite(sizes).all() and np.isfinite(scores).all()):
            raise damaged("a kernel whose values are not finite")


def is_table(values: AnyArray, shape: tuple[int, ...] | None = None) -> bool:
    """Whether an array holds numbers that can be added up without overflow, and has the shape, if one is given."""
    fits = values.dtype == np.float64 and (shape is None or values.shape == shape)
    return fits and bool((np.abs(values) <= LARGEST).all())
