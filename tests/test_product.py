"""AdaBoost.MH, AdaBoost.M2/MR and sm-boost: against the textbook, golden numbers, identities and bounds."""

import json
from pathlib import Path

import numpy as np
import pytest
import textbook_product as textbook
from cases import ListLearner, blobs, make_run, training_set
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_random_state

from simplexboost import (
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    OneVsAllBoostClassifier,
    SoftmaxBoostClassifier,
)
from simplexboost.datasets import make_long_servedio
from simplexboost.parts.learners import ClassTree, HammingTree, SignTree, SubsetTree
from simplexboost.parts.losses import SoftmaxCost
from simplexboost.parts.optimizers import SampledPairs
from simplexboost.parts.optimizers.base import gradient_of
from simplexboost.parts.steps import ClosedForm, GradientStep, Ray
from simplexboost.tables.order import hashes_of, hashes_of_classes

GOLDEN = json.loads((Path(__file__).parent / "golden/product.json").read_text())

# n, p, K, seed: three data sets, all with random weights so that nothing ties
DATA = [(40, 3, 3, 0), (36, 2, 4, 1), (40, 3, 2, 3)]
ROUNDS = 10
LIMITS = {"leaves": ({"max_leaf_nodes": 4}, (None, 4, 1, "best")), "depth": ({"max_depth": 2}, (2, None, 1, "level"))}
LEARNERS = {"shared": textbook.one_tree, "separate": textbook.separate_trees, "index": textbook.index_stump}

every_set = pytest.mark.parametrize("data", DATA, ids=str)
every_mode = pytest.mark.parametrize("mode", list(LEARNERS))
every_limit = pytest.mark.parametrize("limit", list(LIMITS))


def weighed(n, p, K, seed):
    """Blobs, their weights, and new rows."""
    X, c = blobs(n, p, K, seed)
    rng = np.random.default_rng(seed + 10)
    c = np.where(rng.random(n) < 0.15, rng.integers(K, size=n), c)  # so that small trees are not perfect
    return X, c, rng.uniform(0.5, 1.5, n), rng.normal(size=(20, p))


def answers(clf, X):
    """h(X) (n, K) of every round."""
    out, begin, K = [], 0, clf.model_.Y.shape[1]
    for end in clf.model_.round_ends:
        h = np.zeros((len(X), K))
        for term in clf.model_.terms[begin:end]:
            columns = slice(None) if term.coordinate is None else [term.coordinate]
            h[:, columns] += term.hypothesis.outputs(X)
        out.append(h)
        begin = end
    return out


def check_rounds(clf, rounds, X, X_new, sign=1.0):
    """Learners, edges, steps and scores of every round are those of the textbook."""
    assert clf.n_iter_ == len(rounds)
    assert len(rounds) == ROUNDS or (len(rounds) > 0 and clf.learner_mode == "index")  # which may soon be at its end
    F = np.zeros((len(X_new), clf.model_.Y.shape[1]))
    for mine, theirs, edge, step in zip(
        answers(clf, X), rounds, *(clf.history_[k] for k in ("edge", "step")), strict=True
    ):
        assert_allclose(mine, sign * theirs.h(X))
        assert edge == pytest.approx(theirs.edge, rel=1e-9)
        assert step == pytest.approx(theirs.step, rel=1e-8)
        F += theirs.step * sign * theirs.h(X_new)
    assert_allclose(clf.model_.predictor(X_new), F, rtol=1e-8, atol=1e-10)


# ---- the textbook ---------------------------------------------------------------------------------------------------


@every_set
@every_mode
@every_limit
def test_adaboost_mh(data, mode, limit):
    X, c, w, X_new = weighed(*data)
    theirs, mine = LIMITS[limit]
    Z = 2.0 * np.eye(data[2])[c] - 1
    rounds = textbook.adaboost_mh(X, Z, w, ROUNDS, LEARNERS[mode], **theirs)
    clf = AdaBoostMHClassifier(SignTree(*mine), learner_mode=mode, n_estimators=ROUNDS).fit(X, c, w)
    check_rounds(clf, rounds, X, X_new)
    Z_drops = np.array([r.Z for r in rounds])
    assert_allclose(clf.history_["risk"], data[2] * np.cumprod(Z_drops))
    assert_allclose(Z_drops, np.sqrt(1 - clf.history_["edge"] ** 2))
    assert_allclose(clf.history_["bound"], data[2] / 2 * np.cumprod(Z_drops))


