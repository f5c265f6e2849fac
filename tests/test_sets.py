"""Sets of classes with a promised coverage, and answers that are left out where the classifier is unsure."""

import io
import pickle
from functools import partial

import numpy as np
import pytest
from cases import blobs, training_set
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import betabinom
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from benchmarks.sets import in_folder, mixed
from simplexboost import decide
from simplexboost.boosting import Checkpoint
from simplexboost.boosting.loop import boost
from simplexboost.classifiers import prediction, search
from simplexboost.classifiers.auto import Starter, Table
from simplexboost.classifiers.plan import Plan
from simplexboost.classifiers.search import folds, held_out_scores, own_scores, set_scores
from simplexboost.decide.sets import class_scores, sets_of, threshold, thresholds_of, with_missing
from simplexboost.evaluate import RiskCurve
from simplexboost.persist.models import FRESH, HELD_OUT

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def rng(seed=0):
    return np.random.default_rng(seed)


def probabilities(n, K, seed=0):
    """Random ones, with ties and certainties."""
    P = rng(seed).dirichlet(np.full(K, 0.5), n).round(2)
    P[0] = 1 / K
    P[1] = np.eye(K)[-1]
    return P / P.sum(axis=1, keepdims=True)


def noisy(n, seed, K=4, p=3, flip=0.25):
    """Rows whose class is a sector of the plane, with many labels wrong: no classifier is sure of them."""
    draw = rng(seed)
    X = draw.normal(size=(n, p))
    y = (np.arctan2(X[:, 0], X[:, 1]) * K / (2 * np.pi)).astype(int) % K
    wrong = draw.random(n) < flip
    return X, np.where(wrong, draw.integers(0, K, n), y)


def least_right(n, m, coverage, chance=1e-6):
    """So few of n fresh rows are covered only by a chance of one in a million, after a calibration on m rows.

    The coverage of sets that m rows calibrate exactly has a beta distribution; discrete scores only make it larger.
    """
    rank = int(np.ceil((m + 1) * coverage - 1e-9))
    return int(betabinom.ppf(chance, n, rank, m + 1 - rank))


# ---- scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 7])
def test_the_score_of_a_class_is_what_is_more_probable(K):
    P = probabilities(50, K)
    expected = [[sum(q for q in row if q > p) for p in row] for row in P]
    assert_allclose(class_scores(P), expected, atol=1e-12)
    c = rng().integers(0, K, 50)
    assert_array_equal(own_scores(P, c), class_scores(P)[np.arange(50), c])


def test_scores_do_not_depend_on_the_order_of_the_classes():
    P, order = probabilities(50, 5), rng().permutation(5)
    assert_array_equal(class_scores(P[:, order]), class_scores(P)[:, order])


def test_the_sets_are_the_most_probable_classes_until_they_are_enough():
    P, q = probabilities(40, 5)[2:], 0.7
    S = sets_of(P, np.full(5, q))
    for row, found in zip(P, S, strict=True):
        taken, mass = set(), 0.0
        for p in sorted(set(row[row > 0]), reverse=True):
            if mass <= q:
                taken |= set(np.flatnonzero(row == p))
            mass += p * (row == p).sum()
        assert set(np.flatnonzero(found)) == taken


# ---- thresholds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.7, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("m", [1, 2, 9, 10, 19, 99, 100])
def test_every_row_left_out_in_turn_is_covered_often_enough(m, coverage):
    """The theorem itself, without chance: of m + 1 rows, each calibrated by the others, enough are covered.

    Without ties not one row more than needed is covered.
    """
    for seed, digits in ((0, 15), (1, 1)):
        scores = np.sort(rng(seed).random(m + 1).round(digits))
        covered = sum(scores[i] <= threshold(np.delete(scores, i), None, coverage) for i in range(m + 1))
        assert covered >= (m + 1) * coverage - 1e-6
        if digits == 15:
            assert covered < (m + 1) * coverage + 1


def test_weights_count_rows_in_proportion():
    """By hand: the smallest score at which the weight so far, of all weight and a new row's, is enough.

    A new row is drawn in proportion to the weights, so it weighs Σ w · (w / Σ w) on average.
    """
    score, weight = np.sort(rng().random(50)), rng(1).uniform(0.1, 3, 50)
    for coverage in (0.3, 0.8, 0.97):
        total = weight.sum() + (weight * weight / weight.sum()).sum()
        expected = next(s for i, s in enumerate(score) if weight[: i + 1].sum() / total >= coverage)
        assert threshold(score, weight, coverage) == expected
    assert threshold(score, weight, 0.995) == np.inf
    for coverage in (0.3, 0.8, 0.97):
        assert threshold(score, np.full(50, 7.0), coverage) == threshold(score, None, coverage)


