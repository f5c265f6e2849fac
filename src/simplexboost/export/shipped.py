"""A fitted booster as plain values, from which all exporters start: trees, lines, codewords, link, labels and columns.

F(x) = Σ trees + Σ lines (n, d), in which steps and temperature are factors already; U = ½ F Yᵀ (n, K). The loss's link
from U to probabilities is one of a few named formulas, which other languages can compute:

| kind | probabilities |
|---|---|
| softmax | softmax(scale · U) |
| savage | η_k ∝ 1 / (1 − p_k) with p = softmax(2U) |
| one-vs-all | σ(scale · U_k), divided by the sum over the classes |
| sigmoid | σ(scale · U_k), every label on its own |
| shares | U_k / Σ_j U_j, all equal if that sum is 0 |
| walk | the stationary distribution of a walk on the classes, under costs |
| certain | 1: only one class had training examples |
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..classifiers.prediction import Predicts
from ..engine import Tree
from ..model.additive import AdditiveModel, Term
from ..model.code import Code
from ..model.hypotheses import LinearHypothesis, TreeHypothesis
from ..parts.losses import (
    MM,
    Exponential,
    Logistic,
    Loss,
    MultilabelHamming,
    OneVsAll,
    OwnScoreExponential,
    Savage,
    SoftmaxCost,
    UserLoss,
    for_label_sets,
)
from ..persist.atomic_write import as_path
from ..tables.features import share_last
from ..tables.inputs import check_X
from ..theory.os_boost import PotentialLoss


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `costs` (K, K) and `loss`, the name of the loss, belong to "walk", and are None elsewhere."""

    kind: str
    scale: float = 1.0
    costs: Array | None = None
    loss: str | None = None


def link_of(loss: Loss, n_classes: int, *, several: bool) -> Link:
    """The link of a fitted loss for this many classes that had training examples.

    ``several`` says whether examples may have several labels. A loss of the user's own, which is code, is refused.
    """
    if several:
        of_sets = for_label_sets(loss, np.empty((0, n_classes)))
        return Link("sigmoid", 4.0 if isinstance(of_sets, MultilabelHamming) else 2.0)
    if n_classes < 2:
        return Link("certain")
    if isinstance(loss, Exponential | MM | Logistic | Savage) and loss.cost_matrix is not None:
        return Link("walk", loss.rate, np.asarray(loss.cost_matrix, dtype=np.float64), type(loss).__name__)
    return plain_link(loss, n_classes)


def plain_link(loss: Any, n_classes: int) -> Link:
    """The link of a loss without costs, for examples that have one label each."""
    match loss:
        case MM():
            return Link("softmax", 4.0)
        case Exponential() | Logistic() | SoftmaxCost():
            return Link("softmax", 2.0)
        case Savage():
            return Link("savage")
        case OneVsAll():
            return Link("one-vs-all", 4.0)
        case OwnScoreExponential():
            return Link("softmax", loss.rate(n_classes))
        case PotentialLoss():
            return Link("softmax", 4.0) if loss.loss == "exponential" else Link("shares")
        case UserLoss() if loss.link is None:
            return Link("softmax", 2.0)
    raise TypeError(
        f"loss={loss!r} turns scores into probabilities by a function of your own, and code cannot be exported; only "
        "models with the package's own losses can, and with a UserLoss that has no link."
    )


@dataclass(frozen=True, eq=False)
class ShippedTree:
    """A tree and what it adds to F: of every leaf the values that are not zero, as rows of a sparse array (L, d)."""

    tree: Tree
    values: csr_array


@dataclass(frozen=True, eq=False)
class Line:
    """slope · (x_f − centre) + intercept, (d,), of one column f; a missing value counts as the centre."""

    feature: int
    centre: float
    slope: Array
    intercept: Array


@dataclass(frozen=True, eq=False)
class Columns:
    """What a model knows of its columns.

    Attributes
    ----------
    n : their number, p
    names : their names; None for arrays, which have none
    categories : for every column None, or its categories in the order of their numbers, numbers or text
    """

    n: int
    names: list[str] | None
    categories: list[list[Any] | None]

    @property
    def has_text(self) -> bool:
        """Whether a column holds categories that are text."""
        return any(holds_text(of_column) for of_column in self.categories)

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return any(of_column is not None for of_column in self.categories)