@every_set
@every_mode
@every_limit
def test_adaboost_m2(data, mode, limit):
    X, c, w, X_new = weighed(*data)
    theirs, mine = LIMITS[limit]
    rounds = textbook.adaboost_mr(X, np.eye(data[2])[c], w, ROUNDS, LEARNERS[mode], **theirs)
    clf = AdaBoostM2Classifier(SubsetTree(*mine), learner_mode=mode, n_estimators=ROUNDS).fit(X, c, w)
    if mode != "shared":  # signs instead of zeros and ones: twice the answer, half the step, shifted by a constant
        h, steps = answers(clf, X), clf.history_["step"]
        for mine_h, step, r in zip(h, steps, rounds, strict=True):
            assert_allclose((mine_h + 1) / 2, r.h(X))
            assert 2 * step == pytest.approx(r.step, rel=1e-8)
    else:
        check_rounds(clf, rounds, X, X_new)
    assert_allclose(clf.history_["risk"], (data[2] - 1) * np.cumprod([r.Z for r in rounds]))
    assert_allclose(clf.history_["bound"], (data[2] - 1) * np.cumprod(np.sqrt(1 - clf.history_["edge"] ** 2)))


@every_set
@every_mode
@every_limit
def test_sm_boost(data, mode, limit):
    X, c, w, X_new = weighed(*data)
    theirs, mine = LIMITS[limit]
    cost = np.random.default_rng(data[3]).uniform(0, 1, (data[2], data[2]))
    rounds = textbook.sm_boost(X, cost[c], w, ROUNDS, LEARNERS[mode], **theirs)
    clf = SoftmaxBoostClassifier(
        SignTree(*mine), cost_matrix=cost, n_pairs="all", learner_mode=mode, n_estimators=ROUNDS
    )
    clf.fit(X, c, w)
    check_rounds(clf, rounds, X, X_new, sign=-1.0)
    assert_allclose(clf.history_["risk"][:-1], [r.Z for r in rounds[1:]])


@every_set
@pytest.mark.parametrize(("mode", "n_pairs"), [("separate", "n"), ("shared", 100)])
def test_sm_boost_on_drawn_pairs(data, mode, n_pairs):
    """The same random numbers: a draw of pairs, then a seed for every tree."""
    X, c, w, X_new = weighed(*data)
    n, _, K, seed = data
    rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
    costs = np.random.default_rng(seed).uniform(0, 1, (n, K))  # of every example, so that no two splits tie
    places = np.argsort(hashes_of_classes(hashes_of(X, 0), c))  # the order of the classes, not that of their numbers
    order = sorted(range(n), key=lambda i: np.append(X[i], costs[i, places]).tobytes())  # not that of the rows

    def draws(share, t):
        u = rng.random(n if n_pairs == "n" else n_pairs)
        rng.integers(2**63, size=K if mode == "separate" else 1)
        ends = np.cumsum(share[order][:, places])
        counts = np.zeros((n, K))
        for value in u * ends[-1]:
            i, k = divmod(int(np.flatnonzero(ends > value)[0]), K)
            counts[order[i], places[k]] += 1
        return counts

    rounds = textbook.sm_boost(X, costs, w, ROUNDS, LEARNERS[mode], draws, max_leaf_nodes=4)
    learner = SignTree(None, 4, 1, "best")
    clf = SoftmaxBoostClassifier(learner, n_pairs=n_pairs, learner_mode=mode, n_estimators=ROUNDS, random_state=seed)
    check_rounds(clf.fit(X, c, w, costs=costs), rounds, X, X_new, sign=-1.0)


