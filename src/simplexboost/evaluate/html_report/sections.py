"""The sections of a report, as numbers.

Shares of rows have Wilson's interval, and so has the balanced accuracy, with the number of rows that would tell as much
if all classes had equally many. The log-loss has a 95 % bootstrap interval, or a normal one where rows are many.

For a pair of classes a and b, Shapley values of their log-odds are computed for rows of each that were taken for the
other, and for some that were recognised; a feature misleads where the mistaken rows of a lie with those of b. Several
pairs are computed at once, because preparing the trees takes longer than explaining the few rows of a pair.

A row of low margin has a wrong label or is hard for the model. On rows of the fit the model may have learned wrong
labels by heart; then models fitted to folds find more of them (`explain.doubtful_labels`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.arrays import AnyArray, Array
from ...classifiers.metrics import among_top, log_losses
from ...explain import doubtful_labels, importances, shap_values
from ...explain.explained_classes import check_booster, check_not_merged
from ...explain.shapley import check_explainable
from ...tables.frames import take_rows
from ..class_map import map_of_scores
from ..class_table import ClassTable, wilson
from ..confusion import Confusion
from ..curves import learning_curves
from ..reliability import Reliability
from .labelled_rows import Cells, Evaluated

DRAWS = 1000  # bootstrap samples
MANY = 20_000  # rows beyond which the mean is as good as normal, and 1000 samples would take longer than a second
TOP = 5


def headline(rows: Evaluated) -> list[dict[str, Any]]:
    """The scores by name, each with the ends of its interval."""
    scores = [
        share("accuracy", "Accuracy", rows.right, "The share of rows for which the predicted class is right."),
        balanced(rows),
    ]
    if rows.P is not None:
        if rows.K > TOP:
            scores.append(top_share(rows))
        scores.append(log_loss(rows))
    return scores


def share(name: str, title: str, hit: Any, about: str) -> dict[str, Any]:
    """A share of rows, with Wilson's interval."""
    low, high = wilson(int(hit.sum()), len(hit)).tolist()
    return entry(name, title, float(hit.mean()), low, high, "share", about)


def top_share(rows: Evaluated) -> dict[str, Any]:
    """How often the class is among the most probable ones."""
    assert rows.P is not None
    about = f"The share of rows whose class is among the {TOP} most probable ones."
    return share("top_5_accuracy", f"Top-{TOP} accuracy", among_top(rows.P, rows.c, TOP), about)


def balanced(rows: Evaluated) -> dict[str, Any]:
    """The mean recall over the classes that have rows.

    If all C recalls were p, the variance of their mean would be p(1 − p)/m with m = C²/Σ 1/n_k, and m is the number of
    rows if all classes have equally many. Where recalls differ the interval is a little too wide. A bootstrap within
    the classes would have no width where the few rows of each class are all right.
    """
    support = np.bincount(rows.c, minlength=rows.K)
    correct = np.bincount(rows.c[rows.right], minlength=rows.K)
    here = support > 0
    value = float((correct[here] / support[here]).mean())
    m = here.sum() ** 2 / (1 / support[here]).sum()
    low, high = wilson(m * value, m).tolist()
    about = "The mean of the recalls of all classes, so that rare classes count as much as frequent ones."
    return entry("balanced_accuracy", "Balanced accuracy", value, low, high, "share", about)


def log_loss(rows: Evaluated) -> dict[str, Any]:
    """The mean log-loss, with the interval of a bootstrap."""
    assert rows.P is not None
    losses = log_losses(rows.P, rows.c)
    low, high = normal_interval(losses) if rows.n > MANY else bootstrap_interval(losses)
    guess = np.log(rows.K)
    about = f"The mean of −log p for the row's class; smaller is better. Guessing at random would give {guess:.2f}."
    return entry("log_loss", "Log-loss", float(losses.mean()), low, high, "number", about)


def normal_interval(values: Array) -> tuple[float, float]:
    """The mean of many values, and 1.96 standard errors on both sides."""
    mean, error = float(values.mean()), float(values.std()) / np.sqrt(len(values))
    return mean - 1.96 * error, mean + 1.96 * error


