"""The compiled engine against its NumPy twin, bit for bit, and against what no engine may violate."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simplexboost.binning import bin_data

from simplexboost import _kernels
from simplexboost.engine import NODE, SCORES, SET_BYTES, Dense, Growth, OneHot, apply, cpu, node_bytes, reference


def assert_equal(a, b):
    assert a.tree.nodes.tobytes() == b.tree.nodes.tobytes()
    assert a.tree.gain.tobytes() == b.tree.gain.tobytes()
    assert a.tree.category_sets.tolist() == b.tree.category_sets.tolist()
    assert a.tree.count.tolist() == b.tree.count.tolist()
    assert a.leaf_of_row.tolist() == b.leaf_of_row.tolist()
    assert a.leaf_sums.tobytes() == b.leaf_sums.tobytes()


def draw_values(rng, n, p, missing, categorical):
    X = np.round(rng.normal(size=(n, p)) * rng.choice([1, 3, 50], size=p)) / 2
    X[:, categorical] = rng.integers(0, rng.choice([1, 2, 7, 254], size=p), size=(n, p))[:, categorical]
    X[rng.random((n, p)) < missing] = np.nan
    return X


@st.composite
def problems(draw):
    """Everything a tree is grown from: odd shapes, ties, categories, missing values, huge and tiny statistics."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(1, 60)), draw(st.integers(1, 19))
    categorical = rng.random(p) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    X = draw_values(rng, n, p, draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])), categorical)
    data = bin_data(X, max_bins=draw(st.sampled_from([2, 5, 255])), categorical=categorical)
    score = draw(st.sampled_from(list(SCORES)))
    m = draw(st.integers(2, 11))
    magnitude = 10.0 ** draw(st.sampled_from([-300, -20, 0, 3, 150]))
    if draw(st.booleans()) and score in ("max", "entropy"):
        statistics = OneHot(rng.integers(0, m, n), rng.exponential(size=n) * magnitude, m)
    else:
        values = np.round(rng.normal(size=(n, m)), draw(st.sampled_from([0, 1, 12])))
        if score == "newton":
            values[:, -1] = np.abs(values[:, -1])
            magnitude = min(magnitude, 1e3)  # squares of 1e150 overflow
        statistics = Dense(np.abs(values) * magnitude if score == "entropy" else values * min(magnitude, 1e100))
    growth = Growth(
        max_depth=draw(st.sampled_from([0, 1, 2, 5])),
        max_leaves=draw(st.sampled_from([0, 2, 7])),
        min_samples_leaf=draw(st.integers(1, 5)),
        best_first=draw(st.booleans()),
        l2=draw(st.sampled_from([0.0, 1.0])),
        bits=draw(st.sampled_from([32, 64])),
        seed=draw(st.integers(0, 2**63)),
        histogram_memory=draw(st.sampled_from([0, 2**29])),
        min_category_count=draw(st.sampled_from([0, 1, 3])),
        category_smoothing=draw(st.sampled_from([0.0, 1.0, 10.0])),
    )
    rows = np.flatnonzero(rng.random(n) < 0.7) if draw(st.booleans()) else None
    features = np.flatnonzero(rng.random(p) < 0.7) if draw(st.booleans()) else None
    return {
        "data": data,
        "statistics": statistics,
        "score": score,
        "growth": growth,
        "leaf_statistics": rng.normal(size=(n, draw(st.integers(1, 4)))),
        "rows": None if rows is None or len(rows) == 0 else rows,
        "features": None if features is None or len(features) == 0 else features,
    }, X


@settings(max_examples=400, deadline=None)
@given(problems())
def test_engine_equals_twin(problem):
    arguments, _ = problem
    assert_equal(cpu.grow(**arguments), reference.grow(**arguments))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_prediction_on_values_equals_codes(problem):
    """The thresholds of a tree send a row of values where its codes went."""
    arguments, X = problem
    grown = cpu.grow(**arguments)
    assert apply(grown.tree, X).tolist() == grown.leaf_of_row.tolist()


@settings(max_examples=50, deadline=None)
@given(problems())
def test_sums_are_conserved(problem):
    """Every row is in one leaf: counts and sums over the leaves are those of the rows."""
    arguments, _ = problem
    grown = cpu.grow(**arguments)
    rows = np.arange(arguments["data"].n) if arguments["rows"] is None else arguments["rows"]
    is_leaf = grown.tree.nodes["feature"] < 0
    assert grown.tree.count[is_leaf].sum() == len(rows)
    np.testing.assert_allclose(grown.leaf_sums.sum(axis=0), arguments["leaf_statistics"][rows].sum(axis=0), atol=1e-9)
    assert (np.bincount(grown.leaf_of_row[rows], minlength=is_leaf.sum()) == grown.tree.count[is_leaf]).all()


