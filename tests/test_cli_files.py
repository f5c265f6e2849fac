"""Formats, compression, kinds of columns, and labels."""

import bz2
import gzip
import io
import lzma
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli_runner import inside
from sklearn.datasets import dump_svmlight_file

import simplexboost.cli.readers
from simplexboost.cli.kinds import TIMES, day_of, duration_of, read_column, time_of
from simplexboost.cli.readers import TableOptions
from simplexboost.cli.terminal import Talk
from simplexboost.cli.training import read_training

CSV = "size,colour,when,y\n1.5,red,2024-01-01,a\n,blue,2024-01-02,b\n2.5,red,,a\n"
DAYS = [datetime(2024, 1, 1), datetime(2024, 1, 2), None]
EXPECTED = {"size": [1.5, None, 2.5], "colour": ["red", "blue", "red"], "when": DAYS}


def read(path, **options):
    """A table for a fit, and what was said about it."""
    return read_training(str(path), TableOptions(**options), Talk(quiet=True))


def check(training):
    """The table that all formats hold."""
    assert training.X.to_pydict() == EXPECTED
    assert training.y.tolist() == ["a", "b", "a"]
    assert training.kinds == {"size": "number", "colour": "text", "when": "date"}


def typed_table():
    """The same table with types."""
    day = pa.array([19723, 19724, None], pa.int32()).cast(pa.date32())
    colour = pa.array(EXPECTED["colour"]).dictionary_encode()
    return pa.table({"size": EXPECTED["size"], "colour": colour, "when": day, "y": ["a", "b", "a"]})


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("csv", CSV.encode()),
        ("csv", ("\ufeff" + CSV).encode()),
        ("csv", CSV.replace("\n", "\r\n").encode()),
        ("csv", CSV.replace(",", ";").encode()),
        ("csv", CSV.replace(",", " , ").encode()),
        ("csv", ("\n\n" + CSV).encode()),
        ("CSV", CSV.encode()),
        ("txt", CSV.replace(",", "|").encode()),
        ("tsv", CSV.replace(",", "\t").encode()),
        ("csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("csv.bz2", bz2.compress(CSV.encode())),
        ("csv.xz", lzma.compress(CSV.encode())),
        ("csv.zst", pa.Codec("zstd").compress(CSV.encode(), asbytes=True)),
    ],
)
def test_text_files(tmp_path, suffix, content):
    path = tmp_path / f"data.{suffix}"
    path.write_bytes(content)
    check(read(path))


def test_typed_files(tmp_path):
    pa.parquet.write_table(typed_table(), tmp_path / "d.parquet")
    pa.feather.write_feather(typed_table(), tmp_path / "d.feather")
    for name in ("d.parquet", "d.feather"):
        check(read(tmp_path / name))
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        check(read(tmp_path / f"{name}.gz"))


def test_arff(tmp_path):
    text = """% a comment
@RELATION things
@attribute size NUMERIC
@attribute 'the colour' {red, 'dark blue'}
@attribute code {0,1}
@attribute y {a,b}
@data
1.5,red,0,a
% another comment
?,'dark blue',1,b
2.5,red,1,a
"""
    (tmp_path / "d.arff").write_text(text)
    training = read(tmp_path / "d.arff")
    assert training.X.to_pydict() == {
        "size": [1.5, None, 2.5],
        "the colour": ["red", "dark blue", "red"],
        "code": ["0", "1", "1"],  # declared as categories
    }
    assert training.y.tolist() == ["a", "b", "a"]


def test_npz(tmp_path):
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 0.0]])
    np.savez(tmp_path / "a.npz", X=X, y=[1, 2, 1])
    training = read(tmp_path / "a.npz")
    assert training.X.column_names == ["c1", "c2"]
    assert training.X["c1"].to_pylist() == [1, None, 3]
    assert training.y.tolist() == [1, 2, 1]
    np.savez(
        tmp_path / "b.npz", X_train=X, y_train=[0, 1, 0], X_test=X, y_test=[1, 1, 1], feature_names=["u", "v"],
        categorical=[False, True], class_names=["no", "yes"],
    )  # fmt: skip
    training = read(tmp_path / "b.npz")
    assert training.y.tolist() == ["no", "yes", "no"]
    assert training.kinds == {"u": "number", "v": "text"}


