"""The standalone predictor: NumPy alone, and the predictions of the classifier."""

import ast
import hashlib
import io
import json
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from export_cases import CASES, COSTLY, case, dated, flagship, mixed, numbers, with_costs
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from simplexboost import datasets
from simplexboost.export import standalone


def model_of(clf):
    """What the standalone predictor reads from the classifier's file."""
    memory = io.BytesIO()
    clf.save(memory)
    return standalone.load(memory)


def check_same(clf, model, X):
    """Scores, probabilities and labels are those of the classifier."""
    U = clf.class_scores(X)
    np.testing.assert_allclose(model.class_scores(X), U, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), clf.predict_proba(X), rtol=0, atol=1e-6)
    labels, wanted = model.predict(X), clf.predict(X)
    assert labels.dtype == wanted.dtype
    clear = slice(None) if wanted.ndim == 2 else np.ptp(np.sort(U, axis=1)[:, -2:], axis=1) > 1e-6
    assert (labels[clear] == wanted[clear]).all()


@pytest.mark.parametrize("name", [*CASES, "merged classes"])
def test_predictions_are_those_of_the_classifier(name):
    found = case(name)
    check_same(found.clf, model_of(found.clf), found.X)


@pytest.mark.parametrize("name", COSTLY)
def test_probabilities_under_costs(name):
    found = with_costs(name)
    check_same(found.clf, model_of(found.clf), found.X)


def test_scores_are_equal_bit_for_bit_with_canonical_codewords():
    for name in ("flagship", "many classes", "LogitBoostClassifier", "text and holes"):
        found = case(name)
        assert (model_of(found.clf).class_scores(found.X) == found.clf.class_scores(found.X)).all()


def test_few_rows_at_a_time_give_the_same(monkeypatch):
    found = case("many classes")
    whole = model_of(found.clf).class_scores(found.X)
    monkeypatch.setattr(standalone, "BLOCK", 100)
    assert (model_of(found.clf).class_scores(found.X) == whole).all()
    costly = with_costs("logistic")
    assert np.isfinite(model_of(costly.clf).predict_proba(costly.X)).all()


def test_every_form_of_a_table_gives_the_same():
    found = case("text and holes")
    model, want = model_of(found.clf), found.clf.predict_proba(found.X)
    rows = found.X.astype(object).where(found.X.notna(), None).to_numpy()
    columns = {name: list(found.X[name].astype(object)) for name in reversed(found.X.columns)}
    for X in (found.X, pl.from_pandas(found.X.astype({"grade": float})), rows, rows.tolist(), columns):
        np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-6)


def test_unknown_categories_and_dates():
    frame, y = mixed()
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(frame)) % 50, unit="D")
    frame.loc[::7, "day"] = pd.NaT
    found = flagship(frame, y)
    frame.loc[::3, "town"] = "nowhere"
    check_same(found.clf, model_of(found.clf), frame)


def test_dates_are_iso_text():
    """In UTC where they have no zone, as in the fit; in lists, arrays of text and columns by name."""
    clf, rows, wanted = dated()
    model, days = model_of(clf), [row[0] for row in rows]
    for X in (rows, {"day": np.array(days), "wait": [None] * len(days), "at": [None] * len(days)}):
        np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=0, atol=1e-6)
    for row, words in [
        (
            ["soon", None, None],
            "'day' held dates in fit: 'soon' is no date; text such as '2024-05-31T12:00:00' is.",
        ),
        (["2024-02-31", None, None], "column 'day' held dates in fit: '2024-02-31' is no date"),
        ([None, "1 day", None], "column 'wait' held durations in fit: could not convert"),
        ([None, None, "noon"], "column 'at' held times of day in fit: could not convert"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            model.predict([row])
    plain = model_of(case("flagship").clf)
    with pytest.raises(ValueError, match="column 1 held numbers in fit: could not convert string to float: 'two'"):
        plain.predict([[1.0, "two", 3.0, 4.0]])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 2**60, 7]),
        np.array(["2024-01-01", "2024-01-02", "2025-01-01", "2026-01-01"], dtype="M8[D]"),
        np.array(["ash", "birch", "elm", "yew"], dtype=object),
    ],
    ids=["large", "dates", "objects"],
)
def test_labels_keep_their_types(labels):
    X, c = numbers()
    clf = sb.GDMCBoostClassifier(n_estimators=5).fit(X, labels[c])
    check_same(clf, model_of(clf), X)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "files").glob("*.sb")), ids=lambda path: path.stem)
def test_files_of_all_versions_are_read(path):
    """Those of boosters are; others are refused with a sentence."""
    told = json.loads(path.with_suffix(".json").read_text())
    if any(word in path.stem for word in ("martiboost", "svm", "code")):
        with pytest.raises(ValueError, match="is no sum of trees"):
            standalone.load(path)
        return
    if path.stem in ("v2-labels", "v2-targets"):
        with pytest.raises(ValueError, match="several labels or targets is not for this file"):
            standalone.load(path)
        return
    model = standalone.load(path)
    for method in ("class_scores", "predict_proba"):
        np.testing.assert_allclose(getattr(model, method)(told["rows"]), told[method], rtol=1e-5, atol=1e-6)
    assert [str(label) for label in model.predict(told["rows"]).tolist()] == [str(label) for label in told["predict"]]


