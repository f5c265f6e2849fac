"""Hierarchical metrics: how near predictions come to the truth in a tree of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import AnyArray
from ..parts.codewords import Hierarchy
from ..tables.validation import check_sample_weight, check_some_weight
from .confusion import check_labels, check_same_length


@dataclass(frozen=True)
class HierarchicalScores:
    """How near predictions come to the truth in a tree.

    Attributes
    ----------
    precision : float
        Of all nodes that contain predictions (the root left out), the part that contains the truth as well.
    recall : float
        Of all nodes that contain the truth, the part that contains the prediction as well.
    f1 : float
        The harmonic mean of both.
    distance : float
        The mean number of edges between the prediction and the truth.
    accuracy : list of float
        The part of the rows whose prediction is in the right node, for every level from the top down.

    Examples
    --------
    >>> tree = Hierarchy({"bird": ["owl", "wren"], "fish": ["eel", "carp"]})
    >>> hierarchical_scores(["owl", "eel"], ["wren", "eel"], tree)
    HierarchicalScores(precision=0.75, recall=0.75, f1=0.75, distance=1.0, accuracy=[1.0, 0.5])
    """

    precision: float
    recall: float
    f1: float
    distance: float
    accuracy: list[float]


def hierarchical_scores(
    y_true: Any, y_pred: Any, hierarchy: Hierarchy, sample_weight: Any = None
) -> HierarchicalScores:
    """Precision, recall and F1 of the nodes that contain predictions, and the mean distance in the tree.

    Predictions may be labels or nodes further up, as of `decide.predict_level`: such a prediction is less precise but
    not wrong. The sets of nodes are those of Kiritchenko, Matwin and Famili (2005), added up over all rows.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    y_pred : array of shape (n,)
        The predictions: labels or names of nodes.
    hierarchy : Hierarchy
        The tree.
    sample_weight : array of shape (n,) or None, default=None
        What the rows count.

    Returns
    -------
    HierarchicalScores
        The scores.

    Examples
    --------
    >>> tree = Hierarchy({"bird": ["owl", "wren"], "fish": ["eel", "carp"]})
    >>> found = hierarchical_scores(["owl", "owl", "eel"], ["owl", "wren", "bird"], tree)
    >>> round(found.precision, 3), round(found.recall, 3), round(found.distance, 3)
    (0.6, 0.5, 1.667)
    >>> found.accuracy
    [0.6666666666666666, 0.3333333333333333]
    """
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(f"hierarchy={hierarchy!r:.200} must be a simplexboost.Hierarchy.")
    labels, answers = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    check_same_length(labels, answers, "y_pred")
    weight = check_sample_weight(sample_weight, labels)
    check_some_weight(bool(weight.any()))
    truth, predicted = labels.tolist(), answers.tolist()
    paths = {node: hierarchy.ancestors(node) for node in {*truth, *predicted}}
    shared = np.array([common(paths[a], paths[b]) for a, b in zip(truth, predicted, strict=True)])
    depth_true, depth_pred = (np.array([len(paths[node]) for node in nodes]) for nodes in (truth, predicted))
    precision, recall = (float(weight @ shared / (weight @ depth)) for depth in (depth_pred, depth_true))
    levels = range(1, hierarchy.n_levels + 1)
    return HierarchicalScores(
        precision,
        recall,
        2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        mean(depth_true + depth_pred - 2 * shared, weight),
        [mean(right_at(level, shared, depth_true, depth_pred), weight) for level in levels],
    )


def common(a: list[Any], b: list[Any]) -> int:
    """How many nodes two paths share, from the top."""
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def right_at(level: int, shared: AnyArray, depth_true: AnyArray, depth_pred: AnyArray) -> AnyArray:
    """Whether predictions are in the right node of a level; a label above it must be predicted itself."""
    return (shared >= level) | ((shared == depth_true) & (depth_pred == depth_true))


def mean(values: AnyArray, weight: AnyArray) -> float:
    """The weighted mean."""
    return float(np.average(values, weights=weight))
