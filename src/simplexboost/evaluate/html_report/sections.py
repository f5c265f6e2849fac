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
from ..curves import Curve, learning_curves
from ..reliability import Reliability
from .labelled_rows import Cells, Evaluated

DRAWS = 1000  # bootstrap samples
MANY = 20_000  # rows beyond which the mean is as good as normal, and 1000 samples would take longer than a second
TOP = 5


def headline(rows: Evaluated) -> list[dict[str, Any]]:
    """Return the scores by name, each with the ends of its interval."""
    right = rows.predicted == rows.c
    about = "The share of rows for which the predicted class is right."
    scores = [score("accuracy", "Accuracy", right.mean(), wilson(right.sum(), rows.n), about), balanced(rows)]
    if rows.P is None:
        return scores
    if rows.K > TOP:
        hit = among_top(rows.P, rows.c, TOP)
        about = f"The share of rows whose class is among the {TOP} most probable ones."
        name, title = f"top_{TOP}_accuracy", f"Top-{TOP} accuracy"
        scores.append(score(name, title, hit.mean(), wilson(hit.sum(), rows.n), about))
    losses = log_losses(rows.P, rows.c)
    interval = normal_interval(losses) if rows.n > MANY else bootstrap_interval(losses)
    about = "The mean of −log p for the row's class; smaller is better. "
    about += f"Guessing at random would give {np.log(rows.K):.2f}."
    return [*scores, score("log_loss", "Log-loss", losses.mean(), interval, about, "number")]


def balanced(rows: Evaluated) -> dict[str, Any]:
    """Return the mean recall over the classes that have rows.

    If all C recalls were p, the variance of their mean would be p(1 − p)/m with m = C²/Σ 1/n_k, and m is the number of
    rows if all classes have equally many. Where recalls differ the interval is a little too wide. A bootstrap within
    the classes would have no width where the few rows of each class are all right.
    """
    support, correct = rows.confusion.support, np.diag(rows.confusion.counts)
    here = support > 0
    value = float((correct[here] / support[here]).mean())
    m = here.sum() ** 2 / (1 / support[here]).sum()
    about = "The mean of the recalls of all classes, so that rare classes count as much as frequent ones."
    return score("balanced_accuracy", "Balanced accuracy", value, wilson(m * value, m), about)


def score(name: str, title: str, value: float, interval: Any, about: str, unit: str = "share") -> dict[str, Any]:
    """Return one score with its interval."""
    low, high = interval
    return {"name": name, "title": title, "value": value, "low": low, "high": high, "unit": unit, "about": about}


def normal_interval(values: Array) -> tuple[float, float]:
    """Return the mean of many values, less and plus 1.96 standard errors."""
    mean, error = float(values.mean()), float(values.std()) / np.sqrt(len(values))
    return mean - 1.96 * error, mean + 1.96 * error


def bootstrap_interval(values: Array) -> tuple[float, float]:
    """Return the middle 95 % of the means of samples drawn with replacement."""
    rng, n = np.random.default_rng(0), len(values)
    step = max(1, 2**22 // n)  # samples at a time: 32 MB of numbers of rows
    means = [
        values[rng.integers(0, n, size=(min(step, DRAWS - done), n))].mean(axis=1) for done in range(0, DRAWS, step)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975]).tolist()
    return low, high


MOST_POINTS = 200  # of a curve; more cannot be told apart on a screen
# So many rows are predicted after every round that rows × classes × rounds is at most this: some two seconds.
MOST_STAGED = 2 * 10**8
FEWEST_STAGED = 500


