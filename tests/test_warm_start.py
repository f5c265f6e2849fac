"""A model that goes on must meet the columns it was trained on: their number, names and categories."""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import simplexboost as sb
from simplexboost.boosting import Checkpoint

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 4)), RNG.integers(0, 3, 300)
FRAME = pd.DataFrame(X, columns=list("abcd"))
CITIES = np.array(["bonn", "cork", "dover", "essen"])
CITY = RNG.integers(0, 4, 300)
TABLE = pd.DataFrame({"city": CITIES[CITY], "size": X[:, 0]})
LIVES_IN = CITY % 3

BOOSTERS = [sb.SimplexBoostClassifier, sb.GDMCBoostClassifier, sb.SAMMEClassifier]


def fitted(Estimator, X, y, **options):
    clf = Estimator(n_estimators=5, warm_start=True, random_state=0, **options).fit(X, y)
    return clf.set_params(n_estimators=10)


def refuses(clf, X, y, message):
    """Fit fails with this message, and the estimator is as it was."""
    before = dict(vars(clf))
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert vars(clf).keys() == before.keys() and all(vars(clf)[name] is before[name] for name in before)


@pytest.mark.parametrize("Estimator", BOOSTERS)
@pytest.mark.parametrize("other", [X[:, :1], np.column_stack([X, X]), X[:, :1].tolist()])
def test_another_number_of_features_is_refused(Estimator, other):
    """Trees of the fitted model would read past the end of the rows."""
    refuses(fitted(Estimator, X, Y), other, Y, "features, but .* is expecting 4 features")


@pytest.mark.parametrize("Estimator", BOOSTERS)
@pytest.mark.parametrize("names", [["b", "a", "c", "d"], ["a", "b", "c", "e"], ["a", "b", "c"]])
def test_other_names_are_refused(Estimator, names):
    refuses(fitted(Estimator, FRAME, Y), FRAME.assign(e=0.0)[names], Y, "feature names")


@pytest.mark.parametrize("given", [X[0], 3.0, X[None]])
def test_what_is_no_table_is_refused(given):
    refuses(fitted(sb.SimplexBoostClassifier, X, Y), given, Y, "features|2D|dim")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # as in predict
def test_names_are_kept_where_an_array_follows_a_frame():
    clf = fitted(sb.SimplexBoostClassifier, FRAME, Y).fit(X, Y)
    assert clf.n_iter_ == 10 and clf.feature_names_in_.tolist() == list("abcd")


def test_swapped_columns_of_a_table_with_categories_are_refused_for_their_names():
    refuses(fitted(sb.SimplexBoostClassifier, TABLE, LIVES_IN), TABLE[["size", "city"]], LIVES_IN, "same order")


@pytest.mark.parametrize("Estimator", BOOSTERS)
@pytest.mark.parametrize("load", [False, True])
def test_new_categories_get_numbers_after_the_old_ones(Estimator, load, tmp_path):
    """The first batch has two cities, the second two others and one of the old; in the end all are known."""
    first, second = CITY > 1, CITY < 3
    y = (CITY + (np.arange(300) % 30 == 0)) % 2  # a few labels are wrong, so that boosting does not stop early
    clf = Estimator(n_estimators=10, warm_start=True, random_state=0).fit(TABLE[first], y[first])
    if load:
        clf.save(tmp_path / "model.sb")
        clf = sb.load(tmp_path / "model.sb")
    before = clf.decision_function(TABLE[first])
    assert clf.score(TABLE[first], y[first]) > 0.9 and clf.n_iter_ == 10
    clf.set_params(n_estimators=30).fit(TABLE[second], y[second])
    assert clf.categories_.columns[0].tolist() == ["dover", "essen", "bonn", "cork"]
    assert (list(clf.staged_decision_function(TABLE[first]))[9] == before).all()
    assert clf.score(TABLE[second], y[second]) > 0.9


def test_new_categories_of_arrays():
    array = np.column_stack([CITY, X[:, 0]])
    clf = fitted(sb.SimplexBoostClassifier, array, LIVES_IN, categorical_features=[0])
    clf.fit(np.column_stack([CITY - 1, X[:, 0]]), LIVES_IN)
    assert clf.categories_.columns[0].tolist() == [0.0, 1.0, 2.0, 3.0, -1.0]


