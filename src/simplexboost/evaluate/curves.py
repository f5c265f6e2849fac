"""Learning curves over the rounds of a fit, predictors F and margins after some rounds, and plots of them.

A fit records the training risk, the metrics on evaluation sets, and the held-out risk that chose the number of rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._util.arrays import AnyArray, Array
from .._util.docstrings import described
from .._util.params import check_choice, check_number, is_auto
from ..classifiers.prediction import check_booster
from ..classifiers.search import Choice
from ..model.additive import add_terms
from ..parts import losses
from ..tables.validation import known_labels
from .drawing import (
    GREY,
    LINES,
    MARKERS,
    PALETTE,
    SMALL,
    escape_text,
    legend_beside,
    line_style,
    one_axes,
    pick_shades,
    set_whole_ticks,
)

RISK = "risk"
WIDE = 20.0  # curves whose values differ by more than this factor have a logarithmic axis
LOOKS = {"training": 0, "held out": 2}  # their line styles
EVALUATED = (1, 3, 4, 5)  # the line styles of evaluated rows, one after the other


@dataclass(frozen=True, eq=False)
class Curve:
    """A learning curve: a risk or a metric after every round, on some rows.

    Attributes
    ----------
    name : str
        The rows: "training", "held out", or "evaluated", with several evaluation sets "evaluated 1", "evaluated 2", …
    metric : str
        "risk" or the name of a metric.
    rounds : int array of shape (m,)
        The m numbers of rounds after which the values were computed.
    values : array of shape (m,)
        The risk or the metric after each of these numbers of rounds.

    Examples
    --------
    >>> Curve("training", "risk", np.arange(1, 4), np.array([0.5, 0.3, 0.2])).values[-1]
    np.float64(0.2)
    """

    name: str
    metric: str
    rounds: AnyArray
    values: Array


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """The learning curves that a fit has recorded, and the number of rounds that was chosen.

    Attributes
    ----------
    curves : list of Curve
        All learning curves.
    n_rounds : int
        The number of rounds of the fitted model.
    chosen : int or None
        The number of rounds that early stopping or the model itself has chosen, or else the best number on the
        evaluation sets, or else None.
    why : str
        How ``chosen`` was determined, in a few words.

    Examples
    --------
    >>> risk = Curve("training", "risk", np.arange(1, 4), np.array([0.5, 0.3, 0.2]))
    >>> LearningCurves([risk], 3, None, "").metrics
    ['risk']
    """

    curves: list[Curve]
    n_rounds: int
    chosen: int | None
    why: str

    @property
    def metrics(self) -> list[str]:
        """The names of the recorded metrics; "risk" is the first if it was recorded."""
        names = list(dict.fromkeys(curve.metric for curve in self.curves))
        return sorted(names, key=lambda name: name != RISK)

    def of(self, metric: str) -> list[Curve]:
        """Return the learning curves of one metric; raise if the metric was not recorded."""
        if not self.curves:
            raise ValueError("the fit has kept no round, so that there are no curves.")
        if metric not in self.metrics:
            known = ", ".join(map(repr, self.metrics))
            raise ValueError(f"metric={metric!r} was not recorded; choose one of {known}.")
        return [curve for curve in self.curves if curve.metric == metric]


@described
def learning_curves(clf: Any) -> LearningCurves:
    """Return the learning curves of a fitted booster, read from ``history_``, ``evals_result_`` and ``choice_``.

    Examples
    --------
    >>> found = learning_curves(clf.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], eval_metric="error"))
    >>> [(curve.name, curve.metric) for curve in found.curves]
    [('training', 'risk'), ('evaluated', 'risk'), ('evaluated', 'error')]
    """
    check_is_fitted(clf)
    if not hasattr(clf, "history_"):
        raise TypeError(f"{type(clf).__name__} records no rounds; pass a fitted booster.")
    values = np.asarray(clf.history_.get(RISK, ()), dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values))
    curves = [Curve("training", RISK, known + 1, values[known])] if len(known) else []
    choice, results = getattr(clf, "choice_", None), getattr(clf, "evals_result_", None) or []
    if choice is not None and len(choice.curve.get("n_estimators", ())):
        rounds, held = (np.asarray(choice.curve[name]) for name in ("n_estimators", "calibrated"))
        curves.append(Curve("held out", RISK, rounds, held.astype(np.float64)))
    for i, result in enumerate(results):
        name = "evaluated" if len(results) == 1 else f"evaluated {i + 1}"
        for metric, found in result.items():
            curves.append(Curve(name, metric, np.arange(1, len(found) + 1), np.asarray(found, dtype=np.float64)))
    chosen, why = getattr(clf, "best_iteration_", None), ""
    if chosen is not None and getattr(clf, "early_stopping", False):
        why = "kept by early stopping"
    elif choice is not None and is_auto(getattr(clf, "n_estimators", "auto")):  # or only the temperature was chosen
        chosen, why = choice.n_estimators, "chosen by held-out risk"
    elif chosen is not None:
        why = "best of the evaluated rows"
    return LearningCurves(curves, int(clf.n_iter_), None if chosen is None else int(chosen), why)


def space_rounds(n_rounds: int, count: int = 5) -> list[int]:
    """Return at most ``count`` whole numbers from 1 to ``n_rounds``, approximately a geometric sequence."""
    if count == 1:
        return [n_rounds]
    return sorted({round(t) for t in np.geomspace(1, n_rounds, min(count, n_rounds))})


def check_rounds(clf: Any, rounds: Any, count: int = 5) -> list[int]:
    """Return ``rounds`` as a list, or ``count`` numbers for None; raise unless they ascend within 0 .. ``n_iter_``."""
    n_rounds = check_booster(clf).n_rounds
    if rounds is None and n_rounds > 0:
        return space_rounds(n_rounds, count)
    if rounds is None:
        why = "" if clf.stop_reason_ is None else f" ({clf.stop_reason_})"
        raise ValueError(
            f"this {type(clf).__name__} has no rounds to show{why}. Pass rounds=[0] to draw the predictor before the "
            "first round, which is zero everywhere."
        )
    rounds = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    if not rounds:
        raise ValueError("rounds is empty; pass at least one number of rounds.")
    for t in rounds:
        check_number("rounds", t, int, 0, n_rounds)
    if any(a >= b for a, b in pairwise(rounds)):
        raise ValueError(f"rounds={rounds} must be in ascending order, without repetitions.")
    return [int(t) for t in rounds]


@described
def predictors_over_rounds(clf: Any, X: Any, rounds: Any) -> AnyArray:
    """Return the predictor F of each row after some numbers of rounds, (len(rounds), n, d); after 0 rounds F is zero.

    Every tree is evaluated only once, however many numbers of rounds are given.

    Examples
    --------
    >>> predictors_over_rounds(clf, X, [0, 10, 20]).shape
    (3, 150, 3)
    """
    model = check_booster(clf)
    rounds = check_rounds(clf, rounds)
    checked, engine, terms = clf._check_X(X), clf._engine(), model.scaled_terms
    F = np.zeros((checked.shape[0], model.Y.shape[1]), dtype=model.dtype)  # (n, d)
    out = np.empty((len(rounds), *F.shape), dtype=model.dtype)
    ends, done = [0, *model.round_ends], 0
    for place, t in enumerate(rounds):
        if ends[t] > done:
            add_terms(terms[done : ends[t]], checked, F, engine)
            done = ends[t]
        out[place] = F
    return out


@described
def margins(clf: Any, X: Any, y: Any, rounds: Any = None) -> Array:
    """Return the margin U_c − max_{k≠c} U_k of every row, (n,), or after some numbers of rounds, (len(rounds), n).

    The margin is the score U_c of the true class c minus the highest score of another class. It is positive if the
    prediction is right, and larger if the classifier is more confident.

    Parameters
    ----------
    clf : fitted classifier
        A classifier of this package for one label per row; it must be a booster if ``rounds`` is given.
    rounds : int, sequence of int or None, default=None
        A number of rounds from 0 to ``clf.n_iter_``, or several, ascending; None computes the margins after all rounds.

    Examples
    --------
    >>> bool((margins(clf, X, y) > 0).mean() == clf.score(X, y))
    True
    >>> (margins(clf, X, y, [1, 20]) > 0).mean(axis=1).round(2).tolist()
    [0.98, 0.99]
    """
    check_is_fitted(clf)
    if rounds is not None:
        check_booster(clf)
        c = known_labels(clf._to_host(y), _num_samples(X), clf.classes_)
        return np.array([losses.margins(clf._scores(F), c) for F in predictors_over_rounds(clf, X, rounds)])
    clf._problem.check_one_class("margins takes models of one class per row; this one was fitted to several {several}.")
    U = clf.class_scores(X)
    return losses.margins(U, known_labels(clf._to_host(y), len(U), clf.classes_))


# ---- pictures -------------------------------------------------------------------------------------------------------


@described
def plot_learning_curves(clf: Any, metric: str = RISK, *, log: bool | str = "auto", ax: Any = None) -> Any:
    """Draw the risk or a metric over the rounds, for training rows and evaluation sets; mark the chosen round count.

    Parameters
    ----------
    metric : str, default="risk"
        "risk", or the name of a metric that ``fit`` got as ``eval_metric``.
    log : bool or "auto", default="auto"
        Whether the vertical axis is logarithmic; "auto" means True if the values differ by more than a factor of 20.

    Examples
    --------
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
    if found.chosen is not None:
        words = f"round {found.chosen},\n{found.why}"
        ax.axvline(found.chosen, color=GREY, linewidth=1.0, linestyle=":", label=words, zorder=0)
        deciding = next((curve for curve in curves if curve.name != "training"), None)
        if deciding is not None:
            place = int(np.abs(deciding.rounds - found.chosen).argmin())
            ax.plot(deciding.rounds[place], deciding.values[place], "o", color=PALETTE[2], markersize=6, zorder=4)
    values = np.concatenate([curve.values for curve in curves])
    if log is True or (log == "auto" and values.min() > 0 and values.max() / values.min() > WIDE):
        ax.set_yscale("log")
    ax.set(xlabel="rounds", ylabel=metric.replace("_", " "))
    ax.margins(x=0.02)
    set_whole_ticks(ax)
    legend_beside(ax)
    return ax


