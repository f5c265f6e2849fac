"""The pictures of the documentation: ``python -m benchmarks.pictures [NAME ...]`` writes them to ``docs/pictures``.

The race comes from the tables of ``benchmarks/RESULTS.md``, so that the picture and the page cannot differ. All others
are computed on the spot, in seconds, with the functions of `simplexboost.evaluate`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simplexboost import add_classes, drop_classes, merge_classes
from simplexboost.evaluate.drawing import PALETTE

from .contestants import OURS
from .plots import few_ticks, pyplot

RESULTS = Path(__file__).parent / "RESULTS.md"
SETS = Path(__file__).parent / "SETS.md"
LABEL_PAGE = Path(__file__).parent / "LABELS.md"
MANY = Path(__file__).parent / "MANY.md"
MANY_NAMES = {"candidates": "simplexboost, 32 candidates", "all scores": "simplexboost, all scores"} | {
    name: name for name in ("XGBoost", "LightGBM", "CatBoost", "HGB", "XGBoost, vector leaves")
}
FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
NAMES = {OURS: "simplexboost", "lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"} | {
    "xgboost-multi": "XGBoost, vector leaves",
    "histgb": "scikit-learn HGB",
}
MARKERS = {OURS: "o", "lightgbm": "^", "xgboost": "s", "xgboost-multi": "D", "catboost": "P", "histgb": "v"}
COLOURS = dict(zip(MARKERS, PALETTE, strict=True))  # those of `simplexboost.evaluate`, like the other pictures


# ---- the race -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Race:
    """What the page says about a set.

    Attributes
    ----------
    head : the line of sizes
    classes : their number
    ours : (seconds, accuracy) on the way and at the end, ascending
    peers : name of a row, (seconds to its best accuracy, less 0.1 point; its best accuracy)
    """

    head: str
    classes: int
    ours: list[tuple[float, float]]
    peers: dict[str, tuple[float, float]]


def read_race(dataset: str, page: str | None = None) -> Race:
    """The race on a set, from the tables of the page.

    Examples
    --------
    >>> letter = read_race("letter")
    >>> letter.classes, letter.peers["lightgbm, tuned"]
    (26, (6.76, 0.971))
    """
    text = RESULTS.read_text(encoding="utf-8") if page is None else page
    section = text.split(f"\n### {dataset}\n", 1)[1].split("\n### ", 1)[0]
    head = section.strip().partition("\n")[0]
    fits = list(rows(section.partition("Time ratio, accuracy")[0]))
    ratios = list(rows(section.partition("Time ratio, accuracy")[2].partition("Time ratio, log-loss")[0]))
    us = next(row for row in fits if row["contestant"] == OURS)
    way = [(seconds(row["our s"]), float(row["target"])) for row in ratios if row["our s"][0].isdigit()]
    end = (seconds(us["fit s"]), float(us["accuracy"]))
    peers = {row["peer"]: (seconds(row["its s"]), float(row["its best"])) for row in ratios}
    classes = int(re.search(r"(\d+) classes", head)[1])  # type: ignore[index]
    return Race(head, classes, [*sorted({point for point in way if point[0] < end[0]}), end], peers)


def rows(markdown: str) -> Iterator[dict[str, str]]:
    """The rows of the first table in a text; of two columns of the same name the first counts."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    head, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    for cells in body[1:]:
        yield dict(reversed(list(zip(head, cells, strict=True))))


def seconds(text: str) -> float:
    """A time in a table, with or without the mark of fits that were ended."""
    return float(text.rstrip("*"))


