"""Weak learners against exhaustive search, least squares and scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from cases import LEARNERS, TREES, each, problem, request, training_set, with_gradient
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from simplexboost.engine import CPU, NODE, Grown, Growth, Tree, cpu_engine
from simplexboost.model.code import Gradient
from simplexboost.model.hypotheses import FARTHEST
from simplexboost.parts.codewords import Simplex
from simplexboost.parts.learners import (
    ClassTree,
    ConvertedTree,
    GiniTree,
    InfoTree,
    LinearRegressor,
    NewtonTree,
    Request,
    SignTree,
    SklearnLearner,
    Stump,
    SubsetTree,
    TreeLearner,
    VectorTree,
    as_learner,
)
from simplexboost.parts.learners.tree_learners import nearest_sums


def with_classifier_weights(req, seed=0):
    """Labels and weights that mean something to a learner that looks at those alone."""
    rng = np.random.default_rng(seed)
    return with_gradient(req, labels=req.data.c, weight=rng.uniform(0.1, 1, req.data.n))


# ---- exhaustive search ----------------------------------------------------------------------------------------------


def splits(X, min_samples_leaf=1):
    """Every way to cut the rows in two by one feature: masks of the left part, missing values on either side."""
    for x in X.T:
        known = np.unique(x[~np.isnan(x)])
        cuts = [np.isnan(x)]
        for low, high in pairwise(known):
            cuts += [np.where(np.isnan(x), side, x <= (low + high) / 2) for side in (False, True)]
        yield from (left for left in cuts if min(left.sum(), (~left).sum()) >= min_samples_leaf)


def best_answer(learner, req, part):
    """What the best leaf for these rows is worth, from the definition of the learner's hypotheses."""
    S = req.G[part].sum(axis=0)
    if isinstance(learner, NewtonTree):  # the fall of ½ Σ h‖v‖² − ⟨S, v⟩ + ½ l2‖v‖² at its minimum, twice
        h = (req.data.weight if req.curvature is None else req.curvature)[part].sum()
        v = S / (h + learner.l2_regularization)
        return 2 * (S @ v - 0.5 * (h + learner.l2_regularization) * v @ v)
    if isinstance(learner, ClassTree):
        return max(float(S @ y) for y in req.Y)
    if isinstance(learner, SignTree):
        low = 0 if isinstance(learner, SubsetTree) and len(S) > 1 else -1
        return max(float(S @ s) for s in np.array(np.meshgrid(*[[low, 1]] * len(S))).reshape(len(S), -1).T)
    return float(np.sqrt(S @ S))  # a unit vector


def achieved(learner, req, outputs):
    """What the outputs are worth."""
    if not isinstance(learner, NewtonTree):
        return float((req.G * outputs).sum())
    h = req.data.weight if req.curvature is None else req.curvature
    total = 2 * (req.G * outputs).sum() - (h[:, None] * outputs**2).sum()
    leaves = np.unique(outputs, axis=0)
    return float(total - learner.l2_regularization * (leaves**2).sum())


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(4))
@each("learner", {k: v for k, v in TREES.items() if not isinstance(v, InfoTree | ConvertedTree)})
def test_one_split_is_the_best_of_all(learner, d, missing, seed):
    l2 = {"l2_regularization": 1.0} if isinstance(learner, NewtonTree) else {}
    learner = type(learner)(max_depth=1, min_samples_leaf=1 + 3 * (seed % 2), **l2)
    data = problem(n=30, p=3, K=3, seed=seed, missing=missing)
    curvature = np.random.default_rng(seed).uniform(0.2, 2, data.n) if seed < 2 else None
    req = request(data, d=d, seed=seed, curvature=curvature)
    answer = learner.fit(req)
    best = best_answer(learner, req, np.ones(data.n, dtype=bool))
    for left in splits(data.X, learner.min_samples_leaf):
        best = max(best, best_answer(learner, req, left) + best_answer(learner, req, ~left))
    assert achieved(learner, req, answer.outputs) == pytest.approx(best, rel=1e-9)
    assert answer.hypothesis.tree.n_leaves == 2
    assert answer.hypothesis.tree.count.min() >= learner.min_samples_leaf


