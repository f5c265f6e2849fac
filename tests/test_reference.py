"""The API reference: every public name has a page, and a docstring that explains all parameters and has an example."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.base import ClassifierMixin

import simplexboost
from simplexboost._util.docstrings import add_setup, described, entries
from simplexboost._util.docstrings import sections as split
from simplexboost.parts.learners import GreedyTree

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"

# Subpackages whose `__all__` is for users, and those that only other parts of the package import. Of the latter, some
# names have pages too: users meet them as results.
PUBLIC = {
    "boosting",
    "classifiers",
    "datasets",
    "decide",
    "distributed.dask",
    "evaluate",
    "explain",
    "export",
    "parts.codewords",
    "parts.learners",
    "parts.losses",
    "parts.optimizers",
    "parts.steps",
    "reductions",
    "theory",
    "theory.game_plots",
}
INTERNAL = {"_util", "cli", "engine", "model", "persist", "tables"}


def public_names():
    """All public names by their full names; a module among them stands for its own public names."""
    modules = [simplexboost, *(import_module(f"simplexboost.{name}") for name in sorted(PUBLIC))]
    while modules:
        module = modules.pop()
        for name in exported(module):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                yield f"{module.__name__}.{name}", value
            elif value.__name__.count(".") > 1:  # subpackages of the package itself are in PUBLIC
                modules.append(value)


def exported(module):
    """What a module offers: its ``__all__``, or the functions and classes that it defines."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if not name.startswith("_")])


def pages():
    """The full names that the pages of the reference list."""
    for path in sorted(REFERENCE.glob("*.rst")):
        module, listing = "", False
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. py:data:: (\S+)", line):
                yield f"{module}.{found[1]}"
            if line and not line.startswith(" "):
                listing = line.startswith(".. autosummary::")
            elif listing and re.match(r"   \w", line):
                yield f"{module}.{line.strip()}"


NAMES = dict(public_names())
DOCUMENTED = {name: value for name, value in NAMES.items() if inspect.isclass(value) or inspect.isfunction(value)}
LISTED = list(pages())


def test_every_subpackage_is_public_or_internal():
    found = {module.name for module in pkgutil.iter_modules(simplexboost.__path__) if module.ispkg}
    assert found == {name.partition(".")[0] for name in PUBLIC} | INTERNAL


def test_every_public_name_has_a_page():
    listed = {id(value_of(name)) for name in LISTED} | set(LISTED)
    assert [name for name, value in NAMES.items() if name not in listed and id(value) not in listed] == []


def test_no_name_is_listed_twice():
    assert len(LISTED) == len(set(LISTED))


@pytest.mark.parametrize("name", LISTED)
def test_every_listed_name_is_there(name):
    value_of(name)


def value_of(name):
    """What a full name stands for."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


@pytest.mark.parametrize("name", {**DOCUMENTED, **{name: value_of(name) for name in LISTED}})
def test_docstrings_have_an_example_and_all_parameters(name):
    value = value_of(name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return  # a constant, which its page describes
    sections = dict(split(inspect.getdoc(value)))
    assert ">>> " in sections.get("Examples", ""), "there is no example"
    assert parameters_of(value) <= names_in(sections)
    assert undescribed(sections) == []
    assert not re.search(r": (as|see|like) ", sections.get("Parameters", ""))


def parameters_of(value):
    """The parameters of a class or function; classes that only name what they take as ``*args`` are abstract."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:  # an exception
        return set()
    return {parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL} - {
        "keywords",
        "kwargs",
    }


def names_in(sections):
    """The names that a docstring describes."""
    return {name.lstrip("*") for title in ("Parameters", "Attributes") for name in entries(sections.get(title, ""))}


def undescribed(sections):
    """The items of a docstring that say nothing below their names and types."""
    return [
        entry
        for title in ("Parameters", "Attributes")
        for entry in entries(sections.get(title, "")).values()
        if "\n" not in entry
    ]


