"""Games: conditions by linear programmes, potentials by every route there is, walks by simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest
from cases import ListLearner, listed_data, make_run
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, nnls
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost import theory
from simplexboost.parts.codewords import SAMMECode
from simplexboost.parts.losses import OwnScoreExponential
from simplexboost.parts.optimizers import GradientDescent
from simplexboost.parts.steps import ErrorStep
from simplexboost.theory import uniform_baseline
from simplexboost.theory.conditions import CONDITIONS, as_condition, worst_baseline_cost
from simplexboost.theory.potentials import Layers, MinimalTable, degree_is_always_K
from simplexboost.theory.spaces import classes_in_place, true_first

GOLDEN = json.loads((Path(__file__).parent / "golden" / "games.json").read_text())


def random_space(seed: int, n_most: int = 8, m_most: int = 7) -> theory.Space:
    """A few random classifiers, right more often than by chance, so that conditions both hold and fail."""
    rng = np.random.default_rng(seed)
    n, m, K = rng.integers(2, n_most + 1), rng.integers(1, m_most + 1), rng.integers(2, 5)
    c = rng.integers(K, size=n)
    H = np.where(rng.random((n, m)) < rng.uniform(0.3, 0.9), c[:, None], rng.integers(K, size=(n, m)))
    return theory.Space(H, c, int(K))


# ---- conditions -----------------------------------------------------------------------------------------------------


def votes(space: theory.Space, weights: np.ndarray) -> np.ndarray:
    """The share of the votes of each class under weights (m,), (n, K), with the true class first."""
    return np.stack([(space.ranks == k) @ weights for k in range(space.K)], axis=1)


def margin_programme(space: theory.Space) -> float:
    """max over λ of the smallest margin, every constraint written out."""
    n, m = space.H.shape
    rows = [
        [float(space.H[i, j] == k) - float(space.H[i, j] == space.c[i]) for j in range(m)] + [1.0]
        for i in range(n)
        for k in range(space.K)
        if k != space.c[i]
    ]
    objective = [0.0] * m + [-1.0]
    bounds = [(0, None)] * m + [(None, None)]
    return -linprog(objective, rows, [0.0] * len(rows), [[1.0] * m + [0.0]], [1.0], bounds).fun


@pytest.mark.parametrize("seed", range(200))
def test_conditions_on_random_spaces(seed):
    space = random_space(seed)
    edge = {name: theory.solve_condition(space, condition=name).edge for name in CONDITIONS}
    assert_allclose(edge["m1"], edge["mh"], atol=1e-7)  # Lemma 2
    assert_allclose(edge["mr"], margin_programme(space), atol=1e-7)
    assert edge["minimal"] == edge["mr"] == theory.solve_condition(space).edge
    assert theory.solve_condition(space).holds == (edge["mr"] > 1e-8)
    # Stronger conditions imply weaker ones: M1 > MR, uniform > MR, MR with γ > SAMME with some γ' > 0.
    assert edge["m1"] <= edge["mr"] + 1e-7
    assert edge["uniform"] <= edge["mr"] + 1e-7
    assert edge["mr"] <= 1e-7 or edge["samme"] > 0


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("seed", range(12))
def test_certificates(name, seed):
    space = random_space(seed)
    condition = as_condition(name)
    solution = theory.solve_condition(space, condition=name)
    edge, weights, costs = solution.edge, solution.weights, solution.costs
    # λ: its votes meet every generator with that edge.
    assert weights.min() >= 0
    assert_allclose(weights.sum(), 1)
    excess = (votes(space, weights) - condition.baseline(space.K, edge)) @ condition.generators(space.K).T
    assert excess.max() < 1e-7
    # C: in the cone, and dearer than the baseline of any larger edge for every classifier.
    for row in true_first(costs, space.c):
        assert nnls(condition.generators(space.K).T, row)[1] < 1e-7
    assert (theory.violation(costs, space, condition=name, edge=edge) > -1e-7).all()
    assert (theory.violation(costs, space, condition=name, edge=edge + 0.01) > 1e-7).all() or edge > 0.99
    if 0.01 < edge < 0.99:
        for shift, holds in ((-0.01, True), (0.01, False)):
            assert (theory.game_value(space, condition, edge + shift)[0] <= 1e-9) == holds


@pytest.mark.parametrize("seed", range(30))
def test_no_random_cost_matrix_contradicts_a_condition(seed):
    """The definition itself: for any C of the cone some classifier costs at most what the condition allows."""
    rng, space = np.random.default_rng(seed), random_space(seed)
    for name in CONDITIONS:
        condition = as_condition(name)
        edge = theory.solve_condition(space, condition=name).edge
        for _ in range(20):
            coefficients = rng.exponential(size=(len(space.c), len(condition.generators(space.K))))
            C = coefficients * (rng.random(coefficients.shape) < 0.5) @ condition.generators(space.K)
            assert theory.violation(classes_in_place(C, space.c), space, condition=name, edge=edge).min() < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_the_dearest_baseline_is_that_of_the_programme(seed):
    """(13): max over all edge-over-random b of ⟨c, b⟩, against a linear programme over b."""
    rng = np.random.default_rng(seed)
    K, edge = int(rng.integers(2, 6)), float(rng.uniform(0, 1))
    c = np.sort(rng.normal(size=K))
    c[1:] = rng.permutation(c[1:])
    rivals = np.column_stack([-np.ones(K - 1), np.eye(K - 1)])  # b_l ≤ b_1 − γ
    best = -linprog(-c, rivals, [-edge] * (K - 1), [[1.0] * K], [1.0]).fun
    value, degree = worst_baseline_cost(c[None], edge)
    assert_allclose(value[0], best, atol=1e-9)
    assert 2 <= degree[0] <= K
    assert_allclose(CONDITIONS["minimal"].allowed(c[None], edge), value)


def test_the_counter_examples():
    samme = theory.diagnose(theory.example("samme"), show=False)
    assert_allclose(samme.solutions["samme"].edge, 0.25)
    assert not samme.boostable
    assert {name for name in CONDITIONS if samme.met(name)} == {"samme"}

    windows = theory.diagnose(theory.example("windows"), show=False)
    assert windows.boostable and not windows.met("uniform")
    assert_allclose(windows.margin, 1 / 6)  # 7 of 12 right
    b = uniform_baseline(3, 0.3)
    assert theory.solve_condition(theory.example("windows"), condition=b).edge < 0.3

    subsets = theory.diagnose(theory.example("subsets"), show=False)
    assert_allclose(
        [subsets.solutions[name].edge for name in ("uniform", "mr", "m1", "mh")], [1 / 9, 1 / 9, -1 / 3, -1 / 3]
    )


@pytest.mark.parametrize("seed", range(10))
def test_theorem_5_for_any_baseline(seed):
    """Whatever the baseline, windows whose errors go to its least likely label fail it and are boostable."""
    rng = np.random.default_rng(seed)
    K, edge, n = 4, 0.2, 23
    q = np.append(1.0, rng.uniform(0, 1, K - 1))
    q[1 + rng.integers(K - 1)] = 1.0
    b = (1 - edge) * q / q.sum() + edge * np.eye(K)[0]
    wrong = 1 + b[1:].argmin()
    inside = (np.arange(n)[:, None] - np.arange(n)) % n < int(n * (0.5 + edge / K))
    space = theory.Space(np.where(inside, 0, wrong), np.zeros(n, dtype=int), K)
    assert theory.solve_condition(space).holds
    assert theory.solve_condition(space, condition=b).edge < edge
    assert theory.violation(theory.solve_condition(space, condition=b).costs, space, condition=b, edge=edge).min() > 0


def test_many_examples_need_few_constraints():
    """Constraints are added as they are needed; the result is that of all of them at once."""
    rng = np.random.default_rng(0)
    n, m, K = 3000, 25, 4
    c = rng.integers(K, size=n)
    H = np.where(rng.random((n, m)) < 0.7, c[:, None], rng.integers(K, size=(n, m)))
    space = theory.Space(H, c, K)
    assert_allclose(theory.solve_condition(space).edge, margin_programme(space), atol=1e-7)


def test_spaces_from_classifiers_and_boosters():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.array(["a", "b", "c"])[rng.integers(3, size=60)]
    trees = [DecisionTreeClassifier(max_depth=2, random_state=i, max_features=1).fit(X, y) for i in range(5)]
    space = theory.as_space(trees, y, X)
    assert space.H.shape == (60, 5) and space.K == 3
    assert_array_equal(np.array(["a", "b", "c"])[space.H[:, 2]], trees[2].predict(X))
    booster = sb.GDMCBoostClassifier(learner="class-tree", n_estimators=6).fit(X, y)
    H = theory.as_space(booster, y, X).H
    F = np.zeros((60, 3))
    for h, term in zip(H.T, booster.model_.terms, strict=True):
        F[np.arange(60), h] += term.step
    assert_array_equal(np.array(["a", "b", "c"])[F.argmax(axis=1)], booster.predict(X))
    with pytest.raises(TypeError, match="name no class"):
        theory.as_space(sb.CDMCBoostClassifier(n_estimators=2).fit(X, y), y, X)


def test_unsuitable_spaces():
    with pytest.raises(ValueError, match=r"H holds label 3; with 3 classes labels are 0 \.\. 2"):
        theory.solve_condition([[3], [0]], [0, 1], classes=3)
    with pytest.raises(ValueError, match="y holds label -1"):
        theory.solve_condition([[1], [0]], [0, -1], classes=3)
    with pytest.raises(ValueError, match="H holds 'c', which is none of the classes; these are 'a', 'b'"):
        theory.solve_condition([["a"], ["c"]], ["a", "b"], classes=["a", "b"])
    with pytest.raises(ValueError, match="a row per example"):
        theory.solve_condition([[0, 1]], [0, 1])
    with pytest.raises(TypeError, match="X is missing"):
        theory.solve_condition([DecisionTreeClassifier()], [0, 1])
    with pytest.raises(TypeError, match="y is missing"):
        theory.solve_condition([[0, 1]])
    with pytest.raises(ValueError, match="condition='m2' is unknown"):
        theory.solve_condition([[0], [1]], [0, 1], "m2")
    with pytest.raises(ValueError, match="no edge over random"):
        theory.solve_condition([[0], [1]], [0, 1], [0.4, 0.6])
    with pytest.raises(ValueError, match="must be a distribution"):
        theory.solve_condition([[0], [1]], [0, 1], [0.8, 0.6])
    with pytest.raises(ValueError, match="with 2 classes it must have 2"):
        theory.solve_condition([[0], [1]], [0, 1], [0.5, 0.25, 0.25])


def test_a_baseline_that_never_says_a_label():
    space = theory.Space(np.array([[2, 2]]), np.array([0]), 3)
    solution = theory.solve_condition(space, condition=[0.6, 0.4, 0.0])
    assert solution.edge == -np.inf and solution.weights is None and not solution.holds
    costs = solution.costs
    assert (theory.violation(costs, space, condition=[0.6, 0.4, 0.0], edge=0.2) > 0).all()


# ---- potentials: golden numbers -------------------------------------------------------------------------------------


def test_golden_fixed_potentials():
    for T, value in GOLDEN["zero_one_fig2a"]["phi_T(0)"].items():
        assert_allclose(theory.potential(int(T), "uniform", 6, 0.0), value, rtol=1e-12)
    for K, value in GOLDEN["zero_one_fig2b"]["phi_T(0)"].items():
        assert_allclose(theory.potential(10, "uniform", int(K), 0.1), value, rtol=1e-12)
    for row in GOLDEN["uniform_not_maximiser_examples"]:
        value, support = theory.best_fixed_potential(row["T"], row["k"], row["gamma"])
        assert support == row["better_support"]
        assert_allclose(value, row["phi_support"], rtol=1e-12)
        assert_allclose(theory.potential(row["T"], "uniform", row["k"], row["gamma"]), row["phi_uniform"])
    for row in GOLDEN["exp_potential"]:
        b = uniform_baseline(row["k"], row["gamma"])
        assert_allclose(
            theory.potential(row["t"], b, s=row["s"], loss="exponential", eta=row["eta"]), row["phi"], rtol=1e-12
        )
        assert_allclose(theory.kappa(row["gamma"], row["eta"], row["k"]), row["kappa"], rtol=1e-12)


@pytest.mark.parametrize(
    ("K", "edge", "T", "textbook", "best"),
    [(6, 0.1, 200, 1.06, 0.39), (26, 0.1, 200, 4.29, 0.032), (10, 0.05, 500, 3.06, 0.64)],
)
def test_best_eta_of_the_uniform_baseline(K, edge, T, textbook, best):
    """The minimiser of κ(γ, η), in closed form: "we may tune it to optimize the bound" (section 6.1 of the paper)."""
    b = uniform_baseline(K, edge)
    eta = 0.5 * np.log(1 + K * edge / (1 - edge))
    assert theory.best_eta(T, b) == pytest.approx(eta, rel=1e-14)
    grid = np.linspace(0.01, 1.5, 500)
    assert theory.kappa(edge, eta, K) <= min(theory.kappa(edge, other, K) for other in grid)
    assert theory.potential(T, b, loss="exponential") == pytest.approx(textbook, rel=0.01)
    bound = theory.potential(T, b, loss="exponential", eta="best")
    assert bound == pytest.approx(best, rel=0.02)
    assert bound == pytest.approx((K - 1) * (1 - (np.sqrt(b[0]) - np.sqrt(b[1])) ** 2) ** T, rel=1e-9)
    assert theory.make_game(T, "uniform", K, edge, "exponential", "best").bound == pytest.approx(bound)


@pytest.mark.parametrize(
    ("T", "b"), [(1, [0.5, 0.3, 0.2]), (30, [0.5, 0.3, 0.2]), (30, [0.4, 0.35, 0.25, 0.0]), (8, [0.6, 0.4])]
)
def test_best_eta_is_where_the_bound_is_smallest(T, b):
    eta = theory.best_eta(T, b)
    bounds = [theory.potential(T, b, loss="exponential", eta=e) for e in np.append(np.linspace(0.01, 4, 4000), eta)]
    assert np.argmin(bounds) == 4000
    assert theory.potential(T, b, loss="exponential", eta="best") == bounds[-1]
    assert theory.make_game(T, b, len(b), None, "exponential", "best").loss == theory.ExponentialLoss(eta)
    walks = theory.simulate_walks(T, b, loss="exponential", eta="best", n_walks=10, random_state=0)
    assert_array_equal(walks.losses, theory.ExponentialLoss(eta)(walks.positions[:, -1]))


def test_best_eta_where_there_is_none():
    assert theory.best_eta(5, [1.0, 0.0, 0.0]) == 100.0  # every learner is perfect: no weight is too large
    with pytest.raises(ValueError, match="eta='best' is 0 with this baseline"):
        theory.potential(5, "uniform", 3, 0.0, loss="exponential", eta="best")
    with pytest.raises(ValueError, match="eta='best' needs a fixed baseline"):
        theory.potential(5, "minimal", 3, 0.1, loss="exponential", eta="best")
    with pytest.raises(ValueError, match="eta='best' needs a fixed baseline"):
        theory.make_game(5, "minimal", 3, 0.1, "exponential", "best")
    with pytest.raises(ValueError, match="eta='worst' is unknown; choose one of 'best'"):
        theory.potential(5, [0.6, 0.4], loss="exponential", eta="worst")
    with pytest.raises(ValueError, match="eta='best' belongs to loss='exponential'"):
        theory.potential(5, [0.6, 0.4], eta="best")


@pytest.mark.parametrize("case", GOLDEN["minimal_zero_one"])
def test_golden_minimal_potentials(case):
    K, edge = (float(part.split("=")[1]) for part in case.split(","))
    for T, value in GOLDEN["minimal_zero_one"][case].items():
        assert_allclose(theory.potential(int(T), "minimal", int(K), edge), value, rtol=1e-12)


@pytest.mark.parametrize("row", GOLDEN["old_condition_zero_one"])
def test_golden_potentials_of_the_older_conditions(row):
    """The linear programme (21), against golden numbers and the one-line recursion it collapses to."""
    K, T, edge = row["k"], row["T"], row["gamma"]
    for name in ("SAMME", "M1", "MH"):
        p = (1 - edge) / K + edge if name == "SAMME" else 0.5 + edge / 2
        assert_allclose(theory.potential(T, name.lower(), K, edge), row[name], rtol=1e-9)
        assert_allclose(older(np.zeros(K), T, p), row[name], rtol=1e-12)


def older(s, t, p):
    """φ_t = p φ_{t−1}(s+e_1) + (1−p) max_l φ_{t−1}(s+e_l)."""
    if t == 0:
        return float(s[0] <= s[1:].max())
    after = [older(s + e, t - 1, p) for e in np.eye(len(s))]
    return p * after[0] + (1 - p) * max(after[1:])


@pytest.mark.parametrize("case", GOLDEN["degree_map"])
def test_golden_degree_maps(case):
    settings = dict(part.split("=") for part in case.split(",") if "=" in part)
    loss, eta = ("exponential", float(settings["eta"])) if "eta" in settings else ("zero-one", None)
    degrees = theory.degree_map(int(settings["T"]), float(settings["gamma"]), loss, eta)
    counts = {"deg3": (degrees == 3).sum(), "deg2": (degrees == 2).sum(), "tie": (degrees == 0).sum()}
    assert {name: int(count) for name, count in counts.items() if count} == GOLDEN["degree_map"][case]


# ---- potentials: brute force, simulation, identities ----------------------------------------------------------------


def enumerated(t, b, s, loss):
    """Every sequence of steps, weighed by its probability."""
    total = 0.0
    for path in product(range(len(b)), repeat=t):
        end = np.array(s) + np.bincount(path, minlength=len(b)) if t else np.array(s)
        total += np.prod([b[step] for step in path]) * loss(end)
    return total


def zero_one(s):
    return float(s[0] <= max(s[1:]))


@pytest.mark.parametrize("seed", range(25))
def test_fixed_potentials_are_enumerations(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 5))
    t = int(rng.integers(0, {2: 9, 3: 7, 4: 6}[K]))
    b = rng.dirichlet(np.ones(K)) * (rng.random(K) < 0.8)
    b = np.sort(b)[::-1] / b.sum() if b.sum() > 0 else np.eye(K)[0]
    b[1:] = rng.permutation(b[1:])
    s = rng.integers(0, 4, size=K)
    assert_allclose(theory.potential(t, b, s=s), enumerated(t, b, s, zero_one), atol=1e-14)
    eta = float(rng.uniform(0.05, 0.7))
    exponential = lambda x: np.exp(eta * (x[1:] - x[0])).sum()  # noqa: E731
    assert_allclose(
        theory.potential(t, b, s=s, loss="exponential", eta=eta), enumerated(t, b, s, exponential), rtol=1e-12
    )
    hinge = lambda x: max(0.0, 1.0 - x[0] + x[1:].max())  # noqa: E731
    assert_allclose(
        theory.potential(t, b, s=s, loss=lambda S: np.maximum(0, 1 - S[:, 0] + S[:, 1:].max(axis=1))),
        enumerated(t, b, s, hinge),
        rtol=1e-12,
    )


def minimal_by_recursion(s, t, edge, loss):
    """(44) as it is written, over all subsets of rivals."""
    if t == 0:
        return loss(s)
    after = [minimal_by_recursion(s + e, t - 1, edge, loss) for e in np.eye(len(s), dtype=int)]
    rivals = sorted(after[1:], reverse=True)
    values = [edge * after[0] + (1 - edge) * np.mean([after[0], *rivals[: a - 1]]) for a in range(2, len(s) + 1)]
    return max(values)


@pytest.mark.parametrize("seed", range(15))
def test_minimal_potentials_are_recursions(seed):
    rng = np.random.default_rng(seed)
    K, edge = int(rng.integers(2, 5)), float(rng.uniform(0, 0.6))
    t = int(rng.integers(0, 6))
    S = rng.integers(0, 4, size=(3, K))
    eta = float(rng.uniform(0.05, 0.9))
    exponential = lambda x: np.exp(eta * (x[1:] - x[0])).sum()  # noqa: E731
    assert_allclose(theory.potential(t, "minimal", K, edge, S), [minimal_by_recursion(s, t, edge, zero_one) for s in S])
    assert_allclose(
        theory.potential(t, "minimal", K, edge, S, "exponential", eta),
        [minimal_by_recursion(s, t, edge, exponential) for s in S],
    )
    # a function of states is not known to be symmetric, and gives the same
    assert_allclose(
        theory.potential(t, "minimal", K, edge, S, theory.ZeroOne().__call__),
        theory.potential(t, "minimal", K, edge, S),
    )


@pytest.mark.parametrize(("K", "T", "edge"), [(3, 5, 0.0), (3, 4, 0.2), (4, 3, 0.1), (2, 5, 0.3)])
@pytest.mark.parametrize("loss", ["zero-one", "exponential"])
def test_game_values_agree(K, T, edge, loss):
    """MR's game is the minimal one; an edge-over-random game is its random walk."""
    eta = 0.3 if loss == "exponential" else None
    mr = theory.potential(T, "mr", K, edge, loss=loss, eta=eta)
    assert_allclose(mr, theory.potential(T, "minimal", K, edge, loss=loss, eta=eta), rtol=1e-9)
    rng = np.random.default_rng(K)
    q = np.append(1.0, rng.permutation(np.append(1.0, rng.random(K - 2))))
    for b in (uniform_baseline(K, edge), (1 - edge) * q / q.sum() + edge * np.eye(K)[0]):
        lp = theory.potential(T, b, K, edge, loss=loss, eta=eta)
        walk = theory.potential(T, b, loss=loss, eta=eta)
        assert_allclose(lp, walk, rtol=1e-9)
        assert walk <= mr + 1e-12  # the minimal condition promises least


