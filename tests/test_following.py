"""Following a fit and stopping it: what users see of evaluated rows, for all boosters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cases import BOOSTERS, blobs, each
from model_files import read_zip, write_file
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import simplexboost as sb
from simplexboost.boosting import Callback, Checkpoint, EarlyStopping
from simplexboost.parts.learners import VectorTree

KINDS = BOOSTERS | {"SimplexBoostClassifier": sb.SimplexBoostClassifier}
EVAL_ATTRIBUTES = ("evals_result_", "best_iteration_", "best_score_", "validation_score_")
NAMES = np.array(["ash", "birch", "cedar"])
X, Y = blobs(n=240, p=4, seed=3)
NOISY = np.where(np.random.default_rng(0).random(240) < 0.3, (Y + 1) % 3, Y)
TRAIN, TEST = slice(0, 160), slice(160, 240)


def booster(**options):
    """A booster that overfits soon."""
    return sb.BoostingClassifier(
        **{"learner": VectorTree(max_depth=4), "n_estimators": 12, "random_state": 0, **options}
    )


def error(c, P):
    return np.mean(P.argmax(axis=1) != c)


# ---- X_val and y_val -------------------------------------------------------------------------------------------------


@each("kind", KINDS)
def test_a_tuple_of_one_set_is_that_set(kind):
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 80)
    clf, other = (kind(n_estimators=5, early_stopping=2, random_state=0) for _ in range(2))
    clf.fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST], sample_weight_val=weight)
    other.fit(X[TRAIN], Y[TRAIN], X_val=(X[TEST],), y_val=(Y[TEST],), sample_weight_val=(weight,))
    assert_array_equal(clf.evals_result_[0]["risk"], other.evals_result_[0]["risk"])
    assert_array_equal(clf.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X_val": X}, "X_val is given without y_val"),
        ({"y_val": Y}, "y_val is given without X_val"),
        ({"sample_weight_val": np.ones(240)}, "sample_weight_val is given without X_val"),
        ({"X_val": (X, X), "y_val": Y}, "y_val is no tuple, but X_val is one. To evaluate several sets, pass tuples"),
        ({"X_val": X, "y_val": (Y, Y)}, "X_val is no tuple, but y_val is one"),
        ({"X_val": (X, X), "y_val": (Y,)}, "X_val has 2 entries and y_val has 1"),
        ({"X_val": (X,), "y_val": (Y,), "sample_weight_val": np.ones(240)}, "sample_weight_val is no tuple, but X_val"),
        ({"X_val": (), "y_val": ()}, "X_val has 0 entries"),
        ({"X_val": (X, None), "y_val": (Y, Y)}, "X_val has an entry that is None"),
        ({"X_val": (X, X), "y_val": (Y, Y[:5])}, r"5 labels for 240 rows(.|\n)*in set 1 of X_val, counted from 0"),
    ],
)
def test_sets_that_do_not_go_together_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        booster().fit(X, Y, **given)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_pipeline_transforms_X_val(output):
    """With scikit-learn's metadata routing; pandas frames, and transformers that return frames."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    with config_context(enable_metadata_routing=True):
        clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0)
        clf.set_fit_request(X_val=True, y_val=True, sample_weight_val=True)
        steps = [("scale", StandardScaler()), ("pca", PCA(3)), ("clf", clf)]
        pipeline = Pipeline(steps, transform_input=["X_val"]).set_output(transform=output)
        options = {"X_val": frame[TEST], "y_val": Y[TEST], "sample_weight_val": np.ones(80)}
        pipeline.fit(frame[TRAIN], Y[TRAIN], **options)
    assert hasattr(pipeline[-1], "feature_names_in_") == (output == "pandas")
    assert_allclose(pipeline[-1].evals_result_[0]["risk"][-1], log_loss(Y[TEST], pipeline.predict_proba(frame[TEST])))


def test_a_pipeline_transforms_each_table_of_X_val():
    with config_context(enable_metadata_routing=True):
        clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).set_fit_request(X_val=True, y_val=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("pca", PCA(3)), ("clf", clf)], transform_input=["X_val"])
        pipeline.fit(X[TRAIN], Y[TRAIN], X_val=(X[TEST], X[TRAIN]), y_val=(Y[TEST], Y[TRAIN]))
    first, second = pipeline[-1].evals_result_
    for rows, results in ((TEST, first), (TRAIN, second)):
        assert_allclose(results["risk"][-1], log_loss(Y[rows], pipeline.predict_proba(X[rows])))


