"""The loop: against textbook boosters, golden numbers and symmetries; and what stands around it."""

from __future__ import annotations

import json
import math
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from cases import (
    BOOSTERS,
    GAMMA_PHI,
    LOSSES,
    OPTIMIZERS,
    ListLearner,
    blobs,
    boost_with,
    code,
    each,
    listed_data,
    make_run,
    problem,
    training_set,
)
from numpy.testing import assert_allclose, assert_array_equal

import simplexboost as sb
from simplexboost.boosting import Callback, EarlyStopping, Evaluation, History, Sampling
from simplexboost.parts.learners import ClassTree, InfoTree, NewtonTree, Stump, VectorTree
from simplexboost.parts.losses import MM, Exponential, Logistic, Savage
from simplexboost.parts.optimizers import AllCoordinates, CoordinateDescent, GradientDescent
from simplexboost.parts.optimizers.base import gradient_of
from simplexboost.parts.steps import ClosedForm, FixedStep, LineSearch

GOLDEN = json.loads((Path(__file__).parent / "golden" / "boosting.json").read_text())["toy"]


# ---- textbook boosters ----------------------------------------------------------------------------------------------


def adaboost_mm(candidates, y, weight, K, rule, n_rounds):
    """AdaBoost.MM (Mukherjee & Schapire, Algorithm 1) over a list of classifiers: (number, α) of every round."""
    n = len(y)
    f, rounds = np.zeros((n, K)), []
    for _ in range(n_rounds):
        E = weight[:, None] * np.exp(f - f[np.arange(n), y][:, None])
        E[np.arange(n), y] = 0.0
        C = E.copy()
        C[np.arange(n), y] = -E.sum(axis=1)
        costs = [C[np.arange(n), h].sum() for h in candidates]
        number = int(np.argmin(costs))
        h = candidates[number]
        gained = E[h == y].sum()
        lost = E[np.arange(n), h][h != y].sum()
        delta = (gained - lost) / E.sum()
        alpha = 0.5 * math.log((1 + delta) / (1 - delta) if rule == 61 else gained / lost)
        f[np.arange(n), h] += alpha
        rounds.append((number, alpha))
    return rounds, f


def adaboost_with(candidates, signs, weight, n_rounds):
    """AdaBoost (Freund & Schapire) over a list of ±1 classifiers: (number, α) of every round."""
    D, rounds = weight / weight.sum(), []
    for _ in range(n_rounds):
        errors = [D[h != signs].sum() for h in candidates]
        number = int(np.argmin(errors))
        alpha = 0.5 * math.log((1 - errors[number]) / errors[number])
        D = D * np.exp(-alpha * signs * candidates[number])
        D = D / D.sum()
        rounds.append((number, alpha))
    return rounds


def all_stumps(X, answers):
    """Every one-split classifier: (feature, threshold, left answer, right answer) and its answers (n,)."""
    for f, x in enumerate(X.T):
        for low, high in pairwise(np.unique(x)):
            threshold = low + (high - low) / 2
            for left, right in product(answers, repeat=2):
                yield (f, threshold, left, right), np.where(x <= threshold, left, right)


