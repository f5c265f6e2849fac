"""A few cases of every promise, and what counts the cases; `make soak` tries very many."""

import math
import os
import signal
import time
from pathlib import Path

import pytest

from promises import Promise, all_promises, page
from promises import __main__ as soak
from promises.trying import try_promise

PROMISES = all_promises()
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "promise",
    [
        pytest.param(promise, id=name, marks=[getattr(pytest.mark, need) for need in promise.needs])
        for name, promise in PROMISES.items()
    ],
)
def test_promise(promise):
    tally = try_promise(promise, range(promise.fast))
    assert tally.cases == promise.fast
    assert not tally.failures, "\n".join(f"case {case}: {error}" for case, error in tally.failures.items())


def keeps_all_cases(case):
    pass


def breaks_odd_cases(case):
    assert case % 2 == 0, f"{case} is odd"


def dies_at_two(case):
    if case == 2:
        os.kill(os.getpid(), signal.SIGKILL)


def hangs_at_one(case):
    if case == 1:
        time.sleep(60)


@pytest.mark.parametrize(
    ("attempt", "broken", "words"),
    [
        (breaks_odd_cases, [1, 3], "is odd"),
        (dies_at_two, [2], "ended with status"),
        (hangs_at_one, [1], "not done after"),
    ],
)
def test_what_breaks_a_promise_is_counted_and_the_others_go_on(attempt, broken, words):
    promise = Promise("It works.", attempt, fast=5, soak=5, seconds=5.0)
    tally = try_promise(promise, range(5), jobs=2)
    assert tally.cases == 5
    assert sorted(tally.failures) == broken
    assert all(words in error for error in tally.failures.values())


def test_a_soak_stops_in_time_and_says_how_far_it_came():
    promise = Promise("It works.", breaks_odd_cases, fast=1, soak=1, each=100)
    tally = try_promise(promise, range(50), until=time.monotonic())
    assert tally.cases == 1
    assert page.count(tally) == "100 of 5,000"


def test_a_part_of_a_soak_is_told_as_a_part():
    promise = Promise("It works.", keeps_all_cases, fast=3, soak=50, each=100)
    assert [soak.cases_of(promise, part) for part in (1.0, 0.2, 0.01, 7.0)] == [50, 10, 3, 50]
    tally = try_promise(promise, range(soak.cases_of(promise, 0.2)))
    assert page.count(tally) == "1,000 of 5,000"
    assert page.count(try_promise(promise, range(50))) == "5,000"


def test_the_page_says_what_was_tried_and_what_broke():
    tally = try_promise(Promise("It works.", breaks_odd_cases, fast=2, soak=2), range(2))
    tally.seconds = 90.0
    text = page.page([tally])
    assert "| It works. | `breaks_odd_cases` | 2 | 1 |" in text
    assert "2 cases of 1 promises in 90 s, 1 of them broken" in text


def test_a_soak_in_parts(tmp_path):
    """What was kept in an earlier part is not tried again; what was broken or not finished is."""
    file = tmp_path / "kept.jsonl"
    good, bad = (Promise("It works.", attempt, fast=2, soak=2) for attempt in (keeps_all_cases, breaks_odd_cases))
    for promise in (good, bad):
        assert soak.kept(file, promise) is None
        tally = soak.try_one(promise, 2, 1, math.inf, file)
    assert soak.kept(file, bad) is None
    tally = soak.kept(file, good)
    assert (tally.promise, tally.cases, tally.planned, tally.failures) == (good, 2, 2, {})
    assert soak.kept(None, good) is None


def test_the_page_has_every_promise_and_none_is_broken():
    """docs/reliability.md is what `make soak` last wrote."""
    lines = (ROOT / "docs/reliability.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ") and "`" in line]
    assert {name.strip("`") for _, name, _, _ in rows} == set(PROMISES)
    assert {broken for _, _, _, broken in rows} == {"0"}
