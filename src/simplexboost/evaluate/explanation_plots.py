"""Plots of explanations: feature importances, Shapley values of many rows, and single trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _num_samples

from .._util.arrays import Array
from .._util.docstrings import described
from .._util.params import check_number
from ..classifiers.prediction import check_booster
from ..engine import Tree
from ..explain import importances, shap_values
from ..explain.explained_classes import node_outputs
from ..explain.tree_tables import Names, describe_leaf, find_largest, find_tree, write_condition
from ..tables.frames import feature_names, take_rows
from .confusion import similarity_order
from .drawing import (
    GREY,
    INK,
    PALE,
    PALETTE,
    SMALL,
    class_ticks,
    escape_text,
    fade_to,
    height_of_rows,
    one_axes,
    pick_shades,
    row_of_axes,
    sample_rows,
    write_label,
)

MEANING = {
    "gain": "share of the gain of all splits",
    "cover": "training rows that pass splits on the feature",
    "splits": "number of splits",
    "shap": "mean of the absolute Shapley values (log-odds)",
}
MOST_PANELS = 6
STEP = 1.0  # between two depths
STRIP = 1.1  # the width of the bars of a leaf, in depths
MOST_BARS = 60  # more classes: bars for those that the tree moves furthest


@described
def plot_importance(
    clf: Any, kind: str = "gain", X: Any = None, *, classes: Any = None, most: int = 20, ax: Any = None
) -> Any:
    """Draw the most important features: as bars, or for a list of classes as a heat map.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, p), or None, default=None
        The rows whose absolute Shapley values are averaged; only for ``kind="shap"``.
    classes : label, list of labels or None, default=None
        One class, or a list of classes with a column each; None takes all classes together. More than ten classes are
        ordered so that classes with similar importances are neighbours.
    most : int, default=20
        The largest number of features.

    Examples
    --------
    >>> ax = plot_importance(clf, most=2)
    >>> len(ax.patches), ax.get_xlabel()
    (2, 'share of the gain of all splits')
    """
    check_booster(clf)
    check_number("most", most, int, 1)
    values = importances(clf, kind, X, classes=classes)
    names = feature_names(clf)
    if values.ndim == 2:
        return draw_table(values, names, np.atleast_1d(np.asarray(classes)), most, MEANING[kind], ax)
    shown = find_largest(values, most) if values.any() else np.zeros(1, dtype=np.intp)
    ax = one_axes(ax, figsize=(6.4, height_of_rows(len(shown))))
    ax.barh(np.arange(len(shown)), values[shown], height=0.7, color=PALETTE[0])
    class_ticks(ax, "y", [names[f] for f in shown.tolist()])
    title = "all classes" if classes is None else f"class {write_label(classes)}"
    ax.set(xlabel=MEANING[kind], title=title, ylim=(len(shown) - 0.4, -0.6))
    return ax


def draw_table(values: Array, names: list[str], classes: Any, most: int, meaning: str, ax: Any) -> Any:
    """Draw importances (p, K) as a heat map, each divided by the largest importance for its class; return the axes."""
    shown = find_largest(values.mean(axis=1), most) if values.any() else np.zeros(1, dtype=np.intp)
    part = values[shown] / np.maximum(values.max(axis=0), 1e-300)  # (features, classes)
    if len(classes) > 10:
        centred = part - part.mean(axis=0)
        lengths = np.maximum(np.linalg.norm(centred, axis=0), 1e-300)
        order = similarity_order(np.maximum(centred.T @ centred / lengths / lengths[:, None], 0.0))  # by correlations
        part, classes = part[:, order], classes[order]
    ax = one_axes(ax, figsize=(min(12.0, 4.4 + 0.28 * len(classes)), height_of_rows(len(shown), 3.0)))
    colours = {"cmap": fade_to(PALETTE[0]), "vmin": 0.0, "vmax": 1.0}
    drawn = ax.imshow(part, aspect="auto", interpolation="nearest", **colours)
    class_ticks(ax, "y", [names[f] for f in shown.tolist()])
    class_ticks(ax, "x", classes.tolist())
    ax.set(xlabel="class")
    ax.set_title(meaning.replace(" (", "\n("), fontsize="medium")
    ax.figure.colorbar(drawn, ax=ax, label="relative to the largest of the class", shrink=0.8, pad=0.02)
    return ax


@described
def plot_shap(
    clf: Any, X: Any, classes: Any = None, *, most: int = 12, rows: int = 1000, background: Any = None, ax: Any = None
) -> Any:
    """Draw Shapley values of many rows: a point per row and feature shows what the feature adds to a class's logit.

    Parameters
    ----------
    classes : label, list of labels or None, default=None
        One class, or a list of up to six classes with a panel each. None takes all classes, or only the
        second if there are two.
    most : int, default=12
        The largest number of features.
    rows : int, default=1000
        The largest number of rows to draw; more rows are sampled at random.
    ax : matplotlib Axes, list of them or None, default=None
        Where to draw, one per panel; None makes a new figure.

    Examples
    --------
    >>> plot_shap(clf, X, 1).get_title(), [ax.get_title() for ax in plot_shap(clf, X, [0, 2])]
    ('class 1', ['class 0', 'class 2'])
    """
    check_booster(clf)
    check_number("most", most, int, 1)
    if classes is None:
        classes = clf.classes_ if len(clf.classes_) > 2 else clf.classes_[-1]
    labels = np.atleast_1d(np.asarray(classes)).tolist()
    if len(labels) > MOST_PANELS:
        raise ValueError(f"classes has {len(labels)} labels; a row of panels takes up to {MOST_PANELS}.")
    part = take_rows(X, sample_rows(_num_samples(X), rows))
    checked: Any = clf._check_X(part)
    table = (checked.toarray() if issparse(checked) else np.asarray(checked)).astype(np.float64)
    values = shap_values(clf, part, labels, background=background)  # (n, p, D)
    shown = np.argsort(-np.abs(values).mean(axis=(0, 2)), kind="stable")[:most]
    width = 7.4 if len(labels) == 1 else 2.2 + 3.2 * len(labels)
    axes = row_of_axes(ax, len(labels), figsize=(width, height_of_rows(len(shown), each=0.34)))
    names, reach = [feature_names(clf)[f] for f in shown.tolist()], np.abs(values[:, shown]).max() * 1.05
    for place, (label, panel) in enumerate(zip(labels, axes, strict=True)):
        dots = draw_swarms(panel, values[:, shown, place], table[:, shown])
        class_ticks(panel, "y", names)  # the most important on top
        panel.set(xlabel="added to the log-odds", title=f"class {write_label(label)}", ylim=(len(names) - 0.4, -0.6))
        if len(labels) > 1:
            panel.set_xlim(-reach, reach)
            panel.tick_params("y", labelleft=place == 0)
    bar = axes[0].figure.colorbar(dots, ax=axes, aspect=30, pad=0.02)
    bar.set_ticks([0.0, 1.0], labels=["low", "high"])
    bar.set_label("value of the feature")
    return axes if np.ndim(classes) else axes[0]


def draw_swarms(ax: Any, values: Array, table: Array) -> Any:
    """Draw the Shapley values (n, m) of m features, coloured by feature values (n, m); return the last scatter plot."""
    from matplotlib.colors import ListedColormap

    dots, colours = None, ListedColormap(pick_shades(256), "low to high")
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    for place in range(values.shape[1]):
        ax.axhline(place, color=PALE, linewidth=0.5, zorder=0)
        x, colour = values[:, place], rank_values(table[:, place])
        y, known = place + spread_points(x), ~np.isnan(colour)
        ax.plot(x[~known], y[~known], ".", color=GREY, markersize=3, markeredgewidth=0)
        options = {"cmap": colours, "vmin": 0.0, "vmax": 1.0, "s": 7, "linewidths": 0}
        dots = ax.scatter(x[known], y[known], c=colour[known], **options)
    return dots


def rank_values(x: Array) -> Array:
    """Return the ranks of the values of a feature, scaled to 0 .. 1: equal for equal values, NaN for missing values."""
    from scipy.stats import rankdata

    ranks = rankdata(x, "average", nan_policy="omit")
    low, high = np.fmin.reduce(ranks), np.fmax.reduce(ranks)
    return (ranks - low) / (high - low) if low < high else 0.5 + 0 * ranks


def spread_points(x: Array, bins: int = 60, width: float = 0.38) -> Array:
    """Return a vertical offset for each point, (n,), so that points with similar positions x (n,) do not overlap."""
    if np.ptp(x) == 0:
        return np.linspace(-width, width, len(x)) if len(x) > 1 else np.zeros(1)
    place = np.floor((x - x.min()) / np.ptp(x) * (bins - 1e-9)).astype(int)
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    number = np.empty(len(x), dtype=int)  # of the point within its bin
    number[order] = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(number % 2 == 0, 1, -1) * ((number + 1) // 2)  # 0, −1, 1, −2, 2, …
    return side * width / max(counts.max() / 2, 4)


class Layout(NamedTuple):
    """The vertical position and the depth of each drawn node of a tree, by node index."""

    y: dict[int, float]  # 0 is the top
    depth: dict[int, int]
    ends: list[int]  # leaves, and nodes at the largest depth


@described
def plot_tree(clf: Any, i: int = 0, *, n_classes: int = 3, max_depth: int | None = 4, ax: Any = None) -> Any:
    """Draw a tree from left to right; bars at each leaf show what the leaf adds to the logits of the classes.

    The upper branch of a node is for rows that fulfil its condition. The bars have the order of ``classes_``: a bar
    goes up if the leaf raises the logit of the class, and down if the leaf lowers it. The classes with the largest
    changes are named.

    Parameters
    ----------
    n_classes : int, default=3
        The number of classes that are named at each leaf.
    max_depth : int or None, default=4
        The largest depth that is drawn; a node at this depth shows the mean of the leaves below it. None draws all.

    Examples
    --------
    >>> ax = plot_tree(clf.set_params(max_leaf_nodes=4).fit(X, y), 0)
    >>> ax.get_title()
    'tree 0 (round 1), 4 leaves'
    """
    model = check_booster(clf)
    names = Names.of(clf)
    check_number("n_classes", n_classes, int, 0)
    check_number("max_depth", max_depth, int, 0, none=True)
    number, round_, term = find_tree(model, i, "plot_tree")
    tree: Tree = term.hypothesis.tree
    layout = place_nodes(tree, max_depth)
    outputs = node_outputs(term, model.Y.T.astype(np.float64), model.dtype)  # (nodes, K)
    deepest = max(layout.depth.values())
    ax = one_axes(ax, figsize=(3.6 + 2.0 * deepest + 2.2, max(2.4, 0.9 + 0.42 * len(layout.ends))))
    draw_branches(ax, tree, layout, names)
    draw_leaves(ax, tree, layout, outputs, names, n_classes)
    hidden = "" if len(layout.ends) == tree.n_leaves else f", drawn to depth {max_depth}"
    ax.set_title(f"tree {number} (round {round_ + 1}), {tree.n_leaves} leaves{hidden}")
    ax.set(ylim=(len(layout.ends) - 0.3, -0.9), xlim=(-0.1, STEP * deepest + STRIP + 2.1))
    ax.set_axis_off()
    return ax


def place_nodes(tree: Tree, max_depth: int | None) -> Layout:
    """Return the node positions: leaves one below the other, inner nodes in the middle between their children."""
    layout = Layout({}, {}, [])

    def place(node: int, depth: int) -> float:
        layout.depth[node] = depth
        if tree.nodes["feature"][node] < 0 or depth == max_depth:
            layout.y[node] = float(len(layout.ends))
            layout.ends.append(node)
        else:
            left = int(tree.nodes["left"][node])
            layout.y[node] = 0.5 * (place(left, depth + 1) + place(left + 1, depth + 1))
        return layout.y[node]

    place(0, 0)
    return layout


def draw_branches(ax: Any, tree: Tree, layout: Layout, names: Names) -> None:
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": GREY, "linewidth": 0.6}
    width = 0.4 + 1.6 * (tree.count / max(int(tree.count[0]), 1))  # more rows, wider lines
    for node, depth in layout.depth.items():
        if node in layout.ends:
            continue
        x, y = STEP * depth, layout.y[node]
        left = int(tree.nodes["left"][node])
        for child, answer in ((left, "yes"), (left + 1, "no")):
            path = np.array([[x, y], [x + 0.78 * STEP, layout.y[child]], [x + STEP, layout.y[child]]])
            ax.plot(*path.T, color=GREY, linewidth=width[child], zorder=0, solid_joinstyle="round")
            if depth == 0:
                style: dict[str, Any] = {"fontsize": SMALL, "color": GREY, "ha": "center", "va": "bottom"}
                ax.text(x + 0.86 * STEP, layout.y[child] - 0.06, answer, **style)
        words = write_condition(tree, node, True, names)
        ax.text(x, y, wrap_condition(words), fontsize=SMALL, ha="left", va="center", bbox=box, color=INK, zorder=2)


def wrap_condition(words: str, width: int = 24) -> str:
    if len(words) <= width:
        return escape_text(words)
    for sign in (" <= ", " in {"):
        end = words.find(sign)
        if end > 0:
            return f"{write_label(words[:end], width)}\n{write_label(words[end + 1 :], width)}"
    return write_label(words, width)


def draw_leaves(ax: Any, tree: Tree, layout: Layout, outputs: Array, names: Names, n_classes: int) -> None:
    labels, values = [write_label(label, 12) for label in names.classes], outputs[layout.ends]  # (L, K)
    bars = choose_bars(values)
    start = STEP * max(layout.depth.values()) + 0.12
    places = start + (np.arange(len(bars)) + 0.5) * (STRIP - 0.12) / len(bars)
    scale = 0.42 / max(float(np.abs(values).max()), 1e-300)
    width = 0.8 * (STRIP - 0.12) / len(bars)
    for row, node in enumerate(layout.ends):
        y = layout.y[node]
        ax.plot([STEP * layout.depth[node], start], [y, y], color=PALE, linewidth=0.8, zorder=0)
        ax.plot([start, start + STRIP - 0.12], [y, y], color=GREY, linewidth=0.6, zorder=1)
        heights = scale * values[row, bars]
        colours = [PALETTE[0] if height >= 0 else PALETTE[1] for height in heights]
        ax.bar(places, -heights, width, bottom=y, color=colours, zorder=2)
        words = describe_leaf(tree, node, values[row], labels, n_classes, ".2g")
        ax.text(start + STRIP, y, words, fontsize=SMALL, va="center")
    words = ", ".join([labels[0], labels[1], "…", labels[-1]] if len(bars) > 6 else [labels[k] for k in bars.tolist()])
    if len(bars) < len(labels):
        words = f"the {len(bars)} classes that change most"
    ax.text(start, -0.62, f"bars: {words}", fontsize=SMALL, color=GREY, va="center")


def choose_bars(values: Array) -> Any:
    if values.shape[1] <= MOST_BARS:
        return np.arange(values.shape[1])
    return np.sort(np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MOST_BARS])
