"""Models that are larger than a packed forest can number: they predict, explain and are shipped like all others."""

import io
from itertools import cycle

import numpy as np
import pytest
from cases import blobs
from sklearn.base import clone

import simplexboost as sb
from simplexboost import export
from simplexboost.engine.cpu import forest

# ---- large models ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """A classifier with a tree of more than 65 537 nodes, and some rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90_000, 3)), rng.integers(2, size=90_000)
    clf = sb.SimplexBoostClassifier(
        n_estimators=2, max_leaf_nodes=45_000, min_samples_leaf=1, l2_regularization=0.0, max_features=1.0,
        learning_rate=1.0, random_state=0, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    assert len(clf.model_.trees[0].nodes) > 2**16 + 1
    return clf, X[:300]


def sums_of_leaves(clf, X):
    """F, from the leaf of every row in every tree."""
    F = np.zeros((len(X), clf.model_.Y.shape[1]), dtype=clf.model_.dtype)
    for term, leaves in zip(clf.model_.scaled_terms, clf.apply(X).T, strict=True):
        F += F.dtype.type(term.step) * np.asarray(term.hypothesis.values)[leaves]
    return F


def test_a_tree_of_many_leaves_predicts(large):
    clf, X = large
    P = clf.predict_proba(X)
    assert clf.model_.predictor(X).tobytes() == sums_of_leaves(clf, X).tobytes()
    assert list(clf.staged_predict_proba(X))[-1].tobytes() == P.tobytes()
    assert clf.predict(X).tolist() == clf.classes_[P.argmax(axis=1)].tolist()
    assert np.concatenate([clf.predict_proba(X[[i]]) for i in range(20)]).tobytes() == P[:20].tobytes()


def test_a_tree_of_many_leaves_is_saved_explained_and_shipped(large, tmp_path):
    clf, X = large
    P, file = clf.predict_proba(X), io.BytesIO()
    clf.save(file)
    file.seek(0)
    loaded = sb.load(file)
    assert loaded.predict_proba(X).tobytes() == P.tobytes()
    scores, values = clf.class_scores(X[:4]), sb.explain.shap_values(clf, X[:4])
    np.testing.assert_allclose(values.sum(axis=1) + sb.explain.expected_value(clf), 2 * scores, atol=1e-5)
    export.python(clf, tmp_path / "model.py")
    names = {"__name__": "model", "__file__": str(tmp_path / "model.py")}
    exec((tmp_path / "model.py").read_text(), names)
    np.testing.assert_allclose(names["predict_proba"](X), P, atol=1e-6)


def test_a_model_goes_on_beyond_what_can_be_packed_at_once():
    """Every day brings new rows, whose bins have new edges: in the end there are more than 32 767 thresholds."""
    rng = np.random.default_rng(0)
    clf = sb.SimplexBoostClassifier(
        n_estimators=0, warm_start=True, max_leaf_nodes=255, min_samples_leaf=1, l2_regularization=0.0, max_bins=255,
        random_state=0, n_jobs=1,
    )  # fmt: skip
    labels = cycle([np.arange(600) % 3])
    for day in range(140):
        clf.set_params(n_estimators=day + 1).fit(rng.normal(size=(600, 1)), next(labels))
    nodes = np.concatenate([tree.nodes for tree in clf.model_.trees])
    assert len(np.unique(nodes["threshold"][nodes["feature"] == 0])) > 2**15 - 1
    X = rng.normal(size=(200, 1))
    assert clf.model_.predictor(X).tobytes() == sums_of_leaves(clf, X).tobytes()
    assert (clf.predict_proba(X) > 0).all()


# ---- ordinary models, as if they were large -------------------------------------------------------------------------


@pytest.fixture(params=["in parts", "tree by tree"])
def large_way(request, monkeypatch):
    """Packed forests can number one tree only, or none."""
    pack = forest.pack

    def refuse(arrays):
        if request.param == "tree by tree" or len(arrays.trees) > 1:
            raise OverflowError("too many nodes")
        return pack(arrays)

    return lambda: monkeypatch.setattr(forest, "pack", refuse)


PROBLEMS = {
    "flagship": (sb.SimplexBoostClassifier(n_estimators=8), blobs(n=200, missing=0.1)),
    "early stopping": (sb.SimplexBoostClassifier(n_estimators=12, early_stopping=True), blobs(n=200)),
    "symmetric trees": (sb.SimplexBoostClassifier(n_estimators=5, growth="symmetric"), blobs(n=200, missing=0.1)),
    "sparse leaves": (sb.SimplexBoostClassifier(n_estimators=4), blobs(n=900, K=150, p=4)),
    "categories": (sb.SimplexBoostClassifier(n_estimators=6, categorical_features=[0]), blobs(n=200)),
    "coordinates": (sb.CDMCBoostClassifier(n_estimators=5), blobs(n=200, missing=0.1)),
    "one column each": (sb.AdaBoostMHClassifier(n_estimators=5), blobs(n=200)),
}


@pytest.mark.parametrize(("clf", "table"), PROBLEMS.values(), ids=PROBLEMS)
def test_no_way_of_predicting_differs_in_a_bit(clf, table, large_way):
    X, y = table
    if getattr(clf, "categorical_features", None):
        X = np.column_stack([np.arange(len(X)) % 7, X[:, 1:]])

    def answers():
        file = io.BytesIO()
        model = clone(clf).set_params(random_state=0).fit(X, y)
        model.save(file)
        yield file.getvalue()
        yield model.decision_function(X).tobytes()
        yield model.apply(X).tobytes()
        yield from (F.tobytes() for F in model.staged_decision_function(X))

    usual = list(answers())
    large_way()
    assert list(answers()) == usual
