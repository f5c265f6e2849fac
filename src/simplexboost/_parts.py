"""What every part shares: a part is a dataclass of parameters that is also a scikit-learn estimator.

Cloning, printing, pickling and ``GridSearchCV({"learner__max_depth": [2, 4]})`` come with ``BaseEstimator``;
strings are looked up in a table that stands beside the classes (``LOSSES``, ``CODEWORDS``, ...).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

P = TypeVar("P", bound="Part")


class Part(BaseEstimator):
    """A loss, a codeword set, a weak learner, an optimizer or a step: parameters only, no fitted state."""


def resolve(value: Any, table: Mapping[str, type[P]], base: type[P], parameter: str) -> P:
    """The part that ``value`` names: a key of ``table``, or an instance of ``base`` as it is."""
    if isinstance(value, base):
        return value
    choices = ", ".join(repr(name) for name in table)
    if isinstance(value, str):
        if value in table:
            return table[value]()
        raise ValueError(f"{parameter}={value!r} is unknown; choose one of {choices}, or pass a {base.__name__}.")
    if isinstance(value, type) and issubclass(value, base):
        raise TypeError(f"{parameter}={value.__name__} is a class; pass an instance, {value.__name__}().")
    raise TypeError(f"{parameter}={value!r} must be one of {choices}, or a {base.__name__} instance.")
