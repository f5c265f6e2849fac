"""Settings that must be in place before the tests import anything, and what tests of real data sets need."""

import os
import shutil
import signal
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else scikit-learn skips its array-API check
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell starts what runs in the background (`make test &`)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests press Ctrl-C

from simplexboost.engine import DeviceError, check_gpu


def missing():
    """What this machine lacks: by the marker of tests that need it, why they are skipped."""
    folder = os.environ.get("SIMPLEXBOOST_DATA", "")
    if not folder or not Path(folder).is_dir():
        yield "data", "SIMPLEXBOOST_DATA names no folder of real data sets"
    if shutil.which("node") is None:
        yield "node", "there is no JavaScript: node is not installed"
    if shutil.which("cc") is None:
        yield "cc", "there is no C compiler called cc"
    if shutil.which("g++") is None:
        yield "gxx", "there is no C++ compiler called g++, with which the kernels of GPUs run on the processor"
    try:
        check_gpu()
    except DeviceError as error:
        yield "cuda", str(error)
    if not all(map(find_spec, ("xgboost", "lightgbm", "catboost"))):
        yield "peers", "xgboost, lightgbm and catboost are not all installed (the extra 'bench')"
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        yield "browser", "there is no browser: chromium and chromedriver are not both installed"


def impossible():
    """What cannot pass with the packages that are installed: by parts of the names of tests, why they are skipped."""
    if tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 7):
        # For estimators of two classes it makes one label of several, but not the same ones in its two fits.
        reason = "scikit-learn 1.6 compares fits to different labels in this check of estimators of two classes"
        yield ("test_martiboost.py::test_sklearn_checks", "check_sample_weight_equivalence"), reason


def pytest_collection_modifyitems(items):
    """Tests are skipped where a machine lacks what they need, or packages are too old; pytest says so."""
    for marker, reason in missing():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    for parts, reason in impossible():
        for item in items:
            if all(part in item.nodeid for part in parts):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def on_gpu(monkeypatch):
    """A function that lets `device="cuda"` mean this engine."""

    def use(engine):
        monkeypatch.setattr("simplexboost.classifiers.booster.check_gpu", lambda: None)
        monkeypatch.setattr("simplexboost.classifiers.prediction.has_gpu", lambda: True)
        monkeypatch.setattr("simplexboost.classifiers.prediction.cuda_engine", lambda n_threads: engine)

    return use
