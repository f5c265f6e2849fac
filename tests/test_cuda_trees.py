"""The kernels of the GPU engine: trees, leaves and explanations are those of the processor."""

import numpy as np
import pytest
from cases import GPU_ENGINES, each
from cuda_emulator import EmulatedDevice, library
from engine_cases import assert_same_tree, large_problem, row_problem
from gpu_cases import table

import simplexboost as sb
from simplexboost.engine import CpuCompute, Growth, LeafRule, cpu_engine, cuda_engine
from simplexboost.engine.cuda import forest, growing
from simplexboost.explain import shapley


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("s", [1, 3])
@pytest.mark.parametrize("rows", [None, np.arange(1, 300, 3)], ids=["all rows", "some rows"])
def test_totals_of_a_pull(engine, s, rows):
    """The kernel's sums, which are begun with the leaves of a tree that is growing, and those of CuPy or NumPy."""
    problem, F, Z = row_problem(5, None, weighted=True)
    work = engine.compute.row_loss(problem)
    F = work.to_device(F)
    statistics = work.pull(F, np.ascontiguousarray(Z[:, :s]))
    later = work.gradient_size(statistics, rows)
    data = engine.compute.bin(np.random.default_rng(0).normal(size=(300, 3)))
    grown = engine.compute.grow(data, statistics, "newton", Growth(max_leaf_nodes=5, order="best"), rows=rows)
    values = work.leaves(F, grown, rows, LeafRule(1.0, 2.0))
    g = engine.device.to_host(statistics)[slice(None) if rows is None else rows, :-1]
    size = np.linalg.norm(g, axis=1).sum()
    assert later == pytest.approx(size) and work.gradient_size(statistics, rows) == pytest.approx(size)
    assert work.risk() == pytest.approx(np.average(engine.device.to_host(work.loss), weights=problem.weight))
    assert len(values) == 5 and np.asarray(values).shape == (5, 5) and np.abs(np.asarray(values)).max() <= values.bound


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("expected", [0, 10**6])
def test_thin_leaves_come_as_pairs(engine, expected):
    """However many of them were expected: leaf values that are zero stay on the device."""
    problem, F, Z = row_problem(40, None, n=300)
    work = engine.compute.row_loss(problem)
    F, work._expected[0] = work.to_device(F), expected
    data = engine.compute.bin(np.random.default_rng(0).normal(size=(300, 3)))
    growth = Growth(max_leaf_nodes=7, order="best")
    grown = engine.compute.grow(data, work.pull(F, np.ascontiguousarray(Z[:, :1])), "newton", growth)
    values = work.leaves(F, grown, None, LeafRule(1.0, 2.0, 0.3))
    assert values.sparse.toarray().tobytes() == np.asarray(values).tobytes()
    assert values.sparse.shape == (7, 40) and 0 < values.sparse.nnz == np.count_nonzero(np.asarray(values)) < 280
    assert work._expected[0] < 2000


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("leaves", [3, 20, 60])
@pytest.mark.parametrize("little_memory", [False, True])
def test_trees_below_a_split_of_small_gain(engine, leaves, little_memory, monkeypatch):
    """All nodes below such a split have its least gain on their paths, so that only their own gains tell the order."""
    rng = np.random.default_rng(0)
    X = rng.random((2000, 4))
    g = np.sign(X[:, 0] - 0.5) * np.sign(X[:, 1] - 0.5) + 0.5 * rng.normal(size=2000)
    statistics, growth = np.column_stack([g, np.ones(2000)]), Growth(max_leaf_nodes=leaves, order="best")
    if little_memory:  # cells for as many expansions as the tree has splits
        sizes = growing.tree_sizes
        monkeypatch.setattr(growing, "tree_sizes", lambda *a: sizes(*a) | {"cell_capacity": 2 * leaves})
    data = cpu_engine().compute.bin(X)
    expected = cpu_engine().compute.grow(data, statistics, "newton", growth)
    assert expected.tree.n_leaves == leaves
    assert_same_tree(expected, engine.compute.grow(data, statistics, "newton", growth))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("m", [1, 2, 20, 100])