def test_few_rows_of_very_different_weights_keep_the_promise():
    """Log-normal weights, on which scores depend; drawn in proportion to them, log w has its mean moved by σ² = 1."""
    draw, hits, repeats = rng(3), 0, 4000
    for _ in range(repeats):
        log_weight = draw.normal(size=20)
        score = 0.5 * log_weight + draw.normal(size=20)
        order = np.argsort(score)
        new = 0.5 * (1 + draw.normal()) + draw.normal()
        hits += new <= threshold(score[order], np.exp(log_weight[order]), 0.9)
    assert hits >= repeats * (0.9 - 3 * np.sqrt(0.09 / repeats))


def test_the_smallest_coverages_have_the_smallest_sets():
    score = np.array([0.0, 0.4, 0.8])
    for coverage in (1e-15, 1e-10, 1e-3):
        assert threshold(score, None, coverage) == threshold(score, np.array([1.0, 2.0, 3.0]), coverage) == 0.0


def test_classes_of_few_rows_are_always_in_the_set():
    """At a coverage of 0.9 nine rows are the fewest that say something; without any row nothing is known."""
    c = np.repeat([0, 1], [9, 8])
    scores = set_scores(np.linspace(0, 0.8, 17), c)
    assert_array_equal(np.isinf(thresholds_of(scores, 3, 0.9, per_class=True)), [False, True, True])
    assert np.ptp(thresholds_of(scores, 3, 0.9)) == 0


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, -0.1, 1.5, np.nan, None, "0.9", True])
def test_wrong_coverages_are_refused(coverage):
    with pytest.raises((TypeError, ValueError), match="coverage="):
        thresholds_of(set_scores(np.zeros(3), np.zeros(3, dtype=int)), 2, coverage)


# ---- rows held out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "savage"])
def test_scores_of_rows_held_out_are_those_of_the_runs(loss, started, monkeypatch):
    """Of the rounds that were chosen, at their temperature: compared with F of the runs when they had so many."""
    monkeypatch.setattr(search, "BLOCK", 21)  # several blocks
    start = rng(5).normal(size=(150, 3)) if started else None
    data = training_set(X_IRIS, Y_IRIS, init_score=start)
    clf = sb.SimplexBoostClassifier(learning_rate=0.3, growth="best", gain_noise=0.0, loss=loss)
    plan, t = Plan.of(clf, clf.parts()), 0.6 if loss == "logistic" else 1.0
    begin = Starter(plan, Table(data, np.ones(3, dtype=bool), None), 7)
    runs, score = [], np.empty(150)
    for split in folds(data.c, None, 3, rng()):
        run, callbacks = begin(split)
        boost(run, 5, callbacks)
        first = 0 if start is None else start - start.mean(axis=1, keepdims=True)
        U = run.model.scores(run.F) - np.divide(first, 2)
        U = t * U + np.divide(first, 2)
        P = softmax(2 * U, axis=1) if loss == "logistic" else run.loss.probabilities(U)
        score[split.held] = own_scores(P, Y_IRIS)[split.held]
        boost(run, 12, callbacks)
        runs.append((run, split))
    found = held_out_scores(runs, 5, t)
    assert_allclose(found["score"], np.sort(score), atol=1e-6)
    assert_array_equal(np.bincount(found["c"]), [50, 50, 50])
    assert found["source"] == HELD_OUT
    for k in range(3):
        assert_allclose(np.sort(found["score"][found["c"] == k]), np.sort(score[Y_IRIS == k]), atol=1e-6)


