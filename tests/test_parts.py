"""What every part shares: names become parts, parameters are checked, attributes are computed once."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simplexboost._util.compat import cached
from simplexboost._util.params import check_choice, check_number, resolve
from simplexboost.parts.losses import LOSSES, MM, Logistic, Loss

# ---- names ----------------------------------------------------------------------------------------------------------


def test_names_and_parts_become_parts():
    part = Logistic()
    assert resolve(part, LOSSES, Loss, "loss") is part
    assert type(resolve("mm", LOSSES, Loss, "loss")) is MM


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("hinge", ValueError, "loss='hinge' is unknown; choose one of 'logistic', 'savage', .* or pass a Loss"),
        (MM, TypeError, r"loss=MM is a class; pass an instance, MM\(\)"),
        (3, TypeError, "loss=3 must be one of 'logistic', .* or a Loss instance"),
        (None, TypeError, "loss=None must be one of"),
        (dict, TypeError, "must be one of"),
    ],
)
def test_what_is_no_part_says_what_is(value, kind, words):
    with pytest.raises(kind, match=words):
        resolve(value, LOSSES, Loss, "loss")


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "options"),
    [
        (1, int, {"low": 1, "high": 3}),
        (3, int, {"low": 1, "high": 3}),
        (np.int64(2), int, {"low": 1}),
        (10**400, int, {"low": 1}),
        (0.0, float, {"low": 0.0}),
        (1e-300, float, {"low": 0.0, "open_low": True}),
        (1, float, {"low": 0.0, "high": 1.0}),
        (np.float32(0.5), float, {"low": 0.0, "high": 1.0}),
        (-1e300, float, {}),
        (None, float, {"low": 0.0, "none": True}),
        ("auto", int, {"low": 1, "auto": True}),
    ],
)
def test_numbers_in_range_pass(value, kind, options):
    check_number("x", value, kind, **options)


@pytest.mark.parametrize(
    ("value", "kind", "options", "error", "message"),
    [
        (0, int, {"low": 1, "high": 3}, ValueError, "x=0 is out of range; it must be an integer in [1, 3]."),
        (4, int, {"low": 1, "high": 3}, ValueError, "x=4 is out of range; it must be an integer in [1, 3]."),
        (0.0, float, {"low": 0.0, "open_low": True}, ValueError, "it must be a number in (0.0, inf)."),
        (-0.1, float, {"low": 0.0}, ValueError, "it must be a number in [0.0, inf)."),
        (1.1, float, {"high": 1.0}, ValueError, "it must be a number in [-inf, 1.0]."),
        (np.inf, float, {"low": 0.0}, ValueError, "x=inf is out of range"),
        (np.nan, float, {}, ValueError, "x=nan is out of range"),
        (2.0, int, {"low": 1}, TypeError, "x=2.0 must be an integer in [1, inf)."),
        (True, int, {"low": 1}, TypeError, "x=True must be an integer in [1, inf)."),
        ("3", float, {"low": 0.0}, TypeError, "x='3' must be a number in [0.0, inf)."),
        (None, int, {"low": 1}, TypeError, "x=None must be an integer in [1, inf)."),
        ("auto", int, {"low": 1}, TypeError, "x='auto' must be an integer in [1, inf)."),
        ("best", int, {"low": 1, "auto": True}, TypeError, "must be an integer in [1, inf) or 'auto'."),
        ("1", int, {"low": 1, "none": True}, TypeError, "must be an integer in [1, inf) or None."),
    ],
)
def test_other_numbers_are_refused_by_name_and_range(value, kind, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        check_number("x", value, kind, **options)


def test_choices():
    check_choice("rule", "edge", iter(["exact", "edge"]))
    for wrong in ("best", None, 1):
        with pytest.raises(ValueError, match=rf"rule={wrong!r} is unknown; choose one of 'exact', 'edge'\."):
            check_choice("rule", wrong, iter(["exact", "edge"]))


# ---- attributes computed once ---------------------------------------------------------------------------------------


class Counted:
    calls = 0

    @cached
    def value(self) -> list[int]:
        """A fresh list."""
        self.calls += 1
        return [self.calls]


def test_a_cached_attribute_is_computed_once_for_every_instance():
    one, other = Counted(), Counted()
    assert one.value is one.value and one.calls == 1
    assert other.calls == 0 and other.value is not one.value
    assert Counted.value.__doc__ == "A fresh list."


def test_the_first_value_that_was_ready_is_everybody_s():
    class Late:
        @cached
        def value(self) -> int:
            self.__dict__["value"] = 1  # another thread was faster
            return 2

    assert Late().value == 1
