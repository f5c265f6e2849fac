"""Decisions: labels, probabilities and scores of all classes from the class scores."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from simplexboost.boosting.decisions import (
    ABSENT,
    OneLabel,
    SeveralLabels,
    all_classes,
    as_decision,
    median_class,
    of_present,
)
from simplexboost.parts.losses import MM, Logistic, MultilabelRanking, Savage

U = np.array([[0.0, 1.0, -1.0], [2.0, 2.0, 0.0]])
ALL = np.ones(3, dtype=bool)
NAMES = np.array(["ant", "bee", "cat"])
RANKING = MultilabelRanking(np.empty((0, 3)))


def test_the_highest_score_wins_and_ties_go_to_the_first():
    assert_array_equal(OneLabel(Logistic(), NAMES, ALL).labels(U), ["bee", "ant"])


def test_scores_are_the_decision_but_for_two_classes():
    decision = OneLabel(Logistic(), NAMES, ALL)
    assert_array_equal(decision.decision(U), U)
    assert_array_equal(decision.decision(U[:, :2]), [1.0, 0.0])
    assert_array_equal(as_decision(np.array([[3.0, 1.0]])), [-2.0])


def test_probabilities_are_those_of_the_loss():
    # e^{2U} and e^{4U}, each over its sum.
    for loss, rate in ((Logistic(), 2.0), (MM(), 4.0)):
        weights = np.exp(rate * U)
        expected = weights / weights.sum(axis=1, keepdims=True)
        assert_allclose(OneLabel(loss, NAMES, ALL).probabilities(U), expected, rtol=1e-13)


def test_absent_classes_score_far_below_the_lowest():
    present = np.array([True, False, True, True, False])
    assert_array_equal(all_classes(U, present), [[0, -31, 1, -1, -31], [2, -30, 2, 0, -30]])
    assert ABSENT == 30.0
    assert all_classes(U, ALL) is U


def test_absent_classes_have_no_probability():
    present = np.array([True, False, True])
    scores = np.array([[0.0, 99.0, np.log(3.0) / 2]])  # e^{2U} is 1 and 3
    assert_allclose(OneLabel(Logistic(), NAMES, present).probabilities(scores), [[0.25, 0.0, 0.75]], rtol=1e-14)
    assert_allclose(OneLabel(Logistic(), NAMES, present).probabilities(scores), [[0.25, 0.0, 0.75]], rtol=1e-14)
    assert_array_equal(of_present(np.array([[0.25, 0.75]]), present), [[0.25, 0.0, 0.75]])


def test_the_only_present_class_is_certain():
    for loss in (Logistic(), Savage()):  # Savage's link needs a rival
        decision = OneLabel(loss, NAMES, np.array([False, True, False]))
        assert_array_equal(decision.probabilities(U), [[0, 1, 0], [0, 1, 0]])


def test_several_labels_are_those_above_the_threshold():
    # The threshold of a row is U₀ − U₂ + ½: 1.5 and 2.5.
    decision = SeveralLabels(RANKING, np.array([1.0, 0.0, -1.0, 0.5]))
    assert_array_equal(decision.decision(U), [[-1.5, -0.5, -2.5], [-0.5, -0.5, -2.5]])
    assert_array_equal(decision.labels(U), np.zeros((2, 3)))
    assert_array_equal(decision.labels(np.array([[0.0, 1.0, 1.0]])), [[1, 1, 1]])  # −½ is below all of them
    assert decision.labels(U).dtype == np.int64


def test_a_score_at_the_threshold_is_no_label():
    assert_array_equal(SeveralLabels(RANKING, np.zeros(4)).labels(U), [[0, 1, 0], [1, 1, 0]])


def test_probabilities_of_several_labels_are_measured_from_the_threshold():
    # The threshold is U₀, so that the decision is U − U₀.
    decision = SeveralLabels(RANKING, np.array([1.0, 0.0, 0.0, 0.0]))
    shifted = U + np.array([[5.0], [-7.0]])
    assert_allclose(decision.probabilities(shifted), 1 / (1 + np.exp(-2 * (U - U[:, :1]))), rtol=1e-13)


def test_scores_that_rounding_has_parted_are_tied():
    """The first of them is predicted, also beside an absent class; canonical codewords need no such rule."""
    U = np.array([[0.1, 0.3, 0.3 + 1e-8], [0.1, 0.3, 0.3 + 1e-5], [-5.0, -1e-9, 0.0]])
    assert OneLabel(Logistic(), NAMES, ALL).best(U).tolist() == [1, 2, 1]
    assert OneLabel(Logistic(), NAMES, ALL, exact=True).best(U).tolist() == [2, 2, 2]
    present = np.array([False, True, True])
    assert OneLabel(Logistic(), NAMES, present).best(U).tolist() == [1, 2, 2]
    assert OneLabel(Logistic(), NAMES, ALL).of_probabilities(U + 1).tolist() == NAMES[[1, 2, 1]].tolist()


def test_half_of_the_probability_may_be_rounded():
    P = np.array([[0.5 - 1e-12, 0.25, 0.25 + 1e-12], [0.49, 0.26, 0.25]])
    assert median_class(P, np.arange(3)).tolist() == [0, 1]
