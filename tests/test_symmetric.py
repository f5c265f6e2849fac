"""Symmetric trees: one split for a whole level, checked against all splits written out; noise on gains."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_engine
from engine_cases import CPU, NAIVE_SCORES, assert_same_tree, draw_statistics, draw_values, large_problem, splits_of
from sklearn.datasets import load_iris, load_wine
from twin import reference_engine
from twin.trees import noise_key, normal

import simplexboost as sb
from simplexboost.engine import SCORES, Growth, cpu_engine
from simplexboost.parts.learners import (
    ClassTree,
    GiniTree,
    InfoTree,
    NewtonTree,
    RegressionTree,
    SignTree,
    SketchTree,
    VectorTree,
)


def level_gains(values, cell, left, score, min_samples):
    """What every node of a level gains by a split: 0 if one of its children has too few rows."""
    gains = []
    for node in range(cell.max() + 1):
        parts = [values[(cell == node) & side] for side in (left, ~left)]
        enough = min(map(len, parts)) >= min_samples
        gains.append(
            sum(score(p.sum(axis=0)) for p in parts) - score(values[cell == node].sum(axis=0)) if enough else 0
        )
    return np.array(gains, dtype=float)


@each_engine
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_a_level_has_the_best_sum_of_all_splits(engine, score, one_hot, min_samples_leaf):
    rng = np.random.default_rng(4)
    X = draw_values(rng, 50, 4, missing=0.1)
    statistics = draw_statistics(rng, 50, 3, score, one_hot)
    if score == "gini" and not one_hot:
        statistics = np.abs(statistics)
    values = np.eye(3)[statistics.classes] * statistics.weight[:, None] if one_hot else statistics
    growth = Growth(max_depth=3, min_samples_leaf=min_samples_leaf, order="symmetric", l2_regularization=0.5)
    grown = engine.compute.grow(engine.compute.bin(X), statistics, score, growth, values)
    levels = (grown.tree.n_leaves - 1).bit_length()
    assert levels == 3
    for level in range(levels):
        cell, right = grown.leaf_of_row >> (levels - level), grown.leaf_of_row >> (levels - level - 1) & 1
        cell = np.append(cell, 2**level - 1)[:-1]  # the last cells may be empty
        arguments = (NAIVE_SCORES[score], min_samples_leaf)
        most = max(level_gains(values, cell, left, *arguments).sum() for _, left in splits_of(X))
        gains = level_gains(values, cell, right == 0, *arguments)
        assert gains.sum() == pytest.approx(most, rel=1e-9)
        told = grown.tree.gain[2**level - 1 : 2 ** (level + 1) - 1]
        np.testing.assert_allclose(told[: len(gains)], gains, rtol=1e-8, atol=1e-9 * abs(most))
        assert not told[len(gains) :].any()


@each_engine
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_level_of_categories_has_the_best_prefix(engine, missing):
    """Categories are in the order of Σg / Σh over all rows, the same for every level."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 6, 200).astype(float)
    x[rng.random(200) < missing] = np.nan
    other = rng.integers(0, 2, 200).astype(float)
    values = np.column_stack(
        [rng.normal(size=200) + np.where(other, np.nan_to_num(x), -(np.nan_to_num(x) ** 2)), np.ones(200)]
    )
    data = engine.compute.bin(np.column_stack([x]), categorical=np.array([True]))
    growth = Growth(max_depth=2, order="symmetric", min_category_count=1, category_smoothing=0.0)
    grown = engine.compute.grow(data, values, "newton", growth)
    order = sorted(range(6), key=lambda k: values[x == k, 0].mean())
    prefixes = [
        np.where(np.isnan(x), missing_left, np.isin(x, order[: i + 1]))
        for i in range(6)
        for missing_left in (False, True)
    ]
    newton = lambda s: s[0] ** 2 / s[1] if s[1] > 0 else 0.0  # noqa: E731
    for level in range(2):
        cell, right = grown.leaf_of_row >> (2 - level), grown.leaf_of_row >> (1 - level) & 1
        told = level_gains(values, cell, right == 0, newton, 1).sum()
        assert told == pytest.approx(max(level_gains(values, cell, left, newton, 1).sum() for left in prefixes))
        assert grown.tree.gain[2**level - 1 : 2 ** (level + 1) - 1].sum() == pytest.approx(told)