def bootstrap_interval(values: Array) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn with replacement."""
    rng, n = np.random.default_rng(0), len(values)
    step = max(1, 2**22 // n)  # samples at a time: 32 MB of numbers of rows
    means = [
        values[rng.integers(0, n, size=(min(step, DRAWS - done), n))].mean(axis=1) for done in range(0, DRAWS, step)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975]).tolist()
    return low, high


def entry(name: str, title: str, value: float, low: float, high: float, unit: str, about: str) -> dict[str, Any]:
    """One score."""
    return {"name": name, "title": title, "value": value, "low": low, "high": high, "unit": unit, "about": about}


MOST_POINTS = 200  # of a curve; more cannot be told apart on a screen
# So many rows are predicted after every round that rows × classes × rounds is at most this: some two seconds.
MOST_STAGED = 2 * 10**8
FEWEST_STAGED = 500
TITLES = {"risk": "Risk (mean loss)", "log-loss": "Log-loss", "error": "Error rate"}


def learning(rows: Evaluated) -> dict[str, Any] | None:
    """The curves by metric; None for a classifier that has no rounds, or none that were kept."""
    clf = rows.clf
    if not hasattr(clf, "history_") or not hasattr(clf, "staged_predict"):
        return None
    found = learning_curves(clf)
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in found.curves:
        groups.setdefault(curve.metric, []).append(as_curve(curve.name, curve.rounds, curve.values))
    here, used = staged(rows)
    for metric, (at, values) in here.items():
        shared = "risk" if metric == "log-loss" and logistic(clf) else metric
        groups.setdefault(shared, []).append(as_curve("this report", at, values))
    if not groups:
        return None
    order = sorted(groups, key=lambda metric: ("risk", "log-loss", "error").index(metric) if metric in TITLES else 9)
    return {
        "metrics": [{"metric": metric, "title": title_of(metric, clf), "curves": groups[metric]} for metric in order],
        "rounds": found.n_rounds,
        "chosen": found.chosen,
        "why": found.why,
        "rows": used,
    }


def logistic(clf: Any) -> bool:
    """Whether the risk of the fit is the log-loss, so that both are on one scale."""
    return bool(getattr(clf.loss_, "likelihood", False))


def title_of(metric: str, clf: Any) -> str:
    """What the axis of a metric is called."""
    return "Log-loss" if metric == "risk" and logistic(clf) else TITLES.get(metric, metric)


def staged(rows: Evaluated) -> tuple[dict[str, tuple[AnyArray, Array]], int]:
    """The error and, with probabilities, the log-loss after every round, by name; and the number of rows used."""
    clf, rounds = rows.clf, int(rows.clf.n_iter_)
    if rounds == 0:
        return {}, 0
    most = min(rows.n, max(FEWEST_STAGED, MOST_STAGED // (rounds * rows.K)))
    some = np.linspace(0, rows.n - 1, most).astype(np.intp)
    X, c, at = take_rows(rows.X, some), rows.c[some], thinned(np.arange(rounds))
    wanted = set(at.tolist())
    errors, losses = [], []
    if rows.P is None:
        for t, labels in enumerate(clf.staged_predict(X)):
            if t in wanted:
                errors.append(np.mean(labels != clf.classes_[c]))
        return {"error": (at + 1, np.array(errors))}, most
    for t, P in enumerate(clf.staged_predict_proba(X)):
        if t in wanted:
            errors.append(np.mean(P.argmax(axis=1) != c))
            losses.append(log_losses(P, c).mean())
    return {"log-loss": (at + 1, np.array(losses)), "error": (at + 1, np.array(errors))}, most


def as_curve(name: str, rounds: AnyArray, values: Array) -> dict[str, Any]:
    """A curve of at most 200 points."""
    at = thinned(np.arange(len(rounds)))
    return {"name": name, "rounds": np.asarray(rounds)[at].tolist(), "values": np.asarray(values)[at].tolist()}


def thinned(places: AnyArray) -> AnyArray:
    """At most 200 of some places, the first and the last among them."""
    return places[np.unique(np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.intp))]


def classes(rows: Evaluated, found: Confusion) -> dict[str, Any]:
    """Support, recall, precision and F1 of every class, and what it is most often taken for; lists of length K."""
    numbers = np.arange(rows.K)
    table = ClassTable.of_counts(found)
    errors = found.errors
    worst = errors.argmax(axis=1)
    return {
        "support": table.support.tolist(),
        "predicted": table.predicted.tolist(),
        "correct": table.correct.tolist(),
        "recall": table.recall.tolist(),
        "recallInterval": table.recall_interval.tolist(),
        "precision": table.precision.tolist(),
        "precisionInterval": table.precision_interval.tolist(),
        "f1": table.f1.tolist(),
        "takenFor": [int(k) if errors[c, k] else None for c, k in enumerate(worst)],
        "takenTimes": errors[numbers, worst].tolist(),
    }


def class_map(rows: Evaluated, found: Confusion) -> dict[str, Any] | None:
    """A point for every class that has rows; None where there are fewer than three."""
    here = found.support > 0
    if here.sum() < 3:
        return None
    placed = map_of_scores(rows.U, rows.c, np.arange(rows.K))
    points = [point if known else None for point, known in zip(placed.points.tolist(), here.tolist(), strict=True)]
    return {"points": points, "explained": float(placed.explained.sum())}


MOST_CELLS = 6_000  # cells with errors that the page holds, the most frequent ones; a browser draws each as a shape
MOST_SHOWN_PAIRS = 3_000  # pairs with examples; some 300 bytes each
MOST_EXAMPLES = 6  # of a pair


def confusions(rows: Evaluated, found: Confusion) -> dict[str, Any]:
    """The order of the classes, the cells (true, predicted, rows) with errors, and the pairs with their examples."""
    errors = found.errors
    c, k = np.nonzero(errors)
    order = np.lexsort((k, c, -errors[c, k]))  # the most frequent first
    c, k = c[order], k[order]
    cells = np.column_stack([c, k, errors[c, k]])
    return {
        "order": found.order().tolist(),
        "cells": cells[:MOST_CELLS].tolist(),
        "allCells": len(cells),
        "errors": int(errors.sum()),
        "pairs": [examples(rows, *pair) for pair in cells[:MOST_SHOWN_PAIRS, :2].tolist()],
    }


def examples(rows: Evaluated, c: int, k: int) -> dict[str, Any]:
    """Rows of class c that were taken for class k, those with the lowest margins first."""
    here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
    here = here[np.argsort(rows.margin[here], kind="stable")][:MOST_EXAMPLES]
    return {
        "true": c,
        "predicted": k,
        "at": here.tolist(),
        "rows": [rows.rows[i] for i in here.tolist()],
        "margins": rows.margin[here].tolist(),
        "ofTrue": [rows.probability(i, c) for i in here.tolist()],
        "ofPredicted": [rows.probability(i, k) for i in here.tolist()],
    }


MOST_EXPLAINED_PAIRS = 250  # pairs that are explained, the most frequent ones
MOST_FEATURES = 8  # that are shown for a pair
MOST_ROWS = 20  # of each group
MOST_VALUES = 2**21  # Shapley values at a time, 16 MB: more pairs together would compute many classes for few rows
REASONS = 3  # features that are named for an example
SMALLEST = 0.01  # log-odds of a reason; less is no reason

Pairs = dict[tuple[int, int], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Question:
    """Two classes, and rows to be explained.

    Attributes
    ----------
    a, b : the numbers of the classes
    groups : rows, ascending, by what they are: "rightA", "aForB", "bForA", "rightB"; none of them is empty
    """

    a: int
    b: int
    groups: dict[str, AnyArray]

    @property
    def rows(self) -> AnyArray:
        """The rows of all groups, one group after the other."""
        return np.concatenate(list(self.groups.values()))


def deciding(rows: Evaluated, pairs: list[dict[str, Any]], cells: Cells) -> list[dict[str, Any]]:
    """What separates the classes of each pair, for the first pairs; the examples in ``pairs`` get their ``reasons``.

    Parameters
    ----------
    rows : the evaluated rows
    pairs : from `confusions`, the most frequent first
    cells : the values of the table
    """
    if not is_explainable(rows.clf):
        return []
    by_pair: Pairs = {(pair["true"], pair["predicted"]): pair for pair in pairs}
    out = []
    for batch in batches(questions(rows, by_pair), len(rows.features)):
        for question, phi in zip(batch, log_odds(rows, batch), strict=True):
            out.append(answer(question, phi, by_pair, cells))
    return [entry for entry in out if entry["features"]]  # a model without splits has none that decide


def is_explainable(clf: Any) -> bool:
    """Whether a classifier has Shapley values: a booster whose learner is one of the package's."""
    try:
        check_explainable(check_booster(clf))
        check_not_merged(clf)
    except (TypeError, ValueError):
        return False
    return True


