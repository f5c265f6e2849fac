"""Shapley values: the kernels against brute force and against the twin, and what holds for every model."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from cases import BOOSTERS, blobs, each, stump
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from twin import shapley as reference
from twin.forest import goes_left as forest_goes_left

import simplexboost as sb
from simplexboost import _kernels
from simplexboost.engine import NODE, Growth, Tree, cpu_engine, no_sets, node_bytes
from simplexboost.explain import shapley
from simplexboost.explain.explained_classes import leaf_outputs
from simplexboost.model.additive import AdditiveModel, Term
from simplexboost.model.hypotheses import LinearHypothesis, TreeHypothesis
from simplexboost.parts.learners import SklearnLearner

ONE, TWO = cpu_engine(1), cpu_engine(2)
P = 5


def mixed_table(n: int, seed: int) -> np.ndarray:
    """Numbers with holes, few distinct values, and categories in the last two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    X[:, 1] = np.round(X[:, 1])
    X[:, 3:] = rng.integers(0, 6, size=(n, 2))
    X[rng.random((n, P)) < 0.2] = np.nan
    return X


def grow(order: str, seed: int, d: int = 3, n: int = 90) -> tuple[Tree, np.ndarray, np.ndarray]:
    """A tree of this order on a mixed table, with random leaf values (L, d); new rows."""
    rng = np.random.default_rng(seed)
    X = mixed_table(n, seed)
    mask = np.arange(P) >= 3
    G = rng.normal(size=(n, d)) + (np.nan_to_num(X) * np.nan_to_num(X[:, ::-1]))[:, :d]
    growth = Growth(max_leaf_nodes=16, order=order, max_depth=4 if order == "symmetric" else 0, min_category_count=1)
    tree = ONE.compute.grow(ONE.compute.bin(X, categorical=mask), G, "norm", growth).tree
    new = mixed_table(21, seed + 1)
    new[0], new[1, 3] = np.nan, 77.0  # all missing; a category that was never seen
    return tree, rng.normal(size=(tree.n_leaves, d)), new


def model_of(*terms: Term, d: int) -> AdditiveModel:
    return AdditiveModel(np.eye(d), list(terms), [len(terms)])


def expectation(tree: Tree, leaves: np.ndarray, x: np.ndarray, known: set[int], at: int = 0) -> np.ndarray:
    """The value of a tree while only some features are known; the others go both ways."""
    feature, left = int(tree.nodes["feature"][at]), int(tree.nodes["left"][at])
    if feature < 0:
        return leaves[left]
    left_value, right_value = (expectation(tree, leaves, x, known, left + side) for side in (0, 1))
    if feature in known:
        goes_left = bool(forest_goes_left(tree, at, x[[feature]])[0])
        return left_value if goes_left else right_value
    rows = tree.count[left : left + 2].astype(float)
    share = rows / rows.sum() if rows.sum() else np.array([0.5, 0.5])
    return share[0] * left_value + share[1] * right_value


def brute_force(game, p: int, x: np.ndarray) -> np.ndarray:
    """Shapley values (p, D) of a function of the set of known features, by their definition."""
    out = []
    for f in range(p):
        others = [g for g in range(p) if g != f]
        total = 0.0
        for size in range(p):
            weight = factorial(size) * factorial(p - 1 - size) / factorial(p)
            for S in combinations(others, size):
                total = total + weight * (game({*S, f}, x) - game(set(S), x))
        out.append(total)
    return np.array(out)


def brute_pairs(game, p: int, x: np.ndarray) -> np.ndarray:
    """Interaction values (p, p, D) by their definition."""
    single = brute_force(game, p, x)
    out = np.zeros((p, p, single.shape[1]))
    for f, g in combinations(range(p), 2):
        others = [h for h in range(p) if h not in (f, g)]
        for size in range(p - 1):
            weight = factorial(size) * factorial(p - 2 - size) / (2 * factorial(p - 1))
            for S in map(set, combinations(others, size)):
                both = game(S | {f, g}, x) - game(S | {f}, x) - game(S | {g}, x) + game(S, x)
                out[f, g] += weight * both
                out[g, f] += weight * both
    out[range(p), range(p)] = single - out.sum(axis=1)
    return out


# ---- the kernels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["level", "best", "symmetric"])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_the_definition(order, seed):
    tree, leaves, X = grow(order, seed)
    model = model_of(Term(TreeHypothesis(tree, leaves), 0.5), d=3)
    got = shapley.compute_values(model, X, np.eye(3), TWO)
    brute = [brute_force(lambda S, x: expectation(tree, 0.5 * leaves, x, S), P, x) for x in X]
    np.testing.assert_allclose(got, brute, atol=1e-13)
    np.testing.assert_allclose(got, reference.tree_values(tree, 0.5 * leaves, X), atol=1e-13)
    np.testing.assert_allclose(
        shapley.compute_base(model, np.eye(3)), expectation(tree, 0.5 * leaves, X[0], set()), atol=1e-13
    )


