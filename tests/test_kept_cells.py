"""The cells kept in the repository: they give the page that lies beside them, and computed again the same numbers."""

import json
import math
import os
import random
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from experiments import cells, data, kept, mukherjee, papers, registry, report
from experiments.cells import Cell, Results
from experiments.registry import EXPERIMENTS, Plan

HERE = Path(papers.__file__).parent
KEPT = Results(None, kept.FOLDER)
CHEAP = 0.5  # seconds


def test_the_page_is_that_of_the_kept_cells(tmp_path):
    path = report.write(list(EXPERIMENTS.values()), Plan(), KEPT, tmp_path, figures=False)
    ours, there = path.read_text(), (HERE / "RESULTS.md").read_text()
    assert ours == there, "run python -m experiments report"
    for figure in re.findall(r"\]\((figures/[^)]*)\)", there):
        assert (HERE / figure).exists(), figure


def test_kept_cells_say_who_made_them_and_belong_to_an_experiment():
    wanted = {cell.key for e in EXPERIMENTS.values() for cell in e.cells(Plan())}
    assert len(KEPT.kept) > 500
    for key, record in KEPT.kept.items():
        assert key in wanted
        assert {"simplexboost", "numpy", "scikit-learn", "python", "day"} <= set(record["maker"])
        assert record["seconds"] >= 0


def test_kept_cells_are_small():
    assert sum(path.stat().st_size for path in kept.FOLDER.glob("*.json.gz")) < 8e6


def test_a_file_of_kept_cells_goes_there_and_back_and_has_the_same_bytes(tmp_path):
    found = Results(tmp_path / "new")
    wanted = [Cell("codewords", {"K": K, "d": K - 1}) for K in (3, 4)]
    assert cells.run(wanted, found) == []
    owners = {"jmlr-figure1": wanted, "jmlr-figure2": wanted[:1]}
    assert kept.keep(owners, found.record, tmp_path / "kept") == {"jmlr-figure1": 2}
    first = (tmp_path / "kept" / "jmlr-figure1.json.gz").read_bytes()
    again = Results(tmp_path / "nowhere", tmp_path / "kept")
    assert [again.get(cell) for cell in wanted] == [found.get(cell) for cell in wanted]
    assert kept.keep(owners, again.record, tmp_path / "kept") == {}
    assert (tmp_path / "kept" / "jmlr-figure1.json.gz").read_bytes() == first
    assert kept.keep({"jmlr-figure2": wanted[:1]}, again.record, tmp_path / "kept") == {"jmlr-figure2": 1}
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["jmlr-figure2.json.gz"]


def test_sizes_of_trees_are_those_that_were_counted():
    plan = Plan()
    for name, cell in zip(mukherjee.SETS, mukherjee.tree_sizes.cells(plan), strict=True):
        result = KEPT.get(cell)
        assert result is not None and mukherjee.SIZES[name] == min(result["leaves"], mukherjee.MOST_LEAVES)


OTHERS = ("XGBoost", "LightGBM", "CatBoost")  # which the tests do not need to have


def handful(without_data: bool, n: int = 6) -> list[Cell]:
    """Some cheap cells, others every day."""
    cheap = [
        cell
        for e in EXPERIMENTS.values()
        for cell in e.cells(Plan())
        if (record := KEPT.kept.get(cell.key)) is not None
        and record["seconds"] < CHEAP
        and ("problem" not in cell.arguments) == without_data
        and cell.arguments.get("contestant") not in OTHERS
    ]
    return random.Random(datetime.now(UTC).date().isoformat()).sample(cheap, n)


def assert_alike(first, second, where):
    """The same numbers; times are left out, and error rates may differ by a row or two on another machine."""
    assert type(first) is type(second), where
    if isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for key in (key for key in first if not key.endswith("seconds")):
            assert_alike(first[key], second[key], f"{where}.{key}")
    elif isinstance(first, list):
        assert len(first) == len(second), where
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            assert_alike(a, b, f"{where}[{i}]")
    elif isinstance(first, float):
        assert math.isclose(first, second, rel_tol=1e-3, abs_tol=5e-3), where
    else:
        assert first == second, where


@pytest.mark.parametrize("without_data", [True, pytest.param(False, marks=pytest.mark.data)])
def test_a_random_handful_of_cheap_cells_computed_again_gives_the_kept_numbers(without_data):
    home = os.environ.get(data.datasets.ENVIRONMENT)
    for cell in handful(without_data):
        result = json.loads(json.dumps(cells.compute(cell, home)))
        assert_alike(KEPT.get(cell), result, cell.name)


def test_owners_name_every_experiment():
    assert list(registry.owners(Plan(quick=True))) == list(EXPERIMENTS)