@pytest.mark.parametrize("seed", range(6))
def test_walks_are_the_potentials(seed):
    rng = np.random.default_rng(seed)
    K, t, edge = int(rng.integers(2, 7)), int(rng.integers(1, 15)), float(rng.uniform(0, 0.4))
    s = rng.integers(0, 3, size=K)
    for loss, eta in (("zero-one", None), ("exponential", 0.2)):
        b = uniform_baseline(K, edge)
        walks = theory.simulate_walks(t, b, s=s, loss=loss, eta=eta, n_walks=20_000, random_state=seed)
        exact = theory.potential(t, b, s=s, loss=loss, eta=eta)
        assert abs(walks.mean - exact) < 4.5 * walks.standard_error + 1e-12
        t_minimal = min(t, 8)
        walks = theory.simulate_walks(t_minimal, "minimal", K, edge, s, loss, eta, n_walks=20_000, random_state=seed)
        exact = theory.potential(t_minimal, "minimal", K, edge, s, loss, eta)
        assert abs(walks.mean - exact) < 4.5 * walks.standard_error + 1e-12
        assert (walks.positions.sum(axis=2) == s.sum() + np.arange(t_minimal + 1)).all()


@pytest.mark.parametrize(("K", "T"), [(2, 12), (3, 8), (4, 6), (6, 5), (10, 4)])
def test_lemma_19(K, T):
    """With a small η the uniform baseline is always the worst: the closed form is the recursion."""
    eta = 0.25 * min(1 / (K - 1), 1 / T)
    start = np.zeros((1, K), dtype=int)
    loss = theory.ExponentialLoss(eta)
    assert degree_is_always_K(start, T, loss)
    for edge in (0.0, 0.1, 0.5):
        recursion = Layers(start, T, loss, symmetric=True).fold(lambda phi: worst_baseline_cost(phi, edge)[0])[0][0]  # noqa: B023
        assert_allclose(theory.potential(T, "minimal", K, edge, loss="exponential", eta=eta), recursion, rtol=1e-12)
        assert_allclose(recursion, (K - 1) * theory.kappa(edge, eta, K) ** T, rtol=1e-12)
    # Where the shortcut is not taken it would be wrong for some state, else it would be too timid.
    assert not degree_is_always_K(start, 20, theory.ExponentialLoss(0.3)) or K == 2


