"""Methods by which a fitted booster explains itself, and its trees in the form that the package ``shap`` takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Mask
from .._util.compat import import_optional
from .._util.params import check_choice, check_number
from ..engine import Engine, Tree
from ..model.additive import AdditiveModel, Term
from ..model.hypotheses import TreeHypothesis
from ..tables.features import Features
from ..tables.frames import feature_names
from ..tables.labels import class_numbers
from . import shapley
from .dependence import column_places, grid_points, join_scikit_learn, partial_dependence
from .explained_classes import Chosen, check_not_merged, choose_classes
from .neighbours import DoubtfulLabels, Neighbours, doubtful_labels, leaf_indices, shared_leaves
from .shapley import check_explainable
from .tree_tables import (
    COLUMNS,
    KINDS,
    Names,
    class_gains,
    count_trees,
    node_outputs,
    node_rows,
    split_counts,
    tree_text,
)


def tree_dictionaries(model: AdditiveModel, M: Array) -> dict[str, Any]:
    """The trees of a model with the values F M (n, D), as ``shap.TreeExplainer`` takes them."""
    check_explainable(model)
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
    """One tree: ``x <= threshold`` goes left, a missing value to ``children_default``; −1 at leaves."""
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
    >>> pair = clf.explain_pair(X[[50]], 1, 2)
    >>> pair.values.shape, bool(pair.base + pair.values.sum() > 0)  # it is class 1 rather than class 2
    ((1, 4), True)
    """

    values: Array
    base: float


