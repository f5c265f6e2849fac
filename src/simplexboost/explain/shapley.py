"""Shapley values of a model: how much each feature adds to F M (n, D), compared with the mean over the training rows.

The values of a row add up to F(x) M minus the expected value. What a feature adds depends on which others are known
already; its Shapley value is the mean over all orders in which features may become known. While a feature is unknown, a
tree sends the row down both sides of a split on it, with the shares of the training rows that went there (these are
"path-dependent" values), or takes the feature from a row of a background set ("interventional" values).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

from .. import _kernels
from .._util.arrays import AnyArray, Array
from .._util.compat import cached
from ..engine import Engine, Tree, column_of
from ..engine.cpu.forest import starts
from ..engine.cpu.trees import blocks, compact
from ..engine.tree import node_bytes
from ..model.additive import AdditiveModel
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from .explained_classes import LeafTable, chosen_rows, leaf_table, scaled_values, tree_terms


class Paths:
    """The trees of a model, to be taken apart; `used` are the columns that the kernel gets, None for all.

    The kernel computes in the precision of the model's predictions.
    """

    def __init__(self, trees: list[Tree], n_features: int, sparse: bool, dtype: Any = np.float64) -> None:
        self.trees, self.n_features, self.dtype = trees, n_features, dtype
        self.used: AnyArray | None
        self.nodes, self.used = compact(trees) if sparse else ([tree.nodes for tree in trees], None)

    @cached
    def kernel(self) -> Any:
        """The trees, taken apart."""
        kernel = _kernels.SingleExplainer if self.dtype == np.float32 else _kernels.Explainer
        return kernel(
            np.concatenate([node_bytes(of_tree) for of_tree in self.nodes]),
            starts([len(of_tree) for of_tree in self.nodes]),
            np.concatenate([tree.count for tree in self.trees]).astype(np.float64),
            np.concatenate([tree.category_sets for tree in self.trees]),
            starts([len(tree.category_sets) for tree in self.trees]),
            self.n_features if self.used is None else len(self.used),
        )


# What is kept of models as long as they live, so that to explain one row takes milliseconds: for 800 trees of 125
# leaves and 26 classes the paths take 0.2 s and the other two 0.06 s. Of those two only the last ones are kept.
_PATHS: WeakKeyDictionary[AdditiveModel, tuple[Any, Paths]] = WeakKeyDictionary()
_LEAVES: WeakKeyDictionary[AdditiveModel, tuple[Any, LeafTable]] = WeakKeyDictionary()
_EXPECTED: WeakKeyDictionary[AdditiveModel, tuple[Any, Array]] = WeakKeyDictionary()


def kept(store: WeakKeyDictionary[AdditiveModel, Any], model: AdditiveModel, key: Any, make: Callable[[], Any]) -> Any:
    """What the store has for a model and a key, made if it is not there."""
    found = store.get(model)
    if found is None or found[0] != key:
        found = store[model] = (key, make())
    return found[1]


def paths_of(model: AdditiveModel, X: AnyArray) -> Paths:
    """The paths of a model's trees, for dense or for sparse tables."""
    key = (len(model.terms), X.shape[1], issparse(X))
    return kept(_PATHS, model, key, lambda: Paths(model.trees, X.shape[1], issparse(X), model.dtype))


def paths_against(model: AdditiveModel, X: AnyArray, background: AnyArray | None, engine: Engine) -> Paths:
    """The paths of a model's trees, ready for values against background rows if there are some."""
    if background is None:
        return paths_of(model, X)
    paths = Paths(model.trees, X.shape[1], issparse(X), model.dtype)
    paths.kernel.set_background(columns_used(background, paths), engine.compute.n_threads)
    return paths


def leaves_of(model: AdditiveModel, M: Array) -> LeafTable:
    """The leaves of a model's trees times M (d, D)."""
    return kept(_LEAVES, model, key_of(model, M), lambda: leaf_table(model, M))


def key_of(model: AdditiveModel, M: Array) -> Any:
    """What leaf values and expectations depend on."""
    return len(model.terms), model.temperature, M.shape, M.tobytes()


def values(
    model: AdditiveModel,
    X: AnyArray,
    M: Array,
    engine: Engine,
    background: AnyArray | None = None,
    total: Array | None = None,
) -> Array:
    """Shapley values for F M, (n, p, D), M (d, D); path-dependent, or against the rows of a background set.

    If their totals (n, D) are given, the values are made to add up to them; see `share_rounding`.
    """
    check_explainable(model)
    d, D = M.shape
    if d < D and chosen_rows(M) is None:  # fewer columns in code space
        out = values(model, X, np.eye(d), engine, background) @ M
    elif not issparse(X) and len(model.trees) == len(model.terms) > 0:
        out = np.empty((X.shape[0], X.shape[1], D))
        paths, leaves = paths_against(model, X, background, engine), leaves_of(model, M)
        if background is None:
            engine.compute.explain(paths, X, leaves, total, out)
        else:
            paths.kernel.values(np.ascontiguousarray(X), *leaves, total, out, engine.compute.n_threads)
        return out
    else:
        out = np.zeros((X.shape[0], X.shape[1], D))
        add_trees(model, X, M, engine, background, out)
        add_lines(model, X, M, out, background)
    if total is not None:
        share_rounding(out, total)
    return out


