"""Trees on values: the leaf of every row, sums of trees, and adding leaves; both engines, bit for bit."""

from itertools import cycle

import numpy as np
import pytest
from cases import ENGINES, GPU_ENGINES, each, each_engine
from engine_cases import draw_values, tree_problems
from hypothesis import given, settings
from scipy.sparse import csr_array
from twin import reference_engine

from simplexboost.engine import NODE, ForestArrays, Growth, Tree, cpu_engine

CPU, TWIN = cpu_engine(), reference_engine()
STRANGE = [
    np.nan,
    np.inf,
    -np.inf,
    -1.0,
    0.5,
    1.5,
    2.5,
    3.5,
    4.5,
    255.0,
    256.0,
    1e300,
]  # no categories, or none that training has seen


def walk(tree, x):
    """The leaf of one row, by the words of `Tree`."""
    at = 0
    while (node := tree.nodes[at])["feature"] >= 0:
        value = float(x[node["feature"]])
        if np.isnan(value):
            left = node["missing_left"]
        elif node["category"] < 0:
            left = value <= node["threshold"]
        elif value in range(256):
            left = tree.category_sets[node["category"]][int(value) // 8] >> (int(value) % 8) & 1
        else:
            left = node["missing_left"]
        at = node["left"] + (not left)
    return node["left"]


def grown_trees(n_trees, seed=0, n=150, p=5, max_leaf_nodes=9):
    """Trees with categories, the values they were grown on, and new ones that look strange here and there."""
    rng = np.random.default_rng(seed)
    categorical = np.arange(p) % 3 == 2
    X, new = draw_values(rng, n, p, 0.1, categorical), draw_values(rng, n, p, 0.1, categorical)
    new = np.where(rng.random(new.shape) < 0.2, rng.choice(STRANGE, new.shape), new)
    data, growth = (
        CPU.compute.bin(X, categorical=categorical),
        Growth(max_leaf_nodes=max_leaf_nodes, min_category_count=1),
    )
    statistics = [rng.normal(size=(n, 2)) for _ in range(n_trees)]
    trees = [CPU.compute.grow(data, s, "norm", growth, s).tree for s in statistics]
    assert any(len(tree.category_sets) for tree in trees)
    return trees, X, new, rng


# ---- leaves ---------------------------------------------------------------------------------------------------------


@each_engine
@settings(max_examples=100, deadline=None)
@given(tree_problems())
def test_prediction_on_values_equals_codes(engine, problem):
    """The thresholds of a tree send a row of values where its codes went."""
    arguments, X = problem
    grown = engine.compute.grow(**arguments)
    leaves = engine.compute.apply(grown.tree, X)
    assert leaves.dtype == np.int32 and leaves.tolist() == grown.leaf_of_row.tolist()


@each_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strange_values_find_their_leaves(engine, dtype):
    trees, _, new, _ = grown_trees(4)
    new = np.concatenate([new, np.array(STRANGE)[:, None] * np.ones(new.shape[1])])
    with np.errstate(over="ignore"):
        new = new.astype(dtype)
    for tree in trees:
        assert engine.compute.apply(tree, new).tolist() == [walk(tree, x) for x in new]


@each_engine
def test_all_known_values_against_the_missing_ones(engine):
    """Such a split has the threshold ∞, which +∞ does not lie above."""
    nodes = np.zeros(3, dtype=NODE)
    nodes["feature"], nodes["category"], nodes["left"], nodes["threshold"] = [0, -1, -1], -1, [1, 0, 1], [np.inf, 0, 0]
    tree = Tree(nodes, np.zeros(3), np.ones(3, dtype=np.int64))
    X = np.array([[np.inf], [np.nan], [-np.inf], [0.0]])
    assert engine.compute.apply(tree, X).tolist() == [0, 1, 0, 0]


# ---- forests --------------------------------------------------------------------------------------------------------


def make_forest(kind, dtype, n_trees=12, d=6):
    """Trees with values for all columns, dense or sparse, or for one column each."""
    trees, X, new, rng = grown_trees(n_trees)
    width = 1 if kind == "coordinates" else d
    values = [rng.normal(size=(tree.n_leaves, width)) * (rng.random((tree.n_leaves, width)) < 0.5) for tree in trees]
    if kind == "sparse":
        values = [csr_array(v.astype(dtype)) if t % 2 else v for t, v in enumerate(values)]
    coordinate = rng.integers(0, d, n_trees) if kind == "coordinates" else np.full(n_trees, -1)
    step = rng.uniform(0.01, 2.0, n_trees)
    arrays = ForestArrays(trees, values, coordinate.astype(np.int32), step, X.shape[1], np.dtype(dtype))
    return arrays, np.concatenate([X, new]), rng.normal(size=(2 * len(X), d)).astype(dtype)


@each_engine
@pytest.mark.parametrize("kind", ["dense", "sparse", "coordinates"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_forest_is_the_sum_of_its_trees(engine, kind, dtype):
    arrays, X, F = make_forest(kind, dtype)
    expected = F.astype(np.float64)
    for tree, values, j, step in zip(arrays.trees, arrays.values, arrays.coordinate, arrays.step, strict=True):
        table = step * (values.toarray() if kind == "sparse" and not isinstance(values, np.ndarray) else values)
        leaves = [walk(tree, x) for x in X]
        expected[:, j : j + 1 if j >= 0 else None] += table[leaves] if j >= 0 else 0.0
        if j < 0:
            expected += table[leaves]
    engine.compute.pack(arrays).predict(X, F, engine.compute.n_threads)
    np.testing.assert_allclose(F, expected, rtol=1e-12 if dtype == np.float64 else 1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse", "coordinates"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x_dtype", [np.float32, np.float64])
def test_forest_equals_twin(kind, dtype, x_dtype):
    """Values are multiplied by steps, then added tree after tree, in the precision of F."""
    arrays, X, F = make_forest(kind, dtype)
    with np.errstate(over="ignore"):
        X = X.astype(x_dtype)
    for rows in (slice(0), slice(1), slice(7, 60), slice(None)):
        ours, twin = F[rows].copy(), F[rows].copy()
        CPU.compute.pack(arrays).predict(X[rows], ours, 1)
        TWIN.compute.pack(arrays).predict(X[rows], twin, 1)
        assert ours.tobytes() == twin.tobytes()


# ---- symmetric trees ------------------------------------------------------------------------------------------------


def symmetric_tree(rng, depth, thresholds):
    """A complete tree with one split per level, on features whose next thresholds these are."""
    n_inner = 2**depth - 1
    nodes = np.zeros(2 * n_inner + 1, dtype=NODE)
    nodes["category"] = -1
    nodes["feature"][n_inner:], nodes["left"][n_inner:] = -1, np.arange(n_inner + 1)
    nodes["left"][:n_inner] = 2 * np.arange(n_inner) + 1
    for level in range(depth):
        f = rng.integers(0, len(thresholds))
        which = slice(2**level - 1, 2 ** (level + 1) - 1)
        nodes["feature"][which], nodes["missing_left"][which] = f, rng.integers(0, 2)
        nodes["threshold"][which] = next(thresholds[f])
    return Tree(nodes, np.zeros(len(nodes)), np.ones(len(nodes), dtype=np.int64))


def symmetric_forest(rng, depths, d, dtype, n_thresholds, kind="dense"):
    """Such trees, every fifth with another threshold somewhere, so that it is not symmetric."""
    thresholds = [np.append(rng.normal(size=n_thresholds - 1), np.inf) for _ in range(4)]
    following = [cycle(t) for t in thresholds]
    trees = [symmetric_tree(rng, depth, following) for depth in depths]
    for tree in trees[::5]:
        last = tree.n_leaves - 2
        tree.nodes["threshold"][last] = rng.choice(thresholds[tree.nodes["feature"][last]])
    width = 1 if kind == "coordinates" else d
    values = [rng.normal(size=(tree.n_leaves, width)) for tree in trees]
    if kind == "sparse":
        values = [csr_array(v * (rng.random(v.shape) < 0.3)) for v in values]
    coordinate = rng.integers(0, d, len(trees)) if kind == "coordinates" else np.full(len(trees), -1)
    step = rng.uniform(0.01, 2.0, len(trees))
    arrays = ForestArrays(trees, values, coordinate.astype(np.int32), step, len(thresholds), np.dtype(dtype))
    X = np.concatenate([rng.normal(size=(200, 4)), np.array(thresholds).T[:100], -np.abs(np.array(thresholds).T[:50])])
    return arrays, X


def assert_equals_twin(arrays, X, d, rng):
    F = rng.normal(size=(len(X), d)).astype(arrays.dtype)
    twin = F.copy()
    CPU.compute.pack(arrays).predict(X, F, 1)
    TWIN.compute.pack(arrays).predict(X, twin, 1)
    assert F.tobytes() == twin.tobytes()


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 9, 17, 40])
def test_symmetric_forest_equals_twin(d, dtype, missing):
    """For any number of columns, which vectors of several widths add up, and of levels, one and two bytes of them."""
    rng = np.random.default_rng(d)
    depths = [1, 2, 3, 6, 6, 7, 8, 9, 10, 0, 6, 11, 1, 5, 8, 4]
    arrays, X = symmetric_forest(rng, depths, d, dtype, n_thresholds=255)
    X[rng.random(X.shape) < missing] = np.nan
    for rows in (slice(1), slice(7, 70), slice(64), slice(None)):
        assert_equals_twin(arrays, X[rows], d, rng)


@pytest.mark.parametrize("kind", ["dense", "sparse", "coordinates"])
@pytest.mark.parametrize("n_thresholds", [1, 2, 254, 255, 256, 400])
def test_symmetric_forest_of_any_ranks(kind, n_thresholds):
    """Ranks are bytes up to 255 thresholds, beyond that they are not; more trees than are added together."""
    rng = np.random.default_rng(n_thresholds)
    arrays, X = symmetric_forest(rng, rng.integers(1, 7, 1000), 6, np.float32, n_thresholds, kind)
    used = [tree.nodes["threshold"][tree.nodes["feature"] == 0] for tree in arrays.trees]
    assert len(np.unique(np.concatenate(used))) == n_thresholds
    X[rng.random(X.shape) < 0.02] = np.nan
    assert_equals_twin(arrays, X.astype(np.float32), 6, rng)


def test_grown_symmetric_trees_equal_twin():
    """Numbers and categories, missing values in some blocks of rows only."""
    rng = np.random.default_rng(5)
    categorical = np.arange(6) == 4
    X = draw_values(rng, 1500, 6, 0.05, categorical)
    X[:700] = np.nan_to_num(X[:700])
    data = CPU.compute.bin(X, categorical=categorical)
    statistics = [rng.normal(size=(1500, 2)) + X[:, [t % 6]] * (t % 2) * 0.1 for t in range(10)]
    statistics = [np.nan_to_num(s) for s in statistics]
    growth = Growth(max_depth=5, order="symmetric", noise=2.0, seed=3)
    trees = [CPU.compute.grow(data, s, "norm", growth).tree for s in statistics]
    assert any(len(tree.category_sets) for tree in trees) and not all(len(tree.category_sets) for tree in trees)
    values = [rng.normal(size=(tree.n_leaves, 3)) for tree in trees]
    arrays = ForestArrays(trees, values, np.full(10, -1, dtype=np.int32), np.ones(10), 6, np.dtype(np.float64))
    assert_equals_twin(arrays, X, 3, rng)
    for tree in trees:
        assert CPU.compute.apply(tree, X).tolist() == TWIN.compute.apply(tree, X).tolist()


# ---- more than a packed forest can number ---------------------------------------------------------------------------


def large_forest(rng, sizes, kind, dtype, d=3, p=3):
    """Complete trees of so many levels, with a threshold of its own at every node."""
    trees = []
    for depth in sizes:
        tree = symmetric_tree(rng, depth, [cycle([0.0])] * p)
        inner = tree.nodes["feature"] >= 0
        tree.nodes["feature"][inner] = rng.integers(0, p, inner.sum())
        tree.nodes["threshold"][inner] = rng.normal(size=inner.sum())
        trees.append(tree)
    width = 1 if kind == "coordinates" else d
    values = [rng.normal(size=(tree.n_leaves, width)) for tree in trees]
    if kind == "sparse":
        values = [csr_array(v * (rng.random(v.shape) < 0.3)) for v in values]
    coordinate = rng.integers(0, d, len(trees)) if kind == "coordinates" else np.full(len(trees), -1)
    step = rng.uniform(0.01, 2.0, len(trees))
    return ForestArrays(trees, values, coordinate.astype(np.int32), step, p, np.dtype(dtype))


LARGE = {
    "thresholds": [13] * 13,  # 35 000 of every feature
    "a tree": [3, 16, 2],  # of 131 071 nodes, between two others
    "both": [12] * 30 + [16] + [2] * 3,
}


@each("engine", {"cpu": CPU} | GPU_ENGINES)
@pytest.mark.parametrize("kind", ["dense", "sparse", "coordinates"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", LARGE.values(), ids=LARGE)
def test_a_forest_of_any_size_equals_its_trees(engine, kind, dtype, sizes):
    """More thresholds of a feature, or more nodes of a tree, than have numbers of 16 bits."""
    rng = np.random.default_rng(0)
    arrays = large_forest(rng, sizes, kind, dtype)
    used = np.concatenate([tree.nodes["threshold"][tree.nodes["feature"] == 0] for tree in arrays.trees])
    assert len(np.unique(used)) > 2**15 or max(len(tree.nodes) for tree in arrays.trees) > 2**16 + 1
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    F = rng.normal(size=(60, 3)).astype(dtype)
    expected = F.copy()
    for tree, values, j, step in zip(arrays.trees, arrays.values, arrays.coordinate, arrays.step, strict=True):
        of_leaves = (values.toarray() if kind == "sparse" else values).astype(dtype) * dtype(step)
        expected[:, slice(None) if j < 0 else slice(j, j + 1)] += of_leaves[[walk(tree, x) for x in X]]
    sparse = csr_array(np.where(np.isnan(X), 0.0, X))
    zeros = np.zeros_like(F)
    engine.compute.pack(arrays).predict(sparse.toarray(), zeros, 1)
    for table, start, wanted in ((X, F, expected), (sparse, np.zeros_like(F), zeros)):
        found = start.copy()
        engine.compute.pack(arrays).predict(table, found, 2)
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("depth", [15, 16, 17])
def test_large_symmetric_trees_equal_twin(depth):
    """Leaves of symmetric trees are numbered in 16 bits, too."""
    rng = np.random.default_rng(depth)
    tree = symmetric_tree(rng, depth, [cycle(rng.normal(size=5)) for _ in range(4)])
    values = [np.arange(2.0**depth)[:, None]]
    arrays = ForestArrays([tree], values, np.full(1, -1, np.int32), np.ones(1), 4, np.dtype(np.float64))
    X, F = rng.normal(size=(300, 4)), np.zeros((300, 1))
    CPU.compute.pack(arrays).predict(X, F, 1)
    assert F[:, 0].tolist() == [walk(tree, x) for x in X]


def test_large_forests_refuse_other_columns():
    arrays = large_forest(np.random.default_rng(0), [16], "dense", np.float64)
    for F, X in ((np.zeros((9, 2)), np.zeros((9, 3))), (np.zeros((9, 3)), np.zeros((9, 4)))):
        with pytest.raises(ValueError):
            CPU.compute.pack(arrays).predict(X, F, 1)


# ---- adding leaves --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("filled", ["all", "one a leaf", "none"])
@pytest.mark.parametrize("d", [1, 3, 17])
def test_adding_leaves(dtype, filled, d):
    """F[i] += step · values[leaf of i], in the precision of F; the same bits on both engines."""
    rng = np.random.default_rng(d)
    F, leaf_of_row = rng.normal(size=(300, d)).astype(dtype), rng.integers(0, 5, 300).astype(np.int32)
    values = rng.normal(size=(5, d)).astype(dtype)
    values[
        {"all": np.zeros((5, d)), "one a leaf": np.arange(d) != rng.integers(0, d, (5, 1)), "none": 1}[filled] == 1
    ] = 0
    expected = np.array([F[i] + 0.3 * values[leaf] for i, leaf in enumerate(leaf_of_row)])
    results = {}
    for name, engine in ENGINES.items():
        results[name] = F.copy()
        engine.compute.add_leaves(results[name], values, 0.3, leaf_of_row)
        np.testing.assert_allclose(results[name], expected, rtol=1e-14 if dtype == np.float64 else 1e-6, atol=1e-7)
    assert results["cpu"].tobytes() == results["reference"].tobytes()
