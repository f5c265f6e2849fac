"""Defines the base class of all parts, and checks parameters and unknown keywords.

A part (a loss, a set of codewords, a learner, …) is a class with annotated parameters that derives from
``BaseEstimator``, from which it has cloning, printing, pickling and ``GridSearchCV({"learner__max_depth": [2, 4]})``. A
string in place of a part is looked up in the table of its base class (``LOSSES``, ``CODEWORDS``, ...).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .aliases import unknown_keyword, unknown_value
from .docstrings import described


class SuggestingEstimator(BaseEstimator):
    """An estimator that suggests the right keyword where it is given one that it does not have.

    The constructor's keywords are checked in ``__new__``, which gets them before ``__init__`` does: so a dataclass
    keeps the ``__init__`` that is generated for it, whose signature scikit-learn reads.
    """

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        known = keywords_of(cls.__init__) if keywords else None
        for word in keywords:
            if known is not None and word not in known:
                raise TypeError(unknown_parameter(cls, word, known))
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts by names like ``learner__max_depth``."""
        known = self._get_param_names()
        for word in params:
            owner, nested, name = word.partition("__")
            if owner not in known:
                raise ValueError(unknown_parameter(type(self), word, known))
            value = params.get(owner, getattr(self, owner))
            if nested and not hasattr(value, "set_params"):
                raise ValueError(f"{word} cannot be set: {owner}={value!r} has no parameter {name!r}.")
        return super().set_params(**params)


def suggest_keywords(method: Callable[..., Any], table: str) -> Callable[..., Any]:
    """Wrap a method, so that a keyword that it does not have is answered from a table of `aliases`."""
    known = keywords_of(method) if inspect.isfunction(method) else None
    if known is None:
        return method

    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **keywords: Any) -> Any:
        for word in keywords:
            if word not in known:
                who = f"{type(self).__name__}.{method.__name__}"
                constructor = ("a parameter of the constructor", self._get_param_names())
                raise TypeError(unknown_keyword(who, "argument", word, known, table, *constructor))
        return method(self, *args, **keywords)

    return wrapper


@functools.lru_cache(maxsize=256)  # parts are made anew for every fit
def keywords_of(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the keywords that a function takes, without ``self``; None if it takes any."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters) else tuple(p.name for p in parameters)


def unknown_parameter(cls: type, word: str, known: Sequence[str]) -> str:
    """Return the message for an unknown parameter of a class, which may be an argument of `fit`."""
    fit = getattr(cls, "fit", None)
    of_fit = ((fit and keywords_of(fit)) or ())[2:]
    return unknown_keyword(cls.__name__, "parameter", word, known, "parameters", "an argument of fit", of_fit)


PARTS: dict[str, type[Any]] = {}  # the package's own parts by name, for model files


@dataclass_transform(eq_default=False)
class Part(SuggestingEstimator):
    """A loss, a codeword set, a weak learner, an optimizer or a step: parameters only, no fitted state.

    Subclasses become dataclasses, whose fields are their parameters: they need no decorator. Their docstrings are
    completed with the parameters that base classes describe. With ``name``, as in ``class Mine(Loss, name="mine")``,
    they enter the table of their base class, and users may pass the name in place of the part.
    """

    table: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        described(dataclass(eq=False, repr=False)(cls))
        if name is not None:
            cls.table[name] = cls
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            PARTS[cls.__name__] = cls


def resolve(value: Any, table: Mapping[str, type[Any]], base: Any, parameter: str) -> Any:
    """Return the part that ``value`` stands for: a key of ``table``, or an instance of ``base`` itself."""
    if isinstance(value, base):
        return value
    choices = ", ".join(repr(name) for name in table)
    if isinstance(value, str):
        if value in table:
            return table[value]()
        raise ValueError(unknown_value(parameter, value, table, f", or pass a {base.__name__}"))
    if isinstance(value, type) and issubclass(value, base):
        raise TypeError(f"{parameter}={value.__name__} is a class; pass an instance, {value.__name__}().")
    raise TypeError(f"{parameter}={value!r} must be one of {choices}, or a {base.__name__} instance.")


def check_number(
    name: str,
    value: Any,
    kind: type,
    low: float | None = None,
    high: float | None = None,
    *,
    none: bool = False,
    auto: bool = False,
    open_low: bool = False,
) -> None:
    """Raise unless ``value`` is a number of the kind (int or float) in [low, high], or None or "auto" where allowed.

    Infinity and NaN are refused even if there is no upper limit, because all predictions would then be NaN.
    """
    if (value is None and none) or (auto and is_auto(value)):
        return
    allowed = Integral if kind is int else Real
    start = "(" if open_low else "["
    span = f"{start}{'-inf' if low is None else low}, {'inf)' if high is None else f'{high}]'}"
    accepted = f"{'an integer' if kind is int else 'a number'} in {span}{' or None' if none else ''}"
    accepted += " or 'auto'" if auto else ""
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise TypeError(f"{name}={value!r} must be {accepted}.")
    # Not float(value), which fails for very large integers. NumPy would turn a limit into the type of its number, which
    # may be too narrow for it.
    number: Any = value.item() if isinstance(value, np.generic) else value
    too_low = low is not None and (number <= low if open_low else number < low)
    try:
        finite = kind is int or math.isfinite(number)
    except OverflowError:  # an integer that is too large for a float
        finite = False
    if too_low or (high is not None and number > high) or not finite:
        raise ValueError(f"{name}={value!r} is out of range; it must be {accepted}.")


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless ``value`` is one of the strings."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(unknown_value(name, value, choices))


def check_flag(name: str, value: Any) -> None:
    """Raise unless ``value`` is True or False; other values are refused, because "no" would otherwise mean True."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} must be True or False.")


def check_verbose(value: Any) -> None:
    """Raise unless ``verbose`` is a bool or a number from 0 on; because "no" would otherwise count as true."""
    if not isinstance(value, bool | np.bool_):
        check_number("verbose", value, int, 0)


def random_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator of random numbers for a seed or a RandomState; None stands for NumPy's global one."""
    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be an integer in [0, {2**32 - 1}], a numpy.random.RandomState or None."
        ) from None
