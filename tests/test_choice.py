"""What the flagship chooses by itself, as a user sees it: rounds, temperature and the shape of the trees.

No test depends on which shapes compete, on how many rounds are tried, or on when the race ends.
"""

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from cases import blobs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss

import simplexboost as sb
from simplexboost import decide
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.classifiers import auto
from simplexboost.classifiers.search import checkpoints
from simplexboost.parts.codewords import Simplex
from simplexboost.parts.losses import Logistic
from simplexboost.persist.models import rng_state_from_json, temperature_from_arrays

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X, Y = blobs(n=240, p=4, K=3, seed=2)
QUICK = {"learning_rate": 0.5, "random_state": 0}  # few rounds to choose from
ONE_SHAPE = {"growth": "best", "gain_noise": 0.0, "max_leaf_nodes": 4, "max_features": 1.0}


def booster(**more):
    return sb.SimplexBoostClassifier(**{**QUICK, **more})


@pytest.fixture(scope="module")
def chosen():
    """A classifier that has chosen everything."""
    return booster().fit(X, Y)


def same_model(one, other):
    return one.model_.temperature == other.model_.temperature and (
        one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    )


def same_choice(one, other):
    return one.choice_.params == other.choice_.params and one.choice_.candidates == other.choice_.candidates


def file_of(clf, folder):
    clf.save(folder / "model.sb")
    return (folder / "model.sb").read_bytes()


# ---- what is chosen, and what is not --------------------------------------------------------------------------------


def test_the_choice_is_what_was_fitted(chosen):
    choice = chosen.choice_
    assert chosen.n_iter_ == choice.n_estimators == len(chosen.model_.trees)
    assert chosen.model_.temperature == choice.temperature
    assert choice.learning_rate == 0.5
    started = [
        shape | {"optimizer__init": "prior"} for shape in booster()._shapes(len(X))
    ]  # the classes are about even
    assert [c["params"] for c in choice.candidates] == [*started, {"optimizer__init": "prior", "n_estimators": 1}]
    (winner,) = (c for c in choice.candidates if c["params"] == choice.params)
    assert winner["risk"] == choice.risk <= 1.05 * min(c["risk"] for c in choice.candidates)
    assert choice.n_estimators in choice.curve["n_estimators"]
    assert choice.risk == choice.curve["calibrated"].min()
    assert (choice.curve["calibrated"] <= choice.curve["risk"] + 1e-9).all()
    assert 0 < choice.n_held <= len(X)
    assert f"{choice.risk:.4f}" in str(choice) and "* risk" in str(choice)


