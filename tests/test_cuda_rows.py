"""Rows on the GPU: their bins and their order, fits to them, and predictions that come back in kind."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import GPU_ENGINES, blobs, each
from engine_cases import draw_values
from gpu_cases import foreign, table

import simplexboost as sb
from simplexboost.engine import binned, cpu_engine, cuda
from simplexboost.engine.cuda import binning
from simplexboost.tables import order


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("K", [2, 3, 40])
def test_probabilities_and_labels_are_made_where_the_scores_are(engine, K, on_gpu, monkeypatch):
    """In blocks of rows; ties go to the first class, and no probability is zero."""
    monkeypatch.setattr("simplexboost.engine.cuda.forest.PART", 4000)
    X, y = blobs(n=300, p=4, K=K, missing=0.05)
    on_gpu(engine)
    clf = sb.SimplexBoostClassifier(n_estimators=12, learning_rate=30.0, random_state=0, max_leaf_nodes=5).fit(X, y)
    model, P, best = clf.model_, np.empty((300, K)), np.empty(300, dtype=np.int32)
    assert model.finish_on_device("probabilities", X, P, engine) and model.finish_on_device("winners", X, best, engine)
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
    for how in ({}, {"init_score": start}):
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
    assert engine.device.to_host(P).tobytes() == clf.predict_proba(X).tobytes()
    assert np.array_equal(engine.device.to_host(labels), clf.predict(X))
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
    expected, table = cpu_engine().compute.bin(X, 60), binning.DeviceTable.of(engine.device.upload(X), engine.device)
    found = engine.compute.bin(table, 60)
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


@each("engine", GPU_ENGINES)
def test_all_that_belongs_to_rows_may_be_on_the_device(engine, on_gpu):
    """Labels, weights, scores to start from, groups, and those of evaluated rows; in `score` and `margins`, too."""
    X, y = blobs(n=120, p=4, K=3, missing=0.05)
    on_gpu(engine)
    there, weight, start = foreign(engine), 1.0 + np.arange(120) % 3, np.random.default_rng(0).normal(size=(120, 3))
    clf = sb.SimplexBoostClassifier(n_estimators=4, random_state=0, device="cuda")

    def fitted(of):
        entry = tuple(map(of, (X, y, weight, start)))
        names = ("X_val", "y_val", "sample_weight_val", "init_score_val")
        clf.fit(*entry[:3], **dict(zip(names, entry, strict=True)), init_score=entry[3], groups=of(y))
        scores = clf.score(*entry[:2]), clf.score(*entry[:3])
        P = clf.predict_proba(entry[0], init_score=entry[3])
        P = P if of is np.asarray else engine.device.to_host(engine.device.adopt(P))
        return (
            clf.evals_result_[0]["risk"].tobytes(),
            scores,
            sb.evaluate.margins(clf, *entry[:2]).tobytes(),
            P.tobytes(),
        )

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
        np.testing.assert_allclose(engine.device.to_host(engine.device.adopt(found)), expected, rtol=1e-5)
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


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_have_one_order_wherever_they_are(engine, dtype):
    X = draw_values(np.random.default_rng(0), 300, 11, missing=0.1).astype(dtype)
    X[:, 2], X[::2, 3], X[1::2, 3] = np.random.default_rng(1).normal(size=300), 0.0, -0.0
    there = binning.DeviceTable.of(engine.device.upload(X), engine.device)
    assert order.hashes_of(there, 3, engine).tobytes() == order.hashes_of(X, 3).tobytes()
    here = np.random.default_rng(2).permutation(300)[:200]
    codes, expected = engine.compute.bin(there, sample=np.arange(50)), cpu_engine().compute.bin(X, sample=np.arange(50))
    assert np.asarray(codes.subset(here).codes).tobytes() == expected.subset(here).codes.tobytes()
    assert np.asarray(codes.subset(slice(5, 9)).codes).tobytes() == expected.subset(slice(5, 9)).codes.tobytes()


@each("engine", GPU_ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_tables_of_the_host_are_hashed_and_binned_on_the_device(engine, dtype, monkeypatch):
    """Some rows after the others, with the numbers of the processor."""
    X = draw_values(np.random.default_rng(0), 300, 11, missing=0.1).astype(dtype)
    X[:, 4] = np.abs(np.nan_to_num(X[:, 4])).round() % 9
    mask, keys = np.arange(11) == 4, np.random.default_rng(0).integers(0, 2**64, 300, dtype=np.uint64)
    expected = cpu_engine().compute.bin(X, 40, mask), order.hashes_of(X, 3), np.argsort(keys)
    monkeypatch.setattr(cuda.device, "FEW_KEYS", 10)
    monkeypatch.setattr(binning, "FEW_VALUES", 10)
    monkeypatch.setattr(binning, "PART", 7000)
    found = engine.compute.bin(X, 40, mask), order.hashes_of(X, 3, engine), engine.device.argsort(keys)
    assert isinstance(found[0].codes, binning.DeviceCodes)
    assert np.asarray(found[0].codes).tobytes() == expected[0].codes.tobytes()
    assert [e.tolist() for e in found[0].edges] == [e.tolist() for e in expected[0].edges]
    assert found[0].has_missing.tolist() == expected[0].has_missing.tolist()
    assert found[0].seen_categories.tolist() == expected[0].seen_categories.tolist()
    assert found[1].tobytes() == expected[1].tobytes() and found[2].tolist() == expected[2].tolist()
