"""Checks of the theorems of Mukherjee and Schapire on games and potentials.

Where a theorem says that two things are equal, one of the two is computed here, apart from `simplexboost.theory`:
potentials by a recursion in plain Python. `theorems_conditions` has the conditions, `theorems_mm` AdaBoost.MM.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize_scalar

from simplexboost import theory
from simplexboost.theory.conditions import as_condition
from simplexboost.theory.potentials import solve_row

from .theorems import check
from .theorems_conditions import random_baseline, random_costs

POSITIVE = 1e-6  # an edge or margin below this is rounding error of a linear programme

# ---- potentials by recursions of our own ----------------------------------------------------------------------------

Loss = Callable[[Any], Any]


def enumerated(t: int, b: Any, s: Any, loss: Loss) -> float:
    """The expected loss after t votes drawn from b, by trying all of them."""
    return float(
        sum(np.prod([b[k] for k in path]) * loss(np.array(s) + np.bincount(path, minlength=len(b)))
            for path in product(range(len(b)), repeat=t))
    )  # fmt: skip


class Minimal:
    """(44) by recursion over tuples, with the value of every degree: nothing of `games` but the loss."""

    def __init__(self, K: int, edge: float, loss: Loss) -> None:
        self.K, self.edge, self.loss = K, edge, loss
        self.phi = lru_cache(maxsize=None)(self._phi)

    def after(self, t: int, s: tuple[int, ...]) -> list[float]:
        """φ_{t−1} after a vote for each label."""
        return [self.phi(t - 1, tuple(v + (k == j) for j, v in enumerate(s))) for k in range(self.K)]

    def degrees(self, t: int, s: tuple[int, ...]) -> list[float]:
        """The values of the degrees 2 … K."""
        own, *rivals = self.after(t, s)
        rivals.sort(reverse=True)
        sums = np.cumsum([own, *rivals])[1:]
        return [self.edge * own + (1 - self.edge) * float(v) / a for a, v in enumerate(sums, 2)]

    def _phi(self, t: int, s: tuple[int, ...]) -> float:
        return float(self.loss(np.array(s))) if t == 0 else max(self.degrees(t, s))


def states(K: int, t: int) -> list[tuple[int, ...]]:
    """All states that t votes lead to."""
    every = combinations_with_replacement(range(K), t)
    return [tuple(int(v) for v in np.bincount(path, minlength=K)) if path else (0,) * K for path in every]


@check("mukherjee-lemma7")
def _() -> dict[str, float]:
    """min c ≤ ⟨b, c⟩ for 2000 cost vectors of every cone; the vacuous edge 2 of M1 shows that it may fail."""
    rng, worst = np.random.default_rng(0), []
    for name in ("samme", "m1", "mh", "mr", "uniform"):
        condition = as_condition(name)
        for K in (2, 3, 5):
            for edge in (0.0, 0.3, 1.0):
                C = rng.exponential(size=(200, len(condition.generators(K)))) @ condition.generators(K)
                worst.append(float((C.min(axis=1) - C @ condition.baseline(K, edge)).max()))
    C = rng.exponential(size=(200, 1)) @ theory.CONDITIONS["m1"].generators(3)
    vacuous = float((C.min(axis=1) - C @ theory.CONDITIONS["m1"].baseline(3, 2.0)).max())
    return {"least cost beyond the baseline's": max(worst), "the same with M1's vacuous edge 2": vacuous}


def best_response(phi: Any, c: Any, allowed: float) -> tuple[float, Any]:
    """max over distributions p with ⟨p, c⟩ ≤ allowed of ⟨p, φ⟩, by a linear programme."""
    found = linprog(-phi, c[None], [allowed], np.ones((1, len(phi))), [1.0])
    return (-found.fun, found.x) if found.status == 0 else (-np.inf, None)


def best_pair(phi: Any, c: Any, allowed: float) -> tuple[float, Any]:
    """The same over distributions on one or two labels (Lemma 31), by trying all of them."""
    best, at = -np.inf, np.zeros(len(phi))
    for i, j in product(range(len(phi)), repeat=2):
        if c[i] <= allowed + 1e-12:
            share = 1.0 if c[j] <= allowed + 1e-12 else (allowed - c[i]) / (c[j] - c[i])  # of j
            value = (1 - share) * phi[i] + share * phi[j]
            if value > best + 1e-15:
                best, at = value, (1 - share) * np.eye(len(phi))[i] + share * np.eye(len(phi))[j]
    return float(best), at


SMALL = (("uniform", 3, 0.2, [0, 0, 0]), ("uniform", 4, 0.1, [0, 1, 0, 0]), ("mr", 3, 0.2, [1, 1, 0]))


@check("mukherjee-lemma8")
def _() -> dict[str, float]:
    """(17) and (21) with two rounds to go: equal at the costs that (21) chooses, and no other costs make (17) less."""
    rng, apart, less = np.random.default_rng(0), [], []
    for name, K, edge, s in SMALL:
        condition = as_condition(name)
        b = condition.baseline(K, edge)
        phi = np.array([theory.potential(1, condition, K, edge, np.array(s) + e) for e in np.eye(K, dtype=int)])
        value, c = solve_row(phi, condition, b)
        apart.append(abs(best_response(phi, c, float(c @ b))[0] - value))
        C = rng.exponential(size=(200, len(condition.generators(K)))) @ condition.generators(K)
        less.append(max(value - best_response(phi, row, float(row @ b))[0] for row in C))
    return {"(17) and (21) apart": max(apart), "(21) beyond (17) at 600 other costs": max(less)}


@check("mukherjee-lemma31")
def _() -> dict[str, float]:
    """600 random potentials, costs and bounds on the cost: the best distribution, and the best on two labels."""
    rng, apart = np.random.default_rng(1), 0.0
    for _ in range(600):
        K = int(rng.integers(3, 7))
        phi, c = rng.random(K), rng.choice([0.0, 0.5, 1.0], size=K) + rng.random(K) * rng.integers(2)
        allowed = float(rng.uniform(c.min(), c.max()))
        apart = max(apart, abs(best_response(phi, c, allowed)[0] - best_pair(phi, c, allowed)[0]))
    return {"best and best on two labels apart": apart}


def chosen(a: Any, b: Any, p: Any) -> Any:
    """Lemma 32's subset: the examples by (86), the first that reach Σ p a."""
    order = np.argsort(b / a, kind="stable")  # (a − b)/a falls
    count = int(np.searchsorted(np.cumsum(a[order]), float(p @ a) - 1e-12)) + 1
    return order[: min(count, len(a))]


