"""ONNX: what onnxruntime makes of an exported model is what the classifier predicts."""

import io

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from cases import BOOSTERS, smooth_hinge
from export_cases import CASES, COSTLY, LABELS, case, flagship, mixed, numbers, with_costs
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost import datasets
from simplexboost.export.plain_model import round_down


def session_of(model):
    """A session of onnxruntime on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def feed(session, X, dtype=np.float64):
    """X in the form of the session's inputs: all numbers together, or column by column."""
    if [put.name for put in session.get_inputs()] == ["X"]:
        return {"X": np.asarray(X, dtype=dtype)}
    columns = {}
    for put in session.get_inputs():
        values = X[put.name]
        if put.type == "tensor(string)":
            columns[put.name] = np.array(["" if v is None or v != v else v for v in values], dtype=object)[:, None]
        else:
            columns[put.name] = values.astype(dtype).to_numpy()[:, None]
    return columns


def run(model, X, dtype=np.float64):
    """The outputs by name."""
    session = session_of(model)
    return dict(
        zip([out.name for out in session.get_outputs()], session.run(None, feed(session, X, dtype)), strict=True)
    )


def check_same(clf, X, out, atol=1e-5):
    """Labels, probabilities and scores are those of the classifier; labels where the best two scores are not tied."""
    U = clf.class_scores(X)
    np.testing.assert_allclose(out["scores"], U, rtol=1e-5, atol=atol)
    np.testing.assert_allclose(out["probabilities"], clf.predict_proba(X), rtol=0, atol=atol)
    labels, wanted = out["label"], clf.predict(X)
    clear = slice(None) if wanted.ndim == 2 else np.ptp(np.sort(U, axis=1)[:, -2:], axis=1) > 1e-5
    assert (labels[clear] == wanted[clear]).all()
    assert wanted.ndim == 2 or clear.mean() > 0.7


@pytest.mark.parametrize("name", [*CASES, "merged classes"])
def test_predictions_are_those_of_the_classifier(name):
    found = case(name)
    check_same(found.clf, found.X, run(sb.export.onnx(found.clf), found.X))


def test_all_boosters_are_among_the_cases():
    assert set(BOOSTERS) <= set(CASES)


@pytest.mark.parametrize("name", ["flagship", "text and holes", "lines", "categories of an array"])
def test_single_precision_is_exact_for_single_precision_values(name):
    """Thresholds are rounded down: each question has the same answer for values in single precision."""
    found = case(name)
    X = found.X.astype(np.float32) if isinstance(found.X, np.ndarray) else found.X.astype({"size": np.float32})
    model = sb.export.onnx(found.clf, dtype="float32")
    check_same(found.clf, X, run(model, X, np.float32), atol=2e-5)


def test_values_beside_thresholds_get_the_same_answers_in_single_precision():
    """Among them single-precision numbers just above a threshold, to which the threshold would be rounded."""
    found = case("flagship")
    nodes = np.concatenate([tree.nodes for tree in found.clf.model_.trees])
    split = (nodes["feature"] >= 0) & np.isfinite(nodes["threshold"])
    X = np.repeat(found.X[:1].astype(np.float32), split.sum(), axis=0)
    X[np.arange(len(X)), nodes["feature"][split]] = nodes["threshold"][split].astype(np.float32)
    assert (X[np.arange(len(X)), nodes["feature"][split]] > nodes["threshold"][split]).any()
    check_same(found.clf, X, run(sb.export.onnx(found.clf, dtype="float32"), X, np.float32), atol=2e-5)


def test_values_at_a_threshold_go_left_in_single_precision():
    """0.1 in double precision lies between two single ones; the nearest one is above it."""
    thresholds = np.array([0.1, 0.5, -0.1, 1e300, np.inf, 16777217.0])
    single = round_down(thresholds)
    assert (single <= thresholds).all()
    assert (np.nextafter(single[:3], np.float32(np.inf)) > thresholds[:3]).all()
    assert single[3:].tolist() == [np.finfo(np.float32).max, np.inf, 16777216.0]
    assert single.dtype == np.float32


def test_unknown_categories_and_missing_ones():
    """Categories that the fit has not seen go where missing values go; of too many, they share the last number."""
    for name in ("text and holes", "more text than numbers"):
        clf = case(name).clf
        frame, _ = mixed(60, seed=5, many=name != "text and holes")
        frame.loc[::3, "town"] = "nowhere"
        frame.loc[1::3, "town"] = None
        check_same(clf, frame, run(sb.export.onnx(clf), frame))


def test_empty_text_is_a_category_if_it_was_one():
    frame, y = mixed()
    frame["town"] = frame["town"].fillna("").where(frame["town"] != "town 3", "")
    found = flagship(frame, y)
    with pytest.warns(UserWarning, match="column 'town' has the empty text as a category"):
        made = sb.export.onnx(found.clf)
    check_same(found.clf, frame, run(made, frame))


