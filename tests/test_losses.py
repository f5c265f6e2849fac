"""Losses against their definitions: finite differences, naive formulas, golden numbers, recovered posteriors.

The naive formulas below are written from the definitions, example by example and pair by pair, and share no code with
the library.
"""

from __future__ import annotations

import decimal
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.base import clone

from simplexboost.parts import losses
from simplexboost.parts.losses import (
    LOSSES,
    MM,
    Exponential,
    Logistic,
    Loss,
    OneVsAll,
    OwnScoreExponential,
    Savage,
    SoftmaxCost,
    UserGammaPhi,
    as_loss,
    margins,
)
from simplexboost.parts.losses.links import reduce_rows, softmax, stationary

GOLDEN = json.loads((Path(__file__).parent / "golden" / "losses.json").read_text())
COST3 = np.array([[9.0, 2.0, 0.5], [1.0, 9.0, 3.0], [0.25, 4.0, 9.0]])


def identity(v):
    return v


def zeros(v):
    return np.zeros_like(v)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def soft_pair(**more):
    """γ(v) = log(1 + v), φ(v) = log(1 + e^{−v}): not of the exponential family."""
    return UserGammaPhi(
        gamma=np.log1p,
        phi=lambda v: np.logaddexp(0, -v),
        gamma_prime=lambda v: 1 / (1 + v),
        phi_prime=lambda v: -sigmoid(-v),
        gamma_second=lambda v: -1 / (1 + v) ** 2,
        phi_second=lambda v: sigmoid(v) * sigmoid(-v),
        **more,
    )


def convex_pair(**more):
    """γ(v) = v, φ(v) = log(1 + e^{−v}): convex."""
    return UserGammaPhi(
        gamma=identity,
        phi=lambda v: np.logaddexp(0, -v),
        gamma_prime=np.ones_like,
        phi_prime=lambda v: -sigmoid(-v),
        gamma_second=zeros,
        phi_second=lambda v: sigmoid(v) * sigmoid(-v),
        convex=True,
        **more,
    )


PAIRS = {  # (γ, γ', γ'', φ, φ', φ'') of the named losses, as the table of the paper prints them
    "exponential": (identity, np.ones_like, zeros, 1),
    "mm": (identity, np.ones_like, zeros, 2),
    "logistic": (np.log1p, lambda v: 1 / (1 + v), lambda v: -1 / (1 + v) ** 2, 2),
    "savage": (
        lambda v: (v / (1 + v)) ** 2,
        lambda v: 2 * v / (1 + v) ** 3,
        lambda v: 2 * (1 - 2 * v) / (1 + v) ** 4,
        2,
    ),
}


def literal(name, **more):
    """The named loss as a user's pair."""
    gamma, gamma_prime, gamma_second, a = PAIRS[name]
    return UserGammaPhi(
        gamma=gamma,
        phi=lambda v: np.exp(-a * v),
        gamma_prime=gamma_prime,
        phi_prime=lambda v: -a * np.exp(-a * v),
        gamma_second=gamma_second,
        phi_second=lambda v: a * a * np.exp(-a * v),
        **more,
    )


NAMED = {"exponential": Exponential, "logistic": Logistic, "savage": Savage, "mm": MM}
ALL = {
    **{name: kind() for name, kind in LOSSES.items()},
    "own-score 1/3": OwnScoreExponential(alpha=1 / 3),
    "soft pair": soft_pair(),
    "convex pair": convex_pair(),
}
COSTLY = {
    **{f"{name} with cost": kind(cost_matrix=COST3) for name, kind in NAMED.items()},
    "soft pair with cost": soft_pair(cost_matrix=COST3),
    "softmax-cost with cost": SoftmaxCost(cost_matrix=COST3),
}
GAMMA_PHI = {k: v for k, v in {**ALL, **COSTLY}.items() if isinstance(v, losses.GammaPhi)}


def cases(table):
    return pytest.mark.parametrize("loss", table.values(), ids=list(table))


def simplex(K):
    Y = np.array([[1.0], [-1.0]])
    for k in range(3, K + 1):
        below = math.sqrt(k * (k - 2)) / (k - 1) * Y
        Y = np.vstack([np.eye(1, k - 1), np.hstack([np.full((k - 1, 1), -1 / (k - 1)), below])])
    return Y


CODES = {
    "simplex": simplex,
    "canonical": np.eye,
    "random": lambda K: np.random.default_rng(5).normal(size=(K, 2)),
}


def draw(K, n=12, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, K)) * scale, np.arange(n) % K


def differences(function, x, step=1e-5):
    """Central differences of an (n,)-valued function in each of the columns of x (n, m) -> (n, m)."""
    columns = []
    for j in range(x.shape[1]):
        e = np.zeros_like(x)
        e[:, j] = step
        columns.append((function(x + e) - function(x - e)) / (2 * step))
    return np.stack(columns, axis=1)


# --- I-1: derivatives -------------------------------------------------------------------------------------------------


