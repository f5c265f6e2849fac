"""Decisions by expected cost, other shares of the classes than in training, and rows that count by their costs."""

import io
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simplexboost as sb
from simplexboost import decide
from simplexboost.decide import cost_scorer, cost_weights, mean_cost
from simplexboost.decide.costs import Costs
from simplexboost.decide.probabilities import adapt_proba, check_prior, fit_prior
from simplexboost.parts.losses import Logistic

X, C = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[C]
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 0.5, 0.0]])


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def clf():
    return sb.SimplexBoostClassifier(n_estimators=15, random_state=0).fit(X[::2], Y[::2])


# ---- costs ----------------------------------------------------------------------------------------------------------


def brute_force(P, costs):
    """The expected costs (n, A) by loops; costs (n, K, A)."""
    n, K, A = costs.shape
    return np.array([[sum(P[i, k] * costs[i, k, a] for k in range(K)) for a in range(A)] for i in range(n)])


@pytest.mark.parametrize("A", [1, 3, 5])
def test_expected_costs_are_those_of_every_decision(clf, A):
    P = clf.predict_proba(X)
    matrix, tensor = rng(1).normal(size=(3, A)), rng(2).normal(size=(150, 3, A))
    assert_allclose(decide.expected_costs(clf, X, matrix), brute_force(P, np.tile(matrix, (150, 1, 1))), atol=1e-12)
    assert_allclose(decide.expected_costs(clf, X, tensor), brute_force(P, tensor), atol=1e-12)


def test_no_other_rule_is_cheaper_in_the_long_run():
    """Bayes: 27 ways to decide for three kinds of rows, whose classes are drawn from known probabilities."""
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.3, 0.3, 0.4]])
    costs = Costs.of(COSTS, np.arange(3))
    chosen = costs.expect(P).argmin(axis=1)

    def price(rule):
        return sum(P[i, k] * COSTS[k, rule[i]] for i in range(3) for k in range(3))

    best = min(product(range(3), repeat=3), key=price)
    assert tuple(chosen) == best


def test_predict_with_costs_is_the_cheapest_decision(clf):
    P = clf.predict_proba(X)
    expected = clf.classes_[[min(range(3), key=lambda a: p @ COSTS[:, a]) for p in P]]
    assert_array_equal(decide.predict(clf, X, costs=COSTS), expected)
    assert (expected != clf.predict(X)).any()
    assert_array_equal(decide.predict(clf, X, costs=1 - np.eye(3)), clf.predict(X))
    assert_array_equal(
        decide.predict(clf, X, costs=7 - 3 * np.eye(3)), clf.predict(X)
    )  # shifts and factors change nothing
    assert_array_equal(
        decide.predict(sb.keep_rounds(clf, 3), X, costs=COSTS), cheap(clf, sb.keep_rounds(clf, 3).predict_proba(X))
    )


def cheap(clf, P):
    """The cheapest labels."""
    return clf.classes_[(P @ COSTS).argmin(axis=1)]


def test_costs_of_single_rows(clf):
    """The amount of every row is lost if its class is missed; and what a decision costs whatever the class."""
    amount, handling = rng().uniform(1, 100, (150, 3)), rng(1).uniform(0, 5, (150, 3))
    tensor = amount[:, :, None] * (1 - np.eye(3)) + handling[:, None, :]
    P = clf.predict_proba(X)
    expected = [
        min(range(3), key=lambda a: sum(P[i, k] * amount[i, k] for k in range(3) if k != a) + handling[i, a])
        for i in range(150)
    ]
    assert_array_equal(decide.predict(clf, X, costs=tensor), clf.classes_[expected])
    assert_array_equal(decide.predict(clf, X, costs=np.tile(COSTS, (150, 1, 1))), decide.predict(clf, X, costs=COSTS))