def methods():
    """The methods of all public classifiers that are for users, each once."""
    classifiers = [
        value for value in DOCUMENTED.values() if inspect.isclass(value) and issubclass(value, ClassifierMixin)
    ]
    found = [getattr(cls, name, None) for cls in classifiers for name in dir(cls)]
    ours = [f for f in found if inspect.isfunction(f) and f.__module__.startswith("simplexboost.")]
    return {f.__qualname__: f for f in ours if not f.__name__.startswith("_") and f.__name__ != "set_params"}


@pytest.mark.parametrize("method", methods().values(), ids=methods().keys())
def test_methods_of_classifiers_describe_all_parameters(method):
    sections = dict(split(inspect.getdoc(method)))
    assert parameters_of(method) - {"self"} <= names_in(sections)
    assert undescribed(sections) == []


class Base:
    """A base.

    Parameters
    ----------
    a, b : int
        Two numbers.
    c : int
        Another.

    Attributes
    ----------
    d_ : float
        What is fitted.
    """

    def __init__(self, a, b, c):
        pass

    def fit(self, X, y):
        """Fit.

        Parameters
        ----------
        X : array
            Rows.
        y : array
            Labels.
        """


def test_docstrings_are_completed():
    @described
    class Derived(Base):
        """Derived.

        Parameters
        ----------
        c : int, default=1
            Mine.

        Notes
        -----
        A note.
        """

        def __init__(self, c, a, b):
            pass

        def fit(self, X, y, z):
            """Fit more.

            Parameters
            ----------
            z : array
                More.
            """

    sections = dict(split(Derived.__doc__))
    assert list(sections) == ["", "Parameters", "Attributes", "Notes"]
    assert sections["Parameters"].strip() == "c : int, default=1\n    Mine.\na, b : int\n    Two numbers."
    assert sections["Attributes"].strip() == "d_ : float\n    What is fitted."
    assert list(entries(dict(split(Derived.fit.__doc__))["Parameters"])) == ["X", "y", "z"]
    assert entries(dict(split(inspect.getdoc(Base)))["Parameters"])["b"] == "a, b : int\n    Two numbers."


def test_shared_entries_describe_parameters_of_functions():
    @described
    def count(X, y, bins=10):
        """Count.

        Parameters
        ----------
        bins : int, default=10
            The bins.
        y : list
            Mine.

        Returns
        -------
        int
            The number.
        """

    sections = dict(split(count.__doc__))
    assert list(entries(sections["Parameters"])) == ["X", "y", "bins"]
    assert "y : list\n    Mine." in sections["Parameters"]
    assert sections["Returns"].strip() == "int\n    The number."


def test_inherited_parameters_have_the_defaults_of_the_signature():
    def read(part):
        return {
            name: entry.partition("\n")[0] for name, entry in entries(dict(split(part.__doc__))["Parameters"]).items()
        }

    assert read(GreedyTree)["leaves_per_rival"] == "leaves_per_rival : int or None, default=12"
    assert read(GreedyTree)["max_depth"] == "max_depth : int or None, default=None"
    assert read(GreedyTree)["growth"] == 'growth : {"level", "best", "symmetric"}, default="best"'


def test_examples_begin_with_what_they_need():
    iris = ">>> from sklearn.datasets import load_iris\n>>> X, y = load_iris(return_X_y=True)\n"
    named = ">>> import simplexboost as sb\n>>> clf = sb.F()"
    assert add_setup(">>> f(1)\n1") == ">>> f(1)\n1"
    assert add_setup(named) == named
    assert add_setup("Words:\n\n>>> sb.f(X)") == f"Words:\n\n>>> import simplexboost as sb\n{iris}>>> sb.f(X)"
    begins = [line.split()[1] for line in add_setup(">>> clf.score(X, y)").splitlines()]
    assert begins == ["import", "from", "X,", "clf", "clf.score(X,"]


def test_a_class_without_a_docstring_stays_without():
    """That is ``python -OO``."""

    class Bare(Base):
        pass

    Bare.__doc__ = None
    assert described(Bare).__doc__ is None
