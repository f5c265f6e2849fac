"""The program that all members of a group run, together with their leader, to fit a booster.

Everybody runs the same code on its own rows. The leader has none; its estimator becomes the fitted one, and its
callbacks are called. Sums over rows and common decisions go through `distributed.group_engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from ..boosting import Callback, Checkpoint, Evaluation, History, Progress, Sampling
from ..classifiers.base_classifier import transaction
from ..classifiers.eval_sets import EvalContext
from ..classifiers.plan import Parts
from ..engine import CodedRows
from ..parts.learners import IndexStump
from ..parts.learners.tree_learners import TreeLearner
from ..parts.losses import UserLoss
from ..parts.optimizers import SampledPairs, SketchedNewton
from ..parts.optimizers.run import Run
from ..persist.saving import check_label_types
from ..tables.inputs import Taken
from ..tables.order import in_own_order
from ..tables.partitions import Partition, in_partition
from ..tables.training_set import TrainingSet
from ..tables.validation import Checked, Labelling, ReadLabels, check_rows, read_labels, training_set
from .comm import Group
from .group_engine import GroupRows, group_engine
from .partition_columns import Tables, agree_on_columns
from .partition_labels import agree_on_entry, agree_on_groups, share_of


def fit_group(group: Group, estimator: Any, tables: Tables, eval_metric: Any = None) -> None:
    """Fit an estimator on the rows of all members; everybody's becomes the same.

    Parameters
    ----------
    tables : the partitions here
    eval_metric : as in `fit`
    """
    history = History()
    with transaction(estimator) as draft:
        check_parts(parts := draft.parts())
        agreement = group.decide("callbacks", lambda: Agreement.on(draft.callbacks or ()))
        if not group.leads:
            draft.callbacks, draft.verbose = None, 0
        checked, groups = agree_on_training(group, draft, parts, tables.train)
        context = draft._eval_context(checked, parts.loss, eval_metric)
        evaluations = [agree_on_evaluation(group, context, i, of_set) for i, of_set in enumerate(tables.evals)]
        seed = group.decide("seed", draft._draw_seed)
        draft._boost(parts, context, evaluations, groups, seed, history, [lambda finish: agreement])


def check_parts(parts: Parts) -> None:
    """Raise unless every part of a booster can work on rows that are spread over a group."""
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
    """The rows here as a training set, and their groups, or None."""
    if estimator.device != "cpu":
        raise ValueError(f"device={estimator.device!r} does not work on tables in partitions; take device='cpu'.")
    taken = Taken(estimator.categorical_features, parts.learner.refusal)
    X = agree_on_columns(group, estimator, tables, taken, reset=not estimator._goes_on)
    labelling = Labelling(estimator._declared, estimator.class_weight, estimator._multilabel, estimator._multitarget)
    tables[:] = map(check_rows, tables)
    labels = read_labels(group, tables, labelling)
    check_label_types(labels.problem.classes)
    init = read_starts(tables, labels) if "init_score" in labels.fields else None
    groups = agree_on_groups(group, tables, labels.used) if "groups" in labels.fields else None
    share = share_of(labels.sizes, [part.index for part in tables])
    tables.clear()  # X has all that is still needed of them
    estimator._check_start(init is not None)
    engine = group_engine(estimator._engine().compute.n_threads, GroupRows(group, share))
    data = replace(training_set(estimator, X, labels, estimator.max_bins, engine), init_score=init)
    data, groups = in_own_order(data, groups)
    used = np.concatenate([np.empty(0, dtype=bool), *labels.used])
    return Checked(data if estimator._goes_on else coded(data), used), groups


def read_starts(parts: list[Partition], labels: ReadLabels) -> Array:
    """The scores that boosting starts from, of the rows and classes that are trained on."""
    scores = [np.empty((0, int(labels.problem.present.sum())))]
    for part, used in zip(parts, labels.used, strict=True):
        with in_partition(part.index):
            scores.append(labels.problem.read_start(part.init_score, len(used))[used])
    return np.concatenate(scores)


def coded(data: TrainingSet) -> TrainingSet:
    """The training set with its bins in place of its values, which are then free to go."""
    binned = data.binned
    other = replace(data, table=CodedRows(binned), order=None)
    other.__dict__["binned"] = binned
    return other


# ---- rows that are evaluated ----------------------------------------------------------------------------------------


def agree_on_evaluation(group: Group, context: EvalContext, number: int, parts: list[Partition]) -> Evaluation:
    """Return the callback that evaluates one set of rows of ``X_val``."""
    entry = agree_on_entry(group, context.estimator, parts, context.checked)
    engine = context.checked.data.engine.with_rows(GroupRows(group, entry.share))
    return context.evaluation(entry.rows, entry.targets, number == 0, init_score=entry.init_score, engine=engine)


# ---- callbacks of the leader ----------------------------------------------------------------------------------------

OWN = (Checkpoint, Evaluation, History, Progress, Sampling)  # callbacks that do not ask for the risk on their own


@dataclass(frozen=True, eq=False)
class Agreement(Callback):
    """Keeps all members in step with callbacks, which are called at the leader only; it comes after them.

    Callbacks may stop the fit, change the learning rate, and ask for the risk, which is a sum over the rows of all.

    Attributes
    ----------
    moments : the methods that some callback has; at all others there is nothing to agree on
    risky : whether a callback may ask for the risk: then everybody takes part in computing it, asked for or not
    """

    moments: tuple[str, ...]
    risky: bool

    @classmethod
    def on(cls, callbacks: Sequence[Callback]) -> Agreement:
        """The agreement that these callbacks need."""
        names = ("start", "before_round", "after_round", "finish")
        moments = tuple(name for name in names if any(has_own(callback, name) for callback in callbacks))
        return cls(moments, not all(isinstance(callback, OWN) for callback in callbacks))

    def start(self, run: Run) -> None:
        """Agree on what callbacks did before the first round."""
        self._agree(run, "start")

    def before_round(self, run: Run) -> None:
        """Agree on what they did before a round."""
        self._agree(run, "before_round")

    def after_round(self, run: Run) -> None:
        """Agree on what they did after a round."""
        self._agree(run, "after_round")

    def finish(self, run: Run) -> None:
        """Agree on what they did at the end."""
        self._agree(run, "finish")

    def _agree(self, run: Run, moment: str) -> None:
        if moment not in self.moments:
            return
        if self.risky:
            run.risk()  # where a callback has asked for it, the leader knows it already: the others answer here
        run.stop_reason, run.learning_rate = run.data.engine.rows.decide(lambda: (run.stop_reason, run.learning_rate))


def has_own(callback: Callback, name: str) -> bool:
    """Whether a callback has a method of its own in place of the one that does nothing."""
    return getattr(getattr(callback, name), "__func__", None) is not getattr(Callback, name)
