"""Defines the base class of losses, learners and other parts, checks parameters, and suggests names for unknown ones.

A part (a loss, a set of codewords, a learner, …) is a class with annotated parameters. scikit-learn's ``BaseEstimator``
provides cloning, printing, pickling and ``GridSearchCV({"learner__max_depth": [2, 4]})``. A string in place of a part
is a key of the table of its base class (``LOSSES``, ``CODEWORDS``, …).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .docstrings import described


def check_keywords(cls: Any, keywords: Mapping[str, Any]) -> None:
    """Raise TypeError, with a suggested name, if the constructor of a class does not take one of the keywords."""
    known = keywords_of(cls.__init__) if keywords else None
    for word in keywords:
        if known is not None and word not in known:
            raise TypeError(unknown_parameter(cls, word, known))


def check_parameters(estimator: Any, params: Mapping[str, Any]) -> None:
    """Raise ValueError, with a suggested name, if ``set_params`` gets a parameter that the estimator does not have."""
    known = estimator._get_param_names()
    for word in params:
        owner, nested, name = word.partition("__")
        if owner not in known:
            raise ValueError(unknown_parameter(type(estimator), word, known))
        value = params.get(owner, getattr(estimator, owner))
        if nested and not hasattr(value, "set_params"):
            raise ValueError(f"{word} cannot be set: {owner}={value!r} has no parameter {name!r}.")


def suggest_keywords(method: Callable[..., Any], table: str) -> Callable[..., Any]:
    """Wrap a method, so that an unknown keyword raises TypeError with a suggestion from a table of `list_aliases`."""
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
    """Return the names of the keywords that a function takes, without ``self``; None if it takes any keyword."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters) else tuple(p.name for p in parameters)


def unknown_parameter(cls: type, word: str, known: Sequence[str]) -> str:
    """Return the error message for an unknown constructor parameter, which may be an argument of ``fit`` instead."""
    fit = getattr(cls, "fit", None)
    of_fit = ((fit and keywords_of(fit)) or ())[2:]
    return unknown_keyword(cls.__name__, "parameter", word, known, "parameters", "an argument of fit", of_fit)


PARTS: dict[str, type[Any]] = {}  # the package's own parts by name, for model files


@dataclass_transform(eq_default=False)
class Part(BaseEstimator):
    """A component of a booster (loss, codewords, weak learner, optimizer or step): parameters only, no fitted state.

    A subclass becomes a dataclass without a decorator; its fields are its parameters. Its docstring is completed with
    the parameters that base classes describe. A subclass with a ``name``, as in ``class Mine(Loss, name="mine")``,
    enters the table of its base class, and users may pass this name in place of the part.
    """

    table: ClassVar[dict[str, Any]]

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        check_keywords(cls, keywords)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a name like ``learner__max_depth`` sets a parameter of a nested part. Return the part."""
        check_parameters(self, params)
        return super().set_params(**params)

    def __init_subclass__(cls, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        described(dataclass(eq=False, repr=False)(cls))
        if name is not None:
            cls.table[name] = cls
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            PARTS[cls.__name__] = cls


def resolve(value: Any, table: Mapping[str, type[Any]], base: Any, parameter: str) -> Any:
    """Return a part (loss, learner, …): ``value`` itself, or a new part if ``value`` is a key of ``table``."""
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
    open_high: bool = False,
) -> None:
    """Raise unless ``value`` is a number of the type ``kind`` in [low, high], or None or "auto" where allowed.

    ``open_low`` and ``open_high`` exclude the bounds. Infinity and NaN are always refused: predictions would be NaN.
    """
    if (value is None and none) or (auto and is_auto(value)):
        return
    allowed = Integral if kind is int else Real
    span = f"{'(' if open_low else '['}{'-inf' if low is None else low}, "
    span += "inf)" if high is None else f"{high}{')' if open_high else ']'}"
    accepted = f"{'an integer' if kind is int else 'a number'} in {span}{' or None' if none else ''}"
    accepted += " or 'auto'" if auto else ""
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise TypeError(f"{name}={value!r} must be {accepted}.")
    # Not float(value), which fails for very large integers. NumPy would turn a limit into the type of its number, which
    # may be too narrow for it.
    number: Any = value.item() if isinstance(value, np.generic) else value
    too_low = low is not None and (number <= low if open_low else number < low)
    too_high = high is not None and (number >= high if open_high else number > high)
    try:
        finite = kind is int or math.isfinite(number)
    except OverflowError:  # an integer that is too large for a float
        finite = False
    if too_low or too_high or not finite:
        raise ValueError(f"{name}={value!r} is out of range; it must be {accepted}.")


def is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ValueError, with a suggested value, unless ``value`` is one of the strings ``choices``."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(unknown_value(name, value, choices))


def check_flag(name: str, value: Any) -> None:
    """Raise TypeError unless ``value`` is True or False, since a string such as "no" would otherwise count as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} must be True or False.")


