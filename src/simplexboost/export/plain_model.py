"""Converts a fitted booster to a `PlainModel`, from which all exporters start.

The trees and lines sum up to F(x) (n, d); their values are already multiplied by steps and temperature. The class
scores are U = ½ F Yᵀ (n, K), with the codewords Y. A link turns U into probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from .._util.docstrings import described
from ..classifiers.prediction import AdditiveClassifier
from ..engine import Tree
from ..model.additive import Term
from ..model.code import Code
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from ..parts.losses import for_label_sets
from ..parts.losses.links import Link
from ..persist.atomic_write import as_path
from ..tables.encoding import check_X
from ..tables.features import share_last


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of X in an exported model: their number, names and categories."""

    n: int
    names: list[str] | None  # None for arrays, whose columns have no names
    categories: list[list[Any] | None]  # of every column in the order of their numbers, all numbers or all text

    def sides(self, tree: Tree, node: int) -> tuple[list[int], list[int]]:
        """Return the category codes that a tree node sends to its left child and to its right child, both ascending."""
        total = n_numbers(self.categories[int(tree.nodes["feature"][node])] or [])
        bits = np.unpackbits(tree.category_sets[tree.nodes["category"][node]], bitorder="little")[:total]
        return np.flatnonzero(bits).tolist(), np.flatnonzero(bits == 0).tolist()


@dataclass(frozen=True, eq=False)
class PlainModel:
    """A fitted booster ready for export: trees, linear terms, codewords, link to probabilities, classes, columns."""

    trees: list[TreeHypothesis]  # their values are sparse arrays (L, d)
    lines: list[LinearHypothesis]
    code: Code  # the codewords Y (K', d) of the classes that had training examples
    link: Link  # the formula from the scores of these classes to their probabilities
    classes: AnyArray  # labels, (K,)
    present: Mask  # which classes had training examples, (K,)
    merged: Labels | None  # the number of the class, among these, of each codeword; None if each class has one
    threshold: Array | None  # w and b, (K + 1,), if rows have several labels: the classes with U_k > ⟨w, U⟩ + b
    columns: Columns
    order: Labels | None = None  # ordered classes by number, from the lowest, (K,): the median is predicted

    @property
    def decides(self) -> str:
        """The rule for predicted labels: "one" class of highest score, the "median" class, or "several" labels."""
        if self.threshold is not None:
            return "several"
        return "one" if self.order is None else "median"

    @property
    def exact(self) -> bool:
        """Whether only equal scores are tied; otherwise ties have the relative tolerance `TIED`."""
        return self.code.canonical and self.merged is None

    @property
    def d(self) -> int:
        """The code dimension d, which is the number of columns of F."""
        return int(self.code.Y.shape[1])


def as_plain_model(clf: Any) -> PlainModel:
    """Return a fitted booster as a `PlainModel`; raise for models that no export format can hold."""
    if not isinstance(clf, AdditiveClassifier):
        raise TypeError(
            f"{type(clf).__name__} cannot be exported; the boosters that sum trees and lines can, such as "
            "SimplexBoostClassifier. Any classifier of the package can be saved with its method save."
        )
    check_is_fitted(clf)
    clf._problem.check_one_softmax(
        f"a {type(clf).__name__} that was fitted to several {{several}} cannot be exported: exports hold one class per "
        "row, or the labels of AdaBoost.MH and AdaBoost.MR. Save it with its method save."
    )
    terms, code, threshold = clf.model_.scaled_terms, clf.model_.code, getattr(clf, "threshold_", None)
    kinds = {type(h).__name__ for t in terms if not isinstance(h := t.hypothesis, TreeHypothesis | LinearHypothesis)}
    if kinds:
        raise TypeError(
            f"a model with {', '.join(sorted(kinds))} terms cannot be exported: exports hold trees and lines; anything "
            "else, like a scikit-learn estimator, is code. Use one of the package's own learners."
        )
    trees = [plain_tree(t, code.Y.shape[1]) for t in terms if isinstance(t.hypothesis, TreeHypothesis)]
    lines = [plain_line(t, code.Y.shape[1]) for t in terms if isinstance(t.hypothesis, LinearHypothesis)]
    names, known = getattr(clf, "feature_names_in_", None), getattr(clf, "categories_", None)
    of_columns = [None] * clf.n_features_in_ if known is None else known.columns
    categories = [None if values is None else values.tolist() for values in of_columns]
    columns = Columns(clf.n_features_in_, None if names is None else [str(name) for name in names], categories)
    for value in [*clf.classes_.tolist(), *(columns.names or []), *(v for c in columns.categories for v in c or [])]:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise ValueError(f"{value!r} holds half a character (a surrogate); no exported file can hold it.") from None
    ordered = getattr(clf, "class_order_", None)
    order = None if ordered is None else np.searchsorted(clf.classes_, ordered)
    link = link_of(clf, threshold is not None)
    return PlainModel(trees, lines, code, link, clf.classes_, clf._present, clf._merged, threshold, columns, order)


