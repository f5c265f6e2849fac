"""The Dask classifiers as users meet them: parameters, predictions that stay lazy, and errors."""

import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_clusters import cut, mixed_table, pieces, saved, some_workers
from distributed import Client
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import simplexboost as sb
from simplexboost.distributed.dask import DaskBoostingClassifier, DaskSimplexBoostClassifier

CLASSES = [DaskSimplexBoostClassifier, DaskBoostingClassifier]


@pytest.fixture(scope="module")
def client():
    """A client of two workers that are threads of this process."""
    with some_workers(2, processes=False) as (_, client):
        yield client


@pytest.fixture(scope="module")
def frames():
    """A table in memory and as Dask DataFrames."""
    X, y, w = mixed_table(200)
    return (X, y, w), tuple(dd.from_pandas(table, npartitions=4) for table in (X, y, w))


@pytest.fixture(scope="module")
def fitted(client, frames):
    """A classifier fitted on Dask."""
    return DaskSimplexBoostClassifier(n_estimators=4, random_state=0).fit(*frames[1], client=client)


@pytest.fixture(scope="module")
def arrays():
    """Numbers of two classes, in memory and as Dask Arrays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] > 0).astype(int)
    return (X, y), (da.from_array(X, chunks=(40, 2)), da.from_array(y, chunks=40))


# ---- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_are_those_of_the_local_class(cls):
    """The same constructor; `fit` takes a client and nothing else more; the methods that predict take the same."""
    local = cls.local_class
    assert inspect.signature(cls) == inspect.signature(local)
    fit, theirs = (inspect.signature(c.fit).parameters for c in (cls, local))
    assert list(fit) == [*theirs, "client"]
    assert [fit[name].default for name in theirs] == [p.default for p in theirs.values()]
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "class_scores", "score"):
        assert list(inspect.signature(getattr(cls, method)).parameters) == list(
            inspect.signature(getattr(local, method)).parameters
        )


@pytest.mark.parametrize("cls", CLASSES)
def test_scikit_learn_conventions(cls):
    """Clones, parameters and a representation."""
    clf = cls(n_estimators=7)
    assert clone(clf).get_params() == clf.get_params()
    assert repr(clf) == f"{cls.__name__}(n_estimators=7)"
    with pytest.raises(NotFittedError):
        clf.to_local()
    with pytest.raises(TypeError, match="n_estimator"):
        cls(n_estimator=7)


def test_the_local_classifier(fitted, frames, tmp_path):
    """It is an ordinary one, knows nothing of Dask, and predicts the same from a file."""
    local = fitted.to_local()
    assert type(local) is sb.SimplexBoostClassifier
    expected = local.predict_proba(frames[0][0])
    assert b"dask" not in pickle.dumps(local)
    fitted.save(tmp_path / "model.sb")
    assert np.array_equal(sb.load(tmp_path / "model.sb").predict_proba(frames[0][0]), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(frames[0][0]), expected)
    fitted.check_savable()


def test_warm_start(client, arrays, tmp_path):
    """A model goes on as on one machine."""
    (X, y), (dX, dy) = arrays
    params = {"n_estimators": 2, "random_state": 0, "warm_start": True}
    local, clf = sb.SimplexBoostClassifier(**params).fit(X, y), DaskSimplexBoostClassifier(**params)
    clf.fit(dX, dy, client=client)
    local.set_params(n_estimators=4).fit(X, y)
    clf.set_params(n_estimators=4).fit(dX, dy, client=client)
    assert saved(clf, tmp_path) == saved(local, tmp_path)


def test_the_current_client_is_taken(client, arrays):
    """Without ``client`` the current one is used."""
    with client.as_current():
        assert DaskSimplexBoostClassifier(n_estimators=1).fit(*arrays[1]).n_iter_ == 1


# ---- predictions ----------------------------------------------------------------------------------------------------

METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "class_scores"]


@pytest.mark.parametrize("method", METHODS)
def test_predictions_for_frames(fitted, frames, method):
    """Frames with the index of X, lazily; those in memory are answered at once."""
    X, lazy = frames[0][0], getattr(fitted, method)(frames[1][0])
    expected = getattr(fitted.to_local(), method)(X)
    assert isinstance(lazy, dd.Series if method == "predict" else dd.DataFrame)
    assert lazy.divisions == frames[1][0].divisions
    computed = lazy.compute(scheduler="sync")
    assert np.array_equal(computed, expected)
    assert computed.index.equals(X.index)
    if method == "predict":
        assert computed.dtype == lazy.dtype
    else:
        assert list(lazy.columns) == list(computed.columns) == list(fitted.classes_)
    assert np.array_equal(getattr(fitted, method)(X), expected)


@pytest.mark.parametrize("method", METHODS)
def test_predictions_for_arrays(client, arrays, method):
    """Arrays in chunks of the same rows, whose shape and type are known beforehand."""
    (X, _), (dX, dy) = arrays
    clf = DaskBoostingClassifier(n_estimators=3, random_state=0).fit(dX, dy, client=client)
    lazy, expected = getattr(clf, method)(dX), getattr(clf.to_local(), method)(X)
    computed = lazy.compute(scheduler="sync")
    assert np.array_equal(computed, expected)
    assert lazy.shape == computed.shape
    assert lazy.dtype == computed.dtype
    assert lazy.chunks[0] == dX.chunks[0]
    first = getattr(sb.keep_rounds(clf, 1), method)(dX).compute(scheduler="sync")
    assert np.array_equal(first, getattr(sb.keep_rounds(clf.to_local(), 1), method)(X))


def test_predictions_for_delayed_partitions(fitted, frames):
    """A list of delayed arrays; empty partitions too."""
    X = frames[0][0]
    lazy = fitted.predict_proba(pieces(X, cut(len(X), 5)))
    computed = dask.compute(*lazy, scheduler="sync")
    assert len(computed) == 5
    assert len(computed[1]) == 0
    assert np.array_equal(np.concatenate(computed), fitted.to_local().predict_proba(X))


def test_empty_partitions_of_frames(fitted, frames):
    """They have predictions without rows."""
    empty = frames[1][0][frames[1][0]["size"] > 1e9]
    assert fitted.predict_proba(empty).compute(scheduler="sync").shape == (0, 4)
    assert fitted.predict(empty).compute(scheduler="sync").shape == (0,)


def test_predictions_with_scores_to_start_from(client, arrays):
    """``init_score`` is a collection like X."""
    (X, y), (dX, dy) = arrays
    start = np.linspace(-1, 1, len(y))
    clf = DaskSimplexBoostClassifier(n_estimators=3, random_state=0)
    clf.fit(dX, dy, init_score=da.from_array(start, chunks=40), client=client)
    expected = clf.to_local().predict_proba(X, init_score=start)
    lazy = clf.predict_proba(dX, init_score=da.from_array(start, chunks=40))
    assert np.array_equal(lazy.compute(scheduler="sync"), expected)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    begin = dd.from_pandas(pd.Series(start), npartitions=3)
    assert np.array_equal(clf.predict_proba(frame, init_score=begin).compute(scheduler="sync"), expected)
    with pytest.raises(TypeError, match="init_score must be a Dask Array"):
        clf.predict_proba(dX, init_score=start)


def test_score(fitted, frames):
    """The accuracy is lazy too, and a number where one is needed."""
    (X, y, w), (dX, dy, dw) = frames
    lazy = fitted.score(dX, dy)
    assert isinstance(lazy, da.Array)
    assert float(lazy) == fitted.score(X, y) == fitted.to_local().score(X, y)
    assert float(fitted.score(dX, dy, dw)) == pytest.approx(fitted.score(X, y, w), rel=1e-12)


def test_fits_that_overlap_leave_the_settings_of_dask_alone(client, frames):
    _, (dX, dy, _) = frames
    before = dask.config.get("scheduler", None)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(fit, dX, dy, client) for _ in range(8)]:
            done.result()
    assert dask.config.get("scheduler", None) == before


# ---- errors ---------------------------------------------------------------------------------------------------------


def fit(X, y, client, **more):
    """A small fit."""
    return DaskSimplexBoostClassifier(n_estimators=1).fit(X, y, client=client, **more)


def test_no_client(arrays):
    """Nor a closed one, nor something else."""
    with pytest.raises(ValueError, match="there is no Dask client"):
        fit(*arrays[1], None)
    with some_workers(0, processes=False) as (_, client):
        pass
    with pytest.raises(ValueError, match="the Dask client is closed"):
        fit(*arrays[1], client)
    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client or None, not a str"):
        fit(*arrays[1], "tcp://127.0.0.1:8786")
    assert isinstance(client, Client)


def test_tables_in_memory(client, arrays):
    """The message names the local class and how to make a Dask collection."""
    with pytest.raises(TypeError, match=r"X is a ndarray.*use SimplexBoostClassifier.*from_pandas"):
        fit(*arrays[0], client)
    with pytest.raises(TypeError, match="y is a ndarray"):
        fit(arrays[1][0], arrays[0][1], client)
    with pytest.raises(TypeError, match=r"X_val is a ndarray"):
        fit(*arrays[1], client, X_val=arrays[0][0], y_val=arrays[0][1])
    with pytest.raises(TypeError, match=r"y_val\[1\] is a ndarray"):
        fit(*arrays[1], client, X_val=(arrays[1][0],) * 2, y_val=(arrays[1][1], arrays[0][1]))


def test_partitions_that_do_not_match(client, arrays, frames):
    """Other numbers of partitions, other chunks, other divisions, other lengths."""
    (X, y), (dX, dy) = arrays
    with pytest.raises(ValueError, match="X has 3 partitions, but y has 9"):
        fit(dX, dy.rechunk(10), client)
    with pytest.raises(ValueError, match=r"y has chunks of other rows than X: \(30, 30, 30\) rows, not \(40, 40, 10\)"):
        fit(dX, dy.rechunk(30), client)
    with pytest.raises(ValueError, match=r"y has other divisions than X: .*repartition\(divisions=X.divisions\)"):
        fit(frames[1][0], frames[1][1].repartition(divisions=[0, 10, 20, 30, 199]), client)
    slices = cut(90, 3)
    with pytest.raises(ValueError, match=r"partition 2 of X has .* rows, but that of y has"):
        fit(pieces(X, slices), [*pieces(y, slices)[:2], dask.delayed(y[:1])], client)


def test_partitions_with_other_columns_or_types(client, frames):
    """The message names the partition and the column."""
    X, y, _ = frames[0]
    slices = [slice(0, 100), slice(100, 200)]
    with pytest.raises(ValueError, match=r"(?s)partition 1 .*'width'"):
        fit([dask.delayed(X[:100]), dask.delayed(X[100:].rename(columns={"size": "width"}))], pieces(y, slices), client)
    with pytest.raises(ValueError, match=r"(?s)'size' holds .* in partition 0, but .* in partition 1"):
        fit([dask.delayed(X[:100]), dask.delayed(X[100:].astype({"size": str}))], pieces(y, slices), client)


def test_labels_of_other_types(client, arrays):
    """Labels that differ between partitions."""
    (X, y), _ = arrays
    with pytest.raises((TypeError, ValueError), match="y"):
        fit(pieces(X, [slice(0, 45), slice(45, 90)]), [dask.delayed(y[:45]), dask.delayed(y[45:].astype(str))], client)


def test_wrong_parameters_are_found_before_anything_is_computed(client):
    """No partition is made for a fit that cannot begin."""
    X, y = [dask.delayed(None)], [dask.delayed(None)]
    with pytest.raises(ValueError, match="n_estimators"):
        DaskSimplexBoostClassifier(n_estimators=0).fit(X, y, client=client)
    with pytest.raises(ValueError, match="eval_metric has no rows"):
        fit(X, y, client, eval_metric="error")
    with pytest.raises(ValueError, match="X_val is given without y_val"):
        fit(X, y, client, X_val=X)


def test_a_failed_fit_leaves_the_classifier_as_it_was(client, arrays):
    """All or nothing."""
    clf = DaskSimplexBoostClassifier(n_estimators=1, random_state=0).fit(*arrays[1], client=client)
    before = dict(vars(clf))
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(arrays[1][0] * np.inf, arrays[1][1], client=client)
    assert vars(clf) == before
