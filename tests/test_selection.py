"""Choosing by held-out risk, part by part: splits, temperatures, the race, and what they need of the other layers."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from cases import blobs, make_run, problem, stump, training_set
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import load_digits, load_iris

import simplexboost as sb
from simplexboost.boosting import Callback, Sampling
from simplexboost.boosting.loop import boost
from simplexboost.classifiers import auto
from simplexboost.classifiers.auto import Starter, Table
from simplexboost.classifiers.plan import Plan
from simplexboost.classifiers.search import (
    TEMPERATURES,
    Candidate,
    Entrant,
    Terms,
    best_temperature,
    cautious,
    check_groups,
    checkpoints,
    drawn_by_class,
    first_choice,
    folds,
    held_out_losses,
    left_after,
    one_split,
    race,
)
from simplexboost.engine import cpu_engine
from simplexboost.model.additive import AdditiveModel, Term
from simplexboost.model.hypotheses import TreeHypothesis
from simplexboost.parts.codewords import Canonical, Simplex
from simplexboost.parts.losses import Logistic, Savage

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def rng(seed=0):
    return np.random.default_rng(seed)


# ---- splits ---------------------------------------------------------------------------------------------------------


def held_once(splits, n):
    """Every row is held out in one split, and none holds out all; lists ascend."""
    assert_array_equal(np.sort(np.concatenate([split.held for split in splits])), np.arange(n))
    for split in splits:
        assert (np.diff(split.held) > 0).all() and len(split.held) < n


def apart(splits, groups):
    """No group is on both sides of a split."""
    return all(not set(np.delete(groups, split.held)) & set(groups[split.held]) for split in splits)


@pytest.mark.parametrize(("n", "K"), [(7, 2), (103, 3), (500, 40)])
def test_folds_hold_out_every_row_once_and_spread_every_class(n, K):
    c = rng().permutation(np.arange(n) ** 2 % K)
    splits = folds(c, None, 5, rng(1))
    held_once(splits, n)
    assert len(splits) == 5
    for counts in ([np.bincount(c[s.held], minlength=K) for s in splits], [[len(s.held)] for s in splits]):
        assert np.ptp(counts, axis=0).max() <= 1


def test_folds_differ_by_seed_only():
    c = np.arange(60) % 3
    one, again, other = (folds(c, None, 5, rng(seed)) for seed in (0, 0, 1))
    assert all(np.array_equal(a.held, b.held) for a, b in zip(one, again, strict=True))
    assert any(not np.array_equal(a.held, b.held) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_folds_of_hardly_any_rows_have_rows_on_both_sides(n):
    splits = folds(np.zeros(n, dtype=int), None, 5, rng())
    assert len(splits) == (n if n > 1 else 0)
    if n > 1:
        held_once(splits, n)


def test_folds_keep_groups_together():
    groups = np.array([f"speaker {k}" for k in rng().integers(0, 12, 300)])
    splits = folds(np.arange(300) % 3, groups, 5, rng())
    held_once(splits, 300)
    assert len(splits) == 5 and apart(splits, groups)
    sizes = [len(s.held) for s in splits]
    assert max(sizes) - min(sizes) <= np.unique(groups, return_counts=True)[1].max()
    assert not apart(folds(np.arange(300) % 3, None, 5, rng()), groups)  # the check can fail


def test_fewer_groups_than_folds_give_fewer_folds():
    groups = np.repeat([0, 1], [10, 30])
    splits = folds(np.arange(40) % 2, groups, 5, rng())
    held_once(splits, 40)
    assert sorted(len(split.held) for split in splits) == [10, 30] and apart(splits, groups)


@pytest.mark.parametrize(("n", "n_held"), [(2, 1), (10, 3), (1000, 200)])
def test_one_split_holds_out_as_many_rows_as_asked(n, n_held):
    (split,) = one_split(np.zeros(n, dtype=int), None, n_held, rng())
    assert len(split.held) == n_held and (np.diff(split.held) > 0).all() and split.held[-1] < n


@pytest.mark.parametrize("seed", range(5))
def test_rare_classes_are_on_both_sides_of_a_split_and_in_a_sample(seed):
    c = rng(seed).permutation(np.repeat([0, 1, 2, 3], [100_000, 3, 2, 1]))
    (split,) = one_split(c, None, 10_000, rng(seed))
    held = np.bincount(c[split.held], minlength=4)
    assert held[1:].tolist() == [1, 1, 0] and abs(held[0] - 10_000) <= 1  # the only row of a class is trained on
    sample = np.bincount(c[drawn_by_class(c, 12_500, rng(seed), fewest=5)])
    assert sample[1:].tolist() == [3, 2, 1] and abs(sample[0] - 12_500) <= 1


def test_rows_of_a_class_are_equally_likely_to_be_held_out():
    c, times = np.repeat([0, 1], [30, 10]), np.zeros(40)
    for seed in range(2000):
        times[one_split(c, None, 8, rng(seed))[0].held] += 1
    assert_allclose(times / 2000, 0.2, atol=0.04)


def test_the_only_row_of_a_class_is_in_no_fold():
    c = np.array([0, 0, 0, 1, 2, 2, 0, 0])
    held = np.concatenate([split.held for split in folds(c, None, 5, rng())])
    assert sorted(held) == [0, 1, 2, 4, 5, 6, 7]


@pytest.mark.parametrize("seed", range(10))
def test_one_split_keeps_groups_together(seed):
    groups = rng(seed).integers(0, 20, 400)
    (split,) = one_split(np.arange(400) % 3, groups, 80, rng(seed))
    assert apart([split], groups) and 0 < len(split.held) < 400
    largest = np.bincount(groups).max()
    assert 80 <= len(split.held) <= 80 + largest  # whole groups, until there are enough rows


@pytest.mark.parametrize("seed", range(6))
def test_one_split_of_two_groups_trains_on_one_of_them(seed):
    groups = np.repeat([3, 7], [30, 70])
    (split,) = one_split(np.arange(100) % 3, groups, 60, rng(seed))
    assert apart([split], groups) and len(split.held) == 30  # never most of the rows


def test_groups_are_checked():
    assert_array_equal(check_groups(["a", "b", "a"], 3), ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"groups has shape \(3,\); it must have one label for each of the 4 rows"):
        check_groups([0, 1, 2], 4)
    with pytest.raises(ValueError, match=r"groups has shape \(2, 1\)"):
        check_groups([[0], [1]], 2)
    with pytest.raises(ValueError, match="groups holds one group only"):
        check_groups([5, 5, 5], 3)
    with pytest.raises(TypeError, match="groups holds labels that cannot be compared"):
        check_groups(["a", None, 1], 3)


# ---- temperatures ---------------------------------------------------------------------------------------------------


def log_losses(Z, c, weight, temperatures):
    """Σ weight · (−log softmax(t Z)_c) for every temperature t, by NumPy; Z are the logits."""
    return np.array([-(weight * log_softmax(t * Z, axis=1)[np.arange(len(c)), c]).sum() for t in temperatures])


@pytest.mark.parametrize(
    ("rounds", "rate"), [(80, 0.1), (40, 0.3), (80, 1.0)], ids=["too unsure", "about right", "too sure"]
)
def test_the_best_temperature_is_that_of_a_line_search(rounds, rate):
    """On held-out scores of a real model, the parabola finds what a search over all temperatures finds."""
    X, c = load_digits(return_X_y=True)
    clf = sb.SimplexBoostClassifier(n_estimators=rounds, learning_rate=rate, random_state=0).fit(X[:600], c[:600])
    Z, c = 2 * clf.decision_function(X[600:]), c[600:]
    weight = np.full(len(c), 1 / len(c))
    found = minimize_scalar(lambda s: log_losses(Z, c, weight, [np.exp(s)])[0], bounds=(-3, 3), method="bounded")
    t, risk = best_temperature(TEMPERATURES, log_losses(Z, c, weight, TEMPERATURES))
    assert t == pytest.approx(np.exp(found.x), rel=0.02)
    assert risk == pytest.approx(found.fun, rel=2e-3)
    assert log_losses(Z, c, weight, [t])[0] == pytest.approx(found.fun, rel=3e-4)


def test_a_parabola_is_found_exactly():
    lowest = np.log(0.77)
    risks = 3.0 + 0.5 * (np.log(TEMPERATURES) - lowest) ** 2
    t, risk = best_temperature(TEMPERATURES, risks)
    assert t == pytest.approx(0.77, rel=1e-12) and risk == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("order", [1, -1])
def test_temperatures_outside_the_table_are_not_guessed(order):
    risks = np.arange(len(TEMPERATURES), dtype=float)[::order]
    assert best_temperature(TEMPERATURES, risks) == (TEMPERATURES[0 if order == 1 else -1], 0.0)


def test_odd_curves_of_risks_give_a_temperature():
    assert best_temperature(np.ones(1), np.array([0.3])) == (1.0, 0.3)
    flat = best_temperature(TEMPERATURES, np.full(len(TEMPERATURES), 0.5))
    assert flat == (1.0, 0.5)
    shelf = np.array([2.0, 1.0, 1.0, 2.0])
    t, risk = best_temperature(np.array([0.5, 1.0, 2.0, 4.0]), shelf)
    assert 1.0 <= t <= 2.0 and risk <= 1.0


def test_temperatures_that_make_scores_surer_are_trusted_by_half():
    assert cautious(0.6) == 0.6 and cautious(1.0) == 1.0
    assert cautious(1.44) == pytest.approx(1.2)


def test_one_is_among_the_temperatures_which_ascend_evenly():
    assert 1.0 in TEMPERATURES
    assert_allclose(np.diff(np.log(TEMPERATURES)), np.log(TEMPERATURES[1] / TEMPERATURES[0]), rtol=1e-12)
    assert TEMPERATURES[1] > TEMPERATURES[0]


@pytest.mark.parametrize(
    "Y", [Canonical().matrix(4), Simplex().matrix(4), rng(5).normal(size=(4, 2))], ids=["canonical", "simplex", "2d"]
)
def test_held_out_losses_are_log_losses(Y):
    data = problem(n=80, K=4)
    run = make_run(data, Logistic(), Y.astype(np.float32), sb.parts.learners.SketchTree())
    run.move_to(3 * rng(1).normal(size=(80, Y.shape[1])))
    held = np.array([0, 3, 4, 17, 60, 79])
    got = held_out_losses(run, held, TEMPERATURES)[:, 0]  # one block
    logits = run.F[held].astype(float) @ np.asarray(run.Y, dtype=float).T
    assert_allclose(got, log_losses(logits, data.c[held], data.weight[held], TEMPERATURES), rtol=2e-5)


def test_impossible_rows_have_a_finite_loss():
    data = training_set(np.zeros((2, 1)), [0, 1])
    run = make_run(data, Logistic(), Canonical().matrix(2).astype(np.float32), sb.parts.learners.SketchTree())
    run.move_to(np.array([[0.0, 500.0], [0.0, 500.0]]))
    losses = held_out_losses(run, np.arange(2), np.ones(1))
    assert np.isfinite(losses).all() and losses[0, 0] > 80


@pytest.mark.parametrize(
    "loss", [Savage(), Logistic(cost_matrix=1 + 5 * np.eye(3)[[1, 2, 0]])], ids=["savage", "costs"]
)
def test_other_losses_are_their_own_held_out_risk(loss):
    data = problem(n=60, K=3)
    run = make_run(data, loss, Canonical().matrix(3).astype(np.float32), sb.parts.learners.SketchTree())
    run.move_to(rng(1).normal(size=(60, 3)))
    held = np.arange(5, 30)
    expected = (data.weight * loss.value(run.U, data.c))[held].sum()
    assert_allclose(held_out_losses(run, held, np.ones(1)), [[expected]], rtol=1e-6)


# ---- the race -------------------------------------------------------------------------------------------------------


def terms(stages, **more):
    return Terms(**{"stages": stages, "usual": 0, "haste": 1.0, "workers": 1, "temperatures": TEMPERATURES, **more})


def starter(data, seed=7, **params):
    """Starts runs of the flagship on a training set."""
    clf = sb.SimplexBoostClassifier(**{"learning_rate": 0.3, "growth": "best", "gain_noise": 0.0, **params})
    return Starter(Plan.of(clf, clf.parts()), Table(data, np.ones(data.K, dtype=bool), None), seed)


def candidate(data, seed=7, **params):
    return Candidate(params, starter(data, seed, **params))


class Lie(Callback):
    """Counts rounds and makes a run's held-out rows worse than they are."""

    def __init__(self):
        self.rounds = 0

    def after_round(self, run):
        self.rounds += 1
        run.move_to(0.3 * run.F)  # slower than any honest candidate


