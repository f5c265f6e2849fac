"""Boosting that starts at the class shares, and a choice that is never worse than they are."""

import numpy as np
import pytest
from cases import ENGINES, blobs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import log_loss

import simplexboost as sb
from simplexboost.parts.codewords import Auto
from simplexboost.parts.optimizers import SketchedNewton

WEIGHT = np.random.default_rng(3).uniform(0.5, 2.0, 300)
PLAIN = {"random_state": 0, "max_features": 1.0}


def uneven(n=300, K=4, seed=0):
    X, y = blobs(n=n, p=4, K=K, seed=seed)
    keep = (y == 0) | (np.random.default_rng(seed).random(n) < 0.4)
    return X[keep], y[keep]


def shares(y, weight, K, extra=0.5):
    """Half a row is added to those of every class."""
    totals = np.bincount(y, weight / weight.mean(), K) + extra
    return totals / totals.sum()


@pytest.mark.parametrize("codewords", ["canonical", "simplex", "ordered"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_first_round_predicts_the_class_shares(codewords, weighted):
    X, y = uneven()
    weight = WEIGHT[: len(y)] if weighted else np.ones(len(y))
    clf = sb.SimplexBoostClassifier(
        n_estimators=1, optimizer=SketchedNewton(init="prior"), codewords=codewords, **PLAIN
    ).fit(X, y, weight)
    assert_allclose(clf.predict_proba(X), np.tile(shares(y, weight, 4), (len(y), 1)), rtol=1e-5)
    assert clf.model_.trees[0].n_leaves == clf.n_iter_ == 1


def test_labels_and_targets_start_at_their_shares():
    X, y = uneven()
    n, labels = len(y), np.column_stack([y == 0, y >= 2, y == 3]).astype(int)
    options = {"n_estimators": 1, "optimizer": SketchedNewton(init="prior"), **PLAIN}
    P = sb.SimplexBoostClassifier(**options).fit(X, labels).predict_proba(X)
    assert_allclose(P, np.tile((labels.sum(axis=0) + 0.5) / (n + 1), (n, 1)), rtol=1e-5)
    targets = np.column_stack([y, y % 2])
    for of, P in enumerate(sb.SimplexBoostClassifier(**options).fit(X, targets).predict_proba(X)):
        assert_allclose(P[0], shares(targets[:, of], np.ones(n), P.shape[1]), rtol=1e-5)


def test_later_rounds_are_those_that_start_from_the_same_scores():
    X, y = uneven()
    start = np.log(shares(y, np.ones(len(y)), 4))
    ours = sb.SimplexBoostClassifier(n_estimators=9, optimizer=SketchedNewton(init="prior"), **PLAIN).fit(X, y)
    scores = np.tile(start - start.mean(), (len(y), 1))
    given = sb.SimplexBoostClassifier(n_estimators=8, **PLAIN).fit(X, y, init_score=scores)
    assert_allclose(ours.predict_proba(X), given.predict_proba(X, init_score=scores), rtol=1e-4)
    for mine, theirs in zip(ours.model_.trees[1:], given.model_.trees, strict=True):
        assert_array_equal(mine.nodes["feature"], theirs.nodes["feature"])


def test_a_temperature_leaves_the_start_as_it_is():
    X, y = uneven()
    plain, cold = (
        sb.SimplexBoostClassifier(n_estimators=20, optimizer=SketchedNewton(init="prior"), calibration=t, **PLAIN).fit(
            X, y
        )
        for t in (False, 0.5)
    )
    start = np.log(shares(y, np.ones(len(y)), 4))
    start -= start.mean()
    F = 2 * plain.class_scores(X)
    assert_allclose(cold.predict_proba(X), softmax(start + 0.5 * (F - start), axis=1), rtol=1e-4)


@pytest.mark.parametrize("matrix", [False, True])
def test_a_chosen_temperature_is_evaluated_as_it_predicts(matrix):
    X, y = uneven(n=600)
    y = np.column_stack([y == 0, y == 3]).astype(int) if matrix else y
    clf = sb.SimplexBoostClassifier(optimizer=SketchedNewton(init="prior"), calibration=True, n_estimators=30, **PLAIN)
    clf.fit(X[:250], y[:250], X_val=X[250:], y_val=y[250:])
    assert np.all(clf.model_.temperature != 1.0)
    P = clf.predict_proba(X[250:])
    own = np.where(y[250:] == 1, P, 1 - P).prod(axis=1) if matrix else P[np.arange(len(P)), y[250:]]
    risk = -np.log(own).mean()
    assert clf.evals_result_[0]["risk"][-1] == pytest.approx(risk, rel=1e-4)


def test_a_fit_that_goes_on_is_one_long_fit():
    X, y = uneven()
    options = {"optimizer": SketchedNewton(init="prior"), "calibration": 0.7, **PLAIN}
    part = sb.SimplexBoostClassifier(n_estimators=5, warm_start=True, **options).fit(X, y)
    whole = sb.SimplexBoostClassifier(n_estimators=12, **options).fit(X, y)
    rest = part.set_params(n_estimators=12).fit(X, y)
    assert rest.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@pytest.mark.parametrize("engine", ENGINES.values())
def test_every_engine_starts_at_the_shares(engine, monkeypatch):
    X, y = uneven(n=120)
    monkeypatch.setattr(sb.SimplexBoostClassifier, "_engine", lambda self, *more: engine)
    clf = sb.SimplexBoostClassifier(n_estimators=4, optimizer=SketchedNewton(init="prior"), **PLAIN).fit(X, y)
    first = next(clf.staged_predict_proba(X))
    assert_allclose(first[0], shares(y, np.ones(len(y)), 4), rtol=1e-5)
    monkeypatch.undo()
    assert_allclose(clf.predict_proba(X), clone(clf).fit(X, y).predict_proba(X), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"optimizer": SketchedNewton(init="mean")}, "init='mean'"),
        ({"optimizer": SketchedNewton(init="prior"), "loss": "savage"}, "init='prior' does not go with loss=Savage()"),
        (
            {"optimizer": SketchedNewton(init="prior"), "codewords": Auto(2)},
            "init='prior' does not go with codewords of 2 dimensions for 4 classes",
        ),
        (
            {"optimizer": SketchedNewton(init="prior", candidates=2)},
            "init='prior' does not go with candidates=2",
        ),
    ],
)
def test_what_cannot_start_at_the_shares_is_refused(options, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        sb.SimplexBoostClassifier(n_estimators=2, **options).fit(*uneven())
    X, y = uneven()
    with pytest.raises(ValueError, match="init='prior' does not go with init_score"):
        sb.SimplexBoostClassifier(n_estimators=2, optimizer=SketchedNewton(init="prior")).fit(
            X, y, init_score=np.zeros((len(y), 4))
        )


def test_classes_that_come_and_go_leave_the_start_of_the_others():
    X, y = uneven(n=600)
    old = y < 3
    clf = sb.SimplexBoostClassifier(n_estimators=10, optimizer=SketchedNewton(init="prior"), **PLAIN).fit(
        X[old], y[old]
    )
    U = clf.class_scores(X)
    clf = sb.add_classes(clf, X, y, n_rounds=5)
    assert_array_equal(clf.class_scores(X)[:, :3], U)
    clf = sb.drop_classes(clf, [3])
    assert_allclose(clf.class_scores(X) - U, (clf.class_scores(X) - U)[:, :1] * np.ones(3), atol=1e-6)


def test_explanations_and_files_know_the_start(tmp_path):
    X, y = uneven()
    clf = sb.SimplexBoostClassifier(
        n_estimators=10, optimizer=SketchedNewton(init="prior"), calibration=0.6, **PLAIN
    ).fit(X, y)
    total = sb.explain.shap_values(clf, X).sum(axis=1) + sb.explain.expected_value(clf)
    assert_allclose(softmax(total, axis=1), clf.predict_proba(X), rtol=1e-5)
    clf.save(tmp_path / "m.sb")
    assert_array_equal(sb.load(tmp_path / "m.sb").predict_proba(X), clf.predict_proba(X))
    frame = sb.explain.trees_to_frame(clf)
    assert (frame["tree_index"] == 0).sum() == 1 and "1 leaves" in sb.explain.tree_text(clf, 0)


# ---- the choice -----------------------------------------------------------------------------------------------------


def weak(n, rate, shift, rng):
    """Rare positives, of whom one column tells a little."""
    y = (rng.random(n) < rate).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, 5)) + shift * y[:, None] * [1, 0, 0, 0, 0], y


