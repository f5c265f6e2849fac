"""The state of a run: what a round changes, what is refused, and how a run goes on."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cases import Listed, code, listed_data, make_run, stump, training_set
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.model.additive import AdditiveModel, Term
from simplexboost.model.hypotheses import LeafOutputs, TreeHypothesis
from simplexboost.parts.learners import VectorTree
from simplexboost.parts.losses import Exponential, Logistic
from simplexboost.parts.losses.gamma_phi import CarriedObjective
from simplexboost.parts.optimizers.base import gradient_of
from simplexboost.parts.optimizers.run import Update

C = np.array([0, 1, 2, 0])
OUTPUTS = np.array([[1.0, 2.0], [-1.0, 0.0], [0.5, 0.5], [0.0, -3.0]])


def run_of(loss=None, Y=None, **more):
    """A run on four rows of three classes; feature 0 is the row's number."""
    Y = code("simplex", 3) if Y is None else Y
    return make_run(listed_data(C), Exponential() if loss is None else loss, Y, VectorTree(), **more)


def update(outputs=OUTPUTS, alpha=0.5, coordinate=None, **more):
    return Update(Listed(0, outputs), outputs, alpha, 0.1, False, coordinate, **more)


# ---- a round --------------------------------------------------------------------------------------------------------


def test_a_round_adds_the_shrunk_steps_and_joins_the_model():
    run = run_of(learning_rate=0.5)
    updates = [update(), update(np.array([[4.0], [0.0], [0.0], [8.0]]), alpha=2.0, coordinate=1)]
    run.apply(updates)
    expected = 0.25 * OUTPUTS + np.array([[0, 4.0], [0, 0], [0, 0], [0, 8.0]])
    assert_array_equal(run.F, expected)
    assert (run.round, run.model.round_ends, run.updates) == (1, [2], updates)
    assert [(t.step, t.coordinate) for t in run.model.terms] == [(0.25, None), (1.0, 1)]
    run.apply([update()])
    assert_array_equal(run.F, expected + 0.25 * OUTPUTS)
    assert (run.round, run.model.round_ends) == (2, [2, 3])


def test_leaf_outputs_are_added_row_by_row():
    run, leaf_of_row = run_of(), np.array([0, 1, 1, 0], dtype=np.int32)
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    h = TreeHypothesis(stump(0, 0.5), values)
    run.apply([Update(h, LeafOutputs(values, leaf_of_row), 2.0, 0.1, False)])
    assert_array_equal(run.F, 2.0 * values[leaf_of_row])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_follow_every_round_in_double_precision(dtype):
    run = run_of(Logistic(), code("simplex", 3).astype(dtype))
    assert run.F.dtype == dtype and run.U.dtype == np.float64
    assert run.U is run.U
    assert_array_equal(before := run.U, np.zeros((4, 3)))
    run.apply([update(OUTPUTS.astype(dtype))])
    assert (run.U is before) == (dtype == np.float64)  # the memory is used again
    assert_allclose(run.U, 0.25 * OUTPUTS @ code("simplex", 3).T, rtol=1e-6, atol=1e-7)
    assert run.risk() == pytest.approx(np.mean(Logistic().value(run.U, C)), rel=1e-6)


# ---- votes are told to the objective --------------------------------------------------------------------------------


def forbid_scores(run, monkeypatch):
    """Whoever asks for the scores of the run fails."""
    monkeypatch.setattr(type(run), "U", property(lambda run: pytest.fail("the scores were computed")))


def vote(run, classes, alpha=0.3):
    return Update(Listed(0, run.Y[classes]), run.Y[classes], alpha, 0.1, False, classes=classes)


def test_the_gradient_after_a_vote_is_carried_and_right(monkeypatch):
    run, classes = run_of(learning_rate=0.5), np.array([0, 1, 0, 2])
    assert isinstance(run.objective, CarriedObjective)
    gradient_of(run)
    run.apply([vote(run, classes)])
    expected = Exponential().residual(run.U, C)
    forbid_scores(run, monkeypatch)
    found = gradient_of(run).P
    assert_allclose(found / found[0, 0], expected / expected[0, 0], rtol=1e-12)


def test_two_updates_are_no_vote(monkeypatch):
    run, classes = run_of(), np.array([0, 1, 0, 2])
    gradient_of(run)
    run.apply([vote(run, classes), vote(run, classes)])
    forbid_scores(run, monkeypatch)
    with pytest.raises(pytest.fail.Exception, match="the scores were computed"):
        gradient_of(run)


