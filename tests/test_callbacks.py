"""Around the loop: our callbacks, and scikit-learn's own."""

import io
import sys
from types import SimpleNamespace
from unittest.mock import ANY

import numpy as np
import pytest
from cases import Listed, code, listed_data, make_run, training_set
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import simplexboost as sb
from simplexboost._util.compat import HAS_SKLEARN_CALLBACKS
from simplexboost.boosting import (
    Callback,
    Checkpoint,
    EarlyStopping,
    Evaluation,
    History,
    Progress,
    Sampling,
    callbacks,
)
from simplexboost.parts.learners import VectorTree
from simplexboost.parts.losses import Exponential, Logistic
from simplexboost.parts.optimizers.run import Update

X, y = load_iris(return_X_y=True)
needs_protocol = pytest.mark.skipif(not HAS_SKLEARN_CALLBACKS, reason="scikit-learn < 1.9 has no callback protocol")


class Recorder(Callback):
    """Writes down what it is told."""

    def __init__(self):
        self.events = []

    def start(self, run):
        self.events.append("start")

    def before_round(self, run):
        self.events.append(f"before {run.round}")

    def after_round(self, run):
        self.events.append(f"after {run.round}")

    def finish(self, run):
        self.events.append("finish")


class StopAfter(Callback):
    """Has had enough."""

    def __init__(self, rounds):
        self.rounds = rounds

    def after_round(self, run):
        if run.round == self.rounds:
            run.stop_reason = "enough"


def test_order_of_events():
    recorder = Recorder()
    sb.GDMCBoostClassifier(n_estimators=2, callbacks=[recorder]).fit(X, y)
    assert recorder.events == ["start", "before 0", "after 1", "before 1", "after 2", "finish"]


def test_a_callback_may_stop():
    clf = sb.CDMCBoostClassifier(n_estimators=50, callbacks=[StopAfter(3)]).fit(X, y)
    assert clf.n_iter_ == 3 and clf.stop_reason_ == "enough"


def test_history_has_a_record_per_round():
    clf = sb.CDMCBoostClassifier(n_estimators=6).fit(X, y)
    assert {name: len(values) for name, values in clf.history_.items()} == dict.fromkeys(
        ["risk", "edge", "step", "coordinate", "seconds"], 6
    )
    assert set(clf.history_["coordinate"]) <= {0, 1}
    assert (np.diff(clf.history_["risk"]) < 0).all() and (np.diff(clf.history_["seconds"]) > 0).all()
    assert ((clf.history_["edge"] > 0) & (clf.history_["edge"] <= 1)).all()


# ---- rounds made by hand --------------------------------------------------------------------------------------------


def run_by_hand(loss=None, **more):
    """A run on three rows, one of each class; feature 0 is the row's number."""
    data = listed_data([0, 1, 2])
    return make_run(data, Logistic() if loss is None else loss, code("canonical", 3), VectorTree(), **more)


def vote(alpha=1.0, **more):
    """Every row's own class."""
    return Update(Listed(0, np.eye(3)), np.eye(3), alpha, 0.5, False, **more)


def up(coordinate, alpha=1.0, **more):
    """One up, in one coordinate, for every row."""
    return Update(Listed(0, np.ones((3, 1))), np.ones((3, 1)), alpha, 0.25, False, coordinate, **more)


def test_history_records_means_over_updates_and_one_coordinate_or_none():
    run, history = run_by_hand(learning_rate=0.5), History()
    one, two = {"error": 0.1}, {"error": 0.3}
    for updates in ([vote(2.0, **one)], [up(1, **two)], [up(0, 1.0, **one), up(2, 4.0, **two)], [up(2, **one)] * 2):
        run.apply(updates)
        history.after_round(run)
    found = history.arrays(4)
    assert_array_equal(found["coordinate"], [-1, 1, -1, 2])
    assert_array_equal(found["step"], [2.0, 1.0, 2.5, 1.0])
    assert_array_equal(found["edge"], [0.5, 0.25, 0.25, 0.25])
    assert_allclose(found["error"], [0.1, 0.3, 0.2, 0.1])
    # F is the unit matrix after the first round, 2U = F; the second round lifts class 1 by ½.
    first = -np.log(np.e / (np.e + 2))
    second = [-np.log(np.exp(f[c]) / np.exp(f).sum()) for c, f in enumerate(np.eye(3) + np.eye(3)[1] / 2)]
    assert_allclose(found["risk"][:2], [first, np.mean(second)], rtol=1e-12)
    assert len(history.arrays(2)["risk"]) == 2