def check_verbose(value: Any) -> None:
    """Raise unless ``verbose`` is a bool or an integer of at least 0; a string such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        check_number("verbose", value, int, 0)


def random_generator(random_state: Any) -> np.random.RandomState:
    """Return a NumPy RandomState for a seed or a RandomState; None stands for NumPy's global generator."""
    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be an integer in [0, {2**32 - 1}], a numpy.random.RandomState or None."
        ) from None


# ---- suggestions ----------------------------------------------------------------------------------------------------

# The table of ``aliases.toml`` for each method; constructors have the table "parameters".
METHODS = {"fit": "fit", "predict": "predict", "predict_proba": "predict", "decision_function": "predict"}

# Parameters of tree learners: a booster that is made of parts has them as ``learner__max_depth``.
OF_LEARNERS = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "growth", "gain_noise", "l2_regularization")


@dataclass(frozen=True)
class Alias:
    """The names that other libraries use for a parameter or value of this library."""

    ours: str  # our name for it; empty if it is not one parameter of ours
    advice: str  # a sentence that follows the suggestion, or takes its place if there is no name of ours
    words: dict[str, list[str]]  # the names by library

    def owners(self, word: str) -> str:
        """Return which libraries use a word, as text such as "LightGBM's and XGBoost's word"; "" if none does."""
        found = [f"{library}'s" for library, words in self.words.items() if word in words]
        return f"{', '.join(found[:-1])}{' and ' * (len(found) > 1)}{found[-1]} word" if found else ""


@functools.cache
def read_words() -> dict[str, Any]:
    """Return the content of ``aliases.toml``: for names of this library, the names that other libraries use."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("aliases.toml").read_text(encoding="utf-8"))


@functools.cache
def list_aliases(table: str) -> list[Alias]:
    """Return the aliases in a table of ``aliases.toml``: "parameters", "fit", "predict" or "values.<parameter>"."""
    name, _, parameter = table.partition(".")
    entries = read_words()[name].get(parameter, []) if parameter else read_words()[name]
    libraries = [{key: words for key, words in entry.items() if key not in ("ours", "advice")} for entry in entries]
    return [
        Alias(entry.get("ours", ""), entry.get("advice", ""), {key: words.split() for key, words in named.items()})
        for entry, named in zip(entries, libraries, strict=True)
    ]


def unknown_keyword(
    who: str, what: str, word: str, known: Sequence[str], table: str, called: str, others: Sequence[str]
) -> str:
    """Return the error message for a keyword ``word`` that a class or method ``who`` does not take.

    ``known`` are the keywords that it takes, ``table`` is a table of `list_aliases`. If the word is one of ``others``,
    the message says what the word is, by the text ``called``, such as "an argument of fit".
    """
    from difflib import get_close_matches

    begin = f"{who} has no {what} {word!r}"
    if word in others:
        return f"{begin}; it is {called}."
    alias = next((alias for alias in list_aliases(table) if alias.owners(word)), None)
    if alias is not None:
        return f"{begin} ({alias.owners(word)}); {suggest_name(alias, known)}"
    if word in OF_LEARNERS and "learner" in known:
        return f"{begin}; {suggest_name(Alias(word, '', {}), known)}"
    for parameter, advice in read_words()["places"].items():
        if parameter in known and word in advice:
            return f"{begin}; {advice[word]}"
    close = get_close_matches(word, known, n=1)
    return f"{begin}; did you mean {close[0]}?" if close else f"{begin}; it has {', '.join(known)}."


def suggest_name(alias: Alias, known: Sequence[str]) -> str:
    """Return the end of an error message: what to write in place of a name that another library uses."""
    if not alias.ours:
        return alias.advice
    if alias.ours in known:
        return f"did you mean {alias.ours}? {alias.advice}".rstrip()
    if alias.ours in OF_LEARNERS and "learner" in known:
        return f"did you mean {alias.ours} of the learner? set_params(learner__{alias.ours}=...) sets it."
    return f"it would be {alias.ours}, which this class does not have."


def unknown_value(parameter: str, value: Any, choices: Iterable[str], rest: str = "") -> str:
    """Return the error message for a value that a parameter does not take; it lists ``choices``, and then ``rest``."""
    choices = list(choices)
    begin, listed = f"{parameter}={value!r} is unknown", f"{', '.join(map(repr, choices))}{rest}."
    if isinstance(value, str):
        for alias in list_aliases(f"values.{parameter}"):
            if alias.ours in choices and alias.owners(value):
                return f"{begin} ({alias.owners(value)}); did you mean {alias.ours!r}? Choose one of {listed}"
        for choice in choices:
            if choice.lower() == value.lower():
                return f"{begin}; did you mean {choice!r}? Choose one of {listed}"
    return f"{begin}; choose one of {listed}"