@cases({**ALL, **COSTLY})
def test_residual_is_minus_the_gradient(loss):
    U, c = draw(3)
    np.testing.assert_allclose(loss.residual(U, c), -differences(lambda U: loss.value(U, c), U), atol=1e-6, rtol=1e-6)


@cases(ALL)
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("code", CODES)
def test_derivatives_in_the_predictor(loss, code, K):
    Y = CODES[code](K)
    rng = np.random.default_rng(K)
    F, c, h = rng.normal(size=(10, Y.shape[1])), np.arange(10) % K, rng.normal(size=(10, Y.shape[1]))
    scores = lambda F: 0.5 * F @ Y.T  # noqa: E731
    pull = lambda F: 0.5 * loss.residual(scores(F), c) @ Y  # noqa: E731
    np.testing.assert_allclose(pull(F), -differences(lambda F: loss.value(scores(F), c), F), atol=1e-6, rtol=1e-6)

    first, second, log_scale = loss.along(scores(F), c, scores(h))
    t = 1e-5
    slope = (loss.value(scores(F + t * h), c) - loss.value(scores(F - t * h), c)) / (2 * t)
    bend = -((pull(F + t * h) - pull(F - t * h)) * h).sum(axis=1) / (2 * t)
    np.testing.assert_allclose(np.exp(log_scale) * first, slope, atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(np.exp(log_scale) * second, bend, atol=1e-6, rtol=1e-6)

    hessian = [-differences(lambda F, j=j: pull(F)[:, j], F)[:, j] for j in range(Y.shape[1])]
    np.testing.assert_allclose(loss.curvature(scores(F), c, Y), np.stack(hessian, axis=1), atol=1e-6, rtol=1e-6)


@cases(COSTLY)
def test_second_derivatives_with_costs(loss):
    U, c = draw(3, seed=3)
    Y, W = simplex(3), draw(3, seed=4)[0]
    first, second, log_scale = loss.along(U, c, W)
    t = 1e-5
    slope = (loss.value(U + t * W, c) - loss.value(U - t * W, c)) / (2 * t)
    bend = -((loss.residual(U + t * W, c) - loss.residual(U - t * W, c)) * W).sum(axis=1) / (2 * t)
    np.testing.assert_allclose(np.exp(log_scale) * first, slope, atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(np.exp(log_scale) * second, bend, atol=1e-6, rtol=1e-6)
    columns = [loss.along(U, c, np.tile(0.5 * Y[:, j], (len(U), 1))) for j in range(2)]
    expected = np.stack([np.exp(scale) * second for _, second, scale in columns], axis=1)
    np.testing.assert_allclose(loss.curvature(U, c, Y), expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("code", CODES)
def test_trace_of_the_logistic_curvature(code):
    Y = CODES[code](4)
    U, c = draw(4, scale=2.0)
    p = np.exp(2 * U) / np.exp(2 * U).sum(axis=1, keepdims=True)
    trace = p @ (Y**2).sum(axis=1) - ((p @ Y) ** 2).sum(axis=1)
    np.testing.assert_allclose(Logistic().curvature(U, c, Y).sum(axis=1), trace, rtol=1e-10)


def test_logistic_curvature_of_canonical_codes_keeps_its_digits():
    # p(1 − p) of the true class, 1 − p = e^{−100} far below the precision of p.
    H = Logistic().curvature(np.array([[50.0, 0.0]]), np.array([0]), np.eye(2))
    np.testing.assert_allclose(H, math.exp(-100), rtol=1e-12)


@cases({k: v for k, v in {**ALL, **COSTLY}.items() if v.convex})
def test_convex_losses_bend_upwards(loss):
    U, c = draw(3, n=300, scale=3.0)
    _, second, _ = loss.along(U, c, draw(3, n=300, seed=1)[0])
    assert (second >= 0).all()


@pytest.mark.parametrize("name", ["exponential", "logistic", "mm"])
def test_curvature_of_a_flat_coordinate_is_not_negative(name):
    # All codewords agree in this coordinate: the variance is zero, and rounding must not push it below.
    U, c = draw(3, n=200)
    H = NAMED[name]().curvature(U, c, np.full((3, 1), 0.1))
    assert (H >= 0).all()
    np.testing.assert_allclose(H, 0.0, atol=1e-12)


@cases({k: v for k, v in ALL.items() if not v.convex and k != "soft pair"})
def test_the_others_do_not(loss):
    U, c = draw(3, n=300, scale=3.0)
    _, second, _ = loss.along(U, c, draw(3, n=300, seed=1)[0])
    assert second.min() < -0.01


def test_the_convex_losses_are_these():
    assert {name for name, loss in ALL.items() if loss.convex} == {
        "exponential", "logistic", "mm", "one-vs-all", "own-score", "own-score 1/3", "convex pair"
    }  # fmt: skip


# --- I-2: stable forms against the definitions ------------------------------------------------------------------------


def naive_inner_sum(u, c, a, cost=None):
    """Σ_{k≠c} cost[c][k] e^{−a(u_c − u_k)} in 60 digits, without bounds on the exponent."""
    total = decimal.Decimal(0)
    for k in range(len(u)):
        if k != c:
            gap = decimal.Decimal(float(u[c])) - decimal.Decimal(float(u[k]))
            weight = decimal.Decimal(1 if cost is None else float(cost[c][k]))
            total += weight * (-a * gap).exp()
    return total


def naive_value(name, v):
    if name in ("exponential", "mm"):
        return v
    return (1 + v).ln() if name == "logistic" else (v / (1 + v)) ** 2


def naive_weight(name, v):
    """The weight w = a γ'(v) v of (29)."""
    factor = {"exponential": 1, "mm": 2, "logistic": 2 / (1 + v), "savage": 4 * v / (1 + v) ** 3}[name]
    return factor * v


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("cost", [None, COST3], ids=["plain", "cost"])
def test_stable_forms_equal_the_definitions(name, scale, cost):
    loss = NAMED[name](cost_matrix=cost)
    U, c = draw(3, n=20, scale=scale)
    value, log_value, P = loss.value(U, c), loss.log_value(U, c), loss.residual(U, c)
    scaled, log_scale = loss.scaled_residual(U, c)
    with decimal.localcontext(decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)):
        ceiling = decimal.Decimal(700).exp()
        for i in range(len(U)):
            v = naive_inner_sum(U[i], c[i], PAIRS[name][3], cost)
            L = naive_value(name, v) if v > decimal.Decimal("1e-50") else {"savage": v * v}.get(name, v)
            assert value[i] == pytest.approx(float(min(L, ceiling)), rel=1e-10, abs=1e-307)
            assert log_value[i] == pytest.approx(float(L.ln()), rel=1e-12, abs=1e-12)
            w = naive_weight(name, v)
            assert P[i, c[i]] == pytest.approx(float(min(w, ceiling)), rel=1e-10, abs=1e-307)
            relative = float(w / decimal.Decimal(log_scale).exp())
            assert scaled[i, c[i]] == pytest.approx(relative, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("name", NAMED)
def test_named_losses_equal_their_literal_pairs(name):
    U, c = draw(4, n=30, scale=2.0)
    Y, W = simplex(4), draw(4, n=30, seed=9)[0]
    loss, pair = NAMED[name](), literal(name)
    np.testing.assert_allclose(loss.value(U, c), pair.value(U, c), rtol=1e-12)
    np.testing.assert_allclose(loss.residual(U, c), pair.residual(U, c), rtol=1e-12)
    np.testing.assert_allclose(loss.curvature(U, c, Y), pair.curvature(U, c, Y), rtol=1e-9, atol=1e-12)
    first, second, log_scale = loss.along(U, c, W)
    pair_first, pair_second, _ = pair.along(U, c, W)
    np.testing.assert_allclose(np.exp(log_scale) * first, pair_first, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.exp(log_scale) * second, pair_second, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.probabilities(U), pair.probabilities(U), rtol=1e-9, atol=1e-12)


def test_one_vs_all_and_own_score_by_definition():
    U, c = draw(4, n=8)
    f = 2 * U
    for i in range(8):
        own, others = f[i, c[i]], [f[i, k] for k in range(4) if k != c[i]]
        ova = math.exp(-own) + sum(map(math.exp, others))
        assert OneVsAll().value(U, c)[i] == pytest.approx(ova, rel=1e-12)
        assert OneVsAll().log_value(U, c)[i] == pytest.approx(math.log(ova), rel=1e-12)
        assert OwnScoreExponential(0.3).value(U, c)[i] == pytest.approx(math.exp(-0.3 * own), rel=1e-12)


@cases({**ALL, **COSTLY, **{f"literal {name}": literal(name) for name in NAMED}})
@pytest.mark.parametrize("size", [1e3, 1e6, 1e308])
def test_extreme_scores_stay_finite(loss, size):
    # Warnings are errors in this suite: an overflow anywhere fails.
    U = size * np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1e-3], [-1.0, -1.0, -1.0]])
    for truth in range(3):
        c = np.full(5, truth)
        P, log_scale = loss.scaled_residual(U, c)
        first, second, along_scale = loss.along(U, c, draw(3, n=5)[0])
        parts = [loss.value(U, c), loss.log_value(U, c), loss.residual(U, c), P, first, second]
        parts += [loss.curvature(U, c, simplex(3)), loss.probabilities(U), margins(U, c)]
        assert all(np.isfinite(part).all() for part in parts)
        assert math.isfinite(log_scale)
        assert math.isfinite(along_scale)
        assert (loss.value(U, c) >= 0).all()


