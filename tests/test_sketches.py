"""Sketches and the objective of the flagship: directions, costs in the logits, leaf rules, and the risk."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from cases import COST, code, each, make_run, problem
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.engine import cpu_engine
from simplexboost.model.code import Code
from simplexboost.parts.learners import SketchTree, VectorTree
from simplexboost.parts.losses import Exponential, Logistic, Objective, Savage, SoftmaxCost
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.parts.optimizers.sketched import (
    FURTHEST,
    MANY_CLASSES,
    THIN,
    GaussianSketch,
    RowObjective,
    Sketch,
    as_sketch,
    log_costs,
    seconds_per_round,
)
from simplexboost.parts.steps import FixedStep

K = 4


# ---- directions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["canonical", "simplex", "samme"])
def test_directions_are_centred_over_the_classes(name):
    Z = GaussianSketch(3).directions(code(name, K), np.random.default_rng(0))
    assert Z.shape == (K, 3) and Z.dtype == np.float32 and Z.flags.c_contiguous
    assert_allclose(Z.mean(axis=0), 0.0, atol=1e-6)
    assert (np.abs(Z) > 1e-3).any(axis=0).all()


def test_many_directions_keep_the_distances_of_codewords():
    # ‖z_c − z_k‖² has mean ‖y_c − y_k‖² and, relative to it, the deviation √(2/s).
    Y, s = np.random.default_rng(1).normal(size=(K, 3)), 20_000
    Z = GaussianSketch(s).directions(Y, np.random.default_rng(0)).astype(np.float64)
    for c in range(K):
        for k in range(c):
            assert np.sum((Z[c] - Z[k]) ** 2) == pytest.approx(np.sum((Y[c] - Y[k]) ** 2), rel=5 * np.sqrt(2 / s))


@pytest.mark.parametrize("Y", [np.eye(6, dtype=np.float32), np.arange(12.0).reshape(6, 2)], ids=["canonical", "other"])
def test_codewords_of_which_more_is_known_have_the_same_directions(Y):
    first, second = (np.random.default_rng(0) for _ in range(2))
    Z = Y @ second.standard_normal((Y.shape[1], 2))
    plain = ((Z - Z.mean(axis=0)) / np.sqrt(2)).astype(np.float32)
    assert GaussianSketch(2).along(Code(Y), first).tobytes() == plain.tobytes() and first.random() == second.random()


def test_directions_are_drawn_anew():
    rng = np.random.default_rng(0)
    first, second = (GaussianSketch(2).directions(np.eye(K), rng) for _ in range(2))
    assert not np.isclose(first, second).any()


def test_a_number_is_a_sketch_of_so_many_directions():
    sketch = GaussianSketch(5)
    assert as_sketch(sketch) is sketch and isinstance(sketch, Sketch)
    assert as_sketch(3).size == as_sketch(3).n_directions == 3 and sketch.size == 5


@pytest.mark.parametrize("wrong", [0, 65, 2.0, True, None, "3"])
def test_numbers_of_directions_without_meaning_are_refused(wrong):
    with pytest.raises((TypeError, ValueError), match=r"sketch=.*\[1, 64\]"):
        as_sketch(wrong).check()
    as_sketch(1).check()
    as_sketch(64).check()


# ---- costs ----------------------------------------------------------------------------------------------------------


def test_costs_join_the_logits_as_logarithms():
    logs = log_costs([[7.0, 1.0, 0.0], [np.e, 0.0, 2.0], [0.5, 1.0, 0.0]])
    expected = [[0, 0, np.log(1e-30)], [1, 0, np.log(2)], [-np.log(2), 0, 0]]
    assert_allclose(logs, expected, rtol=1e-6)
    assert logs.dtype == np.float32 and log_costs(None) is None


# ---- the objective --------------------------------------------------------------------------------------------------

ROW_LOSSES = {
    "logistic": Logistic(),
    "logistic with cost": Logistic(cost_matrix=COST),
    "savage": Savage(),
    "softmax-cost": SoftmaxCost(),
}


def row_objective(loss, name, weighted=True):
    """A row objective, its training rows and a predictor F (n, d)."""
    data = problem(n=30, K=K)
    weight = data.weight if weighted else np.ones(30)
    Y = code(name, K).astype(np.float32)
    F = np.random.default_rng(5).normal(size=(30, Y.shape[1])).astype(np.float32)
    return RowObjective(loss, data.c, weight, Code(Y), cpu_engine()), data.c, weight, Y, F


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", ["canonical", "simplex"])
@each("loss", ROW_LOSSES)
def test_the_risk_is_the_loss_s_own_mean(loss, name, weighted):
    objective, c, weight, Y, F = row_objective(loss, name, weighted)
    U = 0.5 * F.astype(np.float64) @ Y.T.astype(np.float64)
    expected = np.average(loss.value(U, c), weights=weight)
    assert objective.risk(F) == pytest.approx(expected, rel=2e-6)
    assert objective.risk(F) == objective.rows.risk()


@pytest.mark.parametrize("name", ["canonical", "simplex"])
@each("loss", ROW_LOSSES)
def test_the_pull_is_the_gradient_along_the_directions(loss, name):
    objective, c, weight, Y, F = row_objective(loss, name)
    Z = GaussianSketch(2).directions(Y, np.random.default_rng(0))
    statistics = objective.rows.pull(F, Z)
    U = 0.5 * F.astype(np.float64) @ Y.T.astype(np.float64)
    P = weight[:, None] * loss.residual(U, c)
    along = 0.5 * P @ Z
    ratio = np.abs(statistics[:, :2]).max() / np.abs(along).max()  # tilted losses are scaled
    assert_allclose(statistics[:, :2], ratio * along, rtol=1e-4, atol=1e-5 * ratio * np.abs(along).max())
    assert statistics.shape == (30, 3) and (statistics[:, 2] >= 0).all()
    if loss.exponents == (0, 0):
        assert ratio == pytest.approx(1.0, rel=1e-5)


def test_the_whole_gradient_is_that_of_the_loss():
    run = sketched_run(K)
    run.move_to(np.random.default_rng(5).normal(size=run.F.shape))
    found = run.objective.lazy_gradient(run)
    expected = Objective(run.loss, run.data.c, run.data.weight, run.model.code).gradient(run.F, lambda: run.U, 0)
    assert_allclose(found.G, expected.G, rtol=1e-12)
    assert_array_equal(found.labels, run.data.c)


# ---- the optimizer --------------------------------------------------------------------------------------------------


def sketched_run(K, name="canonical", loss=None, learner=None, n=60, **more):
    data = problem(n=n, K=K)
    loss, learner = Logistic() if loss is None else loss, SketchTree() if learner is None else learner
    return make_run(
        data, loss, code(name, K).astype(np.float32), learner, FixedStep(), **{"optimizer": SketchedNewton(), **more}
    )


def test_the_objective_is_made_once_and_again_after_a_move():
    run = sketched_run(K)
    first = run.objective
    assert isinstance(first, RowObjective)
    run.apply(run.optimizer.propose(run))
    assert run.objective is first
    run.move_to(run.F)
    assert isinstance(run.objective, RowObjective) and run.objective is not first


@pytest.mark.parametrize(
    ("K", "name", "max_step", "rule", "sparse"),
    [
        (MANY_CLASSES - 1, "canonical", 2.0, (2.0, 0.0), False),
        (MANY_CLASSES, "canonical", 2.0, (2.0, THIN), True),
        (K, "canonical", None, (np.inf, 0.0), False),
        (K, "simplex", 2.0, (FURTHEST / 0.25, 0.0), False),
        (MANY_CLASSES, "simplex", None, (FURTHEST / 0.25, THIN), False),
    ],
)
def test_the_rule_of_the_leaves(K, name, max_step, rule, sparse):
    run = sketched_run(K, name, n=2 * K, learning_rate=0.25)
    _, found, is_sparse, _ = SketchedNewton(max_step=max_step).fixed(run)
    assert ((found.max_step, found.thin), is_sparse) == (rule, sparse)
    assert found.l2_regularization == SketchTree().l2_among(K)


def test_a_round_is_one_tree_that_tells_the_risk_before():
    run = sketched_run(K)
    (update,) = SketchedNewton(sketch=2).propose(run)
    assert run.risk_before == pytest.approx(np.log(K), rel=1e-6)
    assert update.alpha == 1.0 and 0 < update.edge <= 1
    run.apply([update])
    assert run.risk() < run.risk_before
    assert_allclose(run.model.predictor(run.data.X), run.F, rtol=1e-6)


def test_a_step_of_no_length_ends_the_rounds_and_says_why():
    run = sketched_run(K)
    stride = SimpleNamespace(alpha=0.0, stop="no way down", perfect=False)
    run.step = SimpleNamespace(length=lambda ray: stride, constant=None)
    assert SketchedNewton().propose(run) == [] and run.refusal == "no way down"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"loss": Exponential()}, "knows the losses"),
        ({"loss": Savage(cost_matrix=COST)}, "knows the losses"),
        ({"loss": SoftmaxCost(cost_matrix=COST)}, "knows the losses"),
        ({"learner": VectorTree()}, "needs learner='sketch-tree'"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        SketchedNewton().check(sketched_run(K, **changed))
    for loss in ROW_LOSSES.values():
        SketchedNewton().check(sketched_run(K, loss=loss))


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, "2"])
def test_longest_steps_without_meaning_are_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="max_step="):
        SketchedNewton(max_step=wrong).check(sketched_run(K))


def test_seconds_per_round_by_hand():
    # n = 60 rows, p = 3 features, K = d = 4, 31 leaves of 5 levels, 255 bins, one direction, one thread.
    run = sketched_run(K, learner=SketchTree(max_leaf_nodes=31))
    histograms = 1.5e-9 * 60 * 3 * (1 + 5 / 4)
    scans = 2e-9 * 31 * 255 * 3
    assert seconds_per_round(run) == pytest.approx(histograms + scans + 4e-9 * 60 * 4 + 2e-4, rel=1e-12)
    SketchedNewton().check(run)
    assert run.seconds == seconds_per_round(run)


def test_seconds_per_round_of_large_data_by_hand():
    # 2**20 rows of 10 features, 8 classes, 255 leaves of 8 levels, 16 bins; two threads.
    n, K = 2**20, 8
    growth = SimpleNamespace(growth_for=lambda data: SimpleNamespace(max_leaf_nodes=0))
    data = SimpleNamespace(n=n, p=10, table=np.broadcast_to(0.0, (n, 10)), max_bins=16, engine=cpu_engine(2))
    trees = 1.5e-9 * n * 10 * (1 + 8 / 4) + 2e-9 * 255 * 16 * 10
    for d, soft_max in ((8, 4e-9 * n * K), (3, 2e-9 * n * K + 1e-10 * n * K * 3)):
        run = SimpleNamespace(data=data, Y=np.ones((K, d)), learner=growth)
        assert seconds_per_round(run) == pytest.approx((trees + soft_max) / 2 + 2e-4, rel=1e-12)