@described
def plot_candidates(choice: Any, *, ax: Any = None) -> Any:
    """Draw the held-out risk of each candidate set of parameters among which `SimplexBoostClassifier` has chosen.

    Parameters
    ----------
    choice : SimplexBoostClassifier or Choice
        A fitted classifier that has the attribute ``choice_``, or the value of this attribute.

    Examples
    --------
    >>> ax = plot_candidates(clf.set_params(n_estimators="auto", learning_rate=0.3).fit(X, y))
    >>> len(ax.get_yticks()) == len(clf.choice_.candidates)
    True
    """
    if not isinstance(choice, Choice):
        check_is_fitted(choice)
        if not isinstance(getattr(choice, "choice_", None), Choice):
            raise ValueError(
                f"this {type(choice).__name__} has chosen nothing; SimplexBoostClassifier chooses where n_estimators "
                "or calibration is left to it."
            )
        choice = choice.choice_
    candidates = sorted(choice.candidates, key=lambda candidate: -candidate["risk"])  # the best on top
    ax = one_axes(ax, figsize=(8.0, 1.3 + 0.55 * len(candidates)))
    best, worst = candidates[-1]["risk"], candidates[0]["risk"]
    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL}
    for place, found in enumerate(candidates):
        won, risk = found["params"] == choice.params, found["risk"]
        ax.plot([best, risk], [place, place], color=GREY, linewidth=1.0, zorder=0)
        style = {"color": PALETTE[2], "marker": "D"} if won else {"color": PALETTE[0], "marker": "o"}
        ax.plot(risk, place, markersize=8, linestyle="none", label="_", **style)
        rounds = f"{found['n_estimators']} of {found['n_tried']} rounds, temperature {found['temperature']:.2f}"
        ax.annotate(f"{risk:.4f}{', chosen' if won else ''}\n{rounds}", (risk, place), (9, 0), **beside)
    words = ["\n".join(f"{name}={value!r}" for name, value in found["params"].items()) for found in candidates]
    ax.set_yticks(range(len(words)), [word or "the only candidate" for word in words], fontsize=SMALL)
    splits = f"{choice.n_splits} split{'' if choice.n_splits == 1 else 's'}"
    of = f"a sample of {choice.n_sample} rows" if choice.n_sample else f"{choice.n_held} rows"
    ax.set(xlabel=f"held-out risk ({of}, {splits})")
    ax.set_ylim(-0.6, len(candidates) - 0.4)
    spread = (worst - best) or best
    ax.set_xlim(best - 0.08 * spread, best + 1.9 * spread)
    return ax


