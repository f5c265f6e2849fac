"""Boosters are their parts: the flagship built from parts is the flagship, and a constructor shows what it takes."""

from __future__ import annotations

import numpy as np
import pytest
from cases import BOOSTERS, CLASSIFIERS, blobs, each, training_set
from sklearn.base import clone

import simplexboost as sb
from simplexboost.engine import CPU, HostLoss
from simplexboost.parts.learners import SketchTree
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import GaussianSketch, SketchedNewton
from simplexboost.parts.optimizers.sketched import sketched_edge
from simplexboost.parts.steps import FixedStep
from simplexboost.persist.saving import pack

X, Y_TRUE = blobs(n=400, p=6, K=4, seed=3, missing=0.05)


def from_parts(**changed):
    """`SimplexBoostClassifier`, built from parts."""
    parts = {
        "loss": "logistic",
        "codewords": "canonical",
        "learner": "sketch-tree",
        "optimizer": "sketched-newton",
        "step": "fixed",
    }
    settings = {"learning_rate": 0.1, "max_features": "auto", "max_bins": "auto", "random_state": 0}
    return sb.BoostingClassifier(**{**parts, **settings, "n_estimators": 15, **changed})


def model_bytes(clf):
    """The arrays of a fitted booster as a file holds them."""
    _, arrays = pack(clf)
    return {name: values.tobytes() for name, values in arrays.items()}


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, {}),
        ({"codewords": "simplex"}, {"codewords": "simplex"}),
        ({"loss": "savage", "subsample": 0.7}, {"loss": "savage", "subsample": 0.7}),
        ({"optimizer": SketchedNewton(sketch=3)}, {"optimizer": SketchedNewton(GaussianSketch(3))}),
        ({"optimizer": SketchedNewton(max_step=0.5)}, {"optimizer": SketchedNewton(max_step=0.5)}),
    ],
    ids=["default", "simplex", "savage", "sketch", "max_step"],
)
def test_the_flagship_is_its_parts(options, parts):
    flagship = sb.SimplexBoostClassifier(n_estimators=15, random_state=0, **options).fit(X, Y_TRUE)
    composed = from_parts(**parts).fit(X, Y_TRUE)
    assert model_bytes(flagship) == model_bytes(composed)
    assert (flagship.predict_proba(X) == composed.predict_proba(X)).all()


def test_the_flagship_of_many_classes_is_its_parts():
    X, y = blobs(n=800, p=5, K=40, seed=1)
    flagship = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    composed = from_parts(n_estimators=5).fit(X, y)
    assert model_bytes(flagship) == model_bytes(composed)
    assert "columns" in model_bytes(composed)  # sparse leaves


def test_a_sketched_booster_comes_back_from_a_file(tmp_path):
    clf = from_parts(optimizer=SketchedNewton(GaussianSketch(2), max_step=1.0), n_estimators=4).fit(X, Y_TRUE)
    clf.save(tmp_path / "model.sb")
    again = sb.load(tmp_path / "model.sb")
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()
    assert repr(again.optimizer) == repr(clf.optimizer)


@pytest.mark.parametrize("classes", [None, [0, 1, 2, 3, 9]], ids=["all", "one absent"])
def test_probabilities_have_the_same_digits_however_they_are_asked_for(classes):
    flagship = sb.SimplexBoostClassifier(n_estimators=6, random_state=0, classes=classes).fit(X, Y_TRUE)
    P = flagship.predict_proba(X)
    by_object = clone(flagship).set_params(loss=Logistic()).fit(X, Y_TRUE)
    assert (by_object.predict_proba(X) == P).all()
    *_, last = flagship.staged_predict_proba(X)
    assert (last == P).all()
    assert (from_parts(n_estimators=6, classes=classes).fit(X, Y_TRUE).predict_proba(X) == P).all()
    assert (np.vstack([flagship.predict_proba(X[i : i + 7]) for i in range(0, len(X), 7)]) == P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)


def test_the_step_is_honoured():
    half = from_parts(n_estimators=1, step=FixedStep(0.5)).fit(X, Y_TRUE)
    whole = from_parts(n_estimators=1).fit(X, Y_TRUE)
    assert (2 * half.model_.predictor(X) == whole.model_.predictor(X)).all()
    searched = from_parts(n_estimators=3, step="line-search", learning_rate=1.0).fit(X, Y_TRUE)
    assert len(set(searched.history_["step"])) == 3
    # Along the first tree of its own, no other step lowers the risk more.
    first = from_parts(n_estimators=1, step="line-search", learning_rate=1.0).fit(X, Y_TRUE)
    for factor in (0.9, 1.1):
        other = from_parts(n_estimators=1, step=FixedStep(factor * first.history_["step"][0]), learning_rate=1.0)
        assert other.fit(X, Y_TRUE).history_["risk"][0] > first.history_["risk"][0]