def add_trees(
    model: AdditiveModel, X: AnyArray, M: Array, engine: Engine, background: AnyArray | None, out: Array
) -> None:
    """The values of the trees, added to out (n, p, D); a sparse X in blocks of the columns that are split."""
    if not model.trees:
        return
    paths, leaves = paths_against(model, X, background, engine), leaves_of(model, M)
    for rows, block in blocks(X, paths.used, engine.compute.n_threads):
        of_block = np.empty((*block.shape, M.shape[1]))
        paths.kernel.values(block, *leaves, None, of_block, engine.compute.n_threads)
        out[rows, slice(None) if paths.used is None else paths.used] += of_block


def interactions(model: AdditiveModel, X: AnyArray, M: Array, engine: Engine) -> Array:
    """Shapley interaction values for F M, (n, p, p, D); over one of the features they sum to the path-dependent values.

    Half of what two features do together and neither does alone stands at (f, g), and half at (g, f); at (f, f) is what
    the feature does on its own.
    """
    check_explainable(model)
    n, p = X.shape
    out = np.zeros((n, p, p, M.shape[1]))
    if model.trees:
        paths, leaves = paths_of(model, X), leaves_of(model, M)
        for rows, block in blocks(X, paths.used, engine.compute.n_threads):
            u = block.shape[1]
            target = out[rows] if paths.used is None else np.empty((len(block), u, u, M.shape[1]))
            paths.kernel.interactions(block, *leaves, target, engine.compute.n_threads)
            if paths.used is not None:
                out[rows, paths.used[:, None], paths.used] = target
    lines = np.zeros((n, p, M.shape[1]))
    add_lines(model, X, M, lines, None)
    out[:, np.arange(p), np.arange(p)] += lines
    return out


def share_rounding(phi: Array, total: Array) -> None:
    """Make the values (n, p, D) add up to their totals (n, D), in place.

    Predictions of `SimplexBoostClassifier` and their explanations are sums of some hundred numbers in single precision,
    and so a millionth off the exact sums. The difference is shared out in proportion to the size of the values, so that
    these add up to what the model predicts.
    """
    _kernels.share_rounding(phi, np.ascontiguousarray(total))


def columns_used(X: Any, paths: Paths) -> AnyArray:
    """The columns of a table that the kernel gets, dense."""
    X = X if paths.used is None else X[:, paths.used]
    return np.ascontiguousarray(X.toarray() if issparse(X) else X)


def add_lines(model: AdditiveModel, X: AnyArray, M: Array, out: Array, background: AnyArray | None) -> None:
    """Add the values of linear terms, in place: slope times the distance to the mean."""
    for term in model.scaled_terms:
        line = term.hypothesis
        if isinstance(line, LinearHypothesis):
            away = distances(line, X)
            if background is not None:
                away = away - distances(line, background).mean()
            slope = term.step * line.slope @ (M if term.coordinate is None else M[[term.coordinate]])
            out[:, line.feature] += away[:, None] * slope


def distances(line: LinearHypothesis, X: AnyArray) -> Array:
    """How far the feature of a line is from its centre, (n,); 0 where it is missing."""
    away = column_of(X, line.feature).astype(np.float64) - line.centre
    return np.where(np.isnan(away), 0.0, away)


def expected(model: AdditiveModel, M: Array) -> Array:
    """What is expected of F M while no feature is known, (D,): leaves weighted by their training rows."""
    check_explainable(model)
    return kept(_EXPECTED, model, key_of(model, M), lambda: _expected(model, M)).copy()


def _expected(model: AdditiveModel, M: Array) -> Array:
    total = np.zeros(M.shape[1])
    for term in tree_terms(model):
        shares = leaf_shares(term.hypothesis.tree)  # type: ignore[attr-defined]
        mean = shares @ scaled_values(term, model.dtype)  # (d,) or (1,)
        total += mean @ (M if term.coordinate is None else M[[term.coordinate]])
    for term in model.scaled_terms:
        if isinstance(term.hypothesis, LinearHypothesis):
            intercept = term.step * term.hypothesis.intercept
            total += intercept @ (M if term.coordinate is None else M[[term.coordinate]])
    return total


def leaf_shares(tree: Tree) -> Array:
    """The part of the training rows in each leaf, (L,); a node without rows divides its nothing evenly."""
    leaf, inner = np.flatnonzero(tree.nodes["feature"] < 0), np.flatnonzero(tree.nodes["feature"] >= 0)
    left, count = tree.nodes["left"], tree.count.astype(np.float64)
    share = count / count[0] if count[0] > 0 else np.ones(len(count))
    if count[0] <= 0 or (count[inner] != count[left[inner]] + count[left[inner] + 1]).any():  # a tree made by hand
        for node in inner.tolist():
            rows = count[left[node] :][:2]
            share[left[node] :][:2] = share[node] * (rows / rows.sum() if rows.sum() > 0 else 0.5)
    out = np.empty(tree.n_leaves)
    out[left[leaf]] = share[leaf]
    return out


def check_explainable(model: AdditiveModel) -> None:
    """Raise unless all terms are trees or lines."""
    kinds = (TreeHypothesis, LinearHypothesis)
    other = next((t.hypothesis for t in model.terms if not isinstance(t.hypothesis, kinds)), None)
    if other is not None:
        raise ValueError(
            f"the model holds a {type(other).__name__}, which has no Shapley values here; they exist for the package's "
            "own tree learners and for learner='linear'."
        )
