"""Random fits: a classifier, what it is fitted to, and what a refusal of it has to speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from simplexboost.parts.codewords import Exhaustive

from . import labels, matrices, tables
from .parameters import PARTS, any_kind, classifier, spoil

# What a refusal has to speak of, if that is what is odd about the input.
OF_TABLE = r"\bX\b|[Cc]olumn|feature|array|sample|[Ss]parse|[Cc]omplex data|rows|DataFrame|validation_fraction"
OF_LABELS = r"\by\b|[Ll]abel|class|target|sample|validation_fraction"
OF_WEIGHTS = r"weight|\by\b has examples of one class"
OF_PARTS = "|".join(PARTS) + "|tree|code"
OF_MATRICES = r"several|(labels|targets) take|multi_?label|multi_?output|multioutput"
NOTHING = r"(?!)"  # matches no message: nothing is odd, so nothing may be refused
PICKY = ("MulticlassSVC", "OutputCodeClassifier")  # they do not take every table that the boosters take


@dataclass
class Fit:
    """A classifier and what it is fitted to.

    Attributes
    ----------
    clf, X, y : what they are called everywhere
    more : the other arguments of ``fit``
    words : regular expressions, one of which the message of a refusal must match
    made : who made X and y
    """

    clf: Any
    X: Any = None
    y: Any = None
    more: dict[str, Any] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def __call__(self) -> Any:
        """Fit."""
        return self.clf.fit(self.X, self.y, **self.more)

    @property
    def culprits(self) -> str:
        """What a refusal has to say, as a regular expression."""
        return "|".join(self.words) or NOTHING

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)

    def __str__(self) -> str:
        told = [f"{type(self.clf).__name__}({self.clf.get_params(deep=False)!r:.900})", *self.made]
        for name, value in {"X": self.X, "y": self.y, **self.more}.items():
            told.append(f"{name}: {type(value).__name__} {getattr(value, 'dtype', '')} {value!r:.300}")
        return "\n  ".join(told)


def random_fit(rng: np.random.Generator) -> Fit:
    """A random fit: nothing about it may be odd, or one thing or two."""
    kind = any_kind(rng)
    n, p = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    K = 2 if kind == "MartiBoostClassifier" else min(n, int(rng.integers(2, 5)))
    odd = rng.choice(["table", "labels", "weights", "parameters"], size=int(rng.integers(0, 3)), replace=False)
    case = Fit(classifier(rng, kind))
    if is_exhaustive(case.clf):  # 2 ** (K - 1) columns, where every row may be a class: seconds beyond a dozen rows
        n = min(n, 7)
    case.X = drawn(rng, case, tables, "table" in odd, OF_TABLE, n, p)
    case.y = drawn(rng, case, labels, "labels" in odd, OF_LABELS, n, K)
    if rng.random() < MATRICES.get(kind, 0.0):
        case.y = random_matrix(rng, case, "labels" in odd, n, K)
    if "weights" in odd or rng.random() < 0.3:
        maker = labels.odd_weights if "weights" in odd else labels.good_weights
        case.more["sample_weight"] = maker(rng, n)
        case.words.append(OF_WEIGHTS)
    if "parameters" in odd:
        names = spoil(rng, case.clf, n, p, K)
        case.words += [rf"\b{part}\b" for name in names for part in name.split("__")] + [OF_PARTS]
    if kind in PICKY or any(name in case.clf.get_params(deep=False) for name in PARTS):
        case.words += [OF_TABLE, OF_PARTS]
    if kind == "MartiBoostClassifier":
        case.words.append("Only binary classification")
    if case.clf.random_state is None:  # a case must be the same whenever it is tried
        case.clf.random_state = int(rng.integers(2**31))
    return case


MATRIX_MAKERS = matrices.GOOD | matrices.ODD
MATRICES = {"SimplexBoostClassifier": 0.4, "AdaBoostMHClassifier": 0.3, "AdaBoostM2Classifier": 0.3}  # shares of fits


def random_matrix(rng: np.random.Generator, case: Fit, odd: bool, n: int, K: int) -> Any:
    """A matrix y; parameters that go with one class per row only may be refused with it."""
    case.words.append(OF_MATRICES)
    if odd:
        return drawn(rng, case, matrices, True, OF_LABELS, n, K)
    name = "targets" if case.clf._multitarget and rng.random() < 0.5 else "plain"
    case.made.append(f"matrices.{name}")
    return matrices.GOOD[name](rng, n, K)


def is_exhaustive(clf: Any) -> bool:
    """Whether the codewords are the exhaustive ones."""
    codewords = clf.get_params(deep=False).get("codewords")
    return isinstance(codewords, Exhaustive) or codewords == "exhaustive"


def drawn(rng: np.random.Generator, case: Fit, module: ModuleType, odd: bool, words: str, n: int, m: int) -> Any:
    """Something that one of the makers of a module makes, most often the plain one; the case notes which."""
    makers: Mapping[str, Callable[..., Any]] = module.ODD if odd else module.GOOD
    name = "plain" if not odd and rng.random() < 0.5 else list(makers)[rng.integers(len(makers))]
    case.made.append(f"{module.__name__.rpartition('.')[2]}.{name}")
    if odd:
        case.words.append(words)
    return makers[name](rng, n, m)


def any_table(rng: np.random.Generator) -> Any:
    """Any table, good or odd."""
    makers = {**tables.GOOD, **tables.ODD}
    return makers[list(makers)[rng.integers(len(makers))]](rng, int(rng.integers(1, 9)), int(rng.integers(1, 6)))


def any_labels(rng: np.random.Generator, n: int) -> Any:
    """Any labels of n rows, good or odd."""
    makers = labels.GOOD | labels.ODD | {f"matrix, {name}": maker for name, maker in MATRIX_MAKERS.items()}
    return makers[list(makers)[rng.integers(len(makers))]](rng, n, 3)
