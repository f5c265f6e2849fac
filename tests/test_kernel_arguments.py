"""Every compiled function checks its arguments: a call whose arguments do not fit raises, and leaves no array."""

from copy import deepcopy

import numpy as np
import pytest

from promises.files import little_memory
from promises.kernels import SCENES, K, N, P, columns, full_names, node_bytes, run, stumps
from simplexboost import _kernels
from simplexboost.engine import NODE, SET_BYTES

RNG = np.random.default_rng(0)
CODES = RNG.integers(5, size=(2, N, 8)).astype(np.uint8)
COLUMNS = columns(RNG)
STATISTICS = np.column_stack([RNG.normal(size=N), np.ones(N)])
BINS = {name: COLUMNS[name] for name in ("n_bins", "has_missing")}


def ints(*numbers, dtype=np.int32):
    return np.array(numbers, dtype=dtype)


def beyond(array, place, value):
    """A copy with one number changed."""
    out = array.copy()
    out[place] = value
    return out


def dense(codes=CODES, **changes):
    return _kernels.DenseTable(codes, **(BINS | {"n_threads": 1} | changes))


def sparse(**changes):
    rows = np.tile(np.arange(0, N, 8), P).astype(np.uint32)
    arguments = {
        "zero": np.zeros(P, dtype=np.uint8),
        "first": np.arange(P + 1) * (len(rows) // P),
        "rows": rows,
        "codes": np.ones(len(rows), dtype=np.uint8),
        "n": N,
        "n_threads": 1,
    }
    return _kernels.SparseTable(**(arguments | BINS | changes))


def shard(kind=_kernels.Shard64, codes=None, sparse_codes=None, **changes):
    arguments = {
        "dense": STATISTICS,
        "classes": None,
        "weight": None,
        "m": 2,
        "rows": None,
        "features": None,
        "segments": np.array([[0, 0]]),
        "seed": 0,
        "n_threads": 1,
    }
    codes = dense() if codes is None and sparse_codes is None else codes
    return kind(codes, sparse_codes, **(COLUMNS | arguments | changes))


def grow(source=None, **changes):
    arguments = {
        "m": 2,
        "features": None,
        "score": 0,
        "l2": 1.0,
        "max_depth": 3,
        "max_leaves": 6,
        "min_samples_leaf": 1,
        "min_category_count": 1,
        "category_smoothing": 0.0,
        "order": 0,
        "noise": 0.0,
        "seed": 0,
        "bits": 64,
        "histogram_memory": 2**20,
        "most_together": 0,
        "groups": None,
        "group_starts": None,
        "n_threads": 1,
    }
    return _kernels.grow(shard() if source is None else source, **(COLUMNS | arguments | changes))


def refused(call, message, **changes):
    with pytest.raises(ValueError, match=message):
        call(**changes)


# ---- every function -------------------------------------------------------------------------------------------------


def bindings():
    """The names of all functions, classes and methods of the compiled module that take arguments."""
    names = set()
    for name, value in vars(_kernels).items():
        if callable(value) and not name.startswith("_"):
            names.add(name)
            methods = vars(value) if isinstance(value, type) else {}
            names |= {f"{name}.{method}" for method, does in methods.items() if callable(does) and method[0] != "_"}
    return names - {"instruction_set"}  # which takes none


def sound_calls():
    """By name, a sequence of sound calls that calls it, and at which place."""
    found = {}
    for scene in SCENES:
        for seed in range(60):
            for place, name in enumerate(full_names(scene(np.random.default_rng(seed)))):
                found.setdefault(name, (scene, seed, place))
    return found


SOUND = sound_calls()


def test_promises_try_every_function():
    """Whoever adds a binding adds calls of it to promises/kernels.py, which are then changed at random."""
    assert set(SOUND) == bindings()


@pytest.mark.parametrize("name", sorted(SOUND))
def test_what_is_no_argument_is_refused(name):
    """Each argument in turn is an object; and no function works with no threads."""
    scene, seed, place = SOUND[name]
    run(scene(np.random.default_rng(seed)))
    for argument in scene(np.random.default_rng(seed))[place].arguments:
        steps = scene(np.random.default_rng(seed))[: place + 1]
        if argument == "progress":
            continue  # it is called, if at all, after some passes
        steps[place].arguments[argument] = object()
        with pytest.raises(TypeError):
            run(steps)
        if argument == "n_threads":
            steps[place].arguments[argument] = 0
            with pytest.raises(ValueError, match="n_threads"):
                run(steps)


# ---- tables of codes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": beyond(CODES, (0, 7, 3), 6)}, "beyond the bins"),
        ({"codes": beyond(CODES, (1, N - 1, 0), 5)}, "beyond the bins"),
        ({"codes": CODES[:1].copy()}, "n_blocks, n, 8"),
        ({"codes": CODES[:, :, :4].copy()}, "n_blocks, n, 8"),
        ({"n_bins": beyond(BINS["n_bins"], 2, 300)}, "n_bins must lie"),
        ({"n_bins": beyond(BINS["n_bins"], 2, 0)}, "n_bins must lie"),
        ({"n_bins": BINS["n_bins"][:-1].copy()}, "one entry per feature"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_dense_codes(changes, message):
    dense()
    refused(dense, message, **changes)


def test_the_code_of_missing_values_is_a_bin_only_where_there_are_some():
    """Column 0 has missing values, column 1 has none; both have five bins."""
    dense(beyond(CODES, (0, 3, 0), 5))
    refused(dense, "beyond the bins", codes=beyond(CODES, (0, 3, 1), 5))
    dense(beyond(CODES, (1, 3, 7), 255))  # beyond the last column, where nobody looks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": np.full(5 * P, 9, dtype=np.uint8)}, "its codes be bins"),
        ({"rows": np.zeros(5 * P, dtype=np.uint32)}, "must ascend"),
        ({"rows": np.tile(np.arange(5) + N, P).astype(np.uint32)}, "must ascend"),
        ({"first": np.arange(P + 1) * 6}, "span the entries"),
        ({"zero": np.full(P, 7, dtype=np.uint8)}, "beyond the bins"),
        ({"n": 2**31}, "more than 2"),
        ({"n_threads": -3}, "n_threads"),
    ],
)
def test_sparse_codes(changes, message):
    sparse()
    refused(sparse, message, **changes)


