"""The flagship's loss on rows that are spread over a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray
from ..group import Group, Share
from .cpu.rows import logistic_kernel
from .interface import RowProblem
from .sharded import part_problem, part_rows


class GroupLogistic:
    """`_kernels.LogisticLoss` on the rows of a member.

    With codewords that are not canonical, the Hessian of a leaf is estimated from some of its rows, chosen by their
    rank in the leaf. Every segment of rows then has a kernel of its own, and is told how many rows come before.
    """

    def __init__(self, problem: RowProblem, group: Group, share: Share) -> None:
        self.group, n = group, share.n
        self.whole = logistic_kernel(problem, n)
        self.ranked, self.tilted = problem.Y is not None, problem.exponents != (0, 0)
        self.begins, self.parts = [-1], [slice(0, len(problem.c))]
        if self.ranked and share.segments:
            self.begins, self.parts = [begin for begin, _ in share.segments], share.slices()
        self.kernels = [
            self.whole if len(self.parts) == 1 else logistic_kernel(part_problem(problem, part), n)
            for part in self.parts
        ]

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
        used = [part_rows(rows, part) for part in self.parts]
        leaves = [leaf_of_row[part] for part in self.parts]

        def counts() -> list[tuple[str, Any]]:
            chosen = [of if r is None else of[r] for of, r in zip(leaves, used, strict=True)]
            found = [np.bincount(of, minlength=n_leaves) for of in chosen]
            listed = list(zip(self.begins, found, strict=True)) if self.ranked else []
            return [("max", self.whole.largest_weight(scale)), ("sum", np.sum(found, axis=0)), ("list", listed)]

        largest, total, listed = self.group.exchange("weights", counts)
        before = ranks_before(listed, n_leaves)
        n_rows, zero = int(total.sum()), np.zeros(n_leaves, dtype=np.int64)

        def sums() -> list[tuple[str, Any]]:
            of_parts = [
                kernel.leaf_sums(
                    *(None if a is None else a[part] for a in (F, G, loss, scale)),
                    of, r, before.get(begin, zero), total, float(largest), n_rows, n_threads,
                )
                for kernel, part, of, r, begin in zip(self.kernels, self.parts, leaves, used, self.begins, strict=True)
            ]  # fmt: skip
            return [("sum", np.sum(of_parts, axis=0, dtype=of_parts[0].dtype))]

        def values(pieces: list[Any]) -> AnyArray:
            return self.whole.leaf_values(pieces[0], float(largest), n_rows, l2, max_step, thin, n_threads)

        return self.group.exchange("leaves", sums, values)


def ranks_before(listed: list[tuple[int, AnyArray]], n_leaves: int) -> dict[int, AnyArray]:
    """For every segment how many rows of each leaf come before it, (L,), from the counts of all segments."""
    before, so_far = {}, np.zeros(n_leaves, dtype=np.int64)
    for begin, counts in sorted(listed, key=lambda entry: entry[0]):
        before[begin] = so_far
        so_far = so_far + counts
    return before