def test_very_many_classes_score_some_of_the_rows_held_out(monkeypatch):
    monkeypatch.setattr(search, "MOST", 180)
    monkeypatch.setattr(search, "FEWEST", 10)
    options = {"n_estimators": 5, "calibration": True, "random_state": 0}
    some = sb.SimplexBoostClassifier(**options).fit(X_IRIS, Y_IRIS).set_scores_["score"]
    monkeypatch.undo()
    every = sb.SimplexBoostClassifier(**options).fit(X_IRIS, Y_IRIS).set_scores_["score"]
    assert len(some) == 5 * (180 // 3 // 5 + 1) < len(every) == 150
    assert np.isin(some, every).all()


@pytest.mark.parametrize("options", [{}, {"n_estimators": 20, "calibration": True}, {"calibration": 0.5}])
def test_a_choice_leaves_scores_for_sets(options):
    clf = sb.SimplexBoostClassifier(random_state=0, **options).fit(X_IRIS, Y_IRIS)
    assert len(clf.set_scores_["score"]) == clf.choice_.n_held == 150
    assert clf.choice_.sets is None and clf.set_scores_["n_rounds"] == clf.n_iter_
    right = (clf.set_scores_["score"] == 0).mean()
    assert 0.9 < right < 1.0  # the accuracy of rows held out, not of those trained on
    S = decide.predict_sets(clf, X_IRIS)
    assert S.dtype == bool and S.shape == (150, 3) and S.any(axis=1).all()
    assert_array_equal(S[np.arange(150), clf.predict(X_IRIS)], True)


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"classes": [0, 1, 2, 9]}])
def test_sets_depend_on_the_table_only(options):
    """Not on threads, on the order of the rows, or on classes that have no examples."""
    ours = sb.SimplexBoostClassifier(random_state=0, n_jobs=1).fit(X_IRIS, Y_IRIS)
    order = rng().permutation(150)
    other = sb.SimplexBoostClassifier(random_state=0, **options).fit(X_IRIS[order], Y_IRIS[order])
    assert_array_equal(other.set_scores_["score"], ours.set_scores_["score"])
    assert_array_equal(other.set_scores_["c"], ours.set_scores_["c"])
    for coverage in (0.9, 0.97, 0.999):
        S = decide.predict_sets(other, X_IRIS, coverage)
        assert_array_equal(S[:, :3], decide.predict_sets(ours, X_IRIS, coverage))
        assert not S[:, 3:].any()


def test_groups_that_are_kept_together_are_new_to_the_model_that_scores_them():
    """Every group has a class of its own making: rows of unknown groups are guessed, and sets must be large."""
    draw = rng()
    group = np.repeat(np.arange(40), 10)
    X = draw.normal(size=(40, 3))[group] + 0.01 * draw.normal(size=(400, 3))
    y = draw.integers(0, 4, 40)[group]
    known = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    new = sb.SimplexBoostClassifier(random_state=0).fit(X, y, groups=group)
    assert (known.set_scores_["score"] == 0).mean() > 0.9 > 0.6 > (new.set_scores_["score"] == 0).mean()


# ---- coverage -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.97])
def test_fresh_rows_give_the_promised_coverage(coverage, per_class):
    """A bound that only one correct program in a million misses; and sets are not much larger than needed.

    A class that is predicted right more often than that has a larger coverage, since no set is empty.
    """
    X, y = noisy(5300, 1)
    clf = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X[:300], y[:300])
    S = decide.predict_sets(decide.calibrate_sets(clf, X[300:1300], y[300:1300]), X[1300:], coverage, per_class)
    hit = S[np.arange(4000), y[1300:]]
    groups = [y[1300:] == k for k in range(4)] if per_class else [np.ones(4000, dtype=bool)]
    known = [(y[300:1300] == k).sum() for k in range(4)] if per_class else [1000]
    for rows, m in zip(groups, known, strict=True):
        n = int(rows.sum())
        assert least_right(n, m, coverage) <= hit[rows].sum()
    if not per_class:
        assert hit.sum() <= 4000 - least_right(4000, 1000, 1 - coverage)


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.97])
def test_rows_held_out_by_the_choice_give_the_coverage_in_practice(coverage):
    """No theorem, but the same bound: models of the folds and the finished one differ little."""
    X, y = noisy(4800, 2)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X[:800], y[:800])
    S = decide.predict_sets(clf, X[800:], coverage)
    assert S[np.arange(4000), y[800:]].sum() >= least_right(4000, 800, coverage)
    assert S.sum(axis=1).mean() < 3.9


def test_sets_grow_with_coverage():
    X, y = noisy(700, 3)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X[:400], y[:400])
    small, large = decide.predict_sets(clf, X[400:], 0.8), decide.predict_sets(clf, X[400:], 0.95)
    assert (small <= large).all() and small.sum() < large.sum()


