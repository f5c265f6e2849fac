"""The group of threads that other tests use: steps, losses and failures."""

import threading

import numpy as np
import pytest
from group_threads import run_group

from simplexboost.distributed.comm import Member


def total_of(group, value):
    """The sum of a value over all members."""
    return group.exchange("the sum", lambda: [("sum", value())])[0]


def program(group, numbers):
    """Sums, maxima and lists of what the members have; every second answer depends on the one before."""
    total = int(total_of(group, lambda: np.array(sum(numbers))))
    highest = group.exchange("the largest", lambda: [("max", np.array([max(numbers, default=-1)]))], lambda p: p[0][0])
    listed = group.exchange("all", lambda: [("list", [(n, n * total) for n in numbers])], lambda p: sorted(p[0]))
    return total, int(highest), listed, group.decide("the difference", lambda: total - int(highest))


NUMBERS = [[1, 5], [2], [], [9, 3]]
EXPECTED = (20, 9, [(n, 20 * n) for n in (1, 2, 3, 5, 9)], 11)


def test_everybody_receives_the_same():
    assert run_group(program, NUMBERS, []) == [EXPECTED] * 5


@pytest.mark.parametrize("losses", [{0: [1]}, {3: [0, 3]}, {1: [2], 2: [2], 4: [0, 1, 2, 3]}])
def test_members_that_are_lost_are_replaced(losses):
    assert run_group(program, NUMBERS, [], losses) == [EXPECTED] * 5


def test_the_error_of_a_member_is_raised_at_the_leader():
    def failing(group, numbers):
        total = total_of(group, lambda: np.array(len(numbers)))
        if len(numbers) == 1:
            raise ValueError(f"one of {total}")

    with pytest.raises(ValueError, match="one of 5") as caught:
        run_group(failing, NUMBERS, [])
    assert caught.value.__notes__ == ["This happened on member 1."]


def test_an_answer_that_nobody_waits_for_any_more_can_be_asked_for_again():
    asked = threading.Event()

    def slow(group):
        total_of(group, lambda: asked.wait(60) and np.array(3))

    member = Member(slow)
    try:
        member.step(0, None).cancel()
        asked.set()
        assert member.step(0, None).result(60).unpack().pieces == (3,)
    finally:
        member.close()
