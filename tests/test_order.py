"""Models do not depend on the order of the rows of the table."""

import numpy as np
import pandas as pd
import pytest
from cases import BOOSTERS, blobs, each
from scipy.sparse import csr_array
from twin import reference_engine

import simplexboost as sb
from simplexboost.engine import CPU
from simplexboost.engine.binned import SAMPLE_ROWS
from simplexboost.parts.learners import SklearnLearner
from simplexboost.tables.order import hashes_of, hashes_of_classes, order_of, sort_by_content
from simplexboost.tables.training_set import TrainingSet


def saved(clf, tmp_path):
    clf.save(tmp_path / "model.sb")
    return (tmp_path / "model.sb").read_bytes()


def take(table, places):
    return table.iloc[places] if hasattr(table, "iloc") else table[places]


def check(make, X, y, tmp_path, seed=0, **more):
    """The file is the same if rows, and all that belongs to them, come in another order."""
    places = np.random.default_rng(seed).permutation(len(y))
    moved = {name: take(values, places) for name, values in more.items()}
    expected = saved(make().fit(X, y, **more), tmp_path)
    assert saved(make().fit(take(X, places), y[places], **moved), tmp_path) == expected


@pytest.mark.parametrize(
    "options", [{}, {"subsample": 0.5, "max_features": 0.7}, {"early_stopping": True}], ids=["all", "some", "held out"]
)
@each("Booster", {**BOOSTERS, "SimplexBoostClassifier": sb.SimplexBoostClassifier})
def test_every_booster(Booster, options, tmp_path):
    X, y = blobs(n=150, p=4, missing=0.05)
    X[:40], y[:40] = X[40:80], y[40:80]  # some rows occur twice
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    check(lambda: Booster(n_estimators=6, random_state=0, **options), X, y, tmp_path, sample_weight=w)


