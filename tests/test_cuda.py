"""The engine for GPUs: fits with `device="cuda"`, on the emulator and where there is a GPU, and what it refuses."""

import contextlib
import ctypes
import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import GPU_ENGINES, blobs, each, sparse_rows
from cuda_emulator import EmulatedDevice, ForeignArray, library
from engine_cases import assert_same_tree, draw_values, large_problem, row_problem
from scipy.sparse import csr_array, hstack

import simplexboost as sb
from benchmarks import gpu
from simplexboost.boosting.hypotheses import TreeHypothesis
from simplexboost.callbacks import evaluation
from simplexboost.data import order
from simplexboost.data.training_set import TrainingSet
from simplexboost.engine import (
    CpuEngine,
    CudaEngine,
    Dense,
    DeviceError,
    FitSize,
    Growth,
    LeafRule,
    binned,
    check_gpu,
    cuda,
    has_gpu,
)
from simplexboost.engine.cuda import binning, copying, explaining, growing, layout, trees
from simplexboost.engine.cuda import device as devices
from simplexboost.engine.cuda.memory import fit_bytes
from simplexboost.estimators import booster, predicting
from simplexboost.explain import shapley
from simplexboost.learners import Answer, SketchTree
from simplexboost.losses.objective import mean_loss
from simplexboost.optimizers.sketched import SketchedNewton


@pytest.fixture
def on_gpu(monkeypatch):
    """A function that lets `device="cuda"` mean this engine."""

    def use(engine):
        monkeypatch.setattr(booster, "check_gpu", lambda: None)
        monkeypatch.setattr(predicting, "has_gpu", lambda: True)
        monkeypatch.setattr(predicting, "CudaEngine", lambda n_threads: engine)

    return use


def table(n=200, K=4):
    """Numbers, some missing, and a column of categories."""
    X, y = blobs(n=n, p=4, K=K, missing=0.05)
    X[:, 3] = np.nan_to_num(np.abs(np.round(X[:, 3])))
    return X, y


# ---- fits -----------------------------------------------------------------------------------------------------------


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"subsample": 0.7, "max_features": 0.5},
        {"categorical_features": [3]},
        {"loss": "savage"},
        {"cost_matrix": 1.0 + np.arange(16.0).reshape(4, 4) % 3 - np.eye(4)},
        {"growth": "level", "gain_noise": 1.0},
        {"growth": "symmetric", "max_depth": 4},
        {"code_dim": 2},
        {"early_stopping": True},
        {"max_step": None, "sketch": 2},
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
    [({}, "device"), ({"loss": "savage"}, "device"), ({"code_dim": 2}, "host"), ({"learning_rate": 0.3}, "start")],
    ids=str,
)
def test_evaluated_rows_are_on_the_device(engine, parameters, where, on_gpu, monkeypatch):
    """With weights, a metric and a class that is not trained on; other codes and init_score keep rows on the host."""
    monkeypatch.setattr(cuda, "FEW_SCORES", 100)
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
        start, of_test = (scores[train], [scores[test]]) if where == "start" else (None, [])
        sets = [(X[test], y[test], weight[test], *of_test)]
        fits.append(clf.fit(X[train], y[train], eval_set=sets, eval_metric="accuracy", init_score=start))
    gpu, cpu = (clf.evals_result_[0] for clf in fits)
    np.testing.assert_allclose(gpu["risk"], cpu["risk"], rtol=1e-6)
    assert gpu["accuracy"].tolist() == cpu["accuracy"].tolist()


@each("engine", GPU_ENGINES)
def test_evaluated_rows_leave_the_device_after_the_fit(engine, on_gpu, monkeypatch):
    monkeypatch.setattr(cuda, "FEW_SCORES", 100)
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

    class Look(sb.callbacks.Callback):
        def finish(self, run):
            seen.append((engine.host(run.F), run.recomputed()))

    options = {"n_estimators": 9, "max_leaf_nodes": 7, "random_state": 0, "device": "cuda", "callbacks": [Look()]}
    monkeypatch.setattr(SketchTree, "sketched_edge", lambda *_: next(edges))
    clf = sb.SimplexBoostClassifier(**options, subsample=0.8).fit(X, y)
    assert clf.n_iter_ == 3 and seen[0][0].tobytes() == seen[0][1].tobytes()


@each("engine", GPU_ENGINES)
def test_learners_of_others_may_change_leaf_values(engine, on_gpu):
    """So theirs are not added ahead."""
    X, y = table()
    on_gpu(engine)

    class Half(SketchTree):
        def fit(self, request):
            answer = super().fit(request)
            values = 0.5 * np.asarray(answer.compact.values)
            outputs = replace(answer.compact, values=values)
            return Answer(TreeHypothesis(answer.hypothesis.tree, values), outputs, edge=answer.edge)

    parts = {"loss": "logistic", "codewords": "canonical", "step": "fixed", "optimizer": "sketched-newton"}
    fits = [
        sb.BoostingClassifier(**parts, learner=Half(max_leaf_nodes=7), n_estimators=3, random_state=0, device=d)
        for d in ("cuda", "cpu")
    ]
    P = [clf.fit(X, y).predict_proba(X) for clf in fits]
    np.testing.assert_allclose(P[0], P[1], atol=1e-6)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("s", [1, 3])