def test_single_label_mode_with_trees():
    """The answer of a leaf is the class k with the largest 2 ΣG_k − ΣG."""
    X, c, w, _ = weighed(*DATA[0])
    clf = AdaBoostMHClassifier(learner_mode="single-label", n_estimators=ROUNDS).fit(X, c, w)
    D = np.repeat(w[:, None], 3, axis=1)
    Z = 2 * np.eye(3)[c] - 1
    for h, edge, step in zip(answers(clf, X), clf.history_["edge"], clf.history_["step"], strict=True):
        assert (h.sum(axis=1) == -1).all() and set(np.unique(h)) == {-1.0, 1.0}
        D /= D.sum()
        assert edge == pytest.approx((D * Z * h).sum())
        D *= np.exp(-step * Z * h)


# ---- golden numbers -------------------------------------------------------------------------------------------------


def toy():
    """Six examples of three classes whose number is their only feature, and a learner that chooses from six."""
    y = np.array(GOLDEN["toy"]["y"])
    return np.arange(len(y), dtype=float)[:, None], y, ListLearner(np.array(GOLDEN["toy"]["H"]))


def chosen(clf):
    return [term.hypothesis.number for term in clf.model_.terms]


def test_golden_mh():
    X, y, learner = toy()
    golden = GOLDEN["mh_toy"]
    clf = AdaBoostMHClassifier(learner, learner_mode="single-label", n_estimators=len(golden)).fit(X, y)
    assert chosen(clf) == [r["h"] for r in golden]
    assert_allclose(clf.history_["edge"], [r["edge"] for r in golden])
    assert_allclose(clf.history_["step"], [r["alpha"] for r in golden])
    assert_allclose(clf.history_["risk"], 3 * np.cumprod([r["Z"] for r in golden]))


def test_golden_m2_is_mm_with_twice_the_step():
    """I-5, with the golden numbers of AdaBoost.MM(61)."""
    X, y, learner = toy()
    golden = GOLDEN["rule61"]
    clf = AdaBoostM2Classifier(learner, n_estimators=len(golden)).fit(X, y)
    assert chosen(clf) == [r["h"] for r in golden]
    assert_allclose(clf.history_["edge"], [r["delta"] for r in golden])
    assert_allclose(clf.history_["step"], [2 * r["alpha"] for r in golden])
    assert_allclose(clf.history_["risk"], 2 * np.cumprod([r["drop"] for r in golden]))


def test_golden_drop_of_the_exact_step():
    """I-8: Z falls by (1−c) + √(c²−δ²)."""
    X, y, learner = toy()
    golden = GOLDEN["rule62"]
    clf = AdaBoostM2Classifier(learner, step="exact", n_estimators=len(golden)).fit(X, y)
    assert chosen(clf) == [r["h"] for r in golden]
    assert_allclose(clf.history_["step"], [2 * r["alpha"] for r in golden])
    drops = [1 - r["c"] + np.sqrt(r["c"] ** 2 - r["delta"] ** 2) for r in golden]
    assert_allclose(clf.history_["risk"], 2 * np.cumprod(drops))
    assert_allclose(clf.history_["bound"], 2 * np.cumprod(drops))


@pytest.mark.parametrize("key", ["cost_sensitive", "binary"])
def test_golden_softmax_gradient(key):
    golden = GOLDEN["sm_boost"][key]
    psi, cost = np.array(golden["psi"]), np.array(golden["cost"])
    run = softmax_run(psi, cost)
    assert_allclose(run.loss.probabilities(run.U), golden["g"])
    assert run.risk() == pytest.approx(golden["risk"])
    G = -gradient_of(run).G  # the functional gradient, N times the Euclidean one
    assert_allclose(G, golden["grad"], atol=1e-12)
    assert np.sqrt((G**2).sum() / len(G)) == pytest.approx(golden["grad_norm_N"])


def softmax_run(psi, cost, learner=None, **more):
    """A run of sm-boost at given scores, costs (n, K) by example."""
    from simplexboost.parts.losses import SoftmaxCostTable

    data = training_set(np.arange(len(psi), dtype=float)[:, None], np.arange(len(psi)))
    run = make_run(data, SoftmaxCostTable(cost), np.eye(psi.shape[1]), learner or HammingTree(), GradientStep(), **more)
    run.move_to(psi)
    return run


