"""The theory as experiments: AdaBoost.MM's clamp and consistency, MH on the class as a feature, M1's greedy trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize

import simplexboost as sb
from simplexboost.datasets import make_three_gaussians
from simplexboost.datasets.generators import COVARIANCES, MEANS
from simplexboost.parts.losses import clamp_scores

from . import mukherjee, nips2011, theorems_mm  # noqa: F401  registers its checks
from .cells import Cell, Results, task
from .comparison import published
from .fits import at, fit_cell
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
def index_sums(seed: int, K: int, rounds: int) -> dict[str, Any]:
    """MH with stumps on the example and the class: decisions that differ, and how far scores are from additive.

    Classes are of unequal size: with equal ones no feature of x tells more of the pairs than another, and all stumps
    ask for the class.
    """
    X, c = small_problem(seed, n=300, K=K)
    kept = np.random.default_rng(seed).random(len(c)) < (c + 1) / K
    X, c = X[kept], c[kept]
    clf = sb.AdaBoostMHClassifier(learner_mode="index", n_estimators=rounds).fit(X, c)
    F = clf.decision_function(X)  # (n, K)
    rest = F - F.mean(axis=0) - F.mean(axis=1, keepdims=True) + F.mean()
    decided = np.bincount(F.argmax(axis=1), minlength=K).max()
    column = f"K = {K}, seed {seed}"
    scale = max(float(np.abs(F).max()), 1e-300)
    return {
        "numbers": {
            "other decisions": {column: 1 - decided / len(c)},
            "spread of a(x), of that of b(k)": {column: float(np.ptp(F.mean(axis=1)) / np.ptp(F.mean(axis=0)))},
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
    return [Cell("index_sums", {"seed": seed, "K": K, "rounds": 60}, 1.0) for seed in range(3) for K in (3, 5)]


@index.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text(
        "Share of decisions other than the most frequent one, how much a(x) varies beside b(k), and the part of the "
        "scores that is not a(x) + b(k):"
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
        margin = sb.parts.losses.margins(model.scores(F), c)
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
        G = clamp_scores(F, B)
        losses = np.exp(G - G[np.arange(len(c)), c][:, None]).sum(axis=1) - 1
        column = f"B = {B:g}, seed {seed}"
        numbers.setdefault("other decisions", {})[column] = float((G.argmax(axis=1) != F.argmax(axis=1)).mean())
        numbers.setdefault("loss beyond the bound", {})[column] = float(losses.max() - 2 * np.exp(B))
        numbers.setdefault("mean test loss", {})[column] = float(losses.mean())
    return {"numbers": numbers}


@experiment("mukherjee-clamp", "AdaBoost.MM's clamped scores", urgency=4)
def clamps(plan: Plan) -> list[Cell]:
    """Equation (64): scores max(−B, F − max F), which decide alike and bound the loss of every example; three
    Gaussians, 2000 training and 4000 test examples, 200 rounds of trees of depth 2. Both follow from the formula, so
    that what is tried here is our function `clamp_scores`.
    """
    return [Cell("clamp", {"seed": seed}, 2.0) for seed in plan.repeats[:2]]


@clamps.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    yield Text("Share of other decisions, the largest loss less 2 e^B, and the mean loss of test rows:")
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


def least_risk(M: Any, K: int) -> tuple[float, float]:
    """The infimum of the risk over all combinations, from below and from above.

    From above by convex optimisation with Newton steps at the end. From below by duality: all w ≥ 0 with Mᵀ w = 0 have
    Σ (w − w ln(w n)) at most the infimum of the mean of exp(M α); w are the weights at the end, made orthogonal to M.
    """
    n = len(M)

    def risk(alpha: Any) -> tuple[float, Any]:
        E = np.exp(M @ alpha) / n
        return float(E.sum()), E @ M

    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    alpha = minimize(risk, np.zeros(M.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    for _ in range(20):
        E = np.exp(M @ alpha) / n
        step = np.linalg.lstsq(M.T @ (E[:, None] * M), -(E @ M), rcond=1e-12)[0]
        if not risk(alpha + step)[0] < risk(alpha)[0]:
            break
        alpha = alpha + step
    w = np.exp(M @ alpha) / n
    w = np.maximum(w - M @ np.linalg.lstsq(M, w, rcond=None)[0], 0.0)
    off = float(np.abs(w @ M).max())  # clipped entries may spoil the constraint
    below = float((w - w * np.log(np.maximum(w * n, 1e-300))).sum()) if off < 1e-12 else -np.inf
    return (K - 1) * below, (K - 1) * risk(alpha)[0]


USABLE = 0.01  # the least risk is known to this share of the excess at the end, or the slope is not taken


@task
def risk_rate(seed: int, rounds: int) -> dict[str, Any]:
    """AdaBoost on the triples, which is AdaBoost.MM with step (61) by Lemma 34, over a finite space of stumps: the
    excess of its training risk, and the slope of its logarithm over the last decade of rounds.
    """
    X, c = small_problem(seed, n=120, K=3, p=2)
    M = triples(stump_answers(X, 3, 7), c, 3)
    w, risk, risks = np.full(len(M), 1 / len(M)), 2.0, []
    for _ in range(rounds):
        edges = -(w @ M)
        j = int(edges.argmax())
        alpha = 0.5 * np.log((1 + edges[j]) / (1 - edges[j]))
        w = w * np.exp(alpha * M[:, j])
        risk *= float(w.sum())
        w /= w.sum()
        risks.append(risk)
    below, above = least_risk(M, 3)
    excess = np.array(risks) - below  # at least the true one
    T = np.arange(1, rounds + 1)
    late = rounds // 10 <= T
    numbers = {f"excess risk after {t}": float(excess[t - 1]) for t in (10, 100, 1000, 10_000) if t <= rounds}
    numbers["least risk, from above less from below"] = above - below
    if above - below <= USABLE * excess[-1]:
        numbers["slope"] = float(np.polyfit(np.log(T[late]), np.log(excess[late]), 1)[0])
    return {"numbers": {f"Lemma 26, problem {seed + 1}": numbers}}


@task
def bayes_ratio(seed: int, draws: int) -> dict[str, Any]:
    """Lemma 28: the largest (err − err*) / √(2 ε) of random distributions with random scores, and of two almost equal
    classes of which the wrong one is named, where it is nearly attained.
    """
    rng, ratios, positive = np.random.default_rng(seed), [], 0
    for draw in range(draws):
        if draw % 2:
            n, K = int(rng.integers(1, 6)), int(rng.integers(2, 6))
            p, eta = rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(K, rng.choice([0.3, 1.0, 5.0])), size=n)
            F = 0.5 * np.log(np.maximum(eta, 1e-12)) + rng.choice([0.05, 0.5, 2.0]) * rng.normal(size=(n, K))
        else:
            gap, p = float(rng.uniform(0.01, 0.5)), np.ones(1)
            eta = np.array([[0.5 + gap, 0.5 - gap]])
            F = np.array([[0.0, 1e-6]])
        excess = conditional_risk(F, eta) @ p - (np.sqrt(eta).sum(axis=1) ** 2 - 1) @ p
        error = p @ (eta.max(axis=1) - eta[np.arange(len(p)), F.argmax(axis=1)])
        if excess > 1e-9:
            ratios.append(float(error / np.sqrt(2 * excess)))
            positive += bool(error > 0)
    numbers = {"draws with ε > 0": float(len(ratios)), "of them with another decision": float(positive)}
    return {"numbers": {"Lemma 28": numbers | {"largest ratio": max(ratios)}}}


def conditional_risk(F: Any, eta: Any) -> Any:
    """Σ over true classes l of η_l Σ over rivals of e^{F_l' − F_l}, (n,)."""
    D = np.exp(F[:, None, :] - F[:, :, None])  # (n, true class, rival)
    return (eta * (D.sum(axis=2) - 1)).sum(axis=1)


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
            G = clamp_scores(F, BOUND)
            numbers["excess risk"] = {f"m = {m}": float(conditional_risk(G, eta).mean() - best_risk)}
            numbers["test error, labels"] = {f"m = {m}": 100 * float((F.argmax(axis=1) != c).mean())}
    return {"numbers": numbers}


@experiment("mukherjee-consistency", "Consistency of AdaBoost.MM: Lemmas 26 to 28, Theorem 29", urgency=4)
def consistent(plan: Plan) -> list[Cell]:
    """Lemma 26: all stumps on seven thresholds of two features that name one of three classes on either side, 120
    examples, 20 000 rounds of AdaBoost on the triples (x, y, l), which is AdaBoost.MM with step (61) by Lemma 34; the
    least risk by convex optimisation, with a bound from below by duality. Lemma 28: random distributions on up to five
    points and five classes, and two almost equal classes. Lemma 27 and Theorem 29: the three Gaussians, trees of depth
    2, √m rounds for m examples (and 500 rounds beside it), scores clamped at 5; excess error and risk are computed with
    the true posterior of 40 000 test points, five draws.
    """
    largest = plan.pick(len(SIZES), 3)
    cells = [Cell("risk_rate", {"seed": s, "rounds": plan.pick(20_000, 500)}, 10.0) for s in range(3)]
    cells += [Cell("bayes_ratio", {"seed": 0, "draws": 3000}, 1.0)]
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
    yield Text("Lemma 26: the excess of the training risk, how well the least risk is known, and the slope:")
    yield as_table({row: own for row, own in numbers.items() if row.startswith("Lemma 26")})


# ---- training errors ------------------------------------------------------------------------------------------------

EARLY = 100  # rounds over which the two steps are compared


def training_cells(plan: Plan, name: str) -> dict[str, Cell]:
    """Trees of five leaves with training errors: Figure 11's boosters, and MM with the exact step; the first split."""
    options: dict[str, tuple[str, dict[str, Any]]] = {
        "M1": ("m1", {"criterion": "info", "depth": None}),
        "MH": ("mh", {"mode": "single", "depth": None}),
        "MM": ("mm", {"step": "edge", "depth": None}),
        "MM, step (62)": ("mm", {"step": "exact", "depth": None}),
    }
    return {
        row: fit_cell(
            booster, own | {"leaves": 5}, plan.pick(mukherjee.ROUNDS, 50), mukherjee.given(plan, name, 0), 0, True
        )
        for row, (booster, own) in options.items()
    }


@experiment("mukherjee-training", "Training errors with trees of five leaves", urgency=4)
def training(plan: Plan) -> list[Cell]:
    """The Introduction says that other boosters usually heavily underfit with very weak learners, Section 8 that the
    training error falls more rapidly with step (62) than with (61); the paper shows no training errors. Here are those
    of Figure 11's boosters, trees of at most five leaves, 500 rounds, on the first split of every set, and of MM with
    step (62).
    """
    return [c for name in mukherjee.SETS for c in training_cells(plan, name).values()]


def early_error(result: dict[str, Any]) -> float:
    """The mean training error over the rounds noted up to `EARLY`, in percent."""
    known = [e for t, e in zip(result["rounds"], result["train"], strict=True) if t <= EARLY]
    return 100 * float(np.mean(known)) if known else np.nan


@training.reported
def _(plan: Plan, found: Results) -> Iterator[Block]:
    rows = []
    for name in mukherjee.SETS:
        results = {row: found.get(cell) for row, cell in training_cells(plan, name).items()}
        ends = [
            "…" if r is None else f"{100 * at(r, 10**9, 'train'):.1f}" if r["rounds"] else "—" for r in results.values()
        ]
        early = ["…" if (r := results[m]) is None else f"{early_error(r):.1f}" for m in ("MM", "MM, step (62)")]
        rows.append([name, *ends, *early])
    yield Text(
        "Training errors in percent after the last round, and the means over the rounds noted up to round 100 with "
        "both steps; — is a booster that could not begin."
    )
    header = ["set", "M1", "MH", "MM", "MM, step (62)", "MM, rounds 1 to 100", "MM, step (62), rounds 1 to 100"]
    yield Table(header, rows)


# ---- M1's trees -----------------------------------------------------------------------------------------------------


def greedy_cells(plan: Plan, name: str) -> dict[str, Cell]:
    """M1 with ten leaves, grown by information gain and on the weighted error, on the first split."""
    return {
        "M1, information gain": mukherjee.cell(plan, "m1", name, 10, criterion="info", depth=None),
        "M1, error": mukherjee.cell(plan, "m1", name, 10, criterion="own", depth=None),
    }


@experiment("mukherjee-greedy", "AdaBoost.M1 with trees grown by information gain and on the error", urgency=5)
def greedy(plan: Plan) -> list[Cell]:
    """Section 10 says that for M1 Greedy-Info consistently gave better results than Greedy. Chosen: ten leaves, the
    smallest size of Figure 10, 500 rounds, the first split of every set alone.
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
