"""The optimal strategies: cost matrices, the invariant of the game, and the classifier that plays it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cases import ListLearner, blobs, boost_with, each, listed_data, make_run
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import simplexboost as sb
from simplexboost import theory
from simplexboost.boosting import History
from simplexboost.model.code import Code
from simplexboost.parts.codewords import Canonical
from simplexboost.parts.steps import FixedStep
from simplexboost.theory import uniform_baseline
from simplexboost.theory.os_boost import OptimalStrategy, PotentialHistory, PotentialLoss
from simplexboost.theory.spaces import true_first


def adversary(rng, allowed_by, c):
    """A weak learner that is as bad as its promise lets it be: labels at random, then mended until cheap enough."""

    def answer(C):
        rows = np.arange(len(c))
        h = rng.integers(C.shape[1], size=len(c))
        h = np.where(rng.random(len(c)) < 0.5, C.argmax(axis=1), h)
        for i in rng.permutation(len(c)):
            if C[rows, h].sum() <= allowed_by(true_first(C, c)).sum():
                break
            h[i] = C[i].argmin()
        return h

    return answer


@pytest.mark.parametrize("seed", range(100))
def test_the_average_potential_never_rises(seed):
    """I-10: whatever the learner does within its promise, the loss ends below φ_T(0)."""
    rng = np.random.default_rng(seed)
    K, T, n = int(rng.integers(2, 5)), int(rng.integers(1, 9)), int(rng.integers(3, 30))
    edge = float(rng.uniform(0.0, 0.5))
    loss, eta = (("zero-one", None), ("exponential", float(rng.uniform(0.05, 0.6))))[seed % 2]
    q = np.append(1.0, rng.permutation(np.append(1.0, rng.random(K - 2))))
    b = (1 - edge) * q / q.sum() + edge * np.eye(K)[0]
    condition = ("uniform", "minimal", b)[seed % 3]
    game = theory.make_game(T, condition, K, None if condition is b else edge, loss, eta)
    c = rng.integers(K, size=n)
    played = theory.play(game, adversary(rng, game.allowed, c), c)
    assert played.kept
    assert (np.diff(played.potential) <= 1e-12).all()
    assert_allclose(played.potential[0], game.bound)
    assert_allclose(played.potential[-1], game.loss(true_first(played.votes, c)).mean())
    assert played.potential[-1] <= game.bound + 1e-12
    assert (played.votes.sum(axis=1) == T).all()


@pytest.mark.parametrize("name", ["m1", "mh", "mr", "samme"])
def test_the_strategy_of_any_cone(name):
    """(22) by linear programmes: the rows lie in the cone, and the potential never rises."""
    rng = np.random.default_rng(0)
    game = theory.make_game(3, name, 3, 0.2)
    c = rng.integers(3, size=6)
    played = theory.play(game, adversary(rng, game.allowed, c), c)
    assert played.kept
    assert (np.diff(played.potential) <= 1e-9).all()
    if name == "mr":
        assert_allclose(game.bound, theory.make_game(3, "minimal", 3, 0.2).bound)


def test_an_adversary_can_reach_the_bound():
    """The bound is tight: with many examples the baseline itself, drawn at random, ends close to it."""
    rng = np.random.default_rng(0)
    n, K, T, b = 20_000, 4, 8, uniform_baseline(4, 0.15)
    c = np.zeros(n, dtype=int)
    game = theory.make_game(T, b, K)
    played = theory.play(game, lambda C: rng.choice(K, size=n, p=b), c)
    assert abs(played.potential[-1] - game.bound) < 4 * 0.5 / np.sqrt(n)


def test_cost_matrices():
    rng = np.random.default_rng(0)
    n, K, T, edge = 40, 5, 30, 0.2
    c, votes = rng.integers(K, size=n), rng.multinomial(12, np.ones(K) / K, size=n)
    eta = np.log1p(edge)
    # (28) with the exponential loss is (36) up to a factor, and a constant in every row
    exponential = theory.make_game(T, "uniform", K, edge, "exponential")
    C, simple = exponential.cost_matrix(18, votes, c), theory.exponential_costs(eta * votes, c, eta)
    factor = theory.kappa(edge, eta, K) ** 17
    assert_allclose(C - C[:, :1], factor * (simple - simple[:, :1]), rtol=1e-9, atol=1e-12)
    # (56) is the limit of (36) / η
    small = 1e-6
    assert_allclose(theory.exponential_costs(0.1 * votes, c, small) / small, theory.mm_costs(0.1 * votes, c), rtol=1e-5)
    # the scaled costs are the costs
    scaled, log_scale = exponential.scaled_costs(18, true_first(votes, c))
    plain = exponential.costs(18, true_first(votes, c))
    assert_allclose((scaled - scaled[:, :1]) * np.exp(log_scale), plain - plain[:, :1], rtol=1e-9, atol=1e-12)
    # right is cheapest, and the potential is what the baseline pays
    for game in (exponential, theory.make_game(T, "uniform", K, edge), theory.make_game(30, "minimal", 3, edge)):
        S = true_first(votes, c)[:, : game.K]
        S[:, 0] += 12 - S.sum(axis=1)
        C = game.costs(18, S)
        assert (C[:, :1] <= C + 1e-15).all()
        assert_allclose(game.allowed(C), game.potential(18, S), rtol=1e-10)


def test_lemma_19_makes_the_minimal_game_a_fixed_one():
    assert isinstance(theory.make_game(100, "minimal", 26, 0.001, "exponential", 0.002), theory.FixedGame)
    assert isinstance(theory.make_game(10, "minimal", 3, 0.5, "exponential"), theory.MinimalGame)


# ---- the classifier -------------------------------------------------------------------------------------------------

SETTINGS = {
    "uniform, exponential": {},
    "uniform, zero-one": {"loss": "zero-one"},
    "minimal, exponential": {"condition": "minimal", "edge": 0.2},
    "minimal, zero-one": {"condition": "minimal", "loss": "zero-one", "edge": 0.2},
    "own baseline": {"condition": [0.5, 0.3, 0.2], "loss": "zero-one"},
}


@each("settings", SETTINGS)
def test_the_classifier_is_the_game(settings):
    """Its rounds are those of `play` with the same trees as weak learner."""
    X, y = blobs(n=120, p=4, K=3, seed=1)
    clf = sb.OSBoostClassifier(n_estimators=15, learner="class-tree", **settings)
    clf.fit(X, y)
    assert clf.n_iter_ == 15 and clf.stop_reason_ is None
    H = theory.as_space(clf, y, X).H
    game = clf.loss_.game(3)
    rounds = iter(H.T)
    played = theory.play(game, lambda C: next(rounds), y)
    assert_allclose(clf.history_["potential"], played.potential[1:], rtol=1e-9)
    assert_array_equal(clf.history_["condition_met"], played.excess <= 1e-9 * played.potential[:-1])
    assert_allclose(clf.bound_, played.potential[0])
    assert_allclose(clf.history_["risk"][-1], played.potential[-1])
    vote = np.log1p(clf.edge or 0.1) if clf.loss == "exponential" else 1.0
    assert_allclose(clf.model_.predictor(X), vote * played.votes)
    assert_array_equal(clf.predict(X), played.votes.argmax(axis=1))


def test_the_bound_holds_while_the_promise_is_kept():
    X, y = blobs(n=200, p=4, K=3, seed=2)
    clf = sb.OSBoostClassifier(condition="minimal", loss="zero-one", edge=0.1, n_estimators=40).fit(X, y)
    assert clf.history_["condition_met"].all()
    potential = np.append(clf.bound_, clf.history_["potential"])
    assert (np.diff(potential) <= 1e-12).all()
    wrong = (sb.evaluate.margins(clf, X, y) <= 0).mean()
    assert_allclose(wrong, potential[-1])
    assert wrong <= clf.bound_


def test_a_broken_promise_is_reported_once():
    X, y = blobs(n=200, p=2, K=3, seed=3)
    clf = sb.OSBoostClassifier(loss="zero-one", edge=0.9, n_estimators=30)
    with pytest.warns(theory.ConditionWarning, match=r"in round \d+ the weak learner fails the condition") as caught:
        clf.fit(X, y)
    assert len(caught) == 1
    first = int(str(caught[0].message).split()[2])
    met = clf.history_["condition_met"]
    assert met[: first - 1].all() and not met[first - 1]
    potential = np.append(clf.bound_, clf.history_["potential"])
    assert_array_equal(np.diff(potential) <= 1e-12 * potential[:-1], met)


def test_costs_are_handed_to_the_learner():
    """With a list of classifiers as learner each round takes the one that is cheapest on the cost matrix."""
    space = theory.example("subsets")
    game = theory.make_game(25, "uniform", 4, 1 / 9)
    history = History()
    loss = PotentialLoss("uniform", 1 / 9, "zero-one", None, 25)
    run = make_run(
        listed_data(space.c), loss, Canonical().matrix(4), Named(space.H.T), FixedStep(), optimizer=OptimalStrategy()
    )
    boost_with(run, OptimalStrategy(), 25, [PotentialHistory(history), history])
    played = theory.play(game, space)
    assert_allclose(history.records["potential"], played.potential[1:])
    assert all(history.records["condition_met"]) and played.kept
    assert played.potential[-1] <= game.bound


class Named(ListLearner):
    """A `ListLearner` that says which classes it names."""

    def fit(self, request):
        answer = super().fit(request)
        answer.classes = answer.outputs.argmax(axis=1)
        return answer


def test_residuals_are_what_votes_take_off_the_potential():
    rng = np.random.default_rng(0)
    c, votes = rng.integers(3, size=10), rng.multinomial(4, np.ones(3) / 3, size=10)
    for settings in ({"loss": "zero-one"}, {"loss": "exponential"}, {"loss": "zero-one", "condition": "minimal"}):
        loss = PotentialLoss(edge=0.2, T=9, **settings)
        vote = np.log(1.2) if settings["loss"] == "exponential" else 1.0
        U = 0.5 * vote * votes
        P, game = loss.residual(U, c), loss.objective(c, np.ones(10), Code(np.eye(3)))
        for k in range(3):
            after = U + 0.5 * vote * np.eye(3)[k]
            off = game.potential(U, 4) - game.potential(after, 5)
            assert_allclose(off, P[:, k], rtol=1e-9, atol=1e-13)
        at_the_end = PotentialLoss(edge=0.2, T=4, **settings).objective(c, np.ones(10), Code(np.eye(3)))
        assert_allclose(loss.value(U, c), at_the_end.potential(U, 4))


def test_thousands_of_votes_do_not_overflow():
    loss = PotentialLoss(edge=0.9, loss="exponential", T=5000)
    U = 0.5 * np.log(1.9) * np.array([[3000.0, 0.0, 0.0], [0.0, 3000.0, 0.0]])
    P, log_scale = loss.scaled_residual(U, np.array([1, 1]))
    assert np.isfinite(P).all() and np.abs(P).max() > 0.1 and log_scale > 700
    assert np.isfinite(loss.value(U, np.array([1, 1]))).all()


def test_probabilities():
    X, y = blobs(n=100, seed=4)
    shares = sb.OSBoostClassifier(loss="zero-one", n_estimators=10).fit(X, y).predict_proba(X)
    assert_allclose(shares * 10, np.rint(shares * 10), atol=1e-12)
    clf = sb.OSBoostClassifier(n_estimators=10).fit(X, y)
    F = clf.model_.predictor(X)
    assert_allclose(clf.predict_proba(X), np.exp(2 * F) / np.exp(2 * F).sum(axis=1, keepdims=True))


def test_warm_start_sample_weights_and_absent_classes(tmp_path):
    X, y = blobs(n=150, seed=5)
    clf = sb.OSBoostClassifier(loss="zero-one", n_estimators=10, warm_start=True, classes=[0, 1, 2, 3])
    clf.fit(X, y, sample_weight=np.linspace(0.5, 1.5, 150))
    assert clf.predict_proba(X).shape == (150, 4) and (clf.predict_proba(X)[:, 3] == 0).all()
    weight = np.linspace(0.5, 1.5, 150)
    assert_allclose(clf.history_["potential"][-1], weight @ (sb.evaluate.margins(clf, X, y) <= 0) / weight.sum())
    clf.set_params(n_estimators=14).fit(X, y, sample_weight=weight)
    assert clf.n_iter_ == 14 and len(clf.history_["potential"]) == 14
    clf.save(tmp_path / "os.sb")
    again = sb.load(tmp_path / "os.sb")
    assert_array_equal(again.history_["condition_met"], clf.history_["condition_met"])
    assert again.bound_ == clf.bound_
    assert_array_equal(again.predict(X), clf.predict(X))


def test_other_learners():
    X, y = blobs(n=150, seed=6)
    for learner in ("greedy-tree", "info-tree", DecisionTreeClassifier(max_depth=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", theory.ConditionWarning)
            assert sb.OSBoostClassifier(learner=learner, edge=0.05, n_estimators=20).fit(X, y).score(X, y) > 0.7
    for learner in ("newton-tree", "vector-tree", "linear", DecisionTreeRegressor()):
        with pytest.raises(TypeError, match="does not name classes"):
            sb.OSBoostClassifier(learner=learner).fit(X, y)


@pytest.mark.parametrize("condition", ["uniform", [0.5, 0.3, 0.2]])
def test_the_best_eta_guarantees_most(condition):
    X, y = blobs(n=150, seed=6)
    edge = 0.3 if condition == "uniform" else None
    settings = {
        "condition": condition,
        "edge": edge,
        "learner": sb.parts.learners.ClassTree(max_depth=8),
        "n_estimators": 60,
    }
    plain, best = (sb.OSBoostClassifier(eta=eta, **settings).fit(X, y) for eta in (None, "best"))
    b = theory.uniform_baseline(3, 0.3) if condition == "uniform" else condition
    assert best.bound_ == theory.potential(60, b, loss="exponential", eta="best") < 0.8 * plain.bound_
    assert_allclose(best.history_["step"], theory.best_eta(60, b))
    assert best.history_["condition_met"].all() and (np.diff(best.history_["potential"]) <= 1e-9).all()
    assert best.history_["risk"][-1] <= best.bound_


def test_unsuitable_parameters():
    X, y = blobs(n=60)
    for settings, message in (
        ({"edge": 1.5}, r"edge=1\.5 is out of range"),
        ({"edge": 0.0}, "pass a positive eta"),
        ({"condition": "mr"}, "condition='mr' is unknown; choose one of 'uniform', 'minimal'"),
        ({"condition": [0.2, 0.5, 0.3]}, "no edge over random"),
        ({"condition": [0.6, 0.4]}, "has 2 entries; with 3 classes"),
        ({"condition": [0.5, 0.3, 0.2], "edge": 0.3}, r"edge=0\.3 does not belong to the baseline, whose edge is 0\.2"),
        ({"loss": "hinge"}, "loss='hinge' is unknown; choose one of 'exponential', 'zero-one'"),
        ({"loss": "zero-one", "eta": 0.1}, "belongs to loss='exponential'"),
        ({"condition": "minimal", "eta": "best"}, "eta='best' needs a fixed baseline"),
        ({"eta": "most"}, "eta='most' is unknown"),
        ({"condition": "minimal", "loss": "zero-one", "n_estimators": 2000}, "needs .* states"),
    ):
        with pytest.raises(ValueError, match=message):
            sb.OSBoostClassifier(**settings).fit(X, y)
    with pytest.raises(TypeError, match="c is missing"):
        theory.play(theory.make_game(4, "uniform", 3, 0.1), lambda C: C.argmin(axis=1))
