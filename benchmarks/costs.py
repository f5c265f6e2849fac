"""What decisions cost: the most probable class, the cheapest one, and models that were trained with the costs.

``python -m benchmarks.costs`` (SIMPLEXBOOST_DATA names the data folder) prints the tables of COSTS.md. The costs are
made up, in the manner of a business: the cost of missing a class is drawn for every class, from 1 to 100, the rarer
classes the dearer ones, and which wrong class is taken matters, too. All rules see the same costs, the same training
rows and the same fresh rows; a figure is the mean cost of a fresh row, over that of the most probable class.

The second table is about other shares of the classes: fresh rows are drawn so that their classes have random shares,
and probabilities are adapted to the true shares, and to those estimated from the rows without their labels.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from simplexboost import SimplexBoostClassifier, decide
from simplexboost.decide import cost_weights, mean_cost

from .sets import mixed

SETS = "abalone,covtype15k,satimage,vehicle,segment,nursery,letter,magic04,shuttle,connect4,vowel,plants_shape"
DRAWS = 5  # cost matrices of a set, and shifts of its shares

Rule = Callable[[np.ndarray], np.ndarray]


@cache
def prepared(name: str, n_train: int, n_test: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:
    """Training rows, fresh rows, and a model with its defaults."""
    X, y, X_test, y_test = mixed(name, n_train, n_test, 0)
    return X, y, X_test, y_test, SimplexBoostClassifier(random_state=0).fit(X, y)


def made_up(share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The costs (K, K) of decisions (columns) when a class (row) is true; missing a rare class is dear."""
    K = len(share)
    dear = np.exp(rng.uniform(0, np.log(10), K)) * np.clip((1 / K) / share, 1, 10)  # (K,), from 1 to 100
    return dear[:, None] * rng.uniform(0.3, 1.0, (K, K)) * (1 - np.eye(K))


def rules(X: np.ndarray, y: np.ndarray, costs: np.ndarray, plain: Any, classes: np.ndarray) -> dict[str, Rule]:
    """Ways to decide, by name; some of them fit a model of their own, with the rounds and trees of the plain one."""
    K = len(classes)
    fixed = {"n_estimators": plain.n_iter_, "calibration": plain.choice_.temperature, **plain.choice_.params}

    def model(**params: Any) -> Any:
        return SimplexBoostClassifier(random_state=0, **{**fixed, **params})

    weighted = model().fit(X, y, cost_weights(y, costs, classes))
    in_loss = model(cost_matrix=costs / costs.max() + np.eye(K), calibration=False).fit(X, y)
    return {
        "most probable": plain.predict,
        "cheapest": lambda A: decide.predict(plain, A, costs=costs),
        "weights": weighted.predict,
        "cost_matrix": in_loss.predict,
        "cost_matrix, cheapest": lambda A: decide.predict(in_loss, A, costs=costs),
    }


def price_table(names: Iterable[str], n_train: int, n_test: int) -> Iterable[str]:
    """Mean costs of the rules, over those of the most probable class."""
    yield "| set | classes | accuracy | cheapest | weights | cost_matrix | cost_matrix, cheapest |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    ratios: list[list[float]] = []
    for name in names:
        X, y, X_test, y_test, plain = prepared(name, n_train, n_test)
        classes, found = plain.classes_, []
        for draw in range(DRAWS):
            costs = made_up(plain.class_prior_, np.random.default_rng(draw))
            ways = rules(X, y, costs, plain, classes)
            paid = [mean_cost(y_test, rule(X_test), costs, classes) for rule in ways.values()]
            found.append([cost / paid[0] if paid[0] > 0 else 1.0 for cost in paid[1:]])
        ratios.append(np.mean(found, axis=0).tolist())
        columns = " | ".join(f"{ratio:.3f}" for ratio in ratios[-1])
        yield f"| {name} | {len(classes)} | {plain.score(X_test, y_test):.3f} | {columns} |"
    yield f"| **mean** | | | {' | '.join(f'**{ratio:.3f}**' for ratio in np.mean(ratios, axis=0))} |"


def shifted(c: np.ndarray, K: int, rng: np.random.Generator) -> np.ndarray:
    """Rows whose classes have random shares; as many rows as the classes allow, none of them twice."""
    return of_shares(c, rng.dirichlet(np.full(K, 1.0)), rng)


def of_shares(c: np.ndarray, share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows whose classes have these shares; as many rows as the classes allow, none of them twice."""
    K, count = len(share), np.bincount(c, minlength=len(share))
    common = share > min(0.02, share.max() / 2)
    n = int(np.min(count[common] / share[common]))
    chosen = [rng.permutation(np.flatnonzero(c == k))[: int(n * share[k])] for k in range(K)]
    return np.concatenate(chosen)


def prior_table(names: Iterable[str], n_train: int, n_test: int) -> Iterable[str]:
    """Accuracy and log-loss where the shares of the classes are others than in training."""
    yield "| set | classes | accuracy as it is | true prior | estimated | log-loss as it is | true prior | estimated | error of the estimate |"  # fmt: skip # noqa: E501
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name in names:
        _, _, X_test, y_test, clf = prepared(name, n_train, n_test)
        K, found = len(clf.classes_), []
        for draw in range(DRAWS):
            c = np.searchsorted(clf.classes_, y_test)
            rows = shifted(c, K, np.random.default_rng(draw))
            true = np.bincount(c[rows], minlength=K) / len(rows)
            estimated = decide.estimate_prior(clf, X_test[rows])
            P = [decide.predict_proba(clf, X_test[rows], prior=p) for p in (clf.class_prior_, true, estimated)]
            right = [float((p.argmax(axis=1) == c[rows]).mean()) for p in P]
            losses = [log_loss(c[rows], np.maximum(p, 1e-15), labels=np.arange(K)) for p in P]
            found.append([*right, *losses, float(np.abs(estimated - true).sum() / 2)])
        yield f"| {name} | {K} | {' | '.join(f'{value:.3f}' for value in np.mean(found, axis=0))} |"


HEAD = """# Costs and shares of classes

`python -m benchmarks.costs` writes this page. [Costs that mean money](../docs/costs.md) explains the methods.

## Made-up costs on real data

Missing a class costs from 1 to 100, a rare class more than a frequent one, and which wrong class is taken matters,
too; {draws} such matrices for every set. A figure is the mean cost of a fresh row over that of the most probable
class (means over the matrices): below 1 money is saved. "cheapest" decides by expected cost, with the model as it
is. "weights" trains with `cost_weights`, "cost_matrix" with the costs in the loss, and both then take the class of
the highest score; the last column does so and decides by expected cost, too. All models have the same rounds and
trees."""
SHIFT = """
## Other shares of the classes

Fresh rows with classes in random shares ({draws} draws for every set), predicted as they are, for the true shares
(`prior=`), and for those that `estimate_prior` finds from the rows without their labels. The last column is half
the sum of the absolute errors of that estimate: the part of the rows that it places in the wrong class."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--tables", default="costs,shares", help="which of both")
    parser.add_argument("--rows", type=int, default=1500, help="training rows, at most")
    parser.add_argument("--fresh", type=int, default=4000, help="rows to test on, at most")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = options.sets.split(",")
    for table, head, lines in (("costs", HEAD, price_table), ("shares", SHIFT, prior_table)):
        if table in options.tables.split(","):
            print(f"{head.format(draws=DRAWS)}\n", flush=True)
            for line in lines(names, options.rows, options.fresh):
                print(line, flush=True)


if __name__ == "__main__":
    main()
