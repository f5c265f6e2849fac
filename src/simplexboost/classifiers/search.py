"""Chooses the number of rounds, the temperature and the best of several candidates by the risk on held-out rows.

A candidate is a setting of parameters. It is boosted on the training rows of every split, and its risk on the held-out
rows is computed after several numbers of rounds. Candidates that fall behind are dropped early. Decisions depend on
risks only, never on clocks, so the same data and seed give the same choice. A temperature t makes probabilities
softmax(t · 2U); every label of an indicator matrix and every class target has its own.

The threshold of a label that maximises the expected F1 is half of that F1 (Lipton, Elkan and Naryanaswamy, 2014). The
largest F1 is estimated on held-out rows, because it varies less between samples than the threshold that reaches it. A
logistic regression of the label on the score then finds the score at which the label has that probability, since the
model's own probabilities may be wrong after too few or too many rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any

import numpy as np
from scipy.special import expit, logit

from .._util.arrays import AnyArray, Array, Labels
from .._util.runtime import run_in_threads
from ..boosting import Callback
from ..boosting.decisions import not_zero
from ..boosting.loop import boost
from ..engine import Candidates
from ..model.additive import AdditiveModel
from ..parts.losses import BlockLogistic
from ..parts.optimizers.run import Run
from ..persist.models import HELD_OUT

__all__ = ["TEMPERATURES", "Candidate", "Choice", "Split", "Terms", "check_groups", "folds", "one_split", "race"]


@dataclass(frozen=True, eq=False)
class Choice:
    """The result of a choice by held-out risk, with all candidates that were compared; ``print`` shows it as a table.

    Attributes
    ----------
    params : dict
        The winner's values of the parameters in which the candidates differ.
    n_estimators : int
        The number of rounds.
    temperature : float, or array of shape (B,)
        The factor of the scores; with B labels or class targets an array, with a temperature for each.
    risk : float
        The held-out risk (the log-loss, or the mean of another loss) at these rounds and the best temperature.
    candidates : list of dicts
        For each candidate: its ``params``, its best ``risk``, ``n_estimators`` and ``temperature``, and ``n_tried``,
        the number of rounds it was tried for; rounds are converted to the learning rate of the fit. On larger tables
        the candidates were compared on a sample of the rows, and the other attributes come from a second comparison on
        all rows.
    curve : dict of arrays
        The winner's numbers of rounds "n_estimators", its "risk" at temperature 1, and "calibrated", its risk at the
        best temperature for each number of rounds.
    n_splits : int
        The number of splits; the risk is a mean over all of them.
    n_held : int
        The number of held-out rows, summed over the splits.
    learning_rate : float
        The learning rate of the fit, which all numbers of rounds assume.
    sets : dict or None
        The scores of the true classes of held-out rows, for prediction sets. A fit moves them to ``set_scores_``.
    thresholds : array of shape (K,), or None
        The probability above which each label is predicted; None if it was not chosen.
    n_sample : int
        The number of rows in the sample on which the candidates were compared; 0 if all rows were used.

    Examples
    --------
    >>> import simplexboost as sb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = sb.SimplexBoostClassifier(random_state=0).fit(X, y).choice_
    >>> choice.n_held == 150, len(choice.candidates) > 1, choice.temperature > 0
    (True, True, True)
    """

    params: dict[str, Any]
    n_estimators: int
    temperature: Any
    risk: float
    candidates: list[dict[str, Any]]
    curve: dict[str, Array]
    n_splits: int
    n_held: int
    learning_rate: float = 0.1
    sets: dict[str, Any] | None = None
    thresholds: Array | None = None
    n_sample: int = 0

    def __str__(self) -> str:
        sample = f" of a sample of {self.n_sample} rows" if self.n_sample else ""
        lines = [f"held-out risk of {len(self.candidates)} candidate(s) on {self.n_splits} split(s){sample}"]
        lines += [
            f"{'*' if c['params'] == self.params else ' '} risk {c['risk']:.4f} after {c['n_estimators']} of "
            f"{c['n_tried']} rounds, temperature {np.mean(c['temperature']):.2f}: {describe(c['params'])}"
            for c in sorted(self.candidates, key=lambda c: c["risk"])
        ]
        if self.n_sample:
            lines.append(
                f"the winner on all rows: risk {self.risk:.4f} after {self.n_estimators} of "
                f"{max(self.curve['n_estimators'])} rounds, temperature {np.mean(self.temperature):.2f}"
            )
        return "\n".join(lines)


def describe(params: dict[str, Any]) -> str:
    """Return parameters as text, in the form of the arguments of a call."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "the only one"