@dataclass(frozen=True, eq=False)
class Shipped:
    """A fitted booster as plain values.

    Attributes
    ----------
    trees, lines : the summands of F
    code : the codewords Y (K', d) of the classes that had training examples
    link : from the scores of these classes to their probabilities
    classes : (K,) labels
    present : (K,) which of them had training examples
    merged : the number, among these classes, of the one to which each codeword belongs, if some count as one; else None
    threshold : (K + 1,) w and b, if examples may have several labels: those that score above ⟨w, U⟩ + b; else None
    columns : what is known of X
    order : (K,) the numbers of ordered classes from the lowest to the highest: the median is predicted; else None
    """

    trees: list[ShippedTree]
    lines: list[Line]
    code: Code
    link: Link
    classes: AnyArray
    present: Mask
    merged: Labels | None
    threshold: Array | None
    columns: Columns
    order: Labels | None = None

    @property
    def decides(self) -> str:
        """How labels are decided: "one" class of the highest score, the "median" class, or "several" labels."""
        if self.threshold is not None:
            return "several"
        return "one" if self.order is None else "median"

    @property
    def exact(self) -> bool:
        """Whether tied scores are equal bit for bit; those of others are tied within `TIED`."""
        return self.code.canonical and self.merged is None

    @property
    def d(self) -> int:
        """The number of coordinates of F."""
        return int(self.code.Y.shape[1])


def shipped(clf: Any) -> Shipped:
    """A fitted booster in the form that all routes export; other classifiers are refused."""
    if not isinstance(clf, Predicts):
        raise TypeError(
            f"{type(clf).__name__} cannot be exported; the boosters that sum trees and lines can, such as "
            "SimplexBoostClassifier. Any classifier of the package can be saved with its method save."
        )
    check_is_fitted(clf)
    check_answers(clf)
    terms, code, threshold = clf.model_.scaled_terms, clf.model_.code, getattr(clf, "threshold_", None)
    trees = [shipped_tree(term, code.Y.shape[1]) for term in terms if isinstance(term.hypothesis, TreeHypothesis)]
    lines = [shipped_line(term, code.Y.shape[1]) for term in terms if isinstance(term.hypothesis, LinearHypothesis)]
    check_terms(clf.model_, len(trees) + len(lines))
    columns = columns_of(clf)
    categories = [value for of_column in columns.categories for value in of_column or []]
    check_text([*clf.classes_.tolist(), *(columns.names or []), *categories])
    link = link_of(clf.loss_, int(clf.present_.sum()), several=threshold is not None)
    ordered = getattr(clf, "class_order_", None)
    order = None if ordered is None else np.searchsorted(clf.classes_, ordered)
    return Shipped(trees, lines, code, link, clf.classes_, clf.present_, clf._merged, threshold, columns, order)


def refuse_merged(model: Shipped, where: str) -> None:
    """Raise if classes of a model were merged, for a route that cannot add up their probabilities."""
    if model.merged is not None:
        raise ValueError(
            f"{where} cannot hold merged classes, whose probabilities are sums; export.onnx, export.python and "
            "export.javascript can."
        )


def check_probabilities(model: Shipped, probabilities: bool) -> None:
    """Raise if probabilities are left out of the export of a model whose labels follow from them."""
    if model.decides == "median" and not probabilities:
        raise ValueError(
            "probabilities=False does not go with a model of ordered classes, which predicts the median of its "
            "probabilities; take probabilities=True."
        )


def check_answers(clf: Any) -> None:
    """Raise if labels have thresholds of their own, or there are several class targets."""
    problem = clf._problem
    if problem.several == "targets" or problem.yes_or_no:
        raise TypeError(
            f"a {type(clf).__name__} that was fitted to several {problem.several} cannot be exported: exports hold one "
            "class per row, or the labels of AdaBoost.MH and AdaBoost.MR. Save it with its method save."
        )


