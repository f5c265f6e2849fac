"""Weak-learning conditions (Mukherjee and Schapire, 2013): how little a weak classifier must cost on each cost matrix.

A condition has a cone of cost matrices C (n, K), given by the generators of their rows, and a baseline B (n, K) of
probabilities or votes. It holds if for every C in the cone some weak classifier costs at most Σ_ik C_ik B_ik. The
larger the edge γ, the harder the baseline is to beat. The true class comes first in every row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import Array, Labels
from .._util.docstrings import described
from .._util.params import check_choice


@dataclass(frozen=True, eq=False)
class Condition:
    """A weak-learning condition: on every cost matrix of a cone, some weak classifier costs no more than a baseline.

    `CONDITIONS` has the conditions of the paper by name; γ is the edge:

    - "samme": less error than random guessing, for any sample weights. It is too weak for boosting.
    - "m1": error at most 1/2 − γ/2, for any sample weights. It is stronger than boosting needs.
    - "mh": error at most 1/2 − γ/2 on all questions "is the class k?". For classifiers that predict one class it is
      equivalent to "m1".
    - "mr": an edge over every wrong class, for any weights of (example, wrong class) pairs. A space of weak classifiers
      meets it if and only if some weighted vote is right on all examples, with margin γ. The baseline is ±γ/2, as in
      section 3.
    - "uniform": cheaper than guessing from the distribution `uniform_baseline`. Sufficient for boosting, not necessary.
    - "minimal": cheaper than the most expensive distribution that gives the true class at least γ more than any other
      class, (13). The baseline may therefore change with the cost matrix. Necessary and sufficient, like "mr".

    Parameters
    ----------
    name : str
        The name of the condition.
    generators : callable
        A function of K that returns cost rows (g, K), the true class first, whose g rows generate the cone.
    baseline : callable
        A function of K and γ that returns the baseline's row (K,), or a row per example (n, K), affine in γ.
    enough_for : str, default=""
        The boosters for which the condition is sufficient, as text.

    Examples
    --------
    >>> from simplexboost.theory import CONDITIONS
    >>> CONDITIONS["m1"].generators(3), CONDITIONS["m1"].baseline(3, 0.5)
    (array([[-1.,  1.,  1.]]), array([0.5, 0. , 0. ]))
    """

    name: str
    generators: Callable[[int], Array]
    baseline: Callable[[int, float], Array]
    enough_for: str = ""

    def allowed(self, C: Array, edge: float) -> Array:
        """Return the largest cost (n,) that the condition allows on each row of costs C (n, K), true class first."""
        if self.name == "minimal":
            return worst_baseline_cost(C, edge)[0]
        return (C * self.baseline(C.shape[1], edge)).sum(axis=1)

    def __repr__(self) -> str:
        return f"Condition({self.name!r})"


def worst_baseline_cost(C: Array, edge: float) -> tuple[Array, Labels]:
    """Return the cost of the most expensive baseline for each row of C (m, K), and among how many classes it guesses.

    The first column of C is the true class. A baseline is a distribution: it takes the true class with probability
    `edge`; otherwise it guesses uniformly among the true class and the a − 1 most expensive wrong classes. The number
    a, 2 .. K, maximises the cost; ties go to the larger a.
    """
    wrong = -np.sort(-C[:, 1:], axis=1)  # (m, K-1), the most expensive first
    means = (C[:, :1] + np.cumsum(wrong, axis=1)) / np.arange(2, C.shape[1] + 1)  # (m, K-1)
    best = means.shape[1] - 1 - means[:, ::-1].argmax(axis=1)
    return edge * C[:, 0] + (1 - edge) * means[np.arange(len(C)), best], best + 2


@described
def uniform_baseline(K: int, edge: float) -> Array:
    """Return the distribution (K,) with (1 − edge)/K everywhere, and `edge` more on the true class, which is first.

    Examples
    --------
    >>> uniform_baseline(4, 0.2)
    array([0.4, 0.2, 0.2, 0.2])
    """
    return two_levels((1 - edge) / K + edge, (1 - edge) / K, K)


def two_levels(true: float, wrong: float, K: int) -> Array:
    """Return a row (K,) with `true` for the true class, which is first, and `wrong` for all other classes."""
    return np.array([true] + [wrong] * (K - 1))


MR = Condition(
    "mr",
    lambda K: np.eye(K)[1:] - np.eye(K)[0],
    lambda K, edge: two_levels(edge / 2, -edge / 2, K),
    "AdaBoost.MR, AdaBoost.M2, AdaBoost.MM",
)
UNIFORM = Condition("uniform", lambda K: np.eye(K)[1:], uniform_baseline, "OSBoost(condition='uniform')")

CONDITIONS: dict[str, Condition] = {
    condition.name: condition
    for condition in (
        Condition(
            "samme", lambda K: two_levels(0.0, 1.0, K)[None], uniform_baseline, "SAMME (but it is not sufficient)"
        ),
        Condition(
            "m1", lambda K: two_levels(-1.0, 1.0, K)[None], lambda K, edge: two_levels(edge, 0.0, K), "AdaBoost.M1"
        ),
        Condition(
            "mh",
            lambda K: np.diag(two_levels(-1.0, 1.0, K)),
            lambda K, edge: two_levels(0.5 + edge / 2, 0.5 - edge / 2, K),
            "AdaBoost.MH",
        ),
        MR,
        UNIFORM,
        Condition("minimal", MR.generators, MR.baseline, "AdaBoost.MM, OSBoost(condition='minimal')"),
    )
}


def as_condition(value: Any) -> Condition:
    """Return the `Condition` for a name, a `Condition`, or a baseline distribution (K,) or (n, K), true class first."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, str):
        check_choice("condition", value, CONDITIONS)
        return CONDITIONS[value]
    b = check_baseline(value, 2)
    edges = b[..., 0] - b[..., 1:].max(axis=-1)
    own = float(edges.min())
    if np.ptp(edges) > 1e-9:
        raise ValueError(f"b has rows with edges from {own:.4g} to {edges.max():.4g}; all must have the same edge.")
    q = np.broadcast_to(np.eye(b.shape[-1])[0], b.shape)  # b = (1−γ) q + γ e₁, so that γ can be varied with the same q
    if own < 1:
        q = (b - own * q) / (1 - own)

    def baseline(K: int, edge: float) -> Array:
        if q.shape[-1] != K:
            raise ValueError(f"b has {q.shape[-1]} entries; with {K} classes it must have {K}.")
        return (1 - edge) * q + edge * np.eye(K)[0]

    return Condition("edge over random", UNIFORM.generators, baseline, "OSBoost with this baseline")


def check_baseline(b: Any, max_ndim: int = 1) -> Array:
    """Return `b` as an array; raise unless it holds distributions whose first entry (the true class) is largest."""
    try:
        b = np.array(b, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"b={b!r} is not an array of numbers; it must be a distribution over K >= 2 classes."
        ) from None
    if not 1 <= b.ndim <= max_ndim or b.shape[-1] < 2:
        raise ValueError(f"b has shape {b.shape}; it must be a distribution over K >= 2 classes, the true class first.")
    if not (np.isfinite(b).all() and (b >= 0).all() and np.allclose(b.sum(axis=-1), 1, atol=1e-9)):
        raise ValueError(f"b={b.tolist()} must be a distribution: entries not negative, with sum 1.")
    if (b[..., 0] - b[..., 1:].max(axis=-1)).min() < -1e-12:
        raise ValueError(
            f"b={b.tolist()} has no edge over random: its first entry, the true class, must be the largest."
        )
    return b
