"""Contours of a loss over the plane of predictions: Figure 3 of Saberian and Vasconcelos (2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parts import check_number, resolve
from .._typing import Array
from ..losses import LOSSES, Loss
from ._axes import one_axes
from ._style import INK, PALETTE, SMALL
from .codewords import matrix_and_names

GRID = 161  # points along an axis


def plot_loss_contours(
    loss: Any = "exponential",
    codewords: Any = "simplex",
    K: int | None = 3,
    *,
    true: int = 0,
    reach: float = 2.0,
    levels: int = 14,
    ax: Any = None,
) -> Any:
    """Lines of equal loss over predictions f in the plane, with the codewords and the boundaries between the classes.

    A good loss has contours that do not cross the boundary of the true class, so that no error costs less than a right
    decision. The lines are at equal steps of the logarithm of the loss.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        The loss, by its name, such as ``"exponential"`` or ``"own-score"``, or as a part.
    codewords : array of shape (K, 2), fitted booster, str or Codewords, default="simplex"
        The codewords, in two dimensions: a matrix, those of a booster, or a set by its name or as a part.
    K : int or None, default=3
        The number of classes, if a set is given.
    true : int, default=0
        The number of the true class, from 0.
    reach : float, default=2.0
        The picture goes from −reach to reach.
    levels : int, default=14
        About how many lines are drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from simplexboost.plotting import plot_loss_contours
    >>> ax = plot_loss_contours("logistic")
    >>> ax.get_title()
    'Logistic, class 1 is true'
    """
    found = resolve(loss, LOSSES, Loss, "loss")
    Y, names = matrix_and_names(codewords, K, None)
    if Y.shape[1] != 2:
        raise ValueError(f"the codewords have {Y.shape[1]} dimensions; the plane of predictions has 2.")
    check_number("true", true, int, 0, len(Y) - 1)
    check_number("reach", reach, float, 0.0, open_low=True)
    check_number("levels", levels, int, 1)
    found.check(len(Y))
    side = np.linspace(-reach, reach, GRID)
    values = log_losses(found, Y, side, true)
    ax = one_axes(ax, figsize=(5.4, 4.8))
    lines = ax.contour(side, side, values, levels=levels, cmap="viridis", linewidths=1.0)
    ax.figure.colorbar(lines, ax=ax, label="logarithm of the loss", shrink=0.85)
    draw_boundaries(ax, Y, side)
    draw_words(ax, Y, names, true, reach)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="$f_1$", ylabel="$f_2$")
    ax.set_aspect("equal")
    ax.set_title(f"{type(found).__name__}, class {names[true]} is true")
    return ax


def log_losses(loss: Loss, Y: Array, side: Array, true: int) -> Array:
    """The logarithm of the loss on a grid, (m, m)."""
    F = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (m², 2)
    values = loss.log_value(0.5 * F @ Y.T, np.full(len(F), true))
    return values.reshape(len(side), len(side))


def draw_boundaries(ax: Any, Y: Array, side: Array) -> None:
    """Lines where the class with the highest score changes."""
    F = np.stack(np.meshgrid(side, side), axis=-1)
    scores = F @ Y.T  # (m, m, K)
    for k in range(len(Y) - 1):  # the boundary of class k with those after it, where no class before it is better
        after = scores[..., k + 1 :].max(axis=-1)
        before = scores[..., :k].max(axis=-1, initial=-np.inf)
        lead = np.ma.masked_where(np.maximum(scores[..., k], after) < before, scores[..., k] - after)
        if lead.count():
            ax.contour(side, side, lead, [0.0], colors=PALETTE[2], linewidths=1.2, linestyles="--")


def draw_words(ax: Any, Y: Array, names: list[str], true: int, reach: float) -> None:
    """Arrows to the codewords; that of the true class is wider."""
    for k, y in enumerate(Y):
        width = 2.6 if k == true else 1.3
        style = {"arrowstyle": "-|>", "color": INK, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", y, (0.0, 0.0), arrowprops=style)
        place = y * (1 + 0.12 * reach / max(float(np.linalg.norm(y)), 1e-12))
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        ax.text(*place, names[k], ha="center", va="center", fontsize=SMALL + 1, bbox=box)