# ---- what a fit leaves behind ---------------------------------------------------------------------------------------


@each("kind", KINDS)
def test_the_curves_of_held_out_rows_are_kept(kind):
    clf = kind(n_estimators=5, early_stopping=True, random_state=0).fit(X, NOISY, eval_metric=["accuracy", "log_loss"])
    (results,) = clf.evals_result_
    assert list(results) == ["risk", "accuracy", "log_loss"]
    assert {len(values) for values in results.values()} == {len(clf.validation_score_)}
    assert clf.best_iteration_ == clf.n_iter_ == 1 + results["accuracy"].argmax()
    assert clf.best_score_ == results["accuracy"].max()
    assert_array_equal(clf.validation_score_, results["accuracy"])


@each("kind", KINDS)
def test_the_curves_of_an_evaluated_set_are_those_of_the_stages(kind):
    clf = kind(n_estimators=4, random_state=0)
    clf.fit(X[TRAIN], NAMES[Y[TRAIN]], X_val=X[TEST], y_val=NAMES[Y[TEST]], eval_metric=["log_loss", "error", "risk"])
    (results,) = clf.evals_result_
    P = [P.copy() for P in clf.staged_predict_proba(X[TEST])]
    assert_allclose(results["log_loss"], [log_loss(Y[TEST], stage) for stage in P], rtol=1e-5)
    assert_allclose(results["error"], [np.mean(p != NAMES[Y[TEST]]) for p in clf.staged_predict(X[TEST])], atol=1e-12)
    assert clf.best_iteration_ == 1 + results["log_loss"].argmin() and clf.best_score_ == results["log_loss"].min()
    assert_array_equal(clf.validation_score_, -results["log_loss"])
    assert clf.n_iter_ == len(results["risk"])  # following does not stop
    assert_array_equal(clf.train_score_, -clf.history_["risk"])


def test_without_rows_nothing_is_followed():
    clf = booster().fit(X, Y)
    assert all(getattr(clf, name) is None for name in EVAL_ATTRIBUTES)
    assert len(clf.train_score_) == clf.n_iter_
    assert not hasattr(booster(), "train_score_")
    with pytest.raises(NotFittedError):
        _ = booster().train_score_


def test_what_an_earlier_fit_has_followed_is_forgotten():
    clf = booster().fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST])
    assert all(getattr(clf, name) is not None for name in EVAL_ATTRIBUTES)
    clf.fit(X, Y)
    assert all(getattr(clf, name) is None for name in EVAL_ATTRIBUTES)


def test_a_continued_fit_has_the_whole_curve():
    options = {"X_val": X[TEST], "y_val": Y[TEST], "eval_metric": "error"}
    at_once = booster(n_estimators=9).fit(X[TRAIN], Y[TRAIN], **options)
    clf = booster(n_estimators=4, warm_start=True).fit(X[TRAIN], Y[TRAIN])
    clf.set_params(n_estimators=9).fit(X[TRAIN], Y[TRAIN], **options)
    for name in ("risk", "error"):
        assert_allclose(clf.evals_result_[0][name], at_once.evals_result_[0][name], rtol=1e-9)
    assert clf.best_iteration_ == at_once.best_iteration_


def test_one_class_alone_has_empty_curves():
    clf = booster(classes=[0, 1]).fit(X[Y == 0], Y[Y == 0], X_val=X, y_val=Y, eval_metric="error")
    assert clf.evals_result_[0]["error"].shape == (0,) and clf.best_iteration_ == 0 and np.isnan(clf.best_score_)


@pytest.mark.parametrize("calibration", [0.5, 2.0])
def test_what_is_followed_is_what_the_finished_model_predicts(calibration):
    clf = sb.SimplexBoostClassifier(n_estimators=20, learning_rate=0.1, calibration=calibration, random_state=0)
    clf.fit(X[TRAIN], NOISY[TRAIN], X_val=X[TEST], y_val=NOISY[TEST], eval_metric=["log_loss", "accuracy"])
    (results,) = clf.evals_result_
    stages = [log_loss(NOISY[TEST], P) for P in clf.staged_predict_proba(X[TEST])]
    assert_allclose(results["log_loss"], stages, rtol=1e-5)
    assert_allclose(results["risk"], stages, rtol=1e-5)
    assert results["accuracy"][-1] == pytest.approx(clf.score(X[TEST], NOISY[TEST]))


