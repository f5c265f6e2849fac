"""Several labels, or several class targets, with one vector tree a round: kernels, loss, flagship, files, refusals."""

import numpy as np
import pandas as pd
import pytest
from cases import in_leaves
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from twin import reference_engine

import simplexboost as sb
from simplexboost import SimplexBoostClassifier, decide
from simplexboost.classifiers.search import LOWEST, N_CUTS, STEP, best_thresholds, fitted_odds
from simplexboost.engine import BlockProblem, LeafRule, RowProblem, cpu_engine
from simplexboost.parts.codewords import Auto
from simplexboost.parts.losses import BlockLogistic, Logistic
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.tables.problem import ClassTargets

WIDTHS = [None, (3, 1, 4)]  # labels; three targets, one of them with one class only
every_kind = pytest.mark.parametrize("widths", WIDTHS, ids=["labels", "targets"])


def some_sets(widths, rng, S=12, K=8):
    """Rows of zeros and ones: any, or a single one in every block."""
    if widths is None:
        return rng.integers(0, 2, (S, K))
    return np.hstack([np.eye(width, dtype=int)[rng.integers(0, width, S)] for width in widths])


def problem(widths, seed=0, n=60, weighted=True):
    rng = np.random.default_rng(seed)
    sets = some_sets(widths, rng)
    c = rng.integers(0, len(sets), n)
    weight = rng.uniform(0.2, 2.0, n).astype(np.float32) if weighted else None
    F = rng.normal(scale=2.0, size=(n, 8)).astype(np.float32)
    return BlockProblem(sets.astype(np.uint8), c, widths, weight), F, rng


def labelled(n=240, K=4, seed=0):
    return make_multilabel_classification(n, 8, n_classes=K, n_labels=2, random_state=seed)


def targeted(n=240, seed=0):
    """Two targets of text and a number: three classes, two classes."""
    X = np.random.default_rng(seed).normal(size=(n, 6))
    first = np.array(["low", "mid", "top"])[(X[:, 0] > -0.5).astype(int) + (X[:, 0] > 0.6)]
    second = np.where(X[:, 1] + 0.5 * X[:, 2] > 0, 7, 3)
    table = np.empty((n, 2), dtype=object)
    table[:, 0], table[:, 1] = first, second
    return X, table


# ---- kernels and loss -----------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_and_twin(widths, weighted):
    given, F, rng = problem(widths, weighted=weighted)
    ours, twin = cpu_engine(2).compute.row_loss(given), reference_engine().compute.row_loss(given)
    for s in (1, 3):
        Z = rng.normal(size=(8, s)).astype(np.float32)
        assert_allclose(ours.pull(F, Z), twin.pull(F, Z), atol=3e-5)
    assert ours.risk() == pytest.approx(twin.risk(), rel=1e-5)
    leaf_of_row, rule = rng.integers(0, 5, len(F)).astype(np.int32), LeafRule(0.7, 0.9, 0.0)
    for rows in (None, np.arange(0, len(F), 3)):
        assert_allclose(
            ours.leaves(F, in_leaves(leaf_of_row, 6), rows, rule),
            twin.leaves(F, in_leaves(leaf_of_row, 6), rows, rule),
            atol=1e-5,
        )
    held = np.arange(5, 40)
    assert_allclose(ours.losses(F, held, 0.6), twin.losses(F, held, 0.6), atol=2e-5)


@every_kind
def test_kernel_takes_large_scores(widths):
    given, F, rng = problem(widths)
    rows = cpu_engine().compute.row_loss(given)
    assert np.isfinite(rows.pull(1e6 * F, rng.normal(size=(8, 1)).astype(np.float32))).all()
    assert np.isfinite(rows.risk())


def test_threads_do_not_matter():
    given, F, rng = problem(None, n=3000)
    Z, leaf_of_row = rng.normal(size=(8, 1)).astype(np.float32), rng.integers(0, 40, 3000).astype(np.int32)
    one, two = (cpu_engine(threads).compute.row_loss(given) for threads in (1, 2))
    assert_array_equal(one.pull(F, Z), two.pull(F, Z))
    leaves = [rows.leaves(F, in_leaves(leaf_of_row, 40), None, LeafRule(1.0)) for rows in (one, two)]
    assert_array_equal(*leaves)


