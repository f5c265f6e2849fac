"""Labels of any type against classes of any type: which are the same, and what is said where they are not."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import simplexboost as sb
from simplexboost import decide, evaluate, theory
from simplexboost.tables.labels import known_label_numbers, label_numbers, merge_labels

SIZES = (12, 15, 26, 100, 300)  # up to 14 classes NumPy compares labels one by one, beyond it sorts all of them as text
TYPES = {
    "integers": lambda K: np.arange(K),
    "negative integers": lambda K: np.arange(K) - K // 2,
    "whole floats": lambda K: np.arange(K, dtype=np.float64),
    "halves": lambda K: np.arange(K) + 0.5,
    "text": lambda K: np.sort(np.arange(K).astype(str)),
    "text of negative integers": lambda K: np.sort((np.arange(K) - K // 2).astype(str)),
    "objects of text": lambda K: np.sort(np.arange(K).astype(str)).astype(object),
    "objects of integers": lambda K: np.arange(K).astype(object),
    "flags": lambda K: np.array([False, True]),
    "days": lambda K: np.datetime64("2024-01-01") + np.arange(K),
    "nanoseconds": lambda K: (np.datetime64("2024-01-01") + np.arange(K)).astype("M8[ns]"),
    "objects of dates": lambda K: (np.datetime64("2024-01-01") + np.arange(K)).astype(object),
    "durations": lambda K: np.arange(K).astype("m8[s]"),
}
# Types whose values are partly or all the same; every other pair of types has no label in common.
SAME = (
    {"integers", "negative integers", "whole floats", "objects of integers", "flags"},
    {"text", "text of negative integers", "objects of text"},
    {"days", "nanoseconds", "objects of dates"},
    {"halves"},
    {"durations"},
)


def related(some, other):
    """Whether labels of these types can be the same."""
    return any({some, other} <= same for same in SAME)


def equal(label, one):
    """Whether two labels are the same; NumPy cannot compare dates of Python with nanoseconds."""
    return label == one if not isinstance(label, dt.date) else np.datetime64(label) == one


@pytest.mark.parametrize("K", SIZES)
@pytest.mark.parametrize("of_labels", TYPES)
def test_labels_are_the_classes_that_they_equal(of_labels, K):
    labels = np.random.default_rng(0).permutation(TYPES[of_labels](K))
    for of_classes in sorted(set(TYPES) - {"objects of dates"}):  # which no model has for classes
        classes = TYPES[of_classes](K)
        can_be = related(of_labels, of_classes)
        expected = [next((k for k, one in enumerate(classes) if can_be and equal(label, one)), -1) for label in labels]
        assert_array_equal(label_numbers(labels, classes), expected)
        assert_array_equal(
            label_numbers(labels, classes[::-1]), [-1 if k < 0 else len(classes) - 1 - k for k in expected]
        )
        if min(expected) < 0:
            with pytest.raises(ValueError, match=r"^what holds .*, (which|but the classes are) "):
                known_label_numbers(labels, classes, "what")
        else:
            assert_array_equal(known_label_numbers(labels, classes, "what"), expected)


def test_whole_numbers_beyond_the_digits_of_floats_stay_apart():
    classes = np.array([2**53, 2**53 + 1])
    assert label_numbers(np.array([2.0**53, 2.0**53 + 2]), classes).tolist() == [0, -1]
    assert label_numbers(np.array([2**63], dtype=np.uint64), np.array([-(2**63)])).tolist() == [-1]
    assert label_numbers(np.array([Decimal(2**53 + 1)], dtype=object), classes).tolist() == [1]


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        (["7"], np.arange(3), "y holds text, such as '7', but the classes are numbers: 0, 1, 2."),
        ([7], np.array(["a", "b"]), "y holds numbers, such as 7, but the classes are text: 'a', 'b'."),
        (
            [7, 0, 9],
            np.arange(6),
            "y holds 7, 9, which are none of the classes; these are 0, 1, 2, 3, 4, … (6 in all).",
        ),
        (["c"], np.array(["a", "b"]), "y holds 'c', which is none of the classes; these are 'a', 'b'."),
        ([np.nan, 1.0], np.arange(3), "y contains NaN: the label of row 0 is missing."),
        ([dt.date(2024, 1, 1)], np.arange(3), "y holds dates, such as .*, but the classes are numbers"),
        ([b"a"], np.array(["a"]), "y holds values of the type bytes, such as b'a', but the classes are text"),
    ],
)
def test_messages_say_what_came_and_what_the_classes_are(labels, classes, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        known_label_numbers(np.array(labels, dtype=object), classes, "y")


def test_values_that_cannot_be_labels():
    lists = np.empty(1, dtype=object)
    lists[0] = [1]
    with pytest.raises(TypeError, match="y holds values that are no labels"):
        known_label_numbers(lists, np.arange(3), "y")


def test_labels_of_several_parameters_are_of_one_kind():
    assert merge_labels({"H": np.array([[2, 1]]), "y": np.array([5.0])}).tolist() == [1, 2, 5]
    with pytest.raises(ValueError, match="H holds text, such as '1', y holds numbers, such as 1; labels of different"):
        merge_labels({"H": np.array([["1", "2"]]), "y": np.array([1, 2])})


# ---- wherever labels come -------------------------------------------------------------------------------------------


def rows(K):
    """Three rows of every class, which are told apart by two columns."""
    c = np.tile(np.arange(K), 3)
    return np.column_stack([c % 10, c // 10]).astype(float), c


@cache
def fitted(make, K):
    """A classifier of the integers 0 .. K−1."""
    X, c = rows(K)
    return make().fit(X, c)


def flagship():
    """Two rounds, for speed."""
    return sb.SimplexBoostClassifier(n_estimators=2, random_state=0)


CALLS = {
    "calibrate_sets": lambda X, y, clf, path: decide.calibrate_sets(clf, X, y),
    "margins": lambda X, y, clf, path: sb.evaluate.margins(clf, X, y),
    "report": lambda X, y, clf, path: sb.report(clf, X, y, path),
    "score": lambda X, y, clf, path: clf.score(X, y),
    "margins after rounds": lambda X, y, clf, path: evaluate.margins(clf, X, y, [1]),
    "fit with classes": lambda X, y, clf, path: flagship().set_params(classes=clf.classes_).fit(X, y),
    "fit with X_val": lambda X, y, clf, path: flagship().fit(X, clf.predict(X), X_val=X, y_val=y),
    "add_classes": lambda X, y, clf, path: sb.add_classes(clf, X, y),
    "codes with classes": lambda X, y, clf, path: sb.OutputCodeClassifier(classes=clf.classes_).fit(X, y),
    "games": lambda X, y, clf, path: theory.solve_condition(clf.predict(X)[:, None], y).holds,
    "confusion": lambda X, y, clf, path: evaluate.Confusion.from_predictions(y, clf.predict(X)),
}


@pytest.mark.parametrize("K", SIZES)
@pytest.mark.parametrize("what", CALLS)
def test_text_is_refused_where_classes_are_numbers(what, K, tmp_path):
    (X, c), clf = rows(K), fitted(flagship, K)
    with pytest.raises(
        ValueError, match=r"y(_true|_val)? (holds text|has labels such as|has no label)|Mix of label|text, such"
    ):
        CALLS[what](X, c.astype(str), clf, tmp_path / "page.html")


@pytest.mark.parametrize("K", SIZES)
@pytest.mark.parametrize("of_labels", sorted(set(TYPES) - {"integers", "whole floats", "objects of integers", "flags"}))
def test_labels_of_other_types_are_refused_where_classes_are_integers(of_labels, K):
    (X, c), clf, labels = rows(K), fitted(flagship, K), TYPES[of_labels](K)
    for call in (lambda X, y: sb.evaluate.margins(clf, X, y), partial(decide.calibrate_sets, clf)):
        with pytest.raises(
            ValueError, match=r"^y holds .* (but the classes are numbers: 0|of the classes; these are 0), 1, "
        ):
            call(X, labels[c])


@pytest.mark.parametrize(
    "make", [sb.GDMCBoostClassifier, sb.SAMMEClassifier, sb.MulticlassSVC, sb.OutputCodeClassifier]
)
def test_margins_of_every_classifier_refuse_text(make):
    X, c = rows(20)
    clf = make().fit(X, c)
    with pytest.raises(ValueError, match="y holds text, such as '0', but the classes are numbers: 0, 1"):
        sb.evaluate.margins(clf, X, c.astype(str))


@pytest.mark.parametrize("K", [20, 100])
def test_equal_labels_of_another_type_are_the_same_labels(K):
    (X, c), clf = rows(K), fitted(flagship, K)
    expected = sb.evaluate.margins(clf, X, c)
    for other in (c.astype(float), c.astype(object), c.astype(np.uint8 if K < 256 else np.uint16)):
        assert_array_equal(sb.evaluate.margins(clf, X, other), expected)
    fit = flagship().set_params(classes=np.arange(K)).fit
    assert_array_equal(fit(X, c.astype(float)).predict_proba(X), fit(X, c).predict_proba(X))


# ---- columns of pandas and polars ------------------------------------------------------------------------------------

IDS = np.array([2**60 + 1, 2**60 + 2, 2**62 - 1])  # the first two are one number in double precision
COLUMNS = {
    "Int64": lambda y: pd.Series(y, dtype="Int64"),
    "int64[pyarrow]": lambda y: pd.Series(y, dtype="int64[pyarrow]"),
    "UInt64": lambda y: pd.Series(y, dtype="UInt64"),
    "polars": lambda y: pl.Series(y),
    "arrow": lambda y: pa.chunked_array([y]),
}
FLAGS = {
    "boolean": lambda y: pd.Series(y, dtype="boolean"),
    "bool[pyarrow]": lambda y: pd.Series(y, dtype="bool[pyarrow]"),
    "polars": lambda y: pl.Series(y),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("make", [flagship, sb.SAMMEClassifier, sb.MulticlassSVC, sb.OutputCodeClassifier])
def test_whole_numbers_of_frames_stay_whole_numbers(make, column):
    X, c = rows(3)
    y = COLUMNS[column](IDS[c].tolist())
    clf = make().fit(X, y)
    assert clf.classes_.dtype.kind in "iu" and clf.classes_.tolist() == IDS.tolist()
    assert set(clf.predict(X).tolist()) <= set(IDS.tolist())
    assert clf.score(X, y) == np.mean(clf.predict(X) == IDS[c].astype(clf.classes_.dtype))
    assert_array_equal(sb.evaluate.margins(clf, X, y), sb.evaluate.margins(clf, X, IDS[c]))


@pytest.mark.parametrize("column", FLAGS)
def test_truth_values_of_frames_stay_truth_values(column):
    X, c = rows(2)
    assert flagship().fit(X, FLAGS[column]((c > 0).tolist())).classes_.tolist() == [False, True]
    assert flagship().fit(X, FLAGS[column]((c > 0).tolist())).classes_.dtype == bool


def test_columns_of_frames_with_several_targets_keep_their_types():
    X, c = rows(3)
    text = np.array(["u", "v"])[c % 2]
    clf = flagship().fit(X, pd.DataFrame({"id": pd.Series(IDS[c], dtype="Int64"), "word": text}))
    assert [labels.tolist() for labels in clf.classes_] == [IDS.tolist(), ["u", "v"]]
    clf = flagship().fit(X, pd.DataFrame({"id": pd.Series(IDS[c], dtype="Int64"), "flag": c > 0}))
    assert [labels.tolist() for labels in clf.classes_] == [IDS.tolist(), [0, 1]]
    indicator = pd.DataFrame({"a": pd.Series(c > 0, dtype="boolean"), "b": pd.Series(c % 2, dtype="Int64")})
    assert_array_equal(
        flagship().fit(X, indicator).predict_proba(X), flagship().fit(X, indicator.astype(int)).predict_proba(X)
    )


HOLES = {
    "Int64": lambda y: pd.Series([*y[:-1], None], dtype="Int64"),
    "boolean": lambda y: pd.Series([*(label > y[0] for label in y[:-1]), None], dtype="boolean"),
    "int64[pyarrow]": lambda y: pd.Series([*y[:-1], None], dtype="int64[pyarrow]"),
    "polars": lambda y: pl.Series([*y[:-1], None]),
    "polars flags": lambda y: pl.Series([*(label > y[0] for label in y[:-1]), None]),
}


@pytest.mark.parametrize("column", HOLES)
@pytest.mark.parametrize(
    "what", ["fit with classes", "fit with X_val", "margins", "calibrate_sets", "score", "add_classes", "confusion"]
)
def test_a_missing_label_is_named(what, column, tmp_path):
    X, c = rows(3)
    clf = fitted(flagship, 3)
    with pytest.raises(ValueError, match=r"y(_true|_val)? contains NaN: the label of row 8 is missing"):
        CALLS[what](X, HOLES[column](c.tolist()), clf, tmp_path / "page.html")


def test_null_characters_at_the_end_of_text_count(tmp_path):
    X, c = rows(3)
    y = [["a", "a\0", "b"][k] for k in c]
    clf = flagship().fit(X, y)
    assert clf.classes_.tolist() == ["a", "a\0", "b"]
    assert clf.score(X, y) == np.mean([a == b for a, b in zip(clf.predict(X), y, strict=True)])
    clf.save(tmp_path / "model.sb")
    assert sb.load(tmp_path / "model.sb").classes_.tolist() == ["a", "a\0", "b"]


# ---- what is said of labels that cannot be learned -------------------------------------------------------------------


def test_the_message_of_one_class_speaks_of_weights_only_where_rows_were_left_out():
    X, c = rows(3)
    with pytest.raises(ValueError, match=r"y has examples of one class only \(0\.0\); a classifier"):
        flagship().fit(X, np.zeros(9))
    with pytest.raises(
        ValueError, match=r"one class only \(1, after leaving out rows of zero sample_weight\); a class"
    ):
        flagship().fit(X, c, sample_weight=c == 1)
    with pytest.raises(ValueError, match=r"in every column \(3, 0, after leaving out rows of zero sample_weight\); at"):
        flagship().fit(X, np.column_stack([c + 2, c - 1]), sample_weight=c == 1)


def test_evaluated_rows_with_other_columns_is_named():
    X, c = rows(3)
    with pytest.raises(ValueError, match=r"^X_val: X has 1 features, but SimplexBoostClassifier is expecting 2"):
        flagship().fit(X, c, X_val=X[:, :1], y_val=c)


@pytest.mark.parametrize("make", [flagship, sb.GDMCBoostClassifier, sb.MulticlassSVC, sb.OutputCodeClassifier])
def test_quantities_are_answered_with_what_there_is_for_them(make):
    X, c = rows(30)
    with pytest.raises(ValueError, match=r"^Unknown label type: continuous.*classifies only and has no regressor"):
        make().fit(X, np.linspace(0, 1, 90))
    with pytest.warns(UserWarning, match="y has 30 different numbers in 60 rows, which is rather a quantity") as found:
        make().fit(X[:60], c[:60] + 0.0)
    assert found[0].filename == __file__


def test_whole_numbers_that_may_well_be_classes_are_not_told_of():
    X, c = rows(30)
    flagship().fit(X, c + 0.0)  # three rows of each
    flagship().fit(X[:60], c[:60])  # integers
    flagship().set_params(classes=np.arange(30.0)).fit(X[:60], c[:60] + 0.0)  # declared


@pytest.mark.parametrize("kind", [int, float, bool, str, lambda k: 2**60 + k])
@pytest.mark.parametrize("container", [lambda y: y, pd.Series])
def test_score_takes_objects_as_fit_does(kind, container):
    y = container(np.array([kind(k) for k in np.arange(40) % 2], dtype=object))
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(np.arange(40)[:, None] % 2, y)
    assert clf.score(np.arange(40)[:, None] % 2, y) == 1.0
    with pytest.raises(ValueError, match="y contains NaN: the label of row 3 is missing"):
        clf.score(np.arange(40)[:, None] % 2, container(np.array([*y[:3], None, *y[4:]], dtype=object)))
