"""Files that appear complete or not at all: nothing is left behind, everything is on the disk, permissions are kept."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from simplexboost.persist import atomic_write
from simplexboost.persist.atomic_write import sweep, temporary_name, temporary_prefix, whole_file, write_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files of another kind")


@pytest.fixture(params=["nameless", "named", "copied"])
def way(request, monkeypatch):
    """How a system lets a file appear: without a name until it is complete, with a temporary one, or not linked."""
    if request.param == "named":
        monkeypatch.setattr(atomic_write, "nameless_file", lambda folder, mode: None)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("there are no files without a name here")
    elif request.param == "copied":
        monkeypatch.setattr(atomic_write.os, "link", refuse)
    return request.param


def refuse(*arguments, **more):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def save(path, data=b"new"):
    with whole_file(path) as stream:
        stream.write(data)


def names(folder):
    return sorted(os.listdir(folder))


def test_a_file_appears_when_it_is_complete(way, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    with whole_file(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
        assert len(names(tmp_path)) == (2 if way == "named" else 1)
    assert path.read_bytes() == b"new" and names(tmp_path) == ["m"]


def test_after_an_error_nothing_is_left(way, tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "m") as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_a_stream_may_be_closed_by_who_writes_it(way, tmp_path):
    with whole_file(tmp_path / "m") as stream, stream:
        stream.write(b"new")
    assert (tmp_path / "m").read_bytes() == b"new"


def test_a_name_may_be_as_long_as_names_can_be(way, tmp_path):
    path = tmp_path / ("m" * 255)
    save(path)
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_permissions_and_owner_are_kept(way, mode, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    before = path.stat()
    save(path)
    after = path.stat()
    assert after.st_ino != before.st_ino and path.read_bytes() == b"new"
    assert after.st_mode == before.st_mode
    if way != "copied":  # the copy is a way out that keeps permissions only
        assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_extended_attributes_are_kept(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    save(path)
    assert os.getxattr(path, "user.note") == b"mine"


def test_a_private_file_is_never_readable_by_others(way, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with whole_file(path):
        modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path)}
    assert modes == {0o600}


def test_a_file_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    monkeypatch.setattr(atomic_write.os, "access", lambda path, mode: False)  # as chmod 0444 does, except for root
    with pytest.raises(PermissionError, match="m' is a file that may not be written to"):
        save(path)
    assert path.read_bytes() == b"old"


def test_a_folder_that_takes_no_files_is_said_to(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write.os, "open", refuse)
    with pytest.raises(PermissionError, match=r"no file can be created in its folder.*m'"):
        save(tmp_path / "m")


def test_what_is_written_is_on_the_disk_before_it_has_its_name(way, tmp_path, monkeypatch):
    """Otherwise a loss of power could leave the name with an empty file."""
    events = []

    def noting(name, function, what):
        def call(*arguments, **more):
            events.append((name, what(*arguments)))
            return function(*arguments, **more)

        return call

    kind = lambda descriptor: "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"  # noqa: E731
    monkeypatch.setattr(atomic_write.os, "fsync", noting("sync", os.fsync, kind))
    monkeypatch.setattr(atomic_write.os, "replace", noting("replace", os.replace, lambda old, new: Path(new).name))
    save(tmp_path / "m")
    if way == "copied":
        assert events.pop(0) == ("sync", "file")
    assert events == [("sync", "file"), ("replace", "m"), ("sync", "folder")]


def test_a_file_system_that_cannot_sync_folders(tmp_path, monkeypatch):
    def sync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(atomic_write.os, "fsync", sync)
    save(tmp_path / "m")
    assert names(tmp_path) == ["m"]


@pytest.mark.parametrize("failing", ["fsync", "replace", "fchmod"])
def test_a_disk_that_fails_keeps_the_old_file(way, failing, tmp_path, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    monkeypatch.setattr(atomic_write.os, failing, refuse)
    with pytest.raises(OSError, match=os.strerror(errno.EPERM)):
        save(path)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["m"]


# ---- what killed processes leave behind -----------------------------------------------------------------------------


def test_the_next_save_removes_what_a_killed_one_left(way, tmp_path):
    path = tmp_path / "m"
    for data in (b"", b"whole"):
        temporary_name(path).write_bytes(data)
    others = [temporary_name(tmp_path / "other"), tmp_path / ".saving", tmp_path / "mine"]
    for other in others:
        other.write_bytes(b"not mine")
    save(path)
    assert names(tmp_path) == sorted(["m", *(other.name for other in others)])


def test_a_file_that_is_still_written_is_not_removed(way, tmp_path):
    path, begun, go_on = tmp_path / "m", Event(), Event()

    def slowly():
        with whole_file(path) as stream:
            stream.write(b"slow")
            begun.set()
            go_on.wait(30)

    thread = Thread(target=slowly)
    thread.start()
    assert begun.wait(30)
    save(path, b"quick")
    sweep(path)
    assert path.read_bytes() == b"quick"
    go_on.set()
    thread.join()
    assert path.read_bytes() == b"slow" and names(tmp_path) == ["m"]


def test_a_file_that_another_process_took_for_a_left_one_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write, "nameless_file", lambda folder, mode: None)
    path, lock, swept = tmp_path / "m", atomic_write.lock, []

    def late(descriptor, wait=False):  # the other process comes between the creation and the lock
        if wait and not swept:
            swept.append(True)
            sweep(path)
            assert names(tmp_path) == []
        return lock(descriptor, wait)

    monkeypatch.setattr(atomic_write, "lock", late)
    save(path)
    assert swept and names(tmp_path) == ["m"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="there are no files without a name here")
def test_a_killed_process_leaves_nothing(tmp_path):
    path = tmp_path / "m"
    script = f"""
from pathlib import Path
from simplexboost.persist.atomic_write import whole_file
with whole_file(Path({str(path)!r})) as stream:
    stream.write(b"x" * 10**6)
    stream.flush()
    print("written", flush=True)
    import time
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    if atomic_write.nameless_file(tmp_path, 0o600) is None:
        pytest.skip("this file system has no files without a name")
    assert names(tmp_path) == []


def test_several_files_appear_together(way, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    second.mkdir()
    with pytest.raises(OSError, match="is a directory"):
        write_files({first: b"1", second: b"2"})
    assert names(tmp_path) == ["b"]


def test_prefixes_differ(tmp_path):
    assert temporary_prefix(tmp_path / "a") != temporary_prefix(tmp_path / "b")
