"""Boosting that starts from given scores: `init_score`, in log-odds, of training, evaluated and predicted rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

import simplexboost as sb
from simplexboost.model.code import Code
from simplexboost.parts.codewords import Canonical, Simplex

FIXED = {"n_estimators": 10, "random_state": 0}


def problem(n=400, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X @ rng.normal(size=(5, K)) + rng.normal(size=(n, K))).argmax(axis=1)
    return X, y


def logits(clf, X, **options):
    """What ``init_score`` takes, from a fitted model."""
    return 2 * clf.class_scores(X, **options)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_going_on_from_scores_is_a_warm_start(K, weighted):
    """20 rounds, then 10 more from their scores: the same predictions as 30 rounds."""
    X, y = problem(K=K)
    weight = np.random.default_rng(1).exponential(size=len(y)) if weighted else None
    options = {"random_state": 0}
    first = sb.SimplexBoostClassifier(n_estimators=20, warm_start=True, max_features=1.0, **options)
    first.fit(X, y, weight)
    start, state = logits(first, X), first._rng_state
    more = sb.SimplexBoostClassifier(n_estimators=10, max_features=1.0, callbacks=[DrawsOf(state)], **options).fit(
        X, y, weight, init_score=start
    )
    whole = first.set_params(n_estimators=30).fit(X, y, weight)
    np.testing.assert_allclose(more.predict_proba(X, init_score=start), whole.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(more.decision_function(X, init_score=start), whole.decision_function(X), atol=1e-4)
    assert (more.predict(X, init_score=start) == whole.predict(X)).mean() > 0.995
    np.testing.assert_allclose(more.history_["risk"], whole.history_["risk"][20:], rtol=1e-4)


class DrawsOf(sb.boosting.Callback):
    """Goes on with the random numbers of another fit, so that two fits can be compared."""

    def __init__(self, state):
        self.state = state

    def start(self, run):
        run.rng.bit_generator.state = self.state


@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.SimplexBoostClassifier(**FIXED),
        lambda: sb.SimplexBoostClassifier(codewords="simplex", **FIXED),
        lambda: sb.BoostingClassifier("logistic", "simplex", "newton-tree", "newton", **FIXED),
        lambda: sb.BoostingClassifier("exponential", "canonical", "class-tree", "gradient", **FIXED),
        lambda: sb.AdaBoostMMClassifier(**FIXED),
        lambda: sb.GDMCBoostClassifier(**FIXED),
        lambda: sb.LogitBoostClassifier(**FIXED),
        lambda: sb.SoftmaxBoostClassifier(**FIXED),
    ],
)
def test_zeros_are_no_start_at_all(make):
    """As in LightGBM and XGBoost; in every booster, and a start that is not zero makes a difference."""
    X, y = problem()
    plain = make().fit(X, y)
    zeros = np.zeros((len(y), 3))
    from_zero = make().fit(X, y, init_score=zeros)
    np.testing.assert_array_equal(from_zero.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(from_zero.predict_proba(X, init_score=zeros), plain.predict_proba(X))
    start = np.random.default_rng(0).normal(size=(len(y), 3))
    other = make().fit(X, y, init_score=start)
    assert np.abs(other.class_scores(X) - plain.class_scores(X)).max() > 0.01
    U = other.class_scores(X, init_score=start) - other.class_scores(X) - start / 2
    np.testing.assert_allclose(U - U.mean(axis=1, keepdims=True), 0, atol=1e-5)


def test_what_is_known_already_need_not_be_learned():
    """The scores of a good model as a start: little is left to do, and predictions without them are poor."""
    X, y = problem(600)
    start = logits(sb.SimplexBoostClassifier(n_estimators=100, random_state=0).fit(X, y), X)
    clf = sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=start)
    together = log_loss(y, clf.predict_proba(X, init_score=start))
    assert together <= log_loss(y, softmax(start, axis=1)) < 0.5 * log_loss(y, clf.predict_proba(X))


def test_two_classes_take_log_odds():
    """(n,) are the log-odds of the second class; a frame and a column will do."""
    X, y = problem(K=2)
    s = np.random.default_rng(0).normal(size=len(y))
    both = np.column_stack([np.zeros_like(s), s])
    clf = sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=s)
    for same in (pd.Series(s), s[:, None], both):
        other = sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=same)
        np.testing.assert_allclose(other.predict_proba(X), clf.predict_proba(X), atol=1e-5)
        np.testing.assert_allclose(clf.predict_proba(X, init_score=same), clf.predict_proba(X, init_score=s), atol=1e-6)
    ratio = clf.predict_proba(X, init_score=s) / clf.predict_proba(X)
    np.testing.assert_allclose(np.log(ratio[:, 1] / ratio[:, 0]), s, atol=1e-4)


def test_all_ways_to_predict_agree():
    X, y = problem()
    start = np.random.default_rng(0).normal(size=(len(y), 3))
    clf = sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=start)
    P, U = clf.predict_proba(X, init_score=start), clf.decision_function(X, init_score=start)
    np.testing.assert_array_equal(clf.predict(X, init_score=start), clf.classes_[P.argmax(axis=1)])
    np.testing.assert_allclose(P, softmax(2 * U, axis=1), atol=1e-6)
    *_, last = clf.staged_predict_proba(X, init_score=start)
    np.testing.assert_allclose(last, P, atol=1e-6)
    *_, last = clf.staged_decision_function(X, init_score=start)
    np.testing.assert_allclose(last, U, atol=1e-6)
    *_, last = clf.staged_predict(X, init_score=start)
    np.testing.assert_array_equal(last, clf.predict(X, init_score=start))
    short = sb.keep_rounds(clf, 3)
    P = softmax(2 * short.class_scores(X) + start, axis=1)
    np.testing.assert_allclose(short.predict_proba(X, init_score=start), P, atol=1e-6)


def test_evaluated_and_held_out_rows_have_their_own():
    """The curves are those of predictions with init_score, with a temperature as well."""
    X, y = problem(500)
    start = np.random.default_rng(0).normal(size=(len(y), 3))
    train, test = slice(0, 350), slice(350, None)
    clf = sb.SimplexBoostClassifier(calibration=0.7, **FIXED).fit(
        X[train],
        y[train],
        init_score=start[train],
        X_val=X[test],
        y_val=y[test],
        init_score_val=start[test],
        eval_metric="log_loss",
    )
    by_name = sb.SimplexBoostClassifier(calibration=0.7, **FIXED).fit(
        X[train], y[train], init_score=start[train], X_val=X[test], y_val=y[test], init_score_val=start[test]
    )
    assert by_name.best_score_ == clf.evals_result_[0]["risk"].min()
    after = log_loss(y[test], clf.predict_proba(X[test], init_score=start[test]))
    assert clf.evals_result_[0]["risk"][-1] == pytest.approx(after, rel=1e-5)
    assert clf.evals_result_[0]["log_loss"][-1] == pytest.approx(after, rel=1e-5)
    rule = sb.boosting.EarlyStopping(validation_fraction=0.3)
    stopped = sb.SimplexBoostClassifier(early_stopping=rule, random_state=0)
    stopped.fit(X, y, init_score=start)
    misled = sb.SimplexBoostClassifier(early_stopping=rule, random_state=0)
    misled.fit(X, y, init_score=start[::-1])
    assert stopped.best_score_ != misled.best_score_
    assert stopped.evals_result_[0]["risk"][0] > stopped.best_score_


def test_the_choice_starts_there_too():
    """From the scores that made the labels nothing is left to learn: the choice takes few rounds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    start = 2 * X @ rng.normal(size=(5, 3))
    y = (start + rng.gumbel(size=start.shape)).argmax(axis=1)
    plain = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, y, init_score=start)
    assert clf.choice_.risk < plain.choice_.risk
    assert clf.choice_.n_estimators < 0.5 * plain.choice_.n_estimators
    assert clf.choice_.risk == pytest.approx(log_loss(y, softmax(start, axis=1)), rel=0.05)


