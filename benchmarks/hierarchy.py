"""A tree of classes: ``python -m benchmarks.hierarchy`` compares ``classes=Hierarchy(...)`` with flat soft-max.

Tables with a natural tree: leaves of plants by genus and species (plants_margin, plants_shape), hand-written characters
by alphabet (omniglot), rooms by building and floor (ujiindoorloc is left out: 735 classes get canonical codewords), and
64 classes made on the spot, whose centres come from a tree of three levels with four branches each. Letters and digits
have a tree that is made from the confusions of a first model on other rows, by average linkage. Each repeat splits the
rows anew, at most 3 000 to train on; all fits hold out a tenth of them and stop early with a learning rate of 0.1, and
then choose their temperature on the same rows. Figures are log-loss, accuracy, the mean distance in the tree of the
most probable class and of the class with the smallest expected distance, and the accuracy of the top level.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split

from simplexboost import Hierarchy, SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray
from simplexboost.evaluate import HierarchicalScores

from .repeats import difference, mean_of, table

PAGE = Path(__file__).with_name("HIERARCHY.md")
MOST = 3_000  # rows to train on
Problem = tuple[AnyArray, AnyArray, Hierarchy]


# ---- tables ---------------------------------------------------------------------------------------------------------


def real(name: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """A set of the folder of data sets, both its parts together, and the names of its classes."""
    data = datasets.load(name)
    return np.vstack([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test]), data.class_names


def plants(name: str) -> Problem:
    """Species below their genus."""
    X, y, names = real(name)
    return X, y, Hierarchy.from_paths({k: str(text) for k, text in enumerate(names)}, separator=" ")


def omniglot() -> Problem:
    """Characters below their alphabet."""
    X, y, names = real("omniglot242")
    return X, y, Hierarchy.from_paths({k: str(text) for k, text in enumerate(names)})


def made(branches: int = 4, levels: int = 3, p: int = 12) -> Problem:
    """Classes whose centres walk down a tree, each step half as long as the one before."""
    rng = np.random.default_rng(0)
    centres, names = np.zeros((1, p)), [""]
    for level in range(levels):
        centres = np.repeat(centres, branches, axis=0)
        centres = centres + rng.standard_normal(centres.shape) * 1.6 / 2**level
        names = [f"{name}{branch}/" for name in names for branch in range(branches)]
    y = rng.integers(0, len(centres), 6000)
    paths = {k: name.rstrip("/") for k, name in enumerate(names)}
    return centres[y] + 0.9 * rng.standard_normal((len(y), p)), y, Hierarchy.from_paths(paths)


def clustered(X: AnyArray, y: AnyArray, sizes: tuple[int, ...]) -> Problem:
    """A tree from the confusions of a first model on a fifth of the rows; the others are the table."""
    rest, some = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    first = SimplexBoostClassifier(n_estimators=40, n_jobs=1, random_state=0)
    P = cross_val_predict(first, X[some], y[some], cv=2, method="predict_proba")
    C = np.stack([P[y[some] == k].mean(axis=0) for k in range(y.max() + 1)])
    distance = -np.log(C + C.T + 1e-4)
    pairs = distance[np.triu_indices(len(C), 1)]
    groups = [fcluster(linkage(pairs - pairs.min(), "average"), size, "maxclust") for size in sizes]
    paths = {k: "/".join(str(group[k]) for group in groups) + f"/{k}" for k in range(len(C))}
    return X[rest], y[rest], Hierarchy.from_paths(paths)


TABLES: dict[str, Callable[[], Problem]] = {
    "made": made,
    "plants_margin": lambda: plants("plants_margin"),
    "plants_shape": lambda: plants("plants_shape"),
    "letter": lambda: clustered(*real("letter")[:2], (4, 10)),
    "digits": lambda: clustered(*load_digits(return_X_y=True), (3,)),
    "omniglot": omniglot,
}


# ---- repeats --------------------------------------------------------------------------------------------------------


def repeat(problem: Problem, seed: int) -> dict[str, dict[str, float]]:
    """The figures of flat and of tree-shaped codewords on one split."""
    X, y, tree = problem
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
    train = train[:MOST]
    held = np.random.default_rng(seed).permutation(len(train)) < len(train) // 10
    fit, held = train[~held], train[held]
    found: dict[str, dict[str, float]] = {}
    codes = {"flat": "canonical", "flat, simplex": "simplex", "tree": tree.codewords(np.unique(y[fit]))}
    for name, codewords in codes.items():
        clf = SimplexBoostClassifier(
            early_stopping=True, classes=tree, codewords=codewords, n_jobs=1, random_state=0
        ).fit(X[fit], y[fit], X_val=X[held], y_val=y[held])
        heat = temperature(clf.predict_log_proba(X[held]), y[held], clf.classes_)
        P = tempered(clf.predict_log_proba(X[test]), heat)
        found[name] = figures(P, y[test], clf.classes_, tree)
    return found


def temperature(logs: AnyArray, y: AnyArray, classes: AnyArray) -> float:
    """The factor of the logarithms (n, K) with the lowest log-loss."""
    heats = np.geomspace(0.5, 3.0, 40)
    return float(heats[np.argmin([log_loss(tempered(logs, heat), y, classes) for heat in heats])])


def tempered(logs: AnyArray, heat: float) -> AnyArray:
    """Probabilities whose logarithms are multiplied by a number."""
    E = np.exp(heat * (logs - logs.max(axis=1, keepdims=True)))
    return E / E.sum(axis=1, keepdims=True)


def log_loss(P: AnyArray, y: AnyArray, classes: AnyArray) -> float:
    """The mean of −log p of the true class; a class that was not in the training rows counts as 10⁻⁶."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    own = np.where(classes[place] == y, P[np.arange(len(y)), place], 0.0)
    return float(-np.log(own.clip(1e-6)).mean())


