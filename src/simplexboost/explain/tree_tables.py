"""Trees of a model as a table of nodes and as text, and what their splits say of the importance of features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.compat import import_optional
from .._util.params import check_number
from ..engine import Tree
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.features import Categories, share_last
from ..tables.frames import feature_names
from .explained_classes import all_labels, check_booster, check_not_merged, documented, leaf_outputs

OTHERS = "(others)"  # what the categories that share the last number are called
COLUMNS = [
    "tree_index",
    "round",
    "node_depth",
    "node_index",
    "left_child",
    "right_child",
    "parent_index",
    "split_feature",
    "split_gain",
    "threshold",
    "categories",
    "decision_type",
    "missing_direction",
    "count",
    "best_class",
    "value",
]


@dataclass(frozen=True, eq=False)
class Names:
    """What the columns and the classes of a model are called."""

    features: list[str]
    categories: Categories | None
    classes: AnyArray

    @classmethod
    def of(cls, clf: Any) -> Names:
        """The names of the columns of a booster, and its classes that had training examples."""
        check_not_merged(clf)
        return cls(feature_names(clf), getattr(clf, "categories_", None), all_labels(clf)[clf.present_])

    def of_set(self, tree: Tree, node: int) -> list[Any]:
        """The categories that a node sends left, as the user knows them."""
        column = int(tree.nodes["feature"][node])
        known = None if self.categories is None else self.categories.columns[column]
        numbers = np.flatnonzero(np.unpackbits(tree.category_sets[tree.nodes["category"][node]], bitorder="little"))
        if known is None:
            return numbers.tolist()
        others = [OTHERS] if share_last(known) else []
        # categories that are numbers are kept as floats; whole ones are shown as codes are written
        shown = [int(v) if isinstance(v, float) and v.is_integer() else v for v in known.tolist()]
        return [[*shown, *others][b] for b in numbers.tolist() if b < len(shown) + len(others)]


def node_outputs(term: Term, M: Array, dtype: Any) -> Array:
    """What a tree adds to F M on average over the training rows of every node, (N, D)."""
    tree: Tree = term.hypothesis.tree  # type: ignore[attr-defined]
    is_leaf = tree.nodes["feature"] < 0
    out = np.zeros((len(tree.nodes), M.shape[1]))
    out[is_leaf] = leaf_outputs(term, M, dtype)[tree.nodes["left"][is_leaf]]
    for node in tree.children_first():
        left = int(tree.nodes["left"][node])
        rows = tree.count[left : left + 2].astype(np.float64)
        share = rows / rows.sum() if rows.sum() > 0 else np.array([0.5, 0.5])
        out[node] = share @ out[left : left + 2]
    return out


def numbered_trees(model: AdditiveModel) -> list[tuple[int, Term]]:
    """Return the terms that are trees, each after the round that added it, counted from 0."""
    rounds = np.searchsorted(model.round_ends, np.arange(len(model.terms)), side="right").tolist()
    pairs = zip(rounds, model.scaled_terms, strict=True)
    return [(t, term) for t, term in pairs if isinstance(term.hypothesis, TreeHypothesis)]


def find_tree(model: AdditiveModel, i: int, function: str) -> tuple[int, int, Term]:
    """Return the number of a tree, counted from 0, its round and its term; the function's name is for messages."""
    trees = numbered_trees(model)
    if not trees:
        raise ValueError(f"{function} needs trees, and the model has none.")
    check_number("i", i, int, -len(trees), len(trees) - 1)
    return (int(i) % len(trees), *trees[i])


def walk(tree: Tree) -> Iterator[tuple[int, int, int]]:
    """Nodes from the root, each before those below it: their number, depth and parent (−1 at the root)."""
    waiting = [(0, 0, -1)]
    while waiting:
        node, depth, parent = waiting.pop()
        yield node, depth, parent
        if tree.nodes["feature"][node] >= 0:
            left = int(tree.nodes["left"][node])
            waiting += [(left + 1, depth + 1, node), (left, depth + 1, node)]


@documented
def trees_to_frame(clf: Any) -> Any:
    """Return all nodes of all trees as a pandas data frame, a row each; the columns are like LightGBM's.

    ``value`` is what the tree adds to the logit of ``best_class``, the class that it moves up most, on average over
    the training rows of the node.

    Returns
    -------
    pandas.DataFrame
        The nodes.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> nodes = sb.explain.trees_to_frame(clf)
    >>> int(nodes["tree_index"].max()), int(nodes["count"][0])
    (19, 150)
    """
    model = check_booster(clf)
    pandas = import_optional("pandas", "trees_to_frame needs")
    M, names = model.Y.T.astype(np.float64), Names.of(clf)
    rows = [
        {"tree_index": number, "round": round_, **row}
        for number, (round_, term) in enumerate(numbered_trees(model))
        for row in tree_rows(term, number, M, names, model)
    ]
    return pandas.DataFrame(rows, columns=COLUMNS)


