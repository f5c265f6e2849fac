"""`tools.house` counts what it says; the numbers themselves are for readers."""

import ast
import re

import pytest

from tools import house


def test_the_table_is_complete():
    rows = house.as_markdown(house.table(repeats=1)).splitlines()
    assert rows[0] == "| measure | now | goal |"
    assert all(re.fullmatch(r"\| [^|]+ \| [^|]+ \| [^|]+ \|", row) for row in rows)
    assert len(rows) > 20


def test_docstrings_are_drawn_by_the_seed():
    first = house.drawn(1)
    assert first == house.drawn(1) != house.drawn(2)
    assert len(re.findall(r"^## \d+\. ", first, re.MULTILINE)) == 40


def test_all_modules_are_found():
    found = house.modules()
    assert () in found and ("engine", "cpu") in found and ("boosting", "loop") in found
    assert "Cycles" not in house.code_of(found[()])


def module(text, place="a/b"):
    """A module that is not there."""
    made = house.Module(house.SOURCE / f"{place}.py")
    made.__dict__["text"] = text
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from ..tables import order", [(("tables", "order"), "import")]),
        ("from .. import tables", [(("tables",), "import")]),
        ("from ..tables import TrainingSet", [(("tables",), "import")]),
        ("import simplexboost", [((), "import")]),
        ("from simplexboost.engine import cpu", [(("engine", "cpu"), "import")]),
        ("def f():\n    from ..tables import order", [(("tables", "order"), "function")]),
        ("if TYPE_CHECKING:\n    from ..tables import order", [(("tables", "order"), "types")]),
        ("class A:\n    from ..tables import order", [(("tables", "order"), "import")]),
        ("from .. import _kernels\nimport numpy", []),
    ],
)
def test_imports(text, expected):
    assert list(house.imports(module(text))) == expected


def test_cycles():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"f"}, "f": {"e"}}
    assert house.cycles(graph) == [["a", "b", "c"], ["e", "f"]]


def test_lengths_are_those_of_bodies():
    text = 'def f(\n    a,\n):\n    """Doc.\n\n    More.\n    """\n    b = a\n\n    return b\n'
    assert house.length(ast.parse(text).body[0]) == 3


def test_only_compiled_kernels_are_imported_from_the_package_itself():
    """The import contract cannot see them, and lets pass every import of the package; so this looks at each."""
    folders = {path.name for path in house.SOURCE.iterdir() if path.is_dir()}
    found = []
    for module in house.modules().values():
        depth = len(module.path.relative_to(house.SOURCE).parts)
        for node in ast.walk(ast.parse(module.text)):
            if isinstance(node, ast.ImportFrom) and node.module is None and node.level == depth > 1:
                found += [(module.path.stem, name.name) for name in node.names if name.name not in folders]

    assert {name for _, name in found} == {"_kernels"}, found
