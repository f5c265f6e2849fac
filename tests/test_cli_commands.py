"""The commands on a messy table: what they print, write and say."""

import csv
import io
import json
import os
import random
import re
import threading
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli_runner import inside
from sklearn import datasets

import simplexboost
from simplexboost import decide
from simplexboost.cli.algorithms import CLASSIFIERS
from simplexboost.cli.app import COMMANDS, run


def messy_rows(n=300, seed=0):
    """Strings, dates, holes, numeric text, a single-row class, quotes and line breaks."""
    rng = random.Random(seed)
    typical = {"cat": 3, "dog": 9, "bird": -4}
    rows = []
    for i in range(n):
        kind = rng.choice(list(typical))
        age = f"{rng.gauss(typical[kind], 1):.2f}"
        if rng.random() < 0.1:
            age = rng.choice(["", "NA", "?", "null"])
        rows.append(
            {
                "id": f"x{i}",
                "age": "unknown" if i in (5, 50) else age,
                "city": rng.choice(["Köln", "Bonn", " Bonn ", "", "San José"]),
                "when": f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}" if rng.random() < 0.9 else "",
                "note": 'a "quoted", text\nof two lines' if rng.random() < 0.1 else "plain",
                "flag": rng.choice(["true", "False", ""]),
                "species": "unicorn" if i == 17 else kind,
            }
        )
    return rows


def as_csv(rows):
    """Rows as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """A messy CSV, as people have it."""
    path = tmp_path_factory.mktemp("a folder with spaces") / "messy data.csv"
    path.write_text(as_csv(messy_rows()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(messy):
    """A model of it."""
    path = messy.with_name("model.sb")
    done = inside("fit", messy, "--target", "species", "-o", path, "--set", "n_estimators=20", "--drop", "id")
    assert done.code == 0, done.err
    return path


def test_messy_csv_is_fitted_untouched(messy, tmp_path):
    done = inside("fit", messy, "--target", "species", "-o", tmp_path / "m.sb", "--set", "n_estimators=5")
    assert done.code == 0
    assert done.out == ""
    assert "300 rows, 6 columns (2 numeric, 1 of dates, 3 categorical)" in done.err
    assert "4 classes in column 'species'" in done.err
    assert "column 'age' holds numbers, but 2 of" in done.err
    assert "'unknown'; taken as missing" in done.err
    assert "column 'id' has 300 different texts" in done.err
    assert "class 'unicorn' has a single row" in done.err
    assert "round 5/5" in done.err
    assert "saved" in done.err
    assert "Traceback" not in done.err


def test_messy_csv_is_evaluated_untouched(messy, model):
    done = inside("evaluate", model, messy)
    assert done.code == 0
    assert "accuracy 0.9" in done.out
    assert "taken for" in done.out
    assert "unicorn" in done.out
    found = json.loads(inside("evaluate", model, messy, "--json", "-q").out)
    assert found["rows"] == 300
    assert found["accuracy"] > 0.9
    assert {entry["class"] for entry in found["classes"]} == {"cat", "dog", "bird", "unicorn"}
    assert sum(entry["rows"] for entry in found["classes"]) == 300


def test_predictions_have_the_labels_of_the_file_in_input_order(messy, model, tmp_path):
    done = inside("predict", model, messy, "-o", tmp_path / "out.csv", "--proba", "--keep", "id")
    assert done.code == 0
    assert "2 columns that the model does not use: 'id', 'species'" in done.err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [row["id"] for row in rows] == [f"x{i}" for i in range(300)]
    assert list(rows[0]) == ["id", "prediction", "proba_bird", "proba_cat", "proba_dog", "proba_unicorn"]
    right = np.mean([row["prediction"] == truth["species"] for row, truth in zip(rows, messy_rows(), strict=True)])
    assert right > 0.9
    sums = [sum(float(row[name]) for name in row if name.startswith("proba_")) for row in rows]
    np.testing.assert_allclose(sums, 1, atol=1e-6)


def test_predictions_equal_those_of_the_library(messy, model):
    """Whatever the command line does with the columns, the library does the same with the table it made of them."""
    from simplexboost.cli.kinds import as_frame
    from simplexboost.cli.readers import TableOptions
    from simplexboost.cli.terminal import Talk
    from simplexboost.cli.training import read_training

    classifier = simplexboost.load(model)
    training = read_training(str(messy), TableOptions(target="species", drop=("id",)), Talk(quiet=True))
    P = classifier.predict_proba(as_frame(training.X, classifier))
    rows = list(csv.DictReader(io.StringIO(inside("predict", model, messy, "--proba").out)))
    ours = [[float(row[f"proba_{label}"]) for label in classifier.classes_] for row in rows]
    np.testing.assert_allclose(ours, P, rtol=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_models_of_data_frames_predict_the_same_from_files(tmp_path, suffix):
    """Categories that are numbers, dates, durations, truth values; the labels are truth values."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pandas.DataFrame(
        {
            "a": rng.normal(size=n),
            "kind": pandas.Categorical(rng.integers(0, 4, n)),
            "when": pandas.date_range("2024-01-01", periods=n),
            "wait": pandas.to_timedelta(rng.integers(0, 99, n), unit="h"),
            "flag": rng.random(n) > 0.5,
        }
    )
    y = frame["a"].to_numpy() > 0
    classifier = simplexboost.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(frame, y)
    classifier.save(tmp_path / "m.sb")
    table, path = frame.assign(y=y), tmp_path / f"d.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{suffix}")(path)
    done = inside("predict", tmp_path / "m.sb", path, "--proba", "-q")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    ours = [[float(row["proba_False"]), float(row["proba_True"])] for row in rows]
    np.testing.assert_array_equal(ours, classifier.predict_proba(frame))
    assert "accuracy 1.0000" in inside("evaluate", tmp_path / "m.sb", path).out


