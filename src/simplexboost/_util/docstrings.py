"""Completes docstrings, so that a parameter which many classes or functions share is described once.

`described` adds what a docstring lacks. A class gets the parameters and attributes of its base classes, a method gets
the parameters and the ``Returns`` section of the method that it overrides, and all get the entries of `SHARED` and
`OF_FOLDERS`. For example, ``help(SAMMEClassifier)`` explains every parameter.
"""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)

# An entry is used for a parameter of its name that a docstring does not describe itself.
SHARED = """\
clf : fitted booster
    The model.
X : array, data frame or sparse matrix of shape (n, p)
    The rows, with the columns of the fit. NaN and None mean missing.
y : array of shape (n,)
    The labels of the rows.
sample_weight : array of shape (n,) or None, default=None
    The weights of the rows.
y_true : array of shape (n,)
    The true labels.
y_pred : array of shape (n,)
    The predicted labels.
P : array of shape (n, K)
    The probabilities.
K : int
    The number of classes, at least 2.
ax : matplotlib Axes or None, default=None
    Where to draw; None makes a new figure.
init_score : array of shape (n, K), of shape (n,) for two classes, or None, default=None
    Log-odds that the trees' scores are added to, in the same form that ``fit`` takes; a model that was fitted with
    ``init_score`` does not contain them.
path : str or Path
    The file to write.
random_state : int, RandomState or None, default=None
    The seed of all random numbers.
n_threads : int, default=1
    The number of threads.
n_train : int
    The number of training rows.
n_test : int
    The number of test rows, whose labels are clean.
prior : array of shape (K,), dict or Series of shares by label, or None, default=None
    The shares of the classes among the rows to come; None takes those of training.
coverage : float, default=0.9
    The fraction of the sets that hold the true class, between 0 and 1.
per_class : bool, default=False
    Whether this fraction is reached for the rows of every class, and not only for all rows together. A class with fewer
    than coverage / (1 − coverage) known rows (9 for a coverage of 0.9) is then in every set.
background : rows like X, or None, default=None
    Rows from which unknown features are taken ("interventional" values); some hundred will do. The base of the values
    is then their mean logit. None takes the fractions of the training rows that the trees have stored
    ("path-dependent" values), and the base is `expected_value`.
i : int
    The number of the tree, from 0; negative numbers count from the end.
kind : {"gain", "cover", "splits", "shap"}, default="gain"
    "gain" is ``feature_importances_``; for chosen classes it is the share of each feature in the squared differences
    between the values of leaves that the splits explain, and sums to one for every class. "cover" is the number of
    training rows that pass the splits on a feature, "splits" the number of these splits. "shap" is the mean of the
    absolute Shapley values of X, over all classes or for the chosen ones.
estimator : fitted classifier
    A classifier of this package or of another.
most : int, default=3000
    The largest number of rows to draw; more rows are sampled at random.
confidence : float, default=0.95
    The confidence level of the intervals, between 0 and 1.
name : str or None
    The name in the legend.
found : Confusion
    The counts.
rounds : int or sequence of int
    Ascending numbers from 0 to ``clf.n_iter_``, or one of them.
"""