def test_a_data_frame_names_classes_and_decisions(clf):
    order = [2, 0, 1]
    frame = pd.DataFrame(COSTS[order], index=clf.classes_[order], columns=clf.classes_)
    assert_array_equal(decide.predict(clf, X, costs=frame), decide.predict(clf, X, costs=COSTS))
    ask = frame.assign(ask=0.1)[["ask", "virginica", "setosa", "versicolor"]]
    E = decide.expected_costs(clf, X, ask)
    assert_array_equal(decide.predict(clf, X, costs=ask), np.array(ask.columns)[E.argmin(axis=1)])
    assert "ask" in decide.predict(clf, X, costs=ask)
    numbers = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, C)
    assert decide.predict(numbers, X, costs=pd.DataFrame(COSTS)).dtype.kind == "i"


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.zeros((2, 3)), r"costs has shape \(2, 3\)"),
        (np.zeros(3), r"costs has shape \(3,\)"),
        (np.zeros((150, 3)), "What a row costs whatever its class"),
        (np.zeros((149, 3, 3)), "a matrix for every row"),
        (np.zeros((150, 2, 3)), "a matrix for every row"),
        (np.full((3, 3), np.nan), "not finite"),
        (np.full((3, 3), np.inf), "not finite"),
        ("cheap", "costs must hold numbers"),
        (np.full((3, 3), None), "not finite"),
        ([[1j] * 3] * 3, "costs must hold numbers"),
        (np.zeros((3, 4)), "nothing says what they are called"),
        (np.zeros((3, 0)), r"costs has shape \(3, 0\)"),
        (np.zeros((150, 3, 0)), r"costs has shape \(150, 3, 0\)"),
        (pd.DataFrame(index=["setosa", "versicolor", "virginica"]), "costs has no columns"),
        (pd.DataFrame(COSTS, index=["setosa", "versicolor", "rose"]), "also for .'virginica'."),
        (pd.DataFrame([["a"] * 3] * 3, index=["setosa", "versicolor", "virginica"]), "costs must hold numbers"),
    ],
)
def test_wrong_costs_are_refused(clf, costs, words):
    with pytest.raises((ValueError, TypeError), match=words):
        decide.predict(clf, X, costs=costs)


def test_expected_costs_need_costs(clf):
    with pytest.raises(TypeError, match="costs must hold numbers: they are None"):
        decide.expected_costs(clf, X, None)


def test_costs_in_the_loss_and_at_prediction_go_together():
    """Probabilities are mended for costs in the loss, so that costs at prediction are not counted twice."""
    model = sb.SimplexBoostClassifier(
        n_estimators=15, loss=Logistic(cost_matrix=COSTS + np.eye(3)), random_state=0
    ).fit(X, Y)
    assert_array_equal(decide.predict(model, X, costs=COSTS), cheap(model, model.predict_proba(X)))


# ---- what decisions have cost ---------------------------------------------------------------------------------------


