"""A fit that is interrupted and goes on from its checkpoint gives the file of one that was not interrupted."""

import numpy as np
import pytest
from cases import BOOSTERS, blobs, each

import simplexboost as sb
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.boosting.loop import PERFECT

ROUNDS = 21  # the residuals that some objectives carry on are computed anew after sixteen


class Interrupt(Callback):
    def __init__(self, after):
        self.after = after

    def after_round(self, run):
        if run.round == self.after:
            raise KeyboardInterrupt


def saved(clf, tmp_path):
    clf.save(tmp_path / "model.sb")
    return (tmp_path / "model.sb").read_bytes()


def check(make, X, y, tmp_path, rounds, **more):
    whole = make().fit(X, y, **more)
    curve = whole.history_["risk"] if whole.validation_score_ is None else whole.validation_score_
    made = len(curve)  # early stopping keeps fewer than it made
    for after in sorted({*rounds, whole.n_iter_, made}):
        if after > made:
            continue
        path = tmp_path / "checkpoint.sb"
        with pytest.raises(KeyboardInterrupt):
            make().set_params(callbacks=[Checkpoint(path, every=1), Interrupt(after)]).fit(X, y, **more)
        clf = sb.load(path).set_params(warm_start=True)
        assert clf.n_iter_ == after
        clf.fit(X, y, **more).set_params(warm_start=False)
        assert saved(clf, tmp_path) == saved(whole, tmp_path), f"after {after} of {made} rounds"


@pytest.mark.parametrize(
    "options",
    [{}, {"subsample": 0.6, "max_features": 0.7}, {"early_stopping": 4}],
    ids=["all", "some", "held out"],
)
@each("Booster", {**BOOSTERS, "SimplexBoostClassifier": sb.SimplexBoostClassifier})
def test_every_booster(Booster, options, tmp_path):
    X, y = blobs(n=120, p=4)
    check(lambda: Booster(n_estimators=ROUNDS, random_state=0, **options), X, y, tmp_path, (1, 7, 17))


@pytest.mark.parametrize(
    "options", [{"codewords": "random-dense"}, {"early_stopping": True}], ids=["drawn", "held out"]
)
@pytest.mark.parametrize("seed", [None, 3], ids=["no seed", "generator"])
def test_that_draw_from_a_generator(seed, options, tmp_path):
    """A fit that goes on has the codewords and the held-out rows of the first, though the generator has moved on."""
    X, y = blobs(n=120, p=4)

    def make():
        np.random.seed(5)  # noqa: NPY002 - random_state=None draws from it
        state = None if seed is None else np.random.RandomState(seed)
        return sb.SimplexBoostClassifier(n_estimators=9, random_state=state, **options)

    check(make, X, y, tmp_path, (4,))


@each("Booster", {name: kind for name, kind in BOOSTERS.items() if name != "OSBoostClassifier"})
def test_that_start_from_scores(Booster, tmp_path):
    """Where boosting starts is the first summand, then as before."""
    X, y = blobs(n=120, p=4)
    scores = np.random.default_rng(0).normal(size=(120, 3))
    check(lambda: Booster(n_estimators=9, random_state=0), X, y, tmp_path, (5,), init_score=scores)


def test_the_flagship_that_chooses(tmp_path):
    X, y = blobs(n=120, p=4)
    check(lambda: sb.SimplexBoostClassifier(learning_rate=0.5, random_state=0), X, y, tmp_path, (3,))


@pytest.mark.parametrize("Booster", [sb.AdaBoostM1Classifier, sb.OneVsAllBoostClassifier])
def test_that_met_a_perfect_learner(Booster, tmp_path):
    """Nothing is added on the same rows; on others, where it is not perfect, boosting goes on."""
    y = np.arange(30) // 10
    X = np.eye(3)[y]
    check(lambda: Booster(n_estimators=5, random_state=0), X, y, tmp_path, ())
    clf = Booster(n_estimators=5, random_state=0, warm_start=True).fit(X, y)
    assert clf.n_iter_ == 1 and clf.stop_reason_ == PERFECT
    X[0], X[10] = X[10], X[0]
    assert clf.fit(X, y).n_iter_ > 1
