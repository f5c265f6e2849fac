"""Budgets, which may be lowered: calls of functions in a round, parts that a fit builds, modules of the import."""

import sys

import pytest

import simplexboost as sb
from tools.calls import calls_per_round, count_calls, count_parts, loaded_modules, parts_per_fit

CALLS = {"SimplexBoostClassifier": 27.2, "AdaBoostMMClassifier": 48.7}  # in a further round
PARTS = {
    "SimplexBoostClassifier": (1, 8),
    "AdaBoostMMClassifier": (1, 6),
}  # calls of `parts`, and parts built in a fit
MODULES = 128
ALL_MODULES = 1700  # with those of other packages, of which other versions have some more or fewer
LATER = {"dask", "distributed", "matplotlib", "click", "onnx", "treelite", "shap", "cupy"}  # when they are used


@pytest.mark.parametrize("name", CALLS)
def test_a_round_makes_few_calls(name):
    found = calls_per_round(getattr(sb, name))
    most = "\n".join(f"{n:6.1f} {function}" for function, n in list(found.items())[:30])
    assert sum(found.values()) <= CALLS[name], f"calls in a further round, the most frequent ones:\n{most}"


@pytest.mark.parametrize("name", PARTS)
def test_a_fit_builds_few_parts(name):
    calls, built = parts_per_fit(getattr(sb, name))
    assert calls <= PARTS[name][0] and built <= PARTS[name][1]


def test_the_import_loads_few_modules():
    loaded = loaded_modules()
    assert len(loaded) <= ALL_MODULES
    assert len([name for name in loaded if name.split(".")[0] == "simplexboost"]) <= MODULES
    assert {name.split(".")[0] for name in loaded} & LATER == set()


def test_calls_are_counted():
    """Nothing of other packages; afterwards, also after an error, nothing is counted any more."""
    assert count_calls(lambda: sum(map(abs, range(9)))) == {}
    code = count_calls(lambda: sb.parts.codewords.Simplex().matrix(3))
    assert code["simplexboost.parts.codewords.base.matrix"] == 1
    assert count_parts(lambda: [sb.parts.losses.Logistic() for _ in range(3)]) == 3
    assert sys.getprofile() is None
    with pytest.raises(TypeError):
        count_calls(lambda: sb.parts.codewords.Simplex().matrix())
    assert sys.getprofile() is None


def test_a_further_round_is_one_round():
    found = calls_per_round(sb.SAMMEClassifier)
    assert found["simplexboost.boosting.loop.propose"] == 1
