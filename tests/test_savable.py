"""What cannot be saved is refused before the fit begins, and what a path may be."""

import io
import pathlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cases import CLASSIFIERS, each, smooth_hinge
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.parts.learners import SklearnLearner, Stump
from simplexboost.persist import atomic_write

X, y = load_iris(return_X_y=True)


class OwnStump(Stump):
    """A learner of the user's own."""


UNSAVABLE = [
    (sb.GDMCBoostClassifier(learner=DecisionTreeClassifier()), "learner=DecisionTreeClassifier"),
    (sb.GDMCBoostClassifier(learner=SklearnLearner(DecisionTreeClassifier())), "learner__estimator=Decision"),
    (sb.BoostingClassifier(loss=smooth_hinge()), "loss__gamma=<function"),
    (sb.BoostingClassifier(learner=OwnStump()), "learner=OwnStump"),
    (sb.MartiBoostClassifier(learner=DecisionTreeClassifier()), "learner=DecisionTreeClassifier"),
    (sb.MulticlassSVC(kernel=np.dot), "kernel=<function dot"),
    (sb.OutputCodeClassifier(LogisticRegression()), "estimator=LogisticRegression"),
    (sb.SimplexBoostClassifier(classes=[object(), 1]), "classes=<object"),
]


@pytest.mark.parametrize(("clf", "message"), UNSAVABLE, ids=[message for _, message in UNSAVABLE])
def test_check_savable_names_what_cannot_be_saved(clf, message):
    with pytest.raises(TypeError, match=f"{message}.*cannot be saved"):
        clf.check_savable()


def test_check_savable_names_everything():
    clf = sb.BoostingClassifier(loss=smooth_hinge(), learner=DecisionTreeClassifier())
    with pytest.raises(TypeError, match=r"learner=Decision[\s\S]*loss__gamma"):
        clf.check_savable()


@each("kind", CLASSIFIERS)
def test_all_defaults_are_savable(kind):
    kind().check_savable()


def test_fits_that_are_not_saved_need_not_be_savable():
    assert sb.GDMCBoostClassifier(learner=DecisionTreeClassifier(), n_estimators=2).fit(X, y).score(X, y) > 0.9


class Count(Callback):
    """Counts rounds."""

    rounds = 0

    def after_round(self, run):
        self.rounds += 1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"learner": DecisionTreeClassifier()}, TypeError, "learner=Decision.*cannot be saved"),
        ({"callbacks": [Checkpoint("/nowhere/at/all/m.sb")]}, FileNotFoundError, "Checkpoint's path='/nowhere/at/all"),
        ({"callbacks": [Checkpoint("m.sb", every=0)]}, ValueError, "every=0"),
        ({"callbacks": [Checkpoint(io.BytesIO())]}, TypeError, "path=<_io.BytesIO.*the name of a file"),
    ],
)
def test_a_checkpoint_refuses_before_the_fit_begins(change, error, message, tmp_path):
    count = Count()
    callbacks = [count, *change.pop("callbacks", [Checkpoint(tmp_path / "m.sb", every=5)])]
    with pytest.raises(error, match=message):
        sb.GDMCBoostClassifier(n_estimators=2, callbacks=callbacks, **change).fit("never looked at", y)
    assert count.rounds == 0


LONG = np.array([0, 1, 2], dtype=np.longdouble)[y]


@pytest.mark.skipif(LONG.dtype.itemsize == 8, reason="long numbers are usual ones here")
@each("kind", CLASSIFIERS)
def test_labels_that_cannot_be_saved_are_refused_at_once(kind):
    with pytest.raises(TypeError, match=r"y has labels that no model file can hold: .*float"):
        kind().fit(X, LONG)


# ---- subclasses -----------------------------------------------------------------------------------------------------


class Quick(sb.SimplexBoostClassifier):
    """Other values of parameters by a constructor of its own, which takes fewer of them."""

    def __init__(self, n_estimators=3):
        super().__init__(n_estimators=n_estimators, random_state=0, learning_rate=0.5)


@dataclass(eq=False, repr=False, kw_only=True)
class Short(sb.SimplexBoostClassifier):
    """Other defaults."""

    n_estimators: int = 2
    random_state: int = 0


class Timid(sb.SimplexBoostClassifier):
    """Another prediction."""

    def predict(self, X, *, init_score=None):
        return super().predict(X)[::-1]

    @property
    def mood(self):
        return "timid"


@pytest.mark.parametrize("kind", [Quick, Short])
def test_subclasses_with_other_defaults_are_saved_as_what_they_are(kind, tmp_path):
    clf = kind().fit(X, y)
    clf.check_savable()
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert type(again) is sb.SimplexBoostClassifier and again.n_estimators == clf.n_estimators
    assert again.learning_rate == clf.learning_rate and again.random_state == 0
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()
    sb.OutputCodeClassifier(clf).fit(X, y).save(tmp_path / "code.sb")
    assert sb.load(tmp_path / "code.sb").estimator.n_estimators == clf.n_estimators


