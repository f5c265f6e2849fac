"""Pictures: the artists are there and hold the numbers they should."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot
import numpy as np
import pytest
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal

import simplexboost as sb
from simplexboost import theory
from simplexboost.evaluate.drawing import row_of_axes
from simplexboost.theory.game_plots import (
    plot_bounds,
    plot_degrees,
    plot_potential,
    plot_potential_history,
    plot_walks,
)

matplotlib.use("agg")


def test_figures_2_are_the_potentials():
    ax = plot_bounds(range(1, 5), 6)
    assert_allclose(ax.lines[0].get_ydata(), [5 / 6, 35 / 36, 25 / 27, 0.8912037037], rtol=1e-9)
    _, own = matplotlib.pyplot.subplots()
    assert plot_bounds(10, [2, 3], 0.1, ax=own) is own
    assert_allclose(own.lines[0].get_ydata(), [0.495595408, 0.5672623104], rtol=1e-8)


def test_degree_maps_hold_every_pixel_once():
    axes = [plot_degrees(3), plot_degrees(10, 0.4), plot_degrees(6, 0.1, "exponential", 0.1)]
    for ax, (T, counts) in zip(axes, ((3, [32, 4, 13]), (10, [298, 102, 41]), (6, None)), strict=True):
        pixels = [np.column_stack(line.get_data()) for line in ax.lines]
        assert counts is None or [len(p) for p in pixels] == counts
        assert len(np.unique(np.concatenate(pixels), axis=0)) == (2 * T + 1) ** 2
        assert np.abs(np.concatenate(pixels)).max() == T


def test_surfaces_and_comparisons():
    surface = plot_potential(3).collections[0]
    assert len(surface.get_array()) == 36
    left = plot_bounds(range(1, 5), 6, 0.0, ("minimal", "best"))
    right = plot_bounds(10, [3, 4], 0.0, ("minimal", "best"))
    minimal, fixed = (line.get_ydata() for line in left.lines)
    assert_allclose(minimal[-1], theory.potential(4, "minimal", 6, 0.0))
    assert (minimal >= np.array(fixed) - 1e-12).all()
    assert_array_equal(right.lines[0].get_xdata(), [3, 4])


def test_walks_and_histories():
    walks = theory.simulate_walks(6, "minimal", 3, 0.1, n_walks=12, random_state=0)
    ax = plot_walks(walks, 0.5, most=5)
    assert len(ax.lines) == 6 and "potential 0.5" in ax.get_title()
    X, y = blobs(n=100, p=2, K=3, seed=3)
    with pytest.warns(theory.ConditionWarning):
        clf = sb.OSBoostClassifier(loss="zero-one", edge=0.9, n_estimators=8).fit(X, y)
    lines = {line.get_label(): line for line in plot_potential_history(clf).lines}
    assert_allclose(lines["average potential"].get_ydata(), [clf.bound_, *clf.history_["potential"]])
    assert len(lines["the learner fails its condition"].get_xdata()) == (~clf.history_["condition_met"]).sum()


def test_panels_must_fit():
    with pytest.raises(ValueError, match="ax has 1 entries; there are 2 panels"):
        row_of_axes(matplotlib.pyplot.subplots()[1], 2)


def test_matplotlib_is_imported_by_the_first_picture_only():
    code = """
import sys
import simplexboost
assert "simplexboost.evaluate" not in sys.modules
import simplexboost.theory.game_plots
assert "matplotlib" not in sys.modules
sys.modules["matplotlib.pyplot"] = None
try:
    simplexboost.theory.game_plots.plot_bounds(3, (2, 3))
except ImportError as error:
    assert "pip install matplotlib" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
