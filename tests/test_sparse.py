"""Sparse tables: the same model as that of the dense table, bit for bit, in memory of the order of what is stored."""

import subprocess
import sys

import numpy as np
import pytest
from cases import BOOSTERS, ENGINES, LEARNERS, each, sparse_rows
from engine_cases import assert_same_tree, draw_statistics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from twin.shards import sharded_engine

import simplexboost as sb
from simplexboost.engine import ORDERS, SCORES, Growth, SparseCodes, cpu_engine
from simplexboost.engine.cpu import trees as cpu_sparse
from simplexboost.parts.learners import SklearnLearner
from simplexboost.parts.optimizers.descent import different_examples
from simplexboost.tables.inputs import make_canonical, without_duplicates
from simplexboost.tables.training_set import TrainingSet

FORMATS = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr matrix": sparse.csr_matrix,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_matrix,
}


def table(n=200, p=13, density=0.2, missing=0.02, seed=0):
    """X (n, p): mostly zeros, values of both signs, missing ones, columns of zeros only, without zeros, of one sign."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)) * rng.choice([1, 3, 50], size=p), rng.integers(0, 3)) + 0.0
    X[rng.random((n, p)) >= density] = 0.0
    X[rng.random((n, p)) < missing] = np.nan
    X[:, 3] = 0.0
    X[:, 5] = rng.normal(size=n)
    X[:, 7] = np.abs(X[:, 7])
    X[:, 9] = -np.abs(X[:, 9])
    X[rng.random(n) < 0.1] = 0.0
    return X


def labels(X, K=3):
    """Labels (n,) that depend on the table, all of which occur."""
    score = np.nan_to_num(X[:, 0]) + 0.3 * np.nan_to_num(X[:, 5]) + (X[:, 7] > 0) + np.isnan(X[:, 1])
    c = np.searchsorted(np.quantile(score, np.arange(1, K) / K), score)
    c[:K] = np.arange(K)
    return c


def saved(estimator, path):
    """The bytes of the model file."""
    estimator.save(path / "model")
    return (path / "model").read_bytes()


class Untouched:
    """Fails if a sparse table that the user passed has changed."""

    def __init__(self, X):
        self.X, self.before = X, X.copy()

    def __enter__(self):
        return self.X

    def __exit__(self, *_):
        for name in ("data", "indices", "indptr"):
            assert getattr(self.X, name).tobytes() == getattr(self.before, name).tobytes()


# ---- the engine -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 90), st.integers(1, 20), st.sampled_from([2, 5, 255]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_bins_are_those_of_the_dense_table(seed, n, p, max_bins, single):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), rng.integers(0, 4)) * (rng.random((n, p)) < rng.random(p))
    X[rng.random((n, p)) < rng.choice([0.0, 0.1])] = np.nan
    X = (X + 0.0).astype(np.float32 if single else np.float64)
    dense = cpu_engine().compute.bin(X, max_bins)
    for engine in ENGINES.values():
        binned = engine.compute.bin(sparse.csr_array(X), max_bins)
        assert isinstance(binned.codes, SparseCodes)
        assert binned.n_bins.tolist() == dense.n_bins.tolist()
        assert binned.has_missing.tolist() == dense.has_missing.tolist()
        assert all(a.tobytes() == b.tobytes() for a, b in zip(binned.edges, dense.edges, strict=True))
        assert all(binned.column(f).tolist() == dense.column(f).tolist() for f in range(p))
        rows = np.sort(rng.choice(n, rng.integers(0, n + 1), replace=False))
        some = binned.subset(rows)
        assert some.n == len(rows)
        assert all(some.column(f).tolist() == dense.column(f)[rows].tolist() for f in range(p))


@pytest.mark.parametrize("engine", ENGINES)
def test_bins_of_many_rows_come_from_a_sample(engine, monkeypatch):
    monkeypatch.setattr("simplexboost.engine.binned.SAMPLE_ROWS", 50)
    X = table(400)
    dense, binned = (ENGINES[engine].compute.bin(Z, 10) for Z in (X, sparse.csr_array(X)))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(binned.edges, dense.edges, strict=True))
    assert all(binned.column(f).tolist() == dense.column(f).tolist() for f in range(X.shape[1]))


def test_only_what_differs_from_zero_is_stored():
    """With two bins, small values share the bin of zero."""
    X = np.zeros((100, 1))
    X[:40, 0] = np.arange(1, 41)
    binned = cpu_engine().compute.bin(sparse.csr_array(np.column_stack([X, np.where(X > 20, X, -X)])), 2)
    assert [len(codes) for codes in np.split(binned.codes.codes, binned.codes.first[1:-1])] == [40, 20]


def test_categories_in_a_sparse_table():
    """Estimators refuse them; the engine has them for whoever gives numbers of categories."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 4)) < 0.5, rng.integers(0, 6, (300, 4)), 0).astype(float)
    X[rng.random((300, 4)) < 0.05] = np.nan
    mask = np.array([True, False, True, False])
    statistics = draw_statistics(rng, 300, 3, "newton", False)
    for order in ORDERS:
        growth = Growth(max_leaf_nodes=12, order=order)
        trees = [
            engine.compute.grow(engine.compute.bin(Z, 255, mask), statistics, "newton", growth)
            for engine in (*ENGINES.values(), sharded_engine(cuts=(100,)))
            for Z in (X, sparse.csr_array(X))
        ]
        for tree in trees[1:]:
            assert_same_tree(trees[0], tree)
        leaves = [engine.compute.apply(trees[0].tree, sparse.csr_array(X)).tolist() for engine in ENGINES.values()]
        assert leaves == [trees[0].leaf_of_row.tolist()] * 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("one_hot", [False, True])