@check("mukherjee-lemma32")
def _() -> dict[str, float]:
    """2000 random a, b, p on up to twelve examples: by how much the subset of the proof violates (84) or (85)."""
    rng, short, over = np.random.default_rng(2), -np.inf, -np.inf
    for _ in range(2000):
        m = int(rng.integers(1, 13))
        a, b, p = rng.exponential(size=m), rng.exponential(size=m) * (rng.random(m) < 0.8), rng.random(m)
        S = chosen(a, b, p)
        short, over = max(short, float(p @ a - a[S].sum())), max(over, float(b[S].sum() - b.max() - p @ b))
    return {"(84) violated by": short, "(85) violated by": over}


@check("mukherjee-theorem9-both-games")
def _() -> dict[str, float]:
    """The optimal strategy of the minimal game against the windows, and of the uniform one against the subsets."""
    windows, subsets = theory.example("windows"), theory.example("subsets", K=5, n=10, size=4)
    gamma = 0.25  # of the subsets: 4/10 = (1 − γ)/5 + γ
    played = {
        "minimal": [theory.play(theory.make_game(T, "minimal", 3, 1 / 6), windows) for T in (5, 20, 60)],
        "uniform": [theory.play(theory.make_game(T, "uniform", 5, gamma), subsets) for T in (5, 20, 60)],
    }
    out = {}
    for name, plays in played.items():
        out[f"{name} game: plays in which the learner broke its condition"] = float(sum(not p.kept for p in plays))
        out[f"{name} game: end above the bound"] = max(float(p.potential[-1] - p.potential[0]) for p in plays)
        out[f"{name} game: largest rise"] = max(float(np.diff(p.potential).max()) for p in plays)
    return out