# ---- shards and trees -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_bins": COLUMNS["n_bins"] + 1}, "other bins"),
        ({"has_missing": 1 - COLUMNS["has_missing"]}, "other bins"),
        ({"sparse_codes": sparse(n_bins=COLUMNS["n_bins"] + 1)}, "other bins"),
        ({"dense": np.ones((N, 3))}, r"\(n, m\)"),
        ({"dense": np.ones((N - 1, 2))}, r"\(n, m\)"),
        ({"dense": None}, r"\(n,\)"),
        ({"m": 0, "dense": np.ones((N, 0))}, "m must lie"),
        ({"dense": None, "classes": np.full(N, 2, np.int32), "weight": np.ones(N)}, "classes must lie"),
        ({"dense": None, "classes": np.full(N, -1, np.int32), "weight": np.ones(N)}, "classes must lie"),
        ({"dense": None, "classes": np.zeros(N, np.int32), "weight": np.ones(N - 1)}, r"\(n,\)"),
        ({"rows": ints(0, N, dtype=np.uint32)}, "ascending row numbers"),
        ({"rows": ints(3, 3, dtype=np.uint32)}, "ascending row numbers"),
        ({"features": ints(0, P)}, "ascending feature numbers"),
        ({"features": ints(-1)}, "ascending feature numbers"),
        ({"features": ints()}, "not be empty"),
        ({"segments": np.array([[5, 0]])}, "beginning at row 0"),
        ({"segments": np.array([[0, 0], [0, 5]])}, "ascend"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_shards(changes, message):
    shard()
    refused(shard, message, **changes)


def quantized():
    made = shard()
    made.quantize(ints(8, 8))
    return made


def expand(made, cells, splits=((1, 2, 0, 0),)):
    b = len(cells)
    cells, splits = np.array(cells, dtype=np.int32), np.array(splits * b, dtype=np.int32)
    return made.expand(cells, splits, np.zeros((b, SET_BYTES), dtype=np.uint8), np.ones((b, 2), dtype=np.uint8))


@pytest.mark.parametrize(
    ("cells", "splits"),
    [
        ([(5, 1, 2)], ((1, 2, 0, 0),)),
        ([(-1, 1, 2)], ((1, 2, 0, 0),)),
        ([(0, 2**30, 2**30 + 1)], ((1, 2, 0, 0),)),
        ([(0, 0, 1)], ((1, 2, 0, 0),)),
        ([(0, 1, 2), (0, 3, 4)], ((1, 2, 0, 0),)),
        ([(0, 1, 2)], ((P, 2, 0, 0),)),
        ([(0, 1, 2)], ((-1, 2, 0, 0),)),
        ([(0, 1, 2)], ((1, 256, 0, 0),)),
    ],
)
def test_orders(cells, splits):
    with pytest.raises(ValueError, match=r"an order must cut|splits must name"):
        expand(quantized(), cells, splits)


def test_the_methods_of_a_shard():
    made = quantized()
    expand(made, [(0, 1, 2)])
    refused(made.root, "cut afterwards")
    refused(shard().root, "quantize first")
    refused(made.quantize, "entry per column", exponents=ints(8))
    refused(made.quantize, "exponents must lie", exponents=ints(8, 10**6))
    for unit in (np.nan, 0.0, -1.0):
        refused(made.column_magnitudes, "finite, positive entry", unit=np.array([1.0, unit]))
    refused(made.column_maxima, "n rows", values=np.ones((N + 1, 2)))
    refused(made.cell_sizes, "cells of the source", cells=ints(3))
    refused(made.leaf_limbs, "entry per column", cells=ints(1), values=None, largest=np.ones(1), n_rows=N)
    refused(made.leaf_limbs, "n rows", cells=ints(1), values=np.ones((N - 1, 1)), largest=np.ones(1), n_rows=N)
    nothing = made.leaf_limbs(cells=ints(1), values=np.ones((N, 0)), largest=np.ones(0), n_rows=N)
    assert _kernels.limb_values(nothing, np.ones(0), N).shape == (1, 0)


def one_hot(values):
    """Statistics of one column, as a weight per row."""
    return {"dense": None, "classes": np.zeros(N, dtype=np.int32), "weight": values, "m": 1}


@pytest.mark.parametrize(("kind", "most"), [(_kernels.Shard64, 61), (_kernels.Shard32, 30)])
@pytest.mark.parametrize("asked", [None, 2.0**20, 2.0**-1000])
@pytest.mark.parametrize("arrange", [lambda values: {"dense": values[:, None], "m": 1}, one_hot])
def test_sums_of_integers_do_not_overflow(kind, most, asked, arrange):
    """32 ones may be multiplied by 2^(most - 5), whether or not their magnitude was asked for before."""
    made = shard(kind, **arrange(np.where(np.arange(N) < 32, 1.0, 0.0)))
    if asked is not None:
        made.column_magnitudes(np.array([asked]))
    if asked != 2.0**-1000:  # in so small a unit every row counts as one: only small scales are known to be safe
        made.quantize(ints(most - 5))
        assert made.root().reshape(-1, _kernels.lane_count(1))[: 5 + 1, 0].sum() == 2**most
    for exponent in (most - 4, 70, 1000):
        refused(made.quantize, "overflow", exponents=ints(exponent))


@pytest.mark.parametrize("kind", [_kernels.Shard64, _kernels.Shard32])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_without_a_size_do_not_become_integers(kind, number):
    bad = {"dense": beyond(STATISTICS, (7, 0), number)}
    refused(shard(kind, **bad).quantize, "finite", exponents=ints(8, 8))
    refused(grow, "finite", source=shard(kind, **bad), bits=64 if kind is _kernels.Shard64 else 32)


def test_statistics_of_any_size_have_a_scale_or_are_too_large():
    """Multiplied by a power of two they give the same tree, down to where doubles end; the very largest are refused."""
    rng, n = np.random.default_rng(0), 12_000
    codes = dense(rng.integers(5, size=(2, n, 8)).astype(np.uint8))
    values = rng.uniform(0.5, 1.0, size=(n, 2))

    def tree(exponent):
        source = shard(_kernels.Shard32, codes, dense=np.ldexp(values, exponent))
        return grow(source, bits=32, score=2)[0].tobytes()  # the largest sum: a score that doubles as they do

    wanted = tree(0)
    assert len(wanted) > _kernels.NODE_SIZE
    for exponent in (900, -900, -979, -980, -981, -982, -983):
        assert tree(exponent) == wanted, exponent
    with pytest.raises(ValueError, match="too large"):
        tree(1022)


def test_the_leaves_of_rows_are_theirs_alone():
    """As many rows as there are must be all of them: else some would keep what was in the memory before."""
    nodes = np.zeros(3, dtype=NODE)
    nodes["feature"], nodes["left"], nodes["category"] = [1, -1, -1], [1, 0, 1], -1
    made = quantized()
    expand(made, [(0, 1, 2)])
    tree = {"nodes": node_bytes(nodes), "category_sets": np.zeros((0, SET_BYTES), dtype=np.uint8)}
    assert set(made.leaf_of_row(**tree, cells=ints(1, 2)).tolist()) == {0, 1}
    refused(made.leaf_of_row, "overlap", **tree, cells=ints(0, 0))
    refused(made.leaf_of_row, "overlap", **tree, cells=ints(0, 1))
    refused(made.leaf_of_row, "entry per leaf", **tree, cells=ints(1))
    refused(made.leaf_of_row, "cells of the source", **tree, cells=ints(1, 9))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": shard(_kernels.Shard32)}, "bits"),
        ({"source": shard(features=ints(0, 1, 2))}, "disagree"),
        ({"features": ints(0, 1, 2)}, "disagree"),
        ({"n_bins": COLUMNS["n_bins"] + 1}, "disagree"),
        ({"has_missing": 1 - COLUMNS["has_missing"]}, "disagree"),
        ({"categorical": 1 - COLUMNS["categorical"]}, "disagree"),
        ({"m": 3}, "disagree"),
        ({"m": 0}, "m must lie"),
        ({"source": shard(rows=ints(dtype=np.uint32))}, "not be empty"),
        ({"score": 6}, "score"),
        ({"score": -1}, "score"),
        ({"l2": np.nan}, "l2"),
        ({"l2": -1.0}, "l2"),
        ({"max_depth": -1}, "max_depth"),
        ({"max_leaves": -1}, "max_leaves"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_samples_leaf": -(2**63)}, "min_samples_leaf"),
        ({"min_category_count": 0}, "min_category_count"),
        ({"category_smoothing": np.inf}, "category_smoothing"),
        ({"order": 3}, "order"),
        ({"order": 2, "max_depth": 16}, "symmetric"),
        ({"noise": np.nan}, "noise"),
        ({"bits": 16}, "bits"),
        ({"groups": ints(0, 1)}, "go together"),
        ({"groups": ints(0, P), "group_starts": ints(0, 2, dtype=np.int64)}, "ascending feature numbers"),
        ({"groups": ints(0, 1), "group_starts": ints(0, 9, dtype=np.int64)}, "ascending places"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_growing(changes, message):
    grow()
    refused(grow, message, **changes)


def test_the_largest_number_of_rows_in_a_leaf_is_no_overflow():
    nodes, *_ = grow(min_samples_leaf=2**63 - 1)
    assert len(nodes) == 1


def test_a_shard_is_grown_on_once():
    """Its rows are cut then, and in another order."""
    source = shard()
    nodes, *_ = grow(source)
    assert len(nodes) > 1
    refused(grow, "disagree", source=source)


class Liar:
    """A source whose histograms are always the same, whatever was cut: a tree on it would never end."""

    n_rows = N

    def __init__(self):
        self.real = quantized()
        self.histogram = self.real.root()

    def column_maxima(self):
        return self.real.column_maxima()

    def column_magnitudes(self, unit):
        return self.real.column_magnitudes(unit)

    def quantize(self, exponents):
        """It is already."""

    def root(self):
        return self.histogram

    def expand(self, cells, splits, sets, build):
        return np.repeat(self.histogram[None], int(build.sum()), axis=0)

    def cell_sizes(self, cells):
        return np.full(len(cells), N)


def test_a_source_that_contradicts_itself_is_noticed():
    refused(grow, "do not fit its rows", source=Liar(), max_depth=0, max_leaves=0)


def test_a_source_with_other_columns_is_noticed():
    liar = Liar()
    liar.column_maxima = lambda: np.ones(3)
    liar.column_magnitudes = lambda unit: unit
    refused(grow, "another number of columns", source=liar)


# ---- trees that come from elsewhere ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "message"),
    [([1, 3, 0, 0, 1], "index of its own"), ([1, 2, 0, 1, 2], "lead to the same node")],
)
def test_paths_of_a_tree_do_not_meet(left, message):
    trees = stumps(RNG)
    nodes = trees["nodes"][:5].copy().view(NODE)[:, 0].copy()
    nodes["left"] = left
    leaves = np.zeros(N, dtype=np.int32)
    with pytest.raises(ValueError, match=message):
        _kernels.apply(node_bytes(nodes), trees["category_sets"][:1], np.zeros((N, 2)), leaves, 1)


# ---- the rest -------------------------------------------------------------------------------------------------------

ROWS = {"U": np.ones((N, K)), "c": np.zeros(N, dtype=np.int64), "rate": 1.0}
RACE = ROWS | {"E": np.ones((N, K)), "Z": np.ones(N), "lead": np.ones(N)}
EDGES = {"edges": np.tile([-1.0, 1.0], P), "first_edge": np.arange(P + 1) * 2}
CODED = {"codes": np.zeros((2, N, 8), dtype=np.uint8), "has_missing": np.zeros(P, dtype=np.uint8), "n_threads": 1}
DENSE = {"X": np.zeros((N, P))} | EDGES | CODED
GAME = {"t": 5, "b": np.array([0.4, 0.3, 0.3]), "leads": np.zeros((3, 2), dtype=np.int32), "n_threads": 1}
LOSS = {"Y": None, "c": np.zeros(N, dtype=np.int64), "K": K, "weight": None, "log_cost": None}
LOSS |= {"a": 0, "b": 0, "n_all": N}
MACHINE = {"dense": np.ones((N, P)), "data": None, "indices": None, "indptr": None, "p": P}
MACHINE |= {"y": np.zeros(N, dtype=np.int64), "C": np.ones(N), "K": K}
SPARSE_ROWS = {"dense": None, "data": np.ones(N), "indices": np.zeros(N, np.int32), "indptr": np.arange(N + 1)}
LISTS = {"c": np.zeros(N, dtype=np.int64), "K": K, "own": np.zeros(N, np.float32), "rest": np.zeros(N, np.float32)}
LISTS |= {"count": np.full(N, 2, np.int32), "classes": np.tile(ints(1, 2, 0, 0), (N, 4))}
LISTS |= {"scores": np.zeros((N, 16), np.float32)}
PULL = LISTS | {"weight": None, "a": 0, "b": 0, "tilt_scale": 1.0, "Z": np.ones((K, 2), np.float32), "n_threads": 1}
PULL |= {"stats": np.zeros((N, 3)), "loss": np.zeros(N, np.float32), "scale": None}
LEAVES = {"leaf_of_row": np.zeros(N, np.int32), "rows": None, "n_leaves": 2, "l2": 1.0, "max_step": 2.0, "n_threads": 1}
LISTED = LISTS | LEAVES | {"loss": np.ones(N, np.float32), "scale": None, "preference": np.ones(K, np.float32)}
LISTED |= {"thin": 0.1}
ADDED = LISTS | {"values": np.ones(2, np.float32), "columns": ints(1, 3), "starts": ints(0, 2, dtype=np.int64)}
ADDED |= {"step": 0.1, "leaf_of_row": np.zeros(N, np.int32), "n_threads": 1}
BLOCKS = {"own": np.eye(K, dtype=np.uint8), "c": np.zeros(N, dtype=np.int64), "ends": ints(1, K), "weight": None}
SHAPLEY = stumps(RNG) | {"count": np.ones(10), "n_features": 2}


@pytest.mark.parametrize(
    ("call", "arguments", "changes", "message"),
    [
        (_kernels.race, RACE, {"c": np.full(N, K)}, "labels"),
        (_kernels.race, RACE, {"c": np.full(N, -1)}, "labels"),
        (_kernels.race, RACE, {"c": np.zeros(N - 1, dtype=np.int64)}, "labels"),
        (_kernels.race, RACE, {"Z": np.ones(N - 1)}, "disagree"),
        (_kernels.total, {"values": np.ones(3), "n_threads": 1}, {"n_threads": 0}, "n_threads"),
        (_kernels.sum_limbs, {"values": np.ones(3), "largest": 1.0, "n_all": 3}, {"n_all": 2}, "n_all"),
        (_kernels.sum_limbs, {"values": np.ones(3), "largest": 1.0, "n_all": 3}, {"largest": 0.5}, "largest"),
        (_kernels.sum_limbs, {"values": np.ones(3), "largest": 1.0, "n_all": 3}, {"largest": np.inf}, "largest"),
        (_kernels.limb_total, {"hi": 1, "lo": 1, "largest": 1.0, "n_all": 3}, {"largest": np.nan}, "largest"),
        (
            _kernels.limb_values,
            {"limbs": np.ones((2, 2, 1), dtype=np.uint64), "largest": np.ones(1), "n_rows": 1},
            {"limbs": np.ones((2, 3, 1), dtype=np.uint64)},
            "limbs must be",
        ),
        (_kernels.bin_values, DENSE, {"edges": EDGES["edges"][::-1].copy()}, "ascend"),
        (_kernels.bin_values, DENSE, {"edges": np.full(2 * P, np.nan)}, "ascend"),
        (_kernels.bin_values, DENSE, {"first_edge": np.arange(P + 1)}, "span"),
        (_kernels.bin_values, DENSE, {"codes": np.zeros((1, N, 8), dtype=np.uint8)}, "shapes"),
        (_kernels.zero_one_potential, GAME, {"t": -1}, "t must lie"),
        (_kernels.zero_one_potential, GAME, {"t": 2**31 - 1}, "t must lie"),
        (_kernels.zero_one_potential, GAME, {"b": np.array([np.nan, 0.5, 0.5])}, "b must"),
        (_kernels.zero_one_potential, GAME, {"b": np.array([-0.5, 1.0, 0.5])}, "b must"),
        (_kernels.zero_one_potential, GAME, {"leads": np.full((3, 2), -(2**31), dtype=np.int32)}, "leads"),
        (_kernels.zero_one_potential, GAME, {"leads": np.zeros((3, 3), dtype=np.int32)}, "leads"),
        (_kernels.LogisticLoss, LOSS, {"K": 1}, "K must lie"),
        (_kernels.LogisticLoss, LOSS, {"K": 2**62}, "K must lie"),
        (_kernels.LogisticLoss, LOSS, {"Y": np.zeros((K, 0), dtype=np.float32)}, "Y must"),
        (_kernels.LogisticLoss, LOSS, {"n_all": N - 1}, "n_all"),
        (_kernels.LogisticLoss, LOSS, {"a": 65}, "exponents"),
        *[
            (call, arguments, changes, message)
            for call, arguments in (
                (_kernels.candidate_pull, PULL),
                (_kernels.candidate_leaves, LISTED),
                (_kernels.candidate_add, ADDED),
            )
            for changes, message in (
                ({"K": 1}, "K must lie"),
                ({"K": 2**62}, "K must lie"),
                ({"c": np.full(N, K)}, "labels"),
                ({"c": np.full(N, -1)}, "labels"),
                ({"own": np.zeros(N - 1, np.float32)}, "own, rest and count"),
                ({"rest": np.zeros(N + 1, np.float32)}, "own, rest and count"),
                ({"count": np.zeros(N - 1, np.int32)}, "own, rest and count"),
                ({"count": np.full(N, 17, np.int32)}, "more candidates than places or rivals"),
                ({"count": np.full(N, K, np.int32)}, "more candidates than places or rivals"),
                ({"count": beyond(LISTS["count"], N - 1, -1)}, "more candidates than places or rivals"),
                ({"classes": beyond(LISTS["classes"], (N - 1, 1), K)}, "candidates must lie"),
                ({"classes": beyond(LISTS["classes"], (0, 0), -1)}, "candidates must lie"),
                ({"classes": LISTS["classes"][:, :15].copy()}, "multiple of 16"),
                ({"classes": LISTS["classes"][:, :0].copy()}, "multiple of 16"),
                ({"classes": LISTS["classes"][1:].copy()}, r"\(n, C\)"),
                ({"scores": np.zeros((N, 32), np.float32)}, r"\(n, C\)"),
            )
        ],
        (_kernels.candidate_pull, PULL, {"Z": np.ones((K + 1, 2), np.float32)}, "Z must"),
        (_kernels.candidate_pull, PULL, {"stats": np.zeros((N, 2))}, "stats must"),
        (_kernels.candidate_pull, PULL, {"loss": np.zeros(N - 1, np.float32)}, "loss and scale"),
        (_kernels.candidate_pull, PULL, {"scale": np.zeros(N - 1)}, "loss and scale"),
        (_kernels.candidate_pull, PULL, {"weight": np.ones(N - 1, np.float32)}, "entry per row"),
        (_kernels.candidate_pull, PULL, {"a": -1}, "exponents"),
        (_kernels.candidate_pull, PULL, {"b": 65}, "exponents"),
        (_kernels.candidate_leaves, LISTED, {"loss": np.ones(N + 1, np.float32)}, "loss and scale"),
        (_kernels.candidate_leaves, LISTED, {"scale": np.ones(N + 1)}, "loss and scale"),
        (_kernels.candidate_leaves, LISTED, {"preference": np.ones(K - 1, np.float32)}, "preference"),
        (_kernels.candidate_leaves, LISTED, {"leaf_of_row": np.zeros(N - 1, np.int32)}, "leaf_of_row"),
        (_kernels.candidate_leaves, LISTED, {"leaf_of_row": np.full(N, 2, np.int32)}, "leaves must lie"),
        (_kernels.candidate_leaves, LISTED, {"leaf_of_row": np.full(N, -1, np.int32)}, "leaves must lie"),
        (_kernels.candidate_leaves, LISTED, {"rows": ints(0, N, dtype=np.uint32)}, "ascending row numbers"),
        (_kernels.candidate_leaves, LISTED, {"rows": ints(3, 3, dtype=np.uint32)}, "ascending row numbers"),
        (_kernels.candidate_leaves, LISTED, {"n_leaves": 2**15 + 1}, "too many leaves"),
        (_kernels.candidate_leaves, LISTED, {"n_leaves": 2**31}, "fewer than 2"),
        (_kernels.candidate_leaves, LISTED, {"l2": np.nan}, "l2 and thin"),
        (_kernels.candidate_leaves, LISTED, {"thin": -0.1}, "l2 and thin"),
        (_kernels.candidate_leaves, LISTED, {"max_step": 0.0}, "max_step"),
        (_kernels.candidate_leaves, LISTED, {"max_step": np.nan}, "max_step"),
        (_kernels.candidate_add, ADDED, {"columns": ints(1)}, "have a column"),
        (_kernels.candidate_add, ADDED, {"columns": ints(1, K)}, "columns must lie"),
        (_kernels.candidate_add, ADDED, {"columns": ints(-1, 1)}, "columns must lie"),
        (_kernels.candidate_add, ADDED, {"starts": ints(dtype=np.int64)}, "have a column"),
        (_kernels.candidate_add, ADDED, {"starts": ints(0, 3, dtype=np.int64)}, "starts must ascend"),
        (_kernels.candidate_add, ADDED, {"starts": ints(0, 3, 2, dtype=np.int64)}, "starts must ascend"),
        (_kernels.candidate_add, ADDED, {"starts": ints(-1, 2, dtype=np.int64)}, "starts must ascend"),
        (_kernels.candidate_add, ADDED, {"leaf_of_row": np.ones(N, np.int32)}, "leaves must lie"),
        (_kernels.BlockLoss, BLOCKS, {"own": np.zeros((K, 0), np.uint8), "ends": None}, "K must lie"),
        (_kernels.BlockLoss, BLOCKS, {"c": np.full(N, K)}, "labels"),
        (_kernels.BlockLoss, BLOCKS, {"c": np.full(N, -1)}, "labels"),
        (_kernels.BlockLoss, BLOCKS, {"weight": np.ones(N - 1, np.float32)}, "entry per row"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints()}, "last block"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(1, K - 1)}, "last block"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(1, K + 1)}, "last block"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(2, 2, K)}, "ends ascend"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(-1, K)}, "ends ascend"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(0, K)}, "ends ascend"),
        (_kernels.BlockLoss, BLOCKS, {"ends": ints(K + 3, K)}, "ends ascend"),
        (_kernels.Svm, MACHINE, {"K": 2**62}, "K must lie"),
        (_kernels.Svm, MACHINE, {"K": 1}, "K must lie"),
        (_kernels.Svm, MACHINE, {"K": N + 1}, "more classes than rows"),
        (_kernels.Svm, MACHINE, {"C": np.zeros(N)}, "C must"),
        (_kernels.Svm, MACHINE, {"dense": np.full((N, P), np.nan)}, "finite"),
        (_kernels.Svm, MACHINE, {"dense": np.ones((N, P + 1))}, r"\(n, p\)"),
        (_kernels.Svm, MACHINE | SPARSE_ROWS, {"indices": np.full(N, P, np.int32)}, "indices"),
        (_kernels.Svm, MACHINE | SPARSE_ROWS, {"p": 2**40}, "p below"),
        (_kernels.Svm, MACHINE | SPARSE_ROWS, {"indptr": np.arange(N + 1)[::-1].copy()}, "indptr"),
        (_kernels.Explainer, SHAPLEY, {"count": np.full(10, np.inf)}, "counts"),
        (_kernels.Explainer, SHAPLEY, {"count": np.full(10, -1.0)}, "counts"),
        (_kernels.Explainer, SHAPLEY, {"n_features": 0}, "n_features"),
        (_kernels.Explainer, SHAPLEY, {"first_node": np.array([0, 4, 10])}, "odd"),
    ],
)
def test_arguments_that_do_not_fit(call, arguments, changes, message):
    call(**deepcopy(arguments))  # some are written to
    refused(call, message, **deepcopy(arguments | changes))


