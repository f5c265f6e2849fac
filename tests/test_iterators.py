"""No exhausted iterator leaves the package: StopIteration would end a caller's `map` or loop without a word."""

import ast
from pathlib import Path

import pytest

import simplexboost

FILES = sorted(Path(simplexboost.__file__).parent.rglob("*.py"))


def bare_calls(tree):
    """The lines of calls `next(iterator)` without a default, but for those in a `try` that expects StopIteration."""
    expected = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any("StopIteration" in ast.unparse(h.type or h) for h in node.handlers):
            expected |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        is_next = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next"
        if is_next and len(node.args) == 1 and id(node) not in expected:
            yield node.lineno


def test_iterators_have_a_next_value_or_a_default():
    found = [
        f"{path.name}:{line}" for path in FILES for line in bare_calls(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "n_found"),
    [
        ("next(i for i in x)", 1),
        ("next((i for i in x), None)", 0),
        ("try:\n    next(x)\nexcept (OSError, StopIteration):\n    pass", 0),
        ("try:\n    pass\nexcept StopIteration:\n    next(x)", 1),
    ],
)
def test_bare_calls_are_found(source, n_found):
    assert len(list(bare_calls(ast.parse(source)))) == n_found
