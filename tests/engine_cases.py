"""What the tests of the engines draw: problems to grow trees from, and rows for the flagship's loss."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import softmax

from simplexboost.engine import ORDERS, SCORES, BinnedData, Grown, Growth, OneHot, RowProblem, cpu_engine
from simplexboost.parts.codewords import MaxMin
from simplexboost.parts.losses import Logistic, Loss, Savage, SoftmaxCost
from simplexboost.parts.optimizers.sketched import log_costs

CPU = cpu_engine()


# ---- trees ----------------------------------------------------------------------------------------------------------


def assert_same_tree(a: Grown, b: Grown) -> None:
    """To the last bit, sums over the leaves included."""
    assert a.tree.nodes.tobytes() == b.tree.nodes.tobytes()
    assert a.tree.gain.tobytes() == b.tree.gain.tobytes()
    assert a.tree.category_sets.tolist() == b.tree.category_sets.tolist()
    assert a.tree.count.tolist() == b.tree.count.tolist()
    assert a.leaf_of_row.tolist() == b.leaf_of_row.tolist()
    assert a.leaf_sums.tobytes() == b.leaf_sums.tobytes()


def draw_values(
    rng: np.random.Generator, n: int, p: int, missing: float = 0.0, categorical: Any = slice(0)
) -> np.ndarray:
    """X (n, p): few values and many, ties everywhere, categories, missing values."""
    X = np.round(rng.normal(size=(n, p)) * rng.choice([1, 3, 50], size=p)) / 2
    X[:, categorical] = rng.integers(0, rng.choice([1, 2, 7, 254], size=p), size=(n, p))[:, categorical]
    X[rng.random((n, p)) < missing] = np.nan
    return X


def draw_statistics(
    rng: np.random.Generator, n: int, m: int, score: str, one_hot: bool, magnitude: float = 1.0, digits: int = 12
) -> np.ndarray | OneHot:
    """Statistics that suit a score: weights where it asks for weights, a curvature last where it asks for one."""
    if score not in ("max", "entropy"):
        magnitude = min(magnitude, 1e3 if score == "newton" else 1e100)  # squares of 1e150 overflow
    if one_hot:
        weight = rng.exponential(size=n) * magnitude
        # Absolute sums of weights that are all positive are the same for any split.
        return OneHot(rng.integers(0, m, n), weight * rng.choice([-1, 1], n) if score == "sign" else weight, m)
    values = np.round(rng.normal(size=(n, m)), digits)
    if score == "newton":
        values[:, -1] = np.abs(values[:, -1])
    return np.abs(values) * magnitude if score == "entropy" else values * min(magnitude, 1e100)


def draw_leaf_statistics(rng, n, d, wide):
    """None for the statistics themselves, or d columns; where wide, of many orders of magnitude."""
    if d is None:
        return None
    return rng.normal(size=(n, d)) * (10.0 ** rng.uniform(-40, 40, size=(n, d)) if wide else 1.0)


def draw_interactions(rng, p, kind):
    """`Growth.interactions`: none, a number, or groups that overlap; every feature is in one."""
    if kind != "groups":
        return 0 if kind == "none" else int(rng.integers(1, 4))
    groups = [np.flatnonzero(rng.random(p) < 0.4).tolist() for _ in range(rng.integers(1, 5))]
    rest = sorted(set(range(p)).difference(*groups))
    return tuple(tuple(group) for group in [*groups, rest] if group)


@st.composite
def tree_problems(draw: Any) -> tuple[dict[str, Any], np.ndarray]:
    """The arguments of `Engine.grow`, and X: odd shapes, ties, categories, missing values, huge and tiny statistics."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(1, 60)), draw(st.integers(1, 19))
    categorical = rng.random(p) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    X = draw_values(rng, n, p, draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])), categorical)
    data = CPU.compute.bin(X, draw(st.sampled_from([2, 5, 255])), categorical)
    score, m = draw(st.sampled_from(list(SCORES))), draw(st.integers(2, 11))
    magnitude = 10.0 ** draw(st.sampled_from([-300, -20, 0, 3, 150]))
    statistics = draw_statistics(
        rng, n, m, score, draw(st.booleans()), magnitude, digits=draw(st.sampled_from([0, 1, 12]))
    )
    growth = Growth(
        max_depth=draw(st.sampled_from([0, 1, 2, 5])),
        max_leaf_nodes=draw(st.sampled_from([0, 2, 7])),
        min_samples_leaf=draw(st.integers(1, 5)),
        order=draw(st.sampled_from(list(ORDERS))),
        l2_regularization=draw(st.sampled_from([0.0, 1.0])),
        bits=draw(st.sampled_from([32, 64])),
        seed=draw(st.integers(0, 2**63)),
        noise=draw(st.sampled_from([0.0, 0.0, 1.0])),
        histogram_memory=draw(st.sampled_from([0, 2**29])),
        min_category_count=draw(st.sampled_from([0, 1, 3])),
        category_smoothing=draw(st.sampled_from([0.0, 1.0, 10.0])),
        interactions=draw_interactions(rng, p, draw(st.sampled_from(["none", "none", "number", "groups"]))),
    )
    rows = np.flatnonzero(rng.random(n) < 0.7) if draw(st.booleans()) else None
    features = np.flatnonzero(rng.random(p) < 0.7) if draw(st.booleans()) else None
    return {
        "data": data,
        "statistics": statistics,
        "score": score,
        "growth": growth,
        "leaf_statistics": draw_leaf_statistics(rng, n, draw(st.sampled_from([None, 0, 1, 4])), draw(st.booleans())),
        "rows": None if rows is None or len(rows) == 0 else rows,
        "features": None if features is None or len(features) == 0 else features,
    }, X