def random_classifiers(y, K, m=25, seed=0):
    """M classifiers, right two times in five beside luck."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((m, len(y))) < 0.4, y, rng.integers(0, K, (m, len(y))))


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("step", [LineSearch(), ClosedForm(), ClosedForm(rule="edge")], ids=str)
@pytest.mark.parametrize(("codewords", "loss"), [("canonical", MM()), ("simplex", Exponential())], ids=str)
def test_gradient_descent_on_codewords_is_adaboost_mm(codewords, loss, step, K):
    # F on canonical codewords holds the votes themselves: same α. On the simplex V = K/(2(K−1)) (ζ_c − ζ_k).
    y = np.arange(40) % K
    weight = np.random.default_rng(2).uniform(0.5, 1.5, 40)
    candidates = random_classifiers(y, K)
    rule = 61 if step.get_params().get("rule") == "edge" else 62
    rounds, votes = adaboost_mm(candidates, y, weight, K, rule, 10)
    run = make_run(listed_data(y, weight), loss, code(codewords, K), ListLearner(candidates), step)
    model = boost_with(run, GradientDescent(), 10)
    factor = 1.0 if codewords == "canonical" else K / (2 * (K - 1))
    assert [term.hypothesis.number for term in model.terms] == [number for number, _ in rounds]
    assert_allclose([factor * term.step for term in model.terms], [alpha for _, alpha in rounds], rtol=1e-7)
    if codewords == "canonical":
        assert_allclose(run.F, votes, rtol=1e-7, atol=1e-12)
    assert len({number for number, _ in rounds}) > 3  # a run of one hypothesis would prove little


@pytest.mark.parametrize(("codewords", "loss"), [("canonical", MM()), ("simplex", Exponential())], ids=str)
def test_class_stumps_are_those_of_adaboost_mm(codewords, loss):
    K, data = 3, problem(n=40, p=2, K=3, seed=3)
    stumps = list(all_stumps(data.X, range(K)))
    candidates = np.array([answers for _, answers in stumps])
    rounds, _ = adaboost_mm(candidates, data.c, data.weight, K, 62, 10)
    model = boost_with(make_run(data, loss, code(codewords, K), ClassTree(max_depth=1)), GradientDescent(), 10)
    factor = 1.0 if codewords == "canonical" else K / (2 * (K - 1))
    Y = code(codewords, K)
    for term, (number, alpha) in zip(model.terms, rounds, strict=True):
        feature, threshold, left, right = stumps[number][0]
        root = term.hypothesis.tree.nodes[0]
        assert (root["feature"], root["threshold"]) == (feature, threshold)
        assert_array_equal(term.hypothesis.values, Y[[left, right]])
        assert factor * term.step == pytest.approx(alpha, rel=1e-7)


@pytest.mark.parametrize("learner", [Stump(), ClassTree(max_depth=1), VectorTree(max_depth=1)], ids=str)
@pytest.mark.parametrize("optimizer", [GradientDescent(), CoordinateDescent(), AllCoordinates()], ids=str)
def test_two_classes_are_adaboost_with(learner, optimizer):
    data = problem(n=50, p=3, K=2, seed=4)
    signs = np.where(data.c == 0, 1, -1)
    stumps = list(all_stumps(data.X, (1, -1)))
    rounds = adaboost_with([answers for _, answers in stumps], signs, data.weight, 12)
    model = boost_with(make_run(data, Exponential(), code("simplex", 2), learner), optimizer, 12)
    for term, (number, alpha) in zip(model.terms, rounds, strict=True):
        feature, threshold, left, right = stumps[number][0]
        root = term.hypothesis.tree.nodes[0]
        assert (root["feature"], root["threshold"]) == (feature, threshold)
        assert_array_equal(term.hypothesis.values[:, 0], [left, right])
        assert term.step == pytest.approx(alpha, rel=1e-7)


# ---- golden ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["gd_simplex_exponential", "gd_simplex_logistic"])
def test_gradient_descent_golden(key):
    run = make_run(
        listed_data(GOLDEN["y"]), LOSSES[key.rpartition("_")[2]], code("simplex", 3), ListLearner(GOLDEN["H"])
    )
    model = boost_with(run, GradientDescent(), len(GOLDEN[key]))
    assert [term.hypothesis.number for term in model.terms] == [golden["h"] for golden in GOLDEN[key]]
    assert_allclose([term.step for term in model.terms], [golden["alpha"] for golden in GOLDEN[key]], atol=1e-6)


@pytest.mark.parametrize(("rule", "key"), [("edge", "mm_rule61"), ("exact", "mm_rule62")])
def test_adaboost_mm_golden(rule, key):
    run = make_run(listed_data(GOLDEN["y"]), MM(), np.eye(3), ListLearner(GOLDEN["H"]), ClosedForm(rule))
    for t, golden in enumerate(GOLDEN[key]):
        boost_with(run, GradientDescent(), t + 1)
        (update,) = run.updates
        assert update.hypothesis.number == golden["h"]
        assert update.alpha == pytest.approx(golden["alpha"], rel=1e-12)
        assert run.risk() * run.data.n == pytest.approx(golden["Z_new"], rel=1e-12)
        assert_allclose(run.F, golden["f"], rtol=1e-12, atol=1e-15)


def test_each_number_of_an_adaboost_mm_round():
    rounds, votes = adaboost_mm(np.array(GOLDEN["H"]), np.array(GOLDEN["y"]), np.ones(6), 3, 61, 8)
    assert [number for number, _ in rounds] == [golden["h"] for golden in GOLDEN["mm_rule61"]]
    assert_allclose(votes, GOLDEN["mm_rule61"][-1]["f"])


# ---- identities -----------------------------------------------------------------------------------------------------


def weights_and_rivals(name, U, c):
    """W (n,) and τ (n, K) from their definitions."""
    n, K = U.shape
    a = 1 if name == "exponential" else 2
    w, tau = np.zeros(n), np.zeros((n, K))
    for i in range(n):
        phi = np.array([math.exp(-a * (U[i, c[i]] - U[i, k])) if k != c[i] else 0.0 for k in range(K)])
        v = phi.sum()
        gamma_prime = {"exponential": 1, "mm": 1, "logistic": 1 / (1 + v), "savage": 2 * v / (1 + v) ** 3}[name]
        w[i], tau[i] = gamma_prime * a * v, phi / v
    return w, tau


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("codewords", ["simplex", "canonical"])
@pytest.mark.parametrize("name", ["exponential", "logistic", "savage", "mm"])
def test_selection_identity(name, codewords, K):
    # Σ⟨G, y_h⟩ = ½ fac (Σ w − Σ_{wrong} w (1 + τ_h)): the learner minimises a weighted error.
    data, Y = problem(n=30, K=K, seed=5), code(codewords, K)
    rng = np.random.default_rng(6)
    run = make_run(data, LOSSES[name], Y, VectorTree())
    run.move_to(rng.normal(size=(30, Y.shape[1])))
    G = gradient_of(run, scaled=False).G
    w, tau = weights_and_rivals(name, run.U, data.c)
    w = w * data.weight
    factor = K / (K - 1) if codewords == "simplex" else 1.0
    for h in rng.integers(0, K, (10, 30)):
        wrong = h != data.c
        error = (w * (1 + tau[np.arange(30), h]))[wrong].sum()
        assert np.vdot(G, Y[h]) == pytest.approx(0.5 * factor * (w.sum() - error), rel=1e-10)


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize(
    ("codewords", "factor"), [("simplex", lambda K: K / (2 * (K - 1))), ("canonical", lambda K: 0.5)]
)
def test_margins_are_differences_of_votes(codewords, factor, K):
    data, Y = problem(n=40, K=K, seed=7), code(codewords, K)
    run = make_run(data, Logistic(), Y, ClassTree())
    model = boost_with(run, GradientDescent(), 6)
    votes = np.zeros((40, K))
    for term in model.terms:
        h = (term.hypothesis.outputs(data.X) @ Y.T).argmax(axis=1)
        votes[np.arange(40), h] += term.step
    assert_allclose(run.F, votes @ Y, atol=1e-12)
    i, c = np.arange(40), data.c
    assert_allclose(run.U[i, c][:, None] - run.U, factor(K) * (votes[i, c][:, None] - votes), atol=1e-12)


@pytest.mark.parametrize("codewords", ["simplex", "canonical"])
@each("loss", GAMMA_PHI)
def test_random_codewords_have_no_edge(loss, codewords):
    Y = code(codewords, 5)
    run = make_run(problem(n=30, K=5, seed=8), loss, Y, VectorTree())
    run.move_to(np.random.default_rng(9).normal(size=(30, Y.shape[1])))
    G = gradient_of(run, scaled=False).G
    assert_allclose((G @ Y.T).mean(axis=1), 0.0, atol=1e-14 * np.abs(G).max())


# ---- symmetries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [VectorTree(), ClassTree(), InfoTree(), NewtonTree()], ids=str)
@pytest.mark.parametrize("codewords", ["simplex", "canonical", "max-min"])
@pytest.mark.parametrize("optimizer", ["gradient", "coordinate", "newton"])
def test_permuting_classes_permutes_scores(learner, codewords, optimizer):
    data, Y = problem(n=60, K=4, seed=10), code(codewords, 4)
    order = np.array([2, 0, 3, 1])  # class k becomes order[k]
    permuted = training_set(data.X, order[data.c], data.weight)
    renamed = np.empty_like(Y)
    renamed[order] = Y
    runs = [make_run(data, Logistic(), Y, learner), make_run(permuted, Logistic(), renamed, learner)]
    for run in runs:
        boost_with(run, OPTIMIZERS[optimizer], 6)
        assert run.round == 6
    assert_allclose(runs[1].F, runs[0].F, rtol=1e-7, atol=1e-8)
    assert_allclose(runs[1].U[:, order], runs[0].U, rtol=1e-7, atol=1e-8)


def rotated(Y, seed=0):
    """Y times a random orthogonal matrix, and the matrix."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(Y.shape[1],) * 2))[0]
    return Y @ Q, Q