def test_nodes_without_rows_divide_evenly():
    tree, leaves, X = grow("symmetric", 2, n=14)
    inner = tree.nodes["feature"] >= 0
    assert (tree.count[inner] == 0).any()
    got = shapley.compute_values(model_of(Term(TreeHypothesis(tree, leaves), 1.0), d=3), X, np.eye(3), ONE)
    brute = [brute_force(lambda S, x: expectation(tree, leaves, x, S), P, x) for x in X]
    np.testing.assert_allclose(got, brute, atol=1e-13)
    np.testing.assert_allclose(got, reference.tree_values(tree, leaves, X), atol=1e-13)


@pytest.mark.parametrize("order", ["level", "best", "symmetric"])
def test_background_values_are_those_of_the_definition(order):
    tree, leaves, X = grow(order, 5)
    background = mixed_table(11, 9)

    def game(S, x):
        mixed = np.where(np.isin(np.arange(P), list(S)), x, background)
        return leaves[ONE.compute.apply(tree, mixed)].mean(axis=0)

    model = model_of(Term(TreeHypothesis(tree, leaves), 1.0), d=3)
    got = shapley.compute_values(model, X, np.eye(3), TWO, background)
    np.testing.assert_allclose(got, [brute_force(game, P, x) for x in X], atol=1e-13)
    np.testing.assert_allclose(got, reference.tree_values(tree, leaves, X, background), atol=1e-13)


@pytest.mark.parametrize("order", ["level", "best", "symmetric"])
def test_interactions_are_those_of_the_definition(order):
    tree, leaves, X = grow(order, 6)
    model = model_of(Term(TreeHypothesis(tree, leaves), 1.0), d=3)
    got = shapley.compute_interactions(model, X, np.eye(3), TWO)
    brute = [brute_pairs(lambda S, x: expectation(tree, leaves, x, S), P, x) for x in X[:4]]
    np.testing.assert_allclose(got[:4], brute, atol=1e-13)
    np.testing.assert_allclose(got, reference.tree_interactions(tree, leaves, X), atol=1e-13)
    np.testing.assert_allclose(got.sum(axis=2), shapley.compute_values(model, X, np.eye(3), ONE), atol=1e-13)


def test_long_paths_are_exact():
    """A chain of 40 splits on 40 features has more links than fit into registers."""
    n = 40
    nodes = np.zeros(2 * n + 1, dtype=NODE)
    nodes["category"] = -1
    nodes["feature"][0::2], nodes["left"][0::2] = np.arange(n + 1), np.arange(1, 2 * n + 2, 2)
    nodes["feature"][1::2], nodes["left"][1::2] = -1, np.arange(n)
    nodes["feature"][-1], nodes["left"][-1] = -1, n
    count = np.zeros(2 * n + 1, dtype=np.int64)
    count[0::2] = 3 * n + 5 - 3 * np.arange(n + 1)
    count[1::2] = 3
    tree = Tree(nodes, np.zeros(2 * n + 1), count)
    rng = np.random.default_rng(0)
    leaves, X = rng.normal(size=(n + 1, 2)), rng.normal(size=(10, n)) + 1.0
    model = model_of(Term(TreeHypothesis(tree, leaves), 1.0), d=2)
    got = shapley.compute_values(model, X, np.eye(2), ONE)
    np.testing.assert_allclose(got, reference.tree_values(tree, leaves, X), atol=1e-13)
    pairs = shapley.compute_interactions(model, X[:2], np.eye(2), ONE)
    np.testing.assert_allclose(pairs.sum(axis=2), got[:2], atol=1e-13)


