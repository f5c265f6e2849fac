"""Playing a game: the optimal strategy against a weak learner, and what became of the potential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, Array, Labels
from .spaces import Space, classes_in_place, true_first
from .strategies import Game


@dataclass(frozen=True, eq=False)
class Play:
    """How a game went.

    Attributes
    ----------
    votes : array of shape (n, K)
        The votes at the end.
    potential : array of shape (T + 1,)
        The average potential before the first and after every round; the last is the average loss.
    excess : array of shape (T,)
        By how much the learner's average cost exceeded what was allowed; it is positive where the condition failed.

    Examples
    --------
    >>> from simplexboost.games import example, make_game
    >>> played = play(make_game("minimal", K=3, T=20, edge=1 / 6), example("windows"))
    >>> played.votes.shape, played.potential.shape, played.kept
    ((12, 3), (21,), True)
    """

    votes: AnyArray
    potential: Array
    excess: Array

    @property
    def kept(self) -> bool:
        """Whether the weak learner met its condition in every round."""
        return bool((self.excess <= 1e-8 * self.potential[:-1]).all())


def play(game: Game, learner: Space | Callable[[Array], Labels], c: Labels | None = None) -> Play:
    """Play the optimal strategy against a weak learner.

    Parameters
    ----------
    game : Game
        The game; `make_game` makes one.
    learner : Space or callable
        A `Space`, which answers with its cheapest classifier, or a function of the cost matrix (n, K) that gives labels
        (n,).
    c : array of shape (n,) or None, default=None
        The true labels; None takes those of the space.

    Returns
    -------
    Play
        How the game went.

    Examples
    --------
    The windows of Theorem 5 have margin 1/6, which a strategy for the minimal condition turns into a correct vote.

    >>> from simplexboost.games import example, make_game
    >>> played = play(make_game("minimal", K=3, T=60, edge=1 / 6), example("windows"))
    >>> round(played.potential[0], 4), played.potential[-1], played.kept
    (np.float64(0.1568), np.float64(0.0), True)
    """
    if isinstance(learner, Space):
        space = learner
        c = space.c
        learner = lambda C: space.H[:, np.take_along_axis(C, space.H, axis=1).sum(axis=0).argmin()]  # noqa: E731
    if c is None:
        raise TypeError("c is missing; a learner that is a function needs the true labels (n,).")
    rows, votes = np.arange(len(c)), np.zeros((len(c), game.K), dtype=np.int64)
    potential, excess = [game.bound], []
    for to_go in range(game.T, 0, -1):
        C = game.costs(to_go, true_first(votes, c))
        h = learner(classes_in_place(C, c))
        excess.append(float((classes_in_place(C, c)[rows, h] - game.allowed(C)).mean()))
        votes[rows, h] += 1
        potential.append(float(game.potential(to_go - 1, true_first(votes, c)).mean()))
    return Play(votes, np.array(potential), np.array(excess))
