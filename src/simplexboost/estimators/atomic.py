"""Threads that share an estimator: a fit changes it in one step, and a prediction looks at it in one moment.

So whoever predicts while another thread fits the same estimator gets the answer of the model before or after that fit,
never of a mixture; and if several threads fit it, the result is that of the last fit that ended.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# The public methods that read fitted attributes, which must all come from the same fit.
ASKING = (
    *("predict", "predict_proba", "predict_log_proba", "predict_random", "decision_function", "class_scores"),
    *("predict_level", "predict_proba_level"),
    *("margins", "top_k", "staged_predict", "staged_predict_proba", "staged_decision_function"),
    *("column_scores", "code_report", "save", "report", "apply", "trees_to_frame", "tree_text", "importances"),
    *("shap_values", "shap_interaction_values", "explain_pair", "shap_explanation", "to_shap"),
    *("partial_dependence", "nearest_examples", "predict_set", "predict_or_abstain", "expected_costs"),
    "estimate_prior",
)
MARK = "_is_copy"  # the attribute that tells a copy from the estimator


def copied(estimator: Any) -> Any:
    """An estimator with the same attributes; the constructor, which a subclass may have changed, is not called."""
    copy = object.__new__(type(estimator))
    copy.__dict__.update(vars(estimator))
    return copy


# ---- fits -----------------------------------------------------------------------------------------------------------


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[Any]:
    """A draft of the estimator, which is to be fitted in its place; at the end the estimator becomes like the draft.

    It does so in one step, which an exception or an interrupt comes before or after.
    """
    before = dict(vars(estimator))
    draft = copied(estimator)
    yield draft
    estimator.__dict__ = merged(dict(vars(estimator)), before, vars(draft))


def merged(now: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an estimator that become those ``after`` a fit.

    Fitted attributes (``name_``) are those of the fit. Of all others the fit may have changed some that were there
    ``before``; somebody else, in another thread or in a callback, may have changed some that are there ``now``.

    Examples
    --------
    >>> merged({"n_jobs": 2, "old_": 1}, {"n_jobs": 1, "old_": 1}, {"n_jobs": 1, "model_": 3})
    {'n_jobs': 2, 'model_': 3}
    """
    others = {name: value for name, value in now.items() if not name.endswith("_")}
    changed = {n: value for n, value in after.items() if n.endswith("_") or n not in before or before[n] is not value}
    removed = before.keys() - after.keys()
    return {name: value for name, value in (others | changed).items() if name not in removed}


# ---- predictions ----------------------------------------------------------------------------------------------------


def at_once(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, called on a copy of the estimator (which takes a microsecond), unless that is a copy already."""
    if hasattr(method, MARK):
        return method

    @functools.wraps(method)
    def asked(self: Any, *args: Any, **keywords: Any) -> Any:
        if MARK in self.__dict__:
            return method(self, *args, **keywords)
        copy = copied(self)
        copy.__dict__[MARK] = True
        return method(copy, *args, **keywords)

    setattr(asked, MARK, True)
    return asked
