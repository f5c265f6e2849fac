"""Values in model files: labels, categories and parameters of every kind come back as they were."""

import datetime as dt
import enum
import json
import subprocess
import sys
import zoneinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import simplexboost as sb
from simplexboost.parts.losses import Logistic
from simplexboost.persist import values as pandas_values
from simplexboost.persist.saving import from_json, to_json
from simplexboost.persist.values import array_from_json, array_to_json, decode, encode

X, y = load_iris(return_X_y=True)
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
TWICE = dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1)  # the clock shows this twice
PLAIN = [
    None,
    True,
    "",
    "äpfel \x00 \ud800",
    0,
    -(2**53),
    2**53 + 1,
    -(10**40),
    0.1,
    -0.0,
    1e300,
    float("inf"),
    -float("inf"),
    b"",
    b"\xff\x00",
    Decimal("1.50"),
    Decimal("NaN"),
    dt.date(2024, 2, 29),
    dt.time(12, 30, 0, 1),
    dt.timedelta(days=-1, microseconds=1),
    dt.timedelta.max,
    dt.datetime(2024, 2, 29, 1, 2, 3, 4),
    dt.datetime(2024, 2, 29, tzinfo=dt.UTC),
    dt.datetime(2024, 2, 29, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
    TWICE,
]
NUMPY = [
    np.bool_(True),
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.int64(-(2**63)),
    np.float16(0.1),
    np.float32(0.1),
    np.float64("inf"),
    np.str_("text"),
    np.bytes_(b"\xff"),
    np.datetime64("2024-02-29"),
    np.datetime64("2024-02-29T01:02:03.123456789"),
    np.datetime64("NaT", "ns"),
    np.timedelta64(5, "h"),
]
PANDAS = [
    pd.Timestamp("2024-02-29 01:02:03.123456789"),
    pd.Timestamp("2024-02-29", tz="Europe/Berlin"),
    pd.Timestamp("2024-10-27 02:30", tz="UTC").tz_convert("Europe/Berlin").as_unit("s"),
    pd.Timestamp("2024-02-29 01:02:03.5+05:45"),
    pd.Timestamp("2024-02-29").as_unit("ms"),
    pd.Timedelta("1 day 00:00:00.000000001"),
    pd.Timedelta(-7, unit="s").as_unit("s"),
    pd.Interval(0.5, 1.5, closed="left"),
    pd.Interval(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")),
    pd.Period("2024-02", freq="M"),
    pd.NaT,
    pd.NA,
]
HOLDERS = [
    [],
    [1, ["a", None]],
    (),
    (1, (2.0, "x")),
    {3, 1, 2},
    frozenset({"b", "a"}),
    {},
    {0: 1.0, "a": (1, 2), (1, 2): {"b"}},
    range(2, 9, 3),
    slice(None, 5),
    [{"x": np.int64(3)}],
]


def through_text(value):
    """A value as a file would keep it, in JSON that any reader can read."""
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


def describe(value):
    """A value and its type, such that NaN equals NaN, and −0 does not equal 0."""
    return type(value), sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)


VALUES = [*PLAIN, *NUMPY, *PANDAS, *HOLDERS]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))  # names that are the same in every process
def test_values_come_back(value):
    again = through_text(value)
    assert describe(again) == describe(value)
    assert getattr(again, "unit", None) == getattr(value, "unit", None)
    assert getattr(again, "dtype", None) == getattr(value, "dtype", None)


def test_of_two_equal_times_the_second_comes_back():
    assert through_text(TWICE).timestamp() == TWICE.timestamp()


def test_nan_comes_back():
    for value in (float("nan"), np.float32("nan")):
        again = through_text(value)
        assert type(again) is type(value) and np.isnan(again)


def test_numbers_are_exact_for_readers_that_know_only_doubles():
    numbers = [0.1, 2**53, 2**53 + 1, 2**60, 10**40]
    text = json.dumps([encode(n) for n in numbers] + [encode(np.array([2**63 - 1, 1]))])
    as_doubles = json.loads(text, parse_int=lambda digits: int(float(digits)))
    assert [decode(n) for n in as_doubles[:-1]] == numbers
    assert decode(as_doubles[-1]).tolist() == [2**63 - 1, 1]


