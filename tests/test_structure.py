"""Classes with structure: ordered classes, their codewords, and decisions by the median."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simplexboost as sb
from simplexboost import decide
from simplexboost.boosting.decisions import median_class
from simplexboost.parts import codewords as cw
from simplexboost.parts.codewords import Auto

SIZES = ["small", "medium", "large", "huge"]


def graded(n: int = 300, K: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the grade, 0 .. K−1, of a noisy sum of their features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, K) / K), score)


def ordinal(**params) -> sb.SimplexBoostClassifier:
    return sb.SimplexBoostClassifier(**({"n_estimators": 10, "classes": sb.Ordinal(), "random_state": 0} | params))


# ---- the code -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 5, 28, 200])
def test_distances_of_ordered_codewords_are_those_of_a_line(K: int) -> None:
    Y = cw.Ordered(K, smoothness=1.0).matrix(K)
    assert Y.shape == (K, K - 1)
    for k in (0, K // 2, K - 1):
        for j in range(K):
            assert ((Y[k] - Y[j]) ** 2).sum() == pytest.approx(4 * abs(k - j) / (K - 1), abs=1e-12)
    steps = np.where(np.arange(K)[:, None] > np.arange(K - 1), 1.0, -1.0) / np.sqrt(K - 1)  # one per pair of neighbours
    centred = steps - steps.mean(axis=0)
    assert_allclose(Y @ Y.T, centred @ centred.T, atol=1e-12)  # the same code, turned


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 3.0])
def test_ordered_codewords_are_centred_and_neighbours_are_nearest(smoothness: float) -> None:
    Y = cw.Ordered(smoothness=smoothness).matrix(9)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert (Y**2).sum(axis=1).mean() == pytest.approx(2 * 10 / 27)
    distance = ((Y[:, None] - Y) ** 2).sum(axis=2)
    assert (np.diff(distance[0]) > 0).all() and (np.diff(distance[-1]) < 0).all()
    assert_allclose(distance, distance[::-1, ::-1], atol=1e-12)  # the two directions are alike


def test_few_coordinates_are_the_principal_ones() -> None:
    whole = cw.Ordered().matrix(12)
    assert_array_equal(cw.Ordered(3).matrix(12), whole[:, :3])
    principal = np.linalg.svd(whole, compute_uv=False)
    assert_allclose(np.linalg.norm(whole, axis=0), principal, rtol=1e-9)


def test_the_part_takes_at_most_as_many_coordinates_as_there_are() -> None:
    rng = np.random.default_rng(0)
    assert cw.Ordered().matrix(3, rng).shape == (3, 2)
    assert cw.Ordered().matrix(100, rng).shape == (100, cw.Ordered().columns(100)) == (100, 32)
    assert cw.Ordered(code_dim=50).matrix(5, rng).shape == (5, 4)
    with pytest.raises(ValueError, match=r"smoothness=-1\.0 is out of range"):
        cw.Ordered(smoothness=-1.0).check()


# ---- the median -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 7])
def test_no_class_has_a_smaller_expected_absolute_error_than_the_median(K: int) -> None:
    rng = np.random.default_rng(K)
    order = rng.permutation(K)
    P = rng.dirichlet(np.full(K, 0.5), size=200)
    place = np.argsort(order)  # of every class
    found = median_class(P, order)
    for row in range(len(P)):
        expected = [sum(P[row, c] * abs(place[c] - place[k]) for c in range(K)) for k in range(K)]
        assert expected[found[row]] == pytest.approx(min(expected), abs=1e-12)


def test_the_lower_one_of_two_medians_is_taken() -> None:
    assert_array_equal(median_class(np.array([[0.5, 0.0, 0.5], [0.25, 0.25, 0.5]]), np.arange(3)), [0, 1])
    assert_array_equal(median_class(np.array([[0.5, 0.0, 0.5]]), np.array([2, 1, 0])), [2])


def brute_median(P: np.ndarray) -> np.ndarray:
    """The first class up to which half of the probability lies, but for rounding, row by row."""
    out = []
    for row in P:
        total, k = row[0], 0
        while 2 * total < (1 - 1e-6) * row.sum():
            k += 1
            total += row[k]
        out.append(k)
    return np.array(out)


@pytest.mark.parametrize("params", [{}, {"codewords": "canonical"}, {"codewords": Auto(2)}, {"loss": "savage"}])
def test_predictions_are_medians_of_the_probabilities(params) -> None:
    X, y = graded()
    clf = ordinal(**params).fit(X, y)
    assert_array_equal(clf.predict(X), brute_median(clf.predict_proba(X)))
    staged = list(zip(clf.staged_predict(X), clf.staged_predict_proba(X), strict=True))
    assert len(staged) == 10
    for predicted, P in staged:
        assert_array_equal(predicted, brute_median(P))
    assert_array_equal(sb.keep_rounds(clf, 3).predict(X), staged[2][0])
    assert_array_equal(sb.decide.top_k(clf, X, 1)[0][:, 0], clf.predict_proba(X).argmax(axis=1))


def test_init_score_moves_the_median() -> None:
    X, y = graded()
    start = np.random.default_rng(1).standard_normal((len(X), 4))
    clf = ordinal().fit(X, y, init_score=start)
    assert_array_equal(clf.predict(X, init_score=start), brute_median(clf.predict_proba(X, init_score=start)))


def test_other_shares_of_the_classes_move_the_median() -> None:
    X, y = graded()
    clf = ordinal().fit(X, y)
    prior = [0.1, 0.1, 0.2, 0.6]
    found = decide.predict(clf, X, prior=prior)
    assert_array_equal(found, brute_median(decide.predict_proba(clf, X, prior=prior)))
    assert found.mean() > clf.predict(X).mean()


# ---- where the order comes from -------------------------------------------------------------------------------------


def test_numbers_have_their_order() -> None:
    X, y = graded()
    clf = ordinal().fit(X, np.array([-5, 0, 7, 100])[y])
    assert_array_equal(clf.class_order_, clf.classes_)
    assert_allclose(clf.model_.Y, cw.Ordered().matrix(4), atol=1e-6)


@pytest.mark.parametrize("how", ["categorical", "sequence"])
def test_text_needs_an_order_and_keeps_classes_sorted(how: str) -> None:
    X, c = graded()
    y = pd.Series(pd.Categorical.from_codes(c, SIZES, ordered=True))
    clf = ordinal(classes=sb.Ordinal(SIZES)).fit(X, np.array(SIZES)[c]) if how == "sequence" else ordinal().fit(X, y)
    assert_array_equal(clf.classes_, sorted(SIZES))
    assert_array_equal(clf.class_order_, SIZES)
    numbers = ordinal().fit(X, c)
    assert_array_equal(clf.predict(X), np.array(SIZES)[numbers.predict(X)])
    columns = np.argsort(np.argsort(SIZES))
    assert_allclose(clf.predict_proba(X)[:, columns], numbers.predict_proba(X), atol=1e-6)  # single precision


def test_an_enum_of_polars_has_an_order() -> None:
    pl = pytest.importorskip("polars")
    X, c = graded()
    y = pl.Series(np.array(SIZES)[c].tolist(), dtype=pl.Enum(SIZES))
    assert_array_equal(ordinal().fit(X, y).class_order_, SIZES)


def test_an_order_may_name_more_classes_than_occur() -> None:
    X, c = graded(K=3)
    clf = ordinal(classes=sb.Ordinal(["tiny", *SIZES])).fit(X, np.array(SIZES)[c])
    assert_array_equal(clf.class_order_, ["tiny", *SIZES])
    assert (clf.predict_proba(X)[:, clf.classes_ == "tiny"] == 0).all()


def test_an_absent_class_keeps_its_place() -> None:
    X, c = graded(K=3)
    clf = ordinal(classes=sb.Ordinal([0, 1, 2, 3])).fit(X, np.array([0, 1, 3])[c])
    assert_allclose(clf.model_.Y, cw.Ordered().matrix(4)[[0, 1, 3]], atol=1e-6)
    assert (clf.predict_proba(X)[:, 2] == 0).all() and 2 not in clf.predict(X)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (None, ValueError, "classes=Ordinal() cannot know the order of labels that are text, such as ['huge'"),
        (["small", "large"], ValueError, "are none of the declared classes"),
        (["small", "small"], ValueError, "at least two, all of them different"),
        ([["small"]], ValueError, "a sequence of the labels from the lowest to the highest"),
        ("yes", TypeError, "labels='yes' of Ordinal must be a sequence"),
        (1, TypeError, "labels=1 of Ordinal must be a sequence"),
        ([["small"], ["a", "b"]], TypeError, "must be a sequence"),
        (["small", 1], ValueError, "none of the declared classes"),
    ],
)
def test_what_is_no_order_is_refused(value, error, words: str) -> None:
    X, c = graded()
    with pytest.raises(error) as found:
        ordinal(classes=sb.Ordinal(value)).fit(X, np.array(SIZES)[c])
    assert words in str(found.value)


# ---- with everything else -------------------------------------------------------------------------------------------


def test_ordered_classes_are_saved(tmp_path) -> None:
    X, c = graded()
    clf = ordinal(classes=sb.Ordinal(SIZES), n_estimators=5).fit(X, np.array(SIZES)[c])
    clf.save(tmp_path / "model.sb")
    again = sb.load(tmp_path / "model.sb")
    assert_array_equal(again.class_order_, SIZES)
    assert again.classes.labels == SIZES
    assert_array_equal(again.predict(X), clf.predict(X))
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "model.sb").read_bytes()


def test_a_file_with_a_wrong_order_is_damaged() -> None:
    from simplexboost.classifiers.structured import read_order

    classes = np.array(["a", "b", "c"])
    assert read_order(None, classes) is None
    assert_array_equal(read_order([2, 0, 1], classes), ["c", "a", "b"])
    for wrong in ([0, 1], [0, 1, 1], [0, 1, 3], ["a", "b", "c"], {"a": 1}, [0.0, 1.0, 2.0], [True, False, 2]):
        with pytest.raises(sb.ModelFileError, match="invalid order of classes"):
            read_order(wrong, classes)


def test_the_same_fit_goes_on() -> None:
    X, y = graded()
    clf = ordinal(n_estimators=5, warm_start=True).fit(X, y)
    clf.set_params(n_estimators=10).fit(X, y)
    whole = ordinal(n_estimators=10).fit(X, y)
    assert_array_equal(clf.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="classes and codewords of the fitted model"):
        clf.set_params(classes=sb.Ordinal([3, 1, 2, 0]), n_estimators=11).fit(X, y)


def test_scikit_learn_takes_it() -> None:
    X, c = graded(200)
    y = pd.Series(pd.Categorical.from_codes(c, SIZES, ordered=True))
    clf = ordinal(n_estimators=30)
    assert clone(clf).get_params()["classes__labels"] is None
    assert cross_val_score(make_pipeline(StandardScaler(), clf), X, y, cv=3).mean() > 0.4
    search = GridSearchCV(clf, {"classes": [None, sb.Ordinal()]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert set(search.best_params_) == {"classes"}


def test_metrics_of_evaluated_rows_are_those_of_predictions() -> None:
    X, y = graded()
    clf = ordinal().fit(X, y, X_val=X, y_val=y, eval_metric=["error", "accuracy", "neg_mean_absolute_error"])
    last = {name: values[-1] for name, values in clf.evals_result_[0].items()}
    predicted = clf.predict(X)
    assert last["error"] == pytest.approx((predicted != y).mean())
    assert last["accuracy"] == pytest.approx(clf.score(X, y))
    assert last["neg_mean_absolute_error"] == pytest.approx(-np.abs(predicted - y).mean())


def test_the_report_counts_medians() -> None:
    from simplexboost.evaluate.html_report.labelled_rows import evaluate

    X, y = graded()
    clf = ordinal(n_estimators=3).fit(X, y)
    assert_array_equal(evaluate(clf, X, y).predicted, clf.predict(X))
    assert (clf.predict(X) != clf.predict_proba(X).argmax(axis=1)).any()


def test_the_command_line_evaluates_medians() -> None:
    from simplexboost.cli.scoring import predict_rows

    X, y = graded()
    clf = ordinal(n_estimators=3).fit(X, y)
    predicted, P = predict_rows(clf, X)
    assert_array_equal(predicted, clf.predict(X))
    assert_array_equal(P, clf.predict_proba(X))


def test_c_without_probabilities_is_refused(tmp_path) -> None:
    X, y = graded()
    with pytest.raises(ValueError, match="probabilities=False does not go with a model of ordered classes"):
        sb.export.c(ordinal(n_estimators=2).fit(X, y), tmp_path / "model.c", probabilities=False)


def test_order_helps_where_there_is_one() -> None:
    X, y = graded(1500, K=8)
    train, test = slice(0, 500), slice(500, None)
    errors = {}
    for name, params in {"ordered": {}, "plain": {"classes": None, "codewords": "canonical"}}.items():
        clf = ordinal(n_estimators=60, **params).fit(X[train], y[train])
        errors[name] = np.abs(clf.predict(X[test]) - y[test]).mean()
    assert errors["ordered"] < 0.95 * errors["plain"]


def test_other_fits_are_as_they_were() -> None:
    X, c = blobs(200, 4, 3)
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X, c)
    assert clf.class_order_ is None
    stream = io.BytesIO()
    clf.save(stream)
    stream.seek(0)
    assert sb.load(stream).class_order_ is None


# ---- trees of classes -----------------------------------------------------------------------------------------------

BEINGS = {"animal": {"bird": ["owl", "wren", "kite"], "fish": ["eel", "carp"]}, "plant": ["oak", "fir"], "stone": None}


def beings() -> sb.Hierarchy:
    return sb.Hierarchy(BEINGS)


def edges_between(tree: dict, a: str, b: str) -> int:
    """The number of edges between two leaves, by walking from one to the other."""
    near: dict = {}

    def join(parent, below) -> None:
        for name in below:
            near.setdefault(parent, []).append(name)
            near.setdefault(name, []).append(parent)
            if isinstance(below, dict) and below[name] is not None:
                join(name, below[name])

    join("root", tree)
    seen, front, steps = {a}, [a], 0
    while b not in front:
        front = [name for node in front for name in near[node] if name not in seen]
        seen.update(front)
        steps += 1
    return steps


def related(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the beings: relatives have centres near each other."""
    rng = np.random.default_rng(seed)
    tree = beings()
    at = {node: rng.standard_normal(5) for label in tree.leaves for node in tree.ancestors(label)}
    y = rng.choice(tree.leaves, n)
    centre = {label: sum(at[node] for node in tree.ancestors(label)) for label in tree.leaves}
    return np.array([centre[label] for label in y]) + 0.7 * rng.standard_normal((n, 5)), y


