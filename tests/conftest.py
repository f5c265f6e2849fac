"""Settings that must be in place before the tests import anything, and what tests of real data sets need."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else scikit-learn skips its array-API check


def pytest_collection_modifyitems(items):
    """Tests marked ``data`` need a folder of real sets; without one they are skipped, and pytest says so."""
    folder = os.environ.get("SIMPLEXBOOST_DATA", "")
    if folder and Path(folder).is_dir():
        return
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason="SIMPLEXBOOST_DATA names no folder of real data sets"))
