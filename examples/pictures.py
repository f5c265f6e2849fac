"""Draw every picture of docs/pictures.md: python examples/pictures.py docs/images

The digits come with scikit-learn, and the three Gaussians are drawn. The pictures of 26 and 438 classes need the sets
letter and aloi27 in the folder that SIMPLEXBOOST_DATA names; without them these pictures are left out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import simplexboost as sb
from simplexboost import datasets, evaluate
from simplexboost.parts.codewords import MaxMin
from simplexboost.theory.game_plots import plot_bounds, plot_degrees

Picture = tuple[str, Any]  # its name and its axes


def of_codes() -> Iterator[Picture]:
    """Codewords, losses and games, which need no data."""
    yield "codewords", evaluate.plot_codewords("simplex", 3)
    yield "codewords-space", evaluate.plot_codewords(MaxMin(code_dim=3), 12)
    _, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for loss, ax in zip(("own-score", "exponential"), axes, strict=True):
        evaluate.plot_loss_contours(loss, ax=ax)
    yield "losses", axes[0]
    yield "degrees", plot_degrees(20, 0.4)
    yield "potentials", plot_bounds(range(1, 16), 6, 0.0, ("minimal", "best"))


def of_gaussians() -> Iterator[Picture]:
    """Three classes in the plane: the predictor and its margins, decision regions."""
    data = datasets.make_three_gaussians(1000, random_state=0)
    clf = sb.CDMCBoostClassifier(n_estimators=100).fit(data.X_train, data.y_train)
    X, y = data.X_test, data.y_test
    yield "predictor", evaluate.plot_predictor(clf, X, y, [1, 10, 100])[0]
    yield "margins", evaluate.plot_margins(clf, X, y, [1, 10, 100])
    flagship = sb.SimplexBoostClassifier(random_state=0).fit(data.X_train, data.y_train)
    yield "regions", evaluate.DecisionRegions.from_estimator(flagship, X, y).plot()


def of_digits() -> Iterator[Picture]:
    """What one fit of the flagship has recorded, a tree of it, and how it explains itself."""
    data = datasets.load("digits")
    clf = sb.SimplexBoostClassifier(learning_rate=0.1, random_state=0).fit(data.X_train, data.y_train)
    yield "learning", evaluate.plot_learning_curves(clf)
    yield "candidates", evaluate.plot_candidates(clf)
    yield "tree", evaluate.plot_tree(clf, 0, max_depth=3)
    yield "map", evaluate.plot_class_map(clf, data.X_test, data.y_test)


def of_races() -> Iterator[Picture]:
    """Three boosters on the digits, against the clock."""
    data, curves = datasets.load("digits"), {}
    contestants = {
        "SimplexBoost": sb.SimplexBoostClassifier(n_estimators=400, random_state=0),
        "GD-MCBoost": sb.GDMCBoostClassifier(n_estimators=100),
        "AdaBoost.MM": sb.AdaBoostMMClassifier(n_estimators=400),
    }
    for name, booster in contestants.items():
        booster.fit(data.X_train, data.y_train)
        right = [np.mean(predicted == data.y_test) for predicted in booster.staged_predict(data.X_test)]
        curves[name] = booster.history_["seconds"], right
    yield "race", evaluate.plot_race(curves)


def of_letters() -> Iterator[Picture]:
    """26 classes."""
    data, letters = datasets.load("letter"), np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    clf = sb.SimplexBoostClassifier(n_estimators=150, learning_rate=0.15, random_state=0)
    clf.fit(data.X_train, letters[data.y_train])
    X, y = data.X_test, letters[data.y_test]
    yield "classes", evaluate.ClassTable.from_estimator(clf, X, y).plot(most=15)
    yield "reliability", evaluate.Reliability.from_estimator(clf, X, y, bins=10).plot()
    yield "importance", evaluate.plot_importance(clf, classes=clf.classes_)
    yield "shap", evaluate.plot_shap(clf, X, ["E", "Z"], most=8)[0]


def of_objects() -> Iterator[Picture]:
    """438 classes."""
    data = datasets.load("aloi27")
    clf = sb.SimplexBoostClassifier(n_estimators=150, learning_rate=0.15, random_state=0)
    clf.fit(data.X_train, data.y_train)
    yield "confusion", evaluate.Confusion.from_estimator(clf, data.X_test, data.y_test).plot()


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    makers = [of_codes, of_gaussians, of_digits, of_races]
    makers += [of_letters, of_objects] if os.environ.get("SIMPLEXBOOST_DATA") else []
    for maker in makers:
        for name, ax in maker():
            path = folder / f"{name}.png"
            ax.figure.savefig(path, dpi=80)
            plt.close(ax.figure)
            Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)  # a third of the size
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures"))
