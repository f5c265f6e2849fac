"""Boosters fitted by groups: the same bytes as fitted to the whole table, for any cuts, members and losses of them."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
from group_threads import run_group
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import simplexboost as sb
from simplexboost.distributed.comm import Leader
from simplexboost.distributed.fitting import fit_group
from simplexboost.distributed.group_engine import GroupRows, group_engine
from simplexboost.parts.codewords import MaxMin
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton
from simplexboost.tables.partitions import Partition as Part

X_DIGITS, Y_DIGITS = (a[:600] for a in load_digits(return_X_y=True))


def saved(clf, tmp_path):
    clf.save(tmp_path / "model.sb")
    return (tmp_path / "model.sb").read_bytes()


def mixed_table(n=500, seed=0):
    """A table with numbers, holes, text and categories, four classes, and weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "holes": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "colour": rng.choice(["red", "green", "blue", None], n),
            "code": pd.Categorical(rng.choice([3, 1, 7, 9], n)),
            "few": rng.integers(0, 3, n).astype(float),
        }
    )
    score = X["size"] + X["colour"].eq("red") * 1.5 + X["code"].astype(float).fillna(0) / 4 + rng.normal(0, 0.4, n)
    y = np.array(["a", "b", "c", "d"])[np.digitize(score, [-0.3, 0.9, 2.0])]
    return X, y, rng.uniform(0.2, 3.0, n)


def rows_of(table, rows):
    return None if table is None else table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def cut(n, n_parts, seed=0):
    """Uneven partitions of n rows; the second is empty, if there are that many."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, n + 1, n_parts - 1))
    if n_parts > 2:
        cuts[1] = cuts[0]
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def parts_of(table, slices, owners, member):
    X, y, *more = table
    more = dict(zip(("sample_weight", "init_score", "groups"), more, strict=False))
    return [
        Part(i, rows_of(X, s), rows_of(y, s), **{name: rows_of(value, s) for name, value in more.items()})
        for i, s in enumerate(slices)
        if owners[i] == member
    ]


def group_fit(clf, table, evals=(), n_members=3, n_parts=7, eval_metric=None, losses=None, seed=0):
    """The classifier as the leader and the members of a group fit it."""
    rng = np.random.default_rng(seed)
    tables = [table, *evals]
    cuts = [cut(len(t[1]), n_parts, seed + i) for i, t in enumerate(tables)]
    owners = [rng.permutation(np.arange(n_parts) % n_members) for _ in tables]
    held = [[parts_of(t, c, o, m) for t, c, o in zip(tables, cuts, owners, strict=True)] for m in range(n_members)]

    def program(group, tables):
        own = clone(clf)
        vars(own).update({name: value for name, value in vars(clf).items() if name not in clf._get_param_names()})
        fit_group(group, own, [list(tables[0]), *tables[1:]], eval_metric)  # the fit empties the first list
        return own

    return run_group(program, held, [[] for _ in tables], losses)


def check(clf, table, tmp_path, evals=(), eval_metric=None, **how):
    """Everybody's model is, byte for byte, that of the whole table."""
    X, y, *more = table
    names = ("sample_weight", "init_score", "groups")
    given = {name: value for name, value in zip(names, more, strict=False) if value is not None}
    if evals:
        padded = [(*entry, None)[:3] for entry in evals]
        given |= dict(zip(("X_val", "y_val", "sample_weight_val"), zip(*padded, strict=True), strict=True))
    if eval_metric is not None:
        given["eval_metric"] = eval_metric
    whole = clone(clf)
    vars(whole).update({name: value for name, value in vars(clf).items() if name not in clf._get_param_names()})
    whole.fit(X, y, **given)
    fitted = group_fit(clf, table, evals, eval_metric=eval_metric, **how)
    expected = saved(whole, tmp_path)
    assert [saved(one, tmp_path) == expected for one in fitted] == [True] * len(fitted)
    return whole


Flagship = partial(sb.SimplexBoostClassifier, random_state=0, n_estimators=8)
Composed = partial(sb.BoostingClassifier, n_estimators=6, random_state=0)