def large_problem(n=30_000, p=21, m=5, score="norm", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1::3] = rng.integers(0, 40, size=(n, p))[:, 1::3]  # categories
    X[rng.random((n, p)) < 0.02] = np.nan
    values = rng.normal(size=(n, m)) + np.nan_to_num(X[:, :1]) + np.isin(X[:, [1 % p]], [3, 5, 29])
    values[:, -1] = np.abs(values[:, -1])
    return bin_data(X, categorical=np.arange(p) % 3 == 1), Dense(values), score


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("best_first", [False, True])
def test_same_bits_for_any_number_of_threads(score, bits, best_first):
    """Large enough that rows are cut, features are shared out and partitions run in parallel."""
    data, statistics, score = large_problem(score=score)
    if score == "entropy":
        statistics = Dense(np.abs(statistics.values))
    growth = Growth(max_leaves=20, best_first=best_first, bits=bits, seed=7)
    one, *others = (
        cpu.grow(data, statistics, score, growth, statistics.values, n_threads=threads) for threads in (1, 2, 3, 8)
    )
    for other in others:
        assert_equal(one, other)


@pytest.mark.parametrize("max_leaves", [5, 30, 200, 0])
@pytest.mark.parametrize("best_first", [False, True])
def test_small_nodes_side_by_side(max_leaves, best_first):
    """Nodes may be expanded before their turn, or in vain; the tree and the rows of its leaves stay the same."""
    data, statistics, score = large_problem(n=6000, m=2, score="newton")
    growth = Growth(max_leaves=max_leaves, best_first=best_first, min_samples_leaf=5, l2=1.0)
    one, *others = (
        cpu.grow(data, statistics, score, growth, statistics.values, n_threads=threads) for threads in (1, 2, 5, 8)
    )
    for other in others:
        assert_equal(one, other)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("min_samples_leaf", [1, 20])
def test_one_gradient_column_equals_twin(bits, min_samples_leaf):
    """The flagship's own scan, on 255 bins with missing values."""
    data, statistics, score = large_problem(n=2500, p=7, m=2, score="newton")
    growth = Growth(max_leaves=25, best_first=True, min_samples_leaf=min_samples_leaf, bits=bits, seed=3, l2=0.5)
    arguments = (data, statistics, score, growth, statistics.values)
    assert_equal(cpu.grow(*arguments, n_threads=2), reference.grow(*arguments))


@pytest.mark.parametrize("p", [1, 3])
def test_rows_are_cut_when_features_are_few(p):
    """With a single block of features only cutting by rows feeds several threads."""
    data, statistics, score = large_problem(n=50_000, p=p)
    growth = Growth(max_leaves=8)
    one, eight = (cpu.grow(data, statistics, score, growth, statistics.values, n_threads=t) for t in (1, 8))
    assert_equal(one, eight)


def test_one_hot_equals_dense():
    """One non-zero a row, told as such or written out: the same tree."""
    data, _, _ = large_problem(n=3000)
    rng = np.random.default_rng(1)
    classes, weight = rng.integers(0, 7, 3000), np.ldexp(1.0, -rng.integers(0, 9, 3000))
    dense = np.zeros((3000, 7))
    dense[np.arange(3000), classes] = weight
    growth = Growth(max_leaves=30, best_first=True)
    for score in ("max", "entropy"):
        sparse_tree = cpu.grow(data, OneHot(classes, weight, 7), score, growth, dense)
        assert_equal(sparse_tree, cpu.grow(data, Dense(dense), score, growth, dense))


def test_repacked_rows_and_features_change_nothing():
    """A permutation of the features renames them, one of the rows renames the rows."""
    _, statistics, score = large_problem(n=2000)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 11))
    growth = Growth(max_leaves=16, best_first=True)
    grown = cpu.grow(bin_data(X), statistics, score, growth, statistics.values)
    order = rng.permutation(2000)
    shuffled = cpu.grow(bin_data(X[order]), Dense(statistics.values[order]), score, growth, statistics.values[order])
    assert grown.tree.nodes.tobytes() == shuffled.tree.nodes.tobytes()
    columns = rng.permutation(11)
    renamed = cpu.grow(bin_data(X[:, columns]), statistics, score, growth, statistics.values)
    inner = grown.tree.nodes["feature"] >= 0
    assert (columns[renamed.tree.nodes["feature"][inner]] == grown.tree.nodes["feature"][inner]).all()


def test_rounding_of_32_bit_lanes_is_unbiased():
    """A statistic far below one unit survives on average."""
    values = np.full((200_000, 1), 1e-7)
    values[0] = 1.0
    rows = np.arange(len(values))
    lanes, unit = reference.quantize(Dense(values), rows, Growth(bits=32, seed=3))
    total = lanes[1:, 0].sum() * unit[0]
    exact = values[1:].sum()
    assert 0 < unit[0] and abs(total - exact) < 5 * np.sqrt(exact * unit[0])