def test_sparse_leaves_store_only_what_is_not_zero():
    found = case("many classes")
    node = next(n for n in sb.export.onnx(found.clf).graph.node if n.op_type == "TreeEnsembleRegressor")
    stored = len(next(a for a in node.attribute if a.name == "target_ids").ints)
    kept = sum(term.hypothesis.values.nnz for term in found.clf.model_.terms)
    leaves = sum(tree.n_leaves for tree in found.clf.model_.trees)
    assert kept <= stored <= kept + leaves < 0.5 * leaves * 60


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (LABELS, "tensor(string)"),
        (np.array([3, -1, 2**40, 7]), "tensor(int64)"),
        (np.array([3, 1, 0, 7], dtype=np.uint8), "tensor(int64)"),
        (np.array([5.0, 1.0, 2.0, -1.0]), "tensor(double)"),
        (np.array(["2024-01-01", "2024-01-02", "2025-01-01", "2026-01-01"], dtype="M8[D]"), "tensor(string)"),
    ],
    ids=["text", "int", "uint8", "float", "dates"],
)
def test_labels_keep_their_types(labels, kind):
    X, c = numbers()
    clf = sb.GDMCBoostClassifier(n_estimators=5).fit(X, labels[c])
    session = session_of(sb.export.onnx(clf))
    assert session.get_outputs()[0].type == kind
    got = session.run(["label"], {"X": X})[0]
    assert (got.astype(str) == clf.predict(X).astype(str)).all()


def test_columns_may_be_called_like_outputs():
    frame, y = mixed()
    frame = frame.rename(columns={"size": "label", "weight": "scores"})
    model = sb.export.onnx(flagship(frame, y).clf)
    assert [out.name for out in model.graph.output] == ["label_", "probabilities", "scores_"]
    session_of(model)


@pytest.mark.parametrize("name", COSTLY)
def test_probabilities_under_costs_are_refused_and_labels_are_not(name):
    found = with_costs(name)
    with pytest.raises(ValueError, match=r"ONNX cannot hold probabilities under a cost_matrix.*probabilities=False"):
        sb.export.onnx(found.clf)
    out = run(sb.export.onnx(found.clf, probabilities=False), found.X)
    assert set(out) == {"label", "scores"}
    assert (out["label"] == found.clf.predict(found.X)).all()


def test_models_are_written_to_paths_and_open_files(tmp_path):
    clf, memory = case("flagship").clf, io.BytesIO()
    made = sb.export.onnx(clf, tmp_path / "model.onnx")
    sb.export.onnx(clf, memory)
    assert (tmp_path / "model.onnx").read_bytes() == memory.getvalue() == made.SerializeToString()
    onnx.checker.check_model(str(tmp_path / "model.onnx"), full_check=True)


def test_what_cannot_be_exported_is_refused():
    X, c = numbers(K=2)
    for wrong, error, words in [
        (sb.MartiBoostClassifier(n_layers=3).fit(X, c), TypeError, "MartiBoostClassifier cannot be exported"),
        (sb.GDMCBoostClassifier(), NotFittedError, "not fitted"),
        (
            sb.GDMCBoostClassifier(n_estimators=3, learner=DecisionTreeClassifier()).fit(np.nan_to_num(X), c),
            TypeError,
            "ClassifierHypothesis terms cannot be exported",
        ),
    ]:
        with pytest.raises(error, match=words):
            sb.export.onnx(wrong)
    with pytest.raises(ValueError, match="dtype='float16' is not possible; choose 'float64' or 'float32'"):
        sb.export.onnx(case("flagship").clf, dtype="float16")
    with pytest.raises(TypeError, match="path=3 must be text, a path or an open binary file"):
        sb.export.onnx(case("flagship").clf, 3)


def test_odd_names_and_texts():
    X = pd.DataFrame({"sb_constant_0": [1.0, 2.0, 3.0] * 30, "sb_": ["a", "b", ""] * 30})
    clf = sb.GDMCBoostClassifier(n_estimators=3).fit(X, [0, 1, 2] * 30)
    with pytest.warns(UserWarning, match="column 'sb_' has the empty text as a category"):
        made = sb.export.onnx(clf)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    (label,) = session.run(["label"], {name: X[[name]].to_numpy() for name in X})
    assert (label == clf.predict(X)).all()
    with pytest.raises(ValueError, match="a column has no name"):
        sb.export.onnx(sb.GDMCBoostClassifier(n_estimators=1).fit(X.rename(columns={"sb_": ""}), [0, 1, 2] * 30))
    half = sb.GDMCBoostClassifier(n_estimators=1).fit(X, np.array(["a", "b", "\ud800"], dtype=object)[[0, 1, 2] * 30])
    with pytest.raises(ValueError, match="holds half a character"):
        sb.export.onnx(half)


def test_losses_of_the_users_own_are_refused():
    X, c = numbers()
    clf = sb.BoostingClassifier(loss=smooth_hinge(), n_estimators=3).fit(X, c)
    with pytest.raises(TypeError, match="by a function of your own, and code cannot be exported"):
        sb.export.onnx(clf)


def test_categories_that_are_no_floats_are_refused():
    X = np.array([[2**60], [2**60 + 1], [2**60 + 2]] * 60, dtype=object)
    clf = sb.GDMCBoostClassifier(n_estimators=3, categorical_features=[0]).fit(X, [0, 1, 2] * 60)
    with pytest.raises(ValueError, match=r"categories such as 1152921504606846977 are no numbers of float64 precision"):
        sb.export.onnx(clf)


@pytest.mark.data
@pytest.mark.parametrize("name", ["letter", "aloi27"])
def test_real_sets(name):
    data = datasets.load(name)
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(data.X_train, data.y_train)
    X = data.X_test[:2000]
    check_same(clf, X, run(sb.export.onnx(clf), X))
