"""Checks the classifiers that the functions of this folder take, and completes the docstrings of these functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._util.docstrings import SHARED, described
from ..classifiers.prediction import AdditiveClassifier

Function = TypeVar("Function", bound=Callable[..., Any])


# The entries that docstrings of this folder share, beside those of the whole package.
DECISIONS = """\
costs : array of shape (K, A), of shape (n, K, A), data frame or Hierarchy
    The cost of every decision (column) when a class (row) is true, in the order of the classes. Costs of single rows
    have a matrix each. The index of a data frame names the classes, its columns name the decisions, which may be others
    than the classes. A tree of classes gives their distances in it.
classes : array of shape (K,)
    The labels of the classes.
prior : array of shape (K,), dict or Series of shares by label, or None, default=None
    The shares of the classes among the rows to come; None takes those of training.
level : int
    From 1, right below the root, to ``hierarchy_.n_levels``, the classes themselves.
coverage : float, default=0.9
    The fraction of the sets that hold the true class, between 0 and 1.
per_class : bool, default=False
    Whether this fraction is reached for the rows of every class, and not only for all rows together. A class with fewer
    than coverage / (1 − coverage) known rows (9 for a coverage of 0.9) is then in every set.
"""


def complete_docstring(function: Function) -> Function:
    """Add the entries of shared parameters to the docstring of a public function of this folder."""
    return described(function, SHARED + DECISIONS)


def accept_pipelines(function: Function) -> Function:
    """Let a function of a fitted booster and rows take pipelines that end in one, and Dask classifiers with their rows.

    A pipeline transforms the rows before. A Dask classifier answers Dask collections itself, without computing them.
    The docstring is completed, too.
    """

    @wraps(function)
    def answer(clf: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(clf, Pipeline):
            clf, X = clf[-1], clf[:-1].transform(X)
        check_booster(clf)
        lazily = getattr(clf, "_answer_lazily", None)
        found = NotImplemented if lazily is None else lazily(function, X, arguments, keywords)
        return function(clf, X, *arguments, **keywords) if found is NotImplemented else found

    return complete_docstring(answer)  # type: ignore[return-value]


def check_booster(clf: Any) -> None:
    """Raise unless a classifier is a fitted booster."""
    if not isinstance(clf, AdditiveClassifier):
        raise TypeError(f"clf is a {type(clf).__name__}; pass a fitted booster, such as a SimplexBoostClassifier.")
    check_is_fitted(clf)


def check_one_class(clf: Any, what: str) -> None:
    """Raise if a booster was fitted to several labels or targets per row; ``what`` begins the message."""
    clf._problem.check_one_class(f"{what}; this model was fitted to several {{several}} per row.")