@pytest.mark.parametrize("leaves", [2, 255, 300, 5000])
def test_shared_memory_is_enough_on_small_gpus(bits, m, leaves):
    growth = Growth(max_leaf_nodes=leaves, order="best", bits=bits)
    assert growing.tree_sizes(256, 50, True, m, growth, 10**6)["shared"] <= 64 * 1024


@each("engine", GPU_ENGINES)
def test_trees_of_very_many_columns_are_left_to_the_processor(engine, monkeypatch):
    """A warp that searches has a few numbers of every column in shared memory."""
    rng = np.random.default_rng(0)
    data, statistics = cpu_engine().compute.bin(rng.normal(size=(60, 2)), 20), rng.normal(size=(60, 2000))
    growth = Growth(max_depth=2)
    expected = cpu_engine().compute.grow(data, statistics, "norm", growth)
    monkeypatch.setattr(growing.TreeGrower, "grow", None)
    assert_same_tree(expected, engine.compute.grow(data, statistics, "norm", growth))


@pytest.mark.gxx
def test_memory_for_the_order_of_categories_counts(monkeypatch):
    """With many columns and categories it is most of the memory; without enough, the processor grows the tree."""
    rng, m = np.random.default_rng(0), 60
    X, V = np.column_stack([rng.normal(size=400), rng.integers(0, 9, 400)]), rng.normal(size=(400, m))
    data, growth = cpu_engine().compute.bin(X, 20, np.array([False, True])), Growth(max_leaf_nodes=8)
    device = EmulatedDevice()
    grower = growing.TreeGrower.of(device, data)
    taken = []
    monkeypatch.setattr(
        device, "empty", lambda shape, dtype: taken.append(EmulatedDevice.empty(device, shape, dtype)) or taken[-1]
    )
    expected = cpu_engine().compute.grow(data, V, "norm", growth)
    assert_same_tree(expected, cuda_engine(1, device).compute.grow(data, V, "norm", growth))
    forecast = grower.bytes_needed(m, m, growth, 400)
    assert sum(array.nbytes for array in taken) <= 1.02 * forecast + 2**16
    little = EmulatedDevice(memory=forecast - 1)
    monkeypatch.setattr(growing.TreeGrower, "grow", None)
    assert_same_tree(expected, cuda_engine(1, little).compute.grow(data, V, "norm", growth))


@each("engine", GPU_ENGINES)
def test_trees_with_different_groups_of_features_on_one_table(engine):
    """The groups of the first ones must still be there when a later tree has them again."""
    data, statistics, score = large_problem(600, 6, 2, "newton")
    kinds = [
        Growth(max_leaf_nodes=12, interactions=groups) for groups in (((0, 1), (2, 3)), ((4, 5), (0, 2)), ((1, 3, 5),))
    ]
    expected = [cpu_engine().compute.grow(data, statistics, score, growth) for growth in kinds]
    for _ in range(2):  # the first tree takes memory that changes the layout
        engine.compute.grow(data, statistics, score, kinds[0])
    layouts = growing.TreeGrower.of(engine.device, data)._layouts
    first = next(iter(layouts.values()))
    for _ in range(2):
        for growth, tree in zip(kinds, expected, strict=True):
            assert_same_tree(tree, engine.compute.grow(data, statistics, score, growth))
    assert len(layouts) == 3 and int(first.arguments.record["groups"]) == engine.device.pointer(first.groups)


@pytest.mark.gxx
def test_python_and_kernels_agree_about_structures():
    kernels = library("tree", (("LANE", "int"), ("SCORE", 0), ("COLUMNS", 2), ("BINS", 32)))
    sizes = kernels.problem_size(), kernels.cell_size(), kernels.state_size()
    assert sizes == (growing.PROBLEM.itemsize, growing.CELL_BYTES, growing.STATE_BYTES)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (50, 2), (33, 3), (130, 26), (3000, 10), (5, 438)])