def test_models_without_names_take_columns_by_position(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    simplexboost.GDMCBoostClassifier(n_estimators=5).fit(X, (X[:, 0] > 0) + 1.0).save(tmp_path / "m.sb")
    pandas.DataFrame(np.c_[X, (X[:, 0] > 0) + 1]).to_csv(tmp_path / "d.csv", index=False)
    done = inside("evaluate", tmp_path / "m.sb", tmp_path / "d.csv")
    assert done.code == 0, done.err
    assert "accuracy 1.0000" in done.out
    assert done.err == ""
    done = inside("predict", tmp_path / "m.sb", tmp_path / "d.csv")
    assert done.code == 1
    assert "has 4 columns; the model was fitted on 3 columns without names" in done.err
    assert inside("predict", tmp_path / "m.sb", tmp_path / "d.csv", "--target", "-1", "-q").code == 0


def test_top_classes(messy, model):
    done = inside("predict", model, messy, "--top", "2", "-q")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0]) == ["prediction", "class_1", "proba_1", "class_2", "proba_2"]
    assert all(row["prediction"] == row["class_1"] != row["class_2"] for row in rows)
    assert all(float(row["proba_1"]) >= float(row["proba_2"]) for row in rows)


def test_sets_and_rows_without_an_answer(messy, model, tmp_path):
    done = inside("predict", model, messy, "--coverage", "0.95")
    assert done.code == 1 and "--coverage: predict_sets needs labelled rows" in done.err
    model = tmp_path / "sets.sb"
    options = ["--target", "species", "--set", "n_estimators=20", "--set", "calibration=true"]
    assert inside("fit", messy, "-o", model, *options).code == 0
    done = inside("predict", model, messy, "--coverage", "0.95", "--abstain", "0.8", "--proba", "-q")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0])[:2] == ["prediction", "set"]
    clf = simplexboost.load(model)
    labels = clf.classes_.tolist()
    P = np.array([[float(row[f"proba_{label}"]) for label in labels] for row in rows])
    thresholds = decide.set_thresholds(clf, 0.95)
    for row, p in zip(rows, P, strict=True):
        assert row["prediction"] == (labels[p.argmax()] if p.max() >= 0.8 else "")
        inside_set = [labels[k] for k in np.argsort(-p) if p[p > p[k]].sum() <= thresholds[k]]
        assert row["set"].split(";") == inside_set
    assert {len(row["set"].split(";")) for row in rows} > {1}


def test_columns_are_matched_by_name(model, tmp_path):
    rows = [{name: row[name] for name in reversed(row)} for row in messy_rows(20, seed=1)]
    shuffled, plain = tmp_path / "b.csv", tmp_path / "a.csv"
    shuffled.write_text(as_csv([{"extra": "1", **row} for row in rows]))
    plain.write_text(as_csv(messy_rows(20, seed=1)))
    first, second = inside("predict", model, plain), inside("predict", model, shuffled)
    assert first.out == second.out
    assert "3 columns that the model does not use" in second.err


