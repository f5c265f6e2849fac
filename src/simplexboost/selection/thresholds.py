"""The probability above which a label is predicted: by default ½, or what makes F1 of the label largest.

If probabilities are right, the threshold that makes the expected F1 largest is half of that F1 (Lipton, Elkan and
Naryanaswamy, 2014). The largest F1 is found on rows held out, from how many rows with the label and without it have
scores above each of some cuts. It is one number of many rows, and so it depends less on chance than the cut at which it
is reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..boosting.run import Run

EVEN = 0.5  # the threshold that makes mistakes rarest
FEWEST = 10  # rows with a label, by weight, from which on its threshold is chosen
LOWEST, STEP, N_CUTS = -8.0, 0.125, 129  # the cuts, in log-odds before the temperature


def held_out_counts(run: Run, held: AnyArray) -> Array:
    """The weight of the rows held out without and with each label, by the cuts between which their scores lie.

    Returns
    -------
    array of shape (2, K, N_CUTS + 1)
        In the last axis, scores up to the first cut come first.
    """
    loss: Any = run.loss
    F, weight, own = run.F[held], run.data.weight[held], loss.own(run.data.c[held])  # (h, K), (h,), (h, K)
    n_bins, K = N_CUTS + 1, F.shape[1]
    bins = np.clip(np.ceil((F - LOWEST) / STEP), 0, N_CUTS).astype(np.intp)  # (h, K): scores at a cut are not above it
    place = (own * K + np.arange(K)) * n_bins + bins
    counts: AnyArray = np.bincount(place.ravel(), np.repeat(weight, K), minlength=2 * K * n_bins)
    return counts.reshape(2, K, n_bins)


def best_thresholds(counts: Array) -> Array:
    """The probability (K,) above which each label is to be predicted for the largest F1, from counts (2, K, bins).

    A label that fewer than ten rows have keeps ½: its F1 would be a matter of chance.

    Examples
    --------
    A label that one row in ten has, and of which the scores say nothing, is best predicted always: F1 is then 2/11.

    >>> counts = np.zeros((2, 1, N_CUTS + 1))
    >>> counts[:, 0, 50] = 90.0, 10.0
    >>> best_thresholds(counts).round(4)
    array([0.0909])
    """
    above = counts[:, :, ::-1].cumsum(axis=2)  # (2, K, bins), without and with the label
    have = above[1, :, -1]  # (K,)
    F1 = 2.0 * above[1] / np.maximum(above.sum(axis=0) + have[:, None], np.finfo(float).tiny)
    return np.where(have >= FEWEST, 0.5 * F1.max(axis=1, initial=0.0), EVEN)
