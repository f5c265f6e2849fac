"""Completes docstrings, so that a parameter which many classes or functions share is described once.

`described` adds to a docstring what it lacks: for a class the parameters and attributes of its base classes, for a
method the parameters of the method that it overrides, and for all of them the entries of `SHARED`. So
``help(SAMMEClassifier)`` explains every parameter.
"""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)

# An entry is used for a parameter of its name that a docstring does not describe itself.
SHARED = """\
clf : fitted booster
    The model.
X : array, data frame or sparse matrix of shape (n, p)
    The rows, with the columns of the fit. NaN and None mean missing.
y : array of shape (n,)
    The labels of the rows.
sample_weight : array of shape (n,) or None, default=None
    The weights of the rows.
y_true : array of shape (n,)
    The true labels.
y_pred : array of shape (n,)
    The predicted labels.
P : array of shape (n, K)
    The probabilities.
K : int
    The number of classes, at least 2.
ax : matplotlib Axes or None, default=None
    Where to draw; None makes a new figure.
init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
    Log-odds that the trees' scores are added to, in the same form as those of the fit.
path : str or Path
    The file to write.
random_state : int, RandomState or None, default=None
    The seed of all random numbers.
"""

# Examples that use one of these names and do not make it begin with the lines of the name.
SETUP = {
    "sb": ">>> import simplexboost as sb\n",
    "X": ">>> from sklearn.datasets import load_iris\n>>> X, y = load_iris(return_X_y=True)\n",
    "clf": ">>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)\n",
}

HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)
clean = cache(inspect.cleandoc)  # base classes are read again and again


def described(thing: T, shared: str = SHARED) -> T:
    """Add the parameters and attributes that a docstring lacks; a decorator of classes and functions.

    Its ``Parameters`` section gets every parameter of the signature that it does not describe itself and that a base
    class or ``shared`` describes. The ``Attributes`` section of a class gets those that its base classes describe, and
    its methods get the parameters of the methods that they override. The ``Examples`` section begins with an import, a
    table or a fit where it needs them: if it uses ``sb``, ``X`` or ``clf`` and does not make it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Tree:
    ...     '''A tree.
    ...
    ...     Parameters
    ...     ----------
    ...     depth : int, default=2
    ...         The largest depth.
    ...     '''
    ...     depth: int = 2
    >>> @described
    ... @dataclass
    ... class Stump(Tree):
    ...     '''One split.'''
    >>> Stump.__doc__.splitlines()[-2:]
    ['depth : int, default=2', '    The largest depth.']
    >>> @described
    ... def count(y):
    ...     '''Count the rows of every class.'''
    >>> count.__doc__.splitlines()[-1]
    '    The labels of the rows.'
    """
    if thing.__doc__ is None:  # python -OO
        return thing
    if not isinstance(thing, type):
        thing.__doc__ = complete_docstring(thing, [], shared)
        return thing
    bases = thing.__mro__[1:]
    thing.__doc__ = complete_docstring(thing, [base.__doc__ for base in bases], shared, own_first=True)
    for name, member in vars(thing).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if inspect.isfunction(function) and function.__doc__ and not name.startswith("_"):
            inherited = [getattr(vars(base).get(name), "__doc__", "") for base in bases]
            function.__doc__ = complete_docstring(function, inherited, shared)
    return thing


def complete_docstring(thing: Any, bases: list[str | None], shared: str, own_first: bool = False) -> str:
    """Return the docstring of a class or function, completed from others.

    The parameters are in the order of the signature; with ``own_first``, those that the docstring itself describes
    come before all others.
    """
    names = list(inspect.signature(thing).parameters)
    found = dict(sections(clean(thing.__doc__)))
    others = [dict(sections(clean(base))) for base in bases if base]
    own, attributes = entries(found.get("Parameters", "")), dict[str, str]()
    known = ChainMap(own, *(entries(other.get("Parameters", "")) for other in others), entries(clean(shared)))
    order = dict.fromkeys([*own, *names] if own_first else [*names, *own])
    for one in [found, *others]:
        for name, entry in entries(one.get("Attributes", "")).items():
            attributes.setdefault(name, entry)
    defaults = {name: parameter.default for name, parameter in inspect.signature(thing).parameters.items()}
    kept = (known[n] if n in own else with_default(known[n], defaults.get(n, ...)) for n in order if n in known)
    found["Parameters"] = "\n".join(dict.fromkeys(kept))
    found["Attributes"] = "\n".join(dict.fromkeys(attributes.values()))  # an entry for two names comes once
    if "Examples" in found:
        found["Examples"] = add_setup(found["Examples"])
    titles = dict.fromkeys(["", "Parameters", "Attributes", *found])
    return "\n\n".join(
        (f"{title}\n{'-' * len(title)}\n" if title else "") + found[title].strip("\n")
        for title in titles
        if found.get(title, "").strip()
    )


def with_default(entry: str, default: Any) -> str:
    """Return the entry of one parameter with another default, if that is a number, a truth value, text or None."""
    if not isinstance(default, int | float | str | None) or "," in entry.partition(" :")[0]:
        return entry
    value = f'"{default}"' if isinstance(default, str) else repr(default)
    return re.sub(r"default=.*", lambda _: f"default={value}", entry, count=1)


def add_setup(examples: str) -> str:
    """Return examples with the lines of `SETUP` that they need, at the beginning."""
    text, prompt, code = examples.partition(">>> ")
    for name, lines in reversed(SETUP.items()):  # those of the later names use the earlier ones
        if re.search(rf"\b{name}\b", code) and not re.search(rf"\b{name}\b[\w, ]* = | as {name}$", code, re.M):
            code = lines.removeprefix(prompt) + prompt + code
    return text + prompt + code


def sections(doc: str) -> list[tuple[str, str]]:
    """Split a docstring into its sections, each with its title; the text before the first one has the title ""."""
    pieces = HEADING.split(doc)
    return [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


@cache
def entries(section: str) -> dict[str, str]:
    """Return the entries of a section by the names that they describe; an entry may describe several."""
    found = {}
    for entry in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        for name in entry.partition("\n")[0].partition(" :")[0].split(","):
            if name.strip():
                found[name.strip()] = entry.rstrip()
    return found
