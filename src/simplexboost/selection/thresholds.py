"""The probability above which a label is predicted: by default ½, or what makes F1 of the label largest.

If probabilities are right, the threshold that makes the expected F1 largest is half of that F1 (Lipton, Elkan and
Naryanaswamy, 2014). The largest F1 is found on rows held out, from how many rows with the label and without it have
scores above each of some cuts. It is one number of many rows, and so it depends less on chance than the cut at which it
is reached. Where few rounds have not yet learned how rare a label is, or too many have made scores too sure, the
probabilities of the model are not right. So the same rows tell which score has that probability in truth, by a logistic
regression of the label on the score; it does not matter then which temperature the model has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from .._typing import AnyArray, Array
from ..boosting.run import Run

EVEN = 0.5  # the threshold that makes mistakes rarest
FEWEST = 10  # rows with a label, by weight, from which on its threshold is chosen
LOWEST, STEP, N_CUTS = -8.0, 0.125, 129  # the cuts, in log-odds before the temperature
PULL, FLATTEST = 20.0, 0.2  # how firmly the slope of log-odds in scores is held near 1, and the lowest slope
CLOSE = 1e-9  # when a step of Newton's method is the last


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


def best_thresholds(counts: Array, temperature: Any = 1.0, prior: Any = 0.0) -> Array:
    """The probability (K,) above which each label is to be predicted for the largest F1, from counts (2, K, bins).

    A label that fewer than ten rows have keeps ½: its F1 would be a matter of chance.

    Parameters
    ----------
    counts : those of `held_out_counts`
    temperature : what the finished model multiplies its scores by; a number, or one for each label
    prior : the scores (K,) from which boosting started, which it does not multiply

    Examples
    --------
    A label that one row in ten has, and of which the scores say nothing, is best predicted always.

    >>> counts = np.zeros((2, 1, N_CUTS + 1))
    >>> counts[:, 0, 50] = 90.0, 10.0  # all scores lie between -1.875 and -1.75
    >>> bool(best_thresholds(counts)[0] < expit(-1.875))
    True
    """
    above = counts[:, :, ::-1].cumsum(axis=2)  # (2, K, bins), without and with the label
    have = above[1, :, -1]  # (K,)
    F1 = 2.0 * above[1] / np.maximum(above.sum(axis=0) + have[:, None], np.finfo(float).tiny)
    half = np.where(have >= FEWEST, 0.5 * F1.max(axis=1, initial=0.0), EVEN)  # (K,) probabilities
    slope, start = np.array([fitted_odds(of) for of in counts.transpose(1, 0, 2)]).T  # (K,), (K,)
    cut = np.clip((logit(half) - start) / slope, LOWEST, -LOWEST)  # (K,) log-odds before the temperature
    return np.where(have >= FEWEST, expit(prior + temperature * (cut - prior)), EVEN)


def fitted_odds(counts: Array) -> tuple[float, float]:
    """The numbers a > 0 and b for which a · score + b are the log-odds of a label, from its counts (2, bins).

    A penalty holds a near 1, as if 20 rows of unit variance said so, and b finite where all rows have the label, or
    none: ½ · 20 (a − 1)² + ½ · 0.01 b². Newton's method finds them.
    """
    x, total = LOWEST + STEP * (np.arange(N_CUTS + 1) - 0.5), counts.sum(axis=0)  # (bins,), (bins,)
    penalty, prior = np.array([PULL, 0.01]), np.array([1.0, 0.0])
    features = np.stack([x, np.ones_like(x)])  # (2, bins)

    def value(w: Array) -> float:
        z = w @ features
        return float(total @ np.logaddexp(0.0, z) - counts[1] @ z + 0.5 * penalty @ np.square(w - prior))

    w = prior
    for _ in range(50):
        p = expit(w @ features)
        slope = features @ (total * p - counts[1]) + penalty * (w - prior)
        bend = (features * (total * p * (1.0 - p))) @ features.T + np.diag(penalty)
        step, before = np.linalg.solve(bend, slope), value(w)
        while value(w - step) > before and np.abs(step).max() > CLOSE:
            step = step / 2.0
        w = w - step
        if np.abs(step).max() <= CLOSE:
            break
    return max(float(w[0]), FLATTEST), float(w[1])
