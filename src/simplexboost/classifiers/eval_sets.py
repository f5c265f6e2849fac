"""Rows that are evaluated after every round but not trained on: ``X_val`` with ``y_val``, or held-out training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._util.arrays import AnyArray, Array, Labels
from ..boosting import EarlyStopping, Evaluation
from ..boosting.callbacks import remaining_rows
from ..boosting.decisions import all_classes
from ..engine import CPU, Engine
from ..parts.losses import Loss
from ..parts.optimizers.run import Run
from ..tables.encoding import check_partitions
from ..tables.inputs import plain_labels, shorten
from ..tables.partitions import ALONE, WHOLE, Exchange, Partition, in_order, in_partition
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked, LabelSummary, check_sample_weight, common_fields, stack_tables
from .metrics import Metrics, Predicted, Rows
from .prediction import to_host

EVAL_ATTRIBUTES = ("evals_result_", "best_iteration_", "best_score_", "validation_score_")


@dataclass(frozen=True, eq=False)
class EvalContext:
    """The objects that every evaluation of a fit needs: classifier, training set, loss, metrics and early stopping."""

    estimator: Any  # the classifier that is fitted, which knows the columns of X
    checked: Checked
    loss: Loss
    metrics: Metrics = field(default_factory=Metrics)
    stopping: EarlyStopping | None = None  # when the first set stops the fit

    def evaluation(
        self,
        rows: Rows,
        targets: Labels,
        first: bool,
        what: str = "held-out",
        init_score: Array | None = None,
        engine: Engine = CPU,
    ) -> Evaluation:
        """Return the callback that evaluates rows after every round; early stopping watches it if ``first`` is true."""
        present, metrics = self.checked.present, self.metrics
        if metrics.table:
            one = "eval_metric takes one label per example; if y is a matrix, only the risk is evaluated."
            self.checked.problem.check_one_class(one)
        decision = self.estimator._deciding(self.loss, self.checked)
        every = gather_rows(rows, engine) if metrics.table else rows
        return Evaluation(
            rows.X,
            targets,
            np.ones(rows.X.shape[0]) if rows.weight is None else rows.weight,
            {name: metric.of for name, metric in metrics.table.items()},
            seen=lambda U: Predicted(every, decision, all_classes(U, present)),
            watch=metrics.watch,
            greater_is_better=metrics.greater_is_better,
            init_score=init_score,
            engine=None if engine is CPU else engine,
            stopping=self.stopping if first else None,
            what=what,
        )


def gather_rows(rows: Rows, engine: Engine) -> Rows:
    """Return the rows to compute metrics on; rows on several machines are gathered, with NaN in place of features."""
    if not engine.rows.is_spread:
        return rows
    c, y = engine.rows.gather(rows.c), engine.rows.gather(rows.y)
    weight = None if rows.weight is None else engine.rows.gather(rows.weight)
    return Rows(np.broadcast_to(np.nan, (len(c), rows.X.shape[1])), y, c, weight)


def eval_attributes(evaluations: list[Evaluation]) -> dict[str, Any]:
    """Return the fitted attributes named in `EVAL_ATTRIBUTES`; all are None if no rows were evaluated."""
    if not evaluations:
        return dict.fromkeys(EVAL_ATTRIBUTES)
    first = evaluations[0]
    results = [{name: np.array(values) for name, values in e.results.items()} for e in evaluations]
    score = first.sign * np.array(first.results[first.watch])
    return dict(zip(EVAL_ATTRIBUTES, (results, first.best_iteration, first.best_score, score), strict=True))


# ---- rows that fit gets as X_val and y_val --------------------------------------------------------------------------


def read_eval_sets(X_val: Any, y_val: Any, sample_weight_val: Any, init_score_val: Any) -> list[Partition]:
    """Return a `Partition` for each evaluation set in these arguments of `fit`; raise if they do not go together."""
    values = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val, "init_score_val": init_score_val}
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return []
    for name in ("X_val", "y_val"):
        if name not in given:
            raise ValueError(f"{min(given)} is given without {name}; X_val and y_val go together.")
    tuples = [name for name, value in given.items() if isinstance(value, tuple)]
    if not tuples:
        return [Partition(WHOLE, *values.values())]
    rule = "To evaluate several sets, pass tuples with an entry for every set."
    for name, value in given.items():
        if not isinstance(value, tuple):
            raise ValueError(f"{name} is no tuple, but {tuples[0]} is one. {rule}")
        if len(value) != len(given["X_val"]) or not value:
            raise ValueError(f"X_val has {len(given['X_val'])} entries and {name} has {len(value)}. {rule}")
    for name in ("X_val", "y_val"):
        if any(value is None for value in given[name]):
            raise ValueError(f"{name} has an entry that is None; only weights and scores may be None.")
    nothing = (None,) * len(X_val)
    return [Partition(WHOLE, *entry) for entry in zip(*(given.get(name, nothing) for name in values), strict=True)]


def check_metric_rows(has_metrics: bool, sets: list[Partition], stops: bool) -> None:
    """Raise ValueError if ``eval_metric`` is given, but neither ``X_val`` nor early stopping."""
    if has_metrics and not sets and not stops:
        raise ValueError(
            "eval_metric has no rows to be evaluated on; pass X_val and y_val, or set early_stopping=True."
        )


def make_evaluations(sets: list[Partition], context: EvalContext) -> list[Evaluation]:
    """Check the rows of every evaluation set; return the callbacks that evaluate them after every round."""
    check_metric_rows(context.metrics.asked, sets, context.stopping is not None)
    evaluations = []
    for i, one in enumerate(sets):
        try:
            evaluations.append(make_evaluation(one, context, first=i == 0))
        except (TypeError, ValueError) as error:
            if len(sets) > 1:
                error.add_note(f"This is in set {i} of X_val, counted from 0.")
            raise
    return evaluations


def make_evaluation(one: Partition, context: EvalContext, first: bool) -> Evaluation:
    """Check one evaluation set (X, y, weights, logits); return the callback that evaluates it after every round."""
    engine = context.checked.data.engine
    one = Partition(WHOLE, *(to_host(of_rows, engine) for of_rows in (one.X, one.y, one.sample_weight, one.init_score)))
    try:
        np.ndim(one.y)
    except ValueError as error:
        raise ValueError(f"y_val={shorten(one.y)} must hold as many labels for every row of X_val.") from error
    rows, targets, start, _ = read_evaluated(ALONE, context, [one])
    return context.evaluation(rows, targets, first, init_score=start)


OF = "X_val: "  # the beginning of messages
SHOWN = 5  # labels in a message


def read_evaluated(
    group: Exchange, context: EvalContext, parts: Sequence[Partition]
) -> tuple[Rows, Labels, Array | None, list[int]]:
    """Return this machine's evaluated rows, their targets, their initial logits or None, and all partition sizes."""
    checked, problem = context.checked, context.checked.problem
    with in_partition(WHOLE, OF):
        tables = check_partitions(group, context.estimator, parts, OF)
    here = [read_part(part, X, checked) for part, X in zip(parts, tables, strict=True)]

    def look(pieces: list[Any]) -> tuple[list[int], AnyArray, frozenset[str]]:
        found = in_order(pieces[0])
        full = {index: one for index, one in enumerate(found) if one.n}
        fields = common_fields(full, "_val")
        if "init_score" not in fields:
            check_init_score_val(0, None, checked)
        if not any(one.positive for one in found):
            check_weight_val(1, np.zeros(1), zeros=False)
        if any(one.as_column for one in found):
            column_or_1d(np.zeros((2, 1)), warn=True)  # scikit-learn's warning, once
        return [one.n for one in found], np.concatenate([one.labels for one in full.values()])[:SHOWN], fields

    summaries = [(part.index, summary) for part, (summary, *_) in zip(parts, here, strict=True)]
    sizes, labels, fields = group.exchange("evaluated rows", lambda: [("list", summaries)], look)
    ys, cs, of_targets, weights, starts = ([one[i] for one in here if one[i] is not None] for i in range(1, 6))
    y = np.concatenate([labels[:0], *(one.astype(labels.dtype, copy=False) for one in ys)])
    c, targets = (np.concatenate([np.empty(0, dtype=np.intp), *some]) for some in (cs, of_targets))
    weight = np.concatenate([np.empty(0), *weights]) if "sample_weight" in fields else None
    trained = targets >= 0 if weight is None else weight[targets >= 0] > 0
    group.exchange(
        "trained labels",
        lambda: [("any", np.bool_(trained.any()))],
        lambda pieces: problem.check_some_target(bool(pieces[0]), labels.tolist()),
    )
    K, p = int(checked.present.sum()), context.estimator.n_features_in_
    start = np.concatenate([np.empty((0, K)), *starts]) if "init_score" in fields else None
    return Rows(stack_tables(tables, p), y, c, weight), targets, start, sizes


