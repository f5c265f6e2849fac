"""Classifiers by name, the table of the boosters and their parts, and parameters from ``--set name=value``.

``python -m simplexboost list`` prints the table. This module needs none of the libraries of the extra ``cli``.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

import simplexboost

from .._util.params import Part
from ..classifiers import (
    AdaBoostECCClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
    LogitBoostClassifier,
    OneVsAllBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
)
from ..parts.codewords import CODEWORDS
from ..parts.learners import LEARNERS, Learner
from ..parts.losses import LOSSES
from ..parts.optimizers import OPTIMIZERS
from ..parts.steps import STEPS
from ..theory import MartiBoostClassifier, OSBoostClassifier
from .errors import ArgumentError, did_you_mean

__all__ = ["BOOSTERS", "table_text"]

COLUMNS = ("optimizer", "codewords", "learners", "loss", "step", "paper")
NAMES: dict[str, Mapping[str, type[Part]]] = {
    "optimizer": OPTIMIZERS,
    "codewords": CODEWORDS,
    "learner": LEARNERS,
    "loss": LOSSES,
    "step": STEPS,
}


def row(estimator: Any) -> dict[str, str]:
    """The parts of a booster in words, with a star for a part that is a parameter; `table_row` if it has no parts."""
    if hasattr(estimator, "table_row"):
        return {**estimator.table_row, "paper": estimator.paper}
    parts, free = estimator.parts(), estimator.get_params(deep=False)
    words = {name: describe(getattr(parts, name), NAMES[name]) + "*" * (name in free) for name in NAMES}
    words["codewords"] = getattr(parts.optimizer, "code", words["codewords"])  # an optimizer may make its own code
    words |= {"learners": words.pop("learner"), "paper": estimator.paper}
    return {name: words[name] for name in COLUMNS}


def describe(part: Part, names: Mapping[str, type[Part]]) -> str:
    """A part by its name in the package, with the parameters that differ from their defaults."""
    name = next((name for name, kind in names.items() if kind is type(part)), type(part).__name__)
    default, mine = type(part)().get_params(deep=False), part.get_params(deep=False)
    changed = [f"{key}={value!r}" for key, value in mine.items() if value is not None and value != default[key]]
    words = f"{name}({', '.join(changed)})" if changed else name
    return f"{part.kind}: {words}" if isinstance(part, Learner) else words


def table_text(table: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the boosters as aligned text.

    Parameters
    ----------
    table : mapping of mappings
        A row for every booster, by name: `TABLE`, or some rows of it.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from simplexboost.cli.algorithms import TABLE
    >>> print(table_text({"SAMMEClassifier": TABLE["SAMMEClassifier"]}).splitlines()[0].split()[0])
    algorithm
    """
    lines = [
        ("algorithm", *COLUMNS),
        *((name.removesuffix("Classifier"), *(r[c] for c in COLUMNS)) for name, r in table.items()),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


# In the order of the table: by age, related ones together.
BOOSTERS = (
    OneVsAllBoostClassifier,
    AdaBoostM1Classifier,
    SAMMEClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostMMClassifier,
    OSBoostClassifier,
    AdaBoostECCClassifier,
    LogitBoostClassifier,
    MartiBoostClassifier,
    SoftmaxBoostClassifier,
    CDMCBoostClassifier,
    GDMCBoostClassifier,
)


def __getattr__(name: str) -> Any:
    """`TABLE` is made on first use: it imports `simplexboost.theory`, which would be a third of the start-up time."""
    if name != "TABLE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return booster_table()


def booster_table() -> dict[str, dict[str, str]]:
    """A row for every named booster."""
    return {booster.__name__: row(booster()) for booster in BOOSTERS}


DEFAULT = "SimplexBoost"
SHORT = {"MulticlassSVC": "SVM", "OutputCodeClassifier": "OutputCode"}
SPECIAL = {
    "SimplexBoostClassifier": "one vector tree per round for all classes; the default, chooses its rounds itself",
    "BoostingClassifier": "any loss, codewords, learner, optimizer and step: --set loss=…, --set learner=…",
    "MulticlassSVC": "the multiclass support vector machine, linear or with kernels; numbers only",
    "OutputCodeClassifier": "many classes by binary classifiers: one-vs-all, all pairs, error-correcting codes",
}


def class_names() -> list[str]:
    """The class names of all public classifiers, the default first."""
    names = [name for name in simplexboost.__all__ if name.endswith(("Classifier", "SVC"))]
    return [*SPECIAL, *(name for name in names if name not in SPECIAL)]


def short_name(name: str) -> str:
    """What a classifier is called on the command line."""
    return SHORT.get(name, name.removesuffix("Classifier"))


def algorithm_names() -> dict[str, str]:
    """Short names → class names."""
    return {short_name(name): name for name in class_names()}


def classifier_class(name: str) -> type[Any]:
    """A classifier by its class name or its short name, in capitals or not."""
    known = algorithm_names()
    by_lower = {word.lower(): known[short] for short in known for word in (short, known[short])}
    found = by_lower.get(name.lower().replace("-", "").replace("_", "").replace(".", ""))
    if found is None:
        hint = did_you_mean(name, known) or f"; choose one of {', '.join(known)}."
        raise ArgumentError(f"--algorithm {name!r} is unknown{hint}")
    return getattr(simplexboost, found)


def make_classifier(name: str, settings: tuple[str, ...], seed: int | None, jobs: int | None) -> Any:
    """A classifier with its parameters, which are looked at as far as that is possible without data."""
    classifier = classifier_class(name)()
    for key, value in (("random_state", seed), ("n_jobs", jobs)):
        if value is not None:
            set_parameter(classifier, key, value)
    for setting in settings:  # after the general options, whose defaults they must win over
        key, value = parse_setting(setting)
        set_parameter(classifier, key, value)
    if settings:
        check_parameters(classifier)
    return classifier


def check_parameters(classifier: Any) -> None:
    """Raise, before a table is read, for what a fit would refuse whatever the table is."""
    try:
        classifier._check_parameters()
        if hasattr(classifier, "parts") and not classifier._may_be_auto:  # else some parts depend on the table
            classifier.parts().check()
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"--set: {' '.join(str(error).split())}") from error


