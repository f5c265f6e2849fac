"""Rows that are followed, not trained on: those of an ``eval_set``, and those held out for early stopping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, Array, Labels
from ..boosting.decisions import all_classes, probabilities
from ..callbacks import EarlyStopping, Evaluation
from ..data.validation import LabelSets, TrainingSet, check_X
from ..losses import Loss

if TYPE_CHECKING:
    from .booster import BaseBooster


def check_eval_set(
    estimator: BaseBooster, eval_set: Any, eval_metric: Any, data: TrainingSet, classes: AnyArray, present: Any
) -> list[Evaluation]:
    """A callback for every pair of the eval_set; the first stops early where that is asked for."""
    if eval_set is None:
        return []
    pairs = [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
    metrics = eval_metric if isinstance(eval_metric, dict) else {} if eval_metric is None else {"metric": eval_metric}
    if not all(callable(metric) for metric in metrics.values()):
        raise TypeError(f"eval_metric={eval_metric!r} must be metric(y, probabilities) -> float, or a dict of such.")
    out: list[Evaluation] = []
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError("eval_set must be a pair (X, y), or a list of such pairs.")
        X, y = check_X(estimator, estimator._encode(pair[0]), reset=False), np.asarray(pair[1])
        if data.sets is None:
            c = check_eval_labels(X, y, classes[present])
        else:
            c = check_eval_indicator(X, y, data.sets, metrics)
        loss = estimator.parts()["loss"]
        scorers = {name: scorer(metric, y, loss, present) for name, metric in metrics.items()}
        if estimator.early_stopping and not out:
            out.append(EarlyStopping(X, c, np.ones(len(X)), scorers, patience=estimator.n_iter_no_change))
        else:
            out.append(Evaluation(X, c, np.ones(len(X)), scorers))
    return out


def check_eval_labels(X: AnyArray, y: AnyArray, classes: AnyArray) -> Labels:
    """A label that occurs in training per row of X, numbered."""
    unknown = np.setdiff1d(y, classes)
    if y.shape != (len(X),) or len(unknown):
        raise ValueError(
            f"eval_set's y must hold a label that occurs in training per row of X; it has shape {y.shape}, unknown "
            f"labels {unknown[:5].tolist()}."
        )
    return np.searchsorted(classes, y)


def check_eval_indicator(X: AnyArray, y: AnyArray, sets: LabelSets, metrics: dict[str, Any]) -> Labels:
    """A label set per row of X, numbered like those of training."""
    if metrics:
        raise ValueError("eval_metric takes one label per example; with an indicator matrix only the risk is followed.")
    if y.shape != (len(X), sets.K) or not np.isin(y, (0, 1)).all():
        raise ValueError(f"eval_set's y must be an indicator matrix of shape ({len(X)}, {sets.K}); it has {y.shape}.")
    return sets.number(y)


def scorer(
    metric: Callable[[AnyArray, Array], float], y: AnyArray, loss: Loss, present: Any
) -> Callable[[Array], float]:
    """A metric of labels and probabilities as one of the class scores."""
    return lambda U: metric(y, probabilities(loss, all_classes(U, present), present))


def split_off(data: TrainingSet, fraction: float, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
    """Training and held-out rows; every class keeps at least one training row."""
    from sklearn.model_selection import train_test_split  # not at the top: start-up time

    seed = int(rng.integers(2**31 - 1))
    c = data.c if data.sets is None else np.zeros_like(data.c)  # label sets may all be different
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
    lost = np.setdiff1d(c, c[train])  # without stratification a small class may have gone to the test part
    moved = test[np.isin(c[test], lost)]
    train = np.sort(np.concatenate([train, rows[alone], moved]))
    return data.subset(train), data.subset(np.sort(np.setdiff1d(test, moved)))
