"""Evaluated rows: how ``X_val`` and ``y_val`` are read, which rows are held out, and how metrics are computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import blobs, training_set
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import DataConversionWarning

import simplexboost as sb
from simplexboost.boosting import EarlyStopping, Evaluation
from simplexboost.classifiers.eval_sets import EvalContext, make_evaluations, read_eval_sets, split_off
from simplexboost.classifiers.metrics import check_metrics
from simplexboost.engine import CPU
from simplexboost.parts.losses import Logistic
from simplexboost.tables.features import Categories
from simplexboost.tables.problem import LabelSets
from simplexboost.tables.validation import Labelling, check_training

X, C = blobs(n=12, p=2, K=3)
NAMES = np.array(["a", "b", "c"])


def context(y=NAMES[C], patience=None, metric=None, **labelling):
    """The context of a fit to the training set X, y."""
    estimator = sb.SimplexBoostClassifier()
    checked = check_training(estimator, X, y, None, Labelling(**labelling), 255, CPU)
    return EvalContext(estimator, checked, Logistic(), check_metrics(metric), patience and EarlyStopping(patience))


def brier(c, P):
    """The mean squared distance from the class's unit vector; c are numbers."""
    return float(np.mean(np.sum((P - np.eye(3)[c]) ** 2, axis=1)))


def evaluations(*arguments, context):
    """The callbacks for ``X_val, y_val, sample_weight_val, init_score_val``, of which the last may be missing."""
    return make_evaluations(read_eval_sets(*arguments, *[None] * (4 - len(arguments))), context)


# ---- X_val and y_val ------------------------------------------------------------------------------------------------


def test_without_rows_there_are_no_evaluations():
    assert evaluations(context=context()) == []


@pytest.mark.parametrize("form", [lambda value: value, lambda value: (value,)])
def test_one_set_may_stand_alone_or_in_a_tuple(form):
    (found,) = evaluations(form(X[:5]), form(NAMES[C[:5]]), context=context())
    assert type(found) is Evaluation and found.metrics == {}
    assert_array_equal(found.X, X[:5])
    assert_array_equal(found.c, C[:5])
    assert_array_equal(found.weight, np.ones(5))


def test_the_first_set_stops_the_fit():
    sets = (X[:5], X[5:]), (NAMES[C[:5]], NAMES[C[5:]])
    first, second = evaluations(*sets, context=context(patience=7))
    assert first.stopping.n_iter_no_change == 7 and second.stopping is None
    assert [e.stopping for e in evaluations(*sets, context=context())] == [None, None]


def test_tables_become_numbers_as_in_training():
    against = context()
    against.estimator.categories_ = Categories([None, np.array(X[::2, 1]), *[None] * (X.shape[1] - 2)])
    (found,) = evaluations(X, NAMES[C], context=against)
    assert_array_equal(found.X[::2, 1], np.arange(len(X[::2])))
    assert np.isnan(found.X[1::2, 1]).all()
    assert_array_equal(np.delete(found.X, 1, axis=1), np.delete(X, 1, axis=1))


def test_targets_count_the_trained_classes_only():
    # "b" is declared but has no examples: "c" is then the second of those trained. "z" is not even declared.
    some = np.where(C == 1, 0, C)
    against = context(NAMES[some], classes=["a", "b", "c"])
    (found,) = evaluations(X, NAMES[some], context=against)
    assert_array_equal(found.c, some // 2)
    (found,) = evaluations(X[:4], np.array(["c", "z", "b", "a"]), context=against)
    assert_array_equal(found.c, [1, -1, -1, 0])


def test_weights_are_those_of_the_set():
    (found,) = evaluations(X[:3], NAMES[C[:3]], [1, 0, 2.5], context=context())
    assert_array_equal(found.weight, [1.0, 0.0, 2.5])


def test_a_column_of_labels_is_read_as_in_training():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        (found,) = evaluations(X[:4], NAMES[C[:4]][:, None], context=context())
    assert_array_equal(found.c, C[:4])


@pytest.mark.parametrize("metric", [brier, {"mine": brier}, [brier]], ids=["alone", "by name", "in a list"])
def test_metrics_are_of_label_numbers_and_probabilities(metric):
    (found,) = evaluations(X, NAMES[C], context=context(metric=metric))
    (name,) = found.metrics
    assert name == found.watch == ("mine" if isinstance(metric, dict) else "brier")
    U = np.random.default_rng(0).normal(size=(12, 3))
    P = np.exp(2 * U) / np.exp(2 * U).sum(axis=1, keepdims=True)
    assert found.metrics[name](found.seen(U)) == pytest.approx(brier(C, P), rel=1e-12)


def test_a_metric_sees_zeros_for_absent_classes():
    # Scores of the present classes with e^{2U} = 1 and 3.
    some = np.where(C == 1, 0, C)
    (found,) = evaluations(X[:1], NAMES[some[:1]], context=context(NAMES[some], metric=brier, classes=["a", "b", "c"]))
    assert_allclose(found.seen(np.array([[0.0, np.log(3) / 2]])).P, [[0.25, 0.0, 0.75]], rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X,), "X_val is given without y_val"),
        (((X, X), (NAMES[C],)), "X_val has 2 entries and y_val has 1"),
        (((X, X), NAMES[C]), "y_val is no tuple, but X_val is one"),
        ((X, NAMES[C], (None, np.ones(12))), "X_val is no tuple, but sample_weight_val is one"),
        ((7, NAMES[C]), "X_val: "),
        ((X, NAMES[C][:5]), r"5 labels for 12 rows"),
        ((X[:, :1], NAMES[C]), "features"),
        ((X, C), r"no label that is trained on .* \['a', 'b', 'c'\]"),
        ((X, np.where(C == 0, "z", NAMES[C]), np.where(C == 0, 1.0, 0.0)), r"no label that is .* positive weight"),
        ((X, NAMES[C], np.zeros(12)), "trained on|non-zero"),  # by us or by scikit-learn
        ((X, NAMES[C], np.ones(5)), "sample_weight_val is refused"),
        ((X, NAMES[C], -np.ones(12)), "sample_weight_val is refused"),
        ((X, np.where(C == 0, np.nan, 1.0)), "y_val contains NaN"),
    ],
)
def test_wrong_sets_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        evaluations(*arguments, context=context())


