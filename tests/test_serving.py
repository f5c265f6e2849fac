"""Few rows at a time: the short way from X to an answer gives what the long one gives, and refuses what it refuses."""

import numpy as np
import pandas as pd
import pytest
from cases import BOOSTERS, blobs
from export_cases import LABELS, case, numbers
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from simplexboost import decide
from simplexboost.classifiers import prediction
from simplexboost.decide.probabilities import find_highest
from simplexboost.tables import encoding


@pytest.fixture(scope="module")
def clf():
    return case("flagship").clf


def long_way(monkeypatch):
    """Let every X be looked at in full, and every prediction count the cores."""
    monkeypatch.setattr(encoding, "SMALL", -1)
    monkeypatch.setattr(prediction, "FEW", -1)


@pytest.mark.parametrize("name", ["flagship", "many classes", "low dimensions", "lines", "absent class", *BOOSTERS])
def test_one_row_is_predicted_like_many(name, monkeypatch):
    found = case(name)
    one = [found.clf.predict_proba(found.X[i : i + 1])[0] for i in range(20)]
    labels = [found.clf.predict(found.X[i : i + 1])[0] for i in range(20)]
    logarithms = [found.clf.predict_log_proba(found.X[i : i + 1])[0] for i in range(20)]
    assert (np.array(logarithms) == found.clf.predict_log_proba(found.X)[:20]).all()
    long_way(monkeypatch)
    assert (np.array(one) == found.clf.predict_proba(found.X)[:20]).all()
    assert labels == found.clf.predict(found.X)[:20].tolist()


def test_decisions_and_sums_of_one_row_are_those_of_many():
    """Expected costs, other shares, sets, nodes of a tree and merged classes: sums over twelve classes, to the bit."""
    X, c = blobs(300, 5, 12, seed=1)
    tree = sb.Hierarchy({"many": list(range(9)), "few": [9, 10, 11]})
    model = sb.SimplexBoostClassifier(n_estimators=10, classes=tree, random_state=0).fit(X, c)
    model = decide.calibrate_sets(model, X, c)
    merged = sb.merge_classes(sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, c), {0: list(range(9))})
    costs, prior = np.random.default_rng(0).random((12, 12)), np.arange(1.0, 13.0)
    asked = {
        "costs": lambda rows: decide.expected_costs(model, rows, costs),
        "costs of single rows": lambda rows: decide.expected_costs(model, rows, np.tile(costs, (len(rows), 1, 1))),
        "prior": lambda rows: decide.predict_proba(model, rows, prior=prior),
        "sets": lambda rows: decide.predict_sets(model, rows, 0.97),
        "nodes": lambda rows: decide.predict_proba_level(model, rows, 1),
        "merged": merged.predict_proba,
    }
    for name, ask in asked.items():
        whole = ask(X)
        assert (np.concatenate([ask(X[i : i + 1]) for i in range(300)]) == whole).all(), name
        assert (ask(X[100:107]) == whole[100:107]).all(), name


def test_every_form_of_a_row(clf, monkeypatch):
    X = numbers()[0][:5]
    forms = [
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
        X.tolist(),
        X.astype(">f8"),
        X.astype(object),
        np.ma.masked_invalid(X),
        np.nan_to_num(X).round().astype(int),
    ]
    short = [clf.predict_proba(form) for form in forms]
    long_way(monkeypatch)
    for form, P in zip(forms, short, strict=True):
        assert (clf.predict_proba(form) == P).all()


def test_the_short_way_is_taken(clf, monkeypatch):
    """Neither tables are looked for, nor cores counted."""

    def never(*arguments, **options):
        raise AssertionError

    X = numbers()[0][:1]
    clf.predict_proba(X)  # packs the forest
    monkeypatch.setattr(encoding, "read_table", never)
    monkeypatch.setattr(prediction, "thread_count", never)
    assert clf.predict_proba(X).shape == (1, 4)
    assert clf.predict(X).shape == (1,)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[0.0, np.inf, 0.0, 0.0]]), "X contains infinity: inf in column 1, row 0"),
        (np.array([[0.0, np.inf, -np.inf, 0.0]]), "X contains infinity"),
        (np.zeros((1, 3)), "X has 3 features, but SimplexBoostClassifier is expecting 4 features as input"),
        (np.zeros(4), "Expected 2D array, got 1D array instead"),
        (np.zeros((0, 4)), "Found array with 0 sample"),
        (np.array([["a", "b", "c", "d"]]), "could not convert string to float"),
        (np.zeros((1, 4), dtype=complex), "Complex data not supported"),
    ],
    ids=["infinity", "infinities", "columns", "one dimension", "no rows", "text", "complex"],
)
def test_wrong_rows_are_refused(clf, X, words):
    with pytest.raises(ValueError, match=words):
        clf.predict_proba(X)


