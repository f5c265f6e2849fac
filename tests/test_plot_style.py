"""What all pictures share: colours for all eyes and for grey paper, and no matplotlib before it is needed."""

from __future__ import annotations

import pickle
import re
import runpy
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from picture_checks import check_picture, model_of

import simplexboost as sb
from simplexboost import evaluate
from simplexboost.evaluate.drawing import PALETTE, choose_ink, class_style, class_ticks, line_style, pick_shades

ROOT = Path(__file__).parent.parent

# Machado, Oliveira and Fernandes (2009): what colours look like without one kind of cones, in linear RGB.
EYES = {
    "normal": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])


def lab(colours, eyes="normal"):
    """CIELAB coordinates of colours as some eyes see them."""
    rgb = np.array([to_rgb(colour) for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(EYES[eyes]).T, 0, 1)
    t = (seen @ XYZ.T) / XYZ.sum(axis=1)
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("eyes", EYES)
def test_colours_differ_to_all_eyes(eyes):
    seen = lab(PALETTE, eyes)
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 30


def test_colours_differ_in_grey():
    lightness = np.sort(lab(PALETTE)[:, 0])
    assert np.diff(lightness).min() > 9 and lightness[-1] < 80  # the last can be seen on white
    ordered = lab(pick_shades(7))[:, 0]
    assert (np.diff(ordered) > 5).all()


def test_classes_of_one_colour_have_different_markers():
    styles = [tuple(class_style(k).values()) for k in range(30)]
    assert len(set(styles)) == 30
    assert len({str(line_style(k)["linestyle"]) for k in range(6)}) == 6


def test_text_can_be_read_on_every_colour():
    for colour in (*PALETTE, "white", "black"):
        one, other = (
            np.array([0.2126, 0.7152, 0.0722]) @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
            for rgb in (np.array(to_rgb(colour)), np.array(to_rgb(choose_ink(colour))))
        )
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) > 4.5  # the contrast that WCAG asks for


@pytest.mark.parametrize("K", [2, 3, 26, 400])
@pytest.mark.parametrize("size", [(3, 3), (6, 4), (12, 8)])
def test_ticks_of_classes_never_overlap(K, size):
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    ax.set(xlim=(-0.5, K - 0.5), ylim=(K - 0.5, -0.5))
    for which in "xy":
        class_ticks(ax, which, [f"class number {k}" for k in range(K)])
    check_picture(ax)
    assert len(ax.get_xticklabels()) >= 2
    ax.set_xlim(-0.5, 1.5)  # a part of the picture has more of the names
    check_picture(ax)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["class number 0", "class number 1"]


ODD = ["$5 to $10", "_hidden", "$x^{$", r"a \frac b"]


def test_text_of_the_user_is_drawn_as_it_is():
    """Two dollars are no formula, and a name that begins with a line is not left out of the legend."""
    X, c = np.random.default_rng(0).normal(size=(80, 2)), np.arange(80) % 4
    X[:, 0] += 3 * c
    table = pd.DataFrame(X, columns=["$a_{$", "_b"])
    clf = sb.SimplexBoostClassifier(n_estimators=3, codewords="simplex", random_state=0).fit(table, np.array(ODD)[c])
    y = clf.predict(table)
    drawn = [
        evaluate.Confusion.from_predictions(y, y).plot(),
        evaluate.ClassTable.from_predictions(y, y).plot(kind="scatter"),
        evaluate.Reliability.from_estimator(clf, table, y).plot(name="$x^{$"),
        evaluate.RiskCurve.from_estimator(clf, table, y).plot(name="$x^{$"),
        evaluate.DecisionRegions.from_estimator(clf, table, y, grid=20).plot(),
        evaluate.plot_predictor(clf, table, y),
        evaluate.plot_class_map(clf, table, y),
        evaluate.plot_importance(clf, classes=clf.classes_),
        evaluate.plot_shap(clf, table, ODD[2]),
        evaluate.plot_tree(clf),
        evaluate.plot_codewords(clf),
        evaluate.plot_race({name: ([1.0], [1.0]) for name in ODD}),
    ]
    for ax in drawn:
        ax.figure.canvas.draw()  # which raises if a formula cannot be read
    for ax in (drawn[5], drawn[-1]):
        words = {text.get_text().lstrip("\u200b").replace(r"\$", "$") for text in ax.get_legend().get_texts()}
        assert words == set(ODD)