def test_libsvm(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)
    y = (X[:, 0] > 0).astype(int) + 1
    dump_svmlight_file(X, y, str(tmp_path / "d.libsvm"), zero_based=False)
    model = tmp_path / "m.sb"
    assert inside("fit", tmp_path / "d.libsvm", "-o", model, "--set", "n_estimators=20").code == 0
    done = inside("evaluate", model, tmp_path / "d.libsvm")
    assert "accuracy 1.0" in done.out, done.err
    out = inside("predict", model, tmp_path / "d.libsvm", "-q").out.split()
    assert out == ["prediction", *map(str, y)]
    dump_svmlight_file(X, y, str(tmp_path / "zero.libsvm"), zero_based=True)
    done = inside("fit", tmp_path / "zero.libsvm", "-o", model)
    assert done.code == 1
    assert "--zero-based" in done.err
    done = inside("fit", tmp_path / "zero.libsvm", "-o", model, "--zero-based", "--set", "n_estimators=5")
    assert done.code == 0, done.err


def test_standard_input(tmp_path):
    rows = "\n".join(f"{i},{'ab'[i % 2]}" for i in range(40))
    done = inside("fit", "-", "-o", tmp_path / "m.sb", "--set", "n_estimators=3", stdin=f"x,y\n{rows}".encode())
    assert done.code == 0, done.err
    done = inside("predict", tmp_path / "m.sb", "-", "-q", stdin=b"x\n3\n4\n")
    assert done.code == 0
    assert len(done.out.split()) == 3
    tsv = "x\tz\n3\t1\n"
    assert inside("predict", tmp_path / "m.sb", "-", "--format", "tsv", "-q", stdin=tsv.encode()).code == 0
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), buffer)
    done = inside("predict", tmp_path / "m.sb", "-", "--format", "parquet", "-q", stdin=buffer.getvalue())
    assert done.code == 0, done.err


