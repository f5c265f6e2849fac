"""Writes files so that they appear complete or not at all.

A file is written in the folder of its target, and gets the target's name only when it is complete and on the disk. On
Linux the file has no name until then, so that a killed process leaves nothing behind. There are two exceptions: systems
without nameless files, and the short moment in which a nameless file gets a temporary name before it replaces the
target. Then a killed process leaves a temporary file behind, which the next save to the same target removes.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # on Windows, where an open file can be neither removed nor replaced
    fcntl = None  # type: ignore[assignment]

Target = Any  # a string, a path, or an open binary file


def as_path(path: Any, accepted: str = "text, a path or an open binary file") -> Path:
    """Return ``path`` as a `Path`; raise unless it can name a file. ``accepted`` names valid types in the message."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} must be {accepted}.")
    text = os.fsdecode(path)
    if not text or text.endswith(("/", os.sep)) or "\0" in text:
        raise ValueError(f"path={path!r} names no file: it must not be empty, end with {os.sep!r} or hold a NUL.")
    return Path(text)


def write_bytes(path: Target, data: bytes) -> None:
    """Write bytes to an open binary file, or to a path, where the file appears complete or not at all."""
    if not hasattr(path, "write"):
        return write_files({as_path(path): data})
    try:
        path.write(data)
    except TypeError as error:
        raise TypeError(f"path={path!r} takes text; pass a binary file, as open(..., 'wb') gives.") from error


def write_files(contents: dict[Path, bytes]) -> None:
    """Write several files that belong together, given their bytes by path; if one cannot be written, none appears."""
    with ExitStack() as stack:
        for path, data in contents.items():
            stack.enter_context(whole_file(path)).write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that gets its name only when it is complete, so that readers never see a part of it.

    After an error, no file remains. Symbolic links are followed. The new file gets the permissions, owner and extended
    attributes of the file that it replaces, as far as possible; otherwise it gets the permissions of ``open``.
    """
    old, target = check_replaceable(path), Path(os.path.realpath(path))
    sweep(target)
    temporary = temporary_name(target)
    descriptor = None
    try:
        try:
            descriptor = new_file(temporary, 0o666 if old is None else stat.S_IMODE(old.st_mode))
        except OSError as error:
            number = error.errno or errno.EIO
            raise OSError(number, f"{os.strerror(number)}; no file can be created in its folder", str(path)) from error
        with os.fdopen(os.dup(descriptor), "wb") as stream:  # a copy, because the caller may close it
            yield stream
        if old is not None:
            keep_rights(descriptor, target, old)
        os.fsync(descriptor)
        if not os.path.lexists(temporary):
            give_name(descriptor, temporary)
        if fcntl is None:
            descriptor = os.close(descriptor)
        os.replace(temporary, target)
        sync_folder(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def check_replaceable(path: Path) -> os.stat_result | None:
    """Return the ``os.stat`` result of a path, or None if no file is at it; raise if it cannot be written to."""
    try:
        old = path.stat()
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        if folder.is_dir():
            return None
        message = f"path={str(path)!r} is in the folder {str(folder)!r}, which does not exist."
        raise FileNotFoundError(message) from None
    if not stat.S_ISREG(old.st_mode):
        what = "a directory" if stat.S_ISDIR(old.st_mode) else "a pipe, device or socket"
        raise OSError(f"path={str(path)!r} is {what}; only regular files are written, new or in place of old ones.")
    if not os.access(path, os.W_OK):
        raise PermissionError(f"path={str(path)!r} is a file that may not be written to.")
    return old


# ---- before the file is complete ------------------------------------------------------------------------------------


def temporary_prefix(target: Path) -> str:
    """Return the prefix of all temporary file names of a target; it is short, since the target's name may be long."""
    return f".saving-{zlib.crc32(os.fsencode(target.name)):08x}-"


def temporary_name(target: Path) -> Path:
    """Return a random temporary file name in the folder of the target."""
    return target.with_name(f"{temporary_prefix(target)}{secrets.token_hex(8)}")


def new_file(temporary: Path, mode: int) -> int:
    """Create a locked file and return its descriptor; the file is nameless if possible, else it has the temporary name.

    The file has its final permissions from the start, so that nobody else can read a private model. The lock shows
    other processes that the file is still being written.
    """
    descriptor = nameless_file(temporary.parent, mode)
    if descriptor is not None:
        lock(descriptor)
        return descriptor
    while True:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        lock(descriptor, wait=True)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # before it was locked, another process removed it as a leftover


def nameless_file(folder: Path, mode: int) -> int | None:
    """Create a file without a name in a folder and return its descriptor; None if the file system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, mode)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS):
            return None
        raise


def lock(descriptor: int, wait: bool = False) -> bool:
    """Lock a file until the process ends; return whether that worked. ``wait`` waits until other processes unlock."""
    with suppress(OSError):  # another process has locked it, or the file system has no locks
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def sweep(target: Path) -> None:
    """Remove the target's temporary files that no process has locked, which are leftovers of killed processes."""
    for left in target.parent.glob(f"{temporary_prefix(target)}*"):
        with suppress(OSError):
            if fcntl is None:
                left.unlink()  # Windows refuses this while the file is open
                continue
            descriptor = os.open(left, os.O_RDWR)
            try:
                if lock(descriptor):
                    left.unlink()
            finally:
                os.close(descriptor)


# ---- when it is complete --------------------------------------------------------------------------------------------


def keep_rights(descriptor: int, target: Path, old: os.stat_result) -> None:
    """Copy owner, extended attributes and permissions of the old file to the new file, as far as that is allowed."""
    if hasattr(os, "fchown"):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(OSError):
                os.fchown(descriptor, owner, group)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))  # also the bits that the umask has removed


def give_name(descriptor: int, temporary: Path) -> None:
    """Give a nameless file its temporary name; if the system refuses, copy its contents to a new file of that name."""
    try:
        folder = os.open(temporary.parent, os.O_RDONLY)
        try:  # only with a descriptor of the folder does Python follow the link in /proc
            os.link(f"/proc/self/fd/{descriptor}", temporary.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
    except OSError:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        copy = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(copy, "wb") as stream, open(os.dup(descriptor), "rb") as source:
            os.fchmod(copy, mode)
            source.seek(0)
            shutil.copyfileobj(source, stream)
            stream.flush()
            os.fsync(copy)


def sync_folder(folder: Path) -> None:
    """Flush the file names in a folder to the disk, if the system can do that."""
    if os.name != "posix" or not os.access(folder, os.R_OK):
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # file systems that cannot do this
            raise
    finally:
        os.close(descriptor)
