"""Several labels an example: the two losses against sums over pairs, the two boosters against the textbook, and use."""

import numpy as np
import pytest
import textbook_product as textbook
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import hamming_loss, label_ranking_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import compute_sample_weight

import simplexboost as sb
from simplexboost import AdaBoostM2Classifier, AdaBoostMHClassifier
from simplexboost.parts.learners import SignTree, SubsetTree
from simplexboost.parts.losses import (
    Exponential,
    MultilabelHamming,
    MultilabelRanking,
    OneVsAll,
    Savage,
    for_label_sets,
)

SETS = np.array([[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 1]], dtype=float)
LOSSES = [MultilabelHamming(SETS), MultilabelRanking(SETS)]
BOOSTERS = [AdaBoostMHClassifier, AdaBoostM2Classifier]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
every_booster = pytest.mark.parametrize("Classifier", BOOSTERS)


def scores(n=30, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(n, 4)), rng.integers(len(SETS), size=n)


def by_pairs(U, c, W=None):
    """The value of both losses, sums written out; and the ranking loss's derivatives along W."""
    hamming, ranking, first, second = (np.zeros(len(U)) for _ in range(4))
    for i, (u, s) in enumerate(zip(U, SETS[c], strict=True)):
        hamming[i] = sum(np.exp(-2 * (2 * s[k] - 1) * u[k]) for k in range(4))
        pairs = [(k, j) for k in range(4) for j in range(4) if s[k] == 1 and s[j] == 0]
        if not pairs:
            continue
        for k, j in pairs:
            term = np.exp(-(u[k] - u[j])) / len(pairs)
            gap = 0.0 if W is None else W[i, k] - W[i, j]
            ranking[i], first[i], second[i] = ranking[i] + term, first[i] - gap * term, second[i] + gap**2 * term
    return hamming, ranking, first, second


# ---- losses ---------------------------------------------------------------------------------------------------------


def test_values_are_sums_over_labels_and_pairs():
    U, c = scores()
    hamming, ranking, _, _ = by_pairs(U, c)
    assert_allclose(LOSSES[0].value(U, c), hamming)
    assert_allclose(LOSSES[1].value(U, c), ranking)
    ranked = ranking > 0
    assert_allclose(LOSSES[1].log_value(U, c)[ranked], np.log(ranking[ranked]))


@every_loss
def test_residual_by_differences(loss):
    U, c = scores()
    P, step = loss.residual(U, c), 1e-6
    for k in range(4):
        shift = np.eye(4)[k] * step
        slope = (loss.value(U + shift, c) - loss.value(U - shift, c)) / (2 * step)
        assert_allclose(-P[:, k], slope, rtol=1e-6, atol=1e-8)
    scaled, log_scale = loss.scaled_residual(U, c)
    assert_allclose(np.exp(log_scale) * scaled, P, atol=1e-14)
    assert loss.total(scaled, c) * np.exp(log_scale) == pytest.approx(loss.value(U, c).sum())


@every_loss
def test_derivatives_along_a_ray(loss):
    U, c = scores()
    W = scores(seed=1)[0]
    first, second, log_scale = loss.along(U, c, W, 0.3)
    step = 1e-5
    values = [loss.value(U + a * W, c) for a in (0.3 - step, 0.3, 0.3 + step)]
    assert_allclose(np.exp(log_scale) * first, (values[2] - values[0]) / (2 * step), rtol=1e-6, atol=1e-8)
    curvature = (values[2] - 2 * values[1] + values[0]) / step**2
    assert_allclose(np.exp(log_scale) * second, curvature, rtol=1e-3, atol=1e-3)
    if isinstance(loss, MultilabelRanking):
        _, _, exact_first, exact_second = by_pairs(U + 0.3 * W, c, W)
        assert_allclose(np.exp(log_scale) * first, exact_first, atol=1e-12)
        assert_allclose(np.exp(log_scale) * second, exact_second, atol=1e-12)


@every_loss
@pytest.mark.parametrize("levels", [(-0.5, 0.5), (0.0, 0.5), None], ids=str)
def test_terms_are_the_loss(loss, levels):
    """Σ weight e^{−α fall} is the loss on the ray, with pairs of equal pace gathered or not."""
    U, c = scores()
    rng = np.random.default_rng(2)
    W = rng.normal(size=U.shape) if levels is None else rng.choice(levels, size=U.shape)
    P = loss.residual(U, c)
    weight, fall = loss.terms(P, W, c)
    factor = 2.0 if isinstance(loss, MultilabelHamming) else 1.0
    for alpha in (0.0, 0.7, -0.4):
        assert_allclose((weight * np.exp(-alpha * fall)).sum(axis=1) / factor, loss.value(U + alpha * W, c), atol=1e-12)


