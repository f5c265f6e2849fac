"""Shapley values of a fitted booster: the contribution of each feature to the logits 2U = F Yᵀ, temperature included.

The contribution of a feature depends on which other features are already known; its Shapley value is the mean over all
orders in which features may become known. While a feature is unknown, a tree sends the row to both children of a split,
weighted by the fractions of the training rows that went there ("path-dependent" values), or takes the feature from a
row of a background set ("interventional" values). The base value and the Shapley values of a row add up to its logits.
XGBoost calls these logits the margin; if the loss is a likelihood, their soft-max gives the probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

from .. import _kernels
from .._util.arrays import AnyArray, Array
from .._util.compat import cached, import_optional
from .._util.docstrings import described
from ..classifiers.prediction import check_booster
from ..engine import Engine, Tree, column_of
from ..engine.cpu.forest import starts
from ..engine.cpu.trees import blocks, compact
from ..engine.tree import node_bytes
from ..model.additive import AdditiveModel
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from ..tables.frames import feature_names
from ..tables.labels import class_numbers
from .explained_classes import (
    ExplainedClasses,
    LeafTable,
    all_labels,
    leaf_table,
    node_outputs,
    scaled_values,
    selected_coordinates,
    tree_terms,
)


class PairExplanation(NamedTuple):
    """Shapley values of the log-odds of one class against another class.

    Attributes
    ----------
    values : array of shape (n, p)
        The contribution of each feature to the log-odds of the first class against the second class.
    base : float
        The base value: the log-odds while no feature is known. The base and a row's values add up to its log-odds.

    Examples
    --------
    >>> pair = PairExplanation(np.array([[0.5, -0.25]]), 0.125)
    >>> float(pair.base + pair.values.sum())  # the log-odds of the row
    0.375
    """

    values: Array
    base: float


@described
def expected_value(clf: Any) -> Array:
    """Return the base value of each logit, (K,): its value while no feature is known, a mean over the training rows.

    A class without training examples has the base value −inf.

    Examples
    --------
    >>> sb.explain.expected_value(clf).shape
    (3,)
    """
    chosen = ExplainedClasses.of(clf, None)
    return chosen.fill(compute_base(clf.model_, chosen.columns), -np.inf)


@described
def shap_values(clf: Any, X: Any, classes: Any = None, *, background: Any = None) -> Array:
    """Return the Shapley values, (n, p, K) or (n, p) for one class: the contribution of each feature to each logit.

    Examples
    --------
    >>> sb.explain.shap_values(clf, X).shape, sb.explain.shap_values(clf, X, 1).shape
    ((150, 4, 3), (150, 4))
    """
    check_booster(clf)
    return compute_with_base(clf, clf._check_X(X), classes, background)[0]


def compute_with_base(clf: Any, X: AnyArray, classes: Any, background: Any) -> tuple[Array, Array]:
    """Return the Shapley values (n, p, D) of validated rows X for D classes, and the base values of the logits (D,)."""
    chosen = ExplainedClasses.of(clf, classes)
    rows = None if background is None else clf._check_X(background)
    known = compute_base(clf.model_, chosen.columns) if rows is None else chosen.logits(rows).mean(axis=0)
    phi = compute_values(clf.model_, X, chosen.columns, clf._engine(), rows, chosen.logits(X) - known)
    return chosen.fill(phi, 0.0), chosen.fill(known, -np.inf)


@described
def shap_interaction_values(clf: Any, X: Any, classes: Any = None) -> Array:
    """Return the Shapley interaction values of pairs of features, (n, p, p, K), or (n, p, p) for one class.

    The joint effect of two features f and g, which no feature has alone, is shared equally by the entries (f, g) and
    (g, f). The sum over one feature axis is `shap_values`. With many features or classes the values need much memory.

    Examples
    --------
    >>> sb.explain.shap_interaction_values(clf, X, 1).shape
    (150, 4, 4)
    """
    check_booster(clf)
    checked, chosen = clf._check_X(X), ExplainedClasses.of(clf, classes)
    phi = compute_interactions(clf.model_, checked, chosen.columns, clf._engine())
    sums = phi.sum(axis=2)  # (n, p, D)
    before = sums.copy()
    share_rounding(sums, chosen.logits(checked) - compute_base(clf.model_, chosen.columns))
    own = np.arange(phi.shape[1])
    phi[:, own, own] += sums - before
    return chosen.fill(phi, 0.0)


@described
def explain_pair(clf: Any, X: Any, a: Any, b: Any) -> PairExplanation:
    """Explain the choice between classes a and b: return the contribution of each feature to the log-odds 2(U_a − U_b).

    Parameters
    ----------
    a, b : label
        The two classes.

    Examples
    --------
    >>> sb.explain.explain_pair(clf, X[[70]], 2, 1).values.argmax()  # speaks most for class 2
    np.int64(3)
    """
    check_booster(clf)
    checked, known = clf._check_X(X), all_labels(clf)
    numbers = np.concatenate([class_numbers(a, known, "a"), class_numbers(b, known, "b")])
    if len(numbers) != 2:
        raise ValueError(f"a={a!r} and b={b!r} must be one label each.")
    chosen = ExplainedClasses(clf, numbers, False, clf._present[numbers])
    chosen.check_present()
    M = chosen.columns @ np.array([[1.0], [-1.0]])  # (d, 1)
    base, logits = compute_base(clf.model_, M), chosen.logits(checked)
    phi = compute_values(clf.model_, checked, M, clf._engine(), total=logits[:, :1] - logits[:, 1:] - base)
    return PairExplanation(phi[..., 0], float(base[0]))


# ---- the package shap -----------------------------------------------------------------------------------------------


@described
def shap_explanation(clf: Any, X: Any, classes: Any = None, *, background: Any = None) -> Any:
    """Return the Shapley values as an ``Explanation`` object of the package ``shap``, for the plots of that package.

    Examples
    --------
    >>> sb.explain.shap_explanation(clf, X).values.shape
    (150, 4, 3)
    """
    shap = import_optional("shap", "shap_explanation needs the package")
    check_booster(clf)
    checked: Any = clf._check_X(X)
    phi, base = compute_with_base(clf, checked, classes, background)
    labels = all_labels(clf)[ExplainedClasses.of(clf, classes).numbers]
    return shap.Explanation(
        phi,
        np.repeat(base[None], len(phi), axis=0),
        checked.toarray() if issparse(checked) else checked,
        feature_names=feature_names(clf),
        output_names=None if base.ndim == 0 else [str(label) for label in labels],
    )


@described
def to_shap(clf: Any, classes: Any = None) -> dict[str, Any]:
    """Return the trees as input of ``shap.TreeExplainer``, which then computes the same values as `shap_values`.

    The result holds a number for every pair of a node and a class: use it for small models, or for a few classes.

    Parameters
    ----------
    classes : label, list of labels or None, default=None
        The classes to explain; None means all classes that had training examples.

    Examples
    --------
    >>> len(sb.explain.to_shap(clf)["trees"])
    20
    """
    chosen = ExplainedClasses.of(clf, classes)
    if not chosen.present.any():
        chosen.check_present()
    model, M = clf.model_, chosen.columns
    check_explainable(model)
    if len(model.trees) < len(model.terms):
        raise ValueError("to_shap takes a model of trees alone; this one holds lines.")
    if any((tree.nodes["category"] >= 0).any() for tree in model.trees):
        raise ValueError(
            "to_shap cannot pass on splits of categories, which shap takes from no arrays; use shap_explanation."
        )
    if any((tree.count <= 0).any() for tree in model.trees):
        raise ValueError("to_shap cannot pass on nodes without training rows, which shap divides by; use shap_values.")
    trees = []
    for term in model.scaled_terms:
        tree: Tree = term.hypothesis.tree
        inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"]
        trees.append(
            {  # x <= threshold goes left; leaves have −1
                "children_left": np.where(inner, left, -1),
                "children_right": np.where(inner, left + 1, -1),
                "children_default": np.where(inner, np.where(tree.nodes["missing_left"], left, left + 1), -1),
                "features": np.where(inner, tree.nodes["feature"], -1),
                "thresholds": np.where(inner, tree.nodes["threshold"], -1.0),
                "values": node_outputs(term, M, model.dtype),
                "node_sample_weight": tree.count.astype(np.float64),
            }
        )
    return {
        "trees": trees,
        "base_offset": np.zeros(M.shape[1]),
        "tree_output": "raw_value",
        "objective": "binary_crossentropy",  # not used
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


# ---- values of models -----------------------------------------------------------------------------------------------


class Paths:
    """The paths from the root to the leaves of all trees, from which compiled code computes Shapley values.

    The compiled code uses the float type of the model. It gets only the columns ``used``; None means all columns.
    """

    def __init__(self, trees: list[Tree], n_features: int, sparse: bool, dtype: Any = np.float64) -> None:
        self.trees, self.n_features, self.dtype = trees, n_features, dtype
        self.used: AnyArray | None
        self.nodes, self.used = compact(trees) if sparse else ([tree.nodes for tree in trees], None)

    @cached
    def kernel(self) -> Any:
        """The compiled object that holds the paths and computes Shapley values."""
        kernel = _kernels.SingleExplainer if self.dtype == np.float32 else _kernels.Explainer
        return kernel(
            np.concatenate([node_bytes(of_tree) for of_tree in self.nodes]),
            starts([len(of_tree) for of_tree in self.nodes]),
            np.concatenate([tree.count for tree in self.trees]).astype(np.float64),
            np.concatenate([tree.category_sets for tree in self.trees]),
            starts([len(tree.category_sets) for tree in self.trees]),
            self.n_features if self.used is None else len(self.used),
        )


# Results that are cached as long as a model lives, so that explaining one row takes milliseconds: for 800 trees of 125
# leaves and 26 classes the paths take 0.2 s and the other two 0.06 s. Only the last result of each kind is cached.
_CACHE: WeakKeyDictionary[AdditiveModel, dict[str, tuple[Any, Any]]] = WeakKeyDictionary()


def use_cache(model: AdditiveModel, kind: str, key: Any, make: Callable[[], Any]) -> Any:
    """Return the cached result of a kind, such as "paths", for a model and a key; if absent, compute it by ``make``."""
    store, key = _CACHE.setdefault(model, {}), (len(model.terms), model.temperature, key)
    found = store.get(kind)
    if found is None or found[0] != key:
        found = store[kind] = (key, make())
    return found[1]


def paths_of(model: AdditiveModel, X: AnyArray) -> Paths:
    """Return the `Paths` of a model's trees, for sparse rows if X is sparse, else for dense rows; cached per model."""
    key = X.shape[1], issparse(X)
    return use_cache(model, "paths", key, lambda: Paths(model.trees, X.shape[1], issparse(X), model.dtype))


