"""The three Gaussians of both MCBoost papers: CD-MCBoost with stumps, its predictions and margins over the rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost.datasets import make_three_gaussians, three_gaussians_bayes

from .cells import Cell, Results, task
from .comparison import Samples
from .registry import Block, Figure, Plan, Text

MOMENTS = (0, 10, 100)  # the rounds in the figures
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44")


@task
def three_gaussians(schedule: str, seed: int, n: int = 1000, keep: bool = False) -> dict[str, Any]:
    """Test errors after some rounds beside those of the Bayes rule; with ``keep`` also predictions and margins."""
    data = make_three_gaussians(n, n, random_state=seed)
    clf = sb.CDMCBoostClassifier(n_estimators=max(MOMENTS), schedule=schedule).fit(data.X_train, data.y_train)
    model, c = clf.model_, data.y_test
    F = {t: model.first(t).predictor(data.X_test) for t in MOMENTS}
    U = {t: model.scores(F[t]) for t in MOMENTS}
    bayes = {
        part: float((three_gaussians_bayes(X) != y).mean())
        for part, X, y in (("train", data.X_train, data.y_train), ("test", data.X_test, c))
    }
    out: dict[str, Any] = {"bayes": bayes, "test": [float((U[t].argmax(axis=1) != c).mean()) for t in MOMENTS]}
    margins = [sb.parts.losses.margins(U[t], c) for t in MOMENTS]
    out["mean_margin"] = [float(m.mean()) for m in margins]
    if keep:
        out |= {
            "Y": model.Y.tolist(),
            "c": c.tolist(),
            "F": [np.round(F[t], 3).tolist() for t in MOMENTS],
            "margins": [np.round(m, 3).tolist() for m in margins],
        }
    return out


@task
def classes_apart(schedule: str, seed: int) -> dict[str, Any]:
    """How far apart CD-MCBoost's predictions of different classes are after some rounds: the mean distance of the
    classes' mean predictions, and that of two test examples of different classes.
    """
    data = make_three_gaussians(1000, 1000, random_state=seed)
    model = sb.CDMCBoostClassifier(n_estimators=max(MOMENTS), schedule=schedule).fit(data.X_train, data.y_train).model_
    pairs = ((0, 1), (0, 2), (1, 2))
    numbers: dict[str, dict[str, float]] = {}
    for t in MOMENTS:
        F = model.first(t).predictor(data.X_test)  # (n, 2)
        own = [F[data.y_test == k] for k in range(3)]
        centres = [np.linalg.norm(own[a].mean(axis=0) - own[b].mean(axis=0)) for a, b in pairs]
        examples = [np.linalg.norm(own[a][:, None] - own[b], axis=2).mean() for a, b in pairs]
        for row, values in (("class means", centres), ("examples", examples)):
            numbers.setdefault(f"distance of {row}, {schedule}", {})[f"t = {t}"] = float(np.mean(values))
    return {"numbers": numbers}


CURVE = (10, 20, 50, 100, 200, 500)
SETTINGS = {  # training rows, share of the step
    "1000 rows, full steps (the paper's)": {"n": 1000, "rate": 1.0},
    "1000 rows, steps × 0.3": {"n": 1000, "rate": 0.3},
    "10 000 rows, full steps": {"n": 10_000, "rate": 1.0},
    "50 000 rows, full steps": {"n": 50_000, "rate": 1.0},
}


@task
def gaussian_gaps(n: int, rate: float, seed: int, rounds: int = max(CURVE), n_test: int = 20_000) -> dict[str, Any]:
    """Test error minus that of the Bayes rule over the rounds, on a large test part."""
    data = make_three_gaussians(n, n_test, random_state=seed)
    clf = sb.CDMCBoostClassifier(n_estimators=rounds, learning_rate=rate).fit(data.X_train, data.y_train)
    model, c = clf.model_, data.y_test
    bayes = float((three_gaussians_bayes(data.X_test) != c).mean())
    wrong = [model.scores(model.first(t).predictor(data.X_test)).argmax(axis=1) != c for t in CURVE]
    return {"gaps": [float(w.mean()) - bayes for w in wrong]}


def gap_cells(plan: Plan, n: int, rate: float) -> list[Cell]:
    """Draws of the data; few of the large ones, which hardly differ."""
    draws = plan.pick(10 if n == 1000 else 3, 2)
    return [Cell("gaussian_gaps", {"n": n, "rate": rate, "seed": s}, 1.0 + n * 3e-4) for s in range(draws)]


def gaussian_cells(plan: Plan, schedule: str) -> list[Cell]:
    """Seeds, the first with predictions."""
    seeds = range(plan.pick(20, 5))
    first = Cell("three_gaussians", {"schedule": schedule, "seed": 0, "keep": True}, 0.5)
    return [first, *(Cell("three_gaussians", {"schedule": schedule, "seed": s}, 0.5) for s in seeds)]


def predictions_figure(name: str, caption: str, result: dict[str, Any]) -> Figure:
    """F on the test set at the three moments, classes in colour, codewords dashed."""

    def draw(figure: Any) -> None:
        Y, c = np.array(result["Y"]), np.array(result["c"])
        for i, (axes, t) in enumerate(zip(figure.subplots(1, 3), MOMENTS, strict=True)):
            F = np.array(result["F"][i])
            reach = max(1.2, np.abs(F).max() * 1.12)  # room for the spread of the points
            for k, colour in enumerate(COLOURS):
                axes.plot(
                    *np.stack([np.zeros(2), reach * Y[k]], axis=1), "--", color=colour, lw=1, label=f"class {k + 1}"
                )
            rng = np.random.default_rng(0)
            order = rng.permutation(len(c))  # no class covers the others
            F = F + 0.012 * reach * rng.normal(size=F.shape)  # stumps have few answers: points would cover each other
            axes.scatter(*F[order].T, s=5, c=np.array(COLOURS)[c[order]], alpha=0.5, linewidths=0)
            axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="$f_1$", title=f"t = {t}")
        figure.axes[0].set_ylabel("$f_2$")
        figure.axes[0].legend(fontsize=7, loc="upper right")

    return Figure(name, caption, draw, (9.5, 3.5))


def predictions_blocks(name: str, plan: Plan, found: Results, cells: list[Cell], printed: str = "") -> Iterator[Block]:
    """The figure of the first of `gaussian_cells`, and how near all of them come to the Bayes rule; ``printed`` says
    what the paper has for it.
    """
    if result := found.get(cells[0]):
        yield predictions_figure(
            name, "CD-MCBoost's predictor f(x) on the test set, points spread a little; codewords dashed.", result
        )
    yield near_bayes(plan, found, cells, printed)


def margins_figure(name: str, caption: str, result: dict[str, Any]) -> Figure:
    """Histograms of the margins."""

    def draw(figure: Any) -> None:
        for i, (axes, t) in enumerate(zip(figure.subplots(1, 3), MOMENTS, strict=True)):
            margins = np.array(result["margins"][i])
            right = 100 * (margins > 0).mean()
            if t == 0:  # nothing is learned yet: every margin is 0
                axes.bar([0.0], [len(margins)], width=1 / 3, color=COLOURS[0])
                axes.annotate(f"all {len(margins)} are 0", (0.4, 0.9 * len(margins)), fontsize=8)
            else:
                axes.hist(margins, bins=np.linspace(-6, 9, 46), color=COLOURS[0])
                axes.axvline(0, color="black", lw=0.8)
            axes.set(title=f"t = {t}: {right:.1f} % positive", xlabel="margin", xlim=(-6, 9))
        figure.axes[0].set_ylabel("test examples")

    return Figure(name, caption, draw)


def near_bayes(plan: Plan, found: Results, cells: list[Cell], printed: str) -> Text:
    """The test error after 100 rounds beside that of the Bayes rule on the same rows."""
    done = found.finished(cells[1:])
    if not done:
        return Text("No draw has been run.")
    errors = Samples(tuple(100 * r["test"][-1] for r in done), len(cells) - 1)
    gaps = Samples(tuple(100 * (r["test"][-1] - r["bayes"]["test"]) for r in done), len(cells) - 1)
    return Text(
        f"Test error after 100 rounds: {errors.mean:.2f} ± {errors.half:.2f} % over {len(done)} of {len(cells) - 1} "
        f"draws{printed}, {gaps.mean:+.2f} ± {gaps.half:.2f} points from the Bayes rule on the "
        "same rows. See `jmlr-gaussians` for shorter steps and more rows."
    )
