"""What a classifier does on labelled rows, as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import calibration_curve
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import simplexboost as sb
from simplexboost import evaluate
from simplexboost.evaluate import ClassTable, Confusion, Reliability
from simplexboost.evaluate.curves import space_rounds


def drawn_labels(K, n=6000, seed=0):
    """Labels and predictions that are often those of a neighbour."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    off = rng.choice([0, 0, 0, 1, -1], size=n)
    return y, (y + off) % K


# ---- confusion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 26, 400])
def test_confusion_counts_like_scikit_learn(K):
    y, predicted = drawn_labels(K)
    found = Confusion.from_predictions(y, predicted)
    assert_array_equal(found.counts, confusion_matrix(y, predicted))
    assert_allclose(found.accuracy, (y == predicted).mean())
    assert_allclose(found.rates.sum(axis=1), 1.0)
    assert found.n == len(y) and np.diag(found.errors).sum() == 0


def test_confusion_keeps_the_order_of_classes_that_are_given():
    found = Confusion.from_predictions(["b", "a"], ["b", "b"], ["c", "b", "a"])
    assert_array_equal(found.counts, [[0, 0, 0], [0, 1, 0], [0, 1, 0]])
    assert_array_equal(found.rates[0], 0)
    assert_array_equal(found.part(np.array([2, 1])).counts, [[0, 1], [0, 1]])


@pytest.mark.parametrize("K", [2, 3, 26, 400])
def test_order_finds_a_hidden_chain_of_classes(K):
    """Classes are confused with their neighbours in a hidden order; nearly all neighbours are neighbours again."""
    hidden = np.random.default_rng(1).permutation(K)
    S = np.zeros((K, K))
    S[hidden[:-1], hidden[1:]] = np.linspace(1.0, 1.5, K - 1)
    order = evaluate.similarity_order(S + S.T)
    assert_array_equal(np.sort(order), np.arange(K))
    place = np.argsort(order)
    apart = np.abs(place[hidden[:-1]] - place[hidden[1:]])
    assert np.median(apart) == 1


def test_order_keeps_groups_together():
    group = np.arange(1050) % 50  # more classes than are put in the best order
    order = evaluate.similarity_order((group[:, None] == group).astype(float))
    assert (np.diff(group[order]) != 0).sum() == 49
    assert_array_equal(evaluate.similarity_order(np.zeros((5, 5))), np.arange(5))


def test_worst_pairs_and_block():
    counts = np.diag(np.full(6, 10))
    counts[1, 4], counts[4, 1], counts[0, 2] = 5, 3, 1
    found = Confusion(counts, np.array(list("abcdef")))
    pairs = found.worst_pairs(10)
    assert [(pair.true, pair.predicted, pair.n_rows) for pair in pairs] == [("b", "e", 5), ("e", "b", 3), ("a", "c", 1)]
    assert_allclose(pairs[0].rate, 5 / 15)
    order = found.order()
    block = found.worst_block(order, 2)
    assert set(found.classes[block.numbers]) == {"b", "e"} and block.errors == 8
    assert_allclose(block.share, 8 / 9)
    assert_array_equal(order[block.start : block.stop], block.numbers)
    whole = found.worst_block(order, 99)
    assert (whole.start, whole.stop, whole.errors) == (0, 6, 9)
    perfect = Confusion.from_predictions([0, 1], [0, 1]).worst_block([0, 1], 1)
    assert (perfect.errors, perfect.share) == (0, 0.0)


def test_soft_confusion_is_the_mean_probability():
    rng = np.random.default_rng(0)
    y, P = rng.integers(4, size=50), rng.dirichlet(np.ones(5), size=50)
    soft = Confusion.from_predictions(y, P.argmax(axis=1), np.arange(5), P=P).soft
    for k in range(4):
        assert_allclose(soft[k], P[y == k].mean(axis=0))
    assert_array_equal(soft[4], 0)


# ---- classes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 26, 400])
def test_class_table_is_scikit_learns(K):
    y, predicted = drawn_labels(K, 5000)
    table = ClassTable.from_predictions(y, predicted)
    precision, recall, f1, support = precision_recall_fscore_support(y, predicted, zero_division=np.nan)
    assert_allclose(table.precision, precision)
    assert_allclose(table.recall, recall)
    assert_allclose(table.f1, f1)
    assert_array_equal(table.support, support)
    assert (table.recall_interval[:, 0] <= recall).all() and (recall <= table.recall_interval[:, 1]).all()


def test_classes_without_rows_have_no_scores():
    table = ClassTable.from_predictions([0, 0], [0, 0], [0, 1])
    assert_array_equal(table.precision, [1, np.nan])
    assert_array_equal(table.f1, [1, np.nan])
    assert_array_equal(table.recall_interval[1], [0, 1])