def paths_against(model: AdditiveModel, X: AnyArray, background: AnyArray | None, engine: Engine) -> Paths:
    """Return the `Paths` of a model's trees, prepared for interventional Shapley values if there is a background."""
    if background is None:
        return paths_of(model, X)
    paths = Paths(model.trees, X.shape[1], issparse(X), model.dtype)
    part: Any = background if paths.used is None else background[:, paths.used]
    dense = np.ascontiguousarray(part.toarray() if issparse(part) else part)
    paths.kernel.set_background(dense, engine.compute.n_threads)
    return paths


def leaves_of(model: AdditiveModel, M: Array) -> LeafTable:
    """Return the leaf values of a model's trees, multiplied by the matrix M (d, D), cached with the model."""
    return use_cache(model, "leaves", (M.shape, M.tobytes()), lambda: leaf_table(model, M))


def compute_values(
    model: AdditiveModel,
    X: AnyArray,
    M: Array,
    engine: Engine,
    background: AnyArray | None = None,
    total: Array | None = None,
) -> Array:
    """Return the Shapley values (n, p, D) of F @ M for M (d, D): interventional with a background, else path-dependent.

    If totals (n, D) are given, the values are changed slightly so that they add up to the totals; see `share_rounding`.
    """
    check_explainable(model)
    d, D = M.shape
    if d < D and selected_coordinates(M) is None:  # fewer columns in code space
        out = compute_values(model, X, np.eye(d), engine, background) @ M
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
        if model.trees:
            paths, leaves = paths_against(model, X, background, engine), leaves_of(model, M)
            for rows, block in blocks(X, paths.used, engine.compute.n_threads):  # of the columns that are split
                of_block = np.empty((*block.shape, D))
                paths.kernel.values(block, *leaves, None, of_block, engine.compute.n_threads)
                out[rows, slice(None) if paths.used is None else paths.used] += of_block
        add_lines(model, X, M, out, background)
    if total is not None:
        share_rounding(out, total)
    return out


