"""Checks of the theorems of Mukherjee and Schapire on weak-learning conditions.

Where a theorem says that two things are equal, one of the two is computed here, apart from `simplexboost.theory`:
margins and the hardest costs by linear programmes of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from simplexboost import theory
from simplexboost.theory.conditions import worst_baseline_cost

from .theorems import check

POSITIVE = 1e-6  # an edge or margin below this is rounding error of a linear programme


def random_space(
    rng: np.random.Generator, n: int = 5, K: int = 3, members: int = 6, bias: float = 0.45
) -> theory.Space:
    """Classifiers that name random classes, with a bias to the truth."""
    c = rng.integers(K, size=n)
    H = np.where(rng.random((n, members)) < bias, c[:, None], rng.integers(K, size=(n, members)))
    return theory.Space(H, c, K)


def leads(space: theory.Space) -> Any:
    """1[h = true class] − 1[h = l] of every example and rival l (rows) and every classifier (columns)."""
    i, k = np.nonzero(np.arange(space.K) != space.c[:, None])
    return (space.H[i] == space.c[i][:, None]).astype(float) - (space.H[i] == k[:, None])


def margin(space: theory.Space) -> tuple[float, Any]:
    """max z such that some λ in the simplex has H_λ(i, 1) − H_λ(i, l) ≥ z for all i and l ≠ 1; and that λ."""
    A = leads(space)
    m = A.shape[1]
    total = np.append(np.ones(m), 0.0)[None]
    best = linprog(
        np.append(np.zeros(m), -1.0),
        np.column_stack([-A, np.ones(len(A))]),
        np.zeros(len(A)),
        total,
        [1.0],
        [(0, None)] * m + [(None, None)],
    )
    return float(best.x[-1]), best.x[:-1]


def hardest_costs(space: theory.Space) -> tuple[float, Any]:
    """MR's condition as it is stated, over cost matrices: the least value, over weights w of pairs (i, l) with sum 1,
    of the best classifier's Σ w (1[h = 1] − 1[h = l]), and the cost matrix (n, K) of these w, the true class first.
    """
    A = leads(space)
    size, m = A.shape
    best = linprog(
        np.append(np.zeros(size), 1.0),
        np.column_stack([A.T, -np.ones(m)]),
        np.zeros(m),
        np.append(np.ones(size), 0.0)[None],
        [1.0],
        [(0, None)] * size + [(None, None)],
    )
    w = best.x[:-1].reshape(len(space.c), space.K - 1)
    return float(best.x[-1]), np.column_stack([-w.sum(axis=1), w])


def cheapest(space: theory.Space, C: Any) -> float:
    """The cost of the best classifier on a cost matrix (n, K), the true class first."""
    return float(np.take_along_axis(C, true_first(space), axis=1).sum(axis=0).min())


def true_first(space: theory.Space) -> Any:
    """The predictions as places in rows that begin with the true class: 0 is right, then the rivals in order."""
    H, c = space.H, space.c[:, None]
    return np.where(c == H, 0, np.where(c > H, H + 1, H))


def random_baseline(rng: np.random.Generator, n: int, K: int, edge: float) -> Any:
    """Distributions (n, K), the true class first, with so much more on it than on the strongest rival."""
    rivals = rng.dirichlet(np.ones(K - 1), size=n)  # scaled so that b_1 = max b_l + edge and the sum is 1
    scale = (1 - edge) / (1 + rivals.max(axis=1, keepdims=True))
    return np.column_stack([1 - scale * rivals.sum(axis=1, keepdims=True), scale * rivals])


@check("mukherjee-lemma2")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    spaces = [random_space(rng) for _ in range(12)]
    gaps = [
        abs(theory.solve_condition(s, condition="m1").edge - theory.solve_condition(s, condition="mh").edge)
        for s in spaces
    ]
    return {"edges apart": max(gaps)}


@check("mukherjee-theorem3-any-baseline")
def _() -> dict[str, float]:
    """The condition with the uniform baseline and with three random ones; the margin is at least the edge (proof)."""
    rng, met, boostable = np.random.default_rng(1), [], 0
    for i in range(30):
        space = random_space(rng, bias=(0.3, 0.6)[i % 2])
        z, _ = margin(space)
        boostable += int(z > POSITIVE)
        rows = [np.tile(theory.uniform_baseline(3, 0.1), (5, 1)), *(random_baseline(rng, 5, 3, 0.1) for _ in range(3))]
        edges = [theory.solve_condition(space, condition=B).edge for B in rows]
        met += [(edge, z) for edge in edges if edge > POSITIVE]
    return {
        "boostable spaces of 30": float(boostable),
        "pairs of a space and a baseline, of 120, that meet the condition": float(len(met)),
        "of them not boostable": float(sum(z <= POSITIVE for _, z in met)),
        "largest edge beyond the margin": max(edge - z for edge, z in met),
    }


@check("mukherjee-theorem4")
def _() -> dict[str, float]:
    """The proof's baseline is the votes H_λ themselves; where an example's margin is larger than the least one, weight
    is moved from the true class to its strongest rivals until it is not, which makes the baseline only worse.
    """
    rng, tried, short = np.random.default_rng(2), 0, []
    for i in range(30):
        space = random_space(rng, bias=(0.3, 0.6)[i % 2])
        z, weights = margin(space)
        if z <= POSITIVE:
            continue
        tried += 1
        B = np.array([lowered(row, z) for row in votes(space, weights)])
        short.append(z - theory.solve_condition(space, condition=B).edge)
    return {"boostable spaces of 30": float(tried), "margin less the edge that is met": max(short)}


def votes(space: theory.Space, weights: Any) -> Any:
    """H_λ (n, K), the true class first."""
    return np.stack([(true_first(space) == k) @ weights for k in range(space.K)], axis=1)


def lowered(b: Any, edge: float) -> Any:
    """A distribution whose first entry is beyond the others by more than the edge, made less so by filling up the
    largest of the others to one level.
    """
    low, high = 0.0, 1.0
    for _ in range(200):  # the level of the rivals: b_1 gives what they get
        level = (low + high) / 2
        given = np.maximum(level - b[1:], 0.0) * (b[1:] > 0)
        gap = b[0] - given.sum() - max(level, b[1:].max())
        low, high = (level, high) if gap > edge else (low, level)
    given = np.maximum(low - b[1:], 0.0) * (b[1:] > 0)
    if b[1:].max() <= 0:  # no rival has a vote: all of them share
        given = np.full(len(b) - 1, (b[0] - edge) / len(b))
    out = np.concatenate([[b[0] - given.sum()], b[1:] + given])
    out[0] = out[1:].max() + edge
    return out / out.sum()


@check("mukherjee-theorem5-any-baseline")
def _() -> dict[str, float]:
    """Windows that err towards the least likely label of the baseline: how much more than it every classifier costs."""
    rng, edge, least, margins = np.random.default_rng(3), 0.1, [], []
    for K in (3, 4, 5):
        m = int(np.ceil(4 * K / edge)) + 1
        right = int(np.floor(m * (0.5 + edge / K)))
        inside = (np.arange(m)[:, None] - np.arange(m)) % m < right  # (examples, windows)
        for B in (np.tile(theory.uniform_baseline(K, edge), (m, 1)), random_baseline(rng, m, K, edge)):
            wrong = 1 + B[:, 1:].argmin(axis=1)
            space = theory.Space(np.where(inside, 0, wrong[:, None]), np.zeros(m, dtype=int), K)
            C = np.zeros((m, K))
            C[np.arange(m), wrong] = 1.0
            least.append(cheapest(space, C) - float((C * B).sum()))
            margins.append(margin(space)[0])
    return {
        "least margin of six spaces": min(margins),
        "least cost of a classifier beyond the baseline": min(least),
    }


@check("mukherjee-theorem6-three-ways")
def _() -> dict[str, float]:
    """The margin of votes, MR's edge over cost matrices, and (13) with the worst of all baselines."""
    rng = np.random.default_rng(0)
    spaces = [
        theory.example("windows"),
        theory.example("samme"),
        *(random_space(rng, bias=(0.3, 0.6)[i % 2]) for i in range(12)),
    ]
    apart, at_margin, beyond, boostable = [], [], [], 0
    for space in spaces:
        z, _ = margin(space)
        value, hardest = hardest_costs(space)
        apart.append(abs(z - value))
        boostable += int(z > POSITIVE)
        tried = [hardest, *(random_costs(rng, len(space.c), space.K) for _ in range(200))]
        if z >= 0:  # with this edge (13) holds on all cost matrices
            at_margin += [cheapest(space, C) - float(worst_baseline_cost(C, z)[0].sum()) for C in tried]
        above = max(z, 0.0) + 0.01  # with a larger one it fails on the hardest
        beyond.append(float(worst_baseline_cost(hardest, above)[0].sum()) - cheapest(space, hardest))
    return {
        "boostable spaces of 14": float(boostable),
        "margin and MR's edge apart": max(apart),
        "(13) violated with the margin as edge": max(at_margin),
        "(13) kept with an edge larger by 0.01": max(beyond),
    }


