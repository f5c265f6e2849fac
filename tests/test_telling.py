"""Long steps say what they will take before they begin, and how far they are."""

import numpy as np
import pytest

import simplexboost as sb
from simplexboost._util import messages
from simplexboost._util.messages import show_progress, track_progress
from simplexboost.parts.codewords import Auto, packing


def test_nobody_hears_what_nobody_asked_for(capsys):
    assert list(track_progress([1, 2], "counting", seconds=99.0)) == [1, 2]
    with show_progress(False):
        assert list(track_progress([1, 2], "counting", seconds=99.0)) == [1, 2]
    with show_progress(True):
        assert list(track_progress([1, 2], "counting", seconds=0.5)) == [1, 2]
    assert capsys.readouterr().out == ""


def test_a_line_before_the_first_part_and_one_for_every_part_that_takes_long(capsys, monkeypatch):
    now = iter([0.0, 3.0, 3.5, 6.0])
    monkeypatch.setattr(messages.time, "perf_counter", lambda: next(now))
    with show_progress(True):
        parts = track_progress(["a", "b", "c"], "counting", seconds=9.0)
        next(parts)
        assert capsys.readouterr().out == "counting: about 9 s\n"
        assert list(parts) == ["b", "c"]
    assert capsys.readouterr().out == "counting: 1/3  3 s, 6 s to go\ncounting: 3/3  6 s, 0 s to go\n"


@pytest.fixture
def slow_search(monkeypatch):
    """A forecast as if every search took long, and room for one start only, as where there are very many classes."""
    monkeypatch.setattr(packing, "SECONDS", 1e-2)
    monkeypatch.setattr(packing, "MAX_STARTS", 1)
    monkeypatch.setattr(packing, "_last", (None, None, None))


X, Y = np.arange(120.0)[:, None], np.arange(120) % 12


def test_a_search_for_codewords_is_told_once_before_the_first_round(slow_search, capsys):
    """The candidates that the classifier chooses from all begin with the same search."""
    clf = sb.SimplexBoostClassifier(codewords=Auto(4), verbose=1, learning_rate=1.0, random_state=0, n_jobs=1)
    clf.fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("searching 12 codewords of 4 dimensions: about ")
    assert [i for i, line in enumerate(lines) if line.startswith("searching") and "about" in line] == [0]
    assert lines.index(next(line for line in lines if line.startswith("choosing"))) > 0
    quiet = sb.SimplexBoostClassifier(codewords=Auto(4), learning_rate=1.0, random_state=0, n_jobs=1).fit(X, Y)
    np.testing.assert_array_equal(quiet.class_scores(X), clf.class_scores(X))
    assert capsys.readouterr().out == ""


def test_a_search_that_is_not_made_again_leaves_the_random_numbers_as_it_would(slow_search):
    first, second, third = (np.random.default_rng(seed) for seed in (3, 3, 4))
    Y = packing.pack(12, 4, False, first)
    again = packing.pack(12, 4, False, second)
    np.testing.assert_array_equal(again, Y)
    assert first.integers(2**63) == second.integers(2**63)
    again[:] = 0.0  # a copy
    assert packing.pack(12, 4, False, np.random.default_rng(3)).any()
    assert not np.array_equal(packing.pack(12, 4, False, third), Y)