@pytest.mark.parametrize(("n", "rate", "shift"), [(1000, 0.02, 0.0), (2000, 0.01, 0.0), (2000, 0.01, 0.5)])
def test_rare_classes_and_a_weak_signal_are_no_worse_than_the_class_shares(n, rate, shift):
    rng = np.random.default_rng(0)
    (X, y), (fresh, truth) = weak(n, rate, shift, rng), weak(20_000, rate, shift, rng)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    P = clf.predict_proba(fresh)
    assert log_loss(truth, P) <= 1.1 * log_loss(truth, np.full(len(truth), y.mean()))
    assert P[:, 1].mean() == pytest.approx(y.mean(), rel=0.35)


@pytest.mark.parametrize("singles", [5, 10])
def test_classes_of_one_row_get_about_their_share(singles):
    rng = np.random.default_rng(1)
    y = np.concatenate([rng.integers(2, size=260), 2 + np.arange(singles)])
    clf = sb.SimplexBoostClassifier(random_state=0).fit(rng.normal(size=(len(y), 4)), y)
    P = clf.predict_proba(rng.normal(size=(2000, 4)))
    assert P[:, 2:].sum(axis=1).mean() < 2 * singles / len(y)


def test_noise_is_answered_with_the_class_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(3, size=400)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    baseline = clf.choice_.candidates[-1]
    assert (
        baseline["params"] == {"optimizer__init": "prior", "n_estimators": 1} and clf.choice_.risk <= baseline["risk"]
    )
    assert baseline["risk"] == pytest.approx(log_loss(y, np.tile(np.bincount(y) / 400, (400, 1))), rel=0.01)