def test_the_choice_pays_on_noisy_labels():
    """Where labels are half noise, hundreds of rounds are too sure of them; the choice is not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = np.where(rng.random(1000) < 0.5, X[:, 0] > 0, rng.random(1000) < 0.5).astype(int)
    options = {"learning_rate": 0.3, "random_state": 0}
    risks = [
        log_loss(y[500:], sb.SimplexBoostClassifier(**options, **more).fit(X[:500], y[:500]).predict_proba(X[500:]))
        for more in ({}, {"n_estimators": 100})
    ]
    assert risks[0] < np.log(2) and risks[0] < 0.8 * risks[1]  # 0.56 is the noise itself, log 2 knows nothing


def test_the_chosen_parameters_give_the_same_model(chosen):
    choice = chosen.choice_
    again = sb.SimplexBoostClassifier(
        n_estimators=choice.n_estimators,
        learning_rate=choice.learning_rate,
        calibration=choice.temperature,
        random_state=0,
    ).set_params(**choice.params).fit(X, Y)  # fmt: skip
    assert again.choice_ is None and same_model(again, chosen)


@pytest.mark.parametrize("n", [1, 7, 30])
def test_a_given_number_of_rounds_is_just_that(n):
    clf = booster(n_estimators=n).fit(X, Y)
    assert clf.n_iter_ == n and clf.choice_ is None and clf.model_.temperature == 1.0


def test_calibration_of_a_given_number_of_rounds():
    """True chooses the temperature and nothing else, False and "auto" leave the scores, a number multiplies them."""
    fits = {t: booster(n_estimators=50, calibration=t).fit(X, Y) for t in (True, False, "auto", 0.5)}
    raw = fits[False].decision_function(X)
    for plain in (fits["auto"], booster(n_estimators=50, calibration=1).fit(X, Y)):
        assert plain.decision_function(X).tobytes() == raw.tobytes() and plain.choice_ is None
    assert_allclose(fits[0.5].decision_function(X), 0.5 * raw, rtol=1e-5, atol=1e-6)
    assert_allclose(fits[0.5].predict_proba(X), softmax(raw, axis=1), atol=1e-6)  # of 2U · ½
    choice = fits[True].choice_
    assert choice.n_estimators == choice.candidates[0]["n_estimators"] == fits[True].n_iter_ == 50
    assert choice.params == {} and len(choice.candidates) == 1
    assert choice.temperature == fits[True].model_.temperature != 1.0
    assert_allclose(fits[True].decision_function(X), choice.temperature * raw, rtol=1e-5, atol=1e-6)
    for clf in fits.values():  # a temperature changes no decision
        assert_array_equal(clf.predict(X), fits[False].predict(X))


def test_a_chosen_temperature_mends_probabilities_that_are_too_sure():
    X, y = blobs(n=600, p=4, K=3, seed=3)
    options = {"n_estimators": 60, "learning_rate": 0.5, "random_state": 0}
    raw, warm = (sb.SimplexBoostClassifier(calibration=t, **options).fit(X[:300], y[:300]) for t in (False, True))
    assert warm.choice_.temperature < 0.8
    assert log_loss(y[300:], warm.predict_proba(X[300:])) < 0.9 * log_loss(y[300:], raw.predict_proba(X[300:]))


@pytest.fixture(scope="module")
def hard():
    """Ten classes that are hard to tell apart."""
    return make_classification(
        3600, 20, n_informative=10, n_redundant=4, n_classes=10, n_clusters_per_class=2, flip_y=0.03, random_state=0
    )


def improved_by(clf, X, y, factor):
    """The log-loss if the temperature were so many times what it is."""
    return log_loss(y, softmax(2 * factor * clf.decision_function(X), axis=1))


@pytest.mark.parametrize("n_estimators", [100, "auto"])
def test_a_large_learning_rate_gets_the_temperature_it_needs(hard, n_estimators):
    """Trials at several times a rate of 0.3 would over-fit at once, and ask for a temperature that is far too low."""
    X, y = hard
    options = {"n_estimators": n_estimators, "learning_rate": 0.3, "random_state": 0}
    plain, mended = (sb.SimplexBoostClassifier(calibration=t, **options).fit(X[:1200], y[:1200]) for t in (False, True))
    loss = log_loss(y[1200:], mended.predict_proba(X[1200:]))
    assert loss < log_loss(y[1200:], plain.predict_proba(X[1200:]))
    assert loss < 1.02 * min(improved_by(mended, X[1200:], y[1200:], factor) for factor in (0.6, 0.8, 1.25, 1.6))
    sets = decide.predict_sets(mended, X[1200:], coverage=0.8)
    assert 0.77 < sets[np.arange(2400), y[1200:]].mean() < 0.87


def test_a_given_number_of_rounds_is_judged_at_its_own_rate(hard):
    """Also at a rate of 0.1: the trials are the fit itself on fewer rows, round by round."""
    X, y = hard
    clf = sb.SimplexBoostClassifier(n_estimators=40, learning_rate=0.1, calibration=True, random_state=0)
    choice = clf.fit(X[:300], y[:300]).choice_
    assert choice.curve["n_estimators"].tolist() == checkpoints(0, 40)


def test_rounds_without_a_temperature():
    clf = booster(calibration=False).fit(X, Y)
    assert clf.choice_.temperature == clf.model_.temperature == 1.0
    assert_array_equal(clf.choice_.curve["risk"], clf.choice_.curve["calibrated"])
    fixed = booster(calibration=0.6).fit(X, Y)
    assert fixed.model_.temperature == 0.6 and fixed.choice_.n_estimators == clf.choice_.n_estimators


@pytest.mark.parametrize("given", [{"growth": "symmetric"}, {"max_leaf_nodes": 4}, {"max_features": 1.0}, ONE_SHAPE])
def test_what_is_given_is_not_chosen(given):
    clf = booster(**given).fit(X, Y)
    assert all(not given.keys() & candidate["params"].keys() for candidate in clf.choice_.candidates)
    assert len(clf.choice_.candidates) == 2 or given is not ONE_SHAPE  # the class shares always take part
    names = [str(candidate["params"]) for candidate in clf.choice_.candidates]
    assert len(set(names)) == len(names)  # no candidate twice
    if "max_leaf_nodes" in given:
        assert max(tree.n_leaves for tree in clf.model_.trees) <= 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"calibration": 0.0}, "calibration=0.0"),
        ({"calibration": -1}, "calibration=-1"),
        ({"calibration": "yes"}, "calibration='yes'"),
        ({"calibration": True, "early_stopping": True}, "calibration=True"),
        ({"growth": "wide"}, "growth='wide'"),
        ({"gain_noise": -0.5}, "gain_noise=-0.5"),
        ({"gain_noise": "some"}, "gain_noise='some'"),
        ({"learning_rate": "slow"}, "learning_rate='slow'"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"n_estimators": "many"}, "n_estimators='many'"),
    ],
)
def test_bad_parameters_name_themselves(options, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        sb.SimplexBoostClassifier(**options).fit(X_IRIS, Y_IRIS)


def test_early_stopping_makes_no_choice():
    clf = booster(early_stopping=True).fit(X, Y)
    assert clf.choice_ is None and clf.model_.temperature == 1.0
    assert clf.stop_reason_.startswith("early stopping")


# ---- the same choice, always ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_same_bytes_for_any_number_of_jobs(n_jobs, tmp_path):
    one, other = (booster(n_jobs=j).fit(X, Y).set_params(n_jobs=None) for j in (1, n_jobs))
    assert same_choice(one, other) and file_of(one, tmp_path) == file_of(other, tmp_path)


def test_the_same_bytes_for_any_number_of_jobs_on_a_sample(tmp_path, monkeypatch):
    """The way of large tables: shapes on a sample of the rows, then the winner on one split of all rows."""
    shapes = [{"growth": "best", "max_leaf_nodes": 4}, {"growth": "symmetric", "max_leaf_nodes": 8}]
    monkeypatch.setattr(sb.SimplexBoostClassifier, "_shapes", lambda self, n: shapes)
    monkeypatch.setattr(auto, "sample_rows", lambda n: n // 2)
    monkeypatch.setattr(auto, "effort", lambda n, p, K: auto.Effort(0, 1000, 2.0, 0.5))
    fits = [booster(n_jobs=j).fit(X, Y).set_params(n_jobs=None) for j in (1, 3)]
    assert fits[0].choice_.n_splits == 1 and len(fits[0].choice_.candidates) == 3
    assert same_choice(*fits) and file_of(fits[0], tmp_path) == file_of(fits[1], tmp_path)


def test_another_seed_makes_another_choice(chosen):
    other = booster(random_state=1).fit(X, Y)
    assert other.choice_.risk != chosen.choice_.risk
    assert same_model(booster(random_state=np.random.RandomState(5)).fit(X, Y),
                      booster(random_state=np.random.RandomState(5)).fit(X, Y))  # fmt: skip


def test_scaled_weights_change_nothing():
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    one, other = (booster(**ONE_SHAPE).fit(X, Y, sample_weight=f * weight) for f in (1.0, 1024.0))
    assert same_choice(one, other) and same_model(one, other)
    plain = booster(**ONE_SHAPE).fit(X, Y)
    assert plain.choice_.risk != one.choice_.risk


def test_weights_count_in_the_held_out_risk():
    """Rows of wrong labels that weigh next to nothing: the risk is that of the others."""
    wrong = np.arange(len(X)) % 3 == 0
    labels = np.where(wrong, (Y + 1) % 3, Y)
    light = booster(**ONE_SHAPE).fit(X, labels, sample_weight=np.where(wrong, 1e-3, 1.0))
    equal = booster(**ONE_SHAPE).fit(X, labels)
    assert light.choice_.risk < 0.8 * equal.choice_.risk


def test_rows_without_weight_are_not_held_out():
    weight = (np.arange(len(X)) % 4 > 0).astype(float)
    groups = np.arange(len(X)) % 8  # as many labels as rows, those without weight included
    clf = booster(**ONE_SHAPE).fit(X, Y, sample_weight=weight, groups=groups)
    few = booster(**ONE_SHAPE).fit(X[weight > 0], Y[weight > 0], groups=groups[weight > 0])
    assert clf.choice_.n_held == few.choice_.n_held <= weight.sum() and same_model(clf, few)


# ---- groups ---------------------------------------------------------------------------------------------------------


def speakers(n_speakers=30, seed=0):
    """Rows that tell who speaks: a speaker's rows are alike, and whose class it is cannot be known for new speakers."""
    rng = np.random.default_rng(seed)
    speaker = np.repeat(np.arange(n_speakers), 10)
    voice = rng.normal(size=(n_speakers, 4))
    return voice[speaker] + 0.01 * rng.normal(size=(10 * n_speakers, 4)), (speaker % 2), speaker


