"""Random calls of the methods of a fitted classifier, with right and wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from .cases import any_labels, any_table
from .parameters import wrong_value

Draw = Callable[[np.random.Generator, np.ndarray, np.ndarray], Any]  # of the table X and the labels y of the fit


def random_call(
    rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray
) -> tuple[str, dict[str, Any], Callable[[], Any]]:
    """A call of a public method with at least one odd argument: its name, its arguments, and the call itself."""
    rounds = hasattr(clf, "staged_predict")
    known = [
        (name, draws) for name, draws in METHODS if hasattr(clf, name) and (rounds or not draws.keys() & OF_ROUNDS)
    ]
    name, draws = known[rng.integers(len(known))]
    arguments = {argument: draw(rng, X, y) for argument, draw in draws.items()}
    method = getattr(copy(clf) if name in CHANGING else clf, name)
    return name, arguments, lambda: drained(method(**arguments))


def drained(result: Any) -> Any:
    """The result; all of it, if it is an iterator."""
    return list(result) if hasattr(result, "__next__") else result


# ---- arguments ------------------------------------------------------------------------------------------------------


def one_of(rng: np.random.Generator, values: list[Any]) -> Any:
    """One of the values, or something quite wrong."""
    return wrong_value(rng) if rng.random() < 0.3 else values[rng.integers(len(values))]


def among(*values: Any) -> Draw:
    """Draws one of the values, or something quite wrong."""
    return lambda rng, X, y: one_of(rng, list(values))


def own_rows(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """The table of the fit."""
    return X


def few_rows(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Some rows of that table."""
    return X[: rng.integers(1, 5)]


