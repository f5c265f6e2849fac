"""Numbers → the page: one file with the style sheet, the scripts, the library that draws charts, and the numbers.

Labels, names and values are text of the user, and may hold anything. They enter the page in two places: the title,
where they are escaped, and the JSON, in which no `<` is left, so that nothing can end the script element early. The
scripts only ever set ``textContent``. A content security policy forbids the page to load or send anything.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

SCRIPTS = (
    *("tools", "tables", "charts"),  # what the sections use
    *("overview", "learning", "classes", "matrix", "pair", "confusion"),
    *("map", "importance", "calibration", "doubts", "card"),
    "page",  # which starts them
)
LIBRARY = "library/echarts.min.js"


def render(contents: dict[str, Any]) -> str:
    """The page of some contents, as text."""
    parts = {
        "title": html.escape(contents["title"]).encode("utf-8", "replace").decode("utf-8"),
        "style": asset("page.css"),
        "theme": asset("scripts/theme.js"),
        "data": as_script(contents),
        "library": asset(LIBRARY),
        "scripts": "\n".join(asset(f"scripts/{name}.js") for name in SCRIPTS),
    }
    before, *rest = asset("page.html").split("{{")
    out = [before]
    for piece in rest:  # one pass: what is put in is not searched for places again
        name, after = piece.split("}}", 1)
        out += [parts[name], after]
    return "".join(out)


def asset(name: str) -> str:
    """A file that comes with the package."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def as_script(contents: dict[str, Any]) -> str:
    """JSON that may stand in a script element: `<` is written as an escape, which JSON allows in strings."""
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair, which no file can hold, becomes "?"
