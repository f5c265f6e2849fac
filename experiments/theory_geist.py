"""Geist's Theorem 1: gradient norms of sm-boost, their rate, and where draws of Long and Servedio's problem end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simplexboost.datasets import make_long_servedio

from . import data, geist
from .boosters import make
from .cells import Cell, Results, task
from .geist import PERFECT
from .registry import Block, Figure, Plan, Table, Text, experiment
from .theorems_geist import softmax
from .theorems_mcboost import small_problem

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
def descent(problem: str, rounds: int) -> dict[str, Any]:
    """sm-boost as in Theorem 1 (α = 1, the best stump of every class): norms, edges and risks of all rounds."""
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
    promised = (
        0.5 * (np.array(edges) * np.array(norms)) ** 2
    )  # by which the risk falls at least, with that round's edge
    stops = [t for t in MOMENTS if t <= rounds]
    return {
        "numbers": {
            "smallest norm less the bound": {problem: float((least - bound).max())},
            "last over first, less one half": {problem: float(least[-1] / least[:10].min()) - 0.5},
            "rise of the risk beyond −γ²‖∇‖²/2": {problem: float((np.diff(risks) + promised[:-1]).max())},
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
    return [Cell("descent", {"problem": name, "rounds": plan.pick(10_000, 100)}, 10.0) for name in PROBLEMS]


@rate.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    done = {c.arguments["problem"]: r["numbers"] for c in rate.cells(plan) if (r := found.get(c)) is not None}

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for i, (problem, own) in enumerate(done.items()):
            stops = [t for t in MOMENTS if f"bound for {t} rounds" in own]
            for kind, style in (("smallest norm of", "-"), ("bound for", "--")):
                values = [own[f"{kind} {t} rounds"][problem] for t in stops]
                label = problem if style == "-" else f"{problem}, bound"
                axes.loglog(stops, values, f"C{i}{style}", label=label)
        axes.set(xlabel="rounds T", ylabel="smallest gradient norm")
        axes.grid(alpha=0.3)
        if done:
            axes.legend(fontsize=7, ncols=2)

    yield Figure(
        "geist-rate", "Smallest gradient norm of T rounds (solid) and the bound √(2/T)/γ (dashed).", draw, (6, 3.6)
    )
    shown = [t for t in MOMENTS if any(f"bound for {t} rounds" in own for own in done.values())]
    rows = [
        [p, *(f"{own[f'smallest norm of {t} rounds'][p]:.3g} ({own[f'bound for {t} rounds'][p]:.3g})" for t in shown)]
        for p, own in done.items()
    ]
    yield Table(["smallest norm (bound)", *(f"T = {t}" for t in shown)], rows)
    if done:
        worst = max(own["largest rise of the risk"][p] for p, own in done.items())
        yield Text(f"The largest rise of the risk from one round to the next is {worst:.2g}.")


# ---- where draws end ------------------------------------------------------------------------------------------------

LONGER = 3  # times as many rounds, to see whether a draw was only slow


def probabilities(clf: Any, X: Any, rounds: int) -> Any:
    """g of sm-boost after so many rounds, (n, K)."""
    model = clf.model_
    return softmax(2 * model.scores(model.first(rounds).predictor(X)))


@task
def where_draws_end(seed: int, rounds: int, noise: float, pairs: int) -> dict[str, Any]:
    """sm-boost on a draw of Long and Servedio's problem: its gradient at the end, and the examples that it gets wrong.

    The gradient is that over all training examples; the part of the wrong ones is that of its square.
    """
    d = make_long_servedio(label_noise=noise, random_state=seed)
    options = {"depth": 1, "pairs": pairs}
    clf = make("smboost", 2, rounds, seed, options).fit(d.X_train, d.y_train)
    g, rows = clf.predict_proba(d.X_train), np.arange(len(d.y_train))
    G = gradient(np.log(g), d.y_train)
    own = g[rows, d.y_train]  # the probability of the right label, η₁
    wrong = own < 0.5
    inner = float((sign_stumps(d.X_train) @ G).max(axis=0).sum()) / len(rows)
    longer = make("smboost", 2, LONGER * rounds, seed, options).fit(d.X_train, d.y_train)
    return {
        "numbers": {
            "test error, %": 100 * float((clf.predict(d.X_test) != d.y_test).mean()),
            "gradient norm": norm(G),
            "best step ⟨∇, h⟩": inner,
            "wrong training examples, %": 100 * float(wrong.mean()),
            "largest η₁ of them": float(own[wrong].max(initial=0.0)),
            "their part of the squared norm, %": 100 * float((G[wrong] ** 2).sum() / (G**2).sum()),
            f"test error after {LONGER} times the rounds, %": 100
            * float((longer.predict(d.X_test) != d.y_test).mean()),
        }
    }


@experiment("geist-minima", "Where sm-boost ends on Long and Servedio's problem", urgency=5, explains=True)
def minima(plan: Plan) -> list[Cell]:
    """Without noise many draws of Figure 7 are not perfect. Here are its first forty draws, with their gradient at the
    end of the 1000 rounds, over all training examples. Section 4 of the paper says that an example adds little to the
    gradient only if the probability η₁ of its label is near 1 or near 0. The second case is where a descent is stuck
    with a wrong answer. To tell a stuck draw from a slow one there is a second run with three times as many rounds.
    Near 0 is below 0.1. A first criterion, that wrong examples make up less than 1 % of the squared norm, was given up
    after a draw with 1.9 %.
    """
    seeds, rounds = plan.pick((range(40), 1000), (range(2), 200))
    fixed = {"rounds": rounds, "noise": 0.0, "pairs": 4000}
    return [Cell("where_draws_end", fixed | {"seed": s}, 4.0) for s in seeds]


@minima.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    ends = {c.arguments["seed"]: r["numbers"] for c in minima.cells(plan) if (r := found.get(c)) is not None}
    if not ends:
        return
    header = list(next(iter(ends.values())))
    yield Table(["draw", *header], [[str(seed), *(f"{v:.3g}" for v in own.values())] for seed, own in ends.items()])
    yield Text("The best step is the inner product of the gradient with the best stump of every class, the next step.")
    failed = [own for own in ends.values() if own["test error, %"] >= PERFECT]
    perfect = [own for own in ends.values() if own["test error, %"] < PERFECT]
    if failed and perfect:
        yield Text(verdict_on_minima(failed, perfect))


def verdict_on_minima(failed: list[dict[str, float]], perfect: list[dict[str, float]]) -> str:
    """Whether the draws that are not perfect have a small gradient at the end, and whether more rounds help."""
    ours, theirs = ([own["gradient norm"] for own in group] for group in (failed, perfect))
    small = max(ours) < min(theirs)
    stay = sum(own[f"test error after {LONGER} times the rounds, %"] >= PERFECT for own in failed)
    part = max(own["their part of the squared norm, %"] for own in failed)
    chance = max(own["largest η₁ of them"] for own in failed)
    stuck = small and chance < 1 - SURE and stay == len(failed)
    return (
        f"The {len(failed)} draws that are not perfect end with a gradient norm of {min(ours):.2g} to {max(ours):.2g}, "
        f"the {len(perfect)} perfect ones with {min(theirs):.2g} to {max(theirs):.2g}: it is "
        f"{'smaller in every draw that is not perfect' if small else 'not smaller in every draw that is not perfect'}. "
        f"The wrong training examples have a probability of their label of at most {chance:.2g} and make up at most "
        f"{part:.2g} % of the squared norm. After {LONGER} times the rounds {stay} of {len(failed)} are still not "
        "perfect. "
        + (
            "So these draws are stuck on a flat part of the risk, the case η₁ ≈ 0 of Section 4. The paper argues that "
            "it is no local minimum; but wrong examples hardly pull there, and the descent does not leave it."
            if stuck
            else "So it cannot be said of all of these draws that they are stuck on a flat part of the risk."
        )
    )


# ---- how sure the rule becomes --------------------------------------------------------------------------------------

SURE = 0.9  # a probability from here on counts as near 1, one below 1 − SURE as near 0
CERTAIN_SETS = ("dna", "pendigits", "satimage", "segment", "splice", "vowel")
CERTAIN_STOPS = (10, 100, 1000)


@task
def certainty(problem: dict[str, Any], rounds: int, seed: int) -> dict[str, Any]:
    """sm-boost with trees of 12 leaves on training examples: how sure its rule is, and of which label."""
    given = data.problem(**problem)
    kind, options = geist.booster("sm-boost", given.K)
    clf = make(kind, given.K, rounds, seed, options).fit(given.X_train, given.y_train)
    rows = np.arange(len(given.y_train))
    out: dict[str, Any] = {}
    for t in CERTAIN_STOPS:
        g = probabilities(clf, given.X_train, min(t, int(clf.n_iter_)))
        own = g[rows, given.y_train]
        shares = {"sure": g.max(axis=1) > SURE, "right": own > SURE, "stuck": own < 1 - SURE}
        out[str(t)] = {key: 100 * float(yes.mean()) for key, yes in shares.items()}
    return {"shares": out}


def certainty_cells(plan: Plan, name: str) -> list[Cell]:
    """A few seeds of a set."""
    problem = geist.given(plan, name, 0.0)
    rounds = plan.pick(1000, 100)
    return [
        Cell("certainty", {"problem": problem | drawn(problem, s), "rounds": rounds, "seed": s}, 5.0)
        for s in plan.repeats[:3]
    ]


def drawn(problem: dict[str, Any], seed: int) -> dict[str, Any]:
    """The seed of a split, where it is random."""
    return {"seed": seed} if problem.get("shuffle") else {}


@experiment("geist-certainty", "How sure sm-boost's random rule becomes", urgency=4)
def certain(plan: Plan) -> list[Cell]:
    """Section 5.1 says that the rule is likely to become deterministic, and Section 4 hopes that examples end with a
    probability η₁ of their label near 1 rather than near 0, which “has to be confirmed experimentally”. Shares of the
    training examples of six sets of Table 2 after 10, 100 and 1000 rounds of sm-boost, without noise, three seeds.
    Chosen: near 1 is above 0.9, near 0 is below 0.1.
    """
    return [c for name in CERTAIN_SETS for c in certainty_cells(plan, name)]


def certain_stops(plan: Plan) -> list[int]:
    """The moments that a plan reaches."""
    return [t for t in CERTAIN_STOPS if t <= plan.pick(1000, 100)]


@certain.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name in CERTAIN_SETS:
        row = [name]
        for t in certain_stops(plan):
            done = [r["shares"][str(t)] for r in found.finished(certainty_cells(plan, name))]
            means = [np.mean([own[key] for own in done]) if done else np.nan for key in ("sure", "right", "stuck")]
            row.append(" / ".join(f"{m:.1f}" for m in means) if done else "…")
        rows.append(row)
    yield Text(
        "Training examples in percent, means over seeds: those with a label of probability above 0.9 / those whose own "
        "label has a probability above 0.9 / below 0.1."
    )
    yield Table(["set", *(f"T = {t}" for t in certain_stops(plan))], rows)
