"""Weak-learning conditions (Mukherjee and Schapire, 2013): every cost matrix C of a cone has an h with C • 1_h ≤ C • B.

A condition is a cone of cost matrices, given by the generators of its rows, and a baseline B_γ that is harder to beat
the larger the edge γ is. The true class comes first in every row.
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
    """A weak-learning condition (C, B): on no cost matrix of the cone C may a learner cost more than the baseline B.

    `CONDITIONS` holds those of the paper by their names:

    - "samme": less error than random guessing under any weights of examples. It is too weak for boosting.
    - "m1": error at most 1/2 − γ/2 under any weights of examples. It is too strong.
    - "mh": error at most 1/2 − γ/2 on all questions "is it class l?". For classifiers that name one class it is
      equivalent to "m1".
    - "mr": an edge over every wrong class, under any weights of (example, wrong class) pairs. A space of weak
      classifiers meets it if and only if it is boostable, with margin γ. The baseline is ±γ/2, as in section 3 of the
      paper; section 4.2 has ±γ.
    - "uniform": cheaper than guessing according to the γ-biased uniform distribution. It is sufficient for boosting,
      but not necessary.
    - "minimal", (13): cheaper than the most expensive of all edge-over-random baselines, necessary and sufficient like
      "mr". It is not a pair (C, B), since the baseline may change with C. A space meets it with the same edges as "mr",
      because votes of margin γ are such a baseline themselves, and on a cost matrix of MR's cone no such baseline costs
      more than MR allows.

    Parameters
    ----------
    name : str
        The name.
    generators : callable
        A function of K that returns the rays (g, K) of the cone of cost rows, the true class first.
    baseline : callable
        A function of K and γ that returns the baseline's row (K,) or rows (n, K), affine in γ.
    enough_for : str, default=""
        The boosters for which the condition is sufficient.

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
        """Return the largest cost allowed on each row of costs C (n, K), true class first: ⟨C_i, B_i⟩, (n,)."""
        if self.name == "minimal":
            return worst_baseline_cost(C, edge)[0]
        return (C * self.baseline(C.shape[1], edge)).sum(axis=1)

    def __repr__(self) -> str:
        return f"Condition({self.name!r})"


def worst_baseline_cost(C: Array, edge: float) -> tuple[Array, Labels]:
    """Return the cost and the degree of the most expensive edge-over-random baseline, for each row of costs (m, K).

    The cost is γ c₁ + (1−γ) max_a mean(c₁ and the a−1 largest other costs), where the true class comes first. The
    degree a, 2 .. K, is the number of labels among which the baseline guesses; ties go to the larger one.
    """
    wrong = -np.sort(-C[:, 1:], axis=1)  # (m, K-1), the most expensive first
    means = (C[:, :1] + np.cumsum(wrong, axis=1)) / np.arange(2, C.shape[1] + 1)  # (m, K-1)
    best = means.shape[1] - 1 - means[:, ::-1].argmax(axis=1)
    return edge * C[:, 0] + (1 - edge) * means[np.arange(len(C)), best], best + 2


@described
def uniform_baseline(K: int, edge: float) -> Array:
    """Return the γ-biased uniform distribution (K,): (1−γ)/K everywhere and γ more on the true class, which is first.

    Examples
    --------
    >>> uniform_baseline(4, 0.2)
    array([0.4, 0.2, 0.2, 0.2])
    """
    return two_levels((1 - edge) / K + edge, (1 - edge) / K, K)


def two_levels(true: float, wrong: float, K: int) -> Array:
    """Return a row (K,) with one value for the true class and another for all wrong ones."""
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
    """Return a condition from its name, from a `Condition`, or from an edge-over-random baseline b, (K,) or (n, K)."""
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
    """Return ``b`` as an array; raise ValueError unless it holds edge-over-random distributions, true class first."""
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
