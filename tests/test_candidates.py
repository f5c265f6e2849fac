"""Rows that keep the scores of few classes: both engines against the definition and against each other, and fits."""

import io
import pickle

import numpy as np
import pytest
from cases import in_leaves
from engine_cases import ROW_LOSSES
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp
from scipy.special import softmax as soft_max
from twin import reference_engine

import simplexboost as sb
from simplexboost.engine import Candidates, LeafRule, RowProblem, cpu_engine
from simplexboost.parts.codewords import MaxMin
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton

CPU, TWIN = cpu_engine(), reference_engine()
each_engine = pytest.mark.parametrize("engine", [CPU, TWIN], ids=["cpu", "twin"])


def drawn(rng, n, K, C, size=1.0):
    """Rows with random candidates and scores; some lists are not full."""
    F = Candidates.zeros(rng.integers(0, K, n), K, C)
    for i in range(n):
        rivals = np.delete(np.arange(K), F.c[i])
        F.count[i] = m = rng.integers(0, min(F.scores.shape[1], K - 1) + 1)
        F.classes[i, :m] = rng.choice(rivals, m, replace=False)
        F.scores[i, :m] = size * rng.normal(size=m)
    F.own[:], F.rest[:] = size * rng.normal(size=n), -size * rng.random(n)
    return F


def problem(F, weight=None, loss="logistic"):
    """The rows of a predictor, with a loss."""
    part = ROW_LOSSES[loss]
    return RowProblem(F.c, F.K, None, weight, None, part.exponents, part.value_of, candidates=True)


def leaf_values(rng, L, K, most=40, size=0.5):
    """Sparse leaf values, the largest of every leaf first."""
    rows = [np.sort(size * rng.normal(size=rng.integers(0, min(most, K))))[::-1] for _ in range(L)]
    starts = np.cumsum([0, *map(len, rows)])
    classes = np.concatenate([rng.choice(K, len(row), replace=False) for row in rows])
    return csr_array((np.concatenate(rows).astype(np.float32), classes.astype(np.int32), starts), shape=(L, K))


def copied(F):
    """A copy of all rows."""
    return F[np.arange(len(F))]


# ---- the predictor --------------------------------------------------------------------------------------------------


def test_dense_and_log_losses():
    rng = np.random.default_rng(0)
    F = drawn(rng, 50, 30, 16)
    D = F.dense().astype(np.float64)
    for i in range(50):
        assert D[i, F.c[i]] == F.own[i]
        assert (D[i, F.classes[i, : F.count[i]]] == F.scores[i, : F.count[i]]).all()
        assert (D[i] == F.rest[i]).sum() == 29 - F.count[i] == F.others[i]
    for t, found in zip((0.5, 1.0, 2.0), F.log_losses((0.5, 1.0, 2.0)), strict=True):
        np.testing.assert_allclose(found, -log_softmax(t * D, axis=1)[np.arange(50), F.c], rtol=1e-6)
    assert F.reach() == np.abs(D).max()


def test_rows_are_taken_as_copies():
    F = drawn(np.random.default_rng(1), 10, 30, 16)
    some = F[np.array([3, 1])]
    assert (some.dense() == F.dense()[[3, 1]]).all()
    some.own[:] = 7
    assert (F.own != 7).all()


# ---- moving scores --------------------------------------------------------------------------------------------------


@each_engine
def test_lists_with_room_for_all_are_exact(engine):
    """As long as no class has to leave a list, F is the sum of the leaf values, like a dense predictor."""
    rng = np.random.default_rng(2)
    F, exact = Candidates.zeros(rng.integers(0, 40, 60), 40, 39), np.zeros((60, 40), dtype=np.float32)
    for _ in range(6):
        values, leaf_of_row = leaf_values(rng, 4, 40), rng.integers(0, 4, 60).astype(np.int32)
        engine.compute.add_leaves(F, values, 0.3, leaf_of_row)
        exact += np.float32(0.3) * values.toarray()[leaf_of_row]
    assert (F.dense() == exact).all()