# ---- stopping -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["auto", "no", 0, -1, 2.0, None, "True"])
def test_early_stopping_is_a_rule_or_its_patience(given):
    with pytest.raises(
        (TypeError, ValueError), match=rf"early_stopping={given!r} (must be True, False|is out of range)"
    ):
        booster(early_stopping=given).fit(X, Y)


def test_early_stopping_has_a_short_form():
    fits = [booster(n_estimators=60, early_stopping=rule) for rule in (True, np.True_, 10, EarlyStopping())]
    P = [clf.fit(X, NOISY).predict_proba(X) for clf in fits]
    assert all(np.array_equal(other, P[0]) for other in P)
    clf = booster(early_stopping=np.int16(7)).set_params(early_stopping__tol=0.5)
    assert (clf.early_stopping.n_iter_no_change, clf.early_stopping.tol) == (7, 0.5)
    with pytest.raises(ValueError, match="early_stopping=False has no parameter 'tol'"):
        booster().set_params(early_stopping__tol=0.5)


def test_the_first_metric_stops_the_fit():
    fits = {}
    for metric in ("risk", "error", "accuracy"):
        clf = booster(n_estimators=80, early_stopping=8)
        fits[metric] = clf.fit(X[TRAIN], NOISY[TRAIN], X_val=X[TEST], y_val=NOISY[TEST], eval_metric=[metric])
        curve = clf.evals_result_[0][metric]
        best = curve.argmax() if metric == "accuracy" else curve.argmin()
        assert clf.n_iter_ == clf.best_iteration_ == best + 1 == len(curve) - 8
        assert clf.stop_reason_ == f"early stopping: no better held-out {metric} in 8 rounds"
    assert fits["error"].n_iter_ == fits["accuracy"].n_iter_ != fits["risk"].n_iter_
    assert fits["accuracy"].best_score_ == pytest.approx(fits["accuracy"].score(X[TEST], NOISY[TEST]))


def test_rounds_that_gain_less_than_tol_do_not_count():
    short, long = (
        booster(n_estimators=60, learning_rate=0.1, early_stopping=EarlyStopping(3, tol=tol)).fit(X, Y).n_iter_
        for tol in (0.05, 0.0)
    )
    assert short < long
    with pytest.raises(ValueError, match="tol=-1"):
        booster(early_stopping=EarlyStopping(tol=-1.0)).fit(X, Y)


def test_no_fraction_where_nothing_is_held_out():
    clf = booster(early_stopping=EarlyStopping(validation_fraction=None))
    clf.fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST])


@each("kind", KINDS)
def test_without_a_fraction_the_training_rows_are_watched(kind):
    clf = kind(n_estimators=30, early_stopping=EarlyStopping(1, None, tol=0.1))
    clf.set_params(random_state=0).fit(X, NOISY, eval_metric=["risk", "accuracy"])
    assert clf.n_iter_ < 30 and clf.stop_reason_.startswith(("early stopping: no better training risk", "weak learner"))
    (results,) = clf.evals_result_
    assert_allclose(results["risk"][: clf.n_iter_], clf.history_["risk"], rtol=1e-5)
    assert results["accuracy"][clf.n_iter_ - 1] == clf.score(X, NOISY)


def test_metrics_without_rows_are_refused():
    for metric in ("error", "risk", error):
        with pytest.raises(ValueError, match="eval_metric has no rows"):
            booster().fit(X, Y, eval_metric=metric)


def test_an_unknown_metric_is_refused_even_if_it_would_not_be_used():
    with pytest.raises(ValueError, match="eval_metric='eror' is unknown"):
        booster().fit(X, Y, eval_metric="eror")


# ---- metrics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels", [NAMES, np.array([10, 20, 30]), NAMES.astype(object)], ids=["text", "ints", "object"]
)
def test_functions_receive_label_numbers_whatever_the_labels(labels):
    clf = booster().fit(
        X[TRAIN], labels[Y[TRAIN]], X_val=X[TEST], y_val=labels[Y[TEST]], eval_metric={"mine": error, "theirs": "error"}
    )
    (results,) = clf.evals_result_
    assert_allclose(results["mine"], results["theirs"])
    assert results["mine"][-1] < 0.5


