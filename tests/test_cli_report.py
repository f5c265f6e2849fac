"""``simplexboost report``."""

import json

import numpy as np
import pytest
from cli_runner import inside
from report_cases import case
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

import simplexboost as sb


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and its rows as a CSV with an id, one row without a label and one with an unknown one."""
    folder, found = tmp_path_factory.mktemp("report"), case(3)
    found.clf.save(folder / "m.sb")
    table = found.X.assign(id=[f"r{i}" for i in range(60)], kind=found.y)
    table.loc[5, "kind"] = None
    table.loc[9, "kind"] = "class 77"
    table.to_csv(folder / "d.csv", index=False)
    return folder


def contents(path):
    """The numbers of a page."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_report(folder, tmp_path):
    done = inside("report", folder / "m.sb", folder / "d.csv", "-o", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert done.out == ""
    assert "labels that the model does not know are left out: 'class 77'." in done.err
    assert "2 rows of 60 left out" in done.err
    assert done.err.splitlines()[-1].startswith(f"saved {tmp_path / 'r.html'}: 58 rows, ")
    told = contents(tmp_path / "r.html")
    assert told["title"] == "m.sb on d.csv"
    assert told["rows"] == 58
    card = {name: value for group in told["card"]["groups"] for name, value in group["entries"]}
    assert card["Table"] == "d.csv"
    assert card["Size of the file"] == f"{(folder / 'm.sb').stat().st_size / 1000:.1f} kB"
    assert card["Time of the fit"] == "not recorded in the model"
    # Rows are numbered from 1, and those left out are counted.
    found = case(3)
    wrong = np.flatnonzero(found.clf.predict(found.X) != found.y)
    wrong = wrong[~np.isin(wrong, [5, 9])]
    assert told["firstRow"] == 1
    assert sorted(entry["row"] for entry in told["doubts"]["rows"]) == sorted((wrong + 1).tolist())


def test_names_of_rows_and_title(folder, tmp_path):
    arguments = ["--id", "id", "--title", "Blobs <3", "--target", "kind", "-q"]
    done = inside("report", folder / "m.sb", folder / "d.csv", "-o", tmp_path / "r.html", *arguments)
    assert (done.code, done.err) == (0, "")
    told = contents(tmp_path / "r.html")
    assert told["title"] == "Blobs <3"
    assert all(entry["row"].startswith("r") for entry in told["doubts"]["rows"])


def test_folds(folder, tmp_path):
    done = inside("report", folder / "m.sb", folder / "d.csv", "-o", tmp_path / "r.html", "--folds", "3")
    assert done.code == 0, done.err
    assert contents(tmp_path / "r.html")["doubts"]["how"] == "folds"


def test_sparse_and_plain_matrices(tmp_path):
    X, c = np.random.default_rng(0).integers(0, 3, size=(80, 5)).astype(float), np.arange(80) % 3
    sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(csr_matrix(X), c).save(tmp_path / "m.sb")
    dump_svmlight_file(X, c, str(tmp_path / "d.libsvm"), zero_based=False)
    np.savez(tmp_path / "d.npz", X=X, y=c)
    reports = []
    for name in ("d.libsvm", "d.npz"):
        done = inside("report", tmp_path / "m.sb", tmp_path / name, "-o", tmp_path / "r.html")
        assert done.code == 0, done.err
        reports.append(contents(tmp_path / "r.html"))
    assert reports[0]["confusion"] == reports[1]["confusion"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-o", "-"], 2, "a report is a file"),
        (["-o", "no/r.html"], 1, "there is no folder"),
        (["--folds", "1"], 2, "--folds"),
        (["--id", "nothing"], 1, "--id 'nothing': there is no such column"),
    ],
)
def test_wrong_arguments(folder, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    done = inside("report", folder / "m.sb", folder / "d.csv", *arguments)
    assert done.code == code, done.err
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_no_labels_at_all(folder, tmp_path):
    lines = (folder / "d.csv").read_text().splitlines()
    (tmp_path / "d.csv").write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + "," for line in lines[1:])]))
    done = inside("report", folder / "m.sb", tmp_path / "d.csv", "--target", "kind", "-o", tmp_path / "r.html")
    assert done.code == 1
    assert "no row has a label that the model knows" in done.err