def test_equal_sets_give_equal_files():
    """The order of text in a set differs from process to process."""
    code = "from simplexboost.persist.values import encode; print(encode({'a', 'b', 'c', 'd', 'e', 1, 2.5}))"
    texts = {
        subprocess.run([sys.executable, "-c", code], env=None, capture_output=True, check=True).stdout for _ in range(3)
    }
    assert len(texts) == 1


class Colour(enum.StrEnum):
    """Labels that are text, too."""

    RED = "red"


class Size(enum.IntEnum):
    """Labels that are numbers, too."""

    LARGE = 3


@pytest.mark.parametrize(("value", "plain"), [(Colour.RED, "red"), (Size.LARGE, 3)])
def test_of_subclasses_the_plain_value_comes_back(value, plain):
    again = through_text(value)
    assert again == value and type(again) is type(plain)


class Strange:
    """No file holds this."""


@pytest.mark.parametrize(
    "value", [Strange(), 1j, np.complex128(1j), np.longdouble(1), len, [Strange()], np.array([(1, 2.0)], dtype="i4,f8")]
)
def test_other_values_are_refused(value):
    with pytest.raises(TypeError, match="cannot be saved"):
        encode(value)
    with pytest.raises(TypeError, match="cannot be saved"):
        to_json(value, "loss")


# ---- arrays ---------------------------------------------------------------------------------------------------------

ARRAYS = [
    np.array([True, False]),
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.array([0, 2**64 - 1], dtype=np.uint64),
    np.array([-(2**63), 2**63 - 1]),
    np.array([0.1, np.nan, -np.inf], dtype=np.float32),
    np.empty((0, 3)),
    np.array(7.5),
    np.array(["a", "längst"]),
    np.array([b"a", b"\xff"]),
    np.array(["2024-02-29", "NaT"], dtype="M8[D]"),
    np.array(["2024-02-29T01:02:03.123456789"], dtype="M8[ns]"),
    np.array([1, 2], dtype="m8[25s]"),
    np.array([1, 2], dtype=">i4"),
    np.array([PLAIN[3], 1, 2.5, None, True], dtype=object),
    np.array([[1, "a"], [None, 2.0]], dtype=object),
    np.array([*PLAIN, *NUMPY, *PANDAS, None], dtype=object),
    pd.Series([(1, 2), (3, 4)]).to_numpy(),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back(array):
    again = array_from_json(json.loads(json.dumps(array_to_json(array), allow_nan=False)))
    assert again.dtype == array.dtype and again.shape == array.shape
    assert [describe(v) for v in again.ravel()] == [describe(v) for v in array.ravel()]


@pytest.mark.parametrize(
    "made",
    [
        lambda: pd.Series([0, 1, 2], index=["a", "b", "c"]),
        lambda: pd.Index(["x", "y"]),
        lambda: pd.DataFrame(np.eye(3)),
        lambda: pd.Series(["a", "b", None], dtype="string"),
        lambda: pd.Series([1, 2], dtype="Int64"),
        lambda: pd.Categorical(["b", "a"]),
        lambda: pd.interval_range(0, 3),
    ],
)
def test_columns_and_tables_come_back_as_arrays(made):
    again = through_text(made())
    assert type(again) is np.ndarray
    assert [describe(v) for v in again.ravel()] == [describe(v) for v in np.asarray(made()).ravel()]


def test_values_of_pandas_can_be_read_without_it(monkeypatch):
    texts = [json.dumps(encode(value)) for value in PANDAS]
    monkeypatch.setattr(pandas_values, "pandas", lambda: None)
    again = [decode(json.loads(text)) for text in texts]
    assert again[0] == dt.datetime(2024, 2, 29, 1, 2, 3, 123456) and again[5] == dt.timedelta(days=1)
    assert again[7] == (0.5, 1.5, "left") and again[-1] is None
    assert [json.dumps(encode(value)) for value in again[7:8]] == texts[7:8]


NONE = [{"nothing": 3}, {}, {"missing": "DataFrame"}, {"array": {"dtype": "V8", "values": []}}]


@pytest.mark.parametrize("value", NONE)
def test_unknown_values_are_refused(value):
    with pytest.raises(ValueError, match=r"cannot read|missing value|damaged"):
        from_json(value)


# ---- labels ---------------------------------------------------------------------------------------------------------

DAYS = pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"])
LABELS = [
    np.array(["äpfel", "birnen", "nüsse"]),
    np.array(["äpfel", "birnen", "nüsse"], dtype=object),
    np.array([-7, 0, 2**60]),
    np.array([0, 2**63, 2**64 - 1], dtype=np.uint64),
    np.array([-1, 0, 1], dtype=np.int8),
    np.array([0.0, 1.0, 2.0]),
    DAYS.to_numpy(),
    DAYS.to_numpy().astype("M8[D]"),
    (DAYS - DAYS[0]).to_numpy(),
]  # scikit-learn refuses arrays of objects that are not text


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype} {type(labels[0]).__name__}")
def test_labels_come_back(labels, tmp_path):
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, labels[y])
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert again.classes_.dtype == clf.classes_.dtype
    assert [describe(v) for v in again.classes_] == [describe(v) for v in clf.classes_]
    assert (again.predict(X) == clf.predict(X)).all()