def test_golden_softmax_step():
    golden = GOLDEN["sm_boost"]["binary"]
    run = softmax_run(np.array(golden["psi"]), np.array(golden["cost"]), SignTree(None))
    updates = SampledPairs("all", separate=False).propose(run)
    assert_allclose(updates[0].alpha, golden["deterministic_step"]["R_M"])
    run.apply(updates)
    assert_allclose(run.F, golden["deterministic_step"]["psi_new"])
    assert run.risk() == pytest.approx(golden["deterministic_step"]["risk_new"])


def test_golden_softmax_hessian():
    """I-15: the second derivative along any direction is that of the full Hessian, by the golden matrix."""
    golden = GOLDEN["sm_boost"]["hessian"]
    u, cost, H = (np.array(golden[k]) for k in ("u", "alpha", "H"))
    from simplexboost.parts.losses import SoftmaxCostTable

    loss, c = SoftmaxCostTable(cost[None, :]), np.array([0])
    for v in np.random.default_rng(0).normal(size=(20, 4)):
        second = loss.along(0.5 * u[None, :], c, 0.5 * v[None, :])[1]
        assert second[0] == pytest.approx(v @ H @ v, rel=1e-9, abs=1e-12)


# ---- identities -----------------------------------------------------------------------------------------------------


@every_set
def test_m2_with_class_learners_is_mm(data):
    """I-5 with trees: the same learners, twice the step, the same probabilities."""
    X, c, w, X_new = weighed(*data)
    m2 = AdaBoostM2Classifier(ClassTree(max_depth=1), n_estimators=ROUNDS).fit(X, c, w)
    mm = AdaBoostMMClassifier(ClassTree(max_depth=1), n_estimators=ROUNDS).fit(X, c, w)
    for a, b in zip(answers(m2, X), answers(mm, X), strict=True):
        assert_array_equal(a, b)
    assert_allclose(m2.history_["step"], 2 * mm.history_["step"])
    assert_allclose(m2.history_["edge"], mm.history_["edge"])
    assert_allclose(m2.predict_proba(X_new), mm.predict_proba(X_new))


def test_two_classes_are_adaboost():
    """I-6: with K = 2 both classes ask the same question, and MH, M2 and MM are AdaBoost."""
    X, c, w, X_new = weighed(*DATA[2])
    stump = {"max_depth": 1}
    adaboost = OneVsAllBoostClassifier(SignTree(**stump), n_estimators=ROUNDS).fit(X, c, w)
    mh = AdaBoostMHClassifier(SignTree(**stump), n_estimators=ROUNDS).fit(X, c, w)
    m2 = AdaBoostM2Classifier(SubsetTree(1, None, 1, "level"), n_estimators=ROUNDS).fit(X, c, w)
    mm = AdaBoostMMClassifier(ClassTree(max_depth=1), n_estimators=ROUNDS).fit(X, c, w)
    assert_allclose(mh.history_["step"], adaboost.history_["step"])
    assert_allclose(mm.history_["step"], adaboost.history_["step"])
    assert_allclose(m2.history_["step"], 2 * adaboost.history_["step"])
    for clf in (mh, m2, mm):
        assert_allclose(clf.history_["edge"], adaboost.history_["edge"])
        assert_allclose(clf.predict_proba(X_new), adaboost.predict_proba(X_new), rtol=1e-7)


def test_one_step_for_all_is_what_differs_from_one_vs_all():
    """MH with separate trees and one-vs-all AdaBoost choose the same first trees, but not the same steps."""
    X, c, w, _ = weighed(*DATA[0])
    tree = SignTree(max_depth=1)
    mh = AdaBoostMHClassifier(tree, learner_mode="separate", n_estimators=1).fit(X, c, w)
    ova = OneVsAllBoostClassifier(tree, n_estimators=1).fit(X, c, w)
    assert_array_equal(answers(mh, X)[0], answers(ova, X)[0])
    assert len({term.step for term in mh.model_.terms}) == 1 < len({term.step for term in ova.model_.terms})