def questions(rows: Evaluated, by_pair: Pairs) -> list[Question]:
    """The pairs to be explained, both directions together; a class without training examples has no scores."""
    asked: dict[tuple[int, int], Question] = {}
    for a, b in by_pair:
        if len(asked) == MOST_EXPLAINED_PAIRS:
            break
        if (b, a) not in asked and rows.clf.present_[[a, b]].all():
            groups = {
                "rightA": members(rows, a, a, []),
                "aForB": members(rows, a, b, examples_of(by_pair, a, b)),
                "bForA": members(rows, b, a, examples_of(by_pair, b, a)),
                "rightB": members(rows, b, b, []),
            }
            asked[a, b] = Question(a, b, {name: at for name, at in groups.items() if len(at)})
    return list(asked.values())


def examples_of(by_pair: Pairs, c: int, k: int) -> list[int]:
    """The examples that the page shows of a pair."""
    return by_pair[c, k]["at"] if (c, k) in by_pair else []


def members(rows: Evaluated, c: int, k: int, needed: list[int]) -> AnyArray:
    """Rows of class c that were taken for class k, ascending: some, spread evenly over the table, and those needed."""
    here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
    some = here[np.linspace(0, len(here) - 1, min(len(here), MOST_ROWS)).astype(np.intp)]
    return np.union1d(some, needed).astype(np.intp)