@check("mukherjee-theorem9-lower")
def _() -> dict[str, float]:
    """The adversary of the proof against three boosters for T = 4 rounds, k = 3, uniform baseline of edge 0.2: what the
    loss falls short of φ_T(0) beyond ε = T/m, with m = 400 examples. The boosters play the optimal costs, random ones,
    and those of AdaBoost.MM.
    """
    K, T, edge, m = 3, 4, 0.2, 400
    b, rng = theory.uniform_baseline(K, edge), np.random.default_rng(0)
    out = {}
    for booster in ("optimal", "random", "MM"):
        S, broken = np.zeros((m, K), dtype=int), 0.0
        for to_go in range(T, 0, -1):
            after = np.stack([theory.potential(to_go - 1, b, s=S + e) for e in np.eye(K, dtype=int)], axis=1)
            C = {
                "optimal": after,
                "random": random_costs(rng, m, K),
                "MM": np.column_stack([-np.exp(S[:, 1:] - S[:, :1]).sum(axis=1), np.exp(S[:, 1:] - S[:, :1])]),
            }[booster]
            labels = adversary(after, C, b)
            broken = max(broken, float(C[np.arange(m), labels].sum() - (C @ b).sum()))
            S[np.arange(m), labels] += 1
        short = float(theory.potential(T, b)) - float(theory.ZeroOne()(S).mean())
        out[f"{booster} costs: short of φ_T(0) beyond ε"] = short - T / m
        out[f"{booster} costs: condition broken by"] = broken
    return out


def adversary(phi: Any, C: Any, b: Any) -> Any:
    """Labels (m,) by (75) to (85): as dear a potential as the constraint on the cost allows."""
    m = len(C)
    pairs = [best_pair(phi[i], C[i], float(C[i] @ b))[1] for i in range(m)]
    cheap, dear, p = np.zeros(m, dtype=int), np.zeros(m, dtype=int), np.zeros(m)
    for i, q in enumerate(pairs):
        labels = sorted(np.flatnonzero(q > 1e-12), key=lambda k: C[i, k])
        cheap[i], dear[i] = labels[0], labels[-1]
        p[i] = q[labels[0]] if C[i, dear[i]] > C[i, cheap[i]] else 0.0
    rows = np.arange(m)
    a, gain = C[rows, dear] - C[rows, cheap], phi[rows, dear] - phi[rows, cheap]
    free = gain < 0  # these help both sides
    matter = np.flatnonzero(~free & (a > 0))
    plus = free.copy()
    if len(matter):
        plus[matter[chosen(a[matter], gain[matter], p[matter])]] = True
    return np.where(plus, cheap, dear)


@check("mukherjee-walks-minimax")
def _() -> dict[str, float]:
    """Zero-one loss: the dynamic programme and the minimax recursion (17), and all walks one by one."""
    sums, minimax = 0.0, 0.0
    for K, t, edge in ((2, 5, 0.1), (3, 5, 0.2), (4, 4, 0.0)):
        b, s = theory.uniform_baseline(K, edge), [0, 1, *([0] * (K - 2))]
        true = enumerated(t, b, s, theory.ZeroOne())
        sums = max(sums, abs(theory.potential(t, b, s=s) - true))
        programme = theory.ConeGame(as_condition("uniform"), K, t, theory.ZeroOne(), edge)
        minimax = max(minimax, abs(programme.potential(t, np.array([s]))[0] - true))
    return {"dynamic programme and walks apart": sums, "minimax (17) and walks apart": minimax}


