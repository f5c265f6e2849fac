"""What boosters say about themselves besides Shapley values: trees, importances, dependence, examples; and `shap`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from cases import BOOSTERS, blobs, each
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence

import simplexboost as sb
from simplexboost.explain.dependence import mean_through_trees as through_trees
from simplexboost.explain.explained_classes import node_outputs

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def mixed():
    """A classifier on numbers with holes and on categories, and its table."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=240),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], 240)),
            "age": np.where(rng.random(240) < 0.2, np.nan, rng.normal(size=240)),
        }
    )
    y = np.array(["cat", "dog", "owl"])[(X["size"] > 0).astype(int) + ((X["colour"] == "red") & (X["age"] > 0))]
    return sb.SimplexBoostClassifier(n_estimators=8, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def numeric():
    X, c = blobs(200, 4, 3, missing=0.1)
    return sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, c), X, c


# ---- trees ----------------------------------------------------------------------------------------------------------


def test_leaves_give_the_predictor(numeric):
    clf, X, _ = numeric
    leaves = clf.apply(X)
    assert leaves.shape == (200, 10) and leaves.dtype == np.int32
    terms = clf.model_.terms
    F = sum(t.step * t.hypothesis.values[leaves[:, i]] for i, t in enumerate(terms))
    np.testing.assert_allclose(F, 2 * clf.class_scores(X), atol=1e-5)
    assert np.array_equal(clf.apply(csr_array(np.nan_to_num(X))), clf.apply(np.nan_to_num(X)))


def test_the_frame_has_a_row_per_node(mixed):
    clf, X, _ = mixed
    frame = sb.explain.trees_to_frame(clf)
    assert len(frame) == sum(len(tree.nodes) for tree in clf.model_.trees)
    assert (frame["tree_index"] == frame["round"]).all()
    roots = frame[frame["parent_index"].isna()]
    assert len(roots) == 8 and (roots["count"] == len(X)).all() and (roots["node_depth"] == 1).all()
    children = frame.set_index("node_index")["count"]
    inner = frame[frame["split_feature"].notna()]
    assert (
        inner["count"].to_numpy()
        == children[inner["left_child"]].to_numpy() + children[inner["right_child"]].to_numpy()
    ).all()
    sets = frame["categories"].dropna()
    assert len(sets) and {name for names in sets for name in names} <= {"red", "green", "blue"}
    assert set(frame["decision_type"].dropna()) == {"<=", "in"}
    assert set(frame["best_class"]) <= set(clf.classes_)


def test_the_value_of_a_root_is_what_is_expected(numeric):
    clf, _, _ = numeric
    frame = sb.explain.trees_to_frame(clf)
    roots = frame[frame["parent_index"].isna()]
    M = np.eye(3)
    means = np.array([node_outputs(term, M, np.float32)[0] for term in clf.model_.scaled_terms])
    np.testing.assert_allclose(roots["value"], means.max(axis=1))
    np.testing.assert_allclose(means.sum(axis=0), sb.explain.expected_value(clf), atol=1e-6)


def test_a_tree_as_text(mixed):
    clf, _, _ = mixed
    text = sb.explain.tree_text(clf, 0)
    tree = clf.model_.trees[0]
    assert text.startswith(f"tree 0 (round 0, {tree.n_leaves} leaves)\n|--- ")
    assert text.count("leaf ") == tree.n_leaves
    assert "or missing" in text and ("size <= " in text or "colour in {" in text)
    assert sb.explain.tree_text(clf, -1).startswith("tree 7 ")
    assert "cat" not in sb.explain.tree_text(clf, 0, n_classes=0).replace("category", "")
    with pytest.raises(ValueError, match=r"i=8 is out of range; it must be an integer in \[-8, 7\]"):
        sb.explain.tree_text(clf, 8)


@each("booster", BOOSTERS)
def test_every_booster_shows_its_trees(booster):
    X, c = blobs(60, 3, 3)
    clf = booster(n_estimators=3).fit(X, c)
    assert "leaf 0" in sb.explain.tree_text(clf, 0)
    assert len(sb.explain.trees_to_frame(clf)) == sum(len(tree.nodes) for tree in clf.model_.trees)


