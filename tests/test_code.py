"""Products with codewords: the short cuts for Y = a I + b against matrix products, and the gap."""

from __future__ import annotations

import numpy as np
import pytest
from cases import CODEWORDS, code, each
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.model.code import Code, identity, is_view, symmetric_form

rng = np.random.default_rng(0)
GENERAL = rng.normal(size=(4, 3))
CODES = {
    "canonical": np.eye(4),
    "samme": code("samme", 4),
    "3 I - 2": 3 * np.eye(4) - 2,
    "2 I + 1": 2 * np.eye(4) + 1,
    "simplex": code("simplex", 4),
    "general": GENERAL,
    "square, general": rng.normal(size=(4, 4)),
}


@each("Y", CODES)
def test_products_are_matrix_products(Y):
    F, P, c = rng.normal(size=(5, Y.shape[1])), rng.normal(size=(5, 4)), np.array([0, 3, 1, 1, 2])
    made, U = Code(Y), 0.5 * F @ Y.T
    before = F.copy()
    assert_allclose(made.forward(F), U, rtol=1e-13, atol=1e-14)
    assert_allclose(made.scores(F), U, rtol=1e-13, atol=1e-14)
    assert_allclose(made.back(P), 0.5 * P @ Y, rtol=1e-13, atol=1e-14)
    assert_allclose(made.own_scores(F, c), U[np.arange(5), c], rtol=1e-13, atol=1e-14)
    assert_array_equal(F, before)


@each("Y", CODES)
def test_products_are_written_where_they_are_wanted(Y):
    F, out = rng.normal(size=(5, Y.shape[1])), np.full((5, 4), 99.0)
    assert Code(Y).forward(F, out) is out
    assert_allclose(out, 0.5 * F @ Y.T, rtol=1e-13, atol=1e-14)


def test_scores_are_in_double_precision():
    for Y in (np.eye(4, dtype=np.float32), GENERAL.astype(np.float32)):
        assert Code(Y).scores(np.ones((2, Y.shape[1]), dtype=np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("Y", "form"),
    [
        (np.eye(2), (1.0, 0.0)),
        (np.eye(3), (1.0, 0.0)),
        (3 * np.eye(3) - 2, (3.0, -2.0)),
        (np.diag([1.0, 1.0, 2.0]), None),  # not all classes alike
        (np.eye(3) + np.eye(3, k=2), None),
        (np.eye(3)[:, :2], None),
        (np.ones((1, 1)), None),
    ],
)
def test_the_form_of_a_code(Y, form):
    assert symmetric_form(Y) == form
    assert Code(Y).symmetric == (form is not None)
    assert Code(Y).canonical == (form == (1.0, 0.0))


@each("part", CODEWORDS)
def test_the_gap_is_that_of_every_pair(part):
    Y = part.matrix(4, np.random.default_rng(0))
    gaps = [0.5 * Y[c] @ (Y[c] - Y[k]) for c in range(4) for k in range(4) if k != c]
    gap = Code(Y).gap
    if gap is None:
        assert max(gaps) - min(gaps) > 1e-6
    else:
        assert_allclose(gaps, gap, rtol=1e-9)


def test_gaps_by_hand():
    assert Code(np.eye(5)).gap == 0.5
    assert Code(3 * np.eye(4) - 2).gap == pytest.approx(0.5 * (13 - 4))  # ⟨y_c, y_c⟩ = 13, ⟨y_c, y_k⟩ = 4
    assert Code(code("simplex", 4)).gap == pytest.approx(0.5 * (1 + 1 / 3))  # of unit vectors at −1/3
    assert Code(GENERAL).gap is None


def test_the_identity_is_a_view():
    Y = identity(3)
    assert_array_equal(Y, np.eye(3))
    assert Y.base is not None and is_view(Y)
    assert not is_view(np.eye(3))
