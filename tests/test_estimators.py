"""The scikit-learn face: common checks, and what a user does with a classifier."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import simplexboost as sb


@parametrize_with_checks([sb.BoostingClassifier(), sb.GDMCBoostClassifier(), sb.CDMCBoostClassifier()])
def test_sklearn_checks(estimator, check):
    check(estimator)
