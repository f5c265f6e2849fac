"""The predictor f(x) among the codewords, after some round, and as an animation over the rounds.

Boosting starts at the origin and pushes the predictions of every class along its codeword: Figure 4 of Saberian and
Vasconcelos (2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..data.tables import take_rows
from ..explain.choosing import check_not_merged
from ..inspection.labels import check_labels
from ..inspection.maps import class_means
from ..inspection.rounds import check_booster, chosen_rounds, labels_among, predictors_over_rounds
from ._axes import one_axes, row_of_axes
from ._models import MOST_ROWS, class_places, some_rows
from ._style import (
    MOST_IN_LEGEND,
    PALE,
    PALETTE,
    class_style,
    equal_limits,
    equal_square,
    label_points,
    legend_beside,
    short,
    whole_figure,
)

MOST_RAYS = 40  # more codewords are not drawn; of projected ones, which say less, a dozen
MOST_NAMES = 40  # of more classes only some have names
MOST_COLOURED = 40  # of more classes, six are coloured: hundreds of colours and markers cannot be told apart


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, in the plane.

    Attributes
    ----------
    F : (T, n, 2) predictors after some rounds
    rays : (K, 2) directions of the codewords
    c : (n,) classes of the rows
    names : (K,) of the classes
    shown : (D,) the numbers of the classes that are coloured
    projected : whether the predictor has more than two dimensions
    """

    F: Array
    rays: Array
    c: Labels
    names: list[str]
    shown: Labels
    projected: bool


def plot_predictor(
    clf: Any, X: Any, y: Any, n_rounds: int | None = None, *, classes: Any = None, most: int = MOST_ROWS, ax: Any = None
) -> Any:
    """The predictor f(x) of labelled rows in the plane, with the directions of the codewords.

    Where the predictor has more than two dimensions, it is projected on the plane in which the means of the classes
    differ most.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    n_rounds : int or None, default=None
        How many rounds to predict with, 0 .. ``clf.n_iter_``; None takes all.
    classes : list of labels or None, default=None
        The classes to be coloured, while all others are grey; None colours all of up to 40 classes, and of more six
        that lie far apart.
    most : int, default=MOST_ROWS
        The largest number of rows to draw; of more rows some are drawn at random.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import CDMCBoostClassifier
    >>> from simplexboost.plotting import plot_predictor
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_predictor(CDMCBoostClassifier(n_estimators=20).fit(X, y), X, y, 10)
    >>> ax.get_title()
    'after 10 rounds'
    """
    model = check_booster(clf)
    rounds = [model.n_rounds if n_rounds is None else n_rounds]
    scene = make_scene(clf, X, y, rounds, classes, most)
    ax = one_axes(ax, figsize=(6.0, 4.6))
    draw_scene(ax, scene, 0, scene.F)
    ax.set_title(words_for(rounds[0]))
    name_classes(ax, scene, 0)
    return ax


def plot_predictor_panels(
    clf: Any,
    X: Any,
    y: Any,
    rounds: Sequence[int] | None = None,
    *,
    classes: Any = None,
    most: int = MOST_ROWS,
    axes: Any = None,
) -> list[Any]:
    """The predictor f(x) after several numbers of rounds side by side, to the same scale.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a panel each; None takes three, the last of which is that of
        the model.
    classes : list of labels or None, default=None
        The classes to be coloured, while all others are grey; None colours all of up to 40 classes, and of more six
        that lie far apart.
    most : int, default=MOST_ROWS
        The largest number of rows to draw; of more rows some are drawn at random.
    axes : list of matplotlib Axes or None, default=None
        Where to draw, one for every panel; None makes a new figure.

    Returns
    -------
    list of matplotlib Axes
        The axes with the pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import CDMCBoostClassifier
    >>> from simplexboost.plotting import plot_predictor_panels
    >>> X, y = load_iris(return_X_y=True)
    >>> axes = plot_predictor_panels(CDMCBoostClassifier(n_estimators=20).fit(X, y), X, y, [1, 10, 20])
    >>> [ax.get_title() for ax in axes]
    ['after 1 round', 'after 10 rounds', 'after 20 rounds']
    """
    chosen = chosen_rounds(clf, rounds, 3)
    scene = make_scene(clf, X, y, chosen, classes, most)
    axes = row_of_axes(axes, len(chosen), figsize=(3.6 * len(chosen) + 1.2, 3.9))
    for place, (t, ax) in enumerate(zip(chosen, axes, strict=True)):
        draw_scene(ax, scene, place, scene.F)
        ax.set_title(words_for(t))
    for ax in axes[1:]:
        ax.set_ylabel("")
    name_classes(axes[-1], scene, len(chosen) - 1)
    return axes


