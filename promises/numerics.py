"""Promises about numbers: instruction sets, weights of any size, and margins of a thousand."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

import simplexboost as sb
from simplexboost.parts.codewords import Auto

from .promise import promise

SETS = ["baseline", "avx2", "avx512"]  # a machine that has fewer takes the best that it has
LOSS_APART, ROWS_APART = 0.02, 0.02  # what instruction sets may change in the flagship: see `instruction_sets_agree`

BOOSTERS: list[Any] = [
    sb.SAMMEClassifier(n_estimators=8, random_state=0),
    sb.AdaBoostM1Classifier(n_estimators=8, random_state=0),
    sb.AdaBoostMMClassifier(n_estimators=8, random_state=0),
    sb.GDMCBoostClassifier(n_estimators=8, random_state=0),
    sb.CDMCBoostClassifier(n_estimators=8, random_state=0),
    sb.AdaBoostMHClassifier(n_estimators=8, random_state=0),
    sb.LogitBoostClassifier(n_estimators=8, random_state=0),
    sb.OneVsAllBoostClassifier(n_estimators=8, random_state=0),
    sb.BoostingClassifier("savage", "canonical", n_estimators=8, random_state=0),
    sb.BoostingClassifier("exponential", "simplex", "stump", n_estimators=8, random_state=0),
]
FLAGSHIPS: list[Any] = [
    sb.SimplexBoostClassifier(n_estimators=20, random_state=0),
    sb.SimplexBoostClassifier(n_estimators=20, codewords="simplex", random_state=0),
    sb.SimplexBoostClassifier(n_estimators=20, codewords=Auto(3), random_state=0),
    sb.SimplexBoostClassifier(n_estimators=20, loss="savage", random_state=0),
]


def table(rng: np.random.Generator) -> tuple[Any, Any]:
    """A random table of a few hundred rows, with ties and missing values, and its labels."""
    n, p, K = (int(rng.integers(*span)) for span in ((200, 500), (2, 8), (3, 8)))
    y = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(n, p)) + (y[:, None] % (2 + np.arange(p)))
    X[:, 0] = X[:, 0].round()
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def fitted_on(isa: str, case: int, which: str) -> tuple[bytes, Any]:
    """The files of boosters that are fitted with an instruction set, and probabilities of the last one."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"from promises.numerics import *; save_fitted({case}, {which!r}, {folder!r})"
        command, environment = [sys.executable, "-c", program], {**os.environ, "SIMPLEXBOOST_ISA": isa}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return b"".join(path.read_bytes() for path in sorted(Path(folder).glob("*.sb"))), np.load(Path(folder, "P.npy"))


def save_fitted(case: int, which: str, folder: str) -> None:
    """Fit all boosters of a list to a table, save them, and save probabilities of the last one."""
    boosters = BOOSTERS if which == "boosters" else [FLAGSHIPS[case % len(FLAGSHIPS)]]
    X, y = table(np.random.default_rng(case))
    for number, clf in enumerate(boosters):
        fitted = clone(clf).fit(X, y)
        fitted.save(Path(folder, f"{number}.sb"))
    np.save(Path(folder, "P.npy"), fitted.predict_proba(X))


@promise("Every booster but the flagship is the same on every instruction set.", fast=1, soak=15, each=len(BOOSTERS))
def instruction_sets_give_the_same_bits(case: int) -> None:
    """One case: ten boosters on a random table, with each of three instruction sets."""
    first, *others = (fitted_on(isa, case, "boosters")[0] for isa in SETS)
    for isa, other in zip(SETS[1:], others, strict=True):
        assert other == first, f"the files of {isa} and of {SETS[0]} differ"


