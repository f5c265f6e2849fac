"""Values to codes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simplexboost.binning import MAX_BINS, bin_data, find_edges

finite = st.floats(-1e300, 1e300, allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(arrays(np.float64, st.integers(1, 60), elements=finite | st.just(np.nan)), st.integers(2, 255))
def test_codes_count_edges_below(values, max_bins):
    binned = bin_data(values[:, None], max_bins)
    edges, codes = binned.edges[0], binned.column(0)
    assert len(edges) < max_bins and (np.diff(edges) > 0).all()
    known = ~np.isnan(values)
    assert (codes[known] == np.searchsorted(edges, values[known], side="left")).all()
    assert (codes[~known] == binned.n_bins[0]).all()
    assert binned.has_missing[0] == (not known.all())


@settings(max_examples=200, deadline=None)
@given(arrays(np.float64, st.integers(1, 60), elements=finite))
def test_few_values_have_a_bin_each(values):
    """Up to max_bins distinct values nothing is lost: codes order the rows as the values do."""
    codes = bin_data(values[:, None]).column(0)
    assert codes.tolist() == np.unique(values, return_inverse=True)[1].tolist()


def test_many_values_share_bins_evenly():
    values = np.random.default_rng(0).normal(size=10_000)
    counts = np.bincount(bin_data(values[:, None]).column(0))
    assert len(counts) == MAX_BINS
    assert counts.min() > 30 and counts.max() < 50  # 39.2 on average


def test_one_heavy_value_does_not_eat_the_bins():
    values = np.concatenate([np.zeros(9000), np.arange(1, 1001)])
    edges = find_edges(values, 50)
    assert edges[0] == 0.5 and len(edges) >= 4


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert bin_data(np.array([[low], [high]])).column(0).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 7, 8, 9, 17])
def test_layout_and_threads(dtype, p):
    X = np.random.default_rng(p).normal(size=(5000, p)).astype(dtype)
    one, four = bin_data(X, n_threads=1), bin_data(X, n_threads=4)
    assert one.codes.shape == (-(-p // 8), 5000, 8)
    assert (one.codes == four.codes).all()
    for f in range(p):
        assert (one.column(f) == np.searchsorted(one.edges[f], X[:, f].astype(np.float64))).all()


def test_a_large_table_is_sampled(monkeypatch):
    monkeypatch.setattr("simplexboost.binning.SAMPLE_ROWS", 500)
    X = np.random.default_rng(0).normal(size=(5000, 2))
    binned = bin_data(X, max_bins=16)
    assert binned.n_bins.tolist() == [16, 16]
    assert np.bincount(binned.column(0)).min() > 100
