"""All boosters under one protocol: budgets of trees and of time, and ranks over sets."""

import numpy as np
import pytest

from experiments import contest, data, ranks
from experiments.cells import Results
from experiments.comparison import Samples
from experiments.registry import Figure, Plan, Table, Text

PLAN = Plan(seeds=2)


def blobs(name, seed=0, **_):
    """Three clusters in the plane."""
    rng = np.random.default_rng(seed)
    y = np.arange(90) % 3
    X = np.column_stack([y, y % 2]) + 0.3 * rng.normal(size=(90, 2))
    return data.Problem(X[:60], y[:60], X[60:], y[60:], 3)


OTHERS = {"XGBoost", "LightGBM", "CatBoost"}


@pytest.mark.parametrize(
    "contestant", [pytest.param(name, marks=[pytest.mark.peers] * (name in OTHERS)) for name in contest.CONTESTANTS]
)
def test_everyone_has_the_same_number_of_trees_and_learns(contestant, monkeypatch):
    monkeypatch.setattr(data, "problem", blobs)
    result = contest.contest(contestant, {"name": "x"}, trees=4, seed=0)
    assert result["n_iter"] * result["per_round"] <= 4 * 3  # fewer where a booster has ended
    assert result["n_iter"] == 4 * 3 / result["per_round"] or not contest.CONTESTANTS[contestant].peer
    assert result["rounds"][-1] == result["n_iter"] and len(result["test"]) == len(result["rounds"])
    assert result["test"][-1] < 0.3 and result["cpu_seconds"] >= 0


def test_a_time_budget_cuts_the_rounds():
    result = {"rounds": [1, 2, 4, 8], "test": [0.4, 0.3, 0.2, 0.1], "n_iter": 8, "cpu_seconds": 4.0}
    assert contest.final(result) == 10.0
    assert [contest.within(result, s) for s in (0.1, 0.5, 2.0, 3.9, 4.0, 9.0)] == [100.0, 40.0, 20.0, 20.0, 10.0, 10.0]
    assert contest.final({"test": []}) == 100.0


def fill(found, plan, name, error_of):
    for i, c in enumerate(contest.CONTESTANTS):
        for cell in contest.contest_cells(plan, c, name):
            error = error_of(i)
            made = {"rounds": [1, 2], "test": [2 * error, error], "n_iter": 2, "cpu_seconds": 1.0 + i}
            found._read[cell.key] = made | {"per_round": contest.TREES, "K": 2}


def test_only_splits_that_all_have_run_are_compared(tmp_path):
    found = Results(tmp_path)
    for name in contest.SETS[:5]:
        fill(found, PLAN, name, lambda i: 0.01 * (i + 1))
    missing = contest.contest_cells(PLAN, "SAMME", contest.SETS[0])[1]
    found._read[missing.key] = None
    trees, time = (contest.errors_of_all(PLAN, found, same_time) for same_time in (False, True))
    assert [len(trees[name]["SAMME"].values) for name in contest.SETS[:6]] == [1, 2, 2, 2, 2, 0]
    first = next(iter(contest.CONTESTANTS))
    assert trees[contest.SETS[0]][first].mean == pytest.approx(1.0)
    assert time[contest.SETS[0]][first].mean == pytest.approx(1.0)  # the fastest has all its rounds
    assert time[contest.SETS[0]]["GD, vector leaves"].mean == pytest.approx(4.0)  # the next half of them
    known, scores = contest.complete_scores(trees)
    assert known == list(contest.SETS[:5]) and scores.shape == (5, len(contest.CONTESTANTS))
    blocks = list(contest.everyone.report(PLAN, found))
    assert any(
        isinstance(b, Text) and "vectors in its leaves has a lower error than with codewords on 5 of 5 sets" in b.text
        for b in blocks
    )


def test_a_booster_that_gives_up_sets_no_time(tmp_path):
    """Its time is short because it made a tree or two; the others have the time of the fastest that made them all."""
    found, name = Results(tmp_path), contest.SETS[0]
    fill(found, PLAN, name, lambda i: 0.01 * (i + 1))
    for cell in contest.contest_cells(PLAN, "M1", name):
        found._read[cell.key] |= {"cpu_seconds": 1e-3, "n_iter": 1, "rounds": [1], "test": [0.5]}
    time = contest.errors_of_all(PLAN, found, same_time=True)
    assert time[name][next(iter(contest.CONTESTANTS))].mean == pytest.approx(1.0)
    assert time[name]["M1"].mean == pytest.approx(50.0)


def test_long_sets_have_few_splits():
    assert len(contest.contest_cells(Plan(), "SAMME", "isolet")) == 1
    assert len(contest.contest_cells(Plan(), "SAMME", "vowel")) == 5


def test_ranks_over_sets(tmp_path):
    errors = {f"set {i}": [Samples((v + 0.1 * i,), 1) for v in (1.0, 2.0, 3.0)] for i in range(6)}
    picture, _, table = ranks.rank_blocks("x", errors, ["a", "b", "c"], error=True)
    assert isinstance(picture, Figure) and "over 6 sets" in picture.caption
    assert isinstance(table, Table) and table.rows[0][1] == "6 / 0 / 0"
    worst = {f"set {i}": [Samples((50.0,), 1), Samples((float("nan"),), 1)] for i in range(6)}
    known, scores = ranks.scores_of(worst, error=False)
    assert len(known) == 6 and (scores[:, 0] > scores[:, 1]).all()  # who could not begin comes last
    few = {"one": errors["set 0"], "two": [Samples((), 1)] * 3}
    (text,) = ranks.rank_blocks("x", few, ["a", "b", "c"], error=True)
    assert text.text.startswith("Ranks over sets wait")
