"""Checks of the theorems of Mukherjee and Schapire."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

import simplexboost as sb
from simplexboost import games, losses

from .theorems import check
from .theorems_mcboost import small_problem


def random_space(rng: np.random.Generator, n: int = 5, K: int = 3, members: int = 6) -> games.Space:
    """Classifiers that name random classes, with a bias to the truth."""
    c = rng.integers(K, size=n)
    H = np.where(rng.random((n, members)) < 0.45, c[:, None], rng.integers(K, size=(n, members)))
    return games.Space(H, c, K)


@check("mukherjee-lemma2")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    spaces = [random_space(rng) for _ in range(12)]
    gaps = [abs(games.largest_edge(s, condition="m1") - games.largest_edge(s, condition="mh")) for s in spaces]
    return {"edges apart": max(gaps)}


@check("mukherjee-theorem3")
def _() -> dict[str, float]:
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(30):
        space = random_space(rng)
        wrong += int(games.largest_edge(space, condition="uniform") > 1e-6 and not games.is_boostable(space))
    return {"meet the condition, not boostable": float(wrong)}


@check("mukherjee-theorem5")
def _() -> dict[str, float]:
    space = games.example("windows")
    return {
        "not boostable": float(not games.is_boostable(space)),
        "edge": games.largest_edge(space, condition="uniform"),
    }


@check("mukherjee-theorem6")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    spaces = [games.example("windows"), *(random_space(rng) for _ in range(12))]
    gaps = [abs(games.largest_edge(s, condition="mr") - max(games.best_margin(s), 0.0)) for s in spaces]
    return {"edge and margin apart": max(gaps)}


@check("mukherjee-figure1")
def _() -> dict[str, float]:
    space = games.example("samme")
    short = 0.25 - games.largest_edge(space, condition="samme")
    return {"edge short of 1/4": short, "boostable": float(games.is_boostable(space))}


@check("mukherjee-samme-lazy")
def _() -> dict[str, float]:
    """SAMME on Figure 1's data, the cheaper of h1 and h2 in every round: its loss falls, its error does not."""
    space = games.example("samme")
    n, K = space.H.shape[0], space.K
    votes, w = np.zeros((n, K)), np.full(n, 1 / n)
    for _ in range(200):
        errors = [(w * (space.H[:, j] != space.c)).sum() for j in range(space.H.shape[1])]
        h, e = space.H[:, int(np.argmin(errors))], min(errors)
        alpha = np.log((1 - e) / e) + np.log(K - 1)
        votes[np.arange(n), h] += alpha
        w = w * np.exp(alpha * (h != space.c))
        w /= w.sum()
    f = votes - votes.mean(axis=1, keepdims=True)  # the scores of Zhu et al. sum to zero
    loss = np.exp(-f[np.arange(n), space.c] / (K - 1)).mean()
    return {
        "loss after 200 rounds": float(loss),
        "one half less the error": 0.5 - float((votes.argmax(1) != space.c).mean()),
    }


def enumerated(t: int, b: Any, s: Any, loss: Any) -> float:
    """The expected loss after t votes drawn from b, by trying all of them."""
    return float(
        sum(np.prod([b[k] for k in path]) * loss(np.array(s) + np.bincount(path, minlength=len(b)))
            for path in product(range(len(b)), repeat=t))
    )  # fmt: skip


@check("mukherjee-walks")
def _() -> dict[str, float]:
    worst = 0.0
    for K, t, edge in ((2, 5, 0.1), (3, 5, 0.2), (4, 4, 0.0)):
        b, s = games.uniform_baseline(K, edge), [0, 1, *([0] * (K - 2))]
        for name, loss in (("zero-one", games.ZeroOne()), ("exponential", games.ExponentialLoss(0.3))):
            value = games.fixed_potential(t, b, s, name, 0.3 if name == "exponential" else None)
            worst = max(worst, abs(value - enumerated(t, b, s, loss)))
    return {"worst": worst}


@check("mukherjee-theorem13")
def _() -> dict[str, float]:
    b, s, eta, t = games.uniform_baseline(3, 0.2), [0, 1, -1], 0.4, 3
    a = [1 - (b[0] + b[k]) + np.exp(eta) * b[k] + np.exp(-eta) * b[0] for k in (1, 2)]
    true = enumerated(t, b, s, games.ExponentialLoss(eta))
    return {"corrected": abs(sum(a[k - 1] ** t * np.exp(eta * (s[k] - s[0])) for k in (1, 2)) - true)}


