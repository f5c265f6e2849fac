"""Rows that are evaluated but not trained on: those of an ``eval_set``, and those held out for early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from .._util.arrays import AnyArray, Array, Labels, Mask
from ..boosting import EarlyStopping, Evaluation
from ..boosting.callbacks import others
from ..boosting.decisions import all_classes
from ..engine import CPU, Engine
from ..parts.losses import Loss
from ..parts.optimizers.run import Run
from ..tables.inputs import check_X, plain_labels, short
from ..tables.labels import check_init_score, indicator, label_numbers, target_columns
from ..tables.training_set import LabelSets, TrainingSet
from ..tables.validation import Checked, check_sample_weight
from .metrics import Metrics, Predicted, Rows
from .prediction import brought

FOLLOWED = ("evals_result_", "best_iteration_", "best_score_", "validation_score_")


@dataclass(frozen=True, eq=False)
class Watched:
    """What is needed to evaluate rows.

    Attributes
    ----------
    estimator : knows the columns that X must have
    checked : the training set and its classes
    loss : turns scores into probabilities
    metrics : what is followed beside the risk
    n_iter_no_change : rounds without improvement before the first set stops the fit; None if it never stops it
    tol : the smallest improvement that counts
    """

    estimator: Any
    checked: Checked
    loss: Loss
    metrics: Metrics = field(default_factory=Metrics)
    n_iter_no_change: int | None = None
    tol: float = 1e-7

    def table(self, X: Any) -> AnyArray:
        """X, checked and in the form that the model takes."""
        try:
            return check_X(self.estimator, X)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"eval_set: {error}") from error

    def evaluation(
        self,
        rows: Rows,
        targets: Labels,
        first: bool,
        what: str = "held-out",
        init_score: Array | None = None,
        engine: Engine = CPU,
    ) -> Evaluation:
        """The callback that evaluates rows; with early stopping, that of the first set stops the fit."""
        present, metrics = self.checked.present, self.metrics
        if self.checked.data.sets is not None and metrics.table:
            raise ValueError("eval_metric takes one label per example; if y is a matrix, only the risk is followed.")
        decision = self.estimator._deciding(self.loss, self.checked)
        every = rows if not metrics.table else all_rows(rows, engine)
        kind: Callable[..., Evaluation] = Evaluation
        if first and self.n_iter_no_change is not None:
            kind = partial(EarlyStopping, n_iter_no_change=self.n_iter_no_change, what=what)
        return kind(
            rows.X,
            targets,
            np.ones(rows.X.shape[0]) if rows.weight is None else rows.weight,
            {name: metric.of for name, metric in metrics.table.items()},
            seen=lambda U: Predicted(every, decision, all_classes(U, present)),
            watch=metrics.watch,
            greater_is_better=metrics.greater_is_better,
            tol=self.tol,
            init_score=init_score,
            engine=None if engine is CPU else engine,
        )


def all_rows(rows: Rows, engine: Engine) -> Rows:
    """The rows as metrics see them: if they are spread over a group, all of them where it decides, without values."""
    if engine.alone() is engine:
        return rows
    c, y = engine.gathered(rows.c), engine.gathered(rows.y)
    weight = None if rows.weight is None else engine.gathered(rows.weight)
    return Rows(np.broadcast_to(np.nan, (len(c), rows.X.shape[1])), y, c, weight)


def followed(evaluations: list[Evaluation]) -> dict[str, Any]:
    """The fitted attributes that say what was followed (`FOLLOWED`); none of them if nothing was."""
    if not evaluations:
        return {}
    first = evaluations[0]
    return {
        "evals_result_": [{name: np.array(values) for name, values in e.results.items()} for e in evaluations],
        "best_iteration_": first.best_iteration,
        "best_score_": first.best_score,
        "validation_score_": first.sign * np.array(first.results[first.watch]),
    }


# ---- rows of an eval_set --------------------------------------------------------------------------------------------


def as_eval_set(eval_set: Any, X_val: Any, y_val: Any, sample_weight_val: Any, init_score_val: Any = None) -> Any:
    """The eval_set, or one of the rows X_val with the labels y_val, their weights and the scores they start from."""
    given = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val, "init_score_val": init_score_val}
    names = [name for name, value in given.items() if value is not None]
    if not names:
        return eval_set
    if eval_set is not None:
        raise ValueError(f"eval_set and {names[0]} are two ways to say the same; pass one of them.")
    for name in ("X_val", "y_val"):
        if name not in names:
            raise ValueError(f"{names[0]} is given without {name}; X_val and y_val go together.")
    return (X_val, y_val, sample_weight_val, init_score_val)


def check_eval_set(eval_set: Any, watched: Watched) -> list[Evaluation]:
    """A callback for every entry (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score) of the eval_set."""
    entries = [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else eval_set
    fits = isinstance(entries, list) and all(isinstance(e, tuple | list) and len(e) in (2, 3, 4) for e in entries)
    if not fits:
        raise ValueError(
            "eval_set must be a tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score), or a list of "
            "such tuples."
        )
    if watched.metrics.asked and not entries and watched.n_iter_no_change is None:
        raise ValueError("eval_metric has no rows to be evaluated on; pass an eval_set, or set early_stopping=True.")
    evaluate = partial(check_entry, watched)
    return [evaluate(i == 0, *entry) for i, entry in enumerate(entries)]


def check_entry(
    watched: Watched, first: bool, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None
) -> Evaluation:
    """The callback of one entry."""
    checked = watched.checked
    X, y, sample_weight, init_score = (brought(a, checked.data.engine) for a in (X, y, sample_weight, init_score))
    check_eval_shape(y)
    y = plain_labels(y, "eval_set's y")
    X = watched.table(X)
    start = check_eval_start(X, init_score, checked)
    weight = check_eval_weight(X, sample_weight)
    sets = checked.data.sets
    if sets is not None and sets.widths is not None:
        c = targets = check_eval_targets(X, y, checked.classes, sets)
    elif sets is not None:
        y = y.toarray() if issparse(y) else np.asarray(y)
        c = targets = check_eval_indicator(X, y, sets)
    else:
        y = check_eval_labels(X, y)
        c = numbers_or_last(y, checked.classes)
        targets = check_targets(y, c, weight, checked)
    return watched.evaluation(Rows(X, y, c, weight), targets, first, init_score=start)


def check_eval_start(X: AnyArray, init_score: Any, checked: Checked) -> Array | None:
    """The logits (n, K) that predictions of evaluated rows start from; if training rows have some, these need them."""
    if init_score is None:
        if checked.data.init_score is not None:
            raise ValueError(
                "an entry of eval_set has no init_score, but the training rows have one; pass (X, y, sample_weight, "
                "init_score), with None for sample_weight if there are no weights."
            )
        return None
    if checked.data.sets is not None:
        raise ValueError("init_score takes one label per example, not a matrix y.")
    return check_init_score(init_score, X.shape[0], len(checked.classes), "eval_set's init_score")[:, checked.present]


def check_eval_weight(X: AnyArray, sample_weight: Any) -> Array | None:
    """The weights of evaluated rows, (n,) and not negative; None if there are none."""
    if sample_weight is None:
        return None
    try:
        return check_sample_weight(sample_weight, X)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the sample_weight of an eval_set is refused: {error}") from error


def check_eval_indicator(X: AnyArray, y: AnyArray, sets: LabelSets) -> Labels:
    """The label set of every row of X, as a number like those of the training set."""
    n = X.shape[0]
    if y.shape != (n, sets.K) or not np.isin(y, (0, 1)).all():
        raise ValueError(f"eval_set's y must be an indicator matrix of shape ({n}, {sets.K}); it has {y.shape}.")
    return sets.number(y)


def check_eval_targets(X: AnyArray, y: Any, classes: list[AnyArray], sets: LabelSets) -> Labels:
    """The classes of every row of X as a number like those of the training set; −1 if one of them is unknown."""
    y, n, T = np.asarray(y), X.shape[0], len(classes)
    if y.shape != (n, T):
        raise ValueError(f"eval_set's y must have a class of each target, ({n}, {T}); it has the shape {y.shape}.")
    Z, known = indicator(target_columns(y), classes)
    if not known.any():
        raise ValueError("eval_set's y has no row whose classes are all trained on.")
    return np.where(known, sets.number(Z), -1)


def check_eval_shape(y: Any) -> None:
    """Raise if y is a list whose rows have different lengths."""
    try:
        np.ndim(y)
    except ValueError as error:
        raise ValueError(f"eval_set's y={short(y)} must hold as many labels for every row of X.") from error


def check_eval_labels(X: AnyArray, y: Any) -> AnyArray:
    """The labels of evaluated rows, (n,)."""
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="eval_set's y")
    n = X.shape[0]
    if len(y) != n:
        raise ValueError(f"eval_set's y must hold a label per row of X; it has {len(y)} labels for {n} rows.")
    return y


def numbers_or_last(y: AnyArray, classes: AnyArray) -> Labels:
    """The numbers of labels among the classes 0 .. K−1; K for a label that is not among them.

    Examples
    --------
    >>> numbers_or_last(np.array(["b", "z", "a"]), np.array(["a", "b", "c"]))
    array([1, 3, 0])
    """
    numbers = label_numbers(y, classes)
    return np.where(numbers < 0, len(classes), numbers)


def check_targets(y: AnyArray, c: Labels, weight: Array | None, checked: Checked) -> Labels:
    """The targets of evaluated rows with classes c: numbers among the classes that are trained on, −1 for all others.

    The loss is not defined for rows of other classes. They count in metrics, where they are errors, but not in the
    risk; if there are no other rows, labels and classes are probably of different kinds.
    """
    targets = trained_targets(c, checked.present)
    some = (targets >= 0 if weight is None else weight[targets >= 0] > 0).any()
    check_some_target(bool(some), y[:5].tolist(), checked)
    return targets


def trained_targets(c: Labels, present: Mask) -> Labels:
    """The numbers of classes c (n,) among the present ones (K,); −1 for all others, and for K, which is no class."""
    return np.append(np.where(present, np.cumsum(present) - 1, -1), -1)[c]


def check_some_target(some: bool, labels: list[Any], checked: Checked) -> None:
    """Raise unless some row has a label that is trained on; ``labels`` are the first ones, for the message."""
    if not some:
        raise ValueError(
            f"eval_set's y has no label that is trained on (in a row of positive weight): it has labels such as "
            f"{labels}, and the model learns {checked.classes[checked.present][:5].tolist()}."
        )


# ---- rows held out --------------------------------------------------------------------------------------------------


def evaluate_held_out(held_out: TrainingSet, run: Run, watched: Watched) -> Evaluation:
    """The callback of rows that were split off the training set, or of that set itself."""
    checked, what = watched.checked, "training" if held_out is watched.checked.data else "held-out"
    weight = None if held_out.uniform else held_out.weight
    if held_out.sets is not None:
        return watched.evaluation(Rows(held_out.X, held_out.c, held_out.c, weight), held_out.c, True, what)
    # Where every example has its own costs, the loss numbers those of the training rows first; see `with_costs`.
    targets = held_out.c if held_out.costs is None else run.data.K + run.data.n + np.arange(held_out.n)
    c = np.flatnonzero(checked.present)[held_out.c]
    rows = Rows(held_out.X, checked.classes.take(c), c, weight)
    return watched.evaluation(rows, targets, True, what, held_out.init_score, held_out.engine)


def split_off(data: TrainingSet, fraction: float | None, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
    """Training and held-out rows; every class keeps at least one training row. Without a fraction both are all rows."""
    if fraction is None:
        return data, data
    seed = int(rng.integers(2**31 - 1))
    c = data.c if data.sets is None else np.zeros_like(data.c)  # all label sets may differ: no stratification
    every = data.engine.gathered(c)
    held = data.engine.decide(lambda: rows_to_hold(every, float(fraction), seed))
    return data.sample(others(data.n, held)), data.sample(held)


def rows_to_hold(c: Labels, fraction: float, seed: int) -> AnyArray:
    """Random rows, ascending, of every class c (n,) about the same fraction; every class keeps one that is not held."""
    from sklearn.model_selection import train_test_split  # not at the top: start-up time

    counts = np.bincount(c)
    rows = np.arange(len(c))
    alone = counts[c] < 2  # the only row of its class stays in training
    stratify = c[~alone] if round(fraction * (~alone).sum()) >= (counts > 1).sum() else None
    try:
        train, test = train_test_split(rows[~alone], test_size=fraction, random_state=seed, stratify=stratify)
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={fraction} leaves no rows to hold out or to train on ({len(c)} rows); "
            "use more rows, another fraction, or early_stopping=False."
        ) from error
    lost = np.setdiff1d(c, c[train])  # without stratification all rows of a small class may be in the test part
    return np.sort(test[~np.isin(c[test], lost)])
