"""Trees: both engines against what no engine may violate, and the compiled engine against its twin, bit for bit."""

import math

import numpy as np
import pytest
from cases import each_engine
from engine_cases import (
    NAIVE_SCORES,
    assert_same_tree,
    draw_statistics,
    draw_values,
    large_problem,
    splits_of,
    tree_problems,
)
from hypothesis import given, settings
from twin import reference_engine
from twin.trees import dense_values, quantize

from simplexboost.engine import SCORES, CpuCompute, Growth, OneHot, cpu_engine

CPU, TWIN = cpu_engine(), reference_engine()


# ---- the twin -------------------------------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(tree_problems())
def test_engine_equals_twin(problem):
    arguments, _ = problem
    assert_same_tree(CPU.compute.grow(**arguments), TWIN.compute.grow(**arguments))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("m", [2, 5, 8, 14, 26, 40])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("order", ["best", "symmetric"])
def test_class_weights_equal_twin(score, m, bits, order):
    """One non-zero a row under every score, for every width of the vector loops: one to four vectors, and more."""
    rng = np.random.default_rng(m)
    X = draw_values(rng, 400, 4, missing=0.1, categorical=[3])
    data, statistics = (
        CPU.compute.bin(X, categorical=np.arange(4) == 3),
        draw_statistics(rng, 400, m, score, one_hot=True),
    )
    growth = Growth(max_leaf_nodes=8, order=order, min_samples_leaf=2, bits=bits, seed=5)
    arguments = (data, statistics, score, growth, rng.normal(size=(400, 2)))
    grown = CPU.compute.grow(*arguments)
    assert grown.tree.n_leaves == 8 or order == "symmetric"
    assert_same_tree(grown, TWIN.compute.grow(*arguments))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("min_samples_leaf", [1, 20])
@pytest.mark.parametrize("order", ["best", "symmetric"])
def test_one_gradient_column_equals_twin(bits, min_samples_leaf, order):
    """The flagship's own scan, on 255 bins with missing values."""
    data, statistics, score = large_problem(n=2500, p=7, m=2, score="newton")
    growth = Growth(
        max_leaf_nodes=25,
        order=order,
        min_samples_leaf=min_samples_leaf,
        bits=bits,
        seed=3,
        l2_regularization=0.5,
    )
    arguments = (data, statistics, score, growth, statistics)
    assert_same_tree(cpu_engine(2).compute.grow(*arguments), TWIN.compute.grow(*arguments))


# ---- what no engine may violate -------------------------------------------------------------------------------------


@each_engine
@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_a_stump_is_the_best_split_of_all(engine, score, one_hot):
    rng = np.random.default_rng(3)
    X = draw_values(rng, 40, 5, missing=0.15)
    statistics = draw_statistics(rng, 40, 4, score, one_hot)
    if score == "gini":
        statistics = statistics if one_hot else np.abs(statistics)
    values = np.eye(4)[statistics.classes] * statistics.weight[:, None] if one_hot else statistics
    naive = NAIVE_SCORES[score]
    gains = {
        (f, left.tobytes()): naive(values[left].sum(axis=0)) + naive(values[~left].sum(axis=0)) - naive(values.sum(0))
        for f, left in splits_of(X)
    }
    growth = Growth(max_depth=1, l2_regularization=0.5)
    grown = engine.compute.grow(engine.compute.bin(X), statistics, score, growth, values)
    root, left = grown.tree.nodes[0], grown.leaf_of_row == 0
    assert grown.tree.gain[0] == pytest.approx(max(gains.values()), rel=1e-9)
    assert gains[root["feature"], left.tobytes()] == pytest.approx(grown.tree.gain[0], rel=1e-9)
    np.testing.assert_allclose(grown.leaf_sums, [values[left].sum(axis=0), values[~left].sum(axis=0)], rtol=1e-12)


@each_engine
def test_ties_go_to_the_lower_feature_and_the_lower_bin(engine):
    x = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    X = np.column_stack([np.zeros(6), x, x[::-1], x])
    G = np.array([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0])[:, None]
    root = engine.compute.grow(engine.compute.bin(X), G, "norm", Growth(max_depth=1), G).tree.nodes[0]
    assert (root["feature"], root["bin"], root["threshold"]) == (1, 0, 0.5)