def test_the_mean_cost_is_counted_row_by_row(clf):
    decided, weight = decide.predict(clf, X, costs=COSTS), rng().uniform(1, 2, 150)
    paid = [COSTS[c, clf.classes_.tolist().index(label)] for c, label in zip(C, decided, strict=True)]
    assert mean_cost(Y, decided, COSTS, clf.classes_) == pytest.approx(np.mean(paid))
    assert mean_cost(Y, decided, COSTS, clf.classes_, weight) == pytest.approx(np.average(paid, weights=weight))
    tensor = rng(1).random((150, 3, 3))
    own = tensor[np.arange(150), C, np.searchsorted(clf.classes_, decided)]
    assert mean_cost(Y, decided, tensor, clf.classes_) == pytest.approx(own.mean())
    frame = pd.DataFrame({"ask": [1.0, 2.0, 3.0]}, index=clf.classes_)
    assert mean_cost(Y, np.full(150, "ask"), frame, clf.classes_) == pytest.approx(2.0)
    with pytest.raises(ValueError, match=r"decisions holds 'rose', which is none of the decisions of costs"):
        mean_cost(Y, np.full(150, "rose"), COSTS, clf.classes_)
    with pytest.raises(ValueError, match="one label per row"):
        mean_cost(Y, decided[:5], COSTS, clf.classes_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sample_weight": [0, 0]}, "weight"),
        ({"sample_weight": [1]}, "sample_weight"),
        ({"sample_weight": [np.nan, 1]}, "sample_weight"),
        ({"sample_weight": [-1, 2]}, "sample_weight"),
        ({"y_true": [], "decisions": []}, r"y_true has shape \(0,\)"),
        ({"y_true": "a", "decisions": "a"}, r"y_true has shape \(\)"),
        ({"classes": ["a", "a", "b"]}, "classes=.* must hold different labels"),
        ({"costs": np.ma.masked_equal(COSTS, 0)}, "costs has masked entries"),
        ({"costs": pd.DataFrame(index=list("abc"))}, "costs has no columns"),
        ({"costs": pd.DataFrame(COSTS, index=list("abc"), columns=list("aab"))}, "columns .* one for every decision"),
        ({"costs": np.zeros((2, 3, 0))}, r"costs has shape \(2, 3, 0\)"),
    ],
)
def test_what_cannot_be_counted_is_refused(change, words):
    given = {"y_true": ["a", "b"], "decisions": ["b", "b"], "costs": COSTS, "classes": ["a", "b", "c"]} | change
    with pytest.raises(ValueError, match=words):
        mean_cost(**given)


def test_weights_need_labels_of_rows():
    for y in (0, [[0, 1]], []):
        with pytest.raises(ValueError, match=r"y has shape .* one label per row"):
            cost_weights(y, COSTS, [0, 1, 2])


def test_cheapest_decisions_are_cheap_on_fresh_rows():
    draw = rng(5)
    A = draw.normal(size=(6000, 3))
    y = np.digitize(A[:, 0] + 0.5 * draw.normal(size=6000), [-0.5, 0.5])
    model = sb.SimplexBoostClassifier(n_estimators=60, calibration=True, random_state=0).fit(A[:2000], y[:2000])
    plain, cheap_ones = model.predict(A[2000:]), decide.predict(model, A[2000:], costs=COSTS)
    paid = [mean_cost(y[2000:], decisions, COSTS, model.classes_) for decisions in (plain, cheap_ones)]
    assert paid[1] < 0.9 * paid[0]
    assert paid[1] == pytest.approx(decide.expected_costs(model, A[2000:], COSTS).min(axis=1).mean(), rel=0.25)


def test_the_scorer_serves_searches_pipelines_and_other_libraries():
    frame = pd.DataFrame(COSTS, index=np.unique(Y), columns=np.unique(Y))
    pipe = make_pipeline(StandardScaler(), sb.SimplexBoostClassifier(n_estimators=5, random_state=0))
    for model in (pipe, GaussianNB()):
        for costs in (COSTS, COSTS.tolist(), frame):
            fitted = clone(model).fit(X, Y)
            P = fitted.predict_proba(X)
            paid = COSTS[C, (P @ COSTS).argmin(axis=1)]
            assert cost_scorer(costs)(fitted, X, Y) == pytest.approx(-paid.mean())
            weight = rng().uniform(size=150)
            assert cost_scorer(costs)(fitted, X, Y, weight) == pytest.approx(-np.average(paid, weights=weight))
    assert cross_val_score(pipe, X, Y, scoring=cost_scorer(COSTS), cv=3).shape == (3,)
    grid = {"simplexboostclassifier__max_leaf_nodes": [2, 4]}
    assert (
        GridSearchCV(pipe, grid, scoring=pickle.loads(pickle.dumps(cost_scorer(frame))), cv=3).fit(X, Y).best_score_
        <= 0
    )
    lacking = GaussianNB().fit(X[:100], Y[:100])  # it does not know the third class, whose rows cost something
    assert cost_scorer(frame)(lacking, X[100:], Y[100:]) == pytest.approx(-np.mean(
        [COSTS[2, k] for k in (lacking.predict_proba(X[100:]) @ COSTS[:2]).argmin(axis=1)]))  # fmt: skip


