"""Cells, their outcomes, and where these are kept."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

VERSION = 1  # of the format of `File`


class Cell(ABC):
    """A piece of work; a subclass says by its key what it is. It must be possible to pickle it.

    Attributes
    ----------
    cost : how long it takes beside other cells, for the time to go
    """

    cost: float = 1.0

    @property
    @abstractmethod
    def key(self) -> str:
        """What the cell is; cells with the same key are the same cell."""

    @property
    def name(self) -> str:
        """The key in a form that can be printed and name a file, where a slash makes a folder."""
        return self.key


@dataclass(frozen=True)
class Outcome:
    """What came of a cell.

    Attributes
    ----------
    result : what it computed, None where it failed
    seconds : the time on a core that this took
    error, trace : why it failed, in a line and in full
    """

    result: dict[str, Any] | None = None
    seconds: float = 0.0
    error: str = ""
    trace: str = ""


class Store(Protocol):
    """Outcomes on disk."""

    def get(self, cell: Any) -> dict[str, Any] | None:
        """The result of a cell; None where it is not finished or has failed."""
        ...

    def put(self, cell: Any, outcome: Outcome) -> None:
        """Save an outcome."""
        ...


class Folder:
    """A file for every cell: for thousands of cells, and for several runs at a time.

    Parameters
    ----------
    path : the folder
    notes : entries saved beside every result, such as the versions that computed it
    """

    def __init__(self, path: str | Path, notes: dict[str, Any] | None = None) -> None:
        self.folder = Path(path)
        self.notes = notes or {}
        self._read: dict[str, dict[str, Any] | None] = {}

    def path(self, cell: Cell) -> Path:
        """Where the outcome of a cell lies."""
        return self.folder / f"{cell.name}.json"

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a cell; None where it is not finished, has failed, or its file is damaged."""
        if cell.key not in self._read:
            self._read[cell.key] = self._content(cell).get("result")
        return self._read[cell.key]

    def finished(self, cells: Iterable[Cell]) -> list[dict[str, Any]]:
        """The results of those of some cells that are finished, in their order."""
        return [result for cell in cells if (result := self.get(cell)) is not None]

    def seconds(self, cell: Cell) -> float:
        """How many seconds on a core it took, 0 where it is not finished."""
        return float(self._content(cell).get("seconds", 0.0))

    def error(self, cell: Cell) -> str | None:
        """Why it failed when it was last tried; None where it did not."""
        return self._content(cell).get("error")

    def _content(self, cell: Cell) -> dict[str, Any]:
        try:
            content = json.loads(self.path(cell).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) and content.get("key") == cell.key else {}

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Write the file of the cell."""
        failed = {"error": outcome.error, "trace": outcome.trace}
        finished = {"seconds": round(outcome.seconds, 3), "result": outcome.result}
        write_whole(self.path(cell), {"key": cell.key, **self.notes, **(failed if outcome.error else finished)})
        self._read[cell.key] = outcome.result


class File:
    """One file for all cells of a run, under a header that says how they were computed.

    Parameters
    ----------
    path : the file
    header : entries beside the cells; ``header["options"]`` must be those of a file that is resumed
    resume : go on with a file that is there
    """

    def __init__(self, path: Path, header: dict[str, Any], resume: bool = False) -> None:
        self.path = path
        self.content: dict[str, Any] = {"version": VERSION, **header, "cells": {}}
        if not path.exists():
            return
        if not resume:
            raise FileExistsError(f"{path} exists; pass --resume to go on with it, or another name.")
        self.content = read(path)
        if self.content["options"] != header["options"]:
            raise ValueError(f"{path} was made with other options, {self.content['options']}; pass another name.")

    @property
    def cells(self) -> dict[str, Any]:
        """Results by key; ``{"error": …}`` where a cell failed."""
        cells: dict[str, Any] = self.content["cells"]
        return cells

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a cell; None where it is not finished or has failed."""
        result: dict[str, Any] = self.cells.get(cell.key, {"error": "not run"})
        return None if "error" in result else result

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Add the cell and write the file."""
        self.cells[cell.key] = {"error": outcome.error} if outcome.error else outcome.result
        write_whole(self.path, self.content)


def read(path: Path) -> dict[str, Any]:
    """The content of a `File`: its header, and results by key under "cells"."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if content.get("version") != VERSION:
        raise ValueError(f"{path} is no results file of version {VERSION}.")
    return content


def write_whole(path: Path, content: dict[str, Any]) -> None:
    """Write beside and move into place: whoever reads, and whenever we are killed, there is never half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    beside.write_text(json.dumps(content), encoding="utf-8")
    os.replace(beside, path)