@every_loss
def test_large_scores_stay_finite(loss):
    U, c = scores(scale=1e4)
    for values in (loss.value(U, c), loss.residual(U, c), loss.scaled_residual(U, c)[0], loss.probabilities(U)):
        assert np.isfinite(values).all()


def test_one_label_each_is_the_old_loss():
    U, c = scores()
    c = c % 4
    assert_allclose(for_label_sets(OneVsAll(), np.eye(4)).value(U, c), OneVsAll().value(U, c))
    assert_allclose(for_label_sets(OneVsAll(), np.eye(4)).residual(U, c), OneVsAll().residual(U, c))
    ranking = for_label_sets(Exponential(), np.eye(4))
    assert_allclose(3 * ranking.value(U, c), Exponential().value(U, c))
    assert_allclose(3 * ranking.residual(U, c), Exponential().residual(U, c))
    with pytest.raises(TypeError, match="takes one label per example"):
        for_label_sets(Savage(), np.eye(4))


@every_loss
def test_falls_forever(loss):
    c = np.arange(5)
    good = np.where(SETS > 0, 1.0, -1.0)
    assert loss.falls_forever(good, c) and loss.falls_forever(good, c, strictly=True)
    flat = good.copy()
    flat[0] = 0.0
    assert loss.falls_forever(flat, c) and not loss.falls_forever(flat, c, strictly=True)
    assert not loss.falls_forever(-good, c)


def test_threshold_of_a_ranking_recovers_a_linear_one():
    """Labels that are cut by a linear function of the scores are found again."""
    rng = np.random.default_rng(0)
    U = rng.normal(size=(4000, 4))
    w, b = np.array([0.1, -0.2, 0.3, 0.0]), 0.2
    Z = (U > (U @ w + b)[:, None]).astype(float)
    sets, c = np.unique(Z, axis=0, return_inverse=True)
    found = MultilabelRanking(sets).threshold(U, c.ravel(), np.ones(4000))
    assert np.mean((U > (U @ found[:-1] + found[-1])[:, None]) == Z) > 0.93


# ---- boosters -------------------------------------------------------------------------------------------------------


def several(seed=0, n=40, K=4):
    """Blobs with one label, and more at random; some with none and some with all."""
    X, c = blobs(n, 3, K, seed)
    rng = np.random.default_rng(seed + 5)
    Z = np.maximum(np.eye(K)[c], rng.random((n, K)) < 0.2).astype(int)
    Z[0], Z[1] = 0, 1
    return X, Z, rng.uniform(0.5, 1.5, n), rng.normal(size=(20, 3))