CASES = {
    "flagship": Flagship(),
    "subsample": Flagship(subsample=0.5, max_features=0.6),
    "symmetric": Flagship(growth="symmetric"),
    "level": Flagship(growth="level", max_depth=3),
    "few dimensions": Flagship(codewords=MaxMin(code_dim=2)),
    "ordered": Flagship(classes=sb.Ordinal(["b", "a", "d", "c"])),
    "tree": Flagship(classes=sb.Hierarchy({"low": ["a", "b"], "high": ["c", "d"]})),
    "savage": Flagship(loss="savage"),
    "balanced": Flagship(class_weight="balanced"),
    "costs": Flagship(loss=Logistic(np.arange(16.0).reshape(4, 4) * (1 - np.eye(4)) + 1 - np.eye(4))),
    "other seed": Flagship(random_state=7, max_leaf_nodes=5, min_samples_leaf=20, max_bins=16),
    "two directions": Flagship(optimizer=SketchedNewton(sketch=2)),
    "interactions": Flagship(interaction_cst="pairwise"),
    "gradient": Composed("exponential", "simplex", "vector-tree", "gradient"),
    "newton": Composed("logistic", "canonical", "newton-tree", "newton"),
    "coordinate": Composed("exponential", "simplex", "stump", "coordinate"),
    "class tree": Composed("mm", "canonical", "class-tree", "gradient"),
}


@pytest.mark.parametrize("name", CASES)
def test_models_are_those_of_the_whole_table(name, tmp_path):
    check(CASES[name], mixed_table(), tmp_path)