def test_subclasses_with_code_are_refused(tmp_path):
    clf = Timid(n_estimators=2)
    for refuse in (clf.check_savable, lambda: clf.fit(X, y).save(tmp_path / "m.sb")):
        with pytest.raises(TypeError, match=r"a Timid cannot be saved: it defines predict, mood, and .*__init__"):
            refuse()
    with pytest.raises(TypeError, match="a Timid cannot be saved"):
        sb.OutputCodeClassifier(clf).check_savable()
    assert not list(tmp_path.iterdir())


# ---- paths ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clf():
    return sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(X, y)


def test_paths_and_open_files(clf, tmp_path):
    clf.save(str(tmp_path / "text.sb"))
    clf.save(tmp_path / "path.sb")
    memory = io.BytesIO()
    clf.save(memory)
    with open(tmp_path / "open.sb", "wb") as stream:
        clf.save(stream)
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert len(files) == 3 and {*files} == {memory.getvalue()}
    memory.seek(0)
    with open(tmp_path / "open.sb", "rb") as stream:
        for source in (
            str(tmp_path / "text.sb"),
            tmp_path / "path.sb",
            pathlib.PurePath(tmp_path, "path.sb"),
            memory,
            stream,
        ):
            assert (sb.load(source).predict_proba(X) == clf.predict_proba(X)).all()


@pytest.mark.parametrize("path", [None, 3, b"m.sb", ["m.sb"]])
def test_other_paths_are_refused(path, clf):
    for act in (clf.save, sb.load):
        with pytest.raises(TypeError, match=r"path=.* must be text, a path or an open binary file"):
            act(path)


@pytest.mark.parametrize("path", ["", "m.sb/", "m\0.sb"])
def test_paths_that_name_no_file_are_refused(path, clf):
    for act in (clf.save, sb.load):
        with pytest.raises(ValueError, match=r"path=.* names no file"):
            act(path)


def test_a_model_is_not_read_as_text(clf, tmp_path):
    clf.save(tmp_path / "m.sb")
    with open(tmp_path / "m.sb") as stream, pytest.raises(TypeError, match=r"gives text; .* 'rb'"):
        sb.load(stream)


def test_text_files_are_refused(clf, tmp_path):
    with open(tmp_path / "m.txt", "w+") as stream:
        with pytest.raises(TypeError, match="binary"):
            clf.save(stream)
        with pytest.raises(TypeError, match="binary"):
            sb.load(stream)


def test_errors_of_load_say_what_is_wrong(clf, tmp_path):
    clf.save(tmp_path / "m.sb")
    data = (tmp_path / "m.sb").read_bytes()
    with pytest.raises(IsADirectoryError, match="is a directory; pass the file"):
        sb.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no.sb' does not exist"):
        sb.load(tmp_path / "no.sb")
    for keep in (0, 10, len(data) // 2, len(data) - 1):
        (tmp_path / "m.sb").write_bytes(data[:keep])
        with pytest.raises(ValueError, match=r"The model file is damaged: .*m.sb is not a zip archive"):
            sb.load(tmp_path / "m.sb")
        with pytest.raises(ValueError, match="The model file is damaged: the file is not a zip archive"):
            sb.load(io.BytesIO(data[:keep]))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ValueError, match="is not a simplexboost model file"):
        sb.load(tmp_path / "other.zip")


def test_a_folder_that_does_not_exist_is_named(clf, tmp_path):
    with pytest.raises(FileNotFoundError, match="no', which does not exist"):
        clf.save(tmp_path / "no" / "m.sb")


@pytest.mark.parametrize("what", ["write", "replace", "interrupt"])
def test_a_save_that_fails_half_way_keeps_the_old_file(what, clf, tmp_path, monkeypatch):
    path = tmp_path / "m.sb"
    clf.save(path)
    before = path.read_bytes()

    def fail(*args, **more):
        raise KeyboardInterrupt if what == "interrupt" else OSError("no space left on device")

    write, calls = zipfile.ZipFile.writestr, []

    def fail_later(*args):
        calls.append(1)
        return fail() if len(calls) > 3 else write(*args)

    monkeypatch.setattr(atomic_write.os, "replace", fail) if what == "replace" else monkeypatch.setattr(
        zipfile.ZipFile, "writestr", fail_later
    )
    with pytest.raises(KeyboardInterrupt if what == "interrupt" else OSError):
        clf.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["m.sb"]


def test_loading_needs_no_optional_package():
    """Nor does it import what it does not need.

    The packages cannot be found, as if they were not installed. (``sys.modules[name] = None`` would say so too, but
    scikit-learn 1.6 takes what it finds there under "pandas" for the module.)
    """
    folder = Path(__file__).parent / "files"
    code = f"""
import sys
from pathlib import Path
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "pyarrow", "matplotlib", "rich", "optuna"):
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Missing())
import numpy as np, simplexboost as sb
for path in sorted(Path({str(folder)!r}).glob("*.sb")):
    clf = sb.load(path)
    if getattr(clf, "categories_", None) is None:
        clf.predict(np.ones((2, clf.n_features_in_)))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
