"""What tables may hold, and what is said of those that hold something else: columns, rows and values by name."""

import datetime as dt
import decimal
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

import simplexboost as sb
from simplexboost.export import standalone
from simplexboost.tables.columns import Column, days
from simplexboost.tables.features import Features
from simplexboost.tables.frames import read_table

N = 60
RNG = np.random.default_rng(0)
NUMBER = RNG.normal(size=N)
Y = (NUMBER > 0).astype(int)
CITY = np.array(["Bonn", "Cork", "Dover"])[np.arange(N) % 3]
FRAME = pd.DataFrame({"city": CITY, "number": NUMBER})
CONTAINERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
each_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)


def fit(X, **options):
    return sb.SimplexBoostClassifier(n_estimators=3, random_state=0, **options).fit(X, Y)


def refused(X, message, error=ValueError, **options):
    with pytest.raises(error, match=message):
        fit(X, **options)


def numbers(values):
    """The column as numbers."""
    table = read_table(pd.DataFrame({"a": values}))
    return Features([table.columns[0].kind]).numbers(table)[:, 0].tolist()


# ---- names ----------------------------------------------------------------------------------------------------------


@each_container
def test_other_names_are_listed(container):
    clf = fit(container({"a": NUMBER, "b": NUMBER, "Length": NUMBER}))
    way_out = (
        r"X\[clf.feature_names_in_\]" if container is pd.DataFrame else r"X.select\(list\(clf.feature_names_in_\)\)"
    )
    for names, message in (
        ("a b Length", None),
        ("b a Length", f"should match.*\n.*must be in the same order.*\n.*{way_out}"),
        ("a b Length z", f"unseen at fit time:\n- z\n.*{way_out}"),
        ("a length b", "unseen at fit time:\n- length\n.*now missing:\n- Length\nPerhaps 'length' was 'Length' in fit"),
        ("a", "now missing:\n- Length\n- b\n"),
    ):
        X = container({name: NUMBER for name in names.split()})
        if message is None:
            clf.predict(X)
            continue
        with pytest.raises(ValueError, match=message):
            clf.predict(X)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_way_out_works(container):
    clf = fit(container({"a": NUMBER, "b": -NUMBER}))
    X = container({"z": NUMBER, "b": -NUMBER, "a": NUMBER})
    with pytest.raises(ValueError) as caught:
        clf.predict(X)
    expression = str(caught.value).rpartition(": ")[2]
    assert (clf.predict(eval(expression)) == Y).all()


def test_duplicate_names_are_listed():
    frame = pd.DataFrame(np.zeros((N, 4)), columns=["a", "b", "a", "b"])
    refused(frame, r"same name: 'a' \(2 times\), 'b' \(2 times\)")
    refused(pa.table([pa.array(NUMBER)] * 3, names=["x", "y", "x"]), r"same name: 'x' \(2 times\)")


def test_names_that_are_not_text():
    frame = pd.DataFrame(np.column_stack([NUMBER, NUMBER]))
    assert not hasattr(fit(frame), "feature_names_in_")
    refused(frame.rename(columns={0: "a"}), r"\['int', 'str'\]", TypeError)


# ---- kinds ----------------------------------------------------------------------------------------------------------

