"""Inputs that once had a bad outcome: an internal error, a message that named nothing, traces of a refused fit."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest
from cases import blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import simplexboost as sb
from simplexboost.parts.learners import GiniTree
from simplexboost.parts.losses import Logistic, OwnScoreExponential

X, Y = blobs(n=40, p=3)


def gdmc(**options):
    return sb.GDMCBoostClassifier(n_estimators=2, **options)


def test_a_refused_fit_leaves_nothing_behind():
    clf = sb.SimplexBoostClassifier(n_estimators=2, loss="nonsense")
    before = dict(vars(clf))
    with pytest.raises(ValueError, match="loss"):
        clf.fit(X, Y)
    assert vars(clf) == before


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_durations_are_the_same_categories_in_every_container():
    hours = np.arange(40) % 4 * 30
    tables = [
        (hours * np.timedelta64(1, "h"))[:, None],
        np.array([[dt.timedelta(hours=int(h))] for h in hours], dtype=object),
        np.array([[np.timedelta64(h, "h")] for h in hours] + [[None]], dtype=object)[:-1],
        pd.DataFrame({0: pd.to_timedelta(hours, unit="h")}),
    ]
    fits = [gdmc(categorical_features=[0], random_state=0).fit(table, hours // 60) for table in tables]
    for clf in fits:
        for table in tables:
            np.testing.assert_array_equal(clf.class_scores(table), fits[0].class_scores(tables[0]))


def test_times_that_python_cannot_hold_are_categories_too():
    years = np.array([["20000", "30000"][i % 2] for i in range(40)], dtype="M8[Y]")[:, None]
    clf = gdmc(categorical_features=[0]).fit(years, np.arange(40) % 2)
    assert clf.score(years, np.arange(40) % 2) == 1.0


@pytest.mark.parametrize(
    ("table", "error"),
    [(iter([[1.0]] * 40), TypeError), ({"a": 1}, TypeError), (object(), TypeError), (b"x", ValueError)],
)
@pytest.mark.parametrize("make", [gdmc, sb.MulticlassSVC])
def test_what_is_no_table_is_called_X(make, table, error):
    with pytest.raises(error, match=r"^X="):
        make().fit(table, Y)


def test_a_dict_is_no_table_for_an_output_code():
    with pytest.raises(TypeError, match=r"^X=\{'a': \[1, 2\]\} must be a table"):
        sb.OutputCodeClassifier(gdmc()).fit({"a": [1, 2]}, [0, 1])


def test_whole_numbers_beyond_double_precision_are_refused_by_their_column():
    table = [[1, 2]] * 39 + [[1, 10**400]]
    with pytest.raises(ValueError, match="column 1 holds a number of 401 digits in row 39"):
        gdmc().fit(table, Y)


@pytest.mark.parametrize("categorical", ["from_dtype", [0]])
def test_rows_of_different_lengths_are_refused(categorical):
    with pytest.raises(ValueError, match=r"^X="):
        gdmc(categorical_features=categorical).fit([[1.0], [1.0, 2.0]] * 20, Y)


def test_a_method_that_the_estimator_of_an_output_code_lacks_is_missed_in_fit():
    with pytest.raises(ValueError, match="response='decision_function', but DecisionTreeClassifier has no such method"):
        sb.OutputCodeClassifier(DecisionTreeClassifier(), response="decision_function").fit(X, Y)


# ---- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "error"),
    [
        ({}, TypeError),
        (object(), TypeError),
        ("heavy", ValueError),
        (["a"] * 40, ValueError),
        (np.full(40, 10**400, dtype=object), ValueError),
        (np.full(40, np.longdouble("1e4000")), ValueError),
    ],
)
@pytest.mark.parametrize("make", [gdmc, sb.MulticlassSVC, sb.MartiBoostClassifier])
def test_weights_that_are_no_numbers_are_called_sample_weight(make, weight, error):
    with pytest.raises(error, match="sample_weight"):
        make().fit(X[Y < 2], Y[Y < 2], sample_weight=weight if np.ndim(weight) == 0 else weight[: (Y < 2).sum()])


def test_weights_whose_sum_is_infinite_are_refused_by_the_svm():
    with pytest.raises(ValueError, match=r"C=1\.0 times sample_weight"):
        sb.MulticlassSVC().fit(np.ones((40, 1)), Y, sample_weight=np.full(40, 1.7e308))


# ---- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [gdmc, sb.MulticlassSVC, sb.SimplexBoostClassifier])
def test_numbers_among_objects_are_labels(make):
    clf = make(random_state=0).fit(X, Y.astype(object))
    assert clf.classes_.dtype.kind == "i"
    np.testing.assert_array_equal(clf.predict(X), make(random_state=0).fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["a", 1], r"y mixes labels of different types: str \(row 0: 'a'\), int \(row 1: 1\)"),
        (["a", None], "y contains NaN: the label of row 1 is missing"),
        ([True, 2], r"y mixes labels of different types: bool \(row 0: True\), int \(row 1: 2\)"),
        ([10**30, 1], "y has whole numbers beyond 64 bits, such as 10{30};"),
    ],
)
@pytest.mark.parametrize("make", [gdmc, sb.MulticlassSVC, sb.OutputCodeClassifier])
def test_labels_that_cannot_be_compared_are_told_apart(make, labels, words):
    with pytest.raises(ValueError, match=words):
        make().fit(X, np.array(labels * 20, dtype=object))


@pytest.mark.parametrize(
    "labels", [{1, 2}, "text", 3, np.array(3), [[1], [1, 2]], [[]], pd.DataFrame(), np.ones((40, 0))]
)
def test_what_is_no_list_of_labels_is_called_y(labels):
    with pytest.raises(TypeError, match=r"^y=.* must hold a label for every row of X"):
        gdmc().fit(X, labels)


def test_weights_that_leave_one_class_are_refused_by_martiboost():
    weight = np.where(np.arange(40) == 0, 1e308, 1e-308)
    with pytest.raises(ValueError, match=r"one class only.*negligible sample_weight"):
        sb.MartiBoostClassifier().fit(X, Y > 0, sample_weight=weight)


def test_weights_that_add_up_to_infinity_are_refused_by_output_codes():
    with pytest.raises(ValueError, match="sample_weight adds up to infinity"):
        sb.OutputCodeClassifier(DecisionTreeClassifier()).fit(X, Y, sample_weight=np.full(40, 1.7e308))


def test_class_weights_that_overflow_are_refused():
    with pytest.raises(ValueError, match="class_weight="):
        gdmc(class_weight={0: 1e300, 1: 1.0, 2: 1.0}).fit(X, Y, sample_weight=np.full(40, 1e300))


def test_errors_of_the_estimator_of_an_output_code_name_it():
    times = np.zeros((40, 2), dtype="M8[s]")
    with pytest.raises(TypeError, match="GaussianNB of column 0 refuses X, y, sample_weight"):
        sb.OutputCodeClassifier(GaussianNB()).fit(times, Y)
    with pytest.raises(ValueError, match=r"estimator: DecisionTree.* of column 0 refuses .* its own parameters"):
        sb.OutputCodeClassifier(DecisionTreeClassifier(min_samples_leaf=2**63)).fit(X, Y)


@pytest.mark.parametrize("bad", [{"min_samples_leaf": 2**63}, {"max_features": np}], ids=["too large", "no number"])
def test_errors_of_estimators_that_learn_for_a_booster_name_them(bad):
    words = "DecisionTree.* refuses X, y, sample_weight or its own parameters"
    for booster in (sb.SAMMEClassifier(DecisionTreeClassifier(**bad)), gdmc(learner=DecisionTreeRegressor(**bad))):
        with pytest.raises((TypeError, ValueError), match="learner: " + words):
            booster.fit(X, Y)
    with pytest.raises(
        (TypeError, ValueError), match="estimator: " + words.replace(" refuses", " of column 0 refuses")
    ):
        sb.OutputCodeClassifier(DecisionTreeClassifier(**bad)).fit(X, Y)


def test_kernels_that_return_no_numbers_are_named():
    with pytest.raises(ValueError, match=r"kernel.*must return an array of numbers, not 'x'"):
        sb.MulticlassSVC(kernel=lambda X, Z: "x").fit(X, Y)


SIGNS = [[i, j, k] for i in (1, -1) for j in (1, -1) for k in (1, -1)]  # some are along the weights of a class


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_rows_whose_scores_are_not_finite_are_refused_by_machines(kernel):
    clf = sb.MulticlassSVC(kernel=kernel).fit(X, Y)
    for method in (clf.predict, clf.class_scores):
        with pytest.raises(ValueError, match="X holds numbers so large that scores are not finite"):
            method(1.7e308 * np.array(SIGNS))


def test_any_number_of_leaves_per_rival_is_taken():
    most = 2**31 - 1
    many, some = (GiniTree(leaves_per_rival=leaves) for leaves in (most, 1000))
    fits = [sb.SAMMEClassifier(learner, n_estimators=2).fit(X, np.arange(40) % 5) for learner in (many, some)]
    np.testing.assert_array_equal(fits[0].class_scores(X), fits[1].class_scores(X))


def test_an_alpha_that_cannot_be_squared_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        sb.CDMCBoostClassifier(loss=OwnScoreExponential(alpha=1.7e308)).fit(X, Y)


def test_sampled_pairs_whose_gradient_cannot_be_squared_end_boosting():
    clf = sb.BoostingClassifier(
        codewords="hadamard",
        loss="exponential",
        learner="newton-tree",
        optimizer="sampled-pairs",
        step="fixed",
        n_estimators=20,
    )
    with pytest.warns(ConvergenceWarning, match="diverges"):
        clf.set_params(random_state=0, learning_rate=20.0).fit(X, np.arange(40) % 4)
    assert np.isfinite(clf.class_scores(X)).all()


def test_machines_of_an_output_code_that_do_not_converge_give_one_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sb.OutputCodeClassifier(sb.MulticlassSVC(C=100.0, max_iter=2)).fit(X, np.arange(40) % 4)
    assert len(caught) > 1 and len({str(warning.message) for warning in caught}) == 1


def test_masked_labels_and_weights_are_refused():
    mask = np.arange(40) == 3
    for y, weight, name in (
        (np.ma.array(Y, mask=mask), None, "y"),
        (Y, np.ma.array(np.ones(40), mask=mask), "sample_weight"),
    ):
        for clf in (gdmc(), sb.SimplexBoostClassifier(n_estimators=2), sb.MulticlassSVC(), sb.OutputCodeClassifier()):
            with pytest.raises(ValueError, match=f"{name} has 1 masked entries"):
                clf.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(gdmc().fit(X, np.ma.array(Y)).classes_, np.unique(Y))


# ---- methods --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [sb.GDMCBoostClassifier.score, sb.evaluate.margins])
@pytest.mark.parametrize("labels", [["a", 1] * 20, [object()] * 40, [None] * 40])
def test_labels_that_cannot_be_compared_are_called_y(function, labels):
    clf = gdmc().fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=r"\by\b"):
        function(clf, X, np.array(labels, dtype=object))


@pytest.mark.parametrize(
    ("make", "name"), [(gdmc, "n_estimators__x"), (sb.MulticlassSVC, "C__x"), (sb.SimplexBoostClassifier, "learner__x")]
)
def test_nested_names_of_what_has_no_parameters_are_refused(make, name):
    with pytest.raises(ValueError, match=name):
        make().set_params(**{name: 1})


@pytest.mark.parametrize("scores", [np.full((40, 3), 1e300), np.full((40, 3), 10**400, dtype=object)])
def test_scores_that_are_too_large_are_refused(scores):
    clf = sb.SimplexBoostClassifier(n_estimators=2)
    with pytest.raises((TypeError, ValueError), match="init_score"):
        clf.fit(X, Y, init_score=scores)
    with pytest.raises((TypeError, ValueError), match="init_score"):
        clf.fit(X, Y).predict(X, init_score=scores)


@pytest.mark.parametrize("classes", [[None, 0, 1, 2], [[0], [1, 2]], 3, "abc"])
def test_classes_that_are_no_labels_are_called_classes(classes):
    with pytest.raises((TypeError, ValueError), match="classes="):
        gdmc(classes=classes).fit(X, Y)


@pytest.mark.parametrize("classes", [1.5, ["a"], "ab", [["a"], ["b"]]])
def test_names_of_labels_that_are_none_are_called_classes(classes):
    with pytest.raises(ValueError, match="classes="):
        sb.AdaBoostMHClassifier(n_estimators=2, classes=classes).fit(X, np.stack([Y == 0, Y == 1], axis=1))


def test_complex_numbers_are_refused_where_numbers_are_wanted():
    with pytest.raises(ValueError, match="codewords"):
        gdmc(codewords=np.eye(3, dtype=complex)).fit(X, Y)
    with pytest.raises(ValueError, match="cost_matrix"):
        sb.SimplexBoostClassifier(n_estimators=1, loss=Logistic(cost_matrix=np.full((3, 3), 1j))).fit(X, Y)
    with pytest.raises(TypeError, match="init_score"):
        gdmc().fit(X, Y, init_score=np.full((40, 3), 1j))


@pytest.mark.parametrize("other", [np.ones((4, 1), dtype=complex), np.zeros((4, 1), dtype="V8")])
def test_categories_that_are_no_numbers_any_more_are_refused(other):
    clf = gdmc(categorical_features=[0]).fit(Y[:, None] * 1.0, Y)
    with pytest.raises((ValueError, TypeError), match=r"column 0 (has the type complex128|holds raw bytes)"):
        clf.predict(other)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_narrow_numbers_are_parameters(kind):
    sb.MulticlassSVC(intercept_scaling=kind(2), C=kind(0.5)).fit(X, Y)
    sb.SimplexBoostClassifier(n_estimators=2, learning_rate=kind(0.5), subsample=kind(0.5)).fit(X, Y)


def test_votes_that_are_too_heavy_are_refused():
    with pytest.raises(ValueError, match=r"eta=256 is out of range; it must be a number in \(0\.0, 100\.0\]"):
        sb.OSBoostClassifier(n_estimators=2, eta=256).fit(X, Y)
    clf = sb.OSBoostClassifier(n_estimators=20, eta=100.0).fit(X, Y)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_probabilities_of_martiboost_are_at_most_one():
    """Also in the last digit: here the sum of the masses is 1 + 2.2e-16 before it is cut."""
    rng = np.random.default_rng(80)
    X, y = rng.normal(size=(14, 1)), rng.permutation(np.arange(14) % 2)
    assert sb.MartiBoostClassifier(n_layers=4).fit(X, y).predict_proba(X).max() <= 1.0


# ---- learners -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2), DecisionTreeRegressor(max_depth=2)])
def test_estimators_where_nothing_is_left_to_gain(learner):
    """All rows have no label at all: after a few rounds no row weighs anything."""
    clf = sb.AdaBoostMHClassifier(learner=learner, n_estimators=5, random_state=0)
    clf.fit(X, np.zeros((40, 2), dtype=bool), sample_weight=10.0 ** np.linspace(-300, 300, 40))
    assert not clf.predict(X).any()


def test_estimators_that_compute_in_single_precision_refuse_what_is_too_large_without_warnings():
    with pytest.raises(ValueError, match="too large for dtype"):
        gdmc(learner=DecisionTreeClassifier()).fit(X * 1e300 * np.where(np.arange(3) == 0, -1, 1), Y)


# ---- lines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_lines_through_very_large_and_small_features(scale):
    """Up to the power of two nearest to the scale, which is exact, the model is that of ordinary numbers."""
    power = 2.0 ** round(np.log2(scale))
    clf = gdmc(learner="linear", random_state=0).fit(X * power, Y)
    np.testing.assert_array_equal(clf.predict(X * power), gdmc(learner="linear", random_state=0).fit(X, Y).predict(X))


def test_lines_are_finite_far_beyond_the_training_rows():
    clf = gdmc(learner="linear").fit(X, Y)
    U = clf.class_scores(np.array([[1.7e308, -1.7e308, 1.7e308], [-1.7e308, 1.7e308, -1.7e308]]))
    assert np.isfinite(U).all()


@pytest.mark.parametrize("loss", ["savage", "softmax-cost"])
@pytest.mark.parametrize("size", [1e-300, 5e-324])
def test_tiny_weights_and_losses_that_tilt_them(loss, size):
    """The tilt is scaled by the mean weight, which must not be zero."""
    some = sb.SimplexBoostClassifier(n_estimators=3, loss=loss, random_state=0)
    tiny = sb.SimplexBoostClassifier(n_estimators=3, loss=loss, random_state=0)
    expected = some.fit(X, Y, sample_weight=np.ones(len(Y))).predict_proba(X)
    np.testing.assert_allclose(
        tiny.fit(X, Y, sample_weight=np.full(len(Y), size)).predict_proba(X), expected, rtol=1e-6
    )


def test_complex_labels_are_named():
    for clf in (sb.SimplexBoostClassifier(), gdmc(), sb.MulticlassSVC()):
        with pytest.raises(ValueError, match=r"Complex data not supported: y "):
            clf.fit(X, Y + 1j)


@pytest.mark.parametrize("learner", ["linear", "index-stump"])
def test_a_sketch_needs_a_tree(learner):
    clf = sb.BoostingClassifier(optimizer="sketched-newton", learner=learner, codewords="canonical", loss="logistic")
    with pytest.raises(ValueError, match=r"optimizer='sketched-newton' needs learner='sketch-tree'"):
        clf.fit(X, Y)