@each_engine
def test_missing_values_go_where_they_gain(engine):
    x = np.array([0.0, 1.0, np.nan, 0.0, 1.0, np.nan])
    for missing, side in ((-1.0, True), (1.0, False)):
        G = np.where(np.isnan(x), missing, np.where(x == 0, -1.0, 1.0))[:, None]
        grown = engine.compute.grow(engine.compute.bin(x[:, None]), G, "norm", Growth(), G)
        assert grown.tree.n_leaves == 2 and grown.tree.nodes[0]["missing_left"] == side


def levels_of(tree):
    """The number of levels of a symmetric tree: a complete one, with one split per level."""
    levels = (tree.n_leaves - 1).bit_length()
    assert tree.nodes["left"][: tree.n_leaves - 1].tolist() == [2 * i + 1 for i in range(tree.n_leaves - 1)]
    for level in range(levels):
        nodes = tree.nodes[2**level - 1 : 2 ** (level + 1) - 1]
        for field in ("feature", "threshold", "bin", "missing_left", "category"):
            assert len(set(nodes[field].tolist())) == 1
    return levels


@each_engine
@settings(max_examples=50, deadline=None)
@given(tree_problems())
def test_sums_are_conserved_and_limits_kept(engine, problem):
    """Every row is in one leaf: counts and sums over the leaves are those of the rows."""
    arguments, _ = problem
    grown, growth = engine.compute.grow(**arguments), arguments["growth"]
    rows = np.arange(arguments["data"].n) if arguments["rows"] is None else arguments["rows"]
    is_leaf = grown.tree.nodes["feature"] < 0
    counts = grown.tree.count[is_leaf]
    assert counts.sum() == len(rows)
    values = arguments["leaf_statistics"]
    values = dense_values(arguments["statistics"]) if values is None else values
    scale = np.maximum(np.abs(values[rows]).max(axis=0), 1e-300)
    np.testing.assert_allclose(grown.leaf_sums.sum(axis=0) / scale, values[rows].sum(axis=0) / scale, atol=1e-12)
    assert (np.bincount(grown.leaf_of_row[rows], minlength=is_leaf.sum()) == counts).all()
    if growth.order == "symmetric":  # a level is split for the sake of some nodes; children of others may be empty
        assert grown.tree.n_leaves == 2 ** levels_of(grown.tree) <= 2**growth.levels
    else:
        assert grown.tree.n_leaves == 1 or counts.min() >= growth.min_samples_leaf
    assert growth.max_leaf_nodes == 0 or grown.tree.n_leaves <= growth.max_leaf_nodes
    assert growth.max_depth == 0 or grown.tree.n_leaves <= 2**growth.max_depth
    used = set(grown.tree.nodes["feature"][~is_leaf])
    assert arguments["features"] is None or used <= set(arguments["features"])


@each_engine
def test_one_hot_equals_dense(engine):
    """One non-zero a row, told as such or written out: the same tree."""
    n = 3000 if isinstance(engine.compute, CpuCompute) else 300
    data, _, _ = large_problem(n, p=6)
    rng = np.random.default_rng(1)
    classes, weight = rng.integers(0, 7, n), np.ldexp(1.0, -rng.integers(0, 9, n))  # exact in any unit
    dense = np.zeros((n, 7))
    dense[np.arange(n), classes] = weight
    growth = Growth(max_leaf_nodes=10, order="best")
    for score in ("norm", "max", "entropy", "gini"):
        sparse_tree = engine.compute.grow(data, OneHot(classes, weight, 7), score, growth, dense)
        assert_same_tree(sparse_tree, engine.compute.grow(data, dense, score, growth, dense))


@each_engine
def test_repacked_rows_and_features_change_nothing(engine):
    """A permutation of the features renames them, one of the rows renames the rows."""
    n = 2000 if isinstance(engine.compute, CpuCompute) else 300
    _, statistics, score = large_problem(n)
    rng = np.random.default_rng(2)
    X, G = rng.normal(size=(n, 11)), statistics
    growth = Growth(max_leaf_nodes=16, order="best")
    grown = engine.compute.grow(engine.compute.bin(X), statistics, score, growth, G)
    order = rng.permutation(n)
    shuffled = engine.compute.grow(engine.compute.bin(X[order]), G[order], score, growth, G[order])
    assert grown.tree.nodes.tobytes() == shuffled.tree.nodes.tobytes()
    columns = rng.permutation(11)
    renamed = engine.compute.grow(engine.compute.bin(X[:, columns]), statistics, score, growth, G)
    inner = grown.tree.nodes["feature"] >= 0
    assert (columns[renamed.tree.nodes["feature"][inner]] == grown.tree.nodes["feature"][inner]).all()