DAY = [dt.date(1970, 1, 2), None, dt.date(2024, 2, 29)]
DAYS = [1.0, None, 19782.0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.to_datetime(DAY), DAYS),
        (pd.Series(pd.to_datetime(DAY)).dt.tz_localize("Asia/Tokyo"), [0.625, None, 19781.625]),  # nine hours
        (DAY, DAYS),
        (np.array(DAY, dtype="datetime64[D]"), DAYS),
        (pd.Series(pd.PeriodIndex(["1970-01-02", "NaT", "2024-02-29"], freq="D")), DAYS),
        (pd.Series(DAY, dtype="date32[pyarrow]"), DAYS),
        (pd.to_timedelta(["1 day", None, "-36 hours"]), [1.0, None, -1.5]),
        ([dt.timedelta(hours=6), None, dt.timedelta(days=2)], [0.25, None, 2.0]),
        ([dt.time(6), None, dt.time(18, 0, 0, 864)], [0.25, None, 0.75000001]),
        (pd.Series([dt.time(6), None, dt.time(12)], dtype="time64[us][pyarrow]"), [0.25, None, 0.5]),
        ([True, None, False], [1.0, None, 0.0]),
        (pd.Series([True, None, False], dtype="boolean"), [1.0, None, 0.0]),
        (pd.Series([True, None, False], dtype="bool[pyarrow]"), [1.0, None, 0.0]),
        ([decimal.Decimal("0.1"), decimal.Decimal("NaN"), decimal.Decimal(3)], [0.1, None, 3.0]),
        (
            pd.Series([decimal.Decimal("0.1"), None, decimal.Decimal(3)], dtype=pd.ArrowDtype(pa.decimal128(5, 1))),
            [0.1, None, 3],
        ),
        (pd.array([1, None, 3], dtype="Int8"), [1.0, None, 3.0]),
        (pd.arrays.SparseArray([0.0, np.nan, 2.0]), [0.0, None, 2.0]),
        (pd.Series([1, pd.NA, 2.5], dtype=object), [1.0, None, 2.5]),
        (pd.Series([None, pd.NaT, np.nan], dtype=object), [None, None, None]),
    ],
    ids=repr,
)
def test_numbers_of_columns(values, expected):
    assert [None if np.isnan(v) else v for v in numbers(values)] == expected


def test_dates_are_learned_from():
    start = pd.Timestamp("2020-01-01")
    frame = pd.DataFrame({"when": start + pd.to_timedelta(np.arange(N), unit="D")})
    y = (frame["when"] >= "2020-01-15").to_numpy().astype(int)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(frame, y)
    assert clf.score(frame, y) == 1.0 and clf.feature_kinds_ == ["date"]
    array = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(frame.to_numpy(), y)  # datetime64
    assert (array.predict_proba(frame.to_numpy()) == clf.predict_proba(frame)).all()


@each_container
@pytest.mark.parametrize("Estimator", [sb.SimplexBoostClassifier, sb.GDMCBoostClassifier, sb.MulticlassSVC])
def test_a_column_of_another_kind_is_named(Estimator, container):
    when = (np.datetime64("2020-01-01", "us") + np.arange(N).astype("timedelta64[D]")).tolist()
    columns = {"number": NUMBER, "when": when}
    clf = Estimator(**({} if Estimator is sb.MulticlassSVC else {"n_estimators": 3})).fit(container(columns), Y)
    for change, message in (
        ({"when": NUMBER}, "column 'when' held dates in fit; now it holds numbers"),
        ({"number": when}, "column 'number' held numbers in fit; now it holds dates"),
        ({"number": CITY.tolist()}, "column 'number' holds text: 'Bonn' in row 0"),
        ({"when": CITY.tolist()}, "column 'when' held dates in fit; now it holds text"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.predict(container(columns | change))


@each_container
def test_categories_of_another_form_are_named(container):
    clf = fit(container({"city": CITY.tolist(), "number": NUMBER}))
    for wrong in (NUMBER, np.arange(N)):
        with pytest.raises(ValueError, match="column 'city' held categories that are text in fit, such as 'Bonn'"):
            clf.predict(container({"city": wrong, "number": NUMBER}))
    missing = clf.predict_proba(container({"city": [None] * N, "number": NUMBER}))
    nan = clf.predict_proba(pd.DataFrame({"city": np.nan, "number": NUMBER}))
    with pytest.warns(UserWarning, match="column 'city' has no value that is known from fit"):
        strange = clf.predict_proba(container({"city": ["Atlantis"] * N, "number": NUMBER}))
    assert (missing == nan).all() and (missing == strange).all()


def test_a_column_that_was_missing_may_hold_anything():
    clf = fit(pd.DataFrame({"number": NUMBER, "empty": [None] * N}))
    assert clf.feature_kinds_ == ["number", "missing"]
    P = clf.predict_proba(pd.DataFrame({"number": NUMBER, "empty": [None] * N}))
    assert (clf.predict_proba(pd.DataFrame({"number": NUMBER, "empty": CITY})) == P).all()


def test_a_column_that_is_missing_may_be_of_any_kind():
    """A column without values is read as text, as numbers or as nothing, whatever it would hold."""
    when = pd.date_range("2024-01-01", periods=N)
    frame = pd.DataFrame({"number": NUMBER, "when": when, "city": CITY})
    clf = sb.SimplexBoostClassifier(n_estimators=3, warm_start=True, random_state=0).fit(frame, Y)
    for name in frame:
        expected = clf.predict_proba(frame.assign(**{name: frame[name].where(np.zeros(N, dtype=bool))}))
        for empty in (
            [None] * N,
            np.full(N, np.nan),
            pd.Series([None] * N, dtype="str"),
            pd.array([None] * N, "Int64"),
        ):
            table = frame.assign(**{name: empty})
            assert (clf.predict_proba(table) == expected).all()
            clf.set_params(n_estimators=clf.n_iter_ + 1).fit(table, Y)  # goes on
            expected = clf.predict_proba(frame.assign(**{name: frame[name].where(np.zeros(N, dtype=bool))}))
    assert clf.categories_.columns[2].tolist() == ["Bonn", "Cork", "Dover"]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["Bonn"]), pl.String])