def test_sm_boost_descends_as_promised():
    """I-15: with the step ⟨∇R, h⟩ / ‖h‖² the risk falls by at least half of ⟨∇R, h⟩² / ‖h‖², where ‖h‖² = K."""
    for data in DATA:
        X, c, w, _ = weighed(*data)
        K = data[2]
        clf = SoftmaxBoostClassifier(n_pairs="all", n_estimators=30, learning_rate=1 / K).fit(X, c, w)
        risks = np.concatenate([[1 - 1 / K], clf.history_["risk"]])
        assert (np.diff(risks) <= -0.5 * clf.history_["edge"] ** 2 / K + 1e-12).all()


@pytest.mark.parametrize(
    "learner", ["regression-tree", "linear", "hamming-tree", DecisionTreeRegressor(max_depth=2)], ids=str
)
def test_sm_boost_is_algorithm_1_for_any_learner(learner):
    """ψ ← ψ − α ⟨h, ∇⟩ / ‖h‖² h with the rate α = K, computed here from the answers of the learners alone."""
    X, c, w, _ = weighed(*DATA[0])
    K, w = DATA[0][2], w / w.sum()
    clf = SoftmaxBoostClassifier(learner, n_pairs="all", n_estimators=8, random_state=0).fit(X, c, w)
    psi, cost, steps, risks = np.zeros((len(c), K)), 1 - np.eye(K)[c], [], []
    for h in answers(clf, X):
        g = np.exp(psi) / np.exp(psi).sum(axis=1, keepdims=True)
        gradient = g * (cost - (g * cost).sum(axis=1, keepdims=True))
        steps.append(-K * (w @ (gradient * h).sum(axis=1)) / (w @ (h**2).sum(axis=1)))
        psi += steps[-1] * h
        g = np.exp(psi) / np.exp(psi).sum(axis=1, keepdims=True)
        risks.append(w @ (g * cost).sum(axis=1))
    assert_allclose(clf.history_["step"], steps, rtol=1e-9)
    assert_allclose(clf.history_["risk"], risks, rtol=1e-9)
    assert_allclose(clf.predict_proba(X), g, rtol=1e-9, atol=1e-12)


def test_real_valued_learners_bring_the_cost_down():
    X, y = load_iris(return_X_y=True)
    clf = SoftmaxBoostClassifier("regression-tree", n_estimators=50, random_state=0).fit(X, y)
    assert clf.history_["risk"][-1] < 0.03


@pytest.mark.parametrize("scale", [1e-3, 7.0])
def test_the_gradient_step_does_not_depend_on_the_scale_of_the_answers(scale):
    rng = np.random.default_rng(0)
    c, w, U, h = rng.integers(3, size=30), rng.uniform(0.5, 2, 30), rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    alpha, scaled = (GradientStep().length(Ray(SoftmaxCost(), U, c, w, s * h)).alpha for s in (0.5, 0.5 * scale))
    assert alpha > 0 and scaled * scale == pytest.approx(alpha, rel=1e-12)
    nothing = GradientStep().length(Ray(SoftmaxCost(), U, c, w, 0.0 * h))
    assert (nothing.alpha, nothing.edge) == (0.0, 0.0)


def test_the_paper_step_descends_up_to_ten_classes():
    """R_M is K times that step, below 2/0.19245 = 10.39."""
    X, y = load_digits(return_X_y=True)
    clf = SoftmaxBoostClassifier(n_pairs="all", n_estimators=15, learner_mode="shared").fit(X[:300], y[:300])
    assert (np.diff(clf.history_["risk"]) < 0).all()
    worst = max(v for by_cost in GOLDEN["sm_boost"]["hessian_norm_sup"].values() for v in by_cost.values())
    assert 10 < 2 / worst


def test_samples_of_pairs_are_unbiased():
    X, c, w, _ = weighed(*DATA[0])
    run = make_run(training_set(X, c, w), SoftmaxCost(), np.eye(3), HammingTree(), GradientStep())
    run.move_to(np.random.default_rng(0).normal(size=(40, 3)))
    G = gradient_of(run).G
    optimizer = SampledPairs(400)
    draws = np.array([optimizer.sample(run).G for _ in range(400)])
    deviation = draws.std(axis=0) / np.sqrt(400)
    assert (np.abs(draws.mean(axis=0) - G) < 5 * deviation + 1e-12).all()


