"""Nothing depends on how rows are cut into shards: the same trees, the same leaves, the same models, bit for bit."""

import numpy as np
import pytest
from cases import in_leaves
from sklearn.base import clone
from twin.shards import sharded_engine

import simplexboost as sb
from simplexboost.engine import CPU, ORDERS, SCORES, Growth, LeafRule, OneHot, RowProblem, cpu_engine
from simplexboost.parts.codewords import Auto
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton

# One shard, two, three of which one is empty, seven uneven ones.
CUTS = [(), (37,), (300, 300), (1, 5, 5, 200, 411, 640)]


def assert_equal(a, b):
    assert a.tree.nodes.tobytes() == b.tree.nodes.tobytes()
    assert a.tree.gain.tobytes() == b.tree.gain.tobytes()
    assert a.tree.count.tolist() == b.tree.count.tolist()
    assert a.tree.category_sets.tobytes() == b.tree.category_sets.tobytes()
    assert a.leaf_of_row.tolist() == b.leaf_of_row.tolist()
    assert a.leaf_sums.tobytes() == b.leaf_sums.tobytes()


def values(n=700, p=11, seed=0):
    """Numbers, categories and missing values; the first shards have no missing value and few of the categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1::3] = rng.integers(0, 12, size=(n, p))[:, 1::3]
    X[rng.random((n, p)) < 0.1] = np.nan
    X[:40] = 1.0
    return X, np.arange(p) % 3 == 1


def statistics(score, X, seed=0, sparse=False):
    rng, n = np.random.default_rng(seed), len(X)
    if sparse:
        classes = np.where(np.arange(n) < 40, 0, rng.integers(0, 4, n))  # the first shard lacks most classes
        return OneHot(classes, rng.exponential(size=n), 4)
    G = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-6, 1, size=(n, 1)) + np.nan_to_num(X[:, :1])
    G[:, -1] = np.abs(G[:, -1])
    return np.abs(G) if score in ("entropy", "gini") else G


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ORDERS)
def test_shards_grow_the_same_tree(cuts, score, bits, order):
    X, categorical = values()
    engine, growth = sharded_engine(cuts=cuts), Growth(max_leaf_nodes=25, order=order, bits=bits, seed=5)
    for sparse in (False, True) if score in ("max", "entropy", "gini") else (False,):
        arguments = statistics(score, X, sparse=sparse), score, growth
        assert_equal(
            CPU.compute.grow(CPU.compute.bin(X, 255, categorical), *arguments),
            engine.compute.grow(engine.compute.bin(X, 255, categorical), *arguments),
        )


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize(
    "growth",
    [
        Growth(max_depth=4),
        Growth(max_leaf_nodes=9, order="best", bits=32, seed=1),
        Growth(max_leaf_nodes=9, order="best", noise=1.0, seed=1),
        Growth(max_depth=4, order="symmetric", noise=1.0, seed=1),
    ],
)
@pytest.mark.parametrize("histogram_memory", [0, 2**29])
def test_shards_of_some_rows_and_features(cuts, growth, histogram_memory):
    """Subsampled rows, some features, other sums over the leaves, little memory."""
    X, categorical = values()
    rng = np.random.default_rng(3)
    rows, features = np.flatnonzero(rng.random(len(X)) < 0.5), np.array([0, 1, 4, 9])
    leaf_statistics = rng.normal(size=(len(X), 5)) * 10.0 ** rng.uniform(-9, 9, size=(len(X), 5))
    growth = Growth(**(vars(growth) | {"histogram_memory": histogram_memory, "min_samples_leaf": 3}))
    one, many = (
        engine.compute.grow(
            engine.compute.bin(X, 16, categorical),
            statistics("norm", X),
            "norm",
            growth,
            leaf_statistics,
            rows,
            features,
        )
        for engine in (cpu_engine(), sharded_engine(n_threads=2, cuts=cuts))
    )
    assert one.tree.n_leaves > 5
    assert_equal(one, many)


def test_a_level_is_one_round_trip(monkeypatch):
    """A tree of depth 5 asks a distant source five times, however many nodes it has."""
    from twin import shards as sharded

    asked = []
    expand = sharded.SumOfShards.expand
    monkeypatch.setattr(sharded.SumOfShards, "expand", lambda self, *o: asked.append(len(o[0])) or expand(self, *o))
    X, _ = values()
    engine = sharded_engine(cuts=(100, 350))
    grown = engine.compute.grow(engine.compute.bin(X), statistics("norm", X), "norm", Growth(max_depth=5))
    assert grown.tree.n_leaves > 20
    assert len(asked) == 5 and sum(asked) == grown.tree.n_leaves - 1


def test_totals_of_shards():
    x = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.random.default_rng(1).uniform(-15, 15, 1000)
    assert {sharded_engine(cuts=cuts).rows.total(x) for cuts in CUTS} == {CPU.rows.total(x)}
    assert sharded_engine(cuts=(500,)).rows.total(np.append(x, np.inf)) == np.inf


# ---- the row-wise loss ----------------------------------------------------------------------------------------------


def row_problem(K, d, exponents=(0, 0), weighted=True, n=700, seed=0):
    rng = np.random.default_rng(seed)
    Y = None if d is None else rng.normal(size=(K, d)).astype(np.float32)
    weight = (10.0 ** rng.uniform(-3, 1, n)).astype(np.float32) if weighted else None
    c = np.where(np.arange(n) < 40, 1, rng.integers(0, K, n))
    F = (3 * rng.normal(size=(n, d or K))).astype(np.float32)
    Z = rng.normal(size=(K, 2)).astype(np.float32)
    return RowProblem(c, K, Y, weight, None, exponents, lambda p: 1 - p), F, Z


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize(("K", "d"), [(5, None), (40, None), (5000, None), (40, 6), (3, 2)])
@pytest.mark.parametrize("exponents", [(0, 0), (1, 1), (2, 1)])
def test_shards_make_the_same_leaves(cuts, K, d, exponents):
    """With few classes probabilities are kept, with 5000 they are not; codes take their Hessian from a sample."""
    problem, F, Z = row_problem(K, d, exponents, weighted=K != 3)
    rng = np.random.default_rng(1)
    leaf_of_row = np.minimum(rng.integers(0, 9, len(F)), 5).astype(np.int32)  # leaf 5 has more rows than the sample
    rows = np.flatnonzero(rng.random(len(F)) < 0.8)
    rule = LeafRule(1.0, 2.0, 0.1 if K == 40 else 0.0)
    answers = []
    for engine in (cpu_engine(), sharded_engine(cuts=cuts)):
        loss = engine.compute.row_loss(problem)
        loss.pull(F, Z)
        stats = loss.pull(F, Z)  # the second pull knows the mean of the tilted weights
        answers.append(
            [
                stats.tobytes(),
                loss.leaves(F, in_leaves(leaf_of_row, 6), None, rule).tobytes(),
                loss.leaves(F, in_leaves(leaf_of_row, 6), rows, rule).tobytes(),
                loss.risk(),
            ]
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("d", [None, 6])
def test_a_row_does_not_depend_on_its_place(d):
    """Soft-max, gradient and statistics of a row are the same wherever it stands in a block."""
    problem, F, Z = row_problem(19, d)
    order = np.random.default_rng(2).permutation(len(F))
    moved = RowProblem(**(vars(problem) | {"c": problem.c[order], "weight": problem.weight[order]}))
    assert (
        CPU.compute.row_loss(problem).pull(F, Z)[order].tobytes()
        == CPU.compute.row_loss(moved).pull(F[order], Z).tobytes()
    )
    P, Q = np.empty((len(F), 19)), np.empty((len(F), 19))
    CPU.compute.softmax(F, problem.Y, P)
    CPU.compute.softmax(F[order], problem.Y, Q)
    assert P[order].tobytes() == Q.tobytes()


# ---- whole fits -----------------------------------------------------------------------------------------------------


def classes(K, n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sort(np.arange(n) % K) if K == 3 else rng.permutation(np.arange(n) % K)  # sorted: shards lack classes
    X = rng.normal(size=(n, 6)) + rng.normal(size=(K, 6))[y]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.exponential(size=n) + 0.1


COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
MODELS = {
    "canonical": (sb.SimplexBoostClassifier(n_estimators=12), 3),
    "many classes": (sb.SimplexBoostClassifier(n_estimators=8), 40),
    "simplex": (sb.SimplexBoostClassifier(n_estimators=8, codewords="simplex"), 7),
    "few dimensions": (sb.SimplexBoostClassifier(n_estimators=8, codewords=Auto(5)), 40),
    "savage": (sb.SimplexBoostClassifier(n_estimators=12, loss="savage"), 3),
    "softmax-cost": (sb.SimplexBoostClassifier(n_estimators=12, loss="softmax-cost"), 7),
    "costs": (sb.SimplexBoostClassifier(n_estimators=12, loss=Logistic(cost_matrix=COST)), 3),
    "sampled": (
        sb.SimplexBoostClassifier(n_estimators=12, subsample=0.6, max_features=0.5, optimizer=SketchedNewton(sketch=3)),
        7,
    ),
    "gdmc": (sb.GDMCBoostClassifier(n_estimators=8), 7),
    "samme": (sb.SAMMEClassifier(n_estimators=8), 7),
    "adaboost.mm": (sb.AdaBoostMMClassifier(n_estimators=8), 7),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_shards_train_the_same_model(name, weighted, monkeypatch, tmp_path):
    model, K = MODELS[name]
    X, y, weight = classes(K)
    files = []
    for cuts in (None, *CUTS[1:]):
        engine = cpu_engine() if cuts is None else sharded_engine(cuts=cuts)
        estimator = clone(model).set_params(random_state=0)
        monkeypatch.setattr(type(estimator), "_engine", lambda self, n_rows=None, engine=engine: engine)
        estimator.fit(X, y, sample_weight=weight if weighted else None).save(tmp_path / "model.sb")
        files.append((tmp_path / "model.sb").read_bytes())
    assert len(set(files)) == 1
