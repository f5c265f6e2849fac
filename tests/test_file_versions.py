"""Files of every version of the format: what an earlier version of the package wrote is read for ever."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import simplexboost as sb

FOLDER = Path(__file__).parent / "files"
FILES = sorted(FOLDER.glob("*.sb"))

spec = importlib.util.spec_from_file_location("make_files", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_every_version_predict_as_they_did(path):
    """Labels exactly; scores to seven digits, because another machine may add in another order."""
    clf, told = sb.load(path), json.loads(path.with_suffix(".json").read_text())
    table = make.table(told["rows"], told["columns"])
    for method in make.METHODS:
        if method in told:
            again = getattr(clf, method)(table)
            if again.dtype.kind == "f":
                np.testing.assert_allclose(again, told[method], rtol=1e-6, atol=1e-7)
            else:
                assert again.tolist() == told[method]
