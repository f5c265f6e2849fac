"""Predictions with fewer rounds than the model has."""

from __future__ import annotations

import numpy as np
import pytest
from cases import BOOSTERS, blobs, each
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import simplexboost as sb

X, Y = blobs(n=90, p=4)
KINDS = BOOSTERS | {"SimplexBoostClassifier": sb.SimplexBoostClassifier}
METHODS = ("predict", "predict_proba", "decision_function")


@each("kind", KINDS)
def test_fewer_rounds_predict_like_the_stages(kind):
    clf = kind(n_estimators=4, random_state=0).fit(X, Y)
    assert clf.n_iter_ > 1
    for method in METHODS:
        stages = [stage.copy() for stage in getattr(clf, f"staged_{method}")(X)]
        assert len(stages) == clf.n_iter_
        for n_rounds, stage in enumerate(stages, start=1):
            assert_array_equal(getattr(sb.keep_rounds(clf, n_rounds), method)(X), stage)
        assert_array_equal(getattr(clf, method)(X), stages[-1])


@pytest.mark.parametrize(("n_rounds", "kind"), [(0, ValueError), (5, ValueError), (-1, ValueError), (2.0, TypeError)])
def test_rounds_that_the_model_does_not_have_are_refused(n_rounds, kind):
    clf = sb.GDMCBoostClassifier(n_estimators=4).fit(X, Y)
    with pytest.raises(kind, match=rf"n_rounds={n_rounds} .*integer in \[1, 4\]"):
        sb.keep_rounds(clf, n_rounds)


def test_the_first_rounds_are_a_model_like_any_other(tmp_path):
    clf = sb.SimplexBoostClassifier(n_estimators=6, random_state=0).fit(X, Y)
    short = sb.keep_rounds(clf, 2)
    assert short.n_iter_ == len(short.history_["risk"]) == 2 and clf.n_iter_ == 6
    short.save(tmp_path / "short.sb")
    assert_array_equal(sb.load(tmp_path / "short.sb").predict_proba(X), short.predict_proba(X))
    for function in (sb.keep_rounds, sb.drop_classes, sb.merge_classes):
        with pytest.raises(NotFittedError):
            function(sb.SimplexBoostClassifier(), 1)


def test_the_first_of_many_rounds_is_not_the_last():
    clf = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X, Y)
    assert np.abs(sb.keep_rounds(clf, 1).predict_proba(X) - clf.predict_proba(X)).max() > 0.1
