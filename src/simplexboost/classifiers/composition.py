"""`Parts`, the parts that a booster is made of, and their construction from strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._util.runtime import check_memory
from ..parts.codewords import Codewords, as_codewords
from ..parts.learners import Learner, as_learner
from ..parts.losses import Loss, as_loss
from ..parts.optimizers import Optimizer, as_optimizer
from ..parts.steps import Step, as_step
from ..tables.training_set import TrainingSet

LEAST_ROUND = 500.0  # bytes of a round in the model, at least; a stump for two classes takes 2700
ENDLESS = 10**18  # rounds; more of them are as many, for no computer makes them, and sizes are computed as floats


@dataclass(frozen=True)
class Parts:
    """A booster: loss × codewords × weak learner × optimizer and step."""

    loss: Loss
    codewords: Codewords
    learner: Learner
    optimizer: Optimizer
    step: Step

    def check(self) -> None:
        """Raise if a parameter of the codewords, of the learner or of the step is invalid."""
        self.codewords.check()
        self.learner.check()
        self.step.check(self.loss)

    def check_memory(self, data: TrainingSet, n_rounds: int) -> None:
        """Raise MemoryError if boosting would need more memory than is free, as far as that is known beforehand."""
        d = self.codewords.columns(data.K)
        if d is None:
            return
        needed = self.optimizer.memory(data, self.learner, d, n_rounds)
        least = 8.0 * d * (data.n_here + data.K) + LEAST_ROUND * n_rounds  # the predictor, the codewords, the model
        what = f"boosting of {n_rounds} rounds on {data.n} rows of {data.K} classes, with codewords of {d} columns,"
        advice = "Take fewer rows or rounds (n_estimators), or codewords of fewer columns, such as codewords='max-min'."
        check_memory(least if needed is None else needed, what, advice)


def make_parts(loss: Any, codewords: Any, learner: Any, optimizer: Any, step: Any) -> Parts:
    """The parts, each from its name or from an object."""
    return Parts(as_loss(loss), as_codewords(codewords), as_learner(learner), as_optimizer(optimizer), as_step(step))
