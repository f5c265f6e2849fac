"""A table of the size and the shape of the package, beside the goals: ``python -m tools.house`` prints it as Markdown.

The source is read with `ast`, so that little depends on how it is formatted. ``--docstrings SEED`` draws forty
docstrings instead, for a reader who did not write them.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "simplexboost"
PACKAGE = SOURCE.name
# What takes a fitted classifier; nothing below may import it.
LEAVES = {"explain", "decide", "evaluate", "export", "distributed", "reductions", "theory"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


# ---- modules --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    path: Path

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its syntax."""
        return list(ast.walk(self.tree))

    @property
    def place(self) -> tuple[str, ...]:
        """Its place below the package: () is the package itself, ("engine", "cpu") a package in a package."""
        parts = self.path.relative_to(SOURCE).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def n_lines(self) -> int:
        """Its lines."""
        return len(self.text.splitlines())

    def is_in(self, *prefixes: str) -> bool:
        """Whether its place, written with slashes, begins with one of these."""
        return "/".join(self.place).startswith(prefixes)


@cache
def modules() -> dict[tuple[str, ...], Module]:
    """All modules by their places."""
    found = [Module(path) for path in sorted(SOURCE.rglob("*.py"))]
    return {module.place: module for module in found}


def total(some: Iterable[Module]) -> str:
    """Modules and their lines."""
    some = list(some)
    return f"{len(some)} / {sum(module.n_lines for module in some):,}"


def functions(module: Module) -> Iterator[Function]:
    """All functions and methods, also those in functions."""
    return (node for node in module.nodes if isinstance(node, Function))


def length(function: Function) -> int:
    """The lines of the body of a function, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def repeated_names() -> str:
    """How many names of modules, and of packages within folders, occur in several places."""
    counts = Counter(place[-1] for place in modules() if len(place) > 1)
    again = {name for name, n in counts.items() if n > 1}
    return f"{len(again)}" + (" (`base` among them)" if "base" in again else "")


def loose() -> int:
    """Modules at the top that are in no folder, without ``__init__`` and ``__main__``."""
    return sum(module.path.parent == SOURCE and module.path.stem[:2] != "__" for module in modules().values())


# ---- imports --------------------------------------------------------------------------------------------------------


def imports(module: Module) -> Iterator[tuple[tuple[str, ...], str]]:
    """The modules of the package that a module imports, and when: at import, in a function, or for type checkers."""
    yield from imported(module, module.tree.body, "import")


def imported(module: Module, body: Iterable[ast.AST], when: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """What statements import, and when."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield tuple(alias.name.split(".")[1:]), when
        elif isinstance(node, ast.ImportFrom):
            yield from ((target, when) for target in targets(module, node))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imported(module, node.body, "types")
            yield from imported(module, node.orelse, when)
        else:
            inner = "function" if isinstance(node, Function | ast.Lambda) else when
            yield from imported(module, ast.iter_child_nodes(node), inner)


def targets(module: Module, node: ast.ImportFrom) -> Iterator[tuple[str, ...]]:
    """The modules that ``from … import …`` names; names that are no modules stand for the module that has them."""
    if node.level:
        package = module.place if module.path.name == "__init__.py" else module.place[:-1]
        base = package[: len(package) - node.level + 1] + tuple((node.module or "").split(".") if node.module else ())
    elif (node.module or "").split(".")[0] == PACKAGE:
        base = tuple((node.module or "").split(".")[1:])
    else:
        return
    for alias in node.names:
        if alias.name.startswith("_kernels"):  # compiled
            continue
        yield (*base, alias.name) if (*base, alias.name) in modules() else base


def folder_graph(*times: str) -> dict[str, set[str]]:
    """Which folder imports which others, at these times; a loose module is a folder of its own, the package is none."""
    graph: dict[str, set[str]] = {place[0]: set() for place in modules() if place}
    for place, module in modules().items():
        for target, when in imports(module):
            if place and target and when in times and target[0] != place[0]:
                graph[place[0]].add(target[0])
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of folders that import each other, directly or by others."""
    reach = {name: reachable(graph, name) for name in graph}
    groups = {tuple(sorted(b for b in reach[a] if a in reach[b])) for a in graph}
    return [list(group) for group in sorted(groups) if len(group) > 1]


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """What a folder imports, directly or by others."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph.get(name, ())
    return found


def shown_cycles(*times: str) -> str:
    """The cycles of folders as text."""
    found = cycles(folder_graph(*times))
    return "; ".join(f"{len(group)} folders: {' '.join(group)}" for group in found) or "none"


def importers_of_leaves() -> str:
    """Folders that import one of those that take a fitted classifier, and are none of them."""
    graph = folder_graph("import", "types", "function")
    found = {name: sorted(graph[name] & LEAVES) for name in sorted(set(graph) - LEAVES - {"cli", "__main__"})}
    return "; ".join(f"{name} → {' '.join(theirs)}" for name, theirs in found.items() if theirs) or "none"


