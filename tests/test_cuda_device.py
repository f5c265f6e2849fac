"""The GPU itself: threads, streams, memory and interruptions, and what is refused without one."""

import contextlib
import ctypes
import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from cases import GPU_ENGINES, blobs, each, sparse_rows
from cuda_emulator import EmulatedDevice
from gpu_cases import table
from scipy.sparse import csr_array, hstack

import simplexboost as sb
from simplexboost.engine import DeviceError, FitSize, Growth, check_gpu, cpu_engine, cuda_engine, has_gpu
from simplexboost.engine.cuda import device as copying
from simplexboost.engine.cuda import device as devices
from simplexboost.engine.cuda import forest
from simplexboost.engine.cuda.growing import fit_bytes
from simplexboost.explain import shapley
from simplexboost.parts.learners import SketchTree
from simplexboost.parts.optimizers.sketched import SketchedNewton
from simplexboost.tables.training_set import TrainingSet


@each("engine", GPU_ENGINES)
def test_what_is_put_off_is_done_by_the_thread_that_put_it_off(engine, on_gpu):
    """It waits for copies to the host, which only one thread may wait for."""
    X, y = table()
    on_gpu(engine)
    done = []
    assert engine.device.postpone(lambda: done.append("work"))
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

    class PressCtrlC(sb.boosting.Callback):
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

    class Look(sb.boosting.Callback):
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
    monkeypatch.setattr(forest, "FEW_ROWS", 33)
    X, y = table()
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    M, P = clf.model_.Y.T.astype(np.float64), np.empty((2, 200, 4))
    engines = [cuda_engine(1, EmulatedDevice()) for _ in range(2)]
    for engine, out in zip(engines, P, strict=True):
        assert clf.model_.finish_on_device("probabilities", X, out, engine)
        assert clf.model_._packed(4, engine).device is engine.device
        assert clf.model_._packed(4, engine) is clf.model_._packed(4, cuda_engine(2, engine.device))
    assert P[0].tobytes() == P[1].tobytes()
    values = [shapley.compute_values(clf.model_, X, M, engine) for engine in engines]
    assert values[0].tobytes() == values[1].tobytes()
    paths = shapley.paths_of(clf.model_, X)
    assert [forest.DevicePaths.of(e.device, paths).device for e in engines] == [e.device for e in engines]


@pytest.mark.gxx
def test_what_is_kept_on_the_device_is_used_after_its_copies(monkeypatch):
    """Forests and paths may be used on other streams than the one on which they were copied."""
    monkeypatch.setattr(forest, "FEW_ROWS", 33)
    X, y = table()
    clf = sb.SimplexBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    engine, made, waited = cuda_engine(1, EmulatedDevice()), [], []
    monkeypatch.setattr(engine.device, "mark", lambda: made.append(object()) or made[-1])
    monkeypatch.setattr(engine.device, "after", waited.append)
    for _ in range(2):
        assert clf.model_.finish_on_device("probabilities", X, np.empty((200, 4)), engine)
    assert len(made) == 1 and waited == 2 * made
    M = clf.model_.Y.T.astype(np.float64)
    for _ in range(2):
        shapley.compute_values(clf.model_, X, M, engine)
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
        for engine in (cpu_engine(), cuda_engine(1, EmulatedDevice()))
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
        (None, r"needs the package CuPy, which is not installed: pip install cupy-cuda12x"),
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
        with pytest.raises(ValueError, match=r"device=.* is unknown.* [Cc]hoose one of 'cpu', 'cuda'"):
            sb.SAMMEClassifier(device=device).fit(X, y)


@pytest.mark.gxx
def test_too_little_memory_is_refused_with_the_forecast(on_gpu):
    X, y = table()
    on_gpu(cuda_engine(1, EmulatedDevice(memory=2**16)))
    message = r"needs .* kB of memory on the GPU for this fit \(codes .*\), and 65.5 kB are free"
    for kind in (DeviceError, MemoryError):  # the latter as on the processor
        with pytest.raises(kind, match=message):
            sb.SimplexBoostClassifier(n_estimators=3, device="cuda").fit(X, y)


@pytest.mark.gxx
def test_sparse_tables_need_no_memory_for_histograms_on_the_device(on_gpu):
    """The processor grows their trees, so that very many columns are no reason to refuse them."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 3
    X = hstack([sparse_rows((100, 3000), 0.01, rng), csr_array(y[:, None] + 0.1 * rng.random((100, 1)))], format="csr")
    on_gpu(cuda_engine(1, EmulatedDevice(memory=2**20)))
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
