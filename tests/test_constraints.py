"""Interaction constraints and monotone constraints: in the engine, in learners, and in the flagship."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from engine_cases import assert_same_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from twin import reference_engine
from twin.shards import sharded_engine

import simplexboost as sb
from simplexboost.engine import CPU, ORDERS, Growth, cpu_engine
from simplexboost.parts.learners import LEARNERS, NewtonTree, SketchTree, TreeLearner
from simplexboost.parts.learners.constraints import interactions, monotone_signs
from simplexboost.parts.learners.newton_trees import leaf_boxes, ordered_pairs, pool_values
from simplexboost.tables.training_set import TrainingSet

GROWTHS = list(ORDERS)


def table(n=400, p=6, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < missing] = np.nan
    return X


def training_set(X, K=2, **more):
    return TrainingSet(X, np.arange(len(X)) % K, np.ones(len(X)), K, **more)


def paths(tree):
    """The features on the path to every leaf."""
    above = {0: frozenset()}
    for node in range(len(tree.nodes)):
        if tree.nodes["feature"][node] >= 0:
            left = int(tree.nodes["left"][node])
            above[left] = above[left + 1] = above[node] | {int(tree.nodes["feature"][node])}
    return [above[node] for node in np.flatnonzero(tree.nodes["feature"] < 0)]


def within(path, together):
    if isinstance(together, int):
        return len(path) <= together
    return any(path <= set(group) for group in together)


# ---- interactions: the engine ---------------------------------------------------------------------------------------

TOGETHER = [1, 2, ((0, 1), (2, 3, 4), (5,)), ((0, 1, 2), (2, 3), (4, 5))]


@pytest.mark.parametrize("order", GROWTHS)
@pytest.mark.parametrize("together", TOGETHER)
@pytest.mark.parametrize("features", [None, np.array([0, 2, 3, 5])])
def test_paths_stay_in_a_group_in_all_engines(order, together, features):
    """Also with numbers and categories, missing values, noise, and a sample of the features."""
    X = table(missing=0.05)
    categorical = np.arange(6) == 3
    X[:, 3] = np.random.default_rng(1).integers(0, 8, len(X))
    G = np.column_stack([np.nan_to_num(X).prod(axis=1) + np.nan_to_num(X).sum(axis=1), np.ones(len(X))])
    growth = Growth(max_leaf_nodes=32, order=order, l2_regularization=1.0, noise=0.5, seed=3, interactions=together)
    engines = [CPU, cpu_engine(2), reference_engine(), sharded_engine(cuts=(90, 91, 300))]
    grown = [
        engine.compute.grow(engine.compute.bin(X, 255, categorical), G, "newton", growth, features=features)
        for engine in engines
    ]
    assert all(within(path, together) for path in paths(grown[0].tree))
    assert grown[0].tree.n_leaves > 4
    for other in grown[1:]:
        assert_same_tree(grown[0], other)


def test_large_nodes_of_several_threads_are_constrained_too():
    """Large nodes are scanned by all threads together, block by block of features."""
    X = table(40_000, 30, seed=2)
    G = np.column_stack([X[:, 0] * X[:, 1] + X[:, 5] * X[:, 20], np.ones(len(X))])
    together = (tuple(range(0, 10)), tuple(range(5, 30)))
    growth = Growth(max_leaf_nodes=64, order="best", interactions=together)
    grown = [cpu_engine(k).compute.grow(CPU.compute.bin(X), G, "newton", growth) for k in (1, 4)]
    assert_same_tree(*grown)
    assert all(within(path, together) for path in paths(grown[0].tree))


def test_a_constraint_that_forbids_nothing_changes_nothing():
    X = table()
    G = np.column_stack([X.prod(axis=1), np.ones(len(X))])
    for order in GROWTHS:
        free, all_together, many = (
            CPU.compute.grow(CPU.compute.bin(X), G, "newton", Growth(max_leaf_nodes=16, order=order, interactions=t))
            for t in (0, (tuple(range(6)),), 6)
        )
        assert_same_tree(free, all_together)
        assert_same_tree(free, many)


# ---- interactions: what users write ---------------------------------------------------------------------------------


def test_interaction_cst_as_in_scikit_learn():
    for p in (2, 4):
        data = training_set(np.zeros((2, p)))
        pairs = tuple(combinations(range(p), 2))
        G = np.random.default_rng(0).normal(size=(200, 2)) ** 2
        X = table(200, p)
        for word, groups in (("pairwise", pairs), ("no_interactions", tuple((f,) for f in range(p)))):
            trees = [
                CPU.compute.grow(CPU.compute.bin(X), G, "newton", Growth(max_leaf_nodes=16, interactions=t))
                for t in (interactions(word, data), groups)
            ]
            assert_same_tree(*trees)
    named = training_set(np.zeros((2, 3)), names=np.array(["a", "b", "c"], dtype=object))
    assert interactions([{"a", "c"}], named) == ((0, 2), (1,)) == interactions([{"c", 0}], named)


@pytest.mark.parametrize(
    ("cst", "message"),
    [
        ([0, 1], "Interaction constraints must be a sequence of tuples or lists"),
        (3, "Interaction constraints must be a sequence of tuples or lists"),
        (["ab"], "Interaction constraints must be a sequence of tuples or lists"),
        ([{0, 9999}], r"interaction_cst names the feature 9999; positions are 0 .. 3"),
        ([{-1, 0}], r"interaction_cst names the feature -1; positions are 0 .. 3"),
        ([{0.5}], r"interaction_cst names the feature 0.5; positions are 0 .. 3"),
        ([{"x"}], r"interaction_cst names the features \['x'\], but X has no column names"),
        ("pairs", "interaction_cst='pairs' is unknown; choose 'pairwise'"),
    ],
)
def test_wrong_interaction_cst(cst, message):
    X, y = table(60, 4), np.arange(60) % 3
    for clf in (
        sb.SimplexBoostClassifier(interaction_cst=cst),
        sb.BoostingClassifier(learner=NewtonTree(interaction_cst=cst)),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y)


def test_unknown_names_are_listed():
    X = pd.DataFrame(table(60, 3), columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"\['z'\], which X does not have; X has \['a', 'b', 'c'\]"):
        sb.SimplexBoostClassifier(interaction_cst=[{"a", "z"}]).fit(X, np.arange(60) % 2)


@pytest.mark.parametrize("name", [name for name, kind in LEARNERS.items() if issubclass(kind, TreeLearner)])
def test_every_tree_learner_takes_interaction_cst(name):
    X = table(300, 4)
    y = (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] > 0)
    learner = LEARNERS[name](interaction_cst=[{0, 1}, {2, 3}])
    optimizer, step = ("sketched-newton", "fixed") if name == "sketch-tree" else ("gradient", "line-search")
    codewords = "canonical" if name in ("sign-tree", "hamming-tree", "subset-tree") else "simplex"
    clf = sb.BoostingClassifier("logistic", codewords, learner, optimizer, step, n_estimators=8).fit(X, y)
    assert all(within(path, ((0, 1), (2, 3))) for tree in clf.model_.trees for path in paths(tree))


@pytest.mark.parametrize("growth", ["auto", *GROWTHS])
def test_the_flagship_finds_no_forbidden_interaction(growth):
    """Without interactions the scores are sums of functions of one feature: all mixed differences vanish."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    y = np.digitize(X.sum(axis=1) + 5 * X.prod(axis=1), [1.0, 2.5])
    clf = sb.SimplexBoostClassifier(
        interaction_cst=[{0}, {1}], growth=growth, n_estimators="auto" if growth == "auto" else 30, random_state=0
    ).fit(X, y)
    a, b = rng.uniform(size=(2, 200, 2))
    corners = [
        np.column_stack(c) for c in ((a[:, 0], a[:, 1]), (b[:, 0], b[:, 1]), (a[:, 0], b[:, 1]), (b[:, 0], a[:, 1]))
    ]
    same, both, one, other = (clf.class_scores(c) for c in corners)
    np.testing.assert_allclose(same + both, one + other, atol=1e-4)


