"""Whole fits on the NumPy twin are those of the compiled engine."""

import numpy as np
import pytest
from cases import blobs
from twin import losses, reference_engine

import simplexboost as sb
from simplexboost.parts.codewords import Auto
from simplexboost.parts.losses import gamma_phi


def on_twin(kind):
    """The same estimator on the twin."""
    return type("On" + kind.__name__, (kind,), {"_engine": lambda self, n_rows=None: reference_engine()})


def fitted(kind, X, y, **parameters):
    """The estimator on the compiled engine and on the twin."""
    return kind(**parameters).fit(X, y), on_twin(kind)(**parameters).fit(X, y)


def node_bytes(model):
    return [tree.nodes.tobytes() + tree.category_sets.tobytes() for tree in model.trees]


@pytest.mark.parametrize("parameters", [{}, {"subsample": 0.7, "random_state": 0}])
def test_gdmcboost_is_the_same_bit_for_bit(parameters, monkeypatch):
    """Races, trees, steps and predictions."""
    X, y = blobs(n=150, p=4, K=4, missing=0.1)
    clf = sb.GDMCBoostClassifier(n_estimators=8, **parameters).fit(X, y)
    for name in ("race", "race_along"):
        monkeypatch.setattr(gamma_phi, name, getattr(losses, name))
    monkeypatch.setattr(gamma_phi, "_kernels", losses)
    twin = on_twin(sb.GDMCBoostClassifier)(n_estimators=8, **parameters).fit(X, y)
    assert node_bytes(clf.model_) == node_bytes(twin.model_)
    assert [term.step for term in clf.model_.terms] == [term.step for term in twin.model_.terms]
    assert clf.decision_function(X).tobytes() == twin.decision_function(X).tobytes()
    assert clf.history_["risk"].tolist() == twin.history_["risk"].tolist()


def test_a_forest_of_class_votes_is_the_same_bit_for_bit():
    """SAMME: class weights under the Gini score, which no other test of a fit asks for."""
    X, y = blobs(n=150, p=4, K=4, missing=0.1)
    clf, twin = fitted(sb.SAMMEClassifier, X, y, n_estimators=8)
    assert node_bytes(clf.model_) == node_bytes(twin.model_)
    assert clf.decision_function(X).tobytes() == twin.decision_function(X).tobytes()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"codewords": "simplex"},
        {"codewords": Auto(2)},
        {"loss": "savage"},
        {"subsample": 0.7},
        {"categorical_features": [3]},
    ],
    ids=str,
)
def test_simplexboost_grows_the_same_trees(parameters):
    """Gradients differ by single precision (1e-7), which no split of ten rounds is as close as; scores by 1e-5."""
    X, y = blobs(n=150, p=4, K=4)
    X[:, 3] = np.round(X[:, 3] * 2) - np.round(X[:, 3] * 2).min()  # ties, or categories
    clf, twin = fitted(sb.SimplexBoostClassifier, X, y, n_estimators=10, max_depth=3, random_state=0, **parameters)
    assert node_bytes(clf.model_) == node_bytes(twin.model_)
    np.testing.assert_allclose(twin.decision_function(X), clf.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(twin.predict_proba(X), clf.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(twin.history_["risk"], clf.history_["risk"], rtol=1e-5)


def test_many_classes_have_sparse_leaves_on_both_engines():
    X, y = blobs(n=400, p=5, K=40)
    clf, twin = fitted(sb.SimplexBoostClassifier, X, y, n_estimators=4, random_state=0)
    assert node_bytes(clf.model_) == node_bytes(twin.model_)
    np.testing.assert_allclose(twin.decision_function(X), clf.decision_function(X), atol=1e-4)