def closed_form(b: Any, s: Any, eta: float, t: int, factor: Callable[[int], float]) -> float:
    """Σ a_l^t exp(η factor(l) (s_l − s_1)), classes numbered from 1."""
    a = 1 - (b[0] + b[1:]) + np.exp(eta) * b[1:] + np.exp(-eta) * b[0]
    return float(sum(a[k - 1] ** t * np.exp(eta * factor(k + 1) * (s[k] - s[0])) for k in range(1, len(b))))


@check("mukherjee-theorem13-closed")
def _() -> dict[str, float]:
    rng, apart = np.random.default_rng(0), 0.0
    for K, t in ((2, 5), (3, 4), (4, 3)):
        for b in (theory.uniform_baseline(K, 0.2), random_baseline(rng, 1, K, 0.1)[0]):
            s, eta = rng.integers(-2, 3, size=K), float(rng.uniform(0.1, 0.8))
            true = enumerated(t, b, s, theory.ExponentialLoss(eta))
            values = (
                closed_form(b, s, eta, t, lambda k: 1.0),
                theory.potential(t, b, s=s, loss="exponential", eta=eta),
            )
            apart = max(apart, *(abs(v / true - 1) for v in values))
    return {"closed form and walks apart, relative": apart}


@check("mukherjee-theorem13-printed")
def _() -> dict[str, float]:
    b, s, eta, t = theory.uniform_baseline(3, 0.2), [0, 1, -1], 0.4, 3
    true = enumerated(t, b, s, theory.ExponentialLoss(eta))
    return {"printed": abs(closed_form(b, s, eta, t, float) - true)}


@check("mukherjee-a-below-one")
def _() -> dict[str, float]:
    """The largest a_l at the best η, of 300 random baselines with edges from 0.01 on, less 1."""
    rng, worst = np.random.default_rng(0), -np.inf
    for _ in range(300):
        K, edge = int(rng.integers(2, 9)), float(rng.uniform(0.01, 0.5))
        b = random_baseline(rng, 1, K, edge)[0] if K > 2 else theory.uniform_baseline(2, edge)

        def largest(eta: float, b: Any = b) -> float:
            return float((1 - (b[0] + b[1:]) + np.exp(eta) * b[1:] + np.exp(-eta) * b[0]).max())

        worst = max(worst, minimize_scalar(largest, bounds=(0, 3), method="bounded").fun - 1)
    return {"largest a less 1": float(worst)}


@check("mukherjee-kappa")
def _() -> dict[str, float]:
    edges = np.linspace(0.01, 0.99, 50)
    gaps = [theory.kappa(g, np.log(1 + g), K) - np.exp(-(g**2) / 2) for g in edges for K in (2, 3, 10, 100)]
    return {"above exp(-edge²/2)": float(max(gaps))}


@check("mukherjee-exponential-bound-printed")
def _() -> dict[str, float]:
    b = theory.uniform_baseline(6, 0.0)
    return {"bound less 1, k = 6, no edge": float(theory.potential(10, b, loss="exponential", eta=1e-4)) - 1}


@check("mukherjee-strict-printed")
def _() -> dict[str, float]:
    b = theory.uniform_baseline(2, 0.1)
    printed = enumerated(2, b, [0, 0], lambda s: float(s[0] < s[1]))
    return {"true less printed, k = 2, T = 2": float(theory.potential(2, b)) - printed}


@check("mukherjee-uniform-printed")
def _() -> dict[str, float]:
    best, _ = theory.best_fixed_potential(6, 3, 0.4)
    return {"best less uniform": float(best - theory.potential(6, "uniform", 3, 0.4))}


@check("mukherjee-uniform-no-edge-random")
def _() -> dict[str, float]:
    """Without an edge: equal weights on fewer labels, and random baselines that are best on the true class."""
    rng, fewer, drawn = np.random.default_rng(0), [], []
    for K in (3, 4, 6):
        for T in range(1, 11):
            uniform = float(theory.potential(T, "uniform", K, 0.0))
            fewer.append(theory.best_fixed_potential(T, K, 0.0)[0] - uniform)
            if K < 6:
                drawn += [float(theory.potential(T, b)) - uniform for b in random_baseline(rng, 20, K, 0.0)]
    return {"best of fewer labels less uniform": float(max(fewer)), "best of 400 random ones less uniform": max(drawn)}


