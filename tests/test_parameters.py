"""Wrong values for every parameter of every public class: the fit succeeds, or the error names parameter and value.

Nothing else may come through: no signature of a compiled function, no message of NumPy or scikit-learn that does not
say which parameter was meant, no crash.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from cases import CLASSIFIERS, CODEWORDS, LEARNERS, LOSSES, OPTIMIZERS, STEPS, blobs
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost.boosting import Checkpoint, EarlyStopping

X, Y = blobs(n=40, p=3)
WRONG: dict[str, Any] = {
    "text": "nonsense",
    "None": None,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "minus one": -1,
    "zero": 0,
    "a fraction": 1.5,
    "a huge integer": 10**400,
    "a huge number": 1e300,
    "a bool": True,
    "a complex number": 1j,
    "bytes": b"x",
    "an empty list": [],
    "a list": [1.5],
    "a set": {1, "a"},
    "a dict": {"a": 1},
    "an object": object(),
    "a class": int,
    "an array": np.ones((2, 2)),
    "an array of text": np.array(["a", "b"]),
    "a NumPy integer": np.int64(3),
    "a narrow NumPy integer": np.uint8(3),
    "a number of single precision": np.float32(0.25),
}
SMALL = {"n_estimators": 3, "n_layers": 2, "estimator": DecisionTreeClassifier(max_depth=2)}
SLOW = {("n_jobs", "minus one")}


def check_message(error: Exception, name: str, value: Any) -> None:
    """The message names the parameter, and the value unless it is an array; a fit may also diverge by a huge number."""
    message = str(error)
    if isinstance(value, float) and value == 1e300 and "diverges" in message:
        return
    assert re.search(rf"\b{name}\b", message), message
    shown = repr(value)[:60] in message or (isinstance(value, type) and value.__name__ in message)
    assert shown or isinstance(value, list | np.ndarray), message
    assert "incompatible function arguments" not in message


def check_every_value(make: Any, name: str, X: np.ndarray, y: np.ndarray) -> None:
    for what, value in WRONG.items():
        if (name, what) in SLOW:
            continue
        try:
            clf = make(**{name: value}).fit(X, y)
        except (ValueError, TypeError) as error:
            check_message(error, name, value)
        except MemoryError as error:
            assert what == "a huge integer" and name in str(error), error
        else:
            sums = clf.predict_proba(X).sum(axis=1) if hasattr(clf, "predict_proba") else np.ones(1)
            np.testing.assert_allclose(sums, 1.0, rtol=1e-6, err_msg=f"{name}={value!r:.60}")


def small(kind: type, **options: Any) -> Any:
    """An estimator that is fitted at once."""
    return kind(**{name: value for name, value in SMALL.items() if name in kind().get_params(deep=False)} | options)


OF_CLASSIFIERS = [
    pytest.param(kind, name, id=f"{kind.__name__}-{name}")
    for kind in CLASSIFIERS.values()
    for name in kind().get_params(deep=False)
]


@pytest.mark.filterwarnings("ignore")  # of divergence, of conditions that are not met, of solvers that do not converge
@pytest.mark.parametrize(("kind", "name"), OF_CLASSIFIERS)
def test_parameters_of_classifiers(kind, name, capsys):
    keep = Y < (2 if kind is sb.MartiBoostClassifier else 3)
    check_every_value(lambda **wrong: small(kind, **wrong), name, X[keep], Y[keep])


# ---- parts ----------------------------------------------------------------------------------------------------------

PARTS = {
    **{f"learner {name}": ("learner", part) for name, part in LEARNERS.items()},
    **{f"loss {name}": ("loss", part) for name, part in LOSSES.items()},
    **{f"codewords {name}": ("codewords", part) for name, part in CODEWORDS.items()},
    **{f"optimizer {name}": ("optimizer", part) for name, part in OPTIMIZERS.items()},
    **{f"step {name}": ("step", part) for name, part in STEPS.items()},
}
SUITED: dict[str, dict[str, Any]] = {  # what a part must be combined with
    "step closed-form": {"loss": "exponential", "learner": "class-tree"},
    "step closed-form edge": {"loss": "exponential", "learner": "class-tree"},
    "step error": {"loss": "own-score", "codewords": "samme", "learner": "class-tree"},
}
OF_PARTS = [
    pytest.param(which, part, name, SUITED.get(label, {}), id=f"{label}-{name}")
    for label, (which, part) in PARTS.items()
    for name in part.get_params(deep=False)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("which", "part", "name", "others"), OF_PARTS)
def test_parameters_of_parts(which, part, name, others):
    def make(**wrong: Any) -> Any:
        return sb.BoostingClassifier(**others, **{which: clone(part, safe=False).set_params(**wrong)}, n_estimators=2)

    check_every_value(make, name, X, Y)


@pytest.mark.parametrize(
    "every", [value for name, value in WRONG.items() if "NumPy integer" not in name and name != "a huge integer"]
)
def test_parameters_of_checkpoints(tmp_path, every):
    with pytest.raises((ValueError, TypeError)) as caught:
        sb.GDMCBoostClassifier(n_estimators=2, callbacks=[Checkpoint(tmp_path / "model", every=every)]).fit(X, Y)
    check_message(caught.value, "every", every)


# ---- what people write ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"early_stopping": "no"}, "early_stopping='no' must be True, False, a number of rounds or an EarlyStopping"),
        (
            {"early_stopping": "auto"},
            "early_stopping='auto' must be True, False, a number of rounds or an EarlyStopping",
        ),
        ({"early_stopping": 0}, "early_stopping=0 is out of range; it must be an integer in [1, inf)"),
        ({"warm_start": "yes"}, "warm_start='yes' must be True or False"),
        ({"verbose": "a"}, "verbose='a' must be an integer in [0, inf)"),
        ({"verbose": -1}, "verbose=-1 is out of range"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 must be a positive number of threads"),
        ({"random_state": "x"}, "random_state='x' must be an integer in [0, 4294967295]"),
        ({"callbacks": Checkpoint("model.sb")}, "must be a list of Callbacks; pass [Checkpoint(path='model.sb'"),
        ({"callbacks": {1}}, "callbacks={1} must be a list of Callbacks or None"),
        ({"class_weight": {"0": 1.0}}, "class_weight={'0': 1.0} has labels that y does not have, ['0']"),
        ({"class_weight": {0: 1.0, 1: "much"}}, "weight='much' must be a number"),
        ({"max_leaf_nodes": 10**400}, "is out of range; it must be an integer in [2, 2147483647]"),
        ({"learning_rate": 10**400}, "is out of range; it must be a number in (0.0, inf)"),
    ],
)
def test_what_people_write(options, words):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        sb.SimplexBoostClassifier(**{"n_estimators": 3, **options}).fit(X, Y)


def test_values_that_are_fine():
    options = {
        "verbose": False,
        "warm_start": np.bool_(False),
        "n_estimators": np.int64(2),
    }
    sb.SimplexBoostClassifier(**options, class_weight={0: 1, 1: 2, 2: 3, 7: 9}, random_state=np.int64(3)).fit(X, Y)


@pytest.mark.parametrize("name", ["max_depth", "max_leaf_nodes", "max_bins", "min_samples_leaf"])
@pytest.mark.parametrize("growth", ["best", "symmetric"])
def test_narrow_integers_are_the_same_numbers(name, growth):
    """Products of NumPy's narrow integers would overflow, with a warning, which is an error here."""
    rng = np.random.default_rng(0)
    table, c = rng.normal(size=(300, 3)), np.arange(300) % 3
    wide, narrow = (
        sb.SimplexBoostClassifier(n_estimators=3, growth=growth, random_state=0, **{name: kind(2)}).fit(table, c)
        for kind in (int, np.uint8)
    )
    np.testing.assert_array_equal(wide.class_scores(table), narrow.class_scores(table))


def test_fractions_of_any_precision_hold_rows_out():
    part = sb.SimplexBoostClassifier(n_estimators=3, early_stopping=EarlyStopping(3, np.float32(0.25)))
    assert part.fit(X, Y).n_iter_ > 0