def random_costs(rng: np.random.Generator, n: int, K: int) -> Any:
    """Costs (n, K) that are least for the true class, which comes first."""
    rivals = rng.exponential(size=(n, K - 1)) * (rng.random((n, K - 1)) < 0.7) * rng.exponential(size=(n, 1))
    return np.column_stack([np.zeros(n), rivals]) - rng.normal(size=(n, 1))


@check("mukherjee-figure1-both-sides")
def _() -> dict[str, float]:
    space = theory.example("samme")
    apart = abs(0.25 - theory.solve_condition(space, condition="samme").edge)
    return {"SAMME's edge and 1/4 apart": apart, "margin": margin(space)[0]}


@check("mukherjee-figure1-costs-printed")
def _() -> dict[str, float]:
    """Rows (0, t, t): the least cost of h1 and h2 is the smaller t, which is positive."""
    space, rng = theory.example("samme"), np.random.default_rng(0)
    rows = [np.outer(t, [0.0, 1.0, 1.0]) for t in rng.uniform(0.1, 1.0, size=(100, 2))]
    return {"largest least cost of h1 and h2, of 100 cost matrices": max(cheapest(space, C) for C in rows)}


@check("mukherjee-subsets")
def _() -> dict[str, float]:
    """Section 4.2.2 with subsets of ((1 − γ)/k + γ) m examples, for k = 4, m = 6 and k = 5, m = 10."""
    missed, short = [], []
    for K, n, size in ((4, 6, 2), (5, 10, 4)):
        space, p = theory.example("subsets", K=K, n=n, size=size), size / n
        gamma = (p - 1 / K) / (1 - 1 / K)
        missed.append(abs(theory.solve_condition(space, condition="uniform").edge - gamma))
        short.append(-theory.solve_condition(space, condition="mh").edge)
    return {"edge over the uniform baseline and γ apart": max(missed), "MH's edge below 0 by": min(short)}