# ---- the minimal condition ------------------------------------------------------------------------------------------

STATES = ((3, 0.2, [1, 1, 0]), (3, 0.0, [0, 0, 0]), (4, 0.1, [0, 1, 0, 0]))


@check("mukherjee-lemma17")
def _() -> dict[str, float]:
    """(38) in its dual form, a linear programme over costs with a row for every extreme baseline and every label, and
    (40).
    """
    apart = 0.0
    for K, edge, s in STATES:
        own = Minimal(K, edge, theory.ZeroOne())
        phi = np.array(own.after(3, tuple(s)))
        extreme = [np.eye(K)[0] * edge + (1 - edge) * on / on.sum() for on in supports(K)]
        rows = [np.append(b - np.eye(K)[k], -1.0) for b in extreme for k in range(K)]  # φ_l − c_l + ⟨c, b⟩ ≤ z
        right = [-phi[k] for _ in extreme for k in range(K)]
        least = [np.append(np.eye(K)[0] - np.eye(K)[k], 0.0) for k in range(1, K)]  # c_1 ≤ c_l
        found = linprog(
            np.append(np.zeros(K), 1.0), rows + least, right + [0.0] * (K - 1), bounds=[(None, None)] * (K + 1)
        )
        apart = max(apart, abs(found.fun - own.phi(3, tuple(s))))
    return {"(38) and (40) apart": apart}


def supports(K: int) -> list[Any]:
    """The true class with any number of rivals, as 0/1 rows."""
    rivals = [c for size in range(1, K) for c in combinations(range(1, K), size)]
    return [np.isin(np.arange(K), [0, *c]).astype(float) for c in rivals]


@check("mukherjee-lemma18-own-recursion")
def _() -> dict[str, float]:
    """(44) by our recursion, (40) by a linear programme over all baselines, and `theory.potential`."""
    programme, package = 0.0, 0.0
    for K, edge, s in STATES:
        own = Minimal(K, edge, theory.ZeroOne())
        favours = np.column_stack([-np.ones(K - 1), np.eye(K - 1)])  # b_l − b_1 ≤ −γ
        best = linprog(-np.array(own.after(3, tuple(s))), favours, np.full(K - 1, -edge), np.ones((1, K)), [1.0])
        programme = max(programme, abs(own.phi(3, tuple(s)) + best.fun))
        package = max(package, abs(own.phi(3, tuple(s)) - theory.potential(3, "minimal", K, edge, s)))
    return {"(44) and all baselines apart": programme, "(44) and the package apart": package}


@check("mukherjee-corollary15")
def _() -> dict[str, float]:
    gaps = [
        abs(theory.potential(T, "mr", 3, edge) - theory.potential(T, "minimal", 3, edge))
        for T in (1, 2, 3, 4)
        for edge in (0.0, 0.2)
    ]
    return {"values apart": float(max(gaps))}


@check("mukherjee-lemma19-own-recursion")
def _() -> dict[str, float]:
    """Degrees and potentials of all states within T rounds by our recursion; at η = 1 smaller degrees do occur."""
    gain, apart, seen, others = -np.inf, 0.0, 0, 0
    for K, T in ((3, 6), (4, 4)):
        eta = 0.25 * min(1 / (K - 1), 1 / T)
        for edge in (0.0, 0.05):
            own, loose = (Minimal(K, edge, theory.ExponentialLoss(e)) for e in (eta, 1.0))
            b = theory.uniform_baseline(K, edge)
            for done in range(T):
                for s in states(K, done):
                    *smaller, full = own.degrees(T - done, s)
                    gain, seen = max(gain, *(v / full - 1 for v in smaller)), seen + 1
                    *smaller, full = loose.degrees(T - done, s)
                    others += max(smaller) > full + 1e-9
                    apart = max(apart, abs(own.phi(T - done, s) / closed_form(b, s, eta, T - done, lambda k: 1.0) - 1))
    return {
        "states": float(seen),
        "largest relative gain of a degree below k": gain,
        "potential and uniform one apart, relative": apart,
        "states with a smaller degree at η = 1": float(others),
    }


