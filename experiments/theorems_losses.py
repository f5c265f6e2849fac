"""Checks of what both MCBoost papers say of losses, links, weights and other boosters' losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from simplexboost.datasets.generators import COVARIANCES, MEANS
from simplexboost.parts import codewords as cw
from simplexboost.parts import losses

from .theorems import check
from .theorems_mcboost import CONVEX, GAMMA_PHI


@check("nips-loss-bound")
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


@check("nips-convex")
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
    Y, c = cw.Simplex().matrix(4), rng.integers(4, size=20)
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
    Y = cw.Simplex().matrix(4)
    for name in CONVEX:
        gaps = []
        for _ in range(10):
            eta = rng.dirichlet(5 * np.ones(4))
            U = 0.5 * minimiser(GAMMA_PHI[name], eta, Y)[None] @ Y.T
            gaps.append(np.abs(GAMMA_PHI[name].probabilities(U)[0] - eta).max())
        worst[name] = float(max(gaps))
    return worst


@check("nips-bayes-rule")
def _() -> dict[str, float]:
    rng, wrong = np.random.default_rng(1), 0
    Y = cw.Simplex().matrix(4)
    for name in CONVEX:
        for _ in range(10):
            eta = rng.dirichlet(np.ones(4))
            wrong += int((Y @ minimiser(GAMMA_PHI[name], eta, Y)).argmax() != eta.argmax())
    return {"other decisions": float(wrong)}


@check("jmlr-link-printed")
def _() -> dict[str, float]:
    U = 0.5 * np.array([[1.2, -0.4]]) @ cw.Simplex().matrix(3).T
    p = np.exp(2 * U[0]) / np.exp(2 * U[0]).sum()
    return {name: float(np.abs(loss.probabilities(U)[0] - p).max()) for name, loss in GAMMA_PHI.items()}


@check("jmlr-rank-printed")
def _() -> dict[str, float]:
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])  # rank 2 = M − 1, but on one line
    u = 0.5 * np.array([0.3, -0.2]) @ Y.T
    system = losses.Logistic().residual(np.tile(u, (3, 1)), np.arange(3)) @ Y
    return {"posteriors too many": 3.0 - np.linalg.matrix_rank(system, tol=1e-9) - 1}


# γ, γ′, φ, φ′ of Table 3.
PARTS: dict[str, tuple[Any, Any, Any, Any]] = {
    "exponential": (lambda v: v, np.ones_like, lambda v: np.exp(-v), lambda v: -np.exp(-v)),
    "logistic": (np.log1p, lambda v: 1 / (1 + v), lambda v: np.exp(-2 * v), lambda v: -2 * np.exp(-2 * v)),
    "Savage": (
        lambda v: (v / (1 + v)) ** 2,
        lambda v: 2 * v / (1 + v) ** 3,
        lambda v: np.exp(-2 * v),
        lambda v: -2 * np.exp(-2 * v),
    ),
}


def system(name: str, u: Any) -> tuple[Any, Any]:
    """Q (97) and the diagonal of Γ (98), by their definitions, at scores u (K,)."""
    _, gamma_slope, phi, phi_slope = PARTS[name]
    D = u[:, None] - u  # (k, l): u^k − u^l
    rivals = ~np.eye(len(u), dtype=bool)
    Q = np.where(rivals, -phi_slope(D.T), 0.0)
    np.fill_diagonal(Q, np.where(rivals, phi_slope(D), 0.0).sum(axis=1))
    return Q, gamma_slope(np.where(rivals, phi(D), 0.0).sum(axis=1))


def null_of(A: Any) -> Any:
    """An orthonormal basis of the null space, (columns, dimension)."""
    _, values, rows = np.linalg.svd(A)
    rank = int((values > 1e-10 * values[0]).sum())
    return rows[rank:].T


@check("jmlr-stationary")
def _() -> dict[str, float]:
    """(96) at numerical minimisers, relative to the size of its terms; for Savage where there is one (E-04b)."""
    rng, worst = np.random.default_rng(0), {}
    Y = cw.Simplex().matrix(4)
    for name, loss in GAMMA_PHI.items():
        gaps = []
        for _ in range(5):
            eta = rng.dirichlet((5 if name != "Savage" else 200) * np.ones(4))
            Q, pi = system(name, 0.5 * Y @ minimiser(loss, eta, Y))
            gaps.append(np.abs(Y.T @ Q @ (pi * eta)).max() / np.abs(Q @ np.diag(pi * eta)).max())
        worst[name] = float(max(gaps))
    return worst


@check("jmlr-null-printed")
def _() -> dict[str, float]:
    """Lemma 3.1: the angle between Null(QΓ) and Null(Q), one dimension each, as one minus its cosine."""
    u = 0.5 * cw.Simplex().matrix(4) @ np.array([0.8, -0.3, 0.5])
    out = {}
    for name in PARTS:
        Q, pi = system(name, u)
        out[name] = 1 - abs(float((null_of(Q) * null_of(Q @ np.diag(pi))).sum()))
    return out


@check("jmlr-null-dimensions")
def _() -> dict[str, float]:
    """Lemma 3.2 and 3.4, and 3.1 for dimensions: how many dimensions are missing or too many."""
    rng, wrong = np.random.default_rng(0), 0
    for name in PARTS:
        for K in (3, 4, 6):
            Q, pi = system(name, rng.normal(size=K))
            wrong += abs(null_of(Q).shape[1] - 1) + abs(null_of(Q @ np.diag(pi)).shape[1] - 1)
            Y = rng.normal(size=(K, K - 2))  # of rank M − 2
            wrong += max(0, 2 - null_of(Y.T @ Q).shape[1])
            wrong += abs(null_of(Y.T @ Q).shape[1] - null_of(Y.T @ Q @ np.diag(pi)).shape[1])
    return {"dimensions": float(wrong)}


@check("jmlr-lemma4")
def _() -> dict[str, float]:
    """(99) for the vectors with QΓη = 0, and how far one of their entries has another sign."""
    rng, worst, other = np.random.default_rng(0), 0.0, -np.inf
    for name in PARTS:
        for K in (3, 5):
            u = rng.normal(size=K)
            Q, pi = system(name, u)
            eta = null_of(Q @ np.diag(pi))[:, 0]
            eta = eta / eta.sum()
            slopes = PARTS[name][3](u[:, None] - u)  # (k, l): φ′(u^k − u^l)
            worst = max(worst, float(np.abs(eta - (eta * pi) @ slopes / (pi * slopes.sum(axis=1))).max()))
            other = max(other, float(-eta.min()))
    return {"from (99)": worst, "entries of the other sign": other}


@check("jmlr-table2")
def _() -> dict[str, float]:
    """The links of Table 2 at the minimisers of the binary risk, and back through the inverse links."""
    losses_of_margin = {
        "AdaBoost": lambda v: np.exp(-v),
        "LogitBoost": lambda v: np.log1p(np.exp(-2 * v)),
        "SavageBoost": lambda v: 1 / (1 + np.exp(2 * v)) ** 2,
    }
    out = {}
    for name, xi in losses_of_margin.items():
        gaps = []
        for eta in (0.2, 0.5, 0.9):
            risk = lambda v, eta=eta, xi=xi: eta * xi(v) + (1 - eta) * xi(-v)  # noqa: E731
            link = 0.5 * np.log(eta / (1 - eta))
            slope = (risk(link + 1e-5) - risk(link - 1e-5)) / 2e-5
            gaps += [abs(slope) - 1e-8, abs(np.exp(2 * link) / (1 + np.exp(2 * link)) - eta)]
        out[name] = float(max(gaps))
    return out


@check("jmlr-tables-3-4")
def _() -> dict[str, float]:
    """Losses, π and η of Table 3 and weights of Table 4 beside the definitions (23), (29), (30), (100), (101)."""
    rng, worst = np.random.default_rng(0), {}
    n, K = 20, 4
    U, c = rng.normal(size=(n, K)), rng.integers(K, size=n)
    rows, rivals = np.arange(n), np.arange(K) != c[:, None]
    V = U[rows, c][:, None] - U
    once, twice = (np.where(rivals, np.exp(-a * V), 0.0) for a in (1, 2))
    p = np.exp(2 * U) / np.exp(2 * U).sum(axis=1, keepdims=True)
    S = twice.sum(axis=1)
    table = {  # loss, π, η, w, τ as printed
        "exponential": (once.sum(axis=1), np.ones_like(p), p, once.sum(axis=1), once),
        "logistic": (np.log1p(S), p, p, 2 * S / (1 + S), twice),
        "Savage": ((1 - 1 / (1 + S)) ** 2, 2 * p**2 * (1 - p), 1 / (1 - p), 4 * S**2 / (1 + S) ** 3, twice),
    }
    for name, (loss, pi, eta, w, tau) in table.items():
        gamma, gamma_slope, phi, phi_slope = PARTS[name]
        inner, slopes = np.where(rivals, phi(V), 0.0).sum(axis=1), np.where(rivals, phi_slope(V), 0.0)
        gaps = [np.abs(loss - gamma(inner)), np.abs(w + gamma_slope(inner) * slopes.sum(axis=1))]
        shares = (tau / tau.sum(axis=1, keepdims=True), slopes / slopes.sum(axis=1, keepdims=True))
        gaps.append(np.abs(shares[0] - shares[1]).max(axis=1))
        for i in range(n):
            Q, own = system(name, U[i])
            posterior = null_of(Q @ np.diag(own))[:, 0]
            gaps += [np.abs(pi[i] - own), np.abs(posterior / posterior.sum() - eta[i] / eta[i].sum())]
        worst[name] = float(max(gap.max() for gap in gaps))
    return worst


@check("jmlr-logit-loss")
def _() -> dict[str, float]:
    """(231): LogitBoost's negative logarithm of the likelihood beside the logistic γ–φ loss on canonical codewords."""
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=(50, 5)), rng.integers(5, size=50)
    likelihood = np.exp(F[np.arange(50), c]) / np.exp(F).sum(axis=1)
    return {"apart": float(np.abs(losses.Logistic().value(0.5 * F @ np.eye(5), c) + np.log(likelihood)).max())}