def test_trees_are_those_of_the_dense_table(order, score, one_hot):
    if one_hot and score in ("newton", "norm"):
        return
    for seed, (bits, m) in enumerate([(64, 2), (32, 3), (32, 9), (64, 30)]):
        rng = np.random.default_rng(seed)
        X = table(150, 40 if seed % 2 else 12, rng.choice([0.05, 0.5, 0.9]), seed=seed)
        statistics = draw_statistics(rng, len(X), m, score, one_hot)
        growth = Growth(
            max_leaf_nodes=15,
            order=order,
            bits=bits,
            seed=seed,
            min_samples_leaf=1 + seed,
            noise=float(seed == 2),
            interactions=2 * (seed == 3),
        )
        rows = np.sort(rng.choice(len(X), 90, replace=False)) if seed % 2 else None
        features = np.sort(rng.choice(X.shape[1], 7, replace=False)) if seed > 1 else None
        arguments = statistics, score, growth, None, rows, features
        first = cpu_engine().compute.grow(cpu_engine().compute.bin(X, 20), *arguments)
        for engine in (cpu_engine(), cpu_engine(4), ENGINES["reference"], sharded_engine(cuts=(30, 31, 120))):
            grown = engine.compute.grow(engine.compute.bin(sparse.csr_array(X), 20), *arguments)
            assert_same_tree(first, grown)
            assert engine.compute.apply(grown.tree, sparse.csr_array(X)).tolist() == first.leaf_of_row.tolist()


@pytest.mark.parametrize("order", ORDERS)
def test_large_tables_on_threads(order):
    """Enough entries for several strips of columns and for histograms that are cut by rows."""
    X = sparse_rows((9000, 300), 0.2, np.random.default_rng(0))
    X.data = np.round(X.data, 2) + 0.01
    rng = np.random.default_rng(1)
    for statistics, score in ((draw_statistics(rng, 9000, 2, "newton", False), "newton"),
                              (draw_statistics(rng, 9000, 5, "gini", True), "gini")):  # fmt: skip
        for memory in (2**29, 0):
            growth = Growth(max_leaf_nodes=30, order=order, histogram_memory=memory, bits=32)
            first = cpu_engine().compute.grow(cpu_engine().compute.bin(X.toarray(), 63), statistics, score, growth)
            for n_threads in (1, 3, 8):
                engine = cpu_engine(n_threads)
                assert_same_tree(first, engine.compute.grow(engine.compute.bin(X, 63), statistics, score, growth))


