"""Saving and loading: the same predictions, the same bytes, and no trust in damaged files."""

import contextlib
import json
import os
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
from cases import BOOSTERS, each
from model_files import read_zip, write_file
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost._util.params import PARTS, Part
from simplexboost.parts.codewords import CODEWORDS, Custom, Simplex
from simplexboost.parts.learners import VectorTree
from simplexboost.parts.losses import Logistic
from simplexboost.persist.archive import VERSION

X, y = load_iris(return_X_y=True)
CLASSIFIERS = [
    *(kind(n_estimators=4, random_state=0) for kind in BOOSTERS.values()),
    sb.AdaBoostMMClassifier(step="exact", cost_matrix=np.ones((3, 3)), n_estimators=4),
    sb.CDMCBoostClassifier(n_estimators=4, schedule="cyclic"),
    sb.BoostingClassifier(learner="linear", optimizer="all-coordinates", n_estimators=3),
    sb.BoostingClassifier(
        Logistic(cost_matrix=np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]])),
        Custom(Simplex().matrix(3)),
        VectorTree(max_depth=None, max_leaf_nodes=4, growth="best"),
        n_estimators=3,
        random_state=np.random.RandomState(0),
    ),
    sb.BoostingClassifier(class_weight={0: 1.0, 1: 2.0, 2: 1.5}, classes=(0, 1, 2), n_estimators=2),
]


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=lambda clf: type(clf).__name__)
def test_round_trip(clf, tmp_path):
    path = tmp_path / "model.sb"
    clf.fit(X, y).save(path)
    again = sb.load(path)
    assert type(again) is type(clf) and again.n_iter_ == clf.n_iter_ and again.stop_reason_ == clf.stop_reason_
    for method in ("predict", "predict_proba", "decision_function"):
        assert (getattr(again, method)(X) == getattr(clf, method)(X)).all()
    assert (again.feature_importances_ == clf.feature_importances_).all()
    assert (again.history_["risk"] == clf.history_["risk"]).all()
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == path.read_bytes()
    again.fit(X, y)  # parameters came back too
    assert again.n_iter_ == clf.n_iter_


@pytest.mark.parametrize(
    "labels",
    [np.array(["äpfel", "birnen", "nüsse"]), np.array([-7, 0, 10**12]), np.array([0.5, 1.0, 2.0]).astype(str)],
)
def test_labels_come_back(labels, tmp_path):
    for wanted in (labels, labels.astype(object)) if labels.dtype.kind == "U" else (labels,):
        clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, wanted[y])
        clf.save(tmp_path / "m.sb")
        again = sb.load(tmp_path / "m.sb")
        assert again.classes_.dtype == clf.classes_.dtype
        assert again.predict(X).tolist() == clf.predict(X).tolist()


