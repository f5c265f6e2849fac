"""How many threads `n_jobs` stands for."""

import os
import subprocess
import sys

import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config

import simplexboost as sb
from simplexboost._util import runtime
from simplexboost._util.runtime import cores_here, free_cores, quota, thread_count

X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
ESTIMATORS = [
    sb.SimplexBoostClassifier(n_estimators=1),
    sb.BoostingClassifier(n_estimators=1),
    sb.MartiBoostClassifier(n_layers=1),
    sb.MulticlassSVC(),
]


@pytest.fixture
def six_cores(monkeypatch):
    """A machine with six cores, on which nothing else limits the threads."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(runtime, "cores_here", lambda: 6)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_what_is_no_number_of_threads_is_refused(estimator, n_jobs):
    with pytest.raises((TypeError, ValueError), match=f"n_jobs={n_jobs!r} .* must be|n_jobs={n_jobs!r} must be"):
        estimator.set_params(n_jobs=n_jobs).fit(X, Y)


def test_only_the_flagship_takes_all_cores_by_default(six_cores):
    assert sb.SimplexBoostClassifier()._engine().compute.n_threads == 6
    assert sb.SimplexBoostClassifier(n_jobs=3)._engine().compute.n_threads == 3
    assert sb.BoostingClassifier()._engine().compute.n_threads == 1
    assert (thread_count(-1), thread_count(-2), thread_count(-9)) == (6, 5, 1)


@pytest.mark.parametrize(
    ("limit", "threads"), [("2", 2), (" 4,2", 4), ("64", 6), ("", 6), ("many", 6), ("0", 6), ("-1", 6)]
)
def test_the_environment_limits_the_threads(six_cores, monkeypatch, limit, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert free_cores() == threads


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_affinity_limits_the_threads():
    script = "import os, simplexboost._util.runtime as t; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    script += "; assert t.free_cores() == 1"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_configuration_of_joblib_says_how_many(six_cores, backend):
    with parallel_config(backend=backend, n_jobs=3):
        assert free_cores() == 3
    with parallel_config(backend=backend):
        assert free_cores() == 6
    with parallel_config(backend=backend, n_jobs=1):
        assert free_cores() == 1


@pytest.mark.parametrize("limit", [None, "4"])
def test_a_worker_thread_gets_one(six_cores, monkeypatch, limit):
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert Parallel(n_jobs=2, backend="threading")(delayed(free_cores)() for _ in range(4)) == [1, 1, 1, 1]


def test_a_worker_process_gets_its_share(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert Parallel(n_jobs=2)(delayed(free_cores)() for _ in range(2)) == [max(1, cpu_count() // 2)] * 2
    assert Parallel(n_jobs=2, backend="multiprocessing")(delayed(free_cores)() for _ in range(2)) == [1, 1]
    assert Parallel(n_jobs=1)(delayed(free_cores)() for _ in range(2)) == [cpu_count()] * 2


def test_all_cores_of_a_worker_are_its_share(monkeypatch):
    """−1 inside a parallel search: all workers together have as many threads as there are cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    share = max(1, cpu_count() // 2)
    assert Parallel(n_jobs=2)(delayed(thread_count)(-1) for _ in range(2)) == [share] * 2
    assert Parallel(n_jobs=2, backend="threading")(delayed(thread_count)(-1) for _ in range(2)) == [1, 1]
    assert Parallel(n_jobs=2, backend="threading")(delayed(thread_count)(3) for _ in range(2)) == [3, 3]


# ---- limits of containers -------------------------------------------------------------------------------------------

V2, V1 = "cpu.max", "cpu.cfs_quota_us"


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {}, None),
        ("0::/\n", {f"{V2}": "max 100000\n"}, None),
        ("0::/\n", {f"{V2}": "150000 100000\n"}, 1.5),
        ("0::/job/step\n", {f"job/{V2}": "300000 100000\n", f"job/step/{V2}": "max 100000\n"}, 3.0),
        ("0::/job/step\n", {f"job/{V2}": "300000 100000\n", f"job/step/{V2}": "200000 100000\n"}, 2.0),
        ("0::/../../host\n", {f"{V2}": "50000 100000\n"}, 0.5),
        ("4:memory:/a\n3:cpu,cpuacct:/a\n", {f"cpu,cpuacct/a/{V1}": "400000\n"}, 4.0),
        ("3:cpu:/docker/123\n", {f"cpu/{V1}": "250000\n"}, 2.5),
        ("3:cpu:/a\n0::/\n", {f"cpu/a/{V1}": "-1\n", f"unified/{V2}": "100000 100000\n"}, 1.0),
        ("3:cpuset:/a\n", {f"cpuset/a/{V1}": "100000\n"}, None),
        ("0::/\n", {f"{V2}": "what is this\n"}, None),
    ],
)
def test_quotas_of_control_groups(own, files, cores, tmp_path):
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.name == V1:
            path.with_name("cpu.cfs_period_us").write_text("100000\n")
    assert quota(str(tmp_path / "root"), str(tmp_path / "own")) == cores


@pytest.mark.parametrize(("limit", "cores"), [(None, 6), (2.0, 2), (1.2, 2), (0.3, 1), (64.0, 6)])
def test_a_quota_limits_the_cores(limit, cores, monkeypatch):
    monkeypatch.setattr(runtime, "cpu_count", lambda: 6)
    monkeypatch.setattr(runtime, "quota_at", lambda second: limit)
    assert cores_here() == cores


def test_a_system_without_control_groups(tmp_path):
    assert quota(str(tmp_path), str(tmp_path / "nothing")) is None
    assert cores_here() >= 1