@check("mukherjee-subsets-printed")
def _() -> dict[str, float]:
    """C • (1_h − B) a row, with −1 for the true class: what it is, less ½ − 1/k."""
    K, p = 4, 2 / 6
    gamma = (p - 1 / K) / (1 - 1 / K)
    space = theory.example("subsets", K=K)
    C = np.zeros((6, K))
    C[:, 0] = -1.0
    excess = (cheapest(space, C) - float((C @ theory.CONDITIONS["mh"].baseline(K, gamma)).sum())) / 6
    return {"printed and true apart": abs(excess - (0.5 - 1 / K)), "true": excess}


@check("mukherjee-samme-lazy")
def _() -> dict[str, float]:
    """SAMME on Figure 1's data, the cheaper of h1 and h2 in every round: its loss falls, its error does not."""
    space = theory.example("samme")
    n, K = space.H.shape[0], space.K
    votes_so_far, w = np.zeros((n, K)), np.full(n, 1 / n)
    for _ in range(200):
        errors = [(w * (space.H[:, j] != space.c)).sum() for j in range(space.H.shape[1])]
        h, e = space.H[:, int(np.argmin(errors))], min(errors)
        alpha = np.log((1 - e) / e) + np.log(K - 1)
        votes_so_far[np.arange(n), h] += alpha
        w = w * np.exp(alpha * (h != space.c))
        w /= w.sum()
    f = votes_so_far - votes_so_far.mean(axis=1, keepdims=True)  # the scores of Zhu et al. sum to zero
    loss = np.exp(-f[np.arange(n), space.c] / (K - 1)).mean()
    return {
        "loss after 200 rounds": float(loss),
        "one half less the error": 0.5 - float((votes_so_far.argmax(1) != space.c).mean()),
    }