def test_kappa_is_below_the_gaussian_bound():
    for K in (2, 3, 6, 50):
        for edge in (0.01, 0.1, 0.5, 0.9):
            assert theory.kappa(edge, np.log1p(edge), K) <= np.exp(-(edge**2) / 2)


def test_two_classes_are_binomial_tails():
    for T, edge in ((1, 0.0), (200, 0.1), (1000, 0.0), (1000, 0.4), (999, 0.7)):
        expected = binom.cdf(T // 2, T, 0.5 + edge / 2)
        assert_allclose(theory.potential(T, "uniform", 2, edge), expected, rtol=1e-10)


def exact_zero_one(T: int, K: int, numerators: tuple[int, int]) -> float:
    """1 − Σ over walks with whole numbers only: the true class has `numerators[0]` lots, each rival `numerators[1]`."""
    own, rival = numerators
    total = own + (K - 1) * rival
    good = 0
    for x in range(1, T + 1):
        N = T - x
        truncated = [factorial(N) // factorial(i) for i in range(min(x - 1, N) + 1)]  # N!/i!, kept whole
        series, scale = [1], 1
        for _ in range(K - 1):
            series = [
                sum(
                    series[i - j] * truncated[j]
                    for j in range(max(0, i - len(series) + 1), min(i, len(truncated) - 1) + 1)
                )
                for i in range(min(N, len(series) + len(truncated) - 2) + 1)
            ]
            scale *= factorial(N)
        ways = factorial(N) * series[N] // scale if len(series) > N else 0  # arrangements of N votes among the rivals
        good += comb(T, x) * own**x * ways * rival**N
    return 1 - good / total**T if good * 2 < total**T else (total**T - good) / total**T


@pytest.mark.parametrize(("T", "K", "lots"), [(12, 4, (4, 2)), (30, 5, (3, 1)), (41, 3, (1, 1)), (25, 8, (9, 1))])
def test_the_dynamic_programme_is_exact(T, K, lots):
    b = np.array([lots[0]] + [lots[1]] * (K - 1)) / (lots[0] + (K - 1) * lots[1])
    assert_allclose(theory.potential(T, b), exact_zero_one(T, K, lots), rtol=1e-11)


def in_logarithms(T, K, edge):
    """The dynamic programme with logarithms throughout, slow and plain."""
    b = uniform_baseline(K, edge)
    log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, T + 1))))
    log_good = -np.inf
    for x in range(1, T + 1):
        N = T - x
        term = np.full(N + 1, -np.inf)
        upto = min(x - 1, N) + 1
        term[:upto] = np.arange(upto) * np.log(b[1]) - log_factorial[:upto]
        series = np.full(N + 1, -np.inf)
        series[0] = 0.0
        for _ in range(K - 1):
            grown = np.full(N + 1, -np.inf)
            for i in range(upto):
                grown[i:] = np.logaddexp(grown[i:], series[: N + 1 - i] + term[i])
            series = grown
        log_good = np.logaddexp(log_good, log_factorial[T] - log_factorial[x] + x * np.log(b[0]) + series[N])
    return 1 - np.exp(log_good)


