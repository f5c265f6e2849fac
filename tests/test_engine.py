"""The compiled engine against its NumPy twin, bit for bit, and against what no engine may violate."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplexboost.binning import bin_data
from simplexboost.engine import SCORES, Dense, Growth, OneHot, apply, cpu, reference


def assert_equal(a, b):
    assert a.tree.nodes.tobytes() == b.tree.nodes.tobytes()
    assert a.tree.gain.tobytes() == b.tree.gain.tobytes()
    assert a.tree.count.tolist() == b.tree.count.tolist()
    assert a.leaf_of_row.tolist() == b.leaf_of_row.tolist()
    assert a.leaf_sums.tobytes() == b.leaf_sums.tobytes()


def draw_values(rng, n, p, missing):
    X = np.round(rng.normal(size=(n, p)) * rng.choice([1, 3, 50], size=p)) / 2
    X[rng.random((n, p)) < missing] = np.nan
    return X


@st.composite
def problems(draw):
    """Everything a tree is grown from: odd shapes, ties, constants, missing values, huge and tiny statistics."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(1, 60)), draw(st.integers(1, 19))
    X = draw_values(rng, n, p, draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])))
    data = bin_data(X, max_bins=draw(st.sampled_from([2, 5, 255])))
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
