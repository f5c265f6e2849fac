"""Plots of errors: the confusion matrix, and precision and recall of every class.

A matrix of many classes is drawn as spots, with its worst block magnified.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import AnyArray, Array, Labels
from ..._util.params import check_choice, check_number
from ..class_table import ClassTable, class_table
from ..confusion import Block, Confusion, confusion_table, similarity, similarity_order, soft_confusion, worst_block
from .style import GREY, PALE, PALETTE, class_ticks, ink_on, label_points, legend_beside, one_axes, rows_high, white_to

MOST_WHOLE = 40  # more classes are drawn as spots, with one block magnified
MOST_NUMBERS = 30  # of more classes the cells have no numbers
BLOCK = 15  # classes in the magnified block
SMALLEST = 6.5  # points of the numbers in the cells; smaller ones are not written


class ConfusionDisplay:
    """A confusion matrix that stays readable with hundreds of classes.

    Similar classes are neighbours, so that errors gather along the diagonal. Up to 40 classes the whole matrix is
    drawn. Of more, every pair with errors is a spot, and the block of neighbours with most errors is magnified beside
    them.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    confusion : Confusion
        The counts, from `simplexboost.evaluate.confusion_table`.
    order : int array of shape (K,)
        The numbers of the classes in the order of the picture.
    block_size : int
        The number of classes in the magnified block.

    Attributes
    ----------
    block : Block
        The block of neighbours with most errors.
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.
    block_ax_ : matplotlib Axes or None
        The axes of the magnified block; None if there is none.

    Examples
    --------
    >>> from simplexboost.evaluate import confusion_table
    >>> from simplexboost.evaluate.plots import ConfusionDisplay
    >>> display = ConfusionDisplay(confusion_table(["a", "b", "b"], ["a", "b", "a"]), [0, 1]).plot()
    >>> display.ax_.get_ylabel()
    'true class'
    """

    def __init__(self, confusion: Confusion, order: AnyArray, block_size: int = BLOCK) -> None:
        self.confusion, self.order, self.block_size = confusion, np.asarray(order), block_size

    @property
    def block(self) -> Block:
        """The block of neighbours with most errors."""
        return worst_block(self.confusion, self.order, self.block_size)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ordered: bool = True, block_size: int = BLOCK, ax: Any = None
    ) -> ConfusionDisplay:
        """Predict, count and draw.

        Parameters
        ----------
        estimator : fitted classifier
            The classifier, of this package or of another.
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The labels of the rows.
        ordered : bool, default=True
            Whether similar classes are put side by side; False keeps the order of the labels.
        block_size : int, default=BLOCK
            The number of classes in the magnified block.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.evaluate.plots import ConfusionDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
        >>> display = ConfusionDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> display.ax_.get_xlabel()
        'predicted class'
        """
        check_is_fitted(estimator)
        P = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
        return cls.from_predictions(
            y,
            estimator.predict(X),
            P=P,
            classes=estimator.classes_,
            ordered=ordered,
            block_size=block_size,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        P: Any = None,
        classes: Any = None,
        ordered: bool = True,
        block_size: int = BLOCK,
        ax: Any = None,
    ) -> ConfusionDisplay:
        """Count and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            The true labels.
        y_pred : array of shape (n,)
            The predicted labels.
        P : array of shape (n, K) or None, default=None
            The probabilities, which tell which classes are similar even where there are no errors.
        classes : array of shape (K,) or None, default=None
            All labels, those of the columns of P; None takes those that occur, sorted.
        ordered : bool, default=True
            Whether similar classes are put side by side; False keeps the order of the labels.
        block_size : int, default=BLOCK
            The number of classes in the magnified block.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            The display, drawn.

        Examples
        --------
        >>> from simplexboost.evaluate.plots import ConfusionDisplay
        >>> display = ConfusionDisplay.from_predictions(["a", "b", "b"], ["a", "b", "a"])
        >>> [text.get_text() for text in display.ax_.texts]
        ['1', '1', '1']
        """
        check_number("block_size", block_size, int, 2)
        known = with_unseen(y_true, classes)
        found = confusion_table(y_true, y_pred, known)
        order = np.arange(len(found.classes))
        if ordered:
            usable = P is not None and known is not None and np.shape(P)[-1] == len(known)
            rates = soft_confusion(y_true, P, known) if usable else found.rates
            order = similarity_order(similarity(rates))
        return cls(found, order, block_size).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConfusionDisplay:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            The display itself.
        """
        K = len(self.confusion.classes)
        many = K > MOST_WHOLE
        side = min(9.0, max(3.6, 1.6 + 0.28 * K))
        ax = one_axes(ax, figsize=(11.0, 5.4) if many else (side + 0.6, side))
        self.ax_, self.figure_, self.block_ax_ = ax, ax.figure, None
        ordered = self.confusion.taken(self.order)
        ax.set_title(title_of(ordered))
        if many:
            draw_spots(ax, ordered)
            self.block_ax_ = draw_block(ax, self.confusion, self.block)
        else:
            draw_matrix(ax, ordered)
        return self