def importers_of_the_root() -> int:
    """Modules in folders that import the package itself, and so all of it, at any time."""
    return sum(len(place) > 0 and any(not target for target, _ in imports(m)) for place, m in modules().items())


def contract() -> str:
    """The layers of the import contract, and the names in them of modules inside folders."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    layers = [layer for one in contracts for layer in one.get("layers", ())]
    inside = [name for layer in layers for name in layer.split(" | ") if "." in name]
    return f"{len(layers)} layers, {len(inside)} modules inside folders"


# ---- the flagship and the engine ------------------------------------------------------------------------------------


def flagship() -> type:
    """The class."""
    import simplexboost

    return simplexboost.SimplexBoostClassifier


def public(value: Any) -> set[str]:
    """The names without underscore that an object offers."""
    return {name for name in dir(value) if not name.startswith("_")}


def fitted() -> Any:
    """A small fit of the flagship that chooses."""
    import numpy as np

    X = np.arange(90.0).reshape(30, 3) % 7
    return flagship()(learning_rate=1.0, random_state=0).fit(X, np.arange(30) % 3)


def internals() -> list[str]:
    """The public names of the flagship's class from the package that no page or example has, as ``.name`` or quoted."""
    docs = ROOT / "docs"
    pages = [*docs.rglob("*.md"), *docs.rglob("*.rst"), *docs.rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages if page.name != "design.md")  # about the code
    said = set(re.findall(r"(?<=\.)\w+\b", text)) | set(re.findall(r"`(\w+)`", text))
    owners = {name: next(base for base in flagship().__mro__ if name in vars(base)) for name in public(flagship())}
    ours = {name for name, owner in owners.items() if owner.__module__.split(".")[0] == PACKAGE}
    parameters = flagship()._get_param_names()  # type: ignore[attr-defined]
    return sorted(name for name in ours - set(parameters) - said if not name.endswith("_request"))


def protocols() -> str:
    """The protocols and abstract classes of the engine that have more than six members, with their numbers."""
    found = {
        cls.name: sum(isinstance(node, Function | ast.AnnAssign) for node in cls.body)
        for module in modules().values()
        if module.is_in("engine")
        for cls in module.nodes
        if isinstance(cls, ast.ClassDef) and {"Protocol", "ABC"} & set(map(ast.unparse, cls.bases))
    }
    return ", ".join(f"{name} {n}" for name, n in found.items() if n > 6)


def uses_of(*names: str) -> str:
    """How often one of these names is used, without imports and definitions."""
    nodes = (node for module in modules().values() for node in module.nodes)
    used = [
        getattr(node, "id", getattr(node, "attr", None)) for node in nodes if isinstance(node, ast.Name | ast.Attribute)
    ]
    return str(sum(name in names for name in used))


def kinds_of_y() -> str:
    """How often code outside of `tables.problem` asks which kind of y it has, in any of the ways that there are."""
    asked = r"\bdata\.sets\b|\.has_labels\b|problem\.several\b|\b_answers\b|isinstance\([\w.]*classes_?, list\)"
    asked += r"|isinstance\([^)]*\b(OneClass|LabelSets|ClassTargets)\b"
    return str(sum(len(re.findall(asked, code_of(module))) for module in modules().values()))


