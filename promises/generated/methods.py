"""Random calls of the methods of a fitted classifier, and of functions that take it, with right and wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import simplexboost as sb

from .cases import any_labels, any_table
from .labels import good_weights, odd_weights
from .parameters import wrong_value

Draw = Callable[[np.random.Generator, np.ndarray, np.ndarray], Any]  # of the table X and the labels y of the fit


@dataclass
class Call:
    """A call of a method of a fitted classifier, or of a function of a module such as ``explain.shap_values``.

    Where a method changes the classifier, the subject is a copy.
    """

    subject: Any
    name: str
    arguments: dict[str, Any]

    def __call__(self) -> Any:
        return drained(bound(self.subject, self.name)(**self.arguments))

    def __str__(self) -> str:
        return f"{self.subject!r}\n  {self.name}(**{self.arguments!r:.900})"


def bound(clf: Any, name: str) -> Callable[..., Any]:
    """A method of a classifier, or a function of a module with the classifier as its first argument."""
    module, _, function = name.rpartition(".")
    return partial(getattr(getattr(sb, module), function), clf) if module else getattr(clf, name)


def random_call(rng: np.random.Generator, clf: Any, X: np.ndarray, y: np.ndarray) -> Call:
    """A call of a public method with at least one odd argument."""
    rounds = hasattr(clf, "staged_predict")
    known = [
        (name, draws)
        for name, draws in METHODS
        if (rounds if name.startswith(("explain.", "decide.", "classifiers.")) else "." in name or hasattr(clf, name))
        and (rounds or not draws.keys() & OF_ROUNDS)
    ]
    name, draws = known[rng.integers(len(known))]
    arguments = {argument: draw(rng, X, y) for argument, draw in draws.items()}
    return Call(copy(clf) if name in CHANGING else clf, name, arguments)


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
    if y.ndim == 2:
        return y
    new = [y[0] + 100, 7.5, "new", None, np.nan][rng.integers(5)] if y.dtype.kind in "biuf" else "new"
    return [new if rng.random() < 0.3 else label for label in y.tolist()]


def some_weights(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Weights of the rows of the fit, or something wrong in their place."""
    return good_weights(rng, len(X)) if rng.random() < 0.5 else odd_weights(rng, len(X))


def class_count(y: np.ndarray) -> int:
    """The number of classes, or of the columns of a matrix y."""
    return len(np.unique(y)) if y.ndim == 1 else y.shape[1]


