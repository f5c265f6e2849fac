"""The statistics over data sets against scipy and against the worked examples of Demšar (JMLR 2006)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments import statistics

# Demšar's Table 6, AUC of four variants of C4.5 on 14 sets; in brackets the ranks he computed from more digits.
RANKS = np.array(
    [[4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5], [3, 2, 4, 1],
     [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5], [3, 2, 4, 1], [4, 1, 2, 3], [3, 1, 4, 2]]
)  # fmt: skip
# Demšar's Table 2: C4.5, and C4.5 with another number of examples in a leaf.
AUC = np.array(
    [[0.763, 0.768], [0.599, 0.591], [0.954, 0.971], [0.628, 0.661], [0.882, 0.888], [0.936, 0.931], [0.661, 0.668],
     [0.583, 0.583], [0.775, 0.838], [1.000, 1.000], [0.940, 0.962], [0.619, 0.666], [0.972, 0.981], [0.957, 0.978]]
)  # fmt: skip


def test_friedman_of_the_worked_example():
    result = statistics.friedman(-RANKS, ties=False)
    assert_allclose(result.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert result.chi2 == pytest.approx(9.28, abs=5e-3) and result.F == pytest.approx(3.69, abs=5e-3)
    assert result.p < 0.05 and result.F > stats.f.ppf(0.95, 3, 39) == pytest.approx(2.85, abs=5e-3)


def test_friedman_equals_scipys_with_and_without_ties():
    rng = np.random.default_rng(0)
    for scores in (rng.normal(size=(9, 4)), rng.integers(3, size=(12, 5)).astype(float)):
        mine = statistics.friedman(scores)
        assert mine.chi2 == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)
    assert statistics.friedman(np.ones((5, 3))).p == 1.0
    assert statistics.friedman(np.tile([3.0, 2.0, 1.0], (6, 1))).p < 1e-12


def test_critical_differences_of_the_worked_example():
    # Table 5 (a): q at 0.05 for 2 to 10 methods.
    q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, expected in enumerate(q, 2):
        assert statistics.nemenyi(k, 14) / np.sqrt(k * (k + 1) / 84) == pytest.approx(expected, abs=1.5e-3)
    assert statistics.nemenyi(4, 14) == pytest.approx(1.25, abs=5e-3)
    assert statistics.nemenyi(4, 14, 0.10) == pytest.approx(1.12, abs=5e-3)


def test_wilcoxon_of_the_worked_example():
    plus, minus, p = statistics.wilcoxon(np.round(AUC[:, 1] - AUC[:, 0], 3))
    assert (plus, minus) == (93.0, 12.0)
    assert p < 0.05  # the smaller sum is below the critical value 21


def test_wilcoxon_equals_scipys_exact_test_and_brute_force():
    rng = np.random.default_rng(1)
    d = rng.normal(0.4, 1.0, 11)
    assert statistics.wilcoxon(d)[2] == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)
    tied = np.array([1.0, 1.0, -1.0, 2.0, 0.0, 3.0, -2.0, 2.0])
    own = stats.rankdata(np.abs(tied))[tied != 0]
    signs = np.array(np.meshgrid(*[[0, 1]] * len(own))).reshape(len(own), -1)
    sums = own @ signs
    observed = own[tied[tied != 0] > 0].sum()
    expected = (np.abs(sums - own.sum() / 2) >= abs(observed - own.sum() / 2) - 1e-9).mean()
    assert statistics.wilcoxon(tied)[2] == pytest.approx(expected)
    assert statistics.wilcoxon(np.zeros(4))[2] == 1.0


def test_holm_never_lets_a_larger_p_be_smaller():
    p = [0.001, 0.02, 0.015, 0.4]
    adjusted = statistics.holm(p)
    assert_allclose(adjusted, [0.004, 0.045, 0.045, 0.4])
    assert statistics.holm([0.9, 0.8]).max() == 1.0


def test_pairs_count_wins_ties_and_losses():
    scores = np.array([[90.0, 80.0, 80.0], [70.0, 71.0, 60.0], [50.0, 50.05, 50.0]])
    found = {(p.first, p.second): (p.wins, p.ties, p.losses) for p in statistics.pairs(scores, "abc", tie=0.1)}
    assert found == {("a", "b"): (1, 1, 1), ("a", "c"): (2, 1, 0), ("b", "c"): (1, 2, 0)}


def test_intervals():
    values = [80.0, 82.0, 84.0, 90.0]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    interval = statistics.mean_interval(values)
    assert_allclose([interval.low, interval.high], expected)
    wide = statistics.run_interval(values)
    assert (wide.high - wide.low) / (interval.high - interval.low) == pytest.approx(np.sqrt(5))
    rng = np.random.default_rng(2)  # nineteen of twenty new runs lie in it
    inside = [rng.normal(85, 3) in statistics.run_interval(rng.normal(85, 3, 20)) for _ in range(2000)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
    errors = 100 * rng.binomial(400, 0.2, 2000) / 400
    assert np.mean([20.0 in statistics.run_interval([e], test_rows=400) for e in errors]) == pytest.approx(
        0.95, abs=0.02
    )


def test_groups_that_do_not_differ():
    assert statistics.cliques([3.143, 2.000, 2.893, 1.964], 1.25) == [(0, 3)]
    assert statistics.cliques([3.143, 2.000, 2.893, 1.964], 1.0) == [(0, 2), (2, 3)]
    assert statistics.cliques([1.0, 3.0, 5.0], 1.0) == []


def test_the_diagram_names_every_method():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    statistics.draw_critical_difference(axes, RANKS.mean(axis=0), names, 1.25)
    written = " ".join(text.get_text() for text in axes.texts)
    assert all(name in written for name in names) and "1.25" in written
