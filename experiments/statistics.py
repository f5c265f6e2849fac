"""Statistics of boosters over data sets: intervals, tests by ranks, critical differences, wins and losses.

Scores are arrays of shape (sets, methods), higher is better; errors are given with the sign changed. The tests follow
Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Interval:
    """A mean, and the ends of an interval around it."""

    mean: float
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.mean:.1f} [{self.low:.1f}, {self.high:.1f}]"


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Student's interval for the mean of values over splits; a single value has an endless one.

    Examples
    --------
    >>> print(mean_interval([84.0, 86.0, 88.0]))
    86.0 [81.0, 91.0]
    """
    return _student(values, level, 0.0)


def run_interval(values: Sequence[float], test_rows: int | None = None, level: float = 0.95) -> Interval:
    """Where one more run would lie, in percent: the interval with which a paper's single figure is compared.

    Over random splits it is Student's prediction interval. On a given split the variance is that of the seeds plus the
    binomial one of so many test rows; ``test_rows`` says that the split is given.

    Examples
    --------
    >>> print(run_interval([90.0], test_rows=400))
    90.0 [87.1, 92.9]
    >>> print(run_interval([84.0, 86.0, 88.0]))
    86.0 [76.1, 95.9]
    """
    if test_rows is None:
        return _student(values, level, 1.0)
    mean = float(np.mean(values))
    seeds = float(np.var(values, ddof=1)) * (1 + 1 / len(values)) if len(values) > 1 else 0.0
    rows = mean * (100 - mean) / test_rows
    half = float(stats.norm.ppf((1 + level) / 2)) * float(np.sqrt(rows + seeds))
    return Interval(mean, mean - half, mean + half)


def _student(values: Sequence[float], level: float, one_more: float) -> Interval:
    """The interval for the mean, or (``one_more`` = 1) for one more value."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return Interval(mean, -np.inf, np.inf)
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(values, ddof=1) * np.sqrt(1 / n + one_more))
    return Interval(mean, mean - half, mean + half)


def ranks(scores: Any) -> Any:
    """Mean rank of each method, (methods,): 1 is the best, ties share their ranks."""
    return stats.rankdata(-np.asarray(scores, dtype=float), axis=1).mean(axis=0)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all methods have the same ranks.

    Attributes
    ----------
    ranks : mean ranks, (methods,)
    chi2 : Friedman's statistic
    F : Iman and Davenport's, which is less conservative
    p : of F
    """

    ranks: Any
    chi2: float
    F: float
    p: float


def friedman(scores: Any, ties: bool = True) -> Friedman:
    """The test over (sets, methods); ``ties`` corrects the statistic for shared ranks.

    Examples
    --------
    >>> result = friedman([[3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]])
    >>> round(result.chi2, 2), round(result.F, 2), result.ranks
    (4.5, 3.86, array([1.25, 2.  , 2.75]))
    """
    own = stats.rankdata(-np.asarray(scores, dtype=float), axis=1)  # (sets, methods)
    n, k = own.shape
    mean = own.mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * float((mean**2).sum() - k * (k + 1) ** 2 / 4)
    if ties:
        shared = sum(float((t**3 - t).sum()) for row in own for t in [np.unique(row, return_counts=True)[1]])
        room = 1 - shared / (n * (k**3 - k))
        chi2 = chi2 / room if room > 0 else 0.0
    most = n * (k - 1)
    F = float("inf") if chi2 >= most else (n - 1) * chi2 / (most - chi2)
    return Friedman(mean, chi2, F, float(stats.f.sf(F, k - 1, (k - 1) * (n - 1))))