def test_categories_of_polars_may_all_be_missing(dtype):
    table = read_table(pl.DataFrame({"city": pl.Series([None] * 3, dtype=dtype)}))
    assert table.columns[0].kind == "missing" and table.columns[0].distinct.codes.tolist() == [-1] * 3


def test_a_column_that_was_missing_may_be_learned_later():
    empty, full = pd.DataFrame({"a": [None] * N}), pd.DataFrame({"a": NUMBER})
    clf = sb.SimplexBoostClassifier(n_estimators=2, warm_start=True, random_state=0).fit(empty, Y)
    clf.set_params(n_estimators=20).fit(full, Y)
    assert clf.feature_kinds_ == ["number"] and clf.score(full, Y) == 1.0


def test_kinds_are_saved(tmp_path):
    for clf in (sb.SimplexBoostClassifier(n_estimators=2), sb.MartiBoostClassifier(n_layers=2)):
        clf.fit(FRAME, Y).save(tmp_path / "m.sb")
        again = sb.load(tmp_path / "m.sb")
        assert again.feature_kinds_ == ["category", "number"]
        assert (again.predict_proba(FRAME) == clf.predict_proba(FRAME)).all()


# ---- what columns may be categorical --------------------------------------------------------------------------------

CUT = pd.cut(NUMBER, [-9, -1, 0, 1, 9])
CATEGORIES = {
    "text": pd.Categorical(CITY),
    "whole numbers": pd.Categorical(np.arange(N) % 4),
    "numbers": pd.Categorical(np.arange(N) % 4 / 8),
    "truth values": pd.Categorical(NUMBER > 0.3),
    "intervals": CUT,
    "interval type": pd.Series(CUT.astype("interval[float64, right]")),
    "dates": pd.Categorical(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[us]")[np.arange(N) % 2]),
    "Python's dates": pd.Categorical(np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)])[np.arange(N) % 2]),
    "durations": pd.Categorical(pd.to_timedelta(np.arange(N) % 3, unit="h")),
    "arrow dictionary": pd.Series(
        pa.array(CITY).dictionary_encode(), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "numeric text that is declared": pd.Categorical((np.arange(N) % 4).astype(str)),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_every_kind_are_learned_and_saved(name, tmp_path):
    frame = pd.DataFrame({"a": CATEGORIES[name]})
    frame.loc[::11, "a"] = None
    values = [str(value) for value in frame["a"].tolist()]
    y = np.unique(values, return_inverse=True)[1] % 2
    clf = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).fit(frame, y)
    assert clf.feature_kinds_ == ["category"] and clf.score(frame, y) == 1.0
    assert clf.categories_.columns[0].dtype in (np.float64, object)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert (again.predict_proba(frame) == clf.predict_proba(frame)).all()
    assert again.categories_.columns[0].tolist() == clf.categories_.columns[0].tolist()