def test_weighted_rows_promise_for_the_weighted_population():
    """Half of the fresh rows are easy and half are hard; weights make the hard ones nine tenths."""
    X, y = noisy(9000, 4, flip=0.0)
    hard = rng(1).random(9000) < 0.5
    y = np.where(hard & (rng(2).random(9000) < 0.5), rng(3).integers(0, 4, 9000), y)
    clf = sb.SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X[:500], y[:500])
    weight = np.where(hard, 9.0, 1.0)
    plain = decide.predict_sets(decide.calibrate_sets(clf, X[500:4500], y[500:4500]), X[4500:], 0.8)
    weighted = decide.predict_sets(
        decide.calibrate_sets(clf, X[500:4500], y[500:4500], weight[500:4500]), X[4500:], 0.8
    )
    hit = [np.average(S[np.arange(4500), y[4500:]], weights=weight[4500:]) for S in (plain, weighted)]
    assert hit[0] < 0.76 and abs(hit[1] - 0.8) < 0.03


# ---- the methods ----------------------------------------------------------------------------------------------------


def test_sets_need_rows_that_were_not_trained_on():
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match=r'call calibrate_sets\(clf, X, y\) .* n_estimators="auto"'):
        decide.predict_sets(clf, X_IRIS)
    with pytest.raises(NotFittedError):
        decide.predict_sets(sb.SimplexBoostClassifier(), X_IRIS)
    with pytest.raises(NotFittedError):
        decide.calibrate_sets(sb.SimplexBoostClassifier(), X_IRIS, Y_IRIS)


@pytest.mark.parametrize("make", [sb.GDMCBoostClassifier, sb.AdaBoostMMClassifier, sb.BoostingClassifier])
def test_other_boosters_are_calibrated_by_fresh_rows(make):
    plain = make(n_estimators=5).fit(X_IRIS[::2], Y_IRIS[::2])
    clf = decide.calibrate_sets(plain, X_IRIS[1::2], Y_IRIS[1::2])
    P, q = clf.predict_proba(X_IRIS), decide.set_thresholds(clf, 0.97)
    assert clf.set_scores_["source"] == FRESH and plain.set_scores_ is None
    assert_array_equal(decide.predict_sets(clf, X_IRIS, 0.97), sets_of(P, q))


def test_a_calibration_that_fails_leaves_the_classifier_as_it_was():
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    before = clf.set_scores_
    for X, y, weight, error in [
        (X_IRIS[:, :2], Y_IRIS, None, "features"),
        (X_IRIS, Y_IRIS + 1, None, "y holds 3, which is none of the classes"),
        (X_IRIS, Y_IRIS[:9], None, "shape"),
        (X_IRIS, Y_IRIS, -np.ones(150), "sample_weight|weights"),
        (X_IRIS, Y_IRIS, np.zeros(150), "zero"),
    ]:
        with pytest.raises(ValueError, match=error):
            decide.calibrate_sets(clf, X, y, weight)
        assert clf.set_scores_ is before


def test_several_labels_have_no_sets():
    Z = np.eye(3, dtype=int)[Y_IRIS]
    clf = sb.AdaBoostMHClassifier(n_estimators=3).fit(X_IRIS, Z)
    for ask in (decide.predict_sets, decide.predict_or_abstain, partial(decide.calibrate_sets, y=Y_IRIS)):
        with pytest.raises(ValueError, match="fitted to several labels"):
            ask(clf, X_IRIS)
    targets = sb.SimplexBoostClassifier(n_estimators=3).fit(X_IRIS, np.column_stack([Y_IRIS, Y_IRIS + 1]))
    with pytest.raises(ValueError, match="fitted to several targets"):
        decide.predict_or_abstain(targets, X_IRIS, missing=-1)


def test_sets_take_initial_scores():
    start = rng().normal(size=(150, 3))
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X_IRIS, Y_IRIS, init_score=start)
    P, q = clf.predict_proba(X_IRIS, init_score=start), decide.set_thresholds(clf, 0.98)
    assert_array_equal(decide.predict_sets(clf, X_IRIS, 0.98, init_score=start), sets_of(P, q))
    best = decide.predict_or_abstain(clf, X_IRIS, 0.9, init_score=start)
    assert_array_equal(np.isnan(best), P.max(axis=1) < 0.9)
    again = decide.calibrate_sets(clf, X_IRIS, Y_IRIS, init_score=start).set_scores_
    assert_array_equal(again["score"], np.sort(own_scores(P, Y_IRIS)))


