"""Classes that come and go: `add_classes`, `drop_classes` and `merge_classes` on fitted boosters."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from simplexboost import decide
from simplexboost.boosting import Callback, Checkpoint
from simplexboost.engine import CPU
from simplexboost.model import leaf_pass
from simplexboost.model.leaf_pass import SHARE, spread_evenly, unseen_rows
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.persist.models import check_codewords


def blobs(K, per_class=40, p=5, seed=0, spread=1.0):
    """Rows of K classes around random centres; the same number of each."""
    rng = np.random.default_rng(seed)
    centres = 2.5 * rng.normal(size=(K, p))
    c = np.repeat(np.arange(K), per_class)
    return centres[c] + spread * rng.normal(size=(len(c), p)), c


X, Y = blobs(6)
OLD = Y < 4
LABELS = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])


def fitted(X=X[OLD], y=Y[OLD], **options):
    return sb.SimplexBoostClassifier(**{"n_estimators": 15, "random_state": 0, "n_jobs": 1} | options).fit(X, y)


BASE = fitted()


def changed(method, *args, base=BASE, **options):
    """A changed copy."""
    return getattr(sb, method)(base, *args, **options)


def same_model(a, b):
    return np.array_equal(a.classes_, b.classes_) and np.array_equal(a.class_scores(X), b.class_scores(X))


def refuses(clf, call, error, message):
    """The call fails with this message, and the estimator is as it was."""
    before = dict(vars(clf))
    with pytest.raises(error, match=message):
        call(clf)
    assert vars(clf).keys() == before.keys() and all(vars(clf)[name] is before[name] for name in before)


# ---- classes that come ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [3, 7, 31, 32, 40])  # from 33 classes on leaf values are sparse
@pytest.mark.parametrize("n_rounds", [0, 4])
@pytest.mark.parametrize("calibration", [1.0, 0.7])
def test_scores_of_old_classes_do_not_change_in_a_bit(K, n_rounds, calibration):
    """Also if the new classes stand between the old ones, and after every number of rounds."""
    X, y = blobs(K + 2, 12)
    new = np.isin(y, [1, K])
    clf = fitted(X[~new], y[~new], n_estimators=6, calibration=calibration)
    U, P, early = clf.class_scores(X), clf.predict_proba(X), sb.keep_rounds(clf, 3).class_scores(X)
    clf = sb.add_classes(clf, X, y, n_rounds=n_rounds)
    old = ~np.isin(clf.classes_, [1, K])
    assert clf.classes_.tolist() == list(range(K + 2)) and clf.n_iter_ == 6 + n_rounds
    assert (clf.class_scores(X)[:, old] == U).all() and (sb.keep_rounds(clf, 3).class_scores(X)[:, old] == early).all()
    among_old = clf.predict_proba(X)[:, old]
    np.testing.assert_allclose(among_old / among_old.sum(axis=1, keepdims=True), P, rtol=1e-5, atol=1e-12)


def test_the_new_classes_are_learned():
    whole = fitted(X, Y).score(X, Y)
    assert changed("add_classes", X, Y).score(X, Y) > whole - 0.02
    assert changed("add_classes", X, Y, n_rounds=0).score(X, Y) > whole - 0.05


def twin(base, trees, weight, rate):
    """The logits (n, 3) of (old classes, 4, 5) after Newton's steps in the leaves of some trees, by loops."""
    F = np.column_stack([logsumexp(2 * base.class_scores(X), axis=1), np.zeros((len(X), 2))])
    own, w = np.maximum(Y - 3, 0)[:, None] == np.arange(3), weight / weight.mean()
    for tree in trees:
        P, leaf = softmax(F, axis=1), CPU.compute.apply(tree, X)
        for i in range(tree.n_leaves):
            for j in range(3):
                rows = leaf == i
                slope = (w * (own[:, j] - P[:, j]))[rows].sum()
                curvature = (w * P[:, j] * (1 - P[:, j]))[rows].sum()
                F[rows, j] += rate * np.clip(slope / (curvature + 0.2), -2, 2)
    return F


@pytest.mark.parametrize("n_rounds", [0, 1, 3])
@pytest.mark.parametrize("calibration", [1.0, 0.6])
def test_all_trees_have_newton_steps_of_a_problem_in_which_old_classes_are_one(n_rounds, calibration):
    """First the old trees, then the new ones; the step of the old classes is subtracted from the others."""
    weight = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    base = fitted(calibration=calibration)
    clf = changed("add_classes", X, Y, weight, n_rounds=n_rounds, learning_rate=0.25, base=base)
    F = twin(base, clf.model_.trees, weight, 0.25)
    assert clf.n_iter_ == base.n_iter_ + n_rounds == len(clf.model_.trees)
    U = clf.class_scores(X)
    among = 2 * U[:, 4:] - logsumexp(2 * U[:, :4], axis=1)[:, None]  # against all old classes together
    np.testing.assert_allclose(among, F[:, 1:] - F[:, :1], rtol=1e-4, atol=2e-4)