def test_arrow_dictionaries_of_numbers_and_dates():
    day = (np.datetime64("2020-01-01") + np.arange(N) % 3).astype("datetime64[D]").tolist()
    table = pa.table({"n": pa.array(np.arange(N) % 4).dictionary_encode(), "d": pa.array(day).dictionary_encode()})
    clf = fit(table)
    assert clf.categories_.columns[0].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert clf.categories_.columns[1].tolist() == [f"2020-01-0{i}T00:00:00" for i in (1, 2, 3)]
    frame = pd.DataFrame({"n": pd.Categorical(np.arange(N) % 4), "d": pd.Categorical(pd.to_datetime(day))})
    assert (clf.predict_proba(frame) == clf.predict_proba(table)).all()


@pytest.mark.parametrize(
    "wanted",
    [
        ["city", "code"],
        ("code", "city"),
        {"city", "code"},
        np.array(["city", "code"]),
        pd.Index(["city", "code"]),
        pd.Series(["city", "code"]),
        pl.Series(["city", "code"]),
        [0, 2],
        (2, 0),
        {0, 2},
        range(0, 3, 2),
        np.array([0, 2]),
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([True, False, True]),
    ],
    ids=lambda wanted: type(wanted).__name__,  # the repr of a set differs between processes
)
def test_ways_to_declare_categories(wanted):
    frame = FRAME.assign(code=np.arange(N) % 5)
    clf = fit(frame, categorical_features=wanted)
    assert clf.categories_.mask.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["City", "nmber"], r"no columns 'City', 'nmber'; did you mean 'city', 'number'\?"),
        (["size"], "no column 'size'; its columns are 'city', 'number'"),
        ([0, 7, -1], "X has 2 columns, with positions 0 to 1; there is no position -1, 7"),
        ("city", r"categorical_features='city' is unknown \(pass \['city'\]\)"),
        ([True], "a mask of 2 booleans"),
        ([0, "city"], "a mask of 2 booleans, positions below 2, names of columns"),
        (3, "a mask of 2 booleans"),
    ],
)
def test_categories_that_do_not_exist(wanted, message):
    refused(FRAME, message, categorical_features=wanted)


def test_an_array_has_no_names():
    refused(NUMBER[:, None], "no column 'city'; it has no names, so pass positions", categorical_features=["city"])


# ---- numeric text ---------------------------------------------------------------------------------------------------


@each_container
def test_numeric_text_is_an_error_unless_it_is_declared(container):
    text = [f"{value:.3f}" for value in NUMBER]
    some = [*text[:-2], "unknown", None]
    table = container({"x": text, "n": NUMBER, "z": some, "city": CITY.tolist()})
    refused(
        table, r"numbers as text in columns 'x', 'z' \(but not all values are: 'unknown' in column 'z'\).*to_numeric"
    )
    few = container({"code": [str(i % 4) for i in range(N)]})
    refused(few, r"numbers as text in column 'code'\. .*categorical_features=\[name, …\]")
    assert fit(few, categorical_features=["code"]).categories_.columns[0].tolist() == ["0", "1", "2", "3"]
    mostly = container({"code": ["1" if i % 5 else "none" for i in range(N)]})  # four fifths are numbers
    assert fit(mostly).categories_.columns[0].tolist() == ["1", "none"]


@each_container
def test_text_where_no_categories_are_wanted(container):
    table = container({"number": NUMBER, "city": [None, *CITY[1:].tolist()]})
    refused(table, "column 'city' holds text: 'Cork' in row 1; numbers are expected.*categorical_features=",
            categorical_features=None)  # fmt: skip
    refused(table, "column 'city' holds text", categorical_features=["number"])


def test_categories_of_numbers_are_numbers_where_no_categories_are_wanted():
    code = np.arange(N) % 4
    clf = fit(pd.DataFrame({"a": pd.Categorical(code)}), categorical_features=None)
    assert clf.categories_ is None and clf.feature_kinds_ == ["number"]
    plain = fit(pd.DataFrame({"a": code}), categorical_features=None)
    X = pd.DataFrame({"a": code})
    assert (clf.predict_proba(X) == plain.predict_proba(X)).all()


# ---- what a column cannot hold --------------------------------------------------------------------------------------


