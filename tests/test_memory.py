"""Memory: what is free, what a fit will need, and the refusal of what cannot be had."""

import resource
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import make_run, problem
from scipy.sparse import csr_array

import simplexboost as sb
from simplexboost._util import runtime
from simplexboost.classifiers import auto, simplex
from simplexboost.classifiers.auto import most_canonical
from simplexboost.engine import Growth, cpu_engine
from simplexboost.parts.codewords import CODEWORDS, Auto, Canonical, Custom, MaxMin
from simplexboost.parts.learners import SketchTree
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import GradientDescent, SketchedNewton
from simplexboost.parts.optimizers.forecast import leaves_on
from simplexboost.tables.training_set import TrainingSet

# ---- what is free ---------------------------------------------------------------------------------------------------


def test_memory_that_a_container_leaves(tmp_path):
    assert runtime.container_memory(str(tmp_path)) is None  # no control groups
    (tmp_path / "memory.max").write_text("1000000\n")
    assert runtime.container_memory(str(tmp_path)) is None  # half of what is needed
    (tmp_path / "memory.current").write_text("400000\n")
    assert runtime.container_memory(str(tmp_path)) == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert runtime.container_memory(str(tmp_path)) is None  # no limit
    old = tmp_path / "memory"
    old.mkdir()
    (old / "memory.limit_in_bytes").write_text("5000")
    (old / "memory.usage_in_bytes").write_text("2000")
    assert runtime.container_memory(str(tmp_path)) == 3000


def test_files_that_a_container_has_read_do_not_count_as_used(tmp_path):
    (tmp_path / "memory.max").write_text("1000000")
    (tmp_path / "memory.current").write_text("900000")
    (tmp_path / "memory.stat").write_text("anon 100000\nactive_file 50000\ninactive_file 700000\n")
    assert runtime.container_memory(str(tmp_path)) == 800_000
    (tmp_path / "memory.stat").write_text("\nnothing known\n")
    assert runtime.container_memory(str(tmp_path)) == 100_000


@pytest.mark.parametrize(
    ("machine", "container", "limit", "free"),
    [
        (1000, None, None, 1000),
        (1000, 300, None, 300),
        (100, 300, None, 100),
        (None, 300, None, 300),
        (1000, 300, 200, 200),
        (None, None, None, runtime.ASSUMED),
    ],
)
def test_free_memory_is_the_least_of_what_is_known(monkeypatch, machine, container, limit, free):
    monkeypatch.setattr(runtime, "machine_memory", lambda: machine)
    monkeypatch.setattr(runtime, "container_memory", lambda: container)
    monkeypatch.setattr(runtime, "limited_memory", lambda: limit)
    assert runtime.free_memory() == free


def test_a_container_over_its_limit_leaves_nothing(tmp_path):
    (tmp_path / "memory.max").write_text("1000")
    (tmp_path / "memory.current").write_text("1500")
    assert runtime.container_memory(str(tmp_path)) == 0


def test_a_limit_of_the_process_counts(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda what: (2**50, 2**60))
    assert 2**49 < runtime.limited_memory() < 2**50
    monkeypatch.setattr(resource, "getrlimit", lambda what: (2**20, 2**60))
    assert runtime.limited_memory() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert runtime.limited_memory() is None


def test_this_machine_has_memory():
    assert 2**20 < runtime.free_memory() < 2**60


# ---- codewords ------------------------------------------------------------------------------------------------------


def test_canonical_codewords_as_far_as_memory_allows(monkeypatch):
    monkeypatch.setattr(auto, "free_memory", lambda: 16 * 10**9)
    for n, K in ((100_000, 8830), (10_000, 22_700)):
        assert most_canonical(n) == K
        assert 8 * n * K + 12 * K**2 <= 8 * 10**9 < 8 * n * (K + 1) + 12 * (K + 1) ** 2  # half of the memory
    assert most_canonical(10**8) == 1024  # whatever the memory
    monkeypatch.setattr(auto, "free_memory", lambda: 0)
    assert most_canonical(10) == 1024