def read_part(part: Partition, X: Any, checked: Checked) -> tuple[Any, ...]:
    """Return of a block of rows: `LabelSummary`, labels, class indices, targets, sample weights, initial logits."""
    n = X.shape[0]
    with in_partition(part.index, OF):
        start = None if part.init_score is None else check_init_score_val(n, part.init_score, checked)
        weight = check_weight_val(n, part.sample_weight)
        y = plain_labels(part.y, "y_val")
        as_column = np.ndim(y) == 2 and y.shape[1] == 1
        y, c, targets = checked.problem.read_evaluated(np.ravel(y) if as_column else y, n)
    positive = weight is None or bool(weight.any())
    return LabelSummary(n, y[:SHOWN], None, as_column, part.fields, positive), y, c, targets, weight, start


def check_init_score_val(n: int, init_score: Any, checked: Checked) -> Array | None:
    """Return the initial logits (n, K) of evaluated rows, or None; raise if only the training rows have some."""
    if init_score is not None:
        return checked.problem.read_start(init_score, n, "init_score_val")
    if checked.data.init_score is not None:
        raise ValueError("the training rows have an init_score, but those of X_val have none; pass init_score_val.")
    return None


def check_weight_val(n: int, sample_weight: Any, zeros: bool = True) -> Array | None:
    """Return the sample weights (n,) of evaluated rows, or None; raise unless they are numbers and none is negative."""
    if sample_weight is None:
        return None
    try:
        return check_sample_weight(sample_weight, np.empty((n, 0)), zeros)
    except (TypeError, ValueError) as error:
        raise type(error)(f"sample_weight_val is refused: {error}") from error


