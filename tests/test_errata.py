"""Errata of the papers: what the package computes is the corrected statement, and the printed one differs.

`docs/errata.md` states them in words under the same numbers; the last test keeps the two in step.
"""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import textbook
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from experiments import (
    papers,  # noqa: F401  registers all checks in the order of the page
    theorems_conditions,
    theorems_lecture,
    theorems_losses,
    theorems_misprints,
    theory,
)
from simplexboost import theory as games
from simplexboost.parts import codewords as cw
from simplexboost.parts import losses
from simplexboost.parts.learners import ClassTree, InfoTree, SklearnLearner

X3, Y3 = blobs(n=90, p=3, K=4, seed=1)  # a small problem of four classes


def softmax(A):
    E = np.exp(A - A.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def answers(clf, X):
    """The classes that the terms of a model name for X, (T, n)."""
    return np.array([(term.hypothesis.outputs(X) @ clf.model_.Y.T).argmax(axis=1) for term in clf.model_.terms])


def votes_of(clf, X, weights):
    """Σ_t weight_t 1[h_t(x) = k], (n, K)."""
    K = len(clf.classes_)
    return sum(w * np.eye(K)[h] for w, h in zip(weights, answers(clf, X), strict=True))


class Repeated(ClassifierMixin, BaseEstimator):
    """A classifier that answers with the first column, whatever it is fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(np.intp)


def conditional_risk(loss, eta, Y):
    """The risk Σ_k η_k L_k(f) of a predictor f (d,), and its gradient."""
    c = np.arange(len(eta))

    def risk(f):
        U = np.tile(0.5 * f @ Y.T, (len(eta), 1))
        return float(eta @ loss.value(U, c)), -0.5 * (eta @ loss.residual(U, c)) @ Y

    return risk


def each_class(loss, u):
    """The residuals (K, K) at scores u (K,): row k is that of an example of class k."""
    return loss.residual(np.tile(u, (len(u), 1)), np.arange(len(u)))


# ---- MCBoost, journal and conference version ------------------------------------------------------------------------


def test_e03_sign_and_factor_of_the_coordinate_gradient():
    rng = np.random.default_rng(0)
    n, K, j = 12, 4, 1
    Y, c, F, g = cw.Simplex().matrix(K), rng.integers(K, size=n), rng.normal(size=(n, K - 1)), rng.normal(size=n)
    loss = losses.Logistic()

    def risk(epsilon):
        moved = F + epsilon * g[:, None] * np.eye(K - 1)[j]
        return loss.value(0.5 * moved @ Y.T, c).mean()

    P = loss.residual(0.5 * F @ Y.T, c)  # w_i at the class, −w_i τ_k at its rivals
    corrected = (g * (P @ Y)[:, j]).sum() / (2 * n)
    assert (risk(-1e-6) - risk(1e-6)) / 2e-6 == pytest.approx(corrected, rel=1e-6)
    printed = -0.5 * (g * (P @ Y)[:, j]).sum()
    assert abs(printed - corrected) > abs(corrected)


def test_e04_the_link_of_savage_is_not_softmax():
    U = 0.5 * np.array([[1.2, -0.4]]) @ cw.Simplex().matrix(3).T
    eta = losses.Savage().probabilities(U)[0]
    assert_allclose(np.sort(eta), [0.178, 0.196, 0.626], atol=5e-4)
    assert_allclose(np.sort(softmax(2 * U)[0]), [0.087, 0.173, 0.740], atol=5e-4)  # (116)
    assert_allclose(losses.Savage().posterior_system(U)[0], eta, rtol=1e-10)


def test_e04b_savage_is_proper_in_a_region_only():
    Y = cw.Simplex().matrix(3)
    for eta, inside in ((np.array([0.4, 0.35, 0.25]), True), (np.array([0.5, 0.49, 0.01]), False)):
        assert (eta.min() > 2 / (1 / eta).sum()) == inside
        found = minimize(conditional_risk(losses.Savage(), eta, Y), np.zeros(2), jac=True, options={"gtol": 1e-12})
        link = losses.Savage().probabilities(0.5 * found.x[None] @ Y.T)[0]
        assert (np.abs(found.x).max() < 10) == inside  # otherwise the scores run away
        assert (np.abs(link - eta).max() < 1e-3) == inside


def test_e05_upper_bound_of_the_capacity():
    a = 0.2  # a flat rectangle on the unit circle
    Y = np.array([[np.cos(t), np.sin(t)] for t in (a, -a, np.pi - a, np.pi + a)])
    capacity, distance = cw.margin_capacity(Y), cw.min_distance(Y)
    assert capacity == pytest.approx(0.1947, abs=1e-4)
    assert distance / 2 < capacity  # the printed bound is violated
    assert distance / 4 <= capacity <= np.sqrt(distance) / 2


@pytest.mark.parametrize("right", [0.15, 0.05])
def test_e06_better_than_chance_is_an_error_below_one_minus_one_over_K(right):
    K, n = 10, 9 * 2000
    rng = np.random.default_rng(0)
    c = rng.integers(K, size=n)
    h = np.where(rng.random(n) < right, c, (c + rng.integers(1, K, size=n)) % K)
    clf = sb.GDMCBoostClassifier("exponential", "simplex", SklearnLearner(Repeated()), n_estimators=1)
    clf.fit(h[:, None], c)
    assert clf.n_iter_ == (right > 1 / K)  # an error of 85 % is enough; the printed 1/M would be 10 %


def test_e07_the_bayes_rule_is_an_arg_max():
    clf = sb.GDMCBoostClassifier("logistic", n_estimators=30).fit(X3, Y3)
    P = clf.predict_proba(X3)
    assert_array_equal(clf.predict(X3), clf.classes_[P.argmax(axis=1)])
    assert np.mean(P.argmax(axis=1) == Y3) > 0.5 > np.mean(P.argmin(axis=1) == Y3)


def test_e09_the_pseudo_loss_of_m2():
    clf = sb.AdaBoostM2Classifier(n_estimators=1).fit(X3, Y3)
    n, K = len(Y3), 4
    g = 2 * clf.decision_function(X3) / clf.history_["step"][0]
    g = (g - g.min()) / (g.max() - g.min())  # 1 for plausible classes, 0 for the others
    assert set(np.round(g.ravel(), 9)) <= {0.0, 1.0}
    wrong = np.arange(K) != Y3[:, None]
    own = g[np.arange(n), Y3][:, None]
    corrected, printed = (0.5 * np.mean((1 + s * (own - g))[wrong]) for s in (-1, 1))
    assert 1 - 2 * corrected == pytest.approx(clf.history_["edge"][0])
    assert printed == pytest.approx(1 - corrected) and corrected < 0.5 < printed


def test_e10_and_e11_the_vote_and_the_step_of_samme():
    X, y = load_digits(return_X_y=True)
    clf = sb.SAMMEClassifier(ClassTree(max_depth=1), n_estimators=5).fit(X[:400], y[:400])
    K, error = 10, clf.history_["error"]
    vote = np.log((1 - error) / error) + np.log(K - 1)
    assert_allclose(clf.history_["step"], (K - 1) ** 2 / K * vote, rtol=1e-7)
    # E-11: the term log(K − 1) lets it go on where the error is above one half, not below.
    assert (error > 0.5).any() and (vote > 0).all()
    assert sb.AdaBoostM1Classifier(ClassTree(max_depth=1), n_estimators=5).fit(X[:400], y[:400]).n_iter_ == 0


def test_e13_the_slack_of_the_multiclass_svm():
    clf = sb.MulticlassSVC(C=0.5, fit_intercept=False, tol=1e-8, random_state=0).fit(X3, Y3)
    S = X3 @ clf.coef_.T
    own = S[np.arange(len(Y3)), Y3]
    rival = np.where(np.eye(4, dtype=bool)[Y3], -np.inf, S).max(axis=1)
    values = [0.5 * (clf.coef_**2).sum() + 0.5 * np.maximum(0, 1 - own + sign * rival).sum() for sign in (1, -1)]
    assert values[0] == pytest.approx(clf.objective_, rel=1e-6)
    assert abs(values[1] - clf.objective_) > 1e-2  # with the printed sign of the maximum


def test_e14_votes_are_not_multiplied_by_the_number_of_the_class():
    clf = sb.AdaBoostM1Classifier(InfoTree(max_depth=4), n_estimators=5).fit(X3, Y3)
    votes = votes_of(clf, X3, clf.history_["step"])
    assert_allclose(2 * clf.decision_function(X3), votes, atol=1e-9)
    assert (np.arange(1, 5) * votes).argmax(axis=1).tolist() != clf.predict(
        X3
    ).tolist()  # (35) of the conference version


def test_e16_centred_codes_are_not_tammes():
    free, centred = (cw.MaxMin(3, centered=flag).matrix(7, 0) for flag in (False, True))
    assert np.abs(centred.sum(axis=0)).max() < 1e-8
    assert cw.min_distance(free) == pytest.approx(1.5797234, abs=1e-5)
    assert cw.min_distance(centred) == pytest.approx(1.5034881, abs=1e-4)


@pytest.mark.parametrize("K", [3, 5, 26])
def test_e17_canonical_codewords_have_less_capacity(K):
    assert cw.margin_capacity(cw.Canonical().matrix(K)) == pytest.approx(0.5 * np.sqrt(K / (K - 1)))
    assert cw.margin_capacity(cw.Simplex().matrix(K)) == pytest.approx(K / (2 * (K - 1)))
    assert K / (2 * (K - 1)) > 0.5 * np.sqrt(K / (K - 1))


def test_e18_the_exponent_in_terms_of_scores():
    rng = np.random.default_rng(0)
    Y, F, c = np.eye(4), rng.normal(size=(6, 4)), rng.integers(4, size=6)
    projections = F @ Y.T
    own = projections[np.arange(6), c][:, None]
    printed = np.exp(projections - own).sum(axis=1) - 1  # (122) with α = 1, the class itself left out
    U = 0.5 * projections
    assert_allclose(losses.MM().value(U, c), printed)  # φ = e^{−2v}
    assert np.abs(losses.Exponential().value(U, c) - printed).max() > 0.1  # φ = e^{−v}


def test_e19_the_best_direction_needs_bounded_learners():
    clf = sb.GDMCBoostClassifier(n_estimators=3).fit(X3, Y3)
    G = 0.5 * losses.Exponential().residual(np.zeros((len(Y3), 4)), Y3) @ clf.model_.Y
    g = clf.model_.terms[0].hypothesis.outputs(X3)
    assert_allclose((g**2).sum(axis=1), 1)  # leaves are unit vectors
    for leaf in np.unique(g, axis=0):
        total = G[(g == leaf).all(axis=1)].sum(axis=0)
        assert_allclose(leaf, total / np.linalg.norm(total), atol=1e-6)  # the best one of that length


def test_e20_the_weights_of_savage_rise_and_fall():
    V = np.linspace(-6, 6, 4001)
    U = np.column_stack([V, np.zeros_like(V)])
    c = np.zeros(len(V), int)
    weight = losses.Savage().residual(U, c)[:, 0]
    inner = np.exp(-2 * V)
    assert weight.max() == pytest.approx(16 / 27, abs=1e-5) and inner[weight.argmax()] == pytest.approx(2, rel=1e-2)
    assert weight[0] < weight.max() / 10  # a hopeless example has almost no weight
    assert not losses.Savage().convex and (np.diff(losses.Savage().value(U, c), 2) < -1e-9).any()
    logistic = losses.Logistic().residual(U, c)[:, 0]
    assert (np.diff(logistic) <= 0).all()  # the claim holds for the others


def test_e21_a_codeword_instead_of_a_real_answer():
    Y = cw.Simplex().matrix(10)
    best = (Y @ -Y[0]).max()
    assert best == pytest.approx(1 / 9) and best < 0.5 - 1 / 18  # (90) promises 4/9
    assert best > 0  # centred codewords: some projection is positive, unless all are zero
    assert (np.eye(10) @ -np.ones(10)).max() < 0  # canonical ones: not even that


@pytest.mark.parametrize(
    ("Y", "recovers"),
    [(cw.Simplex().matrix(3), True), (np.eye(3), True), (np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), False)],
)
def test_e22_codewords_must_be_affinely_independent(Y, recovers):
    assert np.linalg.matrix_rank(Y) >= 2  # what the paper asks for
    u = 0.5 * np.array([0.3, -0.2, 0.1])[: Y.shape[1]] @ Y.T
    system = each_class(losses.Logistic(), u) @ Y  # η solves ηᵀ system = 0
    null = 3 - np.linalg.matrix_rank(system, tol=1e-9)
    assert (null == 1) == recovers == (np.linalg.matrix_rank(np.column_stack([Y, np.ones(3)])) == 3)


def test_e29_orientation_of_the_triangle():
    Y = cw.Simplex().matrix(3)
    assert_allclose(Y[0], [1, 0])  # (123); the caption of Figure 3 has (0, 1)
    turned = Y @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert_allclose(turned[0], [0, 1])
    X, y = load_iris(return_X_y=True)
    fits = [sb.GDMCBoostClassifier(codewords=code, n_estimators=10).fit(X, y) for code in (Y, turned)]
    assert_allclose(fits[0].decision_function(X), fits[1].decision_function(X), atol=1e-8)


def test_e30_a_tie_is_an_error():
    U, c = np.zeros((4, 4)), np.arange(4)
    assert (losses.margins(U, c) == 0).all() and U.argmax(axis=1)[0] == c[0]  # predicted right with margin 0
    assert games.ZeroOne()([[1, 1, 0]]).tolist() == [1.0]  # and yet counted as an error


def test_e31_either_sign_for_two_classes():
    X, y = blobs(n=80, p=3, K=2, seed=3)
    scores = [
        sb.GDMCBoostClassifier(codewords=code, n_estimators=10).fit(X, y).decision_function(X)
        for code in ([[1.0], [-1.0]], [[-1.0], [1.0]])
    ]
    assert_allclose(scores[0], scores[1], atol=1e-8)


def test_e32_equality_for_one_example_of_two_classes():
    loss, c = losses.Logistic(), np.array([0])
    for U, equal in (([[0.7, -0.1]], True), ([[0.7, -0.1, -0.3]], False)):
        margin = losses.margins(np.array(U), c)[0]
        bound = np.log1p(np.exp(-2 * margin))  # γ(φ(margin))
        risk = loss.value(np.array(U), c)[0]
        assert risk >= bound - 1e-15 and (abs(risk - bound) < 1e-12) == equal


def test_e33_a_soft_min_needs_a_convex_phi():
    U, c = np.array([[1.0, 0.5, -0.5]]), np.array([0])  # rival 1 has the smaller margin component
    for phi, phi_prime, soft_min in (
        (lambda v: np.exp(-v), lambda v: -np.exp(-v), True),  # φ′ rises
        (lambda v: 9 - np.exp(v), lambda v: -np.exp(v), False),  # φ′ falls, as the text wants it
    ):
        loss = losses.UserGammaPhi(lambda v: v, phi, np.ones_like, phi_prime)
        P = -loss.residual(U, c)[0]
        assert (P[1] > P[2]) == soft_min


def test_e34_columns_of_Q_vanish_rows_do_not():
    loss, u = losses.Exponential(), np.array([0.4, -0.1, 0.2, 0.0])
    Q = -each_class(loss, u).T  # γ′ = 1; column k belongs to examples of class k
    assert_allclose(Q.sum(axis=0), 0, atol=1e-12)
    assert np.abs(Q.sum(axis=1)).max() > 0.1 and np.linalg.matrix_rank(Q) == 3


def test_e35_the_two_rules_of_m1_choose_alike_but_are_not_equal():
    clf = sb.AdaBoostM1Classifier(InfoTree(max_depth=4), n_estimators=1).fit(X3, Y3)
    error = clf.history_["error"][0]
    right = np.mean(answers(clf, X3)[0] == Y3)
    assert error == pytest.approx(1 - right) and error != pytest.approx(right)


def test_e45_the_weights_of_simplex_votes():
    clf = sb.GDMCBoostClassifier("exponential", "simplex", "class-tree", n_estimators=5).fit(X3, Y3)
    votes = votes_of(clf, X3, clf.history_["step"])
    own = votes[np.arange(len(Y3)), Y3]
    others = votes.sum(axis=1) - own
    weight = losses.OwnScoreExponential(alpha=1.0).value(clf.decision_function(X3), Y3)
    assert_allclose(weight, np.exp(-own + others / 3), rtol=1e-7)
    assert np.abs(weight - np.exp(-own - others / 3)).max() > 0.1  # (193) as printed


def test_e46_an_index_in_the_gradient_of_the_conditional_risk():
    rng = np.random.default_rng(0)
    K, Y, eta = 4, cw.Simplex().matrix(4), rng.dirichlet(np.ones(4))
    f = rng.normal(size=3)
    u = 0.5 * f @ Y.T
    inner = np.exp(-2 * (u[:, None] - u)).sum(axis=1) - 1
    pi = 1 / (1 + inner)  # γ′ of the logistic loss
    slope = -2 * np.exp(-2 * (u[:, None] - u))  # φ′(u_k − u_l)
    pairs = [(k, m) for k in range(K) for m in range(K) if k != m]
    first = 0.5 * sum(Y[k] * eta[k] * pi[k] * slope[k, m] for k, m in pairs)
    corrected, printed = (
        first - 0.5 * sum(Y[m] * eta[at] * pi[at] * slope[k, m] for k, m in pairs for at in [(k, m)[which]])
        for which in (0, 1)
    )
    gradient = conditional_risk(losses.Logistic(), eta, Y)(f)[1]
    assert_allclose(corrected, gradient, rtol=1e-9)
    assert np.abs(printed - gradient).max() > 1e-2


@pytest.mark.parametrize("K", [3, 5])
def test_e50_K_minus_1_dimensions_are_enough(K):
    Y = cw.MaxMin(K - 1).matrix(K, 0)
    assert cw.min_distance(Y) == pytest.approx(2 * K / (K - 1))
    assert cw.margin_capacity(Y) == pytest.approx(cw.capacity_bound(K))


def test_e53_the_null_space_of_q_gamma():
    u = 0.5 * cw.Simplex().matrix(4) @ np.array([0.8, -0.3, 0.5])
    for name, same in (("logistic", False), ("exponential", True)):
        Q, slopes = theorems_losses.system(name, u)  # slopes: the diagonal of Γ
        v = theorems_losses.null_of(Q @ np.diag(slopes)).ravel()
        assert_allclose(Q @ (slopes * v), 0.0, atol=1e-9)  # Γ v lies in Null(Q)
        assert bool(np.abs(Q @ v).max() < 1e-9) is same


def test_e58_a_factor_in_the_exponent_is_a_unit_of_the_scores():
    plain, steep = (sb.GDMCBoostClassifier(theorems_misprints.steep(a), n_estimators=12).fit(X3, Y3) for a in (1, 3))
    U, V = plain.decision_function(X3), steep.decision_function(X3)
    assert_allclose(3 * V, U, rtol=1e-6, atol=1e-7)
    assert_allclose(theorems_misprints.class_weights(3, V, Y3), theorems_misprints.class_weights(1, U, Y3), atol=1e-7)
    harder = theorems_misprints.class_weights(3, U, Y3)  # of one and the same predictor they are, as the paper says
    assert harder.max(axis=1).mean() > theorems_misprints.class_weights(1, U, Y3).max(axis=1).mean() + 0.01


def test_e59_mh_and_mr_choose_other_learners():
    c, start = np.array([0]), np.zeros((1, 4))
    right, wrong = np.array([1.0, 1, 1, -1]), np.array([-1.0, -1, -1, -1])  # right on the own class, or on all others
    mr, mh = losses.MM().residual(start, c)[0], losses.OneVsAll().residual(start, c)[0]
    assert mr @ right > mr @ wrong and mh @ right < mh @ wrong
    e = 0.2  # weighted errors of answers ±1, and the risk (225) after a step, of 1 before it
    risk = lambda step: e * np.exp(step) + (1 - e) * np.exp(-step)  # noqa: E731
    assert risk(np.log((1 - e) / e)) == pytest.approx(1.0)  # (247)
    assert risk(0.5 * np.log((1 - e) / e)) == pytest.approx(2 * np.sqrt(e * (1 - e))) == pytest.approx(0.8)


def test_e60_errors_are_shares_of_the_weights():
    clf = sb.AdaBoostM1Classifier(InfoTree(max_depth=4), n_estimators=1).fit(X3, Y3)
    wrong = answers(clf, X3)[0] != Y3
    assert clf.history_["error"][0] == pytest.approx(wrong.sum() / len(Y3))
    assert wrong.sum() > 1  # the sum over weights of 1, whose (1 − e)/e is negative


# ---- A Theory of Multiclass Boosting --------------------------------------------------------------------------------


def test_e01_the_drop_of_the_exact_step():
    rounds, _ = textbook.mm(X3, Y3, np.ones(len(Y3)), 6, 62)
    clf = sb.AdaBoostMMClassifier(step="exact", n_estimators=6).fit(X3, Y3)
    risk = np.concatenate([[3.0], clf.history_["risk"]])
    delta, c = (np.array([r[name] for r in rounds]) for name in ("edge", "moved"))
    drop = risk[1:] / risk[:-1]
    assert_allclose(drop, (1 - c) + np.sqrt(c**2 - delta**2), rtol=1e-7)
    assert np.abs(drop - ((1 - c) - np.sqrt(c**2 - delta**2))).max() > 0.1  # (58) as printed
    # (59): the edge is measured in units of the loss before the round.
    assert_allclose(clf.history_["edge"], delta, rtol=1e-7)


def enumerated(t, b, s, loss):
    """The expected loss after t votes drawn from b, by trying all of them."""
    return sum(
        np.prod([b[label] for label in path]) * loss(np.array(s) + np.bincount(path, minlength=len(b)))
        for path in product(range(len(b)), repeat=t)
    )


def test_e01b_rivals_must_be_strictly_behind():
    b = games.uniform_baseline(2, 0.1)
    assert games.potential(2, b) == pytest.approx(0.6975)
    assert enumerated(2, b, [0, 0], lambda s: float(s[0] <= s[1])) == pytest.approx(0.6975)
    assert enumerated(2, b, [0, 0], lambda s: float(s[0] < s[1])) == pytest.approx(0.2025)  # as printed


def test_e02_proper_losses_fall_with_votes_for_the_true_class():
    for loss in (games.ZeroOne(), games.ExponentialLoss(0.3)):
        S = np.array(list(product(range(3), repeat=3)))
        own, rival = np.array([1, 0, 0]), np.array([0, 1, 0])
        assert (loss(S + own) <= loss(S)).all() and (loss(S + rival) >= loss(S)).all()
    reversed_ = lambda S: np.exp(0.3 * (S[:, 0] - S[:, 1]))  # noqa: E731
    with pytest.raises(ValueError, match="not proper"):
        games.potential(3, "uniform", 3, 0.1, loss=reversed_)


def test_e08_the_baseline_of_mr_is_half_of_gamma():
    space = games.example("windows")
    margin = games.solve_condition(space).edge
    assert games.solve_condition(space, condition="mr").edge == pytest.approx(margin, abs=1e-7)
    b = games.CONDITIONS["mr"].baseline(space.K, margin)
    assert b[0] - b[1] == pytest.approx(margin)  # ±γ/2; with ±γ it would be twice the margin


def test_e12_no_factor_l_in_the_exponent():
    b, s, eta, t = games.uniform_baseline(3, 0.2), [0, 1, -1], 0.4, 3
    true = enumerated(t, b, s, games.ExponentialLoss(eta))
    assert games.potential(t, b, s=s, loss="exponential", eta=eta) == pytest.approx(true)
    a = [1 - (b[0] + b[k]) + np.exp(eta) * b[k] + np.exp(-eta) * b[0] for k in (1, 2)]
    terms = [a[k - 1] ** t * np.exp(eta * times * (s[k] - s[0])) for k in (1, 2) for times in (1, k + 1)]
    assert terms[0] + terms[2] == pytest.approx(true) != pytest.approx(terms[1] + terms[3])


def test_e15_pixels_of_the_degree_map():
    degrees = games.degree_map(5, 0.0)
    assert_array_equal(degrees, degrees.T)  # (s_2 − s_1, s_3 − s_1): exchanging the rivals mirrors the map
    phi, radius = games.potential_map(5, 0.0), 5
    for u, v in ((1, -2), (0, 3), (-4, 2)):
        assert phi[u + radius, v + radius] == pytest.approx(games.potential(5, "minimal", 3, 0.0, [0, u, v]))
    u, v = 1, -2
    assert games.potential(5, "minimal", 3, 0.0, [0, u, u + v]) != pytest.approx(
        phi[u + radius, v + radius]
    )  # s_3 − s_2


def test_e23_costs_of_the_counter_example_to_samme():
    space = games.example("samme")
    assert games.solve_condition(space, condition="samme").edge == pytest.approx(0.25, abs=1e-6)
    assert not games.solve_condition(space).holds
    for t_a, t_b in ((1.0, 1.0), (0.3, 2.0)):
        C = np.array([[0, t_a, t_a], [t_b, 0, t_b]])
        costs = [C[np.arange(2), space.H[:, j]].sum() for j in (0, 1)]
        assert costs == [t_b, t_a] and min(costs) >= 0  # "non-positive" in print
        assert min(costs) <= 2 / 3 * (1 - 0.25) * (t_a + t_b)


def test_e24_how_far_the_subsets_are_from_mh():
    space = games.example("subsets")
    K, p = space.K, float((space.H == space.c[:, None]).mean())
    gamma = (p - 1 / K) / (1 - 1 / K)  # p = (1 − γ)/K + γ
    assert games.solve_condition(space, condition="uniform").edge == pytest.approx(gamma, abs=1e-6)
    missing = (0.5 + gamma / 2) - p
    assert missing == pytest.approx((1 - gamma) * (0.5 - 1 / K)) != pytest.approx(0.5 - 1 / K)
    for condition in ("m1", "mh"):  # both ask for an accuracy of ½ + γ/2
        assert games.solve_condition(space, condition=condition).edge == pytest.approx(2 * p - 1, abs=1e-6)


def test_e25_signs_in_the_proof_of_lemma_10():
    b, t = games.uniform_baseline(3, 0.2), 4
    phi = np.array([games.potential(t - 1, b, s=s) for s in np.eye(3, dtype=int)])
    best = {}
    for name, bounds in {
        "corrected": [(b[0], 1), (0, b[1]), (0, b[2])],  # at least b on the true class, at most b on the others
        "printed": [(0, b[0]), (b[1], 1), (b[2], 1)],
    }.items():
        best[name] = -linprog(-phi, A_eq=[[1, 1, 1]], b_eq=[1], bounds=bounds).fun
    value = games.potential(t, b)
    assert best["corrected"] == pytest.approx(value) and best["printed"] > value + 1e-3


def test_e26_states_after_t_rounds():
    game = games.make_game(5, "uniform", 3, 0.2, "zero-one")
    S = np.array([[2, 0, 0], [1, 1, 0], [0, 1, 1]])  # votes after t = 2 rounds
    costs = game.costs(3, S)  # three rounds to go, this one included: φ_{T−t−1} after the vote
    for i, s in enumerate(S):
        expected = [games.potential(2, game.b, s=s + e) for e in np.eye(3, dtype=int)]
        assert_allclose(costs[i], expected)
    assert_allclose(game.potential(3, S), costs @ game.b)  # (27): consistent only with this count of rounds


def test_e27_the_exponential_bound_without_an_edge():
    for K in (2, 6):
        bounds = [games.potential(20, "uniform", K, 0.0, loss="exponential", eta=e) for e in (1e-4, 0.1)]
        assert bounds[0] == pytest.approx(K - 1, rel=1e-4) and bounds[1] > bounds[0]  # "always 1" in print


def test_e28_the_uniform_baseline_is_not_always_the_worst():
    value, support = games.best_fixed_potential(6, 3, 0.4)
    uniform = games.potential(6, "uniform", 3, 0.4)
    assert support == 2 and value == pytest.approx(0.2557, abs=5e-5) and uniform == pytest.approx(0.2483, abs=5e-5)


def test_e36_recursion_of_the_minimal_condition():
    s, K, edge = np.array([1, 1, 0]), 3, 0.2
    assert games.potential(0, "minimal", K, edge, s) == games.ZeroOne()(s)  # (45) lacks the loss
    game = games.make_game(5, "minimal", K, edge)
    after = [games.potential(2, "minimal", K, edge, s + e) for e in np.eye(3, dtype=int)]
    assert_allclose(game.costs(3, s[None])[0], after)  # (39): φ_{T−t−1}
    # Lemma 18: the worst baseline among all that favour the true class by γ has no weight above (1 − γ)/(a + 1) on any
    # of the a rivals; the printed end 1/(a + 1) would be too much.
    favours = np.column_stack([-np.ones(K - 1), np.eye(K - 1)])  # b_l − b_1 ≤ −γ
    worst = linprog(-np.array(after), favours, np.full(K - 1, -edge), np.ones((1, K)), [1.0])
    assert games.potential(3, "minimal", K, edge, s) == pytest.approx(-worst.fun)
    a = np.count_nonzero(worst.x[1:])
    most = games.uniform_baseline(a + 1, edge)[-1]
    assert worst.x[1:].max() == pytest.approx(most) and most == pytest.approx((1 - edge) / (a + 1))


def test_e37_discrepancy_and_bound_of_theorems_20_and_21():
    K, T = 10, 9
    eta = 0.25 * min(1 / (K - 1), 1 / T)
    discrepancy = games.ExponentialLoss(eta).discrepancy(K, T)
    assert np.exp(0.25) < discrepancy == pytest.approx(2.27, abs=5e-3)
    assert discrepancy <= (K - 1) * np.exp(0.25)
    value = games.potential(T, "uniform", K, 0.05, loss="exponential", eta=eta)
    assert value == pytest.approx((K - 1) * games.kappa(0.05, eta, K) ** T)  # printed without K − 1
    gamma = 1 / (8 * K) * min(1 / K, 1 / T)  # (55): 1 − γ is at least one half, so that an edge this small is no help
    assert games.kappa(gamma, eta, K) >= 1 + 0.5 * eta**2 / K - eta * gamma > 1


def test_e38_the_stronger_condition_has_the_smaller_value():
    for T in (1, 2, 3, 4):
        strong, weak = (games.potential(T, condition, 3, 0.2) for condition in ("m1", "mr"))
        assert strong <= weak + 1e-9
    assert strong < weak - 1e-3


def test_e39_a_factor_K_minus_1_in_the_reduction():
    rng = np.random.default_rng(0)
    K, F, c = 4, rng.normal(size=(9, 4)), rng.integers(4, size=9)
    risk = losses.MM().value(0.5 * F, c).mean()
    i, k = np.nonzero(np.arange(K) != c[:, None])
    triples = np.exp(F[i, k] - F[i, c[i]]).mean()  # every triple (x, y, l) counts the same
    assert risk == pytest.approx((K - 1) * triples) != pytest.approx(triples)


def test_e47_the_adversary_maximises():
    for K, T, edge in ((3, 4, 0.2), (4, 3, 0.1)):
        minimal = games.potential(T, "minimal", K, edge)
        assert minimal >= games.best_fixed_potential(T, K, edge)[0] - 1e-12
    uniform = games.potential(6, "uniform", 3, 0.4)
    assert games.potential(6, "minimal", 3, 0.4) > uniform + 1e-3  # a minimum over baselines would be below it
    # Theorem 9: against the optimal adversary a booster ends at most a little below φ_T(0).
    walks = games.simulate_walks(6, "minimal", 3, 0.2, n_walks=4000, random_state=0)
    assert abs(walks.mean - games.potential(6, "minimal", 3, 0.2)) < 4 * walks.standard_error


def test_e49_accuracy_one_half_and_half_of_gamma():
    H = np.where(np.eye(3, dtype=bool), 1, 0) + np.array([[0], [1], [2]])  # each is wrong on one of three examples
    space = games.Space(H % 3, np.array([0, 1, 2]), 3)
    accuracy = 2 / 3
    assert games.solve_condition(space, condition="mh").edge == pytest.approx(2 * accuracy - 1, abs=1e-6)
    b = games.CONDITIONS["mh"].baseline(3, 2 * accuracy - 1)
    assert b[0] == pytest.approx(accuracy) and b[1] == pytest.approx(1 - accuracy)  # Lemma 2 (9): the baseline of MH


def test_e54_a_poor_space_does_not_reach_the_least_risk():
    rng, c = np.random.default_rng(0), np.arange(30) % 3
    H = np.array([np.where(rng.random(30) < 0.5, c, rng.integers(3, size=30)) for _ in range(3)])
    below, _ = theory.least_risk(theory.triples(H, c, 3), 3)  # of all combinations of these three, from below
    F = 20.0 * np.eye(3)[c]  # a function of the examples, which no combination is
    risk = (np.exp(F - F[np.arange(30), c][:, None]).sum(axis=1) - 1).mean()
    assert risk < 1e-6 and below > 1.0


def test_e61_a_is_the_decision_of_bayes():
    rng = np.random.default_rng(0)
    P, F = rng.dirichlet(np.ones(4), 200), rng.normal(size=(200, 4))
    bayes, own, rows = P.argmax(axis=1), F.argmax(axis=1), np.arange(200)
    differ = bayes != own
    assert differ.sum() > 100 and (P[rows, own] < P[rows, bayes])[differ].all()  # p_A >= p_B only for A of Bayes
    rise = np.exp(F[rows, own] - F[rows, bayes])  # e^{F(x, B) − F(x, A)} = 1 + η with η >= 0
    assert (rise >= 1).all() and (1 / rise < 1)[differ].all()
    assert (P[rows, bayes] * rise + P[rows, own] / rise >= P[rows, bayes] + P[rows, own] - 1e-12).all()


def test_e62_the_signs_are_those_of_the_costs():
    assert (games.CONDITIONS["mh"].baseline(4, 0.2) > 0).all()
    costs = games.CONDITIONS["mh"].generators(4)
    assert (
        (costs[:, 0] <= 0).all() and (costs[:, 1:] >= 0).all() and (costs[:, 0] < 0).any() and (costs[:, 1:] > 0).any()
    )


def test_e63_a_lost_factor_in_the_proof_of_lemma_18():
    rng, gamma, a = np.random.default_rng(0), 0.3, 3
    rivals = np.sort(rng.uniform(0.5, 1.0, size=a))
    phi = np.concatenate([[rng.uniform()], rivals])  # of e_1, and of the a rivals, the least first
    mean = phi[[0, 2, 3]].mean()  # of e_1 and the rivals k, …, k − a + 2
    for x in np.linspace(0, (1 - gamma) / (a + 1), 5):  # b(k − a + 1), the least weight
        rest = (1 - gamma - x) / a
        b = np.array([rest + gamma, x, rest, rest])
        assert b.sum() == pytest.approx(1) and x <= rest + 1e-12
        display = lambda factor: gamma * phi[0] + factor * phi[1] + (1 - gamma) * (1 - x / (1 - gamma)) * mean  # noqa: E731, B023
        assert display(x) == pytest.approx(b @ phi)
        assert x == 0 or abs(display(x / (1 - gamma)) - b @ phi) > 1e-3  # as it is printed
    assert b @ phi == pytest.approx(gamma * phi[0] + (1 - gamma) * phi.mean())  # the end, which is printed right
    assert (1 - gamma - 1 / (a + 1)) / a < 1 / (a + 1)  # with the printed range it would not be the least weight


def test_e55_clamped_scores_keep_their_sign():
    clf = sb.AdaBoostMMClassifier(n_estimators=30).fit(X3, Y3)
    U, B, rows = clf.decision_function(X3), 0.5, np.arange(len(Y3))
    clamped = losses.clamp_scores(U, B)
    gap, before = clamped - clamped[rows, Y3][:, None], U - U[rows, Y3][:, None]  # on triples (x, y, l)
    assert (gap < -B / 2).any()  # right answers, far on the right side; the printed function makes them +C
    assert_array_equal(np.sign(gap)[np.abs(before) > B], np.sign(before)[np.abs(before) > B])
    assert_array_equal(clamped.argmax(axis=1), U.argmax(axis=1))


def test_e56_votes_are_no_edge_over_random_baseline():
    space = theorems_conditions.random_space(np.random.default_rng(9), n=8, members=9, bias=0.5)
    z, weights = theorems_conditions.margin(space)
    votes = theorems_conditions.votes(space, weights)
    edges = votes[:, 0] - votes[:, 1:].max(axis=1)
    assert z > 0.01 and edges.min() == pytest.approx(z, abs=1e-6) and edges.max() > z + 0.01  # not one edge
    B = np.array([theorems_conditions.lowered(row, z) for row in votes])
    assert_allclose(B[:, 0] - B[:, 1:].max(axis=1), z, atol=1e-6)
    assert games.solve_condition(space, condition=B).edge == pytest.approx(z, abs=1e-6)


@pytest.mark.data
def test_e57_chess_has_two_classes():
    assert len(sb.datasets.load("krvskp").class_names) == len(sb.datasets.load("magic04").class_names) == 2


# ---- Multiclass classification, lecture slides ----------------------------------------------------------------------


def test_e07b_surrogate_labels_of_an_output_code():
    M = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1], [-1, -1, -1]], float)
    clf = sb.OutputCodeClassifier(DecisionTreeClassifier(random_state=0), M, "hamming").fit(X3, Y3)
    learned = np.column_stack([estimator.predict(X3) for estimator in clf.estimators_])
    positive = learned == learned.max(axis=0)
    assert_array_equal(positive, M[Y3] > 0)  # label of example i in column j: m[y_i, j]
    slide = np.where((Y3 == 0)[:, None], M[0], -M[0]) > 0  # the slide's rule for l = 0
    assert (slide != positive).any()


def test_e40_which_reduction_is_imbalanced():
    share = {}
    for name, code in {"ova": cw.OneVsAllCode().matrix(10), "ovo": cw.AllPairs().matrix(10)}.items():
        share[name] = [(column > 0).sum() / (column != 0).sum() for column in code.T]
    assert_allclose(share["ova"], 0.1)  # one class against nine
    assert_allclose(share["ovo"], 0.5)


def test_e41_the_lambda_of_stochastic_gradients():
    C, n = 0.5, len(Y3)
    common = {"fit_intercept": False, "random_state": 0}
    exact = sb.MulticlassSVC(C=C, tol=1e-8, **common).fit(X3, Y3)
    sgd = sb.MulticlassSVC(C=C, solver="sgd", tol=2e-2, max_iter=5000, **common).fit(X3, Y3)
    assert sgd.objective_ <= 1.02 * exact.objective_  # with λ = 1/(nC)
    other = sb.MulticlassSVC(C=C / n, tol=1e-8, **common).fit(X3, Y3)  # where λ = 1/C leads to
    S = X3 @ other.coef_.T
    hinge = 1 + np.where(np.eye(4, dtype=bool)[Y3], -np.inf, S).max(axis=1) - S[np.arange(n), Y3]
    assert 0.5 * (other.coef_**2).sum() + C * np.maximum(0, hinge).sum() > 1.1 * exact.objective_


def test_e52_the_loss_of_mh_has_scores_not_signs():
    Y, F = theorems_lecture.hamming_fit()  # labels ±1 (n, K), scores of all rounds (T, n, K)
    loss, printed = (np.exp(-Y * values).mean(axis=(1, 2)) for values in (F, np.sign(F)))
    assert (np.diff(loss) < 0).all() and (np.diff(printed) > 0).any()


# ---- Soft-max boosting ----------------------------------------------------------------------------------------------


def test_e01c_the_hessian_is_not_diagonal():
    rng = np.random.default_rng(0)
    cost, psi = rng.uniform(size=4), rng.normal(size=4)
    loss, c = losses.SoftmaxCost(cost_matrix=np.tile(cost, (4, 1))), np.array([0])
    second = lambda w: loss.along(0.5 * psi[None], c, 0.5 * w[None])[1][0]  # noqa: E731
    E = np.eye(4)
    H = np.array([[0.25 * (second(a + b) - second(a - b)) for b in E] for a in E])
    g = softmax(psi)
    gradient = g * (cost - g @ cost)
    assert_allclose(H, np.diag(gradient) - np.outer(gradient, g) - np.outer(g, gradient), atol=1e-12)
    assert np.abs(H - np.diag(np.diag(H))).max() > 1e-2
    assert np.linalg.norm(H, 2) <= 1 / (3 * np.sqrt(3)) + 1e-9 < 1  # the smoothness constant 1 stays valid


def test_e42_the_risk_counts_the_probability_once():
    psi, cost = np.array([[0.3, -0.5, 0.1]]), np.array([[0.0, 1.0, 0.5]] * 3)
    g = softmax(psi)
    value = losses.SoftmaxCost(cost_matrix=cost).value(0.5 * psi, np.array([0]))[0]
    assert value == pytest.approx(float((g * cost[:1]).sum())) != pytest.approx(float((g**2 * cost[:1]).sum()))


def test_e43_targets_are_fixed_for_the_zero_one_cost():
    rng = np.random.default_rng(0)
    U, c = rng.normal(scale=2.0, size=(200, 5)), rng.integers(5, size=200)
    sign = -np.sign(losses.SoftmaxCost().residual(U, c))  # that of D = c[z] − ⟨g, c⟩
    assert_array_equal(sign, np.where(np.eye(5)[c] == 1, -1, 1))  # whatever the scores; only the weights adapt


def test_e44_mh_decides_by_scores_not_by_signs():
    X, y = load_digits(return_X_y=True)
    clf = sb.AdaBoostMHClassifier(n_estimators=20).fit(X[:400], y[:400])
    F = clf.decision_function(X[400:])
    assert_array_equal(clf.predict(X[400:]), clf.classes_[F.argmax(axis=1)])
    ties = (np.sign(F) == np.sign(F).max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert ties.mean() > 0.1
    assert np.mean(clf.classes_[np.sign(F).argmax(axis=1)] == y[400:]) < clf.score(X[400:], y[400:]) - 0.02


def test_e48_rounds_are_counted_from_the_start():
    clf = sb.SoftmaxBoostClassifier(n_pairs="all", n_estimators=15, random_state=0).fit(X3, Y3)
    risk = np.concatenate([[0.75], clf.history_["risk"]])  # ψ_0 = 0: a uniform guess among four classes
    edge = clf.history_["edge"]  # that of round t is measured at ψ_t, t = 0 … T − 1
    assert (risk[:-1] - risk[1:] >= 0.5 * edge**2 - 1e-12).all()
    assert edge.min() <= np.sqrt(2 * (risk[0] - risk[-1]) / len(edge))


def test_e64_a_sampled_direction_may_point_uphill():
    clf = sb.SoftmaxBoostClassifier(n_pairs=5, n_estimators=30, random_state=0).fit(X3, Y3)
    psi, cost, inner, norms = np.zeros((len(Y3), 4)), 1 - np.eye(4)[Y3], [], []
    for begin, end in pairwise([0, *clf.model_.round_ends]):
        terms = clf.model_.terms[begin:end]
        h = np.column_stack([term.hypothesis.outputs(X3) for term in terms])
        g = softmax(psi)
        gradient = g * (cost - (g * cost).sum(axis=1, keepdims=True))
        inner.append(-(gradient * h).sum(axis=1).mean())
        norms.append(np.sqrt((gradient**2).sum(axis=1).mean()))
        psi += terms[0].step * h
    assert (clf.history_["edge"] > 0).all()  # on the sampled pairs
    assert min(inner) < -0.01 and min(norms) > 0.1  # on all: no γ > 0 has ⟨∇, h⟩ >= γ ‖∇‖ ‖h‖


def test_e65_the_inputs_are_the_sampled_pairs():
    rng = np.random.default_rng(0)
    c, psi = rng.integers(4, size=60), rng.normal(size=(60, 4))
    g, cost = softmax(psi), 1 - np.eye(4)[c]
    above = cost - (g * cost).sum(axis=1, keepdims=True)  # Δc
    h = np.sign(above) * np.where(rng.random((60, 4)) < 0.2, -1, 1)  # a weak learner's answers
    exact = (g * above * h).sum(axis=1).mean()  # ⟨∇R_N, h⟩
    j = rng.integers(60, size=200_000)
    z = (rng.random((len(j), 1)) > g[j].cumsum(axis=1)).sum(axis=1)
    weights, signs = np.abs(above[j, z]), np.sign(above[j, z])
    assert (weights * signs * h[j, z]).mean() == pytest.approx(exact, abs=0.01)
    assert abs((weights * signs * h[j, c[j]]).mean() - exact) > 0.05  # with the inputs as they are printed


@pytest.mark.data
def test_e51_segment_has_seven_classes():
    assert len(sb.datasets.load("segment").class_names) == 7


# ---- the page -------------------------------------------------------------------------------------------------------


def test_every_erratum_is_on_the_page_and_has_a_check():
    page = (Path(__file__).parents[1] / "docs" / "errata.md").read_text()
    stated = re.findall(r"^- \*\*E-(\d\d[bc]?)\.\*\*", page, re.MULTILINE)
    checked = {
        number for name in globals() if name.startswith("test_e") for number in re.findall(r"e(\d\d[bc]?)_", name)
    }
    assert len(stated) == len(set(stated)) and set(stated) == checked
    assert {int(number[:2]) for number in stated} == set(range(1, 66))
    for name in re.findall(r"`(test_e\w+)`", page):
        assert name in globals(), name