def test_a_second_batch_without_a_category_keeps_the_accuracy():
    """It renumbered the categories once: accuracy fell from 1 to 0."""
    city = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300)]
    frame, y = pd.DataFrame({"city": city}), city
    clf = fitted(sb.SimplexBoostClassifier, frame, y)
    assert clf.score(frame, y) == 1.0
    rest = (city != "a") | (np.arange(300) % 50 == 0)
    clf.fit(frame.assign(city=frame.city.mask(city == "a"))[rest], y[rest])
    assert clf.score(frame[city != "a"], y[city != "a"]) == 1.0


@pytest.mark.parametrize(
    ("first", "second", "kept", "message"),
    [
        (250, 300, 253, "column 'city' has 300 categories.* the 3 most frequent new ones"),
        (254, 300, 254, "column 'city' has 300 categories.*new ones are treated as missing"),
        (300, 400, 253, None),
    ],
)
def test_new_categories_as_long_as_there_is_room(first, second, kept, message):
    def batch(n_categories):
        name = np.array([f"{i:03d}x" for i in range(n_categories)])[np.arange(1200) % n_categories]
        return pd.DataFrame({"city": name, "size": np.arange(1200) % 2.0})

    y = np.arange(1200) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        clf = fitted(sb.SimplexBoostClassifier, batch(first), y)
    old = clf.categories_.columns[0].tolist()
    with pytest.warns(UserWarning, match=message) if message else nullcontext():
        clf.fit(batch(second), y)
    assert clf.categories_.columns[0].tolist()[: len(old)] == old and len(clf.categories_.columns[0]) == kept
    assert clf.score(batch(second), y) == 1.0


def test_a_checkpoint_goes_on_with_new_categories(tmp_path):
    path = tmp_path / "model.sb"
    first = CITY < 3
    clf = sb.SimplexBoostClassifier(n_estimators=6, random_state=0, callbacks=[Checkpoint(path, 5)])
    clf.fit(TABLE[first], LIVES_IN[first])
    clf = sb.load(path).set_params(warm_start=True, n_estimators=20).fit(TABLE, LIVES_IN)
    assert clf.categories_.columns[0].tolist() == CITIES.tolist() and clf.score(TABLE, LIVES_IN) == 1.0


@pytest.mark.parametrize("load", [False, True])
def test_old_categories_keep_their_numbers(load, tmp_path):
    """A table without the first city: the model as it was still knows the others, and what it learns more is right."""
    clf = fitted(sb.SimplexBoostClassifier, TABLE, LIVES_IN)
    if load:
        clf.save(tmp_path / "model.sb")
        clf = sb.load(tmp_path / "model.sb").set_params(n_estimators=10)
    before = clf.decision_function(TABLE)
    rest = (CITY > 0) | (np.arange(300) % 7 == 0)
    shown = TABLE.assign(city=TABLE.city.where(CITY > 0, None))  # its rows are there, without the name
    clf.fit(shown[rest], LIVES_IN[rest])
    assert clf.categories_.columns[0].tolist() == CITIES.tolist()
    assert (list(clf.staged_decision_function(TABLE))[4] == before).all()
    assert clf.score(TABLE[CITY > 0], LIVES_IN[CITY > 0]) == 1.0


def test_new_categories_join_those_that_share_a_number():
    many = np.column_stack([np.arange(3000) % 300, RNG.normal(size=3000)])
    y = (many[:, 1] > 0).astype(int)
    with pytest.warns(UserWarning, match="300 categories"):
        clf = fitted(sb.SimplexBoostClassifier, many, y, categorical_features=[0])
    many[:5, 0] = 1000.0
    assert clf.fit(many, y).n_iter_ == 10


@pytest.mark.parametrize("wanted", [None, [1], [0, 1]])
def test_other_categorical_columns_are_refused(wanted):
    data = np.column_stack([CITY, CITY])
    clf = fitted(sb.SimplexBoostClassifier, data, LIVES_IN, categorical_features=[0])
    message = r"needs its categorical columns, \[0\]; with"
    refuses(clf.set_params(categorical_features=wanted), data, LIVES_IN, message)


def test_without_warm_start_columns_may_change():
    clf = sb.SimplexBoostClassifier(n_estimators=3).fit(TABLE, LIVES_IN)
    clf.fit(X, Y)
    assert clf.n_features_in_ == 4 and clf.categories_ is None and not hasattr(clf, "feature_names_in_")
