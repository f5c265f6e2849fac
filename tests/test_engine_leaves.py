"""Newton's steps in the leaves of the flagship: both engines against their definition, and against each other.

The kernels work in single precision and the twin in double; see ``test_engine_rows.py`` for how far they are apart.
"""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_engine, in_leaves
from engine_cases import CODES, codewords, probabilities, row_problem, thirds
from twin import reference_engine

from simplexboost.engine import LeafRule, cpu_engine

CPU, TWIN = cpu_engine(), reference_engine()


@each_engine
@pytest.mark.parametrize(("K", "d"), CODES)
def test_leaves_are_newton_steps(engine, K, d):
    """Small leaves, so that every row counts in the Hessian: values are (H + l2)⁻¹ ΣwG."""
    rows, F, Z = row_problem(K, d, n=90)
    work, leaf = engine.compute.row_loss(rows), thirds(90)
    work.pull(F, Z)
    values = work.leaves(F, in_leaves(leaf, 3), None, LeafRule(0.7))
    Y, P, w = codewords(rows), probabilities(rows, F), rows.weight.astype(np.float64)
    assert values.dtype == np.float32 and values.shape == (3, Y.shape[1])
    for one in range(3):
        at = leaf == one
        g = (w[at, None] * (Y[rows.c[at]] - P[at] @ Y)).sum(axis=0)
        if d is None:
            expected = g / ((w[at, None] * P[at] * (1 - P[at])).sum(axis=0) + 0.7)
        else:
            mass, mean = (w[at, None] * P[at]).sum(axis=0), P[at] @ Y
            expected = np.linalg.solve((Y.T * mass) @ Y - (mean.T * w[at]) @ mean + 0.7 * np.eye(d), g)
        # Classes with little of a leaf's probability enter by an upper bound: hence the second tolerance.
        error = np.linalg.norm(values[one] - expected) / np.linalg.norm(expected)
        assert error < (1e-4 if d is None or K < 50 else 0.05)


@each_engine
@pytest.mark.parametrize("d", [None, 7])
def test_leaves_are_made_from_the_rows_given(engine, d):
    """Other rows count for nothing, and a leaf without rows stays where it is."""
    rows, F, Z = row_problem(26, d, n=90)
    used = np.flatnonzero(np.random.default_rng(0).random(90) < 0.5)
    few = replace(rows, c=rows.c[used], weight=rows.weight[used])
    whole, part, leaf = engine.compute.row_loss(rows), engine.compute.row_loss(few), thirds(90)
    whole.pull(F, Z)
    part.pull(F[used], Z)
    values = whole.leaves(F, in_leaves(leaf, 4), used, LeafRule(0.7))
    np.testing.assert_allclose(
        values, part.leaves(F[used], in_leaves(leaf[used], 4), None, LeafRule(0.7)), rtol=1e-5, atol=1e-6
    )
    assert (values[3] == 0).all() and (values[:3] != 0).all()


@each_engine
def test_steps_never_overshoot(engine):
    """The Hessian that is used is above the true one in every direction, also where it almost vanishes."""
    rows, F, Z = row_problem(60, 7, n=48, weighted=False)
    F = (40 * rows.Y[rows.c] + F).astype(np.float32)  # sure of the true class, almost
    work = engine.compute.row_loss(rows)
    work.pull(F, Z)
    values = work.leaves(F, in_leaves(np.zeros(48, np.int32), 1), None, LeafRule(0.0))[0].astype(np.float64)
    Y, P = codewords(rows), probabilities(rows, F)
    mean = P @ Y
    H = (Y.T * P.sum(axis=0)) @ Y - mean.T @ mean
    g = (Y[rows.c] - mean).sum(axis=0)
    assert values @ H @ values <= 1.02 * (values @ g)  # a step v = A⁻¹ g with A above H has vᵀHv <= vᵀg


@each_engine
@pytest.mark.parametrize("K", [2, 26, 100])
def test_no_class_steps_further_than_it_may(engine, K):
    rows, F, Z = row_problem(K, None, n=90)
    work = engine.compute.row_loss(rows)
    work.pull(F, Z)
    free, bounded = (work.leaves(F, in_leaves(thirds(90), 3), None, LeafRule(0.1, max_step=m)) for m in (np.inf, 0.5))
    assert np.abs(free).max() > 0.5
    np.testing.assert_array_equal(bounded, np.clip(free, -0.5, 0.5))


