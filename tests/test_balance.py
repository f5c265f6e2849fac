"""What gains and what loses along a direction, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simplexboost.model.code import Code, Gradient
from simplexboost.parts.losses import Exponential, OwnScoreExponential
from simplexboost.parts.steps import Balance, Ray

HAND = Balance(gained=3.0, lost=1.0, total=8.0, rate=2.0, even=True, faultless=False, perfect=False)


def test_factors_of_a_step():
    # With α = ½ log 2 and rate 2, what gains is halved and what loses is doubled.
    alpha = 0.5 * math.log(2.0)
    assert HAND.drop(alpha) == pytest.approx((4 + 3 / 2 + 1 * 2) / 8)
    assert HAND.drop_of_edge(alpha) == pytest.approx(0.5 * (0.75 * 2 + 1.25 / 2))
    assert HAND.drop(0.0) == HAND.drop_of_edge(0.0) == 1.0
    assert all(HAND.drop(a) <= HAND.drop_of_edge(a) for a in np.linspace(0, 2, 9))  # a bound for any learner


def test_steps_far_too_long_stay_finite():
    assert math.isfinite(HAND.drop(1e9)) and math.isfinite(HAND.drop_of_edge(1e9))


def balance(loss, P, W, c):
    P, W, c = np.array(P), np.array(W), np.array(c)
    gradient = Gradient(c, P[np.arange(len(c)), c], P, Code(np.eye(P.shape[1])))
    return Ray(loss, np.zeros_like(P), c, np.ones(len(c)), W, gradient).balance()


def test_terms_of_rivals_are_weighed_by_their_pace():
    # Weights of the rivals 1, 2 of the first row and 0, 1 of the second; leads of the true class on them along W.
    P = [[5.0, -2.0, -3.0], [-1.0, -4.0, 5.0]]
    W = [[1.0, 0.0, 1.0], [0.5, 0.0, 0.0]]  # leads 1, 0; −½, 0
    found = balance(Exponential(), P, W, [0, 2])
    assert (found.gained, found.lost, found.total, found.rate) == (2.0, 0.5, 10.0, 1.0)
    assert not found.even and not found.faultless and not found.perfect


def test_a_direction_without_fault_is_perfect_only_if_every_term_falls():
    P = [[2.0, -1.0, -1.0]]
    still, all_fall = (balance(Exponential(), P, [w], [0]) for w in ([1.0, 0.0, 1.0], [1.0, 0.0, 0.0]))
    assert still.faultless and still.even and not still.perfect
    assert all_fall.faultless and all_fall.even and all_fall.perfect


def test_the_own_score_is_one_term():
    # e^{−2U_c}: the exponent falls by 2 along an own score that grows by 1.
    found = balance(OwnScoreExponential(1.0), [[3.0, 0.0], [0.0, 1.0]], [[1.0, 9.0], [9.0, -1.0]], [0, 1])
    assert (found.gained, found.lost, found.total, found.rate, found.even) == (3.0, 1.0, 4.0, 2.0, True)