def test_blocks_of_a_prediction(monkeypatch):
    """A sparse table is predicted in blocks of rows; their size has no effect."""
    monkeypatch.setattr(cpu_sparse, "BLOCK", 1)
    X = table(700)
    clf = sb.SimplexBoostClassifier(n_estimators=5).fit(X, labels(X))
    assert clf.predict_proba(sparse.csr_array(X)).tobytes() == clf.predict_proba(X).tobytes()


# ---- estimators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(kind, tmp_path):
    X = table()
    clf = sb.SimplexBoostClassifier(n_estimators=8, random_state=0)
    dense = saved(clf.fit(X, labels(X)), tmp_path)
    P = clf.predict_proba(X)
    Z = FORMATS[kind](X)
    assert saved(clf.fit(Z, labels(X)), tmp_path) == dense
    assert clf.predict_proba(Z).tobytes() == P.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint16, bool])
def test_every_type_of_numbers(dtype, tmp_path):
    X = np.abs(np.nan_to_num(table(density=0.5))).astype(dtype)
    clf = sb.SimplexBoostClassifier(n_estimators=8, random_state=0)
    y = np.arange(len(X)) % 3
    dense = saved(clf.fit(X, y), tmp_path)
    assert saved(clf.fit(sparse.csr_array(X), y), tmp_path) == dense
    assert clf.predict_proba(sparse.csc_matrix(X)).tobytes() == clf.predict_proba(X).tobytes()


def test_entries_in_any_order_several_times_and_zero(tmp_path):
    """What is stored twice is added up, stored zeros are zeros, indices may be long ones; X is not changed."""
    X, rng = table(), np.random.default_rng(0)
    clf = sb.SimplexBoostClassifier(n_estimators=8, random_state=0)
    dense, P = saved(clf.fit(X, labels(X)), tmp_path), clf.predict_proba(X)
    rows, columns = np.nonzero((X != 0) | (rng.random(X.shape) < 0.1))  # some stored zeros
    values = X[rows, columns]
    halves = np.concatenate([rows, rows]), np.concatenate([columns, columns]), np.concatenate([values, values]) / 2
    order = rng.permutation(len(halves[0]))
    order = order[np.argsort(halves[0][order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(halves[0], minlength=len(X)))])
    for index in (np.int32, np.int64):
        twice = sparse.csr_array((halves[2][order], halves[1][order].astype(index), first.astype(index)), X.shape)
        zeros = sparse.coo_array((values, (rows.astype(index), columns.astype(index))), X.shape).tocsr()
        assert not twice.has_canonical_format
        assert not zeros.data.all()
        for messy in (twice, zeros, zeros.tocsc()):
            with Untouched(messy):
                assert saved(clf.fit(messy, labels(X)), tmp_path) == dense
                assert clf.predict_proba(messy).tobytes() == P.tobytes()
            clean = make_canonical(without_duplicates(messy), messy)
            assert clean.has_canonical_format
            assert clean.data.all()
            assert clean.indices.dtype == np.int32
            assert np.array_equal(clean.toarray(), X, equal_nan=True)


def test_duplicates_of_booleans_are_one_entry():
    X = sparse.coo_array((np.ones(3, dtype=bool), ([0, 0, 1], [0, 0, 1])), (2, 2))
    clf = sb.SimplexBoostClassifier(n_estimators=1).fit(X, [0, 1])
    assert clf.predict_proba(X).tobytes() == clf.predict_proba(X.toarray()).tobytes()