def test_history_learns_of_a_risk_a_round_later_and_asks_for_the_last():
    run, history = run_by_hand(), History()
    for before in (7.0, 6.0, 5.0):
        run.apply([vote()])
        run.risk_before = before
        history.after_round(run)
    assert_array_equal(history.arrays(3)["risk"], [6.0, 5.0, np.nan])
    history.finish(run)
    assert_allclose(history.arrays(3)["risk"], [6.0, 5.0, run.risk()])
    history.finish(run)
    assert len(history.records["risk"]) == 3


def test_bounds_multiply_what_every_step_promises():
    # Three rows, K − 1 = 2 rivals each: the exponential loss starts at 2, and a mistake costs at least 1.
    run, history = run_by_hand(Exponential(), learning_rate=0.5), History()
    run.apply([vote(2.0, drop=lambda alpha: 0.5 * alpha)])  # the factor of the shrunk step, ½
    history.after_round(run)
    run.apply([up(0, drop=lambda alpha: 0.8, share=0.5), up(1, drop=lambda alpha: 0.6, share=0.25)])
    history.after_round(run)
    assert_allclose(history.records["bound"], [2 * 0.5, 2 * 0.5 * (1 - 0.5 * 0.2 - 0.25 * 0.4)])


def test_history_goes_on_where_another_ended():
    history = History()
    begin = history.begin
    old = {name: np.array([1.0, 2.0, 4.0]) for name in ("risk", "edge", "step", "coordinate", "seconds", "bound")}
    history.continue_from(old)
    assert {name: values for name, values in history.records.items()} == {name: [1.0, 2.0, 4.0] for name in old}
    assert history.begin == pytest.approx(begin - 4.0)
    forgot = History()
    forgot.continue_from({name: old[name] for name in ("risk", "edge", "step", "coordinate")})
    assert forgot.records["seconds"] == [0.0] * 3


class Told(Evaluation):
    """Is told the risks of the rounds."""

    def risk(self, run):
        return self.weight[run.round - 1]


def rounds_until_stopped(risks, patience, tol=1e-7, **more):
    run = run_by_hand()
    rule = EarlyStopping(patience, tol=tol)
    stopping = Told(np.zeros((1, 1)), np.zeros(1, dtype=int), risks, stopping=rule, **more)
    stopping.start(run)
    assert stopping.best_iteration == 0 and np.isnan(stopping.best_score)
    while run.stop_reason is None and run.round < len(risks):
        run.apply([vote(0.1)])
        stopping.after_round(run)
    done = run.round
    stopping.finish(run)
    assert run.round == stopping.best_iteration
    assert_array_equal(stopping.best_score, risks[run.round - 1])
    return done, run.round, stopping.results["risk"]


def test_early_stopping_waits_for_a_risk_that_falls_by_more_than_rounding():
    assert rounds_until_stopped([0.9, 0.9 - 5e-8, 0.9, 0.8, 0.7], 2)[:2] == (3, 1)
    assert rounds_until_stopped([0.9, 0.95, 0.9 - 5e-7, 0.99, 0.99, 0.7], 2)[:2] == (5, 3)
    assert rounds_until_stopped([0.9, 0.8], 2) == (2, 2, [0.9, 0.8])
    assert rounds_until_stopped([2.0, 3.0, 4.0, 5.0, 6.0], 3)[:2] == (4, 1)
    assert rounds_until_stopped([np.nan, np.nan, 4.0], 2)[:2] == (2, 1)  # at least one round is kept


def test_early_stopping_asks_for_as_much_as_tol():
    assert rounds_until_stopped([0.9, 0.85, 0.75, 0.7, 0.65, 0.6], 2, tol=0.1)[:2] == (5, 3)
    assert rounds_until_stopped([0.9, 0.85, 0.75, 0.7, 0.65, 0.6], 2, tol=0)[:2] == (6, 6)
    assert rounds_until_stopped([0.9, 0.85, 0.95, 0.7, 0.65], 2, greater_is_better=True)[:2] == (5, 3)


def test_early_stopping_may_watch_a_metric():
    run, values = run_by_hand(), iter([0.5, 0.9, 0.7, 0.8, 0.6])
    stopping = Evaluation(
        np.zeros((1, 1)),
        np.zeros(1, dtype=int),
        np.ones(1),
        {"mine": lambda U: next(values)},
        watch="mine",
        greater_is_better=True,
        stopping=EarlyStopping(2),
    )
    stopping.start(run)
    while run.stop_reason is None:
        run.apply([vote(0.1)])
        stopping.after_round(run)
    assert run.round == 4 and run.stop_reason == "early stopping: no better held-out mine in 2 rounds"
    stopping.finish(run)
    assert run.round == stopping.best_iteration == 2 and stopping.best_score == 0.9


