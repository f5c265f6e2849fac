"""Rivals that move alike along a direction, taken as one: the sum over rivals then has few terms instead of K."""

from __future__ import annotations

import numpy as np

from .._typing import Array, Labels, Mask

# The least weight of merged rivals beside the strongest rival of the row: far too small to count, and its logarithm is
# finite.
_LEAST = 1e-300


class Rivals:
    """The rivals of every example, for losses γ(Σ_{k≠c} e^{−a(u_c − u_k)}) along one coordinate of F after another.

    Classes whose codewords have the same entry in a coordinate move alike along it. Their terms stay in proportion, so
    that they count as one rival of the weight Σ e^{a u_k}. A simplex has at most three different entries in a
    coordinate, whatever the number of classes: on 26 classes a line search takes a seventh of the time.

    Parameters
    ----------
    E : array of shape (n, K)
        The terms of the rivals, e^{a(u_k − top)} with the highest rival's score as ``top``; 0 for the true class.
    lead : array of shape (n,)
        The score of the true class above ``top``.
    c : array of shape (n,)
        The true classes.
    rate : float
        a.

    Examples
    --------
    >>> E = np.array([[0.0, 1.0, 0.5, 0.5]])  # of class 0 and three rivals
    >>> rivals = Rivals(E, np.zeros(1), np.array([0]), 1.0)
    >>> merged = rivals.along(np.array([1.0, -1.0, 0.0, 0.0]), np.ones(1))
    >>> merged.there[:, 0]  # rivals with the entries -1 and 0, and none with 1
    array([ True,  True, False])
    >>> merged.race(0.0)  # log Σ E, and the mean and the variance of what rivals gain on the true class
    (array([0.69314718]), array([-1.5]), array([0.25]))
    """

    def __init__(self, E: Array, lead: Array, c: Labels, rate: float) -> None:
        self.terms = np.ascontiguousarray(E.T)  # (K, n): sums of rows are quick
        self.lead, self.c, self.rate = lead, c, rate

    def along(self, entries: Array, h: Array) -> MergedRivals:
        """The rivals, merged, for the direction in which class k moves by h (n,) times entries[k]."""
        different, which = np.unique(entries, return_inverse=True)
        mass = np.zeros((len(different), len(h)))  # (V, n)
        for v, term in zip(which, self.terms, strict=True):
            mass[v] += term
        gains = h * (different[:, None] - entries[self.c])  # (V, n)
        return MergedRivals(mass, gains, self.lead, self.rate)


class MergedRivals:
    """V merged rivals of n examples: their weights (V, n), and what they gain on the true class per step (V, n)."""

    def __init__(self, mass: Array, gains: Array, lead: Array, rate: float) -> None:
        self.there: Mask = mass > 0
        self.gains, self.lead, self.rate = gains, lead, rate
        self.log_mass = np.log(np.maximum(mass, _LEAST))

    def log_sum(self, alpha: float) -> tuple[Array, Array]:
        """s (n,), the logarithm of the sum of all terms after a step α; the terms (V, n) beside the highest."""
        x = self.gains * (self.rate * alpha)
        x += self.log_mass
        top = x.max(axis=0)
        x -= top
        e = np.exp(x, out=x)
        return top + np.log(e.sum(axis=0)) - self.rate * self.lead, e

    def race(self, alpha: float) -> tuple[Array, Array, Array]:
        """s (n,), and the mean and the variance of the gains, weighted by the terms, after a step α."""
        s, e = self.log_sum(alpha)
        e /= e.sum(axis=0)
        mean = (e * self.gains).sum(axis=0)
        e *= np.square(self.gains - mean)
        return s, mean, e.sum(axis=0)


def pays(entries: Array) -> bool:
    """Whether merging halves the number of terms at least."""
    return 2 * (1 + len(np.unique(entries))) <= len(entries)
