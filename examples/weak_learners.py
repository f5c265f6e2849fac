"""Which weak-learning conditions do small trees meet, and what do AdaBoost.M1 and AdaBoost.MM make of them?

For trees of every depth: whether they meet the conditions of SAMME, AdaBoost.M1, AdaBoost.MR and of the uniform
baseline on the training set, by asking the tree learner about the cost matrices that are hardest for it
(`theory.search`); how far AdaBoost.M1 and AdaBoost.MM get with the same learner; and the diagnosis of the trees that
the
two have used.

    python examples/weak_learners.py --sets vowel,satimage --depths 1,2,4,8

The data sets are those of `simplexboost.datasets.load`; SIMPLEXBOOST_DATA names a folder of files.
"""

from __future__ import annotations

import argparse
import time
import warnings

from simplexboost import AdaBoostM1Classifier, AdaBoostMMClassifier, datasets, theory
from simplexboost.parts.learners import ClassTree

CONDITIONS = ("samme", "m1", "uniform", "mr")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="vowel,satimage", help="names of data sets, separated by commas")
    parser.add_argument("--depths", default="1,2,4,8", help="depths of the trees, separated by commas")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of AdaBoost.M1 and AdaBoost.MM")
    parser.add_argument("--asks", type=int, default=300, help="trees to ask for in a search, at most")
    arguments = parser.parse_args()
    for name in arguments.sets.split(","):
        data = datasets.load(name)
        print(f"{data!r}\n", flush=True)
        for depth in map(int, arguments.depths.split(",")):
            report(data, depth, arguments.rounds, arguments.asks)


def report(data: datasets.Dataset, depth: int, rounds: int, asks: int) -> None:
    """All there is to say about trees of one depth."""
    X, y, learner = data.X_train, data.y_train, ClassTree(max_depth=depth)
    print(f"trees of depth {depth}")
    for condition in CONDITIONS:
        begin = time.perf_counter()
        found = theory.search(learner, X, y, condition, n_rounds=asks)
        met = {True: "met", False: "fails", None: "undecided"}[found.met]
        between = f"edge between {found.edge:7.4f} and {found.ceiling:7.4f}"
        seconds = time.perf_counter() - begin
        print(f"  {condition:8} {met:9}  {between}, {found.space.H.shape[1]} trees, {seconds:.1f} s", flush=True)
    boosters = AdaBoostM1Classifier(learner, n_estimators=rounds), AdaBoostMMClassifier(learner, n_estimators=rounds)
    space = None
    for booster in boosters:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            booster.fit(X, y)
        train, test = 1 - booster.score(X, y), 1 - booster.score(data.X_test, data.y_test)
        errors = f"training error {train:.4f}, test error {test:.4f}"
        ending = f" ({booster.stop_reason_})" if booster.stop_reason_ else ""
        print(f"  {type(booster).__name__}: {booster.n_iter_} rounds, {errors}{ending}")
        if booster.n_iter_:
            used = theory.as_space(booster, y, X)
            space = used if space is None else space.joined(used)
    print("  the trees that both have used:")
    print("    " + str(theory.diagnose(space, show=False)).replace("\n", "\n    ") + "\n", flush=True)


if __name__ == "__main__":
    main()
