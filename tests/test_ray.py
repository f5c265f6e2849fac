"""The risk along a direction, by hand and by differences."""

from __future__ import annotations

import numpy as np
import pytest
from cases import CONVEX, code, each
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.model.code import Code
from simplexboost.parts.losses import Exponential, Logistic, Objective, Savage
from simplexboost.parts.steps import Ray

K, N = 3, 8
rng = np.random.default_rng(0)
U, W = rng.normal(size=(N, K)), rng.normal(size=(N, K))
C, WEIGHT = np.arange(N) % K, rng.uniform(0.5, 1.5, N)


@each("loss", CONVEX)
def test_the_slope_is_that_of_the_risk(loss):
    ray, eps = Ray(loss, U, C, WEIGHT, W), 1e-5
    for alpha in (0.0, 0.7):
        assert ray.risk(alpha) == pytest.approx(float(WEIGHT @ loss.value(U + alpha * W, C)), rel=1e-12)
        rise = (ray.risk(alpha + eps) - ray.risk(alpha - eps)) / (2 * eps)
        bend = (ray.risk(alpha + eps) - 2 * ray.risk(alpha) + ray.risk(alpha - eps)) / eps**2
        first, second = ray.slope(alpha)
        assert np.sign(first) == np.sign(rise) and abs(first) <= 1
        if second is not None:
            assert second / first == pytest.approx(bend / rise, rel=1e-3)


def test_the_slope_is_one_where_all_examples_gain_and_zero_along_nothing():
    own = np.eye(K)[C]
    assert Ray(Logistic(), U, C, WEIGHT, own).slope(0.0)[0] == pytest.approx(-1.0)
    assert Ray(Logistic(), U, C, WEIGHT, -own).slope(0.0)[0] == pytest.approx(1.0)
    assert Ray(Logistic(), U, C, WEIGHT, 0 * own).slope(0.0) == (0.0, 0.0)


def test_scores_and_direction_are_computed_when_asked_for_and_once():
    calls = []
    ray = Ray(Logistic(), lambda: calls.append("U") or U, C, WEIGHT, lambda: calls.append("W") or W)
    assert calls == []
    ray.risk(0.0)
    ray.risk(1.0)
    assert sorted(calls) == ["U", "W"]


def test_a_known_gradient_is_not_computed_again():
    Y = code("simplex", K)
    gradient = Objective(Exponential(), C, WEIGHT, Code(Y)).gradient(None, lambda: U, 0)
    known = Ray(Exponential(), lambda: pytest.fail("the scores were computed"), C, WEIGHT, W, gradient)
    alone = Ray(Exponential(), U, C, WEIGHT, W)
    assert known.gradient.P is gradient.P and known.K == alone.K == K
    assert_allclose(gradient.P, alone.gradient.P, rtol=1e-12)
    assert_allclose(gradient.weight, alone.gradient.weight, rtol=1e-12)
    assert_allclose(alone.gradient.weight, alone.gradient.P[np.arange(N), C])
    assert known.gap == pytest.approx(0.5 * (1 + 1 / 2)) and alone.gap is None


def test_right_answers_are_those_named_or_those_that_lead():
    lead = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 3.0, 1.0]])
    c = np.array([0, 1, 2])
    assert_array_equal(Ray(Logistic(), U[:3], c, WEIGHT[:3], lead).right, [True, False, False])  # a tie leads nowhere
    named = Ray(Logistic(), U[:3], c, WEIGHT[:3], lead, classes=np.array([1, 1, 2]))
    assert_array_equal(named.right, [False, True, True])


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Savage()], ids=str)
def test_a_ray_is_endless_where_no_example_loses_and_perfect_where_all_gain(loss):
    own = np.eye(K)[C]
    assert Ray(loss, U, C, WEIGHT, -own).endless(9.0) is None
    all_gain = Ray(loss, U, C, WEIGHT, own).endless(9.0)
    assert (all_gain.alpha, all_gain.perfect) == (9.0, True)
    own[0] = 0.0  # the first example stays where it is
    some_gain = Ray(loss, U, C, WEIGHT, own).endless(9.0)
    assert (some_gain.alpha, some_gain.perfect) == (9.0, False)
