"""Checks of what Mukherjee and Schapire say of AdaBoost.MM: its costs, its steps, its bound, what it equals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost import theory
from simplexboost.parts import losses

from .theorems import check
from .theorems_conditions import margin, random_space
from .theorems_games import Minimal
from .theorems_mcboost import small_problem

# ---- Algorithm 1 over a finite space --------------------------------------------------------------------------------


@dataclass
class Run:
    """A run of a booster that takes the classifier of the largest edge.

    Attributes
    ----------
    chosen, edges, steps : of every round
    losses : Σ over examples and rivals before the first and after every round
    errors : training errors after every round, ties counted as errors
    """

    chosen: list[int] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)


def algorithm1(H: Any, c: Any, K: int, rounds: int) -> Run:
    """AdaBoost.MM with step (61), written down from Algorithm 1: votes, cost matrix, edge, step."""
    run, rows = Run(), np.arange(len(c))
    F = np.zeros((len(c), K))
    for _ in range(rounds):
        C = np.exp(F - F[rows, c][:, None])
        C[rows, c] = 0.0
        C[rows, c] = -C.sum(axis=1)
        run.losses.append(float(-C[rows, c].sum()))
        edges = -np.take_along_axis(C, H, axis=1).sum(axis=0) / run.losses[-1]
        j = int(edges.argmax())
        alpha = 0.5 * np.log((1 + edges[j]) / (1 - edges[j]))
        F[rows, H[:, j]] += alpha
        rivals = np.where(np.arange(K) == c[:, None], -np.inf, F).max(axis=1)
        run.chosen.append(j)
        run.edges.append(float(edges[j]))
        run.steps.append(float(alpha))
        run.errors.append(float((F[rows, c] <= rivals).mean()))
    return run


def adaboost(M: Any, rounds: int) -> Run:
    """AdaBoost over answers M (examples, classifiers) in [−1, 1], positive where an answer is right."""
    run, w = Run(), np.full(len(M), 1 / len(M))
    for _ in range(rounds):
        edges = w @ M
        j = int(edges.argmax())
        alpha = 0.5 * np.log((1 + edges[j]) / (1 - edges[j]))
        w = w * np.exp(-alpha * M[:, j])
        w /= w.sum()
        run.chosen.append(j)
        run.edges.append(float(edges[j]))
        run.steps.append(float(alpha))
    return run


def stumps(X: Any, K: int) -> Any:
    """Answers (n, stumps) of all stumps on seven thresholds of a feature that name one class on either side."""
    cuts = [(j, t) for j in range(X.shape[1]) for t in np.quantile(X[:, j], np.linspace(0.1, 0.9, 7))]
    return np.array([np.where(X[:, j] <= t, a, b) for j, t in cuts for a in range(K) for b in range(K) if a != b]).T


@check("mukherjee-lemma34-selection")
def _() -> dict[str, float]:
    """Algorithm 1 and AdaBoost on the triples (x, y, l), both over the same stumps, each with its own choice."""
    X, c = small_problem(K=4, n=121)
    H = stumps(X, 4)
    i, k = np.nonzero(np.arange(4) != c[:, None])
    M = (H[i] == c[i][:, None]).astype(float) - (H[i] == k[:, None])  # the label of a triple is −1
    mm, ada = algorithm1(H, c, 4, 60), adaboost(M, 60)
    return {
        "rounds of 60 with another classifier": float(sum(a != b for a, b in zip(mm.chosen, ada.chosen, strict=True))),
        "steps apart": float(np.abs(np.subtract(mm.steps, ada.steps)).max()),
    }


@check("mukherjee-two-classes")
def _() -> dict[str, float]:
    """Algorithm 1 with two classes, and AdaBoost with labels ±1."""
    X, c = small_problem(K=2, n=121)
    H = stumps(X, 2)
    mm, ada = algorithm1(H, c, 2, 60), adaboost(np.where(H == c[:, None], 1.0, -1.0), 60)
    return {
        "rounds of 60 with another classifier": float(sum(a != b for a, b in zip(mm.chosen, ada.chosen, strict=True))),
        "steps apart": float(np.abs(np.subtract(mm.steps, ada.steps)).max()),
    }


@check("mukherjee-theorem25-boostable")
def _() -> dict[str, float]:
    """Algorithm 1 on the windows and on boostable random spaces until (k − 1) e^{−Tγ²/2} is below 0.01; γ is the
    margin, by a linear programme.
    """
    rng = np.random.default_rng(5)
    spaces = [theory.example("windows"), *(random_space(rng, n=12, members=12, bias=0.5) for _ in range(12))]
    tried, edges, product, second, tail = 0, [], [], [], []
    for space in spaces:
        z, _ = margin(space)
        if not 0.05 < z < 0.95:  # of margin 1: one classifier is right everywhere, and the step is infinite
            continue
        tried += 1
        T = int(np.ceil(2 * np.log((space.K - 1) / 0.009) / z**2))
        run = algorithm1(space.H, space.c, space.K, T)
        t = np.arange(1, T + 1)
        bound = (space.K - 1) * np.cumprod(np.sqrt(1 - np.square(run.edges)))
        fixed = (space.K - 1) * np.exp(-t * z**2 / 2)
        edges.append(z - min(run.edges))
        product.append(float((np.array(run.errors) - bound).max()))
        second.append(float((bound - fixed).max()))
        tail.append(float(fixed[-1]))
    return {
        "spaces": float(tried),
        "margin less the least edge": max(edges),
        "error above the product of the edges": max(product),
        "that product above (k - 1) exp(-Tγ²/2)": max(second),
        "largest (k - 1) exp(-Tγ²/2) at the end": max(tail),
    }


# ---- AdaBoost.MM as the library fits it -----------------------------------------------------------------------------


def fitted(step: str, rounds: int = 25, depth: int | None = None) -> tuple[Any, Any, Any]:
    """AdaBoost.MM on a small problem: the booster, risks before and after every round, the data."""
    X, c = small_problem(K=4, n=120)
    options = {} if depth is None else {"learner": sb.parts.learners.ClassTree(max_depth=depth)}
    clf = sb.AdaBoostMMClassifier(step=step, n_estimators=rounds, **options).fit(X, c)
    return clf, np.concatenate([[3.0], clf.history_["risk"]]), (X, c)


def moves(step: str) -> list[tuple[Any, float, float, float]]:
    """Of every round: E (n, K) with e^{F_l − F_y} and 0 for the true class, A₊, A₋, δ."""
    clf, _, (X, c) = fitted(step)
    F, rows, out = np.zeros((len(c), 4)), np.arange(len(c)), []
    for t, term in enumerate(clf.model_.terms):
        E = np.exp(F - F[rows, c][:, None])
        E[rows, c] = 0
        h = (term.hypothesis.outputs(X) @ clf.model_.Y.T).argmax(axis=1)
        right = h == c
        out.append((E, float(E[right].sum()), float(E[rows, h][~right].sum()), float(clf.history_["edge"][t])))
        F = clf.model_.first(t + 1).predictor(X)
    return out


@check("mukherjee-lemma23")
def _() -> dict[str, float]:
    out = {}
    for step in ("edge", "exact"):
        clf, risk, _ = fitted(step)
        out[f"{step} step"] = float((risk[1:] / risk[:-1] - np.sqrt(1 - clf.history_["edge"] ** 2)).max())
    return out


@check("mukherjee-lemma24")
def _() -> dict[str, float]:
    """The factor by which the loss changes for twenty steps α in every one of 25 rounds, less the lemma's factor."""
    worst = -np.inf
    for E, plus, minus, delta in moves("edge"):
        for alpha in np.linspace(0.05, 2.0, 20):
            factor = 1 + (np.expm1(alpha) * minus + np.expm1(-alpha) * plus) / E.sum()
            worst = max(worst, factor - (1 - np.sinh(alpha) * delta + np.cosh(alpha) - 1))
    return {"factor above the lemma's": float(worst)}


