"""Random tables and random boosters for promises that concern all of them."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import simplexboost as sb
from simplexboost.parts.optimizers import SketchedNewton

# Boosters that go round by round, with what makes them draw at random or take several rounds on small tables.
ROUNDS: dict[str, dict[str, Any]] = {
    "AdaBoostECCClassifier": {},
    "AdaBoostM1Classifier": {"learner": "info-tree"},
    "AdaBoostM2Classifier": {},
    "AdaBoostMHClassifier": {},
    "AdaBoostMMClassifier": {},
    "BoostingClassifier": {},
    "CDMCBoostClassifier": {},
    "GDMCBoostClassifier": {},
    "LogitBoostClassifier": {},
    "OSBoostClassifier": {},
    "OneVsAllBoostClassifier": {},
    "SAMMEClassifier": {},
    "SimplexBoostClassifier": {},
    "SoftmaxBoostClassifier": {},
}
PARTS: tuple[dict[str, Any], ...] = (
    {"loss": "exponential", "codewords": "simplex", "learner": "vector-tree", "optimizer": "gradient"},
    {"loss": "logistic", "codewords": "canonical", "learner": "newton-tree", "optimizer": "newton"},
    {"loss": "mm", "codewords": "canonical", "learner": "class-tree", "optimizer": "gradient"},
    {"loss": "exponential", "codewords": "simplex", "learner": "stump", "optimizer": "coordinate"},
    {"loss": "logistic", "codewords": "max-min", "learner": "sketch-tree", "optimizer": "sketched-newton"},
    {"loss": "savage", "codewords": "canonical", "learner": "vector-tree", "optimizer": "gradient"},
    {"loss": "exponential", "codewords": "canonical", "learner": "linear", "optimizer": "gradient"},
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows X (n, p) of classes y (n,), or of labels or class targets (n, T), with weights (n,) or None."""

    X: Any
    y: Any
    weight: Any = None

    def take(self, rows: Any) -> Rows:
        """Some of the rows, in this order."""
        return Rows(self.X[rows], self.y[rows], None if self.weight is None else self.weight[rows])

    def fit(self, clf: Any, **more: Any) -> Any:
        """A classifier, fitted to the rows."""
        return clf.fit(self.X, self.y, sample_weight=self.weight, **more)


def plain_rows(rng: np.random.Generator) -> Rows:
    """Up to 250 rows in general position: no value occurs twice, nothing is missing, and every value has a bin."""
    n, p, K = int(rng.integers(30, 250)), int(rng.integers(1, 9)), int(rng.integers(2, 6))
    y = rng.permutation(np.arange(n) % K)
    return Rows(rng.normal(size=(K, p))[y] + rng.normal(size=(n, p)), y)


