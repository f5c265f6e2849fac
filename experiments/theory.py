"""The theory as experiments: AdaBoost.MM's clamp and consistency, MH on the class as a feature, M1's greedy trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize

import simplexboost as sb
from simplexboost.datasets import make_three_gaussians
from simplexboost.datasets.generators import COVARIANCES, MEANS
from simplexboost.losses import clamped

from . import mukherjee, nips2011
from .cells import Cell, Results, task
from .comparison import published
from .registry import EXPERIMENTS, Block, Figure, Plan, Table, Text, experiment
from .theorems_mcboost import small_problem


def merged(plan: Plan, found: Results, name: str) -> dict[str, dict[str, list[float]]]:
    """Row → column → values of all finished cells of an experiment."""
    out: dict[str, dict[str, list[float]]] = {}
    for cell in EXPERIMENTS[name].cells(plan):
        for row, columns in ((found.get(cell) or {}).get("numbers", {})).items():
            for column, value in columns.items():
                out.setdefault(row, {}).setdefault(column, []).append(float(value))
    return out


def as_table(numbers: dict[str, dict[str, list[float]]]) -> Table:
    """Means in a table."""
    columns = list({c: None for row in numbers.values() for c in row})
    rows = [[row, *(f"{np.mean(own[c]):.3g}" if c in own else "–" for c in columns)] for row, own in numbers.items()]
    return Table(["", *columns], rows)


# ---- MH on [x, class] -----------------------------------------------------------------------------------------------


@task
def index_stumps(seed: int, K: int, rounds: int) -> dict[str, Any]:
    """MH with stumps on the example and the class: decisions that differ, and how far scores are from additive."""
    X, c = small_problem(seed, n=300, K=K)
    clf = sb.AdaBoostMHClassifier(learner_mode="index", n_estimators=rounds).fit(X, c)
    F = clf.decision_function(X)  # (n, K)
    rest = F - F.mean(axis=0) - F.mean(axis=1, keepdims=True) + F.mean()
    decided = np.bincount(F.argmax(axis=1), minlength=K).max()
    column = f"K = {K}, seed {seed}"
    scale = max(float(np.abs(F).max()), 1e-300)
    return {
        "numbers": {
            "other decisions": {column: 1 - decided / len(c)},
            "not additive": {column: float(np.abs(rest).max()) / scale},
        }
    }


@experiment("nips-index", "AdaBoost.MH with stumps on the class as a feature decides the same everywhere", urgency=4)
def index(plan: Plan) -> list[Cell]:
    """The conference version describes AdaBoost.MH as one binary booster on examples [x, class]. A stump on them asks
    either for a feature of x, whatever the class, or for the class, whatever x. So every learner is a function of x
    alone or of the class k alone, and their weighted sum is a(x) + b(k). The decision arg max over k of a(x) + b(k) is
    that of b alone: one class for all x. This is a proof; the cells show it.
    """
    return [Cell("index_stumps", {"seed": seed, "K": K, "rounds": 60}, 1.0) for seed in range(3) for K in (3, 5)]


@index.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text(
        "Share of decisions other than the most frequent one, and the part of the scores that is not a(x) + b(k):"
    )
    yield as_table(merged(plan, found, "nips-index"))
    rows = []
    for name in nips2011.SETS:
        done = found.finished(nips2011.TABLE1.cells_of(plan, nips2011.OVA, name))
        most = f"{100 * done[0]['majority']:.1f}" if done else "…"
        rows.append([name, most, f"{published('nips-table1', 'AdaBoost.MH', name):.1f}"])
    yield Text("What one decision everywhere can reach, the share of the largest class of the test part, in percent:")
    yield Table(["set", "largest class", "the paper's AdaBoost.MH"], rows)
    yield Text("Where the paper's figure is above that share, it cannot come from stumps on [x, class] with one sum.")


# ---- alignment ------------------------------------------------------------------------------------------------------

ROUNDS = (0, 10, 100)


@task
def aligned(schedule: str, seed: int) -> dict[str, Any]:
    """CD-MCBoost on the three Gaussians: mean cosine of test predictions and their codewords, their distance from the
    origin, and the percentage of positive margins, over the rounds.
    """
    data = make_three_gaussians(1000, 1000, random_state=seed)
    clf = sb.CDMCBoostClassifier(n_estimators=max(ROUNDS), schedule=schedule).fit(data.X_train, data.y_train)
    model, c = clf.model_, data.y_test
    numbers: dict[str, dict[str, float]] = {}
    for t in ROUNDS:
        F = model.first(t).predictor(data.X_test)  # (n, 2)
        distance = np.linalg.norm(F, axis=1)
        cosine = (F * model.Y[c]).sum(axis=1) / np.maximum(distance, 1e-12)  # codewords have norm 1
        margin = sb.losses.margins(model.scores(F), c)
        rows = {"cosine": cosine, "distance": distance, "mean margin": margin, "positive margins": 100 * (margin > 0)}
        for row, value in rows.items():
            numbers.setdefault(f"{row}, {schedule}", {})[f"t = {t}"] = float(value.mean())
    return {"numbers": numbers}


@experiment("nips-alignment", "Three Gaussians: are predictions more aligned with the codewords?", urgency=4)
def alignment(plan: Plan) -> list[Cell]:
    """What Figures 2 (conference), 4 and 5 (journal) show, as numbers: CD-MCBoost with stumps after 0, 10 and 100
    rounds, coordinates in turn and the best one, 20 draws of 1000 training and 1000 test examples.
    """
    return [
        Cell("aligned", {"schedule": s, "seed": i}, 0.5) for s in ("cyclic", "best") for i in range(plan.pick(20, 3))
    ]


@alignment.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text("Means over the draws; the cosine is that of a prediction and the codeword of its class.")
    yield as_table(merged(plan, found, "nips-alignment"))


# ---- the clamp ------------------------------------------------------------------------------------------------------


@task
def clamp(seed: int) -> dict[str, Any]:
    """Clamped scores of AdaBoost.MM on the three Gaussians: other decisions, and losses beyond (K − 1) e^B."""
    data = make_three_gaussians(2000, 4000, random_state=seed)
    clf = sb.AdaBoostMMClassifier(n_estimators=200).fit(data.X_train, data.y_train)
    F, c = 2 * clf.decision_function(data.X_test), data.y_test
    numbers: dict[str, dict[str, float]] = {}
    for B in (1.0, 3.0, 10.0):
        G = clamped(F, B)
        losses = np.exp(G - G[np.arange(len(c)), c][:, None]).sum(axis=1) - 1
        column = f"B = {B:g}, seed {seed}"
        numbers.setdefault("other decisions", {})[column] = float((G.argmax(axis=1) != F.argmax(axis=1)).mean())
        numbers.setdefault("loss beyond the bound", {})[column] = float(losses.max() - 2 * np.exp(B))
        numbers.setdefault("mean test loss", {})[column] = float(losses.mean())
    return {"numbers": numbers}


@experiment("mukherjee-clamp", "AdaBoost.MM's clamped scores", urgency=4)
def clamps(plan: Plan) -> list[Cell]:
    """Equation (64): scores max(−B, F − max F), which decide alike and bound the loss of every example; three
    Gaussians, 2000 training and 4000 test examples, 200 rounds of trees of depth 2.
    """
    return [Cell("clamp", {"seed": seed}, 2.0) for seed in plan.repeats[:2]]


@clamps.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield as_table(merged(plan, found, "mukherjee-clamp"))


# ---- consistency ----------------------------------------------------------------------------------------------------


def stump_answers(X: Any, K: int, thresholds: int) -> Any:
    """All stumps that name a class on either side of a threshold, (stumps, n)."""
    cuts = [(j, t) for j in range(X.shape[1]) for t in np.quantile(X[:, j], np.linspace(0.1, 0.9, thresholds))]
    return np.array([np.where(X[:, j] <= t, a, b) for j, t in cuts for a in range(K) for b in range(K)])


def triples(H: Any, c: Any, K: int) -> Any:
    """M (triples, stumps) with risk(α) = mean over triples (i, l ≠ c_i) of exp(M α), times K − 1."""
    i, k = np.nonzero(np.arange(K) != c[:, None])
    return (H[:, i] == k).astype(float).T - (H[:, i] == c[i]).T


def least_risk(M: Any, K: int) -> float:
    """The infimum of the risk over all combinations, by convex optimisation."""

    def risk(alpha: Any) -> tuple[float, Any]:
        E = np.exp(M @ alpha) / len(M)
        return (K - 1) * float(E.sum()), (K - 1) * (E @ M)

    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    return float(minimize(risk, np.zeros(M.shape[1]), jac=True, method="L-BFGS-B", options=options).fun)


@task
def training_rate(seed: int, rounds: int) -> dict[str, Any]:
    """AdaBoost.MM (61) over a finite space: the excess of its training risk, and its slope over the last decade."""
    X, c = small_problem(seed, n=120, K=3, p=2)
    H = stump_answers(X, 3, 7)
    M = triples(H, c, 3)  # MM is AdaBoost on the triples (Lemma 34)
    w, risk, risks = np.full(len(M), 1 / len(M)), 2.0, []
    for _ in range(rounds):
        edges = -(w @ M)
        j = int(edges.argmax())
        alpha = 0.5 * np.log((1 + edges[j]) / (1 - edges[j]))
        w = w * np.exp(alpha * M[:, j])
        risk *= float(w.sum())
        w /= w.sum()
        risks.append(risk)
    excess = np.array(risks) - least_risk(M, 3)
    T = np.arange(1, rounds + 1)
    late = (rounds // 10 <= T) & (excess > 1e-12)
    slope = float(np.polyfit(np.log(T[late]), np.log(excess[late]), 1)[0]) if late.sum() > 10 else -99.0
    stops = [t for t in (10, 100, 1000, 10_000) if t <= rounds]
    return {
        "numbers": {
            "slope of the excess risk, plus 0.95": {f"seed {seed}": slope + 0.95},
            **{f"excess risk after {t}": {f"seed {seed}": float(excess[t - 1])} for t in stops},
        }
    }


@task
def lemma28(seed: int, draws: int) -> dict[str, Any]:
    """Random distributions and scores: the largest err − err* − √(2 ε)."""
    rng, worst = np.random.default_rng(seed), -np.inf
    for _ in range(draws):
        n, K = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        p, eta = rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(K, rng.choice([0.3, 1.0, 5.0])), size=n)
        F = 0.5 * np.log(np.maximum(eta, 1e-12)) + rng.choice([0.0, 0.05, 0.5, 2.0]) * rng.normal(size=(n, K))
        D = np.exp(F[:, None, :] - F[:, :, None])  # e^{F_l' − F_l} of true class l and rival l'
        risk = p @ ((eta * (D.sum(axis=2) - 1)).sum(axis=1))
        root = np.sqrt(eta)
        best = p @ (root.sum(axis=1) ** 2 - eta.sum(axis=1))  # Σ_{l≠l'} √(p_l p_l')
        error = p @ (eta.max(axis=1) - eta[np.arange(n), F.argmax(axis=1)])
        worst = max(worst, float(error - np.sqrt(2 * max(risk - best, 0.0))))
    return {"numbers": {"error beyond √(2ε)": {f"{draws} draws": worst}}}


def posterior(X: Any) -> Any:
    """The probabilities of the three Gaussians at X, (n, 3)."""
    centred = X[:, None, :] - MEANS  # (n, 3, 2)
    distance = np.einsum("nki,kij,nkj->nk", centred, np.linalg.inv(COVARIANCES), centred)
    log = -0.5 * distance - 0.5 * np.linalg.slogdet(COVARIANCES)[1]
    density = np.exp(log - log.max(axis=1, keepdims=True))
    return density / density.sum(axis=1, keepdims=True)


SIZES = (250, 1000, 4000, 16_000, 64_000)
BOUND = 5.0  # B of (64)


@task
def consistency(m: int, seed: int, n_test: int = 40_000) -> dict[str, Any]:
    """AdaBoost.MM with √m rounds on m examples of the three Gaussians: excess test error in points and excess risk."""
    data = make_three_gaussians(m, n_test, random_state=seed)
    eta = posterior(data.X_test)  # (n, 3)
    c, rows = data.y_test, np.arange(n_test)
    best_error = 1 - eta.max(axis=1).mean()
    best_risk = (np.sqrt(eta).sum(axis=1) ** 2 - 1).mean()
    numbers = {}
    for name, rounds in (("T = √m", int(np.sqrt(m))), ("T = 500", 500)):
        clf = sb.AdaBoostMMClassifier(n_estimators=rounds).fit(data.X_train, data.y_train)
        F = 2 * clf.decision_function(data.X_test)
        named = eta[rows, F.argmax(axis=1)]  # the probability of the named class: less noise than the labels
        numbers[f"excess error, {name}"] = {f"m = {m}": 100 * float(1 - named.mean() - best_error)}
        if rounds != 500:
            G = clamped(F, BOUND)
            D = np.exp(G[:, None, :] - G[:, :, None])  # (n, true class, rival)
            numbers["excess risk"] = {f"m = {m}": float((eta * (D.sum(axis=2) - 1)).sum(axis=1).mean() - best_risk)}
            numbers["test error, labels"] = {f"m = {m}": 100 * float((F.argmax(axis=1) != c).mean())}
    return {"numbers": numbers}


@experiment("mukherjee-consistency", "Consistency of AdaBoost.MM: Lemmas 26 to 28, Theorem 29", urgency=4)
def consistent(plan: Plan) -> list[Cell]:
    """Lemma 26: all stumps on seven thresholds of two features that name one of three classes on either side, 120
    examples, 20 000 rounds, the least risk by convex optimisation. Lemma 28: random distributions on up to five points
    and five classes. Lemma 27 and Theorem 29: the three Gaussians, trees of depth 2, √m rounds for m examples (and 500
    rounds beside it), scores clamped at 5; excess error and risk are computed with the true posterior of 40 000 test
    points, five draws.
    """
    largest = plan.pick(len(SIZES), 3)
    cells = [Cell("training_rate", {"seed": s, "rounds": plan.pick(20_000, 500)}, 10.0) for s in range(3)]
    cells += [Cell("lemma28", {"seed": 0, "draws": 3000}, 1.0)]
    return cells + [
        Cell("consistency", {"m": m, "seed": s}, 1 + m / 4000) for m in SIZES[:largest] for s in plan.repeats
    ]


@consistent.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    numbers = merged(plan, found, "mukherjee-consistency")
    curves = {row: own for row, own in numbers.items() if row.startswith("excess") and any("m =" in c for c in own)}

    def draw(figure: Any) -> None:
        for axes, rows in zip(
            figure.subplots(1, 2), (("excess error, T = √m", "excess error, T = 500"), ("excess risk",)), strict=True
        ):
            for row in rows:
                known = [m for m in SIZES if f"m = {m}" in curves.get(row, {})]
                if known:
                    axes.loglog(known, [np.mean(curves[row][f"m = {m}"]) for m in known], "o-", label=row)
            axes.set(xlabel="training examples m")
            axes.grid(alpha=0.3)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize=8)

    yield Figure(
        "mukherjee-consistency", "AdaBoost.MM: excess error in points, and excess risk, over m.", draw, (9, 3.4)
    )
    yield as_table({row: own for row, own in numbers.items() if row in curves})
    yield as_table({row: own for row, own in numbers.items() if row not in curves and "labels" not in row})


# ---- M1's trees -----------------------------------------------------------------------------------------------------


def greedy_cells(plan: Plan, name: str) -> dict[str, Cell]:
    """M1 with ten leaves, grown by information gain and on the weighted error."""
    return {
        "M1, information gain": mukherjee.cell(plan, "m1", name, 10, criterion="info", depth=None),
        "M1, error": mukherjee.cell(plan, "m1", name, 10, criterion="own", depth=None),
    }


@experiment("mukherjee-greedy", "AdaBoost.M1 with trees grown by information gain and on the error", urgency=5)
def greedy(plan: Plan) -> list[Cell]:
    """Section 10 says that for M1 Greedy-Info consistently gave better results than Greedy. Chosen: ten leaves, the
    smallest size of Figure 10, 500 rounds.
    """
    return [c for name in mukherjee.SETS for c in greedy_cells(plan, name).values()]


@greedy.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    from .measured import numbers as measured_numbers

    rows = []
    for name in mukherjee.SETS:
        cells = greedy_cells(plan, name)
        values = [measured_numbers(found, [cell]) for cell in cells.values()]
        shown = ["…" if not v.values else "—" if np.isnan(v.mean) else f"{v.mean:.1f}" for v in values]
        rows.append([name, *shown])
    yield Text("Test errors in percent; — is a booster that could not begin.")
    yield Table(["set", "information gain", "error"], rows)
