"""Sampled pairs of an example and a class: the optimizer of sm-boost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from .._parts import check_choice, check_number
from .._typing import AnyArray, Array
from ..boosting.run import Run, Update
from ..data.training_set import TrainingSet
from ..losses import Gradient, SoftmaxCost, SoftmaxCostTable
from .asking import gradient_of, step_along, step_together
from .base import Optimizer

LARGEST = 1e150  # of a gradient whose squares can be added up


@dataclass(eq=False, repr=False)
class SampledPairs(Optimizer):
    """Follows the gradient on pairs (example, class), which are drawn by the probability of the class (sm-boost).

    If the drawn pairs show no edge, others are drawn, up to ten times.

    Parameters
    ----------
    n_pairs : int, "n" or "all", default="n"
        M, the number of pairs; ``"n"`` draws as many as there are different examples, ``"all"`` weights every pair by
        its probability.
    separate : bool, default=True
        Whether to fit a scalar learner for every coordinate rather than one learner for all.

    Examples
    --------
    >>> import simplexboost as sb
    >>> sb.SoftmaxBoostClassifier(n_pairs=50).parts().optimizer
    SampledPairs(n_pairs=50)
    """

    n_pairs: int | str = "n"
    separate: bool = True

    max_draws: ClassVar[int] = 10

    def check(self, run: Run) -> None:
        """Raise if the number of pairs is invalid."""
        if isinstance(self.n_pairs, str):
            check_choice("n_pairs", self.n_pairs, ("n", "all"))
        else:
            check_number("n_pairs", self.n_pairs, int, 1, 2**31 - 1)

    def propose(self, run: Run) -> list[Update]:
        """One step along all coordinates."""
        ask = step_together if self.separate else step_along
        if self.n_pairs == "all":
            return ask(run, gradient_of(run))
        for _ in range(self.max_draws):
            if updates := ask(run, self.sample(run)):
                return updates
        run.refusal = f"no edge: not in {self.max_draws} samples of pairs in a row"
        return []

    def sample(self, run: Run) -> Gradient:
        """The gradient, with every pair weighted by how often it was drawn, divided by the expected number."""
        if run.workspace is None:
            run.workspace = different_examples(run.data)
        rows, weight = run.workspace  # (m,) one row of every different example, and the weight of all rows equal to it
        P, g = residual_and_probabilities(run, rows)  # (m, K)
        n_pairs = len(rows) if self.n_pairs == "n" else int(self.n_pairs)
        places = run.data.dealt(np.arange(P.shape[1]))  # (K,) where the classes are among the pairs of an example
        ends = np.cumsum((weight[:, None] * g).take(np.argsort(places), axis=1))
        at = np.sort(run.rng.random(n_pairs) * ends[-1])  # sorted, for then the search takes half the time
        drawn = np.searchsorted(ends, at, side="right")
        counts = np.bincount(drawn, minlength=P.size).reshape(P.shape).take(places, axis=1)
        P = np.divide(P, g, out=np.zeros_like(P), where=counts > 0)  # before the counts, so that equal pairs stay equal
        sampled = np.zeros_like(run.U)
        sampled[rows] = P * (counts * (weight.sum() / n_pairs))
        if not (size := float(np.abs(sampled).max(initial=0.0))) < LARGEST:
            raise run.divergence(size)
        return run.objective.of_residual(sampled)


def residual_and_probabilities(run: Run, rows: AnyArray) -> tuple[Array, Array]:
    """The residual and the probabilities of some rows, (m, K) both; one comes from the other where that is known."""
    U, c = run.U.take(rows, axis=0), run.data.c.take(rows)
    g = run.loss.probabilities(U)
    if isinstance(run.loss, SoftmaxCost) and type(run.loss) in (SoftmaxCost, SoftmaxCostTable):  # not a user's subclass
        return run.loss.residual_of(g.copy(), c), g
    return run.loss.residual(U, c), g


def different_examples(data: TrainingSet) -> tuple[AnyArray, Array]:
    """One row of every different example, in an order that depends only on the values, and the weight of equal rows.

    Draws from this list are the same whether rows are weighted or repeated, and for any order of the rows.
    """
    places = data.dealt(np.arange(data.K))
    labels = places[data.c][:, None] if data.costs is None else data.costs[:, np.argsort(places)]
    keys = sparse_keys(data.X, labels) if issparse(data.X) else dense_keys(data.X, labels)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, np.bincount(inverse, data.weight).astype(np.float64, copy=False)


def dense_keys(X: AnyArray, labels: AnyArray) -> AnyArray:
    """A key for every row of X (n, p) and labels (n, m): their bytes, (n,); equal numbers have equal bytes."""
    content = np.ascontiguousarray(np.column_stack([X, labels]), dtype=np.float64) + 0.0  # turns −0.0 into 0.0
    content[np.isnan(content)] = np.nan
    return content.view(np.dtype((np.void, content.strides[0]))).ravel()


def sparse_keys(X: Any, labels: AnyArray) -> AnyArray:
    """Keys of the rows of a sparse X, in the order that `dense_keys` would have; (n,) bytes.

    Where two rows differ first, bytes of a number stand against zeros, or bytes of two numbers against each other. So a
    key lists what is not zero: how far from the last column it is, the highest byte first, and the bytes of the number.
    """
    content = hstack([X, csr_array(labels, dtype=np.float64)], format="csr", dtype=np.float64)
    content.eliminate_zeros()
    content.sort_indices()
    content.data[np.isnan(content.data)] = np.nan
    entry = np.empty(content.nnz, dtype=[("from_end", ">i8"), ("value", "<f8")])
    entry["from_end"], entry["value"] = content.shape[1] - content.indices, content.data
    keys = np.empty(content.shape[0], dtype=object)
    keys[:] = [entry[begin:end].tobytes() for begin, end in pairwise(content.indptr.tolist())]
    return keys
