"""Forests and trees that lead astray: prediction never leaves its arrays, whatever it is made from."""

import numpy as np
import pytest

from simplexboost import _kernels
from simplexboost.engine import NODE, SET_BYTES, node_bytes


def two_splits(**changes):
    """Nodes of a tree with three leaves: feature 0 by a threshold, then feature 1 by a set; some fields changed."""
    nodes = np.zeros(5, dtype=NODE)
    nodes["feature"], nodes["left"] = [0, 1, -1, -1, -1], [1, 3, 0, 1, 2]
    nodes["category"] = [-1, 0, -1, -1, -1]
    for name, values in changes.items():
        nodes[name] = values
    return node_bytes(nodes)


def starts(*numbers):
    return np.array(numbers, dtype=np.int64)


# Two trees of `two_splits`, each with a category set and with d = 2 values for each of its leaves.
FOREST = {
    "nodes": np.concatenate([two_splits(), two_splits()]),
    "first_node": starts(0, 5, 10),
    "values": np.ones(12),
    "first_value": starts(0, 6, 12),
    "columns": None,
    "row_start": None,
    "coordinate": np.array([-1, -1], dtype=np.int32),
    "step": np.ones(2),
    "category_sets": np.full((2, SET_BYTES), 255, dtype=np.uint8),
    "first_set": starts(0, 1, 2),
    "n_features": 2,
}
SPARSE = {"columns": np.tile([0, 1], 6).astype(np.int32), "row_start": starts(0, 2, 4, 6, 8, 10, 12)}
ONE_COORDINATE = {"coordinate": np.array([0, 2], np.int32), "values": np.ones(6), "first_value": starts(0, 3, 6)}
ASTRAY = [
    ({"feature": [0, 2, -1, -1, -1]}, "feature that X does not have"),
    ({"left": [0, 3, 0, 1, 2]}, "forward"),
    ({"left": [1, 4, 0, 1, 2]}, "forward"),
    ({"left": [1, 2**31 - 1, 0, 1, 2]}, "forward"),
    ({"left": [1, -1, 0, 1, 2]}, "forward"),
    ({"left": [1, 3, 3, 1, 2]}, "leaf"),
    ({"left": [1, 3, -1, 1, 2]}, "leaf"),
    ({"category": [-1, 1, -1, -1, -1]}, "category set"),
    ({"threshold": np.nan}, "NaN"),
]


def predict(F_columns=2, X_columns=2, **changes):
    F = np.zeros((9, F_columns))
    _kernels.Forest64(**(FOREST | changes)).predict(np.full((9, X_columns), np.inf), F, 1)
    return F


def test_the_forests_that_are_damaged_below_are_sound():
    assert (predict() == 2.0).all() and (predict(**SPARSE) == 2.0).all()
    assert predict(3, **ONE_COORDINATE).tolist() == [[1.0, 0.0, 1.0]] * 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"nodes": np.concatenate([two_splits(), two_splits(**change)])}, message) for change, message in ASTRAY),
        ({"first_node": starts(0, 11, 10)}, "ascend"),
        ({"first_node": starts(-5, 5, 10)}, "ascend"),
        ({"first_node": starts(0, 4, 10)}, "odd"),
        ({"first_node": starts(0, 0, 10)}, "odd"),
        ({"first_value": starts(0, 14, 12)}, "ascend"),
        ({"first_value": starts(0, 0, 12)}, "as many values"),
        ({"first_value": starts(0, 3, 12)}, "different numbers of columns"),
        ({"first_set": starts(0, 3, 2)}, "ascend"),
        ({"first_set": starts(0, 2, 2)}, "category set"),
        ({"coordinate": np.array([-2, -1], np.int32)}, "coordinate"),
        ({"coordinate": np.array([-1, 1], np.int32)}, "a value per leaf"),
        (SPARSE | {"coordinate": np.array([-1, 1], np.int32)}, "sparse"),
        (SPARSE | {"columns": np.full(12, -1, np.int32)}, "column"),
        (SPARSE | {"row_start": starts(0, 2, 4, 6, 99, 10, 12)}, "ascend"),
        (SPARSE | {"row_start": starts(0, 2, 4, 5, 8, 10, 12)}, "first row"),
        (SPARSE | {"row_start": starts()}, "row_start"),
        ({"n_features": 2**28}, "features"),
        # F and X of other widths than the forest was packed for
        ({"F_columns": 1}, "columns"),
        ({"F_columns": 3}, "columns"),
        ({"X_columns": 1}, "columns"),
        (SPARSE | {"F_columns": 1}, "columns"),
        (ONE_COORDINATE | {"F_columns": 2}, "columns"),
    ],
)
def test_forests_that_lead_astray_are_refused(changes, message):
    """Prediction never leaves its arrays, whatever a forest is made from."""
    with pytest.raises(ValueError, match=message):
        predict(**changes)


def test_ranks_stay_below_those_of_leaves():
    """A leaf leads to itself because no rank is above the highest, so there may be only so many thresholds.

    The error is of a kind of its own: forests that are refused with it are packed in parts.
    """
    n = 2**15
    nodes = np.zeros((n, 3), dtype=NODE)
    nodes["feature"], nodes["left"], nodes["category"] = [0, -1, -1], [1, 0, 1], -1
    nodes["threshold"][:, 0] = np.arange(n)
    many = {"nodes": node_bytes(nodes.ravel()), "first_node": np.arange(n + 1) * 3, "values": np.ones(2 * n)}
    many |= {"first_value": np.arange(n + 1) * 2, "coordinate": np.zeros(n, np.int32), "step": np.ones(n)}
    with pytest.raises(OverflowError, match="too many thresholds"):
        predict(**many, category_sets=FOREST["category_sets"][:0], first_set=np.zeros(n + 1, np.int64))


@pytest.mark.parametrize(("change", "message"), ASTRAY)
def test_trees_that_lead_astray_are_not_walked(change, message):
    X, leaves, sets = np.full((9, 2), np.inf), np.empty(9, dtype=np.int32), FOREST["category_sets"][:1]
    _kernels.apply(two_splits(), sets, X, leaves, 1)
    with pytest.raises(ValueError, match=message):
        _kernels.apply(two_splits(**change), sets, X, leaves, 1)
    with pytest.raises(ValueError, match="odd"):
        _kernels.apply(two_splits()[:0], sets, X, leaves, 1)
    with pytest.raises(ValueError, match="feature"):
        _kernels.apply(two_splits(), sets, X[:, :1].copy(), leaves, 1)
