"""`Parts`, the components of a booster, and `Plan`, the settings of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.arrays import AnyArray, Array
from .._util.runtime import check_memory
from ..boosting import EarlyStopping
from ..boosting.evaluation import as_early_stopping
from ..model.code import in_precision
from ..parts.codewords import Codewords, as_codewords
from ..parts.learners import Learner, as_learner
from ..parts.losses import Loss, as_loss
from ..parts.optimizers import Optimizer, as_optimizer
from ..parts.optimizers.run import Run
from ..parts.steps import Step, as_step
from ..tables.training_set import TrainingSet
from .search import Choice

LEAST_ROUND = 500.0  # bytes of a round in the model, at least; a stump for two classes takes 2700
ENDLESS = 10**18  # rounds; no computer makes more, and sizes can still be computed as floats


@dataclass(frozen=True)
class Parts:
    """The components of a booster: loss, codewords, weak learner, optimizer and step."""

    loss: Loss
    codewords: Codewords
    learner: Learner
    optimizer: Optimizer
    step: Step


def make_parts(loss: Any, codewords: Any, learner: Any, optimizer: Any, step: Any) -> Parts:
    """Return `Parts` from the name or the object of each part."""
    return Parts(as_loss(loss), as_codewords(codewords), as_learner(learner), as_optimizer(optimizer), as_step(step))


@dataclass(frozen=True, eq=False)
class Plan:
    """The settings of a fit: parts, rounds, learning rate and others; "auto" values are replaced before boosting."""

    parts: Parts
    n_estimators: Any  # the largest number of rounds
    learning_rate: Any
    subsample: float
    max_features: Any
    early_stopping: EarlyStopping | None
    temperature: Any = 1.0  # what scores are multiplied by; (B,) if several labels or class targets have one each
    choice: Choice | None = None  # how held-out risk decided, if anything was chosen
    sets: dict[str, Any] | None = None  # how the true classes of the rows held out were ranked, if any were

    @classmethod
    def of(cls, estimator: Any, parts: Parts) -> Plan:
        """Return the plan with the parameters of an estimator; values that are "auto" stay "auto"."""
        return cls(
            parts,
            estimator.n_estimators,
            getattr(estimator, "learning_rate", 1.0),
            estimator.subsample,
            estimator.max_features,
            as_early_stopping(estimator.early_stopping),
        )

    def with_params(self, **params: Any) -> Plan:
        """Return a copy with new values for fields of the plan, parts, or parameters of the learner and the optimizer.

        A prefix of a name may be the part, as in ``optimizer__init``.
        """
        params = {name.rpartition("__")[2]: value for name, value in params.items()}
        own = {name: params.pop(name) for name in list(params) if name in type(self).__dataclass_fields__}
        parts = {name: params.pop(name) for name in list(params) if name in Parts.__dataclass_fields__}
        for name in ("learner", "optimizer"):
            part = parts.get(name, getattr(self.parts, name))
            known = part.get_params(deep=False)
            here = {key: params.pop(key) for key in list(params) if key in known}
            if changed := {key: value for key, value in here.items() if value is not known[key]}:
                parts[name] = replace(part, **changed)
        assert not params, f"no part has {params}"
        return replace(self, parts=replace(self.parts, **parts), **own)

    @property
    def n_rounds(self) -> int:
        """The largest number of rounds, cut at `ENDLESS`."""
        return min(int(self.n_estimators), ENDLESS)

    def check(self, data: TrainingSet) -> None:
        """Raise if a parameter of a part is invalid, or if boosting would need more memory than is free."""
        parts = self.parts
        parts.codewords.check()
        parts.learner.check()
        parts.step.check(parts.loss)
        if data.K == 1:  # all other classes are absent, so there is nothing to learn
            return
        parts.loss.check(data.K)
        n_rounds, stopping = self.n_rounds, self.early_stopping
        if stopping is not None:  # then the number of rounds may mean "as many as pay"
            n_rounds = min(n_rounds, int(stopping.n_iter_no_change) + 1)
        if (d := parts.codewords.columns(data.K)) is None:
            return
        needed = parts.optimizer.memory(data, parts.learner.resolve(data), d, n_rounds)
        least = 8.0 * d * (data.n_here + data.K) + LEAST_ROUND * n_rounds  # the predictor, the codewords, the model
        what = f"boosting of {n_rounds} rounds on {data.n} rows of {data.K} classes, with codewords of {d} columns,"
        advice = "Take fewer rows or rounds (n_estimators), or codewords of fewer columns, such as codewords='max-min'."
        check_memory(least if needed is None else needed, what, advice)

    def start(self, data: TrainingSet, loss: Loss, present: AnyArray, rng: np.random.Generator) -> Run:
        """Return a new boosting run on a training set; ``present`` (K,) is the mask of the classes with rows."""
        parts = self.parts
        code = parts.codewords.for_classes(len(present), present, rng)
        Y: Array = in_precision(code, parts.optimizer.dtype)  # (K, d)
        parts.learner.check_for(data, Y)
        return Run(data, loss, Y, parts.learner, parts.optimizer, parts.step, float(self.learning_rate), rng)