# The entries of a folder, except for its classifiers; they take the place of those of the same names in `SHARED`.
OF_FOLDERS = {
    "datasets": """\
random_state : int, Generator or None, default=None
    The seed.
""",
    "decide": """\
costs : array of shape (K, A), of shape (n, K, A), data frame or Hierarchy
    The cost of every decision (column) when a class (row) is true, in the order of the classes. Costs of single rows
    have a matrix each. The index of a data frame names the classes, its columns name the decisions, which may be others
    than the classes. A tree of classes gives their distances in it.
level : int
    From 1, right below the root, to ``hierarchy_.n_levels``, the classes themselves.
classes : array of shape (K,)
    The labels of the classes.
""",
    "explain": """\
classes : label, list of labels or None, default=None
    The classes to explain; None means all. For a list the last axis has its order, for one label there is no such axis.
""",
    "evaluate": """\
classes : array of shape (K,) or None, default=None
    All labels, in the order of the columns of P; None takes those that occur, sorted.
""",
    "parts": """\
Y : array of shape (K, d)
    The codewords, a row for every class.
""",
    "theory": """\
H : array of shape (n, m), list of fitted classifiers, fitted booster, or Space
    The weak classifiers: a matrix of the labels that they predict (a column for each), fitted classifiers that predict
    from X, or a fitted booster of this package, whose weak classifiers are used.
space : Space
    The weak classifiers.
y : array of shape (n,)
    The true labels; a `Space` already has them.
X : array of shape (n, p)
    The features, from which classifiers predict; a matrix H needs none.
classes : int, sequence of labels or None, default=None
    All classes: their number K if labels are 0 .. K−1, or the labels. None takes those that occur in H or y.
condition : str, array of shape (K,) or Condition
    The weak-learning condition: "samme", "m1", "mh", "mr", "uniform" or "minimal", a baseline distribution with the
    true class first, or a `Condition`.
K : int or None
    The number of classes; None where the condition is a baseline of shape (K,).
T : int
    The number of rounds.
t : int
    The number of rounds to go, which are the steps of a walk.
b : array of shape (K,)
    The baseline, a distribution whose first entry, the true class, is the largest; see `uniform_baseline`.
edge : float or None
    γ in [0, 1], the edge over guessing; None takes that of the condition, where it is a baseline.
s : array of shape (K,) or (m, K), or None, default=None
    The states: votes so far, the true class first. None is the state before the first vote.
loss : {"zero-one", "exponential"} or callable, default="zero-one"
    The loss of the final state. A function takes states (m, K) and returns losses (m,); it must be proper.
eta : float, "best" or None, default=None
    The weight of a vote in the exponential loss. None is ln(1 + γ); "best" is `best_eta`, for fixed baselines only.
radius : int or None, default=None
    The pixels go from −radius to radius; None is t.
F : array of shape (n, K)
    The weighted votes.
c : array of shape (n,)
    The true classes.
""",
}

# What a function with a parameter `ax` returns.
AXES = "matplotlib Axes, or a list of them\n    The axes with the picture."

# Examples that use one of these names and do not make it begin with the lines of the name.
SETUP = {
    "sb": ">>> import simplexboost as sb\n",
    "X": ">>> from sklearn.datasets import load_iris\n>>> X, y = load_iris(return_X_y=True)\n",
    "clf": ">>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)\n",
}

HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)
clean = cache(inspect.cleandoc)  # base classes are read again and again


def described(thing: T) -> T:
    """Decorate a class or function: add the parameters and attributes that its docstring lacks.

    The ``Parameters`` section gets every parameter of the signature that it lacks and that a base class or the shared
    entries describe. The ``Attributes`` section of a class gets the attributes that its base classes describe. Methods
    get the parameters and the ``Returns`` section of the methods that they override. A function with a parameter ``ax``
    gets a ``Returns`` section. Examples that use ``sb``, ``X`` or ``clf`` without defining it get an import, a table or
    a fit as first lines.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Tree:
    ...     '''A tree.
    ...
    ...     Parameters
    ...     ----------
    ...     depth : int, default=2
    ...         The largest depth.
    ...     '''
    ...     depth: int = 2
    >>> @described
    ... @dataclass
    ... class Stump(Tree):
    ...     '''One split.'''
    >>> Stump.__doc__.splitlines()[-2:]
    ['depth : int, default=2', '    The largest depth.']
    >>> @described
    ... def count(y):
    ...     '''Count the rows of every class.'''
    >>> count.__doc__.splitlines()[-1]
    '    The labels of the rows.'
    """
    if thing.__doc__ is None:  # python -OO
        return thing
    folder = thing.__module__.partition(".")[2].partition(".")[0]
    shared = SHARED + ("" if hasattr(thing, "fit") else OF_FOLDERS.get(folder, ""))
    if not isinstance(thing, type):
        thing.__doc__ = complete_docstring(thing, [], shared)
        return thing
    bases = thing.__mro__[1:]
    thing.__doc__ = complete_docstring(thing, [base.__doc__ for base in bases], shared, own_first=True)
    for name, member in vars(thing).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if inspect.isfunction(function) and function.__doc__ and not name.startswith("_"):
            inherited = [getattr(vars(base).get(name), "__doc__", "") for base in bases]
            function.__doc__ = complete_docstring(function, inherited, shared)
    return thing


