"""Multiplies by the coding matrix Y (K, d): scores ½ F Yᵀ from F (n, d), gradients ½ P Y from residuals P (n, K).

For thousands of classes, canonical codewords are stored as 2K − 1 numbers, of which the K × K matrix is a view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._util.arrays import AnyArray, Array, Labels
from .._util.compat import cached
from ..engine import CPU, Engine

FEW = 1024  # up to so many classes, canonical codewords are an ordinary array


def identity(K: int, dtype: Any = np.float64) -> AnyArray:
    """Return the identity matrix (K, K) as a read-only view on 2K − 1 numbers, which saves memory."""
    numbers = np.zeros(2 * K - 1, dtype=dtype)
    numbers[K - 1] = 1.0
    size = numbers.itemsize
    return as_strided(numbers[K - 1 :], (K, K), (-size, size), writeable=False)


def is_view(Y: AnyArray) -> bool:
    """Tell from its strides whether a matrix Y is a view that `identity` made."""
    size = Y.itemsize
    square = Y.ndim == 2 and len(Y) > 1 and Y.shape[0] == Y.shape[1]
    return square and Y.strides == (-size, size) and bool(Y[0, 0] == 1.0)


def in_precision(Y: AnyArray, dtype: Any) -> AnyArray:
    """Return the coding matrix Y with another data type; a view made by `identity` stays a view."""
    return identity(len(Y), dtype) if is_view(Y) else Y.astype(dtype)


def is_same_code(A: AnyArray, B: AnyArray) -> bool:
    """Tell whether two coding matrices are equal; for views made by `identity`, no K × K array is needed."""
    return A.shape == B.shape if is_view(A) and is_view(B) else np.array_equal(A, B)


class Code:
    """A coding matrix Y (K, d) as a linear map, whose products an engine computes.

    If Y = a I + b with numbers a and b (canonical or SAMME's codewords), it is `symmetric` and no matrix product is
    needed.
    """

    def __init__(self, Y: AnyArray, engine: Engine = CPU) -> None:
        self.Y, self.engine = Y, engine
        self._form = symmetric_form(Y)
        self.canonical = self._form == (1.0, 0.0)  # Y is the identity
        self.symmetric = self._form is not None

    @cached
    def gap(self) -> float | None:
        """The value of ½⟨y_c, y_c − y_k⟩ for codewords y if it is equal for all pairs of classes c ≠ k, else None."""
        gram = self.Y.astype(np.float64) @ self.Y.T  # (K, K)
        gaps = 0.5 * (np.diag(gram)[:, None] - gram)[~np.eye(len(gram), dtype=bool)]
        return float(gaps.mean()) if np.allclose(gaps, gaps[0], rtol=1e-12, atol=0.0) else None

    def forward(self, F: AnyArray, out: Array | None = None) -> AnyArray:
        """Compute ½ F Yᵀ (n, K) from F (n, d); if `out` is given, write the result to it."""
        return self._times(F, self.Y.T, out)

    def scores(self, F: AnyArray) -> Array:
        """Compute the class scores U = ½ F Yᵀ, (n, K), in double precision."""
        return self.forward(F).astype(np.float64, copy=False)

    def back(self, P: AnyArray) -> AnyArray:
        """Compute ½ P Y (n, d), the gradient with respect to F, from the gradient P (n, K) with respect to U."""
        return self._times(P, self.Y)

    def predictor(self, logits: Array) -> AnyArray:
        """Return F (n, d) such that F Yᵀ equals the logits (n, K) up to a constant in each row.

        Raise ValueError if there is no such F, which happens if the codewords have fewer than K − 1 dimensions.
        """
        if self.canonical:
            return logits.astype(self.Y.dtype, order="C")
        Y = self.Y.astype(np.float64)
        centred = Y - Y.mean(axis=0), logits - logits.mean(axis=1, keepdims=True)
        for words, wanted in ((Y, logits), centred):
            F = wanted @ np.linalg.pinv(words.T)
            if np.abs(F @ words.T - wanted).max(initial=0.0) <= 1e-6 * max(1.0, np.abs(wanted).max(initial=0.0)):
                return F.astype(self.Y.dtype, order="C")
        raise ValueError(
            f"init_score cannot be represented by codewords of shape {self.Y.shape}, which have too few dimensions for "
            "arbitrary scores; take codewords='canonical'."
        )

    def own_scores(self, F: AnyArray, c: AnyArray) -> Array:
        """Compute the score ½⟨F, y_c⟩ of every row for its class c, (n,)."""
        if self._form is None:
            return 0.5 * np.einsum("nd,nd->n", F, self.Y[c])
        a, b = self._form
        own = a * F[np.arange(len(c)), c]
        return 0.5 * (own + b * F.sum(axis=1) if b != 0.0 else own)

    def _times(self, A: AnyArray, matrix: AnyArray, out: Array | None = None) -> Array:
        if self._form is None:
            return self.engine.compute.times(A, matrix, 0.5, out)
        a, b = self._form
        out = np.multiply(A, 0.5 * a, out=out)
        if b != 0.0:
            out += 0.5 * b * A.sum(axis=1, keepdims=True)
        return out


def symmetric_form(Y: AnyArray) -> tuple[float, float] | None:
    """Return the numbers (a, b) if Y is a times the identity plus b in all entries, else None."""
    K = len(Y)
    if is_view(Y):
        return 1.0, 0.0
    if Y.shape != (K, K) or K < 2:
        return None
    on, off = Y[0, 0], Y[0, 1]
    same = (np.diag(Y) == on).all() and (Y[~np.eye(K, dtype=bool)] == off).all()
    return (float(on - off), float(off)) if same else None


class Gradient:
    """The negative gradient of the risk, in the forms that weak learners and step rules use.

    Parameters
    ----------
    labels, weight : arrays of shape (n,)
        For every row the class index that a weak classifier should predict, and how important this is: the true class
        and its entry of P; with several labels, the one with the largest entry of P.
    P : array of shape (n, K), a function that returns it, or None
        The negative gradient with respect to the class scores, sample weights included, up to a positive factor.
    code : Code or None, default=None
        The coding matrix by which G is computed from P.
    G : array of shape (n, d) or None, default=None
        The negative gradient with respect to F: a weak learner should make Σ_i ⟨G_i, h(x_i)⟩ large. By default ½ P Y,
        computed on first use.
    single : bool, default=False
        Whether labels and weights determine G: G Yᵀ is then, up to a constant in every row, the weight in the column of
        the label and 0 elsewhere.
    risk : float or None, default=None
        The mean weighted loss, if it was computed from the residual; else None.

    Examples
    --------
    >>> code = Code(np.array([[1.0], [-1.0]]))
    >>> Gradient(np.array([0]), np.array([0.5]), np.array([[0.5, -0.5]]), code).G
    array([[0.5]])
    """

    def __init__(
        self,
        labels: Labels,
        weight: Array,
        P: Array | Callable[[], Array] | None = None,
        code: Code | None = None,
        *,
        G: Array | None = None,
        single: bool = False,
        risk: float | None = None,
    ) -> None:
        self.labels, self.weight, self.code, self.risk = labels, weight, code, risk
        self.single = single and (code is None or code.gap is not None)
        self._late = P if callable(P) else None
        given = {"P": None if callable(P) else P, "G": G}
        self.__dict__.update({name: array for name, array in given.items() if array is not None})

    @cached
    def P(self) -> Array:
        """The negative gradient with respect to the class scores, (n, K)."""
        assert self._late is not None  # else it was given, or nobody asks
        return self._late()

    @cached
    def G(self) -> Array:
        """The negative gradient with respect to F, (n, d)."""
        assert self.code is not None
        return self.code.back(self.P)
