"""Losses of score differences, row by row: the race of the rivals (see `interface.Engine`), the residual, and votes.

The exponential function is written out, and sums are taken in the kernels' order, so that the bits are those of
kernels/losses/race.inl on any machine and with any mathematical library.
"""

from __future__ import annotations

import math

import numpy as np

from ..._typing import AnyArray, Array, Labels

LOG2_E = float.fromhex("0x1.71547652b82fep0")
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")  # ln 2 in two parts
LOWEST = -708.0  # below this the exponential is no normal number and counts as zero
TERMS = 13  # of the Taylor polynomial
LANES = 8


def race(U: Array, c: Labels, rate: float) -> tuple[Array, Array, Array]:
    """E (n, K), its row sums Z (n,) and the true class's leads (n,); see `interface.Engine.race`."""
    rows = np.arange(len(U))
    rivals = np.array(U, dtype=np.float64)
    rivals[rows, c] = -np.inf
    highest = rivals.max(axis=1)  # (n,)
    E = exp_nonpositive(rate * (rivals - highest[:, None]))
    return E, eight_lane_sums(E), U[rows, c] - highest


def race_along(U: Array, c: Labels, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """The race at U + αW: row sums, leads, and the mean and variance of W over the rivals, weighted by E; (n,)."""
    E, Z, lead = race(U + alpha * W, c, rate)
    mean = sequential_sums(E * W) / Z
    variance = sequential_sums(E * np.square(W - mean[:, None])) / Z
    return Z, lead, mean, variance


def pull_rows(E: Array, c: Labels, w: Array, Z: Array) -> None:
    """Turn the E (n, K) of a race into the residual, in place: −w E / Z, and w at the true class."""
    E *= (-w / Z)[:, None]
    E[np.arange(len(E)), c] = w


def vote_rows(P: Array, c: Labels, classes: Labels, up: float, down: float, own: Array) -> None:
    """Update the residual P (n, K), and `own` (n,), its entries at the true classes, for votes for `classes`.

    After a right answer all rivals are multiplied by `down`; after a wrong one the rival that it names, by `up`.
    """
    rows, right = np.arange(len(P)), classes == c
    wrong, rival = rows[~right], classes[~right]
    P[right] *= down
    P[wrong, c[~right]] -= (up - 1.0) * P[wrong, rival]  # P at a rival is minus the rival's weight
    P[wrong, rival] *= up
    own[:] = P[rows, c]


def exp_nonpositive(x: Array) -> Array:
    """exp(x) for x <= 0, to about one unit in the last place: x = k ln 2 + r, and a polynomial in |r| <= ln(2) / 2."""
    clamped = np.maximum(x, LOWEST)
    k = np.rint(clamped * LOG2_E)
    r = (clamped - k * LN2_HIGH) - k * LN2_LOW
    y = np.full(x.shape, 1 / math.factorial(TERMS))
    for term in range(TERMS - 1, -1, -1):
        y = y * r + 1 / math.factorial(term)
    return np.where(x < LOWEST, 0.0, np.ldexp(y, k.astype(np.int32)))


def sequential_sums(values: Array) -> Array:
    """Row sums of (n, m), added from left to right like a loop; `np.sum` may use another order."""
    return np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, -1]


def eight_lane_sums(values: AnyArray) -> Array:
    """Row sums of (n, m) in the order of vector units: eight sums of every eighth number, then these in fixed order."""
    x = [sequential_sums(values[:, lane::LANES]) for lane in range(LANES)]
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]))