def test_wilson_is_the_published_interval():
    """Newcombe (1998), Table I: Wilson's score intervals of 81/263, 15/148, 0/20 and 1/29."""
    found = evaluate.wilson([81, 15, 0, 1], [263, 148, 20, 29])
    assert_allclose(found, [[0.2553, 0.3662], [0.0624, 0.1605], [0.0, 0.1611], [0.0061, 0.1718]], atol=6e-5)


# ---- reliability ----------------------------------------------------------------------------------------------------


def sure(n, K, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(K), size=n)
    y = np.array([rng.choice(K, p=p) for p in P])
    return y, P


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_of_a_class_is_scikit_learns(strategy):
    y, P = sure(3000, 3)
    found = Reliability.from_predictions(y, P, np.arange(3), label=1, bins=8, strategy=strategy)
    observed, predicted = calibration_curve(y == 1, P[:, 1], n_bins=8, strategy=strategy)
    assert_allclose(found.observed, observed)
    assert_allclose(found.predicted, predicted)
    assert found.ece < 0.03 and found.label == 1


@pytest.mark.parametrize("K", [2, 3, 26, 400])
def test_reliability_of_the_best_class(K):
    y, P = sure(500, K)
    found = Reliability.from_predictions(y, P, np.arange(K))
    best = P.argmax(axis=1)
    assert found.count.sum() == 500
    assert_allclose((found.count * found.observed).sum(), (best == y).sum())
    assert_allclose((found.count * found.predicted).sum(), P.max(axis=1).sum())
    assert_allclose(found.ece, np.abs(found.count * (found.observed - found.predicted)).sum() / 500)
    assert (found.low < found.high).all()


def test_probabilities_of_one_need_a_single_bin():
    found = Reliability.from_predictions([0, 0, 1], np.eye(2)[[0, 0, 0]], [0, 1], strategy="quantile", bins=10)
    assert_array_equal(found.count, [3])
    assert_allclose(found.ece, 1 / 3)


# ---- rounds and curves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "booster",
    [
        sb.SimplexBoostClassifier(n_estimators=12, calibration=0.7, random_state=0),
        sb.CDMCBoostClassifier(n_estimators=12),
        sb.AdaBoostMHClassifier(n_estimators=6),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_rounds_are_those_of_the_booster(booster):
    X, y = blobs(n=90, p=3, K=4, seed=0)
    clf = booster.fit(X, y)
    rounds = [0, 1, 5, clf.n_iter_]
    found = evaluate.margins(clf, X, y, rounds)
    assert_array_equal(found[0], 0)
    for values, t in zip(found[1:], rounds[1:], strict=True):
        U = sb.keep_rounds(clf, t).class_scores(X)
        c = np.searchsorted(clf.classes_, y)
        own = U[np.arange(len(c)), c]
        U[np.arange(len(c)), c] = -np.inf
        assert_allclose(values, own - U.max(axis=1), rtol=1e-5, atol=1e-6)
    assert evaluate.predictors_over_rounds(clf, X, 3).shape == (1, 90, clf.model_.Y.shape[1])


def test_space_rounds_go_from_the_first_to_the_last():
    assert space_rounds(1600, 6) == [1, 4, 19, 84, 366, 1600]
    assert space_rounds(7, 1) == [7]


def test_curves_of_a_choice_of_early_stopping_and_of_evaluated_rows():
    X, y = blobs(n=120, p=3, K=3, seed=0)
    clf = sb.SimplexBoostClassifier(learning_rate=0.3, random_state=0).fit(X, y)
    found = evaluate.learning_curves(clf)
    assert [curve.name for curve in found.curves] == ["training", "held out"]
    assert found.chosen == clf.n_iter_ == found.n_rounds and found.why == "chosen by held-out risk"
    clf = sb.SimplexBoostClassifier(n_estimators=200, early_stopping=True, random_state=0).fit(X, y)
    found = evaluate.learning_curves(clf)
    assert found.chosen == clf.best_iteration_ and found.why == "kept by early stopping"
    held = found.of("risk")[1]
    assert held.values.argmin() + 1 == found.chosen and len(held.values) > found.n_rounds
    clf = sb.SimplexBoostClassifier(n_estimators=9, random_state=0)
    clf.fit(X, y, X_val=(X, X), y_val=(y, y), eval_metric="error")
    found = evaluate.learning_curves(clf)
    assert found.metrics == ["risk", "error"] and found.why == "best of the evaluated rows"
    assert [curve.name for curve in found.of("error")] == ["evaluated 1", "evaluated 2"]
    plain = evaluate.learning_curves(sb.SimplexBoostClassifier(n_estimators=9, random_state=0).fit(X, y))
    assert plain.chosen is None and len(plain.curves) == 1 and len(plain.curves[0].values) == 9


def test_rounds_that_were_given_are_not_chosen():
    """A temperature may be chosen for a given number of rounds; then no round is marked."""
    X, y = blobs(n=120, p=3, K=3, seed=0)
    clf = sb.SimplexBoostClassifier(n_estimators=15, calibration=True, random_state=0).fit(X, y)
    assert clf.choice_.n_estimators == 15
    found = evaluate.learning_curves(clf)
    assert (found.chosen, found.why) == (None, "")
    found = evaluate.learning_curves(clf.fit(X, y, X_val=X, y_val=y))
    assert (found.chosen, found.why) == (clf.best_iteration_, "best of the evaluated rows")


# ---- maps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 26, 400])
def test_maps_keep_distances_as_far_as_a_plane_can(K):
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(K, 2))
    D = np.linalg.norm(flat[:, None] - flat, axis=2)
    points, explained = evaluate.classical_mds(D)
    assert_allclose(np.linalg.norm(points[:, None] - points, axis=2), D, atol=1e-8)
    assert_allclose(explained.sum(), 1.0)
    y = np.repeat(np.arange(K), 3)
    U = flat[y] @ rng.normal(size=(2, K))
    found = evaluate.map_of_scores(U, y, np.arange(K))
    means = U[::3] - U[::3].mean(axis=1, keepdims=True)
    assert_allclose(found.explained.sum(), 1.0)
    assert_allclose(
        np.linalg.norm(found.points[:, None] - found.points, axis=2),
        np.linalg.norm(means[:, None] - means, axis=2),
        atol=1e-7,
    )


