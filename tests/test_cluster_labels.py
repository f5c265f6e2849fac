"""Labels and weights in partitions: a group finds what `check_training` finds on the whole table, bit for bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from group_threads import run_group
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from test_cluster_tables import CUTS, N, dealt, in_order, parts_of, same_array

from simplexboost.distributed.fitting import agree_on_groups, read_starts
from simplexboost.distributed.group_engine import GroupRows
from simplexboost.engine import CPU
from simplexboost.tables.labels import check_init_score
from simplexboost.tables.partitions import Partition as Part
from simplexboost.tables.validation import Labelling, check_rows, check_training, mean_one, read_labels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.sort(RNG.integers(0, 4, N))  # so that most partitions lack some class
NAMES = np.array(["ant", "bee", "cat", "dog and more"])
WEIGHT = RNG.uniform(0.0, 3.0, N) * (RNG.random(N) < 0.8)


def labels_by_group(parts, labelling=None, losses=None):
    """What everybody agrees on, the leader first: the labels, the share of the rows, and their weights."""
    labelling = Labelling() if labelling is None else labelling

    def read(group, own):
        labels = read_labels(group, [check_rows(part) for part in own], labelling)
        rows = GroupRows.of(group, labels.sizes, [part.index for part in own])
        return labels, rows, mean_one(np.concatenate([np.empty(0), *labels.weight]), rows)

    return run_group(read, dealt(parts), [], losses)


def check_as_whole(y, sample_weight, labelling, cuts, losses=None):
    """The group agrees on what `check_training` finds on the whole."""
    n = len(y)
    expected = check_training(BaseEstimator(), X[:n], y, sample_weight, labelling, 255, CPU)
    parts = parts_of(X[:n], y, n=n, cuts=cuts, sample_weight=sample_weight)
    agreed = labels_by_group(parts, labelling, losses)
    for labels, share, _ in agreed:
        classes = labels.problem.classes
        assert same_array(classes, expected.classes) or (classes == expected.classes).all()
        assert classes.dtype == expected.classes.dtype
        assert same_array(labels.problem.present, expected.present)
        assert labels.n == n and share.n == expected.data.n
    for name, whole in (("c", expected.data.c), ("used", expected.used)):
        assert same_array(np.concatenate(in_order([getattr(one, name) for one, _, _ in agreed[1:]], parts)), whole)
    rows = [r for _, share, _ in agreed[1:] for r in share.numbers.tolist()]
    assert sorted(rows) == list(range(expected.data.n)) and len(agreed[0][1].numbers) == 0
    for _, share, weight in agreed[1:]:
        assert same_array(weight, expected.data.weight[share.numbers])


LABELS = {
    "numbers": Y,
    "floats": Y * 1.0,
    "truth": Y > 1,
    "text": NAMES[Y],
    "objects": NAMES.astype(object)[Y],
    "series": pd.Series(NAMES[Y]),
    "categories": pd.Series(pd.Categorical(NAMES[Y])),
    "list": NAMES[Y].tolist(),
    "nullable": pd.Series(2**60 + Y, dtype="Int64"),  # neighbours, which floating point cannot tell apart
    "nullable truth": pd.Series(Y > 1, dtype="boolean"),
}
LABELLINGS = [Labelling(), Labelling(class_weight="balanced")]


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("labelling", LABELLINGS, ids=["", "balanced"])
@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_labels_are_those_of_the_whole_table(y, labelling, weight, cuts):
    if isinstance(y, list) and 0 in np.diff([0, *cuts, N]):
        cuts = (3, 30)  # an empty list has no type
    check_as_whole(y, weight, labelling, cuts)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize(
    "labelling",
    [
        Labelling(class_weight={0: 1.5, 1: 0.1, 2: 0.0, 3: 7}),
        Labelling(class_weight={1: 3.0}),
        Labelling(classes=[7, 3, 2, 1, 0]),
        Labelling(classes=range(-1, 5), class_weight="balanced"),
    ],
)
def test_declared_classes_and_class_weights(labelling, cuts):
    for weight in (None, WEIGHT, np.full(N, 1 / 3)):
        check_as_whole(Y, weight, labelling, cuts)


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e290])
def test_negligible_weights_are_those_of_all_partitions(factor):
    weight = np.where(np.arange(N) < 12, 1e-8, WEIGHT) * factor  # the first partition is left out altogether
    check_as_whole(Y, weight, Labelling(), (10, 25))


def test_a_class_whose_rows_are_left_out_is_not_present():
    check_as_whole(Y, np.where(Y == 1, 0.0, 1.0), Labelling(), (10, 25))


def test_members_that_are_replaced_agree_as_well():
    losses = {0: [2], 1: [1], 2: [0, 1], 3: [2], 5: [1]}
    check_as_whole(NAMES[Y], WEIGHT, Labelling(class_weight="balanced"), (3, 3, 21), losses)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(1e-3, 1e3)), min_size=2, max_size=N),
    st.lists(st.integers(0, N), max_size=5),
    st.booleans(),
)
def test_any_labels_and_weights(rows, cuts, balanced):
    y, weight = np.array([label for label, _ in rows]), np.array([w for _, w in rows])
    labelling = Labelling(classes=range(4), class_weight="balanced" if balanced else None)
    check_as_whole(y, weight, labelling, sorted(min(c, len(y)) for c in cuts))


# ---- what is refused ------------------------------------------------------------------------------------------------

ROWS = np.ones((3, 1))
PARTITION_WRONG = [
    (
        [Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, ["a", "b", "a"])],
        "numbers in partition 0, such as 0, but text in",
    ),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0, 1])], "y has 2 entries, but X has 3 rows.*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, None)], "y is None.*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0, 1, np.nan])], "Input y contains NaN.*in partition 1"),
    (
        [Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, pd.Series([0, 1, None], dtype="Int64"))],
        "y contains NaN: the label of row 2 is missing.*in partition 1",
    ),
    ([Part(0, ROWS, [0, 1, 1]), Part(1, ROWS, [0.5, 1, 2])], "Unknown label type: continuous.*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1], [1, 1, 1]), Part(1, ROWS, [0, 1, 1])], "partition 0 has sample_weight, but partition 1"),
    ([Part(0, ROWS, [0, 1, 1], [1, 1, 1]), Part(1, ROWS, [0, 1, 1], [1, 1])], r"expected \(3,\)!.*in partition 1"),
    ([Part(0, ROWS, [0, 1, 1], [1, -1, 1])], "Negative values in data passed to `sample_weight`.*in partition 0"),
    ([Part(0, ROWS, [0, 1, 1], [1, np.nan, 1])], "Input sample_weight contains NaN.*in partition 0"),
    ([Part(0, ROWS, np.eye(3, dtype=int))], "y is a matrix of shape .*in partition 0"),
    (
        [Part(0, ROWS, np.array([0, "a", 1], dtype=object))],
        "y mixes labels of different types.*in partition 0",
    ),
    ([Part(0, ROWS[:0], np.empty(0))], "all partitions are empty"),
]


@pytest.mark.parametrize(("parts", "words"), PARTITION_WRONG)
def test_errors_name_the_partition(parts, words):
    with pytest.raises((ValueError, TypeError), match=f"(?s){words}"):
        labels_by_group(parts, Labelling(several=True))


REFUSED_AS_WHOLE = [
    (Y, np.zeros(N), Labelling()),
    (np.zeros(N, dtype=int), None, Labelling()),
    (Y, np.where(Y == 2, 1.0, 0.0), Labelling(declares=False)),
    (Y, None, Labelling(classes=[0, 1, 2])),
    (Y, None, Labelling(classes=[0])),
    (Y.astype(str), None, Labelling(classes=list(range(30)))),
    (Y, None, Labelling(class_weight={9: 1.0})),
    (Y, None, Labelling(class_weight="even")),
    (Y, np.full(N, 1e300), Labelling(class_weight={0: 1e300})),
    (Y, None, Labelling(class_weight={0: -1.0})),
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("y", "weight", "labelling"), REFUSED_AS_WHOLE)
def test_what_is_refused_in_one_table_is_refused_in_partitions(y, weight, labelling):
    with pytest.raises(ValueError) as expected:
        check_training(BaseEstimator(), X, y, weight, labelling, 255, CPU)
    with pytest.raises(ValueError) as caught:
        labels_by_group(parts_of(X, y, cuts=(7, 20), sample_weight=weight), labelling)
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("y", [Y[:, None], np.arange(N) // 2 * 2 + (np.arange(N) < 9)], ids=["column", "many labels"])
def test_warnings_come_once(y):
    y = y if y.ndim > 1 else np.r_[np.arange(30), np.arange(10)]
    caught = []
    for run in (
        lambda: check_training(BaseEstimator(), X, y, None, Labelling(), 255, CPU),
        lambda: labels_by_group(parts_of(X, y, cuts=(22, 30))),
    ):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run()
        caught.append([(w.category, str(w.message)) for w in found])
    assert caught[0] == caught[1] and len(caught[1]) == 1


# ---- scores to start from, and groups -------------------------------------------------------------------------------


def with_more(group, own):
    """The labels, the scores to start from and the groups."""
    labels = read_labels(group, [check_rows(part) for part in own], Labelling(classes=range(5)))
    return (
        np.concatenate(
            [np.empty(0, dtype=int), *(GroupRows.of(group, labels.sizes, [part.index]).numbers for part in own)]
        ),
        read_starts(own, labels) if "init_score" in labels.fields else None,
        agree_on_groups(group, own, labels.used) if "groups" in labels.fields else None,
    )


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_scores_and_groups_follow_the_rows(cuts):
    scores, groups = RNG.normal(size=(N, 5)), RNG.choice(["u", "v", "w"], N)
    parts = parts_of(X, Y, cuts=cuts, sample_weight=WEIGHT, init_score=scores, groups=groups)
    results = run_group(with_more, dealt(parts), [])[1:]
    labels = check_training(BaseEstimator(), X, Y, WEIGHT, Labelling(classes=range(5)), 255, CPU)
    whole = check_init_score(scores, N, 5)[labels.used][:, labels.present]
    for rows, start, of_rows in results:
        assert same_array(start, whole[rows]) and of_rows.tolist() == groups[labels.used][rows].tolist()
    assert sorted(np.concatenate([rows for rows, _, _ in results])) == list(range(len(whole)))


def test_scores_and_groups_may_be_absent():
    results = run_group(with_more, dealt(parts_of(X, Y, cuts=(5,))), [])
    assert all(result[1:] == (None, None) for result in results)


def test_scores_and_groups_of_some_partitions_are_refused():
    for name in ("init_score", "groups"):
        parts = [Part(0, X, Y, **{name: np.zeros((N, 5)) if name == "init_score" else Y}), Part(1, X, Y)]
        with pytest.raises(ValueError, match=f"partition 0 has {name}, but partition 1 has none"):
            run_group(with_more, dealt(parts), [])
    for fields, words in (
        ({"init_score": np.zeros((3, 5))}, r"init_score has shape \(3, 5\); pass \(40, 5\).*in partition 0"),
        ({"groups": np.zeros(3)}, r"groups has shape \(3,\); .* 40 rows. This is in partition 0"),
    ):
        with pytest.raises(ValueError, match=f"(?s){words}"):
            run_group(with_more, dealt([Part(0, X, Y, **fields)]), [])
    for groups, error, words in (
        ([Y * 0, Y * 0], ValueError, "groups holds one group only"),
        ([Y, NAMES[Y]], TypeError, "groups holds labels that cannot be compared"),
    ):
        with pytest.raises(error, match=words):
            run_group(with_more, dealt([Part(i, X, Y, groups=g) for i, g in enumerate(groups)]), [])