@check("mukherjee-theorem13-printed")
def _() -> dict[str, float]:
    b, s, eta, t = games.uniform_baseline(3, 0.2), [0, 1, -1], 0.4, 3
    a = [1 - (b[0] + b[k]) + np.exp(eta) * b[k] + np.exp(-eta) * b[0] for k in (1, 2)]
    printed = sum(a[k - 1] ** t * np.exp(eta * (k + 1) * (s[k] - s[0])) for k in (1, 2))
    return {"printed": abs(printed - enumerated(t, b, s, games.ExponentialLoss(eta)))}


@check("mukherjee-kappa")
def _() -> dict[str, float]:
    edges = np.linspace(0.01, 0.99, 50)
    gaps = [games.kappa(g, np.log(1 + g), K) - np.exp(-(g**2) / 2) for g in edges for K in (2, 3, 10, 100)]
    return {"above exp(-edge²/2)": float(max(gaps))}


@check("mukherjee-exponential-bound-printed")
def _() -> dict[str, float]:
    b = games.uniform_baseline(6, 0.0)
    return {"bound less 1, k = 6, no edge": float(games.fixed_potential(10, b, loss="exponential", eta=1e-4)) - 1}


@check("mukherjee-strict-printed")
def _() -> dict[str, float]:
    b = games.uniform_baseline(2, 0.1)
    printed = enumerated(2, b, [0, 0], lambda s: float(s[0] < s[1]))
    return {"true less printed, k = 2, T = 2": float(games.fixed_potential(2, b)) - printed}


@check("mukherjee-uniform-printed")
def _() -> dict[str, float]:
    best, _ = games.best_fixed_potential(6, 3, 0.4)
    return {"best less uniform": float(best - games.fixed_potential(6, games.uniform_baseline(3, 0.4)))}


@check("mukherjee-uniform-no-edge")
def _() -> dict[str, float]:
    gaps = [
        games.best_fixed_potential(T, K, 0.0)[0] - games.fixed_potential(T, games.uniform_baseline(K, 0.0))
        for K in (3, 4, 6)
        for T in range(1, 11)
    ]
    return {"best less uniform": float(max(gaps))}


@check("mukherjee-lemma18")
def _() -> dict[str, float]:
    worst = 0.0
    for K, edge, s in ((3, 0.2, [1, 1, 0]), (3, 0.0, [0, 0, 0]), (4, 0.1, [0, 1, 0, 0])):
        after = [games.minimal_potential(2, K, edge, np.array(s) + e) for e in np.eye(K, dtype=int)]
        favours = np.column_stack([-np.ones(K - 1), np.eye(K - 1)])  # b_l − b_1 ≤ −γ
        best = linprog(-np.array(after), favours, np.full(K - 1, -edge), np.ones((1, K)), [1.0])
        worst = max(worst, abs(games.minimal_potential(3, K, edge, s) + best.fun))
    return {"worst": worst}


@check("mukherjee-corollary15")
def _() -> dict[str, float]:
    gaps = [
        abs(games.game_potential(T, 3, "mr", edge) - games.minimal_potential(T, 3, edge))
        for T in (1, 2, 3, 4)
        for edge in (0.0, 0.2)
    ]
    return {"values apart": float(max(gaps))}


@check("mukherjee-theorem9")
def _() -> dict[str, float]:
    """The optimal strategy against the windows, which meet the minimal condition: it never ends above φ_T(0)."""
    played = [
        games.play(games.make_game("minimal", K=3, T=T, edge=1 / 6), games.example("windows")) for T in (5, 20, 60)
    ]
    return {
        "end above the bound": max(float(p.potential[-1] - p.potential[0]) for p in played),
        "largest rise": max(float(np.diff(p.potential).max()) for p in played if p.kept),
    }


@check("mukherjee-lemma19")
def _() -> dict[str, float]:
    worst = 0.0
    for K, T in ((3, 6), (4, 4)):
        eta = 0.25 * min(1 / (K - 1), 1 / T)
        for edge in (0.0, 0.05):
            minimal = games.minimal_potential(T, K, edge, loss="exponential", eta=eta)
            uniform = games.fixed_potential(T, games.uniform_baseline(K, edge), loss="exponential", eta=eta)
            worst = max(worst, abs(minimal - uniform))
    return {"worst": float(worst)}


@check("mukherjee-theorem20-printed")
def _() -> dict[str, float]:
    K, T = 10, 9
    discrepancy = games.ExponentialLoss(0.25 * min(1 / (K - 1), 1 / T)).discrepancy(K, T)
    return {"discrepancy less e^(1/4)": float(discrepancy - np.exp(0.25))}


