"""The program that all members of a group run, together with their leader, to fit a booster.

All run the same code, each member on its own rows. The leader has no rows; its estimator becomes the fitted one, and
only its callbacks are called. Sums over rows and common decisions go through `distributed.group_engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array, Mask
from ..boosting import Callback, Checkpoint, Evaluation, History, Progress, Sampling
from ..classifiers.base_classifier import transaction
from ..classifiers.eval_sets import EvalContext, read_evaluated
from ..classifiers.plan import Parts
from ..classifiers.search import check_several, distinct_groups, one_per_row
from ..engine import CodedRows
from ..parts.learners import IndexStump
from ..parts.learners.tree_learners import TreeLearner
from ..parts.losses import UserLoss
from ..parts.optimizers import SampledPairs, SketchedNewton
from ..parts.optimizers.run import Run
from ..persist.saving import check_label_types
from ..tables.encoding import learn_partitions
from ..tables.inputs import Taken
from ..tables.order import sort_by_content
from ..tables.partitions import Partition, in_order, in_partition
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked, Labelling, ReadLabels, check_rows, read_labels, training_set
from .comm import Group
from .group_engine import GroupRows, group_engine


def fit_group(group: Group, estimator: Any, tables: list[list[Partition]], eval_metric: Any = None) -> None:
    """Fit an estimator on the rows of all members; each member gets the same model.

    Parameters
    ----------
    tables : this member's partitions, ascending: those of the training table, then those of every evaluated table; the
        leader has none
    eval_metric : as in `fit`
    """
    history = History()
    with transaction(estimator) as draft:
        check_parts(parts := draft.parts())
        agreement = group.decide("callbacks", lambda: Agreement.on(draft.callbacks or ()))
        if not group.leads:
            draft.callbacks, draft.verbose = None, 0
        checked, groups = agree_on_training(group, draft, parts, tables[0])
        context = draft._eval_context(checked, parts.loss, eval_metric)
        evaluations = [agree_on_evaluation(group, context, i, of_set) for i, of_set in enumerate(tables[1:])]
        seed = group.decide("seed", draft._draw_seed)
        draft._boost(parts, context, evaluations, groups, seed, history, [lambda finish: agreement])


def check_parts(parts: Parts) -> None:
    """Raise unless every part of a booster (learner, optimizer, loss) works on rows that are spread over a group."""
    if not isinstance(parts.learner, TreeLearner | IndexStump):
        refused, reason = f"learner={parts.learner!r}", "only trees of the engine learn from sums over machines"
    elif isinstance(parts.optimizer, SampledPairs) and parts.optimizer.n_pairs != "all":
        refused, reason = f"optimizer={parts.optimizer!r}", "it draws from all rows at once; n_pairs='all' works"
    elif isinstance(parts.loss, UserLoss) and isinstance(parts.optimizer, SketchedNewton):
        refused, reason = f"loss={parts.loss!r}", "the flagship sums its own losses only over machines"
    else:
        return
    raise ValueError(f"{refused} does not work on tables in partitions: {reason}.")


# ---- the training table ---------------------------------------------------------------------------------------------


def agree_on_training(
    group: Group, estimator: Any, parts: Parts, tables: list[Partition]
) -> tuple[Checked, AnyArray | None]:
    """Return this member's training set, with the classes of all members, and its rows' group labels or None."""
    if estimator.device != "cpu":
        raise ValueError(f"device={estimator.device!r} does not work on tables in partitions; take device='cpu'.")
    taken = Taken(estimator.categorical_features, parts.learner.refusal)
    X = learn_partitions(group, estimator, tables, taken, not estimator._continues)
    labelling = Labelling(estimator._declared, estimator.class_weight, estimator._multilabel, estimator._multitarget)
    tables[:] = map(check_rows, tables)
    labels = read_labels(group, tables, labelling)
    check_label_types(labels.problem.classes)
    init = read_starts(tables, labels) if "init_score" in labels.fields else None
    groups = agree_on_groups(group, tables, labels.used) if "groups" in labels.fields else None
    rows = GroupRows.of(group, labels.sizes, [part.index for part in tables])
    tables.clear()  # X has all that is still needed of them
    estimator._check_start(init is not None)
    engine = group_engine(estimator._engine().compute.n_threads, rows)
    data = replace(training_set(estimator, X, labels, estimator.max_bins, engine), init_score=init)
    data, groups = sort_by_content(data, groups)
    used = np.concatenate([np.empty(0, dtype=bool), *labels.used])
    return Checked(data if estimator._continues else keep_codes(data), used), groups


def agree_on_groups(group: Group, parts: Sequence[Partition], used: Sequence[Mask]) -> AnyArray:
    """Return the group labels of this member's training rows; raise unless all members together have at least two."""
    groups = []
    for part, rows in zip(parts, used, strict=True):
        with in_partition(part.index):
            groups.append(one_per_row(part.groups, len(rows)))
    two = [(part.index, distinct_groups(g)[:2]) for part, g in zip(parts, groups, strict=True)]

    def check(pieces: list[Any]) -> None:
        found = in_order(pieces[0])
        check_several(distinct_groups(np.concatenate([one.astype(object) for one in found if len(one)])))

    group.exchange("groups", lambda: [("list", two)], check)
    kept = [one[rows] for one, rows in zip(groups, used, strict=True)]
    return np.concatenate(kept) if kept else np.empty(0)


