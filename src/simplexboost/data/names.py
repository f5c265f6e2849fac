"""Names of columns: which are remembered, and whether those of another table are the same."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np

from .._warn import warn_user
from .digests import Digests
from .tables import Table

MOST = 5  # names in a list


def learn_names(estimator: Any, table: Table | Digests | None) -> None:
    """Remember the names of the columns, if all of them are text."""
    vars(estimator).pop("feature_names_in_", None)
    names = None if table is None else text_names(table.names)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_names(estimator: Any, table: Table | Digests | None) -> None:
    """Raise unless a table has the names that are remembered.

    The rules and the first words of the messages are scikit-learn's: only names that are all text count, and a table
    without them may follow one with them, or the reverse, with a warning.
    """
    names = None if table is None else text_names(table.names)
    fitted = getattr(estimator, "feature_names_in_", None)
    who = type(estimator).__name__
    if fitted is None and names is not None:
        warn_user(f"X has feature names, but {who} was fitted without feature names")
    elif fitted is not None and names is None:
        warn_user(f"X does not have valid feature names, but {who} was fitted with feature names")
    elif fitted is not None and table is not None and names is not None and names != list(fitted):
        raise ValueError(what_differs(names, list(fitted), table.by_name))


def check_number(estimator: Any, p: int) -> None:
    """Raise unless the estimator was fitted to p columns."""
    if p != getattr(estimator, "n_features_in_", p):
        raise ValueError(
            f"X has {p} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as "
            "input."
        )


def text_names(names: list[Any] | None) -> list[str] | None:
    """The names, if all of them are text; an error if only some are, as in scikit-learn."""
    types = sorted({type(name).__qualname__ for name in names or ()})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Convert them all to strings, for example by X.columns = "
            "X.columns.astype(str)."
        )
    return list(names) if names and types == ["str"] else None


def what_differs(names: list[str], fitted: list[str], by_name: str) -> str:
    """The message for a table with other columns than those of the fit."""
    missing, unseen = sorted(set(fitted) - set(names)), sorted(set(names) - set(fitted))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
        return message + "".join(
            f"Perhaps {close!r} was {name!r} in fit.\n"
            for name in missing[:MOST]
            for close in close_names(name, unseen)[:1]
        )
    if not unseen:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message + f"Pick the columns of the fit by name, where clf is the classifier: {by_name}"


def listed(names: list[str]) -> str:
    """A line per name, for the first few."""
    return "".join(f"- {name}\n" for name in names[:MOST]) + ("- ...\n" if len(names) > MOST else "")


def close_names(name: str, others: Iterable[str]) -> list[str]:
    """Others that are spelled nearly like a name, whatever their case; the nearest first."""
    by_case = {other.lower(): other for other in others}
    return [by_case[found] for found in get_close_matches(name.lower(), by_case)]


def feature_names(clf: Any) -> list[str]:
    """The names of the columns of a fitted classifier; x0, x1, … if it was fitted without names."""
    given = getattr(clf, "feature_names_in_", None)
    return [f"x{j}" for j in range(clf.n_features_in_)] if given is None else [str(name) for name in given]
