"""The scores at the top of the page, each with an interval.

Shares of rows have Wilson's interval, and so has the balanced accuracy, with the number of rows that would tell as much
if all classes had equally many. The log-loss has the 95 % interval of a bootstrap: the rows of the report are drawn
again with replacement. That of many rows has a normal interval instead, which by then is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..inspection import wilson
from .evaluated import Evaluated

DRAWS = 1000  # bootstrap samples
MANY = 20_000  # rows beyond which the mean is as good as normal, and 1000 samples would take longer than a second
TINY = 1e-15  # probabilities are at least this in the log-loss, which is otherwise infinite
TOP = 5


def headline(rows: Evaluated) -> list[dict[str, Any]]:
    """The scores by name, each with the ends of its interval."""
    scores = [
        share("accuracy", "Accuracy", rows.right, "The share of rows for which the predicted class is right."),
        balanced(rows),
    ]
    if rows.P is not None:
        if rows.K > TOP:
            scores.append(top_share(rows))
        scores.append(log_loss(rows))
    return scores


def share(name: str, title: str, hit: Any, about: str) -> dict[str, Any]:
    """A share of rows, with Wilson's interval."""
    low, high = wilson(int(hit.sum()), len(hit)).tolist()
    return entry(name, title, float(hit.mean()), low, high, "share", about)


def top_share(rows: Evaluated) -> dict[str, Any]:
    """How often the class is among the most probable ones."""
    assert rows.P is not None
    own = rows.P[np.arange(rows.n), rows.c][:, None]
    before = np.arange(rows.K) < rows.c[:, None]  # of equally probable classes the first ones count, as in `predict`
    hit = ((rows.P > own) | ((rows.P == own) & before)).sum(axis=1) < TOP
    about = f"The share of rows whose class is among the {TOP} most probable ones."
    return share("top_5_accuracy", f"Top-{TOP} accuracy", hit, about)


def balanced(rows: Evaluated) -> dict[str, Any]:
    """The mean recall over the classes that have rows.

    If all C recalls were p, the variance of their mean would be p(1 − p)/m with m = C²/Σ 1/n_k, and m is the number of
    rows if all classes have equally many. Where recalls differ the interval is a little too wide. A bootstrap within
    the classes would have no width where the few rows of each class are all right.
    """
    support = np.bincount(rows.c, minlength=rows.K)
    correct = np.bincount(rows.c[rows.right], minlength=rows.K)
    here = support > 0
    value = float((correct[here] / support[here]).mean())
    m = here.sum() ** 2 / (1 / support[here]).sum()
    low, high = wilson(m * value, m).tolist()
    about = "The mean of the recalls of all classes, so that rare classes count as much as frequent ones."
    return entry("balanced_accuracy", "Balanced accuracy", value, low, high, "share", about)


def log_losses(rows: Evaluated) -> Array:
    """−log of the probability of the row's class, (n,)."""
    assert rows.P is not None
    return -np.log(np.maximum(rows.P[np.arange(rows.n), rows.c], TINY))


def log_loss(rows: Evaluated) -> dict[str, Any]:
    """The mean log-loss, with the interval of a bootstrap."""
    losses = log_losses(rows)
    low, high = normal_interval(losses) if rows.n > MANY else bootstrap_interval(losses)
    guess = np.log(rows.K)
    about = f"The mean of −log p for the row's class; smaller is better. Guessing at random would give {guess:.2f}."
    return entry("log_loss", "Log-loss", float(losses.mean()), low, high, "number", about)


def normal_interval(values: Array) -> tuple[float, float]:
    """The mean of many values, and 1.96 standard errors on both sides."""
    mean, error = float(values.mean()), float(values.std()) / np.sqrt(len(values))
    return mean - 1.96 * error, mean + 1.96 * error


def bootstrap_interval(values: Array) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn with replacement."""
    rng, n = np.random.default_rng(0), len(values)
    step = max(1, 2**22 // n)  # samples at a time: 32 MB of numbers of rows
    means = [
        values[rng.integers(0, n, size=(min(step, DRAWS - done), n))].mean(axis=1) for done in range(0, DRAWS, step)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975]).tolist()
    return low, high


def entry(name: str, title: str, value: float, low: float, high: float, unit: str, about: str) -> dict[str, Any]:
    """One score."""
    return {"name": name, "title": title, "value": value, "low": low, "high": high, "unit": unit, "about": about}
