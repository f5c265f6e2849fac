"""Labels of tied scores: every route predicts the first of the tied classes, as the classifier does."""

import numpy as np
import pytest
from test_export_categories import ROUTES

import simplexboost as sb
from simplexboost.cli.scoring import predict_rows
from simplexboost.parts.codewords import Auto


def fitted(seed, **params):
    """A classifier of one round in fewer dimensions than classes, and its training rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=400)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    X[:, 0] += y
    params = {"n_estimators": 1, "codewords": Auto(4), "learning_rate": 0.3, "random_state": seed} | params
    return sb.SimplexBoostClassifier(**params).fit(X, np.array(["e", "d", "c", "b", "a"])[y]), X


TIED = {
    "few dimensions": lambda: [fitted(seed) for seed in (10, 13, 15, 25, 31)],
    "an absent class": lambda: [fitted(seed, classes=["a", "aa", "b", "c", "d", "e"]) for seed in (10, 31)],
}


def n_tied(clf, X):
    """How many rows have two best scores that differ by rounding at most."""
    U = np.sort(clf.class_scores(X), axis=1)
    return int((U[:, -1] - U[:, -2] <= 1e-6 * np.abs(U[:, -1])).sum())


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize("route", [route for route in ROUTES if route.id != "treelite"])  # which has no labels
def test_tied_labels_are_those_of_the_classifier(route, name, tmp_path):
    tied = 0
    for number, (clf, X) in enumerate(TIED[name]()):
        folder = tmp_path / str(number)
        folder.mkdir()
        labels, _ = route(clf, X, folder)
        assert (labels == clf.predict(X)).all()
        tied += n_tied(clf, X)
    assert tied >= 10


def test_the_first_of_tied_classes_is_predicted():
    """That of the highest probability, whichever of the tied scores rounding has put ahead."""
    clf, X = fitted(10)
    U, P = clf.class_scores(X), clf.predict_proba(X)
    assert n_tied(clf, X) >= 10
    assert (clf.predict(X) == clf.classes_[(P >= P.max(axis=1, keepdims=True) * (1 - 1e-6)).argmax(axis=1)]).all()
    assert (clf.classes_[U.argmax(axis=1)] != clf.predict(X)).any()
    assert (clf.predict(X) == list(clf.staged_predict(X))[-1]).all()


def test_the_command_line_predicts_the_same_of_tied_classes():
    for clf, X in (fitted(13), fitted(31)):
        assert (clf.classes_[predict_rows(clf, X)[0]] == clf.predict(X)).all()
