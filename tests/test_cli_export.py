"""``simplexboost export``: every format from the command line."""

import runpy
import subprocess

import numpy as np
import onnxruntime
import pytest
import treelite
from cli_runner import inside
from export_cases import case, with_costs

import simplexboost as sb


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file."""
    path = tmp_path_factory.mktemp("models") / "m.sb"
    case("flagship").clf.save(path)
    return path


@pytest.mark.parametrize(
    ("to", "name", "beside"),
    [
        ("onnx", "m.onnx", []),
        ("treelite", "m.treelite", []),
        ("c", "m.c", ["m.h"]),
        ("python", "m.py", []),
        ("js", "m.js", ["m.sb"]),
    ],
)
def test_every_format_is_written(model, tmp_path, to, name, beside):
    done = inside("export", model, "--to", to, "-o", tmp_path / name)
    assert done.code == 0, done.err
    assert done.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, *beside])
    assert [line.split(":")[0] for line in done.err.splitlines()] == [f"saved {tmp_path / n}" for n in [name, *beside]]
    again = inside("export", model, "-o", tmp_path / name, "-q")  # the extension tells the format
    assert (again.code, again.err) == (0, "")


def test_what_is_written_predicts(model, tmp_path):
    found = case("flagship")
    for name in ("m.onnx", "m.treelite", "m.py"):
        assert inside("export", model, "-o", tmp_path / name).code == 0
    P = found.clf.predict_proba(found.X)
    by_onnx = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["probabilities"], {"X": found.X})[0]
    by_treelite = treelite.gtil.predict(treelite.Model.deserialize(str(tmp_path / "m.treelite")), found.X)[:, 0]
    by_python = runpy.run_path(str(tmp_path / "m.py"))["predict_proba"](found.X)
    for told in (by_onnx, by_treelite, by_python):
        np.testing.assert_allclose(told, P, rtol=0, atol=1e-5)


def test_single_precision(model, tmp_path):
    assert inside("export", model, "-o", tmp_path / "m.onnx", "--float32").code == 0
    assert onnxruntime.InferenceSession(tmp_path / "m.onnx").get_inputs()[0].type == "tensor(float)"


def test_what_a_format_cannot_hold_is_one_sentence(tmp_path):
    with_costs("logistic").clf.save(tmp_path / "costs.sb")
    sb.MartiBoostClassifier(n_layers=3).fit([[0.0], [1.0]] * 20, [0, 1] * 20).save(tmp_path / "marti.sb")
    done = inside("export", tmp_path / "costs.sb", "-o", tmp_path / "m.onnx")
    assert done.code == 1
    assert done.err == (
        f"simplexboost: {tmp_path / 'costs.sb'}: ONNX cannot hold probabilities under a cost_matrix, which solve a "
        "linear system for every row; --no-proba exports labels and scores.\n"
    )
    assert inside("export", tmp_path / "costs.sb", "-o", tmp_path / "m.onnx", "--no-proba").code == 0
    done = inside("export", tmp_path / "marti.sb", "-o", tmp_path / "m.c")
    assert done.code == 1
    assert "MartiBoostClassifier cannot be exported" in done.err
    assert not (tmp_path / "m.c").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-o", "m.txt"], 2, "-o m.txt does not tell the format; pass --to, or one of the extensions .onnx (onnx)"),
        (["-o", "-"], 2, "an exported model is a file"),
        (["-o", "m.py", "--float32"], 2, "--float32 is for onnx, treelite; leave it out with --to python"),
        (["-o", "m.js", "--no-proba"], 2, "--no-proba is for onnx, treelite, c; leave it out with --to js"),
        (["-o", "nowhere/m.onnx"], 1, "there is no folder"),
        (["-o", "m.onnx", "--to", "pmml"], 2, "'pmml' is not one of"),
        ([], 2, "Missing option"),
    ],
)
def test_wrong_arguments(model, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    done = inside("export", model, *arguments)
    assert done.code == code
    assert words in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", ["onnx", "python", "js", "c", "treelite"])
def test_a_model_is_not_overwritten_by_its_export(to, tmp_path):
    path = tmp_path / "model.sb"
    case("flagship").clf.save(path)
    before = path.read_bytes()
    done = inside("export", path, "--to", to, "-o", path)
    assert done.code == 2 and "is the model itself, which would be lost" in done.err
    assert path.read_bytes() == before


@pytest.mark.parametrize(("name", "beside"), [("m.js", "m.sb"), ("m.c", "m.h")])
def test_a_model_is_not_overwritten_by_what_is_written_beside_its_export(name, beside, tmp_path):
    path = tmp_path / beside
    case("flagship").clf.save(path)
    before = path.read_bytes()
    done = inside("export", path, "-o", tmp_path / name)
    assert done.code == 2 and f"also writes {path}, which is the model itself and would be lost" in done.err
    assert path.read_bytes() == before and not (tmp_path / name).exists()


def test_wrong_models(tmp_path):
    (tmp_path / "text.sb").write_text("no model")
    done = inside("export", tmp_path / "text.sb", "-o", tmp_path / "m.onnx")
    assert (done.code, "is not a simplexboost model file" in done.err) == (1, True)


@pytest.mark.cc
def test_c_compiles(model, tmp_path):
    assert inside("export", model, "-o", tmp_path / "m.c").code == 0
    subprocess.run(["cc", "-std=c99", "-c", "m.c", "-o", "m.o"], cwd=tmp_path, check=True)