def test_scorers_see_the_labels():
    scorers = {
        "by name": "balanced_accuracy",
        "object": get_scorer("balanced_accuracy"),
        "own": make_scorer(accuracy_score),
        "accuracy": "accuracy",
    }
    clf = booster().fit(X[TRAIN], NAMES[Y[TRAIN]], X_val=X[TEST], y_val=NAMES[Y[TEST]], eval_metric=scorers)
    (results,) = clf.evals_result_
    assert_allclose(results["by name"], results["object"])
    assert_allclose(results["own"], results["accuracy"])
    assert results["by name"][-1] == pytest.approx(get_scorer("balanced_accuracy")(clf, X[TEST], NAMES[Y[TEST]]))


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_weights_of_evaluated_rows_count_like_repetitions(loss):
    weight = np.arange(80) % 3
    rows = np.repeat(np.arange(80), weight)
    clf = booster(loss=loss).fit(
        X[TRAIN],
        Y[TRAIN],
        X_val=(X[TEST], X[TEST][rows], X[TEST]),
        y_val=(Y[TEST], Y[TEST][rows], Y[TEST]),
        sample_weight_val=(weight, None, None),
        eval_metric=["error", "log_loss", "auc_ovr", "top_2_accuracy", "f1_macro"],
    )
    weighted, repeated, plain = clf.evals_result_
    for name in weighted:
        assert_allclose(weighted[name], repeated[name], rtol=1e-10)
    assert not np.allclose(weighted["risk"], plain["risk"])


def test_held_out_rows_keep_their_weights():
    def ratio(c, P, sample_weight):
        return sample_weight[c == 0].mean() / sample_weight[c != 0].mean()

    heavy = np.where(Y == 0, 100.0, 1.0)
    clf = booster(early_stopping=True).fit(X, Y, heavy, eval_metric={"ratio": ratio, "log_loss": "log_loss"})
    assert_allclose(clf.evals_result_[0]["ratio"], 100.0)
    assert_allclose(clf.evals_result_[0]["log_loss"], clf.evals_result_[0]["risk"], rtol=1e-6)


def test_classes_without_training_rows_are_errors():
    known = Y[TRAIN] != 2
    for classes in (None, [0, 1, 2, 3]):  # unknown, or declared but absent
        clf = booster(classes=classes).fit(
            X[TRAIN][known], Y[TRAIN][known], X_val=X[TEST], y_val=Y[TEST], eval_metric=["error", "log_loss"]
        )
        (results,) = clf.evals_result_
        assert_allclose(results["error"], [np.mean(p != Y[TEST]) for p in clf.staged_predict(X[TEST])])
        stages = [P[np.arange(80), np.minimum(Y[TEST], 1)] for P in clf.staged_predict_proba(X[TEST])]
        own = [np.where(Y[TEST] == 2, np.finfo(float).eps, stage) for stage in stages]
        assert_allclose(results["log_loss"], [-np.log(p).mean() for p in own], rtol=1e-9)
        assert_allclose(
            results["risk"], [-np.log(p[Y[TEST] != 2]).mean() for p in own], rtol=1e-6
        )  # without those rows


def test_costs_of_examples_go_with_metrics():
    def cost(c, P):
        return 5 * np.mean(1 - P[np.arange(len(c)), c])

    clf = sb.SoftmaxBoostClassifier(n_estimators=6, early_stopping=True, random_state=0)
    clf.fit(X, NAMES[Y], costs=5.0 * (np.arange(3) != Y[:, None]), eval_metric=["accuracy", cost])
    (results,) = clf.evals_result_
    assert clf.best_score_ > 0.5 and clf.best_score_ == results["accuracy"].max()
    assert_allclose(results["risk"], results["cost"])  # the held-out rows' own costs


def test_label_sets_have_a_risk_only():
    Z = np.column_stack([Y == 0, Y > 0, Y == 2]).astype(int)
    clf = sb.AdaBoostMHClassifier(n_estimators=5, early_stopping=True, random_state=0)
    with pytest.raises(ValueError, match="eval_metric takes one label per example"):
        clf.fit(X, Z, eval_metric="error")
    assert list(clf.fit(X, Z).evals_result_[0]) == ["risk"]


def test_a_metric_that_fails_says_which_it_is():
    def broken(c, P):
        return 1 // 0

    with pytest.raises(ZeroDivisionError) as caught:
        booster().fit(X, Y, X_val=X, y_val=Y, eval_metric={"accuracy": "accuracy", "mine": broken})
    assert caught.value.__notes__ == ["This happened in the metric 'mine', in round 1."]


