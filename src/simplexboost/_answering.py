"""Answers to keywords that a class or a method does not have: an error that says which one was probably meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator

from ._words import PARAMETERS, Entry, Where, answer


class Answering(BaseEstimator):
    """An estimator that answers a keyword it does not have with the one that was probably meant.

    The check of the constructor is in ``__new__``, which gets the keywords of ``__init__`` before it does: so a
    dataclass keeps the ``__init__`` that is generated for it, whose signature scikit-learn reads.
    """

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        known = keywords_of(cls.__init__) if keywords else None
        for word in keywords:
            if known is not None and word not in known:
                raise TypeError(answer(cls.__name__, "parameter", word, known, PARAMETERS, keywords_of_fit(cls)))
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts by names like ``learner__max_depth``."""
        known = self._get_param_names()
        for word in params:
            if word.partition("__")[0] not in known:
                fit = keywords_of_fit(type(self))
                raise ValueError(answer(type(self).__name__, "parameter", word, known, PARAMETERS, fit))
            owner, nested, name = word.partition("__")
            value = params.get(owner, getattr(self, owner))
            if nested and not hasattr(value, "set_params"):
                raise ValueError(f"{word} cannot be set: {owner}={value!r} has no parameter {name!r}.")
        return super().set_params(**params)


def answering(method: Callable[..., Any], table: Iterable[Entry]) -> Callable[..., Any]:
    """The method, with its signature; a keyword that it does not have is answered from the table."""
    known = keywords_of(method) if inspect.isfunction(method) else None
    if known is None:
        return method

    @functools.wraps(method)
    def answered(self: Any, *args: Any, **keywords: Any) -> Any:
        for word in keywords:
            if word not in known:
                constructor = Where("a parameter of the constructor", self._get_param_names())
                who = f"{type(self).__name__}.{method.__name__}"
                raise TypeError(answer(who, "argument", word, known, table, constructor))
        return method(self, *args, **keywords)

    return answered


@functools.lru_cache(maxsize=256)  # asked in every round, by parts that are made anew
def keywords_of(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The keywords that a function takes, without ``self``; None if it takes any."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return tuple(p.name for p in parameters)


def keywords_of_fit(cls: type) -> Where:
    """What `fit` takes beside X and y."""
    fit = getattr(cls, "fit", None)
    return Where("an argument of fit", ((fit and keywords_of(fit)) or ())[2:])
