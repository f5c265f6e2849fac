"""Files of the format: what an earlier version of the package wrote is read for ever."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest
from model_files import read_zip

import simplexboost as sb
from simplexboost.persist.archive import VERSION

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
            wanted = told[method]
            if method == "predict":
                assert make.plain(again) == wanted
                continue
            targets = ((again, wanted),) if not isinstance(again, list) else zip(again, wanted, strict=True)
            for found, right in targets:
                np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("case", make.CASES)
def test_every_version_of_the_format_has_its_files(case):
    """Whoever raises the number runs ``python tests/files/make.py`` and commits what it writes."""
    missing = [n for n in range(make.FIRST, VERSION + 1) if not (FOLDER / f"v{n}-{case}.sb").exists()]
    assert not missing, f"no file of version {missing}; run python tests/files/make.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_say_their_version(path):
    """A file that was made anew by a later version would not show any more what the earlier one wrote."""
    assert path.name.startswith(f"v{read_zip(path)[0]['version']}-")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_saved_again_in_the_present_version(path, tmp_path):
    clf = sb.load(path)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert read_zip(tmp_path / "m.sb")[0]["version"] == VERSION
    assert make.plain(again.classes_) == make.plain(clf.classes_)
    assert re.sub(" at 0x\\w+", "", str(again)) == re.sub(" at 0x\\w+", "", str(clf))  # addresses of random states
