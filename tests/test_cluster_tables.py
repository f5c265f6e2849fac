"""Tables in partitions: a group finds what `check_training` finds on the whole table, bit for bit."""

import copy
import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from group_threads import run_group
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator

from simplexboost.tables.encoding import check_partitions, check_X, digest, learn_partitions, learn_X
from simplexboost.tables.frames import read_table
from simplexboost.tables.inputs import Taken
from simplexboost.tables.partitions import Partition as Part

N = 40
NAMED = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
CUTS = [(), (11,), (0, 1, 1, 30), (5, 17, 40), (1, 2, 3, 4, 20, 39)]


def rows_of(table, begin, end):
    """Some consecutive rows of any container."""
    if isinstance(table, pd.DataFrame | pd.Series):
        return table.iloc[begin:end]
    if isinstance(table, pa.Table):
        return table.slice(begin, end - begin)
    return table[begin:end]


def cut(n, cuts):
    """The partitions of n rows: (begin, end)."""
    return list(zip([0, *cuts], [*cuts, n], strict=True))


def parts_of(X, y=None, n=N, cuts=(), **fields):
    """Partitions, cut out of whole tables."""
    return [
        Part(i, rows_of(X, *bounds), None if y is None else rows_of(y, *bounds))
        if not fields
        else Part(
            i,
            rows_of(X, *bounds),
            None if y is None else rows_of(y, *bounds),
            **{name: None if value is None else rows_of(value, *bounds) for name, value in fields.items()},
        )
        for i, bounds in enumerate(cut(n, cuts))
    ]


def dealt(parts, n_members=3):
    """The partitions of every member: not in sequence, and the last member has the first of them."""
    return [[part for part in parts if part.index % n_members == k] for k in range(n_members)][::-1]


def in_order(results, parts, n_members=3):
    """What members made of their partitions, in the order of all partitions."""
    made = {}
    for result, own in zip(results, dealt(parts, n_members), strict=True):
        made |= {part.index: one for part, one in zip(own, result, strict=True)}
    return [made[i] for i in range(len(parts))]


def columns_by_group(parts, taken=None, estimator=None, losses=None, program=learn_partitions, **options):
    """The numbers of all partitions, and the estimators of everybody."""
    estimator = BaseEstimator() if estimator is None else estimator

    def run(group, own):
        mine = copy.deepcopy(estimator)
        more = (Taken() if taken is None else taken,) if program is learn_partitions else ()
        return program(group, mine, own, *more, **options), mine

    results = run_group(run, dealt(parts), [], losses)
    return in_order([numbers for numbers, _ in results[1:]], parts), [mine for _, mine in results]


