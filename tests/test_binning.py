"""Values to codes: both engines against what codes mean, and the compiled engine against its twin, bit for bit."""

import numpy as np
import pytest
from cases import each_engine
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from twin import reference_engine

from simplexboost.engine import MAX_BINS, cpu_engine
from simplexboost.engine.binned import Edges, sampled_rows

CPU, TWIN = cpu_engine(), reference_engine()

finite = st.floats(-1e300, 1e300, allow_nan=False)
# Few values and many, close and far apart, signs of zero, what float32 cannot tell apart, integers in and out of slots.
anything = (
    st.floats()
    | st.floats(width=32)
    | st.integers(-9000, 9000)
    | st.integers(-3, 3)
    | st.sampled_from([-0.0, 0.5, 1.0, 1.0 + 2**-52, 1.0 + 2**-23, 5e-324, 1e-45, 2.0**30, 2.0**31, 1e300])
)
bins = st.integers(1, 255) | st.integers(1, 8)


def assert_same_bins(X, max_bins, engine=CPU, categorical=None):
    """Edges, codes and missing values are the twin's, to the last bit."""
    binned, twin = engine.compute.bin(X, max_bins, categorical), TWIN.compute.bin(X, max_bins, categorical)
    for f in range(X.shape[1]):
        assert binned.edges[f].tobytes() == twin.edges[f].tobytes()
        assert binned.n_bins[f] <= max_bins or binned.categorical[f]
    for name in ("codes", "n_bins", "has_missing", "categorical"):
        ours, theirs = getattr(binned, name), getattr(twin, name)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        assert ours.tobytes() == theirs.tobytes()


def as_float(values, dtype):
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(dtype)


@settings(max_examples=300, deadline=None)
@given(st.lists(anything, max_size=60), bins, st.sampled_from([np.float32, np.float64]))
@example([-0.0, np.inf], 2, np.float64)  # no number lies midway: the edge is the lower value, a zero without a sign
def test_engine_equals_twin(values, max_bins, dtype):
    X = as_float(values, dtype)[:, None]
    assert_same_bins(X, max_bins)


FEATURES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "long tails": lambda rng, n: np.exp(5 * rng.normal(size=n)) * rng.choice([-1, 1], n),
    "pixels": lambda rng, n: rng.integers(0, 256, n) * rng.integers(0, 2, n),
    "integers": lambda rng, n: rng.integers(-2000, 2000, n),
    "large integers": lambda rng, n: rng.integers(-(10**6), 10**6, n),
    "huge integers": lambda rng, n: rng.integers(-(2**62), 2**62, n),
    "around 1e9": lambda rng, n: 1e9 + rng.integers(0, 1000, n),
    "far apart": lambda rng, n: rng.choice([-(2**30), 2**30], n),
    "tenths": lambda rng, n: rng.integers(0, 100, n) / 10,
    "integers, then not": lambda rng, n: np.where(np.arange(n) < 0.7 * n, rng.integers(0, 9, n), rng.normal(size=n)),
    "missing, then known": lambda rng, n: np.where(np.arange(n) < 0.7 * n, np.nan, rng.integers(0, 9, n)),
    "some missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "all missing": lambda rng, n: np.full(n, np.nan),
    "constant": lambda rng, n: np.full(n, -7.25),
    "infinite": lambda rng, n: rng.choice([-np.inf, np.inf, -1.5, 0.0, 2.5], n),
    "heavy value": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.normal(size=n)),
    "mostly float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "as large as can be": lambda rng, n: rng.choice([-1, 1], n) * np.finfo(np.float64).max * rng.random(n),
    "as small as can be": lambda rng, n: 5e-324 * rng.integers(0, 1000, n),
}


@pytest.mark.parametrize("max_bins", [2, 16, 255])
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1023, 1024, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_and_codes_of_many_rows(dtype, n, max_bins):
    """All features in one table: chunks of 256 rows, counted and sorted, by grid and by search, for any threads."""
    rng = np.random.default_rng(n)
    X = as_float(np.column_stack([draw(rng, n) for draw in FEATURES.values()]), dtype)
    for n_threads in (1, 2, 5):
        assert_same_bins(X, max_bins, cpu_engine(n_threads))


def test_categories_equal_twin():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [1, 3, 254, 9], size=(500, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    assert_same_bins(X, 16, categorical=np.array([True, True, True, False]))


@each_engine
@settings(max_examples=300, deadline=None)
@given(
    arrays(np.float64, st.integers(0, 30), elements=anything.filter(lambda x: x == x), unique=True),
    st.lists(anything, max_size=60),
    st.sampled_from([np.float32, np.float64]),
)
def test_codes_of_foreign_values(engine, edges, values, dtype):
    """New data need not look like the data the edges come from."""
    edges = np.sort(edges)
    with np.errstate(over="ignore", under="ignore"):
        near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), values])
    X = as_float(near, dtype)[:, None]
    known = ~np.isnan(X[:, 0])
    codes = engine.compute.codes(X, Edges.of([edges]))[0][0, :, 0]
    assert (codes[known] == np.searchsorted(edges, X[known, 0].astype(np.float64))).all()
    assert (codes[~known] == len(edges) + 1).all()


