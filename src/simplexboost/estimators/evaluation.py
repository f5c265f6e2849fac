"""Rows that are evaluated but not trained on: those of an ``eval_set``, and those held out for early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Array, Labels, Mask
from ..boosting.decisions import all_classes, probabilities
from ..callbacks import EarlyStopping, Evaluation
from ..data.training_set import LabelSets, TrainingSet
from ..data.validation import Checked, check_X, known_labels
from ..losses import Loss


@dataclass(frozen=True, eq=False)
class Watched:
    """What is needed to check and evaluate an ``eval_set``.

    Attributes
    ----------
    estimator : for scikit-learn's checks of X
    encode : X → X with numbers for categories
    checked : the training set and its classes
    loss : turns scores into probabilities
    n_iter_no_change : rounds without improvement before the first pair stops the fit; None if it never stops it
    """

    estimator: Any
    encode: Callable[[Any], Any]
    checked: Checked
    loss: Loss
    n_iter_no_change: int | None

    def table(self, X: Any) -> AnyArray:
        """X, checked and in the form that the model takes."""
        return check_X(self.estimator, self.encode(X), reset=False)


def check_eval_set(eval_set: Any, eval_metric: Any, watched: Watched) -> list[Evaluation]:
    """A callback for every pair of the eval_set; with early stopping, the first one stops the fit."""
    if eval_set is None:
        return []
    pairs = [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
    metrics = eval_metric if isinstance(eval_metric, dict) else {} if eval_metric is None else {"metric": eval_metric}
    if not all(callable(metric) for metric in metrics.values()):
        raise TypeError(f"eval_metric={eval_metric!r} must be metric(y, probabilities) -> float, or a dict of such.")
    if not all(len(pair) == 2 for pair in pairs):
        raise ValueError("eval_set must be a pair (X, y), or a list of such pairs.")
    return [evaluation(X, y, metrics, watched, i == 0) for i, (X, y) in enumerate(pairs)]


def evaluation(X: Any, y: Any, metrics: dict[str, Any], watched: Watched, first: bool) -> Evaluation:
    """The callback of one pair."""
    X, y, checked = watched.table(X), np.asarray(y), watched.checked
    sets, present = checked.data.sets, checked.present
    if sets is None:
        c = known_labels(y, len(X), checked.classes[present], "eval_set's y", "trained")
    else:
        c = check_eval_indicator(X, y, sets, metrics)
    scorers = {name: scorer(metric, y, watched.loss, present) for name, metric in metrics.items()}
    if first and watched.n_iter_no_change is not None:
        return EarlyStopping(X, c, np.ones(len(X)), scorers, n_iter_no_change=watched.n_iter_no_change)
    return Evaluation(X, c, np.ones(len(X)), scorers)


def check_eval_indicator(X: AnyArray, y: AnyArray, sets: LabelSets, metrics: dict[str, Any]) -> Labels:
    """The label set of every row of X, as a number like those of the training set."""
    if metrics:
        raise ValueError("eval_metric takes one label per example; with an indicator matrix only the risk is followed.")
    if y.shape != (len(X), sets.K) or not np.isin(y, (0, 1)).all():
        raise ValueError(f"eval_set's y must be an indicator matrix of shape ({len(X)}, {sets.K}); it has {y.shape}.")
    return sets.number(y)


def scorer(
    metric: Callable[[AnyArray, Array], float], y: AnyArray, loss: Loss, present: Mask
) -> Callable[[Array], float]:
    """A metric of labels and probabilities, turned into a function of the class scores."""
    return lambda U: metric(y, probabilities(loss, all_classes(U, present), present))


def split_off(data: TrainingSet, fraction: float, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
    """Training and held-out rows; every class keeps at least one training row."""
    from sklearn.model_selection import train_test_split  # not at the top: start-up time

    seed = int(rng.integers(2**31 - 1))
    c = data.c if data.sets is None else np.zeros_like(data.c)  # all label sets may differ: no stratification
    counts = np.bincount(c)
    rows = np.arange(data.n)
    alone = counts[c] < 2  # the only row of its class stays in training
    stratify = c[~alone] if round(fraction * (~alone).sum()) >= (counts > 1).sum() else None
    try:
        train, test = train_test_split(rows[~alone], test_size=fraction, random_state=seed, stratify=stratify)
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={fraction} leaves no rows to hold out or to train on ({data.n} rows); "
            "use more rows, another fraction, or early_stopping=False."
        ) from error
    lost = np.setdiff1d(c, c[train])  # without stratification all rows of a small class may be in the test part
    moved = test[np.isin(c[test], lost)]
    train = np.sort(np.concatenate([train, rows[alone], moved]))
    return data.subset(train), data.subset(np.sort(np.setdiff1d(test, moved)))