@cases({**ALL, **COSTLY})
def test_scaled_residual_is_the_residual_times_its_scale(loss):
    U, c = draw(3, scale=4.0)
    P, log_scale = loss.scaled_residual(U, c)
    np.testing.assert_allclose(np.exp(log_scale) * P, loss.residual(U, c), rtol=1e-10)
    np.testing.assert_allclose(np.log(loss.value(U, c)), loss.log_value(U, c), rtol=1e-9)


@pytest.mark.parametrize("name", ["exponential", "mm", "one-vs-all", "own-score"])
@pytest.mark.parametrize("size", [1.0, 1e3, -1e3, 1e6])
def test_the_hardest_example_sets_the_scale(name, size):
    U = size * np.array([[1.0, 0.2, 0.1], [0.9, 0.5, 0.1]])
    P, _ = as_loss(name).scaled_residual(U, np.array([0, 0]))
    assert np.abs(P).max() == pytest.approx(1.0)


@pytest.mark.parametrize("size", [700.0, 1e3, 1e6])
def test_exponential_losses_saturate(size):
    U, c = np.array([[0.0, size]]), np.array([0])
    for loss in (Exponential(), MM(), OneVsAll()):
        assert loss.value(U, c) == pytest.approx(math.exp(700), rel=1e-12)
        assert loss.log_value(U, c) == pytest.approx(max(1.0, getattr(loss, "rate", 2.0)) * size)