def test_mixed_types_are_named():
    mixed = pd.Series(["a", "b", 1.5] * 20, dtype=object)
    message = r"column 'a' mixes values of different types: str \(row 0: 'a'\), float \(row 2: 1.5\)"
    refused(pd.DataFrame({"a": mixed}), message)
    refused(pd.DataFrame({"a": mixed}), message, categorical_features=["a"])
    late = pd.Series([*["a"] * (N - 1), 3], dtype=object)  # past the first rows, too
    refused(pd.DataFrame({"a": late}), r"column 'a' mixes .*int \(row 59: 3\)")
    refused(pd.DataFrame({"a": [dt.date(2020, 1, 1), "today"] * 30}), "column 'a' mixes .*date .*str")


@pytest.mark.parametrize("X", [np.full((N, 2), 1.0), np.full((N, 2), 1.0, np.float32)])
def test_infinity_has_a_place(X):
    X[7, 1], X[9, 0] = -np.inf, np.inf
    message = "X contains infinity: -inf in column {}, row 7"
    refused(X, message.format(1))
    refused(X.tolist(), message.format(1)) if X.dtype == np.float64 else None
    for container in (lambda d: pd.DataFrame(d), pl.DataFrame, pa.table):
        refused(container({"a": X[:, 0].copy(), "b": X[:, 1].copy()}), message.format("'b'"))
    clf = fit(np.zeros((N, 2)))
    with pytest.raises(ValueError, match=message.format(1)):
        clf.predict(X)


@pytest.mark.parametrize("kind", [object, str])
def test_text_in_an_array_has_a_place(kind):
    X = np.full((N, 3), 1.0).astype(kind)
    if kind is object:
        X[4, 2] = "unknown"
        refused(X, r"column 2 mixes .*str \(row 4: 'unknown'\)")
    X[:, 2], X[:, :2] = CITY, 1
    refused(X[:, 2:], r"column 0 holds text: 'Bonn' in row 0.*categorical_features=\[0\]; or pass a data frame")
    refused(X[:, 2:].tolist(), "column 0 holds text: 'Bonn' in row 0")
    assert fit(X[:, 2:], categorical_features=[0]).categories_.columns[0].tolist() == ["Bonn", "Cork", "Dover"]


def test_numeric_text_in_an_array():
    X = NUMBER[:, None].astype(str)
    refused(X, f"column 0 holds text: {re.escape(repr(str(X[0, 0])))} in row 0; could not convert")