def test_distances_are_those_of_a_walk_in_the_tree() -> None:
    labels = sorted(beings().leaves)
    found = beings().distances(labels)
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            assert found[i, j] == edges_between(BEINGS, a, b)


def test_levels_and_members() -> None:
    tree = beings()
    assert tree.n_levels == 3
    assert tree.nodes(1) == ["animal", "plant", "stone"]
    assert tree.nodes(2) == ["bird", "fish", "oak", "fir", "stone"]
    assert tree.nodes(3) == tree.leaves
    assert tree.nodes(2, ["eel", "oak"]) == ["fish", "oak"]
    classes = ["carp", "fir", "owl", "stone"]
    assert_array_equal(tree.members(1, classes), np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], bool))
    for level in (0, 4, 1.5, None, "bird"):
        with pytest.raises((ValueError, TypeError), match="level="):
            tree.nodes(level)


def test_codewords_of_a_tree() -> None:
    labels = np.array(sorted(beings().leaves))
    Y = beings().codewords(labels)
    assert Y.shape == (8, 7) and np.linalg.matrix_rank(Y - Y.mean(axis=0)) == 7
    assert (Y**2).sum(axis=1).mean() == pytest.approx(1.0)
    squared = ((Y[:, None] - Y) ** 2).sum(axis=2)
    # What two classes have in common cancels; where they part, two corners of a simplex are 2 apart; below, each has
    # the squared length 1 − 1/m of a corner of its own, m being the children of the node.
    n_children = {"root": 3, "animal": 2, "bird": 3, "fish": 2, "plant": 2}
    scale = squared[labels == "oak", labels == "fir"][0] / 2
    for a in labels:
        for b in labels:
            up_a, up_b = (["root", *beings().ancestors(x)] for x in (a, b))
            part = next((i for i, (x, y) in enumerate(zip(up_a, up_b, strict=False)) if x != y), None)
            if part is None:
                continue
            expected = 2.0 + sum(1 - 1 / n_children[v] for up in (up_a, up_b) for v in up[part:-1])
            assert squared[labels == a, labels == b][0] == pytest.approx(scale * expected)


