"""A tree with vector leaves: questions from left to right, and in every leaf what it adds to the logits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._parts import check_number
from .._typing import Array
from ..boosting.hypotheses import TreeHypothesis
from ..boosting.model import AdditiveModel, Term
from ..data.names import feature_names
from ..engine import Tree
from ..explain.choosing import check_not_merged
from ..explain.trees import Names, node_outputs, question
from ..inspection.rounds import check_booster
from ._axes import one_axes
from ._style import GREY, INK, PALE, PALETTE, SMALL, plain, short

STEP = 1.0  # between two depths
STRIP = 1.1  # the width of the bars of a leaf, in depths
MOST_BARS = 60  # more classes: bars for those that the tree moves furthest


@dataclass(eq=False)
class Layout:
    """Places of the nodes of a tree.

    Attributes
    ----------
    y : of every node that is drawn, from 0 (the top) on
    depth : of every node that is drawn
    ends : nodes at which the drawing ends: leaves, and nodes at the largest depth
    """

    y: dict[int, float] = field(default_factory=dict)
    depth: dict[int, int] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)


def plot_tree(clf: Any, i: int = 0, *, n_classes: int = 3, max_depth: int | None = 4, ax: Any = None) -> Any:
    """One tree, from left to right; each leaf shows as bars what it adds to the logits of the classes.

    The upper branch is taken if the answer to the question is yes. Bars have the order of ``classes_``; they go up
    where the leaf speaks for a class and down where it speaks against it. The words name the classes that are moved
    furthest.

    Parameters
    ----------
    clf : fitted booster
        The model.
    i : int, default=0
        The number of the tree, from 0; negative numbers count from the end.
    n_classes : int, default=3
        How many classes are named in a leaf.
    max_depth : int or None, default=4
        How many questions are drawn from the root on; nodes at that depth show the mean of the leaves below them.
        None draws the whole tree.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure, which is as high as the tree needs.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> from simplexboost.plotting import plot_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SimplexBoostClassifier(n_estimators=5, max_leaf_nodes=4, growth="best", random_state=0).fit(X, y)
    >>> ax = plot_tree(clf, 0)
    >>> ax.get_title()
    'tree 0 (round 1), 4 leaves'
    """
    model = check_booster(clf)
    check_not_merged(clf)
    check_number("n_classes", n_classes, int, 0)
    check_number("max_depth", max_depth, int, 0, none=True)
    number, round_, term = find_tree(model, i)
    tree: Tree = term.hypothesis.tree  # type: ignore[attr-defined]
    layout = place_nodes(tree, max_depth)
    outputs = node_outputs(term, model.Y.T.astype(np.float64), model.dtype)  # (nodes, K)
    names = Names(feature_names(clf), getattr(clf, "categories_", None), clf.classes_[clf.present_])
    deepest = max(layout.depth.values())
    ax = one_axes(ax, figsize=(3.6 + 2.0 * deepest + 2.2, max(2.4, 0.9 + 0.42 * len(layout.ends))))
    draw_branches(ax, tree, layout, names)
    draw_leaves(ax, tree, layout, outputs, names, n_classes)
    hidden = "" if len(layout.ends) == tree.n_leaves else f", drawn to depth {max_depth}"
    ax.set_title(f"tree {number} (round {round_ + 1}), {tree.n_leaves} leaves{hidden}")
    ax.set(ylim=(len(layout.ends) - 0.3, -0.9), xlim=(-0.1, STEP * deepest + STRIP + 2.1))
    ax.set_axis_off()
    return ax


def find_tree(model: AdditiveModel, i: int) -> tuple[int, int, Term]:
    """The number of a tree, counted from 0, its round and its term."""
    from ..explain.trees import round_of_terms

    trees = [
        (round_, term)
        for round_, term in zip(round_of_terms(model), model.scaled_terms, strict=True)
        if isinstance(term.hypothesis, TreeHypothesis)
    ]
    if not trees:
        raise ValueError("the model has no trees; plot_tree draws boosters on trees.")
    check_number("i", i, int, -len(trees), len(trees) - 1)
    round_, term = trees[i]
    return int(i) % len(trees), round_, term


def place_nodes(tree: Tree, max_depth: int | None) -> Layout:
    """Leaves one below the other, and every node in the middle of its children."""
    layout = Layout()

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
    """Lines from every node to its children, and its question."""
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
                ax.text(
                    x + 0.86 * STEP,
                    layout.y[child] - 0.06,
                    answer,
                    fontsize=SMALL,
                    color=GREY,
                    ha="center",
                    va="bottom",
                )
        words = question(tree, node, True, names)
        ax.text(x, y, wrapped(words), fontsize=SMALL, ha="left", va="center", bbox=box, color=INK, zorder=2)


def wrapped(words: str, width: int = 24) -> str:
    """A question in lines that are not too long: the feature, then what is asked of it."""
    if len(words) <= width:
        return plain(words)
    for sign in (" <= ", " in {"):
        end = words.find(sign)
        if end > 0:
            return f"{short(words[:end], width)}\n{short(words[end + 1 :], width)}"
    return short(words, width)


def draw_leaves(ax: Any, tree: Tree, layout: Layout, outputs: Array, names: Names, n_classes: int) -> None:
    """The bars and the words of the leaves."""
    ends = layout.ends
    values = outputs[ends]  # (L, K)
    bars = chosen_bars(values)
    start = STEP * max(layout.depth.values()) + 0.12
    places = start + (np.arange(len(bars)) + 0.5) * (STRIP - 0.12) / len(bars)
    scale = 0.42 / max(float(np.abs(values).max()), 1e-300)
    width = 0.8 * (STRIP - 0.12) / len(bars)
    for row, node in enumerate(ends):
        y = layout.y[node]
        ax.plot([STEP * layout.depth[node], start], [y, y], color=PALE, linewidth=0.8, zorder=0)
        ax.plot([start, start + STRIP - 0.12], [y, y], color=GREY, linewidth=0.6, zorder=1)
        heights = scale * values[row, bars]
        colours = [PALETTE[0] if height >= 0 else PALETTE[1] for height in heights]
        ax.bar(places, -heights, width, bottom=y, color=colours, zorder=2)
        ax.text(start + STRIP, y, leaf_words(tree, node, values[row], names, n_classes), fontsize=SMALL, va="center")
    ax.text(start, -0.62, bars_words(names, bars), fontsize=SMALL, color=GREY, va="center")


def chosen_bars(values: Array) -> Any:
    """The classes that have bars: all, or those that the tree moves furthest, in their order."""
    if values.shape[1] <= MOST_BARS:
        return np.arange(values.shape[1])
    return np.sort(np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MOST_BARS])


def bars_words(names: Names, bars: Any) -> str:
    """What the bars are."""
    labels = [short(names.classes[k], 10) for k in bars.tolist()]
    if len(labels) <= 6:
        return "bars: " + ", ".join(labels)
    if len(bars) < len(names.classes):
        return f"bars: the {len(bars)} classes that move furthest"
    return f"bars: {labels[0]}, {labels[1]}, …, {labels[-1]}"


def leaf_words(tree: Tree, node: int, output: Array, names: Names, n_classes: int) -> str:
    """The classes that a leaf moves furthest, and its rows."""
    furthest = np.argsort(-np.abs(output), kind="stable")[:n_classes]
    moves = ", ".join(f"{short(names.classes[k], 12)} {output[k]:+.2g}" for k in furthest.tolist() if output[k] != 0)
    rows = f"{tree.count[node]} row{'' if tree.count[node] == 1 else 's'}"
    return f"{moves} ({rows})" if moves else f"nothing ({rows})"
