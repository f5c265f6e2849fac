"""How long the potentials of the boosting game take: python -m benchmarks.games.

The table of cost matrices is that of a whole game against a learner that votes at random, each example by a
distribution of its own: nearly all states differ, which is as bad as it gets.
"""

from __future__ import annotations

import time

import numpy as np

from simplexboost import theory
from simplexboost.theory.spaces import true_first


def seconds_of_potential(K: int, T: int, edge: float) -> float:
    """φ_T(0) of the zero-one loss."""
    begin = time.perf_counter()
    theory.potential(T, "uniform", K, edge)
    return time.perf_counter() - begin


def seconds_of_table(n: int, K: int, T: int, edge: float) -> float:
    """All cost matrices of a game, one thread."""
    rng = np.random.default_rng(0)
    c, habits = rng.integers(K, size=n), rng.dirichlet(np.ones(K), size=n).cumsum(axis=1)
    game, votes, spent = theory.make_game(T, "uniform", K, edge), np.zeros((n, K), dtype=int), 0.0
    for to_go in range(T, 0, -1):
        begin = time.perf_counter()
        game.costs(to_go, true_first(votes, c))
        spent += time.perf_counter() - begin
        votes[np.arange(n), (habits > rng.random((n, 1))).argmax(axis=1)] += 1
    return spent


if __name__ == "__main__":
    for K, T, edge in ((6, 200, 0.1), (50, 1000, 0.0), (50, 1000, 0.1), (50, 1000, 0.5)):
        spent = seconds_of_potential(K, T, edge)
        print(f"zero-one potential, K = {K}, T = {T}, edge {edge}: {spent:.4f} s", flush=True)
    spent = seconds_of_table(5000, 6, 100, 0.1)
    print(f"all cost matrices, n = 5000, K = 6, T = 100: {spent:.1f} s")
