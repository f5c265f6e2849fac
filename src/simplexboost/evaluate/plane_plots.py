"""Plots in the plane: codewords, contours of a loss, the predictor f(x) over the rounds, and decision regions.

Boosting starts at the origin and moves the predictor of each row towards the codeword of its class. The plots are like
Figures 1 to 4 of Saberian and Vasconcelos (2019): codewords (1 and 2), loss contours (3), and the predictor (4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._util.arrays import AnyArray, Array, Labels
from .._util.docstrings import described
from .._util.params import check_number, resolve
from ..classifiers.prediction import check_booster
from ..explain.explained_classes import check_not_merged
from ..parts.codewords import as_codewords, min_distance
from ..parts.codewords.base import check_codewords
from ..parts.losses import LOSSES, Loss
from ..tables.frames import feature_names, take_rows
from ..tables.inputs import as_label_array
from ..tables.labels import class_numbers, known_label_numbers
from ..tables.validation import known_labels
from .confusion import check_same_length, class_means
from .curves import check_rounds, predictors_over_rounds
from .drawing import (
    GREY,
    INK,
    MOST_IN_LEGEND,
    MOST_ROWS,
    PALE,
    PALETTE,
    SMALL,
    class_style,
    escape_text,
    label_points,
    lay_out,
    legend_beside,
    one_axes,
    row_of_axes,
    sample_rows,
    write_label,
)

MOST_NAMED = 40  # of more classes only some have names, lines and colours of their own
MOST_EDGES = 60  # of more codewords the nearest are not joined


@described
def plot_codewords(codewords: Any, K: int | None = None, *, labels: Any = None, ax: Any = None) -> Any:
    """Draw codewords in the plane or in space, as lines from the origin; lines also join nearest codewords.

    Figures 1 and 2 of Saberian and Vasconcelos (2019) are such plots.

    Parameters
    ----------
    codewords : array of shape (K, d), fitted booster, str or Codewords
        The codewords, in up to three dimensions: a matrix, a fitted booster that has codewords, or a codeword set. A
        set is a name, such as ``"simplex"``, or an object, such as ``MaxMin(code_dim=2)``.
    K : int or None, default=None
        The number of classes; it is needed if ``codewords`` is a codeword set.
    labels : sequence or None, default=None
        The names of the classes; None takes the labels of the booster, or else 1 .. K.
    ax : matplotlib Axes or None, default=None
        Where to draw; codewords of three dimensions need 3D axes. None makes a new figure.

    Examples
    --------
    >>> ax = plot_codewords("simplex", 3)
    >>> [text.get_text() for text in ax.texts]
    ['1', '2', '3']
    """
    Y, names = read_codewords(codewords, K, labels)
    d = Y.shape[1]
    if d > 3:
        raise ValueError(
            f"the codewords have {d} dimensions; a picture has 2 or 3. Pass codewords of few dimensions, such as "
            "MaxMin(code_dim=3), or draw predictions with plot_predictor."
        )
    points = np.column_stack([Y, np.zeros((len(Y), max(0, 2 - d)))])
    ax = prepare_space(points, ax) if d == 3 else prepare_plane(points, ax)
    if len(Y) <= MOST_EDGES:  # join the nearest
        squared = ((points[:, None] - points) ** 2).sum(axis=2)
        for pair in np.argwhere(np.triu(squared <= min_distance(Y) * 1.002 + 1e-12, 1)):
            ax.plot(*points[pair].T, color=GREY, linewidth=0.8)
    if len(Y) <= MOST_NAMED:
        for k, point in enumerate(points):
            style = class_style(k)
            ax.plot(*np.stack([0 * point, point], axis=1), color=style["color"], linewidth=1.2, zorder=2)
            ax.plot(*point[:, None], linestyle="none", markersize=6, zorder=3, **style)
    elif d == 3:
        ax.scatter(*points.T, s=9, color=PALETTE[0], linewidths=0)  # paler at the back
    else:
        ax.plot(*points.T, "o", color=PALETTE[0], markersize=3, zorder=3)
    if d == 1:
        ax.set(ylabel="", yticks=[])
    ax.set_title(f"{len(Y)} codewords, smallest squared distance {min_distance(Y):.3g}", fontsize="medium")
    if len(Y) <= MOST_NAMED:
        name_codewords(ax, points, names)
    return ax


def read_codewords(codewords: Any, K: int | None, labels: Any) -> tuple[Array, list[str]]:
    """Return the codewords (K, d) of a matrix, a codeword set or a fitted booster, and the names of the classes."""
    names = None
    if hasattr(codewords, "fit"):
        check_is_fitted(codewords)
        check_not_merged(codewords)
        Y, names = codewords.model_.Y.astype(np.float64), codewords.classes_[codewords._present].tolist()
    elif isinstance(codewords, list | tuple | np.ndarray):
        Y = check_codewords(codewords)
    else:
        rule = as_codewords(codewords)
        if K is None:
            raise ValueError(f"codewords={codewords!r} is a rule for any number of classes; pass K, too.")
        check_number("K", K, int, 2)
        Y = rule.matrix(K, np.random.default_rng(0))
    names = names if labels is None else labels
    words = [write_label(name) for name in (range(1, len(Y) + 1) if names is None else names)]
    if len(words) != len(Y):
        raise ValueError(f"labels has {len(words)} entries; there are {len(Y)} codewords.")
    return Y, words


def prepare_plane(points: Array, ax: Any) -> Any:
    ax = one_axes(ax, figsize=(4.8, 4.6))
    norms = np.linalg.norm(points, axis=1)
    if np.allclose(norms, norms[0]):
        around = np.linspace(0.0, 2 * np.pi, 200)
        ax.plot(norms[0] * np.cos(around), norms[0] * np.sin(around), color=PALE, linewidth=1, zorder=0)
    reach = float(np.abs(points).max()) * (1.3 if len(points) <= MOST_NAMED else 1.1) or 1.0
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="$y_1$", ylabel="$y_2$")
    ax.set_aspect("equal", adjustable="box")
    return ax


def name_codewords(ax: Any, points: AnyArray, names: list[str]) -> None:
    """Write class names beyond the ends of the codewords; a name that would overlap another name is left out."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    def pixels(point: AnyArray) -> Any:  # texts in space are placed only while they are drawn
        return ax.transData.transform(point if len(point) == 2 else proj_transform(*point, ax.get_proj())[:2])

    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-12)
    beyond = points * (1 + 0.14 * np.abs(points).max() / lengths)[:, None]
    lay_out(ax)
    boxes: list[Any] = []
    for point, name in zip(beyond, names, strict=True):
        (x, y), va, below = pixels(point), "center", 0.5
        if len(point) == 3:  # above or below its place, because the codeword may point towards the viewer
            va, below = ("bottom", 0.0) if y >= pixels(0 * point)[1] else ("top", 1.0)
        text = ax.text(*point, name, ha="center", va=va, fontsize=SMALL + 1, color=INK)
        size = text.get_window_extent()
        box = Bbox.from_bounds(x - size.width / 2, y - below * size.height, size.width, size.height)
        if any(box.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(box)


def prepare_space(Y: Array, ax: Any) -> Any:
    ax = one_axes(ax, subplot_kw={"projection": "3d"}, figsize=(5.2, 5.0))
    if ax.name != "3d":
        raise ValueError("ax is flat, and the picture has three dimensions; pass axes made with projection='3d'.")
    radius = float(np.linalg.norm(Y, axis=1).max())
    around = np.linspace(0.0, 2 * np.pi, 120)
    circle = radius * np.stack([np.cos(around), np.sin(around), 0 * around])
    for turn in ([0, 1, 2], [2, 0, 1], [0, 2, 1]):
        ax.plot(*circle[turn], color=PALE, linewidth=0.8)
    ends, ticks = (-1.1 * radius, 1.1 * radius), [-radius, 0.0, radius]
    ax.set(xlim=ends, ylim=ends, zlim=ends, xticks=ticks, yticks=ticks, zticks=ticks)
    for which in (ax.xaxis, ax.yaxis, ax.zaxis):
        which.set_major_formatter("{x:.2g}")
    ax.set(xlabel="$y_1$", ylabel="$y_2$", zlabel="$y_3$")
    ax.set_box_aspect((1, 1, 1), zoom=0.88)
    return ax


@described
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
    """Draw contours of a loss over predictors f in the plane, with the codewords and the class boundaries.

    The contours of a good loss do not cross the boundary of the true class: then no wrong prediction costs less than a
    right one. From contour to contour the logarithm of the loss changes by the same step.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        The loss: a name, such as ``"exponential"`` or ``"own-score"``, or a loss object.
    codewords : array of shape (K, 2), fitted booster, str or Codewords, default="simplex"
        The codewords, in two dimensions: a matrix, a fitted booster with codewords, or a codeword set (name or object).
    K : int or None, default=3
        The number of classes; it is needed if ``codewords`` is a codeword set.
    true : int, default=0
        The class index of the true class.
    reach : float, default=2.0
        Both axes go from −reach to reach.
    levels : int, default=14
        The approximate number of contours.

    Examples
    --------
    >>> ax = plot_loss_contours("logistic")
    >>> ax.get_title()
    'Logistic, class 1 is true'
    """
    found = resolve(loss, LOSSES, Loss, "loss")
    Y, names = read_codewords(codewords, K, None)
    if Y.shape[1] != 2:
        raise ValueError(f"the codewords have {Y.shape[1]} dimensions; the plane of predictions has 2.")
    check_number("true", true, int, 0, len(Y) - 1)
    check_number("reach", reach, float, 0.0, open_low=True)
    check_number("levels", levels, int, 1)
    found.check(len(Y))
    side = np.linspace(-reach, reach, 161)
    ax = one_axes(ax, figsize=(5.4, 4.8))
    lines = ax.contour(side, side, log_losses(found, Y, side, true), levels=levels, cmap="viridis", linewidths=1.0)
    ax.figure.colorbar(lines, ax=ax, label="logarithm of the loss", shrink=0.85)
    scores = np.stack(np.meshgrid(side, side), axis=-1) @ Y.T  # (m, m, K)
    for k in range(len(Y) - 1):  # the boundary of class k with those after it, where no class before it is better
        after = scores[..., k + 1 :].max(axis=-1)
        before = scores[..., :k].max(axis=-1, initial=-np.inf)
        lead = np.ma.masked_where(np.maximum(scores[..., k], after) < before, scores[..., k] - after)
        if lead.count():
            ax.contour(side, side, lead, [0.0], colors=PALETTE[2], linewidths=1.2, linestyles="--")
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
    F = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (m², 2)
    values = loss.log_value(0.5 * F @ Y.T, np.full(len(F), true))
    return values.reshape(len(side), len(side))


@dataclass(frozen=True, eq=False)
class Scene:
    """The contents of a plot of the predictor: a point per row after each number of rounds, and codeword directions."""

    F: Array  # (T, n, 2) predictors after some rounds
    titles: list[str]  # (T,)
    rays: Array  # (K, 2) directions of the codewords
    c: Labels  # (n,) classes of the rows
    names: list[str]  # (K,) of the classes
    shown: Labels  # (D,) the numbers of the classes that are coloured
    projected: bool  # whether the predictor has more than two dimensions


@described
def plot_predictor(
    clf: Any, X: Any, y: Any, rounds: Any = None, *, classes: Any = None, most: int = MOST_ROWS, ax: Any = None
) -> Any:
    """Draw the predictor f(x) of labelled rows as points in the plane, with the directions of the codewords.

    A predictor of more than two dimensions is projected on the plane in which the class means differ most. Panels for
    several numbers of rounds have the same scale.

    Parameters
    ----------
    rounds : int, sequence of int or None, default=None
        A number from 0 to ``clf.n_iter_``, or ascending numbers with a panel each; None takes ``clf.n_iter_``.
    classes : list of labels or None, default=None
        The classes that are coloured; all other classes are grey. None colours all classes; if there are more than 40,
        it colours six that lie far apart.
    ax : matplotlib Axes, list of them or None, default=None
        Where to draw, one per panel; None makes a new figure.

    Examples
    --------
    >>> plot_predictor(clf, X, y).get_title(), [ax.get_title() for ax in plot_predictor(clf, X, y, [1, 10])]
    ('after 20 rounds', ['after 1 round', 'after 10 rounds'])
    """
    chosen = check_rounds(clf, rounds, 1)
    scene = make_scene(clf, X, y, chosen, classes, most)
    width = 6.0 if len(chosen) == 1 else 3.6 * len(chosen) + 1.2
    axes = row_of_axes(ax, len(chosen), figsize=(width, 4.6 if len(chosen) == 1 else 3.9))
    for place, panel in enumerate(axes):
        draw_scene(panel, scene, place)
        if place:
            panel.set_ylabel("")
    name_classes(axes[-1], scene, len(chosen) - 1)
    return axes if np.ndim(rounds) else axes[0]


@described
def animate_predictor(
    clf: Any,
    X: Any,
    y: Any,
    rounds: Any = None,
    *,
    classes: Any = None,
    most: int = MOST_ROWS,
    interval: int = 150,
    ax: Any = None,
) -> Any:
    """Animate the predictor f(x) of labelled rows, which moves outward from the origin round by round.

    Parameters
    ----------
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a frame each; None takes 0 and up to 40 others, most of them small.
    classes : list of labels or None, default=None
        The classes that are coloured; all other classes are grey. None colours all classes; if there are more than 40,
        it colours six that lie far apart.
    interval : int, default=150
        The milliseconds between two frames.

    Returns
    -------
    matplotlib animation
        The animation, which stops if no variable refers to it; save it with ``animation.save("f.gif",
        writer="pillow")`` or show it in a notebook with ``animation.to_jshtml()``.

    Examples
    --------
    >>> animation = animate_predictor(clf, X, y, [0, 1, 2])
    >>> "<img" in animation.to_jshtml()
    True
    """
    check_booster(clf)
    ax = one_axes(ax, figsize=(6.0, 4.6))
    from matplotlib.animation import FuncAnimation

    chosen = [*([0] if rounds is None else []), *check_rounds(clf, rounds, 40)]
    scene = make_scene(clf, X, y, chosen, classes, most)
    lines = draw_scene(ax, scene, 0)
    name_classes(ax, scene, len(chosen) - 1)

    def update(place: int) -> list[Any]:
        for line, rows in lines:
            line.set_data(*scene.F[place][rows].T)
        ax.set_title(scene.titles[place])
        return [*(line for line, _ in lines), ax.title]

    return FuncAnimation(ax.figure.figure, update, frames=len(chosen), interval=interval)


def make_scene(clf: Any, X: Any, y: Any, rounds: list[int], classes: Any, most: int) -> Scene:
    """Return the `Scene` of a plot: predictors of sampled rows after some rounds, and codewords, in the plane."""
    model = check_booster(clf)
    check_not_merged(clf)
    names = [str(label) for label in clf.classes_]
    chosen = np.arange(len(names)) if classes is None else class_numbers(classes, clf.classes_)
    c = known_labels(clf._to_host(y), _num_samples(X), clf.classes_)
    rows = sample_rows(len(c), most)
    c = c[rows]
    last = [model.n_rounds] if rounds[-1] != model.n_rounds else []
    F = predictors_over_rounds(clf, take_rows(X, rows), [*rounds, *last]).astype(np.float64)
    plane = np.eye(model.Y.shape[1], 2)  # (d, 2)
    if len(plane) > 2:  # the axes along which the means of the classes differ most
        means = class_means(F[-1], c, np.arange(len(names)))
        means = means[~np.isnan(means).any(axis=1)]
        plane = np.linalg.svd(means - means.mean(axis=0), full_matrices=True)[2][:2].T
    rays = np.full((len(names), 2), np.nan)
    rays[clf._present] = model.Y.astype(np.float64) @ plane
    F = F @ plane
    if classes is None and len(names) > MOST_NAMED:
        chosen = choose_far_apart(class_means(F[-1], c, np.arange(len(names))), len(PALETTE))
    titles = [f"after {t} round{'' if t == 1 else 's'}" for t in rounds]
    return Scene(F[: len(rounds)], titles, rays, c, names, chosen, model.Y.shape[1] > 2)


def choose_far_apart(points: Array, count: int) -> Labels:
    """Choose ``count`` of the points (K, 2), each the farthest from the points before; return the ascending indices."""
    known = np.flatnonzero(~np.isnan(points).any(axis=1))
    points = points[known]
    chosen = [int(np.linalg.norm(points, axis=1).argmax())]
    nearest = np.full(len(points), np.inf)
    for _ in range(min(count, len(points)) - 1):
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(nearest.argmax()))
    return np.unique(known[chosen])