@each("Estimator", BOOSTERS)
def test_every_booster(Estimator, tmp_path):
    X, y = table(), labels(table(), 4)
    for more in ({}, {"subsample": 0.7, "max_features": 0.5}):
        clf = Estimator(n_estimators=6, **{"random_state": 0, **more})
        dense = saved(clf.fit(X, y), tmp_path)
        stages = [P.tobytes() for P in clf.staged_decision_function(X)]
        assert saved(clf.fit(sparse.csc_array(X), y), tmp_path) == dense
        assert [P.tobytes() for P in clf.staged_decision_function(sparse.csr_array(X))] == stages
        assert clf.predict(sparse.csr_matrix(X)).tolist() == clf.predict(X).tolist()


@each("learner", LEARNERS)
def test_every_learner(learner):
    """Wrapped estimators may have another solver for sparse data, so that they agree only roughly."""
    X = np.nan_to_num(table())
    clf = sb.BoostingClassifier(learner=learner, n_estimators=4, random_state=0)
    scores = clf.fit(X, labels(X)).class_scores(X)
    again = clf.fit(sparse.csr_array(X), labels(X)).class_scores(sparse.csr_array(X))
    np.testing.assert_allclose(again, scores, atol=0.01)
    if not isinstance(learner, SklearnLearner):
        assert again.tobytes() == scores.tobytes()


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"growth": "symmetric"},
        {"growth": "best", "max_leaf_nodes": 6, "n_estimators": 12},
        {"growth": "level", "max_depth": 3, "n_estimators": 12, "subsample": 0.6, "max_features": 0.5},
        {"early_stopping": True, "n_estimators": 30},
        {"codewords": "max-min", "n_estimators": 8, "calibration": True},
        {"loss": "savage", "n_estimators": 8, "max_bins": 4},
        {"monotonic_cst": {0: {0: -1, 5: -1}, 3: {7: 1}}, "n_estimators": 8},
        {"interaction_cst": "pairwise", "n_estimators": 8, "max_leaf_nodes": 8},
    ],
    ids=lambda params: ",".join(params) or "defaults",
)
def test_flagship(params, tmp_path):
    """Its own choice by cross-validation included."""
    X, weight = table(), np.random.default_rng(1).uniform(0, 2, 200).round(1)
    y = labels(X, 4)
    clf = sb.SimplexBoostClassifier(random_state=0, **params)
    dense, P = saved(clf.fit(X, y, weight), tmp_path), clf.predict_proba(X)
    for n_jobs in (1, 2):
        clf.set_params(n_jobs=n_jobs)
        clf.fit(sparse.csr_array(X), y, weight)
        assert clf.predict_proba(sparse.csr_array(X)).tobytes() == P.tobytes()
    assert saved(clf.set_params(n_jobs=None), tmp_path) == dense


def test_flagship_chooses_on_a_sample_of_a_large_table(tmp_path):
    """Beyond 10 000 rows the shape of the trees is chosen on some of the rows, whose codes are cut out."""
    rng = np.random.default_rng(0)
    X = sparse_rows((11_000, 120), 0.05, rng)
    y = np.asarray(X[:, :3].argmax(axis=1)).ravel()
    clf = sb.SimplexBoostClassifier(random_state=0, learning_rate=0.5, max_leaf_nodes=8)
    dense = saved(clf.fit(X.toarray(), y), tmp_path)
    assert saved(clf.fit(X, y), tmp_path) == dense


def test_evaluated_rows(tmp_path):
    X, y = table(300), labels(table(300))
    parts = [(X[:200], X[200:]), (sparse.csr_array(X[:200]), sparse.csc_array(X[200:]))]
    metrics = ["log_loss", "accuracy", "neg_log_loss"]
    results = []
    for train, held in parts:
        clf = sb.SimplexBoostClassifier(n_estimators=20, early_stopping=True, random_state=0)
        clf.fit(train, y[:200], X_val=(held, train), y_val=(y[200:], y[:200]), eval_metric=metrics)
        results.append((saved(clf, tmp_path), str(clf.evals_result_)))
    assert results[0] == results[1]