@every_kind
def test_loss_by_differences(widths):
    rng = np.random.default_rng(1)
    sets = some_sets(widths, rng)
    loss, U, c = BlockLogistic(sets, widths), rng.normal(size=(20, 8)), rng.integers(0, len(sets), 20)
    P, step = loss.residual(U, c), 1e-5
    curvature = loss.curvature(U, c, np.eye(8))
    for k in range(8):
        shift = step * np.eye(8)[k]
        up, here, down = (loss.value(U + a * shift, c) for a in (1, 0, -1))
        assert_allclose(-P[:, k], (up - down) / (2 * step), atol=1e-8)
        assert_allclose(4 * curvature[:, k], (up - 2 * here + down) / step**2, atol=1e-4)
    if widths is None:
        assert_allclose(loss.value(U, c), np.logaddexp(0, -(2 * sets[c] - 1) * 2 * U).sum(axis=1))
    good = np.where(sets[c], 1.0, -1.0)
    assert loss.falls_forever(good, c, strictly=widths is None) and not loss.falls_forever(-good, c)


def test_one_target_is_the_ordinary_loss():
    """A single block: value, residual and curvature of `Logistic`, and the same statistics and leaves from kernels."""
    rng = np.random.default_rng(2)
    U, c, weight = rng.normal(size=(50, 5)), rng.integers(0, 5, 50), rng.uniform(0.5, 2.0, 50).astype(np.float32)
    block, plain = BlockLogistic(np.eye(5), (5,)), Logistic()
    assert_allclose(block.value(U, c), plain.value(U, c))
    assert_allclose(block.residual(U, c), plain.residual(U, c), atol=1e-12)
    assert_allclose(block.curvature(U, c, np.eye(5)), plain.curvature(U, c, np.eye(5)), atol=1e-12)
    assert_allclose(block.probabilities(U), plain.probabilities(U))
    F, Z = (2 * U).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    blocks = cpu_engine().compute.row_loss(BlockProblem(np.eye(5, dtype=np.uint8), c, (5,), weight))
    rows = cpu_engine().compute.row_loss(RowProblem(c, 5, None, weight, None, (0, 0), plain.value_of))
    assert_allclose(blocks.pull(F, Z), rows.pull(F, Z), atol=1e-5)
    leaf_of_row, rule = rng.integers(0, 3, 50).astype(np.int32), LeafRule(0.5, 2.0)
    assert_allclose(
        blocks.leaves(F, in_leaves(leaf_of_row, 3), None, rule),
        rows.leaves(F, in_leaves(leaf_of_row, 3), None, rule),
        atol=1e-5,
    )


# ---- a round by hand ------------------------------------------------------------------------------------------------


def test_leaves_are_newton_steps_of_every_label():
    """The trees of a fit, with leaf values computed again from their rows in double precision."""
    X, Z = labelled()
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    options = {"n_estimators": 6, "learning_rate": 0.3, "l2_regularization": 0.8, "max_leaf_nodes": 6}
    clf = SimplexBoostClassifier(**options, random_state=0).fit(X, Z, weight)
    w, F = weight / weight.mean(), np.zeros(Z.shape)
    for term in clf.model_.terms:
        leaf = cpu_engine().compute.apply(term.hypothesis.tree, X)
        member = np.eye(term.hypothesis.tree.n_leaves)[leaf] * w[:, None]  # (n, L)
        P = expit(F)
        steps = np.clip((member.T @ (Z - P)) / (member.T @ (P * (1 - P)) + 0.8), -2, 2)
        assert_allclose(term.hypothesis.values, steps, atol=2e-4)
        F += 0.3 * steps[leaf]
    assert_allclose(clf.predict_proba(X), expit(F), atol=1e-4)
    risk = np.average(np.logaddexp(0, np.where(Z, -F, F)).sum(axis=1), weights=weight)
    assert clf.history_["risk"][-1] == pytest.approx(risk, rel=1e-4)