@pytest.mark.parametrize("learner", [VectorTree(), ClassTree(), NewtonTree()], ids=str)
@pytest.mark.parametrize("codewords", ["simplex", "canonical"])
@pytest.mark.parametrize("loss", [Exponential(), Logistic(), Savage()], ids=str)
def test_gradient_descent_does_not_see_the_orientation_of_the_code(learner, codewords, loss):
    data, Y = problem(n=60, K=4, seed=11), code(codewords, 4)
    turned, Q = rotated(Y)
    runs = [make_run(data, loss, matrix, learner) for matrix in (Y, turned)]
    for run in runs:
        boost_with(run, GradientDescent(), 6)
        assert run.round == 6
    assert_allclose(runs[1].F, runs[0].F @ Q, rtol=1e-6, atol=1e-6)
    assert_allclose(runs[1].U, runs[0].U, rtol=1e-6, atol=1e-6)


def test_coordinate_descent_does_see_the_orientation_of_the_code():
    data, Y = problem(n=60, K=4, seed=11), code("simplex", 4)
    runs = [make_run(data, Logistic(), matrix, Stump()) for matrix in (Y, rotated(Y)[0])]
    for run in runs:
        boost_with(run, CoordinateDescent(), 6)
    assert np.abs(runs[1].U - runs[0].U).max() > 1e-2


