"""Shapley values of a fitted booster: what each feature adds to its class scores.

All values are log-odds: they explain the logits 2U = F Yᵀ, temperature included. Where the loss is a likelihood, the
probabilities are the soft-max of these; XGBoost calls the same quantity the margin. The values of a row and
`expected_value` add up to the logits of the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._util.arrays import AnyArray, Array
from .._util.compat import import_optional
from .._util.params import check_choice
from ..engine import Tree
from ..model.additive import Term
from ..model.hypotheses import TreeHypothesis
from ..tables.frames import feature_names
from ..tables.labels import class_numbers
from . import shapley
from .explained_classes import ExplainedClasses, all_labels, check_booster, documented
from .tree_tables import class_gains, node_outputs, split_counts


class PairExplanation(NamedTuple):
    """Why one class rather than another.

    Attributes
    ----------
    values : array of shape (n, p)
        What each feature adds to the log-odds of the first class against the second.
    base : float
        The log-odds while no feature is known; with the values of a row they add up to its log-odds.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> pair = sb.explain.explain_pair(clf, X[[50]], 1, 2)
    >>> pair.values.shape, bool(pair.base + pair.values.sum() > 0)  # it is class 1 rather than class 2
    ((1, 4), True)
    """

    values: Array
    base: float


@documented
def expected_value(clf: Any) -> Array:
    """Return the logits while no feature is known, (K,): the mean over the training rows of every tree.

    Returns
    -------
    array of shape (K,)
        The logits; −inf for classes without training examples.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> sb.explain.expected_value(clf).shape
    (3,)
    """
    chosen = ExplainedClasses.of(clf, None)
    return chosen.fill(shapley.expected(clf.model_, chosen.columns), -np.inf)


@documented
def shap_values(clf: Any, X: Any, classes: Any = None, *, background: Any = None) -> Array:
    """Return Shapley values: what each feature adds to the logit of each class, (n, p, K).

    Returns
    -------
    array of shape (n, p, K) or (n, p)
        The values.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> sb.explain.shap_values(clf, X).shape, sb.explain.shap_values(clf, X, 1).shape
    ((150, 4, 3), (150, 4))
    """
    check_booster(clf)
    return values_and_base(clf, clf._check_X(X), classes, background)[0]


def values_and_base(clf: Any, X: AnyArray, classes: Any, background: Any) -> tuple[Array, Array]:
    """Return the Shapley values (n, p, D) of rows that are checked, and the logits (D,) while no feature is known."""
    chosen = ExplainedClasses.of(clf, classes)
    rows = None if background is None else clf._check_X(background)
    known = shapley.expected(clf.model_, chosen.columns) if rows is None else chosen.logits(rows).mean(axis=0)
    phi = shapley.values(clf.model_, X, chosen.columns, clf._engine(), rows, chosen.logits(X) - known)
    return chosen.fill(phi, 0.0), chosen.fill(known, -np.inf)


@documented
def shap_interaction_values(clf: Any, X: Any, classes: Any = None) -> Array:
    """Return Shapley interaction values of pairs of features, (n, p, p, K).

    What two features do together and neither does alone stands half at (f, g) and half at (g, f). Over one of the two
    features the values add up to `shap_values`. For many features or classes these are many numbers.

    Returns
    -------
    array of shape (n, p, p, K) or (n, p, p)
        The values.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> sb.explain.shap_interaction_values(clf, X, 1).shape
    (150, 4, 4)
    """
    check_booster(clf)
    checked, chosen = clf._check_X(X), ExplainedClasses.of(clf, classes)
    phi = shapley.interactions(clf.model_, checked, chosen.columns, clf._engine())
    sums = phi.sum(axis=2)  # (n, p, D)
    before = sums.copy()
    shapley.share_rounding(sums, chosen.logits(checked) - shapley.expected(clf.model_, chosen.columns))
    own = np.arange(phi.shape[1])
    phi[:, own, own] += sums - before
    return chosen.fill(phi, 0.0)


@documented
def explain_pair(clf: Any, X: Any, a: Any, b: Any) -> PairExplanation:
    """Explain why class a and not class b: what each feature adds to the log-odds 2(U_a − U_b).

    Parameters
    ----------
    a : label
        The class whose odds are explained.
    b : label
        The class that the odds are against.

    Returns
    -------
    PairExplanation
        ``values`` (n, p), and ``base``, the log-odds while no feature is known.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> sb.explain.explain_pair(clf, X[[70]], 2, 1).values.argmax()  # speaks most for class 2
    np.int64(3)
    """
    check_booster(clf)
    checked, known = clf._check_X(X), all_labels(clf)
    numbers = np.concatenate([class_numbers(a, known, "a"), class_numbers(b, known, "b")])
    if len(numbers) != 2:
        raise ValueError(f"a={a!r} and b={b!r} must be one label each.")
    chosen = ExplainedClasses(clf, numbers, False, clf.present_[numbers])
    chosen.check_present()
    M = chosen.columns @ np.array([[1.0], [-1.0]])  # (d, 1)
    base, logits = shapley.expected(clf.model_, M), chosen.logits(checked)
    phi = shapley.values(clf.model_, checked, M, clf._engine(), total=logits[:, :1] - logits[:, 1:] - base)
    return PairExplanation(phi[..., 0], float(base[0]))


IMPORTANCES = ("gain", "cover", "splits", "shap")


@documented
def importances(clf: Any, kind: str = "gain", X: Any = None, *, classes: Any = None) -> Array:
    """Return the importance of the features, (p,); for chosen classes (p, D).

    Parameters
    ----------
    kind : {"gain", "cover", "splits", "shap"}, default="gain"
        "gain" is ``feature_importances_``; for chosen classes it is what the splits explain of the squared
        differences between the values in the leaves, and sums to one for every class. "cover" is the number of
        training rows that pass the splits on a feature, "splits" the number of these. "shap" is the mean of the
        absolute Shapley values of X, over all classes or for the chosen ones.
    X : array, data frame or sparse matrix of shape (n, p), or None, default=None
        The rows whose Shapley values are taken, for ``kind="shap"`` only.
    classes : label, list of labels or None, default=None
        The classes in question. None means all of them together. For a list there is a second axis, in its order.

    Returns
    -------
    array of shape (p,) or (p, K)
        The importances.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> sb.explain.importances(clf, "splits").shape, sb.explain.importances(clf, classes=[0, 1]).shape
    ((4,), (4, 2))
    """
    model = check_booster(clf)
    check_choice("kind", kind, IMPORTANCES)
    if (kind == "shap") != (X is not None):
        raise ValueError(f"kind={kind!r} takes {'rows' if kind == 'shap' else 'no'} X; kind='shap' alone needs X.")
    if kind == "shap":
        size = np.abs(shap_values(clf, X, classes)).mean(axis=0)  # (p, D), or (p,)
        return size.mean(axis=1) if classes is None else size
    if kind == "gain" and classes is not None:
        chosen = ExplainedClasses.of(clf, classes)
        return chosen.fill(class_gains(model, clf.n_features_in_, chosen.columns), 0.0)
    if classes is not None:
        raise ValueError(f"kind={kind!r} is the same for all classes; kind='gain' and kind='shap' know classes.")
    if kind == "gain":
        return model.feature_gains(clf.n_features_in_)
    return split_counts(model, clf.n_features_in_, rows=kind == "cover")


# ---- the package shap -----------------------------------------------------------------------------------------------


@documented
def shap_explanation(clf: Any, X: Any, classes: Any = None, *, background: Any = None) -> Any:
    """Return the Shapley values as an ``Explanation`` of the package ``shap``, for its plots.

    Returns
    -------
    shap.Explanation
        The values with their base and the names of features and classes.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> sb.explain.shap_explanation(clf, X).values.shape
    (150, 4, 3)
    """
    shap = import_optional("shap", "shap_explanation needs the package")
    check_booster(clf)
    checked: Any = clf._check_X(X)
    values, base = values_and_base(clf, checked, classes, background)
    known, single = all_labels(clf), base.ndim == 0
    labels = known if classes is None else known[class_numbers(classes, known)]
    return shap.Explanation(
        values,
        np.repeat(base[None], len(values), axis=0),
        checked.toarray() if issparse(checked) else checked,
        feature_names=feature_names(clf),
        output_names=None if single else [str(label) for label in labels],
    )


@documented
def to_shap(clf: Any, classes: Any = None) -> dict[str, Any]:
    """Return the trees in the form that ``shap.TreeExplainer`` takes; its values are those of `shap_values`.

    The result has a number per node and class, so that this is for small models, or for some classes.

    Parameters
    ----------
    classes : label, list of labels or None, default=None
        The classes to explain; None means all that had training examples.

    Returns
    -------
    dict
        The trees.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> len(sb.explain.to_shap(clf)["trees"])
    20
    """
    chosen = ExplainedClasses.of(clf, classes)
    if not chosen.present.any():
        chosen.check_present()
    model, M = clf.model_, chosen.columns
    shapley.check_explainable(model)
    if len(model.trees) < len(model.terms):
        raise ValueError("to_shap takes a model of trees alone; this one holds lines.")
    if any((tree.nodes["category"] >= 0).any() for tree in model.trees):
        raise ValueError(
            "to_shap cannot pass on splits of categories, which shap takes from no arrays; use shap_explanation."
        )
    if any((tree.count <= 0).any() for tree in model.trees):
        raise ValueError("to_shap cannot pass on nodes without training rows, which shap divides by; use shap_values.")
    return {
        "trees": [tree_dictionary(term, M, model.dtype) for term in model.scaled_terms],
        "base_offset": np.zeros(M.shape[1]),
        "tree_output": "raw_value",
        "objective": "binary_crossentropy",  # what shap does not know, it need not use
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def tree_dictionary(term: Term, M: Array, dtype: Any) -> dict[str, AnyArray]:
    """Return one tree: ``x <= threshold`` goes left, a missing value to ``children_default``; −1 at leaves."""
    assert isinstance(term.hypothesis, TreeHypothesis)
    tree: Tree = term.hypothesis.tree
    inner, left = tree.nodes["feature"] >= 0, tree.nodes["left"]
    return {
        "children_left": np.where(inner, left, -1),
        "children_right": np.where(inner, left + 1, -1),
        "children_default": np.where(inner, np.where(tree.nodes["missing_left"], left, left + 1), -1),
        "features": np.where(inner, tree.nodes["feature"], -1),
        "thresholds": np.where(inner, tree.nodes["threshold"], -1.0),
        "values": node_outputs(term, M, dtype),
        "node_sample_weight": tree.count.astype(np.float64),
    }