def test_a_pipeline_passes_costs_on():
    pipe = make_pipeline(StandardScaler(), sb.SimplexBoostClassifier(n_estimators=5, random_state=0)).fit(X, Y)
    assert_array_equal(decide.predict(pipe, X, costs=COSTS), cheap(pipe[-1], pipe.predict_proba(X)))


# ---- weights --------------------------------------------------------------------------------------------------------


def test_rows_count_by_the_mean_cost_of_their_mistakes():
    expected = [np.mean([COSTS[c, k] for k in range(3) if k != c]) for c in C]
    assert_allclose(cost_weights(Y, COSTS, np.unique(Y)), expected)
    tensor = rng().random((150, 3, 3)) + 1 - np.eye(3)
    expected = [np.mean([t[c, k] for k in range(3) if k != c]) - t[c, c] for t, c in zip(tensor, C, strict=True)]
    assert_allclose(cost_weights(Y, tensor, np.unique(Y)), expected)
    frame = pd.DataFrame(COSTS, index=np.unique(Y), columns=np.unique(Y))[["virginica", "setosa", "versicolor"]]
    assert_allclose(cost_weights(Y, frame, np.unique(Y)), cost_weights(Y, COSTS, np.unique(Y)))
    with pytest.raises(ValueError, match="dearer"):
        cost_weights(Y, np.eye(3), np.unique(Y))
    with pytest.raises(ValueError, match="classes as its decisions"):
        cost_weights(Y, frame[["virginica"]], np.unique(Y))


def test_weights_of_two_classes_move_the_threshold():
    """Weighted by costs, the most probable class is the cheapest decision: the two rules agree on most rows."""
    draw = rng()
    A = draw.normal(size=(4000, 2))
    y = (draw.random(4000) < 1 / (1 + np.exp(-2 * A[:, 0]))).astype(int)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    plain = sb.SimplexBoostClassifier(n_estimators=30, max_leaf_nodes=8, random_state=0).fit(A[:2000], y[:2000])
    weighted = clone(plain).fit(A[:2000], y[:2000], cost_weights(y[:2000], costs, [0, 1]))
    agree = decide.predict(plain, A[2000:], costs=costs) == weighted.predict(A[2000:])
    assert agree.mean() > 0.93 > 0.8 > (plain.predict(A[2000:]) == weighted.predict(A[2000:])).mean()


# ---- priors ---------------------------------------------------------------------------------------------------------


def test_training_shares_are_those_of_the_weights():
    weight = rng().uniform(0.5, 2, 150)
    model = sb.SimplexBoostClassifier(n_estimators=2, class_weight={"setosa": 3, "versicolor": 1, "virginica": 1})
    prior = model.fit(X, Y, weight).class_prior_
    total = np.bincount(C, weight * np.array([3, 1, 1])[C])
    assert_allclose(prior, total / total.sum(), atol=1e-6)
    absent = sb.SimplexBoostClassifier(n_estimators=2, classes=["rose", *np.unique(Y)]).fit(X, Y)
    assert_allclose(absent.class_prior_, [0, 1 / 3, 1 / 3, 1 / 3])


def test_probabilities_for_another_prior_are_those_of_bayes(clf):
    """p(k | x) ∝ p(x | k) prior(k), where p(x | k) ∝ p(k | x) / share of k in training."""
    prior = np.array([0.2, 0.7, 0.1])
    expected = clf.predict_proba(X) * prior / clf.class_prior_
    expected /= expected.sum(axis=1, keepdims=True)
    for given in (
        prior,
        10 * prior,
        1e308 * prior / prior.max(),
        1e-307 * prior,
        dict(zip(clf.classes_.tolist(), prior.tolist(), strict=True)),
    ):
        assert_allclose(decide.predict_proba(clf, X, prior=given), expected, atol=1e-12)
    assert_array_equal(decide.predict(clf, X, prior=prior), clf.classes_[expected.argmax(axis=1)])
    assert_array_equal(decide.predict(clf, X, costs=COSTS, prior=prior), cheap(clf, expected))
    assert_allclose(decide.expected_costs(clf, X, COSTS, prior=prior), expected @ COSTS)
    assert_allclose(decide.predict_proba(clf, X, prior=clf.class_prior_), clf.predict_proba(X), atol=1e-12)
    assert not decide.predict_proba(clf, X, prior=[1, 0, 1])[:, 1].any()


