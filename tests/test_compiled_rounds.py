"""Rounds that the engine makes in one call are those of the loop in Python, bit for bit."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

import simplexboost as sb
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.boosting.callbacks import next_look
from simplexboost.engine import RoundBlock, RoundMaker
from simplexboost.parts.codewords import Auto
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.parts.optimizers import run as runs

RNG = np.random.default_rng(0)


class Look(Callback):
    """Looks at every round, which lets Python make them one by one."""

    def after_round(self, run):
        pass


def table(n=300, p=6, K=3, seed=0):
    rng = np.random.default_rng(seed)
    c = np.arange(n) % K
    X = rng.normal(size=(n, p))
    X[:, 0] += 0.8 * c
    X[:, 1] *= 1.0 + 0.5 * c
    return X, c


def with_gaps(X):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X


def categories(n=300, K=3):
    rng = np.random.default_rng(2)
    X, c = table(n, K=K)
    X[:, 2] = (c * 3 + rng.integers(5, size=n)) % 11
    X[:, 3] = rng.integers(30, size=n)
    return X, c


def sparse(n=300, p=12, K=3):
    rng = np.random.default_rng(3)
    X, c = table(n, p, K)
    return csr_array(np.where(rng.random(X.shape) < 0.3, X, 0.0)), c


def labels(n=200):
    X, c = table(n, K=4)
    return X, np.column_stack([c % 2, c // 2])


X, C = table()
WEIGHT = np.random.default_rng(4).uniform(0.1, 3.0, size=len(C))
COSTS = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]])

# A table, the parameters and the arguments of ``fit``; all of them may be missing.
COMPILED = {
    "best": {},
    "level": {"growth": "level", "max_depth": 3},
    "symmetric": {"growth": "symmetric"},
    "shallow": {"growth": "symmetric", "max_depth": 2},
    "no limit": {"max_leaf_nodes": None, "min_samples_leaf": 3},
    "two classes": {"table": table(K=2)},
    "all features": {"max_features": 1.0},
    "subsample": {"subsample": 0.5},
    "subsample symmetric": {"subsample": 0.3, "max_features": 0.5, "growth": "symmetric"},
    "weights": {"fit": {"sample_weight": WEIGHT}},
    "class weights": {"class_weight": "balanced", "growth": "symmetric"},
    "missing": {"table": (with_gaps(X), C)},
    "missing symmetric": {"table": (with_gaps(X), C), "growth": "symmetric"},
    "categories": {"table": categories(), "categorical_features": [2, 3]},
    "categories symmetric": {"table": categories(), "categorical_features": [2, 3], "growth": "symmetric"},
    "categories missing": {"table": (with_gaps(categories()[0]), C), "categorical_features": [2, 3], "subsample": 0.5},
    "sparse": {"table": sparse()},
    "sparse symmetric": {"table": sparse(), "growth": "symmetric"},
    "sparse level": {"table": sparse(), "growth": "level", "max_features": 1.0, "subsample": 0.7},
    "few bins": {"max_bins": 7},
    "interactions": {"interaction_cst": "no_interactions"},
    "interaction groups": {"interaction_cst": [[0, 1], [2, 3, 4]], "growth": "symmetric"},
    "noise": {"gain_noise": 0.3},
    "noise symmetric": {"gain_noise": 0.3, "growth": "symmetric"},
    "costs": {"loss": Logistic(cost_matrix=COSTS)},
    "simplex": {"codewords": "simplex"},
    "few dimensions": {"table": table(K=9), "codewords": Auto(4)},
    "many classes": {"table": table(n=400, K=40)},
    "many classes symmetric": {"table": table(n=400, K=40), "growth": "symmetric", "max_depth": 4},
    "prior": {"table": (X, np.minimum(C, RNG.integers(3, size=len(C)))), "optimizer": SketchedNewton(init="prior")},
    "init_score": {"fit": {"init_score": np.random.default_rng(5).normal(size=(len(C), 3))}},
    "one row": {"table": (X[:2], [0, 1])},
    "32 bits": {"table": table(n=10_000, p=31), "n_estimators": 6, "subsample": 0.5},
    "32 bits symmetric": {"table": table(n=10_000, p=31), "n_estimators": 6, "growth": "symmetric"},
    "threads": {"table": table(n=10_000, p=31), "n_estimators": 6, "n_jobs": 2, "growth": "symmetric"},
}
FALLS_BACK = {
    "savage": {"loss": "savage"},
    "softmax-cost": {"loss": "softmax-cost"},
    "two directions": {"optimizer": SketchedNewton(sketch=2)},
    "monotonic": {"table": table(K=2), "monotonic_cst": [1, 0, 0, 0, 0, 0]},
    "labels": {"table": labels()},
    "candidates": {"optimizer": SketchedNewton(candidates=2)},
    "held out": {"early_stopping": 100},
}


def fitted(case, *callbacks, **more):
    case = {"n_estimators": 40, "random_state": 0, "n_jobs": 1, "learning_rate": 0.1} | case | more
    X_here, y = case.pop("table", (X, C))
    arguments = case.pop("fit", {})
    return sb.SimplexBoostClassifier(calibration=False, callbacks=callbacks, **case).fit(X_here, y, **arguments)


def facts(clf):
    """Everything that a fit made, as bytes; of the history all but the seconds."""
    terms = [
        (
            [a.tobytes() for a in (t.hypothesis.tree.nodes, t.hypothesis.tree.gain, t.hypothesis.tree.count)],
            t.hypothesis.tree.category_sets.tobytes(),
            bytes_of(t.hypothesis.values),
            (t.step, t.coordinate),
        )
        for t in clf.model_.terms
    ]
    history = {name: values.tobytes() for name, values in clf.history_.items() if name != "seconds"}
    return {
        "terms": terms,
        "round_ends": clf.model_.round_ends,
        "history": history,
        "rng": repr(clf._rng_state),
        "stop": clf.stop_reason_,
    }


def bytes_of(values):
    if issparse(values):
        return [(a.dtype.str, a.tobytes()) for a in (values.data, values.indices, values.indptr)], values.shape
    return values.dtype.str, values.shape, values.tobytes()


def assert_equal_fits(one, two):
    one, two = facts(one), facts(two)
    for name in one:
        assert one[name] == two[name], name


@pytest.fixture
def counted(monkeypatch):
    """How many rounds the engine makes in each call, and how many Python makes."""
    found = {"blocks": [], "python": 0, "seconds": 0.0}
    make, propose = RoundMaker.make, SketchedNewton.propose

    def counting_make(self, *arguments):
        block = make(self, *arguments)
        found["blocks"].append(len(block))
        found["seconds"] = max(found["seconds"], *block.seconds, 0.0)
        return block

    def counting_propose(self, run):
        found["python"] += 1
        return propose(self, run)

    monkeypatch.setattr(RoundMaker, "make", counting_make)
    monkeypatch.setattr(SketchedNewton, "propose", counting_propose)
    return found


@pytest.mark.parametrize("name", COMPILED)
def test_the_engine_makes_the_rounds_of_the_loop(name, counted):
    clf = fitted(COMPILED[name])
    assert sum(counted["blocks"]) > 0 and counted["python"] <= 2
    made = sum(counted["blocks"])
    counted["blocks"].clear()
    assert_equal_fits(clf, fitted(COMPILED[name], Look()))
    assert counted["blocks"] == [] and counted["python"] >= made


@pytest.mark.parametrize("name", ["best", "subsample symmetric", "sparse", "categories missing", "prior"])
@pytest.mark.parametrize("seconds", [0.0, 1e-3])
def test_models_do_not_depend_on_the_length_of_blocks(name, seconds, counted, monkeypatch):
    """Calls that end after every round take all other draws back."""
    expected = fitted(COMPILED[name], Look())
    monkeypatch.setattr(runs, "BLOCK_SECONDS", seconds)
    monkeypatch.setattr(runs, "FIRST_BLOCK", 5)
    assert_equal_fits(fitted(COMPILED[name]), expected)
    assert seconds > 0 or set(counted["blocks"]) == {1}


@pytest.mark.parametrize("name", FALLS_BACK)
def test_python_makes_the_rounds_that_the_engine_cannot(name, counted):
    fitted(FALLS_BACK[name])
    assert counted["blocks"] == [] and counted["python"] == 40


# Where boosting is in no hurry to be sure of everything, some samples have no edge; without features, no tree has.
UNUSUAL = {
    "balanced samples": {"table": (np.zeros((6, 2)), np.arange(6) % 2), "subsample": 0.34, "learning_rate": 1e-9},
    "far steps": {"optimizer": SketchedNewton(max_step=None), "learning_rate": 3.0, "l2_regularization": 0.0},
    "no edge any more": {"table": (np.zeros((9, 2)), np.arange(9) // 6), "learning_rate": 1.0, "max_features": 1.0},
    "divergence": {"table": table(K=2), "learning_rate": 2e18, "max_features": 0.34},
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.filterwarnings("ignore:boosting diverges")
def test_unusual_rounds_are_left_to_python(name, counted):
    """Rounds of which some samples show no edge, and the last one of a run that ends by itself."""
    case = UNUSUAL[name] | {"min_samples_leaf": 1}
    clf = fitted(case)
    assert sum(counted["blocks"]) > 2 and counted["python"] > 0
    assert (clf.stop_reason_ is None) == (name in ("balanced samples", "far steps"))
    assert_equal_fits(clf, fitted(case, Look()))


@pytest.mark.parametrize("how", ["compiled", "python"])
def test_a_warm_start_goes_on_where_the_engine_ended(how):
    whole = fitted({"subsample": 0.5}, Look(), n_estimators=60)
    part = fitted({"subsample": 0.5}, *([Look()] if how == "python" else []), n_estimators=23, warm_start=True)
    part.set_params(n_estimators=60, callbacks=None).fit(X, C)
    assert_equal_fits(part, whole)


def test_trees_become_objects_when_somebody_asks(monkeypatch):
    """Trials of a choice never do, but for the first tree and, at the end, the trees of the winner."""
    made, trees = [], RoundBlock.trees
    monkeypatch.setattr(RoundBlock, "trees", lambda block: made.append(len(block)) or trees(block))
    clf = sb.SimplexBoostClassifier(n_estimators="auto", learning_rate=0.3, random_state=0, n_jobs=2).fit(X, C)
    tried = 5 * sum(line["n_tried"] for line in clf.choice_.candidates)
    assert clf.n_iter_ <= sum(made) < 0.6 * tried


# ---- callbacks ------------------------------------------------------------------------------------------------------


def test_checkpoints_are_marks(tmp_path, counted):
    clf = fitted({}, Checkpoint(tmp_path / "model.sb", every=15))
    saved = sb.load(tmp_path / "model.sb")
    assert saved.n_iter_ == 30 and counted["python"] == 0
    assert_array_equal(saved.predict_proba(X), sb.keep_rounds(clf, 30).predict_proba(X))
    seen = saved.history_["risk"]
    assert_array_equal(seen[:-1], clf.history_["risk"][:29])


def test_callbacks_say_when_they_must_be_called():
    """Those that do something in a round are called in every one, also subclasses of those that need not be."""

    class Nothing(Callback):
        pass

    class Printing(sb.boosting.Progress):
        def after_round(self, run):
            super().after_round(run)

    class Patient(Callback):
        calls = ()

        def after_round(self, run):
            self.calls += (run.round,)

        def next_call(self, run):
            return 7 * (run.round // 7 + 1)

    run = type("Stub", (), {"round": 4, "n_rounds": 100})()
    assert [next_look(kind(), run) for kind in (Nothing, Look, Patient)] == [100, 5, 7]
    assert [next_look(kind(), run) for kind in (sb.boosting.Progress, Printing)] == [100, 5]
    patient = Patient()
    fitted({}, patient)
    assert set(range(7, 41, 7)) | {40} <= set(patient.calls)


def test_progress_is_printed_at_marks(capsys):
    clf = fitted({}, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("round 40/40  risk ")
    assert f"risk {clf.history_['risk'][38]:.6g}" in lines[-1]


def test_the_seconds_of_the_history_ascend():
    begin = time.perf_counter()
    seconds = fitted({}).history_["seconds"]
    assert len(seconds) == 40 and (np.diff(seconds) >= 0).all() and 0 < seconds[0] <= seconds[-1]
    assert seconds[-1] <= time.perf_counter() - begin


# ---- interruption ---------------------------------------------------------------------------------------------------


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import simplexboost as sb

X, y = np.random.default_rng(0).normal(size=(200, 6)), np.arange(200) % 3
clf = sb.SimplexBoostClassifier(n_estimators=10**6, learning_rate=1e-4, calibration=False, n_jobs=1)
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.7, interrupt).start()
try:
    clf.fit(X, y)
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
    print("soon" if late < 0.1 + 0.4 else f"{late:.3f} s")  # other processes may hold the processor
assert not hasattr(clf, "model_") and not hasattr(clf, "history_")
"""


def test_an_interrupt_is_heard_soon():
    """While the engine makes rounds, Ctrl-C ends the fit in a tenth of a second and leaves the estimator unfitted."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=200)
    assert done.stdout == "soon\n", done.stdout + done.stderr


def test_calls_take_about_as_long_as_they_should(counted):
    fitted({}, n_estimators=3000)
    assert max(counted["blocks"]) > 50 and len(counted["blocks"]) > 5