@pytest.mark.parametrize("seed", range(4))
def test_converted_tree_is_the_vector_tree_with_the_nearest_codewords(seed):
    req = request(problem(n=60, p=3, K=4, seed=seed), d=3, seed=seed)
    real, named = VectorTree(max_depth=2).fit(req), ConvertedTree(max_depth=2).fit(req)
    assert_array_equal(real.hypothesis.tree.nodes, named.hypothesis.tree.nodes)
    nearest = (np.asarray(real.outputs) @ req.Y.T).argmax(axis=1)  # equation (87)
    assert_array_equal(named.outputs, req.Y[nearest])
    assert_array_equal(named.classes, nearest)
    # Codewords whose sum is zero: each converted answer has a positive product with the real one (91).
    centred = replace(req, Y=Simplex().matrix(4))
    products = np.asarray(VectorTree().fit(centred).outputs) * np.asarray(ConvertedTree().fit(centred).outputs)
    assert (products.sum(axis=1) > 0).all()


def test_newton_tree_without_curvature_is_least_squares():
    data = problem(n=30, seed=5)
    req = request(data)
    tree = NewtonTree(max_depth=1, l2_regularization=0.0).fit(req)
    targets, w = req.G / data.weight[:, None], data.weight

    def residual_sum(left):
        fit = np.empty_like(targets)
        for part in (left, ~left):
            fit[part] = w[part] @ targets[part] / w[part].sum()
        return float((w[:, None] * (targets - fit) ** 2).sum())

    ours = float((w[:, None] * (targets - tree.outputs) ** 2).sum())
    assert ours == pytest.approx(min(residual_sum(left) for left in splits(data.X)), rel=1e-9)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_info_tree_is_scikit_learns_entropy_tree(depth, seed):
    data = problem(n=80, p=4, K=3, seed=seed)
    data = replace(data, table=np.ascontiguousarray(data.X.astype(np.float32)))  # as scikit-learn sees it
    req = with_classifier_weights(request(data), seed)
    ours = InfoTree(max_depth=depth).fit(req)
    theirs = DecisionTreeClassifier(criterion="entropy", max_depth=depth, random_state=0)
    theirs.fit(data.X, data.c, sample_weight=req.weight)
    assert_array_equal(ours.outputs, req.Y[theirs.predict(data.X)])
    root, inner = ours.hypothesis.tree.nodes[0], theirs.tree_
    assert root["feature"] == inner.feature[0]
    assert root["threshold"] == pytest.approx(inner.threshold[0], rel=1e-6)


def test_info_tree_follows_the_weights_not_the_gradient():
    data = training_set(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0])
    req = request(data, d=2, Y=np.eye(2))
    for feature, weight in [(0, [3.0, 1.0, 3.0, 1.0]), (1, [3.0, 3.0, 1.0, 1.0])]:  # heavy rows differ in `feature`
        tree = InfoTree(max_depth=1).fit(with_gradient(req, weight=np.array(weight))).hypothesis.tree
        assert tree.nodes["feature"][0] == feature


# ---- planted splits -------------------------------------------------------------------------------------------------


@each("learner", TREES)
@pytest.mark.parametrize("feature", [0, 3, 9])  # features lie in blocks of eight
@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.85])
def test_planted_split_is_found(learner, feature, fraction):
    rng = np.random.default_rng(feature)
    X = rng.normal(size=(200, 11))
    threshold = np.quantile(X[:, feature], fraction)
    right = (X[:, feature] > threshold).astype(int)
    data = training_set(X, right)
    Y = np.array([[1.0, 0.0], [-1.0, 0.5]])
    req = Request(data, Gradient(right, np.ones(200), G=Y[right]), Y)
    tree = learner.fit(req).hypothesis.tree
    below, above = X[right == 0, feature].max(), X[right == 1, feature].min()
    assert tree.n_leaves == 2  # nothing is left to gain
    assert tree.nodes["feature"][0] == feature
    assert below <= tree.nodes["threshold"][0] < above