def tree_rows(term: Term, number: int, M: Array, names: Names, model: AdditiveModel) -> Iterator[dict[str, Any]]:
    """A row per node of one tree."""
    tree: Tree = term.hypothesis.tree  # type: ignore[attr-defined]
    outputs = node_outputs(term, M, model.dtype)
    best = outputs.argmax(axis=1)

    def name(node: int) -> str:
        is_leaf = tree.nodes["feature"][node] < 0
        return f"{number}-L{tree.nodes['left'][node]}" if is_leaf else f"{number}-S{node}"

    for node, depth, parent in walk(tree):
        entry = tree.nodes[node]
        splits, by_category = entry["feature"] >= 0, entry["category"] >= 0
        left = int(entry["left"])
        yield {
            "node_depth": depth + 1,
            "node_index": name(node),
            "left_child": name(left) if splits else None,
            "right_child": name(left + 1) if splits else None,
            "parent_index": name(parent) if parent >= 0 else None,
            "split_feature": names.features[entry["feature"]] if splits else None,
            "split_gain": float(tree.gain[node]) if splits else np.nan,
            "threshold": float(entry["threshold"]) if splits and not by_category else np.nan,
            "categories": names.of_set(tree, node) if splits and by_category else None,
            "decision_type": ("in" if by_category else "<=") if splits else None,
            "missing_direction": ("left" if entry["missing_left"] else "right") if splits else None,
            "count": int(tree.count[node]),
            "best_class": names.classes[best[node]],
            "value": float(outputs[node, best[node]]),
        }


@documented
def tree_text(clf: Any, i: int, n_classes: int = 3) -> str:
    """Return one tree as text.

    Parameters
    ----------
    i : int
        The number of the tree, from 0; negative numbers count from the end.
    n_classes : int, default=3
        How many classes are shown in a leaf, those first whose logits it moves furthest.

    Returns
    -------
    str
        The text, a line for every node.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> sb.explain.tree_text(clf, 0).startswith("tree 0 (round 0, ")
    True
    """
    model = check_booster(clf)
    number, round_, term = find_tree(model, i, "tree_text")
    check_number("n_classes", n_classes, int, 0)
    names = Names.of(clf)
    tree: Tree = term.hypothesis.tree  # type: ignore[attr-defined]
    outputs = node_outputs(term, model.Y.T.astype(np.float64), model.dtype)
    lines = [f"tree {number} (round {round_}, {tree.n_leaves} leaves)"]
    for node, depth, parent in walk(tree):
        bars = "|   " * (depth - 1) + "|--- " if depth else ""
        if parent >= 0:
            lines.append(bars + question(tree, parent, node == tree.nodes["left"][parent], names))
            bars = "|   " + bars
        if tree.nodes["feature"][node] < 0:
            lines.append((bars or "|--- ") + leaf_text(tree, node, outputs[node], names, n_classes))
    return "\n".join(lines)


def question(tree: Tree, node: int, left: bool, names: Names) -> str:
    """What is true of the rows that go left (or right) at a node."""
    entry = tree.nodes[node]
    feature, missing = names.features[entry["feature"]], " or missing" if bool(entry["missing_left"]) == left else ""
    if entry["category"] < 0:
        return f"{feature} {'<=' if left else '>'} {entry['threshold']:.6g}{missing}"
    categories = ", ".join(map(str, names.of_set(tree, node)))
    return f"{feature} {'in' if left else 'not in'} {{{categories}}}{missing}"


def leaf_text(tree: Tree, node: int, output: Array, names: Names, n_classes: int) -> str:
    """The classes that a leaf moves furthest, and its rows."""
    furthest = np.argsort(-np.abs(output), kind="stable")[:n_classes]
    moves = ", ".join(f"{names.classes[k]} {output[k]:+.4g}" for k in furthest.tolist() if output[k] != 0)
    rows = f"{tree.count[node]} row{'' if tree.count[node] == 1 else 's'}"
    return f"leaf {tree.nodes['left'][node]}: {moves or 'nothing'} ({rows})"


def split_counts(model: AdditiveModel, p: int, *, rows: bool) -> Array:
    """How many splits there are on each feature, or how many training rows passed them, (p,)."""
    out = np.zeros(p)
    for tree in model.trees:
        inner = tree.nodes["feature"] >= 0
        np.add.at(out, tree.nodes["feature"][inner], tree.count[inner] if rows else 1.0)
    return out


def class_gains(model: AdditiveModel, p: int, M: Array) -> Array:
    """The part of each feature in what splits explain of F M, (p, D).

    A split explains the sum, over its training rows, of the squared difference between what the tree adds to F M in the
    child and in the node. Columns sum to one.
    """
    out = np.zeros((p, M.shape[1]))
    for term in model.scaled_terms:
        if isinstance(term.hypothesis, TreeHypothesis):
            tree, mean = term.hypothesis.tree, node_outputs(term, M, model.dtype)
            inner = np.flatnonzero(tree.nodes["feature"] >= 0)
            left = tree.nodes["left"][inner]
            explained = sum(tree.count[child][:, None] * (mean[child] - mean[inner]) ** 2 for child in (left, left + 1))
            np.add.at(out, tree.nodes["feature"][inner], explained)
    total = out.sum(axis=0)
    return np.divide(out, total, out=out, where=total > 0)
