"""The compiled engine alone: any number of threads, any instruction set, and nothing that may crash it."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from cases import in_leaves
from engine_cases import assert_same_tree, large_problem, row_problem

from simplexboost.engine import ORDERS, SCORES, Growth, LeafRule, OneHot, cpu_engine


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("order", ORDERS)
def test_same_trees_for_any_number_of_threads(score, bits, order):
    """Large enough that rows are cut, features are shared out and partitions run in parallel."""
    data, statistics, score = large_problem(score=score)
    if score == "entropy":
        statistics = np.abs(statistics)
    growth = Growth(max_leaf_nodes=20, order=order, bits=bits, seed=7, noise=0.5)
    one, *others = (
        cpu_engine(threads).compute.grow(data, statistics, score, growth, statistics) for threads in (1, 2, 3, 8)
    )
    for other in others:
        assert_same_tree(one, other)


@pytest.mark.parametrize("max_leaf_nodes", [5, 30, 200, 0])
@pytest.mark.parametrize("order", ORDERS)
def test_small_nodes_side_by_side(max_leaf_nodes, order):
    """Nodes may be expanded before their turn, or in vain; the tree and the rows of its leaves stay the same."""
    data, statistics, score = large_problem(n=6000, m=2, score="newton")
    growth = Growth(max_leaf_nodes=max_leaf_nodes, order=order, min_samples_leaf=5, l2_regularization=1.0)
    one, *others = (
        cpu_engine(threads).compute.grow(data, statistics, score, growth, statistics) for threads in (1, 2, 5, 8)
    )
    for other in others:
        assert_same_tree(one, other)


@pytest.mark.parametrize("p", [1, 3])
def test_rows_are_cut_when_features_are_few(p):
    """With a single block of features only cutting by rows feeds several threads."""
    data, statistics, score = large_problem(n=50_000, p=p)
    growth = Growth(max_leaf_nodes=8)
    one, eight = (cpu_engine(t).compute.grow(data, statistics, score, growth, statistics) for t in (1, 8))
    assert_same_tree(one, eight)


def test_threads_after_fork():
    """A forked child has none of its parent's threads; the pool must notice."""
    script = """
import os, sys
import numpy as np
from simplexboost.engine import cpu_engine, Growth
X = np.random.default_rng(0).normal(size=(60_000, 16))
engine = cpu_engine(2)
data = engine.compute.bin(X)
run = lambda: engine.compute.grow(data, X[:, :3], "norm", Growth(max_depth=3), X[:, :3]).tree.nodes.tobytes()
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
        ({"statistics": np.ones((5, 2))}, "statistics"),
        ({"statistics": OneHot(np.full(200, 9), np.ones(200), 3)}, "classes"),
        ({"leaf_statistics": np.ones((5, 1))}, "leaf_statistics"),
        ({"growth": Growth(bits=16)}, "bits"),
        ({"growth": Growth(min_category_count=-1)}, "min_category_count"),
        ({"growth": Growth(category_smoothing=-1.0)}, "category_smoothing"),
    ],
)
def test_bindings_refuse_nonsense_for_trees(change, message):
    """Nothing reaches the kernels that could make them read outside their arrays."""
    rng = np.random.default_rng(0)
    arguments = {
        "data": cpu_engine().compute.bin(rng.normal(size=(200, 3))),
        "statistics": rng.normal(size=(200, 2)),
        "score": "norm",
        "growth": Growth(),
        "leaf_statistics": np.ones((200, 1)),
    }
    with pytest.raises(ValueError, match=message):
        cpu_engine().compute.grow(**(arguments | change))


@pytest.mark.parametrize("d", [None, 5])
def test_same_steps_for_any_number_of_threads(d):
    rows, F, Z = row_problem(12, d, n=5000)
    leaf = np.random.default_rng(0).integers(0, 9, 5000).astype(np.int32)
    results = []
    for engine in (cpu_engine(1), cpu_engine(2), cpu_engine(7)):
        work, moved, P = engine.compute.row_loss(rows), F.copy(), np.empty((5000, 12))
        stats = work.pull(F, Z)
        values = work.leaves(F, in_leaves(leaf, 9), None, LeafRule(1.0, 0.5, 0.1))
        engine.compute.add_leaves(moved, values, 0.1, leaf)
        engine.compute.softmax(F, rows.Y, P)
        results.append(
            b"".join(a.tobytes() for a in (stats, work.loss, values, moved, P)) + bytes(str(work.risk()), "ascii")
        )
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    ("change", "predictor"),
    [
        ({"c": np.full(300, 9)}, None),
        ({"weight": np.ones(4, np.float32)}, None),
        ({"Y": np.ones((3, 2), np.float32)}, None),
        ({}, np.ones((300, 2), np.float32)),
    ],
)
def test_bindings_refuse_nonsense_for_rows(change, predictor):
    rows, F, Z = row_problem(5, None)
    with pytest.raises(ValueError, match="must"):
        cpu_engine().compute.row_loss(replace(rows, **change)).pull(F if predictor is None else predictor, Z)