def test_without_rows_of_old_classes_the_counts_of_leaves_stand_for_them():
    """Against loops: a leaf trained on N rows has N rows of old classes that give a new class probability π."""
    new = ~OLD
    clf = changed("add_classes", X[new], Y[new], learning_rate=0.2)
    assert clf.n_iter_ == BASE.n_iter_ and (clf.class_scores(X)[:, :4] == BASE.class_scores(X)).all()
    rest, N, own = logsumexp(2 * BASE.class_scores(X[new]), axis=1), np.zeros((80, 2)), Y[new][:, None] == [4, 5]
    pi = SHARE * 40 / (160 + 80)
    for tree in BASE.model_.trees:
        P, leaf = softmax(np.column_stack([rest, N]), axis=1)[:, 1:], CPU.compute.apply(tree, X[new])
        counts = np.bincount(CPU.compute.apply(tree, X[OLD]), minlength=tree.n_leaves)
        for i in range(tree.n_leaves):
            rows = leaf == i
            slope = (own - P)[rows].sum(axis=0) - counts[i] * pi
            curvature = (P * (1 - P))[rows].sum(axis=0) + counts[i] * pi * (1 - pi)
            N[rows] += 0.2 * np.clip(slope / (curvature + 10 / 6), -2, 2)
    np.testing.assert_allclose(2 * clf.class_scores(X[new])[:, 4:], N, rtol=1e-4, atol=1e-5)


def test_new_rows_alone_destroy_no_old_class():
    """The recall of every old class stays, and the new ones are found."""
    base = fitted(n_estimators=100)
    clf = changed("add_classes", X[~OLD], Y[~OLD], base=base)
    before, after = base.predict(X), clf.predict(X)
    for k in range(4):
        rows = Y == k
        assert (after[rows] == k).mean() > (before[rows] == k).mean() - 0.1
    assert (after[~OLD] == Y[~OLD]).mean() > 0.8


def test_rows_of_some_old_classes_count_once():
    """Leaves count the rows that they were trained on and that are not given."""
    tree = BASE.model_.trees[0]
    given = np.bincount(CPU.compute.apply(tree, X[Y < 2]), minlength=tree.n_leaves)
    expected = np.bincount(CPU.compute.apply(tree, X[(Y >= 2) & OLD]), minlength=tree.n_leaves)
    assert (unseen_rows(tree, given) == expected).all()
    assert (unseen_rows(tree, given + 1000) == 0).all()
    some = (Y < 2) | ~OLD
    clf = changed("add_classes", X[some], Y[some])
    assert (clf.class_scores(X)[:, :4] == BASE.class_scores(X)).all() and clf.score(X, Y) > 0.85


@pytest.mark.parametrize("growth", ["best", "symmetric"])
@pytest.mark.parametrize("block", [1, 500, 10**6])
def test_leaves_of_rows_are_those_of_the_trees(growth, block, monkeypatch):
    monkeypatch.setattr(leaf_pass, "BLOCK", block)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    trees = fitted(holes, Y, growth=growth).model_.trees
    for table in (holes, csr_array(np.nan_to_num(X) * (X > 0))):
        for tree, leaf in zip(trees, leaf_pass.leaves_of_rows(trees, table), strict=True):
            assert leaf.dtype == np.int32 and (leaf == CPU.compute.apply(tree, table)).all()


@pytest.mark.parametrize(("n", "most", "chosen"), [(0, 5, []), (1, 5, [0]), (3, 5, [0, 1, 2]), (9, 3, [0, 4, 8])])
def test_trees_that_learn_are_spread_evenly(n, most, chosen):
    assert spread_evenly(n, most).tolist() == chosen


def test_the_history_has_the_risk_of_all_classes():
    weight = np.random.default_rng(0).random(len(Y)) + 0.5
    clf = changed("add_classes", X, Y, weight, n_rounds=5)
    own = -clf.predict_log_proba(X)[np.arange(len(Y)), Y]
    assert clf.history_["risk"][-1] == pytest.approx(np.average(own, weights=weight), rel=1e-4)
    assert all(len(values) == 20 for values in clf.history_.values()) and (np.diff(clf.history_["seconds"]) >= 0).all()
    assert (clf.history_["risk"][:15] == BASE.history_["risk"]).all()


def test_a_class_that_was_absent_is_new():
    base = fitted(classes=range(6))
    assert base._present.tolist() == [True] * 4 + [False] * 2
    clf = changed("add_classes", X[Y != 5], Y[Y != 5], base=base)
    assert clf._present.tolist() == [True] * 5 + [False] and clf.classes_.tolist() == list(range(6))
    assert (clf.predict_proba(X)[:, 5] == 0).all() and clf.score(X[Y != 5], Y[Y != 5]) > 0.9
    again = sb.add_classes(clf, X, Y)
    assert again._present.all() and again.score(X, Y) > 0.9


def test_classes_may_come_one_after_another():
    clf = changed("add_classes", X[Y != 5], Y[Y != 5])
    more = sb.add_classes(clf, X, Y)
    assert (more.class_scores(X)[:, :5] == clf.class_scores(X)).all() and more.score(X, Y) > 0.9