def test_encoding_header_and_delimiter(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes("Größe,y\n1,ä\n2,ö\n".encode("latin-1"))
    done = inside("fit", path, "-o", tmp_path / "m.sb")
    assert done.code == 1
    assert "not UTF-8 text; pass its encoding, for instance --encoding latin-1" in done.err
    training = read(path, encoding="latin-1")
    assert training.X.column_names == ["Größe"]
    assert training.y.tolist() == ["ä", "ö"]
    path.write_bytes(b"x,y\n1,a\n" + b"2,\xff\n")
    assert "not UTF-8" in inside("fit", path, "-o", tmp_path / "m.sb").err
    path.write_text("1:a\n2:b\n")
    training = read(path, delimiter=":", header=False)
    assert training.X.to_pydict() == {"c1": [1.0, 2.0]}
    assert training.y.tolist() == ["a", "b"]


def test_decimal_commas(tmp_path):
    """As spreadsheets write them in many countries, with semicolons between the cells."""
    path = tmp_path / "d.csv"
    path.write_text("x;name;y\n1,5;a, b;u\n-2,25;c;v\n3;d;u\n1.5;e;v\n")
    assert read(path).X.to_pydict() == {"x": [1.5, -2.25, 3, 1.5], "name": ["a, b", "c", "d", "e"]}
    path.write_text(path.read_text().replace(";", "\t"))
    assert read(path).kinds["x"] == "text"
    assert read(path, decimal=",").X["x"].to_pylist() == [1.5, -2.25, 3, 1.5]
    path.write_text("x;y\n" + "\n".join(f"{i},5;{'ab'[i % 2]}" for i in range(40)))
    assert inside("fit", path, "-o", tmp_path / "m.sb", "--set", "n_estimators=2", "-q").code == 0
    path.write_text("x;y\n7,5;a\n")
    points = tmp_path / "p.csv"
    points.write_text("x,y\n7.5,a\n")
    first, second = (inside("predict", tmp_path / "m.sb", file, "--proba", "-q").out for file in (path, points))
    assert first == second


def test_headers(tmp_path):
    """Names in quotes with delimiters and line breaks, more of them than a first look shows, and UTF-16."""
    path = tmp_path / "d.csv"
    path.write_text('"size,\nin cm"," b ",y\n1,2,a\n3,4,b\n')
    assert read(path).X.to_pydict() == {"size, in cm": [1, 3], "b": [2, 4]}
    names = [f"a column with a long name {j}" for j in range(3000)]
    path.write_text(",".join([*names, "y"]) + "\n" + "1," * 3000 + "a\n" + "2," * 3000 + "b\n")
    assert read(path).X.column_names == names
    path.write_bytes(CSV.encode("utf-16"))
    check(read(path, encoding="utf-16"))


def test_words_for_missing_values(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,c,y\n-,NA,a\n1,u,b\n2,v,a\n")
    training = read(path, missing=("", "-"))
    assert training.X.to_pydict() == {"x": [None, 1.0, 2.0], "c": ["NA", "u", "v"]}


# ---- kinds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", " 2 ", "+3", "1e3", ".5", None], "number", [1, 2, 3, 1000, 0.5, None]),
        (["1"] * 19 + ["oops"], "number", [1.0] * 19 + [None]),
        (["1"] * 8 + ["oops", "no"], "text", ["1"] * 8 + ["oops", "no"]),
        (["inf", *["1"] * 20], "number", [None] + [1.0] * 20),
        (["true", "FALSE", None], "number", [1, 0, None]),
        (["2024-01-01", "2024/1/2"], "date", [datetime(2024, 1, 1), datetime(2024, 1, 2)]),
        (["2024-01-01 12:00", "2024-01-01T06:00:00Z"], "date", [datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 6)]),
        (["2024-01-01T00:00:00+01:00"], "date", [datetime(2023, 12, 31, 23)]),
        (["01/02/2024", "02/03/2024"], "text", ["01/02/2024", "02/03/2024"]),  # day or month first is not known
        ([None, None], "number", [None, None]),
        (["2 days 07:30:00", "07:30"], "text", ["2 days 07:30:00", "07:30"]),  # durations only where a model has them
        (["a", " a "], "text", ["a", "a"]),
    ],
)
def test_kinds(values, kind, expected):
    column = read_column("x", pa.array(values, pa.string()))
    assert column.values.to_pylist() == expected
    assert column.kind == kind


def test_times_in_words():
    assert day_of("2023-02-29") is None
    assert [duration_of(word) for word in ("2 days 12:00:00", "-1 days", "36:00", "soon")] == [2.5, -1, 1.5, None]
    assert [time_of(word) for word in ("06:00", "18:00:00.0", "24:00", "1 days")] == [0.25, 0.75, None, None]


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us"), pa.duration("ms"), pa.date32(), pa.timestamp("ns")])
def test_typed_times_stay_what_they_are(kind):
    whole = pa.int32() if kind in (pa.time32("s"), pa.date32()) else pa.int64()
    found = read_column("x", pa.array([0, 1, None]).cast(whole).cast(kind)).values
    assert found.type in TIMES.values()
    assert found.null_count == 1


def test_declared_categories_stay_categories(tmp_path):
    for codes in (pa.array(["1", "2", "1"]), pa.array([1, 2, 1])):
        table = pa.table({"x": codes.dictionary_encode(), "y": [True, False, True]})
        pa.feather.write_feather(table, tmp_path / "d.feather")
        training = read(tmp_path / "d.feather")
        assert training.X["x"].to_pylist() == ["1", "2", "1"]
        assert training.y.tolist() == ["True", "False", "True"]


@pytest.mark.parametrize("turn", ["words", "numbers", "missing", "missing words"])
def test_kinds_look_at_the_whole_column(tmp_path, monkeypatch, turn):
    """A column that begins with numbers, words or nothing, and goes on otherwise in later blocks."""
    monkeypatch.setattr(simplexboost.cli.readers, "BLOCK", 1000)
    begin = {"words": "1", "numbers": "unknown", "missing": "", "missing words": ""}[turn]
    later = {"words": "word", "numbers": "2", "missing": "3", "missing words": "word"}[turn]
    values = [begin] * 200 + [later] * 4000
    (tmp_path / "d.csv").write_text("x,y\n" + "\n".join(f"{v},{'ab'[i % 2]}" for i, v in enumerate(values)))
    training = read(tmp_path / "d.csv")
    found = training.X["x"].to_pylist()
    if later == "word":
        assert found == [value or None for value in values]
    else:
        assert found == [None] * 200 + [float(later)] * 4000


