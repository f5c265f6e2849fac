"""Plots of boosting games, as in Figures 2 to 6 of Mukherjee and Schapire (2013), and of random walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._util.docstrings import described
from ..evaluate.drawing import GREY, INK, PALETTE, legend_beside, one_axes, set_whole_ticks
from .potentials import best_fixed_potential, degree_map, potential_map
from .strategies import Walks, potential

BELOW: dict[str, Any] = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.16),
    "handletextpad": 0.4,
    "columnspacing": 1.2,
}


@described
def plot_bounds(
    T: int | Sequence[int],
    K: int | Sequence[int],
    edge: float = 0.0,
    conditions: Sequence[str] = ("uniform",),
    *,
    ax: Any = None,
) -> Any:
    """Plot the bound on the training error after T rounds of a boosting game against the number of rounds or classes.

    Parameters
    ----------
    T, K : int or sequence of int
        The number of rounds and the number of classes. One of them is a sequence, the horizontal axis.
    conditions : sequence of {"uniform", "minimal", "best"}, default=("uniform",)
        The weak-learning conditions; "best" is the baseline of `theory.best_fixed_potential`, the hardest fixed one.

    Examples
    --------
    With an edge of 0.1 and ten rounds the bound rises with the number of classes, and then falls.

    >>> K, phi = plot_bounds(10, range(2, 101), 0.1).lines[0].get_data()
    >>> int(K[phi.argmax()]), round(float(phi.max()), 4)
    (19, 0.7948)
    """
    over_rounds = not isinstance(T, int | np.integer)
    games = [(int(t), int(k)) for t, k in np.broadcast(T, K)]
    ax = one_axes(ax)
    looks = {"uniform": (".-", 2, "uniform baseline"), "minimal": ("--", 0, "minimal condition")}
    for condition in conditions:
        line, colour, label = looks.get(condition, ("-", 1, "best fixed baseline"))
        if condition == "best":
            phi = [best_fixed_potential(t, k, edge)[0] for t, k in games]
        else:
            phi = [potential(t, condition, k, edge) for t, k in games]
        ax.plot([game[0 if over_rounds else 1] for game in games], phi, line, color=PALETTE[colour], label=label)
    fixed = f"K = {K}" if over_rounds else f"T = {T}"
    ax.set(xlabel="rounds T" if over_rounds else "classes K", ylabel="$\\phi_T(0)$")
    ax.set_title(f"zero-one loss, {fixed}, $\\gamma$ = {edge:g}")
    set_whole_ticks(ax)
    legend_beside(ax, ncols=3, **BELOW)
    return ax


@described
def plot_degrees(T: int, edge: float = 0.0, loss: str = "zero-one", eta: float | None = None, *, ax: Any = None) -> Any:
    """Plot whether the hardest baseline of the minimal condition guesses among three or two classes, given the votes.

    The axes are the votes for the two wrong classes minus those for the true class. Crosses mark three classes, squares
    two, dots votes for which both are equally hard (Mukherjee and Schapire, Figures 3 and 6).

    Examples
    --------
    >>> ax = plot_degrees(5)
    >>> [len(line.get_xdata()) for line in ax.lines]
    [92, 8, 21]
    """
    ax, degrees = one_axes(ax), degree_map(T, edge, loss, eta)
    size = min(120.0 / len(degrees), 10.0)
    looks = ((3, "x", PALETTE[3], "degree 3"), (2, "s", INK, "degree 2"), (0, ".", GREY, "degree 2 or 3"))
    for degree, marker, colour, label in looks:
        u, v = np.nonzero(degrees == degree)
        ax.plot(u - T, v - T, marker, color=colour, markersize=size, label=label)
    vote = "" if eta is None else f"$\\eta$ = {eta:g}, "
    ends = (-T - 0.5, T + 0.5)
    ax.set(xlabel="$s_2 - s_1$", ylabel="$s_3 - s_1$", aspect="equal", xlim=ends, ylim=ends)
    ax.set(xticks=[-T, 0, T], yticks=[-T, 0, T], title=f"{vote}T = {T}, $\\gamma$ = {edge:g}")
    legend_beside(ax, ncols=3, **BELOW)
    return ax


@described
def plot_potential(T: int, edge: float = 0.0, *, ax: Any = None) -> Any:
    """Plot the potential (largest expected error after T more rounds) for each state of three classes' votes, in 3-D.

    Examples
    --------
    >>> plot_potential(3).name
    '3d'
    """
    ax = one_axes(ax, subplot_kw={"projection": "3d"})
    u, v = np.meshgrid(np.arange(-T, T + 1), np.arange(-T, T + 1), indexing="ij")
    ax.plot_surface(u, v, potential_map(T, edge), cmap="viridis", rstride=1, cstride=1, linewidth=0.2, edgecolor=INK)
    ax.set(xlabel="$s_2 - s_1$", ylabel="$s_3 - s_1$", zlabel="$\\phi_T$", title=f"T = {T}, $\\gamma$ = {edge:g}")
    ax.set(xticks=[-T, 0, T], yticks=[-T, 0, T], zticks=[0.0, 0.5, 1.0])
    ax.set_box_aspect(None, zoom=0.85)  # room for the labels
    return ax


@described
def plot_walks(walks: Walks, potential: float | None = None, *, most: int = 100, ax: Any = None) -> Any:
    """Plot random walks: votes for the true class minus the most votes for a wrong class; dashed if wrong at the end.

    Parameters
    ----------
    walks : Walks
        The random walks, from `theory.simulate_walks`.
    potential : float or None, default=None
        The potential of the first state, to be shown beside the mean loss.
    most : int, default=100
        The largest number of walks to draw.

    Examples
    --------
    >>> from simplexboost.theory import simulate_walks
    >>> ax = plot_walks(simulate_walks(20, [0.5, 0.25, 0.25], n_walks=30, random_state=0), 0.1)
    >>> len(ax.lines)
    31
    """
    ax = one_axes(ax)
    lead = walks.positions[..., 0] - walks.positions[..., 1:].max(axis=-1)  # (n_walks, t + 1)
    for path in lead[:most]:
        wrong = path[-1] <= 0
        ax.plot(path, color=PALETTE[2 if wrong else 0], linestyle="--" if wrong else "-", alpha=0.35, linewidth=1)
    ax.axhline(0, color=INK, linewidth=0.8)
    set_whole_ticks(ax)
    beside = "" if potential is None else f", potential {potential:.4f}"
    ax.set(xlabel="step", ylabel="lead of the true class", title=f"mean loss {walks.mean:.4f}{beside}")
    return ax


@described
def plot_potential_history(clf: Any, *, ax: Any = None) -> Any:
    """Plot the average potential of a fitted `OSBoostClassifier`; crosses mark rounds in which its assumption failed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import OSBoostClassifier
    >>> clf = OSBoostClassifier(loss="zero-one", edge=0.2, n_estimators=20).fit(*load_iris(return_X_y=True))
    >>> len(plot_potential_history(clf).lines[0].get_xdata())
    21
    """
    ax = one_axes(ax)
    values = np.append(clf.bound_, clf.history_["potential"])
    ax.plot(values, ".-", color=PALETTE[0], label="average potential")
    ax.plot(np.arange(1, len(values)), clf.history_["risk"], ":", color=GREY, label="training loss")
    failed = 1 + np.flatnonzero(~clf.history_["condition_met"].astype(bool))
    if len(failed):
        ax.plot(failed, values[failed], "x", color=PALETTE[2], label="the learner fails its condition")
    ax.axhline(clf.bound_, color=INK, linewidth=0.8, linestyle="--", label="bound $\\phi_T(0)$")
    ax.set(xlabel="round")
    set_whole_ticks(ax)
    legend_beside(ax, ncols=2, **BELOW)
    return ax
