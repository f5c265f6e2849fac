"""A user's own loss in the flagship: value, gradient and second derivatives of the class scores."""

import pickle

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

import simplexboost as sb
from simplexboost.parts.losses import UserLoss

FIXED = {"n_estimators": 12, "random_state": 0}


def problem(n=500, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (2 * X @ rng.normal(size=(5, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def value(U, c):
    return -log_softmax(2 * U, axis=1)[np.arange(len(c)), c]


def slope(U, c):
    return 2 * (softmax(2 * U, axis=1) - np.eye(U.shape[1])[c])


def diagonal(U, c):
    p = softmax(2 * U, axis=1)
    return 4 * p * (1 - p)


def whole(U, c):
    p = softmax(2 * U, axis=1)
    return 4 * (p[:, :, None] * np.eye(U.shape[1]) - p[:, :, None] * p[:, None, :])


def focal(gamma=2.0):
    """−(1 − p_c)^γ log p_c, by hand; its curvature is replaced by that of the logistic loss times (1 − p_c)^γ."""

    def parts(U, c):
        p = softmax(2 * U, axis=1)
        own = np.clip(p[np.arange(len(c)), c], 1e-12, 1 - 1e-12)
        return p, own

    def function(U, c):
        _, own = parts(U, c)
        return -((1 - own) ** gamma) * np.log(own)

    def gradient(U, c):
        p, own = parts(U, c)
        factor = (1 - own) ** gamma - gamma * own * np.log(own) * (1 - own) ** (gamma - 1)
        return -2 * factor[:, None] * (np.eye(U.shape[1])[c] - p)

    def hessian(U, c):
        p, own = parts(U, c)
        return 4 * (1 - own[:, None]) ** gamma * p * (1 - p)

    return UserLoss(function, gradient, hessian)


def squared_hinge():
    """Σ_k max(0, 1 − s_k U_k)² with s_c = 1 and s_k = −1 for the others."""

    def side(U, c):
        return 2 * np.eye(U.shape[1])[c] - 1

    def gap(U, c):
        return np.maximum(0, 1 - side(U, c) * U)

    return UserLoss(
        function=lambda U, c: (gap(U, c) ** 2).sum(axis=1),
        gradient=lambda U, c: -2 * side(U, c) * gap(U, c),
        hessian=lambda U, c: 2.0 * (gap(U, c) > 0),
        link=lambda U: softmax(U, axis=1),
        convex=True,
    )


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("growth", ["best", "symmetric"])
def test_the_logistic_loss_written_as_a_users_own(K, growth):
    """With all second derivatives the trees are those of the built-in loss; with weights and samples of rows too."""
    X, y = problem(K=K)
    weight = np.random.default_rng(1).exponential(size=len(y))
    options = {"growth": growth, "subsample": 0.8, **FIXED}
    built_in = sb.SimplexBoostClassifier(**options).fit(X, y, weight)
    own = sb.SimplexBoostClassifier(loss=UserLoss(value, slope, whole), **options).fit(X, y, weight)
    for a, b in zip(built_in.model_.trees, own.model_.trees, strict=True):
        assert (a.nodes["feature"] == b.nodes["feature"]).mean() > 0.95
    np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), atol=0.01)
    assert np.abs(own.predict_proba(X) - built_in.predict_proba(X)).mean() < 1e-4
    np.testing.assert_allclose(own.history_["risk"], built_in.history_["risk"], rtol=1e-3)


def test_the_first_tree_agrees_to_rounding_errors():
    X, y = problem()
    one = {"n_estimators": 1, "random_state": 0}
    built_in = sb.SimplexBoostClassifier(**one).fit(X, y)
    own = sb.SimplexBoostClassifier(loss=UserLoss(value, slope, whole), **one).fit(X, y)
    assert built_in.model_.trees[0].nodes.tobytes() == own.model_.trees[0].nodes.tobytes()
    np.testing.assert_allclose(own.class_scores(X), built_in.class_scores(X), rtol=1e-4, atol=1e-6)


def test_the_diagonal_is_enough():
    X, y = problem(1500)
    train, test = slice(0, 1000), slice(1000, None)
    built_in = sb.SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X[train], y[train])
    own = sb.SimplexBoostClassifier(loss=UserLoss(value, slope, diagonal), n_estimators=60, random_state=0)
    own.fit(X[train], y[train])
    assert own.score(X[test], y[test]) > built_in.score(X[test], y[test]) - 0.03


@pytest.mark.parametrize("make", [focal, squared_hinge])
def test_losses_of_another_kind(make):
    """Their gradients are right, the risk falls in every round, and the classes are learned; with a choice too."""
    X, y = problem(600)
    loss = make()
    rng = np.random.default_rng(0)
    U, c, W = rng.normal(size=(50, 4)), rng.integers(0, 4, 50), rng.normal(size=(50, 4))
    numeric = (loss.value(U + 1e-5 * W, c) - loss.value(U - 1e-5 * W, c)) / 2e-5
    np.testing.assert_allclose(numeric, -(loss.residual(U, c) * W).sum(axis=1), atol=1e-5)
    clf = sb.SimplexBoostClassifier(loss=loss, n_estimators=40, random_state=0).fit(X, y)
    assert (np.diff(clf.history_["risk"]) < 0).all()
    assert clf.score(X, y) > 0.85
    P = clf.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    expected = softmax(clf.class_scores(X) * (1 if make is squared_hinge else 2), axis=1)
    np.testing.assert_allclose(P, expected, atol=1e-9)
    chosen = sb.SimplexBoostClassifier(loss=make(), random_state=0).fit(X[:300], y[:300])
    assert chosen.choice_.temperature == 1.0
    assert chosen.score(X[300:], y[300:]) > 0.6


def test_constraints_starts_early_stopping_and_pickles():
    X, y = problem(600)
    loss = UserLoss(value, slope, diagonal)
    start = np.random.default_rng(0).normal(size=(600, 4))
    clf = sb.SimplexBoostClassifier(loss=loss, early_stopping=True, monotonic_cst={0: {0: 1}}, random_state=0)
    clf.fit(X, y, init_score=start)
    assert clf.best_score_ < clf.evals_result_[0]["risk"][0]
    line = np.zeros((100, 5))
    line[:, 0] = np.linspace(-3, 3, 100)
    assert (np.diff(clf.class_scores(line)[:, 0]) >= 0).all()
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_many_classes_and_threads():
    """Sparse leaves from 33 classes on; the number of threads changes nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = np.digitize(X[:, 0], np.linspace(-2, 2, 39))
    models = [
        sb.SimplexBoostClassifier(loss=UserLoss(value, slope, diagonal), n_jobs=jobs, **FIXED).fit(X, y)
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*(clf.predict_proba(X) for clf in models))
    assert models[0].score(X, y) > 0.5


def test_compositions_take_it_too():
    X, y = problem()
    for optimizer, learner in (("gradient", "vector-tree"), ("newton", "newton-tree")):
        loss = UserLoss(value, slope, whole, convex=True)
        own, built_in = (
            sb.BoostingClassifier(of, "simplex", learner, optimizer, n_estimators=8, random_state=0).fit(X, y)
            for of in (loss, "logistic")
        )
        np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), atol=1e-3)


def flat(U, c):
    return np.zeros(3)


def spoiled(U, c):
    return slope(U, c) / (np.abs(U).max() < 0.05)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (
            UserLoss(flat, slope, diagonal),
            r"the function of UserLoss returned an array of shape \(3,\); it must have \(4,\)",
        ),
        (
            UserLoss(value, flat, diagonal),
            r"the gradient of UserLoss returned an array of shape \(3,\); it must have \(4, 4\)",
        ),
        (UserLoss(value, slope, flat), r"the hessian of UserLoss .* must have \(4, 4\) or \(4, 4, 4\)"),
        (UserLoss(value, slope, diagonal, link=np.sum), r"the link of UserLoss returned an array of shape \(\)"),
        (UserLoss(value, lambda U, c: U * np.nan, diagonal), r"the gradient of UserLoss returned \[nan"),
    ],
)
def test_wrong_functions_are_found_before_the_fit(loss, message):
    X, y = problem(60)
    with pytest.raises(ValueError, match=message):
        sb.SimplexBoostClassifier(loss=loss, **FIXED).fit(X, y)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_errors_name_the_round():
    X, y = problem()
    with pytest.raises(ValueError, match=r"in round \d+, the gradient of UserLoss returned .* for the scores"):
        sb.SimplexBoostClassifier(loss=UserLoss(value, spoiled, diagonal), **FIXED).fit(X, y)


def test_other_refusals(tmp_path):
    X, y = problem(60)
    with pytest.raises(TypeError, match="gradient=None of UserLoss is not callable"):
        sb.SimplexBoostClassifier(loss=UserLoss(value, None, diagonal), **FIXED).fit(X, y)
    with pytest.raises(ValueError, match="needs codewords='canonical' here"):
        sb.SimplexBoostClassifier(loss=UserLoss(value, slope, diagonal), codewords="simplex", **FIXED).fit(X, y)
    clf = sb.SimplexBoostClassifier(loss=UserLoss(value, slope, diagonal), **FIXED).fit(X, y)
    with pytest.raises(TypeError, match="cannot be saved"):
        clf.save(tmp_path / "model")