@pytest.mark.parametrize("rows", [None, np.arange(1, 300, 3)], ids=["all rows", "some rows"])
def test_totals_of_a_pull(engine, s, rows):
    """The kernel's sums, which are begun with the leaves of a tree that is growing, and those of CuPy or NumPy."""
    problem, F, Z = row_problem(5, None, weighted=True)
    work = engine.row_loss(problem)
    F = work.home(F)
    statistics = work.pull(F, np.ascontiguousarray(Z[:, :s]))
    later = work.gradient_size(statistics, rows, engine)
    data = engine.bin(np.random.default_rng(0).normal(size=(300, 3)))
    grown = engine.grow(data, Dense(statistics), "newton", Growth(max_leaf_nodes=5, order="best"), rows=rows)
    values = work.leaves_of(F, grown, rows, LeafRule(1.0, 2.0))
    g = engine.host(statistics)[slice(None) if rows is None else rows, :-1]
    size = np.linalg.norm(g, axis=1).sum()
    assert later == pytest.approx(size) and work.gradient_size(statistics, rows, engine) == pytest.approx(size)
    assert work.risk() == pytest.approx(np.average(engine.host(work.loss), weights=problem.weight))
    assert len(values) == 5 and np.asarray(values).shape == (5, 5) and np.abs(np.asarray(values)).max() <= values.bound


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("expected", [0, 10**6])
def test_thin_leaves_come_as_pairs(engine, expected):
    """However many of them were expected: leaf values that are zero stay on the device."""
    problem, F, Z = row_problem(40, None, n=300)
    work = engine.row_loss(problem)
    F, work._expected[0] = work.home(F), expected
    data = engine.bin(np.random.default_rng(0).normal(size=(300, 3)))
    growth = Growth(max_leaf_nodes=7, order="best")
    grown = engine.grow(data, Dense(work.pull(F, np.ascontiguousarray(Z[:, :1]))), "newton", growth)
    values = work.leaves_of(F, grown, None, LeafRule(1.0, 2.0, 0.3))
    assert values.sparse.toarray().tobytes() == np.asarray(values).tobytes()
    assert values.sparse.shape == (7, 40) and 0 < values.sparse.nnz == np.count_nonzero(np.asarray(values)) < 280
    assert work._expected[0] < 2000


@each("engine", GPU_ENGINES)
def test_a_fit_goes_on_and_is_the_same_every_time(engine, on_gpu):
    X, y = table()
    on_gpu(engine)
    whole = [sb.SimplexBoostClassifier(n_estimators=6, random_state=0, device="cuda").fit(X, y) for _ in range(2)]
    part = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, device="cuda", warm_start=True).fit(X, y)
    part.set_params(n_estimators=6).fit(X, y)
    P = [clf.predict_proba(X) for clf in (*whole, part)]
    assert P[0].tobytes() == P[1].tobytes() == P[2].tobytes()


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("K", [2, 3, 40])
def test_probabilities_and_labels_are_made_where_the_scores_are(engine, K, on_gpu, monkeypatch):
    """In blocks of rows; ties go to the first class, and no probability is zero."""
    monkeypatch.setattr("simplexboost.engine.cuda.forest.PART", 4000)
    X, y = blobs(n=300, p=4, K=K, missing=0.05)
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=12, learning_rate=30.0, random_state=0, max_leaf_nodes=5).fit(X, y)
    model, P, best = clf.model_, np.empty((300, K)), np.empty(300, dtype=np.int32)
    assert model.probabilities(X, P, engine) and model.winners(X, best, engine)
    np.testing.assert_allclose(P, clf.predict_proba(X), rtol=1e-5, atol=1e-37)  # below, single precision has few digits
    assert P.min() > 0 and np.array_equal(clf.classes_[best], clf.predict(X))
    clf.set_params(device="cuda")
    assert clf.predict_proba(X).tobytes() == P.tobytes() and np.array_equal(clf.predict(X), clf.classes_[best])


@each("engine", GPU_ENGINES)
def test_predictions_of_classes_that_are_absent_or_start_somewhere(engine, on_gpu):
    X, y = table()
    on_gpu(engine)
    options = {"n_estimators": 12, "random_state": 0, "classes": [0, 1, 2, 3, 7]}
    gpu, cpu = (sb.SimplexBoostClassifier(device=device, **options).fit(X, y) for device in ("cuda", "cpu"))
    start = np.random.default_rng(0).normal(size=(len(X), 5)) * 3
    for how in ({}, {"init_score": start}, {"n_rounds": 9}):
        assert np.array_equal(gpu.predict(X, **how), cpu.predict(X, **how))
        np.testing.assert_allclose(gpu.predict_proba(X, **how), cpu.predict_proba(X, **how), atol=1e-6)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("names", [None, ["a", "b", "c"]], ids=["numbers", "text"])
