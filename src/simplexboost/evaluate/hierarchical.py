"""Hierarchical metrics: how near predictions come to the truth in a tree of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parts.codewords import Hierarchy
from ..tables.validation import check_sample_weight, check_some_weight
from .confusion import check_labels, check_same_length
from .drawing import documented


@documented
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
    >>> HierarchicalScores.from_predictions(["owl", "eel"], ["wren", "eel"], tree)
    HierarchicalScores(precision=0.75, recall=0.75, f1=0.75, distance=1.0, accuracy=[1.0, 0.5])
    """

    precision: float
    recall: float
    f1: float
    distance: float
    accuracy: list[float]

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, hierarchy: Hierarchy, sample_weight: Any = None
    ) -> HierarchicalScores:
        """Count the nodes that contain predictions, the true labels, and both, over all rows.

        Predictions may be labels or nodes further up, as of `decide.predict_level`: such a prediction is less precise
        but not wrong. The sets of nodes are those of Kiritchenko, Matwin and Famili (2005).

        Parameters
        ----------
        y_pred : array of shape (n,)
            The predictions: labels or names of nodes.
        hierarchy : Hierarchy
            The tree.
        """
        if not isinstance(hierarchy, Hierarchy):
            raise TypeError(f"hierarchy={hierarchy!r:.200} must be a simplexboost.Hierarchy.")
        labels, answers = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
        check_same_length(labels, answers, "y_pred")
        weight = check_sample_weight(sample_weight, labels)
        check_some_weight(bool(weight.any()))
        truth, predicted = labels.tolist(), answers.tolist()
        paths = {node: hierarchy.ancestors(node) for node in {*truth, *predicted}}
        # The names of nodes differ, so that two paths share what they share from the top.
        shared = np.array([len({*paths[a]} & {*paths[b]}) for a, b in zip(truth, predicted, strict=True)])
        depth_true, depth_pred = (np.array([len(paths[node]) for node in nodes]) for nodes in (truth, predicted))
        precision, recall = (float(weight @ shared / (weight @ depth)) for depth in (depth_pred, depth_true))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        distance = float(np.average(depth_true + depth_pred - 2 * shared, weights=weight))
        exact = (shared == depth_true) & (depth_pred == depth_true)  # a label above a level must be predicted itself
        levels = range(1, hierarchy.n_levels + 1)
        accuracy = [float(np.average((shared >= level) | exact, weights=weight)) for level in levels]
        return cls(precision, recall, f1, distance, accuracy)