@promise(
    "Instruction sets change the flagship's loss by less than 2 %, and one decision in 50 at most.", fast=1, soak=20
)
def instruction_sets_agree(case: int) -> None:
    """One case: a flagship on a random table. Soft-max and Newton steps are computed in single precision and with the
    multiply-add of the processor, so that last digits differ, and now and then a split between two equally good ones.
    """
    _, y = table(np.random.default_rng(case))
    first, *others = (fitted_on(isa, case, "flagship")[1] for isa in SETS)
    own = np.arange(len(y)), np.unique(y, return_inverse=True)[1]
    for isa, P in zip(SETS[1:], others, strict=True):
        loss, before = (-np.log(np.maximum(Q[own], 1e-30)).mean() for Q in (P, first))
        assert abs(loss - before) <= LOSS_APART * before + 1e-3, f"{isa}: loss {loss:.5f}, on {SETS[0]} {before:.5f}"
        apart = np.mean(P.argmax(axis=1) != first.argmax(axis=1))
        assert apart <= ROWS_APART, f"{isa}: {apart:.1%} of the rows are decided in another way than on {SETS[0]}"


def check_probabilities(clf: Any, X: Any, **options: Any) -> Any:
    """Probabilities of rows, after making sure that they are some."""
    P = clf.predict_proba(X, **options)
    assert np.isfinite(P).all(), f"{clf!r} predicts what is not finite"
    assert (P >= 0).all() and np.allclose(P.sum(axis=1), 1.0, rtol=0, atol=1e-6), f"{clf!r}: rows do not sum to one"
    return P


@promise("Weights of any size from 1e-300 to 1e300 are taken by their ratios.", fast=4, soak=200)
def weights_of_any_size(case: int) -> None:
    """One case: a booster on weights that are all tiny or all huge, and on weights that range over 600 decades."""
    rng = np.random.default_rng(case)
    clf = (BOOSTERS + FLAGSHIPS)[case % (len(BOOSTERS) + len(FLAGSHIPS))]
    X, y = table(rng)
    weight = rng.uniform(0.5, 2.0, len(y))
    plain = check_probabilities(clone(clf).fit(X, y, weight), X)
    scale = 2.0 ** rng.integers(-990, 990)  # a power of two scales exactly
    scaled = check_probabilities(clone(clf).fit(X, y, weight * scale), X)
    assert (plain == scaled).all(), (
        f"{clf!r}: weights times {scale:.3g} change probabilities by {np.abs(plain - scaled).max()}"
    )
    wide = 10.0 ** rng.uniform(-300, 300, len(y))
    wide[rng.permutation(len(y))[: len(y) // 2]] = 1e300  # half of the rows decide, most of the others are negligible
    decided = wide > 1e294  # those that weigh more than a millionth of the heaviest
    if len(np.unique(y[decided])) == len(np.unique(y)):
        P = check_probabilities(clone(clf).fit(X, y, wide), X)
        alone = check_probabilities(clone(clf).fit(X[decided], y[decided], wide[decided]), X)
        assert (P == alone).all(), (
            f"{clf!r}: rows of negligible weight change probabilities by {np.abs(P - alone).max()}"
        )


@promise("Margins of a thousand give finite models and right probabilities.", fast=3, soak=120)
def large_margins(case: int) -> None:
    """One case: a booster that starts from log-odds of up to ±1000, some of them for the wrong class."""
    rng = np.random.default_rng(case)
    boosters: list[Any] = [
        *FLAGSHIPS[:2],
        sb.BoostingClassifier("logistic", "canonical", n_estimators=5),
        sb.BoostingClassifier("savage", "canonical", n_estimators=5),
        sb.GDMCBoostClassifier(n_estimators=5),
    ]
    clf = clone(boosters[case % len(boosters)])
    X, y = table(rng)
    K = len(np.unique(y))
    scores = rng.uniform(-1.0, 1.0, (len(y), K)) * 10.0 ** rng.uniform(0, 3)
    clf.fit(X, y, init_score=scores)
    assert np.isfinite(clf.train_score_).all(), f"{clf!r}: the risk is not finite"
    P = check_probabilities(clf, X, init_score=scores)
    if clf.loss_.likelihood and isinstance(clf, sb.SimplexBoostClassifier):
        right = softmax(scores + 2 * clf.decision_function(X), axis=1)
        assert np.abs(P - right).max() < 1e-3, f"{clf!r}: probabilities are off by {np.abs(P - right).max():.2g}"
