"""Growing a symmetric tree: one split for all nodes of a level, the one with the highest sum of the children's scores.

A node votes for a split if both of its children have `min_samples_leaf` rows; otherwise it counts with its own score, a
gain of zero. Sums are in the order of the nodes, as in kernels/trees/level.hpp.
"""

from __future__ import annotations

import numpy as np

from ..._typing import AnyArray
from ..tree import Tree, no_sets
from .grower import Grower, Split, choose, first_best
from .scores import sequential_sum


class SymmetricGrower(Grower):
    """Grows one symmetric tree."""

    def run(self, rows: AnyArray) -> tuple[Tree, list[AnyArray]]:
        """The tree, and the rows of every node."""
        self.min_category_count = self.growth.category_count(len(rows))
        levels: list[list[AnyArray]] = [[rows]]
        splits: list[Split] = []
        for depth in range(self.growth.levels):
            split = self.level_split(levels[-1], depth, frozenset(split.feature for split in splits))
            if split is None:
                break
            splits.append(split)
            levels.append([part for of_node in levels[-1] for part in self.partition(of_node, split)])
        node_rows = [of_node for level in levels for of_node in level]
        nodes: list[tuple[int, int, int, int, int]] = []
        gains: list[float] = []
        for split, level, below in zip(splits, levels, levels[1:], strict=False):
            n_left, n_right = (sum(map(len, below[side::2])) for side in (0, 1))
            missing_left = split.missing_left if split.missing_seen else n_left >= n_right
            record = self.record(split)
            nodes += [(split.feature, 2 * (len(nodes) + i) + 1, *record, int(missing_left)) for i in range(len(level))]
            gains += [self.share(*sides) for sides in zip(level, below[::2], below[1::2], strict=True)]
        nodes += [(-1, -1, 0, -1, 0)] * len(levels[-1])
        gains += [0.0] * len(levels[-1])
        count = np.array([len(r) for r in node_rows], dtype=np.int64)
        sets = np.concatenate([no_sets(), *(s[None] for s in self.category_sets)])
        return Tree(self.finish(nodes), np.array(gains), count, sets), node_rows

    def level_split(self, level: list[AnyArray], depth: int, used: frozenset[int]) -> Split | None:
        """The best split of a level, from the rows of its nodes; ``used`` are the features of the levels above."""
        voters = [rows for rows in level if len(rows) >= 2 * max(self.growth.min_samples_leaf, 1)]
        own = sequential_sum(self.score_of(self.total(rows)) for rows in voters)
        splits = [first_best(self.level_candidates(feature, level, voters)) for feature in self.allowed(used)]
        return choose(splits, own, self.growth, depth)

    def level_candidates(self, feature: int, level: list[AnyArray], voters: list[AnyArray]) -> list[Split]:
        """All splits of one feature for which a node votes, in the order of `Grower.candidates`."""
        histograms = [self.histogram(feature, rows) for rows in voters]
        totals = [self.total(rows) for rows in voters]
        all_rows = np.concatenate(level)
        whole = self.histogram(feature, all_rows)
        order, seen = self.order_of(feature, whole, self.total(all_rows)), bool(whole[-1, -1] > 0)
        out = []
        for missing_left in (False, True) if seen else (False,):
            for i in range(len(order)):
                codes = order[: i + 1] + [len(whole) - 1] * missing_left
                lefts = [histogram[codes].sum(axis=0) for histogram in histograms]
                votes = [self.votes(left, total) for left, total in zip(lefts, totals, strict=True)]
                if any(votes):
                    sides = zip(lefts, totals, strict=True)
                    score = sequential_sum(self.level_score(left, total) for left, total in sides)
                    categorical = bool(self.data.categorical[feature])
                    out.append(Split(score, 0.0, feature, order[: i + 1], missing_left, seen, categorical))
        return out

    def votes(self, left: AnyArray, total: AnyArray) -> bool:
        """Whether a node votes for a split, from the integer sums of its left child and of all its rows."""
        return bool(min(left[-1], (total - left)[-1]) >= max(self.growth.min_samples_leaf, 1))

    def level_score(self, left: AnyArray, total: AnyArray) -> float:
        """What a node adds to the score of a split."""
        if not self.votes(left, total):
            return self.score_of(total)
        return self.score_of(left) + self.score_of(total - left)

    def share(self, rows: AnyArray, left: AnyArray, right: AnyArray) -> float:
        """What a node gains by the split into these rows."""
        total = self.total(rows)
        return self.level_score(self.total(left), total) - self.score_of(total) if len(rows) else 0.0