def test_model_learned_text_where_later_files_have_only_numbers(tmp_path):
    """The kinds of columns are those of the training file, whatever a later file looks like."""
    lines = [f"{'abc'[i % 3]}{i % 2},{i % 3}" for i in range(60)]
    (tmp_path / "train.csv").write_text("code,y\n" + "\n".join(lines))
    assert inside("fit", tmp_path / "train.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=5", "-q").code == 0
    (tmp_path / "new.csv").write_text("code\n1\n2\n")
    done = inside("predict", tmp_path / "m.sb", tmp_path / "new.csv")
    assert done.code == 0, done.err
    assert len(done.out.split()) == 3


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "csv.gz", "csv.xz", "tsv.bz2", "csv.zst"])
def test_output_formats(messy, model, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    assert inside("predict", model, messy, "-o", path, "--keep", "note,id", "-q").code == 0
    again = inside("predict", model, messy, "--keep", "note,id", "-q")
    read = {"parquet": pa.parquet.read_table, "feather": pa.feather.read_table}.get(suffix, read_text)
    table = read(path)
    assert table.column_names == ["note", "id", "prediction"]
    expected = list(csv.DictReader(io.StringIO(again.out)))
    assert table["prediction"].to_pylist() == [row["prediction"] for row in expected]
    assert table["note"].to_pylist() == [row["note"] for row in expected]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def read_text(path):
    """A text table that our own reader opens."""
    from simplexboost.cli.readers import TableOptions, find_source, open_table

    with open_table(find_source(str(path), TableOptions())) as table:
        return pa.Table.from_batches(list(table.blocks))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_predictions_go_down_a_pipe(messy, model, tmp_path):
    pipe, received = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    done = inside("predict", model, messy, "-o", pipe)
    reader.join(30)
    assert done.code == 0 and pipe.is_fifo() and len(received[0].splitlines()) == 301


def test_holdout_and_eval(messy, tmp_path):
    model = tmp_path / "m.sb"
    common = ("--target", "species", "-o", model, "--set", "n_estimators=5", "--drop", "id")
    assert "rows held out: accuracy 0." in inside("fit", messy, *common, "--holdout", "0.2").err
    done = inside("fit", messy, *common, "--eval", messy)
    assert "messy data.csv: accuracy 0.9" in done.err
    assert inside("fit", messy, *common, "--eval", messy, "--holdout", "0.2").code == 2


def test_inspect(model):
    done = inside("inspect", model)
    assert done.code == 0
    assert "SimplexBoostClassifier, 20 rounds" in done.out
    assert "n_estimators=20" in done.out
    found = json.loads(inside("inspect", model, "--json").out)
    assert found["classes"] == ["bird", "cat", "dog", "unicorn"]
    assert {column["name"] for column in found["columns"]} == {"age", "city", "when", "note", "flag"}
    assert next(column for column in found["columns"] if column["name"] == "city")["kind"] == "categories"
    assert next(column for column in found["columns"] if column["name"] == "when")["kind"] == "date"
    assert found["rounds"] == 20


def test_inspect_shows_what_was_chosen(tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 2))
    np.savez(tmp_path / "d.npz", X=X, y=(X[:, 0] > 0).astype(int))
    assert inside("fit", tmp_path / "d.npz", "-o", tmp_path / "m.sb", "-q").code == 0
    assert "held-out risk of" in inside("inspect", tmp_path / "m.sb").out


def test_list_has_every_public_classifier():
    done = inside("list")
    assert done.code == 0
    public = [name for name in simplexboost.__all__ if name.endswith(("Classifier", "SVC"))]
    assert sorted(kind.__name__ for kind in CLASSIFIERS.values()) == sorted(public)
    assert all(short in done.out for short in CLASSIFIERS)


