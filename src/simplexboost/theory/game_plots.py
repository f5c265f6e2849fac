"""Plots of boosting games: the figures of Mukherjee and Schapire (2013) and random walks.

By default ``figure_2a`` to ``figure_6`` have the settings of the paper; with other settings they draw other games.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._util.arrays import Labels
from ..evaluate.drawing import GREY, INK, PALETTE, SMALL, one_axes, row_of_axes, whole_numbers
from .conditions import described, uniform_baseline
from .potentials import best_fixed_potential, degree_map, fixed_potential, minimal_potential, potential_map
from .strategies import Walks

__all__ = [
    "figure_2a",
    "figure_2b",
    "figure_3",
    "figure_4",
    "figure_5",
    "figure_6",
    "potential_history",
    "random_walks",
]

THREE, TWO, TIE = PALETTE[3], INK, GREY  # colours of degree 3, degree 2, and of both


@described
def figure_2a(K: int = 6, edge: float = 0.0, rounds: int = 10, *, ax: Any = None) -> Any:
    """Plot the bound φ_T(0) on the error of a fixed uniform baseline against the number of rounds, with its values.

    Parameters
    ----------
    rounds : int, default=10
        The largest number of rounds.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> ax = figure_2a()
    >>> [text.get_text() for text in ax.texts][:3]
    ['0.83', '0.97', '0.93']
    """
    T = np.arange(1, rounds + 1)
    phi = [fixed_potential(int(t), uniform_baseline(K, edge)) for t in T]
    ax = one_axes(ax)
    ax.plot(T, phi, "o-", color=PALETTE[0])
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    for t, value in zip(T, phi, strict=True):
        place = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL, "bbox": box}
        ax.annotate(f"{value:.2f}", (t, value), (0, 7), **place)
    ax.set(xlabel="rounds T", ylabel="$\\phi_T(0)$", title=f"zero-one loss, K = {K}, $\\gamma$ = {edge:g}")
    ax.margins(y=0.15)
    whole_numbers(ax)
    return ax


@described
def figure_2b(edge: float = 0.1, T: int = 10, classes: Iterable[int] = range(2, 101), *, ax: Any = None) -> Any:
    """Plot the bound φ_T(0) of a fixed uniform baseline against the number of classes: it rises and then falls.

    Parameters
    ----------
    classes : iterable of int, default=range(2, 101)
        The numbers of classes.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> K, phi = figure_2b().lines[0].get_data()
    >>> int(K[phi.argmax()]), round(float(phi.max()), 4)
    (19, 0.7948)
    """
    K = np.array(list(classes))
    phi = np.array([fixed_potential(T, uniform_baseline(int(k), edge)) for k in K])
    ax = one_axes(ax)
    ax.plot(K, phi, ".-", color=PALETTE[0])
    ax.set(xlabel="classes K", ylabel="$\\phi_T(0)$", title=f"zero-one loss, T = {T}, $\\gamma$ = {edge:g}")
    return ax


@described
def figure_3(panels: Sequence[tuple[int, float]] = ((10, 0.0), (20, 0.0), (20, 0.4)), *, axes: Any = None) -> list[Any]:
    """Plot degrees of the optimal walk, minimal condition, three classes, zero-one loss; a panel for each (T, γ).

    The paper does not give its T.

    Parameters
    ----------
    panels : sequence of pairs
        The number of rounds and the edge of every panel.

    Returns
    -------
    list of matplotlib Axes
        The axes of the panels.

    Examples
    --------
    >>> len(figure_3(((3, 0.0), (5, 0.0))))
    2
    """
    axes = row_of_axes(axes, len(panels))
    for (T, edge), ax in zip(panels, axes, strict=True):
        draw_degrees(ax, degree_map(T, edge), f"T = {T}, $\\gamma$ = {edge:g}")
    return axes


@described
def figure_4(rounds: Sequence[int] = (3, 20), edge: float = 0.0, *, axes: Any = None) -> list[Any]:
    """Plot the potential of the minimal condition, three classes, zero-one loss, as a surface; a panel for each T.

    Parameters
    ----------
    rounds : sequence of int, default=(3, 20)
        The number of rounds of every panel.
    axes : list of matplotlib Axes or None, default=None
        Where to draw, one in three dimensions for every panel; None makes a new figure.

    Returns
    -------
    list of matplotlib Axes
        The axes of the panels.

    Examples
    --------
    >>> [ax.name for ax in figure_4((3,))]
    ['3d']
    """
    axes = row_of_axes(axes, len(rounds), subplot_kw={"projection": "3d"})
    for T, ax in zip(rounds, axes, strict=True):
        u, v = np.meshgrid(np.arange(-T, T + 1), np.arange(-T, T + 1), indexing="ij")
        surface = potential_map(T, edge)
        ax.plot_surface(u, v, surface, cmap="viridis", rstride=1, cstride=1, linewidth=0.2, edgecolor=INK)
        ax.set(xlabel="$s_2 - s_1$", ylabel="$s_3 - s_1$", zlabel="$\\phi_T$", title=f"T = {T}, $\\gamma$ = {edge:g}")
        ax.set(xticks=[-T, 0, T], yticks=[-T, 0, T], zticks=[0.0, 0.5, 1.0])
        ax.set_box_aspect(None, zoom=0.85)  # room for the labels
    return axes


@described
def figure_5(
    edge: float = 0.0,
    K: int = 6,
    rounds: int = 15,
    T: int = 10,
    classes: Iterable[int] = range(2, 16),
    *,
    axes: Any = None,
) -> list[Any]:
    """Compare φ_T(0) of the minimal condition and of the best fixed baseline, over rounds and over classes.

    Parameters
    ----------
    K : int, default=6
        The number of classes of the left panel.
    rounds : int, default=15
        The largest number of rounds of the left panel.
    T : int, default=10
        The number of rounds of the right panel.
    classes : iterable of int, default=range(2, 16)
        The numbers of classes of the right panel.
    axes : list of matplotlib Axes or None, default=None
        Where to draw, two of them; None makes a new figure.

    Returns
    -------
    list of matplotlib Axes
        The axes of the panels.

    Examples
    --------
    >>> left, right = figure_5(rounds=5, classes=(2, 3, 4))
    >>> [line.get_label() for line in left.lines]
    ['minimal condition', 'best fixed baseline']
    """
    axes = row_of_axes(axes, 2)
    over_rounds, over_classes = np.arange(1, rounds + 1), np.array(list(classes))
    plot_both(axes[0], over_rounds, [(int(t), K) for t in over_rounds], edge)
    plot_both(axes[1], over_classes, [(T, int(k)) for k in over_classes], edge)
    axes[0].set(xlabel="rounds T", title=f"K = {K}, $\\gamma$ = {edge:g}")
    axes[1].set(xlabel="classes K", title=f"T = {T}, $\\gamma$ = {edge:g}")
    return axes


def plot_both(ax: Any, x: Any, games: list[tuple[int, int]], edge: float) -> None:
    ax.plot(x, [minimal_potential(T, K, edge) for T, K in games], "--", color=PALETTE[0], label="minimal condition")
    fixed = [best_fixed_potential(T, K, edge)[0] for T, K in games]
    ax.plot(x, fixed, "-", color=PALETTE[1], label="best fixed baseline")
    ax.set_ylabel("$\\phi_T(0)$")
    whole_numbers(ax)
    legend_below(ax, 2)


def legend_below(ax: Any, columns: int) -> None:
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "borderaxespad": 0.0}
    ax.legend(**place, ncols=columns, fontsize="small", frameon=False, handletextpad=0.4, columnspacing=1.2)


@described
def figure_6(
    etas: Sequence[float] = (0.08, 0.1, 0.3), T: int = 20, edge: float = 0.1, *, axes: Any = None
) -> list[Any]:
    """Plot degrees of the optimal walk, minimal condition, three classes, exponential loss; a panel for each η.

    Parameters
    ----------
    etas : sequence of float, default=(0.08, 0.1, 0.3)
        The weight of a vote in every panel.

    Returns
    -------
    list of matplotlib Axes
        The axes of the panels.

    Examples
    --------
    >>> len(figure_6((0.1,), T=5))
    1
    """
    axes = row_of_axes(axes, len(etas))
    for eta, ax in zip(etas, axes, strict=True):
        degrees = degree_map(T, edge, "exponential", eta)
        draw_degrees(ax, degrees, f"$\\eta$ = {eta:g}, T = {T}, $\\gamma$ = {edge:g}")
    return axes


def draw_degrees(ax: Any, degrees: Labels, title: str) -> None:
    """Plot a degree map: crosses for degree 3, squares for degree 2, dots where both are optimal."""
    radius = len(degrees) // 2
    size = min(120.0 / len(degrees), 10.0)
    for degree, marker, colour, label in ((3, "x", THREE, "3"), (2, "s", TWO, "2"), (0, ".", TIE, "2 or 3")):
        u, v = np.nonzero(degrees == degree)
        ax.plot(u - radius, v - radius, marker, color=colour, markersize=size, label=f"degree {label}")
    ends = (-radius - 0.5, radius + 0.5)
    ax.set(xlabel="$s_2 - s_1$", ylabel="$s_3 - s_1$", title=title, aspect="equal", xlim=ends, ylim=ends)
    ax.set(xticks=[-radius, 0, radius], yticks=[-radius, 0, radius])
    legend_below(ax, 3)


@described
def random_walks(walks: Walks, potential: float | None = None, *, most: int = 100, ax: Any = None) -> Any:
    """Plot walks as the lead of the true class over its strongest rival; those that end in an error are dashed.

    Parameters
    ----------
    walks : Walks
        The walks, from `theory.simulate_walks` or `theory.simulate_minimal_walks`.
    potential : float or None, default=None
        φ_T(s), to be shown beside the mean loss.
    most : int, default=100
        The largest number of walks to draw.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from simplexboost.theory import simulate_walks
    >>> ax = random_walks(simulate_walks(20, [0.5, 0.25, 0.25], n_walks=30, random_state=0), 0.1)
    >>> len(ax.lines)
    31
    """
    ax = one_axes(ax)
    lead = walks.positions[..., 0] - walks.positions[..., 1:].max(axis=-1)  # (n_walks, t + 1)
    for path in lead[:most]:
        wrong = path[-1] <= 0
        ax.plot(path, color=PALETTE[2 if wrong else 0], linestyle="--" if wrong else "-", alpha=0.35, linewidth=1)
    ax.axhline(0, color=INK, linewidth=0.8)
    whole_numbers(ax)
    beside = "" if potential is None else f", potential {potential:.4f}"
    ax.set(xlabel="step", ylabel="lead of the true class", title=f"mean loss {walks.mean:.4f}{beside}")
    return ax


@described
def potential_history(clf: Any, *, ax: Any = None) -> Any:
    """Plot the average potential of a fitted `OSBoostClassifier` after every round; crosses where its condition failed.

    Parameters
    ----------
    clf : OSBoostClassifier
        The fitted classifier.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import OSBoostClassifier
    >>> clf = OSBoostClassifier(loss="zero-one", edge=0.2, n_estimators=20).fit(*load_iris(return_X_y=True))
    >>> ax = potential_history(clf)
    >>> len(ax.lines[0].get_xdata())
    21
    """
    ax = one_axes(ax)
    potential = np.append(clf.bound_, clf.history_["potential"])
    ax.plot(potential, ".-", color=PALETTE[0], label="average potential")
    ax.plot(np.arange(1, len(potential)), clf.history_["risk"], ":", color=GREY, label="training loss")
    failed = 1 + np.flatnonzero(~clf.history_["condition_met"].astype(bool))
    if len(failed):
        ax.plot(failed, potential[failed], "x", color=PALETTE[2], label="the learner fails its condition")
    ax.axhline(clf.bound_, color=INK, linewidth=0.8, linestyle="--", label="bound $\\phi_T(0)$")
    ax.set(xlabel="round")
    whole_numbers(ax)
    legend_below(ax, 2)
    return ax