def learning(rows: Evaluated) -> dict[str, Any] | None:
    """Return the curves by metric; None for a classifier that has no rounds, or none that were kept."""
    clf = rows.clf
    if not hasattr(clf, "history_") or not hasattr(clf, "staged_predict"):
        return None
    found, (here, used) = learning_curves(clf), staged(rows)
    is_log_loss = bool(getattr(clf.loss_, "likelihood", False))  # the risk of the fit, so that both are on one scale
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in [*found.curves, *here]:
        metric = "risk" if curve.metric == "log-loss" and is_log_loss else curve.metric
        at = thinned(np.arange(len(curve.rounds)))
        shown = {"name": curve.name, "rounds": curve.rounds[at], "values": curve.values[at]}
        groups.setdefault(metric, []).append(shown)
    if not groups:
        return None
    titles = {"risk": "Log-loss" if is_log_loss else "Risk (mean loss)", "log-loss": "Log-loss", "error": "Error rate"}
    order = sorted(groups, key=lambda metric: list(titles).index(metric) if metric in titles else 9)
    return {
        "metrics": [
            {"metric": metric, "title": titles.get(metric, metric), "curves": groups[metric]} for metric in order
        ],
        "rounds": found.n_rounds,
        "chosen": found.chosen,
        "why": found.why,
        "rows": used,
    }


