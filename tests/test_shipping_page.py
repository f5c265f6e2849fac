"""The parts of docs/shipping.md that are no doctests: C, and mlflow where that is installed."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

import simplexboost as sb

PAGE = (Path(__file__).parents[1] / "docs" / "shipping.md").read_text()


def blocks(after, language="python"):
    """The code of a section, without doctests."""
    section = PAGE[PAGE.index(after) :]
    return [code for code in re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL) if ">>>" not in code]


@pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow is not installed")
def test_mlflow_keeps_the_file_and_no_pickle(tmp_path):
    wrapper, use, _ = blocks("## mlflow")
    (tmp_path / "simplexboost_model.py").write_text(wrapper)
    (tmp_path / "use.py").write_text(use)
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore", "MLFLOW_TRACKING_URI": str(tmp_path / "runs")}
    subprocess.run([sys.executable, "use.py"], cwd=tmp_path, check=True, env=quiet, timeout=300)
    kept = {path.name for path in (tmp_path / "iris").rglob("*") if path.is_file()}
    assert {"iris.sb", "simplexboost_model.py"} <= kept
    assert not [name for name in kept if name.endswith((".pkl", ".pickle"))]


@pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow is not installed")
def test_mlflow_records_what_the_page_logs_and_autolog_nothing(tmp_path):
    told = """
import mlflow
mlflow.sklearn.autolog(silent=True)
%s
run = mlflow.last_active_run()
assert run.data.params["n_estimators"] == "50" and run.data.metrics["rounds"] == 50
assert len(mlflow.MlflowClient().get_metric_history(run.info.run_id, "log_loss")) == 50
with mlflow.start_run():
    sb.SimplexBoostClassifier(n_estimators=5).fit(X, y)
assert not mlflow.last_active_run().data.params
"""
    (tmp_path / "log.py").write_text(told % blocks("## mlflow")[2])
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore", "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'runs.db'}"}
    subprocess.run([sys.executable, "log.py"], cwd=tmp_path, check=True, env=quiet, timeout=300)


@pytest.mark.cc
def test_the_c_of_the_page_compiles_and_predicts(tmp_path):
    code = '#include <stdio.h>\n#include "pets.h"\nint main(void) {\n' + blocks("## C\n", "c")[0] + "return 0;\n}\n"
    (tmp_path / "use.c").write_text(code)
    X = pd.DataFrame({"size": [-1.0, 1.0, 0.0] * 20, "town": ["Bonn", "Bonn", "Ulm"] * 20})
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, ["small", "large", "south"] * 20)
    sb.export.c(clf, tmp_path / "pets.c")
    subprocess.run(["cc", "-std=c99", "-o", "use", "use.c", "pets.c", "-lm"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "use"], capture_output=True, text=True, check=True).stdout == "small\n"


def test_the_page_names_what_there_is():
    for name in sb.export.__all__:
        assert f"export.{name}" in PAGE