def batches(asked: list[Question], p: int) -> Iterator[list[Question]]:
    """Questions in batches of at most 2²¹ values (rows × features × classes), or of one question."""
    batch: list[Question] = []
    n_rows = 0
    for question in asked:
        n_rows += len(question.rows)
        if batch and n_rows * p * 2 * (len(batch) + 1) > MOST_VALUES:
            yield batch
            batch, n_rows = [], len(question.rows)
        batch.append(question)
    if batch:
        yield batch


def log_odds(rows: Evaluated, batch: list[Question]) -> Iterator[Array]:
    """For every question, what each feature adds to the log-odds of class a against class b; (rows, p) each."""
    at = np.unique(np.concatenate([question.rows for question in batch]))
    numbers = np.unique([[question.a, question.b] for question in batch])
    phi = shap_values(rows.clf, take_rows(rows.X, at), rows.clf.classes_[numbers])  # (rows, p, classes)
    for question in batch:
        a, b = np.searchsorted(numbers, [question.a, question.b])
        own = phi[np.searchsorted(at, question.rows)]
        yield own[:, :, a] - own[:, :, b]


def answer(question: Question, phi: Array, by_pair: Pairs, cells: Cells) -> dict[str, Any]:
    """What separates the two classes, from the values of all rows (rows, p); the examples get their reasons."""
    a, b, groups = question.a, question.b, question.groups
    parts, end = {}, 0
    for name, at in groups.items():
        parts[name] = phi[end : end + len(at)]
        end += len(at)
    for name, pair, sign in (("aForB", by_pair.get((a, b)), -1.0), ("bForA", by_pair.get((b, a)), 1.0)):
        if pair is not None:
            shown = zip(np.searchsorted(groups[name], np.asarray(pair["at"])).tolist(), pair["at"], strict=True)
            pair["reasons"] = [reasons(sign * parts[name][place], row, cells) for place, row in shown]
    chosen = most_decisive(parts)
    return {
        "a": a,
        "b": b,
        "features": chosen.tolist(),
        "means": {name: part[:, chosen].mean(axis=0).tolist() for name, part in parts.items()},
        "typical": {name: [cells.typical(at, j) for j in chosen.tolist()] for name, at in groups.items()},
    }


def most_decisive(parts: dict[str, Array]) -> AnyArray:
    """The features with the largest mean absolute values, every group of rows counting the same."""
    size = np.mean([np.abs(part).mean(axis=0) for part in parts.values()], axis=0)  # (p,)
    first = np.argsort(-size, kind="stable")[:MOST_FEATURES]
    return first[size[first] > 0]


def reasons(phi: Array, row: int, cells: Cells) -> list[list[Any]]:
    """The features of a row that speak most for the wrong class: [feature, value as text, log-odds]."""
    first = np.argsort(-phi, kind="stable")[:REASONS].tolist()
    return [[j, cells.text(row, j), float(phi[j])] for j in first if phi[j] >= SMALLEST]