def test_a_series_of_shares_is_read_by_its_index(clf):
    """As ``value_counts`` gives it, whose order is that of the counts; an index without the labels is refused."""
    shares = pd.Series([0.7, 0.2, 0.1], index=["virginica", "setosa", "versicolor"])
    assert_array_equal(decide.predict_proba(clf, X, prior=shares), decide.predict_proba(clf, X, prior=[0.2, 0.1, 0.7]))
    for wrong, words in (
        (pd.Series([0.7, 0.2, 0.1]), "it has none for"),
        (pd.Series([1, 1, 1], index=["setosa", "setosa", "virginica"]), "a label twice"),
    ):
        with pytest.raises(ValueError, match=words):
            decide.predict_proba(clf, X, prior=wrong)
    with pytest.raises(TypeError, match="prior must hold a share for every class"):
        decide.predict(clf, X, prior=np.ma.masked_equal([1, 2, 3], 2))


def test_shares_of_very_light_rows_are_exact():
    weight = np.where(C == 0, 1.5e-6, 1.0)
    prior = sb.SimplexBoostClassifier(n_estimators=2).fit(X, Y, weight).class_prior_
    assert_allclose(prior, np.bincount(C, weight) / weight.sum(), rtol=1e-5)


def test_a_prior_does_not_undo_costs_of_training():
    """Scores have the costs of ``cost_matrix`` in them, probabilities do not: prior alone would drop them unsaid."""
    model = sb.SimplexBoostClassifier(n_estimators=5, loss=Logistic(cost_matrix=COSTS + np.eye(3)), random_state=0).fit(
        X, Y
    )
    with pytest.raises(ValueError, match="prior= decides by probabilities, which leave out the cost_matrix"):
        decide.predict(model, X, prior=[1, 1, 1])
    P = decide.predict_proba(model, X, prior=[1, 2, 3])
    assert_array_equal(decide.predict(model, X, prior=[1, 2, 3], costs=COSTS), cheap(model, P))


def test_tiny_probabilities_survive_a_change_of_the_prior():
    P = np.array([[1.0, 1e-300], [1.0, 1e-308]])
    found = adapt_proba(P, np.array([1e-300, 1.0]), np.array([0.5, 0.5]))
    assert np.isfinite(found).all() and found[0].tolist() == pytest.approx([0.5, 0.5])
    assert adapt_proba(P, np.array([0.0, 1.0]), np.array([0.5, 0.5])).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.5, 0.5], r"prior has shape \(2,\)"),
        ([-1, 1, 1], "not negative"),
        ([0, 0, 0], "not all zero"),
        ([np.nan, 1, 1], "finite"),
        ("flat", "prior must hold a share"),
        ({"setosa": 1}, r"it has none for \['versicolor', 'virginica'\]"),
        ({"setosa": 1, "versicolor": 1, "virginica": 1, "rose": 1}, r"\['rose'\] are no classes"),
    ],
)
def test_wrong_priors_are_refused(clf, prior, words):
    for ask in (decide.predict, decide.predict_proba):
        with pytest.raises((ValueError, TypeError), match=words):
            ask(clf, X, prior=prior)


def test_classes_without_examples_have_no_share():
    with pytest.raises(ValueError, match=r"prior has a share for \['b'\]"):
        check_prior([0.5, 0.5], np.array(["a", "b"]), np.array([True, False]))
    assert_array_equal(check_prior([2, 0], np.array(["a", "b"]), np.array([True, False])), [1, 0])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "added"), [(200, 200**0.5), (12, 4)])
