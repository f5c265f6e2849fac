"""Reads and writes the parts of a model file, for tests that change them."""

from pathlib import Path
from typing import Any

from simplexboost.persist.archive import open_model_file, read_archive, write_file

__all__ = ["read_zip", "write_file"]


def read_zip(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file."""
    with open_model_file(path) as stream:
        return read_archive(stream, str(path))