def test_warm_start_may_change_between_dense_and_sparse(tmp_path):
    X, y = table(), labels(table())
    whole = saved(sb.SimplexBoostClassifier(n_estimators=9, random_state=0).fit(X, y), tmp_path)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0, warm_start=True).fit(sparse.csr_array(X), y)
    clf.set_params(n_estimators=9).fit(X, y).set_params(warm_start=False)
    assert saved(clf, tmp_path) == whole
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0, warm_start=True).fit(X, y)
    clf.set_params(n_estimators=9).fit(sparse.csr_array(X), y).set_params(warm_start=False)
    assert saved(clf, tmp_path) == whole
    with pytest.raises(ValueError, match="features"):
        clf.set_params(warm_start=True, n_estimators=10).fit(sparse.csr_array(X)[:, :5], y)


def test_martiboost(tmp_path):
    X = table()
    y = labels(X, 2)
    clf = sb.MartiBoostClassifier(n_layers=6, random_state=0)
    dense, P = saved(clf.fit(X, y), tmp_path), clf.predict_proba(X)
    answers = clf.predict_random(X, 0).tolist()
    Z = sparse.csc_array(X)
    assert saved(clf.fit(Z, y), tmp_path) == dense
    assert clf.predict_proba(Z).tobytes() == P.tobytes()
    assert clf.predict_random(Z, 0).tolist() == answers


def test_several_labels_and_costs():
    X, rng = table(), np.random.default_rng(0)
    Z = rng.random((200, 3)) < 0.4
    clf = sb.OneVsAllBoostClassifier(n_estimators=5, random_state=0)
    if clf._multilabel:
        P = clf.fit(X, Z.astype(int)).predict_proba(X)
        assert clf.fit(sparse.csr_array(X), Z.astype(int)).predict_proba(sparse.csr_array(X)).tobytes() == P.tobytes()
    costs = rng.random((200, 3))
    clf = sb.SoftmaxBoostClassifier(n_estimators=5, random_state=0)
    P = clf.fit(X, labels(X), costs=costs).predict_proba(X)
    again = clf.fit(sparse.csr_array(X), labels(X), costs=costs).predict_proba(sparse.csr_array(X))
    assert again.tobytes() == P.tobytes()


def test_equal_examples_are_found_in_the_same_order():
    """Sampled pairs are drawn from a list of the different examples, sorted by their bytes."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)), 0) * (rng.random((300, 4)) < 0.3) + 0.0
    X[rng.random((300, 4)) < 0.05] = np.nan
    c = rng.integers(0, 3, 300)
    weight = rng.uniform(0.5, 1.5, 300)
    for costs in (None, rng.integers(0, 3, (300, 3)).astype(float)):
        dense, stored = (TrainingSet(Z, c, weight, 3, costs=costs) for Z in (X, sparse.csr_array(X)))
        for a, b in zip(different_examples(dense), different_examples(stored), strict=True):
            assert a.tolist() == b.tolist()


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=2), MultinomialNB(), Ridge()])
def test_wrapped_estimators_get_the_sparse_table(estimator):
    seen = []

    class Spy(type(estimator)):
        def fit(self, X, y, sample_weight=None):
            seen.append(sparse.issparse(X))
            return super().fit(X, y, sample_weight=sample_weight)

    X = np.abs(np.nan_to_num(table()))
    sb.BoostingClassifier(learner=Spy(**estimator.get_params()), n_estimators=2).fit(sparse.csr_array(X), labels(X))
    assert seen == [True, True]


def test_text_and_one_hot_pipelines():
    """As people write them, with the transformers' defaults."""
    texts = ["red apple", "green apple", "red rose", "blue sky", "blue sea", "green sea"] * 10
    y = ["fruit", "fruit", "flower", "air", "water", "water"] * 10
    text = make_pipeline(TfidfVectorizer(), sb.SimplexBoostClassifier(random_state=0))
    assert text.fit(texts, y).score(texts, y) == 1.0
    coded = make_pipeline(OneHotEncoder(), sb.GDMCBoostClassifier(n_estimators=20, learner="vector-tree"))
    words = np.array([t.split() for t in texts])
    assert coded.fit(words, y).score(words, y) == 1.0


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_infinity_is_refused():
    X = sparse.csr_array(np.array([[0.0, np.inf], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="infinity"):
        sb.SimplexBoostClassifier().fit(X, [0, 1])


@pytest.mark.parametrize("wanted", [[0], [True, False]])
def test_categories_need_a_dense_table(wanted):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]] * 20), [0, 1] * 20
    with pytest.raises(ValueError, match=r"categorical_features=.* sparse X; categories need a dense table"):
        sb.SimplexBoostClassifier(categorical_features=wanted).fit(sparse.csr_array(X), y)
    fitted = sb.SimplexBoostClassifier(categorical_features=wanted, n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="categories need a dense table"):
        fitted.predict(sparse.csr_array(X))


