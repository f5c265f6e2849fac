"""Weak-learning conditions (Mukherjee and Schapire, 2013): every cost matrix C of a cone has an h with C • 1_h ≤ C • B.

A condition is a cone of cost matrices, given by the generators of its rows, and a baseline B_γ that is harder to beat
the larger the edge γ is. The true class comes first in every row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._util.arrays import Array, Labels
from .._util.compat import cached
from .._util.params import check_choice


class Condition(ABC):
    """A weak-learning condition (C, B): on no cost matrix of the cone C may a learner cost more than the baseline B.

    A subclass writes `generators` and `baseline`. Rows have the true class first, and the baseline is affine in γ.

    Examples
    --------
    >>> M1().generators(3)
    array([[-1.,  1.,  1.]])
    >>> M1().baseline(3, 0.5)
    array([0.5, 0. , 0. ])
    """

    name: ClassVar[str]
    admits: ClassVar[str] = ""  # the boosters for which it is sufficient

    @abstractmethod
    def generators(self, K: int) -> Array:
        """The rays of the cone of cost rows, (g, K)."""

    @abstractmethod
    def baseline(self, K: int, edge: float) -> Array:
        """The baseline's row, (K,), or rows, (n, K); affine in the edge."""

    def allowed(self, C: Array, edge: float) -> Array:
        """What each row of costs C (n, K), true class first, may cost: ⟨C_i, B_i⟩, (n,)."""
        return (C * self.baseline(C.shape[1], edge)).sum(axis=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SAMME(Condition):
    """SAMME's condition: less error than random guessing under any weights of examples. It is too weak for boosting.

    Examples
    --------
    >>> from simplexboost.theory import example, is_boostable, largest_edge
    >>> round(largest_edge(example("samme"), condition=SAMME()), 6), is_boostable(example("samme"))
    (0.25, False)
    """

    name = "samme"
    admits = "SAMME (but it is not sufficient)"

    def generators(self, K: int) -> Array:
        """Every wrong label costs the same."""
        return np.array([[0.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
        """The γ-biased uniform distribution."""
        return uniform_baseline(K, edge)


class M1(Condition):
    """AdaBoost.M1's condition: error at most 1/2 − γ/2 under any weights of examples. It is too strong.

    Examples
    --------
    >>> M1().baseline(3, 0.5)
    array([0.5, 0. , 0. ])
    """

    name = "m1"
    admits = "AdaBoost.M1"

    def generators(self, K: int) -> Array:
        """−1 for the true label, 1 for any other."""
        return np.array([[-1.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
        """γ on the true label."""
        return np.array([edge] + [0.0] * (K - 1))


class MH(Condition):
    """AdaBoost.MH's condition: error at most 1/2 − γ/2 on all questions "is it class l?".

    For classifiers that name one class it is the same as `M1`.

    Examples
    --------
    >>> from simplexboost.theory import largest_edge
    >>> H, y = [[0, 0, 1], [1, 0, 1], [0, 1, 1]], [0, 1, 1]  # three classifiers, each wrong once
    >>> round(largest_edge(H, y, MH()), 6)
    0.333333
    """

    name = "mh"
    admits = "AdaBoost.MH"

    def generators(self, K: int) -> Array:
        """One generator per label: costs ≥ 0 for each wrong label, ≤ 0 for the true one."""
        return np.vstack([-np.eye(K)[0], np.eye(K)[1:]])

    def baseline(self, K: int, edge: float) -> Array:
        """½ ± γ/2."""
        return np.array([0.5 + edge / 2] + [0.5 - edge / 2] * (K - 1))


class MR(Condition):
    """AdaBoost.MR's condition: an edge over every rival class, under any weights of (example, rival) pairs.

    A space of weak classifiers meets it if and only if it is boostable, with margin γ.

    Examples
    --------
    >>> from simplexboost.theory import example, largest_edge
    >>> round(largest_edge(example("windows"), condition=MR()), 6)
    0.166667
    """

    name = "mr"
    admits = "AdaBoost.MR, AdaBoost.M2, AdaBoost.MM"

    def generators(self, K: int) -> Array:
        """A rival costs 1, the true label −1."""
        rivals = np.eye(K)[1:]
        rivals[:, 0] = -1.0
        return rivals

    def baseline(self, K: int, edge: float) -> Array:
        """±γ/2, as in section 3 of the paper (its section 4.2 has ±γ)."""
        return np.array([edge / 2] + [-edge / 2] * (K - 1))


@dataclass(frozen=True, eq=False)
class EdgeOverRandom(Condition):
    """Cheaper than guessing according to b, a distribution with γ more on the true label than on any other.

    Parameters
    ----------
    b : array of shape (K,) or (n, K)
        Distributions with the true class first. They are written as (1−γ) q + γ e₁, so that `largest_edge` can ask for
        the largest γ with the same q.

    Examples
    --------
    >>> EdgeOverRandom([0.5, 0.25, 0.25]).baseline(3, 0.25)
    array([0.5 , 0.25, 0.25])
    """

    b: Any

    name: ClassVar[str] = "edge-over-random"
    admits: ClassVar[str] = "OSBoost with this baseline"

    def __post_init__(self) -> None:
        self.parts  # noqa: B018 (checks b)

    @cached
    def parts(self) -> tuple[Array, float]:
        """q and γ."""
        b = check_baseline(self.b, 2)
        edges = b[..., 0] - b[..., 1:].max(axis=-1)
        edge = float(edges.min())
        if np.ptp(edges) > 1e-9:
            raise ValueError(
                f"b has rows with edges from {edge:.4g} to {edges.max():.4g}; all must have the same edge."
            )
        if edge >= 1:
            return np.broadcast_to(np.eye(b.shape[-1])[0], b.shape), 1.0
        q = b / (1 - edge)
        q[..., 0] -= edge / (1 - edge)
        return q, edge

    def generators(self, K: int) -> Array:
        """Wrong labels cost at least as much as the true one; constants are left out, since they change nothing."""
        return np.eye(K)[1:]

    def baseline(self, K: int, edge: float) -> Array:
        """(1−γ) q + γ e₁."""
        q, _ = self.parts
        if q.shape[-1] != K:
            raise ValueError(f"b has {q.shape[-1]} entries; with {K} classes it must have {K}.")
        return (1 - edge) * q + edge * np.eye(K)[0]

    def __repr__(self) -> str:
        return f"EdgeOverRandom(b={np.asarray(self.b).tolist()})"


class Uniform(Condition):
    """Cheaper than guessing according to the γ-biased uniform distribution: sufficient for boosting, not necessary.

    Examples
    --------
    >>> Uniform().baseline(4, 0.2)
    array([0.4, 0.2, 0.2, 0.2])
    """

    name = "uniform"
    admits = "OSBoost(condition='uniform')"

    def generators(self, K: int) -> Array:
        """Wrong labels cost at least what the true one costs."""
        return np.eye(K)[1:]

    def baseline(self, K: int, edge: float) -> Array:
        """The γ-biased uniform distribution."""
        return uniform_baseline(K, edge)


class Minimal(MR):
    """(13): cheaper than the most expensive of all edge-over-random baselines; necessary and sufficient, like `MR`.

    It is not a pair (C, B), since the baseline may change with C. A space meets it with the same edges as MR, because
    votes of margin γ are such a baseline themselves, and on a cost matrix of MR's cone no such baseline costs more than
    MR allows.

    Examples
    --------
    >>> from simplexboost.theory import example, largest_edge
    >>> round(largest_edge(example("windows"), condition=Minimal()), 6)
    0.166667
    """

    name = "minimal"
    admits = "AdaBoost.MM, OSBoost(condition='minimal')"

    def allowed(self, C: Array, edge: float) -> Array:
        """max_B ⟨C_i, B_i⟩ = γ c₁ + (1−γ) max_a mean(c₁ and the a−1 largest other costs), (n,)."""
        return worst_baseline_cost(C, edge)[0]


def worst_baseline_cost(C: Array, edge: float) -> tuple[Array, Labels]:
    """The most expensive edge-over-random baseline for each row of costs (m, K), true class first: cost and degree.

    The degree is the number of labels among which it guesses, 2 .. K; ties go to the larger one.
    """
    rivals = -np.sort(-C[:, 1:], axis=1)  # (m, K-1), the most expensive first
    means = (C[:, :1] + np.cumsum(rivals, axis=1)) / np.arange(2, C.shape[1] + 1)  # (m, K-1)
    best = means.shape[1] - 1 - means[:, ::-1].argmax(axis=1)
    return edge * C[:, 0] + (1 - edge) * means[np.arange(len(C)), best], best + 2


def uniform_baseline(K: int, edge: float) -> Array:
    """The γ-biased uniform distribution (K,): (1−γ)/K everywhere and γ more on the true class, which comes first.

    Parameters
    ----------
    K : int
        The number of classes.
    edge : float
        γ in [0, 1], the edge over guessing.

    Returns
    -------
    array of shape (K,)
        The distribution.

    Examples
    --------
    >>> uniform_baseline(4, 0.2)
    array([0.4, 0.2, 0.2, 0.2])
    """
    b = np.full(K, (1 - edge) / K)
    b[0] += edge
    return b


def check_baseline(b: Any, max_ndim: int = 1) -> Array:
    """``b`` as an array of edge-over-random distributions, the true class first; raise where it is none."""
    try:
        b = np.array(b, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"b={b!r} is no array of numbers; it must be a distribution over K >= 2 classes.") from None
    if not 1 <= b.ndim <= max_ndim or b.shape[-1] < 2:
        raise ValueError(f"b has shape {b.shape}; it must be a distribution over K >= 2 classes, the true class first.")
    if not (np.isfinite(b).all() and (b >= 0).all() and np.allclose(b.sum(axis=-1), 1, atol=1e-9)):
        raise ValueError(f"b={b.tolist()} must be a distribution: entries not negative, with sum 1.")
    if (b[..., 0] - b[..., 1:].max(axis=-1)).min() < -1e-12:
        raise ValueError(
            f"b={b.tolist()} has no edge over random: its first entry, the true class, must be the largest."
        )
    return b


CONDITIONS: dict[str, type[Condition]] = {
    "samme": SAMME,
    "m1": M1,
    "mh": MH,
    "mr": MR,
    "uniform": Uniform,
    "minimal": Minimal,
}


def as_condition(value: Any) -> Condition:
    """A condition from its name, from itself, or from an edge-over-random baseline b.

    Examples
    --------
    >>> as_condition("mr"), as_condition([0.5, 0.25, 0.25])
    (MR(), EdgeOverRandom(b=[0.5, 0.25, 0.25]))
    """
    if isinstance(value, Condition):
        return value
    if isinstance(value, str):
        check_choice("condition", value, CONDITIONS)
        return CONDITIONS[value]()
    return EdgeOverRandom(value)