def test_leaves_of_the_loss():
    """Each leaf takes memory and time, so there are no more than rows, or than a symmetric tree has."""
    loss = _kernels.LogisticLoss(**LOSS)
    rows = {"F": np.zeros((N, K), np.float32), "G": None, "loss": np.zeros(N, np.float32), "scale": np.ones(N)}
    how = {"leaf_of_row": np.zeros(N, np.int32), "rows": None, "l2": 1.0, "max_step": 2.0, "thin": 0.0, "n_threads": 1}
    for some in (N, 2**15):
        assert loss.newton_leaves(**rows, **how, n_leaves=some).shape == (some, K)
    for more in (2**15 + 1, 2**30):
        refused(loss.newton_leaves, "too many leaves", **rows, **how, n_leaves=more)


PADDED = np.zeros((N, 16), np.float32)  # (n, Kp)
LOGITS = {"F": np.zeros((N, K), np.float32), "n_threads": 1}
PULLED = LOGITS | {"Z": np.ones((K, 2), np.float32), "N": PADDED, "stats": np.zeros((N, 3))}
PULLED |= {"loss": np.zeros(N, np.float32)}
OF_BLOCKS = LOGITS | {"temperature": 1.0, "out": np.zeros((N, 2), np.float32)}
STEPS = LEAVES | {"N": PADDED, "weight": None}