@each_engine
@pytest.mark.parametrize("max_step", [0.5, 50.0])
def test_steps_that_are_too_long_are_made_safe(engine, max_step):
    """Without curvature but with a gradient Newton's step is endless; one that is short enough is left alone."""
    rows, F, Z = row_problem(6, 4, n=90)
    F *= 100  # probabilities of zero and one
    work = engine.compute.row_loss(rows)
    work.pull(F, Z)
    free, bounded = (
        work.leaves(F, in_leaves(thirds(90), 3), None, LeafRule(1e-3, max_step=m)) for m in (np.inf, max_step)
    )
    moves = [np.abs(values @ rows.Y.T).max(axis=1) for values in (free, bounded)]  # (3,) each
    assert np.isfinite(free).all()
    assert moves[0].max() > max_step
    assert (moves[1] <= max_step * 1.001).all()
    short = moves[0] <= max_step
    np.testing.assert_array_equal(free[short], bounded[short])


@each_engine
def test_leaf_values_are_thinned_out(engine):
    """The median is taken off, what is then small is dropped, and nothing else changes."""
    rows, F, Z = row_problem(60, None, n=90)
    work = engine.compute.row_loss(rows)
    work.pull(F, Z)
    whole, thin = (work.leaves(F, in_leaves(thirds(90), 3), None, LeafRule(1.0, thin=t)) for t in (0.0, 0.3))
    centred = whole - np.sort(whole, axis=1)[:, 30:31]
    expected = np.where(np.abs(centred) < np.float32(0.3) * np.abs(centred).max(axis=1, keepdims=True), 0.0, centred)
    np.testing.assert_array_equal(thin, expected)
    assert 0 < np.count_nonzero(thin) < thin.size / 2


@pytest.mark.parametrize(("K", "d"), CODES)
@pytest.mark.parametrize("n", [1000, 3])
def test_large_leaves_equal_twin(K, d, n):
    """The Hessian of a large leaf comes from the same rows, and the same classes enter it by a bound."""
    rows, F, Z = row_problem(K, d, n)
    ours, twin = CPU.compute.row_loss(rows), TWIN.compute.row_loss(rows)
    for work in (ours, twin):
        work.pull(F, Z)
    values, expected = (work.leaves(F, in_leaves(thirds(n), 3), None, LeafRule(0.7)) for work in (ours, twin))
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(("l2", "max_step"), [(0.0, 0.5), (1e-3, 0.5), (1e-3, 50.0), (1e-3, np.inf)])
def test_safe_steps_equal_twin(size, l2, max_step):
    """Singular Hessians, of rows that are all but settled or of dependent codewords, and steps that are too long.

    Without l2 and with a distant limit rounding decides from which pivot on a matrix is safe: nothing to compare.
    """
    for Y in (row_problem(6, 4)[0].Y, np.eye(6, dtype=np.float32) - np.float32(1 / 6)):
        rows, F, Z = row_problem(6, None, n=90)
        rows, F = replace(rows, Y=Y), np.ascontiguousarray(size * F[:, : Y.shape[1]])
        ours, twin = CPU.compute.row_loss(rows), TWIN.compute.row_loss(rows)
        for work in (ours, twin):
            work.pull(F, Z)
        values, expected = (
            work.leaves(F, in_leaves(thirds(90), 3), None, LeafRule(l2, max_step)) for work in (ours, twin)
        )
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_probabilities_that_are_not_kept():
    """Beyond 2²¹ probabilities the leaves raise the scores again: nothing but the last bits changes."""
    rows, F, Z = row_problem(700, None, n=3100)
    ours, twin = CPU.compute.row_loss(rows), TWIN.compute.row_loss(rows)
    for work in (ours, twin):
        work.pull(F, Z)
    values, expected = (work.leaves(F, in_leaves(thirds(3100), 3), None, LeafRule(0.7)) for work in (ours, twin))
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)
