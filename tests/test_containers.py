"""Equal data give equal models, whatever the container: containers × all public classifiers."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import simplexboost as sb

CLASSIFIERS = sorted(
    name for name in sb.__all__ if isinstance(getattr(sb, name), type) and hasattr(getattr(sb, name), "predict")
)
RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 3)).round(3)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
NAMES = ["a", "b", "c"]


class Only:
    """A table that offers one protocol and nothing else."""

    def __init__(self, table):
        self.table = table


class Stream(Only):
    """Arrow's stream."""

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange(Only):
    """The older data-frame interchange protocol."""

    def __dataframe__(self, *args, **options):
        return self.table.__dataframe__(*args, **options)


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def memory_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FRAME = pd.DataFrame(X, columns=NAMES)
NUMBERS = {
    "Fortran order": lambda folder: np.asfortranarray(X),
    "every second row": lambda folder: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda folder: read_only(X),
    "memory map": lambda folder: memory_map(X, folder),
    "other byte order": lambda folder: X.astype(X.dtype.newbyteorder()),
    "array of objects": lambda folder: X.astype(object),
    "masked array": lambda folder: np.ma.array(X, mask=False),
    "list of lists": lambda folder: X.tolist(),
    "pandas": lambda folder: FRAME,
    "pandas without names": lambda folder: pd.DataFrame(X),
    "pandas nullable": lambda folder: FRAME.astype("Float64"),
    "pandas arrow": lambda folder: FRAME.astype("double[pyarrow]"),
    "pandas objects": lambda folder: FRAME.astype(object),
    "polars": lambda folder: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda folder: arrow(FRAME),
    "pyarrow in chunks": lambda folder: pa.concat_tables([arrow(FRAME[:50]), arrow(FRAME[50:])]),
    "record batch": lambda folder: pa.RecordBatch.from_pandas(FRAME),
    "narwhals": lambda folder: nw.from_native(FRAME),
    "arrow stream": lambda folder: Stream(arrow(FRAME)),
    "interchange": lambda folder: Interchange(arrow(FRAME)),
}


def fitted(name, X):
    """A small model, and the labels it was fitted to."""
    kind = getattr(sb, name)
    options = {"n_estimators": 4, "n_layers": 4, "random_state": 0, "max_iter": 2000}
    if name == "OutputCodeClassifier":
        options["estimator"] = sb.SimplexBoostClassifier(n_estimators=4)
    y = Y % 2 if name == "MartiBoostClassifier" else Y
    return kind(**{key: value for key, value in options.items() if key in kind().get_params(deep=False)}).fit(X, y)


REFERENCE = {name: fitted(name, X).decision_function(X) for name in CLASSIFIERS}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("container", NUMBERS)
def test_numbers(container, name, tmp_path):
    table = NUMBERS[container](tmp_path)
    clf = fitted(name, table)
    np.testing.assert_array_equal(clf.decision_function(table), REFERENCE[name])
    has_names = hasattr(table, "columns") or isinstance(table, Only)
    named = has_names and container != "pandas without names"
    assert getattr(clf, "feature_names_in_", np.array([])).tolist() == (NAMES if named else [])


# ---- all kinds of columns -------------------------------------------------------------------------------------------

HOLES = np.arange(N) % 7 == 0
CITY = np.array(["Bonn", "Cork", "Dover", "Essen"])[RNG.integers(0, 4, N)]
MIXED = pd.DataFrame(
    {
        "city": pd.Series(CITY).mask(HOLES),
        "size": pd.Series(pd.Categorical(np.array(["small", "large"])[(X[:, 0] > 0).astype(int)])),
        "number": X[:, 0],
        "holes": pd.Series(X[:, 1]).mask(HOLES),
        "count": pd.Series(RNG.integers(0, 9, N)).astype("Int32").mask(HOLES),
        "flag": pd.Series(X[:, 1] > 0).astype("boolean").mask(HOLES),
        "when": pd.Series(pd.Timestamp("2020-03-01") + pd.to_timedelta(RNG.integers(0, 10**6, N), unit="min")).mask(
            HOLES
        ),
        "took": pd.Series(pd.to_timedelta(RNG.integers(0, 10**4, N), unit="s")).mask(HOLES),
    }
)
MIXED["when"] = MIXED["when"].astype("datetime64[us]")
MIXED["took"] = MIXED["took"].astype("timedelta64[us]")
KINDS = ["category", "category", "number", "number", "number", "number", "date", "duration"]


def plain(frame):
    """Columns of NumPy's types; text and truth values with holes are objects."""
    holes = {"count": "float64", "flag": object, "city": object}
    return frame.assign(flag=frame["flag"].astype(object).where(frame["flag"].notna(), None)).astype(holes)


