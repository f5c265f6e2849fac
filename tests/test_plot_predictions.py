"""Numbers about predictions of any classifier, and their pictures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from picture_checks import boxes, check_apart, check_picture, model_of, own_axes
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import simplexboost as sb
from simplexboost.evaluate import ClassTable, Confusion, DecisionRegions, Reliability, RiskCurve

CLASSES = [2, 3, 26, 400]


# ---- confusion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_confusion_can_be_read(K):
    clf, X, y = model_of(K)
    found = Confusion.from_estimator(clf, X, y)
    ax = found.plot()
    check_picture(ax)
    assert_array_equal(found.counts, Confusion.from_predictions(y, clf.predict(X), clf.classes_).counts)
    order = found.order()
    assert_array_equal(np.sort(order), np.arange(K))
    ordered = found.part(order)
    if K < 400:
        assert len(ax.figure.axes) == 1
        assert_allclose(ax.images[0].get_array(), ordered.rates)
        numbers = [int(text.get_text()) for text in ax.texts]
        assert numbers == ordered.counts[ordered.counts > 0].tolist()
        check_apart(boxes(ax.texts))
    else:
        spots = ax.collections[0].get_offsets()
        rows, columns = np.nonzero(ordered.errors)
        assert_array_equal(spots, np.column_stack([columns, rows]))
        block = found.worst_block(order, 15)
        assert_allclose(ax.figure.axes[-1].images[0].get_array(), found.part(block.numbers).rates)
        frame = ax.patches[0]
        assert frame.get_x() == block.start - 0.5 and frame.get_width() == 15


def test_worst_block_is_magnified_beside_also_on_given_axes():
    found = Confusion.from_estimator(*model_of(400))
    figure, (left, right) = plt.subplots(1, 2, figsize=(20, 6), layout="constrained")
    assert found.plot(block_size=8, ax=right) is right
    figure.canvas.draw()
    block = figure.axes[-1]
    assert len(block.images[0].get_array()) == 8
    assert block.get_window_extent().x0 > right.get_window_extent().x1
    assert not left.get_window_extent().overlaps(right.get_window_extent())
    free = plt.figure(figsize=(12, 6)).add_axes((0.1, 0.2, 0.8, 0.7))
    found.plot(ax=free)
    assert free.figure.axes[-1].get_position().x0 > free.get_position().x1


def test_order_of_classes_can_be_kept_and_probabilities_are_not_needed():
    y = np.array(["a", "b", "c", "a", "c"])
    found = Confusion.from_predictions(y, np.array(["c", "b", "a", "a", "c"]))  # a and c are similar
    kept = found.plot(ordered=False)
    assert_array_equal(kept.images[0].get_array(), found.rates)
    assert abs(np.diff(np.argsort(found.order())[[0, 2]])[0]) == 1
    assert_array_equal(found.plot(ax=own_axes()).images[0].get_array(), found.part(found.order()).rates)
    X, c = load_iris(return_X_y=True)
    assert Confusion.from_estimator(RidgeClassifier().fit(X, c), X, c).soft is None


def test_new_labels_of_another_kind_of_integer_are_rows_of_their_own():
    clf = LogisticRegression().fit([[0.0], [1.0]], np.array([0, 1], dtype=np.uint16))
    found = Confusion.from_estimator(clf, [[0.0], [1.0], [0.0]], np.array([0, 1, 5]))
    assert found.classes.tolist() == [0, 1, 5] and found.counts[2].tolist() == [1, 0, 0] and found.soft is None


@pytest.mark.parametrize("kind", ["text", "objects"])
def test_labels_that_the_model_does_not_know_are_rows_of_their_own(kind):
    clf, X, y = model_of(3)
    y = y.copy()
    if kind == "objects":  # what labels of a data frame are
        y = y.astype(object)
        clf = clone(clf).fit(X, y)
    y[:5] = "new"
    found = Confusion.from_estimator(clf, X, y)
    assert "new" in found.classes and found.support[-1] == 5
    assert ClassTable.from_estimator(clf, X, y).recall[-1] == 0


def test_long_names_are_cut_and_ticks_follow_the_size():
    names = [f"a class with quite a long name, number {k}" for k in range(26)]
    ax = Confusion.from_predictions(names, names).plot()
    check_picture(ax)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == 26 and all(len(label) <= 24 for label in labels)
    ax.figure.set_size_inches(4, 4)
    check_picture(ax)
    assert len(ax.get_yticklabels()) < 26


# ---- precision and recall -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_class_scores_can_be_read(K):
    clf, X, y = model_of(K)
    table = ClassTable.from_estimator(clf, X, y)
    ax = table.plot()
    check_picture(ax)
    shown = min(K, 30)
    lines = {line.get_label(): line for line in ax.lines}
    worst = np.argsort(table.f1, kind="stable")[:shown]
    assert_allclose(lines["recall"].get_xdata(), table.recall[worst])
    assert ("worst of 400" in ax.get_title()) == (K == 400)
    scatter = table.plot(kind="scatter", most=10)
    check_picture(scatter)
    check_apart(boxes(scatter.texts))
    assert len(scatter.collections[0].get_offsets()) == K and len(scatter.texts) <= 10


def test_classes_that_are_never_predicted_have_no_precision():
    ax = ClassTable.from_predictions([0, 0, 1], [0, 0, 0]).plot()
    lines = {line.get_label(): line for line in ax.lines}
    assert len(lines["precision"].get_xdata()) == 1 and len(lines["recall"].get_xdata()) == 2


# ---- reliability ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_reliability_shows_the_bins(K):
    clf, X, y = model_of(K)
    ax = Reliability.from_estimator(clf, X, y, bins=10).plot()
    check_picture(ax)
    expected = Reliability.from_predictions(y, clf.predict_proba(X), clf.classes_, bins=10)
    points, few = (next(line for line in ax.lines if line.get_gid() == gid) for gid in ("reliability", "few rows"))
    assert_allclose(points.get_xydata(), np.column_stack([expected.predicted, expected.observed])[~expected.few])
    assert_allclose(few.get_xydata(), np.column_stack([expected.predicted, expected.observed])[expected.few])
    assert f"{expected.ece:.3f}" in points.get_label()
    assert_allclose(sum(bar.get_height() for bar in ax.patches), 1.0)


def test_a_bin_of_one_row_is_no_spike():
    """A row that is right at a probability of 0.25 is a pale point, which the line leaves out."""
    P = np.r_[np.full(20, 0.55), np.full(20, 0.95), 0.25][:, None] * [1, 0] + [0, 0.2]
    y = np.r_[np.zeros(20), np.zeros(20), 0]
    table = Reliability.from_predictions(y, P / P.sum(axis=1, keepdims=True), classes=[0, 1], label=0)
    lines = table.plot().lines
    line, few = (next(line for line in lines if line.get_gid() == gid) for gid in ("reliability", "few rows"))
    assert table.count.tolist() == [1, 20, 20] and table.few.tolist() == [True, False, False]
    assert len(line.get_xdata()) == 2 and line.get_linestyle() == "-" and line.get_alpha() is None
    assert len(few.get_xdata()) == 1 and few.get_linestyle() == "None" and few.get_alpha() < 0.5
    check_picture(Reliability.from_predictions([0, 1], [[0.9, 0.1], [0.2, 0.8]]).plot())


def test_several_reliabilities_share_axes():
    clf, X, y = model_of(3)
    first = Reliability.from_estimator(clf, X, y, label="class 001").plot()
    ax = Reliability.from_estimator(clf, X, y, label="class 002", strategy="quantile").plot(ax=first)
    check_picture(ax)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sum(word == "perfect" for word in words) == 1 and sum("class 00" in word for word in words) == 2
    lines = [line for line in ax.lines if line.get_gid() == "reliability"]
    assert len({line.get_marker() for line in lines}) == 2


# ---- decision regions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 26])
def test_regions_are_predictions(K):
    X, y = make_blobs(30 * K, centers=K, cluster_std=0.4, random_state=0)
    clf = sb.SimplexBoostClassifier(n_estimators=10, learning_rate=0.5, random_state=0).fit(X, y)
    found = DecisionRegions.from_estimator(clf, X, y, grid=60)
    ax = found.plot()
    check_picture(ax)
    places = np.array([[found.x[7], found.y[20]], [found.x[50], found.y[33]]])
    assert_array_equal(clf.classes_[found.regions[[20, 33], [7, 50]]], clf.predict(places))
    assert sum(len(line.get_xdata()) for line in ax.lines) == len(X)
    assert (ax.get_legend() is not None) == (K <= 12)
    check_apart(boxes(ax.texts))


def test_regions_of_other_classifiers_and_of_data_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[:, 2:]
    clf = LogisticRegression(max_iter=1000).fit(X, y)
    ax = DecisionRegions.from_estimator(clf, X, grid=20).plot()
    assert ax.get_xlabel() == "petal length (cm)"
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2"]


# ---- wrong input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda clf, X, y: DecisionRegions.from_estimator(clf, X, y), r"X has shape \(\d+, 5\); regions"),
        (lambda clf, X, y: DecisionRegions.from_estimator(clf, X[:, :2], y), "the classifier has 5 features"),
        (lambda clf, X, y: Confusion.from_estimator(clf, X, y[:3]), "y_pred has .* there are 3 labels"),
        (lambda clf, X, y: Confusion.from_estimator(clf, X, y).plot(block_size=1), "block_size=1 is out of range"),
        (lambda clf, X, y: ClassTable.from_estimator(clf, X, y).plot(kind="bars"), "kind='bars' is unknown"),
        (
            lambda clf, X, y: Reliability.from_estimator(clf, X, y, label="cat"),
            "label holds 'cat', which is none of the classes",
        ),
        (lambda clf, X, y: Reliability.from_estimator(clf, X, np.arange(len(X))), "y_true holds numbers"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(*model_of(3))


@pytest.mark.parametrize("summary", [Confusion, ClassTable, Reliability, RiskCurve, DecisionRegions])
def test_estimators_must_be_fitted(summary):
    with pytest.raises(NotFittedError):
        summary.from_estimator(sb.SimplexBoostClassifier(), np.zeros((2, 2)), [0, 1])


@pytest.mark.parametrize("summary", [Reliability, RiskCurve])
def test_reliability_and_risk_need_probabilities(summary):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba"):
        summary.from_estimator(RidgeClassifier().fit(X, y), X, y)


def test_risk_curves_are_drawn_side_by_side():
    clf, X, y = model_of(3)
    first = RiskCurve.from_estimator(clf, X, y).plot()
    ax = RiskCurve.from_predictions(y, sb.keep_rounds(clf, 1).predict_proba(X), clf.classes_).plot(name="b", ax=first)
    lines = [line for line in ax.lines if line.get_gid() == "risk"]
    assert len(lines) == 2 and lines[0].get_color() != lines[1].get_color()
    assert lines[0].get_xdata()[-1] == 1 and lines[0].get_ydata()[-1] == pytest.approx(1 - clf.score(X, y))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0].startswith("rows\n(mean risk") and words[1].startswith("b\n")


@pytest.mark.parametrize("summary", [Confusion, ClassTable, Reliability, RiskCurve])
def test_summaries_draw_on_the_axes_they_are_given(summary):
    ax = own_axes()
    assert summary.from_estimator(*model_of(3)).plot(ax=ax) is ax and len(plt.get_fignums()) == 1