def test_nodes_with_one_child_add_nothing() -> None:
    plain, longer = sb.Hierarchy({"a": None, "b": None}), sb.Hierarchy({"x": {"y": ["a"]}, "b": None})
    assert_allclose(plain.codewords(["a", "b"]), longer.codewords(["a", "b"]))


def test_three_ways_to_the_same_tree() -> None:
    parents = {"owl": "bird", "wren": "bird", "kite": "bird", "eel": "fish", "carp": "fish", "bird": "animal"}
    parents |= {"fish": "animal", "oak": "plant", "fir": "plant", "stone": None}
    paths = {label: "/".join(beings().ancestors(label)) for label in beings().leaves}
    labels = beings().leaves
    for other in (sb.Hierarchy.from_parents(parents), sb.Hierarchy.from_paths(paths)):
        assert other.leaves == labels
        assert_array_equal(other.distances(labels), beings().distances(labels))
        assert_array_equal(other.codewords(labels), beings().codewords(labels))
    whole = sb.Hierarchy.from_paths(["b0/f1/s1", "b0/f2/s1", "b1/f1/s1"])
    assert whole.leaves == ["b0/f1/s1", "b0/f2/s1", "b1/f1/s1"] and whole.nodes(2) == ["b0/f1", "b0/f2", "b1/f1"]


