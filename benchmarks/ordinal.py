"""Ordered classes: ``python -m benchmarks.ordinal`` compares ``classes=Ordinal()`` with regression and with soft-max.

Every table is split anew in each repeat, 80 % to train on (2 000 rows at most) and 20 % to test. The figure is the mean
absolute error in numbers of classes. The two parts of ``classes=Ordinal()`` are measured apart: the codewords
(canonical or ordered) and the decision (the most probable class, or the median of the probabilities). Regression
predicts the number of the class, which is then rounded: scikit-learn's HistGradientBoostingRegressor for squared and
for absolute errors; and our trees with two ordered coordinates, whose soft-max is nearly a rounded normal distribution
with a mean and a variance of its own in every leaf. ``cost_matrix`` with entries |c − k| is soft-max under absolute
costs. All fits hold out a tenth of their rows and stop early, with a learning rate of 0.1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from simplexboost import Ordinal, SimplexBoostClassifier, datasets
from simplexboost._util.arrays import AnyArray
from simplexboost.boosting.decisions import median_class
from simplexboost.parts.codewords import Auto

from .repeats import difference, mean_of, table

PAGE = Path(__file__).with_name("ORDINAL.md")
MOST = 2_000  # rows to train on
OURS = "ordered codewords, median (classes=Ordinal())"
Problem = tuple[AnyArray, AnyArray, AnyArray]  # X (n, p), classes y (n,) from 0 on, which columns are categories (p,)


# ---- tables ---------------------------------------------------------------------------------------------------------


def real(name: str) -> Problem:
    """A set of the folder of data sets, both its parts together."""
    data = datasets.load(name)
    X, y = np.vstack([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    return X, np.unique(y, return_inverse=True)[1], np.asarray(data.categorical)


def binned(X: AnyArray, target: AnyArray, shares: Any) -> Problem:
    """A regression problem, its target cut at quantiles."""
    return X, np.searchsorted(np.quantile(target, shares), target), np.zeros(X.shape[1], dtype=bool)


def grades() -> Problem:
    """Seven grades of which the middle ones are common, as in wine quality: a noisy score of eleven numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 11))
    weight = rng.standard_normal(11)
    score = X @ weight / np.linalg.norm(weight) + 0.5 * np.sin(2 * X[:, 0]) * X[:, 1]
    return binned(X, score + 0.8 * rng.standard_normal(2500), [0.005, 0.04, 0.37, 0.8, 0.96, 0.996])


TABLES: dict[str, Callable[[], Problem]] = {
    "abalone": lambda: real("abalone"),
    "diabetes": lambda: binned(*load_diabetes(return_X_y=True), np.arange(0.1, 1.0, 0.1)),
    "friedman": lambda: binned(*make_friedman1(2500, noise=2.0, random_state=0), np.arange(0.1, 1.0, 0.1)),
    "grades": grades,
    "nursery": lambda: real("nursery"),
}


# ---- contestants ----------------------------------------------------------------------------------------------------


def regression(loss: str, problem: Problem, train: AnyArray, test: AnyArray) -> AnyArray:
    """Rounded predictions of a regression on the numbers of the classes, (n,)."""
    X, y, categorical = problem
    model = HistGradientBoostingRegressor(
        loss=loss, early_stopping=True, max_iter=1000, random_state=0, categorical_features=categorical
    )
    return np.clip(np.rint(model.fit(X[train], y[train]).predict(X[test])), 0, y.max())


def classifier(problem: Problem, train: AnyArray, **params: Any) -> SimplexBoostClassifier:
    """A fit that stops early, like that of HistGradientBoosting; all classes are declared, because some are rare."""
    X, y, categorical = problem
    common = {"early_stopping": True, "random_state": 0, "n_jobs": 1, "classes": np.arange(y.max() + 1)}
    return SimplexBoostClassifier(**common, categorical_features=categorical, **params).fit(X[train], y[train])