@pytest.mark.parametrize("dtype", [None, object])
def test_labels_are_text(dtype):
    y = LABELS[Y].astype(dtype) if dtype else LABELS[Y]
    old = ~np.isin(LABELS[Y], ["bee", "fox"])
    clf = fitted(X[old], y[old])
    U = clf.class_scores(X)
    clf = sb.add_classes(clf, X, y)
    assert clf.classes_.tolist() == LABELS.tolist() and clf.score(X, y) > 0.9
    assert (clf.class_scores(X)[:, [0, 2, 3, 4]] == U).all()


def test_numbers_of_labels_may_be_floats():
    clf = changed("add_classes", X, Y.astype(float))
    assert clf.classes_.dtype == BASE.classes_.dtype


@pytest.mark.parametrize("n_rounds", [0, 5, "auto"])
def test_threads_order_of_rows_and_containers_do_not_matter(n_rounds):
    expected = changed("add_classes", X, Y, n_rounds=n_rounds)
    order = np.random.default_rng(0).permutation(len(Y))
    assert same_model(changed("add_classes", X[order], Y[order], n_rounds=n_rounds), expected)
    assert same_model(changed("add_classes", X, Y, n_rounds=n_rounds, base=clone_of(BASE, n_jobs=2)), expected)
    assert same_model(changed("add_classes", pd.DataFrame(X), pd.Series(Y), n_rounds=n_rounds), expected)
    assert same_model(changed("add_classes", X.tolist(), Y.tolist(), n_rounds=n_rounds), expected)
    assert same_model(changed("add_classes", csr_array(X), Y, n_rounds=n_rounds), expected)


def clone_of(clf, **options):
    return copy.deepcopy(clf).set_params(**options)


def test_only_the_ratios_of_weights_matter():
    weight = np.random.default_rng(0).integers(1, 5, len(Y)).astype(float)
    expected = changed("add_classes", X, Y, weight)
    assert same_model(changed("add_classes", X, Y, 8 * weight), expected)
    assert not same_model(changed("add_classes", X, Y), expected)
    left_out = changed("add_classes", X, Y, np.where(Y == 5, 0.0, 1.0))
    assert left_out.classes_.tolist() == [0, 1, 2, 3, 4, 5] and not left_out._present[5]


def test_class_weights_are_those_of_the_parameter():
    base = fitted(class_weight="balanced")
    rows = np.flatnonzero(OLD | (np.arange(len(Y)) % 5 == 0))
    clf = changed("add_classes", X[rows], Y[rows], n_rounds=0, base=base)
    weight = (1 / np.bincount(Y[rows]))[Y[rows]]
    plain = changed("add_classes", X[rows], Y[rows], weight, n_rounds=0, base=clone_of(base, class_weight=None))
    np.testing.assert_allclose(clf.class_scores(X), plain.class_scores(X), rtol=1e-6)


def test_class_weights_may_name_old_classes_without_rows():
    """Rows of new classes weigh one against another as the dict says; old classes need not be among them."""
    weights = {0: 1.0, 1: 2.0, 5: 3.0}
    base = fitted(class_weight={0: 1.0, 1: 2.0})
    clf = changed("add_classes", X[~OLD], Y[~OLD], base=clone_of(base, class_weight=weights))
    weight = np.where(Y[~OLD] == 5, 3.0, 1.0)
    assert same_model(clf, changed("add_classes", X[~OLD], Y[~OLD], weight, base=clone_of(base, class_weight=None)))
    with pytest.raises(ValueError, match=r"labels that y does not have, \['x'\]"):
        changed("add_classes", X[~OLD], Y[~OLD], base=clone_of(base, class_weight={"x": 1.0}))


def test_a_model_that_was_fitted_with_candidates_learns_new_classes():
    """The m + 1 classes are few, and their rows keep all scores, whatever `candidates` says."""
    base = fitted(optimizer=SketchedNewton(candidates=16))
    clf = changed("add_classes", X, Y, n_rounds=3, base=base)
    assert clf.n_iter_ == base.n_iter_ + 3 and (clf.class_scores(X)[:, :4] == base.class_scores(X)).all()
    assert same_model(
        clf, changed("add_classes", X, Y, n_rounds=3, base=clone_of(base, optimizer=SketchedNewton(candidates=None)))
    )


