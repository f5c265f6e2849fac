"""The sections of a report: each function computes the data of one section from labelled rows and their predictions.

Fractions of rows have Wilson's interval. So has the balanced accuracy, with an effective number of rows: the number
that would give the same variance if all classes had equally many rows. The log-loss has a 95 % bootstrap interval, or
with many rows a normal interval.

For a pair of classes a and b, Shapley values of their log-odds are computed for rows of each class that were predicted
as the other class, and for some rows that were predicted right. A feature misleads if its values for confused rows of a
are like its values for b. Several pairs are explained at once, since preparing the trees takes longer than explaining
a few rows.

A row with a low margin has a wrong label or is hard for the model. If a model has learned wrong labels of its training
rows by heart, models that are fitted to folds find more of the wrong labels (`explain.doubtful_labels`).
"""

from __future__ import annotations

import io
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy
import sklearn

from ..._util.arrays import AnyArray, Array
from ..._util.messages import format_bytes
from ...classifiers.metrics import among_top, log_losses
from ...classifiers.prediction import check_booster
from ...decide.sets import sets_of, thresholds_of
from ...explain import doubtful_labels, importances, shap_values
from ...explain.explained_classes import check_not_merged
from ...explain.shapley import check_explainable
from ...explain.tree_tables import find_largest
from ...persist.saving import WRITTEN_BY
from ...tables.frames import take_rows
from ..confusion import map_of_scores
from ..curves import Curve, learning_curves
from ..drawing import cut_text
from ..score_tables import ClassTable, Reliability, wilson
from .labelled_rows import Cells, Evaluated, rows_of_fit

DRAWS = 1000  # bootstrap samples
MANY = 20_000  # rows beyond which the mean is as good as normal, and 1000 samples would take longer than a second
TOP = 5
MOST_POINTS = 200  # of a curve; more cannot be told apart on a screen
MOST_STAGED = 2 * 10**8  # rows × classes × rounds of the curves on the report's rows; they take two seconds
FEWEST_STAGED = 500
MOST_CELLS = 6_000  # cells with errors that the page holds, the most frequent ones; a browser draws each as a shape
MOST_SHOWN_PAIRS = 3_000  # pairs with examples; some 300 bytes each
MOST_EXAMPLES = 6  # of a pair
MOST_EXPLAINED_PAIRS = 250  # pairs that are explained, the most frequent ones
MOST_FEATURES = 8  # of a pair
MOST_ROWS = 20  # of each group
MOST_VALUES = 2**21  # Shapley values at a time, 16 MB: more pairs together would compute many classes for few rows
REASONS = 3  # features that are named for an example
SMALLEST = 0.01  # log-odds of a reason; less is no reason
MOST_SHOWN_FEATURES = 30  # features that are shown overall
MOST_OF_CLASS = 12
BINS = 12
MOST_DOUBTS = 60
LONGEST_VALUE = 200  # characters of a parameter that are shown
COVERAGES = (0.9, 0.95, 0.99)  # of prediction sets
Pairs = dict[tuple[int, int], dict[str, Any]]


def headline(rows: Evaluated) -> list[dict[str, Any]]:
    """Return the main scores, such as accuracy and log-loss, with their confidence intervals."""
    right = rows.predicted == rows.c
    about = "The share of rows for which the predicted class is right."
    scores = [make_score("accuracy", "Accuracy", right.mean(), wilson(right.sum(), rows.n), about)]
    # If all C recalls were p, the variance of their mean would be p(1 − p)/m with m = C²/Σ 1/n_k, the number of rows if
    # all classes have equally many. A bootstrap within the classes would have no width if all their few rows are right.
    support, correct = rows.confusion.support, np.diag(rows.confusion.counts)
    known = support > 0
    value, m = float((correct[known] / support[known]).mean()), known.sum() ** 2 / (1 / support[known]).sum()
    about = "The mean of the recalls of all classes, so that rare classes count as much as frequent ones."
    scores.append(make_score("balanced_accuracy", "Balanced accuracy", value, wilson(m * value, m), about))
    if rows.P is None:
        return scores
    if rows.K > TOP:
        hit = among_top(rows.P, rows.c, TOP)
        about = f"The share of rows whose class is among the {TOP} most probable ones."
        name, title = f"top_{TOP}_accuracy", f"Top-{TOP} accuracy"
        scores.append(make_score(name, title, hit.mean(), wilson(hit.sum(), rows.n), about))
    losses = log_losses(rows.P, rows.c)
    interval = normal_interval(losses) if rows.n > MANY else bootstrap_interval(losses)
    about = "The mean of −log p for the row's class; smaller is better. "
    about += f"Guessing at random would give {np.log(rows.K):.2f}."
    return [*scores, make_score("log_loss", "Log-loss", losses.mean(), interval, about, "number")]


