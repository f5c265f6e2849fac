"""The named boosters: against textbooks, golden numbers and each other; when they stop, and what they promise."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import textbook
from cases import ListLearner, blobs, boost_with, make_run, problem
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost import datasets
from simplexboost.boosting.loop import PERFECT
from simplexboost.parts.codewords import SAMMECode
from simplexboost.parts.learners import ClassTree, GiniTree, GreedyInfoTree, GreedyTree, InfoTree, VectorTree
from simplexboost.parts.losses import MM, OwnScoreExponential
from simplexboost.parts.optimizers import GradientDescent
from simplexboost.parts.optimizers.descent import max_cut
from simplexboost.parts.steps import ErrorStep

GOLDEN = json.loads((Path(__file__).parent / "golden" / "algorithms.json").read_text())
ROUNDS = 10


def weighed(X, y, seed):
    """A problem with weights that leave no two splits equally good."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(y))[:90])
    return X[rows] + 1e-3 * rng.normal(size=X[rows].shape), y[rows], rng.uniform(0.5, 1.5, len(rows))


PROBLEMS = {
    "blobs": weighed(*blobs(n=90, p=3, K=4, seed=1), 1),
    "sepals": weighed(*(a[:, :2] if a.ndim == 2 else a for a in load_iris(return_X_y=True)), 2),
    "wine": weighed(*(a[:, :5] if a.ndim == 2 else a for a in load_wine(return_X_y=True)), 3),
}
each_problem = pytest.mark.parametrize("data", PROBLEMS.values(), ids=list(PROBLEMS))


def answers(clf, X):
    """The classes that the terms of a model name for X, (T, n)."""
    return np.array([(term.hypothesis.outputs(X) @ clf.model_.Y.T).argmax(axis=1) for term in clf.model_.terms])


def column(rounds, name):
    return np.array([r[name] for r in rounds])


# ---- textbooks ------------------------------------------------------------------------------------------------------


@each_problem
def test_m1(data):
    X, y, w = data
    rounds, votes = textbook.m1(X, y, w, ROUNDS, depth=3)
    clf = sb.AdaBoostM1Classifier(InfoTree(max_depth=3), n_estimators=ROUNDS).fit(X, y, w)
    assert clf.n_iter_ == len(rounds) > 1
    assert (clf.n_iter_ == ROUNDS) == (clf.stop_reason_ is None)
    assert_array_equal(answers(clf, X), column(rounds, "h"))
    assert_allclose(clf.history_["error"], column(rounds, "error"), rtol=1e-9)
    assert_allclose(clf.history_["step"], column(rounds, "alpha"), rtol=1e-9)
    assert_allclose(2 * clf.decision_function(X), votes, atol=1e-9)
    e = column(rounds, "error")
    assert_allclose(clf.history_["bound"], np.cumprod(2 * np.sqrt(e * (1 - e))))


@each_problem
def test_samme(data):
    X, y, w = data
    rounds, votes = textbook.samme(X, y, w, ROUNDS)
    clf = sb.SAMMEClassifier("info-tree", n_estimators=ROUNDS).fit(X, y, w)
    K = len(clf.classes_)
    assert clf.n_iter_ == len(rounds) == ROUNDS
    assert_array_equal(answers(clf, X), column(rounds, "h"))
    assert_allclose(clf.history_["error"], column(rounds, "error"), rtol=1e-9)
    assert_allclose(clf.history_["step"] * K / (K - 1) ** 2, column(rounds, "alpha"), rtol=1e-9)
    # Scores on SAMME's codewords are centred votes, K²/(2(K−1)²) · (K−1)²/K of them.
    centred = votes - votes.mean(axis=1, keepdims=True)
    assert_allclose(clf.decision_function(X), K / 2 * centred, rtol=1e-9, atol=1e-9)
    assert "bound" not in clf.history_


