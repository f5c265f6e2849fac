"""scikit-learn's own tests of HistGradientBoosting, run from the installed package on our flagship.

Nothing of them is copied: their modules are executed once more with our adapter (`hgb.py`) in place of the classifier.
Which tests are left out, and which are expected to fail, is in `hgb_list.py`. Of an expected error only the kind
of the exception is compared: the words of messages are our own, and other tests check those.
"""

from __future__ import annotations

import importlib.util
import inspect
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
import sklearn.ensemble
from hgb import HistGradientBoostingClassifier
from hgb_list import EXPECTED_FAILURES, FOLDER, MODULES, is_for_us

# Of which scikit-learn does not warn.
pytestmark = pytest.mark.filterwarnings("ignore:column .* has no value that is known from fit:UserWarning")


class AnyWords:
    """pytest, whose `raises` does not look at the words of a message."""

    def raises(self, kind: Any, match: str | None = None) -> Any:
        return pytest.raises(kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(pytest, name)


def executed(name: str) -> ModuleType:
    """A copy of one of scikit-learn's test modules, with our adapter in place of the classifier."""
    try:
        spec = importlib.util.find_spec(f"{FOLDER}.{name}")
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.loader is None:
        pytest.skip(f"this scikit-learn has no {FOLDER}.{name}", allow_module_level=True)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sklearn.ensemble, "HistGradientBoostingClassifier", HistGradientBoostingClassifier):
        spec.loader.exec_module(module)
    module.pytest = AnyWords()
    return module


def for_us(module: ModuleType) -> dict[str, Any]:
    """The tests of a module that are for us."""
    functions = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    return {name: test for name, test in functions.items() if is_for_us(inspect.getsource(test))}


PEER_TESTS = {name: test for module in MODULES for name, test in for_us(executed(module)).items()}
globals().update(PEER_TESTS)


def test_every_expected_failure_is_a_test():
    assert {name.partition("[")[0] for name in EXPECTED_FAILURES} <= set(PEER_TESTS)