def draw_scene(ax: Any, scene: Scene, place: int) -> list[tuple[Any, AnyArray]]:
    """Draw codewords and the predictors after one number of rounds; return pairs (matplotlib line, row indices)."""
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
        if len(scene.shown) <= (MOST_IN_LEGEND if scene.projected else MOST_NAMED) and length > 1e-9:
            end = scene.rays[k] * reach / length  # at the edge of the picture
            ax.plot([0, end[0]], [0, end[1]], linestyle="--", linewidth=1, color=looks["color"], zorder=0)
        large = 1.4 * size if len(others) else size
        style = {"linestyle": "none", "markersize": large, "markeredgewidth": 0, "alpha": 0.75, "zorder": 2}
        lines.append((ax.plot(*F[rows].T, label=write_label(scene.names[k]), **style, **looks)[0], rows))
    ax.set_title(scene.titles[place])
    first, second = (f"{nth} principal axis of the class means" for nth in ("first", "second"))
    ax.set(xlabel=first if scene.projected else "$f_1$", ylabel=second if scene.projected else "$f_2$")
    return lines


def name_classes(ax: Any, scene: Scene, place: int) -> None:
    """Add a legend if few classes are shown; else write the name of each class at the mean of its points."""
    shown = [k for k in scene.shown.tolist() if (scene.c == k).any()]
    if len(shown) <= MOST_IN_LEGEND:
        legend_beside(ax, markerscale=2)
        return
    means = np.array([scene.F[place][scene.c == k].mean(axis=0) for k in shown])
    far = np.argsort(-np.linalg.norm(means, axis=1), kind="stable")[:MOST_NAMED]  # where there is most room
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    label_points(ax, means[far], [scene.names[shown[k]] for k in far.tolist()], bbox=box, fontsize=9, fontweight="bold")


