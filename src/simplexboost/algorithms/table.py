"""All named boosters in one table; rows are made from the parts of the boosters, only MartiBoost's is hand-written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._parts import Part
from ..codewords import CODEWORDS
from ..learners import LEARNERS, Learner
from ..losses import LOSSES
from ..optimizers import OPTIMIZERS
from ..steps import STEPS

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
    >>> from simplexboost.algorithms import TABLE
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