@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_every_classifier_is_fitted_by_its_name(name, tmp_path):
    """By its short name, on numbers of two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    np.savez(tmp_path / "d.npz", X=X, y=np.where(X[:, 0] > 0, "yes", "no"))
    model = tmp_path / "m.sb"
    settings = ("--set", "estimator=null") if name == "OutputCode" else ()
    done = inside("fit", tmp_path / "d.npz", "-o", model, "--algorithm", name, *settings)
    assert done.code == 0, done.err
    done = inside("evaluate", model, tmp_path / "d.npz")
    assert done.code == 0, done.err
    assert "accuracy" in done.out


def test_compare(messy):
    done = inside(
        "compare", messy, "--target", "species", "--drop", "id", "--folds", "2", "--rows", "120",
        "--algorithms", "SimplexBoost,hgb", "--jobs", "1", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {entry["algorithm"] for entry in found} == {"SimplexBoost", "HGB"}
    assert found[0]["log_loss"] <= found[1]["log_loss"]
    assert all(entry["accuracy"] > 0.5 for entry in found)


def test_compare_goes_on_when_an_algorithm_fails(tmp_path):
    """MartiBoost is for two classes."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", X=rng.normal(size=(60, 2)), y=np.arange(60) % 3)
    done = inside("compare", tmp_path / "d.npz", "--algorithms", "MartiBoost,SAMME", "--folds", "2")
    assert done.code == 0
    assert "MartiBoost failed" in done.err
    assert "SAMME" in done.out.splitlines()[3]


def test_settings_reach_the_classifier(messy, tmp_path):
    model = tmp_path / "m.sb"
    done = inside(
        "fit", messy, "--target", "species", "-o", model, "--drop", "id", "--algorithm", "gdmcboost",
        "--set", "loss=logistic", "--set", "learner.max_depth=3", "--set", "n_estimators=4", "--seed", "7", "-q",
    )  # fmt: skip
    assert done.code == 0, done.err
    classifier = simplexboost.load(model)
    assert classifier.loss == "logistic"
    assert classifier.learner.max_depth == 3
    assert classifier.n_iter_ == 4
    assert classifier.random_state == 7
    assert classifier.verbose == 0
    assert done.err == ""


def test_a_setting_wins_over_the_default_seed(messy, tmp_path):
    model = tmp_path / "m.sb"
    how = ("--algorithm", "samme", "--set", "n_estimators=2", "--set", "random_state=7", "-q")
    done = inside("fit", messy, "--target", "species", "-o", model, "--drop", "id", *how)
    assert done.code == 0, done.err
    assert simplexboost.load(model).random_state == 7


def test_weights(tmp_path):
    """Rows of weight zero do not count."""
    lines = [f"{i % 2},1,{'ab'[i % 2]}" for i in range(40)] + [f"{i % 2},0,{'ba'[i % 2]}" for i in range(400)]
    (tmp_path / "d.csv").write_text("x,w,y\n" + "\n".join(lines))
    done = inside("fit", tmp_path / "d.csv", "-o", tmp_path / "m.sb", "--weight", "w", "--set", "n_estimators=20", "-q")
    assert done.code == 0, done.err
    (tmp_path / "new.csv").write_text("x\n0\n1\n")
    assert inside("predict", tmp_path / "m.sb", tmp_path / "new.csv", "-q").out.split() == ["prediction", "a", "b"]


def test_demo(monkeypatch):
    few = partial(datasets.load_digits, n_class=2)
    monkeypatch.setattr("simplexboost.cli.fit_commands.load_digits", few)
    done = inside("demo", "-q")
    assert done.code == 0
    assert "SimplexBoost, defaults" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name):
    done = inside(name, "--help")
    assert done.code == 0
    assert f"simplexboost {name}" in done.out
    assert "Example" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    done = inside("completion", shell)
    assert done.code == 0
    assert "_SIMPLEXBOOST_COMPLETE" in done.out