# ---- who sees it ----------------------------------------------------------------------------------------------------


class Watcher(Callback):
    """Writes down what it sees."""

    def __init__(self):
        self.seen = []

    def after_round(self, run):
        self.seen.append([{name: values[-1] for name, values in results.items()} for results in run.evaluations])
        assert {len(values) for results in run.evaluations for values in results.values()} == {run.round}


def test_callbacks_see_the_evaluations():
    watcher = Watcher()
    sets = {"X_val": (X[TEST], X[TRAIN]), "y_val": (Y[TEST], Y[TRAIN])}
    clf = booster(callbacks=[watcher]).fit(X[TRAIN], Y[TRAIN], **sets, eval_metric="error")
    for i, results in enumerate(clf.evals_result_):
        for name in ("risk", "error"):
            assert [seen[i][name] for seen in watcher.seen] == results[name].tolist()
    watcher = Watcher()
    clf = booster(callbacks=[watcher], early_stopping=True).fit(X, Y)
    assert [seen[0]["risk"] for seen in watcher.seen] == clf.evals_result_[0]["risk"].tolist()


def test_verbose_shows_the_evaluations(capsys):
    clf = booster(verbose=1, n_estimators=3).fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST], eval_metric="error")
    last = capsys.readouterr().out.splitlines()[-1]
    results = clf.evals_result_[0]
    assert f"eval: risk {results['risk'][-1]:.6g}, error {results['error'][-1]:.6g}" in last
    booster(verbose=1, n_estimators=3, early_stopping=True).fit(X, Y)
    assert "eval: risk" in capsys.readouterr().out


def test_one_callback_is_not_a_list(tmp_path):
    with pytest.raises(TypeError, match=r"callbacks=Checkpoint\(.*must be a list"):
        booster(callbacks=Checkpoint(tmp_path / "m.sb")).fit(X, Y)


def test_a_pipeline_passes_metrics_on():
    clf = make_pipeline(StandardScaler(), booster(early_stopping=True))
    clf.fit(X, NAMES[Y], boostingclassifier__eval_metric="accuracy")
    assert 0 < clf[-1].best_score_ <= 1


# ---- files ----------------------------------------------------------------------------------------------------------


def followed(tmp_path):
    """A fitted classifier, and the file it is saved in."""
    sets = {"X_val": (X[TEST], X[TRAIN]), "y_val": (Y[TEST], Y[TRAIN])}
    clf = booster(early_stopping=True, n_estimators=30)
    clf.fit(X[TRAIN], Y[TRAIN], **sets, eval_metric={"a/b \u00e9": "accuracy"})
    clf.save(tmp_path / "m.sb")
    return clf, tmp_path / "m.sb"


def test_what_was_followed_is_saved(tmp_path):
    clf, path = followed(tmp_path)
    again = sb.load(path)
    assert [list(results) for results in again.evals_result_] == [["risk", "a/b \u00e9"]] * 2
    for mine, theirs in zip(clf.evals_result_, again.evals_result_, strict=True):
        for name in mine:
            assert_array_equal(mine[name], theirs[name])
    assert (again.best_iteration_, again.best_score_) == (clf.best_iteration_, clf.best_score_)
    assert_array_equal(again.validation_score_, clf.validation_score_)
    assert_array_equal(again.train_score_, clf.train_score_)
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == path.read_bytes()
    assert not hasattr(clone(again), "evals_result_")


def test_parameters_that_a_file_lacks_have_their_defaults(tmp_path):
    _, path = followed(tmp_path)
    header, arrays = read_zip(path)
    del header["followed"], header["parameters"]["early_stopping"]
    write_file(path, header, arrays)
    again = sb.load(path)
    assert again.early_stopping is False and all(getattr(again, name) is None for name in EVAL_ATTRIBUTES)


@pytest.mark.parametrize(
    "change",
    [
        {"best_iteration": 1000},
        {"best_iteration": "7"},
        {"best_score": "high"},
        {"names": [["risk", 7]]},
        {"names": [["risk", "error", "more"]]},
        {"names": 3},
    ],
)
def test_impossible_evaluations_are_refused(change, tmp_path):
    _, path = followed(tmp_path)
    header, arrays = read_zip(path)
    header["followed"] |= change
    write_file(path, header, arrays)
    with pytest.raises(ValueError, match="damaged"):
        sb.load(path)