def test_rows_of_zero_weight_and_absent_classes():
    X, y = problem()
    start = np.random.default_rng(0).normal(size=(len(y), 4))
    keep = np.arange(len(y)) % 4 > 0
    options = {"classes": [0, 1, 2, 3], "subsample": 0.7, **FIXED}
    some = sb.SimplexBoostClassifier(**options).fit(X[keep], y[keep], init_score=start[keep])
    weighted = sb.SimplexBoostClassifier(**options).fit(X, y, keep.astype(float), init_score=start)
    P = some.predict_proba(X, init_score=start)
    np.testing.assert_array_equal(P, weighted.predict_proba(X, init_score=start))
    assert (P[:, 3] == 0).all()
    start[:, 3] = 99.0  # the absent class has no score to start from
    np.testing.assert_array_equal(P, some.predict_proba(X, init_score=start))
    one = sb.SimplexBoostClassifier(classes=[0, 1], **FIXED).fit(X, np.zeros(len(y)), init_score=start[:, :2])
    assert (one.predict(X, init_score=start[:, :2]) == 0).all()


def test_warm_start_needs_the_scores_again():
    X, y = problem()
    start = np.random.default_rng(0).normal(size=(len(y), 3))
    whole = sb.SimplexBoostClassifier(n_estimators=12, random_state=0).fit(X, y, init_score=start)
    clf = sb.SimplexBoostClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, y, init_score=start)
    clf.set_params(n_estimators=12)
    with pytest.raises(ValueError, match="was fitted with init_score; pass the same scores again"):
        clf.fit(X, y)
    clf.fit(X, y, init_score=start)
    np.testing.assert_allclose(clf.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    plain = sb.SimplexBoostClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="was fitted without init_score"):
        plain.fit(X, y, init_score=start)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (np.zeros((400, 2)), r"init_score has shape \(400, 2\); pass \(400, 3\): log-odds with a row per row of X"),
        (np.zeros(400), r"init_score has shape \(400,\); pass \(400, 3\)"),
        (np.zeros((9, 3)), r"init_score has shape \(9, 3\); pass \(400, 3\)"),
        (np.full((400, 3), np.nan), "init_score is not finite in row 0"),
    ],
)
def test_wrong_shapes_are_named(start, message):
    X, y = problem()
    clf = sb.SimplexBoostClassifier(**FIXED)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y, init_score=start)
    clf.fit(X, y)
    with pytest.raises(ValueError, match=message):
        clf.predict_proba(X, init_score=start)


