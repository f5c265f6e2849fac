"""JavaScript: what the module predicts in Node and in a browser is what the classifier predicts."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browser import shown
from export_cases import CASES, COSTLY, case, dated, flagship, mixed, numbers, with_costs
from sklearn.exceptions import NotFittedError
from test_export_python import large_member, two_headers

import simplexboost as sb
from simplexboost import datasets
from simplexboost.export.scripts import SLOT, SOURCE

USE = """
import { readFileSync } from "node:fs";
import { load } from "./model.js";
const model = await load();
const out = [];
for (const row of JSON.parse(readFileSync("rows.json"))) {
  try { out.push([model.predict(row), [...model.probabilities(row)], [...model.scores(row)]]); }
  catch (error) { out.push(error.message); }
}
const plain = (_, v) => typeof v === "bigint" ? v.toString() : v;
console.log(JSON.stringify({ classes: model.classes, columns: model.columns, out }, plain));
"""


PAGE = """<!DOCTYPE html><meta charset="utf-8"><pre id="out"></pre>
<script type="module">
import { load } from "./model.js";
try {
  const model = await load();
  const rows = await (await fetch("rows.json")).json();
  const out = rows.map((row) => [model.predict(row), [...model.probabilities(row)], [...model.scores(row)]]);
  document.getElementById("out").textContent = JSON.stringify({ out });
} catch (error) { document.getElementById("out").textContent = String(error); }
</script>"""


def as_json(X, by_name=False):
    """Rows as JSON has them, None where missing."""
    frame = pd.DataFrame(X).astype(object)
    frame = frame.where(frame.notna(), None)
    return frame.to_dict("records") if by_name else frame.to_numpy().tolist()


def node(folder, clf, rows, **environment):
    """What the exported module says of rows."""
    sb.export.javascript(clf, folder / "model.js")
    (folder / "use.mjs").write_text(USE)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "rows.json").write_text(json.dumps(rows, default=float))
    variables = {**os.environ, **environment}
    done = subprocess.run(["node", "use.mjs"], cwd=folder, capture_output=True, text=True, check=False, env=variables)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def check_same(clf, X, told):
    """Scores, probabilities and labels are those of the classifier."""
    labels, P, U = zip(*told["out"], strict=True)
    scores, wanted = clf.class_scores(X), clf.predict(X)
    np.testing.assert_allclose(U, scores, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(P, clf.predict_proba(X), rtol=0, atol=1e-6)
    clear = slice(None) if wanted.ndim == 2 else np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1) > 1e-6
    assert (np.array(labels)[clear] == wanted[clear]).all()


@pytest.mark.node
@pytest.mark.parametrize("name", [*CASES, "merged classes"])
def test_predictions_are_those_of_the_classifier(name, tmp_path):
    found = case(name)
    X = found.X[:150]
    check_same(found.clf, X, node(tmp_path, found.clf, as_json(X)))


@pytest.mark.node
@pytest.mark.parametrize("name", COSTLY)
def test_probabilities_under_costs(name, tmp_path):
    found = with_costs(name)
    check_same(found.clf, found.X[:60], node(tmp_path, found.clf, as_json(found.X[:60])))


@pytest.mark.node
def test_rows_may_be_objects(tmp_path):
    found = case("text and holes")
    told = node(tmp_path, found.clf, as_json(found.X, by_name=True))
    check_same(found.clf, found.X, told)
    assert told["columns"] == list(found.X.columns)


@pytest.mark.node
def test_unknown_categories(tmp_path):
    for name in ("text and holes", "more text than numbers"):
        clf = case(name).clf
        frame, _ = mixed(60, seed=5, many=name != "text and holes")
        frame.loc[::3, "town"] = "nowhere"
        check_same(clf, frame, node(tmp_path, clf, as_json(frame)))


@pytest.mark.node
def test_wrong_rows_are_refused(tmp_path):
    plain, named = case("flagship"), case("text and holes")
    told = node(tmp_path, plain.clf, [[1.0, 2.0], {"size": 1.0}, [1.0, "two", 3.0, 4.0]])["out"]
    assert told[0] == "the row has 2 values; the model has 4 columns."
    assert told[1] == "the columns have no names: pass an array."
    assert told[2] == "column 1 holds text, 'two'; it held numbers in fit."
    assert node(tmp_path, named.clf, [{"size": 1.0}])["out"] == ["the row has no column 'town'."]


@pytest.mark.node
def test_labels(tmp_path):
    X, c = numbers()
    clf = sb.GDMCBoostClassifier(n_estimators=5).fit(X, np.array([3, -1, 2**60, 7])[c])
    assert node(tmp_path, clf, [])["classes"] == [-1, 3, 7, str(2**60)]


@pytest.mark.node
def test_dates_are_days(tmp_path):
    frame, y = mixed()
    frame = frame[["size"]].assign(
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(frame)) % 50, unit="D")
    )
    found = flagship(frame, y)
    days = frame.assign(day=(frame["day"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    check_same(found.clf, frame, node(tmp_path, found.clf, as_json(days)))


@pytest.mark.node
def test_dates_are_iso_text(tmp_path):
    """In UTC where they have no zone, as in the fit; whatever the zone of the machine."""
    clf, rows, wanted = dated()
    told = node(tmp_path, clf, rows, TZ="Pacific/Auckland")["out"]
    np.testing.assert_allclose([P for _, P, _ in told], wanted, rtol=0, atol=1e-6)
    for text in ("soon", "2024-02-31", "2024-1-1", "5/31/2024", "2024-05-31T25:00", ""):
        said = node(tmp_path, clf, [[text, 0.0, None]])["out"]
        assert said == [
            f"column day holds text, '{text}'; it held dates in fit: pass a Date, days since 1970 or text such as "
            '"2024-05-31T12:00:00".'
        ]
    said = node(tmp_path, clf, [[None, "1 day", None], [None, None, "12:00"]])["out"]
    assert said[0] == "column wait holds text, '1 day'; it held durations in fit: pass days."
    assert said[1] == "column at holds text, '12:00'; it held times of day in fit: pass parts of a day."


@pytest.mark.node
def test_dates_are_date_objects(tmp_path):
    clf, _, wanted = dated()
    sb.export.javascript(clf, tmp_path / "model.js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "use.mjs").write_text(
        'import { load } from "./model.js"; const model = await load();'
        "console.log(JSON.stringify([...model.probabilities([new Date(Date.UTC(2024, 0, 20, 12)), null, null])]));"
    )
    done = subprocess.run(["node", "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(json.loads(done.stdout), wanted[1], rtol=0, atol=1e-6)


@pytest.mark.node
def test_categories_of_another_form_are_refused(tmp_path):
    found = case("text and holes")
    row = as_json(found.X[:1], by_name=True)[0]
    said = node(tmp_path, found.clf, [row | {"town": 5}, row | {"grade": "7"}])["out"]
    assert said[0] == "column town holds 5; it held text as categories in fit."
    assert said[1] == "column grade holds text, '7'; it held numbers as categories in fit."


def with_lie(data):
    """The file, whose header says that it has a hundred bytes."""
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"header.json"))
    return data[: at + 24] + (100).to_bytes(4, "little") + data[at + 28 :]


@pytest.mark.node
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_damaged_files_are_refused(tmp_path):
    clf = case("flagship").clf
    sb.export.javascript(clf, tmp_path / "model.js")
    data = bytearray((tmp_path / "model.sb").read_bytes())
    script = 'import { load } from "./model.js"; try { await load(); } catch (error) { console.log(error.message); }'
    (tmp_path / "use.mjs").write_text(script)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run = lambda: subprocess.run(["node", "use.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout  # noqa: E731
    (tmp_path / "model.sb").write_bytes(data[:-30])
    assert run() == "The model file is damaged: it is not a zip archive.\n"
    header = data.find(b"header.json")
    (tmp_path / "model.sb").write_bytes(data[:header] + data[header + 11 :])
    assert run()
    for make, message in [
        (two_headers, "two members of the same name"),
        (lambda: large_member("header.json"), "declares larger contents"),
        (lambda: large_member("more"), "declares larger contents"),
        (lambda: with_lie(large_member("header.json")), "larger than it says"),
    ]:
        (tmp_path / "model.sb").write_bytes(make())
        assert message in run()


@pytest.mark.browser
@pytest.mark.parametrize("name", ["many classes", "text and holes"])
def test_a_browser_predicts_the_same(name, tmp_path):
    one = case(name)
    sb.export.javascript(one.clf, tmp_path / "model.js")
    (tmp_path / "rows.json").write_text(json.dumps(as_json(one.X), default=float))
    (tmp_path / "index.html").write_text(PAGE)
    text = re.search(r'<pre id="out">(.*?)</pre>', shown(tmp_path, "index.html"), re.DOTALL)[1]
    assert text.startswith("{"), text
    check_same(one.clf, one.X, json.loads(html.unescape(text)))


def test_the_module_is_a_few_kilobytes_and_knows_where_the_model_is():
    assert SOURCE.read_text().count(SLOT) == 1
    assert len(SOURCE.read_bytes()) < 18_500


def test_what_cannot_be_exported_is_refused(tmp_path):
    X, c = numbers(K=2)
    with pytest.raises(NotFittedError):
        sb.export.javascript(sb.GDMCBoostClassifier(), tmp_path / "model.js")
    with pytest.raises(ValueError, match=r"must end in \.js or \.mjs"):  # the ending of the model file beside it
        sb.export.javascript(case("flagship").clf, tmp_path / "model.sb")
    with pytest.raises(TypeError, match="MartiBoostClassifier cannot be exported"):
        sb.export.javascript(sb.MartiBoostClassifier(n_layers=3).fit(X, c), tmp_path / "model.js")
    assert not list(Path(tmp_path).iterdir())


def test_both_files_are_written_or_none(tmp_path):
    (tmp_path / "model.js").mkdir()
    with pytest.raises(OSError, match="is a directory"):
        sb.export.javascript(case("flagship").clf, tmp_path / "model.js")
    (tmp_path / "other.sb").mkdir()
    with pytest.raises(OSError, match="is a directory"):
        sb.export.javascript(case("flagship").clf, tmp_path / "other.js")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.js", "other.sb"]


@pytest.mark.node
def test_inherited_names_are_no_columns(tmp_path):
    X = pd.DataFrame({"toString": [0.0, 1.0] * 20, "b": [1.0, 2.0] * 20})
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, [0, 1] * 20)
    told = node(tmp_path, clf, [{"b": 1.0}, {"toString": 0.0, "b": 1.0}])
    assert told["out"][0] == "the row has no column 'toString'." and told["out"][1][0] == 0


@pytest.mark.data
@pytest.mark.node
@pytest.mark.parametrize("name", ["letter", "aloi27"])
def test_real_sets(name, tmp_path):
    data = datasets.load(name)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(data.X_train, data.y_train)
    X = data.X_test[:200]
    check_same(clf, X, node(tmp_path, clf, as_json(X)))
