"""Around the loop: our callbacks, and scikit-learn's own."""

import io
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import simplexboost as sb
from simplexboost._compat import HAS_SKLEARN_CALLBACKS
from simplexboost.callbacks import Callback, Checkpoint, Progress

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
    class Stopper:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "round" and context.task_id == 2

    clf = sb.GDMCBoostClassifier(n_estimators=20).set_callbacks(Stopper()).fit(X, y)
    assert clf.n_iter_ == 3 and "callback" in clf.stop_reason_


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