def read_starts(parts: list[Partition], labels: ReadLabels) -> Array:
    """Return the initial scores of this member's training rows, a column per class that has training rows."""
    scores = [np.empty((0, int(labels.problem.present.sum())))]
    for part, used in zip(parts, labels.used, strict=True):
        with in_partition(part.index):
            scores.append(labels.problem.read_start(part.init_score, len(used))[used])
    return np.concatenate(scores)


def keep_codes(data: TrainingSet) -> TrainingSet:
    """Return the training set with only the bin codes of its table, so that the values can be freed."""
    binned = data.binned
    other = replace(data, table=CodedRows(binned), order=None)
    other.__dict__["binned"] = binned
    return other


# ---- rows that are evaluated ----------------------------------------------------------------------------------------


def agree_on_evaluation(group: Group, context: EvalContext, number: int, parts: list[Partition]) -> Evaluation:
    """Return the callback that evaluates table `number` of ``X_val``, here the rows in `parts`, after every round."""
    rows, targets, start, sizes = read_evaluated(group, context, parts)
    engine = context.checked.data.engine.with_rows(GroupRows.of(group, sizes, [part.index for part in parts]))
    return context.evaluation(rows, targets, number == 0, init_score=start, engine=engine)


# ---- callbacks of the leader ----------------------------------------------------------------------------------------

OWN = (Checkpoint, Evaluation, History, Progress, Sampling)  # callbacks that do not ask for the risk on their own


@dataclass(frozen=True, eq=False)
class Agreement(Callback):
    """A callback that sends the effects of the leader's callbacks to all members; it runs after the other callbacks.

    Callbacks may stop the fit, change the learning rate, or request the risk, a sum over the rows of all members.
    """

    moments: tuple[str, ...]  # the methods that some callback has; at all others there is nothing to agree on
    risky: bool  # whether a callback may ask for the risk: then everybody takes part in computing it, asked for or not

    @classmethod
    def on(cls, callbacks: Sequence[Callback]) -> Agreement:
        names = ("start", "before_round", "after_round", "finish")
        moments = tuple(name for name in names if any(has_own(callback, name) for callback in callbacks))
        return cls(moments, not all(isinstance(callback, OWN) for callback in callbacks))

    def start(self, run: Run) -> None:
        self._agree(run, "start")

    def before_round(self, run: Run) -> None:
        self._agree(run, "before_round")

    def after_round(self, run: Run) -> None:
        self._agree(run, "after_round")

    def finish(self, run: Run) -> None:
        self._agree(run, "finish")

    def _agree(self, run: Run, moment: str) -> None:
        if moment not in self.moments:
            return
        if self.risky:
            run.risk()  # where a callback has asked for it, the leader knows it already: the others answer here
        run.stop_reason, run.learning_rate = run.data.engine.rows.decide(lambda: (run.stop_reason, run.learning_rate))


def has_own(callback: Callback, name: str) -> bool:
    """Return whether a callback overrides the method `name` of `Callback`; the overridden method does nothing."""
    return getattr(getattr(callback, name), "__func__", None) is not getattr(Callback, name)
