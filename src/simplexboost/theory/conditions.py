"""Weak-learning conditions (Mukherjee and Schapire, 2013): every cost matrix C of a cone has an h with C • 1_h ≤ C • B.

A condition is a cone of cost matrices, given by the generators of its rows, and a baseline B_γ that is harder to beat
the larger the edge γ is. The true class comes first in every row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._util.arrays import Array, Labels
from .._util.compat import cached
from .._util.docstrings import described as completed
from .._util.params import check_choice

T = TypeVar("T", bound=Any)

# Descriptions of parameters that many functions of this folder share; see `described`.
SHARED = """\
H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
    The weak classifiers: a matrix of the labels that they predict (a column for each), fitted classifiers that predict
    from X, or a fitted booster of this package, whose weak classifiers are used.
y : array of shape (n,) or None, default=None
    The true labels; a `Space` already has them.
X : array of shape (n, p) or None, default=None
    The features, from which classifiers predict.
classes : int, sequence of labels or None, default=None
    All classes: their number K if labels are 0 .. K−1, or the labels. None takes those that occur in H or y.
condition : str, array of shape (K,) or Condition, default="mr"
    The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
    true class first, or a `Condition`.
K : int
    The number of classes.
T : int
    The number of rounds.
t : int
    The number of rounds to go, which are the steps of a walk.
b : array of shape (K,)
    The baseline, a distribution whose first entry, the true class, is the largest; see `uniform_baseline`.
edge : float
    γ in [0, 1], the edge over guessing.
s : array of shape (K,) or (m, K), or None, default=None
    The states: votes so far, the true class first. None is the state before the first vote.
loss : {"zero-one", "exponential"} or callable, default="zero-one"
    The loss of the final state. A function takes states (m, K) and returns losses (m,); it must be proper.
eta : float, "best" or None, default=None
    The weight of a vote in the exponential loss. None is ln(1 + γ); "best" is `best_eta`, for fixed baselines only.
radius : int or None, default=None
    The pixels go from −radius to radius; None is t.
F : array of shape (n, K)
    The weighted votes.
c : array of shape (n,)
    The true classes.
n_walks : int, default=1000
    The number of walks.
random_state : int, Generator or None, default=None
    The seed of all random numbers.
n_threads : int, default=1
    The number of threads.
ax : matplotlib Axes or None, default=None
    Where to draw; None makes a new figure.
axes : list of matplotlib Axes or None, default=None
    Where to draw, one for every panel; None makes a new figure.
"""


def described(thing: T) -> T:
    """Add the descriptions of shared parameters to a docstring; a decorator, see `_util.docstrings`."""
    return completed(thing, SHARED)


class Condition(ABC):
    """A weak-learning condition (C, B): on no cost matrix of the cone C may a learner cost more than the baseline B.

    A subclass defines `generators` and `baseline`. Rows have the true class first, and the baseline is affine in γ.

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
        """Return the rays of the cone of cost rows, (g, K)."""

    @abstractmethod
    def baseline(self, K: int, edge: float) -> Array:
        """Return the baseline's row, (K,), or rows, (n, K)."""

    def allowed(self, C: Array, edge: float) -> Array:
        """Return the largest cost allowed on each row of costs C (n, K), true class first: ⟨C_i, B_i⟩, (n,)."""
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
        return np.array([[0.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
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
        return np.array([[-1.0] + [1.0] * (K - 1)])

    def baseline(self, K: int, edge: float) -> Array:
        return np.array([edge] + [0.0] * (K - 1))


class MH(Condition):
    """AdaBoost.MH's condition: error at most 1/2 − γ/2 on all questions "is it class l?".

    For classifiers that name one class it is equivalent to `M1`.

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
        return np.vstack([-np.eye(K)[0], np.eye(K)[1:]])

    def baseline(self, K: int, edge: float) -> Array:
        return np.array([0.5 + edge / 2] + [0.5 - edge / 2] * (K - 1))


class MR(Condition):
    """AdaBoost.MR's condition: an edge over every wrong class, under any weights of (example, wrong class) pairs.

    A space of weak classifiers meets it if and only if it is boostable, with margin γ. The baseline is ±γ/2, as in
    section 3 of the paper; section 4.2 has ±γ.

    Examples
    --------
    >>> from simplexboost.theory import example, largest_edge
    >>> round(largest_edge(example("windows"), condition=MR()), 6)
    0.166667
    """

    name = "mr"
    admits = "AdaBoost.MR, AdaBoost.M2, AdaBoost.MM"

    def generators(self, K: int) -> Array:
        rivals = np.eye(K)[1:]
        rivals[:, 0] = -1.0
        return rivals

    def baseline(self, K: int, edge: float) -> Array:
        return np.array([edge / 2] + [-edge / 2] * (K - 1))


@dataclass(frozen=True, eq=False)
class EdgeOverRandom(Condition):
    """Cheaper than guessing according to b, a distribution with γ more on the true label than on any other.

    Parameters
    ----------
    b : array of shape (K,) or (n, K)
        Distributions with the true class first. They are written as (1−γ) q + γ e₁, so that `largest_edge` can find
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
        """Split b into q and γ."""
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
        return np.eye(K)[1:]  # wrong labels cost at least as much as the true one; constants change nothing

    def baseline(self, K: int, edge: float) -> Array:
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
        return np.eye(K)[1:]

    def baseline(self, K: int, edge: float) -> Array:
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
        return worst_baseline_cost(C, edge)[0]


def worst_baseline_cost(C: Array, edge: float) -> tuple[Array, Labels]:
    """Return the cost and the degree of the most expensive edge-over-random baseline, for each row of costs (m, K).

    The cost is γ c₁ + (1−γ) max_a mean(c₁ and the a−1 largest other costs), where the true class comes first. The
    degree a, 2 .. K, is the number of labels among which the baseline guesses; ties go to the larger one.
    """
    rivals = -np.sort(-C[:, 1:], axis=1)  # (m, K-1), the most expensive first
    means = (C[:, :1] + np.cumsum(rivals, axis=1)) / np.arange(2, C.shape[1] + 1)  # (m, K-1)
    best = means.shape[1] - 1 - means[:, ::-1].argmax(axis=1)
    return edge * C[:, 0] + (1 - edge) * means[np.arange(len(C)), best], best + 2


@described
def uniform_baseline(K: int, edge: float) -> Array:
    """Return the γ-biased uniform distribution (K,): (1−γ)/K everywhere and γ more on the true class, which is first.

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


CONDITIONS: dict[str, type[Condition]] = {
    "samme": SAMME,
    "m1": M1,
    "mh": MH,
    "mr": MR,
    "uniform": Uniform,
    "minimal": Minimal,
}


def as_condition(value: Any) -> Condition:
    """Return a condition from its name, from a `Condition`, or from an edge-over-random baseline b.

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
