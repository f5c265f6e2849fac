"""Files that appear complete or not at all, and what may be passed as the place of one."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

Target = Any  # text, a path, or a binary file that is open


class PathError(TypeError):
    """Something that is neither a path nor a binary file."""


def as_path(path: Any, accepted: str = "text, a path or an open binary file") -> Path:
    """A path from what the user passed; ``accepted`` is what the message says is possible."""
    if not isinstance(path, str | os.PathLike):
        raise PathError(f"path={path!r} must be {accepted}.")
    return Path(path)


def write_bytes(path: Target, data: bytes) -> None:
    """Write to a path, where the file appears complete or not at all, or to a binary file that is open."""
    if not hasattr(path, "write"):
        with whole_file(as_path(path)) as stream:
            stream.write(data)
        return
    try:
        path.write(data)
    except TypeError as error:
        raise PathError(
            f"path={path!r} takes text; a model is saved to a binary file, as open(..., 'wb') gives."
        ) from error


def write_files(contents: dict[Path, bytes]) -> None:
    """Write several files that belong together: if one cannot be written, none appears."""
    with ExitStack() as stack:
        for path, data in contents.items():
            stack.enter_context(whole_file(path)).write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream to a temporary file next to the target, which takes its name at the end: readers see no half of it.

    After an error nothing is left. Symbolic links are followed. The permissions of an existing file are kept; a new
    file gets those that ``open`` would give it.
    """
    old = permissions(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    # The file is created with its final permissions, so that others can never read a private model, not even briefly.
    opener = partial(os.open, mode=0o666 if old is None else old)
    stream = open(temporary, "xb", opener=opener)  # noqa: SIM115 (closed below; where it fails there is nothing to undo)
    try:
        with stream:
            yield stream
        if old is not None:
            os.chmod(temporary, old)  # also the bits that the umask has removed
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def permissions(path: Path) -> int | None:
    """The permissions of the existing file, or None if there is none; raise if a new file cannot replace it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(
                f"path={str(path)!r} is in the folder {str(folder)!r}, which does not exist."
            ) from None
        return None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "a pipe, device or socket"
        raise OSError(
            f"path={str(path)!r} is {what}; a model is saved as a regular file, new or in place of an old one."
        )
    return stat.S_IMODE(mode)
