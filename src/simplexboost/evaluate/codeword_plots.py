"""Pictures in the space of codewords: the codewords, contours of a loss, and the predictor f(x) over the rounds.

Boosting starts at the origin and pushes the predictions of every class along its codeword. Loss contours are Figure 3
of Saberian and Vasconcelos (2019), the predictor among the codewords is their Figure 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.params import check_number, resolve
from ..explain.explained_classes import check_booster, check_not_merged
from ..parts.codewords import as_codewords, min_distance
from ..parts.codewords.base import check_codewords
from ..parts.losses import LOSSES, Loss
from ..tables.frames import take_rows
from .confusion import check_labels, class_means
from .curves import chosen_rounds, labels_among, predictors_over_rounds
from .drawing import (
    GREY,
    INK,
    MOST_IN_LEGEND,
    MOST_ROWS,
    PALE,
    PALETTE,
    SMALL,
    class_places,
    class_style,
    documented,
    label_points,
    lay_out,
    legend_beside,
    one_axes,
    picture,
    row_of_axes,
    short,
    some_rows,
)

MOST_NAMED = 40  # more codewords are points without lines and names
MOST_EDGES = 60  # of more codewords the nearest are not joined


@picture
def plot_codewords(codewords: Any, K: int | None = None, *, labels: Any = None, ax: Any = None) -> Any:
    """Draw codewords in the plane or in space: lines from the origin, and between the nearest neighbours.

    Figures 1 and 2 of Saberian and Vasconcelos (2019).

    Parameters
    ----------
    codewords : array of shape (K, d), fitted booster, str or Codewords
        The codewords, in up to three dimensions: a matrix, those of a booster, or a set by its name, such as
        ``"simplex"``, or as a part, such as ``MaxMin(code_dim=2)``.
    K : int or None, default=None
        The number of classes, if a set is given.
    labels : sequence or None, default=None
        The names of the classes; None takes those of the booster, or 1 .. K.
    ax : matplotlib Axes or None, default=None
        Where to draw, in three dimensions if the codewords have three; None makes a new figure.

    Examples
    --------
    >>> ax = plot_codewords("simplex", 3)
    >>> [text.get_text() for text in ax.texts]
    ['1', '2', '3']
    """
    Y, names = matrix_and_names(codewords, K, labels)
    d = Y.shape[1]
    if d > 3:
        raise ValueError(
            f"the codewords have {d} dimensions; a picture has 2 or 3. Pass codewords of few dimensions, such as "
            "MaxMin(code_dim=3), or draw predictions with plot_predictor."
        )
    return draw_solid(Y, names, ax) if d == 3 else draw_flat(Y, names, ax)


def matrix_and_names(codewords: Any, K: int | None, labels: Any) -> tuple[Array, list[str]]:
    """Return the codewords (K, d) of a matrix, a rule or a booster, and the names of the classes."""
    names = None
    if hasattr(codewords, "fit"):
        check_is_fitted(codewords)
        check_not_merged(codewords)
        Y, names = codewords.model_.Y.astype(np.float64), codewords.classes_[codewords.present_].tolist()
    elif isinstance(codewords, list | tuple | np.ndarray):
        Y = check_codewords(codewords)
    else:
        rule = as_codewords(codewords)
        if K is None:
            raise ValueError(f"codewords={codewords!r} is a rule for any number of classes; pass K, too.")
        check_number("K", K, int, 2)
        Y = rule.matrix(K, np.random.default_rng(0))
    names = names if labels is None else labels
    words = [short(name) for name in (range(1, len(Y) + 1) if names is None else names)]
    if len(words) != len(Y):
        raise ValueError(f"labels has {len(words)} entries; there are {len(Y)} codewords.")
    return Y, words


def nearest_pairs(Y: Array) -> list[tuple[int, int]]:
    """Return the pairs of codewords at the smallest distance, or within a thousandth of it; none for many codewords."""
    if len(Y) > MOST_EDGES:
        return []
    squared = ((Y[:, None] - Y) ** 2).sum(axis=2)
    rows, columns = np.nonzero(squared <= min_distance(Y) * 1.002 + 1e-12)
    return [(k, m) for k, m in zip(rows.tolist(), columns.tolist(), strict=True) if k < m]


def draw_flat(Y: Array, names: list[str], ax: Any) -> Any:
    """Draw codewords of one or two dimensions."""
    ax = one_axes(ax, figsize=(4.8, 4.6))
    points = np.column_stack([Y, np.zeros((len(Y), 2 - Y.shape[1]))])
    norms = np.linalg.norm(points, axis=1)
    if np.allclose(norms, norms[0]):
        around = np.linspace(0.0, 2 * np.pi, 200)
        ax.plot(norms[0] * np.cos(around), norms[0] * np.sin(around), color=PALE, linewidth=1, zorder=0)
    for pair in nearest_pairs(points):
        ax.plot(*points[list(pair)].T, color=GREY, linewidth=0.8, zorder=1)
    reach = float(np.abs(points).max()) * (1.3 if len(Y) <= MOST_NAMED else 1.1) or 1.0
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal", adjustable="box")
    for k, point in enumerate(points):
        draw_word(ax, point, k, len(Y))
    ax.set(xlabel="$y_1$", ylabel="$y_2$" if Y.shape[1] > 1 else "")
    ax.set_title(title_of(Y), fontsize="medium")
    if Y.shape[1] == 1:
        ax.set_yticks([])
    if len(Y) <= MOST_NAMED:
        name_words(ax, points, names)
    return ax


def draw_word(ax: Any, point: AnyArray, k: int, K: int) -> None:
    """Draw a codeword as a point, with a line from the origin if there are few."""
    style = class_style(k) if K <= MOST_NAMED else {"color": class_style(0)["color"], "marker": "o"}
    if K <= MOST_NAMED:
        ax.plot(*np.stack([0 * point, point], axis=1), color=style["color"], linewidth=1.2, zorder=2)
    ax.plot(*point[:, None], linestyle="none", markersize=6 if K <= MOST_NAMED else 3, zorder=3, **style)


def name_words(ax: Any, points: AnyArray, names: list[str]) -> None:
    """Write names beyond the codewords, seen from the origin; a name without room is left out."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    def pixels(point: AnyArray) -> Any:  # texts in space know their place only while they are drawn
        return ax.transData.transform(point if len(point) == 2 else proj_transform(*point, ax.get_proj())[:2])

    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12)
    beyond = points * (1 + 0.14 * np.abs(points).max() / lengths)[:, None]
    lay_out(ax)
    boxes: list[Any] = []
    for point, name in zip(beyond, names, strict=True):
        (x, y), va, below = pixels(point), "center", 0.5
        if len(point) == 3:  # above or below its place, because the codeword may point at the reader
            va, below = ("bottom", 0.0) if y >= pixels(0 * point)[1] else ("top", 1.0)
        text = ax.text(*point, name, ha="center", va=va, fontsize=SMALL + 1, color=INK)
        size = text.get_window_extent()
        box = Bbox.from_bounds(x - size.width / 2, y - below * size.height, size.width, size.height)
        if any(box.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(box)


def draw_solid(Y: Array, names: list[str], ax: Any) -> Any:
    """Draw codewords of three dimensions, within the sphere on which they lie."""
    ax = one_axes(ax, subplot_kw={"projection": "3d"}, figsize=(5.2, 5.0))
    if ax.name != "3d":
        raise ValueError("ax is flat, and the picture has three dimensions; pass axes made with projection='3d'.")
    radius = float(np.linalg.norm(Y, axis=1).max())
    around = np.linspace(0.0, 2 * np.pi, 120)
    circle = radius * np.stack([np.cos(around), np.sin(around), 0 * around])
    for turn in ([0, 1, 2], [2, 0, 1], [0, 2, 1]):
        ax.plot(*circle[turn], color=PALE, linewidth=0.8)
    for pair in nearest_pairs(Y):
        ax.plot(*Y[list(pair)].T, color=GREY, linewidth=0.8)
    if len(Y) <= MOST_NAMED:
        for k, y in enumerate(Y):
            draw_word(ax, y, k, len(Y))
    else:
        ax.scatter(*Y.T, s=9, color=class_style(0)["color"], linewidths=0)  # paler at the back
    ends, ticks = (-1.1 * radius, 1.1 * radius), [-radius, 0.0, radius]
    ax.set(xlim=ends, ylim=ends, zlim=ends, xticks=ticks, yticks=ticks, zticks=ticks)
    ax.set_title(title_of(Y), fontsize="medium")
    for which in (ax.xaxis, ax.yaxis, ax.zaxis):
        which.set_major_formatter("{x:.2g}")
    ax.set(xlabel="$y_1$", ylabel="$y_2$", zlabel="$y_3$")
    ax.set_box_aspect((1, 1, 1), zoom=0.88)
    if len(Y) <= MOST_NAMED:
        name_words(ax, Y, names)
    return ax


def title_of(Y: Array) -> str:
    """Return the number of codewords, and how far apart they are."""
    return f"{len(Y)} codewords, smallest squared distance {min_distance(Y):.3g}"


GRID = 161  # points along an axis


@picture
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
    """Draw lines of equal loss over predictions f in the plane, with the codewords and the boundaries of the classes.

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
        The number of lines, about.

    Examples
    --------
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
    ax = one_axes(ax, figsize=(5.4, 4.8))
    lines = ax.contour(side, side, log_losses(found, Y, side, true), levels=levels, cmap="viridis", linewidths=1.0)
    ax.figure.colorbar(lines, ax=ax, label="logarithm of the loss", shrink=0.85)
    draw_boundaries(ax, Y, side)
    for k, y in enumerate(Y):
        style = {"arrowstyle": "-|>", "color": INK, "linewidth": 2.6 if k == true else 1.3, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", y, (0.0, 0.0), arrowprops=style)
        place = y * (1 + 0.12 * reach / max(float(np.linalg.norm(y)), 1e-12))
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        ax.text(*place, names[k], ha="center", va="center", fontsize=SMALL + 1, bbox=box)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="$f_1$", ylabel="$f_2$")
    ax.set_aspect("equal")
    ax.set_title(f"{type(found).__name__}, class {names[true]} is true")
    return ax


def log_losses(loss: Loss, Y: Array, side: Array, true: int) -> Array:
    """Return the logarithm of the loss on a grid, (m, m)."""
    F = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (m², 2)
    values = loss.log_value(0.5 * F @ Y.T, np.full(len(F), true))
    return values.reshape(len(side), len(side))


def draw_boundaries(ax: Any, Y: Array, side: Array) -> None:
    """Draw lines where the class with the highest score changes."""
    F = np.stack(np.meshgrid(side, side), axis=-1)
    scores = F @ Y.T  # (m, m, K)
    for k in range(len(Y) - 1):  # the boundary of class k with those after it, where no class before it is better
        after = scores[..., k + 1 :].max(axis=-1)
        before = scores[..., :k].max(axis=-1, initial=-np.inf)
        lead = np.ma.masked_where(np.maximum(scores[..., k], after) < before, scores[..., k] - after)
        if lead.count():
            ax.contour(side, side, lead, [0.0], colors=PALETTE[2], linewidths=1.2, linestyles="--")


MOST_RAYS = 40  # more codewords are not drawn; of projected ones, which say less, a dozen
MOST_NAMES = 40  # of more classes only some have names
MOST_COLOURED = 40  # of more classes, six are coloured: hundreds of colours and markers cannot be told apart


@dataclass(frozen=True, eq=False)
class Scene:
    """The points and rays of pictures of a predictor, in the plane."""

    F: Array  # (T, n, 2) predictors after some rounds
    rays: Array  # (K, 2) directions of the codewords
    c: Labels  # (n,) classes of the rows
    names: list[str]  # (K,) of the classes
    shown: Labels  # (D,) the numbers of the classes that are coloured
    projected: bool  # whether the predictor has more than two dimensions


@picture
def plot_predictor(
    clf: Any, X: Any, y: Any, rounds: Any = None, *, classes: Any = None, most: int = MOST_ROWS, ax: Any = None
) -> Any:
    """Draw the predictor f(x) of labelled rows in the plane, with the directions of the codewords.

    Where the predictor has more than two dimensions, it is projected on the plane in which the means of the classes
    differ most. Panels of several numbers of rounds have the same scale.

    Parameters
    ----------
    rounds : int, sequence of int or None, default=None
        A number from 0 to ``clf.n_iter_``, or several ascending ones for a panel each; None takes all rounds.
    classes : list of labels or None, default=None
        The classes to be coloured, while all others are grey; None colours all of up to 40 classes, and of more six
        that lie far apart.
    ax : matplotlib Axes, list of them or None, default=None
        Where to draw, one for every panel; None makes a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import CDMCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CDMCBoostClassifier(n_estimators=20).fit(X, y)
    >>> plot_predictor(clf, X, y).get_title(), [ax.get_title() for ax in plot_predictor(clf, X, y, [1, 10])]
    ('after 20 rounds', ['after 1 round', 'after 10 rounds'])
    """
    chosen = chosen_rounds(clf, rounds, 1)
    scene = make_scene(clf, X, y, chosen, classes, most)
    width = 6.0 if len(chosen) == 1 else 3.6 * len(chosen) + 1.2
    axes = row_of_axes(ax, len(chosen), figsize=(width, 4.6 if len(chosen) == 1 else 3.9))
    for place, panel in enumerate(axes):
        draw_scene(panel, scene, place)
        panel.set_title(title_of_round(chosen[place]))
        if place:
            panel.set_ylabel("")
    name_classes(axes[-1], scene, len(chosen) - 1)
    return axes if np.ndim(rounds) else axes[0]


@documented
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
    """Animate the predictor f(x), which moves outward from the origin round by round.

    Parameters
    ----------
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a picture each; None takes 0 and up to 40 others, more of the
        early ones.
    classes : list of labels or None, default=None
        The classes to be coloured, while all others are grey; None colours all of up to 40 classes, and of more six
        that lie far apart.
    interval : int, default=150
        The number of milliseconds between pictures.

    Returns
    -------
    matplotlib animation
        Keep it, and save it with ``animation.save("f.gif", writer="pillow")`` or show it in a notebook with
        ``animation.to_jshtml()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from simplexboost import CDMCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> animation = animate_predictor(CDMCBoostClassifier(n_estimators=20).fit(X, y), X, y, [0, 1, 2])
    >>> "<img" in animation.to_jshtml()
    True
    """
    check_booster(clf)
    ax = one_axes(ax, figsize=(6.0, 4.6))
    from matplotlib.animation import FuncAnimation

    chosen = [*([0] if rounds is None else []), *chosen_rounds(clf, rounds, 40)]
    scene = make_scene(clf, X, y, chosen, classes, most)
    lines = draw_scene(ax, scene, 0)
    name_classes(ax, scene, len(chosen) - 1)
    title = ax.set_title(title_of_round(chosen[0]))

    def update(place: int) -> list[Any]:
        for line, rows in lines:
            line.set_data(*scene.F[place][rows].T)
        title.set_text(title_of_round(chosen[place]))
        return [*(line for line, _ in lines), title]

    return FuncAnimation(ax.figure.figure, update, frames=len(chosen), interval=interval)


def make_scene(clf: Any, X: Any, y: Any, rounds: list[int], classes: Any, most: int) -> Scene:
    """Return the predictors of rows after some rounds, and the codewords, in the plane."""
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
    """Choose points (K, 2): the farthest from the origin, then again and again the farthest from the chosen ones."""
    here = np.flatnonzero(~np.isnan(points).any(axis=1))
    points = points[here]
    chosen = [int(np.linalg.norm(points, axis=1).argmax())]
    nearest = np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(nearest.argmax()))
    return np.unique(here[chosen])


def plane_of(F: Array, y: AnyArray, classes: AnyArray) -> Array:
    """Return two directions (d, 2): the coordinates, or those along which the means of the classes differ most."""
    d = F.shape[1]
    if d <= 2:
        return np.eye(d, 2)
    means = class_means(F, y, classes)
    means = means[~np.isnan(means).any(axis=1)]
    _, _, V = np.linalg.svd(means - means.mean(axis=0), full_matrices=True)
    return V[:2].T


def draw_scene(ax: Any, scene: Scene, place: int) -> list[tuple[Any, AnyArray]]:
    """Draw the points of one round and the codewords; return the lines of points with the rows that they show."""
    points = scene.F.reshape(-1, 2)
    points = points[np.isfinite(points).all(axis=1)]
    if scene.projected:  # limits that just hold all points and the origin
        points = np.vstack([points, np.zeros((1, 2))])
        low, high = points.min(axis=0), points.max(axis=0)
        room = 0.06 * max(float((high - low).max()), 1e-9)
        ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
    else:  # the same in both directions
        reach = float(np.abs(points).max(initial=0.0)) * 1.08 or 1.0
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_aspect("equal", adjustable="box")
    reach, F = float(np.abs([ax.get_xlim(), ax.get_ylim()]).max()), scene.F[place]
    size = 4.5 if len(F) < 600 else 3.5
    lines = []
    others = np.flatnonzero(~np.isin(scene.c, scene.shown))
    if len(others):
        style = {"color": PALE, "markersize": 0.7 * size, "markeredgewidth": 0, "zorder": 1, "label": "others"}
        lines.append((ax.plot(*F[others].T, "o", **style)[0], others))
    for number, k in enumerate(scene.shown.tolist()):
        # Few classes look the same in every picture; of many, those that are shown must not look like each other.
        looks = class_style(k if len(scene.names) <= MOST_IN_LEGEND else number)
        rows = np.flatnonzero(scene.c == k)
        length = float(np.abs(scene.rays[k]).max())
        if len(scene.shown) <= (MOST_IN_LEGEND if scene.projected else MOST_RAYS) and length > 1e-9:
            end = scene.rays[k] * reach / length  # at the edge of the picture
            ax.plot([0, end[0]], [0, end[1]], linestyle="--", linewidth=1, color=looks["color"], zorder=0)
        large = 1.4 * size if len(others) else size
        style = {"linestyle": "none", "markersize": large, "markeredgewidth": 0, "alpha": 0.75, "zorder": 2}
        lines.append((ax.plot(*F[rows].T, label=short(scene.names[k]), **style, **looks)[0], rows))
    first, second = (f"{nth} principal axis of the class means" for nth in ("first", "second"))
    ax.set(xlabel=first if scene.projected else "$f_1$", ylabel=second if scene.projected else "$f_2$")
    return lines


def name_classes(ax: Any, scene: Scene, place: int) -> None:
    """Add a legend of few classes, or write the names of more at the means of their points."""
    shown = [k for k in scene.shown.tolist() if (scene.c == k).any()]
    if len(shown) <= MOST_IN_LEGEND:
        legend_beside(ax, markerscale=2)
        return
    means = np.array([scene.F[place][scene.c == k].mean(axis=0) for k in shown])
    far = np.argsort(-np.linalg.norm(means, axis=1), kind="stable")[:MOST_NAMES]  # where there is most room
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    label_points(ax, means[far], [scene.names[shown[k]] for k in far.tolist()], bbox=box, fontsize=9, fontweight="bold")


def title_of_round(n_rounds: int) -> str:
    """Return the title of a round."""
    return f"after {n_rounds} round{'' if n_rounds == 1 else 's'}"