@pytest.mark.parametrize("embed", [True, False])
def test_the_file_predicts_where_nothing_but_numpy_is_installed(tmp_path, embed):
    found = case("text and holes")
    sb.export.python(found.clf, tmp_path / "model.py", embed=embed)
    assert (tmp_path / "model.sb").exists() != embed
    rows = found.X.astype(object).where(found.X.notna(), None).to_numpy().tolist()[:20]
    wanted = found.clf.predict(found.X[:20]).tolist()
    script = tmp_path / "use.py"
    script.write_text(
        "import sys\n"
        "class Only:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('simplexboost', 'sklearn', 'scipy', 'pandas'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Only())\n"
        "import model\n"
        f"assert model.predict({rows!r}).tolist() == {wanted!r}\n"
        f"assert model.predict_proba({rows!r}).shape == (20, 4)\n"
    )
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path)


def test_the_predictor_imports_numpy_alone():
    tree = ast.parse(Path(standalone.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names - set(sys.stdlib_module_names) == {"numpy"}


def test_times_of_every_kind():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01 12:00") + pd.to_timedelta(rng.integers(0, 900, 200), unit="h")
    X = pd.DataFrame(
        {
            "when": days.tz_localize("Europe/Berlin", ambiguous=True, nonexistent="shift_forward"),
            "day": pd.Series([day.date() for day in days], dtype=object),
            "clock": pd.Series([day.time() for day in days], dtype=object),
            "wait": pd.Series([pd.Timedelta(day.hour, unit="h").to_pytimedelta() for day in days], dtype=object),
            "code": pd.Categorical(np.where(rng.random(200) < 0.5, 2**60, 2**60 + 1)),
        }
    )
    X.loc[::9, ["when", "code"]] = None
    y = (X["when"] > "2020-01-15").astype(int) + 2 * (X["code"] == 2**60)
    clf = sb.GDMCBoostClassifier(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(model_of(clf).numbers(X), clf._check_X(X))


def test_wrong_input_is_refused(tmp_path):
    clf, model = case("flagship").clf, model_of(case("flagship").clf)
    with pytest.raises(ValueError, match="X has 3 columns; the model was fitted on 4"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="X has 1 dimensions; pass rows of columns"):
        model.predict(np.zeros(4))
    with pytest.raises(NotFittedError):
        sb.export.python(sb.GDMCBoostClassifier(), tmp_path / "model.py")
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        sb.export.python(clf, tmp_path / "no" / "model.py")
    assert not list(tmp_path.iterdir())


def test_links_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "target.py", tmp_path / "model.py"
    target.write_text("")
    target.chmod(0o640)
    link.symlink_to(target)
    sb.export.python(case("flagship").clf, link)
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640 and target.stat().st_size > 0


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model.sb"
    case("flagship").clf.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["values"] = b"\0" * len(members["values"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match="the checksum of 'values' does not match"):
        standalone.load(path)
    members["header.json"] = b'{"format": "simplexboost", "version": 99}'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", members["header.json"])
    with pytest.raises(ValueError, match="a newer version of the format"):
        standalone.load(path)


@pytest.mark.data
@pytest.mark.parametrize("name", ["letter", "aloi27"])
def test_real_sets(name):
    data = datasets.load(name)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(data.X_train, data.y_train)
    check_same(clf, model_of(clf), data.X_test[:2000])


# ---- damaged files --------------------------------------------------------------------------------------------------

OLD = Path(__file__).parent / "files" / "v2-adaboost.sb"


def changed_file(change):
    """A model file whose header and members went through a function."""
    with zipfile.ZipFile(OLD) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(header, members)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in (members | {"header.json": json.dumps(header).encode()}).items():
            archive.writestr(name, data)
    return stream


def lead_back(header, members):
    """The root of the first tree is its own child."""
    nodes = bytearray(members["nodes"])
    nodes[12:16] = bytes(4)
    members["nodes"] = bytes(nodes)
    header["arrays"]["nodes"]["sha256"] = hashlib.sha256(nodes).hexdigest()


def claim_more(header, members):
    header["arrays"]["values"]["shape"] = [10**12]


def lack_a_key(header, members):
    del header["loss"]


@pytest.mark.parametrize(
    ("change", "message"),
    [(lead_back, "a tree leads back"), (claim_more, "another size"), (lack_a_key, "KeyError")],
)
def test_damaged_files_are_value_errors(change, message):
    standalone.load(changed_file(lambda header, members: None))
    with pytest.raises(ValueError, match=message):
        standalone.load(changed_file(change))


@pytest.mark.parametrize("data", [b"", b"no model", OLD.read_bytes()[:2000]])
def test_what_is_no_archive_is_a_value_error(data):
    with pytest.raises(ValueError, match="damaged"):
        standalone.load(io.BytesIO(data))


def two_headers():
    """A model file with a second header."""
    stream = io.BytesIO(OLD.read_bytes())
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("header.json", b"{}")
    return stream.getvalue()


def large_member(name):
    """A small model file with a member of 64 MB, added to it or to its header."""
    with zipfile.ZipFile(OLD) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (members | {name: members.get(name, b"") + b" " * (64 << 20)}).items():
            archive.writestr(member, data)
    return stream.getvalue()


CLAIMS = [
    (lambda: large_member("header.json"), "declares larger contents"),
    (lambda: large_member("more"), "declares larger contents"),
]


@pytest.mark.filterwarnings("ignore:Duplicate name")  # which zipfile warns of when it writes
@pytest.mark.parametrize(("make", "message"), [(two_headers, "two members of the same name"), *CLAIMS])
def test_a_file_holds_no_more_than_it_may(make, message):
    data = make()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            standalone.load(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
