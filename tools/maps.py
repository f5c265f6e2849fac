"""The map of the package's folders in docs/design.md: ``python -m tools.maps`` writes it anew from the first sentences.

A line for every folder, from the lowest layer to the highest, says what it holds and which modules it has.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "simplexboost"
PAGE = ROOT / "docs" / "design.md"
LAYERS = (
    "_util", "engine", "tables", "model", "parts", "boosting", "persist", "classifiers", "explain", "decide",
    "datasets", "reductions", "export", "evaluate", "distributed", "theory", "cli",
)  # fmt: skip
BEGIN, END = "src/simplexboost/\n", "  kernels/ "


def first_sentence(module: Path) -> str:
    """What a module says of itself."""
    text = (ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(text.split()).rstrip(".")


def folder_map() -> str:
    """The lines of the map."""
    out = []
    for layer in LAYERS:
        for init in sorted((SOURCE / layer).rglob("__init__.py"), key=lambda path: path.parent):
            name, depth = init.parent.name, len(init.parent.relative_to(SOURCE).parts)
            modules = ", ".join(sorted(path.stem for path in init.parent.glob("*.py") if path != init))
            words = first_sentence(init) + (f": {modules}" if modules else "")
            head = f"{'  ' * depth}{name}/"
            out += textwrap.wrap(words, 120, initial_indent=f"{head:20} ", subsequent_indent=" " * 21)
    return "".join(f"{line}\n" for line in out)


def page_with_map(text: str) -> str:
    """A page in which the map is as it should be."""
    begin = text.index(BEGIN, text.index("## The files")) + len(BEGIN)
    return text[:begin] + folder_map() + text[text.index(END, begin) :]


if __name__ == "__main__":
    PAGE.write_text(page_with_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