# Copies, because convert_dtypes of pandas 3.0 writes into the frame that it is called on.
TABLES = {
    "pandas": lambda: MIXED,
    "pandas NumPy": lambda: plain(MIXED),
    "pandas nullable": lambda: MIXED.copy().convert_dtypes(),
    "pandas arrow": lambda: MIXED.copy().convert_dtypes(dtype_backend="pyarrow"),
    "pandas nanoseconds": lambda: MIXED.astype({"when": "datetime64[ns]", "took": "timedelta64[ns]"}),
    "pandas in Tokyo": lambda: MIXED.assign(when=MIXED["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
    "pandas datetimes": lambda: MIXED.assign(when=pd.Series(python_times(), dtype=object)),
    "pandas text as categories": lambda: MIXED.astype({"city": "category"}),
    "pandas categories as text": lambda: MIXED.astype({"size": str}),
    "polars": lambda: pl.from_arrow(arrow(MIXED)),
    "polars categories": lambda: pl.from_arrow(arrow(MIXED)).with_columns(pl.col("city").cast(pl.Categorical)),
    "polars enum": lambda: pl.from_arrow(arrow(MIXED)).with_columns(pl.col("size").cast(pl.Enum(["large", "small"]))),
    "pyarrow": lambda: arrow(MIXED),
    "pyarrow dictionary": lambda: dictionary(arrow(MIXED), "city"),
    "pyarrow in pandas": lambda: dictionary(arrow(MIXED), "city").to_pandas(types_mapper=pd.ArrowDtype),
    "arrow stream": lambda: Stream(pl.from_arrow(arrow(MIXED))),
}


def python_times():
    return [None if pd.isna(t) else t.to_pydatetime().replace(tzinfo=dt.UTC) for t in MIXED["when"]]


def dictionary(table, name):
    position = table.column_names.index(name)
    return table.set_column(position, name, table[name].dictionary_encode())


TAKE_CATEGORIES = [name for name in CLASSIFIERS if name != "MulticlassSVC"]
MIXED_REFERENCE = {name: fitted(name, MIXED).decision_function(MIXED) for name in TAKE_CATEGORIES}


@pytest.mark.parametrize("name", TAKE_CATEGORIES)
@pytest.mark.parametrize("container", TABLES)
def test_all_kinds_of_columns(container, name):
    table = TABLES[container]()
    clf = fitted(name, table)
    np.testing.assert_array_equal(clf.decision_function(table), MIXED_REFERENCE[name])
    if name != "OutputCodeClassifier":  # hands the table to its estimator
        assert clf.feature_kinds_ == KINDS
        assert [values.tolist() for values in clf.categories_.columns[:2]] == [
            ["Bonn", "Cork", "Dover", "Essen"],
            ["large", "small"],
        ]
        # A model fitted to one container takes all others.
        np.testing.assert_array_equal(clf.decision_function(MIXED), MIXED_REFERENCE[name])


@pytest.mark.parametrize("name", TAKE_CATEGORIES)
def test_categories_are_split_by_subsets_in_every_booster(name):
    """Two cities of four, in no order of their names: a threshold on their numbers could not tell them apart."""
    frame = pd.DataFrame({"city": CITY})
    y = np.isin(CITY, ["Bonn", "Dover"]).astype(int)
    kind, options = getattr(sb, name), {"n_estimators": 1, "n_layers": 1, "random_state": 0, "learner": "stump"}
    if name == "SoftmaxBoostClassifier":
        options["n_estimators"] = 30  # it sees few pairs of examples and decisions in a round
    if name == "OutputCodeClassifier":
        options["estimator"] = sb.SimplexBoostClassifier(n_estimators=1)
    if name == "OSBoostClassifier":
        options["learner"] = "class-tree"  # its learners must name classes
    known = kind().get_params(deep=False)
    clf = kind(**{key: value for key, value in options.items() if key in known}).fit(frame, y)
    assert clf.score(frame, y) == 1.0


# ---- types of numbers -----------------------------------------------------------------------------------------------

SINGLE = X.astype(np.float32)


@pytest.mark.parametrize(
    "table",
    [
        SINGLE,
        pd.DataFrame(SINGLE),
        pd.DataFrame(SINGLE).astype("Float32"),
        pl.DataFrame(SINGLE),
        pa.table(dict(zip(NAMES, SINGLE.T.copy(), strict=True))),
        pd.DataFrame(SINGLE, columns=NAMES).assign(flag=True),
    ],
    ids=lambda table: type(table).__module__,
)
def test_single_precision_stays(table):
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(table, Y)
    assert clf._check_X(table).dtype == np.float32


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.float64, np.longdouble])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_all_other_numbers_become_double(dtype, container):
    table = container((8 * X).astype(dtype))
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(table, Y)
    double = sb.GDMCBoostClassifier(n_estimators=2).fit((8 * X).astype(dtype).astype(np.float64), Y)
    np.testing.assert_array_equal(clf.decision_function(table), double.decision_function(np.asarray(table, np.float64)))


# ---- pipelines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
@pytest.mark.parametrize("table", [FRAME, pl.DataFrame(X, schema=NAMES)], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_set_output(name, table, output):
    """A transformer's output is the classifier's table."""
    y = Y % 2 if name == "MartiBoostClassifier" else Y
    clf = make_pipeline(StandardScaler(), fitted(name, X)).set_output(transform=output).fit(table, y)
    names = getattr(clf[-1], "feature_names_in_", np.array([])).tolist()
    assert clf.predict(table).shape == (N,) and names == ([] if output == "default" else NAMES)


def test_a_transformer_of_columns():
    encode = make_column_transformer(
        (OrdinalEncoder(), ["city"]), remainder="passthrough", verbose_feature_names_out=False
    )
    table = pl.from_pandas(MIXED[["city", "number", "when"]])
    clf = make_pipeline(encode, sb.SimplexBoostClassifier(n_estimators=3)).set_output(transform="polars").fit(table, Y)
    assert clf[-1].feature_kinds_ == ["number", "number", "date"]
