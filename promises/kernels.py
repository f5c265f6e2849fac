"""The compiled code: whatever its functions are called with, they raise or return; they never crash and never hang."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simplexboost import _kernels
from simplexboost.engine import NODE, SET_BYTES, node_bytes

from .files import little_memory
from .promise import promise

Rng = np.random.Generator
BATCH = 100  # calls in a case
ROOM = 2**32  # bytes; 2^31 columns of a machine are legal and need more, which a large machine would have
NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 10**6, 2**30, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, 2**64 - 1]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -1e300, float("nan"), float("inf"), float("-inf")]
REFUSALS = (ValueError, TypeError, MemoryError, IndexError)
# Numbers in these ranges are legal and take as long as they take, so the lowest of a range stands for all of it. A
# potential takes time like t³, a second for 100 steps and hours for 10 000, and refuses more than 2^20 of them. For a
# million classes, a machine of 40 examples computes for minutes; 2^30 need more memory than there is.
LONG = {"max_iter": (10**4, 2**64), "t": (100, 2**20), "K": (1000, 2**20)}


@dataclass(frozen=True)
class Step:
    """A call of a compiled function or method: what is done with the result of the step before, and the arguments."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any]


@promise(
    "Compiled functions that are called with arguments that do not fit together raise an error or return: they do not "
    "crash and do not hang.",
    fast=3,
    soak=200,
    each=BATCH,
    seconds=120,
)
def inconsistent_calls_raise(case: int) -> None:
    """A case is a batch of 100 sequences of calls, each with one to three changed arguments."""
    for scene in SCENES:
        run(scene(np.random.default_rng(0)))  # what is changed below is sound
    for seed in range(BATCH * case, BATCH * (case + 1)):
        rng = np.random.default_rng(seed)
        steps = pick(rng, SCENES)(rng)
        for _ in range(int(rng.integers(1, 4))):
            change(rng, steps)
        try:
            with np.errstate(all="ignore"), little_memory(ROOM):
                run(steps)
        except REFUSALS:
            pass


def full_names(steps: list[Step]) -> list[str]:
    """What is called: the name of a function or of a class, or that of a method after its class."""
    names: list[str] = []
    owner = ""
    for step in steps:
        owner = step.name if hasattr(_kernels, step.name) else owner
        names.append(step.name if owner == step.name else f"{owner}.{step.name}")
    return names


def run(steps: list[Step]) -> None:
    """Make the calls, one after another."""
    made = None
    for step in steps:
        made = step.call(made, **step.arguments)


def pick(rng: Rng, values: Any) -> Any:
    """One of them."""
    return values[int(rng.integers(len(values)))]


# ---- changes --------------------------------------------------------------------------------------------------------


def change(rng: Rng, steps: list[Step]) -> None:
    """Change one argument of one call."""
    step = pick(rng, [step for step in steps if step.arguments])
    name = pick(rng, list(step.arguments))
    step.arguments[name] = changed(rng, name, step.arguments[name])


def changed(rng: Rng, name: str, value: Any) -> Any:
    """Another value in the place of one."""
    if rng.random() < 0.05:
        return pick(rng, [None, "text", [], 1.5, np.zeros(3), np.zeros((2, 2), dtype=np.int32)])
    if isinstance(value, np.ndarray):
        return changed_array(rng, value.copy())
    if isinstance(value, float):
        return pick(rng, REALS)
    if isinstance(value, int):
        number = pick(rng, [*NUMBERS, value + 1, value - 1, 2 * value])
        low, high = LONG.get(name, (0, 0))
        return low if low < number <= high else number
    return pick(rng, [None, np.zeros(3), np.zeros(4, dtype=np.int32), np.zeros((3, 4))])