def animate_predictor(
    clf: Any,
    X: Any,
    y: Any,
    rounds: Sequence[int] | None = None,
    *,
    classes: Any = None,
    most: int = MOST_ROWS,
    interval: int = 150,
    ax: Any = None,
) -> Any:
    """The predictor f(x) moving outward from the origin, round by round.

    Parameters
    ----------
    clf : fitted booster
        The model.
    X : array, data frame or sparse matrix of shape (n, p)
        The rows, with the columns of the fit.
    y : array of shape (n,)
        The labels of the rows.
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a picture each; None takes 0 and up to 40 others, more of the
        early ones.
    classes : list of labels or None, default=None
        The classes to be coloured, while all others are grey; None colours all of up to 40 classes, and of more six
        that lie far apart.
    most : int, default=MOST_ROWS
        The largest number of rows to draw; of more rows some are drawn at random.
    interval : int, default=150
        The number of milliseconds between pictures.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib animation
        Keep it, and save it with ``animation.save("f.gif", writer="pillow")`` or show it in a notebook with
        ``animation.to_jshtml()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import CDMCBoostClassifier
    >>> from simplexboost.plotting import animate_predictor
    >>> X, y = load_iris(return_X_y=True)
    >>> animation = animate_predictor(CDMCBoostClassifier(n_estimators=20).fit(X, y), X, y, [0, 1, 2])
    >>> "<img" in animation.to_jshtml()
    True
    """
    check_booster(clf)
    ax = one_axes(ax, figsize=(6.0, 4.6))
    from matplotlib.animation import FuncAnimation

    chosen = chosen_rounds(clf, rounds, 40, start=True)
    scene = make_scene(clf, X, y, chosen, classes, most)
    lines = draw_scene(ax, scene, 0, scene.F)
    name_classes(ax, scene, len(chosen) - 1)
    title = ax.set_title(words_for(chosen[0]))

    def update(place: int) -> list[Any]:
        for line, rows in lines:
            line.set_data(*scene.F[place][rows].T)
        title.set_text(words_for(chosen[place]))
        return [*(line for line, _ in lines), title]

    return FuncAnimation(whole_figure(ax), update, frames=len(chosen), interval=interval)


def make_scene(clf: Any, X: Any, y: Any, rounds: list[int], classes: Any, most: int) -> Scene:
    """Predictors and codewords in the plane."""
    model = check_booster(clf)
    check_not_merged(clf)
    chosen, names = class_places(classes, clf.classes_), [str(label) for label in clf.classes_]
    c = labels_among(clf, X, y)
    rows = some_rows(len(c), most)
    c = c[rows]
    last = [model.n_rounds] if rounds[-1] != model.n_rounds else []
    F = predictors_over_rounds(clf, take_rows(X, rows), [*rounds, *last]).astype(np.float64)
    plane = plane_of(F[-1], check_labels(y, "y")[rows], clf.classes_)
    rays = np.full((len(names), 2), np.nan)
    rays[clf.present_] = model.Y.astype(np.float64) @ plane
    F = F @ plane
    if classes is None and len(names) > MOST_COLOURED:
        chosen = far_apart(class_means(F[-1], c, np.arange(len(names))), len(PALETTE))
    return Scene(F[: len(rounds)], rays, c, names, chosen, model.Y.shape[1] > 2)