@each_engine
@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, st.integers(1, 60), elements=finite | st.just(np.nan)), st.integers(2, 255))
def test_codes_count_edges_below(engine, values, max_bins):
    binned = engine.compute.bin(values[:, None], max_bins)
    edges, codes = binned.edges[0], binned.column(0)
    assert len(edges) < max_bins and (np.diff(edges) > 0).all()
    known = ~np.isnan(values)
    assert codes[known].tolist() == [np.sum(edges < x) for x in values[known]]
    assert (codes[~known] == binned.n_bins[0]).all()
    assert binned.has_missing[0] == (not known.all())


@each_engine
@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, st.integers(1, 60), elements=finite))
def test_few_values_have_a_bin_each(engine, values):
    """Up to max_bins distinct values nothing is lost: codes order the rows as the values do."""
    codes = engine.compute.bin(values[:, None]).column(0)
    assert codes.tolist() == np.unique(values, return_inverse=True)[1].tolist()


@each_engine
@pytest.mark.parametrize("max_bins", [2, 7, 16])
def test_many_values_are_cut_at_quantiles(engine, max_bins):
    """An edge lies above each quantile b / max_bins, midway to the next value in the data."""
    values = np.random.default_rng(0).permutation(np.arange(100.0) ** 2)
    quantiles = np.quantile(values, np.arange(1, max_bins) / max_bins, method="lower")
    expected = [(q + (np.sqrt(q) + 1) ** 2) / 2 for q in quantiles]
    np.testing.assert_array_equal(engine.compute.bin(values[:, None], max_bins).edges[0], expected)


@each_engine
def test_many_values_share_bins_evenly(engine):
    values = np.random.default_rng(0).normal(size=10_000)
    counts = np.bincount(engine.compute.bin(values[:, None]).column(0))
    assert len(counts) == MAX_BINS
    assert counts.min() > 30 and counts.max() < 50  # 39.2 on average


@each_engine
def test_one_heavy_value_does_not_eat_the_bins(engine):
    values = np.concatenate([np.zeros(9000), np.arange(1, 1001)])
    edges = engine.compute.bin(values[:, None], 50).edges[0]
    assert edges[0] == 0.5 and len(edges) >= 4


@each_engine
def test_neighbouring_floats_are_told_apart(engine):
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert engine.compute.bin(np.array([[low], [high]])).column(0).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [0, 1, 7, 8, 9, 17, 40])
def test_layout_and_threads(dtype, p):
    X = np.random.default_rng(p).normal(size=(5000, p)).astype(dtype)
    one, four = CPU.compute.bin(X), cpu_engine(4).compute.bin(X)
    assert one.codes.shape == (-(-p // 8), 5000, 8)
    assert (one.codes == four.codes).all()
    assert (one.codes == cpu_engine(2).compute.codes(X, one.edges)[0]).all()
    for f in range(p):
        assert (one.column(f) == np.searchsorted(one.edges[f], X[:, f].astype(np.float64))).all()


@each_engine
@pytest.mark.parametrize(
    ("value", "message"), [(254, "at most 254"), (-1, "0, 1, 2"), (0.5, "0, 1, 2"), (np.inf, "0, 1")]
)
def test_categories_are_small_whole_numbers(engine, value, message):
    X = np.array([[0.0, 0.0], [1.0, value]])
    with pytest.raises(ValueError, match=f"column 1 is categorical.*{message}"):
        engine.compute.bin(X, categorical=np.array([False, True]))


@each_engine
def test_a_large_table_is_sampled(engine, monkeypatch):
    """Edges come from some rows, codes from all."""
    monkeypatch.setattr("simplexboost.engine.binned.SAMPLE_ROWS", 500)
    X = np.random.default_rng(0).normal(size=(5000, 2))
    rows = sampled_rows(5000)
    X[np.setdiff1d(np.arange(5000), rows)[0], 1] = np.nan  # seen though it is not in the sample
    binned, sample = engine.compute.bin(X, max_bins=16), engine.compute.bin(X[rows], max_bins=16)
    assert len(rows) == 500
    np.testing.assert_array_equal(binned.edges, sample.edges)
    assert binned.has_missing.tolist() == [0, 1] and sample.has_missing.tolist() == [0, 0]
    assert np.bincount(binned.column(0)).min() > 100
    assert_same_bins(X, 16, cpu_engine(3))
