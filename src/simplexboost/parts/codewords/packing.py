"""Constructs max-min codes for many classes: unit vectors in few dimensions, as far apart as possible.

`pack` minimises max_{k<l} <y_k, y_l> over K unit vectors in d dimensions, in two stages. *Anneal*: several random codes
descend the log-sum-exp of the inner products, whose sharpness β grows until only the closest pairs count. This gives
three digits. *Polish*: for small codes, the best results are moved to an accurate local optimum, by a linear
program per step in a trust region, ``min c s.t. <y_k, y_l> + <dy_k, y_l> + <y_k, dy_l> <= c``.

`Auto` uses a max-min code only if the scores F (n, K) of canonical codewords would not fit into memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, kron, vstack

from ..._util.arrays import Array
from ..._util.messages import track_progress
from ..._util.params import check_flag, check_number
from ..._util.runtime import one_blas_thread
from .base import Canonical, RandomState, Simplex, SizedCodewords, check_classes, check_dim
from .measures import largest_off_diagonal

Points = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]

# Times are those of one 2.8 GHz core. The known optima in the tests are reached by 43 % (K=10, d=3, centred) to 100 %
# of the starts, but the 24-cell (K=24, d=4) only by 1 %, hence so many starts; together they take 0.1 to 0.5 s there.
MAX_STARTS = 192
GRAM_ENTRIES = 2**20  # entries of the Gram matrices held at a time; 4 MB, half the time of 2**17 at K=10000
POLISH_SIZE = 256  # largest K * d to polish: one start takes 0.1 s at K * d = 36, 1 to 2 s near 250, 10 s at 500
SHARPNESS = (10.0, 500.0)  # β times the mean gap 1 - <y_k, nearest>, first and last step
SECONDS = 4e-11  # of a step, divided by K² d: 0.25 s for 10 000 codewords of 64 dimensions
RATE = (0.1, 0.001)  # step length in units of the mean distance to the nearest codeword, first and last step


# The last long search: its arguments, its result, and the state of the random numbers after it.
_last: tuple[Any, Points, Any] = (None, np.empty((0, 0)), None)


def pack(K: int, d: int, centered: bool, rng: np.random.Generator) -> Points:
    """Search for K unit vectors in d dimensions, (K, d), with a large minimal distance and, if ``centered``, zero sum.

    The result of the latest search from a single start is kept, because a fit that compares several parameter values
    repeats the same search for each value, which takes minutes for 50 000 codewords.
    """
    global _last
    starts = int(np.clip(GRAM_ENTRIES // (2 * K * K), 1, MAX_STARTS))
    if starts > 1 or not isinstance(rng.bit_generator, np.random.PCG64):
        return search(K, d, centered, rng, starts)
    key = (K, d, centered, repr(rng.bit_generator.state))
    if _last[0] != key:
        _last = (key, search(K, d, centered, rng, 1), rng.bit_generator.state)
    rng.bit_generator.state = _last[2]
    return _last[1].copy()


def search(K: int, d: int, centered: bool, rng: np.random.Generator, starts: int) -> Points:
    """Return the code (K, d) of largest minimal distance that is found from several random starts."""
    with one_blas_thread():  # more threads round differently and end in another code
        annealed = anneal(rng.standard_normal((starts, K, d)), centered)  # (starts, K, d) float32
    codes = retract(annealed.astype(np.float64), centered)  # float32 leaves norms and sums 1e-7 off
    if starts == 1:
        return codes[0]
    best = np.argsort([max_cosine(Y) for Y in codes], kind="stable")
    if K * d > POLISH_SIZE:
        return codes[best[0]]
    polished = 3 if 2 * K * d <= POLISH_SIZE else 1
    return min((polish(codes[s], centered) for s in best[:polished]), key=max_cosine)


def max_cosine(Y: Points) -> float:
    """Return the largest cosine of two rows of a code Y (K, d) of unit vectors."""
    return largest_off_diagonal(Y @ Y.T)


def retract(codes: Points, centered: bool) -> Points:
    """Return the codes (starts, K, d) moved so that rows have length one and, if ``centered``, each code has zero sum.

    The zero sum takes Newton steps of least norm: ``dy_k = (I - y_k y_kᵀ) λ`` with ``(K I - Yᵀ Y) λ = -Σ_k y_k``.
    """
    Y = _unit(codes)
    K, d = Y.shape[-2:]
    for _ in range(20 if centered else 0):
        total = Y.sum(axis=-2)[..., None]  # (starts, d, 1)
        if np.abs(total).max() <= K * np.finfo(Y.dtype).eps:
            break
        metric = K * np.eye(d, dtype=Y.dtype) - np.swapaxes(Y, -1, -2) @ Y  # (starts, d, d)
        shift = np.swapaxes(np.linalg.solve(metric, -total), -1, -2)  # (starts, 1, d)
        Y = _unit(Y + _tangent(shift, Y))
    return Y


def _unit(Y: Points) -> Points:
    return Y / np.linalg.norm(Y, axis=-1, keepdims=True)


def _tangent(V: Points, Y: Points) -> Points:
    """Subtract from each row of V its component along the unit vector in the same row of Y."""
    return V - Y * (V * Y).sum(axis=-1, keepdims=True)


def anneal(codes: Points, centered: bool) -> Points:
    """Return the codes (starts, K, d), float32, moved to a low log-sum-exp of inner products, whose sharpness grows."""
    Y = retract(codes.astype(np.float32), centered)
    velocity = np.zeros_like(Y)
    ceiling = gap = np.ones((len(Y), 1, 1), np.float32)
    K, d = Y.shape[1:]
    steps = int(np.clip(500 * (2000 / K) ** 2, 80, 500))  # a step costs O(K² d), 0.25 s at K=10000
    times: list[float] = np.linspace(0.0, 1.0, steps).tolist()  # Python floats keep the arrays float32
    seconds = SECONDS * len(times) * len(Y) * K**2 * d
    for t in track_progress(times, f"searching {K} codewords of {d} dimensions", seconds):
        sharpness, rate = (first ** (1 - t) * last**t for first, last in (SHARPNESS, RATE))
        push, ceiling, gap = attraction(Y, sharpness / gap, ceiling)
        push = _tangent(push, Y)
        size = np.sqrt((push**2).sum(axis=-1, keepdims=True).mean(axis=-2, keepdims=True))
        velocity = 0.9 * velocity - 0.1 * push / np.maximum(size, 1e-30)
        Y = retract(Y + rate * np.sqrt(2 * gap) * velocity, centered)
    return Y


def attraction(Y: Points, beta: Points, ceiling: Points) -> tuple[Points, Points, Points]:
    """Compute ``Σ_l exp(β (<y_k, y_l> - ceiling)) y_l`` (starts, K, d), the gradient of the log-sum-exp up to a factor.

    Also return for each start the largest inner product (the next ceiling) and the mean over k of 1 - max_l <y_k, y_l>.
    """
    starts, K, _ = Y.shape
    rows = max(1, GRAM_ENTRIES // (starts * K))
    gradient, nearest = np.empty_like(Y), np.empty((starts, K, 1), Y.dtype)
    for begin in range(0, K, rows):
        block = slice(begin, begin + rows)
        gram = Y[:, block] @ np.swapaxes(Y, -1, -2)  # (starts, rows, K)
        own = np.arange(gram.shape[1])
        gram[:, own, begin + own] = -1.0
        nearest[:, block, 0] = gram.max(axis=-1)
        gram -= ceiling
        gram *= beta
        np.clip(gram, -60.0, 30.0, out=gram)  # no denormals, which are slow; no overflow where the ceiling just rose
        gradient[:, block] = np.exp(gram, out=gram) @ Y
    return gradient, nearest.max(axis=1, keepdims=True), 1 - nearest.mean(axis=1, keepdims=True)


def polish(Y: Points, centered: bool, steps: int = 60) -> Points:
    """Return Y (K, d) moved to a local minimum of the largest inner product, by linear programs in a trust region."""
    cosine, radius = max_cosine(Y), 0.02
    for _ in range(steps):
        move, promised = _linear_step(Y, radius, centered)
        moved = retract((Y + move)[None], centered)[0]
        gain = cosine - max_cosine(moved)
        if gain > 0:
            Y, cosine = moved, cosine - gain
        radius *= 2.0 if gain > 0.5 * promised else 0.25
        if promised < 1e-14 or radius < 1e-13:
            break
    return Y


def _linear_step(Y: Points, radius: float, centered: bool) -> tuple[Points, float]:
    """Return the move dY, |dY| <= radius, that most lowers the linearised largest inner product, and the decrease."""
    from scipy.optimize import linprog  # not at the top: start-up time

    K, d = Y.shape
    first, second = np.triu_indices(K, 1)
    cosine = (Y[first] * Y[second]).sum(axis=1)
    slack = cosine.max() - cosine
    near = slack < 4 * radius * np.sqrt(d)  # no other pair can become the closest inside the box
    first, second, slack = first[near], second[near], slack[near]
    A_near = _block_rows(first, Y[second], K) + _block_rows(second, Y[first], K)  # the derivatives of their cosines
    A_keep = _block_rows(np.arange(K), Y, K)  # <dy_k, y_k> = 0
    if centered:
        A_keep = vstack([A_keep, kron(csr_array(np.ones((1, K))), np.eye(d))])  # Σ_k dy_k = 0
    solution = linprog(
        np.append(np.zeros(K * d), 1.0),
        A_ub=hstack([A_near, csr_array(-np.ones((len(slack), 1)))]),
        b_ub=slack,
        A_eq=hstack([A_keep, csr_array((A_keep.shape[0], 1))]),
        b_eq=np.zeros(A_keep.shape[0]),
        bounds=[(-radius, radius)] * (K * d) + [(None, None)],
    )
    if solution.x is None:  # the program always has a solution (dY = 0): the box is below the LP solver's tolerance
        return np.zeros_like(Y), 0.0
    return solution.x[:-1].reshape(K, d), -float(solution.x[-1])


def _block_rows(blocks: Indices, values: Points, K: int) -> csr_array:
    """Return a sparse array (rows, K d): row r holds ``values[r]`` (d,) in the d columns of codeword ``blocks[r]``."""
    rows, d = values.shape
    columns = blocks[:, None] * d + np.arange(d)  # (rows, d)
    return csr_array((values.ravel(), columns.ravel(), np.arange(0, rows * d + 1, d)), shape=(rows, K * d))


class MaxMin(SizedCodewords, name="max-min"):
    """The max-min code: unit vectors in few dimensions whose smallest distance is the largest that could be found.

    Closed forms are used where they are known to be optimal: the simplex for K <= d+1, orthogonal simplices for K <= 2d
    (squared distance 2), the regular polygon for d = 2. Otherwise there is a numerical search: exact to 1e-9 where the
    optimum is known and K d is small, a good local optimum for large codes. One column is enough only for K = 2. The
    default is ``min(K-1, ceil(3 √K), 64)`` columns: 16 for 26 classes, 30 for 100, 63 for 438.

    Parameters
    ----------
    centered : bool
        Whether the codewords must sum to zero, as in equation 55 of Saberian and Vasconcelos. False gives the classical
        packing problem, whose optimum can be better: 1.1912 against 1.1716 for K = 10, d = 3.

    Examples
    --------
    >>> from simplexboost.parts.codewords import min_distance
    >>> round(min_distance(MaxMin(2).matrix(6)), 6)  # the hexagon
    1.0
    >>> round(min_distance(MaxMin(3).matrix(9, rng=0)), 6)
    1.333333
    """

    centered: bool = False

    def check(self) -> None:
        super().check()
        check_flag("centered", self.centered)

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        K = check_classes(K)
        d = check_dim(self.columns(K) if self.code_dim is None else self.code_dim)
        if d == 1 and K > 2:
            raise ValueError(f"code_dim=1 holds two unit codewords, not K={K}; choose at least 2.")
        if d + 1 >= K:
            return Simplex(d).matrix(K)
        if 2 * d >= K:
            return _orthogonal_simplices(K, d)
        if d == 2:
            angle = 2 * np.pi * np.arange(K) / K
            return np.column_stack([np.cos(angle), np.sin(angle)])
        return np.asarray(pack(K, d, self.centered, np.random.default_rng(rng)), dtype=np.float64)

    def columns(self, K: int) -> int:
        # 3 √K follows the dimensions that did best in trials with single vector trees: 16, 32, 64 for K = 26, 100, 438.
        return min(K - 1, int(np.ceil(3 * np.sqrt(K))), 64) if self.code_dim is None else int(self.code_dim)


def _orthogonal_simplices(K: int, d: int) -> Array:
    """Return a code (K, d) of K − d simplices in orthogonal subspaces, which is optimal for d+2 <= K <= 2d."""
    from scipy.linalg import block_diag

    sizes = [len(axes) for axes in np.array_split(np.arange(d), K - d)]
    return np.asarray(block_diag(*(Simplex().matrix(size + 1) for size in sizes)))


class Auto(SizedCodewords, name="auto"):
    """Canonical codewords, or a max-min code of few dimensions if there are more than ``most_canonical`` classes.

    If ``code_dim`` is given, a max-min code of this dimension is used for any number of classes.

    Parameters
    ----------
    most_canonical : int
        The largest number of classes that get canonical codewords; `SimplexBoostClassifier` computes it from the number
        of rows and the free memory. Canonical codewords are more accurate and faster, but their scores F (n, K) take
        memory. After 15 rounds on 40 000 rows of 2 000 Gaussian classes, the accuracy is 1.000 in 3.7 s, with 320 MB
        for F; a code of 64 dimensions has .830 in 8.4 s, with 10 MB.

    Examples
    --------
    >>> Auto().matrix(10).shape, Auto(most_canonical=1000).matrix(1200).shape
    ((10, 10), (1200, 64))
    """

    most_canonical: int = 2**31 - 1

    def check(self) -> None:
        super().check()
        check_number("most_canonical", self.most_canonical, int, 0)

    def matrix(self, K: int, rng: RandomState = 0) -> Array:
        return self._rule(K).matrix(K, rng)

    def columns(self, K: int) -> int:
        return self._rule(K).columns(K)

    def _rule(self, K: int) -> Canonical | MaxMin:
        """Return the code that is used for K classes: canonical or max-min."""
        if self.code_dim is None and K <= self.most_canonical:
            return Canonical()
        return MaxMin(None if self.code_dim is None else min(self.code_dim, K - 1))