def test_rows_are_looked_at_in_blocks(monkeypatch):
    X, y = load_digits(return_X_y=True)
    clf = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X[:300], y[:300])
    clf = decide.calibrate_sets(clf, X[300:600], y[300:600])
    whole, scores = decide.predict_sets(clf, X, 0.95), clf.set_scores_["score"]
    monkeypatch.setattr(prediction, "CHUNK", 700)
    assert_array_equal(decide.predict_sets(clf, X, 0.95), whole)
    assert_array_equal(decide.calibrate_sets(clf, X[300:600], y[300:600]).set_scores_["score"], scores)


# ---- files, copies, more rounds -------------------------------------------------------------------------------------


def in_file(clf):
    """The classifier, saved and loaded."""
    stream = io.BytesIO()
    clf.save(stream)
    stream.seek(0)
    return sb.load(stream)


@pytest.mark.parametrize("weighted", [False, True])
def test_sets_are_kept_in_files_and_pickles(weighted):
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    if weighted:
        clf = decide.calibrate_sets(clf, X_IRIS, Y_IRIS, rng().uniform(1, 2, 150))
    for other in (in_file(clf), pickle.loads(pickle.dumps(clf))):
        assert other.set_scores_.keys() == clf.set_scores_.keys()
        for name, value in clf.set_scores_.items():
            assert_array_equal(other.set_scores_[name], value)
        assert_array_equal(decide.predict_sets(other, X_IRIS, 0.98), decide.predict_sets(clf, X_IRIS, 0.98))
    assert not hasattr(clone(clf), "set_scores_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sets.score", np.array([np.nan, 1.0])),
        ("sets.score", np.array([0.5, 0.1])),
        ("sets.score", np.array([-0.5, 0.1])),
        ("sets.score", np.empty(0)),
        ("sets.class", np.array([0, 3], dtype=np.int32)),
        ("sets.class", np.array([0, -1], dtype=np.int32)),
        ("sets.class", np.array([0], dtype=np.int32)),
        ("sets.about", np.array([2, 1])),
        ("sets.about", np.array([0, -1])),
        ("sets.about", np.array([0])),
        ("sets.weight", np.array([1.0, 0.0])),
        ("sets.weight", np.array([1.0])),
        ("sets.weight", np.array([1, 2])),
    ],
)
def test_damaged_scores_are_refused(name, value):
    clf = sb.SimplexBoostClassifier(random_state=0, n_estimators=2).fit(X_IRIS, Y_IRIS)
    clf.set_scores_ = set_scores(np.array([0.0, 0.5]), np.array([0, 1]), None, FRESH, 2)
    header, arrays = clf._pack()
    with pytest.raises(sb.ModelFileError, match="damaged"):
        clone(clf).fit(X_IRIS, Y_IRIS)._unpack(header | {"n_features_in": 4}, arrays | {name: value})


def test_more_rounds_or_fewer_have_no_sets(tmp_path):
    """Those of a checkpoint wait until the model is finished; a model that has grown beyond them has none."""
    path, whole = tmp_path / "checkpoint.sb", sb.SimplexBoostClassifier(random_state=0).fit(X_IRIS, Y_IRIS)
    sb.SimplexBoostClassifier(random_state=0, callbacks=[Checkpoint(path, whole.n_iter_ - 1)]).fit(X_IRIS, Y_IRIS)
    part = sb.load(path).set_params(warm_start=True)
    assert part.n_iter_ == whole.n_iter_ - 1
    with pytest.raises(ValueError, match="calibrate_sets"):
        decide.predict_sets(part, X_IRIS)
    assert_array_equal(decide.predict_sets(part.fit(X_IRIS, Y_IRIS), X_IRIS), decide.predict_sets(whole, X_IRIS))
    assert part.set_params(n_estimators=whole.n_iter_ + 2).fit(X_IRIS, Y_IRIS).set_scores_ is None
    again = sb.SimplexBoostClassifier(n_estimators=3, random_state=0).fit(X_IRIS, Y_IRIS)
    assert decide.calibrate_sets(again, X_IRIS, Y_IRIS).fit(X_IRIS, Y_IRIS).set_scores_ is None


# ---- no answer ------------------------------------------------------------------------------------------------------

D = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("classes", "missing", "expected"),
    [
        (np.array([3, 5]), None, np.array([5.0, np.nan])),
        (np.array([3, 5], dtype=np.uint8), None, np.array([5.0, np.nan])),
        (np.array([0.5, 1.5], dtype=np.float32), None, np.array([1.5, np.nan], dtype=np.float32)),
        (np.array([3, 2**60 + 1]), None, np.array([2**60 + 1, None], dtype=object)),
        (np.array(["a", "bb"]), None, np.array(["bb", None], dtype=object)),
        (np.array(["a", "bb"], dtype=object), None, np.array(["bb", None], dtype=object)),
        (np.array([False, True]), None, np.array([True, None], dtype=object)),
        (D, None, np.array(["2021-01-01", "NaT"], dtype="datetime64[D]")),
        (np.array([3, 5]), -1, np.array([5, -1])),
        (np.array([3, 5], dtype=np.uint8), -1, np.array([5, -1], dtype=np.int64)),
        (np.array([3, 5]), np.nan, np.array([5.0, np.nan])),
        (np.array([3, 5]), "?", np.array([5, "?"], dtype=object)),
        (np.array(["a", "bb"]), "unknown", np.array(["bb", "unknown"])),
        (np.array([False, True]), -1, np.array([True, -1], dtype=object)),
        (np.array([3, 2**60 + 1]), 0.5, np.array([2**60 + 1, 0.5], dtype=object)),
        (np.array([3, 2**63 + 1], dtype=np.uint64), -1, np.array([2**63 + 1, -1], dtype=object)),
    ],
)
def test_what_stands_for_no_answer(classes, missing, expected):
    found = with_missing(classes, np.array([1, 0]), np.array([True, False]), missing)
    assert found.dtype == expected.dtype and found.tolist()[:1] == expected.tolist()[:1]
    assert repr(found.tolist()) == repr(expected.tolist())
    all_known = with_missing(classes, np.array([1, 0]), np.array([True, True]), missing)
    assert all_known.dtype == expected.dtype


def test_a_row_is_answered_if_the_best_class_is_probable_enough():
    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X_IRIS, Y_IRIS)
    P = clf.predict_proba(X_IRIS)
    for confidence in (0.0, 0.9, float(P.max(axis=1)[77]), 1.0):
        answers = decide.predict_or_abstain(clf, X_IRIS, confidence)
        sure = P.max(axis=1) >= confidence
        assert_array_equal(~np.isnan(answers), sure)
        assert_array_equal(answers[sure], clf.predict(X_IRIS)[sure])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"confidence": 1.1}, "confidence="),
        ({"confidence": "high"}, "confidence="),
        ({"missing": 2}, "one of the classes"),
        ({"missing": [1]}, "single value"),
        ({"missing": True}, "one of the classes"),
    ],
)
def test_wrong_arguments_of_abstaining_are_refused(arguments, words):
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(X_IRIS, Y_IRIS)
    with pytest.raises((ValueError, TypeError), match=words):
        decide.predict_or_abstain(clf, X_IRIS, **arguments)


def test_booleans_and_missing_values_of_pandas():
    clf = sb.SimplexBoostClassifier(n_estimators=2, random_state=0).fit(X_IRIS, Y_IRIS > 0)
    for missing in (False, np.True_, 0):
        with pytest.raises(ValueError, match="one of the classes"):
            decide.predict_or_abstain(clf, X_IRIS, missing=missing)
    pd = pytest.importorskip("pandas")
    assert decide.predict_or_abstain(clf, X_IRIS[:2], 1.0, missing=pd.NA).tolist() == [pd.NA, pd.NA]


def test_one_class_is_always_the_answer():
    X, _ = blobs(30)
    clf = sb.SimplexBoostClassifier(classes=["a", "b"], random_state=0).fit(X, np.full(30, "a"))
    assert decide.predict_or_abstain(clf, X, 1.0).tolist() == ["a"] * 30
    clf = decide.calibrate_sets(clf, X, np.full(30, "a"))
    assert_array_equal(decide.predict_sets(clf, X), np.tile([True, False], (30, 1)))


