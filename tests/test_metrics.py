"""Metrics by name, by scorer and by function, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as sk
from numpy.testing import assert_allclose

from simplexboost.boosting.decisions import OneLabel
from simplexboost.classifiers.metrics import METRICS, Predicted, Rows, as_metric, check_metrics
from simplexboost.parts.losses import Logistic

RNG = np.random.default_rng(0)
NAMES = np.array(["ash", "birch", "cedar", "elm"])
U = RNG.normal(size=(60, 4)).round(1)  # with ties
C = RNG.integers(0, 4, 60)
W = RNG.uniform(0.0, 2.0, 60)
P = np.exp(2 * U) / np.exp(2 * U).sum(axis=1, keepdims=True)


def seen(c=C, weight=None, U=U):
    """Predictions for rows of the classes c; class 4 is one that nobody has heard of."""
    labels = np.append(NAMES, "yew")[c]
    return Predicted(Rows(np.zeros((len(c), 2)), labels, c, weight), OneLabel(Logistic(), NAMES, np.ones(4, bool)), U)


def value(metric, **rows):
    return as_metric(metric).of(seen(**rows))


@pytest.mark.parametrize("weight", [None, W], ids=["equal weights", "weights"])
def test_names_are_scikit_learns_metrics(weight):
    """Log-loss, error and area under the curve are those of scikit-learn, under every name."""
    wanted = {
        "log_loss": sk.log_loss(C, P, sample_weight=weight),
        "error": sk.zero_one_loss(C, U.argmax(axis=1), sample_weight=weight),
        "accuracy": sk.accuracy_score(C, U.argmax(axis=1), sample_weight=weight),
        "auc_ovr": np.mean([sk.roc_auc_score(C == k, P[:, k], sample_weight=weight) for k in range(4)]),
    }
    same = {"mlogloss": "log_loss", "multi_logloss": "log_loss", "merror": "error", "multi_error": "error"}
    for name in METRICS:
        if name == "neg_log_loss":
            assert value(name, weight=weight) == pytest.approx(-wanted["log_loss"])
        else:
            of = same.get(name, name.removeprefix("roc_"))
            assert value(name, weight=weight) == pytest.approx(wanted[of], rel=1e-12), name


def test_which_names_are_to_be_maximised():
    greater = {name for name, metric in METRICS.items() if metric.greater_is_better}
    assert greater == {"accuracy", "auc_ovr", "roc_auc_ovr", "neg_log_loss"}
    assert as_metric("top_3_accuracy").greater_is_better and as_metric("balanced_accuracy").greater_is_better


def test_the_best_classes_by_hand():
    scores = np.array([[3.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    c = np.array([1, 1, 2, 4])
    found = [value(f"top_{k}_accuracy", c=c, U=scores) for k in (1, 2, 3, 4, 9)]
    assert found == [0.0, 0.5, 0.75, 0.75, 0.75]
    weighted = value("top_2_accuracy", c=c, U=scores, weight=np.array([1.0, 2.0, 3.0, 4.0]))
    assert weighted == pytest.approx(0.3)


def test_unseen_classes_are_errors():
    c = np.where(np.arange(60) < 15, 4, C)
    right = (U.argmax(axis=1) == C)[15:].sum()
    assert value("accuracy", c=c) == pytest.approx(right / 60) == pytest.approx(1 - value("error", c=c))
    own = np.r_[np.full(15, np.finfo(float).eps), P[np.arange(15, 60), C[15:]]]
    assert value("log_loss", c=c) == pytest.approx(-np.log(own).mean())
    assert 0 < value("auc_ovr", c=c) < 1


def test_classes_may_be_missing_from_the_rows():
    c = np.where(C == 1, 0, C)
    assert value("log_loss", c=c) == pytest.approx(sk.log_loss(c, P, labels=range(4)))
    areas = [sk.roc_auc_score(c == k, P[:, k]) for k in (0, 2, 3)]
    assert value("auc_ovr", c=c) == pytest.approx(np.mean(areas))
    assert np.isnan(value("auc_ovr", c=np.zeros(60, dtype=int)))
    # A class whose rows weigh nothing is missing too.
    assert value("auc_ovr", weight=(C != 1) * 1.0) == pytest.approx(
        np.mean([sk.roc_auc_score(C[C != 1] == k, P[C != 1, k]) for k in (0, 2, 3)])
    )


# ---- scorers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, W], ids=["equal weights", "weights"])
def test_scorers_see_labels_and_a_classifier(weight):
    predicted, rows = NAMES[U.argmax(axis=1)], {"sample_weight": weight}
    by_label = sk.f1_score(NAMES[C], predicted, average="macro", **rows)
    assert value("f1_macro", weight=weight) == pytest.approx(by_label)
    assert value(sk.get_scorer("f1_macro"), weight=weight) == pytest.approx(by_label)
    # Without pos_label=None, scikit-learn 1.6 looks for the label 1 among the classes of any classifier.
    elm = sk.make_scorer(sk.recall_score, labels=["elm"], average="macro", pos_label=None)
    assert value(elm, weight=weight) == pytest.approx(
        sk.recall_score(NAMES[C], predicted, labels=["elm"], average="macro", **rows)
    )
    loss = sk.make_scorer(sk.log_loss, response_method="predict_proba", greater_is_better=False)
    assert value(loss, weight=weight) == pytest.approx(-sk.log_loss(C, P, **rows))
    assert value("roc_auc_ovo") == pytest.approx(sk.roc_auc_score(C, P, multi_class="ovo"))


def test_any_function_of_an_estimator_is_a_scorer():
    assert value(lambda estimator, X, y: estimator.score(X, y)) == pytest.approx(value("accuracy"))
    with pytest.raises(ValueError, match="asks about 5 rows"):
        value(lambda estimator, X, y: estimator.score(X[:5], y[:5]))


def test_scorers_without_weights_do_without():
    def share(y, predicted):
        return np.mean(y == predicted)

    assert value(sk.make_scorer(share), weight=W) == pytest.approx(value("accuracy"))


# ---- functions ------------------------------------------------------------------------------------------------------


def test_functions_see_label_numbers_and_probabilities():
    def told(c, P):
        assert c.dtype.kind == "i" and set(c) <= {0, 1, 2, 3, 4}
        return np.mean(P.argmax(axis=1) != c)

    assert value(told) == pytest.approx(value("error"))
    assert value(told, c=np.full(60, 4)) == 1.0
    assert_allclose(seen().P, P, rtol=1e-12)
    assert not as_metric(told).greater_is_better
    told.greater_is_better = True
    assert as_metric(told).greater_is_better


def test_functions_get_weights_if_they_ask_for_them():
    def weighed(c, P, sample_weight=None):
        return 1.0 if sample_weight is None else sample_weight.sum()

    assert value(weighed) == 1.0
    assert value(weighed, weight=W) == W.sum()
    assert value(lambda c, P: len(c), weight=W) == 60


# ---- several --------------------------------------------------------------------------------------------------------


def a_metric(c, P):
    return 0.0


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, []),
        ("error", ["error"]),
        (a_metric, ["a_metric"]),
        (lambda c, P: 0.0, ["metric"]),
        (sk.make_scorer(sk.f1_score), ["f1_score"]),
        (["log_loss", a_metric, "top_5_accuracy"], ["log_loss", "a_metric", "top_5_accuracy"]),
        ({"one": "error", "two": a_metric}, ["one", "two"]),
    ],
)
def test_metrics_come_alone_in_lists_or_by_name(given, names):
    found = check_metrics(given)
    assert list(found.table) == names and found.watch == (names or ["risk"])[0]
    assert found.asked == (given is not None)


def test_the_risk_is_there_anyway_and_may_decide():
    found = check_metrics(["risk", "accuracy"])
    assert list(found.table) == ["accuracy"] and found.watch == "risk" and not found.greater_is_better
    assert check_metrics(["accuracy", "risk"]).greater_is_better


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ("acuracy", ValueError, r"eval_metric='acuracy' is unknown; .*'log_loss'.*'top_5_accuracy'"),
        ("top_0_accuracy", ValueError, "is unknown"),
        (3, TypeError, r"eval_metric=3 must be a name"),
        (["error", 3], TypeError, r"eval_metric=3 must be a name"),
        (Rows, TypeError, "must be a name"),
        ([], ValueError, "different names"),
        (["error", "error"], ValueError, "different names"),
        ([lambda c, P: 0.0, lambda c, P: 1.0], ValueError, "different names"),
        ({1: "error"}, ValueError, "different names"),
        ({"risk": a_metric}, ValueError, "'risk' is the name of the mean loss"),
        ({"mine": "risk"}, ValueError, "'risk' is the name of the mean loss"),
    ],
)
def test_what_is_no_metric_says_so(given, kind, words):
    with pytest.raises(kind, match=words):
        check_metrics(given)