def test_leaves_are_added_to_rows_of_any_width(engine, n, d):
    rng = np.random.default_rng(0)
    F, values = rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=(9, d)).astype(np.float32)
    leaf_of_row = rng.integers(0, 9, n).astype(np.int32)
    there = engine.device.upload(F)
    engine.compute.add_leaves(there, values, 0.1, leaf_of_row)
    assert engine.device.to_host(there).tobytes() == (F + np.float32(0.1) * values[leaf_of_row]).tobytes()


@each("engine", GPU_ENGINES)
def test_symmetric_trees_are_grown_on_the_device(engine, monkeypatch):
    """Up to ten levels; deeper ones are left to the processor."""
    data, statistics, score = large_problem(2000, 5, 3, "newton")
    for limits in ({"max_depth": 3}, {"max_leaf_nodes": 64}, {"max_depth": 10}):
        growth = Growth(order="symmetric", min_samples_leaf=20, **limits)
        expected = cpu_engine().compute.grow(data, statistics, score, growth)
        with monkeypatch.context() as patched:
            patched.setattr(CpuCompute, "grow", None)
            assert_same_tree(expected, engine.compute.grow(data, statistics, score, growth))
    monkeypatch.setattr(growing.TreeGrower, "grow", None)
    deep = Growth(order="symmetric", max_depth=11)
    assert_same_tree(
        cpu_engine().compute.grow(data, statistics, score, deep), engine.compute.grow(data, statistics, score, deep)
    )


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    ("K", "p", "parameters"),
    [(2, 4, {}), (4, 4, {"categorical_features": [3]}), (20, 4, {}), (40, 5, {}), (3, 30, {"max_leaf_nodes": 60})],
    ids=["two classes", "categories", "as many classes as lanes", "more classes than lanes", "long paths"],
)
def test_explanations_are_those_of_the_processor(engine, K, p, parameters, monkeypatch):
    monkeypatch.setattr(forest, "FEW_ROWS", 33)
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(400, p)), np.arange(400) % K
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = np.nan_to_num(np.abs(np.round(2 * X[:, 3])))
    y = (c + (X[:, 0] > 0) + (X[:, 1] > X[:, 2])) % K
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, **parameters).fit(X, y)
    M, total = clf.model_.Y.T.astype(np.float64), rng.normal(size=(70, K))
    for rows, sums in ((X[:70], None), (X[:70].astype(np.float32), total)):
        found, expected = (shapley.compute_values(clf.model_, rows, M, e, None, sums) for e in (engine, cpu_engine()))
        np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_allclose(found.sum(axis=1), total, atol=1e-12)
    whole = np.nan_to_num(np.round(X[:40])).astype(np.int64)
    found, expected = (shapley.compute_values(clf.model_, whole, M, e) for e in (engine, cpu_engine()))
    np.testing.assert_allclose(found, expected, atol=2e-6)
    few = shapley.compute_values(clf.model_, X[:33], M, engine)
    assert few.tobytes() == shapley.compute_values(clf.model_, X[:70], M, engine)[:33].tobytes()


@each("engine", GPU_ENGINES)
def test_what_the_device_does_not_explain(engine, on_gpu, monkeypatch):
    """Few rows, a background, and models without a split."""
    monkeypatch.setattr(forest, "FEW_ROWS", 33)
    X, y = table()
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, device="cuda").fit(X, y)
    on_device = sb.explain.shap_values(clf, X, classes=1)
    monkeypatch.setattr(forest.DevicePaths, "explain", None)
    with pytest.raises(TypeError):
        sb.explain.shap_values(clf, X, classes=1)
    np.testing.assert_allclose(sb.explain.shap_values(clf, X[:5], classes=1), on_device[:5], atol=2e-6)
    assert sb.explain.shap_values(clf, X, background=X[:9]).shape == (200, 4, 4)
    stump = sb.SimplexBoostClassifier(n_estimators=2, min_samples_leaf=150, device="cuda").fit(X, y)
    assert not sb.explain.shap_values(stump, X).any()