def parse_setting(setting: str) -> tuple[str, Any]:
    """``name=value`` → the name and the value: JSON or a Python literal where it is one, else text.

    Examples
    --------
    >>> parse_setting("n_estimators=50"), parse_setting("loss=savage"), parse_setting("learner.max_depth=null")
    (('n_estimators', 50), ('loss', 'savage'), ('learner__max_depth', None))
    """
    key, sign, text = setting.partition("=")
    if not sign or not key.strip():
        raise ArgumentError(f"--set {setting!r} must be name=value.")
    return key.strip().replace(".", "__"), parse_value(text.strip())


def parse_value(text: str) -> Any:
    """A value from its text."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return {"True": True, "False": False, "None": None}.get(text.capitalize(), text)


def set_parameter(classifier: Any, key: str, value: Any) -> None:
    """Set a parameter; one of a part as part__name."""
    try:
        classifier.set_params(**{key: value})
    except (ValueError, TypeError, AttributeError) as error:
        raise ArgumentError(f"--set {key.replace('__', '.')}: {' '.join(str(error).split())}") from error


def listing() -> str:
    """All public classifiers, with short names and parts."""
    width = max(len(short_name(name)) for name in SPECIAL)
    wide = max(map(len, SPECIAL))
    lines = [f"{short_name(name):{width}}  {name:{wide}}  {about}" for name, about in SPECIAL.items()]
    return "\n".join(
        [
            *lines,
            "",
            "The boosters of the literature (the class of NAME is NAMEClassifier):",
            "",
            table_text(booster_table()),
            "",
            "* the default of a parameter; parts without a star are fixed",
        ]
    )