def draw_race(plt: Any) -> Any:
    """Accuracy against time at 26 and 438 classes; peers at their best round, ours on its way to the end."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    for ax, dataset in zip(axes, ("letter", "aloi27"), strict=True):
        race = read_race(dataset)
        draw_ours(ax, race)
        for name, point in race.peers.items():
            library, _, way = name.partition(", ")
            face = COLOURS[library] if way else "white"
            style = {"marker": MARKERS[library], "markersize": 8, "markeredgewidth": 1.6, "linestyle": "none"}
            ax.plot(*point, color=COLOURS[library], markerfacecolor=face, label=NAMES[library], **style)
        ax.set(xscale="log", xlabel="fit time, seconds", title=f"{race.classes} classes ({dataset})")
        ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.minorticks_off()
        ax.set_xlim(0.8, 60)
        ax.grid(alpha=0.25, linewidth=0.5)
    axes[0].set_ylabel("test accuracy")
    handles = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return figure


TICKS = (1, 2, 5, 10, 20, 50)


def draw_ours(ax: Any, race: Race) -> None:
    """Our accuracy over time, as far as the page tells it, and the end of the fit."""
    way = np.array(race.ours)
    ax.plot(*way.T, ".-", color=COLOURS[OURS], linewidth=2.2, markersize=7)
    ax.plot(*way[-1], "o", color=COLOURS[OURS], markersize=9, label=NAMES[OURS])
    words = f"{way[-1, 1]:.3f} after {way[-1, 0]:.0f} s"
    ax.annotate(words, way[-1], (-9, 5), textcoords="offset points", ha="right", fontsize=9, color=COLOURS[OURS])
    ax.margins(y=0.12)


# ---- thousands of classes -------------------------------------------------------------------------------------------


def draw_many(plt: Any) -> Any:
    """Seconds and memory of a round against the number of classes: large tables, and small ones beside the peers."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    page = MANY.read_text(encoding="utf-8")
    large, small = (page.partition(head)[2].partition("\n## ")[0] for head in ("\n## Rows with", "\n## Beside"))
    for table, face in ((large, None), (small, "white")):
        found = [row for row in rows(table) if row["memory MB"] != "–"]
        methods = list(dict.fromkeys(row["method"] for row in found))
        for method in methods:
            mine = [row for row in found if row["method"] == method]
            K = [int(row["classes"].replace(" ", "")) for row in mine]
            colour = PALETTE[list(MANY_NAMES).index(method.partition(",")[0])]  # both ways of XGBoost have one
            style = {"color": colour, "marker": "D" if "," in method else "o", "markerfacecolor": face or colour}
            style |= {"markersize": 5, "linestyle": "-" if face is None else ":"}
            seen = face is not None and method in (m["method"] for m in rows(large))
            label = None if seen else MANY_NAMES[method]
            for ax, name in zip(axes, ("seconds a round", "memory MB"), strict=True):
                ax.plot(K, [float(row[name]) for row in mine], label=label, **style)
    for ax, words in zip(axes, ("seconds a round", "memory of the process, MB"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="classes", ylabel=words)
        few_ticks(ax.yaxis)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


# ---- sets of classes, and costs -------------------------------------------------------------------------------------


def draw_sets(plt: Any) -> Any:
    """Coverage on fresh rows beside what was promised, of all sets of the page; and risk curves on digits."""
    from sklearn.datasets import load_digits

    from simplexboost import SimplexBoostClassifier
    from simplexboost.evaluate import RiskCurve

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    table = list(rows(SETS.read_text(encoding="utf-8").partition("\n## Beside")[0]))
    for shift, level in enumerate(("0.9", "0.95", "0.99")):
        found = np.array([float(row[level].split(" / ")[0]) for row in table])
        right_anyway = np.array([float(row["accuracy"]) >= float(level) for row in table])
        x = shift + np.linspace(-0.3, 0.3, len(table))
        for mask, face, words in (
            (~right_anyway, PALETTE[0], "data set"),
            (right_anyway, "white", "accuracy is higher"),
        ):
            style = {"color": PALETTE[0], "markerfacecolor": face, "markersize": 5, "linestyle": "none", "marker": "o"}
            left.plot(x[mask], found[mask], **style, label=words if shift == 0 else None)
        left.hlines(float(level), shift - 0.4, shift + 0.4, color="black", linewidth=1)
    left.set_xticks(range(3), ["0.9", "0.95", "0.99"])
    left.set(xlabel="coverage that is asked for", ylabel="coverage of fresh rows", ylim=(0.8, 1.005))
    left.legend(frameon=False, fontsize=9, loc="lower right")
    X, y = load_digits(return_X_y=True)
    for rounds in (10, 40, 160):
        clf = SimplexBoostClassifier(n_estimators=rounds, random_state=0).fit(X[:600], y[:600])
        RiskCurve.from_estimator(clf, X[600:], y[600:]).plot(name=f"{rounds} rounds", ax=right)
    right.set_title("digits", fontsize=10)
    return figure


def parcels(n: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """The parcels of docs/costs.md: a table of four columns, and what became of each."""
    import pandas as pd

    columns = {"km": rng.gamma(2.0, 200.0, n), "size": rng.integers(1, 5, n), "price": rng.gamma(2.0, 40.0, n)}
    X = pd.DataFrame(columns)
    X["first_order"] = rng.integers(0, 2, n)
    lost = np.exp(-5.5 + X["km"] / 300)
    returned = np.exp(-3.5 + 1.5 * X["first_order"] + X["price"] / 100)
    U = rng.random(n) * (1 + lost + returned)
    return X, np.select([U < lost, U < lost + returned], ["lost", "returned"], "arrives")


def draw_costs(plt: Any) -> Any:
    """The bill of the parcels of docs/costs.md under four rules, and what is decided for which distance."""
    import pandas as pd

    from simplexboost import SimplexBoostClassifier, decide

    matrix = [[0, 4, 3], [120, 4, 123], [25, 29, 8]]
    costs = pd.DataFrame(matrix, ["arrives", "lost", "returned"], ["ship", "insure", "call"])
    X, y = parcels(6000, np.random.default_rng(0))
    clf = SimplexBoostClassifier(n_estimators=100, learning_rate=0.05, calibration=True, random_state=0)
    new, truth = X[3000:], y[3000:]
    clf.fit(X[:3000], y[:3000])
    cheap, obvious = decide.predict(clf, new, costs=costs), dict(zip(costs.index, costs.columns, strict=True))
    rules = {
        "always ship": np.full(3000, "ship"),
        "always insure": np.full(3000, "insure"),
        "by the most\nprobable class": np.array([obvious[label] for label in clf.predict(new)]),
        "by expected\ncost": cheap,
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    bill = [decide.mean_cost(truth, rule, costs, clf.classes_) for rule in rules.values()]
    left.barh(list(rules), bill, color=[PALETTE[1]] * 3 + [PALETTE[0]])
    left.axvline(decide.expected_costs(clf, new, costs).min(axis=1).mean(), color="black", linewidth=1, linestyle="--")
    left.invert_yaxis()
    left.set(xlabel="mean cost of a parcel")
    edges = np.arange(0, 1601, 100)
    place = np.digitize(new["km"], edges) - 1
    shares = [[(cheap[place == b] == a).mean() for b in range(len(edges) - 1)] for a in costs.columns]
    right.stackplot(edges[:-1] + 50, shares, labels=list(costs.columns), colors=PALETTE[:3], alpha=0.8)
    right.set(xlabel="distance, km", ylabel="part of the parcels", xlim=(50, 1550), ylim=(0, 1))
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


# ---- theory ---------------------------------------------------------------------------------------------------------


def draw_predictor(plt: Any) -> Any:
    """Predictions of three classes move outwards along their codewords, round by round (JMLR, Figure 4)."""
    from simplexboost import GDMCBoostClassifier, datasets
    from simplexboost.evaluate import plot_predictor
    from simplexboost.parts.learners import VectorTree

    plane = datasets.make_three_gaussians(600, 10, random_state=0)
    y = np.array(["class 1", "class 2", "class 3"])[plane.y_train]
    clf = GDMCBoostClassifier("logistic", learner=VectorTree(max_depth=3), n_estimators=60, learning_rate=0.3)
    figure = plot_predictor(clf.fit(plane.X_train, y), plane.X_train, y, [1, 10, 60])[0].figure
    figure.set_size_inches(9.4, 3.1)
    return figure


def draw_codewords(plt: Any) -> Any:
    """Three codewords in the plane, and four and eight in space."""
    from simplexboost.evaluate import plot_codewords
    from simplexboost.parts.codewords import MaxMin

    figure = plt.figure(figsize=(9.4, 3.4), layout="constrained")
    flat = figure.add_subplot(1, 3, 1)
    plot_codewords("simplex", 3, ax=flat).set_title("3 classes, simplex in the plane", fontsize=10)
    for place, (rule, words) in enumerate((("simplex", "simplex"), (MaxMin(code_dim=3), "far apart")), start=2):
        K = 4 if rule == "simplex" else 8
        solid = figure.add_subplot(1, 3, place, projection="3d")
        plot_codewords(rule, K, ax=solid).set_title(f"{K} classes, {words} in space", fontsize=10)
    return figure


def draw_ordered(plt: Any) -> Any:
    """Ordered codewords: the first two coordinates of seven classes, and all coordinates as waves over the classes."""
    from simplexboost.parts.codewords import Ordered

    K, figure = 7, plt.figure(figsize=(9.4, 3.4), layout="constrained")
    Y = Ordered().matrix(K)
    arc, waves = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    arc.plot(Y[:, 0], Y[:, 1], color="0.8", zorder=1)
    for k, (x, y) in enumerate(Y[:, :2]):
        arc.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": PALETTE[0], "shrinkB": 3})
        away = 11 * np.array([x, y]) / np.hypot(x, y)
        arc.annotate(f"{k + 1}", (x, y), xytext=tuple(away), textcoords="offset points", ha="center", va="center")
    arc.scatter(Y[:, 0], Y[:, 1], color=PALETTE[0], zorder=3)
    arc.set(xlabel="coordinate 1", ylabel="coordinate 2", xlim=(-1.3, 1.3), ylim=(-0.55, 0.55))
    arc.set_title("7 ordered classes, two of six coordinates", fontsize=10)
    for j, wave in enumerate(Y.T):
        waves.plot(np.arange(1, K + 1), wave, marker="o", markersize=3, color=PALETTE[j], label=f"{j + 1}")
    waves.set(xlabel="class", ylabel="coordinate", xticks=np.arange(1, K + 1))
    waves.legend(title="coordinate", fontsize=8, title_fontsize=8, ncols=2)
    waves.set_title("the coordinates are waves, slow ones first", fontsize=10)
    return figure


def draw_hierarchy(plt: Any) -> Any:
    """A tree of classes with the probabilities of one row, and two coordinates of its codewords."""
    from simplexboost import Hierarchy, SimplexBoostClassifier, decide

    tree = Hierarchy({"animal": {"bird": ["owl", "wren"], "fish": ["carp", "eel"]}, "plant": ["fir", "oak"]})
    rng = np.random.default_rng(0)
    at = {name: rng.normal(size=5) for label in tree.leaves for name in tree.ancestors(label)}
    y = rng.choice(tree.leaves, 600)
    X = np.array([sum(at[name] for name in tree.ancestors(label)) for label in y]) + 1.2 * rng.normal(size=(600, 5))
    clf = SimplexBoostClassifier(classes=tree, n_estimators=60, random_state=0).fit(X, y)
    unsure = np.abs(decide.predict_proba_level(clf, X, 1)[:, 0] - 0.75).argmin()
    P: dict[Any, float] = {}
    for level in range(1, tree.n_levels + 1):
        P |= dict(zip(tree.nodes(level), decide.predict_proba_level(clf, X[[unsure]], level)[0], strict=True))
    figure = plt.figure(figsize=(9.4, 3.6), layout="constrained")
    draw_tree(figure.add_subplot(1, 2, 1), tree, P)
    words = figure.add_subplot(1, 2, 2)
    Y = tree.codewords(tree.leaves)
    groups = {"owl, wren": 0, "carp, eel": 2, "fir, oak": 4}  # brothers differ in further coordinates
    for (label, k), colour in zip(groups.items(), PALETTE, strict=False):
        words.annotate("", Y[k, :2], (0, 0), arrowprops={"arrowstyle": "->", "color": colour})
        words.annotate(label, Y[k, :2], xytext=tuple(12 * np.sign(Y[k, :2])), textcoords="offset points", ha="center")
    words.scatter(Y[:, 0], Y[:, 1], s=0)
    words.margins(0.25)
    words.set(xlabel="coordinate 1", ylabel="coordinate 2")
    words.set_title("codewords: two of five coordinates", fontsize=10)
    return figure


def draw_tree(ax: Any, tree: Any, P: dict[Any, float]) -> None:
    """A tree from left to right, the probability of every node in its dot and its line."""
    leaves = tree.leaves
    height = {label: -float(k) for k, label in enumerate(leaves)}
    for level in range(tree.n_levels - 1, 0, -1):
        for node in tree.nodes(level):
            below = [height[label] for label in leaves if node in tree.ancestors(label)]
            height.setdefault(node, float(np.mean(below)))
    root = float(np.mean([height[label] for label in leaves]))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
    for node, p in P.items():
        path = tree.ancestors(node)
        x, y = len(path), height[node]
        before = height[path[-2]] if len(path) > 1 else root
        ax.plot([x - 1, x], [before, y], color=PALETTE[0], linewidth=0.5 + 7 * p, alpha=0.5, solid_capstyle="round")
        ax.annotate(f"{node} {p:.2f}", (x, y), xytext=(6, 0), textcoords="offset points", va="center", bbox=box)
        ax.plot([x], [y], "o", color=PALETTE[0], markersize=4)
    ax.set(xlim=(-0.1, tree.n_levels + 0.8))
    ax.axis("off")
    ax.set_title("probabilities of one row at every node", fontsize=10)


def draw_margins(plt: Any) -> Any:
    """Margins go on growing after the training error is zero."""
    from sklearn.datasets import load_digits

    from simplexboost import GDMCBoostClassifier
    from simplexboost.evaluate import plot_margins

    X, y = load_digits(return_X_y=True)
    clf = GDMCBoostClassifier("logistic", n_estimators=200).fit(X[:800], y[:800])
    return plot_margins(clf, X[:800], y[:800], [5, 20, 50, 100, 200]).figure


def draw_conditions(plt: Any) -> Any:
    """The largest edge of trees of several depths under four conditions, and what that means for AdaBoost."""
    from sklearn.datasets import load_digits

    from simplexboost import theory as games
    from simplexboost.parts.learners import ClassTree

    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    figure, ax = plt.subplots(figsize=(8.2, 3.6), layout="constrained")
    depths = (1, 2, 3, 4)
    styles = {"samme": ("^", PALETTE[1]), "mr": ("o", PALETTE[2]), "m1": ("s", PALETTE[0])}
    for shift, (condition, (marker, colour)) in enumerate(styles.items()):
        found = [
            games.search(ClassTree(max_depth=depth), X, y, condition, n_rounds=60, decide=False) for depth in depths
        ]
        x = np.arange(len(depths)) + 0.18 * (shift - 1)
        low, high = ([getattr(search, name) for search in found] for name in ("edge", "ceiling"))
        ax.vlines(x, low, high, color=colour, linewidth=4, alpha=0.45)
        for bound in (low, high):
            ax.plot(x, bound, marker, color=colour, label=LABELS[condition] if bound is low else None, markersize=6)
    ax.axhline(0, color="black", linewidth=1)
    ax.set_xticks(range(len(depths)), [f"depth {depth}" for depth in depths])
    ax.set(
        ylabel="largest edge (between bounds)",
        ylim=(-1.05, 1.05),
        title="trees on 300 digits; above 0 a condition is met",
    )
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


LABELS = {"samme": "SAMME: too weak", "mr": "minimal: what boosting needs", "m1": "AdaBoost.M1: too strong"}


def draw_potentials(plt: Any) -> Any:
    """What a booster can guarantee after T rounds: the potentials of the game beside the classical bound."""
    from simplexboost import theory as games

    K, edge = 6, 0.1
    T = np.arange(10, 601, 10)
    b = games.uniform_baseline(K, edge)
    figure, ax = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    classical = np.minimum(1, (K - 1) * np.exp(-T * edge**2 / 2))
    exponential = [min(1, games.potential(int(t), b, loss="exponential", eta="best")) for t in T]
    ax.plot(T, classical, ":", color=PALETTE[1], linewidth=2, label="$(K-1)\\,e^{-T\\gamma^2/2}$")
    ax.plot(T, exponential, "--", color=PALETTE[2], linewidth=2, label="exponential loss, best $\\eta$")
    ax.plot(T, [games.potential(int(t), b) for t in T], "-", color=PALETTE[0], linewidth=2, label="zero-one loss")
    ax.set(xlabel="rounds T", ylabel="bound on the training error", ylim=(0, 1.05), title="six classes, an edge of 0.1")
    ax.legend(frameon=False)
    ax.grid(alpha=0.25, linewidth=0.5)
    return figure


# ---- several labels -------------------------------------------------------------------------------------------------


def draw_labels(plt: Any) -> Any:
    """Log-loss against the time of the fit, of every contestant of the page on the problems with labels."""
    figure, axes = plt.subplots(1, 4, figsize=(12.0, 3.6), layout="constrained")
    sections = [part for part in LABEL_PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if "Hamming" in part]
    marks: dict[str, tuple[str, str]] = {}
    for ax, section in zip(axes, sections, strict=True):
        for row in rows(section):
            name = row[""]
            if name.endswith("chosen"):
                continue
            colour, marker = marks.setdefault(name, (PALETTE[len(marks) % len(PALETTE)], "os^vDP*X<>"[len(marks)]))
            style = {"markersize": 8, "linestyle": "none", "markerfacecolor": colour if "each" not in name else "white"}
            ax.plot(float(row["fit s"]), float(row["log-loss"]), color=colour, marker=marker, label=name, **style)
        ax.set(xscale="log", xlabel="fit, seconds", title=section.partition("\n")[0])
        few_ticks(ax.xaxis)
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("log-loss")
    known = {text: line for ax in axes for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


# ---- classes that come and go ---------------------------------------------------------------------------------------


def draw_changes(plt: Any) -> Any:
    """The regions of three classes; a fourth comes, with and without old rows; two become one; one goes."""
    from copy import deepcopy

    from simplexboost import SimplexBoostClassifier
    from simplexboost.evaluate import DecisionRegions

    rng = np.random.default_rng(0)
    centres = np.array([[-2.2, 1.0], [0.0, 2.4], [2.2, 1.0], [0.0, -0.6]])
    c = np.repeat(np.arange(4), 150)
    X, y, old = centres[c] + 0.75 * rng.normal(size=(600, 2)), np.array(["a", "b", "c", "d"])[c], c < 3
    base = SimplexBoostClassifier(n_estimators=100, random_state=0).fit(X[old], y[old])
    more, alone, one, less = (deepcopy(base) for _ in range(4))
    shown = {
        "three classes": base,
        "add_classes: d comes": add_classes(more, X, y),
        "… without rows of a, b and c": add_classes(alone, X[~old], y[~old]),
        "merge_classes: a and b are one": merge_classes(one, {"a": ["a", "b"]}),
        "drop_classes: b goes": drop_classes(less, "b"),
    }
    sides = [np.linspace(*span, 200) for span in ((-4.0, 4.0), (-2.6, 4.4))]
    places, labels = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2), np.unique(y)
    figure, axes = plt.subplots(1, len(shown), figsize=(15.0, 3.3), layout="constrained")
    for ax, (title, clf) in zip(axes, shown.items(), strict=True):
        regions = np.searchsorted(labels, clf.predict(places)).reshape(200, 200)
        DecisionRegions(*sides, regions, labels, ("", "")).plot(ax=ax)
        ax.set_title(title, fontsize=10)
        ax.set(xticks=[], yticks=[])
    return figure


# ---- all of them ----------------------------------------------------------------------------------------------------

PICTURES: dict[str, Callable[[Any], Any]] = {
    "race": draw_race,
    "predictor": draw_predictor,
    "codewords": draw_codewords,
    "ordered": draw_ordered,
    "hierarchy": draw_hierarchy,
    "margins": draw_margins,
    "conditions": draw_conditions,
    "potentials": draw_potentials,
    "sets": draw_sets,
    "costs": draw_costs,
    "labels": draw_labels,
    "many": draw_many,
    "changes": draw_changes,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pictures that are named, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], help="which pictures; all by default")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    plt = pyplot()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        figure = PICTURES[name](plt)
        path = options.folder / f"{name}.png"
        figure.savefig(path, dpi=110, bbox_inches="tight", pad_inches=0.08, metadata={"Software": None})
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    main()