def test_folds_by_row_deceive_where_folds_by_group_do_not():
    X, y, speaker = speakers()
    by_row, by_group = (booster(**ONE_SHAPE).fit(X, y, groups=groups) for groups in (None, speaker))
    assert by_row.choice_.risk < 0.2
    assert by_group.choice_.risk > 0.6  # knowing nothing is 0.69
    assert by_group.n_iter_ * by_group.choice_.temperature < 0.3 * by_row.n_iter_ * by_row.choice_.temperature


def test_names_of_groups_do_not_matter():
    X, y, speaker = speakers(10)
    one, other = (booster(**ONE_SHAPE).fit(X, y, groups=g) for g in (speaker, [f"speaker {k}" for k in speaker]))
    assert same_choice(one, other)


@pytest.mark.parametrize("options", [{}, {"n_estimators": 3}])
def test_bad_groups_are_refused(options):
    clf = booster(**options)
    with pytest.raises(ValueError, match=r"groups has shape \(7,\).* 240 rows"):
        clf.fit(X, Y, groups=np.arange(7))
    with pytest.raises(ValueError, match="groups holds one group only"):
        clf.fit(X, Y, groups=np.zeros(len(X)))
    assert not hasattr(clf, "classes_")


# ---- odd tables -----------------------------------------------------------------------------------------------------


