"""Checks of the formulas of the lecture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost.parts import codewords as cw

from .theorems import check
from .theorems_mcboost import small_problem

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


@check("lecture-ova-combined")
def _() -> dict[str, float]:
    """The best linear yes-or-no classifier of every class, by brute force, and their combination by the rule of the
    slides: the first class that says yes, and the first of all where none does.
    """
    angles = np.linspace(0, 2 * np.pi, 721)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    yes = ((W @ CLUSTERS.T)[:, None, :] + np.linspace(-2, 2, 401)[:, None] > 0).reshape(
        -1, 3
    )  # (classifiers, clusters)
    errors = {k: (SHARES * (yes != np.eye(3, dtype=bool)[k])).sum(axis=-1) for k in range(3)}
    answers = np.array([yes[e.argmin()] for e in errors.values()])  # (classes, clusters)
    decided = answers.argmax(axis=0)
    return {
        "red against the others": 100 * float(errors[0].min()),
        "green against the others": 100 * float(errors[2].min()),
        "yes of the middle one": float(answers[1].sum()),
        "combined": 100 * float(SHARES[decided != np.arange(3)].sum()),
    }


@check("lecture-pairs")
def _() -> dict[str, float]:
    """The columns of the code of all pairs, less k(k − 1)/2."""
    return {"worst": float(max(abs(cw.AllPairs().matrix(k).shape[1] - k * (k - 1) / 2) for k in range(2, 12)))}


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
    M = cw.Exhaustive().matrix(5)
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
    for name, code in {"ova": cw.OneVsAllCode().matrix(10), "ovo": cw.AllPairs().matrix(10)}.items():
        sides[name] = min((column > 0).sum() / (column != 0).sum() for column in code.T)
    return {"OVO less OVA, ten equal classes": float(sides["ovo"] - sides["ova"])}


def hamming_fit() -> tuple[Any, Any]:
    """Labels ±1 of a small problem, (n, K), and the scores f of AdaBoost.MH after each of 15 rounds, (rounds, n, K)."""
    X, c = small_problem(K=4, n=120)
    model = sb.AdaBoostMHClassifier(n_estimators=15).fit(X, c).model_
    F = np.array([model.scores(model.first(t).predictor(X)) for t in range(1, 16)])
    return 2 * np.eye(4)[c] - 1, 2 * F  # scores are ½ ⟨F, y⟩


@check("lecture-mh-slide")
def _() -> dict[str, float]:
    """The slide's inequality with h = sgn(f_N) on both sides: left less right, the largest of the rounds."""
    Y, F = hamming_fit()
    h = np.sign(F)
    return {"left less right": float(((h != Y) - np.exp(-Y * h)).sum(axis=(1, 2)).max())}


@check("lecture-mh-scores")
def _() -> dict[str, float]:
    """The same with the scores f_N on the right side, which is what AdaBoost.MH makes small; its largest rise."""
    Y, F = hamming_fit()
    risks = np.exp(-Y * F).mean(axis=(1, 2))
    return {
        "left less right": float(((Y * F <= 0) - np.exp(-Y * F)).mean(axis=(1, 2)).max()),
        "largest rise": float(np.diff(risks).max()),
    }


@check("lecture-mh-minimised-printed")
def _() -> dict[str, float]:
    """The slide says that the right side, with h = sgn(f_N), is what is minimised: its largest rise in a round."""
    Y, F = hamming_fit()
    return {"largest rise": float(np.diff(np.exp(-Y * np.sign(F)).mean(axis=(1, 2))).max())}


@check("lecture-rademacher")
def _() -> dict[str, float]:
    """Mean over random signs of the largest correlation of a score w_l·x with them, less rΛ/√m; Σ‖w_l‖² ≤ Λ²."""
    rng, worst = np.random.default_rng(0), -np.inf
    for m, p, size in ((20, 3, 1.0), (100, 10, 2.5), (400, 2, 0.7)):
        X = rng.normal(size=(m, p))
        r = float(np.linalg.norm(X, axis=1).max())
        sums = np.linalg.norm(rng.choice([-1.0, 1.0], size=(2000, m)) @ X, axis=1)
        worst = max(worst, size * float(sums.mean()) / m - r * size / np.sqrt(m))  # all of Λ on one class is best
    return {"complexity less the bound": worst}


