"""Pictures of models: what was drawn is right, and can be read for 2, 3, 26 and 400 classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose, assert_array_equal
from picture_checks import boxes, check_apart, check_picture, model_of, own_axes
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import simplexboost as sb
from simplexboost import evaluate
from simplexboost.evaluate.drawing import GREY
from simplexboost.evaluate.explanation_plots import choose_bars
from simplexboost.parts.codewords import MaxMin

CLASSES = [2, 3, 26, 400]


def on_sphere(K, d):
    """K points on the unit sphere."""
    Y = np.random.default_rng(0).normal(size=(K, d))
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def points_of(ax):
    """The positions of all markers that were drawn by ``plot``."""
    return np.concatenate([np.column_stack(line.get_data()) for line in ax.lines if line.get_marker() != "None"])


@pytest.fixture(scope="module")
def flat():
    """A booster of three classes with a predictor of two dimensions."""
    data = sb.datasets.make_three_gaussians(300, 200, random_state=0)
    clf = sb.CDMCBoostClassifier(n_estimators=20).fit(data.X_train, data.y_train)
    return clf, data.X_test, data.y_test


# ---- codewords ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_codewords_in_the_plane(K):
    Y = on_sphere(K, 2) if K > 26 else MaxMin(code_dim=2).matrix(K, np.random.default_rng(0))
    ax = evaluate.plot_codewords(Y)
    check_picture(ax)
    check_apart(boxes(ax.texts))
    assert_allclose(np.sort(points_of(ax), axis=0), np.sort(Y, axis=0))
    assert len(ax.texts) == (K if K <= 26 else 0)
    assert ax.get_aspect() == 1.0


@pytest.mark.parametrize("K", CLASSES)
def test_codewords_in_space(K):
    Y = on_sphere(K, 3)
    ax = evaluate.plot_codewords(Y)
    check_picture(ax)
    assert ax.name == "3d"
    if K == 400:
        assert_allclose(np.sort(ax.collections[0]._offsets3d[0]), np.sort(Y[:, 0]))
    else:
        assert 0 < len(ax.texts) <= K


def test_codewords_of_a_booster_of_a_set_and_in_one_dimension(flat):
    assert [text.get_text() for text in evaluate.plot_codewords(flat[0]).texts] == ["0", "1", "2"]
    ax = evaluate.plot_codewords("simplex", 2, labels=["no", "yes"])
    assert [text.get_text() for text in ax.texts] == ["no", "yes"] and len(ax.get_yticks()) == 0
    hexagon = evaluate.plot_codewords(MaxMin(code_dim=2), 6)
    edges = [line for line in hexagon.lines if line.get_color() == GREY]
    assert len(edges) == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate.plot_codewords("simplex"), "pass K, too"),
        (lambda: evaluate.plot_codewords("simplex", 6), "5 dimensions; a picture has 2 or 3"),
        (lambda: evaluate.plot_codewords("simplex", 3, labels=["a"]), "labels has 1 entries; there are 3"),
        (lambda: evaluate.plot_codewords("simplex", 4, ax=own_axes()), "projection='3d'"),
        (lambda: evaluate.plot_loss_contours("logistic", "simplex", 4), "3 dimensions"),
        (lambda: evaluate.plot_loss_contours("square"), "loss='square' is unknown"),
        (lambda: evaluate.plot_loss_contours(true=3), "true=3 is out of range"),
        (lambda: evaluate.plot_race({}), "curves is empty"),
        (lambda: evaluate.plot_race({"a": ([1], [1, 2])}), r"curves\['a'\] has shapes \(1,\) and \(2,\)"),
        (lambda: evaluate.plot_race({"a": ([0], [1])}), "seconds above 0"),
        (lambda: evaluate.plot_race({"a": 3}), r"curves\['a'\] must be a pair"),
        (lambda: evaluate.plot_race({"a": ([1], [1])}, highlight="b"), "highlight='b' is no contestant"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_axes_must_be_axes():
    with pytest.raises(TypeError, match="ax holds a Figure; pass matplotlib axes"):
        evaluate.plot_codewords("simplex", 3, ax=plt.figure())


# ---- predictor ------------------------------------------------------------------------------------------------------


def test_predictor_shows_every_row_where_it_is(flat):
    clf, X, y = flat
    ax = evaluate.plot_predictor(clf, X, y, 10)
    check_picture(ax)
    F = evaluate.predictors_over_rounds(clf, X, [10])[0]
    assert_allclose(np.sort(points_of(ax), axis=0), np.sort(F, axis=0), rtol=1e-6)
    rays = [line for line in ax.lines if line.get_linestyle() == "--"]
    for ray, word in zip(rays, clf.model_.Y, strict=True):
        end = np.column_stack(ray.get_data())[1]
        assert_allclose(end / np.linalg.norm(end), word / np.linalg.norm(word), atol=1e-6)
    assert len(ax.get_legend().get_texts()) == 3


@pytest.mark.parametrize("K", CLASSES)
def test_predictor_of_more_dimensions_is_projected(K):
    clf, X, y = model_of(K)
    ax = evaluate.plot_predictor(clf, X, y)
    check_picture(ax)
    check_apart(boxes(ax.texts))
    assert len(points_of(ax)) == len(X)
    assert (ax.get_legend() is not None) == (K != 26)  # 26 classes have their names in the picture
    assert ("principal" in ax.get_xlabel()) == (clf.model_.Y.shape[1] > 2)


def test_predictor_colours_chosen_classes_and_draws_some_rows():
    clf, X, y = model_of(400)
    ax = evaluate.plot_predictor(clf, X, y, classes=["class 007", "class 100"], most=500)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["others", "class 007", "class 100"]
    assert len(points_of(ax)) == 500


def test_predictor_of_many_classes_colours_six_that_lie_apart():
    clf, X, y = model_of(400)
    ax = evaluate.plot_predictor(clf, X, y)
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named[0] == "others" and len(named) == 7 and set(named[1:]) <= set(clf.classes_)
    coloured = [line for line in ax.lines if line.get_label() in named[1:]]
    assert len({line.get_color() for line in coloured}) == len({line.get_marker() for line in coloured}) == 6
    means = np.array([np.column_stack(line.get_data()).mean(axis=0) for line in coloured])
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(means, 2))
    assert nearest > 0.1 * np.ptp(points_of(ax), axis=0).max()


def test_panels_have_one_scale(flat):
    clf, X, y = flat
    axes = evaluate.plot_predictor(clf, X, y, [0, 5, 20])
    check_picture(axes)
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert_array_equal(points_of(axes[0]), 0)
    assert evaluate.plot_predictor(clf, X, y).get_title() == "after 20 rounds"


def test_animation_moves_the_points(flat, tmp_path):
    clf, X, y = flat
    ax = own_axes()
    animation = evaluate.animate_predictor(clf, X, y, [0, 5, 20], ax=ax)
    animation.save(tmp_path / "f.gif", writer="pillow", dpi=40)
    assert (tmp_path / "f.gif").stat().st_size > 1000
    assert ax.get_title() == "after 20 rounds"
    F = evaluate.predictors_over_rounds(clf, X, [20])[0]
    assert_allclose(np.sort(points_of(ax), axis=0), np.sort(F, axis=0), rtol=1e-6)


@pytest.mark.parametrize("kind", ["list", "sparse", "coordinates", "pandas", "polars", "arrow"])
def test_tables_of_every_kind(kind, flat):
    clf, X, y = flat
    tables = {
        "list": lambda: X.tolist(),
        "sparse": lambda: scipy.sparse.csr_array(X),
        "coordinates": lambda: scipy.sparse.coo_array(X),
        "pandas": lambda: pandas.DataFrame(X, columns=["a", "b"]),
        "polars": lambda: polars.DataFrame(X, schema=["a", "b"]),
        "arrow": lambda: pyarrow.table({"a": X[:, 0], "b": X[:, 1]}),
    }
    table = tables[kind]()
    clf = clone(clf).fit(table, y)
    expected = np.sort(evaluate.predictors_over_rounds(clf, table, [20])[0], axis=0)
    assert_allclose(np.sort(points_of(evaluate.plot_predictor(clf, table, y)), axis=0), expected, rtol=1e-6)
    assert len(points_of(evaluate.plot_predictor(clf, table, y, most=50))) == 50
    check_picture(evaluate.plot_margins(clf, table, y))
    check_picture(evaluate.plot_shap(clf, table, 1, rows=30))


def test_classes_without_training_rows_are_left_out():
    X, y = load_iris(return_X_y=True)
    clf = sb.SimplexBoostClassifier(n_estimators=5, classes=[0, 1, 2, 3], random_state=0).fit(X, y)
    for ax in (evaluate.plot_predictor(clf, X, y), evaluate.plot_class_map(clf, X, y), evaluate.plot_tree(clf)):
        check_picture(ax)
    assert_array_equal(evaluate.plot_importance(clf, classes=[3, 0]).images[0].get_array()[:, 0], 0)
    check_picture(evaluate.plot_margins(clf, X, y))


# ---- margins, learning curves, candidates ---------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_margins_are_distributions(K):
    clf, X, y = model_of(K)
    ax = evaluate.plot_margins(clf, X, y, [1, 4, 8])
    check_picture(ax)
    expected = evaluate.margins(clf, X, y, [1, 4, 8])
    for line, margins in zip(ax.lines, expected, strict=False):
        assert_allclose(line.get_xdata(), np.sort(margins))
        assert_allclose(line.get_ydata()[-1], 1.0)
    histogram = evaluate.plot_margins(clf, X, y, [1, 8], kind="histogram", bins=10)
    check_picture(histogram)
    assert [int(stairs.get_data().values.sum()) for stairs in histogram.patches] == [len(y), len(y)]


def test_learning_curves_mark_the_chosen_round():
    X, y = load_wine(return_X_y=True)
    clf = sb.SimplexBoostClassifier(n_estimators=60, early_stopping=True, learning_rate=0.3, random_state=0)
    clf.fit(X[::2], y[::2], X_val=(X[1::2], X), y_val=(y[1::2], y), eval_metric=["log_loss", "error"])
    ax = evaluate.plot_learning_curves(clf)
    check_picture(ax)
    lines = {line.get_label(): line for line in ax.lines}
    assert_allclose(lines["evaluated 1"].get_ydata(), clf.evals_result_[0]["risk"])
    assert_allclose(lines["training"].get_ydata(), clf.history_["risk"])
    assert lines["evaluated 1"].get_linestyle() != lines["evaluated 2"].get_linestyle()
    chosen = next(line for name, line in lines.items() if "kept by early stopping" in name)
    assert chosen.get_xdata()[0] == clf.best_iteration_
    assert evaluate.plot_learning_curves(clf, "error").lines[0].get_label() == "evaluated 1"
    assert evaluate.plot_learning_curves(clf, log=True).get_yscale() == "log"
    assert evaluate.plot_learning_curves(clf, log=False).get_yscale() == "linear"
    with pytest.raises(ValueError, match="metric='auc' was not recorded"):
        evaluate.plot_learning_curves(clf, "auc")
    with pytest.raises(ValueError, match="log='yes' must be"):
        evaluate.plot_learning_curves(clf, log="yes")


def test_candidates_are_those_of_the_choice():
    clf = sb.SimplexBoostClassifier(learning_rate=0.3, random_state=0).fit(*load_wine(return_X_y=True))
    ax = evaluate.plot_candidates(clf)
    check_picture(ax)
    risks = sorted(candidate["risk"] for candidate in clf.choice_.candidates)
    assert_allclose(np.sort(points_of(ax)[:, 0]), risks)
    assert [text.get_text().count("chosen") for text in ax.texts].count(1) == 1
    assert len(evaluate.plot_candidates(clf.choice_).texts) == len(risks)
    assert ax.get_xlabel() == f"held-out risk ({clf.choice_.n_held} rows, 5 splits)"
    on_sample = evaluate.plot_candidates(replace(clf.choice_, n_sample=80, n_splits=1))
    assert on_sample.get_xlabel() == "held-out risk (a sample of 80 rows, 1 split)"
    with pytest.raises(ValueError, match="has chosen nothing"):
        evaluate.plot_candidates(model_of(3)[0])


# ---- importance and Shapley values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_importance_overall_and_for_all_classes(K):
    clf = model_of(K)[0]
    bars = evaluate.plot_importance(clf)
    check_picture(bars)
    expected = np.sort(sb.explain.importances(clf))[::-1]
    assert_allclose([bar.get_width() for bar in bars.patches], expected[expected > 0])
    table = evaluate.plot_importance(clf, classes=clf.classes_)
    check_picture(table)
    drawn = table.images[0].get_array()
    assert drawn.shape == ((expected > 0).sum(), K) and drawn.max() == 1.0
    one = evaluate.plot_importance(clf, classes=clf.classes_[1], most=2)
    assert one.get_title() == f"class {clf.classes_[1]}"
    assert_allclose(one.patches[0].get_width(), sb.explain.importances(clf, classes=clf.classes_[1]).max())


def test_importance_by_shapley_values_and_wrong_classes():
    clf, X, _ = model_of(3)
    ax = evaluate.plot_importance(clf, "shap", X)
    assert_allclose(ax.patches[0].get_width(), sb.explain.importances(clf, "shap", X).max())
    with pytest.raises(ValueError, match="classes holds 'cat', which is none of the classes"):
        evaluate.plot_importance(clf, classes=["cat"])
    with pytest.raises(ValueError, match="kind='size' is unknown"):
        evaluate.plot_importance(clf, "size")


@pytest.mark.parametrize("K", CLASSES)
def test_shap_summary_holds_the_values(K):
    clf, X, _ = model_of(K)
    label = clf.classes_[1]
    ax = evaluate.plot_shap(clf, X, label, rows=100, most=3)
    check_picture(ax)
    swarms = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    rows = np.arange(len(X)) if len(X) <= 100 else np.sort(np.random.default_rng(0).choice(len(X), 100, replace=False))
    values = sb.explain.shap_values(clf, X[rows], label)
    best = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:3]
    for swarm, feature in zip(swarms, best, strict=True):
        assert_allclose(swarm.get_offsets()[:, 0], values[:, feature])
    assert (np.abs(swarms[0].get_offsets()[:, 1]) < 0.5).all()


def test_shap_panels_share_features_and_scale():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(**{"petal width (cm)": X["petal width (cm)"].where(X.index % 7 > 0)})  # with missing values
    clf = sb.SimplexBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    axes = evaluate.plot_shap(clf, X)
    check_picture(axes)
    assert [ax.get_title() for ax in axes] == ["class 0", "class 1", "class 2"]
    assert len({ax.get_xlim() for ax in axes}) == 1
    with pytest.raises(ValueError, match="classes has 7 labels; a row of panels takes up to 6"):
        evaluate.plot_shap(clf, X, [0] * 7)
    with pytest.raises(ValueError, match="classes holds 9, which is none of the classes"):
        evaluate.plot_shap(clf, X, 9)


def test_values_without_a_label_are_about_the_second_of_two_classes():
    clf, X, _ = model_of(2)
    assert evaluate.plot_shap(clf, X, rows=20).get_title() == f"class {clf.classes_[1]}"


# ---- trees ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", CLASSES)
def test_tree_has_a_bar_for_every_class_and_leaf(K):
    clf, _, _ = model_of(K)
    ax = evaluate.plot_tree(clf, -1, max_depth=None)
    check_picture(ax)
    tree = clf.model_.trees[-1]
    bars = min(K, 60)
    assert len(ax.patches) == bars * tree.n_leaves
    boxed = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert len(boxed) == tree.n_leaves - 1
    check_apart(boxes(text for text in ax.texts if text.get_text().endswith((" rows)", " row)"))))
    assert f"{tree.n_leaves} leaves" in ax.get_title()


def test_heights_of_bars_are_what_the_leaf_adds():
    clf, _, _ = model_of(3)
    ax = evaluate.plot_tree(clf, 0, max_depth=0)  # the root alone: the mean of all leaves
    tree, term = clf.model_.trees[0], clf.model_.scaled_terms[0]
    from simplexboost.explain.explained_classes import node_outputs

    mean = node_outputs(term, clf.model_.Y.T.astype(float), clf.model_.dtype)[0]
    heights = np.array([-bar.get_height() for bar in ax.patches])
    assert_allclose(heights / np.abs(heights).max(), mean / np.abs(mean).max(), atol=1e-6)
    assert f"({tree.count[0]} rows)" in ax.texts[0].get_text() and "drawn to depth 0" in ax.get_title()
    assert len(choose_bars(np.ones((2, 61)))) == 60


def test_tree_with_categories_and_trees_that_are_not_there():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(8, size=200), rng.normal(size=200)])
    y = (X[:, 0] % 3).astype(int)
    clf = sb.SimplexBoostClassifier(n_estimators=3, categorical_features=[0], random_state=0).fit(X, y)
    ax = evaluate.plot_tree(clf, 0, max_depth=2)
    check_picture(ax)
    assert any("in {" in text.get_text().replace("\n", " ") for text in ax.texts)
    with pytest.raises(ValueError, match="i=3 is out of range"):
        evaluate.plot_tree(clf, 3)


# ---- losses, races, maps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "loss"), [(3, "own-score"), (3, "exponential"), (26, "logistic")])
def test_contours_are_those_of_the_loss(K, loss):
    words = "simplex" if K == 3 else MaxMin(code_dim=2)
    ax = evaluate.plot_loss_contours(loss, words, K, true=1)
    check_picture(ax)
    lines = ax.collections[0]
    Y = sb.parts.codewords.as_codewords(words).matrix(K, np.random.default_rng(0))
    drawn = sb.parts.losses.LOSSES[loss]()
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        if len(path.vertices):
            values = drawn.log_value(0.5 * path.vertices @ Y.T, np.full(len(path.vertices), 1))
            assert_allclose(values, level, atol=0.02)


def test_contours_of_the_pairwise_loss_do_not_cross_the_boundary():
    """Figure 3: an own-score loss is as low for some errors as for right decisions, the γ–φ loss is not."""
    side = np.linspace(-2, 2, 41)
    Y = sb.parts.codewords.Simplex().matrix(3)
    F = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    right = (F @ Y.T).argmax(axis=1) == 0
    from simplexboost.evaluate.plane_plots import log_losses

    own = log_losses(sb.parts.losses.LOSSES["own-score"](), Y, side, 0).ravel()
    pairs = log_losses(sb.parts.losses.LOSSES["exponential"](), Y, side, 0).ravel()
    assert np.exp(own[~right].min()) < 0.5 < np.exp(own[right].max())
    assert np.exp(pairs[~right].min()) >= 1.0 - 1e-9


def test_race_curves_end_in_markers():
    seconds = np.geomspace(0.1, 100, 20)
    curves = {name: (seconds * (k + 1), 1 - 0.3 / (k + seconds)) for k, name in enumerate("abcdefg", 1)}
    ax = evaluate.plot_race(curves, highlight="c", ylabel="accuracy")
    check_picture(ax)
    lines = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
    assert set(lines) == set("abcdefg") and lines["c"].get_linewidth() > lines["a"].get_linewidth()
    assert_allclose(lines["e"].get_xdata(), curves["e"][0])
    ends = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert len(ends) == 7 and len({line.get_marker() for line in ends}) == 7


@pytest.mark.parametrize("K", CLASSES)
def test_class_map_places_every_class(K):
    clf, X, y = model_of(K)
    ax = evaluate.plot_class_map(clf, X, y)
    check_picture(ax)
    check_apart(boxes(ax.texts))
    found = evaluate.map_of_scores(clf.class_scores(X), y, clf.classes_)
    assert_allclose(ax.collections[0].get_offsets(), found.points)
    assert len(ax.lines) <= 20 and len(ax.texts) >= min(K, 10)
    assert len(ax.texts) <= 60
    size = ax.collections[0].get_sizes()[0] ** 0.5 / 2 * ax.figure.dpi / 72  # pixels
    dots = ax.transData.transform(found.points)
    for text in ax.texts:
        (low, high) = text.get_window_extent().padded(0.99 * size).get_points()
        assert not ((low < dots) & (dots < high)).all(axis=1).any(), text.get_text()


# ---- boosters that are not fitted, or no boosters -------------------------------------------------------------------

X, Y_LABELS = load_iris(return_X_y=True)
OF_MODELS = {
    "plot_codewords": lambda clf: evaluate.plot_codewords(clf),
    "plot_predictor": lambda clf: evaluate.plot_predictor(clf, X, Y_LABELS),
    "animate_predictor": lambda clf: evaluate.animate_predictor(clf, X, Y_LABELS),
    "plot_margins": lambda clf: evaluate.plot_margins(clf, X, Y_LABELS),
    "plot_learning_curves": lambda clf: evaluate.plot_learning_curves(clf),
    "plot_candidates": lambda clf: evaluate.plot_candidates(clf),
    "plot_importance": lambda clf: evaluate.plot_importance(clf),
    "plot_shap": lambda clf: evaluate.plot_shap(clf, X, 0),
    "plot_tree": lambda clf: evaluate.plot_tree(clf),
    "plot_class_map": lambda clf: evaluate.plot_class_map(clf, X, Y_LABELS),
}


@pytest.mark.parametrize("name", OF_MODELS)
def test_models_must_be_fitted_boosters(name):
    with pytest.raises(NotFittedError):
        OF_MODELS[name](sb.SimplexBoostClassifier())
    if name not in ("plot_candidates", "plot_codewords"):
        with pytest.raises(TypeError, match="LogisticRegression"):
            OF_MODELS[name](LogisticRegression(max_iter=1000).fit(X, Y_LABELS))


@pytest.mark.parametrize("name", ["plot_predictor", "animate_predictor", "plot_margins"])
def test_models_without_rounds_say_so(name):
    clf = sb.SimplexBoostClassifier(n_estimators=3).fit(np.ones_like(X), Y_LABELS)
    assert clf.n_iter_ == 0
    words = r"this SimplexBoostClassifier has no rounds to show \(.+\)\. Pass rounds=\[0\]"
    with pytest.raises(ValueError, match=words):
        OF_MODELS[name](clf)
    drawn = getattr(evaluate, name)(clf, np.ones_like(X), Y_LABELS, [0])
    if name == "animate_predictor":
        assert "<img" in drawn.to_jshtml()


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: evaluate.plot_codewords("simplex", 3, ax=ax),
        lambda ax: evaluate.plot_predictor(*model_of(3), ax=ax),
        lambda ax: evaluate.plot_margins(*model_of(3), ax=ax),
        lambda ax: evaluate.plot_learning_curves(model_of(3)[0], ax=ax),
        lambda ax: evaluate.plot_importance(model_of(3)[0], ax=ax),
        lambda ax: evaluate.plot_importance(model_of(3)[0], classes=model_of(3)[0].classes_, ax=ax),
        lambda ax: evaluate.plot_shap(*model_of(3)[:2], "class 001", ax=ax),
        lambda ax: evaluate.plot_tree(model_of(3)[0], ax=ax),
        lambda ax: evaluate.plot_loss_contours(ax=ax),
        lambda ax: evaluate.plot_race({"a": ([1, 2], [0, 1])}, ax=ax),
        lambda ax: evaluate.plot_class_map(*model_of(3), ax=ax),
    ],
)
def test_pictures_return_the_axes_they_are_given(draw):
    ax = own_axes()
    assert draw(ax) is ax
    assert len(plt.get_fignums()) == 1
