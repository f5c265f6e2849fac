"""Statements of both MCBoost papers that are wrong as printed (docs/errata.md), judged as they are printed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

import simplexboost as sb
from simplexboost.parts import codewords as cw
from simplexboost.parts import losses

from .theorems import check
from .theorems_losses import PARTS, minimiser, system
from .theorems_mcboost import GAMMA_PHI, small_problem


@check("jmlr-coordinate-printed")
def _() -> dict[str, float]:
    return {"from the derivative": coordinate(-0.5)}


@check("jmlr-coordinate")
def _() -> dict[str, float]:
    return {"from the derivative": coordinate(0.5 / 12)}


def coordinate(factor: float) -> float:
    """How far (37) with a factor is from the derivative along a coordinate, by differences, of twelve examples."""
    rng = np.random.default_rng(0)
    Y, c, F, g = cw.Simplex().matrix(4), rng.integers(4, size=12), rng.normal(size=(12, 3)), rng.normal(size=12)
    loss, direction = losses.Logistic(), g[:, None] * np.eye(3)[1]
    down, up = (loss.value(0.5 * (F + e * direction) @ Y.T, c).mean() for e in (-1e-5, 1e-5))
    formula = factor * (g * (loss.residual(0.5 * F @ Y.T, c) @ Y)[:, 1]).sum()
    return abs(formula - (down - up) / 2e-5)


@check("jmlr-proper-printed")
def _() -> dict[str, float]:
    eta = np.array([0.5, 0.49, 0.01])
    U = 0.5 * minimiser(losses.Savage(), eta, cw.Simplex().matrix(3))[None] @ cw.Simplex().matrix(3).T
    return {"link from the posterior, Savage": float(np.abs(losses.Savage().probabilities(U)[0] - eta).max())}


@check("jmlr-margin-printed")
def _() -> dict[str, float]:
    U, c = np.zeros((4, 4)), np.arange(4)
    return {"right with margin 0": float(((U.argmax(axis=1) == c) & (losses.margins(U, c) <= 0)).sum())}


@check("jmlr-theorem5-printed")
def _() -> dict[str, float]:
    U, c = np.array([[0.7, -0.1]]), np.array([0])
    bound = np.log1p(np.exp(-2 * losses.margins(U, c)[0]))
    return {"bound less the risk": float(bound - losses.Logistic().value(U, c)[0])}


@check("jmlr-chance-printed")
def _() -> dict[str, float]:
    return {f"error of guessing less 1/M, M = {K}": (1 - 1 / K) - 1 / K for K in (3, 10)}


@check("nips-bayes-printed")
def _() -> dict[str, float]:
    eta = np.array([0.6, 0.4])
    return {"error less the least one": float((1 - eta[eta.argmin()]) - (1 - eta.max()))}


@check("nips-votes-printed")
def _() -> dict[str, float]:
    votes = np.random.default_rng(0).uniform(size=(200, 4))  # sums of α_t for the classes 1 to 4
    printed = votes * np.arange(1, 5)  # sums of α_t h_t(x)
    return {"other decisions of 200": float((printed.argmax(axis=1) != votes.argmax(axis=1)).sum())}


@check("jmlr-pseudo-loss-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    W, own, g = rng.uniform(size=30), rng.uniform(size=30), rng.uniform(size=30)
    return {"(246) from (252)": abs(float(0.5 * (W * (1 - g + own)).sum() - 0.5 * (W * (1 - own + g)).sum()))}


@check("jmlr-samme-step-printed")
def _() -> dict[str, float]:
    K, e = 5, 0.6
    printed = np.log((1 - e) / e) + np.log(K - 1)
    own, other = 1 / (K - 1), -1 / (K - 1) ** 2  # ⟨y^c, y^k⟩ / K of the codewords (239)
    risk = lambda a: (1 - e) * np.exp(-own * a[0]) + e * np.exp(-other * a[0])  # noqa: E731
    return {"from the minimum of (240)": abs(float(minimize(risk, [1.0]).x[0]) - printed)}


@check("jmlr-samme-half-printed")
def _() -> dict[str, float]:
    return {"M1's step (236) at an error of 40 %": float(np.log(0.6 / 0.4))}


@check("jmlr-svm-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    S = rng.normal(size=(50, 4))
    own, rival = S[:, 0], S[:, 1:].max(axis=1)
    printed, slack = np.maximum(0, 1 - own - rival), np.maximum(0, 1 - (S[:, :1] - S[:, 1:]).min(axis=1))
    return {"from the slack": float(np.abs(printed - slack).max())}


@check("jmlr-exponent-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=(6, 4)), rng.integers(4, size=6)
    sums = np.exp(F - F[np.arange(6), c][:, None]).sum(axis=1) - 1  # (122) with α = 1
    return {"γ–φ with e^{−αv} from (122)": float(np.abs(losses.Exponential().value(0.5 * F, c) - sums).max())}


@check("jmlr-direction-printed")
def _() -> dict[str, float]:
    X, c = small_problem()
    G = losses.Exponential().residual(np.zeros((len(c), 3)), c) @ cw.Simplex().matrix(3)
    best = float(np.linalg.norm(G, axis=1).sum())  # of all learners with answers of length 1
    return {"ten times the best unit learner, less it": float(10 * best - best) / len(X)}


@check("jmlr-weights-printed")
def _() -> dict[str, float]:
    V = np.linspace(-6, 6, 601)
    U, c = np.column_stack([V, 0 * V]), np.zeros(601, dtype=int)
    return {name: float(np.diff(loss.residual(U, c)[:, 0]).max()) for name, loss in GAMMA_PHI.items()}


@check("jmlr-soft-min-printed")
def _() -> dict[str, float]:
    v = np.array([0.5, 1.5])  # margin components of two rivals
    weights = -np.exp(v) / -np.exp(v).sum()  # φ = 9 − e^v, whose derivative −e^v falls
    return {"weight of the larger component, less that of the smaller": float(weights[1] - weights[0])}


@check("jmlr-rows-of-q-printed")
def _() -> dict[str, float]:
    Q, _ = system("exponential", np.array([0.4, -0.1, 0.2, 0.0]))
    return {"largest sum of a row": float(np.abs(Q.sum(axis=1)).max())}


@check("jmlr-m1-rules-printed")
def _() -> dict[str, float]:
    return {"weight of errors from that of right answers": abs(0.3 - (1 - 0.3))}


@check("jmlr-simplex-votes-printed")
def _() -> dict[str, float]:
    rng, K = np.random.default_rng(0), 4
    votes = rng.uniform(size=(30, K))
    own = votes[:, 0]
    weight = np.exp(-(votes @ cw.Simplex().matrix(K) @ cw.Simplex().matrix(K)[0]))  # (188) with (192)
    return {"(193) from (188)": float(np.abs(np.exp(-own - (votes.sum(axis=1) - own) / (K - 1)) - weight).max())}


@check("jmlr-index-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    Y, eta, f = cw.Simplex().matrix(4), rng.dirichlet(np.ones(4)), rng.normal(size=3)
    u = 0.5 * f @ Y.T
    _, pi = system("logistic", u)
    slopes = PARTS["logistic"][3](u[:, None] - u) * (1 - np.eye(4))  # (k, l)
    first = 0.5 * ((eta * pi)[:, None] * slopes).sum(axis=1) @ Y
    right, printed = (first - 0.5 * (at * slopes).sum(axis=0) @ Y for at in ((eta * pi)[:, None], (eta * pi)[None]))
    return {"(208), third line, from the second": float(np.abs(printed - right).max())}


def steep(alpha: float) -> losses.UserGammaPhi:
    """The γ–φ loss with γ(v) = v and φ(v) = e^{−αv}."""
    return losses.UserGammaPhi(
        gamma=lambda v: v,
        phi=lambda v: np.exp(-alpha * v),
        gamma_prime=np.ones_like,
        phi_prime=lambda v: -alpha * np.exp(-alpha * v),
        convex=True,
    )


def class_weights(alpha: float, U: Any, c: Any) -> Any:
    """τ of (30) for φ(v) = e^{−αv}, (n, K): the weights of the classes, 0 for the own one."""
    tau = np.exp(alpha * (U - U.max(axis=1, keepdims=True)))
    tau[np.arange(len(c)), c] = 0.0
    return tau / tau.sum(axis=1, keepdims=True)


@check("jmlr-softness-printed")
def _() -> dict[str, float]:
    X, c = small_problem(K=4)
    hardness = {}
    for alpha in (1.0, 3.0):
        clf = sb.GDMCBoostClassifier(steep(alpha), n_estimators=10).fit(X, c)
        hardness[alpha] = class_weights(alpha, clf.decision_function(X), c).max(axis=1).mean()
    gain = round(float(hardness[3.0] - hardness[1.0]), 6)
    return {"0.01 less what the largest weight gains from α = 1 to α = 3": 0.01 - gain}


@check("jmlr-mh-difference-printed")
def _() -> dict[str, float]:
    c, start = np.array([0]), np.zeros((1, 4))
    own, others = np.array([1.0, 1, 1, -1]), np.array([-1.0, -1, -1, -1])  # right on the own class, or on all others
    mr, mh = losses.MM().residual(start, c)[0], losses.OneVsAll().residual(start, c)[0]
    chosen = own if mr @ own > mr @ others else others  # MR's learner of the two, with the first weights
    return {"what MH's best learner gains beyond MR's": float(max(mh @ own, mh @ others) - mh @ chosen)}


@check("jmlr-rates-printed")
def _() -> dict[str, float]:
    X, c = small_problem()
    h = sb.parts.learners.InfoTree(max_depth=1)
    clf = sb.SAMMEClassifier(h, n_estimators=1).fit(X, c)
    return {"sum of the weights of errors, each 1, less 1": float((clf.predict(X) != c).sum()) - 1}