def check_text(values: list[Any]) -> None:
    """Raise if a label, a name of a column or a category is text that has no bytes."""
    for value in values:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise ValueError(f"{value!r} holds half a character (a surrogate); no exported file can hold it.") from None


def check_terms(model: AdditiveModel, n_known: int) -> None:
    """Raise if some terms are neither trees nor lines."""
    if n_known < len(model.terms):
        kinds = {type(term.hypothesis).__name__ for term in model.terms} - {"TreeHypothesis", "LinearHypothesis"}
        raise TypeError(
            f"a model with {', '.join(sorted(kinds))} terms cannot be exported: exports hold trees and lines; anything "
            "else, like a scikit-learn estimator, is code. Use one of the package's own learners."
        )


def shipped_tree(term: Term, d: int) -> ShippedTree:
    """A tree with its step in the leaves, each row on all d coordinates."""
    values: Any = term.hypothesis.values  # type: ignore[attr-defined]
    scaled = csr_array(values, dtype=np.float64) * term.step
    if term.coordinate is not None:  # (L, 1) → (L, d)
        at = np.full(len(scaled.data), term.coordinate, dtype=scaled.indices.dtype)
        scaled = csr_array((scaled.data, at, scaled.indptr), (scaled.shape[0], d))
    if not issparse(values):
        scaled.eliminate_zeros()
    return ShippedTree(term.hypothesis.tree, scaled)  # type: ignore[attr-defined]


def shipped_line(term: Term, d: int) -> Line:
    """A line with its step as a factor, on all d coordinates."""
    h: Any = term.hypothesis
    where = slice(None) if term.coordinate is None else slice(term.coordinate, term.coordinate + 1)
    slope, intercept = np.zeros(d), np.zeros(d)
    slope[where], intercept[where] = term.step * h.slope, term.step * h.intercept
    return Line(h.feature, h.centre, slope, intercept)


def columns_of(clf: Any) -> Columns:
    """What a fitted classifier knows of its columns."""
    names = getattr(clf, "feature_names_in_", None)
    known = getattr(clf, "categories_", None)
    of_columns = [None] * clf.n_features_in_ if known is None else known.columns
    categories = [None if values is None else values.tolist() for values in of_columns]
    return Columns(clf.n_features_in_, None if names is None else [str(name) for name in names], categories)


def numbers_in(bits: AnyArray, n: int) -> list[int]:
    """The category numbers below n in a set (32 bytes), ascending."""
    found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")[:n]).tolist()
    return found


def holds_text(categories: list[Any] | None) -> bool:
    """Whether a column holds categories that are text, and not numbers."""
    return bool(categories) and isinstance(categories[0], str)  # type: ignore[index]


def as_exact_numbers(categories: list[Any], dtype: Any, where: str) -> AnyArray:
    """Categories that are numbers, in the precision in which a route tells them apart; raise if it changes one."""
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


def n_numbers(categories: list[Any]) -> int:
    """How many category numbers a column has: one for each category, and perhaps one that all others share."""
    return len(categories) + int(share_last(categories))


def source_path(path: Any, *endings: str) -> Path:
    """The place of a source file, which must have one of these endings."""
    found = as_path(path, "text or a path")
    if found.suffix not in endings:
        raise ValueError(f"path={str(path)!r} must end in {' or '.join(endings)}.")
    return found


def check_dtype(dtype: Any) -> Any:
    """The precision of X in the exported model."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r} is not possible; choose 'float64' or 'float32'.")
    return found


def numbers(clf: Any, X: Any) -> AnyArray:
    """X as the numbers that treelite takes, (n, p): categories by their number, dates in days, NaN where missing.

    C takes the same for text and dates; categories that are numbers are passed to it as they are.

    Parameters
    ----------
    clf : fitted booster
        The model that takes the numbers.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.

    Returns
    -------
    array of shape (n, p)
        The numbers.

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
    shipped(clf)  # refuses what cannot be exported
    found = check_X(clf, X)
    return found.toarray() if hasattr(found, "toarray") else found