def make_score(name: str, title: str, value: float, interval: Any, about: str, unit: str = "share") -> dict[str, Any]:
    low, high = interval
    return {"name": name, "title": title, "value": value, "low": low, "high": high, "unit": unit, "about": about}


def normal_interval(values: Array) -> tuple[float, float]:
    """Return a 95 % confidence interval for the mean of many values: the mean ± 1.96 standard errors."""
    mean, error = float(values.mean()), float(values.std()) / np.sqrt(len(values))
    return mean - 1.96 * error, mean + 1.96 * error


def bootstrap_interval(values: Array) -> tuple[float, float]:
    """Return a 95 % bootstrap interval for the mean of values: two quantiles of the means of bootstrap samples."""
    rng, n = np.random.default_rng(0), len(values)
    step = max(1, 2**22 // n)  # samples at a time: 32 MB of numbers of rows
    means = [
        values[rng.integers(0, n, size=(min(step, DRAWS - done), n))].mean(axis=1) for done in range(0, DRAWS, step)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975]).tolist()
    return low, high


def learning(rows: Evaluated) -> dict[str, Any] | None:
    """Return the learning curves, grouped by metric; None for a classifier without rounds."""
    clf = rows.clf
    if not hasattr(clf, "history_") or not hasattr(clf, "staged_predict"):
        return None
    found, (here, used) = learning_curves(clf), evaluate_rounds(rows)
    is_log_loss = bool(getattr(clf.loss_, "likelihood", False))  # the risk of the fit, so that both are on one scale
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in [*found.curves, *here]:
        metric = "risk" if curve.metric == "log-loss" and is_log_loss else curve.metric
        at = thin_out(np.arange(len(curve.rounds)))
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