def changed_array(rng: Rng, values: np.ndarray) -> Any:
    """An array with other entries, or of another shape or type."""
    kind = rng.integers(6)
    flat = values.reshape(-1)
    if kind <= 1 and len(flat):
        for at in rng.integers(len(flat), size=1 + int(rng.integers(3))):
            with np.errstate(all="ignore"):
                wanted = pick(rng, REALS if values.dtype.kind == "f" else NUMBERS)
                flat[at] = np.array([wanted]).astype(values.dtype)[0]
        return values
    if kind == 2:
        return values[:-1]
    if kind == 3:
        return np.concatenate([values, values[:1]])
    if kind == 4:
        return pick(rng, [values[:0], values.T, values[::2], values[..., None], flat, values[None]])
    with np.errstate(all="ignore"):
        return values.astype(pick(rng, [np.float32, np.float64, np.int32, np.int64, np.uint8, np.uint32]))


# ---- sound calls ----------------------------------------------------------------------------------------------------

N, P, K, D = 40, 10, 4, 3  # rows, features, classes, coordinates


def only(call: Callable[..., Any], **arguments: Any) -> list[Step]:
    """One call."""
    return [Step(call.__name__, lambda made, **given: call(**given), arguments)]


def then(method: str, **arguments: Any) -> Step:
    """A call of a method, after which the object goes on."""

    def call(made: Any, **given: Any) -> Any:
        getattr(made, method)(**given)
        return made

    return Step(method, call, arguments)


def labels(rng: Rng) -> np.ndarray:
    """Classes (n,)."""
    return rng.integers(K, size=N)


def sums(rng: Rng) -> list[Step]:
    """Exact sums."""
    values = rng.normal(size=N)
    return pick(
        rng,
        [
            only(_kernels.total, values=values, n_threads=2),
            only(_kernels.total, values=values.astype(np.float32), n_threads=1),
            only(_kernels.total_magnitude, values=rng.normal(size=(N, 2))[:, 0], n_threads=2),
            only(_kernels.largest_magnitude, values=values),
            only(_kernels.sum_limbs, values=values, largest=float(np.abs(values).max()), n_all=N),
            only(_kernels.limb_total, hi=12345, lo=-678, largest=2.5, n_all=N),
            only(_kernels.limb_values, limbs=np.ones((3, 2, D), dtype=np.uint64), largest=np.ones(D), n_rows=N),
            only(_kernels.lane_count, m=D),
        ],
    )


def bins(rng: Rng) -> list[Step]:
    """Edges and codes of a dense table."""
    X = rng.normal(size=(N, P)).astype(pick(rng, [np.float32, np.float64]))
    if rng.random() < 0.5:
        rows = pick(rng, [None, np.arange(0, N, 3)])
        return only(_kernels.find_edges, X=X, rows=rows, max_bins=16, n_threads=2)
    return only(
        _kernels.bin_values,
        X=X,
        edges=np.tile([-1.0, 0.0, 1.0], P),
        first_edge=np.arange(P + 1) * 3,
        codes=np.zeros((2, N, 8), dtype=np.uint8),
        has_missing=np.zeros(P, dtype=np.uint8),
        n_threads=2,
    )


def sparse_bins(rng: Rng) -> list[Step]:
    """Edges and codes of a sparse table, and some of its columns."""
    rows = np.sort(rng.permutation(N)[:5])
    entries = {
        "first": np.arange(P + 1) * 5,
        "rows": np.tile(rows, P).astype(np.int32),
        "values": rng.normal(size=5 * P),
    }
    kind = rng.integers(3)
    if kind == 0:
        return only(_kernels.find_edges_sparse, n=N, **entries, max_bins=16, n_threads=2)
    if kind == 1:
        edges = {"edges": np.tile([-1.0, 0.5], P), "first_edge": np.arange(P + 1) * 2}
        return only(_kernels.bin_sparse, n=N, **entries, **edges, n_threads=2)
    return only(
        _kernels.gather_columns,
        first=np.arange(N + 1) * 2,
        columns=np.tile([1, 4], N).astype(np.int32),
        values=rng.normal(size=2 * N),
        place=np.where(np.arange(P) < 4, np.arange(P), -1).astype(np.int32),
        out=np.zeros((N, 4)),
        n_threads=2,
    )