def random_rows(rng: np.random.Generator, K: int | None = None, *, exact: bool = False) -> Rows:
    """Up to 300 rows with some signal: ties, rows that occur twice, missing values and weights, each now and then.

    If ``exact``, values are small integers, which are exact in every type of number.
    """
    n, p, K = int(rng.integers(30, 300)), int(rng.integers(1, 9)), K or int(rng.integers(2, 6))
    y = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(K, p))[y] + rng.normal(size=(n, p))
    if exact or rng.random() < 0.5:
        X = np.rint(4 * X)
    if rng.random() < 0.3:
        again = rng.integers(0, n, n // 4)
        X[: len(again)], y[: len(again)] = X[again], y[again]
    if rng.random() < 0.3:
        X[rng.random((n, p)) < 0.1] = np.nan
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.4 else None
    return Rows(X, y, weight)


def large_rows(rng: np.random.Generator) -> Rows:
    """Rows of so many values that the flagship sums integers of 32 bits, which are rounded at random."""
    n, p, K = 20_000, 16, 6
    X = rng.normal(size=(n, p)).astype(np.float32)
    return Rows(X, (X[:, :K] + rng.gumbel(size=(n, K))).argmax(axis=1))


def random_booster(rng: np.random.Generator, name: str | None = None, *, plain: bool = False) -> Any:
    """A booster with random parameters and few rounds; a ``plain`` one draws no rows and holds none out."""
    name = name or str(rng.choice(list(ROUNDS)))
    params: dict[str, Any] = {"n_estimators": int(rng.integers(1, 20)), "random_state": int(rng.integers(1000))}
    params |= ROUNDS[name]
    if name == "BoostingClassifier":
        params |= PARTS[int(rng.integers(len(PARTS)))]
    kind = getattr(sb, name)
    if rng.random() < 0.4 and "learning_rate" in kind().get_params():
        params["learning_rate"] = float(rng.choice([0.1, 0.3, 0.5]))
    if not plain:
        if rng.random() < 0.4:
            params |= {"subsample": float(rng.choice([0.5, 0.9])), "max_features": 0.7}
        if rng.random() < 0.3:
            params["early_stopping"] = True
    return kind(**params)


# What the flagship can be beside a booster of one class per row.
FLAGSHIPS = ("labels", "thresholds", "targets", "order", "tree", "candidates")
CASES = (*ROUNDS, "program", "code", "choice", "large", *FLAGSHIPS)


def any_case(case: int, *, exact: bool = False) -> tuple[np.random.Generator, Any, Rows]:
    """The random numbers, the booster and the rows of a case: all boosters in turn, and now and then something large.

    Beside those that go round by round there are a branching program, an output code, the flagship as it comes, which
    chooses its rounds and its trees by itself, and all that it can be for matrices y and classes with a structure. If
    ``exact``, rows are few, and values are small integers, which are exact in every type of number.
    """
    rng, name = np.random.default_rng(case), CASES[case % len(CASES)]
    if name == "program":
        clf = sb.MartiBoostClassifier(n_layers=5, routing=str(rng.choice(["exact", "sampled"])), random_state=1)
        return rng, clf, random_rows(rng, 2, exact=exact)
    if name == "code":
        clf = sb.OutputCodeClassifier(sb.AdaBoostMHClassifier(n_estimators=3), random_state=1)
        return rng, clf, random_rows(rng, exact=exact)
    if name == "choice":
        clf = sb.SimplexBoostClassifier(learning_rate=0.5, max_leaf_nodes=4, random_state=1)
        return rng, clf, random_rows(rng, exact=exact)
    if name == "large":
        clf = sb.SimplexBoostClassifier(n_estimators=3, subsample=0.9, random_state=1)
        return rng, clf, random_rows(rng, exact=True) if exact else large_rows(rng)
    if name in FLAGSHIPS:
        return rng, *flagship_case(rng, name, exact=exact)
    return rng, random_booster(rng, name), random_rows(rng, exact=exact)


def flagship_case(rng: np.random.Generator, name: str, *, exact: bool = False) -> tuple[Any, Rows]:
    """A flagship with random parameters, and rows for what it is to be."""
    clf = random_booster(rng, "SimplexBoostClassifier")
    rows = random_rows(rng, int(rng.integers(20, 60)) if name == "candidates" else None, exact=exact)
    K = int(rows.y.max()) + 1
    if name == "order":
        clf.set_params(classes=sb.Ordinal([None, rng.permutation(K).tolist()][rng.integers(2)]))
    elif name == "tree":
        clf.set_params(classes=sb.Hierarchy({"first": [0], "others": list(range(1, K))}))
    elif name == "candidates":  # lists have 16 places, so that they are full now and then
        clf.set_params(optimizer=SketchedNewton(candidates=int(rng.integers(1, 17))))
    elif name == "targets":
        rows = replace(rows, y=np.stack([rows.y + 1, noisy(rng, rows.y) % 2, noisy(rng, rows.y) % 3], axis=1))
    else:
        clf.set_params(classes=LABELS)
        rows = replace(rows, y=suited(clf, noisy(rng, rows.y)))
        if name == "thresholds":
            clf.set_params(thresholds="f1", early_stopping=False)
    return clf, rows


LABELS = ("one", "two", "four")  # what a flagship gets for `classes` if it is to have several labels per row


def suited(clf: Any, y: np.ndarray) -> np.ndarray:
    """The y of a classifier: classes (n,), or the digits of their numbers as labels (n, 3), if it has `LABELS`."""
    return (y[:, None] >> np.arange(3)) & 1 if clf.get_params(deep=False).get("classes") == LABELS else y


def noisy(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """The labels, one in ten of which is another number below 8."""
    return np.where(rng.random(len(y)) < 0.1, rng.integers(8, size=len(y)), y)


def file_of(clf: Any) -> bytes:
    """The bytes of the model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sb"
        clf.save(path)
        return path.read_bytes()


def digest(clf: Any) -> str:
    """A few letters that stand for the bytes of the model file."""
    return hashlib.sha256(file_of(clf)).hexdigest()[:16]


def relabelled(rows: Rows, rng: np.random.Generator) -> tuple[Rows, Any]:
    """The same rows with other names for the classes: name k becomes names[k]."""
    names = rng.permutation(int(rows.y.max()) + 1)
    return replace(rows, y=names[rows.y]), names