def test_the_dynamic_programme_against_logarithms():
    assert_allclose(theory.potential(60, "uniform", 20, 0.05), in_logarithms(60, 20, 0.05), rtol=1e-9)


def test_a_thousand_rounds_fifty_classes():
    b = uniform_baseline(50, 0.02)
    phi = theory.potential(1000, b)
    walks = theory.simulate_walks(1000, b, n_walks=400, random_state=0)
    assert abs(walks.mean - phi) < 4 * walks.standard_error
    # one step of the recursion, between potentials of different lengths
    states = np.zeros((2, 50), dtype=int)
    states[0, 0] = states[1, 1] = 1
    after = theory.potential(999, b, s=states)
    assert_allclose(b[0] * after[0] + 49 * b[1] * after[1], phi, rtol=1e-9)
    assert theory.potential(1000, "uniform", 50, 0.1) < 1e-15  # small, and not the rounding error of 1 − 1


def test_many_states_are_single_states():
    """The shared products of many states give what each state alone gives, whatever the number of threads."""
    rng = np.random.default_rng(0)
    for K, t, b in (
        (6, 40, uniform_baseline(6, 0.1)),
        (4, 25, np.array([0.4, 0.35, 0.25, 0.0])),
        (2, 15, np.array([0.6, 0.4])),
    ):
        S = rng.integers(0, 20, size=(80, K))
        many = theory.potential(t, b, s=S)
        assert_allclose(many, [theory.potential(t, b, s=s) for s in S], rtol=1e-11, atol=1e-300)
        assert_array_equal(many, theory.potential(t, b, s=S, n_threads=2))
        assert_array_equal(many[::-1], theory.potential(t, b, s=S[::-1]))