def deep(levels: int) -> dict:
    """Two labels below so many levels."""
    tree: dict = {"a": None, "b": None}
    for level in range(levels - 1):
        tree = {f"node {level}": tree}
    return tree


def circle() -> dict:
    tree: dict = {"a": ["x"]}
    tree["b"] = tree
    return tree


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sb.Hierarchy({"a": ["x"], "b": ["x"]}).check(), "has 'x' twice, below 'a' and below 'b'"),
        (lambda: sb.Hierarchy({"a": ["x", "x"]}).check(), "has 'x' twice"),
        (
            lambda: sb.Hierarchy({"a": {"f": ["x"]}, "b": {"f": ["y"]}}).check(),
            "has 'f' twice, below 'a' and below 'b'",
        ),
        (lambda: sb.Hierarchy({"a": ["b"], "b": ["c"]}).check(), "has 'b' twice, below 'a'"),
        (lambda: sb.Hierarchy(deep(101)).check(), "more than 100 levels"),
        (lambda: sb.Hierarchy.from_parents({f"n{i}": f"n{i + 1}" for i in range(2000)}), "more than 100 levels"),
        (lambda: sb.Hierarchy.from_paths("bird/owl"), "paths='bird/owl' must be a list of paths"),
        (lambda: sb.Hierarchy.from_paths(None), "paths=None must be a list of paths"),
        (lambda: beings().distances([]), "classes has shape (0,)"),
        (lambda: beings().members(1, [["owl"]]), "classes has shape (1, 1)"),
        (lambda: sb.Hierarchy({"a": [], "b": None}).check(), "the node 'a' of the hierarchy has nothing below it"),
        (lambda: sb.Hierarchy({"a": None}).check(), "has 1 leaves; a hierarchy needs at least two"),
        (lambda: sb.Hierarchy({"a": "xy", "b": None}).check(), "the node 'a' of the hierarchy leads to 'xy'"),
        (lambda: sb.Hierarchy(["a", "b"]).check(), "of a hierarchy must be a dict of nodes"),
        (lambda: sb.Hierarchy({"a": [["x"]], "b": None}).check(), "has the label ['x']: unhashable"),
        (lambda: sb.Hierarchy(circle()).check(), "contains itself: 'b' is below itself"),
        (lambda: sb.Hierarchy.from_parents({"a": "b", "b": "a"}), "parents lead in a circle, 'a' → 'b' → 'a'"),
        (lambda: sb.Hierarchy.from_parents(["a"]), "must be a dict that gives the parent"),
        (lambda: sb.Hierarchy.from_paths(["a/b", "a/b"]), "holds 'a/b' twice"),
        (lambda: sb.Hierarchy.from_paths(["a", "a/b"]), "makes 'a' a label and a node with others"),
        (lambda: sb.Hierarchy.from_paths([1, 2]), "a path is text"),
        (lambda: sb.Hierarchy.from_paths(["a/b"], ""), "separator='' must be text"),
        (lambda: beings().distances(["owl", "ant"]), "no leaf for the classes ['ant']"),
        (lambda: beings().ancestors("ant"), "'ant' is neither a label nor a node"),
    ],
)
def test_what_is_no_tree_is_refused(make, words: str) -> None:
    with pytest.raises((ValueError, TypeError)) as found:
        make()
    assert words in str(found.value)