def nemenyi(methods: int, sets: int, alpha: float = 0.05) -> float:
    """The critical difference: mean ranks further apart differ.

    Examples
    --------
    >>> round(nemenyi(4, 14), 2), round(nemenyi(4, 14, alpha=0.1), 2)
    (1.25, 1.12)
    """
    q = float(stats.studentized_range.ppf(1 - alpha, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def wilcoxon(differences: Any) -> tuple[float, float, float]:
    """R₊, R₋ and the exact two-sided p of Wilcoxon's signed-rank test.

    The ranks of zero differences are split evenly. The distribution is that of all signs of the other differences, so
    that ties need no approximation.

    Examples
    --------
    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, -0.5])
    (14.0, 1.0, 0.125)
    """
    d = np.asarray(differences, dtype=float)
    doubled = np.rint(2 * stats.rankdata(np.abs(d))).astype(int)  # twice the ranks are whole numbers
    zeros = doubled[d == 0].sum() / 2
    plus, minus = (float((doubled[d > 0].sum() + zeros) / 2), float((doubled[d < 0].sum() + zeros) / 2))
    ways = np.ones(1)  # how probable a sum of doubled ranks is
    for rank in doubled[d != 0]:
        ways = 0.5 * (np.append(ways, np.zeros(rank)) + np.append(np.zeros(rank), ways))
    middle = (len(ways) - 1) / 2
    far = np.abs(np.arange(len(ways)) - middle) >= abs(doubled[d > 0].sum() - middle) - 1e-9
    return plus, minus, min(1.0, float(ways[far].sum()))


def chance(p: float) -> str:
    """A p-value in words.

    Examples
    --------
    >>> chance(0.04321), chance(2e-5)
    ('0.043', '< 0.001')
    """
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def capital(text: str) -> str:
    """Text with a capital letter at its beginning."""
    return text[0].upper() + text[1:]


def median_words(points: float) -> str:
    """An advantage in points of error.

    Examples
    --------
    >>> median_words(1.04), median_words(-0.3), median_words(0.04)
    ('lower by 1.0 points', 'higher by 0.3 points', 'no difference')
    """
    if abs(points) < 0.05:
        return "no difference"
    return f"{'higher' if points < 0 else 'lower'} by {abs(points):.1f} points"


def signs(differences: Any) -> str:
    """How many advantages, in points of error, are positive, zero and negative, and Wilcoxon's p.

    Examples
    --------
    >>> signs([1.0, 2.0, 3.0, 0.0, -0.5])
    "on 3 of 5 sets, the same on 1, a higher one on 1 (Wilcoxon's p: 0.250; lower by 1.0 points in the median)"
    """
    d = np.asarray(differences, dtype=float)
    return (
        f"on {(d > 0).sum()} of {len(d)} sets, the same on {(d == 0).sum()}, a higher one on {(d < 0).sum()} "
        f"(Wilcoxon's p: {chance(wilcoxon(d)[2])}; {median_words(float(np.median(d)))} in the median)"
    )


def holm(p: Sequence[float]) -> Any:
    """p values adjusted for their number by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    out = np.empty(len(p))
    out[order] = np.minimum(steps, 1.0)
    return out


@dataclass(frozen=True)
class Pair:
    """Two methods: on how many sets the first is better, equal, worse; Wilcoxon's p, and adjusted by Holm's method."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float


def pairs(scores: Any, names: Sequence[str], tie: float = 0.0) -> list[Pair]:
    """All pairs of methods; differences up to ``tie`` are ties.

    Examples
    --------
    >>> for pair in pairs([[3, 2], [4, 1], [2, 2], [9, 5]], ["a", "b"]):
    ...     print(pair.first, pair.second, pair.wins, pair.ties, pair.losses, pair.p)
    a b 3 1 0 0.25
    """
    scores = np.asarray(scores, dtype=float)
    columns = list(combinations(range(len(names)), 2))
    differences = [scores[:, i] - scores[:, j] for i, j in columns]
    differences = [np.where(np.abs(d) <= tie, 0.0, d) for d in differences]
    p = [wilcoxon(d)[2] for d in differences]
    return [
        Pair(names[i], names[j], int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum()), one, float(all_of))
        for (i, j), d, one, all_of in zip(columns, differences, p, holm(p), strict=True)
    ]


def cliques(mean_ranks: Any, critical: float) -> list[tuple[int, int]]:
    """Groups of methods that do not differ: (first, last) positions in the order of ranks, largest groups only.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.6, 3.9], critical=1.25)
    [(0, 1), (1, 2)]
    """
    ordered = np.sort(np.asarray(mean_ranks, dtype=float))
    reach = [int(np.searchsorted(ordered, r + critical + 1e-12, side="right")) - 1 for r in ordered]
    return [(i, j) for i, j in enumerate(reach) if j > i and (i == 0 or reach[i - 1] < j)]


def draw_critical_difference(axes: Any, mean_ranks: Any, names: Sequence[str], critical: float) -> None:
    """Demšar's diagram: methods at their mean ranks, a bar over those that do not differ."""
    mean_ranks = np.asarray(mean_ranks, dtype=float)
    order = np.argsort(mean_ranks, kind="stable")
    k, groups = len(names), cliques(mean_ranks, critical)
    left, right, depth = 1.0, float(k), 0.5 + 0.35 * len(groups)
    axes.set(xlim=(left - 0.6 * k, right + 0.6 * k), ylim=(-depth - 0.5 * ((k + 1) // 2), 1.4))
    axes.set_axis_off()
    axes.plot([left, right], [0, 0], color="black", lw=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, 0.15], color="black", lw=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize=8)
    for position, i in enumerate(order):
        first_half = position < (k + 1) // 2
        line = position if first_half else k - 1 - position
        y, x = -depth - 0.5 * line, left - 0.15 if first_half else right + 0.15
        axes.plot([mean_ranks[i], mean_ranks[i], x], [0, y, y], color="0.4", lw=0.8)
        align = "right" if first_half else "left"
        axes.text(x + (-0.05 if first_half else 0.05), y, f"{names[i]} ({mean_ranks[i]:.2f})", ha=align, va="center")
    for height, (i, j) in enumerate(groups):
        y = -0.3 - 0.35 * height
        ends = [mean_ranks[order[i]] - 0.04, mean_ranks[order[j]] + 0.04]
        axes.plot(ends, [y, y], color="black", lw=3, solid_capstyle="butt")
    axes.plot([left, left + critical], [0.9, 0.9], color="black", lw=1.5)
    axes.text(left + critical / 2, 1.0, f"critical difference {critical:.2f}", ha="center", va="bottom", fontsize=8)
