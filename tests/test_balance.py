"""What gains and what loses along a direction, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from simplexboost.engine import CPU
from simplexboost.parts.losses import Exponential, OwnScoreExponential
from simplexboost.parts.losses.objective import CEILING, Balance, capped_exp

HAND = Balance(gained=3.0, lost=1.0, total=8.0, rate=2.0, even=True, faultless=False, perfect=False)


def test_the_edge_is_what_gains_less_what_loses():
    assert HAND.edge == 0.25
    assert Balance(0.0, 0.0, 0.0, 1.0, True, True, True).edge == 0.0


def test_factors_of_a_step():
    # With α = ½ log 2 and rate 2, what gains is halved and what loses is doubled.
    alpha = 0.5 * math.log(2.0)
    assert HAND.drop(alpha) == pytest.approx((4 + 3 / 2 + 1 * 2) / 8)
    assert HAND.drop_of_edge(alpha) == pytest.approx(0.5 * (0.75 * 2 + 1.25 / 2))
    assert HAND.drop(0.0) == HAND.drop_of_edge(0.0) == 1.0
    assert all(HAND.drop(a) <= HAND.drop_of_edge(a) for a in np.linspace(0, 2, 9))  # a bound for any learner


def test_steps_far_too_long_stay_finite():
    assert capped_exp(1.0) == math.e and capped_exp(1e9) == math.exp(CEILING)
    assert math.isfinite(HAND.drop(1e9)) and math.isfinite(HAND.drop_of_edge(1e9))


def along(P, W, c):
    return SimpleNamespace(engine=CPU, P=np.array(P), W=np.array(W), c=np.array(c), classes=None, gap=None)


def test_terms_of_rivals_are_weighed_by_their_pace():
    # Weights of the rivals 1, 2 of the first row and 0, 1 of the second; leads of the true class on them along W.
    P = [[5.0, -2.0, -3.0], [-1.0, -4.0, 5.0]]
    W = [[1.0, 0.0, 1.0], [0.5, 0.0, 0.0]]  # leads 1, 0; −½, 0
    found = Exponential().balance(along(P, W, [0, 2]))
    assert (found.gained, found.lost, found.total, found.rate) == (2.0, 0.5, 10.0, 1.0)
    assert not found.even and not found.faultless and not found.perfect


def test_a_direction_without_fault_is_perfect_only_if_every_term_falls():
    P = [[2.0, -1.0, -1.0]]
    still, all_fall = (Exponential().balance(along(P, [w], [0])) for w in ([1.0, 0.0, 1.0], [1.0, 0.0, 0.0]))
    assert still.faultless and still.even and not still.perfect
    assert all_fall.faultless and all_fall.even and all_fall.perfect


def test_the_own_score_is_one_term():
    # e^{−2U_c}: the exponent falls by 2 along an own score that grows by 1.
    found = OwnScoreExponential(1.0).balance(along([[3.0, 0.0], [0.0, 1.0]], [[1.0, 9.0], [9.0, -1.0]], [0, 1]))
    assert (found.gained, found.lost, found.total, found.rate, found.even) == (3.0, 1.0, 4.0, 2.0, True)