def test_completion_completes(monkeypatch, capsys):
    monkeypatch.setenv("_SIMPLEXBOOST_COMPLETE", "bash_complete")
    for words, expected in (("ev", "plain,evaluate"), ("fit --algorithm GDM", "plain,GDMCBoost")):
        monkeypatch.setenv("COMP_WORDS", f"simplexboost {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        with pytest.raises(SystemExit):
            run([])
        assert capsys.readouterr().out == f"{expected}\n"


def test_the_program_is_installed():
    (program,) = entry_points(group="console_scripts", name="simplexboost")
    assert program.value == "simplexboost.__main__:main"


def test_a_column_that_counts_rows_is_reported(tmp_path):
    """As data frames write them: an index without a name."""
    (tmp_path / "d.csv").write_text(",x,y\n" + "\n".join(f"{i},{i % 5},{'ab'[i % 2]}" for i in range(40)))
    done = inside("fit", tmp_path / "d.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=2")
    assert "column 'c1' just counts the rows" in done.err


def test_the_session_of_the_docs_runs(tmp_path, monkeypatch):
    """The commands run, and what they print is what the page shows, seconds and lines of progress aside."""
    root = Path(__file__).parents[1]
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8").split("```")[1]
    (tmp_path / "pets.csv").write_bytes((root / "examples" / "pets.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    for part in page.split("$ ")[1:]:
        line, *shown = part.strip().splitlines()
        program, *arguments = line.partition(" | ")[0].split()
        if program != "simplexboost":
            continue
        done = inside(*arguments, *(["--jobs", "1"] if arguments[0] == "compare" else []))
        assert done.code == 0, done.err
        printed = [without_seconds(text) for text in (done.err + done.out).splitlines()]
        missing = [text for text in shown if text != "…" and without_seconds(text) not in printed]
        assert missing == [], done.err + done.out


def without_seconds(line):
    """A line without the times in it."""
    line = re.sub(r" *[0-9.]+ s\b.*", "", line)
    return re.sub(r"(± [0-9.]+) .*", r"\1", line).strip()


# ---- formulas -------------------------------------------------------------------------------------------------------

FORMULAS = ['=HYPERLINK("http://x","y")', "+1 more", "- none", "@SUM(1)", "-1", "+2.5e3", "plain"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_text_may_be_kept_from_being_a_formula(suffix, tmp_path):
    """Numbers stay; by default everything stays, so that labels are those of the table."""
    notes = [*FORMULAS, " =2*3", "\t=tab"]
    rows = [{"=x": i % 7, "@note": notes[i % 9], "y": FORMULAS[i % 7]} for i in range(90)]
    pandas.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=20", "--drop", "@note", "-q"]
    assert inside(*fit).code == 0
    out, told = tmp_path / f"out.{suffix}", {}
    for more in ([], ["--escape-formulas"]):
        wanted = ["--keep", "@note", "--proba", "-q", *more]
        assert inside("predict", tmp_path / "m.sb", tmp_path / "t.csv", "-o", out, *wanted).code == 0
        told[bool(more)] = pandas.read_csv(out, sep="\t" if suffix == "tsv" else ",", dtype=str)
    assert set(told[False]["prediction"]) == set(FORMULAS)
    assert told[False].columns[0] == "@note" and set(told[False]["@note"]) == set(notes)
    safe = told[True]
    escaped = {label if label in ("-1", "+2.5e3", "plain") else f"'{label}" for label in notes}
    assert safe.columns[0] == "'@note" and "proba_-1" in safe.columns
    assert set(safe["'@note"]) == escaped
    assert set(safe["prediction"]) == escaped - {"' =2*3", "'\t=tab"}


def test_formulas_are_no_danger_in_typed_files(tmp_path):
    done = inside("predict", "m.sb", "t.csv", "-o", tmp_path / "out.parquet", "--escape-formulas")
    assert done.code == 2 and "--escape-formulas is for CSV and TSV" in done.err


def test_a_column_without_a_known_category_is_told(tmp_path):
    """Towns in other letters, and numbers where towns were; few rows may well be of a new town."""
    towns = ["Bonn", "Cork", "Ulm"] * 20
    lines = [f"{town},{i},{'south' if town == 'Ulm' else 'north'}" for i, town in enumerate(towns)]
    (tmp_path / "train.csv").write_text("\n".join(["town,z,area", *lines]))
    assert inside("fit", tmp_path / "train.csv", "-o", tmp_path / "m.sb", "--set", "n_estimators=3").code == 0

    def told(town, n=60):
        rows = [f"{town(name)},{i}" for i, name in enumerate(towns[:n])]
        (tmp_path / "new.csv").write_text("\n".join(["town,z", *rows]))
        done = inside("predict", tmp_path / "m.sb", tmp_path / "new.csv")
        assert done.code == 0 and done.out.count("\n") == n + 1
        return done.err

    expected = "column 'town' has no value that is known from fit, in 60 rows: such as {}, where the categories"
    assert told(str.upper).count(expected.format("'BONN'")) == 1
    assert told(lambda town: len(town)).count(expected.format("'3'")) == 1
    assert "known from fit" not in told(str) + told(str.upper, 9)