@pytest.mark.parametrize("step", ["closed-form", "error"])
def test_a_step_that_does_not_suit_is_refused(step):
    with pytest.raises(TypeError, match="step="):
        from_parts(step=step).fit(X, Y_TRUE)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"loss": "exponential"}, ["sketched-newton", "loss=Exponential()"]),
        ({"learner": "stump"}, ["sketched-newton", "learner=Stump()"]),
        ({"optimizer": SketchedNewton(sketch=0)}, ["sketch=0"]),
        ({"optimizer": SketchedNewton(max_step=-1.0)}, ["max_step=-1.0"]),
    ],
)
def test_parts_that_do_not_go_together_name_themselves(changed, words):
    with pytest.raises((TypeError, ValueError)) as caught:
        from_parts(**changed).fit(X, Y_TRUE)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("rows", [None, np.arange(0, 400, 3)], ids=["all rows", "some rows"])
@pytest.mark.parametrize("s", [1, 3])
def test_edges_along_a_sketch(s, rows):
    """Σ⟨g, v⟩ / (Σ‖g‖ · max‖v‖) over the rows, where v is the Newton step of a row's leaf along the sketch."""
    rng = np.random.default_rng(s)
    data = training_set(X, Y_TRUE)
    g, h = rng.normal(size=(400, s)) + X[:, :1].clip(-1, 1), rng.uniform(0.1, 1.0, 400)
    g = np.nan_to_num(g)
    statistics = np.column_stack([g, h])
    learner = SketchTree(max_leaf_nodes=6).resolve(data)
    grown, l2 = learner.grow(data, statistics, rows, None, 0), learner.l2_for(data)
    loss = HostLoss()
    loss.compute = CPU.compute
    edge = sketched_edge(grown.leaf_sums, l2, loss.gradient_size(statistics, rows))
    used = np.arange(400) if rows is None else rows
    leaf = grown.leaf_of_row
    v = np.stack([g[used][leaf[used] == k].sum(0) / (h[used][leaf[used] == k].sum() + l2) for k in range(6)])
    expected = (g[used] * v[leaf[used]]).sum() / (
        np.linalg.norm(g[used], axis=1).sum() * np.linalg.norm(v, axis=1).max()
    )
    assert edge == pytest.approx(expected, rel=1e-10) and 0 < edge < 1


def test_edges_of_the_flagship_are_at_most_one():
    edge = sb.SimplexBoostClassifier(n_estimators=60, random_state=0).fit(X, Y_TRUE).history_["edge"]
    assert (edge > 0).all() and (edge <= 1).all()


@each("Booster", BOOSTERS)
def test_parameters_set_after_the_fit_change_no_prediction(Booster, tmp_path):
    clf = Booster(n_estimators=3).fit(X, Y_TRUE)
    before = clf.predict_proba(X), clf.decision_function(X), clf.predict(X)
    changes = {
        "loss": "savage",
        "learning_rate": 7.0,
        "codewords": "max-min",
        "learner": "stump",
        "cost_matrix": 5,
    }
    clf.set_params(**{name: value for name, value in changes.items() if name in clf.get_params(deep=False)})
    for then, now in zip(before, (clf.predict_proba(X), clf.decision_function(X), clf.predict(X)), strict=True):
        assert (then == now).all()


def test_a_model_saved_after_its_parameters_were_changed_predicts_as_it_was_fitted(tmp_path):
    clf = sb.GDMCBoostClassifier(loss="savage", n_estimators=4).fit(X, Y_TRUE)
    P = clf.predict_proba(X)
    clf.set_params(loss="exponential").save(tmp_path / "model.sb")
    assert (sb.load(tmp_path / "model.sb").predict_proba(X) == P).all()


@each("Classifier", CLASSIFIERS)
def test_a_constructor_shows_what_it_takes_and_nothing_else(Classifier):
    clf = Classifier()
    parameters = clf.get_params(deep=False)
    assert set(vars(clf)) == set(parameters)  # no field that the constructor does not take
    assert clone(clf).get_params(deep=False).keys() == parameters.keys()
    assert repr(clf) == f"{Classifier.__name__}()"
    decoys = {"loss", "codewords", "learner", "optimizer", "step"} - set(parameters)
    assert not any(hasattr(clf, name) for name in decoys)