@pytest.mark.parametrize(("n_members", "n_parts"), [(1, 1), (1, 7), (2, 2), (4, 64), (5, 5)])
def test_members_and_partitions_do_not_matter(n_members, n_parts, tmp_path):
    check(Flagship(subsample=0.7), mixed_table(), tmp_path, n_members=n_members, n_parts=n_parts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays(dtype, tmp_path):
    check(Flagship(), (X_DIGITS.astype(dtype), Y_DIGITS), tmp_path)


def sparse_table(n=240, p=12):
    X = sparse.random_array((n, p), density=0.2, format="csr", rng=np.random.default_rng(0)) - 0.3 * (
        sparse.random_array((n, p), density=0.1, format="csr", rng=np.random.default_rng(1))
    )
    X.data[::9] = np.nan
    values = np.nan_to_num(X.toarray())
    return X, np.digitize(values[:, 0] + values[:, 1] - values[:, 2], [0.0, 0.4])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("clf", [Flagship(), Flagship(early_stopping=True), CASES["gradient"]])
def test_sparse_tables(clf, dtype, tmp_path, monkeypatch):
    X, y = sparse_table()
    check(clf, (X.astype(dtype), y), tmp_path, [(X[:40], y[:40])], n_members=4)
    monkeypatch.setattr("simplexboost.engine.binned.SAMPLE_ROWS", 100)
    check(clf, (X.astype(dtype), y, y * 0.5), tmp_path)


def test_the_own_choice_on_a_sparse_table(tmp_path):
    check(Flagship(n_estimators="auto", learning_rate=0.5, growth="level"), sparse_table(120), tmp_path)


def test_warm_start_on_a_sparse_table(tmp_path):
    X, y = sparse_table()
    clf = Flagship(n_estimators=4, warm_start=True).fit(X, y)
    check(clf.set_params(n_estimators=8), (X, y), tmp_path)


def test_more_rows_than_are_looked_at_for_bins(tmp_path, monkeypatch):
    monkeypatch.setattr("simplexboost.engine.binned.SAMPLE_ROWS", 100)
    monkeypatch.setattr("simplexboost.distributed.group_engine.MOST_SAMPLED", 250)
    check(Flagship(), mixed_table(), tmp_path)


def test_bins_need_little_memory_beside_the_table(monkeypatch):
    monkeypatch.setattr("simplexboost.engine.binned.SAMPLE_ROWS", 1000)
    X = np.random.default_rng(0).normal(size=(50_000, 40))  # 16 MB, and 2 MB of codes

    def program(group, rows):
        return group_engine(1, GroupRows(group, len(X), np.arange(len(rows)))).compute.bin(rows)

    tracemalloc.start()
    try:
        run_group(program, [X], X[:0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6e6


@pytest.mark.parametrize("eval_metric", [None, ["error", "accuracy"]])
def test_evaluated_sets(eval_metric, tmp_path):
    X, y, w = mixed_table(300, seed=1)
    clf = Flagship(n_estimators=30, learning_rate=0.5, early_stopping=3)
    whole = check(clf, mixed_table(), tmp_path, [(X, y, w), (X[:50], y[:50])], eval_metric)
    assert whole.n_iter_ < 30 and len(whole.evals_result_) == 2


@pytest.mark.parametrize("eval_metric", [None, "neg_log_loss"])
def test_early_stopping_on_rows_held_out(eval_metric, tmp_path):
    clf = Flagship(n_estimators=40, learning_rate=0.5, early_stopping=3)
    assert check(clf, mixed_table(), tmp_path, eval_metric=eval_metric).n_iter_ < 40


def test_a_class_that_only_one_partition_has(tmp_path):
    X, y = X_DIGITS.copy(), np.sort(Y_DIGITS)
    check(Flagship(), (X, y), tmp_path)


def test_declared_classes(tmp_path):
    X, y, w = mixed_table()
    check(Flagship(classes=["a", "b", "c", "d", "e"]), (X, y, w), tmp_path)


def test_one_class_of_those_declared(tmp_path):
    check(Flagship(classes=["a", "b"]), (X_DIGITS, np.full(len(X_DIGITS), "a")), tmp_path)


def test_scores_to_start_from(tmp_path):
    X, y, w = mixed_table()
    check(Flagship(), (X, y, w, np.random.default_rng(0).normal(size=(len(y), 4))), tmp_path)


def test_the_own_choice_on_folds(tmp_path):
    whole = check(Flagship(n_estimators="auto", learning_rate=0.3), mixed_table(200), tmp_path)
    assert whole.choice_.n_splits == 5


def test_the_own_choice_on_a_sample_and_one_part(tmp_path, monkeypatch):
    from simplexboost.classifiers import auto as settling

    monkeypatch.setattr(settling, "effort", lambda n, p, K: settling.Effort(0, 100, 3.0, 0.3))
    monkeypatch.setattr(settling, "sample_rows", lambda n: n // 2)
    groups = np.random.default_rng(0).integers(0, 30, 400)
    X, y, w = mixed_table(400)
    for table in ((X, y, w), (X, y, w, None, groups)):
        whole = check(Flagship(n_estimators="auto"), table, tmp_path)
        assert whole.choice_.n_splits == 1 and len(whole.choice_.candidates) > 1


@pytest.mark.parametrize("kind", ["large numbers", "days"])
def test_groups_of_any_type(kind, tmp_path):
    numbers = np.random.default_rng(0).integers(0, 12, 120)
    groups = {
        "large numbers": 2**60 + numbers,  # as floats they would all be one group
        "days": np.datetime64("2026-01-01") + numbers,
    }[kind]
    check(Flagship(n_estimators="auto", learning_rate=0.5, growth="level"), (*mixed_table(120), None, groups), tmp_path)


def test_warm_start(tmp_path):
    table = mixed_table()
    clf = Flagship(n_estimators=4, warm_start=True).fit(*table)
    check(clf.set_params(n_estimators=8), table, tmp_path)


def test_callbacks_are_called_at_the_leader_and_stop_everybody(tmp_path):
    class Stop(sb.boosting.Callback):
        rounds = 0

        def after_round(self, run):
            Stop.rounds += 1
            run.learning_rate = 0.05
            if run.round == 3:
                run.stop_reason = "enough"

    check(Flagship(callbacks=[Stop()]), mixed_table(), tmp_path)
    assert Stop.rounds == 6  # of the fit to the whole table, and of the leader


@pytest.mark.parametrize("name", ["flagship", "gradient", "subsample"])
@pytest.mark.parametrize("moment", ["start", "before_round", "after_round", "finish"])
def test_callbacks_may_act_at_any_moment(name, moment, tmp_path):
    risks = []

    class Acts(sb.boosting.Callback):
        """Reads the risk, in every second round only, and lets it decide on the learning rate."""

    def act(self, run):
        if run.round % 2 == 0:
            risks.append(run.risk())
            run.learning_rate = 0.1 * risks[-1]
        if run.round == 4:
            run.stop_reason = "enough"

    setattr(Acts, moment, act)
    check(clone(CASES[name]).set_params(callbacks=[Acts()]), mixed_table(200), tmp_path)
    assert len(risks) >= 2 and risks[: len(risks) // 2] == risks[len(risks) // 2 :]


def test_a_callback_that_stops_before_the_first_round(tmp_path):
    class Stops(sb.boosting.Callback):
        def start(self, run):
            run.stop_reason = "never begun"

    check(Flagship(callbacks=[Stops()]), mixed_table(200), tmp_path)


def test_early_stopping_on_rows_of_the_client(tmp_path):
    X, y, _ = mixed_table(200)
    stop = sb.boosting.Evaluation(
        np.zeros((30, 5)), np.arange(30) % 4, np.ones(30), stopping=sb.boosting.EarlyStopping(2)
    )
    clf = Flagship(callbacks=[stop], n_estimators=12)
    whole, leader = clone(clf).fit(X, y), group_fit(clf, (X, y))[0]  # members know nothing of the best round
    assert whole.n_iter_ < 12 and saved(leader, tmp_path) == saved(whole, tmp_path)


def test_checkpoints(tmp_path):
    X, y, _ = mixed_table(200)
    path = tmp_path / "checkpoint.sb"
    group_fit(Flagship(n_estimators=7, callbacks=[sb.boosting.Checkpoint(path, every=3)]), (X, y))
    half = sb.load(path)
    assert half.n_iter_ == 6
    longer = group_fit(half.set_params(warm_start=True, n_estimators=9), (X, y))[0]
    assert np.array_equal(longer.predict_proba(X), Flagship(n_estimators=9).fit(X, y).predict_proba(X))


def test_progress(capsys):
    group_fit(clone(CASES["gradient"]).set_params(verbose=1), mixed_table())
    assert "boosting: 500 rows, 4 classes" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["subsample", "few dimensions", "savage", "gradient", "coordinate", "newton"])
def test_members_that_are_lost_are_replaced(name, tmp_path):
    table = mixed_table(200)
    numbers = np.random.default_rng(1).choice(np.arange(1, 60), 6, replace=False)
    losses = {int(number): [int(number) % 3] for number in numbers}
    losses[min(losses)] = [0, 1, 2]  # all at once
    check(CASES[name], table, tmp_path, losses=losses)


def test_a_member_is_replaced_after_every_single_answer(tmp_path):
    clf = Flagship(n_estimators=2, early_stopping=True)
    table = mixed_table(80)
    expected = saved(clone(clf).fit(*table), tmp_path)
    number = 0
    while True:
        number += 1
        try:
            fitted = group_fit(clf, table, n_members=2, losses={number: [number % 2]})
        except AssertionError as error:
            assert "ended before" in str(error)
            break
        assert [saved(one, tmp_path) == expected for one in fitted] == [True] * 3
    assert number > 30


@pytest.mark.parametrize("name", ["flagship", "few dimensions", "gradient", "coordinate", "newton"])
def test_messages_stay_as_they_were_told(name, monkeypatch):
    """The leader keeps them for members that come later, and members in the same process share them."""
    told, tell = [], Leader.tell

    def noted(self, message):
        told.append((message, pickle.dumps(message)))
        tell(self, message)

    monkeypatch.setattr(Leader, "tell", noted)
    monkeypatch.setattr("group_threads.copied", lambda value: value)
    group_fit(CASES[name], mixed_table(200))
    assert len(told) > 20 and all(pickle.dumps(message) == before for message, before in told)


@pytest.mark.parametrize("what", ["callback", "member"])
def test_errors_reach_the_leader(what):
    class Fails(sb.boosting.Callback):
        def after_round(self, run):
            raise KeyError("mine")

    if what == "callback":
        with pytest.raises(KeyError, match="mine"):
            group_fit(Flagship(callbacks=[Fails()]), mixed_table())
    else:
        X, y, w = mixed_table()
        w[17] = np.nan
        with pytest.raises(ValueError, match="sample_weight"):
            group_fit(Flagship(), (X, y, w))


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (Composed("exponential", "canonical", "linear", "gradient"), "learner=Linear.*trees of the engine"),
        (Composed("exponential", "canonical", "vector-tree", "sampled-pairs"), "optimizer=SampledPairs.*n_pairs='all'"),
        (Flagship(loss=sb.parts.losses.UserLoss(np.sum, np.sum, np.sum)), "loss=UserLoss"),
    ],
)
def test_parts_that_need_all_rows_are_refused(clf, message):
    with pytest.raises(ValueError, match=message):
        group_fit(clf, (X_DIGITS, Y_DIGITS))
