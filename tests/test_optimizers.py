"""Optimizers: what they ask, what they apply, golden coordinate descent, and risks that never rise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cases import (
    CODEWORDS,
    CONVEX,
    LEARNERS,
    LOSSES,
    OPTIMIZERS,
    ListLearner,
    boost_with,
    code,
    each,
    listed_data,
    make_run,
    problem,
    smooth_hinge,
    training_set,
)
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.engine import CPU
from simplexboost.parts.learners import ClassTree, InfoTree, Learner, NewtonTree, Stump, VectorTree
from simplexboost.parts.losses import Exponential, Logistic, OneVsAll, Savage
from simplexboost.parts.optimizers import AllCoordinates, CoordinateDescent, GradientDescent, Newton, as_optimizer
from simplexboost.parts.optimizers.base import SIGNS, ask, binary_gradient, gradient_of, normalised_edge
from simplexboost.parts.steps import FixedStep

GOLDEN = json.loads((Path(__file__).parent / "golden" / "boosting.json").read_text())["cd_toy"]


def boost_and_watch(run, optimizer, n_rounds):
    """The risk before boosting and after every round, in logarithms."""
    log_risks = [log_risk(run)]
    for t in range(n_rounds):
        boost_with(run, optimizer, t + 1)
        if run.round == t:
            break
        log_risks.append(log_risk(run))
    return np.array(log_risks)


def log_risk(run):
    values = run.loss.log_value(run.U, run.data.c)
    return values.max() + np.log(run.data.weight @ np.exp(values - values.max()))


# ---- golden ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize(("schedule", "key"), [("best", "jmlr_best_j"), ("cyclic", "nips_cyclic")])
def test_coordinate_descent_golden(loss, schedule, key):
    Y = code("simplex", 3)
    assert_allclose(Y, GOLDEN["Y"], atol=1e-15)
    run = make_run(listed_data(GOLDEN["y"]), LOSSES[loss], Y, ListLearner(GOLDEN["H"]))
    optimizer = CoordinateDescent(schedule)
    for t, golden in enumerate(GOLDEN[f"{loss}_{key}"]):
        boost_with(run, optimizer, t + 1)
        (update,) = run.updates
        assert (update.coordinate, update.hypothesis.number) == (golden["j"], golden["h"])
        assert update.alpha == pytest.approx(golden["alpha"], abs=2e-6)  # golden steps have about seven digits
        assert run.risk() == pytest.approx(golden["risk"], rel=1e-6)


# ---- risks never rise -----------------------------------------------------------------------------------------------


def goes_together(loss, optimizer):
    """Whether line searches of this optimizer promise anything for the loss; Newton asks for more of a loss."""
    if isinstance(optimizer, Newton):
        return loss.convex and loss is not LOSSES["user's pair"]
    separate = isinstance(optimizer, AllCoordinates) and not optimizer.shared_step
    return not separate  # a step per coordinate is exact where the loss decouples; see below


PAIRS = [
    pytest.param(loss, optimizer, id=f"{name}-{how}")
    for name, loss in LOSSES.items()
    for how, optimizer in OPTIMIZERS.items()
    if goes_together(loss, optimizer)
]


@pytest.mark.parametrize(("loss", "optimizer"), PAIRS)
def test_risk_never_rises(loss, optimizer):
    data = problem(n=40, p=2, K=4, seed=1)
    moved = 0
    for i, codewords in enumerate(CODEWORDS):
        Y = code(codewords, 4)
        for learner in list(LEARNERS.values())[i % 2 :: 2]:  # every learner meets every other code
            run = make_run(data, loss, Y, learner)
            log_risks = boost_and_watch(run, optimizer, 4)
            assert (np.diff(log_risks) <= 1e-12).all(), (codewords, learner, log_risks)
            moved += log_risks[-1] < log_risks[0] - 1e-3
    assert moved >= 30  # of 45


@each("learner", LEARNERS)
@pytest.mark.parametrize("codewords", CODEWORDS)
def test_risk_never_rises_for_any_learner_and_code(learner, codewords):
    run = make_run(problem(n=60, p=3, K=3, seed=2), Logistic(), code(codewords, 3), learner)
    log_risks = boost_and_watch(run, GradientDescent(), 8)
    assert (np.diff(log_risks) <= 1e-12).all()


@each("learner", LEARNERS)
def test_separate_steps_are_exact_where_the_loss_decouples(learner):
    run = make_run(problem(n=60, p=3, K=4, seed=2), OneVsAll(), np.eye(4), learner)
    log_risks = boost_and_watch(run, AllCoordinates(shared_step=False), 6)
    assert (np.diff(log_risks) <= 1e-12).all()
    assert log_risks[-1] < log_risks[0] - 0.1


@each("loss", CONVEX)
def test_learning_rates_below_one_keep_the_descent(loss):
    run = make_run(problem(seed=3), loss, code("simplex", 3), VectorTree(), learning_rate=0.3)
    log_risks = boost_and_watch(run, GradientDescent(), 10)
    assert (np.diff(log_risks) < 0).all()


# ---- gradient -------------------------------------------------------------------------------------------------------


class Spy(Learner):
    """Keeps the requests it passes on."""

    def __init__(self, inner):
        self.inner, self.requests = inner, []

    def fit(self, request):
        self.requests.append(request)
        return self.inner.fit(request)


@each("loss", LOSSES)
@pytest.mark.parametrize("codewords", ["simplex", "canonical", "max-min"])
def test_gradient_points_where_the_risk_falls(loss, codewords):
    data, Y = problem(n=10, K=4, seed=4), code(codewords, 4)
    run = make_run(data, loss, Y, VectorTree())
    F = np.random.default_rng(0).normal(size=(10, Y.shape[1]))

    def losses_at(F):
        return data.weight * loss.value(0.5 * F @ Y.T, data.c)

    run.move_to(F)
    G, epsilon = gradient_of(run, scaled=False).G, 1e-6
    for j in range(Y.shape[1]):
        step = epsilon * np.eye(Y.shape[1])[j]
        assert_allclose(G[:, j], -(losses_at(F + step) - losses_at(F - step)) / (2 * epsilon), atol=1e-6)
    scaled = gradient_of(run).G
    assert_allclose(scaled * np.linalg.norm(G), G * np.linalg.norm(scaled), atol=1e-9 * np.abs(G).max() + 1e-12)


def test_what_each_optimizer_asks():
    data, Y = problem(K=4, seed=5), code("simplex", 4)
    asked = {}
    for name, optimizer in OPTIMIZERS.items():
        spy = Spy(VectorTree())
        optimizer.propose(make_run(data, Logistic(), Y, spy))
        asked[name] = spy.requests
    (request,) = asked["gradient"]
    assert request.G.shape == (data.n, 3)
    assert request.curvature is None
    assert_array_equal(request.Y, Y)
    assert_array_equal(request.labels, data.c)
    assert (request.weight > 0).all()
    (newton,) = asked["newton"]
    assert newton.curvature.shape == (data.n,)
    for name, coordinates in [("coordinate", range(3)), ("all-coordinates", range(3)), ("coordinate cyclic", [0])]:
        assert len(asked[name]) == len(coordinates)
        for j, question in zip(coordinates, asked[name], strict=True):
            g = request.G[:, j]
            assert_array_equal(question.G[:, 0], g)
            assert_array_equal(question.weight, np.abs(g))
            assert_array_equal(question.Y[question.labels, 0] * question.weight, g)


def test_sampled_rows_and_features_reach_the_learner():
    for optimizer in OPTIMIZERS.values():
        spy = Spy(VectorTree())
        run = make_run(problem(seed=5), Logistic(), code("simplex", 3), spy)
        run.rows, run.features = np.arange(20), np.array([2])
        optimizer.propose(run)
        assert all(request.rows is run.rows and request.features is run.features for request in spy.requests)


# ---- coordinates ----------------------------------------------------------------------------------------------------


def test_best_schedule_applies_the_coordinate_of_lowest_risk():
    data, Y = problem(K=4, seed=6), code("simplex", 4)
    run = make_run(data, Logistic(), Y, Stump())
    for t in range(5):
        risks = []
        for j in range(3):
            answer = ask(run, binary_gradient(gradient_of(run).G[:, j]), SIGNS)
            W = run.code.forward(answer.outputs * np.eye(3)[j])
            alpha = run.step.length(run.ray(lambda: W)).alpha  # noqa: B023
            F = run.F.copy()
            F[:, j] += alpha * answer.outputs[:, 0]
            risks.append(float(data.weight @ run.loss.value(0.5 * F @ Y.T, data.c)) / data.n)
        boost_with(run, CoordinateDescent(), t + 1)
        assert run.updates[0].coordinate == int(np.argmin(risks))
        assert run.risk() == pytest.approx(min(risks), rel=1e-12)


def test_cyclic_schedule_takes_turns():
    run = make_run(problem(K=4, seed=6), Logistic(), code("simplex", 4), Stump())
    model = boost_with(run, CoordinateDescent("cyclic"), 7)
    assert [term.coordinate for term in model.terms] == [0, 1, 2, 0, 1, 2, 0]


def test_cyclic_schedule_passes_over_coordinates_without_an_edge():
    # Column 1 of the code is the same for both classes: its gradient is zero.
    Y = np.array([[1.0, 0.5, 0.3], [-1.0, 0.5, -0.3]])
    run = make_run(problem(K=2, seed=6), Logistic(), Y, Stump())
    model = boost_with(run, CoordinateDescent("cyclic"), 4)
    assert [term.coordinate for term in model.terms] == [0, 2, 2, 0]
    assert run.stop_reason is None


def test_all_coordinates_share_the_step_of_the_whole_vector():
    data, Y = problem(K=4, seed=7), np.eye(4)
    run = make_run(data, Exponential(), Y, Stump())
    answers = [ask(run, binary_gradient(gradient_of(run).G[:, j]), SIGNS) for j in range(4)]
    whole = np.column_stack([answer.outputs for answer in answers])
    expected = run.step.length(run.ray(lambda: run.code.forward(whole)))
    updates = AllCoordinates().propose(run)
    assert [update.coordinate for update in updates] == [0, 1, 2, 3]
    assert {update.alpha for update in updates} == {expected.alpha}
    run.apply(updates)
    assert_allclose(run.F, expected.alpha * whole, rtol=1e-15)
    assert run.model.round_ends == [4]


def test_separate_steps_are_those_of_binary_boosters():
    data = problem(K=3, seed=7)
    together = make_run(data, OneVsAll(), np.eye(3), Stump())
    boost_with(together, AllCoordinates(shared_step=False), 5)
    for k in range(3):
        binary = training_set(data.X, (data.c != k).astype(int), data.weight)
        alone = make_run(binary, Exponential(), np.array([[1.0], [-1.0]]), Stump())
        boost_with(alone, GradientDescent(), 5)
        assert_allclose(together.F[:, k], alone.F[:, 0], rtol=1e-8)


def test_gradient_and_coordinates_agree_on_one_coordinate():
    data, Y = problem(K=2, seed=8), code("simplex", 2)
    F = []
    for optimizer in (GradientDescent(), *(OPTIMIZERS[k] for k in OPTIMIZERS if "coordinate" in k)):
        run = make_run(data, Exponential(), Y, Stump())
        boost_with(run, optimizer, 8)
        F.append(run.F)
    for other in F[1:]:
        assert_allclose(other, F[0], rtol=1e-12)


# ---- Newton ---------------------------------------------------------------------------------------------------------


@each("loss", {k: v for k, v in CONVEX.items() if k != "user's pair"})
@pytest.mark.parametrize("codewords", ["simplex", "canonical", "one-vs-all"])
def test_newton_gives_the_trace_of_the_hessian(loss, codewords):
    data, Y = problem(n=8, K=3, seed=9), code(codewords, 3)
    d = Y.shape[1]
    run = make_run(data, loss, Y, NewtonTree())
    F = np.random.default_rng(1).normal(size=(8, d))
    run.move_to(F)
    trace, epsilon = np.zeros(8), 1e-4
    for j in range(d):
        step = epsilon * np.eye(d)[j]
        values = [loss.value(0.5 * (F + s * step) @ Y.T, data.c) for s in (-1, 0, 1)]
        trace += data.weight * (values[0] - 2 * values[1] + values[2]) / epsilon**2
    assert_allclose(run.objective.curvature(run.U), trace, rtol=1e-5, atol=1e-6)


@each("loss", {k: v for k, v in CONVEX.items() if k != "user's pair"})
def test_newton_steps_of_one_do_not_overshoot(loss):
    run = make_run(
        problem(seed=9), loss, code("simplex", 3), NewtonTree(l2_regularization=0.0, max_depth=1), FixedStep()
    )
    log_risks = boost_and_watch(run, Newton(), 3)
    assert len(log_risks) == 4
    assert (np.diff(log_risks[:2]) < 0).all()


def test_newton_refuses_losses_it_cannot_use():
    data, Y = problem(), code("simplex", 3)
    with pytest.raises(ValueError, match="needs a convex loss; loss=Savage"):
        Newton().check(make_run(data, Savage(), Y, NewtonTree()))
    with pytest.raises(TypeError, match="second"):
        Newton().check(make_run(data, smooth_hinge(), Y, NewtonTree()))
    Newton().check(make_run(data, Logistic(), Y, NewtonTree()))


# ---- edges ----------------------------------------------------------------------------------------------------------


def test_edge_is_one_for_a_learner_along_the_gradient():
    G = np.random.default_rng(0).normal(size=(20, 3))
    unit = G / np.linalg.norm(G, axis=1, keepdims=True)
    for scale in (1e-8, 1.0, 1e8):
        assert normalised_edge(CPU, G, scale * unit) == pytest.approx(1.0)
        assert normalised_edge(CPU, scale * G, -unit) == pytest.approx(-1.0)
    assert normalised_edge(CPU, G, np.zeros_like(G)) == 0.0
    assert normalised_edge(CPU, np.zeros_like(G), unit) == 0.0
    assert normalised_edge(CPU, G[:, :1], np.array([[1.0]] * 10 + [[-1.0]] * 10)) == pytest.approx(
        (G[:10, 0].sum() - G[10:, 0].sum()) / np.abs(G[:, 0]).sum()
    )


@each("optimizer", OPTIMIZERS)
def test_no_update_without_an_edge(optimizer):
    data = training_set(np.zeros((12, 2)), np.arange(12) % 3)  # nothing to split on, classes of equal size
    for learner in (VectorTree(), Stump(), ClassTree(), NewtonTree(), InfoTree()):
        assert optimizer.propose(make_run(data, Logistic(), code("simplex", 3), learner)) == []


class Contrary(Learner):
    """Answers the opposite of what was asked."""

    def fit(self, request):
        answer = VectorTree().fit(request)
        return type(answer)(answer.hypothesis, -answer.outputs)


@each("optimizer", OPTIMIZERS)
def test_no_update_against_the_gradient(optimizer):
    run = make_run(problem(), Logistic(), code("simplex", 3), Contrary())
    assert optimizer.propose(run) == []


@each("optimizer", OPTIMIZERS)
def test_perfect_learners_are_flagged(optimizer):
    data = training_set(np.arange(12.0)[:, None], np.arange(12) // 6)
    run = make_run(data, Exponential(), code("simplex", 2), VectorTree())
    assert all(update.perfect and update.alpha == 10.0 for update in optimizer.propose(run))


def test_as_optimizer():
    for optimizer in OPTIMIZERS.values():
        assert as_optimizer(optimizer) is optimizer
    with pytest.raises(ValueError, match="optimizer='adam' is unknown; choose one of 'gradient'"):
        as_optimizer("adam")
    with pytest.raises(ValueError, match="schedule='random' is unknown"):
        CoordinateDescent("random").check(make_run(problem(), Logistic(), code("simplex", 3), Stump()))