def test_rows_on_the_device_are_predicted_there(engine, names, on_gpu):
    """Labels that are text come back on the host."""
    X, y = blobs(n=200, p=4, K=3)
    y = y if names is None else np.array(names)[y]
    on_gpu(engine)
    there = engine.device.upload(X)
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, device="cuda").fit(there, y)
    P, labels = clf.predict_proba(there), clf.predict(there)
    assert engine.device.owns(P) and engine.device.owns(labels) == (names is None)
    assert engine.host(P).tobytes() == clf.predict_proba(X).tobytes()
    assert np.array_equal(engine.host(labels), clf.predict(X))
    assert clf.decision_function(there).tobytes() == clf.decision_function(X).tobytes()
    assert clf.predict(engine.device.upload(X[:5].astype(np.int64))).shape == (5,)
    for wrong, message in (
        (X[:, :3], "X has 3 features"),
        (X[0], "rows and columns"),
        (X + np.inf, r"infinity: inf in column 0, row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.predict(engine.device.upload(wrong))


def without_its_values(monkeypatch):
    """Let tables on the device refuse to be copied to the host."""

    def refuse(self):
        raise AssertionError("the table was copied to the host")

    monkeypatch.setattr(binning.DeviceTable, "host", property(refuse))
    monkeypatch.setattr(binning.DeviceCodes, "host", property(refuse))


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_on_the_device_are_binned_there(engine, dtype, monkeypatch):
    """With the bins of the processor: edges from some of the rows, ties, values beyond them, missing values."""
    monkeypatch.setattr(binned, "SAMPLE_ROWS", 150)
    X = draw_values(np.random.default_rng(0), 400, 11, missing=0.1).astype(dtype)
    X[:, 4] = 7.0
    X[:, 5] = np.random.default_rng(1).normal(size=400) * 1e30
    X[:, :2] = np.nan_to_num(X[:, :2])
    expected, table = CpuEngine().bin(X, 60), binning.DeviceTable.of(engine.device.upload(X), engine.device)
    found = engine.bin(table, 60)
    assert [e.tolist() for e in found.edges] == [e.tolist() for e in expected.edges]
    assert found.has_missing.tolist() == expected.has_missing.tolist()
    assert np.asarray(found.codes).tobytes() == expected.codes.tobytes() and found.n == 400
    assert found.column(3).tolist() == expected.column(3).tolist()
    assert np.array_equal(np.asarray(table), X, equal_nan=True)


@each("engine", GPU_ENGINES)
def test_fits_to_rows_on_the_device_need_no_copy(engine, on_gpu, monkeypatch):
    X, y = blobs(n=200, p=4, K=3, missing=0.05)
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=6, random_state=0, device="cuda", subsample=0.7)
    expected = clf.fit(X, y).predict_proba(X)
    without_its_values(monkeypatch)
    found = clf.fit(engine.device.upload(X), engine.device.upload(y)).predict_proba(X)
    assert found.tobytes() == expected.tobytes() and clf.n_features_in_ == 4
    masked, missing = np.ma.masked_array(y, mask=np.arange(200) == 7), np.array([None, *"ab" * 99, "a"], dtype=object)
    for labels, message in (
        (y[:-1], "inconsistent numbers of samples"),
        (masked, "y has 1 masked entries"),
        (missing, "the label of row 0 is missing"),
        (y * 1j, "y holds complex numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(engine.device.upload(X), labels)
    wrong_place = np.where(np.arange(800).reshape(200, 4) % 131 == 130, -np.inf, X)
    for wrong, message in (
        (X[0], "rows and columns"),
        (X[:, :0], "at least one of each"),
        (X * 1j, "real numbers; its type is complex128"),
        (wrong_place, "infinity: -inf in column 2, row 32"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(engine.device.upload(wrong), y)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    "parameters",
    [
        {"early_stopping": True, "n_estimators": 6},
        {"n_estimators": 6, "growth": "symmetric"},
        {"n_estimators": 6, "categorical_features": [3]},
        {"n_estimators": 6, "callbacks": []},
    ],
    ids=str,
)
def test_fits_to_rows_on_the_device_that_need_a_copy_make_it(engine, parameters, on_gpu):
    X, y = table()
    on_gpu(engine)
    weight = np.arange(len(y)) % 5  # some rows are left out
    clf = sb.SimplexBoostClassifier(random_state=0, device="cuda", **parameters)
    expected = clf.fit(X, y, sample_weight=weight).predict_proba(X)
    found = clf.fit(engine.device.upload(X), y, sample_weight=weight).predict_proba(X)
    assert found.tobytes() == expected.tobytes()


def foreign(engine):
    """What makes arrays of another library on the engine's device, which NumPy cannot read."""
    return ForeignArray if isinstance(engine.device, EmulatedDevice) else engine.device.upload


@each("engine", GPU_ENGINES)
def test_all_that_belongs_to_rows_may_be_on_the_device(engine, on_gpu):
    """Labels, weights, scores to start from, groups, and those of evaluated rows; in `score` and `margins`, too."""
    X, y = blobs(n=120, p=4, K=3, missing=0.05)
    on_gpu(engine)
    there, weight, start = foreign(engine), 1.0 + np.arange(120) % 3, np.random.default_rng(0).normal(size=(120, 3))
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, device="cuda")

    def fitted(of):
        entry = tuple(map(of, (X, y, weight, start)))
        clf.fit(*entry[:3], eval_set=[entry], init_score=entry[3], groups=of(y))
        scores = clf.score(*entry[:2]), clf.score(*entry[:3])
        P = clf.predict_proba(entry[0], init_score=entry[3])
        P = P if of is np.asarray else engine.host(engine.take(P))
        return clf.evals_result_[0]["risk"].tobytes(), scores, clf.margins(*entry[:2]).tobytes(), P.tobytes()

    assert fitted(there) == fitted(np.asarray)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    ("booster", "parameters"),
    [
        (sb.SAMMEClassifier, {}),
        (sb.AdaBoostMHClassifier, {}),
        (sb.SimplexBoostClassifier, {"classes": [0, 1, 2, 7]}),
        (sb.SimplexBoostClassifier, {"categorical_features": [3]}),
        (sb.SimplexBoostClassifier, {"min_samples_leaf": 150}),
    ],
    ids=["another booster", "another link", "an absent class", "categories", "no split"],
)
def test_predictions_come_back_in_kind_wherever_they_are_made(engine, booster, parameters, on_gpu):
    X, y = table(K=3)
    on_gpu(engine)
    rows = foreign(engine)(X)
    clf = booster(n_estimators=3, random_state=0, device="cuda", **parameters).fit(rows, y)
    for method in ("predict", "predict_proba"):
        found, expected = getattr(clf, method)(rows), getattr(clf, method)(X)
        assert type(found) is type(rows)
        np.testing.assert_allclose(engine.host(engine.take(found)), expected, rtol=1e-5)
    np.testing.assert_allclose(clf.predict_log_proba(rows), clf.predict_log_proba(X), rtol=1e-5)
    names = booster(n_estimators=3, random_state=0, device="cuda").fit(X, np.array(["a", "b", "c"])[y])
    assert names.predict(rows).tolist() == names.predict(X).tolist()


@pytest.mark.cuda
def test_rows_of_other_libraries_on_the_device():
    """By ``__cuda_array_interface__``, by DLPack, and tensors of torch, which come back as such."""
    cupy = pytest.importorskip("cupy")
    X, y = blobs(n=200, p=4, K=3)
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, device="cuda").fit(
        cupy.asarray(X), cupy.asarray(y)
    )
    P, there = clf.predict_proba(X), cupy.asarray(X)
    by_interface = SimpleNamespace(__cuda_array_interface__=there.__cuda_array_interface__)
    by_dlpack = SimpleNamespace(__dlpack_device__=there.__dlpack_device__, __dlpack__=there.__dlpack__)
    for rows in (there, by_interface, by_dlpack):
        assert clf.predict_proba(rows).get().tobytes() == P.tobytes()
    torch = pytest.importorskip("torch")
    tensor = clf.predict_proba(torch.as_tensor(X, device="cuda"))
    assert isinstance(tensor, torch.Tensor) and tensor.cpu().numpy().tobytes() == P.tobytes()


@pytest.mark.gxx
def test_files_are_those_of_ordinary_models(on_gpu, monkeypatch, tmp_path):
    """A model of a GPU is loaded, predicts and goes on without one; only fitting asks for it."""
    X, y = table()
    with monkeypatch.context() as patched:
        patched.setattr(booster, "check_gpu", lambda: None)
        patched.setattr(predicting, "has_gpu", lambda: True)
        patched.setattr(predicting, "CudaEngine", lambda n_threads: CudaEngine(n_threads, EmulatedDevice()))
        clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, device="cuda").fit(X, y)
        expected, P = clf.decision_function(X), clf.predict_proba(X)
    clf.save(tmp_path / "m.sb")
    monkeypatch.setattr(predicting, "has_gpu", lambda: False)
    loaded = sb.load(tmp_path / "m.sb")
    assert loaded.device == "cuda" and type(loaded._engine()) is CpuEngine
    assert loaded.decision_function(X).tobytes() == expected.tobytes()
    np.testing.assert_allclose(loaded.predict_proba(X), P, rtol=1e-5)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("leaves", [3, 20, 60])
