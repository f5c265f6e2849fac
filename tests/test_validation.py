"""Validation: labels, weights, costs and indicator matrices as they come, and the training set they make."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cases import problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

import simplexboost as sb
from simplexboost.engine import CPU
from simplexboost.tables.problem import LabelSets
from simplexboost.tables.training_set import TrainingSet
from simplexboost.tables.validation import (
    Labelling,
    check_costs,
    check_label_names,
    check_labels,
    check_training,
    check_two_classes,
    encode_labels,
    known_labels,
    mean_one,
    weights_of_labels,
)

X = np.arange(12.0).reshape(6, 2)
Y = np.array(["b", "a", "c", "b", "a", "c"])
Z = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]])


def checked(y=Y, weight=None, X=X, max_bins=255, **labelling):
    """What `check_training` makes of it."""
    more = {name: labelling.pop(name) for name in ("costs",) if name in labelling}
    return check_training(BaseEstimator(), X, y, weight, Labelling(**labelling), max_bins, CPU, **more)


# ---- one label per example ------------------------------------------------------------------------------------------


def test_labels_become_the_numbers_of_sorted_classes():
    out = checked()
    assert_array_equal(out.classes, ["a", "b", "c"])
    assert_array_equal(out.data.c, [1, 0, 2, 1, 0, 2])
    assert_array_equal(out.data.weight, np.ones(6))
    assert_array_equal(out.data.X, X)
    assert out.data.K == 3 and out.present.all() and out.data.uniform and out.problem.several is None


def test_numbers_that_are_no_labels_are_refused_and_columns_warn():
    with pytest.raises(ValueError, match="Unknown label type"):
        checked(np.linspace(0, 1, 6))
    with pytest.warns(DataConversionWarning):
        assert_array_equal(checked(Y[:, None]).data.c, [1, 0, 2, 1, 0, 2])


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None, "b"] * 20, dtype=object),
        np.array(["a", np.nan, "b"] * 20, dtype=object),
        pd.Series(["a", None, "b"] * 20),
        pd.Series(["a", None, "b"] * 20, dtype="string"),
        pd.Categorical(["a", None, "b"] * 20),
        np.array(["2020-01-01", "NaT", "2021-01-01"] * 20, dtype="datetime64[D]"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2021-01-01"] * 20)),
        np.array([3, "NaT", 4] * 20, dtype="timedelta64[s]"),
    ],
    ids=["None", "NaN", "text", "string", "category", "dates", "timestamps", "durations"],
)
def test_a_missing_label_is_named_and_the_table_not_blamed(y):
    with pytest.raises(ValueError, match=r"^y contains NaN: the label of row 1 is missing"):
        sb.SAMMEClassifier(n_estimators=2).fit(np.arange(120.0).reshape(60, 2), y)


def test_labels_of_three_dimensions_are_refused_as_labels():
    with pytest.raises(ValueError, match=r"^y should hold a label .* shape \(60, 1, 1\)"):
        sb.SAMMEClassifier(n_estimators=2).fit(np.arange(120.0).reshape(60, 2), np.zeros((60, 1, 1)))


def test_rows_of_no_and_of_negligible_weight_are_left_out():
    out = checked(weight=[3.0, 0.0, 1.0, 2.0, 3e-7, 2.0])
    assert_array_equal(out.data.X, X[[0, 2, 3, 5]])
    assert_array_equal(out.present, [False, True, True])
    assert_array_equal(out.data.c, [0, 1, 0, 1])  # among the present classes
    assert_allclose(out.data.weight, [1.5, 0.5, 1.0, 1.0], rtol=1e-7)
    assert out.data.K == 2 and not out.data.uniform
    assert_array_equal(checked(weight=[1.0, 3e-6, 1.0, 1.0, 1.0, 1.0]).data.X, X)


def test_declared_classes_may_be_absent():
    out = checked(classes=["d", "c", "b", "a"])
    assert_array_equal(out.classes, ["a", "b", "c", "d"])
    assert_array_equal(out.present, [True, True, True, False])
    assert_array_equal(out.data.c, [1, 0, 2, 1, 0, 2])
    assert out.data.K == 3


def test_declared_classes_are_sorted_and_must_hold_every_label():
    classes, c = encode_labels(np.array([7, 3]), [9, 7, 3])
    assert (classes.tolist(), c.tolist()) == ([3, 7, 9], [1, 0])
    with pytest.raises(ValueError, match="y holds 4, which is none of the declared classes; these are 3, 7, 9"):
        encode_labels(np.array([7, 4]), [9, 7, 3])


@pytest.mark.parametrize("classes", [["a"], ["a", "a"], [["a", "b"]]])
def test_declared_classes_are_at_least_two_different_labels(classes):
    with pytest.raises(ValueError, match="at least two different labels"):
        encode_labels(Y, classes)


def test_one_class_is_too_few_unless_others_are_declared():
    classes = np.array(["a", "b"])
    with pytest.raises(ValueError, match=r"one class only .*'b'.*classes="):
        check_two_classes(classes, np.array([1]), Labelling())
    check_two_classes(classes, np.array([1]), Labelling(["a", "b"]))
    check_two_classes(classes, np.array([0, 1]), Labelling())
    with pytest.raises(ValueError, match=r"at least two classes\.$"):  # an estimator without ``classes``
        check_two_classes(classes, np.array([1]), Labelling(declares=False))
    with pytest.raises(ValueError, match="one class only"):
        checked(weight=[1.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def weights(y, sample_weight, class_weight):
    """The weights of the rows, before they are divided by their mean."""
    return check_labels(X[: len(y)], y, sample_weight, Labelling(class_weight=class_weight))[2]


def test_class_weights_multiply_sample_weights():
    weight = weights(Y, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], {"a": 10.0, "b": 1.0, "c": 0.5})
    assert_array_equal(weight, [1.0, 20.0, 1.5, 4.0, 50.0, 3.0])
    assert_array_equal(weights(Y, None, None), np.ones(6))
    balanced = weights(Y[:4], None, "balanced")  # n / (K n_k)
    assert_allclose(balanced, [4 / 6, 4 / 3, 4 / 3, 4 / 6])


@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "words"),
    [
        (np.zeros(6), None, "zero"),
        (None, {"a": 0.0, "b": 0.0, "c": 0.0}, "zero for every row"),
        (None, {"a": -1.0}, "class_weight"),
        (None, {"a": np.inf}, "class_weight"),
        (-np.ones(6), None, "Negative"),
    ],
)
def test_weights_without_meaning_are_refused(sample_weight, class_weight, words):
    with pytest.raises(ValueError, match=words):
        weights(Y, sample_weight, class_weight)


def test_weights_have_mean_one():
    assert_allclose(mean_one(np.array([1.0, 2.0, 6.0])), [1 / 3, 2 / 3, 2.0], rtol=1e-7)
    assert_allclose(mean_one(np.array([1e300, 3e300])), [0.5, 1.5], rtol=1e-7)
    assert_array_equal(mean_one(np.full(3, 0.3)), np.ones(3))
    w = mean_one(np.array([1.0, 3.0, 7.0]))
    assert w[1] / w[0] == 3.0 and w[2] / w[0] == 7.0  # whole numbers keep their ratios exactly


def test_mean_one_does_not_depend_on_the_order_of_the_rows():
    """The factor has 26 bits; here n / Σ weights lies between two such numbers, as near to the middle as can be."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 1.0, 1000)
    weight[-1] += 1000 / ((50_000_001 + 0.5) / 2**26) - weight.sum()
    assert len({np.sort(mean_one(rng.permutation(weight))).tobytes() for _ in range(30)}) == 1