def test_64_bit_lanes_keep_forty_bits():
    """Boosting weights span many orders of magnitude: the largest keeps at least 40 significant bits."""
    values = np.exp(np.random.default_rng(0).normal(scale=8, size=(100_000, 1)))
    _, unit = reference.quantize(Dense(values), np.arange(len(values)), Growth())
    assert values.max() / unit[0] > 2**40


def test_threads_after_fork():
    """A forked child has none of its parent's threads; the pool must notice."""
    script = """
import os, sys
import numpy as np
from simplexboost.binning import bin_data
from simplexboost.engine import Dense, Growth, grow
X = np.random.default_rng(0).normal(size=(60_000, 16))
data = bin_data(X, n_threads=2)
run = lambda: grow(data, Dense(X[:, :3]), "norm", Growth(max_depth=3), X[:, :3], n_threads=2).tree.nodes.tobytes()
before = run()
child = os.fork()
if child == 0:
    os._exit(0 if run() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or (run() != before))
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_same_bits_on_every_instruction_set(isa):
    """A model does not depend on the machine it was trained on."""
    script = """
import hashlib
import numpy as np
from simplexboost import GDMCBoostClassifier, _kernels
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 9)), rng.integers(0, 5, 500)
model = GDMCBoostClassifier(n_estimators=10).fit(X, y).model_
trees = b"".join(t.nodes.tobytes() + t.gain.tobytes() for t in model.trees)
steps = np.array([term.step for term in model.terms]).tobytes()
print(_kernels.instruction_set(), hashlib.sha256(trees + steps).hexdigest())
"""

    def run(**environment):
        out = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return out.stdout.split()

    name, digest = run(SIMPLEXBOOST_ISA=isa)
    assert name in (isa, "baseline")  # a machine without AVX2 falls back
    assert digest == run()[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.array([3, 1])}, "ascending"),
        ({"rows": np.array([], dtype=int)}, "rows"),
        ({"rows": np.array([0, 10**6])}, "rows"),
        ({"features": np.array([99])}, "features"),
        ({"statistics": Dense(np.ones((5, 2)))}, "statistics"),
        ({"statistics": OneHot(np.full(200, 9), np.ones(200), 3)}, "classes"),
        ({"leaf_statistics": np.ones((5, 1))}, "leaf_statistics"),
        ({"growth": Growth(bits=16)}, "bits"),
        ({"growth": Growth(min_category_count=-1)}, "min_category_count"),
        ({"growth": Growth(category_smoothing=-1.0)}, "category_smoothing"),
    ],
)
def test_bindings_refuse_nonsense(change, message):
    """Nothing reaches the kernels that could make them read outside their arrays."""
    rng = np.random.default_rng(0)
    arguments = {
        "data": bin_data(rng.normal(size=(200, 3))),
        "statistics": Dense(rng.normal(size=(200, 2))),
        "score": "norm",
        "growth": Growth(),
        "leaf_statistics": np.ones((200, 1)),
    }
    with pytest.raises(ValueError, match=message):
        cpu.grow(**(arguments | change))


# ---- forests and trees that lead astray -----------------------------------------------------------------------------


def two_splits(**changes):
    """Nodes of a tree with three leaves: feature 0 by a threshold, then feature 1 by a set; some fields changed."""
    nodes = np.zeros(5, dtype=NODE)
    nodes["feature"], nodes["left"] = [0, 1, -1, -1, -1], [1, 3, 0, 1, 2]
    nodes["category"] = [-1, 0, -1, -1, -1]
    for name, values in changes.items():
        nodes[name] = values
    return node_bytes(nodes)


def starts(*numbers):
    return np.array(numbers, dtype=np.int64)


# Two trees of `two_splits`, each with a category set and with d = 2 values for each of its leaves.
FOREST = {
    "nodes": np.concatenate([two_splits(), two_splits()]),
    "first_node": starts(0, 5, 10),
    "values": np.ones(12),
    "first_value": starts(0, 6, 12),
    "columns": None,
    "row_start": None,
    "coordinate": np.array([-1, -1], dtype=np.int32),
    "step": np.ones(2),
    "category_sets": np.full((2, SET_BYTES), 255, dtype=np.uint8),
    "first_set": starts(0, 1, 2),
    "n_features": 2,
}
SPARSE = {"columns": np.tile([0, 1], 6).astype(np.int32), "row_start": starts(0, 2, 4, 6, 8, 10, 12)}
ONE_COORDINATE = {"coordinate": np.array([0, 2], np.int32), "values": np.ones(6), "first_value": starts(0, 3, 6)}
ASTRAY = [
    ({"feature": [0, 2, -1, -1, -1]}, "feature that X does not have"),
    ({"left": [0, 3, 0, 1, 2]}, "forward"),
    ({"left": [1, 4, 0, 1, 2]}, "forward"),
    ({"left": [1, 2**31 - 1, 0, 1, 2]}, "forward"),
    ({"left": [1, -1, 0, 1, 2]}, "forward"),
    ({"left": [1, 3, 3, 1, 2]}, "leaf"),
    ({"left": [1, 3, -1, 1, 2]}, "leaf"),
    ({"category": [-1, 1, -1, -1, -1]}, "category set"),
    ({"threshold": np.nan}, "NaN"),
]


def predict(F_columns=2, X_columns=2, **changes):
    F = np.zeros((9, F_columns))
    _kernels.Forest64(**(FOREST | changes)).predict(np.full((9, X_columns), np.inf), F, 1)
    return F


def test_the_forests_that_are_damaged_below_are_sound():
    assert (predict() == 2.0).all() and (predict(**SPARSE) == 2.0).all()
    assert predict(3, **ONE_COORDINATE).tolist() == [[1.0, 0.0, 1.0]] * 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"nodes": np.concatenate([two_splits(), two_splits(**change)])}, message) for change, message in ASTRAY),
        ({"first_node": starts(0, 11, 10)}, "ascend"),
        ({"first_node": starts(-5, 5, 10)}, "ascend"),
        ({"first_node": starts(0, 4, 10)}, "odd"),
        ({"first_node": starts(0, 0, 10)}, "odd"),
        ({"first_value": starts(0, 14, 12)}, "ascend"),
        ({"first_value": starts(0, 0, 12)}, "as many values"),
        ({"first_value": starts(0, 3, 12)}, "different numbers of columns"),
        ({"first_set": starts(0, 3, 2)}, "ascend"),
        ({"first_set": starts(0, 2, 2)}, "category set"),
        ({"coordinate": np.array([-2, -1], np.int32)}, "coordinate"),
        ({"coordinate": np.array([-1, 1], np.int32)}, "a value per leaf"),
        (SPARSE | {"coordinate": np.array([-1, 1], np.int32)}, "sparse"),
        (SPARSE | {"columns": np.full(12, -1, np.int32)}, "column"),
        (SPARSE | {"row_start": starts(0, 2, 4, 6, 99, 10, 12)}, "ascend"),
        (SPARSE | {"row_start": starts(0, 2, 4, 5, 8, 10, 12)}, "first row"),
        (SPARSE | {"row_start": starts()}, "row_start"),
        ({"n_features": 2**28}, "features"),
        # F and X of other widths than the forest was packed for
        ({"F_columns": 1}, "columns"),
        ({"F_columns": 3}, "columns"),
        ({"X_columns": 1}, "columns"),
        (SPARSE | {"F_columns": 1}, "columns"),
        (ONE_COORDINATE | {"F_columns": 2}, "columns"),
    ],
)
def test_forests_that_lead_astray_are_refused(changes, message):
    """Prediction never leaves its arrays, whatever a forest is made from."""
    with pytest.raises(ValueError, match=message):
        predict(**changes)


def test_ranks_stay_below_those_of_leaves():
    """A leaf leads to itself because no rank is above the highest, so there may be only so many thresholds."""
    n = 2**15
    nodes = np.zeros((n, 3), dtype=NODE)
    nodes["feature"], nodes["left"], nodes["category"] = [0, -1, -1], [1, 0, 1], -1
    nodes["threshold"][:, 0] = np.arange(n)
    many = {"nodes": node_bytes(nodes.ravel()), "first_node": np.arange(n + 1) * 3, "values": np.ones(2 * n)}
    many |= {"first_value": np.arange(n + 1) * 2, "coordinate": np.zeros(n, np.int32), "step": np.ones(n)}
    with pytest.raises(ValueError, match="too many thresholds"):
        predict(**many, category_sets=FOREST["category_sets"][:0], first_set=np.zeros(n + 1, np.int64))


@pytest.mark.parametrize(("change", "message"), ASTRAY)
def test_trees_that_lead_astray_are_not_walked(change, message):
    X, leaves, sets = np.full((9, 2), np.inf), np.empty(9, dtype=np.int32), FOREST["category_sets"][:1]
    _kernels.apply(two_splits(), sets, X, leaves, 1)
    with pytest.raises(ValueError, match=message):
        _kernels.apply(two_splits(**change), sets, X, leaves, 1)
    with pytest.raises(ValueError, match="odd"):
        _kernels.apply(two_splits()[:0], sets, X, leaves, 1)
    with pytest.raises(ValueError, match="feature"):
        _kernels.apply(two_splits(), sets, X[:, :1].copy(), leaves, 1)