# ---- categories -----------------------------------------------------------------------------------------------------

CATEGORIES = {
    "text": ["a", "b", "c"],
    "numbers": [10, 20, 30],
    "large numbers": [2**60, 2**60 + 1, 2**60 + 2],
    "floats": [0.5, 1.5, 2.5],
    "truth": [False, True],
    "bytes": [b"a", b"b"],
    "dates": [dt.date(2024, 1, d) for d in (1, 2, 3)],
    "moments": DAYS,
    "moments with a zone": DAYS.tz_localize("Europe/Berlin"),
    "durations": DAYS - DAYS[0],
    "intervals": pd.interval_range(0, 3),
    "periods": pd.period_range("2024-01", periods=3, freq="M"),
    "decimals": [Decimal("0.1"), Decimal("0.2")],
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_come_back(kind, tmp_path):
    values = pd.Categorical.from_codes(y % len(CATEGORIES[kind]), CATEGORIES[kind])
    frame = pd.DataFrame({"length": X[:, 0], "kind": values})
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(frame, y)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert again.categories_.mask.tolist() == [False, True]
    assert (again.predict_proba(frame) == clf.predict_proba(frame)).all()
    assert len(np.unique(clf.predict_proba(frame.assign(length=5.0)), axis=0)) == len(CATEGORIES[kind])


# ---- parameters -----------------------------------------------------------------------------------------------------

COSTS = np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]])
PARAMETERS = [
    {"loss": Logistic(cost_matrix=pd.DataFrame(COSTS, index=list("abc"), columns=list("abc")))},
    {"loss": Logistic(cost_matrix=COSTS.tolist())},
    {"classes": range(3)},
    {"classes": (0, 1, 2)},
    {"classes": pd.Series([0, 1, 2])},
    {"classes": pd.Index([0, 1, 2])},
    {"classes": np.arange(3, dtype=np.int8)},
    {"class_weight": {np.int64(0): 1.0, 1: np.float32(2), 2: 3}},
    {"categorical_features": pd.Index([0])},
    {"categorical_features": pd.Series([True, False, False, False])},
    {"categorical_features": range(1)},
    {"categorical_features": (0,)},
    {"learning_rate": np.float32(0.1), "n_estimators": np.int64(3)},
    {"random_state": np.random.RandomState(3)},
    {"random_state": np.random.RandomState(np.random.PCG64(3))},
    {"random_state": np.random},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=range(len(PARAMETERS)))
def test_parameters_come_back(parameters, tmp_path):
    table = np.column_stack([y, X[:, 1:]])
    clf = sb.SimplexBoostClassifier(**{"n_estimators": 3, "random_state": 0, **parameters}).fit(table, y)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert (again.predict_proba(table) == clf.predict_proba(table)).all()
    for name, value in parameters.items():
        if isinstance(value, Logistic):
            assert np.array_equal(again.loss.cost_matrix, value.cost_matrix)
        elif not hasattr(value, "__array__") and name != "random_state":
            assert describe(getattr(again, name)) == describe(value)
        elif name != "random_state":
            assert np.array_equal(getattr(again, name), value)
    if parameters.get("random_state") is not np.random:  # which goes on from fit to fit
        assert (again.fit(table, y).predict_proba(table) == clf.fit(table, y).predict_proba(table)).all()


def test_decimals_of_a_million_digits_are_refused():
    """To compare one with a whole number takes many seconds."""
    assert from_json({"decimal": "1e4300"}) == Decimal("1e4300")
    for text in ("1e4301", "1e999999", "-1e-999999"):
        with pytest.raises(ValueError, match="digits"):
            from_json({"decimal": text})
