"""Promises about bad input: a result that makes sense, or an error that names the culprit; never anything else."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

import simplexboost as sb

from .generated import labels, methods, tables
from .generated.cases import NOTHING, OF_LABELS, OF_TABLE, OF_WEIGHTS, Fit, any_table, random_fit
from .generated.judging import BrokenError, check_predictions, outcome
from .generated.parameters import CLASSIFIERS, classifier
from .generated.states import any_state, in_state
from .promise import promise

BATCH = 100  # inputs of one case


def try_batch(case: int, try_one: Callable[[int], None]) -> None:
    """Try the inputs of a case, and say the number of the one that breaks the promise."""
    for number in range(case * BATCH, (case + 1) * BATCH):
        try_one(number)


def blame(number: int, error: BrokenError, story: object) -> BrokenError:
    """The error with the number of the input and what it was."""
    return BrokenError(f"input {number}: {error}\n  {story}")


@promise(
    "A fit to any table, labels, weights and parameters gives finite predictions, or an error that names the culprit.",
    fast=3,
    soak=1000,
    each=BATCH,
)
def any_fit_has_a_sensible_outcome(case: int) -> None:
    """One case: 100 random fits of random classifiers."""
    try_batch(case, try_fit)


def try_fit(number: int) -> None:
    """Fit, predict the same rows, and predict others; save now and then."""
    rng = np.random.default_rng(number)
    case = random_fit(rng)
    before = dict(vars(case.clf))
    try:
        _, refusal = outcome(case, case.culprits)
        if refusal is None:
            outcome(lambda: check_predictions(case.clf, case.X, case.n), words_of_rows(case))
            try_other_rows(case, rng)
        elif vars(case.clf).keys() != before.keys():
            raise BrokenError(f"a refused fit leaves {sorted(vars(case.clf).keys() - before.keys())}")
    except BrokenError as error:
        raise blame(number, error, case) from error


def words_of_rows(case: Fit) -> str:
    """What may be said against the rows of the fit when they are predicted: nothing, where the booster looks at them.

    An output code hands rows that weigh something to estimators of other libraries; these see the others, which may
    hold what they do not take, in predictions only.
    """
    weight = case.more.get("sample_weight")
    unseen = isinstance(case.clf, sb.OutputCodeClassifier) and weight is not None and not np.all(weight)
    return "refuses X" if unseen else NOTHING


def try_other_rows(case: Fit, rng: np.random.Generator) -> None:
    """Predict any table; sometimes save, load and clone too."""
    other = any_table(rng)
    rows, _ = outcome(lambda: len(case.clf.predict(other)), OF_TABLE)
    if rows is not None:
        outcome(lambda: check_predictions(case.clf, other, rows), NOTHING)
    if rng.random() < 0.1:
        words = "saved|no model file|cannot be stored|code|estimator|learner"
        if case.clf.get_params().get("random_state") is np.random:  # scikit-learn allows it, but cannot clone it
            words += "|cannot pickle 'module'"
        outcome(lambda: try_copies(case), words)


def try_copies(case: Fit) -> None:
    """A copy by `clone`, and one by a file, which predicts the same."""
    clone(case.clf)
    check_file(case.clf, case.X)


def check_file(clf: Any, X: Any) -> None:
    """A classifier that is saved and loaded gives the same scores and labels."""
    file = io.BytesIO()
    clf.save(file)
    file.seek(0)
    loaded = sb.load(file)
    if not same_scores(loaded.class_scores(X), clf.class_scores(X)):
        raise BrokenError("the saved model predicts something else")
    if not np.array_equal(loaded.predict(X), clf.predict(X)):
        raise BrokenError("the saved model predicts other labels from the same scores")


def same_scores(U: Any, V: Any) -> bool:
    """Whether scores are the same: arrays, or those of several targets in lists."""
    if isinstance(U, list):
        return len(U) == len(V) and all(map(same_scores, U, V))
    return np.array_equal(U, V)


# ---- methods --------------------------------------------------------------------------------------------------------


@promise(
    "Any arguments of any method give a result, or an error that names the culprit, and change nothing.",
    fast=3,
    soak=200,
    each=BATCH,
)
def any_call_has_a_sensible_outcome(case: int) -> None:
    """One case: 100 random calls of methods of fitted classifiers."""
    try_batch(case, try_call)


def try_call(number: int) -> None:
    """Call a method of a fitted classifier; whatever comes of it, the classifier predicts as before.

    A method that changes the classifier is asked of a copy. That is as it was if it refuses; if not, it predicts, also
    from a file.
    """
    rng = np.random.default_rng(number)
    clf, X, y = in_state(any_state(rng))
    U = clf.class_scores(X)
    call = methods.random_call(rng, clf, X, y)
    before = dict(vars(call.subject))
    try:
        _, refusal = outcome(call, methods.WORDS)
        if not same_scores(clf.class_scores(X), U):
            raise BrokenError("the classifier predicts something else afterwards")
        if refusal is not None and not same_attributes(before, vars(call.subject)):
            raise BrokenError(f"{call.name} has changed the classifier, and refused: {refusal}")
        if refusal is None and call.subject is not clf:
            outcome(lambda: check_predictions(call.subject, X, len(X)), NOTHING)
            outcome(lambda: check_file(call.subject, X), NOTHING)
    except BrokenError as error:
        raise blame(number, error, call) from error


def same_attributes(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether an object has the very attributes that it had."""
    return before.keys() == after.keys() and all(before[name] is after[name] for name in before)


