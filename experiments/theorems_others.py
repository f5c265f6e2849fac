"""Checks of the propositions of Geist's paper and of the formulas of the lecture."""

from __future__ import annotations

from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost import codewords as cw
from simplexboost import losses

from .theorems import check
from .theorems_mcboost import adaboost_scores, small_problem

# ---- Geist ----------------------------------------------------------------------------------------------------------


def softmax(A: Any) -> Any:
    """Rows that sum to one."""
    E = np.exp(A - A.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def hessian(cost: Any, psi: Any) -> Any:
    """Second derivatives of the expected cost ⟨cost, softmax(ψ)⟩, (K, K), by differences of the exact gradient."""
    gradient = lambda u: softmax(u) * (cost - softmax(u) @ cost)  # noqa: E731
    E = 1e-5 * np.eye(len(psi))
    return np.array([(gradient(psi + e) - gradient(psi - e)) / 2e-5 for e in E])


@check("geist-proposition2")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (2, 4, 7):
        cost, psi = rng.uniform(size=K), rng.normal(size=K)
        risk = lambda u, cost=cost: float(softmax(u) @ cost)  # noqa: E731
        E = 1e-5 * np.eye(K)
        slopes = np.array([(risk(psi + e) - risk(psi - e)) / 2e-5 for e in E])
        g = softmax(psi)
        worst = max(worst, np.abs(slopes - g * (cost - g @ cost)).max())
    return {"worst": float(worst)}


@check("geist-hessian-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    H = hessian(rng.uniform(size=4), rng.normal(size=4))
    return {"largest entry off the diagonal": float(np.abs(H - np.diag(np.diag(H))).max())}


@check("geist-smoothness")
def _() -> dict[str, float]:
    rng, most = np.random.default_rng(0), 0.0
    for _ in range(400):
        K = int(rng.integers(2, 8))
        most = max(most, float(np.linalg.norm(hessian(rng.integers(2, size=K) * 1.0, 2 * rng.normal(size=K)), 2)))
    return {"largest norm less 1": most - 1}


@check("geist-edge-step")
def _() -> dict[str, float]:
    edges = np.array([1e-2, 1e-3])
    rest = 0.5 * np.log((1 + edges) / (1 - edges)) - edges
    return {"rest over edge²": float((rest / edges**2).max()) - 0.01}


@check("geist-samme-is-adaboost")
def _() -> dict[str, float]:
    X, c = small_problem(K=2)
    expected = adaboost_scores(X, np.where(c == 0, 1.0, -1.0), 8)
    clf = sb.SAMMEClassifier(sb.learners.ClassTree(max_depth=1), n_estimators=8).fit(X, c)
    votes = clf.model_.scores(clf.model_.predictor(X))
    apart = votes[:, 0] - votes[:, 1]
    return {
        "scores apart, up to a factor": float(
            np.abs(apart / np.abs(apart).max() - expected / np.abs(expected).max()).max()
        )
    }


@check("geist-targets-printed")
def _() -> dict[str, float]:
    """Section 5.2.1 says that sm-boost's targets adapt: the share of targets that never change, zero-one cost."""
    rng = np.random.default_rng(0)
    U, c = rng.normal(scale=2.0, size=(200, 5)), rng.integers(5, size=200)
    fixed = np.where(np.eye(5)[c] == 1, -1, 1)
    return {"share of fixed targets": float((-np.sign(losses.SoftmaxCost().residual(U, c)) == fixed).mean())}


@check("geist-small-gradients")
def _() -> dict[str, float]:
    """Section 4: the gradient of an example is η₁²((1−η₁)² + Σ η_j²), zero only at η₁ = 0 or 1."""
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        psi = rng.normal(scale=2.0, size=4)
        g = softmax(psi)
        P = losses.SoftmaxCost().residual(0.5 * psi[None], np.array([0]))[0]  # in units of U = ψ/2: twice the gradient
        formula = g[0] ** 2 * ((1 - g[0]) ** 2 + (g[1:] ** 2).sum())
        worst = max(worst, abs(P @ P / 4 - formula))
    return {"worst": float(worst)}


# ---- the lecture ----------------------------------------------------------------------------------------------------

CLUSTERS = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
SHARES = np.array([0.4, 0.2, 0.4])
JOINT = np.array([[-1, 1], [0, np.sqrt(2)], [1, 1]]) / np.sqrt(2)


@check("lecture-ova-example")
def _() -> dict[str, float]:
    """The example with its clusters as points: all linear classifiers of the middle class, by brute force."""
    angles = np.linspace(0, 2 * np.pi, 721)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    offsets = np.linspace(-2, 2, 401)
    yes = (W @ CLUSTERS.T)[:, None, :] + offsets[:, None] > 0  # (angles, offsets, clusters)
    middle = (SHARES * (yes != np.array([False, True, False]))).sum(axis=-1)
    joint = SHARES[(CLUSTERS @ JOINT.T).argmax(axis=1) != np.arange(3)].sum()
    alone = SHARES[(CLUSTERS @ JOINT[1] > 0) != np.array([False, True, False])].sum()
    return {
        "best for the middle class": 100 * float(middle.min()),
        "together": 100 * float(joint),
        "the middle hyperplane alone": 100 * float(alone),
    }


@check("lecture-ovo-risk")
def _() -> dict[str, float]:
    """Pairwise answers that are wrong with probability at most r: error of the votes less r (k − 1)."""
    rng, worst = np.random.default_rng(0), -np.inf
    for K, r in ((3, 0.05), (5, 0.03), (8, 0.02)):
        n = 4000
        c = rng.integers(K, size=n)
        votes = np.zeros((n, K))
        for a in range(K):
            for b in range(a + 1, K):
                says_a = rng.random(n) < 0.5
                says_a = np.where(c == a, rng.random(n) >= r, np.where(c == b, rng.random(n) < r, says_a))
                votes[np.arange(n), np.where(says_a, a, b)] += 1
        worst = max(worst, float((votes.argmax(axis=1) != c).mean() - r * (K - 1)))
    return {"beyond r (k - 1)": worst}


@check("lecture-bits")
def _() -> dict[str, float]:
    """All errors of up to ⌊(d − 1)/2⌋ bits of a code of distance d are corrected: how many are not."""
    M = cw.exhaustive(5)
    d = int(cw.min_hamming(M))
    rng, wrong = np.random.default_rng(0), 0
    for k in range(len(M)):
        for _ in range(200):
            word = M[k].copy()
            flips = rng.choice(M.shape[1], size=(d - 1) // 2, replace=False)
            word[flips] *= -1
            wrong += int((M != word).sum(axis=1).argmin() != k)
    return {"not corrected": float(wrong)}


@check("lecture-code")
def _() -> dict[str, float]:
    """The slides' code, which stands below "error-correcting": bits that it corrects."""
    words = ["---+--", "+-----", "-++-+-", "++----", "++--+-", "--++-+", "--+---", "-+-+--"]
    M = np.array([[1 if letter == "+" else -1 for letter in word] for word in words])
    return {"bits corrected": float(cw.bits_corrected(M)), "minimum distance": float(cw.min_hamming(M))}


@check("lecture-imbalance-printed")
def _() -> dict[str, float]:
    """The slides say that OVA's training sets are less likely imbalanced than OVO's: shares of the smaller side."""
    sides = {}
    for name, code in {"ova": cw.one_vs_all(10), "ovo": cw.all_pairs(10)}.items():
        sides[name] = min((column > 0).sum() / (column != 0).sum() for column in code.T)
    return {"OVO less OVA, ten equal classes": float(sides["ovo"] - sides["ova"])}


@check("lecture-mh-bound")
def _() -> dict[str, float]:
    X, c = small_problem(K=4, n=120)
    clf = sb.AdaBoostMHClassifier(n_estimators=15).fit(X, c)
    F = 2 * clf.decision_function(X)  # scores are ½ ⟨F, y⟩
    Y = 2 * np.eye(4)[c] - 1
    return {"Hamming loss above the exponential one": float(((Y * F <= 0) - np.exp(-Y * F)).mean())}


@check("lecture-mh-normaliser")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    D = rng.dirichlet(np.ones(60)).reshape(20, 3)
    Y, h = rng.choice([-1, 1], size=(20, 3)), rng.choice([-1, 1], size=(20, 3))
    e = D[Y != h].sum()
    alpha = 0.5 * np.log((1 - e) / e)
    return {"worst": float(abs((D * np.exp(-alpha * Y * h)).sum() - 2 * np.sqrt(e * (1 - e))))}


@check("lecture-svm-dual")
def _() -> dict[str, float]:
    """The dual value of the fitted multipliers, which obey the constraints, is the primal value."""
    X, c = small_problem(K=3, n=60)
    C, rows = 0.5, np.arange(60)
    clf = sb.MulticlassSVC(kernel="rbf", gamma=0.5, C=C, fit_intercept=False, tol=1e-10).fit(X, c)
    a = np.zeros((60, 3))
    a[clf.support_] = clf.dual_coef_
    kernel = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    S = kernel @ a  # the scores
    dual = a[rows, c].sum() - 0.5 * (a * S).sum()
    hinge = 1 + np.where(np.eye(3, dtype=bool)[c], -np.inf, S).max(axis=1) - S[rows, c]
    primal = 0.5 * (a * S).sum() + C * np.maximum(0, hinge).sum()
    others = np.where(np.eye(3, dtype=bool)[c], 0.0, a)
    return {
        "primal less dual": float(abs(primal - dual) / primal),
        "constraints": float(max(np.abs(a.sum(axis=1)).max(), others.max(), a[rows, c].max() - C)),
    }


@check("lecture-surrogate-printed")
def _() -> dict[str, float]:
    """The slide's surrogate labels (m_lj if y = l, else −m_lj) for l = 1: share of labels that are not m_{y_i j}."""
    M = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1], [-1, -1, -1]])
    c = np.arange(40) % 4
    slide = np.where((c == 0)[:, None], M[0], -M[0])
    return {"share of other labels": float((slide != M[c]).mean())}