# ---- bounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clf",
    [
        AdaBoostMHClassifier(SignTree(max_depth=1)),
        AdaBoostMHClassifier(SignTree(max_depth=2), learner_mode="separate"),
        AdaBoostMHClassifier(learner_mode="single-label"),
        AdaBoostMHClassifier(learner_mode="index"),
        AdaBoostMHClassifier(SignTree(max_depth=1), learning_rate=0.3),
        AdaBoostM2Classifier(SubsetTree(max_depth=1)),
        AdaBoostM2Classifier(SubsetTree(max_depth=2), step="exact"),
        AdaBoostM2Classifier(SubsetTree(max_depth=1), learner_mode="separate"),
        AdaBoostM2Classifier("vector-tree", learning_rate=0.5),
    ],
    ids=lambda clf: f"{type(clf).__name__}-{clf.learner_mode}-{clf.learning_rate}-{clf.step}",
)
def test_bounds_hold(clf):
    """On 50 random problems, after every round, ties counting as errors."""
    lowest = np.inf
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, c = blobs(int(rng.integers(15, 50)), int(rng.integers(1, 4)), int(rng.integers(2, 6)), seed)
        w = rng.uniform(0.2, 2, len(c))
        clf.set_params(n_estimators=int(rng.integers(1, 12))).fit(X, c, w)
        for U, bound, risk in zip(
            clf.staged_decision_function(X), *(clf.history_[k] for k in ("bound", "risk")), strict=True
        ):
            U = U if U.ndim == 2 else np.column_stack([-U, U])
            rival = np.where(np.eye(U.shape[1], dtype=bool)[c], -np.inf, U).max(axis=1)
            error = w @ (U[np.arange(len(c)), c] <= rival + 1e-12) / w.sum()
            assert error <= bound + 1e-9
            assert risk <= bound * (2 if isinstance(clf, AdaBoostMHClassifier) else 1) + 1e-9
            lowest = min(lowest, bound)
    assert lowest < (1.6 if clf.learner_mode == "index" else 0.5)


# ---- stops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("Classifier", [AdaBoostMHClassifier, AdaBoostM2Classifier])
def test_perfect_learner_is_kept_and_ends_it(Classifier):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    clf = Classifier(n_estimators=10).fit(X, y)
    assert clf.n_iter_ == 1 and clf.stop_reason_.startswith("perfect learner") and clf.score(X, y) == 1.0
    assert clf.history_["edge"].tolist() == [1.0]


@pytest.mark.parametrize(
    "clf",
    [
        AdaBoostMHClassifier(),
        AdaBoostMHClassifier(learner_mode="separate"),
        AdaBoostM2Classifier(),
        SoftmaxBoostClassifier(n_pairs="all"),
        SoftmaxBoostClassifier(n_pairs="all", learner_mode="shared"),
    ],
    ids=str,
)
def test_no_edge_ends_it(clf):
    """Two of each class at the same place: nothing to learn but that all classes are alike."""
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    clf.set_params(n_estimators=10).fit(X, y)
    assert clf.n_iter_ == 0 and clf.stop_reason_.startswith("no edge")
    assert_allclose(clf.predict_proba(X), 0.5)


def test_sm_boost_gives_up_after_ten_samples(monkeypatch):
    """Pairs without an edge are drawn again, ten times."""
    X, c, w, _ = weighed(*DATA[0])
    calls = []

    def nothing(self, run):
        calls.append(run.round)
        return run.objective.of_residual(np.zeros((run.data.n, run.data.K)))

    monkeypatch.setattr(SampledPairs, "sample", nothing)
    clf = SoftmaxBoostClassifier().fit(X, c, w)
    assert calls == [0] * 10 and clf.stop_reason_ == "no edge: not in 10 samples of pairs in a row"


# ---- costs and random decisions -------------------------------------------------------------------------------------