# ---- other arguments of fit, and fits that go on --------------------------------------------------------------------


@promise(
    "Any X_val, eval_metric, init_score and groups, and any second fit with warm_start, has a sensible outcome.",
    fast=2,
    soak=100,
    each=BATCH,
)
def any_further_argument_has_a_sensible_outcome(case: int) -> None:
    """One case: 100 fits with random further arguments, or that go on with another table."""
    try_batch(case, try_further)


def try_further(number: int) -> None:
    """Fit with one odd argument; or fit twice, the second time with something else."""
    rng = np.random.default_rng(number)
    kind = BOOSTERS[rng.integers(len(BOOSTERS))]
    n, p, K = 20, int(rng.integers(1, 4)), int(rng.integers(2, 4))
    case = Fit(classifier(rng, kind, plain=True), tables.plain(rng, n, p), labels.numbers(rng, n, K))
    try:
        if rng.random() < 0.6:
            case.more = further_arguments(rng, kind, case.X, case.y)
            case.words = [*(name.removesuffix("_val") for name in case.more), OF_TABLE, OF_LABELS, OF_WEIGHTS, "metric"]
            case.words.append("group")
        else:
            outcome(case, NOTHING)
            go_on(rng, case)
        _, refusal = outcome(case, case.culprits)
        if refusal is None:
            outcome(lambda: check_predictions(case.clf, case.X, case.n), NOTHING)
    except BrokenError as error:
        raise blame(number, error, case) from error


BOOSTERS = [name for name, kind in CLASSIFIERS.items() if "warm_start" in kind().get_params()]