@pytest.mark.parametrize("little_memory", [False, True])
def test_trees_below_a_split_of_small_gain(engine, leaves, little_memory, monkeypatch):
    """All nodes below such a split have its least gain on their paths, so that only their own gains tell the order."""
    rng = np.random.default_rng(0)
    X = rng.random((2000, 4))
    g = np.sign(X[:, 0] - 0.5) * np.sign(X[:, 1] - 0.5) + 0.5 * rng.normal(size=2000)
    statistics, growth = Dense(np.column_stack([g, np.ones(2000)])), Growth(max_leaf_nodes=leaves, order="best")
    if little_memory:  # cells for as many expansions as the tree has splits
        of = growing.Sizes.of
        monkeypatch.setattr(growing.Sizes, "of", staticmethod(lambda *a: replace(of(*a), cells=2 * leaves)))
    data = CpuEngine().bin(X)
    expected = CpuEngine().grow(data, statistics, "newton", growth)
    assert expected.tree.n_leaves == leaves
    assert_same_tree(expected, engine.grow(data, statistics, "newton", growth))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("m", [1, 2, 20, 100])
@pytest.mark.parametrize("leaves", [2, 255, 300, 5000])
def test_shared_memory_is_enough_on_small_gpus(bits, m, leaves):
    limits = trees.limits_of("newton", Growth(max_leaf_nodes=leaves, order="best", bits=bits), 10**6, 50)
    assert growing.Sizes.for_bins(256, 50, True, m, limits, 10**6).shared <= 64 * 1024


@each("engine", GPU_ENGINES)
def test_trees_of_very_many_columns_are_left_to_the_processor(engine, monkeypatch):
    """A warp that searches has a few numbers of every column in shared memory."""
    rng = np.random.default_rng(0)
    data, statistics = CpuEngine().bin(rng.normal(size=(60, 2)), 20), Dense(rng.normal(size=(60, 2000)))
    growth = Growth(max_depth=2)
    expected = CpuEngine().grow(data, statistics, "norm", growth)
    monkeypatch.setattr(cuda, "begin_tree", None)
    assert_same_tree(expected, engine.grow(data, statistics, "norm", growth))


@pytest.mark.gxx
def test_memory_for_the_order_of_categories_counts(monkeypatch):
    """With many columns and categories it is most of the memory; without enough, the processor grows the tree."""
    rng, m = np.random.default_rng(0), 60
    X, V = np.column_stack([rng.normal(size=400), rng.integers(0, 9, 400)]), rng.normal(size=(400, m))
    data, growth = CpuEngine().bin(X, 20, np.array([False, True])), Growth(max_leaf_nodes=8)
    device = EmulatedDevice()
    grower = trees.grower_of(device, data)
    taken = []
    monkeypatch.setattr(
        device, "empty", lambda shape, dtype: taken.append(EmulatedDevice.empty(device, shape, dtype)) or taken[-1]
    )
    expected = CpuEngine().grow(data, Dense(V), "norm", growth)
    assert_same_tree(expected, CudaEngine(1, device).grow(data, Dense(V), "norm", growth))
    limits = trees.kept_limits(grower, "norm", growth, 400)
    sizes = growing.Sizes.of(grower.table, m, limits, 400)
    forecast = trees.tree_bytes(data, sizes, m, m, limits, 400) + trees.scratch_bytes(device, sizes)
    assert sum(array.nbytes for array in taken) <= 1.02 * forecast + 2**16
    little = EmulatedDevice(memory=forecast - 1)
    monkeypatch.setattr(cuda, "begin_tree", None)
    assert_same_tree(expected, CudaEngine(1, little).grow(data, Dense(V), "norm", growth))


@each("engine", GPU_ENGINES)
def test_trees_with_different_groups_of_features_on_one_table(engine):
    """The groups of the first ones must still be there when a later tree has them again."""
    data, statistics, score = large_problem(600, 6, 2, "newton")
    kinds = [
        Growth(max_leaf_nodes=12, interactions=groups) for groups in (((0, 1), (2, 3)), ((4, 5), (0, 2)), ((1, 3, 5),))
    ]
    expected = [CpuEngine().grow(data, statistics, score, growth) for growth in kinds]
    for _ in range(2):  # the first tree takes memory that changes the layout
        engine.grow(data, statistics, score, kinds[0])
    layouts = trees.grower_of(engine.device, data)._layouts
    first = next(iter(layouts.values()))
    for _ in range(2):
        for growth, tree in zip(kinds, expected, strict=True):
            assert_same_tree(tree, engine.grow(data, statistics, score, growth))
    assert len(layouts) == 3 and int(first.arguments.record["groups"]) == engine.device.pointer(first.groups)


