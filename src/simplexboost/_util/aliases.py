"""Suggests the right name for a keyword or value that a class or a method does not have.

The names that LightGBM, XGBoost, CatBoost and scikit-learn have for the same things are in ``aliases.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# The table of each method; constructors have the table "parameters".
METHODS = {"fit": "fit", "predict": "predict", "predict_proba": "predict", "decision_function": "predict"}

# Parameters of tree learners: a booster that is made of parts has them as ``learner__max_depth``.
OF_LEARNERS = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "growth", "gain_noise", "l2_regularization")


@dataclass(frozen=True)
class Alias:
    """The names that other libraries have for one thing.

    Attributes
    ----------
    ours : our name for it; empty if it is not one parameter of ours
    advice : a sentence that follows the suggestion, or takes its place if there is no name of ours
    words : the names by library
    """

    ours: str
    advice: str
    words: dict[str, list[str]]

    def owners(self, word: str) -> str:
        """Return the libraries that use a word, such as "LightGBM's and XGBoost's word"; no text if there are none."""
        found = [f"{library}'s" for library, words in self.words.items() if word in words]
        return f"{', '.join(found[:-1])}{' and ' * (len(found) > 1)}{found[-1]} word" if found else ""


@cache
def data() -> dict[str, Any]:
    """Read ``aliases.toml``."""
    import tomllib

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def aliases(table: str) -> list[Alias]:
    """Return the aliases of a table: "parameters", "fit", "predict" or "values.", followed by a parameter."""
    name, _, parameter = table.partition(".")
    entries = data()[name].get(parameter, []) if parameter else data()[name]
    libraries = [{key: words for key, words in entry.items() if key not in ("ours", "advice")} for entry in entries]
    return [
        Alias(entry.get("ours", ""), entry.get("advice", ""), {key: words.split() for key, words in named.items()})
        for entry, named in zip(entries, libraries, strict=True)
    ]


def unknown_keyword(
    who: str, what: str, word: str, known: Sequence[str], table: str, called: str, others: Sequence[str]
) -> str:
    """Return the message for a keyword that is unknown.

    Parameters
    ----------
    who : the class or method that was called
    what : "parameter" or "argument"
    word : the unknown keyword
    known : the keywords that there are
    table : the table of `aliases` to look in
    called, others : keywords of another place, such as "an argument of fit", for which the word may be meant
    """
    from difflib import get_close_matches

    begin = f"{who} has no {what} {word!r}"
    if word in others:
        return f"{begin}; it is {called}."
    alias = next((alias for alias in aliases(table) if alias.owners(word)), None)
    if alias is not None:
        return f"{begin} ({alias.owners(word)}); {suggestion(alias, known)}"
    if word in OF_LEARNERS and "learner" in known:
        return f"{begin}; {suggestion(Alias(word, '', {}), known)}"
    for parameter, advice in data()["places"].items():
        if parameter in known and word in advice:
            return f"{begin}; {advice[word]}"
    close = get_close_matches(word, known, n=1)
    return f"{begin}; did you mean {close[0]}?" if close else f"{begin}; it has {', '.join(known)}."


def suggestion(alias: Alias, known: Sequence[str]) -> str:
    """Return what to write in place of another library's word."""
    if not alias.ours:
        return alias.advice
    if alias.ours in known:
        return f"did you mean {alias.ours}? {alias.advice}".rstrip()
    if alias.ours in OF_LEARNERS and "learner" in known:
        return f"did you mean {alias.ours} of the learner? set_params(learner__{alias.ours}=...) sets it."
    return f"it would be {alias.ours}, which this class does not have."


def unknown_value(parameter: str, value: Any, choices: Iterable[str], rest: str = "") -> str:
    """Return the message for a value that a parameter does not take; it takes ``choices`` and the ``rest``, in words.

    Examples
    --------
    >>> unknown_value("growth", "lossguide", ["level", "best"])
    "growth='lossguide' is unknown (XGBoost's word); did you mean 'best'? Choose one of 'level', 'best'."
    >>> unknown_value("growth", "Best", ["level", "best"])
    "growth='Best' is unknown; did you mean 'best'? Choose one of 'level', 'best'."
    >>> unknown_value("loss", "hinge", ["logistic"], ", or pass a Loss")
    "loss='hinge' is unknown; choose one of 'logistic', or pass a Loss."
    """
    choices = list(choices)
    begin, listed = f"{parameter}={value!r} is unknown", f"{', '.join(map(repr, choices))}{rest}."
    if isinstance(value, str):
        for alias in aliases(f"values.{parameter}"):
            if alias.ours in choices and alias.owners(value):
                return f"{begin} ({alias.owners(value)}); did you mean {alias.ours!r}? Choose one of {listed}"
        for choice in choices:
            if choice.lower() == value.lower():
                return f"{begin}; did you mean {choice!r}? Choose one of {listed}"
    return f"{begin}; choose one of {listed}"
