"""SimplexBoostClassifier as a user sees it; what its loss computes is tested in ``test_engine_rows.py``."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import problem
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexboost as sb
from simplexboost.engine import CPU
from simplexboost.model.additive import AdditiveModel
from simplexboost.parts.codewords import Auto, Canonical, Simplex
from simplexboost.parts.learners import SketchTree
from simplexboost.parts.losses import Logistic, Savage
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.persist.models import values_from_arrays

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
DIGITS = train_test_split(*load_digits(return_X_y=True), random_state=0)


# Weights are divided by their mean, so that a row of weight two is two rows only where nothing else is in units of a
# row; `test_weights_are_repetitions` says what holds with l2.
REPETITIONS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
RATIOS = dict.fromkeys(
    REPETITIONS, "only ratios of weights matter, and l2_regularization is in units of a row of mean weight"
)


@parametrize_with_checks(
    [
        sb.SimplexBoostClassifier(learning_rate=0.5),  # with a choice
        sb.SimplexBoostClassifier(n_estimators=40),
        sb.SimplexBoostClassifier(n_estimators=20, codewords=Auto(2)),
        sb.SimplexBoostClassifier(n_estimators=30, loss="savage"),
        sb.SimplexBoostClassifier(n_estimators=40, l2_regularization=0),
        sb.SimplexBoostClassifier(n_estimators=20, l2_regularization=0, codewords=Auto(2)),
    ],
    expected_failed_checks=lambda estimator: {} if estimator.l2_regularization == 0 else RATIOS,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


# ---- the classifier -------------------------------------------------------------------------------------------------


def test_digits_with_defaults():
    X, X_test, y, y_test = DIGITS
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    assert np.sum(clf.predict(X_test) != y_test) <= 9 + 4  # of 450; four are left to other platforms
    assert log_loss(y_test, clf.predict_proba(X_test)) < 0.06  # 0.049; 400 rounds without a choice have 0.062
    assert len(clf.model_.trees) == clf.n_iter_ == clf.choice_.n_estimators  # one tree a round


@pytest.mark.parametrize("code", ["canonical", "simplex", "max-min", Simplex().matrix(10)])
def test_codes(code):
    X, X_test, y, y_test = DIGITS
    clf = sb.SimplexBoostClassifier(codewords=code, n_estimators=100, learning_rate=0.2, random_state=0).fit(X, y)
    assert np.sum(clf.predict(X_test) != y_test) <= 9 + 4  # of 450, with each of them


def test_a_low_dimensional_code_for_many_classes():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(300, 8))
    y = np.repeat(np.arange(300), 12)
    X = centres[y] + 0.25 * rng.normal(size=(3600, 8))
    clf = sb.SimplexBoostClassifier(n_estimators=200, learning_rate=0.3, codewords=Auto(50), random_state=0).fit(
        X[::2], y[::2]
    )
    assert clf.model_.Y.shape == (300, 50)
    assert clf.score(X[1::2], y[1::2]) > 0.9  # 0.911; the nearest true centre is right for 0.996
    assert (np.diff(clf.history_["risk"]) < 0).all()  # to the end: no step runs away


def test_sparse_leaves_predict_and_come_back_like_dense_ones(tmp_path):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 6))
    y = np.repeat(np.arange(40), 12)
    X = (centres[y] + 0.3 * rng.normal(size=(480, 6))).astype(np.float32)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    assert all(issparse(term.hypothesis.values) for term in clf.model_.terms)
    dense = [
        replace(t, hypothesis=replace(t.hypothesis, values=t.hypothesis.values.toarray())) for t in clf.model_.terms
    ]
    other = AdditiveModel(clf.model_.Y, dense, clf.model_.round_ends)
    assert other.predictor(X).tobytes() == clf.model_.predictor(X).tobytes()
    assert sum(t.step * t.hypothesis.outputs(X) for t in clf.model_.terms) == pytest.approx(
        other.predictor(X), abs=1e-5
    )
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert again.model_.predictor(X).tobytes() == clf.model_.predictor(X).tobytes()
    again.save(tmp_path / "n.sb")
    assert (tmp_path / "m.sb").read_bytes() == (tmp_path / "n.sb").read_bytes()


def test_sparse_values_outside_their_shape_are_refused():
    rows = {
        "value_shape": np.array([[2, 3]]),
        "values": np.ones(3, np.float32),
        "row_sizes": np.array([1, 2], np.uint32),
    }
    assert values_from_arrays({**rows, "columns": np.array([0, 1, 2], np.uint16)})[0].toarray().tolist() == [
        [1, 0, 0],
        [0, 1, 1],
    ]
    with pytest.raises(ValueError, match="sparse values outside their shape"):
        values_from_arrays({**rows, "columns": np.array([0, 1, 3], np.uint16)})


@pytest.mark.parametrize(
    ("options", "K", "rounds", "rate"),
    [
        ({}, 4, 400, 0.1),
        ({}, 2, 200, 0.1),
        ({"learning_rate": 0.5}, 4, 80, 0.5),
        ({"learning_rate": 0.5, "n_estimators": 7}, 2, 7, 0.5),
        ({"n_estimators": 7}, 4, 7, 0.1),
    ],
)
def test_rules_for_rounds_where_nothing_can_be_chosen(options, K, rounds, rate):
    """Four rows are too few to hold any out."""
    clf = sb.SimplexBoostClassifier(**options)
    plan = clf._by_rules(clf.parts(), problem(n=4, K=K))
    assert (plan.n_estimators, plan.learning_rate) == (rounds, rate)


def test_defaults_suit_the_data():
    assert SketchTree().l2_among(2) == 5.0
    assert SketchTree().l2_among(80) == 0.2
    assert SketchTree(l2_regularization=0.3).l2_among(2) == 0.3
    for p, seen in ((10, 8), (300, 120)):
        data = SimpleNamespace(n=50, n_here=50, p=p, engine=CPU)
        run = SimpleNamespace(data=data, rng=np.random.default_rng(0))
        sb.boosting.Sampling(max_features="auto").before_round(run)
        assert len(run.features) == seen and run.rows is None
    with pytest.raises(TypeError, match=r"n_estimators='some' must be an integer .* or 'auto'"):
        sb.SimplexBoostClassifier(n_estimators="some").fit(*DIGITS[::2])
    with pytest.raises(TypeError, match="n_estimators='auto' must be an integer"):
        sb.GDMCBoostClassifier(n_estimators="auto").fit(*DIGITS[::2])
    with pytest.raises((TypeError, ValueError), match=r"max_features.*or 'auto'"):
        sb.SimplexBoostClassifier(max_features="some").fit(*DIGITS[::2])
    with pytest.raises((TypeError, ValueError), match="l2_regularization"):
        sb.SimplexBoostClassifier(l2_regularization="some").fit(*DIGITS[::2])


@pytest.mark.parametrize(
    "options", [{}, {"subsample": 0.7, "max_features": 0.6}, {"codewords": Auto(4)}, {"loss": "savage"}]
)
def test_same_bytes_for_any_number_of_jobs(options, tmp_path):
    X, _, y, _ = DIGITS
    files = []
    for n_jobs in (1, 4):
        clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=3, n_jobs=n_jobs, **options).fit(X, y)
        clf.set_params(n_jobs=None).save(tmp_path / "m.sb")
        files.append((tmp_path / "m.sb").read_bytes())
    assert files[0] == files[1]


def test_large_data_do_not_depend_on_jobs():
    """32-bit lanes, rows cut, several tasks everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25_000, 10)).astype(np.float32)
    y = (X[:, 0] > 0) * 2 + (X[:, 1] + X[:, 2] > 0.5)
    one, two = (sb.SimplexBoostClassifier(n_estimators=5, random_state=0, n_jobs=j).fit(X, y) for j in (1, 3))
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


