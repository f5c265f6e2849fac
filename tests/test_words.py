"""Keywords that a class or a method does not have: other libraries' words, and words that are misspelt."""

from __future__ import annotations

import inspect
import pickle
import re
from copy import copy
from pathlib import Path

import pytest
from cases import CLASSIFIERS, LEARNERS, each
from sklearn.base import clone

import simplexboost as sb
from simplexboost._util.params import METHODS, OF_LEARNERS, list_aliases
from simplexboost.parts.learners import NewtonTree, VectorTree

FLAGSHIP = sb.SimplexBoostClassifier
PARAMETERS, FITTING, PREDICTING = map(list_aliases, ("parameters", "fit", "predict"))
VALUES = {name: list_aliases(f"values.{name}") for name in ("loss", "growth", "device", "eval_metric")}


def words(table):
    return sorted({word for entry in table for names in entry.words.values() for word in names})


def refusal(call, kind):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


# ---- the tables -----------------------------------------------------------------------------------------------------


def test_every_answer_is_a_real_keyword():
    parameters = {name for kind in CLASSIFIERS.values() for name in kind().get_params(deep=False)}
    assert {entry.ours for entry in PARAMETERS if entry.ours} <= parameters
    for method, table in METHODS.items():
        known = inspect.signature(getattr(FLAGSHIP, method)).parameters
        assert {entry.ours for entry in list_aliases(table) if entry.ours} <= set(known)
    learners = {name for learner in LEARNERS.values() for name in learner.get_params(deep=False)}
    assert set(OF_LEARNERS) <= learners


@pytest.mark.parametrize("table", [PARAMETERS, FITTING, PREDICTING])
def test_every_word_has_one_answer(table):
    for word in words(table):
        assert len({(entry.ours, entry.advice) for entry in table if entry.owners(word)}) == 1, word
    for entry in table:
        assert entry.ours or entry.advice


def test_no_parameter_of_ours_is_another_library_s_word():
    """The flagship's own parameters would otherwise never be answered, or be answered by mistake."""
    assert not set(words(PARAMETERS)) & set(FLAGSHIP().get_params())


def table_after(heading):
    """The rows of the first table after a heading of the migration page, as lists of cells."""
    text = (Path(__file__).parents[1] / "docs" / "migration.md").read_text().split(f"\n## {heading}\n")[1]
    lines = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize(
    ("heading", "table"),
    [
        ("Parameters", PARAMETERS),
        ("Arguments of `fit`", FITTING),
        ("Arguments of `predict`, `predict_proba` and `decision_function`", PREDICTING),
    ],
)
def test_the_page_shows_what_the_code_answers(heading, table):
    """Row by row: our name, and the words of every library."""
    shown = [(re.findall(r"`(\w+)`", ours), by_library(theirs)) for ours, theirs, _ in table_after(heading)]
    assert shown == [([e.ours] if e.ours else [], e.words) for e in table]


def by_library(cell):
    """The words of a cell such as "LightGBM: `a`, `b`<br>XGBoost: `c`"."""
    named = (part.split(": ", 1) for part in cell.split("<br>"))
    return {library: re.findall(r"`([\w:]+)`", words) for library, words in named}


# ---- values of parameters -------------------------------------------------------------------------------------------


def test_the_page_shows_the_values_that_the_code_answers():
    shown = [
        (*re.findall(r'`"?([\w-]+)"?`', parameter + ours), by_library(theirs))
        for parameter, ours, theirs in table_after("Values of parameters")
    ]
    assert shown == [(name, entry.ours, entry.words) for name, entries in VALUES.items() for entry in entries]


@pytest.mark.parametrize(
    ("parameter", "entry", "word"),
    [(name, entry, word) for name, entries in VALUES.items() for entry in entries for word in words([entry])],
)
def test_other_libraries_values_are_answered(parameter, entry, word):
    """By every class that has the parameter."""
    table = [[0.0], [1.0], [2.0]] * 4, [0, 1, 2] * 4
    for make in (FLAGSHIP, sb.BoostingClassifier):
        clf, options = make(n_estimators=2), {}
        if parameter == "eval_metric":
            options = {"eval_metric": word, "X_val": table[0], "y_val": table[1]}
        elif parameter == "growth" and make is not FLAGSHIP:
            clf.set_params(learner__growth=word)
        else:
            clf.set_params(**{parameter: word})
        message = refusal(lambda clf=clf, options=options: clf.fit(*table, **options), ValueError)
        assert f"is unknown ({entry.owners(word)}); did you mean '{entry.ours}'? Choose one of " in message


def test_values_in_capitals_are_answered():
    message = refusal(lambda: FLAGSHIP(growth="BEST").fit([[0], [1]], [0, 1]), ValueError)
    assert (
        message == "growth='BEST' is unknown; did you mean 'best'? Choose one of 'auto', 'level', 'best', 'symmetric'."
    )


def test_the_values_that_the_page_translates_in_words_are_answered():
    """Those that stand in the remarks of the table of parameters, such as "`lossguide`" beside `growth`."""
    remarks = {re.findall(r"\w+", ours)[0]: text for ours, _, text in table_after("Parameters") if ours != "–"}
    known = {word for entry in VALUES["growth"] for word in words([entry])}
    named = set(re.findall(r"`(\w+)`", remarks["growth"]))
    assert named == {"lossguide", "depthwise", "SymmetricTree"} and named <= known