def compute_interactions(model: AdditiveModel, X: AnyArray, M: Array, engine: Engine) -> Array:
    """Return the Shapley interaction values (n, p, p, D) of F @ M for M (d, D); entry (f, f) is for feature f alone."""
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
    """Change the Shapley values (n, p, D) in place so that the sum over the features is the total (n, D).

    The predictions of `SimplexBoostClassifier` and their Shapley values are sums of some hundred numbers in single
    precision, so that both differ from the exact sums by a millionth. The difference between total and sum is divided
    among the features in proportion to the size of their values.
    """
    _kernels.share_rounding(phi, np.ascontiguousarray(total))


def add_lines(model: AdditiveModel, X: AnyArray, M: Array, out: Array, background: AnyArray | None) -> None:
    """Add to ``out`` the Shapley values of linear terms: the slope times (feature value − mean value)."""

    def distances(line: LinearHypothesis, X: AnyArray) -> Array:
        away = column_of(X, line.feature).astype(np.float64) - line.centre
        return np.where(np.isnan(away), 0.0, away)  # (n,)

    for term in model.scaled_terms:
        line = term.hypothesis
        if isinstance(line, LinearHypothesis):
            away = distances(line, X)
            if background is not None:
                away = away - distances(line, background).mean()
            slope = term.step * line.slope @ (M if term.coordinate is None else M[[term.coordinate]])
            out[:, line.feature] += away[:, None] * slope


