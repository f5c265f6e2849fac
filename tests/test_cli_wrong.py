"""Wrong input of every kind: one clear sentence, the right exit code, no traceback, nothing left behind."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from cli_runner import inside

from simplexboost.cli import readers

GOOD = "x,z,y\n" + "\n".join(f"{i},{i % 7},{'ab'[i % 2]}" for i in range(40)) + "\n"


@pytest.fixture
def good(tmp_path):
    """A good file."""
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def model(good):
    """A model of it."""
    path = good.with_name("model.sb")
    assert inside("fit", good, "-o", path, "--set", "n_estimators=2", "-q").code == 0
    return path


def check(done, code, *words):
    """One sentence that has the words, and the exit code."""
    assert done.code == code, done
    assert done.out == ""
    assert "Traceback" not in done.err
    complaint = done.err.strip().splitlines()[-1]
    for word in words:
        assert word in complaint, done.err


FILES = {
    "empty.csv": (b"", "empty.csv is empty"),
    "header.csv": (b"x,y\n", "has a header, but no rows"),
    "blank.csv": (b"\n\n\n", "has no header line"),
    "commas.csv": (b",,,\n, ,\n", "names no column"),
    "unknown.xyz": (GOOD.encode(), "the extension does not tell the format"),
    "sheet.xlsx": (b"PK", "sheet.xlsx is a spreadsheet, which is not read; save its sheet as CSV"),
    "sheet.ods": (b"PK", "is a spreadsheet, which is not read"),
    "garbage.csv": (bytes(range(256)) * 10, "is not a text file"),
    "garbage.parquet": (bytes(range(256)) * 10, "is not a Parquet file"),
    "garbage.feather": (bytes(range(256)) * 10, "is not a Feather file"),
    "garbage.npz": (bytes(range(256)) * 10, "is not an NPZ file"),
    "garbage.libsvm": (b"what is this\n", "is not a LIBSVM file"),
    "huge.libsvm": (b"0 1:1\n1 2:1\n0 99999999999:1\n", "huge.libsvm, line 3: a number of a feature"),
    "garbage.arff": (b"what is this\n", "is not an ARFF file"),
    "sparse.arff": (b"@attribute a numeric\n@data\n{0 1}\n", "sparse ARFF"),
    "broken.csv.gz": (gzip.compress(GOOD.encode() * 50)[:-30], "cannot be decompressed"),
    "notreally.csv.gz": (GOOD.encode(), "cannot be decompressed"),
    "notreally.csv.xz": (GOOD.encode(), "cannot be decompressed"),
    "notreally.csv.bz2": (GOOD.encode(), "cannot be"),
    "notreally.csv.zst": (GOOD.encode(), "cannot be read"),
    "ragged.csv": (b"x,y\n1,a\n2,b,c\n", "Expected 2 columns, got 3"),
    "twice.csv": (b"x,x,y\n1,2,a\n", "several columns of the same name: 'x'"),
    "one.csv": (b"x,y\n1,a\n2,a\n", "one class only ('a')"),
    "unlabelled.csv": (b"x,y\n1,\n2,NA\n", "no row has a label"),
    "quantity.csv": (b"x,y\n" + b"".join(b"%d,%.3f\n" % (i, i / 7) for i in range(60)), "that is a quantity"),
    "lonely.csv": (b"y\na\nb\n", "no column is left to learn from"),
    "utf16.csv": (GOOD.encode("utf-16"), "--encoding utf-16"),
}


@pytest.mark.parametrize("name", FILES)
def test_wrong_files(tmp_path, name):
    content, words = FILES[name]
    (tmp_path / name).write_bytes(content)
    check(inside("fit", tmp_path / name, "-o", tmp_path / "m.sb", "-q"), 1, words)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_npz_without_a_table(tmp_path):
    np.savez(tmp_path / "d.npz", a=np.zeros(3))
    check(inside("fit", tmp_path / "d.npz", "-o", tmp_path / "m.sb"), 1, "has no table X", "'a'")
    np.savez(tmp_path / "d.npz", X=np.zeros((3, 2)), y=np.zeros(4))
    check(inside("fit", tmp_path / "d.npz", "-o", tmp_path / "m.sb"), 1, "y has shape (4,)")


def test_places(tmp_path, good, model):
    check(inside("fit", tmp_path / "nowhere.csv", "-o", tmp_path / "m.sb"), 1, "there is no such file")
    check(inside("fit", tmp_path, "-o", tmp_path / "m.sb"), 1, "is a folder")
    check(inside("fit", good, "-o", tmp_path / "no" / "m.sb"), 1, "there is no folder")
    check(inside("fit", good, "-o", tmp_path), 1, "is a folder")
    check(inside("fit", good, "-o", "-"), 2, "a model is written to a file")
    check(inside("predict", model, good, "-o", tmp_path / "no" / "p.csv"), 1, "there is no folder")
    check(inside("predict", model, good, "-o", tmp_path / "p.xlsx"), 2, "the extension must be one of")
    check(inside("predict", tmp_path / "nowhere.sb", good), 1, "there is no such file")
    check(inside("predict", tmp_path, good), 1, "is a folder")
    check(inside("fit", "-", "-o", tmp_path / "m.sb", stdin=b""), 1, "standard input is empty")


def test_the_line_of_a_block_is_that_of_the_file(tmp_path, monkeypatch):
    """Predictions read LIBSVM files in blocks."""
    monkeypatch.setattr(readers, "LINES", 2)
    path, model = tmp_path / "d.libsvm", tmp_path / "m.sb"
    path.write_bytes(b"0 1:1\n1 2:1\n" * 20)
    assert inside("fit", path, "-o", model, "--set", "n_estimators=2").code == 0
    path.write_bytes(b"0 1:1\n1 2:1\n" * 4 + b"0 99999999999:1\n")
    done = inside("predict", model, path, "-q")
    assert done.code == 1 and "line 9: a number of a feature" in done.err and "2147483647" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_permissions(tmp_path, good, model):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    check(inside("fit", good, "-o", locked / "m.sb"), 1, "may not be written to")
    good.chmod(0)
    check(inside("fit", good, "-o", tmp_path / "m.sb"), 1, "Permission denied")


def test_models(tmp_path, good, model):
    (tmp_path / "empty.sb").write_bytes(b"")
    check(inside("predict", tmp_path / "empty.sb", good), 1, "is empty")
    check(inside("predict", good, good), 1, "is not a simplexboost model file")
    (tmp_path / "cut.sb").write_bytes(model.read_bytes()[:-100])
    check(inside("inspect", tmp_path / "cut.sb"), 1, "damaged")


def test_columns(tmp_path, good, model):
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--target", "Y "), 1, "no such column; did you mean y?")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--target", "9"), 1, "there are x, z, y")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--drop", "w"), 1, "--drop 'w'")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--weight", "w"), 1, "--weight 'w'")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--drop", "x", "--numeric", "x"), 2, "named by two of")
    (tmp_path / "few.csv").write_text("x,y\n1,a\n")
    check(inside("predict", model, tmp_path / "few.csv"), 1, "lacks 1 of the model's 2 columns: 'z'")
    (tmp_path / "none.csv").write_text("x,z\n1,2\n")
    check(inside("evaluate", model, tmp_path / "none.csv"), 1, "which column has the labels? Pass --target")
    check(inside("evaluate", model, good, "--target", "w"), 1, "--target 'w'")
    check(inside("predict", model, good, "--keep", "w"), 1, "--keep 'w'")
    (tmp_path / "clash.csv").write_text("x,z,prediction\n1,2,3\n")
    check(inside("predict", model, tmp_path / "clash.csv", "--keep", "prediction"), 1, "column of that name already")


def test_weights(tmp_path):
    (tmp_path / "d.csv").write_text("x,w,y\n1,1,a\n2,-1,b\n3,,a\n")
    check(inside("fit", tmp_path / "d.csv", "-o", tmp_path / "m.sb", "--weight", "w"), 1, "2 rows have no weight")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("n_estimator=5", "did you mean n_estimators?"),
        ("qqq=5", "has no parameter 'qqq'"),
        ("num_leaves=5", "did you mean max_leaf_nodes?"),
        ("n_estimators", "must be name=value"),
        ("=5", "must be name=value"),
    ],
)
def test_settings(good, tmp_path, setting, words):
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--set", setting), 2, words)


def test_values(good, tmp_path):
    """What the library refuses is told in its words, and before a file is read."""
    for algorithm, setting, words in [
        ("SimplexBoost", "n_estimators=ten", "n_estimators='ten'"),
        ("SimplexBoost", "n_estimators=-3", "n_estimators=-3"),
        ("SimplexBoost", "growth=oak", "growth='oak'"),
        ("GDMCBoost", "learning_rate=-1", "learning_rate=-1"),
        ("Boosting", "loss=oak", "loss='oak'"),
        ("MartiBoost", "n_layers=0", "n_layers=0"),
        ("SVM", "C=-1", "C=-1"),
        ("OutputCode", "decoding=oak", "decoding='oak'"),
    ]:
        for data in (good, good.with_name("bad.csv")):
            good.with_name("bad.csv").write_text("x,y\n1,2,3\n")
            asked = ["-o", tmp_path / "m.sb", "--algorithm", algorithm, "--set", setting]
            check(inside("fit", data, *asked), 2, f"--set: {words}")
    assert not (tmp_path / "m.sb").exists()


def test_values_that_only_the_table_can_judge(good, tmp_path):
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--set", "monotonic_cst=[1]"), 1, "monotonic_cst")


def test_arguments(good, model, tmp_path):
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--algorithm", "SimplexBost"), 2, "did you mean SimplexBoost")
    check(inside("predict", model, good, "--proba", "--top", "2"), 2, "pass one of them")
    check(inside("predict", model, good, "--per-class"), 2, "pass --coverage, too")
    check(inside("compare", good, "--algorithms", "LightGMB"), 2, "did you mean LightGBM")
    check(inside("compare", good, "--folds", "30"), 1, "too few for --folds 30")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--delimiter", "ab"), 2, "must be one character")
    check(inside("fit", good, "-o", tmp_path / "m.sb", "--encoding", "klingon"), 1, "klingon")
    for arguments in (
        ["fit"],
        ["fit", good],
        ["fitt"],
        ["fit", good, "--oops"],
        ["predict", model, good, "--top", "0"],
    ):
        done = inside(*arguments)
        assert done.code == 2
        assert "Usage" in done.err
        assert done.out == ""
    assert "did you mean fit?" in inside("fitt").err


def test_labels_that_the_model_does_not_know(model, tmp_path):
    (tmp_path / "d.csv").write_text("x,z,y\n1,1,b\n2,2,a\n3,3,c\n4,4,\n")
    done = inside("evaluate", model, tmp_path / "d.csv")
    assert done.code == 0
    assert "1 row without a label" in done.err
    assert "labels that the model does not know count as errors, and not in the log-loss: c" in done.err
    assert done.out.startswith("3 rows\n")


def test_words_where_the_model_wants_numbers(model, tmp_path):
    (tmp_path / "d.csv").write_text("x,z\nmany,1\n2,2\n")
    done = inside("predict", model, tmp_path / "d.csv")
    assert done.code == 0
    assert "column 'x' holds numbers, but 1 of 2 values are not: 'many'; taken as missing" in done.err


def test_an_old_output_stays_if_the_new_one_fails(model, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    (tmp_path / "bad.csv").write_text("x,z\n1,2\n1,2,3\n")
    check(inside("predict", model, tmp_path / "bad.csv", "-o", out, "-q"), 1, "Expected 2 columns, got 3")
    assert out.read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("out.csv.")]


def test_the_forecast_of_memory_is_told():
    from simplexboost.cli.errors import explain

    ours = "boosting needs about 9.0 GB of memory beside the data, and 1.0 GB are free."
    assert explain(MemoryError(ours)).startswith(ours)
    assert explain(MemoryError()).startswith("there is not enough memory for this. Try fewer rows")


# ---- inputs are not overwritten -------------------------------------------------------------------------------------

SPELLINGS = {
    "the same": lambda path: path,
    "another spelling": lambda path: path.parent / "." / ".." / path.parent.name / path.name,
    "a link": lambda path: link(path, Path.symlink_to),
    "a hard link": lambda path: link(path, Path.hardlink_to),
}


def link(path, make):
    """Another name of a file, with the same ending."""
    other = path.with_name(f"other{path.suffix}")
    make(other, path)
    return other


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("command", "lost"),
    [
        (["fit", "good.csv", "-q"], "good.csv"),
        (["fit", "good.csv", "--eval", "test.csv", "-q"], "test.csv"),
        (["predict", "model.sb", "good.csv"], "good.csv"),
        (["report", "model.sb", "good.csv"], "good.csv"),
        (["report", "model.sb", "good.csv"], "model.sb"),
        (["export", "model.sb", "--to", "python"], "model.sb"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_no_command_writes_over_what_it_reads(model, command, lost, spelling, monkeypatch):
    monkeypatch.chdir(model.parent)
    Path("test.csv").write_text(GOOD)
    what = {"good.csv": "the table", "test.csv": "the table of --eval", "model.sb": "the model"}[lost]
    before = Path(lost).read_bytes()
    done = inside(*command, "-o", SPELLINGS[spelling](model.with_name(lost)))
    check(done, 2, f"is {what} itself, which would be lost; pass another name")
    assert Path(lost).read_bytes() == before


def test_a_model_of_the_name_of_a_table_is_not_overwritten(model):
    """Model files may have any name; tables are written to some endings only."""
    path = model.rename(model.with_name("model.csv"))
    before = path.read_bytes()
    check(inside("predict", path, model.with_name("good.csv"), "-o", path), 2, "is the model itself")
    assert path.read_bytes() == before


def test_other_files_are_overwritten(model):
    for name in ("model.csv", "page.html"):
        command = "predict" if name.endswith("csv") else "report"
        for _ in range(2):
            assert inside(command, model, model.with_name("good.csv"), "-o", model.with_name(name), "-q").code == 0