@check("mukherjee-theorem20")
def _() -> dict[str, float]:
    gaps = []
    for K, T in ((3, 5), (10, 9), (26, 40)):
        discrepancy = games.ExponentialLoss(0.25 * min(1 / (K - 1), 1 / T)).discrepancy(K, T)
        gaps.append(float(discrepancy - (K - 1) * np.exp(0.25)))
    return {"beyond (k - 1) e^(1/4)": max(gaps)}


@check("mukherjee-theorem21")
def _() -> dict[str, float]:
    """Where η > kγ/(1 − γ) the bound (k − 1) κ^T is above 1 for every T, since κ is: one less κ."""
    worst = max(
        1 - games.kappa(edge, factor * K * edge / (1 - edge), K)
        for K in (2, 3, 10, 26)
        for edge in (0.001, 0.01, 0.1, 0.3)
        for factor in (1.0, 1.1, 2.0)
    )
    return {"one less κ": float(worst)}


# ---- AdaBoost.MM ----------------------------------------------------------------------------------------------------


def fitted(step: str) -> tuple[Any, Any, Any]:
    """AdaBoost.MM on a small problem: history, risks before and after every round, labels."""
    X, c = small_problem(K=4, n=120)
    clf = sb.AdaBoostMMClassifier(step=step, n_estimators=25).fit(X, c)
    return clf, np.concatenate([[3.0], clf.history_["risk"]]), (X, c)


@check("mukherjee-lemma23")
def _() -> dict[str, float]:
    out = {}
    for step in ("edge", "exact"):
        clf, risk, _ = fitted(step)
        out[f"{step} step"] = float((risk[1:] / risk[:-1] - np.sqrt(1 - clf.history_["edge"] ** 2)).max())
    return out


@check("mukherjee-lemma23-printed")
def _() -> dict[str, float]:
    """(58) has a minus before the root: how far the true fall is from it."""
    clf, risk, (X, c) = fitted("exact")
    F, gaps = np.zeros((len(c), 4)), []
    rows = np.arange(len(c))
    for t, term in enumerate(clf.model_.terms):
        E = np.exp(F - F[rows, c][:, None])
        E[rows, c] = 0
        h = (term.hypothesis.outputs(X) @ clf.model_.Y.T).argmax(axis=1)
        moved = (E[h == c].sum() + E[rows, h][h != c].sum()) / E.sum()
        delta = clf.history_["edge"][t]
        root = np.sqrt(max(moved**2 - delta**2, 0.0))
        gaps.append([risk[t + 1] / risk[t] - (1 - moved + root), risk[t + 1] / risk[t] - (1 - moved - root)])
        F = clf.model_.first(t + 1).predictor(X)
    corrected, printed = np.abs(gaps).max(axis=0)
    return {"printed": float(printed), "corrected": float(corrected)}


@check("mukherjee-theorem25")
def _() -> dict[str, float]:
    clf, _, (X, c) = fitted("edge")
    worst = -np.inf
    for t in range(clf.n_iter_):
        U = clf.model_.scores(clf.model_.first(t + 1).predictor(X))
        worst = max(worst, float((losses.margins(U, c) <= 0).mean() - clf.history_["bound"][t]))
    return {"error above the bound": worst}


@check("mukherjee-lemma33-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=(9, 4)), rng.integers(4, size=9)
    risk = losses.MM().value(0.5 * F, c).mean()
    i, k = np.nonzero(np.arange(4) != c[:, None])
    return {"risk less that of the triples": float(risk - np.exp(F[i, k] - F[i, c[i]]).mean())}


@check("mukherjee-lemma34")
def _() -> dict[str, float]:
    """AdaBoost on the triples (x, y, l) with answers 1[h = l] − 1[h = y] and MM's classifiers has MM's steps."""
    clf, _, (X, c) = fitted("edge")
    i, k = np.nonzero(np.arange(4) != c[:, None])
    w, worst = np.full(len(i), 1 / len(i)), 0.0
    for t, term in enumerate(clf.model_.terms):
        h = (term.hypothesis.outputs(X) @ clf.model_.Y.T).argmax(axis=1)[i]
        answers = (h == k).astype(float) - (h == c[i])  # the label of every triple is −1
        edge = -(w * answers).sum()
        alpha = 0.5 * np.log((1 + edge) / (1 - edge))
        worst = max(worst, abs(alpha - clf.history_["step"][t]))
        w = w * np.exp(alpha * answers)
        w /= w.sum()
    return {"steps apart": float(worst)}
