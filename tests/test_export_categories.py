"""Categories that are numbers: every route takes them as they are and predicts what the classifier predicts."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from test_export_c import Compiled
from test_export_javascript import as_json, node
from test_export_onnx import run
from test_export_python import model_of
from test_export_treelite import predicted

import simplexboost as sb


@dataclass(frozen=True, eq=False)
class Kind:
    """Categories of one form: those of the fit, some that it has not seen, and how a table holds them."""

    known: list
    unknown: list
    form: str = "array"  # or "frame", where the column is a category of pandas

    def table(self, values, x):
        """A table of categories, None where missing, and numbers."""
        if self.form == "frame":
            return pd.DataFrame({"code": pd.Categorical(values), "x": x})
        return np.column_stack([np.array([np.nan if v is None else v for v in values], dtype=float), x])

    def fitted(self):
        """A classifier of which the classes follow from the categories."""
        rng = np.random.default_rng(0)
        at = rng.integers(len(self.known), size=max(400, 3 * len(self.known)))
        values = [None if missing else self.known[i] for i, missing in zip(at, rng.random(len(at)) < 0.1, strict=True)]
        y = np.array(["ash", "birch", "cedar"])[(7 * at + (rng.random(len(at)) < 0.1)) % 3]
        chosen = {} if self.form == "frame" else {"categorical_features": [0]}
        clf = sb.SimplexBoostClassifier(n_estimators=15, random_state=0, min_samples_leaf=2, **chosen)
        return clf.fit(self.table(values, rng.normal(size=len(at)).astype(np.float32)), y)

    def rows(self):
        """Rows with every category, unknown ones and missing ones."""
        values = [*self.known, *self.unknown, None] * 2
        return self.table(values, np.linspace(-1, 1, len(values)).astype(np.float32))


POSTCODES = [10115, 20095, 50667, 70173, 80331]
MANY = list(range(3, 3 * 301, 3))  # more than there are numbers for: the rarest share one
KINDS = {
    "whole numbers": Kind(POSTCODES, [5, 80332, -1, 1e30]),
    "whole numbers from 1": Kind([1, 2, 3, 4], [0, 5, 255, 256, 1.5]),
    "negative numbers": Kind([-3, -2, 0, 7], [-4, -1, 1, 2]),
    "floats": Kind([-0.5, 0.25, 1.0, 2.75], [0.0, 1.0000001192092896, 3.0]),
    "more than 254": Kind(MANY, [0, 4, 253, 254, 255, 1000]),
    "pandas, whole numbers": Kind(POSTCODES, [5, 80332, -1, 1000], "frame"),
    "pandas, from 1": Kind([1, 2, 3, 4], [0, 5, 255, 256], "frame"),
    "pandas, floats": Kind([-0.5, 0.25, 1.0, 2.75], [0.0, 3.0], "frame"),
    "pandas, truth values": Kind([False, True], [], "frame"),
}


def by_onnx(dtype):
    """Labels and probabilities by ONNX."""

    def told(clf, X, folder):
        out = run(sb.export.onnx(clf, dtype=dtype), X, dtype)
        return out["label"], out["probabilities"]

    return told


def by_python(clf, X, folder):
    """By the Python file."""
    model = model_of(clf)
    return model.predict(X), model.predict_proba(X)


def by_javascript(clf, X, folder):
    """By the JavaScript module."""
    labels, P, _ = zip(*node(folder, clf, as_json(X))["out"], strict=True)
    return np.array(labels), np.array(P)


def by_c(clf, X, folder):
    """By the C source, which is given the categories as they are."""
    compiled, N = Compiled(clf, folder), np.ascontiguousarray(np.asarray(X, dtype=np.float64))
    return clf.classes_[compiled.labels(N)], compiled.fill("model_probabilities", N)


def by_treelite(clf, X, folder):
    """By treelite, which is given the numbers of the categories."""
    P = predicted(sb.export.treelite(clf), clf, X)
    return clf.classes_[P.argmax(axis=1)], P


ROUTES = [
    pytest.param(by_onnx(np.float64), id="onnx"),
    pytest.param(by_onnx(np.float32), id="onnx float32"),
    pytest.param(by_python, id="python"),
    pytest.param(by_javascript, id="javascript", marks=pytest.mark.node),
    pytest.param(by_c, id="c", marks=pytest.mark.cc),
    pytest.param(by_treelite, id="treelite"),
]


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    """A classifier and rows to predict."""
    kind = KINDS[request.param]
    if len(kind.known) > 254:
        with pytest.warns(UserWarning, match="254 can be told apart"):
            return kind.fitted(), kind.rows()
    return kind.fitted(), kind.rows()


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_takes_categories_as_they_are(route, fitted, tmp_path):
    clf, X = fitted
    labels, P = route(clf, X, tmp_path)
    wanted = clf.predict_proba(X)
    assert len({tuple(p) for p in wanted.round(6).tolist()}) > 2  # the categories matter
    np.testing.assert_allclose(P, wanted, rtol=0, atol=1e-5)
    clear = np.ptp(np.sort(wanted, axis=1)[:, -2:], axis=1) > 1e-5
    assert clear.any() and (labels == clf.predict(X))[clear].all()


@pytest.mark.cc
def test_categories_that_a_model_learned_later_are_found_in_c(tmp_path):
    """Their numbers follow those of the first fit, so the table of values is not in the order of the numbers."""
    rng = np.random.default_rng(0)
    codes = rng.choice([30, 10, 50], 300)
    X = np.column_stack([codes, rng.normal(size=300)]).astype(float)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0, categorical_features=[0], warm_start=True)
    clf.fit(X, codes == 30)
    more = np.where(np.arange(300) % 2, X[:, 0], X[:, 0] - 5)
    clf.set_params(n_estimators=15).fit(np.column_stack([more, X[:, 1]]), more % 10 == 5)
    assert clf.categories_.columns[0].tolist() == [10, 30, 50, 5, 25, 45]
    rows = np.array([[code, x] for code in (5, 10, 25, 30, 45, 50, 7, np.nan) for x in (-1.0, 1.0)])
    _, P = by_c(clf, rows, tmp_path)
    np.testing.assert_allclose(P, clf.predict_proba(rows), rtol=0, atol=1e-5)


@pytest.mark.cc
def test_the_number_of_a_text_is_for_columns_of_text_only(tmp_path):
    compiled = Compiled(KINDS["pandas, whole numbers"].fitted(), tmp_path)
    assert compiled.category(0, "80331") == compiled.category(0, "80331.0") == -1


@pytest.mark.parametrize(
    ("category", "route", "where"),
    [
        (2**53 + 1, lambda clf, path: sb.export.c(clf, path / "m.c"), "float64 precision, which is what C"),
        (2**53 + 1, lambda clf, path: sb.export.onnx(clf), "float64 precision, which is what ONNX"),
        (-(10**310), lambda clf, path: sb.export.onnx(clf), "float64 precision, which is what ONNX"),
        (0.1, lambda clf, path: sb.export.onnx(clf, dtype="float32"), "float32 precision, which is what ONNX"),
        (1e300, lambda clf, path: sb.export.onnx(clf, dtype="float32"), "float32 precision, which is what ONNX"),
    ],
    ids=["c, 2**53 + 1", "onnx, 2**53 + 1", "onnx, of 311 digits", "onnx float32, 0.1", "onnx float32, 1e300"],
)
def test_categories_that_a_route_cannot_tell_apart_are_refused(category, route, where, tmp_path):
    X = pd.DataFrame({"code": pd.Categorical([category, 1000] * 20)})
    clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, [0, 1] * 20)
    with pytest.raises(ValueError, match=re.escape(f"categories such as {category!r} are no numbers of {where}")):
        route(clf, tmp_path)
