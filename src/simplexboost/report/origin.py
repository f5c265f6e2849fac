"""Were the rows of the report those of the fit? Then all its numbers are too good, and the page says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses.links import log_softmax
from .evaluated import Evaluated

CLOSE = 1e-3  # relative difference of two risks that are taken for the same


def rows_of_fit(clf: Any) -> int | None:
    """The number of rows in the root of the largest tree; None if the model has no trees that know it."""
    trees = getattr(getattr(clf, "model_", None), "trees", None)
    counts = [getattr(tree, "count", None) for tree in trees or []]
    return max((int(count[0]) for count in counts if count is not None and len(count)), default=None)


def seem_fitted(rows: Evaluated) -> bool:
    """Whether the model was fitted to these rows: there are as many, and their risk is the one of the last round.

    Only the logistic loss without weights is recognised.
    """
    clf = rows.clf
    risks = np.asarray(getattr(clf, "history_", {}).get("risk", ()))
    if rows_of_fit(clf) != rows.n or not len(risks) or not np.isfinite(risks[-1]):
        return False
    if not getattr(getattr(clf, "loss_", None), "likelihood", False):
        return False
    if getattr(clf, "merged_", None) is not None:
        return False
    U = rows.U[:, clf.present_] / clf.model_.temperature  # (n, present classes): the scores that boosting has seen
    own = (np.cumsum(clf.present_) - 1)[rows.c]
    risk = -log_softmax(U, 2.0)[np.arange(rows.n), own].mean()
    return bool(abs(risk - risks[-1]) <= CLOSE * max(risk, risks[-1]))
