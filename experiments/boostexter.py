"""Schapire and Singer's BoosTexter: AdaBoost.MH with real-valued stumps, in NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import data
from .cells import task
from .fits import STOPS

CUTS = 254  # of a feature, at most


@task
def boostexter(problem: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Test errors over the rounds, as `fits.fit` has them."""
    given = data.problem(**problem)
    columns = given.X_train.T.astype(np.float64)
    bins = Bins([cuts(column) for column in columns if len(np.unique(column)) > 1])
    used = [f for f, column in enumerate(columns) if len(np.unique(column)) > 1]
    codes, test_codes = bins.codes(given.X_train[:, used]), bins.codes(given.X_test[:, used])  # (n, p)
    members = bins.members(codes)
    is_own = np.eye(given.K, dtype=bool)[given.y_train]  # (n, K)
    D = np.full(is_own.shape, 1.0 / is_own.size)
    F = np.zeros((len(given.y_test), given.K))
    stops, errors = [t for t in STOPS if t < rounds] + [rounds], []
    for t in range(1, rounds + 1):
        f, last, votes = bins.stump(members, D, is_own)
        D *= np.exp(np.where(is_own, -1.0, 1.0) * votes[(codes[:, f] > last).astype(int)])
        D /= D.sum()
        F += votes[(test_codes[:, f] > last).astype(int)]
        if t in stops:
            errors.append(round(float((F.argmax(axis=1) != given.y_test).mean()), 6))
    return {"rounds": stops, "test": errors, "n_iter": rounds}


def cuts(column: Any) -> Any:
    """Thresholds halfway between neighbouring values, where there are many values some of them."""
    values = np.unique(column)
    middles = (values[1:] + values[:-1]) / 2
    if len(middles) <= CUTS:
        return middles
    at = np.searchsorted(middles, np.quantile(column, np.linspace(0, 1, CUTS + 2)[1:-1]))
    return middles[np.unique(np.minimum(at, len(middles) - 1))]


class Bins:
    """Features cut into bins, numbered through over all features."""

    def __init__(self, thresholds: list[Any]) -> None:
        self.thresholds = thresholds
        sizes = np.array([len(t) + 1 for t in thresholds])
        self.begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.feature = np.repeat(np.arange(len(sizes)), sizes)
        self.is_cut = np.ones(sizes.sum(), dtype=bool)
        self.is_cut[np.cumsum(sizes) - 1] = False  # after a feature's last bin there is nothing to cut

    def codes(self, X: Any) -> Any:
        """Numbers of bins within their features, (n, p)."""
        return np.column_stack([np.searchsorted(t, x) for t, x in zip(self.thresholds, X.T, strict=True)])

    def members(self, codes: Any) -> Any:
        """Which examples lie in which bin, a sparse (bins, n)."""
        n, p = codes.shape
        where = (codes + self.begins).ravel()
        return sparse.csr_matrix((np.ones(n * p), (where, np.repeat(np.arange(n), p))), (len(self.feature), n))

    def stump(self, members: Any, D: Any, is_own: Any) -> tuple[int, int, Any]:
        """The feature, the last bin below the cut and the votes (2, K) of the stump of smallest Z = 2 Σ √(W₊ W₋)."""
        right, wrong = (self.below(members @ np.where(own, D, 0.0)) for own in (is_own, ~is_own))  # (bins, K)
        all_right, all_wrong = D.sum(axis=0, where=is_own), D.sum(axis=0, where=~is_own)  # (K,)
        above_right, above_wrong = np.maximum(all_right - right, 0.0), np.maximum(all_wrong - wrong, 0.0)
        Z = (np.sqrt(right * wrong) + np.sqrt(above_right * above_wrong)).sum(axis=1)
        best = int(np.where(self.is_cut, Z, np.inf).argmin())
        W = np.array([[right[best], wrong[best]], [above_right[best], above_wrong[best]]]) + 1.0 / D.size
        f = int(self.feature[best])
        return f, best - int(self.begins[f]), 0.5 * np.log(W[:, 0] / W[:, 1])

    def below(self, weights: Any) -> Any:
        """Sums over a bin and those below it in its feature, (bins, K)."""
        sums = np.cumsum(weights, axis=0)
        before = np.vstack([np.zeros(sums.shape[1]), sums])[self.begins]
        return np.maximum(sums - before[self.feature], 0.0)