def test_leaves_are_newton_steps_of_every_target():
    X, y = targeted()
    clf = SimplexBoostClassifier(n_estimators=4, l2_regularization=0.5, random_state=0).fit(X, y)
    blocks = [np.asarray(y[:, t])[:, None] == clf.classes_[t] for t in range(2)]
    Z, F = np.hstack(blocks).astype(float), np.zeros((len(X), 5))
    for term in clf.model_.terms:
        leaf = cpu_engine().compute.apply(term.hypothesis.tree, X)
        member = np.eye(term.hypothesis.tree.n_leaves)[leaf]
        E = np.exp(F)
        P = np.hstack([E[:, :3] / E[:, :3].sum(axis=1, keepdims=True), E[:, 3:] / E[:, 3:].sum(axis=1, keepdims=True)])
        steps = np.clip((member.T @ (Z - P)) / (member.T @ (P * (1 - P)) + 0.5), -2, 2)
        assert_allclose(term.hypothesis.values, steps, atol=2e-4)
        F += 0.1 * steps[leaf]


def test_directions_of_labels_are_not_centred():
    """Two labels that always come together: a direction that sums to zero would never see them."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    Z = np.repeat((X[:, :1] > 0).astype(int), 2, axis=1)
    assert SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X, Z).score(X, Z) > 0.98


# ---- labels ---------------------------------------------------------------------------------------------------------


def test_labels_are_learned():
    X, Z = labelled(900, 6, 1)
    clf = SimplexBoostClassifier(n_estimators=100, random_state=0).fit(X[:500], Z[:500])
    guess = hamming_loss(Z[500:], np.tile(Z.mean(axis=0) > 0.5, (400, 1)))
    assert hamming_loss(Z[500:], clf.predict(X[500:])) < 0.8 * guess
    P = clf.predict_proba(X)
    assert P.shape == clf.class_scores(X).shape == clf.decision_function(X).shape == (900, 6)
    assert_array_equal(clf.predict(X), P > 0.5)
    assert_array_equal(clf.predict(X), clf.decision_function(X) > 0)
    assert_allclose(clf.predict_log_proba(X), np.log(P))
    assert clf.score(X[500:], Z[500:]) == accuracy_score(Z[500:], clf.predict(X[500:]))  # subset accuracy
    assert clf.n_classes_ == 6 and clf.classes_.tolist() == list(range(6))
    assert_array_equal(list(clf.staged_predict_proba(X))[-1], P)
    assert len(clf.model_.trees) == 100


def test_forms_of_an_indicator_matrix():
    X, Z = labelled()
    fit = {"n_estimators": 5, "random_state": 0}
    P = SimplexBoostClassifier(**fit).fit(X, Z).predict_proba(X)
    for y in (Z.astype(bool), Z.astype(float), Z.tolist(), sparse.csr_matrix(Z)):
        assert_array_equal(SimplexBoostClassifier(**fit).fit(X, y).predict_proba(X), P)
    named = SimplexBoostClassifier(classes=["a", "b", "c", "d"], **fit).fit(X, Z)
    assert named.classes_.tolist() == ["a", "b", "c", "d"]
    order = np.random.default_rng(0).permutation(len(X))
    assert_array_equal(SimplexBoostClassifier(**fit).fit(X[order], Z[order]).predict_proba(X), P)


def test_labels_that_all_rows_have_or_none():
    X, Z = labelled()
    Z[:, 1], Z[:, 2] = 0, 1
    clf = SimplexBoostClassifier(n_estimators=100, random_state=0).fit(X, Z)
    P = clf.predict_proba(X)
    assert P[:, 1].max() < 0.05 and P[:, 2].min() > 0.95
    assert_array_equal(clf.predict(X)[:, 1:3], Z[:, 1:3])


def test_two_other_numbers_are_classes():
    """scikit-learn calls a matrix of ones and twos an indicator matrix; here it has two targets of two classes."""
    X, Z = labelled(K=2)
    clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, Z + 1)
    assert [labels.tolist() for labels in clf.classes_] == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="y should be a 1d array"):
        sb.AdaBoostMHClassifier().fit(X, Z + 1)


def test_one_column_is_the_ordinary_fit():
    X, Z = labelled()
    fit = {"n_estimators": 5, "random_state": 0}
    with pytest.warns(Warning, match="column-vector y"):
        clf = SimplexBoostClassifier(**fit).fit(X, Z[:, :1])
    assert_array_equal(clf.predict_proba(X), SimplexBoostClassifier(**fit).fit(X, Z[:, 0]).predict_proba(X))
    assert clf.thresholds_ is None


def test_weights_are_repetitions():
    X, Z = labelled(120)
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    fit = {"n_estimators": 8, "random_state": 0, "max_features": 1.0, "min_samples_leaf": 1, "gain_noise": 0.0}
    weighed = SimplexBoostClassifier(**fit).fit(X, Z, weight)
    repeated = SimplexBoostClassifier(**fit).fit(np.repeat(X, weight, axis=0), np.repeat(Z, weight, axis=0))
    assert weighed.history_["risk"][0] == pytest.approx(repeated.history_["risk"][0], rel=0.05)
    dropped = np.append(np.ones(100), np.zeros(20))
    fewer = SimplexBoostClassifier(**fit).fit(X[:100], Z[:100])
    assert_array_equal(SimplexBoostClassifier(**fit).fit(X, Z, dropped).predict_proba(X), fewer.predict_proba(X))


def test_thresholds_of_the_largest_f1():
    """The count of a calibrated label: half of the largest F1 is near the best threshold found by brute force."""
    rng = np.random.default_rng(0)
    S = rng.normal(-2.0, 1.5, 200_000)
    own = rng.random(len(S)) < expit(S)
    bins = np.clip(np.ceil((S - LOWEST) / STEP), 0, N_CUTS).astype(int)
    counts = np.stack([np.bincount(bins[own == k], minlength=N_CUTS + 1) for k in (0, 1)])[:, None, :]
    (found,) = best_thresholds(counts.astype(float))
    grid = np.linspace(0.05, 0.6, 56)
    scores = [f1_score(own, expit(S) > cut) for cut in grid]
    assert abs(found - grid[int(np.argmax(scores))]) < 0.03
    # scores that are twice as sure as they should be, and those of a label that is rarer than they say: the same rows
    for slope, shift in [(2.0, 0.0), (0.5, 1.0), (1.5, 2.0)]:
        wrong = slope * S + shift
        bins = np.clip(np.ceil((wrong - LOWEST) / STEP), 0, N_CUTS).astype(int)
        of_wrong = np.stack([np.bincount(bins[own == k], minlength=N_CUTS + 1) for k in (0, 1)])[:, None, :]
        for temperature in (1.0, 0.4):
            (cut,) = best_thresholds(of_wrong.astype(float), temperature)
            assert f1_score(own, expit(temperature * wrong) > cut) > max(scores) - 0.003
    nobody = counts.astype(float)
    nobody[1] = 0
    assert best_thresholds(nobody) == [0.5]


def test_thresholds_of_a_fit():
    X, Z = labelled(800, 5, 3)
    Z = Z * (np.random.default_rng(0).random(Z.shape) < 0.5)
    even = SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X[:400], Z[:400])
    chosen = clone(even).set_params(thresholds="f1").fit(X[:400], Z[:400])
    assert_array_equal(even.thresholds_, np.full(5, 0.5))
    assert (chosen.thresholds_ < 0.5).all() and chosen.choice_.thresholds is chosen.thresholds_
    P = chosen.predict_proba(X[400:])
    assert_array_equal(chosen.predict(X[400:]), P > chosen.thresholds_)
    scores = [f1_score(Z[400:], clf.predict(X[400:]), average="macro", zero_division=0) for clf in (even, chosen)]
    assert scores[1] > scores[0] + 0.05
    given = clone(even).set_params(thresholds=[0.1, 0.2, 0.3, 0.4, 0.9]).fit(X[:400], Z[:400])
    assert_array_equal(given.predict(X), even.predict_proba(X) > [0.1, 0.2, 0.3, 0.4, 0.9])


def test_thresholds_do_not_depend_on_the_temperature():
    """They cut the same rows, since they are chosen by scores; few rounds are unsure, and none are made surer."""
    X, Z = labelled(800, 5, 3)
    Z = Z * (np.random.default_rng(0).random(Z.shape) < 0.5)
    models = [
        SimplexBoostClassifier(n_estimators=60, thresholds="f1", calibration=of, random_state=0).fit(X[:400], Z[:400])
        for of in (False, 0.3, True)
    ]
    assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert_array_equal(models[0].predict(X), models[2].predict(X))
    assert np.abs(models[0].thresholds_ - models[1].thresholds_).max() > 0.05


def test_the_logistic_regression_of_thresholds():
    """Against scikit-learn's, on rows at the middles of the bins; its penalty is on both numbers, and around zero."""
    rng = np.random.default_rng(1)
    bins = rng.integers(40, 90, 4000)
    x = LOWEST + STEP * (bins - 0.5)
    own = rng.random(len(x)) < expit(0.7 * x - 1.0)
    counts = np.stack([np.bincount(bins[own == k], minlength=N_CUTS + 1) for k in (0, 1)]).astype(float)
    a, b = fitted_odds(counts)
    plain = LogisticRegression(C=1e9, tol=1e-10).fit(x[:, None], own)
    assert abs(a - plain.coef_[0, 0]) < 0.02 and abs(b - plain.intercept_[0]) < 0.02
    p = expit(a * x + b)
    assert_allclose([((p - own) * x).sum() + 20 * (a - 1), (p - own).sum() + 0.01 * b], 0.0, atol=1e-5)
    for rows in (own, ~own):  # all rows have the label, or none: finite all the same
        assert np.isfinite(fitted_odds(np.stack([counts.sum(axis=0) * (k == rows[0]) for k in (0, 1)]))).all()


