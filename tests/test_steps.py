"""Steps: line searches against scipy and formulas against definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import CONVEX, COSTLY, GAMMA_PHI, LOSSES, STEPS, code, each, smooth_hinge
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from simplexboost.parts.losses import MM, Exponential, Logistic, OwnScoreExponential, Savage, SoftmaxCost
from simplexboost.parts.steps import (
    ClosedForm,
    ErrorStep,
    FixedStep,
    LineSearch,
    Ray,
    Stride,
    as_step,
    golden_section,
    nearest_minimum,
    newton_root,
)


def random_ray(loss, seed, n=20, K=4, size=1.0):
    """A direction along which the risk falls at first and rises in the end."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % K
    U, weight = size * rng.normal(size=(n, K)), rng.uniform(0.2, 2, n)
    W = 0.5 * rng.normal(size=(n, K)) + 0.4 * np.eye(K)[c]
    ray = Ray(loss, U, c, weight, W)
    return ray if weight @ loss.along(U, c, W)[0] < 0 else Ray(loss, U, c, weight, -W)


def codeword_ray(loss, Y, seed, n=30, accuracy=0.6):
    """A classifier h (n,) that answers with codewords, some way into boosting."""
    rng = np.random.default_rng(seed)
    K = len(Y)
    c = np.arange(n) % K
    h = np.where(rng.random(n) < accuracy, c, rng.integers(0, K, n))
    h[:2] = c[0], (c[1] + 1) % K  # one right, one wrong
    U = 0.5 * rng.normal(size=(n, Y.shape[1])) @ Y.T
    return Ray(loss, U, c, rng.uniform(0.2, 2, n), 0.5 * Y[h] @ Y.T), h


# ---- line search ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@each("loss", {**CONVEX, **{k: v for k, v in COSTLY.items() if v.convex}})
def test_line_search_minimises_convex_risks(loss, seed):
    ray = random_ray(loss, seed)
    stride = LineSearch().length(ray)
    if stride.perfect:
        assert loss.falls_forever(ray.W, ray.c)
        return
    scipys = minimize_scalar(ray.risk, bounds=(0, 4 * stride.alpha + 1), method="bounded", options={"xatol": 1e-11})
    assert ray.risk(stride.alpha) <= scipys.fun * (1 + 1e-13)
    assert stride.alpha == pytest.approx(scipys.x, rel=1e-5)
    first, _, _ = loss.along(ray.U + stride.alpha * ray.W, ray.c, ray.W)
    assert abs(ray.weight @ first) < 1e-8 * (ray.weight @ np.abs(first))


def test_the_rays_above_have_finite_minima():
    for loss in CONVEX.values():
        assert not all(LineSearch().length(random_ray(loss, seed)).perfect for seed in range(6))


@each("loss", CONVEX)
@pytest.mark.parametrize("size", [1e-3, 30.0])
def test_line_search_minimises_for_scores_of_any_size(loss, size):
    ray = random_ray(loss, seed=1, size=size)
    stride = LineSearch().length(ray)
    first, _, _ = loss.along(ray.U + stride.alpha * ray.W, ray.c, ray.W)
    assert math.isfinite(stride.alpha) and stride.alpha > 0
    assert stride.perfect or abs(ray.weight @ first) <= 1e-6 * (ray.weight @ np.abs(first))


@each("loss", CONVEX)
def test_line_search_minimises_where_newton_would_creep(loss):
    # Weights of e^{1000}: Newton alone comes 1/a nearer a step.
    ray = random_ray(loss, seed=1, size=300.0)
    stride = LineSearch().length(ray)
    first, _, _ = loss.along(ray.U + stride.alpha * ray.W, ray.c, ray.W)
    assert stride.perfect or abs(ray.weight @ first) <= 1e-6 * (ray.weight @ np.abs(first))