def test_classes_without_rows_are_not_on_the_map():
    U = np.array([[1.0, 0.0, -np.inf], [0.0, 1.0, -np.inf]])
    found = evaluate.map_of_scores(U, [0, 1], [0, 1, 2])
    assert np.isnan(found.points[2]).all() and np.isfinite(found.points[:2]).all()


# ---- wrong input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Confusion.from_predictions([[0, 1]], [0]), r"y_true has shape \(1, 2\)"),
        (lambda: Confusion.from_predictions([], []), r"y_true has shape \(0,\); .* at least one row"),
        (lambda: Confusion.from_predictions([0, 1], [0]), "y_pred has 1 rows, and there are 2 labels"),
        (
            lambda: Confusion.from_predictions([0, 7], [0, 0], [0, 1]),
            "y_true holds 7, which is none of the classes; these are 0, 1",
        ),
        (
            lambda: Confusion.from_predictions([0, 1], [0, 1], P=[[0.5, 0.5]]),
            r"P has shape \(1, 2\); pass \(2, 2\)",
        ),
        (lambda: Confusion.from_predictions([0], [0], [0, 1], P=[[2.0, 0.5]]), "numbers from 0 to 1"),
        (lambda: evaluate.similarity_order([[1.0, 2.0]]), "pass a square matrix"),
        (lambda: evaluate.similarity_order([[0.0, np.nan], [0.0, 0.0]]), "finite numbers"),
        (
            lambda: Confusion.from_predictions([0, 1], [0, 1]).worst_block([0, 0]),
            "each of the numbers 0 to 1",
        ),
        (lambda: Confusion.from_predictions([0, 1], [0, 1]).worst_pairs(0), "most=0 is out of range"),
        (lambda: evaluate.wilson(1, 2, 1.0), "confidence=1.0 is out of range"),
        (lambda: Reliability.from_predictions([0], [[1.0]], [0], label=3), "label holds 3, which is none"),
        (
            lambda: Reliability.from_predictions([0], [[1.0]], [0], strategy="even"),
            "strategy='even' is unknown",
        ),
        (lambda: evaluate.classical_mds([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (lambda: evaluate.class_means([1.0, 2.0], [0, 1], [0, 1]), "pass a row for each of the 2 labels"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_models_and_rounds_are_named():
    X, y = blobs(n=60, p=2, K=3, seed=0)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0)
    with pytest.raises(NotFittedError):
        evaluate.margins(clf, X, y, [1])
    with pytest.raises(NotFittedError):
        evaluate.learning_curves(clf)
    clf.fit(X, y)
    with pytest.raises(ValueError, match="rounds=6 is out of range"):
        evaluate.margins(clf, X, y, [1, 6])
    with pytest.raises(ValueError, match=r"rounds=\[3, 2\] must be in ascending order"):
        evaluate.margins(clf, X, y, [3, 2])
    with pytest.raises(ValueError, match="rounds is empty"):
        evaluate.margins(clf, X, y, [])
    with pytest.raises(ValueError, match=r"y must hold a known label per row of X; it has shape \(3,\) for 60 rows"):
        evaluate.margins(clf, X, y[:3], [1])
    with pytest.raises(ValueError, match="metric='auc' was not recorded; choose one of 'risk'"):
        evaluate.learning_curves(clf).of("auc")
    with pytest.raises(TypeError, match="MulticlassSVC has no rounds"):
        evaluate.margins(sb.MulticlassSVC().fit(X, y), X, y, [1])
    with pytest.raises(TypeError, match="MulticlassSVC records no rounds"):
        evaluate.learning_curves(sb.MulticlassSVC().fit(X, y))