def check_rounds(clf, rounds, X, X_new):
    assert clf.n_iter_ == len(rounds) == 10
    F = np.zeros((len(X_new), clf.model_.Y.shape[1]))
    for term, r, edge, step in zip(clf.model_.terms, rounds, clf.history_["edge"], clf.history_["step"], strict=True):
        assert_allclose(term.hypothesis.outputs(X), r.h(X))
        assert edge == pytest.approx(r.edge, rel=1e-9) and step == pytest.approx(r.step, rel=1e-8)
        F += r.step * r.h(X_new)
    assert_allclose(clf.model_.predictor(X_new), F, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_mh_textbook(seed):
    X, Z, w, X_new = several(seed)
    rounds = textbook.adaboost_mh(X, 2.0 * Z - 1, w, 10, textbook.one_tree, max_leaf_nodes=4)
    clf = AdaBoostMHClassifier(SignTree(None, 4, 1, "best"), n_estimators=10).fit(X, Z, w)
    check_rounds(clf, rounds, X, X_new)
    assert_allclose(clf.history_["bound"], np.cumprod([r.Z for r in rounds]))
    f = clf.model_.predictor(X_new)
    assert_array_equal(clf.predict(X_new), f > 0)
    assert_allclose(clf.predict_proba(X_new), 1 / (1 + np.exp(-2 * f)))


@pytest.mark.parametrize("seed", range(3))
def test_mr_textbook(seed):
    X, Z, w, X_new = several(seed)
    ranked = Z.any(axis=1) & ~Z.all(axis=1)
    rounds = textbook.adaboost_mr(
        X[ranked], Z[ranked].astype(float), w[ranked], 10, textbook.one_tree, max_leaf_nodes=4
    )
    clf = AdaBoostM2Classifier(SubsetTree(None, 4, 1, "best"), n_estimators=10).fit(X[ranked], Z[ranked], w[ranked])
    check_rounds(clf, rounds, X[ranked], X_new)
    assert_allclose(clf.history_["risk"], np.cumprod([r.Z for r in rounds]))


@every_booster
def test_one_label_each(Classifier):
    """An indicator matrix with a single one per row is the same problem as labels."""
    X, c = blobs(40, 3, 3, 1)
    w = np.random.default_rng(0).uniform(0.5, 1.5, 40)
    labels = Classifier(SignTree(max_depth=1), n_estimators=8).fit(X, c, w)
    indicator = Classifier(SignTree(max_depth=1), n_estimators=8).fit(X, np.eye(3, dtype=int)[c], w)
    assert labels.threshold_ is None and indicator.threshold_.shape == (4,)
    assert_allclose(indicator.model_.predictor(X), labels.model_.predictor(X), rtol=1e-9)
    assert_allclose(indicator.history_["edge"], labels.history_["edge"])


@every_booster
@pytest.mark.parametrize("mode", ["shared", "separate"])
def test_bounds_hold(Classifier, mode):
    """Hamming loss and ranking loss, on 25 random problems, after every round."""
    for seed in range(25):
        X, Z, w, _ = several(seed, n=30, K=3 + seed % 3)
        ranked = Z.any(axis=1) & ~Z.all(axis=1)
        X, Z, w = X[ranked], Z[ranked], w[ranked]
        clf = Classifier(SignTree(max_depth=1), learner_mode=mode, n_estimators=8).fit(X, Z, w)
        for U, bound in zip(map(clf._scores, clf._staged(X)), clf.history_["bound"], strict=True):
            if Classifier is AdaBoostMHClassifier:
                wrong = np.average(((2 * Z - 1) * U <= 1e-12).mean(axis=1), weights=w)
            else:
                wrong = label_ranking_loss(Z, U, sample_weight=w)
            assert wrong <= bound + 1e-9


@every_booster
def test_learns(Classifier):
    X, Z = make_multilabel_classification(900, 12, n_classes=6, n_labels=2, random_state=1)
    clf = Classifier(n_estimators=60).fit(X[:500], Z[:500])
    loss, guess = (
        hamming_loss(Z[500:], clf.predict(X[500:])),
        hamming_loss(Z[500:], np.tile(Z.mean(axis=0) > 0.5, (400, 1))),
    )
    assert loss < 0.7 * guess
    assert clf.predict_proba(X).shape == clf.decision_function(X).shape == (900, 6)
    assert_array_equal(clf.predict(X), clf.decision_function(X) > 0)
    assert_array_equal(clf.predict(X), clf.predict_proba(X) > 0.5)
    assert label_ranking_loss(Z[500:], clf.decision_function(X[500:])) < 0.2
    stages = list(clf.staged_predict(X))
    assert len(stages) == 60
    assert_array_equal(stages[-1], clf.predict(X))


# ---- use ------------------------------------------------------------------------------------------------------------


@every_booster
def test_forms_of_y(Classifier):
    X, Z, w, _ = several()
    dense = Classifier(n_estimators=3).fit(X, Z, w)
    for y in (Z.astype(bool), Z.tolist(), sparse.csr_matrix(Z), Z.astype(float)):
        assert_array_equal(Classifier(n_estimators=3).fit(X, y, w).predict_proba(X), dense.predict_proba(X))
    assert_array_equal(dense.classes_, np.arange(4))
    named = Classifier(n_estimators=3, classes=["a", "b", "c", "d"]).fit(X, Z, w)
    assert named.classes_.tolist() == ["a", "b", "c", "d"]


@every_booster
def test_save_load_and_clone(Classifier, tmp_path):
    X, Z, w, X_new = several()
    clf = Classifier(n_estimators=4, random_state=0).fit(X, Z, w)
    clf.save(tmp_path / "several.sb")
    again = sb.load(tmp_path / "several.sb")
    for method in ("predict", "predict_proba", "decision_function"):
        assert_array_equal(getattr(again, method)(X_new), getattr(clf, method)(X_new))
    assert not hasattr(clone(again), "threshold_")
    assert_array_equal(clone(again).fit(X, Z, w).predict(X_new), clf.predict(X_new))
    clf.fit(X, Z.argmax(axis=1), w).save(tmp_path / "one.sb")  # refitted to one label each
    assert clf.threshold_ is None and sb.load(tmp_path / "one.sb").predict(X_new).ndim == 1


@every_booster
def test_class_weights(Classifier):
    """A label's weight multiplies its examples'; "balanced" is scikit-learn's for every column."""
    X, Z, w, X_new = several()
    weighed = Classifier(n_estimators=5, class_weight={0: 5.0, 2: 2.0}).fit(X, Z, w)
    by_hand = Classifier(n_estimators=5).fit(X, Z, w * np.where(Z[:, 0], 5.0, 1.0) * np.where(Z[:, 2], 2.0, 1.0))
    assert_array_equal(weighed.decision_function(X_new), by_hand.decision_function(X_new))
    balanced = Classifier(n_estimators=5, class_weight="balanced").fit(X, Z, w)
    by_hand = Classifier(n_estimators=5).fit(X, Z, w * compute_sample_weight("balanced", Z))
    assert_array_equal(balanced.decision_function(X_new), by_hand.decision_function(X_new))


@every_booster
def test_following_other_rows(Classifier):
    X, Z = make_multilabel_classification(300, 8, n_classes=4, random_state=0)
    clf = Classifier(n_estimators=40, early_stopping=3, random_state=0).fit(X, Z)
    assert clf.n_iter_ < 40 and clf.stop_reason_.startswith("early stopping")
    clf = Classifier(n_estimators=5).fit(X[:200], Z[:200], X_val=X[200:], y_val=Z[200:])
    risk = clf.evals_result_[0]["risk"]
    loss = for_label_sets(clf.loss_, Z[200:])
    assert_allclose(risk[-1], loss.value(clf.class_scores(X[200:]), np.arange(100)).mean())
    with pytest.raises(ValueError, match="eval_metric takes one label per example"):
        clf.fit(X, Z, X_val=X, y_val=Z, eval_metric=lambda y, P: 0.0)
    with pytest.raises(ValueError, match=r"indicator matrix of shape \(300, 4\); it has \(300, 3\)"):
        clf.fit(X, Z, X_val=X, y_val=Z[:, :3])


def test_grid_search_and_cross_validation():
    X, Z = make_multilabel_classification(120, 6, n_classes=3, random_state=0)
    search = GridSearchCV(AdaBoostMHClassifier(n_estimators=3), {"learner_mode": ["shared", "separate"]}, cv=2).fit(
        X, Z
    )
    assert search.predict(X).shape == Z.shape
    assert np.isfinite(cross_val_score(AdaBoostM2Classifier(n_estimators=3), X, Z, cv=2)).all()


def test_warm_start():
    X, Z, w, X_new = several()
    whole = AdaBoostMHClassifier(n_estimators=6).fit(X, Z, w)
    warm = AdaBoostMHClassifier(n_estimators=3, warm_start=True).fit(X, Z, w).set_params(n_estimators=6).fit(X, Z, w)
    assert_array_equal(warm.predict_proba(X_new), whole.predict_proba(X_new))


def test_refusals():
    X, Z, _, _ = several()
    with pytest.raises(ValueError, match="y should be a 1d array"):
        sb.SAMMEClassifier().fit(X, Z)
    with pytest.raises(ValueError, match=r"class_weight names \[7\]; the columns of y are 0 \.\. 3"):
        AdaBoostMHClassifier(class_weight={7: 1.0}).fit(X, Z)
    for wrong in ([1.0, 2.0, 1.0, 1.0], [{0: 1.0, 1: 2.0}]):
        with pytest.raises(ValueError, match=r"class_weight=.* must list a dict of weights for each of the 4 columns"):
            AdaBoostMHClassifier(class_weight=wrong).fit(X, Z)
    for wrong in ({0: "1"}, [{0: 1.0, 1: "1"}] * 4):
        with pytest.raises(TypeError, match=r"class_weight=.*: the weight of [01]"):
            AdaBoostMHClassifier(class_weight=wrong).fit(X, Z)
    with pytest.raises(ValueError, match="must name the 4 columns"):
        AdaBoostMHClassifier(classes=["a"]).fit(X, Z)
    clf = AdaBoostMHClassifier(n_estimators=2).fit(X, Z)
    with pytest.raises(ValueError, match="margins takes models of one class per row"):
        sb.evaluate.margins(clf, X, Z)


def test_labels_in_any_order_survive_a_file(tmp_path):
    """Labels of a row need no order, unlike classes."""
    X, Y = np.arange(40.0)[:, None], np.stack([np.arange(40) % 2, np.arange(40) // 20], axis=1)
    clf = sb.SimplexBoostClassifier(n_estimators=2, classes=["z", "a"], random_state=0).fit(X, Y)
    clf.save(tmp_path / "m.sb")
    assert sb.load(tmp_path / "m.sb").classes_.tolist() == ["z", "a"]
