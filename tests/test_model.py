"""The additive model: sums of terms by hand, stages, and the forest that is packed once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest
from cases import code, stump
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.engine import HOST, CpuCompute, Engine
from simplexboost.model.additive import AdditiveModel, Term, add_terms
from simplexboost.model.hypotheses import LeafOutputs, LinearHypothesis, TreeHypothesis

X = np.array([[0.0, 5.0], [1.0, 2.0], [2.0, -1.0]])


@dataclass(frozen=True)
class Packing(CpuCompute):
    """The compiled computations, and how many trees it was given to pack each time."""

    packed: list[int] = field(default_factory=list)

    def pack(self, forest):
        self.packed.append(len(forest.trees))
        return super().pack(forest)


def vector(step: float = 1.0) -> Term:
    """(1, 2) where x₀ <= 0.5, else (−1, 4)."""
    return Term(TreeHypothesis(stump(0, 0.5, gain=3.0), np.array([[1.0, 2.0], [-1.0, 4.0]])), step)


def scalar(step: float = 1.0, coordinate: int = 1) -> Term:
    """10 where x₁ <= 3, else 20, in one coordinate."""
    return Term(TreeHypothesis(stump(1, 3.0, gain=2.0), np.array([[10.0], [20.0]])), step, coordinate)


def line(step: float = 1.0) -> Term:
    """(3, 4) times x₀."""
    return Term(LinearHypothesis(0, 0.0, np.array([3.0, 4.0]), np.zeros(2)), step)


VECTOR = np.array([[1.0, 2.0], [-1.0, 4.0], [-1.0, 4.0]])  # what the three add to the rows of X
SCALAR = np.array([[0.0, 20.0], [0.0, 10.0], [0.0, 10.0]])
LINE = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])


def model(*rounds: list[Term], dtype: type = np.float64) -> AdditiveModel:
    """A model of these rounds on the simplex of three classes."""
    made = AdditiveModel(code("simplex", 3).astype(dtype))
    for terms in rounds:
        made.add_round(terms)
    return made


# ---- sums of terms --------------------------------------------------------------------------------------------------


def test_a_term_adds_to_all_coordinates_or_to_one():
    F = np.ones((3, 2))
    Term(vector().hypothesis, 2.0).add_to(F, VECTOR)
    Term(scalar().hypothesis, -0.5, 0).add_to(F, np.array([[20.0], [10.0], [10.0]]))
    assert_array_equal(F, [[1 + 2 - 10, 1 + 4], [1 - 2 - 5, 1 + 8], [1 - 2 - 5, 1 + 8]])
    vector(0.25).add_to(F, LeafOutputs(np.array([[4.0, 8.0]]), np.zeros(3, dtype=np.int32)))
    assert_array_equal(F, [[-6.0, 7.0], [-5.0, 11.0], [-5.0, 11.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_predictor_is_the_sum_of_its_terms(dtype):
    forest = model([vector(2.0)], [scalar(0.5), scalar(1.0, 0)], dtype=dtype)
    mixed = model([vector(2.0), line(-1.0)], [scalar(0.5)], [line(0.5), vector(1.0)], dtype=dtype)
    assert_array_equal(forest.predictor(X), 2 * VECTOR + 0.5 * SCALAR + SCALAR[:, ::-1])
    assert_array_equal(mixed.predictor(X), 3 * VECTOR + 0.5 * SCALAR - 0.5 * LINE)
    assert forest.predictor(X).dtype == mixed.predictor(X).dtype == forest.dtype == dtype


def test_a_model_without_terms_is_zero():
    assert_array_equal(model().predictor(X), np.zeros((3, 2)))


def test_terms_are_added_to_what_is_there():
    F, engine = np.ones((3, 2)), Engine(Packing(), HOST)
    add_terms([vector(), scalar(), line(), vector(-1.0)], X, F, engine)
    assert_array_equal(F, 1 + SCALAR + LINE)
    assert engine.compute.packed == [2, 1]  # trees in a row go in one call


def test_scores_are_half_the_products_with_the_codewords_in_double_precision():
    F, Y = np.array([[1.0, 2.0], [-3.0, 0.5]]), code("simplex", 3)
    assert_allclose(model().scores(F), np.array([[0.5 * F[i] @ Y[k] for k in range(3)] for i in range(2)]), rtol=1e-14)
    assert model(dtype=np.float32).scores(F.astype(np.float32)).dtype == np.float64


# ---- rounds ---------------------------------------------------------------------------------------------------------


def test_stages_are_the_sums_up_to_each_round_in_one_array():
    made = model([vector(2.0), line()], [scalar(0.5)], [line(), scalar(), vector()])
    sums = [2 * VECTOR + LINE, 2 * VECTOR + LINE + 0.5 * SCALAR, 3 * VECTOR + 2 * LINE + 1.5 * SCALAR]
    arrays = []
    for F, expected in zip(made.staged_predictor(X), sums, strict=True):
        assert_array_equal(F, expected)
        arrays.append(F)
    assert arrays[0] is arrays[1] is arrays[2]
    assert_array_equal(made.predictor(X), sums[-1])


def test_the_first_rounds_are_whole_and_do_not_grow_with_the_model():
    made = model([vector(), line()], [scalar()], [line(), scalar(), vector()])
    first = made.first(2)
    made.add_round([vector()])
    assert (first.n_rounds, first.round_ends, first.terms) == (2, [2, 3], made.terms[:3])
    assert (made.n_rounds, made.round_ends) == (4, [2, 3, 6, 7])
    assert made.first(0).terms == [] and made.first(0).n_rounds == 0
    assert made.first(99).terms == made.terms and made.first(99).n_rounds == 4
    first.add_round([line()])
    assert len(made.terms) == 7 and made.n_rounds == 4


# ---- the packed forest ----------------------------------------------------------------------------------------------


def test_a_forest_is_packed_once_and_again_after_a_round():
    made, engine = model([vector()], [scalar()]), Engine(Packing(), HOST)
    assert_array_equal(made.predictor(X, engine), VECTOR + SCALAR)
    made.predictor(X, engine)
    assert engine.compute.packed == [2]
    made.add_round([vector()])
    assert_array_equal(made.predictor(X, engine), 2 * VECTOR + SCALAR)
    assert engine.compute.packed == [2, 3]


def test_another_engine_packs_the_forest_for_itself():
    made, engine = model([vector()]), Engine(Packing(), HOST)
    made.predictor(X)
    assert_array_equal(made.predictor(X, engine), VECTOR)
    assert engine.compute.packed == [1]


def test_a_pickle_leaves_the_packed_forest_out():
    made = model([vector()], [scalar()])
    made.predictor(X)
    copy = pickle.loads(pickle.dumps(made))
    assert made._forest is not None and copy._forest is None
    assert_array_equal(copy.predictor(X), VECTOR + SCALAR)


# ---- gains ----------------------------------------------------------------------------------------------------------


def test_gains_of_features_are_those_of_splits_times_steps():
    # Trees gain 2 · 3 on feature 0 and 0.5 · 2 on feature 1; the line has step 0.6 and a slope of length 5.
    assert_allclose(model([vector(2.0)], [scalar(0.5)], [line(0.6)]).feature_gains(3), [9 / 10, 1 / 10, 0.0])
    assert [len(made.trees) for made in (model([vector(), line(), scalar()]), model([line()]))] == [2, 0]


def test_splits_on_one_feature_add_up_and_none_is_zero():
    assert_allclose(model([vector(), vector(), scalar(1.5)]).feature_gains(2), [6 / 9, 3 / 9])
    assert_array_equal(model().feature_gains(2), [0.0, 0.0])