def test_a_metric_returns_a_number():
    run = run_by_hand()
    evaluation = Evaluation(np.zeros((1, 1)), np.zeros(1, dtype=int), np.ones(1), {"mine": lambda U: U})
    evaluation.start(run)
    run.apply([vote()])
    with pytest.raises(TypeError, match=r"metric 'mine' returned .* must return a number"):
        evaluation.after_round(run)


def test_rows_of_unknown_classes_are_left_out_of_the_risk():
    run = run_by_hand()
    some = Evaluation(np.array([[2.0], [0.0], [1.0]]), np.array([1, 0, -1]), np.array([1.0, 3.0, 9.0]))
    others = Evaluation(np.array([[2.0], [0.0]]), np.array([1, 0]), np.array([1.0, 3.0]))
    for evaluation in (some, others):
        evaluation.start(run)
    run.apply([vote()])
    for evaluation in (some, others):
        evaluation.after_round(run)
    assert some.results == others.results
    assert run.evaluations == [some.results, others.results]


def test_evaluation_follows_other_rows_from_where_the_model_stands():
    run = run_by_hand()
    run.apply([vote()])
    data = training_set(np.array([[2.0], [0.0]]), [1, 0])  # rows 2 and 0 of the table
    evaluation = Evaluation(data.X, data.c, np.array([1.0, 3.0]), {"first": lambda U: U[0, 2]})
    evaluation.start(run)
    run.apply([vote(), up(1, 0.5)])
    evaluation.after_round(run)
    F = 2 * np.eye(3)[[2, 0]] + [0, 0.5, 0]
    losses = [-np.log(np.exp(f[c]) / np.exp(f).sum()) for f, c in zip(F, [1, 0], strict=True)]
    assert evaluation.results == {"risk": [ANY, pytest.approx(np.average(losses, weights=[1, 3]))], "first": [0.5, 1.0]}
    # The round that was there before is evaluated too: the records of a continued fit begin with its first round.
    losses = [-np.log(np.exp(f[c]) / np.exp(f).sum()) for f, c in zip(np.eye(3)[[2, 0]], [1, 0], strict=True)]
    assert evaluation.results["risk"][0] == pytest.approx(np.average(losses, weights=[1, 3]))


