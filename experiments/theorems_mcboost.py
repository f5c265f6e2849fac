"""Checks of the theorems of both MCBoost papers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize

import simplexboost as sb
from simplexboost import codewords as cw
from simplexboost import losses
from simplexboost.datasets.generators import COVARIANCES, MEANS
from simplexboost.learners import ClassTree, VectorTree

from .theorems import check, register

register("nips", "Theorems and formulas of the conference version, on small instances")

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


@check("jmlr-theorem2")
def _() -> dict[str, float]:
    """Codes in M − 1 or more dimensions: only a regular simplex meets the bound, along its own codewords."""
    rng, worst = np.random.default_rng(0), -np.inf
    for K, d in ((4, 3), (5, 4), (5, 5), (6, 5)):
        for _ in range(10):
            Y = random_code(K, d, rng)
            off = np.abs(Y @ Y.T - np.eye(K) + (1 - np.eye(K)) / (K - 1)).max()  # from the products of (61)
            if off > 0.05:
                worst = max(worst, cw.margin_capacity(Y) - K / (2 * (K - 1)))
    own = 0.0
    for K in range(2, 9):
        Y = cw.simplex(K)
        margins = losses.margins(0.5 * Y @ Y.T, np.arange(K))  # of every codeword along itself
        own = max(own, float(np.abs(margins - K / (2 * (K - 1))).max()))
    return {"others less the bound": worst, "simplex along its codewords": own}


@check("jmlr-theorem4")
def _() -> dict[str, float]:
    """Codes in M − 1 or more dimensions that meet one of the bounds (60) and (69), but not the other."""
    rng, apart = np.random.default_rng(0), 0
    for K, d in ((3, 2), (3, 3), (4, 3), (5, 4), (5, 6)):
        turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
        simplex = np.column_stack([cw.simplex(K), np.zeros((K, d - K + 1))]) @ turned
        for Y in (simplex, *(random_code(K, d, rng) for _ in range(8))):
            full = abs(cw.margin_capacity(Y) - K / (2 * (K - 1))) < 1e-7
            far = abs(cw.min_distance(Y) - 2 * K / (K - 1)) < 1e-7
            apart += full != far
    return {"codes that meet one bound only": float(apart)}


@check("nips-underdetermined")
def _() -> dict[str, float]:
    """Random unit codes in more than M − 1 dimensions: how differently the codewords see the direction found."""
    rng, worst = np.random.default_rng(0), 0.0
    for K, d in ((2, 2), (3, 3), (4, 4), (4, 6), (6, 7)):
        for _ in range(20):
            Y = rng.normal(size=(K, d))
            Y /= np.linalg.norm(Y, axis=1, keepdims=True)
            v = np.linalg.svd(Y[1:] - Y[0])[2][-1]  # a unit vector, orthogonal to all differences
            worst = max(worst, float(np.ptp(Y @ v)))
    return {"spread of the projections": worst}


@check("nips-simplex")
def _() -> dict[str, float]:
    """Unit codes in M − 1 dimensions, not centred: none is further apart than the simplex."""
    rng, beyond, met = np.random.default_rng(0), -np.inf, 0.0
    for K in (3, 4, 5, 7):
        for _ in range(40):
            Y = rng.normal(size=(K, K - 1))
            Y /= np.linalg.norm(Y, axis=1, keepdims=True)
            beyond = max(beyond, cw.min_distance(Y) - 2 * K / (K - 1))
        met = max(met, abs(cw.min_distance(cw.simplex(K)) - 2 * K / (K - 1)))
    return {"random codes less the simplex": beyond, "simplex from 2M/(M − 1)": met}


# ---- losses ---------------------------------------------------------------------------------------------------------


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


@check("nips-bayes-rule")
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


BINARY: dict[str, tuple[Any, Any]] = {  # ξ′, and the derivative of its sum along a learner is looked for a zero
    "logistic": (losses.Logistic(), lambda v: -2 / (1 + np.exp(2 * v))),
    "savage": (losses.Savage(), lambda v: -4 * np.exp(2 * v) / (1 + np.exp(2 * v)) ** 3),
}


def binary_scores(X: Any, z: Any, slope: Any, rounds: int) -> Any:
    """Binary boosting of a margin loss ξ with ξ′ = slope, by (118) to (120), with line search: scores (n,)."""
    n, f = len(z), np.zeros(len(z))
    middles = [np.convolve(np.unique(x), [0.5, 0.5], "valid") for x in X.T]
    stumps = np.array([np.where(X[:, j] <= t, 1.0, -1.0) for j, ts in enumerate(middles) for t in ts])
    stumps = np.vstack([stumps, -stumps, np.ones((1, n)), -np.ones((1, n))])
    for _ in range(rounds):
        h = stumps[np.argmax(stumps @ (-slope(z * f) * z))]
        along = lambda a, f=f, h=h: float((slope(z * (f + a * h)) * z * h).sum())  # noqa: E731
        f = f + brentq(along, 0.0, 20.0, xtol=1e-14) * h
    return f


@check("jmlr-binary-losses")
def _() -> dict[str, float]:
    """LogitBoost's and SavageBoost's losses with two classes: CD-MCBoost beside binary boosting of the same loss."""
    X, c = small_problem(K=2)
    out = {}
    for name, (loss, slope) in BINARY.items():
        expected = binary_scores(X, np.where(c == 0, 1.0, -1.0), slope, 5)
        model = sb.CDMCBoostClassifier(loss=loss, learner="stump", n_estimators=5).fit(X, c).model_
        out[name] = float(np.abs(model.predictor(X)[:, 0] * model.Y[0, 0] - expected).max())
    return out


def counted(seed: int = 0) -> tuple[Any, Any, Any]:
    """Five values of one feature, three classes at each of them: X, classes, and how often each occurs, (5, 3)."""
    counts = np.random.default_rng(seed).integers(1, 9, size=(5, 3))
    X = np.repeat(np.repeat(np.arange(5.0), 3), counts.ravel())[:, None]
    return X, np.repeat(np.tile(np.arange(3), 5), counts.ravel()), counts


def least_risks(counts: Any) -> dict[str, float]:
    """The infimum of the risk over all functions of a feature, which stumps of this feature span, in closed form."""
    share = counts.sum(axis=1) / counts.sum()
    eta = counts / counts.sum(axis=1, keepdims=True)
    return {
        "exponential": float(share @ (np.sqrt(eta).sum(axis=1) ** 2 - 1)),
        "logistic": float(-(share @ (eta * np.log(eta)).sum(axis=1))),
    }


@check("jmlr-global-minimum")
def _() -> dict[str, float]:
    """Excess of the risk over its infimum after 1000 rounds, and its largest rise, with both convex losses."""
    X, c, counts = counted()
    out, rise = {}, -np.inf
    for loss, least in least_risks(counts).items():
        for name, clf in (
            ("CD", sb.CDMCBoostClassifier(loss=loss, n_estimators=1000)),
            ("GD", sb.GDMCBoostClassifier(loss=loss, learner=VectorTree(max_depth=1), n_estimators=1000)),
            (
                "GD, codeword leaves",
                sb.GDMCBoostClassifier(loss=loss, learner=ClassTree(max_depth=1), n_estimators=1000),
            ),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it stops where no learner is left that lowers the risk
                risk = np.asarray(clf.fit(X, c).history_["risk"])
            out[f"{name}, {loss}"] = float(risk[-1] - least)
            rise = max(rise, float(np.diff(risk).max()))
    return out | {"largest rise": rise}


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


# ---- links, weights and other algorithms ----------------------------------------------------------------------------

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
    Y = cw.simplex(4)
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
    u = 0.5 * cw.simplex(4) @ np.array([0.8, -0.3, 0.5])
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


# ---- statements that are wrong as printed (docs/errata.md) -----------------------------------------------------------


@check("jmlr-coordinate-printed")
def _() -> dict[str, float]:
    return {"from the derivative": coordinate(-0.5)}


@check("jmlr-coordinate")
def _() -> dict[str, float]:
    return {"from the derivative": coordinate(0.5 / 12)}


def coordinate(factor: float) -> float:
    """How far (37) with a factor is from the derivative along a coordinate, by differences, of twelve examples."""
    rng = np.random.default_rng(0)
    Y, c, F, g = cw.simplex(4), rng.integers(4, size=12), rng.normal(size=(12, 3)), rng.normal(size=12)
    loss, direction = losses.Logistic(), g[:, None] * np.eye(3)[1]
    down, up = (loss.value(0.5 * (F + e * direction) @ Y.T, c).mean() for e in (-1e-5, 1e-5))
    formula = factor * (g * (loss.residual(0.5 * F @ Y.T, c) @ Y)[:, 1]).sum()
    return abs(formula - (down - up) / 2e-5)


@check("jmlr-proper-printed")
def _() -> dict[str, float]:
    eta = np.array([0.5, 0.49, 0.01])
    U = 0.5 * minimiser(losses.Savage(), eta, cw.simplex(3))[None] @ cw.simplex(3).T
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
    G = losses.Exponential().residual(np.zeros((len(c), 3)), c) @ cw.simplex(3)
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
    weight = np.exp(-(votes @ cw.simplex(K) @ cw.simplex(K)[0]))  # (188) with (192)
    return {"(193) from (188)": float(np.abs(np.exp(-own - (votes.sum(axis=1) - own) / (K - 1)) - weight).max())}


@check("jmlr-index-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    Y, eta, f = cw.simplex(4), rng.dirichlet(np.ones(4)), rng.normal(size=3)
    u = 0.5 * f @ Y.T
    _, pi = system("logistic", u)
    slopes = PARTS["logistic"][3](u[:, None] - u) * (1 - np.eye(4))  # (k, l)
    first = 0.5 * ((eta * pi)[:, None] * slopes).sum(axis=1) @ Y
    right, printed = (first - 0.5 * (at * slopes).sum(axis=0) @ Y for at in ((eta * pi)[:, None], (eta * pi)[None]))
    return {"(208), third line, from the second": float(np.abs(printed - right).max())}