def test_a_class_with_a_single_row():
    y = Y.copy()
    y[11] = 3
    clf = booster().fit(X, y)
    assert np.isfinite(clf.choice_.risk) and clf.predict_proba(X).shape == (240, 4)


def test_hardly_any_rows_make_no_choice():
    few = auto.N_FOLDS - 1
    X, y = blobs(n=few, K=2)
    clf = booster().fit(X, y)
    assert clf.choice_ is None and clf.n_iter_ >= 1
    X, y = blobs(n=few + 1, K=2)
    assert booster().fit(X, y).choice_ is not None
    assert booster(n_estimators=5, calibration=True).fit(X[:few], y[:few]).choice_ is None


def test_absent_classes_and_one_class():
    clf = booster(classes=["a", "b", "c", "d"], **ONE_SHAPE).fit(X, np.array(["a", "b", "d"])[Y])
    P = clf.predict_proba(X)
    assert P.shape == (240, 4) and (P[:, 2] == 0).all() and clf.choice_.risk < 1
    alone = booster(classes=[0, 1]).fit(X, np.ones(240))
    assert alone.choice_ is None and (alone.predict(X) == 1).all()


def test_two_classes():
    clf = booster().fit(X, Y > 0)
    assert clf.decision_function(X).shape == (240,) and clf.choice_.risk < np.log(2)
    assert_allclose(clf.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * clf.decision_function(X))), atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"loss": "savage"}, {"loss": "softmax-cost"}, {"loss": Logistic(cost_matrix=[[0, 1, 1], [9, 0, 9], [1, 1, 0]])}],
    ids=["savage", "softmax-cost", "costs"],
)
def test_other_losses_choose_rounds_by_their_own_risk(options):
    clf = booster(**ONE_SHAPE, **options).fit(X, Y)
    choice = clf.choice_
    assert choice.temperature == clf.model_.temperature == 1.0 and clf.n_iter_ == choice.n_estimators
    # Before any round every class has the same score: no chosen model is worse than that.
    nothing = clf.loss_.value(np.zeros((240, 3)), Y).mean()
    assert 0 < choice.risk < nothing
    again = booster(**ONE_SHAPE, **options, n_estimators=clf.n_iter_).fit(X, Y)
    assert same_model(again, clf)