def test_training_scores_are_the_predicted_ones():
    """What the loop worked with is what predict computes, to the last bit."""
    X, _, y, _ = DIGITS
    seen = {}

    class Spy(sb.boosting.Callback):
        def after_round(self, run):
            seen["F"] = run.data.as_given(run.F).copy()

    for options in ({}, {"codewords": "simplex"}):
        clf = sb.SimplexBoostClassifier(n_estimators=15, callbacks=[Spy()], **options).fit(X, y)
        assert (clf.model_.predictor(X.astype(np.float64)) == seen["F"]).all()


def test_history_and_stages():
    X, X_test, y, _ = DIGITS
    clf = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    assert {len(v) for v in clf.history_.values()} == {30}
    # The risk of every round, computed on the way, is that of the staged probabilities.
    staged = [log_loss(y, P) for P in clf.staged_predict_proba(X)]
    np.testing.assert_allclose(clf.history_["risk"], staged, rtol=1e-4)
    assert (np.diff(clf.history_["risk"]) < 0).all()
    assert (list(clf.staged_predict(X_test))[-1] == clf.predict(X_test)).all()


@pytest.mark.parametrize(
    "options", [{}, {"codewords": Auto(2)}, {"loss": "savage"}, {"loss": Logistic(cost_matrix=np.ones((3, 3)) * 2)}]
)
def test_round_trip(options, tmp_path):
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0, **options).fit(X_IRIS, Y_IRIS)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert type(again) is sb.SimplexBoostClassifier
    assert (again.predict_proba(X_IRIS) == clf.predict_proba(X_IRIS)).all()
    assert again.model_.dtype == np.float32


