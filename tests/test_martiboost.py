"""MartiBoost: against the textbook, the two-sided accuracies, the bound, and what only a random program has."""

import numpy as np
import pytest
from cases import blobs
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from textbook_martiboost import probability, right_turns, train

import simplexboost as sb
from simplexboost import MartiBoostClassifier
from simplexboost.datasets import make_long_servedio
from simplexboost.theory.martiboost import balance_sides


@parametrize_with_checks([MartiBoostClassifier(n_layers=20), MartiBoostClassifier(n_layers=5, learner="vector-tree")])
def test_sklearn_checks(estimator, check):
    check(estimator)


def problem(seed, n=60, p=3):
    X, y = blobs(n, p, 2, seed)
    return X, y, np.random.default_rng(seed + 1).uniform(0.5, 1.5, n)


@pytest.mark.parametrize("options", [{}, {"learner": "vector-tree"}])
def test_weights_are_repetitions(options):
    """Rows weigh random numbers, so that no two choices are equally good: rounding errors would decide between them."""
    X, y, w = problem(5)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = MartiBoostClassifier(n_layers=5, **options).fit(X, y, sample_weight=times * w)
    repeated = MartiBoostClassifier(n_layers=5, **options).fit(X[rows], y[rows], sample_weight=w[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize(("seed", "n_layers"), [(0, 10), (1, 10), (2, 11)])
def test_textbook(seed, n_layers):
    """Every node, on new rows too, and the probabilities at the end."""
    X, y, w = problem(seed)
    X_new = np.random.default_rng(9).normal(size=(40, 3))
    program = train(X, y, w, n_layers)
    clf = MartiBoostClassifier(n_layers=n_layers).fit(X, y, sample_weight=w)
    both = np.concatenate([X, X_new])
    for layer, turn in enumerate(clf.program_.turns(both)):
        expected = np.column_stack([right_turns(program[layer, v], both) for v in range(layer + 1)])
        np.testing.assert_allclose(turn, expected, atol=1e-9)
    P = clf.predict_proba(both)
    np.testing.assert_allclose(P[:, 1], probability(program, both, n_layers), atol=1e-9)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.predict(both), P.argmax(axis=1))
    wrong = np.where(y == 1, P[:60, 0], P[:60, 1])
    np.testing.assert_allclose(clf.history_["error"][-1], w @ wrong / w.sum())


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_two_sided_learner_says_right_half_the_time(p):
    left, right = balance_sides(p)
    assert p * (right + 0.5) + (1 - p) * (left + 0.5) == pytest.approx(0.5)
    assert -0.5 <= left <= 0.5 and -0.5 <= right <= 0.5


def test_two_sided_accuracies():
    """Both classes leave a node their way with probability a/(a+b), or (1−b)/(2−a−b)."""
    for seed in range(8):
        X, y, w = problem(seed)
        clf = MartiBoostClassifier(n_layers=1).fit(X, y, sample_weight=w)
        right = next(clf.program_.turns(X))[:, 0]
        says = right > right.min()
        a, b = (np.average(says[y == k], weights=w[y == k]) for k in (1, 0))
        expected = a / (a + b) if (a + b) / 2 > 0.5 else (1 - b) / (2 - a - b)
        assert np.average(right[y == 1], weights=w[y == 1]) == pytest.approx(expected)
        assert np.average(1 - right[y == 0], weights=w[y == 0]) == pytest.approx(expected)
        assert clf.history_["edge"][0] == pytest.approx(2 * expected - 1)


@pytest.mark.parametrize("routing", ["exact", "sampled"])
def test_bound_holds(routing):
    """On 50 random problems, after every layer; and it means something on the easy ones."""
    lowest = 1.0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, y = blobs(int(rng.integers(20, 80)), 3, 2, seed)
        if seed % 5 == 0:
            y[rng.random(len(y)) < 0.2] ^= 1
        if seed % 5 == 1:
            X[:, 0] = y + 0.01 * rng.normal(size=len(y))
        clf = MartiBoostClassifier(n_layers=12, routing=routing, random_state=seed).fit(X, y)
        assert (clf.history_["error"] <= clf.history_["bound"] + 1e-12).all()
        lowest = min(lowest, clf.history_["bound"][-1])
    assert lowest < 0.01


def test_random_paths_have_the_probabilities():
    """The mean of many random answers is the exact probability."""
    X, y, w = problem(3)
    clf = MartiBoostClassifier(n_layers=8, random_state=0).fit(X, y, sample_weight=w)
    draws = np.mean([clf.predict_random(X, random_state=seed) for seed in range(2000)], axis=0)
    P = clf.predict_proba(X)[:, 1]
    assert (np.abs(draws - P) < 5 * np.sqrt(P * (1 - P) / 2000) + 1e-9).all()
    np.testing.assert_array_equal(clf.predict_random(X, random_state=5), clf.predict_random(X, random_state=5))


def test_sampled_routing_comes_near_the_exact_one():
    """Long–Servedio data have many equal rows, so that the law of large numbers helps."""
    data = make_long_servedio(4000, 1000, random_state=0)
    exact, sampled = (
        MartiBoostClassifier(n_layers=5, routing=routing, random_state=0).fit(data.X_train, data.y_train)
        for routing in ("exact", "sampled")
    )
    assert abs(exact.history_["edge"] - sampled.history_["edge"]).max() < 0.05
    other = clone(sampled).set_params(random_state=1).fit(data.X_train, data.y_train)
    assert not np.array_equal(other.predict_proba(data.X_test), sampled.predict_proba(data.X_test))


def test_tolerates_noise():
    """With a fifth of the labels flipped the error stays well below the noise (Geist, figure 7)."""
    data = make_long_servedio(2000, 2000, label_noise=0.2, random_state=0)
    clf = MartiBoostClassifier(n_layers=60).fit(data.X_train, data.y_train)
    assert 1 - clf.score(data.X_test, data.y_test) < 0.15
    assert np.mean(clf.predict_random(data.X_test, 0) != data.y_test) < 0.2


@pytest.mark.parametrize(
    "learner", ["vector-tree", "linear", DecisionTreeClassifier(max_depth=2), LogisticRegression()]
)
def test_other_learners(learner):
    X, y, w = problem(0)
    clf = MartiBoostClassifier(n_layers=10, learner=learner, random_state=0).fit(X, y, sample_weight=w)
    assert clf.score(X, y) > 0.75 and (clf.history_["error"] <= clf.history_["bound"] + 1e-12).all()


def test_pure_node_goes_its_way():
    """Separable data: after the first layer every node has one class, and all of it goes on the same way."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    clf = MartiBoostClassifier(n_layers=4).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), np.eye(2)[y])
    assert clf.history_["learners"].tolist() == [1, 2, 2, 2] and clf.history_["error"].tolist() == [0.0] * 4


def test_save_and_load(tmp_path):
    X, y, w = problem(1)
    names = np.array(["no", "yes"])
    clf = MartiBoostClassifier(n_layers=6, random_state=3).fit(X, names[y], sample_weight=w)
    clf.save(tmp_path / "marti.sb")
    again = sb.load(tmp_path / "marti.sb")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(again.predict_random(X, 0), clf.predict_random(X, 0))
    assert again.n_iter_ == again.program_.n_layers == 6
    assert all((again.history_[name] == clf.history_[name]).all() for name in clf.history_)
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "marti.sb").read_bytes()
    assert again.get_params() == clf.get_params() and set(again.predict(X)) == {"no", "yes"}


def test_it_has_what_its_kind_has_and_no_more():
    """A program is no sum: no codewords, no loss, no classes that may be absent."""
    X, y, _ = problem(0)
    clf = MartiBoostClassifier(n_layers=3).fit(X, y)
    fitted = {name for name in vars(clf) if name.endswith("_")}
    columns = {"n_features_in_", "feature_kinds_", "categories_"}
    assert fitted == {"classes_", "program_", "history_", "n_iter_"} | columns
    assert [len(layer) for layer in clf.program_.layers()] == clf.history_["learners"].tolist()


def test_margins():
    X, y, _ = problem(0)
    clf = MartiBoostClassifier(n_layers=5).fit(X, y)
    P = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.class_scores(X), P)
    np.testing.assert_allclose(sb.evaluate.margins(clf, X, y), np.where(y == 1, 1, -1) * (P[:, 1] - P[:, 0]))
    np.testing.assert_array_equal(clf.decision_function(X), P[:, 1] - P[:, 0])
    with pytest.raises(ValueError, match="y holds 2, which is none of the classes; these are 0, 1"):
        sb.evaluate.margins(clf, X, y + 1)


@pytest.mark.parametrize("learner", ["linear", DecisionTreeClassifier(max_depth=2)])
def test_only_trees_are_saved(learner, tmp_path):
    X, y, _ = problem(0)
    with pytest.raises(TypeError, match="files hold trees"):
        MartiBoostClassifier(n_layers=3, learner=learner).fit(X, y).save(tmp_path / "m.sb")


def test_threads_do_not_matter():
    X, y, w = problem(1, n=300)
    one, two = (MartiBoostClassifier(n_layers=6, n_jobs=k).fit(X, y, sample_weight=w) for k in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_layers": 0}, "n_layers=0 is out of range"),
        ({"routing": "soft"}, "routing='soft' is unknown; choose one of 'exact', 'sampled'"),
        ({"learner": "stumpp"}, "learner='stumpp' is unknown"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y, _ = problem(0)
    with pytest.raises(ValueError, match=message):
        MartiBoostClassifier(**parameters).fit(X, y)


def test_more_than_two_classes():
    X, y = blobs(30, 2, 3)
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*y has 3 classes"):
        MartiBoostClassifier().fit(X, y)


def test_one_class_only():
    """There is no parameter ``classes``, so the message advises none."""
    X, y, _ = problem(0)
    with pytest.raises(ValueError, match=r"one class only.*needs at least two classes\.$"):
        MartiBoostClassifier().fit(X, np.zeros_like(y))
