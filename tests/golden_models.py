"""Fits many small models and keeps hashes of their files, so that a change of the code that changes a model is seen.

``tests/golden/models.txt`` has a line for every configuration, with five hashes (the first 16 digits of SHA-256):

* ``header``: the names, texts, truth values and parameters in the file's header, and the names and types of its arrays,
* ``facts``: the numbers in the header outside the parameters, sorted, such as the seed and the held-out risks,
* ``arrays``: the numbers of the model, without the names and the order of the arrays,
* ``answers``: predictions for fixed rows,
* ``structure``: the integers among the facts and the arrays, such as the splits of the trees, and the labels predicted.

So a new name of a class, a parameter or an array changes ``header`` only, and another format of the file changes all
but ``answers``. Left out are what may differ between equal models: the version of the package, the checksums (the
arrays are hashed themselves) and the compression of the zip, which depends on the version of zlib.

The tables are made by integer arithmetic, so that no version of NumPy makes other ones. The last digits of floats
depend on the processor (the flagship's loss, exponentials of NumPy, products of BLAS), so all libraries are told to use
what every x86-64 processor has (`pins`). They also depend on the versions of libraries, which the first line of the
file names: with others, on other systems, and with ``--native``, which leaves the choice of instructions to the
libraries, only ``header`` and ``structure`` are compared.

``python tests/golden_models.py`` compares; ``--renew NAME ...`` renews the hashes of these names (patterns such as
``'flagship-*'`` are accepted, and names that are gone are removed), with ``--only header`` those of which nothing but
the header has changed; ``--keep FOLDER`` writes the model files there, to compare them with those of another version.
`test_golden_models` runs it.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from twin import reference_engine
from twin.shards import sharded_engine

import simplexboost as sb
from simplexboost import decide
from simplexboost.engine import Engine, cuda_engine
from simplexboost.parts.codewords import Auto
from simplexboost.parts.losses import Logistic
from simplexboost.parts.optimizers import SketchedNewton

KEPT = Path(__file__).parent / "golden" / "models.txt"
COLUMNS = ("header", "facts", "arrays", "answers", "structure")
ALWAYS = ("header", "structure")  # what does not depend on the processor and on versions


# ---- hashes ---------------------------------------------------------------------------------------------------------


def digest(*pieces: bytes) -> str:
    """The first digits of a SHA-256."""
    return hashlib.sha256(b"\0".join(pieces)).hexdigest()[:16]


def raw(values: Any) -> bytes:
    """An array as bytes: its type, its shape and its entries."""
    values = np.asarray(values)
    if values.dtype.kind in "OUS":  # text
        return json.dumps(values.astype(str).tolist()).encode()
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return f"{little.dtype.str} {values.shape} ".encode() + little.tobytes()


def hashes(file: bytes, told: dict[str, Any]) -> dict[str, str]:
    """The hashes of what ``save`` wrote, which is read without the package, and of predictions."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        header = json.loads(archive.read("header.json"))
        about = header["arrays"]
        arrays = [
            np.frombuffer(archive.read(name), what["dtype"]).reshape(what["shape"]) for name, what in about.items()
        ]
    del header["written_by"]
    header["arrays"] = {name: f"{what['dtype']}, {len(what['shape'])} axes" for name, what in about.items()}
    facts: list[Any] = []
    names = without_numbers(header, facts)
    integers = [array for array in arrays if array.dtype.kind in "iu"]
    whole = [fact for fact in facts if isinstance(fact, int)]
    return {
        "header": digest(json.dumps(names).encode()),
        "facts": digest(json.dumps(sorted(map(repr, facts))).encode()),
        "arrays": digest(*sorted(map(raw, arrays))),
        "answers": digest(*(name.encode() + b" " + raw(one) for name, one in listed(told))),
        "structure": digest(json.dumps(sorted(whole)).encode(), raw(told["predict"]), *sorted(map(raw, integers))),
    }