def columns(rng: Rng) -> dict[str, Any]:
    """What trees know of columns."""
    return {
        "n_bins": np.full(P, 5, dtype=np.int32),
        "has_missing": (np.arange(P) % 3 == 0).astype(np.uint8),
        "categorical": (np.arange(P) % 4 == 0).astype(np.uint8),
    }


def table(rng: Rng, about: dict[str, Any]) -> Any:
    """Codes that fit the columns, dense or sparse."""
    known = {name: about[name] for name in ("n_bins", "has_missing")}
    if rng.random() < 0.6:
        return _kernels.DenseTable(rng.integers(5, size=(2, N, 8)).astype(np.uint8), **known, n_threads=1)
    rows = np.tile(np.arange(0, N, 8), P).astype(np.uint32)
    codes = rng.integers(1, 5, size=len(rows)).astype(np.uint8)
    first = np.arange(P + 1) * (len(rows) // P)
    return _kernels.SparseTable(np.zeros(P, dtype=np.uint8), first, rows, codes, **known, n=N, n_threads=1)


def tables(rng: Rng) -> list[Step]:
    """Tables of codes."""
    known = {name: values for name, values in columns(rng).items() if name != "categorical"}
    if rng.random() < 0.5:
        codes = rng.integers(5, size=(2, N, 8)).astype(np.uint8)
        return only(_kernels.DenseTable, codes=codes, **known, n_threads=2)
    rows = np.tile(np.arange(0, N, 8), P).astype(np.uint32)
    codes = rng.integers(1, 5, size=len(rows)).astype(np.uint8)
    first = np.arange(P + 1) * (len(rows) // P)
    zero = np.zeros(P, dtype=np.uint8)
    return only(_kernels.SparseTable, zero=zero, first=first, rows=rows, codes=codes, **known, n=N, n_threads=2)


def shard(rng: Rng, m: int, kind: Any, features: Any) -> Step:
    """A shard of rows."""
    about = columns(rng)
    codes = table(rng, about)
    dense = isinstance(codes, _kernels.DenseTable)
    if rng.random() < 0.7:
        statistics = {"dense": rng.normal(size=(N, m)), "classes": None, "weight": None}
    else:
        statistics = {"dense": None, "classes": rng.integers(m, size=N).astype(np.int32), "weight": rng.random(N)}
    arguments = {
        **about,
        **statistics,
        "m": m,
        "rows": pick(rng, [None, np.arange(0, N, 2, dtype=np.uint32)]),
        "features": features,
        "segments": np.array([[0, 100], [20, 500]]),
        "seed": 3,
        "n_threads": 2,
    }
    return Step(
        kind.__name__,
        lambda made, **given: kind(codes if dense else None, None if dense else codes, **given),
        arguments,
    )


def shards(rng: Rng) -> list[Step]:
    """The sums of a shard, as a distant grower asks for them."""
    m, kind = 3, pick(rng, [_kernels.Shard64, _kernels.Shard32])
    steps = [shard(rng, m, kind, None)]
    width = m if steps[0].arguments["dense"] is not None else 1
    nodes = np.zeros(5, dtype=NODE)
    nodes["feature"], nodes["left"], nodes["category"] = [1, 2, -1, -1, -1], [1, 3, 0, 1, 2], -1
    cut = {"splits": np.array([[1, 2, 0, 0]], dtype=np.int32), "sets": np.zeros((1, SET_BYTES), dtype=np.uint8)}
    build = np.ones((1, 2), dtype=np.uint8)
    leaves = np.array([2, 3, 4], dtype=np.int32)
    return [
        *steps,
        then("column_maxima", values=pick(rng, [None, rng.normal(size=(N, 2))])),
        then("column_magnitudes", unit=np.full(width, 1024.0)),
        then("quantize", exponents=np.full(width, 8, dtype=np.int32)),
        then("root"),
        then("expand", cells=np.array([[0, 1, 2]], dtype=np.int32), build=build, **cut),
        then("expand", cells=np.array([[1, 3, 4]], dtype=np.int32), build=build, **cut),
        then("cell_sizes", cells=leaves),
        then("leaf_limbs", cells=leaves, values=None, largest=np.full(width, 10.0), n_rows=N),
        then("leaf_of_row", nodes=node_bytes(nodes), category_sets=np.zeros((0, SET_BYTES), np.uint8), cells=leaves),
    ]


def growths(rng: Rng) -> list[Step]:
    """A grown tree."""
    m, bits = 3, int(pick(rng, [32, 64]))
    features = pick(rng, [None, np.array([0, 1, 2, 5, 9], dtype=np.int32)])
    rows = shard(rng, m, _kernels.Shard64 if bits == 64 else _kernels.Shard32, features)
    grouped = rng.random() < 0.3
    arguments = {
        **columns(rng),
        "m": m,
        "features": None if features is None else features.copy(),
        "score": int(rng.integers(6)),
        "l2": 1.0,
        "max_depth": 3,
        "max_leaves": 6,
        "min_samples_leaf": 2,
        "min_category_count": 1,
        "category_smoothing": 1.0,
        "order": int(rng.integers(3)),
        "noise": 0.1,
        "seed": 5,
        "bits": bits,
        "histogram_memory": 2**20,
        "most_together": 0,
        "groups": np.arange(P, dtype=np.int32) if grouped else None,
        "group_starts": np.array([0, 4, P]) if grouped else None,
        "n_threads": 2,
    }
    return [rows, Step("grow", lambda made, **given: _kernels.grow(made, **given), arguments)]


def rounds(rng: Rng) -> list[Step]:
    """Three rounds of the flagship in one call."""
    about, canonical, sampled = columns(rng), rng.random() < 0.5, rng.random() < 0.5
    codes = table(rng, about)
    dense = isinstance(codes, _kernels.DenseTable)
    Y = None if canonical else rng.normal(size=(K, D)).astype(np.float32)
    loss = _kernels.LogisticLoss(Y, labels(rng), K, None, None, 0, 0, N)
    made = {
        **about,
        "edges": np.arange(4.0 * P),
        "first_edge": 4 * np.arange(P + 1),
        "seen": rng.integers(256, size=(P, SET_BYTES)).astype(np.uint8),
        "l2": 1.0,
        "max_depth": 3,
        "max_leaves": 6,
        "min_samples_leaf": 2,
        "category_smoothing": 1.0,
        "order": int(rng.integers(3)),
        "noise": 0.1,
        "bits": int(pick(rng, [32, 64])),
        "histogram_memory": 2**20,
        "most_together": 0,
        "groups": None,
        "group_starts": None,
        "leaf_l2": 1.0,
        "max_step": 2.0,
        "thin": 0.1,
    }
    d = K if canonical else D
    rows, features = np.arange(0, N, 2, dtype=np.uint32), np.array([0, 1, 2, 5, 9], dtype=np.int32)
    asked = {
        "F": np.zeros((N, d), dtype=np.float32),
        "G": None if canonical else np.zeros((N, d), dtype=np.float32),
        "stats": np.zeros((N, 2)),
        "loss": np.zeros(N, dtype=np.float32),
        "scale": pick(rng, [None, np.zeros(N)]),
        "weight": pick(rng, [None, np.ones(N)]),
        "weights": float(N),
        "Z": rng.normal(size=(3, K)).astype(np.float32),
        "seeds": np.arange(3, dtype=np.uint64),
        "rows": np.tile(rows, 3) if sampled else pick(rng, [None, rows]),
        "row_starts": np.arange(4) * len(rows) if sampled else None,
        "features": np.tile(features, 3) if sampled else pick(rng, [None, features]),
        "feature_starts": np.arange(4) * len(features) if sampled else None,
        "min_category_counts": np.ones(3, dtype=np.int64),
        "step": 0.1,
        "reach": 0.0,
        "limit": 1e18,
        "seconds": 10.0,
        "n_threads": 2,
    }
    call = lambda _, **given: _kernels.Rounds(loss, codes if dense else None, None if dense else codes, **given)  # noqa: E731
    return [Step("Rounds", call, made), then("make", **asked)]


def stumps(rng: Rng) -> dict[str, Any]:
    """Two trees of three leaves with a category set each, as flat arrays."""
    nodes = np.zeros(5, dtype=NODE)
    nodes["feature"], nodes["left"] = [0, 1, -1, -1, -1], [1, 3, 0, 1, 2]
    nodes["category"] = [-1, 0, -1, -1, -1]
    return {
        "nodes": np.concatenate([node_bytes(nodes)] * 2),
        "first_node": np.array([0, 5, 10]),
        "category_sets": rng.integers(256, size=(2, SET_BYTES)).astype(np.uint8),
        "first_set": np.array([0, 1, 2]),
    }


def forests(rng: Rng) -> list[Step]:
    """Prediction."""
    trees, X = stumps(rng), rng.integers(4, size=(N, 2)).astype(pick(rng, [np.float32, np.float64]))
    kind, dtype = pick(rng, [(_kernels.Forest64, np.float64), (_kernels.Forest32, np.float32)])
    if rng.random() < 0.3:
        leaves = np.zeros(N, dtype=np.int32)
        nodes, sets = trees["nodes"][:5], trees["category_sets"][:1]
        return only(_kernels.apply, nodes=nodes, category_sets=sets, X=X, leaves=leaves, n_threads=2)
    sparse = rng.random() < 0.4
    values = {
        "values": np.ones(6 * D, dtype=dtype),
        "first_value": np.array([0, 3 * D, 6 * D]),
        "columns": np.tile(np.arange(D), 6).astype(np.int32) if sparse else None,
        "row_start": np.arange(7) * D if sparse else None,
        "coordinate": np.array([-1, -1], dtype=np.int32),
        "step": np.ones(2),
    }
    made = only(kind, **trees, **values, n_features=2)
    return [*made, then("predict", X=X, F=np.zeros((N, D), dtype=dtype), n_threads=2)]


def added(rng: Rng) -> list[Step]:
    """The values of a tree are added to scores."""
    dtype = pick(rng, [np.float32, np.float64])
    return only(
        _kernels.add_values,
        F=np.zeros((N, D), dtype=dtype),
        values=np.ones((4, D), dtype=dtype),
        step=0.5,
        leaf_of_row=rng.integers(4, size=N).astype(np.int32),
        n_threads=2,
    )


def explanations(rng: Rng) -> list[Step]:
    """Shapley values."""
    kind, dtype = pick(rng, [(_kernels.Explainer, np.float64), (_kernels.SingleExplainer, np.float32)])
    made = only(kind, **stumps(rng), count=np.tile([10.0, 6.0, 4.0, 3.0, 3.0], 2), n_features=2)
    X, sparse = rng.integers(4, size=(N, 2)).astype(np.float64), rng.random() < 0.4
    values = {
        "X": X,
        "values": np.ones(6 * D, dtype=dtype),
        "columns": np.tile(np.arange(D), 6).astype(np.int32) if sparse else None,
        "start": np.arange(7) * D if sparse else None,
    }
    if rng.random() < 0.3:
        made.append(then("set_background", X=X[:10], n_threads=2))
    if rng.random() < 0.5:
        return [*made, then("interactions", **values, out=np.zeros((N, 2, 2, D)), n_threads=2)]
    return [*made, then("values", **values, total=np.ones((N, D)), out=np.zeros((N, 2, D)), n_threads=2)]


def races(rng: Rng) -> list[Step]:
    """The exponential losses, and products."""
    U, c = rng.normal(size=(N, K)), labels(rng)
    matrix, vector = np.ones((N, K)), np.ones(N)
    return pick(
        rng,
        [
            only(_kernels.race, U=U, c=c, rate=1.0, E=matrix, Z=vector, lead=np.ones(N)),
            only(_kernels.pull_rows, E=matrix, c=c, w=vector, Z=vector),
            only(_kernels.vote_rows, P=matrix, c=c, classes=labels(rng), up=0.5, down=0.1, own=vector),
            only(_kernels.race_along, U=U, c=c, W=matrix, alpha=0.1, rate=1.0),
            only(_kernels.times, A=U, M=np.ones((K, D)), factor=0.5, out=np.zeros((N, D)), n_threads=2),
            only(_kernels.share_rounding, phi=np.ones((N, P, D)), total=np.ones((N, D))),
        ],
    )


def logistic(rng: Rng) -> list[Step]:
    """The flagship's loss and its leaves."""
    canonical = rng.random() < 0.5
    d, L = (K, 3) if canonical else (D, 3)
    Y = None if canonical else rng.normal(size=(K, D)).astype(np.float32)
    F = rng.normal(size=(N, d)).astype(np.float32)
    if rng.random() < 0.15:
        return only(_kernels.softmax_scores, F=F, Y=Y, P=np.zeros((N, K)), n_threads=2)
    G = None if canonical else np.zeros((N, d), dtype=np.float32)
    weight = np.ones(N, dtype=np.float32)
    log_cost = np.zeros((K, K), dtype=np.float32) if rng.random() < 0.3 else None
    loss, scale = np.zeros(N, dtype=np.float32), np.zeros(N)
    rows = {"F": F, "G": G, "loss": loss, "scale": scale}
    leaves = {
        "leaf_of_row": rng.integers(L, size=N).astype(np.int32),
        "rows": pick(rng, [None, np.arange(0, N, 2, dtype=np.uint32)]),
    }
    how = {"l2": 1.0, "max_step": 2.0, "thin": 0.1, "n_threads": 2}
    size = 2 * K if canonical else D + 1 + K + D * D + 1
    made = only(_kernels.LogisticLoss, Y=Y, c=labels(rng), K=K, weight=weight, log_cost=log_cost, a=0, b=1, n_all=N)
    scales, Z = {"largest_weight": 1.0, "n_rows": N}, rng.normal(size=(K, 2)).astype(np.float32)
    return [
        *made,
        then("pull", **rows, Z=Z, tilt_scale=1.0, stats=np.zeros((N, 3)), n_threads=2),
        then("largest_weight", scale=scale),
        then("newton_leaves", **rows, **leaves, n_leaves=L, **how),
        then("leaf_sums", **rows, **leaves, before=np.zeros(L, int), all=np.full(L, N), **scales, n_threads=2),
        then("leaf_values", sums=np.ones((L, size), dtype=np.uint64), **scales, **how),
    ]


def blocks(rng: Rng) -> list[Step]:
    """The loss of several labels or of several class targets, and its leaves."""
    L, S, padded = 3, 5, 16
    ends = pick(rng, [None, np.array([1, K], dtype=np.int32), np.array([K], dtype=np.int32)])
    weight = pick(rng, [None, np.ones(N, dtype=np.float32)])
    F, Z = (rng.normal(size=shape).astype(np.float32) for shape in ((N, K), (K, 2)))
    mistakes, n_blocks = np.zeros((N, padded), dtype=np.float32), K if ends is None else len(ends)
    loss, out = np.zeros(N, dtype=np.float32), np.zeros((N, n_blocks), dtype=np.float32)
    leaves = {
        "leaf_of_row": rng.integers(L, size=N).astype(np.int32),
        "rows": pick(rng, [None, np.arange(0, N, 2, dtype=np.uint32)]),
        "n_leaves": L,
        "l2": 1.0,
        "max_step": 2.0,
    }
    own = rng.integers(2, size=(S, K)).astype(np.uint8)
    return [
        *only(_kernels.BlockLoss, own=own, c=rng.integers(S, size=N), ends=ends, weight=weight),
        then("pull", F=F, Z=Z, N=mistakes, stats=np.zeros((N, 3)), loss=loss, n_threads=2),
        then("losses", F=F, temperature=0.5, out=out, n_threads=2),
        then("newton_leaves", N=mistakes, weight=None if weight is None else np.ones(N), **leaves, n_threads=2),
    ]


def candidates(rng: Rng) -> list[Step]:
    """The logistic loss for rows that keep the scores of few classes."""
    C, L = 16, 3
    rows = {
        "c": np.zeros(N, dtype=np.int64),
        "K": K,
        "own": rng.normal(size=N).astype(np.float32),
        "rest": rng.normal(size=N).astype(np.float32),
        "count": rng.integers(K, size=N).astype(np.int32),
        "classes": np.tile([1, 2, 3, 0], (N, C // 4)).astype(np.int32),
        "scores": rng.normal(size=(N, C)).astype(np.float32),
    }
    loss, scale = np.ones(N, dtype=np.float32), np.ones(N)
    leaf_of_row, Z = rng.integers(L, size=N).astype(np.int32), rng.normal(size=(K, 2)).astype(np.float32)
    used = pick(rng, [None, np.arange(0, N, 2, dtype=np.uint32)])
    written = {"stats": np.zeros((N, 3)), "loss": loss, "scale": scale, "n_threads": 2}
    leaves = {"leaf_of_row": leaf_of_row, "rows": used, "n_leaves": L, "l2": 1.0, "max_step": 2.0, "thin": 0.1}
    values = {
        "values": np.ones(5, dtype=np.float32),
        "columns": np.array([1, 3, 0, 2, 1], dtype=np.int32),
        "starts": np.array([0, 2, 2, 5]),
    }
    weights = {"weight": np.ones(N, dtype=np.float32), "a": 0, "b": 1, "tilt_scale": 1.0}
    kept = {"loss": loss, "scale": scale, "preference": Z[:, 0].copy(), "n_threads": 2}
    return [
        *only(_kernels.candidate_pull, **rows, **weights, Z=Z, **written),
        *only(_kernels.candidate_leaves, **rows, **kept, **leaves),
        *only(_kernels.candidate_add, **rows, **values, step=0.1, leaf_of_row=leaf_of_row, n_threads=2),
    ]


def games(rng: Rng) -> list[Step]:
    """Potentials of the boosting game."""
    leads = rng.integers(-3, 4, size=(int(pick(rng, [3, 20])), K - 1)).astype(np.int32)
    return only(_kernels.zero_one_potential, t=12, b=np.array([0.4, 0.2, 0.2, 0.2]), leads=leads, n_threads=2)


def machines(rng: Rng) -> list[Step]:
    """The multiclass SVM."""
    X, sparse = rng.normal(size=(N, P)), rng.random() < 0.4
    rows: dict[str, Any] = {"dense": None if sparse else X, "data": None, "indices": None, "indptr": None}
    if sparse:
        rows |= {
            "data": rng.normal(size=2 * N),
            "indices": np.tile([1, 4], N).astype(np.int32),
            "indptr": np.arange(N + 1) * 2,
        }
    if rng.random() < 0.2:
        return only(_kernels.row_hashes, **rows, n=N)
    made = only(_kernels.Svm, **rows, p=P, y=labels(rng), C=np.ones(N), K=K)
    how = {"bias": 1.0, "tol": 0.1, "max_iter": 20}
    if rng.random() < 0.5:
        return [*made, then(str(pick(rng, ["linear", "sgd"])), **how, seed=1, progress=None)]
    kernel = {"kind": int(rng.integers(3)), "gamma": 0.5, "coef0": 1.0, "degree": 2}
    return [*made, then("kernel", **kernel, **how, cache_bytes=2**20, n_threads=2, progress=None)]


SCENES = [
    sums,
    bins,
    sparse_bins,
    tables,
    shards,
    growths,
    rounds,
    forests,
    added,
    explanations,
    races,
    logistic,
    blocks,
    candidates,
    games,
    machines,
]