@check("mukherjee-theorem20-constant-printed")
def _() -> dict[str, float]:
    """The largest difference of two losses within T rounds, by trying all states; k = 3, T = 5 and k = 6, T = 6."""
    differences = {}
    for K, T in ((3, 5), (6, 6)):
        loss = theory.ExponentialLoss(0.25 * min(1 / (K - 1), 1 / T))
        every = [float(loss(np.array(s))) for t in range(T + 1) for s in states(K, t)]
        differences[K] = max(every) - min(every)
    return {
        "discrepancy less e^(1/4)": max(d - np.exp(0.25) for d in differences.values()),
        "discrepancy less (k - 1) e^(1/4)": max(d - (K - 1) * np.exp(0.25) for K, d in differences.items()),
    }


@check("mukherjee-theorem21-both-halves")
def _() -> dict[str, float]:
    """(54): where η > kγ/(1 − γ) the bound is above 1, for the minimal game itself with two rounds; (55): for small γ
    all other η are as small as in (46).
    """
    trivial = max(
        1 - Minimal(K, edge, theory.ExponentialLoss(factor * K * edge / (1 - edge))).phi(2, (0,) * K)
        for K in (2, 3, 4)
        for edge in (0.001, 0.01, 0.1, 0.3)
        for factor in (1.0, 1.1, 2.0)
    )
    kappas = max(
        1 - theory.kappa(edge, factor * K * edge / (1 - edge), K)
        for K in (2, 3, 10, 26)
        for edge in (0.001, 0.01, 0.1, 0.3)
        for factor in (1.0, 1.1, 2.0)
    )
    small = max(
        K * edge / (1 - edge) - 0.25 * min(1 / (K - 1), 1 / T)
        for K in (2, 3, 10, 26)
        for T in (1, 5, 50, 1000)
        for edge in np.array([1.0, 0.5, 0.01]) * min(0.5, min(1 / K, 1 / T) / (8 * K))
    )
    return {
        "(54): one less φ_2(0)": float(trivial),
        "(54): one less κ": float(kappas),
        "(55): largest η less (46)": float(small),
    }


@check("mukherjee-constant-below")
def _() -> dict[str, float]:
    """With η as in (46) φ_T(0) = (k − 1) κ^T: how far the least over η is below (k − 1)(1 − γ/4), for any T."""
    worst = max(
        1 - edge / 4 - theory.kappa(edge, eta, K) ** T
        for K in (2, 3, 10)
        for edge in (0.01, 0.1, 0.3, 0.9)
        for T in (1, 10, 100, 10_000)
        for eta in np.linspace(0.01, 1, 25) * 0.25 * min(1 / (K - 1), 1 / T)
    )
    return {"1 − γ/4 less κ^T": float(worst)}


@check("mukherjee-pixels-printed")
def _() -> dict[str, float]:
    """Steps of (s_2 − s_1, s_3 − s_2) for votes 1, 2, 3, and the printed (−1, −1), (1, 0), (0, 1)."""
    steps = np.eye(3)
    printed = np.array([[-1, -1], [1, 0], [0, 1]])
    as_said = np.column_stack([steps[:, 1] - steps[:, 0], steps[:, 2] - steps[:, 1]])
    as_meant = np.column_stack([steps[:, 1] - steps[:, 0], steps[:, 2] - steps[:, 0]])
    return {
        "(s2 − s1, s3 − s2) and the printed steps apart": float(np.abs(as_said - printed).max()),
        "(s2 − s1, s3 − s1) and the printed steps apart": float(np.abs(as_meant - printed).max()),
    }
