"""Figures of several repeats as text: means, and intervals of differences between contestants in the same repeats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student


def mean_of(values: Sequence[float], digits: int = 3) -> str:
    """The mean of the repeats.

    Examples
    --------
    >>> mean_of([0.5, 0.7])
    '0.600'
    """
    return f"{np.mean(values):.{digits}f}"


def difference(values: Sequence[float], others: Sequence[float], digits: int = 3) -> str:
    """The mean of values less others and its 95 % interval, from the differences in every repeat.

    Examples
    --------
    >>> difference([1.0, 1.2, 1.1], [0.9, 1.0, 1.0])
    '+0.133 ± 0.143'
    """
    gaps = np.subtract(values, others)
    if len(gaps) < 2:
        return f"{gaps.mean():+.{digits}f}"
    half = student.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    return f"{gaps.mean():+.{digits}f} ± {half:.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table in Markdown; the first column is text, all others are numbers.

    Examples
    --------
    >>> table(["set", "error"], [["a", "0.1"]])
    ['| set | error |', '|---|---:|', '| a | 0.1 |']
    """
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
