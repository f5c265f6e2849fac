"""A loss at work: gradients against differences of the risk, carried residuals against fresh ones, and short cuts."""

from __future__ import annotations

import numpy as np
import pytest
from cases import COSTLY, LOSSES, code, each
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.engine import OneHot
from simplexboost.model.code import Code
from simplexboost.parts.learners import ClassTree, Request
from simplexboost.parts.losses import MM, Exponential, Gradient, Logistic, Loss, Objective, OwnScoreExponential
from simplexboost.parts.losses.base import ExponentialSum
from simplexboost.parts.losses.gamma_phi import MOST_CARRIED, REFRESH, CarriedObjective
from simplexboost.parts.losses.objective import mean_loss
from simplexboost.parts.losses.scores import OwnScoreObjective, in_own_column

K, N = 4, 9
C = np.arange(N) % K
WEIGHT = np.random.default_rng(1).uniform(0.5, 1.5, N)
CODES = {name: code(name, K) for name in ("simplex", "canonical", "samme", "one-vs-all", "random-dense")}


def at(Y, scale=0.7):
    """A predictor F (n, d)."""
    return scale * np.random.default_rng(2).normal(size=(N, Y.shape[1]))


def scores(Y, F):
    return 0.5 * F @ Y.T


def never():
    """Scores that nobody may ask for."""
    raise AssertionError("the scores were computed")


def numerical_gradient(risk, F, eps=1e-6):
    """Central differences of the risk at F, (n, d)."""
    out = np.zeros_like(F)
    for place in np.ndindex(*F.shape):
        step = np.zeros_like(F)
        step[place] = eps
        out[place] = (risk(F + step) - risk(F - step)) / (2 * eps)
    return out


# ---- risk and gradient ----------------------------------------------------------------------------------------------