def with_unseen(y_true: Any, classes: Any) -> AnyArray | None:
    """The classes, and after them labels of rows that are not among them: a model may be tried on new classes."""
    if classes is None:
        return None
    known, labels = np.asarray(classes), np.unique(np.asarray(y_true))
    seen = set(known.tolist())
    unseen = [label for label in labels.tolist() if label not in seen]
    mixed = len({isinstance(label, str) for label in [*seen, *unseen]}) > 1  # numbers would become text
    kind = object if known.dtype == object else None  # labels from data frames are objects
    return known if mixed or not unseen else np.array([*known.tolist(), *unseen], dtype=kind)


def title_of(found: Confusion) -> str:
    """How many rows were right."""
    return f"{found.n} rows, {100 * found.accuracy:.1f} % right"


def draw_matrix(ax: Any, found: Confusion) -> None:
    """All cells; the colour is the share of the row of the matrix, on a scale on which small shares can be seen."""
    from matplotlib.colors import PowerNorm

    K, rates, colours = len(found.classes), found.rates, white_to(PALETTE[0])
    norm = PowerNorm(0.5, 0.0, 1.0)
    ax.imshow(rates, cmap=colours, norm=norm, interpolation="nearest", aspect="equal")
    edges = np.arange(K + 1) - 0.5
    ax.hlines(edges, -0.5, K - 0.5, color=PALE, linewidth=0.4)
    ax.vlines(edges, -0.5, K - 0.5, color=PALE, linewidth=0.4)
    if K <= MOST_NUMBERS:
        write_counts(ax, found, lambda k, m: colours(norm(rates[k, m])))
    class_ticks(ax, "x", found.classes.tolist())
    class_ticks(ax, "y", found.classes.tolist())
    ax.set(xlabel="predicted class", ylabel="true class", xlim=(-0.5, K - 0.5), ylim=(K - 0.5, -0.5))


def write_counts(ax: Any, found: Confusion, colour_of: Any) -> None:
    """The counts in the cells, without zeros, as large as the cells allow."""
    K = len(found.classes)
    width = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72 / K  # points of a cell
    longest = len(str(int(found.counts.max())))
    size = min(10.0, 1.25 * width / max(longest, 2))
    if size < SMALLEST:  # not legible
        return
    for k, m in zip(*np.nonzero(found.counts), strict=True):
        ink = ink_on(colour_of(k, m))
        ax.text(m, k, str(int(found.counts[k, m])), ha="center", va="center", color=ink, fontsize=size)


def draw_spots(ax: Any, found: Confusion) -> None:
    """A spot for every pair of classes with errors, its area the number of rows; the diagonal is a line."""
    K, errors = len(found.classes), found.errors
    rows, columns = np.nonzero(errors)
    counts = errors[rows, columns]
    ax.plot([-0.5, K - 0.5], [-0.5, K - 0.5], color=PALE, linewidth=2.5, zorder=0)
    area = np.maximum(10.0 * counts / max(counts.max(initial=1) / 6, 1.0), 4.0)
    ax.scatter(columns, rows, s=area, color=PALETTE[0], alpha=0.55, linewidths=0)
    class_ticks(ax, "x", found.classes.tolist())
    class_ticks(ax, "y", found.classes.tolist())
    ax.set(xlabel="predicted class", ylabel="true class", xlim=(-0.5, K - 0.5), ylim=(K - 0.5, -0.5))
    ax.set_aspect("equal")


def axes_beside(ax: Any) -> Any:
    """New axes in the right half of the place of other axes, which keep the left half."""
    spec = ax.get_subplotspec()
    if spec is not None:
        left, right = spec.subgridspec(1, 2)
        ax.set_subplotspec(left)
        return ax.figure.add_subplot(right)
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, 0.45 * box.width, box.height))
    return ax.figure.add_axes((box.x0 + 0.55 * box.width, box.y0, 0.45 * box.width, box.height))


def draw_block(ax: Any, found: Confusion, block: Block) -> Any:
    """The worst block, magnified to the right, with lines to its place."""
    from matplotlib.patches import ConnectionPatch, Rectangle

    inset = axes_beside(ax)
    draw_matrix(inset, found.taken(block.numbers))
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
    return inset


KINDS = ("rows", "scatter")
MOST = 30  # classes in one picture