def test_names_and_categories_are_still_looked_at():
    found = case("text and holes")
    row = found.X[:1]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        found.clf.predict_proba(row[row.columns[::-1]])
    X, c = numbers()
    named = sb.GDMCBoostClassifier(n_estimators=3).fit(pd.DataFrame(X, columns=list("abcd")), c)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict_proba(X[:1])


def test_unfitted_and_wrong_threads():
    X, c = numbers()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        sb.SimplexBoostClassifier().predict_proba(X[:1])
    clf = sb.SimplexBoostClassifier(n_estimators=3).fit(X, c).set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        clf.predict_proba(X[:1])
    with pytest.raises(TypeError, match="n_jobs='two'"):
        clf.set_params(n_jobs="two").predict_proba(X[:1])


def test_a_model_that_grows_is_packed_again():
    X, c = numbers()
    clf = sb.GDMCBoostClassifier(n_estimators=3, warm_start=True).fit(X, c)
    before = clf.predict_proba(X[:1])
    again = clf.set_params(n_estimators=6).fit(X, c).predict_proba(X[:1])
    assert (again != before).any()
    assert (again == sb.GDMCBoostClassifier(n_estimators=6).fit(X, c).predict_proba(X[:1])).all()


# ---- top_k ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flagship", "many classes", "absent class", "one class", "text and holes", "votes"])
@pytest.mark.parametrize("k", [1, 3, 4])
def test_top_k_are_the_most_probable(name, k, monkeypatch):
    found = case(name)
    monkeypatch.setattr(prediction, "CHUNK", 512)  # several blocks
    P = found.clf.predict_proba(found.X)
    order = np.argsort(-P, axis=1, kind="stable")[:, :k]
    labels, best = sb.decide.top_k(found.clf, found.X, k)
    assert labels.shape == best.shape == (len(P), k)
    assert (best == np.take_along_axis(P, order, axis=1)).all()
    assert (labels == found.clf.classes_[order]).all()


def test_ties_go_to_the_first_class():
    P = np.array([[0.2, 0.3, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.7, 0.1]])
    for k in range(1, 5):
        columns, values = find_highest(P, k)
        order = np.argsort(-P, axis=1, kind="stable")[:, :k]
        assert (columns == order).all()
        assert (values == np.take_along_axis(P, order, axis=1)).all()


def test_top_k_takes_rounds_and_initial_scores():
    X, c = numbers()
    start = np.random.default_rng(0).normal(size=(len(X), 4))
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, LABELS[c], init_score=start)
    clf = sb.keep_rounds(clf, 5)
    P = clf.predict_proba(X, init_score=start)
    labels, best = sb.decide.top_k(clf, X, 2, init_score=start)
    assert (best == -np.sort(-P, axis=1)[:, :2]).all()
    assert (labels[:, 0] == clf.predict(X, init_score=start)).all()


def test_wrong_k_is_refused(clf):
    X = numbers()[0]
    for k in (0, 5, 1.5, "two"):
        with pytest.raises((ValueError, TypeError), match="k="):
            sb.decide.top_k(clf, X, k)
    with pytest.raises(NotFittedError):
        sb.decide.top_k(sb.SimplexBoostClassifier(), X, 1)
    with pytest.raises(ValueError, match="fitted to several labels"):
        sb.decide.top_k(case("several labels, Hamming").clf, X, 1)
    with pytest.raises(ValueError, match="init_score"):
        sb.decide.top_k(clf, X, 1, init_score=np.zeros((len(X) + 1, 4)))


def test_top_k_needs_no_array_of_rows_times_classes():
    """Beside its answers it holds a block, whatever the number of rows."""
    import tracemalloc

    X, c = blobs(2400, 3, 300)
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0, max_leaf_nodes=8).fit(X, c)
    many = np.repeat(X, 20, axis=0)
    sb.decide.top_k(clf, X, 2)
    tracemalloc.start()
    sb.decide.top_k(clf, many, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * len(many) * 300 * 8