def same_array(a, b):
    """Whether two arrays are equal in type and in every bit of their values."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_estimators(estimators, expected):
    """Everybody remembers the columns that the estimator of the whole table remembers."""
    for one in estimators:
        assert one.n_features_in_ == expected.n_features_in_
        assert one.feature_kinds_ == expected.feature_kinds_
        names = [None if not hasattr(e, "feature_names_in_") else e.feature_names_in_ for e in (one, expected)]
        assert (names[0] is None) == (names[1] is None) and (names[0] is None or (names[0] == names[1]).all())
        assert (one.categories_ is None) == (expected.categories_ is None)
        if expected.categories_ is not None:
            for a, b in zip(one.categories_.columns, expected.categories_.columns, strict=True):
                assert (a is None) == (b is None)
                assert a is None or (a.dtype == b.dtype and a.tolist() == b.tolist())


def check_as_whole(X, cuts, taken=None, losses=None):
    """The group agrees on what `learn_X` finds on the whole table."""
    expected = BaseEstimator()
    whole = learn_X(expected, X, Taken() if taken is None else taken)
    numbers, estimators = columns_by_group(parts_of(X, cuts=cuts), taken, losses=losses)
    check_estimators(estimators, expected)
    assert all(part.dtype == whole.dtype for part in numbers)
    if sparse.issparse(whole):
        assert (sparse.vstack(numbers) != whole).nnz == 0
        return
    assert all(part.flags.c_contiguous for part in numbers)
    assert same_array(np.concatenate(numbers), np.asarray(whole))


def frame():
    """A frame with columns of all kinds; some values occur in few rows only."""
    rng = np.random.default_rng(0)
    missing = rng.random(N) < 0.2
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=int(d), hours=int(d) % 7) for d in rng.integers(0, 400, N)]
    table = pd.DataFrame(
        {
            "number": np.where(missing, np.nan, rng.normal(size=N)),
            "whole": rng.integers(-5, 5, N),
            "truth": rng.random(N) < 0.5,
            "text": rng.choice(["red", "green", "blue", "é"], N),
            "rare": np.where(np.arange(N) == 33, "once", "always"),
            "city": pd.Categorical(rng.choice(["Bonn", "Ulm", "Rom"], N), categories=["Rom", "Ulm", "Bonn", "Oslo"]),
            "grade": pd.Categorical(rng.choice([3, 1, 2], N)),
            "day": days,
            "late": np.where(np.arange(N) < 20, np.nan, rng.normal(size=N)),
            "nothing": np.full(N, np.nan),
        }
    )
    table.loc[rng.random(N) < 0.1, "text"] = None
    table.loc[:24, "city"] = None
    return table


def tables():
    """Tables of every container."""
    rng, table = np.random.default_rng(1), frame()
    numbers = rng.normal(size=(N, 3))
    numbers[rng.random((N, 3)) < 0.1] = np.nan
    objects = np.column_stack([numbers.astype(object), rng.choice(["a", "b"], N), [dt.date(2024, 1, 1)] * N])
    yield "pandas", table, None
    yield "pandas, no categories", table.drop(columns=["text", "rare", "city"]), Taken(None)
    yield "pandas, declared", table, Taken(["text", "rare", "city", "whole", "day"])
    yield "pandas, object columns", table.astype(object), None
    yield "pandas, nullable", table[["number", "whole", "truth", "text"]].convert_dtypes(), None
    yield "pandas, arrow types", table[["number", "whole", "text"]].convert_dtypes(dtype_backend="pyarrow"), None
    yield "pandas, float32", table[["truth", "late"]].astype({"late": np.float32}), None
    yield "pandas, numbered columns", pd.DataFrame(numbers), None
    yield "polars", pl.from_pandas(table.drop(columns=["grade"])), None
    yield "pyarrow", pa.Table.from_pandas(table.drop(columns=["grade"]), preserve_index=False), None
    for kind in (np.float64, np.float32, np.float16):
        yield f"array of {kind.__name__}", numbers.astype(kind), None
    yield "array of int", rng.integers(0, 9, (N, 2)), None
    yield "array, not contiguous", np.asfortranarray(numbers)[:, ::-1], None
    yield "array, declared", rng.integers(0, 9, (N, 3)).astype(np.float32), Taken([0, 2])
    yield "array of objects, declared", objects, Taken([3])
    yield "array of objects", objects[:, [0, 1, 2, 4]], None
    yield "array of dates", np.array(table["day"], dtype="M8[ns]")[:, None], None
    yield "masked array", np.ma.masked_array(numbers, np.isnan(numbers)), None
    yield "sparse", sparse.random(N, 5, 0.3, format="csr", random_state=0), None
    yield "sparse array of float32", sparse.csr_array(sparse.random(N, 5, 0.3, random_state=0, dtype=np.float32)), None


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize(("X", "taken"), [pytest.param(*case, id=name) for name, *case in tables()])
def test_columns_are_those_of_the_whole_table(X, taken, cuts):
    check_as_whole(X, cuts, taken)


def test_lists_have_columns_as_well():
    X = [[1.0, "a"], [2.0, "b"], [None, "a"]]
    expected = BaseEstimator()
    whole = learn_X(expected, X, Taken([1]))
    numbers, estimators = columns_by_group(parts_of(X, n=3, cuts=(1,)), Taken([1]))
    check_estimators(estimators, expected)
    assert same_array(np.concatenate(numbers), whole)


def test_members_that_are_replaced_agree_as_well():
    check_as_whole(frame(), (3, 20, 21), losses={0: [1], 1: [0, 2], 2: [1]})


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from(["x", "y", "zz", "1", None]), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_text_in_any_partitions(values, cuts):
    n = len(values)
    X = pd.DataFrame({"a": pd.Series(values, dtype=object), "b": np.arange(n)})
    cuts = sorted(min(c, n) for c in cuts)
    expected = BaseEstimator()
    try:
        whole = learn_X(expected, X, Taken())
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            columns_by_group(parts_of(X, n=n, cuts=cuts))
        assert str(caught.value) == str(error)
        return
    numbers, estimators = columns_by_group(parts_of(X, n=n, cuts=cuts))
    check_estimators(estimators, expected)
    assert same_array(np.concatenate(numbers), whole)


def test_columns_missing_in_one_partition_have_the_kind_of_the_others():
    parts = [
        Part(0, pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None], "c": [np.nan] * 2}), None),
        Part(1, pd.DataFrame({"a": ["u", "v"], "b": [1.5, 2.5], "c": pd.to_datetime(["2024-01-01", None])}), None),
    ]
    (first, second), estimators = columns_by_group(parts)
    assert np.isnan(first).all() and second[:, :2].tolist() == [[0.0, 1.5], [1.0, 2.5]]
    assert estimators[0].feature_kinds_ == ["category", "number", "date"]


def test_partitions_with_other_types_of_numbers_get_the_common_one():
    arrays = [np.ones((2, 1), np.float32), np.ones((1, 1), np.int16), np.ones((1, 1), np.float32)]
    numbers, _ = columns_by_group([Part(i, X, None) for i, X in enumerate(arrays)])
    assert {part.dtype for part in numbers} == {np.dtype(np.float32)}
    numbers, _ = columns_by_group([Part(i, X, None) for i, X in enumerate([*arrays, np.ones((1, 1))])])
    assert {part.dtype for part in numbers} == {np.dtype(np.float64)}
    frames = [pd.DataFrame({"a": X[:, 0]}) for X in arrays]
    numbers, _ = columns_by_group([Part(i, X, None) for i, X in enumerate(frames)])
    assert {part.dtype for part in numbers} == {np.dtype(np.float32)}
    numbers, _ = columns_by_group([Part(i, X, None) for i, X in enumerate([*frames, frames[0].astype(float)])])
    assert {part.dtype for part in numbers} == {np.dtype(np.float64)}


def test_an_array_of_numbers_may_stand_beside_one_of_objects():
    parts = [Part(0, np.array([[1.0, 2.0]]), None), Part(1, np.array([[3, None]], dtype=object), None)]
    numbers, estimators = columns_by_group(parts)
    np.testing.assert_array_equal(np.concatenate(numbers), [[1.0, 2.0], [3.0, np.nan]])
    assert estimators[1].feature_kinds_ == ["number", "number"]


def test_categories_that_are_told_apart_by_their_counts_in_all_partitions():
    rng = np.random.default_rng(0)
    values = np.array([f"v{k}" for k in rng.geometric(0.01, 4000)])
    X = pd.DataFrame({"a": values})
    expected = BaseEstimator()
    with pytest.warns(UserWarning, match="categories, and 254 can be told apart"):
        whole = learn_X(expected, X, Taken())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        numbers, estimators = columns_by_group(parts_of(X, n=4000, cuts=(100, 101, 2500)))
    assert [w.category for w in caught] == [UserWarning]  # once, at the leader
    check_estimators(estimators, expected)
    assert same_array(np.concatenate(numbers), whole)


def test_a_model_that_goes_on_learns_categories_of_all_partitions():
    X = frame()[["number", "text", "city", "nothing"]]
    more = X.assign(text=X["text"].replace("red", "violet"), nothing=np.arange(N) * 1.0)
    fitted = BaseEstimator()
    learn_X(fitted, X, Taken())
    expected = copy.deepcopy(fitted)
    whole = learn_X(expected, more, Taken(), reset=False)
    numbers, estimators = columns_by_group(parts_of(more, cuts=(7, 30)), estimator=fitted, reset=False)
    check_estimators(estimators, expected)
    assert same_array(np.concatenate(numbers), whole)


def test_a_model_that_goes_on_refuses_text_in_any_partition():
    fitted = BaseEstimator()
    learn_X(fitted, NAMED, Taken())
    parts = [Part(0, NAMED.assign(b=None), None), Part(1, NAMED.assign(b=["x", "y"]), None)]
    with pytest.raises(ValueError, match=r"warm_start=True, add_classes\) needs its categorical columns, \[\]"):
        columns_by_group(parts, estimator=fitted, reset=False)


def test_values_of_one_category_are_counted_together():
    """A date and the beginning of that day are different values, but the same category."""
    days = [dt.datetime(2024, 1, 1), dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.datetime(2024, 1, 1), None]
    column = read_table(np.array(days, dtype=object)[:, None]).columns[0]
    merged = digest(column, True, 7).categories
    assert merged.values == column.categories.values == ["2024-01-01T00:00:00", "2024-01-02T00:00:00"]
    assert merged.counts.tolist() == column.categories.counts.tolist() == [3, 1]
    assert merged.first.tolist() == [[7, row] for row in column.categories.first.tolist()] == [[7, 0], [7, 2]]


# ---- what is refused ------------------------------------------------------------------------------------------------

WRONG_COLUMNS = [
    (
        [NAMED, NAMED[["b", "a"]]],
        r"partition 1 has 2 columns \['b', 'a'\], partition 0 has .* \['a', 'b'\].*order",
    ),
    ([NAMED, NAMED, NAMED[["a"]]], r"partition 2 has 1 column \['a'\], partition 0 has 2 columns"),
    ([NAMED, NAMED.rename(columns={"b": "c"})], r"partition 1 has 2 columns \['a', 'c'\]"),
    ([NAMED, NAMED.to_numpy()], r"partition 1 has 2 columns without names, partition 0 has 2 columns \['a', 'b'\]"),
    ([np.ones((2, 2)), np.ones((2, 3))], "partition 1 has 3 columns without names, partition 0 has 2 columns"),
    ([NAMED, NAMED.assign(b=["x", "y"])], "column 'b' holds numbers in partition 0, but text in partition 1"),
    ([NAMED, NAMED.assign(b=pd.to_datetime(["2024-01-01"] * 2))], "column 'b' holds numbers in .* but dates in"),
    ([NAMED[[]], NAMED[[]]], r"Found array with 0 feature\(s\) .* This is in partition 0"),
    ([np.ones((2, 2)), np.ones(2)], "Expected 2D array.* This is in partition 1"),
    ([np.ones((2, 2)), sparse.csr_matrix(np.ones((2, 2)))], "X is sparse in partition 1, but dense in partition 0"),
    ([np.empty((0, 2)), np.empty((0, 2))], r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"),
    ([NAMED, NAMED.assign(b=[1.0, np.inf])], "X contains infinity: inf in column 'b', row 1.*This is in partition 1"),
    ([np.ones((2, 2)), np.array([[1, -np.inf]])], "infinity: -inf in column 1, row 0.*This is in partition 1"),
    ([NAMED, NAMED.assign(b=[1, "x"])], r"column 'b' mixes values of different types: int \(row 0: 1\).* partition 1"),
    ([NAMED, NAMED.assign(b=[[1], [2]])], "column 'b' holds a list in row 0.*partition 1"),
    (
        [np.array([["a", 1]], dtype=object), np.array([["b", 1]], dtype=object)],
        "column 0 holds text: 'a' in row 0 of partition 0; could not convert string to float",
    ),
]


@pytest.mark.parametrize(("tables", "words"), WRONG_COLUMNS)
def test_partitions_that_make_no_table_are_refused(tables, words):
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        columns_by_group([Part(i, X, None) for i, X in enumerate(tables)])


def test_many_columns_are_shown_where_they_differ():
    X = pd.DataFrame(np.ones((1, 30)), columns=[f"c{j}" for j in range(30)])
    with pytest.raises(ValueError, match=r"\[… 'c18', 'c19', 'wrong', .*'c27' …\]"):
        columns_by_group([Part(0, X, None), Part(1, X.rename(columns={"c20": "wrong"}), None)])


REFUSED_AS_WHOLE = [
    (pd.DataFrame({"a": ["1", "2", "3", "4"]}), Taken()),
    (pd.DataFrame({"a": ["x", "y", "3", "4"]}), Taken(refusal="This classifier takes no categories")),
    (pd.DataFrame({"a": [1, 2, 3, 4]}), Taken(["b"])),
    (np.ones((4, 2)), Taken([2])),
    (sparse.csr_matrix(np.ones((4, 2))), Taken([1])),
    (pd.DataFrame(np.ones((4, 2)), columns=["a", 1]), Taken()),
]


@pytest.mark.parametrize(("X", "taken"), REFUSED_AS_WHOLE)
def test_what_is_refused_in_one_table_is_refused_in_partitions(X, taken):
    with pytest.raises((ValueError, TypeError)) as expected:
        learn_X(BaseEstimator(), X, taken)
    with pytest.raises(expected.type) as caught:
        columns_by_group(parts_of(X, n=4, cuts=(1, 3)), taken)
    assert str(caught.value) == str(expected.value)


def test_text_among_numbers_is_found_in_any_partition():
    X = pd.DataFrame({"a": ["1", "2", "x", "4"]})
    with pytest.raises(ValueError, match="column 'a' holds text: 'x' in row 1 of partition 1; numbers are expected"):
        columns_by_group(parts_of(X, n=4, cuts=(1,)), Taken(None))


# ---- tables that follow ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_tables_that_follow_are_recognised(cuts):
    X = frame()
    fitted = BaseEstimator()
    learn_X(fitted, X, Taken())
    other = X.assign(text=X["text"].replace("red", "violet"))
    numbers, _ = columns_by_group(parts_of(other, cuts=cuts), estimator=fitted, program=check_partitions)
    assert same_array(np.concatenate(numbers), check_X(fitted, other))


def test_tables_that_follow_with_other_columns_are_refused():
    X = frame()
    fitted = BaseEstimator()
    learn_X(fitted, X, Taken())
    for other in (X[X.columns[::-1]], X.drop(columns="late")):
        with pytest.raises(ValueError) as expected:
            check_X(fitted, other)
        with pytest.raises(ValueError) as caught:
            columns_by_group(parts_of(other, cuts=(4,)), estimator=fitted, program=check_partitions)
        assert str(caught.value) == str(expected.value)
    with pytest.raises(ValueError, match=r"column 'number' held numbers in fit; now it holds dates.* partition 0"):
        wrong = X.assign(number=X["day"])
        columns_by_group(parts_of(wrong, cuts=(4,)), estimator=fitted, program=check_partitions)


def test_a_warning_about_names_comes_once():
    fitted = BaseEstimator()
    learn_X(fitted, NAMED, Taken())
    parts = [Part(i, np.ones((2, 2)), None) for i in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns_by_group(parts, estimator=fitted, program=check_partitions)
    assert len(caught) == 1 and "does not have valid feature names" in str(caught[0].message)