def test_the_estimate_of_the_prior_is_the_most_likely_one(seed, n, added):
    """Against a general optimiser of Σ log Σ_k prior_k p_k / training_k, with more rows that are as in training.

    There is one of them for every class, or √n, if that is more.
    """
    draw = rng(seed)
    training = draw.dirichlet(np.ones(4))
    P = draw.dirichlet(np.full(4, 0.4), n)

    def loss(z):
        prior = np.exp(z - z.max())
        prior /= prior.sum()
        return -(np.log((P / training) @ prior).sum() + added * training @ np.log(prior)) / n

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    found = fit_prior(P, training)
    assert found.sum() == pytest.approx(1) and (found > 0).all()
    assert loss(np.log(found)) == pytest.approx(best.fun, abs=1e-7)


def test_the_estimate_does_not_depend_on_the_order_of_the_rows():
    P, order = rng().dirichlet(np.ones(7), 500), rng(1).permutation(500)
    assert_array_equal(fit_prior(P[order], np.full(7, 1 / 7)), fit_prior(P, np.full(7, 1 / 7)))


def test_few_rows_hardly_move_the_prior():
    """One row for each of ten classes says nothing about shares, even if all look like the first class."""
    P = np.full((10, 10), 0.01)
    P[:, 0] = 0.91
    assert fit_prior(P, np.full(10, 0.1))[0] < 0.6


def test_known_distributions_give_back_their_shares():
    """Two normal distributions, whose posteriors are known: EM finds the shares within three standard errors."""
    draw = rng()
    n, shares = 20_000, np.array([0.9, 0.1])
    c = draw.choice(2, n, p=shares)
    x = draw.normal(size=n) + 2 * c
    odds = np.exp(2 * x - 2)  # of the second class, if both were equally frequent
    P = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)
    assert_allclose(fit_prior(P, np.array([0.5, 0.5])), shares, atol=3 * np.sqrt(0.09 / n) * 2)


def test_a_shift_of_the_shares_is_found_and_mended():
    draw = rng(3)
    A = draw.normal(size=(6000, 3))
    y = (np.abs(A[:, 0]) + 0.3 * draw.normal(size=6000) > 1).astype(int)
    model = sb.SimplexBoostClassifier(n_estimators=40, calibration=True, random_state=0).fit(A[:3000], y[:3000])
    later = np.arange(3000, 6000)
    kept = np.concatenate([later[y[later] == 1], later[y[later] == 0][:200]])  # most rows are of the second class
    share = (y[kept] == 1).mean()
    prior = decide.estimate_prior(model, A[kept])
    assert abs(prior[1] - share) < 0.04 < abs(model.class_prior_[1] - share)
    assert (decide.predict(model, A[kept], prior=prior) == y[kept]).mean() > model.score(A[kept], y[kept])


def test_frames_with_categories_are_read_once():
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 2] > 3, "long", "short"))})
    model = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(frame, Y)
    P = model.predict_proba(frame)
    assert_array_equal(decide.predict(model, frame, costs=COSTS), cheap(model, P))
    assert_allclose(decide.predict_proba(model, frame, prior=model.class_prior_), P, atol=1e-12)
    assert_allclose(decide.estimate_prior(model, frame), fit_prior(P, model.class_prior_))


# ---- files, Dask, refusals ------------------------------------------------------------------------------------------