def test_names_and_positions_give_the_same_model(tmp_path):
    X = pd.DataFrame(table(300, 4), columns=list("abcd"))
    y = (X["a"] * X["b"] > 0).to_numpy() + 2 * (X["c"] > 0).to_numpy()
    by_name, by_number = (
        sb.SimplexBoostClassifier(interaction_cst=cst, n_estimators=5, random_state=0).fit(X, y)
        for cst in ([{"a", "b"}], [(0, 1)])
    )
    np.testing.assert_array_equal(by_name.predict_proba(X), by_number.predict_proba(X))
    by_name.save(tmp_path / "model")
    np.testing.assert_array_equal(sb.load(tmp_path / "model").predict_proba(X), by_name.predict_proba(X))


# ---- monotone constraints: one tree ---------------------------------------------------------------------------------


def test_pooling_is_isotonic_regression_on_a_chain():
    from sklearn.isotonic import isotonic_regression

    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 30))
        v, w = rng.normal(size=n), rng.exponential(size=n) + 0.01
        chain = np.arange(n - 1)
        ours = pool_values(v, w, chain, chain + 1)
        np.testing.assert_allclose(ours, isotonic_regression(v, sample_weight=w), atol=1e-12)
        assert (np.diff(ours) >= 0).all()


def points_of_grid(X, rng, n_others=30):
    """Values of every feature between and beyond all thresholds; and points of such values, some missing, at random."""
    grids = []
    for x in X.T:
        known = np.unique(x[~np.isnan(x)])
        grids.append(np.unique(np.concatenate([known, (known[1:] + known[:-1]) / 2, known[:1] - 1, known[-1:] + 1])))
    others = np.column_stack([rng.choice(np.append(grid, np.nan), n_others) for grid in grids])
    return grids, others