@each_engine
def test_the_mass_of_all_classes_is_kept(engine):
    """Σ exp F is what it is for the array that the lists stand for: whoever goes back to the rest takes his share."""
    rng = np.random.default_rng(3)
    F = drawn(rng, 80, 200, 16)
    for _ in range(5):
        values, leaf_of_row = leaf_values(rng, 3, 200, most=120), rng.integers(0, 3, 80).astype(np.int32)
        before = F.dense().astype(np.float64)
        engine.compute.add_leaves(F, values, 0.5, leaf_of_row)
        wanted = before + 0.5 * values.toarray()[leaf_of_row]
        found = F.dense().astype(np.float64)
        np.testing.assert_allclose(logsumexp(found, axis=1), logsumexp(wanted, axis=1), atol=2e-6)
        # And what is in the list has its right score.
        row, place = np.nonzero(np.arange(16) < F.count[:, None])
        np.testing.assert_allclose(F.scores[row, place], wanted[row, F.classes[row, place]], atol=1e-6)


@each_engine
def test_full_lists_hold_the_highest(engine):
    rng = np.random.default_rng(4)
    F = Candidates.zeros(rng.integers(0, 100, 20), 100, 16)
    values = rng.random(100).astype(np.float32)
    order = np.argsort(-values)
    leaf = csr_array((values[order], order.astype(np.int32), [0, 100]), shape=(1, 100))
    engine.compute.add_leaves(F, leaf, 1.0, np.zeros(20, dtype=np.int32))
    assert all(set(F.classes[i]) == set(order[order != F.c[i]][:16]) for i in range(20))
    before = F.dense()
    engine.compute.add_leaves(F, leaf, -1.0, np.zeros(20, dtype=np.int32))  # the lowest first: nobody is above the rest
    assert (F.dense() <= before).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 90), st.integers(1, 40), st.integers(1, 3))
def test_moves_equal_the_twin(seed, K, C, L):
    """The lists are the same; the score of the rest agrees to its last digits."""
    rng = np.random.default_rng(seed)
    ours = drawn(rng, 25, K, C)
    theirs = copied(ours)
    for _ in range(4):
        values, leaf_of_row = leaf_values(rng, L, K), rng.integers(0, L, 25).astype(np.int32)
        CPU.compute.add_leaves(ours, values, 0.3, leaf_of_row)
        TWIN.compute.add_leaves(theirs, values, 0.3, leaf_of_row)
        assert (ours.count == theirs.count).all()
        np.testing.assert_allclose(ours.rest, theirs.rest, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.dense(), theirs.dense(), rtol=1e-5, atol=1e-6)


# ---- the loss -------------------------------------------------------------------------------------------------------


@each_engine
@pytest.mark.parametrize("weighted", [False, True])
def test_pull_is_sketched_gradient_and_curvature(engine, weighted):
    rng = np.random.default_rng(5)
    F, Z = drawn(rng, 200, 50, 16), rng.normal(size=(50, 3)).astype(np.float32)
    weight = rng.exponential(size=200).astype(np.float32) if weighted else None
    work = engine.compute.row_loss(problem(F, weight))
    stats = work.pull(F, Z)
    P, w = soft_max(F.dense().astype(np.float64), axis=1), np.ones(200) if weight is None else weight
    np.testing.assert_allclose(stats[:, :3], w[:, None] * (Z[F.c] - P @ Z), atol=2e-5)
    spread = np.einsum("nk,nks->n", P, (Z - (P @ Z)[:, None, :]) ** 2)
    np.testing.assert_allclose(stats[:, 3], w * spread, atol=1e-4)
    losses = F.log_losses()[0]
    np.testing.assert_allclose(work.loss, losses, rtol=1e-5, atol=1e-5)
    assert work.risk() == pytest.approx(np.average(losses, weights=w), rel=1e-5)


