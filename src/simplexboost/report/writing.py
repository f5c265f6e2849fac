"""A classifier and labelled rows → the file."""

from __future__ import annotations

from typing import Any

from ..files.whole import as_path, replaceable, write_bytes
from .contents import Wishes, contents
from .evaluated import evaluate
from .page import render


def write_report(clf: Any, X: Any, y: Any, path: Any, wishes: Wishes, rows: Any = None) -> None:
    """Write the report of a classifier; see `Reports.report`."""
    if not hasattr(path, "write"):
        replaceable(as_path(path))  # raises, before any work begins, if no file can be written there
    write_bytes(path, render(contents(evaluate(clf, X, y, rows), wishes)).encode())