def test_order_of_rows_does_not_matter():
    data = problem(n=60, K=3, seed=12)
    order = np.random.default_rng(0).permutation(60)
    shuffled = training_set(data.X[order], data.c[order], data.weight[order])
    runs = [make_run(d, Logistic(), code("simplex", 3), VectorTree()) for d in (data, shuffled)]
    for run in runs:
        boost_with(run, GradientDescent(), 6)
    assert_allclose(runs[1].F, runs[0].F[order], rtol=1e-8, atol=1e-10)


def test_weights_are_repetitions():
    X, c = blobs(n=40, seed=13)
    times = 1 + np.arange(40) % 3
    runs = [
        make_run(training_set(X, c, times.astype(float)), Logistic(), code("simplex", 3), VectorTree()),
        make_run(training_set(X.repeat(times, axis=0), c.repeat(times)), Logistic(), code("simplex", 3), VectorTree()),
    ]
    for run in runs:
        boost_with(run, GradientDescent(), 6)
    assert_allclose(runs[1].F, runs[0].F.repeat(times, axis=0), rtol=1e-7, atol=1e-9)
    assert runs[1].risk() == pytest.approx(runs[0].risk(), rel=1e-9)


def test_rounds_that_cancel_do_not_diverge():
    """The sum of all moves is only an upper bound of F: where it is too large, F itself decides."""
    run = make_run(problem(), Logistic(), code("simplex", 3), VectorTree())
    boost_with(run, GradientDescent(), 3)
    run._reach = 1e200
    boost_with(run, GradientDescent(), 4)
    assert np.abs(run.F).max() <= run._reach < 1e3


# ---- the loop -------------------------------------------------------------------------------------------------------