@pytest.mark.parametrize("more", [{}, {"subsample": 0.5}, {"early_stopping": True}], ids=["all", "some", "held out"])
@pytest.mark.parametrize("name", ["SimplexBoostClassifier", "GDMCBoostClassifier"])
def test_classes_that_have_the_same_rows(name, more, tmp_path):
    """As where features have few values, which then occur with every class."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(200, 2)).astype(float), rng.integers(0, 3, 200)
    assert len({tuple(np.unique(X[y == k], axis=0).ravel()) for k in range(3)}) == 1
    check(lambda: getattr(sb, name)(n_estimators=4, random_state=0, **more), X, y, tmp_path)


def test_other_classifiers(tmp_path):
    X, y = blobs(n=120, p=4)
    for routing in ("exact", "sampled"):
        check(lambda r=routing: sb.MartiBoostClassifier(n_layers=8, routing=r, random_state=0), X, y % 2, tmp_path)
    check(lambda: sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=3), random_state=0), X, y, tmp_path)


def test_learners_of_others():
    """What scikit-learn does depends on the order of rows; it gets them in ours."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = blobs(n=90)
    places = np.random.default_rng(0).permutation(90)
    learner = SklearnLearner(DecisionTreeClassifier(max_depth=2, max_features=1))
    a, b = (sb.SAMMEClassifier(learner, n_estimators=5, random_state=0).fit(X[i], y[i]) for i in (slice(None), places))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_integers_of_32_bits(tmp_path):
    """Where statistics are rounded at random, by the places of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 16)).astype(np.float32)
    y = (X[:, :5] + rng.gumbel(size=(20_000, 5))).argmax(axis=1)
    check(lambda: sb.SimplexBoostClassifier(n_estimators=3, random_state=0), X, y, tmp_path)


def test_what_the_flagship_chooses(tmp_path):
    """Folds and the rows held out; with groups, too."""
    X, y = blobs(n=150, p=4)
    groups = np.array(list("abcdefghij"))[np.random.default_rng(2).integers(0, 10, 150)]
    X[:30], y[:30] = X[30:60], y[30:60]  # equal rows of different groups
    for more in ({}, {"groups": groups}):
        check(lambda: sb.SimplexBoostClassifier(learning_rate=0.5, random_state=0), X, y, tmp_path, **more)


def test_further_fields(tmp_path):
    X, y = blobs(n=120, p=4)
    rng = np.random.default_rng(3)
    scores, costs = rng.normal(size=(120, 3)), rng.uniform(size=(120, 3))
    check(lambda: sb.SimplexBoostClassifier(n_estimators=4, random_state=0), X, y, tmp_path, init_score=scores)
    check(lambda: sb.SoftmaxBoostClassifier(n_estimators=4, random_state=0), X, y, tmp_path, costs=costs)
    sets = (rng.random((120, 4)) < 0.4).astype(int)
    check(lambda: sb.AdaBoostMHClassifier(n_estimators=4, random_state=0), X, sets, tmp_path)


@pytest.mark.filterwarnings("ignore:column 'many' has")
def test_frames_with_categories(tmp_path):
    """Also where there are more categories than have a number of their own."""
    rng = np.random.default_rng(0)
    n = 900
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", None], n),
            "many": [f"c{k}" for k in rng.integers(0, 400, n)],
            "size": rng.normal(size=n),
        }
    )
    y = np.digitize(X["size"] + X["colour"].eq("red"), [-0.3, 0.8])
    check(lambda: sb.SimplexBoostClassifier(n_estimators=4, random_state=0), X, y, tmp_path)


def test_rows_that_go_on(tmp_path):
    """A model that is continued on the rows in yet another order is that of one long fit."""
    X, y = blobs(n=120, p=4)
    places = np.random.default_rng(5).permutation(120)
    for Booster in (sb.SimplexBoostClassifier, sb.AdaBoostMMClassifier, sb.LogitBoostClassifier):
        clf = Booster(n_estimators=4, subsample=0.7, random_state=0, warm_start=True).fit(X, y)
        clf.set_params(n_estimators=9).fit(X[places], y[places])
        whole = Booster(n_estimators=9, subsample=0.7, random_state=0).fit(X, y)
        assert saved(clf.set_params(warm_start=False), tmp_path) == saved(whole, tmp_path)


def test_both_zeros_are_one_number(tmp_path):
    """Also in a sparse table, which does not store them."""
    X, y = blobs(n=90, p=4)
    X = np.rint(X)
    assert np.signbit(X[X == 0]).any()
    for Booster in (sb.SimplexBoostClassifier, sb.SoftmaxBoostClassifier, sb.GDMCBoostClassifier):
        plain, signed, stored = (Booster(n_estimators=4, random_state=0).fit(Z, y) for Z in (X + 0.0, X, csr_array(X)))
        assert saved(signed, tmp_path) == saved(plain, tmp_path) == saved(stored, tmp_path)


# ---- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [CPU, reference_engine()], ids=["cpu", "reference"])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_edges_of_bins_come_from_the_same_sample(engine, form):
    rng = np.random.default_rng(0)
    n = SAMPLE_ROWS + 1000
    X, c = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    X[rng.random((n, 2)) < 0.7] = 0.0
    places = rng.permutation(n)
    a, b = (
        sort_by_content(TrainingSet(form(X[i]), c[i], np.ones(n), 2, 8, engine))[0].binned
        for i in (slice(None), places)
    )
    for f in range(2):
        np.testing.assert_array_equal(a.edges[f], b.edges[f])
        np.testing.assert_array_equal(a.column(f), b.column(f))


def test_all_that_belongs_to_rows_moves_with_them():
    X, c = blobs(n=40)
    rng = np.random.default_rng(1)
    w, costs, init = rng.uniform(size=40), rng.uniform(size=(40, 3)), rng.normal(size=(40, 3))
    given = TrainingSet(X, c, w, 3, costs=costs, init_score=init)
    data, groups = sort_by_content(given, np.arange(40))
    assert not np.array_equal(data.order, np.arange(40))
    np.testing.assert_array_equal(groups, data.order)
    for found, of in ((data.X, X), (data.c, c), (data.weight, w), (data.costs, costs), (data.init_score, init)):
        np.testing.assert_array_equal(found, of[data.order])
        np.testing.assert_array_equal(data.as_given(found), of)
        np.testing.assert_array_equal(data.in_order(of), found)
    some = data.sample(np.array([3, 5, 20]))
    np.testing.assert_array_equal(some.X, X[data.order[[3, 5, 20]]])
    np.testing.assert_array_equal(some.binned.column(0), data.binned.column(0)[[3, 5, 20]])
    np.testing.assert_array_equal(data.on(CPU).X, data.X)


def test_classes_are_known_by_their_rows():
    """Other names, weights and repetitions change neither the order of the classes nor, for names, that of the rows."""
    rng = np.random.default_rng(0)
    values, c, names = rng.integers(0, 2**63, 50).astype(np.uint64), rng.integers(0, 4, 50), np.array([2, 0, 3, 1])
    a, b = hashes_of_classes(values, c), hashes_of_classes(values, names[c])
    np.testing.assert_array_equal(a, b[names])
    np.testing.assert_array_equal(order_of(values, a, c), order_of(values, b, names[c]))
    rows = np.repeat(np.arange(50), rng.integers(1, 4, 50))
    np.testing.assert_array_equal(hashes_of_classes(values[rows], c[rows]), a)


@pytest.mark.parametrize(
    "Booster", [sb.SimplexBoostClassifier, sb.AdaBoostECCClassifier, sb.SoftmaxBoostClassifier, sb.SAMMEClassifier]
)
def test_other_names_of_the_classes_permute_the_outputs(Booster):
    """Also where something is drawn for every class."""
    X, y = blobs(n=150, p=4, K=5)
    names = np.array([3, 0, 4, 1, 2])
    w = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    a, b = (Booster(n_estimators=9, random_state=0).fit(X, c, sample_weight=w).predict_proba(X) for c in (y, names[y]))
    np.testing.assert_allclose(a, b[:, names], atol=1e-6)


def test_hashes_tell_rows_apart():
    """All rows of small integers, of which doubles differ in few bits only; and rows with their values swapped."""
    grid = np.array(np.meshgrid(*[np.arange(-3, 4)] * 5)).reshape(5, -1).T.astype(float)
    assert len(np.unique(hashes_of(grid, 0))) == len(grid)
    missing = np.where(grid == 2, np.nan, grid)
    assert len(np.unique(hashes_of(missing, 0))) == len(grid)
    assert (hashes_of(grid, 0)[1:] != hashes_of(grid, 1)[1:]).mean() > 0.99
