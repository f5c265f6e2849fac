"""What a member of a group holds of the tables of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Part:
    """A partition: consecutive rows of a table.

    Attributes
    ----------
    index : its place among all partitions of the table
    X, y, sample_weight, init_score, groups : as `fit` takes them, for these rows
    """

    index: int
    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None


@dataclass(frozen=True, eq=False)
class Tables:
    """The partitions that a member holds, ascending; the leader holds none.

    Attributes
    ----------
    train : those of the training table
    evals : for every entry of ``eval_set`` those of its table
    """

    train: list[Part] = field(default_factory=list)
    evals: list[list[Part]] = field(default_factory=list)
