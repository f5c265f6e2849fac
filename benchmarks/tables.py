"""Markdown tables that also read as text."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it also reads as text; all columns but the first to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "| " + " | ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:])]) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def number(value: float | None, digits: int) -> str:
    """A number, or a dash."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def best_in_bold(values: Sequence[float | None], digits: int, *, higher_is_better: bool) -> list[str]:
    """Numbers, the best of them as they are printed in bold; a dash where there is none."""
    shown = [number(value, digits) for value in values]
    there = [value for value in values if value is not None and not math.isnan(value)]
    if not there:
        return shown
    best = number(max(there) if higher_is_better else min(there), digits)
    return [f"**{text}**" if text == best else text for text in shown]
