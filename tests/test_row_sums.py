"""Sums over rows are exact: they depend neither on the order of the rows nor on where the arrays lie in memory."""

import numpy as np
from cases import each
from twin import reference_engine

from simplexboost.engine import CPU
from simplexboost.model.code import Code
from simplexboost.parts.losses import MM, Exponential, Logistic, OneVsAll, OwnScoreExponential, Savage, SoftmaxCost
from simplexboost.parts.losses.base import ExponentialSum
from simplexboost.parts.optimizers.base import normalised_edge
from simplexboost.parts.steps import Ray

KINDS = [MM, Exponential, Logistic, OneVsAll, OwnScoreExponential, Savage, SoftmaxCost]
LOSSES = {kind.__name__: kind() for kind in KINDS}
ENGINES = {"compiled": CPU, "twin": reference_engine()}
RNG = np.random.default_rng(0)
N, K = 1001, 4
U, W, WEIGHT = RNG.normal(size=(N, K)), RNG.normal(size=(N, K)), RNG.uniform(0.5, 2, N)
C, VOTES, ORDER = RNG.integers(0, K, N), RNG.integers(0, K, N), RNG.permutation(N)


def moved(array):
    """A copy whose memory begins at another place relative to a cache line."""
    memory = np.empty(array.nbytes + 8, dtype=np.uint8)[8:].view(array.dtype).reshape(array.shape)
    memory[:] = array
    return memory


def both_ways(compute):
    """What a computation gives for the rows as they are, and in another order and place."""
    arrays = (U, C, WEIGHT, W, VOTES)
    return compute(*arrays), compute(*(moved(array[ORDER]) for array in arrays))


@each("loss", LOSSES)
def test_risk_and_slope_along_a_ray(loss):
    one, other = both_ways(
        lambda U, c, w, W, votes: [(ray.risk(0.3), *ray.slope(0.3)) for ray in [Ray(loss, U, c, w, W)]]
    )
    assert one == other


@each("loss", {name: loss for name, loss in LOSSES.items() if isinstance(loss, ExponentialSum)})
def test_the_balance_of_a_direction(loss):
    one, other = both_ways(lambda U, c, w, W, votes: Ray(loss, U, c, w, W).balance())
    assert one == other


@each("loss", LOSSES)
def test_the_risk_of_a_training_set(loss):
    code = Code(np.eye(K))
    one, other = both_ways(lambda U, c, w, W, votes: loss.objective(c, w, code).risk(2 * U))
    assert one == other


@each("engine", ENGINES)
def test_edges(engine):
    one, other = both_ways(lambda U, c, w, W, votes: normalised_edge(engine, U, W))
    assert one == other


@each("engine", ENGINES)
def test_reductions_of_engines(engine):
    assert engine.rows.total(U).tolist() == engine.rows.total(U[ORDER]).tolist()
    np.testing.assert_allclose(engine.rows.total(U), U.sum(axis=0), rtol=1e-12)
    assert engine.rows.largest(U) == U.max() and engine.rows.largest(np.empty(0)) == -np.inf
    assert engine.rows.every(U < 100) and not engine.rows.every(U < 0) and engine.rows.every(np.empty(0, dtype=bool))