# ---- rows held out --------------------------------------------------------------------------------------------------


def evaluate_held_out(held_out: TrainingSet, run: Run, context: EvalContext) -> Evaluation:
    """Return the callback that evaluates held-out rows; ``held_out`` may also be the training set itself."""
    checked, what = context.checked, "training" if held_out is context.checked.data else "held-out"
    weight = None if held_out.uniform else held_out.weight
    # Where every example has its own costs, the loss numbers those of the training rows first.
    targets = held_out.c if held_out.costs is None else run.data.K + run.data.n + np.arange(held_out.n)
    rows = Rows(held_out.X, *checked.problem.labels_of(held_out.c), weight)
    return context.evaluation(rows, targets, True, what, held_out.init_score, held_out.engine)


def split_off(data: TrainingSet, fraction: float | None, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
    """Split a training set into training and held-out rows; every class keeps at least one training row.

    If ``fraction`` is None, both parts have all rows.
    """
    if fraction is None:
        return data, data
    seed = int(rng.integers(2**31 - 1))
    every = data.engine.rows.gather(data.problem.strata(data.c))
    held = data.engine.rows.decide(lambda: rows_to_hold(every, float(fraction), seed))
    return data.sample(remaining_rows(data.n, held)), data.sample(held)


def rows_to_hold(c: Labels, fraction: float, seed: int) -> AnyArray:
    """Return random row indices, ascending: about the ``fraction`` of each class in c (n,), but never all of it."""
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
