"""Geist's Theorem 1: gradient norms of sm-boost, their rate, and where draws of Long and Servedio's problem end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simplexboost.datasets import make_long_servedio

from .boosters import make
from .cells import Cell, Results, task
from .registry import Block, Figure, Plan, Table, Text, experiment
from .theorems_mcboost import small_problem
from .theorems_others import softmax

PROBLEMS = {"three classes": (0, 3), "five classes": (1, 5), "two classes": (2, 2)}  # seed, K
MOMENTS = (1, 10, 100, 1000, 10_000)


def sign_stumps(X: Any) -> Any:
    """All stumps with answers ±1 and the two constants, (stumps, n)."""
    middles = [np.convolve(np.unique(x), [0.5, 0.5], "valid") for x in X.T]
    one = np.array([np.where(X[:, j] <= t, 1.0, -1.0) for j, ts in enumerate(middles) for t in ts])
    return np.vstack([one, -one, np.ones((1, len(X))), -np.ones((1, len(X)))])


def gradient(psi: Any, c: Any) -> Any:
    """∇R_N at ψ under the zero-one cost, (n, K): g (cost − expected cost)."""
    g = softmax(psi)
    cost = 1.0 - np.eye(psi.shape[1])[c]
    return g * (cost - (g * cost).sum(axis=1, keepdims=True))


def norm(A: Any) -> float:
    """‖A‖_N, the root of the mean over examples of the squared rows."""
    return float(np.sqrt((A**2).sum(axis=1).mean()))


@task
def gradient_norms(problem: str, rounds: int) -> dict[str, Any]:
    """sm-boost as in Theorem 1 (α = 1, the best stump of every class): gradient norms and edges of all rounds."""
    seed, K = PROBLEMS[problem]
    X, c = small_problem(seed, n=120, K=K)
    S = sign_stumps(X)  # (stumps, n)
    psi, norms, edges, risks = np.zeros((len(c), K)), [], [], []
    for _ in range(rounds):
        G = gradient(psi, c)  # (n, K)
        h = S[(S @ G).argmax(axis=0)].T  # (n, K), the best stump for every class
        inner = float((G * h).sum(axis=1).mean())
        norms.append(norm(G))
        edges.append(inner / (norms[-1] * norm(h)))
        risks.append(1 - float(softmax(psi)[np.arange(len(c)), c].mean()))
        psi = psi - inner / norm(h) ** 2 * h
    least, edge = np.minimum.accumulate(norms), np.minimum.accumulate(edges)
    T = np.arange(1, rounds + 1)
    bound = np.sqrt(2 / T) / edge
    stops = [t for t in MOMENTS if t <= rounds]
    return {
        "numbers": {
            "smallest norm less the bound": {problem: float((least - bound).max())},
            "last over first, less one half": {problem: float(least[-1] / least[:10].min()) - 0.5},
            "largest rise of the risk": {problem: float(np.diff(risks).max())},
            "smallest edge": {problem: float(edge[-1])},
            **{f"smallest norm of {t} rounds": {problem: float(least[t - 1])} for t in stops},
            **{f"bound for {t} rounds": {problem: float(bound[t - 1])} for t in stops},
        }
    }


@experiment("geist-rate", "Gradient norms of sm-boost and the rate of Theorem 1", urgency=4)
def rate(plan: Plan) -> list[Cell]:
    """As in the theorem: α = 1, no sampling, the direction of largest inner product (the best stump for every class,
    found by trying all). Three small problems of 120 examples. The edge γ of the theorem is the smallest one met.
    """
    return [Cell("gradient_norms", {"problem": name, "rounds": plan.pick(10_000, 100)}, 10.0) for name in PROBLEMS]


@rate.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    done = {c.arguments["problem"]: r["numbers"] for c in rate.cells(plan) if (r := found.get(c)) is not None}

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for i, (problem, own) in enumerate(done.items()):
            stops = [t for t in MOMENTS if f"bound for {t} rounds" in own]
            for kind, style in (("smallest norm of", "-"), ("bound for", "--")):
                values = [own[f"{kind} {t} rounds"][problem] for t in stops]
                axes.loglog(stops, values, f"C{i}{style}", label=problem if style == "-" else None)
        axes.set(xlabel="rounds T", ylabel="smallest gradient norm")
        axes.grid(alpha=0.3)
        if done:
            axes.legend(fontsize=8)

    yield Figure(
        "geist-rate", "Smallest gradient norm of T rounds (solid) and the bound √(2/T)/γ (dashed).", draw, (6, 3.6)
    )
    shown = [t for t in MOMENTS if any(f"bound for {t} rounds" in own for own in done.values())]
    rows = [
        [p, *(f"{own[f'smallest norm of {t} rounds'][p]:.3g} ({own[f'bound for {t} rounds'][p]:.3g})" for t in shown)]
        for p, own in done.items()
    ]
    yield Table(["smallest norm (bound)", *(f"T = {t}" for t in shown)], rows)


# ---- local minima ---------------------------------------------------------------------------------------------------


@task
def where_it_ends(seed: int, rounds: int, noise: float) -> dict[str, Any]:
    """sm-boost on a draw of Long and Servedio's problem: test error, gradient norm and best edge at the end."""
    d = make_long_servedio(label_noise=noise, random_state=seed)
    clf = make("smboost", 2, rounds, seed, {"depth": 1}).fit(d.X_train, d.y_train)
    psi = 2 * clf.decision_function(d.X_train)
    psi = psi if psi.ndim == 2 else np.column_stack([-psi, psi]) / 2
    G = gradient(psi, d.y_train)
    S = sign_stumps(d.X_train)
    inner = float((S @ G).max(axis=0).sum()) / len(d.y_train)
    column = f"seed {seed}, noise {noise:g}"
    return {
        "numbers": {
            "test error, %": {column: 100 * float((clf.predict(d.X_test) != d.y_test).mean())},
            "gradient norm": {column: norm(G)},
            "gradient norm at the start": {column: norm(gradient(0 * psi, d.y_train))},
            "best step ⟨∇, h⟩": {column: inner},
        }
    }


@experiment("geist-minima", "Where sm-boost ends on Long and Servedio's problem", urgency=5, explains=True)
def minima(plan: Plan) -> list[Cell]:
    """Without noise some draws of Figure 7 are not perfect. Here ten draws with their gradient at the end of 1000
    rounds, over all training examples: a draw that ended near a stationary point has a small norm, and no stump with an
    edge.
    """
    rounds = plan.pick(1000, 200)
    return [Cell("where_it_ends", {"seed": s, "rounds": rounds, "noise": 0.0}, 4.0) for s in range(plan.pick(10, 2))]


@minima.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for cell in minima.cells(plan):
        if (result := found.get(cell)) is not None:
            own = {row: next(iter(columns.values())) for row, columns in result["numbers"].items()}
            rows.append([str(cell.arguments["seed"]), *(f"{v:.3g}" for v in own.values())])
    yield Table(["draw", "test error, %", "gradient norm", "at the start", "best step ⟨∇, h⟩"], rows)
    yield Text("The best step is the inner product of the gradient with the best stump of every class, the next step.")