def test_recursion_between_rounds():
    """φ_t(s) = Σ b_l φ_{t−1}(s + e_l) for the compiled programme, unequal rivals included."""
    rng = np.random.default_rng(1)
    b = np.array([0.35, 0.3, 0.2, 0.15])
    S = rng.integers(0, 8, size=(50, 4))
    after = theory.potential(11, b, s=(S[:, None, :] + np.eye(4, dtype=int)).reshape(-1, 4)).reshape(-1, 4)
    assert_allclose(theory.potential(12, b, s=S), after @ b, rtol=1e-12)


def test_tables_of_minimal_games():
    table = MinimalTable(3, 0.1, 8, theory.ZeroOne())
    assert_array_equal([len(states) for states in table.layers.states], [sum(range_partitions(j)) for j in range(9)])
    rng = np.random.default_rng(0)
    for played in range(9):
        S = rng.multinomial(played, np.ones(3) / 3, size=20)
        assert_allclose(table.potential(8 - played, S), theory.potential(8 - played, "minimal", 3, 0.1, S))
    with pytest.raises(ValueError, match="2 votes cannot lead to"):
        table.potential(6, np.array([[5, 0, 0]]))
    for K, T in ((3, 10), (5, 9), (26, 6)):
        layers = Layers(np.zeros((1, K), dtype=int), T, theory.ZeroOne(), symmetric=True)
        assert sum(map(len, layers.states)) == theory.count_states(K, T)