class ClassScoresDisplay:
    """Precision and recall of the classes, with intervals.

    ``kind="rows"`` has a row for every class, from the worst F1 on. ``kind="scatter"`` has a point for every class,
    however many there are, and names the worst.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    table : ClassTable
        The numbers, from `simplexboost.evaluate.class_table`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure that was drawn on.

    Examples
    --------
    >>> from simplexboost.evaluate import class_table
    >>> from simplexboost.evaluate.plots import ClassScoresDisplay
    >>> display = ClassScoresDisplay(class_table([0, 0, 1], [0, 1, 1])).plot(kind="scatter")
    >>> display.ax_.get_xlabel()
    'recall'
    """

    def __init__(self, table: ClassTable) -> None:
        self.table = table

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, kind: str = "rows", most: int = MOST, ax: Any = None
    ) -> ClassScoresDisplay:
        """Predict, count and draw.

        Parameters
        ----------
        estimator : fitted classifier
            The classifier, of this package or of another.
        X : array, data frame or sparse matrix of shape (n, p)
            The rows, with the columns of the fit.
        y : array of shape (n,)
            The labels of the rows.
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display, drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from simplexboost import SimplexBoostClassifier
        >>> from simplexboost.evaluate.plots import ClassScoresDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
        >>> display = ClassScoresDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> display.ax_.get_xlabel()
        'precision and recall, with 95 % intervals'
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), classes=estimator.classes_, kind=kind, most=most, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, classes: Any = None, kind: str = "rows", most: int = MOST, ax: Any = None
    ) -> ClassScoresDisplay:
        """Count and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            The true labels.
        y_pred : array of shape (n,)
            The predicted labels.
        classes : array of shape (K,) or None, default=None
            All labels; None takes those that occur, sorted.
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display, drawn.

        Examples
        --------
        >>> from simplexboost.evaluate.plots import ClassScoresDisplay
        >>> display = ClassScoresDisplay.from_predictions([0, 0, 1], [0, 1, 1], kind="scatter")
        >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
        ('recall', 'precision')
        """
        return cls(class_table(y_true, y_pred, with_unseen(y_true, classes))).plot(kind=kind, most=most, ax=ax)

    def plot(self, *, kind: str = "rows", most: int = MOST, ax: Any = None) -> ClassScoresDisplay:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        kind : {"rows", "scatter"}, default="rows"
            A row for every class, or a point for every class.
        most : int, default=MOST
            The largest number of classes with a row, or with a name.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassScoresDisplay
            The display itself.
        """
        check_choice("kind", kind, KINDS)
        check_number("most", most, int, 1)
        worst = worst_first(self.table)
        shown = worst[:most]
        if kind == "rows":
            ax = one_axes(ax, figsize=(7.2, rows_high(len(shown))))
            draw_rows(ax, self.table, shown)
        else:
            ax = one_axes(ax, figsize=(6.4, 5.2))
            draw_scatter(ax, self.table, worst, most)
        K = len(worst)
        ax.set_title(f"the {len(shown)} worst of {K} classes" if kind == "rows" and len(shown) < K else f"{K} classes")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def worst_first(table: ClassTable) -> Labels:
    """The numbers of the classes that occur, by F1."""
    order = np.argsort(table.f1, kind="stable")
    return order[~np.isnan(table.f1[order])]


def draw_rows(ax: Any, table: ClassTable, shown: Labels) -> None:
    """A row for each class: precision above, recall below, with intervals."""
    places = np.arange(len(shown))
    parts = (
        ("precision", table.precision, table.precision_interval, -0.16, PALETTE[1], "s"),
        ("recall", table.recall, table.recall_interval, 0.16, PALETTE[0], "o"),
    )
    ax.hlines(places, 0, 1, color=PALE, linewidth=0.5, zorder=0)
    low = 1.0
    for name, values, interval, shift, colour, marker in parts:
        known = ~np.isnan(values[shown])
        here, y = values[shown][known], places[known] + shift
        ends = interval[shown][known]
        ax.hlines(y, ends[:, 0], ends[:, 1], color=colour, linewidth=1.2)
        ax.plot(here, y, marker, color=colour, markersize=4.5, label=name, linestyle="none")
        low = min(low, float(ends.min(initial=1.0)))
    class_ticks(ax, "y", table.classes[shown].tolist())
    room = 0.03 * (1 - low) + 1e-3
    ax.set(xlabel="precision and recall, with 95 % intervals", xlim=(low - room, 1 + room))
    ax.set_ylim(len(shown) - 0.4, -0.6)
    legend_beside(ax)


def draw_scatter(ax: Any, table: ClassTable, worst: Labels, most: int) -> None:
    """A point for each class, its area the number of rows; the worst have names."""
    points = np.column_stack([table.recall, table.precision])
    points = np.where(np.isnan(points), 0.0, points)  # never predicted, or without rows: nothing was right
    low = float(points[worst].min())
    ax.scatter(*points[worst].T, s=areas(table.support[worst]), color=PALETTE[0], alpha=0.5, linewidths=0)
    ax.plot([0, 1], [0, 1], color=PALE, linewidth=0.8, zorder=0)
    room = 0.06 * (1 - low) + 1e-3
    ends = (low - room, 1 + room)
    ax.set(xlabel="recall", ylabel="precision", xlim=ends, ylim=ends)
    for which in (ax.xaxis, ax.yaxis):
        which.set_ticks([tick for tick in which.get_majorticklocs() if ends[0] <= tick <= 1 + 1e-9])
    label_points(ax, points[worst[:most]], table.classes[worst[:most]].tolist(), color=GREY)


def areas(support: Any) -> Array:
    """The areas of the points."""
    return 12.0 + 60.0 * np.asarray(support) / max(float(np.max(support)), 1.0)