def test_sparse_leaves_and_coordinates_add_up():
    terms, total, X = [], 0.0, None
    M = np.random.default_rng(3).normal(size=(4, 6))
    for seed, kind in enumerate(["dense", "sparse", "coordinate"]):
        tree, leaves, X = grow("best", seed, d=4)
        if kind == "coordinate":
            term = Term(TreeHypothesis(tree, leaves[:, :1]), 0.3, 2)
        else:
            leaves = np.where(np.abs(leaves) > 1, leaves, 0.0)
            term = Term(TreeHypothesis(tree, csr_array(leaves) if kind == "sparse" else leaves), 0.3)
        terms.append(term)
        total = total + reference.tree_values(tree, leaf_outputs(term, np.eye(4), np.float64), mixed_table(9, 3))
    model, X = model_of(*terms, d=4), mixed_table(9, 3)
    np.testing.assert_allclose(shapley.compute_values(model, X, np.eye(4), ONE), total, atol=1e-13)
    np.testing.assert_allclose(
        shapley.compute_values(model, X, np.eye(4)[:, [3, 2]], ONE), total[..., [3, 2]], atol=1e-13
    )
    np.testing.assert_allclose(shapley.compute_values(model, X, M, ONE), total @ M, atol=1e-13)
    np.testing.assert_allclose(shapley.compute_values(model, X, M[:, :2], ONE), total @ M[:, :2], atol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_is_close_to_the_twin(sparse):
    """Models that predict in single precision; so many trees that their sums are moved to double precision twice."""
    terms, total, against, pairs = [], 0.0, 0.0, 0.0
    X, background = mixed_table(37, 3), mixed_table(5, 4)
    for seed in range(40):
        tree, leaves, _ = grow(["best", "level", "symmetric"][seed % 3], seed)
        leaves = np.where(np.abs(leaves) > 0.7, leaves, 0.0).astype(np.float32)
        terms.append(Term(TreeHypothesis(tree, csr_array(leaves) if sparse else leaves), 0.1))
        scaled = leaf_outputs(terms[-1], np.eye(3), np.float32)
        total = total + reference.tree_values(tree, scaled, X)
        against = against + reference.tree_values(tree, scaled, X, background)
        pairs = pairs + reference.tree_interactions(tree, scaled, X[:3])
    model = AdditiveModel(np.eye(3, dtype=np.float32), terms, [len(terms)])
    assert model.dtype == np.float32
    np.testing.assert_allclose(shapley.compute_values(model, X, np.eye(3), TWO), total, atol=2e-6)
    np.testing.assert_allclose(shapley.compute_values(model, X, np.eye(3), ONE, background), against, atol=2e-6)
    np.testing.assert_allclose(shapley.compute_interactions(model, X[:3], np.eye(3), ONE), pairs, atol=2e-6)


def test_rounding_is_shared_out():
    rng = np.random.default_rng(0)
    phi, total = rng.normal(size=(5, 4, 3)), rng.normal(size=(5, 3))
    phi[1, :, 2] = 0.0
    want = phi + np.abs(phi) * ((total - phi.sum(axis=1)) / np.maximum(np.abs(phi).sum(axis=1), 1e-300))[:, None]
    want[1, :, 2] = 0.0
    shapley.share_rounding(phi, total)
    np.testing.assert_allclose(phi, want, atol=1e-14)


def test_lines_are_explained():
    line = LinearHypothesis(1, 0.5, np.array([2.0, -1.0]), np.array([0.25, 0.75]))
    model = model_of(Term(line, 0.5), Term(TreeHypothesis(stump(0, 0.0), np.eye(2)), 1.0), d=2)
    X = np.array([[1.0, 2.0], [-1.0, np.nan]])
    got = shapley.compute_values(model, X, np.eye(2), ONE)
    np.testing.assert_allclose(got[:, 1], [[1.5, -0.75], [0.0, 0.0]])
    np.testing.assert_allclose(got.sum(axis=1) + shapley.compute_base(model, np.eye(2)), model.predictor(X))
    against = shapley.compute_values(model, X, np.eye(2), ONE, background=X)
    np.testing.assert_allclose(against.sum(axis=1), model.predictor(X) - model.predictor(X).mean(axis=0))


def test_rows_do_not_depend_on_threads_or_on_each_other():
    X, c = blobs(200, 6, 4, missing=0.1)
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, n_jobs=1).fit(X, c)
    M, first = np.eye(4), shapley.compute_values(clf.model_, X, np.eye(4), ONE)
    for engine in (TWO, cpu_engine(5)):
        assert np.array_equal(first, shapley.compute_values(clf.model_, X, M, engine))
    assert np.array_equal(first[37:50], shapley.compute_values(clf.model_, X[37:50], M, TWO))
    background = shapley.compute_values(clf.model_, X, M, ONE, X[:20])
    assert np.array_equal(background, shapley.compute_values(clf.model_, X, M, TWO, X[:20]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"count": np.array([2.0, 1.0])}, "count must have an entry per node"),
        ({"count": np.array([2.0, -1.0, 1.0])}, "counts must be finite and not negative"),
        ({"n_features": 0}, "n_features must lie in 1 .. "),
        ({"nodes": node_bytes(stump(1, 0.0).nodes)}, "splits a feature that X does not have"),
        ({"first_node": np.array([0, 2])}, "where trees begin must ascend"),
    ],
)
def test_the_kernel_refuses_forests_that_disagree(changed, message):
    right = {
        "nodes": node_bytes(stump(0, 0.0).nodes),
        "first_node": np.array([0, 3]),
        "count": np.array([2.0, 1.0, 1.0]),
        "category_sets": no_sets(),
        "first_set": np.array([0, 0]),
        "n_features": 1,
    }
    _kernels.Explainer(**right)
    with pytest.raises(ValueError, match=message):
        _kernels.Explainer(**{**right, **changed})