@check("jmlr-m2-selection")
def _() -> dict[str, float]:
    """(252), (254): AdaBoost.M2's pseudo-loss beside GD-MCBoost's derivative on canonical codewords."""
    rng, worst = np.random.default_rng(0), 0.0
    F, c = rng.normal(size=(40, 4)), rng.integers(4, size=40)
    P = losses.Exponential().residual(0.5 * F, c)
    W = np.where(np.arange(4) != c[:, None], -P, 0.0)  # (251)
    for _ in range(10):
        g = rng.normal(size=(40, 4))
        pseudo = 0.5 * (W * (1 - g[np.arange(40), c][:, None] + g)).sum()
        worst = max(worst, abs(pseudo - 0.5 * (W.sum() - (P * g).sum())))
    return {"apart": worst}


@check("jmlr-contour-points")
def _() -> dict[str, float]:
    """Figure 3: the largest γ–φ loss of a right decision less the least of a wrong one, on one contour of (125)."""
    across, worst = np.linspace(-2, 2, 401), -np.inf
    for along in np.linspace(0.05, 1.1, 22):  # f_1: the contours of e^{−f_1} that have points of both kinds
        loss = np.exp(-1.5 * along) * 2 * np.cosh(np.sqrt(3) / 2 * across)
        right = np.abs(across) < np.sqrt(3) * along
        worst = max(worst, float(loss[right].max() - loss[~right].min()))
    return {"right less wrong": worst}


@check("nips-samme-margin")
def _() -> dict[str, float]:
    """(38): the largest M′ of an example that is classified wrongly."""
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=(500, 4)), rng.integers(4, size=500)
    own = F[np.arange(500), c]
    margin = own - (F.sum(axis=1) - own) / 3
    return {"M′ of a wrong decision": float(margin[F.argmax(axis=1) != c].max())}


@check("jmlr-bayes-error")
def _() -> dict[str, float]:
    """The Bayes error of the three Gaussians, in percent, by a sum over a fine grid."""
    side = np.arange(-10, 12, 0.02)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    centred = X[:, None, :] - MEANS
    distance = np.einsum("nki,kij,nkj->nk", centred, np.linalg.inv(COVARIANCES), centred)
    density = np.exp(-0.5 * distance) / (2 * np.pi * np.sqrt(np.linalg.det(COVARIANCES))) / 3
    return {"percent": 100 * float(1 - density.max(axis=1).sum() * 0.02**2)}
