"""Which class is taken for which: a matrix of few classes, spots and a magnified block of many."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._parts import check_number
from .._typing import AnyArray
from ..inspection.confusion import (
    Block,
    Confusion,
    confusion_table,
    similarity,
    similarity_order,
    soft_confusion,
    worst_block,
)
from ._axes import one_axes
from ._style import GREY, PALE, PALETTE, class_ticks, ink_on, white_to

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
        The counts, from `simplexboost.inspection.confusion_table`.
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
    >>> from simplexboost.inspection import confusion_table
    >>> from simplexboost.plotting import ConfusionDisplay
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
        >>> from simplexboost.plotting import ConfusionDisplay
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
        >>> from simplexboost.plotting import ConfusionDisplay
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