# ---- importances ----------------------------------------------------------------------------------------------------


def test_importances_overall(numeric):
    clf, X, _ = numeric
    trees = clf.model_.trees
    assert np.array_equal(sb.explain.importances(clf), clf.feature_importances_)
    assert sb.explain.importances(clf, "splits").sum() == sum(tree.n_leaves - 1 for tree in trees)
    inner = [(tree.nodes["feature"], tree.count) for tree in trees]
    assert sb.explain.importances(clf, "cover")[2] == sum(count[feature == 2].sum() for feature, count in inner)
    np.testing.assert_allclose(
        sb.explain.importances(clf, "shap", X), np.abs(sb.explain.shap_values(clf, X)).mean(axis=(0, 2))
    )


def test_importances_of_classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 1, 2, (X[:, 1] > 0).astype(int))  # class 2 is a matter of feature 0 alone
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    for gains in (
        sb.explain.importances(clf, "gain", classes=[0, 2]),
        sb.explain.importances(clf, "shap", X, classes=[0, 2]),
    ):
        assert gains.shape == (3, 2)
        assert gains[0, 1] > gains[1:, 1].sum() and gains[1, 0] > gains[2, 0]
    np.testing.assert_allclose(sb.explain.importances(clf, "gain", classes=[0, 1, 2]).sum(axis=0), 1.0)
    assert sb.explain.importances(clf, "gain", classes=2).shape == (3,)


def test_wrong_importances_are_answered(numeric):
    clf, X, _ = numeric
    with pytest.raises(ValueError, match="kind='weight' is unknown; choose one of 'gain', 'cover', 'splits', 'shap'"):
        sb.explain.importances(clf, "weight")
    with pytest.raises(ValueError, match=r"kind=array[^=]* is unknown"):
        sb.explain.importances(clf, np.ones((2, 2)))
    with pytest.raises(ValueError, match="kind='shap' alone needs X"):
        sb.explain.importances(clf, "shap")
    with pytest.raises(ValueError, match="kind='shap' alone needs X"):
        sb.explain.importances(clf, "gain", X)
    with pytest.raises(ValueError, match="kind='splits' is the same for all classes"):
        sb.explain.importances(clf, "splits", classes=[0])
    with pytest.raises(NotFittedError):
        sb.explain.importances(clone(clf))


# ---- partial dependence ---------------------------------------------------------------------------------------------


def test_dependence_is_the_expectation(mixed):
    """Given all features it is the prediction, given none it is the expected value."""
    clf, X, _ = mixed
    numbers = clf._check_X(X)
    M = np.eye(3)
    everything = through_trees(clf.model_, np.arange(3), numbers, M)
    np.testing.assert_allclose(everything, 2 * clf.class_scores(X), atol=1e-5)
    nothing = through_trees(clf.model_, np.array([], dtype=int), numbers[:2, :0], M)
    np.testing.assert_allclose(nothing, np.tile(sb.explain.expected_value(clf), (2, 1)), atol=1e-6)


def test_dependence_by_names_and_categories(mixed):
    clf, _, _ = mixed
    by_name = sb.explain.partial_dependence(clf, "colour", ["red", "blue", "mauve"])
    numbers = through_trees(clf.model_, np.array([1]), np.array([[2.0], [0.0], [np.nan]]), np.eye(3))
    np.testing.assert_allclose(by_name, numbers)
    two = sb.explain.partial_dependence(clf, [0, "age"], np.array([[0.5, 0.0], [0.5, np.nan]]), "owl")
    assert two.shape == (2,)
    with pytest.raises(ValueError, match="features holds 'weight'; pass names of columns or positions from 0 to 2"):
        sb.explain.partial_dependence(clf, "weight", [0.0])
    with pytest.raises(ValueError, match="pass a column for each of the 1 features"):
        sb.explain.partial_dependence(clf, "age", np.zeros((3, 2)))