def listed(told: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """All arrays of named answers, of which some are lists of arrays."""
    for name, answer in told.items():
        for one in answer if isinstance(answer, list) else [answer]:
            yield name, one


def without_numbers(value: Any, found: list[Any], key: str = "") -> Any:
    """A header in which types stand for numbers, which are collected; those of parameters stay."""
    if key in ("parameters", "version"):
        return value
    if isinstance(value, dict):
        if set(value) == {"int"}:  # a large one, as text
            found.append(int(value["int"]))
            return "int"
        return {name: without_numbers(inner, found, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_numbers(inner, found, key) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        found.append(value)
        return type(value).__name__
    return value


# ---- the machine ----------------------------------------------------------------------------------------------------


def pins() -> dict[str, str]:
    """Variables that let libraries compute as on the oldest processor; empty where there is no telling them."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return {}
    try:
        from numpy._core import _multiarray_umath as umath
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as umath
    newer = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    return {
        "SIMPLEXBOOST_ISA": "baseline",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": " ".join(newer),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512DQ",
    }


def platform_line() -> str:
    """The system, and the versions of what computes floats."""
    packages = " ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{sys.platform} {platform.machine()} {' '.join(platform.libc_ver())} {packages}"


# ---- tables ---------------------------------------------------------------------------------------------------------


class Table(SimpleNamespace):
    """X and y to fit, weights that suit them, and rows to predict."""


def uniform(*shape: int, seed: int) -> np.ndarray:
    """Numbers in [0, 1) by the generator splitmix64."""
    z = np.arange(1, np.prod(shape) + 1, dtype=np.uint64) + np.uint64(seed << 32)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).reshape(shape) * 2.0**-53


def numbers(n: int = 200, p: int = 5, K: int = 4, spread: float = 4.0, seed: int = 1) -> Table:
    """Classes around random centres, with noise of four uniform numbers; no two values are equal."""
    centres = spread * uniform(K, p, seed=seed)

    def draw(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        c = np.argsort(uniform(n_rows, seed=seed)) % K
        return centres[c] + uniform(4, n_rows, p, seed=seed + 1).sum(axis=0) - 2, c

    X, y = draw(n, 10 * seed)
    return Table(X=X, y=y, weight=0.5 + uniform(n, seed=10 * seed + 2), rows=draw(40, 10 * seed + 5)[0])


def missing(**more: Any) -> Table:
    """A tenth of the values is missing."""
    table = numbers(**more)
    table.X[uniform(*table.X.shape, seed=3) < 0.1] = np.nan
    table.rows[uniform(*table.rows.shape, seed=4) < 0.1] = np.nan
    return table


def categories(**more: Any) -> Table:
    """The last column holds categories, and the last row to predict one that is unknown."""
    table = missing(**more)
    for X in (table.X, table.rows):
        X[:, -1] = np.floor(2 * np.nan_to_num(X[:, -1])) + 4
    table.rows[-1, -1] = 60
    return table


def frame() -> Table:
    """A data frame with numbers, holes, text and categories, and labels that are text."""
    import pandas as pd

    table = missing()

    def framed(X: np.ndarray) -> pd.DataFrame:
        kinds = np.floor(np.nan_to_num(X)).astype(int) % 5
        colour = np.array(["red", "green", "blue", "grey", None], dtype=object)[kinds[:, 3]]
        return pd.DataFrame(
            {
                "size": X[:, 0],
                "holes": X[:, 1],
                "colour": pd.Series(colour, dtype=object),
                "code": pd.Categorical(2 * kinds[:, 4] + 1),
            }
        )

    names = np.array(["ash", "birch", "cedar", "fir"])
    return Table(X=framed(table.X), y=names[table.y], weight=table.weight, rows=framed(table.rows))


def sparse(**more: Any) -> Table:
    """A sparse table, most of whose values are zero."""
    table = numbers(**more)
    for name, seed in (("X", 5), ("rows", 6)):
        X = getattr(table, name)
        setattr(table, name, csr_array(np.where(uniform(*X.shape, seed=seed) < 0.4, X, 0.0)))
    return table


def labels(**more: Any) -> Table:
    """Three labels, of which a row may have any."""
    table = numbers(**more)
    table.y = np.stack([table.y == 0, table.y >= 2, table.X[:, 0] > 2], axis=1).astype(int)
    return table


def targets() -> Table:
    """Three targets: text, numbers, and one of a single class."""
    table, y = numbers(), np.empty((200, 3), dtype=object)
    y[:, 0], y[:, 1] = np.array(["a", "b", "c", "d"])[table.y], (table.X[:, 0] > 2).astype(int)
    y[:, 2] = "same"
    table.y = y
    return table


def many_classes() -> Table:
    """Forty classes, with which leaves are sparse."""
    return numbers(480, 6, 40, spread=12.0)


def two_classes() -> Table:
    """Two classes that overlap."""
    return numbers(200, 4, 2, spread=1.0)


# ---- classifiers: the only place that knows their names and parameters ----------------------------------------------


def flagship(**parameters: Any) -> Any:
    """The flagship with few rounds."""
    return sb.SimplexBoostClassifier(**{"n_estimators": 6, "random_state": 0, "n_jobs": 1, **parameters})


def automatic(**parameters: Any) -> Any:
    """The flagship that chooses; the large learning rate makes that quick."""
    return flagship(**{"n_estimators": "auto", "learning_rate": 1.0, **parameters})


def named(kind: str, **parameters: Any) -> Any:
    """A booster by its name, with few rounds."""
    given = {"random_state": 0, "n_jobs": 1, **parameters}
    if kind != "MartiBoost":
        given.setdefault("n_estimators", 5)
    return getattr(sb, kind + "Classifier")(**given)


def composed(loss: Any, codewords: Any, learner: Any, optimizer: Any, step: Any, **parameters: Any) -> Any:
    """A booster of five parts."""
    given = {"n_estimators": 4, "random_state": 0, "n_jobs": 1, **parameters}
    return sb.BoostingClassifier(loss, codewords, learner, optimizer, step, **given)


def svm(**parameters: Any) -> Any:
    """The machine."""
    return sb.MulticlassSVC(random_state=0, n_jobs=1, **parameters)


def output_code(estimator: Any, **parameters: Any) -> Any:
    """An output code around a binary classifier."""
    return sb.OutputCodeClassifier(estimator, random_state=0, n_jobs=1, **parameters)


def file_of(clf: Any) -> bytes:
    """What ``save`` writes."""
    stream = io.BytesIO()
    clf.save(stream)
    return stream.getvalue()


def fit(clf: Any, table: Table, *weight: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """The fitted classifier, and what it predicts."""
    clf.fit(table.X, table.y, *weight, **more)
    return clf, answers(clf, table.rows)


def answers(clf: Any, rows: Any, **more: Any) -> dict[str, Any]:
    """What a classifier predicts for rows, by whatever methods it has, and more answers."""
    names = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(clf, name)]
    return {name: getattr(clf, name)(rows) for name in names} | more


@contextmanager
def on_engine(engine: Engine) -> Iterator[None]:
    """Let boosters compute on this engine."""
    from simplexboost.classifiers.prediction import AdditiveClassifier

    with patch.object(AdditiveClassifier, "_engine", lambda self, n_rows=None: engine):
        yield


@contextmanager
def on_emulated_gpu() -> Iterator[None]:
    """Let ``device="cuda"`` mean the GPU engine with kernels that are compiled for the processor."""
    from cuda_emulator import EmulatedDevice

    engine = cuda_engine(1, EmulatedDevice())
    with (
        patch("simplexboost.classifiers.booster.check_gpu", lambda: None),
        patch("simplexboost.classifiers.prediction.has_gpu", lambda: True),
        patch("simplexboost.classifiers.prediction.cuda_engine", lambda n_threads: engine),
    ):
        yield


def under(context: Any, *arguments: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """`fit` in a context."""
    with context:
        return fit(*arguments, **more)


def on_dask(kind: str, table: Table, **parameters: Any) -> tuple[Any, dict[str, Any]]:
    """A fit to five partitions, of which one is empty, on two workers of this process."""
    from dask_clusters import pieces, some_workers

    import simplexboost.distributed.dask

    cuts = [0, 30, 30, 95, 160, len(table.y)]
    slices = [slice(a, b) for a, b in pairwise(cuts)]
    clf = getattr(simplexboost.distributed.dask, kind)(random_state=0, **parameters)
    with some_workers(2, processes=False) as (_, client):
        clf.fit(*(pieces(part, slices) for part in (table.X, table.y, table.weight)), client=client)
    local = clf.to_local()
    return local, answers(local, table.rows)


# ---- configurations -------------------------------------------------------------------------------------------------


def weighted(clf: Any, table: Table) -> tuple[Any, dict[str, Any]]:
    """A fit with weights."""
    return fit(clf, table, table.weight)


def warm_start() -> tuple[Any, dict[str, Any]]:
    """Three rounds, and then three more."""
    clf = flagship(n_estimators=3, subsample=0.7, warm_start=True)
    fit(clf, numbers())
    return fit(clf.set_params(n_estimators=6), numbers())


def init_score() -> tuple[Any, dict[str, Any]]:
    """Boosting that starts from scores."""
    start = np.round(uniform(200, 4, seed=7), 3)
    clf = flagship().fit(*vars_of(numbers(), "X", "y"), init_score=start)
    rows = numbers().rows
    return clf, answers(clf, rows, started=clf.predict_proba(rows, init_score=start[:40]))


def add_classes() -> tuple[Any, dict[str, Any]]:
    """A class that comes later."""
    table = numbers()
    old = table.y < 3
    clf = sb.add_classes(flagship().fit(table.X[old], table.y[old]), table.X, table.y, n_rounds=2)
    return clf, answers(clf, table.rows)


def drop_classes() -> tuple[Any, dict[str, Any]]:
    """A class that goes."""
    clf = sb.drop_classes(fit(flagship(), numbers())[0], 2)
    return clf, answers(clf, numbers().rows)


def merge_classes() -> tuple[Any, dict[str, Any]]:
    """Two classes that become one."""
    clf = sb.merge_classes(fit(flagship(), numbers())[0], {7: [0, 3]})
    return clf, answers(clf, numbers().rows)


def conformal_sets() -> tuple[Any, dict[str, Any]]:
    """Sets of classes, calibrated by fresh rows."""
    table, fresh = numbers(), numbers(seed=2)
    clf = decide.calibrate_sets(fit(flagship(), table)[0], fresh.X, table.y, fresh.weight)
    some = {f"{per}": decide.predict_sets(clf, table.rows, 0.8, per_class=per) for per in (False, True)}
    return clf, answers(clf, table.rows, **some)


def chosen_sets() -> tuple[Any, dict[str, Any]]:
    """A choice, and the sets, costs and priors on top of it."""
    table = categories(n=240)
    clf, told = fit(automatic(categorical_features=[4]), table)
    costs = np.array([[0, 1, 2, 3], [1, 0, 4, 1], [5, 1, 0, 1], [1, 2, 1, 0.0]])
    more = {
        "sets": decide.predict_sets(clf, table.rows, 0.8),
        "abstaining": decide.predict_or_abstain(clf, table.rows, 0.7, missing=-1),
        "costs": decide.expected_costs(clf, table.rows, costs),
        "cheapest": decide.predict(clf, table.rows, costs=costs),
        "prior": decide.predict_proba(clf, table.rows, prior=[0.1, 0.2, 0.3, 0.4]),
    }
    return clf, told | more


def hierarchy(**parameters: Any) -> tuple[Any, dict[str, Any]]:
    """A tree of classes, with predictions of its levels."""
    tree = sb.Hierarchy({"trees": {"needles": ["cedar", "fir"], "leaves": ["ash"]}, "birch": None})
    table = frame()
    clf, told = fit(flagship(classes=tree, **parameters), table)
    return clf, told | {
        "level": decide.predict_level(clf, table.rows, 1),
        "levels": decide.predict_proba_level(clf, table.rows, 1),
    }


def explained() -> tuple[Any, dict[str, Any]]:
    """What explains a model."""
    table = categories()
    clf, told = fit(flagship(categorical_features=[4]), table)
    more = {
        "leaves": clf.apply(table.rows),
        "shap": sb.explain.shap_values(clf, table.rows),
        "importances": clf.feature_importances_,
        "stages": list(clf.staged_predict_proba(table.rows)),
    }
    return clf, told | more


def grouped() -> tuple[Any, dict[str, Any]]:
    """A choice on folds that keep groups of rows together."""
    return fit(automatic(), missing(n=240), groups=np.arange(240) // 6)


def vars_of(table: Table, *names: str) -> list[Any]:
    """Parts of a table."""
    return [getattr(table, name) for name in names]


def evaluated(clf: Any) -> tuple[Any, dict[str, Any]]:
    """A fit with two evaluated tables, by several metrics."""
    first, second = numbers(seed=2), numbers(seed=3)
    sets = {"X_val": (first.X, second.X), "y_val": (first.y, second.y), "sample_weight_val": (None, second.weight)}
    return fit(clf, numbers(), **sets, eval_metric=["log_loss", "accuracy"])


COST = np.array([[0.0, 2.0, 0.5, 1.0], [1.0, 0.0, 3.0, 0.0], [0.25, 4.0, 0.0, 1.0], [1.0, 1.0, 2.0, 0.0]])
CODE = np.array([[1.0, 0.0, 0.5], [-0.5, 0.75, 0.0], [-0.5, -0.75, 0.25], [0.0, 0.5, -1.0]])
BY_CLASS = {1: [1, 0, 0, 0, 0], 2: [0, -1, 0, 0, 0]}

Made = Callable[[], tuple[Any, dict[str, Any]]]
CONFIGURATIONS: dict[str, Made] = {
    # The flagship: tables.
    "flagship": lambda: fit(flagship(), numbers()),
    "flagship-missing": lambda: fit(flagship(), missing()),
    "flagship-categories": lambda: fit(flagship(categorical_features=[4]), categories()),
    "flagship-frame": lambda: weighted(flagship(), frame()),
    "flagship-sparse": lambda: fit(flagship(), sparse()),
    "flagship-weights": lambda: weighted(flagship(), numbers()),
    "flagship-class-weights": lambda: fit(flagship(class_weight="balanced", classes=[0, 1, 2, 3, 9]), numbers(n=203)),
    "flagship-two-classes": lambda: fit(flagship(), two_classes()),
    "flagship-one-class": lambda: fit(flagship(classes=[0, 1]), numbers(K=1)),
    "flagship-many-classes": lambda: fit(flagship(n_estimators=3), many_classes()),
    "flagship-candidates": lambda: fit(
        flagship(n_estimators=3, optimizer=SketchedNewton(candidates=16)), many_classes()
    ),
    "flagship-labels": lambda: fit(flagship(), labels()),
    "flagship-labels-f1": lambda: fit(flagship(thresholds="f1", learning_rate=1.0), labels()),
    "flagship-targets": lambda: fit(flagship(), targets()),
    "flagship-ordinal": lambda: fit(flagship(classes=sb.Ordinal([3, 1, 0, 2])), numbers()),
    "flagship-hierarchy": hierarchy,
    "flagship-hierarchy-code": lambda: hierarchy(codewords="hierarchy"),
    # The flagship: parameters.
    "flagship-symmetric": lambda: fit(flagship(growth="symmetric", gain_noise=1.0, max_leaf_nodes=16), missing()),
    "flagship-level": lambda: fit(flagship(growth="level", max_depth=3, gain_noise=0.5), missing()),
    "flagship-subsample": lambda: weighted(flagship(subsample=0.7, max_features=0.6), missing()),
    "flagship-few-bins": lambda: fit(flagship(max_bins=7, min_samples_leaf=4, l2_regularization=0.5), missing()),
    "flagship-sketch": lambda: fit(flagship(optimizer=SketchedNewton(sketch=3, max_step=None)), numbers()),
    "flagship-few-dimensions": lambda: fit(flagship(codewords=Auto(2)), numbers()),
    "flagship-simplex": lambda: fit(flagship(codewords="simplex"), numbers()),
    "flagship-custom-code": lambda: fit(flagship(codewords=CODE), numbers()),
    "flagship-savage": lambda: fit(flagship(loss="savage"), numbers()),
    "flagship-softmax-cost": lambda: fit(flagship(loss="softmax-cost"), numbers()),
    "flagship-costs": lambda: fit(flagship(loss=Logistic(cost_matrix=COST)), numbers()),
    "flagship-monotonic": lambda: fit(flagship(monotonic_cst=BY_CLASS), numbers()),
    "flagship-monotonic-two": lambda: fit(flagship(monotonic_cst=[1, 0, -1, 0]), two_classes()),
    "flagship-interactions": lambda: fit(flagship(interaction_cst=[{0, 1}, {2, 3, 4}]), numbers()),
    "flagship-no-interactions": lambda: fit(flagship(interaction_cst="no_interactions"), numbers()),
    "flagship-calibration": lambda: fit(flagship(calibration=True), numbers()),
    "flagship-temperature": lambda: fit(flagship(calibration=0.75), numbers()),
    "flagship-threads": lambda: fit(flagship(n_jobs=2), numbers()),
    # The flagship: the flow of a fit.
    "flagship-early-stopping": lambda: fit(flagship(n_estimators=60, learning_rate=1.0, early_stopping=3), numbers()),
    "flagship-evaluated": lambda: evaluated(flagship()),
    "flagship-evaluated-stopping": lambda: evaluated(flagship(n_estimators=60, learning_rate=1.0, early_stopping=3)),
    "flagship-warm-start": warm_start,
    "flagship-init-score": init_score,
    "flagship-add-classes": add_classes,
    "flagship-drop-classes": drop_classes,
    "flagship-merge-classes": merge_classes,
    "flagship-sets": conformal_sets,
    "flagship-explained": explained,
    "automatic": lambda: fit(automatic(), numbers()),
    "automatic-threads": lambda: fit(automatic(n_jobs=2), numbers()),
    "automatic-categories": chosen_sets,
    "automatic-frame": lambda: weighted(automatic(), frame()),
    "automatic-groups": grouped,
    "automatic-labels": lambda: fit(automatic(thresholds="f1"), labels()),
    "automatic-two-classes": lambda: fit(automatic(), two_classes()),
    "automatic-ordinal": lambda: fit(automatic(classes=sb.Ordinal()), numbers()),
    # The flagship: other engines.
    "flagship-twin": lambda: under(on_engine(reference_engine()), flagship(n_estimators=3), missing()),
    "flagship-shards": lambda: under(on_engine(sharded_engine(cuts=(37, 90, 90))), flagship(), missing()),
    "flagship-gpu": lambda: under(on_emulated_gpu(), flagship(device="cuda", max_leaf_nodes=7), missing()),
    "flagship-gpu-categories": lambda: under(
        on_emulated_gpu(),
        flagship(device="cuda", growth="symmetric", max_depth=3, loss="savage", categorical_features=[4]),
        categories(),
    ),
    "flagship-dask": lambda: on_dask("DaskSimplexBoostClassifier", frame(), n_estimators=6, n_jobs=1),
    # The named boosters.
    "one-vs-all": lambda: fit(named("OneVsAllBoost"), numbers()),
    "m1": lambda: fit(named("AdaBoostM1", learner="info-tree"), numbers()),
    "samme": lambda: fit(named("SAMME"), numbers()),
    "m2": lambda: fit(named("AdaBoostM2"), numbers()),
    "mh": lambda: fit(named("AdaBoostMH"), numbers()),
    "mm": lambda: fit(named("AdaBoostMM"), numbers()),
    "os-boost": lambda: fit(named("OSBoost"), numbers()),
    "ecc": lambda: fit(named("AdaBoostECC"), numbers()),
    "logit-boost": lambda: fit(named("LogitBoost"), numbers()),
    "marti-boost": lambda: fit(named("MartiBoost", n_layers=4), two_classes()),
    "softmax-boost": lambda: fit(named("SoftmaxBoost"), numbers()),
    "cd-mc-boost": lambda: fit(named("CDMCBoost"), numbers()),
    "gd-mc-boost": lambda: fit(named("GDMCBoost"), numbers()),
    "samme-weights": lambda: weighted(named("SAMME", learning_rate=0.5), frame()),
    "samme-missing": lambda: fit(named("SAMME"), missing()),
    "samme-twin": lambda: under(on_engine(reference_engine()), named("SAMME"), missing()),
    "samme-gpu": lambda: under(on_emulated_gpu(), named("SAMME", device="cuda"), missing()),
    "m2-separate": lambda: weighted(named("AdaBoostM2", learner_mode="separate", n_estimators=3), missing()),
    "mh-labels": lambda: fit(named("AdaBoostMH"), labels()),
    "mh-stopping": lambda: evaluated(named("AdaBoostMH", n_estimators=40, early_stopping=2)),
    "mm-costs": lambda: fit(named("AdaBoostMM", cost_matrix=COST), numbers()),
    "mm-closed-form": lambda: weighted(named("AdaBoostMM", step="closed-form"), sparse()),
    "os-boost-minimal": lambda: fit(named("OSBoost", condition="minimal", loss="zero-one", edge=0.4), numbers()),
    "marti-boost-sampled": lambda: fit(named("MartiBoost", n_layers=4, routing="sampled"), two_classes()),
    "gd-mc-boost-weights": lambda: weighted(named("GDMCBoost", subsample=0.7), categories()),
    "gd-mc-boost-shards": lambda: under(on_engine(sharded_engine(cuts=(37, 90, 90))), named("GDMCBoost"), missing()),
    # Losses × codewords × learners × optimizers × steps.
    "logistic+simplex+vector+gradient+search": lambda: fit(
        composed("logistic", "simplex", "vector-tree", "gradient", "line-search"), numbers()
    ),
    "logistic+canonical+newton+newton+fixed": lambda: weighted(
        composed("logistic", "canonical", "newton-tree", "newton", "fixed", learning_rate=0.3), missing()
    ),
    "logistic+one-vs-all+stump+coordinate+search": lambda: fit(
        composed("logistic", "one-vs-all", "stump", "coordinate", "line-search"), numbers()
    ),
    "exponential+all-pairs+sign+coordinate+search": lambda: fit(
        composed("exponential", "all-pairs", "sign-tree", "coordinate", "line-search"), frame()
    ),
    "mm+canonical+greedy-info+gradient+closed": lambda: fit(
        composed("mm", "canonical", "greedy-info-tree", "gradient", "closed-form"), frame()
    ),
    "exponential+hadamard+stump+all+search": lambda: fit(
        composed("exponential", "hadamard", "stump", "all-coordinates", "line-search"), numbers()
    ),
    "own-score+samme+greedy+gradient+error": lambda: fit(
        composed("own-score", "samme", "greedy-tree", "gradient", "error"), missing()
    ),
    "one-vs-all+canonical+index+gradient+search": lambda: fit(
        composed("one-vs-all", "canonical", "index-stump", "gradient", "line-search"), numbers()
    ),
    "exponential+simplex+subset+gradient+search": lambda: fit(
        composed("exponential", "simplex", "subset-tree", "gradient", "line-search"), missing()
    ),
    "savage+max-min+vector+gradient+gradient": lambda: fit(
        composed("savage", "max-min", "vector-tree", "gradient", "gradient"), numbers()
    ),
    "mm+canonical+class+gradient+search": lambda: fit(
        composed("mm", "canonical", "class-tree", "gradient", "line-search"), numbers()
    ),
    "own-score+simplex+converted+gradient+search": lambda: fit(
        composed("own-score", "simplex", "converted-tree", "gradient", "line-search"), numbers()
    ),
    "softmax-cost+exhaustive+stump+coordinate+search": lambda: fit(
        composed("softmax-cost", "exhaustive", "stump", "coordinate", "line-search"), numbers()
    ),
    "logistic+random-dense+regression+gradient+search": lambda: fit(
        composed("logistic", "random-dense", "regression-tree", "gradient", "line-search"), categories()
    ),
    "logistic+simplex+linear+gradient+search": lambda: fit(
        composed("logistic", "simplex", "linear", "gradient", "line-search"), numbers()
    ),
    "logistic+ordered+sketch+sketched+fixed": lambda: fit(
        composed("logistic", "ordered", "sketch-tree", "sketched-newton", "fixed"), missing()
    ),
    "composed-dask": lambda: on_dask(
        "DaskBoostingClassifier",
        numbers(),
        loss="logistic",
        learner="newton-tree",
        optimizer="newton",
        n_estimators=4,
        n_jobs=1,
    ),
    # Beside boosting.
    "svm": lambda: fit(svm(), numbers()),
    "svm-kernel": lambda: fit(svm(kernel="rbf"), numbers()),
    "output-code": lambda: fit(output_code(named("GDMCBoost"), codewords="all-pairs"), numbers()),
    "output-code-sparse": lambda: fit(output_code(named("SAMME"), codewords="random-sparse"), numbers()),
    "output-code-bch": lambda: fit(output_code(named("GDMCBoost"), codewords="bch"), numbers(n=240, K=6)),
    "output-code-flagship": lambda: fit(output_code(flagship(), codewords="one-vs-all", decoding="hamming"), frame()),
}
# Models that are the same, bit for bit: only parameters in the header may differ.
SAME = {
    "flagship-threads": "flagship",
    "automatic-threads": "automatic",
    "flagship-shards": "flagship-missing",
    "flagship-dask": "flagship-frame",
    "samme-twin": "samme-missing",
    "samme-gpu": "samme-missing",
}


# ---- the file of hashes ---------------------------------------------------------------------------------------------


def hashes_of(name: str, folder: Path | None = None) -> dict[str, str]:
    """Fit a configuration, and hash what it gives; the file of the model is kept in a folder, if there is one."""
    clf, told = CONFIGURATIONS[name]()
    file = file_of(clf)
    if folder is not None:
        (folder / f"{name}.sb").write_bytes(file)
    return hashes(file, told)


def kept() -> tuple[str, dict[str, dict[str, str]]]:
    """The file: the platform on which it was made, and the hashes of every name."""
    if not KEPT.exists():
        return "", {}
    first, _, *lines = KEPT.read_text().splitlines()
    rows = [line.split() for line in lines]
    return first.removeprefix("# "), {name: dict(zip(COLUMNS, found, strict=True)) for name, *found in rows}


def keep(table: dict[str, dict[str, str]]) -> None:
    """Write the file, in the order of the configurations."""
    width = max(map(len, CONFIGURATIONS))
    rows = [
        ("# name", dict(zip(COLUMNS, COLUMNS, strict=True))),
        *((n, table[n]) for n in CONFIGURATIONS if n in table),
    ]
    lines = [f"{name:{width}} " + " ".join(f"{found[column]:16}" for column in COLUMNS) for name, found in rows]
    KEPT.write_text("\n".join(["# " + platform_line(), *(line.rstrip() for line in lines)]) + "\n")


def compared(native: bool = False) -> tuple[str, ...]:
    """The columns that must be the same here."""
    return COLUMNS if pins() and not native and kept()[0] in ("", platform_line()) else ALWAYS


def run(*arguments: str, native: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the script in a process of its own, with libraries that are told what to use, or not told."""
    told = pins()
    environment = {name: value for name, value in os.environ.items() if name not in told} | ({} if native else told)
    command = [sys.executable, __file__, "--here", *["--native"] * native, *arguments]
    return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, check=False)


def main() -> int:
    """Compare, or renew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="compare these only (patterns)")
    parser.add_argument("--renew", nargs="+", default=[], metavar="NAME", help="write the hashes of these (patterns)")
    parser.add_argument("--only", choices=COLUMNS, help="renew names of which only this column has changed")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the model files to this folder")
    parser.add_argument("--native", action="store_true", help="let libraries use all instructions of this processor")
    parser.add_argument("--here", action="store_true", help="in this process, with libraries as they are")
    asked = parser.parse_args()
    foreign = compared(asked.native) != COLUMNS
    if asked.renew and foreign and (asked.native or asked.renew != ["*"]):
        print(f"The file was made on {kept()[0]}; here only all hashes can be renewed together: --renew '*'.")
        return 1
    if not asked.here:
        print((done := run(*sys.argv[1:], native=asked.native)).stdout, end="")
        return done.returncode
    patterns = asked.renew or asked.names or ["*"]
    names = [name for name in CONFIGURATIONS if any(fnmatch(name, pattern) for pattern in patterns)]
    columns, before = compared(asked.native), kept()[1]
    after = {name: found for name, found in before.items() if name in CONFIGURATIONS}
    differ, began = 0, time.perf_counter()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    for name in names:
        old = before.get(name, {})
        try:
            found = hashes_of(name, asked.keep)
        except Exception as error:
            differ += 1
            print(f"{name}: failed, {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
            continue
        changed = [column for column in columns if found[column] != old.get(column)]
        renewed = asked.renew and (not asked.only or not old or changed in ([], [asked.only]))
        if renewed:
            after[name] = found
        if changed:
            differ += not renewed
            print(f"{name}: {', '.join(changed)} {'renewed' if renewed else 'differ'}", flush=True)
    if asked.renew:
        keep(after)
    print(f"{len(names)} configurations in {time.perf_counter() - began:.0f} s, {differ} differ ({', '.join(columns)})")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
