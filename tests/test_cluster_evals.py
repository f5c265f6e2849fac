"""Evaluated rows in partitions: a group finds what `classifiers.eval_sets` finds on the whole table."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from group_threads import run_group
from scipy import sparse
from sklearn.base import BaseEstimator
from test_cluster_tables import CUTS, N, cut, dealt, frame, parts_of, same_array

from simplexboost.classifiers.eval_sets import EvalContext, make_evaluation, read_evaluated
from simplexboost.distributed.group_engine import GroupRows
from simplexboost.engine import CPU
from simplexboost.tables.partitions import WHOLE
from simplexboost.tables.partitions import Partition as Part
from simplexboost.tables.validation import Labelling, check_training

RNG = np.random.default_rng(0)
NAMES = np.array(["ant", "bee", "cat", "dog and more"])
Y = RNG.integers(0, 3, N)
OTHER = np.sort(RNG.integers(0, 4, N))  # class 3 is not trained on, and most partitions lack some class
WEIGHT = np.where(np.arange(N) < 7, 0.0, RNG.uniform(0.5, 2.0, N))  # the first partition may weigh nothing
SCORES = RNG.normal(size=(N, 4))


def fitted(X, y, scores=None):
    """An estimator that knows the columns of X, and the training set; all classes of NAMES are declared."""
    estimator = BaseEstimator()
    classes = np.arange(4) if y.dtype.kind == "i" else NAMES
    checked = check_training(estimator, X, y, None, Labelling(classes=classes), 255, CPU)
    start = None if scores is None else scores[:, checked.present]
    return estimator, replace(checked, data=replace(checked.data, init_score=start))


def whole_entry(estimator, checked, *entry):
    """What `make_evaluation` hands to the callback."""
    kept = []

    class Kept(EvalContext):
        def evaluation(self, rows, targets, first, what="", init_score=None, engine=CPU):
            kept.append((rows, targets, init_score))

    make_evaluation(Part(WHOLE, *entry), Kept(estimator, checked, loss=None), first=True)
    return kept[0]


def entry_by_group(estimator, checked, parts, losses=None):
    """The entry of everybody, the leader first: the share, the rows, the targets and the initial scores."""

    def read(group, own):
        context = EvalContext(copy.deepcopy(estimator), checked, loss=None)
        rows, targets, start, sizes = read_evaluated(group, context, own)
        return GroupRows.of(group, sizes, [part.index for part in own]), rows, targets, start

    return run_group(read, dealt(parts), [], losses)


def check_as_whole(trained, X, y, weight=None, scores=None, cuts=(), losses=None):
    """The group agrees on what is found on the whole."""
    rows, targets, start = whole_entry(*trained, X, y, weight, scores)
    entries = entry_by_group(*trained, parts_of(X, y, cuts=cuts, sample_weight=weight, init_score=scores), losses)
    assert sorted(np.concatenate([share.numbers for share, *_ in entries]).tolist()) == list(range(N))
    for share, own, own_targets, own_start in entries:
        here = share.numbers
        assert share.n == N and own.X.shape == (len(here), rows.X.shape[1])
        assert own.y.dtype == rows.y.dtype and own.y.tolist() == rows.y[here].tolist()
        assert same_array(own.c, rows.c[here]) and same_array(own_targets, targets[here])
        for made, expected in ((own.weight, rows.weight), (own_start, start)):
            assert (made is None) == (expected is None) and (made is None or same_array(made, expected[here]))
        if sparse.issparse(rows.X):
            assert len(here) == 0 or (own.X != rows.X[here]).nnz == 0
        else:
            np.testing.assert_array_equal(own.X, rows.X[here])


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("scores", [None, SCORES], ids=["", "scores"])
def test_an_entry_is_that_of_the_whole_table(cuts, weight, scores):
    X = frame()
    trained = fitted(X, NAMES[Y], scores)
    other = X.assign(text=X["text"].replace("red", "violet"))
    check_as_whole(trained, other, NAMES[OTHER], weight, scores, cuts)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_arrays_and_sparse_tables(cuts):
    X = RNG.normal(size=(N, 3))
    check_as_whole(fitted(X, Y), X[::-1], OTHER, cuts=cuts)
    check_as_whole(fitted(X, Y), X[::-1], pd.Series(OTHER), cuts=cuts)
    table = sparse.random(N, 4, 0.4, format="csr", random_state=0)
    check_as_whole(fitted(table, Y), table, OTHER, WEIGHT, cuts=cuts)


def test_members_that_are_replaced_agree_as_well():
    X = frame()
    check_as_whole(
        fitted(X, NAMES[Y], SCORES), X, NAMES[OTHER], WEIGHT, SCORES, (3, 3, 21), {0: [1], 1: [0, 2], 2: [1], 3: [0]}
    )


def test_labels_that_are_trained_on_may_be_in_one_partition_only():
    X, y = RNG.normal(size=(N, 2)), np.where(np.arange(N) == 33, 1, 3)
    check_as_whole(fitted(X, Y), X, y, cuts=(10, 20, 30))


def test_labels_have_the_type_of_the_whole():
    X = RNG.normal(size=(N, 2))
    parts = [Part(0, X[:9], OTHER[:9]), Part(1, X[9:], OTHER[9:] * 1.0)]
    entries = entry_by_group(*fitted(X, Y), parts)
    assert {rows.y.dtype for _, rows, *_ in entries} == {np.dtype(np.float64)}
    parts = [Part(0, X[:0], np.empty(0)), Part(1, X, NAMES[OTHER])]  # no labels have no type
    entries = entry_by_group(*fitted(X, NAMES[Y]), parts)
    assert {rows.y.dtype for _, rows, *_ in entries} == {NAMES.dtype}


# ---- what is refused ------------------------------------------------------------------------------------------------

TABLE = RNG.normal(size=(N, 2))


@pytest.mark.parametrize(
    ("y", "weight", "scores", "training"),
    [
        (np.full(N, 3), None, None, None),
        (OTHER + 90, None, None, None),
        (NAMES[OTHER], None, None, None),
        (OTHER, np.where(OTHER == 3, 1.0, 0.0), None, None),
        (OTHER, np.zeros(N), None, None),
        (OTHER, None, None, SCORES),
    ],
)
def test_what_is_refused_in_one_table_is_refused_in_partitions(y, weight, scores, training):
    trained = fitted(TABLE, Y, training)
    with pytest.raises(ValueError) as expected:
        whole_entry(*trained, TABLE, y, weight, scores)
    with pytest.raises(ValueError) as caught:
        entry_by_group(*trained, parts_of(TABLE, y, cuts=(7, 20), sample_weight=weight, init_score=scores))
    assert str(caught.value) == str(expected.value)


ROWS = TABLE[:3]
WRONG = [
    (
        [Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0, 1])],
        "y_val must hold a label per row.*in partition 1",
    ),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0, 1, np.nan])], "y_val contains NaN.*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS[:, :1], [0, 1, 1])], "X_val: partition 1 has 1 column without names"),
    ([Part(0, ROWS[:, :1], [0, 1, 1])], "X has 1 features, but BaseEstimator is expecting 2"),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS * np.inf, [0, 1, 1])], "X_val: X contains infinity: .*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1], [1, 1, 1]), Part(1, ROWS, [0, 1, 1])], "partition 0 has sample_weight_val, but"),
    (
        [Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0, 1, 1], None, SCORES[:3])],
        "partition 1 has init_score_val",
    ),
    ([Part(0, ROWS, [0, 1, 1], [1, -1, 1])], "sample_weight_val is refused: Negative.*in partition 0"),
    ([Part(0, ROWS, [0, 1, 1], None, SCORES[:2])], r"init_score_val has shape \(2, 4\).*in partition 0"),
    ([Part(0, ROWS[:0], [])], r"Found array with 0 sample\(s\)"),
    ([], "X_val: X has no partitions"),
]


@pytest.mark.parametrize(("parts", "words"), WRONG)
def test_errors_name_the_partition(parts, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        entry_by_group(*fitted(TABLE, Y), parts)


def test_a_warning_about_columns_of_labels_comes_once():
    trained = fitted(TABLE, Y)
    parts = [Part(i, TABLE[a:b], OTHER[a:b, None]) for i, (a, b) in enumerate(cut(N, (5, 20)))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entries = entry_by_group(*trained, parts)
    assert len(caught) == 1 and "column-vector" in str(caught[0].message)
    assert sum(len(rows.y) for _, rows, *_ in entries) == N
