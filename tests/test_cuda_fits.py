"""Fits with `device="cuda"`, on the emulator and where there is a GPU: the same models as the processor's."""

from copy import copy

import numpy as np
import pytest
from cases import GPU_ENGINES, each
from cuda_emulator import EmulatedDevice
from gpu_cases import foreign, table

import simplexboost as sb
from benchmarks import gpu
from simplexboost import decide
from simplexboost.boosting import evaluation
from simplexboost.classifiers import booster, prediction
from simplexboost.engine import cuda, cuda_engine
from simplexboost.parts.codewords import Auto
from simplexboost.parts.learners import SketchTree
from simplexboost.parts.losses import Logistic
from simplexboost.parts.losses.objective import mean_loss
from simplexboost.parts.optimizers import SketchedNewton, sketched


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"subsample": 0.7, "max_features": 0.5},
        {"categorical_features": [3]},
        {"loss": "savage"},
        {"loss": Logistic(cost_matrix=1.0 + np.arange(16.0).reshape(4, 4) % 3 - np.eye(4))},
        {"growth": "level", "gain_noise": 1.0},
        {"growth": "symmetric", "max_depth": 4},
        {"codewords": Auto(2)},
        {"early_stopping": True},
        {"optimizer": SketchedNewton(sketch=2, max_step=None)},
        {"optimizer": SketchedNewton(init="prior"), "calibration": 0.8},
    ],
    ids=str,
)
def test_the_flagship_grows_the_same_trees(engine, parameters, on_gpu):
    X, y = table()
    on_gpu(engine)
    options = {"n_estimators": 6, "max_leaf_nodes": 7, "random_state": 0} | parameters
    weight = np.linspace(0.5, 2.0, len(y))
    gpu, cpu = (sb.SimplexBoostClassifier(device=d, **options).fit(X, y, weight) for d in ("cuda", "cpu"))
    assert [t.nodes.tobytes() for t in gpu.model_.trees] == [t.nodes.tobytes() for t in cpu.model_.trees]
    np.testing.assert_allclose(gpu.predict_proba(X), cpu.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(gpu.history_["risk"], cpu.history_["risk"], rtol=1e-6)
    np.testing.assert_allclose(gpu.history_["edge"], cpu.history_["edge"], rtol=1e-5)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("booster", [sb.SAMMEClassifier, sb.GDMCBoostClassifier, sb.AdaBoostMHClassifier])
def test_other_boosters_fit_the_same_model(engine, booster, on_gpu):
    """Their losses are computed on the host, and only trees on the device: nothing may differ."""
    X, y = table()
    on_gpu(engine)
    gpu, cpu = (booster(n_estimators=4, device=d).fit(X, y) for d in ("cuda", "cpu"))
    assert gpu.decision_function(X).tobytes() == cpu.decision_function(X).tobytes()


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    "parameters", [{"step": "line-search"}, {"learner__monotonic_cst": {1: [1, 0, 0, 0]}}], ids=str
)
def test_what_needs_leaf_values_at_once_waits_for_them(engine, parameters, on_gpu):
    """A step that looks along the outputs, and leaf values that are changed before they are used."""
    X, y = table()
    on_gpu(engine)
    parts = {"loss": "logistic", "codewords": "canonical", "learner": SketchTree(max_leaf_nodes=7), "step": "fixed"}
    fits = []
    for device in ("cuda", "cpu"):
        clf = sb.BoostingClassifier(**parts, optimizer="sketched-newton", n_estimators=4, random_state=0, device=device)
        fits.append(clf.set_params(**parameters).fit(X, y))
    np.testing.assert_allclose(fits[0].predict_proba(X), fits[1].predict_proba(X), atol=1e-6)
    assert fits[0].n_iter_ == 4


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    ("parameters", "where"),
    [
        ({}, "device"),
        ({"loss": "savage"}, "device"),
        ({"codewords": Auto(2)}, "host"),
        ({"learning_rate": 0.3}, "start"),
    ],
    ids=str,
)
def test_evaluated_rows_are_on_the_device(engine, parameters, where, on_gpu, monkeypatch):
    """With weights, a metric and a class that is not trained on; other codes and init_score keep rows on the host."""
    monkeypatch.setattr(cuda.device, "FEW_SCORES", 100)
    X, y = table()
    train, test, scores = y < 3, np.arange(200) % 3 == 0, np.random.default_rng(0).normal(size=(200, 3))
    weight = np.linspace(0.5, 2.0, 200)
    on_gpu(engine)
    if where == "device":
        monkeypatch.setattr(evaluation, "mean_loss", None)
    fits = []
    for device in ("cuda", "cpu"):
        if device == "cpu":
            monkeypatch.setattr(evaluation, "mean_loss", mean_loss)
        clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, device=device, **parameters)
        rows = {"X_val": X[test], "y_val": y[test], "sample_weight_val": weight[test]}
        if where == "start":
            rows |= {"init_score": scores[train], "init_score_val": scores[test]}
        fits.append(clf.fit(X[train], y[train], **rows, eval_metric="accuracy"))
    gpu, cpu = (clf.evals_result_[0] for clf in fits)
    np.testing.assert_allclose(gpu["risk"], cpu["risk"], rtol=1e-6)
    assert gpu["accuracy"].tolist() == cpu["accuracy"].tolist()