MOST_SHOWN_FEATURES = 30  # features that are shown overall
MOST_OF_CLASS = 12


def importance(rows: Evaluated) -> dict[str, Any] | None:
    """Pairs (feature, importance), the largest first; None for a classifier that has no importances, or no splits."""
    overall = getattr(rows.clf, "feature_importances_", None)
    if overall is None or not np.any(overall):
        return None
    return {
        "overall": largest(np.asarray(overall), MOST_SHOWN_FEATURES),
        "used": int(np.count_nonzero(overall)),
        "classes": of_classes(rows),
    }


def of_classes(rows: Evaluated) -> list[list[list[float]]] | None:
    """The same for every class; None if the classifier does not know it."""
    if not hasattr(rows.clf, "model_") or getattr(rows.clf, "merged_", None) is not None:
        return None
    gains = importances(rows.clf, "gain", classes=rows.clf.classes_)  # (p, K)
    return [largest(gains[:, k], MOST_OF_CLASS) for k in range(rows.K)]


def largest(values: Array, most: int) -> list[list[float]]:
    """The largest values with their places; those that are zero are left out."""
    first = np.argsort(-values, kind="stable")[:most]
    return [[int(j), float(values[j])] for j in first if values[j] > 0]


BINS = 12


def calibration(rows: Evaluated) -> dict[str, Any] | None:
    """The reliability of the predicted classes' probabilities, in bins; None without probabilities."""
    if rows.P is None:
        return None
    found = Reliability.from_predictions(rows.c, rows.P, np.arange(rows.K), bins=BINS)
    return {
        "low": found.low.tolist(),
        "high": found.high.tolist(),
        "count": found.count.tolist(),
        "few": found.few.tolist(),
        "predicted": found.predicted.tolist(),
        "observed": found.observed.tolist(),
        "interval": found.interval.tolist(),
        "error": found.ece,
        "confidence": float(rows.P.max(axis=1).mean()),
        "accuracy": float((rows.P.argmax(axis=1) == rows.c).mean()),
    }


MOST_DOUBTS = 60


def doubts(rows: Evaluated, folds: Any = None) -> dict[str, Any]:
    """The rows with the lowest margins that are below zero, the lowest first.

    Parameters
    ----------
    rows : the evaluated rows
    folds : None takes the margins of the model itself; otherwise the folds of ``doubtful_labels``
    """
    if folds is None:
        order = np.argsort(rows.margin, kind="stable")
        entries = [
            about(rows, i, rows.margin[i], int(rows.predicted[i]))
            for i in order[:MOST_DOUBTS].tolist()
            if rows.margin[i] < 0
        ]
        return {"how": "margins", "rows": entries, "all": int((rows.margin < 0).sum())}
    check_folds(rows, folds)
    found = doubtful_labels(rows.clf, rows.X, rows.clf.classes_[rows.c], cv=folds)
    suggested = np.searchsorted(rows.clf.classes_, found.suggested)
    below = np.flatnonzero(found.margin < 0)
    entries = [
        about(rows, int(found.rows[i]), found.margin[i], int(suggested[i])) for i in below[:MOST_DOUBTS].tolist()
    ]
    return {"how": "folds", "rows": entries, "all": len(below)}


def check_folds(rows: Evaluated, folds: Any) -> None:
    """Raise unless a number of folds is at least two, and at most the number of rows of the largest class."""
    if not isinstance(folds, int | np.integer):
        return  # a splitter, or pairs of arrays
    largest = int(np.bincount(rows.c).max())
    if largest < 2:
        raise ValueError(f"folds={folds!r} needs a class with at least two rows, and every class has one; pass None.")
    if not 2 <= folds <= largest:
        raise ValueError(
            f"folds={folds!r} is out of range; pass 2 to {largest}, the number of rows of the largest class, or None."
        )


def about(rows: Evaluated, i: int, margin: float, suggested: int) -> dict[str, Any]:
    """One row: its label, the class that the model prefers, and how much."""
    return {
        "row": rows.rows[i],
        "label": int(rows.c[i]),
        "suggested": suggested,
        "margin": float(margin) if np.isfinite(margin) else None,
        "ofLabel": rows.probability(i, int(rows.c[i])),
        "ofSuggested": rows.probability(i, suggested),
    }
