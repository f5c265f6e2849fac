"""States of a game: the votes so far (K,), the true class first; and recursions over all states within t rounds."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels
from .losses import GameLoss, UserLoss, check_proper

MAX_STATES = 5_000_000  # of a recursion; half a gigabyte with 6 classes

# Rows of whole numbers are compared by one 64-bit product each; collisions are detected.
MIXERS = np.random.default_rng(20130217).integers(1, 2**63, size=4096, dtype=np.uint64) | np.uint64(1)


def as_states(s: Any, K: int) -> tuple[AnyArray, bool]:
    """States as an integer array (m, K), and whether there was just one."""
    if s is None:
        return np.zeros((1, K), dtype=np.int64), True
    S = np.asarray(s)
    if S.ndim not in (1, 2) or S.shape[-1] != K:
        raise ValueError(f"s has shape {S.shape}; with {K} classes states have shape ({K},) or (m, {K}).")
    if S.dtype.kind not in "iuf" or not (np.isfinite(S).all() and (S == np.round(S)).all()):
        raise ValueError("s must hold whole numbers: the votes for each class, the true class first.")
    return np.atleast_2d(S).astype(np.int64), S.ndim == 1


def after_each_vote(S: AnyArray) -> AnyArray:
    """The K states after one more vote, (m K, K)."""
    return (S[:, None, :] + np.eye(S.shape[1], dtype=np.int64)).reshape(-1, S.shape[1])


def row_keys(S: AnyArray) -> AnyArray:
    """A 64-bit number for every row of whole numbers."""
    return (S.astype(np.int64).view(np.uint64) * np.resize(MIXERS, S.shape[1])).sum(axis=1, dtype=np.uint64)


def unique_rows(S: AnyArray) -> tuple[AnyArray, Labels]:
    """The distinct rows, and for every row its number among them."""
    S = np.ascontiguousarray(S, dtype=np.int64)
    _, first, back = np.unique(row_keys(S), return_index=True, return_inverse=True)
    if not (S[first][back] == S).all():
        distinct, back = np.unique(S, axis=0, return_inverse=True)
        return distinct, back.reshape(-1)
    return S[first], back


class Layers:
    """The states within t steps of some states, layer by layer; values are computed from the last layer to the first.

    Where the loss is symmetric in the rivals and depends on leads only, states that agree in that are one state.
    """

    def __init__(self, S: AnyArray, t: int, loss: GameLoss, symmetric: bool) -> None:
        self.loss, self.relative, self.symmetric = loss, not isinstance(loss, UserLoss), symmetric
        K = S.shape[1]
        exact = count_states(K, t) if symmetric and not S.any() else None
        if exact is not None and exact > MAX_STATES:
            raise ValueError(too_many(K, t, f"{exact:,}"))
        first, self.back = unique_rows(self.canonical(S))
        self.states, self.children = [first], []
        total = len(first)
        check_proper(loss, first)
        for _ in range(t):
            states, back = unique_rows(self.canonical(after_each_vote(self.states[-1])))
            self.states.append(states)
            self.children.append(back.reshape(-1, K))
            check_proper(loss, states)
            total += len(states)
            if total > MAX_STATES:
                most = sum(comb(j + K - 1, K - 1) for j in range(t + 1)) * len(first)
                raise ValueError(too_many(K, t, f"more than {MAX_STATES:,} and up to {most:,}"))

    def canonical(self, S: AnyArray) -> AnyArray:
        """The state that represents all equivalent ones."""
        if self.relative:
            S = S - S[:, :1]
        if self.symmetric:
            S = np.column_stack([S[:, :1], -np.sort(-S[:, 1:], axis=1)])
        return S

    def fold(self, combine: Callable[[Array], Array]) -> list[Array]:
        """φ_{t−j} of the states of layer j, j = 0 .. t; layer 0 are the states that were asked for.

        ``combine`` gets φ after each of the K steps, (m, K), and gives φ before, (m,).
        """
        values = [self.loss(self.states[-1])]
        for children in reversed(self.children):
            values.append(combine(values[-1][children]))
        values.reverse()
        values[0] = values[0][self.back]
        return values


def count_states(K: int, t: int) -> int:
    """The number of states within t rounds of 0, where the order of the rivals does not matter.

    Parameters
    ----------
    K : int
        The number of classes.
    t : int
        The number of rounds.

    Returns
    -------
    int
        The number of states.

    Examples
    --------
    >>> count_states(3, 10), count_states(6, 100)
    (161, 18768596)
    """
    ways = [1] + [0] * t  # partitions of 0 .. t
    for part in range(1, min(K - 1, t) + 1):
        for i in range(part, t + 1):
            ways[i] += ways[i - part]
    return sum((t + 1 - i) * ways[i] for i in range(t + 1))  # layer j has the partitions of 0 .. j


def too_many(K: int, t: int, states: str) -> str:
    """The message where a recursion would need too much memory."""
    return (
        f"the recursion for K={K} classes and {t} rounds needs {states} states, at most {MAX_STATES:,} are kept. Use "
        "fewer rounds, a fixed baseline (condition='uniform'), or the exponential loss with a small eta (Lemma 19)."
    )
