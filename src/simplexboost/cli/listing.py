"""The table of all classifiers; it needs none of the libraries of the extra ``cli``."""

from __future__ import annotations

from ..algorithms import TABLE, table_text
from .algorithms import SPECIAL, short_name


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
            table_text(TABLE),
            "",
            "* the default of a parameter; parts without a star are fixed",
        ]
    )