@pytest.mark.parametrize(
    ("values", "message", "error"),
    [
        ([[1, 2]] * N, "column 'a' holds a list in row 0", TypeError),
        ([{"b": 1}] * N, "column 'a' holds a dict in row 0", TypeError),
        ([b"bytes"] * N, r"column 'a' holds b'bytes' in row 0, a bytes", TypeError),
        ([1j] * N, r"Complex data not supported: column 'a'", ValueError),
        (
            pd.Series(pa.array([[1]] * N), dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
            r"column 'a' holds List\(",
            TypeError,
        ),
    ],
    ids=repr,
)
def test_columns_that_are_refused_by_name(values, message, error):
    refused(pd.DataFrame({"a": values}), message, error)


def test_nested_columns_of_arrow_and_polars():
    refused(pa.table({"a": [{"b": 1}] * N}), r"column 'a' holds Struct", TypeError)
    refused(pl.DataFrame({"a": [[1.0]] * N}), r"column 'a' holds List", TypeError)
    refused(pl.DataFrame({"a": [b"x"] * N}), r"column 'a' holds Binary", TypeError)


def test_tables_that_are_none():
    structured = np.zeros(N, dtype=[("a", float), ("b", int)])
    refused(structured, r"structured array with the fields \['a', 'b'\]")
    refused(pl.DataFrame({"a": NUMBER}).lazy(), "X is a lazy table .*collect", TypeError)
    refused(pd.Series(NUMBER), "2D|1D|dimension")
    refused(pl.Series(NUMBER), "2D|1D|dimension")
    refused(pa.chunked_array([NUMBER]), "2D|1D|dimension")
    refused(np.full((N, 2), 1j), "Complex data not supported")
    refused([[1.0], [2.0, 3.0]], "inhomogeneous|sequence")


def test_masked_values_are_missing():
    X = np.ma.array(np.column_stack([NUMBER, NUMBER]), mask=np.arange(2 * N).reshape(N, 2) % 7 == 0)
    filled = X.filled(np.nan)
    assert (fit(X).predict_proba(X) == fit(filled).predict_proba(filled)).all()


@each_container
def test_a_list_of_categories_that_leaves_out_text_is_told_what_is_left_out(container):
    table = container({"zip": ["06000", "75001"] * 20, "city": ["Nice", "Paris"] * 20, "plan": ["a", "b"] * 20})
    with pytest.raises(
        ValueError, match=r"columns 'city', 'plan' hold text\. Add them to the list, or make them numbers"
    ):
        sb.GDMCBoostClassifier(n_estimators=2, categorical_features=["zip"]).fit(table, [0, 1] * 20)
    with pytest.raises(ValueError, match=r"column 'plan' holds text\. Add it to the list, or make it numbers"):
        sb.GDMCBoostClassifier(n_estimators=2, categorical_features=["zip", "city"]).fit(table, [0, 1] * 20)
    sb.GDMCBoostClassifier(n_estimators=2, categorical_features=["zip", "city", "plan"]).fit(table, [0, 1] * 20)


# ---- many categories, and learners that take none -------------------------------------------------------------------


@each_container
def test_more_categories_than_can_be_told_apart_are_counted(container):
    name = [f"id {i:03d}" for i in range(255)] + ["id 000"]
    table, y = container({"id": name, "number": np.arange(256.0)}), np.arange(256) % 2
    with pytest.warns(UserWarning, match="column 'id' has 255 categories, and 254 can be told apart: the 253 most"):
        clf = sb.GDMCBoostClassifier(n_estimators=2).fit(table, y)
    assert len(clf.categories_.columns[0]) == 253
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sb.GDMCBoostClassifier(n_estimators=2).fit(container({"id": name[:254]}), y[:254])


@pytest.mark.parametrize(
    ("clf", "who"),
    [
        (sb.BoostingClassifier(learner="linear"), r"learner=LinearRegressor\(\) takes numbers only"),
        (sb.BoostingClassifier(learner=LogisticRegression()), r"learner=SklearnLearner\(.* takes numbers only"),
        (sb.MartiBoostClassifier(learner=LogisticRegression()), "takes numbers only"),
        (sb.MulticlassSVC(), "MulticlassSVC takes numbers only"),
    ],
    ids=repr,
)
@each_container
def test_classifiers_without_categories_say_so(clf, who, container):
    table = container({"number": NUMBER, "city": CITY.tolist()})
    with pytest.raises(ValueError, match=f"{who}, and X holds text or categories in column 'city'. Encode"):
        clf.fit(table, Y)


def test_evaluated_tables_go_the_same_way():
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0)
    table = pl.DataFrame({"city": CITY.tolist(), "number": NUMBER})
    clf.fit(FRAME, Y, X_val=(FRAME, table), y_val=(Y, Y))
    first, second = clf.evals_result_
    assert first["risk"].tolist() == second["risk"].tolist()
    with pytest.raises(ValueError, match="same order"):
        clf.fit(FRAME, Y, X_val=FRAME[["number", "city"]], y_val=Y)


def test_a_column_can_be_asked_for_its_name():
    assert Column("column 'a'", np.zeros(2)).name == "'a'"


def test_datetimes_of_any_zone_are_the_same_moment():
    zone = dt.timezone(dt.timedelta(hours=9))
    there = [dt.datetime(2024, 3, 1, 9, 30, tzinfo=zone), dt.datetime(2024, 3, 2, tzinfo=zone)]
    here = [moment.astimezone(dt.UTC).replace(tzinfo=None) for moment in there]
    numbers = [Column("column 0", np.array(moments, dtype=object)).numbers() for moments in (there, here)]
    np.testing.assert_array_equal(*numbers)


# ---- dates far away --------------------------------------------------------------------------------------------------

