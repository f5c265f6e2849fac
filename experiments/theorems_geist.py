"""Checks of the propositions and formulas of Geist's paper."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost.datasets import make_long_servedio
from simplexboost.parts import losses

from .theorems import check
from .theorems_mcboost import adaboost_scores, small_problem


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


@check("geist-proposition1")
def _() -> dict[str, float]:
    """Expected costs of a few labels: the least risk over all distributions of labels, by linear programming, is that
    of one label, and no other distribution has it.
    """
    rng, apart, gain = np.random.default_rng(0), 0.0, -np.inf
    for K in (2, 3, 6):
        for _ in range(20):
            cost = rng.uniform(size=K)
            one_hot = np.eye(K)[cost.argmin()]
            found = linprog(cost, A_eq=np.ones((1, K)), b_eq=[1.0], bounds=(0, 1)).x
            apart = max(apart, float(np.abs(found - one_hot).max()))
            gain = max(gain, float((cost.min() - rng.dirichlet(np.ones(K), size=200) @ cost).max()))
    return {"minimiser apart from one label": apart, "other rules below it": gain}


@check("geist-lipschitz")
def _() -> dict[str, float]:
    """The norm of the Hessian for costs anywhere in [0, 1], also at its ends, and scores small and large."""
    rng, most = np.random.default_rng(0), 0.0
    for _ in range(400):
        K = int(rng.integers(2, 8))
        psi = rng.choice([0.5, 2.0, 5.0]) * rng.normal(size=K)
        for cost in (rng.uniform(size=K), rng.integers(2, size=K) * 1.0):
            most = max(most, float(np.linalg.norm(hessian(cost, psi), 2)))
    return {"largest norm less 1": most - 1}


@check("geist-lower-risk")
def _() -> dict[str, float]:
    """Section 4: one example's η₁ raised by ε, the other labels lowered; the risk should fall by ε/N."""
    rng, worst = np.random.default_rng(0), 0.0
    for K in (2, 4, 7):
        g, c = softmax(rng.normal(size=(30, K))), rng.integers(K, size=30)
        risk = lambda g, c=c: 1 - float(g[np.arange(30), c].mean())  # noqa: E731
        for i, part in enumerate(rng.uniform(0.01, 0.5, size=30)):
            rest = 1 - g[i, c[i]]
            new = g.copy()
            new[i] *= 1 - part  # the other labels keep their proportions
            new[i, c[i]] = g[i, c[i]] + part * rest
            worst = max(worst, abs(risk(g) - risk(new) - part * rest / 30))
    return {"worst": float(worst)}


@check("geist-footnote1")
def _() -> dict[str, float]:
    """The soft-max of ψ(x, y) + φ(x) is that of ψ(x, y)."""
    rng = np.random.default_rng(0)
    psi, phi = rng.normal(size=(200, 5)), 3 * rng.normal(size=(200, 1))
    return {"worst": float(np.abs(softmax(psi + phi) - softmax(psi)).max())}


@check("geist-norm-of-h")
def _() -> dict[str, float]:
    """‖h‖² over the examples of classifiers with answers ±1, for trees that were learned: apart from K."""
    X, c = small_problem(K=4, n=80)
    clf = sb.SoftmaxBoostClassifier("stump", n_estimators=5, random_state=0).fit(X, c)
    worst = 0.0
    for t in range(1, 6):
        before, after = (clf.model_.first(s).predictor(X) for s in (t - 1, t))
        step = after - before  # (n, K), the step times h
        h = step / np.abs(step).max()
        worst = max(worst, abs(float((h**2).sum(axis=1).mean()) - 4))
    return {"worst": worst}


@check("geist-log-sum")
def _() -> dict[str, float]:
    """Σ M_i log M_i − M log M over random partitions of M, some of them with empty parts."""
    rng, most = np.random.default_rng(0), -np.inf
    for _ in range(500):
        K, M = int(rng.integers(2, 20)), int(rng.integers(2, 5000))
        parts = rng.multinomial(M, rng.dirichlet(np.full(K, 0.3))).astype(float)
        some = parts[parts > 0]
        most = max(most, float((some * np.log(some)).sum() - M * np.log(M)) / M)
    return {"largest excess per pair": most}


@check("geist-majority")
def _() -> dict[str, float]:
    """Clean examples of Long and Servedio's problem on which a vote of the 21 bits is wrong."""
    d = make_long_servedio(random_state=0)
    X, y = np.concatenate([d.X_train, d.X_test]), np.concatenate([d.y_train, d.y_test])
    return {"wrong votes": float(((X.sum(axis=1) > 10.5) != y).sum())}


