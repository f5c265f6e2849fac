"""Codes as plain matrices Y (K, d), a row per class."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .checks import check_classes, check_dim
from .packing import pack

RandomState = int | np.random.Generator | None

EXHAUSTIVE_MAX_K = 15  # 16 383 columns; each further class doubles them


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
    return np.eye(check_classes(K))


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
    K = check_classes(K)
    d = K - 1 if d is None else check_dim(d)
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
    K = check_classes(K)
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
    return 2.0 * np.eye(check_classes(K)) - 1.0


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
    first, second = np.triu_indices(check_classes(K), 1)
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
    K = check_classes(K)
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
    K = check_classes(K)
    d = int(np.ceil(10 * np.log2(K))) if d is None else check_dim(d)
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
    K = check_classes(K)
    d = int(np.ceil(15 * np.log2(K))) if d is None else check_dim(d)
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
    >>> from simplexboost.codewords import min_distance
    >>> round(min_distance(max_min(6, 2)), 6)  # the hexagon
    1.0
    >>> round(min_distance(max_min(9, 3)), 6)
    1.333333
    """
    K, d = check_classes(K), check_dim(d)
    if d == 1 and K > 2:
        raise ValueError(f"d=1 holds two unit codewords, not K={K}; choose d >= 2.")
    if d + 1 >= K:
        return simplex(K, d)
    if 2 * d >= K:
        return _orthogonal_simplices(K, d)
    if d == 2:
        angle = 2 * np.pi * np.arange(K) / K
        return np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(pack(K, d, centered, np.random.default_rng(random_state)), dtype=np.float64)


def _orthogonal_simplices(K: int, d: int) -> Array:
    """K - d simplices in orthogonal subspaces, (K, d): squared distance 2, optimal for d+2 <= K <= 2d."""
    Y = np.zeros((K, d))
    row = column = 0
    for axes in np.array_split(np.arange(d), K - d):
        size = len(axes)
        Y[row : row + size + 1, column : column + size] = simplex(size + 1)
        row, column = row + size + 1, column + size
    return Y