def assert_monotone(scores, X, signs, rng):
    """Scores (n, K) of a model follow the signs (K, p), to the last bit, along every line of a grid."""
    grids, others = points_of_grid(X, rng)
    for f in np.flatnonzero(np.any(signs, axis=0)):
        lines = np.repeat(others[:, None, :], len(grids[f]), axis=1)  # (m, grid, p)
        lines[:, :, f] = grids[f]
        U = scores(lines.reshape(-1, X.shape[1])).reshape(*lines.shape[:2], -1)  # (m, grid, K)
        for k, sign in enumerate(signs[:, f].tolist()):
            assert sign == 0 or (sign * np.diff(U[:, :, k], axis=1) >= 0).all(), (f, k, sign)


@st.composite
def monotone_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p, K = draw(st.integers(5, 80)), draw(st.integers(1, 5)), draw(st.integers(2, 5))
    X = np.round(rng.normal(size=(n, p)) * draw(st.sampled_from([1, 2, 20]))) / 2
    X[rng.random((n, p)) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    signs = rng.integers(-1, 2, size=(K, p))
    return X, rng.integers(0, K, n), K, signs, draw(st.sampled_from(GROWTHS)), rng


@settings(max_examples=60, deadline=None)
@given(monotone_problems())
def test_a_model_is_monotone_on_a_grid_whatever_the_data(problem):
    """Labels at random, so that every constraint binds; subsamples, the choice's shapes, and a temperature besides."""
    X, c, K, signs, growth, rng = problem
    if len(np.unique(c)) < K:
        return
    clf = sb.SimplexBoostClassifier(
        n_estimators=8,
        growth=growth,
        monotonic_cst={k: signs[k].tolist() for k in range(K)},
        min_samples_leaf=1,
        l2_regularization=0.01,
        subsample=0.7,
        calibration=0.8,
        random_state=0,
    ).fit(X, c)
    assert_monotone(clf.class_scores, X, signs, rng)


def test_the_pairs_of_leaves_are_those_that_steps_along_features_connect():
    """Brute force: points of a grid of cells, a step along one feature at a time."""
    rng = np.random.default_rng(5)
    for order in GROWTHS:
        X = rng.integers(0, 4, size=(60, 3)).astype(float)
        X[rng.random(X.shape) < 0.2] = np.nan
        G = np.column_stack([rng.normal(size=60), np.ones(60)])
        tree = CPU.compute.grow(CPU.compute.bin(X), G, "newton", Growth(max_leaf_nodes=16, order=order)).tree
        signs = np.array([1, -1, 0])
        a, b = ordered_pairs(leaf_boxes(tree), signs)
        reach = np.zeros((tree.n_leaves, tree.n_leaves), dtype=bool)
        reach[a, b] = True
        values = [0.0, 1.0, 2.0, 3.0, np.nan]
        points = np.array([[x, y, z] for x in values for y in values for z in values])
        leaf = dict(zip(map(bytes, points), CPU.compute.apply(tree, points).tolist(), strict=True))
        found = np.zeros_like(reach)
        for point in points:
            for f in (0, 1):
                if np.isnan(point[f]) or point[f] + 1 > 3:
                    continue
                above = point.copy()
                above[f] += 1
                pair = (leaf[point.tobytes()], leaf[above.tobytes()])[:: signs[f]]
                if pair[0] != pair[1]:
                    found[pair] = True
        for step in (reach, found):  # what follows from the pairs
            for k in range(len(step)):
                step |= step[:, [k]] & step[[k]]
        np.testing.assert_array_equal(reach, found)


# ---- monotone constraints: the flagship -----------------------------------------------------------------------------


def waves(n=1500, seed=0):
    """Two features of a clear trend with waves around it, and a third one without effect."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    t = 5 * X[:, 0] + np.sin(10 * np.pi * X[:, 0]) - 5 * X[:, 1] - np.cos(10 * np.pi * X[:, 1])
    return X, t + rng.normal(scale=0.5, size=n)


@pytest.mark.parametrize("growth", ["auto", *GROWTHS])
def test_two_classes_as_in_scikit_learn(growth):
    """The probability of the second class follows the list of signs; a dict by name says the same."""
    X, t = waves()
    y = np.where(t > 0, "yes", "no")
    options = {"growth": growth, "n_estimators": "auto" if growth == "auto" else 40, "random_state": 0}
    free = sb.SimplexBoostClassifier(**options).fit(X, y)
    clf = sb.SimplexBoostClassifier(monotonic_cst=[1, -1, 0], **options).fit(X, y)
    assert_monotone(clf.class_scores, X[:300], np.array([[-1, 1, 0], [1, -1, 0]]), np.random.default_rng(1))
    line = np.full((400, 3), 0.5)
    line[:, 0] = np.linspace(0, 1, 400)
    assert (np.diff(free.predict_proba(line)[:, 1]) < -1e-3).any()
    assert (np.diff(clf.predict_proba(line)[:, 1]) >= -1e-7).all()
    assert clf.predict_proba(line)[-1, 1] > clf.predict_proba(line)[0, 1] + 0.5
    assert clf.score(X, y) > 0.85
    frame = pd.DataFrame(X, columns=["up", "down", "other"])
    named = sb.SimplexBoostClassifier(monotonic_cst={"up": 1, "down": -1}, **options).fit(frame, y)
    np.testing.assert_array_equal(named.predict_proba(frame), clf.predict_proba(X))
    of_class = sb.SimplexBoostClassifier(monotonic_cst={"yes": {0: 1, 1: -1}}, **options).fit(X, y)
    np.testing.assert_array_equal(of_class.predict_proba(X), clf.predict_proba(X))


def test_a_class_against_all_others():
    """If the others are constrained the other way, the probability itself is monotone, not the score alone."""
    X, t = waves()
    y = np.digitize(t, [-1.5, 1.5])
    cst = {2: [1, 0, 0], 0: {0: -1}, 1: {0: -1}}
    clf = sb.SimplexBoostClassifier(monotonic_cst=cst, n_estimators=60, random_state=0).fit(X, y)
    lines = np.random.default_rng(0).uniform(size=(50, 1, 3)).repeat(200, axis=1)
    lines[:, :, 0] = np.linspace(0, 1, 200)
    P = clf.predict_proba(lines.reshape(-1, 3)).reshape(50, 200, 3)
    assert (np.diff(P[:, :, 2], axis=1) >= -1e-6).all()
    assert P[:, -1, 2].mean() > P[:, 0, 2].mean() + 0.3


def test_many_classes_keep_sparse_leaves_and_constraints():
    """From 33 classes on medians are subtracted and small values dropped; the constraint holds for what remains."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(800, 3)), 1)
    y = np.clip(np.round(10 * X[:, 0] + rng.normal(size=800, scale=8)) + 20, 0, 39).astype(int)
    y[:40] = np.arange(40)
    signs = np.zeros((40, 3), dtype=int)
    signs[39, 0], signs[0, 0], signs[7, 1] = 1, -1, 1
    cst = {39: [1, 0, 0], 0: [-1, 0, 0], 7: [0, 1, 0]}
    clf = sb.SimplexBoostClassifier(monotonic_cst=cst, n_estimators=15, random_state=0).fit(X, y)
    assert_monotone(clf.class_scores, X, signs, rng)


def test_the_choice_respects_constraints(monkeypatch):
    """All trees of all trials are monotone, not only those of the fit."""
    from simplexboost.parts.learners import newton_trees

    seen = []
    monkeypatch.setattr(
        newton_trees, "make_monotone", lambda tree, values, weight, signs: seen.append(signs) or values, raising=True
    )
    X, t = waves(300)
    clf = sb.SimplexBoostClassifier(monotonic_cst=[1, 0, 0], random_state=0).fit(X, t > 0)
    assert len(seen) > clf.n_iter_ + 50
    assert all((signs == [[-1, 0, 0], [1, 0, 0]]).all() for signs in seen)


def test_absent_classes_have_no_constraint():
    X, t = waves(200)
    options = {"n_estimators": 5, "random_state": 0}
    some = sb.SimplexBoostClassifier(
        classes=["a", "b", "c"], monotonic_cst={"a": [1, 0, 0], "c": [0, -1, 0]}, **options
    )
    some.fit(X, np.where(t > 0, "a", "c"))
    plain = sb.SimplexBoostClassifier(monotonic_cst={"a": [1, 0, 0], "c": [0, -1, 0]}, **options)
    plain.fit(X, np.where(t > 0, "a", "c"))
    np.testing.assert_array_equal(some.predict_proba(X)[:, [0, 2]], plain.predict_proba(X))


def test_constraints_in_compositions():
    """Trees of Newton steps take them too, if every coordinate is a class."""
    X, t = waves(400)
    y = np.digitize(t, [-1, 1])
    learner = NewtonTree(max_depth=3, monotonic_cst={0: [-1, 0, 0], 2: [1, 0, 0]})
    signs = np.array([[-1, 0, 0], [0, 0, 0], [1, 0, 0]])
    for optimizer in ("newton", "gradient"):
        clf = sb.BoostingClassifier("logistic", "canonical", learner, optimizer, n_estimators=10).fit(X, y)
        assert_monotone(clf.class_scores, X[:200], signs, np.random.default_rng(0))
    with pytest.raises(ValueError, match="monotonic_cst needs codewords='canonical'"):
        sb.BoostingClassifier("logistic", "simplex", learner, "newton").fit(X, y)
    with pytest.raises(ValueError, match="one coordinate at a time"):
        sb.BoostingClassifier("logistic", "canonical", learner, "all-coordinates").fit(X, y)


def test_a_constraint_of_zeros_changes_nothing():
    X, t = waves(300)
    models = [
        sb.SimplexBoostClassifier(monotonic_cst=cst, n_estimators=5, random_state=0).fit(X, t > 0)
        for cst in (None, [0, 0, 0], {})
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize(
    ("cst", "K", "message"),
    [
        ([1, 0, -1, 0], 2, r"monotonic_cst has shape \(4,\) but the input data X has 3 features"),
        ([1, 3, 0], 2, r"must be an array-like of -1, 0 or 1. Observed values: \[3\]"),
        ([0.3, -0.7, 0], 2, "must be an array-like of -1, 0 or 1. Observed values:"),
        (["+", 0, 0], 2, "must be an array-like of -1, 0 or 1. Observed values:"),
        ([1, 0, 0], 3, "monotonic constraints are not supported for multiclass classification unless they say"),
        ({0: 1}, 3, "monotonic constraints are not supported for multiclass classification unless they say"),
        ({"d": 1}, 2, r"monotonic_cst names the features \['d'\], but X has no column names; pass positions"),
        ({5: 1}, 2, r"monotonic_cst names the feature 5; positions are 0 .. 2"),
        ({1: "+"}, 2, r"monotonic_cst\[1\] must be either -1, 0 or 1. Got '\+'"),
        ({9: [1, 0, 0]}, 3, "monotonic_cst holds 9, which is none of the classes of the model; these are 0, 1, 2"),
    ],
)
def test_wrong_monotonic_cst(cst, K, message):
    X = table(60, 3)
    with pytest.raises(ValueError, match=message):
        sb.SimplexBoostClassifier(monotonic_cst=cst).fit(X, np.arange(60) % K)


def test_wrong_names_and_categories():
    X = pd.DataFrame({"a": np.arange(60) % 7, "b": pd.Categorical(np.arange(60) % 3)})
    y = np.arange(60) % 2
    with pytest.raises(
        ValueError, match=r"names the features \['c', 'd'\], which X does not have; X has \['a', 'b'\]."
    ):
        sb.SimplexBoostClassifier(monotonic_cst={"d": 1, "a": 1, "c": -1}).fit(X, y)
    with pytest.raises(ValueError, match=r"names the features \['c', 'd', 'e', 'f', 'g', '...'\], which"):
        sb.SimplexBoostClassifier(monotonic_cst=dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 1)).fit(X, y)
    with pytest.raises(ValueError, match="Categorical features cannot have monotonic constraints"):
        sb.SimplexBoostClassifier(monotonic_cst={"b": 1}).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst needs codewords='canonical'"):
        sb.SimplexBoostClassifier(monotonic_cst={"a": 1}, codewords="simplex").fit(X, y)


def test_signs_of_an_array_for_all_classes():
    data = training_set(np.zeros((3, 2)), K=3)
    np.testing.assert_array_equal(monotone_signs(np.array([[0, 1], [0, 0], [-1, 0]]), data), [[0, 1], [0, 0], [-1, 0]])
    assert SketchTree(monotonic_cst=[1]).get_params()["monotonic_cst"] == [1]


def test_constraints_survive_saving_and_warm_start(tmp_path):
    X, t = waves(400)
    y = np.digitize(t, [-1, 1])
    clf = sb.SimplexBoostClassifier(
        monotonic_cst={2: {0: 1}}, interaction_cst=[{0, 1}], n_estimators=5, warm_start=True, random_state=0
    ).fit(X, y)
    clf.save(tmp_path / "model")
    again = sb.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    again.set_params(n_estimators=12).fit(X, y)
    clf.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_monotone(again.class_scores, X[:200], np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]]), np.random.default_rng(0))


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize(
    "constraint",
    [{"interaction_cst": [{0, 1}, {2, 3, 4}]}, {"interaction_cst": "pairwise"}, {"monotonic_cst": {2: {2: 1, 3: -1}}}],
)
def test_sparse_tables_are_constrained_alike(growth, constraint):
    """The same model from a sparse table and from given scores besides, bit for bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9)) * (rng.random((300, 9)) < 0.3)
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3] + 0.3 * rng.normal(size=300), [-0.3, 0.3])
    start = rng.normal(size=(300, 3))
    dense, sparse = (
        sb.SimplexBoostClassifier(n_estimators=8, growth=growth, random_state=0, **constraint)
        .fit(table, y, init_score=start)
        .predict_proba(table, init_score=start)
        for table in (X, csr_array(X))
    )
    np.testing.assert_array_equal(dense, sparse)
