"""Ranks on small sets: folds, mean ranks, the critical difference, and a small ranking from end to end."""

import json

import numpy as np
import pytest

from benchmarks import diagrams, problems, ranks, report, standings
from benchmarks.contestants import OURS

# ---- folds ----------------------------------------------------------------------------------------------------------


def test_halves_are_stratified_and_follow_from_the_seed():
    y = np.repeat([0, 1, 2, 3], [40, 21, 7, 1])
    half = ranks.halves(y, 0)
    for k in range(4):
        counts = np.bincount(half[y == k], minlength=2)
        assert abs(counts[0] - counts[1]) <= 1
    assert np.array_equal(half, ranks.halves(y, 0))
    assert not np.array_equal(half, ranks.halves(y, 1))


def test_folds_cover_every_row_once_and_vowel_keeps_its_parts():
    data = ranks.load("wine")
    tests = [ranks.parts(data, 3, fold)[2] for fold in range(2)]
    together = np.concatenate([data.X_train, data.X_test]).astype(np.float32)
    assert sorted(map(tuple, np.concatenate(tests))) == sorted(map(tuple, together))
    specs = ranks.folds(["vowel", "wine"], ["histgb"], 5, threads=1)
    assert [spec.dataset for spec in specs].count("vowel") == 5
    assert [spec.dataset for spec in specs].count("wine") == 10


@pytest.mark.parametrize("library", [OURS, "histgb"])
def test_a_class_that_is_missing_in_training_has_no_probability(monkeypatch, library):
    """The other columns stay where they belong, and the log-loss is clipped."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 2, 3, 1], [30, 30, 30, 1])
    X = (y[:, None] + 0.01 * rng.standard_normal((91, 2))).astype(np.float32)
    data = ranks.load("wine")
    few = problems.Dataset("few", X, y, X, y, data.feature_names[:2], np.zeros(2, dtype=bool), np.array(list("abcd")))
    monkeypatch.setattr(ranks, "load", lambda name, home: few)
    monkeypatch.setattr(ranks, "parts", lambda data, repeat, fold: (X[:90], y[:90], X, y))
    result = ranks.run(ranks.Fold("few", library, 0, 0, threads=1))
    assert result["accuracy"] == pytest.approx(90 / 91)
    assert result["log_loss"] == pytest.approx(-np.log(1e-15) / 91, abs=0.1)


# ---- ranks ----------------------------------------------------------------------------------------------------------


def cell(accuracy, log_loss, seconds=1.0):
    bins = {"count": [1], "confidence": [accuracy], "accuracy": [accuracy]}
    return {"accuracy": accuracy, "log_loss": log_loss, "seconds": seconds, "reliability": bins}


def made_up():
    """Two sets with two folds of two libraries, and one that is not finished."""
    return {
        f"one/{OURS}/0/0": cell(0.8, 0.3),
        f"one/{OURS}/0/1": cell(0.6, 0.5),
        "one/histgb/0/0": cell(0.7, 0.4),
        "one/histgb/0/1": cell(0.7, 0.2, seconds=9.0),
        f"two/{OURS}/0/0": cell(0.9, 0.1),
        "two/histgb/0/0": cell(0.8, 0.2),
        f"three/{OURS}/0/0": cell(0.9, 0.1),
        "three/histgb/0/0": {"error": "no"},
    }


def test_ranks_are_those_of_means_over_folds():
    found = standings.standings(made_up())
    assert (found.sets, found.unfinished) == (["one", "two"], ["three"])
    assert found.ranks("log_loss").tolist() == [1.5, 1.5]
    assert found.ranks("accuracy").tolist() == [1.25, 1.75]  # equal on the first set
    assert found.means["total"].sum(axis=0).tolist() == [3.0, 11.0]
    assert standings.ahead(found, OURS) == [["one", "log-loss", "histgb", "0.3000", "0.4000", "33.3%"]]
    assert "mean rank 1.50 by log-loss (place 1) and 1.25 by accuracy (place 1)" in standings.summary(found, OURS)[0]


def test_critical_difference_is_that_of_the_tables():
    """Demšar's table: 2.343 for three classifiers, 2.728 for five, 3.164 for ten."""
    for k, quantile in ((3, 2.343), (5, 2.728), (10, 3.164)):
        expected = quantile * np.sqrt(k * (k + 1) / (6 * 14))
        assert standings.critical_difference(k, 14) == pytest.approx(expected, rel=1e-3)


def test_bars_join_ranks_within_the_difference():
    assert diagrams.groups([1.0, 2.0, 2.5, 4.0], 1.6) == [(0, 2), (2, 3)]
    assert diagrams.groups([1.0, 4.0], 1.6) == []


def test_a_small_ranking_goes_on_where_it_was(tmp_path, capsys):
    out = tmp_path / "ranks.json"
    arguments = ["--sets", "wine", "--repeats", "1", "--threads", "1", "--json", str(out)]
    ranks.main([*arguments, "--libraries", "histgb"])
    ranks.main([*arguments, "--libraries", f"{OURS},histgb", "--resume"])
    assert "4 cells, 2 finished before" in capsys.readouterr().out
    assert not [entry for entry in json.loads(out.read_text())["cells"].values() if "error" in entry]
    report.main([str(out), "--output", str(tmp_path / "RESULTS.md")])
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "## Small sets, defaults" in page
    assert "Small sets, fit time in all: simplexboost " in page
