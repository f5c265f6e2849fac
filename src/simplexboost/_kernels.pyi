"""The compiled engine; shapes and meanings stand at its callers in ``engine`` and ``losses``."""

from typing import Any

from ._util.arrays import AnyArray, Array

NODE_SIZE: int
TILE: int

def instruction_set() -> str: ...
def find_edges(X: AnyArray, rows: AnyArray | None, max_bins: int, n_threads: int) -> tuple[Array, AnyArray]: ...
def bin_values(
    X: AnyArray, edges: Array, first_edge: AnyArray, codes: AnyArray, has_missing: AnyArray, n_threads: int
) -> None: ...
def find_edges_sparse(
    n: int, first: AnyArray, rows: AnyArray, values: AnyArray, max_bins: int, n_threads: int
) -> tuple[Array, AnyArray]: ...
def bin_sparse(
    n: int,
    first: AnyArray,
    rows: AnyArray,
    values: AnyArray,
    edges: Array,
    first_edge: AnyArray,
    n_threads: int,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]: ...
def gather_columns(
    first: AnyArray, columns: AnyArray, values: AnyArray, place: AnyArray, out: AnyArray, n_threads: int
) -> None: ...

class DenseTable:
    def __init__(self, codes: AnyArray, n_bins: AnyArray, has_missing: AnyArray, n_threads: int) -> None: ...

class SparseTable:
    def __init__(
        self,
        zero: AnyArray,
        first: AnyArray,
        rows: AnyArray,
        codes: AnyArray,
        n_bins: AnyArray,
        has_missing: AnyArray,
        n: int,
        n_threads: int,
    ) -> None: ...