@each("learner", TREES)
@pytest.mark.parametrize("side", [0, 1])
def test_missing_values_go_to_the_better_side(learner, side):
    x = np.r_[np.linspace(0, 1, 20), np.linspace(2, 3, 20), [np.nan] * 5]
    c = np.r_[np.zeros(20, int), np.ones(20, int), [side] * 5]
    data = training_set(x[:, None], c)
    Y = np.array([[1.0, 0.0], [-0.5, 1.0]])
    answer = learner.fit(Request(data, Gradient(c, np.ones(len(c)), G=Y[c]), Y))
    assert answer.hypothesis.tree.n_leaves == 2
    assert answer.hypothesis.tree.nodes["missing_left"][0] == (side == 0)
    assert_array_equal(answer.outputs[40:], answer.outputs[[20 * side] * 5])
    assert_array_equal(answer.hypothesis.outputs(np.array([[np.nan]])), answer.outputs[40:41])


@each("learner", TREES)
def test_being_missing_can_be_the_split(learner):
    x = np.r_[np.random.default_rng(0).normal(size=30), [np.nan] * 10]
    c = np.r_[np.zeros(30, int), np.ones(10, int)]
    Y = np.array([[1.0, 0.0], [-0.5, 1.0]])
    answer = learner.fit(Request(training_set(x[:, None], c), Gradient(c, np.ones(40), G=Y[c]), Y))
    assert_array_equal(answer.outputs[:30], answer.outputs[[0] * 30])
    assert_array_equal(answer.outputs[30:], answer.outputs[[30] * 10])
    assert (answer.outputs[0] != answer.outputs[30]).any()


# ---- growth ---------------------------------------------------------------------------------------------------------


def test_level_growth_splits_the_older_node_best_growth_the_better():
    # Root at 3.5 (29 + 44); then 0.5 gains 2 in the left, older node and 5.5 gains 32 in the right one.
    G = np.array([-1.0, 10.0, 10.0, 10.0, -30.0, -30.0, 8.0, 8.0])[:, None]
    req = with_gradient(request(training_set(np.arange(8.0)[:, None], np.arange(8) % 2), d=1), G=G)
    for growth, expected in [("level", [0.5, 3.5]), ("best", [3.5, 5.5])]:
        tree = VectorTree(max_depth=None, max_leaf_nodes=3, growth=growth).fit(req).hypothesis.tree
        inner = tree.nodes["feature"] >= 0
        assert sorted(tree.nodes["threshold"][inner]) == expected
        assert_allclose(sorted(tree.gain[inner]), [2.0, 44 + 29 - 15] if growth == "level" else [32.0, 44 + 29 - 15])


@each("learner", TREES)
def test_growth_order_does_not_matter_without_a_leaf_budget(learner):
    req = with_classifier_weights(request(problem(n=100, K=3, seed=2)))
    one = type(learner)(max_depth=3, growth="level").fit(req)
    two = type(learner)(max_depth=3, growth="best").fit(req)
    assert_array_equal(one.outputs, two.outputs)


def depths(tree):
    """The depth of every node."""
    depth = np.zeros(len(tree.nodes), dtype=int)
    for node in np.flatnonzero(tree.nodes["feature"] >= 0):
        left = tree.nodes["left"][node]
        depth[left : left + 2] = depth[node] + 1
    return depth


@each("learner", TREES)
@pytest.mark.parametrize("growth", ["level", "best"])
def test_limits_hold_and_are_reached(learner, growth):
    req = with_classifier_weights(request(problem(n=200, K=3, seed=3)))
    req = with_gradient(req, G=req.G - req.G.mean(axis=0))  # no constant answer helps, so that every learner splits
    kind = type(learner)
    deep = kind(max_depth=3, growth=growth).fit(req).hypothesis.tree
    assert depths(deep).max() == 3
    wide = kind(max_depth=None, max_leaf_nodes=7, growth=growth).fit(req).hypothesis.tree
    assert wide.n_leaves == 7
    coarse = kind(max_depth=None, min_samples_leaf=25, growth=growth).fit(req).hypothesis.tree
    is_leaf = coarse.nodes["feature"] < 0
    assert coarse.count[is_leaf].min() >= 25
    assert 2 < coarse.n_leaves <= 8
    free = kind(max_depth=None, growth=growth).fit(req).hypothesis.tree
    assert free.n_leaves > max(8, coarse.n_leaves)