def test_metrics_need_rows():
    with pytest.raises(ValueError, match=r"eval_metric has no rows .* early_stopping=True"):
        evaluations(context=context(metric="error"))
    assert evaluations(context=context(metric="error", patience=3)) == []


def test_label_sets_of_evaluated_rows_join_those_of_training():
    Z = np.array([[1, 0, 0], [1, 1, 0]] * 6)
    (found,) = evaluations(X[:2], np.array([[0, 1, 1], [1, 1, 0]]), context=(against := context(Z, several=True)))
    assert_array_equal(against.checked.problem.table[found.c], [[0, 1, 1], [1, 1, 0]])
    assert found.c[1] == against.checked.data.c[1]


@pytest.mark.parametrize("y", [np.ones((12, 2), dtype=int), np.ones((11, 3), dtype=int), np.full((12, 3), 2), C])
def test_what_is_no_indicator_matrix_says_so(y):
    Z = np.array([[1, 0, 0], [1, 1, 0]] * 6)
    with pytest.raises(ValueError, match=r"indicator matrix of shape \(12, 3\)"):
        evaluations(X, y, context=context(Z, several=True))


def test_metrics_take_one_label_per_example():
    Z = np.array([[1, 0, 0], [1, 1, 0]] * 6)
    with pytest.raises(ValueError, match="eval_metric takes one label"):
        evaluations(X, Z, context=context(Z, metric=brier, several=True))
    (found,) = evaluations(X, Z, context=context(Z, metric="risk", several=True))
    assert found.metrics == {}


# ---- rows held out --------------------------------------------------------------------------------------------------


def numbered(c):
    """A training set whose only feature is the row's number."""
    return training_set(np.arange(len(c), dtype=float)[:, None], c, np.arange(1.0, len(c) + 1))


def rng():
    return np.random.default_rng(0)


def test_every_row_is_trained_on_or_held_out():
    data = numbered(np.arange(40) % 4)
    train, test = split_off(data, 0.25, rng())
    rows = [part.X[:, 0].astype(int) for part in (train, test)]
    assert (train.n, test.n) == (30, 10)
    assert_array_equal(np.sort(np.concatenate(rows)), np.arange(40))
    for part, of in zip((train, test), rows, strict=True):
        assert (np.diff(of) > 0).all()
        assert_array_equal(part.c, data.c[of])
        assert_array_equal(part.weight, data.weight[of])
    again = split_off(data, 0.25, np.random.default_rng(1))[1]
    assert not np.array_equal(again.X, test.X)


def test_classes_are_held_out_in_proportion():
    train, test = split_off(numbered(np.repeat([0, 1, 2], [60, 30, 10])), 0.1, rng())
    assert_array_equal(np.bincount(test.c), [6, 3, 1])
    assert_array_equal(np.bincount(train.c), [54, 27, 9])


@pytest.mark.parametrize("seed", range(10))
def test_every_class_keeps_a_training_row(seed):
    # Ten classes, two rows each, and two alone; a tenth of the rows cannot hold one of every class.
    c = np.concatenate([np.repeat(np.arange(10), 2), [10, 11]])
    train, test = split_off(numbered(c), 0.1, np.random.default_rng(seed))
    assert_array_equal(np.unique(train.c), np.arange(12))
    assert test.n > 0 and train.n + test.n == 22
    assert not np.isin(test.c, [10, 11]).any()


def test_a_class_that_would_be_lost_is_moved_back():
    # Half of two rows of one class among eight of another: some seed puts both into the test part.
    splits = [split_off(numbered(np.repeat([0, 1, 2, 3, 4], 2)), 0.4, np.random.default_rng(s)) for s in range(40)]
    for train, test in splits:
        assert_array_equal(np.unique(train.c), np.arange(5))
        assert train.n + test.n == 10
    assert {test.n for _, test in splits} > {4}  # in some of them rows had to move


def test_label_sets_may_all_be_different():
    data = replace(numbered(np.arange(10)), problem=LabelSets(np.arange(3)))
    train, test = split_off(data, 0.3, rng())
    assert (train.n, test.n) == (7, 3)


def test_nothing_to_hold_out_keeps_all_rows():
    data = numbered([0, 1, 2])
    assert split_off(data, None, rng()) == (data, data)


def test_too_few_rows_to_hold_out_say_so():
    with pytest.raises(ValueError, match=r"validation_fraction=0.1 leaves no rows .*\(3 rows\)"):
        split_off(numbered([0, 1, 2]), 0.1, rng())