def hinge(W: Any, x: Any, y: int) -> tuple[float, int]:
    """The multiclass hinge loss of weights (K, p) on an example, and the worst rival."""
    scores = W @ x
    rival = int(np.where(np.arange(len(W)) == y, -np.inf, scores).argmax())
    return max(0.0, float(1 - scores[y] + scores[rival])), rival


@check("lecture-hinge-gradient")
def _() -> dict[str, float]:
    """The slide's gradients of the hinge loss beside finite differences, with and without a violated margin."""
    rng, worst = np.random.default_rng(0), 0.0
    for scale in (0.3, 3.0):
        for _ in range(50):
            W, x, y = scale * rng.normal(size=(4, 3)), rng.normal(size=3), int(rng.integers(4))
            value, rival = hinge(W, x, y)
            slide = np.zeros((4, 3))
            if value > 0:
                slide[y], slide[rival] = -x, x
            slopes = np.zeros((4, 3))
            for place in np.ndindex(4, 3):
                E = np.zeros((4, 3))
                E[place] = 1e-6
                slopes[place] = (hinge(W + E, x, y)[0] - hinge(W - E, x, y)[0]) / 2e-6
            worst = max(worst, float(np.abs(slopes - slide).max()))
    return {"worst": worst}


@check("lecture-lambda")
def _() -> dict[str, float]:
    """With λ = 1/C the regularised loss is the objective of the quadratic programme over C, at random weights."""
    rng, worst = np.random.default_rng(0), 0.0
    X, c = small_problem(K=3, n=40)
    for C in (0.1, 1.0, 7.0):
        W = rng.normal(size=(3, 3))
        losses_ = sum(hinge(W, x, y)[0] for x, y in zip(X, c, strict=True))
        programme = 0.5 * (W**2).sum() + C * losses_
        worst = max(worst, abs((0.5 / C * (W**2).sum() + losses_) * C / programme - 1))
    return {"worst": float(worst)}


@check("lecture-sgd-printed")
def _() -> dict[str, float]:
    """The slide's stochastic gradients with λ = 1/C: how far the objective of the programme is above its least value,
    as a part of it.
    """
    return {"above the least objective": sgd_excess(lambda n, C: 1 / C)}


@check("lecture-sgd-mean")
def _() -> dict[str, float]:
    """The same with λ = 1/(nC), since a uniform draw estimates the mean of the losses."""
    return {"above the least objective": sgd_excess(lambda n, C: 1 / (n * C))}


def sgd_excess(regular: Callable[[int, float], float]) -> float:
    """How far stochastic gradients with some λ end above the least objective, as a part of it."""
    X, c = small_problem(K=3, n=60)
    exact = sb.MulticlassSVC(kernel="linear", C=1.0, tol=1e-8, fit_intercept=False).fit(X, c)
    found = slide_sgd(X, c, regular(len(c), 1.0))
    return svm_objective(found, X, c, 1.0) / svm_objective(exact.coef_, X, c, 1.0) - 1


def svm_objective(W: Any, X: Any, c: Any, C: float) -> float:
    """½ Σ ‖w_l‖² + C Σ hinge."""
    return float(0.5 * (W**2).sum() + C * sum(hinge(W, x, y)[0] for x, y in zip(X, c, strict=True)))


def slide_sgd(X: Any, c: Any, regular: float, steps: int = 40_000) -> Any:
    """The slide's pseudo-code: an example at random, its worst rival, a step 1/(λt), the weights shrunk; (K, p), the
    mean of the last half.
    """
    rng = np.random.default_rng(0)
    W, total = np.zeros((c.max() + 1, X.shape[1])), 0.0
    for t, i in enumerate(rng.integers(len(c), size=steps), 1):
        eta = 1 / (regular * (t + 1))
        value, rival = hinge(W, X[i], c[i])
        if value > 0:
            W[c[i]] += eta * X[i]
            W[rival] -= eta * X[i]
        W *= 1 - eta * regular
        total = total + W if t > steps // 2 else 0.0
    return total / (steps - steps // 2)


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
