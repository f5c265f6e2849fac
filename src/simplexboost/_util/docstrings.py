"""Completes docstrings: copies the descriptions of inherited parameters and attributes from the base classes.

``help(SAMMEClassifier)`` then explains every parameter, also those that all boosters share, although each is described
only once in the source.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

SECTIONS = ("Parameters", "Attributes")
cleaned = cache(inspect.cleandoc)  # base classes are asked again and again; a class takes 0.4 ms, without the cache 0.6
HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)

# Methods of boosters that only other methods call: they have no parameters to describe, and no place in the reference.
INNER = {
    "calibrates",
    "candidates",
    "choose",
    "chooses",
    "chosen",
    "more_callbacks",
    "resolved",
    "settle",
    "shrinkage",
    "with_params",
}


def described(cls: T) -> T:
    """Add to the docstring of a class, and to those of its methods, what its base classes say of parameters.

    Parameters
    ----------
    cls : type
        A dataclass. Its ``Parameters`` section gets every parameter that it does not describe itself, in the order of
        the signature; its ``Attributes`` section gets the attributes that the base classes describe; and its methods
        get the parameters of the methods that they replace.

    Returns
    -------
    type
        The same class.

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
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    bases = [cleaned(base.__doc__ or "") for base in cls.__mro__[1:]]
    cls.__doc__ = completed(cleaned(cls.__doc__), bases, list(inspect.signature(cls).parameters))
    for name, member in vars(cls).items():
        if inspect.isfunction(member) and member.__doc__ and not name.startswith("_"):
            replaced = [vars(base)[name].__doc__ or "" for base in cls.__mro__[1:] if has_method(base, name)]
            names = list(inspect.signature(member).parameters)
            doc = cleaned(member.__doc__)
            member.__doc__ = completed(doc, map(cleaned, replaced), names, ordered=True)
    return cls


def has_method(cls: type, name: str) -> bool:
    """Whether the class itself, not a base of it, has this method."""
    return inspect.isfunction(vars(cls).get(name))


def completed(doc: str, bases: Iterable[str], names: list[str], ordered: bool = False) -> str:
    """A docstring with what it lacks of others: their paragraphs on the given parameters, and on any attribute.

    If ``ordered``, all parameters are in the order of the names; otherwise its own come first, in the order they have.
    """
    others = [dict(split(base)) for base in bases]
    sections = dict(split(doc))
    for section in SECTIONS:
        wanted = names if section == "Parameters" else None
        sections[section] = with_items(sections.get(section, ""), [other.get(section, "") for other in others], wanted)
    if ordered:
        sections["Parameters"] = in_order(sections["Parameters"], names)
    first = ["", *SECTIONS]
    order = first + [title for title in sections if title not in first]
    return "\n\n".join(
        (f"{title}\n{'-' * len(title)}\n" if title else "") + sections[title].strip("\n")
        for title in order
        if sections.get(title, "").strip()
    )


def split(doc: str) -> list[tuple[str, str]]:
    """The sections of a docstring by their titles; the text before the first one has the title ""."""
    pieces = HEADING.split(doc)
    return [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


def with_items(section: str, others: list[str], names: list[str] | None) -> str:
    """A section with the items of other sections that it lacks: those of the names, or all that there are."""
    known: dict[str, Any] = {name: None for item in items(section) for name in names_of(item)}
    found: dict[str, str] = {}
    for other in others:
        for item in items(other):
            for name in names_of(item):
                if name not in known:
                    found.setdefault(name, item)
    wanted = found if names is None else [name for name in names if name in found]
    lacking = dict.fromkeys(found[name] for name in wanted)  # an item of two names comes once
    return "\n".join([section.strip("\n"), *lacking]).strip("\n")


def in_order(section: str, names: list[str]) -> str:
    """A section with its items in the order of a signature; an item of a name that is not in it comes last."""
    places = {name: place for place, name in enumerate(names)}
    return "\n".join(sorted(items(section), key=lambda item: places.get(names_of(item)[0], len(places))))


def items(section: str) -> list[str]:
    """The items of a section: a line that is not indented, and the indented ones after it."""
    return [item.rstrip() for item in re.split(r"^(?=\S)", section, flags=re.MULTILINE) if item.strip()]


def names_of(item: str) -> list[str]:
    """The names that an item describes: those before its colon."""
    return [name.strip() for name in item.partition("\n")[0].partition(" :")[0].split(",")]
