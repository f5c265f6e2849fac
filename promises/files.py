"""Model files: whatever a file holds, reading it gives a model that works or the one error that is documented."""

from __future__ import annotations

import io
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost import decide

from .generated import judging
from .mutations import FOLDER, mutant
from .promise import promise

BATCH = 100  # files in a case
ROOM = 96 * 2**20  # bytes that reading and using a small file may take beyond what the process has
SECONDS = 1.0  # of the processor, for reading a file and predicting with it
SELF = Path("/proc/self")
MOST_FEATURES = 1000  # beyond, the table to predict would be what takes the memory


@promise(
    "A changed model file, its checksums made right, is refused by ModelFileError or gives a model that works: finite "
    "scores, rows of probabilities that sum to one, and a file of its own; within a second and without more memory "
    "than the file can honestly ask for.",
    fast=2,
    soak=1000,
    each=BATCH,
)
def changed_files_are_refused_or_work(case: int) -> None:
    """A case is a batch of 100 files."""
    warm_up()
    for seed in range(BATCH * case, BATCH * (case + 1)):
        told, data = mutant(seed)
        with little_memory(), told_of(f"file {seed} ({told})"):
            begin = time.process_time()
            accepted = use(data)
            spent = time.process_time() - begin
            assert spent < SECONDS, f"{'accepted' if accepted else 'refused'} after {spent:.1f} s"


def warm_up() -> None:
    """Let the process have what it takes once and keeps, which does not count as memory of a file.

    That is what is imported at the first use, and the buffer of 32 MiB that OpenBLAS takes at the first matrix product:
    a process that does not get it is ended by OpenBLAS, with status 1.
    """
    sb.load(FOLDER / "v2-categories.sb")
    A = np.ones((500, 500))  # small products need no buffer
    np.matmul(A, A)


@contextmanager
def told_of(what: str) -> Iterator[None]:
    """Any error says which file it is about."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@contextmanager
def little_memory(room: int = ROOM) -> Iterator[None]:
    """The process gets no more than so many bytes of memory inside; what wants more gets a MemoryError."""
    if "libasan" in SELF.joinpath("maps").read_text():  # the address sanitizer has mapped everything in advance
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(SELF.joinpath("statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def use(data: bytes) -> bool:
    """Load a file and do with the model what one does; whether it was accepted. Raises where it does not work."""
    try:
        clf = sb.load(io.BytesIO(data))
    except sb.ModelFileError:
        return False
    if getattr(clf, "n_jobs", None) is not None:
        clf.n_jobs = 1  # to start processes is what takes long, and is asked for
    if clf.n_features_in_ <= MOST_FEATURES:
        check_predictions(clf)
    check_copy(clf)
    return True


def check_predictions(clf: Any) -> None:
    """Every kind of prediction, for rows that the model takes, and what it has for further questions."""
    X = some_rows(clf)
    judging.check_predictions(clf, X, X.shape[0])
    if getattr(clf, "set_scores_", None) is not None:
        S = decide.predict_sets(clf, X)
        assert S.shape == (X.shape[0], len(clf.classes_)), f"sets of shape {S.shape}"
        assert S[:, clf._present].any(axis=1).all(), "sets of no class"
    if getattr(clf, "class_prior_", None) is not None:
        prior = decide.estimate_prior(clf, X)
        assert np.isclose(prior.sum(), 1.0) and (prior >= 0).all(), "shares that do not sum to one"
    if getattr(clf, "hierarchy_", None) is not None:
        P = decide.predict_proba_level(clf, X, 1)
        assert np.allclose(P.sum(axis=1), 1.0, atol=1e-6), "probabilities of a level that do not sum to one"
    if hasattr(clf, "feature_importances_"):
        assert np.isfinite(clf.feature_importances_).all(), "importances that are not finite"


def some_rows(clf: Any) -> Any:
    """Rows that the model takes: ordinary numbers, extremes, and missing values where it takes them."""
    p = clf.n_features_in_
    X = np.random.default_rng(0).normal(3.0, 3.0, size=(12, p))
    X[0] = 0.0
    if isinstance(clf, sb.MulticlassSVC):  # of large numbers, powers are too large for a machine that is sound
        vectors = getattr(clf, "support_vectors_", X)
        return vectors[:12] if vectors.shape[0] else X
    X[1], X[2], X[3] = np.nan, 1e6, -1e6
    categories = getattr(clf, "categories_", None)
    if categories is None:
        return X
    table = X.astype(object)
    for j, values in enumerate(categories.columns):
        if values is not None:
            known = [*values.tolist()[:3], None]
            table[:, j] = [known[i % len(known)] for i in range(len(table))]
    return framed(table, clf)


def framed(table: Any, clf: Any) -> Any:
    """A table with the names of the model's columns, if they have some."""
    import pandas as pd

    names = getattr(clf, "feature_names_in_", None)
    return pd.DataFrame(table, columns=names).infer_objects() if names is not None else table


def check_copy(clf: Any) -> None:
    """What was loaded can be shown and saved, and is read again."""
    repr(clf)
    stream = io.BytesIO()
    clf.save(stream)
    stream.seek(0)
    again = sb.load(stream)
    assert again.n_features_in_ == clf.n_features_in_
    assert len(again.classes_) == len(clf.classes_)