@each_engine
def test_leaves_are_newton_steps_less_that_of_the_rest(engine):
    rng = np.random.default_rng(6)
    F, K = drawn(rng, 120, 60, 16), 60
    leaf_of_row = rng.integers(0, 3, 120).astype(np.int32)
    work = engine.compute.row_loss(problem(F))
    work.pull(F, rng.normal(size=(K, 1)).astype(np.float32))
    values = work.leaves(F, in_leaves(leaf_of_row, 3), None, LeafRule(0.5))
    P = soft_max(F.dense().astype(np.float64), axis=1)
    for leaf in range(3):
        rows = leaf_of_row == leaf
        steps = (np.eye(K)[F.c[rows]] - P[rows]).sum(axis=0) / ((P * (1 - P))[rows].sum(axis=0) + 0.5)
        found = values[[leaf]].toarray()[0]
        kept = np.union1d(F.c[rows], np.concatenate([F.classes[i, : F.count[i]] for i in np.flatnonzero(rows)]))
        np.testing.assert_allclose(found[kept] - found[kept[0]], steps[kept] - steps[kept[0]], atol=2e-4)
        entries = values.data[values.indptr[leaf] : values.indptr[leaf + 1]]
        assert (np.diff(entries) <= 0).all()  # the longest step first


@each_engine
def test_thin_leaves(engine):
    rng = np.random.default_rng(7)
    F = drawn(rng, 100, 60, 16)
    work = engine.compute.row_loss(problem(F))
    work.pull(F, rng.normal(size=(60, 1)).astype(np.float32))
    every, thin = (
        work.leaves(F, in_leaves(np.zeros(100, dtype=np.int32), 1), None, LeafRule(0.5, 2.0, t)).toarray()[0]
        for t in (0.0, 0.3)
    )
    assert (thin == np.where(np.abs(every) < np.float32(0.3) * np.abs(every).max(), 0, every)).all()
    assert 0 < (thin != 0).sum() < (every != 0).sum()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 60), st.integers(1, 40), st.sampled_from(sorted(ROW_LOSSES)))
def test_loss_equals_the_twin(seed, K, C, loss):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=40).astype(np.float32) + np.float32(0.01) if seed % 2 else None
    F = drawn(rng, 40, K, C)
    ours, theirs = CPU.compute.row_loss(problem(F, weight, loss)), TWIN.compute.row_loss(problem(F, weight, loss))
    leaf_of_row, used = rng.integers(0, 3, 40).astype(np.int32), np.flatnonzero(rng.random(40) < 0.7)
    for _ in range(2):
        Z = rng.normal(size=(K, 2)).astype(np.float32)
        np.testing.assert_allclose(ours.pull(F, Z), theirs.pull(F, Z), rtol=1e-4, atol=2e-5 * ours.stats.max(initial=1))
        np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-5, atol=1e-5)
        found, wanted = (
            work.leaves(F, in_leaves(leaf_of_row, 3), used, LeafRule(0.2, 2.0)).toarray() for work in (ours, theirs)
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max(initial=1))


def test_any_number_of_threads():
    rng = np.random.default_rng(8)
    F, K = drawn(rng, 9000, 300, 16), 300
    Z, leaf_of_row = rng.normal(size=(K, 1)).astype(np.float32), rng.integers(0, 5, 9000).astype(np.int32)
    found = []
    for threads in (1, 2, 3):
        engine, G = cpu_engine(threads), copied(F)
        work = engine.compute.row_loss(problem(G))
        stats = work.pull(G, Z)
        values = work.leaves(G, in_leaves(leaf_of_row, 5), None, LeafRule(0.2, 2.0, 0.1))
        engine.compute.add_leaves(G, values, 0.1, leaf_of_row)
        found.append([a.tobytes() for a in (stats, values.data, values.indices, *G.arrays[2:])])
    assert found[0] == found[1] == found[2]