@pytest.mark.gxx
def test_python_and_kernels_agree_about_structures():
    kernels = library("tree", (("LANE", "int"), ("SCORE", 0), ("COLUMNS", 2), ("BINS", 32)))
    sizes = kernels.problem_size(), kernels.cell_size(), kernels.state_size()
    assert sizes == (layout.PROBLEM.itemsize, layout.CELL_BYTES, layout.STATE_BYTES)


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (50, 2), (33, 3), (130, 26), (3000, 10), (5, 438)])
def test_leaves_are_added_to_rows_of_any_width(engine, n, d):
    rng = np.random.default_rng(0)
    F, values = rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=(9, d)).astype(np.float32)
    leaf_of_row = rng.integers(0, 9, n).astype(np.int32)
    there = engine.device.upload(F)
    engine.add_leaves(there, values, 0.1, leaf_of_row)
    assert engine.host(there).tobytes() == (F + np.float32(0.1) * values[leaf_of_row]).tobytes()


# ---- promises -------------------------------------------------------------------------------------------------------


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_have_one_order_wherever_they_are(engine, dtype):
    X = draw_values(np.random.default_rng(0), 300, 11, missing=0.1).astype(dtype)
    X[:, 2], X[::2, 3], X[1::2, 3] = np.random.default_rng(1).normal(size=300), 0.0, -0.0
    there = binning.DeviceTable.of(engine.device.upload(X), engine.device)
    assert order.hashes_of(there, 3, engine).tobytes() == order.hashes_of(X, 3).tobytes()
    here = np.random.default_rng(2).permutation(300)[:200]
    codes, expected = engine.bin(there, sample=np.arange(50)), CpuEngine().bin(X, sample=np.arange(50))
    assert np.asarray(codes.subset(here).codes).tobytes() == expected.subset(here).codes.tobytes()
    assert np.asarray(codes.subset(slice(5, 9)).codes).tobytes() == expected.subset(slice(5, 9)).codes.tobytes()


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_tables_of_the_host_are_hashed_and_binned_on_the_device(engine, dtype, monkeypatch):
    """Some rows after the others, with the numbers of the processor."""
    X = draw_values(np.random.default_rng(0), 300, 11, missing=0.1).astype(dtype)
    X[:, 4] = np.abs(np.nan_to_num(X[:, 4])).round() % 9
    mask, keys = np.arange(11) == 4, np.random.default_rng(0).integers(0, 2**64, 300, dtype=np.uint64)
    expected = CpuEngine().bin(X, 40, mask), order.hashes_of(X, 3), np.argsort(keys)
    monkeypatch.setattr(cuda, "FEW_KEYS", 10)
    monkeypatch.setattr(binning, "FEW_VALUES", 10)
    monkeypatch.setattr(binning, "PART", 7000)
    found = engine.bin(X, 40, mask), order.hashes_of(X, 3, engine), engine.argsort(keys)
    assert isinstance(found[0].codes, binning.DeviceCodes)
    assert np.asarray(found[0].codes).tobytes() == expected[0].codes.tobytes()
    assert [e.tolist() for e in found[0].edges] == [e.tolist() for e in expected[0].edges]
    assert found[0].has_missing.tolist() == expected[0].has_missing.tolist()
    assert found[0].seen_categories.tolist() == expected[0].seen_categories.tolist()
    assert found[1].tobytes() == expected[1].tobytes() and found[2].tolist() == expected[2].tolist()


@each("engine", GPU_ENGINES)
def test_what_is_put_off_is_done_by_the_thread_that_put_it_off(engine, on_gpu):
    """It waits for copies to the host, which only one thread may wait for."""
    X, y = table()
    on_gpu(engine)
    done = []
    assert engine.later(lambda: done.append("work"))
    with ThreadPoolExecutor(1) as threads:
        threads.submit(sb.SimplexBoostClassifier(n_estimators=2, device="cuda").fit, X, y).result()
    assert not done
    sb.SimplexBoostClassifier(n_estimators=2, device="cuda").fit(X, y)
    assert done == ["work"]


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("there", [False, True], ids=["rows of the host", "rows on the device"])
def test_the_order_of_rows_and_the_names_of_classes_do_not_matter(engine, there, on_gpu):
    X, y = blobs(n=200, p=4, K=3, missing=0.05)
    on_gpu(engine)
    other, place = np.random.default_rng(3).permutation(200), np.array([2, 0, 1])
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, device="cuda", subsample=0.7)

    def fitted(X, y):
        return clf.fit(engine.device.upload(X) if there else X, y).predict_proba(table_of_rows)

    table_of_rows = X
    P = fitted(X, y)
    assert fitted(X[other], y[other]).tobytes() == P.tobytes()
    np.testing.assert_allclose(fitted(X, place[y])[:, place], P, rtol=1e-6)


@each("engine", GPU_ENGINES)
def test_fits_and_predictions_in_several_threads(engine, on_gpu):
    """At the same time on one GPU: each gets its own."""
    on_gpu(engine)
    tables = [blobs(n=150 + 20 * i, p=3 + i, K=3 + i) for i in range(3)]

    def fitted(i):
        X, y = tables[i % 3]
        clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0, device="cuda", subsample=0.8).fit(X, y)
        return clf.predict_proba(X).tobytes() + clf.predict(X).tobytes()

    alone = [fitted(i) for i in range(3)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(fitted, range(6))) == alone * 2