def range_partitions(j):
    """Partitions of 0 .. j into at most two parts."""
    return [i // 2 + 1 for i in range(j + 1)]


def test_unsuitable_games():
    with pytest.raises(ValueError, match=r"edge=1\.2 is out of range"):
        theory.potential(3, "minimal", 3, 1.2)
    with pytest.raises(ValueError, match=r"edge=-0\.1 is out of range"):
        theory.potential(3, "minimal", 3, -0.1)
    with pytest.raises(ValueError, match="no edge over random"):
        theory.potential(3, [0.2, 0.8])
    with pytest.raises(ValueError, match=r"K=6 classes and 100 rounds needs 18,768,596 states"):
        theory.potential(100, "minimal", 6, 0.1)
    with pytest.raises(ValueError, match=r"not proper.*true class raises"):
        theory.potential(3, "minimal", 3, 0.1, loss=lambda S: S[:, 0])
    with pytest.raises(ValueError, match=r"not proper.*wrong class lowers"):
        theory.potential(3, [0.5, 0.3, 0.2], loss=lambda S: -S.sum(axis=1))
    with pytest.raises(ValueError, match="finite number for each"):
        theory.potential(3, [0.5, 0.3, 0.2], loss=lambda S: np.full(len(S), np.nan))
    with pytest.raises(ValueError, match="loss='hinge' is unknown"):
        theory.potential(3, [0.5, 0.5], loss="hinge")
    with pytest.raises(ValueError, match=r"eta=0\.1 belongs to"):
        theory.potential(3, [0.5, 0.5], eta=0.1)
    with pytest.raises(ValueError, match="pass a positive eta"):
        theory.potential(3, [0.5, 0.5], loss="exponential")
    with pytest.raises(ValueError, match="with 3 classes states have shape"):
        theory.potential(3, "minimal", 3, 0.1, [0, 0])
    with pytest.raises(ValueError, match="whole numbers"):
        theory.potential(3, "minimal", 3, 0.1, [0, 0.5, 0])
    with pytest.raises(ValueError, match="cannot be met by any classifier"):
        theory.potential(2, IMPOSSIBLE, 3, 0.5)


# More than certainty on the true label.
IMPOSSIBLE = theory.Condition(
    "impossible", lambda K: -np.eye(K)[:1], lambda K, edge: np.array([1.0 + edge] + [0.0] * (K - 1))
)


def test_samme_on_its_counter_example():
    """Golden: SAMME finds an edge in every round, its loss vanishes, and one of the two examples stays wrong."""
    space, K = theory.example("samme"), 3
    data = replace(listed_data(space.c), K=K)
    run = make_run(data, OwnScoreExponential("1/K"), SAMMECode().matrix(K), Named(space.H.T), ErrorStep("chance"))
    votes, weight = np.zeros((2, K)), np.array([0.5, 0.5])
    for row in GOLDEN["samme_fig1"]:
        update = GradientDescent().propose(run)[0]
        run.apply([update])
        assert update.hypothesis.number == row["h"]
        assert_allclose(update.error, row["err"])
        alpha = update.alpha * K / (K - 1) ** 2  # of a vote; the step is along the codewords
        assert_allclose(alpha, row["alpha"])
        right = space.H[:, row["h"]] == space.c
        weight = weight * np.exp(alpha * ~right)
        weight = weight / weight.sum()
        assert_allclose(weight, row["w"])
        votes[:, row["h"]] += alpha
        own = votes[[0, 1], space.c] - votes.mean(axis=1)
        assert_allclose(np.exp(-own).mean(), row["loss"])
        strongest_rival = np.where(np.eye(K, dtype=bool)[space.c], -np.inf, votes).max(axis=1)
        assert (votes[[0, 1], space.c] <= strongest_rival).mean() >= row["train_error"] == 0.5


class Named(ListLearner):
    """A `ListLearner` that says which classes it names."""

    def fit(self, request):
        answer = super().fit(request)
        answer.classes = np.asarray(self.candidates)[answer.hypothesis.number]
        return answer