@described
@dataclass(frozen=True, eq=False)
class DecisionRegions:
    """The regions of the plane in which a classifier predicts each class, with labelled rows.

    Attributes
    ----------
    x, y : arrays of shape (m,)
        The m coordinates of a grid along the first and along the second feature.
    regions : int array of shape (m, m)
        The class index that is predicted at each grid point, with a row for every entry of y.
    classes : array of shape (K,)
        The class labels.
    names : tuple of two str
        The names of the two features.
    points : array of shape (n, 2) or None
        The labelled rows that are drawn; None draws no rows.
    c : int array of shape (n,) or None
        The class indices of these rows; None draws no rows.

    Examples
    --------
    >>> grid, regions = np.arange(2.0), np.array([[0, 0], [0, 1]])
    >>> DecisionRegions(grid, grid, regions, np.array(["a", "b"]), ("u", "v")).plot().get_xlabel()
    'u'
    """

    x: Array
    y: Array
    regions: Labels
    classes: AnyArray
    names: tuple[str, str]
    points: Array | None = None
    c: Labels | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, grid: int = 200, margin: float = 0.05
    ) -> DecisionRegions:
        """Predict the class of every point of a grid that encloses the rows.

        Parameters
        ----------
        X : array or data frame of shape (n, 2)
            The rows that the grid encloses.
        y : array of shape (n,) or None, default=None
            The labels of the rows; None draws no rows.
        grid : int, default=200
            The number of points along each axis.
        margin : float, default=0.05
            The distance of the rows to the edge of the grid, as a fraction of the range of each feature.
        """
        check_is_fitted(estimator)
        check_number("grid", grid, int, 2, 2000)
        check_number("margin", margin, float, 0.0)
        points, c = np.asarray(X), None
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X has shape {points.shape}; regions of the plane need two columns, (n, 2).")
        try:
            points = points.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("X must hold two columns of numbers; categories have no place in a plane.") from error
        if estimator.n_features_in_ != 2:
            raise ValueError(
                f"the classifier has {estimator.n_features_in_} features; regions of the plane need one of 2 features."
            )
        if y is not None:
            labels = as_label_array(y, "y")
            check_same_length(labels, points, "X")
            c = known_label_numbers(labels, estimator.classes_, "y")
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        room = np.where(high > low, margin * (high - low), 0.5)
        sides = np.linspace(low - room, high + room, grid).T
        places: Any = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        if hasattr(X, "iloc"):  # classifiers ask for the names that they were fitted with
            places = type(X)(places, columns=X.columns)
        predicted = np.asarray(estimator.predict(places))
        regions = known_label_numbers(predicted, estimator.classes_, "predict").reshape(grid, grid)
        first, second = feature_names(estimator)
        return cls(sides[0], sides[1], regions, estimator.classes_, (first, second), points, c)

    def plot(self, *, most: int = MOST_ROWS, ax: Any = None) -> Any:
        """Draw the regions in pale colours with lines between them, and the rows over them; return the axes.

        If there are many classes or no labelled rows, the class names are written inside the regions.
        """
        ax = one_axes(ax, figsize=(6.4, 4.8))
        from matplotlib.colors import to_rgb

        tints = np.array([0.72 + 0.28 * np.array(to_rgb(class_style(k)["color"])) for k in range(len(self.classes))])
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        ax.imshow(tints[self.regions], origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
        for k in np.unique(self.regions).tolist()[1:]:
            inside = (self.regions == k).astype(float)
            ax.contour(self.x, self.y, inside, [0.5], colors=INK, linewidths=0.6, zorder=1)
        if self.points is not None and self.c is not None:
            rows = sample_rows(len(self.points), most)
            points, c = self.points[rows], self.c[rows]
            style = {"linestyle": "none", "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.4}
            for k in np.unique(c).tolist():
                ax.plot(*points[c == k].T, label=write_label(self.classes[k]), zorder=2, **style, **class_style(k))
        if self.c is None or len(np.unique(self.regions)) > MOST_IN_LEGEND:
            name_regions(ax, self)
        else:
            legend_beside(ax, markerscale=1.5)
        first, second = (escape_text(name) for name in self.names)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]], xlabel=first, ylabel=second)
        return ax


def name_regions(ax: Any, found: DecisionRegions) -> None:
    """Write each class name where the region of the class is widest; leave out names that would overlap."""
    from scipy.ndimage import distance_transform_edt

    lay_out(ax)
    boxes: list[Any] = []
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for k in np.unique(found.regions).tolist():
        inside = np.pad(found.regions == k, 1)
        depth = distance_transform_edt(inside)[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        place = (found.x[column], found.y[row])
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "color": INK, "zorder": 3}
        text = ax.text(*place, write_label(found.classes[k]), bbox=box, **style)
        extent = text.get_window_extent()
        if any(extent.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(extent)
