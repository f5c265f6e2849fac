"""Trees of a model as a table of nodes and as text, and feature importances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.compat import import_optional
from .._util.docstrings import described
from .._util.params import check_choice, check_number
from ..classifiers.prediction import check_booster
from ..engine import Tree
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.features import Categories, share_last
from ..tables.frames import feature_names
from .explained_classes import (
    ExplainedClasses,
    all_labels,
    check_not_merged,
    node_outputs,
    tree_terms,
)
from .shapley import shap_values

OTHERS = "(others)"  # the name of the categories that share the last number
IMPORTANCES = ("gain", "cover", "splits", "shap")


@dataclass(frozen=True, eq=False)
class Names:
    """The names of the features, categories and classes of a model."""

    features: list[str]
    categories: Categories | None
    classes: AnyArray  # those that had training examples

    @classmethod
    def of(cls, clf: Any) -> Names:
        check_not_merged(clf)
        return cls(feature_names(clf), getattr(clf, "categories_", None), all_labels(clf)[clf._present])

    def categories_to_left(self, tree: Tree, node: int) -> list[Any]:
        """Return the categories that a node sends to its left child, written as in the user's table."""
        column = int(tree.nodes["feature"][node])
        known = None if self.categories is None else self.categories.columns[column]
        numbers = np.flatnonzero(np.unpackbits(tree.category_sets[tree.nodes["category"][node]], bitorder="little"))
        if known is None:
            return numbers.tolist()
        others = [OTHERS] if share_last(known) else []
        # categories that are numbers are kept as floats; whole ones are shown as codes are written
        shown = [int(v) if isinstance(v, float) and v.is_integer() else v for v in known.tolist()]
        return [[*shown, *others][b] for b in numbers.tolist() if b < len(shown) + len(others)]


def trees_with_rounds(model: AdditiveModel) -> list[tuple[int, Term]]:
    """Return the terms of the model that are trees, each with the index of its round, from 0."""
    rounds = np.searchsorted(model.round_ends, np.arange(len(model.terms)), side="right").tolist()
    pairs = zip(rounds, model.scaled_terms, strict=True)
    return [(t, term) for t, term in pairs if isinstance(term.hypothesis, TreeHypothesis)]


def find_tree(model: AdditiveModel, i: int, function: str) -> tuple[int, int, Term]:
    """Return the index of tree i (made ≥ 0 if negative), its round index and its term; errors name the ``function``."""
    trees = trees_with_rounds(model)
    if not trees:
        raise ValueError(f"{function} needs trees, and the model has none.")
    check_number("i", i, int, -len(trees), len(trees) - 1)
    return (int(i) % len(trees), *trees[i])


def walk_nodes(tree: Tree) -> Iterator[tuple[int, int, int]]:
    """Yield the index, the depth and the parent index (−1 at the root) of every node, parents before their children."""
    waiting = [(0, 0, -1)]
    while waiting:
        node, depth, parent = waiting.pop()
        yield node, depth, parent
        if tree.nodes["feature"][node] >= 0:
            left = int(tree.nodes["left"][node])
            waiting += [(left + 1, depth + 1, node), (left, depth + 1, node)]


@described
def trees_to_frame(clf: Any) -> Any:
    """Return all nodes of all trees as a pandas data frame with a row per node; the columns are like LightGBM's.

    ``best_class`` is the class whose logit the tree raises most in the node, and ``value`` is what the tree adds to
    this logit, on average over the training rows of the node.

    Examples
    --------
    >>> nodes = sb.explain.trees_to_frame(clf)
    >>> int(nodes["tree_index"].max()), int(nodes["count"][0])
    (19, 150)
    """
    model = check_booster(clf)
    pandas = import_optional("pandas", "trees_to_frame needs")
    M, names = model.Y.T.astype(np.float64), Names.of(clf)
    trees = enumerate(trees_with_rounds(model))
    rows = [row for number, (round_, term) in trees for row in tree_rows(term, number, round_, M, names, model.dtype)]
    columns = ["tree_index", "round", "node_depth", "node_index", "left_child", "right_child", "parent_index"]
    columns += ["split_feature", "split_gain", "threshold", "categories", "decision_type", "missing_direction"]
    return pandas.DataFrame(rows, columns=[*columns, "count", "best_class", "value"])


def tree_rows(term: Term, number: int, round_: int, M: Array, names: Names, dtype: Any) -> Iterator[dict[str, Any]]:
    tree: Tree = term.hypothesis.tree
    outputs = node_outputs(term, M, dtype)
    best = outputs.argmax(axis=1)

    def name(node: int) -> str:
        is_leaf = tree.nodes["feature"][node] < 0
        return f"{number}-L{tree.nodes['left'][node]}" if is_leaf else f"{number}-S{node}"

    for node, depth, parent in walk_nodes(tree):
        entry = tree.nodes[node]
        splits, by_category = entry["feature"] >= 0, entry["category"] >= 0
        left = int(entry["left"])
        yield {
            "tree_index": number,
            "round": round_,
            "node_depth": depth + 1,
            "node_index": name(node),
            "left_child": name(left) if splits else None,
            "right_child": name(left + 1) if splits else None,
            "parent_index": name(parent) if parent >= 0 else None,
            "split_feature": names.features[entry["feature"]] if splits else None,
            "split_gain": float(tree.gain[node]) if splits else np.nan,
            "threshold": float(entry["threshold"]) if splits and not by_category else np.nan,
            "categories": names.categories_to_left(tree, node) if splits and by_category else None,
            "decision_type": ("in" if by_category else "<=") if splits else None,
            "missing_direction": ("left" if entry["missing_left"] else "right") if splits else None,
            "count": int(tree.count[node]),
            "best_class": names.classes[best[node]],
            "value": float(outputs[node, best[node]]),
        }


