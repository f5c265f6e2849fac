"""Bad files: one error for all of them, no memory beyond what a file may hold, and no waiting."""

import errno
import hashlib
import io
import json
import os
import re
import tracemalloc
import zipfile

import numpy as np
import pytest
from model_files import read_zip, write_file
from sklearn.datasets import load_iris

import simplexboost as sb
from simplexboost.parts.losses import Logistic
from simplexboost.persist import archive as reading

X, y = load_iris(return_X_y=True)


@pytest.fixture
def path(tmp_path):
    """A small model file."""
    sb.GDMCBoostClassifier(n_estimators=2, random_state=np.random.RandomState(0)).fit(X, y).save(tmp_path / "m.sb")
    return tmp_path / "m.sb"


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(members, how=zipfile.ZIP_DEFLATED):
    """An archive of members as bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def with_header(path, **changes):
    """The file with some entries of the header changed."""
    members = members_of(path)
    members["header.json"] = json.dumps(json.loads(members["header.json"]) | changes).encode()
    return written(members)


def with_array(path, name, about, data):
    """The file with another array, and what the header says of it."""
    members = members_of(path)
    header = json.loads(members["header.json"])
    header["arrays"][name] = {"sha256": hashlib.sha256(data).hexdigest(), **about}
    return written(members | {"header.json": json.dumps(header).encode(), name: data})


def peak_of_refusal(data):
    """The most memory that is taken while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(sb.ModelFileError) as refusal:
            sb.load(io.BytesIO(data))
        return tracemalloc.get_traced_memory()[1], str(refusal.value)
    finally:
        tracemalloc.stop()


# ---- one error ------------------------------------------------------------------------------------------------------


def test_the_error_is_public_and_a_value_error():
    assert issubclass(sb.ModelFileError, ValueError)
    with pytest.raises(sb.ModelFileError, match="The model file is damaged: the file is not a zip archive"):
        sb.load(io.BytesIO(b""))


