"""Hypotheses: what each kind answers, and what is read off their tables."""

from __future__ import annotations

import numpy as np
import pytest
from cases import Listed, each, stump
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression

from simplexboost.model.hypotheses import (
    ClassifierHypothesis,
    LeafOutputs,
    LinearHypothesis,
    RegressorHypothesis,
    SpreadHypothesis,
    TreeHypothesis,
    direction,
    largest,
    sparse_values,
    spread,
)

X = np.array([[0.0, 5.0], [1.0, 2.0], [2.0, np.nan]])


def named(k: int) -> DummyClassifier:
    """A classifier that names class k."""
    return DummyClassifier(strategy="constant", constant=k).fit([[0.0], [0.0]], [0, 1])


# ---- outputs --------------------------------------------------------------------------------------------------------


@each("values", {"dense": np.array([[1.0, 2.0], [3.0, -4.0]]), "sparse": csr_array([[0.0, 2.0], [3.0, 0.0]])})
def test_a_tree_answers_with_the_values_of_its_leaf(values):
    rows = values.toarray() if isinstance(values, csr_array) else values
    assert_array_equal(TreeHypothesis(stump(0, 0.5), values).outputs(X), rows[[0, 1, 1]])


def test_a_line_is_measured_from_its_centre_and_missing_values_lie_there():
    h = LinearHypothesis(1, centre=3.0, slope=np.array([1.0, -2.0]), intercept=np.array([10.0, 20.0]))
    assert_array_equal(h.outputs(X), [[12.0, 16.0], [9.0, 22.0], [10.0, 20.0]])


def test_a_classifier_answers_with_codewords():
    assert_array_equal(
        ClassifierHypothesis(named(1), np.array([[7.0, 7.0], [1.0, -1.0]])).outputs(X), [[1.0, -1.0]] * 3
    )


def test_a_regressor_of_one_output_gives_a_column():
    one = DummyRegressor(strategy="constant", constant=4.0).fit([[0.0]], [4.0])
    two = LinearRegression().fit([[0.0], [1.0]], [[1.0, 2.0], [2.0, 0.0]])
    assert_array_equal(RegressorHypothesis(one, 1).outputs(X), [[4.0]] * 3)
    assert_allclose(RegressorHypothesis(two, 2).outputs(X[:, :1]), [[1.0, 2.0], [2.0, 0.0], [3.0, -2.0]], atol=1e-14)


def test_leaf_outputs_are_rows_of_the_table():
    outputs = LeafOutputs(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0, 1], dtype=np.int32))
    assert_array_equal(outputs.dense(), [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]])


# ---- along a direction ----------------------------------------------------------------------------------------------

ALONG = np.array([2.0, 0.0, -1.0])
SCALARS = {
    "tree": TreeHypothesis(stump(0, 0.5), np.array([[0.0], [-3.0]])),
    "line": LinearHypothesis(0, 1.0, np.array([2.0]), np.array([0.5])),
    "classifier": ClassifierHypothesis(named(1), np.array([[1.0], [-1.0]])),
    "any other": Listed(0, np.array([[1.0], [-2.0], [0.0]])),
}


@each("h", SCALARS)
def test_spread_multiplies_the_outputs_by_the_direction(h):
    along = spread(h, ALONG)
    assert_array_equal(along.outputs(X), np.outer(h.outputs(X)[:, 0], ALONG))
    assert isinstance(along, SpreadHypothesis) == isinstance(h, Listed)


@each("h", SCALARS)
def test_the_direction_is_found_again_up_to_a_factor(h):
    found = direction(spread(h, ALONG))
    assert_allclose(np.abs(found) / np.abs(found).sum(), np.abs(ALONG) / 3.0)
    assert found[0] * found[2] < 0


def test_the_direction_of_a_line_through_the_centre_is_that_of_its_slope():
    h = LinearHypothesis(0, 1.0, np.array([1.0]), np.array([0.0]))
    assert_array_equal(direction(spread(h, ALONG)), ALONG)


# ---- the largest value ----------------------------------------------------------------------------------------------


def test_the_largest_value_of_a_table_counts_leaves_without_rows():
    h = TreeHypothesis(stump(0, 0.5), np.array([[1.0, 2.0], [3.0, -4.0]]))
    assert largest(h, np.array([[1.0, 2.0]])) == 4.0
    assert largest(h, LeafOutputs(np.array([[9.0, 9.0]]), np.zeros(3, dtype=np.int32))) == 4.0
    assert largest(ClassifierHypothesis(named(0), np.array([[1.0], [-2.5]])), np.ones((3, 1))) == 2.5


def test_the_largest_value_of_sparse_leaves():
    assert largest(TreeHypothesis(stump(0, 0.5), csr_array([[0.0, -2.0], [1.0, 0.0]])), np.zeros((3, 2))) == 2.0
    assert largest(TreeHypothesis(stump(0, 0.5), csr_array((2, 2))), np.zeros((3, 2))) == 0.0


def test_the_largest_value_of_other_hypotheses_is_that_of_their_outputs():
    h = LinearHypothesis(0, 0.0, np.array([100.0]), np.array([0.0]))
    assert largest(h, np.array([[0.5], [-3.0]])) == 3.0
    assert largest(h, LeafOutputs(np.array([[1.0], [-7.0]]), np.zeros(3, dtype=np.int32))) == 7.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_largest_value_is_no_number_where_one_is_none(bad):
    assert not np.isfinite(largest(TreeHypothesis(stump(0, 0.5), np.array([[1.0], [bad]])), np.ones((3, 1))))


@pytest.mark.parametrize(("L", "d"), [(1, 1), (7, 40), (3, 2)])
def test_sparse_values_are_those_of_scipy(L, d):
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(L, d)) * (rng.random((L, d)) < 0.3)).astype(np.float32)
    values[0] = 0.0
    ours, expected = sparse_values(values), csr_array(values)
    for part in ("data", "indices", "indptr"):
        a, b = getattr(ours, part), getattr(expected, part)
        assert a.dtype == b.dtype and a.tolist() == b.tolist()
    assert ours.shape == expected.shape and ours.has_canonical_format