@dataclass(frozen=True, eq=False)
class Split:
    """A split of the rows: ``held`` has the ascending indices of held-out rows; all other rows are for training."""

    held: AnyArray


def folds(c: Labels, groups: AnyArray | None, n_folds: int, rng: np.random.Generator) -> list[Split]:
    """Return splits that hold out every row once; if a class has only one row, that row is always a training row.

    Parameters
    ----------
    c : (n,) the class indices; every class is spread evenly over the folds
    groups : (n,) the group of every row, or None; all rows of a group are in the same fold
    n_folds : the number of folds; there are fewer if there are fewer groups
    """
    fold = fold_of_rows(c, n_folds, rng) if groups is None else fold_of_groups(groups, n_folds, rng)
    splits = [Split(np.flatnonzero(fold == k)) for k in range(n_folds)]
    return [split for split in splits if 0 < len(split.held) < len(c)]


def one_split(c: Labels, groups: AnyArray | None, n_held: int, rng: np.random.Generator) -> list[Split]:
    """Return a list with one split that holds out about ``n_held`` rows: a share of every class, or whole groups.

    Without groups, a class of several rows has at least one held-out row and at least one training row.
    """
    if groups is None:
        held = drawn_by_class(c, n_held, rng, fewest=1, spared=1)
    else:
        _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
        held = np.flatnonzero(np.isin(group.ravel(), groups_to_hold(size, n_held, rng)))
    return [Split(held)]


def drawn_by_class(c: Labels, n_drawn: int, rng: np.random.Generator, fewest: int, spared: int = 0) -> AnyArray:
    """Return about ``n_drawn`` random row indices, ascending; every class gives rows in proportion to its size.

    Parameters
    ----------
    c : (n,) the class indices
    fewest : the smallest number of rows to draw from a class, if the class has as many
    spared : the number of rows of every class that are not drawn
    """
    counts = np.bincount(c)  # (K,)
    share = np.rint(counts * (n_drawn / len(c)))
    quota = np.clip(np.maximum(share, fewest), 0, np.maximum(counts - spared, 0))
    order = rng.permutation(len(c))
    order = order[np.argsort(c[order], kind="stable")]
    place = np.arange(len(c)) - np.repeat(np.cumsum(counts) - counts, counts)  # of every row within its class
    return np.sort(order[place < np.repeat(quota, counts)])


