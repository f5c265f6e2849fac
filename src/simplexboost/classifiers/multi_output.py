"""Checks of `SimplexBoostClassifier` for a matrix y, and the probabilities above which labels are predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import Array
from .._util.params import check_number
from ..parts.codewords import Auto, Canonical, Ordinal
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked
from .plan import Parts, Plan
from .search import EVEN
from .structured import tree_of


def is_f1(thresholds: Any) -> bool:
    """Return whether thresholds are to be chosen for the largest F1."""
    return isinstance(thresholds, str) and thresholds == "f1"


def chooses_thresholds(thresholds: Any, data: TrainingSet) -> bool:
    """Return whether the thresholds of labels are chosen on held-out rows."""
    return data.problem.yes_or_no and is_f1(thresholds)


def check_thresholds(thresholds: Any) -> None:
    """Raise unless thresholds are "f1", a number between 0 and 1 or several of them."""
    if is_f1(thresholds):
        return
    if isinstance(thresholds, str):
        raise ValueError(f"thresholds={thresholds!r} is unknown; choose 'f1', a number or a number for each label.")
    for value in thresholds if np.ndim(thresholds) == 1 else [thresholds]:
        check_number("thresholds", value, float, 0.0, 1.0, open_low=True)
        if value == 1:
            raise ValueError(f"thresholds={thresholds!r} is out of range; a threshold must be less than 1.")


def thresholds_of(thresholds: Any, plan: Plan, checked: Checked) -> Array:
    """Return the threshold of each label, (K,): as chosen, or as the user gives it."""
    K = checked.data.K
    if is_f1(thresholds):
        found = None if plan.choice is None else plan.choice.thresholds
        return np.full(K, EVEN) if found is None else found
    given = np.asarray(thresholds, dtype=np.float64)
    if given.ndim == 1 and len(given) != K:
        raise ValueError(f"thresholds has {len(given)} numbers; y has {K} labels.")
    return np.full(K, given)


def refused(estimator: Any, parts: Parts, what: str) -> str | None:
    """Return why the parameters do not go with a matrix y of ``what``, such as "several labels"; None if they do."""
    if isinstance(estimator.classes, Ordinal) or tree_of(estimator.classes) is not None:
        return f"an order or a tree of classes goes with one class per row, not with {what}."
    if parts.optimizer.n_candidates is not None:
        return f"candidates={parts.optimizer.n_candidates!r} goes with one class per row; {what} keep all scores."
    if parts.loss.cost_matrix is not None:
        return f"cost_matrix goes with one class per row, not with {what}."
    if not parts.loss.likelihood:
        return f"loss={estimator.loss!r} goes with one class per row; {what} take loss='logistic'."
    if getattr(parts.codewords, "code_dim", None) is not None:
        return f"code_dim={parts.codewords.code_dim!r} goes with one class per row; {what} take canonical codewords."
    if not isinstance(parts.codewords, Auto | Canonical):
        return f"codewords={estimator.codewords!r} go with one class per row; {what} take 'canonical'."
    if estimator.monotonic_cst is not None:
        return f"monotonic_cst goes with one class per row, not with {what}."
    if estimator.device != "cpu":
        return f"device={estimator.device!r} fits one class per row; {what} take device='cpu'."
    return None


def takes_matrices(estimator: Any) -> bool:
    """Return whether the parameters are valid and go with a matrix y."""
    try:
        return refused(estimator, estimator.parts(), "") is None
    except (TypeError, ValueError):
        return False


def check_several(estimator: Any, parts: Parts, checked: Checked) -> None:
    """Raise if y is a matrix and a parameter does not go with that."""
    if not checked.problem.is_matrix:
        return
    if chooses_thresholds(estimator.thresholds, checked.data) and estimator.early_stopping:
        raise ValueError(
            "thresholds='f1' chooses the thresholds of a number of rounds, which early_stopping=True leaves open; take "
            "one of them, or give thresholds."
        )
    reason = refused(estimator, parts, "several labels" if checked.problem.yes_or_no else "several class targets")
    if reason is not None:
        raise ValueError(reason)