def figures(P: AnyArray, y: AnyArray, classes: AnyArray, tree: Hierarchy) -> dict[str, float]:
    """What the page shows of one fit."""
    probable = HierarchicalScores.from_predictions(y, classes[P.argmax(axis=1)], tree)
    nearest = HierarchicalScores.from_predictions(y, classes[(P @ tree.distances(classes)).argmin(axis=1)], tree)
    M = tree.members(1, classes)
    top = np.array(tree.nodes(1, classes))[(P @ M).argmax(axis=1)]
    right = [tree.ancestors(label)[0] == node for label, node in zip(y.tolist(), top.tolist(), strict=True)]
    return {
        "log-loss": log_loss(P, y, classes),
        "accuracy": probable.accuracy[-1],
        "F1": probable.f1,
        "distance": probable.distance,
        "distance, nearest": nearest.distance,
        "top level by class": probable.accuracy[0],
        "top level by sum": float(np.mean(right)),
    }


Cells = dict[str, list[dict[str, dict[str, float]]]]


def page(cells: Cells) -> str:
    """All figures as a page."""
    n = min(map(len, cells.values()))
    lines = [
        "# Trees of classes\n\n"
        f"Generated by `python -m benchmarks.hierarchy`, which says what is compared; at least {n} repeats. In "
        "brackets the difference from flat codewords in the same repeats, with the 95 % interval of its mean.",
    ]
    for name, repeats in cells.items():
        names = list(repeats[0]["flat"])
        rows = []
        for who in repeats[0]:
            values = {figure: [cell[who][figure] for cell in repeats] for figure in names}
            flat = {figure: [cell["flat"][figure] for cell in repeats] for figure in names}
            gap = {f: "" if who == "flat" else f" ({difference(values[f], flat[f])})" for f in names}
            rows.append([who, *(mean_of(values[figure]) + gap[figure] for figure in names)])
        lines += ["", f"## {name}", "", *table(["codewords", *names], rows)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all repeats, or those that a file does not have yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hierarchy", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--json", type=Path, default=Path("build/hierarchy.json"))
    arguments = parser.parse_args()
    cells: Cells = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    for name in arguments.tables:
        problem = TABLES[name]()
        for seed in range(len(cells.setdefault(name, [])), arguments.repeats):
            cells[name].append(repeat(problem, seed))
            arguments.json.write_text(json.dumps(cells))
            print(name, seed, json.dumps(cells[name][-1]), flush=True)
        PAGE.write_text(page(cells), encoding="utf-8")


if __name__ == "__main__":
    main()
