"""Finished cells that are kept in the repository: a compressed file for every experiment.

A file holds ``{"format": 1, "makers": [...], "cells": [...]}``. A cell has its task, its arguments (the seed is one of
them), its result, the seconds it took on one core, and the number of its maker: the versions that computed it. A cell
that several experiments share lies in the file of the first of them.
"""

from __future__ import annotations

import gzip
import json
import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

FORMAT = 1
FOLDER = Path(__file__).resolve().parent / "cells"
PACKAGES = ("simplexboost", "numpy", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost")

Record = dict[str, Any]  # task, arguments, seconds, maker (its versions), result


@cache
def maker() -> dict[str, str]:
    """Who computes here: the day, the versions of Python and of the packages, the kind of machine."""
    versions = {"day": datetime.now(UTC).date().isoformat(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions | {"machine": f"{platform.system()} {platform.machine()}"}


def key(record: Record) -> str:
    """What makes a cell itself, as `cells.Cell.key` spells it."""
    return json.dumps([record["task"], record["arguments"]], sort_keys=True)


def read(folder: Path) -> dict[str, Record]:
    """All kept cells by key."""
    found: dict[str, Record] = {}
    for path in sorted(folder.glob("*.json.gz")):
        found |= {key(record): record for record in read_file(path)}
    return found


def read_file(path: Path) -> list[Record]:
    """The cells of one file, each with the versions of its maker."""
    content = json.loads(gzip.decompress(path.read_bytes()))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is no file of cells of format {FORMAT}.")
    return [record | {"maker": content["makers"][record["maker"]]} for record in content["cells"]]


def write_file(path: Path, records: Iterable[Record]) -> bool:
    """Write the cells of one file; the same cells give the same bytes. Returns whether the file has changed."""
    ordered = sorted(records, key=key)
    makers = sorted({json.dumps(record["maker"], sort_keys=True) for record in ordered})
    numbers = {text: i for i, text in enumerate(makers)}
    cells = [record | {"maker": numbers[json.dumps(record["maker"], sort_keys=True)]} for record in ordered]
    content = {"format": FORMAT, "makers": [json.loads(text) for text in makers], "cells": cells}
    packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 9, mtime=0)
    if path.exists() and path.read_bytes() == packed:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed)
    return True


def keep(owners: dict[str, list[Any]], record: Callable[[Any], Record | None], folder: Path) -> dict[str, int]:
    """Write the finished cells of every experiment; cells that no experiment wants any more are dropped.

    Parameters
    ----------
    owners : the cells by experiment; of equal ones the first counts
    record : a cell → its record, None where it is not finished
    folder : where the files lie

    Returns
    -------
    The number of cells in every file that has changed.
    """
    seen: set[str] = set()
    changed = {}
    for name, cells in owners.items():
        mine = {cell.key: found for cell in cells if cell.key not in seen and (found := record(cell)) is not None}
        seen |= {cell.key for cell in cells}
        path = folder / f"{name}.json.gz"
        if not mine:
            path.unlink(missing_ok=True)
        elif write_file(path, mine.values()):
            changed[name] = len(mine)
    for path in folder.glob("*.json.gz"):
        if path.name.removesuffix(".json.gz") not in owners:
            path.unlink()
    return changed