# ---- constructors and set_params ------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", words(PARAMETERS))
def test_other_libraries_words_are_answered(word):
    """By the constructor with a TypeError, like Python, and by `set_params` with a ValueError, like scikit-learn."""
    messages = [
        refusal(lambda: FLAGSHIP(**{word: 1}), TypeError),
        refusal(lambda: FLAGSHIP().set_params(**{word: 1}), ValueError),
    ]
    for message in messages:
        assert message.startswith(f"SimplexBoostClassifier has no parameter '{word}' (")
        assert "'s word); " in message


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("num_leaves", "(LightGBM's word); did you mean max_leaf_nodes?"),
        ("max_iter", "(scikit-learn's word); did you mean n_estimators?"),
        ("reg_lambda", "(LightGBM's, XGBoost's and CatBoost's word); did you mean l2_regularization?"),
        ("depth", "(CatBoost's word); did you mean max_depth?"),
        ("early_stopping_rounds", "did you mean early_stopping? It takes the number of rounds"),
        ("n_iter_no_change", "(scikit-learn's word); did you mean early_stopping?"),
        ("validation_fraction", "pass early_stopping=EarlyStopping(validation_fraction=...)"),
        ("objective", "did you mean loss?"),
        ("eval_metric", "; it is an argument of fit."),
        ("base_estimator", "it would be learner, which this class does not have."),
        ("max_leaf_node", "; did you mean max_leaf_nodes?"),
        ("lerning_rate", "; did you mean learning_rate?"),
        ("xyz", "; it has n_estimators, learning_rate, subsample, "),
    ],
)
def test_the_answer_says_what_to_write(word, answer):
    assert answer in refusal(lambda: FLAGSHIP(**{word: 1}), TypeError)


@each("kind", CLASSIFIERS)
def test_every_classifier_answers(kind):
    message = refusal(lambda: kind(num_leaves=3), TypeError)
    assert message.startswith(f"{kind.__name__} has no parameter 'num_leaves' (LightGBM's word); ")
    assert message.endswith(refusal(lambda: kind().set_params(num_leaves=3), ValueError))
    message = refusal(lambda: kind().fit([[0], [1]], [0, 1], early_stopping_rounds=3), TypeError)
    assert message.startswith(f"{kind.__name__}.fit has no argument 'early_stopping_rounds' (LightGBM's")


def test_parts_answer_and_send_on_to_parts():
    assert "VectorTree has no parameter 'num_leaves'" in refusal(lambda: VectorTree(num_leaves=3), TypeError)
    for word, ours in {"num_leaves": "max_leaf_nodes", "max_depth": "max_depth"}.items():
        message = refusal(lambda word=word: sb.BoostingClassifier(**{word: 3}), TypeError)
        assert message.endswith(f"did you mean {ours} of the learner? set_params(learner__{ours}=...) sets it.")
    message = refusal(lambda: sb.BoostingClassifier().set_params(learner__num_leaves=3), ValueError)
    assert "VectorTree has no parameter 'num_leaves'" in message
    clf = sb.BoostingClassifier().set_params(learner=NewtonTree(), learner__l2_regularization=3.0)
    assert clf.learner.l2_regularization == 3.0


def test_signatures_and_copies_are_as_they_were():
    """scikit-learn reads parameters from the signature; pickles and copies make objects without any keyword."""
    assert "max_leaf_nodes" in inspect.signature(FLAGSHIP).parameters
    assert {"X", "y", "sample_weight", "X_val", "y_val"} <= set(inspect.signature(FLAGSHIP.fit).parameters)
    clf = FLAGSHIP(max_leaf_nodes=7)
    for other in (clone(clf), copy(clf), pickle.loads(pickle.dumps(clf))):
        assert other.max_leaf_nodes == 7


def test_subclasses_with_keywords_of_their_own_are_left_alone():
    class Free(FLAGSHIP):
        def __init__(self, **options):
            super().__init__(n_estimators=options["rounds"])

        def fit(self, X, y, **options):
            return self

    assert Free(rounds=3).fit(None, None, anything=1).n_estimators == 3


# ---- methods --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", words(FITTING))
def test_words_of_fit_are_answered(word):
    message = refusal(lambda: FLAGSHIP().fit([[0], [1]], [0, 1], **{word: 1}), TypeError)
    assert message.startswith(f"SimplexBoostClassifier.fit has no argument '{word}' (")


@pytest.mark.parametrize("word", words(PREDICTING))
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_words_of_predict_are_answered(method, word):
    message = refusal(lambda: getattr(FLAGSHIP(), method)([[0]], **{word: 1}), TypeError)
    assert message.startswith(f"SimplexBoostClassifier.{method} has no argument '{word}' (")


def test_parameters_of_the_constructor_are_no_arguments_of_fit():
    for word in ("verbose", "callbacks", "n_estimators"):
        message = refusal(lambda word=word: FLAGSHIP().fit([[0], [1]], [0, 1], **{word: 1}), TypeError)
        assert message.endswith("; it is a parameter of the constructor.")
    message = refusal(lambda: FLAGSHIP().fit([[0], [1]], [0, 1], smple_weight=1), TypeError)
    assert message.endswith("did you mean sample_weight?")