@each_problem
@pytest.mark.parametrize(("step", "rule"), [("edge", 61), ("exact", 62)])
def test_mm(data, step, rule):
    X, y, w = data
    rounds, votes = textbook.mm(X, y, w, ROUNDS, rule)
    clf = sb.AdaBoostMMClassifier(step=step, n_estimators=ROUNDS).fit(X, y, w)
    assert clf.n_iter_ == len(rounds) == ROUNDS
    assert_array_equal(answers(clf, X), column(rounds, "h"))
    assert_allclose(clf.history_["edge"], column(rounds, "edge"), rtol=1e-8)
    assert_allclose(clf.history_["step"], column(rounds, "alpha"), rtol=1e-8)
    assert_allclose(2 * clf.decision_function(X), votes, atol=1e-8)
    P = np.exp(2 * votes)  # softmax(2 · votes)
    assert_allclose(clf.predict_proba(X), P / P.sum(axis=1, keepdims=True), rtol=1e-7)


@each_problem
def test_one_vs_all(data):
    X, y, w = data
    runs, f = textbook.one_vs_all(X, y, w, ROUNDS)
    clf = sb.OneVsAllBoostClassifier(n_estimators=ROUNDS).fit(X, y, w)
    assert_allclose(2 * clf.decision_function(X), f, atol=1e-8)
    for k, rounds in enumerate(runs):
        terms = [term for term in clf.model_.terms if term.coordinate == k]
        assert_allclose([term.step for term in terms], column(rounds, "alpha"), rtol=1e-8)
        assert_array_equal([term.hypothesis.outputs(X)[:, 0] for term in terms], column(rounds, "h"))
    sigma = 1 / (1 + np.exp(-2 * f))
    assert_allclose(clf.predict_proba(X), sigma / sigma.sum(axis=1, keepdims=True), rtol=1e-7)


@each_problem
@pytest.mark.parametrize("colouring", ["random", "max-cut"])
def test_ecc(data, colouring):
    X, y, w = data
    clf = sb.AdaBoostECCClassifier(colouring=colouring, n_estimators=ROUNDS, random_state=5).fit(X, y, w)
    assert clf.codewords_.shape == (len(clf.classes_), ROUNDS)
    assert (np.abs(clf.codewords_) == 1).all() and (np.abs(clf.codewords_.sum(axis=0)) < len(clf.classes_)).all()
    assert (clf.codewords_[0] == 1).all()
    rounds, scores = textbook.ecc(X, y, w, clf.codewords_)
    assert_allclose(clf.history_["step"], column(rounds, "alpha"), rtol=1e-7)
    assert_allclose(clf.history_["error"], column(rounds, "error"), rtol=1e-7, atol=1e-12)
    for term, mu, r in zip(clf.model_.terms, clf.codewords_.T, rounds, strict=True):
        assert_array_equal(term.hypothesis.outputs(X), np.outer(r["h"], mu))
    assert_allclose(2 * clf.decision_function(X), scores, atol=1e-6)


@each_problem
def test_logitboost(data):
    X, y, w = data
    rounds, F = textbook.logitboost(X, y, w, ROUNDS)
    clf = sb.LogitBoostClassifier(n_estimators=ROUNDS).fit(X, y, w)
    K = len(clf.classes_)
    for t, r in enumerate(rounds):
        terms = clf.model_.terms[K * t : K * (t + 1)]
        assert_allclose(np.column_stack([term.hypothesis.outputs(X) for term in terms]), r["h"], rtol=1e-5, atol=1e-7)
    assert_allclose(2 * clf.decision_function(X), F, atol=1e-5)
    P = np.exp(F)
    assert_allclose(clf.predict_proba(X), P / P.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)
    assert_allclose(clf.history_["step"], (K - 1) / K)


