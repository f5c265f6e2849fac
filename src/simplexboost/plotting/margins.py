"""Distributions of margins over the rounds: boosting goes on pushing them up after the training error is zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._parts import check_choice
from .._typing import Array
from ..inspection.rounds import chosen_rounds, margins_over_rounds
from ._axes import one_axes
from ._style import GREY, LINES, legend_beside, shades

KINDS = ("cumulative", "histogram")


def plot_margins(
    clf: Any,
    X: Any,
    y: Any,
    rounds: Sequence[int] | None = None,
    *,
    kind: str = "cumulative",
    bins: int = 40,
    ax: Any = None,
) -> Any:
    """How the margins U_c − max_{k≠c} U_k of labelled rows are distributed after several numbers of rounds.

    Where a cumulative curve crosses zero it shows the share of errors. Histograms are Figure 5 of Saberian and
    Vasconcelos (2019).

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a curve each; None takes five, more of the early ones.
    kind : {"cumulative", "histogram"}, default="cumulative"
        Whether the curves are cumulative or histograms.
    bins : int, default=40
        The number of bins of a histogram.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import SimplexBoostClassifier
    >>> from simplexboost.plotting import plot_margins
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> ax = plot_margins(clf, X, y, [1, 10, 30])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 round: 2.0 % errors', '10 rounds: 3.3 % errors', '30 rounds: 0.0 % errors']
    """
    check_choice("kind", kind, KINDS)
    chosen = chosen_rounds(clf, rounds)
    margins = margins_over_rounds(clf, X, y, chosen)  # (T, n)
    ax = one_axes(ax, figsize=(7.0, 4.2))
    edges = np.histogram_bin_edges(margins, bins)
    for place, (t, values, colour) in enumerate(zip(chosen, margins, shades(len(chosen)), strict=True)):
        style = {
            "color": colour,
            "linestyle": LINES[place % len(LINES)],
            "linewidth": 1.6,
            "label": words_for(t, values),
        }
        if kind == "cumulative":
            ax.step(np.sort(values), np.arange(1, len(values) + 1) / len(values), where="post", **style)
        else:
            ax.stairs(np.histogram(values, edges)[0], edges, **style)
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    ax.set(xlabel="margin", ylabel="share of rows with at most this margin" if kind == "cumulative" else "rows")
    ax.set_ylim(0.0, 1.0 if kind == "cumulative" else None)
    legend_beside(ax)
    return ax


def words_for(n_rounds: int, margins: Array) -> str:
    """The rounds, and how many rows have no positive margin."""
    return f"{n_rounds} round{'' if n_rounds == 1 else 's'}: {100 * (margins <= 0).mean():.1f} % errors"
