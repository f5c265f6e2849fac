"""Writes files so that they appear complete or not at all.

A file is written in the folder of its target, and takes the target's name only when it is complete and on the disk. On
Linux it has no name until then, so that nothing is left of it if the process is killed. Between the moment when it gets
a temporary name and the moment when that name is replaced, and all the time on systems without files that have no name,
a killed process leaves its temporary file behind; the next save to the same place removes it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # on Windows, where a file that is open can be neither removed nor replaced
    fcntl = None  # type: ignore[assignment]

Target = Any  # text, a path, or a binary file that is open


class PathError(TypeError):
    """Something that is neither a path nor a binary file."""


def as_path(path: Any, accepted: str = "text, a path or an open binary file") -> Path:
    """A path from what the user passed; ``accepted`` is what the message says is possible."""
    if not isinstance(path, str | os.PathLike):
        raise PathError(f"path={path!r} must be {accepted}.")
    text = os.fsdecode(path)
    if not text or text.endswith(("/", os.sep)) or "\0" in text:
        raise ValueError(f"path={path!r} names no file: it must not be empty, end with {os.sep!r} or hold a NUL.")
    return Path(text)


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
    """A stream to a file that takes the name ``path`` at the end: readers see no half of it, not even after power loss.

    After an error nothing is left. Symbolic links are followed. An existing file keeps its permissions, its owner and
    its extended attributes as far as the system allows; a new one gets the permissions that ``open`` would give it.
    """
    old, target = replaceable(path), Path(os.path.realpath(path))
    sweep(target)
    temporary = temporary_name(target)
    descriptor = None
    try:
        descriptor = new_file(path, temporary, 0o666 if old is None else stat.S_IMODE(old.st_mode))
        with os.fdopen(os.dup(descriptor), "wb") as stream:  # which the caller may close
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


def replaceable(path: Path) -> os.stat_result | None:
    """What is known of the existing file, or None if there is none; raise if a new file cannot take its place."""
    try:
        old = path.stat()
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(
                f"path={str(path)!r} is in the folder {str(folder)!r}, which does not exist."
            ) from None
        return None
    if not stat.S_ISREG(old.st_mode):
        what = "a directory" if stat.S_ISDIR(old.st_mode) else "a pipe, device or socket"
        raise OSError(
            f"path={str(path)!r} is {what}; a model is saved as a regular file, new or in place of an old one."
        )
    if not os.access(path, os.W_OK):
        raise PermissionError(f"path={str(path)!r} is a file that may not be written to.")
    return old


# ---- before the file is complete ------------------------------------------------------------------------------------


def temporary_name(target: Path) -> Path:
    """A name that no other process uses; it is short, because that of the target may be as long as names can be."""
    return target.with_name(f"{temporary_prefix(target)}{secrets.token_hex(8)}")


def temporary_prefix(target: Path) -> str:
    """How the temporary names of a target begin."""
    return f".saving-{zlib.crc32(os.fsencode(target.name)):08x}-"


def new_file(path: Path, temporary: Path, mode: int) -> int:
    """The descriptor of a new file: without a name where the system has such files, else with the temporary one.

    It is created with its final permissions, so that others can never read a private model, not even briefly; and it is
    locked, which tells others that somebody is still writing it.
    """
    try:
        descriptor = nameless_file(temporary.parent, mode)
        if descriptor is not None:
            lock(descriptor)
            return descriptor
        while True:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
            lock(descriptor, wait=True)
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)  # before it was locked, another process took it for one that was left behind
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, f"{os.strerror(number)}; no file can be created in its folder", str(path)) from error


def nameless_file(folder: Path, mode: int) -> int | None:
    """The descriptor of a file that has no name yet; None where the system or the file system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, mode)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS):
            return None
        raise


def lock(descriptor: int, wait: bool = False) -> bool:
    """Lock a file, which holds until the process ends; say whether it is locked. ``wait`` for whoever has locked it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # somebody else has locked it, or this file system has no locks
        return False
    return True


def sweep(target: Path) -> None:
    """Remove temporary files of this target whose writers are gone, because they were killed."""
    prefix = temporary_prefix(target)
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                remove_if_left(Path(entry.path))


def remove_if_left(temporary: Path) -> None:
    """Remove a temporary file, unless somebody is still writing it."""
    with suppress(OSError):
        if fcntl is None:
            return temporary.unlink()  # which Windows refuses while the file is open
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            if lock(descriptor):
                temporary.unlink()
        finally:
            os.close(descriptor)


# ---- when it is complete --------------------------------------------------------------------------------------------


def keep_rights(descriptor: int, target: Path, old: os.stat_result) -> None:
    """Give the new file the owner, the access list and the permissions of the old one, as far as that is allowed."""
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
    """Give a file its first name; where the system refuses that, copy it to a file of that name."""
    try:
        folder = os.open(temporary.parent, os.O_RDONLY)
        try:  # with a descriptor of the folder Python follows the link in /proc, as it must
            os.link(f"/proc/self/fd/{descriptor}", temporary.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
    except OSError:
        copy_to(descriptor, temporary)


def copy_to(descriptor: int, temporary: Path) -> None:
    """Copy an open file, with its permissions."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    copy = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(copy, "wb") as stream:
        os.fchmod(copy, mode)
        os.lseek(descriptor, 0, os.SEEK_SET)
        while part := os.read(descriptor, 2**20):
            stream.write(part)
        stream.flush()
        os.fsync(copy)


def sync_folder(folder: Path) -> None:
    """Put the names of a folder on the disk, where that is possible."""
    if os.name != "posix" or not os.access(folder, os.R_OK):
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # a file system that does not do that
            raise
    finally:
        os.close(descriptor)