@pytest.mark.parametrize(
    "bad", [{"max_depth": 0}, {"max_depth": 1.5}, {"max_leaf_nodes": 1}, {"min_samples_leaf": 0}, {"growth": "fast"}]
)
def test_limits_without_meaning_are_refused(bad):
    name = next(iter(bad))
    with pytest.raises((TypeError, ValueError), match=name):
        VectorTree(**bad).check()
    with pytest.raises((TypeError, ValueError), match="l2_regularization"):
        NewtonTree(l2_regularization=-1.0).check()


# ---- leaves ---------------------------------------------------------------------------------------------------------


def small_tree():
    """Root 0 → leaf 1, inner 2 → leaves 3 and 4; leaves are numbered 0, 1, 2 in node order."""
    nodes = np.zeros(5, dtype=NODE)
    nodes["feature"] = [0, -1, 0, -1, -1]
    nodes["left"] = [1, 0, 3, 1, 2]
    nodes["category"] = -1
    return Tree(nodes, np.zeros(5), np.ones(5, dtype=np.int64))


@pytest.mark.parametrize(
    ("sums", "expected"),
    [
        ([[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]),
        ([[1, 2], [0, 0], [5, 6]], [[1, 2], [5, 6], [5, 6]]),  # the parent, inner node 2
        ([[0, 0], [3, 4], [5, 6]], [[8, 10], [3, 4], [5, 6]]),  # the root
        ([[1, 2], [0, 0], [0, 0]], [[1, 2], [1, 2], [1, 2]]),  # the parent is zero too: the root
        ([[1, 2], [3, 4], [-3, -4]], [[1, 2], [3, 4], [-3, -4]]),  # a zero parent with answers of its own below
        ([[0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]),
    ],
)
def test_leaves_that_sum_to_zero_take_their_ancestors_sums(sums, expected):
    assert_array_equal(nearest_sums(small_tree(), np.array(sums, dtype=float)), expected)


@pytest.mark.parametrize("learner", [VectorTree(), ClassTree(), SignTree(), InfoTree()], ids=str)
def test_leaves_that_sum_to_zero_inherit_the_answer(learner):
    data = training_set(np.arange(8.0)[:, None], np.arange(8) % 3)
    other = np.array([9.0, 9.0, 9.0, 9.0, -5.0, -5.0, 3.0, 3.0])[:, None]
    tree = CPU.compute.grow(data.binned, other, "norm", Growth(max_depth=2), other).tree
    assert tree.n_leaves == 3
    m = 3 if isinstance(learner, ClassTree | InfoTree) else 2
    sums = np.zeros((3, m))
    sums[0, 1] = 2.0  # only the root and this leaf have an answer
    values = learner.leaf_values(Grown(tree, np.zeros(8, dtype=np.int32), sums), request(data))
    assert values[0].any()
    assert_array_equal(values, values[[0, 0, 0]])


def test_vector_leaves_are_unit_vectors_whatever_the_size_of_the_gradient():
    req = request(problem(seed=1))
    for scale in (1e-150, 1e-30, 1.0, 1e30, 1e150):
        outputs = VectorTree(max_depth=3).fit(with_gradient(req, G=req.G * scale)).outputs
        assert_allclose(np.linalg.norm(outputs, axis=1), 1.0, rtol=1e-12)


@each("learner", {k: v for k, v in TREES.items() if not isinstance(v, NewtonTree)})
def test_one_coordinate_is_answered_by_signs(learner):
    outputs = learner.fit(request(problem(seed=2), d=1)).outputs
    assert outputs.shape[1] == 1
    assert set(np.unique(outputs)) == {-1.0, 1.0}


def test_sign_leaves():
    outputs = SignTree().fit(request(problem(seed=2), d=4)).outputs
    assert set(np.unique(outputs)) == {-1.0, 1.0}


@pytest.mark.parametrize("learner", [ClassTree(), InfoTree()], ids=str)
def test_class_leaves_are_codewords(learner):
    req = with_classifier_weights(request(problem(seed=2)))
    outputs = learner.fit(req).outputs
    assert (outputs[:, None, :] == req.Y[None]).all(axis=2).any(axis=1).all()


def test_newton_leaves():
    req = request(problem(seed=4), curvature=np.random.default_rng(0).uniform(0.1, 1, 60))
    answer = NewtonTree(max_depth=2, l2_regularization=0.7).fit(req)
    for value in np.unique(answer.outputs, axis=0):
        part = (answer.outputs == value).all(axis=1)
        assert_allclose(value, req.G[part].sum(axis=0) / (req.curvature[part].sum() + 0.7), rtol=1e-12)


@pytest.mark.parametrize("learner", [GiniTree(max_leaf_nodes=5, max_depth=None), InfoTree(max_depth=3)])
def test_class_trees_do_not_look_at_rows_without_weight(learner):
    data, rng = problem(n=90, p=4, seed=2), np.random.default_rng(0)
    req = request(data, seed=2)
    weight = np.where(rng.random(90) < 0.2, req.weight, 0.0)
    answer = learner.fit(with_gradient(req, weight=weight))
    told = learner.fit(replace(with_gradient(req, weight=weight), rows=np.flatnonzero(weight)))
    assert_array_equal(answer.outputs, told.outputs)
    changed = with_gradient(req, weight=weight, labels=np.where(weight > 0, data.c, 2))
    assert_array_equal(learner.fit(changed).outputs, answer.outputs)
    assert len(learner.fit(with_gradient(req, weight=np.zeros(90))).hypothesis.tree.nodes) == 1


# ---- what every learner keeps to ------------------------------------------------------------------------------------


def ready(learner, req):
    """A request whose labels and weights a classifier can learn from too."""
    return with_classifier_weights(req) if req.G.shape[1] > 1 else req


@each("learner", LEARNERS)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_on_training_rows_are_the_hypothesis_outputs(learner, d, dtype):
    missing = 0.1 if isinstance(learner, TreeLearner | LinearRegressor) else 0.0
    data = problem(n=90, p=4, seed=6, missing=missing)
    data = replace(data, table=np.ascontiguousarray(data.X.astype(dtype)))
    rows, features = np.arange(0, 90, 2), np.array([1, 3])
    for more in ({}, {"rows": rows}, {"features": features}, {"rows": rows, "features": features}):
        answer = learner.fit(ready(learner, request(data, d=d, **more)))
        assert answer.outputs.shape == (90, d)
        assert_array_equal(answer.hypothesis.outputs(data.X), answer.outputs)
        assert_array_equal(answer.hypothesis.outputs(data.X, cpu_engine(2)), answer.outputs)


@each("learner", LEARNERS)
def test_outputs_do_not_depend_on_binning_into_few_bins(learner):
    data = replace(problem(n=90, p=4, seed=6), max_bins=4)
    answer = learner.fit(ready(learner, request(data)))
    assert_array_equal(answer.hypothesis.outputs(data.X), answer.outputs)


@each("learner", LEARNERS)
def test_only_the_given_rows_are_learned_from(learner):
    data = problem(n=80, p=3, seed=7)
    rows = np.sort(np.random.default_rng(0).choice(80, 50, replace=False))
    others = np.setdiff1d(np.arange(80), rows)
    req = ready(learner, request(data, rows=rows))
    G, labels, weight = req.G.copy(), req.labels.copy(), req.weight.copy()
    G[others], labels[others], weight[others] = 1e3, 0, 50.0
    spoilt = with_gradient(req, G=G, labels=labels, weight=weight)
    outputs = learner.fit(req).outputs
    assert_array_equal(learner.fit(spoilt).outputs, outputs)
    assert (learner.fit(replace(spoilt, rows=None)).outputs != outputs).any()  # the rows did matter


@each("learner", {**TREES, "linear": LinearRegressor()})
def test_only_the_given_features_are_used(learner):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 10))
    c = (X[:, 4] > 0).astype(int)  # feature 4 would be best
    Y = np.array([[1.0, 0.2], [-1.0, 0.1]])
    req = Request(training_set(X, c), Gradient(c, np.ones(80), G=Y[c]), Y)
    features = np.array([1, 9])

    def used(answer):
        h = answer.hypothesis
        return {h.feature} if isinstance(learner, LinearRegressor) else set(h.tree.nodes["feature"]) - {-1}

    assert 4 in used(learner.fit(req))
    assert used(learner.fit(replace(req, features=features))) <= {1, 9}