@pytest.mark.parametrize(
    ("method", "arguments", "changes", "message"),
    [
        ("pull", PULLED, {"F": np.zeros((N, K + 1), np.float32)}, "F must"),
        ("pull", PULLED, {"F": np.zeros((N - 1, K), np.float32)}, "F must"),
        ("pull", PULLED, {"Z": np.ones((K - 1, 2), np.float32)}, "Z must"),
        ("pull", PULLED, {"N": np.zeros((N, K), np.float32)}, "N must"),
        ("pull", PULLED, {"N": np.zeros((N - 1, 16), np.float32)}, "N must"),
        ("pull", PULLED, {"stats": np.zeros((N, 2))}, "stats must"),
        ("pull", PULLED, {"loss": np.zeros(N + 1, np.float32)}, "loss must"),
        ("losses", OF_BLOCKS, {"F": np.zeros((N, K - 1), np.float32)}, "F must"),
        ("losses", OF_BLOCKS, {"out": np.zeros((N, K), np.float32)}, "out must"),
        ("losses", OF_BLOCKS, {"temperature": np.nan}, "temperature"),
        ("newton_leaves", STEPS, {"N": np.zeros((N, K), np.float32)}, "N must"),
        ("newton_leaves", STEPS, {"weight": np.ones(N - 1)}, "weight must"),
        ("newton_leaves", STEPS, {"leaf_of_row": np.full(N, 2, np.int32)}, "leaves must lie"),
        ("newton_leaves", STEPS, {"rows": ints(0, N, dtype=np.uint32)}, "ascending row numbers"),
        ("newton_leaves", STEPS, {"n_leaves": 2**15 + 1}, "too many leaves"),
        ("newton_leaves", STEPS, {"l2": -1.0}, "l2 and thin"),
        ("newton_leaves", STEPS, {"max_step": 0.0}, "max_step"),
    ],
)
def test_the_methods_of_the_loss_of_blocks(method, arguments, changes, message):
    call = getattr(_kernels.BlockLoss(**BLOCKS), method)
    call(**deepcopy(arguments))
    refused(call, message, **deepcopy(arguments | changes))