@each("engine", GPU_ENGINES)
def test_evaluated_rows_leave_the_device_after_the_fit(engine, on_gpu, monkeypatch):
    monkeypatch.setattr(cuda.device, "FEW_SCORES", 100)
    X, y = table()
    on_gpu(engine)
    where = []

    class Followed(evaluation.Evaluation):
        def after_round(self, run):
            super().after_round(run)
            where.append(engine.device.owns(self._F))

    held = Followed(X, y, np.ones(200))
    sb.SimplexBoostClassifier(n_estimators=2, callbacks=[held], device="cuda").fit(X, y)
    assert where == [True, True] and type(held._F) is np.ndarray and held._table is X


@each("engine", GPU_ENGINES)
def test_what_was_added_ahead_is_taken_back_if_the_round_is_refused(engine, on_gpu, monkeypatch):
    """Leaf values are added to F before the tree is looked at."""
    X, y = table()
    on_gpu(engine)
    edges = iter([0.5, 0.5, 0.0, 0.5, *[0.0] * 30])
    seen = []

    class Look(sb.boosting.Callback):
        def finish(self, run):
            seen.append((engine.device.to_host(run.F), run.recomputed()))

    options = {"n_estimators": 9, "max_leaf_nodes": 7, "random_state": 0, "device": "cuda", "callbacks": [Look()]}
    monkeypatch.setattr(sketched, "sketched_edge", lambda *_: next(edges))
    clf = sb.SimplexBoostClassifier(**options, subsample=0.8).fit(X, y)
    assert clf.n_iter_ == 3 and seen[0][0].tobytes() == seen[0][1].tobytes()


@each("engine", GPU_ENGINES)
def test_learners_of_others_may_change_leaf_values(engine, on_gpu):
    """Theirs are not added ahead."""
    X, y = table()
    on_gpu(engine)

    class Half(SketchTree):
        def constrain(self, values, grown, data):
            return 0.5 * np.asarray(values)

    parts = {"loss": "logistic", "codewords": "canonical", "step": "fixed", "optimizer": "sketched-newton"}
    fits = [
        sb.BoostingClassifier(**parts, learner=Half(max_leaf_nodes=7), n_estimators=3, random_state=0, device=d)
        for d in ("cuda", "cpu")
    ]
    P = [clf.fit(X, y).predict_proba(X) for clf in fits]
    np.testing.assert_allclose(P[0], P[1], atol=1e-6)


@each("engine", GPU_ENGINES)
def test_a_fit_goes_on_and_is_the_same_every_time(engine, on_gpu):
    X, y = table()
    on_gpu(engine)
    whole = [sb.SimplexBoostClassifier(n_estimators=6, random_state=0, device="cuda").fit(X, y) for _ in range(2)]
    part = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, device="cuda", warm_start=True).fit(X, y)
    part.set_params(n_estimators=6).fit(X, y)
    P = [clf.predict_proba(X) for clf in (*whole, part)]
    assert P[0].tobytes() == P[1].tobytes() == P[2].tobytes()


