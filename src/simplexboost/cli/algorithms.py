"""Finds classifiers by name, sets parameters (``--set``), and makes a table of the parts of boosters, such as losses.

The command ``simplexboost list`` prints the table. This module needs none of the libraries of the extra ``cli``.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .._util.params import Part
from ..parts.codewords import CODEWORDS
from ..parts.learners import LEARNERS, Learner
from ..parts.losses import LOSSES
from ..parts.optimizers import OPTIMIZERS
from ..parts.steps import STEPS
from ..persist.saving import estimator_class
from .errors import ArgumentError, did_you_mean, one_line

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
    """Return a booster's table row: a dict from column to part name or paper; a star marks parts that can be set."""
    if hasattr(estimator, "table_row"):  # a booster without parts
        return {**estimator.table_row, "paper": estimator.paper}
    parts, free = estimator.parts(), estimator.get_params(deep=False)
    words = {name: describe_part(getattr(parts, name), NAMES[name]) + "*" * (name in free) for name in NAMES}
    words["codewords"] = getattr(parts.optimizer, "code", words["codewords"])  # an optimizer may make its own code
    words |= {"learners": words.pop("learner"), "paper": estimator.paper}
    return {name: words[name] for name in COLUMNS}


def describe_part(part: Part, names: Mapping[str, type[Part]]) -> str:
    """Return the name of a part as text, followed by its parameters that differ from their defaults."""
    name = next((name for name, kind in names.items() if kind is type(part)), type(part).__name__)
    default, mine = type(part)().get_params(deep=False), part.get_params(deep=False)
    changed = [f"{key}={value!r}" for key, value in mine.items() if value is not None and value != default[key]]
    words = f"{name}({', '.join(changed)})" if changed else name
    return f"{part.kind}: {words}" if isinstance(part, Learner) else words


def table_text(table: Mapping[str, Mapping[str, str]]) -> str:
    """Return the table of the boosters, or some rows of it, as aligned text.

    Parameters
    ----------
    table : mapping of mappings
        A row for each booster, by class name, with text for each column: `TABLE`, or some of its rows.

    Examples
    --------
    >>> from simplexboost.cli.algorithms import TABLE
    >>> print(table_text({"SAMMEClassifier": TABLE["SAMMEClassifier"]}).splitlines()[0].split()[0])
    algorithm
    """
    rows = [(name.removesuffix("Classifier"), *(row[column] for column in COLUMNS)) for name, row in table.items()]
    return "\n".join(align_rows([("algorithm", *COLUMNS), *rows]))


def align_rows(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines of text, with aligned columns."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


# The boosters of papers in the order of the table: by age, related ones together.
PAPERS = (
    "OneVsAllBoost AdaBoostM1 SAMME AdaBoostM2 AdaBoostMH AdaBoostMM OSBoost AdaBoostECC LogitBoost MartiBoost "
    "SoftmaxBoost CDMCBoost GDMCBoost"
)
BOOSTERS = tuple(estimator_class(f"{name}Classifier") for name in PAPERS.split())


def __getattr__(name: str) -> Any:
    """Return `TABLE`, a dict from class name to the row of each booster, computed anew on every access."""
    if name != "TABLE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return {booster.__name__: row(booster()) for booster in BOOSTERS}


DEFAULT = "SimplexBoost"
SPECIAL = {  # the other classifiers, by their short names
    "SimplexBoost": (
        "SimplexBoostClassifier",
        "one vector tree per round for all classes; the default, chooses its rounds itself",
    ),
    "Boosting": (
        "BoostingClassifier",
        "any loss, codewords, learner, optimizer and step: --set loss=…, --set learner=…",
    ),
    "SVM": ("MulticlassSVC", "the multiclass support vector machine, linear or with kernels; numbers only"),
    "OutputCode": (
        "OutputCodeClassifier",
        "many classes by binary classifiers: one-vs-all, all pairs, error-correcting codes",
    ),
}
CLASSIFIERS: dict[str, type[Any]] = {
    **{short: estimator_class(name) for short, (name, _) in SPECIAL.items()},
    **{booster.__name__.removesuffix("Classifier"): booster for booster in BOOSTERS},
}


def find_algorithm(name: str) -> str:
    """Return the short name of a classifier, given its short name or its class name in upper or lower case."""
    by_lower = {word.lower(): short for short, kind in CLASSIFIERS.items() for word in (short, kind.__name__)}
    found = by_lower.get(name.lower().replace("-", "").replace("_", "").replace(".", ""))
    if found is None:
        hint = did_you_mean(name, CLASSIFIERS) or f"; choose one of {', '.join(CLASSIFIERS)}."
        raise ArgumentError(f"--algorithm {name!r} is unknown{hint}")
    return found


def make_classifier(name: str, settings: tuple[str, ...], seed: int | None, jobs: int | None) -> Any:
    """Return an unfitted classifier with ``settings`` such as name=value; raise if one is invalid whatever the data."""
    classifier = CLASSIFIERS[find_algorithm(name)]()
    for key, value in (("random_state", seed), ("n_jobs", jobs)):
        if value is not None:
            set_parameter(classifier, key, value)
    for setting in settings:  # after the general options, whose defaults they must win over
        set_parameter(classifier, *parse_setting(setting))
    try:
        if settings:
            classifier._check_parameters()
        if settings and hasattr(classifier, "parts") and not classifier._may_be_auto:  # else parts depend on the table
            parts = classifier.parts()
            parts.codewords.check()
            parts.learner.check()
            parts.step.check(parts.loss)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"--set: {one_line(error)}") from error
    return classifier


def parse_setting(setting: str) -> tuple[str, Any]:
    """Split ``name=value`` into name and value; read the value as JSON, else as a Python literal, else as text."""
    key, sign, text = setting.partition("=")
    if not sign or not key.strip():
        raise ArgumentError(f"--set {setting!r} must be name=value.")
    name, text = key.strip().replace(".", "__"), text.strip()
    for parse in (json.loads, ast.literal_eval):
        try:
            return name, parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return name, {"True": True, "False": False, "None": None}.get(text.capitalize(), text)


def set_parameter(classifier: Any, key: str, value: Any) -> None:
    """Set a parameter of a classifier, or a parameter of one of its parts under the name part__name."""
    try:
        classifier.set_params(**{key: value})
    except (ValueError, TypeError, AttributeError) as error:
        raise ArgumentError(f"--set {key.replace('__', '.')}: {one_line(error)}") from error


def list_classifiers() -> str:
    """Return the output of ``simplexboost list``: all classifiers with their short names and parts."""
    lines = align_rows([(short, *about) for short, about in SPECIAL.items()])
    lines += ["", "The boosters of the literature (the class of NAME is NAMEClassifier):", ""]
    lines += [table_text(__getattr__("TABLE")), "", "* the default of a parameter; parts without a star are fixed"]
    return "\n".join(lines)
