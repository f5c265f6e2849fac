"""The page of `benchmarks.many`, from the cells that were computed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from .many import CANDIDATES, EXACT, PARTS, Cell

TEXT = """# Thousands of classes

`python -m benchmarks.many` computes these tables, which [Thousands of classes](../docs/many-classes.md) explains.
Times of one thread are processor time, so that what else runs on a machine changes them little: by a quarter, as far as
was seen; times of several threads are those of the clock. Memory is the largest resident size of the process until the
end of the fit, the table included. A dash: the fit took more than {limits}, here or with
fewer classes. What is not listed was not computed.
"""

HEADS = {
    "large": """## Rows with candidates beside rows with all scores

Gaussian classes around random centres in 50 dimensions, as many rows of each; 6 rounds. A round is the median over
them. The accuracy after six rounds tells that both learn, and no more.""",
    "beside": """## Beside other libraries

The same on fewer rows; 3 rounds of every library with its defaults, of which a third of the fit is called a round.
After three rounds accuracies say more about learning rates, which are 0.3 for XGBoost and 0.1 for most others, than
about libraries.""",
    "exact": """## Candidates beside exact soft-max

The same kind of table on so few rows that all scores can be kept; 30 rounds. The difference of two accuracies on the
same 5000 test rows has a standard error of half a point.""",
    "real": """## Real sets

60 rounds each. Other libraries on most of these sets, with the time that they need, are in [the race](RESULTS.md).""",
}


def page(results: dict[str, Any]) -> str:
    """The whole page: first what one thread measured, then what more did."""
    cells = {Cell(**json.loads(key)): found for key, found in results.items()}
    lines = [TEXT.format(limits=limits(cells.values()))]
    for threads in sorted({cell.threads for cell in cells}):
        lines += chapter(threads, results)
    return "\n".join(lines)


def limits(found: Iterable[dict[str, Any]]) -> str:
    """The limits of the cells that failed."""
    failed = sorted({(one["limit"], one["memory"]) for one in found if "fit" not in one})
    words = [f"{seconds} s or {memory:g} GB" for seconds, memory in failed]
    return ", or ".join(words) or "it was given"


def chapter(threads: int, results: dict[str, Any]) -> list[str]:
    """All tables of so many threads."""
    lines: list[str] = []
    parts = {name: [replace(cell, threads=threads) for cell in cells] for name, cells in PARTS.items()}
    found = [results[cell.key] for cells in parts.values() for cell in cells if cell.key in results]
    for name, cells in parts.items():
        failed = {cell.line for cell in cells if "fit" not in results.get(cell.key, {"fit": 0})}
        known = [cell for cell in cells if cell.key in results or cell.line in failed]
        if not known:
            continue
        head = HEADS[name] if threads == 1 else f"## {threads} threads: {TITLES[name]}"
        lines += [head, "", *TABLES[name](known, results), *(bar(results, threads) if name == "large" else []), ""]
    machines = sorted({one["machine"] for one in found if "machine" in one})
    return [*lines, *(f"{'One thread' if threads == 1 else f'{threads} threads'}: {words}.\n" for words in machines)]


# ---- tables ---------------------------------------------------------------------------------------------------------


def made_table(cells: Sequence[Cell], results: dict[str, Any]) -> list[str]:
    """Markdown: a line for every number of classes and method."""
    lines = ["| classes | rows | method | seconds a round | memory MB | test accuracy |", "|--:|--:|---|--:|--:|--:|"]
    for cell in cells:
        head = f"| {cell.K:,} | {cell.n:,} |".replace(",", " ") + f" {cell.method} |"
        lines.append(head + figures(results.get(cell.key), ("accuracy",)))
    return lines


def exact_table(cells: Sequence[Cell], results: dict[str, Any]) -> list[str]:
    """Markdown: candidates and all scores side by side, where both were computed."""
    columns = ["classes", "rows", "accuracy, all scores", "candidates", "log-loss, all scores", "candidates"]
    columns += ["seconds a round, all scores", "candidates", "memory MB, all scores", "candidates"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "--:|" * len(columns)]
    for cell in (cell for cell in cells if cell.method == EXACT):
        pair = [results.get(replace(cell, method=method).key, {}) for method in (EXACT, CANDIDATES)]
        values = [number(one, name) for name in ("accuracy", "log-loss", "round", "megabytes") for one in pair]
        lines.append(f"| {cell.K:,} | {cell.n:,} | ".replace(",", " ") + " | ".join(values) + " |")
    return lines


def real_table(cells: Sequence[Cell], results: dict[str, Any]) -> list[str]:
    """Markdown: a line for every data set and method."""
    names = ("accuracy", "log-loss")
    lines = ["| set | method | seconds a round | memory MB | test accuracy | log-loss |", "|---|---|--:|--:|--:|--:|"]
    return lines + [f"| {cell.table} | {cell.method} |" + figures(results.get(cell.key), names) for cell in cells]


def figures(found: dict[str, Any] | None, names: Sequence[str]) -> str:
    """Seconds, memory and more numbers, or dashes."""
    return "".join(f" {number(found or {}, name)} |" for name in ("round", "megabytes", *names))


DIGITS = {"round": 3, "megabytes": 0, "accuracy": 4, "log-loss": 3}


def number(found: dict[str, Any], name: str) -> str:
    """A number of a cell, or a dash."""
    return f"{found[name]:.{DIGITS[name]}f}" if name in found else "–"


def bar(results: dict[str, Any], threads: int) -> list[str]:
    """A sentence: a round of ten thousand classes beside one of a hundred."""
    large = {(cell.K, cell.method): results.get(replace(cell, threads=threads).key, {}) for cell in PARTS["large"]}
    many, few = large[10_000, CANDIDATES], large[100, EXACT]
    if "fit" not in many or "fit" not in few:
        return []
    ratio, size = many["round"] / few["round"], many["megabytes"] / 1000
    words = f"A round of 10 000 classes with candidates takes {ratio:.1f} times one of 100 classes with all scores, "
    return ["", words + f"and {size:.1f} GB."]


TITLES = {"large": "ours", "beside": "beside other libraries", "exact": "beside exact soft-max", "real": "real sets"}
TABLES = {"large": made_table, "beside": made_table, "exact": exact_table, "real": real_table}