def test_the_risk_curve_counts_errors_among_the_answers():
    P, y = probabilities(60, 4), rng(1).integers(0, 4, 60)
    curve = RiskCurve.from_predictions(y, P, np.arange(4))
    top, wrong = P.max(axis=1), P.argmax(axis=1) != y
    assert_array_equal(curve.confidence, sorted(set(top), reverse=True))
    for confidence, answered, risk in zip(curve.confidence, curve.answered, curve.risk, strict=True):
        assert answered == pytest.approx((top >= confidence).mean())
        assert risk == pytest.approx(wrong[top >= confidence].mean())
    for risk in (0.0, 0.3, 0.6, 1.0):
        confidence = curve.confidence_for(risk)
        assert wrong[top >= confidence].sum() <= risk * (top >= confidence).sum()
        lower = [t for t in set(top) if t < confidence]
        assert all(wrong[top >= t].mean() > risk for t in lower)


def test_the_mean_risk_is_that_of_one_row_more_at_a_time():
    """Without ties: after the surest row, the two surest, and so on; ties are the mean over all their orders."""
    P, y = rng().dirichlet(np.ones(3), 40), rng(1).integers(0, 3, 40)
    order = np.argsort(-P.max(axis=1))
    wrong = (P.argmax(axis=1) != y)[order]
    assert RiskCurve.from_predictions(y, P, [0, 1, 2]).area == pytest.approx(
        np.mean(np.cumsum(wrong) / np.arange(1, 41))
    )
    tied = np.repeat([[0.6, 0.4]], 2, axis=0)
    assert RiskCurve.from_predictions([0, 1], tied, [0, 1]).area == pytest.approx(
        np.mean([(0 + 0.5) / 2, (1 + 0.5) / 2])
    )
    assert RiskCurve.from_predictions([1], [[0.6, 0.4]], [0, 1]).confidence_for(0.0) > 1


# ---- Dask -----------------------------------------------------------------------------------------------------------


def test_sets_on_dask_are_those_of_one_machine():
    """Folds for few rows, and one part held out for many: the same scores, and sets that are computed later."""
    da, dd, pd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "pandas"))
    from dask_clusters import some_workers

    from simplexboost.distributed.dask import DaskSimplexBoostClassifier

    X, y = noisy(10_500, 7, p=2)
    with some_workers(2, processes=False) as (_, client):
        for n in (300, len(y)):
            options = {"random_state": 0, "learning_rate": 2.0, "max_leaf_nodes": 4}
            local = sb.SimplexBoostClassifier(**options).fit(X[:n], y[:n])
            there = da.from_array(X[:n], chunks=(n // 3, -1)), da.from_array(y[:n], chunks=n // 3)
            clf = DaskSimplexBoostClassifier(**options).fit(*there, client=client)
            assert_array_equal(clf.set_scores_["score"], local.set_scores_["score"])
            assert_array_equal(clf.set_scores_["c"], local.set_scores_["c"])
        expected = decide.predict_sets(local, X[:100], 0.95, True)
        assert_array_equal(decide.predict_sets(clf, X[:100], 0.95, True), expected)
        lazy = decide.predict_sets(clf, da.from_array(X[:100], chunks=(30, -1)), 0.95, True)
        assert isinstance(lazy, da.Array) and lazy.dtype == bool
        assert_array_equal(lazy.compute(), expected)
        frame = dd.from_pandas(pd.DataFrame(X[:100]), npartitions=3)
        answers = decide.predict_or_abstain(clf, frame, 0.6, missing=-1)
        assert_array_equal(answers, decide.predict_or_abstain(local, X[:100], 0.6, missing=-1))
        assert decide.predict_or_abstain(clf, frame, 0.6).dtype == np.float64
        with pytest.raises(ValueError, match="coverage="):
            decide.predict_sets(clf, frame, 1.0)
        with pytest.raises(TypeError, match="rows in memory"):
            decide.calibrate_sets(clf, frame, y[:100])
        assert decide.calibrate_sets(clf, X[:100], y[:100]).to_local().set_scores_["source"] == FRESH


# ---- real data ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", in_folder() or ["iris"])
def test_fresh_rows_of_every_set_are_covered(name):
    """Rows of both parts, mixed, because a promise is one for rows of the same kind."""
    X, y, X_test, y_test = mixed(name, 1000, 2000, 1)
    clf = sb.SimplexBoostClassifier(random_state=0).fit(X, y)
    c, m = np.searchsorted(clf.classes_, y_test), len(clf.set_scores_["score"])
    for coverage in (0.8, 0.9, 0.97):
        S = decide.predict_sets(clf, X_test, coverage)
        assert S[np.arange(len(c)), c].sum() >= least_right(len(c), m, coverage)
        assert S.any(axis=1).all()