@each_problem
@pytest.mark.parametrize("learner", ["gini-tree", DecisionTreeClassifier(max_depth=2)], ids=["ours", "theirs"])
def test_samme_is_scikit_learns(data, learner):
    X, y, w = data
    X = X.astype(np.float32)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=ROUNDS, random_state=0).fit(X, y, w)
    clf = sb.SAMMEClassifier(learner, n_estimators=ROUNDS, random_state=0).fit(X, y, w)
    K = len(clf.classes_)
    assert_allclose(clf.history_["error"], theirs.estimator_errors_[: clf.n_iter_], rtol=1e-7)
    assert_allclose(clf.history_["step"] * K / (K - 1) ** 2, theirs.estimator_weights_[: clf.n_iter_], rtol=1e-7)
    assert_array_equal(clf.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    ("kind", "learner", "offset"),
    [
        (sb.SAMMEClassifier, GiniTree(max_depth=None, max_leaf_nodes=108, growth="best"), np.log(9)),
        (sb.AdaBoostM1Classifier, InfoTree(max_depth=None, max_leaf_nodes=145, growth="best"), 0.0),
    ],
    ids=["samme", "m1"],
)
def test_large_trees_have_the_votes_of_the_papers(kind, learner, offset):
    """No vote of a learner that errs is cut: the weights and votes are computed here from the trees' answers alone."""
    X, y = load_digits(return_X_y=True)
    clf = kind(learner, n_estimators=60).fit(X, y)
    K = len(clf.classes_)
    w, votes, scores = np.full(len(y), 1 / len(y)), [], np.zeros((len(y), K))
    for h in answers(clf, X):
        error = w[h != y].sum()
        votes.append(np.log((1 - error) / error) + offset)
        w = w * np.exp(votes[-1] * (h != y))
        w /= w.sum()
        scores[np.arange(len(y)), h] += votes[-1]
    unit = (K - 1) ** 2 / K if offset else 1.0  # of the step, see the docstring
    assert clf.n_iter_ == 60
    assert np.sum(np.array(votes) > 10) >= 5  # so that a limit of 10 would show
    assert_allclose(clf.history_["step"] / unit, votes, rtol=1e-12)
    assert_array_equal(clf.predict(X), scores.argmax(axis=1))
    cut = kind(learner, n_estimators=60, max_vote=10.0).fit(X, y)
    assert cut.history_["step"].max() == pytest.approx(10.0 * unit)


@pytest.mark.parametrize("kind", [sb.SAMMEClassifier, sb.AdaBoostM1Classifier])
@pytest.mark.parametrize(("max_vote", "weight"), [(None, 10.0), (3.0, 3.0), (30.0, 30.0)])
def test_a_perfect_learners_vote_is_finite(kind, max_vote, weight):
    X, y = load_iris(return_X_y=True)
    clf = kind(InfoTree(max_depth=10), max_vote=max_vote).fit(X, y)
    K = len(clf.classes_)
    unit = (K - 1) ** 2 / K if kind is sb.SAMMEClassifier else 1.0
    assert clf.stop_reason_ == PERFECT
    assert_allclose(clf.history_["step"] / unit, [weight])


@pytest.mark.parametrize("kind", [sb.SAMMEClassifier, sb.AdaBoostM1Classifier])
def test_max_vote_is_a_positive_number_or_none(kind):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"max_vote=0.0 is out of range; it must be a number in \(0.0, inf\) or None"):
        kind(max_vote=0.0).fit(X, y)
    with pytest.raises(TypeError, match="max_vote='none'"):
        kind(max_vote="none").fit(X, y)


# ---- golden numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "key"), [(sb.AdaBoostM1Classifier, "m1"), (sb.SAMMEClassifier, "samme")])
def test_votes_golden(kind, key):
    y, golden = np.array(GOLDEN["y"]), GOLDEN[key]
    X = np.arange(len(y), dtype=float)[:, None]  # the list learner's data: a row's number
    clf = kind(ListLearner(GOLDEN["H"]), n_estimators=len(golden)).fit(X, y)
    assert [term.hypothesis.number for term in clf.model_.terms] == [g["h"] for g in golden]
    assert_allclose(clf.history_["error"], [g["err"] for g in golden], rtol=1e-12)
    vote = clf.history_["step"] * (1 if key == "m1" else 3 / 4)  # K/(K−1)²
    assert_allclose(vote, [g["alpha"] for g in golden], rtol=1e-12)