@pytest.mark.parametrize("none", ["from_dtype", None, [], [False, False]])
def test_no_categories_are_no_matter(none):
    X, y = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]] * 20)), [0, 1] * 20
    assert sb.SimplexBoostClassifier(categorical_features=none, n_estimators=2).fit(X, y).score(X, y) == 1.0


def test_columns_are_checked():
    X = table()
    clf = sb.SimplexBoostClassifier(n_estimators=2).fit(sparse.csr_array(X), labels(X))
    with pytest.raises(ValueError, match="13 features"):
        clf.predict(sparse.csr_array(X)[:, :5])


# ---- memory ---------------------------------------------------------------------------------------------------------

MEMORY = """
import resource
import numpy as np
from scipy import sparse
from simplexboost import {name}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

rng = np.random.default_rng(0)
n, p, per_row = 100_000, 20_000, 30
columns = np.minimum(rng.zipf(1.3, n * per_row) - 1, p - 1)
X = sparse.coo_array((rng.random(n * per_row) + 0.1, (np.repeat(np.arange(n), per_row), columns)), (n, p)).tocsr()
y = np.asarray(X[:, :5].argmax(axis=1)).ravel()
small = {name}(n_estimators=1, **{params}).fit(X[:200], y[:200])  # imports
before = peak()
clf = {name}(n_estimators=3, **{params}).fit(X, y)
clf.predict(X)
print(X.nnz, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SimplexBoostClassifier", "{'random_state': 0, 'n_jobs': 2}"),
        ("BoostingClassifier", "{'random_state': 0, 'max_bins': 32}"),
    ],
)
def test_memory_is_of_the_order_of_what_is_stored(name, params):
    """16 GB if it were dense; a copy by columns and the codes take 30 bytes per entry, F and the rest a little."""
    code = MEMORY.replace("{name}", name).replace("{params}", params)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    stored, used = map(int, out.split())
    assert used < 60 * stored + 300e6  # 300 MB: histograms, of which 512 MB are allowed at most


def test_an_infinite_entry_is_named():
    table = np.eye(6)
    table[3, 2] = -np.inf
    with pytest.raises(ValueError, match=r"-inf in column 2, row 3"):
        sb.GDMCBoostClassifier().fit(sparse.csc_array(table), np.arange(6) % 2)


# ---- tables with wrong places ----------------------------------------------------------------------------------------


def spoiled(kind, index):
    """A sparse table of 30 rows and 4 columns in which one entry is elsewhere, or where rows begin elsewhere."""
    X = FORMATS[kind](np.arange(120.0).reshape(30, 4) % 7)
    if index == "falls":
        X.indptr[2] = X.indptr[4]
    elif index == "ends":
        X.indptr[-1] += 50
    elif index == "begins":
        X.indptr[0] = -3
    elif X.format == "coo":
        X.col[5] = index
    else:
        X.indices[5] = index
    return X


@pytest.mark.parametrize("index", [-5, 4000, "falls", "ends", "begins"])
@pytest.mark.parametrize("kind", ["csr", "csr matrix", "csc", "csc matrix", "bsr", "coo"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda X: sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(X, np.arange(30) % 3),
        lambda X: sb.MulticlassSVC().fit(X, np.arange(30) % 3),
        lambda X: sb.MartiBoostClassifier(n_layers=2).fit(X, np.arange(30) % 2),
        lambda X: sb.OutputCodeClassifier(DecisionTreeClassifier()).fit(X, np.arange(30) % 3),
        lambda X: FITTED.predict(X),
        lambda X: CODE.predict(X),
        lambda X: FITTED.fit(np.ones((30, 4)), X),
    ],
    ids=["fit", "svm", "martiboost", "code", "predict", "predict by a code", "labels"],
)
def test_wrong_places_are_refused(ask, kind, index):
    if kind == "coo" and isinstance(index, str):
        pytest.skip("this format has no indptr")
    words = rf"\.(indices|col) has the (column|row) {index}; in this sparse table, .*s are numbered 0 \.\. "
    with pytest.raises(ValueError, match="with wrong indptr" if isinstance(index, str) else words):
        ask(spoiled(kind, index))


FITTED = sb.SimplexBoostClassifier(n_estimators=2, random_state=0)
FITTED.fit(np.arange(120.0).reshape(30, 4), np.arange(30) % 3)
CODE = sb.OutputCodeClassifier(DecisionTreeClassifier()).fit(np.arange(120.0).reshape(30, 4), np.arange(30) % 3)

# ---- memory ---------------------------------------------------------------------------------------------------------

WIDE = """
import resource, sys
import numpy as np
from scipy.sparse import csr_array
import simplexboost as sb

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def fit(p):
    X = csr_array((np.ones(5), ([0, 0, 1, 2, 3], [0, p - 1, 0, 4, 7])), shape=(40, p))
    return sb.SimplexBoostClassifier(n_estimators=3, n_jobs=1, random_state=0).fit(X, np.arange(40) % 2)