# ---- steps that are too long ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "fits", "too_long"), [(np.float32, 1e19, 2e19), (np.float64, 1e154, 2e154)])
def test_a_round_that_leaves_the_range_is_refused_and_changes_nothing(dtype, fits, too_long):
    # Squares of 1.8e19 and 1.3e154 are the largest floats of their kinds.
    run = run_of(Logistic(), code("simplex", 3).astype(dtype), learning_rate=0.5)
    ones = np.ones((4, 2), dtype=dtype)
    run.apply([update(ones, alpha=2.0)])
    words = rf"diverges: round 2 .* by {re.escape(f'{too_long:.3g}')}\. .*learning_rate \(now 0\.5\)"
    with pytest.raises(ValueError, match=words):
        run.apply([update(ones, alpha=2.0 * too_long)])
    assert_array_equal(run.F, ones)
    assert run.round == 1
    run.apply([update(ones, alpha=2.0 * fits)])
    assert run.round == 2


def test_moves_are_summed_over_updates_and_rounds():
    run, ones = run_of(), np.ones((4, 2))
    run.apply([update(ones, alpha=7e153)])
    with pytest.raises(ValueError, match="diverges"):
        run.apply([update(-ones, alpha=-7e153)])
    run = run_of()
    with pytest.raises(ValueError, match="diverges"):
        run.apply([update(ones, alpha=7e153), update(-ones, alpha=7e153)])


def test_rounds_that_cancel_are_no_divergence():
    run, ones = run_of(), np.ones((4, 2))
    for _ in range(5):
        run.apply([update(ones, alpha=6e153)])
        run.apply([update(-ones, alpha=6e153)])
    assert run.round == 10


@pytest.mark.parametrize(("dtype", "alpha"), [(np.float32, 1e39), (np.float64, np.inf)])
def test_a_step_that_the_predictor_cannot_hold_is_refused_even_along_zeros(dtype, alpha):
    run = run_of(Logistic(), code("simplex", 3).astype(dtype))
    with pytest.raises(ValueError, match="diverges: round 1"):
        run.apply([update(np.zeros((4, 2), dtype=dtype), alpha=alpha)])
    assert_array_equal(run.F, 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_outputs_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="diverges"):
        run_of().apply([update(np.full((4, 2), bad))])


# ---- going on -------------------------------------------------------------------------------------------------------


def test_a_run_may_go_on_from_another_predictor():
    run = run_of()
    gradient_of(run)
    before, F = run.objective, OUTPUTS.copy()
    run.move_to(F)
    F += 1.0  # the run has a copy
    assert_array_equal(run.F, OUTPUTS)
    assert_allclose(run.U, 0.5 * OUTPUTS @ code("simplex", 3).T, rtol=1e-14, atol=1e-15)
    assert run.objective is not before
    expected = Exponential().residual(run.U, C)
    found = gradient_of(run).P
    assert_allclose(found / found[0, 0], expected / expected[0, 0], rtol=1e-12)


def test_the_range_is_that_of_the_predictor_it_goes_on_from():
    run, ones = run_of(), np.ones((4, 2))
    run.move_to(1e154 * ones)
    with pytest.raises(ValueError, match="diverges"):
        run.apply([update(ones, alpha=1e154)])
    run.move_to(ones)
    run.apply([update(ones, alpha=1e154)])


def test_a_run_continues_a_copy_of_a_model():
    old = AdditiveModel(code("simplex", 3))
    h = TreeHypothesis(stump(0, 1.5), np.array([[1.0, 2.0], [3.0, 4.0]]))
    old.add_round([Term(h, 0.5)])
    old.add_round([Term(h, 1.0), Term(h, 1.5)])
    data = training_set(np.arange(4.0)[:, None], C)
    run = make_run(data, Logistic(), code("simplex", 3), VectorTree())
    run.resume(old)
    assert_array_equal(run.F, 3.0 * h.values[[0, 0, 1, 1]])
    assert (run.round, run.model.round_ends) == (2, [1, 3])
    run.apply([update()])
    assert (run.round, old.n_rounds, len(old.terms)) == (3, 2, 3)
    assert_array_equal(run.F, 3.0 * h.values[[0, 0, 1, 1]] + 0.5 * OUTPUTS)