FAR = np.array(["2020-01-01", "300000-01-01", "NaT", "-290000-07-01"], dtype="M8[D]")
SPANS = np.array([1, 2**60, -(2**60)], dtype="m8[s]")
FAR_TABLES = {
    **{unit: lambda unit=unit: FAR.astype(f"M8[{unit}]")[:, None] for unit in ("D", "h", "m", "s", "ms")},
    "objects": lambda: np.array([np.datetime64(day, "s") for day in FAR], dtype=object)[:, None],
    "pandas": lambda: pd.DataFrame({"day": FAR.astype("M8[s]")}),
    "pandas in ms": lambda: pd.DataFrame({"day": FAR.astype("M8[ms]")}),
    "pandas with Arrow": lambda: pd.DataFrame({"day": pd.Series(FAR.astype("M8[s]")).astype("timestamp[s][pyarrow]")}),
    "polars": lambda: pl.DataFrame({"day": FAR.astype("M8[ms]")}),
    "polars days": lambda: pl.DataFrame(
        {"day": pl.Series([18262, 108853222, None, -106639671]).cast(pl.Int32).cast(pl.Date)}
    ),
    "arrow": lambda: pa.table({"day": pa.array(FAR.astype("M8[s]"))}),
}


@pytest.mark.parametrize("table", FAR_TABLES.values(), ids=FAR_TABLES)
def test_dates_of_far_years_are_days_as_well(table):
    """In whole microseconds, which have 64 bits, the year 300 000 would be before the year −280 000."""
    expected = FAR.astype(np.int64).astype(float)
    expected[2] = np.nan
    assert_array_equal(read_table(table()).columns[0].numbers(), expected)


@pytest.mark.parametrize(
    "table", [lambda: SPANS[:, None], lambda: pd.DataFrame({"s": SPANS}), lambda: pa.table({"s": SPANS})]
)
def test_long_durations_are_days_as_well(table):
    assert_array_equal(read_table(table()).columns[0].numbers(), SPANS.astype(float) / 86400)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms"])
def test_dates_of_all_units_are_the_same_numbers(unit):
    dates = np.random.default_rng(0).integers(-(2**53), 2**53, 500).astype("M8[us]").astype(f"M8[{unit}]")
    assert_array_equal(days(dates), days(dates.astype("M8[us]")))


def test_exported_predictors_read_far_dates_alike():
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"):
        dates = np.array(["1812-09-07", "2020-02-29", "NaT"], dtype="M8[D]").astype(f"M8[{unit}]")
        assert_array_equal(standalone.as_numbers(dates, None, "date"), days(dates))
    assert_array_equal(standalone.as_numbers(FAR.astype("M8[s]"), None, "date"), days(FAR))
    assert_array_equal(standalone.as_numbers(SPANS, None, "duration"), days(SPANS))


# ---- whole numbers beyond double precision ---------------------------------------------------------------------------

LARGE = 2**60 + np.arange(N)
LARGE_TABLES = {
    "array": lambda values: np.column_stack([np.arange(N), values]),
    "pandas": lambda values: pd.DataFrame({"a": np.arange(N), "id": values}),
    "nullable": lambda values: pd.DataFrame({"a": np.arange(N), "id": pd.Series([*values[1:], None], dtype="Int64")}),
    "polars": lambda values: pl.DataFrame({"a": np.arange(N), "id": values}),
    "arrow": lambda values: pa.table({"a": np.arange(N), "id": values}),
}


@pytest.mark.parametrize("table", LARGE_TABLES.values(), ids=LARGE_TABLES)
def test_whole_numbers_that_become_one_are_told_of_once(table):
    words = r"column (1|'id') has whole numbers beyond 2\*\*53, .* such as 11529215046068469.. and 11529215046068469"
    with pytest.warns(UserWarning, match=words) as found:
        clf = fit(table(LARGE))
    assert len(found) == 1 and found[0].filename == __file__
    clf.predict(table(LARGE))
    fit(table(2**60 + 2**10 * np.arange(N)))  # large, but all of them different
    fit(table(2**53 - np.arange(N)))


def test_large_codes_that_are_categories_are_not_told_of():
    fit(pd.DataFrame({"id": pd.Series(LARGE).astype("category")}))


@pytest.mark.parametrize("table", [lambda columns: np.column_stack(list(columns.values())), pd.DataFrame])
def test_many_columns_of_such_numbers_are_told_of_at_once(table):
    names = r"columns 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …|columns 'id2', .*, 'id11' …"
    with pytest.warns(
        UserWarning, match=rf"column (1|'id1') has .* such as 1152921\d+ .* is true of ({names})\.$"
    ) as found:
        fit(table({"a": np.arange(N), **{f"id{j}": LARGE + j for j in range(1, 14)}}))
    assert len(found) == 1
