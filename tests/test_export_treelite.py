"""treelite: what GTIL makes of an exported model is what the classifier predicts; small models also by tl2cgen."""

import io

import numpy as np
import pytest
import tl2cgen
import treelite
from export_cases import CASES, COSTLY, case, numbers, with_costs

import simplexboost as sb
from simplexboost import datasets


def predicted(model, clf, X, dtype=np.float64):
    """What GTIL predicts, (n, K)."""
    return treelite.gtil.predict(model, sb.export.numbers(clf, X).astype(dtype), nthread=1)[:, 0]


@pytest.mark.parametrize("name", [name for name in CASES if name != "lines"])
def test_scores_are_those_of_the_classifier(name):
    found = case(name)
    U = predicted(sb.export.treelite(found.clf, probabilities=False), found.clf, found.X)
    present = found.clf._present
    np.testing.assert_allclose(U[:, present], found.clf.class_scores(found.X)[:, present], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in CASES if name != "lines"])
def test_probabilities_are_those_of_the_classifier_or_refused(name):
    found = case(name)
    kind = sb.export.plain_model.as_plain_model(found.clf).link.kind
    if kind in ("softmax", "sigmoid", "certain"):
        P = predicted(sb.export.treelite(found.clf), found.clf, found.X)
        np.testing.assert_allclose(P, found.clf.predict_proba(found.X), rtol=0, atol=1e-5)
    else:
        with pytest.raises(ValueError, match=r"treelite has no function for these probabilities.*probabilities=False"):
            sb.export.treelite(found.clf)


def test_single_precision():
    found = case("flagship")
    X = found.X.astype(np.float32)
    P = predicted(sb.export.treelite(found.clf, dtype="float32"), found.clf, X, np.float32)
    np.testing.assert_allclose(P, found.clf.predict_proba(X), rtol=0, atol=2e-5)


def test_values_beside_thresholds_get_the_same_answers_in_single_precision():
    found = case("flagship")
    nodes = np.concatenate([tree.nodes for tree in found.clf.model_.trees])
    split = (nodes["feature"] >= 0) & np.isfinite(nodes["threshold"])
    X = np.repeat(found.X[:1].astype(np.float32), split.sum(), axis=0)
    X[np.arange(len(X)), nodes["feature"][split]] = nodes["threshold"][split].astype(np.float32)
    P = predicted(sb.export.treelite(found.clf, dtype="float32"), found.clf, X, np.float32)
    np.testing.assert_allclose(P, found.clf.predict_proba(X), rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", COSTLY)
def test_probabilities_under_costs_are_refused(name):
    with pytest.raises(ValueError, match="those under a cost_matrix"):
        sb.export.treelite(with_costs(name).clf)


def test_lines_are_refused():
    with pytest.raises(ValueError, match="treelite holds trees only, and this model has lines"):
        sb.export.treelite(case("lines").clf)


def test_files_are_read_by_treelite(tmp_path):
    found, memory = case("text and holes"), io.BytesIO()
    sb.export.treelite(found.clf, tmp_path / "model.bin")
    sb.export.treelite(found.clf, memory)
    again = treelite.Model.deserialize(str(tmp_path / "model.bin"))
    assert (tmp_path / "model.bin").read_bytes() == memory.getvalue()
    np.testing.assert_allclose(
        predicted(again, found.clf, found.X), found.clf.predict_proba(found.X), rtol=0, atol=1e-5
    )


@pytest.mark.cc
@pytest.mark.parametrize("name", ["flagship", "text and holes", "AdaBoostMMClassifier"])
def test_tl2cgen_compiles_them(name, tmp_path):
    found = case(name)
    tl2cgen.export_lib(sb.export.treelite(found.clf), "gcc", str(tmp_path / "model.so"), params={"quantize": 0})
    X = np.ascontiguousarray(sb.export.numbers(found.clf, found.X), dtype=np.float64)
    P = tl2cgen.Predictor(str(tmp_path / "model.so"), nthread=1).predict(tl2cgen.DMatrix(X, dtype="float64"))
    np.testing.assert_allclose(P.reshape(len(X), -1), found.clf.predict_proba(found.X), rtol=0, atol=1e-5)


def test_what_cannot_be_exported_is_refused():
    X, c = numbers(K=2)
    with pytest.raises(TypeError, match="MartiBoostClassifier cannot be exported"):
        sb.export.treelite(sb.MartiBoostClassifier(n_layers=3).fit(X, c))
    with pytest.raises(ValueError, match="dtype='float16' is not possible"):
        sb.export.treelite(case("flagship").clf, dtype="float16")
    with pytest.raises(ValueError, match="X has 3 features"):
        sb.export.numbers(case("flagship").clf, X[:, :3])


@pytest.mark.data
@pytest.mark.parametrize("name", ["letter", "aloi27"])
def test_real_sets(name):
    data = datasets.load(name)
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(data.X_train, data.y_train)
    P = predicted(sb.export.treelite(clf), clf, data.X_test[:1000])
    np.testing.assert_allclose(P, clf.predict_proba(data.X_test[:1000]), rtol=0, atol=1e-5)