def test_the_number_of_bins_is_passed_on_or_chosen():
    assert checked(max_bins=17).data.max_bins == 17
    assert 2 <= checked(max_bins="auto").data.max_bins <= 255


def test_labels_of_other_rows_must_be_known():
    classes = np.array(["a", "b", "d"])
    assert_array_equal(known_labels(["d", "a"], 2, classes), [2, 0])
    with pytest.raises(ValueError, match=r"y_true holds 'c', which is none of the classes; these are 'a', 'b', 'd'"):
        known_labels(["c", "a"], 2, classes, "y_true")
    with pytest.raises(ValueError, match=r"y must hold a known label .* shape \(1,\) for 2 rows"):
        known_labels(["a"], 2, classes)


# ---- costs of examples ----------------------------------------------------------------------------------------------


def test_costs_follow_the_rows_and_classes_that_are_left():
    costs = np.arange(18.0).reshape(6, 3)
    out = checked(weight=[1, 0, 1, 1, 0, 1], costs=costs)  # no example of class "a" is left
    assert_array_equal(out.data.costs, costs[[0, 2, 3, 5]][:, [1, 2]])
    assert_array_equal(out.data.sample(np.array([0, 2])).costs, costs[[0, 3]][:, [1, 2]])


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.ones((6, 2)), r"shape \(6, 2\); pass \(6, 3\)"),
        (np.ones((5, 3)), r"shape \(5, 3\); pass \(6, 3\)"),
        (np.full((6, 3), -2.0), "contains -2.0"),
        (np.full((6, 3), np.nan), "contains nan"),
    ],
)
def test_costs_without_meaning_are_refused(costs, words):
    with pytest.raises(ValueError, match=words):
        check_costs(costs, 6, 3)


