"""Learning curves with the round that was settled on, and the candidates of the flagship's own choice."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..inspection.curves import RISK, Curve, LearningCurves, learning_curves
from ..selection import Choice
from ._axes import one_axes
from ._style import GREY, PALETTE, SMALL, legend_beside, line_style, whole_numbers

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
    >>> from simplexboost.plotting import plot_learning_curves
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SimplexBoostClassifier(n_estimators=30, random_state=0)
    >>> ax = plot_learning_curves(clf.fit(X[::2], y[::2], eval_set=(X[1::2], y[1::2])))
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
    >>> from simplexboost.plotting import plot_candidates
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
        ax.annotate(words_for(candidate, won), (candidate["risk"], place), (9, 0), **WORDS)
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


def words_for(candidate: dict[str, Any], won: bool) -> str:
    """What is written beside a candidate."""
    rounds = f"{candidate['n_estimators']} of {candidate['n_tried']} rounds, temperature {candidate['temperature']:.2f}"
    return f"{candidate['risk']:.4f}{', chosen' if won else ''}\n{rounds}"


def described(params: dict[str, Any]) -> str:
    """Parameters as they would be written in a call, a line each."""
    return "\n".join(f"{name}={value!r}" for name, value in params.items()) or "the only candidate"