@pytest.mark.parametrize("loss", ["savage", "softmax-cost"])
def test_losses_without_shares_choose_as_before(loss):
    X, y = uneven()
    clf = sb.SimplexBoostClassifier(loss=loss, learning_rate=0.5, random_state=0).fit(X, y)
    assert all("init" not in candidate["params"] for candidate in clf.choice_.candidates)


@pytest.mark.parametrize("seed", range(3))
def test_a_class_of_three_rows_among_very_many(seed):
    """The sample on which shapes race had none of them once, and its risk of zero came out as a negative number."""
    rng = np.random.default_rng(seed)
    y = np.zeros(12_000, dtype=int)
    y[rng.permutation(12_000)[:3]] = 1
    X = rng.normal(size=(12_000, 2))
    clf = sb.SimplexBoostClassifier(random_state=seed, learning_rate=0.5).fit(X, y)
    assert 1e-5 < clf.predict_proba(X)[y == 0, 1].mean() < 1e-2


def test_labels_that_are_rare_are_no_worse_than_their_shares():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(600, 3)), (rng.random((600, 2)) < [0.02, 0.5]).astype(int)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, Y)
    P = clf.predict_proba(rng.normal(size=(500, 3)))
    assert_allclose(P.mean(axis=0), Y.mean(axis=0), atol=0.03)
    assert clf.choice_.risk <= clf.choice_.candidates[-1]["risk"]
