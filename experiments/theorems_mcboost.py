"""Checks of the theorems of both MCBoost papers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

import simplexboost as sb
from simplexboost import codewords as cw
from simplexboost import losses

from .theorems import check

GAMMA_PHI: dict[str, Any] = {
    "exponential": losses.Exponential(),
    "logistic": losses.Logistic(),
    "Savage": losses.Savage(),
}
CONVEX = ("exponential", "logistic")


def random_code(K: int, d: int, rng: np.random.Generator) -> Any:
    """Unit codewords whose sum is zero, (K, d): the paper's set S(M, d)."""
    Y = rng.normal(size=(K, d))
    for _ in range(200):
        Y -= Y.mean(axis=0)
        Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    return Y


def small_problem(seed: int = 0, n: int = 60, K: int = 3, p: int = 3) -> tuple[Any, Any]:
    """Overlapping clusters."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % K
    return rng.normal(size=(n, p)) + 1.2 * rng.normal(size=(K, p))[c], c


# ---- decisions and margins ------------------------------------------------------------------------------------------


@check("jmlr-margin-decides")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    U, c = rng.normal(size=(2000, 5)), rng.integers(5, size=2000)
    right = U.argmax(axis=1) == c
    return {"differ": float((right != (losses.margins(U, c) > 0)).sum())}


@check("jmlr-votes")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (2, 3, 7):
        votes, c = rng.uniform(size=(40, K)), rng.integers(K, size=40)
        apart = votes[np.arange(40), c][:, None] - votes
        for Y, factor in ((cw.simplex(K), K / (K - 1)), (cw.canonical(K), 1.0)):
            projections = votes @ Y @ Y.T
            margin = projections[np.arange(40), c][:, None] - projections
            worst = max(worst, np.abs(margin - factor * apart).max())
    return {"worst": worst}


@check("jmlr-selection")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (3, 6):
        U, c, h = rng.normal(size=(50, K)), rng.integers(K, size=50), rng.integers(K, size=50)
        for loss in GAMMA_PHI.values():
            P = loss.residual(U, c)
            w = P[np.arange(50), c]
            tau = -P / w[:, None]
            wrong = h != c
            rule = w.sum() - (w * (1 + tau[np.arange(50), h]))[wrong].sum()
            for Y, factor in ((cw.simplex(K), K / (K - 1)), (cw.canonical(K), 1.0)):
                slope = (0.5 * (P @ Y) * Y[h]).sum()
                worst = max(worst, abs(slope - 0.5 * factor * rule))
    return {"worst": worst}


@check("jmlr-random-learner")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (3, 6):
        P = losses.Exponential().residual(rng.normal(size=(50, K)), rng.integers(K, size=50))
        for Y in (cw.simplex(K), cw.canonical(K)):
            worst = max(worst, abs((P @ Y @ Y.T).mean(axis=1)).max())  # over all K answers, each as likely
    return {"worst": worst}


# ---- codewords ------------------------------------------------------------------------------------------------------


@check("jmlr-capacity-bound")
def _() -> dict[str, float]:
    rng, beyond = np.random.default_rng(0), -np.inf
    for K, d in ((3, 2), (4, 2), (4, 3), (5, 3), (6, 5)):
        for _ in range(20):
            beyond = max(beyond, cw.margin_capacity(random_code(K, d, rng)) - K / (2 * (K - 1)))
    met = max(abs(cw.margin_capacity(cw.simplex(K)) - K / (2 * (K - 1))) for K in range(2, 9))
    return {"beyond the bound": beyond, "simplex from the bound": met}


@check("jmlr-distance-bound")
def _() -> dict[str, float]:
    rng, beyond = np.random.default_rng(0), -np.inf
    for K, d in ((3, 2), (4, 2), (4, 3), (5, 3), (6, 5)):
        for _ in range(40):
            beyond = max(beyond, cw.min_distance(random_code(K, d, rng)) - 2 * K / (K - 1))
    met = max(abs(cw.min_distance(cw.simplex(K)) - 2 * K / (K - 1)) for K in range(2, 9))
    return {"beyond the bound": beyond, "simplex from the bound": met}


def rectangle(a: float = 0.2) -> Any:
    """A flat rectangle on the unit circle."""
    return np.array([[np.cos(t), np.sin(t)] for t in (a, -a, np.pi - a, np.pi + a)])


@check("jmlr-lemma2-printed")
def _() -> dict[str, float]:
    Y = rectangle()
    return {"capacity less half the squared distance": cw.margin_capacity(Y) - cw.min_distance(Y) / 2}


@check("jmlr-lemma2")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    codes = [rectangle(), *(random_code(K, d, rng) for K, d in ((3, 2), (4, 2), (5, 3), (6, 3)) for _ in range(20))]
    low = max(cw.min_distance(Y) / 4 - cw.margin_capacity(Y) for Y in codes)
    high = max(cw.margin_capacity(Y) - np.sqrt(cw.min_distance(Y)) / 2 for Y in codes)
    return {"below": low, "above": high}


@check("jmlr-tammes-printed")
def _() -> dict[str, float]:
    free, centred = (cw.min_distance(cw.max_min(7, 3, centered=flag, random_state=0)) for flag in (False, True))
    return {"Tammes less (67), M = 7, d = 3": free - centred}


@check("jmlr-canonical-printed")
def _() -> dict[str, float]:
    return {f"M = {K}": cw.margin_capacity(cw.simplex(K)) - cw.margin_capacity(cw.canonical(K)) for K in (3, 10, 26)}


@check("jmlr-underdetermined")
def _() -> dict[str, float]:
    Y = np.column_stack([cw.simplex(4), np.zeros(4)])  # d = M: a direction that all codewords see alike
    v = np.linalg.svd(Y - Y[0])[2][-1]
    return {"spread of the projections": float(np.ptp(Y @ v)), "norm": abs(np.linalg.norm(v) - 1)}


# ---- losses ---------------------------------------------------------------------------------------------------------


@check("jmlr-loss-bounds")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    U, c = rng.normal(scale=2, size=(500, 4)), rng.integers(4, size=500)
    m = losses.margins(U, c)
    return {"below 1 + e^-m": float((1 + np.exp(-m) - (1 + losses.Exponential().value(U, c))).max())}


@check("jmlr-theorem5")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    at_margin = {
        "exponential": lambda m: np.exp(-m),
        "logistic": lambda m: np.log1p(np.exp(-2 * m)),
        "Savage": lambda m: 1 / (1 + np.exp(2 * m)) ** 2,
    }
    worst = {}
    for name, loss in GAMMA_PHI.items():
        gaps = []
        for _ in range(100):
            n, K = int(rng.integers(1, 8)), int(rng.integers(2, 6))
            U, c = rng.normal(size=(n, K)), rng.integers(K, size=n)
            gaps.append(at_margin[name](losses.margins(U, c).min()) / n - loss.value(U, c).mean())
        worst[name] = float(max(gaps))
    return worst


@check("jmlr-convex")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), {}
    for name in CONVEX:
        U, W, c = rng.normal(size=(300, 4)), rng.normal(size=(300, 4)), rng.integers(4, size=300)
        values = [GAMMA_PHI[name].value(U + t * W, c) for t in (-0.1, 0.0, 0.1)]
        worst[name] = float((2 * values[1] - values[0] - values[2]).max())
    return worst


@check("jmlr-gradients")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), {}
    Y, c = cw.simplex(4), rng.integers(4, size=20)
    F, g = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    for name, loss in GAMMA_PHI.items():
        risk = lambda e, loss=loss: loss.value(0.5 * (F + e * g) @ Y.T, c).mean()  # noqa: E731
        slope = (risk(1e-5) - risk(-1e-5)) / 2e-5
        formula = -0.5 * ((loss.residual(0.5 * F @ Y.T, c) @ Y) * g).sum() / 20
        worst[name] = abs(slope - formula) - 1e-7 * abs(slope)
    return worst


def minimiser(loss: Any, eta: Any, Y: Any) -> Any:
    """The predictor that minimises the conditional risk, (d,)."""
    c = np.arange(len(eta))

    def risk(f: Any) -> tuple[float, Any]:
        U = np.tile(0.5 * f @ Y.T, (len(eta), 1))
        return float(eta @ loss.value(U, c)), -0.5 * (eta @ loss.residual(U, c)) @ Y

    return minimize(risk, np.zeros(Y.shape[1]), jac=True, options={"gtol": 1e-11}).x


@check("jmlr-posterior")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), {}
    Y = cw.simplex(4)
    for name in CONVEX:
        gaps = []
        for _ in range(10):
            eta = rng.dirichlet(5 * np.ones(4))
            U = 0.5 * minimiser(GAMMA_PHI[name], eta, Y)[None] @ Y.T
            gaps.append(np.abs(GAMMA_PHI[name].probabilities(U)[0] - eta).max())
        worst[name] = float(max(gaps))
    return worst


@check("jmlr-bayes-rule")
def _() -> dict[str, float]:
    rng, wrong = np.random.default_rng(1), 0
    Y = cw.simplex(4)
    for name in CONVEX:
        for _ in range(10):
            eta = rng.dirichlet(np.ones(4))
            wrong += int((Y @ minimiser(GAMMA_PHI[name], eta, Y)).argmax() != eta.argmax())
    return {"other decisions": float(wrong)}


@check("jmlr-link-printed")
def _() -> dict[str, float]:
    U = 0.5 * np.array([[1.2, -0.4]]) @ cw.simplex(3).T
    p = np.exp(2 * U[0]) / np.exp(2 * U[0]).sum()
    return {name: float(np.abs(loss.probabilities(U)[0] - p).max()) for name, loss in GAMMA_PHI.items()}


@check("jmlr-rank-printed")
def _() -> dict[str, float]:
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])  # rank 2 = M − 1, but on one line
    u = 0.5 * np.array([0.3, -0.2]) @ Y.T
    system = losses.Logistic().residual(np.tile(u, (3, 1)), np.arange(3)) @ Y
    return {"posteriors too many": 3.0 - np.linalg.matrix_rank(system, tol=1e-9) - 1}


# ---- algorithms -----------------------------------------------------------------------------------------------------


def adaboost_scores(X: Any, z: Any, rounds: int) -> Any:
    """AdaBoost with the best stump of each round, found by trying all of them: scores (n,) for labels z = ±1."""
    n, w, f = len(z), np.full(len(z), 1 / len(z)), np.zeros(len(z))
    middles = [np.convolve(np.unique(x), [0.5, 0.5], "valid") for x in X.T]
    stumps = np.array([np.where(X[:, j] <= t, 1.0, -1.0) for j, ts in enumerate(middles) for t in ts])
    stumps = np.vstack([stumps, -stumps, np.ones((1, n)), -np.ones((1, n))])
    for _ in range(rounds):
        h = stumps[np.argmax(stumps @ (w * z))]
        e = w[h != z].sum()
        alpha = 0.5 * np.log((1 - e) / e)
        w = w * np.exp(-alpha * z * h)
        w, f = w / w.sum(), f + alpha * h
    return f


@check("jmlr-two-classes")
def _() -> dict[str, float]:
    X, c = small_problem(K=2)
    expected = adaboost_scores(X, np.where(c == 0, 1.0, -1.0), 8)
    out = {}
    for name, kind in (("CD", sb.CDMCBoostClassifier), ("GD", sb.GDMCBoostClassifier)):
        clf = kind(learner="stump" if name == "CD" else "vector-tree", n_estimators=8)
        clf.set_params(**({} if name == "CD" else {"learner": sb.learners.VectorTree(max_depth=1)}))
        model = clf.fit(X, c).model_
        f = model.predictor(X)[:, 0] * model.Y[0, 0]
        out[name] = float(np.abs(f - expected).max())
    return out


@check("jmlr-risk-falls")
def _() -> dict[str, float]:
    X, c = small_problem(K=4, n=120)
    worst = -np.inf
    for loss in ("exponential", "logistic", "savage"):
        for clf in (
            sb.CDMCBoostClassifier(loss=loss, n_estimators=30),
            sb.GDMCBoostClassifier(loss=loss, n_estimators=30),
        ):
            worst = max(worst, float(np.diff(clf.fit(X, c).history_["risk"]).max()))
    return {"largest rise of the risk": worst}


@check("jmlr-converter-printed")
def _() -> dict[str, float]:
    Y = cw.simplex(10)
    return {"promised less found, M = 10": (0.5 - 1 / 18) - float((Y @ -Y[0]).max())}


@check("jmlr-converter")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), -np.inf
    for K in (3, 5, 10):
        Y = cw.simplex(K)
        H = rng.normal(size=(500, K - 1))
        worst = max(worst, float(-(H * Y[(H @ Y.T).argmax(axis=1)]).sum(axis=1).min()))
    return {"negative of the least product": worst}


@check("jmlr-converter-canonical")
def _() -> dict[str, float]:
    return {"negative of the product, h = -1": float(-(np.eye(10) @ -np.ones(10)).max())}