@each("engine", GPU_ENGINES)
def test_a_fit_that_is_interrupted_leaves_nothing_behind(engine, on_gpu):
    X, y = table()
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=6, random_state=0, device="cuda").fit(X, y)
    expected = clf.predict_proba(X)

    class PressCtrlC(sb.callbacks.Callback):
        def after_round(self, run):
            if run.round == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clf.set_params(callbacks=[PressCtrlC()]).fit(X, y)
    assert clf.predict_proba(X).tobytes() == expected.tobytes() and clf.n_iter_ == 6
    assert clf.set_params(callbacks=None).fit(X, y).predict_proba(X).tobytes() == expected.tobytes()


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("device", ["cuda", "cpu"])
@pytest.mark.parametrize("interrupted", [False, True])
def test_what_a_fit_took_is_free_when_it_ends(engine, device, interrupted, on_gpu):
    """At once, not when Python looks for cycles: memory on a device does not make it look."""
    X, y = table()
    on_gpu(engine)
    seen = []

    class Look(sb.callbacks.Callback):
        def after_round(self, run):
            seen[:] = [weakref.ref(run), weakref.ref(run.data)]
            if interrupted and run.round == 2:
                raise KeyboardInterrupt

    gc.collect()
    gc.disable()
    try:
        clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, device=device, callbacks=[Look()]).fit(X, y)
        assert clf.n_iter_ == 4
    except KeyboardInterrupt:
        pass
    finally:
        gc.enable()
    assert [known() for known in seen] == [None, None]


def test_kernels_of_one_text_keep_the_largest_shared_memory_that_they_were_allowed():
    """CuPy gives all who ask for the same text one function of the driver."""
    function = SimpleNamespace(max_dynamic_shared_size_bytes=0)
    for shared, allowed in ((1000, 0), (60_000, 60_000), (50_000, 60_000), (1000, 60_000), (70_000, 70_000)):
        devices.allow_shared(function, shared)
        assert function.max_dynamic_shared_size_bytes == allowed


def test_copies_that_nobody_waits_for_are_used_again_when_they_are_done():
    """Their memory must not be taken for something else before."""
    staging, event = devices.Staging(), SimpleNamespace(done=False, synchronize=lambda: None)
    piece = SimpleNamespace(bytes=np.arange(4096, dtype=np.uint8), event=event)
    other = SimpleNamespace(bytes=np.zeros(4096, dtype=np.uint8), event=event)
    staging._free[4096] = [other, piece]
    fetched = devices.Fetched(staging, staging.take(100), 100)
    del fetched
    assert staging.take(100) is other
    event.done = True
    assert staging.take(100) is piece
    assert devices.Fetched(staging, piece, 3).wait().tolist() == [0, 1, 2]
    assert staging.take(100) is piece


@pytest.mark.gxx
def test_a_model_may_be_used_on_several_devices(monkeypatch):
    """One after another; each has its own forest and its own paths."""
    monkeypatch.setattr(explaining, "FEW_ROWS", 33)
    X, y = table()
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    M, P = clf.model_.Y.T.astype(np.float64), np.empty((2, 200, 4))
    engines = [CudaEngine(1, EmulatedDevice()) for _ in range(2)]
    for engine, out in zip(engines, P, strict=True):
        assert clf.model_.probabilities(X, out, engine)
        assert clf.model_._packed(4, engine).device is engine.device
        assert clf.model_._packed(4, engine) is clf.model_._packed(4, replace(engine, n_threads=2))
    assert P[0].tobytes() == P[1].tobytes()
    values = [shapley.values(clf.model_, X, M, engine) for engine in engines]
    assert values[0].tobytes() == values[1].tobytes()
    paths = shapley.paths_of(clf.model_, X)
    assert [explaining.device_paths(e.device, paths).device for e in engines] == [e.device for e in engines]


@pytest.mark.gxx
def test_what_is_kept_on_the_device_is_used_after_its_copies(monkeypatch):
    """Forests and paths may be used on other streams than the one on which they were copied."""
    monkeypatch.setattr(explaining, "FEW_ROWS", 33)
    X, y = table()
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    engine, made, waited = CudaEngine(1, EmulatedDevice()), [], []
    monkeypatch.setattr(engine.device, "mark", lambda: made.append(object()) or made[-1])
    monkeypatch.setattr(engine.device, "after", waited.append)
    for _ in range(2):
        assert clf.model_.probabilities(X, np.empty((200, 4)), engine)
    assert len(made) == 1 and waited == 2 * made
    M = clf.model_.Y.T.astype(np.float64)
    for _ in range(2):
        shapley.values(clf.model_, X, M, engine)
    assert len(made) == 3 and waited == 2 * made[:1] + 2 * made[1:]


def test_every_gpu_is_an_object_of_its_own(monkeypatch):
    """Its kernels cannot be launched on another one."""
    number = [0]
    monkeypatch.setattr(
        devices, "cupy", lambda: SimpleNamespace(cuda=SimpleNamespace(Device=lambda: SimpleNamespace(id=number[0])))
    )
    devices.device_of.cache_clear()
    try:
        first = devices.current_device()
        number[0] = 1
        second = devices.current_device()
        number[0] = 0
        assert devices.current_device() is first and first is not second
    finally:
        devices.device_of.cache_clear()


def test_copies_of_threads_come_after_what_was_launched_before():
    """Their default streams may be others than the one of the thread that asks."""
    waited, recorded = [], []

    class Event:
        def __init__(self, **options):
            pass

        def record(self, stream):
            recorded.append(self)

        def synchronize(self):
            pass

    def copy(to, source, size, kind, stream):
        assert waited and all(event in recorded for event in waited)
        ctypes.memmove(to, source, size)

    cuda_package = SimpleNamespace(
        Device=lambda *number: contextlib.nullcontext(SimpleNamespace(id=0)) if number else SimpleNamespace(id=0),
        get_current_stream=lambda: SimpleNamespace(ptr=0, wait_event=waited.append),
        Event=Event,
        alloc_pinned_memory=bytearray,
        runtime=SimpleNamespace(memcpyAsync=copy, memcpyHostToDevice=1, memcpyDeviceToHost=2),
    )
    copier = copying.Copier(SimpleNamespace(cuda=cuda_package))
    values = np.random.default_rng(0).integers(0, 255, 2 * copying.PIECE + 5).astype(np.uint8)
    place, out = np.zeros_like(values), np.zeros_like(values)
    there = SimpleNamespace(data=SimpleNamespace(ptr=place.ctypes.data))
    copier.up(there, values)
    copier.down(there, out)()
    assert place.tobytes() == out.tobytes() == values.tobytes() and len(waited) == 6 and len(set(waited)) == 2