def encrypted(data):
    """The first member is marked as encrypted."""
    out = bytearray(data)
    out[6] |= 1
    out[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(out)


def with_broken_stream(data):
    """The deflated bytes of the header are nonsense: zlib's own error."""
    at = data.index(b"header.json") + len("header.json")
    return data[:at] + b"\xff" * 20 + data[at + 20 :]


def with_place(data):
    """A member begins before the beginning of the file: an OSError of the system where the file is on disk."""
    at = data.rindex(b"PK\x05\x06")
    size = int.from_bytes(data[at + 12 : at + 16], "little")
    return data[: at + 12] + (size + 10**9).to_bytes(4, "little") + data[at + 16 :]


@pytest.mark.parametrize(
    "change",
    [
        encrypted,
        with_broken_stream,
        with_place,
        lambda data: data[: len(data) // 2],
        lambda data: data + b"x" * 70_000,
        lambda data: written({"header.json": b'{"a":' * 100_000}),
        lambda data: written({"header.json": b"[" * 10**6}),
        lambda data: written({"header.json": b"\xff\xfe\x00"}),
        lambda data: written({"header.json": b'{"format": "simplexboost", "version": 1e999}'}),
        lambda data: written({"other": b""}),
    ],
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_every_bad_file_raises_the_same_error(change, on_disk, path):
    data = change(path.read_bytes())
    path.write_bytes(data)
    with pytest.raises(sb.ModelFileError):
        sb.load(path if on_disk else io.BytesIO(data))


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(how, path):
    with pytest.raises(sb.ModelFileError, match="compressed in another way than 'deflate'"):
        sb.load(io.BytesIO(written(members_of(path), how)))


def test_lack_of_memory_is_the_same_error(path, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("simplexboost.persist.saving.unpack", full)
    with pytest.raises(sb.ModelFileError, match="needs more memory than there is"):
        sb.load(path)


def test_errors_of_the_disk_stay_what_they_are(path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("simplexboost.persist.saving.read_archive", broken)
    with pytest.raises(OSError, match="Input/output") as failure:
        sb.load(path)
    assert not isinstance(failure.value, ValueError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "m.sb")
    with pytest.raises(OSError, match="is a pipe, device or socket; a model is loaded from a regular file"):
        sb.load(tmp_path / "m.sb")


# ---- sizes ----------------------------------------------------------------------------------------------------------

ZEROS = bytes(1 << 26)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"dtype": "<f8", "shape": [len(ZEROS) // 8]}, "declares contents of"),
        ({"dtype": "<f8", "shape": [3]}, "bytes, but its shape and type take 24"),
        ({"dtype": "<f8", "shape": [10**12]}, "shape and type take 8000000000000"),
    ],
)
@pytest.mark.parametrize("name", ["values", "unknown"])
def test_an_array_that_is_larger_than_the_file_may_hold_is_not_inflated(name, about, message, path):
    """64 MB of zeros take 64 kB."""
    peak, told = peak_of_refusal(with_array(path, name, about, ZEROS))
    assert message in told
    assert peak < 4 << 20


@pytest.mark.parametrize("filler", [b" ", b"[],"])
def test_a_header_that_is_larger_than_the_file_may_have_is_not_inflated(filler, path):
    members = members_of(path)
    members["header.json"] += filler * (20 << 20)
    peak, told = peak_of_refusal(written(members))
    assert "declares contents of" in told
    assert peak < 4 << 20


@pytest.mark.filterwarnings("ignore:Duplicate name")  # which zipfile warns of when it writes
@pytest.mark.parametrize("name", ["header.json", "values", "no array"])
def test_a_member_occurs_once(name, path):
    """Of two headers programs would read one or the other."""
    stream = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(name, b"{}")
        if name == "no array":
            archive.writestr(name, b"[]")
    with pytest.raises(sb.ModelFileError, match=f"{name}' more than once"):
        sb.load(io.BytesIO(stream.getvalue()))


@pytest.mark.parametrize("shape", [[-1], [2.5], ["3"], None, 3, [[2]], [1] * 40, [2**70, 2**70]])
def test_shapes_that_are_none_are_refused(shape, path):
    with pytest.raises(sb.ModelFileError):
        sb.load(io.BytesIO(with_array(path, "more", {"dtype": "<f8", "shape": shape}, bytes(24))))


@pytest.mark.parametrize(
    "dtype", ["O", "|V8", "<U4", "<c16", ">f8", "<f16", "<M8[s]", "f8,f8", "<f3", None, 8, ["<f8"]]
)
def test_types_that_arrays_do_not_have_are_refused(dtype, path):
    with pytest.raises(sb.ModelFileError, match="is of type"):
        sb.load(io.BytesIO(with_array(path, "more", {"dtype": dtype, "shape": [3]}, bytes(24))))


@pytest.mark.parametrize("values", [["a", "b", "c"], [["a", "b"], ["c", "d"]]])
def test_texts_are_not_wider_than_the_file_may_hold(values, path):
    """A type may have room for longer texts than there are, within reason."""
    data = with_header(path, classes={"dtype": "<U50000000", "values": values})
    peak, told = peak_of_refusal(data)
    assert "declares contents of" in told
    assert peak < 4 << 20
    wide = {"dtype": "<U1000", "values": ["a", "b", "c"]}
    assert sb.load(io.BytesIO(with_header(path, classes=wide))).classes_.dtype == "<U1000"


def compression_of(path):
    with zipfile.ZipFile(path) as archive:
        return {member.compress_type for member in archive.infolist()}


def test_what_compresses_very_well_is_not_compressed(tmp_path):
    """The costs take megabytes of the header, and would take almost nothing of the file."""
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(X, y)
    clf.save(tmp_path / "small.sb")
    assert compression_of(tmp_path / "small.sb") == {zipfile.ZIP_DEFLATED}
    clf.set_params(loss=Logistic(cost_matrix=np.ones((500, 500))))
    clf.save(tmp_path / "m.sb")
    assert compression_of(tmp_path / "m.sb") == {zipfile.ZIP_STORED}
    assert sb.load(tmp_path / "m.sb").loss.cost_matrix.shape == (500, 500)
    clf.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "m.sb").read_bytes()


def test_arrays_that_compress_very_well_are_not_compressed(tmp_path):
    arrays = {"zeros": np.zeros(4 * reading.SPARE // 8)}
    write_file(tmp_path / "m.sb", {}, arrays)
    assert (read_zip(tmp_path / "m.sb")[1]["zeros"] == 0).all()


# ---- values ---------------------------------------------------------------------------------------------------------


def test_random_numbers_do_not_go_on_outside_their_state(path):
    """NumPy believes the place that it is told, and would read there."""
    text = json.dumps(json.loads(members_of(path)["header.json"]))
    for place in ("100000000", "-1", "null", "1.5"):
        text, changes = re.subn(r'"pos", [^]]+', f'"pos", {place}', text)
        assert changes == 1
        with pytest.raises(sb.ModelFileError, match="random numbers"):
            sb.load(io.BytesIO(written(members_of(path) | {"header.json": text.encode()})))


@pytest.mark.parametrize("zone", ["dateutil//dev/zero", "../../../etc/passwd", "/etc/localtime", 5])
def test_zones_are_names_and_no_files(zone, path):
    """pandas would open a file that is named after "dateutil/"."""
    pytest.importorskip("pandas")
    moment = {"timestamp": "2024-02-29T00:00:00+00:00", "unit": "ns", "zone": zone}
    data = with_header(path, classes={"dtype": "object", "values": [moment, 1, 2]})
    try:
        label = sb.load(io.BytesIO(data)).classes_[0]
    except sb.ModelFileError:
        return
    assert str(label.tzinfo) in ("UTC", "UTC+00:00")