def test_new_categories_get_numbers_and_old_rows_keep_their_scores():
    town = np.array(["bonn", "cork", "dover", "essen"])[Y % 4]
    frame = pd.DataFrame({"town": town, "size": X[:, 0], "age": X[:, 1]})
    clf = fitted(frame[OLD], Y[OLD])
    U = clf.class_scores(frame[OLD])
    more = frame.assign(town=np.where(Y == 5, "fulda", town))
    clf = sb.add_classes(clf, more, Y)
    assert "fulda" in clf.categories_.columns[0] and (clf.class_scores(frame[OLD])[:, :4] == U).all()
    assert (clf.predict(more)[Y == 5] == 5).mean() > 0.9
    refuses(clf, lambda c: sb.add_classes(c, frame[["size", "age", "town"]], Y + 1), ValueError, "feature names")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: sb.add_classes(c, X[OLD], Y[OLD]), ValueError, "y has no new class"),
        (lambda c: sb.add_classes(c, X[:, :2], Y), ValueError, "features"),
        (lambda c: sb.add_classes(c, X, LABELS[Y]), ValueError, "all of them must be numbers, or all text"),
        (lambda c: sb.add_classes(c, X, Y, n_rounds=-1), ValueError, "n_rounds=-1"),
        (lambda c: sb.add_classes(c, X, Y, n_rounds="few"), TypeError, "n_rounds='few'"),
        (lambda c: sb.add_classes(c, X, Y, learning_rate=0), ValueError, "learning_rate=0"),
        (lambda c: sb.add_classes(c, X[Y != 2], Y[Y != 2], n_rounds=3), ValueError, r"none of \[2\]"),
        (lambda c: sb.add_classes(c, X, Y[:-1]), ValueError, "inconsistent|rows"),
        (lambda c: sb.add_classes(c, X, [[1, 2], None] * (len(X) // 2)), TypeError, "y=.* must hold a label"),
        (lambda c: sb.add_classes(c, X, np.where(Y == 5, np.nan, Y)), ValueError, "NaN|missing"),
        (
            lambda c: sb.add_classes(c, pd.DataFrame(X).astype("category"), Y),
            ValueError,
            "add_classes. needs its cat",
        ),
        (lambda c: sb.drop_classes(c, [7]), ValueError, "7, which is none of the classes of the model"),
        (lambda c: sb.drop_classes(c, []), ValueError, "empty"),
        (lambda c: sb.drop_classes(c, [0, 1, 2]), ValueError, "at least two"),
        (lambda c: sb.merge_classes(c, [0, 1]), TypeError, "must be a dict"),
        (lambda c: sb.merge_classes(c, {}), TypeError, "must be a dict"),
        (lambda c: sb.merge_classes(c, {9: [0, 8]}), ValueError, "8, which is none of the classes of the model"),
        (lambda c: sb.merge_classes(c, {9: [0, 1], 8: [1, 2]}), ValueError, "1 twice"),
        (lambda c: sb.merge_classes(c, {3: [0, 1]}), ValueError, "outside of its group"),
        (lambda c: sb.merge_classes(c, {9: [0, 1, 2, 3]}), ValueError, "one class"),
        (lambda c: sb.merge_classes(c, {"x": [0, 1]}), ValueError, "kinds"),
        (lambda c: sb.merge_classes(c, {np.nan: [0, 1]}), ValueError, "nan, which means that it is missing"),
        (lambda c: sb.merge_classes(c, {None: [0, 1]}), ValueError, "None, which means that it is missing"),
        (
            lambda c: sb.merge_classes(c, {2**63: [0, 1]}),
            ValueError,
            "9223372036854775808, which has more than 64",
        ),
        (lambda c: sb.merge_classes(c, {10**30: [0, 1]}), ValueError, "more than 64 bits"),
        (
            lambda c: sb.drop_classes(c, [0, "a"]),
            ValueError,
            "holds text, such as 'a', but the classes of the model are numbers",
        ),
    ],
)
def test_refusals_leave_the_model_as_it_was(call, error, message):
    refuses(copy.deepcopy(BASE), call, error, message)


def test_an_interrupted_lesson_leaves_the_model_as_it_was():
    class Interrupt(Callback):
        def after_round(self, run):
            if run.round == 3:
                raise KeyboardInterrupt("stop")

    clf = clone_of(BASE, callbacks=[Interrupt()])
    refuses(clf, lambda c: sb.add_classes(c, X, Y), KeyboardInterrupt, "stop")


def test_what_cannot_learn_says_why():
    for options, message in [
        ({"codewords": "simplex"}, "needs codewords='canonical'"),
        ({"loss": "savage"}, "soft-max"),
        ({"loss": Logistic(cost_matrix=1 - np.eye(4))}, "soft-max"),
    ]:
        refuses(fitted(**options), lambda c: sb.add_classes(c, X, Y), ValueError, message)
    started = sb.SimplexBoostClassifier(n_estimators=3).fit(X[OLD], Y[OLD], init_score=np.zeros((OLD.sum(), 4)))
    refuses(started, lambda c: sb.add_classes(c, X, Y), ValueError, "init_score")
    for method in ("add_classes", "drop_classes", "merge_classes"):
        with pytest.raises(NotFittedError):
            getattr(sb, method)(sb.SimplexBoostClassifier(), *([X, Y] if method == "add_classes" else [{0: [1]}]))
    parts = sb.BoostingClassifier("logistic", "canonical", n_estimators=3).fit(X[OLD], Y[OLD])
    refuses(parts, lambda c: sb.add_classes(c, X, Y), TypeError, "takes a SimplexBoostClassifier, not a BoostingCl")
    samme = sb.SAMMEClassifier(n_estimators=3).fit(X, Y)
    refuses(samme, lambda c: sb.drop_classes(c, 0), ValueError, "drop_classes needs probabilities that are")
    refuses(samme, lambda c: sb.merge_classes(c, {0: [0, 1]}), ValueError, "merge_classes needs")


# ---- what follows ---------------------------------------------------------------------------------------------------


def test_a_fit_goes_on_with_the_new_classes():
    clf = changed("add_classes", X, Y, n_rounds=5)
    clf.set_params(warm_start=True, n_estimators=30).fit(X, Y)
    assert clf.n_iter_ == 30 and len(clf.history_["risk"]) == 30 and clf.score(X, Y) > 0.95
    assert clf.history_["risk"][-1] < clf.history_["risk"][19]


def test_a_checkpoint_of_a_lesson_goes_on(tmp_path):
    path = tmp_path / "lesson.sb"
    whole = changed("add_classes", X, Y, n_rounds=25, base=clone_of(BASE, callbacks=[Checkpoint(path)]))
    part = sb.load(path)
    assert part.n_iter_ == 15 + 20 and part.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    assert (part.predict_proba(X) == sb.keep_rounds(whole, 35).predict_proba(X)).all()
    assert part.set_params(warm_start=True, n_estimators=40).fit(X, Y).n_iter_ == 40


@pytest.mark.parametrize(
    "change",
    [
        lambda c: sb.add_classes(c, X, Y, n_rounds=3),
        lambda c: sb.add_classes(c, X, Y, n_rounds=0),
        lambda c: sb.add_classes(c, X[~OLD], Y[~OLD]),
        lambda c: sb.drop_classes(c, [1]),
        lambda c: sb.merge_classes(c, {1: [0, 1]}),
        lambda c: sb.add_classes(sb.merge_classes(c, {9: [0, 2]}), X[~OLD], Y[~OLD]),
    ],
)
def test_changed_models_are_saved_and_pickled(change, tmp_path):
    clf = change(copy.deepcopy(BASE))
    clf.save(tmp_path / "model.sb")
    for again in (sb.load(tmp_path / "model.sb"), pickle.loads(pickle.dumps(clf))):
        assert same_model(again, clf) and (again.predict_proba(X) == clf.predict_proba(X)).all()
        assert (again.predict(X) == clf.predict(X)).all()
    again.save(tmp_path / "again.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "model.sb").read_bytes()


def test_a_saved_model_learns_the_same(tmp_path):
    BASE.save(tmp_path / "model.sb")
    learned = sb.add_classes(sb.load(tmp_path / "model.sb"), X, Y)
    assert same_model(learned, changed("add_classes", X, Y)) and len(learned.history_["seconds"]) == learned.n_iter_


def test_the_results_on_evaluated_rows_are_removed():
    clf = sb.SimplexBoostClassifier(n_estimators=5).fit(X[OLD], Y[OLD], X_val=X[OLD], y_val=Y[OLD])
    assert changed("drop_classes", 0, base=clf).evals_result_ is None
    assert changed("add_classes", X, Y, base=clf).best_iteration_ is None


def test_sets_of_classes_are_calibrated_again():
    clf = changed("add_classes", X, Y, base=decide.calibrate_sets(BASE, X[OLD], Y[OLD]))
    with pytest.raises(ValueError, match="calibrate_sets"):
        decide.predict_sets(clf, X)
    assert decide.predict_sets(decide.calibrate_sets(clf, X, Y), X).shape == (len(X), 6)
    merged = changed("merge_classes", {0: [0, 1]})
    merged = decide.calibrate_sets(merged, X[OLD], np.where(Y[OLD] == 1, 0, Y[OLD]))
    assert decide.predict_sets(merged, X).shape == (len(X), 3)


def test_the_shares_of_the_classes_follow():
    """What `decide.predict_proba` divides by."""
    old, new = BASE.class_prior_, [4, 5]
    rows = np.flatnonzero(OLD | (np.arange(len(Y)) % 2 == 0))
    clf = changed("add_classes", X[rows], Y[rows])
    share = np.isin(Y[rows], new).mean()
    np.testing.assert_allclose(clf.class_prior_, [*(old * (1 - share)), share / 2, share / 2])
    alone = changed("add_classes", X[~OLD], Y[~OLD])
    np.testing.assert_allclose(alone.class_prior_, np.full(6, 1 / 6))
    np.testing.assert_allclose(changed("drop_classes", 0).class_prior_, np.full(3, 1 / 3))
    np.testing.assert_allclose(changed("merge_classes", {9: [0, 2]}).class_prior_, [0.25, 0.25, 0.5])
    P = clf.predict_proba(X)
    np.testing.assert_allclose(decide.predict_proba(clf, X, prior=clf.class_prior_), P, rtol=1e-6)


def test_more_classes_than_codewords_are_stored_for(tmp_path):
    """Beyond 1024 classes the codewords are not stored; merged classes have fewer labels than codewords."""
    y = np.repeat(np.arange(1030), 2)
    X = np.column_stack([y // 33, y % 33]) + np.tile([0.0, 0.1], 1030)[:, None]
    clf = fitted(X[y < 1025], y[y < 1025], n_estimators=2, codewords="canonical")
    U = clf.class_scores(X)
    clf = sb.add_classes(clf, X, y, n_rounds=1)
    assert (clf.class_scores(X)[:, :1025] == U).all() and clf.classes_.tolist() == list(range(1030))
    P = clf.predict_proba(X)
    clf = sb.merge_classes(clf, {0: list(range(100))})
    clf.save(tmp_path / "many.sb")
    again = sb.load(tmp_path / "many.sb")
    assert (again.predict_proba(X) == clf.predict_proba(X)).all() and again.class_prior_.shape == (931,)
    np.testing.assert_allclose(again.predict_proba(X)[:, 0], P[:, :100].sum(axis=1), rtol=1e-12)
    clf = sb.drop_classes(clf, list(range(500, 1030)))
    assert len(clf.classes_) == 401


def test_what_was_chosen_stays():
    base = sb.SimplexBoostClassifier(random_state=0, n_jobs=1).fit(X[OLD], Y[OLD])
    clf = changed("add_classes", X, Y, n_rounds=2, base=base)
    assert clf.choice_ is not None and clf.model_.temperature == base.model_.temperature
    nodes = {len(tree.nodes) for tree in clf.model_.trees[-2:]}
    assert clf.n_iter_ == base.n_iter_ + 2 and nodes


def test_a_new_fit_forgets_all_changes():
    clf = changed("merge_classes", {1: [0, 1]}).fit(X, Y)
    assert clf._merged is None and same_model(clf, fitted(X, Y))


def test_explanations_add_up_to_the_scores_of_all_classes():
    for clf in (changed("add_classes", X, Y, n_rounds=4), changed("drop_classes", 2)):
        phi = sb.explain.shap_values(clf, X[:5]).sum(axis=1) + sb.explain.expected_value(clf)
        np.testing.assert_allclose(phi, 2 * clf.class_scores(X[:5]), rtol=1e-4, atol=1e-4)
        assert len(sb.explain.trees_to_frame(clf)) and sb.explain.tree_text(clf, 0)


def test_exports_know_the_changed_classes(tmp_path):
    import runpy

    for clf in (changed("add_classes", X, Y, n_rounds=4), changed("drop_classes", 2)):
        sb.export.python(clf, tmp_path / "model.py")
        there = runpy.run_path(str(tmp_path / "model.py"))
        assert (there["predict"](X) == clf.predict(X)).all()
        np.testing.assert_allclose(there["predict_proba"](X), clf.predict_proba(X), rtol=1e-4, atol=1e-7)


def test_threads_may_predict_while_a_copy_learns():
    clf = copy.deepcopy(BASE)
    before, after = BASE.predict_proba(X), changed("add_classes", X, Y, n_rounds=30).predict_proba(X)
    with ThreadPoolExecutor(2) as pool:
        lesson = pool.submit(sb.add_classes, clf, X, Y, n_rounds=30)
        while not lesson.done():
            assert (clf.predict_proba(X) == before).all()
    assert (lesson.result().predict_proba(X) == after).all()


# ---- classes that go ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [3, 5, 17, 33, 40])
@pytest.mark.parametrize("codewords", ["canonical", "simplex"])
def test_dropped_classes_leave_the_scores_of_the_others(K, codewords):
    X, y = blobs(K, 10)
    clf = fitted(X, y, n_estimators=4, codewords=codewords, calibration=0.8)
    U, P = clf.class_scores(X), clf.predict_proba(X)
    rest = np.setdiff1d(np.arange(K), [1])
    clf = sb.drop_classes(clf, 1)
    assert clf.classes_.tolist() == rest.tolist() and (clf.class_scores(X) == U[:, rest]).all()
    kept = P[:, rest] / P[:, rest].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(X), kept, rtol=2e-5, atol=1e-12)
    assert (clf.predict(X) == rest[U[:, rest].argmax(axis=1)]).all()


def test_a_class_that_came_may_go_again():
    clf = sb.drop_classes(changed("add_classes", X, Y, n_rounds=3), [4, 5])
    assert (clf.class_scores(X) == BASE.class_scores(X)).all() and clf.classes_.tolist() == [0, 1, 2, 3]
    assert clf.n_iter_ == 18


def test_other_boosters_with_the_logistic_loss_drop_and_merge():
    for booster in (sb.LogitBoostClassifier(n_estimators=5), sb.BoostingClassifier(loss="logistic", n_estimators=5)):
        clf = booster.fit(X, Y)
        U, P = clf.class_scores(X), clf.predict_proba(X)
        merged = changed("merge_classes", {1: [1, 4]}, base=clf)
        np.testing.assert_allclose(merged.predict_proba(X)[:, 1], P[:, 1] + P[:, 4], rtol=1e-12)
        np.testing.assert_allclose(sb.drop_classes(clf, [0, 3]).class_scores(X), U[:, [1, 2, 4, 5]], atol=1e-14)


def test_absent_classes_may_go():
    clf = sb.drop_classes(fitted(classes=range(6)), [5, 0])
    assert clf.classes_.tolist() == [1, 2, 3, 4] and clf._present.tolist() == [True] * 3 + [False]
    assert (clf.class_scores(X)[:, :3] == BASE.class_scores(X)[:, 1:]).all()


# ---- classes that become one ----------------------------------------------------------------------------------------


def test_the_probability_of_a_merged_class_is_the_sum():
    P, U = BASE.predict_proba(X), BASE.class_scores(X)
    clf = changed("merge_classes", {0: [0, 3], 7: [1]})
    assert clf.classes_.tolist() == [0, 2, 7]
    expected = np.column_stack([P[:, 0] + P[:, 3], P[:, 2], P[:, 1]])
    assert (clf.predict_proba(X) == expected).all()
    assert (clf.predict(X) == clf.classes_[expected.argmax(axis=1)]).all()
    assert (clf.class_scores(X)[:, 1:] == U[:, [2, 1]]).all()
    np.testing.assert_allclose(clf.class_scores(X)[:, 0], 0.5 * logsumexp(2 * U[:, [0, 3]], axis=1), rtol=1e-12)
    np.testing.assert_allclose(softmax(2 * clf.class_scores(X), axis=1), expected, rtol=1e-5)
    np.testing.assert_allclose(clf.predict_log_proba(X), np.log(expected), rtol=1e-4, atol=1e-7)
    labels, most = sb.decide.top_k(clf, X, 2)
    assert (most[:, 0] == expected.max(axis=1)).all() and (labels[:, 0] == clf.predict(X)).all()
    assert (list(clf.staged_predict_proba(X))[-1] == clf.predict_proba(X)).mean() > 0.9


def test_merging_twice_is_merging_once():
    once = changed("merge_classes", {8: [0, 1, 3]})
    assert same_model(sb.merge_classes(changed("merge_classes", {9: [1, 3]}), {8: [0, 9]}), once)
    dropped = sb.drop_classes(changed("merge_classes", {9: [1, 3]}), [9])
    assert same_model(dropped, changed("drop_classes", [1, 3])) and dropped._merged is None


def test_whole_numbers_stay_whole():
    """7.0 is the class 7 of a model whose classes are integers, as in `add_classes`."""
    clf = changed("merge_classes", {7.0: [0, 1]})
    assert clf.classes_.tolist() == [2, 3, 7] and clf.classes_.dtype == BASE.classes_.dtype
    assert changed("merge_classes", {0.5: [0, 1]}).classes_.tolist() == [0.5, 2.0, 3.0]


def test_other_names_only_change_names():
    y = LABELS[Y[OLD]]
    clf = sb.merge_classes(fitted(X[OLD], y), {"zebu": ["ant"]})
    assert clf.classes_.tolist() == ["bee", "cat", "dog", "zebu"] and clf._merged is None
    assert (clf.class_scores(X)[:, [3, 0, 1, 2]] == BASE.class_scores(X)).all()
    assert sb.explain.shap_values(clf, X[:2]).shape == (2, 5, 4)


def test_a_start_of_a_merged_class_is_that_of_its_members():
    start = np.random.default_rng(0).normal(size=(len(X), 3))
    clf = changed("merge_classes", {1: [1, 2]})
    P = BASE.predict_proba(X, init_score=start[:, [0, 1, 1, 2]])
    assert (clf.predict_proba(X, init_score=start) == np.column_stack([P[:, 0], P[:, 1] + P[:, 2], P[:, 3]])).all()


def test_merged_models_learn_new_classes():
    clf = changed("merge_classes", {3: [0, 3]})
    U = clf.class_scores(X)
    y = np.where(Y == 0, 3, Y)
    clf = sb.add_classes(clf, X, y)
    assert clf.classes_.tolist() == [1, 2, 3, 4, 5] and (clf.class_scores(X)[:, :3] == U).all()
    assert clf.score(X, y) > 0.9
    first = sb.add_classes(changed("merge_classes", {7: [0, 3]}), X, np.where(np.isin(Y, [0, 3]), 7, Y))
    assert first.classes_.tolist() == [1, 2, 4, 5, 7] and first.score(X, np.where(np.isin(Y, [0, 3]), 7, Y)) > 0.9


def test_what_needs_a_sum_over_trees_is_refused_after_a_merger(tmp_path):
    clf = changed("merge_classes", {1: [0, 1]})
    for call in (
        lambda c: sb.explain.shap_values(c, X),
        lambda c: sb.explain.explain_pair(c, X, 1, 2),
        lambda c: sb.explain.trees_to_frame(c),
        lambda c: sb.explain.tree_text(c, 0),
        lambda c: sb.explain.importances(c, classes=[1]),
        lambda c: sb.explain.partial_dependence(c, [0], [[0.0]]),
    ):
        refuses(clf, call, ValueError, "merged class")
    refuses(clf, lambda c: sb.export.c(c, tmp_path / "m.c"), ValueError, "C cannot hold merged classes")
    refuses(clf, lambda c: sb.export.treelite(c), ValueError, "treelite cannot hold merged classes")
    y = np.where(Y == 0, 1, Y)[OLD]
    refuses(clf_that_goes_on(clf), lambda c: c.fit(X[OLD], y), ValueError, "merged")
    assert len(sb.explain.importances(clf)) == 5 and clf.apply(X[:2]).shape == (2, 15)
    sb.report(clf, X[OLD], y, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 1000


def clf_that_goes_on(clf):
    return copy.deepcopy(clf).set_params(warm_start=True, n_estimators=20)


@pytest.mark.parametrize(
    "merged", [[0, 1, 2], [0, 1, 1, 3], [0, 0, 1, 1], [0, 1, 2, -1], np.array([0.0, 1, 2, 2]), [[0, 1, 2, 2]]]
)
def test_files_whose_merged_classes_do_not_fit_are_refused(merged):
    """Four codewords of three classes."""
    arrays = {"Y": np.eye(4), "present": np.array([1, 1, 0, 1], dtype=np.uint8), "merged": np.asarray(merged)}
    with pytest.raises(sb.ModelFileError, match=r"merged|codewords"):
        check_codewords(arrays, 4)
    check_codewords(arrays | {"merged": np.array([2, 1, 0, 1])}, 4)


def test_rows_on_dask_are_refused():
    dask_array = pytest.importorskip("dask.array")
    from simplexboost.distributed.dask import DaskSimplexBoostClassifier

    clf = DaskSimplexBoostClassifier(n_estimators=15, random_state=0, n_jobs=1)
    clf._become(copy.deepcopy(BASE))
    refuses(clf, lambda c: sb.add_classes(c, dask_array.from_array(X), Y), TypeError, "rows in memory")
    assert same_model(sb.add_classes(clf, X, Y).to_local(), changed("add_classes", X, Y))


@pytest.mark.parametrize("change", ["drop", "merge", "add"])
def test_classes_with_a_structure_do_not_change(change):
    """An order or a hierarchy names all classes, so others would not fit it; the model stays as it was."""
    X, y = blobs(4)
    changes = {
        "drop": lambda clf: sb.drop_classes(clf, 0),
        "merge": lambda clf: sb.merge_classes(clf, {1: [1, 2]}),
        "add": lambda clf: sb.add_classes(clf, X, y + 1),
    }
    ordered = sb.SimplexBoostClassifier(n_estimators=3, classes=sb.Ordinal(), random_state=0).fit(X, y)
    P = ordered.predict_proba(X)
    with pytest.raises(ValueError, match="order of classes"):
        changes[change](ordered)
    assert (ordered.predict_proba(X) == P).all()
    tree = sb.Hierarchy({"low": [0, 1], "high": [2, 3]})
    related = sb.SimplexBoostClassifier(n_estimators=3, classes=tree, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="tree of classes"):
        changes[change](related)


# ---- labels that are dates and durations ----------------------------------------------------------------------------

DAYS = np.array(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"], dtype="M8[D]")
FORMS = {"numpy": list, "pandas": lambda k: list(pd.Index(k)), "python": lambda k: k.astype("M8[us]").tolist()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", ["D", "ns"])
def test_classes_that_are_dates_are_named_in_any_form(unit, form):
    """As with numbers for classes: what goes, what becomes one, shares, costs, and what stands for no answer."""
    dates = DAYS.astype(f"M8[{unit}]")
    clf = fitted(y=dates[Y[OLD]])
    one, two, three, four = FORMS[form](clf.classes_)
    np.testing.assert_array_equal(changed("drop_classes", [one, three], base=clf).classes_, dates[[1, 3]])
    np.testing.assert_array_equal(changed("drop_classes", one, base=clf).classes_, dates[1:])
    merged = changed("merge_classes", {two: [one, two]}, base=clf)
    np.testing.assert_array_equal(merged.classes_, dates[1:])
    np.testing.assert_array_equal(merged.predict_proba(X), changed("merge_classes", {1: [0, 1]}).predict_proba(X))
    with pytest.raises(ValueError, match="which is that of a class outside of its group"):
        changed("merge_classes", {four: [one, two]}, base=clf)
    shares = {four: 1, one: 2, two: 3, three: 4}
    expected = decide.predict_proba(BASE, X, prior=[2, 3, 4, 1])
    np.testing.assert_array_equal(decide.predict_proba(clf, X, prior=shares), expected)
    costs = pd.DataFrame(np.arange(16.0).reshape(4, 4), index=pd.Index([four, one, two, three], dtype=object))
    chosen = decide.expected_costs(clf, X, costs)
    np.testing.assert_array_equal(chosen, decide.expected_costs(BASE, X, costs.to_numpy()[[1, 2, 3, 0]]))
    with pytest.raises(ValueError, match="is one of the classes"):
        decide.predict_or_abstain(clf, X, missing=two)
    weighed = fitted(y=dates[Y[OLD]], class_weight={four: 1, one: 2, two: 3, three: 4})
    expected = fitted(class_weight={0: 2, 1: 3, 2: 4, 3: 1}).class_scores(X)
    np.testing.assert_array_equal(weighed.class_scores(X), expected)
    with pytest.raises(
        ValueError, match=r"holds .*2030.*, which is none of the classes of the model; these are .*2020-01-01"
    ):
        clf = sb.drop_classes(clf, [np.datetime64("2030-01-01")])


def test_shares_of_dates_as_pandas_counts_them():
    dates = DAYS.astype("M8[ns]")[Y[OLD]]
    P = decide.predict_proba(fitted(y=dates), X, prior=pd.Series(dates[10:]).value_counts())
    np.testing.assert_array_equal(P, decide.predict_proba(BASE, X, prior=np.bincount(Y[OLD][10:])))


def test_durations():
    spans = np.array([1, 2, 3, 4], dtype="m8[h]")
    clf = fitted(y=spans[Y[OLD]])
    for label in (spans[0], pd.Timedelta(hours=1), pd.Timedelta(hours=1).to_pytimedelta()):
        np.testing.assert_array_equal(changed("drop_classes", [label], base=clf).classes_, spans[1:])
    with pytest.raises(ValueError, match="none of the classes of the model"):
        clf = sb.drop_classes(clf, [pd.Timedelta(minutes=90)])  # which hours cannot tell from one hour
