"""Sorts training rows by a hash of their content, so that a fit does not depend on the row order of the user's table.

The order decides which rows are sampled or held out, how statistics are rounded to integers, and in which order numbers
are added. The hash of a row covers all its data: values, weight, class, costs, initial scores and group. Rows with the
same hash are equal, so it does not matter which of them comes first. (Two unequal rows collide with a probability of
about n² / 2⁶⁵: three in a hundred million for a million rows.) If two classes have exactly the same rows, their equal
rows are sorted by class index.

A class enters the hash by its rows and not by its index, so that renaming the classes does not change the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._util.arrays import AnyArray, Labels
from ..engine import CPU, Engine
from .training_set import TrainingSet

BLOCK = 2**16  # values that are hashed at a time: they stay in the cache
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ODD = np.uint64(0xBF58476D1CE4E5B9)


def sort_by_content(data: TrainingSet, groups: AnyArray | None = None) -> tuple[TrainingSet, AnyArray | None]:
    """Return the training set with its rows sorted by a hash of their content, and ``groups`` (n,) sorted likewise."""
    engine, values = data.engine, hashes_of(data.table, 0, data.engine)
    content = engine.rows.gather(row_hashes(data, values))
    values, c = engine.rows.gather(values), engine.rows.gather(data.c)
    labels = None if groups is None else engine.rows.gather(groups)
    of_classes = engine.rows.decide(lambda: hashes_of_classes(values, c, data.engine))
    order, rows = engine.rows.reorder(lambda: order_of(content, of_classes, c, labels, data.engine))
    costs, init = (None if a is None else a[order] for a in (data.costs, data.init_score))
    data = replace(
        data,
        c=data.c[order],
        weight=data.weight[order],
        costs=costs,
        init_score=init,
        engine=engine.with_rows(rows),
        order=order,
        class_ranks=None if data.problem.is_matrix else np.argsort(np.argsort(of_classes)),
    )
    return data, None if groups is None else groups[order]


def order_of(
    content: AnyArray, of_classes: AnyArray, c: Labels, groups: AnyArray | None = None, engine: Engine = CPU
) -> AnyArray:
    """Return the row indices (n,) that sort the rows by the hashes of their content (n,), class and group.

    ``of_classes`` (K,) has a hash per class. Classes with exactly the same rows, as occur if features have few values,
    have equal hashes. Equal rows of such classes are sorted by class index.
    """
    key = mix_bits(content + GOLDEN * of_classes[c])
    if groups is not None:
        _, number = np.unique(groups, return_inverse=True)
        key = mix_bits(key + GOLDEN * mix_bits(number.ravel().astype(np.uint64)))
    if len(np.unique(of_classes)) < len(of_classes):
        return np.lexsort((c, key))  # which takes twice as long
    return engine.device.argsort(key)


def hashes_of_classes(values: AnyArray, c: Labels, engine: Engine = CPU) -> AnyArray:
    """Return a hash per class (K,), uint64, from class indices c (n,) and hashes ``values`` (n,) of the rows' features.

    Neither weights nor repetitions of a row matter, so that random numbers drawn for a class are equal for repeated
    rows and for weighted rows.
    """
    keys = values + GOLDEN * mix_bits(c.astype(np.uint64))
    order = engine.device.argsort(keys)
    sorted_keys = keys[order]
    first = order[np.append(True, sorted_keys[1:] != sorted_keys[:-1])[: len(order)]]  # one of equal ones
    sums = np.zeros(int(c.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(sums, c[first], mix_bits(values[first]))
    return mix_bits(sums)


# ---- hashes ---------------------------------------------------------------------------------------------------------


def row_hashes(data: TrainingSet, values: AnyArray) -> AnyArray:
    """Return a hash (n,), uint64, of all data of each row but its class; ``values`` (n,) are hashes of its features."""
    more = [data.weight[:, None], *(a for a in (data.costs, data.init_score) if a is not None)]
    return mix_bits(sum((hashes_of(np.asarray(a), j + 1, data.engine) for j, a in enumerate(more)), values))


def hashes_of(X: Any, number: int, engine: Engine = CPU) -> AnyArray:
    """Return a hash of every row of X (n, p), dense or sparse, as uint64 (n,): the sum over j of hash(X_ij) a_j.

    The odd integers a_j are drawn at random with the seed ``number``. A zero adds nothing, so that sparse and dense
    rows get equal hashes. The precision (single or double), the kind of NaN and the sign of zero make no difference.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = np.array([[0.0, 1.5], [-0.0, 0.0], [2.0, np.nan]])
    >>> a, b, c = hashes_of(X, 0), hashes_of(csr_array(X), 0), hashes_of(X.astype(np.float32), 0)
    >>> bool((a == b).all() and (a == c).all()), int(a[1])
    (True, 0)
    """
    n, p = X.shape
    factors = np.random.default_rng([number, 64]).integers(0, 2**64, size=p, dtype=np.uint64) | np.uint64(1)
    found = engine.compute.hash_rows(X, factors)
    if found is not None:
        return found
    out = np.empty(n, dtype=np.uint64)
    if issparse(X):
        table = X.tocsr()
        for begin, end in row_blocks(table.indptr):
            ends = table.indptr[begin : end + 1]
            stored = slice(ends[0], ends[-1])
            sums = np.zeros(ends[-1] - ends[0] + 1, dtype=np.uint64)
            np.cumsum(hash_numbers(table.data[stored]) * factors[table.indices[stored]], out=sums[1:])  # modulo 2⁶⁴
            out[begin:end] = np.diff(sums[ends - ends[0]])  # and so are differences
        return out
    step = max(1, BLOCK // max(p, 1))
    for begin in range(0, n, step):
        block = hash_numbers(X[begin : begin + step])
        block *= factors
        block.sum(axis=1, out=out[begin : begin + step])
    return out


def row_blocks(indptr: AnyArray) -> Iterator[tuple[int, int]]:
    """Yield (first row, end row) of blocks of a CSR table, given its row pointer; a block has about ``BLOCK`` values.

    Examples
    --------
    >>> list(row_blocks(np.array([0, 2**15, 2**16, 2**18, 2**18 + 5])))
    [(0, 2), (2, 3), (3, 4)]
    """
    cuts = np.searchsorted(indptr, np.arange(0, indptr[-1], BLOCK))
    yield from pairwise(np.unique([0, *cuts, len(indptr) - 1]).tolist())


def hash_numbers(values: AnyArray) -> AnyArray:
    """Return a 64-bit hash of each number, which depends on all bits of the number; the hash of zero is zero."""
    plain = np.add(values, 0.0, dtype=np.float64)  # turns −0.0 into 0.0, too
    plain[np.isnan(plain)] = np.nan
    bits: AnyArray = plain.view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= ODD
    bits ^= bits >> np.uint64(29)
    return bits


def mix_bits(z: AnyArray) -> AnyArray:
    """Return 64-bit integers with their bits mixed by the final step of the splitmix64 generator, elementwise."""
    z = (z ^ (z >> np.uint64(30))) * ODD
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