def groups_to_hold(size: AnyArray, n_held: int, rng: np.random.Generator) -> list[int]:
    """Return indices of random groups to hold out: about ``n_held`` rows together, if possible at most half of all."""
    chosen: list[int] = []
    n, total = int(size.sum()), 0
    for g in rng.permutation(len(size)).tolist():
        if total < n_held and total + size[g] <= max(n_held, n // 2):
            chosen.append(g)
            total += int(size[g])
    return chosen or [int(size.argmin())]


def fold_of_rows(c: Labels, n_folds: int, rng: np.random.Generator) -> AnyArray:
    """Return a random fold index (n,) for every row, stratified by class; −1 for the only row of a class."""
    order = rng.permutation(len(c))
    order = order[np.argsort(c[order], kind="stable")]
    fold = np.empty(len(c), dtype=np.intp)
    fold[order] = np.arange(len(c)) % n_folds
    fold[np.bincount(c)[c] == 1] = -1
    return fold


def fold_of_groups(groups: AnyArray, n_folds: int, rng: np.random.Generator) -> AnyArray:
    """Return the fold index (n,) of every row; each group, large ones first, goes to the fold with the fewest rows."""
    names, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    fold_of_group, filled = np.empty(len(names), dtype=np.intp), np.zeros(n_folds)
    order = rng.permutation(len(names))
    for g in order[np.argsort(-size[order], kind="stable")]:
        fold_of_group[g] = filled.argmin()
        filled[filled.argmin()] += size[g]
    return fold_of_group[group.ravel()]


def check_groups(groups: Any, n: int) -> AnyArray:
    """Return ``groups`` as an array of n labels, one per row; raise unless at least two groups are distinct."""
    labels = one_per_row(groups, n)
    check_several(distinct_groups(labels))
    return labels


def one_per_row(groups: Any, n: int) -> AnyArray:
    """Return ``groups`` as an array; raise unless it has one label for each of n rows."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups has shape {labels.shape}; it must have one label for each of the {n} rows.")
    return labels


def distinct_groups(labels: AnyArray) -> AnyArray:
    """Return the distinct group labels, sorted; raise TypeError if they cannot be compared."""
    try:
        return np.unique(labels)
    except TypeError as error:  # of several types, such as strings and None
        raise TypeError("groups holds labels that cannot be compared; use numbers only or strings only.") from error


def check_several(distinct: AnyArray) -> None:
    """Raise unless there are at least two distinct groups."""
    if len(distinct) < 2:
        raise ValueError("groups holds one group only; at least two are needed to hold one out.")


# Overfitted scores are too sure, which a t below 1 mends; too few rounds leave them too unsure. The loss is smooth in
# log t: between these values, which are apart by a factor of 1.3, a parabola finds t to about one part in a hundred,
# and so the log-loss to one in ten thousand (digits).
TEMPERATURES: Array = 2.0 ** np.linspace(-2.25, 2.25, 13)
BLOCK = 2**21  # probabilities that are computed at a time


def held_out_losses(run: Run, held: AnyArray, temperatures: Array) -> Array:
    """Return the weighted sum of −log p over held-out rows, by temperature and block, (number of temperatures, B).

    p is the probability of a row's true class. Each label or class target of a matrix y is a block; else B is 1. A loss
    other than the log-loss has no temperature: the sum of that loss is returned, (1, 1).
    """
    held = run.data.engine.rows.find(held)
    if isinstance(run.F, Candidates):
        return candidate_losses(run, run.F[held], held, temperatures)
    c, weight, total = run.data.c[held], run.data.weight[held], run.data.engine.rows.total
    constant = run.constant
    if isinstance(run.loss, BlockLogistic):
        return np.array([total(weight[:, None] * block_losses(run, held, t, constant)) for t in temperatures])
    if not run.loss.likelihood:
        values = run.loss.value(run.code.scores(run.data.engine.device.to_host(run.F[held])), c)
        return total((weight * values)[:, None])[:, None]
    losses = np.empty((len(temperatures), len(held)))  # (T, n)
    step = max(1, BLOCK // run.data.K)  # so that many classes need no more memory than few
    for begin in range(0, len(held), step):
        rows = slice(begin, begin + step)
        start = constant if run.data.init_score is None else run.start(held[rows])
        losses[:, rows] = log_losses(
            run, run.data.engine.device.to_host(run.F[held[rows]]), c[rows], temperatures, start
        )
    return total((weight * losses).T)[:, None]


def block_losses(run: Run, held: AnyArray, temperature: float, constant: Array | None) -> Array:
    """Return the losses of held-out rows at a temperature, (rows, B): a column for each label or class target."""
    objective: Any = run.objective
    rows = objective.rows
    if constant is None or temperature == 1.0:
        losses: Array = rows.losses(run.F, held, temperature)
        return losses
    before = run.F[held]
    run.F[held] = before + (constant * (1.0 / temperature - 1.0)).astype(before.dtype)
    try:
        return block_losses(run, held, temperature, None)
    finally:
        run.F[held] = before


def candidate_losses(run: Run, F: Candidates, held: AnyArray, temperatures: Array) -> Array:
    """Return the result of `held_out_losses` for a run that stores the scores of only a few classes per row."""
    weight, total = run.data.weight[held], run.data.engine.rows.total
    if not run.loss.likelihood:
        return total((weight * run.loss.value_of(np.exp(-F.log_losses()[0])))[:, None])[:, None]
    return total((weight * F.log_losses(temperatures)).T)[:, None]


def log_losses(run: Run, F: AnyArray, c: Labels, temperatures: Array, start: AnyArray | None = None) -> Array:
    """Return −log p by temperature and row, (number of temperatures, n); p is the probability of the row's class in c.

    A temperature multiplies F − ``start``, the predictor minus its initial values, which are (n, d), (d,) or None.
    """
    Y = None if run.code.canonical else run.model.Y
    P = np.empty((len(F), run.data.K))  # (n, K)
    out = np.empty((len(temperatures), len(F)))
    for i, t in enumerate(temperatures):
        scaled = F * np.float32(t) if start is None else (start + (F - start) * np.float32(t)).astype(F.dtype)
        run.data.engine.compute.softmax(scaled, Y, P)
        own = np.take_along_axis(P, c[:, None], axis=1)[:, 0]
        out[i] = -np.log(np.maximum(own, np.finfo(np.float32).tiny))
    return out


def cautious(t: float) -> float:
    """Return the temperature to use if t is the best one on held-out rows: √t if t is above 1, else t.

    A temperature above 1 makes probabilities more extreme. New rows may differ more from the training rows than
    held-out rows do, and overconfidence costs more than caution. √t loses a quarter of the gain of t on rows like those
    held out.
    """
    return min(t, t**0.5)


def best_temperature(temperatures: Array, risks: Array) -> tuple[float, float]:
    """Return the best temperature and its risk, from a parabola through the lowest of the risks and its two neighbours.

    The temperature is 1 if no temperature changes the risk, as for a model that predicts the same for all rows.
    """
    if np.ptp(risks) <= 1e-6 * np.abs(risks).max():
        return 1.0, float(risks[np.abs(np.log(temperatures)).argmin()])
    i = int(risks.argmin())
    if i in (0, len(risks) - 1):
        return float(temperatures[i]), float(risks[i])
    before, here, after = risks[i - 1 : i + 2]
    bend = before - 2 * here + after
    shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
    factor = (temperatures[i + 1] / temperatures[i]) ** shift
    return float(temperatures[i] * factor), float(here - 0.25 * (before - after) * shift)


# The most probabilities that are computed, which takes seconds. With tens of thousands of classes only the first of the
# rows held out are scored; the order of the rows is that of a hash, so that they are a random sample.
MOST = 2**28
FEWEST = 1_000  # rows that are scored in any case: enough for a coverage of 0.99


def own_scores(P: Array, c: Labels) -> Array:
    """Return for every row the sum (n,) of the probabilities in P that are larger than that of its true class c."""
    own = P[np.arange(len(P)), c]
    above = [np.cumsum(np.sort(p[p > q])[::-1]) for p, q in zip(P, own, strict=True)]
    return np.array([float(sums[-1]) if len(sums) else 0.0 for sums in above])


def set_scores(
    score: Array, c: Labels, weight: Array | None = None, source: str = HELD_OUT, n_rounds: int = 0
) -> dict[str, Any]:
    """Return the dict for ``set_scores_``: the sorted scores of the true classes of m rows, for prediction sets.

    ``score``, ``c`` and ``weight`` have shape (m,). Rows with equal scores are sorted too, so that the order of the
    rows does not matter. Equal weights become None. ``n_rounds`` is the number of rounds of the model that gave the
    scores.
    """
    order = np.lexsort((c, score) if weight is None else (weight, c, score))
    weight = None if weight is None or (weight == weight[0]).all() else weight[order]
    return {"score": score[order], "c": c[order], "weight": weight, "source": source, "n_rounds": n_rounds}


def held_out_scores(runs: list[tuple[Run, Split]], n_rounds: int, temperature: float) -> dict[str, Any]:
    """Return the dict for ``set_scores_`` of all held-out rows; a run that was not trained on a row predicts the row.

    Parameters
    ----------
    runs : the winner's boosting runs, each with its split
    n_rounds : the chosen number of rounds, at the learning rate of these runs
    temperature : the factor of the scores in the final model
    """
    data = runs[0][0].data
    most = max(FEWEST, MOST // data.K) // len(runs) + 1
    pieces = [gathered_scores(run, split.held[:most], n_rounds, temperature) for run, split in runs]

    score, c = zip(*pieces, strict=True)
    return data.engine.rows.decide(lambda: set_scores(np.concatenate(score), np.concatenate(c)))


def gathered_scores(run: Run, held: AnyArray, n_rounds: int, temperature: float) -> tuple[Array, AnyArray]:
    """Return the prediction-set scores (`own_scores`) and class indices of held-out rows, from all machines."""
    run.model.materialise()
    model = run.model.first(n_rounds).at(temperature)
    c = run.data.c[run.data.engine.rows.find(held)]
    parts = [own_scores(probabilities(run, model, rows), run.data.c[here]) for rows, here in blocks(run, held)]
    rows = run.data.engine.rows.subset(held)
    return rows.gather(np.concatenate(parts)), rows.gather(c)


def blocks(run: Run, held: AnyArray) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Yield blocks of the held-out row indices, to save memory, each with the positions of its rows on this machine."""
    step = max(1, BLOCK // run.data.K)
    for begin in range(0, len(held), step):
        rows = held[begin : begin + step]
        yield rows, run.data.engine.rows.find(rows)


def probabilities(run: Run, model: AdditiveModel, rows: AnyArray) -> Array:
    """Return the class probabilities (rows, K) that a model predicts for the training rows with these indices."""
    sample = run.data.sample(rows)
    F = model.predictor(sample.table, sample.engine)
    if run.data.init_score is not None:
        F = F + run.start(run.data.engine.rows.find(rows))
    if not run.loss.likelihood:
        return not_zero(run.loss.probabilities(run.code.scores(F)))
    P = np.empty((len(F), run.data.K))  # (n, K)
    sample.engine.compute.softmax(F, None if run.code.canonical else model.Y, P)
    return not_zero(P)


EVEN = 0.5  # the threshold that makes mistakes rarest
FEWEST_WITH_LABEL = 10  # rows with a label, by weight, from which on its threshold is chosen
LOWEST, STEP, N_CUTS = -8.0, 0.125, 129  # the cuts, in log-odds before the temperature
PULL, FLATTEST = 20.0, 0.2  # how firmly the slope of log-odds in scores is held near 1, and the lowest slope
CLOSE = 1e-9  # when a step of Newton's method is the last


def held_out_counts(run: Run, held: AnyArray) -> Array:
    """Return score histograms of the held-out rows for every label: the weights of the rows without and with the label.

    Returns
    -------
    array of shape (2, K, N_CUTS + 1)
        First axis: rows without, with the label. Last axis: bins of ascending scores.
    """
    loss: Any = run.loss
    F, weight, own = run.F[held], run.data.weight[held], loss.own(run.data.c[held])  # (h, K), (h,), (h, K)
    n_bins, K = N_CUTS + 1, F.shape[1]
    bins = np.clip(np.ceil((F - LOWEST) / STEP), 0, N_CUTS).astype(np.intp)  # (h, K): scores at a cut are not above it
    place = (own * K + np.arange(K)) * n_bins + bins
    counts: AnyArray = np.bincount(place.ravel(), np.repeat(weight, K), minlength=2 * K * n_bins)
    return counts.reshape(2, K, n_bins)


def best_thresholds(counts: Array, temperature: Any = 1.0, prior: Any = 0.0) -> Array:
    """Return the probability threshold (K,) that maximises the expected F1 of each label, from counts (2, K, bins).

    A label with fewer than ten rows keeps the threshold ½, because its F1 would be a matter of chance.

    Parameters
    ----------
    counts : the histograms of `held_out_counts`
    temperature : the factor of the scores in the final model; a number, or an array (K,) with one for each label
    prior : the initial scores (K,) of boosting, which the temperature does not multiply

    Examples
    --------
    If one row in ten has a label and the scores tell nothing about it, it is best to predict it for every row.

    >>> counts = np.zeros((2, 1, N_CUTS + 1))
    >>> counts[:, 0, 50] = 90.0, 10.0  # all scores lie between -1.875 and -1.75
    >>> bool(best_thresholds(counts)[0] < expit(-1.875))
    True
    """
    above = counts[:, :, ::-1].cumsum(axis=2)  # (2, K, bins), without and with the label
    have = above[1, :, -1]  # (K,)
    F1 = 2.0 * above[1] / np.maximum(above.sum(axis=0) + have[:, None], np.finfo(float).tiny)
    half = np.where(have >= FEWEST_WITH_LABEL, 0.5 * F1.max(axis=1, initial=0.0), EVEN)  # (K,) probabilities
    slope, start = np.array([fitted_odds(of) for of in counts.transpose(1, 0, 2)]).T  # (K,), (K,)
    cut = np.clip((logit(half) - start) / slope, LOWEST, -LOWEST)  # (K,) log-odds before the temperature
    return np.where(have >= FEWEST_WITH_LABEL, expit(prior + temperature * (cut - prior)), EVEN)


def fitted_odds(counts: Array) -> tuple[float, float]:
    """Fit a logistic regression of a label on its score, from counts (2, bins); return the slope a > 0 and intercept b.

    The log-odds of the label are a · score + b. The penalty ½ · 20 (a − 1)² + ½ · 0.01 b² holds a near 1, and keeps b
    finite if all rows have the label or none has it. Newton's method minimises the penalised log-loss.
    """
    x, total = LOWEST + STEP * (np.arange(N_CUTS + 1) - 0.5), counts.sum(axis=0)  # (bins,), (bins,)
    penalty, prior = np.array([PULL, 0.01]), np.array([1.0, 0.0])
    features = np.stack([x, np.ones_like(x)])  # (2, bins)

    def value(w: Array) -> float:
        z = w @ features
        return float(total @ np.logaddexp(0.0, z) - counts[1] @ z + 0.5 * penalty @ np.square(w - prior))

    w = prior
    for _ in range(50):
        p = expit(w @ features)
        slope = features @ (total * p - counts[1]) + penalty * (w - prior)
        bend = (features * (total * p * (1.0 - p))) @ features.T + np.diag(penalty)
        step, before = np.linalg.solve(bend, slope), value(w)
        while value(w - step) > before and np.abs(step).max() > CLOSE:
            step = step / 2.0
        w = w - step
        if np.abs(step).max() <= CLOSE:
            break
    return max(float(w[0]), FLATTEST), float(w[1])


# How many candidates are still in the race after its first stages; one from then on.
LEFT = (3, 2, 2)
# A candidate wins over those before it in the list, and a temperature over 1, only if its risk is lower by this part.
CLEARLY = 0.005
# A candidate has had its best round if so much of its rounds came after it.
PAST = 0.5
# Beyond the usual number, rounds go on only as long as the later half of them has lowered the risk by this part of it.
WORTHWHILE = 0.03


@dataclass(frozen=True, eq=False)
class Candidate:
    """A setting of parameters that takes part in a choice by held-out risk.

    Attributes
    ----------
    params : dict
        The parameters in which this candidate differs from other candidates.
    start : callable
        A function that takes a split and returns a run on its training rows, still without rounds, and a list of
        callbacks.
    most : int or None, default=None
        The largest number of rounds; None sets no limit. A candidate with a limit predicts the class shares by its only
        round, and no candidate with a higher risk can win.

    Examples
    --------
    >>> candidate = Candidate({"growth": "best"}, start=lambda split: None)
    >>> candidate.params
    {'growth': 'best'}
    """

    params: dict[str, Any]
    start: Callable[[Split], tuple[Run, list[Callback]]]
    most: int | None = None


@dataclass(frozen=True)
class Terms:
    """The settings of a race: a comparison of candidates by held-out risk, in stages.

    Attributes
    ----------
    stages : ascending numbers of rounds, after which candidates are compared and the worst are dropped
    usual : the number of rounds up to which boosting continues unless the risk rises
    haste : the learning rate of the race divided by that of the fit; the race needs so many times fewer rounds
    workers : the number of boosting runs in parallel, each on one thread
    temperatures : the array of temperatures to choose from
    thresholds : whether to find the probability above which each label is predicted
    exact : the number of rounds if the user gives it, else None; only the risk after the last stage then counts
    say : a function that prints a line of progress
    given : the temperature of the fit if none is chosen, else None
    sets : whether to keep the scores of held-out rows, from which prediction sets are made
    """

    stages: Sequence[int]
    usual: float
    haste: float
    workers: int
    temperatures: Array
    thresholds: bool = False
    exact: int | None = None
    say: Callable[[str], None] = lambda line: None
    given: float | None = None
    sets: bool = True


class Cancelled(Callback):
    """A callback that ends a boosting run at its next round once an event is set."""

    def __init__(self, event: Event) -> None:
        self.event = event

    def next_call(self, run: Run) -> int:
        return run.n_rounds

    def after_round(self, run: Run) -> None:
        if self.event.is_set():
            run.stop_reason = "cancelled"


class Trial:
    """The boosting run of one candidate on one split, with its losses on the held-out rows."""

    def __init__(self, candidate: Candidate, split: Split, terms: Terms, cancelled: Event) -> None:
        self.split, self.terms, self.cancelled = split, terms, cancelled
        self.most = np.inf if candidate.most is None else candidate.most
        self.run, callbacks = candidate.start(split)
        self.callbacks = [*callbacks, Cancelled(cancelled)]
        self.losses: dict[int, Array] = {}  # number of rounds → (T, B) sums over the rows held out
        self.counts: dict[int, Array] = {}  # number of rounds → (2, K, bins) weights of these rows, by score

    def advance(self, marks: Sequence[int]) -> None:
        """Boost to each number of rounds in ``marks``, storing held-out losses; an ended run stores its last again."""
        for mark in marks:
            if self.cancelled.is_set():
                return
            boost(self.run, int(min(mark, self.most)), self.callbacks)
            stuck = self.run.round < mark and self.losses
            self.losses[mark] = (
                self.losses[max(self.losses)]
                if stuck
                else held_out_losses(self.run, self.split.held, self.terms.temperatures)
            )
            if self.terms.thresholds:
                self.counts[mark] = held_out_counts(self.run, self.split.held)


class Entrant:
    """A candidate in a race, with a `Trial` (a boosting run and its held-out losses) for every split."""

    def __init__(self, candidate: Candidate, splits: Sequence[Split], terms: Terms, cancelled: Event) -> None:
        self.candidate, self.terms = candidate, terms
        self.trials = [Trial(candidate, split, terms, cancelled) for split in splits]
        self.weight = sum(held_weight(t.run, t.split) for t in self.trials)
        self.bests: list[float] = []  # the lowest risk at the end of every stage

    def curve(self) -> tuple[Array, Array, Array, Array]:
        """Return numbers of rounds, and for each: the risk at every temperature, the best temperatures, and their risk.

        There is one best temperature for each label or class target of a matrix y, else one for all. All best
        temperatures are 1 if others do not lower the risk clearly.
        """
        marks = sorted(self.trials[0].losses)
        risk = np.array([sum(t.losses[mark] for t in self.trials) for mark in marks]) / self.weight  # (C, T, B)
        best = np.array([[best_temperature(self.terms.temperatures, of) for of in row.T] for row in risk])  # (C, B, 2)
        risk, t, calibrated = risk.sum(axis=2), best[:, :, 0], best[:, :, 1].sum(axis=1)
        plain = risk[:, plain_place(self.terms.temperatures)]
        at = self.best(plain), self.best(calibrated)
        if calibrated[at[1]] >= plain[at[0]] - CLEARLY * abs(plain[at[0]]):
            t, calibrated = np.ones_like(t), plain
        return np.array(marks), risk, t, calibrated

    def thresholds(self) -> Array | None:
        """Return the probability (K,) above which to predict each label, at the best round; None if not requested."""
        if not self.terms.thresholds:
            return None
        rounds, _, _, risk = self.curve()
        mark = int(rounds[self.best(risk)])
        temperature = self.summary()["temperature"] if self.terms.given is None else self.terms.given
        counts = sum((t.counts[mark] for t in self.trials[1:]), self.trials[0].counts[mark])
        starts = [start for trial in self.trials if (start := trial.run.constant) is not None]
        prior = np.mean(starts, axis=0) if starts else 0.0
        return best_thresholds(counts, temperature, prior)

    def best(self, risk: Array) -> int:
        """Return the index of the lowest value in ``risk``; the last index if the user gives the number of rounds."""
        return int(risk.argmin()) if self.terms.exact is None else len(risk) - 1

    def close_stage(self) -> None:
        """Append the lowest risk so far to ``bests``; the last risk if the user gives the number of rounds."""
        risk = self.curve()[3]
        self.bests.append(float(risk[self.best(risk)]))

    @property
    def still_gains(self) -> bool:
        """Whether more rounds may lower the risk enough to be worth their time."""
        if self.terms.exact is not None or self.candidate.most is not None:
            return self.candidate.most is None
        rounds, _, _, risk = self.curve()
        if rounds[self.best(risk)] <= (1 - PAST) * rounds[-1]:
            return False
        first_half = risk[rounds <= rounds[-1] / 2].min(initial=np.inf)
        return bool(rounds[-1] < self.terms.usual or risk.min() <= (1 - WORTHWHILE) * first_half)

    def summary(self) -> dict[str, Any]:
        """Return the candidate's dict in `Choice.candidates`; rounds are converted to the learning rate of the fit."""
        rounds, _, temperature, risk = self.curve()
        i = self.best(risk)
        chosen, tried = (max(1, round(r * self.terms.haste)) for r in (rounds[i], rounds[-1]))
        if self.candidate.most is not None:
            chosen = tried = self.candidate.most
        return {
            "params": self.candidate.params,
            "risk": float(risk[i]),
            "n_estimators": self.terms.exact or chosen,
            "temperature": of_blocks([cautious(float(t)) for t in temperature[i]]),
            "n_tried": self.terms.exact or tried,
        }

    def held_out(self, temperature: float) -> dict[str, Any]:
        """Return the dict for ``set_scores_`` of all held-out rows, at the best number of rounds and a temperature."""
        rounds, _, _, risk = self.curve()
        temperature = temperature if self.terms.given is None else self.terms.given
        runs = [(trial.run, trial.split) for trial in self.trials]
        return held_out_scores(runs, int(rounds[self.best(risk)]), temperature)


def of_blocks(temperatures: list[float]) -> Any:
    """Return a single temperature as a number, several temperatures as an array."""
    return temperatures[0] if len(temperatures) == 1 else np.array(temperatures)


def race(candidates: Sequence[Candidate], splits: Sequence[Split], terms: Terms) -> Choice:
    """Boost the candidates in stages and drop the worst after each; return the best by held-out risk as a `Choice`."""
    cancelled = Event()
    entrants = [Entrant(candidate, splits, terms, cancelled) for candidate in candidates]
    running, done = list(entrants), 0
    terms.say(opening(entrants, terms))
    for number, stage in enumerate(terms.stages):
        trials = [trial for entrant in running for trial in entrant.trials]
        run_in_threads(partial(Trial.advance, marks=checkpoints(done, stage)), trials, terms.workers, cancelled)
        done = stage
        for entrant in running:
            entrant.close_stage()
        leader = entrants[first_choice([e.bests[-1] for e in entrants], limit_of(entrants))]
        terms.say(progress(stage, terms, running, leader))
        running = [e for e in running if e.candidate.most is None]
        running = [e for e in ranked(running)[: left_after(number)] if e.still_gains]
        if not running:
            break
    return decide(entrants, splits, terms)


def held_weight(run: Run, split: Split) -> float:
    """Return the total sample weight of a split's held-out rows, over all machines."""
    return run.data.engine.rows.total(run.data.weight[run.data.engine.rows.find(split.held)])


def first_choice(risks: Sequence[float], limit: float = np.inf) -> int:
    """Return the index of the first candidate whose risk is at most 0.5 % above the lowest and not above ``limit``."""
    lowest = min(risks)
    enough = min(lowest + CLEARLY * abs(lowest), max(limit, lowest))
    return int(np.argmax(np.asarray(risks) <= enough))


def plain_place(temperatures: Array) -> int:
    """Return the index of the temperature that is closest to 1."""
    return int(np.abs(np.log(temperatures)).argmin())


def limit_of(entrants: Sequence[Entrant]) -> float:
    """Return the highest risk that may win: that of the candidate that predicts class shares; infinity without one."""
    return min((entrant.bests[-1] for entrant in entrants if entrant.candidate.most is not None), default=np.inf)


def ranked(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Return the candidates in a race, sorted by their risk at the end of the last stage, the lowest first."""
    return sorted(entrants, key=lambda entrant: entrant.bests[-1])


def left_after(stage: int) -> int:
    """Return how many candidates stay in the race after the stage with this index."""
    return LEFT[stage] if stage < len(LEFT) else 1


def checkpoints(begin: int, end: int) -> list[int]:
    """Return the numbers of rounds, from ``begin`` (exclusive) to ``end``, after which held-out losses are computed."""
    gap = max(1, end // 12)
    return [*range(begin + gap, end, gap), end]


def opening(entrants: Sequence[Entrant], terms: Terms) -> str:
    """Return the first line of progress; it forecasts the time of all rounds of one candidate, a quarter of others."""
    seconds = [trial.run.seconds or 0.0 for entrant in entrants for trial in entrant.trials]
    share = (0.75 + 0.25 * len(entrants)) / len(entrants) / terms.workers
    rounds = min(max(terms.usual, 1.0), terms.stages[-1])
    return (
        f"choosing: {len(entrants)} candidate(s) on {len(entrants[0].trials)} split(s), about "
        f"{share * rounds * sum(seconds):.1f} s for {round(rounds * terms.haste)} rounds"
    )


def progress(stage: int, terms: Terms, running: Sequence[Entrant], leader: Entrant) -> str:
    """Return a line of progress: how many candidates are left, the rounds so far, and the best candidate."""
    return (
        f"choosing: {len(running)} candidate(s) after {round(stage * terms.haste)} rounds; the best has held-out risk "
        f"{leader.bests[-1]:.4f}: {describe(leader.candidate.params)}"
    )


def decide(entrants: Sequence[Entrant], splits: Sequence[Split], terms: Terms) -> Choice:
    """Return the `Choice` of the best candidate at the end of a race; ``entrants`` are all its candidates."""
    table = [entrant.summary() for entrant in entrants]
    winner = first_choice([line["risk"] for line in table], limit_of(entrants))
    rounds, risk, _, calibrated = entrants[winner].curve()
    curve = {
        "n_estimators": np.rint(rounds * terms.haste).astype(int),
        "risk": risk[:, plain_place(terms.temperatures)],
        "calibrated": calibrated,
    }
    held = sum(len(split.held) for split in splits)
    return Choice(**{k: table[winner][k] for k in ("params", "n_estimators", "temperature", "risk")},
                  candidates=table, curve=curve, n_splits=len(splits), n_held=held,
                  sets=entrants[winner].held_out(table[winner]["temperature"]) if terms.sets else None,
                  thresholds=entrants[winner].thresholds())  # fmt: skip