fit(100)
before = peak()
fit(1_000_000)
print((peak() - before) / 1_000_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak is that of Linux")
def test_columns_without_values_take_next_to_nothing():
    """Bytes of a column in the whole process, kernels included; Python objects for each column would take hundreds."""
    done = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 130


@pytest.mark.parametrize("n_threads", [1, 2])
def test_trees_look_only_at_columns_with_several_codes(n_threads):
    """What is left out makes no difference, not even where all of them are left out."""
    rng = np.random.default_rng(0)
    X = sparse_rows((300, 200), 0.05, rng)
    X = sparse.csr_array(X.toarray() * (np.arange(200) % 3 == 0))
    data, statistics = cpu_engine(n_threads).compute.bin(X), rng.normal(size=(300, 2))
    dense = cpu_engine().compute.bin(X.toarray())
    assert 0 < data.find_varied(None).size < 70
    for features in (None, np.arange(0, 200, 2), np.array([1, 2])):
        for noise in (0.0, 2.0):
            growth = Growth(max_leaf_nodes=9, noise=noise, seed=7)
            ours = cpu_engine(n_threads).compute.grow(data, statistics, "norm", growth, features=features)
            full = cpu_engine().compute.grow(dense, statistics, "norm", growth, features=features)
            assert ours.tree.nodes.tobytes() == full.tree.nodes.tobytes()
            assert ours.leaf_sums.tobytes() == full.leaf_sums.tobytes()