@pytest.mark.parametrize("codewords", ["simplex", "max-min", Simplex().matrix(3)])
def test_other_codes_choose_as_well(codewords):
    clf = booster(**ONE_SHAPE, codewords=codewords).fit(X, Y)
    assert clf.choice_.risk < np.log(3)
    assert_allclose(clf.predict_proba(X), softmax(2 * clf.decision_function(X), axis=1), atol=1e-6)


def test_missing_values_and_categories():
    table = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    table[:, 0] = Y % 2
    clf = booster(categorical_features=[0]).fit(table, Y)
    assert clf.choice_.risk < 0.5 and np.isfinite(clf.predict_proba(table)).all()


def test_pure_noise_gives_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 4, 400)
    clf = booster().fit(X, y)
    fresh = rng.integers(0, 4, 400)
    assert log_loss(fresh, clf.predict_proba(rng.normal(size=(400, 5)))) < np.log(4) + 0.02


# ---- going on, and interruptions ------------------------------------------------------------------------------------


class StopAt(Callback):
    """Raises after some rounds of the fit; the race has no callbacks of the user."""

    def __init__(self, rounds, error=KeyboardInterrupt):
        self.rounds, self.error = rounds, error

    def after_round(self, run):
        if run.round == self.rounds:
            raise self.error


@pytest.mark.parametrize("options", [{}, {"growth": "symmetric", "subsample": 0.7}, {"calibration": 0.7}])
@pytest.mark.parametrize("left", [0, 1, None])
def test_an_interrupted_fit_goes_on_as_if_nothing_had_happened(options, left, tmp_path):
    """Interrupted after the first round, one before the last, or after the last: the same bytes in the end."""
    whole = booster(**options).fit(X, Y)
    rounds = whole.n_iter_ - left if left is not None else 1
    path = tmp_path / "checkpoint.sb"
    callbacks = [Checkpoint(path, every=rounds), StopAt(rounds)]
    with pytest.raises(KeyboardInterrupt):
        booster(**options, callbacks=callbacks).fit(X, Y)
    part = sb.load(path).set_params(warm_start=True)
    assert part.n_iter_ == rounds and part.choice_.n_estimators == whole.n_iter_
    assert_array_equal(part.decision_function(X), sb.keep_rounds(whole, rounds).decision_function(X))  # also calibrated
    rest = part.fit(X, Y).set_params(warm_start=False)
    assert same_model(rest, whole) and same_choice(rest, whole) and rest.n_iter_ == whole.n_iter_
    if left == 0:  # no round is left that would measure the last risk on the way
        assert_allclose(rest.history_["risk"], whole.history_["risk"], rtol=1e-5)
    else:
        assert file_of(rest, tmp_path) == file_of(whole, tmp_path)  # the history too


