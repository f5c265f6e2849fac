"""The theory as experiments: what should be zero is, printed mistakes are found, and every check has its claim."""

import numpy as np
import pytest
from scipy.optimize import minimize

from experiments import ledger, theorems, theory, theory_codes, theory_geist
from experiments.cells import TASKS
from experiments.registry import EXPERIMENTS, Plan

SLOW = {"jmlr-tammes-printed", "jmlr-capacity-bound", "jmlr-distance-bound"}
CLAIMS = {row: e for e in ledger.load() for row in [*e.given.get("rows", []), e.given.get("row")] if row}


def test_every_check_is_judged_by_a_claim():
    assert {name for name in theorems.CHECKS if name not in CLAIMS} <= {"lecture-code"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in theorems.CHECKS if n in CLAIMS]
)
def test_checks_say_what_the_errata_say(name):
    entry = CLAIMS[name]
    worst = max(theorems.CHECKS[name]().values())
    if entry.judge in ("identity", "as_printed"):
        printed = "printed" in entry.id
        assert (worst > entry.given["within"]) == printed, (name, worst)


def test_tasks_of_the_theory_return_numbers():
    plan = Plan(quick=True)
    for name in ("nips-index", "jmlr-identity", "jmlr-converter"):
        cell = EXPERIMENTS[name].cells(plan)[0]
        numbers = TASKS[cell.task](**cell.arguments)["numbers"]
        assert all(np.isfinite(v) for row in numbers.values() for v in row.values())


def test_least_risk_is_a_minimum():
    rng = np.random.default_rng(0)
    c = np.arange(30) % 3
    H = np.array([np.where(rng.random(30) < 0.5, c, rng.integers(3, size=30)) for _ in range(3)])
    M = theory.triples(H, c, 3)
    below, above = theory.least_risk(M, 3)
    other = minimize(lambda a: 2 * np.exp(M @ a).mean(), np.zeros(3), method="Nelder-Mead",
                     options={"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-10, "fatol": 1e-14})  # fmt: skip
    assert below <= above + 1e-12 and above <= other.fun + 1e-9
    assert (below, above) == (pytest.approx(other.fun, rel=1e-5), pytest.approx(other.fun, rel=1e-5))
    votes = sum(a * np.eye(3)[h] for a, h in zip(np.ones(3), H, strict=True))  # the risk by its definition
    own = votes[np.arange(30), c][:, None]
    assert 2 * np.exp(M @ np.ones(3)).mean() == pytest.approx((np.exp(votes - own).sum(axis=1) - 1).mean())


def test_the_posterior_of_the_gaussians_integrates_to_their_bayes_error():
    from simplexboost.datasets import make_three_gaussians

    X = make_three_gaussians(60_000, 10, random_state=0).X_train
    assert 1 - theory.posterior(X).max(axis=1).mean() == pytest.approx(0.11445, abs=2e-3)  # golden, by integration


def test_the_gradient_is_the_slope_of_the_risk():
    rng = np.random.default_rng(0)
    psi, c, h = rng.normal(size=(8, 3)), rng.integers(3, size=8), rng.choice([-1.0, 1.0], size=(8, 3))
    risk = lambda e: 1 - theory_geist.softmax(psi + e * h)[np.arange(8), c].mean()  # noqa: E731
    slope = (risk(1e-6) - risk(-1e-6)) / 2e-6
    assert (theory_geist.gradient(psi, c) * h).sum(axis=1).mean() == pytest.approx(slope, rel=1e-6)


def test_the_identity_of_gd_and_mm_on_iris():
    numbers = theory_codes.identity("iris", 15)["numbers"]
    assert numbers["rounds with other answers"]["iris"] == 0 and numbers["steps apart"]["iris"] < 1e-9


def test_clamped_scores_decide_alike_and_are_bounded():
    from simplexboost.parts.losses import clamp_scores

    F = np.random.default_rng(0).normal(scale=5, size=(50, 4))
    G = clamp_scores(F, 3.0)
    assert G.min() >= -3 and (G.max(axis=1) == 0).all()
    assert (G.argmax(axis=1) == F.argmax(axis=1)).all()
    near = F.max(axis=1, keepdims=True) - F < 3
    assert np.allclose((G - G.max(axis=1, keepdims=True))[near], (F - F.max(axis=1, keepdims=True))[near])
    with pytest.raises(ValueError, match="bound=0"):
        clamp_scores(F, 0)