def some_rows(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Some rows of the table of the fit, or any other table."""
    return few_rows(rng, X, y) if rng.random() < 0.6 else any_table(rng)


def some_labels(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """The labels of the fit, or others."""
    return y if rng.random() < 0.5 else any_labels(rng, len(y))


def more_labels(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """The labels of the fit, some of which are replaced by those of new classes."""
    new = [y[0] + 100, 7.5, "new", None, np.nan][rng.integers(5)] if y.dtype.kind in "biuf" else "new"
    return [new if rng.random() < 0.3 else label for label in y.tolist()]


def some_scores(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """An ``init_score``, or something wrong in its place."""
    n, K = len(X), len(np.unique(y))
    right = [None, np.zeros((n, K)), np.ones(n)]
    return one_of(rng, [*right, np.full((n, K), 1e300), np.full((n, K), np.nan), [[1]], "x", np.zeros((n, K + 1))])


def some_costs(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Costs of decisions, or something wrong in their place."""
    n, K = len(X), len(np.unique(y))
    right = [np.ones((K, K)), np.zeros((K, 2)), rng.normal(size=(n, K, K))]
    return one_of(rng, [*right, np.full((K, K), np.nan), np.ones((n, K)), [[1]], "x", np.full((K, K), 1e300)])


def some_prior(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Shares of the classes, or something wrong in their place."""
    labels = np.unique(y).tolist()
    right = [np.ones(len(labels)), dict.fromkeys(labels, 1.0), np.arange(len(labels))]
    return one_of(rng, [*right, {}, {"nope": 1}, [-1.0, 2.0], np.full(len(labels), np.nan), "x"])


some_classes = among(
    None, 0, 1, [0], [0, 1], [1, 0, 2], [], [0, 0], "a", [9], [[0]], -1, 1.5, {0}, np.array([0, 1]), object(), [None]
)
some_groups = among(
    {0: [0, 1]}, {1: [0]}, {"a": [0, 1]}, {}, {0: 1}, {0: [9]}, {9: [0, 0]}, [0, 1], {None: [1]}, {0: []}
)
some_features = among(0, [0], [0, 1], "x0", ["x1"], [], -1, 99, [0, 0], None, 1.5, "nope", [[0]], True, {0})
some_grid = among([0.0], [[0.0]], [0.0, 1.0], [[0.0, 1.0]], [], "x", np.nan, [np.inf], [None], [["a"]])

# ---- methods --------------------------------------------------------------------------------------------------------

PREDICT = ("predict", "predict_proba", "predict_log_proba", "decision_function", "class_scores")
STAGED = ("staged_predict", "staged_predict_proba", "staged_decision_function")
CHANGING = {"set_params", "add_classes", "drop_classes", "merge_classes"}  # which a copy is asked
OF_ROUNDS = {"n_rounds", "init_score", "costs", "prior"}  # arguments of `predict` and its like that only boosters have


def of_each(names: tuple[str, ...], **draws: Draw) -> list[tuple[str, dict[str, Draw]]]:
    """Several methods that take the same arguments."""
    return [(name, dict(draws)) for name in names]


METHODS: list[tuple[str, dict[str, Draw]]] = [
    *of_each((*PREDICT, *STAGED, "apply", "shap_values"), X=some_rows),
    *of_each(PREDICT, X=own_rows, n_rounds=among(None, 1, 2, 3, 0, -1, 99, np.int64(1))),
    *of_each((*PREDICT, *STAGED), X=own_rows, init_score=some_scores),
    ("score", {"X": own_rows, "y": some_labels}),
    ("margins", {"X": own_rows, "y": some_labels}),
    ("add_classes", {"X": own_rows, "y": more_labels}),
    ("add_classes", {"X": some_rows, "y": some_labels}),
    ("add_classes", {"X": own_rows, "y": more_labels, "sample_weight": among(None, 1.0, [1.0], "x", -1.0)}),
    ("drop_classes", {"classes": some_classes}),
    ("merge_classes", {"groups": some_groups}),
    ("top_k", {"X": own_rows, "k": among(1, 2, 3, 4, 0, -1, np.int8(1))}),
    ("predict_set", {"X": some_rows, "coverage": among(0.9, 0.5, 0, 1, -1, np.nan), "per_class": among(True, False)}),
    *of_each(("predict", "expected_costs"), X=own_rows, costs=some_costs),
    *of_each(("predict", "predict_proba"), X=own_rows, prior=some_prior),
    ("estimate_prior", {"X": some_rows}),
    ("predict_or_abstain", {"X": some_rows, "confidence": among(0.9, 0, 1, 2), "missing": among(None, -1, "?", [1])}),
    ("shap_values", {"X": few_rows, "classes": some_classes}),
    ("shap_values", {"X": few_rows, "background": some_rows}),
    ("shap_interaction_values", {"X": few_rows, "classes": some_classes}),
    ("explain_pair", {"X": few_rows, "a": some_classes, "b": some_classes}),
    ("importances", {"kind": among("gain", "cover", "splits", "weight", None), "classes": some_classes}),
    ("importances", {"kind": among("shap", "gain"), "X": some_rows, "classes": some_classes}),
    ("partial_dependence", {"features": some_features, "grid": some_grid, "classes": some_classes}),
    ("nearest_examples", {"X": some_rows, "examples": some_rows, "k": among(1, 2, 99)}),
    ("tree_text", {"i": among(0, 1, -1, 99), "n_classes": among(0, 1, 99)}),
    ("to_shap", {"classes": some_classes}),
    ("doubtful_labels", {"X": some_rows, "y": some_labels, "cv": among(2, 1, 0)}),
    ("predict_random", {"X": some_rows, "random_state": among(None, 0, -1)}),
    ("set_params", {"nope": among(1)}),
    ("set_params", {"n_estimators__x": among(1)}),
    ("set_params", {"learner__nope": among(1)}),
]

# What a refusal of such a call has to speak of.
WORDS = (
    r"\bX\b|[Cc]olumn|feature|array|sample|[Ss]parse|[Cc]omplex|rows|DataFrame|\by\b|y_true|[Ll]abel|class|target|"
    r"n_rounds|init_score|\bk\b|\bi\b|\ba (is|holds|=)|\bb\b|kind|grid|background|\bcv\b|random_state|[Pp]arameter|"
    r"tree|examples|splits|coverage|per_class|confidence|missing|costs|prior|groups"
)