@pytest.mark.parametrize("size", [0.0, 1e200, 1e308])
def test_the_true_class_is_no_rival_of_itself(size):
    # Equal scores, however low: two rivals, each with e^0.
    U, c = np.full((1, 3), -size), np.array([1])
    assert Exponential().value(U, c) == pytest.approx(2.0)
    np.testing.assert_allclose(Exponential().residual(U, c), [[-1.0, 2.0, -1.0]])


def test_savage_forgives_and_logistic_does_not():
    U, c = np.array([[0.0, 50.0]]), np.array([0])
    assert Savage().residual(U, c)[0, 0] == pytest.approx(4 * math.exp(-100))
    assert Logistic().residual(U, c)[0, 0] == pytest.approx(2.0)


# --- golden numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", GOLDEN["losses"], ids=lambda e: f"{e['loss']}-{e['code']}-{e['K']}")
def test_golden(entry):
    loss, Y = NAMED[entry["loss"]](), CODES[entry["code"]](entry["K"])
    F, c = np.array(entry["F"]), np.array(entry["c"])
    U = 0.5 * F @ Y.T
    P = loss.residual(U, c)
    w = P[np.arange(len(c)), c]
    tau = -P / w[:, None]
    tau[np.arange(len(c)), c] = 0.0
    for got, key in [(U, "U"), (loss.value(U, c), "L"), (w, "w"), (tau, "tau"), (0.5 * P @ Y, "neg_grad")]:
        np.testing.assert_allclose(got, entry[key], rtol=1e-10, atol=1e-12, err_msg=key)
    for eta in (loss.probabilities(U), loss.posterior_system(U)):
        np.testing.assert_allclose(eta, entry["eta"], rtol=1e-10, atol=1e-12)


def test_golden_softmax_cost_of_classes():
    golden = GOLDEN["sm_boost"]["binary"]
    U, y = 0.5 * np.array(golden["psi"]), np.array(golden["y"])
    assert SoftmaxCost().value(U, y).mean() == pytest.approx(golden["risk"], rel=1e-12)
    np.testing.assert_allclose(SoftmaxCost().probabilities(U), golden["g"], rtol=1e-12)
    np.testing.assert_allclose(SoftmaxCost().residual(U, y), -2 * np.array(golden["grad"]), rtol=1e-10)


def test_golden_softmax_cost_of_examples():
    golden = GOLDEN["sm_boost"]["cost_sensitive"]
    U, K = 0.5 * np.array(golden["psi"]), 4
    risks = []
    for i, row in enumerate(golden["cost"]):  # the golden costs belong to examples: give each its own matrix
        loss, c = SoftmaxCost(cost_matrix=np.tile(row, (K, 1))), np.array([i % K])
        risks.append(loss.value(U[i : i + 1], c)[0])
        np.testing.assert_allclose(loss.residual(U[i : i + 1], c)[0], -2 * np.array(golden["grad"][i]), rtol=1e-10)
    assert np.mean(risks) == pytest.approx(golden["risk"], rel=1e-12)