@each("Y", CODES)
@each("loss", LOSSES | COSTLY)
def test_the_gradient_is_that_of_the_risk(loss, Y):
    F, objective = at(Y), loss.objective(C, WEIGHT, Code(Y))
    scaled = objective.gradient(F, lambda: scores(Y, F), 0).P.copy()  # its memory is used again
    found = objective.gradient(F, lambda: scores(Y, F), 0, scaled=False)
    expected = -WEIGHT.sum() * numerical_gradient(objective.risk, F)
    assert_allclose(found.G, expected, rtol=1e-5, atol=1e-7)
    ratio = np.linalg.norm(scaled) / np.linalg.norm(found.P)
    assert_allclose(scaled, ratio * found.P, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_equal_weights_multiply_the_gradient(weight):
    Y, U = np.eye(K), np.zeros((N, K))
    found = Logistic().objective(C, np.full(N, weight), Code(Y)).gradient(np.zeros((N, K)), lambda: U, 0)
    # The logistic residual at equal scores is 2 (1 − 1/K) at the class and −2/K elsewhere.
    assert_allclose(found.P, weight * 2 * (np.eye(K)[C] - 1 / K), rtol=1e-12)


@each("loss", LOSSES)
def test_the_risk_is_the_weighted_mean_of_the_loss(loss):
    Y = CODES["simplex"]
    F, objective = at(Y), loss.objective(C, WEIGHT, Code(Y))
    values = loss.value(scores(Y, F), C)
    assert objective.risk(F) == pytest.approx(np.average(values, weights=WEIGHT), rel=1e-12)
    told = objective.gradient(F, lambda: scores(Y, F), 0).risk
    assert told is None or told == pytest.approx(objective.risk(F), rel=1e-12)
    assert (told is not None) == isinstance(loss, ExponentialSum)


class FirstScore(Loss):
    """U₀, and how many rows were asked for at a time."""

    convex = True

    def value(self, U, c):
        self.__dict__.setdefault("asked", []).append(len(U))
        return U[:, 0] + c

    def residual(self, U, c):
        raise NotImplementedError


def test_mean_losses_are_summed_in_blocks():
    # 2**19 classes: 2**22 scores are eight rows.
    loss, Y = FirstScore(), np.ones((2**19, 1), dtype=np.float32)
    Y[1:] = 0
    F, c, weight = np.arange(19, dtype=np.float32)[:, None], np.arange(19) % 3, np.arange(1.0, 20.0)
    expected = np.average(0.5 * F[:, 0] + c, weights=weight)
    assert mean_loss(loss, Code(Y), F, c, weight) == pytest.approx(expected, rel=1e-12)
    assert loss.asked == [8, 8, 3]


def test_the_curvature_is_the_trace_by_differences():
    Y, eps = CODES["random-dense"], 1e-4
    F, objective = at(Y), Logistic().objective(C, WEIGHT, Code(Y))
    expected = np.zeros(N)
    for j in range(Y.shape[1]):
        step = eps * np.eye(Y.shape[1])[j]
        three = [Logistic().value(scores(Y, F + s), C) for s in (step, 0.0, -step)]
        expected += WEIGHT * (three[0] - 2 * three[1] + three[2]) / eps**2
    assert_allclose(objective.curvature(scores(Y, F)), expected, rtol=1e-5)


# ---- what a gradient tells ------------------------------------------------------------------------------------------


@each("Y", {**CODES, "canonical": np.eye(K)})
def test_class_trees_sum_gains_up_to_a_factor_and_a_constant_in_every_row(Y):
    P = np.random.default_rng(3).normal(size=(N, K))
    gradient = Gradient(C, np.ones(N), P, Code(Y))
    found = ClassTree().statistics(Request(None, gradient, Y))
    gains = gradient.G @ Y.T
    even = gradient.code.gap is not None
    assert (found is P) == even
    factor = 0.5 * np.linalg.norm(Y[0] - Y[1]) ** 2 / 2 if even else 1.0
    assert_allclose(gains[:, :1] - gains, factor * (found[:, :1] - found), rtol=1e-10, atol=1e-12)


def test_class_trees_sum_weights_where_they_contain_the_gradient():
    gradient = Gradient(C, np.ones(N), np.zeros((N, K)), Code(np.eye(K)), single=True)
    assert isinstance(ClassTree().statistics(Request(None, gradient, np.eye(K))), OneHot)


def test_a_gradient_is_computed_when_asked_for_and_once():
    calls = []

    def residual():
        calls.append(1)
        return np.ones((N, K))

    gradient = Gradient(C, np.ones(N), residual, Code(np.eye(K)))
    assert calls == []
    assert_array_equal(gradient.G, 0.5 * np.ones((N, K)))
    assert gradient.P is gradient.P and calls == [1]


# ---- residuals that are carried along -------------------------------------------------------------------------------


def carried(Y=CODES["simplex"], loss=None):
    return CarriedObjective(Exponential() if loss is None else loss, C, WEIGHT, Code(Y))


@pytest.mark.parametrize("loss", [Exponential(), MM()], ids=str)
@pytest.mark.parametrize("name", ["simplex", "canonical", "samme"])
def test_a_carried_residual_is_the_fresh_one(name, loss):
    Y, rng = CODES[name], np.random.default_rng(4)
    objective, F = carried(Y, loss), np.zeros((N, Y.shape[1]))
    afresh = []
    for n_rounds in range(2 * REFRESH + 2):
        U, asked = scores(Y, F), []
        found = objective.gradient(F, lambda U=U, asked=asked: asked.append(1) or U, n_rounds)
        expected = WEIGHT[:, None] * loss.residual(U, C)
        ratio = np.abs(found.P).max() / np.abs(expected).max()
        assert_allclose(found.P, ratio * expected, rtol=1e-9, atol=1e-12)
        assert_allclose(found.weight, found.P[np.arange(N), C], rtol=1e-9)
        assert found.risk == pytest.approx(np.average(loss.value(U, C), weights=WEIGHT), rel=1e-9)
        if asked:
            afresh.append(n_rounds)
        classes, step = rng.integers(0, K, N), rng.uniform(0.1, 0.5)
        F = F + step * Y[classes]
        objective.follow_votes(classes, step, n_rounds + 1)
    assert afresh == [0, REFRESH, 2 * REFRESH]


def voted_once(Y=CODES["simplex"], classes=C, step=0.1, n_rounds=1):
    """An objective after a gradient at F = 0 and a round."""
    objective = carried(Y)
    objective.gradient(np.zeros((N, Y.shape[1])), lambda: np.zeros((N, K)), 0)
    objective.follow_votes(classes, step, n_rounds)
    return objective


def test_a_residual_is_carried_to_the_next_round_alone():
    voted_once().gradient(None, never, 1)
    for objective, n_rounds in [
        (voted_once(), 2),
        (voted_once(n_rounds=2), 2),  # a round in between was not told
        (voted_once(Y=CODES["random-dense"]), 1),  # votes do not gain the same on all rivals
        (voted_once(step=MOST_CARRIED / Code(CODES["simplex"]).gap), 1),  # loses digits
    ]:
        with pytest.raises(AssertionError, match="the scores were computed"):
            objective.gradient(None, never, n_rounds)
    voted_once(step=0.99 * MOST_CARRIED / Code(CODES["simplex"]).gap).gradient(None, never, 1)


def test_a_vote_before_any_gradient_is_nothing_to_carry():
    objective = carried()
    objective.follow_votes(C, 0.1, 1)
    F = 0.1 * CODES["simplex"][C]
    found = objective.gradient(F, lambda: scores(CODES["simplex"], F), 1)
    assert found.risk == pytest.approx((K - 1) * np.exp(-0.1 * 0.5 * (1 + 1 / 3)), rel=1e-12)


# ---- the own score alone --------------------------------------------------------------------------------------------


@each("Y", CODES)
@pytest.mark.parametrize("alpha", [1.0, "1/K"])
def test_the_own_score_path_is_the_generic_one(alpha, Y):
    loss, F = OwnScoreExponential(alpha), at(Y)
    short = loss.objective(C, WEIGHT, Code(Y))
    found = short.gradient(F, never, 0)
    generic = Objective(loss, C, WEIGHT, Code(Y)).gradient(F, lambda: scores(Y, F), 0)
    assert isinstance(short, OwnScoreObjective)
    assert_allclose(found.P, generic.P, rtol=1e-12, atol=1e-14)
    assert_allclose(found.G, generic.G, rtol=1e-12, atol=1e-14)
    assert_allclose(found.weight, generic.weight, rtol=1e-12)
    assert_array_equal(found.labels, C)
    assert found.risk == pytest.approx(short.risk(F), rel=1e-12)
    assert found.single == (Code(Y).gap is not None)


def test_the_own_score_by_hand():
    # e^{−2 α U_c} with α = 1 and U = F / 2 is e^{−F_c}.
    F = np.array([[np.log(2.0), 5.0], [7.0, 0.0]])
    objective = OwnScoreExponential(1.0).objective(np.array([0, 1]), np.array([1.0, 3.0]), Code(np.eye(2)))
    assert objective.risk(F) == pytest.approx((0.5 + 3.0) / 4)
    P = objective.gradient(F, never, 0).P
    assert_allclose(P / P[1, 1], [[1 / 6, 0.0], [0.0, 1.0]], rtol=1e-12)


def test_numbers_of_true_classes_are_spread_out():
    assert_array_equal(in_own_column(np.array([3.0, 4.0]), np.array([2, 0]), 3), [[0, 0, 3], [4, 0, 0]])