def test_categorical_and_numeric_by_wish(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("zip,age,y\n01234,x,a\n01235,3,b\n1,4,a\n")
    training = read(path, categorical=("zip",), numeric=("age",))
    assert training.X.to_pydict() == {"zip": ["01234", "01235", "1"], "age": [None, 3.0, 4.0]}


# ---- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["01", "02", "10"], ["01", "02", "10"]),
        (["1.0", "2.0", "1.0"], ["1.0", "2.0", "1.0"]),
        (["True", "False", "True"], ["True", "False", "True"]),
        ([" a", "b ", "a"], ["a", "b", "a"]),
    ],
)
def test_labels_are_those_of_the_file(tmp_path, labels, expected):
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "\n".join(f"{i},{label}" for i, label in enumerate(labels)))
    assert read(path).y.tolist() == expected


def test_whole_numbers_of_floating_point_are_integers(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1, 2, 3], "y": [1.0, 2.0, None]}), tmp_path / "d.parquet")
    training = read(tmp_path / "d.parquet")
    assert training.y.tolist() == [1, 2]
    assert training.X.num_rows == 2  # a row without a label is left out


def test_target_by_position(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("kind,x,z\na,1,2\nb,2,3\n")
    assert read(path, target="1").target == "kind"
    assert read(path, target="-1").target == "z"
    assert read(path).target == "z"


# ---- codes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("early", [True, False])
def test_a_leading_zero_makes_a_column_one_of_codes(early, tmp_path, monkeypatch):
    """Also where the first block has none."""
    monkeypatch.setattr(simplexboost.cli.readers, "BLOCK", 200)
    codes = ["06000", "75001", "0", "7"]
    codes = [codes[i % 4] for i in range(400)] if early else ["75001"] * 300 + [codes[i % 4] for i in range(100)]
    rows = "".join(f"{code},{i / 7:.3f},0.{i},{'ab'[i % 2]}\n" for i, code in enumerate(codes))
    (tmp_path / "d.csv").write_text("zip,size,part,y\n" + rows)
    training = read(tmp_path / "d.csv")
    assert training.kinds == {"zip": "text", "size": "number", "part": "number"}
    assert training.X["zip"].to_pylist() == codes
    assert read(tmp_path / "d.csv", numeric=("zip",)).kinds["zip"] == "number"


def test_a_single_leading_zero_among_many_numbers_is_no_code(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(300)) + "05,a\n")
    training = read(tmp_path / "d.csv")
    assert training.kinds == {"x": "number"} and training.X["x"].to_pylist()[-1] == 5.0


def test_codes_are_told(tmp_path):
    rows = "".join(f"{'06000' if i % 3 else '75001'},{'ab'[i % 3 == 0]}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("zip,y\n" + rows)
    done = inside("fit", tmp_path / "d.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=3")
    assert (
        "column 'zip' has numbers that begin with a zero, 40 of 60: codes, taken as categories (--numeric zip"
        in done.err
    )
    assert "2 categories, codes such as 06000" in inside("inspect", tmp_path / "m.sb").out
    (tmp_path / "new.csv").write_text("zip\n06000\n75001\n")
    assert inside("predict", tmp_path / "m.sb", tmp_path / "new.csv").out.split() == ["prediction", "a", "b"]


def test_words_among_which_are_codes_are_words(tmp_path):
    rows = "".join(f"{['007', 'M', 'Q'][i % 3]},{'ab'[i % 3 == 0]}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("agent,y\n" + rows)
    done = inside("fit", tmp_path / "d.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=3")
    assert done.code == 0 and "codes" not in done.err
    assert "codes" not in inside("inspect", tmp_path / "m.sb").out