@pytest.mark.parametrize(
    ("code", "K", "expected"), [("auto", 30, Canonical), ("auto", 31, MaxMin), (Auto(7), 31, Auto)]
)
def test_the_flagship_asks_for_the_memory(monkeypatch, code, K, expected):
    monkeypatch.setattr(simplex, "most_canonical", lambda n: n // 2)
    clf = sb.SimplexBoostClassifier(codewords=code)
    found = clf._by_rules(clf.parts(), problem(n=60, K=K)).parts.codewords
    assert type(found) is expected
    assert found.columns(K) == {Canonical: K, MaxMin: MaxMin().columns(K), Auto: 7}[expected]


@pytest.mark.parametrize("name", CODEWORDS)
@pytest.mark.parametrize("K", [2, 7, 12])
def test_the_columns_of_a_code_are_known_before_it_is_made(name, K):
    code = CODEWORDS[name]()
    assert code.columns(K) in (code.matrix(K, np.random.default_rng(0)).shape[1], None)
    if name not in ("exhaustive", "random-dense", "random-sparse", "bch", "max-hamming"):
        assert code.columns(K) is not None


def test_the_columns_of_your_own_code():
    assert Custom(np.eye(4, 3)).columns(4) == 3


# ---- what a fit will need -------------------------------------------------------------------------------------------


def data_of(n, p, K, **options):
    return TrainingSet(np.broadcast_to(0.0, (n, p)), np.arange(n) % K, np.ones(n), K, **options)


def test_the_memory_of_the_flagship_by_hand():
    # 2**18 rows of 20 features in three blocks, 16 classes, 255 leaves, 256 bins with one for missing values, 32 bits.
    n, tree = 2**18, SketchTree(max_leaf_nodes=255)
    rows = 24 + 26.3 + 4 + 4 * 16 + 8 * 2 + 12 + 16  # codes, label and weight, loss, F, statistics, order, integers
    trees = 2**23 + 255 * 256 * 20 * 16  # integers in the order of rows, up to a power of two; histograms
    model = 10 * 255 * (80 + 4 * 16)
    found = SketchedNewton().memory(data_of(n, 20, 16), tree, 16, 10)
    assert found == pytest.approx(2e6 + n * rows + trees + 12 * 16 * 16 + model)


def test_threads_take_memory_and_many_of_them_most_of_it_while_bins_are_found():
    one = data_of(2**18, 20, 3)
    some, many = (replace(one, engine=cpu_engine(n_threads)) for n_threads in (4, 64))
    least, more, most = (
        SketchedNewton().memory(data, SketchTree(max_leaf_nodes=255), 3, 0) for data in (one, some, many)
    )
    assert more - least == pytest.approx(2**18 * 6.3 * 3)
    assert most == pytest.approx(2e6 + 12 * 9 + 2**18 * 20 + 20 * 200_000 * (8 + 8 + 8 + 4))  # a column for each of 20


def test_few_probabilities_few_columns_and_weights_are_counted():
    tree, few, many = SketchTree(), data_of(2**16, 8, 16), data_of(2**17 + 1, 8, 16)

    def per_row(data, d):
        return SketchedNewton().memory(data, tree, d, 0) / data.n

    # F (n, 16) is as large as F and the gradient, both (n, 8); beside it, few rows keep their probabilities.
    assert per_row(few, 16) - per_row(few, 8) == pytest.approx(4 * 16, abs=0.1)
    assert per_row(many, 16) - per_row(many, 8) == pytest.approx(0, abs=0.1)
    weighted = TrainingSet(few.X, few.c, few.c + 1.0, 16)
    least = SketchedNewton().memory(few, tree, 16, 0)
    assert SketchedNewton().memory(weighted, tree, 16, 0) - least == 20 * few.n


def test_a_sparse_table_takes_what_it_stores():
    X = csr_array((np.ones(1000), np.zeros(1000, int), np.arange(1001)), (1000, 5000))
    tree = SketchTree(max_leaf_nodes=4)
    sparse = SketchedNewton().memory(TrainingSet(X, np.arange(1000) % 3, np.ones(1000), 3), tree, 3, 0)
    dense = SketchedNewton().memory(data_of(1000, 5000, 3), tree, 3, 0)
    histograms = 4 * 256 * 5000 * 16, 0.5 * 6000 * 16
    assert dense - sparse == pytest.approx(5_000_000 - 9_000 + histograms[0] - histograms[1], abs=1)


@pytest.mark.parametrize(
    ("growth", "leaves"),
    [
        (Growth(), 255),
        (Growth(max_leaf_nodes=31), 31),
        (Growth(max_depth=3), 8),
        (Growth(max_depth=3, max_leaf_nodes=31), 8),
        (Growth(order="symmetric", max_depth=4), 16),
    ],
)
def test_leaves_as_far_as_limits_say(growth, leaves):
    assert leaves_on(SimpleNamespace(n=10**6), growth) == leaves


def test_a_run_begins_with_one_array_as_large_as_the_predictor():
    n, K = 20_000, 50
    data = data_of(n, 1, K)
    tracemalloc.start()
    try:
        run = make_run(data, Logistic(), np.eye(K), SketchTree())
        run._size()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.F.nbytes <= peak < 1.3 * run.F.nbytes


def test_optimizers_that_do_not_know_say_so():
    assert GradientDescent().memory(data_of(10, 2, 3), SketchTree(), 3, 5) is None


# ---- what cannot be had ---------------------------------------------------------------------------------------------

IMPOSSIBLE = [
    sb.SimplexBoostClassifier(codewords="canonical", optimizer=SketchedNewton(candidates=None)),
    sb.SimplexBoostClassifier(codewords="canonical", optimizer=SketchedNewton(candidates=None), n_estimators=3),
    sb.SimplexBoostClassifier(codewords="simplex", early_stopping=True),
    sb.SAMMEClassifier(n_estimators=3),
    sb.GDMCBoostClassifier(n_estimators=3),
    sb.BoostingClassifier(codewords="all-pairs", n_estimators=3),
]


@pytest.mark.parametrize("clf", IMPOSSIBLE, ids=repr)
def test_what_does_not_fit_into_memory_is_refused_before_it_is_begun(monkeypatch, clf):
    """Nothing large is made on the way: neither codewords nor scores, of 50 000 columns each."""
    X, y = np.zeros((110_000, 1)), np.arange(110_000) % 50_000
    monkeypatch.setattr(runtime, "free_memory", lambda: 2 * 10**9)
    with pytest.raises(MemoryError, match=r"110000 rows of 50000 classes.* needs about .* GB .* 2\.0 GB are free"):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")


def test_what_fits_is_not_refused(monkeypatch):
    monkeypatch.setattr(runtime, "free_memory", lambda: 0)
    X, y = np.zeros((60, 1)), np.arange(60) % 3  # so little is not even compared with what is free
    sb.SimplexBoostClassifier(n_estimators=2).fit(X, y)


def test_trees_have_no_more_leaves_than_there_are_rows(monkeypatch):
    monkeypatch.setattr(runtime, "free_memory", lambda: 0)
    X, y = np.arange(60.0)[:, None], np.arange(60) % 3
    sb.SimplexBoostClassifier(n_estimators=2, max_leaf_nodes=2**31 - 1, growth="best").fit(X, y)
    with pytest.raises(MemoryError, match="n_estimators"):
        sb.SimplexBoostClassifier(n_estimators=10**8, growth="best").fit(X, y)


@pytest.mark.parametrize(
    "name", ["SimplexBoostClassifier", "GDMCBoostClassifier", "SAMMEClassifier", "LogitBoostClassifier"]
)
def test_more_rounds_than_memory_are_refused_unless_early_stopping_ends_them(monkeypatch, name):
    monkeypatch.setattr(runtime, "free_memory", lambda: 10**11)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3
    many = getattr(sb, name)(n_estimators=10**9, random_state=0)
    with pytest.raises(MemoryError, match=r"1000000000 rounds .*n_estimators"):
        many.fit(X, y)
    assert many.set_params(early_stopping=3).fit(X, y).n_iter_ < 1000


def test_more_layers_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr(runtime, "free_memory", lambda: 10**11)
    with pytest.raises(MemoryError, match=r"1000000000 layers .*n_layers"):
        sb.MartiBoostClassifier(n_layers=10**9).fit(np.zeros((4, 1)), [0, 1, 0, 1])
