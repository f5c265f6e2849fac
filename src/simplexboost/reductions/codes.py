"""From the parameter ``codewords`` to a checked matrix M (K, l) of −1, 0, +1."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import resolve
from .._typing import Array, Mask
from .._warn import warn_user
from ..codewords import CODEWORDS, Codewords, Custom, as_codewords
from ..codewords.checks import check_ternary

# The named codes whose entries are −1, 0, +1 with both signs in every column.
CODES = {name: part for name, part in CODEWORDS.items() if name in (
    "one-vs-all", "all-pairs", "exhaustive", "random-dense", "random-sparse", "hadamard", "bch", "max-hamming"
)}  # fmt: skip


def make_code(codewords: Any, present: Mask, rng: np.random.Generator) -> Array:
    """M (K, l), a row per class; rows of classes that are not present are zero."""
    K, K_present = len(present), int(present.sum())
    part = as_code(codewords)
    part.check()
    if isinstance(part, Custom):
        whole = check_code(part.Y, K)
        rows = check_present_part(whole[present])
    elif K_present < 2:
        rows = np.zeros((K_present, 0))
    elif K_present == 2:
        rows = np.array([[-1.0], [1.0]])  # the only column there is, up to sign: once is enough
    else:
        rows = check_code(part.matrix(K_present, rng), K_present)
    M = np.zeros((K, rows.shape[1]))
    M[present] = rows
    return M


def as_code(codewords: Any) -> Codewords:
    """The part that ``codewords`` names."""
    if isinstance(codewords, list | tuple) or (hasattr(codewords, "__array__") and np.ndim(codewords)):
        return as_codewords(codewords)
    return resolve(codewords, CODES, Codewords, "codewords")


def check_code(M: Any, K: int) -> Array:
    """The code, if it has a row per class, letters −1, 0, +1, both signs in every column and different rows."""
    M = check_ternary(M)
    if len(M) != K:
        raise ValueError(
            f"codewords has {len(M)} rows but there are K={K} classes; pass one row per class, in sorted order, and "
            "name the classes that may be absent in classes=[...]."
        )
    poor = np.flatnonzero((M.max(axis=0) < 1) | (M.min(axis=0) > -1))
    if len(poor):
        raise ValueError(
            f"codewords has columns without both +1 and -1, which separate nothing: {poor[:10].tolist()}; leave them "
            "out."
        )
    opposite = np.abs(M) @ np.abs(M).T - M @ M.T  # (K, K), twice the columns with opposite signs
    np.fill_diagonal(opposite, 1)
    k, l = np.unravel_index(opposite.argmin(), opposite.shape)  # noqa: E741
    if np.array_equal(M[k], M[l]) and k != l:
        raise ValueError(f"codewords has equal rows {k} and {l}; every class needs its own codeword.")
    if opposite.min() == 0:
        warn_user(
            f"no column of codewords has classes {k} and {l} on opposite sides, so nothing is trained to tell them "
            "apart; add a column.",
        )
    return M


def check_present_part(M: Array) -> Array:
    """The rows of the present classes; columns that they leave one-sided are told of."""
    letters = np.abs(M).sum(axis=0)
    one_sided = np.flatnonzero((np.abs(M.sum(axis=0)) == letters) & (letters > 0))
    if len(one_sided):
        warn_user(
            f"columns {one_sided[:10].tolist()} of codewords have training examples on one side only, because classes "
            "are absent; they answer with that side always.",
        )
    return M
