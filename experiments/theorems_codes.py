"""Checks of what both MCBoost papers say of codewords, margins and decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from simplexboost.parts import codewords as cw
from simplexboost.parts import losses

from .theorems import check
from .theorems_mcboost import GAMMA_PHI, random_code


@check("jmlr-margin-decides")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    U, c = rng.normal(size=(2000, 5)), rng.integers(5, size=2000)
    right = U.argmax(axis=1) == c
    return {"differ": float((right != (losses.margins(U, c) > 0)).sum())}


@check("jmlr-votes")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (2, 3, 7):
        votes, c = rng.uniform(size=(40, K)), rng.integers(K, size=40)
        apart = votes[np.arange(40), c][:, None] - votes
        for Y, factor in ((cw.Simplex().matrix(K), K / (K - 1)), (cw.Canonical().matrix(K), 1.0)):
            projections = votes @ Y @ Y.T
            margin = projections[np.arange(40), c][:, None] - projections
            worst = max(worst, np.abs(margin - factor * apart).max())
    return {"worst": worst}


@check("jmlr-selection")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (3, 6):
        U, c, h = rng.normal(size=(50, K)), rng.integers(K, size=50), rng.integers(K, size=50)
        for loss in GAMMA_PHI.values():
            P = loss.residual(U, c)
            w = P[np.arange(50), c]
            tau = -P / w[:, None]
            wrong = h != c
            rule = w.sum() - (w * (1 + tau[np.arange(50), h]))[wrong].sum()
            for Y, factor in ((cw.Simplex().matrix(K), K / (K - 1)), (cw.Canonical().matrix(K), 1.0)):
                slope = (0.5 * (P @ Y) * Y[h]).sum()
                worst = max(worst, abs(slope - 0.5 * factor * rule))
    return {"worst": worst}


@check("jmlr-random-learner")
def _() -> dict[str, float]:
    rng, worst = np.random.default_rng(0), 0.0
    for K in (3, 6):
        P = losses.Exponential().residual(rng.normal(size=(50, K)), rng.integers(K, size=50))
        for Y in (cw.Simplex().matrix(K), cw.Canonical().matrix(K)):
            worst = max(worst, abs((P @ Y @ Y.T).mean(axis=1)).max())  # over all K answers, each as likely
    return {"worst": worst}


@check("jmlr-capacity-bound")
def _() -> dict[str, float]:
    rng, beyond = np.random.default_rng(0), -np.inf
    for K, d in ((3, 2), (4, 2), (4, 3), (5, 3), (6, 5)):
        for _ in range(20):
            beyond = max(beyond, cw.margin_capacity(random_code(K, d, rng)) - K / (2 * (K - 1)))
    met = max(abs(cw.margin_capacity(cw.Simplex().matrix(K)) - K / (2 * (K - 1))) for K in range(2, 9))
    return {"beyond the bound": beyond, "simplex from the bound": met}


@check("jmlr-distance-bound")
def _() -> dict[str, float]:
    rng, beyond = np.random.default_rng(0), -np.inf
    for K, d in ((3, 2), (4, 2), (4, 3), (5, 3), (6, 5)):
        for _ in range(40):
            beyond = max(beyond, cw.min_distance(random_code(K, d, rng)) - 2 * K / (K - 1))
    met = max(abs(cw.min_distance(cw.Simplex().matrix(K)) - 2 * K / (K - 1)) for K in range(2, 9))
    return {"beyond the bound": beyond, "simplex from the bound": met}


def rectangle(a: float = 0.2) -> Any:
    """A flat rectangle on the unit circle."""
    return np.array([[np.cos(t), np.sin(t)] for t in (a, -a, np.pi - a, np.pi + a)])


@check("jmlr-lemma2-printed")
def _() -> dict[str, float]:
    Y = rectangle()
    return {"capacity less half the squared distance": cw.margin_capacity(Y) - cw.min_distance(Y) / 2}


@check("jmlr-lemma2")
def _() -> dict[str, float]:
    rng = np.random.default_rng(0)
    codes = [rectangle(), *(random_code(K, d, rng) for K, d in ((3, 2), (4, 2), (5, 3), (6, 3)) for _ in range(20))]
    low = max(cw.min_distance(Y) / 4 - cw.margin_capacity(Y) for Y in codes)
    high = max(cw.margin_capacity(Y) - np.sqrt(cw.min_distance(Y)) / 2 for Y in codes)
    return {"below": low, "above": high}


@check("jmlr-tammes-printed")
def _() -> dict[str, float]:
    free, centred = (cw.min_distance(cw.MaxMin(3, centered=flag).matrix(7, 0)) for flag in (False, True))
    return {"Tammes less (67), M = 7, d = 3": free - centred}


@check("jmlr-canonical-printed")
def _() -> dict[str, float]:
    simplex, canonical = cw.Simplex().matrix, cw.Canonical().matrix
    return {f"M = {K}": cw.margin_capacity(simplex(K)) - cw.margin_capacity(canonical(K)) for K in (3, 10, 26)}


@check("jmlr-theorem2")
def _() -> dict[str, float]:
    """Codes in M − 1 or more dimensions: only a regular simplex meets the bound, along its own codewords."""
    rng, worst = np.random.default_rng(0), -np.inf
    for K, d in ((4, 3), (5, 4), (5, 5), (6, 5)):
        for _ in range(10):
            Y = random_code(K, d, rng)
            off = np.abs(Y @ Y.T - np.eye(K) + (1 - np.eye(K)) / (K - 1)).max()  # from the products of (61)
            if off > 0.05:
                worst = max(worst, cw.margin_capacity(Y) - K / (2 * (K - 1)))
    own = 0.0
    for K in range(2, 9):
        Y = cw.Simplex().matrix(K)
        margins = losses.margins(0.5 * Y @ Y.T, np.arange(K))  # of every codeword along itself
        own = max(own, float(np.abs(margins - K / (2 * (K - 1))).max()))
    return {"others less the bound": worst, "simplex along its codewords": own}


@check("jmlr-theorem4")
def _() -> dict[str, float]:
    """Codes in M − 1 or more dimensions that meet one of the bounds (60) and (69), but not the other."""
    rng, apart = np.random.default_rng(0), 0
    for K, d in ((3, 2), (3, 3), (4, 3), (5, 4), (5, 6)):
        turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
        simplex = np.column_stack([cw.Simplex().matrix(K), np.zeros((K, d - K + 1))]) @ turned
        for Y in (simplex, *(random_code(K, d, rng) for _ in range(8))):
            full = abs(cw.margin_capacity(Y) - K / (2 * (K - 1))) < 1e-7
            far = abs(cw.min_distance(Y) - 2 * K / (K - 1)) < 1e-7
            apart += full != far
    return {"codes that meet one bound only": float(apart)}


@check("nips-underdetermined")
def _() -> dict[str, float]:
    """Random unit codes in more than M − 1 dimensions: how differently the codewords see the direction found."""
    rng, worst = np.random.default_rng(0), 0.0
    for K, d in ((2, 2), (3, 3), (4, 4), (4, 6), (6, 7)):
        for _ in range(20):
            Y = rng.normal(size=(K, d))
            Y /= np.linalg.norm(Y, axis=1, keepdims=True)
            v = np.linalg.svd(Y[1:] - Y[0])[2][-1]  # a unit vector, orthogonal to all differences
            worst = max(worst, float(np.ptp(Y @ v)))
    return {"spread of the projections": worst}


@check("nips-simplex")
def _() -> dict[str, float]:
    """Unit codes in M − 1 dimensions, not centred: none is further apart than the simplex."""
    rng, beyond, met = np.random.default_rng(0), -np.inf, 0.0
    for K in (3, 4, 5, 7):
        for _ in range(40):
            Y = rng.normal(size=(K, K - 1))
            Y /= np.linalg.norm(Y, axis=1, keepdims=True)
            beyond = max(beyond, cw.min_distance(Y) - 2 * K / (K - 1))
        met = max(met, abs(cw.min_distance(cw.Simplex().matrix(K)) - 2 * K / (K - 1)))
    return {"random codes less the simplex": beyond, "simplex from 2M/(M − 1)": met}
