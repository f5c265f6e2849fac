"""Classifiers by name, and their parameters from ``--set name=value``."""

from __future__ import annotations

import ast
import json
from typing import Any

import simplexboost

from .errors import ArgumentError, did_you_mean

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
        if hasattr(classifier, "parts") and not classifier.may_be_auto:  # else some parts depend on the table
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