@pytest.mark.gxx
def test_files_are_those_of_ordinary_models(on_gpu, monkeypatch, tmp_path):
    """A model of a GPU is loaded, predicts and goes on without one; only fitting asks for it."""
    X, y = table()
    with monkeypatch.context() as patched:
        patched.setattr(booster, "check_gpu", lambda: None)
        patched.setattr(prediction, "has_gpu", lambda: True)
        patched.setattr(prediction, "cuda_engine", lambda n_threads: cuda_engine(n_threads, EmulatedDevice()))
        clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, device="cuda").fit(X, y)
        expected, P = clf.decision_function(X), clf.predict_proba(X)
    clf.save(tmp_path / "m.sb")
    monkeypatch.setattr(prediction, "has_gpu", lambda: False)
    loaded = sb.load(tmp_path / "m.sb")
    assert loaded.device == "cuda" and loaded._engine().device.is_host
    assert loaded.decision_function(X).tobytes() == expected.tobytes()
    np.testing.assert_allclose(loaded.predict_proba(X), P, rtol=1e-5)


def test_the_benchmark_prints_a_table(capsys):
    gpu.main(["--problems", "300x24x3", "--contestants", "simplexboost, processor", "--rounds", "6"])
    printed = capsys.readouterr().out
    assert "| simplexboost, processor | 6 |" in printed and "300x24x3 simplexboost, processor: " in printed


def test_seconds_to_an_accuracy():
    measured = gpu.Measured("ours", [0.1, 0.2, 0.3, 0.5], [0.5, 0.7, 0.6, 0.8])
    assert measured.seconds_to(0.65) == 0.2 and np.isnan(measured.seconds_to(0.9))
    assert measured.milliseconds == pytest.approx(150.0)


@each("engine", GPU_ENGINES)
def test_sets_and_costs_of_a_model_from_the_gpu(engine, on_gpu):
    """The choice scores the rows it holds out, and rows on the GPU get sets, decisions and probabilities."""
    on_gpu(engine)
    X, y = table(120, 3)
    options = {"random_state": 0, "n_estimators": 6, "calibration": True}
    clf = sb.SimplexBoostClassifier(device="cuda", **options).fit(X, y)
    local = sb.SimplexBoostClassifier(**options).fit(X, y)
    np.testing.assert_allclose(clf.set_scores_["score"], local.set_scores_["score"], atol=1e-3)
    np.testing.assert_array_equal(clf.class_prior_, local.class_prior_)
    there, costs = foreign(engine)(X), 1 - np.eye(3)
    np.testing.assert_array_equal(decide.predict_sets(clf, there, 0.95), decide.predict_sets(clf, X, 0.95))
    weight = 1.0 + np.arange(120) % 3
    scores = decide.calibrate_sets(clf, X, y, weight).set_scores_["score"]
    again = decide.calibrate_sets(clf, there, foreign(engine)(y), foreign(engine)(weight)).set_scores_["score"]
    np.testing.assert_array_equal(scores, again)
    np.testing.assert_array_equal(decide.predict(clf, there, costs=costs), decide.predict(clf, X, costs=costs))
    np.testing.assert_array_equal(
        decide.predict_proba(clf, there, prior=[1, 2, 3]), decide.predict_proba(clf, X, prior=[1, 2, 3])
    )


@each("engine", GPU_ENGINES)
def test_classes_come_and_go_on_the_device(engine, on_gpu):
    """Old scores stay bit for bit; the new classes are learned as well as on the processor."""
    on_gpu(engine)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 60)
    X = (3.0 * rng.normal(size=(5, 4)))[y] + rng.normal(size=(300, 4))
    old = y < 3
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0, device="cuda").fit(X[old], y[old])
    U = clf.class_scores(X)
    clf = sb.add_classes(clf, X, y, n_rounds=6)
    assert (clf.class_scores(X)[:, :3] == U).all() and clf.score(X, y) > 0.9
    P = clf.predict_proba(X)
    merged = sb.merge_classes(copy(clf), {3: [3, 4]})
    assert (merged.predict_proba(X)[:, 3] == P[:, 3] + P[:, 4]).all()
    assert (merged.predict(X) == merged.classes_[merged.predict_proba(X).argmax(axis=1)]).all()
    fewer = sb.drop_classes(clf, 0)
    assert (fewer.predict(X) == fewer.classes_[fewer.predict_proba(X).argmax(axis=1)]).all()