def test_progress_tells_the_time_so_far_and_to_go(monkeypatch):
    clock, lines, run = SimpleNamespace(now=100.0), io.StringIO(), run_by_hand()
    monkeypatch.setattr(callbacks, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    run.apply([vote()])  # from another fit
    run.n_rounds, run.seconds, run.memory = 5, 2.0, 30 * 2**20
    told = Progress(every=10.0, stream=lines)
    told.start(run)
    for clock.now in (106.0, 112.0, 113.0):
        run.apply([vote()])
        told.after_round(run)
    run.stop_reason, risk = "enough", run.risk()
    told.after_round(run)
    told.finish(run)
    shown = lines.getvalue().splitlines()
    assert shown[:2] == [
        "boosting: 3 rows, 3 classes, up to 5 rounds",
        "forecast: about 8.0 s and 30 MB beside the data",
    ]
    assert shown[2].startswith("round 3/5") and shown[2].endswith("12.0 s, 12.0 s to go")
    assert shown[3:] == [f"round 4/5  risk {risk:.6g}  13.0 s, 4.3 s to go", "stopped after round 4: enough"]


def test_progress_shows_what_is_evaluated():
    lines, run = io.StringIO(), run_by_hand()
    run.n_rounds, told = 2, Progress(every=0.0, stream=lines)
    told.start(run)
    run.apply([vote()])
    run.evaluations = [{"risk": [0.5], "error": [0.25]}]
    told.after_round(run)
    run.evaluations = [{"risk": [0.5, 0.4]}, {"risk": [0.5, 0.123456789]}]
    told.after_round(run)
    first, second = lines.getvalue().splitlines()[1:]
    assert "  eval: risk 0.5, error 0.25  " in first
    assert "  eval[0]: risk 0.4  eval[1]: risk 0.123457  " in second


@pytest.mark.parametrize(("p", "share"), [(10, 8), (256, 205), (257, 103)])
def test_an_automatic_part_of_the_features(p, share):
    run = make_run(training_set(np.zeros((6, p)), [0, 1] * 3), Logistic(), code("canonical", 2), VectorTree())
    Sampling(0.5, "auto").before_round(run)
    assert len(run.features) == share and len(run.rows) == 3
    Sampling(0.01, 1.0).before_round(run)
    assert run.features is None and len(run.rows) == 1


# ---- sampling -------------------------------------------------------------------------------------------------------


def test_sampling_repeats_with_the_seed():
    options = {"n_estimators": 5, "subsample": 0.5, "max_features": 0.5}
    a, b, c = (sb.GDMCBoostClassifier(random_state=s, **options).fit(X, y).decision_function(X) for s in (1, 1, 2))
    assert (a == b).all() and (a != c).any()


def test_sampling_gives_each_round_its_part():
    seen = []

    class Spy(Callback):
        def after_round(self, run):
            seen.append((len(run.rows), len(run.features)))
            assert (np.diff(run.rows) > 0).all()

    sb.GDMCBoostClassifier(n_estimators=3, subsample=0.4, max_features=0.5, callbacks=[Spy()]).fit(X, y)
    assert seen == [(60, 2)] * 3


def test_an_unlucky_sample_is_drawn_again():
    """One of eight features tells the classes apart; most samples of two features miss it."""
    rng = np.random.default_rng(0)
    X = np.ones((60, 8))
    X[:, 5] = np.arange(60) % 3 + rng.normal(scale=0.4, size=60)
    clf = sb.GDMCBoostClassifier(n_estimators=30, max_features=0.25, random_state=0).fit(X, np.arange(60) % 3)
    assert clf.n_iter_ == 30 and clf.stop_reason_ is None


def test_checkpoints_are_classifiers(tmp_path):
    path = tmp_path / "iris.sb"
    kept = {}

    class Keep(Callback):
        def after_round(self, run):
            if path.exists():
                kept[run.round] = sb.load(path)

    sb.GDMCBoostClassifier(n_estimators=5, callbacks=[Checkpoint(path, every=2), Keep()]).fit(X, y)
    assert {n: clf.n_iter_ for n, clf in kept.items()} == {2: 2, 3: 2, 4: 4, 5: 4}
    four = sb.GDMCBoostClassifier(n_estimators=4).fit(X, y)
    assert (kept[5].decision_function(X) == four.decision_function(X)).all()


def test_progress_goes_where_it_is_told():
    stream = io.StringIO()
    sb.GDMCBoostClassifier(n_estimators=3, callbacks=[Progress(every=0, stream=stream)]).fit(X, y)
    assert len(stream.getvalue().splitlines()) == 4


@needs_protocol
def test_sklearn_scoring_monitor_sees_every_round():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    clf = sb.GDMCBoostClassifier(n_estimators=4).set_callbacks(monitor).fit(X, y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["accuracy"] for row in rows] == [np.mean(p == y) for p in clf.staged_predict(X)]


@needs_protocol
def test_sklearn_callback_may_stop():
    ended = []

    class Stopper:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            ended.append(context.task_name)
            return context.task_name == "round" and context.task_id == 2

    clf = sb.GDMCBoostClassifier(n_estimators=20).set_callbacks(Stopper()).fit(X, y)
    assert clf.n_iter_ == 3 and "callback" in clf.stop_reason_
    assert ended == ["round"] * 3 + ["fit"]


@needs_protocol
def test_sklearn_progress_bar_inside_grid_search(capfd):
    pytest.importorskip("rich", reason="scikit-learn's ProgressBar draws with rich")
    from sklearn.callback import ProgressBar

    search = GridSearchCV(sb.GDMCBoostClassifier(n_estimators=3), {"learner__max_depth": [1, 2]}, cv=2)
    quiet = clone(search).fit(X, y)
    search.set_callbacks(ProgressBar()).fit(X, y)
    sys.stdout.flush()
    shown = capfd.readouterr().out
    assert "GridSearchCV" in shown and "GDMCBoostClassifier" in shown
    assert_array_equal(search.cv_results_["mean_test_score"], quiet.cv_results_["mean_test_score"])


@needs_protocol
def test_sklearn_progress_bar(capfd):
    pytest.importorskip("rich", reason="scikit-learn's ProgressBar draws with rich")
    from sklearn.callback import ProgressBar

    sb.CDMCBoostClassifier(n_estimators=3).set_callbacks(ProgressBar()).fit(X, y)
    assert "CDMCBoostClassifier" in capfd.readouterr().out


@needs_protocol
def test_teardown_after_a_failure():
    """A fit that fails must still let scikit-learn's callbacks go."""
    torn_down = []

    class Counter:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context):
            torn_down.append(True)

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("from the callback")

    clf = sb.GDMCBoostClassifier(n_estimators=2).set_callbacks(Counter())
    with pytest.raises(RuntimeError, match="from the callback"):
        clf.fit(X, y)
    assert torn_down == [True]
    assert "model_" not in vars(clf)