def staged(rows: Evaluated) -> tuple[list[Curve], int]:
    """Return the error and, with probabilities, the log-loss after every round, and the number of rows used."""
    clf, rounds = rows.clf, int(rows.clf.n_iter_)
    if rounds == 0:
        return [], 0
    most = min(rows.n, max(FEWEST_STAGED, MOST_STAGED // (rounds * rows.K)))
    some = np.linspace(0, rows.n - 1, most).astype(np.intp)
    X, c, at = take_rows(rows.X, some), rows.c[some], thinned(np.arange(rounds))
    wanted = set(at.tolist())
    errors, losses = [], []
    for t, found in enumerate(clf.staged_predict(X) if rows.P is None else clf.staged_predict_proba(X)):
        if t in wanted:
            errors.append(np.mean(clf.classes_[c] != found if rows.P is None else c != found.argmax(axis=1)))
            if rows.P is not None:
                losses.append(log_losses(found, c).mean())
    measures = {"log-loss": losses, "error": errors}
    return [Curve("this report", name, at + 1, np.array(values)) for name, values in measures.items() if values], most


def thinned(places: AnyArray) -> AnyArray:
    """Return at most 200 of some places, the first and the last among them."""
    return places[np.unique(np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.intp))]


def classes(rows: Evaluated) -> dict[str, Any]:
    """Return the scores of the classes, and what each is most often taken for; arrays of length K."""
    errors = rows.confusion.errors
    worst, times = errors.argmax(axis=1), errors.max(axis=1)
    taken_for = [k if n else None for k, n in zip(worst.tolist(), times.tolist(), strict=True)]
    return {**vars(ClassTable.of_counts(rows.confusion)), "takenFor": taken_for, "takenTimes": times}


def class_map(rows: Evaluated) -> dict[str, Any] | None:
    """Return a point for every class that has rows; None where there are fewer than three."""
    here = rows.confusion.support > 0
    if here.sum() < 3:
        return None
    placed = map_of_scores(rows.U, rows.c, np.arange(rows.K))
    points = [point if known else None for point, known in zip(placed.points, here, strict=True)]
    return {"points": points, "explained": placed.explained.sum()}


MOST_CELLS = 6_000  # cells with errors that the page holds, the most frequent ones; a browser draws each as a shape
MOST_SHOWN_PAIRS = 3_000  # pairs with examples; some 300 bytes each
MOST_EXAMPLES = 6  # of a pair


def confusions(rows: Evaluated) -> dict[str, Any]:
    """Return the order of the classes, the cells (true, predicted, rows) with errors, and the pairs with examples."""
    errors = rows.confusion.errors
    c, k = np.nonzero(errors)
    cells = np.column_stack([c, k, errors[c, k]])[np.argsort(-errors[c, k], kind="stable")]  # the most frequent first
    return {
        "order": rows.confusion.order(),
        "cells": cells[:MOST_CELLS],
        "allCells": len(cells),
        "errors": errors.sum(),
        "pairs": [examples(rows, *pair) for pair in cells[:MOST_SHOWN_PAIRS, :2].tolist()],
    }


def examples(rows: Evaluated, c: int, k: int) -> dict[str, Any]:
    """Return rows of class c that were taken for class k, those with the lowest margins first."""
    here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
    here = here[np.argsort(rows.margin[here], kind="stable")][:MOST_EXAMPLES]
    return {
        "true": c,
        "predicted": k,
        "at": here,
        "rows": [rows.rows[i] for i in here],
        "margins": rows.margin[here],
        "ofTrue": [rows.probability(i, c) for i in here],
        "ofPredicted": [rows.probability(i, k) for i in here],
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
    """Return what separates the classes of each pair, for the first of the pairs; their examples get ``reasons``."""
    try:  # explained are boosters whose learner is one of the package's
        check_explainable(check_booster(rows.clf))
        check_not_merged(rows.clf)
    except (TypeError, ValueError):
        return []
    by_pair: Pairs = {(pair["true"], pair["predicted"]): pair for pair in pairs}
    out = []
    for batch in batches(questions(rows, by_pair), len(rows.features)):
        for question, phi in zip(batch, log_odds(rows, batch), strict=True):
            out.append(answer(question, phi, by_pair, cells))
    return [entry for entry in out if len(entry["features"])]  # a model without splits has none that decide


def questions(rows: Evaluated, by_pair: Pairs) -> list[Question]:
    """Return the pairs to be explained, both directions together; a class without training examples has no scores."""

    def members(c: int, k: int) -> AnyArray:  # some rows, spread evenly over the table, and the examples of the page
        here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
        some = here[np.linspace(0, len(here) - 1, min(len(here), MOST_ROWS)).astype(np.intp)]
        return np.union1d(some, by_pair[c, k]["at"]) if (c, k) in by_pair else some

    asked: dict[tuple[int, int], Question] = {}
    for a, b in by_pair:
        if len(asked) == MOST_EXPLAINED_PAIRS:
            break
        if (b, a) not in asked and rows.clf.present_[[a, b]].all():
            names = {"rightA": (a, a), "aForB": (a, b), "bForA": (b, a), "rightB": (b, b)}
            groups = {name: members(*pair) for name, pair in names.items()}
            asked[a, b] = Question(a, b, {name: at for name, at in groups.items() if len(at)})
    return list(asked.values())


def batches(asked: list[Question], p: int) -> Iterator[list[Question]]:
    """Yield questions in batches of at most 2²¹ values (rows × features × classes), or of one question."""
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
    """Yield for every question what each feature adds to the log-odds of class a against class b; (rows, p) each."""
    at = np.unique(np.concatenate([question.rows for question in batch]))
    numbers = np.unique([[question.a, question.b] for question in batch])
    phi = shap_values(rows.clf, take_rows(rows.X, at), rows.clf.classes_[numbers])  # (rows, p, classes)
    for question in batch:
        a, b = np.searchsorted(numbers, [question.a, question.b])
        own = phi[np.searchsorted(at, question.rows)]
        yield own[:, :, a] - own[:, :, b]


def answer(question: Question, phi: Array, by_pair: Pairs, cells: Cells) -> dict[str, Any]:
    """Return what separates the two classes, from the values of all rows (rows, p); the examples get their reasons."""
    a, b, groups = question.a, question.b, question.groups
    ends = np.cumsum([len(at) for at in groups.values()])[:-1]
    parts = dict(zip(groups, np.split(phi, ends), strict=True))
    for name, pair, sign in (("aForB", by_pair.get((a, b)), -1.0), ("bForA", by_pair.get((b, a)), 1.0)):
        if pair is not None:
            places = np.searchsorted(groups[name], pair["at"])
            shown = zip(sign * parts[name][places], pair["at"], strict=True)
            pair["reasons"] = [reasons(values, row, cells) for values, row in shown]
    size = np.mean([np.abs(part).mean(axis=0) for part in parts.values()], axis=0)  # (p,) every group counts the same
    first = np.argsort(-size, kind="stable")[:MOST_FEATURES]
    chosen = first[size[first] > 0]
    return {
        "a": a,
        "b": b,
        "features": chosen,
        "means": {name: part[:, chosen].mean(axis=0) for name, part in parts.items()},
        "typical": {name: [cells.typical(at, j) for j in chosen.tolist()] for name, at in groups.items()},
    }


def reasons(phi: Array, row: int, cells: Cells) -> list[list[Any]]:
    """Return the features of a row that speak most for the wrong class: [feature, value as text, log-odds]."""
    first = np.argsort(-phi, kind="stable")[:REASONS].tolist()
    return [[j, cells.text(row, j), phi[j]] for j in first if phi[j] >= SMALLEST]


MOST_SHOWN_FEATURES = 30  # features that are shown overall
MOST_OF_CLASS = 12


def importance(rows: Evaluated) -> dict[str, Any] | None:
    """Return pairs (feature, importance), the largest first; None for a classifier without importances or splits.

    ``classes`` has the same for every class; None if the classifier does not know it.
    """
    clf, of_classes = rows.clf, None
    overall = getattr(clf, "feature_importances_", None)
    if overall is None or not np.any(overall):
        return None
    if hasattr(clf, "model_") and getattr(clf, "merged_", None) is None:
        gains = importances(clf, "gain", classes=clf.classes_)  # (p, K)
        of_classes = [largest(gain, MOST_OF_CLASS) for gain in gains.T]
    return {
        "overall": largest(np.asarray(overall), MOST_SHOWN_FEATURES),
        "used": np.count_nonzero(overall),
        "classes": of_classes,
    }


def largest(values: Array, most: int) -> list[tuple[int, float]]:
    """Return the places of the largest values with the values; those that are zero are left out."""
    first = np.argsort(-values, kind="stable")[:most]
    return [(int(j), float(values[j])) for j in first if values[j] > 0]


BINS = 12


def calibration(rows: Evaluated) -> dict[str, Any] | None:
    """Return the reliability of the predicted classes' probabilities, in bins; None without probabilities."""
    if rows.P is None:
        return None
    found = Reliability.from_predictions(rows.c, rows.P, np.arange(rows.K), bins=BINS)
    right = rows.P.argmax(axis=1) == rows.c
    return {**vars(found), "few": found.few, "confidence": rows.P.max(axis=1).mean(), "accuracy": right.mean()}


MOST_DOUBTS = 60


def doubts(rows: Evaluated, folds: Any = None) -> dict[str, Any]:
    """Return the rows with the lowest margins that are below zero, the lowest first.

    With ``folds`` of None they are the margins of the model itself; otherwise the folds of ``doubtful_labels``.
    """
    if folds is None:
        at = np.argsort(rows.margin, kind="stable")
        margin, suggested = rows.margin[at], rows.predicted[at]
    else:
        check_folds(rows, folds)
        found = doubtful_labels(rows.clf, rows.X, rows.clf.classes_[rows.c], cv=folds)
        at, margin, suggested = found.rows, found.margin, np.searchsorted(rows.clf.classes_, found.suggested)
    below = np.flatnonzero(margin < 0)
    entries = [
        {
            "row": rows.rows[i],
            "label": rows.c[i],
            "suggested": k,
            "margin": own,
            "ofLabel": rows.probability(i, rows.c[i]),
            "ofSuggested": rows.probability(i, k),
        }
        for i, k, own in zip(*(values[below[:MOST_DOUBTS]] for values in (at, suggested, margin)), strict=True)
    ]
    return {"how": "margins" if folds is None else "folds", "rows": entries, "all": len(below)}


def check_folds(rows: Evaluated, folds: Any) -> None:
    """Raise unless a number of folds is at least two, and at most the number of rows of the largest class."""
    if not isinstance(folds, int | np.integer):
        return  # a splitter, or pairs of arrays
    largest = int(rows.confusion.support.max())
    if largest < 2:
        raise ValueError(f"folds={folds!r} needs a class with at least two rows, and every class has one; pass None.")
    if not 2 <= folds <= largest:
        raise ValueError(
            f"folds={folds!r} is out of range; pass 2 to {largest}, the number of rows of the largest class, or None."
        )