def test_kernels_refuse_lists_that_are_none():
    rng = np.random.default_rng(9)
    for wrong in ("count", "class"):
        F = drawn(rng, 20, 30, 16)
        F.count[3] = 4 if wrong == "class" else 17
        F.classes[3, 0] = 30 if wrong == "class" else 1
        work = CPU.compute.row_loss(problem(F))
        with pytest.raises(ValueError, match="candidates"):
            work.pull(F, np.ones((30, 1), dtype=np.float32))
        with pytest.raises(ValueError, match="candidates"):
            CPU.compute.add_leaves(F, leaf_values(rng, 1, 30), 0.1, np.zeros(20, dtype=np.int32))


# ---- fits -----------------------------------------------------------------------------------------------------------


def table(K=60, n=1500, seed=0, noise=0.6):
    """Gaussian classes in eight dimensions; the second half of the rows is for tests."""
    rng = np.random.default_rng(seed)
    c = np.arange(2 * n) % K
    X = rng.normal(size=(K, 8))[c] + noise * rng.normal(size=(2 * n, 8))
    return X[:n], c[:n], X[n:], c[n:]


def model(**params):
    return sb.SimplexBoostClassifier(**{"n_estimators": 25, "random_state": 0, **params})


def test_all_candidates_are_exact_soft_max():
    """With a place for every class the two paths minimise the same risk, up to rounding and thin leaf values."""
    X, y, X_test, y_test = table()
    few, every = (model(optimizer=SketchedNewton(candidates=C)).fit(X, y) for C in (60, None))
    np.testing.assert_allclose(few.history_["risk"], every.history_["risk"], rtol=0.03)
    assert abs(few.score(X_test, y_test) - every.score(X_test, y_test)) < 0.02


def test_few_candidates_are_within_a_point():
    X, y, X_test, y_test = table(K=200, n=6000, noise=0.45)
    few, every = (model(optimizer=SketchedNewton(candidates=C), n_estimators=40).fit(X, y) for C in (32, None))
    assert few.score(X_test, y_test) > every.score(X_test, y_test) - 0.01
    assert few.parts().optimizer.candidates == 32


def test_rows_follow_the_model():
    """What a row keeps is what the model predicts for it: exactly, as long as no list was full."""
    X, y, *_ = table(K=30)
    clf = model(optimizer=SketchedNewton(candidates=29), callbacks=[kept := Kept()]).fit(X, y)
    np.testing.assert_allclose(kept.F.dense(), clf.model_.predictor(X)[kept.order], atol=1e-5)


class Kept(sb.boosting.Callback):
    def finish(self, run):
        self.F, self.order = run.F, np.arange(len(run.F)) if run.data.order is None else run.data.order


def bytes_of(clf):
    file = io.BytesIO()
    clf.save(file)
    return file.getvalue()


def test_same_bytes_for_threads_order_and_resuming():
    X, y, *_ = table(K=80)
    shuffled = np.random.default_rng(1).permutation(len(X))
    fits = [model(optimizer=SketchedNewton(candidates=16), n_jobs=jobs, n_estimators=12).fit(X, y) for jobs in (1, 2)]
    fits.append(model(optimizer=SketchedNewton(candidates=16), n_jobs=1, n_estimators=12).fit(X[shuffled], y[shuffled]))
    resumed = model(optimizer=SketchedNewton(candidates=16), n_jobs=1, n_estimators=5).fit(X, y)
    resumed = sb.load(io.BytesIO(bytes_of(resumed))).set_params(n_estimators=12, warm_start=True).fit(X, y)
    resumed.set_params(warm_start=False)
    fits.append(resumed)
    first = [[t.hypothesis.values.data.tobytes(), t.hypothesis.tree.nodes.tobytes()] for t in fits[0].model_.terms]
    for other in fits[1:]:
        terms = [[t.hypothesis.values.data.tobytes(), t.hypothesis.tree.nodes.tobytes()] for t in other.model_.terms]
        assert terms == first
        assert (other.history_["risk"] == fits[0].history_["risk"]).all()