def test_costs_of_examples():
    """Costs of the classes, given by example, are the same costs; and examples with costs of their own matter."""
    X, c, w, _ = weighed(*DATA[0])
    cost = np.random.default_rng(0).uniform(0, 1, (3, 3))
    by_class = SoftmaxBoostClassifier(n_pairs="all", cost_matrix=cost, n_estimators=5).fit(X, c, w)
    by_row = SoftmaxBoostClassifier(n_pairs="all", n_estimators=5).fit(X, c, w, costs=cost[c])
    assert_array_equal(by_row.predict_proba(X), by_class.predict_proba(X))
    assert_allclose(by_row.history_["risk"], by_class.history_["risk"])
    towards_two = SoftmaxBoostClassifier(n_pairs="all", n_estimators=50).fit(
        X, c, w, costs=np.tile([1.0, 1.0, 0.0], (40, 1))
    )
    assert (towards_two.predict(X) == 2).all()
    rng = np.random.default_rng(1)
    costs = rng.uniform(0, 1, (40, 3))
    clf = SoftmaxBoostClassifier(n_pairs="all", n_estimators=60).fit(X, c, w, costs=costs)
    chosen_cost = w @ costs[np.arange(40), clf.predict(X)] / w.sum()
    assert chosen_cost < 0.9 * (w @ costs / w.sum()).min()
    assert_allclose(clf.history_["risk"][-1], w @ (clf.predict_proba(X) * costs).sum(axis=1) / w.sum())


def test_costs_of_examples_with_early_stopping_and_absent_classes():
    X, c, w, _ = weighed(*DATA[0])
    costs = np.random.default_rng(1).uniform(0, 1, (40, 4))
    clf = SoftmaxBoostClassifier(
        n_pairs="all", n_estimators=20, early_stopping=True, classes=[0, 1, 2, 3], random_state=0
    )
    clf.fit(X, c, w, costs=costs)
    assert clf.predict_proba(X).shape == (40, 4) and (clf.predict_proba(X)[:, 3] == 0).all()
    w[:5] = 0.0
    cut = SoftmaxBoostClassifier(n_pairs="all", n_estimators=5).fit(X, c, w, costs=costs[:, :3])
    rest = SoftmaxBoostClassifier(n_pairs="all", n_estimators=5).fit(X[5:], c[5:], w[5:], costs=costs[5:, :3])
    assert_array_equal(cut.predict_proba(X), rest.predict_proba(X))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((40, 2)), r"costs has shape \(40, 2\); pass \(40, 3\)"),
        (np.full((40, 3), -1.0), "costs contains -1.0"),
        (np.full((40, 3), np.nan), "costs contains nan"),
    ],
)
def test_bad_costs(costs, message):
    X, c, w, _ = weighed(*DATA[0])
    clf = SoftmaxBoostClassifier()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, c, w, costs=costs)
    assert not [name for name in vars(clf) if name.endswith("_") or name.startswith("_")]


def test_random_decisions_by_hand(monkeypatch):
    class Drawn(np.random.RandomState):
        def random_sample(self, size):
            return np.array([0.0, 0.25, 0.4999, 0.9999, 1 - 1e-16])[:, None]

    P = np.array([[0.25, 0.25, 0.5]] * 4 + [[0.3, 0.3, 0.4 - 1e-9]])  # rounding may leave a sum below one
    clf = SoftmaxBoostClassifier()
    clf.classes_ = np.array(["a", "b", "c"])
    monkeypatch.setattr(SoftmaxBoostClassifier, "predict_proba", lambda self, X: P)
    assert clf.predict_random(None, Drawn()).tolist() == ["a", "b", "b", "c", "c"]


def test_random_decisions():
    X, c, w, _ = weighed(*DATA[1])
    clf = SoftmaxBoostClassifier(n_estimators=5, random_state=0).fit(X, np.array(list("abcd"))[c], w)
    P = clf.predict_proba(X)
    assert_array_equal(clf.predict(X), clf.classes_[P.argmax(axis=1)])
    draws = np.array([clf.predict_random(X, seed) for seed in range(1500)])
    for k, name in enumerate("abcd"):
        rate = (draws == name).mean(axis=0)
        assert (np.abs(rate - P[:, k]) < 5 * np.sqrt(P[:, k] * (1 - P[:, k]) / 1500) + 1e-9).all()