@each("loss", {k: v for k, v in {**LOSSES, **COSTLY}.items() if not v.convex})
@pytest.mark.parametrize("seed", range(8))
def test_line_search_ends_in_a_local_minimum_where_the_risk_is_not_convex(loss, seed):
    ray = random_ray(loss, seed)
    alpha = LineSearch().length(ray).alpha
    assert 0 < alpha <= 10
    assert ray.risk(alpha) < ray.risk(0.0)
    if alpha < 10:
        nearby = alpha * (1 + np.array([-1e-3, 1e-3]))
        assert ray.risk(alpha) <= min(map(ray.risk, nearby))


@each("loss", LOSSES)
def test_no_step_against_the_gradient(loss):
    ray = random_ray(loss, seed=2)
    uphill = Ray(loss, ray.U, ray.c, ray.weight, -ray.W)
    assert LineSearch().length(uphill) == Stride(0.0)


@each("loss", LOSSES)
def test_perfect_learners_are_flagged_and_capped(loss):
    ray = random_ray(loss, seed=3)
    W = np.where(np.eye(4, dtype=bool)[ray.c], 1.0, -0.5)
    stride = LineSearch(endless_step=7.5).length(Ray(loss, ray.U, ray.c, ray.weight, W))
    assert stride == Stride(7.5, perfect=True)
    W[0] = -W[0]  # one example loses
    stride = LineSearch(endless_step=7.5).length(Ray(loss, ray.U, ray.c, ray.weight, W))
    assert not stride.perfect


def test_line_search_goes_beyond_endless_step_where_the_minimum_is_there():
    ray = random_ray(Exponential(), seed=0)
    slow = Ray(ray.loss, ray.U, ray.c, ray.weight, 1e-3 * ray.W)
    assert LineSearch(endless_step=2.0).length(slow).alpha == pytest.approx(
        1e3 * LineSearch().length(ray).alpha, rel=1e-8
    )


def test_weights_of_examples_are_repetitions():
    ray = random_ray(Logistic(), seed=4)
    times = np.arange(len(ray.c)) % 3
    weighted = Ray(ray.loss, ray.U, ray.c, times.astype(float), ray.W)
    U, W, c = (np.repeat(a, times, axis=0) for a in (ray.U, ray.W, ray.c))
    repeated = Ray(ray.loss, U, c, np.ones(len(c)), W)
    assert LineSearch().length(weighted).alpha == pytest.approx(LineSearch().length(repeated).alpha, rel=1e-9)


# ---- the perfect learner --------------------------------------------------------------------------------------------


