"""Lets functions of this package accept pipelines and Dask classifiers, and checks the classifiers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.pipeline import Pipeline

from .._util.docstrings import described
from ..classifiers.prediction import check_booster

Function = TypeVar("Function", bound=Callable[..., Any])


def accept_pipelines(function: Function) -> Function:
    """Decorate a function of a fitted booster and rows, so that it accepts pipelines and Dask classifiers too.

    The earlier steps of a pipeline transform the rows. A Dask classifier handles Dask collections itself, without
    computing them. The decorator also completes the function's docstring with shared descriptions of parameters.
    """

    @wraps(function)
    def answer(clf: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(clf, Pipeline):
            clf, X = clf[-1], clf[:-1].transform(X)
        check_booster(clf)
        lazily = getattr(clf, "_answer_lazily", None)
        found = NotImplemented if lazily is None else lazily(function, X, arguments, keywords)
        return function(clf, X, *arguments, **keywords) if found is NotImplemented else found

    return described(answer)  # type: ignore[return-value]


def check_one_class(clf: Any, what: str) -> None:
    """Raise if a booster was fitted to several labels or class targets per row; the message begins with ``what``."""
    clf._problem.check_one_class(f"{what}; this model was fitted to several {{several}} per row.")