# ---- use ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clf", "least"),
    [
        (AdaBoostMHClassifier(n_estimators=60), 0.92),
        (AdaBoostMHClassifier(n_estimators=20, learner_mode="separate"), 0.88),
        (AdaBoostMHClassifier(n_estimators=60, learner_mode="single-label"), 0.85),
        (
            AdaBoostMHClassifier(
                DecisionTreeClassifier(max_leaf_nodes=12, random_state=0), learner_mode="separate", n_estimators=10
            ),
            0.87,
        ),
        (AdaBoostM2Classifier(n_estimators=60), 0.92),
        (SoftmaxBoostClassifier(n_estimators=20, n_pairs="all"), 0.80),
        (SoftmaxBoostClassifier(n_estimators=20, random_state=0), 0.85),
        (SoftmaxBoostClassifier(n_estimators=60, learner_mode="shared", random_state=0), 0.85),
    ],
    ids=str,
)
def test_digits(clf, least):
    X, y = load_digits(return_X_y=True)
    assert clf.fit(X[:900], y[:900]).score(X[900:], y[900:]) > least


def test_sm_boost_tolerates_noise():
    """Long and Servedio's data, a fifth of the labels flipped: a convex booster keeps errors, this one has none."""
    data = make_long_servedio(2000, 2000, label_noise=0.2, random_state=0)
    stump = {"learner__max_leaf_nodes": 2}
    robust = SoftmaxBoostClassifier(n_estimators=1000, random_state=0).set_params(**stump)
    convex = AdaBoostMHClassifier(n_estimators=200).set_params(**stump)
    assert robust.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.98
    assert convex.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) < 0.85


def test_draws_do_not_depend_on_repetitions_or_order():
    X, c, _, X_new = weighed(*DATA[0])
    times = np.random.default_rng(0).integers(0, 4, len(c))
    order = np.random.default_rng(1).permutation(times.sum())
    clf = SoftmaxBoostClassifier(n_estimators=10, random_state=0)
    weights = clf.fit(X, c, 0.1 * times).predict_proba(X_new)
    repeated = clf.fit(np.repeat(X, times, axis=0)[order], np.repeat(c, times)[order]).predict_proba(X_new)
    assert_allclose(weights, repeated, rtol=1e-9)


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (AdaBoostMHClassifier(learner_mode="joint"), "learner_mode='joint' is unknown; choose one of 'shared'"),
        (SoftmaxBoostClassifier(learner_mode="single-label"), "learner_mode='single-label' is unknown"),
        (SoftmaxBoostClassifier(n_pairs=0), "n_pairs=0 is out of range"),
        (SoftmaxBoostClassifier(n_pairs="some"), "n_pairs='some' is unknown; choose one of 'n', 'all'"),
        (SoftmaxBoostClassifier(cost_matrix=np.zeros((2, 2))), r"cost_matrix has shape \(2, 2\)"),
        (AdaBoostM2Classifier(step="fixd"), "step='fixd' is unknown"),
    ],
)
def test_bad_parameters(clf, message):
    X, c, w, _ = weighed(*DATA[0])
    with pytest.raises(ValueError, match=message):
        clf.fit(X, c, w)


def test_other_steps():
    """Any step may take the place of the closed form: a line search finds the same minimiser."""
    X, c, w, _ = weighed(*DATA[0])
    closed = AdaBoostMHClassifier(n_estimators=5).fit(X, c, w)
    searched = AdaBoostMHClassifier(n_estimators=5, step="line-search").fit(X, c, w)
    assert_allclose(searched.history_["step"], closed.history_["step"], rtol=1e-8)
    exact = AdaBoostM2Classifier(n_estimators=5, step=ClosedForm("exact")).fit(X, c, w)
    searched = AdaBoostM2Classifier(n_estimators=5, step="line-search").fit(X, c, w)
    assert_allclose(searched.history_["step"], exact.history_["step"], rtol=1e-8)