class Shard64:
    def __init__(
        self,
        codes: DenseTable | None,
        sparse: SparseTable | None,
        n_bins: AnyArray,
        has_missing: AnyArray,
        categorical: AnyArray,
        dense: Array | None,
        classes: AnyArray | None,
        weight: Array | None,
        m: int,
        rows: AnyArray | None,
        features: AnyArray | None,
        segments: AnyArray,
        seed: int,
        n_threads: int,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def column_maxima(self, values: AnyArray | None = None) -> Array: ...
    def column_magnitudes(self, unit: Array) -> Array: ...
    def quantize(self, exponents: AnyArray) -> None: ...
    def root(self) -> AnyArray: ...
    def expand(self, cells: AnyArray, splits: AnyArray, sets: AnyArray, build: AnyArray) -> AnyArray: ...
    def leaf_limbs(self, cells: AnyArray, values: AnyArray | None, largest: Array, n_rows: int) -> AnyArray: ...
    def leaf_of_row(self, nodes: AnyArray, category_sets: AnyArray, cells: AnyArray) -> AnyArray: ...

class Shard32(Shard64): ...

def grow(
    source: Any,
    n_bins: AnyArray,
    has_missing: AnyArray,
    categorical: AnyArray,
    m: int,
    features: AnyArray | None,
    score: int,
    l2: float,
    max_depth: int,
    max_leaves: int,
    min_samples_leaf: int,
    min_category_count: int,
    category_smoothing: float,
    order: int,
    noise: float,
    seed: int,
    bits: int,
    histogram_memory: int,
    most_together: int,
    groups: AnyArray | None,
    group_starts: AnyArray | None,
    n_threads: int,
) -> tuple[AnyArray, Array, AnyArray, AnyArray, AnyArray, Array]: ...
def lane_count(m: int) -> int: ...
def limb_values(limbs: AnyArray, largest: Array, n_rows: int) -> Array: ...
def total(values: AnyArray, n_threads: int) -> float: ...
def total_magnitude(values: AnyArray, n_threads: int) -> float: ...
def largest_magnitude(values: Array) -> float: ...
def sum_limbs(values: Array, largest: float, n_all: int) -> tuple[int, int]: ...
def limb_total(hi: int, lo: int, largest: float, n_all: int) -> float: ...
def apply(nodes: AnyArray, category_sets: AnyArray, X: AnyArray, leaves: AnyArray, n_threads: int) -> None: ...

class Rounds:
    def __init__(
        self,
        loss: LogisticLoss,
        codes: DenseTable | None,
        sparse: SparseTable | None,
        n_bins: AnyArray,
        has_missing: AnyArray,
        categorical: AnyArray,
        edges: Array,
        first_edge: AnyArray,
        seen: AnyArray,
        l2: float,
        max_depth: int,
        max_leaves: int,
        min_samples_leaf: int,
        category_smoothing: float,
        order: int,
        noise: float,
        bits: int,
        histogram_memory: int,
        most_together: int,
        groups: AnyArray | None,
        group_starts: AnyArray | None,
        leaf_l2: float,
        max_step: float,
        thin: float,
    ) -> None: ...
    def make(
        self,
        F: AnyArray,
        G: AnyArray | None,
        stats: Array,
        loss: AnyArray,
        scale: Array | None,
        weight: Array | None,
        weights: float,
        Z: AnyArray,
        seeds: AnyArray,
        rows: AnyArray | None,
        row_starts: AnyArray | None,
        features: AnyArray | None,
        feature_starts: AnyArray | None,
        min_category_counts: AnyArray,
        step: float,
        reach: float,
        limit: float,
        seconds: float,
        n_threads: int,
    ) -> tuple[Any, ...]: ...

class Forest64:
    def __init__(
        self,
        nodes: AnyArray,
        first_node: AnyArray,
        values: AnyArray,
        first_value: AnyArray,
        columns: AnyArray | None,
        row_start: AnyArray | None,
        coordinate: AnyArray,
        step: Array,
        category_sets: AnyArray,
        first_set: AnyArray,
        n_features: int,
    ) -> None: ...
    def predict(self, X: AnyArray, F: AnyArray, n_threads: int) -> None: ...

class Forest32(Forest64): ...

class Explainer:
    def __init__(
        self,
        nodes: AnyArray,
        first_node: AnyArray,
        count: Array,
        category_sets: AnyArray,
        first_set: AnyArray,
        n_features: int,
    ) -> None: ...
    def set_background(self, X: AnyArray, n_threads: int) -> None: ...
    def values(
        self,
        X: AnyArray,
        values: Array,
        columns: AnyArray | None,
        start: AnyArray | None,
        total: Array | None,
        out: Array,
        n_threads: int,
    ) -> None: ...
    def interactions(
        self,
        X: AnyArray,
        values: Array,
        columns: AnyArray | None,
        start: AnyArray | None,
        out: Array,
        n_threads: int,
    ) -> None: ...

class SingleExplainer(Explainer): ...

def share_rounding(phi: Array, total: Array) -> None: ...

class BlockLoss:
    def __init__(self, own: AnyArray, c: AnyArray, ends: AnyArray | None, weight: AnyArray | None) -> None: ...
    def pull(self, F: AnyArray, Z: AnyArray, N: AnyArray, stats: Array, loss: AnyArray, n_threads: int) -> None: ...
    def losses(self, F: AnyArray, temperature: float, out: AnyArray, n_threads: int) -> None: ...
    def newton_leaves(
        self,
        N: AnyArray,
        weight: AnyArray | None,
        leaf_of_row: AnyArray,
        rows: AnyArray | None,
        n_leaves: int,
        l2: float,
        max_step: float,
        n_threads: int,
    ) -> AnyArray: ...

class LogisticLoss:
    def __init__(
        self,
        Y: AnyArray | None,
        c: AnyArray,
        K: int,
        weight: AnyArray | None,
        log_cost: AnyArray | None,
        a: int,
        b: int,
        n_all: int,
    ) -> None: ...
    def pull(
        self,
        F: AnyArray,
        Z: AnyArray,
        tilt_scale: float,
        G: AnyArray | None,
        stats: Array,
        loss: AnyArray,
        scale: AnyArray | None,
        n_threads: int,
    ) -> None: ...
    def largest_weight(self, scale: AnyArray | None) -> float: ...
    def newton_leaves(
        self,
        F: AnyArray,
        G: AnyArray | None,
        loss: AnyArray,
        scale: AnyArray | None,
        leaf_of_row: AnyArray,
        rows: AnyArray | None,
        n_leaves: int,
        l2: float,
        max_step: float,
        thin: float,
        n_threads: int,
    ) -> AnyArray: ...
    def leaf_sums(
        self,
        F: AnyArray,
        G: AnyArray | None,
        loss: AnyArray,
        scale: AnyArray | None,
        leaf_of_row: AnyArray,
        rows: AnyArray | None,
        before: AnyArray,
        all: AnyArray,
        largest_weight: float,
        n_rows: int,
        n_threads: int,
    ) -> AnyArray: ...
    def leaf_values(
        self,
        sums: AnyArray,
        largest_weight: float,
        n_rows: int,
        l2: float,
        max_step: float,
        thin: float,
        n_threads: int,
    ) -> AnyArray: ...

def candidate_pull(
    c: AnyArray,
    K: int,
    own: AnyArray,
    rest: AnyArray,
    count: AnyArray,
    classes: AnyArray,
    scores: AnyArray,
    weight: AnyArray | None,
    a: int,
    b: int,
    tilt_scale: float,
    Z: AnyArray,
    stats: Array,
    loss: AnyArray,
    scale: AnyArray | None,
    n_threads: int,
) -> None: ...
def candidate_leaves(
    c: AnyArray,
    K: int,
    own: AnyArray,
    rest: AnyArray,
    count: AnyArray,
    classes: AnyArray,
    scores: AnyArray,
    loss: AnyArray,
    scale: AnyArray | None,
    preference: AnyArray,
    leaf_of_row: AnyArray,
    rows: AnyArray | None,
    n_leaves: int,
    l2: float,
    max_step: float,
    thin: float,
    n_threads: int,
) -> tuple[AnyArray, AnyArray, AnyArray]: ...
def candidate_add(
    c: AnyArray,
    K: int,
    own: AnyArray,
    rest: AnyArray,
    count: AnyArray,
    classes: AnyArray,
    scores: AnyArray,
    values: AnyArray,
    columns: AnyArray,
    starts: AnyArray,
    step: float,
    leaf_of_row: AnyArray,
    n_threads: int,
) -> None: ...
def softmax_scores(F: AnyArray, Y: AnyArray | None, P: Array, n_threads: int) -> None: ...
def zero_one_potential(t: int, b: Array, leads: AnyArray, n_threads: int) -> Array: ...
def add_values(F: AnyArray, values: AnyArray, step: float, leaf_of_row: AnyArray, n_threads: int) -> None: ...
def times(A: AnyArray, M: AnyArray, factor: float, out: AnyArray, n_threads: int) -> None: ...
def race(U: Array, c: AnyArray, rate: float, E: Array, Z: Array, lead: Array) -> None: ...
def pull_rows(E: Array, c: AnyArray, w: Array, Z: Array) -> None: ...
def vote_rows(P: Array, c: AnyArray, classes: AnyArray, up: float, down: float, own: Array) -> None: ...
def race_along(U: Array, c: AnyArray, W: Array, alpha: float, rate: float) -> tuple[Array, Array, Array, Array]: ...
def row_hashes(
    dense: Array | None, data: AnyArray | None, indices: AnyArray | None, indptr: AnyArray | None, n: int
) -> AnyArray: ...

class Svm:
    def __init__(
        self,
        dense: Array | None,
        data: AnyArray | None,
        indices: AnyArray | None,
        indptr: AnyArray | None,
        p: int,
        y: AnyArray,
        C: Array,
        K: int,
    ) -> None: ...
    def linear(
        self, bias: float, tol: float, max_iter: int, seed: int, progress: Any
    ) -> tuple[Array, Array, float, float, int, bool]: ...
    def sgd(
        self, bias: float, tol: float, max_iter: int, seed: int, progress: Any
    ) -> tuple[None, Array, float, float, int, bool]: ...
    def kernel(
        self,
        kind: int,
        gamma: float,
        coef0: float,
        degree: int,
        bias: float,
        tol: float,
        max_iter: int,
        cache_bytes: int,
        n_threads: int,
        progress: Any,
    ) -> tuple[Array, None, float, float, int, bool]: ...