def test_pictures_can_be_saved_and_pickled(tmp_path):
    ax = evaluate.plot_codewords("simplex", 3)
    for name in ("picture.png", "picture.pdf", "picture.svg"):
        ax.figure.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert len(pickle.loads(pickle.dumps(ax.figure)).axes) == 1


def test_every_picture_asks_for_matplotlib_in_one_sentence():
    """Without matplotlib the package is imported, and each picture says in one sentence what to install."""
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = None
import numpy as np
import simplexboost as sb
from simplexboost import evaluate
from simplexboost.theory import game_plots
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
clf = sb.SimplexBoostClassifier(random_state=0, learning_rate=0.5, calibration=True, n_estimators=5).fit(X, y)
flat = sb.SimplexBoostClassifier(random_state=0, n_estimators=2).fit(X[:, :2], y)
calls = {
    "plot_codewords": lambda f: f("simplex", 3), "plot_predictor": lambda f: f(clf, X, y),
    "animate_predictor": lambda f: f(clf, X, y),
    "plot_margins": lambda f: f(clf, X, y), "plot_learning_curves": lambda f: f(clf),
    "plot_candidates": lambda f: f(clf), "plot_importance": lambda f: f(clf), "plot_tree": lambda f: f(clf),
    "plot_shap": lambda f: f(clf, X, 0),
    "plot_loss_contours": lambda f: f(), "plot_race": lambda f: f({"a": ([1], [1])}),
    "plot_class_map": lambda f: f(clf, X, y), "Confusion": lambda f: f.from_estimator(clf, X, y).plot(),
    "ClassTable": lambda f: f.from_estimator(clf, X, y).plot(),
    "Reliability": lambda f: f.from_estimator(clf, X, y).plot(),
    "RiskCurve": lambda f: f.from_estimator(clf, X, y).plot(),
    "DecisionRegions": lambda f: f.from_estimator(flat, X[:, :2], y).plot(),
}
offered = {name: getattr(evaluate, name) for name in evaluate.__all__}
pictures = {name for name, what in offered.items() if name.startswith(("plot", "animate")) or hasattr(what, "plot")}
assert set(calls) == pictures, set(calls) ^ pictures
calls["plot_bounds"] = lambda f: f(range(1, 4), 3)
for name, call in calls.items():
    try:
        call(getattr(game_plots if name == "plot_bounds" else evaluate, name))
    except ImportError as error:
        assert str(error) == "plots need matplotlib: pip install matplotlib.", (name, str(error))
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pictures_fit_into_a_part_of_a_figure():
    parts = plt.figure(figsize=(14, 5), layout="constrained").subfigures(1, 2)
    clf, X, y = model_of(26)
    ax = parts[0].subplots()
    assert evaluate.plot_class_map(clf, X, y, ax=ax) is ax
    evaluate.plot_learning_curves(clf, ax=parts[1].subplots())
    parts[0].figure.canvas.draw()
    assert ax.get_window_extent().x1 < 700


def test_pictures_of_the_page_are_there_and_drawn_by_the_example(tmp_path):
    page = (ROOT / "docs/pictures.md").read_text()
    shown = set(re.findall(r"\(images/([a-z-]+)\.png\)", page))
    assert shown == {path.stem for path in (ROOT / "docs/images").glob("*.png")}
    example = runpy.run_path(str(ROOT / "examples/pictures.py"))
    assert shown == set(re.findall(r'yield "([a-z-]+)"', (ROOT / "examples/pictures.py").read_text()))
    for _, ax in example["of_codes"]():
        ax.figure.canvas.draw()


def test_every_public_picture_has_an_example():
    for name in evaluate.__all__:
        assert name == "games" or ">>>" in getattr(evaluate, name).__doc__, name


def test_inspection_and_plotting_are_public():
    assert sb.evaluate.Confusion and sb.evaluate.plot_tree