def test_the_kernel_refuses_leaves_that_disagree():
    paths = shapley.Paths([stump(0, 0.0)], 1, False)
    X, out = np.zeros((2, 1)), np.empty((2, 1, 3))
    for leaves in (
        (np.zeros(5), None, None),
        (np.zeros(2), np.array([0, 3], dtype=np.int32), np.array([0, 1, 2])),
        (np.zeros(2), np.array([0, 1], dtype=np.int32), np.array([0, 2])),
    ):
        with pytest.raises(ValueError, match=r"(values|columns|start) must"):
            paths.kernel.values(X, *leaves, None, out, 1)
    with pytest.raises(ValueError, match="disagree with the forest"):
        paths.kernel.values(np.zeros((3, 1)), np.zeros(6), None, None, None, out, 1)
    with pytest.raises(ValueError, match="total must have the rows and columns"):
        paths.kernel.values(X, np.zeros(6), None, None, np.zeros((2, 2)), out, 1)


# ---- the methods ----------------------------------------------------------------------------------------------------


@each("booster", BOOSTERS)
def test_values_add_up_to_the_logits_of_every_booster(booster):
    X, c = blobs(80, 4, 3, missing=0.1)
    clf = booster(n_estimators=6).fit(X, c)
    values = sb.explain.shap_values(clf, X)
    assert values.shape == (80, 4, 3)
    np.testing.assert_allclose(
        values.sum(axis=1) + sb.explain.expected_value(clf), 2 * clf.class_scores(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("K", [2, 5, 40])
@pytest.mark.parametrize("growth", ["best", "symmetric"])
def test_values_of_the_flagship_add_up(K, growth):
    X, c = blobs(400, 6, K, missing=0.1)
    clf = sb.SimplexBoostClassifier(n_estimators=30, growth=growth, random_state=0).fit(X, c)
    clf.model_.temperature = 1.3
    values, logits = sb.explain.shap_values(clf, X), 2 * clf.class_scores(X)
    exact = shapley.compute_values(clf.model_, X, np.eye(K), ONE)
    np.testing.assert_allclose(
        exact.sum(axis=1) + sb.explain.expected_value(clf), logits, atol=1e-6 * np.abs(logits).max()
    )
    np.testing.assert_allclose(values.sum(axis=1) + sb.explain.expected_value(clf), logits, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(values, exact, atol=1e-5)
    against = sb.explain.shap_values(clf, X[:30], background=X[:50])
    base = (2 * clf.class_scores(X[:50])).mean(axis=0)
    np.testing.assert_allclose(against.sum(axis=1) + base, logits[:30], rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def fitted():
    X, c = blobs(150, 4, 3)
    y = np.array(["ant", "bee", "cat"])[c]
    return sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y), X


def test_chosen_classes_are_columns_of_all(fitted):
    clf, X = fitted
    values = sb.explain.shap_values(clf, X)
    np.testing.assert_allclose(sb.explain.shap_values(clf, X, ["cat", "ant"]), values[..., [2, 0]], atol=1e-6)
    np.testing.assert_allclose(sb.explain.shap_values(clf, X, "bee"), values[..., 1], atol=1e-6)
    pairs = sb.explain.shap_interaction_values(clf, X[:20], "bee")
    every = sb.explain.shap_interaction_values(clf, X[:20])
    np.testing.assert_array_equal(every, sb.explain.shap_interaction_values(clf, X[:20], clf.classes_))
    np.testing.assert_allclose(every[..., 1], pairs, atol=1e-6)
    assert pairs.shape == (20, 4, 4)
    np.testing.assert_allclose(pairs.sum(axis=2), values[:20, :, 1], atol=1e-6)
    np.testing.assert_allclose(pairs, pairs.transpose(0, 2, 1), atol=1e-14)


def test_a_pair_is_explained_by_the_difference(fitted):
    clf, X = fitted
    values, base = sb.explain.explain_pair(clf, X, "ant", "cat")
    U = clf.class_scores(X)
    np.testing.assert_allclose(values.sum(axis=1) + base, 2 * (U[:, 0] - U[:, 2]), rtol=1e-9, atol=1e-12)
    all_values = sb.explain.shap_values(clf, X)
    np.testing.assert_allclose(values, all_values[..., 0] - all_values[..., 2], atol=1e-5)


def test_classes_without_examples_explain_nothing():
    X, c = blobs(90, 4, 3)
    clf = sb.SimplexBoostClassifier(n_estimators=4, classes=[0, 1, 2, 7], random_state=0).fit(X, c)
    values = sb.explain.shap_values(clf, X)
    assert (values[..., 3] == 0).all() and sb.explain.expected_value(clf)[3] == -np.inf
    np.testing.assert_allclose(sb.explain.shap_values(clf, X, [7, 1])[..., 1], values[..., 1], atol=1e-6)
    with pytest.raises(ValueError, match="class 7 had no training examples"):
        sb.explain.explain_pair(clf, X, 0, 7)
    with pytest.raises(ValueError, match="class 7 had no training examples"):
        sb.explain.to_shap(clf, 7)
    assert len(sb.explain.to_shap(clf, [7, 1])["trees"]) == 4
    assert (sb.explain.partial_dependence(clf, 0, [0.0, 1.0], 7) == -np.inf).all()


def test_sparse_tables_have_the_values_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(120, 30)).astype(float)
    y = (X[:, 3] > 0) + 2 * (X[:, 17] + X[:, 5] > 1)
    clf = sb.SimplexBoostClassifier(n_estimators=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(sb.explain.shap_values(clf, csr_array(X)), sb.explain.shap_values(clf, X), atol=1e-14)
    some, dense = csr_array(X[:10]), X[:10]
    np.testing.assert_allclose(
        sb.explain.shap_values(clf, some, background=some),
        sb.explain.shap_values(clf, dense, background=dense),
        atol=1e-14,
    )
    np.testing.assert_allclose(
        sb.explain.shap_interaction_values(clf, some, 0), sb.explain.shap_interaction_values(clf, dense, 0), atol=1e-14
    )


def test_a_model_that_goes_on_is_explained_anew():
    X, c = blobs(100, 4, 3)
    clf = sb.SimplexBoostClassifier(n_estimators=4, warm_start=True, random_state=0).fit(X, c)
    sb.explain.shap_values(clf, X)
    clf.set_params(n_estimators=8).fit(X, c)
    np.testing.assert_allclose(
        shapley.compute_values(clf.model_, X, np.eye(3), ONE).sum(axis=1) + sb.explain.expected_value(clf),
        2 * clf.class_scores(X),
        atol=1e-5,
    )


def test_wrong_input_is_answered(fitted):
    clf, X = fitted
    with pytest.raises(NotFittedError):
        sb.explain.shap_values(clone(clf), X)
    with pytest.raises(NotFittedError):
        sb.explain.expected_value(clone(clf))
    with pytest.raises(
        ValueError, match="classes holds 'dog', which is none of the classes of the model; these are 'ant', 'bee'"
    ):
        sb.explain.shap_values(clf, X, ["ant", "dog"])
    with pytest.raises(ValueError, match="classes is empty"):
        sb.explain.shap_values(clf, X, [])
    with pytest.raises(ValueError, match="b holds 'dog'"):
        sb.explain.explain_pair(clf, X, "ant", "dog")
    with pytest.raises(ValueError, match="must be one label each"):
        sb.explain.explain_pair(clf, X, ["ant", "bee"], "cat")
    with pytest.raises(
        ValueError, match="a holds values of the type NoneType, such as None, but the classes of the model are text"
    ):
        sb.explain.explain_pair(clf, X, None, "cat")
    for classes in ({"ant", "bee"}, [["ant"], ["bee", "cat"]], [["ant", "bee"]]):
        with pytest.raises(TypeError, match=r"classes=.* must be a label or a list of labels"):
            sb.explain.shap_values(clf, X, classes)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        sb.explain.shap_values(clf, X, background=X[:0])
    with pytest.raises(ValueError, match="4 features"):
        sb.explain.shap_values(clf, X[:, :3])
    other = sb.BoostingClassifier(learner=SklearnLearner(DecisionTreeClassifier(max_depth=2)), n_estimators=2).fit(
        X, clf.predict(X)
    )
    with pytest.raises(ValueError, match="has no Shapley values here"):
        sb.explain.shap_values(other, X)
    with pytest.raises(ValueError, match="has no Shapley values here"):
        sb.explain.expected_value(other)