class Recorder(Callback):
    """Writes down what it sees."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def start(self, run):
        self.log.append((self.name, "start", run.round))

    def before_round(self, run):
        self.log.append((self.name, "before", run.round))

    def after_round(self, run):
        self.log.append((self.name, "after", run.round))

    def finish(self, run):
        self.log.append((self.name, "finish", run.round))


def test_callbacks_are_called_in_order():
    log = []
    run = make_run(problem(), Logistic(), code("simplex", 3), VectorTree())
    boost_with(run, GradientDescent(), 2, [Recorder("a", log), Recorder("b", log)])
    moments = [("start", 0), ("before", 0), ("after", 1), ("before", 1), ("after", 2), ("finish", 2)]
    assert log == [(name, *moment) for moment in moments for name in "ab"]


def test_a_callback_can_stop():
    class Stop(Callback):
        def after_round(self, run):
            if run.round == 3:
                run.stop_reason = "enough"

    run = make_run(problem(), Logistic(), code("simplex", 3), VectorTree())
    assert boost_with(run, GradientDescent(), 10, [Stop()]).n_rounds == 3
    assert run.stop_reason == "enough"


def test_model_and_run_tell_the_same():
    data = problem(n=60, K=4, seed=14)
    for optimizer in OPTIMIZERS.values():
        run = make_run(data, Logistic(), code("simplex", 4), VectorTree(), learning_rate=0.5)
        model = boost_with(run, optimizer, 5)
        assert_allclose(model.predictor(data.X), run.F, rtol=1e-12, atol=1e-14)
        stages = [F.copy() for F in model.staged_predictor(data.X)]
        assert len(stages) == model.n_rounds == 5
        assert_array_equal(stages[-1], model.predictor(data.X))
        assert_allclose(stages[2], model.first(3).predictor(data.X), rtol=1e-12, atol=1e-14)
        assert_allclose(run.U, 0.5 * run.F @ run.Y.T, rtol=1e-12)


def test_learning_rate_shrinks_the_step():
    data, Y = problem(), code("simplex", 3)
    whole, half = (make_run(data, Logistic(), Y, VectorTree(), learning_rate=rate) for rate in (1.0, 0.5))
    boost_with(whole, GradientDescent(), 1)
    boost_with(half, GradientDescent(), 1)
    assert_array_equal(half.F, 0.5 * whole.F)
    assert half.updates[0].alpha == whole.updates[0].alpha


def test_stops_without_an_edge():
    log = []
    run = make_run(training_set(np.zeros((12, 2)), np.arange(12) % 3), Logistic(), code("simplex", 3), VectorTree())
    model = boost_with(run, GradientDescent(), 5, [Recorder("a", log)])
    assert model.n_rounds == 0
    assert run.stop_reason.startswith("no edge")
    assert [moment for _, moment, _ in log] == ["start", "before", "finish"]
    assert_array_equal(model.predictor(np.ones((2, 2))), np.zeros((2, 2)))


def test_stops_after_a_perfect_learner():
    x = np.arange(12.0)
    run = make_run(training_set(x[:, None], np.arange(12) // 6), Exponential(), code("simplex", 2), VectorTree())
    model = boost_with(run, GradientDescent(), 5)
    assert model.n_rounds == 1
    assert run.stop_reason.startswith("perfect learner")
    assert model.terms[0].step == LineSearch().endless_step
    assert_array_equal(np.sign(run.F[:, 0]), np.where(x < 6, 1, -1))


def test_stop_reasons_of_the_estimator():
    clf = sb.BoostingClassifier(n_estimators=3).fit(np.zeros((12, 2)), np.arange(12) % 3)
    assert clf.stop_reason_.startswith("no edge")
    assert (clf.n_iter_, len(clf.history_["risk"])) == (0, 0)
    assert_array_equal(clf.predict(np.zeros((2, 2))), [0, 0])
    clf = sb.BoostingClassifier(n_estimators=3).fit(np.arange(12.0)[:, None], np.arange(12) // 6)
    assert clf.stop_reason_.startswith("perfect learner")
    clf = sb.BoostingClassifier(n_estimators=3).fit(*blobs())
    assert clf.stop_reason_ is None


# ---- callbacks ------------------------------------------------------------------------------------------------------


def test_history_tells_what_happened():
    data, history = problem(K=4, seed=15), History()
    run = make_run(data, Logistic(), code("simplex", 4), Stump(), learning_rate=0.7)
    model = boost_with(run, CoordinateDescent("cyclic"), 7, [history])
    arrays = history.arrays(7)
    assert {name: len(values) for name, values in arrays.items()} == dict.fromkeys(arrays, 7)
    assert_array_equal(arrays["coordinate"], [0, 1, 2, 0, 1, 2, 0])
    assert_allclose(0.7 * arrays["step"], [term.step for term in model.terms])
    assert ((arrays["edge"] > 0) & (arrays["edge"] <= 1)).all()
    assert (np.diff(arrays["seconds"]) >= 0).all()
    for F, risk in zip(model.staged_predictor(data.X), arrays["risk"], strict=True):
        assert data.weight @ Logistic().value(0.5 * F @ run.Y.T, data.c) / data.n == pytest.approx(risk, rel=1e-12)
    assert all(len(values) == 3 for values in history.arrays(3).values())


@each("booster", BOOSTERS)
def test_history_of_the_estimators_has_a_row_per_round(booster):
    X, y = blobs(n=90, seed=16)
    clf = booster(n_estimators=4).fit(X, y)
    assert clf.n_iter_ == 4
    assert {len(values) for values in clf.history_.values()} == {4}
    assert len(list(clf.staged_predict(X))) == 4


def test_early_stopping_keeps_the_best_round():
    X, c = blobs(n=260, seed=17)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 200)
    stopping = Evaluation(X[60:], c[60:], weight, stopping=EarlyStopping(4))
    runs = [
        make_run(training_set(X[:60], c[:60]), Exponential(), code("simplex", 3), VectorTree(), learning_rate=0.3)
        for _ in range(2)
    ]
    model = boost_with(runs[0], GradientDescent(), 50, [stopping])
    stages = boost_with(runs[1], GradientDescent(), len(stopping.results["risk"])).staged_predictor(X[60:])
    risks = [weight @ Exponential().value(0.5 * F @ runs[0].Y.T, c[60:]) / weight.sum() for F in stages]
    assert_allclose(stopping.results["risk"], risks, rtol=1e-10)
    best = 1 + int(np.argmin(risks))
    assert runs[0].stop_reason.startswith("early stopping")
    assert best > 1
    assert len(risks) == best + 4 < 50
    assert model.n_rounds == len(model.terms) == best


def test_early_stopping_keeps_at_least_one_round():
    X, c = blobs(n=60, seed=17)
    stopping = Evaluation(X, (c + 1) % 3, np.ones(60), stopping=EarlyStopping(3))  # labels that can only get worse
    run = make_run(training_set(X, c), Exponential(), code("simplex", 3), VectorTree())
    assert boost_with(run, GradientDescent(), 50, [stopping]).n_rounds == 1
    assert len(stopping.results["risk"]) == 4  # the first, and three that are worse


def test_early_stopping_keeps_whole_rounds():
    data = problem(n=60, K=3, seed=17)
    stopping = Evaluation(*blobs(n=100, seed=99), np.ones(100), stopping=EarlyStopping(2))
    run = make_run(data, Exponential(), np.eye(3), Stump())
    model = boost_with(run, AllCoordinates(), 40, [stopping])
    assert run.stop_reason.startswith("early stopping")
    assert len(model.terms) == 3 * model.n_rounds


def test_early_stopping_of_the_estimator():
    X, y = blobs(n=300, seed=19)
    clf = sb.GDMCBoostClassifier(n_estimators=200, early_stopping=3, random_state=0).fit(X, y)
    assert clf.stop_reason_.startswith("early stopping")
    assert 0 < clf.n_iter_ < 200
    assert {len(values) for values in clf.history_.values()} == {clf.n_iter_}
    assert clf.model_.n_rounds == clf.n_iter_


# ---- randomness and threads -----------------------------------------------------------------------------------------


def fitted_bytes(clf):
    """All that prediction reads, as bytes."""
    return [
        (
            term.hypothesis.tree.nodes.tobytes(),
            term.hypothesis.values.tobytes(),
            float(term.step).hex(),
            term.coordinate,
        )
        for term in clf.model_.terms
    ]


@each("booster", BOOSTERS)
def test_the_same_seed_repeats(booster):
    X, y = blobs(n=200, p=6, seed=20)

    def fit(seed):
        return fitted_bytes(booster(n_estimators=4, subsample=0.5, max_features=0.5, random_state=seed).fit(X, y))

    assert fit(3) == fit(3)
    assert fit(3) != fit(4)


def test_sampling_draws_anew_every_round():
    seen = []

    class Look(Callback):
        def before_round(self, run):
            seen.append((run.rows, run.features))

    run = make_run(problem(n=40, p=10), Logistic(), code("simplex", 3), VectorTree())
    boost_with(run, GradientDescent(), 3, [Sampling(0.25, 0.3), Look()])
    assert all(len(rows) == 10 and len(features) == 3 for rows, features in seen)
    assert all((np.diff(rows) > 0).all() and (np.diff(features) > 0).all() for rows, features in seen)
    assert len({rows.tobytes() for rows, _ in seen}) == 3
    run = make_run(problem(n=40, p=10), Logistic(), code("simplex", 3), VectorTree())
    boost_with(run, GradientDescent(), 1, [Sampling(1e-9, 1.0)])
    assert (len(run.rows), run.features) == (1, None)


@pytest.mark.parametrize("learner", ["vector-tree", "class-tree", "info-tree", "newton-tree", "stump", "sign-tree"])
@pytest.mark.parametrize("sampled", [False, True])
def test_threads_change_nothing(learner, sampled):
    X, y = blobs(n=9000, p=11, K=4, seed=21, missing=0.05)
    optimizer = "coordinate" if learner == "stump" else "gradient"
    more = {"subsample": 0.7, "max_features": 0.6} if sampled else {}

    def fit(n_jobs):
        clf = sb.BoostingClassifier("logistic", "simplex", learner, optimizer, n_estimators=3, random_state=0, **more)
        return clf.set_params(n_jobs=n_jobs).fit(X, y)

    one = fit(1)
    assert one.n_iter_ == 3
    for n_jobs in (2, 4):
        many = fit(n_jobs)
        assert fitted_bytes(many) == fitted_bytes(one)
        assert [tree.gain.tobytes() for tree in many.model_.trees] == [tree.gain.tobytes() for tree in one.model_.trees]
        assert many.decision_function(X).tobytes() == one.decision_function(X).tobytes()


@each("booster", BOOSTERS)
def test_threads_change_no_booster(booster):
    X, y = blobs(n=5000, p=9, K=3, seed=22)
    fits = [fitted_bytes(booster(n_estimators=3, random_state=0, n_jobs=n_jobs).fit(X, y)) for n_jobs in (1, 2)]
    assert fits[0] == fits[1]


def test_fixed_steps_and_float32():
    X, y = blobs(n=100, seed=23)
    clf = sb.BoostingClassifier(step=FixedStep(0.1), n_estimators=5)
    assert {term.step for term in clf.fit(X, y).model_.terms} == {0.1}
    X32 = X.astype(np.float32)
    as_float32 = clf.fit(X32, y).decision_function(X32)
    assert_array_equal(clf.fit(X32.astype(float), y).decision_function(X32.astype(float)), as_float32)


def test_importances_of_huge_slopes_are_finite():
    """Squares of such slopes are beyond doubles, and a file may hold them."""
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    model = sb.BoostingClassifier(learner="linear", n_estimators=3, random_state=0).fit(X, y).model_
    for term in model.terms:
        object.__setattr__(term.hypothesis, "slope", term.hypothesis.slope * 1e200)
    gains = model.feature_gains(2)
    assert np.isfinite(gains).all() and gains.sum() == pytest.approx(1.0)


def test_a_bound_that_is_too_large_is_infinite():
    """In a fit that diverges, the bound overflows before the scores do; that is no warning."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    clf = sb.OneVsAllBoostClassifier(learning_rate=6320.0, n_estimators=4, random_state=0).fit(X, y)
    assert np.isfinite(clf.history_["bound"]).tolist() == [True, False, False, False]
    assert np.isposinf(clf.history_["bound"][1:]).all()
