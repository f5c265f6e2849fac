"""Which rows are trained on and which are held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Labels


@dataclass(frozen=True, eq=False)
class Split:
    """Rows held out, ascending; all others are trained on."""

    held: AnyArray


def folds(c: Labels, groups: AnyArray | None, n_folds: int, rng: np.random.Generator) -> list[Split]:
    """Splits that hold out every row once, except the only row of a class, of which the rest could learn nothing.

    Parameters
    ----------
    c : (n,) the classes, each of which is spread evenly over the folds
    groups : (n,) rows of the same group are never on both sides of a split; or None
    n_folds : fewer if there are not as many groups
    """
    fold = fold_of_rows(c, n_folds, rng) if groups is None else fold_of_groups(groups, n_folds, rng)
    splits = [Split(np.flatnonzero(fold == k)) for k in range(n_folds)]
    return [split for split in splits if 0 < len(split.held) < len(c)]


def one_split(c: Labels, groups: AnyArray | None, n_held: int, rng: np.random.Generator) -> list[Split]:
    """One split that holds out about so many rows, of every class its share; or whole groups of so many rows together.

    Of a class with several rows at least one is held out, and at least one is trained on.
    """
    if groups is None:
        held = drawn_by_class(c, n_held, rng, fewest=1, spared=1)
    else:
        _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
        held = np.flatnonzero(np.isin(group.ravel(), groups_to_hold(size, n_held, rng)))
    return [Split(held)]


def drawn_by_class(c: Labels, n_drawn: int, rng: np.random.Generator, fewest: int, spared: int = 0) -> AnyArray:
    """About so many rows drawn at random, ascending: of every class its share.

    Parameters
    ----------
    c : (n,) the classes
    fewest : so many rows of a rare class are drawn, as far as it has them
    spared : so many rows of every class are not drawn
    """
    counts = np.bincount(c)  # (K,)
    share = np.rint(counts * (n_drawn / len(c)))
    quota = np.clip(np.maximum(share, fewest), 0, np.maximum(counts - spared, 0))
    order = rng.permutation(len(c))
    order = order[np.argsort(c[order], kind="stable")]
    place = np.arange(len(c)) - np.repeat(np.cumsum(counts) - counts, counts)  # of every row within its class
    return np.sort(order[place < np.repeat(quota, counts)])


def groups_to_hold(size: AnyArray, n_held: int, rng: np.random.Generator) -> list[int]:
    """Random groups of at least so many rows together, but no group that would leave less than half to train on."""
    chosen: list[int] = []
    n, total = int(size.sum()), 0
    for g in rng.permutation(len(size)).tolist():
        if total < n_held and total + size[g] <= max(n_held, n // 2):
            chosen.append(g)
            total += int(size[g])
    return chosen or [int(size.argmin())]


def fold_of_rows(c: Labels, n_folds: int, rng: np.random.Generator) -> AnyArray:
    """The fold of every row, (n,): rows in random order, sorted by class, are dealt out one by one like cards.

    It is −1 for the only row of a class.
    """
    order = rng.permutation(len(c))
    order = order[np.argsort(c[order], kind="stable")]
    fold = np.empty(len(c), dtype=np.intp)
    fold[order] = np.arange(len(c)) % n_folds
    fold[np.bincount(c)[c] == 1] = -1
    return fold


def fold_of_groups(groups: AnyArray, n_folds: int, rng: np.random.Generator) -> AnyArray:
    """The fold of every row, (n,): groups, large ones first, each go to the fold that has the fewest rows."""
    names, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    fold_of_group, filled = np.empty(len(names), dtype=np.intp), np.zeros(n_folds)
    order = rng.permutation(len(names))
    for g in order[np.argsort(-size[order], kind="stable")]:
        fold_of_group[g] = filled.argmin()
        filled[filled.argmin()] += size[g]
    return fold_of_group[group.ravel()]


def check_groups(groups: Any, n: int) -> AnyArray:
    """The groups as an array of one label per row."""
    labels = one_per_row(groups, n)
    check_several(distinct_groups(labels))
    return labels


def one_per_row(groups: Any, n: int) -> AnyArray:
    """The groups of n rows as an array."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups has shape {labels.shape}; it must have one label for each of the {n} rows.")
    return labels


def distinct_groups(labels: AnyArray) -> AnyArray:
    """The distinct groups."""
    try:
        return np.unique(labels)
    except TypeError as error:  # of several types, such as strings and None
        raise TypeError("groups holds labels that cannot be compared; use numbers only or strings only.") from error


def check_several(distinct: AnyArray) -> None:
    """Raise unless there are two groups or more."""
    if len(distinct) < 2:
        raise ValueError("groups holds one group only; at least two are needed to hold one out.")