@each_engine
def test_nodes_that_do_not_gain_are_outvoted(engine):
    """The first level separates the signs. Of the second only the right half gains; the left one is cut as well."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]).repeat(5, axis=0).astype(float)
    G = np.where(X[:, 0] == 0, -9.0, 1.0 + 2 * X[:, 1])[:, None]
    values = np.column_stack([G, np.ones(20)])
    tree = engine.compute.grow(engine.compute.bin(X), values, "newton", Growth(order="symmetric", max_depth=5)).tree
    assert tree.nodes["feature"].tolist() == [0, 1, 1, -1, -1, -1, -1]
    assert tree.count.tolist() == [20, 10, 10, 5, 5, 5, 5]
    np.testing.assert_allclose(tree.gain[1:3], [0.0, 10.0], atol=1e-9)


@each_engine
def test_children_without_rows(engine):
    """The same feature splits two levels: the middle of three values lies on one side of each."""
    x = np.array([0.0, 1.0, 2.0]).repeat(4)
    values = np.column_stack([np.array([-3.0, 0.0, 3.0]).repeat(4), np.ones(12)])
    grown = engine.compute.grow(engine.compute.bin(x[:, None]), values, "newton", Growth(order="symmetric"))
    assert sorted(grown.tree.count[3:].tolist()) == [0, 4, 4, 4]
    assert grown.tree.n_leaves == 4  # a third level would not gain
    empty = grown.tree.count[3:] == 0
    assert not grown.leaf_sums[empty].any() and len(set(grown.leaf_of_row.tolist())) == 3


@pytest.mark.parametrize(
    ("limits", "levels"),
    [
        ({}, 6),
        ({"max_depth": 3}, 3),
        ({"max_leaf_nodes": 31}, 4),
        ({"max_leaf_nodes": 32}, 5),
        ({"max_depth": 2, "max_leaf_nodes": 64}, 2),
        ({"max_depth": 9, "max_leaf_nodes": 64}, 6),
    ],
)
@each_engine
def test_levels(engine, limits, levels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    grown = engine.compute.grow(
        engine.compute.bin(X, 8), X[:, :2] * X[:, 1:3], "norm", Growth(order="symmetric", **limits)
    )
    assert grown.tree.n_leaves == 2**levels


@pytest.mark.parametrize("limits", [{"max_depth": 16}, {"max_depth": None, "max_leaf_nodes": 2**16}])
def test_too_many_levels_are_refused(limits):
    with pytest.raises(ValueError, match="a max_depth of at most 15"):
        VectorTree(growth="symmetric", **limits).check()
    VectorTree(growth="best", **limits).check()
    with pytest.raises(ValueError, match="a max_depth of at most 15"):
        CPU.compute.grow(CPU.compute.bin(np.eye(4)), np.eye(4), "norm", Growth(max_depth=16, order="symmetric"))


@pytest.mark.parametrize("score", ["newton", "norm"])
@pytest.mark.parametrize("bits", [32, 64])
def test_little_memory_changes_nothing(score, bits):
    """Histograms of a level are kept, or built again in pieces of one node, of three, of some."""
    data, statistics, score = large_problem(n=3000, m=2, score=score)
    growth = Growth(max_depth=6, order="symmetric", bits=bits, seed=3, min_samples_leaf=3, noise=0.3)
    whole = CPU.compute.grow(data, statistics, score, growth)
    size = int((data.n_bins + data.has_missing).sum()) * 4 * bits // 8
    for memory in (0, 7 * size, 17 * size):
        for threads in (1, 3):
            assert_same_tree(
                whole,
                cpu_engine(threads).compute.grow(data, statistics, score, replace(growth, histogram_memory=memory)),
            )


# ---- noise ----------------------------------------------------------------------------------------------------------


def test_noise_is_normal():
    z = np.array([normal(noise_key(5, place), feature) for place in range(60) for feature in range(60)])
    assert abs(z.mean()) < 0.05 and abs(z.std() - 1) < 0.05 and abs(np.mean(np.abs(z) < 1) - 0.683) < 0.02
    assert len(set(z)) == len(z)


@pytest.mark.parametrize("order", ["level", "best", "symmetric"])
def test_noise_depends_on_the_seed_only(order):
    data, statistics, score = large_problem(n=2000, p=12, m=3)
    growth = Growth(max_leaf_nodes=16, order=order, noise=3.0, seed=1)
    trees = [cpu_engine(t).compute.grow(data, statistics, score, growth) for t in (1, 4)]
    assert_same_tree(*trees)
    others = [CPU.compute.grow(data, statistics, score, replace(growth, seed=seed)) for seed in range(2, 8)]
    assert len({grown.tree.nodes.tobytes() for grown in others}) > 3


@each_engine
@pytest.mark.parametrize("order", ["level", "symmetric"])
def test_noise_chooses_among_gains_and_reports_true_ones(engine, order):
    """Much noise takes any feature that gains, with its best threshold; one that does not gain is never taken."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 4)), np.zeros(60)])
    X[:, 3] = np.arange(60) % 2  # both halves have the same sum
    G = np.column_stack([np.repeat(rng.normal(size=30), 2)])
    gains = {}
    for f in range(4):
        sides = [(left, abs(G[left].sum()) + abs(G[~left].sum()) - abs(G.sum())) for g, left in splits_of(X) if g == f]
        gains[f] = max(gain for _, gain in sides)
    seen = set()
    for seed in range(40):
        growth = Growth(max_depth=1, order=order, noise=100.0, seed=seed)
        tree = engine.compute.grow(engine.compute.bin(X), G, "norm", growth).tree
        seen.add(int(tree.nodes["feature"][0]))
        assert tree.gain[0] == pytest.approx(gains[int(tree.nodes["feature"][0])])
    assert seen == {f for f in gains if gains[f] > 1e-9} and 4 not in seen