def test_an_interrupted_fit_of_a_small_table_keeps_its_learning_rate(tmp_path):
    """The learning rate is a rule for chosen rounds: it must not change when the fit goes on."""
    path = tmp_path / "checkpoint.sb"
    options = {"random_state": 0, "max_leaf_nodes": 4, "growth": "best", "gain_noise": 0.0, "max_features": 0.9}
    whole = sb.SimplexBoostClassifier(**options).fit(X_IRIS, Y_IRIS)
    with pytest.raises(KeyboardInterrupt):
        sb.SimplexBoostClassifier(**options, callbacks=[Checkpoint(path, every=3), StopAt(3)]).fit(X_IRIS, Y_IRIS)
    rest = sb.load(path).set_params(warm_start=True).fit(X_IRIS, Y_IRIS)
    assert rest.decision_function(X_IRIS).tobytes() == whole.decision_function(X_IRIS).tobytes()
    assert {term.step for term in rest.model_.terms[1:]} == {whole.choice_.learning_rate}
    assert rest.model_.terms[0].step == pytest.approx(1 / whole.choice_.temperature)  # the class shares


def test_a_chosen_model_goes_on_with_more_rounds():
    clf = booster(warm_start=True).fit(X, Y)
    choice, rounds = clf.choice_, clf.n_iter_
    before = clf.decision_function(X)
    clf.fit(X, Y)  # no rounds are left to add
    assert clf.n_iter_ == rounds and clf.decision_function(X).tobytes() == before.tobytes()
    clf.set_params(n_estimators=rounds + 5).fit(X, Y)
    assert clf.n_iter_ == rounds + 5 and clf.choice_ is choice
    assert clf.model_.temperature == choice.temperature  # once, not once more for every fit
    assert sb.keep_rounds(clf, rounds).decision_function(X).tobytes() == before.tobytes()
    longer = booster(n_estimators=rounds + 5, calibration=choice.temperature).set_params(**choice.params).fit(X, Y)
    assert same_model(clf, longer)
    clf.set_params(n_estimators=rounds + 6, calibration=False).fit(X, Y)
    assert clf.model_.temperature == 1.0


@pytest.mark.parametrize("calibration", [0.5, True])
def test_a_temperature_is_applied_once_however_often_a_model_goes_on(calibration):
    whole = booster(n_estimators=21, calibration=calibration).fit(X, Y)
    clf = booster(n_estimators=21, calibration=calibration, warm_start=True).fit(X, Y)
    clf.fit(X, Y).fit(X, Y)
    assert same_model(clf, whole)


def test_a_temperature_is_applied_once_to_a_fit_that_stopped_early():
    """Fewer rounds than chosen do not mean that the fit was interrupted."""

    class Enough(Callback):
        def after_round(self, run):
            run.stop_reason = "enough" if run.round == 3 else None

    clf = booster(callbacks=[Enough()], warm_start=True, calibration=0.5).fit(X, Y)
    assert clf.n_iter_ == 3 < clf.choice_.n_estimators
    first = clf.decision_function(X)
    clf.set_params(callbacks=None, n_estimators=4).fit(X, Y)
    assert sb.keep_rounds(clf, 3).decision_function(X).tobytes() == first.tobytes()


def test_going_on_is_like_a_longer_fit():
    """The draws continue too: ten rounds and fifteen more are twenty-five."""
    clf = booster(n_estimators=10, warm_start=True, subsample=0.7).fit(X, Y)
    clf.set_params(n_estimators=25).fit(X, Y)
    assert same_model(clf, booster(n_estimators=25, subsample=0.7).fit(X, Y))


@pytest.mark.parametrize("shape", [(900, 50_000, 3), (1_000, 2, 10_000), (2_000, 10, 3)])
def test_few_rows_are_held_out_in_folds_however_wide_they_are(shape):
    assert auto.effort(*shape).n_splits == 5
    assert auto.effort(5_000, *shape[1:]).n_splits == (3 if shape[0] == 2_000 else 0)


def test_another_fit_leaves_no_old_choice(chosen):
    clf = clone(chosen).fit(X, Y)
    clf.set_params(n_estimators=4).fit(X_IRIS, Y_IRIS)
    assert clf.choice_ is None and clf.model_.temperature == 1.0
    clf.set_params(n_estimators="auto").fit(X_IRIS, Y_IRIS)
    assert clf.choice_.n_held <= 150 and clf.n_iter_ == clf.choice_.n_estimators


