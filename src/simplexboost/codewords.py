"""Codewords: one row of ``Y (K, d)`` per class turns a predictor ``F (n, d)`` into class scores ``U = ½ F Yᵀ (n, K)``.

Every booster scores classes through such a matrix and sends its residual back by ``G = ½ residual · Y (n, d)``: the
identity gives one coordinate per class, the regular simplex the largest margins, a max-min code few coordinates for
many classes, a ±1 or ternary matrix the output-code reductions. Each set is here twice: as a function that returns the
matrix, and as a part (:class:`Codewords`) that an estimator takes by name or by instance, see :data:`CODEWORDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplexboost import _packing
from simplexboost._parts import Part, resolve

Array = NDArray[np.float64]
RandomState = int | np.random.Generator | None

EXHAUSTIVE_MAX_K = 15  # 16 383 columns; each further class doubles them


# -- matrices ---------------------------------------------------------------------------------------------------------


def canonical(K: int) -> Array:
    """The identity: class k is the k-th unit vector.

    Returns
    -------
    Y : (K, K) array

    Examples
    --------
    >>> canonical(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return np.eye(_check_classes(K))


def is_canonical(Y: ArrayLike) -> bool:
    """Whether the codewords are the canonical ones, so that scores are the predictor itself.

    Examples
    --------
    >>> is_canonical(np.eye(3)), is_canonical(simplex(3))
    (True, False)
    """
    Y = np.asarray(Y)
    return Y.shape[0] == Y.shape[1] and bool((Y == np.eye(len(Y))).all())


def simplex(K: int, d: int | None = None) -> Array:
    """The regular simplex, the code of largest margin capacity (Saberian and Vasconcelos, Theorems 1-3).

    Unit rows with zero sum and equal inner products -1/(K-1), in the orientation of the paper's recursion: row 0 is
    ``(1, 0, ...)`` and the other rows are ``-1/(K-1)`` followed by the smaller simplex of K-1 classes, shrunk.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Code dimension, at least K-1 (the default); columns beyond K-1 are zero.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> simplex(3).round(3)
    array([[ 1.   ,  0.   ],
           [-0.5  ,  0.866],
           [-0.5  , -0.866]])
    >>> simplex(4, d=5).shape
    (4, 5)
    """
    K = _check_classes(K)
    d = K - 1 if d is None else _check_dim(d)
    if d < K - 1:
        raise ValueError(f"d={d} is too small for a simplex of K={K} classes: it needs d >= {K - 1}; see max_min.")
    left = np.arange(K, 1, -1)  # classes left at column j: K - j
    height = np.sqrt(K * (left - 1) / ((K - 1) * left))  # (K-1,), the recursion's product of factors in closed form
    Y = np.zeros((K, d))
    Y[:, : K - 1] = np.tril(np.broadcast_to(-height / (left - 1), (K, K - 1)), -1)
    np.fill_diagonal(Y[:-1], height)
    return Y


def samme(K: int) -> Array:
    """The codewords of SAMME, ``(K I - 1 1ᵀ)/(K - 1)``: a simplex in K dimensions, of squared norm K/(K-1).

    Returns
    -------
    Y : (K, K) array

    Examples
    --------
    >>> samme(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    K = _check_classes(K)
    return (K * np.eye(K) - 1.0) / (K - 1)


def one_vs_all(K: int) -> Array:
    """One binary problem per class: +1 on the diagonal, -1 elsewhere.

    Returns
    -------
    Y : (K, K) array of ±1

    Examples
    --------
    >>> one_vs_all(3)
    array([[ 1., -1., -1.],
           [-1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    return 2.0 * np.eye(_check_classes(K)) - 1.0


def all_pairs(K: int) -> Array:
    """One binary problem per pair of classes k < l: +1 for k, -1 for l, 0 for the classes that do not take part.

    Returns
    -------
    Y : (K, K(K-1)/2) array of -1, 0, +1

    Examples
    --------
    >>> all_pairs(3)
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """
    first, second = np.triu_indices(_check_classes(K), 1)
    column = np.arange(len(first))
    Y = np.zeros((K, len(first)))
    Y[first, column] = 1.0
    Y[second, column] = -1.0
    return Y


def exhaustive(K: int) -> Array:
    """Every split of the classes in two non-empty sets, once (Dietterich and Bakiri's exhaustive code).

    Returns
    -------
    Y : (K, 2**(K-1) - 1) array of ±1
        Row 0 is all ones; the other rows count in binary.

    Examples
    --------
    >>> exhaustive(3)
    array([[ 1.,  1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1., -1.]])
    """
    K = _check_classes(K)
    if K > EXHAUSTIVE_MAX_K:
        raise ValueError(
            f"K={K} classes have 2**{K - 1} - 1 splits, too many for the exhaustive code (K <= {EXHAUSTIVE_MAX_K}); "
            "choose random_dense or random_sparse."
        )
    splits = np.arange(1, 2 ** (K - 1))  # bit k-1 set: class k on the other side than class 0
    bits = splits >> np.arange(K - 1)[:, None] & 1  # (K-1, d)
    return np.vstack([np.ones(len(splits)), 1.0 - 2.0 * bits])


def random_dense(K: int, d: int | None = None, random_state: RandomState = 0) -> Array:
    """Random ±1 code, the best of several draws by minimal Hamming distance (Allwein, Schapire and Singer).

    Every column has both signs and no two rows are equal.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Number of columns; ``ceil(10 log2 K)`` by default.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Y : (K, d) array of ±1

    Examples
    --------
    >>> Y = random_dense(8)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 30), [-1.0, 1.0])
    """
    K = _check_classes(K)
    d = int(np.ceil(10 * np.log2(K))) if d is None else _check_dim(d)
    return _best_draw(K, d, np.array([-1.0, 1.0]), random_state)


def random_sparse(K: int, d: int | None = None, random_state: RandomState = 0) -> Array:
    """Random code of -1, 0, +1 with probabilities ¼, ½, ¼, the best of several draws (Allwein, Schapire and Singer).

    Every column has both signs, no row is zero and no two rows are equal. The distance that ranks the draws is the
    generalised Hamming distance ``½ Σ_j (1 - y_kj y_lj)``, in which a zero counts one half.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int, optional
        Number of columns; ``ceil(15 log2 K)`` by default.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Y : (K, d) array of -1, 0, +1

    Examples
    --------
    >>> Y = random_sparse(8)
    >>> Y.shape, np.unique(Y).tolist()
    ((8, 45), [-1.0, 0.0, 1.0])
    """
    K = _check_classes(K)
    d = int(np.ceil(15 * np.log2(K))) if d is None else _check_dim(d)
    return _best_draw(K, d, np.array([-1.0, 0.0, 0.0, 1.0]), random_state)


def _best_draw(K: int, d: int, letters: Array, random_state: RandomState) -> Array:
    """The valid code (K, d) of largest minimal (generalised) Hamming distance among many drawn from ``letters``."""
    rng = np.random.default_rng(random_state)
    draws = int(np.clip(10**7 // K**2, 20, 300))  # about 0.1 s for any K up to 1000
    best, best_overlap = None, np.inf
    for _ in range(draws):
        Y = _two_signed_columns(K, d, letters, rng)
        gram = Y @ Y.T  # (K, K); ½ (d - gram) are the Hamming distances
        np.fill_diagonal(gram, -np.inf)
        if gram.max() < best_overlap and Y.any(axis=1).all() and len(np.unique(Y, axis=0)) == K:
            best, best_overlap = Y, gram.max()
    if best is None:
        raise ValueError(f"d={d} columns are too few for K={K} classes: no valid code in {draws} draws; enlarge d.")
    return best


def _two_signed_columns(K: int, d: int, letters: Array, rng: np.random.Generator) -> Array:
    """Entries drawn from ``letters`` (K, d); columns that lack +1 or -1 separate nothing and are drawn again."""
    Y = rng.choice(letters, (K, d))
    while (poor := (Y.max(axis=0) < 1) | (Y.min(axis=0) > -1)).any():
        Y[:, poor] = rng.choice(letters, (K, int(poor.sum())))
    return Y


def max_min(K: int, d: int, centered: bool = False, random_state: RandomState = 0) -> Array:
    """Unit codewords whose smallest distance is as large as could be found: the code for d < K-1.

    Closed forms where they are known to be optimal: the simplex for K <= d+1, orthogonal simplices for K <= 2d (squared
    distance 2), the polygon for d = 2. Otherwise a numerical search: exact to 1e-9 where the optimum is known and K d
    is small, a good local optimum for large codes.

    Parameters
    ----------
    K : int
        Number of classes, at least 2.
    d : int
        Code dimension; 1 is enough only for K = 2.
    centered : bool
        Whether the codewords must sum to zero, as in Saberian and Vasconcelos (55). False gives the classical packing
        problem, whose optimum can be better: 1.1912 against 1.1716 for K = 10, d = 3.
    random_state : int, Generator or None
        Seed of the search.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> round(min_distance(max_min(6, 2)), 6)  # the hexagon
    1.0
    >>> round(min_distance(max_min(9, 3)), 6)
    1.333333
    """
    K, d = _check_classes(K), _check_dim(d)
    if d == 1 and K > 2:
        raise ValueError(f"d=1 holds two unit codewords, not K={K}; choose d >= 2.")
    if d + 1 >= K:
        return simplex(K, d)
    if 2 * d >= K:
        return _orthogonal_simplices(K, d)
    if d == 2:
        angle = 2 * np.pi * np.arange(K) / K
        return np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(_packing.pack(K, d, centered, np.random.default_rng(random_state)), dtype=np.float64)


def _orthogonal_simplices(K: int, d: int) -> Array:
    """K - d simplices in orthogonal subspaces, (K, d): squared distance 2, optimal for d+2 <= K <= 2d."""
    Y = np.zeros((K, d))
    row = column = 0
    for axes in np.array_split(np.arange(d), K - d):
        size = len(axes)
        Y[row : row + size + 1, column : column + size] = simplex(size + 1)
        row, column = row + size + 1, column + size
    return Y


# -- measures ---------------------------------------------------------------------------------------------------------


def min_distance(Y: ArrayLike) -> float:
    """The smallest SQUARED distance of two codewords, ``min_{k<l} ‖y_k - y_l‖²``.

    Parameters
    ----------
    Y : (K, d) array-like
        Codewords; two equal rows give 0.

    Examples
    --------
    >>> min_distance(canonical(5))
    2.0
    """
    from scipy.spatial.distance import cdist  # scipy's larger modules are imported where used: start-up time

    Y = _check_matrix(Y)
    rows = max(1, 2**22 // len(Y))  # 32 MB of distances at a time
    smallest = np.inf
    for begin in range(0, len(Y) - 1, rows):
        squared = cdist(Y[begin : begin + rows], Y[begin:], "sqeuclidean")  # (rows, K - begin)
        squared[np.tri(*squared.shape, dtype=np.bool_)] = np.inf  # each pair once, no row with itself
        smallest = min(smallest, squared.min())
    return float(smallest)


def margin_capacity(Y: ArrayLike) -> float:
    """The margin that unit predictors can give every class, ``min_k max_{‖v‖=1} min_{l≠k} ½ <y_k - y_l, v>``.

    By duality it is half the smallest distance of a codeword to the convex hull of the others; 0 if a codeword lies in
    that hull.

    Parameters
    ----------
    Y : (K, d) array-like
        Codewords; two equal rows give 0.

    Examples
    --------
    >>> round(margin_capacity(simplex(4)), 6), capacity_bound(4)
    (0.666667, 0.6666666666666666)
    """
    Y = _check_matrix(Y)
    if min_distance(Y) == 0.0:
        return 0.0
    nearest = min(_hull_distance(Y[k], np.delete(Y, k, axis=0)) for k in range(len(Y)))
    return 0.5 * nearest if nearest > 1e-10 * np.abs(Y).max() else 0.0


def _hull_distance(y: Array, others: Array) -> float:
    """Distance of y (d,) to the convex hull of the rows of ``others`` (K-1, d), none of them equal to y.

    Non-negative least squares solves it exactly: ``min_{w>=0} ‖Aw‖² + m²(Σw - 1)²`` has w along the weights of the
    nearest point for any m > 0, because for fixed direction u the minimum over the scale of w grows with ``‖Au‖``.
    """
    from scipy.optimize import nnls

    A = (others - y).T  # (d, K-1)
    m = np.sqrt((A**2).sum(axis=0).min())  # in units of the distances: well conditioned
    weights, _ = nnls(np.vstack([A, np.full(A.shape[1], m)]), np.append(np.zeros(len(A)), m), maxiter=30 * A.shape[1])
    return float(np.linalg.norm(A @ (weights / weights.sum())))


def capacity_bound(K: int) -> float:
    """The largest margin capacity of K unit codewords in any dimension, ``K / (2(K-1))``; the simplex reaches it.

    Examples
    --------
    >>> capacity_bound(3)
    0.75
    """
    return _check_classes(K) / (2 * (K - 1))


# -- checks -----------------------------------------------------------------------------------------------------------


def check_codewords(Y: ArrayLike, K: int | None = None) -> Array:
    """The code as a new float64 array, or an error that says what is wrong with it.

    Parameters
    ----------
    Y : (K, d) array-like
        At least two rows, one column, finite numbers, no two rows equal. Constant columns are harmless and allowed.
    K : int, optional
        The number of rows there must be.

    Returns
    -------
    Y : (K, d) array

    Examples
    --------
    >>> check_codewords([[1, 0], [1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: codewords has equal rows 0 and 1; every class needs its own codeword.
    """
    Y = _check_matrix(Y)
    if K is not None and len(Y) != K:
        raise ValueError(f"codewords has shape {Y.shape} but there are K={K} classes; pass one row per class.")
    _, inverse = np.unique(Y, axis=0, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    equal = np.flatnonzero(np.diff(inverse[order]) == 0)
    if len(equal):
        k, j = order[equal[0] : equal[0] + 2]
        raise ValueError(f"codewords has equal rows {k} and {j}; every class needs its own codeword.")
    return Y


def _check_matrix(Y: ArrayLike) -> Array:
    """A new float64 (K, d) array of finite numbers, K >= 2 and d >= 1."""
    accepted = "accepted is a (K, d) array of finite numbers with K >= 2 and d >= 1."
    try:
        array = np.array(Y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"codewords is no array of numbers ({error}); {accepted}") from None
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(f"codewords has shape {array.shape}; {accepted}")
    if not np.isfinite(array).all():
        raise ValueError(f"codewords contains NaN or infinity; {accepted}")
    return array


def _check_classes(K: int) -> int:
    """Number of classes as an int, at least 2."""
    if not isinstance(K, Integral) or isinstance(K, bool) or K < 2:
        raise ValueError(f"K={K!r} is no number of classes; codewords need an integer K >= 2.")
    return int(K)


def _check_dim(d: int) -> int:
    """Code dimension as an int, at least 1."""
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"d={d!r} is no code dimension; codewords need an integer d >= 1.")
    return int(d)


# -- parts ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Codewords(Part, ABC):
    """A rule that gives a code to any number of classes; subclasses need only :meth:`matrix`.

    Examples
    --------
    >>> class Reversed(Codewords):
    ...     def matrix(self, K, rng):
    ...         return canonical(K)[::-1]
    >>> Reversed().for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[0., 1.],
           [1., 0.]])
    """

    @abstractmethod
    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code of K classes, (K, d)."""

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """The code (K_present, d) of the classes that occur, ``present`` (K,) bool, when some of K do not."""
        return self.matrix(int(_check_present(K, present).sum()), rng)


def _check_present(K: int, present: ArrayLike) -> NDArray[np.bool_]:
    """The mask of classes that occur, (K,) bool."""
    mask = np.asarray(present)
    if mask.dtype != bool or mask.shape != (K,):
        raise ValueError(f"present has shape {mask.shape} and type {mask.dtype}; accepted is a mask of K={K} booleans.")
    return mask


@dataclass(eq=False, repr=False)
class Canonical(Codewords):
    """One coordinate per class, see :func:`canonical`.

    Examples
    --------
    >>> Canonical().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The identity, (K, K)."""
        return canonical(K)


@dataclass(eq=False, repr=False)
class Simplex(Codewords):
    """The code of largest margin capacity, see :func:`simplex`.

    Parameters
    ----------
    dim : int, optional
        Code dimension, at least K-1, the default.

    Examples
    --------
    >>> Simplex().matrix(4, np.random.default_rng(0)).shape
    (4, 3)
    """

    dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The simplex, (K, dim)."""
        return simplex(K, self.dim)


@dataclass(eq=False, repr=False)
class SAMME(Codewords):
    """The K-dimensional simplex of SAMME, see :func:`samme`.

    Examples
    --------
    >>> SAMME().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code of SAMME, (K, K)."""
        return samme(K)


@dataclass(eq=False, repr=False)
class OneVsAll(Codewords):
    """One ±1 column per class, see :func:`one_vs_all`.

    Examples
    --------
    >>> OneVsAll().matrix(4, np.random.default_rng(0)).shape
    (4, 4)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """+1 on the diagonal, -1 elsewhere, (K, K)."""
        return one_vs_all(K)


@dataclass(eq=False, repr=False)
class AllPairs(Codewords):
    """One ternary column per pair of classes, see :func:`all_pairs`.

    Examples
    --------
    >>> AllPairs().matrix(4, np.random.default_rng(0)).shape
    (4, 6)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The ternary code, (K, K(K-1)/2)."""
        return all_pairs(K)


@dataclass(eq=False, repr=False)
class Exhaustive(Codewords):
    """One ±1 column per split of the classes in two sets, see :func:`exhaustive`.

    Examples
    --------
    >>> Exhaustive().matrix(4, np.random.default_rng(0)).shape
    (4, 7)
    """

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The ±1 code, (K, 2**(K-1) - 1)."""
        return exhaustive(K)


@dataclass(eq=False, repr=False)
class RandomDense(Codewords):
    """Random ±1 columns, see :func:`random_dense`.

    Parameters
    ----------
    dim : int, optional
        Number of columns, ``ceil(10 log2 K)`` by default.

    Examples
    --------
    >>> RandomDense(dim=12).matrix(4, np.random.default_rng(0)).shape
    (4, 12)
    """

    dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ±1 code, (K, dim)."""
        return random_dense(K, self.dim, rng)


@dataclass(eq=False, repr=False)
class RandomSparse(Codewords):
    """Random ternary columns, see :func:`random_sparse`.

    Parameters
    ----------
    dim : int, optional
        Number of columns, ``ceil(15 log2 K)`` by default.

    Examples
    --------
    >>> RandomSparse(dim=12).matrix(4, np.random.default_rng(0)).shape
    (4, 12)
    """

    dim: int | None = None

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A ternary code, (K, dim)."""
        return random_sparse(K, self.dim, rng)


@dataclass(eq=False, repr=False)
class MaxMin(Codewords):
    """Unit codewords far apart in few dimensions, see :func:`max_min`.

    Parameters
    ----------
    dim : int, optional
        Code dimension. By default ``min(K-1, ceil(3 √K), 64)``: 16 for 26 classes, 30 for 100, 63 for 438.
    centered : bool
        Whether the codewords must sum to zero.

    Examples
    --------
    >>> MaxMin().matrix(26, np.random.default_rng(0)).shape
    (26, 16)
    """

    dim: int | None = None
    centered: bool = False

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """A code of unit rows, (K, dim)."""
        # 3 √K follows the dimensions that did best in trials with single vector trees: 16, 32, 64 for K = 26, 100, 438.
        d = min(_check_classes(K) - 1, int(np.ceil(3 * np.sqrt(K))), 64) if self.dim is None else self.dim
        return max_min(K, d, self.centered, rng)


@dataclass(eq=False, repr=False)
class Auto(Codewords):
    """Canonical for few classes, few dimensions for many: what costs least for the accuracy.

    Parameters
    ----------
    dim : int, optional
        Code dimension for many classes; by default that of `MaxMin`.
    most_canonical : int
        The largest number of classes that get canonical codewords. With more, the K-dimensional gradient costs more
        than it brings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Auto().matrix(10, rng).shape, Auto().matrix(400, rng).shape
    ((10, 10), (400, 60))
    """

    dim: int | None = None
    most_canonical: int = 128

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The code, (K, d)."""
        if self.dim is None and K <= self.most_canonical:
            return canonical(K)
        return MaxMin(None if self.dim is None else min(self.dim, K - 1)).matrix(K, rng)


@dataclass(eq=False, repr=False)
class Custom(Codewords):
    """Your own code: row k is the codeword of the k-th class in sorted order.

    Parameters
    ----------
    Y : (K, d) array-like
        Finite numbers, no two rows equal.

    Examples
    --------
    >>> Custom([[1, 1], [1, -1], [-1, 0]]).for_classes(3, [True, False, True], np.random.default_rng(0))
    array([[ 1.,  1.],
           [-1.,  0.]])
    """

    Y: Any

    def matrix(self, K: int, rng: np.random.Generator) -> Array:
        """The given code, (K, d), checked."""
        return check_codewords(self.Y, K)

    def for_classes(self, K: int, present: ArrayLike, rng: np.random.Generator) -> Array:
        """The rows of the classes that occur, (K_present, d)."""
        return check_codewords(self.matrix(K, rng)[_check_present(K, present)])


CODEWORDS: dict[str, type[Codewords]] = {
    "auto": Auto,
    "canonical": Canonical,
    "simplex": Simplex,
    "samme": SAMME,
    "one-vs-all": OneVsAll,
    "all-pairs": AllPairs,
    "exhaustive": Exhaustive,
    "random-dense": RandomDense,
    "random-sparse": RandomSparse,
    "max-min": MaxMin,
}


def as_codewords(value: Any) -> Codewords:
    """The part that ``value`` names: a key of :data:`CODEWORDS`, a :class:`Codewords`, or a (K, d) matrix.

    Examples
    --------
    >>> as_codewords("simplex")
    Simplex()
    >>> as_codewords([[1.0], [-1.0]])
    Custom(Y=array([[ 1.],
           [-1.]]))
    """
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        return Custom(check_codewords(value))
    return resolve(value, CODEWORDS, Codewords, "codewords")