# ---- linear ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_linear_regressor_is_least_squares_on_the_best_feature(d, seed):
    data = problem(n=50, p=4, K=4, seed=seed)
    curvature = np.random.default_rng(seed).uniform(0.2, 2, 50) if seed % 2 else None
    rows = np.arange(5, 45) if seed >= 2 else None
    req = request(data, d=d, seed=seed, curvature=curvature, rows=rows)
    h = data.weight if curvature is None else curvature
    part = np.arange(50) if rows is None else rows
    root = np.sqrt(h[part])[:, None]
    targets = req.G[part] / h[part, None]
    fits = []
    for f in range(4):
        A = np.column_stack([data.X[:, f], np.ones(50)])
        solution = np.linalg.lstsq(root * A[part], root * targets, rcond=None)[0]
        fits.append((float((h[part, None] * (targets - A[part] @ solution) ** 2).sum()), f, A @ solution))
    _, feature, outputs = min(fits, key=lambda fit: fit[0])
    answer = LinearRegressor().fit(req)
    assert answer.hypothesis.feature == feature
    assert_allclose(answer.outputs, outputs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1000])
def test_linear_regressor_takes_gradients_whose_squares_are_no_numbers(scale):
    req = request(problem(n=50, p=4, seed=1))
    plain, scaled = (LinearRegressor().fit(with_gradient(req, G=factor * req.G)).outputs for factor in (1.0, scale))
    assert_array_equal(scaled, np.clip(scale * plain, -FARTHEST, FARTHEST))


