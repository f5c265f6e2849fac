"""The public face of the package does not change unawares: see `public_names`."""

import public_names


def test_the_public_names_are_those_of_the_file():
    found = public_names.difference()
    assert not found, f"{found}\n\nIf this is meant: python tests/public_names.py --renew"


def test_a_change_is_seen(monkeypatch):
    """Of a parameter's default, a method's parameter, and an attribute."""
    cls = public_names.simplexboost.SimplexBoostClassifier
    lines = [*public_names.parameter_lines(cls), *public_names.members(cls).values()]
    assert {"parameter early_stopping=False", "apply(X)", "feature_importances_  [property]"} <= set(lines)
    monkeypatch.setattr(cls, "apply", lambda self, X, n_rounds=None: None)
    monkeypatch.setattr(cls, "added", True, raising=False)
    members = public_names.members(cls)
    assert (members["apply"], members["added"]) == ("apply(X, n_rounds=None)", "added  [attribute]")


def test_fitted_attributes_are_listed():
    names = public_names.fitted_names(public_names.simplexboost.SimplexBoostClassifier)
    assert {"classes_", "model_", "choice_"} <= names