# ---- learners and boosters ------------------------------------------------------------------------------------------

BOOSTERS = {
    "vector": sb.BoostingClassifier(learner=VectorTree(max_depth=3, growth="symmetric")),
    "newton": sb.BoostingClassifier(
        optimizer="newton", learner=NewtonTree(max_depth=3, growth="symmetric", gain_noise=1.0)
    ),
    "sketch": sb.BoostingClassifier(
        optimizer="sketched-newton", learner=SketchTree(max_depth=4, growth="symmetric", gain_noise=0.5)
    ),
    "gdmc": sb.GDMCBoostClassifier(learner=RegressionTree(max_depth=2, growth="symmetric")),
    "samme": sb.SAMMEClassifier(ClassTree(max_depth=3, growth="symmetric", gain_noise=1.0)),
    "info": sb.SAMMEClassifier(InfoTree(max_depth=3, growth="symmetric")),
    "gini": sb.SAMMEClassifier(GiniTree(max_depth=3, growth="symmetric")),
    "mh": sb.AdaBoostMHClassifier(SignTree(max_depth=3, growth="symmetric")),
}


@pytest.mark.parametrize("name", BOOSTERS)
def test_boosters_take_symmetric_trees(name, tmp_path):
    """They learn, and a model file predicts the same."""
    X, y = load_wine(return_X_y=True) if name != "mh" else load_iris(return_X_y=True)
    X = X + 0.0
    X[::17, 2] = np.nan
    model = BOOSTERS[name].set_params(n_estimators=15, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    trees = model.model_.trees
    assert trees and all(tree.n_leaves & (tree.n_leaves - 1) == 0 for tree in trees)
    model.save(tmp_path / "model.sb")
    loaded = sb.load(tmp_path / "model.sb")
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_twin_trains_the_same_booster(monkeypatch):
    X, y = load_iris(return_X_y=True)
    scores = []
    for engine in (cpu_engine(2), reference_engine()):
        model = sb.BoostingClassifier(
            learner=VectorTree(max_depth=2, growth="symmetric", gain_noise=0.5), n_estimators=3, random_state=1
        )
        monkeypatch.setattr(type(model), "_engine", lambda self, n_rows=None, engine=engine: engine)
        scores.append(model.fit(X, y).decision_function(X))
    assert scores[0].tobytes() == scores[1].tobytes()


def test_a_noise_without_meaning_is_refused():
    for bad in (-1.0, "much", np.nan):
        with pytest.raises((TypeError, ValueError), match="gain_noise"):
            VectorTree(gain_noise=bad).check()
