"""Plots of fits: learning curves, candidate parameters, margins, and scores against seconds of fitting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._util.arrays import Array
from ..._util.params import check_choice
from ...classifiers.search import Choice
from ..curves import RISK, Curve, LearningCurves, chosen_rounds, learning_curves, margins_over_rounds
from .style import (
    GREY,
    LINES,
    MARKERS,
    PALETTE,
    SMALL,
    legend_beside,
    line_style,
    one_axes,
    plain,
    shades,
    whole_numbers,
)

WIDE = 20.0  # curves whose values differ by more than this factor are drawn on a logarithmic axis
LOOKS = {"training": 0, "held out": 2}  # their line styles
EVALUATED = (1, 3, 4, 5)  # those of evaluated rows, one after the other


def plot_learning_curves(clf: Any, metric: str = RISK, *, log: bool | str = "auto", ax: Any = None) -> Any:
    """The risk or a metric after every round, on all rows that were followed, with the chosen round.

    Parameters
    ----------
    clf : fitted booster
        The model.
    metric : str, default=RISK
        "risk", or the name of a metric of ``eval_metric``.
    log : bool or "auto", default="auto"
        Whether the values have a logarithmic axis; "auto" means if they differ by more than a factor of 20.
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
    >>> from simplexboost.evaluate.plots import plot_learning_curves
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=30, random_state=0)
    >>> ax = plot_learning_curves(clf.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2]))
    >>> [line.get_label() for line in ax.lines[:2]]
    ['training', 'evaluated']
    """
    found = learning_curves(clf)
    curves = found.of(metric)
    if log not in (True, False, "auto"):
        raise ValueError(f"log={log!r} must be True, False or 'auto'.")
    ax = one_axes(ax, figsize=(7.0, 4.2))
    evaluated = [curve.name for curve in curves if curve.name not in LOOKS]
    for curve in curves:
        look = LOOKS.get(curve.name)
        style = line_style(EVALUATED[evaluated.index(curve.name) % len(EVALUATED)] if look is None else look)
        ax.plot(curve.rounds, curve.values, label=curve.name, linewidth=1.6, **style)
    mark_chosen(ax, found, curves)
    values = np.concatenate([curve.values for curve in curves])
    if log is True or (log == "auto" and is_wide(values)):
        ax.set_yscale("log")
    ax.set(xlabel="rounds", ylabel=metric.replace("_", " "))
    ax.margins(x=0.02)
    whole_numbers(ax)
    legend_beside(ax)
    return ax


def is_wide(values: Array) -> bool:
    """Whether positive values differ by a large factor."""
    return bool(values.min() > 0 and values.max() / values.min() > WIDE)


def mark_chosen(ax: Any, found: LearningCurves, curves: list[Curve]) -> None:
    """A line at the chosen round, and a point where it meets the curve that decided."""
    if found.chosen is None:
        return
    words = f"round {found.chosen},\n{found.why}"
    ax.axvline(found.chosen, color=GREY, linewidth=1.0, linestyle=":", label=words, zorder=0)
    deciding = next((curve for curve in curves if curve.name != "training"), None)
    if deciding is not None:
        place = int(np.abs(np.asarray(deciding.rounds) - found.chosen).argmin())
        ax.plot(deciding.rounds[place], deciding.values[place], "o", color=PALETTE[2], markersize=6, zorder=4)


def plot_candidates(choice: Any, *, ax: Any = None) -> Any:
    """The candidates among which the flagship chose, by their held-out risk; the winner is marked.

    Parameters
    ----------
    choice : SimplexBoostClassifier or Choice
        A fitted classifier that has chosen something, or its ``choice_``.
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
    >>> from simplexboost.evaluate.plots import plot_candidates
    >>> clf = SimplexBoostClassifier(learning_rate=0.3, random_state=0).fit(*load_iris(return_X_y=True))
    >>> ax = plot_candidates(clf)
    >>> len(ax.get_yticks()) == len(clf.choice_.candidates)
    True
    """
    found = choice_of(choice)
    candidates = sorted(found.candidates, key=lambda candidate: -candidate["risk"])  # the best on top
    ax = one_axes(ax, figsize=(8.0, 1.3 + 0.55 * len(candidates)))
    best = min(candidate["risk"] for candidate in candidates)
    for place, candidate in enumerate(candidates):
        won = candidate["params"] == found.params
        ax.plot([best, candidate["risk"]], [place, place], color=GREY, linewidth=1.0, zorder=0)
        style = {"color": PALETTE[2], "marker": "D"} if won else {"color": PALETTE[0], "marker": "o"}
        ax.plot(candidate["risk"], place, markersize=8, linestyle="none", label="_", **style)
        ax.annotate(candidate_label(candidate, won), (candidate["risk"], place), (9, 0), **WORDS)
    ax.set_yticks(range(len(candidates)), [described(candidate["params"]) for candidate in candidates], fontsize=SMALL)
    splits = f"{found.n_splits} split{'' if found.n_splits == 1 else 's'}"
    of = f"a sample of {found.n_sample} rows" if found.n_sample else f"{found.n_held} rows"
    ax.set(xlabel=f"held-out risk ({of}, {splits})")
    ax.set_ylim(-0.6, len(candidates) - 0.4)
    spread = max(candidate["risk"] for candidate in candidates) - best
    ax.set_xlim(best - 0.08 * (spread or best), best + 1.9 * (spread or best))
    return ax


WORDS: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL}


def choice_of(choice: Any) -> Choice:
    """The choice of a classifier, or the choice itself."""
    if isinstance(choice, Choice):
        return choice
    check_is_fitted(choice)
    if not isinstance(getattr(choice, "choice_", None), Choice):
        raise ValueError(
            f"this {type(choice).__name__} has chosen nothing; SimplexBoostClassifier chooses where n_estimators or "
            "calibration is left to it."
        )
    return choice.choice_


def candidate_label(candidate: dict[str, Any], won: bool) -> str:
    """What is written beside a candidate."""
    rounds = f"{candidate['n_estimators']} of {candidate['n_tried']} rounds, temperature {candidate['temperature']:.2f}"
    return f"{candidate['risk']:.4f}{', chosen' if won else ''}\n{rounds}"


def described(params: dict[str, Any]) -> str:
    """Parameters as they would be written in a call, a line each."""
    return "\n".join(f"{name}={value!r}" for name, value in params.items()) or "the only candidate"


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
    >>> from simplexboost.evaluate.plots import plot_margins
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
            "label": margin_label(t, values),
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


def margin_label(n_rounds: int, margins: Array) -> str:
    """The rounds, and how many rows have no positive margin."""
    return f"{n_rounds} round{'' if n_rounds == 1 else 's'}: {100 * (margins <= 0).mean():.1f} % errors"


def plot_race(
    curves: Mapping[str, Any],
    *,
    ylabel: str = "test accuracy",
    highlight: str | None = None,
    ax: Any = None,
) -> Any:
    """A curve for every contestant: seconds across on a logarithmic axis, and a score or a loss upwards.

    Parameters
    ----------
    curves : mapping of pairs
        For every name a pair (seconds, values) of arrays of the same length.
    ylabel : str, default="test accuracy"
        What the values are.
    highlight : str or None, default=None
        The name of a contestant that gets a wide line; None takes the first.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the picture.

    Examples
    --------
    >>> from simplexboost.evaluate.plots import plot_race
    >>> ax = plot_race({"ours": ([0.1, 1.0], [0.8, 0.97]), "other": ([0.3, 4.0], [0.7, 0.96])})
    >>> ax.get_xscale(), [line.get_label() for line in ax.lines[::2]]
    ('log', ['ours', 'other'])
    """
    checked = {str(name): check_curve(str(name), pair) for name, pair in curves.items()}
    if not checked:
        raise ValueError("curves is empty; pass at least one contestant.")
    names = list(checked)
    first = names[0] if highlight is None else highlight
    if first not in checked:
        raise ValueError(f"highlight={first!r} is no contestant; choose one of {', '.join(map(repr, checked))}.")
    ax = one_axes(ax, figsize=(7.0, 4.2))
    others = [name for name in checked if name != first]
    for number, name in enumerate([first, *others]):
        draw_curve(ax, name, *checked[name], number)
    ax.set(xscale="log", xlabel="seconds of fitting", ylabel=ylabel)
    legend_beside(ax)
    return ax


def check_curve(name: str, pair: Any) -> tuple[Array, Array]:
    """Seconds and values, (m,) each."""
    try:
        seconds, values = (np.asarray(part, dtype=np.float64) for part in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(f"curves[{name!r}] must be a pair (seconds, values) of arrays of numbers.") from error
    if seconds.ndim != 1 or seconds.shape != values.shape or len(seconds) == 0:
        raise ValueError(
            f"curves[{name!r}] has shapes {seconds.shape} and {values.shape}; pass two of the same length."
        )
    if not (seconds > 0).all():
        raise ValueError(f"curves[{name!r}] must have seconds above 0; the axis is logarithmic.")
    return seconds, values


def draw_curve(ax: Any, name: str, seconds: Array, values: Array, number: int) -> None:
    """A line, and a marker where it ends."""
    style = line_style(number)
    width = 2.8 if number == 0 else 1.5
    ax.plot(seconds, values, label=plain(name), linewidth=width, zorder=3 if number == 0 else 2, **style)
    marker = MARKERS[number % len(MARKERS)]
    ax.plot(seconds[-1], values[-1], marker, color=PALETTE[number % len(PALETTE)], markersize=6, zorder=4)
