"""Checks of what both MCBoost papers say of their algorithms, and what all checks of these papers share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import brentq

import simplexboost as sb
from simplexboost.parts import codewords as cw
from simplexboost.parts import losses
from simplexboost.parts.learners import ClassTree, VectorTree

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
        clf.set_params(**({} if name == "CD" else {"learner": sb.parts.learners.VectorTree(max_depth=1)}))
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
    Y = cw.Simplex().matrix(10)
    return {"promised less found, M = 10": (0.5 - 1 / 18) - float((Y @ -Y[0]).max())}


@check("jmlr-converter")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), -np.inf
    for K in (3, 5, 10):
        Y = cw.Simplex().matrix(K)
        H = rng.normal(size=(500, K - 1))
        worst = max(worst, float(-(H * Y[(H @ Y.T).argmax(axis=1)]).sum(axis=1).min()))
    return {"negative of the least product": worst}


@check("jmlr-converter-canonical")
def _() -> dict[str, float]:
    return {"negative of the product, h = -1": float(-(np.eye(10) @ -np.ones(10)).max())}
