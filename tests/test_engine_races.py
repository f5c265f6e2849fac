"""The race of the rivals, the residual it leaves, and votes: kernels and twin, bit for bit."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, each_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from twin import losses as twin_losses
from twin.losses import exp_nonpositive

from simplexboost import _kernels
from simplexboost.parts.losses import gamma_phi

CPU = SimpleNamespace(
    race=gamma_phi.race,
    race_along=gamma_phi.race_along,
    pull_rows=_kernels.pull_rows,
    vote_rows=_kernels.vote_rows,
)
TWIN = twin_losses
each_way = each("way", {"compiled": CPU, "twin": TWIN})
KS = [2, 3, 7, 8, 9, 16, 26, 100]  # vectors of eight, full and not


def scores(K, n=50, size=3.0, seed=0):
    """Scores U (n, K), labels, a direction W (n, K)."""
    rng = np.random.default_rng(seed + K)
    U = size * rng.normal(size=(n, K)) + 0.0  # no −0: of two equal zeros either may be the highest
    return U, rng.integers(0, K, n), rng.normal(size=(n, K))


def residual(K, n=50):
    """The residual of a race with weights: −(rival's pull), rows sum to zero."""
    U, c, _ = scores(K, n)
    E, Z, _ = TWIN.race(U, c, 2.0)
    w = np.random.default_rng(1).exponential(size=n)
    TWIN.pull_rows(E, c, w, Z)
    return E, c, w


@each_way
@pytest.mark.parametrize("K", KS)
def test_race_and_pull(way, K):
    U, c, _ = scores(K)
    rows, rate = np.arange(len(U)), 2.0
    E, Z, lead = way.race(U, c, rate)
    rivals = np.where(np.arange(K) == c[:, None], -np.inf, U)
    np.testing.assert_allclose(lead, U[rows, c] - rivals.max(axis=1))
    np.testing.assert_allclose(np.log(Z) - rate * lead, logsumexp(rate * (rivals - U[rows, c][:, None]), axis=1))
    np.testing.assert_allclose(E, np.exp(rate * (rivals - rivals.max(axis=1, keepdims=True))), rtol=1e-14)
    w = np.linspace(0.1, 2.0, len(U))
    way.pull_rows(E, c, w, Z)
    shares = np.exp(rate * rivals - logsumexp(rate * rivals, axis=1, keepdims=True))
    np.testing.assert_allclose(E, np.where(np.arange(K) == c[:, None], w[:, None], -w[:, None] * shares), rtol=1e-12)


@each_way
@pytest.mark.parametrize("K", KS)
def test_race_along(way, K):
    U, c, W = scores(K)
    Z, lead, mean, variance = way.race_along(U, c, W, 0.7, 2.0)
    E, moved_Z, moved_lead = way.race(U + 0.7 * W, c, 2.0)
    shares = E / E.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Z, moved_Z)
    np.testing.assert_allclose(lead, moved_lead)
    np.testing.assert_allclose(mean, (shares * W).sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(variance, (shares * W**2).sum(axis=1) - mean**2, atol=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(KS), st.integers(0, 20), st.sampled_from([0.0, 1.0, 30.0, 1e3, 1e300]), st.floats(0.1, 4.0))
def test_races_equal_twin(K, n, size, rate):
    """To the last bit, also where rivals drop out of the race."""
    U, c, W = scores(K, n, size)
    for name, arguments in (("race", (U, c, rate)), ("race_along", (U, c, W, -0.3, rate))):
        for ours, twin in zip(getattr(CPU, name)(*arguments), getattr(TWIN, name)(*arguments), strict=True):
            assert ours.tobytes() == twin.tobytes()
    E, Z, _ = CPU.race(U, c, rate, out=np.empty_like(U))
    ours, twin = E, TWIN.race(U, c, rate, out=np.empty_like(U))[0]
    for way, P in ((CPU, ours), (TWIN, twin)):
        way.pull_rows(P, c, np.linspace(0.1, 2.0, n), Z)
    assert ours.tobytes() == twin.tobytes()


@each_way
def test_the_race_is_written_where_it_should_be(way):
    U, c, _ = scores(5)
    out = np.empty_like(U)
    assert way.race(U, c, 1.0, out)[0] is out
    np.testing.assert_array_equal(out, way.race(U, c, 1.0)[0])


@each_way
@pytest.mark.parametrize("K", KS)
def test_votes(way, K):
    """A right vote moves its class against all rivals, a wrong one the rival it names: as if scores had moved."""
    P, c, _ = residual(K)
    classes = np.where(np.arange(len(c)) % 3 == 0, (c + 1) % K, c)
    right, rows = classes == c, np.arange(len(c))
    own, after = np.empty(len(c)), P.copy()
    way.vote_rows(after, c, classes, 1.5, 0.4, own)
    rivals = np.arange(K) != c[:, None]
    expected = np.where(rivals, P, 0.0)
    expected[right] *= 0.4
    expected[rows[~right], classes[~right]] *= 1.5
    np.testing.assert_allclose(np.where(rivals, after, 0.0), expected, rtol=1e-14)
    np.testing.assert_allclose(after.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_array_equal(own, after[rows, c])


@pytest.mark.parametrize("K", KS)
def test_votes_equal_twin(K):
    P, c, _ = residual(K, n=333)
    classes = np.random.default_rng(0).integers(0, K, 333)
    (ours, own), (twin, twins_own) = ((P.copy(), np.empty(333)) for _ in range(2))
    CPU.vote_rows(ours, c, classes, 1.7, 0.3, own)
    TWIN.vote_rows(twin, c, classes, 1.7, 0.3, twins_own)
    assert ours.tobytes() == twin.tobytes() and own.tobytes() == twins_own.tobytes()


def test_the_twins_exponential():
    """About one unit in the last place, zero where the result would not be a normal number."""
    x = -np.geomspace(1e-300, 708, 10_001)
    np.testing.assert_allclose(exp_nonpositive(x), np.exp(x), rtol=3e-16)
    assert exp_nonpositive(np.array([0.0, -0.0, -708.5, -np.inf])).tolist() == [1.0, 1.0, 0.0, 0.0]


@each_engine
def test_totals(engine):
    values = np.random.default_rng(0).normal(size=1000)
    assert engine.rows.total(values) == pytest.approx(sum(values.tolist()), rel=1e-12)
    assert engine.rows.total(np.empty(0)) == 0.0
