"""Boosters of the literature against scikit-learn's trees, one after the other in the same run.

    python -m benchmarks.boosters --depth 6 --rounds 100 --jobs 1 --repeats 3

AdaBoost.MM and SAMME race scikit-learn's `AdaBoostClassifier` with a `DecisionTreeClassifier` of the same depth a
round; AdaBoost.MH, whose tree answers for all K classes, races K scikit-learn trees a round. The fastest of a few
repeats counts, on both sides.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost import datasets
from simplexboost.parts.learners import ClassTree, GiniTree, SignTree

K_TREE_ROUNDS = 3  # of the K scikit-learn trees; more would only take longer


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long it takes, and what comes out."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def fastest(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least time of a few repeats, and what comes out."""
    runs = [seconds(work) for _ in range(repeats)]
    return min(taken for taken, _ in runs), runs[0][1]


def ours(depth: int, rounds: int, jobs: int) -> dict[str, Any]:
    """The boosters, with trees of the given depth."""
    common = {"n_estimators": rounds, "n_jobs": jobs, "random_state": 0}
    return {
        "AdaBoost.MM": sb.AdaBoostMMClassifier(ClassTree(max_depth=depth), **common),
        "SAMME": sb.SAMMEClassifier(GiniTree(max_depth=depth), **common),
        "AdaBoost.MH": sb.AdaBoostMHClassifier(SignTree(max_depth=depth), **common),
    }


def adaboost(X: Any, y: Any, depth: int, rounds: int, repeats: int) -> tuple[float, Any]:
    """scikit-learn's AdaBoost."""
    clf = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=rounds, random_state=0)
    return fastest(lambda: clf.fit(X, y), repeats)


def k_trees(X: Any, y: Any, depth: int, rounds: int) -> float:
    """Seconds for a scikit-learn tree per class and round, each class against the rest."""
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))

    def work() -> None:
        for _ in range(K_TREE_ROUNDS):
            for k in np.unique(y):
                DecisionTreeClassifier(max_depth=depth).fit(X, y == k, weight).predict(X)

    return seconds(work)[0] * rounds / K_TREE_ROUNDS


def race(name: str, depth: int, rounds: int, jobs: int, repeats: int) -> None:
    """Print a row per booster."""
    data = datasets.load(name)
    X, y = data.X_train, data.y_train
    theirs, reference = adaboost(X, y, depth, rounds, repeats)
    leaves = np.mean([tree.get_n_leaves() for tree in reference.estimators_])
    score = reference.score(data.X_test, data.y_test)
    print(f"{name}: {len(X)} rows, {len(np.unique(y))} classes, depth {depth}, {rounds} rounds, {jobs} threads")
    print(f"  scikit-learn AdaBoost   {theirs:7.2f} s  {leaves:5.1f} leaves  accuracy {score:.3f}")
    many = k_trees(X, y, depth, rounds)
    print(f"  scikit-learn K trees    {many:7.2f} s  ({K_TREE_ROUNDS} rounds, scaled)")
    for booster, clf in ours(depth, rounds, jobs).items():
        taken, fitted = fastest(lambda clf=clf: clf.fit(X, y), repeats)  # type: ignore[misc]
        leaves = np.mean([tree.n_leaves for tree in fitted.model_.trees])
        ratio = (many if booster == "AdaBoost.MH" else theirs) / taken
        score = fitted.score(data.X_test, data.y_test)
        print(f"  {booster:22s}  {taken:7.2f} s  {leaves:5.1f} leaves  accuracy {score:.3f}  {ratio:6.1f} x")


def main() -> None:
    """Run the race."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="letter,pendigits")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for name in options.sets.split(","):
        race(name, options.depth, options.rounds, options.jobs, options.repeats)


if __name__ == "__main__":
    main()