@pytest.mark.parametrize(("step", "key"), [("edge", "mm_rule61"), ("exact", "mm_rule62")])
def test_mm_golden(step, key):
    y, golden = np.array(GOLDEN["y"]), GOLDEN[key]
    X = np.arange(len(y), dtype=float)[:, None]
    clf = sb.AdaBoostMMClassifier(ListLearner(GOLDEN["H"]), step=step, n_estimators=len(golden)).fit(X, y)
    assert [term.hypothesis.number for term in clf.model_.terms] == [g["h"] for g in golden]
    assert_allclose(clf.history_["step"], [g["alpha"] for g in golden], rtol=1e-12)
    assert_allclose(clf.history_["edge"], [g["delta"] for g in golden], rtol=1e-11)
    assert_allclose(clf.history_["risk"] * len(y), [g["Z_new"] for g in golden], rtol=1e-12)
    assert_allclose(2 * clf.decision_function(X), golden[-1]["f"], rtol=1e-12, atol=1e-14)


def test_samme_fig1_golden():
    """Two examples that no learner tells apart, and a third class without any: the loss falls, the error stays ½."""
    data = replace(problem(n=2, p=1, K=2), table=np.zeros((2, 1)), c=np.array([0, 1]), weight=np.ones(2), K=3)
    H = ListLearner([[0, 0], [1, 1]])
    run = make_run(data, OwnScoreExponential("1/K"), SAMMECode().matrix(3), H, ErrorStep("chance"))
    for t, golden in enumerate(GOLDEN["samme_fig1"]):
        boost_with(run, GradientDescent(), t + 1)
        (update,) = run.updates
        assert update.error == pytest.approx(golden["err"], rel=1e-12)
        assert update.alpha * 3 / 4 == pytest.approx(golden["alpha"], rel=1e-12)
        assert run.risk() == pytest.approx(golden["loss"], rel=1e-12)
        assert np.mean(run.U.argmax(axis=1) != data.c) == golden["train_error"] == 0.5


# ---- identities -----------------------------------------------------------------------------------------------------


@each_problem
def test_gradient_descent_on_codewords_is_mm(data):
    """I-3 and I-4: the same learners, the same steps up to the scale of the code."""
    X, y, w = data
    K = len(np.unique(y))
    exact = sb.AdaBoostMMClassifier(step="exact", n_estimators=ROUNDS).fit(X, y, w)
    canonical = sb.GDMCBoostClassifier("mm", "canonical", "class-tree", n_estimators=ROUNDS).fit(X, y, w)
    simplex = sb.GDMCBoostClassifier("exponential", "simplex", "class-tree", n_estimators=ROUNDS).fit(X, y, w)
    for other, scale in ((canonical, 1.0), (simplex, K / (2 * (K - 1)))):
        assert_array_equal(answers(other, X), answers(exact, X))
        assert_allclose(scale * other.history_["step"], exact.history_["step"], rtol=1e-6)


def test_mm_is_adaboost_on_mislabel_triples():
    """I-5: triples (x, y, l), label −1, answered by 1[h = l] − 1[h = y], with AdaBoost's step from the edge."""
    X, y, w = PROBLEMS["blobs"]
    clf = sb.AdaBoostMMClassifier(n_estimators=ROUNDS).fit(X, y, w)
    K = 4
    i, k = np.nonzero(np.arange(K) != y[:, None])
    D = w[i] / w[i].sum()
    for h, alpha in zip(answers(clf, X), clf.history_["step"], strict=True):
        g = (h[i] == k).astype(float) - (h[i] == y[i])
        edge = -(D @ g)
        assert alpha == pytest.approx(0.5 * np.log((1 + edge) / (1 - edge)), rel=1e-9)
        D = D * np.exp(alpha * g)
        D /= D.sum()


