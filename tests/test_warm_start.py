"""A model that goes on must meet the columns it was trained on: their number, names and categories."""

import numpy as np
import pandas as pd
import pytest

import simplexboost as sb

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


def test_new_categories_are_refused():
    clf = fitted(sb.SimplexBoostClassifier, TABLE, LIVES_IN)
    more = TABLE.assign(city=TABLE.city.replace("essen", "athens"))
    refuses(clf, more, LIVES_IN, r"column 'city' has others: \['athens'\]")
    array = fitted(sb.SimplexBoostClassifier, np.column_stack([CITY, X[:, 0]]), LIVES_IN, categorical_features=[0])
    refuses(array, np.column_stack([CITY - 1, X[:, 0]]), LIVES_IN, r"column 0 has others: \[-1.0\]")


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
    clf = fitted(sb.SimplexBoostClassifier, many, y, categorical_features=[0])
    many[:5, 0] = 1000.0
    assert clf.fit(many, y).n_iter_ == 10


@pytest.mark.parametrize("wanted", [None, [1], [0, 1]])
def test_other_categorical_columns_are_refused(wanted):
    data = np.column_stack([CITY, CITY])
    clf = fitted(sb.SimplexBoostClassifier, data, LIVES_IN, categorical_features=[0])
    message = r"categorical columns of the fitted model, \[0\]"
    refuses(clf.set_params(categorical_features=wanted), data, LIVES_IN, message)


def test_without_warm_start_columns_may_change():
    clf = sb.SimplexBoostClassifier(n_estimators=3).fit(TABLE, LIVES_IN)
    clf.fit(X, Y)
    assert clf.n_features_in_ == 4 and clf.categories_ is None and not hasattr(clf, "feature_names_in_")
