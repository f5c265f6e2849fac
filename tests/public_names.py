"""Writes down the public face of the package, so that a change of it is seen in review.

``tests/golden/public_names.txt`` has a section for every public module, and what it offers: constants,
functions with their parameters, classes with their bases, parameters, methods and attributes. What every classifier
offers, and what every booster offers, is listed once. A class lists what it does not take over from a public class of
the package. Classifiers are also fitted, to list the attributes that a fit leaves.

``python tests/public_names.py --renew`` writes the file; without ``--renew`` it prints what differs.
``tests/test_public_names.py`` compares.
"""

from __future__ import annotations

import argparse
import difflib
import enum
import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from test_reference import LISTED, PUBLIC, exported, value_of

import simplexboost

KEPT = Path(__file__).parent / "golden" / "public_names.txt"
ROOT = simplexboost.__name__
HEADING = f"# The public face of {ROOT}, written by python tests/public_names.py --renew"


# ---- what is public -------------------------------------------------------------------------------------------------


def offered() -> dict[str, dict[str, Any]]:
    """The public names by their modules: what these say they offer, and what else the reference has pages for."""
    public = [ROOT, *(f"{ROOT}.{name}" for name in PUBLIC)]
    found: dict[str, dict[str, Any]] = {}
    while public:
        module = import_module(public.pop())
        found[module.__name__] = {name: getattr(module, name) for name in exported(module)}
        inner = [value.__name__ for value in found[module.__name__].values() if inspect.ismodule(value)]
        public += [name for name in inner if name not in found]
    for name in LISTED:
        module, _, last = name.rpartition(".")
        found.setdefault(module, {})[last] = value_of(name)
    return dict(sorted(found.items()))


def is_ours(value: Any) -> bool:
    """Whether a class or function is one of the package."""
    return str(getattr(value, "__module__", "")).split(".")[0] == ROOT


# ---- lines ----------------------------------------------------------------------------------------------------------