@described
def plot_margins(
    clf: Any, X: Any, y: Any, rounds: Any = None, *, kind: str = "cumulative", bins: int = 40, ax: Any = None
) -> Any:
    """Draw the distribution of the margins U_c − max_{k≠c} U_k of labelled rows, with a curve per number of rounds.

    The margin is the score of the true class c minus the highest score of another class. The height of a cumulative
    curve at margin zero is the fraction of errors. Figure 5 of Saberian and Vasconcelos (2019) has such histograms.

    Parameters
    ----------
    rounds : sequence of int or None, default=None
        Ascending numbers from 0 to ``clf.n_iter_``, a curve each; None takes five numbers, most of them small.
    kind : {"cumulative", "histogram"}, default="cumulative"
        Whether to draw cumulative distributions or histograms.
    bins : int, default=40
        The number of bins of each histogram.

    Examples
    --------
    >>> ax = plot_margins(clf, X, y, [1, 10, 20])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 round: 2.0 % errors', '10 rounds: 3.3 % errors', '20 rounds: 0.7 % errors']
    """
    check_choice("kind", kind, ("cumulative", "histogram"))
    chosen = check_rounds(clf, rounds)
    found = margins(clf, X, y, chosen)  # (T, n)
    ax = one_axes(ax, figsize=(7.0, 4.2))
    edges = np.histogram_bin_edges(found, bins)
    for place, (t, values, colour) in enumerate(zip(chosen, found, pick_shades(len(chosen)), strict=True)):
        words = f"{t} round{'' if t == 1 else 's'}: {100 * (values <= 0).mean():.1f} % errors"
        style = {"color": colour, "linestyle": LINES[place % len(LINES)], "linewidth": 1.6, "label": words}
        if kind == "cumulative":
            ax.step(np.sort(values), np.arange(1, len(values) + 1) / len(values), where="post", **style)
        else:
            ax.stairs(np.histogram(values, edges)[0], edges, **style)
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    ax.set(xlabel="margin", ylabel="share of rows with at most this margin" if kind == "cumulative" else "rows")
    ax.set_ylim(0.0, 1.0 if kind == "cumulative" else None)
    legend_beside(ax)
    return ax


