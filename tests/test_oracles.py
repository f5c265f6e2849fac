"""Asking a weak learner about conditions, against lists of all its classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from cases import blobs
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier

import simplexboost as sb
from simplexboost import theory
from simplexboost.parts.learners import ClassTree


def all_stumps(X, K):
    """Every stump: each feature, each threshold, each pair of labels; (n, m)."""
    columns = []
    for x in X.T:
        for cut in np.unique(x)[:-1]:
            columns += [np.where(x <= cut, left, right) for left in range(K) for right in range(K)]
    return np.column_stack(columns)


@pytest.mark.parametrize("condition", ["samme", "m1", "mh", "mr", "minimal", "uniform"])
@pytest.mark.parametrize("seed", [0, 1])
def test_searching_finds_the_edge_of_all_stumps(condition, seed):
    X, y = blobs(n=12, p=2, K=3, seed=seed)
    exact = theory.solve_condition(all_stumps(X, 3), y, condition).edge
    found = theory.search(ClassTree(max_depth=1), X, y, condition, n_rounds=300, decide=False)
    assert_allclose(found.edge, exact, atol=2e-6)
    assert_allclose(found.ceiling, exact, atol=2e-6)
    few = theory.search(ClassTree(max_depth=1), X, y, condition, n_rounds=3, decide=False)
    assert few.edge - 1e-7 <= exact <= few.ceiling + 1e-7
    assert few.space.H.shape == (12, 3)
    # the ceiling's cost matrix: no stump at all is cheaper than the baseline there
    assert (theory.violation(few.costs, all_stumps(X, 3), y, condition, few.ceiling + 1e-9) > -1e-6).all()


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_are_right(seed):
    X, y = blobs(n=14, p=2, K=4, seed=seed)
    everything = all_stumps(X, 4)
    for condition in ("samme", "m1", "mr", "uniform"):
        met = theory.search(ClassTree(max_depth=1), X, y, condition, n_rounds=300).met
        exact = theory.solve_condition(everything, y, condition).edge
        assert met == (exact > 1e-8) or (met is None and abs(exact) < 1e-6)


def test_m1_stalls_where_its_condition_fails_and_mm_goes_on():
    X, y = blobs(n=150, p=4, K=6, seed=2)
    for depth in (1, 2):
        learner = ClassTree(max_depth=depth)
        assert theory.search(learner, X, y, "m1").met is False
        m1 = sb.AdaBoostM1Classifier(learner, n_estimators=100).fit(X, y)
        assert m1.n_iter_ < 100 and "not below 1/2" in m1.stop_reason_
        mm = sb.AdaBoostMMClassifier(learner, n_estimators=100).fit(X, y)
        assert mm.n_iter_ == 100 and mm.score(X, y) > m1.score(X, y) + 0.1
    learner = ClassTree(max_depth=5)
    assert theory.search(learner, X, y, "m1").met is True
    assert sb.AdaBoostM1Classifier(learner, n_estimators=30).fit(X, y).stop_reason_ is None


def test_other_learners_and_labels():
    X, y = blobs(n=60, p=3, K=3)
    names = np.array(["a", "b", "c"])[y]
    found = theory.search(DecisionTreeClassifier(max_depth=3, random_state=0), X, names, "samme", n_rounds=10)
    assert found.met and repr(found).startswith("<Search: samme met, edge in [")
    with pytest.raises(TypeError, match="does not name classes"):
        theory.search("newton-tree", X, y)
    with pytest.raises(ValueError, match="n_rounds=0"):
        theory.search("class-tree", X, y, n_rounds=0)