def test_sampling_weights_and_other_losses():
    X, y, X_test, y_test = table(K=40)
    weight = np.random.default_rng(0).exponential(size=len(y)) + 0.1
    for params in ({"subsample": 0.5}, {"loss": "savage"}, {"loss": "softmax-cost"}, {"growth": "symmetric"}):
        few, every = (
            model(optimizer=SketchedNewton(candidates=C), **params).fit(X, y, sample_weight=weight) for C in (39, None)
        )
        assert few.score(X_test, y_test) > every.score(X_test, y_test) - 0.03
        assert few.history_["risk"][-1] == pytest.approx(every.history_["risk"][-1], rel=0.15)


def test_evaluated_rows():
    """The risk of evaluated rows is that of the model's predictions, as long as no list is full; metrics are too."""
    X, y, X_test, y_test = table(K=30)
    y_test = np.where(y_test == 3, 99, y_test)  # a class that is not trained on
    clf = model(optimizer=SketchedNewton(candidates=29)).fit(
        X, y, X_val=X_test, y_val=y_test, eval_metric=["accuracy", "log_loss"]
    )
    P, known = clf.predict_proba(X_test), y_test < 99
    risk = -np.log(P[known, y_test[known]]).mean()
    assert clf.evals_result_[0]["risk"][-1] == pytest.approx(risk, rel=1e-5)
    assert clf.evals_result_[0]["accuracy"][-1] == pytest.approx((P.argmax(axis=1) == y_test).mean())


def test_early_stopping_and_the_choice():
    X, y, X_test, y_test = table(K=30)
    stopped = model(optimizer=SketchedNewton(candidates=16), n_estimators=500, early_stopping=True).fit(X, y)
    assert stopped.n_iter_ < 500
    chosen = model(optimizer=SketchedNewton(candidates=16), n_estimators="auto").fit(X, y)
    assert chosen.choice_.n_held > 0 and chosen.n_iter_ == chosen.choice_.n_estimators
    exact = model(optimizer=SketchedNewton(candidates=None), n_estimators="auto").fit(X, y)
    assert chosen.score(X_test, y_test) > exact.score(X_test, y_test) - 0.03


def test_metrics_that_would_need_too_much_memory_are_refused(monkeypatch):
    X, y, *_ = table(K=30)
    monkeypatch.setattr("simplexboost.boosting.evaluation.check_memory", refuse)
    with pytest.raises(MemoryError, match="'accuracy' on 1500 rows of 30 classes"):
        model(optimizer=SketchedNewton(candidates=16)).fit(X, y, X_val=X, y_val=y, eval_metric="accuracy")
    model(optimizer=SketchedNewton(candidates=16), n_estimators=2).fit(
        X, y, X_val=X, y_val=y
    )  # the risk needs no such array


def refuse(needed, what, advice=""):
    raise MemoryError(what)


def test_what_does_not_go_with_candidates():
    X, y, *_ = table(K=30, n=300)
    wrong = {
        "codewords": {"codewords": "simplex"},
        "cost_matrix": {"loss": Logistic(cost_matrix=np.ones((30, 30)))},
        "monotonic_cst": {"monotonic_cst": {0: [1] + [0] * 7}},
    }
    for word, params in wrong.items():
        with pytest.raises(ValueError, match=f"candidates=16 does not go with .*{word}"):
            model(optimizer=SketchedNewton(candidates=16), **params).fit(X, y)
    with pytest.raises(ValueError, match="init_score"):
        model(optimizer=SketchedNewton(candidates=16)).fit(X, y, init_score=np.zeros((300, 30)))
    for number in (0, -1, 2.5, "many"):
        with pytest.raises((TypeError, ValueError), match="candidates"):
            model(optimizer=SketchedNewton(candidates=number)).fit(X, y)


# ---- thousands of classes -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """A fit of 1500 classes, for which "auto" would still keep all scores."""
    X, y, X_test, y_test = table(K=1500, n=6000, noise=0.1)
    return model(optimizer=SketchedNewton(candidates=16), n_estimators=8).fit(X, y), X_test, y_test