def far_apart(points: Array, count: int) -> Labels:
    """Some of the points (K, 2): the one farthest from the origin, then always the one farthest from those taken."""
    here = np.flatnonzero(~np.isnan(points).any(axis=1))
    points = points[here]
    taken = [int(np.linalg.norm(points, axis=1).argmax())]
    nearest = np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        nearest = np.minimum(nearest, np.linalg.norm(points - points[taken[-1]], axis=1))
        taken.append(int(nearest.argmax()))
    return np.unique(here[taken])


def plane_of(F: Array, y: AnyArray, classes: AnyArray) -> Array:
    """Two directions, (d, 2): the coordinates themselves, or those along which the means of the classes differ most."""
    d = F.shape[1]
    if d <= 2:
        return np.eye(d, 2)
    means = class_means(F, y, classes)
    means = means[~np.isnan(means).any(axis=1)]
    _, _, V = np.linalg.svd(means - means.mean(axis=0), full_matrices=True)
    return V[:2].T


def draw_scene(ax: Any, scene: Scene, place: int, all_F: Array) -> list[tuple[Any, AnyArray]]:
    """The points of one round and the codewords; the lines of points with the rows that they show."""
    (equal_limits if scene.projected else equal_square)(ax, all_F.reshape(-1, 2))
    reach, F = float(np.abs([ax.get_xlim(), ax.get_ylim()]).max()), scene.F[place]
    size = 4.5 if len(F) < 600 else 3.5
    lines = []
    others = np.flatnonzero(~np.isin(scene.c, scene.shown))
    if len(others):
        grey = ax.plot(
            *F[others].T, "o", color=PALE, markersize=0.7 * size, markeredgewidth=0, zorder=1, label="others"
        )[0]
        lines.append((grey, others))
    for number, k in enumerate(scene.shown.tolist()):
        # Few classes look the same in every picture; of many, those that are shown must not look like each other.
        looks = class_style(k if len(scene.names) <= MOST_IN_LEGEND else number)
        rows = np.flatnonzero(scene.c == k)
        draw_ray(ax, scene, k, reach, looks["color"])
        large = 1.4 * size if len(others) else size
        style = {"linestyle": "none", "markersize": large, "markeredgewidth": 0, "alpha": 0.75, "zorder": 2}
        lines.append((ax.plot(*F[rows].T, label=short(scene.names[k]), **style, **looks)[0], rows))
    what = "principal axis of the class means" if scene.projected else ""
    ax.set(
        xlabel=f"first {what}" if what else "$f_1$",
        ylabel=f"second {what}" if what else "$f_2$",
    )
    return lines


def draw_ray(ax: Any, scene: Scene, k: int, reach: float, colour: str) -> None:
    """The direction of a codeword, to the edge of the picture."""
    length = float(np.abs(scene.rays[k]).max())
    if len(scene.shown) <= (MOST_IN_LEGEND if scene.projected else MOST_RAYS) and length > 1e-9:
        end = scene.rays[k] * reach / length
        ax.plot([0, end[0]], [0, end[1]], linestyle="--", linewidth=1, color=colour, zorder=0)


def name_classes(ax: Any, scene: Scene, place: int) -> None:
    """A legend of few classes; more have their names at the means of their points."""
    shown = [k for k in scene.shown.tolist() if (scene.c == k).any()]
    if len(shown) <= MOST_IN_LEGEND:
        legend_beside(ax, markerscale=2)
        return
    means = np.array([scene.F[place][scene.c == k].mean(axis=0) for k in shown])
    far = np.argsort(-np.linalg.norm(means, axis=1), kind="stable")[:MOST_NAMES]  # where there is most room
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    label_points(ax, means[far], [scene.names[shown[k]] for k in far.tolist()], bbox=box, fontsize=9, fontweight="bold")


def words_for(n_rounds: int) -> str:
    """The title of a round."""
    return f"after {n_rounds} round{'' if n_rounds == 1 else 's'}"
