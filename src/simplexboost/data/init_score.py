"""Scores that boosting starts from, as users give them: log-odds, a column per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array

LARGEST = 1e15  # far beyond any log-odds that make sense; products with codewords stay within single precision


def check_init_score(init_score: Any, n: int, K: int, what: str = "init_score") -> Array:
    """The logits 2U (n, K) that boosting starts from, of all classes; for two classes, log-odds (n,) of the second.

    Examples
    --------
    >>> check_init_score([1.0, -2.0], 2, 2)
    array([[-0.5,  0.5],
           [ 1. , -1. ]])
    """
    try:
        if np.iscomplexobj(init_score):
            raise TypeError("they are complex")
        scores = np.asarray(init_score, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{what} must hold numbers: {error}") from error
    accepted = f"({n}, {K})" + (f" or ({n},)" if K == 2 else "")
    if K == 2 and scores.shape in ((n,), (n, 1)):
        scores = scores.reshape(n, 1) * np.array([-0.5, 0.5])
    if scores.shape != (n, K):
        raise ValueError(
            f"{what} has shape {np.shape(init_score)}; pass {accepted}: log-odds with a row per row of X and a column "
            "per class, in the order of classes_."
        )
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
        raise ValueError(f"{what} is not finite in row {row}; all entries must be finite numbers.")
    if np.abs(scores).max(initial=0.0) > LARGEST:
        row = int(np.abs(scores).max(axis=1).argmax())
        raise ValueError(
            f"{what} is {np.abs(scores).max():.3g} in row {row}; log-odds beyond {LARGEST:g} are too large."
        )
    return scores
