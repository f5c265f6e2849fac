"""Calibration, and the problems of the race that are made on the spot."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import calibration, problems

# ---- calibration ----------------------------------------------------------------------------------------------------


def test_bins_have_equally_many_rows_and_the_error_is_their_mean_gap():
    top = np.array([0.9, 0.6, 0.8, 0.5])
    P = np.column_stack([top, 1 - top])
    bins = calibration.reliability(P, np.array([0, 1, 1, 0]), bins=2)
    assert bins.count == [2, 2]
    assert bins.confidence == pytest.approx([0.55, 0.85])
    assert bins.accuracy == [0.5, 0.5]
    assert bins.error == pytest.approx((0.05 + 0.35) / 2)


def test_true_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=60_000)
    y = (P.cumsum(axis=1) > rng.random((60_000, 1))).argmax(axis=1)
    assert calibration.reliability(P, y).error < 0.01
    sure = P**3 / (P**3).sum(axis=1, keepdims=True)
    assert calibration.reliability(sure, y).error > 0.1
    assert len(calibration.reliability(P[:4], y[:4]).count) == 4


# ---- problems -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", problems.MADE)
def test_problems_are_made_in_any_size_and_always_the_same(name):
    data, again = (problems.load(name, scale=0.01) for _ in range(2))
    assert np.array_equal(data.X_train, again.X_train)
    assert np.array_equal(data.y_test, again.y_test)
    assert data.X_train.dtype == np.float32
    assert set(data.y_train) == set(range(len(data.class_names)))
    assert len(data.X_test) >= problems.LEAST_ROWS


def test_one_row_in_a_hundred_is_positive():
    assert problems.load("friedman_rare", scale=0.1).y_train.mean() == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize("name", ["friedman2", "friedman_rare", "friedman5"])
def test_floors_are_those_of_the_function(name):
    """By simulation: the mean entropy of the classes where the function is known and the noise is not."""
    problem = problems.MADE[name]
    noise, rare = problem.draw.keywords["noise"], problem.draw.keywords.get("rare")
    rng = np.random.default_rng(0)
    value = problems.friedman_function(rng.random((100_000, 5)))
    shares = [1 - rare] if rare else np.arange(1, problem.K) / problem.K
    cuts = np.quantile(value + noise * rng.standard_normal(len(value)), shares)
    below = norm.cdf((cuts - value[:, None]) / noise)
    P = np.diff(below, axis=1, prepend=0.0, append=1.0)
    assert -(P * np.log(np.maximum(P, 1e-300))).sum(axis=1).mean() == pytest.approx(problem.floor, rel=0.03)
