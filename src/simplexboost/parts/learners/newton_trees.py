"""Grows trees whose leaf values are Newton steps ΣG / (Σh + l2), monotone in some features if the user requires it.

A tree is monotone in a feature if no increase of this feature alone leads from a leaf to one with a smaller value. The
feature values that each leaf accepts, its box, show which leaves such increases connect. So leaf values must satisfy
v_a <= v_b for certain pairs of leaves a, b. An isotonic regression finds the nearest such values by pooling: the two
leaves of the pair that violates this most, and all leaves pooled with them before, get their common mean, until no pair
violates it.

A sum of monotone trees with positive steps is monotone. Rounding does not change that: a <= b and c <= d imply fl(a +
c) <= fl(b + d) for floating-point numbers too.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..._util.arrays import AnyArray, Array
from ..._util.params import check_number, is_auto
from ...engine import Grown, Growth, Tree
from ...model.code import symmetric_form
from ...tables.training_set import TrainingSet
from .base import Request
from .constraints import monotone_signs
from .tree_learners import SMALL, TreeLearner

CODES = 256  # of categories


class Boxes(NamedTuple):
    """The boxes of a tree's L leaves: the values of each of the q split features with which rows can reach a leaf."""

    features: AnyArray  # (q,)
    low: Array  # (L, q), numbers in (low, high] are accepted; inf and −inf where there are none
    high: Array  # (L, q)
    missing: AnyArray  # (L, q), whether missing values are accepted
    categories: dict[int, AnyArray]  # for each categorical feature, by its place, which categories are, (L, 256)


def leaf_boxes(tree: Tree) -> Boxes:
    """Return the boxes of a tree's leaves: the feature values with which rows can reach each leaf."""
    nodes = tree.nodes
    inner = nodes["feature"] >= 0
    features, at = np.unique(nodes["feature"][inner], return_inverse=True)
    N, q = len(nodes), len(features)
    low, high = np.full((N, q), -np.inf), np.full((N, q), np.inf)
    missing = np.ones((N, q), dtype=bool)
    sets = {j: np.ones((N, CODES), dtype=bool) for j in np.unique(at[nodes["category"][inner] >= 0]).tolist()}
    for node, j in zip(np.flatnonzero(inner).tolist(), at.tolist(), strict=True):  # children come after their parents
        left = int(nodes["left"][node])
        both = slice(left, left + 2)
        low[both], high[both], missing[both] = low[node], high[node], missing[node]
        for of_feature in sets.values():
            of_feature[both] = of_feature[node]
        missing[left + int(nodes["missing_left"][node]), j] = False
        if nodes["category"][node] >= 0:
            goes_left = np.unpackbits(tree.category_sets[nodes["category"][node]], bitorder="little").astype(bool)
            sets[j][left] &= goes_left
            sets[j][left + 1] &= ~goes_left
            continue
        threshold = float(nodes["threshold"][node])
        high[left, j] = min(high[left, j], threshold)
        low[left + 1, j] = max(low[left + 1, j], threshold)
    leaves = np.flatnonzero(~inner)
    leaves = leaves[np.argsort(nodes["left"][leaves])]
    kept = {j: of_feature[leaves] for j, of_feature in sets.items()}
    low, high = low[leaves], high[leaves]
    # Symmetric trees ask some leaves for a number below 1 and above 2; and a split may send only missing values right.
    empty = low >= high
    return Boxes(features, np.where(empty, np.inf, low), np.where(empty, -np.inf, high), missing[leaves], kept)