@described
def tree_text(clf: Any, i: int, n_classes: int = 3) -> str:
    """Return a tree of a fitted booster as text, with a line for each condition and for each leaf.

    Parameters
    ----------
    n_classes : int, default=3
        The number of classes shown at a leaf, those whose logits it changes most, the largest change first.

    Examples
    --------
    >>> sb.explain.tree_text(clf, 0).startswith("tree 0 (round 0, ")
    True
    """
    model = check_booster(clf)
    number, round_, term = find_tree(model, i, "tree_text")
    check_number("n_classes", n_classes, int, 0)
    names = Names.of(clf)
    tree: Tree = term.hypothesis.tree
    outputs = node_outputs(term, model.Y.T.astype(np.float64), model.dtype)
    lines = [f"tree {number} (round {round_}, {tree.n_leaves} leaves)"]
    for node, depth, parent in walk_nodes(tree):
        bars = "|   " * (depth - 1) + "|--- " if depth else ""
        if parent >= 0:
            lines.append(bars + write_condition(tree, parent, node == tree.nodes["left"][parent], names))
            bars = "|   " + bars
        if tree.nodes["feature"][node] < 0:
            words = describe_leaf(tree, node, outputs[node], names.classes.tolist(), n_classes, ".4g")
            lines.append(f"{bars or '|--- '}leaf {tree.nodes['left'][node]}: {words}")
    return "\n".join(lines)


def write_condition(tree: Tree, node: int, left: bool, names: Names) -> str:
    """Return as text the condition that sends a row to a node's left child, or to its right child if not ``left``."""
    entry = tree.nodes[node]
    feature, missing = names.features[entry["feature"]], " or missing" if bool(entry["missing_left"]) == left else ""
    if entry["category"] < 0:
        return f"{feature} {'<=' if left else '>'} {entry['threshold']:.6g}{missing}"
    categories = ", ".join(map(str, names.categories_to_left(tree, node)))
    return f"{feature} {'in' if left else 'not in'} {{{categories}}}{missing}"


def describe_leaf(tree: Tree, node: int, output: Array, labels: list[Any], n_classes: int, digits: str) -> str:
    """Return as text the classes whose logits a leaf changes most, the changes, and its number of training rows."""
    furthest = np.argsort(-np.abs(output), kind="stable")[:n_classes]
    moves = ", ".join(f"{labels[k]} {output[k]:+{digits}}" for k in furthest.tolist() if output[k] != 0)
    return f"{moves or 'nothing'} ({tree.count[node]} row{'' if tree.count[node] == 1 else 's'})"


@described
def importances(clf: Any, kind: str = "gain", X: Any = None, *, classes: Any = None) -> Array:
    """Return the importance of each feature, (p,), or for a list of K classes its importance for each class, (p, K).

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, p), or None, default=None
        The rows whose absolute Shapley values are averaged; only for ``kind="shap"``.
    classes : label, list of labels or None, default=None
        One class or a list of classes; None means all classes together. For a list, the result has a column per class.

    Examples
    --------
    >>> sb.explain.importances(clf, "splits").shape, sb.explain.importances(clf, classes=[0, 1]).shape
    ((4,), (4, 2))
    """
    model, p = check_booster(clf), clf.n_features_in_
    check_choice("kind", kind, IMPORTANCES)
    if (kind == "shap") != (X is not None):
        raise ValueError(f"kind={kind!r} takes {'rows' if kind == 'shap' else 'no'} X; kind='shap' alone needs X.")
    if kind == "shap":
        size = np.abs(shap_values(clf, X, classes)).mean(axis=0)  # (p, D), or (p,)
        return size.mean(axis=1) if classes is None else size
    if kind == "gain" and classes is not None:
        chosen = ExplainedClasses.of(clf, classes)
        return chosen.fill(class_gains(model, p, chosen.columns), 0.0)
    if classes is not None:
        raise ValueError(f"kind={kind!r} is the same for all classes; kind='gain' and kind='shap' know classes.")
    if kind == "gain":
        return model.feature_gains(p)
    out = np.zeros(p)
    for tree in model.trees:
        inner = tree.nodes["feature"] >= 0
        np.add.at(out, tree.nodes["feature"][inner], tree.count[inner] if kind == "cover" else 1.0)
    return out


def find_largest(values: Array, most: int) -> AnyArray:
    """Return the indices of at most ``most`` positive values, the largest value first."""
    first = np.argsort(-values, kind="stable")[:most]
    return first[values[first] > 0]


def class_gains(model: AdditiveModel, p: int, M: Array) -> Array:
    """Return the share of each feature in the gains of all splits, (p, D), for each column of F @ M; columns sum to 1.

    The gain of a split is a sum over its training rows: the squared difference between what the tree adds to F @ M in
    the child of the row and in the node. F is the predictor, and the matrix M (d, D) has a column per class.
    """
    out = np.zeros((p, M.shape[1]))
    for term in tree_terms(model):
        tree: Tree = term.hypothesis.tree
        mean, inner = node_outputs(term, M, model.dtype), np.flatnonzero(tree.nodes["feature"] >= 0)
        left = tree.nodes["left"][inner]
        explained = sum(tree.count[child][:, None] * (mean[child] - mean[inner]) ** 2 for child in (left, left + 1))
        np.add.at(out, tree.nodes["feature"][inner], explained)
    total = out.sum(axis=0)
    return np.divide(out, total, out=out, where=total > 0)