def test_two_classes_are_adaboost():
    """I-6: MM (61) = MM (62) = GD = one-vs-all = AdaBoost; the votes of M1 and SAMME weigh twice as much."""
    X, y, w = weighed(*blobs(n=100, p=3, K=2, seed=4), 4)
    rounds, f = textbook.adaboost(X, np.where(y == 1, 1.0, -1.0), w, ROUNDS)
    alpha, tree = column(rounds, "alpha"), ClassTree(max_depth=1)
    margin = f  # f_1 − f_0 over 2
    for clf, factor in [
        (sb.AdaBoostMMClassifier(tree), 1.0),
        (sb.AdaBoostMMClassifier(tree, step="exact"), 1.0),
        (sb.GDMCBoostClassifier("exponential", learner=tree), 1.0),
        (sb.AdaBoostECCClassifier("stump"), 0.5),  # both classes gain: twice the effect
        (sb.OneVsAllBoostClassifier("stump"), 1.0),
        (sb.AdaBoostM1Classifier(tree), 2.0),
        (sb.SAMMEClassifier(tree), 1.0),  # codewords ±1, the loss e^{−½⟨y, f⟩}: the step is (K−1)²/K = ½ of the vote
    ]:
        clf.set_params(n_estimators=ROUNDS).fit(X, y, w)
        assert_allclose(clf.history_["step"], factor * alpha, rtol=1e-7, err_msg=type(clf).__name__)
        assert_array_equal(clf.predict(X), (margin > 0).astype(int))
    samme_votes = clf.history_["step"] * 2
    assert_allclose(samme_votes, 2 * alpha, rtol=1e-7)


@each_problem
def test_drop_of_the_risk(data):
    """I-8: (62) multiplies the risk by (1−c) + √(c²−δ²), and both rules by √(1−δ²) at most."""
    X, y, w = data
    K = len(np.unique(y))
    for step, rule in (("edge", 61), ("exact", 62)):
        rounds, _ = textbook.mm(X, y, w, ROUNDS, rule)
        clf = sb.AdaBoostMMClassifier(step=step, n_estimators=ROUNDS).fit(X, y, w)
        risk = np.concatenate([[K - 1], clf.history_["risk"]])
        drop, delta, moved = risk[1:] / risk[:-1], column(rounds, "edge"), column(rounds, "moved")
        assert (drop <= np.sqrt(1 - delta**2) + 1e-12).all()
        if step == "exact":
            assert_allclose(drop, 1 - moved + np.sqrt(moved**2 - delta**2), rtol=1e-7)
            assert_allclose(clf.history_["bound"], risk[1:], rtol=1e-7)
        else:
            assert_allclose(clf.history_["bound"], (K - 1) * np.cumprod(np.sqrt(1 - delta**2)), rtol=1e-7)


def test_mm_posterior_is_theorem_7():
    """I-7: softmax(2 · votes) solves the paper's linear system."""
    X, y, w = PROBLEMS["sepals"]
    clf = sb.AdaBoostMMClassifier(n_estimators=5).fit(X, y, w)
    assert_allclose(clf.predict_proba(X), MM().posterior_system(clf.decision_function(X)), rtol=1e-8)


@each_problem
@pytest.mark.parametrize("codewords", ["canonical", "simplex"])
def test_residuals_carried_along_are_the_fresh_ones(data, codewords, monkeypatch):
    """Votes change few entries of the residual; what is carried from round to round is what the loss would say."""
    X, y, w = data
    loss = "mm" if codewords == "canonical" else "exponential"
    clf = sb.GDMCBoostClassifier(loss, codewords, "class-tree", n_estimators=40, learning_rate=0.7)
    carried = clf.fit(X, y, w).decision_function(X)
    monkeypatch.setattr("simplexboost.parts.losses.gamma_phi.REFRESH", 1)  # never carried
    assert_allclose(clf.fit(X, y, w).decision_function(X), carried, rtol=1e-7, atol=1e-9)


# ---- promises -------------------------------------------------------------------------------------------------------

PROMISING = {
    "M1": lambda **o: sb.AdaBoostM1Classifier(InfoTree(max_depth=3), **o),
    "MM edge": lambda **o: sb.AdaBoostMMClassifier(**o),
    "MM exact": lambda **o: sb.AdaBoostMMClassifier(step="exact", **o),
    "ECC": lambda **o: sb.AdaBoostECCClassifier(**o),
    "one-vs-all": lambda **o: sb.OneVsAllBoostClassifier(**o),
}


