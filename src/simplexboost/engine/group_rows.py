"""The flagship's loss on rows that are spread over a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..group import Group, Scattered, Share
from .cpu.rows import logistic_kernel
from .interface import RowProblem
from .sharded import part_problem

HESSIAN_ROWS = 48  # of a leaf; kHessianRows in kernels/losses/newton.hpp


class GroupLogistic:
    """`_kernels.LogisticLoss` on the rows of a member.

    With codewords that are not canonical, the Hessian of a leaf is estimated from some of its rows, chosen by their
    rank among all rows of the leaf. The leader chooses them, from the leaves of all rows.
    """

    def __init__(self, problem: RowProblem, group: Group, share: Share | Scattered) -> None:
        self.problem, self.group, self.share = problem, group, share
        self.whole = logistic_kernel(problem, share.n)
        self.ranked, self.tilted = problem.Y is not None, problem.exponents != (0, 0)

    def pull(self, *arguments: Any) -> None:
        """Fill in the rows here.

        That is left out if the past has this tree and the next, so that all sums over these rows are known already.
        Only the tilts of robust losses depend on rows of earlier rounds.
        """
        if self.tilted or self.group.milestones_ahead < 2:
            self.whole.pull(*arguments)

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
    ) -> AnyArray:
        """Newton's steps in two exchanges: first the largest weight and the row counts of the leaves, then the sums."""
        arrays = (F, G, loss, scale)
        used = leaf_of_row if rows is None else leaf_of_row[rows]

        def counts() -> list[tuple[str, Any]]:
            numbers = self.share.numbers if rows is None else self.share.numbers[rows]
            listed = [(numbers, used)] if self.ranked else []
            found = np.bincount(used, minlength=n_leaves)
            return [("max", self.whole.largest_weight(scale)), ("sum", found), ("list", listed)]

        def choose(pieces: list[Any]) -> tuple[float, AnyArray, AnyArray]:
            return float(pieces[0]), pieces[1], chosen_rows(pieces[2])

        largest, total, chosen = self.group.exchange("weights", counts, choose)
        n_rows = int(total.sum())

        def sums() -> list[tuple[str, Any]]:
            # No row comes after those of all members, so that this call leaves the Hessian out.
            out = self.whole.leaf_sums(*arrays, leaf_of_row, rows, total, total, largest, n_rows, n_threads)
            at = self.share.here(chosen)
            if len(at):
                kernel = logistic_kernel(part_problem(self.problem, at), self.share.n)
                some = [None if a is None else np.ascontiguousarray(a[at]) for a in arrays]
                own = np.bincount(leaf_of_row[at], minlength=n_leaves)
                none = np.zeros_like(own)
                sampled = kernel.leaf_sums(*some, leaf_of_row[at], None, none, own, largest, n_rows, n_threads)
                first = F.shape[1] + 1  # before it are the sums over all rows
                out[:, first:] = sampled[:, first:]
            return [("sum", out)]

        def values(pieces: list[Any]) -> AnyArray:
            return self.whole.leaf_values(pieces[0], largest, n_rows, l2, max_step, thin, n_threads)

        return self.group.exchange("leaves", sums, values)


def chosen_rows(pieces: list[tuple[AnyArray, AnyArray]]) -> AnyArray:
    """The numbers (ascending) of the rows that Hessians are estimated from: in every leaf those of evenly spaced ranks.

    Parameters
    ----------
    pieces : for every member the numbers of its rows and their leaves
    """
    if not pieces:
        return np.empty(0, dtype=np.int64)
    numbers, leaves = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    order = np.lexsort((numbers, leaves))
    counts = np.bincount(leaves)
    first, chosen = np.cumsum(counts) - counts, [np.empty(0, dtype=np.int64)]
    for begin, count in zip(first.tolist(), counts.tolist(), strict=True):
        wanted = min(count, HESSIAN_ROWS)
        chosen.append(begin + np.arange(wanted) * count // max(wanted, 1))
    return np.sort(numbers[order[np.concatenate(chosen)]])