def test_shares_are_kept_in_files(clf):
    stream = io.BytesIO()
    clf.save(stream)
    stream.seek(0)
    again = sb.load(stream)
    assert_array_equal(decide.predict_proba(again, X, prior=[1, 2, 3]), decide.predict_proba(clf, X, prior=[1, 2, 3]))
    header, arrays = clf._pack()
    for prior in (np.array([0.5, 0.5]), np.array([0.0, 0.5, 0.5]), np.array([1.0, 1.0, 1.0]), np.array([np.nan, 1, 0])):
        with pytest.raises(sb.ModelFileError, match="damaged"):
            clone(clf).fit(X, Y)._unpack(header | {"n_features_in": 4}, arrays | {"prior": prior})
    del arrays["prior"]
    with pytest.raises(sb.ModelFileError, match="array 'prior' is missing"):
        clone(clf).fit(X, Y)._unpack(header | {"n_features_in": 4}, arrays)


def test_several_labels_have_neither_costs_nor_priors():
    model = sb.AdaBoostMHClassifier(n_estimators=3).fit(X, np.eye(3, dtype=int)[C])
    assert model.class_prior_ is None
    for ask in (
        lambda: decide.predict(model, X, costs=COSTS),
        lambda: decide.predict(model, X, prior=[1, 1, 1]),
        lambda: decide.predict_proba(model, X, prior=[1, 1, 1]),
        lambda: decide.expected_costs(model, X, COSTS),
        lambda: decide.estimate_prior(model, X),
    ):
        with pytest.raises(ValueError, match="fitted to several labels"):
            ask()


@pytest.mark.parametrize("make", [sb.GDMCBoostClassifier, sb.AdaBoostMMClassifier, sb.SoftmaxBoostClassifier])
def test_other_boosters_decide_by_cost(make):
    model = make(n_estimators=5).fit(X, Y)
    assert_array_equal(decide.predict(model, X, costs=COSTS), cheap(model, model.predict_proba(X)))
    assert_allclose(model.class_prior_, 1 / 3)


def test_initial_scores_count():
    start = rng().normal(size=(150, 3))
    model = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, Y, init_score=start)
    P = model.predict_proba(X, init_score=start)
    assert_array_equal(decide.predict(model, X, costs=COSTS, init_score=start), cheap(model, P))
    assert_allclose(decide.predict_proba(model, X, init_score=start, prior=model.class_prior_), P, atol=1e-12)


def test_costs_and_priors_on_dask():
    da, dd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe"))
    from dask_clusters import some_workers

    from simplexboost.distributed.dask import DaskSimplexBoostClassifier

    weight = rng().uniform(0.5, 2, 150)
    with some_workers(2, processes=False) as (_, client):
        there = [da.from_array(a, chunks=(40, -1)[: a.ndim]) for a in (X, Y, weight)]
        model = DaskSimplexBoostClassifier(n_estimators=5, random_state=0).fit(*there, client=client)
        local = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, Y, weight)
        assert_array_equal(model.class_prior_, local.class_prior_)
        prior = [1, 2, 3]
        assert_array_equal(decide.predict(model, there[0], costs=COSTS), decide.predict(local, X, costs=COSTS))
        assert_array_equal(
            decide.predict_proba(model, there[0], prior=prior), decide.predict_proba(local, X, prior=prior)
        )
        ask = pd.DataFrame(COSTS, index=local.classes_, columns=local.classes_).assign(ask=0.1)
        frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
        lazy = decide.expected_costs(model, frame, ask)
        assert list(lazy.columns) == [*local.classes_, "ask"]
        assert_array_equal(lazy.compute(), decide.expected_costs(local, X, ask))
        assert_array_equal(decide.predict(model, frame, costs=ask).compute(), decide.predict(local, X, costs=ask))
        assert list(decide.expected_costs(model, frame, COSTS[:, :2]).columns) == [0, 1]
        with pytest.raises(ValueError, match="costs has shape"):
            decide.predict(model, frame, costs=COSTS[:2])
        with pytest.raises(ValueError, match="need rows in memory"):
            decide.predict(model, frame, costs=np.zeros((150, 3, 3)))
        with pytest.raises(TypeError, match="takes rows in memory, not a DataFrame"):
            decide.estimate_prior(model, frame)
        assert_array_equal(decide.estimate_prior(model, X), decide.estimate_prior(local, X))