# ---- models with a tree ---------------------------------------------------------------------------------------------


def treed(**params) -> sb.SimplexBoostClassifier:
    return sb.SimplexBoostClassifier(**({"n_estimators": 8, "classes": beings(), "random_state": 0} | params))


def test_the_probability_of_a_node_is_the_sum_of_those_of_its_classes() -> None:
    X, y = related()
    clf = treed(codewords=beings().codewords(np.unique(y))).fit(X, y)
    assert_allclose(clf.model_.Y, beings().codewords(clf.classes_), atol=1e-6)
    P = clf.predict_proba(X)
    for level in (1, 2, 3):
        nodes, found = beings().nodes(level), decide.predict_proba_level(clf, X, level)
        assert found.shape == (len(X), len(nodes))
        for j, node in enumerate(nodes):
            inside = [node in beings().ancestors(label) for label in clf.classes_]
            assert_allclose(found[:, j], P[:, inside].sum(axis=1), rtol=1e-12)
        assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)
        assert_array_equal(decide.predict_level(clf, X, level), np.array(nodes)[found.argmax(axis=1)])
    assert_array_equal(decide.predict_level(clf, X, 3), clf.predict(X))
    assert_array_equal(
        decide.predict_level(sb.keep_rounds(clf, 2), X, 1),
        np.array(beings().nodes(1))[decide.predict_proba_level(sb.keep_rounds(clf, 2), X, 1).argmax(1)],
    )