def test_golden_softmax_hessian():
    golden = GOLDEN["sm_boost"]["hessian"]
    loss, U, c = SoftmaxCost(cost_matrix=np.tile(golden["alpha"], (4, 1))), 0.5 * np.array([golden["u"]]), np.array([0])
    second = lambda w: loss.along(U, c, 0.5 * w[None, :])[1][0]  # noqa: E731
    E = np.eye(4)
    H = [[0.25 * (second(E[a] + E[b]) - second(E[a] - E[b])) for b in range(4)] for a in range(4)]
    np.testing.assert_allclose(H, golden["H"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.curvature(U, c, np.eye(4))[0], np.diag(golden["H"]), rtol=1e-9)


# --- I-6, I-14: the papers' other forms -------------------------------------------------------------------------------

XI = {  # ξ and −ξ' of the binary losses
    "exponential": (lambda v: np.exp(-v), lambda v: np.exp(-v)),
    "logistic": (lambda v: np.log1p(np.exp(-2 * v)), lambda v: 2 / (1 + np.exp(2 * v))),
    "savage": (lambda v: (1 + np.exp(2 * v)) ** -2, lambda v: 4 * np.exp(2 * v) / (1 + np.exp(2 * v)) ** 3),
}


@pytest.mark.parametrize("name", XI)
def test_two_classes_are_binary_boosting(name):
    f = np.linspace(-3, 3, 13)
    y = np.where(np.arange(13) % 3 == 0, -1.0, 1.0)
    c, Y = np.where(y > 0, 0, 1), np.array([[1.0], [-1.0]])
    U = 0.5 * f[:, None] @ Y.T
    loss = NAMED[name]()
    xi, weight = XI[name]
    P = loss.residual(U, c)
    np.testing.assert_allclose(loss.value(U, c), xi(y * f), rtol=1e-12)
    np.testing.assert_allclose(P[np.arange(13), c], weight(y * f), rtol=1e-12)
    np.testing.assert_allclose(0.5 * (P @ Y)[:, 0], y * weight(y * f), rtol=1e-12)
    np.testing.assert_allclose(loss.probabilities(U)[:, 0], 1 / (1 + np.exp(-2 * f)), rtol=1e-12)


def test_nips_loss_and_weights():
    Y = simplex(4)
    rng = np.random.default_rng(2)
    F, c = rng.normal(size=(9, 3)), np.arange(9) % 4
    U = 0.5 * F @ Y.T
    for i in range(9):
        terms = [math.exp(-0.5 * (F[i] @ Y[c[i]] - F[i] @ Y[k])) for k in range(4)]
        w = (
            0.5
            * math.exp(-0.5 * F[i] @ Y[c[i]])
            * sum((Y[c[i]] - Y[k]) * math.exp(0.5 * F[i] @ Y[k]) for k in range(4))
        )
        assert Exponential().value(U, c)[i] == pytest.approx(sum(terms) - 1, rel=1e-12)
        np.testing.assert_allclose(0.5 * Exponential().residual(U, c)[i] @ Y, w, rtol=1e-10)


def test_logitboost_gradient_and_likelihood():
    f, c = draw(5, n=10)
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    U = 0.5 * f  # canonical codes
    np.testing.assert_allclose(0.5 * Logistic().residual(U, c), np.eye(5)[c] - p, rtol=1e-10)
    np.testing.assert_allclose(Logistic().value(U, c), -np.log(p[np.arange(10), c]), rtol=1e-12)
    np.testing.assert_allclose(Logistic().curvature(U, c, np.eye(5)), p * (1 - p), rtol=1e-10)
    np.testing.assert_allclose(Logistic().probabilities(U), p, rtol=1e-12)


def test_zero_one_softmax_gradient():
    psi, c = draw(4, n=10)
    g = np.exp(psi) / np.exp(psi).sum(axis=1, keepdims=True)
    true = g[np.arange(10), c]
    Phi = g * true[:, None]
    Phi[np.arange(10), c] = -true * (1 - true)
    np.testing.assert_allclose(SoftmaxCost().residual(0.5 * psi, c), -2 * Phi, rtol=1e-10)
    matrix = SoftmaxCost(cost_matrix=1 - np.eye(4))
    W = draw(4, n=10, seed=1)[0]
    np.testing.assert_allclose(matrix.value(psi, c), SoftmaxCost().value(psi, c), rtol=1e-10)
    np.testing.assert_allclose(matrix.residual(psi, c), SoftmaxCost().residual(psi, c), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(matrix.along(psi, c, W)[1], SoftmaxCost().along(psi, c, W)[1], rtol=1e-9, atol=1e-12)


# --- I-7: posteriors --------------------------------------------------------------------------------------------------


def theorem_7(name, u, cost=None):
    """Ω η = e_1 entry by entry, (101)-(102) of the paper; cost[l][k] weighs the pair (l, k)."""
    gamma_prime, a, K = PAIRS[name][1], PAIRS[name][3], len(u)
    C = np.ones((K, K)) if cost is None else np.asarray(cost)
    phi = lambda v: math.exp(-a * v)  # noqa: E731
    phi_prime = lambda v: -a * math.exp(-a * v)  # noqa: E731
    pi = [gamma_prime(np.float64(sum(C[k, j] * phi(u[k] - u[j]) for j in range(K) if j != k))) for k in range(K)]
    Omega = np.ones((K, K))
    for k in range(1, K):
        for l in range(K):  # noqa: E741
            if k != l:
                Omega[k, l] = -pi[l] * C[l, k] * phi_prime(u[l] - u[k])
            else:
                Omega[k, k] = pi[k] * sum(C[k, j] * phi_prime(u[k] - u[j]) for j in range(K) if j != k)
    return np.linalg.solve(Omega, np.eye(K)[0])


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("costly", [False, True], ids=["plain", "cost"])
def test_posterior_is_theorem_7(name, K, costly):
    cost = np.random.default_rng(K).uniform(0.2, 3.0, (K, K)) if costly else None
    U, _ = draw(K, n=10)
    expected = [theorem_7(name, u, cost) for u in U]
    loss = NAMED[name](cost_matrix=cost)
    np.testing.assert_allclose(loss.posterior_system(U), expected, rtol=1e-8)
    np.testing.assert_allclose(loss.probabilities(U), expected, rtol=1e-8)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("scale", [1.0, 20.0, 1e3])
def test_closed_forms_equal_the_system_to_the_last_digits(name, scale):
    U, _ = draw(6, n=40, scale=scale)
    loss = NAMED[name]()
    closed = loss.probabilities(U)
    np.testing.assert_allclose(loss.posterior_system(U), closed, rtol=1e-9, atol=1e-280)


def test_savage_link_is_not_softmax_beyond_two_classes():
    U, _ = draw(3, n=10)
    p = np.exp(2 * U) / np.exp(2 * U).sum(axis=1, keepdims=True)
    eta = (1 / (1 - p)) / (1 / (1 - p)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Savage().probabilities(U), eta, rtol=1e-10)
    assert np.abs(eta - p).max() > 0.05
    np.testing.assert_allclose(Savage().probabilities(U[:, :2]), softmax(U[:, :2], 2.0), rtol=1e-12)
    # The example in the errata: scores of the simplex predictor f = (1.2, −0.4).
    U = 0.5 * np.array([[1.2, -0.4]]) @ simplex(3).T
    np.testing.assert_allclose(sorted(Savage().probabilities(U)[0])[::-1], [0.626, 0.196, 0.178], atol=5e-4)


def conditional_minimiser(loss, eta, Y):
    """argmin_f Σ_k η_k L_k(f), as scores (1, K)."""
    K, d = Y.shape
    c = np.arange(K)

    def risk(f):
        U = np.tile(0.5 * f @ Y.T, (K, 1))
        return eta @ loss.value(U, c), -0.5 * (eta @ loss.residual(U, c)) @ Y

    found = minimize(risk, np.zeros(d), jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 2000})
    assert np.abs(found.jac).max() < 1e-6
    assert np.abs(found.x).max() < 10  # a minimiser, not a flight to infinity
    return 0.5 * found.x[None, :] @ Y.T


@pytest.mark.parametrize("K", [3, 4])
@pytest.mark.parametrize("costly", [False, True], ids=["plain", "cost"])
@pytest.mark.parametrize("kind", [Exponential, Logistic, MM, Savage, convex_pair, soft_pair])
def test_posterior_is_recovered_from_a_minimiser(kind, costly, K):
    rng = np.random.default_rng(K)
    for _ in range(3):
        # Savage and the soft pair have finite minimisers near the uniform distribution only.
        spread = 0.05 if kind in (Savage, soft_pair) else 1.0
        cost = 1 + spread * rng.uniform(-0.5, 1.0, (K, K)) if costly else None
        eta = np.ones(K) / K + spread * (rng.dirichlet(np.full(K, 3.0)) - 1 / K)
        loss = kind(cost_matrix=cost)
        U = conditional_minimiser(loss, eta, simplex(K))
        np.testing.assert_allclose(loss.probabilities(U)[0], eta, atol=2e-6)


@pytest.mark.parametrize("kind", [OneVsAll, lambda: OwnScoreExponential(0.4)])
def test_posteriors_outside_the_family(kind):
    eta = np.array([0.5, 0.3, 0.15, 0.05])
    Y = np.eye(4) if kind is OneVsAll else simplex(4)
    np.testing.assert_allclose(kind().probabilities(conditional_minimiser(kind(), eta, Y))[0], eta, atol=2e-6)


def test_zero_costs_still_give_probabilities():
    cost = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    U, _ = draw(3, n=20, scale=50.0)
    for kind in NAMED.values():
        eta = kind(cost_matrix=cost).probabilities(U)
        np.testing.assert_allclose(eta.sum(axis=1), 1.0)
        assert (eta >= 0).all()


def test_rows_are_reduced_with_the_bits_of_numpy():
    A = np.array([[0.1, 0.2, 0.3], [1e16, 1.0, 1.0]])
    np.testing.assert_array_equal(reduce_rows(np.add, A)[:, 0], A.sum(axis=1))
    np.testing.assert_array_equal(reduce_rows(np.maximum, A)[:, 0], A.max(axis=1))


def test_stationary_distribution_of_a_walk():
    rng = np.random.default_rng(0)
    T = rng.uniform(0.01, 1.0, (4, 5, 5)) ** 4
    b = rng.uniform(0.01, 1.0, (4, 5))
    z = b * stationary(T, b)
    for walk, weights, row in zip(T, b, z, strict=True):
        rates = walk * weights
        np.fill_diagonal(rates, 0.0)
        np.testing.assert_allclose(row @ rates, row * rates.sum(axis=1), rtol=1e-12)


def test_many_rows_are_solved_in_blocks(monkeypatch):
    U, _ = draw(3, n=50)
    loss = Exponential(cost_matrix=COST3)
    whole = loss.posterior_system(U)
    monkeypatch.setattr("simplexboost.parts.losses.gamma_phi._BLOCK", 9 * 7)
    np.testing.assert_array_equal(loss.posterior_system(U), whole)
    assert loss.posterior_system(U[:0]).shape == (0, 3)


# --- symmetries and costs ---------------------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-30, 30)


@cases({**ALL, **COSTLY})
@given(U=arrays(np.float64, (2, 3), elements=finite))
@settings(max_examples=60, deadline=None)
def test_probabilities_of_any_finite_scores(loss, U):
    eta = loss.probabilities(U)
    assert (eta >= 0).all()
    np.testing.assert_allclose(eta.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(loss.residual(U, np.array([0, 2]))).all()


@cases({k: v for k, v in ALL.items() if not isinstance(v, losses.GammaPhi)} | {"logistic": Logistic()})
@given(U=arrays(np.float64, (3, 3), elements=moderate))
@settings(max_examples=60, deadline=None)
def test_the_likeliest_class_has_the_largest_score(loss, U):
    eta = loss.probabilities(U)
    assert (eta[np.arange(3), U.argmax(axis=1)] >= eta.max(axis=1) - 1e-12).all()


@cases(GAMMA_PHI)
@given(U=arrays(np.float64, (3, 3), elements=moderate), shift=arrays(np.float64, (3, 1), elements=st.floats(-100, 100)))
@settings(max_examples=40, deadline=None)
def test_gamma_phi_ignores_a_constant_in_a_row(loss, U, shift):
    c = np.array([0, 1, 2])
    P = loss.residual(U, c)
    np.testing.assert_allclose(loss.value(U + shift, c), loss.value(U, c), rtol=1e-10)
    np.testing.assert_allclose(loss.residual(U + shift, c), P, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(loss.probabilities(U + shift), loss.probabilities(U), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(P.sum(axis=1) / np.maximum(P.max(axis=1), 1e-300), 0.0, atol=1e-12)


@cases({**ALL, **COSTLY})
def test_classes_may_be_renamed(loss):
    U, c = draw(3, n=15)
    order = np.array([2, 0, 1])
    renamed = clone(loss)
    if loss.cost_matrix is not None:
        renamed.set_params(cost_matrix=np.asarray(loss.cost_matrix)[np.ix_(order, order)])
    new_c = np.argsort(order)[c]
    W = draw(3, n=15, seed=1)[0]
    np.testing.assert_allclose(renamed.value(U[:, order], new_c), loss.value(U, c), rtol=1e-12)
    np.testing.assert_allclose(renamed.residual(U[:, order], new_c), loss.residual(U, c)[:, order], rtol=1e-11)
    np.testing.assert_allclose(renamed.probabilities(U[:, order]), loss.probabilities(U)[:, order], rtol=1e-10)
    for got, expected in zip(renamed.along(U[:, order], new_c, W[:, order]), loss.along(U, c, W), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [*NAMED.values(), soft_pair])
def test_costs_of_one_are_no_costs(kind):
    U, c = draw(4, n=20)
    Y, W = simplex(4), draw(4, n=20, seed=1)[0]
    plain, ones = kind(), kind(cost_matrix=np.ones((4, 4)))
    np.testing.assert_allclose(ones.value(U, c), plain.value(U, c), rtol=1e-12)
    np.testing.assert_allclose(ones.residual(U, c), plain.residual(U, c), rtol=1e-12)
    np.testing.assert_allclose(ones.curvature(U, c, Y), plain.curvature(U, c, Y), rtol=1e-10)
    np.testing.assert_allclose(ones.probabilities(U), plain.probabilities(U), rtol=1e-9)
    for got, expected in zip(ones.along(U, c, W), plain.along(U, c, W), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", NAMED)
def test_integer_costs_repeat_the_pair(name):
    gamma, a = PAIRS[name][0], PAIRS[name][3]
    cost = [[7, 2, 1], [0, 7, 3], [4, 1, 7]]
    U, c = draw(3, n=9)
    got = NAMED[name](cost_matrix=cost).value(U, c)
    for i in range(9):
        pairs = [k for k in range(3) if k != c[i] for _ in range(cost[c[i]][k])]
        inner = np.float64(sum(math.exp(-a * (U[i, c[i]] - U[i, k])) for k in pairs))
        assert got[i] == pytest.approx(gamma(inner), rel=1e-12)


def test_a_free_rival_does_not_hide_the_others():
    # Rival 1 leads by far and costs nothing: rival 2 alone makes the loss.
    U, c = np.array([[0.0, 1e4, 1.0]]), np.array([0])
    cost = [[0, 0, 1], [1, 0, 1], [1, 1, 0]]
    assert Exponential(cost_matrix=cost).value(U, c) == pytest.approx(math.e)
    np.testing.assert_allclose(Exponential(cost_matrix=cost).residual(U, c), [[math.e, 0.0, -math.e]])


def test_user_pair_whose_derivatives_underflow():
    pair, U = literal("exponential"), np.array([[1e4, 0.0, 0.0]])
    np.testing.assert_array_equal(pair.residual(U, np.array([0])), np.zeros((1, 3)))
    T, _, _ = pair._walk(U)
    np.testing.assert_array_equal(T[0, 0], [0.0, 0.5, 0.5])  # τ of the first class


def test_margins():
    U, c = draw(4, n=8)
    expected = [min(U[i, c[i]] - U[i, k] for k in range(4) if k != c[i]) for i in range(8)]
    np.testing.assert_allclose(margins(U, c), expected, rtol=1e-12)


# --- parts and messages -----------------------------------------------------------------------------------------------


@cases({**{name: kind() for name, kind in LOSSES.items()}, "costly": Savage(cost_matrix=COST3)})
def test_inputs_survive_and_parts_clone_and_pickle(loss):
    U, c = draw(3)
    kept, W, Y = U.copy(), draw(3, seed=1)[0], simplex(3)
    kept_W = W.copy()
    twin = pickle.loads(pickle.dumps(clone(loss)))
    np.testing.assert_array_equal(twin.residual(U, c), loss.residual(U, c))
    loss.value(U, c), loss.log_value(U, c), loss.scaled_residual(U, c), loss.along(U, c, W)
    loss.curvature(U, c, Y), loss.probabilities(U), loss.check(3), margins(U, c)
    np.testing.assert_array_equal(U, kept)
    np.testing.assert_array_equal(W, kept_W)
    np.testing.assert_array_equal(Y, simplex(3))


def test_as_loss():
    for name, kind in LOSSES.items():
        assert type(as_loss(name)) is kind
    own = Savage()
    assert as_loss(own) is own
    with pytest.raises(ValueError, match="loss='hinge' is unknown; choose one of 'logistic'"):
        as_loss("hinge")
    with pytest.raises(TypeError, match=r"loss=Savage is a class; pass an instance, Savage\(\)"):
        as_loss(Savage)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Exponential(cost_matrix=np.ones((2, 3))), r"cost_matrix has shape \(2, 3\); pass .* shape \(3, 3\)"),
        (MM(cost_matrix=-np.ones((3, 3))), r"cost_matrix contains -1.0; entries must be finite and not negative"),
        (Logistic(cost_matrix=np.full((3, 3), np.nan)), "cost_matrix contains nan"),
        (SoftmaxCost(cost_matrix=np.full((3, 3), np.inf)), "cost_matrix contains inf"),
        (Savage(cost_matrix=np.diag([1.0, 2.0, 3.0])), r"cost_matrix\[0\] has no positive entry off the diagonal"),
        (OwnScoreExponential(alpha=0.0), "alpha=0.0 is out of range; it must be a number in"),
        (OwnScoreExponential(alpha=math.inf), "alpha=inf"),
        (UserGammaPhi(1, np.exp, np.exp, np.exp), "gamma=1 is not callable"),
        (UserGammaPhi(np.exp, np.exp, np.exp, np.exp), "phi_prime is 1.0 at 0; phi must decrease"),
        (UserGammaPhi(np.exp, np.exp, zeros, np.negative), "phi_prime is"),
        (UserGammaPhi(np.exp, np.exp, zeros, lambda v: -np.exp(v)), "gamma_prime is 0.0 at 2.0; gamma must increase"),
    ],
)
def test_check_says_what_is_wrong(loss, message):
    with pytest.raises(ValueError, match=message):
        loss.check(3)


@cases({**ALL, **COSTLY, "free class": SoftmaxCost(cost_matrix=np.zeros((3, 3)))})
def test_check_accepts(loss):
    assert loss.check(3) is None
    with pytest.raises(ValueError, match="K=1 classes; a loss needs at least 2"):
        loss.check(1)


def test_a_pair_without_second_derivatives():
    pair = UserGammaPhi(
        gamma=identity, phi=lambda v: np.exp(-v), gamma_prime=np.ones_like, phi_prime=lambda v: -np.exp(-v)
    )
    U, c = draw(3)
    W = draw(3, seed=1)[0]
    first, second, log_scale = pair.along(U, c, W)
    assert second is None
    expected, _, scale = Exponential().along(U, c, W)
    np.testing.assert_allclose(np.exp(log_scale) * first, np.exp(scale) * expected, rtol=1e-10)
    with pytest.raises(TypeError, match="curvature needs second derivatives; got gamma_second=None"):
        pair.curvature(U, c, simplex(3))


def test_defaults_of_a_new_loss():
    class Squared(Loss):
        convex = True

        def value(self, U, c):
            return ((U - np.eye(3)[c]) ** 2).sum(axis=1)

        def residual(self, U, c):
            return 2 * (np.eye(3)[c] - U)

    loss, (U, c) = Squared(), draw(3)
    W = draw(3, seed=1)[0]
    first, second, log_scale = loss.along(U, c, W)
    np.testing.assert_allclose(first, -(loss.residual(U, c) * W).sum(axis=1), rtol=1e-12)
    assert (second, log_scale) == (None, 0.0)
    further, _, _ = loss.along(U, c, W, 0.5)  # of a parabola: the slope grows by 2‖W‖² a unit
    np.testing.assert_allclose(further, first + 0.5 * 2 * (W**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(loss.log_value(U, c), np.log(loss.value(U, c)), rtol=1e-12)
    assert loss.log_value(np.eye(3), np.arange(3))[0] == pytest.approx(math.log(np.finfo(float).tiny))
    np.testing.assert_allclose(loss.probabilities(U), softmax(U, 2.0))
    with pytest.raises(TypeError, match="Squared has no second derivatives"):
        loss.curvature(U, c, np.eye(3))