def some_scores(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """An ``init_score``, or something wrong in its place."""
    n, K = len(X), class_count(y)
    right = [None, np.zeros((n, K)), np.ones(n)]
    return one_of(rng, [*right, np.full((n, K), 1e300), np.full((n, K), np.nan), [[1]], "x", np.zeros((n, K + 1))])


def some_costs(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Costs of decisions, or something wrong in their place."""
    n, K = len(X), class_count(y)
    labels = np.unique(y).tolist() if y.ndim == 1 else list(range(K))
    frame = pd.DataFrame(rng.normal(size=(len(labels), 2)), index=labels, columns=["go", "stay"])
    right = [np.ones((K, K)), np.zeros((K, 2)), rng.normal(size=(n, K, 3)), 1 - np.eye(K), frame, frame.iloc[::-1]]
    wrong = [
        np.full((K, K), np.nan), np.ones((n, K)), [[1]], "x", np.full((K, K), 1e300), np.full((K, K), -1e300),
        np.zeros((K, 0)), np.ones((K + 1, K)), np.ones((n - 1, K, 3)), np.ones((K, 2, 2, 2)), np.full((K, K), 1j),
        frame.iloc[1:], pd.concat([frame, frame]), frame.astype(str), frame.iloc[:, :0], frame.rename(index=str),
        frame.set_axis(["go", "go"], axis=1), frame.assign(go=None), [["a"] * K] * K, np.full((K, 2), 10**400),
        np.full((K, 2), np.inf), {}, [],
    ]  # fmt: skip
    return one_of(rng, right if rng.random() < 0.5 else wrong)


def some_prior(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Shares of the classes, or something wrong in their place."""
    K = class_count(y)
    labels = np.unique(y).tolist() if y.ndim == 1 else list(range(K))
    right = [np.ones(K), dict.fromkeys(labels, 1.0), np.arange(K), np.ones(K).tolist(), np.full(K, 1e-300)]
    wrong = [
        {}, {"nope": 1}, [-1.0, 2.0], np.full(K, np.nan), "x", np.zeros(K), np.full(K, np.inf), np.ones(K + 1),
        np.ones((K, 1)), dict.fromkeys(labels, "1"), dict.fromkeys(labels[1:], 1.0), dict.fromkeys(labels, 0),
        np.full(K, 1e308), np.ones(K, dtype=complex), [None] * K, ["a"] * K, [10**400] * K, [[1.0], [1.0, 2.0]],
        pd.Series(np.ones(K), index=labels), {None: 1.0}, {labels[0]: np.nan}, {labels[0]: [1.0]},
    ]  # fmt: skip
    return one_of(rng, right if rng.random() < 0.5 else wrong)


some_classes = among(
    None, 0, 1, [0], [0, 1], [1, 0, 2], [], [0, 0], "a", [9], [[0]], -1, 1.5, {0}, np.array([0, 1]), object(), [None]
)
some_groups = among(
    {0: [0, 1]}, {1: [0]}, {"a": [0, 1]}, {}, {0: 1}, {0: [9]}, {9: [0, 0]}, [0, 1], {None: [1]}, {0: []}
)
some_features = among(0, [0], [0, 1], "x0", ["x1"], [], -1, 99, [0, 0], None, 1.5, "nope", [[0]], True, {0})
some_coverage = among(0.9, 0.5, 0.999, 1e-9, 0, 1, -1, 1.5, np.nan, "x", None, [0.9], np.float32(0.8), 0.9 + 0j)
some_confidence = among(0.9, 0, 1, 2, -1, np.nan, "x", None, [0.5])
some_missing = among(None, -1, "?", [1], 0, "a", np.nan, 10**400, object(), b"x", np.datetime64("NaT"), 1.5, True, {})
some_grid = among([0.0], [[0.0]], [0.0, 1.0], [[0.0, 1.0]], [], "x", np.nan, [np.inf], [None], [["a"]])

# ---- methods --------------------------------------------------------------------------------------------------------

PREDICT = ("predict", "predict_proba", "predict_log_proba", "decision_function", "class_scores")
STAGED = ("staged_predict", "staged_predict_proba", "staged_decision_function")
CHANGING = {"set_params"}  # which a copy is asked
OF_ROUNDS = {"init_score"}  # arguments of `predict` and its like that only boosters have


def of_each(names: tuple[str, ...], **draws: Draw) -> list[tuple[str, dict[str, Draw]]]:
    """Several methods that take the same arguments."""
    return [(name, dict(draws)) for name in names]


METHODS: list[tuple[str, dict[str, Draw]]] = [
    *of_each((*PREDICT, *STAGED, "apply", "explain.shap_values"), X=some_rows),
    *of_each((*PREDICT, *STAGED), X=own_rows, init_score=some_scores),
    ("score", {"X": own_rows, "y": some_labels}),
    ("evaluate.margins", {"X": own_rows, "y": some_labels}),
    ("classifiers.add_classes", {"X": own_rows, "y": more_labels}),
    ("classifiers.add_classes", {"X": some_rows, "y": some_labels}),
    ("classifiers.add_classes", {"X": own_rows, "y": more_labels, "sample_weight": some_weights}),
    (
        "classifiers.add_classes",
        {
            "X": own_rows,
            "y": more_labels,
            "n_rounds": among("auto", 0, 1, 2, -1, 1.5, None, "x", True),
            "learning_rate": among("auto", 0.1, 1.0, 0.0, -1.0, np.nan, 1e300, "x", None),
        },
    ),
    ("decide.calibrate_sets", {"X": own_rows, "y": some_labels, "sample_weight": some_weights}),
    ("decide.calibrate_sets", {"X": some_rows, "y": some_labels}),
    ("decide.calibrate_sets", {"X": own_rows, "y": some_labels, "init_score": some_scores}),
    ("classifiers.drop_classes", {"classes": some_classes}),
    ("classifiers.merge_classes", {"groups": some_groups}),
    *of_each(
        ("decide.predict_level", "decide.predict_proba_level"),
        X=own_rows,
        level=among(1, 2, 3, 0, -1, None, "a", 1.5),
    ),
    ("classifiers.keep_rounds", {"n_rounds": among(None, 1, 2, 3, 0, -1, 99, np.int64(1))}),
    ("decide.top_k", {"X": own_rows, "k": among(1, 2, 3, 4, 0, -1, np.int8(1))}),
    ("decide.predict_sets", {"X": some_rows, "coverage": some_coverage, "per_class": among(True, False, 0, None, "x")}),
    ("decide.predict_sets", {"X": own_rows, "coverage": some_coverage, "init_score": some_scores}),
    *of_each(("decide.predict", "decide.expected_costs"), X=own_rows, costs=some_costs),
    *of_each(("decide.predict", "decide.expected_costs"), X=own_rows, costs=some_costs, prior=some_prior),
    *of_each(("decide.predict", "decide.predict_proba"), X=own_rows, prior=some_prior),
    ("decide.predict_proba", {"X": own_rows, "prior": some_prior}),
    ("decide.estimate_prior", {"X": some_rows}),
    ("decide.estimate_prior", {"X": own_rows, "init_score": some_scores}),
    ("decide.predict_or_abstain", {"X": some_rows, "confidence": some_confidence, "missing": some_missing}),
    ("explain.shap_values", {"X": few_rows, "classes": some_classes}),
    ("explain.shap_values", {"X": few_rows, "background": some_rows}),
    ("explain.shap_interaction_values", {"X": few_rows, "classes": some_classes}),
    ("explain.explain_pair", {"X": few_rows, "a": some_classes, "b": some_classes}),
    ("explain.importances", {"kind": among("gain", "cover", "splits", "weight", None), "classes": some_classes}),
    ("explain.importances", {"kind": among("shap", "gain"), "X": some_rows, "classes": some_classes}),
    ("explain.partial_dependence", {"features": some_features, "grid": some_grid, "classes": some_classes}),
    ("explain.nearest_examples", {"X": some_rows, "examples": some_rows, "k": among(1, 2, 99)}),
    ("explain.tree_text", {"i": among(0, 1, -1, 99), "n_classes": among(0, 1, 99)}),
    ("explain.to_shap", {"classes": some_classes}),
    ("explain.doubtful_labels", {"X": some_rows, "y": some_labels, "cv": among(2, 1, 0)}),
    ("predict_random", {"X": some_rows, "random_state": among(None, 0, -1)}),
    ("set_params", {"nope": among(1)}),
    ("set_params", {"n_estimators__x": among(1)}),
    ("set_params", {"learner__nope": among(1)}),
]

# What a refusal of such a call has to speak of.
WORDS = (
    r"\bX\b|[Cc]olumn|feature|array|sample|[Ss]parse|[Cc]omplex|rows|DataFrame|\by\b|y_true|[Ll]abel|class|target|"
    r"n_rounds|init_score|\bk\b|\bi\b|\ba (is|holds|=)|\bb\b|kind|grid|background|\bcv\b|random_state|[Pp]arameter|"
    r"tree|examples|splits|level|coverage|per_class|confidence|missing|costs|prior|groups|weight|learning_rate"
)