def complete_docstring(thing: Any, bases: list[str | None], shared: str, own_first: bool = False) -> str:
    """Return the docstring of a class or function, completed from the docstrings ``bases`` and the entries ``shared``.

    The parameters are in the order of the signature; with ``own_first``, the parameters that the docstring itself
    describes come before all other parameters.
    """
    names = list(inspect.signature(thing).parameters)
    found = dict(sections(clean(thing.__doc__)))
    others = [dict(sections(clean(base))) for base in bases if base]
    found.setdefault("Returns", next((other["Returns"] for other in others if "Returns" in other), ""))
    own, attributes = entries(found.get("Parameters", "")), dict[str, str]()
    known = ChainMap(own, *(entries(other.get("Parameters", "")) for other in others), entries(clean(shared)))
    order = dict.fromkeys([*own, *names] if own_first else [*names, *own])
    for one in [found, *others]:
        for name, entry in entries(one.get("Attributes", "")).items():
            attributes.setdefault(name, entry)
    defaults = {name: parameter.default for name, parameter in inspect.signature(thing).parameters.items()}
    kept = (known[n] if n in own else with_default(known[n], defaults.get(n, ...)) for n in order if n in known)
    found["Parameters"] = "\n".join(dict.fromkeys(kept))
    found["Attributes"] = "\n".join(dict.fromkeys(attributes.values()))  # an entry for two names comes once
    if "ax" in names and "self" not in names:
        found["Returns"] = found["Returns"] or AXES
    if "Examples" in found:
        found["Examples"] = add_setup(found["Examples"])
    titles = dict.fromkeys(["", "Parameters", "Attributes", "Returns", *found])
    return "\n\n".join(
        (f"{title}\n{'-' * len(title)}\n" if title else "") + found[title].strip("\n")
        for title in titles
        if found.get(title, "").strip()
    )


def with_default(entry: str, default: Any) -> str:
    """Return a parameter's entry with its default replaced, if the new default is a number, a bool, text or None."""
    if not isinstance(default, int | float | str | None) or "," in entry.partition(" :")[0]:
        return entry
    value = f'"{default}"' if isinstance(default, str) else repr(default)
    return re.sub(r"default=.*", lambda _: f"default={value}", entry, count=1)


def add_setup(examples: str) -> str:
    """Return the text of an Examples section, with the lines of `SETUP` that it needs inserted before the code."""
    text, prompt, code = examples.partition(">>> ")
    for name, lines in reversed(SETUP.items()):  # those of the later names use the earlier ones
        if re.search(rf"\b{name}\b", code) and not re.search(rf"\b{name}\b[\w, ]* = | as {name}$", code, re.M):
            code = lines.removeprefix(prompt) + prompt + code
    return text + prompt + code


def sections(doc: str) -> list[tuple[str, str]]:
    """Split a docstring into pairs (title, text), one per section; text before the first heading has the title ""."""
    pieces = HEADING.split(doc)
    return [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


@cache
def entries(section: str) -> dict[str, str]:
    """Return the entries of a docstring section by parameter name; an entry for "a, b" is listed under both names."""
    found = {}
    for entry in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        for name in entry.partition("\n")[0].partition(" :")[0].split(","):
            if name.strip():
                found[name.strip()] = entry.rstrip()
    return found
