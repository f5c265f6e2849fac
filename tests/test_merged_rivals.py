"""Rivals that move alike along a coordinate count as one: the risk along it is that of all classes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import simplexboost as sb
from simplexboost.parts.codewords import Simplex
from simplexboost.parts.losses import MM, Exponential, Logistic
from simplexboost.parts.losses.gamma_phi import Rivals, merging_pays
from simplexboost.parts.optimizers import CoordinateDescent, base
from simplexboost.parts.steps import Ray

K, N = 12, 50
Y = Simplex().matrix(K, np.random.default_rng(0))


def rays(loss, j, h, spread=3.0, seed=0):
    """The same ray along coordinate j, with all classes and with merged ones."""
    rng = np.random.default_rng(seed)
    U, c, weight = spread * rng.normal(size=(N, K)), rng.integers(K, size=N), rng.random(N)
    W = 0.5 * np.multiply.outer(h, Y[:, j])
    merged = Rivals(loss, U, c).along(Y[:, j], 0.5 * h)
    return Ray(loss, U, c, weight, W), Ray(loss, U, c, weight, W, merged=merged)


@pytest.mark.parametrize("loss", [Exponential(), Logistic(), MM()], ids=str)
@pytest.mark.parametrize("j", [0, 5, K - 2])
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_the_risk_along_a_coordinate_is_that_of_all_classes(loss, j, spread):
    whole, merged = rays(loss, j, np.random.default_rng(1).normal(size=N), spread)
    for alpha in (0.0, 0.3, 4.0):
        assert merged.slope(alpha) == pytest.approx(whole.slope(alpha), rel=1e-9, abs=1e-12)
        assert merged.log_risk(alpha) == pytest.approx(whole.log_risk(alpha), rel=1e-12)
        with np.errstate(over="ignore"):
            assert merged.risk(alpha) == pytest.approx(whole.risk(alpha))


@pytest.mark.parametrize("seed", range(5))
def test_rays_without_an_end_are_the_same(seed):
    rng = np.random.default_rng(seed)
    c = rng.integers(K, size=N)
    U, weight = rng.normal(size=(N, K)), np.ones(N)
    for j in range(K - 1):
        h = np.sign(Y[c, j])  # toward the true class: no rival gains on it
        for outputs in (h, np.where(np.arange(N) == 3, -h, h), np.zeros(N)):
            W = 0.5 * np.multiply.outer(outputs, Y[:, j])
            merged = Rivals(Exponential(), U, c).along(Y[:, j], 0.5 * outputs)
            whole = Ray(Exponential(), U, c, weight, W)
            assert Ray(Exponential(), U, c, weight, W, merged=merged).endless(10.0) == whole.endless(10.0)


def test_a_class_alone_with_its_entry_has_no_rival_there():
    """So a direction that gains on all others is perfect, whatever the entry of the class itself."""
    entries = np.array([1.0, -1.0, -1.0, -1.0, -1.0, -1.0])
    U, c, h = np.zeros((3, 6)), np.zeros(3, dtype=np.intp), np.ones(3)
    W = 0.5 * np.multiply.outer(h, entries)
    merged = Ray(Exponential(), U, c, h, W, merged=Rivals(Exponential(), U, c).along(entries, 0.5 * h))
    assert merged.endless(10.0) == Ray(Exponential(), U, c, h, W).endless(10.0)
    assert merged.endless(10.0).perfect


@pytest.mark.parametrize("loss", [Exponential(cost_matrix=np.ones((K, K))), sb.parts.losses.OneVsAll()], ids=str)
def test_costs_of_pairs_and_other_losses_are_not_merged(loss):
    assert base.find_rivals(SimpleNamespace(loss=loss)) is None


def test_merging_pays_with_few_different_entries():
    assert merging_pays(Y[:, 3])
    assert not merging_pays(np.arange(12.0))
    assert not merging_pays(Simplex().matrix(4, np.random.default_rng(0))[:, 1])


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("schedule", ["best", "cyclic"])
def test_coordinate_descent_makes_the_steps_that_it_makes_with_all_classes(loss, schedule, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(600) % K
    X = rng.normal(size=(K, 5))[y] + 0.5 * rng.normal(size=(600, 5))
    clf = sb.CDMCBoostClassifier(loss=loss, schedule=schedule, n_estimators=30)
    merged = clf.fit(X, y).history_
    monkeypatch.setattr(base, "merging_pays", lambda entries: False)
    whole = clf.fit(X, y).history_
    np.testing.assert_array_equal(merged["coordinate"], whole["coordinate"])
    np.testing.assert_allclose(merged["step"], whole["step"], rtol=1e-6)
    np.testing.assert_allclose(merged["risk"], whole["risk"], rtol=1e-9)


@pytest.mark.parametrize(
    ("n_classes", "step", "asked"), [(4, "line-search", 0), (K, "fixed", 0), (K, "line-search", 5)]
)
def test_rivals_are_looked_at_once_a_round_and_only_where_merging_pays(n_classes, step, asked, monkeypatch):
    rng, calls = np.random.default_rng(0), []
    monkeypatch.setattr(base, "Rivals", lambda *args: calls.append(1) or Rivals(*args))
    y = np.arange(240) % n_classes
    X = rng.normal(size=(n_classes, 5))[y] + 0.5 * rng.normal(size=(240, 5))
    parts = {"loss": "exponential", "codewords": "simplex", "learner": "stump", "step": step}
    sb.BoostingClassifier(**parts, optimizer=CoordinateDescent("best"), n_estimators=5).fit(X, y)
    assert len(calls) == asked