def test_distances_are_costs() -> None:
    X, y = related()
    clf = treed().fit(X, y)
    labels, P = clf.classes_.tolist(), clf.predict_proba(X[:40])
    expected = [[sum(p * edges_between(BEINGS, a, b) for p, b in zip(row, labels, strict=True)) for a in labels]
                for row in P]  # fmt: skip
    found = decide.predict(clf, X[:40], costs=clf.hierarchy_.distances(labels))
    assert_allclose(np.array(expected)[np.arange(40), np.searchsorted(labels, found)], np.min(expected, axis=1))


def test_a_tree_goes_with_other_codewords_and_missing_classes() -> None:
    X, y = related()
    some = np.isin(y, ["owl", "eel", "oak"])
    clf = treed().fit(X[some], y[some])
    assert clf.model_.code.canonical
    assert set(decide.predict_level(clf, X, 2)) <= {"bird", "fish", "oak"}
    assert decide.predict_proba_level(clf, X, 1).shape == (len(X), 3)
    assert (decide.predict_proba_level(clf, X, 1)[:, 2] == 0).all()


def test_a_tree_is_saved_and_cloned(tmp_path) -> None:
    X, y = related()
    clf = treed(n_estimators=3).fit(X, y)
    clf.save(tmp_path / "model.sb")
    again = sb.load(tmp_path / "model.sb")
    assert again.hierarchy_.tree == BEINGS and again.classes.tree == BEINGS
    assert_array_equal(decide.predict_proba_level(again, X, 2), decide.predict_proba_level(clf, X, 2))
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "model.sb").read_bytes()
    clf.set_params(classes=None)  # what was fitted stays
    assert decide.predict_level(clf, X[:1], 1).shape == (1,)
    assert clone(again).classes.tree == BEINGS
    assert cross_val_score(treed(n_estimators=3), X, y, cv=2).mean() > 0.2