@pytest.fixture(scope="module")
def odd():
    """A classifier on dates, durations, numbers that are categories, and more towns than there are numbers."""
    rng = np.random.default_rng(1)
    n = 900
    X = pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "wait": pd.to_timedelta(rng.integers(0, 50, n), unit="h"),
            "grade": pd.Categorical(rng.integers(1, 4, n)),
            "town": pd.Categorical([f"t{i}" for i in np.where(np.arange(n) < 700, np.arange(n) % 253, np.arange(n))]),
        }
    )
    y = (X["day"] > "2021-03-01").astype(int) + (X["grade"] == 2) + (np.arange(n) >= 700)  # towns that are seen once
    with pytest.warns(UserWarning, match="all others are treated as one"):
        return sb.SimplexBoostClassifier(n_estimators=8, random_state=0).fit(X, y), X


@pytest.mark.parametrize("names", [["day"], ["wait"], ["grade"], ["day", "wait", "grade", "town"]])
def test_the_points_of_dependence_are_read_like_rows(odd, names):
    clf, X = odd
    rows = X.iloc[:40].copy()
    rows.loc[::7, "day"] = pd.NaT
    places = np.array([list(X.columns).index(name) for name in names])
    want = through_trees(clf.model_, places, clf._check_X(rows)[:, places], np.eye(4))
    forms = [rows[names], rows[names].astype(object).to_numpy().tolist()]
    for grid in [*forms, *([rows[names[0]].to_numpy(), rows[names[0]].tolist()] if len(names) == 1 else [])]:
        np.testing.assert_array_equal(sb.explain.partial_dependence(clf, names, grid), want)
    if len(names) == 4:
        np.testing.assert_allclose(want, 2 * clf.class_scores(rows), atol=1e-5)


def test_wrong_points_are_answered(odd):
    clf, _ = odd
    with pytest.raises(ValueError, match="column 'grade' held categories that are numbers in fit"):
        sb.explain.partial_dependence(clf, "grade", ["2"])
    with pytest.raises(ValueError, match="column 'day' held dates in fit; now it holds text"):
        sb.explain.partial_dependence(clf, "day", ["monday"])
    with pytest.raises(ValueError, match="grid has no table"):
        sb.explain.partial_dependence(clf, "day", np.zeros((2, 2, 2)))
    for features in (None, 1.5, True, "no", 4, -1):
        with pytest.raises(ValueError, match=r"features holds .*; pass names of columns or positions from 0 to 3"):
            sb.explain.partial_dependence(clf, features, [0.0])
    for features in ([], ["day", 0]):
        with pytest.raises(ValueError, match="must name at least one column, and none of them twice"):
            sb.explain.partial_dependence(clf, features, [[0.0, 0.0]])


def test_categories_that_share_a_number_are_shown(odd):
    clf, _ = odd
    frame = sb.explain.trees_to_frame(clf)
    sets = frame.loc[frame["split_feature"] == "town", "categories"].dropna()
    assert any("(others)" in names for names in sets)
    assert "(others)" not in {
        name for names in frame.loc[frame["split_feature"] == "grade", "categories"] for name in names
    }


def test_models_without_trees_are_answered():
    X, c = blobs(80, 3, 3)
    clf = sb.BoostingClassifier(learner="linear", n_estimators=3).fit(X, c)
    frame = sb.explain.trees_to_frame(clf)
    assert len(frame) == 0 and "split_gain" in frame.columns
    for ask in (lambda: sb.explain.tree_text(clf, 0), lambda: sb.explain.nearest_examples(clf, X, X, 1)):
        with pytest.raises(ValueError, match="needs trees, and the model has none"):
            ask()


def test_numbers_of_trees_are_whole(numeric):
    clf, _, _ = numeric
    for i in (1.7, True, "x", None):
        with pytest.raises(TypeError, match=r"i=.* must be an integer"):
            sb.explain.tree_text(clf, i)
    with pytest.raises(ValueError, match="n_classes=-1"):
        sb.explain.tree_text(clf, 0, n_classes=-1)


@pytest.mark.parametrize("K", [2, 3])
def test_scikit_learn_takes_the_recursion(K):
    X, c = blobs(150, 4, K)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, c)
    got = partial_dependence(sb.explain.TreeRecursion(clf), X, [2], method="recursion", grid_resolution=7)
    U = 0.5 * sb.explain.partial_dependence(clf, 2, got["grid_values"][0])
    np.testing.assert_allclose(got["average"], (U[:, 1:] - U[:, :1]).T if K == 2 else U.T)


