"""Promises about the quality of answers: what is fitted, chosen and calibrated is no worse than what is simpler."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

import simplexboost as sb
from simplexboost import decide
from simplexboost.classifiers import auto
from simplexboost.classifiers.search import race

from .generated.judging import check_quality
from .generated.parameters import CLASSIFIERS, classifier
from .promise import promise
from .sizes import ROUGH, flagship, grid

EXTRA = 0.5  # rows that are added to those of every class, since the only row of a class may be held out


def shares_of(kind: str, K: int, rng: np.random.Generator) -> Any:
    """The shares of K classes: even, falling by a power, one class of nearly all rows, or drawn at random."""
    if kind == "even":
        return np.full(K, 1 / K)
    if kind == "power":
        falling = 1.0 / np.arange(1, K + 1) ** rng.uniform(0.5, 3.0)
        return falling / falling.sum()
    if kind == "one":
        rest = 10.0 ** rng.uniform(-4, -1)
        return np.append(np.full(K - 1, rest / (K - 1)), 1 - rest)
    return rng.dirichlet(np.full(K, rng.uniform(0.2, 2.0)))


def uneven_table(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Rows X (n, p) with a signal of any strength, their classes, and weights or None."""
    K = int(rng.choice([2, 2, 3, 5, 15, 40, 200]))
    n = int(10 ** rng.uniform(np.log10(3), 5 if rng.random() < 0.05 else 3.3))
    y = rng.choice(K, size=n, p=shares_of(str(rng.choice(["even", "power", "one", "random"])), K, rng))
    y[:2] = rng.permutation(K)[:2]  # one class alone cannot be learned
    X = rng.normal(size=(n, int(rng.integers(1, 8))))
    X[:, 0] += rng.choice([0.0, 0.3, 1.0, 4.0]) * (y % 3)
    return X, y, rng.exponential(size=n) if rng.random() < 0.25 else None


def risk_of_shares(c: Any, weight: Any, K: int, splits: list[Any]) -> float:
    """The mean −log of the share that the class of a row has among the rows that are not held out with it."""
    total = 0.0
    for split in splits:
        trained = np.ones(len(c), dtype=bool)
        trained[split.held] = False
        share = np.bincount(c[trained], weight[trained], K) + EXTRA
        total -= weight[split.held] @ np.log(share[c[split.held]] / share.sum())
    held = np.concatenate([split.held for split in splits])
    return float(total / weight[held].sum())


@promise("A default fit is not worse than the class shares on the rows that it holds out.", fast=8, soak=400)
def defaults_beat_the_class_shares(case: int) -> None:
    """One case: a table of 3 to 100 000 rows and 2 to 200 classes, whose shares are even, uneven or extreme."""
    X, y, weight = uneven_table(np.random.default_rng(case))
    races: list[Any] = []

    def watched(candidates: Any, splits: Any, terms: Any) -> Any:
        races.append((candidates[0].start.table.data, splits))
        return settling_race(candidates, splits, terms)

    settling_race = race
    with patch.object(auto, "race", watched):
        clf = sb.SimplexBoostClassifier(random_state=case % 7, n_jobs=1).fit(X, y, weight)
    P = clf.predict_proba(X)
    assert np.isfinite(P).all() and (P > 0).all(), "probabilities must be positive numbers"
    if not races:  # too few rows to hold any out
        assert len(y) < auto.N_FOLDS or len(np.unique(y)) in (1, len(y)), f"no choice on {len(y)} rows"
        return
    data, splits = races[-1]
    bound = risk_of_shares(data.c, data.weight, data.K, splits)
    assert clf.choice_ is not None
    assert clf.choice_.risk <= bound + 1e-6, f"risk {clf.choice_.risk:.6f}; that of the class shares is {bound:.6f}"


@promise("Rare classes get about their share where nothing tells them apart.", fast=3, soak=100)
def rare_classes_get_their_share(case: int) -> None:
    """One case: a table of noise with rare classes, and fresh rows; on average a class gets what it has in training."""
    rng = np.random.default_rng(case)
    K, n = int(rng.choice([2, 3, 6, 20])), int(10 ** rng.uniform(1.5, 3.3))
    y = rng.choice(K, size=n, p=shares_of(str(rng.choice(["power", "one", "random"])), K, rng))
    y[:2] = 0, 1
    clf = sb.SimplexBoostClassifier(random_state=0, n_jobs=1).fit(rng.normal(size=(n, 3)), y)
    P = clf.predict_proba(rng.normal(size=(500, 3)))
    share = np.bincount(y)[clf.classes_] / n
    loss, least = (-(share @ np.log(Q)) for Q in (P.T.mean(axis=1), share))
    assert loss <= least + 0.05 + 3.0 * len(share) / n, f"mean probabilities {P.mean(axis=0)}, shares {share}"


