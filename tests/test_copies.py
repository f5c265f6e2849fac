"""Everything public of every classifier survives pickling, copying and joblib; clones keep the parameters only."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import CLASSIFIERS, each
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from survival import CASES, answers, attributes, differences

import simplexboost as sb
from simplexboost.engine import node_bytes
from simplexboost.parts.losses import Logistic


def through_joblib(clf):
    """As a file of joblib keeps it."""
    memory = io.BytesIO()
    joblib.dump(clf, memory)
    memory.seek(0)
    return joblib.load(memory)


WAYS = {
    "pickle": lambda clf: pickle.loads(pickle.dumps(clf)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "joblib": through_joblib,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_everything_public_survives_copying(case):
    clf, table, labels, more = CASES[case]
    clf = clone(clf).fit(table, labels, **more)
    told, known = answers(clf, table, labels), attributes(clf)
    for way in WAYS.values():  # after predictions, for which models keep more than files do
        again = way(clf)
        assert not differences(known, attributes(again))
        assert not differences(told, answers(again, table, labels))
        assert not differences(clf.get_params(), again.get_params())


def test_copies_give_equal_files():
    """NumPy copies the fields of nodes only: what lies between them may be anything in a copy."""
    clf, table, labels, more = CASES["choice"]
    clf = clone(clf).fit(table, labels, **more)
    files = []
    for again in (clf, *(way(clf) for way in WAYS.values())):
        for tree in again.model_.trees:
            node_bytes(tree.nodes)[:, 18:20] = len(files)
        files.append(io.BytesIO())
        again.save(files[-1])
    assert len({file.getvalue() for file in files}) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_clones_keep_parameters_and_nothing_else(case):
    clf, table, labels, more = CASES[case]
    fitted = clone(clf).fit(table, labels, **more)
    again = clone(fitted)
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(again)
    assert not attributes(again)
    assert not differences(fitted.get_params(), again.get_params())


@each("kind", CLASSIFIERS)
def test_notebooks_show_whether_it_is_fitted(kind):
    """Also with parameters whose comparison gives arrays or tables."""
    clf = kind()
    assert kind.__name__ in clf._repr_html_() and "Not fitted" in clf._repr_html_()
    assert kind.__name__ in repr(clf)


@pytest.mark.parametrize("case", ["choice", "kernel", "random code", "MartiBoostClassifier two classes"])
def test_notebooks_show_fitted_classifiers(case):
    clf, table, labels, more = CASES[case]
    html = clone(clf).fit(table, labels, **more)._repr_html_()
    assert "Fitted" in html and "Not fitted" not in html


@pytest.mark.parametrize(
    "value", [np.eye(3), pd.DataFrame(np.eye(3)), np.eye(3).tolist()], ids=lambda v: type(v).__name__
)
def test_notebooks_show_arrays_and_tables_as_parameters(value):
    clf = sb.SimplexBoostClassifier(loss=Logistic(cost_matrix=value), classes=np.arange(3))
    assert "cost_matrix" in repr(clf) and "cost_matrix" in clf._repr_html_()