@pytest.mark.parametrize("codewords", ["auto", "hierarchy"])
def test_a_dict_stands_for_the_tree_of_its_nodes(tmp_path, codewords) -> None:
    X, y = related()
    clf = treed(classes=BEINGS, codewords=codewords, n_estimators=3).fit(X, y)
    same = treed(codewords=codewords, n_estimators=3).fit(X, y)
    assert_array_equal(decide.predict_proba_level(clf, X, 2), decide.predict_proba_level(same, X, 2))
    clf.save(tmp_path / "model.sb")
    again = sb.load(tmp_path / "model.sb")
    assert again.classes == BEINGS and again.hierarchy_.tree == BEINGS
    assert clone(again).fit(X, y).hierarchy_.leaves == beings().leaves


def test_numbers_may_be_labels() -> None:
    X, y = related()
    number = {label: k for k, label in enumerate(beings().leaves)}
    c = np.array([number[label] for label in y])
    clf = treed(classes=sb.Hierarchy({"low": [0, 1, 2, 3], "high": np.arange(4, 8)}), n_estimators=3).fit(X, c)
    assert set(decide.predict_level(clf, X, 1)) == {"low", "high"}
    assert decide.predict_level(clf, X, 2).dtype.kind == "i"


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"classes": 5}, TypeError, "a sequence of labels, an Ordinal(), a Hierarchy or a dict of its nodes"),
        ({"classes": sb.Ordinal}, TypeError, "a sequence of labels, an Ordinal(), a Hierarchy or a dict of its nodes"),
        ({"classes": {"a": ["owl", "eel"]}}, ValueError, "none of the declared classes"),
        ({"classes": {"a": []}}, ValueError, "has nothing below it"),
        ({"classes": sb.Hierarchy({"a": ["owl", "eel"]})}, ValueError, "none of the declared classes"),
        ({"classes": sb.Hierarchy({"a": []})}, ValueError, "has nothing below it"),
    ],
)
def test_a_wrong_tree_is_refused_by_the_fit(params, error, words: str) -> None:
    X, y = related()
    with pytest.raises(error) as found:
        treed(**params).fit(X, y)
    assert words in str(found.value)


def test_the_tree_is_codewords_and_costs() -> None:
    X, y = related()
    names = np.unique(y)
    by_name = treed(codewords="hierarchy", n_estimators=4).fit(X, y)
    by_hand = treed(codewords=beings().codewords(names), n_estimators=4).fit(X, y)
    assert_array_equal(by_name.predict_proba(X), by_hand.predict_proba(X))
    assert_allclose(by_name.model_.Y, beings().codewords(names), atol=1e-6)
    decided = decide.predict(by_name, X, costs=beings())
    expected = by_name.predict_proba(X) @ np.array([[edges_between(BEINGS, a, b) for b in names] for a in names])
    assert_allclose(decide.expected_costs(by_name, X, beings()), expected)
    assert_array_equal(decided, names[expected.argmin(axis=1)])
    stream = io.BytesIO()
    by_name.save(stream)
    stream.seek(0)
    again = sb.load(stream)
    assert again.codewords == "hierarchy"
    assert_array_equal(decide.predict(again, X, costs=beings()), decided)
    declared = treed(codewords="hierarchy").fit(X[y != "owl"], y[y != "owl"])
    assert_allclose(declared.model_.Y, beings().codewords(sorted(beings().leaves))[names != "owl"], atol=1e-6)
    with pytest.raises(ValueError, match="codewords='hierarchy' needs a tree"):
        treed(codewords="hierarchy", classes=None).fit(X, y)
    with pytest.raises(ValueError, match="hierarchy has no leaf for the classes"):
        decide.predict(by_name, X, costs=sb.Hierarchy({"a": ["owl"], "b": ["eel"]}))