@described
def plot_race(
    curves: Mapping[str, Any], *, ylabel: str = "test accuracy", highlight: str | None = None, ax: Any = None
) -> Any:
    """Draw a score or a loss over the seconds of fitting, with one curve for each of several competing models.

    Parameters
    ----------
    curves : mapping of pairs
        For the name of each model a pair of arrays (seconds, values) of the same length.
    ylabel : str, default="test accuracy"
        The label of the vertical axis, which says what the values are.
    highlight : str or None, default=None
        The name of the model whose curve is drawn wider; None takes the first model.

    Examples
    --------
    >>> ax = plot_race({"ours": ([0.1, 1.0], [0.8, 0.97]), "other": ([0.3, 4.0], [0.7, 0.96])})
    >>> ax.get_xscale(), [line.get_label() for line in ax.lines[::2]]
    ('log', ['ours', 'other'])
    """
    checked = {}
    for name, pair in curves.items():
        try:
            seconds, values = (np.asarray(part, dtype=np.float64) for part in pair)
        except (TypeError, ValueError) as error:
            raise ValueError(f"curves[{name!r}] must be a pair (seconds, values) of arrays of numbers.") from error
        if seconds.ndim != 1 or seconds.shape != values.shape or len(seconds) == 0:
            shapes = f"{seconds.shape} and {values.shape}"
            raise ValueError(f"curves[{name!r}] has shapes {shapes}; pass two of the same length.")
        if not (seconds > 0).all():
            raise ValueError(f"curves[{name!r}] must have seconds above 0; the axis is logarithmic.")
        checked[str(name)] = seconds, values
    if not checked:
        raise ValueError("curves is empty; pass at least one contestant.")
    first, *_ = checked if highlight is None else [highlight]
    if first not in checked:
        raise ValueError(f"highlight={first!r} is no contestant; choose one of {', '.join(map(repr, checked))}.")
    ax = one_axes(ax, figsize=(7.0, 4.2))
    for number, name in enumerate([first, *(name for name in checked if name != first)]):
        seconds, values = checked[name]
        look = {"linewidth": 2.8, "zorder": 3} if number == 0 else {"linewidth": 1.5, "zorder": 2}
        ax.plot(seconds, values, label=escape_text(name), **look, **line_style(number))
        marker, colour = MARKERS[number % len(MARKERS)], PALETTE[number % len(PALETTE)]
        ax.plot(seconds[-1], values[-1], marker, color=colour, markersize=6, zorder=4)
    ax.set(xscale="log", xlabel="seconds of fitting", ylabel=ylabel)
    legend_beside(ax)
    return ax
