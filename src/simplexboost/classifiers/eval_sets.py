"""Rows that are evaluated but not trained on: those of an ``eval_set``, and those held out for early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Labels
from ..boosting import EarlyStopping, Evaluation
from ..boosting.callbacks import others
from ..boosting.decisions import all_classes
from ..engine import CPU, Engine
from ..parts.losses import Loss
from ..parts.optimizers.run import Run
from ..tables.inputs import check_X, plain_labels, short
from ..tables.training_set import TrainingSet
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
        if metrics.table:
            one = "eval_metric takes one label per example; if y is a matrix, only the risk is followed."
            self.checked.problem.check_one_class(one)
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
    if not engine.rows.is_spread:
        return rows
    c, y = engine.rows.gather(rows.c), engine.rows.gather(rows.y)
    weight = None if rows.weight is None else engine.rows.gather(rows.weight)
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
    y, c, targets = checked.problem.read_evaluated(y, X.shape[0], weight)
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
    return checked.problem.read_start(init_score, X.shape[0], "eval_set's init_score")


def check_eval_weight(X: AnyArray, sample_weight: Any) -> Array | None:
    """The weights of evaluated rows, (n,) and not negative; None if there are none."""
    if sample_weight is None:
        return None
    try:
        return check_sample_weight(sample_weight, X)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the sample_weight of an eval_set is refused: {error}") from error


def check_eval_shape(y: Any) -> None:
    """Raise if y is a list whose rows have different lengths."""
    try:
        np.ndim(y)
    except ValueError as error:
        raise ValueError(f"eval_set's y={short(y)} must hold as many labels for every row of X.") from error


# ---- rows held out --------------------------------------------------------------------------------------------------


def evaluate_held_out(held_out: TrainingSet, run: Run, watched: Watched) -> Evaluation:
    """The callback of rows that were split off the training set, or of that set itself."""
    checked, what = watched.checked, "training" if held_out is watched.checked.data else "held-out"
    weight = None if held_out.uniform else held_out.weight
    # Where every example has its own costs, the loss numbers those of the training rows first; see `with_costs`.
    targets = held_out.c if held_out.costs is None else run.data.K + run.data.n + np.arange(held_out.n)
    rows = Rows(held_out.X, *checked.problem.labels_of(held_out.c), weight)
    return watched.evaluation(rows, targets, True, what, held_out.init_score, held_out.engine)


def split_off(data: TrainingSet, fraction: float | None, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
    """Training and held-out rows; every class keeps at least one training row. Without a fraction both are all rows."""
    if fraction is None:
        return data, data
    seed = int(rng.integers(2**31 - 1))
    every = data.engine.rows.gather(data.problem.strata(data.c))
    held = data.engine.rows.decide(lambda: rows_to_hold(every, float(fraction), seed))
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
