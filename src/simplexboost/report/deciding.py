"""The features that decide between two classes: Shapley values of the log-odds of the one against the other.

For a pair of classes a and b they are computed for rows of a that were taken for b, rows of b that were taken for a,
and some rows of both that were recognised. Where the mistaken rows of a lie with those of b, the feature misleads.

The values are those of `Explains.explain_pair`. They are differences of Shapley values of two classes, and computed
for the classes of some pairs at once: to prepare the trees takes longer than to explain the few rows of a pair. 250
pairs of 438 classes take 4.7 s of processor time instead of 11 s, and 57 pairs of a model of 772 trees 1.7 s instead
of 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Array
from ..data.tables import take_rows
from ..explain.choosing import check_not_merged
from ..explain.shapley import check_explainable
from .cells import Cells
from .evaluated import Evaluated

MOST_PAIRS = 250  # pairs that are explained, the most frequent ones
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
    if not hasattr(clf, "explain_pair"):
        return False
    try:
        check_explainable(clf.model_)
        check_not_merged(clf)
    except ValueError:
        return False
    return True


def questions(rows: Evaluated, by_pair: Pairs) -> list[Question]:
    """The pairs to be explained, both directions together; a class without training examples has no scores."""
    asked: dict[tuple[int, int], Question] = {}
    for a, b in by_pair:
        if len(asked) == MOST_PAIRS:
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
    phi = rows.clf.shap_values(take_rows(rows.X, at), rows.clf.classes_[numbers])  # (rows, p, classes)
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