def link_of(clf: Any, several: bool) -> Link:
    """Return the formula from scores to probabilities of a booster; ``several``: rows may have several labels."""
    n_classes = int(clf._present.sum())
    if n_classes < 2 and not several:
        return Link("certain")
    loss = for_label_sets(clf.loss_, np.empty((0, n_classes))) if several else clf.loss_
    link = loss.link_formula(n_classes)
    if link is None:
        raise TypeError(
            f"loss={loss!r} turns scores into probabilities by a function of your own, and code cannot be exported; "
            "only models with the package's own losses can, and with a UserLoss that has no link."
        )
    return link


def plain_tree(term: Term, d: int) -> TreeHypothesis:
    """Return the tree of a term, with leaf values multiplied by the step length, as a sparse array (L, d)."""
    h: Any = term.hypothesis
    scaled = csr_array(h.values, dtype=np.float64) * term.step
    if term.coordinate is not None:  # (L, 1) → (L, d)
        at = np.full(len(scaled.data), term.coordinate, dtype=scaled.indices.dtype)
        scaled = csr_array((scaled.data, at, scaled.indptr), (scaled.shape[0], d))
    if not issparse(h.values):
        scaled.eliminate_zeros()
    return TreeHypothesis(h.tree, scaled)


def plain_line(term: Term, d: int) -> LinearHypothesis:
    """Return the linear function in a term, with slope (d,) and intercept (d,) multiplied by the step length."""
    h: Any = term.hypothesis
    where = slice(None) if term.coordinate is None else slice(term.coordinate, term.coordinate + 1)
    slope, intercept = np.zeros(d), np.zeros(d)
    slope[where], intercept[where] = term.step * h.slope, term.step * h.intercept
    return LinearHypothesis(h.feature, h.centre, slope, intercept)


# ---- numbers and categories -----------------------------------------------------------------------------------------


def holds_text(categories: list[Any] | None) -> bool:
    """Return whether the categories of a column are text."""
    return bool(categories) and isinstance(categories[0], str)  # type: ignore[index]


def n_numbers(categories: list[Any]) -> int:
    """Return how many category codes a column has: one per category, and perhaps one for all other values."""
    return len(categories) + int(share_last(categories))


def as_exact_numbers(categories: list[Any], dtype: Any, where: str) -> AnyArray:
    """Return numeric categories as ``dtype``; raise if rounding changes one. ``where`` names the export format."""
    largest = float(np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        found = np.array([v if abs(v) <= largest else np.inf for v in categories], dtype=np.float64).astype(dtype)
    changed = [value for value, kept in zip(categories, found.tolist(), strict=True) if value != kept]
    if changed:
        raise ValueError(
            f"categories such as {changed[0]!r} are no numbers of {np.dtype(dtype)} precision, which is what {where} "
            "tells them apart by; make them text before the fit."
        )
    return found


def round_down(thresholds: AnyArray) -> AnyArray:
    """Return thresholds rounded down to single precision; this keeps x <= threshold for all single-precision x."""
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
    return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)


@described
def numbers(clf: Any, X: Any) -> AnyArray:
    """Return X as numbers for a model exported to treelite: category codes, dates in days, NaN for missing values.

    Exported C source takes these numbers, too, except that categories that are numbers stay unchanged.

    Returns
    -------
    array of shape (n, p)
        The features as numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> import simplexboost as sb
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 4.0], "town": ["Ulm", "Bonn", "Ulm", None]})
    >>> clf = sb.GDMCBoostClassifier(n_estimators=2).fit(X, [0, 1, 0, 1])
    >>> sb.export.numbers(clf, X)
    array([[ 1.,  1.],
           [ 2.,  0.],
           [nan,  1.],
           [ 4., nan]])
    """
    as_plain_model(clf)  # raises if the model cannot be exported
    found = check_X(clf, X)
    return found.toarray() if hasattr(found, "toarray") else found


# ---- options that several formats share -----------------------------------------------------------------------------


def source_path(path: Any, *endings: str) -> Path:
    """Return the path of a source file; raise unless the path has one of these file extensions."""
    found = as_path(path, "text or a path")
    if found.suffix not in endings:
        raise ValueError(f"path={str(path)!r} must end in {' or '.join(endings)}.")
    return found


def check_dtype(dtype: Any) -> Any:
    """Return ``dtype``, the precision of X in the exported model, as a NumPy type; raise unless float64 or float32."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r} is not possible; choose 'float64' or 'float32'.")
    return found


def refuse_merged(model: PlainModel, where: str) -> None:
    """Raise if a class has several codewords; ``where`` is a format that cannot add up their probabilities."""
    if model.merged is not None:
        raise ValueError(
            f"{where} cannot hold merged classes, whose probabilities are sums; export.onnx, export.python and "
            "export.javascript can."
        )


def refuse_costs(where: str) -> ValueError:
    """Return the error for probabilities under a cost matrix; ``where`` is a format that cannot compute them."""
    return ValueError(
        f"{where} cannot hold probabilities under a cost_matrix, which solve a linear system for every row; "
        "probabilities=False exports labels and scores."
    )