class Explains:
    """A booster that says what its class scores are made of.

    All values are in units of log-odds: they explain the logits 2U = F Yᵀ, temperature included. Where the loss is a
    likelihood, the probabilities are their soft-max; XGBoost calls the same quantity the margin. The values of a row
    and ``expected_value_`` add up to ``2 * clf.class_scores(X)``.
    """

    model_: AdditiveModel
    classes_: AnyArray
    present_: Mask
    n_features_in_: int
    init: str = "zero"  # where the scores start, in the words of scikit-learn's gradient boosters

    def __sklearn_tags__(self) -> Any:
        join_scikit_learn(Explains)  # here, because scikit-learn asks for the tags before it looks at the class
        return super().__sklearn_tags__()  # type: ignore[misc]

    # What the estimator provides.

    def _check_X(self, X: Any) -> AnyArray:
        raise NotImplementedError

    def _engine(self) -> Engine:
        raise NotImplementedError

    def _checked_scores(self, X: AnyArray) -> Array:
        """Class scores U (n, K) of rows that are checked."""
        raise NotImplementedError

    # ---- Shapley values ---------------------------------------------------------------------------------------------

    @property
    def expected_value_(self) -> Array:
        """The logits while no feature is known, (K,): the mean over the training rows of every tree.

        −inf for classes without training examples.
        """
        check_is_fitted(self)
        chosen = choose_classes(None, self._explained, self.present_)
        try:
            base = shapley.expected(self.model_, self._columns_of(chosen))
        except ValueError as error:  # who looks through all attributes, like scikit-learn's HTML, skips those it lacks
            raise AttributeError(str(error)) from error
        return self._of_all(chosen, base[None], -np.inf)[0]

    def shap_values(self, X: Any, classes: Any = None, *, background: Any = None) -> Array:
        """Shapley values: what each feature adds to the logit of each class, (n, p, K).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        classes : label, list of labels or None, default=None
            The classes to explain; None means all. For a list the last axis has its order, for one label there is no
            such axis.
        background : rows like X, or None, default=None
            None takes the shares of the training rows that the trees have stored ("path-dependent" values). Otherwise
            an unknown feature is taken from these rows ("interventional" values); some hundred rows will do. The base
            of the values is then the mean logit of these rows, and not ``expected_value_``.

        Returns
        -------
        array of shape (n, p, K) or (n, p)
            The values.
        """
        checked, chosen = self._check_X(X), choose_classes(classes, self._explained, self.present_)
        return self._shap(checked, chosen, self._check_background(background))

    def _shap(self, X: AnyArray, chosen: Chosen, background: AnyArray | None) -> Array:
        """`shap_values` of rows that are checked, as the background is."""
        total = self._logits(X, chosen) - self._base(chosen, background)
        phi = shapley.values(self.model_, X, self._columns_of(chosen), self._engine(), background, total)
        out = self._of_all(chosen, phi, 0.0)
        return out[..., 0] if chosen.single else out

    def shap_interaction_values(self, X: Any, classes: Any = None) -> Array:
        """Shapley interaction values of pairs of features, (n, p, p, D), for all classes or chosen ones.

        What two features do together and neither does alone stands half at (f, g) and half at (g, f). Over one of the
        two features the values add up to `shap_values`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        classes : label, list of labels or None, default=None
            The classes to explain; None means all, which are many numbers where there are many features or classes. For
            a list the last axis has its order, for one label there is no such axis.

        Returns
        -------
        array of shape (n, p, p, K) or (n, p, p)
            The values.
        """
        checked, chosen = self._check_X(X), choose_classes(classes, self._explained, self.present_)
        phi = shapley.interactions(self.model_, checked, self._columns_of(chosen), self._engine())
        sums = phi.sum(axis=2)  # (n, p, D)
        before = sums.copy()
        shapley.share_rounding(sums, self._logits(checked, chosen) - self._base(chosen, None))
        own = np.arange(phi.shape[1])
        phi[:, own, own] += sums - before
        out = self._of_all(chosen, phi, 0.0)
        return out[..., 0] if chosen.single else out

    def explain_pair(self, X: Any, a: Any, b: Any) -> PairExplanation:
        """Why class a and not class b: what each feature adds to the log-odds 2(U_a − U_b).

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        a : label
            The class whose odds are explained.
        b : label
            The class that they are against.

        Returns
        -------
        PairExplanation
            ``values`` (n, p), and ``base``, the log-odds while no feature is known.
        """
        checked = self._check_X(X)
        numbers = np.concatenate([class_numbers(a, self._explained, "a"), class_numbers(b, self._explained, "b")])
        if len(numbers) != 2:
            raise ValueError(f"a={a!r} and b={b!r} must be one label each.")
        self._refuse_absent(numbers)
        check_not_merged(self)
        Y = self.model_.Y[(np.cumsum(self.present_) - 1)[numbers]].astype(np.float64)  # (2, d)
        M = (Y[0] - Y[1])[:, None]  # (d, 1)
        base, U = shapley.expected(self.model_, M), self._checked_scores(checked)[:, numbers]
        phi = shapley.values(self.model_, checked, M, self._engine(), total=2.0 * (U[:, :1] - U[:, 1:]) - base)
        return PairExplanation(phi[..., 0], float(base[0]))

    # ---- the package shap -------------------------------------------------------------------------------------------

    def shap_explanation(self, X: Any, classes: Any = None, *, background: Any = None) -> Any:
        """The Shapley values as an ``Explanation`` of the package ``shap``, for its plots.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        classes : label, list of labels or None, default=None
            The classes to explain; None means all. For a list the last axis has its order, for one label there is no
            such axis.
        background : rows like X, or None, default=None
            None takes the shares of the training rows that the trees have stored ("path-dependent" values). Otherwise
            an unknown feature is taken from these rows ("interventional" values); some hundred rows will do. The base
            of the values is then the mean logit of these rows, and not ``expected_value_``.

        Returns
        -------
        shap.Explanation
            The values with their base and the names of features and classes.
        """
        shap = import_optional("shap", "shap_explanation needs the package")
        checked: Any = self._check_X(X)
        chosen, rows = choose_classes(classes, self._explained, self.present_), self._check_background(background)
        values = self._shap(checked, chosen, rows)
        base = self._of_all(chosen, self._base(chosen, rows)[None], -np.inf)[0]
        return shap.Explanation(
            values,
            np.repeat(base[:1] if chosen.single else base[None], len(values), axis=0),
            checked.toarray() if issparse(checked) else checked,
            feature_names=self._names().features,
            output_names=None if chosen.single else [str(label) for label in self._explained[chosen.numbers]],
        )

    def to_shap(self, classes: Any = None) -> dict[str, Any]:
        """The trees in the form that ``shap.TreeExplainer`` takes; its values are those of `shap_values`.

        It keeps a number per node and class, so that this is for small models, or for some classes.

        Parameters
        ----------
        classes : label, list of labels or None, default=None
            The classes to explain; None means all that had training examples.
        """
        check_is_fitted(self)
        chosen = choose_classes(classes, self._explained, self.present_)
        if not chosen.present.any():
            self._refuse_absent(chosen.numbers)

        return tree_dictionaries(self.model_, self._columns_of(chosen))

    # ---- trees ------------------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> AnyArray:
        """The leaf of every row in every tree, (n, T) int32.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.

        Returns
        -------
        int array of shape (n, rounds)
            The numbers of the leaves.
        """
        checked = self._check_X(X)
        return leaf_indices(self.model_.trees, checked, self._engine())

    def trees_to_frame(self) -> Any:
        """All nodes of all trees as a pandas data frame, a row each; the columns are like LightGBM's.

        ``value`` is what the tree adds to the logit of ``best_class``, the class that it moves up most, on average over
        the training rows of the node.
        """
        check_is_fitted(self)
        pandas = import_optional("pandas", "trees_to_frame needs")
        M, names = self.model_.Y.T.astype(np.float64), self._names()
        return pandas.DataFrame(node_rows(self.model_, M, names), columns=COLUMNS)

    def tree_text(self, i: int, n_classes: int = 3) -> str:
        """One tree as text.

        Parameters
        ----------
        i : int
            The number of the tree, from 0; negative numbers count from the end.
        n_classes : int, default=3
            How many classes are shown in a leaf, those first whose logits it moves furthest.
        """
        check_is_fitted(self)
        n_trees = count_trees(self.model_, "tree_text")
        check_number("i", i, int, -n_trees, n_trees - 1)
        check_number("n_classes", n_classes, int, 0)
        M = self.model_.Y.T.astype(np.float64)
        return tree_text(self.model_, i, M, self._names(), n_classes)

    def importances(self, kind: str = "gain", X: Any = None, *, classes: Any = None) -> Array:
        """Importance of the features, (p,); for chosen classes (p, D).

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
        """
        check_is_fitted(self)
        check_choice("kind", kind, KINDS)
        if (kind == "shap") != (X is not None):
            raise ValueError(f"kind={kind!r} takes {'rows' if kind == 'shap' else 'no'} X; kind='shap' alone needs X.")
        if kind == "shap":
            size = np.abs(self.shap_values(X, classes)).mean(axis=0)  # (p, D), or (p,)
            return size.mean(axis=1) if classes is None else size
        if kind == "gain" and classes is not None:
            chosen = choose_classes(classes, self._explained, self.present_)
            gains = self._of_all(chosen, class_gains(self.model_, self.n_features_in_, self._columns_of(chosen)), 0.0)
            return gains[:, 0] if chosen.single else gains
        if classes is not None:
            raise ValueError(f"kind={kind!r} is the same for all classes; kind='gain' and kind='shap' know classes.")
        if kind == "gain":
            return self.model_.feature_gains(self.n_features_in_)
        return split_counts(self.model_, self.n_features_in_, rows=kind == "cover")

    def partial_dependence(self, features: Any, grid: Any, classes: Any = None) -> Array:
        """The mean logits where some features are given and the others are unknown, (m, K).

        Computed through the trees: an unknown feature goes down both sides of a split, with the shares of the training
        rows that went there. scikit-learn's ``partial_dependence`` does the same with ``method="recursion"``, for
        `decision_function` instead of logits.

        Parameters
        ----------
        features : int, str, or list of these
            The positions or names of s columns, or one of them.
        grid : table of shape (m, s), or for one column a list or array of shape (m,)
            The values of these columns, of the same kinds that X has: numbers, categories, dates.
        classes : label, list of labels or None, default=None
            The classes to explain; None means all. For a list the last axis has its order, for one label there is no
            such axis.

        Returns
        -------
        array of shape (m, K) or (m,)
            The mean logits.
        """
        check_is_fitted(self)
        names = self._names().features
        places = column_places(features, names)
        points = grid_points(grid, places, Features.of(self), names)
        chosen = choose_classes(classes, self._explained, self.present_)
        out = partial_dependence(self.model_, places, points, self._columns_of(chosen))
        out = self._of_all(chosen, out, -np.inf)
        return out[:, 0] if chosen.single else out

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """What scikit-learn asks for: `decision_function` instead of logits, (K, m), or (1, m) for two classes."""
        message = "method='recursion' takes models of one label per row, not of several; use 'brute'."
        self._problem.check_one_class(message)  # type: ignore[attr-defined]
        U = 0.5 * self.partial_dependence(target_features, grid)
        return (U[:, 1:] - U[:, :1]).T if U.shape[1] == 2 else U.T

    # ---- examples ---------------------------------------------------------------------------------------------------

    def nearest_examples(self, X: Any, examples: Any, k: int = 5) -> Neighbours:
        """Examples that the model treats like the rows of X: those that lie in the same leaves of most trees.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        examples : rows like X
            Where to look, for instance the training set.
        k : int, default=5
            How many of them are returned for every row.

        Returns
        -------
        Neighbours
            ``rows`` (n, k), the positions of the most similar examples, and ``similarity`` (n, k), the part of the
            trees in which they share a leaf with the row.
        """
        checked, theirs = self._check_X(X), self._check_X(examples)
        count_trees(self.model_, "nearest_examples")
        check_number("k", k, int, 1, theirs.shape[0])
        return shared_leaves(self.model_.trees, checked, theirs, int(k), self._engine())

    def doubtful_labels(self, X: Any, y: Any, *, cv: Any = 5, sample_weight: Any = None) -> DoubtfulLabels:
        """Examples of a training set in the order of how probably their labels are wrong.

        The estimator is cloned and fitted once for every fold. An example's margin is the score of its label minus the
        best other score, by the model that was fitted without it; far below zero the label is probably wrong.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, p)
            The features.
        y : array of shape (n,)
            The labels in question.
        cv : int, splitter or iterable of (train, test), default=5
            The folds: their number, a splitter of scikit-learn, or pairs of arrays of row numbers.
        sample_weight : array of shape (n,) or None, default=None
            The weights of the rows.

        Returns
        -------
        DoubtfulLabels
            ``rows``, ``margin``, ``given`` and ``suggested`` (n,), the most doubtful example first.
        """
        return doubtful_labels(self, X, y, cv, {"sample_weight": sample_weight})

    # ---- helpers ----------------------------------------------------------------------------------------------------

    @property
    def _explained(self) -> AnyArray:
        """The classes that may be explained, (K,); of several targets their numbers, one target after another."""
        return np.arange(len(self.present_)) if self._problem.several == "targets" else self.classes_

    def _check_background(self, background: Any) -> AnyArray | None:
        """Background rows, checked."""
        return None if background is None else self._check_X(background)

    def _refuse_absent(self, numbers: AnyArray) -> None:
        """Raise if one of these classes had no training examples."""
        absent = self._explained[numbers[~self.present_[numbers]]]
        if len(absent):
            raise ValueError(f"class {absent.tolist()[0]!r} had no training examples, so there is nothing to explain.")

    def _columns_of(self, chosen: Chosen) -> Array:
        """The codewords of the chosen classes that had training examples, as columns, (d, D)."""
        check_not_merged(self)
        return self.model_.Y[chosen.rows].T.astype(np.float64)

    def _logits(self, X: AnyArray, chosen: Chosen) -> Array:
        """2U of the chosen classes that had training examples, (n, D), for rows that are checked."""
        return 2.0 * self._checked_scores(X)[:, chosen.numbers[chosen.present]]

    def _base(self, chosen: Chosen, background: AnyArray | None) -> Array:
        """What is expected of the logits of these classes while no feature is known, (D,); checked background rows."""
        if background is None:
            return shapley.expected(self.model_, self._columns_of(chosen))
        return self._logits(background, chosen).mean(axis=0)

    def _of_all(self, chosen: Chosen, values: Array, absent: float) -> Array:
        """Values in whose last axis classes without training examples are missing, with a number in their place."""
        if chosen.present.all():
            return values
        out = np.full((*values.shape[:-1], len(chosen.numbers)), absent)
        out[..., chosen.present] = values
        return out

    def _names(self) -> Names:
        """The names of the columns, and the classes that had training examples."""
        check_not_merged(self)
        return Names(feature_names(self), getattr(self, "categories_", None), self._explained[self.present_])