def test_the_limit_of_the_pool_counts():
    """As set by ``CUPY_GPU_MEMORY_LIMIT``."""
    device, limit = object.__new__(devices.CudaDevice), [0]
    pool = SimpleNamespace(free_bytes=lambda: 5, used_bytes=lambda: 30, get_limit=lambda: limit[0])
    device.xp = SimpleNamespace(
        cuda=SimpleNamespace(Device=lambda: SimpleNamespace(mem_info=(100, 200))), get_default_memory_pool=lambda: pool
    )
    assert device.room() == 105
    limit[0] = 50
    assert device.room() == 20


@each("engine", GPU_ENGINES)
def test_symmetric_trees_are_grown_on_the_device(engine, monkeypatch):
    """Up to ten levels; deeper ones are left to the processor."""
    data, statistics, score = large_problem(2000, 5, 3, "newton")
    for limits in ({"max_depth": 3}, {"max_leaf_nodes": 64}, {"max_depth": 10}):
        growth = Growth(order="symmetric", min_samples_leaf=20, **limits)
        expected = CpuEngine().grow(data, statistics, score, growth)
        with monkeypatch.context() as patched:
            patched.setattr(CpuEngine, "grow", None)
            assert_same_tree(expected, engine.grow(data, statistics, score, growth))
    monkeypatch.setattr(cuda, "begin_tree", None)
    deep = Growth(order="symmetric", max_depth=11)
    assert_same_tree(CpuEngine().grow(data, statistics, score, deep), engine.grow(data, statistics, score, deep))


@each("engine", GPU_ENGINES)
def test_progress_tells_the_memory_on_the_device(engine, on_gpu, capsys):
    X, y = table()
    on_gpu(engine)
    sb.SimplexBoostClassifier(n_estimators=2, device="cuda", verbose=1).fit(X, y)
    assert "MB on the GPU" in capsys.readouterr().out


@pytest.mark.gxx
def test_the_host_needs_no_memory_for_what_is_on_the_device():
    X, y = np.zeros((10_000, 3)), np.arange(10_000) % 500
    learner, optimizer = SketchTree(max_leaf_nodes=31), SketchedNewton()
    needs = [
        optimizer.memory(TrainingSet(X, y, np.ones(len(y)), 500, engine=engine), learner, 500, 1)
        for engine in (CpuEngine(), CudaEngine(1, EmulatedDevice()))
    ]
    assert needs[0] - needs[1] > 4 * 10_000 * 500  # the predictor


def test_forked_processes_are_told_that_the_gpu_is_not_theirs(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    devices.found_cupy.cache_clear()
    try:
        assert has_gpu()
        monkeypatch.setattr(devices.os, "getpid", lambda: -1)
        assert not has_gpu()  # so that predictions are made by the processor
        with pytest.raises(DeviceError, match="forked from one that used the GPU"):
            sb.SimplexBoostClassifier(device="cuda").fit(*table())
    finally:
        devices.found_cupy.cache_clear()


# ---- explanations ---------------------------------------------------------------------------------------------------


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize(
    ("K", "p", "parameters"),
    [(2, 4, {}), (4, 4, {"categorical_features": [3]}), (20, 4, {}), (40, 5, {}), (3, 30, {"max_leaf_nodes": 60})],
    ids=["two classes", "categories", "as many classes as lanes", "more classes than lanes", "long paths"],
)
def test_explanations_are_those_of_the_processor(engine, K, p, parameters, monkeypatch):
    monkeypatch.setattr(explaining, "FEW_ROWS", 33)
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(400, p)), np.arange(400) % K
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = np.nan_to_num(np.abs(np.round(2 * X[:, 3])))
    y = (c + (X[:, 0] > 0) + (X[:, 1] > X[:, 2])) % K
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, **parameters).fit(X, y)
    M, total = clf.model_.Y.T.astype(np.float64), rng.normal(size=(70, K))
    for rows, sums in ((X[:70], None), (X[:70].astype(np.float32), total)):
        found, expected = (shapley.values(clf.model_, rows, M, e, None, sums) for e in (engine, CpuEngine()))
        np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_allclose(found.sum(axis=1), total, atol=1e-12)
    whole = np.nan_to_num(np.round(X[:40])).astype(np.int64)
    found, expected = (shapley.values(clf.model_, whole, M, e) for e in (engine, CpuEngine()))
    np.testing.assert_allclose(found, expected, atol=2e-6)
    few = shapley.values(clf.model_, X[:33], M, engine)
    assert few.tobytes() == shapley.values(clf.model_, X[:70], M, engine)[:33].tobytes()


@each("engine", GPU_ENGINES)
def test_what_the_device_does_not_explain(engine, on_gpu, monkeypatch):
    """Few rows, a background, and models without a split."""
    monkeypatch.setattr(explaining, "FEW_ROWS", 33)
    X, y = table()
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0, device="cuda").fit(X, y)
    on_device = clf.shap_values(X, classes=1)
    monkeypatch.setattr(explaining.DevicePaths, "explain", None)
    with pytest.raises(TypeError):
        clf.shap_values(X, classes=1)
    np.testing.assert_allclose(clf.shap_values(X[:5], classes=1), on_device[:5], atol=2e-6)
    assert clf.shap_values(X, background=X[:9]).shape == (200, 4, 4)
    stump = sb.SimplexBoostClassifier(n_estimators=2, min_samples_leaf=150, device="cuda").fit(X, y)
    assert not stump.shap_values(X).any()


# ---- refusals -------------------------------------------------------------------------------------------------------