@pytest.mark.parametrize("make", PROMISING.values(), ids=list(PROMISING))
def test_training_error_bounds_are_never_violated(make):
    rng = np.random.default_rng(0)
    close = 0
    for seed in range(50):
        n, K = int(rng.integers(20, 80)), int(rng.integers(2, 6))
        X, y = blobs(n=n, p=int(rng.integers(1, 5)), K=K, seed=seed)
        w = rng.uniform(0.2, 2, n)
        clf = make(n_estimators=12, learning_rate=float(rng.choice([1.0, 0.5, 0.1])), random_state=seed).fit(X, y, w)
        if clf.n_iter_ == 0:
            continue
        bounds = clf.history_["bound"]
        for U, bound in zip(map(clf._scores, clf._staged(X)), bounds, strict=True):
            best_rival = np.where(np.eye(K, dtype=bool)[y], -np.inf, U).max(axis=1)
            error = w[U[np.arange(n), y] <= best_rival + 1e-12].sum() / w.sum()  # a tie is an error
            assert error <= bound + 1e-9, (seed, error, bound)
        assert (np.diff(bounds) <= 1e-12).all()
        close += bounds[-1] < 1
    assert close >= 5  # the bounds do say something


def test_samme_counterexample():
    """SAMME's loss goes to zero with half of the examples wrong; AdaBoost.MM sees that nothing can be learned."""
    data = datasets.make_samme_counterexample()
    X, y = data.X_train, data.y_train
    for learner in ("class-tree", "info-tree"):
        clf = sb.SAMMEClassifier(learner, n_estimators=60).fit(X, y)
        assert clf.n_iter_ == 60
        assert clf.history_["risk"][-1] < 1e-3 * clf.history_["risk"][0]
        assert clf.score(X, y) <= 0.5
        mm = sb.AdaBoostMMClassifier(learner, n_estimators=60).fit(X, y)
        assert mm.stop_reason_ is not None or mm.history_["bound"][-1] >= 0.5
        assert mm.history_["bound"].min() >= 0.5 and mm.history_["risk"].min() >= 0.5


# ---- stopping -------------------------------------------------------------------------------------------------------


def test_m1_stops_at_one_half():
    X, y = blobs(n=200, p=3, K=6, seed=5)
    clf = sb.AdaBoostM1Classifier("class-tree", n_estimators=50).fit(X, y)
    assert clf.n_iter_ < 50 and "not below 1/2" in clf.stop_reason_
    assert (clf.history_["error"] < 0.5).all()
    weak = sb.AdaBoostM1Classifier(InfoTree(max_depth=1)).fit(X, y)
    assert weak.n_iter_ == 0 and "not below 1/2" in weak.stop_reason_  # not even the first learner
    assert set(weak.predict(X)) == {0}


def test_samme_stops_at_chance():
    """A constant learner is no better than guessing once its classes are balanced."""
    X, y = np.zeros((9, 1)), np.arange(9) % 3
    clf = sb.SAMMEClassifier(n_estimators=5).fit(X, y)
    assert clf.n_iter_ == 0 and "not below 1 - 1/K" in clf.stop_reason_