@check("mukherjee-bigger-drop")
def _() -> dict[str, float]:
    """The factors of one round with (62) and with (61) from the same state: the first is the smaller one."""
    gaps = []
    for E, plus, minus, delta in moves("edge"):
        exact, edge = 0.5 * np.log(plus / minus), np.arctanh(delta)
        factors = [1 + (np.expm1(a) * minus + np.expm1(-a) * plus) / E.sum() for a in (exact, edge)]
        gaps.append(factors[0] - factors[1])
    return {"least favourable difference of the factors": max(gaps), "mean difference": float(np.mean(gaps))}


@check("mukherjee-lemma23-printed")
def _() -> dict[str, float]:
    """(58) has a minus before the root: how far the true fall is from it."""
    _, risk, _ = fitted("exact")
    gaps = []
    for t, (E, plus, minus, delta) in enumerate(moves("exact")):
        moved = (plus + minus) / E.sum()
        root = np.sqrt(max(moved**2 - delta**2, 0.0))
        gaps.append([risk[t + 1] / risk[t] - (1 - moved + root), risk[t + 1] / risk[t] - (1 - moved - root)])
    corrected, printed = np.abs(gaps).max(axis=0)
    return {"printed": float(printed), "corrected": float(corrected)}


@check("mukherjee-theorem25-trees")
def _() -> dict[str, float]:
    """The library's AdaBoost.MM with trees of depth 4, for 40 rounds: the bound ends small enough to bind."""
    clf, _, (X, c) = fitted("edge", 40, depth=4)
    gaps = []
    for t in range(clf.n_iter_):
        U = clf.model_.scores(clf.model_.first(t + 1).predictor(X))
        gaps.append(float((losses.margins(U, c) <= 0).mean() - clf.history_["bound"][t]))
    return {
        "error above the bound": max(gaps),
        "bound after the last round": float(clf.history_["bound"][clf.n_iter_ - 1]),
    }


@check("mukherjee-lemma22")
def _() -> dict[str, float]:
    """Weighted states f within ±1: the optimal costs of the minimal game two rounds before its end, with steps η, and
    (56); both without their mean and divided by their size.
    """
    rng, out = np.random.default_rng(0), {}
    for eta in (0.01, 0.001):
        apart = 0.0
        for K in (3, 4):
            game = Minimal(K, eta, theory.ExponentialLoss(eta))
            for _ in range(20):
                s = tuple(int(v) for v in np.round(rng.uniform(-0.5, 0.5, size=K) / eta))
                f = eta * np.array(s)
                E = np.exp(f[1:] - f[0])
                ours, theirs = (scaled(v) for v in (np.array(game.after(2, s)), np.append(-E.sum(), E)))
                apart = max(apart, float(np.abs(ours - theirs).max()))
        out[f"optimal costs and (56) apart, η = {eta:g}"] = apart
    return out


def scaled(costs: Any) -> Any:
    """Costs without their mean, of norm 1."""
    centred = costs - costs.mean()
    return centred / np.linalg.norm(centred)


@check("mukherjee-lemma33-printed")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=(9, 4)), rng.integers(4, size=9)
    risk = losses.MM().value(0.5 * F, c).mean()
    i, k = np.nonzero(np.arange(4) != c[:, None])
    return {"risk less that of the triples": float(risk - np.exp(F[i, k] - F[i, c[i]]).mean())}