def compute_base(model: AdditiveModel, M: Array) -> Array:
    """Return the base values of F @ M, (D,), for M (d, D): the sum of the mean outputs of terms on training rows."""
    check_explainable(model)

    def compute() -> Array:
        total = np.zeros(M.shape[1])
        for term in tree_terms(model):
            mean = leaf_weights(term.hypothesis.tree) @ scaled_values(term, model.dtype)
            total += mean @ (M if term.coordinate is None else M[[term.coordinate]])
        for term in model.scaled_terms:
            if isinstance(term.hypothesis, LinearHypothesis):
                intercept = term.step * term.hypothesis.intercept
                total += intercept @ (M if term.coordinate is None else M[[term.coordinate]])
        return total

    return use_cache(model, "base", (M.shape, M.tobytes()), compute).copy()


def leaf_weights(tree: Tree) -> Array:
    """Return each leaf's fraction of training rows, (L,); a node without rows gives half its weight to each child."""
    leaf, inner = np.flatnonzero(tree.nodes["feature"] < 0), np.flatnonzero(tree.nodes["feature"] >= 0)
    left, count = tree.nodes["left"], tree.count.astype(np.float64)
    weight = count / count[0] if count[0] > 0 else np.ones(len(count))
    if count[0] <= 0 or (count[inner] != count[left[inner]] + count[left[inner] + 1]).any():  # a tree made by hand
        for node in inner.tolist():
            rows = count[left[node] :][:2]
            weight[left[node] :][:2] = weight[node] * (rows / rows.sum() if rows.sum() > 0 else 0.5)
    out = np.empty(tree.n_leaves)
    out[left[leaf]] = weight[leaf]
    return out


def check_explainable(model: AdditiveModel) -> None:
    """Raise unless every term of the model is a tree or a linear function of one feature."""
    kinds = (TreeHypothesis, LinearHypothesis)
    other = next((t.hypothesis for t in model.terms if not isinstance(t.hypothesis, kinds)), None)
    if other is not None:
        raise ValueError(
            f"the model holds a {type(other).__name__}, which has no Shapley values here; they exist for the package's "
            "own tree learners and for learner='linear'."
        )