def signature(value: Any) -> str:
    """The parameters with their defaults, without annotations."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return "(" + ", ".join(map(shown, separated(plain))) + ")"


def separated(parameters: list[inspect.Parameter]) -> list[inspect.Parameter | str]:
    """The parameters, with a star before the first one that can only be named, and without ``self``."""
    out: list[inspect.Parameter | str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in out and not any(str(p)[:1] == "*" for p in out):
            out.append("*")
        if parameter.name not in ("self", "cls"):
            out.append(parameter)
    return out


def shown(parameter: inspect.Parameter | str) -> str:
    """A parameter; a default that would show an address or depend on a version is three dots."""
    if isinstance(parameter, str) or parameter.default is parameter.empty:
        return str(parameter)
    return f"{parameter.name}={plain(parameter.default)}"


def plain(value: Any) -> str:
    """A value as text, if that is the same everywhere."""
    if isinstance(value, enum.Enum | type) or inspect.isfunction(value):
        return getattr(value, "__name__", str(value))
    text = repr(value)
    return "..." if " at 0x" in text or len(text) > 60 else text


def members(cls: type) -> dict[str, str]:
    """The public methods and attributes of a class that come from the package, as lines by name."""
    lines = {}
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not is_ours(owner) or name in parameters_of(cls):
            continue
        if name.startswith("set_") and name.endswith("_request"):  # scikit-learn makes them from the signatures
            continue
        member = vars(owner)[name]
        if isinstance(member, classmethod | staticmethod):
            lines[name] = f"{name}{signature(member.__func__)}  [{type(member).__name__}]"
        elif inspect.isfunction(member):
            lines[name] = f"{name}{signature(member)}"
        else:  # a property, a cached one, a constant
            lines[name] = f"{name}  [{'attribute' if not hasattr(member, '__get__') else 'property'}]"
    return lines


def parameters_of(cls: type) -> dict[str, str]:
    """The parameters of the constructor as text by name; those that need no name have their places before them."""
    try:
        found = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return {}
    places = {
        parameter.name: f"{i}: " for i, parameter in enumerate(found, 1) if parameter.kind != parameter.KEYWORD_ONLY
    }
    plain = [parameter.replace(annotation=parameter.empty) for parameter in found]
    return {parameter.name: places.get(parameter.name, "") + shown(parameter) for parameter in plain}


def class_lines(cls: type, known: set[str], listed: set[type]) -> list[str]:
    """The lines of a class, without those that are known; what it has from a listed public class is left to that."""
    parents = [base for base in cls.__mro__[1:] if base in listed]
    theirs = {line for parent in parents for line in (*members(parent).values(), *parameter_lines(parent))}
    lines = [*parameter_lines(cls), *members(cls).values()]
    return [line for line in lines if line not in known and line not in theirs]


def parameter_lines(cls: type) -> list[str]:
    """The parameters of a class, a line for each."""
    return [f"parameter {line}" for line in parameters_of(cls).values()]


# ---- fits -----------------------------------------------------------------------------------------------------------


def fitted_names(cls: type) -> set[str]:
    """The attributes without underscore before, and with one behind, that small fits leave in an instance."""
    X = np.arange(60.0).reshape(20, 3) % 7
    fits: list[dict[str, Any]] = [{}, {"n_estimators": "auto"}] if cls is simplexboost.SimplexBoostClassifier else [{}]
    names: set[str] = set()
    for more in fits:
        given = {"n_estimators": 2, "n_layers": 2, "learning_rate": 1.0, "random_state": 0} | more
        clf = cls(**{name: value for name, value in given.items() if name in parameters_of(cls)})
        clf.fit(X, (X[:, 0] > 3).astype(int))
        names |= {name for name in vars(clf) if name.endswith("_") and not name.startswith("_")}
    return names


# ---- the text -------------------------------------------------------------------------------------------------------


def snapshot() -> str:
    """The whole text."""
    found = offered()
    homes = {id(value): module for module, values in reversed(found.items()) for value in values.values()}
    classes = {value for values in found.values() for value in values.values() if inspect.isclass(value)}
    classifiers = sorted((c for c in classes if issubclass(c, ClassifierMixin)), key=lambda c: c.__name__)
    lines = {cls: {*parameter_lines(cls), *members(cls).values()} for cls in classifiers}
    for cls in classifiers:
        local = getattr(cls, "local_class", cls)  # the fit of Dask's needs a cluster
        lines[cls] |= {f"{name}  [fitted]" for name in fitted_names(local)}
    boosters = [cls for cls in classifiers if "n_estimators" in parameters_of(cls)]
    of_all = set.intersection(*lines.values())
    of_boosters = set.intersection(*(lines[cls] for cls in boosters)) - of_all
    out = [HEADING, "", "every classifier", *indented(of_all), "", "every booster", *indented(of_boosters)]
    for module, values in found.items():
        out += ["", module]
        for name, value in sorted(values.items()):
            if inspect.ismodule(value):
                out.append(f"  module {name}")
            elif homes.get(id(value), module) != module:
                out.append(f"  {name}  from {homes[id(value)]}")
            elif inspect.isclass(value):
                bases = ", ".join(base.__name__ for base in value.__bases__)
                known = (of_all | of_boosters) if value in boosters else of_all if value in classifiers else set()
                own = lines[value] - known if value in lines else class_lines(value, known, classes - {value})
                out += [f"  class {name}({bases})", *indented(own, 4)]
            elif callable(value):
                out.append(f"  {name}{signature(value)}")
            else:
                out.append(f"  {name}  [{type(value).__name__}]")
    return "\n".join(out) + "\n"


def indented(lines: Any, depth: int = 2) -> list[str]:
    """Lines in order, parameters first."""
    return [" " * depth + line for line in sorted(lines, key=lambda line: (not line.startswith("parameter "), line))]


def difference() -> str:
    """What differs between the file and the package, empty if nothing does."""
    before = KEPT.read_text().splitlines() if KEPT.exists() else []
    return "\n".join(difflib.unified_diff(before, snapshot().splitlines(), "the file", "the package", lineterm="", n=2))


def main() -> int:
    """Write the file, or print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--renew", action="store_true", help="write the file")
    found = difference()
    print(found or "nothing differs")
    if parser.parse_args().renew:
        KEPT.write_text(snapshot())
        return 0
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