@st.composite
def directions(draw):
    """Integer directions, exact in floating point, that often favour the true class."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, K = draw(st.integers(1, 4)), 4
    c = rng.integers(0, K, n)
    W = rng.integers(-3, 4, (n, K)).astype(float)
    own = np.arange(n), c
    if draw(st.booleans()):
        W[own] = W.max(axis=1)
    if draw(st.booleans()):
        W = -np.abs(W)
        W[own] *= -1
    if draw(st.booleans()):
        W[0] = rng.integers(-3, 4, K)
    return W, c, rng.normal(size=(n, K))


@each("loss", {**LOSSES, **COSTLY})
def test_falls_forever_means_that_no_loss_ever_rises(loss):
    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(directions())
    def holds(drawn):
        W, c, U = drawn
        if loss.falls_forever(W, c):
            values = [loss.value(U + alpha * W, c) for alpha in (0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0)]
            assert (np.diff(values, axis=0) <= 1e-12 * np.abs(values[:-1])).all()

    holds()


@each("loss", {**GAMMA_PHI, "softmax-cost": SoftmaxCost()})
def test_falls_forever_exactly_where_the_true_class_loses_to_no_rival(loss):
    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(directions())
    def holds(drawn):
        W, c, U = drawn
        D = W[np.arange(len(c)), c][:, None] - W
        assert loss.falls_forever(W, c) == bool((D >= 0).all())
        if (D < 0).any():  # and then some loss does rise
            assert (loss.value(U + 50.0 * W, c) > loss.value(U, c) * (1 + 1e-12)).any()

    holds()


def test_falls_forever_of_score_losses():
    c = np.array([0])
    own_only = np.array([[0.0, -1.0, -1.0]])
    shift = np.array([[1.0, 1.0, 1.0]])
    assert [LOSSES[name].falls_forever(own_only, c) for name in ("exponential", "one-vs-all", "own-score")] == [
        True
    ] * 3
    assert [LOSSES[name].falls_forever(shift, c) for name in ("exponential", "one-vs-all", "own-score")] == [
        True,  # a common shift changes nothing
        False,  # the rivals' scores rise
        True,
    ]


# ---- closed forms ---------------------------------------------------------------------------------------------------


def pair_weights(ray, h):
    """A₊, A₋ and Z from the definition: E[i, k] = w_i exp(−a V[i, k])."""
    gained = lost = total = 0.0
    for u, c, w, answer in zip(ray.U, ray.c, ray.weight, h, strict=True):
        E = [w * math.exp(-ray.loss.rate * (u[c] - u[k])) if k != c else 0.0 for k in range(len(u))]
        total += sum(E)
        if answer == c:
            gained += sum(E)
        else:
            lost += E[answer]
    return gained, lost, total


# What the true class gains on a rival along a right answer's codeword, ½⟨y_c, y_c − y_k⟩: ρ = a r.
GAIN = {
    "simplex": lambda K: K / (2 * (K - 1)),
    "canonical": lambda K: 0.5,
    "samme": lambda K: 0.5 * (K / (K - 1)) ** 2,
}


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("name", GAIN)
@pytest.mark.parametrize("loss", [Exponential(), MM()], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_closed_form_is_the_formula_and_the_line_search(loss, name, K, seed):
    ray, h = codeword_ray(loss, code(name, K), seed)
    gained, lost, _ = pair_weights(ray, h)
    if gained <= lost:
        assert ClosedForm().length(ray).alpha == LineSearch().length(ray).alpha == 0.0
        return
    rho = loss.rate * GAIN[name](K)
    alpha = ClosedForm().length(ray).alpha
    assert alpha == pytest.approx(math.log(gained / lost) / (2 * rho), rel=1e-10)
    assert alpha == pytest.approx(LineSearch().length(ray).alpha, rel=1e-7)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_edge_rule_is_the_step_of_adaboost_mm(K, seed):
    # Canonical codewords and the mm loss: E = exp(−2(U_c − U_k)) = exp(F_k − F_c), so F holds the votes themselves
    # and α is AdaBoost.MM's ½ ln((1+δ)/(1−δ)) without any factor. On simplex codewords with the exponential loss
    # V = K/(2(K−1)) (ζ_c − ζ_k), so there α K/(2(K−1)) is.
    for loss, name, factor in [(MM(), "canonical", 1.0), (Exponential(), "simplex", K / (2 * (K - 1)))]:
        ray, h = codeword_ray(loss, code(name, K), seed, accuracy=0.8)
        gained, lost, total = pair_weights(ray, h)
        delta = (gained - lost) / total
        alpha = ClosedForm(rule="edge").length(ray).alpha
        assert factor * alpha == pytest.approx(0.5 * math.log((1 + delta) / (1 - delta)), rel=1e-10)
        assert alpha <= ClosedForm().length(ray).alpha * (1 + 1e-12)


def test_closed_form_caps_perfect_learners():
    Y = code("simplex", 3)
    c = np.arange(9) % 3
    ray = Ray(Exponential(), np.zeros((9, 3)), c, np.ones(9), 0.5 * Y[c] @ Y.T)
    for rule in ("exact", "edge"):
        assert ClosedForm(rule, endless_step=4.0).length(ray)[:2] == (4.0, True)


@pytest.mark.parametrize("rule", ["exact", "edge"])
def test_closed_form_stays_finite_where_the_losing_pairs_underflow(rule):
    # The one wrong example has a margin of 1000: its weight, e^{−1000}, is zero in floating point.
    U = np.array([[0.0, 0.0], [1000.0, 0.0]])
    W = np.array([[0.5, -0.5], [-0.5, 0.5]])
    alpha = ClosedForm(rule).length(Ray(Exponential(), U, np.array([0, 0]), np.ones(2), W)).alpha
    assert math.isfinite(alpha) and alpha > 0


def test_closed_form_refuses_other_losses():
    for loss in (Logistic(), Savage(), smooth_hinge()):
        with pytest.raises(TypeError, match="needs an exponential loss"):
            ClosedForm().check(loss)


def test_closed_form_refuses_learners_without_codewords():
    with pytest.raises(TypeError, match="answers with codewords"):
        ClosedForm().length(random_ray(Exponential(), 0))


def test_fixed_step():
    assert FixedStep(0.3).length(random_ray(Logistic(), 0)) == Stride(0.3)


@pytest.mark.parametrize(
    "step",
    [
        LineSearch(endless_step=0.0),
        LineSearch(tol=-1.0),
        LineSearch(tol=0.2),
        LineSearch(tol="small"),
        ClosedForm(rule="61"),
        ClosedForm(endless_step=-1.0),
        FixedStep(0.0),
        FixedStep(float("nan")),
        FixedStep(None),
    ],
    ids=str,
)
def test_parameters_without_meaning_are_refused(step):
    with pytest.raises((TypeError, ValueError), match=r"endless_step|tol|rule|alpha"):
        step.check(OwnScoreExponential())


@each("step", STEPS)
def test_good_steps_pass_their_check(step):
    step.check(OwnScoreExponential())
    assert as_step(step) is step


def test_as_step_names_the_choices():
    with pytest.raises(ValueError, match="step='newton' is unknown; choose one of 'line-search'"):
        as_step("newton")


# ---- one-dimensional searches ---------------------------------------------------------------------------------------

# An increasing slope, its derivative, its root.
SLOPES = {
    "line": (lambda a: a - 3.0, lambda a: 1.0, 3.0),
    "exp": (lambda a: math.exp(a) - 5.0, lambda a: math.exp(a), math.log(5.0)),
    "flat start": (lambda a: a**3 - 8e6, lambda a: 3 * a**2, 200.0),
    "flat end": (lambda a: math.tanh(a - 30), lambda a: 1 - math.tanh(a - 30) ** 2, 30.0),
    "small": (lambda a: a - 1e-8, lambda a: 1.0, 1e-8),
    "large": (lambda a: math.atan(a - 1e6), lambda a: 1 / (1 + (a - 1e6) ** 2), 1e6),
    "kink": (lambda a: -1.0 if a < 2.5 else 1.0, lambda a: 0.0, 2.5),
}


@each("case", SLOPES)
@pytest.mark.parametrize("newton", [True, False])
def test_newton_root(case, newton):
    slope, second, root = case
    found = newton_root(lambda a: (slope(a), second(a) if newton else None), tol=1e-10)
    assert found == pytest.approx(root, rel=1e-9)


def test_newton_root_is_quick_where_there_is_a_second_derivative():
    calls = []
    newton_root(lambda a: (calls.append(a), (math.exp(a) - 5.0, math.exp(a)))[1], tol=1e-10)
    assert len(calls) < 15


def test_newton_root_at_the_ends():
    assert newton_root(lambda a: (a + 1.0, 1.0), 1e-10) == 0.0  # rises at once
    assert newton_root(lambda a: (a, 1.0), 1e-10) == 0.0
    assert newton_root(lambda a: (-1.0, None), 1e-10) > 1e9  # falls forever
    assert newton_root(lambda a: (-math.exp(-a), math.exp(-a)), 1e-10) > 30.0


def test_newton_root_does_not_trust_wrong_derivatives():
    for wrong in (1e-12, 1e-3, -1.0, math.nan):
        assert newton_root(lambda a, wrong=wrong: (a - 3.0, wrong), 1e-10) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("root", [1e-3, 0.7, 42.0])
def test_golden_section(root):
    assert golden_section(lambda a: (a - root) ** 2, 0.0, 3 * root, 1e-8) == pytest.approx(root, rel=1e-6)
    assert golden_section(lambda a: abs(a - root), 0.0, 3 * root, 1e-10) == pytest.approx(root, rel=1e-8)
    assert golden_section(lambda a: -a, 0.0, root, 1e-8) == pytest.approx(root, rel=1e-6)  # at the end


@pytest.mark.parametrize("root", [1e-6, 0.004, 0.3, 6.0])
def test_nearest_minimum(root):
    assert nearest_minimum(lambda a: (a - root) ** 2, max_step=10.0) == pytest.approx(root, rel=1e-5)
    assert nearest_minimum(lambda a: abs(a - root) ** 1.5, max_step=10.0) == pytest.approx(root, rel=1e-5)


def test_nearest_minimum_at_the_ends():
    assert nearest_minimum(lambda a: a, 10.0) == 0.0
    assert nearest_minimum(lambda a: 1.0, 10.0) == 0.0
    assert nearest_minimum(lambda a: -a, 10.0) == 10.0
    assert nearest_minimum(lambda a: (a - 12.0) ** 2, 10.0) == 10.0
    assert nearest_minimum(lambda a: -a, 0.005) == pytest.approx(0.005, rel=1e-6)
    assert nearest_minimum(lambda a: (a - 0.003) ** 2, 0.005) == pytest.approx(0.003, rel=1e-5)


def test_nearest_minimum_between_the_last_doubling_and_max_step():
    assert nearest_minimum(lambda a: (a - 9.5) ** 2, 10.0) == pytest.approx(9.5, rel=1e-5)


def test_nearest_minimum_never_climbs_a_step():
    def risk(a):
        return -0.05 * a + 1 / (1 + math.exp(min(700.0, -400 * (a - 0.66))))  # a step up at 0.66, falling beyond

    assert risk(nearest_minimum(risk, 10.0)) < risk(0.0)


def test_line_search_never_raises_the_risk_of_a_steep_savage_ray():
    # One example, far on the right side, crosses over at α = 0.66 within 0.01; the other gains a little all the way.
    U, W = np.array([[132.0, 0.0], [0.0, 0.0]]), np.array([[-200.0, 0.0], [0.05, 0.0]])
    ray = Ray(Savage(), U, np.array([0, 0]), np.ones(2), W)
    assert ray.risk(LineSearch().length(ray).alpha) < ray.risk(0.0)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.1, 40), st.floats(0, 6.3)), min_size=1, max_size=5))
def test_nearest_minimum_never_raises_the_risk(waves):
    def risk(a):
        return sum(height * math.cos(speed * a + phase) for height, speed, phase in waves)

    assert risk(nearest_minimum(risk, 10.0)) <= risk(0.0)


@pytest.mark.parametrize("better_than", ["half", "chance"])
@pytest.mark.parametrize("error", [1e-3, 1e-7, 1e-200])
def test_votes_are_cut_only_where_a_limit_is_set(better_than, error):
    weight = np.array([1.0 - error, error])
    W = 0.5 * np.eye(3)[[0, 1]]  # right, wrong
    ray = Ray(OwnScoreExponential(), np.zeros((2, 3)), np.array([0, 2]), weight, W)
    exact = np.log1p(-error) - np.log(error) + (np.log(2) if better_than == "chance" else 0.0)
    assert ErrorStep(better_than).length(ray).alpha == pytest.approx(exact, rel=1e-6)
    for most in (10.0, 20.0, 1000.0):  # so that 10 and 460, which the formula gives, are below and above
        assert ErrorStep(better_than, most).length(ray).alpha == pytest.approx(min(exact, most), rel=1e-6)
    faultless = Ray(OwnScoreExponential(), np.zeros((2, 3)), np.array([0, 1]), weight, W)
    assert ErrorStep(better_than).length(faultless).alpha == pytest.approx(10.0)
    assert ErrorStep(better_than, 20.0).length(faultless).alpha == pytest.approx(20.0)