def fake_cupy(count=1, driver=13000, error=None, capability="90"):
    """A package CuPy on a machine with so many GPUs."""

    def n_devices():
        if error is not None:
            raise error
        return count

    runtime = SimpleNamespace(getDeviceCount=n_devices, driverGetVersion=lambda: driver)
    device = SimpleNamespace(compute_capability=capability)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=lambda: device))


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (None, r"needs the package CuPy, which is not installed: pip install 'simplexboost\[cuda\]'"),
        (fake_cupy(0), "needs an NVIDIA GPU, and this machine has none"),
        (fake_cupy(error=RuntimeError("no driver")), "needs an NVIDIA GPU with its driver; CUDA says: no driver"),
        (fake_cupy(driver=11080), r"needs a driver for CUDA 12\.0 or newer; this one is for 11\.8"),
        (fake_cupy(capability="61"), r"needs a GPU of compute capability 7\.0 or newer; this one has 6\.1"),
    ],
    ids=["no CuPy", "no GPU", "no driver", "old driver", "old GPU"],
)
def test_what_is_missing_is_said_in_one_sentence(package, message, monkeypatch):
    X, y = table()
    monkeypatch.setitem(sys.modules, "cupy", package)
    devices.found_cupy.cache_clear()
    try:
        assert not has_gpu()
        with pytest.raises(DeviceError, match=message):
            check_gpu()
        with pytest.raises(DeviceError, match=message):
            sb.SimplexBoostClassifier(device="cuda").fit(X, y)
    finally:
        devices.found_cupy.cache_clear()


def test_only_known_devices_are_accepted():
    X, y = table()
    for device in ("gpu", None, 0):
        with pytest.raises(ValueError, match=r"device=.* is unknown; choose one of 'cpu', 'cuda'"):
            sb.SAMMEClassifier(device=device).fit(X, y)


@pytest.mark.gxx
def test_too_little_memory_is_refused_with_the_forecast(on_gpu):
    X, y = table()
    on_gpu(CudaEngine(1, EmulatedDevice(memory=2**16)))
    message = r"needs .* MiB of memory on the GPU for this fit \(codes .*\), and 0.1 MiB are free"
    for kind in (DeviceError, MemoryError):  # the latter as on the processor
        with pytest.raises(kind, match=message):
            sb.SimplexBoostClassifier(n_estimators=3, device="cuda").fit(X, y)


@pytest.mark.gxx
def test_sparse_tables_need_no_memory_for_histograms_on_the_device(on_gpu):
    """The processor grows their trees, so that very many columns are no reason to refuse them."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 3
    X = hstack([sparse_rows((100, 3000), 0.01, rng), csr_array(y[:, None] + 0.1 * rng.random((100, 1)))], format="csr")
    on_gpu(CudaEngine(1, EmulatedDevice(memory=2**20)))
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0, interaction_cst=[[0, 3000]])
    expected = clf.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(clf.set_params(device="cuda").fit(X, y).predict_proba(X), expected, rtol=1e-5)


def test_the_forecast_is_the_formula():
    size = FitSize(1_000_000, 50, 100, 1, 255, False, Growth(max_leaf_nodes=255, order="best", bits=32))
    assert fit_bytes(size) == {
        "codes": 8 * 7 * 10**6,
        "predictor": 4 * 10**8,
        "rows": (16 + 8 + 24) * 10**6,
        "histograms": 4 * 50 * 3 * 256 * 512 + 16384 * 50,
        "leaves": 40 * 255 * 100,
    }


# ---- benchmarks -----------------------------------------------------------------------------------------------------


def test_the_benchmark_prints_a_table(capsys):
    gpu.main(["--problems", "300x24x3", "--contestants", "simplexboost, processor", "--rounds", "6"])
    printed = capsys.readouterr().out
    assert "| simplexboost, processor | 6 |" in printed and "300x24x3 simplexboost, processor: " in printed


def test_seconds_to_an_accuracy():
    measured = gpu.Measured("ours", [0.1, 0.2, 0.3, 0.5], [0.5, 0.7, 0.6, 0.8])
    assert measured.seconds_to(0.65) == 0.2 and np.isnan(measured.seconds_to(0.9))
    assert measured.milliseconds == pytest.approx(150.0)


# ---- answers beyond labels ------------------------------------------------------------------------------------------


@each("engine", GPU_ENGINES)
def test_sets_and_costs_of_a_model_from_the_gpu(engine, on_gpu):
    """The choice scores the rows it holds out, and rows on the GPU get sets, decisions and probabilities."""
    on_gpu(engine)
    X, y = table(120, 3)
    options = {"random_state": 0, "n_estimators": 6, "calibration": True}
    clf = sb.SimplexBoostClassifier(device="cuda", **options).fit(X, y)
    local = sb.SimplexBoostClassifier(**options).fit(X, y)
    np.testing.assert_allclose(clf.sets_.score, local.sets_.score, atol=1e-3)
    np.testing.assert_array_equal(clf.class_prior_, local.class_prior_)
    there, costs = foreign(engine)(X), 1 - np.eye(3)
    np.testing.assert_array_equal(clf.predict_set(there, 0.95), clf.predict_set(X, 0.95))
    weight = 1.0 + np.arange(120) % 3
    scores = clf.calibrate_sets(X, y, weight).sets_.score
    again = clf.calibrate_sets(there, foreign(engine)(y), foreign(engine)(weight)).sets_.score
    np.testing.assert_array_equal(scores, again)
    np.testing.assert_array_equal(clf.predict(there, costs=costs), clf.predict(X, costs=costs))
    np.testing.assert_array_equal(clf.predict_proba(there, prior=[1, 2, 3]), clf.predict_proba(X, prior=[1, 2, 3]))


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
    clf.add_classes(X, y, n_rounds=6)
    assert (clf.class_scores(X)[:, :3] == U).all() and clf.score(X, y) > 0.9
    P = clf.predict_proba(X)
    merged = copy(clf).merge_classes({3: [3, 4]})
    assert (merged.predict_proba(X)[:, 3] == P[:, 3] + P[:, 4]).all()
    assert (merged.predict(X) == merged.classes_[merged.predict_proba(X).argmax(axis=1)]).all()
    assert (clf.drop_classes(0).predict(X) == clf.classes_[clf.predict_proba(X).argmax(axis=1)]).all()
