"""Writing what was exported."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any


def write_bytes(path: Any, data: bytes) -> None:
    """Write to a path, where the file appears complete or not at all, or to a binary file that is open."""
    if hasattr(path, "write"):
        path.write(data)
        return
    target = as_path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r} is in the folder {str(target.parent)!r}, which does not exist.")
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def as_path(path: Any) -> Path:
    """A path from what the user passed."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} must be text or a path.")
    return Path(path)