def test_choice_of_labels():
    """Rounds, shape and a temperature per label, which lowers the held-out risk."""
    X, Z = labelled(150, 3)
    clf = SimplexBoostClassifier(random_state=0, growth="symmetric").fit(X, Z)
    assert clf.n_iter_ == clf.choice_.n_estimators and clf.choice_.temperature.shape == (3,)
    assert_array_equal(clf.model_.temperature, clf.choice_.temperature)
    assert clf.choice_.risk <= clf.choice_.curve["risk"].min() + 1e-12
    plain = clf.model_.at(1.0).predictor(X)
    assert_allclose(clf.predict_proba(X), expit(plain * clf.choice_.temperature), rtol=1e-4)
    assert "held-out risk" in str(clf.choice_)


# ---- targets --------------------------------------------------------------------------------------------------------


def test_targets_are_learned():
    X, y = targeted(500)
    clf = SimplexBoostClassifier(n_estimators=80, random_state=0).fit(X[:300], y[:300])
    assert [labels.tolist() for labels in clf.classes_] == [["low", "mid", "top"], [3, 7]]
    assert clf.n_classes_ == [3, 2]
    predicted = clf.predict(X[300:])
    assert predicted.shape == (200, 2) and predicted.dtype == object
    assert clf.score(X[300:], y[300:]) == (predicted == y[300:]).all(axis=1).mean() > 0.85
    P = clf.predict_proba(X)
    assert [p.shape for p in P] == [(500, 3), (500, 2)]
    for of_target in P:
        assert_allclose(of_target.sum(axis=1), 1.0)
    for a, b in zip(clf.predict_log_proba(X), P, strict=True):
        assert_allclose(a, np.log(b), atol=1e-9)
    assert [d.shape for d in clf.decision_function(X)] == [(500, 3), (500,)]
    assert [u.shape for u in clf.class_scores(X)] == [(500, 3), (500, 2)]
    *_, last = clf.staged_predict_proba(X)
    assert_array_equal(last[0], P[0])
    weight = np.arange(200.0)
    right = (predicted == y[300:]).all(axis=1)
    assert clf.score(X[300:], y[300:], weight) == pytest.approx(np.average(right, weights=weight))