@pytest.mark.parametrize(
    "clf",
    [
        sb.AdaBoostM1Classifier(),
        sb.SAMMEClassifier(),
        sb.AdaBoostMMClassifier(),
        sb.OneVsAllBoostClassifier(),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_perfect_learners_are_kept_and_end_it(clf):
    y = np.arange(30) // 10
    X = np.eye(3)[y]
    clf.set_params(n_estimators=8).fit(X, y)
    assert clf.n_iter_ == 1 and clf.stop_reason_.startswith("perfect learner")
    assert clf.score(X, y) == 1.0
    assert clf.history_["edge"][0] == pytest.approx(1.0)


def test_one_vs_all_ends_class_by_class():
    """Class 0 is told apart by one stump; the others go on without it."""
    X, y = load_iris(return_X_y=True)
    clf = sb.OneVsAllBoostClassifier(n_estimators=6).fit(X, y)
    rounds = [sum(term.coordinate == k for term in clf.model_.terms) for k in range(3)]
    assert rounds == [1, 6, 6] and clf.stop_reason_ is None


@pytest.mark.parametrize("learner", ["stump", DecisionTreeClassifier(max_depth=1, random_state=0)])
def test_one_vs_all_goes_on_without_the_classes_that_have_ended(learner):
    """Two fits of 3 rounds are one of 6: class 0, which ended in the first, is not asked about again."""
    X, y = load_iris(return_X_y=True)
    whole = sb.OneVsAllBoostClassifier(learner, n_estimators=6).fit(X, y)
    clf = sb.OneVsAllBoostClassifier(learner, n_estimators=3, warm_start=True).fit(X, y)
    clf.set_params(n_estimators=6).fit(X, y)
    assert [term.coordinate for term in clf.model_.terms] == [term.coordinate for term in whole.model_.terms]
    assert_array_equal(clf.decision_function(X), whole.decision_function(X))
    for name in ("risk", "edge", "step", "bound"):
        assert_allclose(clf.history_[name], whole.history_[name], rtol=1e-12)


def test_one_vs_all_that_has_ended_stays_as_it_is():
    """Nothing is added on the same rows; on others, where the learners are no longer perfect, boosting goes on."""
    y = np.arange(30) // 10
    X = np.eye(3)[y]
    clf = sb.OneVsAllBoostClassifier(n_estimators=2, warm_start=True).fit(X, y)
    before = clf.decision_function(X)
    clf.set_params(n_estimators=5).fit(X, y)
    assert clf.n_iter_ == 1 and clf.stop_reason_ == PERFECT
    assert_array_equal(clf.decision_function(X), before)
    X[0], X[10] = X[10], X[0]
    assert clf.fit(X, y).n_iter_ == 5


def test_zero_edge_stops():
    X, y = np.zeros((12, 2)), np.arange(12) % 3
    for kind in (sb.AdaBoostMMClassifier, sb.AdaBoostECCClassifier, sb.LogitBoostClassifier):
        clf = kind(n_estimators=4).fit(X, y)
        assert clf.n_iter_ == 0 and clf.stop_reason_.startswith("no edge"), kind


# ---- learners -------------------------------------------------------------------------------------------------------


def test_leaf_budgets_of_the_papers():
    X, y = blobs(n=400, p=5, K=4, seed=6)
    y = np.random.default_rng(0).permutation(y)  # nothing to learn: the budget is used up
    for learner, leaves in [
        (GreedyInfoTree(), 36),
        (GreedyInfoTree(leaves_per_rival=5), 15),
        (GreedyTree(max_leaf_nodes=7), 7),
        ("greedy-tree", 36),
    ]:
        clf = sb.SAMMEClassifier(learner, n_estimators=2).fit(X, y)
        assert [tree.n_leaves for tree in clf.model_.trees] == [leaves, leaves]
    with pytest.raises(TypeError, match="max_leaf_nodes"):
        sb.SAMMEClassifier(GreedyTree(max_leaf_nodes="many")).fit(X, y)


@pytest.mark.parametrize("name", ["AdaBoostMMClassifier", "AdaBoostECCClassifier", "OneVsAllBoostClassifier"])
def test_any_scikit_learn_classifier(name):
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    clf = getattr(sb, name)(tree, n_estimators=20, random_state=0).fit(X, y)
    assert clf.score(X, y) == 1.0 > tree.fit(X, y).score(X, y)  # so with other seeds, too
    if name == "AdaBoostECCClassifier":
        assert clf.codewords_.shape == (3, 20)


def test_logitboost_takes_linear_regressors():
    X, y = load_iris(return_X_y=True)
    clf = sb.LogitBoostClassifier("linear", n_estimators=30).fit(X, y)
    assert clf.score(X, y) >= LogisticRegression(C=1e6, max_iter=10_000).fit(X, y).score(X, y)  # 0.993, 0.987
    assert (np.diff(clf.history_["risk"])[:8] < 0).all() and clf.history_["risk"][-1] < 0.1 * np.log(3)


def cut(A, mu):
    return A[np.ix_(mu > 0, mu < 0)].sum()


def test_max_cut_is_a_local_optimum_and_uses_both_colours():
    rng = np.random.default_rng(0)
    for K in (2, 3, 7):
        for _ in range(20):
            A = rng.random((K, K)) ** 3
            A = A + A.T
            np.fill_diagonal(A, 0.0)
            start = rng.permutation(np.where(np.arange(K) < K // 2, 1.0, -1.0))
            mu = max_cut(A, start)
            assert abs(mu.sum()) < K and cut(A, mu) >= cut(A, start)
            flips = [np.where(np.arange(K) == k, -mu, mu) for k in range(K)]
            assert all(cut(A, flip) <= cut(A, mu) + 1e-9 for flip in flips if abs(flip.sum()) < K)


def test_costs_weigh_pairs():
    X, y = blobs(n=200, p=2, K=3, seed=7)
    cost = np.ones((3, 3))
    cost[0] = 20.0  # examples of class 0 must not be missed
    clf = sb.AdaBoostMMClassifier(n_estimators=30, cost_matrix=cost).fit(X, y)
    plain = sb.AdaBoostMMClassifier(n_estimators=30).fit(X, y)
    assert (clf.predict(X)[y == 0] == 0).mean() > (plain.predict(X)[y == 0] == 0).mean()
    assert clf.history_["bound"][0] < 2 * (20 + 1 + 1) / 3  # the cost before the first round


# ---- the table ------------------------------------------------------------------------------------------------------


def test_table_is_the_papers():
    """Table 5 of Saberian and Vasconcelos, in our words."""
    table = sb.cli.algorithms.TABLE
    expected = {
        "OneVsAllBoostClassifier": ("all-coordinates", "canonical", "any", "one-vs-all"),
        "AdaBoostM1Classifier": ("gradient", "canonical", "classification", "own-score"),
        "SAMMEClassifier": ("gradient", "samme", "classification", "own-score"),
        "AdaBoostMMClassifier": ("gradient", "canonical", "classification", "mm"),
        "AdaBoostECCClassifier": ("new-column", "binary", "any", "mm"),
        "LogitBoostClassifier": ("newton-coordinates", "canonical", "regression", "logistic"),
        "CDMCBoostClassifier": ("coordinate", "simplex", "any", "exponential"),
        "GDMCBoostClassifier": ("gradient", "simplex", "any", "exponential"),
    }
    for name, words in expected.items():
        row = table[name]
        for column_name, word in zip(("optimizer", "codewords", "learners", "loss"), words, strict=True):
            assert row[column_name].startswith(word), (name, column_name, row)
        assert row["paper"][-4:].isdigit()
    public = {name for name in sb.__all__ if name.endswith("Classifier")}
    assert set(table) == public - {"BoostingClassifier", "SimplexBoostClassifier", "OutputCodeClassifier"}


def test_the_table_is_printed():
    out = subprocess.run(
        [sys.executable, "-m", "simplexboost", "list"], capture_output=True, text=True, check=True
    ).stdout
    for name in sb.cli.algorithms.TABLE:
        assert name.removesuffix("Classifier") in out
    assert "codewords" in out


def test_vector_trees_are_refused_by_steps_that_count_votes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="answers with codewords"):
        sb.AdaBoostMMClassifier(VectorTree(), step="exact").fit(X, y)


def test_every_public_name_is_there_also_those_imported_late():
    assert set(sb.__all__) <= set(dir(sb))
    others = {name for name in set(dir(sb)) - set(sb.__all__) if not name.startswith("__")}
    assert all(getattr(sb, name).__name__ == f"simplexboost.{name}" for name in others), (
        others
    )  # modules of the package
    for name in sb.__all__:
        assert getattr(sb, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Booster'"):
        sb.Booster  # noqa: B018
