"""Everything public of every classifier survives saving, bit for bit."""

import pytest
from sklearn.base import clone
from survival import CASES, answers, attributes, differences

import simplexboost as sb


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_everything_public_survives(case, tmp_path):
    clf, table, labels, more = CASES[case]
    clf = clone(clf).fit(table, labels, **more)
    clf.save(tmp_path / "m.sb")
    again = sb.load(tmp_path / "m.sb")
    assert not differences(clf.get_params(), again.get_params())
    assert not differences(attributes(clf), attributes(again))
    told = answers(clf, table, labels)
    assert len(told) > 3
    assert not differences(told, answers(again, table, labels))
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "m.sb").read_bytes()