def test_early_stopping():
    X, X_test, y, y_test = DIGITS
    clf = sb.SimplexBoostClassifier(n_estimators=2000, learning_rate=0.3, early_stopping=20, random_state=0).fit(X, y)
    assert clf.n_iter_ < 300 and clf.stop_reason_.startswith("early stopping")  # 198; other seeds 105 to 247
    assert np.sum(clf.predict(X_test) != y_test) <= 10 + 4  # of 450


def test_noisy_labels_call_for_a_robust_loss():
    """Half of the labels drawn anew: the soft-max risk beats the logistic loss on clean test labels (.924, .873)."""
    X, X_test, y, y_test = DIGITS
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.5, rng.integers(0, 10, len(y)), y)
    logistic, robust = (
        sb.SimplexBoostClassifier(loss=loss, n_estimators=300, random_state=0).fit(X, noisy).score(X_test, y_test)
        for loss in ("logistic", "softmax-cost")
    )
    assert robust > logistic + 0.02


def test_costs_move_the_border():
    """Where mistaking class 1 for class 0 costs much, fewer examples of class 1 are called 0."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 2)) + y[:, None]
    options = {"n_estimators": 40, "random_state": 0}
    plain = sb.SimplexBoostClassifier(**options).fit(X[:1000], y[:1000]).predict(X[1000:])
    costly = sb.SimplexBoostClassifier(loss=Logistic(cost_matrix=[[0, 1], [20, 0]]), **options).fit(X[:1000], y[:1000])
    missed = [np.mean(p[y[1000:] == 1] == 0) for p in (plain, costly.predict(X[1000:]))]
    assert missed[1] < 0.6 * missed[0]


SINGULAR = [  # little regularisation, so that Hessians are singular
    {"codewords": "random-dense", "l2_regularization": 0},
    {"codewords": "random-dense", "l2_regularization": 0, "learning_rate": 1.0},
    {"codewords": "simplex", "l2_regularization": 0, "learning_rate": 1.0},
    {"codewords": "simplex", "l2_regularization": 1e-6, "learning_rate": 1.0},
    {"codewords": "max-min", "l2_regularization": 1e-6, "learning_rate": 1.0},
    {"codewords": Auto(4), "l2_regularization": 0, "learning_rate": 1.0},
]


@pytest.mark.parametrize("options", SINGULAR, ids=lambda o: " ".join(map(str, o.values())))
def test_singular_hessians_do_no_harm(options):
    """All of these were models of NaN."""
    X, X_test, y, y_test = DIGITS
    clf = sb.SimplexBoostClassifier(n_estimators=100, random_state=0, **options).fit(X, y)
    moves = [np.abs(term.step * term.hypothesis.values @ clf.model_.Y.T).max() for term in clf.model_.terms]
    assert max(moves) <= 10.001
    P = clf.predict_proba(X_test)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-6)
    assert clf.score(X_test, y_test) > 0.905  # the worst of them has 0.92


def test_weights_are_repetitions():
    """Where l2 is in units of the same examples: weights are divided by their mean, repeated rows are not."""
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(120, 4)), rng.integers(0, 3, 120), rng.integers(0, 4, 120)
    options = {"n_estimators": 15, "random_state": 0}
    l2 = 3.0 / w[w > 0].mean()
    weighted = sb.SimplexBoostClassifier(l2_regularization=l2, **options).fit(X, y, sample_weight=w)
    repeated = sb.SimplexBoostClassifier(l2_regularization=3.0, **options).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-5)


def test_weights_that_sum_to_one_train_as_well():
    X, X_test, y, y_test = DIGITS
    weight = np.random.default_rng(0).uniform(0.9, 1.1, len(X))
    losses = []
    for factor in (1 / weight.mean(), 1 / weight.sum(), 1e39):
        clf = sb.SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X, y, sample_weight=factor * weight)
        losses.append(log_loss(y_test, clf.predict_proba(X_test)))
    assert max(losses) < 0.2  # 0.17
    assert max(losses) < 1.02 * min(losses)  # 1.49 against 0.06 when weights were taken as they came


def test_a_slightly_heavier_row_changes_little():
    X, X_test, y, _ = DIGITS
    probabilities = []
    for extra in (0.0, 1e-9):
        weight = np.full(len(X), 1 / len(X))
        weight[0] *= 1 + extra
        clf = sb.SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X, y, sample_weight=weight)
        probabilities.append(clf.predict_proba(X_test))
    np.testing.assert_allclose(*probabilities, atol=1e-3)  # 0.64 when equal weights were taken for ones


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "exponential"}, ["loss='exponential'", "'savage'"]),
        ({"loss": Savage(cost_matrix=np.ones((3, 3)))}, ["also with costs", "Savage(cost_matrix="]),
        ({"loss": Logistic(cost_matrix=np.ones((2, 2)))}, ["cost_matrix", "(2, 2)", "(3, 3)"]),
        ({"codewords": "nothing"}, ["nothing"]),
        ({"codewords": Auto(0)}, ["0"]),
        ({"optimizer": SketchedNewton(sketch=0)}, ["sketch=0"]),
        ({"max_leaf_nodes": 1}, ["max_leaf_nodes=1"]),
        ({"max_leaf_nodes": "many"}, ["max_leaf_nodes='many'"]),
        ({"l2_regularization": -1.0}, ["-1.0"]),
        ({"optimizer": SketchedNewton(max_step=0.0)}, ["max_step=0.0"]),
        ({"n_estimators": 0}, ["n_estimators=0"]),
    ],
)
def test_bad_parameters_name_themselves(options, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        sb.SimplexBoostClassifier(**options).fit(X_IRIS, Y_IRIS)
    for word in words:
        assert word in str(caught.value)


def test_canonical_means_canonical():
    clf = sb.SimplexBoostClassifier(n_estimators=2).fit(X_IRIS, Y_IRIS)
    np.testing.assert_array_equal(clf.model_.Y, Canonical().matrix(3))


def test_evaluated_sets_and_metrics():
    X, X_test, y, y_test = DIGITS
    names = np.array([f"digit {k}" for k in range(10)])
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0)
    accuracy = {"accuracy": lambda c, P: np.mean(P.argmax(axis=1) == c)}
    clf.fit(X, names[y], X_val=(X_test, X), y_val=(names[y_test], names[y]), eval_metric=accuracy)
    first, second = clf.evals_result_
    np.testing.assert_allclose(second["risk"], clf.history_["risk"], rtol=1e-4)
    staged = [np.mean(p == names[y_test]) for p in clf.staged_predict(X_test)]
    np.testing.assert_allclose(first["accuracy"], staged)


def test_early_stopping_on_an_evaluated_set():
    X, X_test, y, y_test = DIGITS
    clf = sb.SimplexBoostClassifier(n_estimators=3000, learning_rate=0.5, early_stopping=10, random_state=0).fit(
        X, y, X_val=X_test, y_val=y_test
    )
    risks = clf.evals_result_[0]["risk"]
    assert clf.n_iter_ == risks.argmin() + 1 < len(risks) == clf.n_iter_ + 10
    assert log_loss(y_test, clf.predict_proba(X_test)) == pytest.approx(risks.min(), rel=1e-4)


@pytest.mark.parametrize(
    ("X_val", "y_val", "metric", "message"),
    [
        (X_IRIS, Y_IRIS + 5, None, "trained on"),
        (X_IRIS[:, :2], Y_IRIS, None, "features"),
        (X_IRIS, None, None, "X_val is given without y_val"),
        (X_IRIS, Y_IRIS, "acuracy", "eval_metric='acuracy'"),
    ],
)
def test_bad_evaluated_sets(X_val, y_val, metric, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sb.SimplexBoostClassifier(n_estimators=2).fit(X_IRIS, Y_IRIS, X_val=X_val, y_val=y_val, eval_metric=metric)


@pytest.mark.parametrize("Estimator", [sb.SimplexBoostClassifier, sb.GDMCBoostClassifier])
def test_warm_start_continues(Estimator, tmp_path):
    X, X_test, y, _ = DIGITS
    clf = Estimator(n_estimators=10, warm_start=True, random_state=0).fit(X, y)
    before = clf.decision_function(X_test)
    clf.set_params(n_estimators=25).fit(X, y)
    assert clf.n_iter_ == 25 and {len(v) for v in clf.history_.values()} == {25}
    assert (list(clf.staged_decision_function(X_test))[9] == before).all()
    assert (np.diff(clf.history_["risk"]) < 0).all()
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb").set_params(n_estimators=27).fit(X, y)
    assert again.n_iter_ == 27
    with pytest.raises(ValueError, match="n_estimators=5"):
        clf.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="classes"):
        clf.set_params(n_estimators=30).fit(X[y < 5], y[y < 5])


def test_forecast_and_progress(capsys):
    sb.SimplexBoostClassifier(n_estimators=3, verbose=1).fit(X_IRIS, Y_IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "boosting: 150 rows, 3 classes, up to 3 rounds"
    assert lines[1].startswith("forecast: about ") and " MB" in lines[1]
    assert lines[2].startswith("round 3/3")


@pytest.mark.parametrize("options", [{}, {"codewords": "simplex"}, {"codewords": Auto(3)}])
def test_probabilities_are_the_softmax_of_twice_the_scores(options):
    X, X_test, y, _ = DIGITS
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0, **options).fit(X, y)
    P = clf.predict_proba(X_test)
    np.testing.assert_allclose(P, softmax(2 * clf.decision_function(X_test), axis=1), atol=1e-6)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    assert (clf.set_params(n_jobs=3).predict_proba(X_test) == P).all()


# ---- categories -----------------------------------------------------------------------------------------------------


def categorical_table(n=600, seed=0):
    """A class for each of three groups of cities, whose names are in no useful order; and a number that helps."""
    rng = np.random.default_rng(seed)
    cities = np.array([f"city {letter}" for letter in "abcdefghijkl"])
    group = rng.permutation(np.arange(12) % 3)
    city = rng.integers(0, 12, n)
    noise = rng.normal(size=n)
    return cities[city], noise, group[city]


def frames():
    city, noise, y = categorical_table()
    missing = np.where(np.arange(len(city)) % 37 == 0, None, city)
    yield pd.DataFrame({"city": pd.Categorical(missing), "noise": noise}), y
    yield pd.DataFrame({"city": missing, "noise": noise}), y


@pytest.mark.parametrize("kind", [0, 1])
def test_categories_of_frames(kind, tmp_path):
    X, y = list(frames())[kind]
    clf = sb.SimplexBoostClassifier(n_estimators=20, learning_rate=0.5, random_state=0).fit(X, y)
    named = X["city"].notna()
    assert clf.score(X[named], y[named]) == 1.0  # the city says it all
    assert clf.feature_names_in_.tolist() == ["city", "noise"]
    assert (clf.model_.trees[0].nodes["category"] >= 0).any()
    clf.save(tmp_path / "m.sb")
    assert (sb.load(tmp_path / "m.sb").predict_proba(X) == clf.predict_proba(X)).all()
    strange = X.head(3).assign(city=["atlantis", None, "city a"])
    P = clf.predict_proba(strange)
    assert np.isfinite(P).all()
    unseen, missing = strange.assign(noise=0.0).iloc[:1], strange.assign(noise=0.0).iloc[1:2]
    np.testing.assert_array_equal(clf.predict_proba(unseen), clf.predict_proba(missing))


def test_categories_of_arrays_equal_those_of_frames():
    city, noise, y = categorical_table()
    numbers = np.unique(city, return_inverse=True)[1]
    X = np.column_stack([numbers * 7 - 100.0, noise])  # any numbers do
    frame = pd.DataFrame({"city": pd.Categorical(city), "noise": noise})
    options = {"n_estimators": 10, "random_state": 0}
    a = sb.SimplexBoostClassifier(categorical_features=[0], **options).fit(X, y)
    b = sb.SimplexBoostClassifier(categorical_features=[True, False], **options).fit(X, y)
    c = sb.SimplexBoostClassifier(categorical_features=["city"], **options).fit(frame, y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.predict_proba(X), c.predict_proba(frame))


def test_subsets_beat_numbers():
    """One shallow tree a round on the category's number cannot gather the groups; subsets can."""
    city, noise, y = categorical_table()
    X = np.column_stack([np.unique(city, return_inverse=True)[1].astype(float), noise])
    options = {"n_estimators": 1, "max_depth": 2, "learning_rate": 1.0, "random_state": 0}
    numbers = sb.SimplexBoostClassifier(categorical_features=None, **options).fit(X, y).score(X, y)
    subsets = sb.SimplexBoostClassifier(categorical_features=[0], **options).fit(X, y).score(X, y)
    assert subsets > numbers + 0.05


def test_very_many_categories_share_a_number():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 400, 3000), rng.normal(size=3000)]).astype(float)
    y = (X[:, 1] > 0).astype(int)
    with pytest.warns(UserWarning, match=r"column 0 has 400 categories, and 254 can be told apart: the 253 most"):
        clf = sb.SimplexBoostClassifier(categorical_features=[0], n_estimators=5).fit(X, y)
    assert len(clf.categories_.columns[0]) == 253 and clf.score(X, y) == 1.0


@pytest.mark.parametrize("wrong", ["from_type", [2], [-1], ["town"], [True], [0.5]])
def test_bad_categorical_features(wrong):
    city, noise, y = categorical_table()
    frame = pd.DataFrame({"city": pd.Categorical(city), "noise": noise})
    with pytest.raises(ValueError, match="categorical_features="):
        sb.SimplexBoostClassifier(categorical_features=wrong, n_estimators=2).fit(frame, y)