@pytest.mark.parametrize(
    "changes",
    [{"tol": np.nan}, {"tol": -1.0}, {"max_iter": 0}, {"bias": np.inf}],
)
def test_the_options_of_solvers(changes):
    machine = _kernels.Svm(**MACHINE)
    for solve in (machine.linear, machine.sgd):
        refused(
            solve,
            next(iter(changes)),
            **({"bias": 1.0, "tol": 0.1, "max_iter": 3, "seed": 0, "progress": None} | changes),
        )


@pytest.mark.parametrize("changes", [{"gamma": -0.5}, {"gamma": np.nan}, {"coef0": np.inf}, {"degree": -1}])
def test_the_options_of_kernels(changes):
    """A negative gamma would make exponentials, which are computed for numbers up to 0 only, grow."""
    how = {"kind": 1, "gamma": 0.5, "coef0": 0.0, "degree": 2, "bias": 1.0, "tol": 0.1, "max_iter": 3}
    machine, rest = _kernels.Svm(**MACHINE), {"cache_bytes": 2**20, "n_threads": 1, "progress": None}
    machine.kernel(**how, **rest)
    refused(machine.kernel, next(iter(changes)), **(how | changes), **rest)


def test_columns_that_are_not_in_use_take_no_memory():
    """A row of 2^31 - 1 numbers would be 16 GiB."""
    entries = {"data": np.ones(N), "indices": np.arange(N, dtype=np.int32) % 5, "indptr": np.arange(N + 1)}
    machine = _kernels.Svm(**(MACHINE | {"dense": None, "p": 2**31 - 1} | entries))
    with little_memory():
        *_, n_iter, _ = machine.kernel(1, 0.5, 0.0, 2, 1.0, 0.1, 3, 2**20, 1, None)
    assert n_iter >= 1


def test_what_is_written_to_is_no_copy():
    """An array of another type would be converted, and the results be lost with the copy."""
    with pytest.raises(TypeError):
        _kernels.bin_values(**(DENSE | {"codes": np.zeros((2, N, 8))}))
    with pytest.raises(TypeError):
        _kernels.apply(stumps(RNG)["nodes"][:5], np.zeros((1, SET_BYTES), np.uint8), np.zeros((N, 2)), np.zeros(N), 1)
