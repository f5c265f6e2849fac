"""Conformal prediction sets, P (n, K) → a boolean matrix (n, K), that hold the true class with a given probability.

The score of a class in a row is the probability of all classes that are more probable in that row,

    s_k = Σ {p_j : p_j > p_k},

so the most probable class has score 0. From labelled rows that the model was not trained on comes a threshold q that
most scores of true classes do not exceed. The set of a new row is {k : s_k ≤ q}: classes from the most probable one on
until their probabilities add up to more than q. This is the score of adaptive prediction sets (Romano, Sesia and
Candès, 2020) without the probability of the class itself, so no set is empty, and no random number is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.params import check_flag
from ..persist import check_layout, damaged

HELD_OUT = "rows held out by the choice"
FRESH = "fresh rows"
SOURCES = (HELD_OUT, FRESH)


def class_scores(P: Array) -> Array:
    """The probability of all classes that are more probable, for every class of every row, (n, K).

    Classes of equal probability have equal scores, whatever their order.

    Examples
    --------
    >>> class_scores(np.array([[0.5, 0.2, 0.3], [0.4, 0.4, 0.2]]))
    array([[0. , 0.8, 0.5],
           [0. , 0. , 0.8]])
    """
    order = np.argsort(-P, axis=1, kind="stable")
    ranked = np.take_along_axis(P, order, axis=1)  # (n, K), descending
    above = np.zeros_like(ranked)
    np.cumsum(ranked[:, :-1], axis=1, out=above[:, 1:])
    above[:, 1:][ranked[:, 1:] == ranked[:, :-1]] = 0.0  # a class that ties with the one before has the score of it
    out = np.empty_like(above)
    np.put_along_axis(out, order, np.maximum.accumulate(above, axis=1), axis=1)
    return out


def own_scores(P: Array, c: Labels) -> Array:
    """The score of every row's own class, (n,): that of `class_scores`, bit for bit, without sorting all classes."""
    own = P[np.arange(len(P)), c]
    return np.array([added_up(p[p > q]) for p, q in zip(P, own, strict=True)])


def added_up(p: Array) -> float:
    """The sum of probabilities, from the largest to the smallest."""
    return float(np.cumsum(np.sort(p)[::-1])[-1]) if len(p) else 0.0


@dataclass(frozen=True, eq=False)
class SetScores:
    """The scores of the true classes of some rows that the model was not trained on; sets of classes come from them.

    Attributes
    ----------
    score : array of shape (m,)
        The probability of all classes that were more probable than the true one, ascending.
    c : int array of shape (m,)
        The number of the true class.
    n_classes : int
        The number of classes, K.
    weight : array of shape (m,) or None
        What each row counts; None counts every row once.
    source : str
        "rows held out by the choice" or "fresh rows".
    n_rounds : int
        The rounds of the model that they are for.

    Examples
    --------
    >>> scores = SetScores.of(np.array([0.0, 0.6, 0.0]), np.array([0, 1, 1]), 2)
    >>> scores.thresholds(0.5), scores.thresholds(0.9)
    (array([0., 0.]), array([inf, inf]))
    """

    score: Array
    c: Labels
    n_classes: int
    weight: Array | None = None
    source: str = HELD_OUT
    n_rounds: int = 0

    @classmethod
    def of(cls, score: Array, c: Labels, n_classes: int, weight: Array | None = None, **about: Any) -> SetScores:
        """The scores in an order of their own, so that that of the rows does not matter."""
        keys = (c, score) if weight is None else (weight, c, score)
        order = np.lexsort(keys)
        weight = None if weight is None or (weight == weight[0]).all() else weight[order]
        return cls(score[order], c[order], n_classes, weight, **about)

    def of_model(self, present: Mask, n_rounds: int) -> SetScores:
        """The same scores for a model of so many rounds, its classes numbered among all (K,), absent ones included."""
        return replace(self, c=np.flatnonzero(present)[self.c], n_classes=len(present), n_rounds=n_rounds)

    def thresholds(self, coverage: float, per_class: bool = False) -> Array:
        """The largest score with which a class is in the set, for every class, (K,).

        Parameters
        ----------
        coverage : float
            The part of the sets that hold the true class, between 0 and 1.
        per_class : bool, default=False
            Whether that is so for the rows of every class, not only for all rows together.

        Returns
        -------
        array of shape (K,)
            The thresholds; infinity where there are too few rows to tell, so that the class is always in the set.
        """
        check_coverage(coverage)
        check_flag("per_class", per_class)
        if not per_class:
            return np.full(self.n_classes, threshold(self.score, self.weight, coverage))
        groups = [self.c == k for k in range(self.n_classes)]
        weights = [None if self.weight is None else self.weight[group] for group in groups]
        return np.array([threshold(self.score[g], w, coverage) for g, w in zip(groups, weights, strict=True)])