def test_a_bad_candidate_is_dropped():
    data, lies = training_set(X_IRIS, Y_IRIS), []

    def start(split):
        run, callbacks = starter(data)(split)
        lies.append(Lie())
        return run, [*callbacks, lies[-1]]

    splits = folds(data.c, None, 3, rng())
    good = candidate(data, max_leaf_nodes=4)
    stages = [2**k for k in range(1, 7)]
    choice = race([Candidate({"bad": True}, start), good], splits, terms(stages))
    assert choice.params == {"max_leaf_nodes": 4}
    bad, best = choice.candidates
    assert bad["params"] == {"bad": True} and bad["risk"] > best["risk"] == choice.risk
    assert bad["n_tried"] < best["n_tried"]
    assert [lie.rounds for lie in lies] == [bad["n_tried"]] * 3  # not a round more


def test_a_candidate_on_its_own_has_the_same_curve_as_in_company():
    data, splits = training_set(X_IRIS, Y_IRIS), folds(Y_IRIS, None, 3, rng())
    pair = [candidate(data, max_leaf_nodes=k) for k in (4, 2)]
    alone, both, side_by_side = (
        race(some, splits, terms([10, 20], workers=workers)) for some, workers in ((pair[:1], 1), (pair, 1), (pair, 3))
    )
    assert both.candidates == side_by_side.candidates
    assert both.candidates[0] == alone.candidates[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_that_of_fits_by_hand(weighted):
    """Risk after every checkpoint: each fold boosted by the loop itself, its held-out log-loss by NumPy."""
    weight = rng(3).uniform(0.2, 2.0, 150) if weighted else None
    data, splits = training_set(X_IRIS, Y_IRIS, weight), folds(Y_IRIS, None, 4, rng())
    choice = race([candidate(data, max_leaf_nodes=4)], splits, terms([24], haste=2.0))
    marks = checkpoints(0, 24)
    sums = np.zeros((len(marks), len(TEMPERATURES)))
    for split in splits:
        run, callbacks = starter(data, max_leaf_nodes=4)(split)
        for i, mark in enumerate(marks):
            boost(run, mark, callbacks)
            Z, c = 2 * run.model.scores(run.model.predictor(X_IRIS))[split.held], Y_IRIS[split.held]
            sums[i] += log_losses(Z, c, data.weight[split.held], TEMPERATURES)
    risk = sums / data.weight.sum()
    assert_array_equal(choice.curve["n_estimators"], 2 * np.array(marks))
    assert_allclose(choice.curve["risk"], risk[:, np.abs(TEMPERATURES - 1).argmin()], rtol=2e-5)
    best = [best_temperature(TEMPERATURES, row) for row in risk]
    assert_allclose(choice.curve["calibrated"], [b for _, b in best], rtol=2e-5)
    i = int(np.argmin([b for _, b in best]))
    assert choice.n_estimators == 2 * marks[i]
    assert choice.temperature == pytest.approx(cautious(best[i][0]), rel=1e-4)
    assert choice.risk == choice.curve["calibrated"].min() == choice.candidates[0]["risk"]
    assert (choice.n_splits, choice.n_held) == (4, 150)


@pytest.mark.parametrize("options", [{}, {"growth": "symmetric", "gain_noise": 1.0}, {"subsample": 0.7}])
def test_rows_held_out_do_not_influence_the_trees(options):
    """Other labels of the held-out rows: the same trees, bit for bit, and another risk."""
    (split,) = one_split(Y_IRIS, None, 40, rng())
    other = Y_IRIS.copy()
    other[split.held] = (other[split.held] + 1) % 3
    runs = []
    for c in (Y_IRIS, other):
        run, callbacks = starter(training_set(X_IRIS, c), **options)(split)
        boost(run, 12, callbacks)
        runs.append(run)
    assert runs[0].F.tobytes() == runs[1].F.tobytes()
    a, b = (held_out_losses(run, split.held, np.ones(1))[0] for run in runs)
    assert b > 2 * a


def test_rows_held_out_do_not_influence_the_trees_of_larger_tables():
    """Histograms of 32 bits, whose unit depends on the statistics, and leaves of many classes."""
    X, c = blobs(n=40_000, p=10, K=40)
    (split,) = one_split(c, None, 15_000, rng())
    other = c.copy()
    other[split.held] = (c[split.held] * 7 + 1) % 40
    F = []
    for labels in (c, other):
        run, callbacks = starter(training_set(X, labels))(split)
        boost(run, 3, callbacks)
        F.append(run.F)
    assert F[0].tobytes() == F[1].tobytes()


def test_a_run_that_stops_keeps_its_last_risk():
    """Two classes told apart by one value: soon nothing is left to split, and the risk stays what it was."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    data = training_set(X, np.repeat([0, 1], 20))

    class Stop(Callback):
        def after_round(self, run):
            if run.round == 5:
                run.stop_reason = "enough"

    def start(split):
        run, callbacks = starter(data, learning_rate=1.0)(split)
        return run, [*callbacks, Stop()]

    choice = race([Candidate({}, start)], folds(data.c, None, 2, rng()), terms([12]))
    after = choice.curve["risk"][choice.curve["n_estimators"] >= 5]
    assert len(set(after)) == 1 and choice.n_estimators <= 5


def test_an_exact_number_of_rounds_is_not_chosen():
    data, splits = training_set(X_IRIS, Y_IRIS), folds(Y_IRIS, None, 3, rng())
    choice = race([candidate(data, max_leaf_nodes=4)], splits, terms([12], haste=4.0, exact=50))
    assert choice.n_estimators == choice.candidates[0]["n_estimators"] == choice.candidates[0]["n_tried"] == 50
    assert choice.risk == choice.curve["calibrated"][-1]


def test_rounds_go_on_while_they_pay_and_no_longer():
    """The rule itself, on made-up curves: it stops once the best is past, or the later half brings too little."""
    data, splits = training_set(X_IRIS, Y_IRIS), folds(Y_IRIS, None, 2, rng())
    marks = np.arange(1, 21)

    def entrant(curve):
        e = Entrant(candidate(data), splits, terms([20], temperatures=np.ones(1)), Event())
        for trial in e.trials:
            held = data.weight[trial.split.held].sum()
            trial.losses = {int(m): np.array([[held * r]]) for m, r in zip(marks, curve, strict=True)}
        return e

    assert entrant(1 / marks).still_gains
    assert not entrant(np.abs(marks - 5) + 1.0).still_gains  # the best is long past
    assert not entrant(1 + 1e-6 / marks).still_gains  # flat
    e = entrant(1 + 1e-6 / marks)
    for more in ({"exact": 20}, {"usual": 21}):
        e.terms = replace(terms([20], temperatures=np.ones(1)), **more)
        assert e.still_gains
    e = entrant(np.abs(marks - 5) + 1.0)
    e.terms = replace(e.terms, usual=21)
    assert not e.still_gains  # not even up to the usual number


def test_stages_and_checkpoints():
    assert checkpoints(0, 5) == [1, 2, 3, 4, 5]
    for begin, end in ((0, 40), (40, 80), (80, 97)):
        marks = checkpoints(begin, end)
        assert marks[-1] == end and marks[0] > begin and (np.diff(marks) > 0).all()
    left = [left_after(k) for k in range(20)]
    assert left == sorted(left, reverse=True) and left[-1] == 1
    for longest, ratio in ((7, 2.0), (40, 2.0), (400, 2.0), (400, 1.25)):
        stages = auto.stages_up_to(longest, ratio)
        assert stages[-1] == longest and stages[0] <= 40 and (np.diff(stages) > 0).all()


def test_the_race_tells_how_it_goes():
    data, lines = training_set(X_IRIS, Y_IRIS), []
    pair = [candidate(data, max_leaf_nodes=k) for k in (4, 2)]
    choice = race(pair, folds(Y_IRIS, None, 2, rng()), terms([4, 8], say=lines.append))
    assert lines[0].startswith("choosing: 2 candidate(s) on 2 split(s), about ")
    assert lines[1].startswith("choosing: 2 candidate(s) after 4 rounds; the best has held-out risk 0.")
    shown = str(choice).splitlines()
    assert shown[0] == "held-out risk of 2 candidate(s) on 2 split(s)" and len(shown) == 3
    assert shown[1].startswith("* risk ") and shown[2].startswith("  risk ")


def test_an_error_in_a_trial_ends_the_race():
    data = training_set(X_IRIS, Y_IRIS)

    class Fail(Callback):
        def after_round(self, run):
            raise RuntimeError("in a trial")

    def start(split):
        run, callbacks = starter(data)(split)
        return run, [*callbacks, Fail()]

    with pytest.raises(RuntimeError, match="in a trial"):
        race([Candidate({}, start), candidate(data)], folds(data.c, None, 3, rng()), terms([500], workers=2))


@pytest.mark.parametrize(
    ("risks", "limit", "winner"),
    [
        ([0.3, 0.299, 0.2], np.inf, 2),
        ([0.2009, 0.2], np.inf, 0),  # a candidate wins over those before it only if it is clearly better
        ([0.2011, 0.2], np.inf, 1),
        ([0.0, -6e-14], np.inf, 1),  # a risk of zero, with an error of rounding
        ([-1e-13, -6e-14], np.inf, 0),
        ([0.2009, 0.2], 0.2005, 1),  # but none that is worse than the class shares
        ([0.5, 0.4], 0.4, 1),
    ],
)
def test_the_first_candidate_that_is_about_as_good_as_the_best_wins(risks, limit, winner):
    assert first_choice(risks, limit) == winner


# ---- a sample of the rows -------------------------------------------------------------------------------------------


def choose_on(monkeypatch, data, rows, rivals, groups=None):
    """Choose as large tables do: candidates on a sample of so many rows, then the winner on all of them."""
    monkeypatch.setattr(auto, "effort", lambda n, p, K: auto.Effort(0, 1000, 1.0, 0.1))
    monkeypatch.setattr(auto, "sample_rows", lambda n: rows)
    wanted = auto.Wanted(longest=20, usual=0, exact=None, calibrate=True, say=lambda line: None)
    return auto.choose(rivals, [], Table(data, np.ones(data.K, dtype=bool), groups), 0, wanted)


def rivals(*leaves):
    options = {"learning_rate": 0.3, "growth": "best", "gain_noise": 0.0}
    clfs = [sb.SimplexBoostClassifier(max_leaf_nodes=k, **options) for k in leaves]
    return [({"max_leaf_nodes": clf.max_leaf_nodes}, Plan.of(clf, clf.parts())) for clf in clfs]


def test_many_rows_choose_on_a_sample_first(monkeypatch):
    data = problem(n=600, p=5, K=3)
    choice = choose_on(monkeypatch, data, 200, rivals(2, 16))
    alone = choose_on(monkeypatch, data, 200, [r for r in rivals(2, 16) if r[0] == choice.params])
    assert len(choice.candidates) == 2 and choice.n_held == 600 // 5
    assert choice.risk not in [c["risk"] for c in choice.candidates]  # those are of the sample
    assert alone.params == choice.params and len(alone.candidates) == 1
    assert abs(choice.n_sample - 200) <= 2 and alone.n_sample == 0  # shares of classes are rounded


def test_a_choice_on_a_sample_shows_what_all_rows_say(monkeypatch):
    data = problem(n=600, p=5, K=3)
    choice = choose_on(monkeypatch, data, 200, rivals(2, 16))
    first, *compared, last = str(choice).splitlines()
    assert first == f"held-out risk of 2 candidate(s) on 1 split(s) of a sample of {choice.n_sample} rows"
    assert len(compared) == 2 and f"{choice.risk:.4f}" not in "".join(compared)
    told = f"the winner on all rows: risk {choice.risk:.4f} after {choice.n_estimators} of 20 rounds, temperature "
    assert last == f"{told}{choice.temperature:.2f}"
    alone = choose_on(monkeypatch, data, 200, rivals(2))
    assert "sample" not in str(alone) and "all rows" not in str(alone) and f"{alone.risk:.4f}" in str(alone)


def test_classes_that_a_sample_or_a_fold_lacks_do_no_harm(monkeypatch):
    X, c = blobs(n=600, p=5, K=3)
    c[17] = 3  # the only row of its class
    choice = choose_on(monkeypatch, training_set(X, c), 100, rivals(2, 16))
    assert np.isfinite(choice.risk) and all(np.isfinite(r["risk"]) for r in choice.candidates)


@pytest.mark.parametrize("sizes", [(1, 599), (300, 300), (590, 9, 1)])
def test_groups_of_a_sample_stay_together(monkeypatch, sizes):
    """Also if a sample has rows of one group only, and nothing could be held out there."""
    X, c = blobs(n=600, p=5, K=3)
    choice = choose_on(monkeypatch, training_set(X, c), 60, rivals(2, 16), np.repeat(np.arange(len(sizes)), sizes))
    assert np.isfinite(choice.risk) and choice.n_held in (*sizes, *(600 - s for s in sizes))


# ---- the other layers -----------------------------------------------------------------------------------------------


def test_a_training_set_on_another_engine_keeps_its_bins():
    data, engine = problem(n=50), cpu_engine(1)
    other = data.on(engine)
    assert other.engine is engine and other.binned is data.binned and other.X is data.X
    assert data.engine is not engine


def test_a_sample_has_the_bins_of_all_rows():
    data, rows = problem(n=300, p=11, missing=0.1), np.arange(0, 300, 7)
    some = data.sample(rows)
    assert_array_equal(some.X, data.X[rows])
    assert_array_equal(some.c, data.c[rows])
    assert_array_equal(some.weight, data.weight[rows])
    assert some.K == data.K and some.binned.n == len(rows) and some.binned.p == 11
    assert some.binned.edges is data.binned.edges
    for f in range(11):
        assert_array_equal(some.binned.column(f), data.binned.column(f)[rows])
    assert some.binned.codes.flags.c_contiguous


def test_a_subset_of_bins_sees_its_own_categories():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    binned = training_set(X, [0, 1, 0, 1], categorical=np.array([True])).binned
    assert binned.seen_categories[0, 0] == 0b1111  # kept from now on
    assert binned.subset(np.array([0, 2])).seen_categories[0, 0] == 0b0101


@pytest.mark.parametrize(("subsample", "n_rows"), [(1.0, 5), (0.6, 3), (0.01, 1)])
def test_sampling_among_some_rows(subsample, n_rows):
    among = np.array([1, 4, 5, 30, 49])
    run = make_run(problem(n=50), Logistic(), Canonical().matrix(3), sb.parts.learners.SketchTree())
    sampling = Sampling(subsample, 1.0, held=np.delete(np.arange(50), among))
    drawn = set()
    for _ in range(20):
        sampling.before_round(run)
        assert len(run.rows) == n_rows and set(run.rows) <= set(among) and (np.diff(run.rows) > 0).all()
        assert run.features is None
        drawn |= set(run.rows)
    assert drawn == set(among)


def small_model():
    trees = [TreeHypothesis(stump(0, t), np.array([[1.0, -1.0], [-0.5, 2.0]])) for t in (0.0, 1.0, 2.0)]
    return AdditiveModel(Canonical().matrix(2), [Term(tree, 0.3) for tree in trees], [1, 3])


def test_a_temperature_multiplies_predictions_and_leaves_the_steps():
    model, X = small_model(), np.linspace(-1, 3, 9)[:, None]
    warm = model.at(0.7)
    assert warm is not model and model.at(1.0) is model and model.temperature == 1.0
    assert_allclose(warm.predictor(X), 0.7 * model.predictor(X), rtol=1e-12)
    assert_allclose(list(warm.staged_predictor(X))[-1], warm.predictor(X), rtol=1e-12)
    assert_allclose(warm.first(1).predictor(X), 0.7 * model.first(1).predictor(X), rtol=1e-12)
    assert [t.step for t in warm.terms] == [0.3] * 3
    assert warm.at(1.0).predictor(X).tobytes() == model.predictor(X).tobytes()
    warm.add_round(model.terms[:1])
    assert model.n_rounds == 2 and len(model.terms) == 3  # the lists are not shared


def test_boosting_goes_on_from_the_steps_as_they_are():
    data = training_set(np.linspace(-1, 3, 9)[:, None], [0, 1] * 4 + [0])
    run = make_run(data, Logistic(), Canonical().matrix(2), sb.parts.learners.SketchTree())
    run.resume(small_model().at(0.5))
    assert run.model.temperature == 1.0
    assert_allclose(run.F, small_model().predictor(data.X), rtol=1e-12)