@pytest.mark.parametrize("table", [np.asarray, csr_array])
@pytest.mark.parametrize("rows", [None, np.arange(3, 70)])
def test_linear_regressor_answers_many_requests_as_single_features_do(table, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 9)) * (rng.random((80, 9)) < 0.6)
    X[:, 4] = X[:, 1]  # a tie, which goes to the lower feature
    X[:, 5] = X[:, 2] * (1 + 1e-13 * rng.normal(size=80))  # nearly a tie
    X[:, 6], X[:, 7], X[:, 8] = 0.0, X[:, 0] * 1e-200, 1e6 + 1e-3 * X[:, 3]
    data = replace(training_set(X, np.arange(80) % 3), table=table(X))
    curvatures = [rng.uniform(1e-9, 1, 80) ** 4 for _ in range(4)]
    requests = [request(data, d=1, seed=s, curvature=h, rows=rows) for s, h in enumerate(curvatures)]
    requests[1] = with_gradient(requests[1], G=1e5 * X[:, [2]] + requests[1].G)
    requests[2] = with_gradient(requests[2], G=np.zeros((80, 1)))
    for req, answer in zip(requests, LinearRegressor().fit_each(requests), strict=True):
        single = [LinearRegressor().fit(replace(req, features=np.array([f]))) for f in range(9)]
        used = slice(None) if rows is None else rows
        target, h = (req.G[:, 0] / req.h)[used], req.h[used]
        left = np.array([(h * (target - each.outputs[used, 0]) ** 2).sum() for each in single])
        assert left[answer.hypothesis.feature] <= left.min() * (1 + 1e-9)
        assert_array_equal(answer.outputs, single[answer.hypothesis.feature].outputs)
        assert answer.hypothesis.feature != 4


def test_a_learner_made_from_the_linear_regressor_sees_every_request():
    asked = []

    @dataclass(eq=False, repr=False)
    class Counting(LinearRegressor):
        def fit(self, request):
            asked.append(request)
            return super().fit(request)

    requests = [request(problem(seed=1), d=1, seed=s) for s in range(3)]
    Counting().fit_each(requests)
    assert asked == requests


def test_linear_regressor_counts_missing_values_as_the_mean():
    data = problem(n=50, p=1, seed=3, missing=0.3)
    req = request(data)
    answer = LinearRegressor().fit(req)
    known = ~np.isnan(data.X[:, 0])
    mean = data.weight[known] @ data.X[known, 0] / data.weight[known].sum()
    filled = replace(data, table=np.where(known, data.X[:, 0], mean)[:, None])
    assert_allclose(answer.outputs, LinearRegressor().fit(replace(req, data=filled)).outputs, rtol=1e-10)


