"""Confusion matrices and class maps, which show which classes are similar.

A confusion matrix of 400 × 400 counts in alphabetical order looks like noise around a diagonal. If the classes are
ordered by similarity, the errors gather in blocks along the diagonal, and the worst block can be drawn alone. A class
map shows every class as a point in the plane; classes that the model finds similar are near each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_number
from ..tables.inputs import as_label_array
from ..tables.labels import known_label_numbers, merge_labels
from .drawing import (
    GREY,
    INK,
    PALE,
    PALETTE,
    Summary,
    choose_ink,
    class_ticks,
    fade_to,
    label_points,
    one_axes,
)

# Up to this number of classes the order is the best that keeps the groups together; that takes 0.1 s for 438 classes,
# 0.3 s for 600 and 2 s for 1000. Beyond, groups follow each other in the order in which they were joined.
MOST_ORDERED = 1000
MOST_WHOLE = 40  # more classes are drawn as spots, with one block magnified
MOST_NUMBERS = 30  # of more classes the cells have no numbers
MOST_NAMES = 60  # of more classes only some have names on a map
SMALLEST = 6.5  # points of the numbers in the cells; smaller ones are not written


def check_same_length(y: AnyArray, other: AnyArray, what: str) -> None:
    if len(other) != len(y):
        raise ValueError(f"{what} has {len(other)} rows, and there are {len(y)} labels; pass as many.")


def check_predicted(y_true: Any, P: Any, classes: Any) -> tuple[Labels, Array, AnyArray]:
    """Raise unless P holds probabilities (n, K); return the true class indices (n,), P, and the class labels (K,)."""
    y = as_label_array(y_true, "y_true")
    known = np.unique(y) if classes is None else np.asarray(classes)
    P, shape = np.asarray(P, dtype=np.float64), (len(y), len(known))
    if P.shape != shape:
        raise ValueError(f"P has shape {P.shape}; pass {shape}: a row per label and a column per class.")
    if not (np.isfinite(P).all() and P.min(initial=0.0) >= 0 and P.max(initial=0.0) <= 1 + 1e-6):
        raise ValueError("P must hold probabilities: numbers from 0 to 1.")
    return known_label_numbers(y, known, "y_true"), P, known


class ConfusedPair(NamedTuple):
    """A confused pair of classes: rows of the class ``true`` for which the class ``predicted`` was predicted.

    Attributes
    ----------
    true, predicted : label
        The true class of the rows, and the class that was predicted for them.
    n_rows : int
        The number of rows of the class ``true`` for which the class ``predicted`` was predicted.
    rate : float
        ``n_rows`` divided by the number of all rows of the class ``true``.

    Examples
    --------
    >>> Confusion.from_predictions(["a", "a", "b"], ["a", "b", "b"]).worst_pairs()
    [ConfusedPair(true='a', predicted='b', n_rows=1, rate=0.5)]
    """

    true: Any
    predicted: Any
    n_rows: int
    rate: float


class Block(NamedTuple):
    """A block of a confusion matrix: neighbouring classes in an order of the classes, and the errors among them.

    Attributes
    ----------
    start, stop : int
        The position of the block's first class in the order, and one more than the position of its last class.
    numbers : int array of shape (stop − start,)
        The class indices of the classes in the block.
    errors : int
        The number of rows of these classes for which another one of these classes was predicted.
    share : float
        ``errors`` divided by the number of all errors.

    Examples
    --------
    >>> Confusion.from_predictions([0, 1, 1, 2, 3], [0, 1, 2, 1, 3]).worst_block([0, 1, 2, 3], 2)
    Block(start=1, stop=3, numbers=array([1, 2]), errors=2, share=1.0)
    """

    start: int
    stop: int
    numbers: Labels
    errors: int
    share: float


@described
@dataclass(frozen=True, eq=False)
class Confusion(Summary):
    """A confusion matrix: the counts of rows by true class and by predicted class.

    Attributes
    ----------
    counts : int array of shape (K, K)
        The confusion matrix: row k and column j hold the number of rows of class k for which class j was predicted.
    classes : array of shape (K,)
        The class labels.
    soft : array of shape (K, K) or None
        Row k holds the mean predicted probability of every class over the rows of class k. Similar classes can be found
        in `soft` even if there are no errors. None if no probabilities were given.

    Examples
    --------
    >>> found = Confusion.from_predictions(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> found.counts
    array([[1, 1],
           [0, 1]])
    >>> round(found.accuracy, 3)
    0.667
    >>> [text.get_text() for text in found.plot().texts]
    ['1', '1', '1']
    """

    counts: AnyArray
    classes: AnyArray
    soft: Array | None = None

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, classes: Any = None, *, P: Any = None) -> Confusion:
        """Compute the confusion matrix from true and predicted labels.

        Parameters
        ----------
        P : array of shape (n, K) or None, default=None
            The predicted probabilities, from which `soft` is computed.
        """
        y_true, y_pred = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
        check_same_length(y_true, y_pred, "y_pred")
        known = merge_labels({"y_true": y_true, "y_pred": y_pred}) if classes is None else np.asarray(classes)
        c, predicted = known_label_numbers(y_true, known, "y_true"), known_label_numbers(y_pred, known, "y_pred")
        K, soft = len(known), None
        if P is not None:
            soft = np.nan_to_num(class_means(check_predicted(y_true, P, known)[1], c, np.arange(K)))
        return cls(np.bincount(K * c + predicted, minlength=K * K).reshape(K, K), known, soft)

    @staticmethod
    def _predict(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
        found = predict_labels(estimator, X, y)
        if hasattr(estimator, "predict_proba") and len(found["classes"]) == len(estimator.classes_):
            found["P"] = estimator.predict_proba(X)
        return found

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def support(self) -> AnyArray:
        """The number of rows of each class, (K,)."""
        return self.counts.sum(axis=1)

    @property
    def accuracy(self) -> float:
        """The fraction of the rows whose predicted class is the true class."""
        return float(np.trace(self.counts) / self.n)

    @property
    def errors(self) -> AnyArray:
        """The confusion matrix with zeros on the diagonal, (K, K)."""
        errors = self.counts.copy()
        np.fill_diagonal(errors, 0)
        return errors

    @property
    def rates(self) -> Array:
        """The confusion matrix with each row divided by its sum, (K, K); zeros for a class without rows."""
        return self.counts / np.maximum(self.support, 1)[:, None]

    def part(self, numbers: AnyArray) -> Confusion:
        """Return the confusion matrix restricted to the classes with indices ``numbers``, in this order."""
        return Confusion(self.counts[np.ix_(numbers, numbers)], self.classes[numbers])

    def order(self) -> Labels:
        """Return the class indices (K,), ordered by `soft` (if None, by `rates`) so that neighbours are similar."""
        return similarity_order(self.rates if self.soft is None else self.soft)

    def worst_pairs(self, most: int = 10) -> list[ConfusedPair]:
        """Return pairs of confused classes, the pairs with most errors first.

        Parameters
        ----------
        most : int, default=10
            The largest number of pairs.
        """
        check_number("most", most, int, 1)
        errors, support, labels = self.errors, self.support, self.classes.tolist()
        worst = np.unravel_index(np.argsort(-errors, axis=None, kind="stable")[:most], errors.shape)
        return [
            ConfusedPair(labels[k], labels[m], int(errors[k, m]), float(errors[k, m] / support[k]))
            for k, m in np.column_stack(worst).tolist()
            if errors[k, m] > 0
        ]

    def worst_block(self, order: Any, size: int = 12) -> Block:
        """Return the `Block` of ``size`` neighbours in ``order`` (class indices, (K,)) with most errors among them."""
        check_number("size", size, int, 1)
        order, K = np.asarray(order, dtype=np.intp), len(self.classes)
        if not np.array_equal(np.sort(order), np.arange(K)):
            raise ValueError(f"order must hold each of the numbers 0 to {K - 1} once.")
        size = min(size, K)
        errors = self.errors[np.ix_(order, order)]
        sums = np.zeros((K + 1, K + 1), dtype=np.int64)  # over all rows and columns before
        sums[1:, 1:] = errors.cumsum(axis=0).cumsum(axis=1)
        ends, starts = np.arange(size, K + 1), np.arange(K - size + 1)
        within = sums[ends, ends] - sums[starts, ends] - sums[ends, starts] + sums[starts, starts]
        start, total = int(within.argmax()), int(errors.sum())
        share = float(within[start] / total) if total else 0.0
        return Block(start, start + size, order[start : start + size], int(within[start]), share)

    def plot(self, *, ordered: bool = True, block_size: int = 15, ax: Any = None) -> Any:
        """Draw the confusion matrix so that it stays readable with hundreds of classes; return the axes.

        Up to 40 classes the whole matrix is drawn. With more classes, every cell with errors is drawn as a spot, and
        the block of neighbouring classes with most errors is drawn magnified beside the matrix, on new axes at the end
        of ``figure.axes``.

        Parameters
        ----------
        ordered : bool, default=True
            Whether similar classes are side by side, with errors near the diagonal; False keeps the order of `classes`.
        block_size : int, default=15
            The number of classes in the magnified block.
        """
        check_number("block_size", block_size, int, 2)
        K, order = len(self.classes), self.order() if ordered else np.arange(len(self.classes))
        side = min(9.0, max(3.6, 1.6 + 0.28 * K))
        ax = one_axes(ax, figsize=(11.0, 5.4) if K > MOST_WHOLE else (side + 0.6, side))
        ax.set_title(f"{self.n} rows, {100 * self.accuracy:.1f} % right")
        if K <= MOST_WHOLE:
            draw_matrix(ax, self.part(order))
        else:
            found = self.part(order)
            rows, columns = np.nonzero(found.errors)
            counts = found.errors[rows, columns]
            ax.plot([-0.5, K - 0.5], [-0.5, K - 0.5], color=PALE, linewidth=2.5, zorder=0)
            area = np.maximum(10.0 * counts / max(counts.max(initial=1) / 6, 1.0), 4.0)
            ax.scatter(columns, rows, s=area, color=PALETTE[0], alpha=0.55, linewidths=0)
            name_axes(ax, found)
            ax.set_aspect("equal")
            draw_block(ax, self, self.worst_block(order, block_size))
        return ax


def predict_labels(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return a dict: ``y_pred``, the predicted labels, and ``classes``, the known labels, then new ones from ``y``."""
    known = np.asarray(estimator.classes_)
    seen = set(known.tolist())
    unseen = [label for label in np.unique(np.asarray(y)).tolist() if label not in seen]
    mixed = len({isinstance(label, str) for label in [*seen, *unseen]}) > 1  # numbers would become text
    kind = object if known.dtype == object else None  # labels from data frames are objects
    classes = known if mixed or not unseen else np.array([*known.tolist(), *unseen], dtype=kind)
    return {"y_pred": estimator.predict(X), "classes": classes}


@described
def class_means(values: Any, y: Any, classes: Any = None) -> Array:
    """Return the mean of m values over the rows of each class, (K, m); NaN for a class without rows.

    Parameters
    ----------
    values : array of shape (n, m)
        The m values of each row, for example class scores.

    Examples
    --------
    >>> class_means([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]], ["a", "a", "b"]).tolist()
    [[2.0, 0.0], [0.0, 5.0]]
    """
    values, y = np.asarray(values, dtype=np.float64), as_label_array(y, "y")
    known = np.unique(y) if classes is None else np.asarray(classes)
    if values.ndim != 2 or len(values) != len(y):
        raise ValueError(f"values has shape {values.shape}; pass a row for each of the {len(y)} labels.")
    c = known_label_numbers(y, known, "y")
    order = np.argsort(c, kind="stable")
    present, starts, counts = np.unique(c[order], return_index=True, return_counts=True)
    means = np.full((len(known), values.shape[1]), np.nan)
    means[present] = np.add.reduceat(values[order], starts, axis=0) / counts[:, None]
    return means


def similarity(rates: Any) -> Array:
    """Return the class similarities (K, K): the mean of ``rates`` (K, K) and its transpose, with a zero diagonal."""
    rates = np.asarray(rates, dtype=np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
        raise ValueError(f"S has shape {rates.shape}; pass a square matrix, a row and a column per class.")
    if not np.isfinite(rates).all():
        raise ValueError("S must hold finite numbers.")
    mean = 0.5 * (rates + rates.T)
    np.fill_diagonal(mean, 0.0)
    return mean


def similarity_order(S: Any) -> Labels:
    """Return the class indices in an order in which similar classes are neighbours, (K,).

    Hierarchical clustering with average linkage joins the classes; the order keeps each cluster together. With
    up to 1000 classes, optimal leaf ordering also makes neighbours as similar as the clusters allow.

    Parameters
    ----------
    S : array of shape (K, K)
        A matrix of similarities that are not negative, or of rates such as `Confusion.rates`. If it is not symmetric,
        the mean of the matrix and its transpose is used.

    Examples
    --------
    >>> S = np.array([[0, 0, 3, 1], [0, 0, 0, 2], [3, 0, 0, 0], [1, 2, 0, 0]])
    >>> similarity_order(S).tolist() in ([2, 0, 3, 1], [1, 3, 0, 2])
    True
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # not at the top: start-up time
    from scipy.spatial.distance import squareform

    S = similarity(S)
    K = len(S)
    if K < 3:
        return np.arange(K)
    distances = squareform(S.max() - S, checks=False)  # (K(K−1)/2,)
    if not distances.any():  # all pairs are equally similar
        return np.arange(K)
    tree = linkage(distances, "average")
    return leaves_list(optimal_leaf_ordering(tree, distances) if K <= MOST_ORDERED else tree).astype(np.intp)


def draw_matrix(ax: Any, found: Confusion) -> None:
    """Draw a confusion matrix, with counts if the classes are few; colours make small rates visible."""
    from matplotlib.colors import PowerNorm

    K, rates, colours = len(found.classes), found.rates, fade_to(PALETTE[0])
    norm = PowerNorm(0.5, 0.0, 1.0)
    ax.imshow(rates, cmap=colours, norm=norm, interpolation="nearest", aspect="equal")
    edges = np.arange(K + 1) - 0.5
    ax.hlines(edges, -0.5, K - 0.5, color=PALE, linewidth=0.4)
    ax.vlines(edges, -0.5, K - 0.5, color=PALE, linewidth=0.4)
    width = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72 / K  # points of a cell
    size = min(10.0, 1.25 * width / max(len(str(int(found.counts.max()))), 2))
    if K <= MOST_NUMBERS and size >= SMALLEST:
        for k, m in zip(*np.nonzero(found.counts), strict=True):
            style = {"ha": "center", "va": "center", "color": choose_ink(colours(norm(rates[k, m]))), "fontsize": size}
            ax.text(m, k, str(int(found.counts[k, m])), **style)
    name_axes(ax, found)


def name_axes(ax: Any, found: Confusion) -> None:
    for which in "xy":
        class_ticks(ax, which, found.classes.tolist())
    ends = (-0.5, len(found.classes) - 0.5)
    ax.set(xlabel="predicted class", ylabel="true class", xlim=ends, ylim=ends[::-1])


def draw_block(ax: Any, found: Confusion, block: Block) -> None:
    """Draw a magnified block of the matrix on new axes in the right half of ``ax``; lines lead to its place."""
    from matplotlib.patches import ConnectionPatch, Rectangle

    spec = ax.get_subplotspec()
    if spec is not None:
        left, right = spec.subgridspec(1, 2)
        ax.set_subplotspec(left)
        inset = ax.figure.add_subplot(right)
    else:
        box = ax.get_position()
        ax.set_position((box.x0, box.y0, 0.45 * box.width, box.height))
        inset = ax.figure.add_axes((box.x0 + 0.55 * box.width, box.y0, 0.45 * box.width, box.height))
    draw_matrix(inset, found.part(block.numbers))
    inset.yaxis.tick_right()  # to the left lines lead to the block
    inset.yaxis.set_label_position("right")
    inset.set_title(f"worst block: {block.errors} errors, {100 * block.share:.0f} % of all", fontsize="medium")
    size = block.stop - block.start
    frame = Rectangle((block.start - 0.5, block.start - 0.5), size, size, fill=False, color=PALETTE[2], linewidth=1.5)
    ax.add_patch(frame)
    for corner, height in ((block.start - 0.5, 1.0), (block.stop - 0.5, 0.0)):
        ends = {"xyA": (block.stop - 0.5, corner), "coordsA": ax.transData}
        ends |= {"xyB": (0.0, height), "coordsB": inset.transAxes}
        line = ConnectionPatch(**ends, color=GREY, linewidth=0.8, zorder=0.5)  # below the spots
        line.set_in_layout(False)
        ax.add_artist(line)


@dataclass(frozen=True, eq=False)
class ClassMap:
    """A class map: a point in the plane for each class; similar classes are near each other.

    Attributes
    ----------
    points : array of shape (K, 2)
        The point of each class; NaN for a class without rows.
    explained : array of shape (2,)
        The fraction of the squared distances between the classes that each of the two axes explains.
    classes : array of shape (K,)
        The class labels.

    Examples
    --------
    >>> map_of_confusion(Confusion.from_predictions([0, 0, 1, 1, 2], [0, 1, 1, 0, 2])).points.shape
    (3, 2)
    """

    points: Array
    explained: Array
    classes: AnyArray


@described
def map_of_scores(U: Any, y: Any, classes: Any) -> ClassMap:
    """Return a class map from the mean scores of each class's rows: classes with similar means are near each other.

    Parameters
    ----------
    U : array of shape (n, K)
        The class scores, or log-probabilities.
    classes : array of shape (K,)
        The class labels of the columns of U.

    Examples
    --------
    >>> found = map_of_scores([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], ["a", "b", "c"], ["a", "b", "c"])
    >>> found.points.shape, round(float(found.explained.sum()), 6)
    ((3, 2), 1.0)
    """
    U = np.asarray(U, dtype=np.float64)
    finite = np.isfinite(U).all(axis=0)  # classes without training examples have scores of −inf
    U = U[:, finite]
    means = class_means(U - U.mean(axis=1, keepdims=True), y, classes)
    known = ~np.isnan(means).any(axis=1)
    points, centred = np.full((len(means), 2), np.nan), means[known] - means[known].mean(axis=0)
    points[known], explained = find_principal_axes(centred @ centred.T, 2)
    return ClassMap(points, explained, np.asarray(classes))


def find_principal_axes(B: Array, dim: int) -> tuple[Array, Array]:
    """Return points (K, dim) with inner products near B (K, K), and each coordinate's share of the variance, (dim,)."""
    values, vectors = np.linalg.eigh(B)
    values = np.where(values > 1e-15 * len(B) * values.max(initial=0.0), values, 0.0)  # the others are rounding
    kept = np.argsort(-values)[:dim]
    points, explained = np.zeros((len(B), dim)), np.zeros(dim)
    points[:, : len(kept)] = vectors[:, kept] * np.sqrt(values[kept])
    explained[: len(kept)] = values[kept] / (values.sum() or 1.0)
    largest = points[np.abs(points).argmax(axis=0), np.arange(dim)]
    return points * np.where(largest < 0, -1.0, 1.0), explained  # signs are arbitrary: the largest is positive


def classical_mds(D: Any, dim: int = 2) -> tuple[Array, Array]:
    """Return points (K, dim) whose distances approximate D, and the share that each coordinate explains (dim,).

    This is classical multidimensional scaling; a share is an eigenvalue divided by the sum of the positive eigenvalues.

    Parameters
    ----------
    D : array of shape (K, K)
        The symmetric matrix of distances.
    dim : int, default=2
        The number of coordinates of each point.

    Examples
    --------
    >>> points, explained = classical_mds([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> bool(np.isclose(np.linalg.norm(points[1] - points[2]), 5))
    True
    """
    check_number("dim", dim, int, 1)
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not np.allclose(D, D.T):
        raise ValueError(f"D has shape {D.shape}; pass a symmetric matrix of distances.")
    squared = D**2
    B = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    return find_principal_axes(B, dim)


@described
def map_of_confusion(found: Confusion) -> ClassMap:
    """Return a class map from a confusion matrix: classes that are often confused are near each other.

    Examples
    --------
    >>> found = map_of_confusion(Confusion.from_predictions([0, 0, 1, 1, 2], [0, 1, 1, 0, 2]))
    >>> near, far = np.linalg.norm(found.points[[1, 2]] - found.points[0], axis=1)
    >>> bool(near < far)
    True
    """
    S = similarity(found.rates)
    D = 1.0 - S / S.max() if S.max() > 0 else np.ones_like(S)
    np.fill_diagonal(D, 0.0)
    points, explained = classical_mds(D)
    return ClassMap(points, explained, found.classes)


@described
def plot_class_map(clf: Any, X: Any, y: Any, *, n_pairs: int = 20, ax: Any = None) -> Any:
    """Draw a class map from the mean scores of the rows, with lines between the classes that are confused most.

    The darker a point, the lower the recall of its class. Names are written where they cover no point: first for the
    classes that are confused most, then for the classes far from the centre.

    Parameters
    ----------
    n_pairs : int, default=20
        The number of pairs of classes that are joined by a line, the most confused pairs first.

    Examples
    --------
    >>> ax = plot_class_map(clf, X, y)
    >>> sorted(text.get_text() for text in ax.texts)
    ['0', '1', '2']
    """
    check_is_fitted(clf)
    check_number("n_pairs", n_pairs, int, 0)
    if not hasattr(clf, "class_scores"):
        raise TypeError(f"{type(clf).__name__} has no class_scores; pass a classifier of this package.")
    y, U = as_label_array(y, "y"), clf.class_scores(X)
    check_same_length(y, U, "X")
    found, counted = map_of_scores(U, y, clf.classes_), Confusion.from_predictions(y, clf.predict(X), clf.classes_)
    ax = one_axes(ax, figsize=(7.2, 5.6))
    both = np.triu(counted.errors + counted.errors.T)
    worst = np.column_stack(np.unravel_index(np.argsort(-both, axis=None, kind="stable")[:n_pairs], both.shape))
    pairs = worst[both[*worst.T] > 0]  # (pairs, 2) the most confused classes
    for k, m in pairs:
        width = 0.6 + 2.4 * both[k, m] / both.max()
        ax.plot(*found.points[[k, m]].T, color=PALETTE[2], linewidth=width, alpha=0.7, zorder=1)
    if len(pairs):
        many = f"lines join the {len(pairs)} most confused pairs"
        ax.set_title(many if len(pairs) > 1 else "the line joins the confused pair", fontsize="medium")
    here = np.flatnonzero(np.isfinite(found.points).all(axis=1))  # classes with rows
    recall = np.diag(counted.counts) / np.maximum(counted.support, 1)
    size = 22 if len(here) > MOST_NAMES else 50  # points², across a marker
    dots = ax.scatter(
        *found.points[here].T,
        c=recall[here],
        cmap=fade_to(PALETTE[0]).reversed(),
        vmin=min(float(recall[here].min()), 0.95),
        vmax=1.0,
        s=size,
        edgecolors=INK,
        linewidths=0.5,
        zorder=2,
    )
    ax.figure.colorbar(dots, ax=ax, label="recall", shrink=0.85)
    one, two = 100 * found.explained
    ax.set(xlabel=f"first axis ({one:.0f} % of the differences)", ylabel=f"second axis ({two:.0f} %)")
    ax.margins(0.1)
    far = here[np.argsort(-np.linalg.norm(found.points[here], axis=1), kind="stable")]
    first = list(dict.fromkeys([*pairs.ravel().tolist(), *far.tolist()]))[:MOST_NAMES]
    words = found.classes[first].tolist()
    label_points(ax, found.points[first], words, free=found.points[here], radius=0.5 * size**0.5)
    return ax