def further_arguments(rng: np.random.Generator, kind: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """One argument of ``fit``, or those of evaluated rows, by name."""
    entry = (methods.some_rows(rng, X, y), methods.some_labels(rng, X, y[:4]), labels.odd_weights(rng, 4))[
        : rng.integers(2, 4)
    ]
    values: dict[str, list[Any]] = {
        "X_val": [
            entry, tuple((one,) for one in entry), ((X, entry[0]), (y, entry[1])), (X, y), (X, (y,)), ((X, X), (y,)),
            (X,), ((), ()), ("x", "y"), (X, y, None, None), ({}, y),
        ],
        "eval_metric": [
            "error", "log_loss", "nonsense", ["error", "auc_ovr"], lambda c, P: np.nan, lambda c, P: "x", {}, 3,
            ["top_9_accuracy"], [],
        ],
        "init_score": [
            methods.some_scores(rng, X, y), np.zeros((len(X), len(set(y.tolist())))), np.full((len(X), 2), 1e200),
        ],
        "sample_weight_val": [np.ones(4)],
    }  # fmt: skip
    if kind == "SimplexBoostClassifier":
        few, mixed = np.arange(len(X)) % 4, ["a", None] * (len(X) // 2)
        values["groups"] = [few, mixed, [1, 2], "x", y + 0.5, np.zeros(len(X)), np.full(len(X), np.nan)]
    name = list(values)[rng.integers(len(values))]
    value = methods.one_of(rng, values[name])
    if name == "X_val" and isinstance(value, tuple):
        return dict(zip(("X_val", "y_val", "sample_weight_val", "init_score_val"), value, strict=False))
    return {name: value}


def go_on(rng: np.random.Generator, case: Fit) -> None:
    """Ask for a second fit that goes on: with other rows, other labels or other parameters."""
    case.clf.set_params(warm_start=True, n_estimators=int(rng.integers(1, 8)))
    case.words = ["warm_start|n_estimators"]
    if rng.random() < 0.5:
        case.X = any_table(rng)
        case.words.append(OF_TABLE)
    if rng.random() < 0.5:
        case.y = methods.some_labels(rng, case.X, case.y)
        case.words.append(OF_LABELS)


# ---- divergence -----------------------------------------------------------------------------------------------------


@promise(
    "A fit that diverges says so and keeps the last good round: it predicts as a fit of that many rounds.",
    fast=30,
    soak=3000,
)
def a_fit_that_diverges_keeps_the_last_good_round(case: int) -> None:
    """One case: a booster with a very large learning rate."""
    rng = np.random.default_rng(case)
    kinds = [kind for kind in BOOSTERS if "learning_rate" in CLASSIFIERS[kind]().get_params()]
    kind, rate = kinds[rng.integers(len(kinds))], float(10 ** rng.uniform(0, 308))
    X, y = tables.plain(rng, 30, 3), labels.numbers(rng, 30, 3)
    clf = classifier(rng, kind, plain=True).set_params(learning_rate=rate, n_estimators=12, random_state=0)
    try:
        _, refusal = outcome(lambda: clf.fit(X, y), r"boosting diverges: round 1 .*learning_rate")
        if refusal is not None:
            return
        outcome(lambda: check_predictions(clf, X, 30), NOTHING)
        short = clone(clf).set_params(n_estimators=clf.n_iter_)
        outcome(lambda: short.fit(X, y), NOTHING)
        if clf.n_iter_ and not np.array_equal(short.class_scores(X), clf.class_scores(X)):
            raise BrokenError(f"the model is not that of {clf.n_iter_} rounds")
        if (clf.n_iter_ < 12) == (clf.stop_reason_ is None):
            raise BrokenError(f"{clf.n_iter_} rounds, stop_reason_={clf.stop_reason_!r}")
    except BrokenError as error:
        raise blame(case, error, f"{clf!r}") from error


# ---- extreme data that is legal -------------------------------------------------------------------------------------


def two_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n = 2, of two classes."""
    return rng.normal(size=(2, 3)), np.array([0, 1])


def one_column(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """p = 1."""
    return rng.normal(size=(200, 1)), np.arange(200) % 2


def missing_columns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns of which all values are missing, in some cases all columns."""
    X = rng.normal(size=(60, 4))
    X[:, : rng.integers(1, 5)] = np.nan
    return X, np.arange(60) % 2


def a_class_for_every_row(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """K = n."""
    return rng.normal(size=(40, 3)), rng.permutation(40)


def one_huge_class(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All rows but one are of the same class."""
    return rng.normal(size=(20_000, 3)), (np.arange(20_000) == 77).astype(int)


def many_columns(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """p = 50 000."""
    return rng.normal(size=(12, 50_000)), np.arange(12) % 2


def a_million_equal_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A million rows that are all the same."""
    return np.full((1_000_000, 2), 0.5), np.arange(1_000_000) % 2


EXTREMES = (
    two_rows, one_column, missing_columns, a_class_for_every_row, one_huge_class, many_columns, a_million_equal_rows,
)  # fmt: skip


@promise(
    "Extreme data that is legal works: n = 2, p = 1, K = n, p = 50 000, one huge class, a million equal rows, "
    "columns without values.",
    fast=2 * len(CLASSIFIERS),
    soak=len(CLASSIFIERS) * len(EXTREMES),
)
def extreme_data_works(case: int) -> None:
    """One case: one classifier and one kind of data, the small ones first."""
    rng, kind = np.random.default_rng(case), list(CLASSIFIERS)[case % len(CLASSIFIERS)]
    X, y = EXTREMES[case // len(CLASSIFIERS) % len(EXTREMES)](rng)
    clf = classifier(rng, kind, plain=True)
    refusal = NOTHING
    if kind == "MulticlassSVC":
        refusal = "NaN"
    elif kind == "OutputCodeClassifier":
        clf.set_params(estimator=sb.GDMCBoostClassifier(n_estimators=2))
    elif kind == "MartiBoostClassifier":
        refusal = "Only binary classification"
    try:
        _, refused = outcome(lambda: clf.fit(X, y), refusal)
        if refused is None:
            outcome(lambda: check_predictions(clf, X[:1000], len(X[:1000])), NOTHING)
    except BrokenError as error:
        raise blame(case, error, f"{clf!r}, X of shape {X.shape}") from error