def repeat(problem: Problem, seed: int) -> dict[str, dict[str, float]]:
    """The figures of every contestant on one split."""
    X, y, _ = problem
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    train, K, found = train[:MOST], int(y.max()) + 1, {}

    def scored(predicted: AnyArray, P: AnyArray | None = None) -> dict[str, float]:
        errors = np.abs(predicted - y[test])
        own = {} if P is None else {"log-loss": float(-np.log(P[np.arange(len(test)), y[test]].clip(1e-6)).mean())}
        return {"error": float(errors.mean()), "accuracy": float((errors == 0).mean()), **own}

    found["HGB regression, squared error"] = scored(regression("squared_error", problem, train, test))
    found["HGB regression, absolute error"] = scored(regression("absolute_error", problem, train, test))
    codes = {"two ordered coordinates": {"classes": Ordinal(), "codewords": Auto(min(2, K - 1))}}
    codes |= {"soft-max": {"codewords": "canonical"}, "ordered codewords": {"classes": Ordinal()}}
    for name, params in codes.items():
        begin = time.perf_counter()
        P = classifier(problem, train, **params).predict_proba(X[test])
        seconds = time.perf_counter() - begin
        decided = {"most probable": P.argmax(axis=1), "median": median_class(P, np.arange(K))}
        for rule, predicted in decided.items():
            label = OURS if (name, rule) == ("ordered codewords", "median") else f"{name}, {rule}"
            found[label] = {**scored(predicted, P), "seconds": seconds}
    # A cost of 0 on the diagonal is ignored; pairs of neighbours count once, others as often as they are apart.
    present = np.unique(y[train])
    costs = np.abs(np.subtract.outer(present, present)).astype(float)
    U = classifier(problem, train, codewords="canonical", cost_matrix=costs).class_scores(X[test])
    found["soft-max, cost_matrix of absolute errors"] = scored(U.argmax(axis=1))
    return found


# ---- the page -------------------------------------------------------------------------------------------------------

Cells = dict[str, list[dict[str, dict[str, float]]]]  # by table: the figures of every repeat


def page(cells: Cells) -> str:
    """All figures as a page."""
    names, n = list(cells), min(map(len, cells.values()))
    contestants = list(cells[names[0]][0])

    def values(name: str, who: str, figure: str) -> list[float]:
        return [cell[who][figure] for cell in cells[name]]

    def error(name: str, who: str) -> str:
        mean = mean_of(values(name, who, "error"))
        if who == OURS:
            return f"**{mean}**"
        return f"{mean} ({difference(values(name, who, 'error'), values(name, OURS, 'error'))})"

    likely = [who for who in contestants if "log-loss" in cells[names[0]][0][who] and "most probable" not in who]
    return "\n".join(
        [
            "# Ordered classes\n\n"
            f"Generated by `python -m benchmarks.ordinal`, which says what is compared; {n} repeats.",
            "",
            "Mean absolute error, in classes; in brackets how much more that is than with `classes=Ordinal()`, and the "
            "95 % interval of the mean difference over the repeats.",
            "",
            *table(["", *names], [[who, *(error(name, who) for name in names)] for who in contestants]),
            "",
            "Log-loss of the probabilities; accuracy of the most probable class; seconds of the fit.",
            "",
            *table(
                ["", *names],
                [
                    [
                        who.removesuffix(" (classes=Ordinal())").removesuffix(", median"),
                        *(
                            f"{mean_of(values(name, who, 'log-loss'))} / "
                            f"{mean_of(values(name, probable(who), 'accuracy'))} / "
                            f"{mean_of(values(name, who, 'seconds'), 1)}"
                            for name in names
                        ),
                    ]
                    for who in likely
                ],
            ),
            "",
        ]
    )


def probable(who: str) -> str:
    """The contestant of the same fit that predicts the most probable class."""
    return who.removesuffix(" (classes=Ordinal())").removesuffix("median") + "most probable"


def main() -> None:
    """Run all repeats, or those that a file does not have yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinal", description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--json", type=Path, default=Path("build/ordinal.json"))
    arguments = parser.parse_args()
    cells: Cells = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    for seed in range(arguments.repeats):
        for name in arguments.tables:
            if len(cells.setdefault(name, [])) <= seed:
                cells[name].append(repeat(TABLES[name](), seed))
                arguments.json.parent.mkdir(parents=True, exist_ok=True)
                arguments.json.write_text(json.dumps(cells))
                print(name, seed, json.dumps(cells[name][-1][OURS]), flush=True)
    PAGE.write_text(page(cells), encoding="utf-8")


if __name__ == "__main__":
    main()