# ---- what is clear, and what is calibrated ---------------------------------------------------------------------------

LEARNERS = [kind for kind in CLASSIFIERS if kind not in {*ROUGH, "OutputCodeClassifier"}]


@promise(
    "Labels that X tells clearly are learned: on the rows of the fit, every classifier beats the class shares.",
    fast=len(LEARNERS),
    soak=800,
)
def clear_labels_are_learned(case: int) -> None:
    """One case: a classifier of a few rounds, 2 to 40 classes of even or uneven shares, in one of several orders."""
    rng, kind = np.random.default_rng(case), LEARNERS[case % len(LEARNERS)]
    X, y = grid(rng, int(rng.integers(60, 400)), int(rng.choice([2, 3, 5, 15, 40])))
    if rng.random() < 0.5:  # the higher a class, the fewer rows it has
        kept = rng.random(len(y)) < 1.0 / (1.0 + 0.3 * y)
        kept[:2] = True
        X, y = X[kept], y[kept]
    if len(np.unique(y)) < 2:
        return
    clf = classifier(rng, kind, plain=True)
    if "n_estimators" in clf.get_params(deep=False):
        clf.set_params(n_estimators=8)
    check_quality(clf.fit(X, y), X, y)


def doubtful_rows(rng: np.random.Generator, n: int, K: int, scale: float) -> tuple[Any, Any]:
    """Rows of which X tells the class not always."""
    return grid(rng, n, K, noise=scale)


@promise(
    "A calibrated temperature is not far off: on fresh rows, no other factor of the log-odds is much better.",
    fast=4,
    soak=150,
)
def temperatures_are_not_far_off(case: int) -> None:
    """One case: few or many rows, a fast or slow learner, so that it is too sure, or not sure enough, of itself."""
    rng = np.random.default_rng(case)
    K, scale, n = int(rng.choice([2, 3, 8, 20])), float(rng.uniform(0.3, 1.2)), int(rng.integers(300, 2000))
    X, y = doubtful_rows(rng, n, K, scale)
    fresh, c = doubtful_rows(rng, 4000, K, scale)
    clf = flagship(n_estimators=int(rng.integers(5, 80)), learning_rate=float(rng.uniform(0.05, 1.0)), calibration=True)
    logits = clf.fit(X, y).predict_log_proba(fresh)

    def risk(factor: float) -> float:
        Z = factor * np.maximum(logits, -700.0)
        return float(np.mean(np.logaddexp.reduce(Z, axis=1) - Z[np.arange(len(c)), c]))

    loss, best = risk(1.0), min((risk(float(factor)), float(factor)) for factor in np.geomspace(0.2, 5.0, 33))
    assert loss <= best[0] + 0.02 + 0.1 * best[0], f"risk {loss:.4f}; {best[0]:.4f} at {best[1]:.2f} times the log-odds"


@promise(
    "Sets hold the true class of as many fresh rows as they say, and are no larger than they have to be where X tells "
    "the class clearly.",
    fast=4,
    soak=200,
)
def sets_cover_what_they_say(case: int) -> None:
    """One case: sets by rows held out or by fresh ones, of 2 to 100 classes."""
    rng = np.random.default_rng(case)
    K, coverage = int(rng.choice([2, 3, 10, 15, 40, 100])), float(rng.choice([0.5, 0.8, 0.9, 0.98]))
    scale, m = float(rng.choice([0.1, 0.5, 1.0])), int(rng.integers(300, 1500))
    X, y = doubtful_rows(rng, max(600, 8 * K), K, scale)
    clf = decide.calibrate_sets(flagship(n_estimators=15).fit(X, y), *doubtful_rows(rng, m, K, scale))
    fresh, c = doubtful_rows(rng, 3000, K, scale)
    S = decide.predict_sets(clf, fresh, coverage=coverage)
    held = float(S[np.arange(len(c)), c].mean())
    error = np.sqrt(coverage * (1 - coverage) * (1 / m + 1 / len(c)))
    assert held > coverage - 5 * error, f"{held:.4f} of the rows are covered; asked for {coverage}"
    sure = float((clf.predict_proba(fresh).argmax(axis=1) == c).mean())
    size = float(S.sum(axis=1).mean())
    assert sure < min(0.999, coverage + 0.01) or size < 1.5, f"sets of {size:.2f} classes, where {sure:.4f} are right"
