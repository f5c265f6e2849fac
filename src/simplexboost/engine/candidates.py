"""Stores the scores of only C candidate classes per row, for thousands of classes: n × C scores in place of n × K.

A row has one score for its own class and one for each of at most C candidates, the wrong classes of highest score. All
remaining classes, named the rest, share one score. ``kernels/losses/candidates.hpp`` tells how leaves change these
scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels

PLACES = 16  # lists have a multiple of so many places: whole vectors of the kernels
EMPTY = np.float32(-1e30)  # the score of an empty place
BLOCK = 2**20  # numbers that are computed at a time


def places(candidates: int) -> int:
    """Return the number C of places for candidate classes in a row: `candidates` rounded up to a multiple of 16.

    >>> places(1), places(16), places(17)
    (16, 16, 32)
    """
    return -(-candidates // PLACES) * PLACES


@dataclass(frozen=True, eq=False)
class Candidates:
    """The class scores F (n, K): per row one for its class, one for each of at most C others, one for all the rest."""

    c: Labels  # (n,) int64, the own class of every row
    K: int  # the number of classes
    own: AnyArray  # (n,) float32, the score of the own class
    rest: AnyArray  # (n,) float32, the score of every class of the rest
    count: AnyArray  # (n,) int32, the number of candidates
    classes: AnyArray  # (n, C) int32, the candidates
    scores: AnyArray  # (n, C) float32, their scores; very low in empty places

    @classmethod
    def zeros(cls, c: Labels, K: int, candidates: int) -> Candidates:
        """Return scores F = 0 with empty lists of candidates: all wrong classes of a row share one score, ``rest``."""
        n, C = len(c), places(min(candidates, K - 1))
        return cls(
            np.ascontiguousarray(c, dtype=np.int64),
            K,
            np.zeros(n, dtype=np.float32),
            np.zeros(n, dtype=np.float32),
            np.zeros(n, dtype=np.int32),
            np.zeros((n, C), dtype=np.int32),
            np.full((n, C), EMPTY, dtype=np.float32),
        )

    @property
    def arrays(self) -> tuple[Labels, int, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
        return self.c, self.K, self.own, self.rest, self.count, self.classes, self.scores

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.c), self.K

    @property
    def dtype(self) -> Any:
        return self.scores.dtype

    @property
    def others(self) -> AnyArray:
        """The number of classes in each row that share one score (``rest``), (n,)."""
        return self.K - 1 - self.count

    def __len__(self) -> int:
        return len(self.c)

    def __getitem__(self, rows: Any) -> Candidates:
        """Return the scores of the given rows: a view if `rows` is a slice, else a copy."""
        own, rest, count, classes, scores = (a[rows] for a in self.arrays[2:])
        return Candidates(self.c[rows], self.K, own, rest, count, classes, scores)

    def reach(self) -> float:
        """Return the largest absolute score in F; 0 without rows."""
        filled = np.arange(self.scores.shape[1]) < self.count[:, None]
        of_lists = np.abs(self.scores).max(initial=0.0, where=filled)
        return float(max(of_lists, *(np.abs(a).max(initial=0.0) for a in (self.own, self.rest))))

    def dense(self, temperature: float = 1.0) -> AnyArray:
        """Return temperature · F as a dense array (n, K)."""
        F = np.repeat(self.rest[:, None], self.K, axis=1)  # (n, K)
        row, place = np.nonzero(np.arange(self.scores.shape[1]) < self.count[:, None])
        F[row, self.classes[row, place]] = self.scores[row, place]
        F[np.arange(len(self)), self.c] = self.own
        return F * np.float32(temperature)

    def log_losses(self, temperatures: Array | tuple[float, ...] = (1.0,)) -> Array:
        """Return the loss −log p of each row at T temperatures, (T, n) float64; p is the true class's probability."""
        out = np.empty((len(temperatures), len(self)))
        step = max(1, BLOCK // self.scores.shape[1])
        for begin in range(0, len(self), step):
            rows = slice(begin, begin + step)
            own, rest, scores = (a[rows].astype(np.float64) for a in (self.own, self.rest, self.scores))
            others = self.others[rows]
            for i, t in enumerate(temperatures):
                lead = t * np.column_stack([scores, rest]) - t * own[:, None]  # (n, C + 1)
                high = np.maximum(lead.max(axis=1), 0.0)
                E = np.exp(lead - high[:, None])
                out[i, rows] = high + np.log(np.exp(-high) + E[:, :-1].sum(axis=1) + others * E[:, -1])
        return out