def test_targets_of_one_kind_and_of_one_class():
    X, y = targeted()
    numbers = np.column_stack([y[:, 1].astype(int), np.full(len(X), 9), y[:, 1].astype(int) + 1])
    clf = SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, numbers)
    assert clf.predict(X).dtype.kind == "i" and (clf.predict(X)[:, 1] == 9).all()
    assert_array_equal(clf.predict_proba(X)[1], np.ones((len(X), 1)))
    with pytest.raises(ValueError, match="one class only in every column"):
        SimplexBoostClassifier().fit(X, np.tile([5, 6, 7], (len(X), 1)))


def test_choice_of_targets():
    X, y = targeted(120)
    clf = SimplexBoostClassifier(random_state=0, growth="symmetric").fit(X, y)
    assert clf.choice_.temperature.shape == (2,) and clf.thresholds_ is None
    assert_array_equal(clf.model_.temperature, np.repeat(clf.choice_.temperature, [3, 2]))


# ---- both -----------------------------------------------------------------------------------------------------------

every_y = pytest.mark.parametrize("make", [labelled, targeted])


@every_y
def test_save_and_load(make, tmp_path):
    X, y = make(120)
    for options in ({"n_estimators": 5}, {"growth": "symmetric"}, {"n_estimators": 5, "thresholds": "f1"}):
        clf = SimplexBoostClassifier(random_state=0, **options).fit(X, y)
        clf.save(tmp_path / "several.sb")
        again = sb.load(tmp_path / "several.sb")
        assert_array_equal(again.predict(X), clf.predict(X))
        for a, b in zip(again.predict_proba(X), clf.predict_proba(X), strict=True):
            assert_array_equal(a, b)
        assert_array_equal(clone(again).fit(X, y).predict(X), clf.predict(X))


