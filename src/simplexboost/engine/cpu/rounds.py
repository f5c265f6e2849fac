"""Makes many rounds of `SimplexBoostClassifier` in one call of compiled code, without Python code between them.

The Python loop in `boosting.loop` is the reference: both give the same models and histories, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _kernels
from ..._util.arrays import AnyArray
from ..binned import BinnedData, SparseCodes
from ..interface import ORDERS, Growth, LeafRule, RoundBlock, RoundDraw
from ..tree import NODE
from .rows import CpuRowLoss
from .trees import interaction_groups, table_of


class RoundMaker:
    """A compiled boosting loop for one loss and one table, with the same growth options for all trees."""

    def __init__(self, loss: CpuRowLoss, data: BinnedData, growth: Growth, rule: LeafRule) -> None:
        self.loss, self.data, self.growth = loss, data, growth
        is_sparse = isinstance(data.codes, SparseCodes)
        self.all_features = data.find_varied(None) if is_sparse else None
        table = data.__dict__.get("table") or table_of(data, loss.compute.n_threads)
        together, groups, starts = interaction_groups(growth)
        self.kernel = _kernels.Rounds(
            loss.kernel,
            None if is_sparse else table,
            table if is_sparse else None,
            data.n_bins,
            data.has_missing,
            data.categorical,
            data.edges.values,
            data.edges.first,
            data.seen_categories,
            growth.l2_regularization,
            growth.levels if growth.order == "symmetric" else growth.max_depth,
            growth.max_leaf_nodes,
            growth.min_samples_leaf,
            growth.category_smoothing,
            ORDERS[growth.order],
            growth.noise,
            growth.bits,
            growth.histogram_memory,
            together,
            groups,
            starts,
            rule.l2_regularization,
            rule.max_step,
            rule.thin,
        )

    def make(
        self,
        F: AnyArray,
        draws: Sequence[RoundDraw],
        alpha: float,
        rate: float,
        reach: float,
        limit: float,
        seconds: float,
    ) -> RoundBlock:
        """Make one round per entry of `draws`, F += rate · alpha · (leaf values), or fewer if the call ends early.

        The call ends early after `seconds`, and before a round that is left to Python: for example, if the tree has no
        edge, a value is not finite, or `reach`, the bound on |F|, could grow to `limit`.
        """
        loss, n = self.loss, self.data.n
        loss.make_room(1)
        rows, row_starts = join_lists([draw.rows for draw in draws], np.uint32)
        features, feature_starts = join_lists([self._features(draw.features) for draw in draws], np.int32)
        counts = [self.growth.category_count(n if draw.rows is None else len(draw.rows)) for draw in draws]
        nodes, *arrays, reach = self.kernel.make(
            F,
            loss.G,
            loss.stats,
            loss.loss,
            loss.scale,
            loss.weight,
            loss.weights,
            np.concatenate([draw.Z for draw in draws], axis=1).T,
            np.array([draw.seed for draw in draws], dtype=np.uint64),
            rows,
            row_starts,
            features,
            feature_starts,
            np.array(counts),
            rate * alpha,
            reach,
            limit,
            seconds,
            loss.compute.n_threads,
        )
        return RoundBlock(alpha, rate * alpha, reach, nodes.view(NODE)[:, 0], *arrays)

    def _features(self, features: AnyArray | None) -> AnyArray | None:
        if self.all_features is None:
            return features
        return self.all_features if features is None else self.data.find_varied(features)


def join_lists(lists: Sequence[Any], dtype: Any) -> tuple[AnyArray | None, AnyArray | None]:
    """Return the lists of all rounds concatenated, and the index at which each round's list begins.

    If all rounds share one list, return this list and None; if every list is None, return None and None.
    """
    first = lists[0]
    if all(numbers is first for numbers in lists):
        return None if first is None else np.ascontiguousarray(first, dtype=dtype), None
    return np.concatenate(lists).astype(dtype), np.cumsum([0, *map(len, lists)], dtype=np.int64)