@pytest.mark.parametrize("rounds", [1, 2])
def test_an_interrupt_leaves_the_estimator_as_it_was(rounds):
    clf = booster(**ONE_SHAPE).fit(X, Y)
    before, scores = dict(vars(clf)), clf.decision_function(X)
    clf.set_params(callbacks=[StopAt(rounds)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X_IRIS, Y_IRIS)
    clf.set_params(callbacks=None)
    assert vars(clf).keys() == before.keys() and clf.choice_ is before["choice_"]
    assert clf.decision_function(X).tobytes() == scores.tobytes()


def test_an_interrupt_in_the_race_is_heard():
    """Ctrl-C while trials run in threads: it is raised, and the estimator is as it was."""
    code = (
        "import numpy as np, threading, _thread, simplexboost as sb\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(6000, 30))\n"
        "y = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.0, 0.5])  # learnt slowly: the race goes on for a minute\n"
        "clf = sb.SimplexBoostClassifier(learning_rate=0.001, n_jobs=2)\n"
        "try:\n"
        "    threading.Timer(1.0, _thread.interrupt_main).start()\n"
        "    clf.fit(X, y)\n"
        "except KeyboardInterrupt: print('heard', [n for n in vars(clf) if n.endswith('_')])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert ran.stdout.strip() == "heard []", ran.stderr


# ---- what is kept and shown -----------------------------------------------------------------------------------------


def test_a_choice_is_saved_with_the_model(chosen, tmp_path):
    data = file_of(chosen, tmp_path)
    again = sb.load(tmp_path / "model.sb")
    assert str(again.choice_) == str(chosen.choice_) and same_choice(again, chosen)
    for name, value in vars(chosen.choice_).items():
        if name != "curve":
            assert getattr(again.choice_, name) == value
    for name, values in chosen.choice_.curve.items():
        assert_array_equal(again.choice_.curve[name], values)
    assert same_model(again, chosen) and file_of(again, tmp_path) == data


def test_pickles_and_clones(chosen):
    again = pickle.loads(pickle.dumps(chosen))
    assert same_model(again, chosen) and same_choice(again, chosen)
    fresh = clone(chosen)
    assert not hasattr(fresh, "choice_") and fresh.n_estimators == "auto"
    assert same_model(fresh.fit(X, Y), chosen)


def test_verbose_shows_the_race_before_the_fit(capsys):
    clf = booster(verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("choosing: "))
    assert " candidate(s) on 5 split(s), about " in lines[0] and "held-out risk" in lines[1]
    assert lines[last + 1] == f"boosting: 240 rows, 3 classes, up to {clf.n_iter_} rounds"
    booster(**ONE_SHAPE).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_staged_predictions_and_evaluations(chosen):
    """Predictions have the temperature at every stage, and so has what is evaluated during the fit."""
    stages = list(chosen.staged_decision_function(X))
    assert len(stages) == chosen.n_iter_ and stages[-1].tobytes() == chosen.decision_function(X).tobytes()
    clf = booster(n_estimators=10, calibration=0.5).fit(X, Y, X_val=X, y_val=Y, eval_metric="log_loss")
    staged = [log_loss(Y, P) for P in clf.staged_predict_proba(X)]
    for name in ("risk", "log_loss"):
        assert_allclose(clf.evals_result_[0][name], staged, rtol=1e-4)


def test_damaged_temperatures_and_states_are_refused():
    assert temperature_from_arrays({}) == 1.0
    assert temperature_from_arrays({"temperature": np.array([0.5])}) == 0.5
    for wrong in ([0.0], [-1.0], [np.inf], [np.nan], [], [1.0, 1.0]):
        with pytest.raises(ValueError, match="temperature"):
            temperature_from_arrays({"temperature": np.array(wrong, dtype=float)})
    for wrong in (None, 3, "x", {"dict": []}, {"dict": [["bit_generator", "MT19937"]]}):
        with pytest.raises(ValueError, match="random numbers"):
            rng_state_from_json(wrong)