@each_engine
def test_leaf_sums_are_exact_in_any_order(engine):
    """Sums are the same for any order of the rows, and keep digits that sums of doubles lose."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5000, 2)) * 10.0 ** rng.uniform(-12, 3, size=(5000, 2))
    data, ones = engine.compute.bin(np.zeros((5000, 1))), np.ones((5000, 1))  # a single leaf
    sums = engine.compute.grow(data, ones, "norm", Growth(), values).leaf_sums
    again = engine.compute.grow(data, ones, "norm", Growth(), values[rng.permutation(5000)]).leaf_sums
    assert sums.tobytes() == again.tobytes()
    assert sums[0] == pytest.approx([math.fsum(column) for column in values.T], rel=1e-15)


@each_engine
def test_totals_are_exact_in_any_order(engine):
    rng = np.random.default_rng(0)
    for n in (1, 7, 8, 1000, 100_003):
        values = rng.normal(size=n) * 10.0 ** rng.uniform(-12, 3, size=n)
        total = engine.rows.total(values)
        assert total == engine.rows.total(rng.permutation(values)) == CPU.rows.total(values)
        assert total == pytest.approx(math.fsum(values), rel=1e-15)
    assert engine.rows.total(np.array([1e300, 1.0, -1e300])) == 0.0  # digits beyond 100 bits are lost, in any order
    assert engine.rows.total(np.array([2.0**60, 1.0, -(2.0**60)])) == 1.0
    assert engine.rows.total(np.array([1.0, np.inf])) == np.inf and np.isnan(engine.rows.total(np.array([1.0, np.nan])))


@each_engine
def test_a_huge_min_samples_leaf_is_a_single_leaf(engine):
    """Twice the number would overflow."""
    data, statistics, score = large_problem(100)
    assert engine.compute.grow(data, statistics, score, Growth(min_samples_leaf=2**62)).tree.n_leaves == 1


# ---- fixed point ----------------------------------------------------------------------------------------------------


def test_rounding_of_32_bit_lanes_is_unbiased():
    """A statistic far below one unit survives on average."""
    values = np.full((200_000, 1), 1e-7)
    values[0] = 1.0
    rows = np.arange(len(values))
    lanes, unit = quantize(values, rows, Growth(bits=32, seed=3))
    total = lanes[1:, 0].sum() * unit[0]
    exact = values[1:].sum()
    assert 0 < unit[0] and abs(total - exact) < 5 * np.sqrt(exact * unit[0])


def test_64_bit_lanes_keep_forty_bits():
    """Boosting weights span many orders of magnitude: the largest keeps at least 40 significant bits."""
    values = np.exp(np.random.default_rng(0).normal(scale=8, size=(100_000, 1)))
    _, unit = quantize(values, np.arange(len(values)), Growth())
    assert values.max() / unit[0] > 2**40


@pytest.mark.parametrize("order", ["level", "symmetric"])
@pytest.mark.parametrize("seed", range(20))
def test_of_splits_that_are_almost_equally_good_the_first_wins(order, seed):
    """Mirrored statistics have mirrored scores, but for their last digits."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=int(rng.integers(2, 120)))
    g = np.concatenate([half, -half[::-1]]) * 10.0 ** rng.integers(-3, 4)
    X = np.column_stack([np.arange(len(g)), -np.arange(len(g)), rng.normal(size=len(g))])
    statistics = np.column_stack([g, np.full(len(g), 0.1)]) * (1.0 + 1e-14 * rng.normal(size=(len(g), 2)))
    growth = Growth(max_depth=2, order=order, l2_regularization=0.3)
    one, two = (
        engine.compute.grow(engine.compute.bin(X), statistics, "newton", growth).tree
        for engine in (cpu_engine(), reference_engine())
    )
    assert one.nodes.tobytes() == two.nodes.tobytes()
