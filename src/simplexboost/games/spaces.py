"""Spaces of weak classifiers: the labels that finitely many of them predict on a training set, and the true labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._parts import check_choice, check_number
from .._typing import AnyArray, Array, Labels
from ..data.labels import known_label_numbers, united


@dataclass(frozen=True, eq=False)
class Space:
    """A finite space of weak classifiers on a training set.

    Attributes
    ----------
    H : array of shape (n, m)
        The label, 0 .. K−1, that each of m weak classifiers predicts on each of n examples.
    c : array of shape (n,)
        The true labels.
    K : int
        The number of classes.

    Examples
    --------
    >>> Space(np.array([[0, 1], [0, 1]]), np.array([0, 1]), 3)
    Space(2 examples, 2 weak classifiers, 3 classes)
    """

    H: Labels
    c: Labels
    K: int

    def __post_init__(self) -> None:
        n = len(self.c)
        if self.H.ndim != 2 or self.H.shape[0] != n or self.H.shape[1] < 1 or n < 1:
            raise ValueError(
                f"H has shape {self.H.shape} and y {self.c.shape}; H must have a row per example and a column per weak "
                "classifier, at least one of each."
            )
        if self.K < 2:
            raise ValueError(f"K={self.K} classes; a weak-learning condition needs at least 2.")
        for name, labels in (("H", self.H), ("y", self.c)):
            outside = labels[(labels < 0) | (labels >= self.K)]
            if outside.size:
                raise ValueError(
                    f"{name} holds label {outside[0]}; with {self.K} classes labels are 0 .. {self.K - 1}."
                )

    def __repr__(self) -> str:
        n, m = self.H.shape
        return f"Space({n} examples, {m} weak classifiers, {self.K} classes)"

    @property
    def ranks(self) -> Labels:
        """Predictions with the true class first, (n, m): 0 where right, else 1 .. K−1 in the order of the classes."""
        c = self.c[:, None]
        return np.where(self.H == c, 0, self.H + (self.H < c))

    def joined(self, other: Space) -> Space:
        """All classifiers of both spaces."""
        return Space(np.hstack([self.H, other.H]), self.c, max(self.K, other.K))


def true_first(A: AnyArray, c: Labels) -> AnyArray:
    """Columns of every row of A (n, K) reordered: the true class, then the others in ascending order.

    >>> true_first(np.array([[10, 11, 12], [10, 11, 12]]), np.array([0, 2]))
    array([[10, 11, 12],
           [12, 10, 11]])
    """
    return np.take_along_axis(A, order(c, A.shape[1]), axis=1)


def classes_in_place(A: AnyArray, c: Labels) -> AnyArray:
    """The reverse of `true_first`."""
    out = np.empty_like(A)
    np.put_along_axis(out, order(c, A.shape[1]), A, axis=1)
    return out


def order(c: Labels, K: int) -> Labels:
    """For every example the true class, then the others, (n, K)."""
    others = np.arange(K - 1)
    return np.column_stack([c, others + (others >= c[:, None])])


def as_space(H: Any, y: Any = None, X: Any = None, classes: Any = None) -> Space:
    """A space from labels, classifiers or a booster: whatever the functions of this package take.

    Parameters
    ----------
    H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
        The weak classifiers: the labels that they predict, a column for each; or classifiers that predict them from X;
        or a booster of this package, whose weak classifiers are taken.
    y : array of shape (n,) or None, default=None
        The true labels; a `Space` has them already.
    X : array of shape (n, p) or None, default=None
        The features, from which classifiers predict.
    classes : int, sequence of labels or None, default=None
        All classes: a number K where labels are 0 .. K−1, or the labels. By default they are those that occur in H or
        y.

    Returns
    -------
    Space
        The space.

    Examples
    --------
    >>> as_space([["a", "b"], ["a", "b"]], ["a", "b"])
    Space(2 examples, 2 weak classifiers, 2 classes)
    """
    if isinstance(H, Space):
        return H
    if y is None:
        raise TypeError("y is missing; pass the true labels, (n,).")
    y = np.asarray(y)
    predicted = np.asarray(predictions(H, X))
    if isinstance(classes, int | np.integer):
        check_number("classes", classes, int, 2)
        for name, labels in (("H", predicted), ("y", y)):
            if labels.dtype.kind not in "iu":
                raise TypeError(f"{name} holds {labels.dtype} values; with classes={classes} labels must be integers.")
        return Space(predicted.astype(np.intp), y.astype(np.intp), int(classes))
    known = united({"H": predicted, "y": y}) if classes is None else np.unique(classes)
    return Space(codes("H", predicted, known), codes("y", y, known), len(known))


def codes(name: str, labels: AnyArray, known: AnyArray) -> Labels:
    """Labels → their numbers among the known ones."""
    return known_label_numbers(labels.ravel(), known, name).reshape(labels.shape)


def predictions(H: Any, X: Any) -> AnyArray:
    """The labels that the classifiers of a list or of a fitted booster predict, or those of a matrix, (n, m)."""
    if hasattr(H, "model_"):
        return weak_labels(H, need_X(X))
    if isinstance(H, list | tuple) and H and all(hasattr(h, "predict") for h in H):
        X = need_X(X)
        return np.column_stack([h.predict(X) for h in H])
    return np.asarray(H)


def need_X(X: Any) -> Any:
    """X; raise where it is missing."""
    if X is None:
        raise TypeError("X is missing; classifiers need it to predict, pass X (n, p), or H as a matrix of labels.")
    return X


def weak_labels(booster: Any, X: Any) -> AnyArray:
    """What each weak classifier of a fitted booster votes for, (n, T): the class its output scores highest."""
    X = booster._check_X(X)
    model = booster.model_
    if any(term.coordinate is not None for term in model.terms):
        raise TypeError(
            f"{type(booster).__name__} boosts one coordinate at a time; its weak learners name no class. Use a booster "
            "whose learners are classifiers, such as OSBoostClassifier."
        )
    votes = [(term.hypothesis.outputs(X) @ model.Y.T).argmax(axis=1) for term in model.terms]
    return booster.classes_[booster.present_][np.column_stack(votes)]


# ---- the counter-examples of the paper ------------------------------------------------------------------------------


def samme_example() -> Space:
    """Figure 1: two examples of classes 0 and 1 out of three, and the two constant classifiers.

    Whatever the weights, one of them is better than random guessing among three classes, so SAMME's condition holds
    (γ ≤ 1/4); yet no vote tells the examples apart.

    Returns
    -------
    Space
        The two classifiers.

    Examples
    --------
    >>> samme_example().H
    array([[0, 1],
           [0, 1]])
    """
    return Space(np.array([[0, 1], [0, 1]]), np.array([0, 1]), 3)


def windows_example(K: int = 3, edge: float = 0.3, n: int = 12) -> Space:
    """Theorem 5: each of n classifiers is right on a window of ⌊n(1/2 + γ/K)⌋ examples, with one wrong label outside.

    The vote of all of them is right, but all wrong votes go to one label, which gets more of them than under the
    γ-biased uniform baseline. So the space is boostable but does not meet ``"uniform"``.

    Parameters
    ----------
    K : int, default=3
        The number of classes.
    edge : float, default=0.3
        γ, which sets the size of the windows.
    n : int, default=12
        The number of examples, and of classifiers.

    Returns
    -------
    Space
        The weak classifiers.

    Examples
    --------
    >>> windows_example(n=10)
    Space(10 examples, 10 weak classifiers, 3 classes)
    """
    check_number("K", K, int, 3)
    check_number("edge", edge, float, 0.0, 1.0, open_low=True)
    width = int(np.floor(n * (0.5 + edge / K) + 1e-9))
    if not n / 2 < width < n:
        raise ValueError(f"n={n} leaves no window between n/2 and n; it must exceed K/edge = {K / edge:.1f}.")
    c = np.arange(n) % K
    inside = (np.arange(n)[:, None] - np.arange(n)) % n < width  # (n, n): window j begins at example j
    return Space(np.where(inside, c[:, None], (c[:, None] + 1) % K), c, K)


def subsets_example(K: int = 4, n: int = 6, size: int = 2) -> Space:
    """Section 4.2.2: for every subset of this size, classifiers that are right on it and wrong elsewhere in K−1 ways.

    With size = ((1−γ)/K + γ) n a classifier drawn at random is the γ-biased uniform baseline itself, so ``"uniform"``
    holds with that γ. But each classifier is right on fewer than half of the examples, so the conditions of AdaBoost.M1
    and MH fail.

    Parameters
    ----------
    K : int, default=4
        The number of classes.
    n : int, default=6
        The number of examples.
    size : int, default=2
        The number of examples on which a classifier is right.

    Returns
    -------
    Space
        The weak classifiers.

    Examples
    --------
    >>> subsets_example()
    Space(6 examples, 45 weak classifiers, 4 classes)
    """
    check_number("K", K, int, 3)
    check_number("size", size, int, 1, n)
    c = np.arange(n) % K
    columns = []
    for subset in combinations(range(n), size):
        right = np.isin(np.arange(n), subset)
        columns += [np.where(right, c, (c + shift) % K) for shift in range(1, K)]
    return Space(np.column_stack(columns), c, K)


EXAMPLES = {"samme": samme_example, "windows": windows_example, "subsets": subsets_example}


def example(name: str) -> Space:
    """A counter-example of Mukherjee and Schapire by name.

    Parameters
    ----------
    name : {"samme", "windows", "subsets"}
        Which one: that of `samme_example`, `windows_example` or `subsets_example`.

    Returns
    -------
    Space
        The weak classifiers.

    Examples
    --------
    >>> example("windows")
    Space(12 examples, 12 weak classifiers, 3 classes)
    """
    check_choice("name", name, EXAMPLES)
    return EXAMPLES[name]()


def votes(space: Space, weights: Array) -> Array:
    """H_λ with the true class first, (n, K): what share of the votes each class gets from weights λ (m,)."""
    n, K = len(space.c), space.K
    out = np.zeros((n, K))
    ranks = space.ranks
    for j in np.flatnonzero(weights):
        out[np.arange(n), ranks[:, j]] += weights[j]
    return out