def evaluate_rounds(rows: Evaluated) -> tuple[list[Curve], int]:
    """Return curves of error and log-loss over the rounds, on evenly spaced rows of the report, and how many rows."""
    clf, rounds = rows.clf, int(rows.clf.n_iter_)
    if rounds == 0:
        return [], 0
    most = min(rows.n, max(FEWEST_STAGED, MOST_STAGED // (rounds * rows.K)))
    some = np.linspace(0, rows.n - 1, most).astype(np.intp)
    X, c, at = take_rows(rows.X, some), rows.c[some], thin_out(np.arange(rounds))
    wanted = set(at.tolist())
    errors, losses = [], []
    for t, found in enumerate(clf.staged_predict(X) if rows.P is None else clf.staged_predict_proba(X)):
        if t in wanted:
            errors.append(np.mean(clf.classes_[c] != found if rows.P is None else c != found.argmax(axis=1)))
            if rows.P is not None:
                losses.append(log_losses(found, c).mean())
    measures = {"log-loss": losses, "error": errors}
    return [Curve("this report", name, at + 1, np.array(values)) for name, values in measures.items() if values], most


def thin_out(places: AnyArray) -> AnyArray:
    """Return at most 200 entries of ``places``, evenly spaced, including the first and the last entry."""
    return places[np.unique(np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.intp))]


def classes(rows: Evaluated) -> dict[str, Any]:
    """Return the scores of each class, and the wrong class that is predicted most often for rows of the class."""
    errors = rows.confusion.errors
    worst, times = errors.argmax(axis=1), errors.max(axis=1)
    taken_for = [k if n else None for k, n in zip(worst.tolist(), times.tolist(), strict=True)]
    return {**vars(ClassTable.of_counts(rows.confusion)), "takenFor": taken_for, "takenTimes": times}


def class_map(rows: Evaluated) -> dict[str, Any] | None:
    """Return the points of a class map and the share they explain; None if fewer than three classes have rows."""
    here = rows.confusion.support > 0
    if here.sum() < 3:
        return None
    placed = map_of_scores(rows.U, rows.c, np.arange(rows.K))
    points = [point if known else None for point, known in zip(placed.points, here, strict=True)]
    return {"points": points, "explained": placed.explained.sum()}


def confusions(rows: Evaluated) -> dict[str, Any]:
    """Return the class order, the cells with errors (true class, predicted class, count), and example rows."""
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
    """Return example rows of class c that were predicted as class k, the rows with the lowest margins first."""
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


@dataclass(frozen=True, eq=False)
class Question:
    """A class pair (indices a and b), and groups of rows whose log-odds of a against b are explained."""

    a: int
    b: int
    groups: dict[str, AnyArray]  # ascending numbers of rows: "rightA", "aForB", "bForA", "rightB"; none is empty

    @property
    def rows(self) -> AnyArray:
        return np.concatenate(list(self.groups.values()))


def deciding(rows: Evaluated, pairs: list[dict[str, Any]], cells: Cells) -> list[dict[str, Any]]:
    """Return for each explained class pair the features that separate it; add ``reasons`` to entries of ``pairs``."""
    try:  # only boosters of the package's trees and lines can be explained
        check_explainable(check_booster(rows.clf))
        check_not_merged(rows.clf)
    except (TypeError, ValueError):
        return []
    by_pair: Pairs = {(pair["true"], pair["predicted"]): pair for pair in pairs}
    out = []
    for batch in batch_questions(ask_questions(rows, by_pair), len(rows.features)):
        for question, phi in zip(batch, explain_log_odds(rows, batch), strict=True):
            out.append(answer_question(question, phi, by_pair, cells))
    return [entry for entry in out if len(entry["features"])]  # a model without splits has none


def ask_questions(rows: Evaluated, by_pair: Pairs) -> list[Question]:
    """Return the class pairs to explain, one for both directions; skip classes without training examples."""

    def members(c: int, k: int) -> AnyArray:  # rows at even distances, and the examples of the page
        here = np.flatnonzero((rows.c == c) & (rows.predicted == k))
        some = here[np.linspace(0, len(here) - 1, min(len(here), MOST_ROWS)).astype(np.intp)]
        return np.union1d(some, by_pair[c, k]["at"]) if (c, k) in by_pair else some

    asked: dict[tuple[int, int], Question] = {}
    for a, b in by_pair:
        if len(asked) == MOST_EXPLAINED_PAIRS:
            break
        if (b, a) not in asked and rows.clf._present[[a, b]].all():
            names = {"rightA": (a, a), "aForB": (a, b), "bForA": (b, a), "rightB": (b, b)}
            groups = {name: members(*pair) for name, pair in names.items()}
            asked[a, b] = Question(a, b, {name: at for name, at in groups.items() if len(at)})
    return list(asked.values())


def batch_questions(asked: list[Question], p: int) -> Iterator[list[Question]]:
    """Yield batches of class pairs: at most 2²¹ Shapley values (rows × p × classes) each, or a single larger pair."""
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


def explain_log_odds(rows: Evaluated, batch: list[Question]) -> Iterator[Array]:
    """Yield for each class pair the Shapley values (rows, p) of the log-odds of class a against class b."""
    at = np.unique(np.concatenate([question.rows for question in batch]))
    numbers = np.unique([[question.a, question.b] for question in batch])
    phi = shap_values(rows.clf, take_rows(rows.X, at), rows.clf.classes_[numbers])  # (rows, p, classes)
    for question in batch:
        a, b = np.searchsorted(numbers, [question.a, question.b])
        own = phi[np.searchsorted(at, question.rows)]
        yield own[:, :, a] - own[:, :, b]


def answer_question(question: Question, phi: Array, by_pair: Pairs, cells: Cells) -> dict[str, Any]:
    """Return a class pair's separating features, given Shapley values (rows, p); add ``reasons`` to ``by_pair``."""
    a, b, groups = question.a, question.b, question.groups
    ends = np.cumsum([len(at) for at in groups.values()])[:-1]
    parts = dict(zip(groups, np.split(phi, ends), strict=True))
    for name, pair, sign in (("aForB", by_pair.get((a, b)), -1.0), ("bForA", by_pair.get((b, a)), 1.0)):
        if pair is not None:
            places = np.searchsorted(groups[name], pair["at"])
            shown = zip(sign * parts[name][places], pair["at"], strict=True)
            pair["reasons"] = [find_reasons(values, row, cells) for values, row in shown]
    size = np.mean([np.abs(part).mean(axis=0) for part in parts.values()], axis=0)  # (p,) every group counts the same
    chosen = find_largest(size, MOST_FEATURES)
    return {
        "a": a,
        "b": b,
        "features": chosen,
        "means": {name: part[:, chosen].mean(axis=0) for name, part in parts.items()},
        "typical": {name: [cells.typical(at, j) for j in chosen.tolist()] for name, at in groups.items()},
    }


def find_reasons(phi: Array, row: int, cells: Cells) -> list[list[Any]]:
    """Return the features of a row that speak most for the wrong class, as lists [feature index, value, log-odds]."""
    first = np.argsort(-phi, kind="stable")[:REASONS].tolist()
    return [[j, cells.text(row, j), phi[j]] for j in first if phi[j] >= SMALLEST]


def importance(rows: Evaluated) -> dict[str, Any] | None:
    """Return the most important features with their importances, overall and per class; None without importances."""
    clf, of_classes = rows.clf, None
    overall = np.asarray(getattr(clf, "feature_importances_", ()))
    if not overall.any():
        return None
    if hasattr(clf, "model_") and getattr(clf, "_merged", None) is None:
        gains = importances(clf, "gain", classes=clf.classes_)  # (p, K)
        of_classes = [[(j, gain[j]) for j in find_largest(gain, MOST_OF_CLASS).tolist()] for gain in gains.T]
    return {
        "overall": [(j, overall[j]) for j in find_largest(overall, MOST_SHOWN_FEATURES).tolist()],
        "used": np.count_nonzero(overall),
        "classes": of_classes,
    }


def calibration(rows: Evaluated) -> dict[str, Any] | None:
    """Return the reliability diagram of the largest predicted probabilities; None without probabilities."""
    if rows.P is None:
        return None
    found = Reliability.from_predictions(rows.c, rows.P, np.arange(rows.K), bins=BINS)
    right = rows.P.argmax(axis=1) == rows.c
    return {**vars(found), "few": found.few, "confidence": rows.P.max(axis=1).mean(), "accuracy": right.mean()}


def doubts(rows: Evaluated, folds: Any = None) -> dict[str, Any]:
    """Return the rows with negative margins, the lowest margin first.

    If ``folds`` is None, the margins are from the model itself; else `doubtful_labels` fits models to the folds.
    """
    if folds is None:
        at = np.argsort(rows.margin, kind="stable")
        margin, suggested = rows.margin[at], rows.predicted[at]
    else:
        largest = int(rows.confusion.support.max())
        if isinstance(folds, int | np.integer) and not 2 <= folds <= largest:  # else a splitter, or pairs of arrays
            why = f"is out of range; pass 2 to {largest}, the number of rows of the largest class, or None"
            why = why if largest > 1 else "needs a class with at least two rows, and every class has one; pass None"
            raise ValueError(f"folds={folds!r} {why}.")
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


def card(rows: Evaluated, data: str | None) -> dict[str, Any]:
    """Return the model card: groups of (name, value) entries, and parameter tables; ``data`` is the data set's name."""
    few, many = int(rows.confusion.support.min()), int(rows.confusion.support.max())
    rate = rows.n / max(rows.seconds, 1e-9)
    groups = {
        "Model": model_entries(rows),
        "Data of this report": [
            *([] if data is None else [["Table", data]]),
            ["Rows", f"{rows.n:,}"],
            ["Rows of a class", f"{few:,}" if few == many else f"{few:,} to {many:,}"],
            ["Prediction", f"{format_seconds(rows.seconds)} in all, {rate:,.0f} rows a second"],
        ],
        "Sets of classes": set_entries(rows),
        "Made with": [
            ["Report written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
            ["Package", WRITTEN_BY],
            ["Python", platform.python_version()],
            ["NumPy", np.__version__],
            ["SciPy", scipy.__version__],
            ["scikit-learn", sklearn.__version__],
            ["Machine", f"{platform.system()} {platform.machine()}"],
        ],
    }
    return {
        "groups": [{"title": title, "entries": entries} for title, entries in groups.items() if entries],
        "parameters": parameters(rows.clf),
        "candidates": candidates(rows.clf),
        "sample": 0 if (choice := getattr(rows.clf, "choice_", None)) is None else choice.n_sample,
    }


def model_entries(rows: Evaluated) -> list[list[str]]:
    clf, stream = rows.clf, io.BytesIO()
    entries = [["Algorithm", type(clf).__name__], ["Classes", f"{rows.K:,}"], ["Features", f"{len(rows.features):,}"]]
    if hasattr(clf, "n_iter_"):
        entries.append(["Rounds", f"{int(clf.n_iter_):,}"])
    trees = getattr(getattr(clf, "model_", None), "trees", None)
    if trees:
        leaves = np.mean([tree.n_leaves for tree in trees])
        entries.append(["Trees", f"{len(trees):,}, of {leaves:.0f} leaves on average"])
    fitted = rows_of_fit(clf)
    if fitted is not None:
        entries.append(["Rows of the fit", f"{fitted:,}"])
    seconds = np.append(0.0, getattr(clf, "history_", {}).get("seconds", ()))[-1]
    known = np.isfinite(seconds) and seconds > 0  # model files do not hold them
    entries.append(["Time of the fit", format_seconds(float(seconds)) if known else "not recorded in the model"])
    try:
        clf.save(stream)
        entries.append(["Size of the file", format_bytes(stream.tell())])
    except TypeError:  # it cannot be saved
        pass
    if getattr(clf, "stop_reason_", None):
        entries.append(["Stopped because", str(clf.stop_reason_)])
    return entries


def set_entries(rows: Evaluated) -> list[list[str]]:
    """Return (name, text) entries with coverage and mean size of prediction sets; [] if the model has no set scores."""
    scores = getattr(rows.clf, "set_scores_", None)
    if scores is None or rows.P is None:
        return []
    entries = []
    for coverage in COVERAGES:
        S = sets_of(rows.P, thresholds_of(scores, rows.K, coverage))
        hit, size = S[np.arange(rows.n), rows.c].mean(), S.sum(axis=1).mean()
        entries.append([f"Coverage {coverage:g}", f"{hit:.1%} of the rows, {size:.2f} classes on average"])
    return entries


def parameters(clf: Any) -> list[list[Any]]:
    """Return for every parameter of the classifier its name, its value, and whether it differs from the default."""
    try:
        default = type(clf)().get_params(deep=False)
    except TypeError:  # an estimator that must be given something
        default = {}
    out = []
    for name, value in sorted(clf.get_params(deep=False).items()):
        text = " ".join(repr(value).split())
        changed = name in default and repr(default[name]) != repr(value)
        out.append([name, cut_text(text, LONGEST_VALUE), changed])
    return out


def candidates(clf: Any) -> list[dict[str, Any]]:
    """Return the candidate parameters among which the classifier has chosen, best first; [] if it has chosen none."""
    choice = getattr(clf, "choice_", None)
    if choice is None:
        return []
    return [
        {
            "params": ", ".join(f"{name}={value!r}" for name, value in found["params"].items()) or "the only candidate",
            "risk": float(found["risk"]),
            "rounds": int(found["n_estimators"]),
            "temperature": float(found["temperature"]),
            "chosen": found["params"] == choice.params,
        }
        for found in sorted(choice.candidates, key=lambda found: found["risk"])
    ]


def format_seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