def test_levels_need_a_tree() -> None:
    X, y = related()
    clf = sb.SimplexBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="predict_level needs a tree of classes"):
        decide.predict_level(clf, X, 1)
    with pytest.raises(ValueError, match="level=9 is out of range"):
        decide.predict_proba_level(treed(n_estimators=2).fit(X, y), X, 9)


def test_a_file_with_a_wrong_tree_is_damaged() -> None:
    from simplexboost.classifiers.structured import read_hierarchy
    from simplexboost.persist.saving import to_json

    classes = np.array(["eel", "owl"])
    assert read_hierarchy(None, classes) is None
    assert read_hierarchy(to_json(beings(), "h"), classes).leaves == beings().leaves
    for wrong in (to_json(sb.Hierarchy({"a": ["x", "y"]}), "h"), to_json(cw.Simplex(), "h"), 3):
        with pytest.raises((sb.ModelFileError, ValueError)):
            read_hierarchy(wrong, classes)


# ---- hierarchical metrics -------------------------------------------------------------------------------------------


def test_hierarchical_scores_are_those_of_sets_of_nodes() -> None:
    from simplexboost.evaluate import HierarchicalScores

    tree, rng = beings(), np.random.default_rng(0)
    truth = rng.choice(tree.leaves, 60)
    predicted = rng.choice([*tree.leaves, "bird", "animal", "plant"], 60)
    weight = rng.integers(0, 4, 60)
    found = HierarchicalScores.from_predictions(truth, predicted, tree, weight)
    both = sum(
        w * len(set(tree.ancestors(t)) & set(tree.ancestors(p)))
        for t, p, w in zip(truth, predicted, weight, strict=True)
    )
    of_pred = sum(w * len(tree.ancestors(p)) for p, w in zip(predicted, weight, strict=True))
    of_truth = sum(w * len(tree.ancestors(t)) for t, w in zip(truth, weight, strict=True))
    assert found.precision == pytest.approx(both / of_pred) and found.recall == pytest.approx(both / of_truth)
    assert found.f1 == pytest.approx(2 * both / (of_pred + of_truth))
    walked = [edges_between(BEINGS, t, p) for t, p in zip(truth, predicted, strict=True)]
    assert found.distance == pytest.approx(np.average(walked, weights=weight))
    leaves = rng.choice(tree.leaves, 60)
    exact = HierarchicalScores.from_predictions(truth, leaves, tree)
    for level in (1, 2, 3):
        same = [tree.ancestors(t)[:level] == tree.ancestors(p)[:level] for t, p in zip(truth, leaves, strict=True)]
        assert exact.accuracy[level - 1] == pytest.approx(np.mean(same))
    assert exact.accuracy[-1] == pytest.approx((truth == leaves).mean())
    perfect = HierarchicalScores.from_predictions(truth, truth, tree)
    assert (perfect.f1, perfect.distance, perfect.accuracy) == (1.0, 0.0, [1.0, 1.0, 1.0])
    for wrong, words in (
        ((truth, ["owl", "eel"], tree), "y_pred has 2 rows, and there are 60 labels"),
        (("owl", "owl", tree), r"y_true has shape \(\)"),
        (([], [], tree), r"y_true has shape \(0,\); .* at least one row"),
        ((truth, truth, tree, np.zeros(60)), "weights"),
        ((truth, truth, tree, np.full(60, np.inf)), "sample_weight"),
        ((truth, truth, tree, ["x"] * 60), "sample_weight must hold a number"),
    ):
        with pytest.raises(ValueError, match=words):
            HierarchicalScores.from_predictions(*wrong)
    with pytest.raises(TypeError, match=r"hierarchy=.* must be a simplexboost\.Hierarchy"):
        HierarchicalScores.from_predictions(truth, truth, tree.tree)