def test_codewords_take_no_memory(large):
    clf, *_ = large
    Y = clf.model_.Y
    assert Y.shape == (1500, 1500) and Y.base.base.nbytes < 20_000 and (Y == np.eye(1500)).all()
    assert len(pickle.dumps(clf)) < len(bytes_of(clf)) * 20


def test_copies_predict_the_same(large):
    clf, X_test, _ = large
    for again in (pickle.loads(pickle.dumps(clf)), sb.load(io.BytesIO(bytes_of(clf)))):
        assert (again.predict_proba(X_test[:50]) == clf.predict_proba(X_test[:50])).all()
        assert (again.model_.Y.strides == clf.model_.Y.strides) and again.get_params()["optimizer__candidates"] == 16


def test_predictions_in_blocks(large):
    clf, X_test, y_test = large
    P = clf.predict_proba(X_test[:2000])
    assert (clf.predict(X_test[:2000]) == clf.classes_[P.argmax(axis=1)]).all()
    labels, best = sb.decide.top_k(clf, X_test[:2000], 3)
    assert (labels[:, 0] == clf.predict(X_test[:2000])).all() and (best[:, 0] == P.max(axis=1)).all()
    assert clf.score(X_test, y_test) > 0.3


def test_auto():
    """32 candidates beyond 1024 classes and 10⁸ scores; everything that needs all scores keeps them."""
    clf = sb.SimplexBoostClassifier()

    def suited(K, n, **params):
        c = np.arange(n) % K
        data = sb.tables.training_set.TrainingSet(np.zeros((n, 1)), c, np.ones(n), K)
        clf.set_params(**params)
        return clf._suited_candidates(clf.parts(), data)

    assert suited(1000, 200_000) is None and suited(2000, 50_000) is None
    assert suited(2000, 50_001) == 32 and suited(1025, 100_000) == 32
    assert suited(2000, 100_000, loss=Logistic(cost_matrix=1)) is None
    assert suited(2000, 100_000, loss="logistic", codewords=MaxMin(8)) is None


def test_python_and_treelite(large):
    """Both read models without stored codewords."""
    treelite = pytest.importorskip("treelite")
    clf, X_test, _ = large
    P = clf.predict_proba(X_test[:20])
    alone = sb.export.standalone.load(io.BytesIO(bytes_of(clf)))
    np.testing.assert_allclose(alone.predict_proba(X_test[:20]), P, atol=1e-6)
    assert (alone.predict(X_test[:20]) == clf.predict(X_test[:20])).all()
    exported = sb.export.treelite(clf)
    np.testing.assert_allclose(treelite.gtil.predict(exported, X_test[:20])[:, 0], P, atol=1e-5)


def test_treelite_of_too_many_classes_is_refused(large, monkeypatch):
    monkeypatch.setattr("simplexboost.export.treelite_model.check_memory", refuse)
    with pytest.raises(MemoryError, match="the values of all 1500 classes"):
        sb.export.treelite(large[0])


def test_onnx(large):
    runtime = pytest.importorskip("onnxruntime")
    clf, X_test, _ = large
    session = runtime.InferenceSession(sb.export.onnx(clf).SerializeToString(), providers=["CPUExecutionProvider"])
    answers = session.run(None, {session.get_inputs()[0].name: X_test[:20]})
    assert any(np.shape(a) == (20, 1500) and np.allclose(a, clf.predict_proba(X_test[:20]), atol=1e-5) for a in answers)


def test_c(large, tmp_path):
    from test_export_c import Compiled

    clf, X_test, _ = large
    assert (clf.classes_[Compiled(clf, tmp_path).labels(X_test[:20])] == clf.predict(X_test[:20])).all()


@pytest.mark.node
def test_javascript(large, tmp_path):
    from test_export_javascript import as_json, check_same, node

    clf, X_test, _ = large
    check_same(clf, X_test[:5], node(tmp_path, clf, as_json(X_test[:5])))