def test_linear_regressor_on_constant_and_empty_features():
    X = np.column_stack([np.full(20, 3.0), np.full(20, np.nan)])
    req = request(training_set(X, np.arange(20) % 3))
    answer = LinearRegressor().fit(req)
    assert_allclose(answer.outputs, np.tile(req.G.mean(axis=0), (20, 1)), rtol=1e-12)


# ---- scikit-learn estimators ----------------------------------------------------------------------------------------


def test_sklearn_classifier_answers_with_codewords():
    data = problem(n=80, seed=9)
    req = with_classifier_weights(request(data))
    answer = SklearnLearner(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(req)
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data.X, data.c, sample_weight=req.weight)
    assert_array_equal(answer.outputs, req.Y[theirs.predict(data.X)])
    scalar = request(data, d=1)
    outputs = SklearnLearner(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(scalar).outputs
    theirs = theirs.fit(data.X, np.sign(scalar.G[:, 0]), sample_weight=np.abs(scalar.G[:, 0]))
    assert_array_equal(outputs[:, 0], theirs.predict(data.X))


def test_sklearn_classifier_does_not_see_rows_without_weight():
    data = problem(n=80, seed=9)
    req = with_classifier_weights(request(data))
    req.weight[::2] = 0.0
    answer = SklearnLearner(DecisionTreeClassifier(random_state=0)).fit(req)
    odd = np.arange(1, 80, 2)
    theirs = DecisionTreeClassifier(random_state=0).fit(data.X[odd], data.c[odd], sample_weight=req.weight[odd])
    assert_array_equal(answer.outputs, req.Y[theirs.predict(data.X)])


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize(
    "estimator", [DecisionTreeRegressor(max_depth=2, random_state=0), Ridge(alpha=0.5), LinearRegression()], ids=str
)
def test_sklearn_regressor_fits_the_gradient(estimator, curved, d):
    data = problem(n=80, seed=10)
    curvature = np.random.default_rng(1).uniform(0.2, 2, 80) if curved else None
    req = request(data, d=d, curvature=curvature)
    h = data.weight if curvature is None else curvature
    theirs = estimator.fit(data.X, req.G / h[:, None], sample_weight=h)
    outputs = SklearnLearner(estimator).fit(req).outputs
    assert_allclose(outputs, theirs.predict(data.X).reshape(80, d), rtol=1e-9, atol=1e-12)


def test_sklearn_estimator_is_not_touched_and_gets_the_seed():
    estimator = DecisionTreeClassifier(splitter="random", max_depth=2)
    learner = SklearnLearner(estimator)
    req = with_classifier_weights(request(problem(n=80, seed=9)))
    fitted = [learner.fit(replace(req, seed=seed)) for seed in (1, 1, 2)]
    assert not hasattr(estimator, "tree_")
    assert estimator.random_state is None
    assert_array_equal(fitted[0].outputs, fitted[1].outputs)
    assert (fitted[0].outputs != fitted[2].outputs).any()
    assert fitted[2].hypothesis.estimator.random_state == 2


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KNeighborsClassifier(), "KNeighborsClassifier.* does not take sample_weight"),
        (StandardScaler(), "StandardScaler.* must be a scikit-learn classifier or regressor"),
    ],
    ids=str,
)
def test_estimators_that_cannot_boost_are_refused(estimator, message):
    with pytest.raises(TypeError, match=message):
        SklearnLearner(estimator).check()


def test_what_is_no_estimator_at_all_is_refused_with_a_message():
    with pytest.raises(TypeError, match="must be a scikit-learn classifier or regressor"):
        SklearnLearner("tree").check()
    with pytest.raises(TypeError, match="learner=3 must be"):
        as_learner(3)


@each("learner", LEARNERS)
def test_good_learners_pass_their_check(learner):
    learner.check()


def test_as_learner():
    assert isinstance(as_learner("stump"), Stump)
    assert isinstance(as_learner(Ridge()), SklearnLearner)
    own = ClassTree(max_depth=4)
    assert as_learner(own) is own
    with pytest.raises(ValueError, match=r"learner='tree' is unknown; choose one of .*'vector-tree'"):
        as_learner("tree")
    with pytest.raises(TypeError, match=r"pass an instance, Stump\(\)"):
        as_learner(Stump)
