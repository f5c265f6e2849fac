"""The task nearly all cells are: fit a booster, follow its errors over the rounds."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from simplexboost import SimplexBoostClassifier
from simplexboost.model.additive import AdditiveModel, add_terms
from simplexboost.parts.learners.tree_learners import TreeLearner

from . import data
from .boosters import make
from .cells import Cell, Results, task
from .registry import Plan

# Whatever their length, curves have these rounds: 1 to 10, then about twelve for every factor of ten.
STOPS = sorted({*range(1, 11), *(round(10 ** (i / 12)) for i in range(12, 49)), 20, 50, 200, 500, 2000, 5000})

THIN = 0.3  # of the values are not zero: a sparse table then takes half the time (mnist), or a little less (dna)


@task
def fit(
    booster: str, options: dict[str, Any], rounds: int, problem: dict[str, Any], seed: int, train: bool = False
) -> dict[str, Any]:
    """Fit on a problem; errors on test (and train) after every round of the grid."""
    given = data.problem(**problem)
    return follow(make(booster, given.K, rounds, seed, options), given, train)


def follow(estimator: Any, given: data.Problem, train: bool = True) -> dict[str, Any]:
    """Fit; errors over the rounds, why it stopped, how long it took."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a booster that cannot go on says so; ``stop`` tells the same
        estimator.fit(fitted_form(estimator, given.X_train), given.y_train)
    seconds = time.perf_counter() - begin
    n_iter = int(estimator.n_iter_)
    stops = [t for t in STOPS if t < n_iter] + [n_iter] if n_iter else []
    parts = {"test": (given.X_test, given.y_test)} | ({"train": (given.X_train, given.y_train)} if train else {})
    return {
        "rounds": stops,
        **{name: [round(e, 6) for e in errors_at(estimator, X, y, stops)] for name, (X, y) in parts.items()},
        "n_iter": n_iter,
        "stop": estimator.stop_reason_,
        "fit_seconds": round(seconds, 3),
        "rows": [len(given.y_train), len(given.y_test)],
        "majority": round(float(np.bincount(given.y_test).max() / len(given.y_test)), 6),
    }


def fitted_form(estimator: Any, X: Any) -> Any:
    """X as boosters of the engine's trees fit it fastest: sparse if most values are zero. The model is the same."""
    by_trees = isinstance(getattr(estimator, "learner", None), TreeLearner)
    by_trees |= isinstance(estimator, SimplexBoostClassifier)
    return csr_array(X) if by_trees and np.count_nonzero(X) < THIN * X.size else X


def errors_at(estimator: Any, X: Any, y: Any, stops: list[int]) -> list[float]:
    """Error rates after some rounds."""
    model = getattr(estimator, "model_", None)
    if type(model) is not AdditiveModel or not estimator._present.all() or hasattr(estimator, "categories_") is False:
        return [float((p != y).mean()) for t, p in enumerate(estimator.staged_predict(X), 1) if t in set(stops)]
    X = estimator._check_X(X)
    F = np.zeros((len(X), model.Y.shape[1]), dtype=model.dtype)  # (n, d)
    out, begin = [], 0
    for stop in stops:  # many terms at a time: several times as fast as round by round
        end = model.round_ends[stop - 1]
        add_terms(model.terms[begin:end], X, F)
        out.append(float((model.scores(F).argmax(axis=1) != y).mean()))
        begin = end
    return out


def at(result: dict[str, Any], rounds: int, part: str = "test") -> float:
    """The error after so many rounds; a booster that stopped earlier stays where it was. NaN where it never began."""
    known = [e for t, e in zip(result["rounds"], result[part], strict=True) if t <= rounds]
    return known[-1] if known else float("nan")


# ---- cells ----------------------------------------------------------------------------------------------------------


def fit_cell(
    booster: str, options: dict[str, Any], rounds: int, problem: dict[str, Any], seed: int = 0, train: bool = False
) -> Cell:
    """A cell of the task above, with a guess at its cost."""
    arguments = {"problem": problem, "booster": booster, "options": options, "rounds": rounds, "seed": seed}
    cell = Cell("fit", arguments | ({"train": True} if train else {}))
    n, p, K = data.shape(problem["name"], problem.get("rows"), problem.get("sizes"))
    return Cell(cell.task, cell.arguments, cost(booster, options, rounds, n, p, K))


def cost(booster: str, options: dict[str, Any], rounds: int, n: int, p: int, K: int) -> float:
    """Seconds on one core, within a factor of two or so: learners, steps, and what any round costs."""
    kind = options.get("mode") or options.get("criterion") or options.get("method")
    best = (booster == "cd" and options.get("schedule", "best") == "best") or kind == "cd"
    per_class = booster in ("ova", "smboost", "logit") or options.get("mode") in ("stumps", "gini", "cart", "info")
    learners = K if per_class else K - 1 if best else 1
    dense = booster in ("gd", "mm") or kind in ("gd", "hamming", "single")
    statistics = min(K, 26) + 1 if dense else 2
    leaves = options.get("leaves") or 2 ** (options.get("depth") or 1)
    if booster == "flagship":
        leaves = min(max(n // 128, 16), 255)
    levels = 1.2 * max(1.0, float(np.log2(leaves)))
    count = levels * n * p * (1.0 + 0.25 * statistics) * 6e-10
    scan = leaves * p * min(n, 255) * (K if kind in ("info", "gini") else statistics) * 3e-10
    learner = count + scan + 1.2e-4
    if kind == "cart":
        learner = 2e-8 * n * p * float(np.log2(n)) + 1e-3
    if booster == "logit" or options.get("learner") == "linear":
        learner = 1.5e-8 * n * p + 2e-5 * p
    step = (K - 1 if best else 1) * n * K * (4e-8 if booster in ("gd", "cd", "maxmin", "ecc", "ova") else 2e-8)
    found = 0.2 if booster == "maxmin" else 0.02  # the code has to be found first
    return rounds * (learners * learner + step + 2e-4) + found + n * p * 3e-8


def curve(found: Results, cells: list[Cell], rounds: list[int], part: str = "test") -> Any:
    """Errors (cells, rounds) of the finished cells."""
    done = found.finished(cells)
    return np.array([[at(result, t, part) for t in rounds] for result in done]).reshape(len(done), len(rounds))


def limited(plan: Plan, **problem: Any) -> dict[str, Any]:
    """A problem, cut where the plan is quick."""
    return problem | ({"rows": plan.rows} if plan.rows else {})