@every_y
def test_warm_start(make):
    X, y = make()
    whole = SimplexBoostClassifier(n_estimators=8, random_state=0).fit(X, y)
    warm = SimplexBoostClassifier(n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=8).fit(X, y)
    for a, b in zip(whole.predict_proba(X), warm.predict_proba(X), strict=True):
        assert_array_equal(a, b)
    with pytest.raises(ValueError, match="warm_start=True needs the classes"):
        warm.set_params(n_estimators=9).fit(X, np.arange(len(X)) % 3)


@every_y
def test_evaluated_rows(make):
    X, y = make()
    fit = {"n_estimators": 60, "learning_rate": 0.5, "random_state": 0}
    clf = SimplexBoostClassifier(**fit).fit(X[:160], y[:160], X_val=X[160:], y_val=y[160:])
    P = clf.predict_proba(X[160:])
    if make is labelled:
        risk = -np.where(y[160:], np.log(P), np.log1p(-P)).sum(axis=1).mean()
    else:
        own = [p[np.arange(80), np.searchsorted(k, y[160:, t].astype(k.dtype))]
               for t, (k, p) in enumerate(zip(clf.classes_, P, strict=True))]  # fmt: skip
        risk = -np.log(own).sum(axis=0).mean()
    assert clf.evals_result_[0]["risk"][-1] == pytest.approx(risk, rel=1e-4)
    stopped = SimplexBoostClassifier(**fit, early_stopping=3).fit(X, y)
    assert stopped.n_iter_ < 60 and stopped.stop_reason_.startswith("early stopping")


def test_unknown_classes_of_evaluated_rows():
    X, y = targeted()
    other = y.copy()
    other[200:210, 0] = "new"
    fit = {"n_estimators": 5, "random_state": 0}
    some = SimplexBoostClassifier(**fit).fit(X[:200], y[:200], X_val=X[200:], y_val=other[200:])
    known = SimplexBoostClassifier(**fit).fit(X[:200], y[:200], X_val=X[210:], y_val=y[210:])
    assert_allclose(some.evals_result_[0]["risk"], known.evals_result_[0]["risk"])
    with pytest.raises(ValueError, match="no row whose classes are all trained on"):
        SimplexBoostClassifier(**fit).fit(X[:200], y[:200], X_val=X[200:210], y_val=other[200:210])
    with pytest.raises(ValueError, match=r"y_val must have a class of each target, \(240, 2\)"):
        SimplexBoostClassifier(**fit).fit(X, y, X_val=X, y_val=y[:, :1])


