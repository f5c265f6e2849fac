"""Trees and sums are the same however the work is shared among threads; the problems are large enough to be cut."""

import numpy as np
import pytest
from twin import reference_engine

from simplexboost.engine import Growth, OneHot, cpu_engine

N, P = 30_000, 20
THREADS = (2, 3, 16)


def problem(n=N, p=P, m=2, seed=0):
    """Codes with missing values and categories, and statistics (n, m) whose last column is a curvature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random(size=X.shape) < 0.02] = np.nan
    X[:, -1] = rng.integers(30, size=n)
    statistics = rng.normal(size=(n, m)) + np.nan_to_num(X[:, :1]) * (X[:, 1:2] > 0.3)
    statistics[:, -1] = np.abs(statistics[:, -1])
    binned = cpu_engine().compute.bin(X, categorical=np.arange(p) == p - 1)
    return binned, statistics


def bytes_of(grown):
    tree = grown.tree
    arrays = (tree.nodes, tree.gain, tree.count, tree.category_sets, grown.leaf_of_row, grown.leaf_sums)
    return b"".join(array.tobytes() for array in arrays)


@pytest.mark.parametrize(
    "growth",
    [
        {"order": "best", "max_leaf_nodes": 100},
        {"order": "best", "max_leaf_nodes": 40, "histogram_memory": 2**17, "bits": 32, "seed": 3},
        {"order": "best", "max_leaf_nodes": 60, "noise": 1.0, "seed": 5},
        {"order": "level", "max_depth": 7},
        {"order": "level", "min_samples_leaf": 200},
        {"order": "symmetric", "max_depth": 6},
    ],
    ids=str,
)
@pytest.mark.parametrize("sampled", [False, True])
def test_trees_do_not_depend_on_threads(growth, sampled):
    binned, statistics = problem()
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(N, 2 * N // 3, replace=False)) if sampled else None
    features = np.sort(rng.choice(P, P // 2, replace=False)) if sampled else None
    arguments = (binned, statistics, "newton", Growth(**growth), statistics, rows, features)
    one = bytes_of(cpu_engine().compute.grow(*arguments))
    for n_threads in THREADS:
        assert bytes_of(cpu_engine(n_threads).compute.grow(*arguments)) == one


@pytest.mark.parametrize("score", ["max", "gini", "entropy"])
def test_trees_of_classes_do_not_depend_on_threads(score):
    binned, statistics = problem(n=12_000)
    rng = np.random.default_rng(2)
    classes = rng.integers(9, size=len(statistics)).astype(np.int32)
    arguments = (binned, OneHot(classes, np.abs(statistics[:, 0]), 9), score, Growth(max_leaf_nodes=30, order="best"))
    one = bytes_of(cpu_engine().compute.grow(*arguments))
    for n_threads in THREADS:
        assert bytes_of(cpu_engine(n_threads).compute.grow(*arguments)) == one


def test_a_large_tree_is_the_twins():
    """Nodes of all kinds: expanded by all threads, side by side, and for nothing."""
    binned, statistics = problem(n=6000, p=9)
    arguments = (binned, statistics, "newton", Growth(max_leaf_nodes=70, order="best"), statistics)
    twin = bytes_of(reference_engine().compute.grow(*arguments))
    for n_threads in (1, *THREADS):
        assert bytes_of(cpu_engine(n_threads).compute.grow(*arguments)) == twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 1000, 70_001])
def test_totals_are_the_twins(dtype, n):
    rng = np.random.default_rng(n)
    values = (rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9, size=(n, 2))).astype(dtype)
    twin = reference_engine()
    for n_threads in (1, 4):
        engine = cpu_engine(n_threads)
        assert engine.rows.total(values[:, 0]) == twin.rows.total(values[:, 0])
        if dtype == np.float64:
            assert engine.rows.total_size(values[:, 1:]) == twin.rows.total_size(values[:, 1:])
            assert engine.rows.total_size(values) == twin.rows.total_size(values)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 600, 49_999])
def test_totals_of_numbers_that_are_not_finite(odd, place):
    values = np.ones((50_000, 1))
    values[place] = odd
    for n_threads in (1, 4):
        engine = cpu_engine(n_threads)
        np.testing.assert_equal(engine.rows.total(values[:, 0]), odd)
        np.testing.assert_equal(engine.rows.total(values[:, 0].astype(np.float32)), odd)
        np.testing.assert_equal(engine.rows.total_size(values), abs(odd))
