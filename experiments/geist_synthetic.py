"""Geist: sm-boost beside AdaBoost.MH and SAMME on synthetic problems (Figures 1 to 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from simplexboost.datasets import MadelonParameters, make_madelon_like

from .boosters import make
from .cells import Cell, Results, task
from .data import Problem
from .fits import at, follow
from .geist import METHODS, MOMENTS, booster
from .registry import Block, Figure, Plan, Table, Text, experiment

PROBLEMS = 1000
TOGETHER = 20  # of them are run in one turn


@task
def madelon(seed: int, rounds: int, n_test: int = 10_000) -> dict[str, Any]:
    """The three boosters on one random problem: train and test errors at the moments."""
    parameters = MadelonParameters.draw(seed)
    d = make_madelon_like(parameters, n_test, random_state=seed)
    given = Problem(d.X_train, d.y_train, d.X_test, d.y_test, parameters.n_classes)
    out: dict[str, Any] = {"K": given.K}
    for method in METHODS:
        name, options = booster(method, given.K)
        result = follow(make(name, given.K, rounds, seed, options), given)
        out[method] = {part: [at(result, t, part) for t in MOMENTS] for part in ("train", "test")}
    return out


def madelon_cells(plan: Plan) -> list[Cell]:
    """The problems."""
    rounds, n_test = plan.pick((1000, 10_000), (100, 2000))
    extra = {} if n_test == 10_000 else {"n_test": n_test}
    return [
        Cell("madelon", {"seed": s, "rounds": rounds} | extra, rounds * 0.0075, s // TOGETHER)
        for s in range(plan.pick(PROBLEMS, 100))
    ]


def madelon_errors(plan: Plan, found: Results, part: str) -> dict[str, Any]:
    """Errors in percent, (problems, moments) per booster; classes and label noise of the problems."""
    done = [(c, r) for c in madelon_cells(plan) if (r := found.get(c)) is not None]
    errors = {m: 100 * np.array([r[m][part] for _, r in done]).reshape(-1, len(MOMENTS)) for m in METHODS}
    noise = [MadelonParameters.draw(c.arguments["seed"]).label_noise for c, _ in done]
    return errors | {"K": np.array([r["K"] for _, r in done], dtype=int), "noise": np.array(noise)}


def shown_moments(plan: Plan) -> list[int]:
    """The moments that a plan reaches."""
    return [t for t in MOMENTS if t <= plan.pick(1000, 100)]


def scatter(axes: Any, rival: str, theirs: Any, ours: Any) -> None:
    """The rival's errors against sm-boost's, on axes of square roots, which spread small errors out."""
    reach = max(theirs.max(initial=1), ours.max(initial=1))
    axes.plot([0, reach], [0, reach], color="black", lw=0.8)
    colors = np.select([ours > theirs, ours < theirs], ["#d1495b", "#1b6ca8"], "0.5")
    axes.scatter(theirs, ours, s=9, c=colors, alpha=0.5, linewidths=0, clip_on=False)  # whole dots where an error is 0
    root = (lambda x: np.sqrt(np.maximum(x, 0.0)), np.square)
    axes.set_xscale("function", functions=root)
    axes.set_yscale("function", functions=root)
    ticks: list[float] = []
    for t in (0, 0.1, 0.5, 2, 5, 10, 20, 40, 60):
        if t <= reach and (not ticks or np.sqrt(t) - np.sqrt(ticks[-1]) > 0.1 * np.sqrt(reach)):  # far enough to read
            ticks.append(t)
    names = [f"{t:g}" for t in ticks]
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    axes.set(xlim=(0, 1.05 * reach), ylim=(0, 1.05 * reach), xlabel=f"{rival}, %", ylabel="sm-boost, %", aspect="equal")
    axes.tick_params(labelsize=7)


def histogram(axes: Any, rival: str, theirs: Any, ours: Any) -> None:
    """Differences of errors."""
    axes.hist(theirs - ours, bins=50, color="#1b6ca8")
    axes.axvline(0, color="black", lw=0.8)
    axes.set(xlabel=f"{rival} − sm-boost, points", ylabel="problems")


def synthetic_figure(
    plan: Plan, found: Results, rival: str, name: str, caption: str, panel: Callable[..., None]
) -> Figure:
    """A panel for training and test errors at every moment."""

    def draw(figure: Any) -> None:
        grid = figure.subplots(2, len(shown_moments(plan)), squeeze=False)
        for row, part in zip(grid, ("train", "test"), strict=True):
            errors = madelon_errors(plan, found, part)
            for i, (axes, t) in enumerate(zip(row, shown_moments(plan), strict=True)):
                panel(axes, rival, errors[rival][:, i], errors["sm-boost"][:, i])
                axes.set_title(f"{part}, T = {t}", fontsize=9)

    return Figure(name, caption, draw, (3.2 * len(shown_moments(plan)), 5.8))


NOISE_ENDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)


def synthetic_blocks(plan: Plan, found: Results, rival: str) -> Iterator[Block]:
    """How often each booster has the lower error; the lower test error by label noise and classes."""
    errors = {part: madelon_errors(plan, found, part) for part in ("train", "test")}
    test = errors["test"]
    n, wanted = len(test[rival]), len(madelon_cells(plan))
    gaps = {part: own[rival] - own["sm-boost"] for part, own in errors.items()}  # (problems, moments)
    rows = []
    for part, gap in gaps.items():
        for i, t in enumerate(shown_moments(plan)):
            shares = [percent(share(yes)) for yes in (gap[:, i] < 0, gap[:, i] == 0, gap[:, i] > 0)]
            rows.append([f"{part}, T = {t}", *shares, f"{gap[:, i].mean():+.2f}" if n else ""])
    yield Text(f"{n} of {wanted} problems:")
    yield Table(["", f"{rival} lower", "equal", "sm-boost lower", f"{rival} − sm-boost, points"], rows)
    last = gaps["test"][:, len(shown_moments(plan)) - 1]
    level = np.digitize(test["noise"], NOISE_ENDS[1:-1])
    yield Text(f"Share of the problems on which sm-boost has the lower test error than {rival} after the last round:")
    yield Table(
        ["", *(f"noise {100 * a:.0f} to {100 * b:.0f} %" for a, b in pairwise(NOISE_ENDS))],
        [
            [f"{K} classes", *(percent(share(last[(test["K"] == K) & (level == i)] > 0)) for i in range(5))]
            for K in range(2, 6)
        ],
    )


def percent(part: float) -> str:
    """Of a share; nothing of none."""
    return "" if np.isnan(part) else f"{100 * part:.0f} %"


def share(yes: Any) -> float:
    """Of true values; NaN of none."""
    return float(yes.mean()) if len(yes) else np.nan


SYNTHETIC = """Stated: 1000 problems drawn at random (features, classes, clusters, label noise, training rows), 10 000
clean test rows, T = 1000; trees of 12 leaves grown best first, one per class, and 12 (K − 1) for SAMME. Chosen:
draws with more clusters than vertices are drawn again; label noise β draws a new label at random, which may be the old
one, for that share of the training rows, as scikit-learn's generator does, so that β (K − 1)/K of the labels are wrong
on average (Table 3 permutes labels among a fifth of the rows instead); trees grown by the Gini index, as CART does; the
class of highest score is predicted."""


def synthetic(name: str, rival: str, differences: bool, protocol: str) -> None:
    """Registers one of Figures 1 to 4: a scatter with the claims, or a histogram of the differences."""
    title = f"Synthetic problems: {rival} {'minus' if differences else 'against'} sm-boost"
    figure = experiment(name, title, urgency=4)(madelon_cells)
    figure.protocol = " ".join(protocol.split())

    @figure.reported
    def _(plan: Plan, found: Results) -> Iterator[Block]:
        if differences:
            caption = f"Error of {rival} minus that of sm-boost."
            yield synthetic_figure(plan, found, rival, name, caption, histogram)
            return
        caption = f"Errors on axes of square roots; red: {rival} is better, blue: sm-boost is, grey: both are equal."
        yield synthetic_figure(plan, found, rival, name, caption, scatter)
        yield from synthetic_blocks(plan, found, rival)


synthetic("geist-figure1", "AdaBoost.MH", False, SYNTHETIC)
synthetic("geist-figure2", "AdaBoost.MH", True, "The runs of Figure 1.")
synthetic("geist-figure3", "SAMME", False, "The problems of Figure 1 (the paper draws others by the same law).")
synthetic("geist-figure4", "SAMME", True, "The runs of Figure 3.")
