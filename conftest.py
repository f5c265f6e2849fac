"""What holds for all tests and examples."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures that a test or an example has left open; matplotlib warns where there are many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