def test_brute_dependence_stays_the_default(numeric):
    clf, X, _ = numeric
    X = np.nan_to_num(X)
    default = partial_dependence(sb.explain.TreeRecursion(clf), X, [0], grid_resolution=5)
    moved = X.copy()
    moved[:, 0] = default["grid_values"][0][3]
    np.testing.assert_allclose(default["average"][:, 3], clf.predict_proba(moved).mean(axis=0))


def test_recursion_is_accepted_whatever_is_imported_first():
    code = """
import simplexboost as sb, sys
assert "sklearn.ensemble" not in sys.modules
clf = sb.SimplexBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]] * 20, [0, 1, 2] * 20)
from sklearn.inspection import partial_dependence
recursion = sb.explain.TreeRecursion(clf)
assert partial_dependence(recursion, [[0.0], [1.0], [2.0]], [0], method="recursion")["average"].shape == (3, 3)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_dependence_needs_trees(numeric):
    _, X, c = numeric
    lines = sb.BoostingClassifier(learner="linear", n_estimators=3).fit(X, c)
    with pytest.raises(ValueError, match="needs a model of the package's trees alone"):
        sb.explain.partial_dependence(lines, 0, [0.0])


def test_the_recursion_is_not_for_several_labels(numeric):
    """Two labels are not two classes: what scikit-learn would show is the difference of their scores."""
    _, X, c = numeric
    several = sb.AdaBoostMHClassifier(n_estimators=3).fit(X, np.column_stack([c == 0, c > 0]).astype(int))
    assert sb.explain.partial_dependence(several, 0, [0.0]).shape == (1, 2)
    with pytest.raises(ValueError, match="takes models of one label per row"):
        partial_dependence(sb.explain.TreeRecursion(several), X, [0], method="recursion")


# ---- examples -------------------------------------------------------------------------------------------------------


def test_nearest_examples_share_leaves(numeric):
    clf, X, _ = numeric
    found = sb.explain.nearest_examples(clf, X[:7], X, k=4)
    leaves = clf.apply(X)
    shared = (leaves[:7, None] == leaves[None]).mean(axis=2)
    np.testing.assert_allclose(found.similarity, np.take_along_axis(shared, found.rows, axis=1))
    np.testing.assert_allclose(found.similarity, -np.sort(-shared, axis=1)[:, :4])
    assert (found.similarity[:, 0] == 1).all()
    with pytest.raises(ValueError, match="k=201"):
        sb.explain.nearest_examples(clf, X, X, k=201)


def test_wrong_labels_are_doubtful():
    X, c = blobs(240, 4, 3, seed=3)
    X = X + 8.0 * np.random.default_rng(0).normal(size=(3, 4))[c]
    y = np.array(["a", "b", "c"])[c]
    wrong = np.array([5, 77, 140])
    y[wrong] = np.array(["b", "c", "a"])[c[wrong]]
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0)
    found = sb.explain.doubtful_labels(clf, X, y, sample_weight=np.ones(240))
    assert set(found.rows[:3]) == set(wrong) and len(found.rows) == 240
    assert (np.diff(found.margin) >= 0).all()
    assert np.array_equal(found.given, y[found.rows])
    assert np.array_equal(found.suggested[:3], np.array(["a", "b", "c"])[c[found.rows[:3]]])
    assert not hasattr(clf, "classes_")
    with pytest.raises(ValueError, match="one label per row"):
        sb.explain.doubtful_labels(clf, X, np.zeros((240, 2)))
    with pytest.raises(TypeError, match=r"y=.* must hold a label for every row"):
        sb.explain.doubtful_labels(clf, X, [["a", "b"], None] * 120)
    with pytest.raises(ValueError, match="sample_weight has 100 rows and y has 240"):
        sb.explain.doubtful_labels(clf, X, y, sample_weight=np.ones(100))
    with pytest.raises(ValueError, match="X has 10 rows and y has 240"):
        sb.explain.doubtful_labels(clf, X[:10], y)


def test_labels_that_a_fold_never_saw_are_most_doubtful():
    X, c = blobs(40, 3, 2)
    y = c.copy()
    y[3] = 9
    found = sb.explain.doubtful_labels(
        sb.SimplexBoostClassifier(n_estimators=3, random_state=0),
        X,
        y,
        cv=[(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))],
    )
    assert found.rows[0] == 3 and found.margin[0] == -np.inf and found.suggested[0] != 9


# ---- the package shap -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shap():
    return pytest.importorskip("shap", reason="the extra 'explain' is not installed")


def test_our_values_are_those_of_shap(numeric, shap):
    clf, X, _ = numeric
    X = X.astype(np.float64)
    explainer = shap.TreeExplainer(sb.explain.to_shap(clf))
    np.testing.assert_allclose(
        explainer.shap_values(X, check_additivity=False), sb.explain.shap_values(clf, X), atol=1e-5
    )
    np.testing.assert_allclose(explainer.expected_value, sb.explain.expected_value(clf), atol=1e-6)
    one = shap.TreeExplainer(sb.explain.to_shap(clf, 1))
    np.testing.assert_allclose(
        np.squeeze(one.shap_values(X, check_additivity=False)), sb.explain.shap_values(clf, X, 1), atol=1e-5
    )
    pairs = explainer.shap_interaction_values(X[:10])
    np.testing.assert_allclose(pairs, sb.explain.shap_interaction_values(clf, X[:10], clf.classes_), atol=1e-5)
    known = np.nan_to_num(X)
    against = shap.TreeExplainer(sb.explain.to_shap(clf), known[:30], feature_perturbation="interventional")
    got = against.shap_values(known[:20], check_additivity=False)
    np.testing.assert_allclose(got, sb.explain.shap_values(clf, known[:20], background=known[:30]), atol=1e-5)


def test_an_explanation_has_names_and_bases(mixed, shap):
    clf, X, _ = mixed
    of_all = sb.explain.shap_explanation(clf, X[:5])
    assert of_all.shape == (5, 3, 3) and of_all.feature_names == ["size", "colour", "age"]
    assert list(of_all.output_names) == ["cat", "dog", "owl"]
    np.testing.assert_allclose(of_all.values.sum(axis=1) + of_all.base_values, 2 * clf.class_scores(X[:5]), atol=1e-12)
    one = sb.explain.shap_explanation(clf, X[:5], "dog", background=X[:20])
    assert one.shape == (5, 3) and one.base_values.shape == (5,)
    np.testing.assert_allclose(one.values.sum(axis=1) + one.base_values, 2 * clf.class_scores(X[:5])[:, 1], atol=1e-12)


def test_what_shap_cannot_hold_is_refused(mixed, numeric):
    with pytest.raises(ValueError, match="to_shap cannot pass on splits of categories"):
        sb.explain.to_shap(mixed[0])
    clf, X, c = numeric
    symmetric = sb.SimplexBoostClassifier(n_estimators=3, growth="symmetric", random_state=0).fit(X, c)
    assert any((tree.count == 0).any() for tree in symmetric.model_.trees)
    with pytest.raises(ValueError, match="to_shap cannot pass on nodes without training rows"):
        sb.explain.to_shap(symmetric)
    lines = sb.BoostingClassifier(learner="linear", n_estimators=3).fit(X, c)
    with pytest.raises(ValueError, match="to_shap takes a model of trees alone"):
        sb.explain.to_shap(lines)
    with pytest.raises(NotFittedError):
        sb.explain.to_shap(clone(clf))


def test_a_missing_package_is_named(numeric, monkeypatch):
    clf, X, _ = numeric
    monkeypatch.setitem(sys.modules, "shap", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs the package shap: pip install shap"):
        sb.explain.shap_explanation(clf, X)
    with pytest.raises(ImportError, match="trees_to_frame needs pandas: pip install pandas"):
        sb.explain.trees_to_frame(clf)


def test_categories_that_are_whole_numbers_are_written_as_such():
    code = np.array([59000, 10115, 20095])[np.arange(60) % 3]
    clf = sb.SimplexBoostClassifier(n_estimators=1, categorical_features=[0], random_state=0)
    text = sb.explain.tree_text(clf.fit(np.column_stack([code, np.arange(60)]), code), 0)
    assert "59000" in text and "59000.0" not in text