@check("geist-conservative")
def _() -> dict[str, float]:
    """R_M(h*) of the stumps that are best on M = N sampled pairs, beside ⟨∇R_N, h*⟩: the mean of the second less that
    of the first over 200 samples, at scores on the way; the best of a sample looks better there than everywhere.
    """
    rng = np.random.default_rng(0)
    X, c = small_problem(seed=1, n=120, K=3)
    edges = [np.convolve(np.unique(x), [0.5, 0.5], "valid") for x in X.T]
    one = np.array([np.where(X[:, j] <= t, 1.0, -1.0) for j, ts in enumerate(edges) for t in ts])
    S = np.vstack([one, -one])  # (stumps, n)
    psi, gaps = np.zeros((120, 3)), []
    for _ in range(200):
        g = softmax(psi)
        delta = (1 - np.eye(3)[c]) - (1 - g[np.arange(120), c])[:, None]  # cost less expected cost
        drawn = rng.multinomial(120, (g / 120).ravel()).reshape(g.shape)  # M = N pairs
        sampled = drawn * delta / 120
        h = S[(S @ sampled).argmax(axis=0)].T
        gaps.append(float((g * delta * h).sum() / 120 - (sampled * h).sum()))
        psi -= float((sampled * h).sum()) * h
    return {"inner product less R_M": float(np.mean(gaps))}


class CountingTree(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that notes how many rows it is fitted to."""

    rows: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """As any tree."""
        self.rows.append(len(X))
        return super().fit(X, y, sample_weight=sample_weight)


@check("geist-rows")
def _() -> dict[str, float]:
    """Rows that all trees of a round are fitted to: sm-boost with M = N less AdaBoost.MH, divided by N."""
    n, rounds = 200, 10
    X, c = small_problem(K=4, n=n)
    counts = []
    tree = CountingTree(max_leaf_nodes=12)
    for clf in (
        sb.SoftmaxBoostClassifier(tree, n_pairs="n", n_estimators=rounds, random_state=0),
        sb.AdaBoostMHClassifier(tree, learner_mode="separate", n_estimators=rounds, random_state=0),
    ):
        CountingTree.rows.clear()
        clf.fit(X, c)
        counts.append(sum(CountingTree.rows) / (n * clf.n_iter_))
    return {"rows over N, sm-boost less AdaBoost.MH": counts[0] - counts[1], "sm-boost's less 1": counts[0] - 1}


@check("geist-risk-printed")
def _() -> dict[str, float]:
    """The first line of (3) beside its second line, which has the probability once."""
    rng = np.random.default_rng(0)
    g, cost = softmax(rng.normal(size=(50, 4))), rng.uniform(size=(50, 4))
    return {"lines apart": float(abs((g * g * cost).sum(axis=1).mean() - (g * cost).sum(axis=1).mean()))}


@check("geist-signs-printed")
def _() -> dict[str, float]:
    """Algorithm 3 ends with the arg max of the signs of the scores: share of examples where several classes have it."""
    X, c = small_problem(K=5, n=300)
    F = sb.AdaBoostMHClassifier(n_estimators=20).fit(X, c).decision_function(X)
    signs = np.sign(F)
    return {"share of ties": float(((signs == signs.max(axis=1, keepdims=True)).sum(axis=1) > 1).mean())}


@check("geist-edge-step")
def _() -> dict[str, float]:
    edges = np.array([1e-2, 1e-3])
    rest = 0.5 * np.log((1 + edges) / (1 - edges)) - edges
    return {"rest over edge²": float((rest / edges**2).max()) - 0.01}


@check("geist-samme-is-adaboost")
def _() -> dict[str, float]:
    X, c = small_problem(K=2)
    expected = adaboost_scores(X, np.where(c == 0, 1.0, -1.0), 8)
    clf = sb.SAMMEClassifier(sb.parts.learners.ClassTree(max_depth=1), n_estimators=8).fit(X, c)
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
    """Section 4: the squared gradient of an example is η₁²((1−η₁)² + Σ η_j²)."""
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        psi = rng.normal(scale=2.0, size=4)
        g = softmax(psi)
        P = losses.SoftmaxCost().residual(0.5 * psi[None], np.array([0]))[0]  # in units of U = ψ/2: twice the gradient
        formula = g[0] ** 2 * ((1 - g[0]) ** 2 + (g[1:] ** 2).sum())
        worst = max(worst, abs(P @ P / 4 - formula))
    return {"worst": float(worst)}


@check("geist-small-where")
def _() -> dict[str, float]:
    """η₁ (1 − η₁), which is small only near 0 and 1, less the root of an example's share of the squared gradient: not
    positive where a small share asks for η₁ ≈ 0 or 1.
    """
    rng, worst = np.random.default_rng(0), -np.inf
    for K in (2, 3, 5, 10):
        g = softmax(rng.choice([0.3, 2.0, 6.0], size=(500, 1)) * rng.normal(size=(500, K)))
        own = g[:, 0]
        share = own**2 * ((1 - own) ** 2 + (g[:, 1:] ** 2).sum(axis=1))
        worst = max(worst, float((own * (1 - own) - np.sqrt(share)).max()))
    return {"beyond the root of the share": worst}
