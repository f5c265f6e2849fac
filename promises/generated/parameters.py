"""Random parameters of every classifier: at their limits, of odd types, and wrong ones."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import simplexboost as sb
from simplexboost.boosting import Callback
from simplexboost.parts.codewords import CODEWORDS
from simplexboost.parts.learners import LEARNERS
from simplexboost.parts.losses import LOSSES
from simplexboost.parts.optimizers import OPTIMIZERS
from simplexboost.parts.steps import STEPS

CLASSIFIERS: dict[str, type] = {
    name: kind
    for name in sb.__all__
    if isinstance(kind := getattr(sb, name), type) and issubclass(kind, ClassifierMixin)
}
PARTS: dict[str, dict[str, Any]] = {
    "loss": dict(LOSSES),
    "codewords": dict(CODEWORDS),
    "learner": LEARNERS,
    "optimizer": OPTIMIZERS,
    "step": STEPS,
}

TINY = [5e-324, 1e-300, 1e-150, 1e-40, 1e-12, 1e-6]
LIMITS: list[Any] = [
    0,
    1,
    2,
    3,
    -1,
    -2,
    0.0,
    -0.0,
    0.5,
    1.0,
    1.5,
    -0.5,
    *TINY,
    10.0,
    1e3,
    1e6,
    1e39,
    1e150,
    1e154,
    1e300,
]
BEYOND: list[Any] = [math.inf, -math.inf, math.nan, 10**400, -(10**400), 1.7e308]
WHOLE = [255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, -(2**31), -(2**63)]
TYPES: list[Any] = [
    True, False, None, "auto", "nonsense", "", "3", b"x", 1j, [], [1.5], (), {}, {"a": 1}, {1, 2}, object(), int, len,
    np.int64(3), np.int8(3), np.uint64(2**63), np.float32(0.5), np.float64(0.5), np.float16(0.5), np.longdouble(0.5),
    np.bool_(True), np.array(3), np.array(0.5), np.ones((2, 2)), np.array(["a"]), Fraction(1, 2), Decimal("0.5"),
    np.nan, np.float32(np.inf), np.datetime64("NaT"), np.str_("auto"), math, slice(3), range(3), "é\x00\n",
]  # fmt: skip

# So many rounds, layers, passes or columns would be legal, but nobody waits for them.
MOST = {"n_layers": 8, "max_iter": 2000, "code_dim": 64, "n_jobs": 8, "n_candidates": 64, "cache_size": 1e6}


class StopAfterThree(Callback):
    """Ends a fit after three rounds, so that any number of rounds can be asked for."""

    def after_round(self, run: Any) -> None:
        """Stop in time."""
        if run.round >= 3:
            run.stop_reason = "three rounds are enough"


def any_kind(rng: np.random.Generator) -> str:
    """The name of a classifier; the flagship, which can do most, is more frequent than the others."""
    return "SimplexBoostClassifier" if rng.random() < 0.2 else list(CLASSIFIERS)[rng.integers(len(CLASSIFIERS))]


def classifier(rng: np.random.Generator, kind: str, plain: bool = False) -> Any:
    """A classifier of a kind that is fitted at once; unless ``plain``, made of random parts where it takes any."""
    accepted = CLASSIFIERS[kind]().get_params(deep=False)
    options: dict[str, Any] = {"random_state": int(rng.integers(2**32))} if rng.random() < 0.9 else {}
    share = rng.random()
    if share < 0.98:  # mostly one thread, because many cases run at the same time
        options["n_jobs"] = 1 if share < 0.9 else 2
    if "n_estimators" in accepted:
        options["n_estimators"] = int(rng.integers(1, 6))
    if "n_layers" in accepted:
        options["n_layers"] = int(rng.integers(1, 5))
    if kind == "OutputCodeClassifier":
        options["estimator"] = random_binary(rng)
    for name in PARTS:
        if not plain and name in accepted and rng.random() < (0.6 if kind == "BoostingClassifier" else 0.15):
            options[name] = random_part(rng, name)
    return CLASSIFIERS[kind](**options)


def random_binary(rng: np.random.Generator) -> Any:
    """A binary classifier for the columns of an output code."""
    makers = [
        lambda: DecisionTreeClassifier(max_depth=2),
        lambda: sb.GDMCBoostClassifier(n_estimators=2),
        lambda: sb.SimplexBoostClassifier(n_estimators=2),
        lambda: sb.MulticlassSVC(max_iter=50),
        lambda: sb.MartiBoostClassifier(n_layers=2),
    ]
    return makers[rng.integers(len(makers))]()


def random_part(rng: np.random.Generator, name: str) -> Any:
    """A part by name or as an object, or an estimator of scikit-learn as a learner."""
    if name == "learner" and rng.random() < 0.1:
        return DecisionTreeRegressor(max_depth=2) if rng.random() < 0.5 else DecisionTreeClassifier(max_depth=2)
    key = list(PARTS[name])[rng.integers(len(PARTS[name]))]
    return key if rng.random() < 0.4 else PARTS[name][key]()


def wrong_value(rng: np.random.Generator) -> Any:
    """A value at the limits of what makes sense, or far beyond them, or of another type."""
    values = [LIMITS, LIMITS, BEYOND, WHOLE, TYPES, TYPES][rng.integers(6)]
    return values[rng.integers(len(values))]


def special_value(rng: np.random.Generator, name: str, n: int, p: int, K: int) -> Any:
    """A value of a parameter that is not a number: nearly right, or wrong."""
    j = int(rng.integers(p + 2))
    table: dict[str, list[Any]] = {
        "class_weight": [
            "balanced", {0: 1}, {0: 1.0, 1: 2.0, 2: 3}, {0: 0, 1: 1, 2: 1}, {0: -1}, {0: np.nan, 1: 1},
            {0: 1e300, 1: 1e-300}, {"a": 1}, [{0: 1}], [1.0, 2.0], {0: "1", 1: 1}, {0: 1e308, 1: 1e308, 2: 1e308},
            {0: True},
        ],
        "classes": [
            [0, 1], list(range(K + 2)), [0], [0, 0], ["a", "b"], [0, "a"], np.arange(K), "abc", {0, 1, 2}, [[0, 1]],
            [None, 0], range(K), [0.0, 1.0, 2.0], [True, False], [np.nan, 0], [], sb.Ordinal(),
            sb.Ordinal(list(range(K))[::-1]), sb.Ordinal(np.arange(K + 2)), sb.Ordinal([0, 0]), sb.Ordinal("up"),
            sb.Ordinal, sb.Hierarchy({"a": [0], "b": list(range(1, K))}), sb.Hierarchy({"a": list(range(K + 2))}),
            {"a": [0, 1]}, sb.Hierarchy({"a": [0, 0]}), sb.Hierarchy({"a": ["x", "y"]}), sb.Hierarchy({}),
            sb.Hierarchy(3), sb.Hierarchy({"a": None, 0: [1, 2]}), sb.Hierarchy({"a": [[0]]}), sb.Hierarchy,
        ],
        "categorical_features": [
            None, "from_dtype", [j], [0, 0], [-1], ["x0"], ["nope"], [True] * p, [True], [1.5], "x0", [2**63], [[0]],
            np.array([], dtype=int), [None], {0}, j, range(p), np.ones((2, 2), bool),
        ],
        "monotonic_cst": [
            [1] * p, [0] * p, [1], {0: 1}, {"x0": -1}, {0: [1] * p}, {0: {0: 1}}, {1: [2] * p}, [1.5] * p, {5: 1},
            "up", [None] * p, {0: {j: 1}}, [[1] * p], np.ones(p), {0: {0: np.nan}}, [10**400] * p,
        ],
        "interaction_cst": [
            "pairwise", "no_interactions", [[0]], [{0, 1}], [{j}], [["x0"]], [0], "x", [], [[]], [[-1]], [[1.5]],
            {0: 1}, [[2**63]], [[None]], 3,
        ],
        "cost_matrix": [
            np.ones((K, K)), np.zeros((K, K)), np.ones((K, K + 1)), -np.ones((K, K)), np.full((K, K), np.nan),
            np.full((K, K), np.inf), 1 - np.eye(K), (1 - np.eye(K)) * 1e300, (1 - np.eye(K)) * 1e-300, "x",
            [[0, 1], [1, 0]], np.eye(K), 1.0, [[0]], np.full((K, K), 1j),
        ],
        "codewords": [
            np.eye(K), np.eye(K)[:, :1], np.zeros((K, 2)), np.ones((K, 2)), np.full((K, 2), np.nan),
            np.eye(K) * 1e300, np.eye(K) * 1e-300, np.eye(K + 1), [[1], [-1]], [["a"]], [[1, 2], [1]],
            np.eye(K) * 1e154, np.eye(K, dtype=complex), [], np.ones((K, 0)), np.ones((K, 2, 2)),
        ],
        "labels": [
            None, list(range(K)), list(range(K))[::-1], np.arange(K + 2), [0], [0, 0], ["a", "b"], [0, "a"], "up",
            {0, 1}, True, [[0, 1]], [[0], [0, 1]], [np.nan, 0], [], 1, object(), np.arange(3.0), [None, 0],
        ],
        "thresholds": [
            "f1", 0.5, 0.2, [0.5] * K, np.full(K, 0.3), [0.5] * (K + 1), [[0.5]], [], 0.0, 1.0, 1, [0.0] * K, [1.0] * K,
            [np.nan] * K, ["a"] * K, "F1", {0: 0.5}, [None] * K, np.float32(0.4), [0.5, "f1"], 1e-300, [0.5 + 0j] * K,
        ],
        "candidates": [
            1, 2, 16, 17, 100, 10**6, 2**31 - 1, 2**40, None, "auto", np.int64(5), 0, -1, 16.0, 1.5, "16", [16], True,
        ],
        "callbacks": [[], (), [StopAfterThree()], StopAfterThree(), [StopAfterThree], [None], "x", {1}],
        "estimator": [
            DecisionTreeRegressor(), DecisionTreeClassifier, "tree", object(), 3, sb.MulticlassSVC(),
            DecisionTreeClassifier(max_depth=-1),
        ],
        "kernel": [
            "rbf", "poly", "precomputed", "sigmoid", lambda A, B: A @ B.T, lambda A, B: np.nan,
            lambda A, B: np.ones((1, 1)), lambda A, B: "x", lambda A, B: np.full((A.shape[0], B.shape[0]), np.inf),
        ],
        "gamma": ["scale", "auto", 1e-300, 1e300, 5e-324],
        "random_state": [
            np.random.RandomState(0), np.random.default_rng(0), 2**32, 2**32 - 1, -1, "x", 1.5, np.int64(3),
            np.random,
        ],
        "loss": list(LOSSES),
        "growth": ["best", "symmetric", "level", "auto"],
        "solver": ["auto", "dual", "sgd"],
        "decoding": ["logistic", "exponential", "hinge", "squared", "hamming", "votes", "euclidean"],
        "response": ["auto", "decision_function", "predict_proba", "predict"],
        "probability": ["auto", "softmax", "coupling"],
        "routing": ["exact", "sampled"],
        "calibration": [True, False, "auto", 0.5, 1e-300, 1e300, 1e39],
        "early_stopping": [True],
        "warm_start": [True],
    }  # fmt: skip
    values = table.get(name)
    return wrong_value(rng) if values is None or rng.random() < 0.25 else values[rng.integers(len(values))]


def spoil(rng: np.random.Generator, clf: Any, n: int, p: int, K: int) -> list[str]:
    """Set one or two parameters of a classifier, or of its parts, to odd values; returns what was set."""
    told = []
    for _ in range(1 if rng.random() < 0.7 else 2):
        names = [name for name in clf.get_params(deep=True) if name != "verbose"]
        if "thresholds" in names and rng.random() < 0.3:
            names = ["thresholds", "classes", "calibration"]
        name = names[rng.integers(len(names))]
        value = special_value(rng, name.rpartition("__")[2], n, p, K)
        value = with_limit(name.rpartition("__")[2], value)
        try:
            clf.set_params(**{name: value})
        except (ValueError, TypeError):  # the first one replaced the part whose parameter this is
            continue
        told.append(name)
        if name == "n_estimators" and "callbacks" in clf.get_params(deep=False):
            clf.set_params(callbacks=[StopAfterThree()])
    return told


def with_limit(name: str, value: Any) -> Any:
    """The value, or a smaller one where a fit with it would take for ever."""
    most = MOST.get(name)
    if most is None or isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer):
        return value
    return most if most < value < math.inf and not (name == "n_jobs" and value > 2**31 - 1) else value