def test_names_of_features_are_checked_after_loading(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    sb.GDMCBoostClassifier(n_estimators=2).fit(frame, y).save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


def test_absent_classes_come_back(tmp_path):
    clf = sb.GDMCBoostClassifier(n_estimators=3, classes=[0, 1, 2]).fit(X[y != 1], y[y != 1])
    clf.save(tmp_path / "m.sb")
    assert (sb.load(tmp_path / "m.sb").predict_proba(X)[:, 1] == 0).all()


def comes_back(clf, path):
    """Whether it predicts the same after a round trip."""
    clf.save(path)
    return (sb.load(path).predict_proba(X) == clf.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore:in round 1 the weak learner fails")  # a constant X breaks OS's promise
@each("kind", BOOSTERS | {"SimplexBoostClassifier": sb.SimplexBoostClassifier})
def test_models_without_terms_come_back(kind, tmp_path):
    """Most boosters stop before their first round where X cannot tell the classes apart, all where there is but one."""
    assert comes_back(kind(n_estimators=3).fit(np.ones_like(X), y), tmp_path / "constant.sb")
    one = kind(n_estimators=3, classes=[0, 1]).fit(X[y == 0], y[y == 0])
    assert not one.model_.terms
    assert comes_back(one, tmp_path / "one.sb")


def test_codes_with_a_hopeless_column_come_back(tmp_path):
    """The second column tells classes 1 and 2 apart, whose rows are alike."""
    code = [[1, 0], [-1, 1], [-1, -1]]
    clf = sb.OutputCodeClassifier(sb.SimplexBoostClassifier(n_estimators=3), code)
    clf.fit(np.concatenate([X[y != 2], X[y == 1]]), y)
    assert comes_back(clf, tmp_path / "m.sb")


@each("part", CODEWORDS)
def test_every_code_comes_back(part, tmp_path):
    """Files know parts by the names of their classes, so no two parts may share one."""
    clf = sb.BoostingClassifier(codewords=part(), n_estimators=2).fit(X, y)
    assert comes_back(clf, tmp_path / "m.sb")
    assert type(sb.load(tmp_path / "m.sb").codewords) is part


def test_the_names_of_parts_are_unique():
    classes = {cls for cls in subclasses(Part) - {Part} if cls.__module__.startswith("simplexboost.")}
    assert set(PARTS.values()) == classes


def subclasses(kind):
    """All classes that derive from one."""
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_the_file_holds_json_and_numbers_only(tmp_path):
    path = tmp_path / "m.sb"
    sb.GDMCBoostClassifier(n_estimators=2).fit(X, y).save(path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        assert set(archive.namelist()) == {"header.json", *header["arrays"]}
        for name, about in header["arrays"].items():
            dtype = np.dtype(about["dtype"])
            assert dtype.kind in "fiu"
            assert len(archive.read(name)) == dtype.itemsize * np.prod(about["shape"], dtype=int)
    assert header["version"] == VERSION and header["class"] == "GDMCBoostClassifier"


def saved(tmp_path):
    path = tmp_path / "m.sb"
    sb.GDMCBoostClassifier(n_estimators=2).fit(X, y).save(path)
    return path


def rewrite(path, name, change):
    """The archive with one member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)


def change_header(**changes):
    return lambda data: json.dumps(json.loads(data) | changes).encode()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("values", lambda data: data[:-1] + b"\x01", "checksum"),
        ("nodes", lambda data: data[:-8], "bytes, but its shape and type take"),
        ("header.json", lambda data: b"{", "damaged"),
        ("header.json", change_header(format="other"), "not a simplexboost model"),
        ("header.json", lambda data: b"[]", "not a simplexboost model"),
        ("header.json", lambda data: b"\xff", "damaged"),
        ("header.json", lambda data: b'{"a":' * 100_000, "damaged"),
        ("header.json", change_header(version=99), "version 99"),
        ("header.json", change_header(version=0), "version 0; this simplexboost reads version 2"),
        ("header.json", change_header(version=1), "version 1; this simplexboost reads version 2"),
        ("header.json", change_header(version=-5), "version -5"),
        ("header.json", change_header(version=True), "version True"),
        ("header.json", change_header(version="1"), "version '1'"),
        ("header.json", change_header(version=None), "version None"),
        ("header.json", change_header(arrays=3), "damaged"),
        ("header.json", change_header(arrays={"Y": 3}), "damaged"),
        ("header.json", change_header(classes=None), "damaged"),
        ("header.json", change_header(parameters=[]), "damaged"),
        ("header.json", change_header(parameters={"loss": {"part": "Nothing", "parameters": {}}}), "damaged"),
        ("header.json", change_header(loss={"part": "Logistic", "parameters": {"tilt": 1}}), "damaged"),
        ("header.json", change_header(categories=7), "damaged"),
        ("header.json", change_header(feature_names_in=5), "damaged"),
        ("header.json", change_header(feature_names_in=["a", "b"]), "names do not fit the features"),
        ("header.json", change_header(feature_names_in=["a", "b", "c", 4]), "names do not fit the features"),
        ("header.json", change_header(**{"class": "os.system"}), "os.system"),
        ("header.json", change_header(**{"class": "load"}), "'load'"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, change, message):
    path = saved(tmp_path)
    rewrite(path, name, change)
    with pytest.raises(ValueError, match=message):
        sb.load(path)


def of_several_kinds(tmp_path):
    """Small model files of every kind of classifier."""
    two = np.minimum(y, 1)
    classifiers = {
        "sum": (sb.GDMCBoostClassifier(n_estimators=2), y),
        "program": (sb.MartiBoostClassifier(n_layers=2), two),
        "linear": (sb.MulticlassSVC(), y),
        "kernel": (sb.MulticlassSVC(kernel="rbf"), y),
        "code": (sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=1)), y),
    }
    for name, (clf, labels) in classifiers.items():
        clf.fit(X, labels).save(tmp_path / name)
        yield clf, tmp_path / name


def test_flipped_bits_are_refused(tmp_path):
    """Whatever byte of a file is changed, it is refused as damaged or the model is as before."""
    rng = np.random.default_rng(0)
    for clf, path in of_several_kinds(tmp_path):
        before = path.read_bytes()
        for at in rng.integers(len(before), size=300):
            data = bytearray(before)
            data[at] ^= 1 << rng.integers(8)
            path.write_bytes(data)
            try:
                again = sb.load(path)
            except sb.ModelFileError:
                continue
            assert (again.predict(X) == clf.predict(X)).all()


def test_headers_with_parts_missing_are_refused(tmp_path):
    for _, path in of_several_kinds(tmp_path):
        header = json.loads(zipfile.ZipFile(path).read("header.json"))
        before = path.read_bytes()
        for name in header:
            for change in (lambda data, name=name: {k: v for k, v in data.items() if k != name}, {name: [[0]]}.__ror__):
                path.write_bytes(before)
                rewrite(path, "header.json", lambda data, change=change: json.dumps(change(json.loads(data))).encode())
                with contextlib.suppress(sb.ModelFileError):
                    sb.load(path)


def test_trees_that_lead_astray_are_refused(tmp_path):
    """A file with right checksums may still be made by hand: a node must lead forward and inside its tree."""
    path = saved(tmp_path)
    clf = sb.load(path)
    clf.model_.trees[0].nodes["left"][0] = 0  # a loop
    clf.save(path)
    with pytest.raises(ValueError, match="tree"):
        sb.load(path)


# Files whose checksums are right but whose contents are impossible: the model, what to change in it, the message.
FLAGSHIP = sb.SimplexBoostClassifier(n_estimators=3, random_state=0)
COORDINATES = sb.CDMCBoostClassifier(n_estimators=3)
LINEAR = sb.BoostingClassifier(learner="linear", n_estimators=3)
PROGRAM = sb.MartiBoostClassifier(n_layers=3, random_state=0)
ONE_LAYER = sb.MartiBoostClassifier(n_layers=1, random_state=0)
CRAFTED = [
    (FLAGSHIP, {"class": "MartiBoostClassifier", "parameters": {}}, "branching program for 3 classes"),
    (PROGRAM, {"class": "SimplexBoostClassifier", "parameters": {}}, "array 'round_ends' is missing"),
    (PROGRAM, {"classes": {"dtype": "<i8", "values": [0, 1, 2]}}, "branching program for 3 classes"),
    (PROGRAM, {"layer_ends": lambda ends: np.maximum(ends, 3)}, "invalid branching program"),
    (PROGRAM, {"layer_ends": lambda ends: ends - [1, 0, 0]}, "invalid branching program"),
    (PROGRAM, {"layer_ends": lambda ends: ends[::-1]}, "rounds"),
    (PROGRAM, {"layer_ends": lambda ends: ends[:-1]}, "rounds|coordinates"),
    (PROGRAM, {"layer_ends": lambda ends: ends[:0]}, "coordinates"),
    (PROGRAM, {"layer_ends": None}, "array 'layer_ends' is missing"),
    (PROGRAM, {"coordinate": lambda coordinate: 0 * coordinate}, "invalid branching program"),
    (PROGRAM, {"coordinate": lambda coordinate: coordinate + 1}, "coordinates|invalid branching program"),
    (PROGRAM, {"coordinate": lambda coordinate: coordinate - 1}, "does not fit"),
    (PROGRAM, {"values": lambda values: 2 * values}, "invalid branching program"),
    (PROGRAM, {"step": lambda step: 2 * step}, "invalid branching program"),
    (PROGRAM, {"n_features_in": 1}, "features"),
    (ONE_LAYER, {"coordinate": lambda coordinate: coordinate - 1}, "invalid branching program"),
    (FLAGSHIP, {"round_ends": lambda ends: ends[::-1]}, "rounds"),
    (FLAGSHIP, {"round_ends": lambda ends: ends[:-1]}, "rounds"),
    (FLAGSHIP, {"round_ends": lambda ends: ends - [5, 0, 0]}, "rounds"),
    (COORDINATES, {"coordinate": lambda coordinate: coordinate + 2}, "coordinates"),
    (COORDINATES, {"coordinate": lambda coordinate: coordinate - 3}, "coordinates"),
    (FLAGSHIP, {"coordinate": lambda coordinate: coordinate + 1}, "does not fit"),
    (COORDINATES, {"Y": lambda Y: np.repeat(Y, 2, axis=0)}, "codewords"),
    (COORDINATES, {"present": lambda present: present[:2]}, "codewords"),
    (COORDINATES, {"present": lambda present: present * 2}, "codewords"),
    (COORDINATES, {"Y": lambda Y: Y.astype(np.float16)}, "float16"),
    (COORDINATES, {"Y": lambda Y: Y * np.nan}, "NaN in 'Y'"),
    (COORDINATES, {"values": lambda values: values * np.inf}, "NaN in 'values'"),
    (COORDINATES, {"step": lambda step: step * np.nan}, "NaN in 'step'"),
    (COORDINATES, {"step": lambda step: step[:-1]}, "sizes"),
    (COORDINATES, {"step": None}, "array 'step' is missing"),
    (COORDINATES, {"values": lambda values: values[:-1]}, "sizes"),
    (COORDINATES, {"value_shape": lambda shape: -shape}, "sizes"),
    (COORDINATES, {"nodes": lambda nodes: nodes[:-1]}, "sizes"),
    (COORDINATES, {"n_nodes": lambda n: n * [[1], [0]]}, "'n_nodes' has type int64"),
    (COORDINATES, {"n_nodes": lambda n: n * [1, 0, 2]}, "sizes|leaves"),
    (COORDINATES, {"n_sets": lambda n: n + 1}, "sizes"),
    (COORDINATES, {"kind": lambda kind: kind + 1}, "sizes"),
    (COORDINATES, {"n_features_in": 1}, "features"),
    (COORDINATES, {"n_features_in": "4"}, "features"),
    (LINEAR, {"linear_feature": lambda feature: feature + 9}, "features"),
    (LINEAR, {"linear_centre": lambda centre: centre * np.nan}, "NaN in 'linear_centre'"),
    # what would load, and not work
    (COORDINATES, {"classes": {"dtype": "<i8", "values": [0, 1, 1]}}, "invalid class labels"),
    (COORDINATES, {"classes": {"dtype": "<f8", "values": [0.0, 1.0, {"float": "nan"}]}}, "invalid class labels"),
    (COORDINATES, {"classes": {"dtype": "<i8", "values": [[0, 1, 2]]}}, "classes|list|sequence"),
    (COORDINATES, {"classes": {"dtype": "<i8", "values": []}}, "invalid class labels"),
    (COORDINATES, {"classes": {"dtype": "<i8", "values": [0, 2, 1]}}, "not sorted"),
    (COORDINATES, {"classes": {"dtype": "object", "values": ["b", "c", "a"]}}, "not sorted"),
    (COORDINATES, {"classes": {"dtype": "object", "values": [0, 1, "a"]}}, "not sorted"),
    (COORDINATES, {"n_features_in": 2**40}, "features"),
    (COORDINATES, {"n_features_in": True}, "features"),
    (COORDINATES, {"loss": 3}, "invalid loss"),
    (COORDINATES, {"loss": {"part": "VectorTree", "parameters": {}}}, "invalid loss"),
    (COORDINATES, {"stop_reason": 3}, "text"),
    (COORDINATES, {"seed": 2**31}, "seed"),
    (COORDINATES, {"seed": True}, "seed"),
    (COORDINATES, {"present": lambda present: 0 * present, "Y": lambda Y: Y[:0]}, "codewords"),
    (COORDINATES, {"Y": lambda Y: Y[:, :0]}, "codewords"),
    (COORDINATES, {"gain": lambda gain: gain * np.nan}, "NaN in 'gain'"),
    (COORDINATES, {"count": lambda count: -count}, "sizes"),
    (COORDINATES, {"values": lambda values: np.sign(values) * 1e308}, "overflow"),
    (COORDINATES, {"step": lambda step: step * 1e307}, "overflow"),
    (COORDINATES, {"Y": lambda Y: Y * 1e308}, "overflow"),
    (FLAGSHIP, {"values": lambda values: np.sign(values) * np.float32(3e38)}, "overflow"),
    (COORDINATES, {"history.risk": lambda risk: risk[:-1]}, "history"),
    (COORDINATES, {"history.risk": lambda risk: risk[:, None]}, "history"),
    (COORDINATES, {"categories": [None] * 3}, "categories or kinds do not fit"),
    (COORDINATES, {"categories": "none"}, "categories or kinds do not fit"),
    (COORDINATES, {"feature_kinds": ["wonder"] * 4}, "unknown kinds of features"),
    (COORDINATES, {"categories": [{"dtype": "<f8", "values": [0.0, 1.0]}] * 4}, "splits do not fit the categories"),
    (COORDINATES, {"categories": [{"dtype": "<f8", "values": [1.0, 1.0]}] * 4}, "invalid categories"),
    (COORDINATES, {"categories": [{"dtype": "object", "values": ["a", 1.0]}] * 4}, "invalid categories"),
    (COORDINATES, {"categories": [{"dtype": "<f8", "values": list(range(255))}] * 4}, "invalid categories"),
    (COORDINATES, {"categories": [{"dtype": "<f8", "values": [{"float": "inf"}]}] * 4}, "neither finite numbers"),
    (FLAGSHIP, {"choice": {"dict": [["params", 3]]}}, "unexpected|missing"),
]


def craft(path, changes):
    """The file with some entries of its header or arrays changed, or left out, and its checksums made right."""
    header, arrays = read_zip(path)
    for name, change in changes.items():
        if name in header:
            header[name] = change
        elif change is None:
            del arrays[name]
        else:
            arrays[name] = change(arrays[name]) if arrays[name].dtype.kind == "f" else with_type(change, arrays[name])
    write_file(path, header, arrays)


def with_type(change, values):
    return change(values).astype(values.dtype)


@pytest.mark.parametrize(("clf", "changes", "message"), CRAFTED)
def test_impossible_models_are_refused(clf, changes, message, tmp_path):
    two = np.minimum(y, 1) if isinstance(clf, sb.MartiBoostClassifier) else y
    clone(clf).fit(X, two).save(tmp_path / "m.sb")
    sb.load(tmp_path / "m.sb")
    craft(tmp_path / "m.sb", changes)
    with pytest.raises(sb.ModelFileError, match=rf"^The model file is damaged: .*({message})"):
        sb.load(tmp_path / "m.sb")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost_matrix": {"array": {"dtype": "<f8", "values": [1.0, 2.0]}}}, "cost_matrix"),
        ({"cost_matrix": {"array": {"dtype": "<f8", "shape": [2, 2], "values": [0, 1, 1, 0]}}}, "cost_matrix"),
        ({"cost_matrix": {"array": {"dtype": "<f8", "shape": [3, 3], "values": [-1.0] * 9}}}, "cost_matrix"),
    ],
)
def test_costs_of_other_classes_are_refused(parameters, message, tmp_path):
    path = saved(tmp_path)
    craft(path, {"loss": {"part": "Logistic", "parameters": parameters}})
    with pytest.raises(sb.ModelFileError, match=message):
        sb.load(path)


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5, 2**40])
def test_jobs_that_are_none_are_refused(n_jobs, tmp_path):
    path = saved(tmp_path)
    parameters = read_zip(path)[0]["parameters"]
    craft(path, {"parameters": parameters | {"n_jobs": n_jobs}})
    with pytest.raises(sb.ModelFileError, match="n_jobs"):
        sb.load(path)


MACHINE = sb.MulticlassSVC(kernel="rbf")
PLANES = sb.MulticlassSVC()
CODE = sb.OutputCodeClassifier(sb.GDMCBoostClassifier(n_estimators=1))


@pytest.mark.parametrize(
    ("clf", "changes"),
    [
        (PLANES, {"coef_": lambda coef: coef * np.nan}),
        (PLANES, {"coef_": lambda coef: coef * np.inf}),
        (PLANES, {"coef_": lambda coef: coef.astype(np.float32)}),
        (PLANES, {"intercept_": lambda intercept: intercept[:2]}),
        (MACHINE, {"support_vectors_": lambda vectors: vectors * np.nan}),
        (MACHINE, {"support_vectors_": lambda vectors: np.vstack([vectors[:-1], vectors[-1:] + 1e200])}),
        (MACHINE, {"dual_coef_": lambda dual: dual * 1e305}),
        (MACHINE, {"support_": lambda support: -1 - support}),
        (MACHINE, {"gamma_": {"float": "nan"}}),
        (MACHINE, {"gamma_": "scale"}),
        (MACHINE, {"gamma_": -1e300}),
        (MACHINE, {"categories": [["a", "b"], None]}),
        (CODE, {"codewords": lambda codewords: codewords * 3}),
        (CODE, {"present": lambda present: 0 * present}),
        (CODE, {"columns": []}),
        (CODE, {"parameters": {"estimator": "float"}}),
        (CODE, {"columns": [{"side": 7}] * 3}),
        (CODE, {"n_features_in": 5}),
    ],
)
def test_other_impossible_classifiers_are_refused(clf, changes, tmp_path):
    clone(clf).fit(X, y).save(tmp_path / "m.sb")
    sb.load(tmp_path / "m.sb")
    craft(tmp_path / "m.sb", changes)
    with pytest.raises(sb.ModelFileError):
        sb.load(tmp_path / "m.sb")


def test_columns_must_answer_as_they_are_asked(tmp_path):
    sb.OutputCodeClassifier(sb.MulticlassSVC()).fit(X, y).save(tmp_path / "m.sb")
    parameters = read_zip(tmp_path / "m.sb")[0]["parameters"]
    craft(tmp_path / "m.sb", {"parameters": parameters | {"response": "predict_proba"}})
    with pytest.raises(sb.ModelFileError, match="no such method"):
        sb.load(tmp_path / "m.sb")


def test_parameters_of_a_newer_version_are_named(tmp_path):
    path = saved(tmp_path)
    craft(path, {"parameters": {"wisdom": 3, "zeal": 4}, "written_by": "simplexboost 99"})
    with pytest.raises(ValueError, match=r"does not take here: wisdom, zeal\. It was written by simplexboost 99"):
        sb.load(path)


def test_a_newer_version_of_the_format_is_named(tmp_path):
    path = saved(tmp_path)
    craft(path, {"version": 99, "written_by": "simplexboost 99"})
    with pytest.raises(ValueError, match=r"format version 99; .* reads version 2. .* written by simplexboost 99: upd"):
        sb.load(path)


def test_unknown_entries_are_ignored(tmp_path):
    """A later package may tell more in the same version of the format."""
    path = saved(tmp_path)
    header, arrays = read_zip(path)
    arrays["more"] = np.ones(3)
    header |= {"more": {"a": 1}}
    write_file(path, header, arrays)
    assert sb.load(path).n_iter_ == 2


def test_sparse_values_of_one_coordinate_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    many = np.repeat(np.arange(40), 12)
    few = sb.SimplexBoostClassifier(n_estimators=3, random_state=0)
    few.fit(rng.normal(size=(40, 6))[many] + 0.3 * rng.normal(size=(480, 6)), many).save(tmp_path / "m.sb")
    craft(tmp_path / "m.sb", {"columns": lambda columns: columns})
    sb.load(tmp_path / "m.sb")  # nothing is wrong yet
    craft(tmp_path / "m.sb", {"coordinate": lambda coordinate: coordinate + 1})
    with pytest.raises(ValueError, match="The model file is damaged: sparse values of a single coordinate"):
        sb.load(tmp_path / "m.sb")


@pytest.mark.parametrize(
    ("field", "node", "value", "message"),
    [
        ("left", 0, 2**31 - 1, "leaves"),
        ("left", 0, -1, "leaves"),
        ("left", 0, 2, "leaves"),
        ("left", -1, 0, "leaves"),
        ("category", 0, 0, "without their sets"),
        ("threshold", 0, np.nan, "NaN"),
        ("feature", 0, 9, "features"),
    ],
)
def test_impossible_nodes_are_refused(field, node, value, message, tmp_path):
    path = saved(tmp_path)
    clf = sb.load(path)
    clf.model_.trees[0].nodes[field][node] = value
    clf.save(path)
    with pytest.raises(ValueError, match=f"The model file is damaged: .*{message}"):
        sb.load(path)


def test_text_and_missing_files(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="text is not a zip archive"):
        sb.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        sb.load(tmp_path / "nothing.sb")


def test_a_failed_save_keeps_the_old_file(tmp_path):
    path = saved(tmp_path)
    before = path.read_bytes()
    clf = sb.GDMCBoostClassifier(learner=DecisionTreeClassifier(max_depth=2), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="pickle"):
        clf.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["m.sb"]


@pytest.fixture
def umask():
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_file(mask, umask, tmp_path):
    """A new file gets what ``open`` gives it under the umask, an old file keeps what it has."""
    umask(mask)
    (tmp_path / "other").write_bytes(b"")
    path = saved(tmp_path)
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    for mode in (0o600, 0o666):
        path.chmod(mode)
        saved(tmp_path)
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links_are_followed(tmp_path):
    (tmp_path / "store").mkdir()
    link, target = tmp_path / "m.sb", tmp_path / "store" / "target.sb"
    link.symlink_to(target)
    for _ in range(2):  # a target that is not there yet, and one that is
        saved(tmp_path)
        assert link.is_symlink() and not target.is_symlink()
        assert sb.load(link).n_iter_ == 2
        assert [p.name for p in target.parent.iterdir()] == ["target.sb"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("what", ["pipe", "directory"])
def test_only_files_are_replaced(what, tmp_path):
    path = tmp_path / "m.sb"
    os.mkfifo(path) if what == "pipe" else path.mkdir()
    before = path.stat().st_mode
    with pytest.raises(OSError, match=f"m.sb' is a {what}.*only regular files are written"):
        saved(tmp_path)
    assert path.stat().st_mode == before and [p.name for p in tmp_path.iterdir()] == ["m.sb"]


def test_unfitted_is_refused(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        sb.GDMCBoostClassifier().save(tmp_path / "m.sb")