def test_what_has_no_start_says_so():
    X, y = problem()
    start = np.zeros((len(y), 3))
    with pytest.raises(TypeError, match="init_score must hold numbers"):
        sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=[["a"] * 3] * len(y))
    with pytest.raises(
        ValueError, match="the training rows have an init_score, but those of X_val have none; pass init_score_val"
    ):
        sb.SimplexBoostClassifier(**FIXED).fit(X, y, init_score=start, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="cannot be represented by codewords of shape"):
        few = np.array([[1.0], [-1.0], [0.2]])
        sb.BoostingClassifier(codewords=few, n_estimators=3).fit(
            X, y, init_score=np.random.default_rng(0).normal(size=(400, 3))
        )
    with pytest.raises(ValueError, match="init_score does not go with this booster"):
        sb.OSBoostClassifier(n_estimators=3).fit(X, y, init_score=start)
    with pytest.raises(ValueError, match="init_score takes one label per example, not a matrix y"):
        sb.AdaBoostMHClassifier(n_estimators=3).fit(X, np.eye(3)[y].astype(int), init_score=start)


def test_codewords_that_represent_scores():
    S = np.random.default_rng(0).normal(size=(7, 4))
    for words in (Canonical(), Simplex()):
        code = Code(words.for_classes(4, np.ones(4, dtype=bool), np.random.default_rng(0)))
        gap = 2 * code.forward(code.predictor(S)) - S
        np.testing.assert_allclose(gap - gap.mean(axis=1, keepdims=True), 0, atol=1e-12)
