"""Sums that depend neither on the order of the addends nor on the shards they are cut into; see core/exact.hpp."""

from __future__ import annotations

import numpy as np

from ..._typing import Array


def exact_sum(values: Array, largest: Array, n: int) -> Array:
    """Column sums of (rows, d): every number becomes two integers, whose sums are the same in any order.

    ``largest`` (d,) are the largest |value| of each column over all n rows, of which these may be a part.
    """
    width = min(50, 62 - n.bit_length())  # bits of an integer, such that no sum of n reaches 2^62
    exponent = np.clip(width - np.frexp(largest)[1], -1000, 1000)
    scaled = values * np.ldexp(1.0, exponent)
    hi = np.rint(scaled)
    lo = np.rint((scaled - hi) * 2.0**width)  # the remainder of the number
    high, low = (limb.astype(np.int64).sum(axis=0).astype(np.float64) for limb in (hi, lo))
    return np.ldexp(high, -exponent) + np.ldexp(low, -exponent - width)


def exact_total(values: Array) -> float:
    """The exact sum of values (n,); if one is not finite, an ordinary sum."""
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        return float(values.sum())
    return float(exact_sum(values[:, None], np.array([largest]), len(values))[0])