def large_problem(
    n: int = 30_000, p: int = 21, m: int = 5, score: str = "norm", seed: int = 0
) -> tuple[BinnedData, np.ndarray, str]:
    """Numbers and categories, some missing, and statistics that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1::3] = rng.integers(0, 40, size=(n, p))[:, 1::3]  # categories
    X[rng.random((n, p)) < 0.02] = np.nan
    values = rng.normal(size=(n, m)) + np.nan_to_num(X[:, :1]) + np.isin(X[:, [1 % p]], [3, 5, 29])
    values[:, -1] = np.abs(values[:, -1])
    return CPU.compute.bin(X, categorical=np.arange(p) % 3 == 1), values, score


# ---- splits, written out ---------------------------------------------------------------------------------------------

NAIVE_SCORES = {
    "newton": lambda s: np.sum(s[:-1] ** 2) / (s[-1] + 0.5),
    "norm": np.linalg.norm,
    "max": np.max,
    "sign": lambda s: np.abs(s).sum(),
    "entropy": lambda s: sum(w * np.log(w) for w in s if w > 0) - s.sum() * np.log(s.sum()),
    "gini": lambda s: np.sum(s**2) / s.sum(),
}


def splits_of(X):
    """Every way to cut the rows at a value of a feature, missing values on either side: (feature, goes left)."""
    for f, x in enumerate(X.T):
        known = np.unique(x[~np.isnan(x)])
        for low, high in pairwise([*known, np.inf]):
            for missing_left in (False, True):
                left = np.where(np.isnan(x), missing_left, x <= (low + high) / 2)
                if 0 < left.sum() < len(x):
                    yield f, left


# ---- rows -----------------------------------------------------------------------------------------------------------

ROW_LOSSES: dict[str, Loss] = {"logistic": Logistic(), "savage": Savage(), "softmax-cost": SoftmaxCost()}
CODES = [(2, None), (3, None), (26, None), (100, None), (3, 2), (26, 16), (50, 7), (438, 64)]


@cache
def low_dimensional(K: int, d: int) -> np.ndarray:
    """Max-min codewords (K, d), which take seconds to find."""
    return MaxMin(d).matrix(K).astype(np.float32)


def row_problem(
    K: int,
    d: int | None,
    n: int = 300,
    seed: int = 0,
    weighted: bool = True,
    loss: Loss = ROW_LOSSES["logistic"],
    cost: np.ndarray | None = None,
) -> tuple[RowProblem, np.ndarray, np.ndarray]:
    """A problem, a predictor F (n, d) and a sketch Z (K, 3), in single precision; d is None for canonical codewords."""
    rng = np.random.default_rng(seed)
    Y = None if d is None else low_dimensional(K, d)
    F = (2 * rng.normal(size=(n, d or K))).astype(np.float32)
    Z = rng.normal(size=(K, 3)).astype(np.float32)
    c, weight = rng.integers(0, K, n), (rng.exponential(size=n) + 0.1).astype(np.float32)
    rows = RowProblem(c, K, Y, weight if weighted else None, log_costs(cost), loss.exponents, loss.value_of)
    return rows, F, Z


def thirds(n: int) -> np.ndarray:
    """The leaf of every row: three leaves of equal size."""
    return (np.arange(n) * 3 // n).astype(np.int32)


def codewords(rows: RowProblem) -> np.ndarray:
    """Y (K, d), in double precision."""
    return np.eye(rows.K) if rows.Y is None else rows.Y.astype(np.float64)


def probabilities(rows: RowProblem, F: np.ndarray) -> np.ndarray:
    """p = softmax(F Yᵀ) (n, K)."""
    return softmax(F.astype(np.float64) @ codewords(rows).T, axis=1)