def ordered_pairs(boxes: Boxes, signs: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return pairs of leaves a and b, as two index arrays, whose values must satisfy v_a <= v_b in a monotone tree.

    There is a pair if some row of leaf a can become a row of leaf b when features change only as their signs (p,)
    allow: up if 1, down if −1, not at all if 0. Pairs that follow from two other pairs are left out.
    """
    L = len(boxes.low)
    before = ~np.eye(L, dtype=bool)  # (L, L)
    for j, sign in enumerate(signs[boxes.features].tolist()):
        if j in boxes.categories:
            accepted = boxes.categories[j].astype(np.float32)
            meets = accepted @ accepted.T > 0
        else:
            reaches = boxes.low[:, j][:, None] < boxes.high[:, j]  # b has a number above some number of a
            meets = reaches if sign > 0 else reaches.T if sign < 0 else reaches & reaches.T
        before &= meets | (boxes.missing[:, j][:, None] & boxes.missing[:, j])
    as_number = before.astype(np.float32)
    a, b = np.nonzero(before & ~(as_number @ as_number > 0))
    return a, b


def pool_values(values: Array, weight: Array, a: AnyArray, b: AnyArray) -> Array:
    """Return the values (L,) nearest to the given ones, in weighted squares, with v[a] <= v[b] for all pairs of leaves.

    >>> pool_values(np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 1.0]), np.array([0, 1]), np.array([1, 2]))
    array([1.5, 1.5, 2. ])
    """
    values, pool = values.copy(), np.arange(len(values))
    while len(a) and (excess := values[a] - values[b]).max() > 0:
        worst = int(excess.argmax())
        joined = (pool == pool[a[worst]]) | (pool == pool[b[worst]])
        pool[joined] = pool[a[worst]]
        values[joined] = np.average(values[joined], weights=weight[joined])
    return values


def make_monotone(tree: Tree, values: AnyArray, weight: Array, signs: AnyArray) -> AnyArray:
    """Return leaf values (L, K) made monotone: class k may only rise with feature f if signs[k, f] is 1, fall if −1."""
    split = np.unique(tree.nodes["feature"][tree.nodes["feature"] >= 0])
    classes = np.flatnonzero(signs[:, split].any(axis=1))
    if len(classes) == 0:
        return values
    boxes, values = leaf_boxes(tree), values.copy()
    pairs: dict[bytes, tuple[AnyArray, AnyArray]] = {}  # many classes may have the same constraints
    for k in classes.tolist():
        key = signs[k].tobytes()
        if key not in pairs:
            pairs[key] = ordered_pairs(boxes, signs[k])
        values[:, k] = pool_values(values[:, k].astype(np.float64), weight, *pairs[key])
    return values


class NewtonTree(TreeLearner, name="newton-tree"):
    """A tree with leaf values ΣG / (Σh + l2): Newton steps, or least squares if the request has no curvature h.

    Parameters
    ----------
    l2_regularization : float, default=1.0
        The number that is added to every sum of curvatures, so that leaves with few rows take shorter steps.
    monotonic_cst : list, dict, array of shape (K, p) or None, default=None
        The direction in which the score of a class may follow a feature: 1 only upwards, −1 only downwards, 0 for no
        constraint. With two classes it is a list of p such numbers, or a dict from feature index or name to number, for
        the score of the second class; otherwise a dict from class index to such a list or dict, or an array. Codewords
        must be canonical.

    Examples
    --------
    >>> import simplexboost as sb
    >>> newton = dict(codewords="canonical", optimizer="newton", step="fixed")
    >>> clf = sb.BoostingClassifier(learner=NewtonTree(max_depth=3), n_estimators=10, **newton)
    """

    l2_regularization: float = 1.0
    monotonic_cst: Any = field(default=None, kw_only=True)

    score: ClassVar[str] = "newton"
    kind: ClassVar[str] = "regression"

    def check(self) -> None:
        super().check()
        check_number("l2_regularization", self.l2_regularization, float, 0.0, auto=self._may_be_auto)

    def check_for(self, data: TrainingSet, Y: Array) -> None:
        super().check_for(data, Y)
        if monotone_signs(self.monotonic_cst, data) is not None and symmetric_form(Y) != (1.0, 0.0):
            raise ValueError(
                "monotonic_cst needs codewords='canonical', where every coordinate of a leaf is the score of one "
                f"class; the codewords have shape {Y.shape}."
            )

    def _make_growth(self, data: TrainingSet, **more: Any) -> Growth:
        return super()._make_growth(data, l2_regularization=self.l2_for(data), **more)

    def l2_for(self, data: TrainingSet) -> float:
        """Return the number l2 that is added to every sum of curvatures, for these training data."""
        return float(self.l2_regularization)

    def statistics(self, request: Request) -> Array:
        return np.column_stack([request.G, request.h])  # (n, d + 1)

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        values = newton_steps(grown.leaf_sums, self.growth_for(request.data).l2_regularization)
        return self.constrain(values, grown, request.data)

    def constrain(self, values: Any, grown: Grown, data: TrainingSet) -> Any:
        """Return leaf values (L, d) made monotone as ``monotonic_cst`` requires; leaves count by their curvatures."""
        signs = None if self.monotonic_cst is None else monotone_signs(self.monotonic_cst, data)
        if signs is None:
            return values
        values = np.asarray(values)
        if values.shape[1] != len(signs):
            raise ValueError(
                "monotonic_cst needs an optimizer that fits all classes in one tree, such as 'sketched-newton' or "
                "'newton'; this one asks for one coordinate at a time."
            )
        weight = np.maximum(grown.leaf_sums[:, -1] + self.l2_for(data), np.finfo(np.float64).tiny)
        return make_monotone(grown.tree, values, weight, signs)


def newton_steps(sums: Array, l2_regularization: float) -> Array:
    """Return ΣG / (Σh + l2), (L, d), from sums (L, d + 1) per leaf with the curvature Σh last; 0 where Σh + l2 is 0."""
    h = sums[:, -1:] + l2_regularization
    return np.divide(sums[:, :-1], h, out=np.zeros_like(sums[:, :-1]), where=h > 0)


class RegressionTree(NewtonTree, name="regression-tree"):
    """A least-squares tree: a `NewtonTree` whose leaf values are weighted means, by default without regularization.

    Examples
    --------
    >>> import simplexboost as sb
    >>> clf = sb.LogitBoostClassifier(learner=RegressionTree(max_depth=3), n_estimators=5)
    """

    l2_regularization: float = 0.0

    def leaf_values(self, grown: Grown, request: Request) -> Array:
        return round_to_single(super().leaf_values(grown, request))


def round_to_single(values: Array) -> Array:
    """Return values rounded to single precision (24 bits), as an array in double precision.

    Products of rounded values and whole numbers are exact, and so are their sums: a row of weight 3 counts like three
    rows. Otherwise the last digits would decide between equally good splits or classes, which are common with few rows.
    """
    return values.astype(np.float32).astype(np.float64)


LABEL_L2 = 1.0  # of 0.2, 0.5, 1 and 5 the best or the second best on four tables (docs/targets.md)


class SketchTree(NewtonTree, name="sketch-tree"):
    """The weak learner of `SketchedNewton`: a Newton tree grown best first, whose limits depend on the data size.

    Parameters
    ----------
    max_leaf_nodes : int, "auto" or None, default="auto"
        The largest number of leaves; None sets no limit. "auto" is n / 128, but at least 16 and at most 255; symmetric
        trees have 64 leaves, or as many as ``max_depth`` allows.
    min_samples_leaf : int or "auto", default="auto"
        The smallest number of training rows in a leaf. "auto" is 1 for up to 1000 rows and 5 for more.
    l2_regularization : float or "auto", default="auto"
        The number that is added to every sum of curvatures. "auto" is 10 / K, and 0.2 from 50 classes on; it is 1 for
        several labels per row (an indicator matrix). For several class targets, K is their mean number of classes.

    Examples
    --------
    `SimplexBoostClassifier` is made of this tree and of `SketchedNewton`.

    >>> import simplexboost as sb
    >>> newton = dict(codewords="canonical", optimizer="sketched-newton", step="fixed", learning_rate=0.1)
    >>> clf = sb.BoostingClassifier(learner=SketchTree(max_leaf_nodes=8), n_estimators=20, **newton)
    """

    max_depth: int | None = None
    max_leaf_nodes: Any = "auto"
    min_samples_leaf: Any = "auto"
    growth: str = "best"
    l2_regularization: Any = "auto"

    _may_be_auto: ClassVar[bool] = True

    def l2_for(self, data: TrainingSet) -> float:
        if data.problem.yes_or_no and is_auto(self.l2_regularization):
            return LABEL_L2
        return float(self.l2_among(data.rivals))

    def l2_among(self, K: float) -> Any:
        """Return ``l2_regularization``, or if it is "auto", its value for K classes (with one class per row)."""
        return max(0.2, 10.0 / K) if is_auto(self.l2_regularization) else self.l2_regularization

    def _make_growth(self, data: TrainingSet, **more: Any) -> Growth:
        order, leaves, least = self.growth, self.max_leaf_nodes, self.min_samples_leaf
        order = "best" if is_auto(order) else order
        if is_auto(leaves):
            leaves = None if order == "symmetric" else min(max(data.n // 128, 16), 255)
        return super()._make_growth(
            data,
            max_leaf_nodes=leaves,
            min_samples_leaf=(1 if data.n <= 1000 else 5) if is_auto(least) else least,
            order=order,
            noise=0.0 if is_auto(self.gain_noise) else self.gain_noise,
            bits=64 if data.n * data.p < SMALL else 32,
        )