def check_coverage(coverage: Any) -> None:
    """Raise unless it is a number between 0 and 1, both excluded."""
    fits = isinstance(coverage, float | int | np.number) and not isinstance(coverage, bool | np.bool_)
    if not fits or not 0.0 < coverage < 1.0:
        raise ValueError(
            f"coverage={coverage!r} must be a number between 0 and 1, neither of them: 0 asks for no set at all, and 1 "
            "is kept only by sets of all classes."
        )


def threshold(score: Array, weight: Array | None, coverage: float) -> float:
    """The smallest score (m,) that so much of the weight does not exceed, if a new row is counted as one that does.

    For m rows of equal weight it is the ⌈(m + 1) coverage⌉-th smallest score, and infinity if there are fewer. Among
    rows w (m,) of different weights, the new row weighs Σ w² / Σ w, which is what a row drawn in proportion to these
    weights weighs on average: so (Σ w)² / Σ w², the effective number of rows, takes the place of m.

    Examples
    --------
    >>> score = np.arange(9) / 10
    >>> threshold(score, None, 0.9), threshold(score, None, 0.91)
    (0.8, inf)
    """
    m = len(score)
    if m == 0:
        return np.inf
    if weight is None:
        rank = max(1, int(np.ceil((m + 1) * coverage - 1e-9)))  # 1e-9: 10 · 0.7 may be a little above 7
        return float(score[rank - 1]) if rank <= m else np.inf
    share = weight / weight.max()  # squares of very large weights would overflow
    reached = np.cumsum(share) / (share.sum() + np.square(share).sum() / share.sum())
    enough = np.flatnonzero(reached >= coverage - 1e-9)
    return float(score[enough[0]]) if len(enough) else np.inf


def sets_of(P: Array, thresholds: Array) -> Mask:
    """Which classes are in the set of every row, (n, K); a class that cannot be (of probability 0) is in none."""
    return (class_scores(P) <= thresholds) & (P > 0)


# ---- files ----------------------------------------------------------------------------------------------------------


def sets_to_arrays(scores: SetScores) -> dict[str, AnyArray]:
    """The scores as arrays of a model file."""
    arrays: dict[str, AnyArray] = {
        "sets.score": scores.score,
        "sets.class": scores.c.astype(np.int32),
        "sets.about": np.array([SOURCES.index(scores.source), scores.n_rounds]),
    }
    return arrays if scores.weight is None else {**arrays, "sets.weight": scores.weight}


def sets_from_arrays(arrays: dict[str, AnyArray], n_classes: int) -> SetScores | None:
    """The reverse of `sets_to_arrays`; None if the file has no such scores."""
    if "sets.score" not in arrays:
        return None
    check_layout(arrays, {"sets.score": ("<f8", 1), "sets.class": ("<i4", 1), "sets.about": ("<i8", 1)})
    score, c, about = arrays["sets.score"], arrays["sets.class"], arrays["sets.about"].tolist()
    weight = None
    if "sets.weight" in arrays:
        check_layout(arrays, {"sets.weight": ("<f8", 1)})
        weight = arrays["sets.weight"]
    known = len(about) == 2 and 0 <= about[0] < len(SOURCES) and about[1] >= 0 and len(score) > 0
    fits = known and len(c) == len(score) and ((c >= 0) & (c < n_classes)).all()
    fits = fits and (score >= 0).all() and (np.diff(score) >= 0).all() and bool(np.isfinite(score).all())
    if weight is not None:
        fits = fits and len(weight) == len(score) and bool((np.isfinite(weight) & (weight > 0)).all())
    if not fits:
        raise damaged("invalid scores for sets of classes")
    return SetScores(score, c.astype(np.intp), n_classes, weight, SOURCES[about[0]], about[1])