# ---- several labels per example -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_an_indicator_matrix_becomes_numbers_of_label_sets(form):
    out = checked(form(Z), weight=[1, 1, 1, 3, 0, 2], several=True)
    kept = Z[[0, 1, 2, 3, 5]]
    assert_array_equal(out.problem.table[out.data.c], kept)
    assert_array_equal(out.data.c < 3, kept.sum(axis=1) == 1)  # sets of one class come first
    assert_array_equal(out.data.X, X[[0, 1, 2, 3, 5]])
    assert_allclose(out.data.weight, np.array([1, 1, 1, 3, 2]) / 1.6, rtol=1e-7)
    assert_array_equal(out.classes, [0, 1, 2])
    assert out.data.K == 3 and out.present.all()


def test_an_indicator_matrix_is_refused_where_there_is_one_label():
    with pytest.raises(ValueError, match="1d array"):
        checked(Z)


def test_label_sets_keep_their_numbers():
    sets = LabelSets(np.arange(3))
    first = sets.number(Z)
    assert_array_equal(sets.table[:3], np.eye(3))
    assert_array_equal(sets.number(Z[::-1]), first[::-1])
    assert len(sets.table) == 3 + 3  # {0, 1}, {} and {0, 2} are new
    assert_array_equal(sets.number(np.array([[1, 1, 1]])), [6])


def test_class_weights_of_labels_multiply_where_the_label_is():
    assert weights_of_labels({1: 5.0}, 3) == [{0: 1.0, 1: 1.0}, {0: 1.0, 1: 5.0}, {0: 1.0, 1: 1.0}]
    assert weights_of_labels("balanced", 3) == "balanced"
    with pytest.raises(ValueError, match=r"names \[3\]; the columns of y are 0 \.\. 2"):
        weights_of_labels({3: 1.0}, 3)
    weighed = checked(Z, several=True, class_weight={1: 5.0}).data.weight
    assert_allclose(weighed / weighed[0], np.where(Z[:, 1] == 1, 5.0, 1.0), rtol=1e-7)


def test_names_of_the_columns_of_an_indicator_matrix():
    assert_array_equal(check_label_names(None, 3), [0, 1, 2])
    assert_array_equal(check_label_names(["x", "a"], 2), ["x", "a"])  # as they come
    with pytest.raises(ValueError, match="must name the 3 columns"):
        check_label_names(["x", "a"], 3)


# ---- the training set -----------------------------------------------------------------------------------------------


def test_a_sample_has_the_rows_and_everything_else():
    data = problem(n=12, K=3, max_bins=7)
    rows = np.array([2, 5, 9])
    some = data.sample(rows)
    assert_array_equal(some.X, data.X[rows])
    assert_array_equal(some.c, data.c[rows])
    assert_array_equal(some.weight, data.weight[rows])
    assert (some.n, some.K, some.max_bins, some.engine, some.costs) == (3, 3, 7, data.engine, None)


def test_data_are_binned_once_into_the_bins_asked_for():
    values = np.repeat(np.arange(10.0), 3)[:, None]
    data = TrainingSet(values, np.arange(30) % 2, np.ones(30), 2, max_bins=4)
    assert data.binned is data.binned
    assert data.binned.n_bins.tolist() == [4] and len(np.unique(data.binned.column(0))) == 4


def test_weights_are_uniform_where_all_are_one():
    data = problem(n=6)
    assert not data.uniform
    assert TrainingSet(data.X, data.c, np.ones(6), 3).uniform