@pytest.mark.parametrize("trained", ["one class", "labels", "targets"])
def test_evaluated_rows_with_different_numbers_of_labels(trained):
    X, y = targeted() if trained == "targets" else labelled()
    y = y[:, 0] if trained == "one class" else y
    with pytest.raises(ValueError, match=r"y_val=.* must hold as many labels for every row of X"):
        SimplexBoostClassifier(n_estimators=2).fit(X, y, X_val=X[:2], y_val=[[0, 1], None])


@pytest.mark.parametrize("booster", [SimplexBoostClassifier, sb.SAMMEClassifier])
def test_missing_labels_of_frames_are_named(booster):
    """Frames of numbers and text, in which scikit-learn finds a NaN without saying whether it is one of y."""
    X, _ = targeted()
    frame = pd.DataFrame({"a": np.arange(240) % 2 + 1.0, "b": np.where(np.arange(240) % 3, "x", "y")})
    frame.loc[7, "a"] = np.nan
    with pytest.raises(ValueError, match=r"y contains NaN: a label of row 7 is missing\. Leave such rows out"):
        booster(n_estimators=2).fit(X, frame)


@every_y
def test_threads_and_machinery(make):
    X, y = make()
    fit = {"n_estimators": 8, "random_state": 0}
    one, two = (SimplexBoostClassifier(**fit, n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert_array_equal(a, b)
    piped = make_pipeline(StandardScaler(), SimplexBoostClassifier(**fit))
    assert piped.fit(X, y).predict(X).shape == y.shape
    if make is labelled:
        assert cross_val_predict(SimplexBoostClassifier(**fit), X, y, cv=2).shape == y.shape
    else:
        y = np.column_stack([y[:, 0] == "top", y[:, 1], y[:, 1] + 1]).astype(int)  # scikit-learn sorts all of y
    assert cross_val_score(SimplexBoostClassifier(**fit), X, y, cv=2).shape == (2,)


@every_y
def test_missing_values_and_categories(make):
    pd = pytest.importorskip("pandas")
    X, y = make()
    X = X.astype(float)
    X[::7, 0] = np.nan
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    table["kind"] = pd.Categorical(np.where(X[:, 1] > np.median(X[:, 1]), "up", "down"))
    clf = SimplexBoostClassifier(n_estimators=10, random_state=0).fit(table, y)
    assert clf.predict(table).shape == y.shape and clf.categories_ is not None


@every_y
def test_class_weights(make):
    X, y = make()
    fit = {"n_estimators": 5, "random_state": 0}
    balanced = SimplexBoostClassifier(**fit, class_weight="balanced").fit(X, y)
    assert balanced.predict(X).shape == y.shape
    if make is labelled:
        by_hand = SimplexBoostClassifier(**fit).fit(X, y, np.where(y[:, 0], 5.0, 1.0))
        weighed = SimplexBoostClassifier(**fit, class_weight={0: 5.0}).fit(X, y)
    else:
        by_hand = SimplexBoostClassifier(**fit).fit(X, y, np.where(y[:, 1] == 7, 5.0, 1.0))
        weights = [{"low": 1.0, "mid": 1.0, "top": 1.0}, {3: 1.0, 7: 5.0}]
        weighed = SimplexBoostClassifier(**fit, class_weight=weights).fit(X, y)
        with pytest.raises(ValueError, match="pass a list of 2 dicts"):
            SimplexBoostClassifier(**fit, class_weight={3: 1.0}).fit(X, y)
    for a, b in zip(weighed.predict_proba(X), by_hand.predict_proba(X), strict=True):
        assert_array_equal(a, b)


@every_y
def test_explanations_add_up(make):
    X, y = make()
    clf = SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    U = clf.class_scores(X[:5])
    logits = 2 * (np.hstack(U) if isinstance(U, list) else U)
    phi = sb.explain.shap_values(clf, X[:5])
    base = logits - phi.sum(axis=1)  # the same for all rows
    assert phi.shape == (5, X.shape[1], logits.shape[1])
    assert_allclose(base, np.broadcast_to(base[0], base.shape), atol=1e-4)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert clf.apply(X[:5]).shape == (5, 10)


# ---- refusals -------------------------------------------------------------------------------------------------------


@every_y
def test_refusals(make, tmp_path):
    X, y = make()
    fit = {"n_estimators": 2, "random_state": 0}
    for options, match in [
        ({"loss": "savage"}, "loss='savage' goes with one class per row"),
        ({"loss": Logistic(cost_matrix=1 - np.eye(4))}, "cost_matrix goes with one class per row"),
        ({"codewords": "simplex"}, "go with one class per row"),
        ({"codewords": Auto(2)}, "code_dim=2 goes with one class per row"),
        ({"classes": sb.Ordinal()}, "an order or a tree of classes goes with one class per row"),
        ({"classes": {"a": [0, 1], "b": [2]}}, "declares the classes of one|must name the 4|goes with one class"),
        ({"optimizer": SketchedNewton(candidates=16)}, "candidates=16 goes with one class per row"),
        ({"monotonic_cst": [1] + [0] * (X.shape[1] - 1)}, "monotonic_cst goes with one class per row"),
    ]:
        with pytest.raises(ValueError, match=match):
            SimplexBoostClassifier(**fit, **options).fit(X, y)
    clf = SimplexBoostClassifier(**fit).fit(X, y)
    with pytest.raises(ValueError, match="init_score"):
        SimplexBoostClassifier(**fit).fit(X, y, init_score=np.zeros((len(X), 4)))
    with pytest.raises(ValueError, match="eval_metric takes one label per example"):
        SimplexBoostClassifier(**fit).fit(X, y, X_val=X, y_val=y, eval_metric="accuracy")
    for ask in (
        lambda: sb.evaluate.margins(clf, X, y),
        lambda: sb.decide.top_k(clf, X, 1),
        lambda: decide.predict_sets(clf, X),
        lambda: sb.report(clf, X, y, tmp_path / "report.html"),
        lambda: sb.explain.doubtful_labels(clf, X, y),
        lambda: sb.drop_classes(clf, 0),
        lambda: sb.add_classes(clf, X, y),
    ):
        with pytest.raises(ValueError, match=r"one (class|label) per row|several"):
            ask()
    with pytest.raises(TypeError, match="cannot be exported"):
        sb.export.c(clf, tmp_path / "model.c")


def test_wrong_matrices():
    X, y = targeted()
    with pytest.raises(ValueError, match="column 1 of y is refused"):
        SimplexBoostClassifier().fit(X, np.column_stack([y[:, 1].astype(float), X[:, 0]]))
    huge = np.column_stack([y[:, 1].astype(float), np.where(X[:, 0] > 0, 1e300, 0.0)])
    with np.errstate(invalid="raise"), pytest.raises(ValueError, match="column 1 of y is refused"):
        SimplexBoostClassifier().fit(X, huge)
    missing = y.copy()
    missing[3, 0] = None
    with pytest.raises(ValueError, match="the label of row 3 is missing"):
        SimplexBoostClassifier().fit(X, missing)
    with pytest.raises(ValueError, match="declares the classes of one target"):
        SimplexBoostClassifier(classes=["low", "mid"]).fit(X, y)
    _, Z = labelled()
    with pytest.raises(ValueError, match="thresholds has 2 numbers; y has 4 labels"):
        SimplexBoostClassifier(n_estimators=2, thresholds=[0.1, 0.2]).fit(X, Z)
    with pytest.raises(ValueError, match="thresholds='f1' chooses the thresholds of a number of rounds"):
        SimplexBoostClassifier(thresholds="f1", early_stopping=True).fit(X, Z)
    with pytest.raises(ValueError, match="each by a name of its own"):
        SimplexBoostClassifier(classes=["a", "b", "a", "c"]).fit(X, Z)
    with pytest.raises(ValueError, match=r"one class only in every column \(3, 0\); at least"):
        SimplexBoostClassifier().fit(X, np.tile([3, 0], (len(X), 1)))
    for wrong in ("f2", 0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="thresholds="):
            SimplexBoostClassifier(thresholds=wrong).fit(X, Z)


def test_label_sets_of_targets():
    sets = ClassTargets([np.arange(2), np.arange(3)])
    assert sets.number(np.array([[1, 0, 0, 0, 1], [0, 1, 1, 0, 0]])).max() == 6