@cache
def code_of(module: Module) -> str:
    """The source without comments and docstrings."""
    tree = ast.parse(module.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def callables_of_learners() -> str:
    """The fields of dataclasses of the learners that are functions, which somebody hands in."""
    fields = [
        node
        for module in modules().values()
        if module.is_in("learners", "parts/learners")
        for cls in module.nodes
        if isinstance(cls, ast.ClassDef)
        for node in cls.body
        if isinstance(node, ast.AnnAssign) and "Callable" in ast.unparse(node.annotation)
    ]
    return str(len(fields))


# ---- the import -----------------------------------------------------------------------------------------------------


def import_seconds(repeats: int) -> str:
    """The median time of the import in fresh processes, and the time that the processor worked for it.

    The first process only writes the byte code, as an installation does.
    """
    clocks = "time.perf_counter(), time.process_time()"
    code = (
        f"import time; start = {clocks}; import {PACKAGE}; end = {clocks}; print(*(b - a for a, b in zip(start, end)))"
    )
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    keywords: dict[str, Any] = {"text": True, "capture_output": True, "check": True, "env": environment}
    runs = [subprocess.run(command, **keywords).stdout.split() for _ in range(repeats + 1)][1:]
    wall, worked = (statistics.median(map(float, times)) for times in zip(*runs, strict=True))
    return f"{wall:.2f} ({worked:.2f} of the processor)"


# ---- the table ------------------------------------------------------------------------------------------------------


def table(repeats: int = 5) -> list[tuple[str, str, str]]:
    """The measures: what it is, how much it is now, and the goal."""
    import simplexboost
    from tools.calls import calls_per_round, loaded_modules, parts_per_fit

    all_modules = modules().values()
    lengths = {f"{m.path.relative_to(SOURCE)}: {f.name}": length(f) for m in all_modules for f in functions(m)}
    longest = max(lengths, key=lambda name: lengths[name])
    long_lines = sum(len(line) > 120 for m in all_modules for line in m.text.splitlines())
    boosters = (simplexboost.SimplexBoostClassifier, simplexboost.AdaBoostMMClassifier)
    calls = [sum(calls_per_round(kind).values()) for kind in boosters]
    parts = [parts_per_fit(kind) for kind in boosters]
    inner, words = internals(), (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split()
    distributed = ("distributed",)
    twin = [m for m in all_modules if re.search(r"reference|sharded|twin", "/".join(m.place))]
    loaded = loaded_modules()
    ours = sum(name.split(".")[0] == PACKAGE for name in loaded)
    return [
        ("modules / lines of Python", total(all_modules), "≤ 200 / ≤ 40,000"),
        ("folders at the top", str(len({p[0] for p in modules() if len(p) > 1})), "fewer"),
        ("contract", contract(), "folders only"),
        ("imports of what takes a fitted classifier", importers_of_leaves(), "none"),
        ("modules that import the package itself", str(importers_of_the_root()), "0"),
        ("folder cycles at import time", shown_cycles("import"), "none"),
        ("folder cycles with `TYPE_CHECKING`", shown_cycles("import", "types"), "none"),
        ("folder cycles with imports in functions", shown_cycles("import", "types", "function"), "none"),
        ("loose modules at the top, beside `__init__` and `__main__`", str(loose()), "0"),
        ("module basenames used more than once", repeated_names(), "0, or `base`"),
        ("MRO of the flagship", str(len(flagship().__mro__)), "≤ 10"),
        (
            "public names of the flagship, class / fitted",
            f"{len(public(flagship()))} / {len(public(fitted()))}",
            "≤ 60 / ≤ 75",
        ),
        ("internals among them, which no page or example has", f"{len(inner)}: {' '.join(inner)}", "0"),
        ("parameters of the flagship", str(len(flagship()._get_param_names())), "≤ 28"),  # type: ignore[attr-defined]
        ("package calls a round, flagship / AdaBoost.MM", " / ".join(f"{n:.0f}" for n in calls), "≤ 50 / ≤ 50"),
        ("calls of `parts` in a fit, flagship / AdaBoost.MM", " / ".join(str(n) for n, _ in parts), "1 / 1"),
        ("parts built in a fit of three rounds", " / ".join(str(n) for _, n in parts), "5 / 5"),
        ("places that derive the kind of y", kinds_of_y(), "one object"),
        ("members of protocols of the engine", protocols(), "three small protocols"),
        ("uses of `engine_of`", uses_of("engine_of", "current_engine"), "0"),
        ("fields of learners that hold functions", callables_of_learners(), "0"),
        (
            "files / lines of the distributed fit",
            total(m for m in all_modules if m.is_in(*distributed)),
            "≤ 2,800 lines",
        ),
        ("twin and shards in the wheel, files / lines", total(twin), "0 / 0"),
        ("`import simplexboost`, seconds", import_seconds(repeats), "≤ 0.9"),
        ("modules that it loads, all / ours", f"{len(loaded)} / {ours}", "fewer"),
        ("words of `docs/design.md`", f"{len(words):,}", "≤ 3,500"),
        ("longest function, lines of its body", f"{lengths[longest]} ({longest})", "≤ 60"),
        ("lines over 120 characters", str(long_lines), "0"),
    ]


def as_markdown(rows: list[tuple[str, str, str]]) -> str:
    """A table."""
    lines = [("measure", "now", "goal"), ("---", "---", "---"), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# ---- docstrings -----------------------------------------------------------------------------------------------------


def docstrings() -> list[tuple[str, str, str]]:
    """Every docstring of the package: where it stands, the first line of what it documents, and the text."""
    found = []
    for module in modules().values():
        where = str(module.path.relative_to(SOURCE))
        for node in module.nodes:
            if not isinstance(node, ast.Module | ast.ClassDef | Function):
                continue
            if text := ast.get_docstring(node):
                line, what = (1, "module") if isinstance(node, ast.Module) else (node.lineno, head(node))
                found.append((f"{where}:{line}", what, text))
    return found


def head(node: ast.AST) -> str:
    """The line that begins a class or a function."""
    return ast.unparse(node).split(":\n", 1)[0].splitlines()[-1].strip()


def drawn(seed: int, n: int = 40) -> str:
    """Docstrings drawn at random, numbered, for a reader."""
    some = random.Random(seed).sample(docstrings(), n)
    return "\n\n".join(f"## {i}. {where}\n{what}\n\n{text}" for i, (where, what, text) in enumerate(some, 1))


def main() -> None:
    """Print the table, or docstrings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docstrings", type=int, metavar="SEED", help="draw forty docstrings instead")
    asked = parser.parse_args()
    print(as_markdown(table()) if asked.docstrings is None else drawn(asked.docstrings))


if __name__ == "__main__":
    main()
